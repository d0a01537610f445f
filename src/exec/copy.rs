//! Copies between two layouts within one process: what serves self edges.
//!
//! Equal layouts without holes are copied as bytes; others are packed into a buffer that is kept, and unpacked from there. Only blocks
//! that do not fit in the `int` of `MPI_Pack`, or that lie at `MPI_BOTTOM`, travel as a message to the process itself.

use super::buffers::Located;
use super::p2p::Large;
use crate::error::{Argument, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::{datatype, p2p};

/// A copy that has been checked.
#[derive(Debug, Clone, Copy)]
pub struct Copy {
    from: Located,
    into: Located,
    way: Way,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Nothing,
    /// Bytes `offset .. offset + length` from the first element's address.
    Bytes {
        offset: i64,
        length: usize,
    },
    /// Through this many bytes of a buffer.
    Pack(usize),
    Message,
}

/// Bytes that a block carries.
///
/// # Safety
/// The block's datatype must be a datatype.
pub unsafe fn bytes(block: &Located) -> Result<i128> {
    // SAFETY: the caller vouches for the datatype.
    Ok(i128::from(block.count) * i128::from(unsafe { datatype::size(block.datatype) }?))
}

impl Copy {
    /// Prepares a copy; `known` remembers a datatype between calls. `None` if the two blocks carry different amounts of bytes.
    ///
    /// # Safety
    /// Both datatypes must be committed.
    pub unsafe fn prepare(from: Located, into: Located, known: &Known, comm: &Comm) -> Result<Option<Copy>> {
        if from.datatype == into.datatype && from.count == into.count {
            // SAFETY: the caller vouches for the datatypes.
            if let Some(size) = unsafe { known.dense(from.datatype) }? {
                return Ok(Some(Copy { from, into, way: Way::Bytes { offset: 0, length: (size * from.count) as usize } }));
            }
        }
        // SAFETY: the caller vouches for the datatypes.
        let (length, expected) = unsafe { (bytes(&from)?, bytes(&into)?) };
        if length != expected {
            return Ok(None);
        }
        if length == 0 {
            return Ok(Some(Copy { from, into, way: Way::Nothing }));
        }
        // SAFETY: as above.
        if let Some((offset, length)) = unsafe { dense(&from, &into) }? {
            return Ok(Some(Copy { from, into, way: Way::Bytes { offset, length } }));
        }
        // SAFETY: as above.
        let (packed, other) = unsafe {
            (datatype::pack_size(from.count, from.datatype, comm)?, datatype::pack_size(into.count, into.datatype, comm)?)
        };
        let way = match (packed, other) {
            // an absolute datatype at MPI_BOTTOM: MPICH takes no null address for packing
            _ if from.at.is_null() || into.at.is_null() => Way::Message,
            (Some(packed), Some(_)) => Way::Pack(packed),
            _ => Way::Message,
        };
        Ok(Some(Copy { from, into, way }))
    }

    /// Bytes of buffer that it needs.
    pub fn buffer(&self) -> usize {
        match self.way {
            Way::Pack(bytes) => bytes,
            _ => 0,
        }
    }

    /// Does the copy.
    ///
    /// # Safety
    /// `from` must be readable and `into` writable as their blocks say, without overlap.
    pub unsafe fn run(&self, buffer: &mut [u8], me: i32, tag: i32, comm: &Comm) -> Result<()> {
        let (from, into) = (&self.from, &self.into);
        match self.way {
            Way::Nothing => Ok(()),
            Way::Bytes { offset, length } => {
                let offset = offset as isize;
                // SAFETY: these bytes are what the blocks occupy. Erroneous programs let them overlap: `copy`, not
                // `copy_nonoverlapping`.
                unsafe { std::ptr::copy(from.at.wrapping_offset(offset), into.at.wrapping_offset(offset), length) };
                Ok(())
            }
            Way::Pack(_) => {
                // SAFETY: the caller vouches for the blocks; `prepare` has checked that the counts fit in int.
                unsafe {
                    let packed = datatype::pack(from.at, from.count, from.datatype, buffer, comm)?;
                    datatype::unpack(&buffer[..packed], into.at, into.count, into.datatype, comm)
                }
            }
            Way::Message => {
                let mut large = Large::default();
                let message = || p2p::Message { at: from.at, count: 0, datatype: from.datatype, peer: me };
                let (mut send, mut recv) = (message(), message());
                // SAFETY: the caller vouches for the blocks; `large` outlives the exchange.
                unsafe {
                    large.fill(&mut send, from, || Argument::new("sendcount"))?;
                    large.fill(&mut recv, into, || Argument::new("recvcount"))?;
                    p2p::exchange_with_self(&send, &recv, tag, comm)
                }
            }
        }
    }
}

/// The bytes that both blocks occupy, if they have the same layout and it has no holes. With one datatype at both ends that needs no look
/// inside: where size and true extent are equal, no byte is left out, as no type that is received may name a byte twice.
///
/// # Safety
/// Both datatypes must be datatypes.
unsafe fn dense(from: &Located, into: &Located) -> Result<Option<(i64, usize)>> {
    if from.datatype != into.datatype {
        return Ok(None);
    }
    // SAFETY: the caller vouches for the datatype.
    let (size, extent, (true_lb, true_extent)) =
        unsafe { (datatype::size(from.datatype)?, datatype::extent(from.datatype)?, datatype::true_extent(from.datatype)?) };
    let dense = size == true_extent && (size == extent || from.count == 1);
    Ok(dense.then_some((true_lb, (size * from.count) as usize)))
}
