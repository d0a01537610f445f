//! An alltoall of one word, by Bruck's algorithm: ceil(log2 P) rounds; in round r, each process
//! sends what it holds for the processes whose distance from it has bit r set, to the process 2^r
//! ranks ahead. The maximum of [`Stats`] travels along.
//!
//! It replaces `MPI_Ialltoall`: the words are half as long, as the stats need not be in each of
//! them, and receives are posted ahead.
//!
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications
//! in multiport message-passing systems, 1997.

use super::stats::Stats;
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::util::cast::to_u32;

/// The messages of every other round. They do not move while they are in flight.
#[derive(Debug, Default)]
struct Lane {
    outgoing: Vec<u32>,
    incoming: Vec<u32>,
    send: Request,
    receive: Request,
}

/// The alltoall of one communicator.
#[derive(Debug)]
pub struct Alltoall {
    tag: i32,
    rank: u32,
    size: u32,
    /// Entry i: the word for the process i ranks ahead; at the end, that of the process i ranks
    /// behind.
    words: Vec<u32>,
    /// Rounds take turns.
    lanes: [Lane; 2],
    rounds: usize,
    /// Rounds whose message has been sent, and rounds that are complete.
    sent: usize,
    at: usize,
    largest: Stats,
}

/// Returns the entries that travel in a round, of `size`.
fn moved(round: usize, size: u32) -> impl Iterator<Item = usize> {
    (0..size as usize).filter(move |i| i >> round & 1 == 1)
}

/// Returns the bytes of the words.
fn bytes(words: &[u32]) -> u64 {
    size_of_val(words) as u64
}

impl Alltoall {
    /// Creates the alltoall for process `rank` of `size`. Allocates 12 bytes per process.
    pub fn new(rank: u32, size: u32, tag: i32) -> Alltoall {
        let rounds = crate::model::sparse::rounds(size) as usize;
        let lane = |first: usize| {
            let longest = (first..rounds).step_by(2).map(|r| moved(r, size).count()).max().unwrap_or(0);
            // the stats precede the words
            Lane { outgoing: Vec::with_capacity(1 + longest), incoming: vec![0; 1 + longest], ..Lane::default() }
        };
        let (words, lanes) = (vec![0; size as usize], [lane(0), lane(1)]);
        Alltoall { tag, rank, size, words, lanes, rounds, sent: 0, at: 0, largest: Stats::default() }
    }

    /// Sets all words to 0.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Returns the word for a process.
    pub fn word(&mut self, target: u32) -> &mut u32 {
        let ahead = if target < self.rank { self.size - self.rank + target } else { target - self.rank };
        &mut self.words[ahead as usize]
    }

    /// Returns the processes and their words for this one, after the last round.
    pub fn received(&self) -> impl Iterator<Item = (u32, u32)> {
        let (rank, size) = (self.rank, self.size);
        let source = move |behind: u32| if behind > rank { size - behind + rank } else { rank - behind };
        self.words.iter().enumerate().map(move |(i, &word)| (source(to_u32(i)), word))
    }

    /// Starts to exchange the words.
    pub fn start(&mut self, mine: Stats, comm: &Comm) -> Result<()> {
        (self.sent, self.at, self.largest) = (0, 0, mine);
        for round in 0..self.rounds.min(2) {
            self.post(round, comm)?;
        }
        self.send(comm).map(drop)
    }

    /// Posts the receive of a round.
    fn post(&mut self, round: usize, comm: &Comm) -> Result<()> {
        let lane = &mut self.lanes[round % 2];
        let behind = 1 << round;
        let from = if self.rank < behind { self.rank + self.size - behind } else { self.rank - behind };
        let (at, room) = (lane.incoming.as_mut_ptr().cast(), bytes(&lane.incoming));
        // SAFETY: the words do not move and are read only after the receive completes.
        lane.receive = unsafe { message::receive(at, room, Some(from), Some(self.tag), comm) }?;
        Ok(())
    }

    /// Sends the message of the next round. Returns false if its buffer is still in use.
    fn send(&mut self, comm: &Comm) -> Result<bool> {
        let lane = &mut self.lanes[self.sent % 2];
        if !lane.send.test()? {
            return Ok(false);
        }
        lane.outgoing.clear();
        lane.outgoing.push(self.largest.word());
        lane.outgoing.extend(moved(self.sent, self.size).map(|i| self.words[i]));
        let left = self.size - self.rank;
        let ahead = 1 << self.sent;
        let to = if ahead < left { self.rank + ahead } else { ahead - left };
        let block = bytes_at(lane.outgoing.as_ptr().cast(), bytes(&lane.outgoing));
        // SAFETY: the words are not changed before the send completes.
        lane.send = unsafe { message::send(Mode::Standard, &block, to, self.tag, comm) }?;
        self.sent += 1;
        Ok(true)
    }

    /// Advances the exchange. Returns the maximum stats once all words have come.
    #[inline]
    pub fn progress(&mut self, comm: &Comm) -> Result<Option<Stats>> {
        while self.at < self.rounds {
            if self.sent == self.at && !self.send(comm)? {
                return Ok(None);
            }
            let lane = &mut self.lanes[self.at % 2];
            if !lane.receive.test()? {
                return Ok(None);
            }
            let (stats, words) = lane.incoming.split_first().expect("the stats precede the words");
            self.largest = self.largest.max(Stats::from_word(*stats));
            for (i, word) in moved(self.at, self.size).zip(words) {
                self.words[i] = *word;
            }
            self.at += 1;
            if self.at + 1 < self.rounds {
                self.post(self.at + 1, comm)?;
            }
        }
        Ok((self.lanes[0].send.test()? & self.lanes[1].send.test()?).then_some(self.largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the rounds of all processes without MPI: the word of s for t names both.
    #[test]
    fn each_word_reaches_its_target() {
        for p in (2..40).chain([63, 64, 65, 100]) {
            let mut all: Vec<Alltoall> = (0..p).map(|r| Alltoall::new(r, p, 0)).collect();
            for (s, process) in (0..).zip(&mut all) {
                (0..p).for_each(|t| *process.word(t) = s * 1000 + t);
            }
            for round in 0..all[0].rounds {
                let before: Vec<Vec<u32>> = all.iter().map(|a| a.words.clone()).collect();
                for (r, process) in (0..p).zip(&mut all) {
                    let from = (r + p - (1 << round)) % p;
                    for i in moved(round, p) {
                        process.words[i] = before[from as usize][i];
                    }
                }
            }
            for (t, process) in (0..).zip(&all) {
                assert!(process.received().all(|(s, word)| word == s * 1000 + t), "{p} processes, at {t}");
                let mut sources: Vec<u32> = process.received().map(|(s, _)| s).collect();
                sources.sort_unstable();
                assert_eq!(sources, (0..p).collect::<Vec<_>>());
            }
        }
    }
}
