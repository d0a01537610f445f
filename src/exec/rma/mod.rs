//! The RMA executor: blocks are put into a landing area at the target, a window of MPI.
//!
//! When a call's turn comes, the process lets its sources in (`MPI_Win_post`) and tells each of
//! them so by a message of 8 bytes. It packs its own blocks meanwhile. When a target has answered,
//! it puts (`MPI_Win_start`, `MPI_Put`, `MPI_Win_complete`), all blocks for one process together,
//! behind a header. When all sources have completed (`MPI_Win_test`), it unpacks what they have
//! put. No call of MPI waits until others come: what they must do first has been announced, and is
//! polled for, with a check for processes that have died.
//!
//! With a passive target, the window is open to all as long as it lives. The source flushes its
//! puts, and then sets a word of the slot, its flag, to the number of the message; the target polls
//! the flags, and unpacks each message as soon as its flag is raised.
//!
//! With fences, the window is open likewise, and a barrier of all processes ends each round. Only
//! targets that offer places for plans answer. Slots have two places, for every other round: when
//! the barrier of a round has ended, all have taken what was put in the round before, so that the
//! next one may put there.
//!
//! A message that exceeds its slot in the landing area comes by message; the sender decides that,
//! and the header says so. An active target one of whose sources has died lets nobody in any more,
//! as the epoch would never end: it asks for messages instead.
//!
//! Plans attach the memory of their blocks to a second window, and say with the answer where it is:
//! long messages then go straight there, and only their headers to the landing area.
//!
//! A round of a schedule is such a call of its own, with those processes alone with which it has
//! edges. So any schedule runs so that sends blocks, or parts of them, from their owners to those
//! that keep them. What comes in a single round is combined in the landing area.
//!
//! Useful where the network writes to remote memory without the remote processor, and where edges
//! are repeated, as all blocks of a round for a process travel together.
//!
//! Cost: for each process that this one sends to in a round, a message of 8 bytes from it, a put,
//! and MPI's synchronization; two copies of each byte, one where a block is contiguous and long.
//! Blocks that are combined are read in the landing area. No allocation once buffers have reached
//! their largest size.
//!
//! Source: Barrett, One-Sided Communication for High Performance Computing Applications, chapters 3
//! and 7.
//!
//! | file | job |
//! |---|---|
//! | `slots`, `header` | how the landing area is divided; what stands before a message |
//! | `link` | the window, and the turns of calls |
//! | `edges` | where the blocks of rounds go through the link |
//! | `state`, `round` | a round and its messages; how it is made and run |
//! | `bind` | buffers, counts and datatypes of a call |
//! | `cuts` | blocks in parts that only MPI can pack |
//! | `answer`, `offer` | what a target tells its sources; places of plans' blocks |
//! | `epoch`, `puts` | the steps of a round; what is put and sent |
//! | `fence` | rounds that a barrier of all processes ends |
//! | `announce` | which targets answer then |
//! | `fold` | combining blocks in the landing area |
//! | `failure` | neighbors that have died, or that MPI keeps from putting |

mod announce;
mod answer;
mod bind;
mod cuts;
mod edges;
mod epoch;
mod failure;
mod fence;
mod fold;
mod header;
pub mod link;
mod offer;
mod puts;
mod round;
mod slots;
mod state;

use std::sync::Arc;

pub use offer::{STRAIGHT_FROM, goes_straight};

use crate::datatype::buffers::Buffers;
use crate::error::{Error, Result};
use crate::exec::combine::Combine;
use crate::exec::executor::Executor;
use crate::exec::waiting::Waiting;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device::Devices;
use crate::observe::Record;
use crate::schedule::{Block, Op, Schedule};
use crate::topology::neighborhood::Neighborhood;
use crate::util::backoff::{Backoff, Pace};
use cuts::{Cuts, values_of};
use edges::Edges;
use link::Link;
use state::Round;

/// How the blocks that a process sends to itself are handled.
pub enum OwnEdges {
    /// They are left to another executor.
    Left,
    /// They are copied.
    Copied,
    /// They are combined, like all others; with a communicator of this process alone.
    Combined(Combine, Arc<Comm>),
}

/// Executes a schedule by puts.
pub struct Rma {
    rounds: Vec<Round>,
    /// Entries of the source list, in order, and the rounds that they come in, if there are several
    /// rounds.
    rounds_of: Vec<(usize, usize)>,
    cuts: Cuts,
    /// The round that a call has come to.
    current: usize,
    waiting: Waiting,
    /// The first error of a call.
    failure: Option<Box<Error>>,
}

