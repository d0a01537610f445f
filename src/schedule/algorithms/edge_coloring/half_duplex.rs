//! Rounds in which a process either sends or receives: colors of an undirected graph (Misra and
//! Gries 1992).
//!
//! The edges between two processes, in both directions, form one undirected edge; d + 1 colors
//! suffice if a process has at most d neighbors (Vizing). A color takes as many rounds as the
//! largest number of edges between two processes with that color.
//!
//! Cost: an edge with a color that is free at both ends takes at most O(d) time; for the others
//! colors are moved, in O(V + d^2). Memory: O(E).

use std::collections::HashMap;

use crate::util::cast::to_u32;

/// No process.
const NONE: u32 = u32::MAX;

/// Returns the rounds of directed edges between processes.
pub fn color(processes: usize, ends: &[(u32, u32)]) -> Vec<u32> {
    let key = |e: usize| (ends[e].0.min(ends[e].1), ends[e].0.max(ends[e].1));
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by_key(|&e| key(e));
    let pairs: Vec<&[usize]> = order.chunk_by(|&a, &b| key(a) == key(b)).collect();
    let simple: Vec<(u32, u32)> = pairs.iter().map(|same| key(same[0])).collect();
    let (colors, count) = misra_gries(processes, &simple);
    let mut rounds = vec![0usize; count];
    for (same, &color) in pairs.iter().zip(&colors) {
        rounds[color as usize] = rounds[color as usize].max(same.len());
    }
    let first: Vec<usize> = rounds.iter().scan(0, |sum, &r| Some(std::mem::replace(sum, *sum + r))).collect();
    let mut round_of = vec![0u32; ends.len()];
    for (same, &color) in pairs.iter().zip(&colors) {
        for (k, &e) in same.iter().enumerate() {
            round_of[e] = to_u32(first[color as usize] + k);
        }
    }
    round_of
}

/// The neighbors of a process by color.
#[derive(Clone)]
enum Row {
    /// For each color the neighbor or `NONE`: for processes whose edges use a good part of the
    /// colors.
    Dense(Vec<u32>),
    /// Used only where the order of iteration does not matter.
    Sparse(HashMap<usize, u32>),
}

/// Maximum ratio of the length of a dense row to the number of edges of its process: all rows
/// together have O(E) entries.
const SPARSE: usize = 8;

struct Coloring {
    /// Number of colors available: largest degree + 1.
    count: usize,
    rows: Vec<Row>,
    /// All colors below this are used by edges of the process.
    low: Vec<usize>,
}

impl Coloring {
    fn new(degrees: &[usize], count: usize) -> Coloring {
        let row = |&degree: &usize| match SPARSE * degree >= count {
            true => Row::Dense(vec![NONE; count]),
            false => Row::Sparse(HashMap::with_capacity(degree)),
        };
        Coloring { count, rows: degrees.iter().map(row).collect(), low: vec![0; degrees.len()] }
    }

    fn neighbor(&self, v: u32, color: usize) -> u32 {
        match &self.rows[v as usize] {
            Row::Dense(row) => row[color],
            Row::Sparse(row) => row.get(&color).copied().unwrap_or(NONE),
        }
    }

    /// The lowest color that no edge of `v` uses.
    fn free(&mut self, v: u32) -> usize {
        let low = self.low[v as usize];
        let free = (low..self.count).find(|&c| self.neighbor(v, c) == NONE).expect("there is a color more than edges");
        self.low[v as usize] = free;
        free
    }

    /// The lowest color that no edge of either process uses.
    fn free_at_both(&mut self, u: u32, v: u32) -> Option<usize> {
        let low = self.free(u).max(self.free(v));
        (low..self.count).find(|&c| self.neighbor(u, c) == NONE && self.neighbor(v, c) == NONE)
    }

    fn put(&mut self, v: u32, color: usize, neighbor: u32) {
        match &mut self.rows[v as usize] {
            Row::Dense(row) => row[color] = neighbor,
            Row::Sparse(row) => {
                row.insert(color, neighbor);
            }
        }
        if neighbor == NONE {
            self.low[v as usize] = self.low[v as usize].min(color);
        }
    }

    fn set(&mut self, u: u32, v: u32, color: usize) {
        self.put(u, color, v);
        self.put(v, color, u);
    }

    fn clear(&mut self, u: u32, v: u32, color: usize) {
        for (a, b) in [(u, v), (v, u)] {
            if self.neighbor(a, color) == b {
                self.put(a, color, NONE);
            }
        }
    }

