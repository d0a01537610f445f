//! Buffered operations on elements of other processes: put, get, accumulate, fetch-and-op and
//! compare-and-swap, one element or arrays of them, without MPI's one-sided communication.
//!
//! Operations for one process are packed into a batch ([`batch`]), which is sent when it is full.
//! The target applies a batch when it comes, in any call of the library, and answers with what the
//! operations return. An epoch ends with a sparse exchange of the last batches, each of which says
//! how many came before: no process needs to know beforehand who has operations on its elements,
//! and the protocols of sparse exchanges, with their choice, serve here too.
//!
//! Batches of a process are applied in the order in which they were sent, and so are operations
//! within them. A process sends at most [`peer::MOST_UNACKNOWLEDGED`] batches to another one ahead
//! of what that one has applied, and applies what has come to itself while it waits: memory is
//! bounded, and processes that wait for each other go on.
//!
//! A process that has left an epoch may send operations of the next one while others are still in
//! the first. Those are set aside, and applied in the first call after the epoch's end: between the
//! two, a process may use its elements as it likes.
//!
//! Cost: an operation adds its value and 1 to 5 bytes to a batch, a few nanoseconds; a batch is one
//! message. The end of an epoch is one sparse exchange. Source: Barrett, One-Sided Communication
//! for High Performance Computing Applications, 2009, chapters 4 and 5: his message-passing
//! implementation of remote operations, with 40 bytes an operation.
//!
//! The files, each above those it uses:
//!
//! | file | job |
//! | --- | --- |
//! | `create` | makes windows |
//! | `fence` | the end of an epoch, and of a window |
//! | `window` | a window as its process uses it: operations, flush |
//! | `guarded` | lets one thread use a window at a time |
//! | `rings` | messages within a node, through shared memory |
//! | `issue` | takes the caller's operations: into batches, or on its own elements |
//! | `state` | serves other processes: applies, answers, takes what comes back |
//! | `words` | applies operations on words, in loops made for each kind, operator and width |
//! | `peer` | what a process knows of another one |
//! | `operators` | operators by numbers that all processes know |
//! | `elements` | reading, writing and combining elements |
//! | `batch` | operations as bytes |
//! | `runs` | indices that are evenly spaced |
//! | `storage` | the memory of a batch |

pub mod batch;
#[cfg(feature = "mpi")]
mod create;
#[cfg(feature = "mpi")]
mod elements;
#[cfg(feature = "mpi")]
mod fence;
mod guarded;
#[cfg(feature = "mpi")]
mod issue;
#[cfg(feature = "mpi")]
mod operators;
#[cfg(feature = "mpi")]
mod peer;
#[cfg(feature = "mpi")]
mod rings;
mod runs;
#[cfg(feature = "mpi")]
mod state;
mod storage;
#[cfg(feature = "mpi")]
#[expect(clippy::module_inception, reason = "the room's main type")]
mod window;
#[cfg(feature = "mpi")]
mod words;

#[cfg(feature = "mpi")]
pub use create::{Memory, create};
#[cfg(feature = "mpi")]
pub use fence::{fence, free};
#[cfg(feature = "mpi")]
pub use issue::Operations;
#[cfg(feature = "mpi")]
pub use window::SharedWindow;
