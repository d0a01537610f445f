//! Requests: collectives that one call starts and another one completes, once (nonblocking) or any
//! number of times (persistent).
//!
//! A request binds an executor of its own, so that any number of them may be under way on a
//! neighborhood. Where all messages are posted at the start MPI alone moves them. Else the request
//! stands in the process's list of those that must be moved forward, and each call that waits or
//! tests does so for all of them.
//!
//! Cost of a start: that of a blocking call without binding. Nonblocking calls bind, take an
//! executor that an earlier one has used, and allocate the request; where datatypes are needed
//! after the start (rounds, reductions) they duplicate derived ones.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use smallvec::SmallVec;

use crate::collective::fuse::{Joined, Rule};
use crate::collective::handle::{COLLECTIVES, Loan, Slot, no_buffers};
use crate::collective::verify::{Check, Findings};
use crate::datatype::buffers::Buffers;
use crate::error::{Argument, Error, Result};
use crate::exec::Executor;
use crate::exec::lasting::Lasting;
use crate::exec::tags::MOST_FIELDS;
use crate::mpi::{MPI_Comm, device, message};
use crate::progress::Advance;
use crate::schedule::Schedule;

/// What a call moves: one field, or several that are exchanged together.
pub type Fields<'a> = SmallVec<[Buffers<'a>; 1]>;

/// How often a request runs, and what its starts match with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Once.
    Once,
    /// Any number of times; all starts match in their order.
    Persistent,
    /// Any number of times; its starts match with one another alone. (Where collectives are
    /// verified as `Persistent`.)
    MatchingAlone,
}

/// A collective that is started and completed.
pub struct Request {
    slot: Arc<Slot>,
    user: MPI_Comm,
    persistent: bool,
    active: bool,
    /// Number of the start in a trace.
    mark: u64,
    run: Run,
}

/// Where a request's state is. The one that most need is not behind another address.
#[allow(clippy::large_enum_variant)]
enum Run {
    /// With the request alone, as nobody else needs to move it.
    Own(State),
    /// Also in the list of what must be moved forward.
    Shared(Arc<Mutex<State>>),
}

/// What runs.
struct State {
    loans: SmallVec<[Loan; 1]>,
    /// One for each field, at both ends of an edge, so that both count alike.
    tags: SmallVec<[i32; 1]>,
    /// Whether on all processes all messages are posted at the start.
    one_round: bool,
    /// Whether the tags are nobody else's, and stay.
    alone: bool,
    /// Keeps arrays and datatypes for what is done after the start.
    lasting: Vec<Lasting>,
    joined: Option<Joined>,
    verification: Option<Box<Verification>>,
    /// The first error.
    failure: Option<Box<Error>>,
    /// Sources that the caller has been told of.
    told: Vec<bool>,
}

/// What a verified call needs beyond others.
struct Verification {
    slot: Arc<Slot>,
    schedule: Arc<Schedule>,
    /// What is wrong with the process's own arguments.
    error: Option<Box<Error>>,
    /// The same of a self edge, which is compared with all others.
    self_edge: Option<Box<Error>>,
    check: Option<Check>,
    /// What came of that, until it is this call's turn.
    findings: Option<Result<Findings>>,
    /// Its turn among verified calls; `None` when it has come to its end.
    turn: Option<u32>,
    /// What runs in the place of the request's own executors, where not all edges are good.
    instead: Option<SmallVec<[Loan; 1]>>,
}

/// What became of a wish for sources that have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// There were some, which are told for the first time.
    Some,
    /// None at the moment.
    NotYet,
    /// All have been told.
    All,
}

impl State {
    fn note(&mut self, error: Box<Error>) {
        self.failure.get_or_insert(error);
    }

    /// What runs at the moment.
    fn running(&mut self) -> &mut [Loan] {
        match &mut self.verification {
            Some(verification) => match &mut verification.instead {
                Some(instead) => instead,
                None => &mut self.loans,
            },
            None => &mut self.loans,
        }
    }

