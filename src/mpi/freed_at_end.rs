//! Frees windows while MPI is finalized, in one order on all processes, on which they agree when
//! windows are made.
//!
//! Freeing a window takes all of its processes. So that processes that share several do not wait
//! for one another in a cycle, all free them in one order: that of numbers on which the processes
//! of each window agree when they make it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::coll::{self, Reduction};
use super::comm::Owned as Comm;
use super::liveness;
use super::of_process::OfProcess;
use crate::error::{Error, Result};
use crate::util::lock::{get_mut, lock};
use crate::util::unique::unique;

/// What all of its processes free together.
pub trait FreedAtEnd: Send + Sync {
    /// Frees it, unless a process cannot, while MPI is finalized. Collective; errors cannot be
    /// reported.
    fn free_at_end(&self);
}

/// What this process has not freed, by number.
#[derive(Default)]
struct Unfreed(Mutex<BTreeMap<i64, Arc<dyn FreedAtEnd>>>);

static UNFREED: OfProcess<Unfreed> = OfProcess::new();

impl Drop for Unfreed {
    fn drop(&mut self) {
        let all = std::mem::take(get_mut(&mut self.0));
        all.into_values().for_each(|one| one.free_at_end());
    }
}

/// Makes the list of what is to be freed.
///
/// # Errors
/// MPI is being finalized.
pub fn prepare() -> Result<()> {
    // MPI drops the youngest first, and what is freed needs liveness's
    liveness::card()?;
    UNFREED.get().map(drop)
}

/// Agrees on whether all processes have `made` a window, and on its number. Collective.
///
/// # Errors
/// The call of MPI failed, here or on another process: a window that others lack cannot be freed.
pub fn agree(made: Result<()>, call: &str, comm: &Comm) -> Result<Result<i64>> {
    let [all, number] = coll::allreduce(comm, [i64::from(made.is_ok()), unique()], Reduction::Min)?;
    let elsewhere = || Err(Error::Internal(format!("{call} failed on another process")).into());
    Ok(made.and_then(|()| if all == 0 { elsewhere() } else { Ok(number) }))
}

/// Frees a window of `comm` by `free`, unless it is `freed`, or a process cannot, and returns true
/// if it is free then. Collective.
///
/// # Errors
/// Those of `free`, and of the reduction.
pub fn free_if_all(comm: &Comm, freed: &AtomicBool, can: bool, free: impl FnOnce() -> Result<()>) -> Result<bool> {
    if freed.load(Ordering::Relaxed) {
        return Ok(false);
    }
    let [all] = coll::allreduce(comm, [i64::from(can)], Reduction::Min)?;
    if all == 0 {
        return Ok(false);
    }
    // in order that it is not asked for again, whatever fails here
    freed.store(true, Ordering::Relaxed);
    free().map(|()| true)
}

/// Has something freed at the end, unless it is freed before.
pub fn keep(number: i64, one: Arc<dyn FreedAtEnd>) -> Result<()> {
    lock(&UNFREED.get()?.0).insert(number, one);
    Ok(())
}

/// Has something that has been freed forgotten.
pub fn forget(number: i64) -> Result<()> {
    // its communicator is freed without the lock
    let _forgotten = lock(&UNFREED.get()?.0).remove(&number);
    Ok(())
}
