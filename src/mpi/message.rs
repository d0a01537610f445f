//! Single messages whose sizes or senders need not be known: synchronous sends, wildcard receives, probes. What is received is received as
//! `MPI_PACKED`, which the standard lets match any type that was sent.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use super::comm::Owned as Comm;
use super::datatype::Owned as Datatype;
use super::{MPI_Datatype, MPI_Request, MPI_Status, check, coll, p2p};
use crate::error::Result;

unsafe extern "C" {
    static mpixn_matched_probe: c_int;
    fn mpixn_packed() -> MPI_Datatype;
    fn mpixn_tag_ub() -> c_int;
}

/// `MPI_PACKED`.
pub fn packed() -> MPI_Datatype {
    // SAFETY: a constant of the C file.
    unsafe { mpixn_packed() }
}

/// What is known of a message that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Who sent it.
    pub source: u32,
    /// Its tag.
    pub tag: i32,
    /// Its length.
    pub bytes: u64,
}

impl Status {
    pub(super) fn of(status: &MPI_Status) -> Result<Status> {
        let mut count = 0;
        // SAFETY: a status that MPI wrote; the result is a local.
        check(unsafe { mpi_sys::MPI_Get_count(status, packed(), &mut count) }, "MPI_Get_count")?;
        // SAFETY: a constant of mpi-sys' C file.
        let bytes = if count == unsafe { mpi_sys::RSMPI_UNDEFINED } {
            let mut elements: mpi_sys::MPI_Count = 0;
            // SAFETY: as above.
            check(unsafe { mpi_sys::MPI_Get_elements_x(status, packed(), &mut elements) }, "MPI_Get_elements_x")?;
            elements as u64
        } else {
            count as u64
        };
        Ok(Status { source: status.MPI_SOURCE as u32, tag: status.MPI_TAG, bytes })
    }
}

/// A message under way, or nothing. Dropping it while it is under way leaks the request: its buffer must then stay.
#[derive(Debug)]
pub struct Request(MPI_Request);

impl Default for Request {
    fn default() -> Self {
        Request(p2p::null())
    }
}

impl Request {
    /// Whether there is nothing under way.
    pub fn is_null(&self) -> bool {
        self.0 == p2p::null()
    }

    /// For MPI to write a request into.
    #[inline]
    pub(super) fn raw_mut(&mut self) -> *mut MPI_Request {
        &mut self.0
    }

    /// Whether it is complete; true also if there is nothing.
    #[inline]
    pub fn test(&mut self) -> Result<bool> {
        if self.is_null() {
            return Ok(true);
        }
        let mut done = 0;
        // SAFETY: a live request; the result is a local.
        check(unsafe { mpi_sys::MPI_Test(&mut self.0, &mut done, mpi_sys::RSMPI_STATUS_IGNORE) }, "MPI_Test")?;
        Ok(done != 0)
    }

    /// What came, if a receive is complete. There must be something under way.
    #[inline]
    pub fn test_receive(&mut self) -> Result<Option<Status>> {
        let mut status = MaybeUninit::<MPI_Status>::uninit();
        let mut done = 0;
        // SAFETY: a live request; the results are locals, and MPI writes the status if it says that the request is complete.
        unsafe {
            check(mpi_sys::MPI_Test(&mut self.0, &mut done, status.as_mut_ptr()), "MPI_Test")?;
            if done == 0 { Ok(None) } else { Status::of(status.assume_init_ref()).map(Some) }
        }
    }

    /// Begins to take a receive back; `test_cancelled` tells how that ends.
    pub fn cancel(&mut self) -> Result<()> {
        // SAFETY: a live request.
        check(unsafe { mpi_sys::MPI_Cancel(&mut self.0) }, "MPI_Cancel")
    }

