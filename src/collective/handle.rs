//! Neighborhoods on a communicator, and the blocking calls on them.
//!
//! Setting a neighborhood is collective; all later calls need only the processes at the other ends
//! of their edges. After that, nothing is made but executors, with the first blocking call and with
//! requests. When the communicator is freed, MPI's attribute callback drops everything.

// inline(always): see `datatype/remembered.rs`

use std::cell::{RefCell, RefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Instant;

use crate::collective::autotune::{Timed, TimedRace};
use crate::collective::describe::{self, Summary};
use crate::collective::executors::{ExecutorPool, Lease};
use crate::collective::own::{Apart, Own, Store};
use crate::collective::runner::{BoundExecutor, CallArguments, Runner};
use crate::collective::tags::Tags;
use crate::collective::{OPERATIONS, Operation, Selected};
use crate::datatype::buffers::{Blocks, Buffers, RECV, SEND, Shape};
use crate::datatype::known::Known;
use crate::error::{Error, Result};
use crate::exec::rma::link::Link;
use crate::exec::{Any, Executor};
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{self, Communicator};
use crate::observe::Record;
use crate::progress::Outstanding;
use crate::schedule::{Algorithm, FoldOrder, Schedule};
use crate::select::hints::{Hints, Learned};
use crate::topology::neighborhood::Neighborhood;
use crate::util::lock::lock;

/// A neighborhood set on a communicator for one operation.
pub struct BoundNeighborhood {
    operation: Operation,
    directed: bool,
    pool: ExecutorPool,
    hints: Arc<Hints>,
    tags: Arc<Tags>,
    outstanding: Arc<Outstanding>,
    /// Extents of the last calls' datatypes.
    extents: Extents,
    /// True while the first calls are timed to compare schedules.
    timed: AtomicBool,
    /// Borrowed while a collective runs.
    runner: RefCell<Runner>,
    race: RefCell<Option<TimedRace<Runner>>>,
    /// The schedule in words: other threads may ask for it while a collective runs.
    summary: Mutex<Summary>,
    /// True when the neighborhood has been freed, or another one set in its place.
    stale: AtomicBool,
    /// True when the communicator has been freed.
    orphaned: Arc<AtomicBool>,
}

// SAFETY: requests share a neighborhood with its communicator and may be completed in another
// thread than the one that started them, and any thread may ask for its properties. Both use what
// is locked, atomic or never changes; `runner`, `race` and `extents` are used by calls that start
// collectives on the communicator, which are made one after the other, as MPI asks.
unsafe impl Send for BoundNeighborhood {}
// SAFETY: as above.
unsafe impl Sync for BoundNeighborhood {}

/// The parts of a bound neighborhood other than its schedules.
pub struct Settings {
    /// The operation it serves.
    pub operation: Operation,
    /// True if its edges have directions.
    pub directed: bool,
    /// Makes its executors.
    pub pool: ExecutorPool,
    /// Its hints.
    pub hints: Arc<Hints>,
    /// The operation's tags on this communicator.
    pub tags: Arc<Tags>,
    /// The process's requests that must be moved forward.
    pub outstanding: Arc<Outstanding>,
    /// Becomes true when the communicator is freed.
    pub orphaned: Arc<AtomicBool>,
    /// The calls that compare schedules, if there are several to compare.
    pub timed: Option<Timed>,
}

/// Extents of the datatypes on both sides of a call.
#[derive(Debug, Default)]
pub struct Extents {
    /// Of the send side.
    pub send: Known,
    /// Of the receive side.
    pub recv: Known,
}

/// The neighborhoods of a communicator, and what they share: the value of its attribute.
pub struct Handle {
    /// What they all need. Only dropping takes it.
    pub own: Option<Own>,
    /// Where that waits for another communicator.
    pub store: Weak<Store>,
    /// True once a call has failed on this process: others may still wait for its messages, or have
    /// sent it some.
    pub failed: AtomicBool,
    /// By operation.
    pub neighborhoods: [Option<Arc<BoundNeighborhood>>; OPERATIONS],
    /// Windows of replaced neighborhoods that a process needed when they were, the same on all.
    pub retired: Vec<Arc<Link>>,
    /// By operation.
    pub tags: [Arc<Tags>; OPERATIONS],
}

impl Handle {
    /// Puts a neighborhood, or none, in the place of another one, whose requests go on. Collective.
    ///
    /// # Errors
    /// The old one's window could not be freed.
    pub fn replace(&mut self, operation: Operation, neighborhood: Option<Arc<BoundNeighborhood>>) -> Result<()> {
        let replaced = std::mem::replace(&mut self.neighborhoods[operation as usize], neighborhood);
        let Some(old) = replaced else { return Ok(()) };
        old.stale.store(true, Ordering::Relaxed);
        let link = old.pool.transport().link.clone();
        // `retire` asks who else has the window: from here on only requests
        drop(old);
        let Some(link) = link else { return Ok(()) };
        // a window, too, is on the communicator
        *self.failed.get_mut() = true;
        self.retired.extend(link.retire()?);
        Ok(())
    }

    /// Frees windows of replaced neighborhoods that no process needs any more. Looks at
    /// [`LOOKED_AT`] of them, at others each time. Collective.
    ///
    /// Cost: if there are any, a reduction of that many words.
    pub fn free_retired(&mut self) -> Result<()> {
        let Some(own) = self.own.as_ref().filter(|_| !self.retired.is_empty()) else { return Ok(()) };
        let mut spare = [1i64; LOOKED_AT];
        spare.iter_mut().zip(&self.retired).for_each(|(word, link)| *word = i64::from(!link.is_needed()));
        let spare = coll::allreduce(&own.comm, spare, Reduction::Min)?;
        let some: Vec<Arc<Link>> = self.retired.drain(..self.retired.len().min(LOOKED_AT)).collect();
        // all go on to the last one, where one fails
        let mut swept = Ok(());
        for (link, spare) in some.into_iter().zip(spare) {
            let kept = if spare == 1 { link.retire() } else { Ok(Some(link)) };
            self.retired.extend(kept.unwrap_or_else(|e| {
                swept = Err(e);
                None
            }));
        }
        swept
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        for operation in Operation::ALL {
            // errors cannot be reported
            let _ = self.replace(operation, None);
        }
        for link in self.retired.drain(..) {
            // what a process still needs is left to the end of MPI
            let _ = link.retire();
        }
        if let (Some(own), Some(store), false) = (self.own.take(), self.store.upgrade(), *self.failed.get_mut()) {
            store.keep(own);
        }
    }
}

/// How many windows of replaced neighborhoods a set call, or a free call, looks at.
const LOOKED_AT: usize = 32;

/// The attribute that holds a communicator's neighborhoods.
pub static HANDLE: Key<Handle> = Key::new();

/// The neighborhood of a communicator for an operation.
///
/// # Safety
/// The reference must not be alive when a neighborhood of the communicator is set or freed.
#[inline(always)]
pub unsafe fn lookup(comm: Communicator<'_>, operation: Operation) -> Result<&Arc<BoundNeighborhood>> {
    // MPI lets a program ask for a communicator's properties while a collective runs on it in
    // another thread, so that nothing here is exclusive; what a collective changes is in a
    // `RefCell` of its own, which queries leave alone, and collectives on one communicator do not
    // run at the same time.
    // SAFETY: the value lives as long as the attribute, as the caller vouches.
    let handle = unsafe { HANDLE.value(comm)? };
    match handle.and_then(|h| h.neighborhoods[operation as usize].as_ref()) {
        Some(bound) => Ok(bound),
        None => Err(no_neighborhood(operation)),
    }
}

#[cold]
fn no_neighborhood(operation: Operation) -> Box<Error> {
    Error::NoNeighborhood { operation: operation.name() }.into()
}

/// The parameters of the machine that a set call on a communicator found out, if one did.
///
/// # Safety
/// As for [`lookup`], during the call.
pub unsafe fn learned(comm: Communicator) -> Result<Learned> {
    // SAFETY: the caller vouches for the value; what is returned is a copy.
    let handle = unsafe { HANDLE.value(comm)? };
    let learned =
        |bound: &Arc<BoundNeighborhood>| Some(&bound.hints.learned).filter(|learned| learned.machine.is_some()).cloned();
    Ok(handle.and_then(|handle| handle.neighborhoods.iter().flatten().find_map(learned)).unwrap_or_default())
}

/// Removes the neighborhoods for some operations. The private communicators stay until `comm` is
/// freed, for the next set call, and so does shared memory, if it is little. Collective over
/// `comm`: every process calls it, even one whose argument is in error, and all get the error.
///
/// Cost: two reductions of a word or two at the same time, or one through shared memory.
///
/// # Safety
/// No reference to a neighborhood of the communicator may be alive.
pub unsafe fn free(comm: Communicator, operations: Result<i32>) -> Result<()> {
    // SAFETY: the caller vouches that no neighborhood is in use.
    unsafe {
        let handle = HANDLE.get(comm)?.as_mut();
        let missing =
            |operation: &Operation| handle.as_ref().is_none_or(|handle| handle.neighborhoods[*operation as usize].is_none());
        let checked = operations.and_then(|bits| match Operation::of(bits).find(missing) {
            Some(operation) => Err(no_neighborhood(operation)),
            None => Ok(bits),
        });
        let Some(handle) = handle else { return checked.map(drop) };
        let agreed = match &handle.own {
            Some(own) => agree_on_operations(own, checked)?,
            None => checked?,
        };
        for operation in Operation::of(agreed) {
            handle.replace(operation, None)?;
        }
        handle.free_retired()?;
        if let Some(own) = &handle.own {
            own.team.trim();
        }
        Ok(())
    }
}

/// Returns the operations that all processes pass; an error on all if that of one is in error.
/// Collective, as long as all processes are there.
fn agree_on_operations(own: &Own, operations: Result<i32>) -> Result<i32> {
    if own.comm.is_whole().is_err() {
        return operations;
    }
    let bits = operations.as_ref().map_or(0, |&bits| i64::from(bits));
    let (mut failures, mut least) = ([u64::from(operations.is_err())], [bits, -bits]);
    own.sum_and_least(&mut failures, &mut least)?;
    match (failures, least) {
        ([0], [least, most]) if least != -most => Err(Error::Disagreement { what: "operations".into() }.into()),
        ([0], _) => operations,
        _ => coll::share_outcome(&own.comm, operations),
    }
}

/// Notes that a call on a communicator has failed.
#[cold]
pub fn note_failure(comm: Communicator) {
    // SAFETY: the value lives as long as the communicator. Without one there is nothing to note.
    if let Ok(Some(handle)) = unsafe { HANDLE.value(comm) } {
        handle.failed.store(true, Ordering::Relaxed);
    }
}

/// True if the memory that the communicator's neighborhoods share with other processes is little
/// enough to stay while nothing uses it.
pub fn is_light(comm: Communicator) -> Result<bool> {
    // SAFETY: the value lives as long as the communicator.
    let handle = unsafe { HANDLE.value(comm)? };
    Ok(handle.and_then(|handle| handle.own.as_ref()).is_none_or(|own| own.team.is_light()))
}

/// Makes what reduces words of the communicator's processes in shared memory. `None` on all of them
/// if the neighborhood does not share memory, or they cannot. Collective.
pub fn reducer_apart(comm: Communicator, operation: Operation) -> Result<Option<Apart>> {
    // SAFETY: the value lives as long as the communicator.
    let handle = unsafe { HANDLE.value(comm)? };
    let bound = handle.and_then(|handle| handle.neighborhoods[operation as usize].as_ref());
    let shares = bound.is_some_and(|bound| bound.hints.shares_memory());
    handle.and_then(|handle| handle.own.as_ref()).filter(|_| shares).map_or(Ok(None), Apart::new)
}

/// Buffers of a process whose arguments are in error, for a schedule without its blocks. Nothing
/// reads them.
pub fn no_buffers() -> Buffers<'static> {
    let nothing = |names| Blocks {
        base: std::ptr::null_mut(),
        datatype: mpi::datatype::byte(),
        extent: 0,
        shape: Shape::Equal { count: 0 },
        names,
        field: None,
    };
    Buffers { input: nothing(&SEND), output: nothing(&RECV), op: None }
}

