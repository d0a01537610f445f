//! The ring through which one process sends messages to another one: flags in memory that both have
//! mapped. No MPI, no addresses.
//!
//! Messages of a ring have numbers. Message n uses cell n mod N, where N is the ring's length
//! ([`CELLS`] unless its users need another one), so that the sender can write messages while the
//! receiver still reads earlier ones. Only the sender writes cells. It may
//! reuse a cell once the receiver has released it; `taken`, which only the receiver writes, says
//! which message of each cell was released last. The cells of the opposite ring carry the same news
//! for free: `acks` is a number below which all messages have been released. Where two processes
//! send to each other, nobody has to read `taken`, which would cost the transfer of another cache
//! line. A stale acknowledgement is conservative.
//!
//! A message that exceeds its cell lies elsewhere (`location`), in memory that belongs to the cell
//! as long as the cell is in use. A message longer than that comes in chunks, which are counted by
//! sender and receiver.
//!
//! Or it stays in the sender's memory, and the receiver reads it there. A message of this kind has
//! a *fate* that both sides may decide, and on which they agree by a compare and exchange: the
//! receiver claims it before it reads, or the sender withdraws it and sends it in another way. A
//! receiver that has claimed it, and finds that it cannot read it, refuses it: then the sender
//! withdraws it, too. A sender whose receiver waits may also turn it into one that comes in chunks.
//!
//! # Memory order
//! - `seq` is stored with release after all of a message, and loaded with acquire before any of it
//!   is read: whoever sees the number sees the message.
//! - `taken` is stored with release after all of a message has been read, and loaded with acquire
//!   before its memory is written again: nothing is overwritten that is still being read.
//! - `acks` promise the same as `taken`. They are computed from loads with acquire, as another
//!   thread may have released a cell, and the `seq` of their cell, stored later with release,
//!   passes on what those loads saw.
//! - The two counts of chunks are to chunks what `seq` and `taken` are to messages.
//! - `fates` are changed with release and loaded with acquire; nothing but `words` is read after a
//!   claim, and `seq` has ordered those. The words that describe chunks are stored after the sender
//!   has won the message, and before the fate that says so.
//! - `ready` is stored with release after `ready_in_chunks`: whoever sees that the receiver is
//!   ready sees for what.
//! - A store with release does not order streaming stores: who writes a message by these fences
//!   before `seq` or the count of chunks.
//!
//! All other words are relaxed. Those of a cell, and the sender's question for a time, are ordered
//! by the above; the answer names its message. They are atomics, as a process in error may write
//! them at any time.

// inline(always): plans with blocks of 256 B take 10 % to 18 % less time, with `send`, `recv`,
// `blocks` and `shm/ring.rs` together (benches/fuse.c).

// models and tests use less of it
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::shm::prefetch;
use crate::util::cast::{high_half, low_half, of_halves, to_usize};
use crate::util::memory::LINE;

/// Cells of a ring.
#[cfg(not(loom))]
pub const LENGTH: usize = 8;
/// Few, so that there are fewer interleavings.
#[cfg(loom)]
pub const LENGTH: usize = 2;

/// Messages that can be in a ring at a time.
pub const CELLS: u64 = LENGTH as u64;

/// Chunks of a long message that can be in memory at a time, and the most bytes of one: the
/// receiver reads one while the sender writes the other. With eight of 128 KiB, messages of 1 and 4
/// MiB took 1.05 to 1.12 times as long (benches/shm.c).
pub const CHUNKS: u64 = 2;
pub const LONGEST_CHUNK: usize = 256 << 10;
// they lie in the memory of large buffers, of which there are as many as cells
const _: () = assert!(CHUNKS <= CELLS);

/// Words of a message that fit in its cell: five in the line that announces it, eight in the line
/// beside it, which processors fetch along with that one. A plan's blocks of 64 B take 15 % to
/// 29 % less time than in a buffer elsewhere (benches/persistent.c).
pub const WORDS: usize = 13;

/// Words of those in the line that announces the message.
const FIRST_WORDS: usize = 5;

