//! Binds a call: finds and checks the caller's blocks.

use super::state::Forward;
use crate::datatype::buffers::{self, Buffers, Located};
use crate::datatype::check::self_edge;
use crate::datatype::copy::BlockCopy;
use crate::datatype::pack::Packing;
use crate::error::Result;
use crate::exec::device::refuse;
use crate::mpi::datatype;
use crate::mpi::device::Devices;
use crate::schedule::{Block, Op};
use crate::util::cast::to_int;

impl Forward {
    /// Finds and checks all of the caller's blocks.
    pub(super) fn bind_blocks(&mut self, buffers: &Buffers) -> Result<()> {
        for own in &mut self.own {
            let side = if let Block::Input(_) = own.block { &buffers.input } else { &buffers.output };
            let entry = own.block.index();
            let located = side.bind(entry, &mut own.accepted, &self.comm)?;
            let argument = || side.count_argument(entry);
            let (packing, size) = Packing::of(&located, &own.known, &self.comm)?;
            own.length = buffers::length(located.count, size, argument)?;
            own.packing = packing;
            if own.direct {
                // a process that passes the block on sends its bytes
                let whole = match own.packing {
                    Packing::InPlace(at) => Located { at, count: to_int(own.length), datatype: datatype::byte() },
                    _ => located,
                };
                // SAFETY: `large` lives, and is cleared only by the next `bind`.
                unsafe { self.large.fill(&mut own.message, &whole, argument) }?;
            }
            own.located = located;
        }
        Ok(())
    }

    /// Fails if a block that was just bound lies in device memory.
    #[cold]
    pub fn refuse_devices(&self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        let why = || {
            let name = self.schedule.algorithm().name();
            format!(
                "the schedule {name} passes blocks on in the memory of the host; mpix_schedule=direct sends them from where they are"
            )
        };
        refuse(devices, buffers, self.own.iter().map(|own| own.block), why)
    }

    pub(super) fn bind_copies(&mut self) -> Result<()> {
        for op in self.schedule.ops() {
            let Op::Copy { from, into } = *op else { continue };
            let (source, target) = (self.own(from).located, self.own(into).located);
            let Some(copy) = BlockCopy::prepare(source, target, &self.known, &self.comm)? else {
                return Err(self_edge(from.index(), &source, into.index(), &target)?.into());
            };
            self.copies.add(copy)?;
        }
        Ok(())
    }
}
