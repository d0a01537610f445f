//! The receives of an executor on an MPI that writes longer messages past their ends
//! (`mpi/guard.rs`).
//!
//! The datatype of a guarded receive holds the block's address. It is kept as long as the block
//! stays where it is and its datatype is predefined, so that calls that come again with the same
//! buffers make none.

use crate::error::Result;
use crate::mpi::datatype::{Known, Owned, size};
use crate::mpi::device::Devices;
use crate::mpi::p2p::Message;
use crate::mpi::{MPI_Datatype, guard, proc_null};

/// A receive.
#[derive(Debug, Default)]
struct Guard {
    /// What it was made for, if that can come again.
    made_for: Option<(*mut u8, i32, MPI_Datatype)>,
    datatype: Option<Owned>,
    /// Count and datatype of the message without a guard.
    plain: Option<(i32, MPI_Datatype)>,
}

/// The receives of an executor.
#[derive(Debug, Default)]
pub struct Guards {
    list: Vec<Guard>,
    /// The most bytes that may come with each; any number where nothing is guarded.
    limits: Vec<u64>,
    known: Known,
}

impl Guards {
    /// Guards for `messages` messages. `None` where the MPI needs none.
    pub fn new(messages: usize) -> Option<Box<Guards>> {
        guard::is_needed().then(|| {
            let list = (0..messages).map(|_| Guard::default()).collect();
            Box::new(Guards { list, limits: vec![u64::MAX; messages], known: Known::default() })
        })
    }

    /// Guards the receive of message `i`.
    ///
    /// # Safety
    /// The message's datatype must be a committed datatype. No receive of the message may be under
    /// way.
    pub unsafe fn apply(&mut self, i: usize, message: &mut Message) -> Result<()> {
        if message.peer == proc_null() {
            self.limits[i] = u64::MAX;
            self.list[i].made_for = None;
            return Ok(());
        }
        let guard = &mut self.list[i];
        let wanted = (message.at, message.count, message.datatype);
        guard.plain = Some((message.count, message.datatype));
        if guard.made_for != Some(wanted) || guard.datatype.is_none() {
            guard.made_for = None;
            // SAFETY: the caller vouches for the datatype.
            unsafe {
                self.limits[i] = message.count as u64 * size(message.datatype)? as u64;
                guard.datatype = Some(guard::around(message.at, message.count, message.datatype)?);
                if !self.known.is_derived(message.datatype)? {
                    guard.made_for = Some(wanted);
                }
            }
        }
        if let Some(datatype) = &guard.datatype {
            (message.count, message.datatype) = (1, datatype.raw());
        }
        Ok(())
    }

    /// Takes the guard off message `i` if it receives into device memory: MPIs that take such
    /// buffers know no datatype of their memory and of ours.
    ///
    /// # Safety
    /// As for `apply`.
    #[cold]
    pub unsafe fn spare_device(&mut self, i: usize, message: &mut Message, devices: &Devices) -> Result<()> {
        let guard = &mut self.list[i];
        let Some((count, datatype)) = guard.plain.filter(|_| message.peer != proc_null()) else { return Ok(()) };
        // SAFETY: the caller vouches for the datatype.
        if unsafe { devices.hold(message.at, count.into(), datatype) }? {
            (message.count, message.datatype) = (count, datatype);
            guard.made_for = None;
            self.limits[i] = u64::MAX;
        }
        Ok(())
    }

    /// The most bytes that may come with some messages.
    pub fn limits(&self, messages: std::ops::Range<usize>) -> &[u64] {
        &self.limits[messages]
    }
}
