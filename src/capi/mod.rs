//! The C ABI: one file per chapter. Every function catches panics, checks its arguments, and reports through the communicator's error handler.

// names and argument orders are those of the MPI standard
#![allow(non_snake_case, non_camel_case_types, clippy::too_many_arguments)]

mod alltoall;
mod args;
mod boundary;
mod fields;
mod gather;
mod ineighbor;
mod loggp;
mod misc;
mod neighborhood;
mod plan;
mod reduce;
mod request;
mod sparse;

pub use alltoall::*;
pub use fields::*;
pub use gather::*;
pub use ineighbor::*;
pub use loggp::*;
pub use misc::*;
pub use neighborhood::*;
pub use plan::*;
pub use reduce::*;
pub use request::*;
pub use sparse::*;
