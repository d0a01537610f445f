//! Receives from any source that stay posted between exchanges, in a ring: whatever arrives is
//! found by testing the oldest one, without a probe. NBX and PCX receive by them.
//!
//! An early message of the next exchange is set aside until that exchange starts. A message longer
//! than a receive's buffer is announced by one that holds its length, and then received at its
//! final place; one that cannot be sent is announced as lost. So each message is exactly one
//! message of the ring.

use std::sync::Arc;

use super::messages::{Arrivals, PendingSends, Sends};
use super::transport::{Tag, Transport};
use crate::error::{Error, Result};
use crate::model::sparse::POSTED_BYTES;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Cancelled, Mode, Status, bytes_at};
use crate::mpi::posted::PostedReceives;

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
static LOST: Announcement = Announcement::MAX;

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

/// Messages that are being sent to the rings of other processes.
pub struct RingSends {
    /// Messages that fit into the ring, and announcements.
    pub small: PendingSends,
    /// Announced messages.
    pub long: PendingSends,
    /// The buffers that sends in `small` read.
    _announcements: Vec<Announcement>,
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

    /// Sends all messages to other processes. `mode` is that of the small ones. If one cannot be
    /// sent, the processes that `readers` returns for its index are told, so that none waits for
    /// what is in it.
    ///
    /// # Safety
    /// The blocks must be readable, and must not be written, until both kinds of sends are
    /// complete.
    pub unsafe fn send_all<R: IntoIterator<Item = u32>>(
        &self,
        transport: &mut Transport,
        sends: &Sends,
        mode: Mode,
        readers: impl Fn(usize) -> R,
    ) -> Result<RingSends> {
        let (parity, rest) = (transport.parity, transport.tag(Tag::Rest));
        let others = || sends.list.iter().enumerate().filter(|(_, o)| o.target != transport.rank);
        let announcements: Vec<Announcement> = others().map(|(_, o)| o.bytes).collect();
        let (mut small, mut long) = (PendingSends::default(), PendingSends::default());
        let announce = |announcement: *const Announcement, target: u32| {
            let block = bytes_at(announcement.cast(), size_of::<Announcement>() as u64);
            // SAFETY: announcements do not move, and live as long as the sends, or for ever.
            let send = || unsafe { message::send(mode, &block, target, ANNOUNCEMENT + parity, self.posted.comm()) };
            // once more if MPI refuses: all processes wait for an exchange that ends here
            send().or_else(|_| send())
        };
        let (announcements, ()) = message::lend(announcements, |announcements| {
            for ((i, o), announcement) in others().zip(announcements) {
                let fits = o.bytes <= BUFFER as u64;
                // SAFETY: the caller vouches for the block.
                let sent = unsafe {
                    if fits {
                        message::send(mode, &o.block, o.target, MESSAGE + parity, self.posted.comm())
                    } else {
                        message::send(Mode::Standard, &o.block, o.target, rest, &transport.comm)
                    }
                };
                match sent {
                    Ok(request) if fits => small.push(request),
                    Ok(request) => {
                        long.push(request);
                        small.push(announce(announcement, o.target)?);
                    }
                    Err(e) => {
                        transport.loss.note(e);
                        for reader in readers(i) {
                            small.push(announce(&LOST, reader)?);
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(RingSends { small, long, _announcements: announcements })
    }

    /// Enters messages that came before their exchange, which starts now. Returns how many.
    pub fn start(&mut self, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<u64> {
        let early = std::mem::take(&mut self.early);
        for message in &early {
            enter(transport, message.source, message.kind, &message.bytes, arrivals)?;
        }
        Ok(early.len() as u64)
    }

    /// Enters what has arrived. Returns how many messages belong to the running exchange.
    #[inline]
    pub fn advance(&mut self, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<u64> {
        let mut entered = 0;
        while let Some(status) = self.posted.test()? {
            entered += u64::from(self.deliver(status, transport, arrivals)?);
        }
        Ok(entered)
    }

    /// Begins to cancel the oldest receive: if that is too late, a message was on its way to it;
    /// otherwise none was, neither to this receive nor to a younger one.
    pub fn cancel(&mut self) -> Result<()> {
        self.posted.cancel()
    }

    /// Enters what the cancelled receive, and those after it, had received. Returns true once one
    /// came back empty. It is then posted again.
    pub fn drain(&mut self, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<bool> {
        loop {
            match self.posted.test_cancelled()? {
                None => return Ok(false),
                Some(Cancelled::Came(status)) => {
                    self.deliver(status, transport, arrivals)?;
                    self.posted.cancel()?;
                }
                Some(Cancelled::Back) => {
                    self.posted.post()?;
                    return Ok(true);
                }
            }
        }
    }

    /// Takes what the oldest receive delivered and posts that receive again. Returns true if it
    /// belongs to the running exchange.
    fn deliver(&mut self, status: Status, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<bool> {
        let bytes = self.posted.delivered(status);
        let (kind, parity) = (status.tag & ANNOUNCEMENT, status.tag & 1);
        let is_current = parity == transport.parity;
        if is_current {
            enter(transport, status.source, kind, bytes, arrivals)?;
        } else {
            let mut copy = Vec::new();
            copy.try_reserve_exact(bytes.len()).map_err(|_| Error::NoMemory { bytes: bytes.len() })?;
            copy.extend_from_slice(bytes);
            self.early.push(Early { source: status.source, kind, bytes: copy });
        }
        self.posted.post()?;
        Ok(is_current)
    }
}

/// Adds a message, records its loss, or starts to receive the announced message.
fn enter(transport: &mut Transport, source: u32, kind: i32, bytes: &[u8], arrivals: &mut Arrivals) -> Result<()> {
    match <[u8; size_of::<Announcement>()]>::try_from(bytes) {
        Ok(length) if kind == ANNOUNCEMENT && Announcement::from_ne_bytes(length) == LOST => {
            transport.loss.miss(source);
            Ok(())
        }
        Ok(length) if kind == ANNOUNCEMENT => {
            arrivals.receive(source, Announcement::from_ne_bytes(length), transport.tag(Tag::Rest), &transport.comm)
        }
        // SAFETY: the bytes are a slice.
        _ => unsafe { arrivals.copy(source, bytes.as_ptr(), bytes.len() as u64) },
    }
}
