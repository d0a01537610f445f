//! Combines blocks straight from where they lie, in shared memory, a landing area, or memory into
//! which another executor has delivered them: in the order of the sources, or as they arrive.

mod parts;
mod result;

use self::result::Reduction;
use crate::datatype::buffers::{Blocks, Buffers, Located, enlarge};
use crate::datatype::known::Known;
use crate::datatype::pack::{Loopback, Packing};
use crate::error::{Error, Result};
use crate::exec::accumulate::accumulation::Accumulation;
use crate::exec::blocks::MessageBlock;
use crate::exec::combine::Combine;
use crate::exec::device::{no_reduction, refuse};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device::Devices;
use crate::mpi::{Datatype, Op};
use crate::schedule::{Block, FoldOrder};

/// Where the block of a source comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Nowhere,
    /// A process: its position among the inbound channels, or the link's sources.
    Peer(u32),
    /// The process itself: the place among its edges to itself.
    Own(u32),
    Remote,
}

/// A source that is a process.
#[derive(Clone, Copy)]
pub struct ChainEntry {
    /// Its entry in the list of sources.
    pub source: u32,
    /// Where its block comes from.
    pub origin: Origin,
    /// Where its block begins among the bytes that come from there.
    pub offset: usize,
}

/// A block that the process sends to itself.
struct OwnBlock {
    /// How its bytes are reached. Those that are not contiguous are packed when the call starts.
    way: Packing,
    block: Located,
    bytes: usize,
    /// Where they are packed, in the buffer of all own blocks.
    begin: usize,
}

/// The data that blocks are combined with.
enum Operand {
    /// One another, into one result.
    Result(Reduction),
    /// The contents of their places.
    Places(Accumulation),
}

/// Combines the blocks of all sources.
pub struct Folding {
    order: FoldOrder,
    /// The sources in their order, without those that are no process.
    pub chain: Vec<ChainEntry>,
    /// Which positions in `chain` are done, and how many; the first position that is not done.
    done: Vec<bool>,
    count_done: usize,
    next: usize,
    /// The peer whose message has been combined in part.
    in_parts: Option<u32>,
    /// By source, its position in `chain`.
    of_source: Vec<Option<u32>>,
    own: Vec<OwnBlock>,
    /// Packed data of own blocks.
    packed: Vec<u8>,
    operand: Operand,
}

impl Folding {
    pub fn new(combine: Combine, origins: &[Origin]) -> Folding {
        let entries = (0..).zip(origins).map(|(source, &origin)| ChainEntry { source, origin, offset: 0 });
        let chain: Vec<ChainEntry> = entries.filter(|entry| entry.origin != Origin::Nowhere).collect();
        let mut of_source = vec![None; origins.len()];
        for (position, entry) in (0..).zip(&chain) {
            of_source[entry.source as usize] = Some(position);
        }
        let operand = match combine {
            Combine::Reduce(_) => Operand::Result(Reduction::new()),
            Combine::Accumulate(_) => Operand::Places(Accumulation::new(chain.iter().map(|entry| entry.source))),
        };
        Folding {
            order: combine.order(),
            done: vec![false; chain.len()],
            chain,
            count_done: 0,
            next: 0,
            in_parts: None,
            of_source,
            own: Vec::new(),
            packed: Vec::new(),
            operand,
        }
    }

    /// True if all blocks go into one result, and so may be one block that goes to all targets.
    pub fn reduces(&self) -> bool {
        matches!(self.operand, Operand::Result(_))
    }

    /// Binds result or places, and checks the operator.
    pub fn bind(&mut self, op: Op, side: &Blocks, known: &Known, comm: &Comm, self_comm: &Comm) -> Result<()> {
        self.own.clear();
        match &mut self.operand {
            Operand::Result(reduction) => reduction.bind(op, side, self.chain.len(), known, comm, self_comm),
            Operand::Places(accumulation) => accumulation.bind(op, side, known, comm, self_comm),
        }
    }

    fn position(&self, source: u32) -> Option<usize> {
        self.of_source.get(source as usize).copied().flatten().map(|position| position as usize)
    }

    /// Bytes of the block of a source.
    pub fn bytes(&self, source: u32) -> usize {
        match &self.operand {
            Operand::Result(reduction) => reduction.bytes(),
            Operand::Places(accumulation) => self.position(source).map_or(0, |position| accumulation.bytes(position)),
        }
    }

    /// Says where the block of a source begins. Returns where it ends.
    pub fn put_at(&mut self, source: u32, offset: usize) -> usize {
        if let Some(position) = self.position(source) {
            self.chain[position].offset = offset;
        }
        offset.saturating_add(self.bytes(source))
    }

    /// Says where the blocks of a message begin, which is one block if it goes to all targets.
    /// Returns the bytes of the message.
    pub fn stage(&mut self, blocks: &mut [MessageBlock], to_all: bool) -> usize {
        let mut end = 0;
        for block in blocks {
            end = self.put_at(block.entry, if to_all { 0 } else { end });
            block.stage(self.bytes(block.entry));
        }
        end
    }

