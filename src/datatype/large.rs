//! Datatypes for counts that do not fit in the `int` of MPI's functions.

use super::buffers::{self, Located};
use crate::error::{Argument, Result};
use crate::mpi::datatype;
use crate::mpi::message::Message;

/// Datatypes made for counts that do not fit in `int`.
#[derive(Default)]
pub struct Large(Vec<datatype::Owned>);

impl Large {
    /// Describes a block in a message, whose peer stays. `argument` names the count in an error.
    ///
    /// # Safety
    /// `self` must live, and not be cleared, until the message is complete.
    #[inline]
    pub unsafe fn fill(&mut self, message: &mut Message, block: &Located, argument: impl FnOnce() -> Argument) -> Result<()> {
        message.at = block.at;
        message.datatype = block.datatype;
        match i32::try_from(block.count) {
            Ok(count) => {
                message.count = count;
                Ok(())
            }
            Err(_) => self.repeat(message, block, argument()),
        }
    }

    #[cold]
    fn repeat(&mut self, message: &mut Message, block: &Located, argument: Argument) -> Result<()> {
        buffers::length(block.count, block.datatype.size()?, || argument)?;
        let all = datatype::Owned::repeated(block.count, block.datatype, argument)?;
        // SAFETY: kept here, as the caller of `fill` vouches, until the message is complete.
        (message.count, message.datatype) = (1, unsafe { all.lend() });
        self.0.push(all);
        Ok(())
    }

    /// Keeps a message's datatype alive.
    #[cold]
    pub fn keep(&mut self, datatype: datatype::Owned) {
        self.0.push(datatype);
    }

    /// Frees the datatypes; no message may use them any more.
    #[inline]
    pub fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }
}
