//! Recalls the last answer to a question that is asked again and again, and forgets it when it may
//! have changed.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the events that make answers out of date.
pub struct Epoch(AtomicU64);

impl Epoch {
    /// Begins the first epoch.
    pub const fn new() -> Epoch {
        Epoch(AtomicU64::new(0))
    }

    /// Returns the current epoch. Read it before asking what [`Recall::keep`] is given.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Ends the epoch, and makes all answers from it out of date.
    pub fn end(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Default for Epoch {
    fn default() -> Epoch {
        Epoch::new()
    }
}

/// The last answer, for one thread.
pub struct Recall<Q, A> {
    last: Cell<Option<(Q, A, u64)>>,
}

impl<Q: Copy + PartialEq, A: Copy> Recall<Q, A> {
    /// Recalls nothing.
    pub const fn new() -> Self {
        Recall { last: Cell::new(None) }
    }

    /// Returns the last answer, if it is one to this question and from this epoch.
    #[inline]
    pub fn answer(&self, question: Q, epoch: u64) -> Option<A> {
        self.last.get().filter(|last| last.0 == question && last.2 == epoch).map(|last| last.1)
    }

    /// Keeps an answer from an epoch.
    pub fn keep(&self, question: Q, answer: A, epoch: u64) {
        self.last.set(Some((question, answer, epoch)));
    }
}

impl<Q: Copy + PartialEq, A: Copy> Default for Recall<Q, A> {
    fn default() -> Self {
        Recall::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_lasts_until_its_epoch_ends() {
        let (epoch, recall) = (Epoch::new(), Recall::new());
        assert_eq!(recall.answer('q', epoch.now()), None);
        recall.keep('q', 1, epoch.now());
        assert_eq!((recall.answer('q', epoch.now()), recall.answer('r', epoch.now())), (Some(1), None));
        epoch.end();
        assert_eq!(recall.answer('q', epoch.now()), None);
    }

    #[test]
    fn what_was_asked_before_an_event_is_out_of_date_after_it() {
        let (epoch, recall) = (Epoch::new(), Recall::new());
        let asked = epoch.now();
        epoch.end();
        recall.keep('q', 1, asked);
        assert_eq!(recall.answer('q', epoch.now()), None);
    }
}
