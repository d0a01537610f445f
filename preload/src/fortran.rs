//! The Fortran names.
//!
//! A call from Fortran reaches the C names only where the MPI's Fortran part calls them. Open MPI's
//! calls `PMPI_*` from all its functions, so that all of them are here. MPICH's calls `MPI_*`, but
//! for those functions of `mpi_f08` that take no buffer; only these are here.
//!
//! Arguments come by reference, handles as integers. `mpi_f08` passes the same: its handles are
//! structures of one integer, and its absent `ierror` is a null pointer. A status has the C
//! structure's layout in all of Fortran's forms. Default integers and logicals are as wide as
//! `int`.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use mpi_sys::{
    MPI_Request, MPI_Status, RSMPI_Comm_f2c as comm_of, RSMPI_Request_c2f as integer_of, RSMPI_Request_f2c as request_of,
};

use crate::errors::SUCCESS;
use crate::next::symbol;
use crate::{complete, create, requests};

/// A Fortran integer.
type Integer = c_int;

/// Defines the Fortran names of MPI functions, given in lower case, upper case and C's way. The
/// last argument, `ierror`, is left out here: `native` returns what the function behind puts there,
/// and what the body returns is put there.
macro_rules! fortran {
    ($prefix:ident $capitals:ident: $($lower:ident $upper:ident $camel:ident ($($arg:ident: $type:ty),* $(,)?) |$native:ident| $body:block)*) => {$(
        mod $lower {
            use super::*;

            // what is not looked at here is passed on all the same; one body has nothing unsafe
            #[allow(unused_variables, unused_unsafe)]
            unsafe fn body($($arg: $type,)* $native: &dyn Fn() -> c_int) -> c_int {
                // SAFETY: the arguments are a program's for the function of this name.
                unsafe { $body }
            }

            export! { $prefix, $lower, "_f08_": ($($arg: $type),*) f08 }
            #[cfg(open_mpi)]
            mod others {
                use super::*;
                export! { $prefix, $lower, "": ($($arg: $type),*) plain }
                export! { $prefix, $lower, "_": ($($arg: $type),*) one }
                export! { $prefix, $lower, "__": ($($arg: $type),*) two }
                export! { $capitals, $upper, "": ($($arg: $type),*) upper }
                export! { $capitals, $camel, "_f": ($($arg: $type),*) f }
                export! { $capitals, $camel, "_f08": ($($arg: $type),*) bound }
            }
        }
    )*};
}

/// One of the names.
macro_rules! export {
    ($prefix:ident, $name:ident, $suffix:literal: ($($arg:ident: $type:ty),*) $function:ident) => {
        #[unsafe(export_name = concat!(stringify!($prefix), stringify!($name), $suffix))]
        unsafe extern "C" fn $function($($arg: $type,)* ierror: *mut Integer) {
            static NEXT: crate::next::Next = crate::next::Next::new(&[concat!(stringify!($prefix), stringify!($name), $suffix, "\0")]);
            let native = || {
                let mut code = SUCCESS;
                // SAFETY: the function behind has the same type; the arguments are passed on as
                // they came.
                unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type,)* *mut Integer)>(NEXT.get())($($arg,)* &mut code);
                }
                code
            };
            let code = if crate::guard::passes() {
                native()
            } else {
                // SAFETY: the arguments are a program's for the function of this name.
                crate::guard::run(|| unsafe { body($($arg,)* &native) }, native)
            };
            if !ierror.is_null() {
                // SAFETY: the program's variable.
                unsafe { ierror.write(code) };
            }
        }
    };
}

/// Addresses by which Fortran programs say that they want no status.
struct Ignored {
    one: *const c_void,
    many: *const c_void,
}

// SAFETY: addresses that are only compared.
unsafe impl Send for Ignored {}
// SAFETY: as above.
unsafe impl Sync for Ignored {}

