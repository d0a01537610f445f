//! A window of counters that other processes add to.

use super::comm::Owned as Comm;
use super::message::Request;
use super::{MPI_Aint, check};
use crate::error::Result;

/// Counters of each process in memory that all can add to; freed when dropped.
#[derive(Debug)]
pub struct Counters {
    window: mpi_sys::MPI_Win,
    me: u32,
}

impl Counters {
    /// `count` counters on each process, all 0. Collective. The window stays open for access by all (`MPI_Win_lock_all`).
    pub fn new(count: usize, comm: &Comm) -> Result<Counters> {
        // SAFETY: a live communicator; results are locals. The memory belongs to the window, has room for the counters, and nobody
        // accesses it before the barrier.
        unsafe {
            let me = super::comm::rank(comm.raw())?;
            let mut window = mpi_sys::RSMPI_WIN_NULL;
            let mut base: *mut u64 = std::ptr::null_mut();
            let word = size_of::<u64>();
            check(
                mpi_sys::MPI_Win_allocate(
                    (count * word) as MPI_Aint,
                    word as i32,
                    mpi_sys::RSMPI_INFO_NULL,
                    comm.raw(),
                    (&raw mut base).cast(),
                    &mut window,
                ),
                "MPI_Win_allocate",
            )?;
            let counters = Counters { window, me };
            check(mpi_sys::MPI_Win_set_errhandler(window, mpi_sys::RSMPI_ERRORS_RETURN), "MPI_Win_set_errhandler")?;
            check(mpi_sys::MPI_Win_lock_all(0, window), "MPI_Win_lock_all")?;
            std::slice::from_raw_parts_mut(base, count).fill(0);
            check(mpi_sys::MPI_Win_sync(window), "MPI_Win_sync")?;
            check(mpi_sys::MPI_Barrier(comm.raw()), "MPI_Barrier")?;
            Ok(counters)
        }
    }

    /// Begins to add 1 to a counter of a process. The request is complete when that has been done.
    ///
    /// # Safety
    /// `found` must stay where it is until the request is complete.
    pub unsafe fn count_up(&self, found: &mut u64, target: u32, counter: usize) -> Result<Request> {
        /// Read until the addition is complete.
        static ONE: u64 = 1;
        let mut request = Request::default();
        // SAFETY: the caller vouches for `found`; constants live for ever, the request is a local.
        unsafe {
            let (word, sum) = (mpi_sys::RSMPI_UINT64_T, mpi_sys::RSMPI_SUM);
            let (target, at) = (target as i32, counter as MPI_Aint);
            let (from, into) = ((&raw const ONE).cast(), (&raw mut *found).cast());
            check(
                mpi_sys::MPI_Rget_accumulate(
                    from,
                    1,
                    word,
                    into,
                    1,
                    word,
                    target,
                    at,
                    1,
                    word,
                    sum,
                    self.window,
                    request.raw_mut(),
                ),
                "MPI_Rget_accumulate",
            )?;
        }
        Ok(request)
    }

    /// The caller's own counter.
    pub fn own(&self, counter: usize) -> Result<u64> {
        let (mut value, zero) = (0u64, 0u64);
        // SAFETY: results are locals that live until the flush; adding 0 is atomic with the additions of others.
        unsafe {
            let (word, sum) = (mpi_sys::RSMPI_UINT64_T, mpi_sys::RSMPI_SUM);
            let at = counter as MPI_Aint;
            let (from, into) = ((&raw const zero).cast(), (&raw mut value).cast());
            check(mpi_sys::MPI_Fetch_and_op(from, into, word, self.me as i32, at, sum, self.window), "MPI_Fetch_and_op")?;
            check(mpi_sys::MPI_Win_flush(self.me as i32, self.window), "MPI_Win_flush")?;
        }
        Ok(value)
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        if super::is_usable() {
            // SAFETY: a live window, which no one else has. Errors have no one to go to.
            unsafe {
                mpi_sys::MPI_Win_unlock_all(self.window);
                mpi_sys::MPI_Win_free(&mut self.window);
            }
        }
    }
}
