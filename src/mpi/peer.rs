//! Blocking messages between two processes, and the clock, for measurements of the network.

use std::ffi::c_int;

use super::comm::Owned as Comm;
use super::liveness::Patience;
use super::message::irecv;
use super::request::Request;
use super::{check, datatype};
use crate::error::Result;
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::to_int;

/// `MPI_Wtime`, in microseconds.
#[inline]
pub fn now() -> f64 {
    1e6 * super::time()
}

/// The process at the other end.
#[derive(Clone, Copy)]
pub struct Peer<'a> {
    /// The communicator.
    pub comm: &'a Comm,
    /// Its rank.
    pub rank: u32,
}

impl Peer<'_> {
    /// Starts to send bytes, at most `INT_MAX`.
    ///
    /// # Safety
    /// The bytes must be left alone until the request is complete.
    #[inline]
    unsafe fn start_send(self, bytes: &[u8], tag: c_int) -> Result<Request> {
        let (mut request, rank) = (Request::default(), to_int(self.rank));
        let (at, length) = (bytes.as_ptr().cast(), to_int(bytes.len()));
        // SAFETY: the buffer has the given length; the caller vouches for the rest.
        let rc = unsafe { mpi_sys::MPI_Isend(at, length, datatype::byte().raw(), rank, tag, self.comm.raw(), request.raw_mut()) };
        check(rc, "MPI_Isend").map(|()| request)
    }

    /// Starts to receive at most `bytes.len()` bytes.
    ///
    /// # Safety
    /// As for `start_send`.
    #[inline]
    unsafe fn start_receive(self, bytes: &mut [u8], tag: c_int) -> Result<Request> {
        let (at, length, rank) = (bytes.as_mut_ptr(), to_int(bytes.len()), to_int(self.rank));
        // SAFETY: the buffer has the given length; the caller vouches for the rest.
        unsafe { irecv(at, length, datatype::byte(), rank, tag, self.comm) }
    }

    /// Sends bytes, at most `INT_MAX`, and waits.
    #[inline]
    pub fn send(self, bytes: &[u8], tag: c_int) -> Result<()> {
        // SAFETY: the buffer is borrowed until the request is complete.
        let request = unsafe { self.start_send(bytes, tag) }?;
        self.finish(request, false)
    }

    /// Receives at most `bytes.len()` bytes, and waits.
    #[inline]
    pub fn receive(self, bytes: &mut [u8], tag: c_int) -> Result<()> {
        // SAFETY: the buffer is borrowed until the request is complete.
        let request = unsafe { self.start_receive(bytes, tag) }?;
        self.finish(request, true)
    }

    /// Waits for a message to or from the process; fails if that has ended. `MPI_Send` and
    /// `MPI_Recv` would wait forever; the executors do not use them either.
    #[inline]
    fn finish(self, mut request: Request, receives: bool) -> Result<()> {
        let mut patience = Patience::default();
        while !request.test()? {
            if patience.is_over() {
                self.look(&mut patience).inspect_err(|_| {
                    if receives {
                        // nothing comes any more; that it has ended is the error to report
                        let _ = request.cancel();
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Fails if the process has ended. MPI may still access the buffers then.
    #[cold]
    fn look(self, patience: &mut Patience) -> Result<()> {
        let dead = patience.look(self.comm.view(), std::iter::once(self.rank));
        dead.first().map_or(Ok(()), |&rank| Err(self.comm.lose(rank)))
    }

    /// Starts a send and polls it for `patience` microseconds, yielding the core. Then calls
    /// `meanwhile`, and waits for the send. Returns true if the send completed within `patience`.
    pub fn completes(self, bytes: &[u8], tag: c_int, patience: f64, meanwhile: impl FnOnce() -> Result<()>) -> Result<bool> {
        // SAFETY: the buffer is borrowed until the request is complete.
        let mut request = unsafe { self.start_send(bytes, tag) }?;
        // polls take no simulated time
        super::pass_time(patience);
        let (begin, mut backoff) = (now(), Backoff::new(super::resting(Pace::YIELDING)));
        let done = loop {
            let done = request.test()?;
            if done || super::is_simulated() || now() - begin > patience {
                break done;
            }
            backoff.snooze();
        };
        let meanwhile = meanwhile();
        let waited = if done { Ok(()) } else { self.finish(request, false) };
        meanwhile.and(waited)?;
        Ok(done)
    }
}
