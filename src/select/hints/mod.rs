//! Hints: info keys and environment variables, as typed values.
//!
//! An environment variable overrides the info key. Unknown keys are ignored ([`unknown`] writes the
//! log message about them); an invalid value is an error. Both are read when a neighborhood is set,
//! and never later, but for the hints that a plan has of its own.

#![forbid(unsafe_code)]

mod machine;
mod names;
mod neighborhood;
pub mod origins;
mod sparse;
#[cfg(test)]
mod tests;
pub mod unknown;
mod value;
mod window;

pub use machine::{Measuring, kept_folder, loggp_path, site_loggp};
pub use neighborhood::{
    Decider, Hints, LEAST_SHARED, Learned, MOST_EDGES, ScheduleHint, SingleCopy, Synchronization, Transport, fuse, matches_alone,
};
pub use sparse::SparseHints;
pub use value::Learn;
pub use window::WindowHints;
