//! The properties by which a kept shadow is found for a new communicator.

use mpi_sys::MPI_Comm;
use mpix_neighbor::capi::preload::{self, Topology};
use mpix_neighbor::environment::fingerprint;

use crate::errors::SUCCESS;

/// A process's knowledge of a topology: communicators of the same processes in the same order can
/// have one shadow if their shapes are equal on each of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    rank: i32,
    size: i32,
    /// The topology, as this process sees it.
    pub topology: Topology,
    /// Fingerprint of the hints in the environment, which set calls read.
    pub hints: u64,
}

impl Shape {
    /// The shape of a communicator; `None` if it has no topology, or the MPI does not tell.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn of(comm: MPI_Comm) -> Option<Shape> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the caller vouches for `comm`; results are locals.
        let topology = unsafe {
            if mpi_sys::MPI_Comm_rank(comm, &mut rank) != SUCCESS || mpi_sys::MPI_Comm_size(comm, &mut size) != SUCCESS {
                return None;
            }
            preload::topology(comm).ok().filter(|topology| *topology != Topology::None)?
        };
        Some(Shape { rank, size, topology, hints: environment() })
    }

    /// True if both are graphs of as many processes, in which the process has the same rank: the
    /// shadow of one can be set anew for the other.
    pub fn is_like(&self, other: &Shape) -> bool {
        use Topology::{DistGraph, Graph};
        let both = matches!((&self.topology, &other.topology), (Graph(_), Graph(_)) | (DistGraph { .. }, DistGraph { .. }));
        both && (self.rank, self.size) == (other.rank, other.size)
    }
}

/// A fingerprint of the hints in the environment.
pub fn environment() -> u64 {
    fingerprint("MPIX_")
}
