//! Agreement: finds out if something holds on all processes.

use std::ffi::c_void;

use mpi_sys::MPI_Comm;

use crate::errors::SUCCESS;

/// True if `mine` is true on all processes. Collective over `comm`.
///
/// # Safety
/// `comm` must be a communicator of this library.
pub unsafe fn all(comm: MPI_Comm, mine: bool) -> bool {
    let (mine, mut all) = (i64::from(mine), 0i64);
    // SAFETY: locals of one element; the caller vouches for the communicator.
    let code = unsafe {
        let (from, into) = ((&raw const mine).cast::<c_void>(), (&raw mut all).cast::<c_void>());
        mpi_sys::MPI_Allreduce(from, into, 1, mpi_sys::RSMPI_INT64_T, mpi_sys::RSMPI_MIN, comm)
    };
    code == SUCCESS && all == 1
}
