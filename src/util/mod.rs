//! Utilities for every part of the library.

pub mod backoff;
pub mod cast;
pub mod random;
pub mod recall;
