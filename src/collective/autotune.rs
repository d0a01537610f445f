//! Picks the fastest of several schedules by timing the first calls.
//!
//! The candidates take turns, so that a disturbance hits all of them alike. Each runs once to warm
//! up and [`TRIALS`] times to be measured; the slowest process's median decides.

use crate::error::Result;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::schedule::Algorithm;
use crate::select::{self, Choice};

/// Measured calls with each schedule, after one that warms up.
const TRIALS: usize = 9;

/// A comparison in progress between the schedule in use and its rivals.
pub struct Trial<R> {
    rivals: Vec<R>,
    /// Times in seconds: those of the schedule in use, then those of each rival. The first of each
    /// is the warm-up.
    times: Vec<Vec<f64>>,
}

impl<R> Trial<R> {
    /// Begins a comparison with `rivals`.
    pub fn new(rivals: Vec<R>) -> Self {
        let times = (0..=rivals.len()).map(|_| Vec::with_capacity(1 + TRIALS)).collect();
        Trial { rivals, times }
    }

    /// The rivals of the schedule in use.
    pub fn rivals(&self) -> &[R] {
        &self.rivals
    }

    /// Runs a call by the candidate whose turn it is. `run` returns the call's result and its time
    /// in seconds; an error of `run` itself does not count as a turn.
    pub fn take_turn(&mut self, current: &mut R, run: impl FnOnce(&mut R) -> Result<(Result<()>, f64)>) -> Result<Result<()>> {
        let calls: usize = self.times.iter().map(Vec::len).sum();
        let turn = calls % self.times.len();
        let (result, time) = run(if turn == 0 { current } else { &mut self.rivals[turn - 1] })?;
        self.times[turn].push(time);
        Ok(result)
    }

    /// True when every candidate has had all its turns.
    pub fn is_complete(&self) -> bool {
        self.times.iter().all(|t| t.len() == 1 + TRIALS)
    }

    /// Puts the fastest candidate in the place of `current`, and returns the choice. Collective.
    pub fn decide(&mut self, current: &mut R, algorithm: impl Fn(&R) -> Algorithm, comm: &Comm) -> Result<Choice> {
        let mut slowest = vec![0.0f64; self.times.len()];
        coll::allreduce_slice(comm, &self.medians(), &mut slowest, Reduction::Max)?;
        let all = std::iter::once(&*current).chain(&self.rivals);
        let times: Vec<(Algorithm, f64)> = all.zip(&slowest).map(|(r, t)| (algorithm(r), 1e6 * t)).collect();
        let choice = select::fastest(&times);
        let winner = times.iter().position(|t| t.0 == choice.algorithm).unwrap_or(0);
        if winner > 0 {
            *current = self.rivals.swap_remove(winner - 1);
        }
        Ok(choice)
    }

    /// The median time of each candidate, without the warm-up.
    fn medians(&self) -> Vec<f64> {
        let median = |times: &Vec<f64>| {
            let mut sorted = times[1..].to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        self.times.iter().map(median).collect()
    }
}
