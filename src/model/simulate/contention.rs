//! How long the bytes of each message take where messages share links: those of the processes of a
//! node its port, and those of all nodes the network.
//!
//! All messages of a round that share something are slowed by the same factor, so that the time of
//! the round is at least that in which what is shared passes all their bytes. A fair network does
//! so if they begin together. The same holds for the messages of all rounds, as processes need not
//! be in the same round; the larger factor counts.

use std::collections::HashMap;

use super::matching::Matched;
use crate::model::{Loggp, Sharing};
use crate::schedule::Schedule;
use crate::topology::nodes::Locality;
use crate::util::cast::to_u32;

/// Returns the time that the bytes of each message take, in microseconds: [`Loggp::transfer`], or
/// more where links are shared.
pub(super) fn transfers(world: &Matched, schedules: &[Schedule], params: &Loggp, nodes: Option<&Locality>) -> Vec<f64> {
    let mut times: Vec<f64> = world.messages.iter().map(|m| params.transfer(m.bytes)).collect();
    let (Some(nodes), Some(port)) = (nodes, params.sharing.port()) else { return times };
    // messages between nodes, by the number of their round
    let mut rounds: HashMap<u32, Vec<Far>> = HashMap::new();
    let mut all = Vec::new();
    for (number, m) in world.messages.iter().enumerate().filter(|(_, m)| m.exists) {
        let far = Far {
            number,
            bytes: m.bytes as f64,
            processes: [m.source as usize, m.target as usize],
            nodes: [m.source, m.target].map(|p| nodes.node_of(p) as usize),
        };
        if far.nodes[0] != far.nodes[1] {
            let round = (m.send_round - world.rounds[m.source as usize]) as usize;
            rounds.entry(schedules[m.source as usize].number(round)).or_default().push(far);
            all.push(far);
        }
    }
    let mut factors = vec![1.0; times.len()];
    let several = rounds.len() > 1;
    for messages in rounds.values().chain(several.then_some(&all)) {
        slow(messages, params, port, nodes, &mut factors);
    }
    times.iter_mut().zip(factors).for_each(|(time, factor)| *time *= factor);
    times
}

/// A message between nodes: its number and length, and the sending and the receiving side.
#[derive(Clone, Copy)]
struct Far {
    number: usize,
    bytes: f64,
    processes: [usize; 2],
    nodes: [usize; 2],
}

