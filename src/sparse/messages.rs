//! The messages of an exchange: those to be sent ([`Sends`]), the sends in progress
//! ([`PendingSends`]) and the messages that have arrived ([`Arrivals`]).

use std::collections::VecDeque;

use crate::datatype::buffers::Located;
use crate::datatype::pack::{pack_by_mpi, unpack_by_mpi};
use crate::error::{Error, Result};
use crate::mpi::Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Block, Probed, Request};
use crate::util::cast::{to_int, to_usize};

/// A message to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing {
    /// The rank of the receiver.
    pub target: u32,
    /// The elements to send.
    pub block: Block,
    /// Packed size of the block.
    pub bytes: u64,
    /// True if the block lies in device memory, which only MPI may access.
    pub device: bool,
}

/// All messages that a process sends in an exchange, in the order of the caller's list.
#[derive(Debug, Default)]
pub struct Sends {
    /// The messages.
    pub list: Vec<Outgoing>,
    /// True if the elements are contiguous in memory, so that a plain copy packs them.
    pub dense: bool,
    /// Two marks. At the end of the exchange all processes know which of them any process has set.
    pub marks: u8,
}

impl Outgoing {
    /// Packs the message into `into`, which must have room for it.
    ///
    /// # Safety
    /// The block must be readable, `into` writable for `self.bytes` bytes.
    pub unsafe fn pack(&self, into: *mut u8, dense: bool, comm: &Comm) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller vouches for both.
        unsafe {
            if dense && !self.device {
                std::ptr::copy_nonoverlapping(self.block.at, into, to_usize(self.bytes));
                return Ok(());
            }
            let Block { at, count, datatype } = self.block;
            let buffer = std::slice::from_raw_parts_mut(into, to_usize(self.bytes));
            pack_by_mpi(&Located { at: at.cast_mut(), count, datatype }, buffer, self.device, comm)
        }
    }
}

/// Sends in progress.
#[derive(Debug, Default)]
pub struct PendingSends {
    requests: Vec<Request>,
    /// All requests before this index are complete.
    next: usize,
}

impl PendingSends {
    /// Adds a request.
    pub fn push(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Returns true once all sends are complete.
    #[inline]
    pub fn complete(&mut self) -> Result<bool> {
        while let Some(request) = self.requests.get_mut(self.next) {
            if !request.test()? {
                return Ok(false);
            }
            self.next += 1;
        }
        Ok(true)
    }
}

/// A message that has arrived or is being received.
#[derive(Debug, Clone, Copy)]
pub struct Arrived {
    /// The rank of the sender.
    pub source: u32,
    /// Address of its bytes.
    pub at: *mut u8,
    /// Length in bytes.
    pub bytes: u64,
}

/// Alignment of every message, in bytes.
const ALIGN: usize = size_of::<u128>();

/// Bounds on the size of a chunk, unless one message needs more. Chunks double within them.
const LEAST_CHUNK: usize = 4 << 10;
const MOST_CHUNK: usize = 1 << 20;

/// The messages that have arrived, in chunks of memory that do not move.
#[derive(Debug, Default)]
pub struct Arrivals {
    chunks: Vec<Vec<u128>>,
    /// Bytes used in the last chunk.
    taken: usize,
    /// The messages. Those of one source stand in the order in which it sent them.
    pub messages: Vec<Arrived>,
    /// Receives in progress, in order, each with the index of its message.
    incoming: VecDeque<(usize, Request)>,
    /// Receives of the empty messages that announce a lost one.
    notices: PendingSends,
}

impl Arrivals {
    /// Allocates room for a message and adds the message to the list.
    pub fn place(&mut self, source: u32, bytes: u64) -> Result<*mut u8> {
        let at = self.room(bytes)?;
        self.messages.push(Arrived { source, at, bytes });
        Ok(at)
    }

    /// Adds a message whose bytes already lie in room obtained from [`Arrivals::room`].
    #[inline]
    pub fn enter(&mut self, source: u32, at: *mut u8, bytes: u64) {
        self.messages.push(Arrived { source, at, bytes });
    }

