//! Blocks that travel in parts.
//!
//! Both ends cut the block's data, which is equally long at both, at the same bytes. Contiguous
//! data is sent and received in place. Other data is packed into a buffer of the executor before
//! the first part is sent, or received there and unpacked after the last part has arrived. An empty
//! part travels, too: if the ends disagree about the length of a block, each message still meets
//! the one that was meant, and MPI says so where the longer one is received.
//!
//! Cost per block and call: one lookup of its datatype, without a call of MPI if it is predefined.
//! Data that is not contiguous costs one copy, and memory for all such blocks of a call together.

use std::collections::HashMap;

use crate::datatype::buffers::{self, Blocks, Buffers, Located, Shape, enlarge};
use crate::datatype::known::Known;
use crate::datatype::large::Large;
use crate::datatype::pack::{Loopback, Packing};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device::Devices;
use crate::mpi::p2p::Message;
use crate::mpi::{Datatype, datatype};
use crate::schedule::{Block, Part};
use crate::util::cast::{to_int, to_u32, to_usize};
use crate::util::memory::LINE;

/// A message that carries a part of a block.
#[derive(Debug)]
struct PartMessage {
    /// Index among all messages.
    message: u32,
    /// Index of the block.
    stage: u32,
    part: Part,
}

/// A block that travels in parts, from its first part to its last.
#[derive(Debug)]
struct Stage {
    block: Block,
    /// Facts about its datatype.
    known: Known,
    /// The last datatype that MPI accepted for it.
    accepted: Option<Datatype>,
    bound: Option<Bound>,
}

/// Where the data of a block is in the bound call.
#[derive(Debug, Clone)]
struct Bound {
    located: Located,
    /// Bytes of data.
    length: u64,
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    /// In the caller's buffer or a scratch block, from this address.
    There(*mut u8),
    /// In our buffer, from this byte; packed by this block.
    Here { offset: usize, packing: Packing },
    /// In our buffer, from this byte; packed by an earlier block.
    Shared { offset: usize },
}

/// All parts of a schedule's blocks.
#[derive(Debug, Default)]
pub struct Parts {
    stages: Vec<Stage>,
    messages: Vec<PartMessage>,
    buffer: Vec<u8>,
}

/// Collects the blocks of a schedule that travel in parts, operation by operation.
#[derive(Default)]
pub struct Finder {
    parts: Parts,
    sent: HashMap<Block, u32>,
    /// The stage, and how much of the block has arrived.
    received: HashMap<Block, (u32, u32)>,
}

impl Finder {
    fn add(&mut self, message: u32, stage: u32, block: Block, part: Part) {
        if stage as usize == self.parts.stages.len() {
            self.parts.stages.push(Stage { block, known: Known::default(), accepted: None, bound: None });
        }
        self.parts.messages.push(PartMessage { message, stage, part });
    }

    /// Adds a part that is received. Returns the stage if it is the block's last part.
    pub fn receive(&mut self, message: u32, block: Block, part: Part) -> Option<u32> {
        let next = to_u32(self.parts.stages.len());
        let (begin, end, of) = part.fraction();
        let (stage, come) = self.received.entry(block).or_insert((next, 0));
        *come += end - begin;
        let (stage, complete) = (*stage, *come == of);
        self.add(message, stage, block, part);
        if complete {
            self.received.remove(&block);
        }
        complete.then_some(stage)
    }

    /// Adds a part that is sent. Returns the stage if it is the block's first part.
    pub fn send(&mut self, message: u32, block: Block, part: Part) -> Option<u32> {
        let next = to_u32(self.parts.stages.len());
        let stage = *self.sent.entry(block).or_insert(next);
        self.add(message, stage, block, part);
        (stage == next).then_some(stage)
    }

    /// Notes that a block is written: later sends of it carry new data and pack it again.
    pub fn write(&mut self, block: Block) {
        self.sent.remove(&block);
    }

    /// Returns the parts.
    pub fn finish(self) -> Parts {
        self.parts
    }
}

impl Parts {
    /// Returns true if no block travels in parts.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Leaks the buffer, which MPI may still access.
    #[cold]
    pub fn lose(&mut self) {
        std::mem::forget(std::mem::take(&mut self.buffer));
    }

    /// Forgets which datatypes MPI has accepted.
    pub fn forget_datatypes(&mut self, watches: bool) {
        for stage in &mut self.stages {
            stage.accepted = None;
            stage.known.forget(watches);
        }
    }

