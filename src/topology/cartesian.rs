//! Cartesian grids of processes: coordinates, neighbors, and the direction in which each edge of a
//! neighborhood travels.
//!
//! Ranks are row-major, as the MPI standard prescribes for Cartesian communicators.

#![forbid(unsafe_code)]

use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};
use crate::util::cast::{to_int, to_u32};

/// A Cartesian grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    dims: Vec<u32>,
    periodic: Vec<bool>,
}

impl Grid {
    /// Creates a grid with `dims[d]` processes in dimension `d`, which is periodic if
    /// `periodic[d]`.
    ///
    /// # Panics
    /// If the lengths differ or a dimension is 0.
    pub fn new(dims: Vec<u32>, periodic: Vec<bool>) -> Self {
        assert_eq!(dims.len(), periodic.len());
        assert!(dims.iter().all(|&n| n > 0));
        Grid { dims, periodic }
    }

    /// Number of processes in each dimension.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// The same grid with other numbers of processes.
    ///
    /// # Panics
    /// As [`Grid::new`].
    #[must_use]
    pub fn with_dims(&self, dims: Vec<u32>) -> Grid {
        Grid::new(dims, self.periodic.clone())
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.dims.len()
    }

    /// Number of processes.
    pub fn size(&self) -> u32 {
        self.dims.iter().product()
    }

    /// Coordinates of a process.
    pub fn coords(&self, rank: Rank) -> Vec<u32> {
        let mut rest = rank;
        let mut coords: Vec<u32> = (self.dims.iter().rev())
            .map(|&n| {
                let c = rest % n;
                rest /= n;
                c
            })
            .collect();
        coords.reverse();
        coords
    }

    /// The process at these coordinates.
    pub fn rank(&self, coords: &[u32]) -> Rank {
        let mut rank = 0;
        for (&c, &n) in coords.iter().zip(&self.dims) {
            rank = rank * n + c;
        }
        rank
    }

    /// Steps from one process to another along each dimension, by the shortest way; upward if both
    /// ways around a periodic dimension are equally long.
    pub fn offset(&self, from: Rank, to: Rank) -> Vec<i32> {
        let (from, to) = (self.coords(from), self.coords(to));
        (0..self.dims.len())
            .map(|d| {
                let (n, steps) = (i64::from(self.dims[d]), i64::from(to[d]) - i64::from(from[d]));
                let steps = if self.periodic[d] { (steps + (n - 1) / 2).rem_euclid(n) - (n - 1) / 2 } else { steps };
                to_int::<i32>(steps)
            })
            .collect()
    }

    /// The coordinates `times * steps` away; `None` beyond an open end.
    pub fn moved(&self, coords: &[u32], steps: &[i32], times: i32) -> Option<Vec<u32>> {
        (0..self.dims.len())
            .map(|d| {
                let (n, at) = (i64::from(self.dims[d]), i64::from(coords[d]) + i64::from(times) * i64::from(steps[d]));
                let at = if self.periodic[d] { at.rem_euclid(n) } else { at };
                u32::try_from(at).ok().filter(|&at| at < self.dims[d])
            })
            .collect()
    }

    /// The process one step away in `direction` (`2 d` down, `2 d + 1` up); `None` beyond an open
    /// end.
    pub fn neighbor(&self, rank: Rank, direction: u32) -> Option<Rank> {
        let d = direction as usize / 2;
        let n = self.dims[d];
        let mut coords = self.coords(rank);
        coords[d] = match (direction % 2, coords[d]) {
            (0, 0) if self.periodic[d] => n - 1,
            (0, 0) => return None,
            (0, c) => c - 1,
            (_, c) if c + 1 < n => c + 1,
            _ if self.periodic[d] => 0,
            _ => return None,
        };
        Some(self.rank(&coords))
    }

