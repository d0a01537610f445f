//! The executor for the edges to other nodes: messages or puts.

use std::sync::Arc;

use super::executor::Executor;
use super::p2p::P2p;
use super::rma::Rma;
use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::mpi::device::Devices;
use crate::observe::Record;
use crate::schedule::Block;

/// The executor of the edges that leave a node.
pub enum Remote {
    /// By messages.
    P2p(Box<P2p>),
    /// By puts.
    Rma(Box<Rma>),
}

impl Remote {
    /// Hands blocks over to MPI that were just bound and lie on a device.
    #[cold]
    pub fn find_devices(&mut self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        match self {
            Remote::P2p(executor) => executor.find_devices(buffers, devices),
            Remote::Rma(executor) => executor.find_devices(std::slice::from_ref(buffers), devices),
        }
    }

    /// Returns all blocks that are sent, and perhaps others.
    pub fn blocks(&self) -> Vec<Block> {
        match self {
            Remote::P2p(executor) => executor.blocks().collect(),
            Remote::Rma(executor) => executor.sent().collect(),
        }
    }
}

/// An expression with whichever executor it is.
macro_rules! whichever {
    ($remote:expr, $executor:ident => $call:expr) => {
        match $remote {
            Remote::P2p($executor) => $call,
            Remote::Rma($executor) => $call,
        }
    };
}

impl Executor for Remote {
    fn observe(&mut self, record: &Arc<Record>) {
        whichever!(self, executor => executor.observe(record));
    }

    fn is_stuck(&self) -> bool {
        whichever!(self, executor => executor.is_stuck())
    }

    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe { whichever!(self, executor => executor.bind(buffers)) }
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        whichever!(self, executor => executor.start(tag))
    }

    fn test(&mut self) -> Result<bool> {
        whichever!(self, executor => executor.test())
    }

    fn wait(&mut self) -> Result<()> {
        whichever!(self, executor => executor.wait())
    }

    fn posts_at_once(&self) -> bool {
        whichever!(self, executor => executor.posts_at_once())
    }

    fn can_start(&self) -> Result<()> {
        whichever!(self, executor => executor.can_start())
    }

    fn forget_datatypes(&mut self, watches: bool) {
        whichever!(self, executor => executor.forget_datatypes(watches));
    }

    fn keeps_datatypes(&self) -> bool {
        whichever!(self, executor => executor.keeps_datatypes())
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        whichever!(self, executor => executor.arrived(source))
    }
}
