//! What hangs on a communicator: a private duplicate of it, and for each operation a neighborhood with its schedule.
//!
//! Setting is collective; what it makes serves all later calls, which need only the processes at the other ends of their edges. Nothing is
//! made later. When the communicator is freed, MPI's attribute callback drops all of it.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use crate::cartesian::Grid;
use crate::error::{Class, Error, Result};
use crate::exec::Executor;
use crate::exec::buffers::Buffers;
use crate::exec::check;
use crate::exec::p2p::{P2p, Waiting};
use crate::hints::Hints;
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::topology::{self, Topology};
use crate::mpi::{self, MPI_Comm};
use crate::neighborhood::{self, Neighborhood};
use crate::schedule::{Block, Build, FoldOrder, Input, Op, Schedule};
use crate::select::{Choice, select};

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

    /// Name of the constant.
    pub fn name(self) -> &'static str {
        ["MPIX_NEIGHBOR_GATHER", "MPIX_NEIGHBOR_ALLTOALL", "MPIX_NEIGHBOR_REDUCE"][self as usize]
    }
}

/// Names of the collectives in verification messages, by operation.
const COLLECTIVES: [&str; 3] = ["a gather", "an alltoall", "a reduce"];

/// Rounds whose receives are posted: each round is complete before the next one begins.
const WINDOW: u32 = 1;

/// Tag of an operation's messages on the private communicator.
fn tag(operation: Operation) -> i32 {
    1 + operation as i32
}

/// What a process brings to a set call.
pub struct Request {
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
    comm: Rc<Comm>,
    alone: Option<Rc<Comm>>,
    neighborhood: Rc<Neighborhood>,
    /// Before it is folded.
    schedule: Rc<Schedule>,
    hints: Hints,
    choice: Choice,
    waiting: Waiting,
    /// Extents of the last calls' datatypes.
    extents: Extents,
    /// Borrowed while a collective runs.
    executor: RefCell<P2p>,
    /// For reductions in any order, where the caller allows them.
    any_order: Option<RefCell<P2p>>,
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
    comm: Rc<Comm>,
    /// The process alone, made with the first neighborhood that reduces.
    alone: Option<Rc<Comm>>,
    waiting: Waiting,
    slots: [Option<Box<Slot>>; 3],
}

static HANDLE: Key<Handle> = Key::new();

/// The neighborhood of a communicator for an operation.
///
/// # Safety
/// `comm` must be a communicator. The reference must not be alive when a neighborhood of the communicator is set or freed.
#[inline]
pub unsafe fn lookup<'a>(comm: MPI_Comm, operation: Operation) -> Result<&'a Slot> {
    // SAFETY: the caller vouches for `comm`; the value lives as long as the attribute. MPI lets a program ask for a communicator's properties
    // while a collective runs on it in another thread, so that nothing here is exclusive; what a collective changes is in a `RefCell`
    // of its own, and collectives on one communicator do not run at the same time.
    let handle = unsafe { HANDLE.get(comm)?.as_ref() };
    (handle.and_then(|h| h.slots[operation as usize].as_deref()))
        .ok_or_else(|| Error::NoNeighborhood { operation: operation.name() }.into())
}

