//! Setting a neighborhood: the processes agree on it, choose a schedule, build it, and bind it to
//! the communicator.

use std::cell::OnceCell;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};

use smallvec::{SmallVec, smallvec};

use crate::collective::autotune::Timed;
use crate::collective::executors::ExecutorPool;
use crate::collective::handle::{BoundNeighborhood, HANDLE, Handle, Settings};
use crate::collective::own::{self, Own, Store};
use crate::collective::set::agree::{Agreed, Gathered, Reusable, State};
use crate::collective::set::choose::Compared;
use crate::collective::set::world::GatheredGraph;
use crate::collective::tags::{self, Tags};
use crate::collective::transport::Transport;
use crate::collective::{OPERATIONS, Operation, Selected, transport};
use crate::error::{Error, Result};
use crate::exec::shm::channel::{self, Channels, Copied, Prepared, Wish};
use crate::exec::waiting::Waiting;
use crate::machine::trials::{Alike, Calls};
use crate::machine::{self, trials};
use crate::model::copies;
use crate::mpi::attribute::freed_flag;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::topology;
use crate::mpi::{self, Communicator, coll, device, finalize, guard};
use crate::observe;
use crate::progress::{self, Outstanding};
use crate::schedule::{Algorithm, Input, Operations, Schedule};
use crate::select::hints::origins::Origin;
use crate::select::hints::{Decider, Hints, SingleCopy};
use crate::select::{self, Candidate, Choice, Next, Outline, Reason};
use crate::shm::node::Team;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::Neighborhood;
use crate::topology::nodes::Locality;

// neighborhoods that are set together share memory, with tags for each
const _: () = assert!(OPERATIONS as u64 <= channel::MOST_OPERATIONS);

mod agree;
mod build;
mod choose;
mod tree;
mod trial;
mod world;

pub use agree::SetCall;

/// Sets a neighborhood for some operations. Collective over `comm`: every process calls it, even
/// one whose arguments are in error (`request`), and all get the same outcome.
///
/// Cost: two reductions of a few words at the same time, or one through shared memory where the
/// communicator's processes are on one node and have set neighborhoods before, and the cost of
/// choosing schedules (see `select_schedules`). The first call on a communicator also duplicates it
/// and finds the processes of the node, and the first one for an operation that combines blocks
/// takes another reduction of a word, unless all processes have objects that an earlier
/// communicator of the same processes has left (see `own`). If lists do not match: one exchange of
/// O(P) words to find the pair.
///
/// # Safety
/// No reference to a neighborhood of the communicator may be alive.
pub unsafe fn set(comm: Communicator, request: Result<SetCall>) -> Result<()> {
    let began = observe::SetCall::begin();
    // SAFETY: the value lives as long as the communicator; the caller vouches that no neighborhood
    // is in use.
    let handle_before = unsafe { HANDLE.value(comm)? };
    let (grid, store) = (grid(comm), own::store()?);
    device::look();
    let Agreement { mut own, gathered, prepared } = agree_on_objects(comm, handle_before, &store, &request, grid.as_ref())?;
    let is_new = handle_before.is_none_or(|handle| handle.own.as_ref().is_none_or(|old| old.number != own.number));
    own.generation += 1;
    let call = Call { comm, handle_before, is_new, store: &store, grid: grid.as_ref(), prepared, began };
    // SAFETY: the caller vouches for the neighborhoods.
    unsafe { call.run(own, gathered, request) }
}

