//! How long the bytes of each message take where messages share links: those of the processes of a
//! node its port, and those of all nodes the network.
//!
//! In a round, all messages that share something are slowed by the same factor, so that the time of
//! the round is at least that in which what is shared passes all their bytes. A fair network does so
//! if they begin together.

use std::collections::HashMap;

use super::matching::Matched;
use crate::model::{Loggp, Sharing};
use crate::schedule::Schedule;
use crate::topology::nodes::Locality;

/// What is sent in a round.
struct Round {
    /// Bytes that each process sends and receives.
    processes: Vec<[f64; 2]>,
    /// Bytes that leave each node, and that come to it.
    nodes: Vec<[f64; 2]>,
    /// Time that the network needs for all bytes between nodes.
    network: f64,
}

/// Returns the time that the bytes of each message take, in microseconds: [`Loggp::transfer`], or more
/// where links are shared.
pub(super) fn transfers(world: &Matched, schedules: &[Schedule], params: &Loggp, nodes: Option<&Locality>) -> Vec<f64> {
    let mut times: Vec<f64> = world.messages.iter().map(|m| params.transfer(m.bytes)).collect();
    let (Some(nodes), Some(port)) = (nodes, params.sharing.port()) else { return times };
    let count = nodes.nodes();
    let places = |source: u32, target: u32| [nodes.node_of(source), nodes.node_of(target)];
    // messages with the number of their round
    let mut rounds: HashMap<u32, Vec<usize>> = HashMap::new();
    for (i, m) in world.messages.iter().enumerate().filter(|(_, m)| m.exists) {
        let number = schedules[m.source as usize].number((m.send_round - world.rounds[m.source as usize]) as usize);
        rounds.entry(number).or_default().push(i);
    }
    for messages in rounds.values() {
        let mut round =
            Round { processes: vec![[0.0; 2]; schedules.len()], nodes: vec![[0.0; 2]; count as usize], network: 0.0 };
        for m in messages.iter().map(|&i| &world.messages[i]) {
            let (bytes, [from, to]) = (m.bytes as f64, places(m.source, m.target));
            round.processes[m.source as usize][0] += bytes;
            round.processes[m.target as usize][1] += bytes;
            if from != to {
                round.nodes[from as usize][0] += bytes;
                round.nodes[to as usize][1] += bytes;
                round.network += bytes * params.sharing.link(Sharing::distance(from, to, count)) / f64::from(count);
            }
        }
        // times without contention, and those of the ports of nodes
        let alone = |node: u32, way: usize| {
            let bytes = nodes.members(node).iter().map(|&p| round.processes[p as usize][way]);
            bytes.fold(0.0, f64::max) * params.gap_per_byte
        };
        let at_port = |node: u32, way: usize| (round.nodes[node as usize][way] * port).max(alone(node, way));
        let slowed = |time: f64, without: f64| if time > without && without > 0.0 { time / without } else { 1.0 };
        let slow: Vec<[f64; 2]> = (0..count).map(|node| [0, 1].map(|way| slowed(at_port(node, way), alone(node, way)))).collect();
        let ports = (0..count).flat_map(|node| [at_port(node, 0), at_port(node, 1)]).fold(0.0, f64::max);
        let all = slowed(round.network, ports);
        for &i in messages {
            let [from, to] = places(world.messages[i].source, world.messages[i].target);
            if from != to {
                times[i] *= slow[from as usize][0].max(slow[to as usize][1]) * all;
            }
        }
    }
    times
}
