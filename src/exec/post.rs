//! Posts the messages of a round. If one of them cannot be posted or packed, all others are, and
//! later ones match as they would have.
//!
//! A notice takes the place of a message that cannot be sent (`mpi::notice`). If MPI refuses that,
//! too, or a receive, then nothing more is exchanged with the process at the other end: a later
//! message would be taken for the one that is missing. Later calls say so.

use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::{liveness, notice, proc_null};
use crate::topology::neighborhood::Rank;
use crate::util::cast::{to_int, to_u32};

/// Fails if an earlier call could not keep messages matched with a process that lives. `gone` is
/// known to have ended. Neighbors that live wait for this process whoever else has ended.
#[inline]
pub fn check(comm: &Comm, gone: Option<u32>) -> Result<()> {
    if comm.has_unmatched() { check_unmatched(comm, gone) } else { Ok(()) }
}

#[cold]
fn check_unmatched(comm: &Comm, gone: Option<u32>) -> Result<()> {
    let living = comm.unmatched().into_iter().find(|&rank| gone != Some(rank) && !liveness::has_ended(comm, rank));
    living.map_or(Ok(()), |rank| Err(Error::Unmatched { rank }.into()))
}

/// Posts receives, each of which adds one request to the list. Returns the first error.
///
/// # Safety
/// As for [`Requests::post_receives`].
#[inline]
pub unsafe fn receives(requests: &mut Requests, messages: &[Message], tag: i32, comm: &Comm) -> Option<Box<Error>> {
    let before = requests.len();
    if !comm.has_unmatched() {
        // SAFETY: the caller vouches for the buffers.
        match unsafe { requests.post_receives(messages, tag, comm) } {
            Ok(()) => None,
            // SAFETY: as above.
            Err(e) => unsafe { other_receives(requests, &messages[requests.len() - before..], tag, comm, Some(e)) },
        }
    } else {
        // SAFETY: as above.
        unsafe { other_receives(requests, messages, tag, comm, None) }
    }
}

/// Posts receives one by one. `failed` is the error of the first one.
#[cold]
#[inline(never)]
unsafe fn other_receives(
    requests: &mut Requests,
    messages: &[Message],
    tag: i32,
    comm: &Comm,
    mut failed: Option<Box<Error>>,
) -> Option<Box<Error>> {
    let mut first = None;
    for message in messages {
        let posted = match failed.take() {
            Some(e) => Err(e),
            None => match skip_cut_off(requests, message.peer, comm) {
                Some(e) => {
                    first.get_or_insert(e);
                    continue;
                }
                // SAFETY: the caller vouches for the buffers.
                None => unsafe { requests.post_receives(std::slice::from_ref(message), tag, comm) },
            },
        };
        if let Err(e) = posted {
            first.get_or_insert(e);
            requests.skip();
            mismatch(comm, message.peer);
        }
    }
    first
}

/// Posts sends, each of which adds one request to the list; in place of the `spoiled` ones, by
/// position, notices. Returns the first error.
///
/// # Safety
/// As for [`Requests::post_sends`].
#[inline]
pub unsafe fn sends(
    requests: &mut Requests,
    messages: &[Message],
    spoiled: Option<&dyn Fn(usize) -> bool>,
    tag: i32,
    comm: &Comm,
) -> Option<Box<Error>> {
    let before = requests.len();
    if spoiled.is_none() && !comm.has_unmatched() {
        // SAFETY: the caller vouches for the buffers.
        match unsafe { requests.post_sends(messages, tag, comm) } {
            Ok(()) => None,
            // SAFETY: as above.
            Err(e) => unsafe { other_sends(requests, &messages[requests.len() - before..], &|_| false, tag, comm, Some(e)) },
        }
    } else {
        // SAFETY: as above.
        unsafe { other_sends(requests, messages, spoiled.unwrap_or(&|_| false), tag, comm, None) }
    }
}

