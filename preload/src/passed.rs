//! Calls that go on to the MPI, and why.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_sys::MPI_Comm;

use crate::blocks::{Sides, is_in_place};
use crate::counters::PASSED;
use crate::errors::SUCCESS;
use crate::function::{self, Kind, Mode};
use crate::reason::Why;
use crate::{ending, guard, settings};

/// Counts a call that goes on, where that is wanted.
#[inline(always)]
pub fn count(kind: Kind, mode: Mode, why: impl FnOnce() -> Why) {
    if settings::get().counts {
        add(kind, mode, why());
    }
}

#[cold]
fn add(kind: Kind, mode: Mode, why: Why) {
    ending::prepare();
    PASSED[function::index(kind, mode)][why as usize].fetch_add(1, Ordering::Relaxed);
}

/// What is wrong with the arguments of a call that our own function refused.
pub fn refused(sides: &Sides) -> Why {
    if is_in_place(sides.send.base) || is_in_place(sides.recv.base) { Why::InPlace } else { Why::Arguments }
}

/// A communicator's handle, to be compared.
#[derive(PartialEq)]
struct Handle(MPI_Comm);

// SAFETY: only compared.
unsafe impl Send for Handle {}

/// Communicators that `MPI_Comm_idup` made.
static IDUP: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

fn idup() -> MutexGuard<'static, Vec<Handle>> {
    IDUP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that `MPI_Comm_idup` makes a communicator. The MPIs write its handle at once.
pub fn duplicated_later(comm: MPI_Comm) {
    if settings::get().counts {
        idup().push(Handle(comm));
    }
}

/// Notes that this library has seen a communicator being made, whose handle may be that of an
/// earlier one.
pub fn seen(comm: MPI_Comm) {
    if settings::get().counts {
        idup().retain(|other| *other != Handle(comm));
    }
}

/// Why a communicator has no state.
///
/// # Safety
/// `comm` must be what the program takes for a communicator.
#[cold]
pub unsafe fn stateless(comm: MPI_Comm) -> Why {
    // SAFETY: a constant of mpi-sys' C file.
    if comm == unsafe { mpi_sys::RSMPI_COMM_NULL } {
        return Why::Arguments;
    }
    let _inside = guard::enter();
    let (mut inter, mut kind) = (0, 0);
    // SAFETY: the caller vouches for `comm`; results are locals; a constant of mpi-sys' C file.
    unsafe {
        if mpi_sys::MPI_Comm_test_inter(comm, &mut inter) != SUCCESS {
            return Why::Arguments;
        }
        if inter != 0 {
            return Why::Intercommunicator;
        }
        if let Some(why) = failed(comm) {
            return why;
        }
        if mpi_sys::MPI_Topo_test(comm, &mut kind) != SUCCESS || kind == mpi_sys::RSMPI_UNDEFINED {
            return Why::NoTopology;
        }
    }
    if idup().contains(&Handle(comm)) { Why::Idup } else { Why::Unseen }
}

/// The attribute of communicators for which no state could be made: the reason.
static KEYVAL: AtomicI32 = AtomicI32::new(c_int::MIN);

type DeleteFn = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    fn mpixp_create_keyval(delete_fn: Option<DeleteFn>, keyval: *mut c_int) -> c_int;
}

/// There is nothing to be freed.
unsafe extern "C" fn nothing(_comm: MPI_Comm, _keyval: c_int, _value: *mut c_void, _extra: *mut c_void) -> c_int {
    SUCCESS
}

/// Why there is no state, where making one failed.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn failed(comm: MPI_Comm) -> Option<Why> {
    let keyval = KEYVAL.load(Ordering::Acquire);
    if keyval == c_int::MIN {
        return None;
    }
    let (mut value, mut found) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: the caller vouches for `comm`; the results are locals.
    let code = unsafe { mpi_sys::MPI_Comm_get_attr(comm, keyval, (&raw mut value).cast(), &mut found) };
    let is_hint = value as usize == Why::Hint as usize;
    (code == SUCCESS && found != 0).then_some(if is_hint { Why::Hint } else { Why::NotMade })
}

/// Remembers why making a state failed.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn fail(comm: MPI_Comm, why: Why) {
    static MAKING: Mutex<()> = Mutex::new(());
    if !settings::get().counts {
        return;
    }
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut keyval = KEYVAL.load(Ordering::Acquire);
    // SAFETY: the callback has the type that MPI asks for; the caller vouches for `comm`; the value
    // is never dereferenced.
    unsafe {
        if keyval == c_int::MIN {
            if mpixp_create_keyval(Some(nothing), &mut keyval) != SUCCESS {
                return;
            }
            KEYVAL.store(keyval, Ordering::Release);
        }
        mpi_sys::MPI_Comm_set_attr(comm, keyval, std::ptr::without_provenance_mut(why as usize));
    }
}
