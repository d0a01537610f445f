//! Lists of messages and their requests, for the executors: posting them, also where MPI refuses
//! one, and completing them.

use std::ffi::c_int;
use std::sync::Arc;

use super::comm::Owned as Comm;
use super::datatype::{Datatype, uint32};
use super::liveness::Patience;
pub use super::message::Message;
use super::message::Probed;
pub use super::request::Lost;
use super::request::{Status, is_complete, null, withdraw_all};
use super::tally::Tally;
use super::{MPI_Request, MPI_Status, check, coll, failed, guard, liveness, notice, proc_null};
use crate::error::{Error, Result};
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::{to_int, to_u32};

unsafe extern "C" {
    safe static mpixn_err_in_status: c_int;
    safe static mpixn_err_pending: c_int;
}

/// Counts messages that were sent.
#[cold]
fn count(tally: &Tally, messages: &[Message]) {
    let bytes = |m: &Message| u64::try_from(i64::from(m.count) * m.datatype.size().unwrap_or(0)).unwrap_or(0);
    let there = || messages.iter().filter(|m| m.peer != proc_null());
    tally.add(there().count() as u64, there().map(bytes).sum());
}

/// A list of requests, with room for their statuses.
#[derive(Default)]
pub struct Requests {
    /// The first `used` are requests, the others are room.
    requests: Vec<MPI_Request>,
    used: usize,
    statuses: Vec<MPI_Status>,
    /// Counts what is sent, if the environment asks for it.
    tally: Option<Arc<Tally>>,
    /// The most bytes that the first requests accept. Empty if MPI itself detects messages that are
    /// too long.
    limits: Vec<u64>,
    /// The first failure, until the other requests are complete too: they use the caller's buffers.
    failed: Option<Failure>,
    /// The positions of all requests that failed, since the last failure.
    lost: Vec<usize>,
}

/// The position of the first request that failed, and its error.
pub type Failure = (usize, Box<Error>);

impl Requests {
    /// Counts what is sent from now on.
    pub fn count(&mut self, tally: &Arc<Tally>) {
        self.tally = Some(Arc::clone(tally));
    }

    /// Makes room for `n` requests, so that posting does not allocate.
    pub fn reserve(&mut self, n: usize) {
        self.requests.resize(self.requests.len().max(n), null());
        // SAFETY: a status is plain integers: all zeroes is one.
        self.statuses.resize_with(self.statuses.len().max(n), || unsafe { std::mem::zeroed() });
        self.limits.reserve(n);
    }

    /// Sets the most bytes that each of the `limits.len()` receives before the position accepts;
    /// they are guarded.
    pub fn expect(&mut self, limits: &[u64]) {
        self.limits.resize(self.used - limits.len(), u64::MAX);
        self.limits.extend_from_slice(limits);
    }

    /// Compares the received lengths with the limits.
    #[cold]
    fn check_lengths(&mut self, call: &'static str) -> std::result::Result<(), Failure> {
        let limits = std::mem::take(&mut self.limits);
        if self.failed.is_none() {
            self.lost.clear();
        }
        let expected = limits.iter().zip(&self.statuses).enumerate().filter(|(_, (limit, _))| **limit < u64::MAX);
        let mut checked = Ok(());
        for (i, (&limit, status)) in expected {
            let length = Status::of(status).and_then(|came| guard::check_length(came.bytes, limit, call));
            checked = checked.and(length.map_err(|e| {
                self.lost.push(i);
                (i, e)
            }));
        }
        self.limits = limits;
        self.limits.clear();
        checked
    }

    /// Starts receives (`MPI_Irecv`). Room for the requests must have been reserved.
    ///
    /// # Safety
    /// The buffers must be writable as described, and be left alone, until the requests are
    /// complete.
    #[inline]
    pub unsafe fn post_receives(&mut self, messages: &[Message], tag: c_int, comm: &Comm) -> Result<()> {
        debug_assert!(messages.len() <= self.requests.len() - self.used);
        for (m, request) in messages.iter().zip(&mut self.requests[self.used..]) {
            // SAFETY: the caller vouches for the buffer.
            let rc = unsafe { mpi_sys::MPI_Irecv(m.at.cast(), m.count, m.datatype.raw(), m.peer, tag, comm.raw(), request) };
            check(rc, "MPI_Irecv")?;
            self.used += 1;
        }
        Ok(())
    }

