//! Decides if rounds of a schedule may overlap at a process.

use std::collections::{HashMap, HashSet};

use super::grammar::{Block, Op, Schedule};
use super::part::Part;

/// Returns true if receives may be posted, and sends started, before earlier rounds are complete:
/// rounds are not strict, everything sent or copied is the caller's input, and no block is written
/// after it was complete.
pub fn may_overlap(schedule: &Schedule) -> bool {
    if schedule.is_strict() {
        return false;
    }
    let mut complete: HashSet<Block> = HashSet::new();
    let mut come: HashMap<Block, u64> = HashMap::new();
    schedule.ops().iter().all(|op| match *op {
        Op::Send { block, .. } => matches!(block, Block::Input(_)),
        Op::Recv { into, part, .. } => write(into, part, &mut complete, &mut come),
        Op::Copy { from, into } => matches!(from, Block::Input(_)) && write(into, Part::WHOLE, &mut complete, &mut come),
        Op::Reduce { .. } => true,
    })
}

/// Records that a part of a block is written; returns false if the block was already complete.
fn write(block: Block, part: Part, complete: &mut HashSet<Block>, come: &mut HashMap<Block, u64>) -> bool {
    let (begin, end, of) = part.fraction();
    let sum = come.entry(block).or_default();
    // parts that overlap may be more than a whole
    *sum += u64::from(end - begin);
    *sum < u64::from(of) || complete.insert(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Algorithm, FoldOrder};

    fn schedule(rounds: &[&[Op]]) -> Schedule {
        let mut schedule = Schedule::new(Algorithm::Direct);
        for round in rounds {
            schedule.push_round(round.iter().copied());
        }
        schedule
    }

    #[test]
    fn what_may_overlap() {
        let (input, output, scratch) = (Block::Input(0), Block::Output(0), Block::Scratch(0));
        let part = |begin, end| Op::Recv { from: 1, into: scratch, part: Part::new(begin, end, 4) };
        let fold = Op::Reduce { from: scratch, into: output };
        let both = schedule(&[&[part(2, 4), Op::send(1, input)], &[part(0, 2), Op::recv(2, output), fold]]);
        assert!(may_overlap(&both));
        let strict = both.with_strict_rounds(true);
        assert!(
            !may_overlap(&strict) && !may_overlap(&strict.retained(|_| true)) && !may_overlap(&strict.folded(FoldOrder::Source))
        );
        // forwarding
        assert!(!may_overlap(&schedule(&[&[Op::recv(1, scratch)], &[Op::send(2, scratch)]])));
        assert!(!may_overlap(&schedule(&[&[Op::recv(1, scratch)], &[Op::Copy { from: scratch, into: output }]])));
        // a block that is written again
        assert!(!may_overlap(&schedule(&[&[Op::recv(1, scratch), Op::recv(1, output), fold], &[Op::recv(2, scratch), fold]])));
        assert!(!may_overlap(&schedule(&[&[part(0, 2)], &[part(2, 4)], &[part(0, 2)]])));
        let large = Op::Recv { from: 1, into: scratch, part: Part::new(0, 3 << 30, u32::MAX) };
        assert!(may_overlap(&schedule(&[&[large], &[large]])));
        assert!(!may_overlap(&schedule(&[&[large], &[large], &[large]])));
        assert!(!may_overlap(&schedule(&[&[Op::Copy { from: input, into: output }], &[Op::recv(1, output)]])));
    }
}
