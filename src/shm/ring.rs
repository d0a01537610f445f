//! The mailbox of one process for messages of another one: flags in memory that both have mapped.
//! No MPI, no addresses.
//!
//! Messages of a mailbox have numbers. Message n uses line n mod [`LINES`], so that the sender can
//! put messages there while the receiver still takes earlier ones out. A line is written by the
//! sender alone; that it may be written again the receiver says in `taken`, which is written by the
//! receiver alone: which message it has taken out of each line last. The same news travels for
//! nothing in the lines of the opposite mailbox (`acks`: a number below which all messages have
//! been taken out), so that where two processes send to each other nobody reads `taken`, which
//! would cost the passage of another cache line. News that comes late is still true.
//!
//! A message that does not fit in its line lies elsewhere (`place`), and the line owns that place
//! as long as it owns itself. One that is longer than a slot comes in chunks, counted by `written`
//! and `read`.
//!
//! # Memory order
//! - `seq` is stored with release after all of a message, and loaded with acquire before any of it
//!   is read: who sees the number sees the message.
//! - `taken` is stored with release after all of a message has been read, and loaded with acquire
//!   before its memory is written again: nothing is overwritten that is still being read.
//! - `acks` carry the same promise as `taken`: they are made from loads with acquire (another
//!   thread may have emptied a line), and their line's `seq`, stored later with release, hands on
//!   what those had seen.
//! - `written` and `read` are to chunks what `seq` and `taken` are to messages.
//! - `begun` is stored with release after `begun_in_chunks`: who sees that a message has begun sees
//!   how.
//!
//! All other words of a line are relaxed: they are ordered by the above. They are atomics, as a
//! process in error may write them at any time.

// what the models and tests do not need
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

/// Messages of a mailbox that can be there at a time.
#[cfg(not(loom))]
pub const LINES: u64 = 8;
/// Few, for fewer orders of steps.
#[cfg(loom)]
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
    /// Bytes of the message, in the lower half; above them where it lies.
    about: AtomicU64,
    /// All messages in lines of the opposite mailbox whose numbers are less have been taken out.
    acks: AtomicU64,
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
    /// One more than the number of the message that was last taken out of each line: with 8 of them
    /// a cache line.
    taken: [AtomicU64; LINES as usize],
    /// Chunks that have been read.
    chunks: AtomicU64,
    /// One more than the number of the last long message that the receiver has begun to wait for,
    /// and of the last one that it takes in chunks.
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
    pub place: u32,
    /// All messages in lines of the opposite mailbox whose numbers are less have been taken out.
    pub acks: u64,
}

/// The message lies in its line.
pub const IN_LINE: u32 = u32::MAX;

/// The message comes in chunks; its line's words say how.
pub const IN_CHUNKS: u32 = u32::MAX - 1;

fn line_of(number: u64) -> usize {
    (number % LINES) as usize
}

/// What the sender of a mailbox keeps to itself. One message at a time is put in, by whatever
/// thread.
#[derive(Debug, Default)]
pub struct Sender {
    /// One more than the number of the message that was last put into each line, and of the one
    /// that is known to have been taken out of it last.
    last: [AtomicU64; LINES as usize],
    known: [AtomicU64; LINES as usize],
    /// All messages in lines whose numbers are less have been taken out.
    low: AtomicU64,
}

impl Sender {
    /// Whether message `number` can be put in.
    #[inline(always)]
    pub fn is_free(&self, number: u64, mailbox: &Mailbox) -> bool {
        let line = line_of(number);
        let last = self.last[line].load(Relaxed);
        if last <= self.low.load(Acquire) || self.known[line].load(Acquire) == last {
            return true;
        }
        let taken = mailbox.taken.taken[line].load(Acquire);
        self.known[line].store(taken, Release);
        taken == last
    }

    /// True if the receiver has taken out all that was put in.
    pub fn is_idle(&self, mailbox: &Mailbox) -> bool {
        (0..LINES).all(|number| self.is_free(number, mailbox))
    }

    /// Whether message `number`, which was put in once, has been taken out.
    #[inline]
    pub fn is_taken(&self, number: u64, mailbox: &Mailbox) -> bool {
        self.last[line_of(number)].load(Relaxed) != number + 1 || self.is_free(number, mailbox)
    }

