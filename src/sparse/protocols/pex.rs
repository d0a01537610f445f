//! PEX, personalized exchange: every process tells every other one what to expect, by an
//! `MPI_Ialltoall` of one word; then receives of known size are posted. The messages travel
//! meanwhile.
//!
//! Best for few processes. Cost: an all-to-all of 8 bytes per process, k messages; 16 P bytes of
//! memory. Source: DSDE, section 3.1.

use crate::error::Result;
use crate::mpi::message::{Mode, Request, collective};
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::stats::{STATS_BITS, Stats};
use crate::sparse::transport::{Tag, Transport};
use crate::util::cast::to_u32;

/// The words sent to and received from all processes. Kept between exchanges.
#[derive(Default)]
pub struct Words {
    sent: Vec<u64>,
    received: Vec<u64>,
}

/// Lowest bit of the sender's [`Stats`] in a word. The bits below say what to expect: 0 for no
/// message, 1 + 2 b for one message of b bytes, 2 n for n messages that must be probed for, because
/// n > 1 or because the one message could not be sent.
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

/// A source whose messages must be probed for, and how many are still missing.
struct Several {
    source: u32,
    missing: u64,
}

/// A run of the protocol.
pub struct Run {
    /// The all-to-all, while it is in progress.
    alltoall: Option<Request>,
    pending: PendingSends,
    several: Vec<Several>,
}

impl Run {
    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, words: &mut Words, sends: &Sends) -> Result<Run> {
        let stats = pack(transport.stats(sends));
        let Words { sent, received } = words;
        received.resize(transport.size as usize, 0);
        sent.clear();
        sent.resize(transport.size as usize, stats);
        let (rank, mut pending) = (transport.rank, PendingSends::default());
        // messages need not wait for the words: tags keep apart those that arrive early
        for o in sends.list.iter().filter(|o| o.target != rank) {
            // SAFETY: the caller vouches for the block.
            let whole = unsafe { transport.send(o, Mode::Standard, &mut pending) }?;
            let word = &mut sent[o.target as usize];
            *word = match *word - stats {
                0 if whole => stats + one(o.bytes),
                // the notice sent in its place must be probed for
                0 => stats + 2,
                one if one % 2 == 1 => stats + 2 * 2,
                _ => *word + 2,
            };
        }
        // SAFETY: both have one word per process and are left alone until the request completes.
        let alltoall = unsafe { collective::alltoall(sent, received, &transport.comm) }?;
        Ok(Run { alltoall: Some(alltoall), pending, several: Vec::new() })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, transport: &mut Transport, words: &mut Words, arrivals: &mut Arrivals) -> Result<bool> {
        if let Some(alltoall) = &mut self.alltoall {
            if !alltoall.test()? {
                return Ok(false);
            }
            self.alltoall = None;
            let mut largest = Stats::default();
            for (source, &word) in words.received.iter().enumerate() {
                let (source, expected) = (to_u32(source), word & ((1 << STATS) - 1));
                largest = largest.max(unpack(word));
                match expected {
                    0 => {}
                    one if one % 2 == 1 => arrivals.receive(source, one / 2, transport.tag(Tag::Data), &transport.comm)?,
                    several => self.several.push(Several { source, missing: several / 2 }),
                }
            }
            transport.learn(largest);
        }
        while let Some(Several { source, missing }) = self.several.last_mut() {
            if !transport.find(Some(*source), arrivals)? {
                break;
            }
            *missing -= 1;
            if *missing == 0 {
                self.several.pop();
            }
        }
        Ok(self.several.is_empty() & arrivals.complete()? & self.pending.complete()?)
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
