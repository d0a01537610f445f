//! The lists of the parts of messages that stay in their sender's memory, which lie in shared
//! memory.

use std::ops::Range;

use super::channel::{Channels, SMALL_BUFFER};
use crate::util::cast::to_usize;

/// Parts of a message that stays in its sender's memory, at most: a small buffer lists them.
pub const MOST_PARTS: usize = SMALL_BUFFER / size_of::<Part>();

/// A part of a message that stays in its sender's memory: address and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Part {
    pub at: u64,
    pub bytes: u64,
}

impl Channels {
    /// Writes the list of the parts of message `number`, whose cells are free, for its targets.
    /// Returns where it lies.
    pub fn put_parts(&self, targets: &Range<usize>, number: u64, parts: &[Part]) -> u32 {
        let at = self.outbound[targets.start].small_buffer(number);
        // SAFETY: the buffer belongs to the cells, and has room for so many parts.
        unsafe { at.copy_from_nonoverlapping(parts.as_ptr().cast(), size_of_val(&parts[..parts.len().min(MOST_PARTS)])) };
        self.location(at)
    }

    /// Copies a list of `count` parts that another process has named. Returns false if there is
    /// none, or if the parts have not `bytes` bytes in all.
    pub fn parts(&self, location: u64, count: u64, bytes: usize, into: &mut Vec<Part>) -> bool {
        into.clear();
        let (Ok(location), 1..=MOST_PARTS) = (u32::try_from(location), to_usize(count)) else { return false };
        into.resize(to_usize(count), Part::default());
        let length = size_of_val(&into[..]);
        let Some(at) = self.at(location, 0, length) else { return false };
        // SAFETY: so many lie there, which their sender leaves alone until they are released.
        unsafe { into.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(at, length) };
        into.iter().try_fold(0u64, |sum, part| sum.checked_add(part.bytes)) == Some(bytes as u64)
    }
}
