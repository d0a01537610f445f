//! Sparse exchanges: blocking, with a function for each message, and nonblocking.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex};

use super::arguments::{Arguments, Counts, Keep, ReceiveType, SendSide, Started};
use super::result::{MPIX_Sparse_result, MPIX_Sparse_result_object};
use crate::capi::args::{self, Results};
use crate::capi::boundary;
use crate::capi::user::User;
use crate::error::{Error, Result};
use crate::mpi::datatype::{self, Owned as Datatype};
use crate::mpi::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info};
use crate::sparse::messages::{Arrivals, Arrived};
use crate::sparse::{self, Exchange, SharedContext};
use crate::util::cast::to_int;
use crate::util::lock::lock;

/// A nonblocking sparse exchange under way.
pub struct MPIX_Sparse_request_object {
    /// Also in the list of those that each wait of the process moves forward.
    exchange: Arc<Mutex<Exchange>>,
    context: SharedContext,
    kind: ReceiveType,
    /// Keeps the send type alive.
    _sendtype: Option<Datatype>,
    user: User,
}

/// Handle of a nonblocking sparse exchange, or NULL.
pub type MPIX_Sparse_request = *mut MPIX_Sparse_request_object;

/// Called by `MPIX_Sparse_exchange_each` for each message. `count` elements of the receive type are
/// at `data`, which is valid during the call. Returns `MPI_SUCCESS`, or anything else not to be
/// called again.
pub type MPIX_Sparse_function =
    Option<unsafe extern "C" fn(source: c_int, count: MPI_Count, data: *const c_void, context: *mut c_void) -> c_int>;

/// Runs an exchange that makes a result.
unsafe fn exchange(function: &str, arguments: &Arguments, result: *mut MPIX_Sparse_result) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call(function, arguments.comm, |comm| {
            let mut started = arguments.start(comm, Keep::Call, Results::one("result", result))?;
            started.exchange.wait()?;
            let user = User::new(arguments.comm, started.exchange.context().freed());
            finish(&mut started.exchange, (started.kind, user), started.destination)
        })
    }
}

/// Makes a result of an exchange that is complete.
fn finish(exchange: &mut Exchange, (kind, user): (ReceiveType, User), place: Results<MPIX_Sparse_result>) -> Result<()> {
    let comm = exchange.comm();
    MPIX_Sparse_result_object::new(exchange.take(), kind, &comm, user)?.hand_out(place);
    Ok(())
}

/// Sends a message to each target, and receives the messages that others send to the caller, which
/// it need not know of.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange", &Arguments { send, recvtype, info, comm }, result)
    }
}

/// `MPIX_Sparse_exchange` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange_c", &Arguments { send, recvtype, info, comm }, result)
    }
}

/// `MPIX_Sparse_exchange` with messages of equal size.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_block(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Equal(sendcount.into());
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange_block", &Arguments { send, recvtype, info, comm }, result)
    }
}

/// `MPIX_Sparse_exchange_block` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_block_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Equal(sendcount);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange_block_c", &Arguments { send, recvtype, info, comm }, result)
    }
}

/// Finds out which processes have the caller among their targets.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_sources(
    ntargets: c_int,
    targets: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    let send =
        SendSide { ntargets, targets, buffer: std::ptr::null(), counts: Counts::Equal(0), datatype: datatype::byte().raw() };
    let arguments = Arguments { send, recvtype: datatype::byte().raw(), info, comm };
    // SAFETY: the caller vouches for the arguments.
    unsafe { exchange("MPIX_Sparse_sources", &arguments, result) }
}

/// Does what `MPIX_Sparse_exchange` does, calling a function for each message as it arrives instead
/// of making a result.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said; the function must not
/// jump out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_each(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    function: MPIX_Sparse_function,
    context: *mut c_void,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        each("MPIX_Sparse_exchange_each", &Arguments { send, recvtype, info, comm }, function, context)
    }
}

/// `MPIX_Sparse_exchange_each` with large counts.
///
/// # Safety
/// As for `MPIX_Sparse_exchange_each`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_each_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    function: MPIX_Sparse_function,
    context: *mut c_void,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        each("MPIX_Sparse_exchange_each_c", &Arguments { send, recvtype, info, comm }, function, context)
    }
}

