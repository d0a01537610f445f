//! Makes a round, and runs it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::OwnEdges;
use super::edges::{Edges, Moved};
use super::state::{InMessage, InState, OutMessage, Round, Stage};
use crate::datatype::copy::OwnCopies;
use crate::datatype::known::Known;
use crate::error::Result;
use crate::exec::blocks::MessageBlock;
use crate::exec::folding::{Folding, Origin};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::p2p::Requests;
use crate::observe::Record;
use crate::schedule::{Block, Op};
use crate::util::cast::to_int;

/// Makes what combines blocks, if anything does, and returns the communicator of the process alone.
/// `sources`: length of the source list; `of_source`: the message of each source that has one.
fn folding(
    own: OwnEdges,
    sources: usize,
    of_source: &[(u32, u32)],
    self_edges: &[(u32, u32)],
) -> Option<(Box<Folding>, Arc<Comm>)> {
    let (combine, self_comm) = match own {
        OwnEdges::Combined(combine, self_comm) => (combine, self_comm),
        OwnEdges::Left | OwnEdges::Copied => return None,
    };
    let mut origins = vec![Origin::Nowhere; sources];
    of_source.iter().for_each(|&(source, message)| origins[source as usize] = Origin::Peer(message));
    (0..).zip(self_edges).for_each(|(k, &(_, source))| origins[source as usize] = Origin::Own(k));
    Some((Box::new(Folding::new(combine, &origins)), self_comm))
}

/// Returns the blocks that the operations of a round send and receive through a link, each in the
/// order in which both ends have them, and those that they copy, by target and source.
fn moved(edges: &Edges, ops: &[Op]) -> (Vec<Moved>, Vec<Moved>, HashSet<(u32, u32)>) {
    let (mut sent, mut received, mut copied) = (Vec::new(), Vec::new(), HashSet::new());
    for op in ops {
        match *op {
            Op::Send { block: Block::Input(entry), part, .. } => sent.extend(edges.targets.of(entry, part)),
            Op::Recv { into: Block::Output(entry), part, .. } => received.extend(edges.sources.of(entry, part)),
            Op::Copy { from: Block::Input(target), into: Block::Output(source) } => _ = copied.insert((target, source)),
            _ => {}
        }
    }
    for moved in [&mut sent, &mut received] {
        moved.sort_unstable_by(|a: &Moved, b| a.way.cmp(&b.way).then_with(|| a.part.by_begin(&b.part)));
    }
    (sent, received, copied)
}

/// Splits the blocks of a round into those of each message.
fn by_slot(moved: &[Moved]) -> impl Iterator<Item = &[Moved]> {
    moved.chunk_by(|a, b| a.way.0 == b.way.0)
}

/// Returns the messages of a round and their blocks. `message` gets the position of a message's
/// slot and its range of the blocks.
fn messages<M>(moved: &[Moved], fields: usize, message: impl Fn(usize, Range<usize>) -> M) -> (Vec<M>, Vec<MessageBlock>) {
    let (mut messages, mut blocks) = (Vec::new(), Vec::new());
    for parts in by_slot(moved) {
        let begin = blocks.len();
        for field in 0..fields {
            blocks.extend(parts.iter().map(|moved| MessageBlock::of_part(field, moved.entry, moved.part)));
        }
        messages.push(message(parts[0].way.0, begin..blocks.len()));
    }
    (messages, blocks)
}

impl Round {
    /// Makes what executes the operations of a round whose other ends a link has, and copies.
    /// `is_only`: no process has another round.
    pub(super) fn new(edges: &Edges, ops: &[Op], is_only: bool, own: OwnEdges) -> Round {
        let &Edges { link, comm, n, fields, .. } = edges;
        let (sent, received, copied) = moved(edges, ops);
        let mut self_edges = if matches!(own, OwnEdges::Left) { Vec::new() } else { n.self_edges() };
        self_edges.retain(|edge| copied.contains(edge));
        let (outs, inputs) =
            messages(&sent, fields, |position, blocks| OutMessage::new(position, link.targets[position], blocks));
        let (ins, outputs) =
            messages(&received, fields, |position, blocks| InMessage::new(position, link.sources[position], blocks));
        let mut of_source: Vec<(u32, u32)> = (0..)
            .zip(by_slot(&received))
            .flat_map(|(message, blocks)| blocks.iter().map(move |moved| (moved.entry, message)))
            .collect();
        of_source.sort_unstable();
        of_source.dedup();
        let mut answers = Requests::default();
        answers.reserve(outs.len() + ins.len());
        let folding = folding(own, n.sources().len(), &of_source, &self_edges);
        Round {
            link: Arc::clone(link),
            comm: Arc::clone(comm),
            tag: 0,
            me: to_int(n.rank()),
            stage: Stage::Idle,
            turn: 0,
            known: (0..fields).map(|_| Known::default()).collect(),
            inputs,
            outputs,
            outs,
            ins,
            lost: Vec::new(),
            of_source,
            is_only,
            is_exact: folding.is_some(),
            to_all: false,
            copies: OwnCopies::with_capacity(self_edges.len() * fields),
            self_edges,
            accepted: [None; 2],
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
    pub(super) fn forget_datatypes(&mut self, watches: bool) {
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(MessageBlock::forget);
        self.accepted = [None; 2];
        self.known.iter().for_each(|known| known.forget(watches));
        if let Some((folding, _)) = &mut self.folding {
            folding.forget_datatypes();
        }
    }

    /// Returns the entries of the source list that the round receives blocks from, or parts of
    /// them.
    pub(super) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        self.of_source.iter().map(|of| of.0)
    }

    /// Returns true if the block of a source has arrived, or does not come in this round.
    pub(super) fn arrived(&self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if let Some((folding, _)) = self.folding.as_ref().filter(|_| matches!(self.stage, Stage::Queued | Stage::Open)) {
            return Ok(folding.is_source_done(source));
        }
        if matches!(self.stage, Stage::Idle | Stage::Complete) {
            return Ok(true);
        }
        let Ok(at) = self.of_source.binary_search_by_key(&source, |of| of.0 as usize) else { return Ok(true) };
        Ok(self.stage == Stage::Open && self.ins[self.of_source[at].1 as usize].state == InState::Done)
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
