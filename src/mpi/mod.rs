//! Thin layer over the MPI library: the only module that touches `mpi_sys`.
//!
//! Every return code becomes a [`Result`]. Functions that take pointers or handles from a caller are `unsafe`: MPI checks what it can,
//! the caller vouches for the rest.

// MPI_Aint and MPI_Count are other integer types in each MPI
#![allow(clippy::unnecessary_cast)]

use std::ffi::c_int;

pub use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request, MPI_Status};

use crate::error::{Error, Result};

pub mod attribute;
pub mod coll;
pub mod comm;
pub mod datatype;
pub mod device;
pub mod errors;
pub mod family;
pub mod guard;
pub mod info;
pub mod leftover;
pub mod liveness;
pub mod message;
pub mod of_process;
pub mod op;
pub mod p2p;
pub mod pair;
pub mod start;
pub mod tally;
pub mod topology;
pub mod typemap;
pub mod window;

unsafe extern "C" {
    static mpixn_in_place: *const std::ffi::c_void;
}

/// Whether a buffer is `MPI_IN_PLACE`.
pub fn is_in_place(buffer: *const std::ffi::c_void) -> bool {
    // SAFETY: a constant of the C file.
    buffer == unsafe { mpixn_in_place }
}

/// `MPI_PROC_NULL`.
pub fn proc_null() -> c_int {
    // SAFETY: a constant of mpi-sys' C file.
    unsafe { mpi_sys::RSMPI_PROC_NULL }
}

/// `MPI_UNDEFINED`.
pub fn undefined() -> c_int {
    // SAFETY: a constant of mpi-sys' C file.
    unsafe { mpi_sys::RSMPI_UNDEFINED }
}

/// `MPI_SUCCESS`.
#[inline]
pub const fn success() -> c_int {
    mpi_sys::MPI_SUCCESS as c_int
}

/// Makes a return code a result.
#[inline]
pub fn check(rc: c_int, call: &'static str) -> Result<()> {
    if rc == success() { Ok(()) } else { Err(failed(rc, call)) }
}

/// The error for a return code.
#[cold]
pub fn failed(rc: c_int, call: &'static str) -> Box<Error> {
    Box::new(Error::Mpi { call, code: rc, text: errors::string(rc) })
}

/// Whether MPI can be called now: initialized and not finalized.
pub fn is_usable() -> bool {
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: both functions may be called at any time; the results are locals.
    unsafe {
        mpi_sys::MPI_Initialized(&mut initialized);
        mpi_sys::MPI_Finalized(&mut finalized);
    }
    initialized != 0 && finalized == 0
}

/// `MPI_Wtime`, in seconds.
pub fn time() -> f64 {
    // SAFETY: may be called whenever MPI can be.
    unsafe { mpi_sys::RSMPI_Wtime() }
}

/// Name and version of the running MPI library, first line.
pub fn library_version() -> String {
    /// More than any MPI's MPI_MAX_LIBRARY_VERSION_STRING: the MPI that answers may be another one than the library was built for.
    const LENGTH: usize = 1 << 16;
    // SAFETY: the buffer is longer than what any MPI writes.
    unsafe {
        let mut text = vec![0u8; LENGTH];
        let mut length = 0;
        mpi_sys::MPI_Get_library_version(text.as_mut_ptr().cast(), &mut length);
        text.truncate(length.max(0) as usize);
        // Open MPI 4 counts the final null too
        let text = String::from_utf8_lossy(&text).replace('\t', " ");
        text.lines().next().unwrap_or_default().trim_end_matches('\0').to_owned()
    }
}

/// Whether waiting in MPI gives the core away where processes share cores. Open MPI does so when its launcher sees it; MPICH's wait keeps the core
/// that its peer needs (milliseconds a call, seen in 4.0.2).
pub fn wait_yields() -> bool {
    is_open_mpi()
}

/// Whether the MPI is Open MPI.
pub fn is_open_mpi() -> bool {
    family::built() == "Open MPI"
}
