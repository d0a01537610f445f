//! The problem that all steps of `edge_coloring` solve: edges between ports, and rounds of them.

/// Rounds of (edge, length).
pub type PortRounds = Vec<Vec<(u32, u32)>>;

/// The edges between ports, and what rounds cost.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Number of ports, each of which may serve one edge in a round.
    pub ports: usize,
    /// Number of ports on the left, where edges begin; 0 if the graph is not bipartite.
    pub left: usize,
    /// The largest number of edges of a port.
    pub degree: u32,
    /// Maximum number of rounds.
    pub most: usize,
    /// Ports of each edge.
    pub ends: &'a [(u32, u32)],
    /// Length of each edge.
    pub lengths: &'a [u32],
    /// Cost of a round beyond its longest message.
    pub startup: f64,
    /// Cost of a message more; infinite if messages must not be cut.
    pub cut: f64,
    /// Seed of random choices.
    pub seed: u64,
}

impl Problem<'_> {
    /// The other port of an edge.
    pub fn other(&self, e: u32, port: u32) -> u32 {
        let (a, b) = self.ends[e as usize];
        if a == port { b } else { a }
    }
}

/// The largest number of edges of a port.
pub fn largest_degree(ports: usize, ends: &[(u32, u32)]) -> u32 {
    let mut degrees = vec![0u32; ports];
    for &(a, b) in ends {
        degrees[a as usize] += 1;
        degrees[b as usize] += 1;
    }
    degrees.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    impl<'a> Problem<'a> {
        /// Edges between ports, half of which are on the left if the graph is bipartite.
        pub fn of(ends: &'a [(u32, u32)], lengths: &'a [u32], ports: usize, bipartite: bool, startup: f64) -> Problem<'a> {
            let (left, degree) = (if bipartite { ports / 2 } else { 0 }, largest_degree(ports, ends));
            Problem { ports, left, degree, most: usize::MAX, ends, lengths, startup, cut: 0.1, seed: 1 }
        }
    }

    /// The ends and lengths of edges between two times twelve ports.
    pub fn problem_of(edges: &[(u32, u32, u32)], bipartite: bool) -> (Vec<(u32, u32)>, Vec<u32>) {
        let other = |a: u32, b: u32| if bipartite { 12 + b } else { (a + 1 + b % 11) % 12 };
        (edges.iter().map(|e| (e.0, other(e.0, e.1))).collect(), edges.iter().map(|e| e.2).collect())
    }

    /// Checks that rounds serve all of each message, and no port twice.
    pub fn serves_all(problem: &Problem, rounds: &PortRounds) -> Result<(), String> {
        let mut left: Vec<i64> = problem.lengths.iter().map(|&l| i64::from(l)).collect();
        let mut served = vec![false; left.len()];
        for round in rounds {
            let mut busy = vec![false; problem.ports];
            for &(e, length) in round {
                left[e as usize] -= i64::from(length);
                served[e as usize] = true;
                let (a, b) = problem.ends[e as usize];
                for port in [a, b] {
                    if std::mem::replace(&mut busy[port as usize], true) {
                        return Err(format!("port {port} twice in {round:?}"));
                    }
                }
            }
        }
        if left.iter().all(|&l| l == 0) && served.iter().all(|&s| s) { Ok(()) } else { Err(format!("{left:?} are left")) }
    }
}
