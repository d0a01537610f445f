//! The graph of all processes, for schedules that need more than a process's own lists: who sends
//! to whom, with weights.
//!
//! Stored as compressed rows: the edges of process `p` have the numbers `first(p) .. first(p + 1)`,
//! in matching order. Self edges and `MPI_PROC_NULL` entries are not included, because no message
//! serves them. Memory: 8 bytes per process and 8 bytes per edge.

#![forbid(unsafe_code)]

use std::ops::Range;

use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};
use crate::util::cast::{to_u32, to_usize};

/// All edges of all processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// Number of the first edge of each process, then the total number of edges.
    first: Vec<u64>,
    targets: Vec<Rank>,
    weights: Vec<u32>,
}

impl Graph {
    /// Creates the graph from each process's number of edges and the concatenated targets and
    /// weights of all processes.
    ///
    /// # Panics
    /// If the numbers of edges do not add up, or a target is not a process.
    pub fn from_rows(degrees: impl IntoIterator<Item = u64>, targets: Vec<Rank>, weights: Vec<u32>) -> Graph {
        let mut first = vec![0u64];
        first.extend(degrees.into_iter().scan(0u64, |sum, degree| {
            *sum += degree;
            Some(*sum)
        }));
        assert!(first.last() == Some(&(targets.len() as u64)) && targets.len() == weights.len(), "rows do not add up");
        assert!(targets.iter().all(|&t| (t as usize) < first.len() - 1), "a target is not a process");
        Graph { first, targets, weights }
    }

    /// Creates the graph from rows in which a process's targets come before their weights, one
    /// after the other.
    ///
    /// # Panics
    /// As for [`Graph::from_rows`].
    pub fn from_joined_rows(lengths: &[u32], words: &[u32]) -> Graph {
        let degrees = lengths.iter().map(|&length| length / 2);
        let (mut targets, mut weights, mut rest) = (Vec::new(), Vec::new(), words);
        targets.reserve_exact(words.len() / 2);
        weights.reserve_exact(words.len() / 2);
        for degree in degrees.clone().map(|degree| degree as usize) {
            let (row, others) = rest.split_at(2 * degree);
            targets.extend(&row[..degree]);
            weights.extend(&row[degree..]);
            rest = others;
        }
        Graph::from_rows(degrees.map(u64::from), targets, weights)
    }

    /// Creates the graph from a list of (source, target, weight) in any order; edges between the
    /// same two processes keep their order. Self edges are dropped.
    pub fn from_edges(processes: u32, edges: &[(Rank, Rank, u32)]) -> Graph {
        let mut sorted: Vec<_> = edges.iter().copied().filter(|e| e.0 != e.1).collect();
        sorted.sort_by_key(|e| e.0);
        let mut degrees = vec![0u64; processes as usize];
        for e in &sorted {
            degrees[e.0 as usize] += 1;
        }
        Graph::from_rows(degrees, sorted.iter().map(|e| e.1).collect(), sorted.iter().map(|e| e.2).collect())
    }

    /// Creates the graph from the lists of all processes, in the order of ranks.
    pub fn from_neighborhoods(world: &[Neighborhood]) -> Graph {
        let rows: Vec<(Vec<Rank>, Vec<u32>)> = world.iter().map(Graph::row).collect();
        let degrees: Vec<u64> = rows.iter().map(|row| row.0.len() as u64).collect();
        let (targets, weights): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Graph::from_rows(degrees, targets.concat(), weights.concat())
    }

    /// Contribution of one process: targets and weights of its edges.
    pub fn row(neighborhood: &Neighborhood) -> (Vec<Rank>, Vec<u32>) {
        Graph::edges_in_order(neighborhood).map(|n| (n.rank.unwrap_or_default(), n.weight)).unzip()
    }

    /// The directions of the same edges.
    pub fn row_directions(neighborhood: &Neighborhood) -> Vec<u32> {
        Graph::edges_in_order(neighborhood).map(|n| n.direction).collect()
    }

