//! Sparse (neighborhood) collective communication on top of any MPI.
//!
//! ```text
//! C / Fortran
//!     |  raw pointers, MPI handles
//!     v
//! capi        the C functions: catches panics, checks every argument, calls error handlers
//!             `collectives`: neighborhood collectives, generated; `sparse`: sparse exchanges
//!     v
//! collective  neighborhoods on communicators, and the calls on them
//!             `set` agrees on a neighborhood and chooses schedules; `handle` keeps it and runs
//!             blocking calls; `request` starts and completes all others
//!             `fuse` joins several fields into one; `verify` compares the arguments of both ends
//!     v
//! topology -> select -> schedule        pure data, no MPI, no unsafe
//!     |  Schedule: rounds of symbolic operations; each algorithm is a file in `algorithms`
//!     v
//! exec        binds a Schedule to buffers, counts and datatypes; start / test / wait
//!             `p2p`: by messages, `shm`: through shared memory, `rma`: by puts into windows
//!             `forward`: passes blocks on
//!             `folding`: combines blocks, for `shm` and `rma`; `accumulate`: combines what comes
//!             with what is in its place, for `folding`, and where one of the others delivers it
//!     v
//! datatype    the layout of data in buffers
//! shm         memory shared by the processes of a node, and signals through it
//!     v
//! mpi         the only module that touches mpi_sys; turns every return code into a Result
//! ```
//!
//! Next to `collective` stands `sparse`: exchanges whose receivers do not know their senders, with
//! one file for each of its `protocols`. Above it, `window` has operations on elements of others.
//! `progress` lists the active requests that every waiting call must advance. `observe` counts and
//! traces messages if the environment asks for it.
//!
//! `schedule` defines what a schedule is and verifies it; each file or folder of
//! `schedule::algorithms` builds schedules by one algorithm: `random_rounds`, `edge_coloring` and
//! `distributed_coloring` in several files. `select` chooses among them, guided by its `hints`.
//!
//! `model` is the LogGP cost model, with the costs of sparse exchanges (`model::sparse`) and a
//! simulator (`simulate`), which runs the schedules of all processes in simulated time. `machine`
//! says where the parameters of the machine come from, and measures them; `measure` does so for
//! programs and the tool. `error` has all errors, and their texts. `util` serves everybody: random
//! numbers, conversions of integers, how to wait, locks, lines of caches, and whose turn it is.
//!
//! `environment` is the only access to environment variables and parameter files. `logging` writes
//! to standard error what `MPIX_NEIGHBOR_LOG` asks for.
//!
//! Without the feature `mpi`, only the pure half is built: neighborhoods, schedules, their checks
//! and the model, and with the feature `tool` also `environment`. The parts of `datatype` and `shm`
//! that do not need MPI are tested without it.

#![deny(missing_docs, unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

// pure half
pub mod error;
pub mod model;
pub mod schedule;
pub mod select;
pub mod topology;
pub mod util;

// MPI half
#[cfg(feature = "mpi")]
pub mod capi;
#[cfg(feature = "mpi")]
mod collective;
#[cfg(any(test, feature = "mpi"))]
mod datatype;
#[cfg(any(feature = "mpi", feature = "tool"))]
pub mod environment;
#[cfg(feature = "mpi")]
mod exec;
#[cfg(feature = "mpi")]
mod logging;
#[cfg(feature = "mpi")]
mod machine;
#[cfg(feature = "mpi")]
pub mod measure;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod observe;
#[cfg(feature = "mpi")]
mod progress;
#[cfg(any(test, feature = "mpi"))]
mod shm;
#[cfg(feature = "mpi")]
mod sparse;
#[cfg(any(test, feature = "mpi"))]
mod window;
