//! Trees that carry blocks from one process to others: LogGP's single node scatter (section 4).
//!
//! The source has position 0 of the tree; the i-th target has position i. A process holds the
//! blocks of a range of consecutive positions that begins with its own. It sends the tail of the
//! range as one message to the first process in that tail, then the tail of the rest, and so on.
//! The algorithms differ in how long each tail is: a table of *splits* gives it for each number of
//! blocks. Messages carry their blocks as packets, so that a forwarding process needs to know
//! nothing about them.
//!
//! A process sends one message per round, longest first, starting in the round after it received
//! its own blocks. Each process thus has at most one message in and one out per round. Where a
//! table would make a tree deeper than some hundreds of messages, ranges are halved.
//!
//! The simple scatter, in which the source sends every process its block directly, is what
//! `linear_permutation` builds for such a neighborhood, and `direct` without waiting between
//! messages.
//!
//! Cost: one message for each target. A block travels once for each edge on its path. A message
//! with several blocks carries 8 extra bytes per block. A process keeps a copy of the blocks that
//! it forwards, and the source keeps a packed copy of what it sends.

use super::grammar::{Algorithm, Block, Op, Schedule, self_copies};
use super::input::{Input, Tuning};
use super::star::Star;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::to_u32;

/// A rule for trees: the table of splits, from the number of processes and the mean weight of a
/// block.
pub(super) type Rule = fn(u32, f64, &Tuning) -> Vec<u32>;

/// Most messages in which a block travels one after another, beyond those of a binomial tree.
/// Packets are nested as deeply, and what reads them recurses: the simulator, the verifier.
const DEEPEST: u32 = 256;

/// The tree of a star.
pub(super) struct Tree<'a> {
    star: &'a Star,
    splits: Vec<u32>,
    /// For each rank, how its block arrives; `None` for the hub, and for a process that is no
    /// target.
    ways: Vec<Option<Way>>,
}

/// How the block of a process arrives.
#[derive(Clone, Copy)]
struct Way {
    from: Rank,
    round: u32,
    share: Share,
}

impl Tree<'_> {
    /// Builds the tree that a rule gives for a star. Cost: O(processes), beyond the rule's.
    pub(super) fn new<'a>(star: &'a Star, processes: usize, rule: Rule, tuning: &Tuning) -> Tree<'a> {
        let all = Share::all(star);
        let splits = shallow(rule(all.count, star.weight, tuning));
        let mut ways = vec![None; processes];
        let mut todo = vec![(all, 0)];
        while let Some((share, begin)) = todo.pop() {
            for (round, sent) in (begin..).zip(share.sent(&splits)) {
                ways[star.rank(sent.first) as usize] = Some(Way { from: star.rank(share.first), round, share: sent });
                todo.push((sent, round + 1));
            }
        }
        Tree { star, splits, ways }
    }
}

/// Replaces splits that would make a tree deeper than [`DEEPEST`], such as a chain's, by halves.
fn shallow(mut splits: Vec<u32>) -> Vec<u32> {
    let mut depths = vec![0; splits.len()];
    for p in 2..splits.len() {
        let depth = |s: usize| u32::max(depths[s] + 1, depths[p - s]);
        if depth(splits[p] as usize) > DEEPEST {
            splits[p] = to_u32(p / 2);
        }
        depths[p] = depth(splits[p] as usize);
    }
    splits
}

pub(super) fn unfit(input: &Input) -> Option<&'static str> {
    input.star.is_none().then_some("it needs a neighborhood in which only one process sends to others, to each of them once")
}

/// The positions whose blocks a process holds: `count` positions from `first`, which is its own.
#[derive(Clone, Copy)]
struct Share {
    first: u32,
    count: u32,
}

impl Share {
    /// All blocks, which the hub holds at first.
    fn all(star: &Star) -> Share {
        Share { first: 0, count: to_u32(star.targets.len()) + 1 }
    }