impl Rma {
    /// Makes an executor of those edges of a schedule, which forwards no blocks, that a link has,
    /// and of the process's edges to itself. It moves so many fields together. Where it combines
    /// blocks itself, the schedule has one round.
    pub fn new(
        link: &Arc<Link>,
        comm: &Arc<Comm>,
        n: &Neighborhood,
        schedule: &Schedule,
        own: OwnEdges,
        waiting: Waiting,
        fields: usize,
    ) -> Rma {
        let fenced = link.fenced_rounds(schedule.algorithm());
        let numbers: Vec<u32> = match &fenced {
            Some(all) => all.clone().collect(),
            None => (0..schedule.rounds()).map(|r| schedule.number(r)).collect(),
        };
        let edges = Edges::new(link, comm, n, fields);
        let (mut rounds, mut own, mut stored) = (Vec::with_capacity(numbers.len()), Some(own), 0);
        for &number in &numbers {
            let has_ops = stored < schedule.rounds() && schedule.number(stored) == number;
            let ops = if has_ops { schedule.round(stored) } else { &[] };
            stored += usize::from(has_ops);
            let has_copies = numbers.len() == 1 || ops.iter().any(|op| matches!(op, Op::Copy { .. }));
            let own = own.take_if(|_| has_copies).unwrap_or(OwnEdges::Left);
            let is_only = schedule.algorithm().entry().one_round();
            let mut round = Round::new(&edges, ops, is_only, own);
            if fenced.is_some() {
                round.end_by_barrier();
            }
            rounds.push(round);
        }
        let mut rounds_of: Vec<(usize, usize)> = match &rounds[..] {
            [_] => Vec::new(),
            all => {
                all.iter().enumerate().flat_map(|(r, round)| round.sources().map(move |source| (source as usize, r))).collect()
            }
        };
        rounds_of.sort_unstable();
        let cuts = Cuts::of(&rounds);
        Rma { rounds, rounds_of, cuts, current: 0, waiting, failure: None }
    }

    /// Makes a block that is shorter than its place an error: it is combined there next.
    #[must_use]
    pub fn with_exact_lengths(mut self) -> Rma {
        self.rounds.iter_mut().for_each(|round| round.is_exact = true);
        self
    }

    /// Returns the blocks that are sent.
    pub fn sent(&self) -> impl Iterator<Item = Block> + '_ {
        self.rounds.iter().flat_map(Round::sent)
    }

    /// Locates and checks all blocks of the fields, and makes room to pack what is sent.
    pub fn bind_fields(&mut self, fields: &[Buffers]) -> Result<()> {
        self.leave_memory();
        self.rounds.iter_mut().try_for_each(|round| round.bind_fields(fields))?;
        self.cuts.bind(&mut self.rounds, fields, None)?;
        self.rounds.iter_mut().try_for_each(Round::lay_out)
    }

    /// Hands blocks over to MPI that lie on a device.
    #[cold]
    pub fn find_devices(&mut self, fields: &[Buffers], devices: &Devices) -> Result<()> {
        self.rounds.iter_mut().try_for_each(|round| round.find_devices(fields, devices))?;
        self.cuts.bind(&mut self.rounds, fields, Some(devices))?;
        self.rounds.iter_mut().try_for_each(Round::lay_out)
    }

    /// Leaks memory of ours that MPI may still access.
    fn leave_memory(&mut self) {
        if self.rounds.iter().any(|round| round.is_stuck() || round.is_active()) {
            self.cuts.lose();
        }
    }

    /// Lets sources put straight into the bound blocks, where that pays, as the same blocks are
    /// received again and again. Local.
    ///
    /// # Safety
    /// The blocks must stay what they are until the executor is bound anew or dropped.
    pub unsafe fn offer_blocks(&mut self) {
        // SAFETY: the caller vouches for the blocks.
        self.rounds.iter_mut().for_each(|round| unsafe { round.offer_blocks() });
    }
}

impl Executor for Rma {
    fn observe(&mut self, record: &Arc<Record>) {
        self.rounds.iter_mut().for_each(|round| round.observe(record));
    }

    fn is_stuck(&self) -> bool {
        self.rounds.iter().any(Round::is_stuck)
    }

    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.bind_fields(std::slice::from_ref(buffers))
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        // each round waits for its turn
        (self.current, self.failure) = (0, self.cuts.start(&mut self.rounds, tag).err());
        self.rounds.iter_mut().for_each(|round| round.start(tag));
        Ok(())
    }

    fn test(&mut self) -> Result<bool> {
        while let Some(round) = self.rounds.get_mut(self.current) {
            let done = match round.test() {
                Ok(false) => return Ok(false),
                Ok(true) => Ok(()),
                Err(e) => Err(e),
            };
            // if one message failed, the blocks of the others are still complete
            let unpacked = self.cuts.unpack_round(&self.rounds, self.current);
            if let Err(e) = done.and(unpacked) {
                self.failure.get_or_insert(e);
            }
            self.current += 1;
        }
        self.failure.take().map_or(Ok(true), Err)
    }

    fn wait(&mut self) -> Result<()> {
        let pace = if self.waiting == Waiting::Yield { Pace::MESSAGES } else { Pace::UNSURE };
        let mut backoff = Backoff::new(pace);
        while !self.test()? {
            backoff.snooze();
        }
        Ok(())
    }

    fn posts_at_once(&self) -> bool {
        false
    }

    fn can_start(&self) -> Result<()> {
        Ok(())
    }

    fn forget_datatypes(&mut self, watches: bool) {
        self.rounds.iter_mut().for_each(|round| round.forget_datatypes(watches));
        self.cuts.forget_datatypes();
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if let [round] = &self.rounds[..]
            && !round.arrived(source)?
        {
            return Ok(false);
        }
        for round in values_of(&self.rounds_of, source) {
            if !self.rounds[round].arrived(source)? {
                return Ok(false);
            }
        }
        let unpacked = self.cuts.unpack_source(&self.rounds, source);
        // no later call unpacks it again
        unpacked.inspect_err(|error| _ = self.failure.get_or_insert_with(|| error.clone()))?;
        Ok(true)
    }
}

impl Drop for Rma {
    fn drop(&mut self) {
        self.leave_memory();
    }
}
