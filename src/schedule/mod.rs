//! What a schedule is: rounds of symbolic operations of one process.
//!
//! A schedule names blocks and neighbors, never a pointer, datatype, count, tag, communicator or
//! request. The same schedule serves gather and alltoall, regular or vector, with any buffers, any
//! number of times; [`Schedule::folded`] makes the one for reduce. It can be checked ([`verify`]),
//! printed, and run for thousands of processes inside one.
//!
//! # Grammar
//! A schedule is a sequence of rounds; a round is a sequence of operations in the order `Recv*
//! Send* Copy* Reduce*`. An executor posts a round's receives, starts its sends, does its copies,
//! completes all of them, does its reductions, and only then begins the next round. Consequences
//! that every builder keeps and `verify` checks:
//! - no block is read in the round in which a receive or copy writes it, except by that round's
//!   reductions;
//! - messages between two processes meet in the order in which they stand: n-th send to, n-th
//!   receive from, in the same round.
//!
//! Blocks: `Input(i)` is what goes to target slot `i` (for gather the one block that goes to all),
//! `Output(j)` what comes from source slot `j` (for a folded schedule `Output(0)` is the result),
//! `Scratch(k)` belongs to the executor.
//!
//! # Packets
//! `Packet(k)` is a message of several blocks; the schedule lists them. One that is sent lists
//! input blocks, scratch blocks that came in earlier rounds, and packets of higher numbers; one
//! that is received lists output and scratch blocks, as many as were put in. In such schedules a
//! scratch block is bytes of a length that comes with them, and may be a packet for someone else;
//! it can be sent by itself and in packets, any number of times. A packet is received, sent, or in
//! another one, once. So a process passes on blocks whose number, lengths and receivers it does not
//! know, and puts those together that came from several. Packets are sent and received whole. A
//! schedule with packets is not folded.
//!
//! Blocks in a packet that have one content, such as a gather's input blocks, cost their bytes once
//! where they stand one behind the other.

#![forbid(unsafe_code)]

use std::fmt;

use crate::topology::cartesian::Grid;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;

mod algorithms;
mod costs;
mod fold;
#[cfg(any(test, feature = "mpi"))]
pub(crate) mod overlap;
#[cfg(any(test, feature = "mpi"))]
pub(crate) mod packet;
mod part;
pub mod plan;
#[cfg(test)]
mod properties;
mod scatter;
pub mod verify;
#[cfg(test)]
mod world;

use algorithms::{combining, dimension_order, direct, edge_coloring, linear_permutation, scatter_binomial, scatter_optimal};

pub use algorithms::combining::Stencil;
pub use algorithms::distributed_coloring::{self, Negotiation};
pub use algorithms::{node_aware, random_rounds};
pub use costs::{Costs, length};
pub use fold::FoldOrder;
pub use part::Part;
pub use plan::Plan;
pub use scatter::Star;

/// Where a block lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Block {
    /// Block for target slot `i` of the caller's send buffer.
    Input(u32),
    /// Block of source slot `j` of the caller's receive buffer.
    Output(u32),
    /// Temporary block `k`, laid out as an output block; in a schedule with packets bytes of any
    /// length.
    Scratch(u32),
    /// Packet `k`: the blocks that the schedule lists for it.
    Packet(u32),
}

