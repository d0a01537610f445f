//! The counters of the inboxes that processes share, and the gate that all of them go through: what
//! is told by memory alone. No MPI, no addresses.
//!
//! An inbox has two halves, which exchanges of this kind use in turn: number n uses half n mod 2. A
//! sender reserves room in a half by adding to its counter, and writes there; what does not fit
//! goes another way, and is counted. Then each process arrives at the gate. When all have,
//! everything is there that will be, and the owner takes it out and sets its counters to zero.
//!
//! # Why two halves are enough
//! A process adds to half n mod 2 for exchange n + 2 after it has been through the gate of n + 1,
//! where the owner has arrived before that. The owner arrives there when it has ended exchange n:
//! its half is empty, and its counters are zero. The words of the gate take turns for the same
//! reason: who arrives at the gate of n + 2 has been through that of n + 1, where all arrived who
//! had seen that of n open.
//!
//! # Memory order
//! - Counters are relaxed. What has been added before the gate opened is seen behind it, and so are
//!   the zeroes of an owner, by the next point.
//! - Who arrives at the gate stores with release; who sees it open loads with acquire. All stores
//!   to a gate's word are read-modify-writes: they make one release sequence for each that arrived,
//!   so that who sees the last one sees what each of them did before it arrived: messages in
//!   others' halves, and the zeroes in its own.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

/// The counters of one half of an inbox. Zeroes are those of an empty one. Small, so that the first
/// message can lie in the same cache line.
#[derive(Debug, Default)]
#[repr(C, align(16))]
pub struct Half {
    /// Bytes that have been reserved, also those for which there was no room.
    reserved: AtomicU64,
    /// Messages that go another way.
    elsewhere: AtomicU64,
}

/// What a reservation got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    /// Room, from here on.
    Room(u64),
    /// None. `end`: what is there ends here; said to one sender alone, and only if it is not the
    /// end of the half.
    Full {
        /// Position in the half.
        end: Option<u64>,
    },
}

/// What there is to take out of a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    /// Bytes from the beginning of the half in which there are messages; where `cut`, at the most.
    pub bytes: u64,
    /// Whether room ran out: messages end before `bytes`, where a sender was told that they do, or
    /// there.
    pub overflowed: bool,
    /// Messages that go another way.
    pub elsewhere: u64,
}

impl Half {
    /// Reserves so many bytes of a half of `room` bytes. Reservations of one sender follow one
    /// another; when one has not fitted, no later one does.
    #[inline]
    pub fn reserve(&self, bytes: u64, room: u64) -> Reservation {
        let at = self.reserved.fetch_add(bytes, Relaxed);
        if at + bytes <= room {
            return Reservation::Room(at);
        }
        self.elsewhere.fetch_add(1, Relaxed);
        Reservation::Full { end: (at < room).then_some(at) }
    }

    /// One message less goes another way: it could not be sent. Before its sender arrives at the
    /// gate.
    pub fn withdraw(&self) {
        self.elsewhere.fetch_sub(1, Relaxed);
    }

    /// What is there, behind the gate; the counters are zero then, and the owner takes everything
    /// out before it arrives at the next gate.
    #[inline]
    pub fn drain(&self, room: u64) -> Contents {
        // one step, not a load and a store: the line comes once
        let reserved = self.reserved.swap(0, Relaxed);
        let overflowed = reserved > room;
        Contents {
            bytes: reserved.min(room),
            overflowed,
            elsewhere: if overflowed { self.elsewhere.swap(0, Relaxed) } else { 0 },
        }
    }
}

/// Bits of a gate's word for what the processes tell each other, and for how many have arrived; the
/// others are the number of the exchange.
pub const VALUE_BITS: u32 = 24;
const COUNT_BITS: u32 = 20;

/// The most processes that a gate can count.
pub const MOST_PROCESSES: u32 = (1 << COUNT_BITS) - 1;

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Word(AtomicU64);

/// Where all processes arrive. Zeroes are a gate at which nobody has ever arrived, before exchange
/// 0.
#[derive(Debug, Default)]
pub struct Barrier([Word; 2]);