    /// How taking a receive back has ended, if it has.
    pub fn test_cancelled(&mut self) -> Result<Option<Cancelled>> {
        let mut status = MaybeUninit::<MPI_Status>::uninit();
        let (mut done, mut cancelled) = (0, 0);
        // SAFETY: a live request; the results are locals, and MPI writes the status if it says that the request is complete.
        unsafe {
            check(mpi_sys::MPI_Test(&mut self.0, &mut done, status.as_mut_ptr()), "MPI_Test")?;
            if done == 0 {
                return Ok(None);
            }
            check(mpi_sys::MPI_Test_cancelled(status.as_ptr(), &mut cancelled), "MPI_Test_cancelled")?;
            Ok(Some(match cancelled {
                0 => Cancelled::Came(Status::of(status.assume_init_ref())?),
                _ => Cancelled::Back,
            }))
        }
    }
}

/// How taking a receive back ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// Nothing came.
    Back,
    /// It was too late: this has come.
    Came(Status),
}

/// How a send completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer can be used again.
    Standard,
    /// When the receiver has begun to receive, too.
    Synchronous,
}

/// What is sent: `count` elements of a type at an address.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Address of the first element.
    pub at: *const u8,
    /// Elements.
    pub count: i64,
    /// Of this type.
    pub datatype: MPI_Datatype,
}

/// Bytes as a block.
pub fn bytes_at(at: *const u8, bytes: u64) -> Block {
    Block { at, count: bytes as i64, datatype: packed() }
}

impl Block {
    /// Count and type for MPI, whose counts are `int`. What is returned beside them must be alive when MPI is called.
    ///
    /// # Safety
    /// The datatype must be a committed datatype.
    pub(super) unsafe fn narrow(&self) -> Result<(c_int, MPI_Datatype, Option<Datatype>)> {
        match c_int::try_from(self.count) {
            Ok(count) => Ok((count, self.datatype, None)),
            Err(_) => {
                // SAFETY: the caller vouches for the datatype; the count is above INT_MAX.
                let large = unsafe { Datatype::repeated(self.count, self.datatype) }?;
                Ok((1, large.raw(), Some(large)))
            }
        }
    }
}

/// `MPI_Isend` or `MPI_Issend`.
///
/// # Safety
/// The block must be readable, and not be written, until the request is complete.
#[inline]
pub unsafe fn send(mode: Mode, block: &Block, target: u32, tag: i32, comm: &Comm) -> Result<Request> {
    let mut request = Request::default();
    // SAFETY: the caller vouches for the block; the request is a local.
    unsafe {
        let (count, datatype, _large) = block.narrow()?;
        let (at, target) = (block.at.cast(), target as c_int);
        match mode {
            Mode::Standard => {
                check(mpi_sys::MPI_Isend(at, count, datatype, target, tag, comm.raw(), &mut request.0), "MPI_Isend")
            }
            Mode::Synchronous => {
                check(mpi_sys::MPI_Issend(at, count, datatype, target, tag, comm.raw(), &mut request.0), "MPI_Issend")
            }
        }?;
        if let Some(tally) = comm.tally() {
            tally.add(1, (i64::from(count) * super::datatype::size(datatype).unwrap_or(0)) as u64);
        }
    }
    Ok(request)
}

/// `MPI_Irecv` of at most `bytes` bytes; from anyone, with any tag, where none is said.
///
/// # Safety
/// The bytes must be writable, and be left alone, until the request is complete.
#[inline]
pub unsafe fn receive(at: *mut u8, bytes: u64, source: Option<u32>, tag: Option<i32>, comm: &Comm) -> Result<Request> {
    let mut request = Request::default();
    // SAFETY: the caller vouches for the bytes; constants are of mpi-sys' C file, the request is a local.
    unsafe {
        let (count, datatype, _large) = bytes_at(at, bytes).narrow()?;
        let source = source.map_or(mpi_sys::RSMPI_ANY_SOURCE, |s| s as c_int);
        let tag = tag.unwrap_or(mpi_sys::RSMPI_ANY_TAG);
        check(mpi_sys::MPI_Irecv(at.cast(), count, datatype, source, tag, comm.raw(), &mut request.0), "MPI_Irecv")?;
    }
    Ok(request)
}

/// `MPI_Irecv` of a block as it lies, from a process.
///
/// # Safety
/// The block must be writable, and be left alone, until the request is complete.
pub unsafe fn receive_block(block: &Block, source: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the block.
    unsafe {
        let (count, datatype, _large) = block.narrow()?;
        receive_typed(block.at.cast_mut(), count, datatype, source, tag, comm)
    }
}

