//! `MPIX_Neighbor_reduce` and its vector and large-count forms.

use std::ffi::{c_int, c_void};

use super::args::{self, Entry};
use super::boundary::{Then, collective};
use crate::collective::Operation;
use crate::datatype::buffers::Buffers;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};

/// Sparse reduction: sends one block to all targets and combines the blocks of all sources elementwise into one.
///
/// - `sendbuf, sendcount, sendtype`: the block that goes to every target; `sendcount` elements.
/// - `recvbuf, recvcount, recvtype`: the result, `recvcount` elements. The process's own block takes part only where it lists itself as a
///   source. Without a source (or with none but `MPI_PROC_NULL`) `recvbuf` is left as it is.
/// - `op`: a predefined or user-defined operator that works on `recvtype`.
/// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_REDUCE`.
///
/// The result is `((s0 op s1) op s2) op ...` in the order of the source list, always, so that it is the same in each run. Where the operator
/// commutes and the info key `mpix_reduce_order=any` was given, the order of arrival by rounds is taken instead.
///
/// Called by every process that has an edge, and by all its neighbors. The type signatures at the two ends of an edge must be equal.
/// `MPI_IN_PLACE` is an error. Where the outdegree is 0 the send arguments are not looked at.
///
/// Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_OP`, `MPI_ERR_BUFFER`,
/// `MPI_ERR_NO_MEM`, and `MPI_ERR_TRUNCATE` on self edges; found before anything is sent. What only the other end can show
/// comes from MPI while it waits. Cost: as for `MPIX_Neighbor_gather`, and memory for all sources' blocks but one, which is
/// kept for the next call. Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 3.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        reduce(
            "MPIX_Neighbor_reduce",
            (sendbuf, sendcount.into(), sendtype),
            (recvbuf, recvcount.into(), recvtype),
            op,
            comm,
            Then::Run,
        )
    }
}

/// `MPIX_Neighbor_reduce` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        reduce("MPIX_Neighbor_reduce_c", (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), op, comm, Then::Run)
    }
}

#[inline(always)]
pub(super) unsafe fn reduce(
    function: &str,
    send: (*const c_void, i64, MPI_Datatype),
    recv: (*mut c_void, i64, MPI_Datatype),
    op: MPI_Op,
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Reduce, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).one(send.1, send.2)?,
                output: sides.recv(recv.0).one(recv.1, recv.2)?,
                op: (sides.sources > 0).then(|| args::operator(op)).transpose()?,
            })
        })
    }
}

/// Sparse reduction of blocks that differ from target to target: sends to target i `sendcounts[i]` elements from
/// `sendbuf + senddispls[i] * extent(sendtype)` and combines what comes from all sources, `recvcount` elements each.
///
/// All sources of a process send it blocks of one signature. Where each contributes to another part of the target's data, as in the reverse
/// of an irregular halo exchange, a block must cover all of what any source contributes to (neutral elements elsewhere), or
/// `MPIX_Neighbor_alltoallv` and a loop serve better.
///
/// - `sendcounts`, `senddispls`: outdegree entries.
///
/// All else as for `MPIX_Neighbor_reduce`. Source: the same paper, Listing 4.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reducev(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        reducev(
            "MPIX_Neighbor_reducev",
            (sendbuf, sendcounts, senddispls, sendtype),
            (recvbuf, recvcount.into(), recvtype),
            op,
            comm,
            Then::Run,
        )
    }
}

/// `MPIX_Neighbor_reducev` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and buffers as large as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reducev_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        reducev(
            "MPIX_Neighbor_reducev_c",
            (sendbuf, sendcounts, senddispls, sendtype),
            (recvbuf, recvcount, recvtype),
            op,
            comm,
            Then::Run,
        )
    }
}

#[inline(always)]
pub(super) unsafe fn reducev<C: Entry, D: Entry>(
    function: &str,
    send: (*const c_void, *const C, *const D, MPI_Datatype),
    recv: (*mut c_void, i64, MPI_Datatype),
    op: MPI_Op,
    comm: MPI_Comm,
    then: Then,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        collective(function, Operation::Reduce, comm, then, |sides| {
            Ok(Buffers {
                input: sides.send(send.0).vector(send.1, send.2, send.3)?,
                output: sides.recv(recv.0).one(recv.1, recv.2)?,
                op: (sides.sources > 0).then(|| args::operator(op)).transpose()?,
            })
        })
    }
}
