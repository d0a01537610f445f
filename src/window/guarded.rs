//! Guards a value so that one thread uses it at a time, at no cost where MPI says that there is
//! only one thread.
//!
//! A lock and its release take longer than the rest of an operation on a window. Below
//! `MPI_THREAD_MULTIPLE` they are not needed: functions that call MPI are then called by one thread
//! at a time.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::util::backoff::{Backoff, Pace};
use crate::util::lock::{if_free, lock};

/// A value that one thread may use at a time.
pub struct Guarded<T> {
    several_threads: bool,
    mutex: Mutex<()>,
    /// The thread that has the value, or [`NOBODY`]. A thread always sees whether it is the one.
    holder: AtomicUsize,
    /// Threads that wait for it.
    waiting: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: with several threads, the value is used under the mutex alone. Otherwise the maker
// vouches that threads come one after the other.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// The right to use the value.
pub struct Held<'g, T> {
    guarded: &'g Guarded<T>,
    /// Released after `holder` has been cleared, which drops come before.
    lock: Option<MutexGuard<'g, ()>>,
}

const NOBODY: usize = 0;
const ONLY_THREAD: usize = 1;

/// Returns a number that no other living thread has.
fn this_thread() -> usize {
    thread_local!(static OWN: u16 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

impl<T> Guarded<T> {
    /// Guards a value. Without `several_threads`, threads must not use it at the same time.
    pub fn new(value: T, several_threads: bool) -> Guarded<T> {
        let (mutex, holder, waiting) = (Mutex::new(()), AtomicUsize::new(NOBODY), AtomicUsize::new(0));
        Guarded { several_threads, mutex, holder, waiting, value: UnsafeCell::new(value) }
    }

    #[inline]
    fn me(&self) -> usize {
        if self.several_threads { this_thread() } else { ONLY_THREAD }
    }

    #[inline]
    fn held<'g>(&'g self, lock: Option<MutexGuard<'g, ()>>) -> Held<'g, T> {
        self.holder.store(self.me(), Ordering::Relaxed);
        Held { guarded: self, lock }
    }

    /// Waits for the value. Fails if the caller has it already: an operator of the program's uses
    /// the window that it is applied to.
    #[inline]
    pub fn hold(&self) -> Result<Held<'_, T>> {
        if self.holder.load(Ordering::Relaxed) == self.me() {
            return Err(Error::WindowInUse.into());
        }
        Ok(self.held(self.several_threads.then(|| self.lock())))
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        if let Some(lock) = if_free(&self.mutex) {
            return lock;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let lock = lock(&self.mutex);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        lock
    }

    /// Returns the value if that takes no lock, and nobody has it.
    #[inline]
    pub fn hold_at_once(&self) -> Option<Held<'_, T>> {
        let is_free = !self.several_threads && self.holder.load(Ordering::Relaxed) == NOBODY;
        is_free.then(|| self.held(None))
    }

    /// Returns the value, unless someone has it.
    pub fn hold_if_free(&self) -> Option<Held<'_, T>> {
        if !self.several_threads {
            return (self.holder.load(Ordering::Relaxed) == NOBODY).then(|| self.held(None));
        }
        Some(self.held(Some(if_free(&self.mutex)?)))
    }
}

impl<T> Held<'_, T> {
    /// Lets the threads that wait for the value have it first, and then takes it again. They may
    /// change it.
    #[inline]
    pub fn let_others(&mut self) {
        if self.lock.is_some() && self.guarded.waiting.load(Ordering::Relaxed) > 0 {
            self.hand_over();
        }
    }

    #[cold]
    fn hand_over(&mut self) {
        self.guarded.holder.store(NOBODY, Ordering::Relaxed);
        self.lock = None;
        // a mutex may go to who releases it, again and again
        let mut backoff = Backoff::new(Pace::YIELDING);
        while self.guarded.waiting.load(Ordering::Relaxed) > 0 {
            backoff.snooze();
        }
        self.lock = Some(self.guarded.lock());
        self.guarded.holder.store(self.guarded.me(), Ordering::Relaxed);
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
        self.guarded.holder.store(NOBODY, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_held_once() {
        for several_threads in [false, true] {
            let guarded = Guarded::new(5, several_threads);
            let mut held = guarded.hold().unwrap();
            *held += 1;
            assert!(guarded.hold_if_free().is_none() && guarded.hold_at_once().is_none());
            drop(held);
            assert_eq!(guarded.hold_at_once().is_some(), !several_threads);
            assert_eq!(guarded.hold_if_free().map(|held| *held), Some(6));
            assert_eq!(*guarded.hold().unwrap(), 6);
        }
    }

    #[test]
    fn a_value_that_the_caller_holds_is_not_waited_for() {
        for several_threads in [false, true] {
            let guarded = Guarded::new(5, several_threads);
            let held = guarded.hold().unwrap();
            assert!(guarded.hold().is_err_and(|e| matches!(*e, Error::WindowInUse)));
            // the failure releases nothing
            assert!(guarded.hold_if_free().is_none() && guarded.hold().is_err());
            drop(held);
            assert_eq!(*guarded.hold().unwrap(), 5);
        }
    }

    #[test]
    fn threads_take_turns() {
        let guarded = Guarded::new(0, true);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *guarded.hold().unwrap() += 1));
            }
        });
        assert_eq!(*guarded.hold().unwrap(), 4000);
    }

    #[test]
    fn a_thread_that_waits_lets_others_in() {
        let guarded = Guarded::new(0, true);
        std::thread::scope(|scope| {
            let mut held = guarded.hold().unwrap();
            // each waits for what the other one does
            scope.spawn(|| {
                let mut held = guarded.hold().unwrap();
                *held = 1;
                while *held == 1 {
                    held.let_others();
                }
            });
            while *held == 0 {
                held.let_others();
            }
            *held = 2;
        });
        assert_eq!(*guarded.hold().unwrap(), 2);
    }
}
