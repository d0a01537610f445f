//! State that the RMA executors of a neighborhood share: the window, its slots, and the turns of
//! calls.
//!
//! A process has one exposure epoch at a time. So the calls on a neighborhood, however many are
//! under way, use the window one after the other, in the order in which they were started, which is
//! the same on neighbors.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::announce::{self, Announcements};
use super::slots::{Slot, divide};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::finalize;
use crate::mpi::landing::{Group, Landing, Target};
use crate::mpi::message::{self, Mode, bytes_at};
use crate::mpi::p2p::Requests;
use crate::schedule::Algorithm;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::{high_half, low_half, of_halves, to_int};
use crate::util::lock::lock;
use crate::util::turns::Turns;

/// Tags of messages on a link's communicator: the exchange of slots, answers, barriers, the news
/// that one has been given up, and the first of data.
const SLOTS: i32 = 1;
pub const ANSWER: i32 = 2;
pub const FENCE: i32 = 3;
pub const NEWS: i32 = 4;
const FIRST_DATA: u64 = 16;

/// How many messages have tags of their own, so that those differ that are under way together.
const MESSAGES: u64 = 8192;

/// Tag of what comes by message in place of a put.
pub fn data_tag(number: u64) -> i32 {
    to_int(FIRST_DATA + 2 * (number % MESSAGES))
}

/// Tag of a message that says that MPI keeps a process from putting: the number of what does not
/// come.
pub fn refusal_tag(number: u64) -> i32 {
    data_tag(number) + 1
}

/// The window of a neighborhood for one operation, and its own communicator, so that no tag meets
/// one of other messages, nor a message one of an earlier neighborhood's.
pub struct Link {
    pub landing: Arc<Landing>,
    /// The sources' slots in this process's memory, and this process's slots at its targets, sorted
    /// by rank.
    pub sources: Vec<Slot>,
    pub targets: Vec<Slot>,
    /// How many messages from each source, and to each target, calls have counted. Both ends of an
    /// edge count alike, also where calls leave out edges of other neighbors.
    from_sources: Vec<AtomicU64>,
    to_targets: Vec<AtomicU64>,
    /// The processes of both.
    pub sources_group: Group,
    pub targets_group: Group,
    /// The group of each target alone. Empty where targets are passive.
    pub target_groups: Vec<Group>,
    /// Bytes of this process's memory.
    pub bytes: usize,
    /// From how many bytes on a message of a plan is put straight to its blocks.
    pub straight_from: u64,
    /// The turns of calls.
    pub turns: Turns,
    /// True once an exposure epoch cannot end. Sources then send messages, which this process asks
    /// for.
    closed: AtomicBool,
    /// The rounds that schedules have on any process, if barriers of all processes end them; and
    /// how many have begun.
    fenced: Option<Vec<(Algorithm, u32)>>,
    begun: AtomicU64,
    /// Which targets answer then.
    pub announcements: Option<Announcements>,
    processes: u32,
    /// Neighbors that have died; with barriers, any processes.
    dead: Mutex<Vec<Rank>>,
    any_dead: AtomicBool,
}

