//! Measures what LogGP leaves out ([`Sharing`]): the links that messages of all nodes share, the
//! latency by distance, and the copy of a byte.
//!
//! For each distance of 1, 2, 4, ... nodes, up to half of them, each process sends to its
//! counterpart that many nodes on, and receives from the one that many nodes back, all at the same
//! time. Two lengths, whose times differ by those of their bytes alone; the shortest time of a few
//! counts. The same again with several messages of each process at a time, to nodes at random. The
//! latency of a distance is the mean over the pairs of first processes of two nodes: half of the
//! shortest of some round trips of a byte.

use std::hint::black_box;

use super::buffer::written;
use crate::error::Result;
use crate::model::{Loggp, Sharing};
use crate::mpi;
use crate::mpi::coll::{self, Reduction, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::p2p::Requests;
use crate::mpi::peer::{Peer, now};
use crate::topology::nodes::Locality;
use crate::util::cast::{to_u32, to_usize, whole};
use crate::util::random::Random;

/// Tag on the communicator of the measurement.
const TAG: i32 = 4;

/// Exchanges of each length, after one that connects the processes.
const REPETITIONS: usize = 3;

/// Messages of a process at a time, to nodes at random.
const SEVERAL: u32 = 4;

/// Fewer nodes than these have no other way at random than those by distance.
const FEW: u32 = 4;

/// Round trips of a byte, the first of which connect the processes.
const TRIPS: usize = 8;

/// The shortest latency that is told from none, in microseconds.
const LEAST: f64 = 1e-3;

/// Time that the longer messages of a node would take without contention, in microseconds.
const DURATION: f64 = 400.0;

/// Lengths of the longer messages.
const LENGTHS: std::ops::RangeInclusive<f64> = 16_384.0..=1_048_576.0;

/// Bytes of one such message of each simulated process together, and of the longest one however
/// many processes there are.
const SIMULATED: f64 = 134_217_728.0;
const SIMULATED_LEAST: f64 = 65_536.0;

/// Measures all but the copy, with what was measured between two nodes. Collective; takes some
/// milliseconds for each distance, and 8 times the longest message of memory.
///
/// # Errors
/// Too little memory, or a process has ended.
pub fn measure(comm: &Comm, names: &[u32], machine: &Loggp) -> Result<Sharing> {
    let nodes = Locality::from_names(names);
    let distances = Sharing::distances(nodes.nodes());
    if distances == 0 || machine.gap_per_byte <= 0.0 {
        return Ok(machine.sharing);
    }
    let latencies = latencies(comm, &nodes, machine)?;
    let (links, random) = links(comm, &nodes, machine.gap_per_byte)?;
    Ok(Sharing { links, random, latencies, ..machine.sharing })
}

/// L for all distances.
fn latencies(comm: &Comm, nodes: &Locality, machine: &Loggp) -> Result<[f64; Sharing::DISTANCES]> {
    let (count, me) = (nodes.nodes(), comm.rank()?);
    let mine = nodes.node_of(me);
    let first = |node: u32| Peer { comm, rank: nodes.members(node)[0] };
    let mut latencies = Sharing::UNKNOWN.latencies;
    for (i, latency) in latencies.iter_mut().enumerate().take(Sharing::distances(count)) {
        let far = 1 << i;
        let mut mine_takes = 0.0;
        // a process waits for an answer or answers: every other group of `far` nodes begins
        for begins in [0, 1] {
            let back = (mine + count - far) % count;
            if me == first(mine).rank && mine / far % 2 == begins {
                mine_takes = round_trip(first((mine + far) % count))?;
            }
            if me == first(mine).rank && back / far % 2 == begins {
                for _ in 0..TRIPS {
                    first(back).receive(&mut [0], TAG)?;
                    first(back).send(&[0], TAG)?;
                }
            }
        }
        let [all] = coll::allreduce(comm, [mine_takes], Reduction::Sum)?;
        // none is nearer than the pair that was measured alone
        *latency = (all / f64::from(count) / 2.0 - 2.0 * machine.overhead).max(machine.latency).max(LEAST);
    }
    Ok(latencies)
}

/// The shortest of some round trips of a byte to a process that answers, in microseconds.
fn round_trip(peer: Peer) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..TRIPS {
        let begin = now();
        peer.send(&[0], TAG)?;
        peer.receive(&mut [0], TAG)?;
        best = best.min(now() - begin);
    }
    Ok(best)
}

