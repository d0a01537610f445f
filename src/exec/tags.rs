//! Tags of collectives on the private communicator.
//!
//! Messages of two processes meet in the order in which they are posted. Where all messages of a collective are posted when it starts, one tag serves all
//! collectives of an operation, as all processes start them in one order. Where later rounds are posted later, those of two collectives that are under
//! way at a time may be posted in either order: each collective has a tag of its own, by its number. Neighbors count alike.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Tags from here on go by number. Those below: 1 to 3 of operations, 64 of negotiations, 101 and 102 of verification.
const FIRST: u32 = 128;

/// So many collectives of an operation have different tags: the least `MPI_TAG_UB` that the standard allows is 32767, for three operations.
pub const NUMBERS: u32 = 10_000;

/// Numbers by which a new neighborhood's tags are ahead of the one before, of which requests may still be under way.
const STEP: u32 = 1_000;

/// The tags of one operation on one communicator.
pub struct Tags {
    operation: u32,
    next: AtomicU32,
    /// Neighborhoods so far.
    neighborhoods: AtomicU32,
    /// Tags of requests that are under way and have rounds to post, and how many there are.
    held: Mutex<Vec<i32>>,
    holding: AtomicUsize,
    /// Turns that have been given out, and those whose collective has come to its end.
    turns: AtomicU32,
    ended: AtomicU32,
}

impl Tags {
    /// For operation number `operation` of three.
    pub fn new(operation: u32) -> Tags {
        Tags {
            operation,
            next: AtomicU32::new(0),
            neighborhoods: AtomicU32::new(0),
            held: Mutex::new(Vec::new()),
            holding: AtomicUsize::new(0),
            turns: AtomicU32::new(0),
            ended: AtomicU32::new(0),
        }
    }

    /// The turn of the next verified collective.
    pub fn take_turn(&self) -> u32 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether all before have come to their end.
    pub fn is_turn(&self, turn: u32) -> bool {
        self.ended.load(Ordering::Acquire) == turn
    }

    /// Ends the turn that it is.
    pub fn end_turn(&self) {
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// Begins anew for another neighborhood: processes that were neighbors before need not have counted alike.
    pub fn restart(&self) {
        let before = self.neighborhoods.fetch_add(1, Ordering::Relaxed);
        self.next.store(before.wrapping_add(1).wrapping_mul(STEP) % NUMBERS, Ordering::Relaxed);
    }

    /// The tag of the next collective. `one_round`: on all processes all of its messages are posted when it starts.
    ///
    /// # Errors
    /// A request is still under way after which `NUMBERS` collectives have started.
    #[inline]
    pub fn next(&self, one_round: bool) -> Result<i32> {
        if one_round {
            return Ok(1 + self.operation as i32);
        }
        // collectives on a communicator are started one after the other
        let number = self.next.load(Ordering::Relaxed);
        let tag = (FIRST + 3 * number + self.operation) as i32;
        if self.holding.load(Ordering::Relaxed) > 0 && self.lock().contains(&tag) {
            return Err(Error::TooManyStarted { limit: NUMBERS }.into());
        }
        self.next.store((number + 1) % NUMBERS, Ordering::Relaxed);
        Ok(tag)
    }

    /// Notes that rounds with this tag are still to be posted.
    pub fn hold(&self, tag: i32) {
        let mut held = self.lock();
        held.push(tag);
        self.holding.store(held.len(), Ordering::Relaxed);
    }

    /// They are posted.
    pub fn release(&self, tag: i32) {
        let mut held = self.lock();
        held.retain(|&t| t != tag);
        self.holding.store(held.len(), Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<i32>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_differ_as_long_as_they_must() {
        let all = [Tags::new(0), Tags::new(1), Tags::new(2)];
        let mut seen = std::collections::HashSet::new();
        for tags in &all {
            seen.insert(tags.next(true).unwrap());
            for _ in 0..NUMBERS {
                let tag = tags.next(false).unwrap();
                assert!(seen.insert(tag) && tag <= 32767 && tag >= FIRST as i32);
            }
        }
        assert_eq!(seen.len(), 3 * NUMBERS as usize + 3);
        all[1].restart();
        let first = all[1].next(false).unwrap();
        all[1].hold(first);
        for _ in 1..NUMBERS {
            assert_ne!(all[1].next(false), Ok(first));
        }
        assert_eq!(*all[1].next(false).unwrap_err(), Error::TooManyStarted { limit: NUMBERS });
        all[1].release(first);
        assert_eq!(all[1].next(false), Ok(first));
    }
}