/// Lets the processes agree on all that they have to, and on the objects that the neighborhood
/// needs: those of the communicator, those that an earlier one has left, or new ones. Collective.
fn agree_on_objects(
    comm: Communicator,
    handle_before: Option<&Handle>,
    store: &Weak<Store>,
    request: &Result<SetCall>,
    grid: Option<&Grid>,
) -> Result<Agreement> {
    let Some((handle, own)) = handle_before.and_then(|handle| Some((handle, handle.own.as_ref()?))) else {
        let store = store.upgrade().ok_or_else(|| Error::Internal("MPI is being finalized".into()))?;
        let proposed = store.take(comm)?;
        let number = proposed.as_ref().map_or(0, |own| own.number);
        let prepared = proposed.as_ref().and_then(|own| prepare(own, request));
        let state = State::new([[0; 2]; OPERATIONS], number, proposed.as_ref(), prepared.as_ref());
        let gathered = match agree::gather(comm, None, request, grid, &state, |_, _| None) {
            Ok(gathered) => gathered,
            Err(error) => {
                drop(prepared);
                proposed.into_iter().for_each(|own| store.keep(own));
                return Err(error);
            }
        };
        // before objects are kept, which they are only if nothing else refers to them
        let prepared = prepared.filter(|_| gathered.prepared());
        let found = store.settle(proposed, gathered.proposed());
        let own = found.map_or_else(|| Own::make(comm, gathered.number()), Ok)?;
        return Ok(Agreement { own, gathered, prepared });
    };
    let given = std::array::from_fn(|k| handle.tags[k].given());
    let prepared = prepare(own, request);
    let state = State::new(given, 0, Some(own), prepared.as_ref());
    let place = |neighborhood: &Neighborhood, hints: &Hints| {
        let operations = request.as_ref().map_or_else(|_| Operations::default(), |call| kinds(call.operations));
        let serves = |selected: &Selected| selected.choice.algorithm().entry().unserved(operations).is_none();
        let reusable = |other: &Arc<BoundNeighborhood>| other.reusable_schedule(neighborhood, hints).filter(|s| serves(s));
        (handle.neighborhoods.iter().enumerate())
            .find_map(|(place, other)| Some(Reusable { place, algorithm: other.as_ref().and_then(reusable)?.choice.algorithm() }))
    };
    let gathered = agree::gather(comm, Some(own), request, grid, &state, place)?;
    // all neighborhoods have been freed, so that messages match again on a communicator that is new
    if gathered.unmatched() && handle.neighborhoods.iter().all(Option::is_none) {
        drop(prepared);
        return Ok(Agreement { own: Own::make(comm, gathered.number())?, gathered, prepared: None });
    }
    let prepared = prepared.filter(|_| gathered.prepared());
    Ok(Agreement { own: own.clone(), gathered, prepared })
}

/// What the processes have agreed on first.
struct Agreement {
    own: Own,
    /// Everything else.
    gathered: Gathered,
    /// Shared memory, if all have prepared some.
    prepared: Option<Prepared>,
}

/// Prepares shared memory for a neighborhood, if there is room in what the node keeps and nothing
/// has to be found out together. Local.
fn prepare(own: &Own, request: &Result<SetCall>) -> Option<Prepared> {
    let SetCall { neighborhood, hints, operations, .. } = request.as_ref().ok()?;
    let team = &own.team;
    let is_known = hints.single_copy != SingleCopy::Auto || team.size() < 2 || team.note().is_some();
    let in_use = hints.devices || device::is_in_use();
    if !hints.shares_memory() || hints.nodes.is_some() || in_use || !is_known {
        return None;
    }
    let (copied, _) = single_copies(team, hints).ok()?;
    let operations = numbered(Operation::of(*operations));
    Wish::new(team, neighborhood, operations, (most_bytes(hints), copied)).prepare()
}

/// For each operation, its number, and whether all targets get the same block.
fn numbered(operations: impl Iterator<Item = Operation>) -> channel::Numbered {
    operations.map(|operation| (operation as u64, operation == Operation::Gather)).collect()
}

/// Most bytes of shared memory for a target.
fn most_bytes(hints: &Hints) -> usize {
    usize::try_from(hints.shared_bytes()).unwrap_or(usize::MAX)
}

/// A set call.
struct Call<'a> {
    comm: Communicator<'a>,
    /// The neighborhoods of the communicator.
    handle_before: Option<&'a Handle>,
    /// True if their objects are not those of this one.
    is_new: bool,
    store: &'a Weak<Store>,
    grid: Option<&'a Grid>,
    prepared: Option<Prepared>,
    began: Option<observe::SetCall>,
}

