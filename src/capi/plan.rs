//! Persistent neighborhood collectives: `MPIX_Neighbor_*_plan`.

use std::ffi::{c_int, c_void};

use super::alltoall::{alltoall, alltoallv, alltoallw};
use super::boundary::Then;
use super::gather::{gather, gatherv};
use super::reduce::{reduce, reducev};
use super::request::MPIX_Request;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op};

/// Makes a persistent `MPIX_Neighbor_gather`, which `MPIX_Request_start` runs any number of times.
///
/// - `info`: `mpix_match` = `start` (default): starts match in their order with all other collectives of the operation on the communicator, those that are not
///   persistent too; `plan`: they match with one another alone, and may come in any order beside others, a different one on each process (as those of
///   `MPI_Neighbor_alltoall_init`; not where collectives are verified). `mpix_fuse`: for several fields. Both the same on neighbors. Or `MPI_INFO_NULL`. May be
///   freed at once. Other keys are ignored.
/// - `request`: the collective, inactive. `MPIX_Request_free` frees it.
///
/// Everything about the arguments is found out here: a start allocates nothing, looks nothing up and asks nothing of datatypes. What is in `sendbuf` when it is
/// started is sent. Arrays of counts, displacements and datatypes may be changed and freed at once, datatypes too; not an operator.
///
/// Called by all neighbors, at the same place among their calls of the operation on the communicator; communicates nothing. It takes the schedule that the
/// neighborhood has then (with `mpix_schedule` = `measure` before the choice the first one). When the neighborhood is freed, or another one set in its place, the request can no longer be started. Errors: those in the arguments of
/// `MPIX_Neighbor_gather`. Memory: that of the messages, and duplicates of derived datatypes.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
        gather("MPIX_Neighbor_gather_plan", send, recv, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_gather_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        gather("MPIX_Neighbor_gather_plan_c", send, recv, comm, Then::Plan(info, request))
    }
}

/// Makes a persistent `MPIX_Neighbor_gatherv`. All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        gatherv("MPIX_Neighbor_gatherv_plan", send, recv, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_gatherv_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        gatherv("MPIX_Neighbor_gatherv_plan_c", send, recv, comm, Then::Plan(info, request))
    }
}

/// Makes a persistent `MPIX_Neighbor_alltoall`. All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
        alltoall("MPIX_Neighbor_alltoall_plan", send, recv, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_alltoall_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        alltoall("MPIX_Neighbor_alltoall_plan_c", send, recv, comm, Then::Plan(info, request))
    }
}

/// Makes a persistent `MPIX_Neighbor_alltoallv`. All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        alltoallv("MPIX_Neighbor_alltoallv_plan", send, recv, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_alltoallv_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        alltoallv("MPIX_Neighbor_alltoallv_plan_c", send, recv, comm, Then::Plan(info, request))
    }
}

/// Makes a persistent `MPIX_Neighbor_alltoallw`. All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtypes), (recvbuf, recvcounts, recvdispls, recvtypes));
        alltoallw("MPIX_Neighbor_alltoallw_plan", send, recv, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_alltoallw_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtypes), (recvbuf, recvcounts, recvdispls, recvtypes));
        alltoallw("MPIX_Neighbor_alltoallw_plan_c", send, recv, comm, Then::Plan(info, request))
    }
}

/// Makes a persistent `MPIX_Neighbor_reduce`. The operator must not be freed before the request; a user-defined one is given a duplicate of a
/// derived datatype. All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
        reduce("MPIX_Neighbor_reduce_plan", send, recv, op, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_reduce_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        reduce("MPIX_Neighbor_reduce_plan_c", send, recv, op, comm, Then::Plan(info, request))
    }
}

/// Makes a persistent `MPIX_Neighbor_reducev`. The operator must not be freed before the request; a user-defined one is given a duplicate of a
/// derived datatype. All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcount.into(), recvtype));
        reducev("MPIX_Neighbor_reducev_plan", send, recv, op, comm, Then::Plan(info, request))
    }
}

/// `MPIX_Neighbor_reducev_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcount, recvtype));
        reducev("MPIX_Neighbor_reducev_plan_c", send, recv, op, comm, Then::Plan(info, request))
    }
}
