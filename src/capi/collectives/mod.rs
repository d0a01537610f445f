//! The neighborhood collectives, blocking, nonblocking and persistent.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

mod accumulate;
mod alltoall;
mod fields;
mod gather;
mod reduce;

pub use accumulate::*;
pub use alltoall::*;
pub use fields::*;
pub use gather::*;
pub use reduce::*;