impl<'a> Call<'a> {
    /// Makes the neighborhood, when the words of all processes are known. Collective.
    ///
    /// # Safety
    /// As for [`set`].
    unsafe fn run(mut self, mut own: Own, gathered: Gathered, request: Result<SetCall>) -> Result<()> {
        let mut agreed = agree::agree(&own.comm, gathered, request, self.grid)?;
        let wanted: SmallVec<[Operation; OPERATIONS]> = Operation::of(agreed.call.operations).collect();
        let Candidates { mut selected, open } = self.candidates(&own, &mut agreed, &wanted)?;
        let SetCall { neighborhood, mut hints, .. } = agreed.call;
        let (private, team) = (Arc::clone(&own.comm), Arc::clone(&own.team));
        // several schedules are compared by the processes that make the same calls
        let group = match selected.len() {
            2.. if open.is_none() => Some(choose::connected(&private, &neighborhood, hints.whole_communicator)?),
            _ => None,
        };
        let combines = wanted.iter().any(|operation| operation.combines().is_some());
        let makes_comm = combines && own.self_comm.is_none();
        let mut local = || -> Result<_> {
            let self_comm = if combines { Some(own.self_comm()?) } else { None };
            Ok((self_comm, progress::of_process()?, freed_flag(self.comm)?))
        };
        let made = local();
        // making a communicator fails where MPI has no more of them: then on all processes, before
        // anything is stored, or their next set calls would run on different communicators
        let made = if makes_comm { coll::share_outcome(&private, made) } else { made };
        let (self_comm, outstanding, orphaned) = made?;
        if hints.shares_memory() {
            own.prepare_reductions()?;
        }
        let channels = share_memory(&own, &neighborhood, &mut hints, &wanted, self.prepared.take())?;
        let first = team.group().ranks()[0];
        let mut transports = transport::choose(&private, &neighborhood, &hints, wanted.len(), &selected, &channels, first)?;
        // from here on only MPI itself can fail on some processes and not on others
        let observed = self.began.take().map(|began| observe::Set::new(self.comm, began));
        let waiting = own.waiting;
        // SAFETY: the caller vouches that no neighborhood is in use.
        let handle = unsafe { self.keep(own) }?;
        let binding = Binding {
            wanted,
            self_comm,
            comm: private,
            neighborhood: Arc::new(neighborhood),
            directed: agreed.directions.is_some(),
            waiting,
            hints: Arc::new(hints),
            channels,
            tags: handle.tags.clone(),
            outstanding,
            orphaned,
        };
        let restart = |operation: Operation| binding.tags[operation as usize].restart(agreed.given[operation as usize]);
        if let (Some(open), Some((place, operation))) = (open, trial::operation(&binding.wanted)) {
            restart(operation);
            let winner = binding.try_schedules(open, place, &transports, &selected, team.size())?;
            selected = smallvec![winner.unwrap_or_else(|| selected.swap_remove(0))];
            transports.iter_mut().try_for_each(|transport| Arc::make_mut(transport).settle(selected[0].choice.algorithm()))?;
        }
        for (place, &operation) in binding.wanted.iter().enumerate() {
            restart(operation);
            let timed = group.clone().map(Timed::First);
            let settings = binding.settings(place, &transports, timed, observed.as_ref());
            handle.replace(operation, Some(BoundNeighborhood::new(settings, &selected)?))?;
        }
        handle.free_retired()?;
        finalize::look_after();
        // that of neighborhoods that have been replaced
        team.trim();
        if let Some(observed) = &observed {
            observed.end();
        }
        Ok(())
    }

    /// Returns the schedules: that of another operation, if it has the same lists and hints on all
    /// processes, or what [`select_schedules`] says, after the machine has been measured if the
    /// choice depends on it. Collective.
    fn candidates(&self, own: &Own, agreed: &mut Agreed, wanted: &[Operation]) -> Result<Candidates> {
        let SetCall { neighborhood, hints, operations, .. } = &mut agreed.call;
        if let Some((handle, place)) = self.handle_before.zip(agreed.reusable)
            && let Some(selected) = shared(handle, place, neighborhood, hints)
        {
            return Ok(Candidates { selected: smallvec![selected], open: None });
        }
        let (comm, team) = (&own.comm, &own.team);
        let processes = comm.size()?;
        let directions = agreed.directions.as_deref();
        let input = Input { neighborhood, processes, directions, star: None, stencil: None };
        let calls = trial::calls(wanted, agreed.outline, hints.unit().into(), team.size());
        let (one_node, operations) = (team.size() == processes, kinds(*operations));
        let outline = Outline { one_node, operations, has_trial: calls.is_some(), ..agreed.outline };
        if select::asks_for_machine(hints, outline, processes, self.grid.is_some())
            && let Some((machine, origin)) = machine::learn(comm, team.group().ranks()[0], hints.learn)?
        {
            hints.learn_machine(machine, origin);
        }
        select_schedules(own, hints, &input, self.grid, outline, agreed.star, calls)
    }

