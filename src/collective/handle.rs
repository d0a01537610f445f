//! What hangs on a communicator: a private duplicate of it, and for each operation a neighborhood
//! with its schedule.
//!
//! Setting is collective; what it makes serves all later calls, which need only the processes at
//! the other ends of their edges. Nothing is made later but more executors for requests. When the
//! communicator is freed, MPI's attribute callback drops all of it.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::collective::fuse::Joined;
use crate::collective::setup::{self, Built};
use crate::collective::verify::Findings;
use crate::datatype::buffers::{Blocks, Buffers, RECV, SEND, Shape};
use crate::error::{Class, Error, Result};
use crate::exec::forward::Packets;
use crate::exec::p2p::{P2p, Waiting};
use crate::exec::shm::channel::{self, Channels};
use crate::exec::shm::{self, Shm};
use crate::exec::tags::Tags;
use crate::exec::{Any, Executor};
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::device;
use crate::mpi::topology::{self, Topology};
use crate::mpi::{self, MPI_Comm};
use crate::observe::{self, Record};
use crate::progress::{self, Outstanding};
use crate::schedule::{Algorithm, Block, FoldOrder, Input, Op, Operations, Schedule};
use crate::select::hints::{self, Hints};
use crate::select::{self, Choice};
use crate::shm::node::Team;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{self, Neighborhood, Rank};

/// The collective operations that a neighborhood can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `MPIX_Neighbor_gather`, `gatherv`
    Gather,
    /// `MPIX_Neighbor_alltoall`, `alltoallv`, `alltoallw`
    Alltoall,
    /// `MPIX_Neighbor_reduce`, `reducev`
    Reduce,
}

impl Operation {
    /// All, in the order of their bits.
    pub const ALL: [Operation; 3] = [Operation::Gather, Operation::Alltoall, Operation::Reduce];

    /// The bit in a set of operations.
    pub fn bit(self) -> i32 {
        1 << self as i32
    }

    /// A word for it.
    pub fn word(self) -> &'static str {
        ["gather", "alltoall", "reduce"][self as usize]
    }

    /// Name of the constant.
    pub fn name(self) -> &'static str {
        ["MPIX_NEIGHBOR_GATHER", "MPIX_NEIGHBOR_ALLTOALL", "MPIX_NEIGHBOR_REDUCE"][self as usize]
    }
}

/// Names of the collectives in verification messages, by operation.
pub const COLLECTIVES: [&str; 3] = ["a gather", "an alltoall", "a reduce"];

/// Calls with each schedule whose times are compared, after one that warms up.
const TRIALS: usize = 9;

/// What a process brings to a set call.
pub struct SetCall {
    /// Its lists.
    pub neighborhood: Neighborhood,
    /// Its hints.
    pub hints: Hints,
    /// Operations, as a set of bits.
    pub operations: i32,
}

/// A neighborhood set for one operation.
pub struct Slot {
    operation: Operation,
    making: Making,
    hints: Hints,
    tags: Arc<Tags>,
    outstanding: Arc<Outstanding>,
    /// Extents of the last calls' datatypes.
    extents: Extents,
    /// Whether calls are timed.
    timed: AtomicBool,
    /// Addresses of the buffers of the last blocking calls: with others comes a look whether a
    /// driver of devices has been loaded meanwhile.
    seen: [Cell<(*mut u8, *mut u8)>; 2],
    /// Borrowed while a collective runs.
    runner: RefCell<Runner>,
    trial: RefCell<Option<Trial>>,
    /// What is told of both: other threads may ask while a collective runs.
    shown: Mutex<Shown>,
    /// What nonblocking calls have used and the next ones can.
    spare: Mutex<Vec<Loan>>,
    /// Whether the neighborhood has been freed, or another one set in its place.
    stale: AtomicBool,
    /// Whether the communicator has been freed.
    orphaned: Arc<AtomicBool>,
}

// SAFETY: requests share a neighborhood with its communicator and may be completed in another
// thread than the one that started them, and any thread may ask for its properties. Both use what
// is locked, atomic or never changes; `runner`, `trial` and `extents` are used by calls that start
// collectives on the communicator, which are made one after the other, as MPI asks.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

/// An executor for a request.
pub struct Loan {
    /// What runs.
    pub executor: Box<Any>,
    /// Which of a request's tags its messages have.
    pub tag: usize,
    any_order: bool,
    /// Whether other requests can use it later.
    reusable: bool,
}

// SAFETY: what an executor holds are addresses in buffers of the caller's, at which whoever
// completes the call may look, memory of its own, and handles, which may be used in any thread that
// may call MPI.
unsafe impl Send for Loan {}

/// What executors are made of, beside a schedule.
struct Making {
    comm: Arc<Comm>,
    /// The process alone, for those that reduce.
    alone: Option<Arc<Comm>>,
    neighborhood: Arc<Neighborhood>,
    waiting: Waiting,
    window: u32,
    /// The memory that it shares with neighbors, where it does.
    link: Option<Arc<Channels>>,
    /// What is counted and traced, where the environment asks for it.
    record: Option<Arc<Record>>,
}