impl Link {
    /// Makes a window for a neighborhood. Collective over `comm`; `target`, which says who takes
    /// part in epochs, is the same on all processes. `fenced`: the rounds that schedules have on
    /// any process, if barriers of all processes end them; targets are passive then.
    /// `straight_from`: the number of bytes from which on plans put a message straight to its
    /// blocks. The inner error, on all processes alike, says why there is none.
    ///
    /// Cost: a duplicate of the communicator, a window, and a message of 16 bytes along each edge;
    /// with barriers, one of 8 bytes against it.
    pub fn new(
        n: &Neighborhood,
        unit: Option<u32>,
        target: Target,
        fenced: Option<Vec<(Algorithm, u32)>>,
        straight_from: u64,
        comm: &Comm,
    ) -> Result<Result<Link>> {
        let (comm, processes) = (comm.again()?, comm.size()?);
        let (sources, area) = divide(n, unit, if fenced.is_some() { 2 } else { 1 });
        let targets =
            Neighborhood::multiplicities(n.targets()).into_iter().map(|(rank, _)| rank).filter(|&rank| rank != n.rank());
        let targets: Vec<Rank> = targets.collect();
        let bytes = area + if fenced.is_some() { targets.len() * announce::WORDS } else { 0 };
        let landing = match Landing::new(bytes, target, comm)? {
            Ok(landing) => landing,
            Err(e) => return Ok(Err(e)),
        };
        let comm = landing.comm();
        if target == Target::Passive {
            // no message has the number 0
            sources.iter().for_each(|slot| landing.flag(slot.flag()).store(0, Ordering::Release));
            landing.sync()?;
        }
        let words = |&Slot { offset, capacity, .. }: &Slot| {
            vec![low_half(offset), high_half(offset), low_half(capacity), high_half(capacity)]
        };
        let mut out: Vec<(u32, Vec<u32>)> = sources.iter().map(|slot| (slot.rank, words(slot))).collect();
        let announcements = fenced.as_ref().map(|_| {
            let ranks: Vec<Rank> = sources.iter().map(|slot| slot.rank).collect();
            Announcements::new(&landing, area as u64, (&ranks, &targets), SLOTS)
        });
        let announcements = announcements.transpose()?;
        let mut into: Vec<(u32, Vec<u32>)> = targets.into_iter().map(|rank| (rank, vec![0; 4])).collect();
        Requests::default().exchange(&mut out, &mut into, SLOTS, comm)?;
        let slot =
            |(rank, w): &(u32, Vec<u32>)| Slot { rank: *rank, offset: of_halves(w[0], w[1]), capacity: of_halves(w[2], w[3]) };
        let targets: Vec<Slot> = into.iter().map(slot).collect();
        let group = |slots: &[Slot]| Group::of(comm, &slots.iter().map(|s| s.rank).collect::<Vec<_>>());
        let (sources_group, targets_group) = (group(&sources)?, group(&targets)?);
        let alone = if target == Target::Active { targets.as_slice() } else { &[] };
        let target_groups = alone.iter().map(|slot| group(std::slice::from_ref(slot))).collect::<Result<_>>()?;
        let counts = |slots: &[Slot]| slots.iter().map(|_| AtomicU64::new(0)).collect();
        Ok(Ok(Link {
            landing,
            from_sources: counts(&sources),
            to_targets: counts(&targets),
            sources,
            targets,
            sources_group,
            targets_group,
            target_groups,
            bytes,
            straight_from,
            turns: Turns::new(),
            closed: AtomicBool::new(false),
            fenced,
            begun: AtomicU64::new(0),
            announcements,
            processes,
            dead: Mutex::default(),
            any_dead: AtomicBool::new(false),
        }))
    }

    /// Frees the window, unless a process still needs it: one with an active request, an unfreed
    /// plan, or an epoch that cannot end. Then returns what to free later. Collective.
    pub fn retire(self: Arc<Self>) -> Result<Option<Arc<Self>>> {
        let freed = self.landing.free(self.is_needed())?;
        Ok((!freed).then_some(self))
    }

