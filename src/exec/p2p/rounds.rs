//! Rounds: waiting, unpacking and reducing when the messages are complete, and the next round.

use std::sync::Arc;

use super::state::P2p;
use crate::datatype::buffers::Buffers;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::elements::fold_onto;
use crate::exec::executor::Executor;
use crate::exec::waiting::Waiting;
use crate::mpi::liveness;
use crate::mpi::op;
use crate::mpi::p2p::{Failure, check_matched, may_rendezvous};
use crate::observe::{Medium, Record};
use crate::schedule::Block;
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::{to_u32, to_usize};

impl P2p {
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
            let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
            // SAFETY: as for `Executor::bind`.
            unsafe { self.parts.unpack(self.sorted.unpacks[index], loopback) }?;
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
        unsafe {
            match fold.loops {
                Some((operator, element)) => {
                    fold_onto(operator, element, from, into, to_usize(fold.count) * element.bytes());
                    Ok(())
                }
                None => op::reduce(from, into, fold.count, fold.extent, fold.datatype, fold.op),
            }
        }
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

    /// Waits for the messages of the posted round.
    #[inline]
    fn wait_round(&mut self) -> std::result::Result<(), Failure> {
        loop {
            while !self.requests.settle(&mut self.patience) {
                self.look_for_dead(None);
            }
            if self.requests.test()? {
                return Ok(());
            }
        }
    }

    /// Waits inside MPI until the call is complete.
    #[inline]
    fn block(&mut self) {
        if self.ahead(P2p::block_ahead).is_some() {
            return;
        }
        while self.round > 0 {
            let completed = if self.requests.is_empty() { Ok(()) } else { self.wait_round() };
            self.advance(completed);
        }
    }

    /// Makes progress without waiting. Returns true if the call is complete.
    #[inline]
    fn poll(&mut self) -> bool {
        if let Some(done) = self.ahead(P2p::poll_ahead) {
            return done;
        }
        while self.round > 0 {
            let completed = if self.requests.is_empty() { Ok(true) } else { self.requests.test() };
            if let Ok(false) = completed {
                return false;
            }
            self.advance(completed.map(|_| ()));
        }
        true
    }

    /// Returns what has made MPI fail: a neighbor that has ended, if there is one.
    #[cold]
    fn explain(&self, error: Box<Error>) -> Box<Error> {
        liveness::explain_messages(error, self.comm.view(), &self.sorted.messages.iter().map(|message| message.0))
    }

    /// Returns the executor to its inactive state. `ended` is the result of the last step.
    #[inline]
    fn end(&mut self, ended: Result<()>) -> Result<()> {
        self.round = 0;
        if self.failure.is_none() {
            return ended;
        }
        self.spoiled.clear();
        // report the first failure: an MPI that knows of the death too refuses later messages
        let Some(failure) = self.failure.take() else { return ended };
        let error = self.explain(failure);
        if let Error::Gone { rank } = *error {
            self.gone.get_or_insert(rank);
        }
        Err(error)
    }
}

impl Executor for P2p {
    fn is_stuck(&self) -> bool {
        self.stuck
    }

    fn observe(&mut self, record: &Arc<Record>) {
        let windowed = self.window.iter_mut().flat_map(|window| &mut window.sends);
        std::iter::once(&mut self.requests).chain(windowed).for_each(|sends| sends.count(record.tally(Medium::Mpi)));
        self.record = Some(Arc::clone(record));
    }

    #[inline]
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.copies.clear();
        self.reduces.clear();
        self.large.clear();
        self.leave_memory();
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            self.prepare_fold(buffers).and_then(|scratch| {
                self.bind_side(&buffers.output, false)?;
                self.bind_side(&buffers.input, true)?;
                self.bind_others(buffers, &scratch)?;
                self.may_rendezvous = may_rendezvous(&self.messages);
                if self.may_rendezvous && self.window.is_none() {
                    self.sorted.order_for_rendezvous();
                }
                self.guard()
            })
        }
    }

    #[inline]
    fn start(&mut self, tag: i32) -> Result<()> {
        (self.tag, self.round, self.reduced) = (tag, 0, 0);
        self.patience.restart();
        self.unpacked.fill(false);
        self.missing.clear();
        if self.sorted.rounds.is_empty() {
            return Ok(());
        }
        if let Some(rank) = self.gone {
            let left_out = (0..).zip(&self.messages).filter(|(_, message)| message.peer == crate::mpi::proc_null());
            self.missing.extend(left_out.map(|(m, _)| m));
            self.note(Err(Error::Gone { rank }.into()));
        }
        if let Err(e) = self.can_start() {
            // posting leaves out the processes that are cut off; the others wait for this one
            let cut_off = self.comm.unmatched();
            let messages = (0..).zip(&self.sorted.messages);
            self.missing.extend(messages.filter(|(_, (peer, _))| cut_off.contains(peer)).map(|(m, _)| m));
            self.note(Err(e));
        }
        if self.ahead(P2p::start_ahead).is_none() {
            self.post();
        }
        Ok(())
    }

    #[inline]
    fn test(&mut self) -> Result<bool> {
        if self.poll() {
            return self.end(Ok(())).map(|()| true);
        }
        if self.patience.is_over() {
            let mut window = self.window.take();
            self.look_for_dead(window.as_deref_mut());
            self.window = window;
        }
        Ok(false)
    }

    #[inline]
    fn wait(&mut self) -> Result<()> {
        if self.waiting == Waiting::Block {
            self.block();
            return self.end(Ok(()));
        }
        let (mut backoff, mut round) = (Backoff::new(Pace::MESSAGES), self.round);
        while !self.test()? {
            if self.round != round {
                round = self.round;
                backoff.reset();
            }
            backoff.snooze();
        }
        Ok(())
    }

    fn posts_at_once(&self) -> bool {
        self.sorted.rounds.len() <= 1
    }

    fn can_start(&self) -> Result<()> {
        check_matched(&self.comm, self.gone)
    }

    fn forget_datatypes(&mut self, watches: bool) {
        (self.accepted.input, self.accepted.output, self.accepted.op) = (None, None, None);
        self.accepted.messages.fill(None);
        self.known.forget(watches);
        self.parts.forget_datatypes(watches);
        self.large.clear();
    }

    fn keeps_datatypes(&self) -> bool {
        self.sorted.rounds.len() > 1 || !self.sorted.reduces.is_empty() || !self.sorted.unpacks.is_empty()
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        match self.sorted.sources.get(source) {
            // `test` or `wait` reports the error as well
            Some(&Some(index)) if self.round > 0 => self.bring_in(index).map_err(|error| {
                let error = self.explain(error);
                self.note(Err(error.clone()));
                error
            }),
            _ => Ok(true),
        }
    }
}