/// What a word says: exchange (its lowest bits), how many have arrived, what they tell.
fn parts(word: u64) -> (u64, u64, u32) {
    (word >> (VALUE_BITS + COUNT_BITS), word >> VALUE_BITS & u64::from(MOST_PROCESSES), (word & ((1 << VALUE_BITS) - 1)) as u32)
}

/// The part of an exchange's number that a word holds.
fn tag(number: u64) -> u64 {
    number & (u64::MAX >> (VALUE_BITS + COUNT_BITS))
}

impl Barrier {
    /// Arrives, in exchange `number`, with a number of [`TOLD`] bits; `join` makes one of two of
    /// them. How many have arrived, this one included.
    #[inline]
    pub fn arrive(&self, number: u64, value: u32, join: impl Fn(u32, u32) -> u32) -> u64 {
        let word = &self.0[(number % 2) as usize].0;
        // not loaded first: the line would come twice
        let mut found = 0;
        loop {
            // a word of two exchanges ago, which nobody looks at any more
            let (count, values) = match parts(found) {
                (of, count, values) if of == tag(number) => (count + 1, join(values, value)),
                _ => (1, value),
            };
            let next = tag(number) << (VALUE_BITS + COUNT_BITS) | count << VALUE_BITS | u64::from(values);
            match word.compare_exchange_weak(found, next, Release, Relaxed) {
                Ok(_) => return count,
                Err(other) => found = other,
            }
        }
    }