impl BoundNeighborhood {
    /// Binds a neighborhood to its schedules: the first calls compare them if there are several.
    pub fn new(settings: Settings, selected: &[Selected]) -> Result<Arc<BoundNeighborhood>> {
        let Settings { operation, directed, pool, hints, tags, outstanding, orphaned, timed } = settings;
        let any_order = hints.reduce_order == FoldOrder::Any;
        let runner = |selected: &Selected| Runner::new(selected.clone(), operation, any_order, &pool);
        // the first one stands for all until they have been compared
        let Some((first, others)) = selected.split_first() else {
            return Err(Error::Internal("a neighborhood has no schedule".into()).into());
        };
        let (first, others): (_, Vec<Runner>) = (runner(first), others.iter().map(runner).collect());
        let race = timed.filter(|_| !others.is_empty()).map(|timed| TimedRace::new(others, timed));
        let rivals = race.iter().flat_map(|t| t.rivals().iter().map(|r| r.choice.candidate)).collect();
        let bound = Arc::new(BoundNeighborhood {
            operation,
            directed,
            pool,
            tags,
            outstanding,
            extents: Extents::default(),
            timed: AtomicBool::new(race.is_some() && !hints.verify),
            hints,
            summary: Mutex::new(Summary::new(first.choice, &first.schedule, rivals)),
            runner: RefCell::new(first),
            race: RefCell::new(race),
            stale: AtomicBool::new(false),
            orphaned,
        });
        if let Some(record) = bound.record() {
            record.describe(bound.schedule_line());
        }
        Ok(bound)
    }