/// What an executor is for.
#[derive(Clone, Copy)]
struct Purpose {
    /// The order in which it reduces, if it does.
    fold: Option<FoldOrder>,
    /// Whether it is for requests.
    request: bool,
    /// Fields that it exchanges together, where that is by shared memory.
    fields: usize,
    /// Whether messages may go by shared memory.
    shares: bool,
}

impl Making {
    /// The executor of a schedule, which is not folded.
    fn executor(&self, schedule: &Schedule, purpose: Purpose) -> Any {
        let mut executor = self.unobserved(schedule, purpose);
        if let Some(record) = &self.record {
            executor.observe(record);
        }
        executor
    }

    fn unobserved(&self, schedule: &Schedule, purpose: Purpose) -> Any {
        let (comm, me) = (Arc::clone(&self.comm), self.neighborhood.rank());
        if schedule.algorithm().entry().forwards() {
            return Any::Packets(Box::new(Packets::new(comm, me, self.waiting, schedule)));
        }
        if let Some(link) = self.link.as_ref().filter(|_| purpose.shares) {
            let parts = shm::Parts {
                schedule,
                neighborhood: &self.neighborhood,
                fold: purpose.fold,
                started_only: purpose.request,
                fields: purpose.fields,
                waiting: self.waiting,
                window: self.window,
            };
            return Any::Shm(Box::new(Shm::new(link, comm, self.alone.clone(), &parts)));
        }
        match purpose.fold {
            Some(order) => P2p::new(comm, self.alone.clone(), me, self.waiting, self.window, &schedule.folded(order)).into(),
            None => P2p::new(comm, None, me, self.waiting, self.window, schedule).into(),
        }
    }
}

/// Lets neighbors on a node share memory: what comes of it for each of the operations, in their
/// order. Collective.
fn share_memory(
    team: &Team,
    n: &Neighborhood,
    hints: &Hints,
    operations: &[Operation],
    processes: u32,
    generation: u64,
) -> Result<Vec<Arc<Channels>>> {
    // verified collectives survive that neighbors call different ones, which rings do not
    let bytes = hints.shared_bytes();
    if hints.verify || bytes < hints::LEAST_SHARED {
        return Ok(Vec::new());
    }
    let common: Vec<bool> = operations.iter().map(|&o| o == Operation::Gather).collect();
    let part;
    let team = match &hints.nodes {
        None => team,
        Some(placement) => {
            // a list that is too short is an error where nodes are asked for, and here one node for
            // all
            let node = placement.locality(processes).map_or(0, |nodes| nodes.node_of(n.rank()));
            part = team.part(node, n.rank())?;
            &part
        }
    };
    Ok(channel::make(team, n, &common, (bytes as usize, hints.single_copy), generation)?.unwrap_or_default())
}

/// A schedule and what runs it.
struct Runner {
    choice: Choice,
    /// Before it is folded.
    schedule: Arc<Schedule>,
    executor: Any,
    /// For reductions in any order, where the caller allows them.
    any_order: Option<Any>,
}

/// What `describe` tells of the schedule that runs, and of others that are compared with it.
struct Shown {
    choice: Choice,
    rounds: usize,
    messages: usize,
    others: Vec<&'static str>,
}

impl Shown {
    fn of(runner: &Runner, trial: Option<&Trial>) -> Shown {
        let others = trial.iter().flat_map(|t| t.runners.iter().map(|r| r.choice.algorithm.name())).collect();
        Shown { choice: runner.choice, rounds: runner.schedule.rounds(), messages: runner.schedule.messages(), others }
    }

    fn line(&self) -> String {
        let why = match &self.others[..] {
            [] => self.choice.why.to_string(),
            others => format!("the first calls compare it with {}", others.join(", ")),
        };
        let (rounds, messages) = (count(self.rounds, "round", "rounds"), count(self.messages, "message", "messages"));
        format!("schedule {}: {rounds}, {messages}; {why}", self.choice.algorithm.name())
    }
}

/// The schedules whose times the first calls compare.
struct Trial {
    runners: Vec<Runner>,
    /// Times of each in seconds, the first one for warming up.
    times: Vec<Vec<f64>>,
}

/// What is known of the datatypes of both sides of a call.
#[derive(Debug, Default)]
pub struct Extents {
    /// Of what is sent.
    pub send: Known,
    /// Of what is received.
    pub recv: Known,
}

/// The attribute's value.
struct Handle {
    comm: Arc<Comm>,
    /// The process alone, made with the first neighborhood that reduces.
    alone: Option<Arc<Comm>>,
    waiting: Waiting,
    /// The processes of this one's node.
    team: Arc<Team>,
    /// Neighborhoods that have been set.
    generation: u64,
    slots: [Option<Arc<Slot>>; 3],
    tags: [Arc<Tags>; 3],
    outstanding: Arc<Outstanding>,
}

/// Says that its communicator has been freed, when it has been: hangs there whether there are
/// neighborhoods or not.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

static GONE: Key<Gone> = Key::new();

static HANDLE: Key<Handle> = Key::new();

