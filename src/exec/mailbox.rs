//! The mailbox of one process for messages of another one: flags in memory that both have mapped. No MPI, no addresses.
//!
//! Messages of a mailbox have numbers. Message n uses line n mod [`LINES`], so that the sender can put messages there while the receiver still takes earlier
//! ones out. A line is written by the sender alone; that it may be written again the receiver says in `taken`, which is written by the receiver
//! alone: which message it has taken out of each line last. The same news travels for nothing in the lines of the opposite mailbox (`acks`: a number below
//! which all messages have been taken out), so that where two processes send to each other nobody reads `taken`, which would cost the passage of another
//! cache line. News that comes late is still true.
//!
//! A message that does not fit in its line lies elsewhere (`place`), and the line owns that place as long as it owns itself. One that is longer than
//! a slot comes in chunks, counted by `written` and `read`.
//!
//! # Memory order
//! - `seq` is stored with release after all of a message, and loaded with acquire before any of it is read: who sees the number sees the message.
//! - `taken` is stored with release after all of a message has been read, and loaded with acquire before its memory is written again: nothing is
//!   overwritten that is still being read.
//! - `acks` carry the same promise as `taken`: they are made from loads with acquire (another thread may have emptied a line), and their line's `seq`,
//!   stored later with release, hands on what those had seen.
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
    /// One more than the number of the message that was last taken out of each line: with 8 of them a cache line.
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

/// What the sender of a mailbox keeps to itself. One message at a time is put in, by whatever thread.
#[derive(Debug, Default)]
pub struct Sender {
    /// One more than the number of the message that was last put into each line, and of the one that is known to have been taken out of it last.
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
        if last <= self.low.load(Relaxed) || self.known[line].load(Relaxed) == last {
            return true;
        }
        let taken = mailbox.taken.taken[line].load(Acquire);
        self.known[line].store(taken, Relaxed);
        taken == last
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
            self.low.store(acks, Relaxed);
        }
    }

    /// Puts message `number` in, which `is_free` allows: its header, and `words` words, which lie in the line.
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
        // what follows in a line is no earlier than the message behind the last one that was taken out
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
