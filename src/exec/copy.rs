//! Copies between two layouts within one process: what serves self edges.
//!
//! Equal layouts without holes are copied as bytes; others are packed into a buffer that is kept, and unpacked from there. Only blocks
//! that do not fit in the `int` of `MPI_Pack`, or that lie at `MPI_BOTTOM`, travel as a message to the process itself.

use super::buffers::Located;
use super::p2p::Large;
use crate::error::{Argument, Error, Result};
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
            // SAFETY: the caller vouches for the blocks.
            Way::Message => unsafe { carry(from, into, me, tag, comm) },
        }
    }
}

/// Sends one block to the process itself, into another one.
///
/// # Safety
/// As for `Copy::run`.
unsafe fn carry(from: &Located, into: &Located, me: i32, tag: i32, comm: &Comm) -> Result<()> {
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

/// How a block comes into a buffer of bytes, and out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// `MPI_Pack` and `MPI_Unpack`.
    Pack,
    /// A message to the process itself: what is too long for `MPI_Pack`, or lies at `MPI_BOTTOM`, where MPICH takes no null address for packing.
    Message,
}

impl Passage {
    /// The way for a block.
    ///
    /// # Safety
    /// Its datatype must be committed.
    pub unsafe fn choose(block: &Located, comm: &Comm) -> Result<Passage> {
        // SAFETY: the caller vouches for the datatype.
        let fits = !block.at.is_null() && unsafe { datatype::pack_size(block.count, block.datatype, comm) }?.is_some();
        Ok(if fits { Passage::Pack } else { Passage::Message })
    }

    /// Brings a block into the buffer, which is as long as the block's data.
    ///
    /// # Safety
    /// The block must be readable; `choose` must have chosen for it.
    pub unsafe fn pack(self, block: &Located, buffer: &mut [u8], me: i32, tag: i32, comm: &Comm) -> Result<()> {
        match self {
            Passage::Pack => {
                // SAFETY: the caller vouches for the block; its packed length fits in int.
                let length = unsafe { datatype::pack(block.at, block.count, block.datatype, buffer, comm) }?;
                if length != buffer.len() {
                    let text =
                        format!("MPI packs {} bytes of data as {length}, so that they cannot be sent in parts", buffer.len());
                    return Err(Error::Internal(text).into());
                }
                Ok(())
            }
            // SAFETY: as above.
            Passage::Message => unsafe { carry(block, &bytes_of(buffer), me, tag, comm) },
        }
    }

    /// Brings a block out of the buffer, which is as long as the block's data.
    ///
    /// # Safety
    /// The block must be writable; `choose` must have chosen for it.
    pub unsafe fn unpack(self, buffer: &mut [u8], block: &Located, me: i32, tag: i32, comm: &Comm) -> Result<()> {
        match self {
            // SAFETY: the caller vouches for the block; its packed length fits in int.
            Passage::Pack => unsafe { datatype::unpack(buffer, block.at, block.count, block.datatype, comm) },
            // SAFETY: as above.
            Passage::Message => unsafe { carry(&bytes_of(buffer), block, me, tag, comm) },
        }
    }
}

/// A buffer as a block of bytes.
fn bytes_of(buffer: &mut [u8]) -> Located {
    Located { at: buffer.as_mut_ptr(), count: buffer.len() as i64, datatype: datatype::byte() }
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
