//! Turns a schedule that delivers all blocks into one that reduces them.
//!
//! The blocks of all sources are folded from left to right, `((s0 op s1) op s2) op ...`, in place:
//! each step reads one block and writes the next, and the last block is the result. The last block
//! in the order is therefore received directly in the caller's buffer and the others in scratch
//! blocks. Each step runs in the first round in which both of its blocks are complete.
//!
//! Cost: no additional rounds or messages. A process with n sources needs n - 1 reductions and n -
//! 1 scratch blocks.

use super::grammar::{Block, Op, Schedule};
use crate::util::cast::to_u32;

/// The order in which a reduction combines the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FoldOrder {
    /// The order of the source list. Equal inputs give bitwise equal results, and noncommutative
    /// operators are supported.
    Source,
    /// The order in which blocks arrive in the rounds of the schedule. Fewer steps wait for the
    /// last round.
    Any,
}

impl Schedule {
    /// Returns the schedule that leaves in `Output(0)` the reduction of all output blocks of this
    /// schedule. A process without sources gets a schedule that writes nothing.
    ///
    /// # Panics
    /// If the schedule has packets.
    #[must_use]
    pub fn folded(&self, order: FoldOrder) -> Schedule {
        assert!(self.packets() == 0, "a schedule with packets does not reduce");
        let arrivals = self.arrivals();
        let mut chain = arrivals.clone();
        if order == FoldOrder::Source {
            chain.sort_by_key(|&(entry, _)| entry);
        }
        let last = arrivals.iter().map(|&(entry, _)| entry).max();
        let mut moved = vec![Block::Output(0); last.map_or(0, |l| l as usize + 1)];
        for (k, &(entry, _)) in chain.iter().enumerate().take(chain.len().saturating_sub(1)) {
            moved[entry as usize] = Block::Scratch(self.scratch_blocks() + to_u32(k));
        }
        let redirect = |block: Block| match block {
            Block::Output(entry) => moved[entry as usize],
            other => other,
        };
        let mut folded = Schedule::new(self.algorithm()).with_strict_rounds(self.is_strict());
        let mut homes = vec![None; moved.len()];
        arrivals.iter().for_each(|&(entry, _)| homes[entry as usize] = Some(moved[entry as usize]));
        folded.homes = Some(homes);
        let mut next = 0;
        for r in 0..self.rounds() {
            let mut ops: Vec<Op> = (self.round(r).iter())
                .map(|op| match *op {
                    Op::Recv { from, into, part } => Op::Recv { from, into: redirect(into), part },
                    Op::Send { to, block, part } => Op::Send { to, block: redirect(block), part },
                    Op::Copy { from, into } => Op::Copy { from: redirect(from), into: redirect(into) },
                    reduce @ Op::Reduce { .. } => reduce,
                })
                .collect();
            while next + 1 < chain.len() && chain[next].1.max(chain[next + 1].1) <= r {
                ops.push(Op::Reduce {
                    from: redirect(Block::Output(chain[next].0)),
                    into: redirect(Block::Output(chain[next + 1].0)),
                });
                next += 1;
            }
            folded.push_round_at(self.number(r), ops);
        }
        folded
    }

    /// The output blocks in the order in which they become complete, with the round.
    fn arrivals(&self) -> Vec<(u32, usize)> {
        let mut arrivals: Vec<(u32, usize)> = Vec::new();
        for r in 0..self.rounds() {
            for op in self.round(r) {
                if let Op::Recv { into, .. } | Op::Copy { into, .. } = op
                    && let Block::Output(entry) = into
                {
                    arrivals.push((*entry, r));
                }
            }
        }
        // a block that arrives in parts is complete with its last part
        let mut last = vec![0; arrivals.iter().map(|a| a.0 as usize + 1).max().unwrap_or(0)];
        for (i, a) in arrivals.iter().enumerate() {
            last[a.0 as usize] = i;
        }
        let mut i = 0;
        arrivals.retain(|a| {
            i += 1;
            last[a.0 as usize] == i - 1
        });
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Algorithm;

    /// Time is linear in the number of sources, not quadratic.
    #[test]
    fn many_sources() {
        let sources = 300_000;
        let mut schedule = Schedule::new(Algorithm::Direct);
        schedule.push_round((0..sources).map(|p| Op::recv(p, Block::Output(p))));
        for order in [FoldOrder::Source, FoldOrder::Any] {
            let folded = schedule.folded(order);
            assert_eq!(folded.scratch_blocks(), sources - 1);
            assert_eq!(folded.ops().len(), 2 * sources as usize - 1);
        }
    }
}
