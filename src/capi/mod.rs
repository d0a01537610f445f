//! The C ABI. Every function catches panics, checks its arguments, and reports errors through the
//! communicator's error handler.
//!
//! `collectives` and `window_operations` are generated from the table in bindings/functions.toml,
//! which also has the documentation of all functions. The sources repeat their summaries alone.

// names and argument orders are those of the MPI standard
#![allow(non_snake_case, non_camel_case_types, clippy::too_many_arguments)]

mod args;
mod boundary;
mod collectives;
mod dispatch;
mod hints;
mod loggp;
mod misc;
mod neighborhood;
pub mod preload;
mod request;
mod set_targets;
mod side;
mod sparse;
mod user;
mod window;
mod window_operations;

pub use collectives::*;
pub use loggp::*;
pub use misc::*;
pub use neighborhood::*;
pub use request::*;
pub use sparse::*;
pub use window::*;
pub use window_operations::*;
