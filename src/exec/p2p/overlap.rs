//! Runs a call whose rounds overlap (see `window`).

use super::state::P2p;
use super::window::Window;
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
        self.post_ahead(window);
    }

    /// Posts the receives of the window, then everything else of the next round.
    fn post_ahead(&mut self, window: &mut Window) {
        self.post_window(window);
        self.post_own();
    }

    fn post_window(&mut self, window: &mut Window) {
        let end = (self.round + window.rounds).min(self.sorted.rounds.len());
        while window.posted < end {
            let recvs = self.sorted.rounds[window.posted].recvs.clone();
            // SAFETY: the caller of `bind` vouches for the buffers until the collective is
            // complete.
            let failed =
                unsafe { window.receives[window.posted].post_all_receives(&self.messages[recvs.clone()], self.tag, &self.comm) };
            if let Some(error) = failed {
                self.missing.extend(recvs.clone().map(to_u32));
                self.note(Err(error));
            }
            if let Some(guards) = &self.guards {
                window.receives[window.posted].expect(guards.limits(recvs));
            }
            window.posted += 1;
        }
    }

    /// Makes progress without waiting. Returns true if all rounds are complete, or if no call is
    /// active.
    pub(super) fn poll_ahead(&mut self, window: &mut Window) -> bool {
        if self.round == 0 {
            return true;
        }
        // sends first, to keep the network busy
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
            self.post_ahead(window);
        };
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
            // these hold up the next step
            let requests = if self.requests.is_empty() { &window.receives[window.finished] } else { &self.requests };
            if !requests.settle(&mut self.patience) {
                self.look_for_dead(Some(window));
            }
        }
    }
}
