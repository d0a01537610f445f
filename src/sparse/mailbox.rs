//! What goes out of an exchange, and what has come in.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Block, Probed, Request};
use crate::mpi::{MPI_Datatype, datatype};

/// A message that goes out.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing {
    /// To whom.
    pub target: u32,
    /// What.
    pub block: Block,
    /// Bytes that it carries.
    pub bytes: u64,
    /// True if the block lies in device memory, which MPI alone may touch.
    pub device: bool,
}

/// Everything that a process sends in an exchange, in the order of its list.
#[derive(Debug, Default)]
pub struct Sends {
    /// The messages.
    pub list: Vec<Outgoing>,
    /// Whether each element of the datatype is as it is sent, with nothing between elements.
    pub dense: bool,
}

impl Outgoing {
    /// Writes its bytes to `into`, which has room for them.
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
                std::ptr::copy_nonoverlapping(self.block.at, into, self.bytes as usize);
                return Ok(());
            }
            let room = i32::try_from(self.bytes).is_ok() && i32::try_from(self.block.count).is_ok();
            // an absolute datatype at MPI_BOTTOM: MPICH takes no null address for packing
            if room && !self.block.at.is_null() && !self.device {
                let buffer = std::slice::from_raw_parts_mut(into, self.bytes as usize);
                let packed = datatype::pack(self.block.at, self.block.count, self.block.datatype, buffer, comm)?;
                if packed == buffer.len() {
                    return Ok(());
                }
            }
            message::flatten(&self.block, into, self.bytes, comm)
        }
    }
}

/// Sends under way.
#[derive(Debug, Default)]
pub struct Outbox {
    requests: Vec<Request>,
    /// Those before are complete.
    next: usize,
}

impl Outbox {
    /// One more.
    pub fn push(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Whether all are complete.
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

/// A message that has come, or is coming.
#[derive(Debug, Clone, Copy)]
pub struct Arrived {
    /// Who sent it.
    pub source: u32,
    /// Where its bytes lie.
    pub at: *mut u8,
    /// How many.
    pub bytes: u64,
}

/// Alignment of each message in bytes.
const ALIGN: usize = size_of::<u128>();

/// Least and most bytes of a chunk that is made ahead.
const LEAST_CHUNK: usize = 4 << 10;
const MOST_CHUNK: usize = 1 << 20;

/// Messages that have come, in chunks of memory that do not move.
#[derive(Debug, Default)]
pub struct Inbox {
    chunks: Vec<Vec<u128>>,
    /// Bytes taken of the last chunk.
    taken: usize,
    /// The messages; those of one source in the order in which it sent them.
    pub messages: Vec<Arrived>,
    /// Receives under way, by the message that they bring, in order.
    incoming: VecDeque<(usize, Request)>,
    /// Receives of empty messages that tell of lost ones.
    words: Outbox,
}

impl Inbox {
    /// One message, whose bytes lie elsewhere.
    pub fn of(message: Arrived) -> Inbox {
        let mut inbox = Inbox::default();
        inbox.messages.push(message);
        inbox
    }

    /// Room for a message, which is entered.
    pub fn place(&mut self, source: u32, bytes: u64) -> Result<*mut u8> {
        let at = self.room(bytes)?;
        self.messages.push(Arrived { source, at, bytes });
        Ok(at)
    }

    /// Enters a message whose bytes lie in room that it has.
    #[inline]
    pub fn enter(&mut self, source: u32, at: *mut u8, bytes: u64) {
        self.messages.push(Arrived { source, at, bytes });
    }

    /// Room for bytes, aligned for any type.
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

    /// Enters a copy of a message.
    ///
    /// # Safety
    /// `from` must be readable for so many bytes.
    #[inline]
    pub unsafe fn copy(&mut self, source: u32, from: *const u8, bytes: u64) -> Result<()> {
        let at = self.place(source, bytes)?;
        // SAFETY: the caller vouches for what is read; there is room for as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(from, at, bytes as usize) };
        Ok(())
    }

    /// Enters a message whose receive begins here.
    pub fn receive(&mut self, source: u32, bytes: u64, tag: i32, comm: &Comm) -> Result<()> {
        let at = self.place(source, bytes)?;
        // SAFETY: the room is this message's, and stays until the receives are complete.
        let request = unsafe { message::receive(at, bytes, Some(source), Some(tag), comm) }?;
        self.incoming.push_back((self.messages.len() - 1, request));
        Ok(())
    }

    /// Enters a message that a probe has found.
    pub fn take(&mut self, probed: Probed, comm: &Comm) -> Result<()> {
        let at = self.place(probed.status.source, probed.status.bytes)?;
        // SAFETY: as above.
        let request = unsafe { probed.receive(at, comm) }?;
        self.incoming.push_back((self.messages.len() - 1, request));
        Ok(())
    }

    /// Receives an empty message that a probe has found, without entering it.
    pub fn take_word(&mut self, probed: Probed, comm: &Comm) -> Result<()> {
        // SAFETY: nothing is written.
        self.words.push(unsafe { probed.receive(std::ptr::NonNull::<u128>::dangling().as_ptr().cast(), comm) }?);
        Ok(())
    }

    /// How many messages, from the first one on, are here.
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

    /// Whether all receives that have begun are complete.
    #[inline]
    pub fn complete(&mut self) -> Result<bool> {
        Ok(self.ready()? == self.messages.len() && self.words.complete()?)
    }

    /// Enters a message of the process to itself, unless packing it fails.
    ///
    /// # Safety
    /// Its block must be readable.
    pub unsafe fn copy_own(&mut self, own: &Outgoing, dense: bool, comm: &Comm) -> Result<()> {
        let at = self.room(own.bytes)?;
        // SAFETY: the caller vouches for the block; there is room for as many bytes.
        unsafe { own.pack(at, dense, comm) }?;
        self.enter(own.target, at, own.bytes);
        Ok(())
    }

    /// Orders the messages by source, those of one source as they were sent.
    pub fn sort(&mut self) {
        self.messages.sort_by_key(|m| m.source);
    }

    /// The messages, which are packed, as elements of a datatype with this layout.
    ///
    /// # Safety
    /// `datatype` must be a committed datatype, the messages whole numbers of its elements.
    pub unsafe fn unpacked(&self, layout: &Layout, datatype: MPI_Datatype, comm: &Comm) -> Result<Inbox> {
        let mut typed = Inbox::default();
        for m in &self.messages {
            let count = layout.count(m.bytes).unwrap_or(0);
            let (low, bytes) = layout.span(count).ok_or(Error::NoMemory { bytes: usize::MAX })?;
            let at = typed.room(bytes)?;
            let first = at.wrapping_offset(-low as isize);
            if m.bytes > 0 {
                // SAFETY: the packed bytes are there; there is room for the elements' span. What
                // lies between elements can be read too.
                unsafe {
                    std::ptr::write_bytes(at, 0, bytes as usize);
                    message::unflatten(m.at, m.bytes, first, count as i64, datatype, comm)?;
                }
            }
            typed.messages.push(Arrived { source: m.source, at: first, bytes: m.bytes });
        }
        Ok(typed)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        if !self.incoming.is_empty() {
            // after an error: MPI still writes there
            std::mem::forget(std::mem::take(&mut self.chunks));
        }
    }
}

/// How elements of a datatype lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Bytes that an element carries.
    pub size: u64,
    /// Bytes from one element to the next.
    pub extent: i64,
    /// Where an element begins, and ends, in bytes from its address: its data, and what its bounds
    /// take in beside it.
    pub bounds: (i64, i64),
}

impl Layout {
    /// How many elements so many bytes are; `None` where they are no whole number.
    pub fn count(&self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        (self.size > 0 && bytes.is_multiple_of(self.size)).then(|| bytes / self.size)
    }

