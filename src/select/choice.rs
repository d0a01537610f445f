//! A choice of a schedule, and its reason.

#![forbid(unsafe_code)]

use std::fmt;

use crate::schedule::Algorithm;

/// Why an algorithm was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// A hint asks for it.
    Asked,
    /// A hint asks for `edge_coloring`, but the graph is too large to gather; with its number of
    /// edges.
    Negotiated(u64),
    /// The sizes of messages are not known.
    Unweighted,
    /// No message is long enough to wait for its receiver; with the eager limit in bytes.
    Eager(u64),
    /// All processes share a node, whose memory the parameters of the machine do not describe.
    OneNode,
    /// The graph is too large to examine, for how long a call takes; with its number of edges.
    Large(u64),
    /// The parameters of the machine are not known.
    Unknown,
    /// The model: predicted time of the choice and of `direct`, in microseconds.
    Predicted(f64, f64),
    /// Timing of the first calls: time of the choice and of `direct` on the slowest process, in
    /// microseconds.
    Measured(f64, f64),
    /// Timing of trial calls by a set call: as for `Measured`.
    Tried(f64, f64),
}

/// A schedule that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// True if a process ends each round before it begins the next one. False: as the window says.
    pub strict: bool,
}

impl From<Algorithm> for Candidate {
    fn from(algorithm: Algorithm) -> Candidate {
        Candidate { algorithm, strict: false }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.algorithm.name(), if self.strict { " in strict rounds" } else { "" })
    }
}

/// A choice and its reason.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The chosen schedule.
    pub candidate: Candidate,
    /// The reason.
    pub why: Reason,
}

impl Choice {
    /// The choice of an algorithm.
    pub fn new(candidate: impl Into<Candidate>, why: Reason) -> Choice {
        Choice { candidate: candidate.into(), why }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.candidate.algorithm
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Asked => write!(f, "the hint mpix_schedule asks for it"),
            Reason::Negotiated(edges) => {
                write!(f, "mpix_schedule asks for edge_coloring, and the graph of {edges} edges is above mpix_graph_limit")
            }
            Reason::Unweighted => write!(f, "no weights were given, so all messages are sent at once"),
            Reason::Eager(bytes) => {
                write!(f, "by the model no message waits for its receiver, as all have at most {bytes} bytes")
            }
            Reason::OneNode => {
                write!(f, "all processes share a node, where messages meet in no network (mpix_loggp can say otherwise)")
            }
            Reason::Large(edges) => {
                write!(f, "to compare schedules for the {edges} edges of all processes takes longer than it could gain")
            }
            Reason::Unknown => {
                write!(f, "no parameters of this machine are known (mpix_loggp can give them, or have them measured)")
            }
            Reason::Predicted(time, direct) => write!(f, "by the model {time:.2} us, against {direct:.2} us for direct"),
            Reason::Tried(time, direct) => {
                write!(f, "trial calls of a set call took {time:.2} us with it, {direct:.2} us with direct")
            }
            Reason::Measured(time, direct) => write!(f, "the first calls took {time:.2} us with it, {direct:.2} us with direct"),
        }
    }
}
