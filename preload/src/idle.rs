//! Shadows whose communicators the program has freed, kept for the next ones like them.
//!
//! Programs that make a topology communicator, use it once and free it make most of them alike. For
//! a parent, from which such communicators are made, some of their shadows are kept. A new
//! communicator takes one if that has the same processes in the same order and the same topology.
//! Processes can tell only their own part of a topology, and threads may free communicators in
//! different orders: so they agree on a shadow, by its number, in one reduction. Each proposes its
//! youngest with its own part of the topology; where all propose one, but not the same, they ask in
//! another reduction who has the oldest of these. Where none has the topology, and as many are kept
//! as can be, a graph takes another graph's shadow, whose neighborhood is set again.
//!
//! From the third communicator of all processes of the parent on, that reduction runs in memory
//! that the processes share, if they are on one node, for some parents. Communicators are made from
//! a parent in one order on all processes, as MPI demands, so that these reductions match.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use mpi_sys::MPI_Comm;
use mpix_neighbor::capi::preload::{self, Reducer};
use mpix_neighbor::error::Error;
use mpix_neighbor::util::lock::lock;
use mpix_neighbor::util::unique::unique;

use crate::attribute::Key;
use crate::errors::SUCCESS;
use crate::guard;
use crate::settings;
use crate::shadow::{Counted, Shadow};
use crate::shape::Shape;

/// Most shadows that are kept for a parent: with another one, the oldest goes.
const MOST: usize = 8;

/// Most shadows that are kept in all: each has communicators and shared memory of its own.
const MOST_IN_ALL: usize = 32;

/// Most parents whose processes agree in shared memory: each has a file and a mapping of its own.
const MOST_REDUCERS: usize = 8;

/// How many there are.
static REDUCERS: AtomicUsize = AtomicUsize::new(0);

/// The pools of parents.
static KEY: Key = Key::new(deleted);

/// All shadows that are kept, oldest first, each with the number of its pool.
static KEPT: Mutex<Vec<(u64, Box<Shadow>)>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<(u64, Box<Shadow>)>> {
    lock(&KEPT)
}

/// The shadows that are kept for a parent. Gone with the parent.
pub struct Pool {
    number: u64,
    /// True once all processes of the parent have made a communicator.
    is_used: AtomicBool,
    /// The memory through which they agree. Made once; `None` where they cannot share memory.
    reducer: OnceLock<Option<Reducer>>,
}

/// The agreement of the processes about a new communicator.
pub enum Agreed {
    /// It takes this shadow.
    Taken(Box<Shadow>),
    /// It takes this shadow, for its own edges.
    Changed(Box<Shadow>),
    /// It needs a new one, with this number.
    New(i64),
    /// It gets none: a process cannot attach one, or there are too many.
    None,
}

