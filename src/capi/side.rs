//! The arguments of one side of a neighborhood collective: the sent or the received blocks.
//!
//! A call that is made again has the arguments of an earlier one. That is found from the arguments
//! as they came, with nothing checked, looked up or described. Only other calls are described.

// inline(always): all of this is inlined into the functions of the C ABI, so that descriptions of
// buffers are built where they are used. A description that is returned through memory is read back
// in wider pieces than it was written in. The processor then waits for all its stores to complete,
// including those of the previous call's messages into another core's cache lines: 100 ns and more
// for each call.

use std::ffi::c_void;

use super::args::{self, entries};
use crate::collective::handle::Extents;
use crate::datatype::buffers::{Blocks, Entry, Names, RECV, SEND, Shape};
use crate::datatype::known::Known;
use crate::datatype::remembered::RememberedSide;
use crate::error::{Argument, Error, Result};
use crate::mpi::datatype::{self, Datatypes};
use crate::mpi::{self, Datatype, MPI_Datatype};
use crate::util::cast::to_u32;

/// What one side of a call is described for: the degree, and the datatypes seen so far.
#[derive(Clone, Copy)]
pub struct Side<'k> {
    /// Entries of the list of neighbors.
    pub degree: usize,
    names: &'static Names,
    known: &'k Known,
    field: Option<u32>,
}

impl<'k> Side<'k> {
    /// The send side of a neighborhood with so many targets.
    #[inline(always)]
    pub fn send(targets: usize, extents: &'k Extents) -> Side<'k> {
        Side { degree: targets, names: &SEND, known: &extents.send, field: None }
    }

    /// The receive side of a neighborhood with so many sources.
    #[inline(always)]
    pub fn recv(sources: usize, extents: &'k Extents) -> Side<'k> {
        Side { degree: sources, names: &RECV, known: &extents.recv, field: None }
    }

    /// The same as one of several fields.
    pub fn of_field(self, field: usize) -> Side<'k> {
        Side { field: Some(to_u32(field)), ..self }
    }

    #[inline(always)]
    fn blocks(self, base: *mut c_void, (datatype, extent): (Datatype, i64), shape: Shape<'_>) -> Result<Blocks<'_>> {
        let blocks = Blocks { base: base.cast(), datatype, extent, shape, names: self.names, field: self.field };
        if self.degree > 0 && mpi::is_in_place(base) {
            return Err(Error::InPlace { argument: blocks.buffer_argument() }.into());
        }
        Ok(blocks)
    }

    /// Returns the datatype and its extent. On a side without blocks, neither is looked at.
    ///
    /// # Safety
    /// As for [`Datatype::from_raw`], unless there are no blocks.
    #[inline(always)]
    unsafe fn datatype(self, raw: MPI_Datatype) -> Result<(Datatype, i64)> {
        if self.degree == 0 {
            return Ok((datatype::byte(), 0));
        }
        // SAFETY: the caller vouches for the handle.
        let datatype = unsafe { args::datatype(self.names.datatype, raw) }?;
        Ok((datatype, self.known.extent(datatype)?))
    }

    #[inline(always)]
    fn count(self, count: i64) -> Result<i64> {
        if count < 0 && self.degree > 0 {
            return Err(Error::NegativeCount { argument: Argument::new(self.names.count), value: count }.into());
        }
        Ok(count)
    }

    /// # Safety
    /// The array must be null or valid for an entry of each neighbor.
    #[inline(always)]
    unsafe fn array<'a, T>(self, name: &'static str, array: *const T) -> Result<&'a [T]> {
        // SAFETY: the caller vouches for the array.
        unsafe { args::array(name, array, self.degree) }
    }
}

/// The arguments of one side, as the C functions take them.
pub trait SideArguments: Copy {
    /// Describes the blocks.
    ///
    /// # Safety
    /// Datatypes of blocks with data must be datatypes or null, arrays null or valid for an entry
    /// of each neighbor.
    unsafe fn describe<'a>(self, side: Side) -> Result<Blocks<'a>>;

    /// Start of the buffer, and the datatype of all blocks, or any if each has its own.
    fn whole(self) -> (*mut c_void, MPI_Datatype);

    /// The blocks, unchecked; `None` if an array is missing.
    ///
    /// # Safety
    /// As for `describe`.
    unsafe fn shape<'a>(self, degree: usize) -> Option<Shape<'a>>;

    /// True if they are those of an earlier call on the same neighborhood, which was valid.
    ///
    /// # Safety
    /// As for `describe`.
    #[inline(always)]
    unsafe fn are(self, kept: &RememberedSide) -> bool {
        let (base, datatype) = self.whole();
        // SAFETY: the caller vouches for the arrays.
        unsafe { self.shape(kept.degree()) }.is_some_and(|shape| kept.is(base.cast(), datatype, shape))
    }
}

