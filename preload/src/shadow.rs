//! Shadows: on these run the neighborhood collectives of the program's communicators.
//!
//! A shadow is a duplicate with a neighborhood of ours and with `MPI_ERRORS_RETURN`. The program's
//! communicator keeps its error handler, its attributes, and any neighborhood that the program
//! itself set on it. The shadow does not have the program's attributes, so it never triggers the
//! program's callbacks: a distributed graph has those of its parent in Open MPI 5, so that its
//! shadow is no duplicate, but a communicator of the same processes.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mpi_sys::{MPI_Comm, MPI_Group};
use mpix_neighbor::capi::preload::{self, Hints, Topology};
use mpix_neighbor::capi::{MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_GATHER, MPIX_Neighborhood_get, MPIX_Neighborhood_get_count};
use mpix_neighbor::util::cast::to_usize;
use mpix_neighbor::util::say::say;

use crate::errors::{self, SUCCESS};
use crate::flaws::{self, Facts};
use crate::guard;
use crate::hints;
use crate::reason::Reason;
use crate::shape::Shape;

/// The operations that shadows are set for.
const OPERATIONS: c_int = MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL;

/// A shadow, and what is known about its topology. Freed when dropped.
pub struct Shadow {
    /// The communicator.
    pub shadow: MPI_Comm,
    /// The one for requests. A program may wait for something else while a request is active, so
    /// all its messages must be posted at the start. This is another communicator if the first
    /// one's schedule has several rounds or puts, and `None` if the environment asks for those.
    pub for_requests: Option<MPI_Comm>,
    /// For each entry of the source list, true if it is a process.
    pub sources: Vec<bool>,
    /// For each entry of the target list, true if it is a process.
    pub targets: Vec<bool>,
    /// Facts about the topology, for the report.
    pub facts: Facts,
    /// The topology.
    pub shape: Shape,
    /// Tells it from all other shadows; the same on all its processes.
    pub number: i64,
    /// True if it has windows, which all its processes free together.
    pub has_windows: bool,
    /// True once the communicator has been freed, since it has windows.
    freed: AtomicBool,
    #[allow(dead_code, reason = "it counts until it is dropped")]
    counted: Counted,
}

/// Number of live [`Counted`].
static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// Most live ones. MPICH has numbers for 2,048 communicators; a shadow takes two or four.
const MOST: usize = if cfg!(mpich) { 256 } else { usize::MAX };

/// Counts what serves one of the program's communicators by others of the library, until it is
/// dropped.
pub struct Counted(());

impl Counted {
    /// Counts one more.
    pub fn new() -> Counted {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Counted(())
    }

