//! Rounds with cut messages, close to the open-shop optimum.
//!
//! The *rest* of a port is a lower bound of its remaining cost: a startup for each message, plus
//! their lengths. The largest rest bounds the remaining cost of the schedule. A round is a matching
//! and a cut: each matched message is shortened by at most the cut, and a message that is finished
//! also saves its startup. Rounds are chosen one by one: for each of a few cuts, a matching of
//! largest gain is sought, and the cut with the largest gain relative to its cost is taken. The
//! gain of serving a message is its reduction of the potential, the sum over ports of `2^(b rest)`,
//! which grows so steeply that the ports with the largest rest dominate. The best steepness depends
//! on the graph, so a few are tried.
//!
//! Matchings are exact (assignment by shortest augmenting paths) for few ports. For more ports they
//! are greedy by gain, improved by exchanges of three edges.
//!
//! Cost: the budget of the tuning, whatever the size of the graph. All arithmetic uses the four
//! basic operations on f64, so that all processes compute the same rounds.

use crate::schedule::input::Tuning;
use crate::util::cast::{to_int, to_u32, to_usize, whole_signed};

/// Maximum number of edges for which rounds are chosen this way.
const MOST_EDGES: usize = 1 << 17;

/// Maximum number of ports on one side for exact matchings.
const EXACT_PORTS: usize = 64;

/// Minimum number of cuts tried for a round.
const FEWEST_CUTS: u64 = 3;
const MOST_CUTS: u64 = 12;

/// Steepness of the potential: powers of two per startup and mean message, and the minimum per
/// largest rest; then the weight of a round's startup when cuts are compared. In the order in which
/// they tend to be good.
const STEEP: [(f64, f64, f64); 10] = [
    (8.0, 40.0, 1.0),
    (4.0, 40.0, 1.0),
    (11.0, 40.0, 1.0),
    (2.0, 20.0, 1.0),
    (8.0, 20.0, 1.0),
    (6.0, 40.0, 1.0),
    (4.0, 20.0, 1.0),
    (5.0, 60.0, 1.0),
    (8.0, 40.0, 1.4),
    (3.0, 80.0, 1.0),
];

/// Rounds are chosen as if their startup cost at least the mean message divided by this.
const CUTS_OF_MEAN: f64 = 50.0;

/// An attempt is abandoned after this many rounds, in multiples of the largest degree.
const MOST_ROUNDS: u64 = 8;

/// No edge or port.
const NONE: u32 = u32::MAX;

/// Rounds of (edge, length).
pub type Rounds = Vec<Vec<(u32, u32)>>;

/// The messages to serve (an open-shop problem).
pub struct Shop {
    ports: usize,
    /// Ports of each edge. In a bipartite graph, those below `left` are on the left.
    ends: Vec<(u32, u32)>,
    lengths: Vec<u32>,
    startup: f64,
    split: bool,
    budget: u64,
    /// Number of ports on the left; 0 if the graph is not bipartite.
    left: usize,
}

impl Shop {
    /// Creates the problem from edges between ports, each of which may serve one edge per round.
    pub fn new(ports: usize, ends: Vec<(u32, u32)>, lengths: Vec<u32>, tuning: &Tuning) -> Shop {
        let left = if tuning.half_duplex { 0 } else { ports / 2 };
        // where startups are free, or nearly, ever more and ever shorter rounds help no one
        let total: f64 = lengths.iter().map(|&l| f64::from(l)).sum();
        let startup = tuning.startup.max(total / lengths.len().max(1) as f64 / CUTS_OF_MEAN);
        // where nothing costs anything, rounds count
        let startup = if startup > 0.0 { startup } else { 1.0 };
        Shop { ports, ends, lengths, startup, split: tuning.split, budget: tuning.budget, left }
    }

