//! Makes the channels of a neighborhood: each process says where its rings are, at once in memory
//! that the node keeps, or in a segment that the processes make together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use smallvec::SmallVec;

use super::{
    ALL_SMALL, BESIDE_LARGE, Channels, Copied, Detached, Inbound, LARGE_BUFFERS, MOST_BYTES, MOST_OPERATIONS, Outbound, PAGE,
    location,
};
use crate::error::Result;
use crate::exec::shm::under_way::Marks;
use crate::mpi;
use crate::shm::doorbell::Doorbell;
use crate::shm::node::Team;
use crate::shm::ring::{Receiver, Ring, Sender};
use crate::shm::segment::{self, Segment};
use crate::shm::stores::Stores;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::to_u32;
use crate::util::memory::LINE;

/// Most bytes of a segment: locations are numbers of cache lines.
const LARGEST_SEGMENT: usize = (u32::MAX as usize - 2) * LINE;

/// Successive neighborhoods of a communicator whose tags differ.
const GENERATIONS: u64 = 64;

/// Returns the processes of a list that are on the node, except `me`, each once and in its order.
fn on_node(list: impl Iterator<Item = (u32, Rank)>, me: Rank, team: &Team) -> Members {
    let mut seen: SmallVec<[bool; 64]> = SmallVec::from_elem(false, team.size() as usize);
    let mut found = Members::new();
    for (_, rank) in list.filter(|entry| entry.1 != me) {
        let member = team.group().place(rank).filter(|&member| !std::mem::replace(&mut seen[member as usize], true));
        found.extend(member.map(|member| (rank, member)));
    }
    found
}

/// Processes of the node: rank in the communicator, rank in the node. Without an allocation where
/// they are few.
type Members = SmallVec<[(Rank, u32); 8]>;

/// Operations that have channels: for each its number, and whether all targets get the same
/// message, and so share their memory.
pub type Numbered = SmallVec<[(u64, bool); 4]>;

/// The channels that a process wants, and the memory of its own that they need.
pub struct Wish {
    team: Arc<Team>,
    operations: Numbered,
    copied: Copied,
    /// Each once.
    targets: Members,
    sources: Members,
    /// Bytes of a large buffer, and for the messages to a target.
    large_buffer: usize,
    memory: usize,
    /// Bytes of this process's rings, and of all its memory for messages.
    rings: usize,
    memories: usize,
}

impl Wish {
    /// The wish for a neighborhood. `bytes` is the most memory for a target. `copied` says which
    /// messages are copied from the sender's memory. Local.
    pub fn new(team: &Arc<Team>, n: &Neighborhood, operations: Numbered, (bytes, copied): (usize, Copied)) -> Wish {
        let (targets, sources) = (on_node(n.targets_in_order(), n.rank(), team), on_node(n.sources_in_order(), n.rank(), team));
        let memory = bytes.min(MOST_BYTES / targets.len().max(1)).max(BESIDE_LARGE + LARGE_BUFFERS * PAGE);
        let large_buffer = (memory - BESIDE_LARGE) / LARGE_BUFFERS / PAGE * PAGE;
        let memory = BESIDE_LARGE + LARGE_BUFFERS * large_buffer;
        let memories: usize =
            operations.iter().map(|&(_, common)| if common { targets.len().min(1) } else { targets.len() }).sum();
        let rings = (operations.len() * sources.len() * size_of::<Ring>()).next_multiple_of(PAGE);
        let (team, memories) = (Arc::clone(team), memories * memory);
        Wish { team, operations, copied, targets, sources, large_buffer, memory, rings, memories }
    }

    /// True if it has edges within the node.
    fn has_edges(&self) -> bool {
        !(self.targets.is_empty() && self.sources.is_empty())
    }

    /// The targets and sources, each once, by rank in the node.
    fn neighbors(&self) -> SmallVec<[u32; 16]> {
        let mut neighbors: SmallVec<[u32; 16]> = self.targets.iter().chain(&self.sources).map(|neighbor| neighbor.1).collect();
        neighbors.sort_unstable();
        neighbors.dedup();
        neighbors
    }

    /// Prepares the channels in memory that the node keeps, if there is room for this process. They
    /// are connected if all processes have prepared them, and have the same word. Local.
    pub fn prepare(self) -> Option<Prepared> {
        let wanted = [self.rings, self.memories];
        let memory = self.team.kept().prepare(wanted, self.team.me());
        match &memory {
            Some(memory) => self.publish(memory.segment()),
            // as all of the node say
            None if !self.has_edges() && self.team.kept().is_empty() => {}
            None => return None,
        }
        Some(Prepared { wish: Box::new(self), memory })
    }

