//! Datatypes and the buffers that they describe: what lies where in memory.

#[cfg(feature = "mpi")]
pub mod buffers;
pub mod layout;
pub mod typemap;