/// Bytes of a message that fit in its cell.
pub const INLINE: usize = 8 * WORDS;

/// A message, or where it lies: a pair of cache lines, written by the sender only. Nobody reads or
/// writes the second one unless the message is that long.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Cell {
    /// One more than the number of the message that is here.
    seq: AtomicU64,
    /// Length of the message in bytes in the lower half, its location in the upper half.
    meta: AtomicU64,
    /// All messages of the opposite ring with lower numbers have been released.
    acks: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// Written by the sender.
#[derive(Debug)]
#[repr(C, align(128))]
struct SenderLine {
    /// The chunks that it has written.
    chunks: AtomicU64,
    /// One more than the number of the message whose time it wants to know.
    timed: AtomicU64,
}

/// Written by the receiver.
#[derive(Debug)]
#[repr(C, align(128))]
struct ReceiverLine<const N: usize> {
    /// For each cell, one more than the number of the message that was released last. Eight of them
    /// fill a cache line.
    taken: [AtomicU64; N],
    /// Chunks that have been read.
    chunks: AtomicU64,
    /// One more than the number of the last long message that the receiver is ready for, and of the
    /// last one that it takes in chunks.
    ready: AtomicU64,
    ready_in_chunks: AtomicU64,
    /// The time that was asked for last: one more than the message's number in the upper half,
    /// ticks in the lower one.
    time: AtomicU64,
}

/// Written by both: for each cell, the fate of a message in its sender's memory.
#[derive(Debug)]
#[repr(C, align(128))]
struct FateLine<const N: usize> {
    /// [`FATES`] times one more than the message's number, and its [`Fate`].
    fates: [AtomicU64; N],
}

/// The state of a message that lies in its sender's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing yet.
    Open,
    /// The receiver reads it.
    Claimed,
    /// The receiver cannot read it. Its sender is to withdraw it.
    Refused,
    /// Its sender has sent it in another way, or is about to.
    Withdrawn,
    /// Its sender is about to say how it comes in chunks, and has said so.
    Turning,
    InChunks,
}

/// A power of two that is not less than the number of fates.
const FATES: u64 = 8;

/// Words of a cell that describe a message in chunks, and where they are in one that had described
/// where the message lies.
pub const CHUNK_WORDS: usize = 4;
const TURNED_AT: usize = FIRST_WORDS;

/// A ring of `N` cells, a power of two. All zeros are an empty one.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Ring<const N: usize = LENGTH> {
    cells: [Cell; N],
    written: SenderLine,
    taken: ReceiverLine<N>,
    fates: FateLine<N>,
}

/// The description of a message in its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Length in bytes. Not significant for a message in chunks, or in its sender's memory.
    pub bytes: u32,
    /// [`IN_CELL`], [`IN_CHUNKS`], [`AT_SENDER`], [`UNPACKED`], or a location that both sides know.
    pub location: u32,
    /// All messages of the opposite ring with lower numbers have been released.
    pub acks: u64,
}

/// Added to the length of a message in memory elsewhere, or in the upper half to that of a chunk:
/// it was written by streaming stores. Lengths of both are lower.
pub const STREAMED: u32 = 1 << 31;

/// The message lies in its cell.
pub const IN_CELL: u32 = u32::MAX;

/// The message comes in chunks; the words of its cell describe them.
pub const IN_CHUNKS: u32 = u32::MAX - 1;

/// There is no message: its sender could not pack it.
pub const UNPACKED: u32 = u32::MAX - 2;

/// The message lies in the memory of its sender; the words of its cell say where.
pub const AT_SENDER: u32 = u32::MAX - 3;

#[inline(always)]
fn cell_of<const N: usize>(number: u64) -> usize {
    const { assert!(N.is_power_of_two()) }
    to_usize(number % N as u64)
}

/// The sender's private part of a ring. Messages are written one at a time, by any thread.
#[derive(Debug)]
pub struct Sender<const N: usize = LENGTH> {
    /// For each cell, one more than the number of the message that was written last, and of the one
    /// that is known to have been released last.
    last: [AtomicU64; N],
    known: [AtomicU64; N],
    /// All messages with lower numbers have been released.
    all_below: AtomicU64,
    /// True once the receiver was given up: then, every cell counts as released.
    gone: AtomicBool,
}

