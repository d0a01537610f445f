//! The neighborhood collectives.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::ffi::{c_int, c_void};
use std::time::Instant;

#[cfg(mpi_large)]
use mpi_sys::MPI_Count;
use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use mpix_neighbor::capi::*;

use crate::blocks::{Blocks, Ints, Sides};
use crate::errors::{SUCCESS, finish};
use crate::function::{Function, Mode, Name, index};
use crate::interpose::interpose;
use crate::next::next;
use crate::reason::Reason;
use crate::requests::StandIn;
use crate::{calls, guard, passed, requests, settings, state};

/// Runs a blocking collective. `ours` runs it on a shadow, `native` passes it on to the MPI, `twin`
/// does so with another communicator of the same topology.
///
/// # Safety
/// The arguments must be what the prototype asks for.
#[inline(always)]
pub unsafe fn blocking(
    function: Function,
    comm: MPI_Comm,
    sides: impl Fn() -> Sides,
    ours: impl Fn(MPI_Comm) -> c_int,
    native: impl Fn() -> c_int,
    twin: impl Fn(MPI_Comm) -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for `comm`.
    let Some(state) = (unsafe { state::of(comm) }).filter(|state| state.serves()) else {
        // SAFETY: as above.
        passed::count(function, Mode::Blocking, || unsafe { passed::stateless(comm) });
        return native();
    };
    // SAFETY: the caller vouches for the arguments.
    let code = unsafe {
        let _inside = guard::enter();
        calls::blocking(function, state, &sides, || ours(state.shadow), || twin(state.shadow))
    };
    if code != SUCCESS {
        state.note_failure();
    }
    let refused = || {
        passed::count(function, Mode::Blocking, || passed::refused(&sides()));
        native()
    };
    // SAFETY: the caller vouches for `comm`.
    unsafe { finish(code, [comm, state.shadow], Name(index(function, Mode::Blocking)), refused) }
}

/// Starts a nonblocking collective, or makes a persistent one. `ours` does so on a shadow, `native`
/// passes it on.
///
/// # Safety
/// The arguments must be what the prototype asks for.
pub unsafe fn request(
    (function, mode): (Function, Mode),
    comm: MPI_Comm,
    request: *mut MPI_Request,
    sides: impl Fn() -> Sides,
    ours: impl Fn(MPI_Comm, &mut MPIX_Request) -> c_int,
    native: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for `comm`.
    let Some(state) = (unsafe { state::keep(comm) }).filter(|state| state.serves()) else {
        // SAFETY: as above.
        passed::count(function, mode, || unsafe { passed::stateless(comm) });
        return native();
    };
    let Some(shadow) = state.for_requests.filter(|_| !request.is_null()) else {
        passed::count(function, mode, || if request.is_null() { Reason::Arguments } else { Reason::Rounds });
        return native();
    };
    let start = || {
        let _inside = guard::enter();
        let stand_in = StandIn::new()?;
        let begin = settings::get().counts.then(Instant::now);
        let mut mine = std::ptr::null_mut();
        let code = ours(shadow, &mut mine);
        let spent = begin.map(|begin| begin.elapsed());
        if code != SUCCESS {
            state.note_failure();
            return Err(code);
        }
        // SAFETY: the call has succeeded with these arguments.
        let bytes = if spent.is_some() { unsafe { sides().send.bytes(&state.targets) } } else { 0 };
        if mode == Mode::Nonblocking {
            calls::started(function, mode, &state, bytes, spent.unwrap_or_default());
        }
        // SAFETY: a request that has just been made; the program's variable.
        unsafe { request.write(requests::insert(stand_in, mine, (function, mode), bytes, state)) };
        Ok(())
    };
    let code = start().err().unwrap_or(SUCCESS);
    let refused = || {
        passed::count(function, mode, || passed::refused(&sides()));
        native()
    };
    // SAFETY: the caller vouches for `comm`.
    unsafe { finish(code, [comm, shadow], Name(index(function, mode)), refused) }
}

/// Makes a persistent collective whose starts match only with one another, as in MPI. The program's
/// own hints are for the MPI.
///
/// # Safety
/// The thread must be inside.
unsafe fn plan_with(plan: impl FnOnce(MPI_Info) -> c_int) -> c_int {
    // SAFETY: strings with their final null; the handle is a local.
    unsafe {
        let mut info = mpi_sys::RSMPI_INFO_NULL;
        let mut code = mpi_sys::MPI_Info_create(&mut info);
        if code == SUCCESS {
            code = mpi_sys::MPI_Info_set(info, c"mpix_match".as_ptr(), c"plan".as_ptr());
            code = if code == SUCCESS { plan(info) } else { code };
            mpi_sys::MPI_Info_free(&mut info);
        }
        code
    }
}

