//! Device memory in the point-to-point executor: MPI moves the blocks of self edges and those that
//! need packing.

use super::state::P2p;
use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::exec::device::{no_reduction, refuse};
use crate::mpi::device::Devices;
use crate::schedule::Block;

impl P2p {
    /// Hands what was just bound to MPI, where it lies on a device. Parts of a contiguous block are
    /// sent directly from the device.
    #[cold]
    pub fn find_devices(&mut self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        if self.fold.is_some() {
            return refuse(devices, buffers, self.blocks(), no_reduction);
        }
        self.copies.find_devices(devices)?;
        if let Some(guards) = &mut self.guards {
            for i in self.sorted.rounds.iter().flat_map(|round| round.recvs.clone()) {
                guards.spare_device(i, &mut self.messages[i], devices)?;
            }
        }
        self.parts.find_devices(devices)
    }

    /// Returns all blocks that the schedule uses.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let pairs = self.sorted.copies.iter().chain(&self.sorted.reduces);
        self.sorted.messages.iter().map(|message| message.1).chain(pairs.flat_map(|&(from, into)| [from, into]))
    }
}
