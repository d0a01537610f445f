//! Sparse (neighborhood) collective communication on any MPI.
//!
//! ```text
//! C / Fortran
//!     |  raw pointers, MPI handles
//!     v
//! capi        catches panics, checks every argument, calls the communicator's error handler
//!     v
//! collective  `handle`: what hangs on a communicator: private communicator, neighborhoods, schedules
//!             `setup`: what processes tell each other when a neighborhood is set
//!             `request`: collectives that one call starts and another one completes
//!             `fuse`: several fields in one; `verify`: calls that all processes must make alike
//!     v
//! topology -> select -> schedule        pure data, no MPI, no unsafe
//!     v  Schedule: rounds of symbolic operations
//! exec        binds a Schedule to buffers, counts, datatypes; start / test / wait
//!             by messages (`p2p`), shared memory (`shm`), with blocks passed on (`forward`)
//!     v
//! datatype    what lies where in a buffer
//! shm         the memory that processes of a node share, and what they tell each other there
//!     v
//! mpi         the only module that touches mpi_sys; every return code becomes a Result
//! ```
//!
//! `sparse` stands beside `collective`: exchanges in which nobody knows who will send, one protocol
//! in each file of `sparse::protocols`.
//! `progress` keeps what a process must move forward for others, whatever it calls.
//!
//! `observe` counts and traces what they do, where the environment asks for it.
//!
//! Beside them stands `model`: the LogGP cost model and a simulator, which run the schedules of all
//! processes in simulated time. `measure` finds the parameters of a machine. `util` is for all.
//!
//! `environment` is the only way to environment variables and files of parameters; `logging` writes
//! to standard error what `MPIX_NEIGHBOR_LOG` asks for.
//!
//! Without the feature `mpi` only the pure half is built: neighborhoods, schedules, their checks
//! and the model. What needs no MPI of `datatype` and `shm` is tested without one.

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
#[cfg(feature = "mpi")]
pub mod environment;
#[cfg(feature = "mpi")]
mod exec;
#[cfg(feature = "mpi")]
mod logging;
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
