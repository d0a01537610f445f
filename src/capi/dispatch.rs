//! Runs, starts or plans a neighborhood collective with its checked arguments.

// inline(always): a blocking call with 8 blocks of 64 B takes 11 % less time, together with that in
// `exec/shm/progress.rs` (benches/persistent.c).

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::args::{self, Entry, Results, Sides};
use super::boundary::call;
use super::request::{MPIX_Request, MPIX_Request_object};
pub use crate::collective::Operation;
use crate::collective::fuse::Rule;
use crate::collective::handle::{self, BoundNeighborhood};
use crate::collective::request::{Lifetime, Request};
pub use crate::datatype::buffers::Buffers;
use crate::environment;
use crate::error::Result;
use crate::logging;
use crate::mpi::{Communicator, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, info};
use crate::select::hints;

/// How a collective is called.
#[derive(Clone, Copy)]
pub enum Mode {
    /// Runs it.
    Blocking,
    /// Starts it and writes its request there.
    Nonblocking(*mut MPIX_Request),
    /// Binds its arguments and writes its request there.
    Persistent(MPI_Info, *mut MPIX_Request),
}

/// Runs, starts or plans a neighborhood collective. `buffers` makes its buffers of its arguments.
///
/// # Safety
/// `comm` must be a communicator, and buffers and pointers as the C function requires.
#[inline(always)]
pub unsafe fn collective<'a>(
    function: &str,
    operation: Operation,
    comm: MPI_Comm,
    mode: Mode,
    buffers: impl FnOnce(Sides) -> Result<Buffers<'a>>,
) -> c_int {
    // SAFETY: the caller vouches for `comm` and the buffers; collectives on one communicator are
    // called one after the other.
    unsafe {
        call(function, comm, |comm| {
            let bound = handle::lookup(comm, operation)?;
            let n = bound.neighborhood();
            let sides = Sides::new(n.sources().len(), n.targets().len(), bound.extents());
            let buffers = buffers(sides);
            match mode {
                Mode::Blocking if !bound.verifies() => bound.run(&buffers?),
                _ => other_than_run(bound, comm, mode, buffers.as_ref().map(std::slice::from_ref).map_err(Clone::clone), 1),
            }
        })
    }
}

/// Runs, starts or plans an all-to-all of fields that `field` describes.
///
/// # Safety
/// As for `collective`.
unsafe fn several<'a>(
    function: &str,
    nfields: c_int,
    comm: MPI_Comm,
    mode: Mode,
    field: impl Fn(Sides, usize) -> Result<Buffers<'a>>,
) -> c_int {
    // SAFETY: as for `collective`.
    unsafe {
        call(function, comm, |comm| {
            let bound = handle::lookup(comm, Operation::Alltoall)?;
            let n = bound.neighborhood();
            let sides = Sides::new(n.sources().len(), n.targets().len(), bound.extents());
            let count = args::length("nfields", nfields);
            let fields: Result<Vec<Buffers>> = count.clone().and_then(|count| (0..count).map(|f| field(sides, f)).collect());
            other_than_run(bound, comm, mode, fields.as_deref().map_err(Clone::clone), count.unwrap_or(1))
        })
    }
}

/// All but the blocking form of one field without verification.
unsafe fn other_than_run(
    bound: &Arc<BoundNeighborhood>,
    comm: Communicator,
    mode: Mode,
    fields: Result<&[Buffers]>,
    count: usize,
) -> Result<()> {
    let rule = |fuse: Option<bool>| match fuse {
        Some(true) => Rule::Always,
        Some(false) => Rule::Never,
        None => Rule::Startup(bound.hints().machine().startup_bytes()),
    };
    // SAFETY: the caller vouches for buffers and pointers.
    unsafe {
        match mode {
            Mode::Blocking if bound.verifies() => Request::verified(bound, comm.raw(), fields, count),
            Mode::Blocking => {
                let mut request = Request::new(bound, comm.raw(), fields?, rule(bound.hints().fuse), Lifetime::Once)?;
                request.begin()?;
                request.wait()
            }
            Mode::Nonblocking(place) => {
                let made = Results::one("request", place).and_then(|place| {
                    let mut request = Request::new(bound, comm.raw(), fields?, rule(bound.hints().fuse), Lifetime::Once)?;
                    request.begin()?;
                    Ok((place, request))
                });
                match made {
                    Ok((place, request)) => place.write([MPIX_Request_object::hand_out(request)]),
                    // verification reports it to the neighbors, and waits for what they report
                    Err(e) if bound.verifies() => Request::verified(bound, comm.raw(), Err(e), count)?,
                    Err(e) => return Err(e),
                }
                Ok(())
            }
            Mode::Persistent(info, place) => {
                let place = Results::one("request", place)?;
                logging::unknown_keys(info, comm);
                let from_info = |key: &str| if info::is_null(info) { Ok(None) } else { info::get(info, key) };
                let fuse = hints::fuse(from_info, environment::variable)?.unwrap_or(bound.hints().fuse);
                let kind = if hints::matches_alone(from_info)? { Lifetime::PrivateMatching } else { Lifetime::Persistent };
                let request = Request::new(bound, comm.raw(), fields?, rule(fuse), kind)?;
                place.write([MPIX_Request_object::hand_out(request)]);
                Ok(())
            }
        }
    }
}

/// The array arguments of one side of an all-to-all of several fields.
#[derive(Clone, Copy)]
pub struct FieldArrays<C> {
    /// Address of each field's buffer.
    pub buffers: *const *mut c_void,
    /// Elements of each block.
    pub counts: *const C,
    /// Where each block begins, in bytes.
    pub displs: *const MPI_Aint,
    /// Datatype of each block.
    pub datatypes: *const MPI_Datatype,
}

/// The entries of one field in an array. A null array stays null.
fn part<T>(array: *const T, field: usize, degree: usize) -> *const T {
    if array.is_null() { array } else { array.wrapping_add(field * degree) }
}

/// Runs, starts or plans an all-to-all of several fields.
///
/// # Safety
/// As for `collective`; the arrays must be null or as long as said.
pub unsafe fn fields<C: Entry>(
    function: &str,
    nfields: c_int,
    send: FieldArrays<C>,
    recv: FieldArrays<C>,
    comm: MPI_Comm,
    mode: Mode,
) -> c_int {
    let field = |sides: Sides, f: usize| -> Result<Buffers> {
        let (targets, sources) = (sides.targets, sides.sources);
        // SAFETY: the caller vouches for the arrays. Where a degree is 0 the arrays of that side
        // are not looked at.
        unsafe {
            let sendbuf = args::array("sendbufs", send.buffers, if targets == 0 { 0 } else { f + 1 })?;
            let recvbuf = args::array("recvbufs", recv.buffers, if sources == 0 { 0 } else { f + 1 })?;
            let nothing = std::ptr::null_mut();
            Ok(Buffers {
                input: sides.send(sendbuf.get(f).copied().unwrap_or(nothing)).general(
                    part(send.counts, f, targets),
                    part(send.displs, f, targets),
                    part(send.datatypes, f, targets),
                )?,
                output: sides.recv(recvbuf.get(f).copied().unwrap_or(nothing)).general(
                    part(recv.counts, f, sources),
                    part(recv.displs, f, sources),
                    part(recv.datatypes, f, sources),
                )?,
                op: None,
            })
        }
    };
    // SAFETY: the caller vouches for the arguments.
    unsafe { several(function, nfields, comm, mode, field) }
}
