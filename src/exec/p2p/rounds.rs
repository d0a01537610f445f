//! The steps of a round: posting, packing, copying, and reducing when its messages are complete.

use std::ops::Range;

use super::order::Round;
use super::state::P2p;
use crate::datatype::copy::BlockCopy;
use crate::error::{Error, Result};
use crate::exec::post;
use crate::mpi::op;
use crate::mpi::p2p::Failure;
use crate::observe::{Medium, Record};
use crate::schedule::Block;
use crate::util::cast::to_u32;

impl P2p {
    /// Posts all operations of the next round. What fails is noted, and the rest goes on.
    #[inline]
    pub(super) fn post(&mut self) {
        let recvs = self.sorted.rounds[self.round].recvs.clone();
        // SAFETY: the caller of `bind` vouches for the buffers until the collective is complete.
        let failed = unsafe { post::receives(&mut self.requests, &self.messages[recvs.clone()], self.tag, &self.comm) };
        if let Some(guards) = &self.guards {
            self.requests.expect(guards.limits(recvs.clone()));
        }
        if let Some(error) = failed {
            self.missing.extend(recvs.map(to_u32));
            self.note(Err(error));
        }
        self.post_own();
    }

    /// Posts all operations of the next round except its receives.
    #[inline]
    pub(super) fn post_own(&mut self) {
        let Round { sends, packs, copies, .. } = self.sorted.rounds[self.round].clone();
        self.round += 1;
        if !packs.is_empty() {
            self.pack(packs);
        }
        let is_spoiled = |k: usize| self.spoiled.contains(&to_u32(sends.start + k));
        let spoiled: Option<&dyn Fn(usize) -> bool> = if self.spoiled.is_empty() { None } else { Some(&is_spoiled) };
        // SAFETY: as for `post`.
        let failed = unsafe { post::sends(&mut self.requests, &self.messages[sends.clone()], spoiled, self.tag, &self.comm) };
        if let Some(error) = failed {
            self.note(Err(error));
        }
        for k in copies {
            // SAFETY: as for `post`; `bind` has made the buffer long enough.
            let copied = unsafe { self.copies[k].run(&mut self.pack, self.me, self.tag, &self.comm) };
            self.note(copied);
        }
        if let Some(record) = &self.record {
            self.observe_round(record);
        }
    }

    /// Counts and traces the round that was just posted.
    #[cold]
    pub(super) fn observe_round(&self, record: &Record) {
        let Round { copies, .. } = self.sorted.rounds[self.round - 1].clone();
        record.sent(Medium::Own, copies.len(), self.copies[copies].iter().map(BlockCopy::bytes).sum());
        record.round(self.round);
    }

    /// Packs blocks whose first parts are about to be sent.
    fn pack(&mut self, packs: Range<usize>) {
        for &stage in &self.sorted.packs[packs] {
            // SAFETY: as for `Executor::bind`.
            if let Err(error) = unsafe { self.parts.pack(stage, self.me, self.tag, &self.comm) } {
                self.spoiled.extend(self.parts.messages_of(stage));
                self.failure.get_or_insert(error);
            }
        }
    }

    /// Sends a notice in place of each message of input block `entry`, which could not be packed,
    /// in the call that starts next.
    #[cold]
    pub fn spoil(&mut self, entry: u32, error: Box<Error>) {
        let messages = (0..).zip(&self.sorted.messages);
        self.spoiled.extend(messages.filter(|(_, (_, block))| *block == Block::Input(entry)).map(|(i, _)| i));
        self.note(Err(error));
    }

    /// Unpacks the blocks whose last parts arrived in round `r`.
    pub(super) fn unpack_round(&mut self, r: usize) -> Result<()> {
        self.sorted.rounds[r].unpacks.clone().try_for_each(|index| self.unpack(index))
    }

    /// Unpacks a block whose parts have arrived, unless that is done already.
    pub(super) fn unpack(&mut self, index: usize) -> Result<()> {
        if !std::mem::replace(&mut self.unpacked[index], true) {
            // SAFETY: as for `Executor::bind`.
            unsafe { self.parts.unpack(self.sorted.unpacks[index], self.me, self.tag, &self.comm) }?;
        }
        Ok(())
    }