    /// Binds the blocks that the process sends to itself, along self edges: (entry in its list of
    /// targets, entry in its list of sources). `accepted`: the datatype that MPI accepted last.
    pub fn bind_own(
        &mut self,
        self_edges: &[(u32, u32)],
        input: &Blocks,
        accepted: &mut Option<Datatype>,
        known: &Known,
        comm: &Comm,
    ) -> Result<()> {
        for &(target, source) in self_edges {
            let block = input.bind(target as usize, accepted, comm)?;
            let (way, size) = Packing::of(&block, known, comm)?;
            let (sent, bytes) = (i128::from(size) * i128::from(block.count), self.bytes(source));
            if sent != bytes as i128 {
                let expected = bytes as i128;
                return Err(Error::SelfEdge { target: target as usize, sent, source_entry: source as usize, expected }.into());
            }
            // behind what is packed already, or would be if it lay on a device
            let begin = self.own.last().map_or(0, |previous| previous.begin + previous.bytes);
            if !way.is_in_place() {
                enlarge(&mut self.packed, begin + bytes)?;
            }
            self.own.push(OwnBlock { way, block, bytes, begin });
        }
        Ok(())
    }

    /// Fails if a block lies on a device that is combined or, in a reduction, `sent`. Hands the
    /// process's own blocks to MPI that lie on one otherwise.
    #[cold]
    pub fn find_devices(&mut self, devices: &Devices, buffers: &Buffers, sent: impl Iterator<Item = Block>) -> Result<()> {
        if self.reduces() {
            let result = (!self.chain.is_empty()).then_some(Block::Output(0));
            return refuse(devices, buffers, sent.chain(result), no_reduction);
        }
        refuse(devices, buffers, self.chain.iter().map(|entry| Block::Output(entry.source)), no_reduction)?;
        for own_block in &mut self.own {
            if own_block.block.is_on_device(devices)? {
                own_block.way = Packing::Message;
                enlarge(&mut self.packed, own_block.begin + own_block.bytes)?;
            }
        }
        Ok(())
    }

    /// Number and bytes of the process's own blocks.
    pub fn own(&self) -> (usize, u64) {
        (self.own.len(), self.own.iter().map(|own_block| own_block.bytes as u64).sum())
    }

    /// Starts a call.
    ///
    /// # Safety
    /// The process's own blocks must be readable.
    pub unsafe fn start(&mut self, loopback: Loopback) -> Result<()> {
        self.done.fill(false);
        (self.count_done, self.next, self.in_parts) = (0, 0, None);
        if let Operand::Result(reduction) = &mut self.operand {
            reduction.restart();
        }
        for own_block in self.own.iter().filter(|own_block| !own_block.way.is_in_place()) {
            let packed = &mut self.packed[own_block.begin..][..own_block.bytes];
            // SAFETY: the caller vouches for the block.
            unsafe { own_block.way.pack(&own_block.block, packed, loopback) }?;
        }
        Ok(())
    }

    /// Returns the data of the process's own block that was bound as number `k`, from 0.
    pub fn own_data(&self, k: u32) -> *const u8 {
        match self.own.get(k as usize) {
            Some(OwnBlock { way: Packing::InPlace(at), .. }) => *at,
            Some(own_block) => self.packed[own_block.begin..].as_ptr(),
            None => std::ptr::null(),
        }
    }

    /// Returns the positions in `chain` whose turn may have come.
    pub fn candidates(&self) -> std::ops::Range<usize> {
        match self.order {
            _ if self.in_parts.is_some() => 0..0,
            FoldOrder::Source => self.next..(self.next + 1).min(self.chain.len()),
            FoldOrder::Any => 0..self.chain.len(),
        }
    }

    /// Returns the position in `chain` that is to be done next for the block of a source to be.
    /// `None` for a source that is no process.
    pub fn next_for(&self, source: usize) -> Option<usize> {
        let position = self.of_source.get(source).copied().flatten()? as usize;
        Some(if self.order == FoldOrder::Source { self.next } else { position })
    }

    /// True if the block at a position has been combined, or was skipped.
    pub fn is_done(&self, position: usize) -> bool {
        self.done[position]
    }

    /// True if a source's block has been combined, and for a source that is no process.
    pub fn is_source_done(&self, source: usize) -> bool {
        self.of_source.get(source).copied().flatten().is_none_or(|position| self.done[position as usize])
    }

    /// Number of blocks that have been combined, or were skipped.
    pub fn count_done(&self) -> usize {
        self.count_done
    }

    /// True if all blocks are done.
    pub fn is_complete(&self) -> bool {
        self.count_done == self.chain.len()
    }

    /// Leaves a block out that cannot be used.
    pub fn skip(&mut self, position: usize) {
        if !std::mem::replace(&mut self.done[position], true) {
            self.count_done += 1;
        }
        while self.done.get(self.next) == Some(&true) {
            self.next += 1;
        }
    }

    /// Combines the block at a position.
    ///
    /// # Safety
    /// `data` must be readable for the bytes of the block, and result or place writable.
    pub unsafe fn fold(&mut self, position: usize, data: *const u8, known: &Known, loopback: Loopback) -> Result<()> {
        let last = self.count_done + 1 == self.chain.len();
        self.skip(position);
        // SAFETY: as the caller vouches.
        unsafe {
            match &mut self.operand {
                Operand::Result(reduction) => reduction.fold(data, last, loopback),
                Operand::Places(accumulation) => accumulation.combine(position, data, known, loopback),
            }
        }
    }

    /// Forgets which operator and datatypes MPI has accepted.
    pub fn forget_datatypes(&mut self) {
        match &mut self.operand {
            Operand::Result(reduction) => reduction.forget_datatypes(),
            Operand::Places(accumulation) => accumulation.forget_datatypes(),
        }
    }
}