    fn edges_in_order(neighborhood: &Neighborhood) -> impl Iterator<Item = &Neighbor> {
        neighborhood
            .targets_in_order()
            .filter(|&(_, to)| to != neighborhood.rank())
            .map(|(entry, _)| &neighborhood.targets()[entry as usize])
    }

    /// The neighborhoods of all processes, with each process's sources in the order of their ranks.
    pub fn neighborhoods(&self) -> Vec<Neighborhood> {
        self.neighborhoods_with(|_| 0)
    }

    /// The neighborhoods of all processes, with the direction in which blocks travel on each edge.
    pub fn neighborhoods_with(&self, direction: impl Fn(usize) -> u32) -> Vec<Neighborhood> {
        let mut sources = vec![Vec::new(); self.processes()];
        let mut targets = vec![Vec::new(); self.processes()];
        for p in 0..to_u32(self.processes()) {
            for e in self.edges_of(p) {
                let (to, weight) = (self.target(e), self.weight(e));
                let neighbor = |rank| Neighbor { rank: Some(rank), weight, direction: direction(e) };
                targets[p as usize].push(neighbor(to));
                sources[to as usize].push(neighbor(p));
            }
        }
        (sources.into_iter().zip(targets).enumerate())
            .map(|(p, (sources, targets))| Neighborhood::new(to_u32(p), sources, targets, true))
            .collect()
    }

    /// Number of processes.
    pub fn processes(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Numbers of the edges that leave a process.
    pub fn edges_of(&self, p: Rank) -> Range<usize> {
        to_usize(self.first[p as usize])..to_usize(self.first[p as usize + 1])
    }

    /// Target of an edge.
    pub fn target(&self, edge: usize) -> Rank {
        self.targets[edge]
    }

    /// Weight of an edge: about how much data travels on it.
    pub fn weight(&self, edge: usize) -> u32 {
        self.weights[edge]
    }

    /// All edges as (source, target, weight), in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Rank, Rank, u32)> + '_ {
        (0..to_u32(self.processes())).flat_map(move |p| self.edges_of(p).map(move |e| (p, self.targets[e], self.weights[e])))
    }

    /// Out-degree and in-degree of each process.
    pub fn degrees(&self) -> (Vec<u32>, Vec<u32>) {
        let out = self.first.windows(2).map(|w| to_u32(w[1] - w[0])).collect();
        let mut into = vec![0u32; self.processes()];
        for &t in &self.targets {
            into[t as usize] += 1;
        }
        (out, into)
    }

    /// Total weight that leaves each process, and that arrives.
    pub fn loads(&self) -> (Vec<u64>, Vec<u64>) {
        let (mut out, mut into) = (vec![0u64; self.processes()], vec![0u64; self.processes()]);
        for (s, t, w) in self.iter() {
            out[s as usize] += u64::from(w);
            into[t as usize] += u64::from(w);
        }
        (out, into)
    }

    /// The largest in- or out-degree: a lower bound of the number of rounds of any schedule with
    /// one message in and one out at a time.
    pub fn max_degree(&self) -> u32 {
        let (out, into) = self.degrees();
        out.into_iter().chain(into).max().unwrap_or(0)
    }
}