impl Block {
    /// Its number among the blocks of its kind.
    pub fn slot(self) -> usize {
        match self {
            Block::Input(slot) | Block::Output(slot) | Block::Scratch(slot) | Block::Packet(slot) => slot as usize,
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
        /// Where it goes.
        into: Block,
        /// How much of the block.
        part: Part,
    },
    /// Send a block to a process.
    Send {
        /// Receiver.
        to: Rank,
        /// What goes.
        block: Block,
        /// How much of the block.
        part: Part,
    },
    /// Copy a block within the process.
    Copy {
        /// What is read.
        from: Block,
        /// Where it goes.
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

    /// Position of this kind of operation in a round.
    fn phase(&self) -> u8 {
        match self {
            Op::Recv { .. } => 0,
            Op::Send { .. } => 1,
            Op::Copy { .. } => 2,
            Op::Reduce { .. } => 3,
        }
    }
}

/// All rounds of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    algorithm: Algorithm,
    ops: Vec<Op>,
    /// `ends[r]`: index in `ops` behind the last operation of the r-th round that is stored.
    ends: Vec<u32>,
    /// Their numbers, ascending.
    numbers: Vec<u32>,
    scratch: u32,
    /// The blocks of all packets, one behind the other.
    contents: Vec<Block>,
    /// `packets[k]`: index in `contents` behind the last block of packet `k`.
    packets: Vec<u32>,
    /// In a folded schedule for each source slot where its block is received; `None` where nothing
    /// is.
    homes: Option<Vec<Option<Block>>>,
}

impl Schedule {
    /// An empty schedule to which rounds are added.
    pub fn new(algorithm: Algorithm) -> Self {
        Schedule {
            algorithm,
            ops: Vec::new(),
            ends: Vec::new(),
            numbers: Vec::new(),
            scratch: 0,
            contents: Vec::new(),
            packets: Vec::new(),
            homes: None,
        }
    }

    /// A schedule of operations with the numbers of their rounds; those of a round keep their
    /// order. `copies` are done while the messages of the first round travel, or in a round of
    /// their own where there are no messages.
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

    /// Adds a round, with the next number. Sorts its operations into the grammar's order; within a
    /// kind they keep their order.
    pub fn push_round(&mut self, ops: impl IntoIterator<Item = Op>) {
        self.push_round_at(self.numbers.last().map_or(0, |n| n + 1), ops);
    }

    /// Adds a round with a number higher than all before. Otherwise as `push_round`.
    pub fn push_round_at(&mut self, number: u32, ops: impl IntoIterator<Item = Op>) {
        assert!(self.numbers.last().is_none_or(|&last| last < number), "round {number} is not behind the others");
        self.numbers.push(number);
        let begin = self.ops.len();
        self.ops.extend(ops);
        self.ops[begin..].sort_by_key(Op::phase);
        for op in &self.ops[begin..] {
            if let Op::Recv { into, .. } | Op::Copy { into, .. } | Op::Reduce { into, .. } = op
                && let Block::Scratch(k) = into
            {
                self.scratch = self.scratch.max(k + 1);
            }
        }
        self.ends.push(self.ops.len() as u32);
    }

