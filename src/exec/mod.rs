//! Executors: each is made for one [`crate::schedule::Schedule`], binds it to buffers, counts and datatypes, and runs it.

#[cfg(feature = "mpi")]
pub mod buffers;
#[cfg(feature = "mpi")]
pub mod check;
#[cfg(feature = "mpi")]
mod copy;
mod overlap;
#[cfg(feature = "mpi")]
pub mod p2p;
#[cfg(feature = "mpi")]
mod parts;
#[cfg(test)]
pub mod world;

#[cfg(feature = "mpi")]
use crate::error::Result;

/// Runs a schedule over one transport, one collective at a time, any number of times.
#[cfg(feature = "mpi")]
pub trait Executor {
    /// Finds out for each operation of the schedule which bytes it moves, and checks all arguments. Nothing is sent or written. Allocates
    /// only when a block is larger than any before.
    ///
    /// # Safety
    /// The buffers must be what the C prototypes ask for, and stay so until the collective is complete.
    unsafe fn bind(&mut self, buffers: &buffers::Buffers) -> Result<()>;

    /// Starts what is bound.
    fn start(&mut self) -> Result<()>;

    /// Does what can be done without waiting. Whether what was started has come to its end, or nothing was.
    fn test(&mut self) -> Result<bool>;

    /// Runs what is started to its end.
    fn wait(&mut self) -> Result<()>;
}