/// The neighborhood of a communicator for an operation.
///
/// # Safety
/// `comm` must be a communicator. The reference must not be alive when a neighborhood of the
/// communicator is set or freed.
#[inline]
pub unsafe fn lookup<'a>(comm: MPI_Comm, operation: Operation) -> Result<&'a Arc<Slot>> {
    // SAFETY: the caller vouches for `comm`; the value lives as long as the attribute. MPI lets a
    // program ask for a communicator's properties while a collective runs on it in another thread,
    // so that nothing here is exclusive; what a collective changes is in a `RefCell` of its own,
    // which queries leave alone, and collectives on one communicator do not run at the same time.
    let handle = unsafe { HANDLE.get(comm)?.as_ref() };
    (handle.and_then(|h| h.slots[operation as usize].as_ref()))
        .ok_or_else(|| Error::NoNeighborhood { operation: operation.name() }.into())
}

/// Sets a neighborhood for some operations. Collective over `comm`: every process calls it, also
/// one whose arguments are in error (`request`), and all come to the same end.
///
/// Cost: two reductions of a few words, on a Cartesian communicator one more, two where there is a
/// neighborhood already, and what `setup::schedules` says; at the first call on a communicator also
/// a duplicate of it and a split by nodes, at the first one that reduces a split into single
/// processes. When lists do not match: one exchange of O(P) words to find the pair.
///
/// # Safety
/// `comm` must be an intracommunicator.
pub unsafe fn set(comm: MPI_Comm, request: Result<SetCall>) -> Result<()> {
    let began = observe::SetCall::begin();
    // SAFETY: the caller vouches for `comm`.
    let (private, waiting, team, generation) = unsafe {
        match HANDLE.get(comm)?.as_ref() {
            Some(handle) => (Arc::clone(&handle.comm), handle.waiting, Arc::clone(&handle.team), handle.generation + 1),
            None => {
                let private = Comm::duplicate(comm)?;
                let team = Team::new(&private)?;
                // with more processes on the node than cores that they may use, the core must be
                // given away, unless MPI does
                let waiting = if team.oversubscribed() && !mpi::wait_yields() { Waiting::Yield } else { Waiting::Block };
                (Arc::new(private), waiting, Arc::new(team), 0)
            }
        }
    };
    // SAFETY: as above.
    let grid = unsafe { grid(comm) };
    device::look();
    let request = agree(&private, request)?;
    match_lists(&private, &request.neighborhood)?;
    let (neighborhood, directions) = find_directions(&private, request.neighborhood, grid.as_ref())?;
    let neighborhood = Arc::new(neighborhood);
    // SAFETY: a live communicator.
    let processes = unsafe { mpi::comm::size(private.raw()) }?;
    let one_node = team.size() == processes as usize;
    let input = Input { neighborhood: &neighborhood, processes, directions: directions.as_deref(), star: None, stencil: None };
    let wanted = |operation: Operation| request.operations & operation.bit() != 0;
    let operations = Operations {
        gather: wanted(Operation::Gather),
        alltoall: wanted(Operation::Alltoall),
        reduce: wanted(Operation::Reduce),
    };
    // SAFETY: the caller vouches for `comm`; no slot is in use during a set call.
    let known = unsafe { HANDLE.get(comm)?.as_ref() };
    let given = match known {
        Some(handle) => coll::allreduce(&private, [0, 1, 2].map(|k: usize| handle.tags[k].given()), Reduction::Max)?,
        None => [0; 3],
    };
    let built = match shared(&private, known, &neighborhood, &request.hints, operations)? {
        Some(built) => vec![built],
        None => setup::schedules(&private, &request.hints, &input, grid.as_ref(), one_node, operations)?,
    };
    let wanted: Vec<Operation> = Operation::ALL.into_iter().filter(|&operation| wanted(operation)).collect();
    let mut links = share_memory(&team, &neighborhood, &request.hints, &wanted, processes, generation)?.into_iter();
    // from here on nothing can fail for reasons that differ between processes, short of MPI itself
    // SAFETY: the caller vouches for `comm`.
    let observed = began.map(|began| unsafe { observe::Set::new(comm, began) });
    // SAFETY: the caller vouches for `comm`; no slot is in use during a set call.
    let handle = unsafe {
        if HANDLE.get(comm)?.is_null() {
            let handle = Handle {
                comm: Arc::clone(&private),
                alone: None,
                waiting,
                team,
                generation,
                slots: [None, None, None],
                tags: [0, 1, 2].map(|operation| Arc::new(Tags::new(operation))),
                outstanding: progress::of_process()?,
            };
            HANDLE.set(comm, handle)?;
        }
        HANDLE.get(comm)?.as_mut().expect("it has just been set")
    };
    handle.generation = generation;
    if request.operations & Operation::Reduce.bit() != 0 && handle.alone.is_none() {
        handle.alone = Some(Arc::new(private.alone()?));
    }
    // SAFETY: the caller vouches for `comm`.
    let orphaned = unsafe {
        if GONE.get(comm)?.is_null() {
            GONE.set(comm, Gone(Arc::default()))?;
        }
        Arc::clone(&GONE.get(comm)?.as_ref().expect("it has just been set").0)
    };
    for operation in wanted {
        let alone = handle.alone.clone().filter(|_| operation == Operation::Reduce);
        let making = Making {
            comm: Arc::clone(&private),
            alone: alone.clone(),
            neighborhood: Arc::clone(&neighborhood),
            waiting,
            window: request.hints.window,
            link: links.next(),
            record: observed.as_ref().map(|set| set.record(operation.word())),
        };
        let mut runners: Vec<Runner> =
            built.iter().map(|built| Runner::new(built.clone(), operation, &request.hints, &making)).collect();
        // while schedules are compared, each has its turn; the first one stands for all before that
        let first = runners.remove(0);
        let trial = (!runners.is_empty()).then(|| Trial::new(runners));
        let tags = Arc::clone(&handle.tags[operation as usize]);
        tags.restart(given[operation as usize]);
        let slot = Slot {
            operation,
            making,
            hints: request.hints.clone(),
            tags,
            outstanding: Arc::clone(&handle.outstanding),
            extents: Extents::default(),
            timed: AtomicBool::new(trial.is_some() && !request.hints.verify),
            shown: Mutex::new(Shown::of(&first, trial.as_ref())),
            seen: Default::default(),
            runner: RefCell::new(first),
            trial: RefCell::new(trial),
            spare: Mutex::default(),
            stale: AtomicBool::new(false),
            orphaned: Arc::clone(&orphaned),
        };
        if let Some(record) = &slot.making.record {
            record.describe(slot.schedule_line());
        }
        handle.replace(operation, Some(Arc::new(slot)));
    }
    if let Some(observed) = &observed {
        observed.end();
    }
    Ok(())
}

