//! PEX, personalized exchange: everyone tells everyone how much comes (`MPI_Ialltoall` of one
//! word); then receives of known size are posted. The messages are on their way meanwhile.
//!
//! Useful with few processes. Cost: an alltoall of 8 bytes for each process, k messages; 16 P bytes
//! of memory. Source: DSDE, section 3.1.

use crate::error::Result;
use crate::mpi::message::{Mode, Request, collective};
use crate::sparse::mailbox::{Inbox, Outbox, Sends};
use crate::sparse::{Kind, STATS_BITS, Stats, Wires, send_one};

/// What each process tells each other one, and is told; kept between exchanges.
#[derive(Default)]
pub struct Words {
    tell: Vec<u64>,
    told: Vec<u64>,
}

/// What a word says: the sender's [`Stats`] above, and below what comes: 0 for no message; 1 + 2 b
/// for one of b bytes; 2 n for n messages, n > 1 or the one could not be sent, that must be probed
/// for.
const STATS: u32 = u64::BITS - STATS_BITS;

fn one(bytes: u64) -> u64 {
    1 + 2 * bytes
}

fn pack(stats: Stats) -> u64 {
    u64::from(stats.word()) << STATS
}

fn unpack(word: u64) -> Stats {
    Stats::from_word((word >> STATS) as u32)
}

/// A source whose messages must be probed for, and how many are missing.
struct Several {
    source: u32,
    missing: u64,
}

/// The protocol at work.
pub struct Run {
    /// Until it is known what comes.
    words: Option<Request>,
    outbox: Outbox,
    several: Vec<Several>,
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        let stats = pack(Stats::of(sends, wires));
        let Words { tell, told } = &mut wires.words;
        told.resize(wires.size as usize, 0);
        tell.clear();
        tell.resize(wires.size as usize, stats);
        let (rank, mut outbox) = (wires.rank, Outbox::default());
        // messages need not wait for the words: tags keep those apart that come before
        for o in sends.list.iter().filter(|o| o.target != rank) {
            // SAFETY: the caller vouches for the block.
            let whole = unsafe { send_one(wires, o, Mode::Standard, &mut outbox) }?;
            let word = &mut wires.words.tell[o.target as usize];
            *word = match *word - stats {
                0 if whole => stats + one(o.bytes),
                // what comes in its place has to be probed for
                0 => stats + 2,
                said if said % 2 == 1 => stats + 2 * 2,
                _ => *word + 2,
            };
        }
        let Words { tell, told } = &mut wires.words;
        // SAFETY: one word for each process; both stay as they are until the request is complete.
        let words = unsafe { collective::alltoall(tell, told, &wires.comm) }?;
        Ok(Run { words: Some(words), outbox, several: Vec::new() })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        if let Some(words) = &mut self.words {
            if !words.test()? {
                return Ok(false);
            }
            self.words = None;
            let mut largest = Stats::default();
            for (source, &word) in wires.words.told.iter().enumerate() {
                let (source, said) = (source as u32, word & ((1 << STATS) - 1));
                largest = largest.max(unpack(word));
                match said {
                    0 => {}
                    said if said % 2 == 1 => inbox.receive(source, said / 2, wires.tag(Kind::Data), &wires.comm)?,
                    said => self.several.push(Several { source, missing: said / 2 }),
                }
            }
            wires.learn(largest);
        }
        while let Some(Several { source, missing }) = self.several.last_mut() {
            if !wires.find(Some(*source), inbox)? {
                break;
            }
            *missing -= 1;
            if *missing == 0 {
                self.several.pop();
            }
        }
        Ok(self.several.is_empty() & inbox.complete()? & self.outbox.complete()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_carry_lengths_and_stats() {
        let stats = Stats { time: 2047, messages: 32, bytes: 64 };
        for said in [0, one(0), one(1), one((1 << 38) - 1), 2 * 2, 2 * 1_000_000] {
            let word = pack(stats) + said;
            assert_eq!((unpack(word), word & ((1 << STATS) - 1)), (stats, said));
        }
    }
}
