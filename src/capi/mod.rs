//! The C ABI: one file per chapter. Every function catches panics, checks its arguments, and reports through the communicator's error handler.

// names and argument orders are those of the MPI standard
#![allow(non_snake_case, non_camel_case_types, clippy::too_many_arguments)]

mod args;
mod boundary;
mod collectives;
mod dispatch;
mod loggp;
mod misc;
mod neighborhood;
mod request;
mod sparse;

pub use collectives::*;
pub use loggp::*;
pub use misc::*;
pub use neighborhood::*;
pub use request::*;
pub use sparse::*;