impl<const N: usize> Default for Sender<N> {
    fn default() -> Sender<N> {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Sender { last: zeros(), known: zeros(), all_below: AtomicU64::new(0), gone: AtomicBool::new(false) }
    }
}

impl<const N: usize> Sender<N> {
    /// True if the cell of message `number` is free.
    #[inline(always)]
    pub fn is_free(&self, number: u64, ring: &Ring<N>) -> bool {
        let cell = cell_of::<N>(number);
        let last = self.last[cell].load(Relaxed);
        if last <= self.all_below.load(Acquire) || self.known[cell].load(Acquire) == last {
            return true;
        }
        let taken = ring.taken.taken[cell].load(Acquire);
        self.known[cell].store(taken, Release);
        taken == last || self.gone.load(Acquire)
    }

    /// The number of the message that has the cell of message `number`, unless that is free.
    #[cold]
    pub fn occupant(&self, number: u64, ring: &Ring<N>) -> Option<u64> {
        (!self.is_free(number, ring)).then(|| self.last[cell_of::<N>(number)].load(Relaxed).saturating_sub(1))
    }

    /// True if the receiver has released every message.
    pub fn is_idle(&self, ring: &Ring<N>) -> bool {
        (0..N as u64).all(|number| self.is_free(number, ring))
    }

    /// True if message `number`, which was sent, has been released.
    #[inline]
    pub fn is_taken(&self, number: u64, ring: &Ring<N>) -> bool {
        let cell = cell_of::<N>(number);
        let last = self.last[cell].load(Relaxed);
        if last <= number + 1 {
            return last <= number || self.is_free(number, ring);
        }
        // Another thread has seen that it was released, and has written the next one. This one must
        // see that, too, before it writes over the message's memory.
        self.all_below.load(Acquire) > number || ring.taken.taken[cell].load(Acquire) > number || self.gone.load(Acquire)
    }

    /// Learns the acknowledgements in a message of the opposite ring.
    #[inline(always)]
    pub fn learn_acks(&self, acks: u64) {
        if acks > self.all_below.load(Relaxed) {
            self.all_below.store(acks, Release);
        }
    }

    /// Gives up on a receiver that has died: from now on, every cell counts as released, whatever
    /// another thread learns of it meanwhile.
    #[cold]
    pub fn give_up(&self) {
        self.gone.store(true, Release);
    }

    /// Sends message `number`, whose cell is free: a header, and words that lie in the cell.
    #[inline(always)]
    pub fn put(&self, number: u64, ring: &Ring<N>, header: Header, words: &[u64]) {
        self.put_each(number, ring, header, words.len(), |k| words[k]);
    }

    /// [`put`](Sender::put) of so many words, which need not lie in a slice.
    #[inline(always)]
    pub fn put_each(&self, number: u64, ring: &Ring<N>, header: Header, words: usize, word: impl Fn(usize) -> u64) {
        let cell = &ring.cells[cell_of::<N>(number)];
        let (first, second) = cell.words.split_at(FIRST_WORDS);
        // The receiver reads the first line again and again: whatever is stored there comes last,
        // or that line goes to and fro once more.
        // to find the bounds of an empty loop takes instructions, too
        if words > FIRST_WORDS {
            for (k, into) in (FIRST_WORDS..words).zip(second) {
                into.store(word(k), Relaxed);
            }
        }
        for (k, into) in (0..words).zip(first) {
            into.store(word(k), Relaxed);
        }
        cell.meta.store(u64::from(header.bytes) | u64::from(header.location) << 32, Relaxed);
        cell.acks.store(header.acks, Relaxed);
        self.last[cell_of::<N>(number)].store(number + 1, Relaxed);
        cell.seq.store(number + 1, Release);
    }
}

/// The receiver's private part of a ring.
#[derive(Debug, Default)]
pub struct Receiver {
    /// All messages with lower numbers have been released.
    released_below: AtomicU64,
}

