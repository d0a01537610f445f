//! Conversions between number types: the only place where one may lose its value is where this says
//! so.
//!
//! A conversion that always fits is `From`. One that fits by an invariant is checked here: ranks,
//! list entries, edges and rounds are counted by 32 bits, as lists have their lengths from C's
//! `int`. The check of a conversion that cannot fail, such as `u64` to `usize` on machines of 64
//! bits, is removed by the compiler. A value of the caller's that may be too large for its type is
//! an error of `src/error.rs`, not a case for this module.

#![forbid(unsafe_code)]

use std::any::type_name;
use std::fmt::Display;

/// Converts an integer that fits by an invariant of the caller.
///
/// # Panics
/// If it does not fit. At the C boundary that is `MPI_ERR_INTERN`, instead of a wrong number.
#[inline]
#[track_caller]
pub fn to_int<To>(value: impl TryInto<To> + Display + Copy) -> To {
    match value.try_into() {
        Ok(converted) => converted,
        Err(_) => does_not_fit(&value, type_name::<To>()),
    }
}

/// Converts a rank, or a number of list entries, edges or rounds; as [`to_int`].
///
/// # Panics
/// As [`to_int`].
#[inline]
#[track_caller]
pub fn to_u32(value: impl TryInto<u32> + Display + Copy) -> u32 {
    to_int(value)
}

/// Converts an index or a length in memory; as [`to_int`].
///
/// # Panics
/// As [`to_int`].
#[inline]
#[track_caller]
pub fn to_usize(value: impl TryInto<usize> + Display + Copy) -> usize {
    to_int(value)
}

/// An offset in bytes, for the arithmetic of addresses, which wraps around: its low bits where
/// addresses are shorter than 64 bits.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "addresses wrap around")]
pub fn to_offset(bytes: i64) -> isize {
    bytes as isize
}

/// The whole part of a number. Negative numbers and NaN are 0, and what is too large is
/// `u64::MAX`.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, as the doc says")]
pub fn whole(value: f64) -> u64 {
    value as u64
}

/// The whole part of a number that may be negative; otherwise as [`whole`].
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
pub fn whole_signed(value: f64) -> i64 {
    value as i64
}

/// The word with these low and high 32 bits.
#[inline]
#[must_use]
pub fn of_halves(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The low 32 bits of a word.
#[inline]
#[must_use]
pub fn low_half(word: u64) -> u32 {
    (word & 0xffff_ffff) as u32
}

/// The high 32 bits of a word.
#[inline]
#[must_use]
pub fn high_half(word: u64) -> u32 {
    (word >> 32) as u32
}

#[cold]
#[inline(never)]
#[track_caller]
fn does_not_fit(value: &dyn Display, into: &str) -> ! {
    panic!("{value} does not fit into {into}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_converted() {
        assert_eq!(to_u32(u64::from(u32::MAX)), u32::MAX);
        assert_eq!(to_usize(7i32), 7);
        assert_eq!(to_int::<i8>(-128i64), -128);
        assert_eq!((low_half(0x1234_5678_9abc_def0), high_half(0x1234_5678_9abc_def0)), (0x9abc_def0, 0x1234_5678));
        assert_eq!([f64::NAN, -1.5, 2.9, 1e30].map(whole), [0, 0, 2, u64::MAX]);
        assert_eq!([f64::NAN, -1.5, 2.9].map(whole_signed), [0, -1, 2]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (value, into, text) in [(1u64 << 32, "u32", "4294967296"), (u64::MAX, "u32", "18446744073709551615")] {
            let panic = std::panic::catch_unwind(|| to_u32(value)).unwrap_err();
            assert_eq!(panic.downcast_ref::<String>().unwrap(), &format!("{text} does not fit into {into}"));
        }
        assert!(std::panic::catch_unwind(|| to_usize(-1i32)).is_err());
    }
}
