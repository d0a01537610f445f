//! Moves all messages of a call forward, and waits for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::state::{Receiving, Sending, Shm};
use crate::exec::Executor;
use crate::shm::doorbell;

/// Looks of a process that has a core before it begins to pause between them.
const SPINS: u32 = 2000;
/// Looks between two entries into MPI, after that.
const ENTER: u32 = 64;
/// Looks, and then yields, of a process that shares its core, before it sleeps.
const LOOKS: u32 = 20;
const YIELDS: u32 = 16;
/// How long a process waits between two looks whether those that it waits for live.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

impl Shm {
    /// Does what can be done without waiting, once. Whether all has come to its end. Errors are
    /// noted.
    #[inline(always)]
    pub(super) fn poll(&mut self) -> bool {
        let mut changed = false;
        let mut k = 0;
        while k < self.sending.len() {
            let i = self.sending[k] as usize;
            match self.step_send(i) {
                Ok(stepped) => changed |= stepped,
                Err(e) => self.note(e),
            }
            match self.sends()[i].state {
                Sending::Done => drop(self.sending.swap_remove(k)),
                _ => k += 1,
            }
        }
        let mut k = 0;
        while k < self.receiving.len() {
            let i = self.receiving[k] as usize;
            if let Err(e) = self.step_recv(i) {
                self.note(e);
            }
            match self.recvs[i].state {
                // the sender may wait for what has been taken out
                Receiving::Chunks(_) => {
                    changed = true;
                    k += 1;
                }
                Receiving::Done => {
                    self.receiving.swap_remove(k);
                    changed = true;
                }
                _ => k += 1,
            }
        }
        if let Some(folding) = &self.folding {
            let before = folding.count_done();
            if let Err(e) = self.fold_all() {
                self.note(e);
            }
            changed |= self.folding.as_ref().is_some_and(|folding| folding.count_done() > before);
        }
        if changed && self.link.crowded {
            self.ring();
        }
        let here = self.sending.is_empty() && self.receiving.is_empty();
        here && !self.rest_runs && !self.has_more()
    }

    /// Whether messages that went by MPI, or a reduction, are not at their end.
    #[inline(always)]
    fn has_more(&mut self) -> bool {
        if !self.by_mpi && self.folding.is_none() {
            return false;
        }
        self.look_for_more()
    }

    #[cold]
    fn look_for_more(&mut self) -> bool {
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

    /// Wakes the processes that may wait for what has been done here.
    pub(super) fn ring(&self) {
        doorbell::before_ringing();
        for member in self.link.outs.iter().map(|o| o.member).chain(self.link.ins.iter().map(|i| i.member)) {
            self.link.bells[member as usize].ring();
        }
    }

    /// Lets MPI move other messages, and looks for those of this call that come by MPI.
    #[cold]
    pub(super) fn enter_mpi(&mut self) {
        match self.may_have_come() {
            Ok(true) => {
                for k in 0..self.receiving.len() {
                    let i = self.receiving[k] as usize;
                    if matches!(self.recvs[i].state, Receiving::Waits | Receiving::MpiEach)
                        && let Err(e) = self.look_for_any(i)
                    {
                        self.note(e);
                    }
                }
            }
            Ok(false) => {}
            Err(e) => self.note(e),
        }
        if !self.sending.is_empty() {
            self.lose_patience();
        }
    }

    /// Polls the other executor.
    #[inline(always)]
    pub(super) fn poll_rest(&mut self) {
        if !self.rest_runs {
            return;
        }
        if let Some(rest) = &mut self.rest {
            match rest.test() {
                Ok(done) => self.rest_runs = !done,
                Err(e) => {
                    self.rest_runs = false;
                    self.note(e);
                }
            }
        }
    }

    /// Waits where processes share cores.
    pub(super) fn wait_crowded(&mut self) {
        let (mut looks, mut all) = (0, 0u32);
        let mut left = self.sending.len() + self.receiving.len();
        let mut alive = Instant::now();
        loop {
            self.poll_rest();
            if self.poll() {
                return;
            }
            let now_left = self.sending.len() + self.receiving.len();
            if now_left != left {
                (looks, left) = (0, now_left);
            }
            (looks, all) = (looks + 1, all.wrapping_add(1));
            if looks <= LOOKS {
                std::hint::spin_loop();
                continue;
            }
            if all.is_multiple_of(LOOKS) {
                self.enter_mpi();
            }
            if looks <= LOOKS + YIELDS || self.rest_runs || self.by_mpi {
                // SAFETY: takes nothing, touches nothing.
                unsafe { libc::sched_yield() };
            } else {
                self.enter_mpi();
                let link = Arc::clone(&self.link);
                link.bell.sleep(|| self.may_go_on());
                // what has woken this process may not be all
                looks = LOOKS;
            }
            if all.is_multiple_of(64) && alive.elapsed() > PATIENCE {
                self.look_for_dead();
                alive = Instant::now();
            }
        }
    }

    /// True if a message can take a step.
    fn may_go_on(&self) -> bool {
        self.receiving.iter().any(|&i| self.next_recv(i as usize).is_some())
            || self.sending.iter().any(|&k| self.next_send(k as usize).is_some())
    }

    /// Waits where each process has a core.
    #[inline(always)]
    pub(super) fn wait_alone(&mut self) {
        for _ in 0..SPINS {
            self.poll_rest();
            if self.poll() {
                return;
            }
        }
        self.wait_long();
    }

    #[cold]
    fn wait_long(&mut self) {
        let mut looks = 0u32;
        let mut alive = Instant::now();
        loop {
            self.poll_rest();
            if self.poll() {
                return;
            }
            looks = looks.wrapping_add(1);
            std::hint::spin_loop();
            if looks.is_multiple_of(ENTER) {
                self.enter_mpi();
            }
            if looks.is_multiple_of(ENTER << 8) && alive.elapsed() > PATIENCE {
                self.look_for_dead();
                alive = Instant::now();
            }
        }
    }
}
