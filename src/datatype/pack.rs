//! Packs a block into a buffer of contiguous bytes and unpacks it: the packer of the executors and
//! of sparse exchanges.

use super::buffers::Located;
use super::known::Known;
use super::large::Large;
use super::layout::Layout;
use crate::error::{Argument, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::message::{Message, exchange_with_self, packed};
use crate::util::cast::{to_int, to_offset, to_usize};

/// Rank, tag and communicator of the messages to the process itself that pack what nothing else
/// can.
#[derive(Clone, Copy)]
pub struct Loopback<'a> {
    /// Rank of this process.
    pub me: i32,
    /// Tag of the messages.
    pub tag: i32,
    /// A communicator on which nobody else uses that tag.
    pub comm: &'a Comm,
}

/// How the data of a block is packed.
#[derive(Debug, Clone)]
pub enum Packing {
    /// Not at all: it lies in order from this address on.
    InPlace(*mut u8),
    /// By loops over its runs.
    Layout(Layout),
    /// By `MPI_Pack` and `MPI_Unpack`: the datatype has no typemap.
    Pack,
    /// By a message of the process to itself: the block is too long for `MPI_Pack`, lies on a
    /// device, or lies at `MPI_BOTTOM`, where MPICH takes no null address for packing.
    Message,
}

impl Packing {
    /// Returns the packing of a block, and how many bytes each of its elements carries.
    pub fn of(block: &Located, known: &Known, comm: &Comm) -> Result<(Packing, i64)> {
        if let Some(size) = known.dense(block.datatype)? {
            return Ok((Packing::InPlace(block.at), size));
        }
        let size = block.datatype.size()?;
        if size == 0 || block.count == 0 {
            return Ok((Packing::InPlace(block.at), size));
        }
        let packing = match layout(block, known)? {
            Some(layout) => match layout.contiguous() {
                Some(offset) => Packing::InPlace(block.at.wrapping_offset(to_offset(offset))),
                None => Packing::Layout(layout),
            },
            None => Packing::without_layout(block, comm)?,
        };
        Ok((packing, size))
    }

    /// Returns the packing of a block whose datatype has no typemap.
    pub fn without_layout(block: &Located, comm: &Comm) -> Result<Packing> {
        let fits = !block.at.is_null() && block.datatype.pack_size(block.count, comm)?.is_some();
        Ok(if fits { Packing::Pack } else { Packing::Message })
    }

    /// Returns true if the data need not be packed.
    #[inline]
    pub fn is_in_place(&self) -> bool {
        matches!(self, Packing::InPlace(_))
    }

    /// Packs a block into the buffer, which is as long as the block's data.
    ///
    /// # Safety
    /// The block must be readable, and `self` be its packing.
    pub unsafe fn pack(&self, block: &Located, buffer: &mut [u8], loopback: Loopback) -> Result<()> {
        // SAFETY: the caller vouches for the block, whose data is as long as the buffer. Where MPI
        // packs it, its packed length fits in int.
        unsafe {
            match self {
                _ if buffer.is_empty() => Ok(()),
                Packing::InPlace(from) => {
                    from.copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len());
                    Ok(())
                }
                Packing::Layout(layout) => {
                    layout.pack_part(block.at, 0, buffer.len(), buffer.as_mut_ptr());
                    Ok(())
                }
                Packing::Pack => {
                    let length = datatype::pack(block.at, block.count, block.datatype, buffer, loopback.comm)?;
                    if length == buffer.len() {
                        return Ok(());
                    }
                    send_to_self(block, &bytes_at(buffer.as_mut_ptr(), buffer.len()), loopback)
                }
                Packing::Message => send_to_self(block, &bytes_at(buffer.as_mut_ptr(), buffer.len()), loopback),
            }
        }
    }

    /// Unpacks the buffer, which is as long as the block's data, into a block.
    ///
    /// # Safety
    /// The block must be writable, and `self` be its packing; the buffer must not be longer than
    /// the block's data.
    pub unsafe fn unpack(&self, buffer: &[u8], block: &Located, loopback: Loopback) -> Result<()> {
        // SAFETY: the caller vouches for the block, whose data is not shorter than the buffer.
        // Where MPI unpacks it, its packed length fits in int.
        unsafe {
            match self {
                _ if buffer.is_empty() => Ok(()),
                Packing::InPlace(into) => {
                    into.copy_from_nonoverlapping(buffer.as_ptr(), buffer.len());
                    Ok(())
                }
                Packing::Layout(layout) => {
                    layout.unpack_part(buffer.as_ptr(), 0, buffer.len(), block.at);
                    Ok(())
                }
                Packing::Pack => datatype::unpack(buffer, block.at, block.count, block.datatype, loopback.comm),
                // a message only reads what it sends
                Packing::Message => send_to_self(&bytes_at(buffer.as_ptr().cast_mut(), buffer.len()), block, loopback),
            }
        }
    }

    /// Unpacks the buffer into the beginning of a block that has `length` bytes of data, at least
    /// as many as the buffer.
    ///
    /// # Safety
    /// As for [`unpack`](Packing::unpack).
    pub unsafe fn unpack_front(&self, buffer: &[u8], block: &Located, length: usize, loopback: Loopback) -> Result<()> {
        // SAFETY: the caller vouches for the block.
        unsafe {
            match self {
                // only a message may be shorter than what receives it
                Packing::Pack if buffer.len() < length => Packing::Message.unpack(buffer, block, loopback),
                packing => packing.unpack(buffer, block, loopback),
            }
        }
    }
}

