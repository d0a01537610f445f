//! Requests: starts and completes them, and reports which neighbors' blocks have arrived.

use std::ffi::c_int;

use super::args::{self, Results};
use super::boundary::{self, Failure};
use super::user;
use crate::collective::handle::note_failure;
use crate::collective::request::{Arrived, Request};
use crate::error::{Argument, Class, Error, Result};
use crate::mpi::{self, Communicator, MPI_Comm, comm};
use crate::util::cast::to_int;

/// A neighborhood collective that one call starts and another completes.
pub struct MPIX_Request_object {
    request: Request,
    user: MPI_Comm,
}

/// Handle of a nonblocking or persistent neighborhood collective, or NULL.
pub type MPIX_Request = *mut MPIX_Request_object;

impl MPIX_Request_object {
    /// Makes a handle of a request that was made on the communicator `user`. The caller of the C
    /// function then owns it.
    pub(super) fn hand_out(request: Request, user: Communicator) -> MPIX_Request {
        Box::into_raw(Box::new(MPIX_Request_object { request, user: user.raw() }))
    }

    /// The communicator on which its errors are reported.
    fn handler(&self) -> Communicator<'static> {
        user::handler(self.user, self.request.is_orphaned())
    }
}

/// The error of request `i` of several.
fn of(i: usize, failure: Failure) -> Failure {
    Failure { request: Some(i), ..failure }
}

fn on_world(error: impl Into<Box<Error>>) -> Failure {
    Failure::on(comm::world(), error)
}

/// Completes a request by `end`, which returns the collective's error. Frees it unless it is
/// persistent.
///
/// # Safety
/// The handle must be NULL or that of a request.
unsafe fn complete(handle: &mut MPIX_Request, end: impl FnOnce(&mut Request) -> Result<()>) -> std::result::Result<(), Failure> {
    // SAFETY: the caller vouches for the handle, which `hand_out` made.
    unsafe {
        let Some(object) = handle.as_mut() else { return Ok(()) };
        let completed = end(&mut object.request);
        let persistent = object.request.is_persistent();
        if completed.is_ok() && persistent {
            return Ok(());
        }
        let user = object.handler();
        if !persistent {
            drop(Box::from_raw(std::mem::replace(handle, std::ptr::null_mut())));
        }
        completed.map_err(|error| {
            // a call that completes several requests reports one error
            note_failure(user);
            Failure::on(user, error)
        })
    }
}

/// Checks a pointer to a handle.
///
/// # Safety
/// The pointer must be null or that of a handle.
unsafe fn handle<'a>(request: *mut MPIX_Request) -> std::result::Result<&'a mut MPIX_Request, Failure> {
    // SAFETY: the caller vouches for the pointer.
    args::pointer("request", unsafe { request.as_mut() }).map_err(on_world)
}

/// Checks an array of handles.
///
/// # Safety
/// The pointer must be null or that of `count` handles.
unsafe fn handles<'a>(count: c_int, requests: *mut MPIX_Request) -> std::result::Result<&'a mut [MPIX_Request], Failure> {
    let length = args::length("count", count).map_err(on_world)?;
    if length == 0 {
        return Ok(&mut []);
    }
    if requests.is_null() {
        return Err(on_world(Error::NullArray { argument: Argument::new("requests"), length }));
    }
    // SAFETY: the caller vouches for the array.
    Ok(unsafe { std::slice::from_raw_parts_mut(requests, length) })
}

fn null(argument: Argument) -> Failure {
    on_world(Error::NullHandle { argument, null: "NULL", class: Class::Request })
}

/// Starts a persistent collective and returns once its messages are posted.
///
/// # Safety
/// The handle must be NULL or that of a request; its buffers must still be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_start(request: *mut MPIX_Request) -> c_int {
    boundary::call_requests("MPIX_Request_start", || {
        // SAFETY: the caller vouches for the handle.
        unsafe { start(handle(request)?, Argument::new("request"), None) }
    })
}

/// Starts a request, which is `argument`, and of several the one at a `position`.
///
/// # Safety
/// As for `MPIX_Request_start`.
unsafe fn start(handle: &mut MPIX_Request, argument: Argument, position: Option<usize>) -> std::result::Result<(), Failure> {
    // SAFETY: the caller vouches for the handle.
    let object = unsafe { handle.as_mut() }.ok_or_else(|| null(argument))?;
    // errors of the argument name it themselves
    let started = match object.request.may_start(argument) {
        Ok(()) => object.request.begin().map_err(|error| (error, position)),
        Err(error) => Err((error, None)),
    };
    started.map_err(|(error, request)| Failure { request, ..Failure::on(object.handler(), error) })
}

