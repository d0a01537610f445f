//! What the processes of a node set up to exchange by shared memory: one segment, and in it a
//! mailbox for each process and each of its sources, and memory for each process's messages to each
//! of its targets.
//!
//! Made when a neighborhood is set, for each of its operations. Memory: for each operation and
//! target at most what the hint `mpix_shared_memory` says, and at most [`MOST`] for all targets;
//! for gathers that much for all targets together. It is the system's only where it has been
//! written.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::tags;
use crate::error::Result;
use crate::mpi::coll;
use crate::mpi::leftover;
use crate::mpi::liveness;
use crate::mpi::message;
use crate::shm::doorbell::Doorbell;
use crate::shm::node::Team;
use crate::shm::ring::{CELLS, Ring, Sender};
use crate::shm::segment::Segment;
use crate::topology::neighborhood::{Neighborhood, Rank};

/// Most bytes for the messages of an operation that a process sends.
pub const MOST_BYTES: usize = 128 << 20;

/// Large slots of a target's memory: as many as messages can be there at a time.
const LARGE_BUFFERS: usize = CELLS as usize;

/// Bytes of a small slot, of which each line of the target's mailbox has its own.
pub const SMALL_BUFFER: usize = 4096;

/// Bytes of all small slots.
const ALL_SMALL: usize = CELLS as usize * SMALL_BUFFER;

/// Chunks of long messages that are there at a time, and bytes of one at the most: together they
/// stay in a core's cache.
pub const CHUNKS: u64 = 8;
const LONGEST_CHUNK: usize = 128 << 10;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Most bytes of a segment: places are told as numbers of lines.
const LARGEST_SEGMENT: usize = (u32::MAX as usize - 1) * LINE;

/// Slots begin on pages.
const PAGE: usize = 4096;

/// Neighborhoods of a communicator that follow one another and have tags of their own.
const GENERATIONS: u64 = 64;

/// One process to which this one sends.
pub struct Outbound {
    /// Its rank in the communicator, and in the node.
    pub rank: Rank,
    pub member: u32,
    /// Its rank in `MPI_COMM_WORLD`; `None` in another world.
    pub world: Option<u32>,
    ring: *const Ring,
    pub sender: Sender,
    /// Where messages to it lie that are longer than a line: the small slots, then the large ones.
    memory: *mut u8,
    /// For each large slot one more than the number of the message that was last put there.
    used: [AtomicU64; LARGE_BUFFERS],
    /// Position among the sources, if it is one.
    pub back: Option<usize>,
    /// Chunks that have been put into its mailbox.
    pub chunks: AtomicU64,
    /// True once it was found dead: from then on no message waits for it.
    gone: AtomicBool,
}

/// Memory for a message that does not fit in its cell.
#[derive(Debug, Clone, Copy)]
pub struct EagerBuffer {
    /// Its address.
    pub at: *mut u8,
    /// Index of a large one, whose use is recorded; each cell has a small one of its own.
    large: Option<usize>,
}

/// One process from which this one receives.
pub struct Inbound {
    /// Its rank in the communicator, and in the node.
    pub rank: Rank,
    pub member: u32,
    ring: *const Ring,
    /// Position among the targets, if it is one.
    pub back: Option<usize>,
    /// Bytes of a message in a slot of that process at the most.
    pub eager_limit: usize,
    /// Whether longer ones come by MPI, which needs one copy for them where the kernel permits
    /// that.
    pub long_by_mpi: bool,
}

/// The shared memory of one operation of a neighborhood, as one process sees it.
pub struct Channels {
    segment: Arc<Segment>,
    /// Targets on the node but itself, each once, in matching order; sources likewise.
    pub outbound: Vec<Outbound>,
    pub inbound: Vec<Inbound>,
    /// Bytes of a message in a slot at the most.
    pub eager_limit: usize,
    /// Number of the next collective.
    next: AtomicU64,
    first_tag: u64,
    tags: u64,
    pub doorbell: Doorbell,
    /// The bell of each process of the node.
    pub doorbells: Vec<Doorbell>,
    /// Whether processes share cores.
    pub oversubscribed: bool,
    /// True once a process of it was found dead.
    any_gone: AtomicBool,
    /// Messages that went by MPI from memory of their own, as long as MPI may read that.
    detached: Mutex<Vec<leftover::Message>>,
}

