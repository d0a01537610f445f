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
pub const CELLS: u64 = 8;
/// Few, for fewer orders of steps.
#[cfg(loom)]
pub const CELLS: u64 = 2;

/// Words of a message that lie in its line.
pub const WORDS: usize = 5;

/// Bytes of a message that lie in its line.
pub const INLINE: usize = 8 * WORDS;

/// A message, or where it lies: one cache line, all written by the sender.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Cell {
    /// One more than the number of the message that is here.
    seq: AtomicU64,
    /// Bytes of the message, in the lower half; above them where it lies.
    meta: AtomicU64,
    /// All messages in lines of the opposite mailbox whose numbers are less have been taken out.
    acks: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// What the sender says of chunks.
#[derive(Debug)]
#[repr(C, align(128))]
struct SenderLine {
    chunks: AtomicU64,
}

/// What the receiver says.
#[derive(Debug)]
#[repr(C, align(128))]
struct ReceiverLine {
    /// One more than the number of the message that was last taken out of each line: with 8 of them
    /// a cache line.
    taken: [AtomicU64; CELLS as usize],
    /// Chunks that have been read.
    chunks: AtomicU64,
    /// One more than the number of the last long message that the receiver has begun to wait for,
    /// and of the last one that it takes in chunks.
    ready: AtomicU64,
    ready_in_chunks: AtomicU64,
}

/// The mailbox. Zeroes are an empty one.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Ring {
    cells: [Cell; CELLS as usize],
    written: SenderLine,
    taken: ReceiverLine,
}

/// What a line says of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Its length in bytes. Of one that comes in chunks nothing is said here.
    pub bytes: u32,
    /// Where it lies: [`IN_LINE`], [`IN_CHUNKS`], or a place that both know.
    pub location: u32,
    /// All messages in lines of the opposite mailbox whose numbers are less have been taken out.
    pub acks: u64,
}

/// The message lies in its line.
pub const IN_CELL: u32 = u32::MAX;

/// The message comes in chunks; its line's words say how.
pub const IN_CHUNKS: u32 = u32::MAX - 1;

fn cell_of(number: u64) -> usize {
    (number % CELLS) as usize
}

/// What the sender of a mailbox keeps to itself. One message at a time is put in, by whatever
/// thread.
#[derive(Debug, Default)]
pub struct Sender {
    /// One more than the number of the message that was last put into each line, and of the one
    /// that is known to have been taken out of it last.
    last: [AtomicU64; CELLS as usize],
    known: [AtomicU64; CELLS as usize],
    /// All messages in lines whose numbers are less have been taken out.
    all_below: AtomicU64,
}

impl Sender {
    /// Whether message `number` can be put in.
    #[inline(always)]
    pub fn is_free(&self, number: u64, ring: &Ring) -> bool {
        let cell = cell_of(number);
        let last = self.last[cell].load(Relaxed);
        if last <= self.all_below.load(Acquire) || self.known[cell].load(Acquire) == last {
            return true;
        }
        let taken = ring.taken.taken[cell].load(Acquire);
        self.known[cell].store(taken, Release);
        taken == last
    }

    /// True if the receiver has taken out all that was put in.
    pub fn is_idle(&self, ring: &Ring) -> bool {
        (0..CELLS).all(|number| self.is_free(number, ring))
    }

    /// Whether message `number`, which was put in once, has been taken out.
    #[inline]
    pub fn is_taken(&self, number: u64, ring: &Ring) -> bool {
        self.last[cell_of(number)].load(Relaxed) != number + 1 || self.is_free(number, ring)
    }

    /// Hears the news that a message of the opposite mailbox brings.
    #[inline(always)]
    pub fn learn_acks(&self, acks: u64) {
        if acks > self.all_below.load(Relaxed) {
            self.all_below.store(acks, Release);
        }
    }

    /// Gives up on a receiver that is dead: to the sender its mailbox is empty from now on.
    #[cold]
    pub fn give_up(&self) {
        self.all_below.store(u64::MAX, Release);
    }

    /// Puts message `number` in, which `is_free` allows: its header, and `words` words, which lie
    /// in the line.
    #[inline(always)]
    pub fn put(&self, number: u64, ring: &Ring, header: Header, words: &[u64]) {
        let cell = &ring.cells[cell_of(number)];
        for (into, &word) in cell.words.iter().zip(words) {
            into.store(word, Relaxed);
        }
        cell.meta.store(u64::from(header.bytes) | u64::from(header.location) << 32, Relaxed);
        cell.acks.store(header.acks, Relaxed);
        self.last[cell_of(number)].store(number + 1, Relaxed);
        cell.seq.store(number + 1, Release);
    }
}

