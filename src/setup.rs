//! From lists and hints to schedules, when a neighborhood is set: what the processes must tell each other for it.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::hints::Hints;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::p2p::{Message, Requests};
use crate::neighborhood::Neighborhood;
use crate::schedule::distributed_coloring::{Exchange, Negotiation};
use crate::schedule::{Algorithm, Build, Input, Plan, Schedule};
use crate::select::{self, Choice, Directions, Next, Outline, Why};

/// Tag of messages by which neighbors negotiate, on the private communicator. No collective operation has it.
const TAG: i32 = 64;

/// A schedule, and why it was chosen.
#[derive(Debug, Clone)]
pub struct Built {
    /// What was chosen.
    pub choice: Choice,
    /// This process's schedule.
    pub schedule: Schedule,
}

/// The schedules of a neighborhood: one, or those whose times the first calls shall compare. Collective: all processes pass hints that agree,
/// and come to the same choice.
///
/// Cost: two reductions of three words together. Where the graph of all processes is needed, it is gathered on each once: two collectives, 8 bytes an
/// edge and 12 a process, and the time that the algorithm states; process 0 alone compares predicted times, and broadcasts 17 bytes.
///
/// # Errors
/// The schedule that a hint asks for does not fit; the same on all processes.
pub fn schedules(comm: &Comm, hints: &Hints, input: &Input) -> Result<Vec<Built>> {
    let outline = outline(comm, input.neighborhood)?;
    let mut world = World { comm, neighborhood: input.neighborhood, graph: None };
    let chosen = match select::select(hints, input, outline)? {
        Next::Take(choice) => vec![choice],
        Next::Compare => vec![compare(&mut world, hints, input.directions)?],
        Next::Try => (select::candidates(hints, input, outline).into_iter())
            .map(|algorithm| Choice { algorithm, why: Why::Asked })
            .collect(),
    };
    (chosen.into_iter())
        .map(|choice| Ok(Built { choice, schedule: build(&mut world, choice.algorithm, hints, input)? }))
        .collect()
}

/// The graph of all processes, gathered when it is first needed.
struct World<'a> {
    comm: &'a Comm,
    neighborhood: &'a Neighborhood,
    graph: Option<Graph>,
}

impl World<'_> {
    /// Collective the first time.
    fn graph(&mut self) -> Result<&Graph> {
        if self.graph.is_none() {
            let (targets, weights) = Graph::row(self.neighborhood);
            let degrees = coll::allgather(self.comm, targets.len() as u32)?;
            let targets = coll::allgatherv(self.comm, &targets, &degrees)?;
            let weights = coll::allgatherv(self.comm, &weights, &degrees)?;
            self.graph = Some(Graph::from_rows(degrees.into_iter().map(u64::from), targets, weights));
        }
        Ok(self.graph.as_ref().expect("it has just been gathered"))
    }

    /// The direction of each edge of the graph. Collective.
    fn directions(&self) -> Result<Vec<u32>> {
        let mine = Graph::row_directions(self.neighborhood);
        let degrees = coll::allgather(self.comm, mine.len() as u32)?;
        coll::allgatherv(self.comm, &mine, &degrees)
    }
}

fn outline(comm: &Comm, neighborhood: &Neighborhood) -> Result<Outline> {
    let weights =
        (neighborhood.targets().iter()).filter(|t| t.rank.is_some_and(|r| r != neighborhood.rank())).map(|t| u64::from(t.weight));
    let mine = [weights.clone().count() as u64, u64::from(neighborhood.weighted())];
    let [edges, weighted] = coll::allreduce(comm, mine, Reduction::Sum)?;
    let [heaviest] = coll::allreduce(comm, [weights.max().unwrap_or(0)], Reduction::Max)?;
    Ok(Outline { edges, weighted: weighted > 0, heaviest })
}

/// Lets process 0 compare, and tells the others.
fn compare(world: &mut World, hints: &Hints, directions: Option<&[u32]>) -> Result<Choice> {
    // SAFETY: a live communicator.
    let me = unsafe { crate::mpi::comm::rank(world.comm.raw()) }?;
    let comm = world.comm;
    // whether there are directions is the same on all processes
    let of_edges = directions.map(|_| world.directions()).transpose()?;
    let directions = (of_edges.as_ref().zip(directions)).map(|(of_edges, order)| Directions { of_edges, order });
    let graph = world.graph()?;
    let mut message = [0u8; 17];
    let mut compared = None;
    if me == 0 {
        // an error must not keep the others waiting: 255 tells of it
        message[0] = u8::MAX;
        let choice = crate::error::catch(|| select::compare(hints, graph, directions));
        if let Ok(Choice { algorithm, why: Why::Predicted(time, direct) }) = choice {
            message[0] = algorithm as u8;
            message[1..9].copy_from_slice(&time.to_le_bytes());
            message[9..].copy_from_slice(&direct.to_le_bytes());
        }
        compared = Some(choice);
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
        Build::Local(build) => Ok(build(input)),
        Build::Global(plan) => {
            let comm = world.comm;
            let graph = world.graph()?;
            let plan = plan(graph, &hints.tuning());
            same_plan(comm, &plan)?;
            Ok(plan.schedule(graph, input.neighborhood))
        }
        Build::Negotiated(begin) => negotiate(world.comm, begin(input, &hints.tuning())),
    }
}

/// Exchanges the messages of a negotiation until this process has nothing more to say or to hear.
fn negotiate(comm: &Comm, mut negotiation: Negotiation) -> Result<Schedule> {
    let mut requests = Requests::default();
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
        posted.inspect_err(|_| requests.abandon(in_messages.len()))?;
        // others may need this core to answer
        while !requests.is_empty() && !requests.test().map_err(|(_, error)| error)? {
            std::thread::yield_now();
        }
        for (exchange, words) in receives.iter().zip(&into) {
            negotiation.take(exchange.index, words);
        }
        negotiation.advance();
    }
    Ok(negotiation.finish())
}

/// Makes sure that all processes made the same plan: with different ones they would wait for each other forever.
fn same_plan(comm: &Comm, plan: &Plan) -> Result<()> {
    let mine = plan.fingerprint();
    let [lowest, other] = coll::allreduce(comm, [mine, !mine], Reduction::Min)?;
    if lowest == !other {
        return Ok(());
    }
    let text =
        format!("processes made different plans by {}; do they all run the same build of this library?", plan.algorithm.name());
    Err(Error::Internal(text).into())
}
