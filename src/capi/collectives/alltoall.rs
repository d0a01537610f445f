//! `MPIX_Neighbor_alltoall`, `MPIX_Neighbor_alltoallv`, `MPIX_Neighbor_alltoallw`, in all their
//! forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{Mode, Operation, collective};
use crate::capi::request::MPIX_Request;
use crate::capi::side::{Equal, General, Vector};
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info};

/// Sends a block of its own to each target and receives a block of equal size from each source.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoall(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoall", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_alltoall` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoall_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoall_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Starts `MPIX_Neighbor_alltoall` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoall(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_alltoall", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Ineighbor_alltoall` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoall_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_alltoall_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Makes a persistent `MPIX_Neighbor_alltoall`, which `MPIX_Request_start` runs any number of
/// times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoall_plan(
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
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount.into(), datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount.into(), datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoall_plan", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_alltoall_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoall_plan_c(
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
    let send = Equal { base: sendbuf.cast_mut(), count: sendcount, datatype: sendtype };
    let recv = Equal { base: recvbuf, count: recvcount, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoall_plan_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Sends a block of its own size to each target and receives one from each source.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallv", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_alltoallv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallv_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallv_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Starts `MPIX_Neighbor_alltoallv` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoallv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_alltoallv", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Ineighbor_alltoallv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoallv_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_alltoallv_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Makes a persistent `MPIX_Neighbor_alltoallv`, which `MPIX_Request_start` runs any number of
/// times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallv_plan(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallv_plan", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_alltoallv_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallv_plan_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = Vector { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatype: sendtype };
    let recv = Vector { base: recvbuf, counts: recvcounts, displs: recvdispls, datatype: recvtype };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallv_plan_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Sends a block of its own size and layout to each target and receives one from each source.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallw", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_alltoallw` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Blocking;
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallw_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Starts `MPIX_Neighbor_alltoallw` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoallw(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_alltoallw", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Ineighbor_alltoallw` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoallw_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Nonblocking(request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Ineighbor_alltoallw_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// Makes a persistent `MPIX_Neighbor_alltoallw`, which `MPIX_Request_start` runs any number of
/// times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_plan(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallw_plan", Operation::Alltoall, comm, mode, || (send, recv), None) }
}

/// `MPIX_Neighbor_alltoallw_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_plan_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = General { base: sendbuf.cast_mut(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = General { base: recvbuf, counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    let mode = Mode::Persistent(info, request);
    // SAFETY: the caller vouches for the arguments.
    unsafe { collective("MPIX_Neighbor_alltoallw_plan_c", Operation::Alltoall, comm, mode, || (send, recv), None) }
}
