//! Improves rounds by simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983).
//!
//! A round has a *cap*, the length of its longest message. An edge is a member of one round, or of
//! several that share its message: the caps of its rounds add up to its length at least. The cost
//! is the sum of the caps, and a startup for each round that has members. What an edge *needs* of
//! one of its rounds is what the caps of its other rounds leave.
//!
//! A move takes an edge, mostly one that needs the whole cap of its round, and another round:
//! - The edges of two rounds form paths and cycles in which the rounds alternate; the one with that
//!   edge swaps its rounds (Kempe). Both caps become what the members need.
//! - If that does not pay, and the ends of the edge are free in the other round, it becomes a
//!   member there, too, so that its first round can be shorter.
//!
//! Moves that lengthen the rounds are taken at random, the less, the lower a temperature that sinks
//! exponentially.
//!
//! Cost: a move takes O(n) for n ports. Memory: 4 bytes for each port and round.

use crate::util::cast::to_u32;
use crate::util::random::Random;

use super::numeric::{logarithm, power_of_two};
use super::problem::{PortRounds, Problem};

/// No edge.
const NONE: u32 = u32::MAX;

/// Temperatures at the beginning and at the end, in multiples of the mean cost of a round.
const HOT: f64 = 0.02;
const COLD: f64 = 0.0005;

/// Moves at one temperature.
const MOVES: u32 = 128;

/// Fewest steps for an edge that are of use.
const LEAST_STEPS: u64 = 1024;

/// Maximum number of places for an edge in a round, in multiples of the number of edges.
const MOST_PLACES: usize = 64;

/// Maximum number of rounds that share a message.
const MOST_SHARES: usize = 16;

/// Returns rounds that start as `rounds` and have changed by moves that took about `budget`
/// elementary steps; `None` if these are too few for the graph.
pub fn improve(problem: &Problem, rounds: &PortRounds, budget: u64) -> Option<PortRounds> {
    let edges = problem.ends.len();
    if budget < LEAST_STEPS * edges as u64 || rounds.len() < 2 || problem.ports * rounds.len() > MOST_PLACES * edges {
        return None;
    }
    let mut state = State::new(problem, rounds);
    let mut random = Random::new(problem.seed);
    let count = to_u32(rounds.len());
    let mean = state.cost() / f64::from(count);
    let doublings = logarithm(HOT / COLD) / std::f64::consts::LN_2;
    while state.spent < budget {
        let temperature = mean * HOT * power_of_two(-doublings * state.spent as f64 / budget as f64);
        for _ in 0..MOVES {
            let (r, s) = (random.below(count) as usize, random.below(count) as usize);
            let allowed = temperature * -logarithm(random.unit().max(1e-9));
            let any = random.below(4) == 0;
            state.spent += 40;
            if r != s && !state.members[r].is_empty() {
                let place = if any { random.below(to_u32(state.members[r].len())) as usize } else { 0 };
                state.step([r, s], place, allowed);
            }
        }
    }
    Some(state.rounds())
}

struct State<'a> {
    problem: &'a Problem<'a>,
    /// The edge of each port, round by round.
    at: Vec<u32>,
    /// The rounds of each edge.
    rounds_of: Vec<Vec<u32>>,
    cap: Vec<i64>,
    /// Length of each edge less the caps of its rounds: what it needs of one of them is this and
    /// that one's cap.
    excess: Vec<i64>,
    /// Members of each round, those that need most of it first, unless it is stale.
    members: Vec<Vec<u32>>,
    /// Those members that have other rounds, too.
    shared: Vec<Vec<u32>>,
    stale: Vec<bool>,
    /// The last move that reached an edge, and the number of moves.
    seen: Vec<u32>,
    moves: u32,
    /// Edges that swap two rounds: those of the first, those of the second.
    component: [Vec<u32>; 2],
    spent: u64,
}

