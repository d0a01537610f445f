//! Shared memory between the processes of a node: where it comes from, and what processes tell each
//! other in it.
//!
//! [`ring`] and [`double_buffer`] know nothing of MPI, and are built and tested without it.

#[cfg(feature = "mpi")]
pub mod doorbell;
pub mod double_buffer;
#[cfg(feature = "mpi")]
pub mod node;
pub mod ring;
#[cfg(feature = "mpi")]
pub mod segment;
