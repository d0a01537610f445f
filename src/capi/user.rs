//! The communicators that windows, requests and sparse exchanges belong to: their error handlers
//! get the errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::mpi::MPI_Comm;
use crate::mpi::comm::{self, Communicator};

/// The communicator of an object.
#[derive(Clone)]
pub struct User {
    comm: MPI_Comm,
    freed: Arc<AtomicBool>,
}

impl User {
    /// `comm` must be a communicator, and `freed` become true when it is freed.
    pub fn new(comm: MPI_Comm, freed: &Arc<AtomicBool>) -> User {
        User { comm, freed: Arc::clone(freed) }
    }

    /// The communicator on which errors of an object are reported: `MPI_COMM_WORLD` if there is no
    /// object.
    #[inline]
    pub fn handler_of(user: Option<&User>) -> Communicator<'static> {
        user.map_or_else(comm::world, |user| handler(user.comm, user.freed.load(Ordering::Relaxed)))
    }
}

/// The communicator on which errors are reported of what belongs to `comm`: that one, or
/// `MPI_COMM_WORLD` once it has been `freed`, which the caller has to know.
#[inline]
pub fn handler(comm: MPI_Comm, freed: bool) -> Communicator<'static> {
    // SAFETY: the caller knows that the communicator has not been freed.
    let live = if freed { None } else { unsafe { Communicator::from_raw(comm) } };
    live.unwrap_or_else(comm::world)
}
