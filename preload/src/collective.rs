//! The neighborhood collectives.

use std::ffi::{c_int, c_void};

#[cfg(mpi_large)]
use mpi_sys::MPI_Count;
use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype};
use mpix_neighbor::capi::*;

use crate::blocks::{Blocks, Ints, Shape, Sides};
use crate::errors::finish;
use crate::interpose::interpose;
use crate::next::next;
use crate::report::{self, Kind};
use crate::{guard, state};

/// Runs a blocking collective. `ours` runs it on a shadow, `native` passes it on, `twin` passes it on with another communicator of the same
/// topology.
///
/// # Safety
/// The arguments must be what the prototype asks for.
#[inline(always)]
pub unsafe fn blocking(
    kind: Kind,
    comm: MPI_Comm,
    sides: impl Fn() -> Sides,
    ours: impl Fn(MPI_Comm) -> c_int,
    native: impl Fn() -> c_int,
    twin: impl Fn(MPI_Comm) -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for `comm`.
    let Some(state) = (unsafe { state::of(comm) }) else {
        return native();
    };
    // SAFETY: the caller vouches for the arguments.
    let code = unsafe {
        let _inside = guard::enter();
        report::blocking(kind, state, sides, || ours(state.shadow), || twin(state.shadow))
    };
    // SAFETY: the caller vouches for `comm`.
    unsafe { finish(code, comm, native) }
}

/// Defines the functions of one width: those that programs call, and in `inner` what they do, for those who pass a call on in another way.
macro_rules! collectives {
    ($($kind:ident: $blocking:ident = $ours:ident
       ($($arg:ident: $type:ty),* $(,)?) send ($sendbuf:expr, $send:expr, $sendtype:expr), recv ($recvbuf:expr, $recv:expr, $recvtype:expr);)*) => {
        /// What the functions of these names do with a program's arguments. `native` passes the call on.
        pub mod inner {
            use super::*;
            $(
                /// # Safety
                /// The arguments must be what the MPI function of this name asks for.
                #[inline(always)]
                pub unsafe fn $blocking($($arg: $type,)* comm: MPI_Comm, native: impl Fn() -> c_int) -> c_int {
                    let sides = || Sides {
                        send: Blocks { base: $sendbuf, shape: $send, datatype: $sendtype },
                        recv: Blocks { base: $recvbuf, shape: $recv, datatype: $recvtype },
                    };
                    // SAFETY: the caller vouches for the arguments.
                    unsafe {
                        let ours = |comm: MPI_Comm| $ours($($arg,)* comm);
                        let twin = |comm: MPI_Comm| next!($blocking: fn($($type,)* MPI_Comm))($($arg,)* comm);
                        blocking(Kind::$kind, comm, sides, ours, native, twin)
                    }
                }
            )*
        }
        $(
            interpose! {
                fn $blocking($($arg: $type,)* comm: MPI_Comm,) |native| {
                    // SAFETY: the arguments are a program's for the function of this name.
                    unsafe { inner::$blocking($($arg,)* comm, native) }
                }
            }
        )*
    };
}

/// Functions with counts of type `int`.
pub mod narrow {
    use super::*;
    collectives! {
        Allgather: MPI_Neighbor_allgather = MPIX_Neighbor_gather
            (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype)
            send (sendbuf, Shape::One(sendcount.into()), sendtype),
            recv (recvbuf, Shape::Equal(recvcount.into()), recvtype);
        Allgatherv: MPI_Neighbor_allgatherv = MPIX_Neighbor_gatherv
            (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const c_int, recvtype: MPI_Datatype)
            send (sendbuf, Shape::One(sendcount.into()), sendtype),
            recv (recvbuf, Shape::Vector(Ints::Int(recvcounts), Ints::Int(recvdispls)), recvtype);
        Alltoall: MPI_Neighbor_alltoall = MPIX_Neighbor_alltoall
            (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype)
            send (sendbuf, Shape::Equal(sendcount.into()), sendtype),
            recv (recvbuf, Shape::Equal(recvcount.into()), recvtype);
        Alltoallv: MPI_Neighbor_alltoallv = MPIX_Neighbor_alltoallv
            (sendbuf: *const c_void, sendcounts: *const c_int, senddispls: *const c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const c_int, recvtype: MPI_Datatype)
            send (sendbuf, Shape::Vector(Ints::Int(sendcounts), Ints::Int(senddispls)), sendtype),
            recv (recvbuf, Shape::Vector(Ints::Int(recvcounts), Ints::Int(recvdispls)), recvtype);
        Alltoallw: MPI_Neighbor_alltoallw = MPIX_Neighbor_alltoallw
            (sendbuf: *const c_void, sendcounts: *const c_int, senddispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype)
            send (sendbuf, Shape::General(Ints::Int(sendcounts), Ints::Aint(senddispls), sendtypes), no_datatype()),
            recv (recvbuf, Shape::General(Ints::Int(recvcounts), Ints::Aint(recvdispls), recvtypes), no_datatype());
    }
}

/// Functions with counts of type `MPI_Count`.
#[cfg(mpi_large)]
pub mod wide {
    use super::*;
    collectives! {
        Allgather: MPI_Neighbor_allgather_c = MPIX_Neighbor_gather_c
            (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype)
            send (sendbuf, Shape::One(sendcount as i64), sendtype),
            recv (recvbuf, Shape::Equal(recvcount as i64), recvtype);
        Allgatherv: MPI_Neighbor_allgatherv_c = MPIX_Neighbor_gatherv_c
            (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtype: MPI_Datatype)
            send (sendbuf, Shape::One(sendcount as i64), sendtype),
            recv (recvbuf, Shape::Vector(Ints::Count(recvcounts), Ints::Aint(recvdispls)), recvtype);
        Alltoall: MPI_Neighbor_alltoall_c = MPIX_Neighbor_alltoall_c
            (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype)
            send (sendbuf, Shape::Equal(sendcount as i64), sendtype),
            recv (recvbuf, Shape::Equal(recvcount as i64), recvtype);
        Alltoallv: MPI_Neighbor_alltoallv_c = MPIX_Neighbor_alltoallv_c
            (sendbuf: *const c_void, sendcounts: *const MPI_Count, senddispls: *const MPI_Aint, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtype: MPI_Datatype)
            send (sendbuf, Shape::Vector(Ints::Count(sendcounts), Ints::Aint(senddispls)), sendtype),
            recv (recvbuf, Shape::Vector(Ints::Count(recvcounts), Ints::Aint(recvdispls)), recvtype);
        Alltoallw: MPI_Neighbor_alltoallw_c = MPIX_Neighbor_alltoallw_c
            (sendbuf: *const c_void, sendcounts: *const MPI_Count, senddispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype)
            send (sendbuf, Shape::General(Ints::Count(sendcounts), Ints::Aint(senddispls), sendtypes), no_datatype()),
            recv (recvbuf, Shape::General(Ints::Count(recvcounts), Ints::Aint(recvdispls), recvtypes), no_datatype());
    }
}

/// `MPI_DATATYPE_NULL`, where each block has a type of its own.
fn no_datatype() -> MPI_Datatype {
    // SAFETY: a constant of mpi-sys' C file.
    unsafe { mpi_sys::RSMPI_DATATYPE_NULL }
}
