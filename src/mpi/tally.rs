//! Counters of messages and bytes.

use std::sync::atomic::{AtomicU64, Ordering};

/// Messages that have been started, and their bytes.
#[derive(Debug, Default)]
pub struct Tally {
    messages: AtomicU64,
    bytes: AtomicU64,
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
}
