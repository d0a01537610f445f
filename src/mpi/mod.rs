//! Thin layer over the MPI library: the only module that touches `mpi_sys`.
//!
//! Every return code becomes a [`Result`](crate::error::Result). [`Datatype`], [`Op`] and
//! [`Communicator`] are handles that someone has vouched for: functions that need no more than a
//! live handle are safe on them. Functions that take pointers from a caller are `unsafe`: MPI
//! checks what it can, the caller vouches for the rest.

// MPI_Aint and MPI_Count are different integer types in each MPI
#![allow(clippy::unnecessary_cast)]

use std::ffi::c_int;

use crate::error::{Error, Result};

pub use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request, MPI_Status};

pub mod attached;
pub mod attribute;
pub mod barrier;
mod code;
pub mod coll;
pub mod comm;
mod constants;
pub mod counters;
pub mod datatype;
pub mod device;
pub mod envelope;
pub mod errors;
pub mod family;
pub mod finalize;
mod freed_at_end;
pub mod group;
pub mod guard;
pub mod info;
pub mod landing;
pub mod liveness;
pub mod message;
pub mod notice;
pub mod of_process;
pub mod op;
pub mod p2p;
pub mod passive;
pub mod peer;
pub mod persistent;
pub mod posted;
pub mod request;
pub mod sink;
mod split;
pub mod start;
pub mod tally;
pub mod topology;

pub use comm::Communicator;
pub use datatype::Datatype;
pub use op::Op;

pub use code::{check, failed, success, text_of};
pub use family::{flaw_of_epochs, is_open_mpi, is_simulated, pass_time, resting, wait_yields};

unsafe extern "C" {
    safe static mpixn_in_place: *const std::ffi::c_void;
    safe static mpixn_thread_multiple: c_int;
}

/// Returns true if a buffer is `MPI_IN_PLACE`.
pub fn is_in_place(buffer: *const std::ffi::c_void) -> bool {
    buffer == mpixn_in_place
}

/// `MPI_PROC_NULL`.
pub fn proc_null() -> c_int {
    constants::RSMPI_PROC_NULL
}

/// `MPI_UNDEFINED`.
pub fn undefined() -> c_int {
    constants::RSMPI_UNDEFINED
}

/// Returns true if MPI can be called: initialized and not finalized.
pub fn is_usable() -> bool {
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: both functions may be called at any time; the results are locals.
    unsafe {
        mpi_sys::MPI_Initialized(&mut initialized);
        mpi_sys::MPI_Finalized(&mut finalized);
    }
    initialized != 0 && finalized == 0
}

/// Fails unless MPI can be called and was initialized by `MPI_Init` or `MPI_Init_thread`: programs
/// with sessions alone have no `MPI_COMM_SELF`.
pub fn require_world() -> Result<()> {
    if is_usable() { Ok(()) } else { Err(Error::NoWorld.into()) }
}

/// Returns true if several threads may call MPI at the same time (`MPI_THREAD_MULTIPLE`).
pub fn has_several_threads() -> Result<bool> {
    let mut level = 0;
    // SAFETY: the result is a local.
    check(unsafe { mpi_sys::MPI_Query_thread(&mut level) }, "MPI_Query_thread")?;
    Ok(level >= mpixn_thread_multiple)
}

/// `MPI_Wtime`, in seconds.
pub fn time() -> f64 {
    constants::RSMPI_Wtime()
}

/// Returns the name of the caller's node (`MPI_Get_processor_name`); empty if MPI has none.
pub fn processor_name() -> String {
    /// More than any MPI's `MPI_MAX_PROCESSOR_NAME`.
    const LENGTH: usize = 1 << 12;
    let (mut text, mut length) = (vec![0u8; LENGTH], 0);
    // SAFETY: the buffer is longer than what any MPI writes.
    unsafe { mpi_sys::MPI_Get_processor_name(text.as_mut_ptr().cast(), &mut length) };
    text.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}

/// Returns the name and version of the running MPI library, in one line.
pub fn library_version() -> String {
    library_description().lines().next().unwrap_or_default().to_owned()
}

/// Returns all that the running MPI library says of itself (`MPI_Get_library_version`).
fn library_description() -> String {
    /// More than any MPI's `MPI_MAX_LIBRARY_VERSION_STRING`: the library may run under another MPI
    /// than it was built for.
    const LENGTH: usize = 1 << 16;
    // SAFETY: the buffer is longer than what any MPI writes.
    unsafe {
        let mut text = vec![0u8; LENGTH];
        let mut length = 0;
        mpi_sys::MPI_Get_library_version(text.as_mut_ptr().cast(), &mut length);
        text.truncate(usize::try_from(length).unwrap_or(0));
        // Open MPI 4 counts the terminating null
        String::from_utf8_lossy(&text).replace('\t', " ").trim_end_matches('\0').to_owned()
    }
}
