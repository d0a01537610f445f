//! Checks the arguments of a neighborhood collective, and runs, starts or plans it.

// inline(always): a blocking call with blocks of 8 B takes 7 % less time together with `args.rs`
// (benches/exchange.c), one with 8 blocks of 64 B 11 % less, together with `exec/shm/progress.rs`
// (benches/persistent.c).

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::args::{self, Entry, Results};
use super::boundary::call;
use super::request::{MPIX_Request, MPIX_Request_object};
pub use crate::collective::Operation;
use crate::collective::fuse::Rule;
use crate::collective::handle::{self, BoundNeighborhood, Extents};
use crate::collective::request::{Lifetime, Request};
pub use crate::datatype::buffers::Buffers;
use crate::datatype::buffers::{Blocks, Names, RECV, SEND, Shape};
use crate::datatype::known::Known;
use crate::environment;
use crate::error::{Argument, Error, Result};
use crate::logging;
use crate::mpi::datatype::{self, Datatypes};
use crate::mpi::{self, Communicator, Datatype, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, info};
use crate::select::hints;
use crate::util::cast::to_u32;

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

/// One side of a collective call: its buffer and the number of its blocks.
///
/// All of this is inlined into the functions of the C ABI, so that descriptions of buffers are
/// built where they are used. A description that is returned through memory is read back in wider
/// pieces than it was written in. The processor then waits for all its stores to complete,
/// including those of the previous call's messages into another core's cache lines: 100 ns and more
/// for each call.
#[derive(Clone, Copy)]
pub struct Side<'k> {
    base: *mut c_void,
    degree: usize,
    names: &'static Names,
    known: &'k Known,
    field: Option<u32>,
}

/// The degrees and datatypes that both sides of a call are described for.
#[derive(Clone, Copy)]
pub struct Sides<'k> {
    /// Entries of the source list.
    pub sources: usize,
    /// Entries of the target list.
    pub targets: usize,
    extents: &'k Extents,
}

impl<'k> Sides<'k> {
    /// Makes it for these degrees.
    #[inline(always)]
    pub fn new(sources: usize, targets: usize, extents: &'k Extents) -> Self {
        Sides { sources, targets, extents }
    }

    /// The send side.
    #[inline(always)]
    pub fn send(self, buffer: *const c_void) -> Side<'k> {
        Side { base: buffer.cast_mut(), degree: self.targets, names: &SEND, known: &self.extents.send, field: None }
    }

    /// The receive side.
    #[inline(always)]
    pub fn recv(self, buffer: *mut c_void) -> Side<'k> {
        Side { base: buffer, degree: self.sources, names: &RECV, known: &self.extents.recv, field: None }
    }
}

impl Side<'_> {
    /// The same as one of several fields.
    fn of_field(self, field: usize) -> Self {
        Side { field: Some(to_u32(field)), ..self }
    }

    #[inline(always)]
    fn blocks<'a>(&self, (datatype, extent): (Datatype, i64), shape: Shape<'a>) -> Result<Blocks<'a>> {
        let blocks = Blocks { base: self.base.cast(), datatype, extent, shape, names: self.names, field: self.field };
        if self.degree > 0 && mpi::is_in_place(self.base) {
            return Err(Error::InPlace { argument: blocks.buffer_argument() }.into());
        }
        Ok(blocks)
    }

    /// Returns the datatype and its extent. On a side without blocks, neither is looked at.
    ///
    /// # Safety
    /// As for [`Datatype::from_raw`], unless there are no blocks.
    #[inline(always)]
    unsafe fn datatype(&self, raw: MPI_Datatype) -> Result<(Datatype, i64)> {
        if self.degree == 0 {
            return Ok((datatype::byte(), 0));
        }
        // SAFETY: the caller vouches for the handle.
        let datatype = unsafe { args::datatype(self.names.datatype, raw) }?;
        Ok((datatype, self.known.extent(datatype)?))
    }

    #[inline(always)]
    fn count(&self, count: i64) -> Result<i64> {
        if count < 0 && self.degree > 0 {
            return Err(Error::NegativeCount { argument: Argument::new(self.names.count), value: count }.into());
        }
        Ok(count)
    }

    /// Describes one block for all neighbors.
    ///
    /// # Safety
    /// `datatype` must be a datatype or null.
    #[inline(always)]
    pub unsafe fn one<'a>(self, count: i64, datatype: MPI_Datatype) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for the datatype.
        self.blocks(unsafe { self.datatype(datatype) }?, Shape::One { count: self.count(count)? })
    }

    /// Describes consecutive blocks of one size.
    ///
    /// # Safety
    /// `datatype` must be a datatype or null.
    #[inline(always)]
    pub unsafe fn equal<'a>(self, count: i64, datatype: MPI_Datatype) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for the datatype.
        self.blocks(unsafe { self.datatype(datatype) }?, Shape::Equal { count: self.count(count)? })
    }

    /// Describes blocks by counts, and displacements in extents.
    ///
    /// # Safety
    /// `datatype` must be a datatype or null, the arrays null or valid for an entry of each
    /// neighbor.
    #[inline(always)]
    pub unsafe fn vector<'a, C: Entry + 'a, D: Entry + 'a>(
        self,
        counts: *const C,
        displs: *const D,
        datatype: MPI_Datatype,
    ) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for datatype and arrays.
        unsafe {
            let counts = C::ints(args::array(self.names.counts, counts, self.degree)?);
            let displs = D::ints(args::array(self.names.displs, displs, self.degree)?);
            self.blocks(self.datatype(datatype)?, Shape::Vector { counts, displs })
        }
    }

    /// Describes blocks by counts, displacements in bytes, and datatypes.
    ///
    /// # Safety
    /// The arrays must be null or valid for an entry of each neighbor, the datatypes of blocks with
    /// data as for [`Datatype::from_raw`].
    #[inline(always)]
    pub unsafe fn general<'a, C: Entry + 'a, D: Entry + 'a>(
        self,
        counts: *const C,
        displs: *const D,
        datatypes: *const MPI_Datatype,
    ) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for the arrays.
        unsafe {
            let counts = C::ints(args::array(self.names.counts, counts, self.degree)?);
            let displs = D::ints(args::array(self.names.displs, displs, self.degree)?);
            let datatypes = Datatypes::from_raw(args::array(self.names.datatypes, datatypes, self.degree)?);
            self.blocks((datatype::byte(), 0), Shape::General { counts, displs, datatypes })
        }
    }
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
                // where they are: to move them would copy them
                Mode::Blocking if !bound.verifies() => match &buffers {
                    Ok(buffers) => bound.run(buffers),
                    Err(error) => Err(error.clone()),
                },
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
            let fields: Result<Vec<Buffers>> = count.clone().and_then(|count| {
                let mut fields = Vec::new();
                for f in 0..count {
                    let field = field(sides, f)?;
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
                input: sides.send(sendbuf.get(f).copied().unwrap_or(nothing)).of_field(f).general(
                    part(send.counts, f, targets),
                    part(send.displs, f, targets),
                    part(send.datatypes, f, targets),
                )?,
                output: sides.recv(recvbuf.get(f).copied().unwrap_or(nothing)).of_field(f).general(
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
