//! NBX, nonblocking consensus, with receives that are posted ahead: each process sends its messages
//! synchronously; when all have been matched it enters a barrier, and goes on receiving until the
//! barrier is through. Then every message has been matched everywhere.
//!
//! Receives for any source wait in a ring of slots; messages match them in the order in which they
//! were posted, so that looking at the oldest one is enough. The slots stay posted between
//! exchanges: a message of the next exchange that comes early waits in the inbox of that one. A
//! message longer than a slot is announced by one that holds its length, and received where it is
//! to lie.
//!
//! A synchronous send tells that a receive has matched, not that the receiver has seen it. At the
//! end the oldest slot is taken back: if that is too late, a message was on its way into it; if
//! not, none was, in this or a later slot.
//!
//! Useful with many processes and few neighbors, at any size. Cost: k messages and their
//! acknowledgements, ceil(log2 P) rounds of the barrier; memory for [`SLOTS`] slots, nothing that
//! grows with P. Source: DSDE, section 3.4, Algorithm 2.

use crate::error::{Error, Result};
use crate::model::dsde::POSTED_BYTES;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Cancelled, Mode, Request, Status, bytes_at};
use crate::sparse::mailbox::{Inbox, Outbox, Sends};
use crate::sparse::{Kind, Stats, Wires, lost, tag};

/// Receives that are posted.
const SLOTS: usize = 16;

/// Most bytes of a message that travels into a slot.
const SLOT: usize = POSTED_BYTES as usize;

/// Tags of the slots' communicator: messages, and announcements of longer ones; they alternate
/// between exchanges.
const MESSAGE: i32 = 0;
const ANNOUNCEMENT: i32 = 2;

/// An announcement: the length of what comes.
type Announcement = u64;

/// Announces that a message could not be sent.
const LOST: Announcement = Announcement::MAX;

/// The ring of receives.
pub struct Slots {
    comm: Comm,
    buffers: Vec<[u128; SLOT / size_of::<u128>()]>,
    requests: Vec<Request>,
    /// The oldest.
    oldest: usize,
    /// Of the next exchange.
    early: Vec<Early>,
}

struct Early {
    source: u32,
    kind: i32,
    bytes: Vec<u8>,
}

impl Slots {
    /// Collective.
    pub fn new(comm: &Comm) -> Result<Slots> {
        let comm = comm.again()?;
        let buffers = vec![[0; SLOT / size_of::<u128>()]; SLOTS];
        let requests = (0..SLOTS).map(|_| Request::default()).collect();
        let mut slots = Slots { comm, buffers, requests, oldest: 0, early: Vec::new() };
        for _ in 0..SLOTS {
            slots.post()?;
        }
        Ok(slots)
    }

    /// Counts the messages that are sent from now on.
    pub fn count(&self, tally: std::sync::Arc<crate::mpi::tally::Tally>) {
        self.comm.count(tally);
    }

    /// Posts the oldest slot anew, which makes it the youngest.
    fn post(&mut self) -> Result<()> {
        let at = self.buffers[self.oldest].as_mut_ptr().cast();
        // SAFETY: the slot is left alone until the receive is complete, and lives until it is taken
        // back.
        self.requests[self.oldest] = unsafe { message::receive(at, SLOT as u64, None, None, &self.comm) }?;
        self.oldest = (self.oldest + 1) % SLOTS;
        Ok(())
    }

    fn test(&mut self) -> Result<Option<Status>> {
        self.requests[self.oldest].test_receive()
    }

    /// Takes all receives back.
    pub fn close(mut self) {
        let usable = crate::mpi::is_usable();
        // errors have no one to go to
        let cancelled = usable && self.requests.iter_mut().all(|r| r.cancel().is_ok() && loop_until_cancelled(r));
        if !cancelled {
            // MPI may still write there
            std::mem::forget(std::mem::take(&mut self.buffers));
        }
    }
}

/// Waits until a receive has been taken back; false if MPI reports an error.
fn loop_until_cancelled(request: &mut Request) -> bool {
    loop {
        match request.test_cancelled() {
            Ok(None) => continue,
            ended => return ended.is_ok(),
        }
    }
}

enum Phase {
    /// Messages are on their way to be matched.
    Sending,
    /// In the barrier.
    Waiting,
    /// All messages of all processes have been matched; the oldest slot is being taken back.
    Emptying,
    /// Long messages are under way.
    Ending,
}

