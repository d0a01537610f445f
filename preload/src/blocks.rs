//! Blocks of elements in memory, as the arguments of a collective describe them.

use std::ffi::{c_int, c_void};

use mpix_neighbor::util::cast::to_int;

use mpi_sys::{MPI_Aint, MPI_Count, MPI_Datatype};

use crate::constants::{RSMPI_DATATYPE_NULL, mpixp_in_place};
use crate::errors::SUCCESS;

/// True if a buffer is `MPI_IN_PLACE`.
pub fn is_in_place(buffer: *const c_void) -> bool {
    buffer == mpixp_in_place
}

/// An array of counts or displacements, in any of the widths that MPI has.
#[derive(Clone, Copy)]
pub enum Ints {
    /// `int`
    Int(*const c_int),
    /// `MPI_Count`
    #[cfg(mpi_large)]
    Count(*const MPI_Count),
    /// `MPI_Aint`
    Aint(*const MPI_Aint),
}

/// Layout of the blocks.
#[derive(Clone, Copy)]
enum Shape {
    /// One block for all neighbors.
    One(i64),
    /// Contiguous blocks of equal counts.
    Equal(i64),
    /// Counts, and displacements in extents.
    Vector(Ints, Ints),
    /// Counts, displacements in bytes, and datatypes.
    General(Ints, Ints, *const MPI_Datatype),
}

/// The blocks of one side of a call.
#[derive(Clone, Copy)]
pub struct Blocks {
    /// Start of the buffer, which may be `MPI_IN_PLACE`.
    pub base: *const c_void,
    /// Layout of the blocks.
    shape: Shape,
    /// Datatype of all blocks, unless each has its own.
    datatype: MPI_Datatype,
}

/// Both sides of a call.
#[derive(Clone, Copy)]
pub struct Sides {
    /// The send side.
    pub send: Blocks,
    /// The receive side.
    pub recv: Blocks,
}

/// One block.
#[derive(Clone, Copy)]
pub struct Block {
    /// Address of its first element.
    pub at: *mut c_void,
    /// Number of elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: MPI_Datatype,
}

impl Ints {
    fn is_null(self) -> bool {
        match self {
            Ints::Int(v) => v.is_null(),
            #[cfg(mpi_large)]
            Ints::Count(v) => v.is_null(),
            Ints::Aint(v) => v.is_null(),
        }
    }

    /// Returns an entry.
    ///
    /// # Safety
    /// The array must have it.
    pub unsafe fn get(self, i: usize) -> i64 {
        // SAFETY: the caller vouches for the entry.
        unsafe {
            match self {
                Ints::Int(v) => i64::from(*v.add(i)),
                #[cfg(mpi_large)]
                Ints::Count(v) => *v.add(i) as i64,
                Ints::Aint(v) => *v.add(i) as i64,
            }
        }
    }
}

impl Block {
    /// Bytes of its elements.
    ///
    /// # Safety
    /// The datatype must be one, unless there are no elements.
    pub unsafe fn bytes(&self) -> u64 {
        // SAFETY: the caller vouches for it.
        if self.count > 0 { to_int::<u64>(self.count).saturating_mul(unsafe { size(self.datatype) }) } else { 0 }
    }
}

impl Blocks {
    /// One block for all neighbors.
    pub fn one(base: *const c_void, count: i64, datatype: MPI_Datatype) -> Blocks {
        Blocks { base, shape: Shape::One(count), datatype }
    }

    /// Contiguous blocks of equal counts.
    pub fn equal(base: *const c_void, count: i64, datatype: MPI_Datatype) -> Blocks {
        Blocks { base, shape: Shape::Equal(count), datatype }
    }

    /// Blocks with counts, and displacements in extents.
    pub fn vector(base: *const c_void, counts: Ints, displs: Ints, datatype: MPI_Datatype) -> Blocks {
        Blocks { base, shape: Shape::Vector(counts, displs), datatype }
    }