    /// Starts sends (`MPI_Isend`). Room for the requests must have been reserved.
    ///
    /// # Safety
    /// The buffers must be readable as described, and not be written, until the requests are
    /// complete.
    #[inline]
    pub unsafe fn post_sends(&mut self, messages: &[Message], tag: c_int, comm: &Comm) -> Result<()> {
        debug_assert!(messages.len() <= self.requests.len() - self.used);
        for (m, request) in messages.iter().zip(&mut self.requests[self.used..]) {
            // SAFETY: the caller vouches for the buffer.
            let rc = unsafe { mpi_sys::MPI_Isend(m.at.cast(), m.count, m.datatype.raw(), m.peer, tag, comm.raw(), request) };
            check(rc, "MPI_Isend")?;
            self.used += 1;
        }
        if let Some(tally) = &self.tally {
            count(tally, messages);
        }
        Ok(())
    }

    /// Adds a request that is complete, in place of a message that is left out. Room for it must
    /// have been reserved.
    #[cold]
    pub fn skip(&mut self) {
        self.requests[self.used] = null();
        self.used += 1;
    }

    /// Goes to a position, from which on requests are posted next: past others, to leave room for
    /// them, or back.
    #[inline]
    pub fn seek(&mut self, position: usize) {
        self.used = position;
    }

    /// Returns how many requests the list has.
    #[inline]
    pub fn len(&self) -> usize {
        self.used
    }

    /// Returns true if the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Returns true, and empties the list, if all requests are complete.
    ///
    /// # Errors
    /// The position of the first request that failed, and its error. All others are complete.
    #[inline]
    pub fn test(&mut self) -> std::result::Result<bool, Failure> {
        if self.failed.is_some() {
            return self.test_others();
        }
        let mut done = 0;
        // SAFETY: the arrays have that many requests and statuses.
        let rc =
            unsafe { mpi_sys::MPI_Testall(to_int(self.used), self.requests.as_mut_ptr(), &mut done, self.statuses.as_mut_ptr()) };
        if rc != super::success() {
            self.failed = Some(self.first_failure(rc, "MPI_Testall"));
            return self.test_others();
        }
        if done == 0 {
            return Ok(false);
        }
        // Open MPI 5.0.10 returns success if all have failed, and leaves them
        if self.requests[..self.used].iter().any(|&request| request != null()) {
            self.lost.clear();
            return self.test_others();
        }
        self.used = 0;
        if self.limits.is_empty() { Ok(true) } else { self.check_lengths("MPI_Testall").map(|()| true) }
    }

    /// Returns true if the request at `position` is complete; it is then no longer waited for.
    ///
    /// # Errors
    /// Its message failed, and it is complete; or another one of the list did, and whether this one
    /// did too is not known.
    pub fn test_one(&mut self, position: usize) -> std::result::Result<bool, Failure> {
        if let Some(failure) = &self.failed {
            return Err(failure.clone());
        }
        self.test_request(position).map_err(|error| (position, error))
    }

    fn test_request(&mut self, position: usize) -> Result<bool> {
        let request = &mut self.requests[..self.used][position];
        if *request == null() {
            return Ok(true);
        }
        let mut done = 0;
        // SAFETY: a live request; the result and the status are places of our own.
        check(unsafe { mpi_sys::MPI_Test(request, &mut done, &mut self.statuses[position]) }, "MPI_Test")?;
        if let (true, Some(&limit)) = (done != 0, self.limits.get(position).filter(|&&limit| limit < u64::MAX)) {
            guard::check_length(Status::of(&self.statuses[position])?.bytes, limit, "MPI_Test")?;
        }
        Ok(done != 0)
    }