    /// Hears the news that a message of the opposite mailbox brings.
    #[inline(always)]
    pub fn learn(&self, acks: u64) {
        if acks > self.low.load(Relaxed) {
            self.low.store(acks, Release);
        }
    }

    /// Gives up on a receiver that is dead: to the sender its mailbox is empty from now on.
    #[cold]
    pub fn give_up(&self) {
        self.low.store(u64::MAX, Release);
    }

    /// Puts message `number` in, which `is_free` allows: its header, and `words` words, which lie
    /// in the line.
    #[inline(always)]
    pub fn put(&self, number: u64, mailbox: &Mailbox, header: Header, words: &[u64]) {
        let line = &mailbox.lines[line_of(number)];
        for (into, &word) in line.words.iter().zip(words) {
            into.store(word, Relaxed);
        }
        line.about.store(u64::from(header.bytes) | u64::from(header.place) << 32, Relaxed);
        line.acks.store(header.acks, Relaxed);
        self.last[line_of(number)].store(number + 1, Relaxed);
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
        Some(Header { bytes: about as u32, place: (about >> 32) as u32, acks: line.acks.load(Relaxed) })
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
        self.taken.taken[line_of(number)].store(number + 1, Release);
    }

    /// What the opposite mailbox' headers say of this one.
    #[inline(always)]
    pub fn acks(&self) -> u64 {
        // what follows in a line is no earlier than the message behind the last one that was taken
        // out
        let next = |(line, taken): (u64, &AtomicU64)| match taken.load(Acquire) {
            0 => line,
            taken => taken - 1 + LINES,
        };
        (0..).zip(&self.taken.taken).map(next).min().unwrap_or(0)
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

    /// Says that the receiver waits for the long message `number`, and whether it takes that in
    /// chunks; else it has posted a receive of MPI for it. One that takes chunks waits for no later
    /// message before it has them.
    #[inline]
    pub fn begin(&self, number: u64, in_chunks: bool) {
        if in_chunks {
            self.taken.begun_in_chunks.store(number + 1, Relaxed);
        }
        self.taken.begun.store(number + 1, Release);
    }

    /// What the receiver has said of the long message `number` by `begin`: whether it takes it in
    /// chunks. `None`: nothing yet.
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

    const HEADER: Header = Header { bytes: 16, place: IN_LINE, acks: 0 };

    #[test]
    fn a_line_is_a_cache_line() {
        assert_eq!((size_of::<Line>(), size_of::<Mailbox>()), (64, 768));
    }

    #[test]
    fn as_many_messages_are_there_at_a_time_as_there_are_lines() {
        let (mailbox, sender) = (mailbox(), Sender::default());
        let mut words = [0; 2];
        for n in 0..LINES {
            assert!(sender.is_free(n, &mailbox) && mailbox.header(n).is_none());
            sender.put(n, &mailbox, HEADER, &[n, 7]);
        }
        assert!((LINES..2 * LINES).all(|n| !sender.is_free(n, &mailbox)));
        // in any order
        for n in (0..LINES).rev() {
            assert!(!sender.is_taken(n, &mailbox));
            assert_eq!(mailbox.header(n), Some(HEADER));
            mailbox.words(n, &mut words);
            assert_eq!(words, [n, 7]);
            mailbox.take(n);
            assert!(sender.is_free(n + LINES, &mailbox) && sender.is_taken(n, &mailbox));
        }
        // numbers may be left out
        sender.put(5 * LINES + 1, &mailbox, HEADER, &[]);
        assert!(mailbox.header(1).is_none() && mailbox.header(LINES + 1).is_none() && mailbox.header(5 * LINES + 1).is_some());
        assert!(sender.is_taken(1, &mailbox) && !sender.is_taken(5 * LINES + 1, &mailbox));
    }

    #[test]
    fn nothing_waits_for_a_receiver_that_is_dead() {
        let (mailbox, sender) = (mailbox(), Sender::default());
        (0..LINES).for_each(|n| sender.put(n, &mailbox, HEADER, &[]));
        assert!(!sender.is_free(LINES, &mailbox) && !sender.is_taken(0, &mailbox));
        sender.give_up();
        // old news do not revive it
        sender.learn(3);
        for n in LINES..4 * LINES {
            assert!(sender.is_free(n, &mailbox));
            sender.put(n, &mailbox, HEADER, &[]);
            assert!(sender.is_taken(n, &mailbox));
        }
    }

    #[test]
    fn news_from_the_opposite_mailbox() {
        for begin in [0, u64::from(u32::MAX) - 30] {
            let (mailbox, sender) = (mailbox(), Sender::default());
            for n in begin..begin + 100 {
                assert!(sender.is_free(n, &mailbox));
                sender.put(n, &mailbox, HEADER, &[]);
                sender.learn(mailbox.acks());
                assert!(sender.low.load(Relaxed) <= n && !sender.is_taken(n, &mailbox));
                mailbox.take(n);
                sender.learn(mailbox.acks());
                if n >= begin + LINES {
                    assert_eq!(sender.low.load(Relaxed), n + 1);
                }
            }
            // old news are true, and change nothing
            let low = sender.low.load(Relaxed);
            sender.learn(0);
            assert_eq!(sender.low.load(Relaxed), low);
            // one that stays keeps the number low
            let n = begin + 100;
            for k in (n..n + LINES).rev() {
                sender.put(k, &mailbox, HEADER, &[]);
                if k > n {
                    mailbox.take(k);
                }
            }
            sender.learn(mailbox.acks());
            assert!(!sender.is_free(n + LINES, &mailbox) && (1..LINES).all(|k| sender.is_free(n + LINES + k, &mailbox)));
        }
    }
}

/// Two processes in two threads, for what watches a run: Miri, ThreadSanitizer. As `model`, which
/// sees all runs, but many messages.
#[cfg(all(test, not(loom)))]
mod races {
    use std::cell::UnsafeCell;
    use std::thread;

