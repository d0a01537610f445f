//! Counters of messages, for those who ask what a program sends.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages that have been started, and their bytes; operations of MPI's whose messages nobody else can count.
#[derive(Debug, Default)]
pub struct Tally {
    messages: AtomicU64,
    bytes: AtomicU64,
    /// Calls of MPI collectives, and one-sided operations; the bytes that this process gave to each kind.
    operations: [[AtomicU64; 2]; 2],
}

impl Tally {
    /// Adds messages that carry `bytes` bytes together.
    #[cold]
    pub fn add(&self, messages: u64, bytes: u64) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Messages, and bytes.
    pub fn get(&self) -> [u64; 2] {
        [self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed)]
    }

    /// Adds operations: collectives, their bytes, one-sided operations, and theirs.
    #[cold]
    pub fn operate(&self, more: [u64; 4]) {
        for (number, more) in self.operations.iter().flatten().zip(more) {
            number.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Operations, as `operate` adds them.
    pub fn operations(&self) -> [u64; 4] {
        let [[a, b], [c, d]] = &self.operations;
        [a, b, c, d].map(|n| n.load(Ordering::Relaxed))
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Tally>>> = const { RefCell::new(None) };
}

/// Counts what the thread does until this is dropped.
#[derive(Debug)]
pub struct Scope(());

impl Scope {
    /// Begins to count. One at a time in a thread.
    pub fn enter(tally: &Arc<Tally>) -> Scope {
        CURRENT.set(Some(Arc::clone(tally)));
        Scope(())
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// Where what the thread does is counted, if anywhere.
pub fn current() -> Option<Arc<Tally>> {
    CURRENT.with_borrow(Option::clone)
}
