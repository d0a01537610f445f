//! Several fields in one exchange: where that pays, the blocks of all fields on an edge travel as
//! one message.
//!
//! A message fewer saves its startup; joining costs the copying of each byte at both ends. Both
//! ends of an edge know the bytes of all its blocks, as type signatures must match, and so decide
//! alike. Blocks to the process itself are copied field by field.
//!
//! Short messages are put together and taken apart here, as bytes; longer ones by MPI, by a
//! datatype that is made when the call is bound: for short ones that costs more than the message
//! that is saved, for long ones MPI need not copy everything before the first byte leaves.
//!
//! Cost: for each joined edge and end two copies of its bytes, memory for the short ones, a
//! datatype for each long one.

use std::ops::Range;
use std::sync::Arc;

use crate::datatype::buffers::{Blocks, Buffers, Ints, Located, Shape};
use crate::error::Result;
use crate::exec::copy::{Passage, Way};
use crate::exec::device;
use crate::exec::p2p::{accept, refuse_null};
use crate::mpi::MPI_Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Known, Owned};
use crate::mpi::device::{Devices, devices};
use crate::mpi::message::packed;
use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};

/// When the blocks of an edge are joined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Wherever it is possible.
    Always,
    /// Nowhere.
    Never,
    /// Where the startups that are saved take longer than the copying: in bytes, what a startup
    /// costs.
    Startup(f64),
}

impl Rule {
    /// Whether `blocks` blocks with data, of `bytes` bytes together, are joined.
    pub fn joins(self, blocks: usize, bytes: i64) -> bool {
        // one message carries at most this
        if blocks < 2 || bytes > i64::from(i32::MAX) {
            return false;
        }
        match self {
            Rule::Always => true,
            Rule::Never => false,
            // each byte is copied into the message and out of it
            Rule::Startup(startup) => 2.0 * bytes as f64 <= (blocks - 1) as f64 * startup,
        }
    }
}

/// Joined messages of up to so many bytes are put together here. What is faster changes between 1
/// and 4 KiB (`benches/fuse.c`).
const SHORT: i64 = 2048;

/// Messages begin in the buffer on cache lines.
const LINE: usize = 64;

/// A block that is part of a short message.
struct Piece {
    block: Located,
    /// Where in the side's buffer.
    bytes: Range<usize>,
    way: Way,
}

/// One side of a call: for each slot one block, of all fields or of the first one.
#[derive(Default)]
struct Side {
    counts: Vec<i64>,
    addresses: Vec<i64>,
    datatypes: Vec<MPI_Datatype>,
    joined: Vec<bool>,
    /// The pieces of short messages, and for each slot which of them are its.
    pieces: Vec<Piece>,
    of_slot: Vec<Range<usize>>,
    buffer: Vec<u8>,
}

/// The blocks of several fields, joined where that pays.
pub struct Joined {
    input: Side,
    output: Side,
    /// By source slot, what has been taken apart since the start.
    taken: Vec<bool>,
    me: i32,
    comm: Arc<Comm>,
    /// For messages to oneself.
    tag: i32,
    /// Whether a start has failed half-way.
    lost: bool,
    /// Whether MPI may still be at work in the buffers when all is over.
    stuck: bool,
    _own: Vec<Owned>,
}

// SAFETY: addresses in buffers of the caller's, at which whoever completes the call may look,
// memory of its own, and handles, which may be used in any thread that may call MPI.
unsafe impl Send for Joined {}

impl Joined {
    /// Joins blocks. `tag` is for messages of the process to itself. Blocks of processes that are
    /// `near` are left to another executor.
    ///
    /// # Safety
    /// The datatypes must be datatypes.
    pub unsafe fn of(
        fields: &[Buffers],
        n: &Neighborhood,
        rule: Rule,
        comm: &Arc<Comm>,
        tag: i32,
        near: &dyn Fn(Rank) -> bool,
    ) -> Result<Joined> {
        let mut own = Vec::new();
        let inputs: Vec<&Blocks> = fields.iter().map(|f| &f.input).collect();
        let outputs: Vec<&Blocks> = fields.iter().map(|f| &f.output).collect();
        // SAFETY: the caller vouches for the datatypes.
        unsafe {
            let input = Side::of(&inputs, n.targets(), (n.rank(), near), rule, comm, &mut own)?;
            let output = Side::of(&outputs, n.sources(), (n.rank(), near), rule, comm, &mut own)?;
            let (taken, me) = (vec![false; n.sources().len()], n.rank() as i32);
            Ok(Joined { input, output, taken, me, comm: Arc::clone(comm), tag, lost: false, stuck: false, _own: own })
        }
    }

    /// Notes that a start has failed half-way: MPI may still send from the buffers, which therefore
    /// must not be written again.
    #[cold]
    pub fn lose(&mut self) {
        (self.lost, self.stuck) = (true, true);
    }

    /// Notes that MPI may still be at work in the buffers for a process that has died: they are
    /// never freed. Another start does no harm, as it leaves that process out.
    #[cold]
    pub fn leave(&mut self) {
        self.stuck = true;
    }

    /// Whether a start has failed half-way.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Puts short messages together.
    ///
    /// # Safety
    /// The blocks must be readable as bound.
    pub unsafe fn put(&mut self) -> Result<()> {
        self.taken.fill(false);
        for piece in &self.input.pieces {
            let into = &mut self.input.buffer[piece.bytes.clone()];
            // SAFETY: the caller vouches for the blocks.
            unsafe { piece.way.pack(&piece.block, into, self.me, self.tag, &self.comm) }?;
        }
        Ok(())
    }