    /// The ranges that the process sends away, in that order.
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

/// Builds the schedule of one process. Cost: O(messages of the process) and, for the hub,
/// O(targets).
pub(super) fn schedule(algorithm: Algorithm, n: &Neighborhood, tree: Option<&Tree>) -> Schedule {
    let mut ops = Vec::new();
    let mut packets: Vec<Vec<Block>> = Vec::new();
    if let Some(Tree { star, splits, ways }) = tree {
        if n.rank() == star.hub {
            let entries: Vec<u32> = n.targets_in_order().filter(|t| t.1 != n.rank()).map(|t| t.0).collect();
            for (round, share) in (0..).zip(Share::all(star).sent(splits)) {
                let block = pack(share, splits, &entries, &mut packets);
                ops.push((round, Op::send(star.rank(share.first), block)));
            }
        } else if let Some(Way { from, round, share }) = ways[n.rank() as usize] {
            let own = n.sources_in_order().find(|s| s.1 == star.hub).map_or(0, |s| s.0);
            let sent: Vec<Share> = share.sent(splits).collect();
            let scratch = |i: usize| Block::Scratch(to_u32(i));
            let into = if sent.is_empty() {
                Block::Output(own)
            } else {
                packets.push(std::iter::once(Block::Output(own)).chain((0..sent.len()).map(scratch)).collect());
                Block::Packet(0)
            };
            ops.push((round, Op::recv(from, into)));
            for (i, share) in sent.into_iter().enumerate() {
                ops.push((round + 1 + to_u32(i), Op::send(star.rank(share.first), scratch(i))));
            }
        }
    }
    let mut schedule = Schedule::from_numbered(algorithm, ops, self_copies(n));
    for blocks in packets {
        schedule.push_packet(blocks);
    }
    schedule
}

/// Returns the block that the source sends for a range: an input block, or a packet of nested
/// packets, each with what its receiver forwards.
fn pack(share: Share, splits: &[u32], entries: &[u32], packets: &mut Vec<Vec<Block>>) -> Block {
    let input = |place: u32| Block::Input(entries[place as usize - 1]);
    if share.count == 1 {
        return input(share.first);
    }
    let first = packets.len();
    let mut todo = vec![share];
    // packets are numbered in the order of this list
    let mut done = 0;
    while let Some(&share) = todo.get(done) {
        done += 1;
        let mut blocks = vec![input(share.first)];
        for sent in share.sent(splits) {
            if sent.count == 1 {
                blocks.push(input(sent.first));
            } else {
                blocks.push(Block::Packet(to_u32(first + todo.len())));
                todo.push(sent);
            }
        }
        packets.push(blocks);
    }
    Block::Packet(to_u32(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::algorithms::scatter_binomial;
    use crate::schedule::{ALGORITHMS, Build, world_schedules};
    use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};

    /// `n` processes of which only `hub` sends, to `targets`.
    fn star(n: u32, hub: Rank, targets: &[Rank]) -> Vec<Neighborhood> {
        let sources = |p: Rank| vec![hub; targets.iter().filter(|&&t| t == p).count()];
        (0..n).map(|p| Neighborhood::from_ranks(p, &sources(p), if p == hub { targets } else { &[] })).collect()
    }

    fn text(algorithm: Algorithm, world: &[Neighborhood]) -> String {
        let schedules = world_schedules(algorithm, world, None, &Tuning::default()).unwrap();
        schedules.iter().zip(0..).map(|(s, p)| format!("process {p}\n{s}")).collect()
    }

    /// Section 4.4, by hand. The hub is in the middle of the ranks and among its own targets, and
    /// one process receives nothing.
    #[test]
    fn a_binomial_tree() {
        let world = star(7, 3, &[0, 3, 1, 6, 5, 4]);
        // positions: 3 | 0 1 6 5 4
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

    /// A share of all blocks makes a chain, whose packets would be nested as deep as it is long.
    #[test]
    fn chains_are_cut() {
        let tuning = Tuning { share: 1.0, ..Tuning::default() };
        let mut depths = vec![0];
        let splits = shallow(scatter_binomial::splits(100_000, 1.0, &tuning));
        for p in 1..splits.len() {
            let split = splits[p] as usize;
            depths.push(if p == 1 { 0 } else { usize::max(depths[split] + 1, depths[p - split]) });
        }
        assert!((2..=257).all(|p| splits[p] as usize == p - 1), "{splits:?}");
        assert!(depths.iter().all(|&depth| depth < 300), "{:?}", depths.iter().max());
        let halves = scatter_binomial::splits(100_000, 1.0, &Tuning::default());
        assert_eq!(shallow(halves.clone()), halves);
    }

    #[test]
    fn what_is_no_star() {
        let found = |world: &[Neighborhood]| Star::find(world);
        assert_eq!(found(&star(4, 2, &[3, 0])), Some(Star { hub: 2, targets: vec![3, 0], weight: 1.0 }));
        assert_eq!(found(&star(4, 2, &[2, 3])), Some(Star { hub: 2, targets: vec![3], weight: 1.0 }));
        // no process sends, or there are no processes
        assert_eq!(found(&star(2, 1, &[])), Some(Star { hub: 0, targets: vec![], weight: 0.0 }));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&star(4, 2, &[3, 3])), None);
        let mut two = star(3, 0, &[1, 2]);
        // a process that sends to itself sends nothing to others
        two[1] = Neighborhood::from_ranks(1, &[1, 0], &[1]);
        assert_eq!(found(&two), Some(Star { hub: 0, targets: vec![1, 2], weight: 1.0 }));
        (two[1], two[2]) = (Neighborhood::from_ranks(1, &[0], &[2]), Neighborhood::from_ranks(2, &[0, 1], &[]));
        assert_eq!(found(&two), None);
        let entries: Vec<_> = ALGORITHMS.iter().filter(|e| matches!(e.build, Build::Scatter(_))).collect();
        assert_eq!(entries.len(), 2);
        for entry in entries {
            let reason = world_schedules(entry.algorithm, &two, None, &Tuning::default()).unwrap_err();
            assert!(reason.contains("only one process sends"), "{reason}");
        }
    }

    /// List entries without a process on both sides, and weights, one of which is 0.
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

    /// A lost block is replaced by an empty packet or dropped on arrival; the messages stay.
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
