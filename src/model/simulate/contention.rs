//! Time of each message in the network, by the distance of its nodes, and of its bytes at the ports
//! where messages share links: those of the processes of a node its port, and those of all nodes
//! the network.
//!
//! All messages of a round that share something are slowed by the same factor, so that the time of
//! the round is at least that in which what is shared passes all their bytes. A fair network does
//! so if they begin together. Those of a hub do not: they leave it one after the other, so that the
//! ports of its targets slow them less, or not at all. Processes need not be in the same round
//! either: if the rounds of each process together take less than what is shared needs for the bytes
//! of all rounds, all are slowed further.

use std::collections::HashMap;

use super::matching::{Matched, Message};
use crate::model::{Loggp, Sharing};
use crate::schedule::Schedule;
use crate::topology::nodes::Locality;
use crate::util::cast::to_u32;

/// Sums of the same times in another order differ by less, as a fraction.
const ROUNDING: f64 = 1e-9;

/// Returns the time that the bytes of each message take, in microseconds: [`Loggp::transfer`], or
/// more where links are shared.
pub(super) fn transfers(world: &Matched, schedules: &[Schedule], params: &Loggp, nodes: Option<&Locality>) -> Vec<f64> {
    let mut times: Vec<f64> = world.messages.iter().map(|m| params.transfer(m.bytes)).collect();
    let (Some(nodes), Some(port)) = (nodes, params.sharing.port()) else { return times };
    // messages between nodes, by the number of their round
    let mut rounds: HashMap<u32, Vec<Far>> = HashMap::new();
    let mut all = Vec::new();
    for (number, m) in world.messages.iter().enumerate() {
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
    let mut ports = Ports::new(params, port, nodes);
    for messages in rounds.values() {
        ports.slow(messages, &mut times);
    }
    if rounds.len() > 1 {
        let needed = ports.time(&all);
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
    let of = |m: &Message| measured(m.source, m.target).unwrap_or(params.latency);
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

/// Load that messages which travel at the same time put on the ports, out and in, and on the
/// network. The memory serves one set of messages after another, so that a set costs the time of
/// its messages, however many processes and nodes there are.
struct Ports<'a> {
    params: &'a Loggp,
    /// Time for each byte at the port of a node, in microseconds.
    port: f64,
    nodes: u32,
    /// Bytes of each process, and of each node. 0 except while a set of messages is looked at.
    of_process: Vec<[f64; 2]>,
    of_node: Vec<[f64; 2]>,
    /// Time of the busiest process of each node, had it a port of its own; 0 as above.
    alone: Vec<[f64; 2]>,
    /// Time of each process with the ports that it shares; 0 as above.
    taken: Vec<[f64; 2]>,
}

impl<'a> Ports<'a> {
    fn new(params: &'a Loggp, port: f64, nodes: &Locality) -> Self {
        let count = nodes.nodes();
        let of_process = vec![[0.0; 2]; nodes.processes() as usize];
        let of_node = vec![[0.0; 2]; count as usize];
        Ports { params, port, nodes: count, taken: of_process.clone(), of_process, alone: of_node.clone(), of_node }
    }

    /// The time that some messages take at least: that of the network, or of the busiest port.
    fn time(&mut self, messages: &[Far]) -> f64 {
        let network = self.load(messages);
        let time = network.max(self.longest(messages));
        self.unload(messages);
        time
    }

    /// Lengthens the times of some messages that travel at the same time.
    fn slow(&mut self, messages: &[Far], times: &mut [f64]) {
        let network = self.load(messages);
        for far in messages {
            let time = far.bytes * self.params.gap_per_byte * self.slower(far);
            for way in [0, 1] {
                self.taken[far.processes[way]][way] += time;
            }
        }
        let taken = messages.iter().flat_map(|far| [0, 1].map(|way| self.taken[far.processes[way]][way])).fold(0.0, f64::max);
        let longest = self.longest(messages);
        // a port whose messages are those of hubs, which send to others as well, needs longer yet
        let ports = ratio(longest, taken * (1.0 + ROUNDING));
        let all = ratio(network, longest) * ports;
        for far in messages {
            times[far.number] *= self.slower(far) * all;
        }
        self.unload(messages);
    }

    /// Adds up what messages ask of the ports. Returns the time of the network.
    fn load(&mut self, messages: &[Far]) -> f64 {
        let (count, sharing) = (self.nodes, &self.params.sharing);
        let mut network = 0.0;
        let shifts = sharing.random.map(|_| shifts(messages, count)).unwrap_or_default();
        for far in messages {
            for way in [0, 1] {
                self.of_process[far.processes[way]][way] += far.bytes;
                self.of_node[far.nodes[way]][way] += far.bytes;
            }
            let [from, to] = far.nodes.map(to_u32);
            let link = sharing.link(Sharing::distance(from, to, count));
            let time = sharing.random.map_or(link, |random| {
                let regular = shifts.get(&shift(far, count)).copied().unwrap_or(1.0);
                regular * link + (1.0 - regular) * random
            });
            network += far.bytes * time / f64::from(count);
        }
        for far in messages {
            for way in [0, 1] {
                let process = self.process_time(far, way);
                let alone = &mut self.alone[far.nodes[way]][way];
                *alone = alone.max(process);
            }
        }
        network
    }

    /// Forgets the messages of [`Ports::load`].
    fn unload(&mut self, messages: &[Far]) {
        for far in messages {
            for way in [0, 1] {
                self.of_process[far.processes[way]][way] = 0.0;
                self.taken[far.processes[way]][way] = 0.0;
                self.of_node[far.nodes[way]][way] = 0.0;
                self.alone[far.nodes[way]][way] = 0.0;
            }
        }
    }

    /// The time that the process at one end of a message would need if its port were its own.
    fn process_time(&self, far: &Far, way: usize) -> f64 {
        self.of_process[far.processes[way]][way] * self.params.gap_per_byte
    }

    /// The time that the port at one end of a message needs.
    fn port_time(&self, far: &Far, way: usize) -> f64 {
        let node = far.nodes[way];
        (self.of_node[node][way] * self.port).max(self.alone[node][way])
    }

    /// The longest time of a port.
    fn longest(&self, messages: &[Far]) -> f64 {
        let ways = messages.iter().flat_map(|far| [(far, 0), (far, 1)]);
        ways.map(|(far, way)| self.port_time(far, way)).fold(0.0, f64::max)
    }

    /// How many times as long a message takes as without others at the ports of both ends.
    fn slower(&self, far: &Far) -> f64 {
        self.slower_at(far, 0).max(self.slower_at(far, 1))
    }

    /// The same at one end. The process at its other end may be the slower one: what that lets pass
    /// in the time that the port needs meets nothing there. So the many processes that a hub sends
    /// to do not slow one another.
    fn slower_at(&self, far: &Far, way: usize) -> f64 {
        let alone = self.alone[far.nodes[way]][way].max(self.process_time(far, 1 - way));
        ratio(self.port_time(far, way), alone)
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

    /// A hub is slowed by its own port only, however many processes share the ports at the other
    /// ends.
    #[test]
    fn hubs_are_as_fast_as_their_ports() {
        const BYTES: u32 = 100_000;
        let machine = Loggp::preset("jaguar").unwrap();
        let (mut shared, names) = (machine, (0..64).map(|p| p / 16).collect::<Vec<_>>());
        shared.sharing.links[0] = 0.000_58;
        let nodes = Locality::from_names(&names);
        let star = |hub: u32| (0..64).filter(move |&p| p != hub).map(move |p| (hub, p));
        let all_hubs = || (0..4).flat_map(|node| star(16 * node));
        let turned = |(from, to): (u32, u32)| (to, from);
        let cases = [
            ("a star", star(0).collect::<Vec<_>>(), 63),
            ("a star reversed", star(0).map(turned).collect(), 63),
            // the port of a node has 16 processes that 3 hubs send to, and a hub that sends to 48
            ("a hub on each node", all_hubs().collect(), 63),
            ("a hub on each node, reversed", all_hubs().map(turned).collect(), 63),
        ];
        for (name, edges, busiest) in cases {
            let edges: Vec<_> = edges.into_iter().map(|(from, to)| (from, to, BYTES)).collect();
            let world = Graph::from_edges(64, &edges).neighborhoods();
            for algorithm in [Algorithm::Direct, Algorithm::EdgeColoring] {
                let schedules = world_schedules(algorithm, &world, None, &Tuning::default()).unwrap();
                let time = |machine, nodes| predict_on(&world, &schedules, 1, machine, &Options::default(), nodes).unwrap();
                let (with, without) = (time(&shared, Some(&nodes)), time(&machine, None));
                let needed = f64::from(BYTES) * f64::from(busiest) * 0.000_58;
                // messages of several hubs meet at their receivers, with or without nodes
                let bound = (1.1 * needed).max(1.01 * without);
                assert!(with <= bound, "{name} by {algorithm:?}: {with} us, {without} us without nodes, {needed} us needed");
            }
        }
    }

    /// Hubs that also send elsewhere, and messages that they share a port with: no port passes more
    /// than it can.
    #[test]
    fn hubs_are_no_faster_than_ports() {
        let names: Vec<_> = (0..96).map(|p| p / 16).collect();
        // from a process of each of nodes 1 to 5 to all of node 0, and to all of the next node
        let to_node = |from: u32, node: u32| (16 * node..16 * (node + 1)).map(move |to| (from, to));
        let edges: Vec<_> = (1..6).flat_map(|node| to_node(16 * node, 0).chain(to_node(16 * node, 1 + node % 5))).collect();
        for algorithm in [Algorithm::Direct, Algorithm::EdgeColoring] {
            let slow = time(algorithm, &edges, &names, &[0.01]);
            assert!(slow >= 0.99 * 5.0 * 16.0 * 10.0, "{algorithm:?}: {slow}");
        }
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