    /// Where room for `count` elements begins, relative to the address of the first one, and how
    /// many bytes it has. It begins a multiple of the alignment of a message away, so that the
    /// address is aligned as the room is.
    ///
    /// `None` if no memory is that long.
    pub fn span(&self, count: u64) -> Option<(i64, u64)> {
        if count == 0 {
            return Some((0, 0));
        }
        let last = i128::from(count - 1) * i128::from(self.extent);
        let low = (i128::from(self.bounds.0) + last.min(0)).div_euclid(ALIGN as i128) * ALIGN as i128;
        let high = i128::from(self.bounds.1) + last.max(0);
        let bytes = i64::try_from((high - low).max(0)).ok()?;
        Some((i64::try_from(low).ok()?, bytes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_overlap_and_are_aligned() {
        let mut inbox = Inbox::default();
        let sizes = [0u64, 1, 16, 17, 4096, 5000, 3, 1 << 20, 0, 7];
        for (i, &bytes) in sizes.iter().enumerate() {
            let from = vec![i as u8 + 1; bytes as usize];
            // SAFETY: as many bytes as are said.
            unsafe { inbox.copy(9 - i as u32, from.as_ptr(), bytes) }.unwrap();
        }
        inbox.sort();
        for (i, m) in inbox.messages.iter().enumerate() {
            let k = sizes.len() - 1 - i;
            assert_eq!((m.source, m.bytes), (i as u32, sizes[k]));
            assert_eq!(m.at as usize % ALIGN, 0);
            // SAFETY: the bytes have been written.
            let there = unsafe { std::slice::from_raw_parts(m.at, m.bytes as usize) };
            assert!(there.iter().all(|&b| b == k as u8 + 1));
        }
    }

    #[test]
    fn messages_of_a_source_keep_their_order() {
        let mut inbox = Inbox::default();
        for (i, source) in [2, 0, 2, 1, 0, 2].into_iter().enumerate() {
            inbox.place(source, i as u64).unwrap();
        }
        inbox.sort();
        let order: Vec<(u32, u64)> = inbox.messages.iter().map(|m| (m.source, m.bytes)).collect();
        assert_eq!(order, [(0, 1), (0, 4), (1, 3), (2, 0), (2, 2), (2, 5)]);
    }

    #[test]
    fn spans_of_strided_and_backward_types() {
        let plain = Layout { size: 8, extent: 8, bounds: (0, 8) };
        assert_eq!((plain.span(0), plain.span(3)), (Some((0, 0)), Some((0, 24))));
        // data from byte 4 on; the whole element can be written
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