    /// Returns the messages that carry parts of a block, or of the same data for other targets.
    #[cold]
    pub fn messages_of(&self, stage: u32) -> impl Iterator<Item = u32> + '_ {
        let place = |stage: u32| self.stages[stage as usize].bound.as_ref().map(|bound| &bound.place);
        let is_same = move |other: u32| match (place(stage), place(other)) {
            _ if stage == other => true,
            (Some(Place::Here { offset, .. }), Some(Place::Shared { offset: there })) => offset == there,
            _ => false,
        };
        self.messages.iter().filter(move |piece| is_same(piece.stage)).map(|piece| piece.message)
    }

    /// Finds the data of each block and fills in the messages. `locate` finds and checks a block;
    /// its last argument holds the datatype that MPI accepted last.
    pub fn bind(
        &mut self,
        buffers: &Buffers,
        mut locate: impl FnMut(Block, &mut Option<Datatype>) -> Result<Located>,
        messages: &mut [Message],
        large: &mut Large,
        comm: &Comm,
    ) -> Result<()> {
        let mut needed = 0u64;
        // a block that all targets get is packed once
        let mut common: Option<Bound> = None;
        for stage in &mut self.stages {
            let shared = matches!(stage.block, Block::Input(_)) && matches!(buffers.input.shape, Shape::One { .. });
            if let (true, Some(first)) = (shared, &common) {
                stage.bound = Some(first.clone());
                continue;
            }
            let located = locate(stage.block, &mut stage.accepted)?;
            let side = side_of(stage.block, buffers);
            let too_large =
                |extent| Error::TooLarge { argument: side.count_argument(stage.block.index()), count: located.count, extent };
            let bound = {
                let (packing, size) = Packing::of(&located, &stage.known, comm)?;
                let length = buffers::length(located.count, size, || side.count_argument(stage.block.index()))? as u64;
                let place = match packing {
                    Packing::InPlace(at) => Place::There(at),
                    packing => {
                        let offset = to_usize(needed);
                        needed = (needed.checked_add(length))
                            .and_then(|end| end.checked_next_multiple_of(LINE as u64))
                            .filter(|&end| isize::try_from(end).is_ok())
                            .ok_or_else(|| too_large(size))?;
                        Place::Here { offset, packing }
                    }
                };
                Bound { located, length, place }
            };
            if shared {
                let place = match bound.place {
                    Place::Here { offset, .. } => Place::Shared { offset },
                    ref place => place.clone(),
                };
                common = Some(Bound { place, ..bound });
            }
            stage.bound = Some(bound);
        }
        enlarge(&mut self.buffer, to_usize(needed))?;
        let byte = datatype::byte();
        for piece in &self.messages {
            let stage = &self.stages[piece.stage as usize];
            let Some(bound) = &stage.bound else {
                continue;
            };
            let range = piece.part.range(bound.length);
            let first = match bound.place {
                Place::There(at) => at,
                Place::Here { offset, .. } | Place::Shared { offset } => self.buffer.as_mut_ptr().wrapping_add(offset),
            };
            let message = &mut messages[piece.message as usize];
            let at = first.wrapping_add(to_usize(range.start));
            let bytes = Located { at, count: to_int(range.end - range.start), datatype: byte };
            // SAFETY: bytes are a committed type.
            unsafe {
                large.fill(message, &bytes, || side_of(stage.block, buffers).count_argument(stage.block.index()))?;
            }
        }
        Ok(())
    }

    /// Makes MPI pack blocks that lie on a device. Contiguous ones are sent from where they are.
    pub fn find_devices(&mut self, devices: &Devices) -> Result<()> {
        for bound in self.stages.iter_mut().filter_map(|stage| stage.bound.as_mut()) {
            if let Bound { located, place: Place::Here { packing, .. }, .. } = bound
                && located.is_on_device(devices)?
            {
                *packing = Packing::Message;
            }
        }
        Ok(())
    }

    /// Packs a block whose first part is about to be sent, unless its data is sent in place.
    ///
    /// # Safety
    /// The block must be readable as bound.
    pub unsafe fn pack(&mut self, stage: u32, loopback: Loopback) -> Result<()> {
        match &self.stages[stage as usize].bound {
            Some(Bound { located, length, place: Place::Here { offset, packing } }) => {
                let buffer = &mut self.buffer[*offset..][..to_usize(*length)];
                // SAFETY: the caller vouches for the block.
                unsafe { packing.pack(located, buffer, loopback) }
            }
            _ => Ok(()),
        }
    }

    /// Unpacks a block whose last part has arrived, unless its data was received in place.
    ///
    /// # Safety
    /// The block must be writable as bound.
    pub unsafe fn unpack(&mut self, stage: u32, loopback: Loopback) -> Result<()> {
        match &self.stages[stage as usize].bound {
            Some(Bound { located, length, place: Place::Here { offset, packing } }) => {
                let buffer = &mut self.buffer[*offset..][..to_usize(*length)];
                // SAFETY: the caller vouches for the block.
                unsafe { packing.unpack(buffer, located, loopback) }
            }
            _ => Ok(()),
        }
    }
}

/// Returns the side of a call whose arguments describe a block.
fn side_of<'a>(block: Block, buffers: &'a Buffers<'a>) -> &'a Blocks<'a> {
    match block {
        Block::Input(_) => &buffers.input,
        // scratch blocks are laid out like the result
        Block::Output(_) | Block::Scratch(_) | Block::Packet(_) => &buffers.output,
    }
}
