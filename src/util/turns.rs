//! Turns: each of several users of one thing takes a number, and they use it in the order of their
//! numbers, like customers with tickets.
//!
//! Ending a turn is a release, and finding that it is one's turn an acquire: a user sees what all
//! before it have done.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers given out, from 1 on, and the number whose turn it is.
pub struct Turns {
    next: AtomicU64,
    current: AtomicU64,
}

impl Turns {
    /// No number is given out yet.
    pub const fn new() -> Turns {
        Turns { next: AtomicU64::new(1), current: AtomicU64::new(1) }
    }

    /// Takes the next number.
    pub fn take(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// True if all smaller numbers have ended their turns.
    pub fn is(&self, number: u64) -> bool {
        self.current.load(Ordering::Acquire) == number
    }

    /// Ends the turn of the number whose turn it is.
    pub fn end(&self) {
        self.current.fetch_add(1, Ordering::Release);
    }
}

impl Default for Turns {
    fn default() -> Turns {
        Turns::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_turns_in_order() {
        let turns = Turns::new();
        let (first, second) = (turns.take(), turns.take());
        assert_eq!((first, second), (1, 2));
        assert!(turns.is(first) && !turns.is(second));
        turns.end();
        assert!(!turns.is(first) && turns.is(second));
        turns.end();
        assert!(turns.is(turns.take()));
    }
}
