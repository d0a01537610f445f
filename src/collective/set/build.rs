//! Builds the schedule that was chosen: locally, from a plan of process 0, or by negotiation.

use crate::collective::set::world::GatheredGraph;
use crate::error::{Error, Result, catch};
use crate::mpi::coll;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::liveness::Patience;
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::tally;
use crate::schedule::distributed_coloring::{Exchange, Negotiation};
use crate::schedule::{Algorithm, Build, Input, Schedule, Shares, node_aware, rounds};
use crate::select::hints::Hints;
use crate::topology::graph::Graph;
use crate::topology::nodes::Locality;
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::to_int;

/// Tag of negotiation messages on the private communicator. No collective operation uses it.
const TAG: i32 = 64;

/// Builds this process's schedule. Collective.
pub fn build(world: &mut GatheredGraph, algorithm: Algorithm, hints: &Hints, input: &Input) -> Result<Schedule> {
    match algorithm.entry().build {
        Build::Local(build) | Build::Stencil(build) => Ok(build(input)),
        Build::Scatter(rule) => Ok(crate::schedule::scatter(algorithm, rule, input, &hints.tuning())),
        Build::Negotiated(begin) => negotiate(world.comm, begin(input, &hints.tuning())),
        Build::Global(plan) => {
            let share = share(world, |graph, _| plan(graph, &hints.tuning()).shares(graph))?;
            Ok(rounds::schedule(algorithm, input.neighborhood, &share))
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

/// Lets process 0 make a plan from the graph, and returns this process's share of it. Collective.
fn share(world: &mut GatheredGraph, make: impl FnOnce(&Graph, Option<&Locality>) -> Shares) -> Result<Vec<u32>> {
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

/// Sends each process its share of a plan. Process 0 has the shares, or an error, which then
/// reaches all processes.
fn scatter(comm: &Comm, shares: Option<Result<Shares>>) -> Result<Vec<u32>> {
    const FAILED: u32 = u32::MAX;
    let (shares, words, error) = match shares {
        Some(Ok((shares, words))) => (shares, words, None),
        Some(Err(error)) => {
            let processes = comm.size()?;
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

/// Exchanges the messages of a negotiation until this process has none left to send or receive.
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
        Ok(Message { at: words.as_mut_ptr().cast(), count, datatype: datatype::byte(), peer: to_int(exchange.rank) })
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
        // SAFETY: the buffers live, and nobody else touches them, until the requests are complete.
        let posted = unsafe {
            (requests.post_receives(&in_messages, TAG, comm)).and_then(|()| requests.post_sends(&out_messages, TAG, comm))
        };
        posted.inspect_err(|_| {
            if requests.abandon(|i| i < in_messages.len()) {
                // MPI may still access them
                std::mem::forget((std::mem::take(&mut out), std::mem::take(&mut into)));
            }
        })?;
        patience.restart();
        // others may need this core to answer
        let mut backoff = Backoff::new(Pace::YIELDING);
        while !requests.is_empty() && !requests.test().map_err(|(_, error)| error)? {
            if patience.is_over() {
                patience.look_at_all(comm).inspect_err(|_| {
                    requests.give_up_all(|i| i < in_messages.len());
                    // MPI may still access them
                    std::mem::forget((std::mem::take(&mut out), std::mem::take(&mut into)));
                })?;
            }
            backoff.snooze();
        }
        for (exchange, words) in receives.iter().zip(&into) {
            negotiation.take(exchange.index, words);
        }
        negotiation.advance();
    }
    Ok(negotiation.finish())
}
