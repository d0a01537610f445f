//! Builds the schedule that was chosen: locally, from a plan of process 0, or by negotiation.

use crate::collective::set::tree::{self, Rows};
use crate::collective::set::world::GatheredGraph;
use crate::error::{Error, Result, catch};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::p2p::Requests;
use crate::mpi::tally;
use crate::schedule::distributed_coloring::{Exchange, Negotiation};
use crate::schedule::{Algorithm, Build, Input, Rounds, Schedule, Shares, node_aware, rounds};
use crate::select::hints::Hints;
use crate::topology::graph::Graph;
use crate::topology::nodes::Locality;

/// Tag of negotiation messages on the private communicator. No collective operation uses it.
const TAG: i32 = 64;

/// Builds this process's schedule. Collective.
pub fn build(world: &mut GatheredGraph, algorithm: Algorithm, hints: &Hints, input: &Input) -> Result<Schedule> {
    match algorithm.entry().build {
        Build::Local(build) | Build::Stencil(build) => Ok(build(input)),
        Build::Scatter(rule) => Ok(crate::schedule::scatter(algorithm, rule, input, &hints.tuning())),
        Build::Negotiated(begin) => {
            let near = world.near(hints)?;
            let is_near = |rank| near.binary_search(&rank).is_ok();
            negotiate(world.comm, begin(input, &hints.tuning(), &is_near))
        }
        Build::Global(plan) => {
            let shares_memory = world.shares_memory;
            let share = share(world, |graph, nodes| {
                let plan = |graph: &Graph| plan(graph, &hints.tuning());
                let between = nodes.filter(|_| shares_memory);
                between.map_or_else(|| plan(graph), |nodes| Rounds::between_nodes(graph, nodes, plan)).shares(graph)
            })?;
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
            let (words, lengths) = make(graph, world.nodes.as_ref());
            assert_eq!(lengths.len(), graph.processes(), "a share for each process");
            let all: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
            assert_eq!(all, words.len() as u64, "the shares add up to the plan");
            match i32::try_from(words.len()) {
                Ok(_) => Ok(Rows { lengths, words }),
                Err(_) => Err(Error::Internal(format!("a plan of {} words is too large to be sent", words.len())).into()),
            }
        })
    });
    tree::scatter(world.comm, shares)
}

/// Exchanges the messages of a negotiation until this process has none left to send or receive.
fn negotiate(comm: &Comm, mut negotiation: Negotiation) -> Result<Schedule> {
    let mut requests = Requests::default();
    if let Some(tally) = tally::current() {
        requests.count(&tally);
    }
    while !negotiation.done() {
        let (sends, receives): (Vec<_>, Vec<_>) = (negotiation.sends().collect(), negotiation.receives().collect());
        let room = |exchange: &Exchange| (exchange.rank, vec![0; exchange.words]);
        let (mut out, mut into): (Vec<_>, Vec<_>) = (sends.iter().map(room).collect(), receives.iter().map(room).collect());
        for (exchange, (_, words)) in sends.iter().zip(&mut out) {
            negotiation.write(exchange.index, words);
        }
        requests.exchange(&mut out, &mut into, TAG, comm)?;
        for (exchange, (_, words)) in receives.iter().zip(&into) {
            negotiation.take(exchange.index, words);
        }
        negotiation.advance();
    }
    Ok(negotiation.finish())
}
