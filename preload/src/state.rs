//! The state of a program's communicator: a shadow, on which its neighborhood collectives run.
//!
//! The shadow is a duplicate with a neighborhood of ours and with `MPI_ERRORS_RETURN`. The
//! program's communicator keeps its error handler, its attributes, and any neighborhood that the
//! program itself set on it. The shadow does not have the program's attributes, so it never
//! triggers the program's callbacks.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mpi_sys::MPI_Comm;
use mpix_neighbor::capi::{
    MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_GATHER, MPIX_Neighbor_error_string, MPIX_Neighborhood_get, MPIX_Neighborhood_get_count,
    MPIX_Neighborhood_set_topology,
};
use mpix_neighbor::util::cast::{to_int, to_usize};
use mpix_neighbor::util::recall::{Epoch, Recall};

use crate::attribute::Key;
use crate::constants::RSMPI_COMM_NULL;
use crate::errors::{self, SUCCESS};
use crate::flaws::{self, Facts};
use crate::passed;
use crate::reason::Reason;
use crate::{ending, guard, schedules, settings};

/// The states of communicators.
static KEY: Key = Key::new(deleted);

/// Ends whenever a communicator loses its state: its handle may come back as another one's.
static DROPPED: Epoch = Epoch::new();

thread_local! {
    /// The state found last.
    static FOUND: Recall<MPI_Comm, *const State> = const { Recall::new() };
}

/// True from the start of `MPI_Finalize`, which then frees all communicators.
pub static FINALIZING: AtomicBool = AtomicBool::new(false);

/// All states, for the report.
static ALIVE: Mutex<Vec<Weak<State>>> = Mutex::new(Vec::new());

/// Adds all communicators that still exist to the report.
pub fn describe_all() {
    let alive: Vec<_> = ALIVE.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect();
    alive.iter().for_each(|state| schedules::describe(state.shadow));
}

/// The state of a communicator.
pub struct State {
    /// The program's communicator; `MPI_COMM_WORLD` once the program has freed it.
    owner: Mutex<MPI_Comm>,
    /// The shadow.
    pub shadow: MPI_Comm,
    /// The shadow for requests. A program may wait for something else while a request is active, so
    /// all its messages must be posted at the start. This is another shadow if the first one's
    /// schedule has several rounds, and `None` if the environment asks for such a schedule.
    pub for_requests: Option<MPI_Comm>,
    /// For each entry of the source list, true if it is a process.
    pub sources: Vec<bool>,
    /// For each entry of the target list, true if it is a process.
    pub targets: Vec<bool>,
    /// Facts about the topology, for the report.
    pub facts: Facts,
    /// Bit set of the report's rows that have counted this communicator.
    pub seen: AtomicU32,
    /// Number of compared calls.
    pub turn: AtomicU32,
}

// SAFETY: a communicator may be used by any thread; that collectives on it do not run at the same
// time is the program's duty.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl State {
    /// The communicator whose error handler gets errors of later calls.
    pub fn owner(&self) -> MPI_Comm {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if FINALIZING.load(Ordering::Acquire) {
            return;
        }
        let _inside = guard::enter();
        if settings::get().report {
            schedules::describe(self.shadow);
        }
        // SAFETY: communicators of our own, which are not used again. A failure cannot be reported.
        unsafe {
            if let Some(mut other) = self.for_requests.filter(|&other| other != self.shadow) {
                mpi_sys::MPI_Comm_free(&mut other);
            }
            mpi_sys::MPI_Comm_free(&mut self.shadow);
        }
    }
}

/// The state of a communicator, if it has one. Costs one MPI call, none if this thread asked last
/// for the same one.
///
/// # Safety
/// `comm` must be what the MPI takes for a communicator; the reference must not outlive it.
#[inline]
pub unsafe fn of<'a>(comm: MPI_Comm) -> Option<&'a State> {
    // SAFETY: the caller vouches for `comm`; the pointer is that of the `Arc` which the attribute
    // owns.
    unsafe { pointer(comm).as_ref() }
}

/// Same as [`of`], but shared.
///
/// # Safety
/// `comm` must be what the MPI takes for a communicator.
pub unsafe fn keep(comm: MPI_Comm) -> Option<Arc<State>> {
    // SAFETY: as in `of`; the attribute's own count stays.
    unsafe {
        let pointer = pointer(comm);
        if pointer.is_null() {
            return None;
        }
        Arc::increment_strong_count(pointer);
        Some(Arc::from_raw(pointer))
    }
}

