//! `MPIX_Neighbor_gather` and its vector and large-count forms.

use std::ffi::{c_int, c_void};

use super::args::Entry;
use super::boundary::{Then, collective};
use crate::collective::Operation;
use crate::datatype::buffers::Buffers;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

/// Sparse gather: sends one block to all targets and receives a block of equal size from each source.
///
/// - `sendbuf, sendcount, sendtype`: the block that goes to every target; `sendcount` elements.
/// - `recvbuf, recvcount, recvtype`: room for indegree blocks of `recvcount` elements behind one another; block j comes from source j and
///   nothing is written where source j is `MPI_PROC_NULL`.
/// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_GATHER`.
///
/// Called by every process that has an edge, and by all its neighbors; processes that no path of edges connects need not call equally often, unless
/// `mpix_whole_communicator` promises that all call. The
/// type signature sent must equal the one that each target expects. `MPI_IN_PLACE` is an error. Where a degree is 0 the arguments of that
/// side are not looked at.
///
/// Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`, and `MPI_ERR_TRUNCATE` on
/// self edges; found before anything is sent. What only the other end can show (`MPI_ERR_TRUNCATE` of a message) comes from MPI
/// while it waits. Cost: as `MPIX_Neighborhood_describe` says; with the schedule `direct` one round and a message for each edge
/// to another process. Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 1.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        gather(
            "MPIX_Neighbor_gather",
            (sendbuf, sendcount.into(), sendtype),
            (recvbuf, recvcount.into(), recvtype),
            comm,
            Then::Run,
        )
    }
}

/// `MPIX_Neighbor_gather` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
    unsafe { gather("MPIX_Neighbor_gather_c", (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm, Then::Run) }
}

#[inline(always)]
pub(super) unsafe fn gather(
    function: &str,
    send: (*const c_void, i64, MPI_Datatype),
    recv: (*mut c_void, i64, MPI_Datatype),
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Gather, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).one(send.1, send.2)?,
                output: sides.recv(recv.0).equal(recv.1, recv.2)?,
                op: None,
            })
        })
    }
}

/// Sparse gather of blocks of different sizes: sends one block to all targets and receives from source j `recvcounts[j]` elements to
/// `recvbuf + recvdispls[j] * extent(recvtype)`.
///
/// - `recvcounts`, `recvdispls`: indegree entries.
///
/// All else as for `MPIX_Neighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        let (send, recv) = ((sendbuf, sendcount.into(), sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        gatherv("MPIX_Neighbor_gatherv", send, recv, comm, Then::Run)
    }
}

/// `MPIX_Neighbor_gatherv` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
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
        let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, recvdispls, recvtype));
        gatherv("MPIX_Neighbor_gatherv_c", send, recv, comm, Then::Run)
    }
}

#[inline(always)]
pub(super) unsafe fn gatherv<C: Entry, D: Entry>(
    function: &str,
    send: (*const c_void, i64, MPI_Datatype),
    recv: (*mut c_void, *const C, *const D, MPI_Datatype),
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Gather, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).one(send.1, send.2)?,
                output: sides.recv(recv.0).vector(recv.1, recv.2, recv.3)?,
                op: None,
            })
        })
    }
}
