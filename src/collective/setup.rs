//! From lists and hints to schedules, when a neighborhood is set: what the processes must tell each
//! other for it.

use std::sync::Arc;

use crate::error::{Error, Result, catch};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::liveness::Patience;
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::tally;
use crate::schedule::distributed_coloring::{Exchange, Negotiation};
use crate::schedule::{Algorithm, Build, Input, Operations, Schedule, Shares, Star, Stencil, node_aware, plan};
use crate::select::hints::Hints;
use crate::select::{self, Choice, Directions, Next, Outline, Why};
use crate::shm::node;
use crate::topology::cartesian::Grid;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::Neighborhood;
use crate::topology::nodes::Locality;

/// Tag of messages by which neighbors negotiate, on the private communicator. No collective
/// operation has it.
const TAG: i32 = 64;

/// A schedule, and why it was chosen.
#[derive(Debug, Clone)]
pub struct Built {
    /// What was chosen.
    pub choice: Choice,
    /// This process's schedule, before it is folded.
    pub schedule: Arc<Schedule>,
}

/// The schedules of a neighborhood: one, or those whose times the first calls shall compare. `grid`
/// is that of a Cartesian communicator, `one_node` says whether all processes share a node,
/// `operations` what the neighborhood is for. Collective: all processes pass hints that agree, and
/// come to the same choice.
///
/// Cost: two reductions of three words together, and where forwarding is of use what `find_star`
/// and `find_stencil` say. Where the graph of all processes is needed, process 0 gathers it once: 8
/// bytes an edge and 12 a process there. It makes the plan, in the time that the algorithm states,
/// and sends each process its share, 20 bytes for each end of a message; or it compares predicted
/// times, and broadcasts 17 bytes.
///
/// # Errors
/// The schedule that a hint asks for does not fit; the same on all processes.
pub fn schedules(
    comm: &Comm,
    hints: &Hints,
    input: &Input,
    grid: Option<&Grid>,
    one_node: bool,
    operations: Operations,
) -> Result<Vec<Built>> {
    let mut outline = Outline { one_node, operations, ..outline(comm, input.neighborhood)? };
    let star = if select::may_forward(hints, outline) { find_star(comm, input.neighborhood)? } else { None };
    let stencil = match grid {
        Some(grid) if select::may_combine(hints, outline) => find_stencil(comm, input.neighborhood, grid)?,
        _ => None,
    };
    let input = &Input { star: star.as_ref(), stencil: stencil.as_ref(), ..*input };
    let mut world = World { comm, neighborhood: input.neighborhood, gathered: false, graph: None, nodes: None };
    if select::asks_for_nodes(hints, outline) {
        (outline.nodes, world.nodes) = find_nodes(comm, hints, input)?;
    }
    let chosen = match select::select(hints, input, outline)? {
        Next::Take(choice) => vec![choice],
        Next::Compare => vec![compare(&mut world, hints, input, operations)?],
        Next::Try => (select::candidates(hints, input, outline).into_iter())
            .map(|algorithm| Choice { algorithm, why: Why::Asked })
            .collect(),
    };
    (chosen.into_iter())
        .map(|choice| Ok(Built { choice, schedule: Arc::new(build(&mut world, choice.algorithm, hints, input)?) }))
        .collect()
}

/// The graph of all processes, gathered when it is first needed.
struct World<'a> {
    comm: &'a Comm,
    neighborhood: &'a Neighborhood,
    gathered: bool,
    /// On process 0.
    graph: Option<Graph>,
    /// Which processes share a node; on process 0, where it matters.
    nodes: Option<Locality>,
}

impl World<'_> {
    /// The graph, on process 0. Collective the first time.
    fn graph(&mut self) -> Result<Option<&Graph>> {
        if !self.gathered {
            let (targets, weights) = Graph::row(self.neighborhood);
            let degrees = coll::gather(self.comm, targets.len() as u32)?;
            let targets = coll::gatherv(self.comm, &targets, &degrees)?;
            let weights = coll::gatherv(self.comm, &weights, &degrees)?;
            let here = !degrees.is_empty();
            self.graph = here.then(|| Graph::from_rows(degrees.into_iter().map(u64::from), targets, weights));
            self.gathered = true;
        }
        Ok(self.graph.as_ref())
    }

    /// The direction of each edge of the graph, on process 0. Collective.
    fn directions(&mut self) -> Result<Vec<u32>> {
        let degrees = self.graph()?.map(|graph| graph.degrees().0).unwrap_or_default();
        let mine = Graph::row_directions(self.neighborhood);
        coll::gatherv(self.comm, &mine, &degrees)
    }
}

fn outline(comm: &Comm, neighborhood: &Neighborhood) -> Result<Outline> {
    let weights =
        (neighborhood.targets().iter()).filter(|t| t.rank.is_some_and(|r| r != neighborhood.rank())).map(|t| u64::from(t.weight));
    let mine = [weights.clone().count() as u64, u64::from(neighborhood.weighted())];
    let [edges, weighted] = coll::allreduce(comm, mine, Reduction::Sum)?;
    let [heaviest] = coll::allreduce(comm, [weights.max().unwrap_or(0)], Reduction::Max)?;
    Ok(Outline { edges, weighted: weighted > 0, heaviest, one_node: false, operations: Operations::default(), nodes: 0 })
}

