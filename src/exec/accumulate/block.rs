//! One received block: how its data is combined with what is in the caller's buffer.
//!
//! A predefined operator combines the elements of one predefined datatype, however the block's
//! datatype spreads them; a user-defined operator combines elements of the block's datatype.

use std::ops::Range;

use crate::datatype::buffers::{self, Blocks, Located};
use crate::datatype::check::{accept, refuse_null};
use crate::datatype::decode;
use crate::datatype::known::Known;
use crate::datatype::pack::{Loopback, Packing};
use crate::error::{Error, Result};
use crate::exec::elements::Elements;
use crate::exec::scratch::{Room, Scratch};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{Datatype, Op, op};
use crate::util::cast::{to_int, to_usize};

/// Bytes that are packed, combined and unpacked at a time: they stay in the first cache.
const STRETCH: usize = 8192;

/// The operands, as the operator needs them.
#[derive(Clone, Copy)]
enum Operands {
    /// Elements without holes.
    Dense(Elements),
    /// Elements of a predefined datatype with holes: a pair of numbers of different lengths.
    Spread {
        /// The datatype.
        datatype: Datatype,
        /// Bytes of its data.
        size: i64,
        /// Bytes from one element to the next.
        extent: i64,
    },
    /// Elements of the block's datatype, for an operator of the program's.
    Whole,
    /// Nothing: the datatype has no data.
    Nothing,
}

/// A block as bound.
#[derive(Clone)]
struct Bound {
    op: Op,
    commutes: bool,
    located: Located,
    /// Bytes from one element of the block to the next.
    extent: i64,
    bytes: usize,
    packing: Packing,
    operands: Operands,
    /// Where operands lie that the operator cannot take from the caller's buffer, if it needs some.
    room: Option<Room>,
}

/// A block that is received from a source.
pub struct Block {
    /// The entry in the list of sources.
    pub source: u32,
    /// The last operator and datatype that MPI has accepted, and how many datatypes had been freed
    /// then.
    accepted: Option<(Op, Datatype, u64, Operands)>,
    bound: Option<Bound>,
}

/// Everything that combining a block needs beside its data.
pub struct Tools<'a> {
    /// Memory for operands.
    pub scratch: &'a mut Scratch,
    /// Memory for a block's packed data.
    pub packed: &'a mut [u8],
    /// Facts about datatypes.
    pub known: &'a Known,
    /// How the process sends messages to itself.
    pub loopback: Loopback<'a>,
}

impl Block {
    /// The block of an entry in the list of sources; not bound.
    pub fn new(source: u32) -> Block {
        Block { source, accepted: None, bound: None }
    }

    /// Binds the block, and checks operator and datatype.
    pub fn bind(
        &mut self,
        (op, commutes): (Op, bool),
        side: &Blocks,
        known: &Known,
        comm: &Comm,
        self_comm: &Comm,
    ) -> Result<()> {
        let entry = to_usize(self.source);
        let located = side.locate(entry)?;
        refuse_null(&located, side)?;
        let argument = || side.count_argument(entry);
        self.bound = None;
        if located.count == 0 && side.has_datatypes() {
            // the datatype of an empty block is not looked at
            return Ok(());
        }
        let operands = match self.accepted {
            Some((o, d, freed, operands)) if (o, d) == (op, located.datatype) && freed == known.freed()? => operands,
            _ => {
                accept(&mut None, located.datatype, side, entry, comm)?;
                let refused = |text| Error::Operator { argument: side.datatype_argument(entry), text };
                let operands = operands(op, located.datatype, known, self_comm, refused)?;
                self.accepted = Some((op, located.datatype, known.freed()?, operands));
                operands
            }
        };
        let (packing, size) = Packing::of(&located, known, comm)?;
        let bytes = buffers::length(located.count, size, argument)?;
        let extent = if side.has_datatypes() { known.extent(located.datatype)? } else { side.extent };
        let room = match operands {
            Operands::Dense(_) | Operands::Nothing => None,
            Operands::Spread { datatype, size, extent } => {
                let count = to_int::<i64>(bytes) / size;
                Some(Room::of(&Located { count, datatype, ..located }, extent, argument)?)
            }
            Operands::Whole => Some(Room::of(&located, extent, argument)?),
        };
        self.bound = Some(Bound { op, commutes, located, extent, bytes, packing, operands, room });
        Ok(())
    }

