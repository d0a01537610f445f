//! One process's neighborhood: its source and target lists.
//!
//! Lists may repeat a rank, contain the process itself or `MPI_PROC_NULL`, be empty, or be longer
//! than the communicator. Entry `i` of the target list belongs to block `i` of the send buffer,
//! entry `j` of the source list to block `j` of the receive buffer.
//!
//! **Matching.** If a process lists another one several times, the k-th edge of the sender matches
//! the k-th edge of the receiver, counted in *matching order*: by direction of travel, then by
//! position in the list. Lists given by a caller have no directions, so that matching order is the
//! order of the list. On Cartesian topologies each edge has the direction in which its block
//! travels, so that a block sent in direction +d arrives in the receiver's entry for -d, even if
//! both neighbors are the same process (a periodic dimension of size 1 or 2).

#![forbid(unsafe_code)]

use crate::error::{Argument, Error, Result};
use crate::util::cast::to_u32;
use crate::util::random::mix;

/// Rank within the communicator.
pub type Rank = u32;

/// One entry of a source or target list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbor {
    /// The process at the other end; `None` is `MPI_PROC_NULL`.
    pub rank: Option<Rank>,
    /// Approximate amount of data on this edge, in any unit. A hint.
    pub weight: u32,
    /// Direction in which blocks travel on this edge, `2 d` toward the lower and `2 d + 1` toward
    /// the higher coordinate of dimension `d`; 0 on all edges of a neighborhood without directions.
    pub direction: u32,
}

/// The source and target lists of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighborhood {
    rank: Rank,
    sources: Vec<Neighbor>,
    targets: Vec<Neighbor>,
    weighted: bool,
}

impl Neighborhood {
    /// The neighborhood of process `rank`.
    pub fn new(rank: Rank, sources: Vec<Neighbor>, targets: Vec<Neighbor>, weighted: bool) -> Self {
        Neighborhood { rank, sources, targets, weighted }
    }

    /// The neighborhood of process `rank` from lists of ranks, all weights 1. For tests and
    /// generators.
    pub fn from_ranks(rank: Rank, sources: &[Rank], targets: &[Rank]) -> Self {
        let list = |ranks: &[Rank]| ranks.iter().map(|&r| Neighbor { rank: Some(r), weight: 1, direction: 0 }).collect();
        Neighborhood::new(rank, list(sources), list(targets), false)
    }

    /// The process whose neighborhood this is.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Source list, in the caller's order.
    pub fn sources(&self) -> &[Neighbor] {
        &self.sources
    }

    /// Target list, in the caller's order.
    pub fn targets(&self) -> &[Neighbor] {
        &self.targets
    }

    /// Returns true if weights were given.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// Returns true if any edge has a direction other than 0, which occurs only in neighborhoods
    /// with directions.
    pub fn has_directions(&self) -> bool {
        self.sources.iter().chain(&self.targets).any(|n| n.direction != 0)
    }

    /// For each of the `2 d` directions, the weight of the heaviest edge to another process; `None`
    /// if there is no such edge.
    pub fn direction_weights(&self, dimensions: usize) -> Vec<Option<u32>> {
        let mut weights = vec![None; 2 * dimensions];
        for n in self.targets.iter().filter(|n| n.rank.is_some_and(|r| r != self.rank)) {
            let heaviest = &mut weights[n.direction as usize];
            *heaviest = (*heaviest).max(Some(n.weight));
        }
        weights
    }

    /// Entries of the source list that are processes, in matching order. Sorts them where edges
    /// have directions.
    pub fn sources_in_order(&self) -> impl Iterator<Item = (u32, Rank)> {
        in_order(&self.sources)
    }

    /// Entries of the target list that are processes, in matching order. Sorts them where edges
    /// have directions.
    pub fn targets_in_order(&self) -> impl Iterator<Item = (u32, Rank)> {
        in_order(&self.targets)
    }

    /// The self edges as (target entry, source entry). Self edges in only one of the lists match
    /// nothing and are left out.
    pub fn self_edges(&self) -> Vec<(u32, u32)> {
        let is_own = |&(_, rank): &(u32, Rank)| rank == self.rank;
        let (targets, sources) = (self.targets_in_order().filter(is_own), self.sources_in_order().filter(is_own));
        targets.zip(sources).map(|(target, source)| (target.0, source.0)).collect()
    }

