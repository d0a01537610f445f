//! A window as its process uses it: operations and flush.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use super::batch::{Content, Kind};
use super::elements::Dense;
use super::guarded::{Guarded, Held};
use super::issue::{One, Operations};
use super::runs::{are_within, run_of};
use super::state::State;
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::{self, Patience};
use crate::mpi::posted::PostedReceives;
use crate::mpi::{self, MPI_Op, Op, message};
use crate::observe::{self, Record};
use crate::progress::{Advance, Outstanding};
use crate::select::hints::SparseHints;
use crate::sparse;
use crate::util::backoff::{Backoff, Pace, Rest};
use crate::util::cast::{to_int, to_offset, to_u32, to_usize};

/// The fewest evenly spaced elements that are sent as a run.
const SHORTEST_RUN: usize = 4;

/// Operations between two looks at what has come, if they fill no batch.
pub const OPERATIONS: usize = 256;

/// A window that its object, the list of what must progress, and nothing else share.
pub type SharedWindow = Arc<Guarded<Window>>;

/// A window.
pub struct Window {
    pub(super) state: State,
    /// For messages from other nodes. `None` if there are none, and once closed.
    pub(super) receives: Option<PostedReceives>,
    pub(super) comm: Arc<Comm>,
    pub(super) rank: u32,
    /// Elements of each process.
    pub(super) counts: Vec<u64>,
    /// Processes that may not have applied all operations.
    pub(super) listed: Vec<u32>,
    /// Whose exchanges end the epochs.
    pub(super) exchanges: sparse::SharedContext,
    pub(super) hints: SparseHints,
    /// True if a waiting process must yield its core.
    pub(super) yields: bool,
    pub(super) oversubscribed: bool,
    pub(super) outstanding: Arc<Outstanding>,
    /// Its entry there.
    pub(super) progress: Arc<Mutex<Progress>>,
    pub(super) patience: Patience,
    /// Operations until the next look at what has come.
    pub(super) until_poll: usize,
    /// The elements, if single operations on them may take the short way ([`Window::issue_one`]).
    pub(super) words: Option<Dense>,
    /// True while a fence is under way, which has sent the last operations of the epoch.
    pub(super) is_fencing: bool,
    /// The error that ended the window. It goes no further.
    pub(super) failure: Option<Box<Error>>,
}

// SAFETY: it holds addresses in the caller's buffers, which whoever calls may access, memory of its
// own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Window {}

/// Moves a window forward while the process waits for something else.
pub struct Progress(pub(super) Weak<Guarded<Window>>);

impl Advance for Progress {
    fn advance(&mut self) {
        let Some(window) = self.0.upgrade() else { return };
        let Some(mut window) = window.hold_if_free() else { return };
        // one that has failed goes on serving others, which are not to wait for it; it keeps errors
        let polled = window.poll();
        let _ = window.keep(polled);
    }
}

impl Window {
    /// Begins a call that is counted, if calls are.
    pub(super) fn observe(&self) -> Option<(Arc<Record>, observe::Call)> {
        self.state.record.as_ref().map(|record| (Arc::clone(record), record.begin()))
    }

