//! The grammar of schedules: blocks, operations, and the schedule of one process.

use std::fmt;

use super::part::Part;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::to_u32;

/// A block of data, by where it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Block {
    /// The block of the caller's send buffer for entry `i` of the target list.
    Input(u32),
    /// The block of the caller's receive buffer for entry `j` of the source list.
    Output(u32),
    /// Temporary block `k`, laid out like an output block; in a schedule with packets, bytes of any
    /// length.
    Scratch(u32),
    /// Packet `k`: the blocks that the schedule lists for it.
    Packet(u32),
}

impl Block {
    /// The block's number among the blocks of its variant; of the caller's blocks, the list entry.
    pub fn index(self) -> usize {
        match self {
            Block::Input(i) | Block::Output(i) | Block::Scratch(i) | Block::Packet(i) => i as usize,
        }
    }
}

/// One operation of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Receive a block from a process.
    Recv {
        /// Sender.
        from: Rank,
        /// Destination block.
        into: Block,
        /// Fraction of the block.
        part: Part,
    },
    /// Send a block to a process.
    Send {
        /// Receiver.
        to: Rank,
        /// The block to send.
        block: Block,
        /// Fraction of the block.
        part: Part,
    },
    /// Copy a block within the process.
    Copy {
        /// Block to read.
        from: Block,
        /// Block to write.
        into: Block,
    },
    /// `into = from op into`, as `MPI_Reduce_local` does.
    Reduce {
        /// Left operand.
        from: Block,
        /// Right operand and result.
        into: Block,
    },
}

impl Op {
    /// Receives a whole block.
    pub fn recv(from: Rank, into: Block) -> Op {
        Op::Recv { from, into, part: Part::WHOLE }
    }

    /// Sends a whole block.
    pub fn send(to: Rank, block: Block) -> Op {
        Op::Send { to, block, part: Part::WHOLE }
    }

    /// Position of this kind of operation within a round.
    pub(super) fn phase(&self) -> u8 {
        match self {
            Op::Recv { .. } => 0,
            Op::Send { .. } => 1,
            Op::Copy { .. } => 2,
            Op::Reduce { .. } => 3,
        }
    }
}

/// The schedule of one process: all of its rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    algorithm: Algorithm,
    strict: bool,
    ops: Vec<Op>,
    /// `ends[r]`: index in `ops` after the last operation of the r-th stored round.
    ends: Vec<u32>,
    /// Numbers of the stored rounds, ascending.
    numbers: Vec<u32>,
    scratch: u32,
    /// The blocks of all packets, concatenated.
    contents: Vec<Block>,
    /// `packets[k]`: index in `contents` after the last block of packet `k`.
    packets: Vec<u32>,
    /// In a folded schedule, the block in which each entry of the source list is received; `None`
    /// where nothing is received.
    pub(super) homes: Option<Vec<Option<Block>>>,
}

impl Schedule {
    /// Creates an empty schedule.
    pub fn new(algorithm: Algorithm) -> Self {
        Schedule {
            algorithm,
            strict: false,
            ops: Vec::new(),
            ends: Vec::new(),
            numbers: Vec::new(),
            scratch: 0,
            contents: Vec::new(),
            packets: Vec::new(),
            homes: None,
        }
    }

    /// Creates a schedule from operations with round numbers. Operations of one round keep their
    /// order. `copies` run while the messages of the first round travel, or in a round of their own
    /// if there are no messages.
    pub fn from_numbered(algorithm: Algorithm, mut ops: Vec<(u32, Op)>, mut copies: Vec<Op>) -> Self {
        ops.sort_by_key(|o| o.0);
        let mut schedule = Schedule::new(algorithm);
        for round in ops.chunk_by(|a, b| a.0 == b.0) {
            schedule.push_round_at(round[0].0, round.iter().map(|o| o.1).chain(std::mem::take(&mut copies)));
        }
        if !copies.is_empty() {
            schedule.push_round(copies);
        }
        schedule
    }

    /// Appends a round with the next number. Sorts its operations into the grammar's order;
    /// operations of one kind keep their order.
    pub fn push_round(&mut self, ops: impl IntoIterator<Item = Op>) {
        self.push_round_at(self.numbers.last().map_or(0, |n| n + 1), ops);
    }

