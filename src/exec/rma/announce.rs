//! With fences, which targets answer before a message: those that offer places for it.
//!
//! Nobody else answers, and no source knows what a call of its target is, a plan's or another. So a
//! target announces during each message whether it will answer before the next one, which is likely
//! to be like this one: it sets a word at the source, before it enters the barrier. There are two
//! words, used in turn, so that the source has read one before the target sets it again. A plan's
//! first message after those of other calls goes by the landing area.
//!
//! Cost: a word is set, and flushed, when a message differs in this from the last but one.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::mpi::landing::{Flag, Landing};
use crate::mpi::p2p::Requests;
use crate::topology::neighborhood::Rank;
use crate::util::cast::{high_half, low_half, of_halves};

/// Bytes of a word, and of the two words of a target.
const WORD: u64 = 8;
pub const WORDS: usize = 16;

/// The words of a neighborhood.
pub struct Announcements {
    /// Where those of the targets begin in this process's memory.
    begin: u64,
    /// Where this process's are at each source, and which of them are set.
    at_sources: Vec<(u64, [AtomicBool; 2])>,
}

impl Announcements {
    /// Clears the words of the targets, which begin at `begin` of the landing area, and tells
    /// targets where they are. `sources` and `targets`: ranks, in order. Neighbors call it. None is
    /// set before all processes have returned.
    ///
    /// Cost: a message of 8 bytes against each edge.
    pub fn new(landing: &Landing, begin: u64, (sources, targets): (&[Rank], &[Rank]), tag: i32) -> Result<Announcements> {
        let places = (0..targets.len() as u64).map(|target| begin + target * WORDS as u64);
        let halves = |at: u64| vec![low_half(at), high_half(at)];
        let mut out: Vec<(u32, Vec<u32>)> = targets.iter().copied().zip(places.clone().map(halves)).collect();
        let mut into: Vec<(u32, Vec<u32>)> = sources.iter().map(|&rank| (rank, vec![0; 2])).collect();
        for word in places.flat_map(|at| [at, at + WORD]) {
            landing.flag(word).store(0, Ordering::Release);
        }
        landing.sync()?;
        Requests::default().exchange(&mut out, &mut into, tag, landing.comm())?;
        let at_sources = into.iter().map(|(_, place)| (of_halves(place[0], place[1]), Default::default())).collect();
        Ok(Announcements { begin, at_sources })
    }

    /// Returns true if a target, by its position, answers before the message of a number.
    pub fn will_answer(&self, landing: &Landing, target: usize, number: u64) -> bool {
        let word = self.begin + target as u64 * WORDS as u64 + number % 2 * WORD;
        landing.flag(word).load(Ordering::Acquire) != 0
    }

    /// Returns true if this process has announced to a source, by its position, that it answers
    /// before the message of a number.
    pub fn must_answer(&self, source: usize, number: u64) -> bool {
        self.at_sources[source].1[usize::from(number % 2 == 1)].load(Ordering::Relaxed)
    }

    /// Announces during the message of a number whether this process answers before the next one.
    pub fn announce(&self, landing: &Landing, (source, rank): (usize, Rank), number: u64, answers: bool) -> Result<()> {
        let (offset, set) = &self.at_sources[source];
        let (next, set) = ((number + 1) % 2, &set[usize::from(number.is_multiple_of(2))]);
        if set.load(Ordering::Relaxed) != answers {
            landing.raise(Flag { value: answers.into(), target: rank, offset: offset + next * WORD })?;
            set.store(answers, Ordering::Relaxed);
        }
        Ok(())
    }
}
