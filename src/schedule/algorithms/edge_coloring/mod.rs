//! `edge_coloring`: as few and as short rounds as possible, in each of which a process sends and
//! receives at most one message.
//!
//! The graph of all processes is a bipartite multigraph of out-ports and in-ports; a color is a
//! round. Three steps:
//! - `euler` colors it with exactly as many colors as its largest degree, which is the minimum
//!   (König).
//! - `exchange` moves edges between pairs of rounds so that heavy edges share a round.
//! - `split`, if messages may be cut, chooses rounds one by one, favoring the ports with the most
//!   left to do, and cuts long messages so that no process waits for them. The result has more
//!   rounds, and is used only if it has a lower cost by IrregPC's measure, the sum over rounds of
//!   the startup and the longest message. No schedule costs less than the open-shop bound, the
//!   startups and load of the busiest port (Gonzalez and Sahni 1976); a decomposition into
//!   matchings, as here, attains it if startups are free (Birkhoff, von Neumann).
//!
//! In half duplex, rounds are colors of an undirected graph (`half_duplex`, Misra and Gries 1992),
//! or those of the third step if they cost less.
//!
//! Useful where large messages of different sizes meet at the same processes. Needs the graph of
//! all processes, and enough calls to pay for building it.
//!
//! Cost: as many rounds as the largest degree, more with cuts; one message for each piece, no extra
//! bytes. Building takes O(E log d) time for the first step. The second, O(E d), is skipped, and
//! the third becomes coarser, if they would exceed the budget of the tuning. Graphs of more than
//! 2^17 edges are not cut.

use crate::schedule::grammar::Algorithm;
use crate::schedule::input::Tuning;
use crate::schedule::rounds::{Piece, Rounds};
use crate::topology::graph::Graph;
use crate::util::cast::to_u32;

mod euler;
mod exchange;
mod half_duplex;
mod split;

/// Minimum gain, as a fraction of the cost, required for cutting every edge once. The cost does not
/// include what an additional message costs its two ends even if it finds its ports free.
const CUT: f64 = 0.05;

pub(in crate::schedule) fn build(graph: &Graph, tuning: &Tuning) -> Rounds {
    let (ports, ends) = ports(graph);
    let lengths: Vec<u32> = graph.iter().map(|e| e.2).collect();
    let degree = graph.max_degree();
    let uncut = if tuning.half_duplex {
        Rounds::uncut(Algorithm::EdgeColoring, graph, &half_duplex::color(ports, &ends))
    } else {
        let mut colors = euler::color(ports, &ends, tuning.seed);
        if exchange::steps(ends.len(), degree) <= tuning.budget {
            exchange::heavy_together(ports, &ends, &lengths, degree, &mut colors);
        }
        Rounds::uncut(Algorithm::EdgeColoring, graph, &colors)
    };
    let fewest = uncut.count;
    let mut best = uncut;
    // half duplex: send and receive share one port
    let second = if tuning.half_duplex { 0 } else { to_u32(ports) };
    let ends = ends.into_iter().map(|(from, to)| (from, second + to)).collect();
    let shop = split::Shop::new(ports + second as usize, ends, lengths, tuning);
    let cost_of = |rounds: &Rounds| {
        let cuts = rounds.pieces.len() - graph.edges();
        rounds.cost(tuning.startup) * (1.0 + CUT * cuts as f64 / graph.edges().max(1) as f64)
    };
    let mut cost = cost_of(&best);
    for rounds in shop.attempts() {
        let pieces: Vec<Piece> = pieces(&rounds);
        let candidate = Rounds { algorithm: Algorithm::EdgeColoring, count: to_u32(rounds.len()), scale: 1, pieces };
        let other = cost_of(&candidate);
        // without cuts the number of rounds must stay minimal
        if other < cost && (tuning.split || tuning.half_duplex || candidate.count <= fewest) {
            (best, cost) = (candidate, other);
        }
    }
    best
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
    use crate::schedule::rounds::lower_bound;
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
            let graph = crate::model::generate::circular(rows, columns, 50);
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

    proptest! {
        #![proptest_config(cases(64))]

        /// Without cuts, the number of rounds is minimal for all weights. Cuts never increase the
        /// cost.
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
            prop_assert!(cut.cost(startup) <= uncut.cost(startup) * (1.0 + 1e-9));
            prop_assert!(cut.cost(startup) >= lower_bound(&graph, startup) * (1.0 - 1e-9));
        }
    }
}
