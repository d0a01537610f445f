//! Windows that are open to puts of all processes as long as they live.

use std::ffi::c_int;

use super::coll::{self, Reduction};
use super::comm::Owned as Comm;
use super::{MPI_Aint, check, datatype};
use crate::error::{Error, Result};
use crate::util::cast::to_int;

unsafe extern "C" {
    safe static mpixn_mode_nocheck: c_int;
    safe fn mpixn_win_model() -> c_int;
    safe fn mpixn_win_unified() -> c_int;
}

/// Bytes on their way into the memory of another process.
#[derive(Debug, Clone, Copy)]
pub struct Put {
    /// Address of the first one.
    pub at: *const u8,
    /// How many.
    pub bytes: usize,
    /// The process.
    pub target: u32,
    /// Where in its memory they go.
    pub offset: u64,
}

/// Starts a put into a window.
///
/// # Safety
/// The bytes must be readable, and not be written, until the put is complete.
pub(super) unsafe fn put(window: mpi_sys::MPI_Win, Put { at, bytes, target, offset }: Put) -> Result<()> {
    let byte = datatype::byte().raw();
    let (count, target, offset) = (to_int(bytes), to_int(target), to_int::<MPI_Aint>(offset));
    // SAFETY: a live window; the caller vouches for the bytes.
    check(unsafe { mpi_sys::MPI_Put(at.cast(), count, byte, target, offset, count, byte, window) }, "MPI_Put")
}

/// Lets all processes put into a window at any time, as long as it lives. Collective over `comm`.
/// Where this fails on a process, it fails on all.
pub(super) fn open_to_all(window: mpi_sys::MPI_Win, comm: &Comm) -> Result<Result<()>> {
    let (mut model, mut found): (*mut c_int, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live window; the attribute's value is a pointer to an int that lives as long.
    let is_unified = unsafe {
        let at = (&raw mut model).cast();
        let asked = check(mpi_sys::MPI_Win_get_attr(window, mpixn_win_model(), at, &mut found), "MPI_Win_get_attr");
        asked.map(|()| found != 0 && !model.is_null() && *model == mpixn_win_unified())
    };
    let opened = match is_unified {
        // SAFETY: a live window. Nobody locks it exclusively.
        Ok(true) => check(unsafe { mpi_sys::MPI_Win_lock_all(mpixn_mode_nocheck, window) }, "MPI_Win_lock_all"),
        Ok(false) => Err(Error::Internal("puts are not seen in the memory of a window without synchronizing it".into()).into()),
        Err(e) => Err(e),
    };
    let [all] = coll::allreduce(comm, [i64::from(opened.is_ok())], Reduction::Min)?;
    if all == 0 && opened.is_ok() {
        close_to_all(window)?;
        return Ok(Err(Error::Internal("another process cannot use its window".into()).into()));
    }
    Ok(opened)
}

/// Ends what `open_to_all` has begun.
pub(super) fn close_to_all(window: mpi_sys::MPI_Win) -> Result<()> {
    // SAFETY: a live window that is locked.
    check(unsafe { mpi_sys::MPI_Win_unlock_all(window) }, "MPI_Win_unlock_all")
}
