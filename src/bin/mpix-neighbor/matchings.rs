//! A lower bound for the cost of rounds (IrregPC's, the sum over rounds of the startup and the
//! longest message) that takes all ports together, where [`lower_bound`] takes each by itself.
//!
//! A round whose longest message has length `c` serves a matching of out-ports with in-ports, and
//! at most `min(c, l)` of an edge of length `l`. If prices of all edges are such that the prices
//! of a matching, each times `min(c, l) / l`, never add up to more than the cost `startup + c`, no
//! rounds cost less than all prices together, whether messages are cut or not. The highest such
//! prices are a linear program, the dual of rounds of which fractions are taken. Its constraints
//! are far too many; those that its solution violates are added until there are none. As both
//! sides are linear in `c` between two lengths, only lengths matter.
//!
//! Cost: seconds for some hundred edges. Memory: that of the linear program.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Solution, SolveOutcome, Variable};

use mpix_neighbor::schedule::assignment::Assignment;
use mpix_neighbor::schedule::rounds::lower_bound;
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::util::cast::to_u32;

/// Most by which the bound could still grow at the end, as a fraction of it.
const PRECISION: f64 = 5e-3;

/// By how much a matching must exceed the cost of its round to count, as a fraction of it.
const EXCESS: f64 = 1e-7;

/// Constraints at most, should the solver not get nearer.
const MOST_CONSTRAINTS: usize = 20_000;

/// How far prices are moved from the best ones so far towards the solver's, which jump.
const STRIDE: f64 = 0.2;

/// A matching, as edges, and the length of the longest message of its round.
type Round = (Vec<u32>, f64);

struct Search {
    processes: usize,
    startup: f64,
    /// Out-port and in-port of each edge, in-ports counted behind all out-ports.
    ends: Vec<(u32, u32)>,
    lengths: Vec<f64>,
    /// All lengths that edges have.
    caps: Vec<f64>,
    assignment: Assignment,
}

impl Search {
    /// The share of an edge that a round serves.
    fn share(&self, e: u32, cap: f64) -> f64 {
        let length = self.lengths[e as usize];
        if cap < length { cap / length } else { 1.0 }
    }

    /// By what these prices must be divided to be valid; and matchings for which they are not.
    fn check(&mut self, prices: &[f64]) -> (f64, Vec<Round>) {
        let (mut excess, mut violated) = (0.0f64, Vec::new());
        for i in 0..self.caps.len() {
            let cap = self.caps[i];
            let cost = self.startup + cap;
            let gains = (0..).zip(prices).map(|(e, price)| (price * self.share(e, cap), e));
            let gains: Vec<(f64, u32)> = gains.filter(|gain| gain.0 > 0.0).collect();
            let mut matched = Vec::new();
            let sum = self.assignment.solve(self.processes, &self.ends, &gains, &mut matched);
            // rounds that cost nothing serve nothing
            excess = excess.max(if sum > 0.0 { sum / cost } else { 0.0 });
            if sum > cost * (1.0 + EXCESS) {
                violated.push((matched, cap));
            }
        }
        (excess, violated)
    }
}

/// Lower bound of the cost of any rounds with one message in and one out at a time, in units of
/// weight; [`lower_bound`] at least.
pub fn bound(graph: &Graph, startup: f64) -> f64 {
    let processes = graph.processes();
    let lengths: Vec<f64> = graph.iter().map(|e| f64::from(e.2)).collect();
    let mut caps = lengths.clone();
    caps.sort_by(f64::total_cmp);
    caps.dedup();
    let ends = graph.iter().map(|(source, target, _)| (source, to_u32(processes) + target)).collect();
    let mut search = Search { processes, startup, ends, lengths, caps, assignment: Assignment::default() };
    let mut program = Problem::new(OptimizationDirection::Maximize);
    // alone in its round, an edge costs that much
    let variables: Vec<Variable> = search.lengths.iter().map(|&l| program.add_var(1.0, (0.0, startup + l))).collect();
    let mut solved = solution_of(program.solve());
    let (mut best, mut best_prices): (f64, Vec<f64>) = (lower_bound(graph, startup), Vec::new());
    let mut constraints = 0;
    // where the solver fails, what has been found stands
    while let Some(solution) = solved {
        let prices: Vec<f64> = variables.iter().map(|&v| solution.var_value(v).max(0.0)).collect();
        let between: Vec<f64> = best_prices.iter().zip(&prices).map(|(b, p)| b + STRIDE * (p - b)).collect();
        let mut violated = Vec::new();
        for prices in [between, prices] {
            let (excess, rounds) = search.check(&prices);
            let sum: f64 = prices.iter().sum();
            if sum > best * excess {
                best = sum / excess;
                best_prices = prices.iter().map(|price| price / excess).collect();
            }
            violated.extend(rounds);
        }
        constraints += violated.len();
        if violated.is_empty() || solution.objective() <= best * (1.0 + PRECISION) || constraints > MOST_CONSTRAINTS {
            break;
        }
        solved = violated.into_iter().try_fold(solution, |solution, (matched, cap)| {
            let row: Vec<_> = matched.iter().map(|&e| (variables[e as usize], search.share(e, cap))).collect();
            solution_of(solution.add_constraint(row, ComparisonOp::Le, startup + cap))
        });
    }
    best
}

/// The solver's solution, if it has found one.
fn solution_of(outcome: Result<SolveOutcome, microlp::Error>) -> Option<Solution> {
    outcome.ok()?.into_solution().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpix_neighbor::schedule::{Algorithm, Build, Tuning};

    /// Three processes in a ring, one of whose edges is long: no port has more than one edge, and
    /// all edges fit into one round.
    #[test]
    fn one_round_is_enough() {
        let graph = Graph::from_edges(3, &[(0, 1, 5), (1, 2, 1), (2, 0, 1)]);
        assert!((bound(&graph, 2.0) - 7.0).abs() < 0.02);
    }

    /// A cycle of six edges, two opposite ones of which are long. No port has more to do than a
    /// long edge and a short one, 12. But if the long ones share a round, no short one fits into
    /// it, and these need two more: 14, or 12.9 if fractions of rounds are taken.
    #[test]
    fn ports_alone_are_too_low() {
        let graph = Graph::from_edges(6, &[(0, 3, 9), (0, 4, 1), (1, 4, 1), (1, 5, 9), (2, 5, 1), (2, 3, 1)]);
        assert_eq!(lower_bound(&graph, 1.0), 12.0);
        assert!((bound(&graph, 1.0) - 116.0 / 9.0).abs() < 0.07);
    }

    /// No rounds cost less, whatever the graph.
    #[test]
    fn no_rounds_are_below() {
        let Build::Global(edge_coloring) = Algorithm::EdgeColoring.entry().build else { unreachable!() };
        for seed in 0..20u32 {
            let edges: Vec<(u32, u32, u32)> =
                (0..40u32).map(|i| (i % 8, (i * (3 + 2 * (seed % 5)) + i / 8) % 8, (i * i + seed) % 7)).collect();
            let graph = Graph::from_edges(8, &edges);
            let startup = f64::from(seed % 4);
            let tuning = Tuning { startup, budget: 1 << 20, ..Tuning::default() };
            let (cost, bound) = (edge_coloring(&graph, &tuning).cost(startup), bound(&graph, startup));
            assert!(bound <= cost * (1.0 + 1e-6) && bound >= lower_bound(&graph, startup), "{seed}: {bound} {cost}");
        }
    }
}