    /// The lists.
    pub fn neighborhood(&self) -> &Neighborhood {
        self.pool.neighborhood()
    }

    /// The same edges the other way round.
    pub fn reversed(&self) -> Neighborhood {
        self.neighborhood().reversed(self.directed)
    }

    /// Extents of the last calls' datatypes.
    #[inline]
    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    /// Counters and trace, where the environment asks for them.
    #[inline]
    pub fn record(&self) -> Option<&Record> {
        self.pool.record()
    }

    /// The hints that it was set with.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// The private communicator.
    pub fn comm(&self) -> &Arc<Comm> {
        self.pool.comm()
    }

    /// The operation it serves.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// True if a process that waits must yield its core.
    pub fn yields(&self) -> bool {
        self.pool.yields()
    }

    /// The operation's tags.
    pub fn tags(&self) -> &Arc<Tags> {
        &self.tags
    }

    /// The process's requests that must be moved forward.
    pub fn outstanding(&self) -> &Outstanding {
        &self.outstanding
    }

    /// True if it has been freed, or another one set in its place.
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    /// True if its communicator has been freed.
    pub fn is_orphaned(&self) -> bool {
        self.orphaned.load(Ordering::Relaxed)
    }

    /// True if calls are verified.
    #[inline]
    pub fn verifies(&self) -> bool {
        self.hints.verify
    }

