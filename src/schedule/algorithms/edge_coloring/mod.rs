//! `edge_coloring`: as few and as short rounds as possible, in each of which a process sends and
//! receives at most one message.
//!
//! The graph of all processes is a bipartite multigraph of out-ports and in-ports; a color is a
//! round. Rounds are built in several ways, and the best by IrregPC's measure, the sum over rounds
//! of the startup and the longest message, are taken:
//! - `euler` colors the graph with exactly as many colors as its largest degree, which is the
//!   minimum (König). If there are few edges, `exchange` moves them between pairs of rounds so
//!   that heavy ones share a round.
//! - `first_fit` puts edges, the longest first, into the first round that can take them: a few more
//!   rounds, and heavy edges share them. Good where processes have many edges.
//! - `split`, as far as the budget allows, chooses rounds one by one, favoring the ports with the
//!   most left to do, and cuts long messages so that no process waits for them, if messages may be
//!   cut. Good where processes have few edges.
//! - `anneal` improves the best of these by random moves.
//!
//! No schedule costs less than the open-shop bound, the startups and load of the busiest port
//! (Gonzalez and Sahni 1976); a decomposition into matchings, as here, attains it if startups are
//! free (Birkhoff, von Neumann). Without cuts, there are never more rounds than the largest degree.
//!
//! In half duplex, the rounds of `euler` are colors of an undirected graph (`half_duplex`, Misra
//! and Gries 1992).
//!
//! Useful where large messages of different sizes meet at the same processes. Needs the graph of
//! all processes, and enough calls to pay for building it.
//!
//! Cost: about as many rounds as the largest degree, more with cuts; one message for each piece, no
//! extra bytes. Building takes O(E log E) time, and at most about twice the steps of the budget,
//! which are counted, so that all machines build the same rounds. Above 2^21 edges, and if messages
//! may be cut, `euler` is left out unless its fewer rounds save a tenth of the cost.

use crate::schedule::grammar::Algorithm;
use crate::schedule::input::Tuning;
use crate::schedule::rounds::{Piece, Rounds, lower_bound};
use crate::topology::graph::Graph;
use crate::util::cast::to_u32;
use crate::util::random::Random;
use problem::{PortRounds, Problem, largest_degree};

mod anneal;
mod euler;
mod exchange;
mod first_fit;
mod half_duplex;
mod numeric;
mod problem;
mod split;

/// Minimum gain, as a fraction of the cost, required for cutting every edge once. The cost does not
/// include what an additional message costs its two ends even if it finds its ports free.
const CUT: f64 = 0.05;

/// Graphs with more edges are colored by `first_fit` alone if the rounds that `euler` would save
/// cost at most [`ENOUGH`] of the bound.
const MOST_EDGES: usize = 1 << 21;
const ENOUGH: f64 = 0.1;

/// Steps of a search for each edge and edge of a port, at most.
const STEPS: u64 = 1 << 13;

/// The highest startup that counts, in units of length: as much as 256 of the longest messages. In
/// sums of higher ones, which may be infinite, lengths would be lost.
const HIGHEST_STARTUP: f64 = 256.0 * u32::MAX as f64;

pub(in crate::schedule) fn build(graph: &Graph, tuning: &Tuning) -> Rounds {
    let (ports, ends) = ports(graph);
    let lengths: Vec<u32> = graph.iter().map(|e| e.2).collect();
    // half duplex: send and receive share one port
    let left = if tuning.half_duplex { 0 } else { ports };
    let across: Vec<_> = ends.iter().map(|&(from, to)| (from, to_u32(left) + to)).collect();
    let edges = ends.len().max(1) as f64;
    let degree = largest_degree(left + ports, &across);
    let startup = tuning.startup.min(HIGHEST_STARTUP);
    let bound = lower_bound(graph, startup);
    let problem = Problem {
        ports: left + ports,
        left,
        degree,
        // without cuts the number of rounds must stay minimal
        most: if tuning.split || tuning.half_duplex { usize::MAX } else { degree as usize },
        ends: &across,
        lengths: &lengths,
        startup,
        cut: if tuning.split { CUT * bound / edges } else { f64::INFINITY },
        seed: tuning.seed,
    };
    let mut best = Best { problem: &problem, cost: f64::INFINITY, rounds: PortRounds::new() };
    let first = first_fit::rounds(&problem);
    let enough = |rounds: &PortRounds| (rounds.len() as f64 - f64::from(problem.degree)) * startup <= ENOUGH * bound;
    if ends.len() <= MOST_EDGES || !tuning.split || !first.as_ref().is_some_and(enough) {
        best.consider(fewest(&problem, ports, &ends, tuning));
    }
    first.into_iter().for_each(|rounds| best.consider(rounds));
    search(&problem, tuning, bound, &mut best);
    Rounds { algorithm: Algorithm::EdgeColoring, count: to_u32(best.rounds.len()), pieces: pieces(&best.rounds) }
}

