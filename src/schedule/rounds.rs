//! Rounds of a whole graph: the round in which each edge is served, whole or in pieces.
//!
//! Algorithms that need the whole graph run on one process, which sends each process its *share*,
//! from which that process builds its schedule.
//!
//! A share is a list of steps of five words: round, edge, begin, end, denominator. Edges of a
//! process are counted from 0 in each direction: outgoing edges in matching order, incoming edges
//! by source and, for one source, in matching order. The edge word is twice that number, plus one
//! for incoming edges.

use super::grammar::{Algorithm, Block, Op, Schedule};
use super::part::Part;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;
use crate::util::cast::to_u32;

/// The shares of all processes, concatenated, and the number of words of each.
pub type Shares = (Vec<u32>, Vec<u32>);

/// A piece of an edge's block, and the round in which it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The edge's number in the graph.
    pub edge: u32,
    /// Round, from 0.
    pub round: u32,
    /// Where it begins, in units of weight.
    pub begin: u32,
    /// Where it ends, in the same units.
    pub end: u32,
}

impl Piece {
    /// Its length in units of weight.
    pub fn length(&self) -> u32 {
        self.end - self.begin
    }
}

/// The rounds of a whole graph. Memory: 16 bytes per piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// The algorithm that built them.
    pub algorithm: Algorithm,
    /// Number of rounds.
    pub count: u32,
    /// All pieces, in any order. The pieces of an edge cover it exactly once. Only the piece of an
    /// edge of length 0 is empty, or of one that [`Rounds::between_nodes`] leaves out.
    pub pieces: Vec<Piece>,
}

impl Rounds {
    /// Creates rounds in which no edge is cut: `rounds_of[e]` is the round of edge `e`.
    pub fn uncut(algorithm: Algorithm, graph: &Graph, rounds_of: &[u32]) -> Rounds {
        let count = rounds_of.iter().max().map_or(0, |r| r + 1);
        let pieces = (rounds_of.iter().enumerate())
            .map(|(e, &round)| Piece { edge: to_u32(e), round, begin: 0, end: graph.weight(e) })
            .collect();
        Rounds { algorithm, count, pieces }
    }

    /// Creates rounds for the edges between nodes, as `build` orders them. Those within a node,
    /// which memory that its processes share is to serve, cost nothing: they are whole in round 0,
    /// in case that there is no such memory.
    pub fn between_nodes(graph: &Graph, nodes: &Locality, build: impl FnOnce(&Graph) -> Rounds) -> Rounds {
        let (far, numbers) = far_edges(graph, nodes);
        let mut rounds = build(&far);
        for piece in &mut rounds.pieces {
            piece.edge = numbers[piece.edge as usize];
        }
        let mut next = numbers.iter().peekable();
        let near = (0..to_u32(graph.edges())).filter(|e| next.next_if_eq(&e).is_none());
        let before = rounds.pieces.len();
        rounds.pieces.extend(near.map(|edge| Piece { edge, round: 0, begin: 0, end: 0 }));
        rounds.count = rounds.count.max(u32::from(rounds.pieces.len() > before));
        rounds
    }

    /// Length of the longest piece of each round, in units of weight.
    pub fn longest(&self) -> Vec<f64> {
        let mut longest = vec![0u32; self.count as usize];
        for p in &self.pieces {
            let l = &mut longest[p.round as usize];
            *l = p.length().max(*l);
        }
        longest.into_iter().map(f64::from).collect()
    }

    /// IrregPC's cost: the sum over all rounds of the startup and the longest message, both in
    /// units of weight.
    pub fn cost(&self, startup: f64) -> f64 {
        self.longest().into_iter().map(|l| startup + l).sum()
    }

    /// Returns the shares of all processes. Memory: 40 bytes per piece, 8 per edge.
    ///
    /// # Panics
    /// If rounds have fewer pieces than edges: these would be lost without an error.
    pub fn shares(&self, graph: &Graph) -> Shares {
        assert!(self.pieces.len() >= graph.edges(), "rounds with {} pieces of {} edges", self.pieces.len(), graph.edges());
        let Ends { sources, arrivals } = Ends::of(graph);
        let ends = |p: &Piece| [sources[p.edge as usize] as usize, graph.target(p.edge as usize) as usize];
        let mut words = vec![0u32; graph.processes()];
        for process in self.pieces.iter().flat_map(ends) {
            words[process] += to_u32(STEP);
        }
        let mut next: Vec<usize> = words.iter().scan(0, |at, &w| Some(std::mem::replace(at, *at + w as usize))).collect();
        let mut shares = vec![0u32; 2 * STEP * self.pieces.len()];
        for piece in &self.pieces {
            let e = piece.edge as usize;
            let [source, target] = ends(piece);
            let departure = to_u32(e - graph.edges_of(to_u32(source)).start);
            for (process, edge) in [(source, 2 * departure), (target, 2 * arrivals[e] + 1)] {
                // what is empty, or left out, travels whole
                let step = match piece.length() {
                    0 => [piece.round, edge, 0, 1, 1],
                    _ => [piece.round, edge, piece.begin, piece.end, graph.weight(e)],
                };
                shares[next[process]..][..STEP].copy_from_slice(&step);
                next[process] += STEP;
            }
        }
        (shares, words)
    }

