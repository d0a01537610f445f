//! Predicted times of the protocols for dynamic sparse data exchange, in the LogGP model.
//!
//! [`predict_exchange`] counts what the protocol of that name in `src/sparse/protocols` does: its
//! rounds, messages and bytes on the slowest process. [`paper`] has the bounds that the paper
//! derives, which count less (it assumes the best algorithms, and messages without length). Source:
//! Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange,
//! sections 2 to 4; the crystal router is Fox and others, Solving Problems on Concurrent
//! Processors, chapter 22.
//!
//! # The two parts that all protocols are made of
//! `t(b)` is (b - 1) G, the time in which b bytes pass a port. A process has one processor, which
//! works o for each message that it sends or receives, and two ports, each of which rests g behind
//! a message.
//!
//! **An exchange**: every process sends k messages of b bytes and receives k, at once. For each of
//! them m messages travel in all, c = m - 1 of which control the one with the bytes and have 16
//! bytes, in `legs` that wait for one another:
//!
//! | how a message travels | m | legs |
//! | --- | ---: | ---: |
//! | eager: alone | 1 | 1 |
//! | acknowledged: the message, and back that it is received | 2 | 2 |
//! | rendezvous: a request, back that the receive is posted, the message | 3 | 3 |
//! | announced: the same, with the length sent ahead of the request | 4 | 3 |
//!
//! An exchange is complete when all of these are:
//! 1. The processor has worked: `k w` with `w = (2 m + probes) o`, if it never has to wait.
//! 2. What it has to do last has arrived, from a process that worked as long: `k w - k o + L + o`.
//! 3. All that leaves a process has passed its port, and the last of it arrived: `L + 2 o + k T +
//!    (m k - 1) g` where `T = t(b) + c t(16)`.
//! 4. The last message has made all its legs: `legs (L + 2 o) + T + probes o + (m - legs) d(16) +
//!    (k - 1) d`. Messages that leave a process begin `d(b) = max(o, g + t(b))` apart; `d` is
//!    `d(b)`, or `(m - legs + 1) d(16)` if that is more and c > 0.
//!
//! The time is the largest of the four. For m = 1 without probes that is `max(2 k o, L + 2 o + t(b)
//! + (k - 1) d(b))`, exactly the simulator's time ([`simulate()`](super::simulate())) where at each
//! moment every process gets one message; the four are never more than its time. Where targets are
//! random, some ports are busy when a message comes: among 128 processes the simulator needs up to
//! 1.8 times as long, most for few long messages. NBX with 6 messages of 512 bytes, barrier
//! included: up to 1.5 times.
//!
//! **A round**: every process sends a message to one process and waits for one from another. It
//! takes `max(L + 2 o, g) + t(b)`; above `eager` bytes it is an exchange by rendezvous.
//!
//! Everything else that a protocol does costs nothing here: copies, looking through P counters,
//! requests to the MPI library.

pub mod paper;
mod phases;
mod predict;
mod protocol;
#[cfg(test)]
mod tests;

pub use predict::{best, predict_exchange};
pub use protocol::{CONTROL_BYTES, Entry, INBOX_LONG, INBOX_ROOM, Load, POSTED_BYTES, PROTOCOLS, Protocol, rounds};