/// `MPI_Irecv` of elements of a datatype.
///
/// # Safety
/// The elements must be writable, and be left alone, until the request is complete; the datatype must be committed.
pub(super) unsafe fn receive_typed(
    at: *mut u8,
    count: c_int,
    datatype: MPI_Datatype,
    source: u32,
    tag: i32,
    comm: &Comm,
) -> Result<Request> {
    let mut request = Request::default();
    // SAFETY: the caller vouches for the elements; the request is a local.
    let rc = unsafe { mpi_sys::MPI_Irecv(at.cast(), count, datatype, source as c_int, tag, comm.raw(), &mut request.0) };
    check(rc, "MPI_Irecv").map(|()| request)
}

/// Messages that are sent and received again and again, in the order in which they were added. Freed when dropped.
#[derive(Debug, Default)]
pub struct Persistent {
    requests: Vec<MPI_Request>,
    /// The process at the other end of each.
    peers: Vec<u32>,
    /// Those before are complete.
    next: usize,
}

impl Persistent {
    /// Adds a send.
    ///
    /// # Safety
    /// The block must be readable, and not be written, whenever the messages are under way.
    pub unsafe fn add_send(&mut self, block: &Block, target: u32, tag: i32, comm: &Comm) -> Result<()> {
        let mut request = p2p::null();
        // SAFETY: the caller vouches for the block; the request is a local.
        unsafe {
            let (count, datatype, _large) = block.narrow()?;
            let (at, target) = (block.at.cast(), target as c_int);
            check(mpi_sys::MPI_Send_init(at, count, datatype, target, tag, comm.raw(), &mut request), "MPI_Send_init")?;
        }
        self.requests.push(request);
        self.peers.push(target as u32);
        Ok(())
    }

    /// Adds a receive of so many bytes.
    ///
    /// # Safety
    /// The bytes must be writable, and be left alone, whenever the messages are under way.
    pub unsafe fn add_receive(&mut self, at: *mut u8, bytes: u64, source: u32, tag: i32, comm: &Comm) -> Result<()> {
        let mut request = p2p::null();
        // SAFETY: the caller vouches for the bytes; the request is a local.
        unsafe {
            let (count, datatype, _large) = bytes_at(at, bytes).narrow()?;
            let (at, source) = (at.cast(), source as c_int);
            check(mpi_sys::MPI_Recv_init(at, count, datatype, source, tag, comm.raw(), &mut request), "MPI_Recv_init")?;
        }
        self.requests.push(request);
        self.peers.push(source as u32);
        Ok(())
    }

    /// Processes whose messages are not complete.
    #[cold]
    pub fn pending(&self) -> Vec<u32> {
        let waits = |&(request, _): &(&MPI_Request, &u32)| !p2p::is_complete(*request);
        self.requests.iter().zip(&self.peers).skip(self.next).filter(waits).map(|(_, &peer)| peer).collect()
    }

    /// Starts all, one after the other: `MPI_Startall` promises no order.
    pub fn start(&mut self) -> Result<()> {
        self.next = 0;
        for request in &mut self.requests {
            // SAFETY: a persistent request that is not active.
            check(unsafe { mpi_sys::MPI_Start(request) }, "MPI_Start")?;
        }
        Ok(())
    }

    /// Whether all are complete.
    pub fn test(&mut self) -> Result<bool> {
        while let Some(request) = self.requests.get_mut(self.next) {
            let mut done = 0;
            // SAFETY: a persistent request; the result is a local.
            check(unsafe { mpi_sys::MPI_Test(request, &mut done, mpi_sys::RSMPI_STATUS_IGNORE) }, "MPI_Test")?;
            if done == 0 {
                return Ok(false);
            }
            self.next += 1;
        }
        Ok(true)
    }
}

impl Drop for Persistent {
    fn drop(&mut self) {
        if super::is_usable() {
            for request in &mut self.requests {
                // SAFETY: a persistent request that no one else has. An error has no one to go to.
                unsafe { mpi_sys::MPI_Request_free(request) };
            }
        }
    }
}

