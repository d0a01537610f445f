//! The end of MPI.

use std::sync::atomic::Ordering;

use crate::interpose::interpose;
use crate::{report, settings, state};

/// What is to be done before MPI ends.
pub fn before() {
    if settings::get().report {
        report::finish();
    }
    state::FINALIZING.store(true, Ordering::Release);
}

interpose! {
    fn MPI_Finalize() |native| {
        before();
        native()
    }
}