    /// What all tell, when so many processes have arrived. The caller has, and has not arrived at
    /// the gate after the next one.
    #[inline]
    pub fn open(&self, number: u64, processes: u32) -> Option<u32> {
        let (of, count, values) = parts(self.0[(number % 2) as usize].0.load(Acquire));
        (of == tag(number) && count == u64::from(processes)).then_some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(loom))]
    #[test]
    fn room_is_given_until_there_is_none() {
        let half = Half::default();
        assert_eq!(half.drain(64), Contents { bytes: 0, overflowed: false, elsewhere: 0 });
        assert_eq!(half.reserve(48, 64), Reservation::Room(0));
        assert_eq!(half.drain(64), Contents { bytes: 48, overflowed: false, elsewhere: 0 });
        assert_eq!(half.reserve(32, 64), Reservation::Room(0));
        assert_eq!(half.reserve(16, 64), Reservation::Room(32));
        // what is there ends at 48; later ones do not fit either, however short
        assert_eq!(half.reserve(32, 64), Reservation::Full { end: Some(48) });
        assert_eq!(half.reserve(16, 64), Reservation::Full { end: None });
        assert_eq!(half.drain(64), Contents { bytes: 64, overflowed: true, elsewhere: 2 });
        // one that could not be sent after all is not waited for
        assert_eq!(half.reserve(80, 64), Reservation::Full { end: Some(0) });
        assert_eq!(half.reserve(16, 64), Reservation::Full { end: None });
        half.withdraw();
        assert_eq!(half.drain(64), Contents { bytes: 64, overflowed: true, elsewhere: 1 });
        // exactly full: nobody is told where it ends
        assert_eq!(half.reserve(64, 64), Reservation::Room(0));
        assert_eq!(half.reserve(16, 64), Reservation::Full { end: None });
        assert_eq!(half.drain(64), Contents { bytes: 64, overflowed: true, elsewhere: 1 });
        assert_eq!(half.drain(64), Contents { bytes: 0, overflowed: false, elsewhere: 0 });
    }

    #[cfg(not(loom))]
    #[test]
    fn barriers_open_when_all_have_arrived_also_when_numbers_wrap() {
        let barrier = Barrier::default();
        for number in (0..5).chain((1 << 20) - 3..(1 << 20) + 3) {
            assert_eq!(barrier.open(number, 3), None);
            for k in 1..=3 {
                assert_eq!(barrier.arrive(number, 10 * k, u32::max), u64::from(k));
                assert_eq!(barrier.open(number, 3), (k == 3).then_some(30));
            }
        }
    }

    #[cfg(not(loom))]
    use std::{cell::UnsafeCell, sync::Arc, thread};

    #[cfg(loom)]
    use loom::{cell::UnsafeCell, sync::Arc, thread};

    /// Cells of a half: room for so many words.
    const ROOM: usize = 3;

    /// Inboxes of words.
    #[derive(Default)]
    struct World {
        barrier: Barrier,
        halves: Vec<[Half; 2]>,
        cells: Vec<[[UnsafeCell<u64>; ROOM]; 2]>,
    }

    // SAFETY: that the cells are not used by two threads at a time is what is tested.
    unsafe impl Sync for World {}

    impl World {
        fn new(processes: u32) -> World {
            World {
                barrier: Barrier::default(),
                halves: (0..processes).map(|_| Default::default()).collect(),
                cells: (0..processes).map(|_| Default::default()).collect(),
            }
        }

        /// The cell of an inbox, for reading and writing.
        fn with<T>(&self, process: u32, number: u64, at: u64, f: impl FnOnce(&mut u64) -> T) -> T {
            let cell = &self.cells[process as usize][(number % 2) as usize][at as usize];
            #[cfg(loom)]
            // SAFETY: as for `Sync`; loom watches.
            return cell.with_mut(|p| f(unsafe { &mut *p }));
            #[cfg(not(loom))]
            // SAFETY: as for `Sync`.
            f(unsafe { &mut *cell.get() })
        }

        /// What process `me` does in an exchange: `sends` words to each process, also to itself.
        /// Everything that can be seen of it must be right.
        fn exchange(&self, me: u32, number: u64, sends: u64) {
            let processes = self.halves.len() as u32;
            let half = |p: u32| &self.halves[p as usize][(number % 2) as usize];
            for k in 0..sends {
                for to in 0..processes {
                    match half(to).reserve(1, ROOM as u64) {
                        Reservation::Room(at) => self.with(to, number, at, |word| *word = number << 32 | u64::from(me) << 16 | k),
                        Reservation::Full { end } => assert_eq!(end, None, "words fit one by one"),
                    }
                }
            }
            self.barrier.arrive(number, me, u32::max);
            while self.barrier.open(number, processes).is_none() {
                #[cfg(loom)]
                loom::thread::yield_now();
                #[cfg(not(loom))]
                std::thread::yield_now();
            }
            assert_eq!(self.barrier.open(number, processes), Some(processes - 1));
            let contents = half(me).drain(ROOM as u64);
            let all = sends * u64::from(processes);
            assert_eq!((contents.bytes + contents.elsewhere, contents.overflowed), (all, all > ROOM as u64));
            let mut last = vec![None; processes as usize];
            for at in 0..contents.bytes {
                let word = self.with(me, number, at, std::mem::take);
                let (of, from, k) = (word >> 32, (word >> 16) as u16, word as u16);
                assert_eq!(of, number, "a word of another exchange");
                assert!(last[usize::from(from)].replace(k) < Some(k), "words of one sender stay in order");
            }
        }
    }

    /// Threads are the processes.
    fn run(processes: u32, exchanges: u64, sends: u64) {
        let world = Arc::new(World::new(processes));
        let threads: Vec<_> = (1..processes)
            .map(|me| {
                let world = Arc::clone(&world);
                thread::spawn(move || (0..exchanges).for_each(|n| world.exchange(me, n, sends)))
            })
            .collect();
        (0..exchanges).for_each(|n| world.exchange(0, n, sends));
        threads.into_iter().for_each(|t| t.join().unwrap());
    }

    #[cfg(loom)]
    #[test]
    fn no_interleaving_mixes_exchanges() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| run(2, 3, 1));
    }

    #[cfg(not(loom))]
    #[test]
    fn many_exchanges_follow_one_another() {
        for (processes, sends) in [(2, 1), (3, 1), (2, 2), (5, 1)] {
            run(processes, 3000, sends);
        }
    }
}
