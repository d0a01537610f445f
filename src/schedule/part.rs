//! Fractions of a block, so that large messages can be sent in pieces.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use crate::util::cast::to_int;

/// Cuts fall on multiples of this many bytes of a block's data: a cache line, and a whole number of
/// elements of every predefined type whose size divides it.
pub const GRAIN: u64 = 64;

/// The fraction of a block from `begin / of` to `end / of`.
///
/// Both ends of an edge derive the same bytes from the same fraction, whatever the length of the
/// block and however each end describes it: the length in bytes of data, without gaps, is the same
/// at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    begin: u32,
    end: u32,
    of: u32,
}

impl Part {
    /// The whole block.
    pub const WHOLE: Part = Part { begin: 0, end: 1, of: 1 };

    /// Creates the part from `begin / of` to `end / of`.
    ///
    /// # Panics
    /// Unless `begin < end <= of`.
    pub fn new(begin: u32, end: u32, of: u32) -> Part {
        assert!(begin < end && end <= of, "{begin}..{end} of {of} is no part");
        if begin == 0 && end == of { Part::WHOLE } else { Part { begin, end, of } }
    }

    /// Returns true for the whole block.
    pub fn is_whole(self) -> bool {
        self == Part::WHOLE
    }

    /// Returns the byte range of the part in a block of `length` bytes. Adjacent parts have
    /// adjacent ranges, which may be empty.
    pub fn range(self, length: u64) -> Range<u64> {
        let cut = |position: u32| {
            if position == self.of {
                return length;
            }
            let exact = to_int::<u64>(u128::from(length) * u128::from(position) / u128::from(self.of));
            exact / GRAIN * GRAIN
        };
        cut(self.begin)..cut(self.end)
    }

    /// Orders parts by where they begin.
    pub fn by_begin(&self, other: &Part) -> Ordering {
        (u64::from(self.begin) * u64::from(other.of)).cmp(&(u64::from(other.begin) * u64::from(self.of)))
    }

    /// Returns begin, end, and denominator.
    pub fn fraction(self) -> (u32, u32, u32) {
        (self.begin, self.end, self.of)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_whole() { Ok(()) } else { write!(f, "[{}..{}/{}]", self.begin, self.end, self.of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_fall_on_whole_lines() {
        assert_eq!(Part::WHOLE.range(1000), 0..1000);
        assert_eq!(Part::new(0, 1, 3).range(1000), 0..320);
        assert_eq!(Part::new(1, 2, 3).range(1000), 320..640);
        assert_eq!(Part::new(2, 3, 3).range(1000), 640..1000);
        // too short to be cut: everything is in the last part
        assert_eq!(Part::new(0, 2, 3).range(64), 0..0);
        assert_eq!(Part::new(2, 3, 3).range(64), 0..64);
        assert_eq!(Part::new(0, 7, 7), Part::WHOLE);
        assert_eq!(
            Part::new(1, 2, 3).range(u64::MAX),
            (u64::MAX / 3) / 64 * 64..to_int::<u64>(u128::from(u64::MAX) * 2 / 3) / 64 * 64
        );
    }

    proptest! {
        /// Parts that partition the fraction partition the bytes.
        #[test]
        fn parts_partition(length in any::<u64>(), of in 1u32.., cuts in prop::collection::vec(any::<u32>(), 0..9)) {
            let mut cuts: Vec<u32> = cuts.iter().map(|c| c % of).chain([0, of]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let mut at = 0;
            for w in cuts.windows(2) {
                let range = Part::new(w[0], w[1], of).range(length);
                prop_assert_eq!(range.start, at);
                prop_assert!(range.start.is_multiple_of(GRAIN));
                at = range.end;
            }
            prop_assert_eq!(at, length);
        }
    }
}
