//! The messages of a round: posts them, probes for those of unknown length, and finishes the round
//! when all are complete.

use std::ops::Range;

use super::state::{Forward, Passing};
use crate::datatype::buffers::{Located, enlarge};
use crate::datatype::pack::Loopback;
use crate::error::{Argument, Error, Result};
use crate::mpi::message::{self, Message, Probed};
use crate::mpi::p2p::Failure;
use crate::mpi::{datatype, sink};
use crate::observe;
use crate::schedule::{Block, Op, packet};
use crate::topology::neighborhood::Rank;
use crate::util::cast::to_int;

impl Forward {
    /// Returns a message of bytes in one of the buffers.
    pub(super) fn bytes(&mut self, buffer: usize, range: Range<usize>, peer: Rank) -> Result<Message> {
        let at = self.buffers[buffer][range.clone()].as_mut_ptr();
        let block = Located { at, count: to_int(range.len()), datatype: datatype::byte() };
        let mut message = Message { at, count: 0, datatype: block.datatype, peer: to_int(peer) };
        // SAFETY: bytes are a committed type.
        unsafe { self.large_packets.fill(&mut message, &block, || Argument::new("recvcounts")) }?;
        Ok(message)
    }

    /// Posts the next round. What fails is noted, and the rest goes on.
    pub(super) fn post(&mut self) {
        (self.found, self.round) = (0, self.round + 1);
        self.probed.clear();
        self.peers.clear();
        // SAFETY: the caller of `bind` vouches for the buffers until the collective is complete.
        unsafe { self.post_ops() }
    }

    /// Abandons what was posted of a round. Memory that MPI may still use is leaked, and nothing
    /// matches any more.
    #[cold]
    pub(super) fn give_up(&mut self) {
        let Self { requests, peers, .. } = self;
        let missing = self.probed[self.found..].iter().map(|probed| probed.0);
        peers.iter().map(|peer| peer.1).chain(missing).for_each(|peer| self.comm.mismatch(peer));
        if requests.abandon(|i| peers.get(i).is_some_and(|peer| peer.0)) {
            self.buffers.iter_mut().for_each(|buffer| std::mem::forget(std::mem::take(buffer)));
            self.lost = true;
        }
    }

    /// Returns true if a block can be received where it belongs, at once: its data lies in one
    /// piece, and nothing of this round that its sender sent earlier is still to be probed for.
    fn can_post(&self, from: Rank, block: Block) -> bool {
        self.own(block).packing.is_in_place() && self.probed.iter().all(|probed| probed.0 != from)
    }

    unsafe fn post_ops(&mut self) {
        let r = self.round - 1;
        // SAFETY: as for `post`.
        unsafe {
            for i in 0..self.schedule.round(r).len() {
                match self.schedule.round(r)[i] {
                    Op::Recv { from, into: block @ Block::Output(_), .. } if self.can_post(from, block) => {
                        let mut message = Message { peer: to_int(from), ..self.own(block).message };
                        let k = self.position(block);
                        let guarded = self.guards.as_mut().map_or(Ok(()), |guards| guards.apply(k, &mut message));
                        if let Err(error) = guarded {
                            self.requests.skip();
                            self.comm.mismatch(from);
                            self.note(Err(error));
                        } else if let Some(error) = self.requests.post_all_receives(&[message], self.tag, &self.comm) {
                            self.note(Err(error));
                        }
                        if let Some(guards) = &self.guards {
                            self.requests.expect(guards.limits(k..k + 1));
                        }
                        self.peers.push((true, from));
                    }
                    Op::Recv { from, into, .. } => self.probed.push((from, into)),
                    Op::Send { to, block, .. } => {
                        self.post_send(to, block);
                        self.peers.push((false, to));
                    }
                    Op::Copy { .. } | Op::Reduce { .. } => {}
                }
            }
            let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
            let copied = self.copies.run(self.first_copies[r]..self.first_copies[r + 1], loopback);
            self.note(copied);
        }
        if let Some(record) = &self.record {
            let copies = self.first_copies[r]..self.first_copies[r + 1];
            record.sent(observe::Medium::Own, copies.len(), self.copies.bytes(copies));
            record.round(self.round);
        }
    }

