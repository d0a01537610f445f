//! A window of counters that all processes can add to.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::coll;
use super::comm::Owned as Comm;
use super::constants::{RSMPI_ERRORS_RETURN, RSMPI_INFO_NULL, RSMPI_SUM, RSMPI_UINT64_T, RSMPI_WIN_NULL};
use super::freed_at_end::{self, FreedAtEnd};
use super::request::Request;
use super::tally::Tally;
use super::{MPI_Aint, check};
use crate::error::Result;
use crate::util::cast::to_int;

/// Counters on each process that all processes can add to. Freed by [`free`](Counters::free), as
/// that is collective, or else when MPI is finalized.
#[derive(Debug)]
pub struct Counters {
    window: mpi_sys::MPI_Win,
    /// Its place among those that are freed together.
    number: i64,
    /// Outlives the window: in MPICH 4.0, a later window may be taken for one that outlives its
    /// communicator.
    comm: Arc<Comm>,
    me: u32,
    freed: AtomicBool,
    /// Counts the operations of this process, if the environment asks for it.
    tally: Option<Arc<Tally>>,
}

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Counters {}
// SAFETY: as above.
unsafe impl Sync for Counters {}

impl Counters {
    /// Makes `count` counters on each process, all 0. The window stays open for access by all
    /// (`MPI_Win_lock_all`). Collective; fails on all processes if it fails on one.
    pub fn new(count: usize, comm: &Arc<Comm>) -> Result<Arc<Counters>> {
        freed_at_end::prepare()?;
        // making a window blocks inside MPI: enter it only when all are here
        coll::barrier(comm)?;
        // SAFETY: a live communicator; results are locals. The memory is the window's, has the
        // given length, and is written before others can add to it.
        unsafe {
            let me = comm.rank()?;
            coll::count(Some(comm), 0);
            let mut window = RSMPI_WIN_NULL;
            let (bytes, word) = (to_int::<MPI_Aint>(count * size_of::<u64>()), to_int(size_of::<u64>()));
            let mut memory: *mut u64 = std::ptr::null_mut();
            let (info, at) = (RSMPI_INFO_NULL, (&raw mut memory).cast());
            // MPI allocates the memory so that a node shares it: in Open MPI 4, additions to other
            // memory block until the target responds, which may have ended
            let made = check(mpi_sys::MPI_Win_allocate(bytes, word, info, comm.raw(), at, &mut window), "MPI_Win_allocate");
            if made.is_ok() {
                memory.write_bytes(0, count);
            }
            let number = freed_at_end::agree(made, "MPI_Win_allocate", comm)??;
            let (freed, tally) = (AtomicBool::new(false), comm.tally().cloned());
            let counters = Arc::new(Counters { window, number, comm: Arc::clone(comm), me, freed, tally });
            freed_at_end::keep(number, Arc::clone(&counters) as Arc<dyn FreedAtEnd>)?;
            check(mpi_sys::MPI_Win_set_errhandler(window, RSMPI_ERRORS_RETURN), "MPI_Win_set_errhandler")?;
            check(mpi_sys::MPI_Win_lock_all(0, window), "MPI_Win_lock_all")?;
            Ok(counters)
        }
    }

    /// Frees the window, unless a process is not `idle`: an exchange still runs there. Collective.
    pub fn free(&self, idle: bool) -> Result<()> {
        if super::is_usable() && self.free_if_all(idle)? {
            freed_at_end::forget(self.number)?;
        }
        Ok(())
    }

    /// Frees the window if all processes are idle, and returns true then.
    fn free_if_all(&self, idle: bool) -> Result<bool> {
        freed_at_end::free_if_all(&self.comm, &self.freed, idle, || {
            let mut window = self.window;
            // SAFETY: a live window, which nobody uses any more.
            unsafe {
                check(mpi_sys::MPI_Win_unlock_all(window), "MPI_Win_unlock_all")?;
                check(mpi_sys::MPI_Win_free(&mut window), "MPI_Win_free")
            }
        })
    }

    /// Counts an operation on one counter.
    fn tally(&self) {
        if let Some(tally) = &self.tally {
            tally.operate([0, 0, 1, size_of::<u64>() as u64]);
        }
    }

    /// Completes all additions at their targets.
    pub fn complete(&self) -> Result<()> {
        // SAFETY: a live window.
        check(unsafe { mpi_sys::MPI_Win_flush_all(self.window) }, "MPI_Win_flush_all")
    }

    /// Starts to add 1 to a counter of a process. The request is complete when `found` holds the
    /// previous value; `complete` completes it at the target.
    ///
    /// # Safety
    /// `found` must stay where it is until the request is complete.
    pub unsafe fn count_up(&self, found: &mut u64, target: u32, counter: usize) -> Result<Request> {
        /// Read until the addition is complete.
        static ONE: u64 = 1;
        let mut request = Request::default();
        self.tally();
        // SAFETY: the caller vouches for `found`; constants live forever, the request is a local.
        unsafe {
            let (word, sum) = (RSMPI_UINT64_T, RSMPI_SUM);
            let (target, at) = (to_int(target), to_int(counter));
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

    /// Returns a counter of the caller's.
    pub fn own(&self, counter: usize) -> Result<u64> {
        let (mut value, zero) = (0u64, 0u64);
        self.tally();
        // SAFETY: results are locals that live until the flush; adding 0 is atomic with the
        // additions of others.
        unsafe {
            let (word, sum) = (RSMPI_UINT64_T, RSMPI_SUM);
            let (me, at) = (to_int(self.me), to_int(counter));
            let (from, into) = ((&raw const zero).cast(), (&raw mut value).cast());
            check(mpi_sys::MPI_Fetch_and_op(from, into, word, me, at, sum, self.window), "MPI_Fetch_and_op")?;
            check(mpi_sys::MPI_Win_flush(me, self.window), "MPI_Win_flush")?;
        }
        Ok(value)
    }
}

impl FreedAtEnd for Counters {
    fn free_at_end(&self) {
        let _ = self.free_if_all(true);
    }
}