    #[cold]
    fn first_failure(&mut self, rc: c_int, call: &'static str) -> Failure {
        let (in_status, pending) = (mpixn_err_in_status, mpixn_err_pending);
        self.lost.clear();
        if super::code::class_of(rc) == in_status {
            let codes = self.statuses[..self.used].iter().map(|status| status.MPI_ERROR).enumerate();
            let failed = |&(_, code): &(usize, c_int)| code != super::success() && super::code::class_of(code) != pending;
            self.lost.extend(codes.filter(failed).map(|(i, _)| i));
        }
        if let Some(&first) = self.lost.first() {
            return (first, failed(self.statuses[first].MPI_ERROR, call));
        }
        // which one is not known
        self.lost.extend(0..self.used);
        (0, failed(rc, call))
    }

    /// Returns the positions of all requests that failed, after `test` has reported a failure.
    #[cold]
    pub fn lost(&self) -> &[usize] {
        &self.lost
    }

    /// Reports a failure, the first one found here if none is known, once the other requests are
    /// complete, whatever their outcome. They are tested one by one: MPI refuses the list.
    #[cold]
    fn test_others(&mut self) -> std::result::Result<bool, Failure> {
        let mut more = false;
        for (i, (request, status)) in self.requests[..self.used].iter_mut().zip(&mut self.statuses).enumerate() {
            let mut done = 0;
            // SAFETY: a live request or null; the results are a local and a place of our own.
            let rc = unsafe { mpi_sys::MPI_Test(request, &mut done, status) };
            more |= rc == super::success() && done == 0;
            if rc != super::success() {
                self.lost.push(i);
                self.failed.get_or_insert_with(|| (i, failed(rc, "MPI_Test")));
            }
        }
        if more {
            return Ok(false);
        }
        self.clear();
        self.failed.take().map_or(Ok(true), Err)
    }

    /// Empties the list.
    fn clear(&mut self) {
        self.limits.clear();
        self.used = 0;
    }
}

/// Posting that keeps messages matched. If one of them cannot be posted or packed, all others are,
/// and later ones match as they would have.
///
/// A notice takes the place of a message that cannot be sent ([`notice`]). If MPI refuses that,
/// too, or a receive, then nothing more is exchanged with the process at the other end: a later
/// message would be taken for the one that is missing. Later calls say so.
impl Requests {
    /// Posts receives, each of which adds one request to the list. Returns the first error.
    ///
    /// # Safety
    /// As for [`Requests::post_receives`].
    #[inline]
    pub unsafe fn post_all_receives(&mut self, messages: &[Message], tag: c_int, comm: &Comm) -> Option<Box<Error>> {
        let before = self.len();
        if !comm.has_unmatched() {
            // SAFETY: the caller vouches for the buffers.
            match unsafe { self.post_receives(messages, tag, comm) } {
                Ok(()) => None,
                // SAFETY: as above.
                Err(e) => unsafe { self.post_other_receives(&messages[self.len() - before..], tag, comm, Some(e)) },
            }
        } else {
            // SAFETY: as above.
            unsafe { self.post_other_receives(messages, tag, comm, None) }
        }
    }

    /// Posts receives one by one. `failed` is the error of the first one.
    #[cold]
    #[inline(never)]
    unsafe fn post_other_receives(
        &mut self,
        messages: &[Message],
        tag: c_int,
        comm: &Comm,
        mut failed: Option<Box<Error>>,
    ) -> Option<Box<Error>> {
        let mut first = None;
        for message in messages {
            let posted = match failed.take() {
                Some(e) => Err(e),
                None => match self.skip_cut_off(message.peer, comm) {
                    Some(e) => {
                        first.get_or_insert(e);
                        continue;
                    }
                    // SAFETY: the caller vouches for the buffers.
                    None => unsafe { self.post_receives(std::slice::from_ref(message), tag, comm) },
                },
            };
            if let Err(e) = posted {
                first.get_or_insert(e);
                self.skip();
                mismatch(comm, message.peer);
            }
        }
        first
    }