impl Handle {
    /// Puts a neighborhood, or none, in the place of another one. Requests that have begun on that
    /// go on.
    fn replace(&mut self, operation: Operation, slot: Option<Arc<Slot>>) {
        if let Some(old) = std::mem::replace(&mut self.slots[operation as usize], slot) {
            old.stale.store(true, Ordering::Relaxed);
        }
    }
}

/// The schedule of another operation on this communicator, if on all processes it has the same
/// lists and hints. Collective; one reduction of two words, none if there is no other operation.
fn shared(
    comm: &Comm,
    handle: Option<&Handle>,
    neighborhood: &Neighborhood,
    hints: &Hints,
    operations: Operations,
) -> Result<Option<Built>> {
    // slots are set and freed collectively: there are as many on all processes
    let Some(handle) = handle.filter(|h| h.slots.iter().any(Option::is_some)) else {
        return Ok(None);
    };
    let serves = |slot: &Slot| slot.runner.borrow().choice.algorithm.entry().unserved(operations).is_none();
    let fits = |slot: &Slot| {
        *slot.making.neighborhood == *neighborhood && slot.hints == *hints && slot.trial.borrow().is_none() && serves(slot)
    };
    let slot = handle.slots.iter().flatten().position(|slot| fits(slot));
    let mine = slot.map_or(-1, |s| s as i64);
    let [lowest, highest] = coll::allreduce(comm, [mine, -mine], Reduction::Min)?;
    Ok((lowest == -highest).then_some(slot).flatten().and_then(|position| {
        let slot = handle.slots.iter().flatten().nth(position)?;
        let runner = slot.runner.borrow();
        Some(Built { choice: runner.choice, schedule: Arc::clone(&runner.schedule) })
    }))
}

/// Buffers of a process whose arguments are in error, for a schedule without its blocks: nothing is
/// looked at.
pub fn no_buffers() -> Buffers<'static> {
    let nothing = |names| Blocks {
        base: std::ptr::null_mut(),
        datatype: mpi::datatype::null(),
        extent: 0,
        shape: Shape::Equal { count: 0 },
        names,
    };
    Buffers { input: nothing(&SEND), output: nothing(&RECV), op: None }
}

impl Runner {
    fn new(built: Built, operation: Operation, hints: &Hints, making: &Making) -> Runner {
        let Built { choice, schedule } = built;
        let folds = operation == Operation::Reduce;
        let any = folds && hints.reduce_order == FoldOrder::Any;
        let executor = |fold| making.executor(&schedule, Purpose { fold, request: false, fields: 1, shares: true });
        Runner {
            choice,
            executor: executor(folds.then_some(FoldOrder::Source)),
            any_order: any.then(|| executor(Some(FoldOrder::Any))),
            schedule,
        }
    }

    /// The executor for a call.
    ///
    /// # Safety
    /// The operator in `buffers` must be an operator.
    #[inline]
    unsafe fn executor_for(&mut self, buffers: &Buffers) -> Result<&mut Any> {
        Ok(match (&mut self.any_order, buffers.op) {
            // SAFETY: the caller vouches for the operator.
            (Some(any), Some(op)) if unsafe { mpi::op::commutes(op) }? => any,
            _ => &mut self.executor,
        })
    }
}

