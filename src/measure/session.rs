//! For programs that are started by an MPI launcher and written in Rust, as the command-line tool
//! is: MPI's beginning and end, and what they need of it. What the library itself does for its
//! users is in [`crate::capi`].

pub use super::loggp::Found;
pub use crate::mpi::MPI_Comm;
pub use crate::mpi::family::require as require_own_mpi;
pub use crate::select::hints::Measuring;
pub use crate::sparse::timing::{Timed, Timing};

use super::loggp;
use crate::error::Result;
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::{self, coll, start};
use crate::sparse;

/// MPI from [`Session::init`] until this is dropped, which ends MPI: collective over all processes.
/// A process that panics takes all others with it.
pub struct Session {
    /// A duplicate of the world. `None` only while it is dropped.
    comm: Option<Comm>,
    rank: u32,
    size: u32,
}

impl Session {
    /// Begins MPI. Once in a program. Collective over all processes that the launcher started;
    /// without a launcher there is one.
    pub fn init() -> Result<Session> {
        mpi::family::check()?;
        start::init()?;
        // SAFETY: the world is an intracommunicator, and all its processes are here.
        let comm = unsafe { Comm::duplicate(comm::world()) }?;
        // SAFETY: a live communicator.
        let (rank, size) = unsafe { (comm::rank(comm.raw())?, comm::size(comm.raw())?) };
        Ok(Session { comm: Some(comm), rank, size })
    }

    /// The caller's rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of processes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// `MPI_COMM_WORLD`, for calls of the C ABI.
    pub fn world(&self) -> MPI_Comm {
        comm::world()
    }

    /// Name and version of the MPI library, one line.
    pub fn library(&self) -> String {
        mpi::library_version()
    }

    /// Waits for all processes. Collective.
    pub fn barrier(&self) -> Result<()> {
        start::barrier(self.comm())
    }

    /// Makes `bytes` those of process 0. Their number is the same on all processes. Collective.
    pub fn broadcast(&self, bytes: &mut [u8]) -> Result<()> {
        coll::broadcast(self.comm(), bytes, 0)
    }

    /// Measures the LogGP parameters, as `MPIX_Loggp_measure` does. Collective; the options of
    /// process 0 count. `progress` is called there, with the part that is done.
    pub fn measure(&self, options: Measuring, progress: impl FnMut(f64)) -> Result<Found> {
        loggp::measure(self.comm(), options, progress)
    }

    /// How long sparse exchanges of the first `timing.processes` processes take, by each protocol.
    /// Collective; `timing` is the same on all processes. `progress` is called on process 0, with
    /// the part that is done. `None` on processes that take no part: they sleep meanwhile.
    pub fn sparse_times(&self, timing: &Timing, progress: impl FnMut(f64)) -> Result<Option<Timed>> {
        sparse::timing::times(self.comm(), timing, progress)
    }

    fn comm(&self) -> &Comm {
        self.comm.as_ref().expect("it lives as long as the session")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the others would wait for this process
            start::abort(101);
        }
        self.comm = None;
        // what it returns has no one to go to
        let _ = start::finalize();
    }
}
