//! Copies between two blocks of the same process: self edges.
//!
//! Blocks whose datatypes have typemaps are copied straight from one layout to the other, without a
//! buffer. MPI packs other blocks into a buffer that is kept, and unpacks them from there. A block
//! travels as a message of the process to itself only if it does not fit in the `int` of
//! `MPI_Pack`, lies at `MPI_BOTTOM` or on a device, or if `MPI_Pack` leaves bytes of it out.

use std::ops::Range;

use super::buffers::{self, Located, enlarge};
use super::known::Known;
use super::layout::LayoutCopy;
use super::pack::{Loopback, layout, send_to_self};
use crate::error::{Argument, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::device::Devices;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// The copies of a process to itself in a call, and the buffer by which MPI packs some of them.
#[derive(Debug, Default)]
pub struct OwnCopies {
    copies: Vec<BlockCopy>,
    buffer: Vec<u8>,
}

impl OwnCopies {
    /// Makes room for so many copies.
    pub fn with_capacity(copies: usize) -> OwnCopies {
        OwnCopies { copies: Vec::with_capacity(copies), buffer: Vec::new() }
    }

    /// Removes all copies.
    #[inline]
    pub fn clear(&mut self) {
        self.copies.clear();
    }

    /// Adds a copy, and makes room to pack it.
    pub fn add(&mut self, copy: BlockCopy) -> Result<()> {
        enlarge(&mut self.buffer, copy.buffer())?;
        self.copies.push(copy);
        Ok(())
    }

    /// Returns the positions of all copies.
    #[inline]
    pub fn all(&self) -> Range<usize> {
        0..self.copies.len()
    }

    /// Returns the bytes that some of them copy, for statistics.
    pub fn bytes(&self, some: Range<usize>) -> u64 {
        self.copies[some].iter().map(BlockCopy::bytes).sum()
    }

    /// Hands those to MPI that begin or end on a device.
    pub fn find_devices(&mut self, devices: &Devices) -> Result<()> {
        self.copies.iter_mut().try_for_each(|copy| copy.find_devices(devices))
    }

    /// Does some of the copies one after the other, or two at a time. Returns the first error; the
    /// others are done nonetheless.
    ///
    /// # Safety
    /// As for [`BlockCopy::run`], for all of them; none may read what another one writes.
    pub unsafe fn run(&mut self, some: Range<usize>, loopback: Loopback) -> Result<()> {
        let (mut done, mut left) = (Ok(()), &self.copies[some]);
        while let [copy, rest @ ..] = left {
            left = rest;
            // SAFETY: the caller vouches for all.
            unsafe {
                // a call takes ten times as long as such a copy
                if let Means::Bytes(WORD) = copy.means {
                    copy.into.at.cast::<u64>().write_unaligned(copy.from.at.cast::<u64>().read_unaligned());
                    continue;
                }
                match rest {
                    [next, others @ ..] if copy.run_with(next) => left = others,
                    _ => done = done.and(copy.run(&mut self.buffer, loopback)),
                }
            }
        }
        done
    }
}

/// A copy that has been checked.
#[derive(Debug, Clone)]
pub struct BlockCopy {
    from: Located,
    into: Located,
    means: Means,
}

#[derive(Debug, Clone)]
enum Means {
    Nothing,
    /// Copies this many bytes from the first element's address on.
    Bytes(usize),
    Layouts(LayoutCopy),
    /// Packs the blocks' `bytes` bytes into a buffer that has room for `room`, and unpacks from
    /// there.
    Pack {
        bytes: usize,
        room: usize,
    },
    Message,
}

impl BlockCopy {
    /// Prepares a copy; `known` remembers datatypes between calls. Returns `None` if the two blocks
    /// carry different numbers of bytes.
    pub fn prepare(from: Located, into: Located, known: &Known, comm: &Comm) -> Result<Option<BlockCopy>> {
        if from.datatype == into.datatype
            && from.count == into.count
            && let Some(size) = known.dense(from.datatype)?
        {
            let bytes = buffers::length(from.count, size, || Argument::new(buffers::SEND.count))?;
            return Ok(Some(BlockCopy { from, into, means: Means::Bytes(bytes) }));
        }
        if let (Some(a), Some(b)) = (layout(&from, known)?, layout(&into, known)?) {
            let equal = a.bytes() == b.bytes();
            return Ok(equal.then(|| BlockCopy { from, into, means: Means::Layouts(LayoutCopy::new(a, b)) }));
        }
        let (length, expected) = (from.bytes()?, into.bytes()?);
        if length != expected {
            return Ok(None);
        }
        let bytes = buffers::length(from.count, from.datatype.size()?, || Argument::new(buffers::SEND.count))?;
        if length == 0 {
            return Ok(Some(BlockCopy { from, into, means: Means::Nothing }));
        }
        let packed = from.datatype.pack_size(from.count, comm)?;
        let other = into.datatype.pack_size(into.count, comm)?;
        let means = match (packed, other) {
            // an absolute datatype at MPI_BOTTOM: MPICH takes no null address for packing
            _ if from.at.is_null() || into.at.is_null() => Means::Message,
            (Some(room), Some(_)) => Means::Pack { bytes, room },
            _ => Means::Message,
        };
        Ok(Some(BlockCopy { from, into, means }))
    }

    /// Hands a prepared copy to MPI if one of its ends lies on a device.
    fn find_devices(&mut self, devices: &Devices) -> Result<()> {
        if self.from.is_on_device(devices)? || self.into.is_on_device(devices)? {
            self.means = Means::Message;
        }
        Ok(())
    }

    /// Returns the bytes that it copies, for statistics.
    fn bytes(&self) -> u64 {
        self.from.bytes().map_or(0, |bytes| u64::try_from(bytes).unwrap_or(0))
    }

    /// Returns the bytes of buffer that it needs.
    fn buffer(&self) -> usize {
        match self.means {
            Means::Pack { room, .. } => room,
            _ => 0,
        }
    }

    /// Does this copy and the next one, if both go to words in the same cache lines. Returns false
    /// if it has not.
    ///
    /// # Safety
    /// As for [`run`](BlockCopy::run), for both; neither may read what the other one writes.
    unsafe fn run_with(&self, next: &BlockCopy) -> bool {
        let (Means::Layouts(copy), Means::Layouts(other)) = (&self.means, &next.means) else { return false };
        // SAFETY: the caller vouches for the blocks.
        unsafe { copy.run_with((self.from.at, self.into.at), other, (next.from.at, next.into.at)) }
    }

    /// Does the copy.
    ///
    /// # Safety
    /// `from` must be readable and `into` writable as their blocks say, without overlap.
    unsafe fn run(&self, buffer: &mut [u8], loopback: Loopback) -> Result<()> {
        let (from, into) = (&self.from, &self.into);
        match &self.means {
            Means::Nothing => Ok(()),
            Means::Bytes(length) => {
                // SAFETY: these bytes are what the blocks occupy. Erroneous programs let them
                // overlap: `copy`, not `copy_nonoverlapping`.
                unsafe { std::ptr::copy(from.at, into.at, *length) };
                Ok(())
            }
            Means::Layouts(copy) => {
                // SAFETY: the caller vouches for the blocks.
                unsafe { copy.run(from.at, into.at) };
                Ok(())
            }
            Means::Pack { bytes, .. } => {
                // SAFETY: the caller vouches for the blocks; `prepare` has checked that the counts
                // fit in int.
                unsafe {
                    let packed = datatype::pack(from.at, from.count, from.datatype, buffer, loopback.comm)?;
                    if packed < *bytes {
                        return send_to_self(from, into, loopback);
                    }
                    datatype::unpack(&buffer[..packed], into.at, into.count, into.datatype, loopback.comm)
                }
            }
            // SAFETY: the caller vouches for the blocks.
            Means::Message => unsafe { send_to_self(from, into, loopback) },
        }
    }
}
