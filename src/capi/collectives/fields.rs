//! `MPIX_Neighbor_alltoallw_fields`, in all their forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{FieldArrays, Mode, fields};
use crate::capi::request::MPIX_Request;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info};

/// Runs `MPIX_Neighbor_alltoallw` on several fields in one exchange.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_fields(
    nfields: c_int,
    sendbufs: *const *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbufs: *const *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = FieldArrays { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = FieldArrays { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields", nfields, send, recv, comm, Mode::Blocking) }
}

/// `MPIX_Neighbor_alltoallw_fields` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_fields_c(
    nfields: c_int,
    sendbufs: *const *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbufs: *const *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let send = FieldArrays { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = FieldArrays { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields_c", nfields, send, recv, comm, Mode::Blocking) }
}

/// Starts `MPIX_Neighbor_alltoallw_fields` and returns once its messages are posted.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoallw_fields(
    nfields: c_int,
    sendbufs: *const *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbufs: *const *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = FieldArrays { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = FieldArrays { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Ineighbor_alltoallw_fields", nfields, send, recv, comm, Mode::Nonblocking(request)) }
}

/// `MPIX_Ineighbor_alltoallw_fields` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Ineighbor_alltoallw_fields_c(
    nfields: c_int,
    sendbufs: *const *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbufs: *const *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    request: *mut MPIX_Request,
) -> c_int {
    let send = FieldArrays { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = FieldArrays { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Ineighbor_alltoallw_fields_c", nfields, send, recv, comm, Mode::Nonblocking(request)) }
}

/// Makes a persistent `MPIX_Neighbor_alltoallw_fields`, which `MPIX_Request_start` runs any number
/// of times.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_fields_plan(
    nfields: c_int,
    sendbufs: *const *const c_void,
    sendcounts: *const c_int,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbufs: *const *mut c_void,
    recvcounts: *const c_int,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = FieldArrays { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = FieldArrays { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields_plan", nfields, send, recv, comm, Mode::Persistent(info, request)) }
}

/// `MPIX_Neighbor_alltoallw_fields_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, until
/// the request is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoallw_fields_plan_c(
    nfields: c_int,
    sendbufs: *const *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbufs: *const *mut c_void,
    recvcounts: *const MPI_Count,
    recvdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPIX_Request,
) -> c_int {
    let send = FieldArrays { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = FieldArrays { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields_plan_c", nfields, send, recv, comm, Mode::Persistent(info, request)) }
}
