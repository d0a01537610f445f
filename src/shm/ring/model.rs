//! Model checks of the ring: all interleavings of the two processes, and all values that the memory
//! order lets them read (`make test-model`). Messages and chunks lie in memory that is not atomic,
//! so that the checker finds two threads that meet there.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, fence};
use loom::thread;

use super::*;

/// A ring, and memory for its messages.
struct Direction {
    ring: Ring,
    receiver: Receiver,
    memory: [UnsafeCell<u64>; CELLS as usize],
}

// SAFETY: exclusive access to the memory is what is checked.
unsafe impl Sync for Direction {}
// SAFETY: as above.
unsafe impl std::marker::Send for Direction {}

impl Direction {
    /// Makes an empty one.
    fn new() -> Direction {
        let zero = || AtomicU64::new(0);
        let cell = || Cell { seq: zero(), meta: zero(), acks: zero(), words: [(); WORDS].map(|()| zero()) };
        let taken =
            ReceiverLine { taken: [zero(), zero()], chunks: zero(), ready: zero(), ready_in_chunks: zero(), time: zero() };
        let ring = Ring {
            cells: [cell(), cell()],
            written: SenderLine { chunks: zero(), timed: zero() },
            taken,
            fates: FateLine { fates: [zero(), zero()] },
        };
        Direction { ring, receiver: Receiver::default(), memory: [UnsafeCell::new(0), UnsafeCell::new(0)] }
    }

    fn write(&self, k: u64, value: u64) {
        // SAFETY: the model checker detects conflicting accesses.
        self.memory[cell_of::<LENGTH>(k)].with_mut(|at| unsafe { *at = value });
    }

    fn read(&self, k: u64) -> u64 {
        // SAFETY: as for `write`.
        self.memory[cell_of::<LENGTH>(k)].with(|at| unsafe { *at })
    }

    /// Sends a message through memory and ring once there is room, with acknowledgements for
    /// `other`.
    fn send(&self, sender: &Sender, number: u64, value: u64, other: Option<&Direction>) {
        while !sender.is_free(number, &self.ring) {
            thread::yield_now();
        }
        self.write(number, value);
        let acks = other.map_or(0, |other| other.receiver.acks(&other.ring));
        sender.put(number, &self.ring, Header { bytes: 8, location: value as u32, acks }, &[value]);
    }

    /// Receives a message once it has come. Returns its acknowledgements.
    fn receive(&self, number: u64, value: u64) -> u64 {
        let header = loop {
            match self.ring.header(number) {
                Some(header) => break header,
                None => thread::yield_now(),
            }
        };
        let mut words = [0];
        self.ring.words(number, &mut words);
        assert_eq!((header.bytes, header.location, words, self.read(number)), (8, value as u32, [value], value));
        self.ring.take(number);
        header.acks
    }
}

/// Explores the interleavings of threads: all of them, or those in which runnable threads are
/// preempted at most `preemptions` times.
fn check(preemptions: Option<usize>, run: impl Fn() + Sync + std::marker::Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(run);
}

/// One process sends three messages; the other one receives, and releases, them in this order.
fn one_way(order: [u64; 3]) {
    let way = Arc::new(Direction::new());
    let other = Arc::clone(&way);
    let receiver = thread::spawn(move || {
        for n in order {
            other.receive(n, 10 + n);
        }
    });
    let sender = Sender::default();
    for n in 0..3 {
        way.send(&sender, n, 10 + n, None);
    }
    receiver.join().unwrap();
}

#[test]
fn one_direction() {
    check(None, || one_way([0, 1, 2]));
}

/// Messages are released in another order, as with requests.
#[test]
fn one_direction_in_another_order() {
    check(None, || one_way([1, 0, 2]));
}

/// Two processes that both send and receive, and learn of released cells from each other's
/// messages.
#[test]
fn both_directions() {
    fn process(own: &Direction, other: &Direction, me: u64) {
        let sender = Sender::default();
        for n in 0..3 {
            own.send(&sender, n, 10 * me + n, Some(other));
            sender.learn_acks(other.receive(n, 10 * (1 - me) + n));
        }
    }
    check(Some(4), || {
        let ways = Arc::new([Direction::new(), Direction::new()]);
        let both = Arc::clone(&ways);
        let thread = thread::spawn(move || process(&both[1], &both[0], 1));
        process(&ways[0], &ways[1], 0);
        thread.join().unwrap();
    });
}

