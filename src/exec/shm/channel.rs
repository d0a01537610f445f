//! The shared memory through which the processes of a node exchange messages: one segment, with a
//! ring for each pair of a process and one of its sources, and memory for the messages of each
//! process to each of its targets.
//!
//! Made when a neighborhood is set, for each of its operations. Memory: for each operation and
//! target at most what the hint `mpix_shared_memory` says, and at most [`MOST_BYTES`] for all
//! targets; gathers need that once for all targets together. The system provides pages only when
//! they are first written.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::under_way::UnderWay;
use crate::error::Result;
use crate::mpi::finalize;
use crate::shm::doorbell::Doorbell;
use crate::shm::ring::{self, CELLS, CHUNKS, LONGEST_CHUNK, Receiver, Ring, Sender};
use crate::shm::segment::Segment;
use crate::shm::stores::Stores;
use crate::topology::neighborhood::Rank;
use crate::util::cast::{to_int, to_u32, to_usize};
use crate::util::lock::lock;
use crate::util::memory::LINE;

mod connect;

pub use connect::{Numbered, Prepared, Wish, make};

/// Most bytes for all messages that a process sends in one operation.
pub const MOST_BYTES: usize = 128 << 20;

/// Large buffers for a target: as many as messages can be in its ring.
const LARGE_BUFFERS: usize = ring::LENGTH;

/// Bytes of a small buffer. Each cell of the target's ring has one of its own.
pub const SMALL_BUFFER: usize = 4096;

/// Bytes of all small buffers.
const ALL_SMALL: usize = ring::LENGTH * SMALL_BUFFER;

/// Large buffers are whole pages.
const PAGE: usize = 4096;

/// Where the large buffers begin, from the beginning of a page. Programs' own long buffers tend to
/// begin at one (`malloc`: 16 bytes behind it); a load waits for the stores just before it whose
/// addresses agree in the last 12 bits (copies of 64 KiB took 1.2 times as long).
const APART: usize = 1024;

/// Most bytes of messages that use two large buffers in turn.
const LONGEST_IN_TURN: usize = 256 << 10;

/// Most bytes of a message that goes through a cell where chunks were measured to be faster than a
/// copy by the kernel. 1 MiB took 2.4 times as long as in chunks between cores that are far from
/// each other, and as long between others (benches/shm.c).
const LONGEST_BESIDE_CHUNKS: usize = 512 << 10;

/// Bytes in front of the large buffers, and behind the last one.
const BESIDE_LARGE: usize = ALL_SMALL + PAGE;

/// How many operations there are: each has tags of its own.
pub const MOST_OPERATIONS: u64 = 4;

/// Which messages receivers copy from their senders' memory, where the kernel permits that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// None.
    Never,
    /// Those that are longer than a cell and whose sender may leave before they have come, as it
    /// has only started its call: two copies are faster.
    Away,
    /// Those of so many bytes, and all that are longer than a cell.
    From(u64),
}

/// The channel to one target.
pub struct Outbound {
    /// Rank of the target in the communicator, and in the node.
    pub rank: Rank,
    pub member: u32,
    /// Its rank in `MPI_COMM_WORLD`; `None` for a process of another world.
    pub world: Option<u32>,
    ring: *const Ring,
    pub sender: Sender,
    /// Memory for messages that exceed a cell: the small buffers, then the large ones.
    pub memory: *mut u8,
    /// How messages are written there.
    pub stores: Stores,
    /// For each large buffer, one more than the number of the last message in it.
    used: [AtomicU64; LARGE_BUFFERS],
    /// Position of the same process among the inbound channels, if it is a source, too.
    pub back: Option<usize>,
    /// Chunks of all messages so far that have come, or are coming, in chunks.
    pub chunks: AtomicU64,
    /// True if the target can read this process's memory.
    pub reads: bool,
    /// True once the target was found dead. No message waits for it from then on.
    gone: AtomicBool,
    /// One more than the number of the latest message whose cell another one has waited for in
    /// vain. None waits for a cell with that one or an earlier one.
    pub clogged_below: AtomicU64,
}

/// Memory for a message that exceeds its cell.
#[derive(Debug, Clone, Copy)]
pub struct EagerBuffer {
    /// Its address.
    pub at: *mut u8,
    /// Index of a large buffer, whose use is recorded. `None` for a small one, which belongs to its
    /// cell.
    large: Option<usize>,
}

/// The channel from one source.
pub struct Inbound {
    /// Rank of the source in the communicator, and in the node.
    pub rank: Rank,
    pub member: u32,
    ring: *const Ring,
    receiver: Receiver,
    /// Position of the same process among the outbound channels, if it is a target, too.
    pub back: Option<usize>,
    /// Most bytes of a message that the source puts in an eager buffer.
    pub eager_limit: usize,
    /// Number of the process, if its memory can be read. Longer messages are then read from there.
    pub process: Option<u32>,
}

