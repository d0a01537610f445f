//! Checks of a call's arguments that need MPI: datatypes that it accepts, buffers that have an
//! address, self edges whose ends fit.

use super::buffers::{Blocks, Located};
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{MPI_Datatype, datatype, text_of};

/// Makes sure that MPI takes a datatype, unless it is the one that it took before.
///
/// # Safety
/// `datatype` must be a datatype or null.
#[inline]
pub unsafe fn accept(
    known: &mut Option<MPI_Datatype>,
    datatype: MPI_Datatype,
    side: &Blocks,
    slot: usize,
    comm: &Comm,
) -> Result<()> {
    if *known == Some(datatype) {
        return Ok(());
    }
    // SAFETY: the caller of `bind` vouches for the handle.
    unsafe { datatype::check_committed(datatype, comm) }
        .map_err(|e| Error::Datatype { argument: side.datatype_argument(slot), text: text_of(*e) })?;
    *known = Some(datatype);
    Ok(())
}

/// An error if a block at address 0 has bytes there. Only a datatype with absolute addresses has
/// none (`MPI_BOTTOM`).
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
    Ok(Error::SelfEdge { target, sent, source_slot: source, expected })
}
