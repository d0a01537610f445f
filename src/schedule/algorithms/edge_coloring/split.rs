//! Rounds with cut messages, close to the open-shop optimum.
//!
//! The *rest* of a port is a lower bound of its remaining cost: a startup for each message, plus
//! their lengths. The largest rest bounds the remaining cost of the schedule. A round is a matching
//! and a cut: each matched message is shortened by at most the cut, and a message that is finished
//! also saves its startup. PortRounds are chosen one by one: for each of a few cuts, a matching of
//! large gain is sought, and the cut with the largest gain relative to its cost is taken. The
//! gain of serving a message is its reduction of the potential, the sum over ports of `2^(b rest)`,
//! which grows so steeply that the ports with the largest rest dominate. The best steepness depends
//! on the graph, so a few are tried.
//!
//! Matchings are exact (`assignment`) for few ports. If there are more, the ports choose in the
//! order of their rest, each the message that gains most of those whose other port is free; one
//! that finds none takes over the other port of a message, if that one's own port finds something
//! else and both together gain.
//!
//! Cost: O(E) for each cut and round with the ports' choices, O(n^3) with exact matchings of n
//! ports; as many steps as the caller allows. All arithmetic uses the four basic operations on f64,
//! so that all processes compute the same rounds.

use crate::schedule::assignment::Assignment;
use crate::schedule::input::Tuning;
use crate::util::cast::to_u32;
use crate::util::random::Random;

use super::first_fit;
use super::numeric::{logarithm, power_of_two};
use super::problem::{PortRounds, Problem};

/// Steepness, per message and per rest, of the attempts with exact matchings; each is tried with
/// and without cuts.
const EXACT: [(f64, f64); 2] = [(6.0, 40.0), (4.0, 20.0)];

/// Maximum number of ports on one side for exact matchings.
const EXACT_PORTS: usize = 64;

/// Graphs with more edges get the fewest cuts.
const MANY_EDGES: usize = 10_000;

/// Lengths among which cuts are chosen.
const SAMPLE: usize = 1024;

/// Rounds are chosen as if their startup cost at least the mean message divided by this.
const CUTS_OF_MEAN: f64 = 50.0;

/// Messages of a port that are looked at for a round if one of them can be taken.
const MOST_LOOKED_AT: usize = 64;

/// Elementary steps of looking at a message, which is where memory is slow.
const VISIT: u64 = 12;

/// No edge or port.
const NONE: u32 = u32::MAX;

/// How rounds are chosen.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Steepness of the potential: powers of two per startup and mean message.
    pub per_message: f64,
    /// The minimum of that, per largest rest.
    pub per_rest: f64,
    /// Weight of a round's startup when cuts are compared.
    pub weight: f64,
    /// Number of cuts tried for a round.
    pub cuts: usize,
    /// True if messages are cut.
    pub split: bool,
    /// True if matchings are exact.
    pub exact: bool,
}

impl Style {
    /// The style of an attempt, counted from 0: the first ones have exact matchings where these are
    /// affordable, others are random. Every second one cuts nothing.
    pub fn new(problem: &Problem, attempt: usize, tuning: &Tuning, random: &mut Random) -> Style {
        let style = Style {
            per_message: 2.0 + 6.0 * random.unit(),
            per_rest: 20.0 + 40.0 * random.unit(),
            weight: 1.0 + 0.4 * random.unit(),
            cuts: if problem.ends.len() > MANY_EDGES { 2 } else { 4 + random.below(8) as usize },
            split: tuning.split && attempt.is_multiple_of(2),
            exact: false,
        };
        let Some(&(per_message, per_rest)) = EXACT.get(attempt / 2) else { return style };
        let exact = Style { per_message, per_rest, weight: 1.0, cuts: 8, exact: true, ..style };
        let affordable = (1..=EXACT_PORTS).contains(&problem.left) && steps(problem, exact) <= tuning.budget / 4;
        if affordable { exact } else { style }
    }
}

