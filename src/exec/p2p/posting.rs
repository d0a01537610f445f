//! Posts the operations of a round: receives, sends, and copies of self edges.
//!
//! Receives come first, so that short messages are received where they belong. Where messages may
//! be sent by rendezvous, the sends to a process come before the receives from it. An MPI then
//! announces a message, and sends it when its receiver has agreed. On a connection that keeps the
//! order of bytes, as TCP does, an agreement waits behind the message that goes the same way. A
//! receive that finds its message announced agrees at once: if it were posted before our own send,
//! the other process would get the agreement first, send its message, and agree to ours behind
//! that. Each direction would wait for the other. With sends first, both messages are announced
//! before either is agreed to.

use std::ops::Range;

use super::order::Round;
use super::state::P2p;
use super::window::Window;
use crate::datatype::pack::Loopback;
use crate::observe::{Medium, Record};
use crate::util::cast::to_u32;

impl P2p {
    /// Posts all operations of the next round. What fails is noted, and the rest goes on.
    #[inline]
    pub(super) fn post(&mut self) {
        let Round { recvs, sends, packs, copies, .. } = self.sorted.rounds[self.round].clone();
        self.round += 1;
        debug_assert!(self.requests.is_empty(), "the round before is complete");
        if self.may_rendezvous {
            self.pack(packs);
            self.post_for_rendezvous(recvs, sends);
        } else {
            self.post_receives(recvs.clone());
            self.expect(recvs);
            self.pack(packs);
            self.post_sends(sends);
        }
        self.copy(copies);
    }

    /// Posts messages in the order of `Sorted::rendezvous`. Their requests stay in the order of
    /// messages.
    #[inline(never)]
    fn post_for_rendezvous(&mut self, recvs: Range<usize>, sends: Range<usize>) {
        for k in recvs.start..sends.end {
            let i = self.sorted.rendezvous[k] as usize;
            self.requests.seek(i - recvs.start);
            if i < sends.start { self.post_receives(i..i + 1) } else { self.post_sends(i..i + 1) }
        }
        self.requests.seek(recvs.len());
        self.expect(recvs.clone());
        self.requests.seek(sends.end - recvs.start);
    }

    /// Posts all operations of the next round but its receives, and the receives of the window: of
    /// this round alone if messages may be sent by rendezvous.
    pub(super) fn post_ahead(&mut self, window: &mut Window) {
        let Round { sends, packs, copies, .. } = self.sorted.rounds[self.round].clone();
        if !self.may_rendezvous {
            self.post_window(window, (self.round + window.rounds).min(self.sorted.rounds.len()));
        }
        let requests = &mut window.sends[self.round];
        window.in_flight.push(self.round);
        self.round += 1;
        self.pack(packs);
        std::mem::swap(&mut self.requests, requests);
        self.post_sends(sends);
        std::mem::swap(&mut self.requests, requests);
        if self.may_rendezvous {
            self.post_window(window, self.round);
        }
        self.copy(copies);
    }

    /// Posts the receives of the rounds before `end`.
    fn post_window(&mut self, window: &mut Window, end: usize) {
        while window.posted < end {
            let recvs = self.sorted.rounds[window.posted].recvs.clone();
            let requests = &mut window.receives[window.posted];
            std::mem::swap(&mut self.requests, requests);
            self.post_receives(recvs.clone());
            self.expect(recvs);
            std::mem::swap(&mut self.requests, requests);
            window.posted += 1;
        }
    }

    #[inline]
    fn post_receives(&mut self, recvs: Range<usize>) {
        // SAFETY: the caller of `bind` vouches for the buffers until the collective is complete.
        let failed = unsafe { self.requests.post_all_receives(&self.messages[recvs.clone()], self.tag, &self.comm) };
        if let Some(error) = failed {
            // those from other processes are posted
            let cut_off = self.comm.unmatched();
            self.missing.extend(recvs.map(to_u32).filter(|&i| cut_off.contains(&self.sorted.messages[i as usize].0)));
            self.note(Err(error));
        }
    }

    /// Guards receives, whose requests are the last ones before the position, if this MPI needs it.
    #[inline]
    fn expect(&mut self, recvs: Range<usize>) {
        if let Some(guards) = &self.guards {
            self.requests.expect(guards.limits(recvs));
        }
    }

    #[inline]
    fn post_sends(&mut self, sends: Range<usize>) {
        let is_spoiled = |k: usize| self.spoiled.contains(&to_u32(sends.start + k));
        let spoiled: Option<&dyn Fn(usize) -> bool> = if self.spoiled.is_empty() { None } else { Some(&is_spoiled) };
        // SAFETY: as for `post_receives`.
        let failed = unsafe { self.requests.post_all_sends(&self.messages[sends.clone()], spoiled, self.tag, &self.comm) };
        if let Some(error) = failed {
            self.note(Err(error));
        }
    }

    /// Copies the blocks of self edges, and counts and traces the round that was just posted.
    #[inline]
    fn copy(&mut self, copies: Range<usize>) {
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        // SAFETY: as for `post_receives`; `bind` has made the buffer long enough.
        let copied = unsafe { self.copies.run(copies.clone(), loopback) };
        self.note(copied);
        if let Some(record) = &self.record {
            self.observe_round(record, copies);
        }
    }

    #[cold]
    fn observe_round(&self, record: &Record, copies: Range<usize>) {
        record.sent(Medium::Own, copies.len(), self.copies.bytes(copies));
        record.round(self.round);
    }

    /// Packs blocks whose first parts are about to be sent.
    fn pack(&mut self, packs: Range<usize>) {
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        for &stage in &self.sorted.packs[packs] {
            // SAFETY: as for `Executor::bind`.
            if let Err(error) = unsafe { self.parts.pack(stage, loopback) } {
                self.spoiled.extend(self.parts.messages_of(stage));
                self.failure.get_or_insert(error);
            }
        }
    }
}
