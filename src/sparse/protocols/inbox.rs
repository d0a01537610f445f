//! Inboxes in shared memory: each process owns memory that all others can write to. A sender
//! reserves room by a fetch-and-add at the receiver and writes its message there; a single barrier,
//! also in shared memory, then says that all messages have been written. There are no
//! acknowledgements, no probes and no rounds. `shm/double_buffer.rs` explains why that is safe from
//! one exchange to the next.
//!
//! A message longer than [`INBOX_LONG`] bytes is announced in the inbox and travels by MPI to its
//! final place. When an inbox is full, further messages travel by MPI and are counted, so that the
//! receiver knows how many to probe for. Those of one sender keep their order: after one has not
//! fitted, no later one fits.
//!
//! Best if all processes of the communicator share memory. Cost: a fetch-and-add and two copies per
//! message, one compare-and-exchange for the barrier; long messages as in PCX. Memory: twice
//! [`INBOX_ROOM`] bytes and a page per process, of which only pages that were ever used are
//! allocated; nothing else grows with P. The protocol is this library's own; the barrier is a
//! central counter.

use std::sync::Arc;

use crate::error::Result;
use crate::model::sparse::{INBOX_LONG, INBOX_ROOM};
use crate::mpi::group::Group;
use crate::mpi::message::{self, Mode};
use crate::shm::doorbell::{Doorbell, fence_before_ring};
use crate::shm::double_buffer::{Barrier, Half, MOST_PROCESSES, Reservation, VALUE_BITS};
use crate::shm::segment::Segment;
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::stats::{STATS_BITS, Stats};
use crate::sparse::transport::{Tag, Transport};
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::to_usize;

const _: () = assert!(STATS_BITS <= VALUE_BITS, "the barrier has room for the stats");

/// Size of the barrier and the doorbell of those who wait for it, which all processes use. They
/// stand at the beginning of the memory of process 0; that of the others has a gap there.
const HEAD: usize = size_of::<Barrier>() + Doorbell::BYTES;

/// Precedes each message in an inbox.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Header {
    source: u32,
    /// One of the constants below.
    kind: u32,
    bytes: u64,
}

/// Kinds of headers: the message follows; the message travels by MPI; the inbox ends here; room
/// follows for a message that could not be sent.
const MESSAGE: u32 = 0;
const ANNOUNCED: u32 = 1;
const END: u32 = 2;
const FAILED: u32 = 3;

/// Size of a half with its counters, in whole cache lines.
#[expect(clippy::cast_possible_truncation, reason = "a constant far below 2^32")]
const HALF: usize = (size_of::<Half>() + INBOX_ROOM as usize).next_multiple_of(128);

const HEADER: u64 = size_of::<Header>() as u64;

/// Returns the address of a header. Halves of inboxes, and the room of arrivals, are aligned for
/// it, and its positions there are multiples of its size.
#[inline]
#[expect(clippy::cast_ptr_alignment, reason = "aligned, as the doc says")]
fn header_at(at: *mut u8) -> *mut Header {
    at.cast::<Header>()
}

/// The memory that all processes of the communicator share.
struct Memory {
    segment: Segment,
    size: u32,
}

impl Memory {
    #[expect(clippy::cast_ptr_alignment, reason = "the memory of a process begins with a page")]
    fn barrier(&self) -> &Barrier {
        // SAFETY: the memory of process 0 begins with a barrier, initially zero. It consists of
        // atomics and lives as long as the segment.
        unsafe { &*self.segment.part(0).cast::<Barrier>() }
    }

    fn doorbell(&self) -> Doorbell {
        Doorbell::at(self.segment.part(0).wrapping_add(size_of::<Barrier>()))
    }

    /// Returns one half of a process's inbox.
    #[expect(clippy::cast_ptr_alignment, reason = "HEAD and HALF are multiples of its alignment")]
    fn half(&self, process: u32, number: u64) -> &Half {
        // SAFETY: as above.
        unsafe { &*self.half_at(process, number).cast::<Half>() }
    }

    /// Returns the address of a half: its counters, directly followed by its room.
    #[inline]
    fn half_at(&self, process: u32, number: u64) -> *mut u8 {
        self.segment.part(process).wrapping_add(HEAD + (number % 2) as usize * HALF)
    }

