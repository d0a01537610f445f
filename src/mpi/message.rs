//! Single messages: sends, receives with wildcards, probes, and messages of a process to itself.
//!
//! Messages that are received as bytes are received as `MPI_PACKED`, which the standard lets match
//! any type that was sent.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use super::comm::{Communicator, Owned as Comm};
use super::constants::{RSMPI_ANY_SOURCE, RSMPI_ANY_TAG, RSMPI_MESSAGE_NULL, RSMPI_SUM, RSMPI_UINT32_T};
pub use super::datatype::packed;
use super::datatype::{Datatype, Owned as OwnedDatatype};
pub use super::request::{Cancelled, Request, Status, lend};
use super::{MPI_Status, check, coll};
use crate::error::{Argument, Result};
use crate::util::cast::to_int;
use crate::util::lock::lock;

unsafe extern "C" {
    safe static mpixn_matched_probe: c_int;
    safe fn mpixn_tag_ub() -> c_int;
}

/// How a send completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer can be used again.
    Standard,
    /// When, in addition, the receiver has begun to receive.
    Synchronous,
}

/// Data to send or receive: `count` elements of a datatype at an address.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Address of the first element.
    pub at: *const u8,
    /// Elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: Datatype,
}

/// Returns bytes as a block.
pub fn bytes_at(at: *const u8, bytes: u64) -> Block {
    Block { at, count: to_int(bytes), datatype: packed() }
}

impl Block {
    /// Returns count and datatype for MPI, whose counts are `int`.
    ///
    /// # Safety
    /// The third value must outlive the call of MPI.
    pub(super) unsafe fn narrow(&self) -> Result<(c_int, Datatype, Option<OwnedDatatype>)> {
        match c_int::try_from(self.count) {
            Ok(count) => Ok((count, self.datatype, None)),
            // a message of elements without data is empty, however many they are
            Err(_) if self.datatype.size()? == 0 => Ok((0, self.datatype, None)),
            Err(_) => {
                let large = OwnedDatatype::repeated(self.count, self.datatype, Argument::new("count"))?;
                // SAFETY: the caller vouches for it.
                Ok((1, unsafe { large.lend() }, Some(large)))
            }
        }
    }
}

/// Starts a send (`MPI_Isend` or `MPI_Issend`).
///
/// # Safety
/// The block must be readable, and not be written, until the request is complete.
#[inline]
pub unsafe fn send(mode: Mode, block: &Block, target: u32, tag: i32, comm: &Comm) -> Result<Request> {
    let mut request = Request::default();
    // SAFETY: the caller vouches for the block; the request is a local.
    unsafe {
        let (count, datatype, _large) = block.narrow()?;
        let (at, target) = (block.at.cast(), to_int(target));
        match mode {
            Mode::Standard => {
                check(mpi_sys::MPI_Isend(at, count, datatype.raw(), target, tag, comm.raw(), request.raw_mut()), "MPI_Isend")
            }
            Mode::Synchronous => {
                check(mpi_sys::MPI_Issend(at, count, datatype.raw(), target, tag, comm.raw(), request.raw_mut()), "MPI_Issend")
            }
        }?;
        if let Some(tally) = comm.tally() {
            tally.add(1, u64::try_from(block.count * block.datatype.size().unwrap_or(0)).unwrap_or(0));
        }
    }
    Ok(request)
}

/// Starts a receive of at most `bytes` bytes (`MPI_Irecv`); without a source or a tag, from any
/// process or with any tag.
///
/// # Safety
/// The bytes must be writable, and be left alone, until the request is complete.
#[inline]
pub unsafe fn receive(at: *mut u8, bytes: u64, source: Option<u32>, tag: Option<i32>, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the bytes.
    unsafe {
        let (count, datatype, _large) = bytes_at(at, bytes).narrow()?;
        irecv(at, count, datatype, source.map_or(RSMPI_ANY_SOURCE, to_int), tag.unwrap_or(RSMPI_ANY_TAG), comm)
    }
}

