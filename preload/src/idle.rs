//! Shadows whose communicators the program has freed, kept for the next ones like them.
//!
//! Programs that make a topology communicator, use it once and free it make most of them alike. A
//! parent, from which such communicators are made, keeps some of their shadows. A new communicator
//! takes one if that has the same processes in the same order and the same topology. Processes can
//! tell only their own part of a topology, and threads may free communicators in different orders:
//! so they agree on a shadow, by its number, in one reduction. Where none has the topology, and as
//! many are kept as can be, a graph takes another graph's shadow, whose neighborhood is set anew.

use std::ffi::{c_int, c_void};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use mpi_sys::MPI_Comm;
use mpix_neighbor::util::cast::to_int;

use crate::attribute::Key;
use crate::errors::{self, SUCCESS};
use crate::settings;
use crate::shadow::Shadow;
use crate::shape::Shape;

/// Most shadows that a parent keeps: with another one, the oldest goes.
const MOST: usize = 8;

/// The pools of parents.
static KEY: Key = Key::new(deleted);

/// The shadows that a parent keeps, oldest first. Gone with the parent.
#[derive(Default)]
pub struct Pool(Mutex<Vec<Shadow>>);

/// What processes have agreed on for a new communicator.
pub enum Agreed {
    /// It takes this shadow.
    Taken(Shadow),
    /// It takes this shadow, for its own edges.
    Changed(Shadow),
    /// It needs a new one, with this number.
    New(i64),
    /// The processes could not agree.
    Failed,
}

/// The pool of a communicator from which others are made. It is in vain if the communicator can
/// have none.
///
/// # Safety
/// `parent` must be a communicator, and the only thread that makes others from it must call.
pub unsafe fn pool_of(parent: MPI_Comm) -> Arc<Pool> {
    // SAFETY: the caller vouches for `parent`; a value is the pointer of an `Arc` that the attribute
    // owns.
    unsafe {
        if let Some(value) = KEY.get(parent) {
            let value = value.cast_const().cast::<Pool>();
            Arc::increment_strong_count(value);
            return Arc::from_raw(value);
        }
        let pool = Arc::<Pool>::default();
        let value = Arc::into_raw(Arc::clone(&pool));
        if !KEY.set(parent, value.cast_mut().cast()) {
            drop(Arc::from_raw(value));
        }
        pool
    }
}

impl Pool {
    /// Keeps a shadow that no communicator uses any more.
    pub fn keep(&self, shadow: Shadow) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = (kept.len() >= MOST).then(|| kept.remove(0));
        kept.push(shadow);
        // freeing a communicator calls what may come here again
        drop((kept, oldest).1);
    }

    /// Lets the processes of a new communicator agree on a shadow for it. Collective over `comm`:
    /// one reduction of five words.
    ///
    /// # Safety
    /// `comm` must be the communicator, with this shape; the thread must be inside.
    pub unsafe fn agree(&self, comm: MPI_Comm, shape: Option<&Shape>) -> Agreed {
        // out of the pool as long as they are candidates: other threads may look for some, too
        let [same, like] = shape.map_or([None, None], |shape| self.take(shape));
        let number = |candidate: &Option<Shadow>| candidate.as_ref().map_or(0, |shadow| shadow.number);
        let [a, b] = [number(&same), number(&like)];
        // SAFETY: the caller vouches for `comm`.
        let least = unsafe { least(comm, [a, -a, b, -b, new_number(comm)]) };
        let agreed = |candidate: &Option<Shadow>, at: usize| {
            least.is_some_and(|least| candidate.as_ref().is_some_and(|c| least[at] == c.number && -least[at + 1] == c.number))
        };
        let (is_same, is_like) = (agreed(&same, 0), agreed(&like, 2));
        let (taken, others) = match (same, like) {
            (Some(same), like) if is_same => (Some(Agreed::Taken(same)), [None, like]),
            (same, Some(like)) if is_like => (Some(Agreed::Changed(like)), [same, None]),
            (same, like) => (None, [same, like]),
        };
        others.into_iter().flatten().for_each(|shadow| self.keep(shadow));
        taken.unwrap_or_else(|| least.map_or(Agreed::Failed, |[.., number]| Agreed::New(number)))
    }

    /// Takes the shadow of this shape that all processes take, whatever order they were freed in;
    /// and another graph's, if so many are kept.
    fn take(&self, shape: &Shape) -> [Option<Shadow>; 2] {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = kept.len() >= MOST && !settings::get().compare;
        let mut first = |fits: &dyn Fn(&Shape) -> bool| {
            let fitting = kept.iter().enumerate().filter(|(_, shadow)| shadow.shape.as_ref().is_some_and(fits));
            let at = fitting.min_by_key(|(_, shadow)| shadow.number).map(|(at, _)| at);
            at.map(|at| kept.remove(at))
        };
        [first(&|other| other == shape), first(&|other| full && other.is_like(shape))]
    }
}

/// A number that no other shadow of any process has, on the first process of a communicator; on the
/// others a larger one.
///
/// # Safety
/// `comm` must be a communicator.
unsafe fn new_number(comm: MPI_Comm) -> i64 {
    let mut rank = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    let asked = unsafe { mpi_sys::MPI_Comm_rank(comm, &mut rank) };
    // its keys come from the system; 62 bits, and not 0
    if asked == SUCCESS && rank == 0 { to_int(RandomState::new().hash_one(0) >> 2 | 1) } else { i64::MAX }
}

/// The least of all processes' words. Collective.
///
/// # Safety
/// `comm` must be a communicator; the thread must be inside.
unsafe fn least(comm: MPI_Comm, words: [i64; 5]) -> Option<[i64; 5]> {
    let mut all = [0i64; 5];
    let (from, into) = ((&raw const words).cast::<c_void>(), (&raw mut all).cast::<c_void>());
    let count = to_int::<c_int>(words.len());
    // SAFETY: both have as many elements; the caller vouches for `comm`; constants of mpi-sys' C
    // file.
    let code = unsafe {
        errors::quietly(comm, || mpi_sys::MPI_Allreduce(from, into, count, mpi_sys::RSMPI_INT64_T, mpi_sys::RSMPI_MIN, comm))
    };
    (code == SUCCESS).then_some(all)
}

/// Called by MPI when a parent is freed.
unsafe extern "C" fn deleted(_comm: MPI_Comm, _keyval: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    // a panic must not unwind into MPI
    let dropped = std::panic::catch_unwind(|| {
        // SAFETY: the pointer is that which `pool_of` stored, and MPI calls this once for it.
        drop(unsafe { Arc::from_raw(value.cast_const().cast::<Pool>()) });
    });
    if dropped.is_ok() { SUCCESS } else { mpi_sys::MPI_ERR_INTERN.cast_signed() }
}
