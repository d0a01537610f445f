//! Options and results of a simulation.

use std::ops::Range;

use crate::topology::neighborhood::Rank;

/// Options of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Number of rounds whose receives are posted at a time, at least 1; with 1, a round begins
    /// when the one before is complete.
    pub window: u32,
    /// True if a process can either send or receive at a time, but not both.
    pub half_duplex: bool,
    /// True to record [`Run::trace`].
    pub trace: bool,
    /// True for a gather: all input blocks of a process are the same block, which occurs once in a
    /// packet.
    pub gather: bool,
    /// Processor time per byte copied into or out of a packet, in microseconds.
    pub copy: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { window: 1, half_duplex: false, trace: false, gather: false, copy: 0.0 }
    }
}

/// Times of one message, in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// Sender.
    pub source: Rank,
    /// Receiver.
    pub target: Rank,
    /// Number of the round.
    pub round: u32,
    /// Length of the message.
    pub bytes: u64,
    /// From the beginning of the sender's work until the last byte has left.
    pub send: Range<f64>,
    /// From the arrival of the first byte until the receive is complete.
    pub receive: Range<f64>,
}

/// Results of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Time at which the last process finished, in microseconds.
    pub total: f64,
    /// Time at which each process completed its last operation, in microseconds.
    pub finish: Vec<f64>,
    /// All messages by sender, each sender's in its order, if requested.
    pub trace: Option<Vec<Transfer>>,
}
