//! Initializes and finalizes MPI, for programs that use this crate directly.

use std::ffi::c_int;

use super::check;
use super::comm::world;
use super::constants::RSMPI_ERRORS_RETURN;
use crate::error::Result;

/// Initializes MPI (`MPI_Init`). Errors on `MPI_COMM_WORLD` are returned as codes from then on.
pub fn init() -> Result<()> {
    // SAFETY: both pointers may be null; the handles are constants.
    unsafe {
        check(mpi_sys::MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()), "MPI_Init")?;
        check(mpi_sys::MPI_Comm_set_errhandler(world().raw(), RSMPI_ERRORS_RETURN), "MPI_Comm_set_errhandler")
    }
}

/// Finalizes MPI (`MPI_Finalize`), if it is still usable. Collective over the world.
pub fn finalize() -> Result<()> {
    if !super::is_usable() {
        return Ok(());
    }
    // SAFETY: initialized and not finalized.
    check(unsafe { mpi_sys::MPI_Finalize() }, "MPI_Finalize")
}

/// Ends all processes (`MPI_Abort`).
pub fn abort(code: c_int) {
    // SAFETY: a constant handle; callers have initialized MPI. If it returns, there is nothing more
    // to do.
    unsafe { mpi_sys::MPI_Abort(world().raw(), code) };
}
