//! Predicted times of the protocols for dynamic sparse data exchange, in the LogGP model.
//!
//! [`predict_exchange`] counts the rounds, messages and bytes of a protocol in
//! `src/sparse/protocols` on the slowest process. [`paper`] gives the bounds derived in the paper,
//! which are lower (the paper assumes optimal algorithms, and messages without length). Source:
//! Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange,
//! sections 2 to 4; for the crystal router, Fox and others, Solving Problems on Concurrent
//! Processors, chapter 22.
//!
//! # The two phases of all protocols
//! `t(b)` is (b - 1) G, the time in which b bytes pass a port. A process has one processor, which
//! works o for each message that it sends or receives, and two ports, each of which rests g after a
//! message.
//!
//! **An exchange**: every process sends k messages of b bytes and receives k, all at once. For each
//! of these, m messages travel in total: the one with the data, and c = m - 1 control messages of
//! 16 bytes. They form `legs` sequential steps:
//!
//! | how a message travels | m | legs |
//! | --- | ---: | ---: |
//! | eager: alone | 1 | 1 |
//! | acknowledged: the message, and an acknowledgement | 2 | 2 |
//! | rendezvous: a request, a reply that the receive is posted, the message | 3 | 3 |
//! | announced: the same, with the length sent ahead of the request | 4 | 3 |
//!
//! An exchange is complete when all of the following are:
//! 1. The processor has done its work: `k w` with `w = (2 m + probes) o`, if it never has to wait.
//! 2. Its last work item has arrived, from a process that worked as long: `k w - k o + L + o`.
//! 3. Everything that leaves a process has passed its port, and the last message has arrived: `L +
//!    2 o + k T + (m k - 1) g` where `T = t(b) + c t(16)`.
//! 4. The last message has completed all its legs: `legs (L + 2 o) + T + probes o + (m - legs)
//!    d(16) + (k - 1) d`. Messages leave a process at intervals of `d(b) = max(o, g + t(b))`; `d`
//!    is `d(b)`, or `(m - legs + 1) d(16)` if that is larger and c > 0.
//!
//! The predicted time is the largest of the four. For m = 1 without probes it is `max(2 k o, L + 2
//! o + t(b) + (k - 1) d(b))`, exactly the time of the simulator ([`simulate()`](super::simulate()))
//! if every process receives one message at a time. The prediction never exceeds the simulator's
//! time. With random targets some ports are busy when a message arrives: among 128 processes the
//! simulated time is up to 1.8 times the prediction, most for few long messages, and up to 1.5
//! times for NBX with 6 messages of 512 bytes, barrier included.
//!
//! **A round**: every process sends a message to one process and waits for a message from another.
//! It takes `max(L + 2 o, g) + t(b)`; above `eager` bytes it is an exchange by rendezvous.
//!
//! Everything else that a protocol does is free of cost here: copies, scanning P counters, calls of
//! the MPI library.

pub mod paper;
mod phases;
mod predict;
mod protocol;
#[cfg(test)]
mod tests;

pub use predict::{overflow_inbox, predict_exchange, predict_exchange_on};
pub use protocol::{CONTROL_BYTES, Entry, INBOX_LONG, INBOX_ROOM, Load, Network, POSTED_BYTES, PROTOCOLS, Protocol, rounds};
