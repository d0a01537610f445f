//! A plan: in which round each edge of all processes' graph is served, whole or in pieces. What algorithms make that look at the whole
//! graph; each process takes its own schedule out of it.

use super::{Algorithm, Block, Op, Part, Schedule};
use crate::graph::Graph;
use crate::neighborhood::{Neighborhood, Rank};

/// Part of an edge's block, and the round in which it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Number of the edge in the graph.
    pub edge: u32,
    /// Round, from 0.
    pub round: u32,
    /// Where it begins and ends, in units of `1 / Plan::scale` of a unit of weight.
    pub begin: u32,
    /// See `begin`.
    pub end: u32,
}

impl Piece {
    /// Its length in units of `1 / Plan::scale` of a unit of weight.
    pub fn length(&self) -> u32 {
        self.end - self.begin
    }
}

/// The rounds of a whole graph. Memory: 16 bytes a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which algorithm made it.
    pub algorithm: Algorithm,
    /// Number of rounds.
    pub rounds: u32,
    /// Units of length to a unit of weight. An edge of weight `w` is `max(w, 1) * scale` long.
    pub scale: u32,
    /// All pieces, in any order. The pieces of an edge cover it once.
    pub pieces: Vec<Piece>,
}

impl Plan {
    /// A plan in which no edge is cut: `rounds_of[e]` is the round of edge `e`.
    pub fn uncut(algorithm: Algorithm, graph: &Graph, rounds_of: &[u32]) -> Plan {
        let rounds = rounds_of.iter().max().map_or(0, |r| r + 1);
        let pieces = (rounds_of.iter().enumerate())
            .map(|(e, &round)| Piece { edge: e as u32, round, begin: 0, end: length(graph, e, 1) })
            .collect();
        Plan { algorithm, rounds, scale: 1, pieces }
    }

    /// Length of an edge.
    pub fn length(&self, graph: &Graph, edge: usize) -> u32 {
        length(graph, edge, self.scale)
    }

    /// The longest piece of each round, in units of weight.
    pub fn longest(&self) -> Vec<f64> {
        let mut longest = vec![0u32; self.rounds as usize];
        for p in &self.pieces {
            let l = &mut longest[p.round as usize];
            *l = p.length().max(*l);
        }
        longest.into_iter().map(|l| f64::from(l) / f64::from(self.scale)).collect()
    }

    /// IrregPC's cost: the sum over rounds of what a round costs to begin and the longest message in it; both in units of weight.
    pub fn cost(&self, startup: f64) -> f64 {
        self.longest().into_iter().map(|l| startup + l).sum()
    }

    /// The schedules of all processes.
    pub fn schedules(&self, graph: &Graph, world: &[Neighborhood]) -> Vec<Schedule> {
        let mut ends: Vec<Vec<Piece>> = vec![Vec::new(); graph.processes()];
        let sources: Vec<Rank> = graph.iter().map(|e| e.0).collect();
        for p in &self.pieces {
            ends[sources[p.edge as usize] as usize].push(*p);
            ends[graph.target(p.edge as usize) as usize].push(*p);
        }
        world.iter().zip(ends).map(|(n, pieces)| self.take(graph, n, &pieces)).collect()
    }

    /// The schedule of one process.
    ///
    /// Cost: one look at each piece.
    pub fn schedule(&self, graph: &Graph, n: &Neighborhood) -> Schedule {
        self.take(graph, n, &self.pieces)
    }

    /// The schedule of one process; its pieces are among `pieces`.
    fn take(&self, graph: &Graph, n: &Neighborhood, pieces: &[Piece]) -> Schedule {
        let me = n.rank();
        // edges to this process: the k-th from a source is the k-th time that this process lists the source
        let mut sources: Vec<(Rank, u32)> =
            (n.sources_in_order().into_iter()).filter(|&(_, from)| from != me).map(|(slot, from)| (from, slot)).collect();
        sources.sort_by_key(|s| s.0);
        let targets: Vec<u32> = (n.targets_in_order().into_iter()).filter(|&(_, to)| to != me).map(|(slot, _)| slot).collect();
        let mine = graph.edges_of(me);
        // incoming edges in the order of their numbers: by source, and for each source in matching order, as are the sources
        let mut incoming: Vec<u32> = pieces.iter().map(|p| p.edge).filter(|&e| graph.target(e as usize) == me).collect();
        incoming.sort_unstable();
        incoming.dedup();
        let mut ops: Vec<(u32, Op)> = Vec::with_capacity(targets.len() + sources.len());
        for p in pieces {
            let e = p.edge as usize;
            let part = || Part::new(p.begin, p.end, self.length(graph, e));
            if mine.contains(&e) {
                let block = Block::Input(targets[e - mine.start]);
                ops.push((p.round, Op::Send { to: graph.target(e), block, part: part() }));
            } else if graph.target(e) == me
                && let Ok(i) = incoming.binary_search(&p.edge)
                && let Some(&(from, slot)) = sources.get(i)
            {
                ops.push((p.round, Op::Recv { from, into: Block::Output(slot), part: part() }));
            }
        }
        // messages between two processes meet in the order in which they stand: within a round that of the edges
        ops.sort_by_key(|o| o.0);
        let mut copies = super::self_copies(n);
        let mut schedule = Schedule::new(self.algorithm);
        for round in ops.chunk_by(|a, b| a.0 == b.0) {
            schedule.push_round_at(round[0].0, round.iter().map(|o| o.1).chain(std::mem::take(&mut copies)));
        }
        if !copies.is_empty() {
            schedule.push_round(copies);
        }
        schedule
    }

