//! A dissemination barrier of messages, which also tells every process the largest of a value:
//! ceil(log2 P) rounds, in round r a message of 4 bytes to the process 2^r further on.
//!
//! Our own, not `MPI_Ibarrier`: its receives are posted ahead, it carries the value, and a test
//! that finds nothing costs one test of a receive. Testing Open MPI 4's `MPI_Ibarrier` in a loop of
//! millions of exchanges has been seen to hang (dealii#14405, ompi#11052). Source: Hensgen, Finkel,
//! Manber, Two algorithms for barrier synchronization, 1988.

use super::Stats;
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};

/// One round's two messages.
#[derive(Debug, Default)]
struct Round {
    to: u32,
    from: u32,
    /// Where the value comes, and where it goes from. They do not move while messages are under
    /// way.
    came: Box<u32>,
    goes: Box<u32>,
    receive: Request,
    send: Request,
}

/// The barrier of a communicator.
#[derive(Debug)]
pub struct Barrier {
    tag: i32,
    rounds: Vec<Round>,
    /// The round that this process is in; `None`: not entered.
    at: Option<usize>,
    largest: Stats,
}

const BYTES: u64 = size_of::<u32>() as u64;

impl Barrier {
    /// For process `rank` of `size`.
    pub fn new(rank: u32, size: u32, tag: i32) -> Barrier {
        let distances = (0..crate::model::dsde::rounds(size)).map(|r| 1u32 << r);
        let rounds =
            distances.map(|d| Round { to: (rank + d) % size, from: (rank + size - d) % size, ..Round::default() }).collect();
        Barrier { tag, rounds, at: None, largest: Stats::default() }
    }

    /// Posts the receives.
    pub fn arm(&mut self, comm: &Comm) -> Result<()> {
        for round in &mut self.rounds {
            let at = (&raw mut *round.came).cast();
            // SAFETY: the boxed value stays where it is; it is read when the receive is complete.
            round.receive = unsafe { message::receive(at, BYTES, Some(round.from), Some(self.tag), comm) }?;
        }
        self.at = None;
        Ok(())
    }

    /// Enters with this process's value. The barrier must be armed.
    pub fn enter(&mut self, mine: Stats, comm: &Comm) -> Result<()> {
        self.largest = mine;
        self.at = Some(0);
        self.send(0, comm)
    }

    fn send(&mut self, round: usize, comm: &Comm) -> Result<()> {
        if let Some(round) = self.rounds.get_mut(round) {
            *round.goes = self.largest.word();
            let at = (&raw const *round.goes).cast();
            // SAFETY: the boxed value stays where it is, and is written again only when the send is
            // complete.
            round.send = unsafe { message::send(Mode::Standard, &bytes_at(at, BYTES), round.to, self.tag, comm) }?;
        }
        Ok(())
    }

    /// Goes on; the largest value when all processes have entered.
    #[inline]
    pub fn progress(&mut self, comm: &Comm) -> Result<Option<Stats>> {
        let Some(mut at) = self.at else {
            return Ok(None);
        };
        while let Some(round) = self.rounds.get_mut(at) {
            if !round.receive.test()? {
                return Ok(None);
            }
            self.largest = self.largest.max(Stats::from_word(*round.came));
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