    /// The same edges the other way round: sources become targets, in the same order, and block
    /// `i` travels back along the edge on which block `i` came. `directed`: the edges have
    /// directions, which turn too.
    #[must_use]
    pub fn reversed(&self, directed: bool) -> Neighborhood {
        let turn =
            |list: &[Neighbor]| list.iter().map(|n| Neighbor { direction: n.direction ^ u32::from(directed), ..*n }).collect();
        Neighborhood::new(self.rank, turn(&self.targets), turn(&self.sources), self.weighted)
    }

    /// How often each process occurs in `list`, as (rank, times) sorted by rank.
    pub fn multiplicities(list: &[Neighbor]) -> Vec<(Rank, u32)> {
        Neighborhood::loads(list).into_iter().map(|(rank, times, _)| (rank, times)).collect()
    }

    /// The edges of `list` with each process, as (rank, edges, sum of their weights), sorted by
    /// rank.
    pub fn loads(list: &[Neighbor]) -> Vec<(Rank, u32, u64)> {
        let of = |same: &[(Rank, u32)]| (same[0].0, to_u32(same.len()), same.iter().map(|edge| u64::from(edge.1)).sum());
        by_rank(list).chunk_by(|a, b| a.0 == b.0).map(of).collect()
    }

    /// A fingerprint whose (wrapping) sum over all processes is zero if every target entry has its
    /// source entry at the other end, and otherwise is nonzero with probability about 1 - 2^-128.
    /// Lets all processes check their lists with one small reduction.
    pub fn fingerprint(&self) -> [u64; 2] {
        let mut sum = [0u64; 2];
        for edges in by_rank(&self.targets).chunk_by(|a, b| a.0 == b.0) {
            for (sum, hash) in sum.iter_mut().zip(edges_hash(self.rank, edges[0].0, to_u32(edges.len()))) {
                *sum = sum.wrapping_add(hash);
            }
        }
        for edges in by_rank(&self.sources).chunk_by(|a, b| a.0 == b.0) {
            for (sum, hash) in sum.iter_mut().zip(edges_hash(edges[0].0, self.rank, to_u32(edges.len()))) {
                *sum = sum.wrapping_sub(hash);
            }
        }
        sum
    }
}

fn in_order(list: &[Neighbor]) -> impl Iterator<Item = (u32, Rank)> {
    // as a rule no edge has a direction, and nothing needs sorting
    let in_place = list.is_sorted_by_key(|n| n.direction);
    let all = (0..).zip(list).filter_map(|(s, n)| Some((s, n.rank?)));
    let mut sorted: Vec<_> = all.clone().filter(|_| !in_place).collect();
    sorted.sort_by_key(|&(s, _)| list[s as usize].direction);
    all.filter(move |_| in_place).chain(sorted)
}

/// The edges with processes, as (rank, weight), sorted.
fn by_rank(list: &[Neighbor]) -> Vec<(Rank, u32)> {
    let mut edges = Vec::with_capacity(list.len());
    edges.extend(list.iter().filter_map(|n| Some((n.rank?, n.weight))));
    edges.sort_unstable();
    edges
}

/// Two independent 64-bit hashes of "`times` edges from `source` to `target`".
fn edges_hash(source: Rank, target: Rank, times: u32) -> [u64; 2] {
    let edge = (u64::from(source) << 32) | u64::from(target);
    [0x9e37_79b9_7f4a_7c15u64, 0xd1b5_4a32_d192_ed03]
        .map(|seed| mix(mix(edge.wrapping_add(seed)).wrapping_add(u64::from(times).wrapping_mul(seed))))
}

