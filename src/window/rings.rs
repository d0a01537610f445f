//! Messages of a window between the processes of a node, through shared memory.
//!
//! Each process has a ring (`shm/ring.rs`) from each other process of the node. Batches for those
//! are packed in buffers of the sender's that the receiver reads, and that serve all targets. A
//! buffer is used again once the receiver has taken the message out. Of a message of up to
//! [`INLINE`] bytes, as a single operation and its answer are, a copy lies in its cell instead: one
//! or two cache lines travel.
//!
//! Where streaming stores are faster, as between cores that share no cache, a batch is packed in
//! memory of the process's own, and copied by those to a buffer when it is sent. Both ends time
//! some batches (`shm/stores.rs`): how long it takes to copy one to a buffer in either way, and to
//! apply it there.
//!
//! A ring has more cells than a process may have messages on its way to another one, so that a send
//! never waits.
//!
//! Cost: a message is packed once, or copied once more, and applied where it lies. A poll looks at
//! one cache line for each process of the node. Memory: 10 KiB for each pair of processes, and the
//! buffers that were in use at a time; of all others, address space alone.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

use super::batch::SPARE;
use super::peer::MOST_UNACKNOWLEDGED;
use super::storage::{Place, Storage};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::shm::node::{Note, Team};
use crate::shm::ring::{Header, IN_CELL, INLINE, Ring, Sender, WORDS};
use crate::shm::segment::Segment;
use crate::shm::stores::{self, LEAST, Stores, Style, Written};
use crate::shm::streaming;
use crate::util::cast::to_u32;
use crate::util::memory::LINE;

/// Cells of a ring. On its way is at most: each batch that has not been acknowledged; an answer to
/// each such batch of the receiver's, and to the one that it sends before it looks at its rings
/// again; and an answer to its last operations of an epoch.
const CELLS: usize = 64;
const _: () = assert!(CELLS > 2 * MOST_UNACKNOWLEDGED as usize + 2);

/// Buffers for each other process: of messages on their way, of the batch that is being filled, of
/// the last one of an epoch, and of an answer. One more that is made, and copied to a cell.
const BUFFERS: usize = CELLS + 4;

/// Most bytes of a segment: address space, of which little is ever used.
const MOST_BYTES: usize = 1 << 40;

/// Messages on their way to a process before their buffers are asked for: a sender that asks after
/// each one has the receiver's notes sent over each time.
const ASKED_TOGETHER: usize = 8;

/// Words of a message that lies in its cell, and the spare bytes behind it.
const SHORT: usize = WORDS + SPARE / size_of::<u64>();

/// Both directions between the caller and another process of the node.
struct Link {
    /// Its rank on the window's communicator.
    rank: u32,
    outward: *const Ring<CELLS>,
    inward: *const Ring<CELLS>,
    sender: Sender<CELLS>,
    /// Messages sent, and taken out.
    sent: u64,
    taken: u64,
    stores: Stores,
    /// Messages in buffers that may not have been taken out: number and buffer.
    on_way: VecDeque<(u64, u32)>,
    /// Its buffers.
    buffers: *mut u8,
}

/// The rings of a window between the caller and the other processes of its node.
pub struct Rings {
    /// Keeps the memory of all others.
    _segment: Segment,
    /// By rank.
    links: Vec<Link>,
    /// The caller's buffers, those that are free, and how many have ever been used.
    buffers: *mut u8,
    free: Vec<u32>,
    used: u32,
    /// False where processes share cores: times then say little.
    compares: bool,
    /// Memory of batches that are copied to a buffer, to be used again.
    private: Vec<Storage>,
    /// Buffers that each process has.
    each: u32,
    /// Bytes from one buffer to the next, and of the longest message.
    stride: usize,
    capacity: usize,
}

/// A message that has come.
pub struct Arrived<'a> {
    /// Rank of its sender.
    pub source: u32,
    /// Its length in bytes.
    pub length: usize,
    /// When it was found, by the processor's clock, if its sender wants to know how long it takes.
    pub began: Option<u64>,
    /// The message, and [`SPARE`] bytes or more.
    pub bytes: &'a [u8],
}

