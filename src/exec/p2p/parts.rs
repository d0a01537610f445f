//! Blocks that travel in parts.
//!
//! Both ends cut at the same byte of the block's data, which is as long at both ends, and send the bytes between two cuts. Data that lies in one
//! piece and in order is sent from and received in place. Other data is packed into a kept buffer before the block's first part is sent, or
//! received there and unpacked when the last part has come. An empty part is no message.
//!
//! Cost: for each such block and call one look at its datatype (with predefined datatypes nothing is asked of MPI), for data that is not in place
//! one copy of it, and as much memory as all such blocks of a call together.

use std::collections::HashMap;

use super::{Large, enlarge};
use crate::datatype::buffers::{self, Blocks, Buffers, Located, Shape};
use crate::error::{Error, Result};
use crate::exec::copy::{Passage, Way};
use crate::exec::device;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Known};
use crate::mpi::device::Devices;
use crate::mpi::p2p::Message;
use crate::mpi::{self, MPI_Datatype};
use crate::schedule::{Block, Part};
use crate::topology::neighborhood::Rank;

/// Blocks begin in the buffer on cache lines.
const LINE: u64 = 64;

/// A message that carries a part of a block.
#[derive(Debug)]
struct Piece {
    /// Index among all messages.
    message: u32,
    /// The process at the other end.
    peer: Rank,
    /// Index of the block.
    stage: u32,
    part: Part,
}

/// A block on its way, from the first of its parts to the last.
#[derive(Debug)]
struct Stage {
    block: Block,
    /// What is known of its datatype.
    known: Known,
    /// The last datatype that MPI has accepted for it.
    accepted: Option<MPI_Datatype>,
    bound: Option<Bound>,
}

/// Where a block's data is in a call.
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
    /// In our buffer, from this byte.
    Here { offset: usize, passage: Passage },
    /// In our buffer, from this byte; another stage packs it.
    Shared { offset: usize },
}

/// The parts of a schedule.
#[derive(Debug, Default)]
pub struct Parts {
    stages: Vec<Stage>,
    pieces: Vec<Piece>,
    buffer: Vec<u8>,
}

impl Parts {}

/// Finds the blocks of a schedule that travel in parts, operation by operation.
#[derive(Default)]
pub struct Finder {
    parts: Parts,
    sent: HashMap<Block, u32>,
    /// The stage, and how much of the block has come.
    received: HashMap<Block, (u32, u32)>,
}

impl Finder {
    fn add(&mut self, message: u32, peer: Rank, stage: u32, block: Block, part: Part) {
        if stage as usize == self.parts.stages.len() {
            self.parts.stages.push(Stage { block, known: Known::default(), accepted: None, bound: None });
        }
        self.parts.pieces.push(Piece { message, peer, stage, part });
    }

    /// A part that is received. Returns the stage if it is the block's last one.
    pub fn receive(&mut self, message: u32, peer: Rank, block: Block, part: Part) -> Option<u32> {
        let next = self.parts.stages.len() as u32;
        let (begin, end, of) = part.fraction();
        let (stage, come) = self.received.entry(block).or_insert((next, 0));
        *come += end - begin;
        let (stage, complete) = (*stage, *come == of);
        self.add(message, peer, stage, block, part);
        if complete {
            self.received.remove(&block);
        }
        complete.then_some(stage)
    }

    /// A part that is sent. Returns the stage if it is the block's first one.
    pub fn send(&mut self, message: u32, peer: Rank, block: Block, part: Part) -> Option<u32> {
        let next = self.parts.stages.len() as u32;
        let stage = *self.sent.entry(block).or_insert(next);
        self.add(message, peer, stage, block, part);
        (stage == next).then_some(stage)
    }

    /// A block that is written: what is sent of it from now on is something else.
    pub fn write(&mut self, block: Block) {
        self.sent.remove(&block);
    }

    /// All of them.
    pub fn finish(self) -> Parts {
        self.parts
    }
}

impl Parts {
    /// Whether no block travels in parts.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Leaves the buffer to MPI, which may still be at work there.
    #[cold]
    pub fn lose(&mut self) {
        std::mem::forget(std::mem::take(&mut self.buffer));
    }

    /// Forgets which datatypes MPI has accepted.
    pub fn forget_datatypes(&mut self) {
        self.stages.iter_mut().for_each(|stage| stage.accepted = None);
    }

