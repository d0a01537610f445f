//! What a simulation is asked for, and what it gives.

use std::ops::Range;

use crate::topology::neighborhood::Rank;

/// How schedules are run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Of how many rounds the receives are posted; 1: a round begins when the one before is
    /// complete. At least 1.
    pub window: u32,
    /// Whether a process sends or receives at a time, not both.
    pub half_duplex: bool,
    /// Whether [`Run::trace`] is wanted.
    pub trace: bool,
    /// Whether it is a gather, so that all input blocks of a process are one block, which is in a
    /// packet once.
    pub gather: bool,
    /// How long a processor works for a byte that it copies into a packet or out of one, in
    /// microseconds.
    pub copy: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { window: 1, half_duplex: false, trace: false, gather: false, copy: 0.0 }
    }
}

/// What a process did. Times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Process {
    /// When its last operation was complete.
    pub finish: f64,
    /// How long its processor worked.
    pub processor: f64,
    /// How long bytes passed its out-port. Rests of g are not in it.
    pub out_port: f64,
    /// How long bytes passed its in-port.
    pub in_port: f64,
}

impl Process {
    /// How long the processor had nothing to do until the finish.
    pub fn idle_processor(&self) -> f64 {
        self.finish - self.processor
    }

    /// How long no bytes passed the out-port until the finish.
    pub fn idle_out_port(&self) -> f64 {
        self.finish - self.out_port
    }

    /// How long no bytes passed the in-port until the finish.
    pub fn idle_in_port(&self) -> f64 {
        self.finish - self.in_port
    }
}

/// What a step of the critical path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The processor works for a message that it sends.
    SendOverhead,
    /// A message passes the sender's out-port.
    OutPort,
    /// A message passes the target's in-port; where nothing was in its way there, the out-port at
    /// the same time.
    InPort,
    /// A message is on its way.
    Latency,
    /// The port rests before it passes the next message.
    Gap,
    /// The processor works for a message that it receives.
    ReceiveOverhead,
}

/// One step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Where.
    pub process: Rank,
    /// What.
    pub kind: StepKind,
    /// Sender of the message that it is about.
    pub source: Rank,
    /// Its target.
    pub target: Rank,
    /// When it begins, in microseconds.
    pub from: f64,
    /// When it ends, in microseconds: when the next step begins.
    pub until: f64,
}

/// What happened to one message. Times in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// Sender.
    pub source: Rank,
    /// Receiver.
    pub target: Rank,
    /// Number of the round.
    pub round: u32,
    /// Its length.
    pub bytes: u64,
    /// From the beginning of the sender's work until the last byte has left.
    pub send: Range<f64>,
    /// From the arrival of the first byte until the receive is complete.
    pub receive: Range<f64>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// When the last process finished, in microseconds.
    pub total: f64,
    /// What each process did.
    pub processes: Vec<Process>,
    /// What the finish of the last process (of the lowest rank, where several are last) waited for:
    /// from time 0 to `total`, without a hole.
    pub path: Vec<Step>,
    /// All messages by sender, each sender's in its order, if they are wanted.
    pub trace: Option<Vec<Transfer>>,
}
