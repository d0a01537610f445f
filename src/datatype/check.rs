//! Checks of a call's arguments: datatypes that MPI accepts, buffers that are not null, self edges
//! whose ends fit.

use std::ffi::c_void;

use super::buffers::{Blocks, Located, Shape};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{Datatype, text_of};

impl Blocks<'_> {
    /// Locates the block of list entry `entry`, and checks it. `known` remembers the last datatype
    /// that MPI accepted.
    #[inline]
    pub fn bind(&self, entry: usize, known: &mut Option<Datatype>, comm: &Comm) -> Result<Located> {
        let located = self.locate(entry)?;
        accept(known, located.datatype, self, entry, comm)?;
        refuse_null(&located, self)?;
        Ok(located)
    }
}

/// Fails if MPI does not accept a datatype. `known` remembers the last one that it accepted.
#[inline]
pub fn accept(known: &mut Option<Datatype>, datatype: Datatype, side: &Blocks, entry: usize, comm: &Comm) -> Result<()> {
    if *known == Some(datatype) {
        return Ok(());
    }
    datatype
        .check_committed(comm.view())
        .map_err(|e| Error::Datatype { argument: side.datatype_argument(entry), text: text_of(*e) })?;
    *known = Some(datatype);
    Ok(())
}

/// No memory of a program begins so near to address 0.
const NULL_PAGE: usize = 4096;

/// True if no memory of a program is at an address.
#[inline]
pub fn is_near_null(at: *const c_void) -> bool {
    at.addr() < NULL_PAGE
}

/// True if no memory is at a block's address: the buffer is NULL. Displacements of single blocks
/// may be addresses, then.
#[inline]
pub fn is_null(block: &Located, side: &Blocks) -> bool {
    side.base.is_null() && (is_near_null(block.at.cast()) || matches!(side.shape, Shape::One { .. } | Shape::Equal { .. }))
}

/// True if an element has data near its own address. One with absolute addresses (`MPI_BOTTOM`) has
/// none there.
pub fn has_data_near_its_address(datatype: Datatype) -> Result<bool> {
    let ((true_lb, _), size) = (datatype.true_extent()?, datatype.size()?);
    Ok(size > 0 && true_lb.unsigned_abs() < NULL_PAGE as u64)
}

/// Fails if a block of a null buffer has data there.
#[inline]
pub fn refuse_null(block: &Located, side: &Blocks) -> Result<()> {
    if is_null(block, side) && block.count > 0 && has_data_near_its_address(block.datatype)? {
        return Err(Error::NullBuffer { argument: side.buffer_argument(), count: block.count }.into());
    }
    Ok(())
}

/// Returns the error of a self edge whose ends carry different numbers of bytes. `target` is the
/// entry of its target list, `source` that of its source list.
#[cold]
pub fn self_edge(target: usize, from: &Located, source: usize, into: &Located) -> Result<Error> {
    let (sent, expected) = (from.bytes()?, into.bytes()?);
    Ok(Error::SelfEdge { target, sent, source_entry: source, expected })
}