/// Builds rounds unless that takes more steps than the budget; and the number of steps.
pub fn rounds(problem: &Problem, style: Style, budget: u64) -> (Option<PortRounds>, u64) {
    if steps(problem, style) > budget {
        return (None, 0);
    }
    let mut search = Search::new(problem, style);
    let mut rounds = PortRounds::new();
    while search.open > 0 && search.spent < budget {
        let round = search.round();
        search.serve(&round);
        rounds.push(round);
    }
    ((search.open == 0).then_some(rounds), search.spent)
}

/// About as many steps as an attempt takes.
fn steps(problem: &Problem, style: Style) -> u64 {
    let (edges, degree) = (problem.ends.len() as u64, u64::from(problem.degree));
    // half of the edges are left in the mean
    let rounds = degree + degree / 4;
    let matching = if style.exact { 4 * (problem.left as u64).pow(3) } else { 2 * VISIT * edges };
    rounds.saturating_mul(style.cuts as u64 * matching)
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    style: Style,
    /// Cost of a round for choices.
    startup: f64,
    per_message: f64,
    /// Remaining length of each message.
    left: Vec<u32>,
    done: Vec<bool>,
    open: usize,
    /// Messages of each port, the longest first; some are done.
    lists: Vec<Vec<u32>>,
    /// Number of messages of each port that are not done.
    live: Vec<u32>,
    rest: Vec<f64>,
    potential: Vec<f64>,
    /// Ports with messages, those with the largest rest first.
    order: Vec<u32>,
    /// The edge of each port.
    mate: Vec<u32>,
    assignment: Option<Assignment>,
    spent: u64,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, style: Style) -> Search<'a> {
        let edges = problem.ends.len();
        let total: f64 = problem.lengths.iter().map(|&l| f64::from(l)).sum();
        let mean = total / edges.max(1) as f64;
        // where startups are free, or nearly, ever more and ever shorter rounds help no one
        let startup = problem.startup.max(mean / CUTS_OF_MEAN);
        // where nothing costs anything, rounds count
        let startup = if startup > 0.0 { startup } else { 1.0 };
        let mut rest = vec![0.0; problem.ports];
        let mut lists = vec![Vec::new(); problem.ports];
        for e in first_fit::longest_first(problem.lengths) {
            let (a, b) = problem.ends[e as usize];
            for port in [a, b] {
                rest[port as usize] += startup + f64::from(problem.lengths[e as usize]);
                lists[port as usize].push(e);
            }
        }
        Search {
            problem,
            style,
            startup,
            per_message: style.per_message / (startup + mean),
            left: problem.lengths.to_vec(),
            done: vec![false; edges],
            open: edges,
            live: lists.iter().map(|l: &Vec<u32>| to_u32(l.len())).collect(),
            lists,
            rest,
            potential: vec![0.0; problem.ports],
            order: (0..to_u32(problem.ports)).collect(),
            mate: vec![NONE; problem.ports],
            assignment: style.exact.then(Assignment::default),
            spent: 20 * edges as u64,
        }
    }

    /// Chooses one more round.
    fn round(&mut self) -> Vec<(u32, u32)> {
        let (rest, live) = (&self.rest, &self.live);
        self.order.retain(|&p| live[p as usize] > 0);
        self.order.sort_by(|&p, &q| rest[q as usize].total_cmp(&rest[p as usize]).then(p.cmp(&q)));
        let largest = rest[self.order[0] as usize];
        let steep = self.per_message.max(self.style.per_rest / largest);
        let mut sum = 0.0;
        for &p in &self.order {
            self.potential[p as usize] = power_of_two(steep * (rest[p as usize] - largest));
            sum += self.potential[p as usize];
        }
        self.spent += 60 * self.order.len() as u64;
        let mut best: (f64, Vec<(u32, u32)>) = (-1.0, Vec::new());
        for cut in self.cuts() {
            let (gain, matched) = if self.assignment.is_some() { self.exact(cut, steep) } else { self.greedy(cut, steep) };
            let served: Vec<_> = matched.into_iter().map(|e| (e, self.left[e as usize].min(cut))).collect();
            let longest = served.iter().map(|m| m.1).max().unwrap_or(0);
            let score = -logarithm(1.0 - (gain / sum).min(0.999_999)) / (self.startup * self.style.weight + f64::from(longest));
            if score > best.0 {
                best = (score, served);
            }
        }
        best.1
    }

    fn serve(&mut self, round: &[(u32, u32)]) {
        for &(e, length) in round {
            let (a, b) = self.problem.ends[e as usize];
            let left = &mut self.left[e as usize];
            *left -= length;
            let mut loses = f64::from(length);
            if *left == 0 {
                self.done[e as usize] = true;
                self.open -= 1;
                loses += self.startup;
            }
            for port in [a as usize, b as usize] {
                self.rest[port] -= loses;
                self.live[port] -= u32::from(self.done[e as usize]);
                if 2 * (self.live[port] as usize) < self.lists[port].len() {
                    let done = &self.done;
                    self.spent += 2 * self.lists[port].len() as u64;
                    self.lists[port].retain(|&e| !done[e as usize]);
                }
            }
        }
    }

    /// Cuts to try: lengths of remaining messages, evenly distributed.
    fn cuts(&mut self) -> Vec<u32> {
        let cuts = self.style.cuts;
        let step = self.order.len().div_ceil(SAMPLE);
        let mut lengths = Vec::with_capacity(2 * SAMPLE);
        // all of them where they are few
        for &p in self.order.iter().step_by(step) {
            let of_port = self.lists[p as usize].iter().filter(|&&e| !self.done[e as usize]);
            lengths.extend(of_port.take(SAMPLE.div_ceil(self.order.len() / step)).map(|&e| self.left[e as usize]));
        }
        self.spent += 20 * lengths.len() as u64;
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.len() <= cuts {
            return lengths;
        }
        (0..cuts).map(|k| lengths[(k + 1) * (lengths.len() - 1) / cuts]).collect()
    }

    /// The gain of a message, 0 if it must not be served.
    fn gain(&self, e: u32, cut: u32, steep: f64) -> f64 {
        let length = self.left[e as usize];
        let loses = match length <= cut {
            true => self.startup + f64::from(length),
            // without splitting, the cut determines which messages wait; with a cut of 0, only
            // messages of length 0 are served
            false if !self.style.split || cut == 0 => return 0.0,
            false => f64::from(cut),
        };
        let (a, b) = self.problem.ends[e as usize];
        (self.potential[a as usize] + self.potential[b as usize]) * (1.0 - power_of_two(-steep * loses))
    }

    /// The matching of largest gain.
    fn exact(&mut self, cut: u32, steep: f64) -> (f64, Vec<u32>) {
        let open = (0..to_u32(self.done.len())).filter(|&e| !self.done[e as usize]);
        let gains: Vec<(f64, u32)> = open.map(|e| (self.gain(e, cut, steep), e)).filter(|g| g.0 > 0.0).collect();
        let mut matched = Vec::new();
        let Some(assignment) = &mut self.assignment else { return (0.0, matched) };
        let before = assignment.steps;
        let sum = assignment.solve(self.problem.left, self.problem.ends, &gains, &mut matched);
        self.spent += assignment.steps - before + 10 * self.done.len() as u64;
        (sum, matched)
    }

    /// A matching in the order of rests.
    fn greedy(&mut self, cut: u32, steep: f64) -> (f64, Vec<u32>) {
        for &p in &self.order {
            self.mate[p as usize] = NONE;
        }
        let order = std::mem::take(&mut self.order);
        for &p in &order {
            if self.mate[p as usize] == NONE {
                match self.choice(p, cut, steep) {
                    (_, NONE) => self.take_over(p, cut, steep),
                    (_, e) => self.set(e, e),
                }
            }
        }
        let first = |&p: &u32| Some(self.mate[p as usize]).filter(|&e| e != NONE && self.problem.ends[e as usize].0 == p);
        let matched: Vec<u32> = order.iter().filter_map(first).collect();
        self.order = order;
        self.spent += 12 * matched.len() as u64;
        (matched.iter().map(|&e| self.gain(e, cut, steep)).sum(), matched)
    }

    fn set(&mut self, e: u32, value: u32) {
        let (a, b) = self.problem.ends[e as usize];
        self.mate[a as usize] = value;
        self.mate[b as usize] = value;
    }

    /// The message of a port that gains most of those whose other port is free.
    fn choice(&mut self, p: u32, cut: u32, steep: f64) -> (f64, u32) {
        let mut best = (0.0, NONE);
        let mut looked = 0;
        for &e in &self.lists[p as usize] {
            looked += 1;
            if !self.done[e as usize] && self.mate[self.problem.other(e, p) as usize] == NONE {
                let gain = self.gain(e, cut, steep);
                if gain > best.0 {
                    best = (gain, e);
                }
                if looked >= MOST_LOOKED_AT && best.1 != NONE {
                    break;
                }
            }
        }
        self.spent += VISIT * looked as u64;
        best
    }

    /// Lets a port that found nothing have the other port of a message whose own port finds
    /// something else.
    fn take_over(&mut self, p: u32, cut: u32, steep: f64) {
        let mut best = (0.0, NONE, NONE, NONE);
        // nobody else may choose it
        self.mate[p as usize] = p;
        for k in 0..self.lists[p as usize].len().min(MOST_LOOKED_AT) {
            let e = self.lists[p as usize][k];
            let q = self.problem.other(e, p);
            let held = self.mate[q as usize];
            if self.done[e as usize] || held == NONE || q == p {
                continue;
            }
            let own = self.problem.other(held, q);
            let gain = self.gain(e, cut, steep);
            if gain == 0.0 {
                continue;
            }
            let difference = gain - self.gain(held, cut, steep);
            // at most what the other choice could gain
            if difference + 2.0 * self.potential[own as usize] > best.0 {
                let (instead, other) = self.choice(own, cut, steep);
                if difference + instead > best.0 {
                    best = (difference + instead, e, held, other);
                }
            }
        }
        self.mate[p as usize] = NONE;
        let (_, e, held, other) = best;
        if e != NONE {
            self.set(held, NONE);
            self.set(e, e);
            if other != NONE {
                self.set(other, other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::tests::{problem_of, serves_all};
    use super::*;
    use crate::util::cases::cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(cases(64))]

        /// Every style serves all of every message, and no port twice in a round.
        #[test]
        fn styles_serve_all(
            edges in prop::collection::vec((0u32..12, 0u32..12, 0u32..100), 1..80),
            bipartite in any::<bool>(),
            startup in 0.0f64..200.0,
            seed in any::<u64>(),
        ) {
            let (ends, lengths) = problem_of(&edges, bipartite);
            let problem = Problem::of(&ends, &lengths, 24, bipartite, startup);
            let mut random = Random::new(seed);
            for attempt in 0..8 {
                let style = Style::new(&problem, attempt, &Tuning::default(), &mut random);
                prop_assert_eq!(style.exact, bipartite && attempt < 4);
                let (rounds, steps) = rounds(&problem, style, u64::MAX);
                let rounds = rounds.unwrap();
                serves_all(&problem, &rounds).map_err(TestCaseError::fail)?;
                prop_assert!(style.split || rounds.iter().map(Vec::len).sum::<usize>() == edges.len());
                // what does not fit the budget is not begun
                prop_assert!(steps > 0);
                prop_assert_eq!(super::rounds(&problem, style, 0).0, None);
            }
        }
    }
}
