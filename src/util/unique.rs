//! Numbers that name something on all processes.

use std::hash::{BuildHasher, RandomState};

use crate::util::cast::to_int;

/// A number that no other process, and no other call, has but with probability of 2^-61: positive,
/// and less than `i64::MAX`.
pub fn unique() -> i64 {
    // its keys come from the system
    to_int(RandomState::new().hash_one(0) >> 2 | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ() {
        let numbers: std::collections::HashSet<i64> = (0..1000).map(|_| unique()).collect();
        assert!(numbers.len() == 1000 && numbers.iter().all(|&number| number > 0 && number < i64::MAX));
    }
}