    /// Binds the executors of all schedules that are compared, as calls with these buffers will.
    ///
    /// # Safety
    /// As for `run`.
    pub unsafe fn bind_candidates(&self, buffers: &Buffers) -> Result<()> {
        let mut race = self.race.try_borrow_mut().map_err(|_| Error::Busy)?;
        let rivals = race.iter_mut().flat_map(TimedRace::rivals_mut);
        for runner in std::iter::once(&mut *self.runner()?).chain(rivals) {
            // SAFETY: the caller vouches for the buffers.
            unsafe { runner.bind(buffers, &self.pool) }?;
        }
        Ok(())
    }

    /// True while calls are timed to compare schedules.
    pub fn is_timed(&self) -> bool {
        self.timed.load(Ordering::Relaxed)
    }

    /// The schedule in use, and why.
    pub fn selected(&self) -> Result<Selected> {
        let runner = self.runner()?;
        Ok(Selected { choice: runner.choice, schedule: Arc::clone(&runner.schedule) })
    }

    /// The schedule in use, before folding.
    pub fn schedule(&self) -> Result<Arc<Schedule>> {
        Ok(Arc::clone(&self.runner()?.schedule))
    }

    /// True if a start posts all messages of a call. The same on all processes.
    pub fn posts_at_once(&self) -> bool {
        let is_direct = self.runner.borrow().choice.algorithm() == Algorithm::Direct;
        // puts wait until their targets are ready
        is_direct && !self.has_window() && !self.verifies() && self.race.borrow().is_none()
    }

