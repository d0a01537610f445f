//! For Rust programs that an MPI launcher starts, such as the command-line tool: initializes and
//! finalizes MPI and offers what these programs need of it. The interface for everyone else is
//! [`crate::capi`].

pub use super::sparse::{Timed, Timing};
pub use crate::machine::Measured;
pub use crate::mpi::MPI_Comm;
pub use crate::mpi::family::require as require_own_mpi;
pub use crate::select::hints::Measuring;

use super::sparse;
use crate::error::Result;
use crate::machine;
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::{self, MPI_Datatype, MPI_Info, coll, datatype, info, start};

/// MPI, from [`Session::init`] until this value is dropped, which finalizes MPI and is collective
/// over all processes. A process that panics aborts all others.
pub struct Session {
    /// A duplicate of the world. `None` only while the session is dropped.
    comm: Option<Comm>,
    rank: u32,
    size: u32,
}

impl Session {
    /// Initializes MPI, once per program. Collective over all processes that the launcher started;
    /// without a launcher, there is one.
    pub fn init() -> Result<Session> {
        mpi::family::check()?;
        start::init()?;
        let comm = Comm::duplicate(comm::world())?;
        let (rank, size) = (comm.rank()?, comm.size()?);
        Ok(Session { comm: Some(comm), rank, size })
    }

    /// Returns the caller's rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of processes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns `MPI_COMM_WORLD`, for calls of the C ABI.
    pub fn world(&self) -> MPI_Comm {
        comm::world().raw()
    }

    /// Returns `MPI_BYTE`, for calls of the C ABI.
    pub fn byte(&self) -> MPI_Datatype {
        datatype::byte().raw()
    }

    /// Returns `MPI_INFO_NULL`, for calls of the C ABI.
    pub fn no_info(&self) -> MPI_Info {
        info::null()
    }

    /// Returns the least of the numbers that all processes pass. Collective.
    pub fn least(&self, number: i64) -> Result<i64> {
        Ok(coll::allreduce(self.comm(), [number], coll::Reduction::Min)?[0])
    }

    /// Returns the name and version of the MPI library, in one line.
    pub fn library(&self) -> String {
        mpi::library_version()
    }

    /// Waits for all processes. Collective.
    pub fn barrier(&self) -> Result<()> {
        coll::barrier(self.comm())
    }

    /// Copies `bytes` from process 0 to all processes, which must pass slices of the same length.
    /// Collective.
    pub fn broadcast(&self, bytes: &mut [u8]) -> Result<()> {
        coll::broadcast(self.comm(), bytes, 0)
    }

    /// Measures the LogGP parameters as `MPIX_Loggp_measure` does. Collective; the options of
    /// process 0 apply. `progress` is called there with the fraction that is done.
    pub fn measure(&self, options: Measuring, progress: impl FnMut(f64)) -> Result<Measured> {
        machine::measure(self.comm(), options, progress)
    }

    /// Measures how long sparse exchanges among the first `timing.processes` processes take with
    /// each protocol. Collective; `timing` must be the same on all processes. `progress` is called
    /// on process 0 with the fraction that is done. Returns `None` on processes that do not take
    /// part, which sleep meanwhile.
    pub fn sparse_times(&self, timing: &Timing, progress: impl FnMut(f64)) -> Result<Option<Timed>> {
        sparse::times(self.comm(), timing, progress)
    }

    fn comm(&self) -> &Comm {
        self.comm.as_ref().expect("set until the session is dropped")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the others would wait for this process forever
            start::abort(101);
        }
        self.comm = None;
        // there is nobody to report an error to
        let _ = start::finalize();
    }
}
