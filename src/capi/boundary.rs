//! Between C and Rust: panics and errors become MPI error codes, after the communicator's error handler has been called.

use std::ffi::c_int;
use std::sync::Arc;

use super::args::{self, Results, Sides};
use super::request::{MPIX_Request, MPIX_Request_object};
use crate::collective::Operation;
use crate::collective::fuse::Rule;
use crate::collective::handle::{self, BoundNeighborhood};
use crate::collective::request::{Lifetime, Request};
use crate::datatype::buffers::Buffers;
use crate::environment;
use crate::error::{Error, Result, catch};
use crate::logging;
use crate::mpi::attribute::Key;
use crate::mpi::{self, MPI_Comm, MPI_Info, comm, errors, info};
use crate::select::hints;

/// Text of the last error of a call on a communicator.
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

/// Runs the body of a function that works on requests of different communicators. The body tells on which communicator an error is reported.
pub fn call_requests(function: &str, body: impl FnOnce() -> std::result::Result<(), (MPI_Comm, Box<Error>)>) -> c_int {
    mpi::family::require(function);
    match catch(|| Ok(body())) {
        Ok(Ok(())) => mpi::success(),
        Ok(Err((comm, error))) => fail(function, comm, error),
        Err(error) => fail(function, comm::world(), error),
    }
}

/// Reports an error. Returns its code.
#[cold]
fn fail(function: &str, comm: MPI_Comm, error: Box<Error>) -> c_int {
    let failed = report(function, comm, error);
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

/// What becomes of a collective's arguments.
#[derive(Clone, Copy)]
pub enum Then {
    /// It runs to its end.
    Run,
    /// It is started; the request goes there.
    Start(*mut MPIX_Request),
    /// It is bound; the request goes there.
    Plan(MPI_Info, *mut MPIX_Request),
}

/// Runs, starts or plans a neighborhood collective with the buffers that `buffers` makes of its arguments.
///
/// # Safety
/// `comm` must be a communicator, and the buffers and pointers what the prototype asks for.
#[inline(always)]
pub unsafe fn collective<'a>(
    function: &str,
    operation: Operation,
    comm: MPI_Comm,
    then: Then,
    buffers: impl FnOnce(Sides) -> Result<Buffers<'a>>,
) -> c_int {
    call(function, comm, || {
        // SAFETY: the caller vouches for `comm`; collectives on one communicator are called one after the other.
        let slot = unsafe { handle::lookup(comm, operation) }?;
        let n = slot.neighborhood();
        let sides = Sides::new(n.sources().len(), n.targets().len(), slot.extents());
        let buffers = buffers(sides);
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match then {
                Then::Run if !slot.verifies() => slot.run(&buffers?),
                _ => other_than_run(slot, comm, then, buffers.as_ref().map(std::slice::from_ref).map_err(Clone::clone), 1),
            }
        }
    })
}

/// The same with several fields.
///
/// # Safety
/// As for `collective`.
pub unsafe fn several<'a>(
    function: &str,
    nfields: c_int,
    comm: MPI_Comm,
    then: Then,
    field: impl Fn(Sides, usize) -> Result<Buffers<'a>>,
) -> c_int {
    call(function, comm, || {
        // SAFETY: as for `collective`.
        let slot = unsafe { handle::lookup(comm, Operation::Alltoall) }?;
        let n = slot.neighborhood();
        let sides = Sides::new(n.sources().len(), n.targets().len(), slot.extents());
        let count = args::length("nfields", nfields);
        let fields: Result<Vec<Buffers>> = count.clone().and_then(|count| (0..count).map(|f| field(sides, f)).collect());
        // SAFETY: as for `collective`.
        unsafe { other_than_run(slot, comm, then, fields.as_deref().map_err(Clone::clone), count.unwrap_or(1)) }
    })
}

/// Everything but one field that runs to its end without being verified.
unsafe fn other_than_run(
    slot: &Arc<BoundNeighborhood>,
    comm: MPI_Comm,
    then: Then,
    fields: Result<&[Buffers]>,
    count: usize,
) -> Result<()> {
    let rule = |fuse: Option<bool>| match fuse {
        Some(true) => Rule::Always,
        Some(false) => Rule::Never,
        None => Rule::Startup(slot.hints().machine().startup_bytes()),
    };
    // SAFETY: the caller vouches for buffers and pointers.
    unsafe {
        match then {
            Then::Run if slot.verifies() => Request::verified(slot, comm, fields, count),
            Then::Run => {
                let mut request = Request::new(slot, comm, fields?, rule(slot.hints().fuse), Lifetime::Once)?;
                request.begin()?;
                request.wait()
            }
            Then::Start(place) => {
                let made = Results::one("request", place).and_then(|place| {
                    let mut request = Request::new(slot, comm, fields?, rule(slot.hints().fuse), Lifetime::Once)?;
                    request.begin()?;
                    Ok((place, request))
                });
                match made {
                    Ok((place, request)) => place.write([MPIX_Request_object::hand_out(request)]),
                    // neighbors hear of it in the comparison; this waits for theirs
                    Err(e) if slot.verifies() => Request::verified(slot, comm, Err(e), count)?,
                    Err(e) => return Err(e),
                }
                Ok(())
            }
            Then::Plan(info, place) => {
                let place = Results::one("request", place)?;
                logging::unknown_keys(info, comm);
                let from_info = |key: &str| if info::is_null(info) { Ok(None) } else { info::get(info, key) };
                let fuse = hints::fuse(from_info, environment::variable)?.unwrap_or(slot.hints().fuse);
                let kind = if hints::matches_alone(from_info)? { Lifetime::PrivateMatching } else { Lifetime::Persistent };
                let request = Request::new(slot, comm, fields?, rule(fuse), kind)?;
                place.write([MPIX_Request_object::hand_out(request)]);
                Ok(())
            }
        }
    }
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
        // outside init and finalize there is no handler
        if !mpi::is_usable() {
            print(&text);
            return Ok(());
        }
        let (code, carries_text) = errors::code_for(&error, &text);
        // MPI calls the handler of MPI_COMM_WORLD for errors that belong to no communicator
        let comm = if comm::is_null(comm) { comm::world() } else { comm };
        failed = Failed { code, handler_of: Some(comm) };
        // SAFETY: `comm` is a communicator, as the function's documentation asks for. The text's owner is the communicator.
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