    /// Keeps an error that ends the window.
    pub(super) fn keep<T>(&mut self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            // that is a call out of place, and the failure, if there is one, is explained
            if self.failure.is_some() || matches!(*error, Error::WindowInUse) {
                return error;
            }
            let error = liveness::explain(error, self.comm.view(), Some(&*self.comm));
            self.failure = Some(error.clone());
            self.words = None;
            self.state.give_up_all();
            error
        })
    }

    /// Fails if a fence is under way.
    #[inline]
    pub fn check_free(&self) -> Result<()> {
        if self.is_fencing { Err(Error::WindowInUse.into()) } else { Ok(()) }
    }

    /// Fails if a fence is under way, or an earlier error has ended the window.
    #[inline]
    fn usable(&self) -> Result<()> {
        self.check_free()?;
        self.has_not_failed()
    }

    /// Fails if an earlier error has ended the window.
    #[inline]
    fn has_not_failed(&self) -> Result<()> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Returns the number of processes.
    pub fn size(&self) -> u32 {
        to_u32(self.counts.len())
    }

    /// Returns the bytes of an element's data.
    fn element_size(&self) -> usize {
        self.state.elements.size
    }

    /// Returns true if no element with data lies at NULL.
    #[inline]
    pub fn has_relative_elements(&self) -> bool {
        self.state.elements.are_relative()
    }

    /// Adds an operator of the program's.
    pub fn add_operator(&mut self, op: Op) -> Result<()> {
        let State { operators, elements, self_comm, .. } = &mut self.state;
        operators.add(op, elements, self_comm)
    }

    /// Takes what has come, answers, and takes back batches that have been sent. Never waits.
    /// Returns true if something has come.
    pub(super) fn poll(&mut self) -> Result<bool> {
        let sent = self.state.send_unsent();
        self.state.apply_early()?;
        let mut came = self.state.take_from_memory()?;
        if let Some(receives) = &mut self.receives {
            while let Some(status) = receives.test()? {
                let taken = self.state.take(status.source, receives.with_spare(), to_usize(status.bytes));
                let posted = receives.post();
                taken.and(posted)?;
                came = true;
            }
            self.state.reap()?;
        }
        sent.map(|()| came)
    }

    /// Issues an operation on one element the short way: it goes on with the last group of its
    /// target's batch, the caller's own one among them, or returns a word of the caller. Returns
    /// false, and does nothing, if it must take the long way, [`Held::issue`], which also finds
    /// what is wrong with it. Cannot panic.
    ///
    /// # Safety
    /// As for `issue`.
    // inline(always), and what it calls: with the kind known, a call takes two thirds of the time
    // (benches/onesided.c)
    #[inline(always)]
    pub unsafe fn issue_one(
        &mut self,
        kind: Kind,
        op: Option<MPI_Op>,
        values: [*const u8; 2],
        result: *mut u8,
        target: c_int,
        index: i64,
    ) -> bool {
        let Window { state, counts, words: Some(words), until_poll: left @ 1.., rank, .. } = self else { return false };
        let (words, target, index) = (*words, target.cast_unsigned(), index.cast_unsigned());
        // as unsigned numbers, negative ones are larger than any
        if counts.get(target as usize).is_none_or(|&count| index >= count) {
            return false;
        }
        let operator = match op {
            None => 0,
            Some(op) => match state.operators.number_if_last(op) {
                Some(number) => number,
                None => return false,
            },
        };
        let operation = One { kind, operator, index, values, result };
        // SAFETY: the caller vouches for values and places.
        let done = unsafe {
            if kind.returns() && target == *rank {
                state.apply_own_word(*rank, words, operation)
            } else {
                state.add_word(target, words.size, operation)
            }
        };
        *left -= usize::from(done);
        done
    }

    /// Closes a window that was not freed before MPI ends, and tells the others: one of them may be
    /// in a fence.
    pub(super) fn finalize(&mut self) {
        if self.size() > 1 && self.state.over.is_none() && mpi::is_usable() && self.comm.is_whole().is_ok() {
            self.state.tell_over(self.rank, self.state.epoch.wrapping_sub(1));
        }
        self.close();
    }

    /// Tells the others, which may wait for it at the end of an epoch, that this process leaves the
    /// window.
    #[cold]
    pub(super) fn leave(&mut self) {
        let last = self.state.epoch.wrapping_sub(1);
        self.state.over = self.failure.clone().map(|why| (last, why));
        self.state.tell_over(self.rank, last);
    }

    /// Ends the receives. After an error, or if the window was not freed, messages may be on their
    /// way, whose memory stays. Where not all processes free the window, its communicators stay,
    /// too: messages must not meet the receives of a later one, nor can MPI's windows be freed by
    /// some.
    pub(super) fn close(&mut self) {
        if self.state.over.is_some() {
            std::mem::forget((Arc::clone(&self.comm), Arc::clone(&self.exchanges)));
        }
        self.receives = None;
        self.state.abandon(self.failure.is_some());
        self.state.elements.close();
    }
}

