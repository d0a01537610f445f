//! Combines blocks with what is in their places, in the caller's buffer.

pub mod accumulation;
pub mod block;