/// The star that all neighborhoods together are, the same on all processes, or none. Collective:
/// one reduction of four words; where there is a star, 8 bytes and 4 for each target are broadcast.
fn find_star(comm: &Comm, neighborhood: &Neighborhood) -> Result<Option<Star>> {
    let Some((hub, targets)) = Star::from_shares(coll::allreduce(comm, Star::share(neighborhood), Reduction::Sum)?) else {
        return Ok(None);
    };
    let mut message = vec![0u8; 8 + 4 * targets];
    if neighborhood.rank() == hub {
        let star = Star::of_hub(neighborhood);
        message[..8].copy_from_slice(&star.weight.to_le_bytes());
        for (word, target) in message[8..].chunks_exact_mut(4).zip(star.targets) {
            word.copy_from_slice(&target.to_le_bytes());
        }
    }
    coll::broadcast(comm, &mut message, hub)?;
    let weight = f64::from_le_bytes(std::array::from_fn(|i| message[i]));
    let targets = message[8..].chunks_exact(4).map(|word| u32::from_le_bytes(std::array::from_fn(|i| word[i]))).collect();
    Ok(Some(Star { hub, targets, weight }))
}

/// The number of nodes, and on process 0 which processes share them: the real ones, or those that
/// the hint says. Collective, unless the hint says it: a split by nodes, on each node a broadcast
/// of a word, and a gather and a reduction of a word.
fn find_nodes(comm: &Comm, hints: &Hints, input: &Input) -> Result<(u32, Option<Locality>)> {
    let names = match &hints.nodes {
        Some(placement) => {
            let wrong = |reason| Error::Schedule { schedule: Algorithm::NodeAware.name(), reason };
            let nodes = placement.locality(input.processes).map_err(wrong)?;
            return Ok((nodes.nodes(), Some(nodes)));
        }
        None => node::name(comm)?,
    };
    let leads = u64::from(names == input.neighborhood.rank());
    let [nodes] = coll::allreduce(comm, [leads], Reduction::Sum)?;
    let names = coll::gather(comm, names)?;
    Ok((nodes as u32, (!names.is_empty()).then(|| Locality::from_names(&names))))
}

/// The stencil that all neighborhoods on a grid together are, the same on all processes, or none.
/// Collective: reductions of two words for each dimension, of a word for each place of the box of
/// all offsets, 4096 at most, and of one.
fn find_stencil(comm: &Comm, neighborhood: &Neighborhood, grid: &Grid) -> Result<Option<Stencil>> {
    let most = |mine: &[i64]| {
        let mut all = vec![0; mine.len()];
        coll::allreduce_slice(comm, mine, &mut all, Reduction::Max).map(|()| all)
    };
    let reach = most(&Stencil::reach(grid, neighborhood))?;
    let Some(counts) = Stencil::counts(grid, neighborhood, &reach) else {
        return Ok(None);
    };
    let stencil = Stencil::new(grid.clone(), &reach, &most(&counts)?);
    let differs = most(&[i64::from(!stencil.describes(neighborhood))])?;
    Ok((differs == [0]).then_some(stencil))
}

/// Lets process 0 compare, and tells the others.
fn compare(world: &mut World, hints: &Hints, input: &Input, operations: Operations) -> Result<Choice> {
    let (comm, directions, stencil) = (world.comm, input.directions, input.stencil);
    // whether there are directions is the same on all processes
    let of_edges = directions.map(|_| world.directions()).transpose()?;
    let directions = (of_edges.as_ref().zip(directions)).map(|(of_edges, order)| Directions { of_edges, order });
    world.graph()?;
    let nodes = world.nodes.as_ref();
    let compared =
        (world.graph.as_ref()).map(|graph| catch(|| select::compare(hints, graph, directions, stencil, nodes, operations)));
    // an error must not keep the others waiting: 255 tells of it
    let mut message = [u8::MAX; 17];
    if let Some(Ok(Choice { algorithm, why: Why::Predicted(time, direct) })) = compared {
        message[0] = algorithm as u8;
        message[1..9].copy_from_slice(&time.to_le_bytes());
        message[9..].copy_from_slice(&direct.to_le_bytes());
    }
    coll::broadcast(comm, &mut message, 0)?;
    if let Some(choice) = compared {
        return choice;
    }
    let number = |at: usize| f64::from_le_bytes(std::array::from_fn(|i| message[at + i]));
    let entry = crate::schedule::ALGORITHMS.get(message[0] as usize);
    let algorithm = entry.map(|e| e.algorithm).ok_or_else(|| Error::Internal("process 0 could not compare schedules".into()))?;
    Ok(Choice { algorithm, why: Why::Predicted(number(1), number(9)) })
}

