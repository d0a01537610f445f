//! The node that a process runs on: who else is there, and whether there are cores for all.

use super::coll::{self, Reduction};
use super::comm::{self, Owned as Comm};
use crate::error::Result;

/// What a process knows of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Processes of the communicator on it.
    pub processes: u32,
    /// Whether these are more than the cores that they may use.
    pub crowded: bool,
}

/// The name of the node: the lowest rank there. Collective.
pub fn name(comm: &Comm) -> Result<u32> {
    let node = comm.node()?;
    // SAFETY: a live communicator.
    let mut lowest = unsafe { comm::rank(comm.raw()) }?.to_ne_bytes();
    coll::broadcast(&node, &mut lowest, 0)?;
    Ok(u32::from_ne_bytes(lowest))
}

/// Looks around. Collective.
pub fn look_around(comm: &Comm) -> Result<Node> {
    /// Words of an affinity mask: 1,024 cores.
    const WORDS: usize = 16;
    let mut mask = [0u64; WORDS];
    // SAFETY: the mask has the size that is said; the kernel writes no more. On failure it stays empty.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    let node = comm.node()?;
    // MPIs bind processes to different cores: only all of a node's masks together tell what it has
    let usable = coll::allreduce(&node, mask, Reduction::Or)?;
    let cores: u32 = usable.iter().map(|w| w.count_ones()).sum();
    // SAFETY: a live communicator.
    let processes = unsafe { comm::size(node.raw()) }?;
    Ok(Node { processes, crowded: cores > 0 && processes > cores })
}
