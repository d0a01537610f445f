//! The mailbox of one process for messages of another one: flags in memory that both have mapped. No MPI, no addresses.
//!
//! Messages of a mailbox have numbers. Message n uses line n mod 2: two, so that the sender can put the next message there while the receiver still takes the
//! last one out. A line is written by the sender alone; that it may be written again the receiver says in `taken`, which is written by the receiver
//! alone: how often it has emptied each line. The same news travels for nothing in the lines of the opposite mailbox (`acks`), so that where
//! two processes send to each other nobody reads `taken`, which would cost the passage of another cache line.
//!
//! A message that does not fit in its line lies elsewhere (`place`), and the line owns that place as long as it owns itself. One that is longer than
//! a slot comes in chunks, counted by `written` and `read`.
//!
//! # Memory order
//! - `seq` is stored with release after all of a message, and loaded with acquire before any of it is read: who sees the number sees the message.
//! - `taken` is stored with release after all of a message has been read, and loaded with acquire before its memory is written again: nothing is
//!   overwritten that is still being read.
//! - `acks` carry the same promise as `taken`: they are made from a load with acquire (another thread may have emptied the line), and their line's
//!   `seq`, stored later with release, hands on what that had seen.
//! - `known`, which never leaves the sender's process, is stored with release and loaded with acquire: the thread that fills a line may be another one
//!   than that which has heard that it is empty.
//! - `written` and `read` are to chunks what `seq` and `taken` are to messages.
//! - `begun` is stored with release after `begun_in_chunks`: who sees that a message has begun sees how.
//!
//! All other words of a line are relaxed: they are ordered by the above. They are atomics, as a process in error may write them at any time.

// what only the executor needs, which is not there without MPI
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

/// Messages of a mailbox that can be there at a time.
pub const LINES: u64 = 2;

/// Words of a message that lie in its line.
pub const WORDS: usize = 5;

/// Bytes of a message that lie in its line.
pub const INLINE: usize = 8 * WORDS;

/// A message, or where it lies: one cache line, all written by the sender.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Line {
    /// One more than the number of the message that is here.
    seq: AtomicU64,
    /// Bytes of the message, in the lower half; above them the acks.
    about: AtomicU64,
    /// Where it lies.
    place: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// What the sender says of chunks.
#[derive(Debug)]
#[repr(C, align(128))]
struct Written {
    chunks: AtomicU64,
}

/// What the receiver says.
#[derive(Debug)]
#[repr(C, align(128))]
struct Taken {
    /// How often each line has been emptied.
    taken: [AtomicU64; LINES as usize],
    /// Chunks that have been read.
    chunks: AtomicU64,
    /// One more than the number of the last long message that the receiver has begun to wait for, and of the last one that it takes in chunks.
    begun: AtomicU64,
    begun_in_chunks: AtomicU64,
}

/// The mailbox. Zeroes are an empty one.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Mailbox {
    lines: [Line; LINES as usize],
    written: Written,
    taken: Taken,
}

/// What a line says of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Its length in bytes. Of one that comes in chunks nothing is said here.
    pub bytes: u32,
    /// Where it lies: [`IN_LINE`], [`IN_CHUNKS`], or a place that both know.
    pub place: u64,
    /// For each line of the opposite mailbox how often its receiver has emptied that, the last 16 bits.
    pub acks: [u16; LINES as usize],
}

/// The message lies in its line.
pub const IN_LINE: u64 = u64::MAX;

/// The message comes in chunks; its line's words say how.
pub const IN_CHUNKS: u64 = u64::MAX - 1;

fn line_of(number: u64) -> usize {
    (number % LINES) as usize
}

/// What the sender of a mailbox keeps to itself. One message at a time is put in, by whatever thread.
#[derive(Debug, Default)]
pub struct Sender {
    /// How often each line has been filled, and how often it is known to have been emptied.
    filled: [AtomicU64; LINES as usize],
    known: [AtomicU64; LINES as usize],
}

impl Sender {
    /// Whether message `number` can be put in.
    #[inline(always)]
    pub fn is_free(&self, number: u64, mailbox: &Mailbox) -> bool {
        let line = line_of(number);
        let filled = self.filled[line].load(Relaxed);
        if self.known[line].load(Acquire) == filled {
            return true;
        }
        let taken = mailbox.taken.taken[line].load(Acquire);
        self.known[line].store(taken, Release);
        taken == filled
    }

