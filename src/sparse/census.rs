//! A personalized census by recursive halving: each process has a number for every one and gets the
//! sum of those for itself, in ceil(log2 P) rounds of P/2, P/4, ... numbers. With them goes the
//! largest [`Stats`].
//!
//! Our own, beside `MPI_Reduce_scatter_block`, which some MPI libraries do by a reduction to one
//! process and a scatter. Any number of processes; see `mirror.rs`.

use std::ops::Range;

use super::Stats;
use super::mirror::{self, Step};
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};

/// One step with its messages: numbers, and behind them the stats.
#[derive(Debug)]
struct Round {
    step: Step,
    goes: Vec<u32>,
    came: Vec<Vec<u32>>,
    send: Request,
    receives: Vec<Request>,
}

/// The census of a communicator.
#[derive(Debug)]
pub struct Census {
    tag: i32,
    rank: u32,
    /// A number for each process; zeros outside of a census.
    pub table: Vec<u32>,
    rounds: Vec<Round>,
    at: usize,
    largest: Stats,
}

fn bytes(numbers: &[u32]) -> u64 {
    size_of_val(numbers) as u64
}

fn indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

impl Census {
    /// For process `rank` of `size`. Takes 12 bytes for each process.
    pub fn new(rank: u32, size: u32, tag: i32) -> Census {
        let round = |step: Step| {
            let room = |range: &Range<u32>| vec![0u32; range.len() + 1];
            let (goes, came) = (room(&step.gives), step.from.iter().map(|_| room(&step.keeps)).collect());
            let receives = step.from.iter().map(|_| Request::default()).collect();
            Round { goes, came, step, send: Request::default(), receives }
        };
        let rounds = mirror::steps(rank, size).into_iter().map(round).collect();
        Census { tag, rank, table: vec![0; size as usize], rounds, at: 0, largest: Stats::default() }
    }

    /// Begins; the numbers are in the table.
    pub fn start(&mut self, mine: Stats, comm: &Comm) -> Result<()> {
        self.at = 0;
        self.largest = mine;
        for round in &mut self.rounds {
            for ((&from, came), receive) in round.step.from.iter().zip(&mut round.came).zip(&mut round.receives) {
                let (at, bytes) = (came.as_mut_ptr().cast(), bytes(came));
                // SAFETY: the numbers stay where they are and are read when the receive is
                // complete.
                *receive = unsafe { message::receive(at, bytes, Some(from), Some(self.tag), comm) }?;
            }
        }
        self.send(comm)
    }

    fn send(&mut self, comm: &Comm) -> Result<()> {
        if let Some(round) = self.rounds.get_mut(self.at) {
            let numbers = &mut self.table[indices(&round.step.gives)];
            let (stats, room) = round.goes.split_last_mut().expect("there is room for the stats");
            room.copy_from_slice(numbers);
            numbers.fill(0);
            *stats = self.largest.word();
            let block = bytes_at(round.goes.as_ptr().cast(), bytes(&round.goes));
            // SAFETY: the numbers stay as they are until the send is complete.
            round.send = unsafe { message::send(Mode::Standard, &block, round.step.to, self.tag, comm) }?;
        }
        Ok(())
    }

    /// Goes on; this process's sum and the largest stats when they are there. The table is then
    /// zero again.
    #[inline]
    pub fn progress(&mut self, comm: &Comm) -> Result<Option<(u32, Stats)>> {
        while let Some(round) = self.rounds.get_mut(self.at) {
            for receive in &mut round.receives {
                if !receive.test()? {
                    return Ok(None);
                }
            }
            for came in &round.came {
                let (stats, numbers) = came.split_last().expect("there are stats");
                self.largest = self.largest.max(Stats::from_word(*stats));
                for (sum, number) in self.table[indices(&round.step.keeps)].iter_mut().zip(numbers) {
                    *sum += number;
                }
            }
            self.at += 1;
            self.send(comm)?;
        }
        for round in &mut self.rounds {
            if !round.send.test()? {
                return Ok(None);
            }
        }
        let sum = std::mem::take(&mut self.table[self.rank as usize]);
        Ok(Some((sum, self.largest)))
    }
}