    /// Sends a block. A notice takes its place if it is lost, or cannot be assembled or sent.
    ///
    /// # Safety
    /// As for `post`.
    unsafe fn post_send(&mut self, to: Rank, block: Block) {
        let (message, length) = match block {
            Block::Packet(k) => {
                let k = k as usize;
                // SAFETY: as for `post`.
                let put = unsafe { self.put(k) };
                // the notice is longer than the packet and so than each of its blocks, as are those
                // that others send on account of it
                (put.and_then(|()| self.bytes(k, self.packets[k].clone(), to)), self.packets[k].len())
            }
            Block::Scratch(s) => {
                let Passing { buffer, range, lost } = self.scratch[s as usize].clone();
                if let Some(most) = lost {
                    let longest = self.own.iter().map(|own| own.length).fold(most, usize::max);
                    return self.requests.notify(longest as u64, to_int(to), self.tag, &self.comm);
                }
                (self.bytes(buffer, range.clone(), to), range.len())
            }
            block => (Ok(Message { peer: to_int(to), ..self.own(block).message }), 0),
        };
        let failed = match message {
            // SAFETY: as for `post`.
            Ok(message) => unsafe { self.requests.post_all_sends(&[message], None, self.tag, &self.comm) },
            Err(error) => {
                self.requests.notify(length as u64, to_int(to), self.tag, &self.comm);
                Some(error)
            }
        };
        if let Some(error) = failed {
            self.note(Err(error));
        }
    }

    /// Probes for the next message of unknown length and begins to receive it. Returns true if
    /// there was one.
    pub(super) fn look(&mut self, from: Rank) -> Result<bool> {
        // probe for the length first: there must be room before the message leaves MPI's queue
        let Some(found) = message::probe(Some(from), self.tag, false, &self.comm)? else { return Ok(false) };
        let into = self.probed[self.found].1;
        let buffer = self.buffer(into);
        let mut length = usize::try_from(found.status.bytes).unwrap_or(usize::MAX);
        let message = match enlarge(&mut self.buffers[buffer], length).and_then(|()| self.bytes(buffer, 0..length, from)) {
            Ok(message) => {
                // if its receive fails, nobody takes an earlier packet for it
                packet::spoil(&mut self.buffers[buffer][..length]);
                message
            }
            Err(e) => {
                // neither its sender nor the processes that this one forwards to may wait forever
                // SAFETY: the datatype is kept until the round is complete.
                let (message, room) = unsafe { sink::room_for(found.status.bytes, to_int(from)) }?;
                self.large_packets.keep(room);
                self.note(Err(e));
                length = 0;
                message
            }
        };
        let came = usize::try_from(found.status.bytes).unwrap_or(usize::MAX);
        match into {
            Block::Packet(k) => (self.packets[k as usize], self.arrived[k as usize]) = (0..length, came),
            Block::Scratch(s) => {
                let lost = (length < came).then_some(came);
                self.scratch[s as usize] = Passing { buffer, range: 0..length, lost };
            }
            block => self.own_mut(block).came = length,
        }
        // no other receive matches this tag, so the second probe finds the same message
        let matched = message::has_matched_probe();
        let Some(probed) = message::probe(Some(from), self.tag, matched, &self.comm)? else { return Ok(false) };
        self.receive(probed, &message, from)
    }

    /// Posts the receive of a probed message.
    pub(super) fn receive(&mut self, probed: Probed, message: &Message, from: Rank) -> Result<bool> {
        // SAFETY: nothing touches the buffer until the round is complete.
        unsafe { self.requests.post_probed(probed, message, &self.comm) }?;
        self.peers.push((true, from));
        self.found += 1;
        Ok(true)
    }

    /// Notes that the block which the request at `position` was to receive is lost, if it comes
    /// outside of a packet into a buffer.
    #[cold]
    fn lose_block(&mut self, position: usize) {
        // the receives that are probed for are the last requests of a round
        let probed = position.checked_sub(self.peers.len() - self.probed.len());
        match probed.and_then(|i| self.probed.get(i)) {
            Some(&(_, Block::Scratch(s))) => {
                let came = &mut self.scratch[s as usize];
                came.lost.get_or_insert(came.range.len());
            }
            Some(&(_, block @ Block::Output(_))) => self.own_mut(block).came = 0,
            _ => {}
        }
    }

    /// Finishes the posted round, whose messages are complete, and posts the next one, if any.
    pub(super) fn advance(&mut self, completed: std::result::Result<(), Failure>) {
        if let Err((position, mut error)) = completed {
            for position in self.requests.lost().to_vec() {
                self.lose_block(position);
            }
            if let (Error::Mpi { text, .. }, Some(&(receives, peer))) = (&mut *error, self.peers.get(position)) {
                let end = if receives { "from" } else { "to" };
                *text = format!("the message {end} process {peer}: {text}");
            }
            self.note(Err(error));
        }
        for i in 0..self.probed.len() {
            let into = self.probed[i].1;
            // SAFETY: the caller of `bind` vouches for the blocks.
            let taken = unsafe {
                match into {
                    Block::Packet(k) => self.take(k as usize, self.packets[k as usize].len()),
                    Block::Output(_) => self.take_own(into, self.buffer(into), 0..self.own(into).came),
                    _ => continue,
                }
            };
            self.note(taken);
        }
        if self.round == self.schedule.rounds() {
            self.round = 0;
        } else {
            self.post();
        }
    }
}
