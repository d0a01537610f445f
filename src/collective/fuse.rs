//! Joins several fields in one exchange: where it pays, the blocks of all fields on an edge travel
//! as one message.
//!
//! Each message saved saves its startup time; joining costs a copy of each byte at both ends. Type
//! signatures must match, so both ends of an edge know the sizes of its blocks and decide alike.
//! Blocks that a process sends to itself are copied field by field.
//!
//! Short messages are packed and unpacked here, as bytes. Longer ones use a datatype made when the
//! call is bound, so that MPI need not copy everything before the first byte leaves; for short
//! messages, making the datatype costs more than the message that it saves.
//!
//! Cost for each end of a joined edge: two copies of its bytes; a buffer if the message is short, a
//! datatype if it is long.

use std::ops::Range;
use std::sync::Arc;

use crate::datatype::buffers::{Blocks, Buffers, Ints, Located, Names, RECV, SEND, Shape};
use crate::datatype::known::Known;
use crate::datatype::pack::{Loopback, Packing};
use crate::error::{Error, Result};
use crate::mpi::Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Owned};
use crate::mpi::device::{Devices, devices};
use crate::mpi::message::packed;
use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};
use crate::util::cast::{to_int, to_u32, to_usize};
use crate::util::memory::LINE;

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
    /// Returns true if `blocks` blocks of `bytes` bytes in all are joined. Empty ones count: each
    /// would be a message.
    pub fn joins(self, blocks: usize, bytes: i64) -> bool {
        // the limit of one message
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

/// Longest joined message, in bytes, that is packed here. The crossover lies between 1 and 4 KiB
/// (`benches/fuse.c`).
const SHORT: i64 = 2048;

/// A block in a short joined message.
struct JoinedBlock {
    block: Located,
    /// Its bytes in the side's buffer.
    bytes: Range<usize>,
    packing: Packing,
}

/// One side of a joined call: for each list entry one block, of all fields or of the first one.
#[derive(Default)]
struct JoinedSide {
    counts: Vec<i64>,
    /// As MPI has them: in the upper half of the address space they are negative.
    addresses: Vec<isize>,
    datatypes: Vec<Datatype>,
    joined: Vec<bool>,
    /// The blocks of short messages, and for each list entry the range of its blocks.
    members: Vec<JoinedBlock>,
    of_entry: Vec<Range<usize>>,
    buffer: Vec<u8>,
}

/// The blocks of several fields, joined where that pays.
pub struct Joined {
    input: JoinedSide,
    output: JoinedSide,
    /// For each source, true if its message has been unpacked since the start.
    taken: Vec<bool>,
    me: i32,
    comm: Arc<Comm>,
    /// For messages to oneself.
    tag: i32,
    /// True if MPI may still access the buffers when the call is over.
    stuck: bool,
    _own: Vec<Owned>,
}

// SAFETY: it holds addresses in the caller's buffers, which whoever completes the call may access,
// memory of its own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Joined {}

impl Joined {
    /// Joins the blocks of `fields`. `tag` is for messages to this process itself. Blocks of `near`
    /// processes are left to another executor.
    pub fn of(
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
        let input = JoinedSide::of(&inputs, n.targets(), (n.rank(), near), rule, comm, &mut own)?;
        let output = JoinedSide::of(&outputs, n.sources(), (n.rank(), near), rule, comm, &mut own)?;
        let (taken, me) = (vec![false; n.sources().len()], to_int(n.rank()));
        Ok(Joined { input, output, taken, me, comm: Arc::clone(comm), tag, stuck: false, _own: own })
    }

    /// Notes that MPI may still access the buffers on behalf of a process that has died: they are
    /// never freed. Another start does no harm, as it leaves that process out.
    #[cold]
    pub fn leave(&mut self) {
        self.stuck = true;
    }

    /// Packs short messages. `failed` gets each list entry whose message cannot be packed.
    ///
    /// # Safety
    /// The blocks must be readable as bound.
    pub unsafe fn put(&mut self, mut failed: impl FnMut(u32, Box<Error>)) {
        self.taken.fill(false);
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        for (k, member) in self.input.members.iter().enumerate() {
            let into = &mut self.input.buffer[member.bytes.clone()];
            // SAFETY: the caller vouches for the blocks.
            let packed = unsafe { member.packing.pack(&member.block, into, loopback) };
            if let Err(e) = packed {
                failed(to_u32(self.input.of_entry.iter().position(|members| members.contains(&k)).unwrap_or(0)), e);
            }
        }
    }

    /// Unpacks a short message that has arrived, unless that has been done.
    ///
    /// # Safety
    /// The blocks must be writable as bound.
    pub unsafe fn take(&mut self, source: usize) -> Result<()> {
        if std::mem::replace(&mut self.taken[source], true) {
            return Ok(());
        }
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        for member in &self.output.members[self.output.of_entry[source].clone()] {
            let from = &mut self.output.buffer[member.bytes.clone()];
            let length = from.len();
            // SAFETY: the caller vouches for the blocks.
            unsafe { member.packing.unpack_front(from, &member.block, length, loopback) }?;
        }
        Ok(())
    }

    /// The buffers of a call that carries all joined blocks, and the first field's blocks of all
    /// other edges.
    pub fn buffers(&self) -> Buffers<'_> {
        Buffers { input: self.input.blocks(&SEND), output: self.output.blocks(&RECV), op: None }
    }

    /// True if the blocks of source `source` are joined.
    pub fn source(&self, source: u32) -> bool {
        self.output.joined[source as usize]
    }

    /// True if the blocks for target `target` are joined.
    pub fn target(&self, target: u32) -> bool {
        self.input.joined[target as usize]
    }

    /// True if on this process only the first field has anything left to do.
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

/// True if one of the blocks lies in device memory. MPI then copies all of them to or from our
/// buffer.
fn any_on_device(devices: Option<&Devices>, blocks: &[(Located, i64)]) -> Result<bool> {
    let Some(devices) = devices else { return Ok(false) };
    for (block, _) in blocks {
        if block.is_on_device(devices)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl JoinedSide {
    /// One block for each list entry.
    fn blocks(&self, names: &'static Names) -> Blocks<'_> {
        Blocks {
            base: std::ptr::null_mut(),
            datatype: datatype::byte(),
            extent: 0,
            shape: Shape::General {
                counts: Ints::Wide(&self.counts),
                displs: Ints::Address(&self.addresses),
                datatypes: self.datatypes[..].into(),
            },
            names,
            field: None,
        }
    }

    fn of(
        fields: &[&Blocks],
        list: &[Neighbor],
        (me, near): (Rank, &dyn Fn(Rank) -> bool),
        rule: Rule,
        comm: &Comm,
        own: &mut Vec<Owned>,
    ) -> Result<JoinedSide> {
        let (mut side, known, mut accepted) = (JoinedSide::default(), Known::default(), None);
        let devices = devices();
        // list entries of short messages, and where these begin in the buffer
        let mut short = Vec::new();
        for (entry, neighbor) in list.iter().enumerate() {
            let first_member = side.members.len();
            side.of_entry.push(first_member..first_member);
            let Some(rank) = neighbor.rank.filter(|&rank| !near(rank)) else {
                // nothing is read, and nothing is left to do
                side.push(0, 0, datatype::byte(), true);
                continue;
            };
            let first = fields[0].locate(entry)?;
            let (mut blocks, mut bytes) = (Vec::new(), 0i64);
            for field in fields {
                let block = field.bind(entry, &mut accepted, comm)?;
                let length = block.count.saturating_mul(block.datatype.size()?);
                if length > 0 {
                    blocks.push((block, length));
                    bytes = bytes.saturating_add(length);
                }
            }
            let on_device = any_on_device(devices.as_ref(), &blocks)?;
            if rank == me || !rule.joins(fields.len(), bytes) {
                side.push(first.count, first.at.addr().cast_signed(), first.datatype, false);
            } else if on_device || bytes <= SHORT {
                let begin = side.buffer.len().next_multiple_of(LINE);
                // each entry adds to it: with room for more, as `enlarge` does not ask for
                let end = begin + to_usize(bytes);
                side.buffer.try_reserve(end - side.buffer.len()).map_err(|_| Error::NoMemory { bytes: end })?;
                side.buffer.resize(end, 0);
                let mut at = begin;
                for (block, length) in blocks {
                    let bytes = at..at + to_usize(length);
                    at = bytes.end;
                    let (packing, _) = Packing::of(&block, &known, comm)?;
                    let packing = if on_device { Packing::Message } else { packing };
                    side.members.push(JoinedBlock { block, bytes, packing });
                }
                side.of_entry[entry] = first_member..side.members.len();
                short.push((entry, begin));
                // if the other end's memory is not on a device, it may use a datatype for a long
                // message
                side.push(bytes, 0, if bytes <= SHORT { datatype::byte() } else { packed() }, true);
            } else {
                // the length of a message fits in an int, and so do counts of nonempty elements
                let count = |block: &Located| i32::try_from(block.count).unwrap_or(i32::MAX);
                let blocks: Vec<_> = blocks.iter().map(|(block, _)| (block.at, count(block), block.datatype)).collect();
                let joined = Owned::joined(&blocks)?;
                // SAFETY: kept beside its copies.
                side.push(1, 0, unsafe { joined.lend() }, true);
                own.push(joined);
            }
        }
        // the buffer does not move any more
        for (entry, begin) in short {
            side.addresses[entry] = side.buffer.as_mut_ptr().wrapping_add(begin).addr().cast_signed();
        }
        Ok(side)
    }

    fn push(&mut self, count: i64, address: isize, datatype: Datatype, joined: bool) {
        self.counts.push(count);
        self.addresses.push(address);
        self.datatypes.push(datatype);
        self.joined.push(joined);
    }
}