/// Address of a variable of the MPI's Fortran part; where there is none, one that no argument has.
fn address(name: &CStr) -> *const c_void {
    static NOTHING: u8 = 0;
    let found = symbol(name);
    if found.is_null() { (&raw const NOTHING).cast() } else { found }
}

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

/// Calls a C function with requests and statuses of the program, which are made C's before and
/// Fortran's after. `on` passes the call on as it came; what it has written is left alone.
/// Otherwise `after` runs, and says how many statuses there are. Where the table is empty nothing
/// but `on` happens.
unsafe fn with_requests(
    count: Integer,
    integers: *mut Integer,
    statuses: *mut MPI_Status,
    after: impl FnOnce() -> Integer,
    on: &dyn Fn() -> c_int,
    call: impl FnOnce(*mut MPI_Request, *mut MPI_Status, &dyn Fn() -> c_int) -> c_int,
) -> c_int {
    if requests::none() || count <= 0 {
        return on();
    }
    // SAFETY: the caller vouches for arrays of `count` entries; constants of mpi-sys' C file.
    unsafe {
        let count = count as usize;
        let handles = (0..count).map(|i| request_of(*integers.add(i)));
        let mut handles: Vec<MPI_Request> = handles.collect();
        let before = handles.clone();
        // Fortran's statuses need not lie where C's may
        let ignored = statuses.is_null() || is_ignored(statuses);
        let mut room: Vec<MPI_Status> = if ignored { Vec::new() } else { vec![std::mem::zeroed(); count] };
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
                let bytes = written.clamp(0, count as Integer) as usize * size_of::<MPI_Status>();
                std::ptr::copy_nonoverlapping(room.as_ptr().cast::<u8>(), statuses.cast::<u8>(), bytes);
            }
        }
        code
    }
}

/// Makes indices count from 1, where there are any.
unsafe fn from_one(indices: *mut Integer, count: Integer) {
    // SAFETY: the caller vouches for the array; a constant of mpi-sys' C file.
    unsafe {
        for i in 0..count.max(0) as usize {
            if *indices.add(i) != mpi_sys::RSMPI_UNDEFINED {
                *indices.add(i) += 1;
            }
        }
    }
}

/// A communicator with a topology has been made, if `code` is success.
unsafe fn made(code: c_int, newcomm: *const Integer) -> c_int {
    if code == SUCCESS {
        // SAFETY: the caller vouches for the pointer, and MPI has written to it.
        unsafe { create::made(code, &comm_of(*newcomm)) };
    }
    code
}

unsafe fn duplicated(code: c_int, comm: *const Integer, newcomm: *const Integer) -> c_int {
    if code == SUCCESS {
        // SAFETY: as in `made`.
        unsafe { create::duplicated(code, comm_of(*comm), &comm_of(*newcomm)) };
    }
    code
}