    /// Starts what is bound.
    #[inline(always)]
    fn start(&mut self) -> Result<()> {
        self.failure = None;
        self.told.fill(false);
        if let Some(verification) = &mut self.verification {
            verification.instead = None;
            return self.verify();
        }
        if (self.joined.is_some() || self.loans.len() > 1) && self.is_lost() {
            return Err(Error::Lost.into());
        }
        self.start_all()
    }

    /// Returns whether a start has failed half-way: then nothing is posted by another one, which
    /// would leave out some messages.
    #[inline(always)]
    fn is_lost(&self) -> bool {
        self.joined.as_ref().is_some_and(Joined::is_lost) || self.loans.iter().any(|loan| loan.executor.is_lost())
    }

    #[inline(always)]
    fn start_all(&mut self) -> Result<()> {
        if let Some(joined) = &mut self.joined {
            // SAFETY: whoever made the request vouches for the buffers.
            let put = unsafe { joined.put() };
            if let Err(e) = put {
                // neighbors count on the others
                self.note(e);
            }
        }
        for k in 0..self.loans.len() {
            let tag = self.tags[self.loans[k].tag];
            if let Err(e) = self.loans[k].executor.start(tag) {
                if let Some(joined) = &mut self.joined {
                    joined.lose();
                }
                // neighbors that have compared what they do count on the other fields
                if k == 0 && self.verification.is_none() {
                    return Err(e);
                }
                // the others run to their end
                self.note(e);
            }
        }
        Ok(())
    }

    /// Lets the ends of all edges compare what they are about to do.
    #[cold]
    fn verify(&mut self) -> Result<()> {
        let lost = self.is_lost();
        let Some(verification) = &mut self.verification else { return Ok(()) };
        let slot = &verification.slot;
        let fields: Fields = self.lasting.iter().map(Lasting::buffers).collect();
        // the other ends are told, as of any error in the arguments
        let fields = match &verification.error {
            Some(e) => Err(e.clone()),
            None if lost => Err(Error::Lost.into()),
            None => Ok(&fields[..]),
        };
        // SAFETY: the datatypes are alive, as the request keeps them.
        let check = unsafe { Check::begin(slot.neighborhood(), fields, slot.operation() as usize, slot.comm()) }?;
        verification.check = Some(check);
        verification.turn = Some(slot.tags().take_turn());
        Ok(())
    }

    /// Goes on when all have told. Whatever fails is noted: what has been started runs to its end.
    #[cold]
    fn go_on(&mut self, findings: Result<Findings>) {
        let Some(verification) = &mut self.verification else { return };
        let findings = match findings {
            Ok(Findings { text: None, .. }) => {
                if let Some(e) = verification.self_edge.clone() {
                    self.note(e);
                } else if let Err(e) = self.start_all() {
                    self.note(e);
                }
                return;
            }
            Ok(Findings { text: Some(ref text), .. }) => {
                self.note(Error::Verification(text.clone()).into());
                findings.ok()
            }
            Err(e) => {
                self.note(e);
                None
            }
        };
        let Some(verification) = &mut self.verification else { return };
        let (instead, mut failed) = (verification.instead.insert(SmallVec::new()), None);
        for (k, &tag) in self.tags.iter().enumerate() {
            let lent = verification.slot.lend_for_good(&verification.schedule, findings.as_ref());
            let Some(mut loan) = lent else { continue };
            let buffers = match self.lasting.get(k) {
                Some(lasting) if findings.is_some() => lasting.buffers(),
                _ => no_buffers(),
            };
            // SAFETY: whoever made the request vouches for the buffers.
            let started = unsafe { loan.executor.bind(&buffers) }.and_then(|()| loan.executor.start(tag));
            instead.push(loan);
            failed = failed.or(started.err());
        }
        if let Some(e) = failed {
            self.note(e);
        }
    }

    /// Does what can be done without waiting. Whether all has come to its end.
    fn test(&mut self) -> bool {
        if self.verification.is_some() && !self.test_verification() {
            return false;
        }
        let mut done = true;
        for k in 0..self.running().len() {
            match self.running()[k].executor.test() {
                Ok(ended) => done &= ended,
                Err(e) => self.note(e),
            }
        }
        if done && self.verification.is_some() {
            self.end_turn();
        }
        done
    }