impl Receiver {
    /// Returns what headers of the opposite ring acknowledge.
    #[inline(always)]
    pub fn acks<const N: usize>(&self, ring: &Ring<N>) -> u64 {
        let known = self.released_below.load(Acquire);
        let is_released = |number: u64| ring.taken.taken[cell_of::<N>(number)].load(Acquire) > number;
        // one or two, as a rule
        let below = match (known..known + N as u64).find(|&number| !is_released(number)) {
            Some(below) => below,
            None => ring.released_below(),
        };
        if below != known {
            // another thread may have found more, which is found again
            self.released_below.store(below, Release);
        }
        below
    }
}

impl<const N: usize> Ring<N> {
    /// Returns the header of message `number`, if it has come.
    #[inline(always)]
    pub fn header(&self, number: u64) -> Option<Header> {
        let cell = &self.cells[cell_of::<N>(number)];
        if cell.seq.load(Acquire) != number + 1 {
            return None;
        }
        let meta = cell.meta.load(Relaxed);
        Some(Header { bytes: low_half(meta), location: high_half(meta), acks: cell.acks.load(Relaxed) })
    }

    /// Returns the words in the cell of message `number`, which has come.
    #[inline(always)]
    pub fn each_word(&self, number: u64) -> impl Iterator<Item = u64> {
        self.cells[cell_of::<N>(number)].words.iter().map(|word| word.load(Relaxed))
    }

    /// Asks for the lines of the cell of message `number`, whose sender is about to write it: those
    /// of a message of so many bytes that lies there, or of its announcement.
    #[inline(always)]
    pub fn fetch_cell(&self, number: u64, bytes: usize) {
        let words = if bytes <= INLINE { bytes.div_ceil(size_of::<u64>()) } else { 0 };
        let written = if words > FIRST_WORDS { size_of::<Cell>() } else { LINE };
        prefetch::for_writing(std::ptr::from_ref(&self.cells[cell_of::<N>(number)]).cast(), written);
    }

    /// Copies the words in the cell of message `number`, which has come.
    #[inline(always)]
    pub fn words(&self, number: u64, words: &mut [u64]) {
        for (into, word) in words.iter_mut().zip(self.each_word(number)) {
            *into = word;
        }
    }

    /// Releases message `number`, which has come. Called once for each message.
    #[inline(always)]
    pub fn take(&self, number: u64) {
        self.taken.taken[cell_of::<N>(number)].store(number + 1, Release);
    }

    /// Returns a number below which all messages have been released. Numbers may be left out.
    #[cold]
    fn released_below(&self) -> u64 {
        // the next message in a cell is no earlier than the successor of the one released last
        let next = |(cell, taken): (u64, &AtomicU64)| match taken.load(Acquire) {
            0 => cell,
            taken => taken - 1 + N as u64,
        };
        (0..).zip(&self.taken.taken).map(next).min().unwrap_or(0)
    }

    /// Returns how many chunks the sender has ever written.
    #[inline]
    pub fn chunks_written(&self) -> u64 {
        self.written.chunks.load(Acquire)
    }

    /// Publishes how many chunks the sender has ever written.
    #[inline]
    pub fn set_chunks_written(&self, chunks: u64) {
        self.written.chunks.store(chunks, Release);
    }

    /// Returns how many chunks the receiver has ever read.
    #[inline]
    pub fn chunks_read(&self) -> u64 {
        self.taken.chunks.load(Acquire)
    }

    /// Tells the sender that the receiver is ready for the long message `number`, and takes it in
    /// chunks or has posted an MPI receive for it. A receiver that takes chunks is ready for later
    /// messages only when it has all of them.
    #[inline]
    pub fn set_ready(&self, number: u64, in_chunks: bool) {
        if in_chunks {
            self.taken.ready_in_chunks.store(number + 1, Relaxed);
        }
        self.taken.ready.store(number + 1, Release);
    }

