//! Duplicates and parts of communicators.

use std::sync::Mutex;

use super::comm::{self, Communicator, Owned};
use super::constants::{RSMPI_COMM_NULL, RSMPI_ERRORS_RETURN};
use super::request::Request;
use super::{MPI_Comm, check, coll, liveness};
use crate::error::Result;
use crate::util::cast::to_int;
use crate::util::lock::lock;

impl Owned {
    /// Duplicates `comm` without its info hints, which may promise what the library does not keep.
    /// Errors on the duplicate are returned as codes. Collective over `comm`, an intracommunicator.
    ///
    /// # Errors
    /// Also where MPI was not initialized: with sessions alone, MPICH may fail in the duplicate.
    pub fn duplicate(comm: Communicator) -> Result<Owned> {
        super::require_world()?;
        copy(comm, None)
    }

    /// Makes another communicator of the same processes. Collective over `self`.
    pub fn again(&self) -> Result<Owned> {
        self.is_whole()?;
        copy(self.view(), Some(self))
    }

    /// Makes a communicator that holds only the caller. Local.
    pub fn self_comm(&self) -> Result<Owned> {
        Ok(Owned::alone()?.part_of(self))
    }

    /// Makes a communicator that holds only the caller, and belongs to no other one. Local: the
    /// call has nobody to wait for. A duplicate would have copies of the attributes by which
    /// programs hear of `MPI_Finalize`, and MPICH's form that does not block can hang while other
    /// threads make communicators.
    pub fn alone() -> Result<Owned> {
        // a communicator takes one collective at a time, and several threads may get here
        static SPLITTING: Mutex<()> = Mutex::new(());
        super::require_world()?;
        let _splitting = lock(&SPLITTING);
        coll::count(None, 0);
        let mut made = RSMPI_COMM_NULL;
        // SAFETY: a live communicator; the other handle is a local.
        check(unsafe { mpi_sys::MPI_Comm_split(comm::itself().raw(), 0, 0, &mut made) }, "MPI_Comm_split")?;
        returning_errors(made)
    }

    /// Makes a communicator of the processes that pass the same `color`, in the order of their
    /// ranks. Collective over `self`. For measurements alone: a process that ends inside leaves the
    /// others there, as MPI can split only in a call that blocks.
    pub fn split(&self, color: u32) -> Result<Owned> {
        coll::barrier(self)?;
        // SAFETY: a live communicator; the other handle is a local.
        unsafe {
            coll::count(None, 0);
            let mut part = RSMPI_COMM_NULL;
            check(mpi_sys::MPI_Comm_split(self.raw(), to_int(color), 0, &mut part), "MPI_Comm_split")?;
            Ok(Owned::new(part, self.whole()))
        }
    }
}

/// Duplicates `comm` by `MPI_Comm_idup`, the form that does not block and does not copy info hints.
/// `owner` is what owns it, unless that is the user.
fn copy(comm: Communicator, owner: Option<&Owned>) -> Result<Owned> {
    coll::count(None, 0);
    // MPI writes the handle when the call returns or when the request completes
    let mut made = Box::new(RSMPI_COMM_NULL);
    let mut request = Request::default();
    // SAFETY: a live communicator; the handle stays where it is until the request is complete.
    check(unsafe { mpi_sys::MPI_Comm_idup(comm.raw(), &raw mut *made, request.raw_mut()) }, "MPI_Comm_idup")
        .map_err(|error| liveness::explain(error, comm, owner))?;
    returning_errors(*coll::complete(comm, owner, [request], made)?)
}

/// Takes a communicator that has just been made, and has its errors returned as codes.
fn returning_errors(made: MPI_Comm) -> Result<Owned> {
    let made = Owned::new(made, made);
    // SAFETY: a live communicator; the handler is a constant.
    check(unsafe { mpi_sys::MPI_Comm_set_errhandler(made.raw(), RSMPI_ERRORS_RETURN) }, "MPI_Comm_set_errhandler")?;
    Ok(made)
}
