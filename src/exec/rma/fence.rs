//! Rounds that a barrier of all processes ends, for callers that have promised that all of them
//! call.
//!
//! `MPI_Win_fence` has no nonblocking form, and a process that has died would keep the others in
//! it. MPIs build it of puts, flushes and a barrier; so does this, with a barrier that is polled.
//! As calls use the window in turn, the barriers of all processes have the same order.
//!
//! A round that cannot end on a process ends the window for all: the barrier's word says who could
//! not complete a put. Who gives up a barrier tells all others by messages of 4 bytes, for which
//! they look now and then: only processes of one node find one that has died.

use std::ops::Range;
use std::sync::Arc;

use super::answer::{MAY_PUT, PUT, lets_put};
use super::link::FENCE;
use super::slots::Slot;
use super::state::{InMessage, InState, OutMessage, Round, Stage};
use crate::error::Error;
use crate::mpi::barrier::Barrier;
use crate::mpi::liveness;
use crate::util::cast::to_u32;

/// In the word of a barrier or its news, beside the number of a process, counted from 1: it has
/// died.
const DEAD: u32 = 1 << 31;

impl Round {
    /// Makes a barrier end this round.
    pub(super) fn end_by_barrier(&mut self) {
        self.fence = Some(Box::new(Barrier::new(to_u32(self.me), self.link.processes(), FENCE, u32::max)));
    }

    /// Begins to use the window. All processes have taken what has been put into these places of
    /// the slots: they had when they entered the last barrier.
    pub(super) fn open_between_fences(&mut self) {
        let Self { link, outs, ins, fence, exposed, .. } = self;
        let is_odd = link.is_odd_round();
        let place = |slot: Slot| if is_odd { slot.other() } else { slot };
        for out in outs.iter_mut() {
            (out.slot, out.number) = (place(link.targets[out.position]), link.count_to(out.position));
            (out.answer[0], out.left, out.refused) = (PUT, false, false);
        }
        for recv in ins.iter_mut() {
            (recv.slot, recv.number) = (place(link.sources[recv.position]), link.count_from(recv.position));
            recv.state = InState::Put;
        }
        *exposed = true;
        let Some(fence) = fence else { return };
        if link.is_closed() {
            let gone = link.dead().first().map(|&rank| Error::Gone { rank });
            self.note(gone.unwrap_or_else(|| Error::Internal("an earlier call by puts has not ended".into())).into());
            // the others know
            return self.give_up_fence(None);
        }
        // once more if MPI refuses: all processes wait for this one
        if let Err(e) = fence.arm(link.comm()) {
            let again = fence.arm(link.comm());
            self.note(e);
            if again.is_err() {
                let word = self.own_word();
                return self.give_up_fence(Some(word));
            }
        }
        if !self.announce_answers() || !self.answer_as_announced() {
            let word = self.own_word();
            return self.give_up_fence(Some(word));
        }
        self.pack_all();
    }

    /// Announces whether answers precede the next messages, once more if MPI refuses. Returns false
    /// if it has refused twice.
    pub(super) fn announce_answers(&mut self) -> bool {
        let Self { ins, link, failure, .. } = self;
        let Some(words) = &link.announcements else { return true };
        ins.iter().all(|recv| {
            let tell = || words.announce(&link.landing, (recv.position, recv.slot.rank), recv.number, recv.is_offered());
            let Err(e) = tell() else { return true };
            failure.get_or_insert(e);
            tell().is_ok()
        })
    }

    /// Exchanges the answers that have been announced. Returns false if MPI has refused one twice.
    fn answer_as_announced(&mut self) -> bool {
        let link = Arc::clone(&self.link);
        let Some(words) = &link.announcements else { return true };
        let asks = |out: &OutMessage| words.will_answer(&link.landing, out.position, out.number);
        let tells = |recv: &InMessage| words.must_answer(recv.position, recv.number);
        if self.outs.iter().any(asks) || self.ins.iter().any(tells) {
            self.outs.iter_mut().filter(|out| asks(out)).for_each(|out| out.answer[0] = 0);
            self.exchange_answers(&MAY_PUT, asks, tells);
        }
        !link.comm().has_unmatched()
    }

    /// Puts to some targets, and completes that: once more if MPI refuses.
    pub(super) fn put_before_fence(&mut self, targets: Range<usize>) {
        // an answer that MPI has lost
        self.outs[targets.clone()].iter_mut().for_each(|out| out.refused |= !lets_put(&out.answer));
        self.put(targets.clone(), |out| !out.left && lets_put(&out.answer));
        let Self { outs, link, failure, stuck, stays, .. } = self;
        for out in outs[targets].iter_mut().filter(|out| !out.left) {
            let Err(e) = link.landing.flush(out.slot.rank) else { continue };
            failure.get_or_insert(e);
            if link.landing.flush(out.slot.rank).is_err() {
                // what is refused here may still be under way
                (out.refused, *stuck, *stays) = (true, true, true);
            }
        }
    }