fortran! { mpi_ MPI_:
    cart_create CART_CREATE Cart_create (
        comm: *const Integer, ndims: *const Integer, dims: *const Integer, periods: *const Integer, reorder: *const Integer,
        newcomm: *mut Integer,
    ) |native| {
        made(native(), newcomm)
    }

    cart_sub CART_SUB Cart_sub (comm: *const Integer, remain_dims: *const Integer, newcomm: *mut Integer) |native| {
        made(native(), newcomm)
    }

    graph_create GRAPH_CREATE Graph_create (
        comm: *const Integer, nnodes: *const Integer, index: *const Integer, edges: *const Integer, reorder: *const Integer,
        newcomm: *mut Integer,
    ) |native| {
        made(native(), newcomm)
    }

    dist_graph_create DIST_GRAPH_CREATE Dist_graph_create (
        comm: *const Integer, n: *const Integer, sources: *const Integer, degrees: *const Integer, destinations: *const Integer,
        weights: *const Integer, info: *const Integer, reorder: *const Integer, newcomm: *mut Integer,
    ) |native| {
        made(native(), newcomm)
    }

    dist_graph_create_adjacent DIST_GRAPH_CREATE_ADJACENT Dist_graph_create_adjacent (
        comm: *const Integer, indegree: *const Integer, sources: *const Integer, sourceweights: *const Integer, outdegree: *const Integer,
        destinations: *const Integer, destweights: *const Integer, info: *const Integer, reorder: *const Integer, newcomm: *mut Integer,
    ) |native| {
        made(native(), newcomm)
    }

    comm_dup COMM_DUP Comm_dup (comm: *const Integer, newcomm: *mut Integer) |native| {
        duplicated(native(), comm, newcomm)
    }

    comm_dup_with_info COMM_DUP_WITH_INFO Comm_dup_with_info (
        comm: *const Integer, info: *const Integer, newcomm: *mut Integer,
    ) |native| {
        duplicated(native(), comm, newcomm)
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
        with_requests(1, request, status, || 1, native, |r, s, native| complete::wait(r, s, native))
    }

    waitall WAITALL Waitall (count: *const Integer, requests: *mut Integer, statuses: *mut MPI_Status) |native| {
        with_requests(*count, requests, statuses, || *count, native, |r, s, native| complete::waitall(*count, r, s, native))
    }

    waitany WAITANY Waitany (
        count: *const Integer, requests: *mut Integer, index: *mut Integer, status: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(index, 1);
            1
        };
        with_requests(*count, requests, status, after, native, |r, s, native| complete::waitany(*count, r, index, s, native))
    }

    waitsome WAITSOME Waitsome (
        count: *const Integer, requests: *mut Integer, outcount: *mut Integer, indices: *mut Integer, statuses: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(indices, *outcount);
            *outcount
        };
        with_requests(*count, requests, statuses, after, native, |r, s, native| {
            complete::waitsome(*count, r, outcount, indices, s, native)
        })
    }

    test TEST Test (request: *mut Integer, flag: *mut Integer, status: *mut MPI_Status) |native| {
        with_requests(1, request, status, || *flag, native, |r, s, native| complete::test(r, flag, s, native))
    }

    testall TESTALL Testall (
        count: *const Integer, requests: *mut Integer, flag: *mut Integer, statuses: *mut MPI_Status,
    ) |native| {
        let after = || *flag * *count;
        with_requests(*count, requests, statuses, after, native, |r, s, native| complete::testall(*count, r, flag, s, native))
    }

    testany TESTANY Testany (
        count: *const Integer, requests: *mut Integer, index: *mut Integer, flag: *mut Integer, status: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(index, *flag);
            *flag
        };
        with_requests(*count, requests, status, after, native, |r, s, native| complete::testany(*count, r, index, flag, s, native))
    }

    testsome TESTSOME Testsome (
        count: *const Integer, requests: *mut Integer, outcount: *mut Integer, indices: *mut Integer, statuses: *mut MPI_Status,
    ) |native| {
        let after = || {
            from_one(indices, *outcount);
            *outcount
        };
        with_requests(*count, requests, statuses, after, native, |r, s, native| {
            complete::testsome(*count, r, outcount, indices, s, native)
        })
    }

    start START Start (request: *mut Integer) |native| {
        with_requests(1, request, std::ptr::null_mut(), || 0, native, |r, _, native| complete::start(r, native))
    }

    startall STARTALL Startall (count: *const Integer, requests: *mut Integer) |native| {
        let nowhere = std::ptr::null_mut();
        with_requests(*count, requests, nowhere, || 0, native, |r, _, native| complete::startall(*count, r, native))
    }

    request_free REQUEST_FREE Request_free (request: *mut Integer) |native| {
        with_requests(1, request, std::ptr::null_mut(), || 0, native, |r, _, native| complete::free(r, native))
    }

    cancel CANCEL Cancel (request: *mut Integer) |native| {
        with_requests(1, request, std::ptr::null_mut(), || 0, native, |r, _, native| complete::cancel(r, native))
    }

    request_get_status REQUEST_GET_STATUS Request_get_status (
        request: *mut Integer, flag: *mut Integer, status: *mut MPI_Status,
    ) |native| {
        with_requests(1, request, status, || *flag, native, |r, s, native| complete::get_status(*r, flag, s, native))
    }
}