/// Starts a receive into a block in place (`MPI_Irecv`).
///
/// # Safety
/// The block must be writable, and be left alone, until the request is complete.
pub unsafe fn receive_block(block: &Block, source: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the block.
    unsafe {
        let (count, datatype, _large) = block.narrow()?;
        irecv(block.at.cast_mut(), count, datatype, to_int(source), tag, comm)
    }
}

/// Starts a receive of elements of a datatype (`MPI_Irecv`).
///
/// # Safety
/// The elements must be writable, and be left alone, until the request is complete.
#[inline]
pub(super) unsafe fn irecv(
    at: *mut u8,
    count: c_int,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: &Comm,
) -> Result<Request> {
    let mut request = Request::default();
    // SAFETY: the caller vouches for the elements; the request is a local.
    let rc = unsafe { mpi_sys::MPI_Irecv(at.cast(), count, datatype.raw(), source, tag, comm.raw(), request.raw_mut()) };
    check(rc, "MPI_Irecv").map(|()| request)
}

/// One end of a message: data that is sent to, or received from, a process.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Address of the first element.
    pub at: *mut u8,
    /// Elements.
    pub count: c_int,
    /// Their datatype.
    pub datatype: Datatype,
    /// The process at the other end.
    pub peer: c_int,
}

/// Sends a message to the process itself (`MPI_Sendrecv`).
///
/// # Safety
/// The buffers must be readable and writable as described and must not overlap.
pub unsafe fn exchange_with_self(send: &Message, recv: &Message, tag: c_int, comm: &Comm) -> Result<()> {
    // two threads must not receive each other's message
    static EXCHANGING: Mutex<()> = Mutex::new(());
    // simulated processes share the lock, and a communicator with nobody
    let _exchanging = (!super::is_simulated()).then(|| lock(&EXCHANGING));
    let mut status = MaybeUninit::<MPI_Status>::uninit();
    // SAFETY: the caller vouches for the buffers; the status is a local.
    check(
        unsafe {
            mpi_sys::MPI_Sendrecv(
                send.at.cast(),
                send.count,
                send.datatype.raw(),
                send.peer,
                tag,
                recv.at.cast(),
                recv.count,
                recv.datatype.raw(),
                recv.peer,
                tag,
                comm.raw(),
                status.as_mut_ptr(),
            )
        },
        "MPI_Sendrecv",
    )
}

/// A message that has arrived and waits to be received.
#[derive(Debug)]
pub struct Probed {
    /// Its source, tag and length.
    pub status: Status,
    /// The message's handle, if the probe took the message out of MPI's queue.
    pub(super) message: Option<mpi_sys::MPI_Message>,
}

/// Returns true if the MPI has matched probes.
pub fn has_matched_probe() -> bool {
    mpixn_matched_probe != 0
}

/// Looks for a message; without a source, from any process. Uses `MPI_Improbe` if `matched`, else
/// `MPI_Iprobe`, which is as good if nobody else receives on the communicator.
#[inline]
pub fn probe(source: Option<u32>, tag: i32, matched: bool, comm: &Comm) -> Result<Option<Probed>> {
    let mut status = MaybeUninit::<MPI_Status>::uninit();
    let (mut found, mut message) = (0, matched.then_some(RSMPI_MESSAGE_NULL));
    // SAFETY: results are locals, which MPI writes if it found a message.
    unsafe {
        let source = source.map_or(RSMPI_ANY_SOURCE, to_int);
        if let Some(message) = &mut message {
            check(mpi_sys::MPI_Improbe(source, tag, comm.raw(), &mut found, message, status.as_mut_ptr()), "MPI_Improbe")?;
        } else {
            check(mpi_sys::MPI_Iprobe(source, tag, comm.raw(), &mut found, status.as_mut_ptr()), "MPI_Iprobe")?;
        }
        if found == 0 {
            return Ok(None);
        }
        Ok(Some(Probed { status: Status::of(status.assume_init_ref())?, message }))
    }
}

