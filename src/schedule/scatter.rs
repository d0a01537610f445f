//! Schedules from one process to others along a tree: LogGP's single node scatter (section 4).
//!
//! The blocks that the source sends lie in the order of its targets; whose block is the i-th is at
//! place i of the tree, the source at place 0. A process has the blocks of some places that follow
//! one another, its own first, and sends those at the end away, to the first process among them, as
//! one message; then those at the end of what is left. How many it sends away is what algorithms
//! differ in: a table of *splits* says it for each number of blocks. Messages carry their blocks as
//! packets, so that who passes blocks on needs to know nothing about them.
//!
//! A process sends one message in a round, longest first, beginning in the round after the one in
//! which it has received its own. All messages go into rounds by that, so that each has one in and
//! one out at most.
//!
//! The simple scatter, in which the source sends each process its block, is what
//! `linear_permutation` makes of such a neighborhood, and `direct` without waiting for one message
//! before the next.
//!
//! Cost: one message for each target; a block travels once for each step of its way, and beyond the
//! bytes of blocks each message of several ones has 8 bytes for each. A process keeps the blocks
//! that it passes on, the source what it sends packed.

use super::costs::Costs;
use super::grammar::{Algorithm, Block, Op, Schedule, self_copies};
use super::input::{Input, Tuning};
use super::star::Star;

impl Star {
    /// The table of splits by a rule.
    pub(super) fn splits(&self, rule: fn(u32, f64, &Costs) -> Vec<u32>, tuning: &Tuning) -> Vec<u32> {
        rule(self.targets.len() as u32 + 1, self.weight, &tuning.costs)
    }
}

pub(super) fn unfit(input: &Input) -> Option<&'static str> {
    input.star.is_none().then_some("it needs a neighborhood in which only one process sends, to each of its targets once")
}

/// The places of which a process has the blocks: from `first`, its own, `count` many.
#[derive(Clone, Copy)]
struct Share {
    first: u32,
    count: u32,
}

impl Share {
    /// What it sends away, in that order.
    fn sent(self, splits: &[u32]) -> impl Iterator<Item = Share> + '_ {
        let mut left = self.count;
        std::iter::from_fn(move || {
            if left <= 1 {
                return None;
            }
            let count = splits[left as usize];
            left -= count;
            Some(Share { first: self.first + left, count })
        })
    }
}

/// A process's schedule. Cost: O(depth of the tree times messages of a process) and, for the hub,
/// O(targets).
pub(super) fn schedule(algorithm: Algorithm, input: &Input, splits: &[u32]) -> Schedule {
    let n = input.neighborhood;
    let mut ops = Vec::new();
    let mut packets: Vec<Vec<Block>> = Vec::new();
    if let Some(star) = input.star {
        let all = Share { first: 0, count: star.targets.len() as u32 + 1 };
        if n.rank() == star.hub {
            let slots: Vec<u32> = n.targets_in_order().into_iter().filter(|t| t.1 != n.rank()).map(|t| t.0).collect();
            for (round, share) in (0..).zip(all.sent(splits)) {
                let block = pack(share, splits, &slots, &mut packets);
                ops.push((round, Op::send(star.rank(share.first), block)));
            }
        } else if let Some(place) = star.targets.iter().position(|&r| r == n.rank()) {
            let (from, round, share) = way(place as u32 + 1, all, splits);
            let own = n.sources_in_order().first().map_or(0, |s| s.0);
            let sent: Vec<Share> = share.sent(splits).collect();
            let scratch = |i: usize| Block::Scratch(i as u32);
            let into = if sent.is_empty() {
                Block::Output(own)
            } else {
                packets.push(std::iter::once(Block::Output(own)).chain((0..sent.len()).map(scratch)).collect());
                Block::Packet(0)
            };
            ops.push((round, Op::recv(star.rank(from), into)));
            for (i, share) in sent.into_iter().enumerate() {
                ops.push((round + 1 + i as u32, Op::send(star.rank(share.first), scratch(i))));
            }
        }
    }
    let mut schedule = Schedule::from_numbered(algorithm, ops, self_copies(n));
    for blocks in packets {
        schedule.push_packet(blocks);
    }
    schedule
}

