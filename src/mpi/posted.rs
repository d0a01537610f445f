//! Receives from any source that stay posted.
//!
//! Messages match them in the order in which they were posted, so that testing the oldest one is
//! enough, and messages of one source are delivered in the order in which they were sent.

use std::alloc::Layout;
use std::ptr::slice_from_raw_parts_mut;
use std::sync::Arc;

use super::comm::Owned as Comm;
use super::message::{self, Cancelled, Request, Status};
use crate::error::{Error, Result};
use crate::util::cast::to_usize;

/// A ring of posted receives, which are cancelled when it is dropped. One that is being filled by a
/// process that has died never ends: its memory then stays.
pub struct PostedReceives {
    comm: Arc<Comm>,
    memory: Vec<u128>,
    /// Length of a buffer, in units of its alignment.
    stride: usize,
    /// The longest message, in bytes.
    bytes: u64,
    requests: Vec<Request>,
    /// Index of the oldest receive.
    oldest: usize,
}

impl PostedReceives {
    /// Posts `receives` receives, 1 or more, of at most `bytes` bytes, with any tag, on a
    /// communicator that nothing else receives on. Each buffer is followed by `spare` bytes that
    /// MPI does not write.
    pub fn new(comm: Arc<Comm>, receives: usize, bytes: usize, spare: usize) -> Result<PostedReceives> {
        let stride = (bytes + spare).div_ceil(size_of::<u128>());
        let memory = zeros(stride.saturating_mul(receives))?;
        let requests = (0..receives).map(|_| Request::default()).collect();
        let mut ring = PostedReceives { comm, memory, stride, bytes: bytes as u64, requests, oldest: 0 };
        for _ in 0..receives {
            ring.post()?;
        }
        Ok(ring)
    }

    /// Returns the communicator.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// Posts the oldest receive again, which makes it the youngest.
    #[inline]
    pub fn post(&mut self) -> Result<()> {
        let at = self.memory[self.oldest * self.stride..].as_mut_ptr().cast();
        // SAFETY: the buffer is not accessed before the receive completes, and lives until the ring
        // is closed.
        let receive = || unsafe { message::receive(at, self.bytes, None, None, &self.comm) };
        // once more if MPI refuses: nothing is lost yet
        self.requests[self.oldest] = receive().or_else(|_| receive())?;
        self.oldest = (self.oldest + 1) % self.requests.len();
        Ok(())
    }

    /// Returns the status of the oldest receive, if it is complete. One that MPI has refused is
    /// posted first, and the one after it is then the oldest.
    #[inline]
    pub fn test(&mut self) -> Result<Option<Status>> {
        if self.requests[self.oldest].is_null() {
            self.post()?;
        }
        self.requests[self.oldest].test_receive()
    }

    /// Returns what the oldest receive has delivered.
    #[inline]
    pub fn delivered(&self, status: Status) -> &[u8] {
        let all = &self.with_spare()[..to_usize(self.bytes)];
        &all[..to_usize(status.bytes)]
    }

    /// Returns the buffer of the oldest receive, which is complete, with the spare bytes after it.
    #[inline]
    pub fn with_spare(&self) -> &[u8] {
        let buffer = &self.memory[self.oldest * self.stride..][..self.stride];
        // SAFETY: initialized memory, which MPI does not write any more.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), size_of_val(buffer)) }
    }

    /// Begins to cancel the oldest receive; `test_cancelled` returns the outcome.
    pub fn cancel(&mut self) -> Result<()> {
        self.requests[self.oldest].cancel()
    }

    /// Returns the outcome of cancelling the oldest receive, if it is known.
    pub fn test_cancelled(&mut self) -> Result<Option<Cancelled>> {
        self.requests[self.oldest].test_cancelled()
    }
}

/// Returns zeros, which take memory once they are written to.
fn zeros(length: usize) -> Result<Vec<u128>> {
    let no_memory = || Error::NoMemory { bytes: length.saturating_mul(size_of::<u128>()) };
    let layout = Layout::array::<u128>(length).map_err(|_| no_memory())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: some bytes are asked for.
    let at = unsafe { std::alloc::alloc_zeroed(layout) };
    if at.is_null() {
        return Err(no_memory().into());
    }
    // SAFETY: memory of the allocator that boxes have, of this length and alignment, all zeros.
    Ok(unsafe { Box::from_raw(slice_from_raw_parts_mut(at.cast(), length)) }.into_vec())
}

impl Drop for PostedReceives {
    fn drop(&mut self) {
        let usable = super::is_usable();
        let mut ended = usable;
        for request in self.requests.iter_mut().filter(|_| usable) {
            ended &= request.withdraw();
        }
        if !ended {
            // MPI may still write to them
            std::mem::forget(std::mem::take(&mut self.memory));
        }
    }
}
