//! Neighborhood collectives: neighborhoods set on communicators, calls on them, and requests.
//!
//! `handle` keeps what belongs to a communicator and runs calls on it; `set` makes it. Below them,
//! `own` is the library's side of a communicator, which another one can have later;
//! `executors` makes and lends what runs a schedule, `autotune` picks the fastest of several
//! schedules, `transport` says what carries blocks between nodes, and `describe` writes the text
//! for people. `request` starts and completes calls, which may join several fields into one message
//! (`fuse`) or compare their arguments first (`verify`).

use std::sync::Arc;

use crate::exec::combine::Combine;
use crate::schedule::{FoldOrder, Schedule};
use crate::select::Choice;

pub mod autotune;
pub mod describe;
pub mod executors;
pub mod fuse;
pub mod handle;
pub mod own;
pub mod request;
pub mod runner;
pub mod set;
pub mod tags;
pub mod transport;
pub mod verify;

/// The collective operations that a neighborhood can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `MPIX_Neighbor_gather`, `gatherv`
    Gather,
    /// `MPIX_Neighbor_alltoall`, `alltoallv`, `alltoallw`
    Alltoall,
    /// `MPIX_Neighbor_reduce`, `reducev`
    Reduce,
    /// `MPIX_Neighbor_accumulate`, `accumulatev`, `accumulatew`
    Accumulate,
}

/// Number of operations.
pub const OPERATIONS: usize = Operation::ALL.len();

impl Operation {
    /// All operations, in the order of their bits.
    pub const ALL: [Operation; 4] = [Operation::Gather, Operation::Alltoall, Operation::Reduce, Operation::Accumulate];

    /// Its bit in a set of operations.
    pub fn bit(self) -> i32 {
        1 << self as i32
    }

    /// The operations of a set of bits, in their order.
    pub fn of(bits: i32) -> impl Iterator<Item = Operation> {
        Operation::ALL.into_iter().filter(move |operation| bits & operation.bit() != 0)
    }

    /// How it combines the blocks received, which are in the order of the sources.
    pub fn combines(self) -> Option<Combine> {
        match self {
            Operation::Gather | Operation::Alltoall => None,
            Operation::Reduce => Some(Combine::Reduce(FoldOrder::Source)),
            Operation::Accumulate => Some(Combine::Accumulate(FoldOrder::Source)),
        }
    }

    /// One lowercase word for it.
    pub fn word(self) -> &'static str {
        ["gather", "alltoall", "reduce", "accumulate"][self as usize]
    }

    /// Name of its C constant.
    pub fn name(self) -> &'static str {
        ["MPIX_NEIGHBOR_GATHER", "MPIX_NEIGHBOR_ALLTOALL", "MPIX_NEIGHBOR_REDUCE", "MPIX_NEIGHBOR_ACCUMULATE"][self as usize]
    }
}

/// The collectives as verification messages call them, by operation.
pub const COLLECTIVES: [&str; OPERATIONS] = ["a gather", "an alltoall", "a reduce", "an accumulate"];

/// The use that an executor is made for.
#[derive(Clone, Copy)]
pub struct Purpose {
    /// How it combines blocks; `None` if it places each where it belongs.
    pub combine: Option<Combine>,
    /// True if it serves requests rather than blocking calls.
    pub request: bool,
    /// Number of fields that it exchanges together over shared memory.
    pub fields: usize,
    /// True if its messages may go through shared memory.
    pub shares: bool,
}

/// A schedule that was selected for a neighborhood.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The algorithm, and why it was chosen.
    pub choice: Choice,
    /// This process's schedule, before folding.
    pub schedule: Arc<Schedule>,
}
