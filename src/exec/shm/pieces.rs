//! The blocks that travel between two processes in one message, one behind the other: how each
//! comes into the message and out of it.

use std::ops::Range;

use crate::datatype::buffers::{self, Blocks, Located, Shape};
use crate::datatype::layout::Layout;
use crate::error::{Error, Result};
use crate::exec::copy::{Passage, layout};
use crate::exec::device;
use crate::exec::p2p::{accept, refuse_null};
use crate::mpi::MPI_Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Known};
use crate::mpi::device::Devices;
use crate::mpi::message;

/// What messages of a process to itself, which pack what nothing else can, are sent with.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    pub me: i32,
    pub tag: i32,
    pub comm: &'a Comm,
}

/// How the data of a block comes into a message and out of it.
#[derive(Debug)]
enum How {
    /// It lies behind one another, so far from the block's address.
    InPlace(isize),
    Layout(Layout),
    /// By MPI alone.
    Passage(Passage),
}

/// A block.
pub struct Piece {
    /// Of which field, and of which slot.
    pub field: u32,
    pub slot: u32,
    /// In a call: the address of its first element.
    at: *mut u8,
    /// Bytes of data.
    pub bytes: usize,
    count: i64,
    how: How,
    accepted: Option<MPI_Datatype>,
    /// What is known of the datatype holds as long as none has been freed.
    freed: u64,
    /// True if its data lies in device memory.
    device: bool,
}

impl Piece {
    pub fn new(field: usize, slot: u32) -> Piece {
        let (at, how) = (std::ptr::null_mut(), How::InPlace(0));
        Piece { field: field as u32, slot, at, bytes: 0, count: 0, how, accepted: None, freed: 0, device: false }
    }

    /// Leaves a block that has just been bound to MPI, where it lies on a device.
    ///
    /// # Safety
    /// As for `bind`.
    pub unsafe fn find_device(&mut self, devices: &Devices, side: &Blocks, known: &Known, freed: u64, comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the datatype, which has been accepted.
        unsafe {
            let is = device::holds(devices, &self.block())?;
            let was = std::mem::replace(&mut self.device, is);
            if self.device {
                self.how = How::Passage(Passage::Message);
            } else if was {
                // what the call before made of it is another address's
                self.forget();
                self.bind(side, known, freed, comm)?;
            }
        }
        Ok(())
    }

    /// The block as messages have it, if it lies on a device.
    pub fn on_device(&self) -> Option<message::Block> {
        let Located { at, count, datatype } = self.block();
        self.device.then_some(message::Block { at, count, datatype })
    }

    /// True if it is packed where it is sent by MPI.
    pub fn is_gapped(&self) -> bool {
        self.in_place().is_none() && !self.device
    }

    /// Finds the block. Asks MPI nothing, and allocates nothing, where datatype and count are those
    /// of the call before.
    ///
    /// # Safety
    /// The datatype must be a datatype; `known` belongs to the side, and is at `freed`.
    #[inline(always)]
    pub unsafe fn bind(&mut self, side: &Blocks, known: &Known, freed: u64, comm: &Comm) -> Result<()> {
        let block = side.locate(self.slot as usize)?;
        self.at = block.at;
        if self.accepted == Some(block.datatype)
            && self.count == block.count
            && self.freed == freed
            && !(block.at.is_null() && self.bytes > 0)
        {
            return Ok(());
        }
        // SAFETY: the caller vouches for the datatype. What is known must not outlive an error.
        unsafe { self.look_at(&block, side, known, freed, comm).inspect_err(|_| self.accepted = None) }
    }

    unsafe fn look_at(&mut self, block: &Located, side: &Blocks, known: &Known, freed: u64, comm: &Comm) -> Result<()> {
        // SAFETY: as for `bind`.
        unsafe {
            if self.accepted != Some(block.datatype) || self.freed != freed {
                accept(&mut self.accepted, block.datatype, side, self.slot as usize, comm)?;
            }
            refuse_null(block, side)?;
            (self.count, self.freed) = (block.count, freed);
            if let Some(size) = known.dense(block.datatype)? {
                self.bytes = buffers::length(block.count, size, || side.count_argument(self.slot as usize))?;
                self.how = How::InPlace(0);
                return Ok(());
            }
            self.bytes =
                buffers::length(block.count, datatype::size(block.datatype)?, || side.count_argument(self.slot as usize))?;
            self.bind_derived(block, known, comm)
        }
    }

