//! Utilities for every part of the library.

#![forbid(unsafe_code)]

pub mod backoff;
#[cfg(test)]
pub mod cases;
pub mod cast;
pub mod lock;
pub mod memory;
pub mod process;
pub mod random;
pub mod recall;
pub mod say;
pub mod turns;
pub mod unique;