    /// Blocks with counts, displacements in bytes and datatypes.
    pub fn general(base: *const c_void, counts: Ints, displs: Ints, datatypes: *const MPI_Datatype) -> Blocks {
        // SAFETY: a constant of mpi-sys' C file.
        Blocks { base, shape: Shape::General(counts, displs, datatypes), datatype: RSMPI_DATATYPE_NULL }
    }

    /// The counts, if each block has its own.
    pub fn counts(&self) -> Option<Ints> {
        match self.shape {
            Shape::One(_) | Shape::Equal(_) => None,
            Shape::Vector(counts, _) | Shape::General(counts, ..) => Some(counts),
        }
    }

    /// Block `i`, if its datatype is not null.
    ///
    /// # Safety
    /// As for `block`, but that datatypes may be null.
    pub unsafe fn typed_block(&self, i: usize) -> Option<Block> {
        // SAFETY: the caller vouches for the entry; a constant of mpi-sys' C file.
        unsafe {
            let datatype = if let Shape::General(.., datatypes) = self.shape { *datatypes.add(i) } else { self.datatype };
            (datatype != mpi_sys::RSMPI_DATATYPE_NULL).then(|| self.block(i))
        }
    }

    /// Block `i`.
    ///
    /// # Safety
    /// The arrays must have an entry `i`, and datatypes must be datatypes.
    pub unsafe fn block(&self, i: usize) -> Block {
        // SAFETY: the caller vouches for both.
        unsafe {
            let (count, offset, datatype) = match self.shape {
                Shape::One(count) => (count, 0, self.datatype),
                Shape::Equal(count) => {
                    (count, to_int::<i64>(i).wrapping_mul(count).wrapping_mul(extent(self.datatype)), self.datatype)
                }
                Shape::Vector(counts, displs) => {
                    (counts.get(i), displs.get(i).wrapping_mul(extent(self.datatype)), self.datatype)
                }
                Shape::General(counts, displs, datatypes) => (counts.get(i), displs.get(i), *datatypes.add(i)),
            };
            Block { at: self.base.cast_mut().wrapping_byte_offset(to_int::<isize>(offset)), count, datatype }
        }
    }

    /// True if there is no buffer. With displacements in bytes null is `MPI_BOTTOM`.
    pub fn lacks_buffer(&self) -> bool {
        self.base.is_null() && !matches!(self.shape, Shape::General(..))
    }

    /// True if an array is missing.
    pub fn lacks_arrays(&self) -> bool {
        match self.shape {
            Shape::One(_) | Shape::Equal(_) => false,
            Shape::Vector(counts, displs) => counts.is_null() || displs.is_null(),
            Shape::General(counts, displs, datatypes) => counts.is_null() || displs.is_null() || datatypes.is_null(),
        }
    }

    /// Bytes of the blocks that exist.
    ///
    /// # Safety
    /// As for `block`.
    pub unsafe fn bytes(&self, exist: &[bool]) -> u64 {
        (0..exist.len())
            .filter(|&i| exist[i])
            // SAFETY: the caller vouches for the blocks; the type of one without elements may be
            // null.
            .map(|i| unsafe { self.block(i).bytes() })
            .sum()
    }
}

/// Extent of a datatype in bytes; 0 if it has none.
unsafe fn extent(datatype: MPI_Datatype) -> i64 {
    let (mut lb, mut extent) = (0, 0);
    // SAFETY: the caller vouches for the datatype; the results are locals.
    let code = unsafe { mpi_sys::MPI_Type_get_extent(datatype, &mut lb, &mut extent) };
    if code == SUCCESS { extent as i64 } else { 0 }
}

/// Bytes of an element.
unsafe fn size(datatype: MPI_Datatype) -> u64 {
    let mut size: MPI_Count = 0;
    // SAFETY: the caller vouches for the datatype; the result is a local.
    let code = unsafe { mpi_sys::MPI_Type_size_x(datatype, &mut size) };
    if code == SUCCESS { to_int::<u64>(size.max(0)) } else { 0 }
}
