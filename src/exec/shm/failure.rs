//! Gives up on processes that have died.

use super::state::{RecvState, SendState, Shm};
use crate::error::Error;
use crate::mpi::liveness;

impl Shm {
    /// Returns what has made MPI fail: a neighbor that has ended, if there is one.
    #[cold]
    pub(super) fn explain(&self, error: Box<Error>) -> Box<Error> {
        let (from, to) = (self.channels.inbound.iter(), self.channels.outbound.iter());
        let neighbors = from.map(|inbound| inbound.rank).chain(to.map(|out| out.rank));
        liveness::explain_messages(error, self.comm.view(), &neighbors)
    }

    /// True if the message from process `i` has been found in MPI's queue but has not arrived.
    fn is_found(&self, i: usize) -> bool {
        matches!(self.recvs[i].state, RecvState::Mpi { posted: false, .. })
    }

    /// Gives up on processes that have died: fails what has not come from them, and stops waiting
    /// for what they have not taken.
    #[cold]
    pub(super) fn give_up_on_dead(&mut self) {
        self.give_up_receives();
        self.write_off_dead_targets();
        self.give_up_sends_by_mpi();
        // what was released for good is what others may sleep for
        if self.channels.any_gone() {
            self.wake_sleepers();
        }
    }

    /// Gives up what dead processes will not send any more.
    fn give_up_receives(&mut self) {
        // first take what they have left behind
        self.enter_mpi();
        // A process that has left for the end of MPI still lets MPI deliver what has been found of
        // it. What MPI would copy out of the memory of a dead process never arrives.
        let found = self.receiving.iter().copied().filter(|&i| self.is_found(i));
        let senders =
            found.filter(|&i| !self.channels.lives(self.channels.inbound[i].member)).map(|i| self.channels.inbound[i].rank);
        let senders: Vec<u32> = senders.collect();
        let dead = self.patience.look(self.comm.view(), senders.into_iter());
        for k in (0..self.receiving.len()).rev() {
            let i = self.receiving[k];
            let found = self.is_found(i);
            if self.channels.lives(self.channels.inbound[i].member) || (found && !dead.contains(&self.channels.inbound[i].rank)) {
                continue;
            }
            self.channels.note_gone();
            if let Err(e) = self.step_recv(i) {
                self.note(e);
                // else MPI could not even look for it
                if matches!(self.recvs[i].state, RecvState::Done) {
                    continue;
                }
            }
            // chunks that it wrote before it died can still be read
            if self.has_chunk(i) {
                continue;
            }
            let rank = self.channels.inbound[i].rank;
            match &mut self.recvs[i].state {
                RecvState::Arrived | RecvState::Done => continue,
                RecvState::Mpi { request, posted } => {
                    // a message that has been found cannot be canceled
                    if !*posted || !request.withdraw() {
                        self.leave_buffer(i);
                    }
                }
                RecvState::MpiBlocks => self.cancel_blocks(i),
                RecvState::Waiting | RecvState::Probing | RecvState::Chunks(_) => {}
            }
            self.receiving.swap_remove(k);
            if let Err(e) = self.fail(i, gone(rank)) {
                self.note(e);
            }
        }
    }

    /// Lets messages go on without their dead targets: the others wait for them.
    fn write_off_dead_targets(&mut self) {
        for k in 0..self.sending.len() {
            let send = &self.sends()[self.sending[k]];
            let (own, holders) = (send.targets.clone(), self.holders(send));
            for o in holders {
                let out = &self.channels.outbound[o];
                if out.is_gone() || self.channels.lives(out.member) {
                    continue;
                }
                // Looked at when it has ended, as it may have taken the message just before. A
                // target that has it, or holds nothing of ours, may have left in good order.
                let has_it = send.state == SendState::Published && self.is_over(out);
                let is_owed = own.contains(&o) && !has_it;
                if is_owed || !out.sender.is_idle(out.ring()) || !out.chunks_are_read() {
                    self.channels.write_off(o);
                }
            }
        }
        if let Some(out) = self.channels.outbound.iter().find(|out| out.is_gone()) {
            self.note(gone(out.rank));
        }
    }

    /// Gives up what MPI sends to dead processes.
    fn give_up_sends_by_mpi(&mut self) {
        let mut dead = None;
        let Self { channels, all, each, to_all, .. } = self;
        for send in if *to_all { all } else { each } {
            let before = send.requests.len();
            send.requests.retain_mut(|(out, request)| {
                let out = &channels.outbound[*out];
                let lost = !channels.lives(out.member) && !request.give_up();
                if lost {
                    dead = Some(out.rank);
                }
                !lost
            });
            if send.requests.len() < before {
                // MPI may still read there
                std::mem::forget(std::mem::take(&mut send.buffer));
            }
        }
        if let Some(rank) = dead {
            self.note(gone(rank));
        }
    }
}

fn gone(rank: u32) -> Box<Error> {
    Box::new(Error::Gone { rank })
}
