//! Overlapping rounds: the sends of some rounds are in flight at a time, and the receives of as
//! many rounds are posted ahead of them. Where messages may be sent by rendezvous, receives are
//! posted right behind the sends of their round (`posting` says why).
//!
//! A late sender delays only its receivers: a process that waits for a late source keeps sending,
//! and an early short message finds its receive posted. A late receiver of a long message holds up
//! what the sender sends in later rounds, and what it receives in them. While one message passes a
//! port, the next one agrees with its receiver, so that the port does not stand idle for that time.
//! Messages between two processes match in the order of the rounds, because both ends post them in
//! that order.
//!
//! There is no deadlock where all processes call, whatever the others do: among all incomplete
//! messages, consider one of the earliest round. Its sender has completed all earlier sends, so it
//! has posted this one; its receiver has completed all earlier sends too, so the receive is posted.
//! This holds also if only one end overlaps its rounds.
//!
//! `schedule::overlap` decides which schedules qualify.
//!
//! Cost: a request and a status for every message of the schedule instead of one round's.

use crate::mpi::p2p::{Failure, Requests};
use crate::schedule::overlap::may_overlap;
use crate::schedule::{Op, Schedule};

/// The state of overlapping rounds.
pub(super) struct Window {
    /// How many rounds may have sends in flight; as many have receives posted ahead of them, unless
    /// messages may be sent by rendezvous.
    pub(super) rounds: usize,
    /// The receives of each round.
    pub(super) receives: Vec<Requests>,
    /// The sends of each round.
    pub(super) sends: Vec<Requests>,
    /// The number of rounds whose receives have been posted.
    pub(super) posted: usize,
    /// The number of rounds that are finished: received, unpacked and reduced.
    pub(super) finished: usize,
    /// The rounds that have sends in flight, in ascending order.
    pub(super) in_flight: Vec<usize>,
}

impl Window {
    /// Makes a window. Returns `None` if the schedule's rounds cannot or need not overlap.
    pub(super) fn new(schedule: &Schedule, rounds: u32) -> Option<Window> {
        if rounds <= 1 || schedule.rounds() <= 1 || !may_overlap(schedule) {
            return None;
        }
        let lists = |is_one: fn(&Op) -> bool| {
            let list = |r| {
                let mut requests = Requests::default();
                requests.reserve(schedule.round(r).iter().filter(|&op| is_one(op)).count());
                requests
            };
            (0..schedule.rounds()).map(list).collect()
        };
        Some(Window {
            rounds: rounds as usize,
            receives: lists(|op| matches!(op, Op::Recv { .. })),
            sends: lists(|op| matches!(op, Op::Send { .. })),
            posted: 0,
            finished: 0,
            in_flight: Vec::with_capacity(schedule.rounds().min(rounds as usize)),
        })
    }
}

impl Window {
    /// Returns the lists of receives, and of sends, that may be incomplete, with their rounds.
    /// `round`: the first round whose sends are not posted.
    pub(super) fn lists(
        &mut self,
        round: usize,
    ) -> (impl Iterator<Item = (usize, &mut Requests)>, impl Iterator<Item = (usize, &mut Requests)>) {
        let receives = self.receives.iter_mut().enumerate().take(self.posted).skip(self.finished);
        let sending = self.in_flight.first().map_or(round, |&first| first);
        (receives, self.sends.iter_mut().enumerate().take(round).skip(sending))
    }

    /// Returns true if the receive at `position` of round `r` is complete.
    pub(super) fn received(&mut self, r: usize, position: usize) -> std::result::Result<bool, Failure> {
        if r < self.finished || r >= self.posted {
            return Ok(r < self.finished);
        }
        self.receives[r].test_one(position)
    }
}
