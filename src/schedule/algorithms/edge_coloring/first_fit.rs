//! Edges by decreasing length, each into the first round in which both its ports are free, so that
//! long messages share rounds: the same rounds as if each took the longest edges that still find
//! their ports free.
//!
//! Where that would open a round beyond the largest degree, an edge goes into one that is free at
//! one of its ports, after the path that this round forms with another one, free at the other port,
//! has swapped both (Kempe), if that lengthens the rounds by less than a new one costs.
//!
//! Cost: O(E log E + E d / 64) time, and a limited number of steps along paths. Memory: 4 bytes for
//! each port and round.

use std::cmp::Reverse;

use crate::util::cast::to_u32;

use super::problem::{PortRounds, Problem};

/// No edge.
const NONE: u32 = u32::MAX;

/// Maximum number of steps along paths, and of edges for which there are any.
const MOST_FOLLOWED: usize = 1 << 19;

/// Free rounds of a port that are tried.
const TRIED: usize = 4;

/// Maximum number of places for an edge in a round, in multiples of the number of edges: degrees
/// that differ so much are left to others.
const MOST_PLACES: usize = 64;

struct Fit<'a> {
    problem: &'a Problem<'a>,
    degree: usize,
    /// Words of 64 bits of a port.
    words: usize,
    /// A bit for each port and round, set if the port is busy.
    busy: Vec<u64>,
    /// The edge of each port in each of the first `2 degree` rounds; empty if no paths are
    /// followed.
    at: Vec<u32>,
    /// The round of each edge.
    color: Vec<u32>,
    /// The longest edge of each round.
    cap: Vec<u32>,
    path: Vec<u32>,
    /// Number of steps along paths.
    followed: usize,
}

/// Builds the rounds; `None` if degrees differ so much that it would take too much memory.
pub fn rounds(problem: &Problem) -> Option<PortRounds> {
    let degree = problem.degree as usize;
    let edges = problem.ends.len();
    if problem.ports.saturating_mul(2 * degree) > MOST_PLACES * edges {
        return None;
    }
    let words = (2 * degree).div_ceil(64);
    let follows = problem.left > 0 && edges <= MOST_FOLLOWED;
    let mut fit = Fit {
        problem,
        degree,
        words,
        busy: vec![0; problem.ports * words],
        at: if follows { vec![NONE; problem.ports * 2 * degree] } else { Vec::new() },
        color: vec![0; edges],
        cap: Vec::new(),
        path: Vec::new(),
        followed: 0,
    };
    for e in longest_first(problem.lengths) {
        fit.insert(e);
    }
    let mut rounds: PortRounds = vec![Vec::new(); fit.cap.len()];
    for ((e, &color), &length) in (0..).zip(&fit.color).zip(problem.lengths) {
        rounds[color as usize].push((e, length));
    }
    Some(rounds)
}

