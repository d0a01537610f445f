//! The blocks of a call that are combined with what is in their places.

use std::ops::Range;

use super::block::{Block, Tools};
use crate::datatype::buffers::{Blocks, enlarge};
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::Result;
use crate::exec::scratch::Scratch;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{Op, op};
use crate::util::memory::LINE;

/// The blocks that a process receives, in the order of their sources, and the memory that combining
/// them takes. Nothing is allocated once the longest blocks have been seen.
pub struct Accumulation {
    blocks: Vec<Block>,
    packed: Vec<u8>,
    scratch: Scratch,
}

impl Accumulation {
    /// The blocks of some entries in the list of sources; not bound.
    pub fn new(sources: impl Iterator<Item = u32>) -> Accumulation {
        Accumulation { blocks: sources.map(Block::new).collect(), packed: Vec::new(), scratch: Scratch::default() }
    }

    /// Binds the blocks' places, and checks operator and datatypes.
    pub fn bind(&mut self, op: Op, side: &Blocks, known: &Known, comm: &Comm, self_comm: &Comm) -> Result<()> {
        if self.blocks.is_empty() {
            // without sources, the operator is not significant
            return Ok(());
        }
        // asked each time: the handle of a freed operator may come back as another one
        let commutes = op.kind() != op::Kind::User || op.commutes()?;
        let mut packed = 0;
        for block in &mut self.blocks {
            block.bind((op, commutes), side, known, comm, self_comm)?;
            let (room_packed, room) = block.needs();
            packed = packed.max(room_packed);
            if let Some(room) = room {
                self.scratch.hold(room, 2)?;
            }
        }
        enlarge(&mut self.packed, packed + LINE)
    }

    /// Returns the bytes of the block at a position.
    pub fn bytes(&self, position: usize) -> usize {
        self.blocks[position].bytes()
    }

    /// Returns the bytes of an element of the block at a position, if it can be combined in parts
    /// of whole elements.
    pub fn element(&self, position: usize) -> Option<usize> {
        self.blocks[position].element()
    }

    /// Combines received data with the block at a position.
    ///
    /// # Safety
    /// The block must be writable as bound, and `data` readable for its bytes.
    pub unsafe fn combine(&mut self, position: usize, data: *const u8, known: &Known, loopback: Loopback) -> Result<()> {
        // SAFETY: the caller vouches for block and data.
        unsafe { self.combine_part(position, 0..self.bytes(position), data, known, loopback) }
    }

    /// Combines received data with bytes `part` of the block at a position, all of it or whole
    /// elements of one that can be combined in parts.
    ///
    /// # Safety
    /// The block must be writable as bound, and `data` readable for so many bytes.
    pub unsafe fn combine_part(
        &mut self,
        position: usize,
        part: Range<usize>,
        data: *const u8,
        known: &Known,
        loopback: Loopback,
    ) -> Result<()> {
        let skipped = self.packed.as_ptr().align_offset(LINE);
        let mut tools = Tools { scratch: &mut self.scratch, packed: &mut self.packed[skipped..], known, loopback };
        // SAFETY: the caller vouches for block and data.
        unsafe { self.blocks[position].combine(part, data, &mut tools) }
    }

    /// Forgets which operator and datatypes MPI has accepted.
    pub fn forget_datatypes(&mut self) {
        self.blocks.iter_mut().for_each(Block::forget_datatypes);
    }
}