/// The best rounds so far.
struct Best<'a> {
    problem: &'a Problem<'a>,
    cost: f64,
    rounds: PortRounds,
}

impl Best<'_> {
    fn consider(&mut self, rounds: PortRounds) {
        let (edges, pieces) = (self.problem.ends.len(), rounds.iter().map(Vec::len).sum::<usize>());
        let longest = rounds.iter().map(|round| round.iter().map(|m| m.1).max().unwrap_or(0));
        let cost: f64 = longest.map(|length| self.problem.startup + f64::from(length)).sum();
        let cost = cost * (1.0 + CUT * (pieces - edges) as f64 / edges.max(1) as f64);
        if cost < self.cost && rounds.len() <= self.problem.most {
            (self.cost, self.rounds) = (cost, rounds);
        }
    }
}

/// Tries to find better rounds: by `split`, one attempt that fits the budget, and others within a
/// quarter of it; then by `anneal`, within another quarter. Few edges get less.
fn search(problem: &Problem, tuning: &Tuning, bound: f64, best: &mut Best) {
    let edges = problem.ends.len() as u64;
    let part = (tuning.budget / 4).min(STEPS.saturating_mul(edges).saturating_mul(problem.degree.into()));
    let mut random = Random::new(tuning.seed);
    let (mut spent, mut attempt) = (0, 0);
    while best.cost > bound && spent < if attempt == 0 { tuning.budget } else { part } {
        let style = split::Style::new(problem, attempt, tuning, &mut random);
        let (rounds, steps) = split::rounds(problem, style, tuning.budget - spent);
        let Some(rounds) = rounds else { break };
        best.consider(rounds);
        (spent, attempt) = (spent + steps, attempt + 1);
    }
    if best.cost > bound
        && let Some(rounds) = anneal::improve(problem, &best.rounds, part)
    {
        best.consider(rounds);
    }
}

/// As few rounds as possible.
fn fewest(problem: &Problem, processes: usize, ends: &[(u32, u32)], tuning: &Tuning) -> PortRounds {
    let colors = if tuning.half_duplex {
        half_duplex::color(processes, ends)
    } else {
        let mut colors = euler::color(processes, ends, tuning.seed);
        if exchange::steps(ends.len(), problem.degree) <= tuning.budget / 4 {
            exchange::heavy_together(processes, ends, problem.lengths, problem.degree, &mut colors);
        }
        colors
    };
    let mut rounds: PortRounds = vec![Vec::new(); colors.iter().max().map_or(0, |&r| r as usize + 1)];
    for ((e, &r), &length) in (0..).zip(&colors).zip(problem.lengths) {
        rounds[r as usize].push((e, length));
    }
    rounds
}

/// Numbers the processes that have edges, so that others cost nothing; returns their number, and
/// the two ends of each edge.
fn ports(graph: &Graph) -> (usize, Vec<(u32, u32)>) {
    let (out, into) = graph.degrees();
    let mut count = 0;
    let number: Vec<u32> = (out.iter().zip(&into))
        .map(|(&out, &into)| {
            count += u32::from(out + into > 0);
            count.saturating_sub(1)
        })
        .collect();
    (count as usize, graph.iter().map(|e| (number[e.0 as usize], number[e.1 as usize])).collect())
}