/// Removes the neighborhoods for some operations; with the last one all else that hangs on the
/// communicator. Collective over `comm`.
///
/// # Safety
/// As for `set`.
pub unsafe fn free(comm: MPI_Comm, operations: i32) -> Result<()> {
    // SAFETY: the caller vouches for `comm`; no slot is in use during a free call.
    unsafe {
        let Some(handle) = HANDLE.get(comm)?.as_mut() else {
            let operation = Operation::ALL.into_iter().find(|o| operations & o.bit() != 0).unwrap_or(Operation::Gather);
            return Err(Error::NoNeighborhood { operation: operation.name() }.into());
        };
        for operation in Operation::ALL {
            if operations & operation.bit() != 0 && handle.slots[operation as usize].is_none() {
                return Err(Error::NoNeighborhood { operation: operation.name() }.into());
            }
        }
        for operation in Operation::ALL {
            if operations & operation.bit() != 0 {
                handle.replace(operation, None);
            }
        }
        if handle.slots.iter().all(Option::is_none) {
            HANDLE.remove(comm)?;
        }
        Ok(())
    }
}

/// The grid of a Cartesian communicator. `None` also where the MPI has no such query.
///
/// # Safety
/// `comm` must be a communicator.
unsafe fn grid(comm: MPI_Comm) -> Option<Grid> {
    // SAFETY: the caller vouches for `comm`.
    match unsafe { topology::get(comm) } {
        Ok(Topology::Cartesian(dims, periodic)) => Some(Grid::new(dims, periodic)),
        _ => None,
    }
}

/// Lets all processes know whether all arguments are in order and equal where they must be.
fn agree(comm: &Comm, request: Result<SetCall>) -> Result<SetCall> {
    // SAFETY: a live communicator.
    let me = unsafe { mpi::comm::rank(comm.raw()) }?;
    let (operations, hints) = match &request {
        Ok(r) => (i64::from(r.operations), r.hints.agreed()),
        Err(_) => (0, 0),
    };
    let failed = if request.is_err() { i64::from(me) } else { i64::MAX };
    let devices = i64::from(device::is_in_use());
    let lowest = coll::allreduce(comm, [failed, operations, -operations, hints, -hints, -devices], Reduction::Min)?;
    if lowest[0] != i64::MAX {
        let root = lowest[0] as u32;
        let remote = share_error(comm, request.as_ref().err().map(|e| &**e), root, me)?;
        return Err(request.err().unwrap_or(remote.into()));
    }
    if lowest[1] != -lowest[2] {
        return Err(Error::Disagreement { what: "operations" }.into());
    }
    if lowest[3] != -lowest[4] {
        return Err(Error::Disagreement { what: Hints::AGREED }.into());
    }
    request.map(|request| SetCall { hints: Hints { devices: lowest[5] < 0, ..request.hints }, ..request })
}

/// Tells all processes the error of process `root`. Collective.
pub fn share_error(comm: &Comm, error: Option<&Error>, root: u32, me: u32) -> Result<Error> {
    const LENGTH: usize = u8::MAX as usize;
    let mut message = [0u8; LENGTH + 2];
    if me == root
        && let Some(e) = error
    {
        let text = e.to_string();
        let mut end = text.len().min(LENGTH);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        message[0] = e.class().unwrap_or(Class::Other) as u8;
        message[1] = end as u8;
        message[2..2 + end].copy_from_slice(&text.as_bytes()[..end]);
    }
    coll::broadcast(comm, &mut message, root)?;
    let class = Class::ALL.get(message[0] as usize).copied().unwrap_or(Class::Other);
    let text = String::from_utf8_lossy(&message[2..2 + message[1] as usize]).into_owned();
    Ok(Error::Remote { rank: root, class, text })
}

/// An error on all processes if a source or target entry has no counterpart at the other end.
/// Collective.
fn match_lists(comm: &Comm, neighborhood: &Neighborhood) -> Result<()> {
    if coll::allreduce(comm, neighborhood.fingerprint(), Reduction::Sum)? == [0, 0] {
        return Ok(());
    }
    // SAFETY: a live communicator.
    let size = unsafe { mpi::comm::size(comm.raw()) }?;
    let mut listed = vec![0u32; size as usize];
    for (rank, times) in Neighborhood::multiplicities(neighborhood.targets()) {
        listed[rank as usize] = times;
    }
    let listed_by = coll::alltoall(comm, &listed)?;
    let mismatch = neighborhood::first_mismatch(neighborhood, &listed_by);
    let me = neighborhood.rank();
    let found = if mismatch.is_some() { i64::from(me) } else { i64::MAX };
    let [root] = coll::allreduce(comm, [found], Reduction::Min)?;
    let Ok(root) = u32::try_from(root) else {
        return Err(Error::Internal("lists match, but their fingerprints do not".into()).into());
    };
    // the receiving process of the lowest rank speaks for all
    let remote = share_error(comm, mismatch.as_ref(), root, me)?;
    let error = match (remote, mismatch) {
        (_, Some(own)) if root == me => own,
        (Error::Remote { text, .. }, _) => Error::Lists { text },
        (other, _) => other,
    };
    Err(error.into())
}