/// Tag of messages to oneself.
const OWN_TAG: c_int = 0;

/// `MPI_Sendrecv` with oneself: writes the elements of a block as packed bytes, whatever their type and number.
///
/// # Safety
/// The block must be readable, and the bytes writable, as many as it carries.
pub unsafe fn flatten(block: &Block, into: *mut u8, bytes: u64, comm: &Comm) -> Result<()> {
    // SAFETY: the caller vouches for both; the types are alive.
    unsafe {
        let me = super::comm::rank(comm.raw())?;
        let (count, datatype, _large) = block.narrow()?;
        let (room, packed, _other) = bytes_at(into, bytes).narrow()?;
        check(
            mpi_sys::MPI_Sendrecv(
                block.at.cast(),
                count,
                datatype,
                me as c_int,
                OWN_TAG,
                into.cast(),
                room,
                packed,
                me as c_int,
                OWN_TAG,
                comm.raw(),
                mpi_sys::RSMPI_STATUS_IGNORE,
            ),
            "MPI_Sendrecv",
        )
    }
}

/// Writes packed bytes as elements of a type: by `MPI_Unpack`, or by a message to oneself where its `int` is too narrow, or the elements lie at `MPI_BOTTOM`.
///
/// # Safety
/// The bytes must be readable, and `into` writable as so many elements of a committed datatype.
pub unsafe fn unflatten(
    from: *const u8,
    bytes: u64,
    into: *mut u8,
    count: i64,
    datatype: MPI_Datatype,
    comm: &Comm,
) -> Result<()> {
    // SAFETY: the caller vouches for both.
    unsafe {
        // MPICH unpacks nothing to MPI_BOTTOM
        if i32::try_from(bytes).is_ok() && i32::try_from(count).is_ok() && !into.is_null() {
            let from = std::slice::from_raw_parts(from, bytes as usize);
            return super::datatype::unpack(from, into, count, datatype, comm);
        }
        unflatten_by_message(from, bytes, into, count, datatype, comm)
    }
}

/// The same by a message to oneself alone: `MPI_Sendrecv`.
///
/// # Safety
/// As for `unflatten`.
pub unsafe fn unflatten_by_message(
    from: *const u8,
    bytes: u64,
    into: *mut u8,
    count: i64,
    datatype: MPI_Datatype,
    comm: &Comm,
) -> Result<()> {
    // SAFETY: the caller vouches for both.
    unsafe {
        let me = super::comm::rank(comm.raw())?;
        let (room, datatype, _large) = Block { at: into, count, datatype }.narrow()?;
        let (length, packed, _other) = bytes_at(from, bytes).narrow()?;
        check(
            mpi_sys::MPI_Sendrecv(
                from.cast(),
                length,
                packed,
                me as c_int,
                OWN_TAG,
                into.cast(),
                room,
                datatype,
                me as c_int,
                OWN_TAG,
                comm.raw(),
                mpi_sys::RSMPI_STATUS_IGNORE,
            ),
            "MPI_Sendrecv",
        )
    }
}

/// A message that has come and waits to be received.
#[derive(Debug)]
pub struct Probed {
    /// Source, tag, length.
    pub status: Status,
    /// Where the MPI takes the message out of its queue at the probe.
    pub(super) message: Option<mpi_sys::MPI_Message>,
}

/// Whether the MPI has matched probes.
pub fn has_matched_probe() -> bool {
    // SAFETY: a constant of the C file.
    unsafe { mpixn_matched_probe != 0 }
}

