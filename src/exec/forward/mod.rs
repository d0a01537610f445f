//! The executor of schedules that forward blocks through other processes, in packets.
//!
//! A whole block is sent from the caller's buffer, as in `exec::p2p`, and received into it if its
//! data lies in one piece. Any other block is received as bytes and unpacked when its round ends:
//! processes that pass a block on send it as bytes, of which MPICH 4.0 places only the first 8 KiB
//! if the receive names structs. A packet is assembled in a buffer of the executor when its round
//! begins (`schedule::packet` defines the format) and received into another one; the receiver
//! learns its length from a probe. When the round ends, blocks for the caller are taken out of the
//! packet. Blocks for others are forwarded from there, or copied into another packet.
//!
//! A block that is longer than its destination is an error of class `MPI_ERR_TRUNCATE`, as in MPI;
//! blocks for others are forwarded all the same. A shorter block fills the beginning of its
//! destination.
//!
//! Consecutive blocks of a packet are stored once if they are input blocks at the same place in
//! memory, or scratch blocks that arrived as one.
//!
//! Rounds do not overlap. Cost beyond MPI's: one copy of each byte when a packet is assembled and
//! one when it is taken apart, none when it is forwarded as it is; memory for all packets that the
//! process assembles or receives. Nothing is allocated once the longest packets have been seen.
//! Each block or packet with a count above `INT_MAX` costs one datatype per call.

mod bind;
mod packets;
mod rounds;
mod state;

pub use state::Forward;

use std::sync::Arc;

use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::exec::executor::Executor;
use crate::exec::waiting::Waiting;
use crate::mpi::liveness;
use crate::mpi::p2p::{Failure, check_matched};
use crate::observe::{Medium, Record};
use crate::util::backoff::{Backoff, Pace};

impl Forward {
    /// Counts a poll without progress. Fails if the process has waited long enough to find that
    /// another one has ended.
    fn be_patient(&mut self) -> Result<()> {
        if self.patience.is_over() { self.look_for_dead() } else { Ok(()) }
    }

    /// Fails if a process of the communicator has ended. Nobody else can supply what it would have
    /// forwarded, so the call stops; processes that wait for this one find the dead process
    /// themselves.
    #[cold]
    fn look_for_dead(&mut self) -> Result<()> {
        self.patience.look_at_all(&self.comm).inspect_err(|_| {
            self.requests.abandon(|position| self.peers[position].0);
            // MPI may still use these buffers; `bind` makes new ones
            self.lost = true;
            self.buffers.iter_mut().for_each(|buffer| std::mem::forget(std::mem::take(buffer)));
        })
    }

    /// Waits for the messages of the posted round. Fails if a process has ended; the inner result
    /// is that of the messages.
    fn wait_round(&mut self) -> Result<std::result::Result<(), Failure>> {
        while !self.requests.is_empty() {
            while !self.requests.settle(&mut self.patience) {
                self.look_for_dead()?;
            }
            if let Err(failure) = self.requests.test() {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(()))
    }

    fn block(&mut self) -> Result<()> {
        while self.round > 0 {
            while let Some(&(from, _)) = self.probed.get(self.found) {
                if !self.look(from)? {
                    self.be_patient()?;
                }
            }
            let completed = self.wait_round()?;
            self.advance(completed);
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<bool> {
        while self.round > 0 {
            while let Some(&(from, _)) = self.probed.get(self.found) {
                if !self.look(from)? {
                    return Ok(false);
                }
            }
            let completed = if self.requests.is_empty() { Ok(true) } else { self.requests.test() };
            if let Ok(false) = completed {
                return Ok(false);
            }
            self.advance(completed.map(|_| ()));
        }
        Ok(true)
    }

    /// Returns the executor to its inactive state. `ended` is the result of the last step.
    fn end(&mut self, ended: Result<()>) -> Result<()> {
        self.round = 0;
        if ended.is_err() && !self.lost {
            self.give_up();
        }
        self.large_packets.clear();
        // what it forwards may come from any process
        let explain = |error| liveness::explain(error, self.comm.view(), Some(&*self.comm));
        ended.and(self.failure.take().map_or(Ok(()), Err)).map_err(explain)
    }
}

impl Executor for Forward {
    fn observe(&mut self, record: &Arc<Record>) {
        self.requests.count(record.tally(Medium::Mpi));
        self.record = Some(Arc::clone(record));
    }

    fn is_stuck(&self) -> bool {
        self.lost
    }

    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.copies.clear();
        self.large.clear();
        self.lost = false;
        self.bind_blocks(buffers).and_then(|()| self.bind_copies())?;
        for outer in 0..self.members.len() {
            // skip packets inside others, received ones, and those whose length is known only in
            // the call
            if !self.members[outer].is_empty() && !self.passes[outer] {
                self.lay_out(outer)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        (self.tag, self.round) = (tag, 0);
        self.patience.restart();
        if self.schedule.rounds() == 0 {
            return Ok(());
        }
        self.can_start()?;
        if self.spoiled {
            self.restore()?;
        }
        self.post();
        Ok(())
    }

    fn test(&mut self) -> Result<bool> {
        match self.poll() {
            Ok(false) => match self.be_patient() {
                Ok(()) => Ok(false),
                Err(e) => self.end(Err(e)).map(|()| true),
            },
            ended => self.end(ended.map(|_| ())).map(|()| true),
        }
    }

    fn wait(&mut self) -> Result<()> {
        if self.waiting == Waiting::Block {
            let ended = self.block();
            return self.end(ended);
        }
        let mut backoff = Backoff::new(Pace::MESSAGES);
        while !self.test()? {
            backoff.snooze();
        }
        Ok(())
    }

    fn can_start(&self) -> Result<()> {
        if self.lost {
            // to a death, or because nothing matches any more
            self.comm.is_whole()?;
        }
        check_matched(&self.comm, None)
    }

    fn posts_at_once(&self) -> bool {
        // received lengths are probed for after the start
        self.schedule.rounds() == 0
    }

    fn forget_datatypes(&mut self, watches: bool) {
        for own in &mut self.own {
            own.accepted = None;
            own.known.forget(watches);
        }
        self.known.forget(watches);
        self.large.clear();
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let Some(&Some((r, copied))) = self.sources.get(source) else {
            return Ok(true);
        };
        // received blocks leave their packet when the round ends
        Ok(self.round == 0 || r + usize::from(!copied) < self.round)
    }
}
