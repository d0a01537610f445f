//! How long each message is in the network, by the distance of its nodes, and how long its bytes
//! take where messages share links: those of the processes of a node its port, and those of all
//! nodes the network.
//!
//! All messages of a round that share something are slowed by the same factor, so that the time of
//! the round is at least that in which what is shared passes all their bytes. A fair network does
//! so if they begin together. Processes need not be in the same round: if the rounds of each
//! process together take less than what is shared needs for the bytes of all rounds, all are slowed
//! further.

use std::collections::HashMap;

use super::matching::{Matched, Message};
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
    for messages in rounds.values() {
        slow(messages, params, port, nodes, &mut times);
    }
    if rounds.len() > 1 {
        let needed = load(&all, params, port, nodes).time();
        let mut taken = vec![[0.0; 2]; nodes.processes() as usize];
        for far in &all {
            for way in [0, 1] {
                taken[far.processes[way]][way] += times[far.number];
            }
        }
        let longest = taken.into_iter().flatten().fold(0.0, f64::max);
        all.iter().for_each(|far| times[far.number] *= ratio(needed, longest));
    }
    times
}

/// Returns the time that each message spends in the network, in microseconds: L, or what was
/// measured between nodes as far apart.
pub(super) fn latencies(world: &Matched, params: &Loggp, nodes: Option<&Locality>) -> Vec<f64> {
    let measured = |source: u32, target: u32| {
        let [from, to] = [source, target].map(|p| nodes.map(|nodes| nodes.node_of(p)));
        params.sharing.latency(Sharing::distance(from?, to?, nodes?.nodes()))
    };
    let of = |m: &Message| measured(m.source, m.target).filter(|_| m.exists).unwrap_or(params.latency);
    world.messages.iter().map(of).collect()
}

/// A message between nodes: its number and length, and the sending and the receiving side.
#[derive(Clone, Copy)]
struct Far {
    number: usize,
    bytes: f64,
    processes: [usize; 2],
    nodes: [usize; 2],
}

/// How long what some messages share needs for them, in microseconds.
struct Load {
    /// The network.
    network: f64,
    /// The ports of each node, out and in.
    ports: Vec<[f64; 2]>,
    /// The same if each process had a port of its own.
    alone: Vec<[f64; 2]>,
}

impl Load {
    /// The longest time of a port.
    fn longest(&self) -> f64 {
        self.ports.iter().flatten().copied().fold(0.0, f64::max)
    }

    fn time(&self) -> f64 {
        self.network.max(self.longest())
    }
}

/// Returns the load of some messages that travel at the same time.
fn load(messages: &[Far], params: &Loggp, port: f64, nodes: &Locality) -> Load {
    let count = nodes.nodes();
    let mut of_process = vec![[0.0; 2]; nodes.processes() as usize];
    let mut of_node = vec![[0.0; 2]; count as usize];
    let mut network = 0.0;
    let shifts = params.sharing.random.map(|_| shifts(messages, count)).unwrap_or_default();
    for far in messages {
        for way in [0, 1] {
            of_process[far.processes[way]][way] += far.bytes;
            of_node[far.nodes[way]][way] += far.bytes;
        }
        let [from, to] = far.nodes.map(to_u32);
        let link = params.sharing.link(Sharing::distance(from, to, count));
        let time = params.sharing.random.map_or(link, |random| {
            let regular = shifts.get(&shift(far, count)).copied().unwrap_or(1.0);
            regular * link + (1.0 - regular) * random
        });
        network += far.bytes * time / f64::from(count);
    }
    let alone = |node: u32| {
        let bytes = |way: usize| nodes.members(node).iter().map(|&p| of_process[p as usize][way]).fold(0.0, f64::max);
        [0, 1].map(|way| bytes(way) * params.gap_per_byte)
    };
    let alone: Vec<_> = (0..count).map(alone).collect();
    let shared = |(of_node, alone): (&[f64; 2], &[f64; 2])| [0, 1].map(|way| (of_node[way] * port).max(alone[way]));
    Load { network, ports: of_node.iter().zip(&alone).map(shared).collect(), alone }
}

