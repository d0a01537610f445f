//! Picks the fastest of several schedules by timing the first calls. [`Race`] decides whose turn it
//! is, and when the times suffice.

use crate::error::Result;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::schedule::Algorithm;
use crate::select::{self, Choice, Race};

/// A comparison in progress between the schedule in use and its rivals.
pub struct Trial<R> {
    rivals: Vec<R>,
    /// The schedule in use is candidate 0, the rivals follow.
    race: Race,
}

impl<R> Trial<R> {
    /// Begins a comparison with `rivals`.
    pub fn new(rivals: Vec<R>) -> Self {
        Trial { race: Race::new(1 + rivals.len()), rivals }
    }

    /// The rivals of the schedule in use.
    pub fn rivals(&self) -> &[R] {
        &self.rivals
    }

    /// Runs a call by the candidate whose turn it is. `run` returns the call's result and its time
    /// in seconds; an error of `run` itself does not count as a turn. Collective: the processes
    /// agree on the times of a sweep after its last call.
    pub fn take_turn(
        &mut self,
        current: &mut R,
        comm: &Comm,
        run: impl FnOnce(&mut R) -> Result<(Result<()>, f64)>,
    ) -> Result<Result<()>> {
        let turn = self.race.next();
        let (result, time) = run(if turn == 0 { current } else { &mut self.rivals[turn - 1] })?;
        if let Some(times) = self.race.note(time) {
            let mut slowest = vec![0.0; times.len()];
            coll::allreduce_slice(comm, times, &mut slowest, Reduction::Max)?;
            self.race.end_sweep(&slowest);
        }
        Ok(result)
    }

    /// True when no more calls are needed.
    pub fn is_complete(&self) -> bool {
        self.race.is_over()
    }

    /// Puts the fastest candidate in the place of `current`, and returns the choice.
    pub fn decide(&mut self, current: &mut R, algorithm: impl Fn(&R) -> Algorithm) -> Choice {
        let all = std::iter::once(&*current).chain(&self.rivals);
        let times: Vec<(Algorithm, f64)> = all.zip(self.race.medians()).map(|(r, t)| (algorithm(r), 1e6 * t)).collect();
        let choice = select::fastest(&times);
        let winner = times.iter().position(|t| t.0 == choice.algorithm).unwrap_or(0);
        if winner > 0 {
            *current = self.rivals.swap_remove(winner - 1);
        }
        choice
    }
}