impl Held<'_, Window> {
    /// Waits until `done` returns true. Fails if a process ends before, of `wanted`, or if that is
    /// empty of all.
    pub(super) fn wait(&mut self, wanted: &[u32], mut done: impl FnMut(&mut Window) -> bool) -> Result<()> {
        if done(self) {
            return Ok(());
        }
        let observed = self.state.record.as_ref().map(|record| (Arc::clone(record), Instant::now()));
        let waited = self.wait_until(wanted, done);
        if let Some((record, begin)) = observed {
            record.waited(begin);
        }
        waited
    }

    fn wait_until(&mut self, wanted: &[u32], mut done: impl FnMut(&mut Window) -> bool) -> Result<()> {
        let in_memory = self.receives.is_none();
        let mut backoff = Backoff::new(match (in_memory, self.oversubscribed) {
            (true, false) => Pace::OWN_CORE,
            (true, true) => Pace::SHARED_CORE,
            (false, false) => Pace::POLLING,
            (false, true) => Pace::EXCHANGE,
        });
        self.patience.restart();
        let outstanding = Arc::clone(&self.outstanding);
        while !done(self) {
            self.let_others();
            let came = self.poll()?;
            self.state.check_epoch()?;
            if came {
                backoff.reset();
                continue;
            }
            // this window is on the list, too
            if outstanding.has_others(true) {
                outstanding.advance();
            }
            let turn = backoff.turn();
            if in_memory && turn.enters_mpi {
                // other messages progress
                message::progress(self.comm.view())?;
            }
            match turn.rest {
                Rest::None => {}
                Rest::Pause => Rest::Pause.take(),
                // MPI yields by itself, if it does, only where it is polled
                Rest::Yield | Rest::Sleep if in_memory || self.yields => Rest::Yield.take(),
                Rest::Yield | Rest::Sleep => {}
            }
            let Window { patience, comm, .. } = &mut **self;
            if patience.is_over() {
                if wanted.is_empty() {
                    patience.look_at_all(comm)?;
                } else if let Some(&dead) = patience.look(comm.view(), wanted.iter().copied()).first() {
                    return Err(comm.lose(dead));
                }
            }
        }
        Ok(())
    }

    /// Notes that a process may not have applied all operations.
    fn list(&mut self, target: u32) {
        if !std::mem::replace(&mut self.state.peer(target).listed, true) {
            self.listed.push(target);
        }
    }

    /// Sends a process's batch, once that process has acknowledged enough of the earlier ones.
    fn ship(&mut self, target: u32, content: Content) -> Result<()> {
        if !self.state.peer(target).takes_another() {
            self.wait(&[target], |window| window.state.peer(target).takes_another())?;
            // whatever another thread has done, or met, meanwhile
            self.usable()?;
        }
        let batch = self.state.take_batch(target)?;
        self.state.send(target, content, batch)?;
        self.poll().map(drop)
    }

    /// Adds operations to the batch of their target, and sends it whenever it is full. Operations
    /// on elements of the caller are done at once, or wait in a batch for the next flush or fence.
    ///
    /// # Safety
    /// The values must be readable. The places of results must be writable, and be left alone,
    /// until the operations are flushed.
    pub unsafe fn issue(&mut self, operations: &Operations) -> Result<()> {
        self.usable()?;
        let mut operations = *operations;
        // MPI_NO_OP takes no values
        let changes_nothing = operations.op.is_some_and(Op::is_no_op);
        if changes_nothing && operations.kind == Kind::FetchAndOp {
            (operations.kind, operations.op) = (Kind::Get, None);
        }
        let Operations { kind, op, target, indices, .. } = operations;
        let count = self.counts[target as usize];
        let run = run_of(indices);
        if !are_within(indices, run, count) {
            return Err(outside(indices, target, count));
        }
        if changes_nothing && kind == Kind::Accumulate {
            return Ok(());
        }
        let operator = match op {
            None => 0,
            Some(op) => {
                let State { operators, elements, self_comm, .. } = &mut self.state;
                operators.number(op, elements, self_comm)?
            }
        };
        // SAFETY: the caller vouches for values and places.
        let issued = unsafe {
            if target == self.rank { self.issue_own(&operations, operator) } else { self.add(&operations, operator, run) }
        };
        if let Some(record) = &self.state.record {
            record.used(kind as usize, indices.len());
        }
        let polled = issued.and_then(|()| match self.until_poll.checked_sub(indices.len()) {
            Some(left) => {
                self.until_poll = left;
                Ok(())
            }
            None => {
                self.until_poll = OPERATIONS;
                self.poll().map(drop)
            }
        });
        self.keep(polled)
    }

    /// Does operations on elements of the caller, or adds them to a batch that
    /// [`Window::issue_one`] goes on with.
    ///
    /// # Safety
    /// As for `issue`.
    unsafe fn issue_own(&mut self, operations: &Operations, operator: u8) -> Result<()> {
        let rank = self.rank;
        self.state.apply_waiting(rank);
        // SAFETY: the caller vouches for values and places.
        unsafe {
            if self.words.is_some()
                && operations.indices.len() == 1
                && self.state.may_wait(operations.kind, operator)
                && self.state.batch(rank).is_ok()
            {
                self.state.add_one(operations, operator, 0)
            } else {
                self.state.apply_own(operations, operator)
            }
        }
    }

    /// Adds operations to the batch of another process. `run` is what `run_of` says of them.
    ///
    /// # Safety
    /// As for `issue`.
    unsafe fn add(&mut self, operations: &Operations, operator: u8, mut run: (usize, i64)) -> Result<()> {
        let Operations { kind, origin, compare, result, target, indices, .. } = *operations;
        let (size, extent) = (self.element_size(), self.state.elements.extent());
        if !indices.is_empty() {
            self.list(target);
        }
        let mut k = 0;
        while k < indices.len() {
            let (length, distance) = run;
            let is_run = length >= SHORTEST_RUN && kind != Kind::CompareAndSwap;
            // the last element of what is no run may begin one
            let end = k + if is_run { length } else { (length - 1).max(1) };
            while k < end {
                if !is_run && let Some(words) = self.words {
                    let offset = to_offset(extent.wrapping_mul(to_int(k)));
                    let values = [origin.wrapping_offset(offset), compare.wrapping_offset(offset)];
                    let (index, result) = (indices[k].cast_unsigned(), result.wrapping_offset(offset));
                    let operation = One { kind, operator, index, values, result };
                    // SAFETY: the caller vouches for values and places.
                    if unsafe { self.state.add_word(target, words.size, operation) } {
                        k += 1;
                        continue;
                    }
                }
                let batch = self.state.batch(target)?;
                let room = if is_run { batch.run_room(kind, size) } else { batch.takes_one(kind, size).into() };
                if room == 0 {
                    self.ship(target, Content::Operations)?;
                    // another thread may have flushed it meanwhile
                    self.list(target);
                    continue;
                }
                let now = room.min(end - k);
                // SAFETY: the caller vouches for values and places.
                unsafe {
                    if is_run {
                        self.state.add_run(operations, operator, k, now, distance)?;
                    } else {
                        self.state.add_one(operations, operator, k)?;
                    }
                }
                if kind.returns() {
                    let at = to_offset(extent.wrapping_mul(to_int(k)));
                    self.state.expect(target, result.wrapping_offset(at), now);
                }
                k += now;
            }
            run = run_of(&indices[k..]);
        }
        Ok(())
    }

    /// Notes all processes that have not said that they have applied what was sent there, in
    /// earlier epochs, too.
    pub(super) fn list_unacknowledged(&mut self) {
        for rank in 0..self.size() {
            if self.state.peers[rank as usize].as_ref().is_some_and(|peer| !peer.has_applied_all()) {
                self.list(rank);
            }
        }
    }

    /// Waits until the caller's operations have been applied, and what they return has come. Fails
    /// if one of them could not be applied; the window goes on.
    pub fn flush(&mut self) -> Result<()> {
        self.usable()?;
        let observed = self.observe();
        let flushed = self.flush_all();
        if let Some((record, call)) = observed {
            record.end(&call, Some("flush"));
        }
        self.keep(flushed)?;
        if std::mem::take(&mut self.state.unapplied) { self.state.loss.clone().map_or(Ok(()), Err) } else { Ok(()) }
    }

    fn flush_all(&mut self) -> Result<()> {
        let rank = self.rank;
        self.state.apply_waiting(rank);
        // what other threads add meanwhile is theirs to flush
        let listed = self.listed.clone();
        let mut sent = Vec::with_capacity(listed.len());
        for &target in &listed {
            let peer = self.state.peer(target);
            if peer.has_operations() || !peer.has_applied_all() {
                self.ship(target, Content::Urgent)?;
            }
            sent.push(self.state.peer(target).sent);
        }
        if !listed.is_empty() {
            // a process acknowledges a batch with or after what that returns
            self.wait(&listed, |window| {
                listed.iter().zip(&sent).all(|(&target, &sent)| window.state.peer(target).has_applied(sent))
            })?;
            // an error that another thread has met gives up the results of all
            self.has_not_failed()?;
        }
        let Window { state, listed, .. } = &mut **self;
        listed.retain(|&target| {
            let peer = state.peer(target);
            peer.listed = peer.has_operations() || !peer.has_applied_all();
            peer.listed
        });
        Ok(())
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the error of an index outside of a process's elements.
#[cold]
fn outside(indices: &[i64], target: u32, count: u64) -> Box<Error> {
    let k = indices.iter().position(|index| index.cast_unsigned() >= count).unwrap_or_default();
    Error::WindowIndex { argument: Argument::at("indices", k), value: indices[k], target, count }.into()
}
