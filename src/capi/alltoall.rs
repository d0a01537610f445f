//! `MPIX_Neighbor_alltoall` and its vector, general and large-count forms.

use std::ffi::{c_int, c_void};

use super::args::Entry;
use super::boundary::{Then, collective};
use crate::collective::Operation;
use crate::datatype::buffers::Buffers;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

/// Sparse all-to-all: sends a block of its own to each target and receives a block of equal size from each source.
///
/// - `sendbuf, sendcount, sendtype`: outdegree blocks of `sendcount` elements behind one another; block i goes to target i.
/// - `recvbuf, recvcount, recvtype`: room for indegree blocks of `recvcount` elements behind one another; block j comes from source j and
///   nothing is written where source j is `MPI_PROC_NULL`.
/// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_ALLTOALL`.
///
/// Called by every process that has an edge, and by all its neighbors; processes that no path of edges connects need not call equally often, unless
/// `mpix_whole_communicator` promises that all call. The
/// type signatures at the two ends of an edge must be equal. `MPI_IN_PLACE` is an error. Where a degree is 0 the arguments of that side
/// are not looked at.
///
/// Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`, and `MPI_ERR_TRUNCATE` on
/// self edges; found before anything is sent. What only the other end can show (`MPI_ERR_TRUNCATE` of a message) comes from MPI
/// while it waits. Cost: as `MPIX_Neighborhood_describe` says; with the schedule `direct` one round and a message for each edge
/// to another process. Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 2.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        alltoall(
            "MPIX_Neighbor_alltoall",
            (sendbuf, sendcount.into(), sendtype),
            (recvbuf, recvcount.into(), recvtype),
            comm,
            Then::Run,
        )
    }
}

/// `MPIX_Neighbor_alltoall` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        alltoall("MPIX_Neighbor_alltoall_c", (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm, Then::Run)
    }
}

#[inline(always)]
pub(super) unsafe fn alltoall(
    function: &str,
    send: (*const c_void, i64, MPI_Datatype),
    recv: (*mut c_void, i64, MPI_Datatype),
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Alltoall, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).equal(send.1, send.2)?,
                output: sides.recv(recv.0).equal(recv.1, recv.2)?,
                op: None,
            })
        })
    }
}

/// Sparse all-to-all of blocks of different sizes: sends to target i `sendcounts[i]` elements from
/// `sendbuf + senddispls[i] * extent(sendtype)` and receives from source j `recvcounts[j]` elements to
/// `recvbuf + recvdispls[j] * extent(recvtype)`.
///
/// - `sendcounts`, `senddispls`: outdegree entries; `recvcounts`, `recvdispls`: indegree entries. Not communicator-size entries.
///
/// All else as for `MPIX_Neighbor_alltoall`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        alltoallv(
            "MPIX_Neighbor_alltoallv",
            (sendbuf, sendcounts, senddispls, sendtype),
            (recvbuf, recvcounts, recvdispls, recvtype),
            comm,
            Then::Run,
        )
    }
}

/// `MPIX_Neighbor_alltoallv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        alltoallv(
            "MPIX_Neighbor_alltoallv_c",
            (sendbuf, sendcounts, senddispls, sendtype),
            (recvbuf, recvcounts, recvdispls, recvtype),
            comm,
            Then::Run,
        )
    }
}

#[inline(always)]
pub(super) unsafe fn alltoallv<C: Entry, D: Entry>(
    function: &str,
    send: (*const c_void, *const C, *const D, MPI_Datatype),
    recv: (*mut c_void, *const C, *const D, MPI_Datatype),
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Alltoall, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).vector(send.1, send.2, send.3)?,
                output: sides.recv(recv.0).vector(recv.1, recv.2, recv.3)?,
                op: None,
            })
        })
    }
}

/// Sparse all-to-all of blocks of different sizes and layouts: sends to target i `sendcounts[i]` elements of `sendtypes[i]` from
/// `sendbuf + senddispls[i]` bytes and receives from source j `recvcounts[j]` elements of `recvtypes[j]` to `recvbuf + recvdispls[j]` bytes.
///
/// - `sendcounts`, `senddispls`, `sendtypes`: outdegree entries; `recvcounts`, `recvdispls`, `recvtypes`: indegree entries.
///
/// Blocks that are sent may overlap one another (corners of a halo); blocks that are received must not overlap any other block. All else as
/// for `MPIX_Neighbor_alltoall`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        alltoallw(
            "MPIX_Neighbor_alltoallw",
            (sendbuf, sendcounts, senddispls, sendtypes),
            (recvbuf, recvcounts, recvdispls, recvtypes),
            comm,
            Then::Run,
        )
    }
}

/// `MPIX_Neighbor_alltoallw` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        alltoallw(
            "MPIX_Neighbor_alltoallw_c",
            (sendbuf, sendcounts, senddispls, sendtypes),
            (recvbuf, recvcounts, recvdispls, recvtypes),
            comm,
            Then::Run,
        )
    }
}

#[inline(always)]
pub(super) unsafe fn alltoallw<C: Entry>(
    function: &str,
    send: (*const c_void, *const C, *const MPI_Aint, *const MPI_Datatype),
    recv: (*mut c_void, *const C, *const MPI_Aint, *const MPI_Datatype),
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Alltoall, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).general(send.1, send.2, send.3)?,
                output: sides.recv(recv.0).general(recv.1, recv.2, recv.3)?,
                op: None,
            })
        })
    }
}
