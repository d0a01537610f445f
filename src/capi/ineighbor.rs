//! Nonblocking neighborhood collectives: `MPIX_Ineighbor_*`.

use std::ffi::{c_int, c_void};

use super::alltoall::{alltoall, alltoallv, alltoallw};
use super::boundary::Then;
use super::gather::{gather, gatherv};
use super::reduce::{reduce, reducev};
use super::request::MPIX_Request;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};

/// Starts a `MPIX_Neighbor_gather`, and returns when its messages are posted.
///
/// - `request`: the collective, for `MPIX_Request_wait` and its like, which complete it. Until then `sendbuf` must not be written and `recvbuf` not be
///   touched, but for blocks of which `MPIX_Request_test_source` and its like have said that they have arrived.
///
/// Arrays of counts, displacements and datatypes may be changed and freed at once, datatypes too; not an operator. Any number of collectives may be under way on a
/// communicator; they match in the order in which they are started, blocking ones with them. Where the schedule has several rounds, all waiting and
/// testing functions of this library move all collectives of the process forward, and nothing else does: neighbors may have to wait for the next such
/// call. Of such ones the oldest under way must be no more than 10,000 collectives old.
///
/// All else as for `MPIX_Neighbor_gather`; errors in the arguments are found here and start nothing. Cost: that, an allocation, and where there are several
/// rounds a duplicate of each derived datatype.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
        gather("MPIX_Ineighbor_gather", send, recv, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_gather` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        gather("MPIX_Ineighbor_gather_c", send, recv, comm, Then::Start(request))
    }
}

/// Starts a `MPIX_Neighbor_gatherv`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        gatherv("MPIX_Ineighbor_gatherv", send, recv, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_gatherv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        gatherv("MPIX_Ineighbor_gatherv_c", send, recv, comm, Then::Start(request))
    }
}

/// Starts a `MPIX_Neighbor_alltoall`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
        alltoall("MPIX_Ineighbor_alltoall", send, recv, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_alltoall` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        alltoall("MPIX_Ineighbor_alltoall_c", send, recv, comm, Then::Start(request))
    }
}

/// Starts a `MPIX_Neighbor_alltoallv`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        alltoallv("MPIX_Ineighbor_alltoallv", send, recv, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_alltoallv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        alltoallv("MPIX_Ineighbor_alltoallv_c", send, recv, comm, Then::Start(request))
    }
}

/// Starts a `MPIX_Neighbor_alltoallw`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtypes), (recvbuf, recvcounts, recvdispls, recvtypes));
        alltoallw("MPIX_Ineighbor_alltoallw", send, recv, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_alltoallw` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtypes), (recvbuf, recvcounts, recvdispls, recvtypes));
        alltoallw("MPIX_Ineighbor_alltoallw_c", send, recv, comm, Then::Start(request))
    }
}

/// Starts a `MPIX_Neighbor_reduce`, and returns when its messages are posted. The operator must not be freed before the request is complete. All else as for
/// `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype));
        reduce("MPIX_Ineighbor_reduce", send, recv, op, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_reduce` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        reduce("MPIX_Ineighbor_reduce_c", send, recv, op, comm, Then::Start(request))
    }
}

/// Starts a `MPIX_Neighbor_reducev`, and returns when its messages are posted. The operator must not be freed before the request is complete. All else as for
/// `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcount.into(), recvtype));
        reducev("MPIX_Ineighbor_reducev", send, recv, op, comm, Then::Start(request))
    }
}

/// `MPIX_Ineighbor_reducev` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said, until the request is complete.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let (send, recv) = ((sendbuf, sendcounts, senddispls, sendtype), (recvbuf, recvcount, recvtype));
        reducev("MPIX_Ineighbor_reducev_c", send, recv, op, comm, Then::Start(request))
    }
}