/// A tag that no message on a communicator carries on which [`progress`] is called, but those of a
/// process to itself that travel within a call (`datatype::pack`).
pub const UNUSED_TAG: i32 = 0;

/// Lets MPI progress all messages, and yield the core if it does so at all. A probe that finds a
/// message may return before MPI has looked after others, so this one looks for [`UNUSED_TAG`]. So
/// may one on a communicator of one process (MPICH).
#[inline]
pub fn progress(comm: Communicator) -> Result<()> {
    let (mut found, mut status) = (0, MaybeUninit::<MPI_Status>::uninit());
    // SAFETY: a live communicator; results are locals.
    let probed = unsafe { mpi_sys::MPI_Iprobe(RSMPI_ANY_SOURCE, UNUSED_TAG, comm.raw(), &mut found, status.as_mut_ptr()) };
    check(probed, "MPI_Iprobe")
}

impl Probed {
    /// Receives it.
    ///
    /// # Safety
    /// As many bytes as it has must be writable, and be left alone, until the request is complete.
    #[inline]
    pub unsafe fn receive(self, into: *mut u8, comm: &Comm) -> Result<Request> {
        // SAFETY: the caller vouches for the bytes.
        unsafe {
            let (count, datatype, _large) = bytes_at(into, self.status.bytes).narrow()?;
            self.receive_typed(into, count, datatype, comm)
        }
    }

    /// Receives it as elements of a datatype.
    ///
    /// # Safety
    /// The elements must be writable, and be left alone, until the request is complete.
    pub(super) unsafe fn receive_typed(self, at: *mut u8, count: c_int, datatype: Datatype, comm: &Comm) -> Result<Request> {
        let Some(mut message) = self.message else {
            // SAFETY: the caller vouches for the elements.
            return unsafe { irecv(at, count, datatype, to_int(self.status.source), self.status.tag, comm) };
        };
        let mut request = Request::default();
        // SAFETY: the caller vouches for the elements; the request is a local.
        let rc = unsafe { mpi_sys::MPI_Imrecv(at.cast(), count, datatype.raw(), &mut message, request.raw_mut()) };
        check(rc, "MPI_Imrecv").map(|()| request)
    }
}

/// Returns the largest tag (`MPI_TAG_UB`). Open MPI has the attribute on `MPI_COMM_WORLD` and its
/// duplicates, but not on parts of it.
pub fn largest_tag() -> Result<i32> {
    /// The least value that the standard allows.
    const LEAST: i32 = 32767;
    let (mut value, mut found): (*mut c_int, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator; the attribute's value is a pointer to an int that lives as long
    // as MPI.
    unsafe {
        let (world, key) = (super::comm::world().raw(), mpixn_tag_ub());
        check(mpi_sys::MPI_Comm_get_attr(world, key, (&raw mut value).cast(), &mut found), "MPI_Comm_get_attr")?;
        Ok(if found == 0 || value.is_null() { LEAST } else { *value })
    }
}

/// Nonblocking collectives of sparse protocols.
pub mod collective {
    use super::*;

    /// Starts a sum of one number for each process (`MPI_Ireduce_scatter_block`).
    ///
    /// # Safety
    /// `send` has one entry for each process; both are left alone until the request is complete.
    pub unsafe fn sum_scatter(send: &[u32], recv: *mut u32, comm: &Comm) -> Result<Request> {
        let mut request = Request::default();
        // SAFETY: the caller vouches for both; the request is a local.
        unsafe {
            let (number, sum) = (RSMPI_UINT32_T, RSMPI_SUM);
            coll::count(Some(comm), size_of_val(send));
            let from = send.as_ptr().cast();
            check(
                mpi_sys::MPI_Ireduce_scatter_block(from, recv.cast(), 1, number, sum, comm.raw(), request.raw_mut()),
                "MPI_Ireduce_scatter_block",
            )?;
        }
        Ok(request)
    }
}