/// Calls a C function that makes a request. `on` passes the call on as it came.
unsafe fn with_request(
    request: *mut Integer,
    on: &dyn Fn() -> c_int,
    call: impl FnOnce(*mut MPI_Request, &dyn Fn() -> c_int) -> c_int,
) -> c_int {
    // SAFETY: a constant of mpi-sys' C file.
    let mut made = unsafe { mpi_sys::RSMPI_REQUEST_NULL };
    let passed = Cell::new(false);
    let pass = || {
        passed.set(true);
        on()
    };
    let code = call(&mut made, &pass);
    if code == SUCCESS && !passed.get() {
        // SAFETY: the program's variable.
        unsafe { request.write(integer_of(made)) };
    }
    code
}

/// The collectives, where the MPI's Fortran part does not call the C names.
#[cfg(open_mpi)]
mod buffers {
    use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, RSMPI_Info_f2c as info_of, RSMPI_Type_f2c as type_of};

    use super::*;
    use crate::blocks::{Blocks, Ints};
    use crate::collective::narrow::inner;
    use crate::report::Kind;
    use crate::state;

    unsafe extern "C" {
        static mpixp_in_place: *const c_void;
        static mpixp_bottom: *const c_void;
    }

    /// A buffer: Fortran's constants are variables with addresses of their own.
    fn buffer(buffer: *mut c_void) -> *mut c_void {
        static CONSTANTS: OnceLock<(Address, Address)> = OnceLock::new();
        struct Address(*const c_void);
        // SAFETY: addresses that are only compared.
        unsafe impl Send for Address {}
        // SAFETY: as above.
        unsafe impl Sync for Address {}
        let names = || (Address(address(c"mpi_fortran_bottom_")), Address(address(c"mpi_fortran_in_place_")));
        let (bottom, in_place) = CONSTANTS.get_or_init(names);
        let buffer = buffer.cast_const();
        // SAFETY: constants of the C file.
        unsafe {
            if buffer == bottom.0 {
                mpixp_bottom.cast_mut()
            } else if buffer == in_place.0 {
                mpixp_in_place.cast_mut()
            } else {
                buffer.cast_mut()
            }
        }
    }

    /// The datatypes of both sides of a call; `None` where the call is not ours or has no such
    /// arrays.
    unsafe fn types(
        comm: MPI_Comm,
        send: *const Integer,
        recv: *const Integer,
    ) -> Option<(Vec<MPI_Datatype>, Vec<MPI_Datatype>)> {
        // SAFETY: the caller vouches for the communicator, and for arrays as long as the lists.
        unsafe {
            let state = state::of(comm)?;
            let list = |types: *const Integer, degree: usize| {
                (degree == 0 || !types.is_null()).then(|| (0..degree).map(|i| type_of(*types.add(i))).collect())
            };
            Some((list(send, state.targets.len())?, list(recv, state.sources.len())?))
        }
    }

    fortran! { mpi_ MPI_:
        neighbor_allgather NEIGHBOR_ALLGATHER Neighbor_allgather (
            sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcount: *const Integer,
            recvtype: *const Integer, comm: *const Integer,
        ) |native| {
            inner::MPI_Neighbor_allgather(
                buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), *recvcount, type_of(*recvtype), comm_of(*comm), native,
            )
        }

        neighbor_allgatherv NEIGHBOR_ALLGATHERV Neighbor_allgatherv (
            sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcounts: *const Integer,
            recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer,
        ) |native| {
            inner::MPI_Neighbor_allgatherv(
                buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), recvcounts, recvdispls, type_of(*recvtype),
                comm_of(*comm), native,
            )
        }

        neighbor_alltoall NEIGHBOR_ALLTOALL Neighbor_alltoall (
            sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcount: *const Integer,
            recvtype: *const Integer, comm: *const Integer,
        ) |native| {
            inner::MPI_Neighbor_alltoall(
                buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), *recvcount, type_of(*recvtype), comm_of(*comm), native,
            )
        }

        neighbor_alltoallv NEIGHBOR_ALLTOALLV Neighbor_alltoallv (
            sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void,
            recvcounts: *const Integer, recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer,
        ) |native| {
            inner::MPI_Neighbor_alltoallv(
                buffer(sendbuf), sendcounts, senddispls, type_of(*sendtype), buffer(recvbuf), recvcounts, recvdispls, type_of(*recvtype),
                comm_of(*comm), native,
            )
        }

        neighbor_alltoallw NEIGHBOR_ALLTOALLW Neighbor_alltoallw (
            sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const MPI_Aint, sendtypes: *const Integer, recvbuf: *mut c_void,
            recvcounts: *const Integer, recvdispls: *const MPI_Aint, recvtypes: *const Integer, comm: *const Integer,
        ) |native| {
            let comm = comm_of(*comm);
            match types(comm, sendtypes, recvtypes) {
                None => native(),
                Some((send, recv)) => inner::MPI_Neighbor_alltoallw(
                    buffer(sendbuf), sendcounts, senddispls, send.as_ptr(), buffer(recvbuf), recvcounts, recvdispls, recv.as_ptr(), comm,
                    native,
                ),
            }
        }

        ineighbor_allgather INEIGHBOR_ALLGATHER Ineighbor_allgather (
            sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcount: *const Integer,
            recvtype: *const Integer, comm: *const Integer, request: *mut Integer,
        ) |native| {
            with_request(request, native, |request, native| inner::MPI_Ineighbor_allgather(
                buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), *recvcount, type_of(*recvtype), comm_of(*comm), request,
                native,
            ))
        }

        ineighbor_allgatherv INEIGHBOR_ALLGATHERV Ineighbor_allgatherv (
            sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcounts: *const Integer,
            recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer,
        ) |native| {
            with_request(request, native, |request, native| inner::MPI_Ineighbor_allgatherv(
                buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), recvcounts, recvdispls, type_of(*recvtype),
                comm_of(*comm), request, native,
            ))
        }

        ineighbor_alltoall INEIGHBOR_ALLTOALL Ineighbor_alltoall (
            sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcount: *const Integer,
            recvtype: *const Integer, comm: *const Integer, request: *mut Integer,
        ) |native| {
            with_request(request, native, |request, native| inner::MPI_Ineighbor_alltoall(
                buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), *recvcount, type_of(*recvtype), comm_of(*comm), request,
                native,
            ))
        }

        ineighbor_alltoallv INEIGHBOR_ALLTOALLV Ineighbor_alltoallv (
            sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void,
            recvcounts: *const Integer, recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer,
        ) |native| {
            with_request(request, native, |request, native| inner::MPI_Ineighbor_alltoallv(
                buffer(sendbuf), sendcounts, senddispls, type_of(*sendtype), buffer(recvbuf), recvcounts, recvdispls, type_of(*recvtype),
                comm_of(*comm), request, native,
            ))
        }

        ineighbor_alltoallw INEIGHBOR_ALLTOALLW Ineighbor_alltoallw (
            sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const MPI_Aint, sendtypes: *const Integer, recvbuf: *mut c_void,
            recvcounts: *const Integer, recvdispls: *const MPI_Aint, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer,
        ) |native| {
            let comm = comm_of(*comm);
            match types(comm, sendtypes, recvtypes) {
                None => native(),
                Some((send, recv)) => with_request(request, native, |request, native| inner::MPI_Ineighbor_alltoallw(
                    buffer(sendbuf), sendcounts, senddispls, send.as_ptr(), buffer(recvbuf), recvcounts, recvdispls, recv.as_ptr(), comm,
                    request, native,
                )),
            }
        }
    }

    fortran! { mpi_ MPI_:
        alltoallv ALLTOALLV Alltoallv (
            sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void,
            recvcounts: *const Integer, recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer,
        ) |native| {
            let side = |base: *mut c_void, counts, displs, datatype| {
                Blocks::vector(buffer(base), Ints::Int(counts), Ints::Int(displs), datatype)
            };
            let send = side(sendbuf, sendcounts, senddispls, type_of(*sendtype));
            let recv = side(recvbuf, recvcounts, recvdispls, type_of(*recvtype));
            crate::alltoallv::run(Kind::SparseAlltoallv, comm_of(*comm), send, recv, native)
        }

        alltoallw ALLTOALLW Alltoallw (
            sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const Integer, sendtypes: *const Integer, recvbuf: *mut c_void,
            recvcounts: *const Integer, recvdispls: *const Integer, recvtypes: *const Integer, comm: *const Integer,
        ) |native| {
            if crate::settings::get().alltoallv.is_none() || sendtypes.is_null() || recvtypes.is_null() {
                return native();
            }
            let comm = comm_of(*comm);
            let (mut processes, mut inter) = (0, 0);
            // with these the arrays have other lengths, or none
            if comm == mpi_sys::RSMPI_COMM_NULL
                || crate::blocks::is_in_place(buffer(sendbuf))
                || mpi_sys::MPI_Comm_test_inter(comm, &mut inter) != SUCCESS
                || inter != 0
                || mpi_sys::MPI_Comm_size(comm, &mut processes) != SUCCESS
            {
                return native();
            }
            let types = |list: *const Integer| -> Vec<MPI_Datatype> { (0..processes as usize).map(|i| type_of(*list.add(i))).collect() };
            let (send, recv) = (types(sendtypes), types(recvtypes));
            let side = |base, counts, displs, types: &[MPI_Datatype]| {
                Blocks::general(buffer(base), Ints::Int(counts), Ints::Int(displs), types.as_ptr())
            };
            let (send, recv) = (side(sendbuf, sendcounts, senddispls, &send), side(recvbuf, recvcounts, recvdispls, &recv));
            crate::alltoallv::run(Kind::SparseAlltoallw, comm, send, recv, native)
        }
    }

    /// Persistent operations, which some MPIs have as extensions.
    macro_rules! persistent {
        ($prefix:ident $capitals:ident) => {
            fortran! { $prefix $capitals:
                neighbor_allgather_init NEIGHBOR_ALLGATHER_INIT Neighbor_allgather_init (
                    sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcount: *const Integer,
                    recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer,
                ) |native| {
                    with_request(request, native, |request, native| inner::MPI_Neighbor_allgather_init(
                        buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), *recvcount, type_of(*recvtype), comm_of(*comm), info_of(*info), request,
                        native,
                    ))
                }

                neighbor_allgatherv_init NEIGHBOR_ALLGATHERV_INIT Neighbor_allgatherv_init (
                    sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcounts: *const Integer,
                    recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer,
                ) |native| {
                    with_request(request, native, |request, native| inner::MPI_Neighbor_allgatherv_init(
                        buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), recvcounts, recvdispls, type_of(*recvtype),
                        comm_of(*comm), info_of(*info), request, native,
                    ))
                }

                neighbor_alltoall_init NEIGHBOR_ALLTOALL_INIT Neighbor_alltoall_init (
                    sendbuf: *mut c_void, sendcount: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void, recvcount: *const Integer,
                    recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer,
                ) |native| {
                    with_request(request, native, |request, native| inner::MPI_Neighbor_alltoall_init(
                        buffer(sendbuf), *sendcount, type_of(*sendtype), buffer(recvbuf), *recvcount, type_of(*recvtype), comm_of(*comm), info_of(*info), request,
                        native,
                    ))
                }

                neighbor_alltoallv_init NEIGHBOR_ALLTOALLV_INIT Neighbor_alltoallv_init (
                    sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const Integer, sendtype: *const Integer, recvbuf: *mut c_void,
                    recvcounts: *const Integer, recvdispls: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer,
                ) |native| {
                    with_request(request, native, |request, native| inner::MPI_Neighbor_alltoallv_init(
                        buffer(sendbuf), sendcounts, senddispls, type_of(*sendtype), buffer(recvbuf), recvcounts, recvdispls, type_of(*recvtype),
                        comm_of(*comm), info_of(*info), request, native,
                    ))
                }

                neighbor_alltoallw_init NEIGHBOR_ALLTOALLW_INIT Neighbor_alltoallw_init (
                    sendbuf: *mut c_void, sendcounts: *const Integer, senddispls: *const MPI_Aint, sendtypes: *const Integer, recvbuf: *mut c_void,
                    recvcounts: *const Integer, recvdispls: *const MPI_Aint, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer,
                ) |native| {
                    let comm = comm_of(*comm);
                    match types(comm, sendtypes, recvtypes) {
                        None => native(),
                        Some((send, recv)) => with_request(request, native, |request, native| inner::MPI_Neighbor_alltoallw_init(
                            buffer(sendbuf), sendcounts, senddispls, send.as_ptr(), buffer(recvbuf), recvcounts, recvdispls, recv.as_ptr(), comm,
                            info_of(*info), request, native,
                        )),
                    }
                }
            }
        };
    }

    #[cfg(mpi_init)]
    mod standard {
        use super::*;
        persistent! { mpi_ MPI_ }
    }

    #[cfg(mpix_init)]
    mod extension {
        use super::*;
        persistent! { mpix_ MPIX_ }
    }
}

