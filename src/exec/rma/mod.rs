//! The RMA executor: blocks are put into a landing area at the target, a window of MPI.
//!
//! When a call's turn comes, the process lets its sources in (`MPI_Win_post`) and tells each of
//! them so by a message of 8 bytes. It packs its own blocks meanwhile. When a target has answered,
//! it puts (`MPI_Win_start`, `MPI_Put`, `MPI_Win_complete`), all blocks for one process together,
//! behind a header. When all sources have completed (`MPI_Win_test`), it unpacks what they have
//! put. No call of MPI can block for ever: what others must do first has been announced, and is
//! polled for, with a check for processes that have died.
//!
//! With a passive target, the window is open to all as long as it lives. The source flushes its
//! puts, and then sets a word of the slot, its flag, to the number of the message; the target polls
//! the flags, and unpacks each message as soon as its flag is raised.
//!
//! A message that exceeds its slot in the landing area comes by message; the sender decides that,
//! and the header says so. An active target one of whose sources has died lets nobody in any more,
//! as the epoch would never end: it asks for messages instead.
//!
//! Plans attach the memory of their blocks to a second window, and say with the answer where it is:
//! long messages then go straight there, and only their headers to the landing area.
//!
//! Useful where the network writes to remote memory without the remote processor, and where edges
//! are repeated, as all blocks for a process travel together. Only `direct` runs so: the other
//! schedules order messages that would wait for one another.
//!
//! Cost: for each process that this one sends to, a message of 8 bytes from it, a put, and MPI's
//! synchronization; two copies of each byte, one where a block is contiguous and long. Blocks that
//! are combined are read in the landing area. No allocation once buffers have reached their largest
//! size.
//!
//! Source: Barrett, One-Sided Communication for High Performance Computing Applications, chapters 3
//! and 7.
//!
//! | file | job |
//! |---|---|
//! | `slots`, `header` | how the landing area is divided; what stands before a message |
//! | `link` | the window, and the turns of calls |
//! | `state`, `bind` | the executor and its messages; buffers, counts and datatypes of a call |
//! | `answer`, `offer` | what a target tells its sources; places of plans' blocks |
//! | `epoch`, `puts` | the steps of a call; what is put and sent |
//! | `fold` | combining blocks in the landing area |
//! | `failure` | neighbors that have died, or that MPI keeps from putting |

mod answer;
mod bind;
mod epoch;
mod failure;
mod fold;
mod header;
pub mod link;
mod offer;
mod puts;
mod slots;
mod state;

use std::sync::Arc;

pub use state::Rma;

use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::exec::blocks::MessageBlock;
use crate::exec::combine::Combine;
use crate::exec::executor::Executor;
use crate::exec::folding::{Folding, Origin};
use crate::exec::waiting::Waiting;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::message::Request;
use crate::mpi::p2p::Requests;
use crate::observe::Record;
use crate::schedule::Block;
use crate::topology::neighborhood::Neighborhood;
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::{to_int, to_u32};
use answer::WORDS;
use link::Link;
use state::{InMessage, InState, OutMessage, Stage};

/// How the blocks that a process sends to itself are handled.
pub enum Own {
    /// They are left to another executor.
    Left,
    /// They are copied.
    Copied,
    /// They are combined, like all others; with a communicator of this process alone.
    Combined(Combine, Arc<Comm>),
}

impl Rma {
    /// Makes an executor of those edges of a neighborhood that its link has, and of the process's
    /// edges to itself. It moves so many fields together.
    pub fn new(link: &Arc<Link>, comm: Arc<Comm>, n: &Neighborhood, own: Own, waiting: Waiting, fields: usize) -> Rma {
        Rma::of_edges(link, comm, n, own, waiting, fields, &|_| true)
    }