/// The channels of one operation of a neighborhood, as one process sees them.
pub struct Channels {
    segment: Arc<Segment>,
    /// Channels to the targets on the node, without the process itself, each once; likewise for
    /// sources.
    pub outbound: Vec<Outbound>,
    pub inbound: Vec<Inbound>,
    /// Most bytes of a message in an eager buffer.
    pub eager_limit: usize,
    /// Least bytes of a message that is copied once, where that is permitted.
    pub single_from: u64,
    /// True if messages are copied once only where their sender may leave before they have come;
    /// and if such a message can be turned into one in chunks, as only one thread calls MPI:
    /// another one might take the memory for the chunks at the same time.
    pub away_only: bool,
    pub turns: bool,
    /// Number of the next collective.
    next: AtomicU64,
    first_tag: u64,
    tags: u64,
    /// Which collectives are under way, here or on an earlier neighborhood with the same tags.
    pub under_way: Arc<UnderWay>,
    pub doorbell: Doorbell,
    /// The doorbell of each target and source, each once.
    pub doorbells: Vec<Doorbell>,
    /// True if processes share cores.
    pub oversubscribed: bool,
    /// True once one of the processes was found dead.
    any_gone: AtomicBool,
    detached: Detached,
}

/// Messages that went by MPI from memory of their own, as long as MPI may read that.
#[derive(Default)]
struct Detached {
    queue: Mutex<Queue>,
    /// How many there are, and calls that have ended since there were any.
    count: AtomicUsize,
    ended: AtomicUsize,
}

/// Messages, the oldest first, and from how many on the next one has all looked at.
#[derive(Default)]
struct Queue {
    messages: VecDeque<finalize::Message>,
    crowd: usize,
}

impl Detached {
    /// The least crowd.
    const FEW: usize = 16;

    /// Calls after which the oldest message is looked at: it may stay for long, and each look
    /// enters MPI.
    const CALLS: usize = 16;

    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Keeps a message. What each one costs does not grow with their number: all are looked at when
    /// there are twice as many as were left before.
    fn keep(&self, message: finalize::Message) {
        let Queue { messages, crowd } = &mut *self.lock();
        messages.push_back(message);
        if messages.len() >= *crowd {
            messages.retain_mut(|message| !message.is_over());
            *crowd = Detached::FEW.max(2 * messages.len());
        }
        self.count.store(messages.len(), Ordering::Relaxed);
    }

    /// Drops the oldest ones that are over, now and then.
    #[cold]
    fn forget_oldest(&self) {
        if !self.ended.fetch_add(1, Ordering::Relaxed).is_multiple_of(Detached::CALLS) {
            return;
        }
        let Queue { messages, crowd } = &mut *self.lock();
        while messages.front_mut().is_some_and(finalize::Message::is_over) {
            messages.pop_front();
        }
        *crowd = Detached::FEW.max(2 * messages.len()).min(*crowd);
        self.count.store(messages.len(), Ordering::Relaxed);
    }
}

// SAFETY: it holds addresses in the segment, which lives as long. What is there is atomic, or
// belongs to one side by the rings' protocol.
unsafe impl Send for Channels {}
// SAFETY: as above.
unsafe impl Sync for Channels {}

impl Drop for Channels {
    fn drop(&mut self) {
        let left = std::mem::take(&mut self.detached.lock().messages).into_iter();
        // the receivers of these must not take this process for dead
        let beside = |message| finalize::Message { beside: Some(self.segment.clone()), ..message };
        finalize::leave(left.map(beside).collect());
    }
}

impl Outbound {
    #[inline]
    pub fn ring(&self) -> &Ring {
        // SAFETY: the ring lies in the segment, which outlives the channel; it consists of atomics.
        unsafe { &*self.ring }
    }

    /// True if the target was found dead.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// The small buffer of message `number`.
    #[inline]
    pub fn small_buffer(&self, number: u64) -> *mut u8 {
        self.memory.wrapping_add(to_usize(number % CELLS) * SMALL_BUFFER)
    }

    /// Takes the numbers of so many chunks. Returns the first one.
    pub fn take_chunks(&self, count: u64) -> u64 {
        self.chunks.fetch_add(count, Ordering::Relaxed)
    }

    /// True if all chunks of messages so far have been read.
    #[inline]
    pub fn chunks_are_read(&self) -> bool {
        // only long messages are counted in chunks
        let chunks = self.chunks.load(Ordering::Relaxed);
        chunks == 0 || self.ring().chunks_read() == chunks || self.is_gone()
    }