    /// Returns the bytes of its data.
    pub fn bytes(&self) -> usize {
        self.bound.as_ref().map_or(0, |bound| bound.bytes)
    }

    /// Returns the bytes of the packed data and the room for operands that combining needs.
    pub fn needs(&self) -> (usize, Option<Room>) {
        match &self.bound {
            None => (0, None),
            Some(bound) => {
                let packed = match (&bound.operands, &bound.packing) {
                    (Operands::Nothing, _) | (Operands::Dense(_), Packing::InPlace(_)) => 0,
                    (Operands::Whole, _) if bound.commutes => 0,
                    (Operands::Dense(elements), Packing::Layout(_)) => elements.whole(STRETCH).min(bound.bytes),
                    _ => bound.bytes,
                };
                (packed, bound.room)
            }
        }
    }

    /// Returns the elements of a bound block that are combined where they lie, one after the other,
    /// and the address of the first one.
    pub fn plain(&self) -> Option<(Elements, *mut u8)> {
        match self.bound.as_ref()? {
            Bound { operands: Operands::Dense(elements), packing: Packing::InPlace(at), .. } => Some((*elements, *at)),
            _ => None,
        }
    }

    /// Returns the same block, bound `offset` bytes from here.
    #[must_use]
    pub fn moved(&self, offset: isize) -> Block {
        let moved = |bound: &Bound| {
            let packing = match &bound.packing {
                Packing::InPlace(at) => Packing::InPlace(at.wrapping_offset(offset)),
                packing => packing.clone(),
            };
            let located = Located { at: bound.located.at.wrapping_offset(offset), ..bound.located };
            Bound { located, packing, ..*bound }
        };
        Block { source: self.source, accepted: self.accepted, bound: self.bound.as_ref().map(moved) }
    }

    /// Forgets which operator and datatype MPI has accepted.
    pub fn forget_datatypes(&mut self) {
        self.accepted = None;
    }

    /// Returns the bytes of an element, if the block can be combined in parts of whole elements.
    pub fn element(&self) -> Option<usize> {
        match &self.bound {
            Some(Bound { bytes: 1.., operands: Operands::Dense(elements), packing, .. }) => {
                matches!(packing, Packing::InPlace(_) | Packing::Layout(_)).then(|| elements.whole(1))
            }
            Some(Bound { bytes: 1.., .. }) => None,
            // there is nothing to combine
            _ => Some(1),
        }
    }

    /// Combines the received data with bytes `part` of the block: all of it, or whole elements if
    /// [`Block::element`] says that it can be combined in parts.
    ///
    /// # Safety
    /// The block must be writable as bound, and `data` readable for so many bytes.
    pub unsafe fn combine(&self, part: Range<usize>, data: *const u8, tools: &mut Tools) -> Result<()> {
        let Some(bound) = self.bound.as_ref().filter(|bound| bound.bytes > 0) else { return Ok(()) };
        // SAFETY: the caller vouches for both; `needs` has told how much memory there must be.
        unsafe {
            match bound.operands {
                Operands::Dense(elements) => bound.combine_dense(elements, part, data, tools),
                Operands::Spread { datatype, size, extent } => bound.combine_spread((datatype, size, extent), data, tools),
                Operands::Whole => bound.combine_whole(data, tools),
                Operands::Nothing => Ok(()),
            }
        }
    }
}

impl Bound {
    unsafe fn combine_dense(&self, elements: Elements, part: Range<usize>, data: *const u8, tools: &mut Tools) -> Result<()> {
        // SAFETY: as for `Block::combine`.
        unsafe {
            match &self.packing {
                Packing::InPlace(at) => elements.combine(at.wrapping_add(part.start), data, part.len()),
                Packing::Layout(layout) => {
                    let packed = tools.packed.as_mut_ptr();
                    let stretch = elements.whole(STRETCH);
                    for begin in part.clone().step_by(stretch) {
                        let end = (begin + stretch).min(part.end);
                        layout.pack_part(self.located.at, begin, end, packed);
                        elements.combine(packed, data.wrapping_add(begin - part.start), end - begin)?;
                        layout.unpack_part(packed, begin, end, self.located.at);
                    }
                    Ok(())
                }
                packing => {
                    let loopback = tools.loopback;
                    let packed = &mut tools.packed[..self.bytes];
                    packing.pack(&self.located, packed, loopback)?;
                    elements.combine(packed.as_mut_ptr(), data, self.bytes)?;
                    packing.unpack(packed, &self.located, loopback)
                }
            }
        }
    }