// SAFETY: addresses in the segment, which lives as long; what is there is atomic, or belongs to one
// side by the mailboxes' protocol.
unsafe impl Send for Channels {}
// SAFETY: as above.
unsafe impl Sync for Channels {}

impl Drop for Channels {
    fn drop(&mut self) {
        let detached = std::mem::take(self.detached.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !detached.is_empty() {
            // who waits for these must not take this process to have ended
            std::mem::forget(Arc::clone(&self.segment));
            leftover::leave(detached);
        }
    }
}

impl Outbound {
    #[inline(always)]
    pub fn ring(&self) -> &Ring {
        // SAFETY: it lies in the segment, which lives as long as the link that holds this; it is
        // all atomics.
        unsafe { &*self.ring }
    }

    /// Whether it was found dead.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Whether all chunks that were put into its mailbox have been taken out.
    #[inline(always)]
    pub fn chunks_are_read(&self) -> bool {
        // only long messages are counted in chunks
        let chunks = self.chunks.load(Ordering::Relaxed);
        chunks == 0 || self.ring().chunks_read() == chunks || self.is_gone()
    }

    /// Whether chunk `done` can be put in of a message that has `before` chunks of the mailbox
    /// before it.
    #[inline]
    pub fn has_room_for_chunk(&self, before: u64, done: u64) -> bool {
        self.ring().chunks_read() + CHUNKS > before + done || self.is_gone()
    }

