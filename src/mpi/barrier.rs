//! A dissemination barrier over messages that also merges a word of all processes: ceil(log2 P)
//! rounds; in round r, each process sends 4 bytes to the process 2^r ranks ahead.
//!
//! It replaces `MPI_Ibarrier` for three reasons: its receives are posted in advance, it carries the
//! word, and polling it costs a single test of one receive. In addition, testing Open MPI 4's
//! `MPI_Ibarrier` in a loop of millions of exchanges has been seen to hang (dealii#14405,
//! ompi#11052).
//!
//! Source: Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, 1988.

use super::comm::Owned as Comm;
use super::message::{self, Mode, Request, bytes_at};
use crate::error::Result;

/// The message sent and the message received in one round.
#[derive(Debug, Default)]
struct Round {
    to: u32,
    from: u32,
    /// The word received and the word sent. They do not move while messages are in flight.
    incoming: Box<u32>,
    outgoing: Box<u32>,
    receive: Request,
    send: Request,
}

/// The barrier of one communicator.
#[derive(Debug)]
pub struct Barrier {
    tag: i32,
    rounds: Vec<Round>,
    /// The current round. `None`: the process has not entered the barrier.
    at: Option<usize>,
    /// The round whose message MPI has not taken.
    unsent: Option<usize>,
    merged: u32,
    merge: fn(u32, u32) -> u32,
}

const BYTES: u64 = size_of::<u32>() as u64;

impl Barrier {
    /// Creates the barrier for process `rank` of `size`. Words are merged by a function that takes
    /// them in any order, and each perhaps twice.
    pub fn new(rank: u32, size: u32, tag: i32, merge: fn(u32, u32) -> u32) -> Barrier {
        let distances = (0..u32::BITS).map(|r| 1u32 << r).take_while(|&distance| distance < size);
        let rounds =
            distances.map(|d| Round { to: (rank + d) % size, from: (rank + size - d) % size, ..Round::default() }).collect();
        Barrier { tag, rounds, at: None, unsent: None, merged: 0, merge }
    }

    /// Posts the receives of all rounds, except those that an earlier attempt has posted.
    pub fn arm(&mut self, comm: &Comm) -> Result<()> {
        for round in self.rounds.iter_mut().filter(|round| round.receive.is_null()) {
            let at = (&raw mut *round.incoming).cast();
            // SAFETY: the boxed value does not move and is read only after the receive completes.
            round.receive = unsafe { message::receive(at, BYTES, Some(round.from), Some(self.tag), comm) }?;
        }
        self.at = None;
        Ok(())
    }

    /// Enters the barrier with this process's word. The barrier must be armed.
    pub fn enter(&mut self, mine: u32, comm: &Comm) -> Result<()> {
        self.merged = mine;
        self.at = Some(0);
        self.send(0, comm)
    }

    /// True from when this process has entered it until it is armed again.
    pub fn is_entered(&self) -> bool {
        self.at.is_some()
    }

    /// Sends the message once more that MPI has refused. Returns false if there is none.
    #[cold]
    pub fn send_again(&mut self, comm: &Comm) -> Result<bool> {
        match self.unsent.take() {
            Some(round) => self.send(round, comm).map(|()| true),
            None => Ok(false),
        }
    }

    /// Gives up a barrier that will not end. Memory in which MPI may still read or write is leaked.
    #[cold]
    pub fn give_up(&mut self) {
        for round in &mut self.rounds {
            if !round.receive.withdraw() {
                std::mem::forget(std::mem::take(&mut round.incoming));
            }
            if !round.send.give_up() {
                std::mem::forget(std::mem::take(&mut round.outgoing));
            }
        }
        self.at = None;
    }

    fn send(&mut self, round: usize, comm: &Comm) -> Result<()> {
        self.unsent = Some(round);
        if let Some(round) = self.rounds.get_mut(round) {
            *round.outgoing = self.merged;
            let at = (&raw const *round.outgoing).cast();
            // SAFETY: the boxed value does not move and is written again only after the send
            // completes.
            round.send = unsafe { message::send(Mode::Standard, &bytes_at(at, BYTES), round.to, self.tag, comm) }?;
        }
        self.unsent = None;
        Ok(())
    }

    /// Advances the barrier. Returns the words of all processes, merged, once they have entered.
    #[inline]
    pub fn progress(&mut self, comm: &Comm) -> Result<Option<u32>> {
        let Some(mut at) = self.at else {
            return Ok(None);
        };
        while let Some(round) = self.rounds.get_mut(at) {
            if !round.receive.test()? {
                return Ok(None);
            }
            self.merged = (self.merge)(self.merged, *round.incoming);
            at += 1;
            self.at = Some(at);
            self.send(at, comm)?;
        }
        for round in &mut self.rounds {
            if !round.send.test()? {
                return Ok(None);
            }
        }
        Ok(Some(self.merged))
    }
}