impl Ring {
    /// The header of message `number`, if it has come.
    #[inline(always)]
    pub fn header(&self, number: u64) -> Option<Header> {
        let cell = &self.cells[cell_of(number)];
        if cell.seq.load(Acquire) != number + 1 {
            return None;
        }
        let meta = cell.meta.load(Relaxed);
        Some(Header { bytes: meta as u32, location: (meta >> 32) as u32, acks: cell.acks.load(Relaxed) })
    }

    /// The words in the line of message `number`, which has come.
    #[inline(always)]
    pub fn words(&self, number: u64, words: &mut [u64]) {
        for (into, word) in words.iter_mut().zip(&self.cells[cell_of(number)].words) {
            *into = word.load(Relaxed);
        }
    }

    /// Says that message `number`, which has come, has been taken out. Once for each message.
    #[inline(always)]
    pub fn take(&self, number: u64) {
        self.taken.taken[cell_of(number)].store(number + 1, Release);
    }

    /// What the opposite mailbox' headers say of this one.
    #[inline(always)]
    pub fn acks(&self) -> u64 {
        // what follows in a line is no earlier than the message behind the last one that was taken
        // out
        let next = |(cell, taken): (u64, &AtomicU64)| match taken.load(Acquire) {
            0 => cell,
            taken => taken - 1 + CELLS,
        };
        (0..).zip(&self.taken.taken).map(next).min().unwrap_or(0)
    }

    /// Chunks that the sender has put in, ever.
    #[inline]
    pub fn chunks_written(&self) -> u64 {
        self.written.chunks.load(Acquire)
    }

    /// Says how many chunks the sender has put in, ever.
    #[inline]
    pub fn set_chunks_written(&self, chunks: u64) {
        self.written.chunks.store(chunks, Release);
    }

    /// Chunks that the receiver has taken out, ever.
    #[inline]
    pub fn chunks_read(&self) -> u64 {
        self.taken.chunks.load(Acquire)
    }

    /// Says that the receiver waits for the long message `number`, and whether it takes that in
    /// chunks; else it has posted a receive of MPI for it. One that takes chunks waits for no later
    /// message before it has them.
    #[inline]
    pub fn set_ready(&self, number: u64, in_chunks: bool) {
        if in_chunks {
            self.taken.ready_in_chunks.store(number + 1, Relaxed);
        }
        self.taken.ready.store(number + 1, Release);
    }

    /// What the receiver has said of the long message `number` by `begin`: whether it takes it in
    /// chunks. `None`: nothing yet.
    #[inline]
    pub fn ready(&self, number: u64) -> Option<bool> {
        (self.taken.ready.load(Acquire) > number).then(|| self.taken.ready_in_chunks.load(Relaxed) == number + 1)
    }

