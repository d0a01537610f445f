//! Colors the edges of a bipartite multigraph with exactly as many colors as its largest degree
//! (König's theorem).
//!
//! Ports of small degree are merged and edges added until every port has the same degree. If the
//! degree is even, an Euler split halves the graph: edges are paired at each port, and the pairs
//! chained into cycles whose edges go alternately to the two halves (Gabow 1976). If it is odd, a
//! perfect matching is removed first: a random walk that displaces matched edges finds one in O(n
//! log n) expected steps in a regular graph (Goel, Kapralov and Khanna 2010).
//!
//! Cost: O(E log d + c n log n) expected time for E edges, n ports and largest degree d, where c <=
//! d is the number of matchings removed, none if d is a power of two. Memory: 24 bytes per edge,
//! added ones included; there are at most 2 E + d edges in all.

use crate::util::cast::to_u32;
use crate::util::random::Random;

/// No edge.
const NONE: u32 = u32::MAX;

/// Returns the colors of edges that lead from a port on the left to one on the right; ports are
/// numbers below `ports`.
pub fn color(ports: usize, edges: &[(u32, u32)], seed: u64) -> Vec<u32> {
    let degree = max_degree(ports, edges);
    if degree == 0 {
        return Vec::new();
    }
    let mut regular = Regular::new(ports, edges, degree);
    let all = regular.ends.len();
    let mut coloring = Coloring {
        color: vec![NONE; all],
        order: (0..to_u32(all)).collect(),
        partner: [vec![NONE; all], vec![NONE; all]],
        pending: vec![NONE; regular.ports],
        random: Random::new(seed),
        ends: std::mem::take(&mut regular.ends),
        ports: regular.ports,
    };
    coloring.color_range(0, all, degree, 0);
    coloring.color.truncate(edges.len());
    coloring.color
}

fn max_degree(ports: usize, edges: &[(u32, u32)]) -> u32 {
    let (mut left, mut right) = (vec![0u32; ports], vec![0u32; ports]);
    for &(l, r) in edges {
        left[l as usize] += 1;
        right[r as usize] += 1;
    }
    left.into_iter().chain(right).max().unwrap_or(0)
}

/// The graph with merged ports and added edges, in which all ports have the same degree. The given
/// edges come first.
struct Regular {
    ports: usize,
    ends: Vec<(u32, u32)>,
}

impl Regular {
    fn new(ports: usize, edges: &[(u32, u32)], degree: u32) -> Regular {
        let left = merge(ports, edges.iter().map(|e| e.0), degree);
        let right = merge(ports, edges.iter().map(|e| e.1), degree);
        let merged = left.degrees.len().max(right.degrees.len());
        let mut ends = Vec::with_capacity(merged * degree as usize);
        ends.extend(edges.iter().map(|&(l, r)| (left.port[l as usize], right.port[r as usize])));
        let mut missing = right.missing(merged, degree);
        for l in left.missing(merged, degree) {
            ends.push((l, missing.next().expect("both sides miss the same number of edges")));
        }
        Regular { ports: merged, ends }
    }
}

/// The merged ports of one side.
struct Merged {
    /// New number of each port.
    port: Vec<u32>,
    /// Degrees of the new ports.
    degrees: Vec<u32>,
}

/// Merges consecutive ports while the sum of their degrees is within the limit.
fn merge(ports: usize, ends: impl Iterator<Item = u32>, limit: u32) -> Merged {
    let mut degree = vec![0u32; ports];
    for end in ends {
        degree[end as usize] += 1;
    }
    let mut merged = Merged { port: vec![0; ports], degrees: Vec::new() };
    for (p, &d) in degree.iter().enumerate() {
        match merged.degrees.last_mut() {
            Some(last) if *last + d <= limit => *last += d,
            _ => merged.degrees.push(d),
        }
        merged.port[p] = to_u32(merged.degrees.len()) - 1;
    }
    merged
}

impl Merged {
    /// Yields each port once for each edge that it lacks.
    fn missing(&self, ports: usize, degree: u32) -> impl Iterator<Item = u32> + '_ {
        (0..to_u32(ports)).flat_map(move |p| {
            let has = self.degrees.get(p as usize).copied().unwrap_or(0);
            std::iter::repeat_n(p, (degree - has) as usize)
        })
    }
}

struct Coloring {
    ports: usize,
    ends: Vec<(u32, u32)>,
    color: Vec<u32>,
    /// Edges; those of a part that is colored separately are adjacent.
    order: Vec<u32>,
    /// For each edge, its partners on the left and on the right. During a matching: storage for
    /// adjacency and mates.
    partner: [Vec<u32>; 2],
    /// For each port, the edge that waits for a partner.
    pending: Vec<u32>,
    random: Random,
}

