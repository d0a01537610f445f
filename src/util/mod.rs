//! Utilities for every part of the library.

pub mod backoff;
#[cfg(test)]
pub mod cases;
pub mod cast;
pub mod random;
pub mod recall;
