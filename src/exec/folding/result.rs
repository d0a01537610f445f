//! The result of a reduction, into which blocks are folded one after the other.
//!
//! Predefined operators on the types that `exec::elements` has loops for run in those, which read
//! block and result, and write the result. All others use `MPI_Reduce_local`, which leaves its
//! result in the right operand: each block is first copied next to the result so far. Cost: one
//! pass over block and result; two with `MPI_Reduce_local`.

use std::ops::Range;

use crate::datatype::buffers::{self, Blocks, Located};
use crate::datatype::check::refuse_null;
use crate::datatype::known::Known;
use crate::datatype::pack::{Loopback, Packing};
use crate::error::{Error, Result};
use crate::exec::elements::fold_in_place;
use crate::exec::scratch::{Places, Room, Scratch};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::op::{self, Element, Operator};
use crate::mpi::{Datatype, Op, text_of};

/// The result of a reduction.
pub struct Reduction {
    /// Number of blocks in the result.
    folded: usize,
    op: Option<Op>,
    accepted: Option<(Op, Datatype)>,
    predefined: Option<(Operator, Element)>,
    result: Option<Located>,
    extent: i64,
    bytes: usize,
    /// How the result's data is unpacked, and its address, if it is contiguous.
    way: Packing,
    in_place: Option<*mut u8>,
    /// Two blocks with the layout of the result.
    scratch: Scratch,
    kept: Places,
    /// Index of the one that holds the result so far.
    at: usize,
}

impl Reduction {
    pub fn new() -> Reduction {
        Reduction {
            folded: 0,
            op: None,
            accepted: None,
            predefined: None,
            result: None,
            extent: 0,
            bytes: 0,
            way: Packing::InPlace(std::ptr::null_mut()),
            in_place: None,
            scratch: Scratch::default(),
            kept: Places::NONE,
            at: 0,
        }
    }

    /// Bytes of a block.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Binds the result of so many blocks, and checks the operator.
    pub fn bind(&mut self, op: Op, side: &Blocks, blocks: usize, known: &Known, comm: &Comm, self_comm: &Comm) -> Result<()> {
        if blocks == 0 {
            // without sources, the arguments are not significant
            return Ok(());
        }
        let result = side.locate(0)?;
        if self.accepted != Some((op, result.datatype)) {
            result
                .datatype
                .check_committed(comm.view())
                .map_err(|e| Error::Datatype { argument: side.datatype_argument(0), text: text_of(*e) })?;
            op.check_type(result.datatype, self_comm)
                .map_err(|text| Error::Operator { argument: side.datatype_argument(0), text })?;
            self.accepted = Some((op, result.datatype));
            self.predefined = op::predefined(op, result.datatype);
        }
        refuse_null(&result, side)?;
        let (way, size) = Packing::of(&result, known, comm)?;
        let argument = || side.count_argument(0);
        let bytes = buffers::length(result.count, size, argument)?;
        (self.op, self.extent, self.bytes) = (Some(op), side.extent, bytes);
        self.in_place = if let Packing::InPlace(at) = way { Some(at) } else { None };
        self.way = way;
        if self.predefined.is_none() && blocks > 1 {
            let room = Room::of(&result, side.extent, argument)?;
            self.scratch.hold(room, 2)?;
            self.kept = self.scratch.places(room);
        }
        self.result = Some(result);
        Ok(())
    }

    /// Forgets the result of the previous call.
    pub fn restart(&mut self) {
        (self.folded, self.at) = (0, 0);
    }

    /// Folds a block into the result; `last`: no other block follows.
    ///
    /// # Safety
    /// `data` must be readable for the bytes of a block, and the result writable.
    pub unsafe fn fold(&mut self, data: *const u8, last: bool, loopback: Loopback) -> Result<()> {
        let first = self.folded == 0;
        self.folded += 1;
        let (Some(result), Some(op)) = (self.result, self.op) else { return Ok(()) };
        // SAFETY: the caller vouches for data and result; the kept blocks are as long as the
        // result.
        unsafe {
            match (self.predefined, self.in_place) {
                _ if first && last => self.place(data, &result, loopback),
                (Some(_), Some(into)) if first => {
                    std::ptr::copy_nonoverlapping(data, into, self.bytes);
                    Ok(())
                }
                (Some((operator, element)), Some(into)) => {
                    fold_in_place(operator, element, into, data, self.bytes);
                    Ok(())
                }
                _ => {
                    let next = 1 - self.at;
                    let into = if last { result.at } else { self.kept.at(next) };
                    let so_far = self.kept.at(self.at);
                    self.place(data, &Located { at: into, ..result }, loopback)?;
                    self.at = next;
                    if first {
                        return Ok(());
                    }
                    op::reduce(so_far, into, result.count, self.extent, result.datatype, op)
                }
            }
        }
    }

    /// Returns the bytes of an element, if blocks are folded where the result lies.
    pub fn element_in_place(&self) -> Option<usize> {
        let (_, element) = self.predefined.filter(|_| self.in_place.is_some())?;
        Some(element.bytes())
    }

    /// Folds bytes `part` of a block into the result. `before`: blocks whose parts have been folded
    /// before, but that are not counted yet.
    ///
    /// # Safety
    /// `data` must be readable for so many bytes, whole elements, and the result writable.
    pub unsafe fn fold_part(&mut self, part: Range<usize>, data: *const u8, before: usize) {
        let (Some((operator, element)), Some(at)) = (self.predefined, self.in_place) else { return };
        let into = at.wrapping_add(part.start);
        // SAFETY: the caller vouches for both.
        unsafe {
            if self.folded + before == 0 {
                std::ptr::copy_nonoverlapping(data, into, part.len());
            } else {
                fold_in_place(operator, element, into, data, part.len());
            }
        }
    }

    /// Counts a block that has been folded in parts.
    pub fn count(&mut self) {
        self.folded += 1;
    }

    /// Unpacks a block to where `into` says.
    unsafe fn place(&self, data: *const u8, into: &Located, loopback: Loopback) -> Result<()> {
        // SAFETY: as for `fold`.
        unsafe {
            match (self.in_place, &self.result) {
                (Some(at), Some(result)) => {
                    let offset = at.addr().wrapping_sub(result.at.addr());
                    std::ptr::copy_nonoverlapping(data, into.at.wrapping_add(offset), self.bytes);
                    Ok(())
                }
                _ => {
                    let data = std::slice::from_raw_parts(data, self.bytes);
                    self.way.unpack_front(data, into, self.bytes, loopback)
                }
            }
        }
    }

    /// Forgets which operator and datatype MPI has accepted.
    pub fn forget_datatypes(&mut self) {
        self.accepted = None;
    }
}
