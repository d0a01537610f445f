//! Plans of sparse exchanges, whose targets and sizes stay the same while contents change.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::arguments::{Arguments, Counts, Keep, SendSide, Started, wait_to_end};
use super::result::{MPIX_Sparse_result, MPIX_Sparse_result_object};
use crate::capi::args::{self, Results};
use crate::capi::boundary;
use crate::capi::user::User;
use crate::error::{Argument, Error, Result};
use crate::mpi::coll::share_outcome;
use crate::mpi::datatype::Owned as Datatype;
use crate::mpi::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info};
use crate::sparse;
use crate::sparse::plan::Plan;

/// A sparse exchange whose targets and sizes stay the same.
pub struct MPIX_Sparse_plan_object {
    plan: Plan,
    result: Box<MPIX_Sparse_result_object>,
    /// Keeps the send type alive, as long as the plan.
    _sendtype: Option<Datatype>,
    user: User,
}

/// Handle of a plan of a sparse exchange, or NULL.
pub type MPIX_Sparse_plan = *mut MPIX_Sparse_plan_object;

/// Runs a sparse exchange and keeps its targets and sizes as a plan, whose further runs cost the
/// messages alone.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_create(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    plan: *mut MPIX_Sparse_plan,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        make_plan("MPIX_Sparse_plan_create", &Arguments { send, recvtype, info, comm }, plan)
    }
}

/// `MPIX_Sparse_plan_create` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_create_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    plan: *mut MPIX_Sparse_plan,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = SendSide { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        make_plan("MPIX_Sparse_plan_create_c", &Arguments { send, recvtype, info, comm }, plan)
    }
}

/// Runs an exchange and makes a plan of it.
unsafe fn make_plan(function: &str, arguments: &Arguments, plan: *mut MPIX_Sparse_plan) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call(function, arguments.comm, |comm| {
            let mut part = arguments.take_part(comm, Keep::Plan, Results::one("plan", plan))?;
            let waited = match &mut part {
                Ok(started) => wait_to_end(&mut started.exchange, Keep::Plan)?,
                Err(_) => Ok(()),
            };
            // only here: a call that is refused, or that its process repeats, counts for nobody
            let (tag, private) = {
                let shared = sparse::context(comm)?;
                let mut context = shared.hold();
                (context.next_plan(), Arc::clone(context.comm()))
            };
            let made = part.and_then(|started| waited.and_then(|()| plan_of(started, arguments.comm, tag)));
            // a run takes both ends of each message
            let (plan, destination) = share_outcome(&private, made)?;
            destination.write([Box::into_raw(plan)]);
            Ok(())
        })
    }
}

/// Makes a plan of an exchange that has ended; returns it with its destination.
///
/// # Safety
/// The blocks of the exchange must be readable while the plan runs; `user` is its communicator.
unsafe fn plan_of<D>(mut started: Started<D>, user: MPI_Comm, tag: i32) -> Result<(Box<MPIX_Sparse_plan_object>, D)> {
    let (private, inbox) = (started.exchange.comm(), started.exchange.take());
    let context = Arc::clone(started.exchange.context());
    // SAFETY: the caller vouches for the blocks; the result's memory lives as long as the plan.
    let plan = unsafe { Plan::new(&context, started.sends, &inbox, tag) }?;
    let user = User::new(user, context.freed());
    let mut result = Box::new(MPIX_Sparse_result_object::new(inbox, started.kind, &private, user.clone())?);
    result.of_plan = true;
    let plan = MPIX_Sparse_plan_object { plan, result, _sendtype: started.sendtype, user };
    Ok((Box::new(plan), started.destination))
}

/// Runs the body of a function that works on a plan.
unsafe fn with_plan(
    function: &str,
    plan: MPIX_Sparse_plan,
    body: impl FnOnce(&mut MPIX_Sparse_plan_object) -> Result<()>,
) -> c_int {
    // SAFETY: the caller vouches for the plan.
    let plan = unsafe { plan.as_mut() };
    let user = plan.as_ref().map(|plan| plan.user.clone());
    let on = move || User::handler_of(user.as_ref());
    boundary::call_on(function, on, || body(args::object("plan", plan)?))
}

impl MPIX_Sparse_plan_object {
    /// Unpacks what a run has brought.
    fn refresh(&mut self) -> Result<()> {
        // SAFETY: the lengths are those of the first run, which have been checked.
        unsafe { self.result.refresh() }
    }
}

/// Starts a run of a plan.
///
/// # Safety
/// The plan must not have been freed, and its send buffer be readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_start(plan: MPIX_Sparse_plan) -> c_int {
    // SAFETY: the caller vouches for the plan.
    unsafe { with_plan("MPIX_Sparse_plan_start", plan, |p| p.plan.start()) }
}

/// Tests whether a run of a plan is complete; its messages are then in the plan's result.
///
/// # Safety
/// The plan must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_test(plan: MPIX_Sparse_plan, flag: *mut c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_plan("MPIX_Sparse_plan_test", plan, |p| {
            let flag = Results::one("flag", flag)?;
            let before = p.plan.is_active();
            let tested = p.plan.test();
            let done = !p.plan.is_active();
            // also with an error, if that has ended the run
            if done || tested.is_ok() {
                flag.write([c_int::from(done)]);
            }
            tested?;
            if before && done { p.refresh() } else { Ok(()) }
        })
    }
}

/// Waits until a run of a plan is complete; its messages are then in the plan's result.
///
/// # Safety
/// The plan must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_wait(plan: MPIX_Sparse_plan) -> c_int {
    // SAFETY: the caller vouches for the plan.
    unsafe {
        with_plan("MPIX_Sparse_plan_wait", plan, |p| {
            let before = p.plan.is_active();
            p.plan.wait()?;
            if before { p.refresh() } else { Ok(()) }
        })
    }
}

/// Returns the result of a plan.
///
/// # Safety
/// The plan must not have been freed; the pointer must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_result(plan: MPIX_Sparse_plan, result: *mut MPIX_Sparse_result) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_plan("MPIX_Sparse_plan_result", plan, |p| {
            Results::one("result", result)?.write([&raw mut *p.result]);
            Ok(())
        })
    }
}

/// Frees a plan and its result.
///
/// # Safety
/// The plan must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_free(plan: *mut MPIX_Sparse_plan) -> c_int {
    // SAFETY: the caller vouches for the pointer.
    let live = unsafe { plan.as_ref().and_then(|plan| plan.as_ref()) };
    let user = User::handler_of(live.map(|plan| &plan.user));
    let on = || user;
    boundary::call_on("MPIX_Sparse_plan_free", on, || {
        // SAFETY: as above; the plan is a box that `make_plan` made.
        unsafe {
            let place = args::pointer("plan", plan.as_mut())?;
            match place.as_ref() {
                None => {}
                // MPI may still write into its memory, which stays
                Some(p) if p.plan.is_broken() => *place = std::ptr::null_mut(),
                Some(p) if p.plan.is_active() => return Err(Error::Active { argument: Argument::new("plan") }.into()),
                Some(_) => drop(Box::from_raw(std::mem::replace(place, std::ptr::null_mut()))),
            }
            Ok(())
        }
    })
}
