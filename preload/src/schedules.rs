//! The schedules that the library chose, for the report.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Mutex;

use mpi_sys::MPI_Comm;
use mpix_neighbor::capi::{MPIX_NEIGHBOR_ALLTOALL, MPIX_Neighborhood_describe};
use mpix_neighbor::util::cast::{to_int, to_usize};
use mpix_neighbor::util::lock::lock;

use crate::errors::SUCCESS;

/// Lines of `MPIX_Neighborhood_describe`, each with the number of communicators that it describes.
static SCHEDULES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// The library's description of a neighborhood.
fn description(shadow: MPI_Comm) -> String {
    let mut text = [0u8; 1024];
    let mut length = 0;
    // SAFETY: the buffer is as long as said; the result is a local.
    let code = unsafe {
        MPIX_Neighborhood_describe(
            MPIX_NEIGHBOR_ALLTOALL,
            shadow,
            to_int::<c_int>(text.len()),
            text.as_mut_ptr().cast(),
            &mut length,
        )
    };
    let written = if code == SUCCESS { to_usize(length.max(0)).min(text.len() - 1) } else { 0 };
    String::from_utf8_lossy(&text[..written]).into_owned()
}

/// Keeps the line about a communicator's schedule before the communicator goes.
pub fn describe(shadow: MPI_Comm) {
    // the first line is about the process, the second one about the schedule
    let text = description(shadow);
    let Some(line) = text.lines().nth(1) else { return };
    if let Ok(mut schedules) = SCHEDULES.lock() {
        *schedules.entry(line.to_owned()).or_default() += 1;
    }
}

/// The lines kept so far, each with the number of communicators it describes.
pub fn kept() -> BTreeMap<String, u64> {
    lock(&SCHEDULES).clone()
}
