//! The state of a program's communicator: a shadow, on which its neighborhood collectives run.

use std::ffi::{c_int, c_void};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use mpi_sys::MPI_Comm;
use mpix_neighbor::util::lock::lock;
use mpix_neighbor::util::recall::{Epoch, Recall};

use crate::attribute::Key;
use crate::constants::RSMPI_COMM_NULL;
use crate::errors::SUCCESS;
use crate::idle::{Agreed, Pool};
use crate::passed;
use crate::reason::Reason;
use crate::shadow::{self, Shadow};
use crate::shape::Shape;
use crate::{ending, guard, schedules, settings};

/// The states of communicators.
static KEY: Key = Key::new(deleted);

/// Ends whenever a communicator loses its state: its handle may come back as another one's.
static DROPPED: Epoch = Epoch::new();

thread_local! {
    /// The state found last.
    static FOUND: Recall<MPI_Comm, *const State> = const { Recall::new() };
}

/// All states, for the report.
static ALIVE: Mutex<Vec<Weak<State>>> = Mutex::new(Vec::new());

/// Adds all communicators that still exist to the report.
pub fn describe_all() {
    let alive: Vec<_> = lock(&ALIVE).iter().filter_map(Weak::upgrade).collect();
    alive.iter().filter(|state| state.is_there()).for_each(|state| schedules::describe(state.shadow));
}

/// The state of a communicator.
pub struct State {
    /// The program's communicator; `MPI_COMM_WORLD` once the program has freed it.
    owner: Mutex<MPI_Comm>,
    /// The communicator that its collectives run on, there before the program has its own. Only
    /// dropping takes it.
    body: OnceLock<Box<Shadow>>,
    /// Where the shadow goes when this state does.
    pool: Weak<Pool>,
    /// True once a call has failed here: other processes' calls may still wait for its messages.
    failed: AtomicBool,
    /// Bit set of the report's rows that have counted this communicator.
    pub seen: AtomicU32,
    /// Number of compared calls.
    pub turn: AtomicU32,
}

impl Deref for State {
    type Target = Shadow;

    #[inline]
    fn deref(&self) -> &Shadow {
        self.body.get().unwrap_or_else(|| unreachable!("it is there until the state is dropped"))
    }
}

// SAFETY: a communicator may be used by any thread; that collectives on it do not run at the same
// time is the program's duty.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl State {
    /// The communicator whose error handler gets errors of later calls.
    pub fn owner(&self) -> MPI_Comm {
        *lock(&self.owner)
    }

    /// The pool that the shadow goes to: an empty one if the communicator is gone from which this
    /// one was made.
    pub fn pool(&self) -> Arc<Pool> {
        self.pool.upgrade().unwrap_or_default()
    }

    /// True if new calls still run on the shadow: not while its communicator is being freed, if it
    /// has windows, and not while MPI is being finalized, which ends what the library keeps.
    #[inline]
    pub fn serves(&self) -> bool {
        self.is_there() && !guard::FINALIZING.load(Ordering::Acquire)
    }

    /// Frees the windows of the shadow, since all processes are here: requests under way may keep
    /// the rest, and end at different times.
    pub fn free_windows(&self) {
        if !self.has_windows || guard::FINALIZING.load(Ordering::Acquire) {
            return;
        }
        let _inside = guard::enter();
        if settings::get().report && self.is_there() {
            schedules::describe(self.shadow);
        }
        // SAFETY: blocking calls go on to the MPI from now on.
        unsafe { self.deref().free_windows() };
    }

    /// Notes that a call has failed.
    #[cold]
    pub fn note_failure(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if guard::FINALIZING.load(Ordering::Acquire) || self.body.get().is_none() {
            return;
        }
        let _inside = guard::enter();
        if settings::get().report && self.is_there() {
            schedules::describe(self.shadow);
        }
        // a shadow is freed whenever its pool likes
        let can_wait = !*self.failed.get_mut() && !self.has_windows && self.is_light();
        if let (Some(pool), Some(shadow)) = (self.pool.upgrade().filter(|_| can_wait), self.body.take()) {
            pool.keep(shadow);
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
/// Its shadow comes from `pool`, or is made from `from`: as for [`Shadow::make`], and without
/// attributes of the program where it is duplicated. If making it fails, it fails on all processes,
/// and there is no state. `is_whole`: as for [`Pool::agree`].
///
/// # Safety
/// Both must be communicators; the thread must be inside.
pub unsafe fn attach(comm: MPI_Comm, from: MPI_Comm, pool: &Arc<Pool>, is_whole: bool) {
    // SAFETY: the caller vouches for the communicators.
    unsafe {
        ending::prepare();
        let shape = Shape::of(comm);
        let state = Arc::new(State {
            owner: Mutex::new(comm),
            body: OnceLock::new(),
            pool: Arc::downgrade(pool),
            failed: AtomicBool::new(false),
            seen: AtomicU32::new(0),
            turn: AtomicU32::new(0),
        });
        // attached first: where that fails, no process may have one
        let value = Arc::into_raw(Arc::clone(&state));
        let attached = KEY.set(comm, value.cast_mut().cast());
        if !attached {
            drop(Arc::from_raw(value));
        }
        // without a shape, where the MPI does not tell the topology, no process makes a shadow
        let can = attached && shape.is_some() && !guard::FINALIZING.load(Ordering::Acquire);
        let (agreed, expects_more) = match pool.agree(comm, shape.as_ref(), [can, is_whole]) {
            Ok((agreed, expects_more)) => (Ok(agreed), expects_more),
            Err(error) => (Err(error), false),
        };
        let made = match (agreed, shape) {
            (Ok(Agreed::Taken(shadow)), _) => Ok(shadow),
            (Ok(Agreed::Changed(shadow)), Some(shape)) => shadow.changed(shape),
            (Ok(Agreed::New(number)), Some(shape)) => Shadow::make(from, shape, number),
            (Ok(_), _) => Err(Reason::NotMade),
            (Err(error), _) => {
                // each process that noticed: others may not have
                shadow::complain("no neighborhood can be made", &error.to_string());
                Err(Reason::NotMade)
            }
        };
        let shadow = match made {
            Ok(shadow) => shadow,
            Err(why) => {
                if attached {
                    KEY.remove(comm);
                }
                return passed::fail(comm, why);
            }
        };
        if expects_more {
            pool.expect_more(&shadow);
        }
        let _ = state.body.set(shadow);
        if settings::get().report {
            let mut alive = lock(&ALIVE);
            alive.retain(|other| other.strong_count() > 0);
            alive.push(Arc::downgrade(&state));
        }
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
        if state.body.get().is_none() {
            return;
        }
        *lock(&state.owner) = world;
        state.free_windows();
    });
    DROPPED.end();
    if dropped.is_ok() { SUCCESS } else { mpi_sys::MPI_ERR_INTERN.cast_signed() }
}
