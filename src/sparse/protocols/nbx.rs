//! NBX, nonblocking consensus, with receives that are posted in advance. Each process sends its
//! messages synchronously; once all have been matched, it enters a barrier and continues to receive
//! until the barrier completes. By then, every message has been matched everywhere.
//!
//! Receives from any source stay posted between exchanges, in a ring: an early message of the next
//! exchange is set aside until that exchange starts. A message longer than a receive's buffer is
//! announced by one that holds its length, and then received at its final place.
//!
//! The completion of a synchronous send says that a receive has matched, not that the receiver has
//! noticed. At the end, the oldest receive is therefore cancelled. If that is too late, a message
//! was on its way to it; otherwise none was, neither to this receive nor to a younger one.
//!
//! Best for many processes with few neighbors each, for messages of any size. Cost: k messages and
//! their acknowledgements, ceil(log2 P) rounds of the barrier; memory for [`RECEIVES`] buffers,
//! none that grows with P. Source: DSDE, section 3.4, Algorithm 2.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::model::sparse::POSTED_BYTES;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Cancelled, Mode, Status, bytes_at};
use crate::mpi::posted::PostedReceives;
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::stats::Stats;
use crate::sparse::transport::{Tag, Transport, lost};

/// Number of receives that are kept posted.
const RECEIVES: usize = 16;

/// Size of a posted buffer: longer messages are announced.
#[expect(clippy::cast_possible_truncation, reason = "a constant far below 2^32")]
const BUFFER: usize = POSTED_BYTES as usize;

/// Tags on the ring's communicator, for messages and for announcements of longer ones. Each has two
/// numbers, which exchanges use in turn.
const MESSAGE: i32 = 0;
const ANNOUNCEMENT: i32 = 2;

/// An announcement: the length of the message that follows.
type Announcement = u64;

/// An announcement that the message could not be sent.
const LOST: Announcement = Announcement::MAX;

/// The posted receives of a communicator.
pub struct ReceiveRing {
    posted: PostedReceives,
    /// Messages that belong to the next exchange.
    early: Vec<Early>,
}

struct Early {
    source: u32,
    kind: i32,
    bytes: Vec<u8>,
}

impl ReceiveRing {
    /// Posts all receives on a communicator of their own. Collective.
    pub fn new(comm: &Comm) -> Result<ReceiveRing> {
        Ok(ReceiveRing { posted: PostedReceives::new(Arc::new(comm.again()?), RECEIVES, BUFFER, 0)?, early: Vec::new() })
    }

    /// Counts messages sent from now on.
    pub fn count(&self, tally: Arc<crate::mpi::tally::Tally>) {
        self.posted.comm().count(tally);
    }
}

enum Phase {
    /// Waiting until all messages have been matched.
    Sending,
    /// In the barrier; messages may still arrive.
    Waiting,
    /// All messages of all processes have been matched; the oldest receive is being cancelled.
    Draining,
    /// Waiting until long messages have been transferred.
    Finishing,
}

/// A run of the protocol.
pub struct Run {
    phase: Phase,
    parity: i32,
    mine: Stats,
    small: PendingSends,
    long: PendingSends,
    /// The buffers that sends in `small` read.
    _announcements: Vec<Announcement>,
}

