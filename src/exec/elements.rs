//! Loops that combine elements: predefined operators on int and long, unsigned integers, float and
//! double.
//!
//! `MPI_Reduce_local` does the same for all operators and datatypes, at the cost of a call for each
//! block. It is called only where there is no loop: results must not depend on the path of the
//! blocks, and in MPICH 4.0 and Open MPI 4.1 it compares some unsigned numbers as signed ones.

use crate::error::Result;
use crate::mpi::op::{self, Element, Operator};
use crate::mpi::{Datatype, Op};
use crate::util::cast::to_int;

/// Bytes of operands that are not aligned, and so are copied, at a time. More than any element.
const COPIED: usize = 1024;

/// A copy of operands.
#[repr(align(16))]
struct Aligned([u8; COPIED]);

/// Elements of a predefined datatype without holes, and a predefined operator of reductions, all of
/// which commute.
#[derive(Debug, Clone, Copy)]
pub struct Elements {
    op: Op,
    datatype: Datatype,
    size: usize,
    /// The loop that combines them, if there is one.
    loops: Option<(Operator, Element)>,
}

impl Elements {
    /// Elements of `size` bytes. MPI must have accepted the operator for the datatype.
    pub fn new(op: Op, datatype: Datatype, size: usize) -> Elements {
        Elements { op, datatype, size, loops: op::predefined(op, datatype) }
    }

    /// Returns the most bytes up to `most` that are whole elements, at least one.
    pub fn whole(&self, most: usize) -> usize {
        (most / self.size).max(1) * self.size
    }

    /// Returns the operator and the elements that a loop of ours combines, wherever they lie;
    /// `None` if MPI combines them.
    #[inline]
    pub fn loops(&self) -> Option<(Operator, Element)> {
        self.loops
    }

    /// Computes `into[i] = into[i] op from[i]`. `from` need not be aligned.
    ///
    /// # Safety
    /// Both must be valid for `bytes` bytes, whole elements, and must not overlap.
    #[inline]
    pub unsafe fn combine(&self, into: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller vouches for both.
        unsafe {
            match self.loops {
                Some((operator, element)) => {
                    fold_in_place(operator, element, into, from, bytes);
                    Ok(())
                }
                None if from.addr().is_multiple_of(self.alignment()) => self.reduce(into, from, bytes),
                None => {
                    let mut aligned = Aligned([0; COPIED]);
                    let most = self.whole(COPIED);
                    for begin in (0..bytes).step_by(most) {
                        let now = most.min(bytes - begin);
                        from.wrapping_add(begin).copy_to_nonoverlapping(aligned.0.as_mut_ptr(), now);
                        self.reduce(into.wrapping_add(begin), aligned.0.as_ptr(), now)?;
                    }
                    Ok(())
                }
            }
        }
    }

    /// The alignment that MPI's loops may count on: no datatype of the language needs more.
    fn alignment(&self) -> usize {
        (1 << self.size.trailing_zeros()).min(align_of::<Aligned>())
    }

    unsafe fn reduce(&self, into: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: as for `combine`. A predefined operator only reads `from`.
        unsafe { op::reduce(from.cast_mut(), into, to_int(bytes / self.size), to_int(self.size), self.datatype, self.op) }
    }
}

/// Something to be done with the function that combines two elements: compiled for each operator
/// and element, so that a loop asks for neither.
pub trait WithFold {
    /// What it returns.
    type Output;
    /// Does it.
    fn run<T: Copy>(self, fold: impl Fn(T, T) -> T) -> Self::Output;
}

/// Finds the function that combines two elements. MPI must have accepted the operator for them.
#[inline]
pub fn with_fold<V: WithFold>(operator: Operator, element: Element, then: V) -> V::Output {
    match element {
        Element::Int => integers::<i32, V>(operator, then),
        Element::Long => integers::<i64, V>(operator, then),
        Element::Float => reals::<f32, V>(operator, then),
        Element::Double => reals::<f64, V>(operator, then),
        Element::Unsigned => integers::<u32, V>(operator, then),
        Element::UnsignedLong => integers::<u64, V>(operator, then),
        Element::UnsignedChar => integers::<u8, V>(operator, then),
        Element::UnsignedShort => integers::<u16, V>(operator, then),
    }
}

