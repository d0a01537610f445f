//! Moves all messages of a call forward, and waits for them.

// inline(always): a blocking call with 8 blocks of 64 B takes 11 % less time, together with that in
// `capi/dispatch.rs` (benches/persistent.c).

use std::sync::Arc;

use super::state::{RecvState, SendState, Shm};
use crate::exec::executor::Executor;
use crate::shm::doorbell;
use crate::util::backoff::{Backoff, Pace, Rest};

impl Shm {
    /// Takes every step that can be taken without waiting, once. Returns true when the call is
    /// complete. Records errors.
    #[inline(always)]
    pub(super) fn poll(&mut self) -> bool {
        let mut changed = false;
        let mut k = 0;
        while k < self.sending.len() {
            let i = self.sending[k];
            match self.step_send(i) {
                Ok(stepped) => changed |= stepped,
                Err(e) => {
                    // its receiver may sleep until it hears of that
                    changed = true;
                    self.note(e);
                }
            }
            match self.sends()[i].state {
                SendState::Done => drop(self.sending.swap_remove(k)),
                _ => k += 1,
            }
        }
        let mut k = 0;
        while k < self.receiving.len() {
            let i = self.receiving[k];
            if let Err(e) = self.step_recv(i) {
                self.note(e);
            }
            match self.recvs[i].state {
                // the sender may wait for the chunks that were read
                RecvState::Chunks(_) => {
                    changed = true;
                    k += 1;
                }
                RecvState::Done => {
                    self.receiving.swap_remove(k);
                    changed = true;
                }
                _ => k += 1,
            }
        }
        if self.foldable {
            changed |= self.fold_arrived();
        }
        if changed {
            self.wake_sleepers();
        }
        let here = self.sending.is_empty() && self.receiving.is_empty();
        here && !self.remote_runs && !self.has_unfinished()
    }

    /// Reduces the blocks whose turn has come. Returns true if there were any, or if that completed
    /// messages: a process that sleeps with nothing left to receive is woken by nobody.
    #[inline(never)]
    fn fold_arrived(&mut self) -> bool {
        self.foldable = false;
        let count = |this: &Shm| this.folding.as_ref().map_or(0, |folding| folding.count_done());
        let (before, left) = (count(self), self.receiving.len());
        if let Err(e) = self.fold_all() {
            self.note(e);
        }
        let recvs = &self.recvs;
        self.receiving.retain(|&i| !matches!(recvs[i].state, RecvState::Done));
        count(self) > before || self.receiving.len() < left
    }

    /// True if messages by MPI, or the reduction, are not complete.
    #[inline(always)]
    fn has_unfinished(&mut self) -> bool {
        if !self.by_mpi && self.folding.is_none() {
            return false;
        }
        self.find_unfinished()
    }

    #[cold]
    fn find_unfinished(&mut self) -> bool {
        let mut more = self.folding.as_ref().is_some_and(|f| !f.is_complete());
        let mut failed = None;
        if self.by_mpi {
            let sends = if self.to_all { &mut self.all } else { &mut self.each };
            for (_, request) in sends.iter_mut().flat_map(|s| &mut s.requests) {
                match request.test() {
                    Ok(done) => more |= !done,
                    Err(e) => failed = Some(e),
                }
            }
        }
        if let Some(e) = failed {
            self.note(e);
        }
        more
    }

    /// Wakes the processes that may sleep until they hear of what was done here: none does where
    /// each has a core of its own.
    #[inline(always)]
    pub(super) fn wake_sleepers(&self) {
        if self.channels.oversubscribed {
            self.ring_doorbells();
        }
    }

    fn ring_doorbells(&self) {
        doorbell::fence_before_ring();
        self.channels.doorbells.iter().for_each(|doorbell| doorbell.ring());
    }

    /// Lets MPI progress other messages, and finds those of this call that came by MPI.
    #[cold]
    pub(super) fn enter_mpi(&mut self) {
        match self.mpi_has_message() {
            Ok(true) => {
                for k in 0..self.receiving.len() {
                    let i = self.receiving[k];
                    if matches!(self.recvs[i].state, RecvState::Waiting | RecvState::MpiBlocks)
                        && let Err(e) = self.probe_any(i)
                    {
                        self.note(e);
                    }
                }
            }
            Ok(false) => {}
            Err(e) => self.note(e),
        }
        if !self.sending.is_empty() && self.send_overdue() {
            self.wake_sleepers();
        }
    }

    /// Polls the executor of the edges to other nodes.
    #[inline(always)]
    pub(super) fn poll_remote(&mut self) {
        if !self.remote_runs {
            return;
        }
        // blocks from there are combined, too
        self.foldable = self.folding.is_some();
        if let Some(remote) = &mut self.remote {
            match remote.test() {
                Ok(done) => self.remote_runs = !done,
                Err(e) => {
                    self.remote_runs = false;
                    self.skip_remote();
                    self.note(e);
                }
            }
        }
    }

    /// Waits where processes share cores: polls, yields, then sleeps.
    pub(super) fn wait_oversubscribed(&mut self) {
        let mut backoff = Backoff::new(Pace::SHARED_CORE);
        let mut left = self.sending.len() + self.receiving.len();
        loop {
            self.poll_remote();
            if self.poll() {
                return;
            }
            let now_left = self.sending.len() + self.receiving.len();
            if now_left != left {
                left = now_left;
                backoff.reset();
            }
            let turn = backoff.turn();
            if turn.enters_mpi {
                self.enter_mpi();
            }
            match turn.rest {
                // MPI rings no doorbell
                Rest::Sleep if self.remote_runs || self.by_mpi => Rest::Yield.take(),
                Rest::Sleep => {
                    self.enter_mpi();
                    let channels = Arc::clone(&self.channels);
                    channels.doorbell.sleep(|| self.can_progress());
                    // a wake-up may have brought only part of what is missing
                    backoff.wake();
                }
                rest => rest.take(),
            }
            if turn.checks {
                self.give_up_on_dead();
            }
        }
    }

    /// True if any message can take a step, or has taken it inside MPI, or none is left.
    fn can_progress(&self) -> bool {
        let comes = |&i: &usize| matches!(self.recvs[i].state, RecvState::Done) || self.next_recv(i).is_some();
        let leaves = |&k: &usize| self.next_send(k).is_some();
        let none = self.sending.is_empty() && self.receiving.is_empty();
        none || self.foldable || self.receiving.iter().any(comes) || self.sending.iter().any(leaves)
    }

    /// Waits where each process has a core of its own.
    #[inline(always)]
    pub(super) fn wait_on_own_core(&mut self) {
        for _ in 0..Pace::OWN_CORE.polls {
            self.poll_remote();
            if self.poll() {
                return;
            }
        }
        self.wait_long();
    }

    #[cold]
    fn wait_long(&mut self) {
        self.hopes = false;
        let mut backoff = Backoff::after_polls(Pace::OWN_CORE);
        loop {
            self.poll_remote();
            if self.poll() {
                return;
            }
            let turn = backoff.turn();
            turn.rest.take();
            if turn.enters_mpi {
                self.enter_mpi();
            }
            if turn.checks {
                self.give_up_on_dead();
            }
        }
    }
}
