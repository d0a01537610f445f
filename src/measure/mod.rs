//! Measures what messages cost, in programs and for the command-line tool.

pub(crate) mod loggp;
pub mod session;
