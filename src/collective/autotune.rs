//! Picks the fastest of several schedules by timing calls: the program's first ones, or trial calls
//! of a set call. [`Race`] decides whose turn it is, and when the times suffice.

use crate::error::Result;
use crate::mpi::group::Group;
use crate::select::{self, Candidate, Choice, Race, Reason};

/// A comparison in progress between the schedule in use and its rivals.
pub struct TimedRace<R> {
    rivals: Vec<R>,
    /// The processes that make the same calls.
    group: Group,
    /// The schedule in use is candidate 0, the rivals follow.
    race: Race,
    /// The reason for the choice, of its time and that of `direct`.
    reason: fn(f64, f64) -> Reason,
}

/// Whose calls are timed.
#[derive(Debug, Clone)]
pub enum Timed {
    /// The program's first calls, by the processes that make the same ones.
    First(Group),
    /// Trial calls of a set call.
    Trial(Group),
}

impl<R> TimedRace<R> {
    /// Begins a comparison with `rivals`.
    pub fn new(rivals: Vec<R>, timed: Timed) -> Self {
        let candidates = 1 + rivals.len();
        match timed {
            Timed::First(group) => TimedRace { race: Race::new(candidates), rivals, group, reason: Reason::Measured },
            Timed::Trial(group) => TimedRace { race: Race::brief(candidates), rivals, group, reason: Reason::Tried },
        }
    }

    /// The rivals of the schedule in use.
    pub fn rivals(&self) -> &[R] {
        &self.rivals
    }

    /// The same, to be prepared.
    pub fn rivals_mut(&mut self) -> &mut [R] {
        &mut self.rivals
    }

    /// Runs a call by the candidate whose turn it is. `run` gets the group if its processes must
    /// meet before the call, and returns the call's result and its time in seconds; an error of
    /// `run` itself does not count as a turn.
    /// Collective over the group: its processes agree on the times of a sweep after its last call.
    pub fn take_turn(
        &mut self,
        current: &mut R,
        run: impl FnOnce(&mut R, Option<&Group>) -> Result<(Result<()>, f64)>,
    ) -> Result<Result<()>> {
        let turn = self.race.next();
        let group = self.race.meets().then_some(&self.group);
        let (result, time) = run(if turn == 0 { current } else { &mut self.rivals[turn - 1] }, group)?;
        let Some(times) = self.race.note(time) else { return Ok(result) };
        match self.group.largest(times) {
            Ok(slowest) => self.race.end_sweep(&slowest),
            Err(e) => {
                self.race.repeat_sweep();
                return Err(e);
            }
        }
        Ok(result)
    }

    /// True when no more calls are needed.
    pub fn is_complete(&self) -> bool {
        self.race.is_over()
    }

    /// Puts the fastest candidate in the place of `current`, and returns the choice.
    pub fn decide(&mut self, current: &mut R, candidate: impl Fn(&R) -> Candidate) -> Choice {
        let all = std::iter::once(&*current).chain(&self.rivals);
        let times: Vec<(Candidate, f64)> = all.zip(self.race.medians()).map(|(r, t)| (candidate(r), 1e6 * t)).collect();
        let choice = select::fastest(&times, self.reason);
        let winner = times.iter().position(|t| t.0 == choice.candidate).unwrap_or(0);
        if winner > 0 {
            *current = self.rivals.swap_remove(winner - 1);
        }
        choice
    }
}
