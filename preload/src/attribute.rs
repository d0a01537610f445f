//! Values attached to the program's communicators.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mpi_sys::MPI_Comm;

use crate::errors::SUCCESS;

/// Called by MPI when a communicator is freed, or its value removed.
pub type DeleteFn = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    fn mpixp_create_keyval(delete_fn: Option<DeleteFn>, keyval: *mut c_int) -> c_int;
}

/// A kind of value. Its keyval is made at the first use.
pub struct Key {
    keyval: OnceLock<c_int>,
    deleted: DeleteFn,
}

impl Key {
    /// Describes a kind of value; calls no MPI.
    pub const fn new(deleted: DeleteFn) -> Key {
        Key { keyval: OnceLock::new(), deleted }
    }

    /// Makes the keyval, unless there is one. `None` if there can be none.
    pub fn make(&self) -> Option<c_int> {
        if let Some(&keyval) = self.keyval.get() {
            return Some(keyval);
        }
        let mut keyval = 0;
        // SAFETY: the callback has the type that MPI asks for; the result is a local.
        if unsafe { mpixp_create_keyval(Some(self.deleted), &mut keyval) } != SUCCESS {
            return None;
        }
        // that of another thread, if it was first
        Some(*self.keyval.get_or_init(|| keyval))
    }

    /// The value of a communicator, if it has one. Costs one MPI call, or none before the first
    /// value.
    ///
    /// # Safety
    /// `comm` must be what the MPI takes for a communicator.
    #[inline]
    pub unsafe fn get(&self, comm: MPI_Comm) -> Option<*mut c_void> {
        let &keyval = self.keyval.get()?;
        let (mut value, mut found) = (std::ptr::null_mut::<c_void>(), 0);
        // SAFETY: the caller vouches for `comm`; the results are locals.
        let code = unsafe { mpi_sys::MPI_Comm_get_attr(comm, keyval, (&raw mut value).cast(), &mut found) };
        (code == SUCCESS && found != 0).then_some(value)
    }

    /// Gives a communicator a value. False if that failed: the value is still the caller's.
    ///
    /// # Safety
    /// `comm` must be a communicator, and the value what the key's function takes.
    pub unsafe fn set(&self, comm: MPI_Comm, value: *mut c_void) -> bool {
        // SAFETY: the caller vouches for both.
        self.make().is_some_and(|keyval| unsafe { mpi_sys::MPI_Comm_set_attr(comm, keyval, value) } == SUCCESS)
    }

    /// Removes the value of a communicator.
    ///
    /// # Safety
    /// `comm` must be a communicator with a value, which nobody uses any more.
    pub unsafe fn remove(&self, comm: MPI_Comm) {
        if let Some(&keyval) = self.keyval.get() {
            // SAFETY: the caller vouches for `comm`. A failure cannot be reported.
            unsafe { mpi_sys::MPI_Comm_delete_attr(comm, keyval) };
        }
    }
}
