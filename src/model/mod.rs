//! Communication costs in the LogGP model: the parameters of a machine ([`Loggp`]) and the time
//! that the schedules of all processes take on it ([`simulate()`], [`predict`]).
//!
//! Use it to choose between schedules without running them, to visualize a schedule, and to study
//! more processes than there are processors. Nothing here is measured: two processes that run the
//! same code on the same input get bitwise equal results.

#![forbid(unsafe_code)]

pub mod copies;
pub mod fit;
pub mod generate;
pub mod kept;
pub mod loggp;
pub mod puts;
pub mod sharing;
pub mod simulate;
pub mod sparse;

pub use fit::{Measurement, Parameters};
pub use loggp::{FileError, Loggp, PRESETS};
pub use sharing::Sharing;
pub use simulate::{Options, Run, bytes_of, predict, predict_on, simulate};
pub use sparse::{Load, Network, PROTOCOLS, Protocol, overflow_inbox, predict_exchange, predict_exchange_on};