impl<'a> State<'a> {
    fn new(problem: &'a Problem<'a>, rounds: &PortRounds) -> State<'a> {
        let edges = problem.ends.len();
        let mut state = State {
            problem,
            at: vec![NONE; problem.ports * rounds.len()],
            rounds_of: vec![Vec::with_capacity(2); edges],
            cap: rounds.iter().map(|round| round.iter().map(|m| i64::from(m.1)).max().unwrap_or(0)).collect(),
            excess: problem.lengths.iter().map(|&l| i64::from(l)).collect(),
            members: vec![Vec::new(); rounds.len()],
            shared: vec![Vec::new(); rounds.len()],
            stale: vec![true; rounds.len()],
            seen: vec![0; edges],
            moves: 0,
            component: [Vec::new(), Vec::new()],
            spent: 0,
        };
        for (r, round) in rounds.iter().enumerate() {
            round.iter().for_each(|m| state.join(m.0, r));
        }
        state
    }

    fn cost(&self) -> f64 {
        self.cap.iter().zip(&self.members).filter(|c| !c.1.is_empty()).map(|c| self.problem.startup + *c.0 as f64).sum()
    }

    fn cell(&self, r: usize, port: u32) -> u32 {
        self.at[r * self.problem.ports + port as usize]
    }

    fn set(&mut self, r: usize, e: u32, value: u32) {
        let (a, b) = self.problem.ends[e as usize];
        for port in [a, b] {
            self.at[r * self.problem.ports + port as usize] = value;
        }
    }

    fn join(&mut self, e: u32, r: usize) {
        self.set(r, e, e);
        self.excess[e as usize] -= self.cap[r];
        self.rounds_of[e as usize].push(to_u32(r));
        self.members[r].push(e);
        self.outdate(e);
    }

    /// Leaves the list of members as it is.
    fn leave(&mut self, e: u32, r: usize) {
        self.outdate(e);
        self.set(r, e, NONE);
        self.excess[e as usize] += self.cap[r];
        self.rounds_of[e as usize].retain(|&other| other as usize != r);
    }

    fn outdate(&mut self, e: u32) {
        for &r in &self.rounds_of[e as usize] {
            self.stale[r as usize] = true;
        }
    }

    /// Brings the lists of a round up to date.
    fn refresh(&mut self, r: usize) {
        if !std::mem::replace(&mut self.stale[r], false) {
            return;
        }
        let State { members, shared, excess, rounds_of, .. } = self;
        members[r].sort_unstable_by_key(|&e| (-excess[e as usize], e));
        shared[r].clear();
        shared[r].extend(members[r].iter().filter(|&&e| rounds_of[e as usize].len() > 1));
        self.spent += 32 * self.members[r].len() as u64;
    }

    /// One move of an edge of round `r`, to `s` or also to `s`, if the cost grows by at most
    /// `allowed`.
    fn step(&mut self, [r, s]: [usize; 2], place: usize, allowed: f64) {
        self.refresh(r);
        self.refresh(s);
        let edge = self.members[r][place];
        let (a, b) = self.problem.ends[edge as usize];
        if self.cell(s, a) == edge {
            return;
        }
        let caps = self.follow([r, s], edge);
        let startups = |first: usize, second: usize| f64::from(u32::from(first > 0) + u32::from(second > 0));
        let [from, to] = [self.members[r].len(), self.members[s].len()];
        let [leave, come] = [self.component[0].len(), self.component[1].len()];
        let difference = (caps[0] + caps[1] - self.cap[r] - self.cap[s]) as f64
            + self.problem.startup * (startups(from + come - leave, to + leave - come) - startups(from, to));
        if difference <= allowed {
            self.swap([r, s], caps);
        } else if self.cell(s, a) == NONE && self.cell(s, b) == NONE && self.rounds_of[edge as usize].len() < MOST_SHARES {
            let need = |e: u32| self.excess[e as usize] + self.cap[r];
            let second = self.members[r].iter().copied().find(|&e| e != edge).map_or(0, need);
            let cap = second.max(need(edge) - self.cap[s]).max(0);
            if (cap - self.cap[r]) as f64 + self.problem.cut <= allowed && self.cap[s] > 0 && cap < self.cap[r] {
                self.join(edge, s);
                self.set_caps([r, s], [cap, self.cap[s]]);
            }
        }
    }

    /// Finds the path or cycle of the edges of two rounds that has an edge of the first; the caps
    /// of both after it has swapped them.
    fn follow(&mut self, [r, s]: [usize; 2], first: u32) -> [i64; 2] {
        self.moves += 1;
        let State { problem, at, seen, component, excess, cap, moves, .. } = self;
        let ends = problem.ends;
        component.iter_mut().for_each(Vec::clear);
        component[0].push(first);
        seen[first as usize] = *moves;
        // what those that leave r, and those that leave s, need
        let mut most = [excess[first as usize] + cap[r], 0];
        'both: for mut port in [ends[first as usize].0, ends[first as usize].1] {
            let mut side = 1;
            loop {
                let round = if side == 0 { r } else { s };
                let e = at[round * problem.ports + port as usize];
                if e == NONE {
                    break;
                }
                if seen[e as usize] == *moves {
                    break 'both;
                }
                seen[e as usize] = *moves;
                component[side].push(e);
                most[side] = most[side].max(excess[e as usize] + cap[round]);
                port = problem.other(e, port);
                side = 1 - side;
            }
        }
        self.spent += 8 * (self.component[0].len() + self.component[1].len()) as u64;
        // those that stay, but for those that belong to both
        let stays = |round: usize, other: usize| {
            let stays =
                |&&e: &&u32| self.seen[e as usize] != self.moves && self.cell(other, self.problem.ends[e as usize].0) != e;
            self.members[round].iter().find(stays).map_or(0, |&e| self.excess[e as usize] + self.cap[round])
        };
        let mut caps = [stays(r, s).max(most[1]).max(0), stays(s, r).max(most[0]).max(0)];
        let both = self.shared[r].iter().filter(|&&e| self.cell(s, self.problem.ends[e as usize].0) == e);
        let both = both.map(|&e| self.excess[e as usize] + self.cap[r] + self.cap[s]).max().unwrap_or(0);
        caps[usize::from(self.cap[s] > self.cap[r])] += (both - caps[0] - caps[1]).max(0);
        caps
    }

    /// Swaps the rounds of the component.
    fn swap(&mut self, [r, s]: [usize; 2], caps: [i64; 2]) {
        let component = std::mem::take(&mut self.component);
        for (list, round) in component.iter().zip([r, s]) {
            list.iter().for_each(|&e| self.leave(e, round));
            let (seen, moves) = (&self.seen, self.moves);
            self.members[round].retain(|&e| seen[e as usize] != moves);
        }
        for (list, round) in component.iter().zip([s, r]) {
            list.iter().for_each(|&e| self.join(e, round));
        }
        self.component = component;
        self.set_caps([r, s], caps);
    }

    /// Changes the caps of two rounds, and ends memberships that are no longer needed.
    fn set_caps(&mut self, rounds: [usize; 2], caps: [i64; 2]) {
        for (r, cap) in rounds.into_iter().zip(caps) {
            let difference = cap - std::mem::replace(&mut self.cap[r], cap);
            for i in 0..self.members[r].len() {
                let e = self.members[r][i];
                self.excess[e as usize] -= difference;
                self.outdate(e);
            }
        }
        for r in rounds {
            let mut i = 0;
            while i < self.members[r].len() {
                let e = self.members[r][i];
                if self.rounds_of[e as usize].len() > 1 && self.excess[e as usize] + self.cap[r] <= 0 {
                    self.leave(e, r);
                    self.members[r].swap_remove(i);
                } else {
                    i += 1;
                }
            }
            self.stale[r] = true;
            self.spent += 16 * self.members[r].len() as u64;
        }
    }

    fn rounds(&self) -> PortRounds {
        let mut rounds: PortRounds = vec![Vec::new(); self.cap.len()];
        let mut shares: Vec<u32> = Vec::new();
        for (e, of_edge) in self.rounds_of.iter().enumerate() {
            let mut rest = self.problem.lengths[e];
            shares.clone_from(of_edge);
            // the longest shares first, so that they are few
            shares.sort_by_key(|&r| (-self.cap[r as usize], r));
            for (k, &r) in shares.iter().enumerate() {
                let length = to_u32(i64::from(rest).min(self.cap[r as usize]));
                if length > 0 || k == 0 {
                    rounds[r as usize].push((to_u32(e), length));
                }
                rest -= length;
            }
        }
        rounds.retain(|round| !round.is_empty());
        rounds
    }
}