    /// Returns what the communicator keeps of its neighborhoods, made anew if their objects are not
    /// those of this call, which it has from now on.
    ///
    /// # Safety
    /// As for [`set`].
    unsafe fn keep(&self, own: Own) -> Result<&'a mut Handle> {
        // SAFETY: the value lives as long as the communicator; the caller vouches that no
        // neighborhood is in use.
        unsafe {
            if self.is_new {
                let handle = Handle {
                    own: Some(own),
                    store: self.store.clone(),
                    failed: AtomicBool::new(false),
                    neighborhoods: [const { None }; OPERATIONS],
                    retired: Vec::new(),
                    tags: Operation::ALL.map(|operation| Arc::new(Tags::new(operation as u8))),
                };
                return HANDLE.set(self.comm, handle);
            }
            let handle = HANDLE.get(self.comm)?.as_mut().expect("its objects are those of this call");
            handle.own = Some(own);
            Ok(handle)
        }
    }
}

/// What the operations of a set call share when they are bound.
struct Binding {
    /// The operations.
    wanted: SmallVec<[Operation; OPERATIONS]>,
    comm: Arc<Comm>,
    /// For those that combine.
    self_comm: Option<Arc<Comm>>,
    neighborhood: Arc<Neighborhood>,
    /// True if all edges have directions.
    directed: bool,
    waiting: Waiting,
    hints: Arc<Hints>,
    /// Shared memory of each operation, in their order, or none.
    channels: Vec<Arc<Channels>>,
    /// For all operations that there are.
    tags: [Arc<Tags>; OPERATIONS],
    outstanding: Arc<Outstanding>,
    /// True once the communicator has been freed.
    orphaned: Arc<AtomicBool>,
}

impl Binding {
    /// Returns what the operation at `place` is bound with.
    fn settings(
        &self,
        place: usize,
        transports: &[Arc<Transport>],
        timed: Option<Timed>,
        observed: Option<&observe::Set>,
    ) -> Settings {
        let operation = self.wanted[place];
        let pool = ExecutorPool {
            comm: Arc::clone(&self.comm),
            self_comm: self.self_comm.clone().filter(|_| operation.combines().is_some()),
            neighborhood: Arc::clone(&self.neighborhood),
            waiting: self.waiting,
            window: self.hints.rounds_in_flight(),
            channels: self.channels.get(place).cloned(),
            transport: Arc::clone(&transports[place]),
            record: observed.map(|set| set.record(operation.word())),
            spare: Mutex::default(),
        };
        Settings {
            operation,
            directed: self.directed,
            pool,
            hints: Arc::clone(&self.hints),
            tags: Arc::clone(&self.tags[operation as usize]),
            outstanding: Arc::clone(&self.outstanding),
            orphaned: Arc::clone(&self.orphaned),
            timed,
        }
    }

    /// Compares schedules in trial calls of the operation at `place`, and remembers the winner of
    /// what is `open`; `None` if there is none, and the first one stands. Collective.
    fn try_schedules(
        &self,
        open: Alike,
        place: usize,
        transports: &[Arc<Transport>],
        selected: &[Selected],
        on_node: u32,
    ) -> Result<Option<Selected>> {
        let began = mpi::time();
        let settings = |timed| self.settings(place, transports, timed, None);
        let outcome = trial::run(settings, selected, self.hints.unit().into(), on_node)?;
        if self.comm.rank()? == 0 {
            trials::spend(began);
            match &outcome {
                trial::Outcome::Won(winner) => trials::remember(open, winner.choice)?,
                // not built and tried again
                trial::Outcome::NoRoom => trials::remember(open, selected[0].choice)?,
                trial::Outcome::Busy => {}
            }
        }
        Ok(if let trial::Outcome::Won(winner) = outcome { Some(winner) } else { None })
    }
}

