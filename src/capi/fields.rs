//! Several fields in one exchange: `MPIX_Neighbor_alltoallw_fields`.

use std::ffi::{c_int, c_void};

use super::args::{self, Entry, Sides};
use super::boundary::{Then, several};
use super::request::MPIX_Request;
use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info};

/// Sparse all-to-all of several fields at once: what `nfields` calls of `MPIX_Neighbor_alltoallw` do, one for each field, in one exchange.
///
/// - `nfields`: number of fields, at least 0; the same on all processes.
/// - `sendbufs`, `recvbufs`: nfields addresses, of the fields' buffers.
/// - `sendcounts`, `senddispls`, `sendtypes`: nfields * outdegree entries; those of field f and target i at `f * outdegree + i`.
/// - `recvcounts`, `recvdispls`, `recvtypes`: nfields * indegree entries; those of field f and source j at `f * indegree + j`.
/// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_ALLTOALL`.
///
/// The blocks of all fields that go to one neighbor travel as one message where the LogGP model says that this saves more startups than the copying costs: where they are
/// short. The hint `mpix_fuse` = `true` or `false` (default `auto`) of the neighborhood, or the environment variable `MPIX_FUSE`, makes that always or never so. Blocks that other processes pass on are not put
/// together.
///
/// All else as for `MPIX_Neighbor_alltoallw`; texts of errors name entries by their number within the field. Cost: for each edge with a joint message a datatype is made, so that a plan (`MPIX_Neighbor_alltoallw_fields_plan`) serves
/// repeated exchanges better.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays as long and buffers as large as said.
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
    let send = Side { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = Side { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields", nfields, send, recv, comm, Then::Run) }
}

/// `MPIX_Neighbor_alltoallw_fields` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays as long and buffers as large as said.
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
    let send = Side { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = Side { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields_c", nfields, send, recv, comm, Then::Run) }
}

/// Starts a `MPIX_Neighbor_alltoallw_fields`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays as long and buffers as large as said.
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
    let send = Side { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = Side { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Ineighbor_alltoallw_fields", nfields, send, recv, comm, Then::Start(request)) }
}

/// `MPIX_Ineighbor_alltoallw_fields` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays as long and buffers as large as said.
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
    let send = Side { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = Side { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Ineighbor_alltoallw_fields_c", nfields, send, recv, comm, Then::Start(request)) }
}

/// Makes a persistent `MPIX_Neighbor_alltoallw_fields`.
///
/// - `info`: `mpix_fuse`, which stands before the neighborhood's, and `mpix_match`, the same on neighbors; or `MPI_INFO_NULL`.
///
/// All else as for `MPIX_Neighbor_gather_plan`.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays as long and buffers as large as said.
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
    let send = Side { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = Side { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields_plan", nfields, send, recv, comm, Then::Plan(info, request)) }
}

/// `MPIX_Neighbor_alltoallw_fields_plan` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays as long and buffers as large as said.
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
    let send = Side { buffers: sendbufs.cast(), counts: sendcounts, displs: senddispls, datatypes: sendtypes };
    let recv = Side { buffers: recvbufs.cast(), counts: recvcounts, displs: recvdispls, datatypes: recvtypes };
    // SAFETY: the caller vouches for the arguments.
    unsafe { fields("MPIX_Neighbor_alltoallw_fields_plan_c", nfields, send, recv, comm, Then::Plan(info, request)) }
}

/// The arguments of one side.
struct Side<C> {
    buffers: *const *mut c_void,
    counts: *const C,
    displs: *const MPI_Aint,
    datatypes: *const MPI_Datatype,
}

/// The part of an array that belongs to a field. A null array stays null.
fn part<T>(array: *const T, field: usize, degree: usize) -> *const T {
    if array.is_null() { array } else { array.wrapping_add(field * degree) }
}

unsafe fn fields<C: Entry>(function: &str, nfields: c_int, send: Side<C>, recv: Side<C>, comm: MPI_Comm, then: Then) -> c_int {
    let field = |sides: Sides, f: usize| -> Result<Buffers> {
        let (targets, sources) = (sides.targets, sides.sources);
        // SAFETY: the caller vouches for the arrays. Where a degree is 0 the arrays of that side are not looked at.
        unsafe {
            let sendbuf = args::array("sendbufs", send.buffers, if targets == 0 { 0 } else { f + 1 })?;
            let recvbuf = args::array("recvbufs", recv.buffers, if sources == 0 { 0 } else { f + 1 })?;
            let nothing = std::ptr::null_mut();
            Ok(Buffers {
                input: sides.send(sendbuf.get(f).copied().unwrap_or(nothing)).general(
                    part(send.counts, f, targets),
                    part(send.displs, f, targets),
                    part(send.datatypes, f, targets),
                )?,
                output: sides.recv(recvbuf.get(f).copied().unwrap_or(nothing)).general(
                    part(recv.counts, f, sources),
                    part(recv.displs, f, sources),
                    part(recv.datatypes, f, sources),
                )?,
                op: None,
            })
        }
    };
    // SAFETY: the caller vouches for the arguments.
    unsafe { several(function, nfields, comm, then, field) }
}