/// The labels of processes after those that each has found around it are joined. A label is the
/// lowest rank of processes that are known to be connected; `lowest[p]` is the lowest one that
/// process p sees, its own or that of a neighbor.
///
/// Of the sets that are connected with another one, at most half as many are left.
pub fn joined(labels: &[Rank], lowest: &[Rank]) -> Vec<Rank> {
    // a label is in the set of the one that it leads to, and so on down to one that leads to itself
    let mut into: Vec<Rank> = labels.to_vec();
    let root = |into: &mut [Rank], mut label: Rank| {
        while into[label as usize] != label {
            // half of the way for the next one
            into[label as usize] = into[into[label as usize] as usize];
            label = into[label as usize];
        }
        label
    };
    for (&label, &other) in labels.iter().zip(lowest) {
        let (a, b) = (root(&mut into, label), root(&mut into, other));
        into[a.max(b) as usize] = a.min(b);
    }
    labels.iter().map(|&label| root(&mut into, label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains whose ends are connected by way of all processes, and random graphs: all labels are
    /// right after few rounds.
    #[test]
    fn connected_processes_are_found_in_few_rounds() {
        let n = 1000u32;
        let mut random = crate::util::random::Random::new(1);
        let chain: Vec<(u32, u32)> = std::iter::once((0, n - 1)).chain((2..n).map(|p| (p, p - 1))).collect();
        let mut ranks: Vec<u32> = (0..n).collect();
        random.shuffle(&mut ranks);
        let scattered: Vec<(u32, u32)> = ranks.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let sparse: Vec<(u32, u32)> = (0..n * 2 / 3).map(|_| (random.below(n), random.below(n))).collect();
        for (edges, all) in [(chain, true), (scattered, true), (sparse, false), (Vec::new(), false)] {
            let mut labels: Vec<u32> = (0..n).collect();
            let mut rounds = 0;
            loop {
                rounds += 1;
                let mut lowest = labels.clone();
                for &(a, b) in &edges {
                    let least = labels[a as usize].min(labels[b as usize]);
                    lowest[a as usize] = lowest[a as usize].min(least);
                    lowest[b as usize] = lowest[b as usize].min(least);
                }
                if lowest == labels {
                    break;
                }
                labels = joined(&labels, &lowest);
            }
            assert!(rounds <= 11, "{rounds} rounds");
            assert!(labels.iter().zip(0..).all(|(&label, rank)| label <= rank && labels[label as usize] == label));
            assert!(edges.iter().all(|&(a, b)| labels[a as usize] == labels[b as usize]));
            assert_eq!(labels.iter().all(|&label| label == 0), all);
        }
    }

    #[test]
    fn rows_hold_what_messages_serve_in_matching_order() {
        let to = |rank, weight, direction| Neighbor { rank, weight, direction };
        let targets = vec![to(Some(1), 5, 3), to(None, 9, 0), to(Some(0), 7, 0), to(Some(1), 6, 1)];
        let world = [Neighborhood::new(0, vec![to(Some(0), 7, 0)], targets, true), Neighborhood::from_ranks(1, &[0, 0], &[])];
        let g = Graph::from_neighborhoods(&world);
        assert_eq!(g.iter().collect::<Vec<_>>(), [(0, 1, 6), (0, 1, 5)]);
        assert_eq!(g.degrees(), (vec![2, 0], vec![0, 2]));
        assert_eq!(g.loads(), (vec![11, 0], vec![0, 11]));
        assert_eq!(g.max_degree(), 2);
    }

    #[test]
    fn edges_and_neighborhoods_and_back() {
        let g = Graph::from_edges(4, &[(2, 1, 3), (0, 1, 8), (2, 2, 1), (2, 0, 4), (0, 1, 9)]);
        assert_eq!(g.iter().collect::<Vec<_>>(), [(0, 1, 8), (0, 1, 9), (2, 1, 3), (2, 0, 4)]);
        assert_eq!(Graph::from_neighborhoods(&g.neighborhoods()), g);
    }

    #[test]
    fn rows_with_weights_behind_their_targets() {
        let g = Graph::from_edges(5, &[(1, 2, 3), (1, 0, 8), (3, 1, 4), (3, 4, 9), (3, 1, 5)]);
        let rows: Vec<Vec<u32>> =
            g.neighborhoods().iter().map(Graph::row).map(|(targets, weights)| [targets, weights].concat()).collect();
        let lengths: Vec<u32> = rows.iter().map(|row| to_u32(row.len())).collect();
        assert_eq!(lengths, [0, 4, 0, 6, 0]);
        assert_eq!(Graph::from_joined_rows(&lengths, &rows.concat()), g);
    }
}
