//! The state of a request: its executors, its tags, and the comparison of arguments where calls are
//! verified.

// inline(always): plans with blocks of 8 B take 10 % less time, together with that in `exec/shm`
// (benches/fuse.c).

use std::sync::Arc;

use smallvec::SmallVec;

use crate::collective::executors::Lease;
use crate::collective::fuse::{Joined, Rule};
use crate::collective::handle::{BoundNeighborhood, no_buffers};
use crate::collective::tags::{MOST_FIELDS, PrivateTags};
use crate::collective::verify::{Call, Check, Findings};
use crate::datatype::buffers::Buffers;
use crate::datatype::captured::CapturedArguments;
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::progress::Advance;
use crate::schedule::Schedule;

/// The buffers of a call: one field, or several that are exchanged together.
pub type Fields<'a> = SmallVec<[Buffers<'a>; 1]>;

/// How often a request can be started, and which starts match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Once, and complete before the call returns that has the arguments.
    InCall,
    /// Once.
    Once,
    /// Any number of times; all starts on the communicator match in order.
    Persistent,
    /// Any number of times; its starts match only with one another. Where collectives are verified,
    /// they are found not to match if they stand in another order.
    PrivateMatching,
}

impl Lifetime {
    /// True if the request can be started again.
    pub fn is_persistent(self) -> bool {
        matches!(self, Lifetime::Persistent | Lifetime::PrivateMatching)
    }
}

/// The answer to a query for sources that have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// Some arrived, and were reported for the first time.
    Some,
    /// None so far.
    NotYet,
    /// All have been reported.
    All,
}

/// The executors of a request, and all they need.
pub struct State {
    pub leases: SmallVec<[Lease; 1]>,
    /// One for each field, so that both ends of an edge count alike.
    pub tags: SmallVec<[i32; 1]>,
    /// True if every process posts all messages at the start.
    one_round: bool,
    /// The tags, if they belong to this request alone and stay the same.
    pub private: Option<PrivateTags>,
    /// Arrays and datatypes kept for use after the start.
    captured: Vec<CapturedArguments>,
    joined: Option<Joined>,
    /// Index of the executor of what is joined.
    of_joined: usize,
    pub verification: Option<Box<Verification>>,
    /// The first error.
    failure: Option<Box<Error>>,
    /// For each source, true if its arrival has been reported to the caller; and true if the caller
    /// has asked.
    told: Vec<bool>,
    has_told: bool,
    /// All sources before this one have been reported.
    untold_from: usize,
    /// True if the last look for sources that have arrived has found one.
    found: bool,
}

/// The part of a request that only verified calls have.
pub struct Verification {
    bound: Arc<BoundNeighborhood>,
    schedule: Arc<Schedule>,
    /// The error in this process's own arguments.
    pub error: Option<Box<Error>>,
    /// The error of a self edge, reported only if all other edges are good.
    self_edge: Option<Box<Error>>,
    /// For a persistent collective that matches alone, its number.
    pub alone: Option<u64>,
    check: Option<Check>,
    /// The result of the comparison, kept until it is this call's turn.
    findings: Option<Result<Findings>>,
    /// Its turn among verified calls; `None` when the call is over.
    turn: Option<u64>,
    /// Executors that replace the request's own if some edges are bad.
    instead: Option<SmallVec<[Lease; 1]>>,
}

impl State {
    pub fn note(&mut self, error: Box<Error>) {
        self.failure.get_or_insert(error);
    }

    /// The executors in use.
    fn running(&mut self) -> &mut [Lease] {
        let instead = self.verification.as_mut().and_then(|verification| verification.instead.as_mut());
        instead.unwrap_or(&mut self.leases)
    }

    /// Starts the bound collective.
    #[inline(always)]
    pub fn start(&mut self) -> Result<()> {
        // assigned without the check, it would call a destructor even if there is no error
        if self.failure.is_some() {
            self.failure = None;
        }
        if std::mem::take(&mut self.has_told) {
            self.told.fill(false);
            (self.untold_from, self.found) = (0, false);
        }
        if let Some(verification) = &mut self.verification {
            verification.instead = None;
            self.verify();
            return Ok(());
        }
        self.start_all()
    }

