//! Guarded receives: a message that is too long cannot write past their end.
//!
//! If a transport can read the sender's memory, Open MPI's `ob1` fetches a long message straight
//! into a contiguous receive buffer, with the message's length
//! (`mca_pml_ob1_recv_request_progress_rget`). It writes past the end of a receive that is too
//! short, and then reports `MPI_ERR_TRUNCATE`. Seen in 4.1.4 (btl/vader, btl/self) and 5.0.11
//! (btl/sm, btl/self) for messages above the eager limit; not if the sender's memory cannot be
//! read.
//!
//! A buffer with gaps is filled by copying, which stops at its end. So if a test message of the
//! process to itself shows the defect, each receive is extended by two spare bytes of ours, apart
//! from it and from each other. Its receiver compares the received length with the expected one.
//!
//! Cost: a datatype per guarded receive, and one more copy of a long message. Nothing with other
//! MPIs.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;

use super::MPI_Aint;
use super::comm::Owned as Comm;
use super::datatype::{self, Datatype, Owned as OwnedDatatype};
use super::message::{Message, Request, exchange_with_self, irecv};
use crate::error::{Error, Result};
use crate::util::cast::to_int;

/// The spare bytes, which MPI overwrites with the excess of messages that are too long.
static SPARE: [AtomicU8; 3] = [const { AtomicU8::new(0) }; 3];

/// Returns true if receives must be guarded. The first call sends a message to the process itself.
pub fn is_needed() -> bool {
    static NEEDED: OnceLock<bool> = OnceLock::new();
    // if the test fails, assume the defect
    *NEEDED.get_or_init(|| super::is_open_mpi() && overruns().unwrap_or(true))
}

/// Returns true if MPI writes a message that is too long past the end of its receive.
fn overruns() -> Result<bool> {
    /// Longer than all eager limits.
    const LONG: usize = 256 << 10;
    const SHORT: usize = 1 << 10;
    let alone = Comm::alone()?;
    let (mut from, mut into) = (vec![1u8; LONG], vec![0u8; LONG]);
    let end =
        |at: &mut [u8], count: usize| Message { at: at.as_mut_ptr(), count: to_int(count), datatype: datatype::byte(), peer: 0 };
    // SAFETY: both are as long as the message, so that nothing else can be overwritten. That it is
    // too long is what is asked for.
    let truncated = unsafe { exchange_with_self(&end(&mut from, LONG), &end(&mut into, SHORT), 0, &alone) };
    Ok(truncated.is_err() && into[SHORT..].iter().any(|&byte| byte != 0))
}

/// Makes a committed datatype whose one element at `at` is `count` elements of `datatype` there,
/// followed by the spare bytes.
pub fn around(at: *const u8, count: c_int, datatype: Datatype) -> Result<OwnedDatatype> {
    let spare = |k: usize| SPARE[k].as_ptr().addr().wrapping_sub(at.addr()).cast_signed() as MPI_Aint;
    OwnedDatatype::with_bytes(count, datatype, [spare(0), spare(2)])
}

/// Starts a guarded `MPI_Irecv` of at most `bytes` bytes. A longer message is reported with up to
/// two bytes more, or as truncated.
///
/// # Safety
/// As for [`super::message::receive`].
pub unsafe fn receive(at: *mut u8, bytes: u64, source: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the bytes. MPI keeps the datatypes as long as it needs them.
    unsafe {
        let (count, datatype, _large) = super::message::bytes_at(at, bytes).narrow()?;
        let all = around(at, count, datatype)?;
        irecv(at, 1, all.lend(), to_int(source), tag, comm)
    }
}

/// Fails if more bytes arrived than were expected.
pub fn check_length(came: u64, expected: u64, call: &'static str) -> Result<()> {
    if came <= expected {
        return Ok(());
    }
    let code = super::errors::truncated();
    let text = format!("it is longer than the {expected} bytes that are expected");
    Err(Error::Mpi { call, code, text }.into())
}
