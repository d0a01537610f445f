//! Runs the negotiation of all processes inside one.

use super::edges::Peer;
use super::negotiation::Negotiation;
use crate::schedule::grammar::Schedule;
use crate::schedule::input::{Input, Tuning};
use crate::topology::neighborhood::Neighborhood;
use crate::util::cast::to_u32;

/// Cost of a negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Steps until the last process was done.
    pub steps: u32,
    /// Total number of messages.
    pub messages: u64,
    /// Total length of the messages, in words of 32 bits.
    pub words: u64,
}

/// Negotiates the schedules of all processes inside this one.
pub fn run_all(world: &[Neighborhood], tuning: &Tuning) -> (Vec<Schedule>, Stats) {
    let processes = to_u32(world.len());
    let input = |neighborhood| Input { neighborhood, processes, directions: None, star: None, stencil: None };
    negotiate(world.iter().map(|n| Negotiation::new(&input(n), tuning)).collect())
}

/// Runs the negotiations of all processes, in the order of ranks, to completion.
///
/// # Panics
/// If the lists of the processes do not match.
pub fn negotiate(mut all: Vec<Negotiation>) -> (Vec<Schedule>, Stats) {
    // one buffer per pair; one end's message is taken before the other end's is written
    let mut end = 0;
    let from_source: Vec<Vec<usize>> = (all.iter())
        .map(|n| {
            let mut place = |p: &Peer| {
                end += Negotiation::longest(p.edges as usize);
                end - Negotiation::longest(p.edges as usize)
            };
            n.targets.iter().map(&mut place).collect()
        })
        .collect();
    let from_target: Vec<Vec<usize>> = (all.iter())
        .map(|n| {
            let place = |p: &Peer| {
                let there = all[p.rank as usize].targets.binary_search_by_key(&n.rank, |t| t.rank);
                from_source[p.rank as usize][there.expect("lists match")]
            };
            n.sources.iter().map(place).collect()
        })
        .collect();
    let mut mail = vec![0u32; end];
    let mut stats = Stats::default();
    let mut busy: Vec<usize> = (0..all.len()).collect();
    loop {
        busy.retain(|&p| !all[p].done());
        if busy.is_empty() {
            break;
        }
        let backward = stats.steps % 2 == 1;
        let (writers, readers) = if backward { (&from_target, &from_source) } else { (&from_source, &from_target) };
        for &p in &busy {
            for x in all[p].sends() {
                all[p].write(x.index, &mut mail[writers[p][x.index]..][..x.words]);
                stats.messages += 1;
                stats.words += x.words as u64;
            }
        }
        let mut receives = Vec::new();
        for &p in &busy {
            receives.clear();
            receives.extend(all[p].receives());
            for x in &receives {
                all[p].take(x.index, &mail[readers[p][x.index]..][..x.words]);
            }
            all[p].advance();
        }
        stats.steps += 1;
    }
    (all.into_iter().map(Negotiation::finish).collect(), stats)
}
