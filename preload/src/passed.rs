//! Calls passed on to the MPI, and why.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

use mpi_sys::MPI_Comm;

use crate::attribute::Key;
use crate::blocks::{Sides, is_in_place};
use crate::constants::RSMPI_COMM_NULL;
use crate::counters::PASSED;
use crate::errors::SUCCESS;
use crate::function::{self, Function, Mode};
use crate::reason::Reason;
use crate::{ending, guard, settings};
use mpix_neighbor::util::lock::lock;

/// Counts a call that is passed on, if calls are counted.
#[inline(always)]
pub fn count(function: Function, mode: Mode, why: impl FnOnce() -> Reason) {
    if settings::get().counts {
        add(function, mode, why());
    }
}

#[cold]
fn add(function: Function, mode: Mode, why: Reason) {
    ending::prepare();
    PASSED[function::index(function, mode)][why as usize].fetch_add(1, Ordering::Relaxed);
}

/// Why our own function refused the arguments of a call.
pub fn refused(sides: &Sides) -> Reason {
    if is_in_place(sides.send.base) || is_in_place(sides.recv.base) { Reason::InPlace } else { Reason::Arguments }
}

/// A communicator's handle, for comparisons only.
#[derive(PartialEq)]
struct Handle(MPI_Comm);

// SAFETY: only compared.
unsafe impl Send for Handle {}

/// Communicators that `MPI_Comm_idup` made.
static IDUP: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

fn idup() -> MutexGuard<'static, Vec<Handle>> {
    lock(&IDUP)
}

/// Notes that `MPI_Comm_idup` is making a communicator. All MPIs write its handle at once.
pub fn duplicated_later(comm: MPI_Comm) {
    if settings::get().counts {
        let mut all = idup();
        if !all.contains(&Handle(comm)) {
            all.push(Handle(comm));
        }
    }
}

/// Notes that this library has seen a communicator being made. Its handle may have belonged to an
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
pub unsafe fn stateless(comm: MPI_Comm) -> Reason {
    if comm == RSMPI_COMM_NULL {
        return Reason::Arguments;
    }
    let _inside = guard::enter();
    let (mut inter, mut topology) = (0, 0);
    // SAFETY: the caller vouches for `comm`; results are locals; a constant of mpi-sys' C file.
    unsafe {
        if mpi_sys::MPI_Comm_test_inter(comm, &mut inter) != SUCCESS {
            return Reason::Arguments;
        }
        if inter != 0 {
            return Reason::Intercommunicator;
        }
        if let Some(why) = failed(comm) {
            return why;
        }
        if mpi_sys::MPI_Topo_test(comm, &mut topology) != SUCCESS || topology == mpi_sys::RSMPI_UNDEFINED {
            return Reason::NoTopology;
        }
    }
    if idup().contains(&Handle(comm)) { Reason::Idup } else { Reason::Unseen }
}

/// Why no state could be made for a communicator.
static KEY: Key = Key::new(nothing);

/// Deletes nothing: the value is a number.
unsafe extern "C" fn nothing(_comm: MPI_Comm, _keyval: c_int, _value: *mut c_void, _extra: *mut c_void) -> c_int {
    SUCCESS
}

/// Why making a state failed, if it did.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn failed(comm: MPI_Comm) -> Option<Reason> {
    // SAFETY: the caller vouches for `comm`.
    let value = unsafe { KEY.get(comm) }?;
    Some(if value as usize == Reason::Hint as usize { Reason::Hint } else { Reason::NotMade })
}

/// Remembers why making a state failed.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn fail(comm: MPI_Comm, why: Reason) {
    if settings::get().counts {
        // SAFETY: the caller vouches for `comm`; the value is never dereferenced.
        unsafe { KEY.set(comm, std::ptr::without_provenance_mut(why as usize)) };
    }
}
