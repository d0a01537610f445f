//! Executors: each is made for one [`crate::schedule::Schedule`], binds it to buffers, counts and
//! datatypes, and runs it.
//!
//! `p2p` moves blocks by messages alone, `shm` through shared memory within a node, `rma` by puts
//! into windows, and `forward` through other processes, in packets. `shm`, and `rma` in one round,
//! combine blocks where they have come (`folding`); `delivered` does so with what the others
//! deliver, and with what `rma` puts in several rounds.

pub mod accumulate;
pub mod blocks;
pub mod combine;
pub mod delivered;
pub mod device;
pub mod elements;
pub mod executor;
pub mod fields;
pub mod folding;
pub mod forward;
pub mod guards;
pub mod p2p;
pub mod remote;
pub mod rma;
pub mod scratch;
pub mod shm;
pub mod waiting;

pub use executor::Executor;

use std::sync::Arc;

use crate::datatype::buffers::Buffers;
use crate::error::{Error, Result};
use crate::mpi::device::{Devices, devices};
use crate::observe::Record;

/// The executor of a schedule.
pub enum Any {
    /// Sends whole blocks and parts of blocks as messages.
    P2p(Box<p2p::P2p>),
    /// The same, through shared memory where both ends share a node.
    Shm(Box<shm::Shm>),
    /// Puts blocks into windows.
    Rma(Box<rma::Rma>),
    /// Forwards blocks through other processes.
    Forward(Box<forward::Forward>),
    /// Combines what another executor delivers.
    Delivered(Box<delivered::Delivered<Any>>),
}

impl From<p2p::P2p> for Any {
    fn from(executor: p2p::P2p) -> Any {
        Any::P2p(Box::new(executor))
    }
}

impl Any {
    /// Sends a notice in place of each message of input block `entry`, which could not be packed,
    /// in the call that starts next. For executors that take joined fields.
    #[cold]
    pub fn spoil(&mut self, entry: u32, error: Box<Error>) {
        if let Any::P2p(executor) = self {
            executor.spoil(entry, error);
        }
    }

    /// Returns true if it is known that the block of a source has arrived in the call that has
    /// ended, whatever else failed.
    #[cold]
    pub fn came(&self, source: usize) -> bool {
        matches!(self, Any::P2p(executor) if executor.came(source))
    }

    /// Prepares for many calls with the bound buffers.
    ///
    /// # Safety
    /// The buffers must stay what they are until the executor is bound anew or dropped.
    pub unsafe fn settle(&mut self) {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match self {
                Any::Rma(executor) => executor.offer_blocks(),
                Any::Shm(executor) => executor.settle(),
                Any::P2p(_) | Any::Forward(_) | Any::Delivered(_) => {}
            }
        }
    }

    /// Binds several fields that one exchange moves together, over shared memory or by puts. An
    /// executor that shares memory must have no edges that leave the node.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    pub unsafe fn bind_fields(&mut self, fields: &[Buffers]) -> Result<()> {
        match self {
            // SAFETY: the caller vouches for the buffers.
            Any::Shm(executor) => unsafe {
                executor.bind_fields(fields)?;
                devices().map_or(Ok(()), |devices| executor.find_devices(fields, &devices))
            },
            Any::Rma(executor) => {
                executor.bind_fields(fields)?;
                devices().map_or(Ok(()), |devices| executor.find_devices(fields, &devices))
            }
            _ => Err(Error::Internal("this executor takes one field".into()).into()),
        }
    }

    /// Hands blocks that were just bound to MPI, where they lie on a device.
    #[cold]
    pub fn find_devices(&mut self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        match self {
            Any::P2p(executor) => executor.find_devices(buffers, devices),
            Any::Shm(executor) => executor.find_devices(std::slice::from_ref(buffers), devices),
            Any::Rma(executor) => executor.find_devices(std::slice::from_ref(buffers), devices),
            Any::Forward(executor) => executor.refuse_devices(buffers, devices),
            Any::Delivered(executor) => executor.refuse_devices(buffers, devices),
        }
    }
}

/// An expression with whichever executor it is.
macro_rules! whichever {
    ($any:expr, $executor:ident => $call:expr) => {
        match $any {
            Any::P2p($executor) => $call,
            Any::Shm($executor) => $call,
            Any::Rma($executor) => $call,
            Any::Forward($executor) => $call,
            Any::Delivered($executor) => $call,
        }
    };
}

impl Executor for Any {
    fn observe(&mut self, record: &Arc<Record>) {
        whichever!(self, executor => executor.observe(record));
    }

    fn is_stuck(&self) -> bool {
        whichever!(self, executor => executor.is_stuck())
    }

    #[inline]
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe { whichever!(self, executor => executor.bind(buffers)) }?;
        match devices() {
            None => Ok(()),
            Some(devices) => self.find_devices(buffers, &devices),
        }
    }

    #[inline(always)]
    fn start(&mut self, tag: i32) -> Result<()> {
        whichever!(self, executor => executor.start(tag))
    }

    #[inline]
    fn test(&mut self) -> Result<bool> {
        whichever!(self, executor => executor.test())
    }

    #[inline(always)]
    fn wait(&mut self) -> Result<()> {
        whichever!(self, executor => executor.wait())
    }

    fn posts_at_once(&self) -> bool {
        whichever!(self, executor => executor.posts_at_once())
    }

    fn can_start(&self) -> Result<()> {
        whichever!(self, executor => executor.can_start())
    }

    fn has_numbers(&self, many: u64) -> Result<()> {
        whichever!(self, executor => executor.has_numbers(many))
    }

    fn forget_datatypes(&mut self, watches: bool) {
        whichever!(self, executor => executor.forget_datatypes(watches));
    }

    #[inline]
    fn keeps_datatypes(&self) -> bool {
        whichever!(self, executor => executor.keeps_datatypes())
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        whichever!(self, executor => executor.arrived(source))
    }
}