    /// Returns the address of a position in a half.
    #[inline]
    fn at(&self, process: u32, number: u64, position: u64) -> *mut u8 {
        self.half_at(process, number).wrapping_add(size_of::<Half>() + to_usize(position))
    }

    /// Writes a header to a half.
    fn write_header(&self, process: u32, number: u64, position: u64, header: Header) {
        // SAFETY: the caller has reserved the position, which lies within a half; positions are
        // multiples of the size of a header.
        unsafe { header_at(self.at(process, number, position)).write(header) };
    }
}

/// The inboxes of one communicator.
pub struct Inboxes {
    memory: Arc<Memory>,
    /// Number of the next exchange that uses this protocol.
    number: u64,
}

impl Inboxes {
    /// Allocates the inboxes. Returns `None`, on all processes, if they cannot share memory.
    /// Collective over `node`, on which all processes of the communicator are.
    pub fn new(node: &Group) -> Result<Option<Inboxes>> {
        let size = node.size();
        if size > MOST_PROCESSES {
            return Ok(None);
        }
        let bytes = HEAD + 2 * HALF;
        let segment = Segment::new(bytes, usize::MAX, node)?;
        Ok(segment.map(|segment| Inboxes { memory: Arc::new(Memory { segment, size }), number: 0 }))
    }
}

/// A run of the protocol.
pub struct Run {
    memory: Arc<Memory>,
    number: u64,
    /// After the barrier: how many messages that travel by MPI are still to be found.
    missing: Option<u64>,
    pending: PendingSends,
    /// Of polls that find the barrier closed.
    backoff: Backoff,
    /// True if the process has slept since it last entered MPI.
    slept: bool,
}

impl Run {
    /// Starts the protocol. Never waits: when it returns, this process has done everything that the
    /// others need of it. A message that cannot be sent is an error at the end, here and at its
    /// target; nobody waits for it.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, inboxes: &mut Inboxes, sends: &Sends) -> Run {
        let (rank, rest) = (transport.rank, transport.tag(Tag::Rest));
        let mine = transport.stats(sends);
        let (memory, number) = (Arc::clone(&inboxes.memory), inboxes.number);
        inboxes.number += 1;
        let mut pending = PendingSends::default();
        for o in sends.list.iter().filter(|o| o.target != rank) {
            let long = o.bytes > INBOX_LONG || o.device;
            let room = HEADER + if long { 0 } else { o.bytes.next_multiple_of(HEADER) };
            let half = memory.half(o.target, number);
            let sent = match half.reserve(room, INBOX_ROOM) {
                Reservation::Room(at) => {
                    let sent = if long {
                        // SAFETY: the caller vouches for the block.
                        let sent = unsafe { message::send(Mode::Standard, &o.block, o.target, rest, &transport.comm) };
                        sent.map(|request| pending.push(request))
                    } else {
                        // SAFETY: the caller vouches for the block; the room has been reserved, so
                        // that nobody else writes to it.
                        let packed = unsafe { o.pack(memory.at(o.target, number, at + HEADER), sends.dense, &transport.comm) };
                        packed.inspect(|()| transport.observed.iter().for_each(|observed| observed.in_memory(o.bytes)))
                    };
                    let kind = if long { ANNOUNCED } else { MESSAGE };
                    let header = match sent {
                        Ok(()) => Header { source: rank, kind, bytes: o.bytes },
                        // covers the reserved room
                        Err(_) => Header { source: rank, kind: FAILED, bytes: room - HEADER },
                    };
                    memory.write_header(o.target, number, at, header);
                    sent
                }
                Reservation::Full { end } => {
                    if let Some(at) = end {
                        memory.write_header(o.target, number, at, Header { source: rank, kind: END, bytes: 0 });
                    }
                    // SAFETY: the caller vouches for the block.
                    let sent = unsafe { transport.send(o, Mode::Standard, &mut pending) };
                    sent.map(drop).inspect_err(|_| half.withdraw())
                }
            };
            if let Err(e) = sent {
                transport.loss.note(e);
            }
        }
        if memory.barrier().arrive(number, mine.word(), Stats::merge) == u64::from(memory.size) {
            fence_before_ring();
            memory.doorbell().ring();
        }
        Run { memory, number, missing: None, pending, backoff: Backoff::new(Pace::INBOX), slept: false }
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<bool> {
        if self.missing.is_none() {
            let Some(largest) = self.memory.barrier().open(self.number, self.memory.size) else {
                self.on_closed(transport)?;
                return Ok(false);
            };
            transport.learn(Stats::from_word(largest));
            self.missing = Some(self.empty(transport, arrivals)?);
        }
        let missing = self.missing.as_mut().expect("counted above");
        Ok(transport.find_missing(missing, arrivals)? & arrivals.complete()? & self.pending.complete()?)
    }

