//! Turns a schedule that delivers all blocks into one that reduces them.
//!
//! The blocks of all sources are folded from left to right, `((s0 op s1) op s2) op ...`, in place:
//! each step reads one block and writes the next one, the last block is the result. So the last one
//! in the order goes straight into the caller's buffer and the others into scratch blocks. A step
//! stands in the first round in which both of its blocks are there.
//!
//! Cost: no rounds or messages more; one reduction per source but one; one scratch block per source
//! but one.

use super::grammar::{Block, Op, Schedule};

/// In which order a reduction combines the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FoldOrder {
    /// As they stand in the source list. Equal inputs give equal bits, and operators that do not
    /// commute are served.
    Source,
    /// As they arrive by the schedule's rounds. Fewer steps wait for the last round.
    Any,
}

impl Schedule {
    /// The schedule that leaves in `Output(0)` the reduction of what this one would leave in all
    /// output blocks. A process without sources gets a schedule that writes nothing.
    ///
    /// # Panics
    /// If it has packets.
    pub fn folded(&self, order: FoldOrder) -> Schedule {
        assert!(self.packets() == 0, "a schedule with packets does not reduce");
        let arrivals = self.arrivals();
        let mut chain = arrivals.clone();
        if order == FoldOrder::Source {
            chain.sort_by_key(|&(slot, _)| slot);
        }
        let last = arrivals.iter().map(|&(slot, _)| slot).max();
        let mut moved = vec![Block::Output(0); last.map_or(0, |l| l as usize + 1)];
        for (k, &(slot, _)) in chain.iter().enumerate().take(chain.len().saturating_sub(1)) {
            moved[slot as usize] = Block::Scratch(self.scratch_blocks() + k as u32);
        }
        let redirect = |block: Block| match block {
            Block::Output(slot) => moved[slot as usize],
            other => other,
        };
        let mut folded = Schedule::new(self.algorithm());
        let mut homes = vec![None; moved.len()];
        arrivals.iter().for_each(|&(slot, _)| homes[slot as usize] = Some(moved[slot as usize]));
        folded.homes = Some(homes);
        let mut next = 0;
        for r in 0..self.rounds() {
            let mut ops: Vec<Op> = (self.round(r).iter())
                .map(|op| match *op {
                    Op::Recv { from, into, part } => Op::Recv { from, into: redirect(into), part },
                    Op::Send { to, block, part } => Op::Send { to, block: redirect(block), part },
                    Op::Copy { from, into } => Op::Copy { from: redirect(from), into: redirect(into) },
                    reduce => reduce,
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

    /// The output blocks in the order in which they are complete, with the round.
    fn arrivals(&self) -> Vec<(u32, usize)> {
        let mut arrivals: Vec<(u32, usize)> = Vec::new();
        for r in 0..self.rounds() {
            for op in self.round(r) {
                if let Op::Recv { into, .. } | Op::Copy { into, .. } = op
                    && let Block::Output(slot) = into
                {
                    arrivals.push((*slot, r));
                }
            }
        }
        // of a block that comes in parts the last one counts
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

    /// Time grows with the number of sources, not with its square.
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