impl Fit<'_> {
    /// The first round in which two ports are free.
    fn free_at_both(&self, (a, b): (u32, u32)) -> usize {
        let [a, b] = [a, b].map(|port| &self.busy[port as usize * self.words..][..self.words]);
        let word = a.iter().zip(b).position(|(a, b)| a | b != u64::MAX).unwrap_or(0);
        64 * word + (a[word] | b[word]).trailing_ones() as usize
    }

    /// PortRounds in which a port is free, the last ones first.
    fn free_at(&self, port: u32) -> Vec<usize> {
        let place = port as usize * 2 * self.degree;
        (0..self.cap.len()).rev().filter(|&r| self.at[place + r] == NONE).take(TRIED).collect()
    }

    fn put(&mut self, port: u32, r: usize, e: u32) {
        if !self.at.is_empty() {
            self.at[port as usize * 2 * self.degree + r] = e;
        }
        let bit = 1 << (r % 64);
        let word = &mut self.busy[port as usize * self.words + r / 64];
        *word = if e == NONE { *word & !bit } else { *word | bit };
    }

    fn insert(&mut self, e: u32) {
        let ends = self.problem.ends[e as usize];
        let length = self.problem.lengths[e as usize];
        let mut r = self.free_at_both(ends);
        if r == self.cap.len() {
            match self.make_free(ends, self.problem.startup + f64::from(length)) {
                Some(free) => r = free,
                None => self.cap.push(length),
            }
        }
        self.color[e as usize] = to_u32(r);
        self.put(ends.0, r, e);
        self.put(ends.1, r, e);
    }

    /// Makes a round free at both ports, if that lengthens rounds by less than `opening`.
    fn make_free(&mut self, (a, b): (u32, u32), opening: f64) -> Option<usize> {
        if self.at.is_empty() || self.cap.len() < self.degree {
            return None;
        }
        let opening = if self.cap.len() < self.problem.most { opening } else { f64::INFINITY };
        let (mut least, mut best) = (opening, None);
        let (at_a, at_b) = (self.free_at(a), self.free_at(b));
        for (&s, &t) in at_a.iter().flat_map(|s| at_b.iter().map(move |t| (s, t))) {
            if least == 0.0 || self.followed > MOST_FOLLOWED {
                break;
            }
            let grows = f64::from(self.follow(b, s, t));
            if grows < least {
                (least, best) = (grows, Some((s, t)));
            }
        }
        let (s, t) = best?;
        self.follow(b, s, t);
        self.swap(s, t);
        Some(s)
    }

    /// Collects the path of rounds `s` and `t` that begins at a port where `t` is free; by how much
    /// a round grows if they swap it.
    fn follow(&mut self, mut port: u32, s: usize, t: usize) -> u32 {
        self.path.clear();
        let mut round = s;
        let mut grows = 0;
        loop {
            let e = self.at[port as usize * 2 * self.degree + round];
            if e == NONE {
                break;
            }
            self.path.push(e);
            port = self.problem.other(e, port);
            round = s + t - round;
            grows = grows.max(self.problem.lengths[e as usize].saturating_sub(self.cap[round]));
        }
        self.followed += self.path.len();
        grows
    }

    /// Lets two rounds swap the path.
    fn swap(&mut self, s: usize, t: usize) {
        let path = std::mem::take(&mut self.path);
        for &e in &path {
            let (a, b) = self.problem.ends[e as usize];
            let r = self.color[e as usize] as usize;
            self.put(a, r, NONE);
            self.put(b, r, NONE);
        }
        for &e in &path {
            let (a, b) = self.problem.ends[e as usize];
            let r = s + t - self.color[e as usize] as usize;
            self.color[e as usize] = to_u32(r);
            self.cap[r] = self.cap[r].max(self.problem.lengths[e as usize]);
            self.put(a, r, e);
            self.put(b, r, e);
        }
        self.path = path;
    }
}

/// The edges in the order of their lengths.
pub fn longest_first(lengths: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..to_u32(lengths.len())).collect();
    order.sort_unstable_by_key(|&e| (Reverse(lengths[e as usize]), e));
    order
}

#[cfg(test)]
mod tests {
    use super::super::problem::tests::{problem_of, serves_all};
    use super::*;
    use crate::util::cases::cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(cases(128))]

        /// Nothing is cut, fewer than two rounds for each edge of a port are used, and where rounds
        /// are limited to the largest degree, that many suffice.
        #[test]
        fn all_edges_find_rounds(
            edges in prop::collection::vec((0u32..12, 0u32..12, 0u32..100), 1..120),
            bipartite in any::<bool>(),
            startup in 0.0f64..200.0,
        ) {
            let (ends, lengths) = problem_of(&edges, bipartite);
            let problem = Problem::of(&ends, &lengths, 24, bipartite, startup);
            let degree = problem.degree as usize;
            for most in [usize::MAX, degree] {
                let rounds = rounds(&Problem { most, ..problem }).unwrap();
                serves_all(&problem, &rounds).map_err(TestCaseError::fail)?;
                prop_assert_eq!(rounds.iter().map(Vec::len).sum::<usize>(), edges.len());
                prop_assert!(rounds.len() < 2 * degree && (!bipartite || rounds.len() <= most));
            }
        }
    }

    /// A round takes the longest edges, as long as their ports are free.
    #[test]
    fn long_edges_share_rounds() {
        let ends = [(0, 2), (1, 3), (0, 3), (1, 2)];
        let problem = Problem::of(&ends, &[9, 8, 2, 1], 4, true, 1.0);
        assert_eq!(rounds(&problem).unwrap(), [vec![(0, 9), (1, 8)], vec![(2, 2), (3, 1)]]);
    }

    #[test]
    fn memory_is_limited() {
        let ends: Vec<_> = (0..2_000).map(|p| (0, 2_000 + p)).collect();
        assert_eq!(rounds(&Problem::of(&ends, &[1; 2_000], 4_000, true, 1.0)), None);
    }
}
