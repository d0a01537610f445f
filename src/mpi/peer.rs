//! Blocking messages between two processes, and the clock, for measurements of the network.

use std::ffi::c_int;

use super::comm::Owned as Comm;
use super::liveness::Patience;
use super::request::null;
use super::{MPI_Request, MPI_Status, check, datatype};
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

fn empty_status() -> MPI_Status {
    // SAFETY: a status is plain integers: all zeroes is one.
    unsafe { std::mem::zeroed() }
}

impl Peer<'_> {
    /// Starts to send bytes, at most `INT_MAX`.
    ///
    /// # Safety
    /// The bytes must be left alone until the request is complete.
    #[inline]
    unsafe fn start_send(self, bytes: &[u8], tag: c_int) -> Result<MPI_Request> {
        let (mut request, rank) = (null(), to_int(self.rank));
        let (at, length) = (bytes.as_ptr().cast(), to_int(bytes.len()));
        // SAFETY: the buffer has the given length; the caller vouches for the rest.
        let rc = unsafe { mpi_sys::MPI_Isend(at, length, datatype::byte().raw(), rank, tag, self.comm.raw(), &mut request) };
        check(rc, "MPI_Isend")?;
        Ok(request)
    }

    /// Starts to receive at most `bytes.len()` bytes.
    ///
    /// # Safety
    /// As for `start_send`.
    #[inline]
    unsafe fn start_receive(self, bytes: &mut [u8], tag: c_int) -> Result<MPI_Request> {
        let (mut request, rank) = (null(), to_int(self.rank));
        let (at, length) = (bytes.as_mut_ptr().cast(), to_int(bytes.len()));
        // SAFETY: the buffer has the given length; the caller vouches for the rest.
        let rc = unsafe { mpi_sys::MPI_Irecv(at, length, datatype::byte().raw(), rank, tag, self.comm.raw(), &mut request) };
        check(rc, "MPI_Irecv")?;
        Ok(request)
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
    fn finish(self, mut request: MPI_Request, receives: bool) -> Result<()> {
        let (mut status, mut done, mut patience) = (empty_status(), 0, Patience::default());
        loop {
            // SAFETY: a live request; the results are locals.
            check(unsafe { mpi_sys::MPI_Test(&mut request, &mut done, &mut status) }, "MPI_Test")?;
            if done != 0 {
                return Ok(());
            }
            if patience.is_over() {
                self.look(&mut patience).inspect_err(|_| {
                    if receives {
                        // SAFETY: a live request; nothing comes any more.
                        unsafe { mpi_sys::MPI_Cancel(&mut request) };
                    }
                })?;
            }
        }
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
        let (mut status, mut done) = (empty_status(), 0);
        // SAFETY: the buffer is borrowed until the request is complete.
        let mut request = unsafe { self.start_send(bytes, tag) }?;
        // polls take no simulated time
        super::pass_time(patience);
        let (begin, mut backoff) = (now(), Backoff::new(super::resting(Pace::YIELDING)));
        loop {
            // SAFETY: a live request; the results are locals.
            check(unsafe { mpi_sys::MPI_Test(&mut request, &mut done, &mut status) }, "MPI_Test")?;
            if done != 0 || super::is_simulated() || now() - begin > patience {
                break;
            }
            backoff.snooze();
        }
        let meanwhile = meanwhile();
        let waited = if done == 0 { self.finish(request, false) } else { Ok(()) };
        meanwhile.and(waited)?;
        Ok(done != 0)
    }
}

/// Runs a barrier in which processes sleep, so that late ones have their cores. Returns up to
/// [`NAP`](crate::util::backoff::NAP) late. Collective.
pub fn idle_barrier(comm: &Comm) -> Result<()> {
    let (mut request, mut status, mut done) = (null(), empty_status(), 0);
    comm.is_whole()?;
    // SAFETY: a live communicator; the request is a local.
    check(unsafe { mpi_sys::MPI_Ibarrier(comm.raw(), &mut request) }, "MPI_Ibarrier")?;
    let (mut patience, mut backoff) = (Patience::default(), Backoff::new(super::resting(Pace::SLEEPING)));
    loop {
        // SAFETY: a live request; the results are locals.
        check(unsafe { mpi_sys::MPI_Test(&mut request, &mut done, &mut status) }, "MPI_Test")?;
        if done != 0 {
            return Ok(());
        }
        if patience.is_over() {
            patience.look_at_all(comm)?;
        }
        backoff.snooze();
    }
}