fn build(world: &mut World, algorithm: Algorithm, hints: &Hints, input: &Input) -> Result<Schedule> {
    match algorithm.entry().build {
        Build::Local(build) | Build::Stencil(build) => Ok(build(input)),
        Build::Scatter(rule) => Ok(crate::schedule::scatter(algorithm, rule, input, &hints.tuning())),
        Build::Negotiated(begin) => negotiate(world.comm, begin(input, &hints.tuning())),
        Build::Global(plan) => {
            let share = share(world, |graph, _| plan(graph, &hints.tuning()).shares(graph))?;
            Ok(plan::schedule(algorithm, input.neighborhood, &share))
        }
        Build::Nodes(make) => {
            let share = share(world, |graph, nodes| match nodes {
                Some(nodes) => make(graph, nodes, &hints.tuning()),
                None => unreachable!("process 0 knows the nodes where they matter"),
            })?;
            Ok(node_aware::schedule(input.neighborhood, &share))
        }
    }
}

/// What this process gets of what process 0 makes of the graph. Collective.
fn share(world: &mut World, make: impl FnOnce(&Graph, Option<&Locality>) -> Shares) -> Result<Vec<u32>> {
    world.graph()?;
    let shares = world.graph.as_ref().map(|graph| {
        catch(|| {
            let shares = make(graph, world.nodes.as_ref());
            match i32::try_from(shares.0.len()) {
                Ok(_) => Ok(shares),
                Err(_) => Err(Error::Internal(format!("a plan of {} words is too large to be sent", shares.0.len())).into()),
            }
        })
    });
    scatter(world.comm, shares)
}

/// Sends each process its share of a plan; process 0 has them, or an error, which comes to all.
fn scatter(comm: &Comm, shares: Option<Result<Shares>>) -> Result<Vec<u32>> {
    const FAILED: u32 = u32::MAX;
    let (shares, words, error) = match shares {
        Some(Ok((shares, words))) => (shares, words, None),
        Some(Err(error)) => {
            // SAFETY: a live communicator.
            let processes = unsafe { crate::mpi::comm::size(comm.raw()) }?;
            (Vec::new(), vec![FAILED; processes as usize], Some(error))
        }
        None => (Vec::new(), Vec::new(), None),
    };
    let mine = coll::scatter(comm, &words)?;
    if mine == FAILED {
        return Err(error.unwrap_or_else(|| Error::Internal("process 0 could not make a plan".into()).into()));
    }
    coll::scatterv(comm, &shares, &words, mine)
}

/// Exchanges the messages of a negotiation until this process has nothing more to say or to hear.
fn negotiate(comm: &Comm, mut negotiation: Negotiation) -> Result<Schedule> {
    let (mut requests, mut patience) = (Requests::default(), Patience::default());
    if let Some(tally) = tally::current() {
        requests.count(&tally);
    }
    let room = |exchanges: &[Exchange]| -> Vec<Vec<u32>> { exchanges.iter().map(|e| vec![0; e.words]).collect() };
    let message = |exchange: &Exchange, words: &mut Vec<u32>| -> Result<Message> {
        let count = i32::try_from(size_of_val(&words[..])).map_err(|_| {
            Error::Internal(format!("{} words are too many for one message to process {}", words.len(), exchange.rank))
        })?;
        Ok(Message { at: words.as_mut_ptr().cast(), count, datatype: datatype::byte(), peer: exchange.rank as i32 })
    };
    while !negotiation.done() {
        let (sends, receives): (Vec<_>, Vec<_>) = (negotiation.sends().collect(), negotiation.receives().collect());
        let (mut out, mut into) = (room(&sends), room(&receives));
        for (exchange, words) in sends.iter().zip(&mut out) {
            negotiation.write(exchange.index, words);
        }
        let messages = |exchanges: &[Exchange], words: &mut [Vec<u32>]| -> Result<Vec<Message>> {
            exchanges.iter().zip(words).map(|(exchange, words)| message(exchange, words)).collect()
        };
        let (out_messages, in_messages) = (messages(&sends, &mut out)?, messages(&receives, &mut into)?);
        requests.reserve(out_messages.len() + in_messages.len());
        // SAFETY: the buffers live, and are left alone, until the requests are complete.
        let posted = unsafe {
            (requests.post_receives(&in_messages, TAG, comm)).and_then(|()| requests.post_sends(&out_messages, TAG, comm))
        };
        posted.inspect_err(|_| {
            if requests.abandon(|i| i < in_messages.len()) {
                // MPI may still be at work there
                std::mem::forget((std::mem::take(&mut out), std::mem::take(&mut into)));
            }
        })?;
        patience.restart();
        // others may need this core to answer
        while !requests.is_empty() && !requests.test().map_err(|(_, error)| error)? {
            if patience.is_over() {
                patience.look_at_all(comm).inspect_err(|_| {
                    requests.give_up_all(|i| i < in_messages.len());
                    // MPI may still be at work there
                    std::mem::forget((std::mem::take(&mut out), std::mem::take(&mut into)));
                })?;
            }
            std::thread::yield_now();
        }
        for (exchange, words) in receives.iter().zip(&into) {
            negotiation.take(exchange.index, words);
        }
        negotiation.advance();
    }
    Ok(negotiation.finish())
}
