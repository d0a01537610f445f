//! Versions and errors.

use std::ffi::{c_char, c_int};

use super::args::Results;
use super::{args, boundary};
use crate::error::{Argument, Class, Error};
use crate::mpi::{MPI_Comm, comm, errors};

/// Major version of this header.
pub const MPIX_NEIGHBOR_VERSION_MAJOR: c_int = 0;
/// Minor version of this header.
pub const MPIX_NEIGHBOR_VERSION_MINOR: c_int = 1;
/// Patch version of this header.
pub const MPIX_NEIGHBOR_VERSION_PATCH: c_int = 0;

/// Selector for `MPIX_Neighbor_error_class`, not an error class: do not compare codes or classes
/// with it. The arguments of a set call do not match between processes.
pub const MPIX_ERR_MISMATCH: c_int = 1;
/// Selector for `MPIX_Neighbor_error_class`, not an error class: do not compare codes or classes
/// with it. Verification found that the two ends of an edge do not match.
pub const MPIX_ERR_VERIFY: c_int = 2;

/// Returns the version of the library that is linked.
///
/// # Safety
/// The pointers must be writable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_get_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> c_int {
    boundary::call_on("MPIX_Neighbor_get_version", comm::world, || {
        // SAFETY: the caller vouches for the pointers.
        unsafe {
            let (a, b, c) = (Results::one("major", major)?, Results::one("minor", minor)?, Results::one("patch", patch)?);
            a.write([MPIX_NEIGHBOR_VERSION_MAJOR]);
            b.write([MPIX_NEIGHBOR_VERSION_MINOR]);
            c.write([MPIX_NEIGHBOR_VERSION_PATCH]);
        }
        Ok(())
    })
}

/// Returns an error class that this library added to MPI's, for comparison with what
/// `MPI_Error_class` returns.
///
/// # Safety
/// `errorclass` must be writable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_error_class(which: c_int, errorclass: *mut c_int) -> c_int {
    boundary::call_on("MPIX_Neighbor_error_class", comm::world, || {
        let class = match which {
            MPIX_ERR_MISMATCH => Class::Mismatch,
            MPIX_ERR_VERIFY => Class::Verify,
            _ => return Err(Error::UnknownClass { argument: Argument::new("which"), value: which.into() }.into()),
        };
        // SAFETY: the caller vouches for the pointer.
        unsafe { Results::one("errorclass", errorclass) }?.write([errors::own_class(class)]);
        Ok(())
    })
}

/// Returns the text of the last error that a function of this library reported on a communicator.
///
/// # Safety
/// `comm` must be a communicator, `string` writable for `length` characters, `resultlen` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_error_string(
    comm: MPI_Comm,
    length: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Neighbor_error_string", comm, |comm| {
            args::text(&boundary::last_error(comm)?, length, string, resultlen)
        })
    }
}
