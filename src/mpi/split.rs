//! Duplicates and parts of communicators.

use super::comm::{Communicator, Owned};
use super::constants::{RSMPI_COMM_NULL, RSMPI_COMM_TYPE_SHARED, RSMPI_ERRORS_RETURN, RSMPI_INFO_NULL};
use super::{check, coll};
use crate::error::Result;
use crate::util::cast::to_int;

impl Owned {
    /// Duplicates `comm` without its info hints, which may promise what the library does not keep.
    /// Errors on the duplicate are returned as codes. Collective over `comm`, an intracommunicator.
    pub fn duplicate(comm: Communicator) -> Result<Owned> {
        // duplicating blocks inside MPI; the barrier before it detects processes that have ended
        coll::meet(comm)?;
        Owned::copy(comm)
    }

    /// Makes another communicator of the same processes. Collective over `self`.
    pub fn again(&self) -> Result<Owned> {
        coll::barrier(self)?;
        Owned::copy(self.view())
    }

    fn copy(comm: Communicator) -> Result<Owned> {
        // SAFETY: a live communicator; the other handles are constants and a local.
        unsafe {
            coll::count(None, 0);
            let mut copy = RSMPI_COMM_NULL;
            check(mpi_sys::MPI_Comm_dup_with_info(comm.raw(), RSMPI_INFO_NULL, &mut copy), "MPI_Comm_dup_with_info")?;
            let copy = Owned::new(copy, copy);
            check(mpi_sys::MPI_Comm_set_errhandler(copy.raw(), RSMPI_ERRORS_RETURN), "MPI_Comm_set_errhandler")?;
            Ok(copy)
        }
    }

    /// Makes a communicator of the processes that share memory with the caller. Collective over
    /// `self`.
    pub fn node(&self) -> Result<Owned> {
        coll::barrier(self)?;
        // SAFETY: a live communicator; the other handles are constants and a local.
        unsafe {
            coll::count(None, 0);
            let mut node = RSMPI_COMM_NULL;
            let shared = RSMPI_COMM_TYPE_SHARED;
            check(mpi_sys::MPI_Comm_split_type(self.raw(), shared, 0, RSMPI_INFO_NULL, &mut node), "MPI_Comm_split_type")?;
            Ok(Owned::new(node, self.whole()))
        }
    }

    /// Makes a communicator of the processes that pass the same `color`, in the order of their
    /// ranks. Collective over `self`.
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

    /// Makes a communicator that holds only the caller. Collective over `self`.
    pub fn self_comm(&self) -> Result<Owned> {
        self.split(self.rank()?)
    }
}
