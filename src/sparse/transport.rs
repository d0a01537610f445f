//! Communication that all protocols share while an exchange runs: the private communicator with its
//! tags, the barrier, and sending and finding messages so that a failed send leaves nobody waiting.

use std::sync::Arc;

use super::messages::{Arrivals, Outgoing, PendingSends, Sends};
use super::stats::Stats;
use crate::error::{Class, Error, Result};
use crate::mpi::barrier::Barrier;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message;
use crate::observe;
use crate::select::UNMEASURED;

/// Meaning of a tag on the private communicator. [`Tag::Data`], [`Tag::Rest`] and [`Tag::Lost`]
/// each have two numbers, which exchanges use in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// Messages.
    Data,
    /// Long messages that were announced by a short one.
    Rest,
    /// The barrier.
    Barrier,
    /// The census.
    Census,
    /// The crystal router. It uses two tags: this one for heads, the next one for the rest of
    /// longer messages.
    Router,
    /// Empty messages sent in place of those that could not be sent.
    Lost,
    /// The crystal router of a node, in the same way.
    NodeRouter,
    /// The alltoall.
    Alltoall,
}

impl Tag {
    /// Returns the number of this tag in an exchange of this parity.
    pub fn number(self, parity: i32) -> i32 {
        match self {
            Tag::Data => 2 + parity,
            Tag::Rest => 4 + parity,
            Tag::Barrier => 6,
            Tag::Census => 7,
            Tag::Router => 8,
            Tag::Lost => 10 + parity,
            Tag::NodeRouter => 12,
            Tag::Alltoall => 14,
            // 15 is that of groups (`mpi::group`)
        }
    }
}

/// First tag of plans.
pub const FIRST_PLAN_TAG: i32 = 16;

/// The messages of one communicator's exchanges, and the state of the one that is running.
pub struct Transport {
    /// The private communicator.
    pub comm: Arc<Comm>,
    /// This process.
    pub rank: u32,
    /// Number of processes.
    pub size: u32,
    /// 0 or 1: which of two numbers the current or next exchange uses for its tags.
    pub parity: i32,
    /// True if probes must be matched probes.
    pub matched: bool,
    /// Encoded duration of the previous exchange on this process.
    pub time: u16,
    /// Messages of the running exchange that could not be sent or did not arrive. The exchange
    /// continues to its end, since other processes depend on it, and then fails.
    pub loss: Loss,
    /// The maximum stats that the running exchange has found.
    pub learned: Option<Stats>,
    /// The barrier of protocols that need one.
    pub barrier: Barrier,
    /// Counters and traces, if the environment asks for them.
    pub observed: Option<observe::Sparse>,
    /// Probes that found nothing.
    fruitless: u32,
}

impl Transport {
    /// Creates the transport of process `rank` of `size`.
    pub fn new(comm: Arc<Comm>, rank: u32, size: u32, observed: Option<observe::Sparse>) -> Transport {
        Transport {
            comm,
            rank,
            size,
            parity: 0,
            matched: true,
            time: UNMEASURED,
            loss: Loss::default(),
            learned: None,
            barrier: Barrier::new(rank, size, Tag::Barrier.number(0), Stats::merge),
            observed,
            fruitless: 0,
        }
    }

    /// Returns the number of a tag in the current exchange.
    pub fn tag(&self, tag: Tag) -> i32 {
        tag.number(self.parity)
    }

    /// Returns this process's own stats in an exchange of these messages.
    pub fn stats(&self, sends: &Sends) -> Stats {
        let others = sends.list.iter().filter(|o| o.target != self.rank);
        let (messages, bytes) = others.fold((0u64, 0u64), |(n, sum), o| (n + 1, sum.saturating_add(o.bytes)));
        Stats { marks: sends.marks, ..Stats::new(self.time, messages, bytes) }
    }

    /// Records the maximum stats of all processes.
    pub fn learn(&mut self, largest: Stats) {
        self.learned = Some(largest);
    }

    /// Sends a message. If that fails, sends an empty one with [`Tag::Lost`] in its place, so that
    /// the exchange continues and nobody waits for a message that never comes. Returns true if the
    /// message itself was sent.
    ///
    /// # Safety
    /// The block must be readable, and must not be written, until `pending` is complete.
    pub unsafe fn send(&mut self, o: &Outgoing, mode: message::Mode, pending: &mut PendingSends) -> Result<bool> {
        // SAFETY: the caller vouches for the block.
        let sent = unsafe { message::send(mode, &o.block, o.target, self.tag(Tag::Data), &self.comm) };
        let whole = sent.is_ok();
        pending.push(sent.or_else(|e| {
            self.loss.note(e);
            let nothing = message::bytes_at([].as_ptr(), 0);
            // SAFETY: no bytes are read.
            unsafe { message::send(mode, &nothing, o.target, self.tag(Tag::Lost), &self.comm) }
        })?);
        Ok(whole)
    }

    /// Sends all messages to other processes.
    ///
    /// # Safety
    /// The blocks must be readable, and must not be written, until the sends are complete.
    pub unsafe fn send_all(&mut self, sends: &Sends, mode: message::Mode) -> Result<PendingSends> {
        let mut pending = PendingSends::default();
        let rank = self.rank;
        for o in sends.list.iter().filter(|o| o.target != rank) {
            // SAFETY: the caller vouches for the blocks.
            unsafe { self.send(o, mode, &mut pending) }?;
        }
        Ok(pending)
    }

    /// Probes for a message, or for the notice that one could not be sent. Returns true if either
    /// was found.
    pub fn find(&mut self, source: Option<u32>, arrivals: &mut Arrivals) -> Result<bool> {
        /// Fruitless probes for messages between two probes for notices, which are rare.
        const PROBES: u32 = 16;
        if let Some(probed) = message::probe(source, self.tag(Tag::Data), self.matched, &self.comm)? {
            arrivals.take(probed, &self.comm)?;
            return Ok(true);
        }
        self.fruitless = self.fruitless.wrapping_add(1);
        if !self.fruitless.is_multiple_of(PROBES) {
            return Ok(false);
        }
        let Some(probed) = message::probe(source, self.tag(Tag::Lost), self.matched, &self.comm)? else {
            return Ok(false);
        };
        self.loss.miss(probed.status.source);
        arrivals.take_notice(probed, &self.comm)?;
        Ok(true)
    }

    /// Probes until `missing` messages have been found or a probe finds nothing. Returns true once
    /// none is missing.
    pub fn find_missing(&mut self, missing: &mut u64, arrivals: &mut Arrivals) -> Result<bool> {
        while *missing > 0 {
            if !self.find(None, arrivals)? {
                return Ok(false);
            }
            *missing -= 1;
        }
        Ok(true)
    }
}

/// What an exchange has lost on a process.
#[derive(Debug, Default)]
pub struct Loss {
    /// The first error.
    pub error: Option<Box<Error>>,
    /// Processes whose messages to this one do not come.
    pub sources: Vec<u32>,
}

impl Loss {
    /// Notes the error of a message that could not be sent or received.
    pub fn note(&mut self, error: Box<Error>) {
        self.error.get_or_insert(error);
    }

    /// Notes that a message of `source` does not come.
    pub fn miss(&mut self, source: u32) {
        let text = "a message could not be sent to this process".into();
        self.note(Error::Remote { rank: source, class: Class::Other, text }.into());
        self.sources.push(source);
    }
}