    /// Enters the barrier once all messages have left. When it ends, takes those of the sources out
    /// of their slots.
    pub(super) fn look_at_fence(&mut self) {
        let enters = self.accessed && self.fence.as_ref().is_some_and(|fence| !fence.is_entered());
        let word = if enters && self.outs.iter().any(|out| out.refused) { self.own_word() } else { 0 };
        let Self { link, fence, accessed, .. } = self;
        let (Some(fence), true) = (fence, *accessed) else { return };
        let entered = if fence.is_entered() { Ok(()) } else { fence.enter(word, link.comm()) };
        match entered.and_then(|()| fence.progress(link.comm())) {
            Ok(None) => {}
            Ok(Some(0)) => {
                let synced = link.landing.sync();
                self.exposed = false;
                if let Err(e) = synced {
                    self.note(e);
                }
                (0..self.ins.len()).for_each(|i| self.take_slot(i));
            }
            Ok(Some(word)) => self.end_by_word(word, None),
            Err(e) => {
                let again = fence.send_again(link.comm());
                self.note(e);
                if !matches!(again, Ok(true)) {
                    let word = self.own_word();
                    self.give_up_fence(Some(word));
                }
            }
        }
    }

    /// The word that says that this process has failed, or if MPI has failed it because another one
    /// has died, that.
    #[cold]
    fn own_word(&mut self) -> u32 {
        let error = self.failure.take().map(|error| liveness::explain(error, self.link.comm().view(), None));
        let word = match error.as_deref() {
            Some(&Error::Gone { rank }) => DEAD | (rank + 1),
            _ => to_u32(self.me) + 1,
        };
        self.failure = error;
        word
    }

    /// Gives up if a process that has given up a barrier says so.
    #[cold]
    pub(super) fn look_for_news(&mut self) {
        if self.stage != Stage::Open || !self.exposed {
            return;
        }
        match self.link.news() {
            Ok(None) => {}
            Ok(Some(word)) => self.end_by_word(word, None),
            Err(e) => self.note(e),
        }
    }

    /// Ends the round with the failure that a word tells.
    #[cold]
    fn end_by_word(&mut self, word: u32, tell: Option<u32>) {
        let rank = (word & !DEAD) - 1;
        if word & DEAD == 0 {
            self.note(Error::Unpacked { rank }.into());
        } else {
            self.link.note_dead(rank);
            self.note(Error::Gone { rank }.into());
        }
        self.give_up_fence(tell);
    }

    /// Ends the round as a process has died.
    #[cold]
    pub(super) fn end_without(&mut self, rank: u32) {
        self.end_by_word(DEAD | (rank + 1), Some(DEAD | (rank + 1)));
    }

    /// Returns the error of a round. A barrier waits for all processes, so that what MPI made of
    /// the death of one keeps the round from ending; then it is that.
    pub(super) fn explained(&self, error: Box<Error>) -> Box<Error> {
        if self.fence.is_none() {
            return error;
        }
        let error = liveness::explain(error, self.link.comm().view(), None);
        if let Error::Gone { rank } = *error {
            self.link.note_dead(rank);
        }
        error
    }

    /// Ends the round without its barrier, and with it the use of the window. `tell`: what the
    /// others must hear, unless they have been told before.
    #[cold]
    fn give_up_fence(&mut self, tell: Option<u32>) {
        if let Some(word) = tell.filter(|_| !self.link.is_closed()) {
            self.link.tell(word, to_u32(self.me));
        }
        self.link.close();
        // messages of the barrier, and news of its end, may come that nobody receives
        self.link.comm().mismatch(to_u32(self.me));
        // who has been told where blocks lie may still put there
        self.stuck |= self.ins.iter().any(|recv| recv.state == InState::Put && recv.is_offered());
        (self.exposed, self.accessed) = (false, true);
        let pending = self.answers.pending();
        let mut stuck = self.give_up_answers(&pending);
        if let Some(fence) = &mut self.fence {
            fence.give_up();
        }
        for recv in &mut self.ins {
            if matches!(recv.state, InState::Header | InState::Data { .. }) {
                stuck |= !recv.request.withdraw();
            }
            recv.state = InState::Done;
        }
        for out in &mut self.outs {
            out.left = true;
            for request in &mut out.sends {
                stuck |= !request.give_up();
            }
        }
        self.stuck |= stuck;
        self.stays |= stuck;
    }
}
