//! Checks of a call's arguments: datatypes that MPI accepts, buffers that are not null, self edges
//! whose ends fit.

use super::buffers::{Blocks, Located};
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{MPI_Datatype, datatype, text_of};

/// Fails if MPI does not accept a datatype. `known` remembers the last one that it accepted.
///
/// # Safety
/// `datatype` must be a datatype or null.
#[inline]
pub unsafe fn accept(
    known: &mut Option<MPI_Datatype>,
    datatype: MPI_Datatype,
    side: &Blocks,
    entry: usize,
    comm: &Comm,
) -> Result<()> {
    if *known == Some(datatype) {
        return Ok(());
    }
    // SAFETY: the caller of `bind` vouches for the handle.
    unsafe { datatype::check_committed(datatype, comm) }
        .map_err(|e| Error::Datatype { argument: side.datatype_argument(entry), text: text_of(*e) })?;
    *known = Some(datatype);
    Ok(())
}

/// Fails if a block at address 0 has data there. Only a datatype with absolute addresses
/// (`MPI_BOTTOM`) has none.
///
/// # Safety
/// The block's datatype must be a datatype.
#[inline]
pub unsafe fn refuse_null(block: &Located, side: &Blocks) -> Result<()> {
    if block.at.is_null() && block.count > 0 {
        // SAFETY: the datatype has been accepted.
        let ((true_lb, _), size) = unsafe { (datatype::true_extent(block.datatype)?, datatype::size(block.datatype)?) };
        if true_lb == 0 && size > 0 {
            return Err(Error::NullBuffer { argument: Argument::new(side.names.buffer), count: block.count }.into());
        }
    }
    Ok(())
}

/// Returns the error of a self edge whose ends carry different numbers of bytes. `target` is the
/// entry of its target list, `source` that of its source list.
///
/// # Safety
/// Both datatypes must be datatypes.
#[cold]
pub unsafe fn self_edge(target: usize, from: &Located, source: usize, into: &Located) -> Result<Error> {
    // SAFETY: the datatypes have been accepted.
    let (sent, expected) = unsafe { (from.bytes()?, into.bytes()?) };
    Ok(Error::SelfEdge { target, sent, source_entry: source, expected })
}