/// The receiving process has two threads: one releases a message, the other one acknowledges it.
#[test]
fn news_of_another_thread() {
    check(None, || {
        let ways = Arc::new([Direction::new(), Direction::new()]);
        let (takes, tells) = (Arc::clone(&ways), Arc::clone(&ways));
        let takes = thread::spawn(move || _ = takes[0].receive(0, 10));
        let tells = thread::spawn(move || tells[1].send(&Sender::default(), 0, 20, Some(&tells[0])));
        let sender = Sender::default();
        ways[0].send(&sender, 0, 10, None);
        sender.learn_acks(ways[1].receive(0, 20));
        // if that acknowledged the message, its cell is free
        if sender.all_below.load(Relaxed) == 1 {
            ways[0].send(&sender, 2, 12, None);
        }
        takes.join().unwrap();
        tells.join().unwrap();
    });
}

/// The sending process has two threads: one learns of a released cell, the other one reuses it.
#[test]
fn news_for_another_thread() {
    check(None, || {
        let ways = Arc::new([Direction::new(), Direction::new()]);
        let sender = Arc::new(Sender::default());
        ways[0].send(&sender, 0, 10, None);
        let peer = Arc::clone(&ways);
        let peer = thread::spawn(move || {
            peer[0].receive(0, 10);
            peer[1].send(&Sender::default(), 0, 20, Some(&peer[0]));
        });
        let (hears, known) = (Arc::clone(&ways), Arc::clone(&sender));
        let hears = thread::spawn(move || known.learn_acks(hears[1].receive(0, 20)));
        if sender.is_free(2, &ways[0].ring) {
            ways[0].send(&sender, 2, 12, None);
        }
        hears.join().unwrap();
        peer.join().unwrap();
    });
}

/// A cell is released by one thread of a process, and then by another one.
#[test]
fn cells_emptied_by_two_threads() {
    check(Some(3), || {
        let way = Arc::new(Direction::new());
        let (first, second) = (Arc::clone(&way), Arc::clone(&way));
        let first = thread::spawn(move || _ = first.receive(0, 10));
        let second = thread::spawn(move || {
            let there = second.ring.header(2).is_some();
            if there {
                second.receive(2, 12);
            }
            there
        });
        let sender = Sender::default();
        way.send(&sender, 0, 10, None);
        way.send(&sender, 2, 12, None);
        first.join().unwrap();
        let last = if second.join().unwrap() { 2 } else { 0 };
        assert_eq!(way.ring.taken.taken[0].load(Relaxed), last + 1);
    });
}

/// A long message, and then a short one in the same memory.
#[test]
fn chunks() {
    const ALL: u64 = 3;
    check(Some(2), || {
        let way = Arc::new(Direction::new());
        let other = Arc::clone(&way);
        let receiver = thread::spawn(move || {
            let ring = &other.ring;
            ring.set_ready(0, true);
            while ring.header(0).is_none() {
                thread::yield_now();
            }
            for chunk in 0..ALL {
                while ring.chunks_written() <= chunk {
                    thread::yield_now();
                }
                assert_eq!(other.read(chunk), 30 + chunk);
                ring.set_chunks_read(chunk + 1);
            }
            ring.take(0);
            other.receive(1, 11);
        });
        let (sender, ring) = (Sender::default(), &way.ring);
        let in_chunks = loop {
            match ring.ready(0) {
                Some(in_chunks) => break in_chunks,
                None => thread::yield_now(),
            }
        };
        assert!(in_chunks && sender.is_free(0, ring) && sender.is_free(1, ring));
        sender.put(0, ring, Header { bytes: 0, location: IN_CHUNKS, acks: 0 }, &[]);
        for chunk in 0..ALL {
            while ring.chunks_read() + CHUNKS <= chunk {
                thread::yield_now();
            }
            way.write(chunk, 30 + chunk);
            ring.set_chunks_written(chunk + 1);
        }
        while ring.chunks_read() != ALL {
            thread::yield_now();
        }
        way.send(&sender, 1, 11, None);
        receiver.join().unwrap();
    });
}