/// Returns a block's layout, if its datatype has a typemap.
pub fn layout(block: &Located, known: &Known) -> Result<Option<Layout>> {
    let map = known.typemap(block.datatype)?;
    Ok(map.and_then(|map| Layout::new(map, usize::try_from(block.count).ok()?)))
}

/// Sends one block as a message of the process to itself, into another block.
///
/// # Safety
/// As for [`Packing::pack`].
pub(super) unsafe fn send_to_self(from: &Located, into: &Located, loopback: Loopback) -> Result<()> {
    let mut large = Large::default();
    let message = || Message { at: from.at, count: 0, datatype: from.datatype, peer: loopback.me };
    let (mut send, mut recv) = (message(), message());
    // SAFETY: the caller vouches for the blocks; `large` outlives the exchange.
    unsafe {
        large.fill(&mut send, from, || Argument::new("sendcount"))?;
        large.fill(&mut recv, into, || Argument::new("recvcount"))?;
        exchange_with_self(&send, &recv, loopback.tag, loopback.comm)
    }
}

/// Returns bytes as a block.
fn bytes_at(at: *mut u8, bytes: usize) -> Located {
    Located { at, count: to_int(bytes), datatype: packed() }
}

/// Tag of the messages to itself that [`pack_by_mpi`] and [`unpack_by_mpi`] send.
const OWN_TAG: i32 = 0;

/// Returns how MPI alone packs and unpacks a block: by `MPI_Pack` and `MPI_Unpack` if lengths fit
/// in `int`, and the block is not at `MPI_BOTTOM`, from where MPICH packs nothing; else, and
/// `on_device`, by messages.
fn by_mpi<'c>(block: &Located, bytes: usize, on_device: bool, comm: &'c Comm) -> Result<(Packing, Loopback<'c>)> {
    let fits = i32::try_from(bytes).is_ok() && i32::try_from(block.count).is_ok() && !block.at.is_null();
    let packing = if fits && !on_device { Packing::Pack } else { Packing::Message };
    Ok((packing, Loopback { me: to_int(comm.rank()?), tag: OWN_TAG, comm }))
}

/// Packs a block of any datatype by MPI alone; the buffer is as long as the block's data. A block
/// `on_device` travels as a message.
///
/// # Safety
/// The block must be readable, and its datatype committed.
pub unsafe fn pack_by_mpi(block: &Located, buffer: &mut [u8], on_device: bool, comm: &Comm) -> Result<()> {
    let (packing, loopback) = by_mpi(block, buffer.len(), on_device, comm)?;
    // SAFETY: the caller vouches for the block.
    unsafe { packing.pack(block, buffer, loopback) }
}

/// Unpacks `bytes` bytes into a block of any datatype by MPI alone. A block `on_device` travels as
/// a message.
///
/// # Safety
/// The bytes must be readable, the block writable, and its datatype committed.
pub unsafe fn unpack_by_mpi(from: *const u8, bytes: u64, block: &Located, on_device: bool, comm: &Comm) -> Result<()> {
    let bytes = to_usize(bytes);
    let (packing, loopback) = by_mpi(block, bytes, on_device, comm)?;
    // SAFETY: the caller vouches for both ends.
    unsafe { packing.unpack(std::slice::from_raw_parts(from, bytes), block, loopback) }
}
