//! How executors wait for MPI's messages.

/// How to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Blocks inside MPI: for processes with a core each, or an MPI whose wait yields the core.
    Block,
    /// Polls MPI, and yields the core after a few polls without progress (`sched_yield`, a system
    /// call): for oversubscribed nodes.
    Yield,
}
