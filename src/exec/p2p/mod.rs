//! The point-to-point executor: rounds of `MPI_Irecv` and `MPI_Isend` on the private communicator.
//!
//! Each round posts all receives before the first send, copies self edges while the messages
//! travel, and ends when all messages are complete. Whole blocks are sent and received in place;
//! `parts` handles parts of blocks. All messages of a call carry one tag, so those between two
//! processes match in the order in which the schedule posts them.
//!
//! Cost beyond MPI's: locating one block per operation of the schedule. Nothing is allocated once a
//! schedule and its largest block have been seen. Each block with a count above `INT_MAX` costs one
//! datatype when it is bound.

mod bind;
mod device;
mod liveness;
mod order;
mod overlap;
mod parts;
mod rounds;
mod state;
mod window;

pub use state::P2p;

use crate::datatype::buffers::Buffers;
use crate::error::{Error, Result};
use crate::exec::executor::Executor;
use crate::exec::post;
use crate::exec::waiting::Waiting;
use crate::mpi::p2p::Failure;
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::to_u32;

impl P2p {
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

    /// Returns the executor to its inactive state. `ended` is the result of the last step.
    #[inline]
    fn end(&mut self, ended: Result<()>) -> Result<()> {
        self.round = 0;
        if self.failure.is_none() {
            return ended;
        }
        self.spoiled.clear();
        // report the first failure: an MPI that knows of the death too refuses later messages
        self.failure.take().map_or(ended, Err)
    }
}

impl Executor for P2p {
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
            self.note(Err(Error::Gone { rank }.into()));
        }
        if let Err(e) = self.can_start() {
            self.missing.extend(0..to_u32(self.messages.len()));
            return self.end(Err(e));
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
        post::check(&self.comm, self.gone)
    }

    fn forget_datatypes(&mut self) {
        (self.accepted.input, self.accepted.output, self.accepted.op) = (None, None, None);
        self.accepted.messages.fill(None);
        self.parts.forget_datatypes();
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
            Some(&Some(index)) if self.round > 0 => self.bring_in(index).inspect_err(|e| self.note(Err(e.clone()))),
            _ => Ok(true),
        }
    }
}
