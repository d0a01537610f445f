//! gfortran's array descriptors, and copies of buffers without their gaps.
//!
//! gfortran (8 and later) passes its own descriptor to functions without `bind(C)`, not that of
//! `ISO_Fortran_binding.h`.

use std::ffi::{c_int, c_void};

use mpix_neighbor::util::cast::{to_int, to_usize};

use super::export::address;
use crate::constants::{mpixp_bottom, mpixp_in_place};

/// Fortran's most dimensions.
const RANKS: usize = 15;

/// Numbers of gfortran's types whose elements are as long as the descriptor says: integer, logical,
/// real, complex, character.
const INTRINSIC: [i8; 5] = [1, 2, 3, 4, 6];

/// A dimension.
#[repr(C)]
struct Dimension {
    /// From one element to the next, in spans.
    stride: isize,
    lower_bound: isize,
    upper_bound: isize,
}

impl Dimension {
    /// Number of elements; none in the last dimension of an array of assumed size.
    fn extent(&self) -> isize {
        self.upper_bound.wrapping_sub(self.lower_bound).wrapping_add(1).max(0)
    }
}

/// gfortran's array descriptor.
#[repr(C)]
pub struct Descriptor {
    base: *mut c_void,
    _offset: isize,
    element: usize,
    _version: c_int,
    rank: i8,
    kind: i8,
    _attribute: i16,
    /// Bytes of a stride's unit.
    span: isize,
    /// As many as there are dimensions.
    dimensions: [Dimension; RANKS],
}

/// Why a buffer cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It has gaps, which a started call cannot copy.
    Gaps,
    /// It may have gaps: how long its elements are is not told.
    Unknown,
    /// There is no memory for a copy.
    Memory,
}

impl Trouble {
    /// The class of the error.
    pub fn class(self) -> c_int {
        match self {
            Trouble::Gaps | Trouble::Unknown => mpi_sys::MPI_ERR_BUFFER.cast_signed(),
            Trouble::Memory => mpi_sys::MPI_ERR_NO_MEM.cast_signed(),
        }
    }

    /// Its text.
    pub fn text(self) -> &'static str {
        match self {
            Trouble::Gaps => {
                "a buffer is a part of an array that has gaps, which calls that return before they are done cannot copy"
            }
            Trouble::Unknown => "a buffer is polymorphic, or a pointer to components: it is not told whether it has gaps",
            Trouble::Memory => "there is no memory for a copy of a buffer that has gaps",
        }
    }
}

/// An array whose elements can be found.
struct Array<'a> {
    base: *mut u8,
    /// Bytes of an element.
    element: usize,
    /// Bytes of a stride's unit.
    span: isize,
    dimensions: &'a [Dimension],
}

impl Descriptor {
    /// Address of a buffer without gaps.
    ///
    /// # Safety
    /// `descriptor` must be what gfortran passes.
    pub unsafe fn address(descriptor: *const Descriptor) -> Result<*mut c_void, Trouble> {
        // SAFETY: the caller vouches for the descriptor.
        unsafe {
            match Descriptor::with_gaps(descriptor)? {
                Some(_) => Err(Trouble::Gaps),
                None => Ok(Descriptor::base(descriptor)),
            }
        }
    }

    /// Address of the first element, or of the constant of C that the buffer stands for.
    unsafe fn base(descriptor: *const Descriptor) -> *mut c_void {
        // SAFETY: the caller vouches for the descriptor; constants of the C file.
        unsafe {
            let base = (*descriptor).base;
            if base.cast_const() == address(c"MPIR_F08_MPI_BOTTOM") {
                mpixp_bottom.cast_mut()
            } else if base.cast_const() == address(c"MPIR_F08_MPI_IN_PLACE") {
                mpixp_in_place.cast_mut()
            } else {
                base
            }
        }
    }