    /// The neighborhood that the MPI standard defines for a Cartesian communicator: per dimension
    /// first the lower, then the higher neighbor, both as source and as target, `MPI_PROC_NULL`
    /// beyond open ends.
    pub fn neighborhood(&self, rank: Rank) -> Neighborhood {
        let directions = 0..2 * to_u32(self.dims.len());
        let list = |travels: fn(u32) -> u32| {
            (directions.clone())
                .map(|entry| Neighbor { rank: self.neighbor(rank, entry), weight: 1, direction: travels(entry) })
                .collect()
        };
        // data from the lower neighbor travels up
        Neighborhood::new(rank, list(|entry| entry ^ 1), list(|entry| entry), false)
    }

    /// Assigns directions to the edges of a neighborhood whose neighbors are all one step away in
    /// one dimension, such that both ends of an edge agree and the k-th edge between two processes
    /// remains the k-th. `None` if the neighborhood has other edges, or more edges to a process
    /// than there are directions.
    ///
    /// The result is valid only if every process of the communicator gets one.
    pub fn with_directions(&self, n: &Neighborhood) -> Option<Neighborhood> {
        let label = |list: &[Neighbor], outgoing: bool| -> Option<Vec<Neighbor>> {
            let mut used: Vec<(Rank, usize)> = Vec::new();
            (list.iter())
                .map(|edge| {
                    let Some(peer) = edge.rank else {
                        return Some(*edge);
                    };
                    let (from, to) = if outgoing { (n.rank(), peer) } else { (peer, n.rank()) };
                    let k = match used.iter_mut().find(|(r, _)| *r == peer) {
                        Some((_, times)) => {
                            *times += 1;
                            *times
                        }
                        None => {
                            used.push((peer, 0));
                            0
                        }
                    };
                    // both ends list the candidates in the same order, so the k-th edge gets the
                    // same direction at both
                    let direction = (0..2 * to_u32(self.dims.len()))
                        .filter(|&direction| self.neighbor(from, direction) == Some(to))
                        .nth(k)?;
                    Some(Neighbor { direction, ..*edge })
                })
                .collect()
        };
        Some(Neighborhood::new(n.rank(), label(n.sources(), false)?, label(n.targets(), true)?, n.weighted()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_row_major() {
        let g = Grid::new(vec![2, 3, 4], vec![false; 3]);
        assert_eq!(g.rank(&[1, 2, 3]), 23);
        for r in 0..24 {
            assert_eq!(g.rank(&g.coords(r)), r);
        }
    }

    #[test]
    fn open_ends_have_no_neighbor() {
        let g = Grid::new(vec![3], vec![false]);
        assert_eq!(g.neighbor(0, 0), None);
        assert_eq!(g.neighbor(2, 1), None);
        assert_eq!(g.neighbor(1, 0), Some(0));
    }

    #[test]
    fn offsets_are_the_shortest() {
        let g = Grid::new(vec![5, 4, 2, 1, 3], vec![true, true, true, true, false]);
        let at = |coords: &[u32]| g.rank(coords);
        assert_eq!(g.offset(at(&[0; 5]), at(&[3, 2, 1, 0, 2])), [-2, 2, 1, 0, 2]);
        assert_eq!(g.offset(at(&[4, 3, 1, 0, 2]), at(&[1, 2, 1, 0, 0])), [2, -1, 0, 0, -2]);
        for (from, to) in (0..g.size()).flat_map(|from| (0..g.size()).map(move |to| (from, to))) {
            let (offset, coords) = (g.offset(from, to), g.coords(from));
            assert_eq!(g.moved(&coords, &offset, 1), Some(g.coords(to)));
            assert_eq!(g.moved(&g.coords(to), &offset, -1), Some(coords));
            assert!(offset.iter().zip([2, 2, 1, 0, 2]).all(|(steps, most)| steps.abs() <= most), "{offset:?}");
        }
        assert_eq!(g.moved(&[0, 0, 0, 0, 1], &[0, 0, 0, 0, 2], 1), None);
        assert_eq!(g.moved(&[0, 0, 0, 0, 1], &[0, 0, 0, 0, 2], -1), None);
    }

    #[test]
    fn block_sent_up_arrives_in_the_lower_entry() {
        // sizes 1 and 2: all edges lead to one process, only the direction distinguishes them
        for n in [1, 2] {
            let g = Grid::new(vec![n], vec![true]);
            let me = g.neighborhood(0);
            let peer = g.neighbor(0, 0).unwrap();
            assert_eq!(me.targets_in_order().collect::<Vec<_>>(), vec![(0, peer), (1, peer)]);
            assert_eq!(me.sources_in_order().collect::<Vec<_>>(), vec![(1, peer), (0, peer)]);
        }
    }

    #[test]
    fn reversed_edges_connect_what_the_edges_connected() {
        for dims in [vec![2, 3], vec![1, 4], vec![2, 2], vec![1, 1], vec![5, 1, 2]] {
            let g = Grid::new(dims.clone(), vec![true, false, true][..dims.len()].to_vec());
            let forth: Vec<_> = (0..g.size()).map(|r| g.neighborhood(r)).collect();
            let back: Vec<_> = forth.iter().map(|n| n.reversed(true)).collect();
            for n in &back {
                assert!(n.targets().iter().all(|t| g.neighbor(n.rank(), t.direction) == t.rank), "{dims:?}");
            }
            // (sender, its entry, receiver, its entry) of each edge
            let edges = |all: &[Neighborhood]| {
                let mut edges = Vec::new();
                for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                    let between = |list: Vec<(u32, Rank)>, peer| list.into_iter().filter(move |e| e.1 == peer).map(|e| e.0);
                    let out = between(a.targets_in_order().collect(), b.rank());
                    edges.extend(
                        out.zip(between(b.sources_in_order().collect(), a.rank())).map(|(i, j)| (a.rank(), i, b.rank(), j)),
                    );
                }
                edges
            };
            let mut turned: Vec<_> = edges(&back).into_iter().map(|(a, i, b, j)| (b, j, a, i)).collect();
            turned.sort_unstable();
            let mut expected = edges(&forth);
            expected.sort_unstable();
            assert_eq!(turned, expected, "{dims:?}");
        }
    }

    #[test]
    fn directions_found_in_lists_agree_at_both_ends() {
        for dims in [vec![2, 3], vec![1, 4], vec![2, 2], vec![1, 1], vec![5, 1, 2]] {
            let g = Grid::new(dims.clone(), vec![true; dims.len()]);
            let plain: Vec<_> = (0..g.size())
                .map(|r| {
                    let n = g.neighborhood(r);
                    let ranks = |l: &[Neighbor]| l.iter().filter_map(|n| n.rank).collect::<Vec<_>>();
                    Neighborhood::from_ranks(r, &ranks(n.sources()), &ranks(n.targets()))
                })
                .collect();
            let labelled: Vec<_> = plain.iter().map(|n| g.with_directions(n).unwrap()).collect();
            for (a, before) in labelled.iter().zip(&plain) {
                for b in &labelled {
                    let out: Vec<u32> =
                        a.targets_in_order().filter(|e| e.1 == b.rank()).map(|e| a.targets()[e.0 as usize].direction).collect();
                    let into: Vec<u32> =
                        b.sources_in_order().filter(|e| e.1 == a.rank()).map(|e| b.sources()[e.0 as usize].direction).collect();
                    assert_eq!(out, into, "{dims:?}");
                }
                // k-th stays k-th
                let entries = |n: &Neighborhood, peer| -> Vec<u32> {
                    let mut v = n.targets_in_order().collect::<Vec<_>>();
                    v.retain(|e| e.1 == peer);
                    v.iter().map(|e| e.0).collect()
                };
                for peer in 0..g.size() {
                    assert_eq!(entries(a, peer), entries(before, peer));
                }
            }
        }
    }

    #[test]
    fn far_edges_have_no_direction() {
        let g = Grid::new(vec![5], vec![true]);
        assert!(g.with_directions(&Neighborhood::from_ranks(0, &[2], &[])).is_none());
        assert!(g.with_directions(&Neighborhood::from_ranks(0, &[], &[1, 1])).is_none());
    }
}