    /// Appends a round with a given number, which must be higher than all before. Otherwise like
    /// `push_round`.
    ///
    /// # Panics
    /// If it is not higher.
    pub fn push_round_at(&mut self, number: u32, ops: impl IntoIterator<Item = Op>) {
        assert!(self.numbers.last().is_none_or(|&last| last < number), "round {number} is not behind the others");
        self.numbers.push(number);
        let (begin, ops) = (self.ops.len(), ops.into_iter());
        self.ops.reserve(ops.size_hint().1.unwrap_or(0));
        self.ops.extend(ops);
        self.ops[begin..].sort_by_key(Op::phase);
        for op in &self.ops[begin..] {
            if let Op::Recv { into, .. } | Op::Copy { into, .. } | Op::Reduce { into, .. } = op
                && let Block::Scratch(k) = into
            {
                self.scratch = self.scratch.max(k + 1);
            }
        }
        self.ends.push(to_u32(self.ops.len()));
    }

    /// Appends a packet with the next number.
    pub fn push_packet(&mut self, blocks: impl IntoIterator<Item = Block>) {
        for block in blocks {
            if let Block::Scratch(k) = block {
                self.scratch = self.scratch.max(k + 1);
            }
            self.contents.push(block);
        }
        self.packets.push(to_u32(self.contents.len()));
    }

    /// Number of packets.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// The blocks of packet `k`.
    pub fn packet(&self, k: usize) -> &[Block] {
        let begin = if k == 0 { 0 } else { self.packets[k - 1] as usize };
        &self.contents[begin..self.packets[k] as usize]
    }

    /// Returns the schedule, which has packets, without the blocks that `lose` selects: nothing is
    /// sent for such an input block, and what arrives for such an output block is dropped. All
    /// messages remain, so that blocks of others are still forwarded.
    #[must_use]
    pub fn without(&self, lose: impl Fn(Block) -> bool) -> Schedule {
        let mut rest = self.clone();
        let (mut packets, mut scratch) = (to_u32(self.packets()), self.scratch);
        let mut replace = |block: &mut Block| {
            if !lose(*block) {
                return;
            }
            match *block {
                Block::Input(_) => {
                    *block = Block::Packet(packets);
                    packets += 1;
                }
                Block::Output(_) => {
                    *block = Block::Scratch(scratch);
                    scratch += 1;
                }
                Block::Scratch(_) | Block::Packet(_) => {}
            }
        };
        rest.contents.iter_mut().for_each(&mut replace);
        // a copy that loses one end loses both
        rest = rest.retained(|op| !matches!(*op, Op::Copy { from, into } if lose(from) || lose(into)));
        for op in &mut rest.ops {
            match op {
                Op::Send { block, .. } => replace(block),
                Op::Recv { into, .. } => replace(into),
                Op::Copy { .. } | Op::Reduce { .. } => {}
            }
        }
        rest.scratch = scratch;
        // the new packets are empty
        rest.packets.resize(packets as usize, to_u32(rest.contents.len()));
        rest
    }

    /// Sets whether a process ends each round, receives included, before it begins the next one; if
    /// not, rounds may overlap where nothing forbids it.
    #[must_use]
    pub fn with_strict_rounds(mut self, strict: bool) -> Schedule {
        self.strict = strict;
        self
    }

    /// True if a process ends each round before it begins the next one.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// The algorithm that built the schedule.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Number of stored rounds.
    pub fn rounds(&self) -> usize {
        self.ends.len()
    }

    /// Number of the r-th stored round.
    pub fn number(&self, r: usize) -> u32 {
        self.numbers[r]
    }

    /// Operations of the r-th stored round.
    pub fn round(&self, r: usize) -> &[Op] {
        let begin = if r == 0 { 0 } else { self.ends[r - 1] as usize };
        &self.ops[begin..self.ends[r] as usize]
    }

    /// Returns the schedule without the operations that `keep` rejects. Either both ends of a
    /// message must be rejected, or neither.
    #[must_use]
    pub fn retained(&self, mut keep: impl FnMut(&Op) -> bool) -> Schedule {
        let (contents, packets, homes) = (self.contents.clone(), self.packets.clone(), self.homes.clone());
        let mut rest = Schedule { contents, packets, homes, strict: self.strict, ..Schedule::new(self.algorithm) };
        for r in 0..self.rounds() {
            let ops: Vec<Op> = self.round(r).iter().copied().filter(&mut keep).collect();
            rest.push_round_at(self.number(r), ops);
        }
        rest
    }

