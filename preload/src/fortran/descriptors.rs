//! Collectives whose `mpi_f08` functions in MPICH fail before they reach the C names: they ask for
//! the degrees of a distributed graph, whatever the topology (seen in 4.0.2).
//!
//! Buffers come as descriptors. A call with a buffer that is not contiguous is passed on to the
//! MPI.

use std::ffi::{c_int, c_void};

use mpix_neighbor::util::cast::to_usize;

use mpi_sys::{MPI_Aint, MPI_Datatype, RSMPI_Comm_f2c as comm_of, RSMPI_Info_f2c as info_of, RSMPI_Type_f2c as type_of};

use super::export::*;
use crate::collective::narrow::inner;
use crate::constants::{mpixp_bottom, mpixp_in_place};
use crate::state::{self, State};

/// A dimension in gfortran's array descriptor.
#[repr(C)]
struct Dimension {
    _lower_bound: isize,
    extent: isize,
    /// Bytes from one element to the next.
    stride: isize,
}

/// gfortran's array descriptor.
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
        // not a length in every descriptor: -1 has been seen
        let mut bytes = (*descriptor).element.cast_signed();
        for i in 0..to_usize((*descriptor).rank.max(0)) {
            let dimension = dimensions.add(i);
            // the last dimension of an assumed-size array is negative
            if (*dimension).extent != 1 && (*dimension).stride != bytes {
                return None;
            }
            bytes = bytes.saturating_mul((*dimension).extent.max(0));
        }
        Some(base.cast_mut())
    }
}

/// The converted arguments of a call.
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
