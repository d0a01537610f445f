//! Fortran names of the collectives, for an MPI whose Fortran bindings do not call the C names.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mpix_neighbor::util::cast::to_usize;

use mpi_sys::RSMPI_Comm_f2c as comm_of;
use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, RSMPI_Info_f2c as info_of, RSMPI_Type_f2c as type_of};

use super::export::*;
use crate::blocks::{Blocks, Ints};
use crate::collective::narrow::inner;
use crate::constants::{mpixp_bottom, mpixp_in_place};
use crate::errors::SUCCESS;
use crate::function::{Function, Mode};
use crate::reason::Reason;
use crate::{passed, state};

/// A C buffer address: Fortran's constants are variables with addresses of their own.
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
    if buffer == bottom.0 {
        mpixp_bottom.cast_mut()
    } else if buffer == in_place.0 {
        mpixp_in_place.cast_mut()
    } else {
        buffer.cast_mut()
    }
}

/// The datatypes of both sides of a call, none if it is not ours; `None` if it has no such arrays.
unsafe fn types(comm: MPI_Comm, send: *const Integer, recv: *const Integer) -> Option<(Vec<MPI_Datatype>, Vec<MPI_Datatype>)> {
    // SAFETY: the caller vouches for the communicator, and for arrays as long as the lists.
    unsafe {
        let Some(state) = state::of(comm) else { return Some((Vec::new(), Vec::new())) };
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
        crate::alltoallv::run(Function::SparseAlltoallv, comm_of(*comm), send, recv, native)
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
        if comm == mpi_sys::RSMPI_COMM_NULL
            || mpi_sys::MPI_Comm_test_inter(comm, &mut inter) != SUCCESS
            || mpi_sys::MPI_Comm_size(comm, &mut processes) != SUCCESS
        {
            return native();
        }
        // in these cases the arrays have other lengths, or do not exist
        let in_place = crate::blocks::is_in_place(buffer(sendbuf));
        if in_place || inter != 0 {
            let reason = if in_place { Reason::InPlace } else { Reason::Intercommunicator };
            passed::count(Function::SparseAlltoallw, Mode::Blocking, || reason);
            return native();
        }
        let types = |list: *const Integer| -> Vec<MPI_Datatype> { (0..to_usize(processes)).map(|i| type_of(*list.add(i))).collect() };
        let (send, recv) = (types(sendtypes), types(recvtypes));
        let side = |base, counts, displs, types: &[MPI_Datatype]| {
            Blocks::general(buffer(base), Ints::Int(counts), Ints::Int(displs), types.as_ptr())
        };
        let (send, recv) = (side(sendbuf, sendcounts, senddispls, &send), side(recvbuf, recvcounts, recvdispls, &recv));
        crate::alltoallv::run(Function::SparseAlltoallw, comm, send, recv, native)
    }
}

/// Persistent operations, which are extensions in some MPIs.
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