/// Checks a list of ranks and weights from a caller and returns the entries.
///
/// `proc_null` is the MPI library's `MPI_PROC_NULL`, `size` the size of the communicator, and
/// `names` are the names of the two arrays in errors.
pub fn entries(
    ranks: &[i32],
    weights: Option<&[i32]>,
    proc_null: i32,
    size: u32,
    names: (&'static str, &'static str),
) -> Result<Vec<Neighbor>> {
    let mut list = Vec::with_capacity(ranks.len());
    for (i, &value) in ranks.iter().enumerate() {
        let rank = match Rank::try_from(value) {
            _ if value == proc_null => None,
            Ok(r) if r < size => Some(r),
            _ => {
                return Err(Error::Rank { argument: Argument::at(names.0, i), value: value.into(), size }.into());
            }
        };
        let weight = weights.map_or(1, |w| w[i]);
        let weight =
            u32::try_from(weight).map_err(|_| Error::Negative { argument: Argument::at(names.1, i), value: weight.into() })?;
        list.push(Neighbor { rank, weight, direction: 0 });
    }
    Ok(list)
}

/// Returns the first edge on which the lists of two processes disagree, from the receiver's point
/// of view: `listed_by[s]` is the number of times that process `s` lists `receiver` among its
/// targets.
pub fn first_mismatch(receiver: &Neighborhood, listed_by: &[u32]) -> Option<Error> {
    let mut as_source = vec![0u32; listed_by.len()];
    for (rank, times) in Neighborhood::multiplicities(&receiver.sources) {
        as_source[rank as usize] = times;
    }
    let source = (0..listed_by.len()).find(|&s| listed_by[s] != as_source[s])?;
    let (target, sent, received) = (receiver.rank, listed_by[source], as_source[source]);
    let text = if source == target as usize {
        format!("process {target} lists itself {sent} time(s) among its targets, but {received} time(s) among its sources")
    } else {
        format!(
            "process {source} lists process {target} {sent} time(s) among its targets, \
             but process {target} lists process {source} {received} time(s) among its sources"
        )
    };
    Some(Error::Lists { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_edges_match_kth_to_kth() {
        let n = Neighborhood::from_ranks(0, &[1, 0, 1, 0], &[0, 2, 0]);
        assert_eq!(n.self_edges(), vec![(0, 1), (2, 3)]);
        assert_eq!(n.sources_in_order().collect::<Vec<_>>(), vec![(0, 1), (1, 0), (2, 1), (3, 0)]);
    }

    #[test]
    fn fingerprints_cancel_exactly_when_lists_match() {
        let total = |world: &[Neighborhood]| {
            world.iter().fold([0u64; 2], |a, n| {
                let f = n.fingerprint();
                [a[0].wrapping_add(f[0]), a[1].wrapping_add(f[1])]
            })
        };
        let good = [Neighborhood::from_ranks(0, &[1, 1, 0], &[0, 1]), Neighborhood::from_ranks(1, &[0], &[0, 0])];
        assert_eq!(total(&good), [0, 0]);
        // same degrees, but one edge too few from 1 to 0
        let multiplicity = [Neighborhood::from_ranks(0, &[1, 1, 0], &[0, 1]), Neighborhood::from_ranks(1, &[0], &[0, 1])];
        assert_ne!(total(&multiplicity), [0, 0]);
        // a ring in the wrong direction has equal degrees everywhere
        let ring: Vec<_> = (0..3).map(|r| Neighborhood::from_ranks(r, &[(r + 1) % 3], &[(r + 1) % 3])).collect();
        assert_ne!(total(&ring), [0, 0]);
    }

    #[test]
    fn entries_reject_what_is_no_rank_and_keep_proc_null() {
        let names = ("sources", "sourceweights");
        let ok = entries(&[0, -2, 3], Some(&[1, 2, 0]), -2, 4, names).unwrap();
        assert_eq!(ok[1].rank, None);
        assert_eq!(ok[2].weight, 0);
        for bad in [-1, 4, i32::MAX, i32::MIN] {
            let e = entries(&[0, bad], None, -2, 4, names).unwrap_err();
            assert!(e.to_string().starts_with(&format!("sources[1] = {bad}")));
        }
        let e = entries(&[0], Some(&[-7]), -2, 4, names).unwrap_err();
        assert_eq!(e.to_string(), "sourceweights[0] = -7 is negative");
    }

    #[test]
    fn mismatch_is_named_by_pair_and_times() {
        let n = Neighborhood::from_ranks(1, &[0, 2], &[]);
        assert_eq!(first_mismatch(&n, &[1, 0, 1]), None);
        let e = first_mismatch(&n, &[1, 0, 0]).unwrap();
        assert!(e.to_string().contains("process 2 lists process 1 0 time(s)"));
    }
}