    /// True if it has a window. The same on all processes.
    pub fn has_window(&self) -> bool {
        self.pool.transport().link.is_some()
    }

    /// The schedule in use, if another neighborhood with these lists and hints may use it too,
    /// whether devices are in use or not.
    pub fn reusable_schedule(&self, neighborhood: &Neighborhood, hints: &Hints) -> Option<Selected> {
        let same_hints = || *self.hints == Hints { devices: self.hints.devices, ..hints.clone() };
        let fits = *self.neighborhood() == *neighborhood && self.race.borrow().is_none() && same_hints();
        let runner = self.runner.borrow();
        fits.then(|| Selected { choice: runner.choice, schedule: Arc::clone(&runner.schedule) })
    }

    /// Lends a request an executor that is bound to nothing. `private`: the request's starts match
    /// only with one another.
    pub fn lend(&self, buffers: &Buffers, private: bool) -> Result<Lease> {
        let runner = self.runner()?;
        let any_order = runner.is_any_order(buffers)?;
        let combine = self.operation.combines().map(|combine| if any_order { combine.in_any_order() } else { combine });
        // the first calls may still choose another schedule
        let settled = !self.timed.load(Ordering::Relaxed);
        Ok(self.pool.lend(&runner.schedule, combine, private, settled))
    }

    /// Makes its executors, and lends them.
    pub fn pool(&self) -> &ExecutorPool {
        &self.pool
    }

    /// Runs a bound executor to completion.
    #[inline]
    fn execute(&self, bound: &mut BoundExecutor, tag: i32) -> Result<()> {
        let ended = bound.executor.start(tag).and_then(|()| self.wait_for(&mut bound.executor));
        bound.settle(ended)
    }

    /// The tag of the next collective, which this algorithm runs by an executor.
    #[inline(always)]
    fn tag(&self, algorithm: Algorithm, executor: &Any) -> Result<i32> {
        if algorithm.entry().one_round() {
            return Ok(self.tags.one());
        }
        // or the number would be lost, here alone
        executor.has_numbers(1)?;
        let mut tag = [0];
        self.tags.next(&mut tag)?;
        Ok(tag[0])
    }

    /// Completes what has been started.
    #[inline]
    fn wait_for(&self, executor: &mut Any) -> Result<()> {
        if let Some(record) = self.record() {
            let begin = Instant::now();
            let waited = self.wait_unobserved(executor);
            record.waited(begin);
            return waited;
        }
        self.wait_unobserved(executor)
    }

    #[inline]
    fn wait_unobserved(&self, executor: &mut Any) -> Result<()> {
        if self.outstanding.is_empty() {
            return executor.wait();
        }
        self.outstanding.until(self.yields(), || executor.test())
    }

