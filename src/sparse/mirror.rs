//! Halving of a range of processes, again and again, each process with its mirror image in the
//! other half: the pattern behind the recursive halving of counters and the crystal router. Works
//! for any number of processes.
//!
//! The lower half of a range of n processes has n / 2 of them, rounded up. Each process gives what
//! belongs to the other half to its mirror image there; where n is odd, the last process of the
//! lower half has no mirror image and gives to the first one of the upper half, which so receives
//! twice. After ceil(log2 P) steps each range is one process, and something of every process has
//! come to every other one.

use std::ops::Range;

/// What a process does in one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The processes whose things it keeps: its own half.
    pub keeps: Range<u32>,
    /// The processes whose things it gives away: the other half.
    pub gives: Range<u32>,
    /// To whom.
    pub to: u32,
    /// From whom it gets things for its own half: nobody, one, or two processes.
    pub from: Vec<u32>,
}

/// The steps of process `rank` of `processes`.
pub fn steps(rank: u32, processes: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut range = 0..processes;
    while range.len() > 1 {
        let n = range.end - range.start;
        let middle = range.start + n.div_ceil(2);
        let mirror = |of: u32| range.start + (range.end - 1 - of);
        let (lower, upper) = (range.start..middle, middle..range.end);
        let (keeps, gives) = if rank < middle { (lower, upper) } else { (upper, lower) };
        let alone = middle - 1; // has itself as mirror image where n is odd
        let (mut to, mut from) = (mirror(rank), vec![mirror(rank)]);
        if to == rank {
            (to, from) = (middle, vec![]);
        } else if n % 2 == 1 && rank == middle {
            from.push(alone);
        }
        range = keeps.clone();
        steps.push(Step { keeps, gives, to, from });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Runs the steps of all processes with tokens (source, target), one for each pair.
    #[test]
    fn all_things_come_to_their_owners_and_news_to_everybody() {
        for p in (1..40).chain([63, 64, 65, 100]) {
            let all: Vec<Vec<Step>> = (0..p).map(|r| steps(r, p)).collect();
            let mut held: Vec<BTreeSet<(u32, u32)>> = (0..p).map(|r| (0..p).map(|t| (r, t)).collect()).collect();
            let mut news: Vec<BTreeSet<u32>> = (0..p).map(|r| BTreeSet::from([r])).collect();
            let rounds = all.iter().map(Vec::len).max().unwrap();
            assert_eq!(rounds as u32, crate::model::dsde::rounds(p), "{p} processes");
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
                assert_eq!(news[r as usize].len() as u32, p, "{p} processes, at {r}");
            }
        }
    }
}
