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

/// Times of one process, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Process {
    /// Completion of its last operation.
    pub finish: f64,
    /// Time for which its processor worked.
    pub processor: f64,
    /// Time for which bytes passed its out-port, without the rests of g.
    pub out_port: f64,
    /// Time for which bytes passed its in-port.
    pub in_port: f64,
}

/// Kind of a step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The processor works for a message that it sends.
    SendOverhead,
    /// A message passes the sender's out-port.
    OutPort,
    /// A message passes the target's in-port, and at the same time the out-port if nothing delayed
    /// it.
    InPort,
    /// A message is in the network.
    Latency,
    /// The port rests before it passes the next message.
    Gap,
    /// The processor works for a message that it receives.
    ReceiveOverhead,
}

/// One step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The process.
    pub process: Rank,
    /// The kind of step.
    pub kind: StepKind,
    /// Sender of the message.
    pub source: Rank,
    /// Target of the message.
    pub target: Rank,
    /// Begin, in microseconds.
    pub from: f64,
    /// End, in microseconds; the next step begins then.
    pub until: f64,
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
    /// Times of each process.
    pub processes: Vec<Process>,
    /// The critical path of the last process to finish (the lowest rank in a tie), from time 0 to
    /// `total` without gaps.
    pub path: Vec<Step>,
    /// All messages by sender, each sender's in its order, if requested.
    pub trace: Option<Vec<Transfer>>,
}
