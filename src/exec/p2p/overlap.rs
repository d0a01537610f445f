//! Runs a call whose rounds overlap (see `window`).

use super::state::P2p;
use super::window::Window;
use crate::mpi::p2p::Requests;
use crate::util::cast::to_u32;

impl P2p {
    /// Runs a step with the window. Returns `None` if rounds do not overlap.
    #[inline]
    pub(super) fn ahead<T>(&mut self, step: impl FnOnce(&mut P2p, &mut Window) -> T) -> Option<T> {
        self.window.as_ref()?;
        let mut window = self.window.take()?;
        let done = step(self, &mut window);
        self.window = Some(window);
        Some(done)
    }

    /// Starts the bound call.
    pub(super) fn start_ahead(&mut self, window: &mut Window) {
        (window.posted, window.finished) = (0, 0);
        window.in_flight.clear();
        for _ in 0..window.rounds.min(self.sorted.rounds.len()) {
            self.post_ahead(window);
        }
    }

    /// Returns true if the sends of a round are complete or have failed.
    fn sent(&mut self, sends: &mut Requests, r: usize) -> bool {
        if sends.is_empty() {
            return true;
        }
        sends.test().unwrap_or_else(|failure| {
            let error = self.name_edge(self.sorted.rounds[r].sends.start, failure);
            self.note(Err(error));
            true
        })
    }

    /// Posts rounds while fewer than the window permits have sends in flight. Returns true if all
    /// sends of all rounds are complete.
    fn send_ahead(&mut self, window: &mut Window) -> bool {
        loop {
            // a round may be complete before an earlier one, whose target is late
            let Window { in_flight, sends, .. } = window;
            in_flight.retain(|&r| !self.sent(&mut sends[r], r));
            if self.round == self.sorted.rounds.len() {
                return window.in_flight.is_empty();
            }
            if window.in_flight.len() >= window.rounds {
                return false;
            }
            self.post_ahead(window);
        }
    }

    /// Makes progress without waiting. Returns true if all rounds are complete, or if no call is
    /// active.
    pub(super) fn poll_ahead(&mut self, window: &mut Window) -> bool {
        if self.round == 0 {
            return true;
        }
        // sends first, to keep the network busy
        let sent = self.send_ahead(window);
        // the copies of a round are complete once its sends are posted
        while window.finished < self.round {
            let (r, receives) = (window.finished, &mut window.receives[window.finished]);
            let completed = match if receives.is_empty() { Ok(true) } else { receives.test() } {
                Ok(false) => return false,
                Ok(true) => Ok(()),
                Err(failure) => {
                    let first = self.sorted.rounds[r].recvs.start;
                    self.missing.extend(receives.lost().iter().map(|position| to_u32(first + position)));
                    Err(self.name_edge(first, failure))
                }
            };
            self.finish_round(r, completed);
            window.finished += 1;
        }
        sent && window.finished == self.sorted.rounds.len()
    }

    /// Waits inside MPI until the call is complete.
    pub(super) fn block_ahead(&mut self, window: &mut Window) {
        while !self.poll_ahead(window) {
            if self.patience.is_over() {
                self.look_for_dead(Some(window));
            }
        }
    }
}
