//! Datatypes, and the buffers that they describe.
//!
//! `typemap` and `layout` are pure and tested without MPI. `decode` asks MPI for the typemaps of
//! datatypes, `signature` for their signatures, `pack` and `copy` move the bytes of blocks,
//! `check`, `captured` and `remembered` serve arguments.

#[cfg(feature = "mpi")]
pub mod buffers;
#[cfg(feature = "mpi")]
pub mod captured;
#[cfg(feature = "mpi")]
pub mod check;
#[cfg(feature = "mpi")]
pub mod copy;
#[cfg(feature = "mpi")]
pub mod decode;
#[cfg(feature = "mpi")]
pub mod known;
#[cfg(feature = "mpi")]
pub mod large;
pub mod layout;
mod loops;
#[cfg(feature = "mpi")]
pub mod pack;
#[cfg(feature = "mpi")]
pub mod remembered;
#[cfg(feature = "mpi")]
pub mod signature;
pub mod typemap;