    /// Starts all executors, each of which starts nothing if its messages would not match. The one
    /// for the node always starts: neighbors there wait for it.
    #[inline(always)]
    fn start_all(&mut self) -> Result<()> {
        // a start that is refused leaves all as it was; one executor for near processes serves all
        // fields, and those of forwarded fields take no numbers
        if let ([first, _, ..], None) = (&self.leases[..], &self.verification) {
            first.executor.has_numbers(1)?;
        }
        if let Some(joined) = &mut self.joined {
            let executor = &mut self.leases[self.of_joined].executor;
            // SAFETY: whoever made the request vouches for the buffers.
            unsafe { joined.put(|entry, error| executor.spoil(entry, error)) };
        }
        for k in 0..self.leases.len() {
            let tag = self.tags[self.leases[k].tag];
            if let Err(e) = self.leases[k].executor.start(tag) {
                // neighbors wait for the other fields, which verification has announced
                if k == 0 && self.verification.is_none() {
                    return Err(e);
                }
                // the others are completed
                self.note(e);
            }
        }
        Ok(())
    }

    /// Starts the comparison of arguments between the ends of all edges.
    #[cold]
    fn verify(&mut self) {
        let many = self.leases.len() as u64;
        let starts = |lease: &Lease| lease.executor.can_start().and_then(|()| lease.executor.has_numbers(many));
        let matches = self.leases.iter().try_for_each(starts);
        let Some(verification) = &mut self.verification else { return };
        let bound = &verification.bound;
        let fields: Fields = self.captured.iter().map(CapturedArguments::buffers).collect();
        // the other ends hear of it, as of any error in the arguments
        let fields = match &verification.error {
            Some(e) => Err(e.clone()),
            None => matches.map(|()| &fields[..]),
        };
        let call = Call { operation: bound.operation() as usize, alone: verification.alone };
        let check = Check::begin(bound.neighborhood(), fields, call, bound.comm());
        verification.check = Some(check);
        verification.turn = Some(bound.tags().turns.take());
    }

