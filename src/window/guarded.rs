//! A value for one thread at a time, at no cost where MPI says that there is only one.
//!
//! A lock and its release take longer than the rest of an operation on a window. Below
//! `MPI_THREAD_MULTIPLE` they are not needed: functions that call MPI are then called by one thread
//! at a time.

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A value that one thread may use at a time.
pub struct Guarded<T> {
    several_threads: bool,
    mutex: Mutex<()>,
    held: Cell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: with several threads, all but the first two are used under the mutex alone. Otherwise the
// maker vouches that threads come one after the other.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// The right to use the value.
pub struct Held<'g, T> {
    guarded: &'g Guarded<T>,
    /// Released after `held` has been cleared, which drops come before.
    _lock: Option<MutexGuard<'g, ()>>,
}

impl<T> Guarded<T> {
    /// Guards a value. Without `several_threads`, threads must not use it at the same time.
    pub fn new(value: T, several_threads: bool) -> Guarded<T> {
        Guarded { several_threads, mutex: Mutex::new(()), held: Cell::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits for the value.
    ///
    /// # Panics
    /// Without several threads, if the caller has it already: an operator of the program's uses the
    /// window that it is applied to. With several, such a caller waits for ever.
    #[inline]
    pub fn hold(&self) -> Held<'_, T> {
        let lock = self.several_threads.then(|| self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
        assert!(!self.held.replace(true), "a window is used in a call on the same window");
        Held { guarded: self, _lock: lock }
    }

    /// Returns the value, unless someone has it.
    pub fn hold_if_free(&self) -> Option<Held<'_, T>> {
        let lock = match self.several_threads.then(|| self.mutex.try_lock()) {
            None => None,
            Some(Ok(lock)) => Some(lock),
            Some(Err(TryLockError::Poisoned(poisoned))) => Some(poisoned.into_inner()),
            Some(Err(TryLockError::WouldBlock)) => return None,
        };
        (!self.held.replace(true)).then(|| Held { guarded: self, _lock: lock })
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody else has the value.
        unsafe { &*self.guarded.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.guarded.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.guarded.held.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_held_once() {
        for several_threads in [false, true] {
            let guarded = Guarded::new(5, several_threads);
            let mut held = guarded.hold();
            *held += 1;
            assert!(guarded.hold_if_free().is_none());
            drop(held);
            assert_eq!(guarded.hold_if_free().map(|held| *held), Some(6));
            assert_eq!(*guarded.hold(), 6);
        }
    }

    #[test]
    #[should_panic(expected = "in a call on the same window")]
    fn a_value_that_the_caller_holds_is_not_waited_for() {
        let guarded = Guarded::new((), false);
        let _held = guarded.hold();
        guarded.hold();
    }

    #[test]
    fn threads_take_turns() {
        let guarded = Guarded::new(0, true);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *guarded.hold() += 1));
            }
        });
        assert_eq!(*guarded.hold(), 4000);
    }
}