    /// Runs one collective that is not verified to completion, if an executor is bound to these
    /// arguments already.
    ///
    /// # Safety
    /// The arguments must be what the C prototype asks for.
    #[inline(always)]
    pub unsafe fn repeat(&self, arguments: &impl CallArguments) -> Option<Result<()>> {
        if self.record().is_some() || self.timed.load(Ordering::Relaxed) {
            return None;
        }
        let mut runner = self.runner().ok()?;
        let algorithm = runner.choice.algorithm();
        // SAFETY: the caller vouches for the arguments.
        let bound = unsafe { runner.bound(arguments) }?;
        Some(match self.tag(algorithm, &bound.executor) {
            Ok(tag) => self.execute(bound, tag),
            Err(error) => Err(error),
        })
    }

    /// Runs one collective that is not verified to completion.
    ///
    /// # Safety
    /// The buffers must be what the C prototype asks for.
    pub unsafe fn run(&self, buffers: &Buffers) -> Result<()> {
        let call = self.record().map(|record| (record, record.begin()));
        // SAFETY: the caller vouches for the buffers.
        let done = unsafe { self.run_unobserved(buffers) };
        if let Some((record, call)) = call {
            record.end(&call, None);
        }
        done
    }

    unsafe fn run_unobserved(&self, buffers: &Buffers) -> Result<()> {
        // SAFETY: as for `run`.
        unsafe {
            if self.timed.load(Ordering::Relaxed) {
                return self.take_turn(buffers)?;
            }
            let mut runner = self.runner()?;
            let algorithm = runner.choice.algorithm();
            let bound = runner.bind(buffers, &self.pool)?;
            let tag = self.tag(algorithm, &bound.executor)?;
            self.execute(bound, tag)
        }
    }

    #[inline(always)]
    fn runner(&self) -> Result<RefMut<'_, Runner>> {
        self.runner.try_borrow_mut().map_err(|_| Error::Busy.into())
    }

    /// Runs one collective by the schedule whose turn it is, and returns how it ended; an error of
    /// its own is that of the comparison, in which the call does not count. After the last turn it
    /// keeps the fastest schedule. Collective over the processes that edges connect, which meet
    /// before the call, or before the first one of a turn: those that come late would be counted as
    /// time of the schedule, and those that are not yet through with the schedule before too.
    ///
    /// # Safety
    /// As for `run`.
    #[cold]
    pub unsafe fn take_turn(&self, buffers: &Buffers) -> Result<Result<()>> {
        let mut runner = self.runner()?;
        let mut race = self.race.try_borrow_mut().map_err(|_| Error::Busy)?;
        let Some(comparison) = race.as_mut() else {
            return Err(Error::Internal("there is nothing to compare".into()).into());
        };
        let result = comparison.take_turn(&mut runner, |candidate, group| {
            let algorithm = candidate.choice.algorithm();
            // erroneous arguments take no turn: they are found before anything is sent
            // SAFETY: the caller vouches for the buffers.
            let bound = unsafe { candidate.bind(buffers, &self.pool) }?;
            if let Some(group) = group {
                let mut barrier = group.start_barrier()?;
                self.outstanding.until(self.yields(), || barrier.test())?;
            }
            let begin = mpi::time();
            let tag = self.tag(algorithm, &bound.executor)?;
            let result = self.execute(bound, tag);
            Ok((result, mpi::time() - begin))
        })?;
        if comparison.is_complete() {
            let choice = comparison.decide(&mut runner, |candidate| candidate.choice.candidate);
            runner.choice = choice;
            *race = None;
            *self.summary() = Summary::new(choice, &runner.schedule, Vec::new());
            self.timed.store(false, Ordering::Relaxed);
            if let Some(record) = self.record() {
                record.describe(self.schedule_line());
            }
        }
        Ok(result)
    }

    /// One line about the schedule in use, and why it was chosen.
    fn schedule_line(&self) -> String {
        self.summary().line()
    }

    fn summary(&self) -> MutexGuard<'_, Summary> {
        lock(&self.summary)
    }

    /// Several lines for people; see [`describe::text`].
    pub fn describe(&self) -> String {
        describe::text(self.operation, &self.pool, &self.summary(), &self.hints)
    }
}
