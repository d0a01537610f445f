//! The memory of a batch: the process's own, or a buffer that the target reads where it is, so that
//! nothing is copied when the batch is sent.

// the half without MPI shares no memory
#![cfg_attr(not(feature = "mpi"), allow(dead_code))]

use std::alloc::{Layout, alloc_zeroed};
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, slice_from_raw_parts_mut};

use crate::error::{Error, Result};

/// Bytes that only their holder uses.
#[derive(Debug)]
pub struct Storage {
    at: NonNull<u8>,
    length: usize,
    place: Place,
}

/// Where a batch is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the process's own memory.
    Own,
    /// There, too, to be copied to a buffer of the rings when it is sent: by streaming stores, or
    /// by ordinary ones.
    Copied { streams: bool },
    /// In a buffer of the rings, by its number.
    Buffer(u32),
}

// SAFETY: as for a box of bytes; `shared` has its maker vouch for a buffer.
unsafe impl Send for Storage {}

impl Storage {
    /// Memory of the process's own, one byte or more.
    pub fn own(length: usize) -> Result<Storage> {
        assert!(length > 0, "a batch has a header");
        let no_memory = || Error::NoMemory { bytes: length };
        let layout = Layout::array::<u8>(length).map_err(|_| no_memory())?;
        // SAFETY: some bytes are asked for.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(no_memory)?;
        Ok(Storage { at, length, place: Place::Own })
    }

    /// The same memory, which must be the process's own, to be copied to a buffer.
    pub fn copied(mut self, streams: bool) -> Storage {
        assert!(!matches!(self.place, Place::Buffer(_)), "a buffer is not copied to another one");
        self.place = Place::Copied { streams };
        self
    }

    /// A buffer, which goes back to its owner by its number.
    ///
    /// # Safety
    /// It must be initialized, there, and used by nobody else as long as this is used.
    pub unsafe fn shared(at: NonNull<u8>, length: usize, buffer: u32) -> Storage {
        Storage { at, length, place: Place::Buffer(buffer) }
    }

    /// Returns where it is.
    #[inline]
    pub fn place(&self) -> Place {
        self.place
    }
}

impl Deref for Storage {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are there, and nobody else uses them.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.length) }
    }
}

impl DerefMut for Storage {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.length) }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if !matches!(self.place, Place::Buffer(_)) {
            // SAFETY: `own` has it from the allocator that boxes have.
            drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(self.at.as_ptr(), self.length)) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_stays_where_it_is() {
        let mut memory = [7_u8; 40];
        let at = NonNull::from(&mut memory[8..]).cast();
        // SAFETY: nobody else uses the memory meanwhile.
        let mut buffer = unsafe { Storage::shared(at, 24, 3) };
        assert_eq!((buffer.place(), buffer.len(), buffer[23]), (Place::Buffer(3), 24, 7));
        buffer[0] = 1;
        drop(buffer);
        assert_eq!((memory[7], memory[8], memory[9]), (7, 1, 7));
        let mut own = Storage::own(5).unwrap();
        own[4] = 9;
        assert_eq!((own.place(), &own[..]), (Place::Own, &[0, 0, 0, 0, 9][..]));
        let own = own.copied(true);
        assert_eq!((own.place(), &own[..]), (Place::Copied { streams: true }, &[0, 0, 0, 0, 9][..]));
    }
}
