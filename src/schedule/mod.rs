//! What a schedule is: rounds of symbolic operations of one process.
//!
//! A schedule names blocks and neighbors, never a pointer, datatype, count, tag, communicator or
//! request. The same schedule serves gather and alltoall, regular or vector, with any buffers, any
//! number of times; [`Schedule::folded`] makes the one for reduce. It can be checked ([`verify`]),
//! printed, and run for thousands of processes inside one.
//!
//! # Grammar
//! A schedule is a sequence of rounds; a round is a sequence of operations in the order `Recv*
//! Send* Copy* Reduce*`. An executor posts a round's receives, starts its sends, does its copies,
//! completes all of them, does its reductions, and only then begins the next round. Consequences
//! that every builder keeps and `verify` checks:
//! - no block is read in the round in which a receive or copy writes it, except by that round's
//!   reductions;
//! - messages between two processes meet in the order in which they stand: n-th send to, n-th
//!   receive from, in the same round.
//!
//! Blocks: `Input(i)` is what goes to target slot `i` (for gather the one block that goes to all),
//! `Output(j)` what comes from source slot `j` (for a folded schedule `Output(0)` is the result),
//! `Scratch(k)` belongs to the executor.
//!
//! # Packets
//! `Packet(k)` is a message of several blocks; the schedule lists them. One that is sent lists
//! input blocks, scratch blocks that came in earlier rounds, and packets of higher numbers; one
//! that is received lists output and scratch blocks, as many as were put in. In such schedules a
//! scratch block is bytes of a length that comes with them, and may be a packet for someone else;
//! it can be sent by itself and in packets, any number of times. A packet is received, sent, or in
//! another one, once. So a process passes on blocks whose number, lengths and receivers it does not
//! know, and puts those together that came from several. Packets are sent and received whole. A
//! schedule with packets is not folded.
//!
//! Blocks in a packet that have one content, such as a gather's input blocks, cost their bytes once
//! where they stand one behind the other.

#![forbid(unsafe_code)]

mod algorithms;
mod costs;
mod fold;
mod grammar;
mod input;
#[cfg(any(test, feature = "mpi"))]
pub(crate) mod overlap;
#[cfg(any(test, feature = "mpi"))]
pub(crate) mod packet;
mod part;
#[cfg(test)]
mod properties;
pub mod rounds;
mod scatter;
mod star;
mod stencil;
mod table;
pub mod verify;
#[cfg(test)]
mod world;

pub use algorithms::distributed_coloring::{self, Negotiation};
pub use algorithms::{node_aware, random_rounds};
pub use costs::{Costs, length};
pub use fold::FoldOrder;
pub use grammar::{Algorithm, Block, Op, Schedule};
pub use input::{Input, Operations, Tuning};
pub use part::Part;
pub use rounds::{Rounds, Shares};
pub use star::Star;
pub use stencil::Stencil;
pub use table::{ALGORITHMS, Build, Entry, scatter, schedules_on_nodes, world_schedules, world_schedules_on};