/// Sets a neighborhood for some operations. Collective over `comm`: every process calls it, also one whose arguments are in error
/// (`request`), and all come to the same end.
///
/// Cost: two reductions of a few words, on a Cartesian communicator one more; at the first call on a communicator also a duplicate of it and a
/// split by nodes, at the first one that reduces a split into single processes. When lists do not match: one exchange of O(P) words to find the pair.
///
/// # Safety
/// `comm` must be an intracommunicator.
pub unsafe fn set(comm: MPI_Comm, request: Result<Request>) -> Result<()> {
    // SAFETY: the caller vouches for `comm`.
    let (private, waiting) = unsafe {
        match HANDLE.get(comm)?.as_ref() {
            Some(handle) => (Rc::clone(&handle.comm), handle.waiting),
            None => {
                let private = Comm::duplicate(comm)?;
                let waiting = waiting(&private)?;
                (Rc::new(private), waiting)
            }
        }
    };
    // SAFETY: as above.
    let grid = unsafe { grid(comm) };
    let request = agree(&private, request)?;
    match_lists(&private, &request.neighborhood)?;
    let (neighborhood, directions) = find_directions(&private, request.neighborhood, grid)?;
    let neighborhood = Rc::new(neighborhood);
    // SAFETY: a live communicator.
    let processes = unsafe { mpi::comm::size(private.raw()) }?;
    let input = Input { neighborhood: &neighborhood, processes, directions: directions.as_deref() };
    let choice = select(&request.hints, &input)?;
    // from here on nothing can fail for reasons that differ between processes, short of MPI itself
    // SAFETY: the caller vouches for `comm`; no slot is in use during a set call.
    let handle = unsafe {
        if HANDLE.get(comm)?.is_null() {
            HANDLE.set(comm, Handle { comm: Rc::clone(&private), alone: None, waiting, slots: [None, None, None] })?;
        }
        HANDLE.get(comm)?.as_mut().expect("it has just been set")
    };
    if request.operations & Operation::Reduce.bit() != 0 && handle.alone.is_none() {
        handle.alone = Some(Rc::new(private.alone()?));
    }
    let built = Rc::new(match choice.algorithm.entry().build {
        Build::Local(build) => build(&input),
        Build::Global(_) => unreachable!(),
    });
    for operation in Operation::ALL {
        if request.operations & operation.bit() == 0 {
            continue;
        }
        let folds = operation == Operation::Reduce;
        let alone = handle.alone.clone().filter(|_| folds);
        let executor = |schedule: &Schedule| {
            let (comm, alone) = (Rc::clone(&private), alone.clone());
            RefCell::new(P2p::new(comm, alone, neighborhood.rank(), tag(operation), waiting, WINDOW, schedule))
        };
        let any = folds && request.hints.reduce_order == FoldOrder::Any;
        handle.slots[operation as usize] = Some(Box::new(Slot {
            operation,
            comm: Rc::clone(&private),
            alone: alone.clone(),
            neighborhood: Rc::clone(&neighborhood),
            schedule: Rc::clone(&built),
            hints: request.hints,
            choice,
            waiting,
            extents: Extents::default(),
            executor: if folds { executor(&built.folded(FoldOrder::Source)) } else { executor(&built) },
            any_order: any.then(|| executor(&built.folded(FoldOrder::Any))),
        }));
    }
    Ok(())
}

/// Removes the neighborhoods for some operations; with the last one all else that hangs on the communicator. Collective over `comm`.
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
                handle.slots[operation as usize] = None;
            }
        }
        if handle.slots.iter().all(Option::is_none) {
            HANDLE.remove(comm)?;
        }
        Ok(())
    }
}

