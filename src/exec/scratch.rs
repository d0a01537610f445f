//! Memory for blocks of our own that are laid out like a caller's block, for operators, which read
//! and write elements where they lie.

use crate::datatype::buffers::{self, Located, enlarge};
use crate::error::{Argument, Result};
use crate::util::cast::{to_int, to_usize};
use crate::util::memory::LINE;

/// The room that a block takes, from its lowest byte to its highest.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Bytes, rounded up to whole cache lines.
    length: usize,
    /// Distance from the beginning of the room to the first element, which a negative extent, or a
    /// datatype of absolute addresses, puts elsewhere.
    before: i64,
}

impl Room {
    /// Returns the room of a block whose datatype has this extent. `argument` names the count.
    ///
    /// # Errors
    /// The block exceeds the address range.
    pub fn of(block: &Located, extent: i64, argument: impl Fn() -> Argument) -> Result<Room> {
        let (true_lb, true_extent) = block.datatype.true_extent()?;
        let steps = buffers::steps(block.count, extent, &argument)?;
        let length = to_usize(steps.unsigned_abs()) + buffers::length(1, true_extent, &argument)?;
        let lowest = true_lb + steps.min(0);
        // align the address that the operator gets, not the beginning of the room
        let before = lowest.rem_euclid(to_int(LINE)) - lowest;
        Ok(Room { length: length.next_multiple_of(LINE) + LINE, before })
    }
}

/// Memory for a few blocks, each in a room of its own.
#[derive(Debug, Default)]
pub struct Scratch {
    memory: Vec<u8>,
    stride: usize,
}

impl Scratch {
    /// Makes room for `blocks` blocks. What is there is lost.
    ///
    /// # Errors
    /// There is no memory.
    pub fn hold(&mut self, room: Room, blocks: usize) -> Result<()> {
        self.stride = self.stride.max(room.length);
        let needed = self.stride.saturating_mul(blocks).saturating_add(LINE);
        enlarge(&mut self.memory, needed)
    }

    /// Returns where blocks lie that have such a room, until more room is made.
    pub fn places(&mut self, room: Room) -> Places {
        let aligned = self.memory.as_ptr().align_offset(LINE);
        let first = self.memory.as_mut_ptr().wrapping_add(aligned).wrapping_offset(to_int(room.before));
        Places { first, stride: self.stride }
    }

    /// Leaks the memory: MPI may still write it.
    pub fn lose(&mut self) {
        std::mem::forget(std::mem::take(&mut self.memory));
    }
}

/// Where blocks lie in their rooms.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    first: *mut u8,
    stride: usize,
}

impl Places {
    /// None.
    pub const NONE: Places = Places { first: std::ptr::null_mut(), stride: 0 };

    /// Returns the address of block `k`'s first element.
    pub fn at(&self, k: usize) -> *mut u8 {
        self.first.wrapping_add(self.stride * k)
    }
}