impl Rings {
    /// Makes the rings of a window whose longest message has `capacity` bytes. `node_size`: as many
    /// processes in order of their ranks count as a node. Returns `None` where the caller has no
    /// other process on its node, or cannot share memory with them. Collective over `comm`.
    pub fn new(comm: &Arc<Comm>, node_size: Option<u32>, capacity: usize) -> Result<Option<Rings>> {
        let (mut team, rank) = (Team::new(comm, Note::default())?, comm.rank()?);
        if let Some(processes) = node_size {
            team = team.part(rank / processes)?;
        }
        let (size, me) = (team.size(), team.me());
        let each = to_u32(BUFFERS) * (size - 1);
        // buffers begin and end with lines
        let stride = (capacity + SPARE).next_multiple_of(LINE);
        let buffers_at = (size as usize * size_of::<Ring<CELLS>>()).next_multiple_of(LINE);
        // rings carry lengths of 32 bits; longer elements go by MPI
        let fits = size > 1 && u32::try_from(capacity).is_ok();
        let bytes = if fits { stride.saturating_mul(each as usize).saturating_add(buffers_at) } else { 0 };
        let Some(segment) = Segment::new(bytes, MOST_BYTES, team.group())? else { return Ok(None) };
        let ring = |of: u32, from: u32| -> *const Ring<CELLS> {
            segment.part(of).wrapping_add(from as usize * size_of::<Ring<CELLS>>()).cast()
        };
        let buffers = |of: u32| segment.part(of).wrapping_add(buffers_at);
        let others = (0..size).filter(|&other| other != me);
        let links = others.map(|other| Link {
            rank: team.group().ranks()[other as usize],
            outward: ring(other, me),
            inward: ring(me, other),
            sender: Sender::default(),
            stores: Stores::default(),
            sent: 0,
            taken: 0,
            on_way: VecDeque::new(),
            buffers: buffers(other),
        });
        let (links, buffers) = (links.collect(), buffers(me));
        let (free, compares, private) = (Vec::new(), !team.oversubscribed(), Vec::new());
        Ok(Some(Rings { links, buffers, free, used: 0, compares, private, each, stride, capacity, _segment: segment }))
    }

    /// Returns the number of other processes that have a ring.
    pub fn count(&self) -> usize {
        self.links.len()
    }

    /// Returns the place of a process's ring, if it has one.
    #[inline]
    pub fn of(&self, rank: u32) -> Option<usize> {
        self.links.binary_search_by_key(&rank, |link| link.rank).ok()
    }

    /// Returns memory for a message of a ring, and [`SPARE`] bytes. There always is some.
    pub fn lease(&mut self, at: usize) -> Storage {
        let link = &self.links[at];
        // SAFETY: rings lie in the segment, and consist of atomics.
        let ring = unsafe { &*link.outward };
        let style = if self.compares { link.stores.next(self.capacity, std::iter::once(ring)) } else { Style::ORDINARY };
        if (style.streams || style.timed)
            && let Ok(memory) = self.private.pop().map_or_else(|| Storage::own(self.capacity + SPARE), Ok)
        {
            return memory.copied(style.streams);
        }
        let buffer = self.buffer(at);
        // SAFETY: the buffer lies in the segment, which holds zeros or earlier messages, and has
        // room for the longest message. Its last receiver has taken that out, and it is leased to
        // nobody else. It is used no longer than the rings are there.
        unsafe { Storage::shared(self.beginning(buffer), self.capacity + SPARE, buffer) }
    }

    /// Returns the number of a buffer for a message of a ring that nobody uses.
    fn buffer(&mut self, at: usize) -> u32 {
        let link = &mut self.links[at];
        if link.on_way.len() >= ASKED_TOGETHER {
            // SAFETY: rings lie in the segment, and consist of atomics.
            let ring = unsafe { &*link.outward };
            while let Some(&(first, buffer)) = link.on_way.front()
                && link.sender.is_taken(first, ring)
            {
                self.free.push(buffer);
                link.on_way.pop_front();
            }
        }
        let buffer = self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        assert!(buffer < self.each, "a buffer for each message");
        buffer
    }

    /// Returns where a buffer begins.
    fn beginning(&self, buffer: u32) -> NonNull<u8> {
        let begin = self.buffers.wrapping_add(buffer as usize * self.stride);
        NonNull::new(begin).expect("the segment is mapped")
    }

    /// Takes memory back whose message has been sent.
    pub fn keep(&mut self, memory: Storage) {
        if matches!(memory.place(), Place::Copied { .. }) {
            self.private.push(memory);
        }
    }

    /// Takes memory back whose message is not sent.
    pub fn release(&mut self, memory: Storage) {
        match memory.place() {
            Place::Buffer(buffer) => self.free.push(buffer),
            _ => self.keep(memory),
        }
    }

