//! Applies operations in loops that are compiled for each kind, operator and width of elements: to
//! words, elements of 4 or 8 bytes without gaps, and to elements without gaps that follow one
//! another.
//!
//! What an operation does is asked once for a group of them. All other elements, and operators that
//! are MPI's or the program's, take the way of `state`, one element after the other.

use super::batch::{Group, Kind, Reader};
use super::elements::{Combining, Dense};
use super::operators::Operator;
use super::runs::Run;
use crate::exec::elements::{WithFold, fold_in_place, with_fold};
use crate::mpi::op::{Element, Operator as Predefined};
use crate::util::cast::to_usize;

/// What operations do with an element.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Nothing.
    Keep,
    /// Store a value.
    Store,
    /// Store a value if the element equals another one.
    CompareAndSwap,
    /// Combine it with a value.
    Fold(Predefined, Element),
}

impl Step {
    /// What operations of a kind do, and of an operator, if the kind has one. `None` if that is
    /// not ready, or only MPI can do it.
    #[inline]
    pub fn of<'o>(kind: Kind, operator: impl FnOnce() -> Option<&'o Operator>) -> Option<Step> {
        Some(match kind {
            Kind::Put => Step::Store,
            Kind::Get => Step::Keep,
            Kind::CompareAndSwap => Step::CompareAndSwap,
            Kind::Accumulate | Kind::FetchAndOp => match operator()? {
                Operator::Replace => Step::Store,
                Operator::Combine(Combining::Loops(loops)) => {
                    let (operator, element) = loops.loops()?;
                    Step::Fold(operator, element)
                }
                Operator::Combine(Combining::Block { .. }) => return None,
            },
        })
    }
}

impl Step {
    /// True if it combines whole words of this length, if it combines at all: an element of the
    /// window may be two shorter numbers.
    #[inline]
    pub fn is_of(self, size: usize) -> bool {
        let Step::Fold(_, element) = self else { return true };
        size == element.bytes()
    }
}

/// Applies operations of one group on single words. `results` takes the words before them, if the
/// operations return these, and else is empty. Returns an index outside of the window, if there is
/// one; such operations do nothing and return zeros.
///
/// # Safety
/// The window's memory must be readable and writable, and its elements be words, of the length of
/// those that the step [combines](Step::is_of).
pub unsafe fn apply_each(dense: Dense, step: Step, group: Group, reader: &mut Reader, results: &mut [u8]) -> Option<u64> {
    let Group { kind, elements, run, .. } = group;
    let each = Each { dense, elements, run, reader, results };
    let is_long = dense.size == size_of::<u64>();
    // SAFETY: the caller vouches for the window.
    unsafe {
        match (step, kind.returns()) {
            (Step::Keep, _) if is_long => each.run::<u64, 0, true>(|_, []| None),
            (Step::Keep, _) => each.run::<u32, 0, true>(|_, []| None),
            (Step::Store, false) if is_long => each.run::<u64, 1, false>(|_, [value]| Some(value)),
            (Step::Store, false) => each.run::<u32, 1, false>(|_, [value]| Some(value)),
            (Step::Store, true) if is_long => each.run::<u64, 1, true>(|_, [value]| Some(value)),
            (Step::Store, true) => each.run::<u32, 1, true>(|_, [value]| Some(value)),
            (Step::CompareAndSwap, _) if is_long => each.run::<u64, 2, true>(swapped),
            (Step::CompareAndSwap, _) => each.run::<u32, 2, true>(swapped),
            (Step::Fold(operator, element), false) => with_fold(operator, element, Folding::<false>(each)),
            (Step::Fold(operator, element), true) => with_fold(operator, element, Folding::<true>(each)),
        }
    }
}

/// What a compare-and-swap writes to a word, if it does.
#[inline]
fn swapped<T: Copy + PartialEq>(word: T, [value, expected]: [T; 2]) -> Option<T> {
    (word == expected).then_some(value)
}

/// Operations of one group on single words.
struct Each<'g, 'm> {
    dense: Dense,
    elements: u16,
    run: Option<Run>,
    reader: &'g mut Reader<'m>,
    results: &'g mut [u8],
}