    /// All operations, in the order of rounds.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// For each entry of the source list that receives something, in no particular order, the block
    /// that receives it: its output block, or in a folded schedule the block that replaces it.
    pub fn homes(&self) -> Vec<(u32, Block)> {
        let output = |block: Block| if let Block::Output(entry) = block { Some((entry, block)) } else { None };
        match &self.homes {
            Some(homes) => (0..).zip(homes).filter_map(|(entry, home)| Some((entry, (*home)?))).collect(),
            None => {
                let written = self.ops.iter().filter_map(|op| match *op {
                    Op::Recv { into, .. } | Op::Copy { into, .. } => Some(into),
                    Op::Send { .. } | Op::Reduce { .. } => None,
                });
                written.chain(self.contents.iter().copied()).filter_map(output).collect()
            }
        }
    }

    /// Number of scratch blocks.
    pub fn scratch_blocks(&self) -> u32 {
        self.scratch
    }

    /// Number of messages sent.
    pub fn messages(&self) -> usize {
        (self.ops.iter()).filter(|op| matches!(op, Op::Send { .. })).count()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for r in 0..self.rounds() {
            write!(f, "round {}:", self.number(r))?;
            for op in self.round(r) {
                match op {
                    Op::Recv { from, into, part } => write!(f, " recv {into:?}{part} from {from};")?,
                    Op::Send { to, block, part } => write!(f, " send {block:?}{part} to {to};")?,
                    Op::Copy { from, into } => write!(f, " copy {from:?} into {into:?};")?,
                    Op::Reduce { from, into } => write!(f, " reduce {from:?} into {into:?};")?,
                }
            }
            writeln!(f)?;
        }
        for k in 0..self.packets() {
            writeln!(f, "packet {k}: {:?}", self.packet(k))?;
        }
        Ok(())
    }
}

/// The algorithms that build schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// `direct`: everything at once.
    Direct,
    /// `dimension_order`: Cartesian rounds of send and receive, heavier dimensions first.
    DimensionOrder,
    /// `linear_permutation`: in round `k` each process exchanges with the processes `k` ranks away.
    LinearPermutation,
    /// `random_rounds`: rounds filled from a random process on, longest messages first, long ones
    /// cut.
    RandomRounds,
    /// `edge_coloring`: as few rounds as the largest degree, heavy edges together, long messages
    /// cut where that pays.
    EdgeColoring,
    /// `distributed_coloring`: an edge coloring that neighbors negotiate; no process knows the
    /// graph.
    DistributedColoring,
    /// `scatter_binomial`: from one process to the others along a binomial tree.
    ScatterBinomial,
    /// `scatter_optimal`: from one process to the others along the tree that is fastest under
    /// LogGP.
    ScatterOptimal,
    /// `combining`: blocks travel along the dimensions of a grid; those with the same next step
    /// share a message.
    Combining,
    /// `node_aware`: blocks are gathered on each node, cross in one message per pair of nodes, and
    /// are distributed there.
    NodeAware,
}

/// Copies that serve the edges of a process to itself.
pub(super) fn self_copies(n: &Neighborhood) -> Vec<Op> {
    (n.self_edges().into_iter())
        .map(|(target, source)| Op::Copy { from: Block::Input(target), into: Block::Output(source) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_sorted_into_the_grammar() {
        let mut s = Schedule::new(Algorithm::Direct);
        let (a, b) = (Block::Input(0), Block::Output(0));
        s.push_round([Op::Copy { from: a, into: b }, Op::send(1, a), Op::recv(2, Block::Scratch(4))]);
        let phases: Vec<u8> = s.round(0).iter().map(Op::phase).collect();
        assert_eq!(phases, [0, 1, 2]);
        assert_eq!(s.scratch_blocks(), 5);
        assert_eq!(s.messages(), 1);
        assert_eq!(s.to_string(), "round 0: recv Scratch(4) from 2; send Input(0) to 1; copy Input(0) into Output(0);\n");
    }
}