/// The longest message where there are so many processes. Simulated ones share the memory of one
/// process of the system.
fn longest(processes: f64) -> f64 {
    let most = *LENGTHS.end();
    if mpi::is_simulated() { (SIMULATED / processes).clamp(SIMULATED_LEAST, most) } else { most }
}

/// Times for each byte that leaves a node: for all distances, and to nodes at random.
fn links(comm: &Comm, nodes: &Locality, per_byte: f64) -> Result<([f64; Sharing::DISTANCES], Option<f64>)> {
    let (count, me) = (nodes.nodes(), comm.rank()?);
    let mut links = Sharing::UNKNOWN.links;
    let most = (0..count).map(|node| nodes.members(node).len()).max().unwrap_or(1) as f64;
    let long = whole((DURATION / per_byte / most).clamp(*LENGTHS.start(), longest(f64::from(count) * most)));
    let lengths = [to_usize(long) / 4, to_usize(long)];
    let words = lengths.map(|length| length / size_of::<u32>());
    let mut spare = share_outcome(comm, (0..2 * SEVERAL).map(|_| written(words[1])).collect::<Result<Vec<Vec<u32>>>>())?;
    let mine = nodes.node_of(me);
    let number = nodes.members(mine).iter().position(|&p| p == me).unwrap_or(0);
    let counterparts =
        |far: &[u32]| -> Vec<u32> { far.iter().filter_map(|&node| nodes.members(node).get(number).copied()).collect() };
    // for each byte of a node, if each process sends to its counterparts on these nodes
    let mut time = |to: &[u32], from: &[u32]| -> Result<f64> {
        let ranks = [to, from].map(counterparts);
        let mut best = [f64::INFINITY; 2];
        for repetition in 0..=REPETITIONS {
            for (words, best) in words.into_iter().zip(&mut best) {
                let mut message = |&rank: &u32| {
                    let mut buffer = spare.pop().unwrap_or_default();
                    buffer.resize(words, 1);
                    (rank, buffer)
                };
                let [mut out, mut into] = ranks.each_ref().map(|ranks| ranks.iter().map(&mut message).collect::<Vec<_>>());
                coll::barrier(comm)?;
                let begin = now();
                Requests::default().exchange(&mut out, &mut into, TAG, comm)?;
                let [time] = coll::allreduce(comm, [now() - begin], Reduction::Max)?;
                if repetition > 0 {
                    *best = best.min(time);
                }
                spare.extend(out.into_iter().chain(into).map(|(_, buffer)| buffer));
            }
        }
        let bytes = (lengths[1] - lengths[0]) as f64 * most * to.len() as f64;
        // a node is not faster with company
        Ok(((best[1] - best[0]) / bytes).max(per_byte / most))
    };
    for (i, link) in links.iter_mut().enumerate().take(Sharing::distances(count)) {
        let far = 1 << i;
        *link = time(&[(mine + far) % count], &[(mine + count - far) % count])?;
    }
    if count < FEW {
        return Ok((links, None));
    }
    let (to, from): (Vec<_>, Vec<_>) = (0..SEVERAL).map(|k| neighbors_at_random(mine, count, k)).unzip();
    Ok((links, Some(time(&to, &from)?)))
}

/// The next and the last node on a ring of all nodes in random order; another one for each `k`.
fn neighbors_at_random(mine: u32, count: u32, k: u32) -> (u32, u32) {
    let ring = Random::new(k.into()).different(count, count);
    let place = ring.iter().position(|&node| node == mine).unwrap_or(0);
    (ring[(place + 1) % ring.len()], ring[(place + ring.len() - 1) % ring.len()])
}

/// Microseconds to copy a byte.
pub fn copy() -> f64 {
    const LENGTH: usize = 65_536;
    let (from, mut into) = (vec![1u8; LENGTH], vec![0u8; LENGTH]);
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let begin = now();
        into.copy_from_slice(black_box(&from));
        best = best.min(now() - begin);
        black_box(&mut into);
    }
    best / f64::from(to_u32(LENGTH))
}
