//! Return codes of MPI functions, and their texts.

use std::ffi::c_int;

use crate::error::{Error, Result};
use crate::util::cast::to_usize;

unsafe extern "C" {
    safe static mpixn_max_error_string: c_int;
}

/// `MPI_SUCCESS`.
#[inline]
#[allow(clippy::cast_possible_wrap, reason = "its type is another one in each MPI")]
pub const fn success() -> c_int {
    mpi_sys::MPI_SUCCESS as c_int
}

/// Turns a return code into a result.
#[inline]
pub fn check(rc: c_int, call: &'static str) -> Result<()> {
    if rc == success() { Ok(()) } else { Err(failed(rc, call)) }
}

/// Returns the error for a return code.
#[cold]
pub fn failed(rc: c_int, call: &'static str) -> Box<Error> {
    Box::new(Error::Mpi { call, code: rc, text: string(rc) })
}

/// Returns the text of a code (`MPI_Error_string`).
pub fn string(code: c_int) -> String {
    // SAFETY: the buffer has the length that the standard asks for.
    unsafe {
        let mut text = vec![0u8; to_usize(mpixn_max_error_string) + 1];
        let mut length = 0;
        if mpi_sys::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) != success() {
            return format!("error code {code}");
        }
        text.truncate(usize::try_from(length).unwrap_or(0));
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Returns the error class of a code.
pub fn class_of(code: c_int) -> c_int {
    let mut class = code;
    // SAFETY: the result is a local; on failure the code stands for itself.
    unsafe { mpi_sys::MPI_Error_class(code, &mut class) };
    class
}

/// Returns MPI's text of an error, without the name of the function that was called only to ask.
#[cold]
pub fn text_of(error: Error) -> String {
    match error {
        Error::Mpi { text, .. } => text,
        other => other.to_string(),
    }
}
