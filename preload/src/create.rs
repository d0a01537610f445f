//! Watches topology communicators being made and freed.
//!
//! Making one is collective over the old communicator, and all members of the new one come here, so
//! that calls can be made that are collective over it. Communicators made in another way
//! (`MPI_Comm_idup`, or inside a library that calls `PMPI_*`) have no state, and calls on them are
//! passed on unchanged.

use std::ffi::c_int;

use mpi_sys::{MPI_Comm, MPI_Info, MPI_Request};

use crate::errors::SUCCESS;
use crate::interpose::interpose;
use crate::{guard, idle, passed, state};

/// Gives a communicator with a topology a state after it was made from `parent`, if `code` is
/// success. It has no attributes yet.
///
/// # Safety
/// `parent` must be the communicator, and `newcomm` where the new one was written.
pub unsafe fn made(code: c_int, parent: MPI_Comm, newcomm: *const MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for both, and MPI has written to the pointer; a constant of
    // mpi-sys' C file.
    unsafe {
        if code == SUCCESS && guard::has_world() && *newcomm != mpi_sys::RSMPI_COMM_NULL {
            let _inside = guard::enter();
            state::attach(*newcomm, *newcomm, &idle::pool_of(parent), has_all_of(*newcomm, parent));
            passed::seen(*newcomm);
        }
    }
    code
}

/// True if a communicator has all processes of the one that it was made from.
///
/// # Safety
/// Both must be communicators.
unsafe fn has_all_of(comm: MPI_Comm, parent: MPI_Comm) -> bool {
    // SAFETY: the caller vouches for the communicators; the result is a local.
    let size = |comm| unsafe {
        let mut size = -1;
        (mpi_sys::MPI_Comm_size(comm, &mut size) == SUCCESS).then_some(size)
    };
    size(comm).is_some_and(|mine| size(parent) == Some(mine))
}

/// Gives a duplicate of `comm` a state after it was made, if `code` is success.
///
/// # Safety
/// As for `made`; `comm` must be the communicator.
pub unsafe fn duplicated(code: c_int, comm: MPI_Comm, newcomm: *const MPI_Comm) -> c_int {
    if code != SUCCESS || !guard::has_world() {
        return code;
    }
    // SAFETY: as in `made`. The new communicator has the program's attributes; the old one's shadow
    // has not.
    unsafe {
        let _inside = guard::enter();
        if let Some(state) = state::of(comm) {
            state::attach(*newcomm, state.shadow, &state.pool(), false);
        } else if let Some(why) = passed::failed(comm) {
            passed::fail(*newcomm, why);
        }
        passed::seen(*newcomm);
    }
    code
}

/// Notes that a duplicate of `comm` has no state, if `code` is success: it is not yet there.
///
/// # Safety
/// As for `duplicated`.
pub unsafe fn duplicated_later(code: c_int, comm: MPI_Comm, newcomm: *const MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for both; MPI has written the handle.
    unsafe {
        if code == SUCCESS && state::of(comm).is_some() {
            passed::duplicated_later(*newcomm);
        }
    }
    code
}

/// Frees the windows of a communicator that is about to be freed, while all of its processes are
/// here: MPICH deletes the attributes of one with requests under way when these are complete.
///
/// # Safety
/// `comm` must point to what the program takes for a communicator.
pub unsafe fn freeing(comm: *const MPI_Comm) {
    // SAFETY: the caller vouches for the pointer.
    unsafe {
        if let Some(state) = comm.as_ref().and_then(|&comm| state::of(comm)) {
            state.free_windows();
        }
    }
}

interpose! {
    fn MPI_Comm_free(comm: *mut MPI_Comm) |native| {
        // SAFETY: the program's argument for the function of this name.
        unsafe { freeing(comm) };
        native()
    }

    fn MPI_Comm_disconnect(comm: *mut MPI_Comm) |native| {
        // SAFETY: the program's argument for the function of this name.
        unsafe { freeing(comm) };
        native()
    }

    fn MPI_Cart_create(
        comm: MPI_Comm, ndims: c_int, dims: *const c_int, periods: *const c_int, reorder: c_int, newcomm: *mut MPI_Comm,
    ) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { made(native(), comm, newcomm) }
    }

    fn MPI_Cart_sub(comm: MPI_Comm, remain_dims: *const c_int, newcomm: *mut MPI_Comm) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { made(native(), comm, newcomm) }
    }

    fn MPI_Graph_create(
        comm: MPI_Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, reorder: c_int, newcomm: *mut MPI_Comm,
    ) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { made(native(), comm, newcomm) }
    }

    fn MPI_Dist_graph_create(
        comm: MPI_Comm, n: c_int, sources: *const c_int, degrees: *const c_int, destinations: *const c_int, weights: *const c_int,
        info: MPI_Info, reorder: c_int, newcomm: *mut MPI_Comm,
    ) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { made(native(), comm, newcomm) }
    }

    fn MPI_Dist_graph_create_adjacent(
        comm: MPI_Comm, indegree: c_int, sources: *const c_int, sourceweights: *const c_int, outdegree: c_int, destinations: *const c_int,
        destweights: *const c_int, info: MPI_Info, reorder: c_int, newcomm: *mut MPI_Comm,
    ) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { made(native(), comm, newcomm) }
    }

    fn MPI_Comm_dup(comm: MPI_Comm, newcomm: *mut MPI_Comm) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { duplicated(native(), comm, newcomm) }
    }

    fn MPI_Comm_idup(comm: MPI_Comm, newcomm: *mut MPI_Comm, request: *mut MPI_Request) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { duplicated_later(native(), comm, newcomm) }
    }

    fn MPI_Comm_dup_with_info(comm: MPI_Comm, info: MPI_Info, newcomm: *mut MPI_Comm) |native| {
        // SAFETY: where MPI has written its result; MPI has taken `comm`.
        unsafe { duplicated(native(), comm, newcomm) }
    }
}
