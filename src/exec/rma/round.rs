//! Makes a round, and runs it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Own;
use super::answer::WORDS;
use super::link::Link;
use super::state::{InMessage, InState, OutMessage, Round, Stage};
use crate::error::Result;
use crate::exec::blocks::MessageBlock;
use crate::exec::folding::{Folding, Origin};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::message::Request;
use crate::mpi::p2p::Requests;
use crate::observe::Record;
use crate::schedule::{Block, Op, Part};
use crate::topology::neighborhood::Neighborhood;
use crate::util::cast::{to_int, to_u32};

impl Round {
    /// Makes what executes the operations of a round whose other ends a link has, and copies. It
    /// moves so many fields together. `is_only`: no process has another round.
    pub(super) fn new(
        (link, comm, n): (&Arc<Link>, Arc<Comm>, &Neighborhood),
        ops: &[Op],
        is_only: bool,
        own: Own,
        fields: usize,
    ) -> Round {
        let (targets, sources, mut self_edges) = (n.targets_in_order(), n.sources_in_order(), n.self_edges());
        let parts = |edges: usize| -> Vec<SmallVec<[Part; 1]>> { vec![SmallVec::new(); edges] };
        let (mut sent, mut received, mut copied) = (parts(n.targets().len()), parts(n.sources().len()), Vec::new());
        for op in ops {
            match *op {
                Op::Send { block: Block::Input(entry), part, .. } => sent[entry as usize].push(part),
                Op::Recv { into: Block::Output(entry), part, .. } => received[entry as usize].push(part),
                Op::Copy { from: Block::Input(target), into: Block::Output(source) } => copied.push((target, source)),
                _ => {}
            }
        }
        // the same order at both ends
        sent.iter_mut().chain(&mut received).for_each(|parts| parts.sort_unstable_by(Part::by_begin));
        self_edges.retain(|edge| copied.contains(edge));
        let (mut inputs, mut outs) = (Vec::new(), Vec::new());
        for (position, &slot) in link.targets.iter().enumerate() {
            let begin = inputs.len();
            for field in 0..fields {
                for target in targets.iter().filter(|t| t.1 == slot.rank) {
                    inputs.extend(sent[target.0 as usize].iter().map(|&part| MessageBlock::of_part(field, target.0, part)));
                }
            }
            // a process with which the round has no edge
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
                    let parts = &received[source.0 as usize];
                    if !parts.is_empty() {
                        of_source[source.0 as usize] = Some(to_u32(i));
                    }
                    outputs.extend(parts.iter().map(|&part| MessageBlock::of_part(field, source.0, part)));
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
        Round {
            link: Arc::clone(link),
            comm,
            tag: 0,
            me: to_int(n.rank()),
            stage: Stage::Idle,
            turn: 0,
            known: (0..fields).map(|_| Default::default()).collect(),
            inputs,
            outputs,
            outs,
            ins,
            lost: Vec::new(),
            of_source,
            is_only,
            is_exact: folding.is_some(),
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
            fence: None,
            failure: None,
            stuck: false,
            stays: false,
            patience: Patience::default(),
            record: None,
        }
    }

    /// Counts and traces what this executor does from now on.
    pub(super) fn observe(&mut self, record: &Arc<Record>) {
        self.record = Some(Arc::clone(record));
    }

    /// Returns the blocks that are sent.
    pub(super) fn sent(&self) -> impl Iterator<Item = Block> + '_ {
        self.inputs.iter().map(|block| Block::Input(block.entry))
    }

    /// Returns true if MPI may still access the bound buffers although no call is active.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Returns true if a call is active.
    pub(super) fn is_active(&self) -> bool {
        matches!(self.stage, Stage::Queued | Stage::Open)
    }

    /// Starts it once the calls and rounds before it have ended.
    pub(super) fn start(&mut self, tag: i32) {
        (self.tag, self.turn, self.stage) = (tag, self.link.turns.take(), Stage::Queued);
        self.patience.restart();
        self.start_own();
        self.step();
    }

    /// Goes on without waiting. Returns true, or its error, when it is complete.
    pub(super) fn test(&mut self) -> Result<bool> {
        if self.stage == Stage::Idle {
            return Ok(true);
        }
        if self.step() {
            self.stage = Stage::Idle;
            return self.failure.take().map_or(Ok(true), |error| Err(self.explained(error)));
        }
        if self.patience.is_over() {
            self.look_for_refusals();
            self.look_for_dead();
        }
        Ok(false)
    }

    /// Forgets which datatypes MPI has accepted.
    pub(super) fn forget_datatypes(&mut self) {
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(MessageBlock::forget);
        self.accepted = [None; 2];
        if let Some((folding, _)) = &mut self.folding {
            folding.forget_datatypes();
        }
    }

    /// Returns true if the block of a source has arrived, or does not come in this round.
    pub(super) fn arrived(&self, source: usize) -> Result<bool> {
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

impl Drop for Round {
    fn drop(&mut self) {
        // a call that nobody completes leaves its epoch open
        if self.is_active() {
            self.link.close();
            (self.stuck, self.stays) = (true, true);
            if let Some(fence) = &mut self.fence {
                fence.give_up();
            }
        }
        self.withdraw_offers();
        self.leave_memory();
        if self.stays {
            std::mem::forget((std::mem::take(&mut self.outs), std::mem::take(&mut self.ins)));
        }
    }
}
