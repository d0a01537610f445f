//! Binds the shared-memory executor to buffers, counts and datatypes.

use super::state::Shm;
use crate::datatype::buffers::enlarge;
use crate::datatype::buffers::{self, Blocks, Buffers, Ints, Shape};
use crate::datatype::check::{accept, refuse_null};
use crate::error::{Error, Result};
use crate::exec::blocks::{self, bind_copies};
use crate::exec::executor::Executor;
use crate::mpi::Op;
use crate::mpi::message;
use crate::util::cast::{to_int, to_usize};

impl Shm {
    /// Binds several fields, which are exchanged together. Leaves out the edges to other nodes.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    pub unsafe fn bind_fields(&mut self, fields: &[Buffers]) -> Result<()> {
        self.copies.clear();
        self.stuck = false;
        let Some(first) = fields.first() else { return Ok(()) };
        self.to_all = blocks::is_one(&first.input);
        let freed = self.known[0][0].freed()?;
        if let Some(op) = first.op {
            self.bind_fold(op, first)?;
        } else {
            for block in &mut self.outputs {
                let (side, known) = (&fields[block.field as usize].output, &self.known[block.field as usize][1]);
                block.bind(side, known, freed, &self.comm)?;
            }
            if !self.self_edges.is_empty() {
                self.bind_copies(fields)?;
            }
        }
        let own = if self.to_all { self.inputs.len().min(1) } else { self.inputs.len() };
        for block in &mut self.inputs[..own] {
            let (side, known) = (&fields[block.field as usize].input, &self.known[block.field as usize][0]);
            block.bind(side, known, freed, &self.comm)?;
        }
        for send in if self.to_all { &mut self.all } else { &mut self.each } {
            send.bytes = blocks::total(&self.inputs[send.blocks.clone()])?;
        }
        if first.op.is_none() {
            for recv in &mut self.recvs {
                // a block that goes to all targets travels once
                let last = if self.to_all { recv.blocks.end.min(recv.blocks.start + 1) } else { recv.blocks.end };
                recv.bytes = blocks::total(&self.outputs[recv.blocks.start..last])?;
            }
        }
        Ok(())
    }

    fn bind_copies(&mut self, fields: &[Buffers]) -> Result<()> {
        for (field, known) in fields.iter().zip(&self.known) {
            let Self { self_edges, accepted, copies, pack, comm, .. } = self;
            bind_copies(self_edges, field, &known[0], accepted, (copies, pack), comm)?;
        }
        Ok(())
    }

    /// Binds a reduction, except for what is sent.
    fn bind_fold(&mut self, op: Op, buffers: &Buffers) -> Result<()> {
        let Some(folding) = &mut self.folding else {
            return Err(Error::Internal("an executor that does not reduce got an operator".into()).into());
        };
        let Some(self_comm) = self.self_comm.as_deref() else {
            return Err(Error::Internal("an executor that does not reduce got an operator".into()).into());
        };
        let known = &self.known[0][1];
        folding.bind(op, &buffers.output, known, &self.comm, self_comm)?;
        for &(target, _) in &self.self_edges {
            let from = buffers.input.locate(target as usize)?;
            accept(&mut self.accepted[0], from.datatype, &buffers.input, target as usize, &self.comm)?;
            refuse_null(&from, &buffers.input)?;
            folding.bind_own(target, from, &self.known[0][0], &self.comm)?;
        }
        for recv in &mut self.recvs {
            // a block that goes to all targets travels once
            let count = if self.to_all { recv.blocks.len().min(1) } else { recv.blocks.len() };
            let bytes = count.checked_mul(folding.bytes()).filter(|&bytes| bytes <= to_usize(buffers::MOST));
            recv.bytes = bytes.ok_or(Error::NoMemory { bytes: usize::MAX })?;
        }
        Ok(())
    }

    /// Binds the edges to other nodes.
    pub(super) unsafe fn bind_remote(&mut self, buffers: &Buffers) -> Result<()> {
        let Some(remote) = &mut self.remote else { return Ok(()) };
        // SAFETY: as for `bind_fields`; what is received for a reduction goes into memory of this
        // executor.
        unsafe {
            let Some(folding) = &self.folding else { return remote.bind(buffers) };
            let bytes = folding.bytes();
            let needed = self.remote_entries.len().checked_mul(bytes).ok_or(Error::NoMemory { bytes: usize::MAX })?;
            if remote.is_stuck() {
                // MPI may still write there
                std::mem::forget(std::mem::take(&mut self.scratch));
            }
            enlarge(&mut self.scratch, needed)?;
            for (place, &source) in self.remote_entries.iter().enumerate() {
                self.remote_counts[source as usize] = to_int(bytes);
                self.remote_displs[source as usize] = to_int(place * bytes);
            }
            let (counts, displs) = (Ints::Wide(&self.remote_counts), Ints::Wide(&self.remote_displs));
            let shape = Shape::General { counts, displs, datatypes: self.remote_datatypes[..].into() };
            let output = Blocks {
                base: self.scratch.as_mut_ptr(),
                datatype: message::packed(),
                extent: 1,
                shape,
                names: buffers.output.names,
            };
            remote.bind(&Buffers { input: buffers.input, output, op: None })
        }
    }
}
