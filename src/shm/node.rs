//! The node that a process runs on: who else is there, and whether there are cores for all.

use crate::error::Result;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::liveness;

/// What a process knows of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Processes of the communicator on it.
    pub processes: u32,
    /// Whether these are more than the cores that they may use.
    pub oversubscribed: bool,
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
    let node = comm.node()?;
    // SAFETY: a live communicator.
    let processes = unsafe { comm::size(node.raw()) }?;
    let cards = coll::allgather_words(&node, liveness::card()?, processes)?;
    liveness::introduce(&node, &cards)?;
    Ok(Node { processes, oversubscribed: oversubscribed(&node)? })
}

/// Whether the processes of a node are more than the cores that they may use. Collective over the
/// node.
fn oversubscribed(node: &Comm) -> Result<bool> {
    /// Words of an affinity mask: 1,024 cores.
    const WORDS: usize = 16;
    let mut mask = [0u64; WORDS];
    // SAFETY: the mask has the size that is said; the kernel writes no more. On failure it stays
    // empty.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    // MPIs bind processes to different cores: only all of a node's masks together tell what it has
    let usable = coll::allreduce(node, mask, Reduction::Or)?;
    let cores: u32 = usable.iter().map(|w| w.count_ones()).sum();
    // SAFETY: a live communicator.
    let processes = unsafe { comm::size(node.raw()) }?;
    Ok(cores > 0 && processes > cores)
}

/// The processes of a communicator that share memory with the caller.
#[derive(Debug)]
pub struct Team {
    comm: Comm,
    me: u32,
    /// Ranks in the communicator, ascending.
    ranks: Vec<u32>,
    oversubscribed: bool,
}

impl Team {
    /// Finds them. Collective.
    pub fn new(comm: &Comm) -> Result<Team> {
        let node = comm.node()?;
        let oversubscribed = oversubscribed(&node)?;
        // SAFETY: a live communicator.
        Team::of(node, unsafe { comm::rank(comm.raw()) }?, oversubscribed)
    }

    /// Those of them that give the same `color`; `rank` is the caller's in the communicator.
    /// Collective over the team.
    pub fn part(&self, color: u32, rank: u32) -> Result<Team> {
        Team::of(self.comm.split(color)?, rank, self.oversubscribed)
    }

    fn of(node: Comm, rank: u32, oversubscribed: bool) -> Result<Team> {
        // SAFETY: a live communicator.
        let (me, size) = unsafe { (comm::rank(node.raw())?, comm::size(node.raw())?) };
        let [number, start, spaces] = liveness::card()?;
        let all = coll::allgather_words(&node, [rank.into(), number, start, spaces], size)?;
        let cards: Vec<liveness::Card> = all.iter().map(|&[_, number, start, spaces]| [number, start, spaces]).collect();
        liveness::introduce(&node, &cards)?;
        let ranks = all.into_iter().map(|[rank, ..]| rank as u32).collect();
        Ok(Team { comm: node, me, ranks, oversubscribed })
    }

    /// A communicator of them.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// How many they are.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// The caller's rank among them.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// The rank among them of a process of the communicator, if it is one of them.
    pub fn member(&self, rank: u32) -> Option<u32> {
        self.ranks.binary_search(&rank).ok().map(|k| k as u32)
    }

    /// Whether these are more than the cores that they may use.
    pub fn oversubscribed(&self) -> bool {
        self.oversubscribed
    }
}
