//! `MPIX_Neighbor_alltoall`, `MPIX_Neighbor_alltoallv`, `MPIX_Neighbor_alltoallw`, in all their
//! forms.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};

use crate::capi::dispatch::{Buffers, Mode, Operation, collective};
use crate::capi::request::MPIX_Request;
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoall", Operation::Alltoall, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).equal(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount.into(), recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoall_c", Operation::Alltoall, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).equal(sendcount, sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_alltoall", Operation::Alltoall, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).equal(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount.into(), recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_alltoall_c", Operation::Alltoall, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).equal(sendcount, sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoall_plan", Operation::Alltoall, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).equal(sendcount.into(), sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount.into(), recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoall_plan_c", Operation::Alltoall, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).equal(sendcount, sendtype)?,
                output: sides.recv(recvbuf).equal(recvcount, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallv", Operation::Alltoall, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).vector(sendcounts, senddispls, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallv_c", Operation::Alltoall, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).vector(sendcounts, senddispls, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_alltoallv", Operation::Alltoall, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).vector(sendcounts, senddispls, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_alltoallv_c", Operation::Alltoall, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).vector(sendcounts, senddispls, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallv_plan", Operation::Alltoall, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).vector(sendcounts, senddispls, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallv_plan_c", Operation::Alltoall, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).vector(sendcounts, senddispls, sendtype)?,
                output: sides.recv(recvbuf).vector(recvcounts, recvdispls, recvtype)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallw", Operation::Alltoall, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).general(sendcounts, senddispls, sendtypes)?,
                output: sides.recv(recvbuf).general(recvcounts, recvdispls, recvtypes)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallw_c", Operation::Alltoall, comm, Mode::Blocking, |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).general(sendcounts, senddispls, sendtypes)?,
                output: sides.recv(recvbuf).general(recvcounts, recvdispls, recvtypes)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_alltoallw", Operation::Alltoall, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).general(sendcounts, senddispls, sendtypes)?,
                output: sides.recv(recvbuf).general(recvcounts, recvdispls, recvtypes)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Ineighbor_alltoallw_c", Operation::Alltoall, comm, Mode::Nonblocking(request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).general(sendcounts, senddispls, sendtypes)?,
                output: sides.recv(recvbuf).general(recvcounts, recvdispls, recvtypes)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallw_plan", Operation::Alltoall, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).general(sendcounts, senddispls, sendtypes)?,
                output: sides.recv(recvbuf).general(recvcounts, recvdispls, recvtypes)?,
                op: None,
            })
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective("MPIX_Neighbor_alltoallw_plan_c", Operation::Alltoall, comm, Mode::Persistent(info, request), |sides| {
            Ok(Buffers {
                input: sides.send(sendbuf).general(sendcounts, senddispls, sendtypes)?,
                output: sides.recv(recvbuf).general(recvcounts, recvdispls, recvtypes)?,
                op: None,
            })
        })
    }
}