impl Run {
    /// Starts the protocol. `mine` are the stats that this process contributes.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        sends: &Sends,
        mine: Stats,
        arrivals: &mut Arrivals,
    ) -> Result<Run> {
        let (parity, rest) = (transport.parity, transport.tag(Tag::Rest));
        for early in std::mem::take(&mut ring.early) {
            enter(arrivals, early.source, early.kind, &early.bytes, rest, &transport.comm, &mut transport.loss)?;
        }
        let others = || sends.list.iter().filter(|o| o.target != transport.rank);
        let mut announcements: Vec<Announcement> = others().map(|o| o.bytes).collect();
        let (mut small, mut long) = (PendingSends::default(), PendingSends::default());
        for (o, announcement) in others().zip(&mut announcements) {
            let fits = o.bytes <= BUFFER as u64;
            // SAFETY: the caller vouches for the block.
            let sent = unsafe {
                if fits {
                    message::send(Mode::Synchronous, &o.block, o.target, MESSAGE + parity, ring.posted.comm())
                } else {
                    message::send(Mode::Standard, &o.block, o.target, rest, &transport.comm)
                }
            };
            match sent {
                Ok(request) if fits => {
                    small.push(request);
                    continue;
                }
                Ok(request) => long.push(request),
                // nobody may wait for it
                Err(e) => {
                    transport.loss.get_or_insert(e);
                    *announcement = LOST;
                }
            }
            let block = bytes_at((&raw const *announcement).cast(), size_of::<Announcement>() as u64);
            // SAFETY: announcements do not move and live as long as the run.
            small.push(unsafe { message::send(Mode::Synchronous, &block, o.target, ANNOUNCEMENT + parity, ring.posted.comm()) }?);
        }
        Ok(Run { phase: Phase::Sending, parity, mine, small, long, _announcements: announcements })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        loop {
            let Transport { comm, barrier, loss, .. } = transport;
            while !matches!(self.phase, Phase::Draining)
                && let Some(status) = ring.posted.test()?
            {
                self.deliver(ring, status, arrivals, comm, loss)?;
            }
            match self.phase {
                Phase::Sending => {
                    if !self.small.complete()? {
                        return Ok(false);
                    }
                    barrier.enter(self.mine, comm)?;
                    self.phase = Phase::Waiting;
                }
                Phase::Waiting => match barrier.progress(comm)? {
                    None => return Ok(false),
                    Some(largest) => {
                        ring.posted.cancel()?;
                        transport.learn(largest);
                        self.phase = Phase::Draining;
                    }
                },
                Phase::Draining => match ring.posted.test_cancelled()? {
                    None => return Ok(false),
                    Some(Cancelled::Came(status)) => {
                        self.deliver(ring, status, arrivals, comm, loss)?;
                        ring.posted.cancel()?;
                    }
                    Some(Cancelled::Back) => {
                        ring.posted.post()?;
                        self.phase = Phase::Finishing;
                    }
                },
                Phase::Finishing => return Ok(self.long.complete()? && arrivals.complete()?),
            }
        }
    }

    /// Takes what the oldest receive delivered and posts that receive again.
    fn deliver(
        &self,
        ring: &mut ReceiveRing,
        status: Status,
        arrivals: &mut Arrivals,
        comm: &Comm,
        loss: &mut Option<Box<Error>>,
    ) -> Result<()> {
        let bytes = ring.posted.delivered(status);
        let (kind, parity) = (status.tag & ANNOUNCEMENT, status.tag & 1);
        if parity == self.parity {
            enter(arrivals, status.source, kind, bytes, Tag::Rest.number(parity), comm, loss)?;
        } else {
            ring.early.push(Early { source: status.source, kind, bytes: bytes.to_vec() });
        }
        ring.posted.post()
    }
}

/// Adds a message, records its loss, or starts to receive the announced message.
fn enter(
    arrivals: &mut Arrivals,
    source: u32,
    kind: i32,
    bytes: &[u8],
    rest: i32,
    comm: &Comm,
    loss: &mut Option<Box<Error>>,
) -> Result<()> {
    match <[u8; size_of::<Announcement>()]>::try_from(bytes) {
        Ok(length) if kind == ANNOUNCEMENT && Announcement::from_ne_bytes(length) == LOST => {
            loss.get_or_insert_with(|| lost(source));
            Ok(())
        }
        Ok(length) if kind == ANNOUNCEMENT => arrivals.receive(source, Announcement::from_ne_bytes(length), rest, comm),
        // SAFETY: the bytes are a slice.
        _ => unsafe { arrivals.copy(source, bytes.as_ptr(), bytes.len() as u64) },
    }
}
