//! Pages on which the processes of a node post a few words for all others, by memory alone. No MPI,
//! no addresses.
//!
//! Each process has a page with two halves, which successive rounds use in turn: round n uses half
//! n mod 2. A process posts its words, then reads those of all others.
//!
//! # Why two halves are enough
//! A process posts for round n + 2 after it has read all words of round n + 1. Each other process
//! posted these after it had read all words of round n: nobody looks at the half any more.
//!
//! # Memory order
//! A process posts with a release store of the round's number, behind the words; others read the
//! words behind an acquire load that has found the number. So a round also is a barrier: whoever
//! has read the words of all sees what they did before.

// models use less of it
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use Ordering::{Acquire, Relaxed, Release};

/// The words of a process in one round.
#[derive(Debug)]
#[repr(C)]
struct Half<const N: usize> {
    /// The last round that they were posted for.
    round: AtomicU64,
    words: [AtomicU64; N],
}

/// The page of a process, for up to `N` words. All zeros are one on which nothing has been posted,
/// before round 1.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Page<const N: usize>([Half<N>; 2]);

impl<const N: usize> Page<N> {
    fn half(&self, round: u64) -> &Half<N> {
        &self.0[usize::from(!round.is_multiple_of(2))]
    }

    /// Posts the caller's words, at most `N`. It has read the words of all others for the round
    /// before.
    pub fn post(&self, round: u64, words: &[u64]) {
        let half = self.half(round);
        assert!(words.len() <= N, "there is room for {N} words");
        half.words.iter().zip(words).for_each(|(place, &word)| place.store(word, Relaxed));
        half.round.store(round, Release);
    }

    /// True if the owner has posted its words for a round.
    #[inline]
    pub fn has(&self, round: u64) -> bool {
        self.half(round).round.load(Acquire) == round
    }

    /// The words of a round that the owner has posted, and as many after them as there is room for.
    pub fn words(&self, round: u64) -> impl Iterator<Item = u64> {
        self.half(round).words.iter().map(|word| word.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(loom))]
    use std::{sync::Arc, thread};

    #[cfg(loom)]
    use loom::{sync::Arc, thread};

    fn page() -> Page<2> {
        let half = || Half { round: AtomicU64::new(0), words: [AtomicU64::new(0), AtomicU64::new(0)] };
        Page([half(), half()])
    }

    /// Takes part in rounds as process `me`, and checks everything that it reads.
    fn take_part(pages: &[Page<2>], me: usize, rounds: u64) {
        for round in 1..=rounds {
            pages[me].post(round, &[round, me as u64]);
            for (other, page) in pages.iter().enumerate() {
                while !page.has(round) {
                    #[cfg(loom)]
                    loom::thread::yield_now();
                    #[cfg(not(loom))]
                    std::thread::yield_now();
                }
                assert!(page.words(round).eq([round, other as u64]), "words of another round or process");
            }
        }
    }

    fn run(processes: usize, rounds: u64) {
        let pages: Arc<Vec<_>> = Arc::new((0..processes).map(|_| page()).collect());
        let threads: Vec<_> = (1..processes)
            .map(|me| {
                let pages = Arc::clone(&pages);
                thread::spawn(move || take_part(&pages, me, rounds))
            })
            .collect();
        take_part(&pages, 0, rounds);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[cfg(loom)]
    #[test]
    fn no_interleaving_mixes_rounds() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| run(2, 3));
    }

    #[cfg(not(loom))]
    #[test]
    fn many_rounds_follow_one_another() {
        for processes in [2, 3, 5] {
            run(processes, 3000);
        }
    }

    #[cfg(not(loom))]
    #[test]
    #[should_panic(expected = "there is room for 2 words")]
    fn more_words_than_there_is_room_for_are_refused() {
        page().post(1, &[1, 2, 3]);
    }
}