    /// True if there is room for chunk number `written` of a message that has `before` chunks
    /// before it in the channel.
    #[inline]
    pub fn has_room_for_chunk(&self, before: u64, written: u64) -> bool {
        self.ring().chunks_read() + CHUNKS > before + written || self.is_gone()
    }

    /// Returns how the target takes the long message `number`, as [`Ring::ready`]. A dead target
    /// delays nothing.
    #[inline]
    pub fn ready(&self, number: u64) -> Option<bool> {
        self.ring().ready(number).or_else(|| self.is_gone().then_some(true))
    }
}

impl Inbound {
    #[inline]
    pub fn ring(&self) -> &Ring {
        // SAFETY: as for `Outbound`.
        unsafe { &*self.ring }
    }

    /// Returns the number below which all messages from the source have been released.
    #[inline(always)]
    fn acks(&self) -> u64 {
        self.receiver.acks(self.ring())
    }
}

/// The large buffer that message `number` of `bytes` bytes takes if it is free. The first two in
/// turn: the receiver may have just read the last message, and writing over that takes its lines
/// away from there (messages of 64 KiB took 1.4 times as long). Long ones do better in memory that
/// is still in the cache.
#[inline]
fn preferred(number: u64, bytes: usize) -> usize {
    if bytes <= LONGEST_IN_TURN { to_usize(number % 2) } else { 0 }
}

/// The location of an address, in cache lines from the beginning of a segment: all that has one
/// begins with a line.
#[inline]
fn location(segment: &Segment, at: *const u8) -> u32 {
    to_u32(segment.position(at) / LINE)
}

impl Channels {
    /// True if the process at `rank` is one of the targets or sources.
    pub fn has(&self, rank: Rank) -> bool {
        self.outbound.iter().any(|o| o.rank == rank) || self.inbound.iter().any(|i| i.rank == rank)
    }

    /// Returns what a message to a target acknowledges.
    #[inline(always)]
    pub fn acks(&self, out: &Outbound) -> u64 {
        out.back.map_or(0, |back| self.inbound[back].acks())
    }

    /// Fails if one of the next `many` collectives would have the tags of one that is under way.
    #[inline(always)]
    pub fn check(&self, many: u64) -> Result<()> {
        self.under_way.check(self.next.load(Ordering::Relaxed), many)
    }

    /// Takes the number of the next collective. Collectives are started one at a time.
    #[inline]
    pub fn next_number(&self) -> u64 {
        let number = self.next.load(Ordering::Relaxed);
        self.next.store(number + 1, Ordering::Relaxed);
        number
    }

    /// Returns the tag of messages of collective `number` that go by MPI.
    pub fn tag(&self, number: u64) -> i32 {
        to_int::<i32>(self.first_tag) + self.under_way.tag(number)
    }

    /// Returns the tag of messages of collective `number` that go by MPI block by block. It differs
    /// from `tag`, as the receiver must know that more follow.
    pub fn tag_of_blocks(&self, number: u64) -> i32 {
        self.tag(number) + to_int::<i32>(self.tags / 2)
    }

    /// Returns a free eager buffer for message `number` of `bytes` bytes, whose cells are free;
    /// `None` if all buffers are in use. `holders` may still read messages in the first target's
    /// memory.
    #[inline]
    pub fn free_buffer(&self, targets: &Range<usize>, holders: &Range<usize>, number: u64, bytes: usize) -> Option<EagerBuffer> {
        let out = &self.outbound[targets.start];
        if bytes <= SMALL_BUFFER {
            return Some(EagerBuffer { at: out.small_buffer(number), large: None });
        }
        let preferred = preferred(number, bytes);
        let others = (0..LARGE_BUFFERS).filter(|&index| index != preferred);
        let free = iter::once(preferred).chain(others).find(|&index| self.is_buffer_free(out, holders, index))?;
        Some(EagerBuffer { at: self.large_buffer(out, free), large: Some(free) })
    }

    /// The memory that message `number` of `bytes` bytes to a target goes through, unless its place
    /// is taken then.
    #[inline]
    pub fn buffer_to_come(&self, out: &Outbound, number: u64, bytes: usize) -> *mut u8 {
        if bytes <= SMALL_BUFFER { out.small_buffer(number) } else { self.large_buffer(out, preferred(number, bytes)) }
    }

    #[inline]
    fn large_buffer(&self, out: &Outbound, index: usize) -> *mut u8 {
        out.memory.wrapping_add(ALL_SMALL + APART + index * self.eager_limit)
    }