impl Coloring {
    /// Colors the edges `order[begin..end]`, which form a graph in which all ports have the same
    /// degree.
    fn color_range(&mut self, begin: usize, end: usize, degree: u32, first: u32) {
        let (mut begin, mut degree, mut first) = (begin, degree, first);
        if degree % 2 == 1 {
            self.match_ports(begin, end, degree);
            for &e in &self.order[begin..begin + self.ports] {
                self.color[e as usize] = first;
            }
            (begin, degree, first) = (begin + self.ports, degree - 1, first + 1);
        }
        if degree > 0 {
            let middle = self.split(begin, end);
            self.color_range(begin, middle, degree / 2, first);
            self.color_range(middle, end, degree / 2, first + degree / 2);
        }
    }

    /// Moves half of the edges of each port before the other half. All degrees are even.
    fn split(&mut self, begin: usize, end: usize) -> usize {
        for side in 0..2 {
            self.pending.fill(NONE);
            for &e in &self.order[begin..end] {
                let (l, r) = self.ends[e as usize];
                let pending = &mut self.pending[if side == 0 { l } else { r } as usize];
                if *pending == NONE {
                    *pending = e;
                } else {
                    self.partner[side][e as usize] = *pending;
                    self.partner[side][*pending as usize] = e;
                    *pending = NONE;
                }
            }
        }
        // the color serves as a mark: 0 for the first half, 1 for the second
        for i in begin..end {
            let mut e = self.order[i];
            while self.color[e as usize] == NONE {
                self.color[e as usize] = 0;
                let other = self.partner[0][e as usize];
                self.color[other as usize] = 1;
                e = self.partner[1][other as usize];
            }
        }
        let (mut low, mut high) = (begin, end);
        while low < high {
            let e = self.order[low] as usize;
            if self.color[e] == 0 {
                low += 1;
            } else {
                high -= 1;
                self.order.swap(low, high);
            }
        }
        for &e in &self.order[begin..end] {
            self.color[e as usize] = NONE;
        }
        low
    }

    /// Moves the edges of a perfect matching to the front.
    fn match_ports(&mut self, begin: usize, end: usize, degree: u32) {
        let degree = degree as usize;
        // the edges of each left port; all ports have the same number
        let [of_left, mate] = &mut self.partner;
        self.pending.fill(0);
        for &e in &self.order[begin..end] {
            let l = self.ends[e as usize].0 as usize;
            of_left[l * degree + self.pending[l] as usize] = e;
            self.pending[l] += 1;
        }
        // for each right port, the edge that holds it
        let mate = &mut mate[..self.ports];
        mate.fill(NONE);
        for l in 0..self.ports {
            let (mut l, mut not) = (l, NONE);
            loop {
                let e = of_left[l * degree + self.random.below(to_u32(degree)) as usize];
                if e == not {
                    // it was just displaced from there
                    if degree == 1 {
                        unreachable!("in a graph of degree 1 nothing is pushed out");
                    }
                    continue;
                }
                let pushed = std::mem::replace(&mut mate[self.ends[e as usize].1 as usize], e);
                if pushed == NONE {
                    break;
                }
                (l, not) = (self.ends[pushed as usize].0 as usize, pushed);
            }
        }
        for &e in mate.iter() {
            self.color[e as usize] = 0;
        }
        let mut at = begin;
        for i in begin..end {
            let e = self.order[i] as usize;
            if self.color[e] == 0 {
                self.color[e] = NONE;
                self.order.swap(at, i);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(ports: usize, edges: &[(u32, u32)], seed: u64) -> Result<(), String> {
        let colors = color(ports, edges, seed);
        let degree = max_degree(ports, edges);
        let mut seen = std::collections::HashSet::new();
        for (&(l, r), &c) in edges.iter().zip(&colors) {
            if c >= degree {
                return Err(format!("color {c} of {degree}"));
            }
            if !seen.insert((0, l, c)) || !seen.insert((1, r, c)) {
                return Err(format!("color {c} twice at the ends of {l} -> {r}"));
            }
        }
        Ok(())
    }

    proptest! {
        /// Multigraphs of all densities: as many colors as the largest degree, and no color twice
        /// at a port.
        #[test]
        fn exactly_max_degree_colors(
            ports in 1u32..=64,
            edges in prop::collection::vec((0u32..64, 0u32..64), 0..700),
            skew in 1u32..=8,
            seed in any::<u64>(),
        ) {
            let edges: Vec<_> = edges.into_iter().map(|(l, r)| (l % ports / skew, r % ports)).collect();
            check(ports as usize, &edges, seed).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn every_degree_of_complete_graphs() {
        for n in 1..=17u32 {
            let edges: Vec<_> = (0..n * n).map(|i| (i / n, i % n)).collect();
            check(n as usize, &edges, 5).unwrap();
        }
        // one pair of ports with many edges
        check(1, &[(0, 0); 37], 5).unwrap();
    }
}
