//! `LD_PRELOAD=libmpix_neighbor_preload.so`: the neighborhood collectives of programs that do not
//! know of this library run by it.
//!
//! ```text
//! program -> MPI_X here -> our state on the communicator?
//!                            no  -> the next MPI_X behind us (another tool's, or the MPI's)
//!                            yes -> MPIX_Neighbor_X on a shadow of the communicator
//! ```
//!
//! - `next` finds what lies behind us, `guard` lets calls that we make ourselves through to it,
//!   `interpose` defines functions that do both.
//! - `create` sees topology communicators being made and hangs a `state` on them, `collective` runs
//!   calls on them, `blocks` says what their arguments describe, `errors` gives failures to those
//!   who must know.
//! - `settings` reads the environment.
//!
//! The library is linked to one MPI: one file for each MPI. Nothing is exported but names that this
//! MPI, or its Fortran part, exports too.

#![deny(missing_docs, unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]
// names and argument orders are those of the MPI standard; MPI_Aint and MPI_Count are other integer
// types in each MPI
#![allow(non_snake_case, clippy::too_many_arguments, clippy::unnecessary_cast)]

mod alltoallv;
mod blocks;
mod calls;
mod collective;
mod compare;
mod complete;
mod counters;
mod create;
mod ending;
mod errors;
mod finalize;
mod flaws;
mod fortran;
mod function;
mod guard;
mod interpose;
mod next;
mod passed;
mod reason;
mod report;
mod requests;
mod schedules;
mod settings;
mod state;
