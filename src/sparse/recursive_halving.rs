//! Recursive halving for any number of processes: the communication pattern ([`steps`]) and the
//! personalized census that runs on it ([`Census`]). The crystal router uses the same pattern.
//!
//! # The pattern
//! A range of processes is halved again and again. Each process exchanges with the one that has its
//! place in the other half and gives away everything that belongs there. The lower half of n
//! processes has n / 2 members, rounded up. If n is odd, the last process of the lower half has no
//! counterpart: it gives to the first process of the upper half, which receives twice. All ways of
//! a step are equally long in ranks: on a grid they lie along one dimension. After ceil(log2 P)
//! steps each range is a single process, and something of every process has reached every other
//! one.
//!
//! # The census
//! The personalized census of the DSDE paper: each process holds one number for every process and
//! obtains the sum of those addressed to itself, in ceil(log2 P) rounds of P/2, P/4, ... numbers.
//! The maximum of [`Stats`] travels along. It stands beside `MPI_Reduce_scatter_block`, which some
//! MPI libraries implement as a reduction to one process followed by a scatter.

use std::ops::Range;

use super::stats::Stats;
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};

/// The part of one process in one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its own half: it keeps what belongs to these processes.
    pub keeps: Range<u32>,
    /// The other half: it gives away what belongs to these processes.
    pub gives: Range<u32>,
    /// The process it gives to.
    pub to: u32,
    /// The processes it receives from: none, one or two.
    pub from: Vec<u32>,
}

/// Returns the steps of process `rank` of `processes`.
pub fn steps(rank: u32, processes: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut range = 0..processes;
    while range.len() > 1 {
        let n = range.end - range.start;
        let middle = range.start + n.div_ceil(2);
        let (lower, upper) = (range.start..middle, middle..range.end);
        let half = middle - range.start;
        let (keeps, gives, other) = if rank < middle { (lower, upper, rank + half) } else { (upper, lower, rank - half) };
        let unpaired = middle - 1; // if n is odd
        let (mut to, mut from) = (other, vec![other]);
        if to == range.end {
            (to, from) = (middle, vec![]);
        } else if n % 2 == 1 && rank == middle {
            from.push(unpaired);
        }
        range = keeps.clone();
        steps.push(Step { keeps, gives, to, from });
    }
    steps
}

/// One step with its messages: the numbers, followed by the stats.
#[derive(Debug)]
struct Round {
    step: Step,
    outgoing: Vec<u32>,
    incoming: Vec<Vec<u32>>,
    send: Request,
    receives: Vec<Request>,
}

/// The census of one communicator.
#[derive(Debug)]
pub struct Census {
    tag: i32,
    rank: u32,
    /// One number for each process. All zero while no census is running.
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
    /// Creates the census for process `rank` of `size`. Allocates 12 bytes per process.
    pub fn new(rank: u32, size: u32, tag: i32) -> Census {
        let round = |step: Step| {
            let room = |range: &Range<u32>| vec![0u32; range.len() + 1];
            let (outgoing, incoming) = (room(&step.gives), step.from.iter().map(|_| room(&step.keeps)).collect());
            let receives = step.from.iter().map(|_| Request::default()).collect();
            Round { outgoing, incoming, step, send: Request::default(), receives }
        };
        let rounds = steps(rank, size).into_iter().map(round).collect();
        Census { tag, rank, table: vec![0; size as usize], rounds, at: 0, largest: Stats::default() }
    }

    /// Starts a census of the numbers in the table.
    pub fn start(&mut self, mine: Stats, comm: &Comm) -> Result<()> {
        self.at = 0;
        self.largest = mine;
        for round in &mut self.rounds {
            for ((&from, incoming), receive) in round.step.from.iter().zip(&mut round.incoming).zip(&mut round.receives) {
                let (at, bytes) = (incoming.as_mut_ptr().cast(), bytes(incoming));
                // SAFETY: the numbers do not move and are read only after the receive completes.
                *receive = unsafe { message::receive(at, bytes, Some(from), Some(self.tag), comm) }?;
            }
        }
        self.send(comm)
    }

    fn send(&mut self, comm: &Comm) -> Result<()> {
        if let Some(round) = self.rounds.get_mut(self.at) {
            let numbers = &mut self.table[indices(&round.step.gives)];
            let (stats, room) = round.outgoing.split_last_mut().expect("the stats follow the numbers");
            room.copy_from_slice(numbers);
            numbers.fill(0);
            *stats = self.largest.word();
            let block = bytes_at(round.outgoing.as_ptr().cast(), bytes(&round.outgoing));
            // SAFETY: the numbers are not changed before the send completes.
            round.send = unsafe { message::send(Mode::Standard, &block, round.step.to, self.tag, comm) }?;
        }
        Ok(())
    }

    /// Advances the census. Returns this process's sum and the maximum stats once they are known;
    /// the table is then zero again.
    #[inline]
    pub fn progress(&mut self, comm: &Comm) -> Result<Option<(u32, Stats)>> {
        while let Some(round) = self.rounds.get_mut(self.at) {
            for receive in &mut round.receives {
                if !receive.test()? {
                    return Ok(None);
                }
            }
            for incoming in &round.incoming {
                let (stats, numbers) = incoming.split_last().expect("the stats follow the numbers");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cast::to_u32;
    use std::collections::BTreeSet;

    /// Runs the steps of all processes with one token for each pair (source, target).
    #[test]
    fn everything_reaches_its_owner_and_something_of_each_process_reaches_all() {
        for p in (1..40).chain([63, 64, 65, 100]) {
            let all: Vec<Vec<Step>> = (0..p).map(|r| steps(r, p)).collect();
            let mut held: Vec<BTreeSet<(u32, u32)>> = (0..p).map(|r| (0..p).map(|t| (r, t)).collect()).collect();
            let mut news: Vec<BTreeSet<u32>> = (0..p).map(|r| BTreeSet::from([r])).collect();
            let rounds = all.iter().map(Vec::len).max().unwrap();
            assert_eq!(to_u32(rounds), crate::model::sparse::rounds(p), "{p} processes");
            for round in 0..rounds {
                let (held_before, news_before) = (held.clone(), news.clone());
                for r in 0..p {
                    let Some(step) = all[r as usize].get(round) else { continue };
                    assert!(step.keeps.contains(&r) && step.gives.contains(&step.to));
                    held[r as usize].retain(|(_, target)| !step.gives.contains(target));
                    for &from in &step.from {
                        let theirs = &all[from as usize][round];
                        assert_eq!((theirs.to, &theirs.gives), (r, &step.keeps), "{p} processes, {from} to {r}");
                        held[r as usize].extend(held_before[from as usize].iter().filter(|(_, t)| step.keeps.contains(t)));
                        news[r as usize].extend(&news_before[from as usize]);
                    }
                    let senders: Vec<u32> = (0..p).filter(|&s| all[s as usize].get(round).is_some_and(|x| x.to == r)).collect();
                    assert_eq!(BTreeSet::from_iter(&step.from), BTreeSet::from_iter(&senders), "{p} processes, into {r}");
                }
            }
            for r in 0..p {
                assert_eq!(held[r as usize], (0..p).map(|s| (s, r)).collect(), "{p} processes, at {r}");
                assert_eq!(to_u32(news[r as usize].len()), p, "{p} processes, at {r}");
            }
        }
    }
}