    /// Takes a short message apart that has come, unless that has been done.
    ///
    /// # Safety
    /// The blocks must be writable as bound.
    pub unsafe fn take(&mut self, source: usize) -> Result<()> {
        if std::mem::replace(&mut self.taken[source], true) {
            return Ok(());
        }
        for piece in &self.output.pieces[self.output.of_slot[source].clone()] {
            let from = &mut self.output.buffer[piece.bytes.clone()];
            let length = from.len();
            // SAFETY: the caller vouches for the blocks.
            unsafe { piece.way.unpack(from, &piece.block, length, self.me, self.tag, &self.comm) }?;
        }
        Ok(())
    }

    /// The buffers of a call that carries all joined blocks, and of all others those of the first
    /// field, which was `first`.
    pub fn buffers<'a>(&'a self, first: &Buffers<'a>) -> Buffers<'a> {
        let blocks = |side: &'a Side, like: &Blocks<'a>| Blocks {
            base: std::ptr::null_mut(),
            datatype: datatype::null(),
            extent: 0,
            shape: Shape::General {
                counts: Ints::Wide(&side.counts),
                displs: Ints::Wide(&side.addresses),
                datatypes: &side.datatypes,
            },
            names: like.names,
        };
        Buffers { input: blocks(&self.input, &first.input), output: blocks(&self.output, &first.output), op: None }
    }

    /// Whether the blocks of source slot `source` are joined.
    pub fn source(&self, source: u32) -> bool {
        self.output.joined[source as usize]
    }

    /// Whether the blocks for target slot `target` are joined.
    pub fn target(&self, target: u32) -> bool {
        self.input.joined[target as usize]
    }

    /// Whether on this process no field but the first has anything left to do.
    pub fn all(&self) -> bool {
        self.input.joined.iter().chain(&self.output.joined).all(|&joined| joined)
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if self.stuck {
            std::mem::forget((std::mem::take(&mut self.input.buffer), std::mem::take(&mut self.output.buffer)));
        }
    }
}

/// True if one of the blocks lies in device memory: then MPI brings each of them to a buffer of
/// ours, or takes it from there.
fn any_on_device(devices: &Option<Devices>, blocks: &[(Located, i64)]) -> Result<bool> {
    let Some(devices) = devices else { return Ok(false) };
    for (block, _) in blocks {
        // SAFETY: the datatype has been accepted.
        if unsafe { device::holds(devices, block) }? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Side {
    unsafe fn of(
        fields: &[&Blocks],
        list: &[Neighbor],
        (me, near): (Rank, &dyn Fn(Rank) -> bool),
        rule: Rule,
        comm: &Comm,
        own: &mut Vec<Owned>,
    ) -> Result<Side> {
        let (mut side, known, mut accepted) = (Side::default(), Known::default(), None);
        let devices = devices();
        // slots of short messages, and where these begin in the buffer
        let mut short = Vec::new();
        for (slot, neighbor) in list.iter().enumerate() {
            let first_piece = side.pieces.len();
            side.of_slot.push(first_piece..first_piece);
            let Some(rank) = neighbor.rank.filter(|&rank| !near(rank)) else {
                // nothing is looked at, and nothing is left to do
                side.push(0, 0, datatype::byte(), true);
                continue;
            };
            let first = fields[0].locate(slot)?;
            let (mut blocks, mut bytes) = (Vec::new(), 0i64);
            for field in fields {
                let block = field.locate(slot)?;
                // SAFETY: the caller of `Joined::of` vouches for the datatypes.
                let length = unsafe {
                    accept(&mut accepted, block.datatype, field, slot, comm)?;
                    refuse_null(&block, field)?;
                    block.count.saturating_mul(datatype::size(block.datatype)?)
                };
                if length > 0 {
                    blocks.push((block, length));
                    bytes = bytes.saturating_add(length);
                }
            }
            let on_device = any_on_device(&devices, &blocks)?;
            if rank == me || !rule.joins(blocks.len(), bytes) {
                side.push(first.count, first.at.addr() as i64, first.datatype, false);
            } else if on_device || bytes <= SHORT {
                let begin = side.buffer.len().next_multiple_of(LINE);
                side.buffer.resize(begin + bytes as usize, 0);
                let mut at = begin;
                for (block, length) in blocks {
                    let bytes = at..at + length as usize;
                    at = bytes.end;
                    // SAFETY: as above.
                    let (way, _) = unsafe { Way::of(&block, &known, comm) }?;
                    let way = if on_device { Way::Through(Passage::Message) } else { way };
                    side.pieces.push(Piece { block, bytes, way });
                }
                side.of_slot[slot] = first_piece..side.pieces.len();
                short.push((slot, begin));
                // where the other end is none of a device's it may have a datatype of its own for a
                // long one
                side.push(bytes, 0, if bytes <= SHORT { datatype::byte() } else { packed() }, true);
            } else {
                // lengths of one message fit in int, and so do counts of elements with data
                let count = |block: &Located| i32::try_from(block.count).unwrap_or(i32::MAX);
                let blocks: Vec<_> = blocks.iter().map(|(block, _)| (block.at, count(block), block.datatype)).collect();
                // SAFETY: as above.
                let joined = unsafe { Owned::joined(&blocks) }?;
                side.push(1, 0, joined.raw(), true);
                own.push(joined);
            }
        }
        // the buffer stays where it is from now on
        for (slot, begin) in short {
            side.addresses[slot] = side.buffer.as_mut_ptr().wrapping_add(begin).addr() as i64;
        }
        Ok(side)
    }

    fn push(&mut self, count: i64, address: i64, datatype: MPI_Datatype, joined: bool) {
        self.counts.push(count);
        self.addresses.push(address);
        self.datatypes.push(datatype);
        self.joined.push(joined);
    }
}
