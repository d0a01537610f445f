//! Setting a neighborhood: the processes agree on it, choose a schedule, build it, and bind it to
//! the communicator.

use std::sync::Arc;

use crate::collective::executors::{ExecutorPool, Parts};
use crate::collective::handle::{BoundNeighborhood, HANDLE, Handle, Settings};
use crate::collective::set::world::GatheredGraph;
use crate::collective::tags::{self, Tags};
use crate::collective::{OPERATIONS, Operation, Selected, transport};
use crate::error::{Error, Result};
use crate::exec::shm::channel::{self, Channels};
use crate::exec::waiting::Waiting;
use crate::machine;
use crate::model::copies;
use crate::mpi::attribute::freed_flag;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::topology::{self, Topology};
use crate::mpi::{self, Communicator, device};
use crate::schedule::{Input, Operations};
use crate::select::hints::{Hints, SingleCopy};
use crate::select::{self, Choice, Next, Outline, Reason};
use crate::shm::node::Team;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::Neighborhood;
use crate::topology::nodes::Locality;
use crate::util::cast::to_int;
use crate::{observe, progress};

// neighborhoods that are set together share memory, with tags for each
const _: () = assert!(OPERATIONS as u64 <= channel::MOST_OPERATIONS);

mod agree;
mod build;
mod choose;
mod world;

pub use agree::SetCall;

/// Sets a neighborhood for some operations. Collective over `comm`: every process calls it, even
/// one whose arguments are in error (`request`), and all get the same outcome.
///
/// Cost: two reductions of a few words at the same time, one more if there is a neighborhood
/// already, and the cost of choosing schedules (see `select_schedules`). The first call on a
/// communicator also duplicates it and splits it by nodes; the first one for an operation that
/// combines blocks splits it into single processes. If lists do not match: one exchange of O(P)
/// words to find the pair.
///
/// # Safety
/// No reference to a neighborhood of the communicator may be alive.
pub unsafe fn set(comm: Communicator, request: Result<SetCall>) -> Result<()> {
    let began = observe::SetCall::begin();
    // SAFETY: the value lives as long as the communicator; the caller vouches that no neighborhood
    // is in use.
    let known = unsafe { HANDLE.get(comm)?.as_ref() };
    let (mut own, generation) = match known {
        Some(handle) => (Own::of(handle), handle.generation + 1),
        None => (Own::make(comm)?, 0),
    };
    let grid = grid(comm);
    device::look();
    let given = known.map_or([0; OPERATIONS], |handle| std::array::from_fn(|k| handle.tags[k].given()));
    let agreed = agree::agree(&own.comm, request, grid.as_ref(), given)?;
    // all neighborhoods have been freed, so that messages match again on a communicator that is new
    let renewed = agreed.unmatched && known.is_some_and(|handle| handle.neighborhoods.iter().all(Option::is_none));
    if renewed {
        own = Own::make(comm)?;
    }
    let Own { comm: private, waiting, team } = own;
    let (request, directions, given) = (agreed.call, agreed.directions, agreed.given);
    let SetCall { neighborhood, mut hints, operations: requested } = request;
    let neighborhood = Arc::new(neighborhood);
    let processes = private.size()?;
    let one_node = team.size() == processes;
    let input = Input { neighborhood: &neighborhood, processes, directions: directions.as_deref(), star: None, stencil: None };
    let wanted = |operation: Operation| requested & operation.bit() != 0;
    let operations = Operations {
        gather: wanted(Operation::Gather),
        alltoall: wanted(Operation::Alltoall) || wanted(Operation::Accumulate),
        reduce: wanted(Operation::Reduce),
    };
    let selected = match shared(&private, known, &neighborhood, &mut hints, operations)? {
        Some(selected) => vec![selected],
        None => {
            let outline = Outline { one_node, operations, ..agreed.outline };
            if select::asks_for_machine(&hints, outline, processes)
                && let Some((machine, origin)) = machine::learn(&private, team.group().ranks()[0], hints.learn)?
            {
                hints.learn_machine(machine, origin);
            }
            select_schedules(&private, &hints, &input, grid.as_ref(), outline, agreed.star)?
        }
    };
    let wanted: Vec<Operation> = Operation::ALL.into_iter().filter(|&operation| wanted(operation)).collect();
    // several schedules are compared by the processes that make the same calls
    let group = match selected.len() {
        0 | 1 => None,
        _ => Some(choose::connected(&private, &neighborhood, hints.whole_communicator)?),
    };
    let links = share_memory(&team, &neighborhood, &mut hints, &wanted, processes, generation)?;
    let first = team.group().ranks()[0];
    let mut transports = transport::choose(&private, &neighborhood, &hints, &wanted, &selected, &links, first)?.into_iter();
    let mut links = links.into_iter();
    // from here on only MPI itself can fail on some processes and not on others
    let observed = began.map(|began| observe::Set::new(comm, began));
    // SAFETY: as above; the caller vouches that no neighborhood is in use.
    let handle = unsafe {
        if known.is_none() || renewed {
            let handle = Handle {
                comm: Arc::clone(&private),
                self_comm: None,
                waiting,
                team,
                generation,
                neighborhoods: [const { None }; OPERATIONS],
                links: [const { None }; OPERATIONS],
                tags: Operation::ALL.map(|operation| Arc::new(Tags::new(operation as u8))),
                outstanding: progress::of_process()?,
            };
            HANDLE.set(comm, handle)?;
        }
        HANDLE.get(comm)?.as_mut().expect("it has just been set")
    };
    handle.generation = generation;
    if wanted.iter().any(|operation| operation.combines().is_some()) && handle.self_comm.is_none() {
        handle.self_comm = Some(Arc::new(private.self_comm()?));
    }
    let orphaned = freed_flag(comm)?;
    for operation in wanted {
        let pool = ExecutorPool::new(Parts {
            comm: Arc::clone(&private),
            self_comm: handle.self_comm.clone().filter(|_| operation.combines().is_some()),
            neighborhood: Arc::clone(&neighborhood),
            waiting,
            window: hints.window,
            link: links.next(),
            transport: transports.next().ok_or_else(|| Error::Internal("an operation has no transport".into()))?,
            record: observed.as_ref().map(|set| set.record(operation.word())),
        });
        let tags = Arc::clone(&handle.tags[operation as usize]);
        tags.restart(given[operation as usize]);
        let (hints, outstanding) = (hints.clone(), Arc::clone(&handle.outstanding));
        let settings = Settings {
            operation,
            directed: directions.is_some(),
            pool,
            hints,
            tags,
            outstanding,
            orphaned: Arc::clone(&orphaned),
            group: group.clone(),
        };
        let bound = BoundNeighborhood::new(settings, &selected)?;
        handle.replace(operation, Some(Arc::new(bound)))?;
    }
    // that of neighborhoods that have been replaced
    handle.team.trim();
    if let Some(observed) = &observed {
        observed.end();
    }
    Ok(())
}

