//! `MPIX_Neighbor_reduce`, `MPIX_Neighbor_reducev`, in all their forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{Mode, Operation, collective};
use crate::capi::request::MPIX_Request;
use crate::capi::side::{One, Vector};
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op};

/// Sends one block to all targets and combines the blocks of all sources elementwise into one.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reduce", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_reduce` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reduce_c", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// Starts `MPIX_Neighbor_reduce` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_reduce(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_reduce", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Ineighbor_reduce` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_reduce_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_reduce_c", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// Makes a persistent `MPIX_Neighbor_reduce`, which `MPIX_Request_start` runs any number of times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce_plan(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reduce_plan", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_reduce_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce_plan_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reduce_plan_c", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// Sends a block of its own to each target and combines the blocks of all sources elementwise into
/// one.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reducev(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reducev", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_reducev` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reducev_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reducev_c", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// Starts `MPIX_Neighbor_reducev` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_reducev(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_reducev", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Ineighbor_reducev` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_reducev_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_reducev_c", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// Makes a persistent `MPIX_Neighbor_reducev`, which `MPIX_Request_start` runs any number of times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reducev_plan(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reducev_plan", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_reducev_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reducev_plan_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = One { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_reducev_plan_c", Operation::Reduce, comm, mode, || (send, recv), Some(op)) }
}
