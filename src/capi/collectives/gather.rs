//! `MPIX_Neighbor_gather`, `MPIX_Neighbor_gatherv`, in all their forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{Mode, Operation, collective};
use crate::capi::request::MPIX_Request;
use crate::capi::side::{Equal, One, Vector};
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info};

/// Sends one block to all targets and receives a block of equal size from each source.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gather(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gather", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_gather` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gather_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gather_c", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// Starts `MPIX_Neighbor_gather` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_gather(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_gather", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// `MPIX_Ineighbor_gather` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_gather_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_gather_c", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// Makes a persistent `MPIX_Neighbor_gather`, which `MPIX_Request_start` runs any number of times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gather_plan(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gather_plan", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_gather_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gather_plan_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gather_plan_c", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// Sends one block to all targets and receives a block of its own size from each source.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gatherv", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_gatherv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gatherv_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gatherv_c", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// Starts `MPIX_Neighbor_gatherv` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_gatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_gatherv", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// `MPIX_Ineighbor_gatherv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_gatherv_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_gatherv_c", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// Makes a persistent `MPIX_Neighbor_gatherv`, which `MPIX_Request_start` runs any number of times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gatherv_plan(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gatherv_plan", Operation::Gather, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_gatherv_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gatherv_plan_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = One { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_gatherv_plan_c", Operation::Gather, comm, mode, || (send, recv), None) }
}