/// Starts persistent collectives in the order of an array.
///
/// # Safety
/// As for `MPIX_Request_start`; the array must be as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_startall(count: c_int, requests: *mut MPIX_Request) -> c_int {
    boundary::call_requests("MPIX_Request_startall", || {
        // SAFETY: the caller vouches for the handles.
        unsafe {
            for (i, request) in handles(count, requests)?.iter_mut().enumerate() {
                start(request, Argument::at("requests", i), Some(i))?;
            }
        }
        Ok(())
    })
}

/// Tests whether a collective is complete, and completes it if so.
///
/// # Safety
/// The handle must be NULL or that of a request; the pointers must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_test(request: *mut MPIX_Request, flag: *mut c_int) -> c_int {
    boundary::call_requests("MPIX_Request_test", || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let (request, flag) = (handle(request)?, Results::one("flag", flag).map_err(on_world)?);
            let done = request.as_mut().is_none_or(|object| {
                object.request.advance_all();
                object.request.test()
            });
            if done {
                let completed = complete_active(request);
                flag.write([1]);
                return completed;
            }
            flag.write([0]);
        }
        Ok(())
    })
}

/// Completes a request whose collective has ended, if it is active.
///
/// # Safety
/// As for `complete`.
unsafe fn complete_active(handle: &mut MPIX_Request) -> std::result::Result<(), Failure> {
    // SAFETY: the caller vouches for the handle.
    unsafe { if is_active(*handle) { complete(handle, Request::complete) } else { Ok(()) } }
}

/// Tests whether several collectives are all complete, and completes them if so.
///
/// # Safety
/// The handles must be NULL or those of requests; the pointers must be valid, the array as long as
/// said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_testall(count: c_int, requests: *mut MPIX_Request, flag: *mut c_int) -> c_int {
    boundary::call_requests("MPIX_Request_testall", || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let (requests, flag) = (handles(count, requests)?, Results::one("flag", flag).map_err(on_world)?);
            // once, as it moves all collectives of the process
            if let Some(object) = requests.iter().find_map(|r| r.as_ref()) {
                object.request.advance_all();
            }
            // every request is tested, as each test moves its request forward
            let pending = requests.iter_mut().filter(|r| r.as_mut().is_some_and(|object| !object.request.test())).count();
            flag.write([c_int::from(pending == 0)]);
            if pending > 0 {
                return Ok(());
            }
            let mut first = Ok(());
            for (i, request) in requests.iter_mut().enumerate() {
                first = first.and(complete_active(request).map_err(|failure| of(i, failure)));
            }
            first
        }
    })
}

/// Waits until a collective is complete, and completes it.
///
/// # Safety
/// The handle must be NULL or that of a request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_wait(request: *mut MPIX_Request) -> c_int {
    boundary::call_requests("MPIX_Request_wait", || {
        // SAFETY: the caller vouches for the handle.
        unsafe { complete(handle(request)?, Request::wait) }
    })
}

/// Waits until several collectives are all complete, and completes them.
///
/// # Safety
/// The handles must be NULL or those of requests; the array must be as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_waitall(count: c_int, requests: *mut MPIX_Request) -> c_int {
    boundary::call_requests("MPIX_Request_waitall", || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let mut first = Ok(());
            for (i, request) in handles(count, requests)?.iter_mut().enumerate() {
                first = first.and(complete(request, Request::wait).map_err(|failure| of(i, failure)));
            }
            first
        }
    })
}

/// How far several requests are.
enum Progress {
    /// None is active.
    Nothing,
    /// None is complete.
    NotYet,
    /// The first one that is complete.
    Done(usize),
}

