//! Rounds that overlap: receives are posted some rounds ahead, and sends go on as soon as this
//! process's own sends are complete.
//!
//! A round holds up nobody but the two ends of its messages: a process that waits for a late source
//! goes on sending, and a message that comes early finds its receive posted. Each process still has
//! the messages of one round only on their way out. Messages between two processes meet in the
//! order of the rounds, as both ends post them in that order.
//!
//! No process waits for ever: of all messages that are not complete take one of the earliest round.
//! Its sender has sent all before, so that it has begun this one, and as the receiver too has sent
//! all before, its receive is posted. That holds also where one end does not overlap its rounds.
//!
//! Only for schedules that `overlap.rs` lets pass.
//!
//! Cost: room for a request and a status for each message that is received, not for those of a
//! round only.

use super::P2p;
use crate::error::Result;
use crate::mpi::p2p::Requests;
use crate::schedule::overlap::may_overlap;
use crate::schedule::{Op, Schedule};

/// The state of rounds that overlap.
pub(super) struct Window {
    /// Receives of so many rounds are posted, from the one whose sends are under way.
    rounds: usize,
    /// The receives of each round.
    receives: Vec<Requests>,
    /// Rounds whose receives have been posted.
    posted: usize,
    /// Rounds whose receives are complete, and all that follows from them is done.
    finished: usize,
}

impl Window {
    /// `None` where the schedule's rounds cannot overlap, or need not.
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
    /// The rounds whose receives are posted and not all complete.
    pub(super) fn receives(&mut self) -> impl Iterator<Item = (usize, &mut Requests)> {
        self.receives.iter_mut().enumerate().take(self.posted).skip(self.finished)
    }

    /// Whether the receive at a position of round `r` is complete.
    pub(super) fn received(&mut self, r: usize, position: usize) -> Result<bool> {
        if r < self.finished || r >= self.posted {
            return Ok(r < self.finished);
        }
        self.receives[r].test_one(position)
    }
}

impl P2p {
    /// Starts what is bound.
    pub(super) fn start_ahead(&mut self, window: &mut Window) -> Result<()> {
        (window.posted, window.finished) = (0, 0);
        self.post_ahead(window)
    }

    /// Posts the receives that the window holds, then all else of the next round.
    fn post_ahead(&mut self, window: &mut Window) -> Result<()> {
        let done = self.post_window(window).and_then(|()| self.post_own());
        done.inspect_err(|_| {
            let mut stuck = self.requests.abandon(|_| false);
            for receives in &mut window.receives {
                stuck |= receives.abandon(|_| true);
            }
            if stuck {
                self.lose();
            }
        })
    }

    fn post_window(&mut self, window: &mut Window) -> Result<()> {
        let end = (self.round + window.rounds).min(self.sorted.rounds.len());
        while window.posted < end {
            let recvs = self.sorted.rounds[window.posted].recvs.clone();
            // SAFETY: the caller of `bind` vouches for the buffers until the collective is
            // complete.
            unsafe { window.receives[window.posted].post_receives(&self.messages[recvs.clone()], self.tag, &self.comm) }?;
            if let Some(guards) = &self.guards {
                window.receives[window.posted].expect(guards.limits(recvs));
            }
            window.posted += 1;
        }
        Ok(())
    }

    /// Does what can be done without waiting. Whether all rounds are complete, or nothing is under
    /// way.
    pub(super) fn poll_ahead(&mut self, window: &mut Window) -> Result<bool> {
        if self.round == 0 {
            return Ok(true);
        }
        // sends first, so that the way out is not idle
        let sent = loop {
            if !self.requests.is_empty() {
                match self.requests.test() {
                    Ok(false) => break false,
                    Ok(true) => {}
                    Err(failure) => {
                        let first = self.sorted.rounds[self.round - 1].sends.start;
                        let error = self.name_edge(first, failure);
                        self.note(Err(error));
                    }
                }
            }
            if self.round == self.sorted.rounds.len() {
                break true;
            }
            self.post_ahead(window)?;
        };
        // a round's copies are done when its sends are posted
        while window.finished < self.round {
            let (r, receives) = (window.finished, &mut window.receives[window.finished]);
            let completed = match if receives.is_empty() { Ok(true) } else { receives.test() } {
                Ok(false) => return Ok(false),
                Ok(true) => Ok(()),
                Err(failure) => Err(self.name_edge(self.sorted.rounds[r].recvs.start, failure)),
            };
            self.finish_round(r, completed);
            window.finished += 1;
        }
        Ok(sent && window.finished == self.sorted.rounds.len())
    }

    /// Runs what is started to its end, waiting in MPI.
    pub(super) fn block_ahead(&mut self, window: &mut Window) -> Result<()> {
        while !self.poll_ahead(window)? {
            // without these it gets no further
            let requests = if self.requests.is_empty() { &window.receives[window.finished] } else { &self.requests };
            if !requests.settle(&mut self.patience) {
                self.look_for_dead(Some(window));
            }
        }
        Ok(())
    }
}
