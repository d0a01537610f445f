//! How executors wait for MPI's messages.

/// How to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Polls MPI without a rest, as MPI waits by itself: for processes with a core each, or an MPI
    /// whose calls yield the core.
    Block,
    /// Polls MPI, and yields the core after a few polls without progress (`sched_yield`, a system
    /// call): for oversubscribed nodes.
    Yield,
}