/// Tests several requests, which moves them forward, until one of them is complete: once, or for as
/// long as that takes if `waits`.
///
/// # Safety
/// The handles must be NULL or those of requests, each active one once.
unsafe fn first_done(requests: &mut [MPIX_Request], waits: bool) -> std::result::Result<Progress, Failure> {
    // SAFETY: the caller vouches for the handles.
    unsafe {
        let Some(first) = requests.iter().position(|&request| is_active(request)) else { return Ok(Progress::Nothing) };
        if !waits {
            // as a test, which is not recorded as a wait
            (*requests[first]).request.advance_all();
            let done = requests.iter().position(|&request| is_active(request) && (*request).request.test());
            return Ok(done.map_or(Progress::NotYet, Progress::Done));
        }
        let mut progress = Progress::NotYet;
        // the first one decides how this process waits
        let waited = (*requests[first]).request.until(|first_request| {
            for (i, &request) in requests.iter().enumerate() {
                let done = if i == first { first_request.test() } else { is_active(request) && (*request).request.test() };
                if done {
                    progress = Progress::Done(i);
                    return Ok(true);
                }
            }
            Ok(false)
        });
        waited.map_err(on_world)?;
        Ok(progress)
    }
}

/// True if a request is active.
///
/// # Safety
/// The handle must be NULL or that of a request.
unsafe fn is_active(request: MPIX_Request) -> bool {
    // SAFETY: the caller vouches for the handle.
    unsafe { request.as_ref() }.is_some_and(|object| object.request.is_active())
}

/// Waits until one of several collectives is complete, and completes it.
///
/// # Safety
/// The handles must be NULL or those of requests; the pointers must be valid, the array as long as
/// said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_waitany(count: c_int, requests: *mut MPIX_Request, index: *mut c_int) -> c_int {
    boundary::call_requests("MPIX_Request_waitany", || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let (requests, index) = (handles(count, requests)?, Results::one("index", index).map_err(on_world)?);
            let Progress::Done(i) = first_done(requests, true)? else {
                index.write([mpi::undefined()]);
                return Ok(());
            };
            index.write([to_int(i)]);
            complete(&mut requests[i], Request::complete)
        }
    })
}

/// Tests whether one of several collectives is complete, and completes it if so.
///
/// # Safety
/// As for `MPIX_Request_waitany`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_testany(
    count: c_int,
    requests: *mut MPIX_Request,
    index: *mut c_int,
    flag: *mut c_int,
) -> c_int {
    boundary::call_requests("MPIX_Request_testany", || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let (requests, index) = (handles(count, requests)?, Results::one("index", index).map_err(on_world)?);
            let flag = Results::one("flag", flag).map_err(on_world)?;
            let progress = first_done(requests, false)?;
            flag.write([c_int::from(!matches!(progress, Progress::NotYet))]);
            let Progress::Done(i) = progress else {
                index.write([mpi::undefined()]);
                return Ok(());
            };
            index.write([to_int(i)]);
            complete(&mut requests[i], Request::complete)
        }
    })
}

/// Waits until some of several collectives are complete, and completes them.
///
/// # Safety
/// The handles must be NULL or those of requests; the pointers must be valid, the arrays as long as
/// said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_waitsome(
    count: c_int,
    requests: *mut MPIX_Request,
    outcount: *mut c_int,
    indices: *mut c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { some("MPIX_Request_waitsome", count, requests, (outcount, indices), true) }
}

/// Completes those of several collectives that are complete.
///
/// # Safety
/// As for `MPIX_Request_waitsome`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_testsome(
    count: c_int,
    requests: *mut MPIX_Request,
    outcount: *mut c_int,
    indices: *mut c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { some("MPIX_Request_testsome", count, requests, (outcount, indices), false) }
}

unsafe fn some(
    function: &str,
    count: c_int,
    requests: *mut MPIX_Request,
    (outcount, indices): (*mut c_int, *mut c_int),
    waits: bool,
) -> c_int {
    boundary::call_requests(function, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let (requests, outcount) = (handles(count, requests)?, Results::one("outcount", outcount).map_err(on_world)?);
            let indices = Results::array("indices", indices, requests.len()).map_err(on_world)?;
            if matches!(first_done(requests, waits)?, Progress::Nothing) {
                outcount.write([mpi::undefined()]);
                return Ok(());
            }
            let (mut done, mut failed) = (0, Ok(()));
            for (i, request) in requests.iter_mut().enumerate() {
                if is_active(*request) && (**request).request.test() {
                    indices.write_at(done, to_int(i));
                    done += 1;
                    failed = failed.and(complete(request, Request::complete).map_err(|failure| of(i, failure)));
                }
            }
            outcount.write([to_int(done)]);
            failed
        }
    })
}

