//! The communicators that sparse exchanges, and what they make, belong to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::mpi::MPI_Comm;
use crate::mpi::comm::{self, Communicator};
use crate::sparse::SharedContext;

/// The communicator of an exchange, whose error handler gets the errors of what the exchange made.
#[derive(Clone)]
pub struct User {
    comm: MPI_Comm,
    freed: Arc<AtomicBool>,
}

impl User {
    /// `comm` must be the communicator of `context`.
    pub fn new(comm: MPI_Comm, context: &SharedContext) -> User {
        User { comm, freed: Arc::clone(context.freed()) }
    }

    /// The communicator on which errors of an object are reported: `MPI_COMM_WORLD` if there is no
    /// object, or once the user's communicator has been freed.
    pub fn handler_of(user: Option<&User>) -> Communicator<'static> {
        let live = user.filter(|user| !user.freed.load(Ordering::Relaxed));
        // SAFETY: the maker vouches for the handle, which has not been freed.
        live.and_then(|user| unsafe { Communicator::from_raw(user.comm) }).unwrap_or_else(comm::world)
    }
}
