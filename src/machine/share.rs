//! Measures what LogGP leaves out ([`Sharing`]): the links that messages of all nodes share, and
//! the copy of a byte.
//!
//! For each distance of 1, 2, 4, ... nodes, up to half of them, each process sends to its
//! counterpart that many nodes on, and receives from the one that many nodes back, all at the same
//! time. Two lengths, whose times differ by those of their bytes alone; the shortest time of a few
//! counts.

use std::hint::black_box;

use super::buffer::written;
use crate::error::Result;
use crate::model::Sharing;
use crate::mpi::coll::{self, Reduction, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::peer::{exchange, now};
use crate::topology::nodes::Locality;
use crate::util::cast::{to_u32, to_usize, whole};

/// Tag on the communicator of the measurement.
const TAG: i32 = 4;

/// Exchanges of each length, after one that connects the processes.
const REPETITIONS: usize = 3;

/// Time that the longer messages of a node would take without contention, in microseconds.
const DURATION: f64 = 400.0;

/// Lengths of the longer messages.
const LENGTHS: std::ops::RangeInclusive<f64> = 16_384.0..=1_048_576.0;

/// Times for each byte that leaves a node, for all distances. Collective; takes some milliseconds
/// for each distance, and twice the longest message of memory.
///
/// # Errors
/// Too little memory, or a process has ended.
pub fn links(comm: &Comm, names: &[u32], per_byte: f64) -> Result<[f64; Sharing::DISTANCES]> {
    let nodes = Locality::from_names(names);
    let (count, me) = (nodes.nodes(), comm.rank()?);
    let mut links = Sharing::UNKNOWN.links;
    let distances = Sharing::distances(count);
    if distances == 0 || per_byte <= 0.0 {
        return Ok(links);
    }
    let most = (0..count).map(|node| nodes.members(node).len()).max().unwrap_or(1) as f64;
    let long = whole((DURATION / per_byte / most).clamp(*LENGTHS.start(), *LENGTHS.end()));
    let lengths = [to_usize(long) / 4, to_usize(long)];
    let mut buffers = share_outcome(comm, written(lengths[1]).and_then(|send| Ok((send, written(lengths[1])?))))?;
    let mine = nodes.node_of(me);
    let number = nodes.members(mine).iter().position(|&p| p == me).unwrap_or(0);
    let counterpart = |node: u32| nodes.members(node).get(number).copied();
    for (i, link) in links.iter_mut().enumerate().take(distances) {
        let far = 1 << i;
        let (to, from) = (counterpart((mine + far) % count), counterpart((mine + count - far) % count));
        let mut best = [f64::INFINITY; 2];
        for repetition in 0..=REPETITIONS {
            for (length, best) in lengths.into_iter().zip(&mut best) {
                coll::barrier(comm)?;
                let begin = now();
                let out = to.map(|rank| (rank, &buffers.0[..length]));
                let into = from.map(|rank| (rank, &mut buffers.1[..length]));
                if let Err(error) = exchange(comm, out, into, TAG) {
                    // MPI may still be at work in the buffers
                    std::mem::forget(buffers);
                    return Err(error);
                }
                let [time] = coll::allreduce(comm, [now() - begin], Reduction::Max)?;
                if repetition > 0 {
                    *best = best.min(time);
                }
            }
        }
        // a node is not faster with company
        let bytes = (lengths[1] - lengths[0]) as f64 * most;
        *link = ((best[1] - best[0]) / bytes).max(per_byte / most);
    }
    Ok(links)
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