impl Each<'_, '_> {
    /// Runs through the operations, each with `VALUES` values. `step` returns what they write, if
    /// they do: memory that is only read keeps its pages, and the caches of others.
    ///
    /// # Safety
    /// As for [`apply_each`], with words of type `T`.
    #[inline]
    unsafe fn run<T: Copy, const VALUES: usize, const RETURNS: bool>(
        self,
        step: impl Fn(T, [T; VALUES]) -> Option<T>,
    ) -> Option<u64> {
        let (size, base) = (size_of::<T>(), self.dense.base.cast::<T>());
        let mut results = self.results.chunks_exact_mut(size);
        let mut outside = None;
        for k in 0..usize::from(self.elements) {
            let index = match self.run {
                None => self.reader.index(),
                Some(run) => run.index(k),
            };
            let values = self.reader.values(VALUES * size).as_ptr().cast::<T>();
            let result = if RETURNS { results.next() } else { None };
            if index >= self.dense.count {
                outside = Some(index);
                result.into_iter().for_each(|result| result.fill(0));
                continue;
            }
            // SAFETY: the index is one of the window, for which the caller vouches; the reader has
            // returned the bytes of all values, and `chunks_exact_mut` those of a word.
            unsafe {
                let at = base.add(to_usize(index));
                let word = at.read_unaligned();
                if let Some(value) = step(word, std::array::from_fn(|k| values.add(k).read_unaligned())) {
                    at.write_unaligned(value);
                }
                result.into_iter().for_each(|result| result.as_mut_ptr().cast::<T>().write_unaligned(word));
            }
        }
        outside
    }
}

/// [`Each::run`] with the function that combines two elements.
struct Folding<'g, 'm, const RETURNS: bool>(Each<'g, 'm>);

impl<const RETURNS: bool> WithFold for Folding<'_, '_, RETURNS> {
    type Output = Option<u64>;

    #[inline]
    fn run<T: Copy>(self, fold: impl Fn(T, T) -> T) -> Option<u64> {
        // SAFETY: the caller of `apply_each` vouches for the window, whose elements have the size
        // of those that the operator combines.
        unsafe { self.0.run::<T, 1, RETURNS>(|word, [value]| Some(fold(word, value))) }
    }
}

/// Applies operations on elements that follow one another from `first` on. `results` as for
/// [`apply_each`]. Returns `first` if one of the elements is outside of the window: then nothing is
/// done. Not for [`Step::CompareAndSwap`].
///
/// # Safety
/// The window's memory must be readable and writable.
pub unsafe fn apply_run(dense: Dense, step: Step, first: u64, elements: u16, values: &[u8], results: &mut [u8]) -> Option<u64> {
    if first.checked_add(elements.into()).is_none_or(|end| end > dense.count) {
        results.fill(0);
        return Some(first);
    }
    let (at, bytes) = (dense.base.wrapping_add(to_usize(first) * dense.size), usize::from(elements) * dense.size);
    // SAFETY: the elements are in the window, for which the caller vouches.
    unsafe {
        at.copy_to_nonoverlapping(results.as_mut_ptr(), results.len());
        match step {
            Step::Store => at.copy_from(values.as_ptr(), values.len()),
            Step::Fold(operator, element) => fold_in_place(operator, element, at, values.as_ptr(), bytes),
            Step::Keep | Step::CompareAndSwap => {}
        }
    }
    None
}

/// Applies an operation to a word: a value, the one to compare with, and where the word goes that
/// was there before.
///
/// # Safety
/// The word must be one of the window, readable and writable, and so must be what the operation
/// takes and returns.
#[inline]
pub unsafe fn apply_one(step: Step, words: Dense, index: u64, values: [*const u8; 2], result: *mut u8) {
    // SAFETY: the caller vouches for all of them.
    unsafe {
        if words.size == size_of::<u64>() {
            one::<u64>(step, words.base, to_usize(index), values, result);
        } else {
            one::<u32>(step, words.base, to_usize(index), values, result);
        }
    }
}

#[inline]
unsafe fn one<T: Copy + PartialEq>(step: Step, base: *mut u8, index: usize, [value, compare]: [*const u8; 2], result: *mut u8) {
    let value = value.cast::<T>();
    // SAFETY: as for `apply_one`.
    unsafe {
        let word = base.cast::<T>().add(index);
        // the value may lie where the result goes
        let before = word.read_unaligned();
        match step {
            Step::Keep => {}
            Step::Store => word.write_unaligned(value.read_unaligned()),
            Step::CompareAndSwap => {
                let swapped = swapped(before, [value.read_unaligned(), compare.cast::<T>().read_unaligned()]);
                swapped.into_iter().for_each(|value| word.write_unaligned(value));
            }
            Step::Fold(operator, element) => {
                let value = value.read_unaligned();
                fold_in_place(operator, element, word.cast(), (&raw const value).cast(), size_of::<T>());
            }
        }
        result.cast::<T>().write_unaligned(before);
    }
}
