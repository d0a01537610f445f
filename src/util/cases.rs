//! Number of cases that the property tests run.

use proptest::prelude::ProptestConfig;

/// Number of cases that proptest runs unless the variable `PROPTEST_CASES` says otherwise.
const USUAL: u32 = 256;

/// `count` cases; more or fewer in proportion to `PROPTEST_CASES`. `make check` runs a quarter.
pub fn cases(count: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: (count * config.cases / USUAL).max(1), failure_persistence: None, ..config }
}