#[inline]
unsafe fn pointer(comm: MPI_Comm) -> *const State {
    if comm == RSMPI_COMM_NULL {
        return std::ptr::null();
    }
    let epoch = DROPPED.now();
    if let Some(state) = FOUND.with(|found| found.answer(comm, epoch)) {
        return state;
    }
    // SAFETY: the caller vouches for `comm`.
    let Some(value) = (unsafe { KEY.get(comm) }) else { return std::ptr::null() };
    let state = value.cast_const().cast();
    FOUND.with(|found| found.keep(comm, state, epoch));
    state
}

/// Gives a new communicator a state. Collective over it.
///
/// The shadow becomes a duplicate of `from`: a communicator of the same processes with the same
/// topology and without attributes of the program. If that fails, it fails on all processes, and
/// there is no state.
///
/// # Safety
/// Both must be communicators; the thread must be inside.
pub unsafe fn attach(comm: MPI_Comm, from: MPI_Comm) {
    // SAFETY: the caller vouches for the communicators; all results are locals.
    unsafe {
        ending::prepare();
        let Some(shadow) = KEY.make().and_then(|_| duplicate(from)) else {
            passed::fail(comm, Reason::NotMade);
            return;
        };
        // frees the shadow again if it is dropped
        let mut state = State {
            owner: Mutex::new(comm),
            shadow,
            for_requests: None,
            sources: Vec::new(),
            targets: Vec::new(),
            facts: Facts::default(),
            seen: AtomicU32::new(0),
            turn: AtomicU32::new(0),
        };
        let operations = MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL;
        let code = MPIX_Neighborhood_set_topology(operations, mpi_sys::RSMPI_INFO_NULL, shadow);
        if code != SUCCESS {
            refused(comm, shadow, code);
            return;
        }
        state.for_requests = if posts_at_once(shadow) { Some(shadow) } else { direct(shadow, operations) };
        let (sources, targets) = neighbors(shadow);
        state.facts = flaws::facts(shadow, &sources, &targets);
        let exist = |ranks: &[c_int]| ranks.iter().map(|&rank| rank != mpi_sys::RSMPI_PROC_NULL).collect();
        (state.sources, state.targets) = (exist(&sources), exist(&targets));
        let state = Arc::new(state);
        if settings::get().report {
            let mut alive = ALIVE.lock().unwrap_or_else(PoisonError::into_inner);
            alive.retain(|other| other.strong_count() > 0);
            alive.push(Arc::downgrade(&state));
        }
        let value = Arc::into_raw(state);
        if !KEY.set(comm, value.cast_mut().cast()) {
            drop(Arc::from_raw(value));
        }
    }
}

