//! The arguments of calls that return before they are complete, captured because the caller may
//! free its arrays and datatypes meanwhile.
//!
//! Arrays are copied, and derived datatypes replaced by others of the same data, each once. The
//! buffers themselves stay the caller's. Operators cannot be duplicated: the caller must not free
//! one before the call that uses it is complete.

use std::sync::Arc;

use super::buffers::{Blocks, Buffers, Ints, Names, Shape};
use super::check::accept;
use super::known::Known;
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{Owned, byte};
use crate::mpi::op::Kind;
use crate::mpi::{Datatype, Op};
use crate::topology::neighborhood::{Neighbor, Neighborhood};

/// The arguments of both sides of a call.
pub struct CapturedArguments {
    input: Side,
    output: Side,
    op: Option<Op>,
}

struct Side {
    base: *mut u8,
    datatype: Datatype,
    extent: i64,
    blocks: Arrays,
    names: &'static Names,
    field: Option<u32>,
    /// What stands for the caller's datatypes, kept alive.
    _own: Vec<Arc<Owned>>,
}

enum Arrays {
    One(i64),
    Equal(i64),
    Vector(Vec<i64>, Vec<i64>),
    General(Vec<i64>, Vec<i64>, Vec<Datatype>),
}

// SAFETY: addresses of the caller's, at which whoever completes the call may look, and handles,
// which may be used in any thread that may call MPI.
unsafe impl Send for CapturedArguments {}

impl CapturedArguments {
    /// Captures the arguments of a call on a neighborhood.
    pub fn of(buffers: &Buffers, n: &Neighborhood, comm: &Comm) -> Result<CapturedArguments> {
        // a program's operator may look at its datatype's attributes
        let dups = buffers.op.is_some_and(|op| op.kind() == Kind::User);
        let input = Side::of(&buffers.input, n.targets(), comm, dups)?;
        let output = Side::of(&buffers.output, n.sources(), comm, dups)?;
        Ok(CapturedArguments { input, output, op: buffers.op })
    }

    /// Returns the captured arguments.
    pub fn buffers(&self) -> Buffers<'_> {
        Buffers { input: self.input.blocks(), output: self.output.blocks(), op: self.op }
    }
}

/// Replaces derived datatypes, each once: by duplicates if `dups` says so, else by twins.
#[derive(Default)]
struct Replaced {
    known: Known,
    dups: bool,
    made: Vec<(Datatype, Datatype)>,
    own: Vec<Arc<Owned>>,
}

impl Replaced {
    fn of(&mut self, datatype: Datatype, side: &Blocks, entry: usize, comm: &Comm) -> Result<Datatype> {
        if !self.known.is_derived(datatype)? {
            return Ok(datatype);
        }
        if let Some(&(_, copy)) = self.made.iter().find(|(original, _)| *original == datatype) {
            return Ok(copy);
        }
        // check first: what is made of an uncommitted datatype is committed
        accept(&mut None, datatype, side, entry, comm)?;
        let own = if self.dups { Arc::new(Owned::duplicate(datatype)?) } else { self.known.twin(datatype)? };
        // SAFETY: it is kept beside its copies, in the captured arguments.
        let copy = unsafe { own.lend() };
        self.made.push((datatype, copy));
        self.own.push(own);
        Ok(copy)
    }
}

fn wide(ints: &Ints) -> Vec<i64> {
    match ints {
        Ints::Narrow(v) => v.iter().map(|&x| x.into()).collect(),
        Ints::Wide(v) => v.to_vec(),
        Ints::Address(v) => v.iter().map(|&x| x as i64).collect(),
    }
}

impl Side {
    fn of(side: &Blocks, list: &[Neighbor], comm: &Comm, dups: bool) -> Result<Side> {
        let mut replaced = Replaced { dups, ..Replaced::default() };
        let mut datatype = side.datatype;
        let blocks = match &side.shape {
            Shape::One { count } => Arrays::One(*count),
            Shape::Equal { count } => Arrays::Equal(*count),
            Shape::Vector { counts, displs } => Arrays::Vector(wide(counts), wide(displs)),
            Shape::General { counts, displs, datatypes } => {
                let (counts, mut copies) = (wide(counts), vec![byte(); list.len()]);
                for (entry, ((neighbor, &count), copy)) in list.iter().zip(&counts).zip(&mut copies).enumerate() {
                    // other entries are ignored
                    if neighbor.rank.is_some() && count > 0 {
                        let datatype = datatypes.of_block(entry, count).ok_or_else(|| side.null_datatype(entry))?;
                        *copy = replaced.of(datatype, side, entry, comm)?;
                    }
                }
                Arrays::General(counts, wide(displs), copies)
            }
        };
        if list.iter().any(|n| n.rank.is_some()) && !matches!(side.shape, Shape::General { .. }) {
            datatype = replaced.of(datatype, side, 0, comm)?;
        }
        let (base, extent, names, field) = (side.base, side.extent, side.names, side.field);
        Ok(Side { base, datatype, extent, blocks, names, field, _own: replaced.own })
    }

    fn blocks(&self) -> Blocks<'_> {
        let shape = match &self.blocks {
            Arrays::One(count) => Shape::One { count: *count },
            Arrays::Equal(count) => Shape::Equal { count: *count },
            Arrays::Vector(counts, displs) => Shape::Vector { counts: Ints::Wide(counts), displs: Ints::Wide(displs) },
            Arrays::General(counts, displs, datatypes) => {
                Shape::General { counts: Ints::Wide(counts), displs: Ints::Wide(displs), datatypes: datatypes[..].into() }
            }
        };
        Blocks { base: self.base, datatype: self.datatype, extent: self.extent, shape, names: self.names, field: self.field }
    }
}
