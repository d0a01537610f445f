//! Device memory in the shared-memory executor. Each end of an edge considers its own blocks only.
//!
//! A short message is copied from the device to its cell or eager buffer, and from there to the
//! device, by a message of the process to itself, so that a start leaves nothing to do. A long
//! message is sent by MPI straight from the device, as it is where the kernel allows a single copy:
//! its receiver has posted a receive, or probes. A receiver with device blocks always posts, which
//! tells the sender not to send in chunks.

use super::state::{RecvState, Shm, Whole};
use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::exec::fields::{Fields, sent};
use crate::exec::remote::Remote;
use crate::mpi::device::Devices;
use crate::mpi::message;
use crate::schedule::Block;

impl Shm {
    /// Hands blocks over to MPI that were just bound and lie on a device.
    #[cold]
    pub fn find_devices(&mut self, fields: &[Buffers], devices: &Devices) -> Result<()> {
        let Some(first) = fields.first() else { return Ok(()) };
        // whatever lies on a device is for MPI to copy
        self.each.iter_mut().chain(&mut self.all).for_each(|send| send.whole = Whole::NONE);
        self.recvs.iter_mut().for_each(|recv| recv.whole = Whole::NONE);
        self.brief = false;
        let all = Fields { fields, known: &self.known, freed: self.known[0].freed()?, comm: &self.comm };
        match &mut self.folding {
            Some(folding) => {
                let near = self.inputs.iter().map(|block| Block::Input(block.entry));
                let own = self.self_edges.iter().map(|edge| Block::Input(edge.0));
                let far = self.remote.iter().flat_map(Remote::blocks).filter(|b| matches!(b, Block::Input(_)));
                folding.find_devices(devices, first, near.chain(own).chain(far))?;
                if folding.reduces() {
                    return Ok(());
                }
            }
            None => {
                all.find_devices(&mut self.outputs, |field| &field.output, devices)?;
            }
        }
        all.find_devices(sent(&mut self.inputs, self.to_all), |field| &field.input, devices)?;
        self.copies.find_devices(devices)?;
        match &mut self.remote {
            Some(remote) => remote.find_devices(first, devices),
            None => Ok(()),
        }
    }

    /// Posts the receive of a long message into device memory, if the message is one block that
    /// lies there; else returns `None`.
    pub(super) fn post_to_device(&mut self, i: usize) -> Option<Result<()>> {
        let Self { channels, outputs, recvs, comm, .. } = self;
        let recv = &mut recvs[i];
        let [block] = &outputs[recv.blocks.clone()] else { return None };
        let on_device = block.on_device()?;
        let (rank, tag) = (channels.inbound[i].rank, channels.tag(self.number));
        // SAFETY: the caller of `bind` vouches for the block.
        let posted = unsafe { message::receive_block(&on_device, rank, tag, comm) };
        recv.data = std::ptr::null();
        Some(posted.map(|request| recv.state = RecvState::Mpi { request, posted: true }))
    }

    /// True if a block of the message from process `i` lies on a device.
    pub(super) fn receives_on_device(&self, i: usize) -> bool {
        self.outputs[self.recvs[i].blocks.clone()].iter().any(|block| block.on_device().is_some())
    }

    /// True if a block of message `k` lies on a device.
    pub(super) fn sends_from_device(&self, k: usize) -> bool {
        self.inputs[self.sends()[k].blocks.clone()].iter().any(|block| block.on_device().is_some())
    }
}
