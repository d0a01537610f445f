//! Guards the receives of an executor under an MPI that writes messages past the end of a receive
//! that is too short (see `mpi::guard`).
//!
//! The datatype of a guarded receive contains the block's address. It is reused as long as the
//! block stays in place and has a predefined datatype, so that repeated calls with the same buffers
//! make no datatypes.

use crate::datatype::known::Known;
use crate::error::Result;
use crate::mpi::datatype::Owned;
use crate::mpi::device::Devices;
use crate::mpi::p2p::{self, Message};
use crate::mpi::{Datatype, guard, proc_null};

/// The guard of one receive.
#[derive(Debug, Default)]
struct Guard {
    /// Address, count and datatype of the block that `datatype` was made for, if it can be reused.
    made_for: Option<(*mut u8, i32, Datatype)>,
    datatype: Option<Owned>,
    /// Count and datatype of the unguarded message.
    plain: Option<(i32, Datatype)>,
}

/// The guards of an executor's receives.
#[derive(Debug, Default)]
pub struct Guards {
    list: Vec<Guard>,
    /// The most bytes that each receive accepts; `u64::MAX` where it is not guarded.
    limits: Vec<u64>,
    known: Known,
}

impl Guards {
    /// Makes guards for `messages` messages. Returns `None` if this MPI needs none.
    pub fn new(messages: usize) -> Option<Box<Guards>> {
        guard::is_needed().then(|| {
            let list = (0..messages).map(|_| Guard::default()).collect();
            Box::new(Guards { list, limits: vec![u64::MAX; messages], known: Known::default() })
        })
    }

    /// Guards the receive of message `i`.
    ///
    /// # Safety
    /// No receive of the message may be under way, and `self` must live until the last one is
    /// complete.
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
            self.limits[i] = p2p::bytes(message)?;
            guard.datatype = Some(guard::around(message.at, message.count, message.datatype)?);
            if !self.known.is_derived(message.datatype)? {
                guard.made_for = Some(wanted);
            }
        }
        if let Some(datatype) = &guard.datatype {
            // SAFETY: kept here as long as the message has it.
            (message.count, message.datatype) = (1, unsafe { datatype.lend() });
        }
        Ok(())
    }

    /// Removes the guard of message `i` if it receives into device memory: an MPI that supports
    /// device buffers takes no datatype that spans device and host memory.
    #[cold]
    pub fn spare_device(&mut self, i: usize, message: &mut Message, devices: &Devices) -> Result<()> {
        let guard = &mut self.list[i];
        let Some((count, datatype)) = guard.plain.filter(|_| message.peer != proc_null()) else { return Ok(()) };
        if devices.hold(message.at, count.into(), datatype)? {
            (message.count, message.datatype) = (count, datatype);
            guard.made_for = None;
            self.limits[i] = u64::MAX;
        }
        Ok(())
    }

    /// Returns the most bytes that each of these messages accepts.
    pub fn limits(&self, messages: std::ops::Range<usize>) -> &[u64] {
        &self.limits[messages]
    }
}
