//! The memory of the machine.

/// Bytes of a cache line. What different cores write is kept in different ones, and data is aligned
/// to them.
pub const LINE: usize = 64;
