//! Checks the arguments of a neighborhood collective, and runs, starts or plans it.

// inline(always): a blocking call with blocks of 8 B takes 7 % less time together with `args.rs`
// (benches/exchange.c), one with 8 blocks of 64 B 11 % less, together with `exec/shm/progress.rs`
// (benches/persistent.c).

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::args::{self, Results};
use super::boundary::call;
use super::request::{MPIX_Request, MPIX_Request_object};
use super::side::{General, Side, SideArguments};
pub use crate::collective::Operation;
use crate::collective::fuse::Rule;
use crate::collective::handle::{self, BoundNeighborhood};
use crate::collective::request::{Lifetime, Request};
use crate::collective::runner::CallArguments;
use crate::datatype::buffers::{Buffers, Entry};
use crate::datatype::remembered::RememberedArguments;
use crate::environment;
use crate::error::{Error, Result};
use crate::logging;
use crate::mpi::{Communicator, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, info};
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

/// Runs, starts or plans a neighborhood collective. `sides`: the arguments of both sides; from a
/// closure, so that each C function has code of its own, which knows mode and operation. `op`: the
/// operator, if it reduces.
///
/// # Safety
/// `comm` must be a communicator, and arguments and pointers as the C function requires.
#[inline(always)]
pub unsafe fn collective<S: SideArguments, R: SideArguments>(
    function: &str,
    operation: Operation,
    comm: MPI_Comm,
    mode: Mode,
    sides: impl FnOnce() -> (S, R),
    op: Option<MPI_Op>,
) -> c_int {
    // SAFETY: the caller vouches for `comm` and the arguments; collectives on one communicator are
    // called one after the other.
    unsafe {
        call(function, comm, |comm| {
            let bound = handle::lookup(comm, operation)?;
            let (send, recv) = sides();
            let arguments = Arguments { bound, send, recv, op };
            if matches!(mode, Mode::Blocking) && !bound.verifies() {
                return match bound.repeat(&arguments) {
                    Some(done) => done,
                    None => bound.run(&arguments.describe()?),
                };
            }
            let buffers = arguments.describe();
            other_than_run(bound, comm, mode, buffers.as_ref().map(std::slice::from_ref).map_err(Clone::clone), 1)
        })
    }
}

/// The arguments of a collective on one field.
struct Arguments<'k, S, R> {
    bound: &'k BoundNeighborhood,
    send: S,
    recv: R,
    op: Option<MPI_Op>,
}

impl<S: SideArguments, R: SideArguments> CallArguments for Arguments<'_, S, R> {
    #[inline(always)]
    unsafe fn are(&self, kept: &RememberedArguments) -> bool {
        // SAFETY: the caller vouches for the arguments.
        let same = unsafe { self.send.are(&kept.input) && self.recv.are(&kept.output) };
        same && self.op.is_none_or(|op| kept.reduces_by(op))
    }
}

impl<S: SideArguments, R: SideArguments> Arguments<'_, S, R> {
    /// Checks and describes them.
    ///
    /// # Safety
    /// They must be what the C prototype asks for.
    #[inline(always)]
    unsafe fn describe<'a>(&self) -> Result<Buffers<'a>> {
        let (n, extents) = (self.bound.neighborhood(), self.bound.extents());
        let op = self.op.filter(|_| !n.sources().is_empty());
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            Ok(Buffers {
                input: self.send.describe(Side::send(n.targets().len(), extents))?,
                output: self.recv.describe(Side::recv(n.sources().len(), extents))?,
                op: op.map(|op| args::operator(op)).transpose()?,
            })
        }
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
            Mode::Blocking if bound.verifies() => Request::verified(bound, fields, count),
            Mode::Blocking => {
                let mut request = Request::new(bound, fields?, rule(bound.hints().fuse), Lifetime::InCall)?;
                request.begin()?;
                request.wait()
            }
            Mode::Nonblocking(place) => {
                let made = Results::one("request", place).and_then(|place| {
                    let mut request = Request::new(bound, fields?, rule(bound.hints().fuse), Lifetime::Once)?;
                    request.begin()?;
                    Ok((place, request))
                });
                match made {
                    Ok((place, request)) => place.write([MPIX_Request_object::hand_out(request, comm)]),
                    // verification reports it to the neighbors, and waits for what they report
                    Err(e) if bound.verifies() => Request::verified(bound, Err(e), count)?,
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
                let request = Request::new(bound, fields?, rule(fuse), kind)?;
                place.write([MPIX_Request_object::hand_out(request, comm)]);
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

impl<C> FieldArrays<C> {
    /// The arguments of one of `count` fields. `buffers`: the name of the array of buffers.
    ///
    /// # Safety
    /// The buffers must be null or as many as there are fields, unless there are no blocks: then no
    /// array is looked at.
    unsafe fn field(&self, buffers: &'static str, field: usize, count: usize, degree: usize) -> Result<General<C, MPI_Aint>> {
        // SAFETY: the caller vouches for the array.
        let buffers = unsafe { args::array(buffers, self.buffers, if degree == 0 { 0 } else { count }) }?;
        Ok(General {
            base: buffers.get(field).copied().unwrap_or(std::ptr::null_mut()),
            counts: part(self.counts, field, degree),
            displs: part(self.displs, field, degree),
            datatypes: part(self.datatypes, field, degree),
        })
    }
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        call(function, comm, |comm| {
            let bound = handle::lookup(comm, Operation::Alltoall)?;
            let (n, extents) = (bound.neighborhood(), bound.extents());
            let (targets, sources) = (Side::send(n.targets().len(), extents), Side::recv(n.sources().len(), extents));
            let field = |f: usize, count: usize| -> Result<Buffers> {
                let input = send.field("sendbufs", f, count, targets.degree)?;
                let output = recv.field("recvbufs", f, count, sources.degree)?;
                Ok(Buffers {
                    input: input.describe(targets.of_field(f))?,
                    output: output.describe(sources.of_field(f))?,
                    op: None,
                })
            };
            let count = args::length("nfields", nfields);
            let fields: Result<Vec<Buffers>> = count.clone().and_then(|count| {
                let mut fields = Vec::new();
                for f in 0..count {
                    let field = field(f, count)?;
                    let bytes = count.saturating_mul(size_of::<Buffers>());
                    fields.try_reserve(1).map_err(|_| Error::NoMemory { bytes })?;
                    fields.push(field);
                }
                Ok(fields)
            });
            other_than_run(bound, comm, mode, fields.as_deref().map_err(Clone::clone), count.unwrap_or(1))
        })
    }
}
