//! From how many bytes on a message between processes of a node is copied once, from its sender's
//! memory, and not twice through shared memory: remembered, found in a file that an earlier program
//! has left, or measured.
//!
//! Two processes of the node exchange messages of some lengths in both ways, as neighbors do that
//! send to each other. Each time they write what they send, in memory of their own, and read what
//! has come: what a single copy reads otherwise lies in the receiver's cache already, from the
//! second time on, and such a copy then seems up to four times as fast as it is. The shortest time
//! of a few counts, as other programs make times longer only.
//!
//! Cost: 15 to 60 ms, once; 4.5 MiB on two processes meanwhile.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::buffer::{Buffers, read_lines, write_lines};
use super::kept::{self, IMPOSSIBLE, origin_of, word_of};
use crate::error::Result;
use crate::model::copies::{NEVER, Node, SIZES, Times, crossover};
use crate::mpi;
use crate::mpi::of_process::OfProcess;
use crate::select::hints::origins::Origin;
use crate::shm::doorbell::Doorbell;
use crate::shm::node::{Note, Team};
use crate::shm::peer_memory;
use crate::shm::ring::{CHUNKS, LONGEST_CHUNK, Ring};
use crate::shm::segment::Segment;
use crate::shm::streaming;
use crate::util::cast::to_usize;
use crate::util::lock::lock;

/// Exchanges of which the shortest time counts, after one that moves to the caches what lies there
/// from then on.
const REPETITIONS: usize = 4;

/// How long it may take; else a process has lost its core, or has ended.
const PATIENCE: Duration = Duration::from_millis(200);

/// The longest message.
const LONGEST: usize = SIZES[SIZES.len() - 1];

/// Where the memory of the chunks begins in a process's part.
const CHUNK_MEMORY: usize = (Doorbell::BYTES + size_of::<Ring>()).next_multiple_of(4096);
const ALL_CHUNKS: usize = 2 * LONGEST_CHUNK;
const _: () = assert!(CHUNKS == 2);
const PART: usize = CHUNK_MEMORY + ALL_CHUNKS;

/// What the process knows of its node.
static MEMORY: OfProcess<Mutex<Note>> = OfProcess::new();

/// From how many bytes on messages are copied once, and where that is from; `None` if it cannot be
/// measured.
pub type Copies = Option<(u64, Origin)>;

/// Returns what the process knows.
pub fn known() -> Result<Note> {
    Ok(*lock(&*MEMORY.get()?))
}

/// Returns the choice of a node; the same on all its processes. Collective over the node: if it is
/// not known yet, a broadcast of two words, and where nobody has measured it, that.
pub fn learn(team: &Team) -> Result<Copies> {
    let note = match team.note() {
        Some(note) => note,
        None => {
            let node = Node::new(&mpi::processor_name());
            let kept = if team.me() == 0 {
                kept::read_file(node.file(), "Least length of messages that are copied once", |text| node.read(text))
            } else {
                None
            };
            let mut note = team.group().broadcast(kept.map_or([0; 2], |from| [word_of(Origin::Kept), from]))?;
            if note[0] == 0 {
                note = measure(team)?.map_or([IMPOSSIBLE, NEVER], |from| [word_of(Origin::Measured), from]);
                if team.me() == 0 && note[0] != IMPOSSIBLE {
                    kept::write_file(node.file(), "Least length of messages that are copied once", &node.text(note[1]));
                }
            }
            team.agree_on(note);
            note
        }
    };
    *lock(&*MEMORY.get()?) = note;
    Ok(origin_of(note[0]).map(|origin| (note[1], origin)))
}

/// Measures between the first two processes of a node. Returns the same on all its processes;
/// `None` if that is not possible: processes share cores, or the kernel permits no single copies.
/// Collective over the node.
fn measure(team: &Team) -> Result<Option<u64>> {
    if team.size() < 2 || team.oversubscribed() {
        return Ok(None);
    }
    let me = team.me();
    let pair = me < 2;
    let Some(segment) = Segment::new(if pair { PART } else { 0 }, usize::MAX, team.group())? else { return Ok(None) };
    let buffers = if pair { Buffers::new(LONGEST).ok() } else { None };
    if pair {
        Doorbell::at(segment.part(me)).owner().claim();
    }
    let at = buffers.as_ref().map_or(0, |buffers| buffers.send.as_ptr().addr() as u64);
    // also makes sure that both have claimed their doorbells
    let all = team.group().allgather([at])?;
    let mut shortest = None;
    if let Some(buffers) = buffers {
        let doorbell = Doorbell::at(segment.part(1 - me));
        let reads = all[..2].iter().all(|at| at[0] != 0) && doorbell.owner().lets_read_memory();
        let mut pair = Pair {
            segment: &segment,
            me,
            process: doorbell.owner().process(),
            there: all[to_usize(1 - u64::from(me))][0],
            buffers,
            chunks: 0,
            deadline: Instant::now() + PATIENCE,
        };
        shortest = reads.then(|| pair.measure()).flatten();
    }
    // neither reads the other's memory any more; both must have been able to
    let failed = u64::from(pair && shortest.is_none());
    let outcomes = team.group().allgather([failed, shortest.as_deref().map_or(0, crossover)])?;
    Ok((outcomes.iter().all(|outcome| outcome[0] == 0)).then_some(outcomes[0][1]))
}

