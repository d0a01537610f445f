//! Gives up on neighbors that have died, or that MPI keeps from putting.

use super::state::{InState, Round, Stage};
use crate::error::{Error, Result};

impl Round {
    /// Stops waiting for sources that report that MPI keeps them from putting and sending.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_refusals(&mut self) {
        // a barrier tells all processes what has been refused to one
        if self.fence.is_some() {
            return self.look_for_news();
        }
        if self.stage != Stage::Open {
            return;
        }
        for i in 0..self.ins.len() {
            if matches!(self.ins[i].state, InState::Put | InState::Slot | InState::Header)
                && let Err(e) = self.look_for_refusal(i)
            {
                self.note(e);
            }
        }
    }

    /// The same for source `i`.
    fn look_for_refusal(&mut self, i: usize) -> Result<()> {
        if !self.link.is_refused(self.ins[i].slot.rank, self.ins[i].number)? {
            return Ok(());
        }
        if self.ins[i].state == InState::Put && !self.link.is_passive() {
            self.shut();
        }
        let recv = &mut self.ins[i];
        if recv.state == InState::Header && !recv.request.withdraw() {
            (self.stuck, self.stays) = (true, true);
        }
        // a part of it may still be under way
        self.stuck |= recv.is_offered();
        recv.state = InState::Done;
        Err(Error::Unpacked { rank: recv.slot.rank }.into())
    }

    /// Stops waiting for what processes that have died would have done. The others go on, as their
    /// neighbors wait for them.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_dead(&mut self) {
        if self.stage != Stage::Open {
            // the call before looks
            return;
        }
        let answers = if self.accessed { Vec::new() } else { self.answers.pending() };
        let ranks: Vec<u32> =
            self.outs.iter().map(|out| out.slot.rank).chain(self.ins.iter().map(|recv| recv.slot.rank)).collect();
        let rank_of = |position: usize| ranks[position];
        let mut wanted: Vec<u32> = answers.iter().map(|&position| rank_of(position)).collect();
        let is_here = |state: InState| matches!(state, InState::Landed | InState::Done);
        wanted.extend(self.ins.iter().filter(|recv| !is_here(recv.state)).map(|recv| recv.slot.rank));
        let sending = self.outs.iter().filter(|out| out.sends.iter().any(|s| !s.is_null()));
        wanted.extend(sending.map(|out| out.slot.rank));
        // a barrier waits for all
        let all = if self.fence.is_some() { 0..self.link.processes() } else { 0..0 };
        let dead = self.patience.look(self.link.comm().view(), wanted.into_iter().chain(all));
        if dead.is_empty() {
            return;
        }
        dead.iter().for_each(|&rank| self.link.note_dead(rank));
        if self.fence.is_some() {
            return self.end_without(dead[0]);
        }
        let gone: Vec<usize> = answers.into_iter().filter(|&position| dead.contains(&rank_of(position))).collect();
        let mut stuck = self.give_up_answers(&gone);
        let is_passive = self.link.is_passive();
        let is_dead = |rank: u32| dead.contains(&rank);
        for recv in self.ins.iter_mut().filter(|recv| is_dead(recv.slot.rank)) {
            if matches!(recv.state, InState::Header | InState::Data { .. }) {
                stuck |= !recv.request.withdraw();
            }
            recv.state = match recv.state {
                // the epoch of an active target ends below
                InState::Put if !is_passive => InState::Put,
                InState::Landed => InState::Landed,
                _ => InState::Done,
            };
        }
        for out in self.outs.iter_mut().filter(|out| is_dead(out.slot.rank)) {
            for request in &mut out.sends {
                stuck |= !request.give_up();
            }
        }
        let waits_for_dead = self.ins.iter().any(|recv| is_dead(recv.slot.rank));
        if self.exposed && waits_for_dead && !is_passive {
            self.shut();
            let of_dead = self.ins.iter_mut().filter(|recv| is_dead(recv.slot.rank) && recv.state == InState::Slot);
            of_dead.for_each(|recv| recv.state = InState::Done);
        }
        self.stuck |= stuck;
        self.stays |= stuck;
        self.note(Error::Gone { rank: dead[0] }.into());
    }
}