    /// Returns how the receiver takes the long message `number`: true for chunks, false for MPI.
    /// `None` if it is not ready yet.
    #[inline]
    pub fn ready(&self, number: u64) -> Option<bool> {
        (self.taken.ready.load(Acquire) > number).then(|| self.taken.ready_in_chunks.load(Relaxed) == number + 1)
    }

    /// Says that the receiver waits for message `number`, which lies in its sender's memory, and
    /// takes it in chunks, too.
    #[inline]
    pub fn set_takes_chunks(&self, number: u64) {
        self.taken.ready_in_chunks.store(number + 1, Release);
    }

    /// Returns true if the receiver has said so of message `number`.
    #[inline]
    pub fn takes_chunks(&self, number: u64) -> bool {
        self.taken.ready_in_chunks.load(Acquire) == number + 1
    }

    /// Asks how long the receiver will take to copy message `number` out, which is not sent yet.
    pub fn ask_for_time(&self, number: u64) {
        self.written.timed.store(number + 1, Relaxed);
    }

    /// Returns true if the sender has asked for the time of message `number`, which has come.
    #[inline]
    pub fn is_timed(&self, number: u64) -> bool {
        self.written.timed.load(Relaxed) == number + 1
    }

    /// Tells the sender how many ticks it took to copy message `number` out.
    pub fn set_time(&self, number: u64, ticks: u32) {
        self.taken.time.store(of_halves(ticks, low_half(number + 1)), Relaxed);
    }

    /// Returns what the receiver has told of message `number`.
    pub fn time(&self, number: u64) -> Option<u32> {
        let time = self.taken.time.load(Relaxed);
        (high_half(time) == low_half(number + 1)).then(|| low_half(time))
    }

    /// Returns the fate of message `number`, which lies in its sender's memory and has not been
    /// released.
    #[inline]
    pub fn fate(&self, number: u64) -> Fate {
        let word = self.fates.fates[cell_of::<N>(number)].load(Acquire);
        match word.wrapping_sub(FATES * (number + 1)) {
            1 => Fate::Claimed,
            2 => Fate::Refused,
            3 => Fate::Withdrawn,
            4 => Fate::Turning,
            5 => Fate::InChunks,
            _ => Fate::Open,
        }
    }

    /// Decides the fate of message `number`, unless the other side has done so. Returns true if the
    /// fate is this one.
    fn decide(&self, number: u64, fate: Fate) -> bool {
        let word = &self.fates.fates[cell_of::<N>(number)];
        let before = word.load(Relaxed);
        let first = FATES * (number + 1);
        before < first && word.compare_exchange(before, first + fate as u64, AcqRel, Relaxed).is_ok()
    }

    /// Claims message `number`, to read it from the sender's memory. Returns false if the sender
    /// has withdrawn it.
    pub fn claim(&self, number: u64) -> bool {
        self.decide(number, Fate::Claimed)
    }

    /// Refuses message `number`, which the receiver has claimed.
    pub fn refuse(&self, number: u64) {
        self.fates.fates[cell_of::<N>(number)].store(FATES * (number + 1) + Fate::Refused as u64, Release);
    }

    /// Turns message `number`, which lies in its sender's memory, into one in chunks, which the
    /// words describe. Returns false if its fate is another one already.
    pub fn turn(&self, number: u64, words: [u64; CHUNK_WORDS]) -> bool {
        if !self.decide(number, Fate::Turning) {
            return false;
        }
        let cell = cell_of::<N>(number);
        for (into, word) in self.cells[cell].words[TURNED_AT..].iter().zip(words) {
            into.store(word, Relaxed);
        }
        self.fates.fates[cell].store(FATES * (number + 1) + Fate::InChunks as u64, Release);
        true
    }

    /// Returns the words that describe message `number`, which its sender has turned.
    pub fn turned(&self, number: u64) -> [u64; CHUNK_WORDS] {
        let words = &self.cells[cell_of::<N>(number)].words[TURNED_AT..];
        std::array::from_fn(|k| words[k].load(Relaxed))
    }