    /// Whether both lines are empty.
    #[inline]
    pub fn is_empty(&self, number: u64, mailbox: &Mailbox) -> bool {
        self.is_free(number, mailbox) && self.is_free(number + 1, mailbox)
    }

    /// Hears from the opposite mailbox how often lines have been emptied. That must not be old news: no more than the last 2^15 messages may have been
    /// put in since it was told.
    #[inline(always)]
    pub fn learn(&self, acks: [u16; LINES as usize]) {
        for ((ack, filled), known) in acks.into_iter().zip(&self.filled).zip(&self.known) {
            let filled = filled.load(Relaxed);
            if filled as u16 == ack {
                known.store(filled, Release);
            }
        }
    }

    /// Puts message `number` in, which `is_free` allows: its header, and `words` words, which lie in the line.
    #[inline(always)]
    pub fn put(&self, number: u64, mailbox: &Mailbox, header: Header, words: &[u64]) {
        let line = &mailbox.lines[line_of(number)];
        for (into, &word) in line.words.iter().zip(words) {
            into.store(word, Relaxed);
        }
        let [a, b] = header.acks;
        line.about.store(u64::from(header.bytes) | u64::from(a) << 32 | u64::from(b) << 48, Relaxed);
        line.place.store(header.place, Relaxed);
        let filled = &self.filled[line_of(number)];
        filled.store(filled.load(Relaxed) + 1, Relaxed);
        line.seq.store(number + 1, Release);
    }
}

impl Mailbox {
    /// The header of message `number`, if it has come.
    #[inline(always)]
    pub fn header(&self, number: u64) -> Option<Header> {
        let line = &self.lines[line_of(number)];
        if line.seq.load(Acquire) != number + 1 {
            return None;
        }
        let about = line.about.load(Relaxed);
        let acks = [(about >> 32) as u16, (about >> 48) as u16];
        Some(Header { bytes: about as u32, place: line.place.load(Relaxed), acks })
    }

    /// The words in the line of message `number`, which has come.
    #[inline(always)]
    pub fn words(&self, number: u64, words: &mut [u64]) {
        for (into, word) in words.iter_mut().zip(&self.lines[line_of(number)].words) {
            *into = word.load(Relaxed);
        }
    }

    /// Says that message `number`, which has come, has been taken out. Once for each message.
    #[inline(always)]
    pub fn take(&self, number: u64) {
        let taken = &self.taken.taken[line_of(number)];
        // a line is emptied by one thread at a time, and by the next one when the sender has filled it again
        taken.store(taken.load(Relaxed) + 1, Release);
    }

    /// What the opposite mailbox' headers say of this one.
    #[inline(always)]
    pub fn acks(&self) -> [u16; LINES as usize] {
        [0, 1].map(|line: usize| self.taken.taken[line].load(Acquire) as u16)
    }

