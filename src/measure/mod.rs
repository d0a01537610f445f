//! Measurements for programs and for the command-line tool: sessions, and sparse exchanges.

pub mod session;
mod sparse;
