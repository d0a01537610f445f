//! Utilities for every part of the library.

pub mod cast;
pub mod random;
