//! Locks that a panic in another thread does not keep from the others. That thread reports its
//! panic itself.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks a mutex.
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex, unless another thread holds it.
#[inline]
pub fn if_free<T: ?Sized>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(locked) => Some(locked),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The value of a mutex that nobody else has.
pub fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_leave_values_to_others() {
        let mut mutex = Mutex::new(6);
        let thread = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _held = lock(&mutex);
                assert!(if_free(&mutex).is_none());
                panic!("poisons the mutex");
            });
            thread.join()
        });
        assert!(thread.is_err());
        assert!(mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(if_free(&mutex).map(|held| *held), Some(7));
        assert_eq!(*get_mut(&mut mutex), 7);
    }
}