    /// True if there may be another one: the program needs communicators, too.
    pub fn has_room() -> bool {
        ALIVE.load(Ordering::Relaxed) < MOST
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

// SAFETY: a communicator may be used by any thread; that collectives on it do not run at the same
// time is the program's duty.
unsafe impl Send for Shadow {}
// SAFETY: as above.
unsafe impl Sync for Shadow {}

impl Shadow {
    /// Makes a communicator of the processes of `from` with a neighborhood. Collective; if it
    /// fails, it fails on all processes.
    ///
    /// # Safety
    /// `from` must be a communicator of the shape's processes, with its grid or graph unless that
    /// is distributed; the thread must be inside.
    pub unsafe fn make(from: MPI_Comm, shape: Shape, number: i64) -> Result<Box<Shadow>, Reason> {
        // SAFETY: the caller vouches for the communicator.
        unsafe {
            // schedules for grids ask the MPI for the grid
            let is_dist_graph = matches!(shape.topology, Topology::DistGraph { .. });
            let shadow = if is_dist_graph { bare(from) } else { duplicate(from) }.ok_or(Reason::NotMade)?;
            // frees it again if it is dropped
            let (facts, sources, targets) = (Facts::default(), Vec::new(), Vec::new());
            let (has_windows, freed, counted) = (true, AtomicBool::new(false), Counted::new());
            let made = Shadow { shadow, for_requests: None, sources, targets, facts, shape, number, has_windows, freed, counted };
            Box::new(made).with_neighborhood()
        }
    }

    /// True if it takes little enough memory to wait for another communicator.
    pub fn is_light(&self) -> bool {
        let other = self.for_requests.filter(|&other| other != self.shadow);
        // SAFETY: communicators of our own.
        unsafe { preload::is_light(self.shadow) && other.is_none_or(|other| preload::is_light(other)) }
    }

    /// Frees the communicator, if it has windows, before the rest. Collective.
    ///
    /// # Safety
    /// Only requests may use the shadow from now on; the thread must be inside.
    pub unsafe fn free_windows(&self) {
        if self.has_windows && !self.freed.swap(true, Ordering::Relaxed) {
            let mut shadow = self.shadow;
            // SAFETY: a communicator of our own, which is not used again: those of requests have no
            // windows. A failure cannot be reported.
            unsafe { mpi_sys::MPI_Comm_free(&mut shadow) };
        }
    }

    /// True if the communicator can still be described.
    pub fn is_there(&self) -> bool {
        !self.freed.load(Ordering::Relaxed)
    }

    /// Sets the neighborhood of another graph. Collective; if it fails, it fails on all processes.
    ///
    /// # Safety
    /// The thread must be inside.
    pub unsafe fn changed(mut self: Box<Self>, shape: Shape) -> Result<Box<Shadow>, Reason> {
        // SAFETY: the caller is inside; the topology itself is not asked for.
        unsafe {
            self.shape = shape;
            self.with_neighborhood()
        }
    }

    /// Sets the neighborhood, and finds out what follows from it.
    unsafe fn with_neighborhood(mut self: Box<Self>) -> Result<Box<Shadow>, Reason> {
        // SAFETY: a communicator of our own.
        unsafe {
            let shadow = self.shadow;
            let topology = &self.shape.topology;
            let code = preload::set(OPERATIONS, topology, hints::of(self.shape.hints), shadow);
            if code != SUCCESS {
                hints::forget();
                return Err(refused(shadow, code));
            }
            let traits = preload::traits(shadow).map_err(|_| Reason::NotMade)?;
            let other = self.for_requests.filter(|&other| other != shadow);
            self.for_requests = if traits.posts_at_once {
                other.into_iter().for_each(|mut other| _ = mpi_sys::MPI_Comm_free(&mut other));
                Some(shadow)
            } else {
                direct(shadow, other, topology)
            };
            self.has_windows = traits.has_window;
            let exist = |ranks: &[c_int]| ranks.iter().map(|&rank| rank != mpi_sys::RSMPI_PROC_NULL).collect();
            let set;
            let (sources, targets) = match topology {
                Topology::DistGraph { sources, targets, .. } => (sources, targets),
                Topology::Graph(neighbors) => (neighbors, neighbors),
                Topology::Cartesian(..) | Topology::None => {
                    set = neighbors(shadow);
                    (&set.0, &set.1)
                }
            };
            self.facts = flaws::facts(shadow, sources, targets);
            (self.sources, self.targets) = (exist(sources), exist(targets));
        }
        Ok(self)
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        if guard::FINALIZING.load(Ordering::Acquire) {
            return;
        }
        let _inside = guard::enter();
        // SAFETY: communicators of our own, which are not used again. A failure cannot be reported.
        unsafe {
            if let Some(mut other) = self.for_requests.filter(|&other| other != self.shadow) {
                mpi_sys::MPI_Comm_free(&mut other);
            }
            if self.is_there() {
                mpi_sys::MPI_Comm_free(&mut self.shadow);
            }
        }
    }
}

/// Reports, on one process, that no neighborhood could be made. Returns the reason.
unsafe fn refused(shadow: MPI_Comm, code: c_int) -> Reason {
    let is_hint = errors::class(code) == mpi_sys::MPI_ERR_INFO_VALUE.cast_signed();
    // SAFETY: the caller vouches for the communicator.
    if unsafe { speaks(shadow) } {
        // SAFETY: as above.
        let text = unsafe { preload::last_error(shadow) };
        if is_hint {
            complain("a hint is in error", &text);
        } else {
            complain_once(|| {
                let mut processes = 0;
                // SAFETY: as above; the result is a local.
                unsafe { mpi_sys::MPI_Comm_size(shadow, &mut processes) };
                format!("calls on a communicator of {processes} processes go on to the MPI: no neighborhood can be made: {text}")
            });
        }
    }
    if is_hint { Reason::Hint } else { Reason::NotMade }
}

/// Says why all calls go on to the MPI.
pub fn complain(what: &str, text: &str) {
    complain_once(|| format!("NOTHING IS TAKEN OVER, calls go on to the MPI: {what}: {text}"));
}

/// Says something, even if no report is wanted. Once is enough: later communicators mostly fail for
/// the same reason.
fn complain_once(what: impl FnOnce() -> String) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        say(&format!("mpix-neighbor preload: {}\n", what()));
    }
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

/// Makes another shadow, or changes it, whose schedule posts all messages at the start. `None` if
/// the environment asks for another schedule.
unsafe fn direct(shadow: MPI_Comm, other: Option<MPI_Comm>, topology: &Topology) -> Option<MPI_Comm> {
    // SAFETY: the caller vouches for the communicators; the other one is our own.
    unsafe {
        let mut other = other.or_else(|| duplicate(shadow))?;
        let hints = Hints::read(&[("mpix_schedule", "direct"), ("mpix_transport", "messages")]);
        let set = preload::set(OPERATIONS, topology, hints, other) == SUCCESS;
        if set && preload::traits(other).is_ok_and(|traits| traits.posts_at_once) {
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

/// A communicator of the same processes that returns errors, without a topology or the program's
/// attributes; `None` if there can be none. Collective.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn bare(comm: MPI_Comm) -> Option<MPI_Comm> {
    // SAFETY: the caller vouches for `comm`; the results are locals.
    unsafe {
        let mut group: MPI_Group = mpi_sys::RSMPI_GROUP_NULL;
        if mpi_sys::MPI_Comm_group(comm, &mut group) != SUCCESS {
            return None;
        }
        let mut made = mpi_sys::RSMPI_COMM_NULL;
        let code = errors::quietly(comm, || mpi_sys::MPI_Comm_create(comm, group, &mut made));
        mpi_sys::MPI_Group_free(&mut group);
        if code != SUCCESS {
            return None;
        }
        mpi_sys::MPI_Comm_set_errhandler(made, mpi_sys::RSMPI_ERRORS_RETURN);
        Some(made)
    }
}
