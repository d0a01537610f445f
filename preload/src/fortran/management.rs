//! Fortran names of the functions that make communicators, complete requests and end MPI.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mpix_neighbor::util::cast::to_usize;

use mpi_sys::{
    MPI_Comm, MPI_Request, MPI_Status, RSMPI_Comm_f2c as comm_of, RSMPI_Request_c2f as integer_of,
    RSMPI_Request_f2c as request_of,
};

use super::export::*;
use crate::errors::SUCCESS;
use crate::{complete, create, requests};

/// Addresses that stand for `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE` in Fortran.
struct Ignored {
    one: *const c_void,
    many: *const c_void,
}

// SAFETY: addresses that are only compared.
unsafe impl Send for Ignored {}
// SAFETY: as above.
unsafe impl Sync for Ignored {}
fn is_ignored(statuses: *const MPI_Status) -> bool {
    static IGNORED: OnceLock<Ignored> = OnceLock::new();
    let ignored = IGNORED.get_or_init(|| {
        #[cfg(open_mpi)]
        let (one, many) = (c"mpi_fortran_status_ignore_", c"mpi_fortran_statuses_ignore_");
        #[cfg(not(open_mpi))]
        let (one, many) = (c"MPIR_F08_MPI_STATUS_IGNORE_OBJ", c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
        Ignored { one: address(one), many: address(many) }
    });
    statuses.cast() == ignored.one || statuses.cast() == ignored.many
}

/// Calls a C function with `count` requests and as many statuses as the function takes, which are
/// converted to C before and to Fortran after. `on` passes the call on unchanged, and its results
/// are left alone. Otherwise `after` runs and returns the number of statuses. If the table of
/// requests is empty, only `on` runs.
unsafe fn with_requests(
    count: Integer,
    integers: *mut Integer,
    (statuses, most): (*mut MPI_Status, Integer),
    after: impl FnOnce() -> Integer,
    on: &dyn Fn() -> c_int,
    call: impl FnOnce(*mut MPI_Request, *mut MPI_Status, &dyn Fn() -> c_int) -> c_int,
) -> c_int {
    if requests::none() || count <= 0 {
        return on();
    }
    // SAFETY: the caller vouches for arrays of `count` entries; constants of mpi-sys' C file.
    unsafe {
        let count = to_usize(count);
        let handles = (0..count).map(|i| request_of(*integers.add(i)));
        let mut handles: Vec<MPI_Request> = handles.collect();
        let before = handles.clone();
        // Fortran's statuses may be less aligned than C's
        let ignored = statuses.is_null() || is_ignored(statuses);
        let mut room: Vec<MPI_Status> = if ignored { Vec::new() } else { vec![std::mem::zeroed(); to_usize(most)] };
        std::ptr::copy_nonoverlapping(statuses.cast::<u8>(), room.as_mut_ptr().cast::<u8>(), size_of_val(&room[..]));
        let into = if ignored { mpi_sys::RSMPI_STATUSES_IGNORE } else { room.as_mut_ptr() };
        let passed = Cell::new(false);
        let pass = || {
            passed.set(true);
            on()
        };
        let code = call(handles.as_mut_ptr(), into, &pass);
        if !passed.get() {
            for i in (0..count).filter(|&i| handles[i] != before[i]) {
                integers.add(i).write(integer_of(handles[i]));
            }
            let written = after();
            if !ignored {
                let bytes = to_usize(written.clamp(0, most)) * size_of::<MPI_Status>();
                std::ptr::copy_nonoverlapping(room.as_ptr().cast::<u8>(), statuses.cast::<u8>(), bytes);
            }
        }
        code
    }
}

/// Converts indices to Fortran's, which start at 1.
unsafe fn from_one(indices: *mut Integer, count: Integer) {
    // SAFETY: the caller vouches for the array; a constant of mpi-sys' C file.
    unsafe {
        for i in 0..to_usize(count.max(0)) {
            if *indices.add(i) != mpi_sys::RSMPI_UNDEFINED {
                *indices.add(i) += 1;
            }
        }
    }
}

/// Makes a communicator from another one by `native`, then has `note` give it what it needs. The
/// old one is read first: programs use one variable for both.
unsafe fn making(
    old: *const Integer,
    newcomm: *const Integer,
    native: &dyn Fn() -> c_int,
    note: unsafe fn(c_int, MPI_Comm, *const MPI_Comm) -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the pointers, and MPI has written to the second one.
    unsafe {
        let old = comm_of(*old);
        let code = native();
        if code == SUCCESS { note(code, old, &comm_of(*newcomm)) } else { code }
    }
}

fortran! { mpi_ MPI_:
    cart_create CART_CREATE Cart_create (
        comm: *const Integer, ndims: *const Integer, dims: *const Integer, periods: *const Integer, reorder: *const Integer,
        newcomm: *mut Integer,
    ) |native| {
        making(comm, newcomm, native, create::made)
    }

    cart_sub CART_SUB Cart_sub (comm: *const Integer, remain_dims: *const Integer, newcomm: *mut Integer) |native| {
        making(comm, newcomm, native, create::made)
    }

    graph_create GRAPH_CREATE Graph_create (
        comm: *const Integer, nnodes: *const Integer, index: *const Integer, edges: *const Integer, reorder: *const Integer,
        newcomm: *mut Integer,
    ) |native| {
        making(comm, newcomm, native, create::made)
    }

    dist_graph_create DIST_GRAPH_CREATE Dist_graph_create (
        comm: *const Integer, n: *const Integer, sources: *const Integer, degrees: *const Integer, destinations: *const Integer,
        weights: *const Integer, info: *const Integer, reorder: *const Integer, newcomm: *mut Integer,
    ) |native| {
        making(comm, newcomm, native, create::made)
    }

    dist_graph_create_adjacent DIST_GRAPH_CREATE_ADJACENT Dist_graph_create_adjacent (
        comm: *const Integer, indegree: *const Integer, sources: *const Integer, sourceweights: *const Integer, outdegree: *const Integer,
        destinations: *const Integer, destweights: *const Integer, info: *const Integer, reorder: *const Integer, newcomm: *mut Integer,
    ) |native| {
        making(comm, newcomm, native, create::made)
    }

    comm_dup COMM_DUP Comm_dup (comm: *const Integer, newcomm: *mut Integer) |native| {
        making(comm, newcomm, native, create::duplicated)
    }

    comm_dup_with_info COMM_DUP_WITH_INFO Comm_dup_with_info (
        comm: *const Integer, info: *const Integer, newcomm: *mut Integer,
    ) |native| {
        making(comm, newcomm, native, create::duplicated)
    }

    comm_free COMM_FREE Comm_free (comm: *mut Integer) |native| {
        create::freeing(&comm_of(*comm));
        native()
    }

    comm_disconnect COMM_DISCONNECT Comm_disconnect (comm: *mut Integer) |native| {
        create::freeing(&comm_of(*comm));
        native()
    }

    comm_idup COMM_IDUP Comm_idup (comm: *const Integer, newcomm: *mut Integer, request: *mut Integer) |native| {
        making(comm, newcomm, native, create::duplicated_later)
    }

    init INIT Init () |native| {
        let code = native();
        crate::ending::prepare();
        code
    }

    init_thread INIT_THREAD Init_thread (required: *const Integer, provided: *mut Integer) |native| {
        let code = native();
        crate::ending::prepare();
        code
    }

    finalize FINALIZE Finalize () |native| {
        crate::finalize::before();
        native()
    }

    abort ABORT Abort (comm: *const Integer, errorcode: *const Integer) |native| {
        crate::ending::aborting();
        native()
    }

    wait WAIT Wait (request: *mut Integer, status: *mut MPI_Status) |native| {
        with_requests(1, request, (status, 1), || 1, native, |r, s, native| complete::wait(r, s, native))
    }

    waitall WAITALL Waitall (count: *const Integer, requests: *mut Integer, statuses: *mut MPI_Status) |native| {
        with_requests(*count, requests, (statuses, *count), || *count, native, |r, s, native| complete::waitall(*count, r, s, native))
    }

    waitany WAITANY Waitany (
        count: *const Integer, requests: *mut Integer, index: *mut Integer, status: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(index, 1);
            1
        };
        with_requests(*count, requests, (status, 1), after, native, |r, s, native| complete::waitany(*count, r, index, s, native))
    }

    waitsome WAITSOME Waitsome (
        count: *const Integer, requests: *mut Integer, outcount: *mut Integer, indices: *mut Integer, statuses: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(indices, *outcount);
            *outcount
        };
        with_requests(*count, requests, (statuses, *count), after, native, |r, s, native| {
            complete::waitsome(*count, r, outcount, indices, s, native)
        })
    }

    test TEST Test (request: *mut Integer, flag: *mut Integer, status: *mut MPI_Status) |native| {
        with_requests(1, request, (status, 1), || *flag, native, |r, s, native| complete::test(r, flag, s, native))
    }

    testall TESTALL Testall (
        count: *const Integer, requests: *mut Integer, flag: *mut Integer, statuses: *mut MPI_Status,
    ) |native| {
        let after = || *flag * *count;
        with_requests(*count, requests, (statuses, *count), after, native, |r, s, native| complete::testall(*count, r, flag, s, native))
    }

    testany TESTANY Testany (
        count: *const Integer, requests: *mut Integer, index: *mut Integer, flag: *mut Integer, status: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(index, 1);
            *flag
        };
        with_requests(*count, requests, (status, 1), after, native, |r, s, native| complete::testany(*count, r, index, flag, s, native))
    }

    testsome TESTSOME Testsome (
        count: *const Integer, requests: *mut Integer, outcount: *mut Integer, indices: *mut Integer, statuses: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(indices, *outcount);
            *outcount
        };
        with_requests(*count, requests, (statuses, *count), after, native, |r, s, native| {
            complete::testsome(*count, r, outcount, indices, s, native)
        })
    }

    start START Start (request: *mut Integer) |native| {
        with_requests(1, request, (std::ptr::null_mut(), 0), || 0, native, |r, _, native| complete::start(r, native))
    }

    startall STARTALL Startall (count: *const Integer, requests: *mut Integer) |native| {
        let nowhere = std::ptr::null_mut();
        with_requests(*count, requests, (nowhere, 0), || 0, native, |r, _, native| complete::startall(*count, r, native))
    }

    request_free REQUEST_FREE Request_free (request: *mut Integer) |native| {
        with_requests(1, request, (std::ptr::null_mut(), 0), || 0, native, |r, _, native| complete::free(r, native))
    }

    cancel CANCEL Cancel (request: *mut Integer) |native| {
        with_requests(1, request, (std::ptr::null_mut(), 0), || 0, native, |r, _, native| complete::cancel(r, native))
    }

    request_get_status REQUEST_GET_STATUS Request_get_status (
        request: *mut Integer, flag: *mut Integer, status: *mut MPI_Status,
    ) |native| {
        with_requests(1, request, (status, 1), || *flag, native, |r, s, native| complete::get_status(*r, flag, s, native))
    }
}