    /// Where the processes' doorbells and tables are.
    fn head<'s>(&self, segment: &'s Segment) -> Head<'s> {
        Head { segment, members: self.team.size() as usize }
    }

    /// Empties this process's rings, and tells the others where they are, which memory it can read,
    /// and how much it puts into a large buffer.
    fn publish(&self, segment: &Segment) {
        let (me, head) = (self.team.me(), self.head(segment));
        let [front, _] = segment.front_and_body(me);
        let of_source = self.operations.len() * size_of::<Ring>();
        // SAFETY: the rings lie in this process's front, which the others do not use before all
        // have published theirs. All zeros are empty rings.
        unsafe { front.write_bytes(0, self.sources.len() * of_source) };
        head.size(me).store(to_u32(self.large_buffer / PAGE), Ordering::Relaxed);
        for (k, &(_, member)) in self.sources.iter().enumerate() {
            let reads = self.copied != Copied::Never && segment.once(member, || head.doorbell(member).owner().lets_read_memory());
            let rings = location(segment, front.wrapping_add(k * of_source));
            head.rings(me, member).store(rings | if reads { READS } else { 0 }, Ordering::Relaxed);
        }
    }
}

/// Channels that this process has prepared; without memory if nobody on the node needs any.
pub struct Prepared {
    wish: Box<Wish>,
    memory: Option<segment::Prepared>,
}

impl Prepared {
    /// Processes of a node have prepared the same if their words are equal.
    pub fn word(&self) -> u64 {
        self.memory.as_ref().map_or(u64::MAX, segment::Prepared::name)
    }
}

/// Added to the location of a target's rings, which is even: the target can read long messages from
/// the source's memory.
const READS: u32 = 1;
const _: () = assert!(align_of::<Ring>() == 2 * LINE && size_of::<Ring>().is_multiple_of(2 * LINE));

/// What lies in front of all parts of a segment: a doorbell for each process, and two tables of the
/// rings and sizes that processes publish, which successive segments use in turn.
struct Head<'a> {
    segment: &'a Segment,
    members: usize,
}

impl Head<'_> {
    /// Its bytes.
    fn bytes(members: usize) -> usize {
        members * Doorbell::BYTES + 2 * Head::table(members)
    }

    /// Bytes of a table.
    fn table(members: usize) -> usize {
        (members * members + members) * size_of::<AtomicU32>()
    }

    fn doorbell(&self, member: u32) -> Doorbell {
        Doorbell::at(self.segment.head().wrapping_add(member as usize * Doorbell::BYTES))
    }

    fn word(&self, index: usize) -> &AtomicU32 {
        let table = self.members * Doorbell::BYTES + self.segment.turn() * Head::table(self.members);
        let at: *const AtomicU32 = self.segment.head().wrapping_add(table + index * size_of::<AtomicU32>()).cast();
        // SAFETY: the table has a word for each pair of processes, and one for each process.
        unsafe { &*at }
    }

    /// Where a target has the rings of a source, one for each operation; and [`READS`].
    fn rings(&self, target: u32, source: u32) -> &AtomicU32 {
        self.word(target as usize * self.members + source as usize)
    }

    /// Pages of a process's large buffers.
    fn size(&self, member: u32) -> &AtomicU32 {
        self.word(self.members * self.members + member as usize)
    }
}

