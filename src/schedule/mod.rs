//! Schedules: rounds of symbolic operations, one schedule per process.
//!
//! A schedule names blocks and neighbors, never a pointer, datatype, count, tag, communicator or
//! request. The same schedule serves gather and alltoall, regular or vector, with any buffers, any
//! number of times; [`Schedule::folded`] derives the one for reduce. A schedule can be verified
//! ([`verify`]), printed, and simulated for thousands of processes inside one.
//!
//! # Grammar
//! A schedule is a sequence of rounds; a round is a sequence of operations in the order `Recv*
//! Send* Copy* Reduce*`. An executor posts the receives and sends of a round, does its copies,
//! completes all of them, does its reductions, and only then begins the next round, if rounds are
//! strict. Otherwise some rounds are under way at a time where `overlap` says that this makes no
//! difference. Every builder keeps, and `verify` checks, two consequences of strict rounds:
//! - no block is read in the round in which a receive or copy writes it, except by the reductions
//!   of that round;
//! - messages between two processes match in order: the n-th send to a process matches the n-th
//!   receive from it in the same round.
//!
//! Blocks: `Input(i)` goes to entry `i` of the target list (in a gather, one block goes to all
//! targets). `Output(j)` comes from entry `j` of the source list (in a folded schedule, `Output(0)`
//! is the result). `Scratch(k)` belongs to the executor.
//!
//! # Packets
//! `Packet(k)` is a message of several blocks, which the schedule lists. A packet that is sent
//! lists input blocks, scratch blocks received in earlier rounds, and packets with higher numbers.
//! A packet that is received lists as many output and scratch blocks as the sender put in. In a
//! schedule with packets, a scratch block holds bytes whose length travels with them. It may itself
//! be a packet for another process, and can be sent any number of times, alone or in packets. A
//! packet is used once: received, sent, or contained in another packet. A process can therefore
//! forward blocks whose number, lengths and receivers it does not know, and combine blocks from
//! several senders. Packets are sent and received whole. A schedule with packets cannot be folded.
//!
//! Blocks of a packet that have the same contents, such as the input blocks of a gather, cost their
//! bytes once if they are adjacent.

#![forbid(unsafe_code)]

mod algorithms;
pub mod assignment;
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
mod sample;
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
pub use sample::Sample;
pub use star::Star;
pub use stencil::Stencil;
pub use table::{ALGORITHMS, Build, Entry, scatter, schedules_on_nodes, world_schedules, world_schedules_on};
