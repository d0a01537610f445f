//! Persistent messages.

use super::comm::Owned as Comm;
use super::constants::RSMPI_STATUS_IGNORE;
use super::message::{Block, bytes_at};
use super::{MPI_Request, check, request};
use crate::error::{Error, Result};
use crate::util::cast::to_int;

/// Persistent sends and receives, started in the order in which they were added. Freed when
/// dropped.
#[derive(Debug, Default)]
pub struct Persistent {
    requests: Vec<MPI_Request>,
    /// The process at the other end of each message.
    peers: Vec<u32>,
    /// Requests before this one are complete.
    next: usize,
    /// The first error of a message of the current run.
    failure: Option<Box<Error>>,
}

impl Persistent {
    /// Adds a send.
    ///
    /// # Safety
    /// The block must be readable, and not be written, whenever the messages are under way.
    pub unsafe fn add_send(&mut self, block: &Block, target: u32, tag: i32, comm: &Comm) -> Result<()> {
        let mut request = request::null();
        // SAFETY: the caller vouches for the block; the request is a local.
        unsafe {
            let (count, datatype, _large) = block.narrow()?;
            let (at, target) = (block.at.cast(), to_int(target));
            check(mpi_sys::MPI_Send_init(at, count, datatype.raw(), target, tag, comm.raw(), &mut request), "MPI_Send_init")?;
        }
        self.requests.push(request);
        self.peers.push(target);
        Ok(())
    }

    /// Adds a receive of `bytes` bytes.
    ///
    /// # Safety
    /// The bytes must be writable, and be left alone, whenever the messages are under way.
    pub unsafe fn add_receive(&mut self, at: *mut u8, bytes: u64, source: u32, tag: i32, comm: &Comm) -> Result<()> {
        let mut request = request::null();
        // SAFETY: the caller vouches for the bytes; the request is a local.
        unsafe {
            let (count, datatype, _large) = bytes_at(at, bytes).narrow()?;
            let (at, source) = (at.cast(), to_int(source));
            check(mpi_sys::MPI_Recv_init(at, count, datatype.raw(), source, tag, comm.raw(), &mut request), "MPI_Recv_init")?;
        }
        self.requests.push(request);
        self.peers.push(source);
        Ok(())
    }

    /// Returns the process at the other end of each message.
    pub fn peers(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.peers.iter().copied()
    }

    /// Returns the processes whose messages are incomplete.
    #[cold]
    pub fn pending(&self) -> Vec<u32> {
        let waits = |&(request, _): &(&MPI_Request, &u32)| !request::is_complete(*request);
        self.requests.iter().zip(&self.peers).skip(self.next).filter(waits).map(|(_, &peer)| peer).collect()
    }

    /// Starts all messages one by one: `MPI_Startall` guarantees no order.
    pub fn start(&mut self) -> Result<()> {
        (self.next, self.failure) = (0, None);
        for request in &mut self.requests {
            // SAFETY: a persistent request that is not active.
            check(unsafe { mpi_sys::MPI_Start(request) }, "MPI_Start")?;
        }
        Ok(())
    }

    /// Returns true if all are complete.
    ///
    /// # Errors
    /// MPI has failed for a message. The others are completed first: no message is under way then.
    pub fn test(&mut self) -> Result<bool> {
        while let Some(request) = self.requests.get_mut(self.next) {
            let mut done = 0;
            // SAFETY: a persistent request; the result is a local.
            match check(unsafe { mpi_sys::MPI_Test(request, &mut done, RSMPI_STATUS_IGNORE) }, "MPI_Test") {
                Ok(()) if done == 0 => return Ok(false),
                Ok(()) => {}
                Err(error) => _ = self.failure.get_or_insert(error),
            }
            self.next += 1;
        }
        self.failure.take().map_or(Ok(true), Err)
    }
}

impl Drop for Persistent {
    fn drop(&mut self) {
        if super::is_usable() {
            for request in &mut self.requests {
                // SAFETY: a persistent request that no one else has. An error cannot be reported.
                unsafe { mpi_sys::MPI_Request_free(request) };
            }
        }
    }
}
