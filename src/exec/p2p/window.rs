//! Overlapping rounds: receives are posted some rounds ahead, and a process sends its next round as
//! soon as its own sends are complete.
//!
//! A late message delays only its two ends: a process that waits for a late source keeps sending,
//! and an early message finds its receive posted. Each process still has the sends of only one
//! round in flight. Messages between two processes match in the order of the rounds, because both
//! ends post them in that order.
//!
//! There is no deadlock: among all incomplete messages, consider one of the earliest round. Its
//! sender has completed all earlier sends, so it has posted this one; its receiver has completed
//! all earlier sends too, so the receive is posted. This holds also if only one end overlaps its
//! rounds.
//!
//! `schedule::overlap` decides which schedules qualify.
//!
//! Cost: a request and a status for every received message of the schedule instead of one round's.

use crate::mpi::p2p::{Failure, Requests};
use crate::schedule::overlap::may_overlap;
use crate::schedule::{Op, Schedule};

/// The state of overlapping rounds.
pub(super) struct Window {
    /// How many rounds have their receives posted, counted from the one whose sends are in flight.
    pub(super) rounds: usize,
    /// The receives of each round.
    pub(super) receives: Vec<Requests>,
    /// The number of rounds whose receives have been posted.
    pub(super) posted: usize,
    /// The number of rounds that are finished: received, unpacked and reduced.
    pub(super) finished: usize,
}

impl Window {
    /// Makes a window. Returns `None` if the schedule's rounds cannot or need not overlap.
    pub(super) fn new(schedule: &Schedule, rounds: u32) -> Option<Window> {
        if rounds <= 1 || schedule.rounds() <= 1 || !may_overlap(schedule) {
            return None;
        }
        let receives = |r| {
            let mut requests = Requests::default();
            requests.reserve(schedule.round(r).iter().filter(|op| matches!(op, Op::Recv { .. })).count());
            requests
        };
        Some(Window { rounds: rounds as usize, receives: (0..schedule.rounds()).map(receives).collect(), posted: 0, finished: 0 })
    }
}

impl Window {
    /// Returns the rounds whose receives are posted but not all complete, with their receives.
    pub(super) fn receives(&mut self) -> impl Iterator<Item = (usize, &mut Requests)> {
        self.receives.iter_mut().enumerate().take(self.posted).skip(self.finished)
    }

    /// Returns true if the receive at `position` of round `r` is complete.
    pub(super) fn received(&mut self, r: usize, position: usize) -> std::result::Result<bool, Failure> {
        if r < self.finished || r >= self.posted {
            return Ok(r < self.finished);
        }
        self.receives[r].test_one(position)
    }
}