    /// Withdraws message `number`. Returns false if the receiver has claimed it, and not refused.
    pub fn withdraw(&self, number: u64) -> bool {
        let word = &self.fates.fates[cell_of::<N>(number)];
        let fate = |fate: Fate| FATES * (number + 1) + fate as u64;
        let (refused, withdrawn) = (fate(Fate::Refused), fate(Fate::Withdrawn));
        self.decide(number, Fate::Withdrawn) || word.compare_exchange(refused, withdrawn, AcqRel, Relaxed).is_ok()
    }

    /// Publishes how many chunks the receiver has ever read.
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
        // SAFETY: all zeros are an empty ring.
        unsafe { Box::new(std::mem::zeroed()) }
    }

    const HEADER: Header = Header { bytes: 16, location: IN_CELL, acks: 0 };

    #[test]
    fn a_cell_is_a_pair_of_cache_lines() {
        assert_eq!((size_of::<Cell>(), size_of::<Ring>()), (128, 1408));
    }

    #[test]
    fn as_many_messages_are_there_at_a_time_as_there_are_cells() {
        let (ring, sender) = (ring(), Sender::<LENGTH>::default());
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
    fn one_side_decides_the_fate_of_a_message() {
        let ring = ring();
        for n in 0..12 * CELLS {
            assert_eq!(ring.fate(n), Fate::Open);
            match n % 5 {
                3 => {
                    assert!(ring.turn(n, [n, 1, 2, 3]) && !ring.claim(n) && !ring.withdraw(n) && !ring.turn(n, [0; 4]));
                    assert_eq!((ring.fate(n), ring.turned(n)), (Fate::InChunks, [n, 1, 2, 3]));
                }
                4 => {
                    assert!(ring.claim(n) && !ring.turn(n, [0; 4]));
                    assert_eq!(ring.fate(n), Fate::Claimed);
                }
                0 => {
                    assert!(ring.claim(n) && !ring.claim(n) && !ring.withdraw(n));
                    assert_eq!(ring.fate(n), Fate::Claimed);
                }
                1 => {
                    assert!(ring.withdraw(n) && !ring.claim(n) && !ring.withdraw(n));
                    assert_eq!(ring.fate(n), Fate::Withdrawn);
                }
                _ => {
                    assert!(ring.claim(n));
                    ring.refuse(n);
                    assert_eq!(ring.fate(n), Fate::Refused);
                    assert!(ring.withdraw(n) && !ring.claim(n));
                    assert_eq!(ring.fate(n), Fate::Withdrawn);
                }
            }
        }
    }

    #[test]
    fn nothing_waits_for_a_receiver_that_is_dead() {
        let (ring, sender) = (ring(), Sender::<LENGTH>::default());
        (0..CELLS).for_each(|n| sender.put(n, &ring, HEADER, &[]));
        assert!(!sender.is_free(CELLS, &ring) && !sender.is_taken(0, &ring));
        sender.give_up();
        // a stale acknowledgement does not revive it
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
            let (ring, sender, receiver) = (ring(), Sender::<LENGTH>::default(), Receiver::default());
            for n in begin..begin + 100 {
                assert!(sender.is_free(n, &ring));
                sender.put(n, &ring, HEADER, &[]);
                sender.learn_acks(receiver.acks(&ring));
                assert!(sender.all_below.load(Relaxed) <= n && !sender.is_taken(n, &ring));
                ring.take(n);
                sender.learn_acks(receiver.acks(&ring));
                if n >= begin + CELLS {
                    assert_eq!(sender.all_below.load(Relaxed), n + 1);
                }
            }
            // a stale acknowledgement changes nothing
            let all_below = sender.all_below.load(Relaxed);
            sender.learn_acks(0);
            assert_eq!(sender.all_below.load(Relaxed), all_below);
            // a message that stays keeps the number low
            let n = begin + 100;
            for k in (n..n + CELLS).rev() {
                sender.put(k, &ring, HEADER, &[]);
                if k > n {
                    ring.take(k);
                }
            }
            sender.learn_acks(receiver.acks(&ring));
            assert!(!sender.is_free(n + CELLS, &ring) && (1..CELLS).all(|k| sender.is_free(n + CELLS + k, &ring)));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod races;