    /// Adds a packet, with the next number.
    pub fn push_packet(&mut self, blocks: impl IntoIterator<Item = Block>) {
        for block in blocks {
            if let Block::Scratch(k) = block {
                self.scratch = self.scratch.max(k + 1);
            }
            self.contents.push(block);
        }
        self.packets.push(self.contents.len() as u32);
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

    /// A schedule with packets in which the blocks that `lose` names are not looked at: instead of
    /// input blocks nothing is sent, and what comes for output blocks is dropped. All messages
    /// stay, so that those who pass on others' blocks do so.
    pub fn without(&self, lose: impl Fn(Block) -> bool) -> Schedule {
        let mut rest = self.clone();
        let (mut packets, mut scratch) = (self.packets() as u32, self.scratch);
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
        // a copy that loses one of its ends loses both
        rest = rest.retained(|op| !matches!(*op, Op::Copy { from, into } if lose(from) || lose(into)));
        for op in &mut rest.ops {
            match op {
                Op::Send { block, .. } => replace(block),
                Op::Recv { into, .. } => replace(into),
                Op::Copy { .. } | Op::Reduce { .. } => {}
            }
        }
        rest.scratch = scratch;
        // the new ones are empty
        rest.packets.resize(packets as usize, rest.contents.len() as u32);
        rest
    }

    /// Which algorithm built it.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Number of rounds that are stored.
    pub fn rounds(&self) -> usize {
        self.ends.len()
    }

    /// Number of the r-th round that is stored.
    pub fn number(&self, r: usize) -> u32 {
        self.numbers[r]
    }

    /// Operations of the r-th round that is stored.
    pub fn round(&self, r: usize) -> &[Op] {
        let begin = if r == 0 { 0 } else { self.ends[r - 1] as usize };
        &self.ops[begin..self.ends[r] as usize]
    }

    /// The same schedule without the operations that `keep` refuses. Both ends of a message must be
    /// refused, or none.
    pub fn retained(&self, mut keep: impl FnMut(&Op) -> bool) -> Schedule {
        let (contents, packets, homes) = (self.contents.clone(), self.packets.clone(), self.homes.clone());
        let mut rest = Schedule { contents, packets, homes, ..Schedule::new(self.algorithm) };
        for r in 0..self.rounds() {
            let ops: Vec<Op> = self.round(r).iter().copied().filter(&mut keep).collect();
            rest.push_round_at(self.number(r), ops);
        }
        rest
    }

    /// All operations, round after round.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// For each source slot for which something comes, in no order, where that is received: its
    /// output block, or in a folded schedule what stands for that.
    pub fn homes(&self) -> Vec<(u32, Block)> {
        let output = |block: Block| if let Block::Output(slot) = block { Some((slot, block)) } else { None };
        match &self.homes {
            Some(homes) => (0..).zip(homes).filter_map(|(slot, home)| Some((slot, (*home)?))).collect(),
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

/// What algorithms are built from that need only a process's own lists.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The process's own lists.
    pub neighborhood: &'a Neighborhood,
    /// Number of processes.
    pub processes: u32,
    /// Where all edges of all processes have directions: the directions, heaviest first, equal on
    /// all processes.
    pub directions: Option<&'a [u32]>,
    /// Where one process sends and all others receive from it at most, and forwarding is promised
    /// to be right: that star, equal on all processes.
    pub star: Option<&'a Star>,
    /// Where all processes of a Cartesian communicator have neighbors at the same offsets, and that
    /// has been looked for: these, equal on all processes.
    pub stencil: Option<&'a Stencil>,
}

/// The collective operations that a schedule is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// `MPIX_Neighbor_gather`, `gatherv`
    pub gather: bool,
    /// `MPIX_Neighbor_alltoall`, `alltoallv`, `alltoallw`
    pub alltoall: bool,
    /// `MPIX_Neighbor_reduce`, `reducev`
    pub reduce: bool,
}

/// What the caller or the model say about how to build; equal on all processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Where choices are drawn, they are drawn from this.
    pub seed: u64,
    /// What a message costs beyond its bytes, in units of weight (tau / phi in IrregPC): splitting
    /// pays where it is small.
    pub startup: f64,
    /// Whether messages may be split.
    pub split: bool,
    /// Whether a process sends or receives at a time, not both.
    pub half_duplex: bool,
    /// Elementary steps that a search for better rounds may take; about 10^9 a second.
    pub budget: u64,
    /// What messages cost, for trees.
    pub costs: Costs,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { seed: 1, startup: 4096.0, split: true, half_duplex: false, budget: 1 << 25, costs: Costs::default() }
    }
}

/// The algorithms that build schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// `direct`: everything at once.
    Direct,
    /// `dimension_order`: Cartesian rounds of send and receive, heavier dimensions first.
    DimensionOrder,
    /// `linear_permutation`: in round `k` each process meets the one `k` away.
    LinearPermutation,
    /// `random_rounds`: rounds begun at a random process, longest messages first, long ones cut.
    RandomRounds,
    /// `edge_coloring`: as few rounds as the largest degree, heavy edges together, long messages
    /// cut where that pays.
    EdgeColoring,
    /// `distributed_coloring`: edge coloring that neighbors negotiate; no process knows the graph.
    DistributedColoring,
    /// `scatter_binomial`: from one process to others along a binomial tree.
    ScatterBinomial,
    /// `scatter_optimal`: from one process to others along the tree that is fastest by LogGP.
    ScatterOptimal,
    /// `combining`: blocks travel along the dimensions of a grid, those of one way in one message.
    Combining,
    /// `node_aware`: gathered on each node, one message between two nodes, handed out there.
    NodeAware,
}

/// What each process makes its schedule of: words of all processes, one behind the other, and the
/// number of words of each.
pub type Shares = (Vec<u32>, Vec<u32>);

