//! Binds a call: finds and checks the block of each message, copy and reduction.

use super::state::{Fold, P2p};
use crate::datatype::buffers::{Blocks, Buffers, Located, Shape};
use crate::datatype::check::{accept, refuse_null, self_edge};
use crate::datatype::copy::BlockCopy;
use crate::error::{Error, Result};
use crate::exec::scratch::{Places, Room};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{Datatype, Op, op};
use crate::schedule::Block;
use crate::util::cast::to_usize;

impl P2p {
    /// Binds the messages of one side. The shape is matched once, not per message: this loop is all
    /// that a call costs beyond MPI.
    #[inline]
    pub(super) fn bind_side(&mut self, side: &Blocks, input: bool) -> Result<()> {
        let places = if input { &self.sorted.inputs } else { &self.sorted.outputs };
        let Some(first) = places.first() else {
            return Ok(());
        };
        if let Shape::General { .. } = side.shape {
            for place in places {
                let (entry, i) = (place.entry as usize, place.message as usize);
                let block = side.bind(entry, &mut self.accepted.messages[i], &self.comm)?;
                // SAFETY: as for `bind`.
                unsafe { self.large.fill(&mut self.messages[i], &block, || side.count_argument(entry)) }?;
            }
            return Ok(());
        }
        let known = if input { &mut self.accepted.input } else { &mut self.accepted.output };
        accept(known, side.datatype, side, first.entry as usize, &self.comm)?;
        side.locate_all(places.iter().map(|p| p.entry), |k, block| {
            let argument = || side.count_argument(places[k].entry as usize);
            // SAFETY: as for `bind`; the type has been accepted.
            unsafe {
                refuse_null(&block, side)?;
                self.large.fill(&mut self.messages[places[k].message as usize], &block, argument)
            }
        })
    }

    /// Finds a block of any kind. Most messages do not need this.
    pub(super) fn locate(&mut self, block: Block, buffers: &Buffers, scratch: &Places) -> Result<Located> {
        let known = if let Block::Input(_) = block { &mut self.accepted.input } else { &mut self.accepted.output };
        locate(block, buffers, scratch, known, &self.comm)
    }

    /// Binds all operations but messages of whole input or output blocks.
    #[inline]
    pub(super) fn bind_others(&mut self, buffers: &Buffers, scratch: &Places) -> Result<()> {
        let none = self.sorted.others.is_empty() && self.sorted.copies.is_empty() && self.sorted.reduces.is_empty();
        if none && self.parts.is_empty() {
            return Ok(());
        }
        self.bind_each(buffers, scratch)
    }

    pub(super) fn bind_each(&mut self, buffers: &Buffers, scratch: &Places) -> Result<()> {
        // SAFETY: as for `bind`, in all of the calls.
        unsafe {
            if !self.parts.is_empty() {
                let locate = |block: Block, known: &mut _| locate(block, buffers, scratch, known, &self.comm);
                self.parts.bind(buffers, locate, &mut self.messages, &mut self.large, &self.comm)?;
            }
            for k in 0..self.sorted.others.len() {
                let i = self.sorted.others[k] as usize;
                let block = self.locate(self.sorted.messages[i].1, buffers, scratch)?;
                self.large.fill(&mut self.messages[i], &block, || buffers.output.count_argument(0))?;
            }
            for k in 0..self.sorted.copies.len() {
                let (from, into) = self.sorted.copies[k];
                let (source, target) = (self.locate(from, buffers, scratch)?, self.locate(into, buffers, scratch)?);
                let Some(copy) = BlockCopy::prepare(source, target, &self.known, &self.comm)? else {
                    return Err(self_edge(from.index(), &source, into.index(), &target)?.into());
                };
                self.copies.add(copy)?;
            }
            for k in 0..self.sorted.reduces.len() {
                let (from, into) = self.sorted.reduces[k];
                let pair = (self.locate(from, buffers, scratch)?.at, self.locate(into, buffers, scratch)?.at);
                self.reduces.push(pair);
            }
        }
        Ok(())
    }

    /// Guards the receives, if this MPI needs it.
    #[inline]
    pub(super) unsafe fn guard(&mut self) -> Result<()> {
        let Some(guards) = &mut self.guards else { return Ok(()) };
        for i in self.sorted.rounds.iter().flat_map(|round| round.recvs.clone()) {
            // SAFETY: the messages have been bound, and none is under way.
            unsafe { guards.apply(i, &mut self.messages[i]) }?;
        }
        Ok(())
    }

    /// Checks the operator and lays out the scratch blocks.
    #[inline]
    pub(super) fn prepare_fold(&mut self, buffers: &Buffers) -> Result<Places> {
        self.fold = None;
        match buffers.op {
            // without blocks, operator and type mean nothing
            Some(op) if !self.sorted.arrivals.is_empty() => self.lay_out_fold(op, buffers),
            _ => Ok(Places::NONE),
        }
    }

    pub(super) fn lay_out_fold(&mut self, op: Op, buffers: &Buffers) -> Result<Places> {
        let result = buffers.output.locate(0)?;
        if self.accepted.op != Some((op, result.datatype)) {
            op.check_type(result.datatype, self.self_comm()?)
                .map_err(|text| Error::Operator { argument: buffers.output.datatype_argument(0), text })?;
            self.accepted.op = Some((op, result.datatype));
        }
        let extent = buffers.output.extent;
        let loops = op::predefined(op, result.datatype);
        self.fold = Some(Fold { op, datatype: result.datatype, count: result.count, extent, loops });
        if self.scratch_blocks == 0 {
            return Ok(Places::NONE);
        }
        let room = Room::of(&result, extent, || buffers.output.count_argument(0))?;
        self.scratch.hold(room, self.scratch_blocks)?;
        Ok(self.scratch.places(room))
    }
}

/// Finds and checks a block of any kind; `known` is a datatype that MPI has accepted.
fn locate(block: Block, buffers: &Buffers, scratch: &Places, known: &mut Option<Datatype>, comm: &Comm) -> Result<Located> {
    let (side, entry) = match block {
        Block::Input(entry) => (&buffers.input, entry as usize),
        Block::Output(entry) => (&buffers.output, entry as usize),
        // scratch blocks are laid out like the result
        Block::Scratch(_) => (&buffers.output, 0),
        Block::Packet(_) => return Err(Error::Internal("this executor has no packets".into()).into()),
    };
    let mut located = side.bind(entry, known, comm)?;
    if let Block::Scratch(k) = block {
        located.at = scratch.at(to_usize(k));
    }
    Ok(located)
}
