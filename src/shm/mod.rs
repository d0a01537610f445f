//! Shared memory between the processes of a node: the segments, and the protocols by which
//! processes communicate there.
//!
//! [`ring`], [`board`], [`cores`], [`doorbell`], [`peer_memory`], [`prefetch`], [`double_buffer`]
//! and [`streaming`] use no MPI, and are built and tested without one.

pub mod board;
pub mod cores;
pub mod doorbell;
pub mod double_buffer;
#[cfg(feature = "mpi")]
pub mod node;
pub mod peer_memory;
pub mod prefetch;
#[cfg(feature = "mpi")]
pub mod reducer;
pub mod ring;
#[cfg(feature = "mpi")]
pub mod segment;
#[cfg(feature = "mpi")]
pub mod stores;
pub mod streaming;