    /// Posts sends, each of which adds one request to the list; in place of the `spoiled` ones, by
    /// position, notices. Returns the first error.
    ///
    /// # Safety
    /// As for [`Requests::post_sends`].
    #[inline]
    pub unsafe fn post_all_sends(
        &mut self,
        messages: &[Message],
        spoiled: Option<&dyn Fn(usize) -> bool>,
        tag: c_int,
        comm: &Comm,
    ) -> Option<Box<Error>> {
        let before = self.len();
        if spoiled.is_none() && !comm.has_unmatched() {
            // SAFETY: the caller vouches for the buffers.
            match unsafe { self.post_sends(messages, tag, comm) } {
                Ok(()) => None,
                // SAFETY: as above.
                Err(e) => unsafe { self.post_other_sends(&messages[self.len() - before..], &|_| false, tag, comm, Some(e)) },
            }
        } else {
            // SAFETY: as above.
            unsafe { self.post_other_sends(messages, spoiled.unwrap_or(&|_| false), tag, comm, None) }
        }
    }

    /// Posts sends one by one. `failed` is the error of the first one.
    #[cold]
    #[inline(never)]
    unsafe fn post_other_sends(
        &mut self,
        messages: &[Message],
        spoiled: &dyn Fn(usize) -> bool,
        tag: c_int,
        comm: &Comm,
        mut failed: Option<Box<Error>>,
    ) -> Option<Box<Error>> {
        let mut first = None;
        for (k, message) in messages.iter().enumerate() {
            let posted = match failed.take() {
                Some(e) => Err(e),
                None if message.peer == proc_null() => {
                    self.skip();
                    continue;
                }
                None => match self.skip_cut_off(message.peer, comm) {
                    Some(e) => {
                        first.get_or_insert(e);
                        continue;
                    }
                    None if spoiled(k) => {
                        self.replace(message, tag, comm);
                        continue;
                    }
                    // SAFETY: the caller vouches for the buffers.
                    None => unsafe { self.post_sends(std::slice::from_ref(message), tag, comm) },
                },
            };
            if let Err(e) = posted {
                first.get_or_insert(e);
                self.replace(message, tag, comm);
            }
        }
        first
    }

    /// Posts one end of a message that no notice can stand for, as what is done next depends on it:
    /// once more if MPI refuses it. Adds one request to the list. Returns the first error.
    ///
    /// # Safety
    /// As for [`Requests::post_receives`] and [`Requests::post_sends`].
    pub unsafe fn insist(&mut self, message: &Message, way: Way, tag: c_int, comm: &Comm) -> Option<Box<Error>> {
        let message = std::slice::from_ref(message);
        let mut post = || match way {
            // SAFETY: the caller vouches for the buffer.
            Way::In => unsafe { self.post_receives(message, tag, comm) },
            // SAFETY: as above.
            Way::Out => unsafe { self.post_sends(message, tag, comm) },
        };
        let failed = post().err()?;
        if post().is_err() {
            self.skip();
            mismatch(comm, message[0].peer);
        }
        Some(failed)
    }

    /// Posts a notice in place of a message.
    #[cold]
    fn replace(&mut self, message: &Message, tag: c_int, comm: &Comm) {
        self.notify(bytes(message).unwrap_or(0), message.peer, tag, comm);
    }

    /// Posts a notice in place of a message of up to `bytes` bytes to `peer`.
    #[cold]
    pub fn notify(&mut self, bytes: u64, peer: c_int, tag: c_int, comm: &Comm) {
        if self.skip_cut_off(peer, comm).is_some() {
            return;
        }
        // SAFETY: notices lie in memory that is never written; the datatype is dropped after the
        // message is posted.
        let posted =
            unsafe { notice::longer_than(bytes, peer).and_then(|(notice, _datatype)| self.post_sends(&[notice], tag, comm)) };
        if posted.is_err() {
            self.skip();
            mismatch(comm, peer);
        }
    }

    /// If nothing is exchanged any more with the process at the other end, skips the message and
    /// returns its error.
    fn skip_cut_off(&mut self, peer: c_int, comm: &Comm) -> Option<Box<Error>> {
        let rank = rank_of(peer)?;
        (comm.has_unmatched() && comm.unmatched().contains(&rank)).then(|| {
            self.skip();
            if liveness::has_ended(comm, rank) { Error::Gone { rank } } else { Error::Unmatched { rank } }.into()
        })
    }
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To this process.
    In,
    /// From this process.
    Out,
}

