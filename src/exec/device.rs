//! Blocks in device memory, which MPI alone may touch. Executors bind all blocks as if they were
//! the host's; where a driver is in the process, what they have bound is then looked through, and
//! what lies on a device is changed over to MPI.
//!
//! Messages of whole blocks are MPI's anyhow. What is copied or packed becomes a message of the
//! process to itself, which brings the bytes to memory of the host or takes them from there. What
//! would be reduced, or passed on in packets, is an error.

use super::Any;
use crate::datatype::buffers::{Blocks, Buffers, Located};
use crate::error::{Argument, Error, Result};
use crate::mpi::device::Devices;
use crate::schedule::Block;

impl Any {
    /// Looks through what has just been bound.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    #[cold]
    pub unsafe fn find_devices(&mut self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match self {
                Any::P2p(executor) => executor.find_devices(buffers, devices),
                Any::Shm(executor) => executor.find_devices(std::slice::from_ref(buffers), devices),
                Any::Packets(executor) => executor.refuse_devices(buffers, devices),
            }
        }
    }
}

/// True if a block has data in device memory.
///
/// # Safety
/// The block's datatype must be a datatype.
pub unsafe fn holds(devices: &Devices, block: &Located) -> Result<bool> {
    // SAFETY: the caller vouches for the datatype.
    unsafe { devices.hold(block.at, block.count, block.datatype) }
}

/// Why a reduction takes no block from a device.
pub fn no_reduction() -> String {
    "reductions work in the memory of the host".into()
}

/// An error if one of a schedule's blocks has data in device memory.
///
/// # Safety
/// The datatypes of the blocks must be datatypes.
#[cold]
pub unsafe fn refuse(
    devices: &Devices,
    buffers: &Buffers,
    blocks: impl Iterator<Item = Block>,
    why: impl Fn() -> String,
) -> Result<()> {
    for block in blocks {
        let side: &Blocks = match block {
            Block::Input(_) => &buffers.input,
            Block::Output(_) => &buffers.output,
            Block::Scratch(_) | Block::Packet(_) => continue,
        };
        // SAFETY: the caller vouches for the datatypes.
        if unsafe { holds(devices, &side.locate(block.slot())?) }? {
            return Err(Error::Device { argument: Argument::new(side.names.buffer), slot: block.slot(), why: why() }.into());
        }
    }
    Ok(())
}
