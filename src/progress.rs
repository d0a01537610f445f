//! Requests under way that need this process to go on: neighborhood collectives whose rounds are
//! not all posted, and nonblocking sparse exchanges.
//!
//! A process that waits for one of them, or for a blocking call of this library, moves all of them
//! forward: the process that it waits for may be waiting for another one. There is one list for
//! each process, not for each communicator, as that holds whatever the communicator.
//!
//! Cost: nothing while there is none but the reading of a counter; else a lock and a test of each
//! request for each time around.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, TryLockResult};

use crate::error::Result;
use crate::mpi;
use crate::mpi::attribute::Key;

/// What can be moved forward. Errors are kept for whoever waits for it.
pub trait Advance: Send {
    /// Does what can be done without waiting.
    fn advance(&mut self);
}

type Entry = Arc<Mutex<dyn Advance>>;

/// Polls in vain before the core is given away, where that is needed.
const POLLS: u32 = 16;

/// Hangs on `MPI_COMM_SELF`.
static OUTSTANDING: Key<Arc<Outstanding>> = Key::new();

/// The process's list, made at the first call.
pub fn of_process() -> Result<Arc<Outstanding>> {
    // two threads may come at the same time
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let own = mpi::comm::itself();
    // SAFETY: a communicator that there always is; the value stays as long as MPI does.
    unsafe {
        if OUTSTANDING.get(own)?.is_null() {
            OUTSTANDING.set(own, Arc::default())?;
        }
        Ok(Arc::clone(&*OUTSTANDING.get(own)?))
    }
}

/// What is locked now. A panic of another thread is that thread's to report.
fn if_free<T>(lock: TryLockResult<T>) -> Option<T> {
    match lock {
        Ok(locked) => Some(locked),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The list.
#[derive(Default)]
pub struct Outstanding {
    /// Entries of the list, readable without the lock.
    count: AtomicUsize,
    list: Mutex<Vec<Entry>>,
}

impl Outstanding {
    /// Whether nothing needs to be moved forward.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Adds a request. Allocates where there have never been so many.
    pub fn add(&self, entry: Entry) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(entry);
        self.count.store(list.len(), Ordering::Relaxed);
    }

    /// Removes a request.
    pub fn remove<T: Advance + 'static>(&self, entry: &Arc<Mutex<T>>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|e| !std::ptr::addr_eq(Arc::as_ptr(e), Arc::as_ptr(entry)));
        self.count.store(list.len(), Ordering::Relaxed);
    }

    /// Moves all forward. What another thread has in hand is left to it.
    pub fn advance(&self) {
        if self.is_empty() {
            return;
        }
        let Some(list) = if_free(self.list.try_lock()) else { return };
        for entry in &*list {
            if let Some(mut entry) = if_free(entry.try_lock()) {
                entry.advance();
            }
        }
    }

    /// Waits until `done`, and moves all forward meanwhile. `yields`: a process that waits must
    /// give its core away.
    pub fn until(&self, yields: bool, mut done: impl FnMut() -> Result<bool>) -> Result<()> {
        let mut polls = 0;
        while !done()? {
            self.advance();
            polls += 1;
            if yields && polls >= POLLS {
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}
