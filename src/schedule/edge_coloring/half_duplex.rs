//! Rounds in which a process sends or receives, not both: colors of an undirected graph (Misra and Gries 1992).
//!
//! The edges between two processes, in both directions, are one undirected edge; d + 1 colors suffice for the largest number d of
//! neighbor processes (Vizing). A color is as many rounds as the largest number of edges between two processes that have it.
//!
//! Cost: O(V E) time at worst, O(E d) usually; 4 bytes a process and color.

/// No process.
const NONE: u32 = u32::MAX;

/// The rounds of directed edges between processes.
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
            round_of[e] = (first[color as usize] + k) as u32;
        }
    }
    round_of
}

struct Coloring {
    /// Colors that may be used: largest degree + 1.
    count: usize,
    /// `across[v * count + c]`: the neighbor of `v` on its edge of color `c`.
    across: Vec<u32>,
}

impl Coloring {
    fn neighbor(&self, v: u32, color: usize) -> u32 {
        self.across[v as usize * self.count + color]
    }

    /// The lowest color that no edge of `v` has.
    fn free(&self, v: u32) -> usize {
        (0..self.count).find(|&c| self.neighbor(v, c) == NONE).expect("there is a color more than edges")
    }

    fn set(&mut self, u: u32, v: u32, color: usize) {
        self.across[u as usize * self.count + color] = v;
        self.across[v as usize * self.count + color] = u;
    }

    fn clear(&mut self, u: u32, v: u32, color: usize) {
        for (a, b) in [(u, v), (v, u)] {
            let slot = &mut self.across[a as usize * self.count + color];
            if *slot == b {
                *slot = NONE;
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
        // a fan: neighbors of u such that the color of the edge to each is free at the one before
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
        // the first of the fan where d is free now, as far as the fan is still one
        let mut end = 0;
        while self.neighbor(fan[end], d) != NONE {
            end += 1;
        }
        // colors move down the fan
        for i in 0..end {
            let color = self.color_of(u, fan[i + 1]);
            self.clear(u, fan[i + 1], color);
            self.set(u, fan[i], color);
        }
        self.set(u, fan[end], d);
    }
}

/// Colors of a simple graph, and how many there are.
fn misra_gries(vertices: usize, edges: &[(u32, u32)]) -> (Vec<u32>, usize) {
    let mut degree = vec![0usize; vertices];
    for &(u, v) in edges {
        degree[u as usize] += 1;
        degree[v as usize] += 1;
    }
    let count = degree.iter().max().map_or(0, |d| d + 1);
    let mut coloring = Coloring { count, across: vec![NONE; vertices * count] };
    for &(u, v) in edges {
        coloring.insert(u, v);
    }
    (edges.iter().map(|&(u, v)| coloring.color_of(u, v) as u32).collect(), count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No process twice in a round; at most largest degree + 1 colors of the simple graph.
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
