//! The interface of all executors.

use std::sync::Arc;

use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::observe::Record;

/// Runs one schedule over one transport: one collective at a time, any number of times.
pub trait Executor {
    /// Counts and traces this executor from now on.
    fn observe(&mut self, record: &Arc<Record>);

    /// Returns true if MPI may still access the bound buffers although no call is active.
    fn is_stuck(&self) -> bool;

    /// Resolves which bytes each operation of the schedule moves, and checks all arguments. Sends
    /// and writes nothing. Allocates only if a block is larger than any before.
    ///
    /// # Safety
    /// The buffers must be what the C prototypes ask for, and stay so until the collective is
    /// complete.
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()>;

    /// Starts the bound call. Its messages carry `tag`.
    fn start(&mut self, tag: i32) -> Result<()>;

    /// Makes progress without waiting. Returns true if the call is complete, or if none was
    /// started.
    fn test(&mut self) -> Result<bool>;

    /// Waits until the call is complete.
    fn wait(&mut self) -> Result<()>;

    /// Returns true if `start` posts every message, so that completion needs no further progress by
    /// this process.
    fn posts_at_once(&self) -> bool;

    /// Fails if no call can start any more, as its messages would not match.
    fn can_start(&self) -> Result<()>;

    /// Fails if so many calls cannot start now one after the other, as there are too many under
    /// way.
    fn has_numbers(&self, _many: u64) -> Result<()> {
        Ok(())
    }

    /// Forgets which datatypes MPI has accepted, because their handles may have been freed and
    /// reused for other datatypes. `watches`: true if MPI is to tell when one is freed that is
    /// bound from now on. Otherwise they must be forgotten again before the next `bind`; an
    /// executor may watch them nonetheless.
    fn forget_datatypes(&mut self, watches: bool);

    /// Returns true if datatypes are used after `start` has returned.
    fn keeps_datatypes(&self) -> bool;

    /// Returns true if the block of entry `source` of the source list is complete and, in a
    /// reduction, part of the result. Makes what progress this needs without waiting; the caller
    /// has called `test` before. Returns true also if no call is active.
    fn arrived(&mut self, source: usize) -> Result<bool>;
}