/// Lengthens the times of some messages that travel at the same time.
fn slow(messages: &[Far], params: &Loggp, port: f64, nodes: &Locality, times: &mut [f64]) {
    let load = load(messages, params, port, nodes);
    let of_port = |node: usize, way: usize| ratio(load.ports[node][way], load.alone[node][way]);
    let all = ratio(load.network, load.longest());
    for far in messages {
        times[far.number] *= of_port(far.nodes[0], 0).max(of_port(far.nodes[1], 1)) * all;
    }
}

/// How many times as long something takes, at least 1.
fn ratio(time: f64, without: f64) -> f64 {
    if time > without && without > 0.0 { time / without } else { 1.0 }
}

/// How many nodes on a message goes.
fn shift(far: &Far, count: u32) -> u32 {
    (to_u32(far.nodes[1]) + count - to_u32(far.nodes[0])) % count
}

/// The distances forward that messages travel, in nodes, and how regularly they do: 1 where at
/// least a quarter of the nodes send that far, as on a periodic grid 4 wide, so that the links are
/// loaded as when that distance was measured; less where fewer do, as if they sent at random.
fn shifts(messages: &[Far], count: u32) -> HashMap<u32, f64> {
    let mut pairs: Vec<_> = messages.iter().map(|far| (shift(far, count), far.nodes[0])).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut parts = HashMap::new();
    for (shift, _) in &pairs {
        *parts.entry(*shift).or_insert(0.0) += 1.0;
    }
    parts.values_mut().for_each(|part: &mut f64| *part = (*part * 4.0 / f64::from(count)).min(1.0));
    parts
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

    /// Where few nodes send as far as a message goes, the links are loaded as by messages at
    /// random.
    #[test]
    fn messages_at_random_load_other_links() {
        let time = |edges: &[(u32, u32)], random| {
            let edges: Vec<_> = edges.iter().map(|&(from, to)| (from, to, 1001)).collect();
            let world = Graph::from_edges(8, &edges).neighborhoods();
            let schedules = world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
            let mut machine = machine(&[0.01, 0.03]);
            machine.sharing.random = random;
            let nodes = Locality::from_names(&[0, 1, 2, 3, 4, 5, 6, 7]);
            predict_on(&world, &schedules, 1, &machine, &Options::default(), Some(&nodes)).unwrap()
        };
        let shift: Vec<_> = (0..8).map(|p| (p, (p + 2) % 8)).collect();
        for random in [None, Some(0.02), Some(0.09)] {
            near(time(&shift, random), 33.0);
        }
        // a quarter of the nodes sends one further
        near(time(&[(0, 1), (2, 3)], Some(0.9)), 13.0);
        // an eighth: half of the message counts as sent at random
        near(time(&[(0, 1)], Some(0.9)), 59.875);
    }

    /// A message between nodes is in the network for as long as between nodes so far apart.
    #[test]
    fn nodes_farther_apart_are_later() {
        let time = |edge: (u32, u32), names: &[u32]| {
            let world = Graph::from_edges(4, &[(edge.0, edge.1, 1)]).neighborhoods();
            let schedules = world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
            let mut machine = machine(&[]);
            machine.sharing.latencies[..2].copy_from_slice(&[1.5, 4.0]);
            predict_on(&world, &schedules, 1, &machine, &Options::default(), Some(&Locality::from_names(names))).unwrap()
        };
        near(time((0, 1), &[0, 1, 2, 3]), 3.5);
        near(time((3, 0), &[0, 1, 2, 3]), 3.5);
        near(time((1, 3), &[0, 1, 2, 3]), 6.0);
        // within a node, and between the only two
        near(time((0, 1), &[0, 0, 2, 2]), 3.0);
        near(time((1, 2), &[0, 0, 2, 2]), 3.5);
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