/// How an algorithm comes to a schedule.
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// From the process's own lists.
    Local(fn(&Input) -> Schedule),
    /// From the graph of all processes: one makes a plan, of which each gets its share.
    Global(fn(&Graph, &Tuning) -> Plan),
    /// By messages between neighbors: each process makes its [`Negotiation`] and takes its steps.
    Negotiated(fn(&Input, &Tuning) -> Negotiation),
    /// From a [`Star`]: for each number of processes whose blocks one process has, its own among
    /// them, of how many it sends the blocks away first. Arguments: the number of processes, the
    /// weight of one's block, and what messages cost.
    Scatter(fn(u32, f64, &Costs) -> Vec<u32>),
    /// From the process's own lists and the [`Stencil`] of all processes.
    Stencil(fn(&Input) -> Schedule),
    /// From the graph of all processes and their nodes: one makes the shares of all.
    Nodes(fn(&Graph, &Locality, &Tuning) -> Shares),
}

/// What the table of algorithms says about one.
pub struct Entry {
    /// Which.
    pub algorithm: Algorithm,
    /// Its name in hints, logs, tests and benches; the stem of its file.
    pub name: &'static str,
    /// Whether each process has at most one message in and one out in a round.
    pub single_port: bool,
    /// Why it cannot be used for an input; `None` if it can. Depends only on what is equal on all
    /// processes.
    pub unfit: fn(&Input) -> Option<&'static str>,
    /// Builds.
    pub build: Build,
}

impl Entry {
    /// Whether blocks travel through processes that are neither their source nor their target. Such
    /// schedules have packets. They need the caller's promise that all processes call, unless those
    /// on a block's way are neighbors of its source.
    pub fn forwards(&self) -> bool {
        matches!(self.build, Build::Scatter(_) | Build::Stencil(_) | Build::Nodes(_))
    }

    /// Why its schedules cannot serve all of these operations; `None` if they can.
    pub fn unserved(&self, operations: Operations) -> Option<&'static str> {
        match self.build {
            Build::Scatter(_) if operations.gather || operations.reduce => {
                Some("it serves MPIX_NEIGHBOR_ALLTOALL only: set the other operations by another call")
            }
            Build::Stencil(_) | Build::Nodes(_) if operations.reduce => {
                Some("it serves MPIX_NEIGHBOR_GATHER and MPIX_NEIGHBOR_ALLTOALL only: set MPIX_NEIGHBOR_REDUCE by another call")
            }
            _ => None,
        }
    }

    /// Whether the schedules of all processes have one round at the most.
    pub fn one_round(&self) -> bool {
        self.algorithm == Algorithm::Direct
    }
}

/// Fits everything.
fn fit(_: &Input) -> Option<&'static str> {
    None
}

/// All algorithms. Hints, dispatch, tests and benches derive from this table.
pub static ALGORITHMS: [Entry; 10] = [
    Entry { algorithm: Algorithm::Direct, name: "direct", single_port: false, unfit: fit, build: Build::Local(direct::build) },
    Entry {
        algorithm: Algorithm::DimensionOrder,
        name: "dimension_order",
        single_port: true,
        unfit: dimension_order::unfit,
        build: Build::Local(dimension_order::build),
    },
    Entry {
        algorithm: Algorithm::LinearPermutation,
        name: "linear_permutation",
        single_port: true,
        unfit: fit,
        build: Build::Local(linear_permutation::build),
    },
    Entry {
        algorithm: Algorithm::RandomRounds,
        name: "random_rounds",
        single_port: true,
        unfit: fit,
        build: Build::Global(random_rounds::plan),
    },
    Entry {
        algorithm: Algorithm::EdgeColoring,
        name: "edge_coloring",
        single_port: true,
        unfit: fit,
        build: Build::Global(edge_coloring::plan),
    },
    Entry {
        algorithm: Algorithm::DistributedColoring,
        name: "distributed_coloring",
        single_port: true,
        unfit: fit,
        build: Build::Negotiated(Negotiation::new),
    },
    Entry {
        algorithm: Algorithm::ScatterBinomial,
        name: "scatter_binomial",
        single_port: true,
        unfit: scatter::unfit,
        build: Build::Scatter(scatter_binomial::splits),
    },
    Entry {
        algorithm: Algorithm::ScatterOptimal,
        name: "scatter_optimal",
        single_port: true,
        unfit: scatter::unfit,
        build: Build::Scatter(scatter_optimal::splits),
    },
    Entry {
        algorithm: Algorithm::Combining,
        name: "combining",
        single_port: false,
        unfit: combining::unfit,
        build: Build::Stencil(combining::build),
    },
    Entry {
        algorithm: Algorithm::NodeAware,
        name: "node_aware",
        single_port: false,
        unfit: fit,
        build: Build::Nodes(node_aware::shares),
    },
];