    /// Starts the call after the comparison. Errors are noted, and everything started is completed.
    #[cold]
    fn go_on(&mut self, findings: Result<Findings>) {
        let Some(verification) = &mut self.verification else { return };
        let findings = match findings {
            Ok(Findings { error: None, .. }) => {
                if let Some(e) = verification.self_edge.clone() {
                    self.note(e);
                } else if let Err(e) = self.start_all() {
                    self.note(e);
                }
                return;
            }
            Ok(Findings { error: Some(ref error), .. }) => {
                self.note(error.clone());
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
            let (bound, schedule) = (&verification.bound, &verification.schedule);
            let lent = bound.pool().lend_for_good(schedule, bound.operation().combines(), findings.as_ref());
            let Some(mut lease) = lent else { continue };
            let buffers = match self.captured.get(k) {
                Some(captured) if findings.is_some() => captured.buffers(),
                _ => no_buffers(),
            };
            // SAFETY: whoever made the request vouches for the buffers.
            let started = unsafe { lease.executor.bind(&buffers) }.and_then(|()| lease.executor.start(tag));
            instead.push(lease);
            failed = failed.or(started.err());
        }
        if let Some(e) = failed {
            self.note(e);
        }
    }

    /// Makes progress without waiting. Returns true when everything is complete.
    pub fn test(&mut self) -> bool {
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

    /// Advances the comparison. Returns true when it is over and the call has been started.
    #[cold]
    fn test_verification(&mut self) -> bool {
        let Some(verification) = &mut self.verification else { return true };
        if let Some(check) = &mut verification.check {
            if !check.test(verification.bound.comm()) {
                return false;
            }
            verification.findings = verification.check.take().map(Check::finish);
        }
        if verification.findings.is_some() {
            if verification.turn.is_some_and(|turn| !verification.bound.tags().turns.is(turn)) {
                return false;
            }
            if let Some(findings) = verification.findings.take() {
                self.go_on(findings);
            }
        }
        true
    }

    /// Lets the next verified call start.
    #[cold]
    fn end_turn(&mut self) {
        if let Some(verification) = &mut self.verification
            && verification.turn.take().is_some()
        {
            verification.bound.tags().turns.end();
        }
    }

    /// Returns true if the block of a source has arrived; in a reduction, if the result includes
    /// it.
    pub fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(e) = &self.failure {
            return Err(e.clone());
        }
        if self.verification.as_ref().is_some_and(|v| v.check.is_some() || v.findings.is_some()) {
            return Ok(false);
        }
        for lease in self.running() {
            if !lease.executor.arrived(source)? {
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

    /// Returns true if the block of a source has arrived, which counts as a report.
    pub fn tell(&mut self, source: usize) -> Result<bool> {
        let arrived = self.arrived(source)?;
        self.has_told = true;
        self.told[source] |= arrived;
        Ok(arrived)
    }

    /// Reports up to `most` sources that have arrived and have not been reported.
    pub fn untold(&mut self, most: usize, tell: &mut impl FnMut(usize)) -> Result<Arrived> {
        self.has_told = true;
        // where one has arrived, others may have: to test all messages for each source would take
        // quadratic time
        if self.found {
            match self.look(most, tell)? {
                Arrived::NotYet => {}
                arrived => return Ok(arrived),
            }
        }
        self.test();
        self.look(most, tell)
    }

    fn look(&mut self, most: usize, tell: &mut impl FnMut(usize)) -> Result<Arrived> {
        let (mut found, mut pending) = (0, false);
        for source in self.untold_from..self.told.len() {
            if found == most {
                break;
            }
            if self.told[source] {
                self.untold_from += usize::from(source == self.untold_from);
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
                // the next call returns it
                Err(_) => break,
            }
        }
        self.found = found > 0;
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

impl State {
    fn new(bound: &BoundNeighborhood, schedule: &Schedule, fields: usize) -> State {
        State {
            leases: SmallVec::new(),
            // where all messages are posted at the start, the tag stays the same
            tags: SmallVec::from_elem(bound.tags().one(), fields),
            one_round: schedule.algorithm().entry().one_round(),
            private: None,
            captured: Vec::new(),
            joined: None,
            of_joined: 0,
            verification: None,
            failure: None,
            told: vec![false; bound.neighborhood().sources().len()],
            has_told: false,
            untold_from: 0,
            found: false,
        }
    }

    /// Binds executors for a call that is not verified.
    ///
    /// # Safety
    /// As for `Request::new`.
    pub unsafe fn unverified(bound: &BoundNeighborhood, fields: &[Buffers], rule: Rule, lifetime: Lifetime) -> Result<State> {
        let schedule = bound.schedule()?;
        let mut state = State::new(bound, &schedule, fields.len());
        let (persistent, private) = (lifetime.is_persistent(), lifetime == Lifetime::PrivateMatching);
        let outlives = lifetime != Lifetime::InCall;
        let capture = || -> Result<Vec<CapturedArguments>> {
            fields.iter().map(|f| CapturedArguments::of(f, bound.neighborhood(), bound.comm())).collect()
        };
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match fields {
                [] => return Ok(state),
                [only] => {
                    let mut lease = bound.lend(only, private)?;
                    if persistent || outlives && lease.executor.keeps_datatypes() {
                        state.captured = capture()?;
                    }
                    let own = state.captured.first().map_or(*only, CapturedArguments::buffers);
                    lease.executor.bind(&own)?;
                    state.leases.push(lease);
                }
                _ => {
                    let captured = if outlives { capture()? } else { Vec::new() };
                    let own: Fields =
                        if outlives { captured.iter().map(CapturedArguments::buffers).collect() } else { fields.into() };
                    if schedule.algorithm().entry().forwards() {
                        state.bind_forwarded(bound, &own, private)?;
                    } else {
                        state.bind_together(bound, &schedule, &own, rule, !private)?;
                    }
                    drop(own);
                    state.captured = captured;
                }
            }
            if persistent {
                state.settle();
            }
        }
        Ok(state)
    }

    /// Binds one executor for each of several fields, whose blocks other processes forward without
    /// looking into them.
    ///
    /// # Safety
    /// As for `Request::new`.
    unsafe fn bind_forwarded(&mut self, bound: &BoundNeighborhood, fields: &[Buffers], private: bool) -> Result<()> {
        for (tag, field) in fields.iter().enumerate() {
            let mut lease = bound.lend(field, private)?;
            lease.tag = tag;
            // SAFETY: the caller vouches for the buffers.
            unsafe { lease.executor.bind(field) }?;
            self.leases.push(lease);
        }
        Ok(())
    }

    /// Binds executors for several fields, which travel together: one for near processes, and for
    /// far ones one that puts them, or those for their messages. `shares`: as for `Purpose`.
    ///
    /// # Safety
    /// As for `Request::new`.
    unsafe fn bind_together(
        &mut self,
        bound: &BoundNeighborhood,
        schedule: &Schedule,
        fields: &[Buffers],
        rule: Rule,
        shares: bool,
    ) -> Result<()> {
        let (count, pool) = (fields.len(), bound.pool());
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            if shares && let Some(mut lease) = pool.lend_near(schedule, count) {
                lease.executor.bind_fields(fields)?;
                self.leases.push(lease);
            }
            if shares && let Some(mut lease) = pool.lend_puts(schedule, count) {
                lease.executor.bind_fields(fields)?;
                self.leases.push(lease);
                return Ok(());
            }
            let Some(mut lease) = pool.lend_far(schedule, None, shares) else { return Ok(()) };
            let near = |rank| shares && pool.is_near(rank);
            let joined = Joined::of(fields, bound.neighborhood(), rule, bound.comm(), bound.tags().one(), &near)?;
            lease.executor.bind(&joined.buffers())?;
            self.of_joined = self.leases.len();
            self.leases.push(lease);
            for (tag, field) in fields.iter().enumerate().skip(1).filter(|_| !joined.all()) {
                if let Some(mut lease) = pool.lend_far(schedule, Some(&joined), shares) {
                    lease.tag = tag;
                    lease.executor.bind(field)?;
                    self.leases.push(lease);
                }
            }
            self.joined = Some(joined);
        }
        Ok(())
    }

    /// Prepares for many starts.
    ///
    /// # Safety
    /// The buffers must stay what they are until the request is freed.
    pub unsafe fn settle(&mut self) {
        // SAFETY: the caller vouches for the buffers.
        self.leases.iter_mut().for_each(|lease| unsafe { lease.executor.settle() });
    }

    /// Binds one executor for each field of a verified call.
    ///
    /// # Safety
    /// As for `Request::new`.
    pub unsafe fn verified(bound: &Arc<BoundNeighborhood>, fields: Result<&[Buffers]>, count: usize) -> Result<State> {
        let schedule = bound.schedule()?;
        let mut state = State::new(bound, &schedule, count);
        // SAFETY: the caller vouches for the buffers.
        let edges = fields.and_then(|fields| unsafe { state.bind_each(bound, fields) });
        let (self_edge, error) = match edges {
            Ok(self_edge) => (self_edge, None),
            Err(e) => (None, Some(e)),
        };
        let (check, findings, turn, instead) = (None, None, None, None);
        let bound = Arc::clone(bound);
        let verification = Verification { bound, schedule, error, self_edge, alone: None, check, findings, turn, instead };
        state.verification = Some(Box::new(verification));
        Ok(state)
    }

    /// Binds each field. Returns the error of a self edge, if there is one.
    unsafe fn bind_each(&mut self, bound: &BoundNeighborhood, fields: &[Buffers]) -> Result<Option<Box<Error>>> {
        if fields.len() > MOST_FIELDS {
            return Err(Error::TooManyFields {
                fields: fields.len(),
                limit: MOST_FIELDS,
                what: "calls that are verified (mpix_verify)",
            }
            .into());
        }
        let n = bound.neighborhood();
        let mut self_edge = None;
        for (tag, field) in fields.iter().enumerate() {
            // SAFETY: the caller of `Request::new` vouches for the buffers.
            unsafe {
                let captured = CapturedArguments::of(field, n, bound.comm())?;
                let mut lease = bound.lend(field, false)?;
                lease.tag = tag;
                match lease.executor.bind(&captured.buffers()) {
                    Err(e) if matches!(*e, Error::SelfEdge { .. }) => self_edge = Some(e),
                    other => other?,
                }
                self.leases.push(lease);
                self.captured.push(captured);
            }
        }
        Ok(self_edge)
    }

    /// True if each start takes tags that no other one may have meanwhile.
    #[inline(always)]
    pub fn takes_tags(&self) -> bool {
        self.private.is_none() && self.verification.is_none() && !self.one_round
    }

    /// Takes a tag for each field.
    #[inline(always)]
    pub fn take_tags(&mut self, bound: &BoundNeighborhood) -> Result<()> {
        let tags = bound.tags();
        if self.verification.is_some() {
            tags.verified(&mut self.tags);
        }
        if !self.takes_tags() {
            return Ok(());
        }
        if let Some(first) = self.leases.first() {
            // or the number would be lost, here alone
            first.executor.has_numbers(1)?;
        }
        tags.next(&mut self.tags)
    }

    /// Ends a call. Returns its error.
    #[inline(always)]
    pub fn complete(&mut self, bound: &BoundNeighborhood, persistent: bool) -> Option<Box<Error>> {
        if let (Some(joined), Some(_)) = (&mut self.joined, &self.failure)
            && self.leases.iter().any(|lease| lease.executor.is_stuck())
        {
            joined.leave();
        }
        if let Some(joined) = &mut self.joined {
            let failed = self.failure.is_some();
            for source in 0..self.told.len() {
                // what has arrived is not lost because something else is
                if !failed || self.leases[self.of_joined].executor.came(source) {
                    // SAFETY: whoever made the request vouches for the buffers.
                    let taken = unsafe { joined.take(source) };
                    self.failure = self.failure.take().or(taken.err());
                }
            }
        }
        if !persistent {
            self.leases.drain(..).for_each(|lease| bound.pool().give_back(lease));
            self.captured.clear();
        }
        self.failure.take()
    }
}
