//! The point-to-point executor: rounds of `MPI_Irecv` and `MPI_Isend` on the private communicator.
//!
//! Each round posts its receives and its sends (`posting` has the order), copies self edges while
//! the messages travel, and ends when all messages are complete. Whole blocks are sent and received
//! in place; `parts` handles parts of blocks. All messages of a call carry one tag, so those
//! between two processes match in the order in which the schedule posts them.
//!
//! Cost beyond MPI's: locating one block per operation of the schedule, and when a call is bound,
//! asking for the size of its datatype, once for equal ones in a row. Nothing is allocated once a
//! schedule and its largest block have been seen. Each block with a count above `INT_MAX` costs one
//! datatype when it is bound.

mod bind;
mod device;
mod liveness;
mod order;
mod overlap;
mod parts;
mod posting;
mod rounds;
mod state;
mod window;

pub use state::P2p;
