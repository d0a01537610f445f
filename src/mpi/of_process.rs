//! Values that exist once in a process, made at first use.
//!
//! They are attributes of `MPI_COMM_SELF`. When MPI is finalized it drops these first, the newest
//! before the others, while messages can still be sent. A value that must be dropped at that time
//! must not be owned by anything else.
//!
//! From then on MPI is not asked for them any more: what is attached to other communicators is
//! dropped later, when MPICH has no `MPI_COMM_SELF`, and while it drops that one's attributes it
//! may search them for ever (seen in 4.0.2). Simulated processes share one process, so that MPI
//! alone tells their values apart.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::attribute::Key;
use super::comm;
use crate::error::{Error, Result};
use crate::util::lock::lock;

/// True once MPI has begun to drop the values.
static ENDING: AtomicBool = AtomicBool::new(false);

/// A value of which a process has one.
pub struct OfProcess<T> {
    key: Key<Attached<T>>,
    made: OnceLock<Weak<T>>,
    /// Held while the value is made: two threads may come at the same time.
    making: Mutex<()>,
}

/// The value as an attribute.
struct Attached<T> {
    value: Arc<T>,
}

/// True once MPI has begun to drop the values, as it is being finalized.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

impl<T> Drop for Attached<T> {
    fn drop(&mut self) {
        // before the value itself is dropped
        ENDING.store(!super::is_simulated(), Ordering::Release);
    }
}

impl<T> OfProcess<T> {
    /// No value yet.
    pub const fn new() -> Self {
        OfProcess { key: Key::new(), made: OnceLock::new(), making: Mutex::new(()) }
    }

    /// The value. If there is none yet, stores what `make` returns, unless that is `None`.
    ///
    /// # Errors
    /// MPI is being finalized, or `make` has failed, or MPI was not initialized: programs with
    /// sessions alone have no `MPI_COMM_SELF`.
    pub fn get_or_make(&self, make: impl FnOnce() -> Result<Option<T>>) -> Result<Option<Arc<T>>> {
        if let Some(value) = self.known() {
            return value;
        }
        let _making = lock(&self.making);
        if let Some(value) = self.known() {
            return value;
        }
        super::require_world()?;
        let Some(value) = make()?.map(Arc::new) else { return Ok(None) };
        // SAFETY: there is no value yet, and this one is never replaced.
        let attached = unsafe { self.key.set(comm::itself(), Attached { value: Arc::clone(&value) }) };
        // `set` has dropped what MPI did not take, which is no end
        attached.inspect_err(|_| ENDING.store(false, Ordering::Release))?;
        // the lock is held: it is the first one
        let _ = self.made.set(Arc::downgrade(&value));
        Ok(Some(value))
    }

    /// The value, or why there can be none; `None` if there may be one, but is not yet.
    fn known(&self) -> Option<Result<Option<Arc<T>>>> {
        if super::is_simulated() {
            // SAFETY: the value is never replaced.
            let found = self.key.get(comm::itself()).map(|value| unsafe { value.as_ref() }.map(|kept| Arc::clone(&kept.value)));
            return found.map_or_else(|e| Some(Err(e)), |value| value.map(|value| Ok(Some(value))));
        }
        let ending = || Err(Error::Internal("MPI is being finalized".into()).into());
        match self.made.get() {
            Some(made) => Some(made.upgrade().map_or_else(ending, |value| Ok(Some(value)))),
            None => is_ending().then(ending),
        }
    }
}

impl<T: Default> OfProcess<T> {
    /// The value; the default one at the first call.
    pub fn get(&self) -> Result<Arc<T>> {
        Ok(self.get_or_make(|| Ok(Some(T::default())))?.unwrap_or_default())
    }
}
