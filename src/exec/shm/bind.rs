//! Binds the shared-memory executor to buffers, counts and datatypes.

use super::state::{Shm, Whole};
use crate::datatype::buffers::enlarge;
use crate::datatype::buffers::{self, Blocks, Buffers, Ints, Shape};
use crate::error::{Error, Result};
use crate::exec::blocks::{self, MessageBlock};
use crate::exec::executor::Executor;
use crate::exec::fields::{Fields, sent};
use crate::mpi::Op;
use crate::mpi::message;
use crate::shm::ring::INLINE;
use crate::util::cast::{to_int, to_usize};

/// Longest run of bytes in messages for whose memory a process asks ahead. Longer runs are copied
/// by string instructions, which take lines without reading them (1 edge of 4 KiB took 1.2 times as
/// long).
const LONGEST_RUN: usize = 2 << 10;

/// Most bytes that a process asks for ahead, for all messages of a call: more would not come while
/// the program goes on. Messages of 18 KB take 0.9 of the time, of 39 KB 0.97 (halos of 32^3 and
/// 48^3 doubles).
const LONGEST_FETCHED: usize = 32 << 10;

/// Returns the bytes of a message, and where they lie if the message may be sent in its cell, and
/// is `most` bytes long at most.
#[inline(always)]
fn measured(blocks: &[MessageBlock], most: usize) -> Result<(usize, Whole)> {
    let bytes = blocks::total(blocks)?;
    let whole = if bytes <= most.min(INLINE) { Whole::of(blocks, bytes) } else { Whole::NONE };
    Ok((bytes, whole))
}

/// True if a process asks ahead for the memory of a message of `bytes` bytes. `room`: how many
/// bytes it may still ask for.
fn is_fetched(blocks: &[MessageBlock], bytes: usize, room: usize) -> bool {
    bytes > INLINE && bytes <= room && blocks::longest_run(blocks) <= LONGEST_RUN
}

impl Shm {
    /// Binds several fields, which are exchanged together. Leaves out the edges to other nodes.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    pub unsafe fn bind_fields(&mut self, fields: &[Buffers]) -> Result<()> {
        self.copies.clear();
        (self.stuck, self.brief) = (false, false);
        let Some(first) = fields.first() else { return Ok(()) };
        self.to_all = blocks::is_one(&first.input);
        let freed = self.known[0].freed()?;
        if let Some(op) = first.op {
            self.bind_fold(op, first)?;
        }
        let all = Fields { fields, known: &self.known, freed, comm: &self.comm };
        if first.op.is_none() {
            all.bind(&mut self.outputs, |field| &field.output)?;
            if !self.self_edges.is_empty() {
                all.bind_copies(&self.self_edges, &mut self.accepted, &mut self.copies)?;
            }
        }
        all.bind(sent(&mut self.inputs, self.to_all), |field| &field.input)?;
        let mut room = LONGEST_FETCHED;
        for send in if self.to_all { &mut self.all } else { &mut self.each } {
            let blocks = &self.inputs[send.blocks.clone()];
            (send.bytes, send.whole) = measured(blocks, self.short)?;
            send.fetched = is_fetched(blocks, send.bytes, room);
            if send.fetched {
                room -= send.bytes;
            }
            send.readable.clear();
        }
        if first.op.is_none() {
            for recv in &mut self.recvs {
                // a block that goes to all targets travels once
                let last = if self.to_all { recv.blocks.end.min(recv.blocks.start + 1) } else { recv.blocks.end };
                (recv.bytes, recv.whole) = measured(&self.outputs[recv.blocks.start..last], INLINE)?;
                if last < recv.blocks.end {
                    // several blocks get it
                    recv.whole = Whole::NONE;
                }
            }
        }
        self.brief = self.binds_briefly();
        Ok(())
    }

    /// Binds what is combined, except for what is sent.
    fn bind_fold(&mut self, op: Op, buffers: &Buffers) -> Result<()> {
        let (Some(folding), Some(self_comm)) = (&mut self.folding, self.self_comm.as_deref()) else {
            return Err(Error::Internal("an executor that does not combine got an operator".into()).into());
        };
        let known = &self.known[0];
        folding.bind(op, &buffers.output, known, &self.comm, self_comm)?;
        folding.bind_own(&self.self_edges, &buffers.input, &mut self.accepted[0], known, &self.comm)?;
        for recv in &mut self.recvs {
            recv.bytes = folding.stage(&mut self.outputs[recv.blocks.clone()], self.to_all);
            if recv.bytes > to_usize(buffers::MOST) {
                return Err(Error::NoMemory { bytes: recv.bytes }.into());
            }
        }
        Ok(())
    }

    /// Binds the edges to other nodes.
    pub(super) unsafe fn bind_remote(&mut self, buffers: &Buffers) -> Result<()> {
        let Some(remote) = &mut self.remote else { return Ok(()) };
        // SAFETY: as for `bind_fields`; what is to be combined is received into memory of this
        // executor.
        unsafe {
            let Some(folding) = &mut self.folding else { return remote.bind(buffers) };
            let mut needed = 0;
            for &source in &self.remote_entries {
                let (begin, end) = (needed, folding.put_at(source, needed));
                (self.remote_displs[source as usize], self.remote_counts[source as usize]) = (to_int(begin), to_int(end - begin));
                needed = end;
            }
            if remote.is_stuck() {
                // MPI may still write there
                std::mem::forget(std::mem::take(&mut self.scratch));
            }
            enlarge(&mut self.scratch, needed)?;
            let shape = Shape::Vector { counts: Ints::Wide(&self.remote_counts), displs: Ints::Wide(&self.remote_displs) };
            let output = Blocks {
                base: self.scratch.as_mut_ptr(),
                // matches whatever is sent
                datatype: message::packed(),
                extent: 1,
                shape,
                names: buffers.output.names,
                field: None,
            };
            remote.bind(&Buffers { input: buffers.input, output, op: None })
        }
    }
}
