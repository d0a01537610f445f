//! PEX, personalized exchange: every process tells every other one what to expect, by an alltoall
//! of one word (`alltoall.rs`); then receives of known size are posted. The messages travel
//! meanwhile.
//!
//! Best for few processes. Cost: an all-to-all of 4 bytes per process, k messages; 12 P bytes of
//! memory. Source: DSDE, section 3.1.

use crate::error::Result;
use crate::mpi::message::Mode;
use crate::sparse::alltoall::Alltoall;
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::transport::{Tag, Transport};

/// The word for one message of this many bytes. Other words: 0 for no message, 2 n for n messages
/// that must be probed for, because n > 1, or because the one message is longer than a word can
/// say, or could not be sent.
fn one(bytes: u64) -> u32 {
    let word = bytes.checked_mul(2).and_then(|twice| u32::try_from(twice + 1).ok());
    word.unwrap_or(2)
}

/// What a process says to another, after it has said `word` about earlier messages: one more, of
/// this many bytes, or a notice in its place.
fn one_more(word: u32, sent: Option<u64>) -> u32 {
    match word {
        0 => sent.map_or(2, one),
        one if one % 2 == 1 => 2 * 2,
        several => several + 2,
    }
}

/// A source whose messages must be probed for, and how many are still missing.
struct Several {
    source: u32,
    missing: u32,
}

/// A run of the protocol.
pub struct Run {
    /// True once all words have come.
    told: bool,
    pending: PendingSends,
    several: Vec<Several>,
}

impl Run {
    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, alltoall: &mut Option<Alltoall>, sends: &Sends) -> Result<Run> {
        let (rank, size, tag) = (transport.rank, transport.size, transport.tag(Tag::Alltoall));
        let alltoall = alltoall.get_or_insert_with(|| Alltoall::new(rank, size, tag));
        alltoall.clear();
        let (mine, mut pending) = (transport.stats(sends), PendingSends::default());
        // messages need not wait for the words: tags keep apart those that arrive early
        for o in sends.list.iter().filter(|o| o.target != rank) {
            // SAFETY: the caller vouches for the block.
            let whole = unsafe { transport.send(o, Mode::Standard, &mut pending) }?;
            let word = alltoall.word(o.target);
            *word = one_more(*word, whole.then_some(o.bytes));
        }
        alltoall.start(mine, &transport.comm)?;
        Ok(Run { told: false, pending, several: Vec::new() })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        alltoall: &mut Option<Alltoall>,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        if !self.told {
            let alltoall = alltoall.as_mut().expect("created by start");
            let Some(largest) = alltoall.progress(&transport.comm)? else { return Ok(false) };
            self.told = true;
            for (source, word) in alltoall.received().filter(|&(source, word)| word != 0 && source != transport.rank) {
                if word % 2 == 1 {
                    arrivals.receive(source, u64::from(word / 2), transport.tag(Tag::Data), &transport.comm)?;
                } else {
                    self.several.push(Several { source, missing: word / 2 });
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
    fn words_tell_one_length_or_a_number() {
        for bytes in [0, 1, (1 << 31) - 1] {
            let word = one_more(0, Some(bytes));
            assert_eq!((word % 2, u64::from(word / 2)), (1, bytes));
            assert_eq!(one_more(word, Some(5)), 2 * 2);
        }
        // too long for a word, or not sent: one to be probed for
        for sent in [Some(1 << 31), Some(u64::MAX), None] {
            assert_eq!((one_more(0, sent), one_more(2, sent), one_more(1, sent)), (2, 2 * 2, 2 * 2));
        }
        assert_eq!(one_more(2 * 1_000_000, Some(7)), 2 * 1_000_001);
    }
}