    /// True if requests of this process need it. For its only other owner.
    pub fn is_needed(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    /// Counts a message from a source, by its position. For the call whose turn it is.
    pub fn count_from(&self, source: usize) -> u64 {
        self.from_sources[source].fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a message to a target, by its position. For the call whose turn it is.
    pub fn count_to(&self, target: usize) -> u64 {
        self.to_targets[target].fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The numbers of the rounds of a schedule, in which this process takes part even without an
    /// edge; `None` if it does not, as neighbors alone synchronize.
    pub fn fenced_rounds(&self, algorithm: Algorithm) -> Option<Range<u32>> {
        let all = self.fenced.as_ref()?;
        all.iter().find(|rounds| rounds.0 == algorithm).map(|rounds| 0..rounds.1)
    }

    /// How many processes the communicator has.
    pub fn processes(&self) -> u32 {
        self.processes
    }

    /// Counts a round that a barrier ends. Returns true for every other one. For the call whose
    /// turn it is.
    pub fn is_odd_round(&self) -> bool {
        self.begun.fetch_add(1, Ordering::Relaxed) % 2 == 1
    }

    /// The communicator of the window's processes, which has the link's messages.
    pub fn comm(&self) -> &Comm {
        self.landing.comm()
    }

    /// True if sources must send messages.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Lets no source put any more.
    #[cold]
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Tells all other processes a word, as a barrier that they wait in will not end. What MPI
    /// refuses to send is lost: nothing is left that could tell more.
    #[cold]
    pub fn tell(&self, word: u32, me: Rank) {
        let (dead, mut sent) = (self.dead(), Vec::new());
        for rank in (0..self.processes()).filter(|&rank| rank != me && !dead.contains(&rank)) {
            let memory = word.to_ne_bytes().to_vec();
            let block = bytes_at(memory.as_ptr(), memory.len() as u64);
            // SAFETY: the bytes are on the heap, and are left to MPI until they have been sent.
            if let Ok(request) = unsafe { message::send(Mode::Standard, &block, rank, NEWS, self.comm()) } {
                sent.push(finalize::Message { request, memory, receiver: None, beside: None });
            }
        }
        finalize::leave(sent);
    }

    /// Returns the word that a process has told, if one has.
    #[cold]
    pub fn news(&self) -> Result<Option<u32>> {
        let mut word = [0u32];
        let bytes = size_of_val(&word) as u64;
        let Some(found) = message::probe(None, NEWS, false, self.comm())? else { return Ok(None) };
        if found.status.bytes != bytes {
            return Err(Error::Internal("a barrier's news have another length".into()).into());
        }
        // SAFETY: the message has come, so that its receive ends here; there is room for it.
        let mut request = unsafe { found.receive(word.as_mut_ptr().cast(), self.comm()) }?;
        while !request.test()? {}
        Ok(Some(word[0]))
    }

    /// Returns true if a source says that its message of this number does not come. Takes out what
    /// nobody has looked for: a message that had arrived all the same, with an equal tag.
    #[cold]
    pub fn is_refused(&self, source: Rank, number: u64) -> Result<bool> {
        let mut told = [0u64];
        while let Some(found) = message::probe(Some(source), refusal_tag(number), false, self.comm())? {
            if found.status.bytes != size_of_val(&told) as u64 {
                return Err(Error::Internal("a refusal has another length".into()).into());
            }
            // SAFETY: the message has come, so that its receive ends here; there is room for it.
            let mut request = unsafe { found.receive(told.as_mut_ptr().cast(), self.comm()) }?;
            while !request.test()? {}
            if told == [number] {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if targets take no part in epochs.
    pub fn is_passive(&self) -> bool {
        self.landing.target() == Target::Passive
    }

    /// Notes that a neighbor has died. If it is a source, an epoch of an active target that lets it
    /// in would never end.
    #[cold]
    pub fn note_dead(&self, rank: Rank) {
        let mut dead = lock(&self.dead);
        if !dead.contains(&rank) {
            dead.push(rank);
        }
        if !self.is_passive() && self.sources.iter().any(|slot| slot.rank == rank) {
            self.close();
        }
        self.any_dead.store(true, Ordering::Release);
    }

    /// Returns the neighbors that live, but with which this process cannot exchange answers any
    /// more.
    #[inline]
    pub fn cut_off(&self) -> Vec<Rank> {
        if !self.comm().has_unmatched() {
            return Vec::new();
        }
        let dead = self.dead();
        self.comm().unmatched().into_iter().filter(|rank| !dead.contains(rank)).collect()
    }

    /// Returns the neighbors that have died.
    #[inline]
    pub fn dead(&self) -> Vec<Rank> {
        if !self.any_dead.load(Ordering::Acquire) {
            return Vec::new();
        }
        lock(&self.dead).clone()
    }
}