/// Converts rounds of (edge, length) to pieces.
fn pieces(rounds: &[Vec<(u32, u32)>]) -> Vec<Piece> {
    let edges = rounds.iter().flatten().map(|p| p.0 as usize + 1).max().unwrap_or(0);
    let mut done = vec![0u32; edges];
    let mut pieces = Vec::new();
    for (round, served) in rounds.iter().enumerate() {
        for &(edge, length) in served {
            let begin = done[edge as usize];
            done[edge as usize] += length;
            pieces.push(Piece { edge, round: to_u32(round), begin, end: begin + length });
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::verify::{Goal, verify};
    use crate::util::cases::cases;
    use crate::util::random::Random;
    use proptest::prelude::*;

    fn tuning(startup: f64, split: bool) -> Tuning {
        Tuning { startup, split, ..Tuning::default() }
    }

    /// Each process of a ring sends a heavy message to one side and a light one to the other.
    #[test]
    fn heavy_edges_share_rounds() {
        for n in [4u32, 8, 9, 16, 32] {
            let edges: Vec<_> = (0..n)
                .flat_map(|p| [(p, (p + 1) % n, 100), (p, (p + n - 1) % n, 100), (p, (p + 2) % n, 1), (p, (p + n - 2) % n, 1)])
                .collect();
            let graph = Graph::from_edges(n, &edges);
            let rounds = build(&graph, &tuning(10.0, false));
            let mut longest = rounds.longest();
            longest.sort_by(f64::total_cmp);
            assert_eq!(longest, [1.0, 1.0, 100.0, 100.0], "{n}");
        }
    }

    /// SparseColl's Figure 6: by dimension each of four rounds has a heavy message, although two
    /// rounds can hold all of them.
    #[test]
    fn the_circular_pattern_has_two_heavy_rounds() {
        for (rows, columns) in [(2, 4), (4, 4), (6, 8), (16, 16)] {
            let graph = crate::model::generate::Pattern::Circular.graph(rows, columns, 50);
            for split in [false, true] {
                let heavy = build(&graph, &tuning(10.0, split)).longest().iter().filter(|&&l| l == 50.0).count();
                assert_eq!(heavy, 2, "{rows} x {columns}");
            }
        }
    }

    /// Equal row and column sums: with free startups, the cost reaches the load of the busiest
    /// port.
    #[test]
    fn free_startups_reach_the_open_shop_bound() {
        let mut random = Random::new(5);
        for n in [3u32, 8, 16] {
            let mut edges = Vec::new();
            for _ in 0..5 {
                let mut to: Vec<u32> = (0..n).collect();
                random.shuffle(&mut to);
                let weight = 1 + random.below(50);
                edges.extend((0..n).filter(|&p| to[p as usize] != p).map(|p| (p, to[p as usize], weight)));
            }
            let graph = Graph::from_edges(n, &edges);
            let rounds = build(&graph, &tuning(0.0, true));
            let bound = lower_bound(&graph, 0.0);
            assert!(rounds.cost(0.0) <= 1.05 * bound, "{n}: {} of {bound}", rounds.cost(0.0));
        }
    }

    /// Stars, two processes with many edges, and few edges among many processes: if the largest
    /// degree is far above the mean, every step must still take time and memory proportional to the
    /// edges.
    #[test]
    fn far_from_regular() {
        let star = |n: u32| (1..=n).map(|p| (p, 0, 100 + p % 7)).collect::<Vec<_>>();
        let back = |n: u32| star(n).into_iter().map(|(p, q, w)| (q, p, w)).collect::<Vec<_>>();
        let pair: Vec<_> = (0..20_000).map(|k| (0, 1, 100 + k % 97)).collect();
        for (processes, edges) in
            [(2_001, star(2_000)), (1_000_000, star(600)), (30_001, star(30_000)), (30_001, back(30_000)), (2, pair)]
        {
            let graph = Graph::from_edges(processes, &edges);
            for half_duplex in [false, true] {
                let rounds = build(&graph, &Tuning { half_duplex, ..Tuning::default() });
                assert_eq!(rounds.count, graph.max_degree(), "{processes} processes, half duplex: {half_duplex}");
            }
        }
    }

    /// A machine on which bytes cost nothing has an infinite startup.
    #[test]
    fn high_startups_need_the_fewest_rounds() {
        let mut random = Random::new(9);
        for n in [2u32, 5, 16] {
            let edges: Vec<_> = (0..6 * n).map(|_| (random.below(n), random.below(n), random.below(1000))).collect();
            let graph = Graph::from_edges(n, &edges);
            for startup in [1e9, 1e15, f64::MAX, f64::INFINITY] {
                for (split, half_duplex) in [(false, false), (true, false), (true, true)] {
                    let rounds = build(&graph, &Tuning { half_duplex, ..tuning(startup, split) });
                    let world = graph.neighborhoods();
                    verify(&world, &rounds.schedules(&graph, &world), Goal::Deliver, true).unwrap();
                    assert!(half_duplex || rounds.count == graph.max_degree(), "{n}, {startup}: {} rounds", rounds.count);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(cases(64))]

        /// Without cuts, the number of rounds is minimal for all weights. Cuts hardly ever increase
        /// the cost: the searches with and without them are different ones.
        #[test]
        fn rounds_and_cost(
            n in 2u32..=24,
            edges in prop::collection::vec((0u32..24, 0u32..24, 0u32..1000), 1..200),
            startup in 0.0f64..2000.0,
        ) {
            let edges: Vec<_> = edges.into_iter().map(|(s, t, w)| (s % n, t % n, w)).collect();
            let graph = Graph::from_edges(n, &edges);
            let uncut = build(&graph, &tuning(startup, false));
            prop_assert_eq!(uncut.count, graph.max_degree());
            let cut = build(&graph, &tuning(startup, true));
            prop_assert!(cut.cost(startup) <= 1.05 * uncut.cost(startup));
            prop_assert!(cut.cost(startup) >= lower_bound(&graph, startup) * (1.0 - 1e-9));
        }
    }
}
