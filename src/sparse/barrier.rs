//! A dissemination barrier over messages that also computes the maximum of a value: ceil(log2 P)
//! rounds; in round r, each process sends 4 bytes to the process 2^r ranks ahead.
//!
//! It replaces `MPI_Ibarrier` for three reasons: its receives are posted in advance, it carries the
//! value, and polling it costs a single test of one receive. In addition, testing Open MPI 4's
//! `MPI_Ibarrier` in a loop of millions of exchanges has been seen to hang (dealii#14405,
//! ompi#11052).
//!
//! Source: Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, 1988.

use super::stats::Stats;
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};

/// The message sent and the message received in one round.
#[derive(Debug, Default)]
struct Round {
    to: u32,
    from: u32,
    /// The value received and the value sent. They do not move while messages are in flight.
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
    largest: Stats,
}

const BYTES: u64 = size_of::<u32>() as u64;

impl Barrier {
    /// Creates the barrier for process `rank` of `size`.
    pub fn new(rank: u32, size: u32, tag: i32) -> Barrier {
        let distances = (0..crate::model::sparse::rounds(size)).map(|r| 1u32 << r);
        let rounds =
            distances.map(|d| Round { to: (rank + d) % size, from: (rank + size - d) % size, ..Round::default() }).collect();
        Barrier { tag, rounds, at: None, largest: Stats::default() }
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

    /// Enters the barrier with this process's value. The barrier must be armed.
    pub fn enter(&mut self, mine: Stats, comm: &Comm) -> Result<()> {
        self.largest = mine;
        self.at = Some(0);
        self.send(0, comm)
    }

    fn send(&mut self, round: usize, comm: &Comm) -> Result<()> {
        if let Some(round) = self.rounds.get_mut(round) {
            *round.outgoing = self.largest.word();
            let at = (&raw const *round.outgoing).cast();
            // SAFETY: the boxed value does not move and is written again only after the send
            // completes.
            round.send = unsafe { message::send(Mode::Standard, &bytes_at(at, BYTES), round.to, self.tag, comm) }?;
        }
        Ok(())
    }

    /// Advances the barrier. Returns the maximum once all processes have entered.
    #[inline]
    pub fn progress(&mut self, comm: &Comm) -> Result<Option<Stats>> {
        let Some(mut at) = self.at else {
            return Ok(None);
        };
        while let Some(round) = self.rounds.get_mut(at) {
            if !round.receive.test()? {
                return Ok(None);
            }
            self.largest = self.largest.max(Stats::from_word(*round.incoming));
            at += 1;
            self.at = Some(at);
            self.send(at, comm)?;
        }
        for round in &mut self.rounds {
            if !round.send.test()? {
                return Ok(None);
            }
        }
        Ok(Some(self.largest))
    }
}