    /// Assigns an eager buffer to message `number` until its receivers have read that.
    #[inline]
    pub fn claim(&self, buffer: EagerBuffer, targets: &Range<usize>, number: u64) {
        if let Some(large) = buffer.large {
            self.segment.note_much();
            self.outbound[targets.start].used[large].store(number + 1, Ordering::Relaxed);
        }
    }

    fn is_buffer_free(&self, out: &Outbound, holders: &Range<usize>, index: usize) -> bool {
        let used = out.used[index].load(Ordering::Relaxed);
        used == 0 || self.outbound[holders.clone()].iter().all(|holder| holder.sender.is_taken(used - 1, holder.ring()))
    }

    /// Returns memory through which a long message can go in chunks, that of large buffers side by
    /// side; `None` if there are not enough that are free.
    pub fn chunk_memory(&self, targets: &Range<usize>, holders: &Range<usize>) -> Option<*mut u8> {
        let out = &self.outbound[targets.start];
        self.segment.note_much();
        let needed = (to_usize(CHUNKS) * self.chunk()).div_ceil(self.eager_limit);
        let free = |first: &usize| (*first..first + needed).all(|index| self.is_buffer_free(out, holders, index));
        (0..=LARGE_BUFFERS - needed).find(free).map(|first| self.large_buffer(out, first))
    }

    /// Bytes of a chunk.
    pub fn chunk(&self) -> usize {
        // so that a message which is longer than a cell has at least two
        self.eager_limit.min(LONGEST_CHUNK)
    }

    /// Returns the location of an address, in cache lines from the beginning of the segment. It is
    /// the same on all processes.
    #[inline]
    pub fn location(&self, at: *const u8) -> u32 {
        location(&self.segment, at)
    }

    /// Returns the address `offset` bytes behind a location that another process has named; `None`
    /// if fewer than `bytes` bytes lie there.
    #[inline]
    pub fn at(&self, location: u32, offset: usize, bytes: usize) -> Option<*mut u8> {
        self.segment.at((location as usize * LINE).checked_add(offset)?, bytes)
    }

    /// Keeps a message until MPI has sent it. Takes a lock; allocates if there have never been as
    /// many.
    pub fn detach(&self, sent: finalize::Message) {
        self.detached.keep(sent);
    }

    /// Drops messages that MPI has sent, where there are any.
    #[inline]
    pub fn forget_detached(&self) {
        if self.detached.count.load(Ordering::Relaxed) > 0 {
            self.detached.forget_oldest();
        }
    }

    /// Most bytes of a message that goes through a cell whatever its sender and receiver do, if
    /// `reads` says that the receiver can read the sender's memory. `limit` is the sender's eager
    /// limit.
    pub fn short(&self, reads: bool, limit: usize) -> usize {
        let below = usize::try_from(self.single_from - 1).unwrap_or(usize::MAX);
        match reads {
            // as the other end may have it, whose threads this one does not know
            true if self.away_only && !self.oversubscribed => limit.min(LONGEST_BESIDE_CHUNKS),
            true => limit.min(below),
            false => limit,
        }
    }

    /// Most bytes of a message of a started call that goes through a cell: fewer where a longer
    /// one, unless its receiver folds it (`folds`), can be turned into one in chunks. `limit` is
    /// the sender's eager limit.
    pub fn longest_in_cell(&self, folds: bool, limit: usize) -> usize {
        if self.turns && !folds { limit.min(LONGEST_BESIDE_CHUNKS) } else { limit }
    }

    /// Of the sources and targets, how many copy long messages from the sender's memory; and how
    /// many there are.
    pub fn count_copying(&self) -> (usize, usize) {
        let sources = self.inbound.iter().filter(|source| source.process.is_some()).count();
        let targets = self.outbound.iter().filter(|out| out.reads).count();
        (sources + targets, self.inbound.len() + self.outbound.len())
    }

    /// Bytes for the messages to one target.
    pub fn bytes(&self) -> usize {
        BESIDE_LARGE + LARGE_BUFFERS * self.eager_limit
    }

    /// Writes a target off that is dead. What is written later is not for it, and does not wait for
    /// it.
    #[cold]
    pub fn write_off(&self, out: usize) {
        self.outbound[out].gone.store(true, Ordering::Relaxed);
        self.outbound[out].sender.give_up();
        self.note_gone();
    }

    /// Records that one of the processes is dead.
    pub fn note_gone(&self) {
        self.any_gone.store(true, Ordering::Relaxed);
    }

    /// True if one of the processes was found dead.
    #[inline]
    pub fn any_gone(&self) -> bool {
        self.any_gone.load(Ordering::Relaxed)
    }

    /// True if a member of the node is alive. Makes a system call.
    pub fn lives(&self, member: u32) -> bool {
        self.segment.lives(member)
    }
}
