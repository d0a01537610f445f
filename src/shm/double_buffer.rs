//! Counters of the inboxes that processes share, and the barrier of an exchange, all by memory
//! alone. No MPI, no addresses.
//!
//! An inbox has two halves, which successive exchanges use in turn: number n uses half n mod 2. A
//! sender reserves room in a half by adding to its counter, and writes there. A message that does
//! not fit is counted, and travels by other means. Then each process arrives at the barrier. Once
//! all have, the contents of all halves are complete, and each owner drains its own and resets its
//! counters.
//!
//! # Why two halves are enough
//! A process adds to half n mod 2 for exchange n + 2 after it has passed the barrier of n + 1. The
//! owner arrived there after it had finished exchange n: its half is empty, and its counters are
//! zero. The words of the barrier alternate for the same reason: a process that arrives at the
//! barrier of n + 2 has passed that of n + 1, where every process arrived after it had passed that
//! of n.
//!
//! # Memory order
//! - Counters are relaxed. Additions before the barrier are seen after it; so are an owner's zeros,
//!   by the next item.
//! - A process arrives at the barrier with a release store, and passes it with an acquire load. All
//!   stores to a barrier's word are read-modify-writes, which continue the release sequence of each
//!   process that arrived. Whoever sees the last one sees what every process did before it arrived:
//!   messages in others' halves, and zeros in its own.

// models use less of it
#![cfg_attr(loom, allow(dead_code))]

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

/// Counters of one half of an inbox. All zeros are an empty one. Small, so that the first message
/// can lie in the same cache line.
#[derive(Debug, Default)]
#[repr(C, align(16))]
pub struct Half {
    /// Bytes reserved, including reservations that found no room.
    reserved: AtomicU64,
    /// Messages that travel by other means.
    elsewhere: AtomicU64,
}

/// Result of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    /// There is room, from this position on.
    Room(u64),
    /// There is no room. `end`: position where the contents end; only one sender gets it, and only
    /// if the half is not full to its end.
    Full {
        /// Position in the half.
        end: Option<u64>,
    },
}

/// The contents of a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    /// Bytes from the beginning of the half that hold messages; an upper bound if it `overflowed`.
    pub bytes: u64,
    /// True if there was no room for some message. The contents then end at `bytes`, or earlier at
    /// the position that a sender was given.
    pub overflowed: bool,
    /// Messages that travel by other means.
    pub elsewhere: u64,
}

impl Half {
    /// Reserves `bytes` bytes of a half of `room` bytes. Reservations of one sender are in order:
    /// once one finds no room, no later one does.
    #[inline]
    pub fn reserve(&self, bytes: u64, room: u64) -> Reservation {
        let at = self.reserved.fetch_add(bytes, Relaxed);
        if at + bytes <= room {
            return Reservation::Room(at);
        }
        self.elsewhere.fetch_add(1, Relaxed);
        Reservation::Full { end: (at < room).then_some(at) }
    }

    /// Uncounts a message that was to travel by other means, but could not be sent. Called before
    /// its sender arrives at the barrier.
    pub fn withdraw(&self) {
        self.elsewhere.fetch_sub(1, Relaxed);
    }

    /// Returns what a half contains, after the barrier, and resets its counters. The owner takes
    /// everything out before it arrives at the next barrier.
    #[inline]
    pub fn drain(&self, room: u64) -> Contents {
        // a single step instead of a load and a store, so that the cache line is transferred once
        let reserved = self.reserved.swap(0, Relaxed);
        let overflowed = reserved > room;
        Contents {
            bytes: reserved.min(room),
            overflowed,
            elsewhere: if overflowed { self.elsewhere.swap(0, Relaxed) } else { 0 },
        }
    }
}

/// Bits of a barrier's word for the combined value, and for the count of arrivals. The others hold
/// the number of the exchange.
pub const VALUE_BITS: u32 = 24;
const COUNT_BITS: u32 = 20;

/// Most processes that a barrier can count.
pub const MOST_PROCESSES: u32 = (1 << COUNT_BITS) - 1;

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Word(AtomicU64);

/// A barrier that also combines a value. All zeros are one at which no process has ever arrived,
/// before exchange 0.
#[derive(Debug, Default)]
pub struct Barrier([Word; 2]);

