//! Requests: collectives that one call starts and another completes, once (nonblocking) or any
//! number of times (persistent).
//!
//! Each request binds an executor of its own, so that any number of requests can be active on a
//! neighborhood. If a start posts all messages, MPI alone completes them. Otherwise the request
//! joins the process's list of requests that need progress, and each call that waits or tests
//! advances all of them.
//!
//! Starting costs as much as a blocking call without binding. Nonblocking calls bind, reuse the
//! executor of an earlier call, and allocate the request; if datatypes are needed after the start
//! (rounds, reductions) they duplicate derived ones.

// inline(always): plans with blocks of 8 B take 10 % less time, together with that in `exec/shm`
// (benches/fuse.c).

use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::collective::fuse::Rule;
use crate::collective::handle::BoundNeighborhood;
use crate::datatype::buffers::Buffers;
use crate::error::{Argument, Error, Result};
use crate::exec::Executor;
use crate::mpi::{device, message};
use crate::util::lock::lock;

mod state;

use state::State;
pub use state::{Arrived, Lifetime};

/// A collective that one call starts and another completes.
pub struct Request {
    bound: Arc<BoundNeighborhood>,
    persistent: bool,
    active: bool,
    /// Number of the current start in the trace.
    mark: u64,
    home: Home,
}

/// Where a request's state lives. The common case is stored inline.
#[allow(clippy::large_enum_variant)]
enum Home {
    /// In the request: it needs no progress by others.
    Own(State),
    /// Also in the process's list of requests that need progress.
    Shared(Arc<Mutex<State>>),
}