/// Runs an exchange that calls `function` for each message.
unsafe fn each(name: &str, arguments: &Arguments, function: MPIX_Sparse_function, context: *mut c_void) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call(name, arguments.comm, |comm| {
            let function = args::pointer("function", function);
            let Started { mut exchange, destination: function, kind, .. } = arguments.start(comm, Keep::Call, function)?;
            let private = exchange.comm();
            let mut failed = Ok(());
            let deliver = |m: &Arrived| -> Result<()> {
                let count = kind.check(m)?;
                let mut room = Arrivals::default();
                let at = kind.unpacked(m, &mut room, &private)?;
                let code = function(to_int(m.source), to_int(count), at.cast(), context);
                if code == mpi::success() { Ok(()) } else { Err(Error::Callback { code, source_rank: m.source }.into()) }
            };
            exchange.wait_for_each(|inbox, new| {
                for m in &inbox.messages[new] {
                    if failed.is_ok() {
                        failed = deliver(m);
                    }
                }
            })?;
            failed
        })
    }
}

/// Starts `MPIX_Sparse_exchange` and returns; `MPIX_Sparse_test` and `MPIX_Sparse_wait` complete
/// it.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Isparse_exchange(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    request: *mut MPIX_Sparse_request,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        start("MPIX_Isparse_exchange", &Arguments { send, recvtype, info, comm }, request)
    }
}

/// `MPIX_Isparse_exchange` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Isparse_exchange_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    request: *mut MPIX_Sparse_request,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        start("MPIX_Isparse_exchange_c", &Arguments { send, recvtype, info, comm }, request)
    }
}

/// Starts an exchange and makes its request.
unsafe fn start(function: &str, arguments: &Arguments, request: *mut MPIX_Sparse_request) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call(function, arguments.comm, |comm| {
            let started = arguments.start(comm, Keep::Request, Results::one("request", request))?;
            let Started { exchange, destination, kind, sendtype, .. } = started;
            let context = Arc::clone(exchange.context());
            let exchange = exchange.list();
            let user = User::new(arguments.comm, context.freed());
            let request = MPIX_Sparse_request_object { exchange, context, kind, _sendtype: sendtype, user };
            destination.write([Box::into_raw(Box::new(request))]);
            Ok(())
        })
    }
}

/// Tests whether a nonblocking sparse exchange is complete, and completes it if so.
///
/// # Safety
/// The request must be one that is not complete; pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_test(
    request: *mut MPIX_Sparse_request,
    flag: *mut c_int,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        complete("MPIX_Sparse_test", request, Results::one("flag", flag), result, |exchange, flag| {
            let progressed = exchange.progress();
            // also with an error: the request is gone then
            if progressed.is_ok() || exchange.has_ended() {
                flag.write([c_int::from(exchange.has_ended())]);
            }
            progressed
        })
    }
}

/// Waits until a nonblocking sparse exchange is complete, and completes it.
///
/// # Safety
/// As for `MPIX_Sparse_test`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_wait(request: *mut MPIX_Sparse_request, result: *mut MPIX_Sparse_result) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { complete("MPIX_Sparse_wait", request, Ok(()), result, |exchange, ()| exchange.wait().map(|()| true)) }
}

/// Completes an exchange if it has ended once `progress` has been called, which gets `flag`. It is
/// complete also if a message was lost.
unsafe fn complete<F>(
    function: &str,
    request: *mut MPIX_Sparse_request,
    flag: Result<F>,
    result: *mut MPIX_Sparse_result,
    progress: impl FnOnce(&mut Exchange, F) -> Result<bool>,
) -> c_int {
    // SAFETY: the caller vouches for the arguments; the request is a box that `start` made.
    unsafe {
        let live = request.as_mut().and_then(|r| r.as_mut());
        let user = live.as_ref().map(|request| request.user.clone());
        let on = move || User::handler_of(user.as_ref());
        boundary::call_on(function, on, || {
            let live = args::object("request", live)?;
            let flag = flag?;
            let place = Results::one("result", result)?;
            let outstanding = Arc::clone(&live.context.hold().outstanding);
            outstanding.advance();
            let (progressed, ended) = {
                let mut exchange = lock(&live.exchange);
                (progress(&mut exchange, flag), exchange.has_ended())
            };
            if !ended {
                // one that has stopped is not moved further, but MPI may still use its memory
                return progressed.map(drop).inspect_err(|_| outstanding.remove(&live.exchange));
            }
            let mut done = Box::from_raw(std::ptr::replace(request, std::ptr::null_mut()));
            outstanding.remove(&done.exchange);
            progressed?;
            let kind = std::mem::replace(&mut done.kind, ReceiveType::bytes());
            let mut exchange = lock(&done.exchange);
            finish(&mut exchange, (kind, done.user.clone()), place)
        })
    }
}

/// Describes the sparse exchanges on a communicator in a few lines of text.
///
/// # Safety
/// `comm` must be a communicator, `string` writable for `length` characters, `resultlen` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_describe(
    comm: MPI_Comm,
    length: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Sparse_describe", comm, |comm| {
            let shared = sparse::context(comm)?;
            let text = shared.hold().describe();
            args::text(&text, length, string, resultlen)
        })
    }
}
