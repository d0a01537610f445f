//! The boundary between C and Rust: turns panics and errors into MPI error codes and calls the
//! communicator's error handler.

use std::ffi::c_int;

use crate::error::{Argument, Class, Error, Result, catch};
use crate::logging;
use crate::mpi::attribute::Key;
use crate::mpi::{self, MPI_Comm, comm, errors};

/// Text of the last error reported on a communicator.
static LAST_ERROR: Key<String> = Key::new();

/// Runs the body of a function that works on a communicator.
#[inline(always)]
pub fn call(function: &str, comm: MPI_Comm, body: impl FnOnce() -> Result<()>) -> c_int {
    mpi::family::require(function);
    match catch(|| if comm::is_null(comm) { Err(null_comm().into()) } else { body() }) {
        Ok(()) => mpi::success(),
        Err(error) => fail(function, comm, error),
    }
}

/// Runs the body of a function that works on requests of different communicators. With an error,
/// the body returns the communicator to report it on.
pub fn call_requests(function: &str, body: impl FnOnce() -> std::result::Result<(), (MPI_Comm, Box<Error>)>) -> c_int {
    mpi::family::require(function);
    match catch(|| Ok(body())) {
        Ok(Ok(())) => mpi::success(),
        Ok(Err((comm, error))) => fail(function, comm, error),
        Err(error) => fail(function, comm::world(), error),
    }
}

/// Reports an error and returns its code.
#[cold]
fn fail(function: &str, comm: MPI_Comm, error: Box<Error>) -> c_int {
    let failed = report(function, comm, error);
    // The handler may jump out of this function (longjmp), so nothing that needs dropping is alive
    // here.
    if let Some(handled_by) = failed.handler_of {
        // SAFETY: it is a communicator, as the C function requires.
        unsafe { errors::call_handler(handled_by, failed.code) };
    }
    failed.code
}

/// An error that has been reported.
#[derive(Clone, Copy)]
struct Failed {
    code: c_int,
    /// The communicator whose error handler is still to be called, if one can be.
    handler_of: Option<MPI_Comm>,
}

#[cold]
fn null_comm() -> Error {
    Error::NullHandle { argument: Argument::new("comm"), null: "MPI_COMM_NULL", class: Class::Comm }
}

/// Writes a line to standard error in one piece, so that the lines of several processes do not mix.
fn print(text: &str) {
    use std::io::Write;
    // a failure cannot be reported anywhere
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Makes an error's code, and keeps its text for `MPIX_Neighbor_error_string`. Drops the error.
#[cold]
fn report(function: &str, comm: MPI_Comm, error: Box<Error>) -> Failed {
    let mut failed = Failed { code: errors::OTHER_THAN_SUCCESS, handler_of: None };
    let reported = catch(|| {
        let text = format!("{function}: {error}");
        // before MPI_Init and after MPI_Finalize there is no handler
        if !mpi::is_usable() {
            print(&text);
            return Ok(());
        }
        let (code, carries_text) = errors::code_for(&error, &text);
        // MPI calls the handler of MPI_COMM_WORLD for errors that belong to no communicator
        let comm = if comm::is_null(comm) { comm::world() } else { comm };
        failed = Failed { code, handler_of: Some(comm) };
        // SAFETY: `comm` is a communicator, as the C function requires. It owns the text.
        unsafe {
            logging::start();
            if !carries_text && errors::is_fatal(comm) {
                print(&text);
            } else {
                log::error!("{text}");
            }
            LAST_ERROR.set(comm, text)
        }
    });
    // the caller gets the same code after a panic, or if the text cannot be kept
    drop(reported);
    failed
}

/// Returns the text of the last error reported on a communicator, empty if there was none.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn last_error<'a>(comm: MPI_Comm) -> Result<&'a str> {
    // SAFETY: the caller vouches for `comm`; the string lives until the next error on it.
    Ok(unsafe { LAST_ERROR.get(comm)?.as_ref() }.map_or("", |s| s.as_str()))
}