/// Fails if an earlier call could not keep messages matched with a process that lives. `gone` is
/// known to have ended. Neighbors that live wait for this process whoever else has ended.
#[inline]
pub fn check_matched(comm: &Comm, gone: Option<u32>) -> Result<()> {
    if comm.has_unmatched() { check_unmatched(comm, gone) } else { Ok(()) }
}

#[cold]
fn check_unmatched(comm: &Comm, gone: Option<u32>) -> Result<()> {
    let living = comm.unmatched().into_iter().find(|&rank| gone != Some(rank) && !liveness::has_ended(comm, rank));
    living.map_or(Ok(()), |rank| Err(Error::Unmatched { rank }.into()))
}

/// Returns the bytes of a message's data; `u64::MAX`, which no message has, where 64 bits do not
/// hold their number. The size of such a datatype is `MPI_UNDEFINED`, which is negative.
pub fn bytes(message: &Message) -> Result<u64> {
    let size = u64::try_from(message.datatype.size()?).unwrap_or(u64::MAX);
    Ok(size.saturating_mul(to_int(message.count)))
}

/// Bytes up to which messages are posted as if they were sent eagerly. Usual MPIs do so between
/// nodes up to 8 to 64 KiB. On a network without the trouble, a receive that is posted behind sends
/// costs a message of 32 KiB 4 % (simulated), and a longer one less.
const EAGER: u64 = 1 << 15;

/// Returns true if one of the messages may be sent by rendezvous. The sends of a round to a process
/// are then posted before its receives from it (`exec/p2p/posting.rs` says why). Equal datatypes in
/// a row are looked at once.
pub fn may_rendezvous(messages: &[Message]) -> bool {
    let mut last: Option<(Datatype, u64)> = None;
    messages.iter().any(|message| {
        let element = last.filter(|of| of.0 == message.datatype).map_or_else(
            // MPI has accepted the datatype
            || bytes(&Message { count: 1, ..*message }).unwrap_or(0),
            |of| of.1,
        );
        last = Some((message.datatype, element));
        element.saturating_mul(to_int(message.count)) > EAGER
    })
}

/// Returns the process at the other end of a message; `None` for `MPI_PROC_NULL`.
fn rank_of(peer: i32) -> Option<u32> {
    if peer == proc_null() { None } else { Some(to_u32(peer)) }
}

/// Notes that messages to or from a process no longer match. A message to or from nobody has
/// nothing that another one could be taken for.
#[cold]
fn mismatch(comm: &Comm, peer: i32) {
    if let Some(rank) = rank_of(peer) {
        comm.mismatch(rank);
    }
}

impl Requests {
    /// Waits until all are complete, and leaves it to `test` to complete them. Returns false if the
    /// process has waited so long that it should check for dead ones.
    #[inline]
    pub fn settle(&self, patience: &mut Patience) -> bool {
        for &request in &self.requests[..self.used] {
            while !is_complete(request) {
                if patience.is_over() {
                    return false;
                }
            }
        }
        true
    }

    /// Returns the positions of incomplete requests.
    #[cold]
    pub fn pending(&self) -> Vec<usize> {
        (0..self.used).filter(|&position| !is_complete(self.requests[position])).collect()
    }

    /// Gives up messages, whose requests are no longer waited for; `receives` returns true for the
    /// positions of receives. Returns the fate of each.
    #[cold]
    pub fn give_up(&mut self, positions: &[usize], receives: impl Fn(usize) -> bool) -> Vec<Lost> {
        let requests = &mut self.requests[..self.used];
        let cancelled: Vec<usize> = positions.iter().copied().filter(|&position| receives(position)).collect();
        let mut outcomes = withdraw_all(requests, &cancelled).into_iter();
        let fate = |&position: &usize| {
            if receives(position) {
                return outcomes.next().unwrap_or(Lost::Gone);
            }
            // a request that MPI still uses must not be freed
            requests[position] = null();
            Lost::Stuck
        };
        positions.iter().map(fate).collect()
    }