/// Computes `into[i] = into[i] op from[i]`.
///
/// # Safety
/// Both must be valid for `bytes` bytes, a multiple of the element's size, and must not overlap.
pub unsafe fn fold_in_place(operator: Operator, element: Element, into: *mut u8, from: *const u8, bytes: usize) {
    with_fold(operator, element, Each::<false> { into, from, bytes });
}

/// Computes `into[i] = from[i] op into[i]`, as `MPI_Reduce_local` does.
///
/// # Safety
/// As for [`fold_in_place`].
pub unsafe fn fold_onto(operator: Operator, element: Element, from: *const u8, into: *mut u8, bytes: usize) {
    with_fold(operator, element, Each::<true> { into, from, bytes });
}

/// Combines each of some elements. `FROM_FIRST`: those of `from` are the left operands.
struct Each<const FROM_FIRST: bool> {
    into: *mut u8,
    from: *const u8,
    bytes: usize,
}

impl<const FROM_FIRST: bool> WithFold for Each<FROM_FIRST> {
    type Output = ();
    #[inline]
    fn run<T: Copy>(self, fold: impl Fn(T, T) -> T) {
        let (into, from) = (self.into.cast::<T>(), self.from.cast::<T>());
        // a loop that the compiler can vectorize
        for i in 0..self.bytes / size_of::<T>() {
            // SAFETY: whoever made this vouches for both.
            unsafe {
                let (at, other) = (into.add(i), from.add(i).read_unaligned());
                let one = at.read_unaligned();
                at.write_unaligned(if FROM_FIRST { fold(other, one) } else { fold(one, other) });
            }
        }
    }
}

trait Integer: Copy + Ord {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn bits(self, operator: Operator, other: Self) -> Self;
}

macro_rules! integer {
    ($type:ty) => {
        impl Integer for $type {
            #[inline]
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn bits(self, operator: Operator, other: Self) -> Self {
                match operator {
                    Operator::BitAnd => self & other,
                    Operator::BitOr => self | other,
                    Operator::BitXor => self ^ other,
                    Operator::LogicalAnd => (self != 0 && other != 0).into(),
                    Operator::LogicalOr => (self != 0 || other != 0).into(),
                    _ => ((self != 0) != (other != 0)).into(),
                }
            }
        }
    };
}

integer!(i32);
integer!(i64);
integer!(u32);
integer!(u64);
integer!(u8);
integer!(u16);

#[inline]
fn integers<T: Integer, V: WithFold>(operator: Operator, then: V) -> V::Output {
    match operator {
        Operator::Sum => then.run(T::sum),
        Operator::Product => then.run(T::product),
        Operator::Min => then.run(T::min),
        Operator::Max => then.run(T::max),
        Operator::BitAnd => then.run(|a: T, b| a.bits(Operator::BitAnd, b)),
        Operator::BitOr => then.run(|a: T, b| a.bits(Operator::BitOr, b)),
        Operator::BitXor => then.run(|a: T, b| a.bits(Operator::BitXor, b)),
        Operator::LogicalAnd => then.run(|a: T, b| a.bits(Operator::LogicalAnd, b)),
        Operator::LogicalOr => then.run(|a: T, b| a.bits(Operator::LogicalOr, b)),
        Operator::LogicalXor => then.run(|a: T, b| a.bits(Operator::LogicalXor, b)),
    }
}

#[inline]
fn reals<T, V: WithFold>(operator: Operator, then: V) -> V::Output
where
    T: Copy + PartialOrd + From<u8> + std::ops::Add<Output = T> + std::ops::Mul<Output = T>,
{
    let (is_true, truth) = (|a: T| a != T::from(0), |truth: bool| T::from(truth.into()));
    match operator {
        Operator::Sum => then.run(|a: T, b| a + b),
        Operator::Product => then.run(|a: T, b| a * b),
        Operator::Min => then.run(|a: T, b| if a < b { a } else { b }),
        Operator::Max => then.run(|a: T, b| if a > b { a } else { b }),
        // The standard has none of these. MPICH accepts the logical ones, and ends the program in
        // MPI_Reduce_local; no MPI accepts the others.
        Operator::LogicalAnd | Operator::BitAnd => then.run(|a: T, b| truth(is_true(a) && is_true(b))),
        Operator::LogicalOr | Operator::BitOr => then.run(|a: T, b| truth(is_true(a) || is_true(b))),
        Operator::LogicalXor | Operator::BitXor => then.run(|a: T, b| truth(is_true(a) != is_true(b))),
    }
}