    /// Sends a message from leased memory. If that is a buffer, it is no longer the caller's. Never
    /// waits.
    pub fn send(&mut self, at: usize, place: Place, message: &[u8]) -> Result<()> {
        let link = &mut self.links[at];
        // SAFETY: rings lie in the segment, and consist of atomics.
        let ring = unsafe { &*link.outward };
        let number = link.sent;
        if !link.sender.is_free(number, ring) {
            return Err(Error::Internal("more messages of a window are on their way than can be".into()).into());
        }
        let bytes = to_u32(message.len());
        if message.len() <= INLINE {
            let mut words = [0; WORDS];
            for (word, part) in words.iter_mut().zip(message.chunks(size_of::<u64>())) {
                let mut whole = [0; size_of::<u64>()];
                whole[..part.len()].copy_from_slice(part);
                *word = u64::from_ne_bytes(whole);
            }
            let words = &words[..message.len().div_ceil(size_of::<u64>())];
            link.sender.put(number, ring, Header { bytes, location: IN_CELL, acks: 0 }, words);
            if let Place::Buffer(buffer) = place {
                self.free.push(buffer);
            }
        } else {
            let location = match place {
                Place::Buffer(buffer) => {
                    self.count_next(at, message.len(), false, true);
                    buffer
                }
                Place::Copied { streams } => self.copy(at, message, streams),
                Place::Own => return Err(Error::Internal("a message through memory from elsewhere".into()).into()),
            };
            let link = &mut self.links[at];
            link.on_way.push_back((number, location));
            link.sender.put(number, ring, Header { bytes, location, acks: 0 }, &[]);
        }
        self.links[at].sent += 1;
        Ok(())
    }

    /// Copies a message to a buffer, and returns its number.
    fn copy(&mut self, at: usize, message: &[u8], streams: bool) -> u32 {
        let buffer = self.buffer(at);
        let into = self.beginning(buffer).as_ptr();
        // shorter ones do not count among those that are compared
        let streams = streams && message.len() >= LEAST;
        let timed = self.count_next(at, message.len(), streams, false);
        let began = if timed { streaming::ticks() } else { 0 };
        // SAFETY: the buffer lies in the segment, has room for the longest message, and is nobody
        // else's, as in `lease`.
        unsafe {
            if streams {
                streaming::store(message.as_ptr(), into, message.len());
                streaming::fence();
            } else {
                into.copy_from_nonoverlapping(message.as_ptr(), message.len());
            }
        }
        if timed {
            self.links[at].stores.add(streaming::since(began));
        }
        buffer
    }

    /// Counts the next message among those whose times are compared. Returns true if it is timed.
    fn count_next(&self, at: usize, bytes: usize, streams: bool, in_place: bool) -> bool {
        let link = &self.links[at];
        // SAFETY: as in `send`.
        let ring = unsafe { &*link.outward };
        let written = Written { bytes, longest: self.capacity, streams, in_place };
        self.compares && bytes >= LEAST && link.stores.count(link.sent, written, std::iter::once(ring))
    }

    /// Returns the next message of a ring, if it has come. One that lies in its cell is copied to
    /// `short`.
    ///
    /// # Safety
    /// The message must not be used once it has been taken out, nor when the rings are gone.
    #[inline]
    pub unsafe fn next<'a>(&self, at: usize, short: &'a mut [u64; SHORT]) -> Option<Arrived<'a>> {
        let link = &self.links[at];
        // SAFETY: as in `send`.
        let ring = unsafe { &*link.inward };
        let header = ring.header(link.taken)?;
        let began = ring.is_timed(link.taken).then(streaming::ticks);
        let length = header.bytes as usize;
        let whole = if header.location == IN_CELL { INLINE } else { self.capacity };
        assert!(
            length <= whole && (header.location == IN_CELL || header.location < self.each),
            "a process has overwritten memory that it shares"
        );
        let from = if header.location == IN_CELL {
            ring.words(link.taken, &mut short[..length.div_ceil(size_of::<u64>())]);
            short.as_ptr().cast()
        } else {
            link.buffers.wrapping_add(header.location as usize * self.stride).cast_const()
        };
        // SAFETY: `short`, or a buffer, which is longer than the longest message by the spare
        // bytes, and which its sender leaves alone until the message is taken out.
        let bytes = unsafe { std::slice::from_raw_parts(from, length + SPARE) };
        Some(Arrived { source: link.rank, length, began, bytes })
    }

    /// Takes the message out that `next` has returned, and found at `began`.
    #[inline]
    pub fn take_out(&mut self, at: usize, began: Option<u64>) {
        let link = &mut self.links[at];
        // SAFETY: as in `send`.
        let ring = unsafe { &*link.inward };
        if let Some(began) = began {
            ring.set_time(link.taken, stores::told(streaming::since(began)));
        }
        ring.take(link.taken);
        link.taken += 1;
    }
}

/// Room for a message that lies in its cell, and for the spare bytes behind it.
pub type Short = [u64; SHORT];
