//! The node that a process runs on: the processes there, and whether there are cores for all of
//! them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::group::Group;
use crate::mpi::{self, coll, liveness};
use crate::shm::cores::{self, Usable};
use crate::shm::segment::Kept;

/// Names the node of each process by the lowest rank there. Processes are on one node if MPI gives
/// them the same name of a processor and they run under the same boot of a kernel.
/// `MPI_Comm_split_type`, which also tells, blocks (see `mpi::group`).
///
/// Collective: an allgather of a word; O(P) memory.
pub fn names(comm: &Comm) -> Result<Vec<u32>> {
    let hosts = coll::allgather_words(comm, [host()], comm.size()?)?;
    let mut lowest = std::collections::HashMap::new();
    Ok((0..).zip(&hosts).map(|(rank, host)| *lowest.entry(host).or_insert(rank)).collect())
}

/// A number for the node of the caller; another one for each node.
fn host() -> u64 {
    static BOOT: OnceLock<String> = OnceLock::new();
    // empty where the kernel does not tell: the name then decides alone
    let boot = BOOT.get_or_init(|| std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default());
    let mut hasher = DefaultHasher::new();
    (mpi::processor_name(), boot).hash(&mut hasher);
    hasher.finish()
}

/// The processes of a communicator that share memory with the caller.
#[derive(Debug)]
pub struct Team {
    group: Group,
    /// The members' ranks in `MPI_COMM_WORLD`; `None` for processes of other worlds.
    worlds: Vec<Option<u32>>,
    oversubscribed: bool,
    kept: Kept,
    /// What the members have agreed on.
    note: OnceLock<Note>,
}

/// Two words that say something about a node; zeros say nothing.
pub type Note = [u64; 2];

/// What each member of a team tells the others.
const CARD: usize = size_of::<liveness::Card>() / size_of::<u64>();
const USABLE: usize = size_of::<Usable>() / size_of::<u64>();
const WORDS: usize = CARD + size_of::<Note>() / size_of::<u64>() + USABLE;

impl Team {
    /// Finds the processes. The `note` of the first member becomes that of all; a member may have
    /// another one. Collective: an allgather of a word, and one of 23 words on each node.
    pub fn new(comm: &Arc<Comm>, note: Note) -> Result<Team> {
        let (names, me) = (names(comm)?, comm.rank()? as usize);
        let group = Group::new(comm, |rank| names[rank as usize] == names[me])?;
        let [number, start, spaces] = liveness::card()?;
        let mut words = [0; WORDS];
        words[..CARD].copy_from_slice(&[number, start, spaces]);
        words[CARD..][..note.len()].copy_from_slice(&note);
        // MPIs bind processes to different cores: only the masks of all show what the node has
        words[WORDS - USABLE..].copy_from_slice(&cores::usable());
        let all = group.allgather(words)?;
        let cards: Vec<liveness::Card> = all.iter().map(|&[number, start, spaces, ..]| [number, start, spaces]).collect();
        let worlds = comm.view().world_ranks(group.ranks())?;
        liveness::introduce(&worlds, &cards)?;
        let usable: Vec<&Usable> = all.iter().filter_map(|words| words.last_chunk()).collect();
        // those of a simulated node have all of its time
        let oversubscribed = cores::are_too_few(&usable) && !mpi::is_simulated();
        let note = OnceLock::new();
        if let Some(&[_, _, _, first, second, ..]) = all.first().filter(|words| words[CARD..][..2] != Note::default()) {
            // it is new
            let _ = note.set([first, second]);
        }
        Ok(Team { group, worlds, oversubscribed, note, kept: Kept::default() })
    }

    /// Returns the members that pass the same `color`. Collective over the team: an allgather of a
    /// word.
    pub fn part(&self, color: u32) -> Result<Team> {
        let group = self.group.part(color)?;
        let world = |&rank: &u32| self.group.place(rank).and_then(|member| self.world(member));
        let worlds = group.ranks().iter().map(world).collect();
        Ok(Team { group, worlds, oversubscribed: self.oversubscribed, note: OnceLock::new(), kept: Kept::default() })
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
        LITTLE * u64::from(self.size())
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

    /// The members.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The rank of a member in `MPI_COMM_WORLD`; `None` if it is of another world.
    pub fn world(&self, member: u32) -> Option<u32> {
        self.worlds[member as usize]
    }

    /// Number of members.
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// The place of the caller among the members.
    pub fn me(&self) -> u32 {
        self.group.me()
    }

    /// True if there are more processes on the node than cores that they may use.
    pub fn oversubscribed(&self) -> bool {
        self.oversubscribed
    }
}