/// The pool of a communicator from which others are made. It is in vain if the communicator can
/// have none.
///
/// # Safety
/// `parent` must be a communicator, and the only thread that makes others from it must call.
pub unsafe fn pool_of(parent: MPI_Comm) -> Arc<Pool> {
    // SAFETY: the caller vouches for `parent`; a value is the pointer of an `Arc` that the
    // attribute owns.
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

impl Default for Pool {
    fn default() -> Pool {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Pool { number, is_used: AtomicBool::new(false), reducer: OnceLock::new() }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(Some(_)) = self.reducer.take() {
            REDUCERS.fetch_sub(1, Ordering::Relaxed);
        }
        // freed without the lock: freeing a communicator may come here again
        let gone: Vec<_> = kept().extract_if(.., |(pool, _)| *pool == self.number).collect();
        drop(gone);
    }
}

impl Pool {
    /// Keeps a shadow that no communicator uses any more.
    pub fn keep(&self, shadow: Box<Shadow>) {
        let oldest = {
            let mut kept = kept();
            kept.push((self.number, shadow));
            let is_mine = |entry: &(u64, Box<Shadow>)| entry.0 == self.number;
            if kept.iter().filter(|&entry| is_mine(entry)).count() > MOST {
                kept.iter().position(is_mine).map(|at| kept.remove(at))
            } else {
                (kept.len() > MOST_IN_ALL).then(|| kept.remove(0))
            }
        };
        // as above
        drop(oldest);
    }

    /// Lets the processes of a new communicator agree on a shadow for it. `can`: this process can
    /// attach one; `is_whole`: the communicator has all processes of the parent and was made from
    /// it. Collective over `comm`: a reduction of seven words, and another one where all processes
    /// propose a shadow, but not the same. The second result is true if the processes are to call
    /// [`Pool::expect_more`] with the shadow.
    ///
    /// # Errors
    /// A process has ended.
    ///
    /// # Safety
    /// `comm` must be the communicator, with this shape; the thread must be inside.
    pub unsafe fn agree(
        &self,
        comm: MPI_Comm,
        shape: Option<&Shape>,
        [can, is_whole]: [bool; 2],
    ) -> Result<(Agreed, bool), Box<Error>> {
        // out of the pool as long as they are candidates: other threads may look for some, too
        let mut candidates = shape.map(|shape| self.candidates(shape)).unwrap_or_default();
        // SAFETY: the caller vouches for the arguments.
        let agreed = unsafe { self.choose(comm, [can, is_whole], &mut candidates) };
        candidates.shadows.into_iter().for_each(|(_, shadow)| self.keep(shadow));
        agreed
    }

    /// Agrees on one of the candidates, and takes it out; also one that can never serve.
    ///
    /// # Safety
    /// As for [`Pool::agree`].
    unsafe fn choose(
        &self,
        comm: MPI_Comm,
        [can, is_whole]: [bool; 2],
        candidates: &mut Candidates,
    ) -> Result<(Agreed, bool), Box<Error>> {
        let Candidates { shadows, same, like } = candidates;
        if same.is_empty() {
            make_room();
        }
        let (a, b) = (same.iter().copied().max().unwrap_or(0), like.unwrap_or(0));
        let reducer = self.reducer.get().filter(|_| is_whole);
        let has_room = REDUCERS.load(Ordering::Relaxed) < MOST_REDUCERS;
        let expects = is_whole && self.is_used.swap(true, Ordering::Relaxed) && reducer.is_none() && has_room;
        // SAFETY: the caller vouches for `comm`.
        let words = unsafe { [a, -a, b, -b, new_number(comm), can.into(), expects.into()] };
        // SAFETY: as above.
        let [oldest, youngest, b_least, b_most, number, can, expects] = unsafe { least(reducer, comm, words) }?;
        let mut take =
            |number: i64| shadows.iter().position(|(_, shadow)| shadow.number == number).map(|at| shadows.remove(at).1);
        let mut is_same = oldest > 0 && oldest == -youngest;
        if can != 0 && oldest > 0 && !is_same {
            // SAFETY: as above.
            is_same = unsafe { least(reducer, comm, [same.contains(&oldest).into()]) }? == [1];
        }
        let is_like = b_least > 0 && b_least == -b_most;
        let agreed = match number {
            _ if can == 0 => Agreed::None,
            _ if is_same => take(oldest).map_or(Agreed::None, Agreed::Taken),
            _ if is_like => take(b_least).map_or(Agreed::None, Agreed::Changed),
            0 => Agreed::None,
            number => Agreed::New(number),
        };
        if 0 < b && b < -b_most {
            // a process that proposes a younger one lacks it
            drop(take(b));
        }
        Ok((agreed, expects != 0))
    }

    /// Lets the processes of the parent agree in shared memory from now on, if those of its shadow
    /// can. Collective.
    ///
    /// # Safety
    /// The thread must be inside.
    pub unsafe fn expect_more(&self, shadow: &Shadow) {
        // SAFETY: a communicator of our own, on which nothing runs yet. Without a result the MPI
        // goes on to reduce.
        let made = unsafe { Reducer::new(shadow.shadow) }.ok().flatten();
        REDUCERS.fetch_add(made.is_some().into(), Ordering::Relaxed);
        // only the thread that makes communicators from the parent comes here
        let _ = self.reducer.set(made);
    }

    /// Takes out the shadows that may serve a communicator of this shape, oldest first.
    fn candidates(&self, shape: &Shape) -> Candidates {
        let mut kept = kept();
        let full = kept.iter().filter(|(pool, _)| *pool == self.number).count() >= MOST && !settings::get().compare;
        let numbers = |fits: &dyn Fn(&Shape) -> bool| -> Vec<i64> {
            let mine = kept.iter().filter(|(pool, shadow)| *pool == self.number && fits(&shadow.shape));
            mine.map(|(_, shadow)| shadow.number).collect()
        };
        let same = numbers(&|kept| kept == shape);
        let like = numbers(&|kept| full && kept.is_like(shape)).into_iter().min();
        let fits = |number: i64| same.contains(&number) || like == Some(number);
        let shadows = kept.extract_if(.., |(_, shadow)| fits(shadow.number)).collect();
        Candidates { shadows, same, like }
    }
}

/// The shadows that may serve a new communicator.
#[derive(Default)]
struct Candidates {
    /// Each with the number of its pool.
    shadows: Vec<(u64, Box<Shadow>)>,
    /// The numbers of those of the same topology.
    same: Vec<i64>,
    /// The number of another graph's, if as many are kept as can be.
    like: Option<i64>,
}

/// The least of each word over all processes of a communicator, in shared memory if they can.
///
/// # Safety
/// `comm` must be a communicator of the processes of the reducer.
unsafe fn least<const N: usize>(
    reducer: Option<&Option<Reducer>>,
    comm: MPI_Comm,
    words: [i64; N],
) -> Result<[i64; N], Box<Error>> {
    // SAFETY: the caller vouches for both.
    unsafe {
        match reducer {
            Some(Some(reducer)) => reducer.least(comm, words),
            _ => preload::least(comm, words),
        }
    }
}

/// Frees the oldest shadow that is kept where there may be no other one.
pub fn make_room() {
    if !Counted::has_room() {
        let oldest = {
            let mut kept = kept();
            (!kept.is_empty()).then(|| kept.remove(0))
        };
        // freed without the lock
        drop(oldest);
    }
}

/// A number that no other shadow of any process has, on the first process of a communicator; on the
/// others a larger one. 0 where there may be no other shadow.
///
/// # Safety
/// `comm` must be a communicator.
unsafe fn new_number(comm: MPI_Comm) -> i64 {
    if !Counted::has_room() {
        return 0;
    }
    let mut rank = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    let asked = unsafe { mpi_sys::MPI_Comm_rank(comm, &mut rank) };
    if asked == SUCCESS && rank == 0 { unique() } else { i64::MAX }
}

/// Called by MPI when a parent is freed.
unsafe extern "C" fn deleted(_comm: MPI_Comm, _keyval: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    // a panic must not unwind into MPI
    let dropped = std::panic::catch_unwind(|| {
        let _inside = guard::enter();
        // SAFETY: the pointer is that which `pool_of` stored, and MPI calls this once for it.
        drop(unsafe { Arc::from_raw(value.cast_const().cast::<Pool>()) });
    });
    if dropped.is_ok() { SUCCESS } else { mpi_sys::MPI_ERR_INTERN.cast_signed() }
}
