//! Utilities for every part of the library.

pub mod random;