    /// Gives up all messages and empties the list. Returns true if MPI may still access some of the
    /// memory, which must then never be freed or reused.
    #[cold]
    pub fn abandon(&mut self, receives: impl Fn(usize) -> bool) -> bool {
        let stuck = self.give_up(&self.pending(), receives).contains(&Lost::Stuck);
        // SAFETY: requests that are complete or null, and as many statuses. Errors cannot be
        // reported.
        unsafe { mpi_sys::MPI_Waitall(to_int(self.used), self.requests.as_mut_ptr(), self.statuses.as_mut_ptr()) };
        self.clear();
        self.failed = None;
        stuck
    }
}

impl Requests {
    /// Exchanges words with some processes during a set call, and waits until all have come. `out`
    /// and `into` have the ranks. The list must be empty.
    ///
    /// # Errors
    /// A process has died, or MPI fails. The words that MPI may still access are leaked.
    pub fn exchange(
        &mut self,
        out: &mut Vec<(u32, Vec<u32>)>,
        into: &mut Vec<(u32, Vec<u32>)>,
        tag: c_int,
        comm: &Comm,
    ) -> Result<()> {
        comm.is_whole()?;
        let exchanged = self.exchange_words(out, into, tag, comm);
        if exchanged.as_ref().is_err_and(|(_, stuck)| *stuck) {
            std::mem::forget((std::mem::take(out), std::mem::take(into)));
        }
        exchanged.map_err(|(error, _)| liveness::explain(error, comm.view(), Some(comm)))
    }

    /// The same. An error comes with whether MPI may still access words.
    fn exchange_words(
        &mut self,
        out: &mut [(u32, Vec<u32>)],
        into: &mut [(u32, Vec<u32>)],
        tag: c_int,
        comm: &Comm,
    ) -> std::result::Result<(), (Box<Error>, bool)> {
        let message = |(rank, words): &mut (u32, Vec<u32>)| -> Result<Message> {
            let too_many = |_| Error::Internal(format!("{} words are too many for one message to process {rank}", words.len()));
            let count = i32::try_from(words.len()).map_err(too_many)?;
            Ok(Message { at: words.as_mut_ptr().cast(), count, datatype: uint32(), peer: to_int(*rank) })
        };
        let messages = |list: &mut [(u32, Vec<u32>)]| list.iter_mut().map(message).collect::<Result<Vec<Message>>>();
        let none = |error| (error, false);
        let (sends, receives) = (messages(out).map_err(none)?, messages(into).map_err(none)?);
        self.reserve(sends.len() + receives.len());
        // SAFETY: the words live, and nobody else touches them, until the requests are complete;
        // the caller leaks them otherwise.
        let posted = unsafe { self.post_receives(&receives, tag, comm).and_then(|()| self.post_sends(&sends, tag, comm)) };
        posted.map_err(|e| (e, self.abandon(|i| i < receives.len())))?;
        // others may need this core to answer
        let (mut patience, mut backoff) = (Patience::default(), Backoff::new(super::resting(Pace::YIELDING)));
        while !self.is_empty() && !self.test().map_err(|(_, error)| (error, false))? {
            if patience.is_over() {
                patience.look_at_all(comm).map_err(|e| {
                    self.abandon(|i| i < receives.len());
                    (e, true)
                })?;
            }
            coll::advance_others();
            backoff.snooze();
        }
        Ok(())
    }
}

impl Requests {
    /// Starts the receive of a probed message. Room for the request must have been reserved.
    ///
    /// # Safety
    /// As for `post_receives`; `message` must have room for the message.
    #[expect(clippy::needless_pass_by_value, reason = "a probed message is received once")]
    pub unsafe fn post_probed(&mut self, probed: Probed, message: &Message, comm: &Comm) -> Result<()> {
        let Some(mut handle) = probed.message else {
            // SAFETY: the caller vouches for the buffer.
            return unsafe { self.post_receives(&[*message], probed.status.tag, comm) };
        };
        let request = &mut self.requests[self.used];
        // SAFETY: the caller vouches for the buffer; the handle is of a message that no one else
        // has.
        let rc = unsafe { mpi_sys::MPI_Imrecv(message.at.cast(), message.count, message.datatype.raw(), &mut handle, request) };
        check(rc, "MPI_Imrecv")?;
        self.used += 1;
        Ok(())
    }
}
