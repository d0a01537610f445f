//! Sparse (neighborhood) collective communication on any MPI.
//!
//! ```text
//! C / Fortran
//!     |  raw pointers, MPI handles
//!     v
//! capi      catches panics, checks every argument, calls the communicator's error handler
//!     v
//! request   collectives that one call starts and another one completes; partial completion
//!     v
//! handle    what hangs on a communicator: private communicator, neighborhoods, schedules
//!     v
//! setup     what processes tell each other when a neighborhood is set: the graph, the choice, a negotiation
//!     v
//! neighborhood, graph -> select -> schedule      pure data, no MPI, no unsafe
//!     v  Schedule: rounds of symbolic operations
//! exec      binds a Schedule to buffers, counts, datatypes; start / test / wait
//!     v
//! mpi       the only module that touches mpi_sys; every return code becomes a Result
//! ```
//!
//! `observe` counts and traces what they do, where the environment asks for it.
//!
//! Beside them stands `model`: the LogGP cost model and a simulator, which run the schedules of all processes in simulated time.
//!
//! `environment` is the only way to environment variables and files of parameters; `logging` writes
//! to standard error what `MPIX_NEIGHBOR_LOG` asks for.
//!
//! Without the feature `mpi` only the pure half is built: neighborhoods, schedules, their checks and the model.

#![deny(missing_docs, unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

// pure half
pub mod cartesian;
pub mod error;
pub mod generate;
pub mod graph;
pub mod hints;
pub mod locality;
pub mod model;
pub mod neighborhood;
pub mod random;
pub mod schedule;
pub mod select;
#[cfg(any(test, feature = "mpi"))]
mod typemap;

// MPI half
#[cfg(feature = "mpi")]
pub mod capi;
#[cfg(feature = "mpi")]
pub mod environment;
#[cfg(any(test, feature = "mpi"))]
mod exec;
#[cfg(feature = "mpi")]
mod handle;
#[cfg(feature = "mpi")]
pub mod launch;
#[cfg(feature = "mpi")]
mod logging;
#[cfg(feature = "mpi")]
mod measure;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod observe;
#[cfg(feature = "mpi")]
mod outstanding;
#[cfg(feature = "mpi")]
mod request;
#[cfg(feature = "mpi")]
mod setup;
#[cfg(feature = "mpi")]
mod sparse;
// it needs no MPI, and its tests none either
#[cfg(all(test, not(feature = "mpi")))]
#[path = "sparse/halves.rs"]
mod halves;
