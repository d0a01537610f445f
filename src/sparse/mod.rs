//! Dynamic sparse data exchange: each process knows whom it sends to, but nobody knows who will
//! send to it.
//!
//! Each file of [`protocols`] implements one protocol: it discovers the incoming messages and
//! collects them in [`Arrivals`](messages::Arrivals). All protocols are state machines that never
//! block, so that blocking, nonblocking and streaming calls share them. Messages travel on a
//! private communicator, straight from the sender's datatype, and are received as packed bytes;
//! messages to oneself are copied.
//!
//! No barrier separates the exchanges of a communicator: a process that has finished one may start
//! the next while others are still busy with the first. Whatever the protocol, no process finishes
//! exchange n + 1 before all have started it, so that two alternating tags keep the messages apart.
//!
//! Every exchange also computes the largest number of messages and of bytes that any process sends
//! ([`stats::Stats`]). All processes then know these values and choose the next protocol by them.
//!
//! Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data
//! Exchange, 2010.
//!
//! The files, each above those it uses:
//!
//! | file | job |
//! | --- | --- |
//! | `plan` | repeats an exchange whose targets and sizes stay the same |
//! | `exchange` | runs one exchange: start, progress, wait |
//! | `context` | what a communicator keeps for exchanges; chooses the protocol |
//! | `dispatch` | puts all protocols behind one type |
//! | `protocols/*` | one protocol each |
//! | `transport` | private communicator, tags, sending and finding messages |
//! | `receive_ring` | receives that stay posted, for protocols that need no probes |
//! | `recursive_halving`, `alltoall` | communication patterns that protocols use |
//! | `messages`, `stats` | outgoing messages, arrived messages, statistics |

mod alltoall;
mod context;
mod dispatch;
mod exchange;
pub mod messages;
pub mod plan;
mod protocols;
mod receive_ring;
mod recursive_halving;
mod stats;
mod transport;

pub use context::{ExchangeContext, Form, SharedContext, context, set_machine};
pub use exchange::Exchange;