/// What a schedule has to serve for these operations.
fn kinds(bits: i32) -> Operations {
    let wanted = |operation: Operation| bits & operation.bit() != 0;
    Operations {
        gather: wanted(Operation::Gather),
        alltoall: wanted(Operation::Alltoall) || wanted(Operation::Accumulate),
        reduce: wanted(Operation::Reduce),
    }
}

/// The schedule of the operation at `place`, which has the same lists and hints on all processes,
/// and the parameters that it was made with.
fn shared(handle: &Handle, place: usize, neighborhood: &Neighborhood, hints: &mut Hints) -> Option<Selected> {
    let other = handle.neighborhoods[place].as_ref().filter(|other| other.hints().devices == hints.devices)?;
    let selected = other.reusable_schedule(neighborhood, hints)?;
    if let Some((machine, origin)) = &other.hints().learned.machine {
        hints.learn_machine(Arc::clone(machine), *origin);
    }
    Some(selected)
}

/// The schedules of a neighborhood: one, or several to be compared by time.
struct Candidates {
    selected: SmallVec<[Selected; 1]>,
    /// What trial calls of the set call are to find out. `None`: the program's first calls compare.
    open: Option<Alike>,
}

/// Selects the schedules of a neighborhood: one, or several to be compared by time.
/// `grid` is that of a Cartesian communicator, `shares` the sum of all processes' shares of a star;
/// `calls`: what trial calls are like, if they can be made.
/// Collective: all processes pass hints that agree, and make the same choice.
///
/// Cost: where forwarding helps, that of `find_star` and `find_stencil`. Where the graph of all
/// processes is needed, process 0 gathers it once: 8 bytes an edge and 12 a process there. It makes
/// the plan, in the time that the algorithm states, and sends each process its share, 20 bytes for
/// each end of a message; or it compares predicted times, and broadcasts 32 bytes. On a
/// large grid it gathers nothing to compare: a reduction of a word for each offset finds the
/// weights. Of another large graph it gathers nothing: trial calls compare.
///
/// # Errors
/// The schedule that a hint asks for does not fit; the same on all processes.
fn select_schedules(
    own: &Own,
    hints: &Hints,
    input: &Input,
    grid: Option<&Grid>,
    mut outline: Outline,
    shares: [u64; 4],
    calls: Option<Calls>,
) -> Result<Candidates> {
    let comm = &*own.comm;
    let star = if select::may_forward(hints, outline) { choose::find_star(comm, input.neighborhood, shares)? } else { None };
    let stencil = match grid {
        Some(grid) if select::may_combine(hints, outline) => choose::find_stencil(comm, input.neighborhood, grid)?,
        _ => None,
    };
    let input = &Input { star: star.as_ref(), stencil: stencil.as_ref(), ..*input };
    let gathers = select::asks_for_nodes(hints, outline);
    // a list of the wrong length means one node for all here
    let fits = || hints.nodes.as_ref().is_none_or(|placement| placement.locality(input.processes).is_ok());
    let shares_memory = select::leaves_out_nodes(hints, outline) && !mpi::is_simulated() && fits();
    let orders = shares_memory && select::orders_between_nodes(hints, input.stencil, outline);
    let is_node_aware = matches!(hints.decider(), Decider::Given(Algorithm::NodeAware));
    let asks = (gathers || orders || select::asks_for_sharing(hints, input.stencil, outline)) && (is_node_aware || fits());
    let nodes = asks.then(|| choose::find_nodes(comm, hints, input)).transpose()?;
    outline.nodes = nodes.as_ref().filter(|_| gathers).map_or(0, Locality::nodes);
    let (neighborhood, graph, far) = (input.neighborhood, None, OnceCell::new());
    let mut world = GatheredGraph { comm, team: &own.team, neighborhood, gathered: false, graph, nodes, shares_memory, far };
    let plain = |candidate: Candidate| Choice { candidate, why: Reason::Asked };
    let mut open = None;
    let chosen: SmallVec<[Choice; 1]> = match select::select(hints, input, outline)? {
        Next::Take(choice) => smallvec![choice],
        Next::Try => select::candidates(hints, input, outline).into_iter().map(plain).collect(),
        Next::Compare => {
            let calls = calls.filter(|_| select::tries(hints, outline));
            let alike = |close: &[Candidate], far: Option<u64>| {
                calls.map(|calls| Alike::new(hints, outline, input.processes, calls, far, close))
            };
            let Compared { choice, rivals } = choose::compare(&mut world, hints, input, outline, alike)?;
            open = if rivals.len() > 1 { alike(&rivals, world.far_edges()) } else { None };
            std::iter::once(choice).chain(rivals.into_iter().skip(1).map(plain)).collect()
        }
    };
    let mut selected: SmallVec<[Selected; 1]> = SmallVec::new();
    for choice in chosen {
        let Candidate { algorithm, strict } = choice.candidate;
        let schedule = match selected.iter().find(|other| other.choice.algorithm() == algorithm) {
            Some(other) => Schedule::clone(&other.schedule),
            None => build::build(&mut world, algorithm, hints, input)?,
        };
        selected.push(Selected { choice, schedule: Arc::new(schedule.with_strict_rounds(strict)) });
    }
    Ok(Candidates { selected, open })
}

