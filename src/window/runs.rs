//! Indices that are evenly spaced: elements in order, in reverse order, or at any other distance.
//!
//! An array of indices is read before its values are copied, so these loops are ones that the
//! compiler vectorizes. Others took 3 us for 10,000 indices, whose values take 7 us
//! (benches/onesided.c).

#![forbid(unsafe_code)]
// the half without MPI packs, and nothing more
#![cfg_attr(not(feature = "mpi"), allow(dead_code))]

/// Elements whose indices are evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Index of the first one.
    pub first: u64,
    /// From one index to the next: any number, 0 among them.
    pub distance: i64,
}

impl Run {
    /// Returns the index of element `k`, which wraps around.
    #[inline]
    pub fn index(self, k: usize) -> u64 {
        self.first.wrapping_add((k as u64).wrapping_mul(self.distance.cast_unsigned()))
    }

    /// Returns the index of the last one of `elements`.
    pub fn last(self, elements: u16) -> i64 {
        self.index(usize::from(elements)).cast_signed().wrapping_sub(self.distance)
    }
}

/// Indices that are compared at a time.
const TOGETHER: usize = 32;

/// Returns how many indices from the first one on are evenly spaced, and their distance.
#[inline]
pub fn run_of(indices: &[i64]) -> (usize, i64) {
    let [first, second, ..] = *indices else { return (indices.len(), 1) };
    let distance = second.wrapping_sub(first);
    // most runs that are none end here
    if indices.get(2).is_some_and(|third| third.wrapping_sub(second) != distance) {
        return (2, distance);
    }
    let (before, after) = (&indices[..indices.len() - 1], &indices[1..]);
    let mut same = 0;
    for (before, after) in before.chunks_exact(TOGETHER).zip(after.chunks_exact(TOGETHER)) {
        let differs = before.iter().zip(after).fold(0, |differs, (b, a)| differs | (a.wrapping_sub(*b) ^ distance));
        if differs != 0 {
            break;
        }
        same += TOGETHER;
    }
    let rest = before[same..].iter().zip(&after[same..]);
    (1 + same + rest.take_while(|(b, a)| a.wrapping_sub(**b) == distance).count(), distance)
}

/// Returns true if all indices are those of elements of a window of `count` elements. `run` is what
/// [`run_of`] says of them.
#[inline]
pub fn are_within(indices: &[i64], (length, distance): (usize, i64), count: u64) -> bool {
    let is_run_within =
        |&first: &i64| length == indices.len() && is_within(Run { first: first.cast_unsigned(), distance }, length, count);
    indices.first().is_some_and(is_run_within) || are_each_within(indices, count)
}

#[inline]
fn are_each_within(indices: &[i64], count: u64) -> bool {
    let last = count.cast_signed() - 1;
    // negative if the index is, or if it is above the last one; the difference of two numbers that
    // are not negative does not overflow
    indices.iter().fold(0, |outside, &index| outside | index | last.wrapping_sub(index)) >= 0
}

/// Returns true if all indices of a run of `length` are those of elements of a window of `count`
/// elements.
fn is_within(run: Run, length: usize, count: u64) -> bool {
    let last = i64::try_from(length - 1)
        .ok()
        .and_then(|steps| steps.checked_mul(run.distance))
        .and_then(|far| run.first.checked_add_signed(far));
    run.first < count && last.is_some_and(|last| last < count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::random::Random;

    /// The definition of a run, one index after the other.
    fn slowly(indices: &[i64]) -> (usize, i64) {
        let distance = indices.get(1).map_or(1, |second| second.wrapping_sub(indices[0]));
        let rest = indices.windows(2).take_while(|pair| pair[1].wrapping_sub(pair[0]) == distance);
        (1 + rest.count(), distance)
    }

    #[test]
    fn a_run_ends_where_the_distance_changes() {
        for length in 1..4 * TOGETHER + 3 {
            for distance in [1, 0, -1, 7, -1000, i64::MAX, i64::MIN] {
                let run = Run { first: 50_000, distance };
                let indices: Vec<_> = (0..length).map(|k| run.index(k).cast_signed()).collect();
                assert_eq!(run_of(&indices), (length, if length > 1 { distance } else { 1 }));
                for end in 1..length {
                    let mut indices = indices.clone();
                    indices[end] ^= 1 << (end % 64);
                    assert_eq!(run_of(&indices), slowly(&indices), "{distance}, {end} of {length}");
                }
            }
        }
    }

    #[test]
    fn indices_are_within_a_window_if_each_is() {
        let mut random = Random::new(3);
        let borders = [0, 1, 99, 100, 101, -1, i64::MIN, i64::MAX, i64::MAX - 1];
        for count in [0, 1, 100, (i64::MAX - 1).cast_unsigned()] {
            for length in 0..70 {
                let mut indices: Vec<_> = (0..length).map(|_| (random.bits() % count.max(1)).cast_signed()).collect();
                assert_eq!(are_each_within(&indices, count), count > 0 || length == 0);
                for border in borders {
                    if length > 0 {
                        let at = random.below(length) as usize;
                        indices[at] = border;
                    }
                    let each = indices.iter().all(|&index| u64::try_from(index).is_ok_and(|index| index < count));
                    assert_eq!(are_each_within(&indices, count), each, "{border} among {length} of {count}");
                    assert_eq!(are_within(&indices, run_of(&indices), count), each, "{border} among {length} of {count}");
                }
            }
        }
    }

    #[test]
    fn a_run_is_within_a_window_if_each_of_its_indices_is() {
        for count in [0, 1, 5, 20] {
            for first in 0..22 {
                for distance in -6..7 {
                    for length in 1..9 {
                        let run = Run { first, distance };
                        let each = (0..length).all(|k| run.index(k) < count);
                        assert_eq!(is_within(run, length, count), each, "{run:?}, {length} of {count}");
                        let indices: Vec<_> = (0..length).map(|k| run.index(k).cast_signed()).collect();
                        assert_eq!(are_within(&indices, run_of(&indices), count), each);
                    }
                }
            }
        }
        // indices that wrap around, and come back into the window
        assert!(!is_within(Run { first: 0, distance: 1 << 62 }, 5, 100));
        assert!(!is_within(Run { first: 0, distance: i64::MIN }, 3, 100));
        assert!(!is_within(Run { first: u64::MAX, distance: 1 }, 1, 100));
    }
}