    /// The array, if it has gaps.
    unsafe fn with_gaps<'a>(descriptor: *const Descriptor) -> Result<Option<Array<'a>>, Trouble> {
        // SAFETY: the caller vouches for the descriptor, of which as many dimensions are there as
        // it says.
        unsafe {
            let d = descriptor;
            let first = (&raw const (*d).dimensions).cast::<Dimension>();
            let dimensions = std::slice::from_raw_parts(first, to_usize((*d).rank.max(0)).min(RANKS));
            // one element has no gaps, nor has none; an array of assumed size neither
            if dimensions.iter().all(|d| d.extent() == 1) || dimensions.iter().any(|d| d.extent() == 0) {
                return Ok(None);
            }
            let (mut element, span) = ((*d).element, (*d).span);
            if span != to_int::<isize>(element) && !INTRINSIC.contains(&(*d).kind) {
                // an element of class(*) is as long as a span; of a class, it may be, and then its
                // declared type is shorter, as a component is in its structure
                if span <= 0 || span > to_int::<isize>(element) {
                    return Err(Trouble::Unknown);
                }
                element = to_usize(span);
            }
            let array = Array { base: (*d).base.cast(), element, span, dimensions };
            Ok(array.has_gaps().then_some(array))
        }
    }
}

impl Array<'_> {
    fn has_gaps(&self) -> bool {
        let mut dense = to_int::<isize>(self.element);
        self.dimensions.iter().any(|d| {
            let gap = d.extent() > 1 && d.stride.wrapping_mul(self.span) != dense;
            dense = dense.wrapping_mul(d.extent());
            gap
        })
    }

    /// Bytes of all elements.
    fn bytes(&self) -> usize {
        self.dimensions.iter().fold(self.element, |bytes, d| bytes.saturating_mul(to_usize(d.extent())))
    }

    /// Calls `each` with the address of each element, and its place in a copy without gaps.
    fn for_each(&self, mut each: impl FnMut(*mut u8, usize)) {
        let mut at = [0; RANKS];
        let mut place = 0;
        loop {
            let spans: isize = self.dimensions.iter().zip(at).map(|(d, i)| d.stride * i).sum();
            each(self.base.wrapping_offset(spans * self.span), place);
            place += self.element;
            let next = self.dimensions.iter().zip(&mut at).any(|(d, i)| {
                *i = if *i + 1 == d.extent() { 0 } else { *i + 1 };
                *i != 0
            });
            if !next {
                return;
            }
        }
    }
}

/// A buffer without gaps: the program's, or a copy.
pub struct Contiguous<'a> {
    /// Address of its first element.
    pub address: *mut c_void,
    /// The program's, and the copy.
    copy: Option<(Array<'a>, Vec<u8>)>,
}

impl<'a> Contiguous<'a> {
    /// Copies a buffer that has gaps.
    ///
    /// # Safety
    /// `descriptor` must be what gfortran passes, and live as long as the result.
    pub unsafe fn of(descriptor: *const Descriptor) -> Result<Contiguous<'a>, Trouble> {
        // SAFETY: the caller vouches for the descriptor, and the array for its elements.
        unsafe {
            let Some(array) = Descriptor::with_gaps(descriptor)? else {
                return Ok(Contiguous { address: Descriptor::base(descriptor), copy: None });
            };
            let mut copy = Vec::new();
            copy.try_reserve_exact(array.bytes()).map_err(|_| Trouble::Memory)?;
            array.for_each(|element, _| {
                copy.extend_from_slice(std::slice::from_raw_parts(element, array.element));
            });
            Ok(Contiguous { address: copy.as_mut_ptr().cast(), copy: Some((array, copy)) })
        }
    }

    /// Copies what was received back into the buffer that this was made of.
    ///
    /// # Safety
    /// The buffer must be writable.
    pub unsafe fn write_back(&self) {
        if let Some((array, copy)) = &self.copy {
            let copy = copy.as_ptr();
            // SAFETY: the caller vouches for the buffer; the copy has all of its elements.
            array.for_each(|element, place| unsafe {
                std::ptr::copy_nonoverlapping(copy.add(place), element, array.element);
            });
        }
    }
}
