//! Between C and Rust: panics and errors become MPI error codes, after the communicator's error handler has been called.

use std::ffi::c_int;

use super::args::Sides;
use crate::error::{Error, Result, catch};
use crate::exec::buffers::Buffers;
use crate::handle::{self, Operation};
use crate::mpi::attribute::Key;
use crate::mpi::{self, MPI_Comm, comm, errors};

/// Text of the last error of a call on a communicator.
static LAST_ERROR: Key<String> = Key::new();

/// Runs the body of a function that works on a communicator.
#[inline(always)]
pub fn call(function: &str, comm: MPI_Comm, body: impl FnOnce() -> Result<()>) -> c_int {
    let failed = match catch(|| if comm::is_null(comm) { Err(null_comm().into()) } else { body() }) {
        Ok(()) => return mpi::success(),
        Err(error) => report(function, comm, error),
    };
    // The handler may jump out of this function (longjmp): nothing that would have to be dropped is alive here.
    if let Some(handled_by) = failed.handler_of {
        // SAFETY: a communicator, as the function's documentation asks for.
        unsafe { errors::call_handler(handled_by, failed.code) };
    }
    failed.code
}

/// What is left of an error when it has been reported.
#[derive(Clone, Copy)]
struct Failed {
    code: c_int,
    /// The communicator whose error handler is to be called, if any can be.
    handler_of: Option<MPI_Comm>,
}

/// Runs a neighborhood collective with the buffers that `buffers` makes of its arguments.
///
/// # Safety
/// `comm` must be a communicator, and the buffers what the prototype asks for.
#[inline(always)]
pub unsafe fn collective<'a>(
    function: &str,
    operation: Operation,
    comm: MPI_Comm,
    buffers: impl FnOnce(Sides) -> Result<Buffers<'a>>,
) -> c_int {
    call(function, comm, || {
        // SAFETY: the caller vouches for `comm`; collectives on one communicator do not run at the same time.
        let slot = unsafe { handle::lookup(comm, operation) }?;
        let n = slot.neighborhood();
        let sides = Sides::new(n.sources().len(), n.targets().len(), slot.extents());
        match buffers(sides) {
            // SAFETY: the caller vouches for the buffers.
            Ok(buffers) => unsafe { slot.run(Ok(&buffers)) },
            // SAFETY: nothing is read or written.
            Err(error) => unsafe { slot.run(Err(error)) },
        }
    })
}

#[cold]
fn null_comm() -> Error {
    Error::NullHandle { argument: crate::error::Argument::new("comm"), null: "MPI_COMM_NULL", class: crate::error::Class::Comm }
}

/// Writes a line to standard error in one piece, so that several processes' lines do not mix.
fn print(text: &str) {
    use std::io::Write;
    // there is no one to tell if this fails
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Makes an error's code, leaves its text where a caller finds it, and drops it.
#[cold]
fn report(function: &str, comm: MPI_Comm, error: Box<Error>) -> Failed {
    let mut failed = Failed { code: errors::OTHER_THAN_SUCCESS, handler_of: None };
    let reported = catch(|| {
        let text = format!("{function}: {error}");
        // under another MPI no handle and no constant is valid; outside init and finalize there is no handler
        if !mpi::is_usable() || mpi::check_family().is_err() {
            print(&text);
            return Ok(());
        }
        let (code, carries_text) = errors::code_for(&error, &text);
        // MPI calls the handler of MPI_COMM_WORLD for errors that belong to no communicator
        let comm = if comm::is_null(comm) { comm::world() } else { comm };
        failed = Failed { code, handler_of: Some(comm) };
        // SAFETY: `comm` is a communicator, as the function's documentation asks for. The text's owner is the communicator.
        unsafe {
            if !carries_text && errors::is_fatal(comm) {
                print(&text);
            }
            LAST_ERROR.set(comm, text)
        }
    });
    // neither a panic nor a text that cannot be kept changes what the caller is told
    drop(reported);
    failed
}

/// The text of the last error of a call on a communicator; empty if there was none.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn last_error<'a>(comm: MPI_Comm) -> Result<&'a str> {
    // SAFETY: the caller vouches for `comm`; the string lives until the next error on it.
    Ok(unsafe { LAST_ERROR.get(comm)?.as_ref() }.map_or("", |s| s.as_str()))
}