/// Splits a word: exchange (lowest bits of its number), arrivals, combined value.
fn parts(word: u64) -> (u64, u64, u32) {
    (word >> (VALUE_BITS + COUNT_BITS), word >> VALUE_BITS & u64::from(MOST_PROCESSES), (word & ((1 << VALUE_BITS) - 1)) as u32)
}

/// Returns the part of an exchange's number that a word holds.
fn tag(number: u64) -> u64 {
    number & (u64::MAX >> (VALUE_BITS + COUNT_BITS))
}

impl Barrier {
    /// Arrives in exchange `number` with a value of [`VALUE_BITS`] bits; `join` combines two
    /// values. Returns how many have arrived, this process included.
    #[inline]
    pub fn arrive(&self, number: u64, value: u32, join: impl Fn(u32, u32) -> u32) -> u64 {
        let word = &self.0[(number % 2) as usize].0;
        // no load before: the cache line would be transferred twice
        let mut found = 0;
        loop {
            // a word of two exchanges ago, at which no process looks any more
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

    /// Returns the combined value once `processes` processes have arrived. The caller has arrived,
    /// and has not arrived at the barrier after the next one.
    #[inline]
    pub fn open(&self, number: u64, processes: u32) -> Option<u32> {
        let (of, count, values) = parts(self.0[(number % 2) as usize].0.load(Acquire));
        (of == tag(number) && count == u64::from(processes)).then_some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cast::{to_u32, to_usize};

    #[cfg(not(loom))]
    #[test]
    fn room_is_given_until_there_is_none() {
        let half = Half::default();
        assert_eq!(half.drain(64), Contents { bytes: 0, overflowed: false, elsewhere: 0 });
        assert_eq!(half.reserve(48, 64), Reservation::Room(0));
        assert_eq!(half.drain(64), Contents { bytes: 48, overflowed: false, elsewhere: 0 });
        assert_eq!(half.reserve(32, 64), Reservation::Room(0));
        assert_eq!(half.reserve(16, 64), Reservation::Room(32));
        // the contents end at 48; no later reservation fits either, however short
        assert_eq!(half.reserve(32, 64), Reservation::Full { end: Some(48) });
        assert_eq!(half.reserve(16, 64), Reservation::Full { end: None });
        assert_eq!(half.drain(64), Contents { bytes: 64, overflowed: true, elsewhere: 2 });
        // a message that could not be sent after all is not waited for
        assert_eq!(half.reserve(80, 64), Reservation::Full { end: Some(0) });
        assert_eq!(half.reserve(16, 64), Reservation::Full { end: None });
        half.withdraw();
        assert_eq!(half.drain(64), Contents { bytes: 64, overflowed: true, elsewhere: 1 });
        // exactly full: no sender is given the end
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

    /// Words that fit in a half.
    const ROOM: usize = 3;

    /// Inboxes of words.
    #[derive(Default)]
    struct World {
        barrier: Barrier,
        halves: Vec<[Half; 2]>,
        cells: Vec<[[UnsafeCell<u64>; ROOM]; 2]>,
    }

    // SAFETY: exclusive access to the cells is what is tested.
    unsafe impl Sync for World {}

    impl World {
        fn new(processes: u32) -> World {
            World {
                barrier: Barrier::default(),
                halves: (0..processes).map(|_| Default::default()).collect(),
                cells: (0..processes).map(|_| Default::default()).collect(),
            }
        }

        /// Accesses a cell of an inbox.
        fn with<T>(&self, process: u32, number: u64, at: u64, f: impl FnOnce(&mut u64) -> T) -> T {
            let cell = &self.cells[process as usize][(number % 2) as usize][to_usize(at)];
            #[cfg(loom)]
            // SAFETY: as for `Sync`; loom checks it.
            return cell.with_mut(|p| f(unsafe { &mut *p }));
            #[cfg(not(loom))]
            // SAFETY: as for `Sync`.
            f(unsafe { &mut *cell.get() })
        }

        /// Does an exchange as process `me`: `sends` words to each process, itself included. Checks
        /// everything that can be observed.
        fn exchange(&self, me: u32, number: u64, sends: u64) {
            let processes = to_u32(self.halves.len());
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
                let (of, from, k) = (word >> 32, ((word >> 16) & 0xffff) as u16, (word & 0xffff) as u16);
                assert_eq!(of, number, "a word of another exchange");
                assert!(last[usize::from(from)].replace(k) < Some(k), "words of one sender stay in order");
            }
        }
    }

    /// Runs exchanges with a thread for each process.
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