/// Gives the edges directions where all of them on all processes have one, and orders the
/// directions by weight, heaviest first. Collective over a communicator that is Cartesian, nothing
/// otherwise.
fn find_directions(comm: &Comm, n: Neighborhood, grid: Option<&Grid>) -> Result<(Neighborhood, Option<Vec<u32>>)> {
    let Some(grid) = grid else {
        return Ok((n, None));
    };
    let known = n.has_directions();
    let labelled = if known { Some(n.clone()) } else { grid.with_directions(&n) };
    let weights = labelled.as_ref().map(|l| l.direction_weights(grid.dimensions()));
    // one word more: whether this process has no directions
    let mut mine = vec![-1i64; 2 * grid.dimensions()];
    mine.push(i64::from(labelled.is_none()));
    for (mine, weight) in mine.iter_mut().zip(weights.into_iter().flatten()) {
        *mine = weight.map_or(-1, i64::from);
    }
    let mut heaviest = vec![0i64; mine.len()];
    coll::allreduce_slice(comm, &mine, &mut heaviest, Reduction::Max)?;
    let missing = heaviest.pop() != Some(0);
    match labelled {
        Some(labelled) if !missing => {
            let mut order: Vec<u32> = (0..heaviest.len() as u32).filter(|&d| heaviest[d as usize] >= 0).collect();
            order.sort_by_key(|&d| std::cmp::Reverse(heaviest[d as usize]));
            Ok((labelled, Some(order)))
        }
        _ => Ok((n, None)),
    }
}

impl Slot {
    /// The lists.
    pub fn neighborhood(&self) -> &Neighborhood {
        &self.making.neighborhood
    }

    /// Extents of the last calls' datatypes.
    #[inline(always)]
    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    /// Runs what an executor was made for, to its end.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    #[inline]
    unsafe fn execute(&self, executor: &mut Any, algorithm: Algorithm, buffers: &Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe { executor.bind(buffers) }?;
        executor.start(self.tag(algorithm)?)?;
        self.wait_for(executor)
    }

    /// The tag of the next collective, which runs by this algorithm.
    #[inline]
    fn tag(&self, algorithm: Algorithm) -> Result<i32> {
        if algorithm.entry().one_round() {
            return Ok(self.tags.one());
        }
        let mut tag = [0];
        self.tags.next(&mut tag)?;
        Ok(tag[0])
    }

    /// Runs what has been started to its end.
    #[inline]
    fn wait_for(&self, executor: &mut Any) -> Result<()> {
        if let Some(record) = &self.making.record {
            let begin = Instant::now();
            let waited = self.wait_unobserved(executor);
            record.waited(begin);
            return waited;
        }
        self.wait_unobserved(executor)
    }

    #[inline(always)]
    fn wait_unobserved(&self, executor: &mut Any) -> Result<()> {
        if self.outstanding.is_empty() {
            return executor.wait();
        }
        self.outstanding.until(self.yields(), || executor.test())
    }

    /// An executor for a request, bound to nothing. One that an earlier request has used, if there
    /// is one. `alone`: of one whose starts match with one another alone, and so have no place in
    /// rings.
    ///
    /// # Safety
    /// The operator in `buffers` must be an operator.
    pub unsafe fn lend(&self, buffers: &Buffers, alone: bool) -> Result<Loan> {
        let runner = self.runner()?;
        let any_order = match (&runner.any_order, buffers.op) {
            // SAFETY: the caller vouches for the operator.
            (Some(_), Some(op)) => unsafe { mpi::op::commutes(op) }?,
            _ => false,
        };
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if !alone && let Some(position) = spare.iter().position(|loan| loan.any_order == any_order) {
            let mut loan = spare.swap_remove(position);
            loan.tag = 0;
            loan.executor.forget_datatypes();
            return Ok(loan);
        }
        let fold = match self.operation {
            Operation::Reduce if any_order => Some(FoldOrder::Any),
            Operation::Reduce => Some(FoldOrder::Source),
            _ => None,
        };
        let executor = self.making.executor(&runner.schedule, Purpose { fold, request: true, fields: 1, shares: !alone });
        // the first calls may still choose another schedule
        let reusable = !alone && !self.timed.load(Ordering::Relaxed);
        Ok(Loan { executor: Box::new(executor), tag: 0, any_order, reusable })
    }

    /// An executor for several fields on the edges to processes that are near. `None` where no
    /// memory is shared. For operations that do not reduce.
    pub fn lend_near(&self, fields: usize) -> Result<Option<Loan>> {
        if self.making.link.is_none() {
            return Ok(None);
        }
        let nothing = self.runner()?.schedule.retained(|_| false);
        let purpose = Purpose { fold: None, request: true, fields, shares: true };
        Ok(Some(Loan { executor: Box::new(self.making.executor(&nothing, purpose)), tag: 0, any_order: false, reusable: false }))
    }

    /// Whether edges to a process go without messages of MPI, where executors may share memory.
    pub fn is_near(&self, rank: Rank) -> bool {
        self.making.link.as_ref().is_some_and(|link| rank == self.making.neighborhood.rank() || link.has(rank))
    }