    /// A number that, but for a chance of about 2^-64, differs where plans differ.
    pub fn fingerprint(&self) -> u64 {
        let mix = |h: u64, v: u64| (h ^ v).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let start = mix(mix(u64::from(self.rounds), u64::from(self.scale)), self.algorithm as u64);
        self.pieces.iter().fold(start, |h, p| {
            mix(mix(h, u64::from(p.edge) << 32 | u64::from(p.round)), u64::from(p.begin) << 32 | u64::from(p.end))
        })
    }
}

/// Length of an edge; an edge without weight still carries a message.
fn length(graph: &Graph, edge: usize, scale: u32) -> u32 {
    graph.weight(edge).max(1) * scale
}

/// The cost that no plan with one message in and one out at a time is below: the largest, over all processes and both sides, of a startup
/// for each message and their weights. In units of weight.
pub fn lower_bound(graph: &Graph, startup: f64) -> f64 {
    let (degrees, loads) = (graph.degrees(), graph.loads());
    let side = |degrees: &[u32], loads: &[u64]| {
        (degrees.iter().zip(loads)).map(|(&d, &w)| startup * f64::from(d) + w as f64).fold(0.0, f64::max)
    };
    side(&degrees.0, &loads.0).max(side(&degrees.1, &loads.1))
}

#[cfg(test)]
mod tests {
    use super::super::verify::{Goal, verify};
    use super::*;

    /// One process that sends to all others: each of them must not look at all of its edges. Without that, time grows with the square of its edges.
    #[test]
    fn schedules_of_a_star() {
        let n = 100_000;
        let graph = Graph::from_edges(n, &(1..n).map(|p| (0, p, 1)).collect::<Vec<_>>());
        let plan = Plan::uncut(Algorithm::Direct, &graph, &(0..n - 1).collect::<Vec<_>>());
        let schedules = plan.schedules(&graph, &graph.neighborhoods());
        assert!(schedules[1..].iter().zip(0..).all(|(s, r)| s.rounds() == 1 && s.number(0) == r));
    }

    /// Two edges between the same two processes, one of them cut, and an edge back: each end finds its slots.
    #[test]
    fn schedules_of_a_cut_plan() {
        let world = vec![Neighborhood::from_ranks(0, &[1, 0], &[1, 0, 1]), Neighborhood::from_ranks(1, &[0, 1, 0], &[1, 0])];
        let graph = Graph::from_neighborhoods(&world);
        assert_eq!(graph.edges(), 3);
        let piece = |edge, round, begin, end| Piece { edge, round, begin, end };
        let plan = Plan {
            algorithm: Algorithm::Direct,
            rounds: 3,
            scale: 4,
            pieces: vec![piece(1, 0, 0, 3), piece(0, 1, 0, 4), piece(1, 2, 3, 4), piece(2, 2, 0, 4)],
        };
        assert_eq!(plan.longest(), [0.75, 1.0, 1.0]);
        assert_eq!(plan.cost(2.0), 8.75);
        assert_eq!(lower_bound(&graph, 2.0), 6.0);
        let schedules: Vec<_> = world.iter().map(|n| plan.schedule(&graph, n)).collect();
        assert_eq!(schedules, plan.schedules(&graph, &world));
        verify(&world, &schedules, Goal::Deliver, true).unwrap();
        assert_eq!(
            schedules[1].to_string(),
            "round 0: recv Output(2)[0..3/4] from 0; copy Input(0) into Output(1);\n\
             round 1: recv Output(0) from 0;\n\
             round 2: recv Output(2)[3..4/4] from 0; send Input(1) to 0;\n"
        );
    }
}
