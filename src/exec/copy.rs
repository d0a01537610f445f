//! Copies between two layouts within one process: what serves self edges. And how a block comes
//! into a buffer of bytes, and out of it.
//!
//! What can be flattened is copied straight from one layout to the other, without a buffer. Other
//! blocks are packed by MPI into a buffer that is kept, and unpacked from there. Only blocks that
//! do not fit in the `int` of `MPI_Pack`, or that lie at `MPI_BOTTOM`, travel as a message to the
//! process itself, and those of which `MPI_Pack` leaves bytes out.

use std::sync::{Mutex, PoisonError};

use super::device;
use super::p2p::Large;
use crate::datatype::buffers::{self, Located};
use crate::datatype::layout::Layout;
use crate::error::{Argument, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::device::Devices;
use crate::mpi::{datatype, p2p};

/// A copy that has been checked.
#[derive(Debug, Clone)]
pub struct Copy {
    from: Located,
    into: Located,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Nothing,
    /// So many bytes from the first element's address on.
    Bytes(usize),
    Layouts(Layout, Layout),
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

/// A block's layout, if it can be flattened.
///
/// # Safety
/// The block's datatype must be a datatype.
pub unsafe fn layout(block: &Located, known: &Known) -> Result<Option<Layout>> {
    // SAFETY: the caller vouches for the datatype.
    let map = unsafe { known.typemap(block.datatype) }?;
    Ok(map.and_then(|map| Layout::new(map, usize::try_from(block.count).ok()?)))
}

impl Copy {
    /// Prepares a copy; `known` remembers datatypes between calls. `None` if the two blocks carry
    /// different amounts of bytes.
    ///
    /// # Safety
    /// Both datatypes must be committed.
    pub unsafe fn prepare(from: Located, into: Located, known: &Known, comm: &Comm) -> Result<Option<Copy>> {
        if from.datatype == into.datatype && from.count == into.count {
            // SAFETY: the caller vouches for the datatypes.
            if let Some(size) = unsafe { known.dense(from.datatype) }? {
                let bytes = buffers::length(from.count, size, || Argument::new(buffers::SEND.count))?;
                return Ok(Some(Copy { from, into, how: How::Bytes(bytes) }));
            }
        }
        // SAFETY: the caller vouches for the datatypes.
        unsafe {
            if let (Some(a), Some(b)) = (layout(&from, known)?, layout(&into, known)?) {
                let equal = a.bytes() == b.bytes();
                return Ok(equal.then_some(Copy { from, into, how: How::Layouts(a, b) }));
            }
            let (length, expected) = (bytes(&from)?, bytes(&into)?);
            if length != expected {
                return Ok(None);
            }
            buffers::length(from.count, datatype::size(from.datatype)?, || Argument::new(buffers::SEND.count))?;
            if length == 0 {
                return Ok(Some(Copy { from, into, how: How::Nothing }));
            }
            let packed = datatype::pack_size(from.count, from.datatype, comm)?;
            let other = datatype::pack_size(into.count, into.datatype, comm)?;
            let how = match (packed, other) {
                // an absolute datatype at MPI_BOTTOM: MPICH takes no null address for packing
                _ if from.at.is_null() || into.at.is_null() => How::Message,
                (Some(packed), Some(_)) => How::Pack(packed),
                _ => How::Message,
            };
            Ok(Some(Copy { from, into, how }))
        }
    }

    /// Leaves a copy that has been prepared to MPI, if one of its ends lies on a device.
    ///
    /// # Safety
    /// As for `prepare`.
    pub unsafe fn find_devices(&mut self, devices: &Devices) -> Result<()> {
        // SAFETY: the caller vouches for the datatypes.
        unsafe {
            if device::holds(devices, &self.from)? || device::holds(devices, &self.into)? {
                self.how = How::Message;
            }
        }
        Ok(())
    }

    /// Bytes that it copies, for those who count.
    pub fn bytes(&self) -> u64 {
        // SAFETY: `prepare` was given datatypes; they are asked for while the call runs.
        unsafe { bytes(&self.from) }.map_or(0, |bytes| bytes as u64)
    }

    /// Bytes of buffer that it needs.
    pub fn buffer(&self) -> usize {
        match self.how {
            How::Pack(bytes) => bytes,
            _ => 0,
        }
    }

    /// Does the copy.
    ///
    /// # Safety
    /// `from` must be readable and `into` writable as their blocks say, without overlap.
    pub unsafe fn run(&self, buffer: &mut [u8], me: i32, tag: i32, comm: &Comm) -> Result<()> {
        let (from, into) = (&self.from, &self.into);
        match &self.how {
            How::Nothing => Ok(()),
            How::Bytes(length) => {
                // SAFETY: these bytes are what the blocks occupy. Erroneous programs let them
                // overlap: `copy`, not `copy_nonoverlapping`.
                unsafe { std::ptr::copy(from.at, into.at, *length) };
                Ok(())
            }
            How::Layouts(a, b) => {
                // SAFETY: the caller vouches for the blocks; `prepare` has checked that they are as
                // long.
                unsafe { a.copy(from.at, b, into.at) };
                Ok(())
            }
            How::Pack(_) => {
                // SAFETY: the caller vouches for the blocks; `prepare` has checked that the counts
                // fit in int.
                unsafe {
                    let packed = datatype::pack(from.at, from.count, from.datatype, buffer, comm)?;
                    if (packed as i128) < bytes(from)? {
                        return carry(from, into, me, tag, comm);
                    }
                    datatype::unpack(&buffer[..packed], into.at, into.count, into.datatype, comm)
                }
            }
            // SAFETY: the caller vouches for the blocks.
            How::Message => unsafe { carry(from, into, me, tag, comm) },
        }
    }
}

/// Sends one block to the process itself, into another one.
///
/// # Safety
/// As for `Copy::run`.
unsafe fn carry(from: &Located, into: &Located, me: i32, tag: i32, comm: &Comm) -> Result<()> {
    // two threads must not get each other's
    static CARRYING: Mutex<()> = Mutex::new(());
    let _carrying = CARRYING.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Where a block's data is, and how it comes into a buffer of bytes, and out of it.
#[derive(Debug, Clone)]
pub enum Way {
    /// It lies in order from here on.
    InPlace(*mut u8),
    /// It must be packed and unpacked.
    Through(Passage),
}

impl Way {
    /// The way for a block, and how many bytes each of its elements carries.
    ///
    /// # Safety
    /// Its datatype must be committed.
    pub unsafe fn of(block: &Located, known: &Known, comm: &Comm) -> Result<(Way, i64)> {
        // SAFETY: the caller vouches for the datatype.
        unsafe {
            if let Some(size) = known.dense(block.datatype)? {
                return Ok((Way::InPlace(block.at), size));
            }
            let size = datatype::size(block.datatype)?;
            if size == 0 || block.count == 0 {
                return Ok((Way::InPlace(block.at), size));
            }
            let way = match layout(block, known)? {
                Some(layout) => match layout.contiguous() {
                    Some(offset) => Way::InPlace(block.at.wrapping_offset(offset as isize)),
                    None => Way::Through(Passage::Layout(layout)),
                },
                None => Way::Through(Passage::without_layout(block, comm)?),
            };
            Ok((way, size))
        }
    }

    /// Brings a block into the buffer, which is as long as the block's data.
    ///
    /// # Safety
    /// The block must be readable; the way must be its.
    pub unsafe fn pack(&self, block: &Located, buffer: &mut [u8], me: i32, tag: i32, comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the block.
        unsafe {
            match self {
                _ if buffer.is_empty() => Ok(()),
                Way::InPlace(from) => {
                    from.copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len());
                    Ok(())
                }
                Way::Through(passage) => passage.pack(block, buffer, me, tag, comm),
            }
        }
    }

    /// Brings a block of `length` bytes of data out of the buffer. A shorter buffer fills the
    /// block's beginning.
    ///
    /// # Safety
    /// The block must be writable; the way must be its, and the buffer not longer than its data.
    pub unsafe fn unpack(&self, buffer: &mut [u8], block: &Located, length: usize, me: i32, tag: i32, comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the block.
        unsafe {
            match self {
                _ if buffer.is_empty() => Ok(()),
                Way::InPlace(into) => {
                    into.copy_from_nonoverlapping(buffer.as_ptr(), buffer.len());
                    Ok(())
                }
                // MPI says how a block is filled that is longer than what comes
                Way::Through(Passage::Pack) if buffer.len() < length => Passage::Message.unpack(buffer, block, me, tag, comm),
                Way::Through(passage) => passage.unpack(buffer, block, me, tag, comm),
            }
        }
    }
}

/// How a block whose data is not in order comes into a buffer of bytes, and out of it.
#[derive(Debug, Clone)]
pub enum Passage {
    /// By loops over its runs.
    Layout(Layout),
    /// `MPI_Pack` and `MPI_Unpack`: what cannot be flattened.
    Pack,
    /// A message to the process itself: what is too long for `MPI_Pack`, or lies at `MPI_BOTTOM`,
    /// where MPICH takes no null address for packing.
    Message,
}

impl Passage {
    /// The passage for a block that cannot be flattened.
    ///
    /// # Safety
    /// Its datatype must be committed.
    pub unsafe fn without_layout(block: &Located, comm: &Comm) -> Result<Passage> {
        // SAFETY: the caller vouches for the datatype.
        let fits = !block.at.is_null() && unsafe { datatype::pack_size(block.count, block.datatype, comm) }?.is_some();
        Ok(if fits { Passage::Pack } else { Passage::Message })
    }

    /// Brings a block into the buffer, which is as long as the block's data.
    ///
    /// # Safety
    /// The block must be readable; the passage must be its.
    pub unsafe fn pack(&self, block: &Located, buffer: &mut [u8], me: i32, tag: i32, comm: &Comm) -> Result<()> {
        match self {
            Passage::Layout(layout) => {
                // SAFETY: the caller vouches for the block, whose data is as long as the buffer.
                unsafe { layout.pack_part(block.at, 0, buffer.len(), buffer.as_mut_ptr()) };
                Ok(())
            }
            Passage::Pack => {
                // SAFETY: the caller vouches for the block; its packed length fits in int.
                let length = unsafe { datatype::pack(block.at, block.count, block.datatype, buffer, comm) }?;
                if length == buffer.len() {
                    return Ok(());
                }
                // SAFETY: as above.
                unsafe { carry(block, &bytes_of(buffer), me, tag, comm) }
            }
            // SAFETY: as above.
            Passage::Message => unsafe { carry(block, &bytes_of(buffer), me, tag, comm) },
        }
    }

    /// Brings a block out of the buffer, which is as long as the block's data; where there is a
    /// layout, not longer.
    ///
    /// # Safety
    /// The block must be writable; the passage must be its.
    pub unsafe fn unpack(&self, buffer: &mut [u8], block: &Located, me: i32, tag: i32, comm: &Comm) -> Result<()> {
        match self {
            Passage::Layout(layout) => {
                // SAFETY: the caller vouches for the block, whose data is not shorter than the
                // buffer.
                unsafe { layout.unpack_part(buffer.as_ptr(), 0, buffer.len(), block.at) };
                Ok(())
            }
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
