//! Blocks in device memory, which only MPI may touch.
//!
//! Executors bind every block as host memory. If a device driver is loaded in the process, a second
//! pass finds the bound blocks that lie on a device and hands them to MPI.
//!
//! MPI sends and receives whole blocks in any case. A block that would be copied or packed becomes
//! a message of the process to itself, which moves its bytes to or from host memory. A block that
//! would be reduced, or passed on in a packet, is an error.

use crate::datatype::buffers::{Blocks, Buffers};
use crate::error::{Error, Result};
use crate::mpi::device::Devices;
use crate::schedule::Block;

/// Returns why reductions take no blocks in device memory.
pub fn no_reduction() -> String {
    "reductions work in the memory of the host".into()
}

/// Fails if any of a schedule's blocks has data in device memory; `why` completes the error text.
#[cold]
pub fn refuse(devices: &Devices, buffers: &Buffers, blocks: impl Iterator<Item = Block>, why: impl Fn() -> String) -> Result<()> {
    for block in blocks {
        let side: &Blocks = match block {
            Block::Input(_) => &buffers.input,
            Block::Output(_) => &buffers.output,
            Block::Scratch(_) | Block::Packet(_) => continue,
        };
        if side.locate(block.index())?.is_on_device(devices)? {
            return Err(Error::Device { argument: side.buffer_argument(), entry: block.index(), why: why() }.into());
        }
    }
    Ok(())
}