/// Frees a persistent collective.
///
/// # Safety
/// The handle must be NULL or that of a request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_free(request: *mut MPIX_Request) -> c_int {
    boundary::call_requests("MPIX_Request_free", || {
        // SAFETY: the caller vouches for the handle, which `hand_out` made.
        unsafe {
            let handle = handle(request)?;
            let Some(object) = handle.as_ref() else { return Ok(()) };
            if object.request.is_active() {
                return Err(Failure::on(object.handler(), Error::Active { argument: Argument::new("request") }));
            }
            drop(Box::from_raw(std::mem::replace(handle, std::ptr::null_mut())));
            Ok(())
        }
    })
}

/// Runs the body of a function that asks for the sources of a request.
///
/// # Safety
/// The handle must be NULL or that of a request.
unsafe fn with_sources(function: &str, request: MPIX_Request, body: impl FnOnce(&mut Request) -> Result<()>) -> c_int {
    boundary::call_requests(function, || {
        // SAFETY: the caller vouches for the handle.
        let object = unsafe { request.as_mut() }.ok_or_else(|| null(Argument::new("request")))?;
        body(&mut object.request).map_err(|error| Failure::on(object.handler(), error))
    })
}

fn source(request: &Request, index: c_int) -> Result<usize> {
    let indegree = request.sources();
    let beyond = || Error::Source { argument: Argument::new("index"), value: index.into(), indegree };
    usize::try_from(index).ok().filter(|&i| i < indegree).ok_or_else(|| beyond().into())
}

/// Tests whether the block of one source has arrived, so that it may be read before the others
/// have.
///
/// # Safety
/// The handle must be NULL or that of a request; the pointer must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_test_source(request: MPIX_Request, index: c_int, flag: *mut c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_sources("MPIX_Request_test_source", request, |request| {
            let (source, flag) = (source(request, index)?, Results::one("flag", flag)?);
            request.advance_all();
            flag.write([c_int::from(request.arrived(source)?)]);
            Ok(())
        })
    }
}

/// Waits until the block of one source has arrived.
///
/// # Safety
/// The handle must be NULL or that of a request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_wait_source(request: MPIX_Request, index: c_int) -> c_int {
    // SAFETY: the caller vouches for the handle.
    unsafe {
        with_sources("MPIX_Request_wait_source", request, |request| {
            let source = source(request, index)?;
            request.until(|request| request.arrived(source))
        })
    }
}

/// Waits until the block of a source that has not been reported yet has arrived.
///
/// # Safety
/// The handle must be NULL or that of a request; the pointer must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_waitany_source(request: MPIX_Request, index: *mut c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_sources("MPIX_Request_waitany_source", request, |request| {
            let index = Results::one("index", index)?;
            let mut found = mpi::undefined();
            request.until(|request| Ok(request.untold(1, &mut |source| found = to_int(source))? != Arrived::NotYet))?;
            index.write([found]);
            Ok(())
        })
    }
}

/// Waits until at least one source that has not been reported yet has arrived.
///
/// # Safety
/// The handle must be NULL or that of a request; the pointers must be valid, the array as long as
/// said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_waitsome_source(request: MPIX_Request, outcount: *mut c_int, indices: *mut c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { some_sources("MPIX_Request_waitsome_source", request, outcount, indices, true) }
}

/// Returns the sources whose blocks have arrived and have not been reported since the collective
/// was started.
///
/// # Safety
/// As for `MPIX_Request_waitsome_source`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Request_testsome_source(request: MPIX_Request, outcount: *mut c_int, indices: *mut c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { some_sources("MPIX_Request_testsome_source", request, outcount, indices, false) }
}

unsafe fn some_sources(function: &str, request: MPIX_Request, outcount: *mut c_int, indices: *mut c_int, waits: bool) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_sources(function, request, |request| {
            let outcount = Results::one("outcount", outcount)?;
            let indices = Results::array("indices", indices, request.sources())?;
            let mut count = 0;
            let mut told = Arrived::NotYet;
            request.advance_all();
            let mut look = |request: &mut Request| {
                told = request.untold(usize::MAX, &mut |source| {
                    indices.write_at(count, to_int(source));
                    count += 1;
                })?;
                Ok(told != Arrived::NotYet)
            };
            if waits {
                request.until(look)?;
            } else {
                look(request)?;
            }
            outcount.write([if told == Arrived::All { mpi::undefined() } else { to_int(count) }]);
            Ok(())
        })
    }
}