/// The library's own objects on a communicator, the same for all of its neighborhoods.
struct Own {
    comm: Arc<Comm>,
    waiting: Waiting,
    team: Arc<Team>,
}

impl Own {
    fn of(handle: &Handle) -> Own {
        Own { comm: Arc::clone(&handle.comm), waiting: handle.waiting, team: Arc::clone(&handle.team) }
    }

    /// Duplicates the communicator, and finds the processes of the node. Collective.
    fn make(comm: Communicator) -> Result<Own> {
        let comm = Arc::new(Comm::duplicate(comm)?);
        let team = Team::new(&comm, machine::copies::known()?)?;
        // with more processes on the node than cores, waiting must yield the core unless MPI does
        let waiting = if team.oversubscribed() && !mpi::wait_yields() { Waiting::Yield } else { Waiting::Block };
        Ok(Own { comm, waiting, team: Arc::new(team) })
    }
}

/// The schedule of another operation on this communicator, if it has the same lists and hints on
/// all processes, and the parameters that it was made with. Collective: one reduction of two words,
/// none if there is no other operation.
fn shared(
    comm: &Comm,
    handle: Option<&Handle>,
    neighborhood: &Neighborhood,
    hints: &mut Hints,
    operations: Operations,
) -> Result<Option<Selected>> {
    // neighborhoods are set and freed collectively: there are as many on all processes
    let Some(handle) = handle.filter(|h| h.neighborhoods.iter().any(Option::is_some)) else {
        return Ok(None);
    };
    let serves = |selected: &Selected| selected.choice.algorithm.entry().unserved(operations).is_none();
    let mut others = handle.neighborhoods.iter().flatten().enumerate();
    let found = others.find_map(|(i, other)| Some((i, other.reusable_schedule(neighborhood, hints).filter(serves)?, other)));
    let mine = found.as_ref().map_or(-1, |(i, ..)| to_int::<i64>(*i));
    let [lowest, highest] = coll::allreduce(comm, [mine, -mine], Reduction::Min)?;
    Ok(found.filter(|_| lowest == -highest).map(|(_, selected, other)| {
        if let Some((machine, origin)) = other.hints().learned.0 {
            hints.learn_machine(machine, origin);
        }
        selected
    }))
}

