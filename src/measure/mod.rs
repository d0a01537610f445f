//! Measurements, of the machine's LogGP parameters and of sparse exchanges, for programs and for the
//! command-line tool.

pub(crate) mod loggp;
pub mod session;
mod sparse;
