//! Sinks: each receives a message for which its receiver has no memory, and discards it.
//!
//! A long message that nobody receives keeps its sender waiting, and one that stays in MPI's queue
//! would match a later receive.
//!
//! Cost: a datatype for each, and the message's bytes, all written to one small piece of memory.

use std::sync::atomic::AtomicU8;

use super::comm::Owned as Comm;
use super::datatype::Owned as Datatype;
use super::message::{Message, Probed, Request, irecv};
use crate::error::Result;
use crate::util::cast::to_int;

/// Where the bytes go, those of all messages to the same place. Nobody reads them.
static PIECE: [AtomicU8; 4096] = [const { AtomicU8::new(0) }; 4096];

/// Returns a receive that has room for `bytes` bytes from `peer`, and the datatype that it uses.
///
/// # Safety
/// The receive must be posted before the datatype is dropped, and not be used after that.
pub unsafe fn room_for(bytes: u64, peer: i32) -> Result<(Message, Datatype)> {
    let all = Datatype::again(bytes / PIECE.len() as u64 + 1, to_int(PIECE.len()))?;
    // SAFETY: whoever uses the message keeps the datatype.
    let datatype = unsafe { all.lend() };
    Ok((Message { at: PIECE.as_ptr().cast::<u8>().cast_mut(), count: 1, datatype, peer }, all))
}

/// Starts a receive of at most `bytes` bytes, which are discarded.
pub fn receive(bytes: u64, source: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the datatype is dropped after the receive is posted; the piece is always there.
    unsafe {
        let (room, _datatype) = room_for(bytes, to_int(source))?;
        irecv(room.at, room.count, room.datatype, to_int(source), tag, comm)
    }
}

/// Starts to receive a message that has been found, and to discard it.
pub fn discard(found: Probed, comm: &Comm) -> Result<Request> {
    // SAFETY: as above.
    unsafe {
        let (room, _datatype) = room_for(found.status.bytes, to_int(found.status.source))?;
        found.receive_typed(room.at, room.count, room.datatype, comm)
    }
}