    /// Yields rounds for different steepnesses, as many as the budget allows; none for large
    /// graphs. If messages may be cut, as many again without cuts.
    pub fn attempts(&self) -> impl Iterator<Item = Rounds> + '_ {
        let edges = self.ends.len();
        let mut degree = vec![0u64; self.ports];
        for &(a, b) in &self.ends {
            degree[a as usize] += 1;
            degree[b as usize] += 1;
        }
        let degree = degree.iter().max().copied().unwrap_or(0).max(1);
        // cost of the matchings of one round, and of all rounds, for one cut
        let steps = |exact: bool| {
            let edges = edges as u64;
            // an exact matching looks at each edge only once
            let matching = if exact { (self.left as u64).pow(3) / 2 + 4 * edges } else { 16 * edges };
            degree.saturating_mul(2 * matching.max(1))
        };
        let exact = self.left > 0 && self.left <= EXACT_PORTS && steps(true).saturating_mul(FEWEST_CUTS) <= self.budget;
        let cuts = (self.budget / steps(exact)).clamp(FEWEST_CUTS, MOST_CUTS);
        let attempts = (self.budget / steps(exact).saturating_mul(cuts)).clamp(1, STEEP.len() as u64);
        let fits = edges > 0 && edges <= MOST_EDGES && steps(exact).saturating_mul(cuts) <= self.budget.saturating_mul(8);
        let kinds: &[bool] = if self.split { &[false, true] } else { &[false] };
        (STEEP.iter().take(if fits { to_usize(attempts) } else { 0 }))
            .flat_map(move |&steep| kinds.iter().map(move |&split| (steep, split)))
            .filter_map(move |(steep, split)| self.rounds(steep, split, cuts as usize, exact, MOST_ROUNDS * degree))
    }

    /// Builds the rounds; `None` if there are too many.
    fn rounds(&self, steep: (f64, f64, f64), split: bool, cuts: usize, exact: bool, most: u64) -> Option<Rounds> {
        let (per_message, per_rest, weight) = steep;
        let startup = self.startup;
        let mut left: Vec<u32> = self.lengths.clone();
        let mut done = vec![false; left.len()];
        let mut rest = vec![0.0f64; self.ports];
        let mut total = 0.0;
        for (&(a, b), &length) in self.ends.iter().zip(&self.lengths) {
            rest[a as usize] += startup + f64::from(length);
            rest[b as usize] += startup + f64::from(length);
            total += f64::from(length);
        }
        let per_message = per_message / (startup + total / self.ends.len() as f64);
        let mut open: Vec<u32> = (0..to_u32(self.ends.len())).collect();
        let mut matcher = Matcher::new(self.ports, self.left, exact);
        let mut rounds = Vec::new();
        let mut potential = vec![0.0f64; self.ports];
        let mut gains: Vec<(f64, u32)> = Vec::with_capacity(open.len());
        while !open.is_empty() {
            if rounds.len() as u64 == most {
                return None;
            }
            let largest = rest.iter().copied().fold(0.0, f64::max);
            let steep = per_message.max(per_rest / largest);
            for (p, r) in potential.iter_mut().zip(&rest) {
                *p = power_of_two(steep * (r - largest));
            }
            let sum: f64 = potential.iter().sum();
            let mut best: (f64, u32, Vec<u32>) = (-1.0, 0, Vec::new());
            for cut in Self::cuts(&open, &left, cuts) {
                gains.clear();
                gains.extend(open.iter().filter_map(|&e| {
                    let length = left[e as usize];
                    // without splitting, the cut determines which messages wait; with a cut of 0,
                    // only messages of length 0 are served
                    if length > cut && (!split || cut == 0) {
                        return None;
                    }
                    let loses = if length <= cut { startup + f64::from(length) } else { f64::from(cut) };
                    let (a, b) = self.ends[e as usize];
                    let gain = (potential[a as usize] + potential[b as usize]) * (1.0 - power_of_two(-steep * loses));
                    Some((gain, e))
                }));
                let gain = matcher.matching(&self.ends, &mut gains);
                let longest = matcher.matched.iter().map(|&e| left[e as usize].min(cut)).max().unwrap_or(0);
                let score = -logarithm(1.0 - (gain / sum).min(0.999_999)) / (startup * weight + f64::from(longest));
                if score > best.0 {
                    best = (score, longest, matcher.matched.clone());
                }
            }
            let (_, cut, matched) = best;
            let round: Vec<(u32, u32)> = matched.into_iter().map(|e| (e, left[e as usize].min(cut))).collect();
            for &(e, length) in &round {
                left[e as usize] -= length;
                done[e as usize] = left[e as usize] == 0;
                let loses = f64::from(length) + if done[e as usize] { startup } else { 0.0 };
                let (a, b) = self.ends[e as usize];
                rest[a as usize] -= loses;
                rest[b as usize] -= loses;
            }
            open.retain(|&e| !done[e as usize]);
            rounds.push(round);
        }
        Some(rounds)
    }

    /// Cuts to try: lengths of remaining messages, evenly distributed.
    fn cuts(open: &[u32], left: &[u32], cuts: usize) -> Vec<u32> {
        let mut lengths: Vec<u32> = open.iter().map(|&e| left[e as usize]).collect();
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.len() <= cuts {
            return lengths;
        }
        (0..cuts).map(|k| lengths[k * (lengths.len() - 1) / (cuts - 1)]).collect()
    }
}

