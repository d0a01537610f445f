//! Which collectives are under way, so that none starts whose messages would have the tags of
//! another's.
//!
//! A message that goes by MPI has a tag by the number of its collective, from a range that belongs
//! to the neighborhood and the operation. Numbers that differ by as many as there are tags share
//! one, and so do neighborhoods of which one is set long after the other: a receiver that probes
//! would take the other's message. So a collective is refused while one with its tag is under way
//! here. At the other ends of its edges the two are not under way together, then.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::util::cast::{to_int, to_u32, to_usize};
use crate::util::lock::lock;

/// Marks for one range of tags.
#[derive(Debug)]
pub struct UnderWay {
    /// By tag, [`NO_USE`] or the use in which a collective with it was marked.
    by_tag: Box<[AtomicU8]>,
    /// Which use of these marks this is: those that earlier ones have left do not count.
    own_use: u8,
}

/// No mark of any use.
const NO_USE: u8 = 0;

impl UnderWay {
    fn new(numbers: usize) -> UnderWay {
        UnderWay { by_tag: (0..numbers).map(|_| AtomicU8::new(NO_USE)).collect(), own_use: NO_USE + 1 }
    }

    /// Forgets all marks: rarely at the cost of a look at each.
    fn forget(&mut self) {
        self.own_use = self.own_use.wrapping_add(1);
        if self.own_use == NO_USE {
            self.by_tag.iter_mut().for_each(|mark| *mark.get_mut() = NO_USE);
            self.own_use = NO_USE + 1;
        }
    }

    /// Which of the different tags a number has.
    #[inline]
    pub fn tag(&self, number: u64) -> i32 {
        to_int(number & (self.by_tag.len() as u64 - 1))
    }

    #[inline]
    fn mark(&self, number: u64) -> &AtomicU8 {
        &self.by_tag[to_usize(number) & (self.by_tag.len() - 1)]
    }

    /// Fails if a collective is under way with the tag of one of `many` from `number` on.
    #[inline(always)]
    pub fn check(&self, number: u64, many: u64) -> Result<()> {
        if (number..number + many).any(|number| self.mark(number).load(Ordering::Relaxed) == self.own_use) {
            return Err(self.refused());
        }
        Ok(())
    }

    #[cold]
    fn refused(&self) -> Box<Error> {
        Error::TooManyStarted { limit: to_u32(self.by_tag.len()) }.into()
    }

    /// Marks a collective, which has started.
    #[inline]
    pub fn begin(&self, number: u64) {
        self.mark(number).store(self.own_use, Ordering::Relaxed);
    }

    /// It has ended.
    #[inline]
    pub fn end(&self, number: u64) {
        self.mark(number).store(NO_USE, Ordering::Relaxed);
    }
}

/// Most marks that are kept for neighborhoods to come: each has 8 KiB where tags are plenty.
const SPARE: usize = 4;

/// The marks of a communicator's neighborhoods, as long as these or their requests live, and some
/// for those to come.
#[derive(Debug, Default)]
pub struct Marks(Mutex<Vec<(u64, Arc<UnderWay>)>>);

impl Marks {
    /// The marks of a range of `tags` tags from `first` on, at least one: those of an earlier
    /// neighborhood with the same range, or new ones. There are as many numbers as the greatest
    /// power of two of tags.
    pub fn of(&self, first: u64, tags: u64) -> Arc<UnderWay> {
        let mut all = lock(&self.0);
        let mut spare = 0;
        all.retain(|(_, marks)| {
            spare += usize::from(Arc::strong_count(marks) == 1);
            Arc::strong_count(marks) > 1 || spare <= SPARE
        });
        let numbers = 1 << tags.ilog2();
        let same = all.iter().position(|(range, _)| *range == first);
        let unused = || all.iter().position(|(_, marks)| Arc::strong_count(marks) == 1 && marks.by_tag.len() == numbers);
        let Some(at) = same.or_else(unused) else {
            let marks = Arc::new(UnderWay::new(numbers));
            all.push((first, Arc::clone(&marks)));
            return marks;
        };
        let (range, marks) = &mut all[at];
        *range = first;
        // a neighborhood that is gone may have left some
        if let Some(unused) = Arc::get_mut(marks) {
            unused.forget();
        }
        Arc::clone(marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_one_tag_exclude_each_other() {
        let all = Marks::default();
        let marks = all.of(7, 13);
        let refused = Err(Error::TooManyStarted { limit: 8 }.into());
        marks.begin(3);
        assert_eq!(marks.tag(3), marks.tag(11));
        assert_eq!(
            [marks.check(11, 1), marks.check(4, 8), marks.check(0, 4)],
            [refused.clone(), refused.clone(), refused.clone()]
        );
        assert_eq!([marks.check(4, 7), marks.check(10, 1)], [Ok(()), Ok(())]);
        // a later neighborhood with the same tags, and one with others
        let (later, other) = (all.of(7, 13), all.of(8, 13));
        assert_eq!([later.check(3, 1), other.check(3, 1)], [refused, Ok(())]);
        later.end(3);
        assert_eq!(marks.check(11, 1), Ok(()));
        // a request on the earlier one is all that keeps its marks
        marks.begin(0);
        drop((marks, later));
        assert_eq!(all.of(7, 13).check(0, 1), Ok(()));
    }

    #[test]
    fn marks_are_used_again_without_those_of_a_neighborhood_that_is_gone() {
        let all = Marks::default();
        // more often than a byte counts
        for number in 0..600 {
            let marks = all.of(number, 8);
            assert_eq!(marks.check(0, 8), Ok(()), "use {number}");
            marks.begin(number);
            assert!(marks.check(number, 1).is_err() && marks.check(number + 1, 7).is_ok());
        }
        assert_eq!(all.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn few_marks_are_kept_that_nothing_uses() {
        let all = Marks::default();
        let used: Vec<_> = (0..20).map(|range| all.of(range, 8)).collect();
        drop(used);
        let one = all.of(100, 8);
        assert!(all.0.lock().unwrap().len() <= SPARE);
        // too short for another neighborhood
        assert_eq!((all.of(101, 16).tag(15), one.tag(15)), (15, 7));
    }
}