    unsafe fn bind_derived(&mut self, block: &Located, known: &Known, comm: &Comm) -> Result<()> {
        // SAFETY: as for `bind`.
        unsafe {
            self.how = match layout(block, known)? {
                _ if self.bytes == 0 => How::InPlace(0),
                Some(layout) => match layout.contiguous() {
                    Some(offset) => How::InPlace(offset as isize),
                    None => How::Layout(layout),
                },
                None => How::Passage(Passage::without_layout(block, comm)?),
            };
        }
        Ok(())
    }

    /// Forgets which datatype has been accepted.
    pub fn forget(&mut self) {
        self.accepted = None;
    }

    /// Whether any range of its bytes can be copied by itself.
    #[inline(always)]
    pub fn is_divisible(&self) -> bool {
        !matches!(self.how, How::Passage(_))
    }

    /// Where its data lies, if that is behind one another.
    #[inline(always)]
    pub fn in_place(&self) -> Option<*mut u8> {
        if let How::InPlace(offset) = self.how { Some(self.at.wrapping_offset(offset)) } else { None }
    }

    fn block(&self) -> Located {
        // what MPI packs has a datatype that has been accepted
        Located { at: self.at, count: self.count, datatype: self.accepted.unwrap_or_else(datatype::byte) }
    }

    /// Brings all of it into a message.
    ///
    /// # Safety
    /// The block must be readable, and `into` writable for its bytes.
    #[inline(always)]
    pub unsafe fn pack(&self, into: *mut u8, own: Own) -> Result<()> {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.how {
                How::InPlace(offset) => copy(self.at.wrapping_offset(*offset), into, self.bytes),
                How::Layout(layout) => layout.pack(self.at, into),
                How::Passage(passage) => {
                    let into = std::slice::from_raw_parts_mut(into, self.bytes);
                    passage.pack(&self.block(), into, own.me, own.tag, own.comm)?;
                }
            }
        }
        Ok(())
    }

    /// Brings all of it out of a message.
    ///
    /// # Safety
    /// The block must be writable, and `from` readable for its bytes.
    #[inline(always)]
    pub unsafe fn unpack(&self, from: *const u8, own: Own) -> Result<()> {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.how {
                How::InPlace(offset) => copy(from, self.at.wrapping_offset(*offset), self.bytes),
                How::Layout(layout) => layout.unpack(from, self.at),
                How::Passage(passage) => {
                    // what unpacks only reads here
                    let from = std::slice::from_raw_parts_mut(from.cast_mut(), self.bytes);
                    passage.unpack(from, &self.block(), own.me, own.tag, own.comm)?;
                }
            }
        }
        Ok(())
    }

    /// Brings as many of its bytes out as there are; of what only MPI unpacks, whole elements.
    ///
    /// # Safety
    /// As for `unpack`, for `bytes` bytes.
    ///
    /// # Errors
    /// There are too many; then none is brought out.
    #[cold]
    pub unsafe fn unpack_short(&self, from: *const u8, bytes: usize, own: Own) -> Result<()> {
        if bytes > self.bytes {
            return Err(Error::Truncated { source_slot: self.slot as usize, sent: bytes, expected: self.bytes }.into());
        }
        // SAFETY: the caller vouches for both ends.
        unsafe {
            let How::Passage(passage) = &self.how else {
                self.unpack_part(0..bytes, from);
                return Ok(());
            };
            let block = self.block();
            let size = (datatype::size(block.datatype)? as usize).max(1);
            let short = Located { count: (bytes / size) as i64, ..block };
            let from = std::slice::from_raw_parts_mut(from.cast_mut(), bytes / size * size);
            passage.unpack(from, &short, own.me, own.tag, own.comm)
        }
    }

    /// Brings some of its bytes into a message. It must be divisible.
    ///
    /// # Safety
    /// As for `pack`.
    unsafe fn pack_part(&self, part: Range<usize>, into: *mut u8) {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.how {
                How::Layout(layout) => layout.pack_part(self.at, part.start, part.end, into),
                How::InPlace(offset) => copy(self.at.wrapping_offset(*offset).wrapping_add(part.start), into, part.len()),
                How::Passage(_) => {}
            }
        }
    }

    /// Brings some of its bytes out of a message. It must be divisible.
    ///
    /// # Safety
    /// As for `unpack`.
    unsafe fn unpack_part(&self, part: Range<usize>, from: *const u8) {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.how {
                How::Layout(layout) => layout.unpack_part(from, part.start, part.end, self.at),
                How::InPlace(offset) => copy(from, self.at.wrapping_offset(*offset).wrapping_add(part.start), part.len()),
                How::Passage(_) => {}
            }
        }
    }
}