    fn color_of(&self, u: u32, v: u32) -> usize {
        (0..self.count).find(|&c| self.neighbor(u, c) == v).expect("the edge is colored")
    }

    /// Swaps the colors `c` and `d` on the path of these colors that begins at `u`.
    fn invert_path(&mut self, u: u32, c: usize, d: usize) {
        let mut path = vec![u];
        let mut color = d;
        loop {
            let next = self.neighbor(*path.last().expect("it is not empty"), color);
            if next == NONE {
                break;
            }
            path.push(next);
            color = c + d - color;
        }
        let mut color = d;
        for w in path.windows(2) {
            self.clear(w[0], w[1], color);
            color = c + d - color;
        }
        let mut color = c;
        for w in path.windows(2) {
            self.set(w[0], w[1], color);
            color = c + d - color;
        }
    }

    /// Colors one more edge.
    fn insert(&mut self, u: u32, v: u32) {
        if let Some(color) = self.free_at_both(u, v) {
            self.set(u, v, color);
            return;
        }
        // a fan: neighbors of u such that the color of the edge to each is free at the previous one
        let mut fan = vec![v];
        let mut in_fan = std::collections::HashSet::from([v]);
        loop {
            let last = *fan.last().expect("it is not empty");
            let next = (0..self.count)
                .filter(|&c| self.neighbor(last, c) == NONE)
                .map(|c| self.neighbor(u, c))
                .find(|&w| w != NONE && !in_fan.contains(&w));
            let Some(w) = next else { break };
            fan.push(w);
            in_fan.insert(w);
        }
        let c = self.free(u);
        let d = self.free(*fan.last().expect("it is not empty"));
        if c != d {
            self.invert_path(u, c, d);
        }
        // the first neighbor in the fan where d is now free, as far as it still is a fan
        let mut end = 0;
        while self.neighbor(fan[end], d) != NONE {
            end += 1;
        }
        // shift the colors along the fan
        for i in 0..end {
            let color = self.color_of(u, fan[i + 1]);
            self.clear(u, fan[i + 1], color);
            self.set(u, fan[i], color);
        }
        self.set(u, fan[end], d);
    }
}

/// Colors a simple graph, whose edges are sorted; returns the colors and how many there are.
fn misra_gries(vertices: usize, edges: &[(u32, u32)]) -> (Vec<u32>, usize) {
    let mut degree = vec![0usize; vertices];
    for &(u, v) in edges {
        degree[u as usize] += 1;
        degree[v as usize] += 1;
    }
    let count = degree.iter().max().map_or(0, |d| d + 1);
    let mut coloring = Coloring::new(&degree, count);
    for &(u, v) in edges {
        coloring.insert(u, v);
    }
    let mut colors = vec![0u32; edges.len()];
    let mut note = |u: usize, color: usize, v: u32| {
        if v != NONE
            && let Ok(e) = edges.binary_search(&(to_u32(u), v))
        {
            colors[e] = to_u32(color);
        }
    };
    for (u, row) in coloring.rows.iter().enumerate() {
        match row {
            Row::Dense(row) => row.iter().enumerate().for_each(|(color, &v)| note(u, color, v)),
            Row::Sparse(row) => row.iter().for_each(|(&color, &v)| note(u, color, v)),
        }
    }
    (colors, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No process occurs twice in a round, and the simple graph has at most largest degree + 1
        /// colors.
        #[test]
        fn rounds_and_their_number(
            n in 2u32..=24,
            edges in prop::collection::vec((0u32..24, 1u32..24), 0..220),
        ) {
            let ends: Vec<_> = (edges.iter()).map(|&(u, v)| (u % n, (u + v) % n)).filter(|e| e.0 != e.1).collect();
            let rounds = color(n as usize, &ends);
            let mut seen = std::collections::HashSet::new();
            for (&(u, v), &r) in ends.iter().zip(&rounds) {
                prop_assert!(seen.insert((u, r)) && seen.insert((v, r)), "{u} -> {v} in round {r}");
            }
            let simple: std::collections::BTreeSet<_> = ends.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
            let simple: Vec<_> = simple.into_iter().collect();
            let degree = (0..n).map(|p| simple.iter().filter(|e| e.0 == p || e.1 == p).count()).max().unwrap_or(0);
            let (colors, _) = misra_gries(n as usize, &simple);
            prop_assert!(colors.iter().all(|&c| c as usize <= degree));
        }
    }
}