    /// Chunks that the sender has put in, ever.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written.chunks.load(Acquire)
    }

    /// Says how many chunks the sender has put in, ever.
    #[inline]
    pub fn set_written(&self, chunks: u64) {
        self.written.chunks.store(chunks, Release);
    }

    /// Chunks that the receiver has taken out, ever.
    #[inline]
    pub fn read(&self) -> u64 {
        self.taken.chunks.load(Acquire)
    }

    /// Says that the receiver waits for the long message `number`, and whether it takes that in chunks; else it has posted a receive of MPI for it. One that takes
    /// chunks waits for no later message before it has them.
    #[inline]
    pub fn begin(&self, number: u64, in_chunks: bool) {
        if in_chunks {
            self.taken.begun_in_chunks.store(number + 1, Relaxed);
        }
        self.taken.begun.store(number + 1, Release);
    }

    /// What the receiver has said of the long message `number` by `begin`: whether it takes it in chunks. `None`: nothing yet.
    #[inline]
    pub fn begun(&self, number: u64) -> Option<bool> {
        (self.taken.begun.load(Acquire) > number).then(|| self.taken.begun_in_chunks.load(Relaxed) == number + 1)
    }

    /// Says how many chunks the receiver has taken out, ever.
    #[inline]
    pub fn set_read(&self, chunks: u64) {
        self.taken.chunks.store(chunks, Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn mailbox() -> Box<Mailbox> {
        // SAFETY: zeroes are an empty mailbox.
        unsafe { Box::new(std::mem::zeroed()) }
    }

    const HEADER: Header = Header { bytes: 16, place: IN_LINE, acks: [0; 2] };

    #[test]
    fn a_line_is_a_cache_line() {
        assert_eq!((size_of::<Line>(), size_of::<Mailbox>()), (64, 384));
    }

    #[test]
    fn two_messages_are_there_at_a_time() {
        let (mailbox, sender) = (mailbox(), Sender::default());
        let mut words = [0; 2];
        for n in 0..2 {
            assert!(sender.is_free(n, &mailbox) && mailbox.header(n).is_none());
            sender.put(n, &mailbox, HEADER, &[n, 7]);
        }
        assert!(!sender.is_free(2, &mailbox) && !sender.is_free(3, &mailbox));
        // in any order
        for n in [1, 0] {
            assert_eq!(mailbox.header(n), Some(HEADER));
            mailbox.words(n, &mut words);
            assert_eq!(words, [n, 7]);
            mailbox.take(n);
            assert!(sender.is_free(n + 2, &mailbox));
        }
        // numbers may be left out
        sender.put(9, &mailbox, HEADER, &[]);
        assert!(mailbox.header(3).is_none() && mailbox.header(9).is_some());
    }

    #[test]
    fn news_from_the_opposite_mailbox() {
        let (mailbox, sender) = (mailbox(), Sender::default());
        for n in 0..100_000 {
            assert!(sender.is_free(n, &mailbox));
            sender.put(n, &mailbox, HEADER, &[]);
            let before = mailbox.acks();
            sender.learn(before);
            assert_ne!(sender.known[line_of(n)].load(Relaxed), sender.filled[line_of(n)].load(Relaxed));
            mailbox.take(n);
            sender.learn(mailbox.acks());
            assert_eq!(sender.known[line_of(n)].load(Relaxed), sender.filled[line_of(n)].load(Relaxed));
        }
    }
}

/// Two processes in two threads, for what watches a run: Miri, ThreadSanitizer. As `model`, which sees all runs, but many messages.
#[cfg(all(test, not(loom)))]
mod races {
    use std::cell::UnsafeCell;
    use std::thread;

    use super::*;

    /// Memory of a process's messages to the other one: not atomic, so that whoever watches sees two that meet there.
    #[derive(Default)]
    struct Slots([UnsafeCell<u64>; LINES as usize]);

    // SAFETY: who may be at a slot is what is tested.
    unsafe impl Sync for Slots {}

    impl Slots {
        fn at(&self, k: u64) -> *mut u64 {
            self.0[line_of(k)].get()
        }
    }

    #[test]
    fn no_two_meet_in_a_slot() {
        let count = if cfg!(miri) { 150 } else { 100_000 };
        // SAFETY: zeroes are empty mailboxes.
        let mailboxes: Box<[Mailbox; 2]> = unsafe { Box::new(std::mem::zeroed()) };
        let slots: [Slots; 2] = Default::default();
        let run = |me: usize| {
            let sender = Sender::default();
            let (out, into) = (&mailboxes[me], &mailboxes[1 - me]);
            for n in 0..count {
                while !sender.is_free(n, out) {
                    thread::yield_now();
                }
                // SAFETY: as above.
                unsafe { *slots[me].at(n) = n + me as u64 };
                sender.put(n, out, Header { bytes: 8, place: 0, acks: into.acks() }, &[]);
                let header = loop {
                    match into.header(n) {
                        Some(header) => break header,
                        None => thread::yield_now(),
                    }
                };
                // every third one goes the other way
                if n % 3 != 0 {
                    sender.learn(header.acks);
                }
                // SAFETY: as above.
                assert_eq!(unsafe { *slots[1 - me].at(n) }, n + 1 - me as u64);
                into.take(n);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| run(0));
            run(1);
        });
    }

    #[test]
    fn no_two_meet_in_a_chunk() {
        let count = if cfg!(miri) { 150 } else { 100_000 };
        // SAFETY: zeroes are an empty mailbox.
        let mailbox: Box<Mailbox> = unsafe { Box::new(std::mem::zeroed()) };
        let memory = Slots::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                for chunk in 0..count {
                    while mailbox.read() + LINES <= chunk {
                        thread::yield_now();
                    }
                    // SAFETY: as above.
                    unsafe { *memory.at(chunk) = chunk };
                    mailbox.set_written(chunk + 1);
                }
            });
            for chunk in 0..count {
                while mailbox.written() <= chunk {
                    thread::yield_now();
                }
                // SAFETY: as above.
                assert_eq!(unsafe { *memory.at(chunk) }, chunk);
                mailbox.set_read(chunk + 1);
            }
        });
    }
}