/// Copies bytes; few of them without a call.
///
/// # Safety
/// Both ends must be valid, and not overlap.
#[inline(always)]
unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller vouches for both ends.
    unsafe {
        if bytes == 8 {
            into.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
        } else {
            std::ptr::copy_nonoverlapping(from, into, bytes);
        }
    }
}

/// Bytes of pieces behind one another.
///
/// # Errors
/// No memory is that long.
#[inline(always)]
pub fn total(pieces: &[Piece]) -> Result<usize> {
    let sum = pieces.iter().fold(0usize, |sum, piece| sum.saturating_add(piece.bytes));
    if sum > buffers::MOST as usize { Err(Error::NoMemory { bytes: sum }.into()) } else { Ok(sum) }
}

/// Bytes of those pieces that do not lie in one piece.
pub fn gapped(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| piece.is_gapped()).map(|piece| piece.bytes).sum()
}

/// Brings pieces into a message.
///
/// # Safety
/// The blocks must be readable, and `into` writable for the bytes of all.
#[inline(always)]
pub unsafe fn pack(pieces: &[Piece], mut into: *mut u8, own: Own) -> Result<()> {
    for piece in pieces {
        // SAFETY: the caller vouches for both ends.
        unsafe { piece.pack(into, own) }?;
        into = into.wrapping_add(piece.bytes);
    }
    Ok(())
}

/// Brings pieces out of a message. The first error, after all that can be brought out.
///
/// # Safety
/// The blocks must be writable, and `from` readable for the bytes of all.
#[inline(always)]
pub unsafe fn unpack(pieces: &[Piece], mut from: *const u8, own: Own) -> Result<()> {
    let mut done = Ok(());
    for piece in pieces {
        // SAFETY: the caller vouches for both ends.
        let unpacked = unsafe { piece.unpack(from, own) };
        done = done.and(unpacked);
        from = from.wrapping_add(piece.bytes);
    }
    done
}

/// What of each piece lies in bytes `part` of a message: piece, its part, and where in the part of
/// the message that begins.
fn parts(pieces: &[Piece], part: Range<usize>) -> impl Iterator<Item = (&Piece, Range<usize>, usize)> {
    let mut begin = 0;
    pieces.iter().filter_map(move |piece| {
        let (first, end) = (begin, begin + piece.bytes);
        begin = end;
        let (from, to) = (part.start.max(first), part.end.min(end));
        (from < to).then(|| (piece, from - first..to - first, from - part.start))
    })
}

/// Brings bytes `part` of a message of divisible pieces into place.
///
/// # Safety
/// As for `pack`.
pub unsafe fn pack_part(pieces: &[Piece], part: Range<usize>, into: *mut u8) {
    for (piece, part, offset) in parts(pieces, part) {
        // SAFETY: the caller vouches for both ends.
        unsafe { piece.pack_part(part, into.wrapping_add(offset)) };
    }
}

/// Brings bytes `part` of a message of divisible pieces out.
///
/// # Safety
/// As for `unpack`.
pub unsafe fn unpack_part(pieces: &[Piece], part: Range<usize>, from: *const u8) {
    for (piece, part, offset) in parts(pieces, part) {
        // SAFETY: the caller vouches for both ends.
        unsafe { piece.unpack_part(part, from.wrapping_add(offset)) };
    }
}

/// Whether all blocks of a side are one.
pub fn is_one(side: &Blocks) -> bool {
    matches!(side.shape, Shape::One { .. })
}