    /// Finds the data of each block and fills in the messages. `locate` finds and checks a block; its last argument remembers a datatype that
    /// has been accepted.
    ///
    /// # Safety
    /// The buffers must be what the C prototype asks for.
    pub unsafe fn bind(
        &mut self,
        buffers: &Buffers,
        mut locate: impl FnMut(Block, &mut Option<MPI_Datatype>) -> Result<Located>,
        messages: &mut [Message],
        large: &mut Large,
        comm: &Comm,
    ) -> Result<()> {
        let mut needed = 0u64;
        // where all targets get the same block, it is packed once
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
                |extent| Error::TooLarge { argument: side.count_argument(stage.block.slot()), count: located.count, extent };
            // SAFETY: `locate` has had the datatype accepted.
            let bound = unsafe {
                let (way, size) = Way::of(&located, &stage.known, comm)?;
                let length = buffers::length(located.count, size, || side.count_argument(stage.block.slot()))? as u64;
                let place = match way {
                    Way::InPlace(at) => Place::There(at),
                    Way::Through(passage) => {
                        let offset = needed as usize;
                        needed = (needed.checked_add(length))
                            .and_then(|end| end.checked_next_multiple_of(LINE))
                            .filter(|&end| end <= isize::MAX as u64)
                            .ok_or_else(|| too_large(size))?;
                        Place::Here { offset, passage }
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
        enlarge(&mut self.buffer, needed as usize)?;
        let (byte, nobody) = (datatype::byte(), mpi::proc_null());
        for piece in &self.pieces {
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
            message.peer = if range.is_empty() { nobody } else { piece.peer as i32 };
            let bytes =
                Located { at: first.wrapping_add(range.start as usize), count: (range.end - range.start) as i64, datatype: byte };
            // SAFETY: bytes are a committed type.
            unsafe {
                large.fill(message, &bytes, || side_of(stage.block, buffers).count_argument(stage.block.slot()))?;
            }
        }
        Ok(())
    }

    /// Leaves blocks that lie on a device to MPI to pack. Those without gaps stay where they are.
    ///
    /// # Safety
    /// As for `bind`, which has been called.
    pub unsafe fn find_devices(&mut self, devices: &Devices) -> Result<()> {
        for bound in self.stages.iter_mut().filter_map(|stage| stage.bound.as_mut()) {
            if let Bound { located, place: Place::Here { passage, .. }, .. } = bound {
                // SAFETY: the datatype has been accepted.
                if unsafe { device::holds(devices, located) }? {
                    *passage = Passage::Message;
                }
            }
        }
        Ok(())
    }

    /// Packs a block whose first part is about to be sent, if its data is not in place.
    ///
    /// # Safety
    /// The block must be readable as bound.
    pub unsafe fn pack(&mut self, stage: u32, me: i32, tag: i32, comm: &Comm) -> Result<()> {
        match &self.stages[stage as usize].bound {
            Some(Bound { located, length, place: Place::Here { offset, passage } }) => {
                let buffer = &mut self.buffer[*offset..][..*length as usize];
                // SAFETY: the caller vouches for the block.
                unsafe { passage.pack(located, buffer, me, tag, comm) }
            }
            _ => Ok(()),
        }
    }

    /// Unpacks a block whose last part has come, if its data was not received in place.
    ///
    /// # Safety
    /// The block must be writable as bound.
    pub unsafe fn unpack(&mut self, stage: u32, me: i32, tag: i32, comm: &Comm) -> Result<()> {
        match &self.stages[stage as usize].bound {
            Some(Bound { located, length, place: Place::Here { offset, passage } }) => {
                let buffer = &mut self.buffer[*offset..][..*length as usize];
                // SAFETY: the caller vouches for the block.
                unsafe { passage.unpack(buffer, located, me, tag, comm) }
            }
            _ => Ok(()),
        }
    }
}

/// The side of a call in whose arguments a block is described.
fn side_of<'a>(block: Block, buffers: &'a Buffers<'a>) -> &'a Blocks<'a> {
    match block {
        Block::Input(_) => &buffers.input,
        // scratch blocks are laid out as the result
        Block::Output(_) | Block::Scratch(_) | Block::Packet(_) => &buffers.output,
    }
}
