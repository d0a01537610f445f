//! The node that a process runs on: the processes there, and whether there are cores for all of
//! them.

use std::sync::OnceLock;

use crate::error::Result;
use crate::mpi;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness;
use crate::shm::segment::Kept;
use crate::util::cast::to_u32;

/// A node, as seen by one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Processes of the communicator on the node.
    pub processes: u32,
    /// True if there are more processes than cores that they may use.
    pub oversubscribed: bool,
}

/// Returns the name of the node, which is the lowest rank there. Collective.
pub fn name(comm: &Comm) -> Result<u32> {
    let node = comm.node()?;
    let mut lowest = comm.rank()?.to_ne_bytes();
    coll::broadcast(&node, &mut lowest, 0)?;
    Ok(u32::from_ne_bytes(lowest))
}

/// Looks at the node of the caller. Collective.
pub fn look_around(comm: &Comm) -> Result<Node> {
    let node = comm.node()?;
    let processes = node.size()?;
    let cards = coll::allgather_words(&node, liveness::card()?, processes)?;
    liveness::introduce(&node, &cards)?;
    Ok(Node { processes, oversubscribed: oversubscribed(&node)? })
}

/// Returns true if a node has more processes than cores that they may use. Collective over the
/// node.
fn oversubscribed(node: &Comm) -> Result<bool> {
    /// Words of an affinity mask, enough for 1,024 cores.
    const WORDS: usize = 16;
    // those of a simulated node have all of its time
    if mpi::is_simulated() {
        return Ok(false);
    }
    let mut mask = [0u64; WORDS];
    // SAFETY: the kernel writes no more than the size that is passed. On failure the mask stays
    // empty.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    // MPIs bind processes to different cores: only the masks of all processes show what the node
    // has
    let usable = coll::allreduce(node, mask, Reduction::Or)?;
    let cores: u32 = usable.iter().map(|w| w.count_ones()).sum();
    let processes = node.size()?;
    Ok(cores > 0 && processes > cores)
}

/// The processes of a communicator that share memory with the caller.
#[derive(Debug)]
pub struct Team {
    comm: Comm,
    me: u32,
    /// Ranks in the communicator, in ascending order.
    ranks: Vec<u32>,
    oversubscribed: bool,
    kept: Kept,
    /// What the members have agreed on.
    note: OnceLock<Note>,
}

/// Two words that say something about a node; zeros say nothing.
pub type Note = [u64; 2];

impl Team {
    /// Finds the processes. The `note` of the first member becomes that of all; a member may have
    /// another one. Collective.
    pub fn new(comm: &Comm, note: Note) -> Result<Team> {
        let node = comm.node()?;
        let oversubscribed = oversubscribed(&node)?;
        Team::of(node, comm.rank()?, oversubscribed, note)
    }

    /// Returns the members that pass the same `color`; `rank` is the caller's in the communicator.
    /// Collective over the team.
    pub fn part(&self, color: u32, rank: u32) -> Result<Team> {
        Team::of(self.comm.split(color)?, rank, self.oversubscribed, Note::default())
    }

    fn of(node: Comm, rank: u32, oversubscribed: bool, [first, second]: Note) -> Result<Team> {
        let (me, size) = (node.rank()?, node.size()?);
        let [number, start, spaces] = liveness::card()?;
        let all = coll::allgather_words(&node, [rank.into(), number, start, spaces, first, second], size)?;
        let cards: Vec<liveness::Card> = all.iter().map(|&[_, number, start, spaces, ..]| [number, start, spaces]).collect();
        liveness::introduce(&node, &cards)?;
        let note = OnceLock::new();
        if let Some(&[.., first, second]) = all.first().filter(|card| card[4..] != Note::default()) {
            // it is new
            let _ = note.set([first, second]);
        }
        let ranks = all.into_iter().map(|[rank, ..]| to_u32(rank)).collect();
        Ok(Team { comm: node, me, ranks, oversubscribed, note, kept: Kept::default() })
    }

    /// Memory that the members keep for segments to come.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Gives up memory that no segment uses, unless it is little.
    pub fn trim(&self) {
        self.kept.trim(self.little());
    }

    /// True if all memory of segments is little enough to stay while nothing uses it.
    pub fn is_light(&self) -> bool {
        self.kept.bytes() <= self.little()
    }

    fn little(&self) -> u64 {
        /// For each process.
        const LITTLE: u64 = 1 << 20;
        LITTLE * self.ranks.len() as u64
    }

    /// Returns what the members have agreed on, if they have.
    pub fn note(&self) -> Option<Note> {
        self.note.get().copied()
    }

    /// Records what the members have agreed on, all the same. Only the first time counts.
    pub fn agree_on(&self, note: Note) {
        // an earlier one stays
        let _ = self.note.set(note);
    }

    /// Communicator of the members.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// The lowest rank of a member in the communicator.
    pub fn first(&self) -> u32 {
        // the caller is one
        self.ranks.first().copied().unwrap_or_default()
    }

    /// Rank of the caller in the team.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// Returns the rank in the communicator of a member.
    pub fn rank(&self, member: u32) -> u32 {
        self.ranks[member as usize]
    }

    /// Returns the rank in the team of a process of the communicator, if it is a member.
    pub fn member(&self, rank: u32) -> Option<u32> {
        self.ranks.binary_search(&rank).ok().map(|k| to_u32(k))
    }

    /// True if there are more processes on the node than cores that they may use.
    pub fn oversubscribed(&self) -> bool {
        self.oversubscribed
    }
}
