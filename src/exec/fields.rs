//! Several fields in one exchange: where that pays, the blocks of all fields on an edge travel as one message.
//!
//! A message fewer saves its startup; joining costs the copying of each byte at both ends. Both ends of an edge know the bytes of all its blocks,
//! as type signatures must match, and so decide alike. Blocks to the process itself are copied field by field.
//!
//! Cost: for each joined edge and end a datatype, made when the call is bound.

use super::buffers::{Blocks, Buffers, Ints, Shape};
use super::p2p::{accept, refuse_null};
use crate::error::Result;
use crate::mpi::MPI_Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Owned};
use crate::neighborhood::{Neighbor, Neighborhood, Rank};

/// When the blocks of an edge are joined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Wherever it is possible.
    Always,
    /// Nowhere.
    Never,
    /// Where the startups that are saved take longer than the copying: in bytes, what a startup costs.
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

/// One side of a call: for each slot one block, of all fields or of the first one.
struct Side {
    counts: Vec<i64>,
    addresses: Vec<i64>,
    datatypes: Vec<MPI_Datatype>,
    joined: Vec<bool>,
}

/// The blocks of several fields, joined where that pays.
pub struct Joined {
    input: Side,
    output: Side,
    _own: Vec<Owned>,
}

// SAFETY: handles, which may be used in any thread that may call MPI.
unsafe impl Send for Joined {}

impl Joined {
    /// Joins blocks.
    ///
    /// # Safety
    /// The datatypes must be datatypes.
    pub unsafe fn of(fields: &[Buffers], n: &Neighborhood, rule: Rule, comm: &Comm) -> Result<Joined> {
        let mut own = Vec::new();
        let inputs: Vec<&Blocks> = fields.iter().map(|f| &f.input).collect();
        let outputs: Vec<&Blocks> = fields.iter().map(|f| &f.output).collect();
        // SAFETY: the caller vouches for the datatypes.
        unsafe {
            let input = side(&inputs, n.targets(), n.rank(), rule, comm, &mut own)?;
            let output = side(&outputs, n.sources(), n.rank(), rule, comm, &mut own)?;
            Ok(Joined { input, output, _own: own })
        }
    }

    /// The buffers of a call that carries all joined blocks, and of all others those of the first field, which was `first`.
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

unsafe fn side(fields: &[&Blocks], list: &[Neighbor], me: Rank, rule: Rule, comm: &Comm, own: &mut Vec<Owned>) -> Result<Side> {
    let mut side = Side { counts: Vec::new(), addresses: Vec::new(), datatypes: Vec::new(), joined: Vec::new() };
    let mut accepted = None;
    for (slot, neighbor) in list.iter().enumerate() {
        let Some(rank) = neighbor.rank else {
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
                blocks.push((block.at, i32::try_from(block.count).unwrap_or(i32::MAX), block.datatype));
                bytes = bytes.saturating_add(length);
            }
        }
        if rank != me && rule.joins(blocks.len(), bytes) {
            // SAFETY: as above; lengths of one message fit in int, and so do counts of elements with data.
            let joined = unsafe { Owned::joined(&blocks) }?;
            side.push(1, 0, joined.raw(), true);
            own.push(joined);
        } else {
            side.push(first.count, first.at.addr() as i64, first.datatype, false);
        }
    }
    Ok(side)
}

impl Side {
    fn push(&mut self, count: i64, address: i64, datatype: MPI_Datatype, joined: bool) {
        self.counts.push(count);
        self.addresses.push(address);
        self.datatypes.push(datatype);
        self.joined.push(joined);
    }
}