#[cfg(test)]
mod tests {
    use super::super::first_fit;
    use super::super::problem::tests::{problem_of, serves_all};
    use super::*;
    use crate::util::cases::cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(cases(64))]

        /// Moves keep rounds valid, with and without cuts, whatever they start from.
        #[test]
        fn moves_keep_rounds_valid(
            edges in prop::collection::vec((0u32..12, 0u32..12, 0u32..100), 12..80),
            bipartite in any::<bool>(),
            split in any::<bool>(),
            startup in 0.0f64..50.0,
            seed in any::<u64>(),
        ) {
            let (ends, lengths) = problem_of(&edges, bipartite);
            let cut = if split { 0.1 } else { f64::INFINITY };
            let problem = Problem { cut, seed, ..Problem::of(&ends, &lengths, 24, bipartite, startup) };
            let start = first_fit::rounds(&problem).unwrap();
            for steps in [1u64 << 17, 1 << 19] {
                if let Some(rounds) = improve(&problem, &start, steps) {
                    serves_all(&problem, &rounds).map_err(TestCaseError::fail)?;
                    prop_assert!(rounds.len() <= start.len());
                    prop_assert!(split || rounds.iter().map(Vec::len).sum::<usize>() == edges.len());
                    prop_assert_eq!(Some(rounds), improve(&problem, &start, steps));
                }
            }
        }
    }

    /// Four edges in the wrong rounds: one swap mends that.
    #[test]
    fn heavy_edges_find_each_other() {
        let ends = [(0, 2), (1, 3), (0, 3), (1, 2)];
        let problem = Problem::of(&ends, &[9, 1, 8, 2], 4, true, 1.0);
        let start = vec![vec![(0, 9), (1, 1)], vec![(2, 8), (3, 2)]];
        assert_eq!(improve(&problem, &start, 1 << 16).unwrap().len(), 2);
        // edges of other processes, which can swap alone
        let ends = [(0, 4), (0, 5), (1, 6), (1, 7)];
        let problem = Problem::of(&ends, &[9, 1, 8, 2], 8, true, 1.0);
        let start = vec![vec![(0, 9), (3, 2)], vec![(1, 1), (2, 8)]];
        let improved = improve(&problem, &start, 1 << 16).unwrap();
        assert!(improved.iter().any(|round| round.contains(&(0, 9)) && round.contains(&(2, 8))), "{improved:?}");
    }
}