/// From which place a place receives, in which round, and what. The splits are followed from the
/// source on.
fn way(place: u32, all: Share, splits: &[u32]) -> (u32, u32, Share) {
    let (mut at, mut begin) = (all, 0);
    loop {
        let holds = |share: &Share| (share.first..share.first + share.count).contains(&place);
        let (sends_before, share) = at.sent(splits).enumerate().find(|(_, share)| holds(share)).expect("someone sends to it");
        let round = begin + sends_before as u32;
        if share.first == place {
            return (at.first, round, share);
        }
        (at, begin) = (share, round + 1);
    }
}

/// What the source sends for a share: a block, or a packet of packets, each with what its receiver
/// sends on.
fn pack(share: Share, splits: &[u32], slots: &[u32], packets: &mut Vec<Vec<Block>>) -> Block {
    let input = |place: u32| Block::Input(slots[place as usize - 1]);
    if share.count == 1 {
        return input(share.first);
    }
    let first = packets.len();
    let mut todo = vec![share];
    // packets are numbered as they stand in the list
    let mut done = 0;
    while let Some(&share) = todo.get(done) {
        done += 1;
        let mut blocks = vec![input(share.first)];
        for sent in share.sent(splits) {
            if sent.count == 1 {
                blocks.push(input(sent.first));
            } else {
                blocks.push(Block::Packet((first + todo.len()) as u32));
                todo.push(sent);
            }
        }
        packets.push(blocks);
    }
    Block::Packet(first as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{ALGORITHMS, Build, world_schedules};
    use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};

    /// `n` processes of which `hub` sends to `targets`.
    fn star(n: u32, hub: Rank, targets: &[Rank]) -> Vec<Neighborhood> {
        let sources = |p: Rank| vec![hub; targets.iter().filter(|&&t| t == p).count()];
        (0..n).map(|p| Neighborhood::from_ranks(p, &sources(p), if p == hub { targets } else { &[] })).collect()
    }

    fn text(algorithm: Algorithm, world: &[Neighborhood]) -> String {
        let schedules = world_schedules(algorithm, world, None, &Tuning::default()).unwrap();
        schedules.iter().zip(0..).map(|(s, p)| format!("process {p}\n{s}")).collect()
    }

    /// Section 4.4, by hand, with the hub in the middle of the ranks and among its own targets, and
    /// a process that gets nothing.
    #[test]
    fn a_binomial_tree() {
        let world = star(7, 3, &[0, 3, 1, 6, 5, 4]);
        // places: 3 | 0 1 6 5 4
        assert_eq!(
            text(Algorithm::ScatterBinomial, &world),
            "process 0\nround 2: recv Output(0) from 3;\n\
             process 1\nround 1: recv Output(0) from 3;\n\
             process 2\n\
             process 3\n\
             round 0: send Packet(0) to 6; copy Input(1) into Output(0);\n\
             round 1: send Input(2) to 1;\n\
             round 2: send Input(0) to 0;\n\
             packet 0: [Input(3), Input(5), Input(4)]\n\
             process 4\nround 1: recv Output(0) from 6;\n\
             process 5\nround 2: recv Output(0) from 6;\n\
             process 6\n\
             round 0: recv Packet(0) from 3;\n\
             round 1: send Scratch(0) to 4;\n\
             round 2: send Scratch(1) to 5;\n\
             packet 0: [Output(0), Scratch(0), Scratch(1)]\n"
        );
    }

    #[test]
    fn packets_in_packets() {
        let targets: Vec<Rank> = (1..8).collect();
        let schedules = world_schedules(Algorithm::ScatterBinomial, &star(8, 0, &targets), None, &Tuning::default()).unwrap();
        let input = Block::Input;
        let packets: Vec<&[Block]> = (0..schedules[0].packets()).map(|k| schedules[0].packet(k)).collect();
        let expected: [&[Block]; 3] = [&[input(3), Block::Packet(1), input(4)], &[input(5), input(6)], &[input(1), input(2)]];
        assert_eq!(packets, expected);
        assert_eq!(schedules[4].packet(0), [Block::Output(0), Block::Scratch(0), Block::Scratch(1)]);
        assert_eq!(schedules[6].packet(0), [Block::Output(0), Block::Scratch(0)]);
        assert_eq!(schedules.iter().map(Schedule::messages).sum::<usize>(), 7);
        assert!(schedules.iter().all(|s| s.rounds() <= 3));
    }

    #[test]
    fn what_is_no_star() {
        let found = |world: &[Neighborhood]| Star::find(world);
        assert_eq!(found(&star(4, 2, &[3, 0])), Some(Star { hub: 2, targets: vec![3, 0], weight: 1.0 }));
        assert_eq!(found(&star(4, 2, &[2, 3])), Some(Star { hub: 2, targets: vec![3], weight: 1.0 }));
        // nobody sends, or nobody is there
        assert_eq!(found(&star(2, 1, &[])), Some(Star { hub: 0, targets: vec![], weight: 0.0 }));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&star(4, 2, &[3, 3])), None);
        let mut two = star(3, 0, &[1, 2]);
        two[1] = Neighborhood::from_ranks(1, &[0, 1], &[1]);
        assert_eq!(found(&two), None);
        let entries: Vec<_> = ALGORITHMS.iter().filter(|e| matches!(e.build, Build::Scatter(_))).collect();
        assert_eq!(entries.len(), 2);
        for entry in entries {
            let reason = world_schedules(entry.algorithm, &two, None, &Tuning::default()).unwrap_err();
            assert!(reason.contains("only one process sends"), "{reason}");
        }
    }

    /// Slots without a process, on both sides, and weights, of which one is 0.
    #[test]
    fn holes_and_weights() {
        let neighbor = |rank, weight| Neighbor { rank, weight, direction: 0 };
        let hub = Neighborhood::new(0, vec![], vec![neighbor(None, 9), neighbor(Some(2), 5), neighbor(Some(1), 0)], true);
        let one = Neighborhood::new(1, vec![neighbor(None, 9), neighbor(Some(0), 0)], vec![neighbor(None, 1)], true);
        let two = Neighborhood::new(2, vec![neighbor(Some(0), 5)], vec![], true);
        let world = [hub, one, two];
        assert_eq!(Star::find(&world), Some(Star { hub: 0, targets: vec![2, 1], weight: 2.5 }));
        assert_eq!(
            text(Algorithm::ScatterBinomial, &world),
            "process 0\nround 0: send Input(2) to 1;\nround 1: send Input(1) to 2;\n\
             process 1\nround 0: recv Output(1) from 0;\n\
             process 2\nround 1: recv Output(0) from 0;\n"
        );
    }

    /// What is lost is replaced by nothing, or goes nowhere, and the messages stay.
    #[test]
    fn schedules_without_some_blocks() {
        let schedules =
            world_schedules(Algorithm::ScatterBinomial, &star(4, 0, &[0, 1, 2, 3]), None, &Tuning::default()).unwrap();
        let lost = |block: Block| matches!(block, Block::Input(0 | 1 | 3) | Block::Output(_));
        assert_eq!(
            schedules[0].without(lost).to_string(),
            "round 0: send Packet(0) to 2;\nround 1: send Packet(2) to 1;\npacket 0: [Input(2), Packet(1)]\npacket 1: []\npacket 2: []\n"
        );
        assert_eq!(
            schedules[2].without(lost).to_string(),
            "round 0: recv Packet(0) from 0;\nround 1: send Scratch(0) to 3;\npacket 0: [Scratch(1), Scratch(0)]\n"
        );
        assert_eq!(schedules[2].without(lost).scratch_blocks(), 2);
        assert_eq!(schedules[3].without(lost).to_string(), "round 1: recv Scratch(0) from 2;\n");
        assert_eq!(schedules[3].without(|_| false).ops(), schedules[3].ops());
    }
}