    /// Allocates room that is aligned for any type.
    pub fn room(&mut self, bytes: u64) -> Result<*mut u8> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let full = self.chunks.last().is_none_or(|c| c.capacity() * ALIGN - self.taken < bytes);
        if full && bytes > 0 {
            let ahead = self.chunks.last().map_or(LEAST_CHUNK, |c| (2 * c.capacity() * ALIGN).min(MOST_CHUNK));
            let mut chunk: Vec<u128> = Vec::new();
            (chunk.try_reserve_exact(bytes.div_ceil(ALIGN).max(ahead / ALIGN))).map_err(|_| Error::NoMemory { bytes })?;
            self.chunks.push(chunk);
            self.taken = 0;
        }
        match self.chunks.last_mut() {
            Some(chunk) if bytes > 0 => {
                let at = chunk.as_mut_ptr().cast::<u8>().wrapping_add(self.taken);
                self.taken += bytes.next_multiple_of(ALIGN);
                Ok(at)
            }
            _ => Ok(std::ptr::NonNull::<u128>::dangling().as_ptr().cast()),
        }
    }

    /// Adds a copy of a message.
    ///
    /// # Safety
    /// `from` must be readable for `bytes` bytes.
    #[inline]
    pub unsafe fn copy(&mut self, source: u32, from: *const u8, bytes: u64) -> Result<()> {
        let at = self.place(source, bytes)?;
        // SAFETY: the caller vouches for the source; `place` allocated `bytes` bytes.
        unsafe { std::ptr::copy_nonoverlapping(from, at, to_usize(bytes)) };
        Ok(())
    }

    /// Adds a message and starts its receive.
    pub fn receive(&mut self, source: u32, bytes: u64, tag: i32, comm: &Comm) -> Result<()> {
        let at = self.place(source, bytes)?;
        // SAFETY: the room belongs to this message and is kept until the receive completes.
        let request = unsafe { message::receive(at, bytes, Some(source), Some(tag), comm) }?;
        self.incoming.push_back((self.messages.len() - 1, request));
        Ok(())
    }

    /// Adds a message that a probe found and starts its receive.
    pub fn take(&mut self, probed: Probed, comm: &Comm) -> Result<()> {
        let at = self.place(probed.status.source, probed.status.bytes)?;
        // SAFETY: as above.
        let request = unsafe { probed.receive(at, comm) }?;
        self.incoming.push_back((self.messages.len() - 1, request));
        Ok(())
    }

    /// Receives an empty message that a probe found, without adding it to the list.
    pub fn take_notice(&mut self, probed: Probed, comm: &Comm) -> Result<()> {
        // SAFETY: the message is empty, so that nothing is written.
        self.notices.push(unsafe { probed.receive(std::ptr::NonNull::<u128>::dangling().as_ptr().cast(), comm) }?);
        Ok(())
    }

    /// Returns how many messages are complete, counted from the first one up to the first that is
    /// not.
    #[inline]
    pub fn ready(&mut self) -> Result<usize> {
        while let Some((position, request)) = self.incoming.front_mut() {
            if !request.test()? {
                return Ok(*position);
            }
            self.incoming.pop_front();
        }
        Ok(self.messages.len())
    }

    /// Returns true if all receives started so far are complete.
    #[inline]
    pub fn complete(&mut self) -> Result<bool> {
        Ok(self.ready()? == self.messages.len() && self.notices.complete()?)
    }

    /// Adds a message of the process to itself, unless packing it fails.
    ///
    /// # Safety
    /// Its block must be readable.
    pub unsafe fn copy_own(&mut self, own: &Outgoing, dense: bool, comm: &Comm) -> Result<()> {
        let at = self.room(own.bytes)?;
        // SAFETY: the caller vouches for the block; `room` allocated `own.bytes` bytes.
        unsafe { own.pack(at, dense, comm) }?;
        self.enter(own.target, at, own.bytes);
        Ok(())
    }

    /// Sorts the messages by source, keeping the order of those from one source.
    pub fn sort(&mut self) {
        self.messages.sort_by_key(|m| m.source);
    }

    /// Allocates room for the elements of a message, all bytes 0, so that the gaps between elements
    /// are initialized, too. Returns the address of the first one.
    pub fn spread(&mut self, layout: &Layout, m: &Arrived) -> Result<*mut u8> {
        let count = layout.count(m.bytes).unwrap_or(0);
        let (low, bytes) = layout.span(count).ok_or(Error::NoMemory { bytes: usize::MAX })?;
        let at = self.room(bytes)?;
        // SAFETY: there is room for the span of the elements.
        unsafe { std::ptr::write_bytes(at, 0, to_usize(bytes)) };
        Ok(at.wrapping_offset(to_int(low.wrapping_neg())))
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        if !self.incoming.is_empty() {
            // after an error, MPI may still write to them
            std::mem::forget(std::mem::take(&mut self.chunks));
        }
    }
}