impl Request {
    /// Makes a request for a collective: bound, not started.
    ///
    /// # Safety
    /// The buffers must be what the C prototypes ask for until the request is complete or, if it is
    /// persistent, freed.
    pub unsafe fn new(bound: &Arc<BoundNeighborhood>, fields: &[Buffers], rule: Rule, lifetime: Lifetime) -> Result<Request> {
        let persistent = lifetime.is_persistent();
        device::look();
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            let state = if bound.verifies() {
                let mut state = State::verified(bound, Ok(fields), fields.len())?;
                if let Some(e) = state.verification.as_ref().and_then(|v| v.error.clone()) {
                    return Err(e);
                }
                if persistent {
                    state.settle();
                }
                if lifetime == Lifetime::PrivateMatching
                    && let Some(verification) = &mut state.verification
                {
                    // one for each, however many fields the ends think that it has
                    verification.alone = Some(bound.tags().private_number(1));
                }
                state
            } else {
                let mut state = State::unverified(bound, fields, rule, lifetime)?;
                if lifetime == Lifetime::PrivateMatching {
                    state.private = Some(bound.tags().private_matching(&mut state.tags, message::largest_tag()?)?);
                }
                state
            };
            let own = state.verification.is_none() && state.leases.iter().all(|lease| lease.executor.posts_at_once());
            let home = if own { Home::Own(state) } else { Home::Shared(Arc::new(Mutex::new(state))) };
            Ok(Request { bound: Arc::clone(bound), persistent, active: false, mark: 0, home })
        }
    }

    /// Runs a verified collective of `count` fields to completion, even if the arguments are in
    /// error: neighbors wait to hear of it.
    ///
    /// # Safety
    /// As for `new`.
    pub unsafe fn verified(bound: &Arc<BoundNeighborhood>, fields: Result<&[Buffers]>, count: usize) -> Result<()> {
        device::look();
        // SAFETY: the caller vouches for the buffers.
        let state = unsafe { State::verified(bound, fields, count) }?;
        let home = Home::Shared(Arc::new(Mutex::new(state)));
        let mut request = Request { bound: Arc::clone(bound), persistent: false, active: false, mark: 0, home };
        request.begin()?;
        request.wait()
    }

    /// Fails if it is no persistent request that can be started. Errors call it `argument`.
    #[inline(always)]
    pub fn may_start(&self, argument: Argument) -> Result<()> {
        if !self.persistent {
            return Err(Error::NotPersistent { argument }.into());
        }
        if self.active {
            return Err(Error::Active { argument }.into());
        }
        self.usable(argument)
    }

    /// Returns an error if the neighborhood no longer exists.
    #[inline(always)]
    fn usable(&self, argument: Argument) -> Result<()> {
        if self.bound.is_orphaned() {
            return Err(Error::FreedCommunicator { argument }.into());
        }
        if self.bound.is_stale() {
            return Err(Error::Stale { argument }.into());
        }
        Ok(())
    }

    /// Starts the bound collective.
    #[inline(always)]
    pub fn begin(&mut self) -> Result<()> {
        if self.bound.record().is_some() {
            return self.begin_observed();
        }
        self.begin_unobserved()
    }

    #[cold]
    fn begin_observed(&mut self) -> Result<()> {
        let bound = Arc::clone(&self.bound);
        let Some(record) = bound.record() else { return self.begin_unobserved() };
        let call = record.begin();
        self.mark = record.under_way();
        let begun = self.begin_unobserved().inspect_err(|_| record.over(self.mark));
        record.end(&call, Some("start"));
        begun
    }

    #[inline(always)]
    fn begin_unobserved(&mut self) -> Result<()> {
        let (tags, outstanding) = (self.bound.tags(), self.bound.outstanding());
        match &mut self.home {
            Home::Own(state) => {
                state.take_tags(&self.bound)?;
                state.start()?;
            }
            Home::Shared(shared) => {
                {
                    let mut state = lock(shared);
                    state.take_tags(&self.bound)?;
                    state.start()?;
                    if state.takes_tags() {
                        tags.hold(&state.tags);
                    }
                }
                outstanding.add(Arc::clone(shared) as _);
            }
        }
        self.active = true;
        Ok(())
    }

    /// True if it has been started and not completed.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// True if it can be started again.
    pub fn is_persistent(&self) -> bool {
        self.persistent
    }

    /// True if its communicator has been freed.
    pub fn is_orphaned(&self) -> bool {
        self.bound.is_orphaned()
    }

    /// Length of the source list.
    pub fn sources(&self) -> usize {
        self.bound.neighborhood().sources().len()
    }

    /// Advances all active requests of the process, on all communicators.
    pub fn advance_all(&self) {
        self.bound.outstanding().advance();
    }

    /// Makes progress without waiting. Returns true if the operation is done or the request is not
    /// active. Does not complete the request.
    pub fn test(&mut self) -> bool {
        if !self.active {
            return true;
        }
        match &mut self.home {
            Home::Own(state) => state.test(),
            Home::Shared(shared) => lock(shared).test(),
        }
    }

    /// Waits for the operation and completes the request.
    #[inline(always)]
    pub fn wait(&mut self) -> Result<()> {
        if !self.active {
            return Ok(());
        }
        let (bound, home) = (&self.bound, &mut self.home);
        let outstanding = bound.outstanding();
        waiting(bound, || match home {
            Home::Own(state) => match &mut state.leases[..] {
                // nothing else needs progress by this process
                [lease] if outstanding.is_empty() => {
                    if let Err(e) = lease.executor.wait() {
                        state.note(e);
                    }
                    Ok(())
                }
                _ => outstanding.until(bound.yields(), || Ok(state.test())),
            },
            Home::Shared(shared) => outstanding.until(bound.yields(), || Ok(lock(shared).test())),
        })?;
        self.complete()
    }

    /// Completes the request after `test` has returned true.
    #[inline(always)]
    pub fn complete(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.active, false) {
            return Ok(());
        }
        let (bound, persistent) = (&self.bound, self.persistent);
        if let Some(record) = bound.record() {
            record.over(self.mark);
        }
        let failure = match &mut self.home {
            Home::Own(state) => state.complete(bound, persistent),
            Home::Shared(shared) => {
                bound.outstanding().remove(shared);
                let mut state = lock(shared);
                if state.takes_tags() {
                    bound.tags().release(&state.tags);
                }
                state.complete(bound, persistent)
            }
        };
        match failure {
            Some(e) => Err(e),
            None if bound.is_orphaned() => Err(Error::FreedCommunicator { argument: Argument::new("request") }.into()),
            None => Ok(()),
        }
    }

    /// Returns true if the block of a source has arrived and may be read; in a reduction, if the
    /// result includes it. Also true if the request is not active.
    pub fn arrived(&mut self, source: usize) -> Result<bool> {
        if !self.active {
            return Ok(true);
        }
        self.test();
        match &mut self.home {
            Home::Own(state) => state.tell(source),
            Home::Shared(shared) => lock(shared).tell(source),
        }
    }

    /// Reports up to `most` sources, in ascending order, that have arrived and have not been
    /// reported.
    pub fn untold(&mut self, most: usize, tell: &mut impl FnMut(usize)) -> Result<Arrived> {
        if !self.active {
            return Ok(Arrived::All);
        }
        match &mut self.home {
            Home::Own(state) => state.untold(most, tell),
            Home::Shared(shared) => lock(shared).untold(most, tell),
        }
    }

    /// Waits until `done` returns true, advancing all requests meanwhile.
    pub fn until(&mut self, mut done: impl FnMut(&mut Request) -> Result<bool>) -> Result<()> {
        let bound = Arc::clone(&self.bound);
        waiting(&bound, || bound.outstanding().until(bound.yields(), || done(self)))
    }
}

/// Runs `wait`, and records how long that takes.
#[inline(always)]
fn waiting(bound: &BoundNeighborhood, wait: impl FnOnce() -> Result<()>) -> Result<()> {
    let began = bound.record().map(|_| Instant::now());
    let waited = wait();
    if let (Some(record), Some(began)) = (bound.record(), began) {
        record.waited(began);
    }
    waited
}