/// Defines the functions of one width: the exported ones and, in `inner`, their bodies, for callers
/// that pass a call on in another way.
macro_rules! collectives {
    ($($function:ident: $blocking:ident = $ours:ident, $nonblocking:ident = $starts:ident,
       $persistent:ident ($($cfg:ident $init:ident),*) = $plans:ident
       ($($arg:ident: $type:ty),* $(,)?) send $send:expr, recv $recv:expr;)*) => {
        /// The bodies of the functions of these names. `native` passes the call on.
        pub mod inner {
            use super::*;
            $(
                #[inline(always)]
                unsafe fn $function($($arg: $type),*) -> Sides {
                    Sides { send: $send, recv: $recv }
                }

                /// # Safety
                /// The arguments must be what the MPI function of this name asks for.
                #[inline(always)]
                pub unsafe fn $blocking($($arg: $type,)* comm: MPI_Comm, native: impl Fn() -> c_int) -> c_int {
                    // SAFETY: the caller vouches for the arguments.
                    unsafe {
                        let sides = || $function($($arg),*);
                        let ours = |comm: MPI_Comm| $ours($($arg,)* comm);
                        let twin = |comm: MPI_Comm| next!($blocking: fn($($type,)* MPI_Comm))($($arg,)* comm);
                        blocking(Function::$function, comm, sides, ours, native, twin)
                    }
                }

                /// # Safety
                /// The arguments must be what the MPI function of this name asks for.
                pub unsafe fn $nonblocking($($arg: $type,)* comm: MPI_Comm, request: *mut MPI_Request, native: impl Fn() -> c_int) -> c_int {
                    // SAFETY: the caller vouches for the arguments.
                    unsafe {
                        let sides = || $function($($arg),*);
                        let ours = |comm: MPI_Comm, request: &mut MPIX_Request| $starts($($arg,)* comm, request);
                        super::super::request((Function::$function, Mode::Nonblocking), comm, request, sides, ours, native)
                    }
                }

                /// # Safety
                /// The arguments must be what the MPI function of this name asks for.
                #[cfg(any($($cfg),*))]
                pub unsafe fn $persistent(
                    $($arg: $type,)* comm: MPI_Comm, _info: MPI_Info, request: *mut MPI_Request, native: impl Fn() -> c_int,
                ) -> c_int {
                    // SAFETY: the caller vouches for the arguments.
                    unsafe {
                        let sides = || $function($($arg),*);
                        let ours = |comm: MPI_Comm, request: &mut MPIX_Request| {
                            plan_with(|info| $plans($($arg,)* comm, info, request))
                        };
                        super::super::request((Function::$function, Mode::Persistent), comm, request, sides, ours, native)
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

                fn $nonblocking($($arg: $type,)* comm: MPI_Comm, request: *mut MPI_Request,) |native| {
                    // SAFETY: the arguments are a program's for the function of this name.
                    unsafe { inner::$nonblocking($($arg,)* comm, request, native) }
                }
            }
            collectives! { init ($($cfg $init),*) $persistent ($($arg: $type),*) }
        )*
    };
    // persistent operations, under each name that the MPI has
    (init ($cfg:ident $init:ident $(, $more:ident $other:ident)*) $persistent:ident ($($arg:ident: $type:ty),*)) => {
        interpose! {
            #[cfg($cfg)]
            fn $init($($arg: $type,)* comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request,) |native| {
                // SAFETY: the arguments are a program's for the function of this name.
                unsafe { inner::$persistent($($arg,)* comm, info, request, native) }
            }
        }
        collectives! { init ($($more $other),*) $persistent ($($arg: $type),*) }
    };
    (init () $persistent:ident ($($arg:ident: $type:ty),*)) => {};
}

/// Functions with counts of type `int`.
pub mod narrow {
    use super::*;
    collectives! {
        Allgather: MPI_Neighbor_allgather = MPIX_Neighbor_gather, MPI_Ineighbor_allgather = MPIX_Ineighbor_gather,
            MPI_Neighbor_allgather_init (mpi_init MPI_Neighbor_allgather_init, mpix_init MPIX_Neighbor_allgather_init) = MPIX_Neighbor_gather_plan
            (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype)
            send Blocks::one(sendbuf, sendcount.into(), sendtype),
            recv Blocks::equal(recvbuf, recvcount.into(), recvtype);
        Allgatherv: MPI_Neighbor_allgatherv = MPIX_Neighbor_gatherv, MPI_Ineighbor_allgatherv = MPIX_Ineighbor_gatherv,
            MPI_Neighbor_allgatherv_init (mpi_init MPI_Neighbor_allgatherv_init, mpix_init MPIX_Neighbor_allgatherv_init) = MPIX_Neighbor_gatherv_plan
            (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const c_int, recvtype: MPI_Datatype)
            send Blocks::one(sendbuf, sendcount.into(), sendtype),
            recv Blocks::vector(recvbuf, Ints::Int(recvcounts), Ints::Int(recvdispls), recvtype);
        Alltoall: MPI_Neighbor_alltoall = MPIX_Neighbor_alltoall, MPI_Ineighbor_alltoall = MPIX_Ineighbor_alltoall,
            MPI_Neighbor_alltoall_init (mpi_init MPI_Neighbor_alltoall_init, mpix_init MPIX_Neighbor_alltoall_init) = MPIX_Neighbor_alltoall_plan
            (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype)
            send Blocks::equal(sendbuf, sendcount.into(), sendtype),
            recv Blocks::equal(recvbuf, recvcount.into(), recvtype);
        Alltoallv: MPI_Neighbor_alltoallv = MPIX_Neighbor_alltoallv, MPI_Ineighbor_alltoallv = MPIX_Ineighbor_alltoallv,
            MPI_Neighbor_alltoallv_init (mpi_init MPI_Neighbor_alltoallv_init, mpix_init MPIX_Neighbor_alltoallv_init) = MPIX_Neighbor_alltoallv_plan
            (sendbuf: *const c_void, sendcounts: *const c_int, senddispls: *const c_int, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const c_int, recvtype: MPI_Datatype)
            send Blocks::vector(sendbuf, Ints::Int(sendcounts), Ints::Int(senddispls), sendtype),
            recv Blocks::vector(recvbuf, Ints::Int(recvcounts), Ints::Int(recvdispls), recvtype);
        Alltoallw: MPI_Neighbor_alltoallw = MPIX_Neighbor_alltoallw, MPI_Ineighbor_alltoallw = MPIX_Ineighbor_alltoallw,
            MPI_Neighbor_alltoallw_init (mpi_init MPI_Neighbor_alltoallw_init, mpix_init MPIX_Neighbor_alltoallw_init) = MPIX_Neighbor_alltoallw_plan
            (sendbuf: *const c_void, sendcounts: *const c_int, senddispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype)
            send Blocks::general(sendbuf, Ints::Int(sendcounts), Ints::Aint(senddispls), sendtypes),
            recv Blocks::general(recvbuf, Ints::Int(recvcounts), Ints::Aint(recvdispls), recvtypes);
    }
}

/// Functions with counts of type `MPI_Count`.
#[cfg(mpi_large)]
pub mod wide {
    use super::*;
    collectives! {
        Allgather: MPI_Neighbor_allgather_c = MPIX_Neighbor_gather_c, MPI_Ineighbor_allgather_c = MPIX_Ineighbor_gather_c,
            MPI_Neighbor_allgather_init_c (mpi_init_large MPI_Neighbor_allgather_init_c) = MPIX_Neighbor_gather_plan_c
            (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype)
            send Blocks::one(sendbuf, sendcount as i64, sendtype),
            recv Blocks::equal(recvbuf, recvcount as i64, recvtype);
        Allgatherv: MPI_Neighbor_allgatherv_c = MPIX_Neighbor_gatherv_c, MPI_Ineighbor_allgatherv_c = MPIX_Ineighbor_gatherv_c,
            MPI_Neighbor_allgatherv_init_c (mpi_init_large MPI_Neighbor_allgatherv_init_c) = MPIX_Neighbor_gatherv_plan_c
            (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtype: MPI_Datatype)
            send Blocks::one(sendbuf, sendcount as i64, sendtype),
            recv Blocks::vector(recvbuf, Ints::Count(recvcounts), Ints::Aint(recvdispls), recvtype);
        Alltoall: MPI_Neighbor_alltoall_c = MPIX_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c = MPIX_Ineighbor_alltoall_c,
            MPI_Neighbor_alltoall_init_c (mpi_init_large MPI_Neighbor_alltoall_init_c) = MPIX_Neighbor_alltoall_plan_c
            (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype)
            send Blocks::equal(sendbuf, sendcount as i64, sendtype),
            recv Blocks::equal(recvbuf, recvcount as i64, recvtype);
        Alltoallv: MPI_Neighbor_alltoallv_c = MPIX_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c = MPIX_Ineighbor_alltoallv_c,
            MPI_Neighbor_alltoallv_init_c (mpi_init_large MPI_Neighbor_alltoallv_init_c) = MPIX_Neighbor_alltoallv_plan_c
            (sendbuf: *const c_void, sendcounts: *const MPI_Count, senddispls: *const MPI_Aint, sendtype: MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtype: MPI_Datatype)
            send Blocks::vector(sendbuf, Ints::Count(sendcounts), Ints::Aint(senddispls), sendtype),
            recv Blocks::vector(recvbuf, Ints::Count(recvcounts), Ints::Aint(recvdispls), recvtype);
        Alltoallw: MPI_Neighbor_alltoallw_c = MPIX_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c = MPIX_Ineighbor_alltoallw_c,
            MPI_Neighbor_alltoallw_init_c (mpi_init_large MPI_Neighbor_alltoallw_init_c) = MPIX_Neighbor_alltoallw_plan_c
            (sendbuf: *const c_void, sendcounts: *const MPI_Count, senddispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
             recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype)
            send Blocks::general(sendbuf, Ints::Count(sendcounts), Ints::Aint(senddispls), sendtypes),
            recv Blocks::general(recvbuf, Ints::Count(recvcounts), Ints::Aint(recvdispls), recvtypes);
    }
}