impl Arrived {
    /// Unpacks the message into elements at an address.
    ///
    /// # Safety
    /// The message must have arrived and hold a whole number of elements of `datatype`, which is
    /// committed; they must be writable.
    pub unsafe fn unpack(&self, layout: &Layout, at: *mut u8, datatype: Datatype, comm: &Comm) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let block = Located { at, count: to_int(layout.count(self.bytes).unwrap_or(0)), datatype };
        // SAFETY: the caller vouches for all of it.
        unsafe { unpack_by_mpi(self.at, self.bytes, &block, false, comm) }
    }
}

/// The memory layout of a datatype's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Packed size of an element, in bytes.
    pub size: u64,
    /// Distance between consecutive elements, in bytes.
    pub extent: i64,
    /// First byte of an element and one past its last, relative to its address. Covers its data and
    /// everything within its lower and upper bound.
    pub bounds: (i64, i64),
}

impl Layout {
    /// Returns how many elements `bytes` bytes hold. `None` if that is not a whole number.
    pub fn count(&self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        (self.size > 0 && bytes.is_multiple_of(self.size)).then(|| bytes / self.size)
    }

    /// Returns where the memory of `count` elements begins, relative to the address of the first
    /// one, and its length in bytes. The offset is a multiple of the alignment of messages, so that
    /// the address has the alignment of the room.
    ///
    /// Returns `None` if the length exceeds any address space.
    pub fn span(&self, count: u64) -> Option<(i64, u64)> {
        if count == 0 {
            return Some((0, 0));
        }
        let last = i128::from(count - 1) * i128::from(self.extent);
        let low = (i128::from(self.bounds.0) + last.min(0)).div_euclid(ALIGN as i128) * ALIGN as i128;
        let high = i128::from(self.bounds.1) + last.max(0);
        let bytes = i64::try_from((high - low).max(0)).ok()?;
        Some((i64::try_from(low).ok()?, to_int(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cast::to_u32;

    #[test]
    fn messages_do_not_overlap_and_are_aligned() {
        let mut arrivals = Arrivals::default();
        let sizes = [0u64, 1, 16, 17, 4096, 5000, 3, 1 << 20, 0, 7];
        for (i, &bytes) in sizes.iter().enumerate() {
            let from = vec![to_int::<u8>(i) + 1; to_usize(bytes)];
            // SAFETY: `from` has `bytes` bytes.
            unsafe { arrivals.copy(9 - to_u32(i), from.as_ptr(), bytes) }.unwrap();
        }
        arrivals.sort();
        for (i, m) in arrivals.messages.iter().enumerate() {
            let k = sizes.len() - 1 - i;
            assert_eq!((m.source, m.bytes), (to_u32(i), sizes[k]));
            assert_eq!(m.at as usize % ALIGN, 0);
            // SAFETY: the bytes have been written.
            let there = unsafe { std::slice::from_raw_parts(m.at, to_usize(m.bytes)) };
            assert!(there.iter().all(|&b| b == to_int::<u8>(k) + 1));
        }
    }

    #[test]
    fn messages_of_a_source_keep_their_order() {
        let mut arrivals = Arrivals::default();
        for (i, source) in [2, 0, 2, 1, 0, 2].into_iter().enumerate() {
            arrivals.place(source, i as u64).unwrap();
        }
        arrivals.sort();
        let order: Vec<(u32, u64)> = arrivals.messages.iter().map(|m| (m.source, m.bytes)).collect();
        assert_eq!(order, [(0, 1), (0, 4), (1, 3), (2, 0), (2, 2), (2, 5)]);
    }

    #[test]
    fn spans_of_strided_and_backward_types() {
        let plain = Layout { size: 8, extent: 8, bounds: (0, 8) };
        assert_eq!((plain.span(0), plain.span(3)), (Some((0, 0)), Some((0, 24))));
        // the data starts at byte 4, but the whole element can be written
        let strided = Layout { size: 4, extent: 16, bounds: (0, 16) };
        assert_eq!(strided.span(3), Some((0, 48)));
        let backward = Layout { size: 4, extent: -8, bounds: (0, 4) };
        assert_eq!(backward.span(3), Some((-16, 20)));
        let below = Layout { size: 4, extent: 4, bounds: (-4, 0) };
        assert_eq!(below.span(1), Some((-16, 16)));
        let absolute = Layout { size: 4, extent: 4, bounds: (1 << 40, (1 << 40) + 4) };
        assert_eq!(absolute.span(1), Some((1 << 40, 4)));
        // 2^24 elements 2^40 bytes apart
        let wide = Layout { size: 4, extent: 1 << 40, bounds: (0, 4) };
        assert_eq!((wide.span(1 << 24), wide.span(u64::MAX)), (None, None));
    }
}