/// Finds matchings of large gain.
struct Matcher {
    left: usize,
    exact: bool,
    /// The edge of each port.
    mate: Vec<u32>,
    /// Gain of each edge that may be matched.
    gain: Vec<f64>,
    /// The last matching.
    matched: Vec<u32>,
    assignment: Assignment,
}

impl Matcher {
    fn new(ports: usize, left: usize, exact: bool) -> Matcher {
        Matcher { left, exact, mate: vec![NONE; ports], gain: Vec::new(), matched: Vec::new(), assignment: Assignment::default() }
    }

    /// Leaves a matching in `matched` and returns its gain. Reorders `gains`.
    fn matching(&mut self, ends: &[(u32, u32)], gains: &mut [(f64, u32)]) -> f64 {
        self.matched.clear();
        if self.exact {
            return self.assignment.solve(self.left, ends, gains, &mut self.matched);
        }
        self.greedy(ends, gains);
        self.exchange(ends, gains);
        let mut sum = 0.0;
        for &(gain, e) in gains.iter() {
            if self.mate[ends[e as usize].0 as usize] == e {
                self.matched.push(e);
                sum += gain;
            }
        }
        sum
    }

    fn greedy(&mut self, ends: &[(u32, u32)], gains: &mut [(f64, u32)]) {
        gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.gain.clear();
        self.gain.resize(ends.len(), 0.0);
        self.mate.fill(NONE);
        for &(gain, e) in gains.iter() {
            self.gain[e as usize] = gain;
            let (a, b) = ends[e as usize];
            if self.mate[a as usize] == NONE && self.mate[b as usize] == NONE {
                self.mate[a as usize] = e;
                self.mate[b as usize] = e;
            }
        }
    }