/// Selects the schedules of a neighborhood: one, or several that the first calls compare by time.
/// `grid` is that of a Cartesian communicator, `shares` the sum of all processes' shares of a star.
/// Collective: all processes pass hints that agree, and make the same choice.
///
/// Cost: where forwarding helps, that of `find_star` and `find_stencil`. Where the graph of all
/// processes is needed, process 0 gathers it once: 8 bytes an edge and 12 a process there. It makes
/// the plan, in the time that the algorithm states, and sends each process its share, 20 bytes for
/// each end of a message; or it compares predicted times, and broadcasts 17 bytes. On a
/// large grid it gathers nothing to compare: a reduction of a word for each offset finds the
/// weights.
///
/// # Errors
/// The schedule that a hint asks for does not fit; the same on all processes.
fn select_schedules(
    comm: &Comm,
    hints: &Hints,
    input: &Input,
    grid: Option<&Grid>,
    mut outline: Outline,
    shares: [u64; 4],
) -> Result<Vec<Selected>> {
    let star = if select::may_forward(hints, outline) { choose::find_star(comm, input.neighborhood, shares)? } else { None };
    let stencil = match grid {
        Some(grid) if select::may_combine(hints, outline) => choose::find_stencil(comm, input.neighborhood, grid)?,
        _ => None,
    };
    let input = &Input { star: star.as_ref(), stencil: stencil.as_ref(), ..*input };
    let gathers = select::asks_for_nodes(hints, outline);
    // a list of the wrong length means one node for all here
    let fits = || hints.nodes.as_ref().is_none_or(|placement| placement.locality(input.processes).is_ok());
    let shares_memory = select::orders_between_nodes(hints, input.stencil, outline) && !mpi::is_simulated() && fits();
    let asks = gathers || shares_memory || select::asks_for_sharing(hints, input.stencil, outline);
    let nodes = asks.then(|| choose::find_nodes(comm, hints, input)).transpose()?;
    outline.nodes = nodes.as_ref().filter(|_| gathers).map_or(0, Locality::nodes);
    let mut world = GatheredGraph { comm, neighborhood: input.neighborhood, gathered: false, graph: None, nodes, shares_memory };
    let chosen = match select::select(hints, input, outline)? {
        Next::Take(choice) => vec![choice],
        Next::Compare => vec![choose::compare(&mut world, hints, input, outline)?],
        Next::Try => (select::candidates(hints, input, outline).into_iter())
            .map(|algorithm| Choice { algorithm, why: Reason::Asked })
            .collect(),
    };
    (chosen.into_iter())
        .map(|choice| Ok(Selected { choice, schedule: Arc::new(build::build(&mut world, choice.algorithm, hints, input)?) }))
        .collect()
}

/// Maps memory that neighbors on a node share. Returns a link for each of the operations, in their
/// order, or none. Collective.
fn share_memory(
    team: &Team,
    n: &Neighborhood,
    hints: &mut Hints,
    operations: &[Operation],
    processes: u32,
    generation: u64,
) -> Result<Vec<Arc<Channels>>> {
    if !hints.shares_memory() {
        return Ok(Vec::new());
    }
    let bytes = hints.shared_bytes();
    let single_from = single_copies(team, hints)?;
    let common: Vec<bool> = operations.iter().map(|&o| o == Operation::Gather).collect();
    let part;
    let team = match &hints.nodes {
        None => team,
        Some(placement) => {
            // a list that is too short is an error where a hint asks for nodes; here it means one
            // node for all
            let node = placement.locality(processes).map_or(0, |nodes| nodes.node_of(n.rank()));
            part = team.part(node)?;
            &part
        }
    };
    let tags = tags::shared(mpi::message::largest_tag()?);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    Ok(channel::make(team, n, &common, (bytes, single_from), tags, generation)?.unwrap_or_default())
}

/// From how many bytes on messages are copied from their sender's memory, where that is less than
/// a cell has; `None` for none. Collective over the node.
fn single_copies(team: &Team, hints: &mut Hints) -> Result<Option<u64>> {
    // device memory is MPI's to write
    if hints.devices || device::is_in_use() {
        return Ok(None);
    }
    Ok(match hints.single_copy {
        SingleCopy::Never => None,
        SingleCopy::AboveCell => Some(u64::MAX),
        SingleCopy::From(bytes) => Some(bytes),
        SingleCopy::Auto if team.size() < 2 => None,
        SingleCopy::Auto => match machine::copies::learn(team)? {
            Some((from, origin)) => {
                hints.learn_single_copy(from, origin);
                (from != copies::NEVER).then_some(from)
            }
            None => Some(u64::MAX),
        },
    })
}

/// The grid of a Cartesian communicator. `None` also if the MPI has no such query.
fn grid(comm: Communicator) -> Option<Grid> {
    match topology::get(comm) {
        Ok(Topology::Cartesian(dims, periodic)) => Some(Grid::new(dims, periodic)),
        _ => None,
    }
}