/// Makes the channels of all operations of a neighborhood. `generation` counts the communicator's
/// neighborhoods, equally on all processes, and `marks` are the communicator's. `prepared` is
/// what this process has prepared, `None` unless all have prepared the same; then `wish` is called.
///
/// Local if they have. Else collective over the node: the cost of `Segment::reused`, and one
/// barrier, two where the segment is new. Returns `None` on all processes of the node if there is
/// no shared memory, and on this process if it has no edge within the node.
pub fn make(
    prepared: Option<Prepared>,
    wish: impl FnOnce() -> Wish,
    (first_tag, tags): (u64, u64),
    (generation, marks): (u64, &Marks),
) -> Result<Option<Vec<Arc<Channels>>>> {
    // messages that cannot wait for room go by MPI
    let tags = tags / (GENERATIONS * MOST_OPERATIONS);
    if tags < 2 {
        return Ok(None);
    }
    let several_threads = mpi::has_several_threads()?;
    let (wish, segment) = match prepared {
        Some(Prepared { wish, memory }) => {
            let segment = memory.map(|memory| memory.take(wish.team.kept()));
            (wish, segment)
        }
        None => {
            let wish = Box::new(wish());
            let segment = share(&wish)?;
            (wish, segment)
        }
    };
    let Some(segment) = segment.filter(|_| wish.has_edges()).map(Arc::new) else {
        return Ok(None);
    };
    // rings and small buffers are little, unless there are many
    if wish.rings + wish.memories / wish.memory * ALL_SMALL > 512 << 10 {
        segment.note_much();
    }
    let published = Published { wish: &wish, head: wish.head(&segment) };
    let (team, copied, large_buffer) = (&wish.team, wish.copied, wish.large_buffer);
    let neighbors = wish.neighbors();
    let [_, mut next] = segment.front_and_body(team.me());
    let channels = wish.operations.iter().enumerate().map(|(position, &(operation, common))| {
        let first_tag = first_tag + (generation % GENERATIONS * MOST_OPERATIONS + operation) * tags;
        let outbound = published.outbound(position, next, common);
        next = next.wrapping_add(wish.memory * if common { outbound.len().min(1) } else { outbound.len() });
        Arc::new(Channels {
            segment: Arc::clone(&segment),
            outbound,
            inbound: published.inbound(position),
            eager_limit: large_buffer,
            single_from: if let Copied::From(from) = copied { from.min(large_buffer as u64 + 1) } else { u64::MAX },
            away_only: copied == Copied::Away,
            turns: copied == Copied::Away && !team.oversubscribed() && !several_threads,
            next: AtomicU64::new(0),
            first_tag,
            tags,
            under_way: marks.of(first_tag, tags / 2),
            doorbell: published.head.doorbell(team.me()),
            doorbells: neighbors.iter().map(|&member| published.head.doorbell(member)).collect(),
            oversubscribed: team.oversubscribed(),
            any_gone: AtomicBool::new(false),
            detached: Detached::default(),
        })
    });
    Ok(Some(channels.collect()))
}

/// A segment in which all processes have published where their rings are.
struct Published<'a> {
    wish: &'a Wish,
    head: Head<'a>,
}

impl Published<'_> {
    /// The ring of the operation at `position` from a source to a target, and true if the target
    /// can read long messages from the source's memory.
    fn ring(&self, target: u32, source: u32, position: usize) -> (*const Ring, bool) {
        let rings = self.head.rings(target, source).load(Ordering::Relaxed);
        let first: *const Ring = self.head.segment.address((rings & !READS) as usize * LINE).cast();
        (first.wrapping_add(position), rings & READS != 0)
    }

    /// The channels to the targets, whose memory begins at `begin`; `common`: they share it.
    fn outbound(&self, position: usize, begin: *mut u8, common: bool) -> Vec<Outbound> {
        let Wish { team, targets, sources, memory, .. } = self.wish;
        let outbound = targets.iter().enumerate().map(|(k, &(rank, member))| {
            let (ring, reads) = self.ring(member, team.me(), position);
            Outbound {
                rank,
                member,
                world: team.world(member),
                ring,
                sender: Sender::default(),
                memory: begin.wrapping_add(if common { 0 } else { k * memory }),
                stores: Stores::default(),
                used: Default::default(),
                back: sources.iter().position(|s| s.0 == rank),
                chunks: AtomicU64::new(0),
                reads,
                gone: AtomicBool::new(false),
                clogged_below: AtomicU64::new(0),
            }
        });
        outbound.collect()
    }

    /// The channels from the sources.
    fn inbound(&self, position: usize) -> Vec<Inbound> {
        let Wish { team, targets, sources, .. } = self.wish;
        let inbound = sources.iter().map(|&(rank, member)| {
            let (ring, reads) = self.ring(team.me(), member, position);
            Inbound {
                rank,
                member,
                ring,
                receiver: Receiver::default(),
                back: targets.iter().position(|t| t.0 == rank),
                eager_limit: self.head.size(member).load(Ordering::Relaxed) as usize * PAGE,
                process: reads.then(|| self.head.doorbell(member).owner().process()),
            }
        });
        inbound.collect()
    }
}

/// Makes the segment, in which all processes have published their rings. Collective over the node.
fn share(wish: &Wish) -> Result<Option<Segment>> {
    let (team, members) = (&wish.team, wish.team.size() as usize);
    let wanted = if wish.has_edges() { [wish.rings, wish.memories] } else { [0, 0] };
    let Some((segment, reused)) = Segment::reused(wanted, Head::bytes(members), LARGEST_SEGMENT, team.group(), team.kept())?
    else {
        return Ok(None);
    };
    if !reused {
        wish.head(&segment).doorbell(team.me()).owner().claim();
        // all have claimed their doorbells
        team.group().barrier()?;
    }
    wish.publish(&segment);
    // all rings are empty, and all have said where they are and which memory they can read
    team.group().barrier()?;
    Ok(Some(segment))
}