    /// The same, of those of these edges alone whose blocks are `kept`; their other ends keep them,
    /// too.
    pub fn of_edges(
        link: &Arc<Link>,
        comm: Arc<Comm>,
        n: &Neighborhood,
        own: Own,
        waiting: Waiting,
        fields: usize,
        kept: &dyn Fn(Block) -> bool,
    ) -> Rma {
        let (mut targets, mut sources, mut self_edges) = (n.targets_in_order(), n.sources_in_order(), n.self_edges());
        targets.retain(|target| kept(Block::Input(target.0)));
        sources.retain(|source| kept(Block::Output(source.0)));
        self_edges.retain(|edge| kept(Block::Input(edge.0)) && kept(Block::Output(edge.1)));
        let (mut inputs, mut outs) = (Vec::new(), Vec::new());
        for (position, &slot) in link.targets.iter().enumerate() {
            let begin = inputs.len();
            for field in 0..fields {
                inputs.extend(targets.iter().filter(|t| t.1 == slot.rank).map(|t| MessageBlock::new(field, t.0)));
            }
            // a process with which no edge is kept
            if begin == inputs.len() {
                continue;
            }
            outs.push(OutMessage {
                position,
                slot,
                number: 0,
                blocks: begin..inputs.len(),
                bytes: 0,
                staged: 0,
                words: [0; 2],
                in_place: None,
                apart: false,
                spoiled: false,
                in_pieces: false,
                answer: [0; WORDS],
                straight: false,
                left: false,
                refused: false,
                sends: Default::default(),
            });
        }
        let (mut outputs, mut ins, mut of_source) = (Vec::new(), Vec::new(), vec![None; n.sources().len()]);
        for (position, &slot) in link.sources.iter().enumerate() {
            let (begin, i) = (outputs.len(), ins.len());
            for field in 0..fields {
                for source in sources.iter().filter(|s| s.1 == slot.rank) {
                    of_source[source.0 as usize] = Some(to_u32(i));
                    outputs.push(MessageBlock::new(field, source.0));
                }
            }
            if begin == outputs.len() {
                continue;
            }
            ins.push(InMessage {
                position,
                slot,
                number: 0,
                blocks: begin..outputs.len(),
                bytes: 0,
                state: InState::Done,
                words: [0; 2],
                request: Request::default(),
                buffer: Vec::new(),
                data: std::ptr::null(),
                offer: Vec::new(),
            });
        }
        let mut answers = Requests::default();
        answers.reserve(outs.len() + ins.len());
        if matches!(own, Own::Left) {
            self_edges.clear();
        }
        let folding = match own {
            Own::Combined(combine, self_comm) => {
                let mut origins: Vec<Origin> = of_source.iter().map(|i| i.map_or(Origin::Nowhere, Origin::Peer)).collect();
                self_edges.iter().for_each(|&(target, source)| origins[source as usize] = Origin::Own(target));
                Some((Box::new(Folding::new(combine, &origins)), self_comm))
            }
            Own::Left | Own::Copied => None,
        };
        Rma {
            link: Arc::clone(link),
            comm,
            tag: 0,
            me: to_int(n.rank()),
            waiting,
            stage: Stage::Idle,
            turn: 0,
            known: (0..fields).map(|_| Default::default()).collect(),
            inputs,
            outputs,
            outs,
            ins,
            of_source,
            to_all: false,
            copies: Vec::with_capacity(self_edges.len() * fields),
            self_edges,
            accepted: [None; 2],
            pack: Vec::new(),
            folding,
            staging: Vec::new(),
            answers,
            attached: Vec::new(),
            exposed: false,
            accessed: false,
            failure: None,
            stuck: false,
            stays: false,
            patience: Patience::default(),
            record: None,
        }
    }

    /// Counts and traces what this executor does from now on.
    pub fn observe(&mut self, record: &Arc<Record>) {
        self.record = Some(Arc::clone(record));
    }

    /// Returns the blocks that are sent.
    pub fn sent(&self) -> impl Iterator<Item = Block> + '_ {
        self.inputs.iter().map(|block| Block::Input(block.entry))
    }

    /// Returns true if MPI may still access the bound buffers although no call is active.
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }
}

impl Drop for Rma {
    fn drop(&mut self) {
        // a call that nobody completes leaves its epoch open
        if matches!(self.stage, Stage::Queued | Stage::Open) {
            self.link.close();
            (self.stuck, self.stays) = (true, true);
        }
        self.withdraw_offers();
        self.leave_memory();
        if self.stays {
            std::mem::forget((std::mem::take(&mut self.outs), std::mem::take(&mut self.ins)));
        }
    }
}

impl Executor for Rma {
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.bind_fields(std::slice::from_ref(buffers))
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        (self.tag, self.turn, self.stage) = (tag, self.link.turns.take(), Stage::Queued);
        self.patience.restart();
        self.start_own();
        self.step();
        Ok(())
    }

    fn test(&mut self) -> Result<bool> {
        if self.stage == Stage::Idle {
            return Ok(true);
        }
        if self.step() {
            self.stage = Stage::Idle;
            return self.failure.take().map_or(Ok(true), Err);
        }
        if self.patience.is_over() {
            self.look_for_refusals();
            self.look_for_dead();
        }
        Ok(false)
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

    fn forget_datatypes(&mut self) {
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(MessageBlock::forget);
        self.accepted = [None; 2];
        if let Some((folding, _)) = &mut self.folding {
            folding.forget_datatypes();
        }
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if let Some((folding, _)) = self.folding.as_ref().filter(|_| matches!(self.stage, Stage::Queued | Stage::Open)) {
            return Ok(folding.is_source_done(source));
        }
        let message = self.of_source.get(source).copied().flatten();
        Ok(match self.stage {
            Stage::Queued => message.is_none(),
            Stage::Open => message.is_none_or(|i| self.ins[i as usize].state == InState::Done),
            Stage::Idle | Stage::Complete => true,
        })
    }
}