/// The receiver is ready for two long messages; for one of them it has posted an MPI receive.
#[test]
fn long_messages_begin() {
    check(None, || {
        let way = Arc::new(Direction::new());
        let other = Arc::clone(&way);
        let receiver = thread::spawn(move || {
            other.ring.set_ready(0, false);
            other.ring.set_ready(1, true);
        });
        for (number, in_chunks) in [(1, true), (0, false)] {
            let begun = loop {
                match way.ring.ready(number) {
                    Some(begun) => break begun,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(begun, in_chunks);
        }
        receiver.join().unwrap();
    });
}

/// A message that stays in its sender's memory: either the receiver reads it before that changes,
/// or the sender has it back.
#[test]
fn one_side_gets_a_message() {
    check(None, || {
        let way = Arc::new(Direction::new());
        let other = Arc::clone(&way);
        let receiver = thread::spawn(move || {
            while other.ring.header(0).is_none() {
                thread::yield_now();
            }
            let claimed = other.ring.claim(0);
            if claimed {
                assert_eq!(other.read(0), 10);
            }
            other.ring.take(0);
            claimed
        });
        let sender = Sender::default();
        way.write(0, 10);
        sender.put(0, &way.ring, Header { bytes: 0, location: AT_SENDER, acks: 0 }, &[]);
        let withdrawn = way.ring.withdraw(0);
        while !withdrawn && !sender.is_taken(0, &way.ring) {
            thread::yield_now();
        }
        way.write(0, 20);
        assert!(receiver.join().unwrap() != withdrawn);
    });
}

/// A message that stays in its sender's memory, whose receiver waits for it: it claims it, or the
/// sender turns it into chunks, and both know which.
#[test]
fn a_message_is_turned_or_claimed() {
    check(None, || {
        let way = Arc::new(Direction::new());
        let other = Arc::clone(&way);
        let receiver = thread::spawn(move || {
            while other.ring.header(0).is_none() {
                thread::yield_now();
            }
            other.ring.set_takes_chunks(0);
            if other.ring.claim(0) {
                return None;
            }
            while other.ring.fate(0) == Fate::Turning {
                thread::yield_now();
            }
            assert_eq!(other.ring.fate(0), Fate::InChunks);
            Some(other.ring.turned(0))
        });
        let sender = Sender::default();
        sender.put(0, &way.ring, Header { bytes: 0, location: AT_SENDER, acks: 0 }, &[7, 8, 9]);
        let turned = way.ring.takes_chunks(0) && way.ring.turn(0, [1, 2, 3, 4]);
        assert_eq!(receiver.join().unwrap(), turned.then_some([1, 2, 3, 4]));
    });
}

/// The steps of `doorbell.rs`: either the process that is about to sleep sees the message, or its
/// sender sees that someone is about to sleep. The wake-up itself is the kernel's.
#[test]
fn no_call_is_lost() {
    check(None, || {
        let state = Arc::new((Direction::new(), AtomicU32::new(0)));
        let other = Arc::clone(&state);
        let receiver = thread::spawn(move || {
            let (way, asleep) = &*other;
            asleep.fetch_add(1, Relaxed);
            fence(Ordering::SeqCst);
            way.ring.header(0).is_some()
        });
        let (way, asleep) = &*state;
        way.send(&Sender::default(), 0, 10, None);
        fence(Ordering::SeqCst);
        let rings = asleep.load(Relaxed) != 0;
        assert!(receiver.join().unwrap() || rings);
    });
}

/// A message that stays in its sender's memory: one thread of the sender waits for its release,
/// another one reuses the cell.
#[test]
fn a_release_is_seen_by_the_thread_that_completes() {
    check(Some(2), || {
        let way = Arc::new(Direction::new());
        let sender = Arc::new(Sender::default());
        way.write(1, 10);
        sender.put(0, &way.ring, Header { bytes: 0, location: AT_SENDER, acks: 0 }, &[]);
        let other = Arc::clone(&way);
        let receiver = thread::spawn(move || {
            assert!(other.ring.header(0).is_some());
            assert!(other.ring.claim(0));
            assert_eq!(other.read(1), 10);
            other.ring.take(0);
        });
        let (starts, known) = (Arc::clone(&way), Arc::clone(&sender));
        let starts = thread::spawn(move || {
            while !known.is_free(2, &starts.ring) {
                thread::yield_now();
            }
            known.put(2, &starts.ring, Header { bytes: 0, location: IN_CELL, acks: 0 }, &[]);
        });
        // some attempts: nothing says when the release must be seen
        for _ in 0..2 {
            if sender.is_taken(0, &way.ring) {
                way.write(1, 20);
                break;
            }
            thread::yield_now();
        }
        receiver.join().unwrap();
        starts.join().unwrap();
    });
}

/// One thread gives a dead receiver up while another one reads what it has left behind.
#[test]
fn who_is_given_up_stays_given_up() {
    check(None, || {
        let way = Arc::new(Direction::new());
        let sender = Arc::new(Sender::<LENGTH>::default());
        sender.put(0, &way.ring, Header { bytes: 0, location: IN_CELL, acks: 0 }, &[]);
        let known = Arc::clone(&sender);
        let hears = thread::spawn(move || known.learn_acks(1));
        sender.give_up();
        hears.join().unwrap();
        // a cell that nobody will ever release
        sender.put(2, &way.ring, Header { bytes: 0, location: IN_CELL, acks: 0 }, &[]);
        assert!(sender.is_free(4, &way.ring), "the dead receiver is waited for");
    });
}
