//! `LD_PRELOAD=libmpix_neighbor_preload.so`: runs the neighborhood collectives of unmodified
//! programs through this library.
//!
//! ```text
//! program -> MPI_X here -> our state on the communicator?
//!                            no  -> the next MPI_X behind us (another tool's, or the MPI's)
//!                            yes -> MPIX_Neighbor_X on a shadow of the communicator
//! ```
//!
//! - `next` finds the next definition of a function, `guard` passes calls that we make ourselves on
//!   to it, `interpose` defines functions that do both.
//! - `create` watches topology communicators being made and gives them a `state` with a `shadow`,
//!   which `idle` keeps for the next one of the same `shape`; `collective` runs calls on them,
//!   whose arguments `blocks` describes; `attribute` attaches what they need; `errors` calls the
//!   error handlers.
//! - `requests` maps requests that programs hold to ours, `complete` completes and starts them,
//!   `fortran` defines the Fortran names of all these functions.
//! - `calls` runs, times and compares what is taken over, `passed` notes what is not, and why
//!   (`reason`). `counters` holds the numbers, `report` and `ending` print them.
//! - `agree` says what holds on all processes. `settings` reads the variables of this library,
//!   `hints` those of set calls.
//!
//! The library is linked to one MPI: there is one file for each MPI. It exports only names that
//! this MPI, or its Fortran bindings, export too.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]
#![deny(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]
// names and argument orders are those of the MPI standard; MPI_Aint and MPI_Count differ between
// MPIs
#![allow(non_snake_case, clippy::too_many_arguments, clippy::unnecessary_cast)]

mod agree;
mod alltoallv;
mod attribute;
mod blocks;
mod calls;
mod collective;
mod compare;
mod complete;
mod constants;
mod counters;
mod create;
mod ending;
mod errors;
mod finalize;
mod flaws;
// the standard ABI has no Fortran names
#[cfg(any(open_mpi, mpich))]
mod fortran;
mod function;
mod guard;
mod hints;
mod idle;
mod interpose;
mod next;
mod passed;
mod reason;
mod report;
mod requests;
mod schedules;
mod settings;
mod shadow;
mod shape;
mod state;
