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
    /// Counts and traces this executor from now on.
    pub fn observe(&mut self, record: &Arc<Record>) {
        match self {
            Remote::P2p(executor) => executor.observe(record),
            Remote::Rma(executor) => executor.observe(record),
        }
    }

    /// Returns true if MPI may still access the bound buffers although no call is active.
    pub fn is_stuck(&self) -> bool {
        match self {
            Remote::P2p(executor) => executor.is_stuck(),
            Remote::Rma(executor) => executor.is_stuck(),
        }
    }

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

impl Executor for Remote {
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match self {
                Remote::P2p(executor) => executor.bind(buffers),
                Remote::Rma(executor) => executor.bind(buffers),
            }
        }
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        match self {
            Remote::P2p(executor) => executor.start(tag),
            Remote::Rma(executor) => executor.start(tag),
        }
    }

    fn test(&mut self) -> Result<bool> {
        match self {
            Remote::P2p(executor) => executor.test(),
            Remote::Rma(executor) => executor.test(),
        }
    }

    fn wait(&mut self) -> Result<()> {
        match self {
            Remote::P2p(executor) => executor.wait(),
            Remote::Rma(executor) => executor.wait(),
        }
    }

    fn posts_at_once(&self) -> bool {
        match self {
            Remote::P2p(executor) => executor.posts_at_once(),
            Remote::Rma(executor) => executor.posts_at_once(),
        }
    }

    fn can_start(&self) -> Result<()> {
        match self {
            Remote::P2p(executor) => executor.can_start(),
            Remote::Rma(executor) => executor.can_start(),
        }
    }

    fn forget_datatypes(&mut self, watches: bool) {
        match self {
            Remote::P2p(executor) => executor.forget_datatypes(watches),
            Remote::Rma(executor) => executor.forget_datatypes(watches),
        }
    }

    fn keeps_datatypes(&self) -> bool {
        match self {
            Remote::P2p(executor) => executor.keeps_datatypes(),
            Remote::Rma(executor) => executor.keeps_datatypes(),
        }
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        match self {
            Remote::P2p(executor) => executor.arrived(source),
            Remote::Rma(executor) => executor.arrived(source),
        }
    }
}