    /// Whether the comparison is over and the call runs.
    #[cold]
    fn test_verification(&mut self) -> bool {
        let Some(verification) = &mut self.verification else { return true };
        if let Some(check) = &mut verification.check {
            match check.test(verification.slot.comm()) {
                Ok(false) => return false,
                Ok(true) => verification.findings = verification.check.take().map(|check| check.finish(&COLLECTIVES)),
                Err(e) => {
                    verification.check = None;
                    verification.findings = Some(Err(e));
                }
            }
        }
        if verification.findings.is_some() {
            if verification.turn.is_some_and(|turn| !verification.slot.tags().is_turn(turn)) {
                return false;
            }
            if let Some(findings) = verification.findings.take() {
                self.go_on(findings);
            }
        }
        true
    }

    /// Lets the next verified call begin.
    #[cold]
    fn end_turn(&mut self) {
        if let Some(verification) = &mut self.verification
            && verification.turn.take().is_some()
        {
            verification.slot.tags().end_turn();
        }
    }

    /// Whether the block of a source has arrived, and is part of the result where it is reduced.
    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(e) = &self.failure {
            return Err(e.clone());
        }
        if self.verification.as_ref().is_some_and(|v| v.check.is_some() || v.findings.is_some()) {
            return Ok(false);
        }
        for loan in self.running() {
            if !loan.executor.arrived(source)? {
                return Ok(false);
            }
        }
        if let Some(joined) = &mut self.joined {
            // SAFETY: whoever made the request vouches for the buffers.
            if let Err(e) = unsafe { joined.take(source) } {
                self.note(e.clone());
                return Err(e);
            }
        }
        Ok(true)
    }

    /// Tells sources that have arrived and have not been told, `most` at the most.
    fn untold(&mut self, most: usize, tell: &mut impl FnMut(usize)) -> Result<Arrived> {
        self.test();
        let (mut found, mut pending) = (0, false);
        for source in 0..self.told.len() {
            if found == most {
                break;
            }
            if self.told[source] {
                continue;
            }
            match self.arrived(source) {
                Ok(true) => {
                    self.told[source] = true;
                    tell(source);
                    found += 1;
                }
                Ok(false) => pending = true,
                Err(e) if found == 0 => return Err(e),
                // the next call says it
                Err(_) => break,
            }
        }
        Ok(match (found, pending) {
            (0, true) => Arrived::NotYet,
            (0, false) => Arrived::All,
            _ => Arrived::Some,
        })
    }
}

impl Advance for State {
    fn advance(&mut self) {
        self.test();
    }
}