/// One of the two processes that measure.
struct Pair<'a> {
    segment: &'a Segment,
    me: u32,
    /// Number of the other process, and the address of what it sends.
    process: u32,
    there: u64,
    buffers: Buffers,
    /// Chunks that each process has sent so far.
    chunks: u64,
    deadline: Instant,
}

impl<'a> Pair<'a> {
    /// Measures all lengths. `None` if that fails.
    fn measure(&mut self) -> Option<Vec<Times>> {
        // the system provides the pages of the chunks when they are first written
        self.copy_twice(ALL_CHUNKS, false)?;
        let mut shortest = Vec::with_capacity(SIZES.len());
        for bytes in SIZES {
            // messages take the faster of both
            let ordinary = self.time(bytes, |pair, bytes| pair.copy_twice(bytes, false))?;
            let streaming = self.time(bytes, |pair, bytes| pair.copy_twice(bytes, true))?;
            let one = self.time(bytes, Self::copy_once)?;
            shortest.push(Times { bytes, two: ordinary.min(streaming), one });
        }
        log::debug!("seconds of exchanges with two copies and with one: {shortest:?}");
        Some(shortest)
    }

    /// The shortest time of an exchange, in seconds.
    fn time(&mut self, bytes: usize, exchange: impl Fn(&mut Self, usize) -> Option<()>) -> Option<f64> {
        let mut shortest = f64::INFINITY;
        for repetition in 0..=REPETITIONS {
            let began = Instant::now();
            write_lines(&mut self.buffers.send[..bytes]);
            exchange(self, bytes)?;
            read_lines(&self.buffers.recv[..bytes]);
            if repetition > 0 {
                shortest = shortest.min(began.elapsed().as_secs_f64());
            }
        }
        Some(shortest)
    }

    /// Exchanges messages in chunks through shared memory, reading and writing in turns.
    /// `streams`: by streaming stores.
    fn copy_twice(&mut self, bytes: usize, streams: bool) -> Option<()> {
        let all = bytes.div_ceil(LONGEST_CHUNK) as u64;
        let (incoming, outgoing) = (self.ring(self.me), self.ring(1 - self.me));
        let memory = |member: u32, number: u64| {
            self.segment.part(member).wrapping_add(CHUNK_MEMORY + to_usize(number % CHUNKS) * LONGEST_CHUNK)
        };
        let part = |chunk: u64| {
            let begin = to_usize(chunk) * LONGEST_CHUNK;
            (begin, LONGEST_CHUNK.min(bytes - begin))
        };
        let (mut sent, mut received) = (0, 0);
        while sent < all || received < all {
            if sent < all && outgoing.chunks_read() + CHUNKS > self.chunks + sent {
                let (begin, length) = part(sent);
                let from = self.buffers.send.as_ptr().wrapping_add(begin);
                let into = memory(self.me, self.chunks + sent);
                // SAFETY: both are long enough; the other process has read what was there.
                unsafe {
                    if streams {
                        streaming::store(from, into, length);
                        streaming::fence();
                    } else {
                        into.copy_from_nonoverlapping(from, length);
                    }
                }
                sent += 1;
                outgoing.set_chunks_written(self.chunks + sent);
            }
            if received < all {
                if incoming.chunks_written() > self.chunks + received {
                    let (begin, length) = part(received);
                    let into = self.buffers.recv.as_mut_ptr().wrapping_add(begin);
                    let from = memory(1 - self.me, self.chunks + received);
                    // SAFETY: both are long enough; the other process has written the chunk.
                    unsafe {
                        if streams {
                            streaming::load(from, into, length);
                        } else {
                            into.copy_from_nonoverlapping(from, length);
                        }
                    }
                    received += 1;
                    incoming.set_chunks_read(self.chunks + received);
                } else {
                    self.pause()?;
                }
            } else if sent < all {
                self.pause()?;
            }
        }
        self.chunks += all;
        Some(())
    }

    /// Lets each process copy from the other one's memory.
    fn copy_once(&mut self, bytes: usize) -> Option<()> {
        let (incoming, outgoing) = (self.ring(self.me), self.ring(1 - self.me));
        let next = self.chunks + 1;
        outgoing.set_chunks_written(next);
        while incoming.chunks_written() < next {
            self.pause()?;
        }
        let here = peer_memory::span(self.buffers.recv.as_mut_ptr(), bytes);
        let there = peer_memory::span(std::ptr::without_provenance_mut(to_usize(self.there)), bytes);
        // SAFETY: the buffer is long enough, and this process's alone.
        let copied = unsafe { peer_memory::read(self.process, &[here], &[there]) };
        if !copied.is_ok_and(|copied| copied == bytes) {
            return None;
        }
        incoming.set_chunks_read(next);
        while outgoing.chunks_read() < next {
            self.pause()?;
        }
        self.chunks = next;
        Some(())
    }

    /// The ring of what a process receives.
    fn ring(&self, member: u32) -> &'a Ring {
        let ring: *const Ring = self.segment.part(member).wrapping_add(Doorbell::BYTES).cast();
        // SAFETY: it lies in the segment, whose part has room for it, and consists of atomics; all
        // zeros are an empty one.
        unsafe { &*ring }
    }

    /// Pauses the core. `None` if the other process has kept this one waiting for too long.
    fn pause(&self) -> Option<()> {
        std::hint::spin_loop();
        (Instant::now() < self.deadline).then_some(())
    }
}