/// Looks for a message; from anyone where no source is said. `matched`: by `MPI_Improbe`, else by `MPI_Iprobe`, which serves as well where
/// nobody else receives on the communicator.
#[inline]
pub fn probe(source: Option<u32>, tag: i32, matched: bool, comm: &Comm) -> Result<Option<Probed>> {
    let mut status = MaybeUninit::<MPI_Status>::uninit();
    let mut found = 0;
    // SAFETY: results are locals, which MPI writes if it found a message; constants are of mpi-sys' C file.
    unsafe {
        let source = source.map_or(mpi_sys::RSMPI_ANY_SOURCE, |s| s as c_int);
        if matched {
            let mut message = mpi_sys::RSMPI_MESSAGE_NULL;
            check(mpi_sys::MPI_Improbe(source, tag, comm.raw(), &mut found, &mut message, status.as_mut_ptr()), "MPI_Improbe")?;
            if found == 0 {
                return Ok(None);
            }
            Ok(Some(Probed { status: Status::of(status.assume_init_ref())?, message: Some(message) }))
        } else {
            check(mpi_sys::MPI_Iprobe(source, tag, comm.raw(), &mut found, status.as_mut_ptr()), "MPI_Iprobe")?;
            if found == 0 {
                return Ok(None);
            }
            Ok(Some(Probed { status: Status::of(status.assume_init_ref())?, message: None }))
        }
    }
}

impl Probed {
    /// Receives it.
    ///
    /// # Safety
    /// As many bytes as it has must be writable, and be left alone, until the request is complete.
    #[inline]
    pub unsafe fn receive(self, into: *mut u8, comm: &Comm) -> Result<Request> {
        // SAFETY: the caller vouches for the bytes; the request is a local.
        unsafe {
            let Some(mut message) = self.message else {
                return receive(into, self.status.bytes, Some(self.status.source), Some(self.status.tag), comm);
            };
            let mut request = Request::default();
            let (count, datatype, _large) = bytes_at(into, self.status.bytes).narrow()?;
            check(mpi_sys::MPI_Imrecv(into.cast(), count, datatype, &mut message, &mut request.0), "MPI_Imrecv")?;
            Ok(request)
        }
    }
}

/// The largest tag. Open MPI tells it on `MPI_COMM_WORLD` and its duplicates, but not on parts of it.
pub fn largest_tag() -> Result<i32> {
    /// What every MPI has.
    const LEAST: i32 = 32767;
    let (mut value, mut found): (*mut c_int, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator; the attribute's value is a pointer to an int that lives as long as MPI.
    unsafe {
        let (world, key) = (super::comm::world(), mpixn_tag_ub());
        check(mpi_sys::MPI_Comm_get_attr(world, key, (&raw mut value).cast(), &mut found), "MPI_Comm_get_attr")?;
        Ok(if found == 0 || value.is_null() { LEAST } else { *value })
    }
}

/// Nonblocking collectives that protocols use.
pub mod collective {
    use super::*;

    /// `MPI_Ialltoall` of one word for each process.
    ///
    /// # Safety
    /// Both slices have one entry for each process, and are left alone until the request is complete.
    pub unsafe fn alltoall(send: &[u64], recv: &mut [u64], comm: &Comm) -> Result<Request> {
        let mut request = Request::default();
        // SAFETY: the caller vouches for the slices; constants are of mpi-sys' C file.
        unsafe {
            coll::count(Some(comm), size_of_val(send));
            let word = mpi_sys::RSMPI_UINT64_T;
            let (from, into) = (send.as_ptr().cast(), recv.as_mut_ptr().cast());
            check(mpi_sys::MPI_Ialltoall(from, 1, word, into, 1, word, comm.raw(), &mut request.0), "MPI_Ialltoall")?;
        }
        Ok(request)
    }

    /// `MPI_Ireduce_scatter_block` of one number for each process, by sum.
    ///
    /// # Safety
    /// `send` has one entry for each process; both are left alone until the request is complete.
    pub unsafe fn sum_scatter(send: &[u32], recv: *mut u32, comm: &Comm) -> Result<Request> {
        let mut request = Request::default();
        // SAFETY: the caller vouches for both; constants are of mpi-sys' C file.
        unsafe {
            let (number, sum) = (mpi_sys::RSMPI_UINT32_T, mpi_sys::RSMPI_SUM);
            coll::count(Some(comm), size_of_val(send));
            let from = send.as_ptr().cast();
            check(
                mpi_sys::MPI_Ireduce_scatter_block(from, recv.cast(), 1, number, sum, comm.raw(), &mut request.0),
                "MPI_Ireduce_scatter_block",
            )?;
        }
        Ok(request)
    }
}