/// Blocks of one length: one block for all neighbors if `ONE`, else one after the other.
#[derive(Clone, Copy)]
pub struct Uniform<const ONE: bool> {
    /// Start of the buffer.
    pub base: *mut c_void,
    /// Elements of a block.
    pub count: i64,
    /// Their datatype.
    pub datatype: MPI_Datatype,
}

/// One block for all neighbors.
pub type One = Uniform<true>;

/// A block for each neighbor, one after the other.
pub type Equal = Uniform<false>;

impl<const ONE: bool> Uniform<ONE> {
    #[inline(always)]
    fn of<'a>(count: i64) -> Shape<'a> {
        if ONE { Shape::One { count } } else { Shape::Equal { count } }
    }
}

impl<const ONE: bool> SideArguments for Uniform<ONE> {
    #[inline(always)]
    unsafe fn describe<'a>(self, side: Side) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for the datatype.
        side.blocks(self.base, unsafe { side.datatype(self.datatype) }?, Self::of(side.count(self.count)?))
    }

    #[inline(always)]
    fn whole(self) -> (*mut c_void, MPI_Datatype) {
        (self.base, self.datatype)
    }

    #[inline(always)]
    unsafe fn shape<'a>(self, _: usize) -> Option<Shape<'a>> {
        Some(Self::of(self.count))
    }
}

/// Blocks with counts, and displacements in extents.
#[derive(Clone, Copy)]
pub struct Vector<C, D> {
    /// Start of the buffer.
    pub base: *mut c_void,
    /// Elements of each block.
    pub counts: *const C,
    /// Where each block begins.
    pub displs: *const D,
    /// The datatype of all.
    pub datatype: MPI_Datatype,
}

impl<C: Entry, D: Entry> SideArguments for Vector<C, D> {
    #[inline(always)]
    unsafe fn describe<'a>(self, side: Side) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for datatype and arrays.
        unsafe {
            let counts = C::ints(side.array(side.names.counts, self.counts)?);
            let displs = D::ints(side.array(side.names.displs, self.displs)?);
            side.blocks(self.base, side.datatype(self.datatype)?, Shape::Vector { counts, displs })
        }
    }

    #[inline(always)]
    fn whole(self) -> (*mut c_void, MPI_Datatype) {
        (self.base, self.datatype)
    }

    #[inline(always)]
    unsafe fn shape<'a>(self, degree: usize) -> Option<Shape<'a>> {
        // SAFETY: the caller vouches for the arrays.
        let (counts, displs) = unsafe { (entries(self.counts, degree)?, entries(self.displs, degree)?) };
        Some(Shape::Vector { counts: C::ints(counts), displs: D::ints(displs) })
    }
}

/// Blocks with counts, displacements in bytes, and datatypes.
#[derive(Clone, Copy)]
pub struct General<C, D> {
    /// Start of the buffer.
    pub base: *mut c_void,
    /// Elements of each block.
    pub counts: *const C,
    /// Where each block begins.
    pub displs: *const D,
    /// The datatype of each block.
    pub datatypes: *const MPI_Datatype,
}

impl<C: Entry, D: Entry> SideArguments for General<C, D> {
    #[inline(always)]
    unsafe fn describe<'a>(self, side: Side) -> Result<Blocks<'a>> {
        // SAFETY: the caller vouches for datatypes and arrays.
        unsafe {
            let counts = C::ints(side.array(side.names.counts, self.counts)?);
            let displs = D::ints(side.array(side.names.displs, self.displs)?);
            let datatypes = Datatypes::from_raw(side.array(side.names.datatypes, self.datatypes)?);
            side.blocks(self.base, (datatype::byte(), 0), Shape::General { counts, displs, datatypes })
        }
    }

    #[inline(always)]
    fn whole(self) -> (*mut c_void, MPI_Datatype) {
        (self.base, datatype::byte().raw())
    }

    #[inline(always)]
    unsafe fn shape<'a>(self, degree: usize) -> Option<Shape<'a>> {
        // SAFETY: the caller vouches for the arrays.
        let (counts, displs, datatypes) =
            unsafe { (entries(self.counts, degree)?, entries(self.displs, degree)?, entries(self.datatypes, degree)?) };
        // SAFETY: they are compared alone.
        let datatypes = unsafe { Datatypes::from_raw(datatypes) };
        Some(Shape::General { counts: C::ints(counts), displs: D::ints(displs), datatypes })
    }
}