    /// Returns how it takes the long message `number`, as [`Mailbox::begun`]. A dead process holds
    /// up none.
    #[inline]
    pub fn ready(&self, number: u64) -> Option<bool> {
        self.ring().ready(number).or_else(|| self.is_gone().then_some(true))
    }
}

impl Inbound {
    #[inline(always)]
    pub fn ring(&self) -> &Ring {
        // SAFETY: as for `Out`.
        unsafe { &*self.ring }
    }
}

/// Processes of a list that are on the node, but `me`, each once: (rank, member of the node), in
/// matching order.
fn on_node(list: Vec<(u32, Rank)>, me: Rank, team: &Team) -> Vec<(Rank, u32)> {
    let mut seen = std::collections::HashSet::new();
    (list.into_iter()).filter(|&(_, r)| r != me && seen.insert(r)).filter_map(|(_, r)| Some((r, team.member(r)?))).collect()
}

/// Makes the links of `operations` operations of a neighborhood, those at `common` positions with
/// one memory for all targets; `bytes` is the most for a target, `single_copy` whether long
/// messages go by MPI where that needs one copy for them. `None` on all processes of the node where
/// there is no shared memory, or no edge within the node. `generation` counts neighborhoods of the
/// communicator, equally on all processes. Collective over the node: what `Segment::new` does and
/// an exchange of a number with each process.
pub fn make(
    team: &Team,
    n: &Neighborhood,
    common: &[bool],
    (bytes, single_copy): (usize, bool),
    generation: u64,
) -> Result<Option<Vec<Arc<Channels>>>> {
    // what cannot wait for room goes by MPI
    let (first_tag, tags) = tags::shared(message::largest_tag()?);
    let tags = tags / (GENERATIONS * 3);
    if tags < 2 {
        return Ok(None);
    }
    let (targets, sources) = (on_node(n.targets_in_order(), n.rank(), team), on_node(n.sources_in_order(), n.rank(), team));
    let memory = bytes.min(MOST_BYTES / targets.len().max(1)).max(ALL_SMALL + LARGE_BUFFERS * PAGE);
    let large_buffer = (memory - ALL_SMALL) / LARGE_BUFFERS / PAGE * PAGE;
    let memory = ALL_SMALL + LARGE_BUFFERS * large_buffer;
    let memories: usize = common.iter().map(|&common| if common { targets.len().min(1) } else { targets.len() }).sum();
    let rings = (Doorbell::BYTES + common.len() * sources.len() * size_of::<Ring>()).next_multiple_of(PAGE);
    let edges = !(targets.is_empty() && sources.is_empty());
    let part = if edges { rings + memories * memory } else { 0 };
    let Some(segment) = Segment::new(part, LARGEST_SEGMENT, team.comm())? else { return Ok(None) };
    let segment = Arc::new(segment);
    if edges {
        Doorbell::at(segment.part(team.me())).claim();
    }
    // who sends to me hears at which place among my mailboxes its own are
    let mut places = vec![u32::MAX; team.size()];
    for (place, &(_, member)) in sources.iter().enumerate() {
        places[member as usize] = place as u32;
    }
    let places = coll::alltoall(team.comm(), &places)?;
    let sizes = coll::allgather(team.comm(), (large_buffer / PAGE) as u32, team.size() as u32)?;
    let ring = |member: u32, place: usize, operation: usize| -> *const Ring {
        let index = place * common.len() + operation;
        segment.part(member).wrapping_add(Doorbell::BYTES + index * size_of::<Ring>()).cast()
    };
    if !edges {
        return Ok(None);
    }
    let members: Vec<u32> = targets.iter().map(|target| target.1).collect();
    // SAFETY: a live communicator.
    let worlds = unsafe { liveness::world_ranks(team.comm().raw(), &members) }?;
    let doorbell = |member: usize| Doorbell::at(segment.part(member as u32));
    let mut next = segment.part(team.me()).wrapping_add(rings);
    let channels = common.iter().enumerate().map(|(operation, &common)| {
        let begin = next;
        let outbound: Vec<Outbound> = (targets.iter().enumerate())
            .map(|(k, &(rank, member))| Outbound {
                rank,
                member,
                world: worlds[k],
                ring: ring(member, places[member as usize] as usize, operation),
                sender: Sender::default(),
                memory: begin.wrapping_add(if common { 0 } else { k * memory }),
                used: Default::default(),
                back: sources.iter().position(|s| s.0 == rank),
                chunks: AtomicU64::new(0),
                gone: AtomicBool::new(false),
            })
            .collect();
        let inbound = (sources.iter().enumerate())
            .map(|(k, &(rank, member))| Inbound {
                rank,
                member,
                ring: ring(team.me(), k, operation),
                back: targets.iter().position(|t| t.0 == rank),
                eager_limit: sizes[member as usize] as usize * PAGE,
                long_by_mpi: single_copy && doorbell(member as usize).reads_owner(),
            })
            .collect();
        next = next.wrapping_add(memory * if common { outbound.len().min(1) } else { outbound.len() });
        Arc::new(Channels {
            segment: Arc::clone(&segment),
            outbound,
            inbound,
            eager_limit: large_buffer,
            next: AtomicU64::new(0),
            first_tag: first_tag + (generation % GENERATIONS * 3 + operation as u64) * tags,
            tags,
            doorbell: doorbell(team.me() as usize),
            doorbells: (0..team.size()).map(doorbell).collect(),
            oversubscribed: team.oversubscribed(),
            any_gone: AtomicBool::new(false),
            detached: Mutex::default(),
        })
    });
    Ok(Some(channels.collect()))
}

impl Channels {
    /// Whether it goes to a process, or comes from there.
    pub fn has(&self, rank: Rank) -> bool {
        self.outbound.iter().any(|o| o.rank == rank) || self.inbound.iter().any(|i| i.rank == rank)
    }

    /// The number of the next collective. Collectives are started one after the other.
    #[inline(always)]
    pub fn next_number(&self) -> u64 {
        let number = self.next.load(Ordering::Relaxed);
        self.next.store(number + 1, Ordering::Relaxed);
        number
    }

    /// The tag of a message of collective `number` that goes by MPI.
    pub fn tag(&self, number: u64) -> i32 {
        (self.first_tag + number % (self.tags / 2)) as i32
    }

    /// The tag of the messages of collective `number` that go by MPI block by block: their receiver
    /// must know that more follow.
    pub fn tag_of_blocks(&self, number: u64) -> i32 {
        self.tag(number) + (self.tags / 2) as i32
    }