impl Request {
    /// A request for a collective, bound but not started.
    ///
    /// # Safety
    /// The buffers must be what the C prototypes ask for, until the request is complete, or freed
    /// if it is persistent.
    pub unsafe fn new(slot: &Arc<Slot>, user: MPI_Comm, fields: &[Buffers], rule: Rule, kind: Kind) -> Result<Request> {
        let persistent = kind != Kind::Once;
        device::look();
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            let state = if slot.verifies() {
                let state = State::verified(slot, Ok(fields), fields.len())?;
                if let Some(e) = state.verification.as_ref().and_then(|v| v.error.clone()) {
                    return Err(e);
                }
                state
            } else {
                let mut state = State::bound(slot, fields, rule, kind)?;
                if kind == Kind::MatchingAlone {
                    slot.tags().alone(&mut state.tags, message::largest_tag()?)?;
                    state.alone = true;
                }
                state
            };
            let alone = state.verification.is_none() && state.loans.iter().all(|loan| loan.executor.posts_at_once());
            let run = if alone { Run::Own(state) } else { Run::Shared(Arc::new(Mutex::new(state))) };
            Ok(Request { slot: Arc::clone(slot), user, persistent, active: false, mark: 0, run })
        }
    }

    /// Runs a verified collective of `count` fields to its end; also where the arguments are in
    /// error, as neighbors wait to hear of it.
    ///
    /// # Safety
    /// As for `new`.
    pub unsafe fn verified(slot: &Arc<Slot>, user: MPI_Comm, fields: Result<&[Buffers]>, count: usize) -> Result<()> {
        device::look();
        // SAFETY: the caller vouches for the buffers.
        let state = unsafe { State::verified(slot, fields, count) }?;
        let run = Run::Shared(Arc::new(Mutex::new(state)));
        let mut request = Request { slot: Arc::clone(slot), user, persistent: false, active: false, mark: 0, run };
        request.begin()?;
        request.wait()
    }

    /// Starts it. `argument` names it in errors.
    #[inline(always)]
    pub fn start(&mut self, argument: Argument) -> Result<()> {
        if self.active {
            return Err(Error::Active { argument }.into());
        }
        if !self.persistent {
            return Err(Error::NotPersistent { argument }.into());
        }
        self.usable(argument)?;
        self.begin()
    }

    /// An error if the neighborhood is no longer there.
    #[inline(always)]
    fn usable(&self, argument: Argument) -> Result<()> {
        if self.slot.is_orphaned() {
            return Err(Error::FreedCommunicator { argument }.into());
        }
        if self.slot.is_stale() {
            return Err(Error::Stale { argument }.into());
        }
        Ok(())
    }

    /// Starts what is bound.
    #[inline(always)]
    pub fn begin(&mut self) -> Result<()> {
        if self.slot.record().is_some() {
            return self.begin_observed();
        }
        self.begin_unobserved()
    }

    #[cold]
    fn begin_observed(&mut self) -> Result<()> {
        let slot = Arc::clone(&self.slot);
        let Some(record) = slot.record() else { return self.begin_unobserved() };
        let call = record.begin();
        self.mark = record.under_way();
        let begun = self.begin_unobserved();
        record.end(&call, Some("start"));
        begun
    }

    #[inline(always)]
    fn begin_unobserved(&mut self) -> Result<()> {
        let (tags, outstanding) = (self.slot.tags(), self.slot.outstanding());
        match &mut self.run {
            Run::Own(state) => {
                state.take_tags(&self.slot)?;
                state.start()?;
            }
            Run::Shared(shared) => {
                {
                    let mut state = lock(shared);
                    state.take_tags(&self.slot)?;
                    state.start()?;
                    state.tags.iter().for_each(|&tag| tags.hold(tag));
                }
                outstanding.add(Arc::clone(shared) as _);
            }
        }
        self.active = true;
        Ok(())
    }

    /// Whether it has been started and not completed.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether it can be started again.
    pub fn is_persistent(&self) -> bool {
        self.persistent
    }

    /// The communicator whose error handler is told of an error. `None` where it has been freed.
    pub fn user(&self) -> Option<MPI_Comm> {
        (!self.slot.is_orphaned()).then_some(self.user)
    }

    /// Entries of the source list.
    pub fn sources(&self) -> usize {
        self.slot.neighborhood().sources().len()
    }

    /// Moves all that is under way forward, on all communicators.
    pub fn advance_all(&self) {
        self.slot.outstanding().advance();
    }

    /// Does what can be done without waiting. Whether it has come to its end, or is not active; it
    /// is not completed by that.
    pub fn test(&mut self) -> bool {
        if !self.active {
            return true;
        }
        match &mut self.run {
            Run::Own(state) => state.test(),
            Run::Shared(shared) => lock(shared).test(),
        }
    }

    /// Waits for its end, and completes it.
    #[inline(always)]
    pub fn wait(&mut self) -> Result<()> {
        if !self.active {
            return Ok(());
        }
        let began = self.slot.record().map(|_| Instant::now());
        let outstanding = self.slot.outstanding();
        match &mut self.run {
            Run::Own(state) => match &mut state.loans[..] {
                // nothing else is under way that MPI alone would not move
                [loan] if outstanding.is_empty() => {
                    if let Err(e) = loan.executor.wait() {
                        state.note(e);
                    }
                }
                _ => outstanding.until(self.slot.yields(), || Ok(state.test()))?,
            },
            Run::Shared(shared) => outstanding.until(self.slot.yields(), || Ok(lock(shared).test()))?,
        }
        if let (Some(record), Some(began)) = (self.slot.record(), began) {
            record.waited(began);
        }
        self.complete()
    }

    /// Completes it when `test` has said that it has come to its end.
    #[inline(always)]
    pub fn complete(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.active, false) {
            return Ok(());
        }
        let (slot, persistent) = (&self.slot, self.persistent);
        if let Some(record) = slot.record() {
            record.over(self.mark);
        }
        let failure = match &mut self.run {
            Run::Own(state) => state.complete(slot, persistent),
            Run::Shared(shared) => {
                slot.outstanding().remove(shared);
                let mut state = lock(shared);
                state.tags.iter().for_each(|&tag| slot.tags().release(tag));
                state.complete(slot, persistent)
            }
        };
        match failure {
            Some(e) => Err(e),
            None if slot.is_orphaned() => Err(Error::FreedCommunicator { argument: Argument::new("request") }.into()),
            None => Ok(()),
        }
    }

    /// Whether the block of a source has arrived and may be read; in a reduction, whether it is
    /// part of the result. True also if the request is not active.
    pub fn arrived(&mut self, source: usize) -> Result<bool> {
        if !self.active {
            return Ok(true);
        }
        self.test();
        let arrived = |state: &mut State| -> Result<bool> {
            let arrived = state.arrived(source)?;
            state.told[source] |= arrived;
            Ok(arrived)
        };
        match &mut self.run {
            Run::Own(state) => arrived(state),
            Run::Shared(shared) => arrived(&mut lock(shared)),
        }
    }

    /// Tells sources that have arrived and have not been told, `most` at the most, ascending.
    pub fn untold(&mut self, most: usize, tell: &mut impl FnMut(usize)) -> Result<Arrived> {
        if !self.active {
            return Ok(Arrived::All);
        }
        match &mut self.run {
            Run::Own(state) => state.untold(most, tell),
            Run::Shared(shared) => lock(shared).untold(most, tell),
        }
    }

    /// Waits until `done`, and moves all requests forward meanwhile.
    pub fn until(&mut self, mut done: impl FnMut(&mut Request) -> Result<bool>) -> Result<()> {
        let slot = Arc::clone(&self.slot);
        let began = slot.record().map(|_| Instant::now());
        let waited = slot.outstanding().until(slot.yields(), || done(self));
        if let (Some(record), Some(began)) = (slot.record(), began) {
            record.waited(began);
        }
        waited
    }
}