    use super::*;

    /// Memory of a process's messages to the other one: not atomic, so that whoever watches sees
    /// two that meet there.
    #[derive(Default)]
    struct Slots([UnsafeCell<u64>; LINES as usize]);

    // SAFETY: who may be at a slot is what is tested.
    unsafe impl Sync for Slots {}

    impl Slots {
        /// The one for number `k`.
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

/// All orders in which processes can go through the protocol, and all values that the memory order
/// lets them read: `make test-model`. Slots and chunks are memory that is not atomic, in which the
/// model checker finds two who meet.
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
            let line = || Line { seq: zero(), about: zero(), acks: zero(), words: [(); WORDS].map(|()| zero()) };
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
            let acks = other.map_or(0, |other| other.mailbox.acks());
            sender.put(number, &self.mailbox, Header { bytes: 8, place: value as u32, acks }, &[value]);
        }

        /// Takes a message out when it has come. What it says of the opposite mailbox.
        fn receive(&self, number: u64, value: u64) -> u64 {
            let header = loop {
                match self.mailbox.header(number) {
                    Some(header) => break header,
                    None => thread::yield_now(),
                }
            };
            let mut words = [0];
            self.mailbox.words(number, &mut words);
            assert_eq!((header.bytes, header.place, words, self.read(number)), (8, value as u32, [value], value));
            self.mailbox.take(number);
            header.acks
        }
    }

    /// Checks what threads do that all have one state: all of it where `preemptions` is `None`,
    /// else where no more often is a thread interrupted that could go on.
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

    /// Two processes that both send and receive, and hear of emptied lines from each other's
    /// messages.
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

    /// The receiving process has two threads: one takes out, the other one says so with a message
    /// of its own.
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
            if sender.low.load(Relaxed) == 1 {
                ways[0].send(&sender, 2, 12, None);
            }
            takes.join().unwrap();
            tells.join().unwrap();
        });
    }

    /// The sending process has two threads: one hears that a line is empty, the other one fills it
    /// again.
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
                there
            });
            let sender = Sender::default();
            way.send(&sender, 0, 10, None);
            way.send(&sender, 2, 12, None);
            first.join().unwrap();
            let last = if second.join().unwrap() { 2 } else { 0 };
            assert_eq!(way.mailbox.taken.taken[0].load(Relaxed), last + 1);
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
            assert!(in_chunks && sender.is_free(0, mailbox) && sender.is_free(1, mailbox));
            sender.put(0, mailbox, Header { bytes: 0, place: IN_CHUNKS, acks: 0 }, &[]);
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

    /// The steps of `doorbell.rs`: whoever is about to sleep sees the message, or whoever has put
    /// it in sees that someone is about to sleep. The call itself is the kernel's.
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
