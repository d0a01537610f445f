//! The boundary between C and Rust: turns panics and errors into MPI error codes and calls the
//! communicator's error handler.

use std::ffi::c_int;
use std::fmt;
use std::sync::Mutex;

use crate::collective::handle;
use crate::error::{Argument, Class, Error, Result, catch};
use crate::logging;
use crate::mpi::attribute::Key;
use crate::mpi::{self, Communicator, MPI_Comm, comm, errors};
use crate::util::lock::lock;
use crate::util::say::say;

/// Text of the last error reported on a communicator.
static LAST_ERROR: Key<String> = Key::new();

/// Held while a text is replaced or read: requests of one communicator may fail in several threads
/// at a time, and those of none go to `MPI_COMM_WORLD`.
static TEXTS: Mutex<()> = Mutex::new(());

/// Runs the body of a function that works on a communicator of the caller's.
///
/// # Safety
/// As for [`Communicator::from_raw`].
#[inline(always)]
pub unsafe fn call<'a>(function: &str, comm: MPI_Comm, body: impl FnOnce(Communicator<'a>) -> Result<()>) -> c_int {
    mpi::family::require(function);
    // SAFETY: the caller vouches for the handle.
    let comm = unsafe { Communicator::from_raw(comm) };
    match catch(|| comm.map_or_else(|| Err(null_comm().into()), body)) {
        Ok(()) => mpi::success(),
        // MPI calls the handler of MPI_COMM_WORLD for errors that belong to no communicator
        Err(error) => fail(Place { function, request: None }, comm.unwrap_or_else(comm::world), error),
    }
}

/// Runs the body of a function whose errors go to the communicator that `on` names then: the user
/// may have freed one while the body waited.
pub fn call_on(function: &str, on: impl FnOnce() -> Communicator<'static>, body: impl FnOnce() -> Result<()>) -> c_int {
    mpi::family::require(function);
    match catch(body) {
        Ok(()) => mpi::success(),
        Err(error) => fail(Place { function, request: None }, on(), error),
    }
}

/// The failure of a function that works on requests of different communicators.
pub struct Failure {
    /// The communicator on which it is reported.
    pub comm: Communicator<'static>,
    /// Why.
    pub error: Box<Error>,
    /// Which of several requests has failed.
    pub request: Option<usize>,
}

impl Failure {
    /// An error that is reported on `comm`.
    pub fn on(comm: Communicator<'static>, error: impl Into<Box<Error>>) -> Failure {
        Failure { comm, error: error.into(), request: None }
    }
}

/// Runs the body of a function that works on requests of different communicators.
pub fn call_requests(function: &str, body: impl FnOnce() -> std::result::Result<(), Failure>) -> c_int {
    mpi::family::require(function);
    match catch(|| Ok(body())) {
        Ok(Ok(())) => mpi::success(),
        Ok(Err(Failure { comm, error, request })) => fail(Place { function, request }, comm, error),
        Err(error) => fail(Place { function, request: None }, comm::world(), error),
    }
}

/// Where an error has occurred: the function, and which of its requests has failed, if it has
/// several.
#[derive(Clone, Copy)]
struct Place<'a> {
    function: &'a str,
    request: Option<usize>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.request {
            Some(i) => write!(f, "{}: requests[{i}]", self.function),
            None => f.write_str(self.function),
        }
    }
}

/// Reports an error and returns its code.
#[cold]
fn fail(place: Place, comm: Communicator, error: Box<Error>) -> c_int {
    let failed = report(place, comm, error);
    // The handler may jump out of this function (longjmp), so nothing that needs dropping is alive
    // here.
    if let Some(handled_by) = failed.handler_of {
        errors::call_handler(handled_by, failed.code);
    }
    failed.code
}

/// An error that has been reported.
#[derive(Clone, Copy)]
struct Failed<'a> {
    code: c_int,
    /// The communicator whose error handler is still to be called, if one can be.
    handler_of: Option<Communicator<'a>>,
}

#[cold]
fn null_comm() -> Error {
    Error::NullHandle { argument: Argument::new("comm"), null: "MPI_COMM_NULL", class: Class::Comm }
}

/// Makes an error's code, and keeps its text for `MPIX_Neighbor_error_string`. Drops the error.
#[cold]
#[expect(clippy::needless_pass_by_value, reason = "dropped: the caller's error handler may jump")]
fn report<'a>(place: Place, comm: Communicator<'a>, error: Box<Error>) -> Failed<'a> {
    let mut failed = Failed { code: errors::OTHER_THAN_SUCCESS, handler_of: None };
    let reported = catch(|| {
        let text = format!("{place}: {error}");
        // before MPI_Init and after MPI_Finalize there is no handler
        if !mpi::is_usable() {
            say(&format!("{text}\n"));
            return Ok(());
        }
        let (code, carries_text) = errors::code_for(&error, &text);
        failed = Failed { code, handler_of: Some(comm) };
        handle::note_failure(comm);
        logging::start();
        if !carries_text && errors::is_fatal(comm) {
            say(&format!("{text}\n"));
        } else {
            log::error!("{text}");
        }
        let _alone = lock(&TEXTS);
        // SAFETY: nobody refers to the last one without the lock.
        unsafe { LAST_ERROR.set(comm, text) }.map(|_| ())
    });
    // the caller gets the same code after a panic, or if the text cannot be kept
    drop(reported);
    failed
}

/// Returns the text of the last error reported on a communicator, empty if there was none.
pub fn last_error(comm: Communicator<'_>) -> Result<String> {
    let _alone = lock(&TEXTS);
    // SAFETY: the string lives until the next error on it, which takes the lock.
    Ok(unsafe { LAST_ERROR.value(comm)? }.cloned().unwrap_or_default())
}