fn lock(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn new(slot: &Slot, schedule: &Schedule, fields: usize) -> State {
        State {
            loans: SmallVec::new(),
            tags: SmallVec::from_elem(0, fields),
            one_round: schedule.algorithm().entry().one_round(),
            alone: false,
            lasting: Vec::new(),
            joined: None,
            verification: None,
            failure: None,
            told: vec![false; slot.neighborhood().sources().len()],
        }
    }

    /// Executors for a call that is not verified, bound.
    ///
    /// # Safety
    /// As for `Request::new`.
    unsafe fn bound(slot: &Slot, fields: &[Buffers], rule: Rule, kind: Kind) -> Result<State> {
        let schedule = slot.schedule()?;
        let mut state = State::new(slot, &schedule, fields.len());
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            let n = slot.neighborhood();
            let Some(first) = fields.first() else { return Ok(state) };
            let (persistent, alone) = (kind != Kind::Once, kind == Kind::MatchingAlone);
            let loan = slot.lend(first, alone)?;
            let kept: Vec<Lasting>;
            let mut own: Fields = SmallVec::from_slice(fields);
            if persistent || fields.len() > 1 || loan.executor.keeps_datatypes() {
                kept = fields.iter().map(|f| Lasting::of(f, n, slot.comm())).collect::<Result<_>>()?;
                own = kept.iter().map(Lasting::buffers).collect();
            } else {
                kept = Vec::new();
            }
            state.loans.push(loan);
            if schedule.algorithm().entry().forwards() {
                // blocks that others pass on are not looked into there
                for (tag, field) in own.iter().enumerate().skip(1) {
                    let mut loan = slot.lend(field, alone)?;
                    loan.tag = tag;
                    state.loans.push(loan);
                }
                for (loan, field) in state.loans.iter_mut().zip(&own) {
                    loan.executor.bind(field)?;
                }
            } else if let [first, others @ ..] = &own[..]
                && !others.is_empty()
            {
                state.loans.clear();
                let shares = !alone;
                if let Some(mut loan) = slot.lend_near(own.len())?.filter(|_| shares) {
                    loan.executor.bind_near(&own)?;
                    state.loans.push(loan);
                }
                if let Some(mut loan) = slot.lend_far(None, shares)? {
                    let near = |rank| shares && slot.is_near(rank);
                    let joined = Joined::of(&own, n, rule, slot.comm(), slot.tags().one(), &near)?;
                    loan.executor.bind(&joined.buffers(first))?;
                    state.loans.push(loan);
                    for (tag, field) in (1..).zip(others).filter(|_| !joined.all()) {
                        if let Some(mut loan) = slot.lend_far(Some(&joined), shares)? {
                            loan.tag = tag;
                            loan.executor.bind(field)?;
                            state.loans.push(loan);
                        }
                    }
                    state.joined = Some(joined);
                }
            } else {
                state.loans[0].executor.bind(&own[0])?;
            }
            drop(own);
            state.lasting = kept;
            Ok(state)
        }
    }

    /// Executors for a call whose arguments are compared first: one for each field.
    ///
    /// # Safety
    /// As for `Request::new`.
    unsafe fn verified(slot: &Arc<Slot>, fields: Result<&[Buffers]>, count: usize) -> Result<State> {
        let schedule = slot.schedule()?;
        let mut state = State::new(slot, &schedule, count);
        // SAFETY: the caller vouches for the buffers.
        let bound = fields.and_then(|fields| unsafe { state.bind_each(slot, fields) });
        let (self_edge, error) = match bound {
            Ok(self_edge) => (self_edge, None),
            Err(e) => (None, Some(e)),
        };
        let (slot, check, findings, turn, instead) = (Arc::clone(slot), None, None, None, None);
        let verification = Verification { slot, schedule, error, self_edge, check, findings, turn, instead };
        state.verification = Some(Box::new(verification));
        Ok(state)
    }

    /// Binds each field. Returns what is wrong with a self edge.
    unsafe fn bind_each(&mut self, slot: &Slot, fields: &[Buffers]) -> Result<Option<Box<Error>>> {
        if fields.len() > MOST_FIELDS {
            return Err(Error::TooManyFields { fields: fields.len(), limit: MOST_FIELDS }.into());
        }
        let n = slot.neighborhood();
        let mut self_edge = None;
        for (tag, field) in fields.iter().enumerate() {
            // SAFETY: the caller of `Request::new` vouches for the buffers.
            unsafe {
                let lasting = Lasting::of(field, n, slot.comm())?;
                let mut loan = slot.lend(field, false)?;
                loan.tag = tag;
                match loan.executor.bind(&lasting.buffers()) {
                    Err(e) if matches!(*e, Error::SelfEdge { .. }) => self_edge = Some(e),
                    other => other?,
                }
                self.loans.push(loan);
                self.lasting.push(lasting);
            }
        }
        Ok(self_edge)
    }

    /// Takes a tag for each executor.
    #[inline(always)]
    fn take_tags(&mut self, slot: &Slot) -> Result<()> {
        let tags = slot.tags();
        if self.alone {
            return Ok(());
        }
        if self.verification.is_some() {
            tags.verified(&mut self.tags);
            return Ok(());
        }
        if self.one_round {
            self.tags.fill(tags.one());
            return Ok(());
        }
        tags.next(&mut self.tags)
    }

    /// Ends a call. Returns its error.
    #[inline(always)]
    fn complete(&mut self, slot: &Slot, persistent: bool) -> Option<Box<Error>> {
        if let (Some(joined), Some(_)) = (&mut self.joined, &self.failure)
            && self.loans.iter().any(|loan| loan.executor.is_stuck())
        {
            joined.leave();
        }
        if let (Some(joined), None) = (&mut self.joined, &self.failure) {
            // SAFETY: whoever made the request vouches for the buffers.
            self.failure = (0..self.told.len()).try_for_each(|source| unsafe { joined.take(source) }).err();
        }
        if !persistent {
            self.loans.drain(..).for_each(|loan| slot.give_back(loan));
            self.lasting.clear();
        }
        self.failure.take()
    }
}
