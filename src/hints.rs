//! Hints: info keys and environment variables, as typed values.
//!
//! An environment variable overrides the info key. Unknown keys are ignored; a value that is not understood is an error. Both are
//! read when a neighborhood is set, never later.

#![forbid(unsafe_code)]

use crate::error::{Error, Result};
use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder};

/// A hint's names: (info key, environment variable).
type Names = (&'static str, &'static str);

const SCHEDULE: Names = ("mpix_schedule", "MPIX_SCHEDULE");
const REDUCE_ORDER: Names = ("mpix_reduce_order", "MPIX_REDUCE_ORDER");
const VERIFY: Names = ("mpix_verify", "MPIX_NEIGHBOR_VERIFY");

/// Which schedule the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleHint {
    /// The library chooses.
    Auto,
    /// This one; an error where it cannot be used.
    Only(Algorithm),
}

/// All hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// `mpix_schedule`: `auto` (default) or an algorithm's name.
    pub schedule: ScheduleHint,
    /// `mpix_reduce_order`: `source` (default) or `any`.
    pub reduce_order: FoldOrder,
    /// `mpix_verify`: `false` (default) or `true`.
    pub verify: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Hints { schedule: ScheduleHint::Auto, reduce_order: FoldOrder::Source, verify: false }
    }
}

impl Hints {
    /// Reads the hints. `info` and `env` give the value of a key or variable.
    pub fn read(info: impl Fn(&str) -> Result<Option<String>>, env: impl Fn(&str) -> Option<String>) -> Result<Hints> {
        let mut hints = Hints::default();
        let value = |(key, variable): Names| -> Result<Option<Value>> {
            Ok(match env(variable) {
                Some(text) => Some(Value { origin: "environment variable", key: variable, text }),
                None => info(key)?.map(|text| Value { origin: "info key", key, text }),
            })
        };
        if let Some(v) = value(SCHEDULE)? {
            let mut allowed = vec![("auto", ScheduleHint::Auto)];
            allowed.extend(ALGORITHMS.iter().map(|e| (e.name, ScheduleHint::Only(e.algorithm))));
            hints.schedule = v.choose(&allowed)?;
        }
        if let Some(v) = value(REDUCE_ORDER)? {
            hints.reduce_order = v.choose(&[("source", FoldOrder::Source), ("any", FoldOrder::Any)])?;
        }
        if let Some(v) = value(VERIFY)? {
            hints.verify = v.choose(&[("false", false), ("true", true), ("0", false), ("1", true)])?;
        }
        Ok(hints)
    }

    /// A number that differs where hints differ that all processes must agree on.
    pub fn agreed(&self) -> i64 {
        let schedule = match self.schedule {
            ScheduleHint::Auto => 0,
            ScheduleHint::Only(algorithm) => 1 + algorithm as i64,
        };
        2 * schedule + i64::from(self.verify)
    }
}

struct Value {
    origin: &'static str,
    key: &'static str,
    text: String,
}

impl Value {
    fn choose<T: Copy>(&self, allowed: &[(&str, T)]) -> Result<T> {
        let text = self.text.trim();
        match allowed.iter().find(|(name, _)| *name == text) {
            Some(&(_, value)) => Ok(value),
            None => Err(Error::HintValue {
                origin: self.origin,
                key: self.key.into(),
                value: self.text.clone(),
                allowed: (allowed.iter().map(|(name, _)| *name)).collect::<Vec<_>>().join(", "),
            }
            .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(info: &[(&str, &str)], env: &[(&str, &str)]) -> Result<Hints> {
        let get = |list: &[(&str, &str)], key: &str| list.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
        Hints::read(|k| Ok(get(info, k)), |k| get(env, k))
    }

    #[test]
    fn defaults_unknown_keys_and_override() {
        assert_eq!(read(&[("color", "blue")], &[]).unwrap(), Hints::default());
        let h = read(
            &[("mpix_schedule", "direct"), ("mpix_reduce_order", "any")],
            &[("MPIX_SCHEDULE", "dimension_order"), ("MPIX_NEIGHBOR_VERIFY", "1")],
        )
        .unwrap();
        assert_eq!(h.schedule, ScheduleHint::Only(Algorithm::DimensionOrder));
        assert_eq!(h.reduce_order, FoldOrder::Any);
        assert!(h.verify);
    }

    #[test]
    fn bad_values_are_named() {
        let e = read(&[("mpix_schedule", "fastest")], &[]).unwrap_err();
        assert_eq!(
            e.to_string(),
            "info key mpix_schedule = \"fastest\" is not one of auto, direct, dimension_order, linear_permutation, random_rounds, edge_coloring"
        );
        let e = read(&[], &[("MPIX_NEIGHBOR_VERIFY", "maybe")]).unwrap_err();
        assert!(e.to_string().starts_with("environment variable MPIX_NEIGHBOR_VERIFY"));
    }

    #[test]
    fn what_must_agree_differs() {
        let mut seen = Vec::new();
        for verify in ["true", "false"] {
            for e in &ALGORITHMS {
                seen.push(read(&[("mpix_schedule", e.name), ("mpix_verify", verify)], &[]).unwrap().agreed());
            }
        }
        let n = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), n);
    }
}