    /// Builds the schedules of all processes.
    pub fn schedules(&self, graph: &Graph, world: &[Neighborhood]) -> Vec<Schedule> {
        from_shares(self.shares(graph), world, |n, share| schedule(self.algorithm, n, share))
    }
}

/// Builds the schedules of all processes, each by its share of a plan.
pub fn from_shares(
    (shares, words): Shares,
    world: &[Neighborhood],
    build: impl Fn(&Neighborhood, &[u32]) -> Schedule,
) -> Vec<Schedule> {
    let mut rest = &shares[..];
    (world.iter().zip(words))
        .map(|(n, words)| {
            let (share, others) = rest.split_at(words as usize);
            rest = others;
            build(n, share)
        })
        .collect()
}

/// The edges between processes on different nodes, as a graph of all processes; and the number that
/// each of them has in `graph`.
pub fn far_edges(graph: &Graph, nodes: &Locality) -> (Graph, Vec<u32>) {
    let far = |&(_, (source, target, _)): &(u32, (Rank, Rank, u32))| !nodes.is_near(source, target);
    let (numbers, edges): (Vec<u32>, Vec<_>) = (0..).zip(graph.iter()).filter(far).unzip();
    (Graph::from_edges(to_u32(graph.processes()), &edges), numbers)
}

/// The ends of all edges, which are numbered by source and, for one source, in matching order.
pub struct Ends {
    /// The sources.
    pub sources: Vec<Rank>,
    /// Positions among the edges to the same target.
    pub arrivals: Vec<u32>,
}

impl Ends {
    /// Those of a graph. Memory: 8 bytes per edge.
    pub fn of(graph: &Graph) -> Ends {
        let mut arrived = vec![0u32; graph.processes()];
        let (mut sources, mut arrivals) = (Vec::with_capacity(graph.edges()), Vec::with_capacity(graph.edges()));
        for (source, target, _) in graph.iter() {
            sources.push(source);
            arrivals.push(arrived[target as usize]);
            arrived[target as usize] += 1;
        }
        Ends { sources, arrivals }
    }
}

/// The entries of a process's targets and sources that are other processes, with these, in the
/// order in which a share numbers them: the k-th edge from a source is the k-th entry of that
/// source.
pub fn edges_to_others(n: &Neighborhood) -> [Vec<(u32, Rank)>; 2] {
    let is_other = |edge: &(u32, Rank)| edge.1 != n.rank();
    let mut sources: Vec<(u32, Rank)> = n.sources_in_order().filter(is_other).collect();
    sources.sort_by_key(|source| source.1);
    [n.targets_in_order().filter(is_other).collect(), sources]
}

/// Words of a step.
const STEP: usize = 5;

/// Builds the schedule of a process from its share.
///
/// # Panics
/// If it is not the share of this process.
pub fn schedule(algorithm: Algorithm, n: &Neighborhood, share: &[u32]) -> Schedule {
    let [targets, sources] = edges_to_others(n);
    let ops: Vec<(u32, Op)> = (share.chunks_exact(STEP))
        .map(|step| {
            let part = Part::new(step[2], step[3], step[4]);
            let edge = step[1] as usize / 2;
            let op = if step[1] % 2 == 0 {
                let (entry, to) = targets[edge];
                Op::Send { to, block: Block::Input(entry), part }
            } else {
                let (entry, from) = sources[edge];
                Op::Recv { from, into: Block::Output(entry), part }
            };
            (step[0], op)
        })
        .collect();
    // messages of one round between two processes match in the order of the share
    Schedule::from_numbered(algorithm, ops, super::grammar::self_copies(n))
}

/// Lower bound of the cost of any rounds with one message in and one out at a time, in units of
/// weight: the largest sum, over all processes and both directions, of the weights and of a startup
/// for each message.
pub fn lower_bound(graph: &Graph, startup: f64) -> f64 {
    let (degrees, loads) = (graph.degrees(), graph.loads());
    let side = |degrees: &[u32], loads: &[u64]| {
        (degrees.iter().zip(loads)).map(|(&d, &w)| startup * f64::from(d) + w as f64).fold(0.0, f64::max)
    };
    side(&degrees.0, &loads.0).max(side(&degrees.1, &loads.1))
}

