//! Gives up messages to and from processes that have ended.

use super::state::P2p;
use super::window::Window;
use crate::error::Error;
use crate::mpi::p2p::Lost;
use crate::util::cast::to_u32;

impl P2p {
    /// Gives up the messages of the posted rounds to and from processes that have ended. Messages
    /// of the others continue, in later rounds too, because neighbors wait for them.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_dead(&mut self, window: Option<&mut Window>) {
        if self.round == 0 {
            return;
        }
        // what is posted later
        let rounds = self.sorted.rounds.len();
        let (recvs_from, sends_from) = (window.as_ref().map_or(self.round, |window| window.posted).min(rounds), self.round);
        // the first message of each list of requests, and how many of the list are receives
        let mut lists = Vec::new();
        if let Some(window) = window {
            let rounds = &self.sorted.rounds;
            let (receives, sends) = window.lists(self.round);
            lists.extend(receives.map(|(r, requests)| (rounds[r].recvs.start, rounds[r].recvs.len(), requests)));
            lists.extend(sends.map(|(r, requests)| (rounds[r].sends.start, 0, requests)));
        } else {
            let recvs = &self.sorted.rounds[self.round - 1].recvs;
            lists.push((recvs.start, recvs.len(), &mut self.requests));
        }
        let pending: Vec<Vec<usize>> = lists.iter().map(|(.., requests)| requests.pending()).collect();
        let peer = |message: usize| self.sorted.messages[message].0;
        let wanted = lists.iter().zip(&pending).flat_map(|((first, ..), list)| list.iter().map(|k| peer(*first + k)));
        let dead = self.patience.look(self.comm.view(), wanted);
        if dead.is_empty() {
            return;
        }
        let (of_dead, before) = (|message: usize| dead.contains(&self.sorted.messages[message].0), self.missing.len());
        for ((first, receives, requests), list) in lists.into_iter().zip(pending) {
            let lost: Vec<usize> = list.into_iter().filter(|k| of_dead(first + k)).collect();
            for (position, fate) in lost.iter().zip(requests.give_up(&lost, |position| position < receives)) {
                match fate {
                    Lost::No => continue,
                    Lost::Gone => {}
                    Lost::Stuck => self.stuck = true,
                }
                self.missing.push(to_u32(first + position));
            }
        }
        // drop later messages to the dead: MPI may refuse them, and the call would end before the
        // living have got theirs
        let recvs = self.sorted.rounds[recvs_from..].iter().flat_map(|round| round.recvs.clone());
        let later = recvs.chain(self.sorted.rounds[sends_from..].iter().flat_map(|round| round.sends.clone()));
        self.missing.extend(later.filter(|&message| of_dead(message)).map(to_u32));
        let rank = self.missing.get(before).map_or(dead[0], |&message| self.sorted.messages[message as usize].0);
        let messages = self.sorted.messages.iter().zip(&mut self.messages);
        messages.filter(|(of, _)| dead.contains(&of.0)).for_each(|(_, message)| message.peer = crate::mpi::proc_null());
        // later calls miss something even if this one does not
        self.gone.get_or_insert(rank);
        if self.missing.len() > before {
            self.note(Err(Error::Gone { rank }.into()));
        }
    }
}
