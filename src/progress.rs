//! Active requests that need progress by this process: neighborhood collectives whose rounds are
//! not all posted, nonblocking sparse exchanges, and sparse windows as long as they live.
//!
//! A process that waits for one of them, or in a blocking call of this library, one that makes
//! something together with others included, advances all of them: the process that it waits for may
//! be waiting for another one. That holds across communicators, so there is one list for the whole
//! process.
//!
//! Cost: reading a counter while the list is empty; otherwise a lock and a test of each request for
//! every poll.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::mpi::coll;
use crate::mpi::of_process::OfProcess;
use crate::util::backoff::{Backoff, Pace};
use crate::util::lock::{if_free, lock};

/// A request that needs progress. It keeps errors for whoever waits for it.
pub trait Advance: Send {
    /// Makes progress without waiting, not even for a lock: the caller may hold it.
    fn advance(&mut self);
}

type Entry = Arc<Mutex<dyn Advance>>;

static OUTSTANDING: OfProcess<Outstanding> = OfProcess::new();

/// The list of the process, made at the first call.
pub fn of_process() -> Result<Arc<Outstanding>> {
    coll::meanwhile(advance);
    OUTSTANDING.get()
}

/// Advances all requests of the process.
fn advance() {
    // none is made any more while MPI is finalized
    if let Ok(Some(outstanding)) = OUTSTANDING.get_or_make(|| Ok(None)) {
        outstanding.advance();
    }
}

/// The list of active requests.
#[derive(Default)]
pub struct Outstanding {
    /// Length of the list, readable without the lock.
    count: AtomicUsize,
    list: Mutex<Vec<Entry>>,
}

impl Outstanding {
    /// True if no request needs progress.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// True if requests need progress beside the caller's, which is `listed` among them or not.
    #[inline]
    pub fn has_others(&self, listed: bool) -> bool {
        self.count.load(Ordering::Relaxed) > usize::from(listed)
    }

    /// Adds a request. Allocates if there have never been as many.
    pub fn add(&self, entry: Entry) {
        let mut list = lock(&self.list);
        list.push(entry);
        self.count.store(list.len(), Ordering::Relaxed);
    }

    /// Removes a request.
    pub fn remove<T: Advance + 'static>(&self, entry: &Arc<Mutex<T>>) {
        let mut list = lock(&self.list);
        list.retain(|e| !std::ptr::addr_eq(Arc::as_ptr(e), Arc::as_ptr(entry)));
        self.count.store(list.len(), Ordering::Relaxed);
    }

    /// Advances all requests, except those that another thread is working on.
    pub fn advance(&self) {
        if self.is_empty() {
            return;
        }
        let Some(list) = if_free(&self.list) else { return };
        for entry in &*list {
            if let Some(mut entry) = if_free(entry) {
                entry.advance();
            }
        }
    }

    /// Waits until `done` returns true, advancing all requests meanwhile. `yields`: a waiting
    /// process must yield its core. It does so after each turn in vain: one moves all requests
    /// forward, and 15 before the first yield made plans beside an open window take 2 to 2.6 times
    /// as long (examples/ghost.c, 4 to 16 processes on 2 cores).
    pub fn until(&self, yields: bool, mut done: impl FnMut() -> Result<bool>) -> Result<()> {
        let mut backoff = Backoff::new(if yields { Pace::YIELDING } else { Pace::POLLING });
        while !done()? {
            self.advance();
            backoff.snooze();
        }
        Ok(())
    }
}