    /// An executor for edges to processes that are not near: where there are joined ones, for the
    /// others. `None` where there are no such edges. For operations that do not reduce.
    pub fn lend_far(&self, joined: Option<&Joined>, shares: bool) -> Result<Option<Loan>> {
        let near = |rank: Rank| shares && self.is_near(rank);
        let schedule = self.runner()?.schedule.retained(|op| match *op {
            Op::Recv { into: Block::Output(source), from, .. } => !near(from) && joined.is_none_or(|j| !j.source(source)),
            Op::Send { block: Block::Input(target), to, .. } => !near(to) && joined.is_none_or(|j| !j.target(target)),
            Op::Recv { from, .. } => !near(from),
            Op::Send { to, .. } => !near(to),
            Op::Copy { .. } | Op::Reduce { .. } => !near(self.making.neighborhood.rank()),
        });
        let purpose = Purpose { fold: None, request: true, fields: 1, shares: false };
        let executor = || Box::new(self.making.executor(&schedule, purpose));
        Ok((!schedule.ops().is_empty()).then(|| Loan { executor: executor(), tag: 0, any_order: false, reusable: false }))
    }

    /// Takes an executor back that is not running.
    pub fn give_back(&self, loan: Loan) {
        if loan.reusable {
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(loan);
        }
    }

    /// What is counted and traced, where the environment asks for it.
    #[inline(always)]
    pub fn record(&self) -> Option<&Record> {
        self.making.record.as_deref()
    }

