//! Binds the RMA executor to buffers, counts and datatypes.

use super::header;
use super::state::Round;
use crate::datatype::buffers::{Buffers, enlarge};
use crate::error::{Error, Result};
use crate::exec::blocks;
use crate::exec::fields::{Fields, sent};
use crate::mpi::device::Devices;
use crate::mpi::landing::IN_PLACE;
use crate::schedule::Block;

impl Round {
    /// Locates and checks all blocks of the fields. `lay_out` comes next, when parts have places.
    pub fn bind_fields(&mut self, fields: &[Buffers]) -> Result<()> {
        self.copies.clear();
        self.withdraw_offers();
        self.leave_memory();
        self.to_all = self.is_only && fields.len() == 1 && blocks::is_one(&fields[0].input);
        let freed = self.known[0].freed()?;
        if self.folding.is_some() {
            self.bind_fold(&fields[0])?;
        }
        let all = Fields { fields, known: &self.known, freed, comm: &self.comm };
        if self.folding.is_none() {
            all.bind(&mut self.outputs, |field| &field.output)?;
            all.bind_copies(&self.self_edges, &mut self.accepted, &mut self.copies)?;
        }
        all.bind(sent(&mut self.inputs, self.to_all), |field| &field.input)
    }

    /// Hands blocks over to MPI that lie on a device. `lay_out` comes next.
    #[cold]
    pub fn find_devices(&mut self, fields: &[Buffers], devices: &Devices) -> Result<()> {
        let all = Fields { fields, known: &self.known, freed: self.known[0].freed()?, comm: &self.comm };
        if let Some((folding, _)) = &mut self.folding {
            let others = self.inputs.iter().map(|block| Block::Input(block.entry));
            let sent = others.chain(self.self_edges.iter().map(|edge| Block::Input(edge.0)));
            folding.find_devices(devices, &fields[0], sent)?;
        } else {
            all.find_devices(&mut self.outputs, |field| &field.output, devices)?;
        }
        all.find_devices(sent(&mut self.inputs, self.to_all), |field| &field.input, devices)?;
        self.copies.find_devices(devices)?;
        Ok(())
    }

    /// Finds out what is sent from where, and makes room to pack it.
    pub(super) fn lay_out(&mut self) -> Result<()> {
        let Self { outs, ins, inputs, outputs, to_all, staging, .. } = self;
        let mut end = 0usize;
        for (k, out) in outs.iter_mut().enumerate() {
            let blocks = if *to_all { &inputs[..1] } else { &inputs[out.blocks.clone()] };
            out.bytes = blocks::total(blocks)?;
            out.straight = false;
            out.in_place = match blocks {
                [block] if block.bytes >= IN_PLACE => block.in_place().map(<*mut u8>::cast_const),
                _ => None,
            };
            // a block that goes to all targets is packed once
            if *to_all && k > 0 {
                out.staged = 0;
                continue;
            }
            out.staged = end;
            let needed = if out.in_place.is_some() { 0 } else { header::BYTES.saturating_add(out.bytes) };
            end = (end.checked_add(needed))
                .and_then(|end| end.checked_next_multiple_of(header::BYTES))
                .filter(|&end| isize::try_from(end).is_ok())
                .ok_or(Error::NoMemory { bytes: needed })?;
        }
        for recv in ins {
            let last = if *to_all { recv.blocks.end.min(recv.blocks.start + 1) } else { recv.blocks.end };
            recv.bytes = blocks::total(&outputs[recv.blocks.start..last])?;
        }
        enlarge(staging, end)
    }

    /// Leaks memory of ours that MPI may still access.
    pub(super) fn leave_memory(&mut self) {
        if std::mem::take(&mut self.stuck) {
            std::mem::forget(std::mem::take(&mut self.staging));
            for recv in &mut self.ins {
                std::mem::forget((std::mem::take(&mut recv.buffer), std::mem::take(&mut recv.offer)));
            }
        }
    }
}