    unsafe fn combine_spread(
        &self,
        (datatype, size, extent): (Datatype, i64, i64),
        data: *const u8,
        tools: &mut Tools,
    ) -> Result<()> {
        let Some(room) = self.room else { return Ok(()) };
        let loopback = tools.loopback;
        let count = to_int::<i64>(self.bytes) / size;
        let operand = |at: *mut u8| Located { at, count, datatype };
        let places = tools.scratch.places(room);
        let (received, so_far) = (operand(places.at(0)), operand(places.at(1)));
        let packed = &mut tools.packed[..self.bytes];
        // SAFETY: as for `Block::combine`.
        unsafe {
            let data = std::slice::from_raw_parts(data, self.bytes);
            let (of_received, _) = Packing::of(&received, tools.known, loopback.comm)?;
            let (of_so_far, _) = Packing::of(&so_far, tools.known, loopback.comm)?;
            of_received.unpack(data, &received, loopback)?;
            self.packing.pack(&self.located, packed, loopback)?;
            of_so_far.unpack(packed, &so_far, loopback)?;
            op::reduce(received.at, so_far.at, count, extent, datatype, self.op)?;
            of_so_far.pack(&so_far, packed, loopback)?;
            self.packing.unpack(packed, &self.located, loopback)
        }
    }

    unsafe fn combine_whole(&self, data: *const u8, tools: &mut Tools) -> Result<()> {
        let Some(room) = self.room else { return Ok(()) };
        let loopback = tools.loopback;
        let located = &self.located;
        let received = Located { at: tools.scratch.places(room).at(0), ..*located };
        let of_received = match &self.packing {
            Packing::InPlace(at) => Packing::InPlace(received.at.wrapping_add(at.addr().wrapping_sub(located.at.addr()))),
            packing => packing.clone(),
        };
        // SAFETY: as for `Block::combine`.
        unsafe {
            let data = std::slice::from_raw_parts(data, self.bytes);
            of_received.unpack(data, &received, loopback)?;
            if self.commutes {
                return op::reduce(received.at, located.at, located.count, self.extent, located.datatype, self.op);
            }
            // what was there is the left operand, and the result is in the place of the right one
            op::reduce(located.at, received.at, located.count, self.extent, located.datatype, self.op)?;
            let packed = &mut tools.packed[..self.bytes];
            of_received.pack(&received, packed, loopback)?;
            self.packing.unpack(packed, located, loopback)
        }
    }
}

/// Returns what an operator works on in blocks of a datatype. If it works on nothing there, fails
/// with what `refused` makes of the reason.
fn operands(op: Op, datatype: Datatype, known: &Known, self_comm: &Comm, refused: impl Fn(String) -> Error) -> Result<Operands> {
    // what has a typemap is counted when it is freed, or forgotten before the next call
    known.typemap(datatype)?;
    match op.kind() {
        op::Kind::Predefined | op::Kind::User if datatype.size()? == 0 => return Ok(Operands::Nothing),
        op::Kind::Predefined => {}
        // those of windows are refused, whatever the datatype
        op::Kind::User | op::Kind::Windows => {
            op.check_type(datatype, self_comm).map_err(&refused)?;
            return Ok(Operands::Whole);
        }
    }
    let basic = if known.is_derived(datatype)? { decode::basic(datatype)? } else { Some(datatype) };
    let Some(basic) = basic else {
        return Err(refused("it is not made of one predefined datatype, which a predefined operator takes".into()).into());
    };
    op.check_type(basic, self_comm).map_err(&refused)?;
    Ok(match known.dense(basic)? {
        Some(size) => Operands::Dense(Elements::new(op, basic, to_usize(size))),
        None => Operands::Spread { datatype: basic, size: basic.size()?, extent: basic.extent()? },
    })
}