    /// The hints that it was set with.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// The private communicator.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.making.comm
    }

    /// Which operation it serves.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Whether a process that waits must give its core away.
    pub fn yields(&self) -> bool {
        self.making.waiting == Waiting::Yield || self.making.link.as_ref().is_some_and(|link| link.oversubscribed)
    }

    /// The operation's tags.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// What the process has under way.
    pub fn outstanding(&self) -> &Outstanding {
        &self.outstanding
    }

    /// Whether it has been freed, or another one set in its place.
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    /// Whether its communicator has been freed.
    pub fn is_orphaned(&self) -> bool {
        self.orphaned.load(Ordering::Relaxed)
    }

    /// Whether calls are verified.
    #[inline]
    pub fn verifies(&self) -> bool {
        self.hints.verify
    }

    /// Runs one collective that is not verified to its end.
    ///
    /// # Safety
    /// The buffers must be what the C prototype asks for.
    #[inline]
    pub unsafe fn run(&self, buffers: &Buffers) -> Result<()> {
        if self.seen[0].get() != (buffers.input.base, buffers.output.base) {
            self.see(buffers);
        }
        if let Some(record) = &self.making.record {
            // SAFETY: the caller vouches for the buffers.
            return unsafe { self.run_observed(record, buffers) };
        }
        // SAFETY: as above.
        unsafe { self.run_unobserved(buffers) }
    }

    #[cold]
    unsafe fn run_observed(&self, record: &Record, buffers: &Buffers) -> Result<()> {
        let call = record.begin();
        // SAFETY: as for `run`.
        let done = unsafe { self.run_unobserved(buffers) };
        record.end(&call, None);
        done
    }

    #[inline(always)]
    unsafe fn run_unobserved(&self, buffers: &Buffers) -> Result<()> {
        // SAFETY: as for `run`.
        unsafe {
            if self.timed.load(Ordering::Relaxed) {
                return self.run_timed(buffers);
            }
            let mut runner = self.runner()?;
            let algorithm = runner.choice.algorithm;
            self.execute(runner.executor_for(buffers)?, algorithm, buffers)
        }
    }

    /// Remembers buffers, and looks for a driver where they are new: it may have been loaded since
    /// the last look, as CUDA's runtime does with its first allocation. At `MPI_BOTTOM` each call
    /// may have others.
    #[cold]
    fn see(&self, buffers: &Buffers) {
        let (new, [last, other]) = ((buffers.input.base, buffers.output.base), &self.seen);
        if other.replace(last.replace(new)) != new {
            device::look();
        }
        if new.0.is_null() || new.1.is_null() {
            last.set((std::ptr::null_mut(), std::ptr::without_provenance_mut(1)));
        }
    }

    #[inline]
    fn runner(&self) -> Result<RefMut<'_, Runner>> {
        self.runner.try_borrow_mut().map_err(|_| Error::Busy.into())
    }

    /// Runs one collective by the schedule whose turn it is, and after the last turn keeps the
    /// fastest: the slowest process counts. The last one is collective over the communicator.
    ///
    /// # Safety
    /// As for `run`.
    #[cold]
    unsafe fn run_timed(&self, buffers: &Buffers) -> Result<()> {
        let mut runner = self.runner()?;
        let mut trial = self.trial.try_borrow_mut().map_err(|_| Error::Busy)?;
        let Some(comparison) = trial.as_mut() else {
            return Err(Error::Internal("there is nothing to compare".into()).into());
        };
        let turn = comparison.turn();
        let timed = if turn == 0 { &mut *runner } else { &mut comparison.runners[turn - 1] };
        let algorithm = timed.choice.algorithm;
        // SAFETY: the caller vouches for the buffers.
        let (result, time) = unsafe {
            let executor = timed.executor_for(buffers)?;
            // arguments in error count for no turn: they are found before anything is sent
            executor.bind(buffers)?;
            let begin = Instant::now();
            let tag = self.tag(algorithm)?;
            let result = executor.start(tag).and_then(|()| self.wait_for(executor));
            (result, begin.elapsed().as_secs_f64())
        };
        comparison.times[turn].push(time);
        if comparison.complete() {
            let mut fastest = vec![0.0f64; comparison.times.len()];
            coll::allreduce_slice(&self.making.comm, &comparison.medians(), &mut fastest, Reduction::Max)?;
            let all = std::iter::once(&*runner).chain(&comparison.runners);
            let times: Vec<(Algorithm, f64)> = all.zip(&fastest).map(|(r, t)| (r.choice.algorithm, 1e6 * t)).collect();
            let choice = select::fastest(&times);
            let winner = times.iter().position(|t| t.0 == choice.algorithm).unwrap_or(0);
            if winner > 0 {
                *runner = comparison.runners.swap_remove(winner - 1);
            }
            runner.choice = choice;
            *trial = None;
            *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown::of(&runner, None);
            self.timed.store(false, Ordering::Relaxed);
            if let Some(record) = &self.making.record {
                record.describe(self.schedule_line());
            }
        }
        result
    }

    /// The schedule that runs now, before it is folded.
    pub fn schedule(&self) -> Result<Arc<Schedule>> {
        Ok(Arc::clone(&self.runner()?.schedule))
    }

    /// The executor, for a schedule of this neighborhood, of what verification has found good;
    /// neighbors at the other ends of good edges count on this process. `None`: its own arguments
    /// are in error; then it serves those who count on what it passes on, if there are such.
    pub fn lend_for_good(&self, schedule: &Schedule, findings: Option<&Findings>) -> Option<Loan> {
        let fold = (self.operation == Operation::Reduce).then_some(FoldOrder::Source);
        let purpose = Purpose { fold, request: true, fields: 1, shares: false };
        let executor = |schedule: &Schedule| Box::new(self.making.executor(schedule, purpose));
        let loan = |schedule: &Schedule| Loan { executor: executor(schedule), tag: 0, any_order: false, reusable: false };
        let forwards = schedule.algorithm().entry().forwards();
        let Some(findings) = findings else {
            return forwards.then(|| loan(&schedule.without(|_| true)));
        };
        let good = |block: &Block| match *block {
            Block::Input(t) => findings.targets[t as usize],
            Block::Output(s) => findings.sources[s as usize],
            Block::Scratch(_) | Block::Packet(_) => true,
        };
        let good_part = match schedule {
            schedule if forwards => schedule.without(|block| !good(&block)),
            schedule => schedule.retained(|op| match op {
                Op::Recv { into, .. } => good(into),
                Op::Send { block, .. } => good(block),
                Op::Copy { from, into } | Op::Reduce { from, into } => good(from) && good(into),
            }),
        };
        Some(loan(&good_part))
    }

    /// What goes by shared memory, for a person.
    fn sharing(&self) -> String {
        let Some(link) = &self.making.link else { return "none".to_owned() };
        let n = &self.making.neighborhood;
        let near = |list: &[neighborhood::Neighbor]| {
            list.iter().filter(|e| e.rank.is_some_and(|rank| rank != n.rank() && link.has(rank))).count()
        };
        let (sources, targets) = (near(n.sources()), near(n.targets()));
        format!(
            "{sources} of the sources and {targets} of the targets, at once whatever the schedule; {} KiB for each process",
            link.bytes() >> 10
        )
    }

    /// One line about the schedule that runs, and why.
    fn schedule_line(&self) -> String {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).line()
    }

    /// Some lines for a person: lists, schedule and why, way of waiting.
    pub fn describe(&self) -> String {
        let n = &self.making.neighborhood;
        let edges = |list: &[neighborhood::Neighbor], one: &str, many: &str| {
            let processes = Neighborhood::multiplicities(list).len();
            format!("{} ({})", count(list.len(), one, many), count(processes, "process", "processes"))
        };
        format!(
            "{} on process {}: {}, {}, {}\n\
             {}\n\
             shared memory: {}\n\
             waiting: {}; verification {}\n\
             {}",
            self.operation.name(),
            n.rank(),
            edges(n.sources(), "source", "sources"),
            edges(n.targets(), "target", "targets"),
            if n.weighted() { "weighted" } else { "unweighted" },
            self.schedule_line(),
            self.sharing(),
            match self.making.waiting {
                Waiting::Block => "in MPI",
                Waiting::Yield => "polling and yielding the core, as the node has more processes than cores",
            },
            if self.hints.verify { "on" } else { "off" },
            self.hints.describe(),
        )
    }
}

/// A number of things.
fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

impl Trial {
    fn new(runners: Vec<Runner>) -> Trial {
        let times = (0..=runners.len()).map(|_| Vec::with_capacity(1 + TRIALS)).collect();
        Trial { runners, times }
    }

    /// Whose turn it is: they take turns, so that what disturbs some calls disturbs all schedules.
    fn turn(&self) -> usize {
        let calls: usize = self.times.iter().map(Vec::len).sum();
        calls % self.times.len()
    }

    fn complete(&self) -> bool {
        self.times.iter().all(|t| t.len() == 1 + TRIALS)
    }

    /// The median time of each, without the first one.
    fn medians(&self) -> Vec<f64> {
        let median = |times: &Vec<f64>| {
            let mut sorted = times[1..].to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        self.times.iter().map(median).collect()
    }
}