/// The collectives whose functions in `mpi_f08` call what they should not, on the way to the C
/// names: MPICH's ask for the degrees of a distributed graph, whatever the topology (seen in
/// 4.0.2). Buffers come as descriptors; one that is not contiguous goes on to the MPI.
#[cfg(mpich)]
mod descriptors {
    use mpi_sys::{MPI_Aint, MPI_Datatype, RSMPI_Comm_f2c as comm_of, RSMPI_Info_f2c as info_of, RSMPI_Type_f2c as type_of};

    use super::*;
    use crate::collective::narrow::inner;
    use crate::state::{self, State};

    unsafe extern "C" {
        static mpixp_in_place: *const c_void;
        static mpixp_bottom: *const c_void;
    }

    /// A dimension of an array, as gfortran describes it.
    #[repr(C)]
    struct Dimension {
        _lower_bound: isize,
        extent: isize,
        /// Bytes from one element to the next.
        stride: isize,
    }

    /// A buffer, as gfortran describes it.
    #[repr(C)]
    pub struct Descriptor {
        base: *mut c_void,
        element: usize,
        _version: c_int,
        rank: i8,
        _attribute: i8,
        _type: i16,
        dimensions: [Dimension; 15],
    }

    /// Address of a contiguous buffer.
    unsafe fn buffer(descriptor: *const Descriptor) -> Option<*mut c_void> {
        // SAFETY: the caller vouches for the descriptor, of which as many dimensions are there as
        // it says; constants of the C file.
        unsafe {
            let base = (*descriptor).base.cast_const();
            if base == address(c"MPIR_F08_MPI_BOTTOM") {
                return Some(mpixp_bottom.cast_mut());
            }
            if base == address(c"MPIR_F08_MPI_IN_PLACE") {
                return Some(mpixp_in_place.cast_mut());
            }
            let dimensions = (&raw const (*descriptor).dimensions).cast::<Dimension>();
            let mut bytes = (*descriptor).element as isize;
            for i in 0..(*descriptor).rank.max(0) as usize {
                let dimension = dimensions.add(i);
                // the last dimension of an array of unknown size is below zero
                if (*dimension).extent != 1 && (*dimension).stride != bytes {
                    return None;
                }
                bytes = bytes.saturating_mul((*dimension).extent.max(0));
            }
            Some(base.cast_mut())
        }
    }