    /// Takes the messages out of this process's inbox. Returns how many more must be probed for.
    fn empty(&self, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<u64> {
        let contents = self.memory.half(transport.rank, self.number).drain(INBOX_ROOM);
        let bytes = if contents.overflowed { self.find_end(transport.rank) } else { contents.bytes };
        if bytes > 0 {
            // Copied as a whole, with the headers: they keep the messages aligned, and a faulty
            // process that writes later cannot change a length that was checked.
            let at = arrivals.room(bytes)?;
            // SAFETY: these bytes of the half were written before the barrier completed; `room`
            // allocated as many.
            unsafe { std::ptr::copy_nonoverlapping(self.memory.at(transport.rank, self.number, 0), at, to_usize(bytes)) };
            let mut position = 0;
            while position < bytes {
                // SAFETY: a header within the copy, at an aligned address.
                let header = unsafe { header_at(at.add(to_usize(position))).read() };
                position += HEADER;
                if header.kind == ANNOUNCED {
                    arrivals.receive(header.source, header.bytes, transport.tag(Tag::Rest), &transport.comm)?;
                    continue;
                }
                assert!(header.bytes <= bytes - position, "a process has overwritten memory that it shares");
                if header.kind == FAILED {
                    transport.loss.miss(header.source);
                } else {
                    arrivals.enter(header.source, at.wrapping_add(to_usize(position)), header.bytes);
                }
                position += header.bytes.next_multiple_of(HEADER);
            }
        }
        Ok(contents.elsewhere)
    }

    /// Returns where the messages end in this process's half, which overflowed.
    #[cold]
    fn find_end(&self, rank: u32) -> u64 {
        let mut position = 0;
        while position < INBOX_ROOM {
            // SAFETY: a header within the half; reservations are contiguous up to the first one
            // that did not fit.
            let header = unsafe { header_at(self.memory.at(rank, self.number, position)).read() };
            match header.kind {
                MESSAGE | FAILED => position += HEADER + header.bytes.min(INBOX_LONG).next_multiple_of(HEADER),
                ANNOUNCED => position += HEADER,
                _ => return position,
            }
        }
        INBOX_ROOM
    }

    /// Called for each poll that finds the barrier closed. Enters MPI now and then, so that other
    /// messages progress, and checks whether the other processes are alive.
    fn on_closed(&mut self, transport: &Transport) -> Result<()> {
        let turn = self.backoff.turn();
        // after a sleep too: others may need this process's MPI to complete their long sends to it
        if turn.enters_mpi || std::mem::take(&mut self.slept) {
            message::progress(transport.comm.view())?;
        }
        if turn.checks { self.look_for_dead(transport) } else { Ok(()) }
    }

    /// Fails if a process that has not arrived at the barrier has ended or finalized MPI. After the
    /// barrier, the exchange itself checks for processes that have ended.
    #[cold]
    fn look_for_dead(&self, transport: &Transport) -> Result<()> {
        let me = transport.rank;
        // a process cannot test its own lock
        let dead = (0..self.memory.size).find(|&p| p != me && !self.memory.segment.lives(p));
        match dead {
            // a process may end once it has passed the barrier
            Some(rank) if self.memory.barrier().open(self.number, self.memory.size).is_none() => Err(transport.comm.lose(rank)),
            _ => Ok(()),
        }
    }

    /// True before the barrier: what is waited for after it wakes nobody.
    pub fn may_sleep(&self) -> bool {
        self.missing.is_none()
    }

    /// Sleeps until the barrier completes, or for a short time. For a process that shares its core
    /// with those it waits for.
    pub fn sleep(&mut self) {
        self.slept = true;
        self.memory.doorbell().sleep(|| self.memory.barrier().open(self.number, self.memory.size).is_some());
    }
}
