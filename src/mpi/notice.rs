//! Notices: each is sent in place of a message that its sender cannot pack or send.
//!
//! The process at the other end waits for a message and knows its length. A notice is longer, so
//! that the receive fails with `MPI_ERR_TRUNCATE`, and later messages match as they would have.
//!
//! Cost: the message's bytes, all read from one small piece of memory.

use super::comm::Owned as Comm;
use super::datatype::{self, Owned as Datatype};
use super::message::{Block, Message, Mode, Request, send as send_block};
use crate::error::Result;
use crate::util::cast::to_int;

/// The bytes of a notice, sent again and again. No packet begins like this (`schedule::packet`), so
/// a process that forwards blocks never takes a notice for a packet.
static PIECE: [u8; 4096] = [0xff; 4096];

/// Returns a message to `peer` that is longer than `bytes` bytes, and the datatype that it uses.
///
/// # Safety
/// The message must be posted before the datatype is dropped, and not be used after that.
pub unsafe fn longer_than(bytes: u64, peer: i32) -> Result<(Message, Option<Datatype>)> {
    let at = PIECE.as_ptr().cast_mut();
    if bytes < PIECE.len() as u64 {
        return Ok((Message { at, count: to_int::<i32>(bytes) + 1, datatype: datatype::byte(), peer }, None));
    }
    let all = Datatype::again(bytes / PIECE.len() as u64 + 1, to_int(PIECE.len()))?;
    // SAFETY: whoever uses the message keeps the datatype.
    let datatype = unsafe { all.lend() };
    Ok((Message { at, count: 1, datatype, peer }, Some(all)))
}

/// Sends a notice in place of a message of `bytes` bytes.
pub fn send(bytes: u64, target: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the datatype is dropped after the message is posted.
    let (message, _datatype) = unsafe { longer_than(bytes, to_int(target)) }?;
    let Message { at, count, datatype, .. } = message;
    // SAFETY: the piece is never written.
    unsafe { send_block(Mode::Standard, &Block { at, count: count.into(), datatype }, target, tag, comm) }
}