    /// What a call needs; `None` where it is not ours.
    struct Taken {
        comm: mpi_sys::MPI_Comm,
        sendbuf: *mut c_void,
        recvbuf: *mut c_void,
        sendtypes: Vec<MPI_Datatype>,
        recvtypes: Vec<MPI_Datatype>,
    }

    unsafe fn take(
        comm: *const Integer,
        sendbuf: *const Descriptor,
        sendtypes: *const Integer,
        recvbuf: *const Descriptor,
        recvtypes: *const Integer,
    ) -> Option<Taken> {
        // SAFETY: the caller vouches for the communicator, for arrays as long as the lists, and for
        // the descriptors.
        unsafe {
            let comm = comm_of(*comm);
            let state: &State = state::of(comm)?;
            let list = |types: *const Integer, degree: usize| (0..degree).map(|i| type_of(*types.add(i))).collect();
            Some(Taken {
                comm,
                sendbuf: buffer(sendbuf)?,
                recvbuf: buffer(recvbuf)?,
                sendtypes: list(sendtypes, state.targets.len()),
                recvtypes: list(recvtypes, state.sources.len()),
            })
        }
    }

    /// Defines the name of a function with descriptors.
    macro_rules! described {
        ($($lower:ident ($($arg:ident: $type:ty),* $(,)?) |$native:ident| $body:block)*) => {$(
            mod $lower {
                use super::*;

                unsafe fn body($($arg: $type,)* $native: &dyn Fn() -> c_int) -> c_int {
                    // SAFETY: the arguments are a program's for the function of this name.
                    unsafe { $body }
                }

                export! { mpi_, $lower, "_f08ts_": ($($arg: $type),*) descriptor }
            }
        )*};
    }

