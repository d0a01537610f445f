//! The beginning and the end of MPI.

use std::ffi::{c_char, c_int};
use std::sync::atomic::Ordering;

use mpi_sys::MPI_Comm;

use crate::interpose::interpose;
use crate::{ending, report, settings, state};

/// What is to be done before MPI ends.
pub fn before() {
    if settings::get().counts {
        report::finish();
    }
    state::FINALIZING.store(true, Ordering::Release);
}

interpose! {
    fn MPI_Finalize() |native| {
        before();
        native()
    }

    fn MPI_Abort(comm: MPI_Comm, errorcode: c_int) |native| {
        ending::aborting();
        native()
    }

    fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) |native| {
        let code = native();
        ending::prepare();
        code
    }

    fn MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int) |native| {
        let code = native();
        ending::prepare();
        code
    }
}