/// The protocol at work.
pub struct Run {
    phase: Phase,
    parity: i32,
    mine: Stats,
    small: Outbox,
    long: Outbox,
    /// What `small` reads.
    _announcements: Vec<Announcement>,
}

impl Run {
    /// Begins; `mine` is what the processes are told of this one's messages.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends, mine: Stats, inbox: &mut Inbox) -> Result<Run> {
        wires.barrier.arm(&wires.comm)?;
        let (parity, rest) = (wires.parity, wires.tag(Kind::Rest));
        let Some(slots) = wires.slots.as_mut() else { unreachable!("made with the wires") };
        for early in std::mem::take(&mut slots.early) {
            enter(inbox, early.source, early.kind, &early.bytes, rest, &wires.comm, &mut wires.loss)?;
        }
        let others = || sends.list.iter().filter(|o| o.target != wires.rank);
        let mut announcements: Vec<Announcement> = others().map(|o| o.bytes).collect();
        let (mut small, mut long) = (Outbox::default(), Outbox::default());
        for (o, announcement) in others().zip(&mut announcements) {
            let fits = o.bytes <= SLOT as u64;
            // SAFETY: the caller vouches for the block.
            let sent = unsafe {
                if fits {
                    message::send(Mode::Synchronous, &o.block, o.target, MESSAGE + parity, &slots.comm)
                } else {
                    message::send(Mode::Standard, &o.block, o.target, rest, &wires.comm)
                }
            };
            match sent {
                Ok(request) if fits => {
                    small.push(request);
                    continue;
                }
                Ok(request) => long.push(request),
                // nobody must wait for it
                Err(e) => {
                    wires.loss.get_or_insert(e);
                    *announcement = LOST;
                }
            }
            let block = bytes_at((&raw const *announcement).cast(), size_of::<Announcement>() as u64);
            // SAFETY: announcements do not move, and live as long as the run.
            small.push(unsafe { message::send(Mode::Synchronous, &block, o.target, ANNOUNCEMENT + parity, &slots.comm) }?);
        }
        Ok(Run { phase: Phase::Sending, parity, mine, small, long, _announcements: announcements })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        loop {
            let Wires { comm, slots: Some(slots), barrier, loss, .. } = wires else { unreachable!("made with the wires") };
            while !matches!(self.phase, Phase::Emptying)
                && let Some(status) = slots.test()?
            {
                self.deliver(slots, status, inbox, comm, loss)?;
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
                        slots.requests[slots.oldest].cancel()?;
                        wires.learn(largest);
                        self.phase = Phase::Emptying;
                    }
                },
                Phase::Emptying => match slots.requests[slots.oldest].test_cancelled()? {
                    None => return Ok(false),
                    Some(Cancelled::Came(status)) => {
                        self.deliver(slots, status, inbox, comm, loss)?;
                        slots.requests[slots.oldest].cancel()?;
                    }
                    Some(Cancelled::Back) => {
                        slots.post()?;
                        self.phase = Phase::Ending;
                    }
                },
                Phase::Ending => return Ok(self.long.complete()? && inbox.complete()?),
            }
        }
    }

    /// Takes what has come into the oldest slot, and posts it anew.
    fn deliver(
        &self,
        slots: &mut Slots,
        status: Status,
        inbox: &mut Inbox,
        comm: &Comm,
        loss: &mut Option<Box<Error>>,
    ) -> Result<()> {
        let at: *const u8 = slots.buffers[slots.oldest].as_ptr().cast();
        // SAFETY: MPI has written so many bytes into the slot.
        let bytes = unsafe { std::slice::from_raw_parts(at, status.bytes as usize) };
        let (kind, parity) = (status.tag & ANNOUNCEMENT, status.tag & 1);
        if parity == self.parity {
            enter(inbox, status.source, kind, bytes, tag(Kind::Rest, parity), comm, loss)?;
        } else {
            slots.early.push(Early { source: status.source, kind, bytes: bytes.to_vec() });
        }
        slots.post()
    }
}

/// Enters a message, or its loss, or begins to receive the one that is announced.
fn enter(
    inbox: &mut Inbox,
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
        Ok(length) if kind == ANNOUNCEMENT => inbox.receive(source, Announcement::from_ne_bytes(length), rest, comm),
        // SAFETY: the bytes are a slice.
        _ => unsafe { inbox.copy(source, bytes.as_ptr(), bytes.len() as u64) },
    }
}