    described! {
        neighbor_alltoallw (
            sendbuf: *const Descriptor, sendcounts: *const Integer, senddispls: *const MPI_Aint, sendtypes: *const Integer,
            recvbuf: *const Descriptor, recvcounts: *const Integer, recvdispls: *const MPI_Aint, recvtypes: *const Integer,
            comm: *const Integer,
        ) |native| {
            match take(comm, sendbuf, sendtypes, recvbuf, recvtypes) {
                None => native(),
                Some(t) => inner::MPI_Neighbor_alltoallw(
                    t.sendbuf, sendcounts, senddispls, t.sendtypes.as_ptr(), t.recvbuf, recvcounts, recvdispls, t.recvtypes.as_ptr(), t.comm,
                    native,
                ),
            }
        }

        ineighbor_alltoallw (
            sendbuf: *const Descriptor, sendcounts: *const Integer, senddispls: *const MPI_Aint, sendtypes: *const Integer,
            recvbuf: *const Descriptor, recvcounts: *const Integer, recvdispls: *const MPI_Aint, recvtypes: *const Integer,
            comm: *const Integer, request: *mut Integer,
        ) |native| {
            match take(comm, sendbuf, sendtypes, recvbuf, recvtypes) {
                None => native(),
                Some(t) => with_request(request, native, |request, native| inner::MPI_Ineighbor_alltoallw(
                    t.sendbuf, sendcounts, senddispls, t.sendtypes.as_ptr(), t.recvbuf, recvcounts, recvdispls, t.recvtypes.as_ptr(), t.comm,
                    request, native,
                )),
            }
        }

        neighbor_alltoallw_init (
            sendbuf: *const Descriptor, sendcounts: *const Integer, senddispls: *const MPI_Aint, sendtypes: *const Integer,
            recvbuf: *const Descriptor, recvcounts: *const Integer, recvdispls: *const MPI_Aint, recvtypes: *const Integer,
            comm: *const Integer, info: *const Integer, request: *mut Integer,
        ) |native| {
            match take(comm, sendbuf, sendtypes, recvbuf, recvtypes) {
                None => native(),
                Some(t) => with_request(request, native, |request, native| inner::MPI_Neighbor_alltoallw_init(
                    t.sendbuf, sendcounts, senddispls, t.sendtypes.as_ptr(), t.recvbuf, recvcounts, recvdispls, t.recvtypes.as_ptr(), t.comm,
                    info_of(*info), request, native,
                )),
            }
        }
    }
}