/// The schedules of all processes by one algorithm; `world` in the order of ranks. For tests, the
/// model and the command-line tool: what a communicator's processes do together when a neighborhood
/// is set.
///
/// # Errors
/// Why the algorithm cannot be used.
pub fn world_schedules(
    algorithm: Algorithm,
    world: &[Neighborhood],
    directions: Option<&[u32]>,
    tuning: &Tuning,
) -> Result<Vec<Schedule>, &'static str> {
    world_schedules_on(algorithm, world, None, directions, tuning)
}

/// The same for the processes of a grid.
///
/// # Errors
/// Why the algorithm cannot be used.
pub fn world_schedules_on(
    algorithm: Algorithm,
    world: &[Neighborhood],
    grid: Option<&Grid>,
    directions: Option<&[u32]>,
    tuning: &Tuning,
) -> Result<Vec<Schedule>, &'static str> {
    let processes = world.len() as u32;
    let entry = algorithm.entry();
    let star = if let Build::Scatter(_) = entry.build { Star::find(world) } else { None };
    let stencil = if let Build::Stencil(_) = entry.build { grid.and_then(|grid| Stencil::find(grid, world)) } else { None };
    let input = |neighborhood| Input { neighborhood, processes, directions, star: star.as_ref(), stencil: stencil.as_ref() };
    if let Some(reason) = world.iter().find_map(|n| (entry.unfit)(&input(n))) {
        return Err(reason);
    }
    Ok(match entry.build {
        Build::Local(build) | Build::Stencil(build) => world.iter().map(|n| build(&input(n))).collect(),
        Build::Global(plan) => {
            let graph = Graph::from_neighborhoods(world);
            plan(&graph, tuning).schedules(&graph, world)
        }
        Build::Negotiated(begin) => distributed_coloring::negotiate(world.iter().map(|n| begin(&input(n), tuning)).collect()).0,
        Build::Scatter(splits) => {
            let splits = star.as_ref().map(|star| star.splits(splits, tuning)).unwrap_or_default();
            world.iter().map(|n| scatter::schedule(algorithm, &input(n), &splits)).collect()
        }
        Build::Nodes(_) => return Err("it needs to know which processes share a node"),
    })
}

/// The schedules of all processes by `node_aware`; `world` in the order of ranks. As
/// [`world_schedules`].
pub fn schedules_on_nodes(world: &[Neighborhood], nodes: &Locality, tuning: &Tuning) -> Vec<Schedule> {
    let (shares, words) = node_aware::shares(&Graph::from_neighborhoods(world), nodes, tuning);
    let mut rest = &shares[..];
    (world.iter().zip(words))
        .map(|(n, words)| {
            let (share, others) = rest.split_at(words as usize);
            rest = others;
            node_aware::schedule(n, share)
        })
        .collect()
}

/// The schedule of one process along the tree that `rule` makes of the input's star.
pub fn scatter(algorithm: Algorithm, rule: fn(u32, f64, &Costs) -> Vec<u32>, input: &Input, tuning: &Tuning) -> Schedule {
    let splits = input.star.map(|star| star.splits(rule, tuning)).unwrap_or_default();
    scatter::schedule(algorithm, input, &splits)
}

impl Algorithm {
    /// Its line in the table.
    pub fn entry(self) -> &'static Entry {
        &ALGORITHMS[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

/// The copies that serve a process's edges to itself.
fn self_copies(n: &Neighborhood) -> Vec<Op> {
    (n.self_edges().into_iter())
        .map(|(target, source)| Op::Copy { from: Block::Input(target), into: Block::Output(source) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_indexed_by_algorithm_and_names_are_file_stems() {
        for (i, e) in ALGORITHMS.iter().enumerate() {
            assert_eq!(e.algorithm as usize, i);
            let file = format!("{}/src/schedule/{}.rs", env!("CARGO_MANIFEST_DIR"), e.name);
            assert!(std::path::Path::new(&file).exists(), "{file}");
        }
    }

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