/// Ratio of a cost to its bound. It is 1 if both are 0, as for empty messages with free startup.
pub fn ratio(cost: f64, bound: f64) -> f64 {
    if cost == bound { 1.0 } else { cost / bound }
}

#[cfg(test)]
mod tests {
    use super::super::verify::{Goal, verify};
    use super::*;
    use crate::topology::neighborhood::Neighbor;

    /// One process sends to all others, and no other process may scan all of its edges: the time
    /// would be quadratic.
    #[test]
    fn schedules_of_a_star() {
        let n = 100_000;
        let graph = Graph::from_edges(n, &(1..n).map(|p| (0, p, 1)).collect::<Vec<_>>());
        let rounds = Rounds::uncut(Algorithm::Direct, &graph, &(0..n - 1).collect::<Vec<_>>());
        let schedules = rounds.schedules(&graph, &graph.neighborhoods());
        assert!(schedules[1..].iter().zip(0..).all(|(s, r)| s.rounds() == 1 && s.number(0) == r));
    }

    /// Two edges between the same two processes, one of them cut, and an edge back: each end finds
    /// its list entries.
    #[test]
    fn schedules_of_a_cut_plan() {
        let of = |ranks: &[Rank]| ranks.iter().map(|&rank| Neighbor { rank: Some(rank), weight: 4, direction: 0 }).collect();
        let lists = |p, sources: &[Rank], targets: &[Rank]| Neighborhood::new(p, of(sources), of(targets), true);
        let world = vec![lists(0, &[1, 0], &[1, 0, 1]), lists(1, &[0, 1, 0], &[1, 0])];
        let graph = Graph::from_neighborhoods(&world);
        assert_eq!(graph.edges(), 3);
        let piece = |edge, round, begin, end| Piece { edge, round, begin, end };
        let rounds = Rounds {
            algorithm: Algorithm::Direct,
            count: 3,
            pieces: vec![piece(1, 0, 0, 3), piece(0, 1, 0, 4), piece(1, 2, 3, 4), piece(2, 2, 0, 4)],
        };
        assert_eq!(rounds.longest(), [3.0, 4.0, 4.0]);
        assert_eq!(rounds.cost(2.0), 17.0);
        assert_eq!(lower_bound(&graph, 2.0), 12.0);
        let schedules = rounds.schedules(&graph, &world);
        verify(&world, &schedules, Goal::Deliver, true).unwrap();
        assert_eq!(
            schedules[1].to_string(),
            "round 0: recv Output(2)[0..3/4] from 0; copy Input(0) into Output(1);\n\
             round 1: recv Output(0) from 0;\n\
             round 2: recv Output(2)[3..4/4] from 0; send Input(1) to 0;\n"
        );
    }

    /// The rounds between nodes are those of the graph without the other edges; what shares memory
    /// is delivered too, if it has to go by messages.
    #[test]
    fn edges_within_nodes_take_no_rounds() {
        let all: Vec<_> = (0..8).flat_map(|s| (0..8).filter(move |&t| t != s).map(move |t| (s, t, 10 * s + t + 1))).collect();
        let graph = Graph::from_edges(8, &all);
        let nodes = Locality::from_names(&[0, 1, 0, 1, 0, 1, 0, 1]);
        let (far, numbers) = far_edges(&graph, &nodes);
        assert_eq!((far.edges(), numbers.len()), (32, 32));
        let build = |graph: &Graph| crate::schedule::random_rounds::build(graph, &crate::schedule::Tuning::default());
        let (expected, rounds) = (build(&far), Rounds::between_nodes(&graph, &nodes, build));
        assert_eq!((rounds.count, rounds.longest()), (expected.count, expected.longest()));
        let (served, rest) = rounds.pieces.split_at(expected.pieces.len());
        let same = |(a, b): (&Piece, &Piece)| *a == Piece { edge: numbers[b.edge as usize], ..*b };
        assert!(served.iter().zip(&expected.pieces).all(same));
        assert!(rest.len() == 24 && rest.iter().all(|p| p.round == 0 && p.length() == 0));
        let world = graph.neighborhoods();
        verify(&world, &rounds.schedules(&graph, &world), Goal::Deliver, false).unwrap();
        // all on one node, and each on its own
        let one = Rounds::between_nodes(&graph, &Locality::from_names(&[3; 8]), build);
        assert_eq!((one.count, one.pieces.len()), (1, 56));
        assert_eq!(Rounds::between_nodes(&graph, &Locality::from_names(&[0, 1, 2, 3, 4, 5, 6, 7]), build), build(&graph));
    }
}