/// Reports once, on one process, that no neighborhood could be made, even if no report is wanted.
unsafe fn refused(comm: MPI_Comm, shadow: MPI_Comm, code: c_int) {
    static SAID: AtomicBool = AtomicBool::new(false);
    let is_hint = errors::class(code) == mpi_sys::MPI_ERR_INFO_VALUE.cast_signed();
    // SAFETY: the caller vouches for the communicators.
    let speaks = unsafe {
        passed::fail(comm, if is_hint { Reason::Hint } else { Reason::NotMade });
        speaks(shadow)
    };
    // once is enough: later communicators fail for the same reason
    if SAID.swap(true, Ordering::Relaxed) || !speaks {
        return;
    }
    let (mut text, mut length) = ([0u8; 1024], 0);
    // SAFETY: the buffer is as long as said; the result is a local.
    let asked = unsafe { MPIX_Neighbor_error_string(shadow, to_int::<c_int>(text.len()), text.as_mut_ptr().cast(), &mut length) };
    let written = if asked == SUCCESS { to_usize(length.max(0)).min(text.len() - 1) } else { 0 };
    let text = String::from_utf8_lossy(&text[..written]).into_owned();
    let what = if is_hint { "a hint is in error" } else { "no neighborhood can be made" };
    let line = format!("mpix-neighbor preload: NOTHING IS TAKEN OVER, calls go on to the MPI: {what}: {text}\n");
    use std::io::Write;
    // a failure cannot be reported
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// True if this process speaks for a communicator: process 0 of `MPI_COMM_WORLD` if it is a member,
/// else the communicator's first process.
unsafe fn speaks(comm: MPI_Comm) -> bool {
    let (mut world, mut rank) = (0, 0);
    // SAFETY: the caller vouches for the communicator; all else are locals, which are freed again;
    // constants of mpi-sys' C file.
    unsafe {
        let mut groups = [mpi_sys::RSMPI_GROUP_NULL; 2];
        mpi_sys::MPI_Comm_rank(mpi_sys::RSMPI_COMM_WORLD, &mut world);
        mpi_sys::MPI_Comm_rank(comm, &mut rank);
        let [ours, all] = &mut groups;
        mpi_sys::MPI_Comm_group(comm, ours);
        mpi_sys::MPI_Comm_group(mpi_sys::RSMPI_COMM_WORLD, all);
        let (first, mut here) = (0, mpi_sys::RSMPI_UNDEFINED);
        mpi_sys::MPI_Group_translate_ranks(*all, 1, &first, *ours, &mut here);
        mpi_sys::MPI_Group_free(ours);
        mpi_sys::MPI_Group_free(all);
        world == 0 || (here == mpi_sys::RSMPI_UNDEFINED && rank == 0)
    }
}

/// True if a start posts all messages of a collective. The same on all processes.
fn posts_at_once(shadow: MPI_Comm) -> bool {
    let text = schedules::description(shadow);
    text.contains("\nschedule direct:") && text.contains("verification off") && !text.contains("compare it with")
}

/// Makes another shadow, whose schedule posts all messages at the start. `None` if the environment
/// asks for another schedule.
unsafe fn direct(shadow: MPI_Comm, operations: c_int) -> Option<MPI_Comm> {
    // SAFETY: the caller vouches for the communicator; all else are locals, which are freed again.
    unsafe {
        let mut other = duplicate(shadow)?;
        let mut info = mpi_sys::RSMPI_INFO_NULL;
        let mut code = mpi_sys::MPI_Info_create(&mut info);
        if code == SUCCESS {
            code = mpi_sys::MPI_Info_set(info, c"mpix_schedule".as_ptr(), c"direct".as_ptr());
            let set = MPIX_Neighborhood_set_topology(operations, info, other);
            code = if code == SUCCESS { set } else { code };
            mpi_sys::MPI_Info_free(&mut info);
        }
        if code == SUCCESS && posts_at_once(other) {
            return Some(other);
        }
        mpi_sys::MPI_Comm_free(&mut other);
        None
    }
}

/// Ranks of the caller's sources and targets.
unsafe fn neighbors(shadow: MPI_Comm) -> (Vec<c_int>, Vec<c_int>) {
    let (mut indegree, mut outdegree, mut weighted) = (0, 0, 0);
    // SAFETY: the caller has set a neighborhood, so these calls cannot fail; results are locals or
    // vectors of the given lengths.
    unsafe {
        MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_ALLTOALL, shadow, &mut indegree, &mut outdegree, &mut weighted);
        let (mut sources, mut targets) = (vec![0; to_usize(indegree)], vec![0; to_usize(outdegree)]);
        let unweighted = mpi_sys::RSMPI_UNWEIGHTED();
        let (from, into) = (sources.as_mut_ptr(), targets.as_mut_ptr());
        MPIX_Neighborhood_get(MPIX_NEIGHBOR_ALLTOALL, shadow, indegree, from, unweighted, outdegree, into, unweighted);
        (sources, targets)
    }
}

/// A duplicate that returns errors; `None` if there can be none.
unsafe fn duplicate(from: MPI_Comm) -> Option<MPI_Comm> {
    // SAFETY: the caller vouches for `from`; all else are locals.
    unsafe {
        let mut shadow = mpi_sys::RSMPI_COMM_NULL;
        if errors::quietly(from, || mpi_sys::MPI_Comm_dup(from, &mut shadow)) != SUCCESS {
            return None;
        }
        mpi_sys::MPI_Comm_set_errhandler(shadow, mpi_sys::RSMPI_ERRORS_RETURN);
        Some(shadow)
    }
}

/// Called by MPI when the program's communicator is freed.
unsafe extern "C" fn deleted(_comm: MPI_Comm, _keyval: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    // a panic must not unwind into MPI
    let dropped = std::panic::catch_unwind(|| {
        // SAFETY: the pointer is that which `attach` stored, and MPI calls this once for it; a
        // constant of mpi-sys' C file.
        let (state, world) = unsafe { (Arc::from_raw(value.cast_const().cast::<State>()), mpi_sys::RSMPI_COMM_WORLD) };
        // requests that still exist keep the rest alive
        *state.owner.lock().unwrap_or_else(PoisonError::into_inner) = world;
    });
    DROPPED.end();
    if dropped.is_ok() { SUCCESS } else { mpi_sys::MPI_ERR_INTERN.cast_signed() }
}
