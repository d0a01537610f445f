//! Matchings of largest gain between the ports on the left and those on the right: the Hungarian
//! method with shortest augmenting paths, O(n^3) for n ports on a side.

/// No edge.
const NONE: u32 = u32::MAX;

/// Memory for assignments.
#[derive(Default)]
pub struct Assignment {
    gain: Vec<f64>,
    edge: Vec<u32>,
    u: Vec<f64>,
    v: Vec<f64>,
    row_of: Vec<usize>,
    way: Vec<usize>,
    least: Vec<f64>,
    used: Vec<bool>,
    /// Elementary steps of all matchings.
    pub steps: u64,
}

impl Assignment {
    /// Adds a matching of the edges with their gains to `matched` and returns its gain. Edge `e`
    /// joins port `ends[e].0` below `n` and port `ends[e].1` from `n` on.
    pub fn solve(&mut self, n: usize, ends: &[(u32, u32)], gains: &[(f64, u32)], matched: &mut Vec<u32>) -> f64 {
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
        self.steps += 2 * (n * n) as u64;
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
            self.steps += 8 * n as u64;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cast::to_u32;
    use proptest::prelude::*;

    /// Returns the largest gain of all matchings, by trying all of them.
    fn largest(ends: &[(u32, u32)], gains: &[(f64, u32)], used: u64) -> f64 {
        let Some((&(gain, e), others)) = gains.split_first() else {
            return 0.0;
        };
        let ports = 1 << ends[e as usize].0 | 1 << ends[e as usize].1;
        let without = largest(ends, others, used);
        if used & ports != 0 { without } else { without.max(gain + largest(ends, others, used | ports)) }
    }

    proptest! {
        /// No port occurs twice, the gain is as returned, and the largest.
        #[test]
        fn matchings(edges in prop::collection::vec((0u32..5, 0u32..5, 1u32..100), 0..11)) {
            let ends: Vec<_> = edges.iter().map(|e| (e.0, 5 + e.1)).collect();
            let gains: Vec<_> = edges.iter().enumerate().map(|(i, e)| (f64::from(e.2), to_u32(i))).collect();
            let mut matched = Vec::new();
            let gain = Assignment::default().solve(5, &ends, &gains, &mut matched);
            let mut ports: Vec<u32> = matched.iter().flat_map(|&e| [ends[e as usize].0, ends[e as usize].1]).collect();
            ports.sort_unstable();
            ports.dedup();
            prop_assert_eq!(ports.len(), 2 * matched.len());
            let sum: f64 = matched.iter().map(|&e| gains[e as usize].0).sum();
            prop_assert!((sum - gain).abs() < 1e-9 && (gain - largest(&ends, &gains, 0)).abs() < 1e-9, "{gain}");
        }
    }
}
