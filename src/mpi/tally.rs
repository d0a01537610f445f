//! Counters of messages and bytes.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages that have been started, and their bytes; and MPI's own operations, whose messages only
/// MPI could count.
#[derive(Debug, Default)]
pub struct Tally {
    messages: AtomicU64,
    bytes: AtomicU64,
    /// Calls of MPI collectives, and one-sided operations, with the bytes that this process
    /// contributed to each kind.
    operations: [[AtomicU64; 2]; 2],
}

impl Tally {
    /// Adds messages that together carry `bytes` bytes.
    #[cold]
    pub fn add(&self, messages: u64, bytes: u64) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the numbers of messages and bytes.
    pub fn get(&self) -> [u64; 2] {
        [self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed)]
    }

    /// Adds operations: collectives and their bytes, one-sided operations and their bytes.
    #[cold]
    pub fn operate(&self, more: [u64; 4]) {
        for (number, more) in self.operations.iter().flatten().zip(more) {
            number.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Returns the operations, in the order of [`operate`](Tally::operate).
    pub fn operations(&self) -> [u64; 4] {
        let [[a, b], [c, d]] = &self.operations;
        [a, b, c, d].map(|n| n.load(Ordering::Relaxed))
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Tally>>> = const { RefCell::new(None) };
}

/// Counts what this thread does until dropped.
#[derive(Debug)]
pub struct Scope(());

impl Scope {
    /// Begins to count. A thread may have one at a time.
    pub fn enter(tally: &Arc<Tally>) -> Scope {
        CURRENT.set(Some(Arc::clone(tally)));
        Scope(())
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // the thread's locals may be gone
        let _ = CURRENT.try_with(RefCell::take);
    }
}

/// Returns where this thread's operations are counted, if anywhere.
pub fn current() -> Option<Arc<Tally>> {
    // a program may free communicators when the thread's locals are gone
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}
