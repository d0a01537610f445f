//! `MPIX_Neighbor_accumulate`, `MPIX_Neighbor_accumulatev`, `MPIX_Neighbor_accumulatew`, in all
//! their forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{Mode, Operation, collective};
use crate::capi::request::MPIX_Request;
use crate::capi::side::{Equal, General, Vector};
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op};

/// Sends a block of its own to each target and combines each source's block with what is in its
/// place.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulate(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulate", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_accumulate` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulate_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulate_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Starts `MPIX_Neighbor_accumulate` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_accumulate(
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
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_accumulate", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Ineighbor_accumulate` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_accumulate_c(
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
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_accumulate_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Makes a persistent `MPIX_Neighbor_accumulate`, which `MPIX_Request_start` runs any number of
/// times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulate_plan(
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
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulate_plan", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_accumulate_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulate_plan_c(
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
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulate_plan_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Sends a block of its own size to each target and combines each source's block with what is in
/// its place.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatev(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatev", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_accumulatev` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatev_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatev_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Starts `MPIX_Neighbor_accumulatev` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_accumulatev(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_accumulatev", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Ineighbor_accumulatev` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_accumulatev_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_accumulatev_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Makes a persistent `MPIX_Neighbor_accumulatev`, which `MPIX_Request_start` runs any number of
/// times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatev_plan(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatev_plan", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_accumulatev_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatev_plan_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatev_plan_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Sends a block of its own size and layout to each target and combines each source's block with
/// what is in its place.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatew(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatew", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_accumulatew` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatew_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatew_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Starts `MPIX_Neighbor_accumulatew` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_accumulatew(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_accumulatew", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Ineighbor_accumulatew` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_accumulatew_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_accumulatew_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// Makes a persistent `MPIX_Neighbor_accumulatew`, which `MPIX_Request_start` runs any number of
/// times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatew_plan(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatew_plan", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}

/// `MPIX_Neighbor_accumulatew_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_accumulatew_plan_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_accumulatew_plan_c", Operation::Accumulate, comm, mode, || (send, recv), Some(op)) }
}