    /// Adds an edge if it gains more, together with what the ports that it frees can take instead,
    /// than the edges it displaces.
    fn exchange(&mut self, ends: &[(u32, u32)], gains: &[(f64, u32)]) {
        const SWEEPS: usize = 3;
        // the edges of each port, by decreasing gain
        let mut first = vec![0u32; self.mate.len() + 1];
        for &(_, e) in gains {
            first[ends[e as usize].0 as usize + 1] += 1;
            first[ends[e as usize].1 as usize + 1] += 1;
        }
        for p in 1..first.len() {
            first[p] += first[p - 1];
        }
        let mut of_port = vec![0u32; 2 * gains.len()];
        let mut next = first.clone();
        for &(_, e) in gains {
            for p in [ends[e as usize].0, ends[e as usize].1] {
                of_port[next[p as usize] as usize] = e;
                next[p as usize] += 1;
            }
        }
        let other = |e: u32, p: u32| {
            let (a, b) = ends[e as usize];
            if a == p { b } else { a }
        };
        for _ in 0..SWEEPS {
            let mut changed = false;
            for &(gain, e) in gains {
                let (a, b) = ends[e as usize];
                let pushed = [self.mate[a as usize], self.mate[b as usize]];
                if pushed[0] == e {
                    continue;
                }
                let both = pushed[0] == pushed[1];
                let mut loss = 0.0;
                let mut freed = [NONE; 2];
                for (k, port) in [a, b].into_iter().enumerate() {
                    if pushed[k] != NONE && !(both && k == 1) {
                        loss += self.gain[pushed[k] as usize];
                        if !both {
                            freed[k] = other(pushed[k], port);
                        }
                    }
                }
                // what the freed ports can take: an edge to a free port, a different port for each
                let mut instead = [NONE; 2];
                let mut taken = NONE;
                for k in 0..2 {
                    if freed[k] == NONE || (k == 1 && taken == freed[1]) {
                        continue;
                    }
                    let range = first[freed[k] as usize] as usize..first[freed[k] as usize + 1] as usize;
                    let free = of_port[range].iter().copied().find(|&f| {
                        let end = other(f, freed[k]);
                        let free = self.mate[end as usize] == NONE || end == freed[1 - k];
                        free && end != a && end != b && end != taken && !(k == 1 && end == freed[0] && instead[0] != NONE)
                    });
                    if let Some(f) = free {
                        instead[k] = f;
                        taken = other(f, freed[k]);
                    }
                }
                let replaced: f64 = instead.iter().filter(|&&f| f != NONE).map(|&f| self.gain[f as usize]).sum();
                if gain + replaced > loss * (1.0 + 1e-12) {
                    for f in pushed.into_iter().filter(|&f| f != NONE) {
                        self.mate[ends[f as usize].0 as usize] = NONE;
                        self.mate[ends[f as usize].1 as usize] = NONE;
                    }
                    for f in [e, instead[0], instead[1]].into_iter().filter(|&f| f != NONE) {
                        self.mate[ends[f as usize].0 as usize] = f;
                        self.mate[ends[f as usize].1 as usize] = f;
                    }
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }
}

/// Assignments of largest gain between left and right ports (Hungarian method with shortest
/// augmenting paths, O(n^3)).
#[derive(Default)]
struct Assignment {
    gain: Vec<f64>,
    edge: Vec<u32>,
    u: Vec<f64>,
    v: Vec<f64>,
    row_of: Vec<usize>,
    way: Vec<usize>,
    least: Vec<f64>,
    used: Vec<bool>,
}

impl Assignment {
    fn solve(&mut self, n: usize, ends: &[(u32, u32)], gains: &[(f64, u32)], matched: &mut Vec<u32>) -> f64 {
        self.gain.clear();
        self.gain.resize(n * n, 0.0);
        self.edge.clear();
        self.edge.resize(n * n, NONE);
        for &(gain, e) in gains {
            let (l, r) = ends[e as usize];
            let at = l as usize * n + (r as usize - n);
            // the best of the edges between the same ports
            if gain > self.gain[at] || self.edge[at] == NONE {
                (self.gain[at], self.edge[at]) = (gain, e);
            }
        }
        for list in [&mut self.u, &mut self.v] {
            list.clear();
            list.resize(n + 1, 0.0);
        }
        self.row_of.clear();
        self.row_of.resize(n + 1, 0);
        self.way.clear();
        self.way.resize(n + 1, 0);
        for row in 1..=n {
            self.augment(n, row);
        }
        let mut sum = 0.0;
        for column in 1..=n {
            let at = (self.row_of[column] - 1) * n + column - 1;
            if self.edge[at] != NONE && self.gain[at] > 0.0 {
                matched.push(self.edge[at]);
                sum += self.gain[at];
            }
        }
        sum
    }

    /// Assigns a column to one more row. Rows and columns are counted from 1; paths begin at column
    /// 0.
    fn augment(&mut self, n: usize, row: usize) {
        self.row_of[0] = row;
        self.least.clear();
        self.least.resize(n + 1, f64::INFINITY);
        self.used.clear();
        self.used.resize(n + 1, false);
        let mut at = 0;
        loop {
            self.used[at] = true;
            let row = self.row_of[at];
            let gains = &self.gain[(row - 1) * n..row * n];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for j in 1..=n {
                if !self.used[j] {
                    let cost = -gains[j - 1] - self.u[row] - self.v[j];
                    if cost < self.least[j] {
                        self.least[j] = cost;
                        self.way[j] = at;
                    }
                    if self.least[j] < delta {
                        (delta, next) = (self.least[j], j);
                    }
                }
            }
            for j in 0..=n {
                if self.used[j] {
                    self.u[self.row_of[j]] += delta;
                    self.v[j] -= delta;
                } else {
                    self.least[j] -= delta;
                }
            }
            at = next;
            if self.row_of[at] == 0 {
                break;
            }
        }
        while at != 0 {
            let before = self.way[at];
            self.row_of[at] = self.row_of[before];
            at = before;
        }
    }
}

/// Approximates `2^x` for `x <= 0` by the four basic operations.
fn power_of_two(x: f64) -> f64 {
    if x < -1000.0 {
        return 0.0;
    }
    let whole = x.floor();
    let f = x - whole;
    // the power series of e^(f ln 2)
    let c = [1.0, std::f64::consts::LN_2, 0.240_226_506_959_100_7, 0.055_504_108_664_821_58, 0.009_618_129_107_628_477];
    let p = c[0]
        + f * (c[1] + f * (c[2] + f * (c[3] + f * (c[4] + f * (0.001_333_355_814_642_844 + f * 0.000_154_035_303_933_816)))));
    p * f64::from_bits((to_int::<u64>(whole_signed(whole) + 1023)) << 52)
}

/// Approximates the natural logarithm of a positive number by the four basic operations.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52).cast_signed() - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | (1023 << 52));
    let y = (mantissa - 1.0) / (mantissa + 1.0);
    let y2 = y * y;
    let series = 2.0 * y * (1.0 + y2 * (1.0 / 3.0 + y2 * (1.0 / 5.0 + y2 * (1.0 / 7.0 + y2 * (1.0 / 9.0 + y2 / 11.0)))));
    exponent as f64 * std::f64::consts::LN_2 + series
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_and_logarithms() {
        for x in [0.0, -0.3, -1.0, -7.77, -100.5] {
            let exact = f64::exp2(x);
            assert!((power_of_two(x) - exact).abs() < 1e-4 * exact, "{x}");
        }
        for x in [1.0, 0.5, 0.999, 1e-6, 0.1] {
            assert!((logarithm(x) - f64::ln(x)).abs() < 1e-5 * (1.0 + f64::ln(x).abs()), "{x}");
        }
    }

    /// Returns the largest gain of all matchings, by trying all of them.
    fn largest(ends: &[(u32, u32)], gains: &[(f64, u32)], used: u64) -> f64 {
        let Some((&(gain, e), others)) = gains.split_first() else {
            return 0.0;
        };
        let ports = 1 << ends[e as usize].0 | 1 << ends[e as usize].1;
        let without = largest(ends, others, used);
        if used & ports != 0 { without } else { without.max(gain + largest(ends, others, used | ports)) }
    }

    /// Checks one matching: no port occurs twice, the gain is as returned, and is at least a
    /// fraction of the largest; greedy alone reaches half.
    fn check(ends: &[(u32, u32)], weights: &[u32], matcher: &mut Matcher, part: f64) -> Result<(), String> {
        let mut gains: Vec<_> = weights.iter().enumerate().map(|(i, &w)| (f64::from(w), to_u32(i))).collect();
        let best = largest(ends, &gains, 0);
        let gain = matcher.matching(ends, &mut gains);
        let mut ports: Vec<u32> = matcher.matched.iter().flat_map(|&e| [ends[e as usize].0, ends[e as usize].1]).collect();
        ports.sort_unstable();
        ports.dedup();
        let sum: f64 = matcher.matched.iter().map(|&e| f64::from(weights[e as usize])).sum();
        let right = ports.len() == 2 * matcher.matched.len() && (sum - gain).abs() < 1e-9 && gain >= part * best - 1e-9;
        if right { Ok(()) } else { Err(format!("{:?}: gain {gain} of {best}", matcher.matched)) }
    }

    proptest! {
        #[test]
        fn matchings(edges in prop::collection::vec((0u32..5, 0u32..5, 1u32..100), 0..11)) {
            let ends: Vec<_> = edges.iter().map(|e| (e.0, 5 + e.1)).collect();
            let weights: Vec<_> = edges.iter().map(|e| e.2).collect();
            check(&ends, &weights, &mut Matcher::new(10, 5, true), 1.0).map_err(TestCaseError::fail)?;
            check(&ends, &weights, &mut Matcher::new(10, 5, false), 0.5).map_err(TestCaseError::fail)?;
        }

        /// The same for graphs in which any two ports may be joined, as in half duplex.
        #[test]
        fn matchings_of_any_graph(edges in prop::collection::vec((0u32..8, 1u32..8, 1u32..100), 0..11)) {
            let ends: Vec<_> = edges.iter().map(|e| (e.0, (e.0 + e.1) % 8)).collect();
            let weights: Vec<_> = edges.iter().map(|e| e.2).collect();
            check(&ends, &weights, &mut Matcher::new(8, 0, false), 0.5).map_err(TestCaseError::fail)?;
        }
    }
}