/// Posts sends one by one. `failed` is the error of the first one.
#[cold]
#[inline(never)]
unsafe fn other_sends(
    requests: &mut Requests,
    messages: &[Message],
    spoiled: &dyn Fn(usize) -> bool,
    tag: i32,
    comm: &Comm,
    mut failed: Option<Box<Error>>,
) -> Option<Box<Error>> {
    let mut first = None;
    for (k, message) in messages.iter().enumerate() {
        let posted = match failed.take() {
            Some(e) => Err(e),
            None if message.peer == proc_null() => {
                requests.skip();
                continue;
            }
            None => match skip_cut_off(requests, message.peer, comm) {
                Some(e) => {
                    first.get_or_insert(e);
                    continue;
                }
                None if spoiled(k) => {
                    replace(requests, message, tag, comm);
                    continue;
                }
                // SAFETY: the caller vouches for the buffers.
                None => unsafe { requests.post_sends(std::slice::from_ref(message), tag, comm) },
            },
        };
        if let Err(e) = posted {
            first.get_or_insert(e);
            replace(requests, message, tag, comm);
        }
    }
    first
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To this process.
    In,
    /// From this process.
    Out,
}

/// Posts one end of a message that no notice can stand for, as what is done next depends on it:
/// once more if MPI refuses it. Adds one request to the list. Returns the first error.
///
/// # Safety
/// As for [`Requests::post_receives`] and [`Requests::post_sends`].
pub unsafe fn insist(requests: &mut Requests, message: &Message, way: Way, tag: i32, comm: &Comm) -> Option<Box<Error>> {
    let message = std::slice::from_ref(message);
    let mut post = || match way {
        // SAFETY: the caller vouches for the buffer.
        Way::In => unsafe { requests.post_receives(message, tag, comm) },
        // SAFETY: as above.
        Way::Out => unsafe { requests.post_sends(message, tag, comm) },
    };
    let failed = post().err()?;
    if post().is_err() {
        requests.skip();
        mismatch(comm, message[0].peer);
    }
    Some(failed)
}

/// Posts a notice in place of a message.
#[cold]
fn replace(requests: &mut Requests, message: &Message, tag: i32, comm: &Comm) {
    notify(requests, bytes(message).unwrap_or(0), message.peer, tag, comm);
}

/// Posts a notice in place of a message of up to `bytes` bytes to `peer`.
#[cold]
pub fn notify(requests: &mut Requests, bytes: u64, peer: i32, tag: i32, comm: &Comm) {
    if skip_cut_off(requests, peer, comm).is_some() {
        return;
    }
    // SAFETY: notices lie in memory that is never written; the datatype is dropped after the
    // message is posted.
    let posted =
        unsafe { notice::longer_than(bytes, peer).and_then(|(notice, _datatype)| requests.post_sends(&[notice], tag, comm)) };
    if posted.is_err() {
        requests.skip();
        mismatch(comm, peer);
    }
}

/// Returns the bytes of a message's data; `u64::MAX`, which no message has, where 64 bits do not
/// hold their number. The size of such a datatype is `MPI_UNDEFINED`, which is negative.
pub fn bytes(message: &Message) -> Result<u64> {
    let size = u64::try_from(message.datatype.size()?).unwrap_or(u64::MAX);
    Ok(size.saturating_mul(to_int(message.count)))
}

/// Returns the process at the other end of a message; `None` for `MPI_PROC_NULL`.
fn rank_of(peer: i32) -> Option<Rank> {
    if peer == proc_null() { None } else { Some(to_u32(peer)) }
}

/// Notes that messages to or from a process no longer match. A message to or from nobody has
/// nothing that another one could be taken for.
#[cold]
fn mismatch(comm: &Comm, peer: i32) {
    if let Some(rank) = rank_of(peer) {
        comm.mismatch(rank);
    }
}

/// If nothing is exchanged any more with the process at the other end, skips the message and
/// returns its error.
fn skip_cut_off(requests: &mut Requests, peer: i32, comm: &Comm) -> Option<Box<Error>> {
    let rank = rank_of(peer)?;
    (comm.has_unmatched() && comm.unmatched().contains(&rank)).then(|| {
        requests.skip();
        if liveness::has_ended(comm, rank) { Error::Gone { rank } } else { Error::Unmatched { rank } }.into()
    })
}