/// All orders in which processes can go through the protocol, and all values that the memory order lets them read: `make test-model`. Slots and chunks
/// are memory that is not atomic, in which the model checker finds two who meet.
#[cfg(all(test, loom))]
mod model {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, fence};
    use loom::thread;

    use super::*;

    /// A mailbox, and memory for its messages.
    struct Direction {
        mailbox: Mailbox,
        memory: [UnsafeCell<u64>; LINES as usize],
    }

    // SAFETY: who may be where in the memory is what is checked.
    unsafe impl Sync for Direction {}
    // SAFETY: as above.
    unsafe impl std::marker::Send for Direction {}

    impl Direction {
        /// An empty one.
        fn new() -> Direction {
            let zero = || AtomicU64::new(0);
            let line = || Line { seq: zero(), about: zero(), place: zero(), words: [(); WORDS].map(|()| zero()) };
            let taken = Taken { taken: [zero(), zero()], chunks: zero(), begun: zero(), begun_in_chunks: zero() };
            let mailbox = Mailbox { lines: [line(), line()], written: Written { chunks: zero() }, taken };
            Direction { mailbox, memory: [UnsafeCell::new(0), UnsafeCell::new(0)] }
        }

        fn write(&self, k: u64, value: u64) {
            // SAFETY: the model checker sees who else is there.
            self.memory[line_of(k)].with_mut(|at| unsafe { *at = value });
        }

        fn read(&self, k: u64) -> u64 {
            // SAFETY: as for `write`.
            self.memory[line_of(k)].with(|at| unsafe { *at })
        }

        /// Puts a message into memory and mailbox when there is room, with news of `other`.
        fn send(&self, sender: &Sender, number: u64, value: u64, other: Option<&Direction>) {
            while !sender.is_free(number, &self.mailbox) {
                thread::yield_now();
            }
            self.write(number, value);
            let acks = other.map_or([0; 2], |other| other.mailbox.acks());
            sender.put(number, &self.mailbox, Header { bytes: 8, place: value, acks }, &[value]);
        }

        /// Takes a message out when it has come. What it says of the opposite mailbox.
        fn receive(&self, number: u64, value: u64) -> [u16; LINES as usize] {
            let header = loop {
                match self.mailbox.header(number) {
                    Some(header) => break header,
                    None => thread::yield_now(),
                }
            };
            let mut words = [0];
            self.mailbox.words(number, &mut words);
            assert_eq!((header.bytes, header.place, words, self.read(number)), (8, value, [value], value));
            self.mailbox.take(number);
            header.acks
        }
    }

    /// Checks what threads do that all have one state: all of it where `preemptions` is `None`, else where no more often is a thread interrupted that
    /// could go on.
    fn check(preemptions: Option<usize>, run: impl Fn() + Sync + std::marker::Send + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemptions;
        model.check(run);
    }

    #[test]
    fn one_direction() {
        check(None, || {
            let way = Arc::new(Direction::new());
            let other = Arc::clone(&way);
            let receiver = thread::spawn(move || {
                for n in 0..3 {
                    other.receive(n, 10 + n);
                }
            });
            let sender = Sender::default();
            for n in 0..3 {
                way.send(&sender, n, 10 + n, None);
            }
            receiver.join().unwrap();
        });
    }

    /// As requests do it: messages are taken out in another order.
    #[test]
    fn one_direction_in_another_order() {
        check(None, || {
            let way = Arc::new(Direction::new());
            let other = Arc::clone(&way);
            let receiver = thread::spawn(move || {
                for n in [1, 0, 2] {
                    other.receive(n, 10 + n);
                }
            });
            let sender = Sender::default();
            for n in 0..3 {
                way.send(&sender, n, 10 + n, None);
            }
            receiver.join().unwrap();
        });
    }

    /// Two processes that both send and receive, and hear of emptied lines from each other's messages.
    #[test]
    fn both_directions() {
        fn process(own: &Direction, other: &Direction, me: u64) {
            let sender = Sender::default();
            for n in 0..3 {
                own.send(&sender, n, 10 * me + n, Some(other));
                sender.learn(other.receive(n, 10 * (1 - me) + n));
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

    /// The receiving process has two threads: one takes out, the other one says so with a message of its own.
    #[test]
    fn news_of_another_thread() {
        check(None, || {
            let ways = Arc::new([Direction::new(), Direction::new()]);
            let (takes, tells) = (Arc::clone(&ways), Arc::clone(&ways));
            let takes = thread::spawn(move || _ = takes[0].receive(0, 10));
            let tells = thread::spawn(move || tells[1].send(&Sender::default(), 0, 20, Some(&tells[0])));
            let sender = Sender::default();
            ways[0].send(&sender, 0, 10, None);
            sender.learn(ways[1].receive(0, 20));
            // if that said that the line is empty, it is
            if sender.known[0].load(Relaxed) == 1 {
                ways[0].send(&sender, 2, 12, None);
            }
            takes.join().unwrap();
            tells.join().unwrap();
        });
    }

    /// The sending process has two threads: one hears that a line is empty, the other one fills it again.
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
            let hears = thread::spawn(move || known.learn(hears[1].receive(0, 20)));
            if sender.is_free(2, &ways[0].mailbox) {
                ways[0].send(&sender, 2, 12, None);
            }
            hears.join().unwrap();
            peer.join().unwrap();
        });
    }

    /// A line is emptied by one thread of a process, and then by another one.
    #[test]
    fn lines_emptied_by_two_threads() {
        check(Some(3), || {
            let way = Arc::new(Direction::new());
            let (first, second) = (Arc::clone(&way), Arc::clone(&way));
            let first = thread::spawn(move || _ = first.receive(0, 10));
            let second = thread::spawn(move || {
                let there = second.mailbox.header(2).is_some();
                if there {
                    second.receive(2, 12);
                }
                u16::from(there)
            });
            let sender = Sender::default();
            way.send(&sender, 0, 10, None);
            way.send(&sender, 2, 12, None);
            first.join().unwrap();
            let both = 1 + second.join().unwrap();
            assert_eq!(way.mailbox.acks()[0], both);
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
                let mailbox = &other.mailbox;
                mailbox.begin(0, true);
                while mailbox.header(0).is_none() {
                    thread::yield_now();
                }
                for chunk in 0..ALL {
                    while mailbox.written() <= chunk {
                        thread::yield_now();
                    }
                    assert_eq!(other.read(chunk), 30 + chunk);
                    mailbox.set_read(chunk + 1);
                }
                mailbox.take(0);
                other.receive(1, 11);
            });
            let (sender, mailbox) = (Sender::default(), &way.mailbox);
            let in_chunks = loop {
                match mailbox.begun(0) {
                    Some(in_chunks) => break in_chunks,
                    None => thread::yield_now(),
                }
            };
            assert!(in_chunks && sender.is_empty(0, mailbox));
            sender.put(0, mailbox, Header { bytes: 0, place: IN_CHUNKS, acks: [0; 2] }, &[]);
            for chunk in 0..ALL {
                while mailbox.read() + LINES <= chunk {
                    thread::yield_now();
                }
                way.write(chunk, 30 + chunk);
                mailbox.set_written(chunk + 1);
            }
            while mailbox.read() != ALL {
                thread::yield_now();
            }
            way.send(&sender, 1, 11, None);
            receiver.join().unwrap();
        });
    }

    /// How a receiver takes long messages, one of which it has a receive of MPI posted for.
    #[test]
    fn long_messages_begin() {
        check(None, || {
            let way = Arc::new(Direction::new());
            let other = Arc::clone(&way);
            let receiver = thread::spawn(move || {
                other.mailbox.begin(0, false);
                other.mailbox.begin(1, true);
            });
            for (number, in_chunks) in [(1, true), (0, false)] {
                let begun = loop {
                    match way.mailbox.begun(number) {
                        Some(begun) => break begun,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(begun, in_chunks);
            }
            receiver.join().unwrap();
        });
    }

    /// The steps of `shm/waiting.rs`: whoever is about to sleep sees the message, or whoever has put it in sees that someone is about to sleep. The call
    /// itself is the kernel's.
    #[test]
    fn no_call_is_lost() {
        check(None, || {
            let state = Arc::new((Direction::new(), AtomicU32::new(0)));
            let other = Arc::clone(&state);
            let receiver = thread::spawn(move || {
                let (way, asleep) = &*other;
                asleep.fetch_add(1, Relaxed);
                fence(Ordering::SeqCst);
                way.mailbox.header(0).is_some()
            });
            let (way, asleep) = &*state;
            way.send(&Sender::default(), 0, 10, None);
            fence(Ordering::SeqCst);
            let rings = asleep.load(Relaxed) != 0;
            assert!(receiver.join().unwrap() || rings);
        });
    }
}
