//! `MPIX_Neighbor_gather`, `MPIX_Neighbor_gatherv`, in all their forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{Buffers, Mode, Operation, collective};
use crate::capi::request::MPIX_Request;
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gather", Operation::Gather, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount.into(), recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gather_c", Operation::Gather, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount, sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_gather", Operation::Gather, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount.into(), recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_gather_c", Operation::Gather, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount, sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gather_plan", Operation::Gather, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount.into(), recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gather_plan_c", Operation::Gather, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount, sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gatherv", Operation::Gather, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gatherv_c", Operation::Gather, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_gatherv", Operation::Gather, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_gatherv_c", Operation::Gather, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gatherv_plan", Operation::Gather, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_gatherv_plan_c", Operation::Gather, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).one(sendcount, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
}
