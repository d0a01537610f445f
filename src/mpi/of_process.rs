//! Values that exist once in a process, made at first use.
//!
//! They are attributes of `MPI_COMM_SELF`. When MPI is finalized it drops these first, the newest
//! before the others, while messages can still be sent. A value that must be dropped at that time
//! must not be owned by anything else.

use std::sync::{Arc, Mutex, PoisonError};

use super::attribute::Key;
use super::comm;
use crate::error::Result;

/// A value of which a process has one.
pub struct OfProcess<T> {
    key: Key<Arc<T>>,
    /// Held while the value is made: two threads may come at the same time.
    making: Mutex<()>,
}

impl<T> OfProcess<T> {
    /// No value yet.
    pub const fn new() -> Self {
        OfProcess { key: Key::new(), making: Mutex::new(()) }
    }

    /// The value. If there is none yet, stores what `make` returns, unless that is `None`.
    pub fn get_or_make(&self, make: impl FnOnce() -> Result<Option<T>>) -> Result<Option<Arc<T>>> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let own = comm::itself();
        // SAFETY: the value is never replaced.
        unsafe {
            if let Some(value) = self.key.get(own)?.as_ref() {
                return Ok(Some(Arc::clone(value)));
            }
            let Some(value) = make()?.map(Arc::new) else { return Ok(None) };
            self.key.set(own, Arc::clone(&value))?;
            Ok(Some(value))
        }
    }
}

impl<T: Default> OfProcess<T> {
    /// The value; the default one at the first call.
    pub fn get(&self) -> Result<Arc<T>> {
        Ok(self.get_or_make(|| Ok(Some(T::default())))?.unwrap_or_default())
    }
}