    /// Says how many chunks the receiver has taken out, ever.
    #[inline]
    pub fn set_chunks_read(&self, chunks: u64) {
        self.taken.chunks.store(chunks, Release);
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ring() -> Box<Ring> {
        // SAFETY: zeroes are an empty mailbox.
        unsafe { Box::new(std::mem::zeroed()) }
    }

    const HEADER: Header = Header { bytes: 16, location: IN_CELL, acks: 0 };

    #[test]
    fn a_cell_is_a_cache_line() {
        assert_eq!((size_of::<Cell>(), size_of::<Ring>()), (64, 768));
    }

    #[test]
    fn as_many_messages_are_there_at_a_time_as_there_are_cells() {
        let (ring, sender) = (ring(), Sender::default());
        let mut words = [0; 2];
        for n in 0..CELLS {
            assert!(sender.is_free(n, &ring) && ring.header(n).is_none());
            sender.put(n, &ring, HEADER, &[n, 7]);
        }
        assert!((CELLS..2 * CELLS).all(|n| !sender.is_free(n, &ring)));
        // in any order
        for n in (0..CELLS).rev() {
            assert!(!sender.is_taken(n, &ring));
            assert_eq!(ring.header(n), Some(HEADER));
            ring.words(n, &mut words);
            assert_eq!(words, [n, 7]);
            ring.take(n);
            assert!(sender.is_free(n + CELLS, &ring) && sender.is_taken(n, &ring));
        }
        // numbers may be left out
        sender.put(5 * CELLS + 1, &ring, HEADER, &[]);
        assert!(ring.header(1).is_none() && ring.header(CELLS + 1).is_none() && ring.header(5 * CELLS + 1).is_some());
        assert!(sender.is_taken(1, &ring) && !sender.is_taken(5 * CELLS + 1, &ring));
    }

    #[test]
    fn nothing_waits_for_a_receiver_that_is_dead() {
        let (ring, sender) = (ring(), Sender::default());
        (0..CELLS).for_each(|n| sender.put(n, &ring, HEADER, &[]));
        assert!(!sender.is_free(CELLS, &ring) && !sender.is_taken(0, &ring));
        sender.give_up();
        // old news do not revive it
        sender.learn_acks(3);
        for n in CELLS..4 * CELLS {
            assert!(sender.is_free(n, &ring));
            sender.put(n, &ring, HEADER, &[]);
            assert!(sender.is_taken(n, &ring));
        }
    }

    #[test]
    fn news_from_the_opposite_ring() {
        for begin in [0, u64::from(u32::MAX) - 30] {
            let (ring, sender) = (ring(), Sender::default());
            for n in begin..begin + 100 {
                assert!(sender.is_free(n, &ring));
                sender.put(n, &ring, HEADER, &[]);
                sender.learn_acks(ring.acks());
                assert!(sender.all_below.load(Relaxed) <= n && !sender.is_taken(n, &ring));
                ring.take(n);
                sender.learn_acks(ring.acks());
                if n >= begin + CELLS {
                    assert_eq!(sender.all_below.load(Relaxed), n + 1);
                }
            }
            // old news are true, and change nothing
            let all_below = sender.all_below.load(Relaxed);
            sender.learn_acks(0);
            assert_eq!(sender.all_below.load(Relaxed), all_below);
            // one that stays keeps the number low
            let n = begin + 100;
            for k in (n..n + CELLS).rev() {
                sender.put(k, &ring, HEADER, &[]);
                if k > n {
                    ring.take(k);
                }
            }
            sender.learn_acks(ring.acks());
            assert!(!sender.is_free(n + CELLS, &ring) && (1..CELLS).all(|k| sender.is_free(n + CELLS + k, &ring)));
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
    struct Memory([UnsafeCell<u64>; CELLS as usize]);

    // SAFETY: who may be at a slot is what is tested.
    unsafe impl Sync for Memory {}

    impl Memory {
        /// The one for number `k`.
        fn at(&self, k: u64) -> *mut u64 {
            self.0[cell_of(k)].get()
        }
    }

    #[test]
    fn no_two_meet_in_a_cell() {
        let count = if cfg!(miri) { 150 } else { 100_000 };
        // SAFETY: zeroes are empty mailboxes.
        let rings: Box<[Ring; 2]> = unsafe { Box::new(std::mem::zeroed()) };
        let memory: [Memory; 2] = Default::default();
        let run = |me: usize| {
            let sender = Sender::default();
            let (out, into) = (&rings[me], &rings[1 - me]);
            for n in 0..count {
                while !sender.is_free(n, out) {
                    thread::yield_now();
                }
                // SAFETY: as above.
                unsafe { *memory[me].at(n) = n + me as u64 };
                sender.put(n, out, Header { bytes: 8, location: 0, acks: into.acks() }, &[]);
                let header = loop {
                    match into.header(n) {
                        Some(header) => break header,
                        None => thread::yield_now(),
                    }
                };
                // every third one goes the other way
                if n % 3 != 0 {
                    sender.learn_acks(header.acks);
                }
                // SAFETY: as above.
                assert_eq!(unsafe { *memory[1 - me].at(n) }, n + 1 - me as u64);
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
        let ring: Box<Ring> = unsafe { Box::new(std::mem::zeroed()) };
        let memory = Memory::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                for chunk in 0..count {
                    while ring.chunks_read() + CELLS <= chunk {
                        thread::yield_now();
                    }
                    // SAFETY: as above.
                    unsafe { *memory.at(chunk) = chunk };
                    ring.set_chunks_written(chunk + 1);
                }
            });
            for chunk in 0..count {
                while ring.chunks_written() <= chunk {
                    thread::yield_now();
                }
                // SAFETY: as above.
                assert_eq!(unsafe { *memory.at(chunk) }, chunk);
                ring.set_chunks_read(chunk + 1);
            }
        });
    }
}
