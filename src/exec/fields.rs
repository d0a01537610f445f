//! Binds the blocks of messages, and those of self edges, to the fields of a call: one, or several
//! that are exchanged together.

use crate::datatype::buffers::{Blocks, Buffers};
use crate::datatype::check::{accept, refuse_null, self_edge};
use crate::datatype::copy::{BlockCopy, OwnCopies};
use crate::datatype::known::Known;
use crate::error::Result;
use crate::exec::blocks::MessageBlock;
use crate::mpi::Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device::Devices;
use crate::schedule::Block;

/// The blocks that are sent: the first one, if all targets get the same.
#[inline(always)]
pub fn sent(blocks: &mut [MessageBlock], to_all: bool) -> &mut [MessageBlock] {
    let end = if to_all { blocks.len().min(1) } else { blocks.len() };
    &mut blocks[..end]
}

/// The fields of a call, and what blocks are bound with.
pub struct Fields<'a, 'b> {
    /// The fields.
    pub fields: &'a [Buffers<'b>],
    /// Facts about the datatypes of each.
    pub known: &'a [Known],
    /// As for [`MessageBlock::bind`].
    pub freed: u64,
    /// The private communicator.
    pub comm: &'a Comm,
}

impl<'b> Fields<'_, 'b> {
    /// Binds blocks, each to one side of its field.
    #[inline(always)]
    pub fn bind(&self, blocks: &mut [MessageBlock], side: impl for<'f> Fn(&'f Buffers<'b>) -> &'f Blocks<'b>) -> Result<()> {
        for block in blocks {
            let field = block.field as usize;
            block.bind(side(&self.fields[field]), &self.known[field], self.freed, self.comm)?;
        }
        Ok(())
    }

    /// Hands blocks over to MPI that have just been bound, and that lie on a device.
    #[cold]
    pub fn find_devices(
        &self,
        blocks: &mut [MessageBlock],
        side: impl for<'f> Fn(&'f Buffers<'b>) -> &'f Blocks<'b>,
        devices: &Devices,
    ) -> Result<()> {
        for block in blocks {
            let field = block.field as usize;
            block.find_device(devices, side(&self.fields[field]), &self.known[field], self.freed, self.comm)?;
        }
        Ok(())
    }

    /// Binds the copies of self edges, (target entry, source entry), in all fields. `accepted`: the
    /// datatypes of both sides that MPI accepted last.
    pub fn bind_copies(
        &self,
        self_edges: &[(u32, u32)],
        accepted: &mut [Option<Datatype>; 2],
        copies: &mut OwnCopies,
    ) -> Result<()> {
        for (field, known) in self.fields.iter().zip(self.known) {
            for &(target, source) in self_edges {
                let (from, into) = (field.input.locate(target as usize)?, field.output.locate(source as usize)?);
                accept(&mut accepted[0], from.datatype, &field.input, target as usize, self.comm)?;
                accept(&mut accepted[1], into.datatype, &field.output, source as usize, self.comm)?;
                refuse_null(&from, &field.input)?;
                refuse_null(&into, &field.output)?;
                let Some(copy) = BlockCopy::prepare(from, into, known, self.comm)? else {
                    let (from_block, into_block) = (Block::Input(target), Block::Output(source));
                    return Err(self_edge(from_block.index(), &from, into_block.index(), &into)?.into());
                };
                copies.add(copy)?;
            }
        }
        Ok(())
    }
}