/// How to wait on this machine: with more processes on the node than cores that they may use, give the core away, unless MPI does. Collective.
fn waiting(comm: &Comm) -> Result<Waiting> {
    /// Words of an affinity mask: 1,024 cores.
    const WORDS: usize = 16;
    let mut mask = [0u64; WORDS];
    // SAFETY: the mask has the size that is said; the kernel writes no more. On failure it stays empty.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    let node = comm.node()?;
    // MPIs bind processes to different cores: only all of a node's masks together tell what it has
    let usable = coll::allreduce(&node, mask, Reduction::Or)?;
    let cores: u32 = usable.iter().map(|w| w.count_ones()).sum();
    // SAFETY: a live communicator.
    let processes = unsafe { mpi::comm::size(node.raw()) }?;
    let crowded = cores > 0 && processes > cores;
    Ok(if crowded && !mpi::wait_yields() { Waiting::Yield } else { Waiting::Block })
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
fn agree(comm: &Comm, request: Result<Request>) -> Result<Request> {
    // SAFETY: a live communicator.
    let me = unsafe { mpi::comm::rank(comm.raw()) }?;
    let (operations, hints) = match &request {
        Ok(r) => (i64::from(r.operations), r.hints.agreed()),
        Err(_) => (0, 0),
    };
    let failed = if request.is_err() { i64::from(me) } else { i64::MAX };
    let lowest = coll::allreduce(comm, [failed, operations, -operations, hints, -hints], Reduction::Min)?;
    if lowest[0] != i64::MAX {
        let root = lowest[0] as u32;
        let remote = share_error(comm, request.as_ref().err().map(|e| &**e), root, me)?;
        return Err(request.err().unwrap_or(remote.into()));
    }
    if lowest[1] != -lowest[2] {
        return Err(Error::Disagreement { what: "operations" }.into());
    }
    if lowest[3] != -lowest[4] {
        return Err(Error::Disagreement { what: "info key mpix_schedule or mpix_verify" }.into());
    }
    request
}

/// Tells all processes the error of process `root`. Collective.
fn share_error(comm: &Comm, error: Option<&Error>, root: u32, me: u32) -> Result<Error> {
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

/// An error on all processes if a source or target entry has no counterpart at the other end. Collective.
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

/// Gives the edges directions where all of them on all processes have one, and orders the directions by weight, heaviest first. Collective
/// over a communicator that is Cartesian, nothing otherwise.
fn find_directions(comm: &Comm, n: Neighborhood, grid: Option<Grid>) -> Result<(Neighborhood, Option<Vec<u32>>)> {
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

/// Runs what an executor was made for, to its end.
///
/// # Safety
/// As for `Executor::bind`.
#[inline]
unsafe fn execute(executor: &mut impl Executor, buffers: &Buffers) -> Result<()> {
    // SAFETY: the caller vouches for the buffers.
    unsafe { executor.bind(buffers) }?;
    executor.start()?;
    executor.wait()
}

impl Slot {
    /// The lists.
    pub fn neighborhood(&self) -> &Neighborhood {
        &self.neighborhood
    }

    /// Extents of the last calls' datatypes.
    #[inline(always)]
    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    /// Runs one collective to its end.
    ///
    /// # Safety
    /// The buffers must be what the C prototype asks for.
    #[inline]
    pub unsafe fn run(&self, buffers: Result<&Buffers>) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            if self.hints.verify {
                self.run_verified(buffers)
            } else {
                let buffers = buffers?;
                execute(&mut *self.executor_for(buffers)?, buffers)
            }
        }
    }

    /// The executor for a call.
    ///
    /// # Safety
    /// The operator in `buffers` must be an operator.
    #[inline]
    unsafe fn executor_for(&self, buffers: &Buffers) -> Result<RefMut<'_, P2p>> {
        let executor = match (&self.any_order, buffers.op) {
            // SAFETY: the caller vouches for the operator.
            (Some(any), Some(op)) if unsafe { mpi::op::commutes(op) }? => any,
            _ => &self.executor,
        };
        executor.try_borrow_mut().map_err(|_| Error::Busy.into())
    }

    /// Lets the ends of all edges compare what they are about to do, and runs the collective over those that fit.
    ///
    /// # Safety
    /// As for `run`.
    #[cold]
    unsafe fn run_verified(&self, buffers: Result<&Buffers>) -> Result<()> {
        // what is wrong with this process's arguments shows when they are bound, which sends nothing; self edges are compared with the others
        let bound = buffers.and_then(|buffers| {
            // SAFETY: the caller vouches for the buffers.
            let bound = unsafe { self.executor_for(buffers)?.bind(buffers) };
            match bound {
                Err(e) if !matches!(*e, Error::SelfEdge { .. }) => Err(e),
                _ => Ok(buffers),
            }
        });
        let operation = self.operation as usize;
        // SAFETY: as above.
        let findings = unsafe { check::check(&self.neighborhood, bound.clone(), operation, &COLLECTIVES, &self.comm) }?;
        let buffers = bound?;
        let Some(text) = findings.text else {
            // SAFETY: as above.
            return unsafe { execute(&mut *self.executor_for(buffers)?, buffers) };
        };
        // neighbors at the other ends of good edges count on this process: serve them
        let good = |block: &Block| match *block {
            Block::Input(t) => findings.targets[t as usize],
            Block::Output(s) => findings.sources[s as usize],
            Block::Scratch(_) => true,
        };
        let mut schedule = self.schedule.retained(|op| match op {
            Op::Recv { into, .. } => good(into),
            Op::Send { block, .. } => good(block),
            Op::Copy { from, into } | Op::Reduce { from, into } => good(from) && good(into),
        });
        if self.operation == Operation::Reduce {
            schedule = schedule.folded(FoldOrder::Source);
        }
        let (comm, alone) = (Rc::clone(&self.comm), self.alone.clone());
        let mut executor = P2p::new(comm, alone, self.neighborhood.rank(), tag(self.operation), self.waiting, WINDOW, &schedule);
        // SAFETY: as above.
        unsafe { execute(&mut executor, buffers) }?;
        Err(Error::Verification(text).into())
    }

    /// Some lines for a person: lists, schedule and why, way of waiting.
    pub fn describe(&self) -> String {
        let n = &self.neighborhood;
        let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let edges = |list: &[neighborhood::Neighbor], one: &str, many: &str| {
            let processes = Neighborhood::multiplicities(list).len();
            format!("{} ({})", count(list.len(), one, many), count(processes, "process", "processes"))
        };
        format!(
            "{} on process {}: {}, {}, {}\n\
             schedule {}: {}, {}; {}\n\
             waiting: {}; verification {}\n",
            self.operation.name(),
            n.rank(),
            edges(n.sources(), "source", "sources"),
            edges(n.targets(), "target", "targets"),
            if n.weighted() { "weighted" } else { "unweighted" },
            self.choice.algorithm.name(),
            count(self.schedule.rounds(), "round", "rounds"),
            count(self.schedule.messages(), "message", "messages"),
            self.choice.why,
            match self.waiting {
                Waiting::Block => "in MPI",
                Waiting::Yield => "polling and yielding the core, as the node has more processes than cores",
            },
            if self.hints.verify { "on" } else { "off" },
        )
    }
}