/// Raises the factors of some messages that travel at the same time.
fn slow(messages: &[Far], params: &Loggp, port: f64, nodes: &Locality, factors: &mut [f64]) {
    let count = nodes.nodes();
    let mut of_process = vec![[0.0; 2]; nodes.processes() as usize];
    let mut of_node = vec![[0.0; 2]; count as usize];
    let mut network = 0.0;
    for far in messages {
        for way in [0, 1] {
            of_process[far.processes[way]][way] += far.bytes;
            of_node[far.nodes[way]][way] += far.bytes;
        }
        let [from, to] = far.nodes.map(to_u32);
        network += far.bytes * params.sharing.link(Sharing::distance(from, to, count)) / f64::from(count);
    }
    let ratio = |time: f64, without: f64| if time > without && without > 0.0 { time / without } else { 1.0 };
    // the longest time of a node's port, and the factors of each node
    let mut longest: f64 = 0.0;
    let of_ports: Vec<[f64; 2]> = (0..count)
        .map(|node| {
            [0, 1].map(|way| {
                let bytes = nodes.members(node).iter().map(|&p| of_process[p as usize][way]);
                let alone = bytes.fold(0.0, f64::max) * params.gap_per_byte;
                let shared = (of_node[node as usize][way] * port).max(alone);
                longest = longest.max(shared);
                ratio(shared, alone)
            })
        })
        .collect();
    let all = ratio(network, longest);
    for far in messages {
        let factor = of_ports[far.nodes[0]][0].max(of_ports[far.nodes[1]][1]) * all;
        factors[far.number] = factor.max(factors[far.number]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Options, predict_on};
    use crate::schedule::{Algorithm, Tuning, world_schedules};
    use crate::topology::graph::Graph;

    const EAGER: u64 = u64::MAX;

    /// o = L = 1, G = 0.01, and these links.
    fn machine(links: &[f64]) -> Loggp {
        let mut sharing = Sharing::UNKNOWN;
        sharing.links[..links.len()].copy_from_slice(links);
        Loggp { latency: 1.0, overhead: 1.0, gap: 0.0, gap_per_byte: 0.01, eager: EAGER, sharing }
    }

    /// The predicted time of messages of 1001 bytes by an algorithm; processes on the nodes of
    /// these names.
    fn time(algorithm: Algorithm, edges: &[(u32, u32)], names: &[u32], links: &[f64]) -> f64 {
        let edges: Vec<_> = edges.iter().map(|&(from, to)| (from, to, 1001)).collect();
        let world = Graph::from_edges(crate::util::cast::to_u32(names.len()), &edges).neighborhoods();
        let schedules = world_schedules(algorithm, &world, None, &Tuning::default()).unwrap();
        let nodes = Locality::from_names(names);
        predict_on(&world, &schedules, 1, &machine(links), &Options::default(), Some(&nodes)).unwrap()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a}, not {b}");
    }

    #[test]
    fn processes_of_a_node_share_its_port() {
        let pairs = [(0, 2), (1, 3)];
        near(time(Algorithm::Direct, &pairs, &[0, 0, 1, 1], &[]), 13.0);
        near(time(Algorithm::Direct, &pairs, &[0, 1, 2, 3], &[0.01]), 13.0);
        near(time(Algorithm::Direct, &pairs, &[0, 0, 1, 1], &[0.01]), 23.0);
        // half of a port for each is as much as they need
        near(time(Algorithm::Direct, &pairs, &[0, 0, 1, 1], &[0.005]), 13.0);
        // the port of the receiving node
        near(time(Algorithm::Direct, &pairs, &[0, 1, 2, 2], &[0.01]), 23.0);
        // within a node no port is used
        near(time(Algorithm::Direct, &[(0, 1), (2, 3)], &[0, 0, 1, 1], &[0.01]), 13.0);
    }

    #[test]
    fn all_nodes_share_the_network() {
        let shift = |by: u32| (0..4).map(|p| (p, (p + by) % 4)).collect::<Vec<_>>();
        for (by, expected) in [(1, 13.0), (2, 33.0), (3, 13.0)] {
            near(time(Algorithm::Direct, &shift(by), &[0, 1, 2, 3], &[0.01, 0.03]), expected);
        }
        // one of four senders needs a quarter of it
        near(time(Algorithm::Direct, &[(0, 2)], &[0, 1, 2, 3], &[0.01, 0.03]), 13.0);
    }

    /// Processes need not be in the same round: what is sent in others shares the links too.
    #[test]
    fn rounds_do_not_make_the_network_faster() {
        let all: Vec<_> = (0..8).flat_map(|p| (0..8).filter(move |&q| q != p).map(move |q| (p, q))).collect();
        let names = [0, 1, 2, 3, 4, 5, 6, 7];
        let bytes = 7.0 * 1001.0;
        for algorithm in [Algorithm::Direct, Algorithm::LinearPermutation] {
            let slow = time(algorithm, &all, &names, &[0.01, 0.05, 0.09]);
            // two of seven messages at each of the distances 1, 2 and 3, and one at 4
            let link = machine(&[0.01, 0.05, 0.09]).sharing;
            let mean = (1..8).map(|d| link.link(Sharing::distance(0, d, 8))).sum::<f64>() / 7.0;
            assert!(slow >= 0.99 * bytes * mean, "{algorithm:?}: {slow}");
        }
    }
}