/// Maps memory that neighbors on a node share. Returns a link for each of the operations, in their
/// order, or none. Collective, unless `prepared` says what all have prepared.
fn share_memory(
    own: &Own,
    n: &Neighborhood,
    hints: &mut Hints,
    operations: &[Operation],
    prepared: Option<Prepared>,
) -> Result<Vec<Arc<Channels>>> {
    if !hints.shares_memory() {
        return Ok(Vec::new());
    }
    let team = &own.team;
    let (copied, found) = single_copies(team, hints)?;
    hints.learned.single_copy = found;
    let bytes = most_bytes(hints);
    let part;
    let team = match &hints.nodes {
        None => team,
        Some(placement) => {
            // a list that is too short is an error where a hint asks for nodes; here it means one
            // node for all
            let node = placement.locality(own.comm.size()?).map_or(0, |nodes| nodes.node_of(n.rank()));
            part = Arc::new(team.part(node)?);
            &part
        }
    };
    let tags = tags::shared(mpi::message::largest_tag()?);
    // a process with device memory in use reads no other's, whatever was prepared
    let prepared = prepared.filter(|_| !hints.devices);
    let wish = || Wish::new(team, n, numbered(operations.iter().copied()), (bytes, copied));
    // found out now, and not by the first call
    let _ = guard::is_needed();
    Ok(channel::make(prepared, wish, tags, (own.generation, &own.marks))?.unwrap_or_default())
}

/// Which messages are copied from their sender's memory; and from how many bytes on, and where that
/// is from, if it was found out. Collective over the node.
fn single_copies(team: &Team, hints: &Hints) -> Result<(Copied, Option<(u64, Origin)>)> {
    // device memory is MPI's to write; as all have agreed, whatever has come into use since
    if hints.devices {
        return Ok((Copied::Never, None));
    }
    let copied = match hints.single_copy {
        SingleCopy::Never => Copied::Never,
        SingleCopy::AboveCell => Copied::From(u64::MAX),
        SingleCopy::From(bytes) => Copied::From(bytes),
        SingleCopy::Away => Copied::Away,
        SingleCopy::Auto if team.size() < 2 => Copied::Never,
        SingleCopy::Auto => match machine::copies::learn(team)? {
            Some((from, origin)) => {
                let is_less = from != copies::NEVER && team.oversubscribed();
                let from = if is_less { from.min(copies::SHARED_CORES) } else { from };
                let copied = if from == copies::NEVER { Copied::Away } else { Copied::From(from) };
                return Ok((copied, Some((from, origin))));
            }
            None if team.oversubscribed() => Copied::From(copies::SHARED_CORES),
            None => Copied::From(u64::MAX),
        },
    };
    Ok((copied, None))
}

/// The grid of a Cartesian communicator. `None` also if the MPI has no such query.
fn grid(comm: Communicator) -> Option<Grid> {
    let found = topology::cartesian(comm).ok().flatten();
    found.map(|(dims, periodic)| Grid::new(dims, periodic))
}