    /// Does the remaining reductions of round `r`.
    #[inline]
    pub(super) fn fold_round(&mut self, r: usize) -> Result<()> {
        while self.reduced < self.sorted.rounds[r].reduces.end {
            self.fold_next()?;
        }
        Ok(())
    }

    /// Does the next reduction, if the call reduces.
    #[inline]
    pub(super) fn fold_next(&mut self) -> Result<()> {
        let next = self.reduced;
        self.reduced += 1;
        let (Some(fold), Some(&(from, into))) = (self.fold, self.reduces.get(next)) else {
            return Ok(());
        };
        // SAFETY: scratch blocks and the caller's result have room for these elements and are
        // distinct.
        unsafe { op::reduce(from, into, fold.count, fold.extent, fold.datatype, fold.op) }
    }

    /// Returns true if everything that is written to a block has arrived, and unpacks it then.
    pub(super) fn complete(&mut self, index: u32) -> Result<bool> {
        let arrival = &self.sorted.arrivals[index as usize];
        if arrival.messages.is_empty() {
            return Ok(arrival.round < self.round);
        }
        for k in 0..arrival.messages.len() {
            let message = self.sorted.arrivals[index as usize].messages[k];
            if !self.received(message as usize)? {
                return Ok(false);
            }
        }
        match self.sorted.arrivals[index as usize].unpack {
            Some(unpack) => self.unpack(unpack as usize).map(|()| true),
            None => Ok(true),
        }
    }

    /// Returns true if a block is complete and, in a reduction, part of the result. Unpacks and
    /// reduces as needed.
    pub(super) fn bring_in(&mut self, index: u32) -> Result<bool> {
        if !self.complete(index)? {
            return Ok(false);
        }
        let Some(reduction) = self.sorted.arrivals[index as usize].reduce else {
            return Ok(true);
        };
        // reductions keep their order
        while self.reduced <= reduction as usize {
            let [left, right] = self.sorted.operands[self.reduced];
            if !(self.complete(left)? && self.complete(right)?) {
                return Ok(false);
            }
            self.fold_next()?;
        }
        Ok(true)
    }

    /// Returns true if a message that is received has arrived.
    pub(super) fn received(&mut self, message: usize) -> Result<bool> {
        let r = self.sorted.rounds.partition_point(|round| round.sends.end <= message);
        let first = self.sorted.rounds[r].recvs.start;
        let position = message - first;
        let tested = match &mut self.window {
            Some(window) => window.received(r, position),
            None if r + 1 != self.round => return Ok(r + 1 < self.round),
            None => self.requests.test_one(position),
        };
        tested.map_err(|failure| {
            self.missing.push(to_u32(first + failure.0));
            self.name_edge(first, failure)
        })
    }

    /// Does what remains of round `r` when its messages are complete or have failed.
    #[inline]
    pub(super) fn finish_round(&mut self, r: usize, completed: Result<()>) {
        // most schedules have nothing to do here
        if completed.is_err() || self.fold.is_some() || !self.sorted.unpacks.is_empty() {
            self.finish(r, completed);
        }
    }

    #[inline(never)]
    pub(super) fn finish(&mut self, r: usize, completed: Result<()>) {
        // if one message failed, the blocks of the others are still complete
        let unpacked = self.unpack_round(r);
        let done = completed.and(unpacked).and_then(|()| self.fold_round(r));
        self.note(done);
    }

    /// Finishes the posted round, whose messages are complete, and posts the next one, if any.
    #[inline]
    pub(super) fn advance(&mut self, completed: std::result::Result<(), Failure>) {
        let r = self.round - 1;
        let completed = completed.map_err(|failure| {
            let first = self.sorted.rounds[r].recvs.start;
            self.missing.extend(self.requests.lost().iter().map(|position| to_u32(first + position)));
            self.name_edge(first, failure)
        });
        self.finish_round(r, completed);
        if self.round == self.sorted.rounds.len() {
            self.round = 0;
        } else {
            self.post();
        }
    }
}
