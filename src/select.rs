//! The only place that chooses a schedule, and says why.
//!
//! The choice depends only on what is equal on all processes, so all make the same one.

#![forbid(unsafe_code)]

use crate::error::{Error, Result};
use crate::hints::{Hints, ScheduleHint};
use crate::schedule::{Algorithm, Input};

/// A choice and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// A sentence that says why.
    pub why: &'static str,
}

/// Chooses the algorithm for a neighborhood.
pub fn select(hints: &Hints, input: &Input) -> Result<Choice> {
    match hints.schedule {
        ScheduleHint::Auto => Ok(Choice {
            algorithm: Algorithm::Direct,
            why: "it takes one round, and nothing is known here about contention that would pay for more",
        }),
        ScheduleHint::Only(algorithm) => match (algorithm.entry().unfit)(input) {
            None => Ok(Choice { algorithm, why: "the hint mpix_schedule asks for it" }),
            Some(reason) => Err(Error::Schedule { schedule: algorithm.name(), reason: reason.into() }.into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighborhood::Neighborhood;

    #[test]
    fn a_schedule_that_does_not_fit_is_an_error_with_its_reason() {
        let n = Neighborhood::from_ranks(0, &[0], &[0]);
        let mut input = Input { neighborhood: &n, processes: 1, directions: None };
        let hints = Hints { schedule: ScheduleHint::Only(Algorithm::DimensionOrder), ..Hints::default() };
        let e = select(&hints, &input).unwrap_err();
        assert!(e.to_string().contains("dimension_order cannot be used: it needs a Cartesian"));
        input.directions = Some(&[0, 1]);
        assert_eq!(select(&hints, &input).unwrap().algorithm, Algorithm::DimensionOrder);
        assert_eq!(select(&Hints::default(), &input).unwrap().algorithm, Algorithm::Direct);
    }
}
