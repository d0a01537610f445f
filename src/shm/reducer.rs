//! Reductions of a few words by the processes of a node, through memory that they share.
//!
//! Each process posts its words on its page of a [`board`](super::board), and combines those of
//! all. That is one step, where MPI's reductions take log2 P, each of which wakes somebody if
//! processes share cores.
//!
//! Cost: a process reads the pages of all others, at most [`MOST_PROCESSES`], and rings the
//! doorbells of those that sleep. Memory: 1 KiB and a doorbell for each process, in pages of its
//! own; one mapping and one open file.

use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::mpi::comm::Communicator;
use crate::mpi::liveness::Patience;
use crate::mpi::{coll, message};
use crate::shm::board;
use crate::shm::doorbell::{self, Doorbell};
use crate::shm::node::Team;
use crate::shm::segment::Segment;
use crate::util::backoff::{Backoff, Pace, Rest};
use crate::util::lock::lock;

/// Words of a page.
const WORDS: usize = 63;

/// Most processes that read each other's pages. MPI's reductions need fewer messages from more.
pub const MOST_PROCESSES: u32 = 16;

/// Most bytes of all parts.
const MOST_BYTES: usize = 1 << 20;

type Page = board::Page<WORDS>;

/// Reduces words of the processes of a node.
#[derive(Debug)]
pub struct Reducer {
    segment: Segment,
    me: u32,
    size: u32,
    oversubscribed: bool,
    /// The last round; `None` once one has failed, as the processes are no longer in step then.
    round: Mutex<Option<u64>>,
}

impl Reducer {
    /// Makes one for the processes of a node. `None` on all of them if they are one, or more than
    /// [`MOST_PROCESSES`], or cannot share memory. Collective over the team: two allgathers, a
    /// broadcast.
    pub fn new(team: &Team) -> Result<Option<Reducer>> {
        let (me, size, oversubscribed) = (team.me(), team.size(), team.oversubscribed());
        if !(2..=MOST_PROCESSES).contains(&size) {
            return Ok(None);
        }
        let bytes = size_of::<Page>() + Doorbell::BYTES;
        let Some(segment) = Segment::new(bytes, MOST_BYTES, team.group())? else { return Ok(None) };
        let reducer = Reducer { segment, me, size, oversubscribed, round: Mutex::new(Some(0)) };
        reducer.doorbell(me).owner().claim();
        Ok(Some(reducer))
    }

    /// True if so many words can be reduced at a time.
    pub fn fits(words: usize) -> bool {
        words <= WORDS
    }

    /// True unless a reduction has failed.
    pub fn is_sound(&self) -> bool {
        lock(&self.round).is_some()
    }

    /// Adds up `sums` (wrapping around), and takes the least of each of `least`, in place, over the
    /// processes of the node: [`fits`](Self::fits) has said that there is room for both together.
    /// Collective; the lengths are the same on all processes. `watch` says whom this process needs.
    ///
    /// # Errors
    /// A process has ended, or MPI has failed. No later reduction succeeds then.
    pub fn sum_and_least(&self, sums: &mut [u64], least: &mut [i64], watch: &Watch) -> Result<()> {
        // the collectives of a communicator come one after the other
        let mut last = lock(&self.round);
        let Some(round) = last.take().map(|round| round + 1) else {
            return Err(Error::Internal("an earlier reduction in shared memory has failed".into()).into());
        };
        let mut words = [0; WORDS];
        let (added, lowest) = words.split_at_mut(sums.len());
        added.copy_from_slice(sums);
        lowest.iter_mut().zip(&*least).for_each(|(word, &value)| *word = value.cast_unsigned());
        self.page(self.me).post(round, &words[..sums.len() + least.len()]);
        self.ring();
        let others = (0..self.size).filter(|&other| other != self.me);
        let mut wait = Wait { watch, patience: Patience::default(), backoff: Backoff::new(self.pace()) };
        for other in others {
            wait.until(self, other, round)?;
            let mut posted = self.page(other).words(round);
            sums.iter_mut().zip(&mut posted).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
            least.iter_mut().zip(&mut posted).for_each(|(least, word)| *least = (*least).min(word.cast_signed()));
        }
        *last = Some(round);
        Ok(())
    }

    fn pace(&self) -> Pace {
        if self.oversubscribed { Pace::SHARED_CORE } else { Pace::OWN_CORE }
    }

    fn page(&self, process: u32) -> &Page {
        // SAFETY: a page is at the beginning of each part, which is as long as the segment lives,
        // and consists of atomics.
        unsafe { &*self.segment.part(process).cast_const().cast() }
    }

    fn doorbell(&self, process: u32) -> Doorbell {
        Doorbell::at(self.segment.part(process).wrapping_add(size_of::<Page>()))
    }

    /// Wakes those that may wait for this process's page.
    fn ring(&self) {
        if self.oversubscribed {
            doorbell::fence_before_ring();
            (0..self.size).filter(|&other| other != self.me).for_each(|other| self.doorbell(other).ring());
        }
    }
}

/// What a process looks after while it waits.
pub struct Watch<'a> {
    /// A communicator that may be probed, so that MPI progresses messages (see
    /// [`message::progress`]).
    pub comm: Communicator<'a>,
    /// Fails if a process has ended that the reduction needs.
    pub look: &'a dyn Fn(&mut Patience) -> Result<()>,
}

/// A wait for the pages of others.
struct Wait<'a> {
    watch: &'a Watch<'a>,
    patience: Patience,
    backoff: Backoff,
}

impl Wait<'_> {
    /// Waits until a process has posted for a round.
    fn until(&mut self, reducer: &Reducer, process: u32, round: u64) -> Result<()> {
        let page = reducer.page(process);
        while !page.has(round) {
            let turn = self.backoff.turn();
            if turn.enters_mpi {
                self.enter_mpi()?;
            }
            match turn.rest {
                Rest::Sleep => {
                    self.enter_mpi()?;
                    reducer.doorbell(reducer.me).sleep(|| page.has(round));
                    self.backoff.wake();
                }
                rest => rest.take(),
            }
            if turn.checks {
                (self.watch.look)(&mut self.patience)?;
            }
        }
        self.backoff.reset();
        Ok(())
    }

    /// Moves forward what others may wait for.
    #[cold]
    fn enter_mpi(&self) -> Result<()> {
        coll::advance_others();
        message::progress(self.watch.comm)
    }
}
