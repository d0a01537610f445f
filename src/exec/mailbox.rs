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
//! - `written` and `read` are to chunks what `seq` and `taken` are to messages.
//! - `begun` is stored with release after `begun_in_chunks`: who sees that a message has begun sees how.
//!
//! All other words of a line are relaxed: they are ordered by the above. They are atomics, as a process in error may write them at any time.

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
        if self.known[line].load(Relaxed) == filled {
            return true;
        }
        let taken = mailbox.taken.taken[line].load(Acquire);
        self.known[line].store(taken, Relaxed);
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
                known.store(filled, Relaxed);
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