    /// Finds a free eager buffer for message `number` of `bytes` bytes to some targets, whose cell is
    /// free. `holders` may still read what lies there. `None` if all buffers are in use.
    #[inline(always)]
    pub fn free_buffer(&self, targets: &Range<usize>, holders: &Range<usize>, number: u64, bytes: usize) -> Option<EagerBuffer> {
        let out = &self.outbound[targets.start];
        if bytes <= SMALL_BUFFER {
            let at = out.memory.wrapping_add((number % CELLS) as usize * SMALL_BUFFER);
            return Some(EagerBuffer { at, large: None });
        }
        // the same ones again, whose memory is near
        let free = (0..LARGE_BUFFERS).find(|&index| self.is_buffer_free(out, holders, index))?;
        Some(EagerBuffer { at: out.memory.wrapping_add(ALL_SMALL + free * self.eager_limit), large: Some(free) })
    }

    /// Assigns an eager buffer to message `number`, until its receivers have taken that out.
    #[inline(always)]
    pub fn claim(&self, buffer: EagerBuffer, targets: &Range<usize>, number: u64) {
        if let Some(large) = buffer.large {
            self.outbound[targets.start].used[large].store(number + 1, Ordering::Relaxed);
        }
    }

    fn is_buffer_free(&self, out: &Outbound, holders: &Range<usize>, index: usize) -> bool {
        let used = out.used[index].load(Ordering::Relaxed);
        used == 0 || self.outbound[holders.clone()].iter().all(|holder| holder.sender.is_taken(used - 1, holder.ring()))
    }

    /// The memory in which a long message to some targets comes in chunks; `None` if it is still
    /// taken.
    pub fn chunk_memory(&self, targets: &Range<usize>, holders: &Range<usize>) -> Option<*mut u8> {
        let out = &self.outbound[targets.start];
        (0..LARGE_BUFFERS).all(|index| self.is_buffer_free(out, holders, index)).then(|| out.memory.wrapping_add(ALL_SMALL))
    }

    /// Bytes of a chunk of a long message.
    pub fn chunk(&self) -> usize {
        (LARGE_BUFFERS * self.eager_limit / CHUNKS as usize / LINE * LINE).min(LONGEST_CHUNK)
    }

    /// Where a slot lies for all processes, in cache lines.
    #[inline(always)]
    pub fn location(&self, at: *const u8) -> u32 {
        (self.segment.position(at) / LINE) as u32
    }

    /// The address of so many bytes, `offset` bytes behind a place that another process has named;
    /// `None` if there are none.
    #[inline(always)]
    pub fn at(&self, location: u32, offset: usize, bytes: usize) -> Option<*mut u8> {
        self.segment.at((location as usize * LINE).checked_add(offset)?, bytes)
    }

    /// Keeps what MPI is sending until it has been sent. Takes a lock; allocates where there have
    /// never been so many.
    pub fn detach(&self, sent: leftover::Message) {
        let mut detached = self.detached.lock().unwrap_or_else(PoisonError::into_inner);
        detached.push(sent);
        // what failed is the receiver's to notice
        detached.retain_mut(|message| matches!(message.request.test(), Ok(false)));
    }

    /// Bytes for the messages to one process.
    pub fn bytes(&self) -> usize {
        ALL_SMALL + LARGE_BUFFERS * self.eager_limit
    }

    /// Writes the target at position `out` off: what is put in later is not for it, and waits for
    /// nothing that it has not done.
    #[cold]
    pub fn write_off(&self, out: usize) {
        self.outbound[out].gone.store(true, Ordering::Relaxed);
        self.outbound[out].sender.give_up();
        self.note_gone();
    }

    /// Remembers that a process of the link is dead.
    pub fn note_gone(&self) {
        self.any_gone.store(true, Ordering::Relaxed);
    }

    /// Whether a process of the link was found dead.
    #[inline(always)]
    pub fn any_gone(&self) -> bool {
        self.any_gone.load(Ordering::Relaxed)
    }

    /// Whether a member of the node lives. A system call.
    pub fn lives(&self, member: u32) -> bool {
        self.segment.lives(member)
    }
}
