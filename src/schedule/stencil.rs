//! Stencils: offsets at which all processes of a grid have neighbors.

use std::collections::BTreeMap;

use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::{to_int, to_u32, to_usize};

/// Steps along each dimension.
pub(super) type Offset = Vec<i32>;

/// Maximum number of positions in the box that contains all offsets.
const MOST_PLACES: usize = 4096;

/// The offsets at which all processes of a grid have neighbors, as far as the grid extends.
///
/// Processes detect a stencil by three reductions with `MAX`: how far their offsets reach
/// ([`Stencil::reach`], 2 d words), how many edges each has at every position of the box that
/// contains all offsets ([`Stencil::counts`], one word per position), and if the lists of any
/// process differ from what these counts imply ([`Stencil::describes`], one word).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stencil {
    pub(super) grid: Grid,
    /// All offsets except 0, ascending, with the number of edges that a process has at each.
    pub(super) offsets: Vec<(Offset, u32)>,
    /// The dimensions in which there are neighbors, in the order in which blocks travel along them.
    pub(super) order: Vec<usize>,
    pub(super) closed: bool,
}

impl Stencil {
    /// How far the edges of a process to others reach, downward and upward in each dimension.
    pub fn reach(grid: &Grid, n: &Neighborhood) -> Vec<i64> {
        let mut reach = vec![0; 2 * grid.dimensions()];
        for (_, offset) in edges(grid, n) {
            for (d, &steps) in offset.iter().enumerate() {
                let at = &mut reach[2 * d + usize::from(steps > 0)];
                *at = i64::from(steps.unsigned_abs()).max(*at);
            }
        }
        reach
    }

    /// Number of edges of a process at each position of the box spanned by the reaches of all
    /// processes; `None` if the box has too many positions.
    pub fn counts(grid: &Grid, n: &Neighborhood, reach: &[i64]) -> Option<Vec<i64>> {
        let mut counts = vec![0; places(reach)?];
        for (_, offset) in edges(grid, n) {
            counts[place(&offset, reach)] += 1;
        }
        Some(counts)
    }

    /// Creates the stencil from the combined reaches and counts of all processes.
    pub fn new(grid: Grid, reach: &[i64], counts: &[i64]) -> Stencil {
        let at = |place: usize| {
            let mut rest = to_int::<i64>(place);
            let mut offset: Offset = (reach.chunks_exact(2).rev())
                .map(|r| {
                    let width = r[0] + r[1] + 1;
                    let steps = rest % width - r[0];
                    rest /= width;
                    to_int::<i32>(steps)
                })
                .collect();
            offset.reverse();
            offset
        };
        let taken = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let offsets: Vec<(Offset, u32)> = taken.map(|(place, &count)| (at(place), to_u32(count))).collect();
        let used = |d: &usize| offsets.iter().any(|(offset, _)| offset[*d] != 0);
        let dimensions: Vec<usize> = (0..grid.dimensions()).filter(used).collect();
        let order = closed_order(&offsets, &dimensions);
        Stencil { grid, offsets, closed: order.is_some(), order: order.unwrap_or(dimensions) }
    }

    /// Returns true if the process has exactly the edges that the stencil implies.
    pub fn describes(&self, n: &Neighborhood) -> bool {
        let mut counts: BTreeMap<Offset, u32> = BTreeMap::new();
        for (_, offset) in edges(&self.grid, n) {
            *counts.entry(offset).or_default() += 1;
        }
        let coords = self.grid.coords(n.rank());
        let expected = self.offsets.iter().filter(|(offset, _)| self.grid.moved(&coords, offset, 1).is_some());
        counts.iter().map(|(offset, count)| (offset, *count)).eq(expected.map(|(offset, count)| (offset, *count)))
    }

    /// Finds the stencil of all processes, given in the order of ranks; `None` if there is none, or
    /// if its offsets are too far apart.
    pub fn find(grid: &Grid, world: &[Neighborhood]) -> Option<Stencil> {
        let mut reach = vec![0; 2 * grid.dimensions()];
        let most = |all: &mut [i64], mine: Vec<i64>| all.iter_mut().zip(mine).for_each(|(all, mine)| *all = mine.max(*all));
        world.iter().for_each(|n| most(&mut reach, Stencil::reach(grid, n)));
        let mut counts = vec![0; places(&reach)?];
        for n in world {
            most(&mut counts, Stencil::counts(grid, n, &reach)?);
        }
        let stencil = Stencil::new(grid.clone(), &reach, &counts);
        world.iter().all(|n| stencil.describes(n)).then_some(stencil)
    }

    /// The largest weight of this process's edges at each offset, 0 where it has none.
    pub fn weights(&self, n: &Neighborhood) -> Vec<i64> {
        let mut weights = vec![0; self.offsets.len()];
        for (entry, offset) in edges(&self.grid, n) {
            if let Ok(at) = self.offsets.binary_search_by(|o| o.0.cmp(&offset)) {
                weights[at] = i64::from(n.targets()[entry as usize].weight).max(weights[at]);
            }
        }
        weights
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns true if blocks travel only through neighbors of their source: every intermediate
    /// offset of a block is itself an offset of the stencil.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Returns true if a process in the interior of the grid sends fewer messages than it has
    /// edges.
    pub fn saves_messages(&self) -> bool {
        let messages: usize = self.order.iter().map(|&d| self.steps(d).len()).sum();
        messages < self.offsets.iter().map(|(_, count)| *count as usize).sum()
    }

    /// The distinct nonzero steps along a dimension, ascending.
    pub(super) fn steps(&self, d: usize) -> Vec<i32> {
        let mut steps: Vec<i32> = self.offsets.iter().map(|(offset, _)| offset[d]).filter(|&steps| steps != 0).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The offsets, by number, whose blocks process `coords` sends `steps` along the `r`-th
    /// dimension, grouped by source.
    pub(super) fn sent(&self, coords: &[u32], r: usize, steps: i32) -> Vec<usize> {
        let mut sent: Vec<(Offset, usize)> = (self.offsets.iter().enumerate())
            .filter(|(_, (offset, _))| offset[self.order[r]] == steps)
            .filter_map(|(i, (offset, _))| {
                let way = restricted(offset, &self.order[..r]);
                let source = self.grid.moved(coords, &way, -1)?;
                self.grid.moved(&source, offset, 1)?;
                Some((way, i))
            })
            .collect();
        sent.sort_unstable();
        sent.into_iter().map(|(_, i)| i).collect()
    }
}

/// Keeps the steps along some dimensions and sets the others to 0.
fn restricted(offset: &[i32], dimensions: &[usize]) -> Offset {
    (0..offset.len()).map(|d| if dimensions.contains(&d) { offset[d] } else { 0 }).collect()
}

/// Returns an order of the dimensions in which every intermediate offset of a block is an offset of
/// the stencil; `None` if there is none, or if there are too many dimensions to try.
fn closed_order(offsets: &[(Offset, u32)], dimensions: &[usize]) -> Option<Vec<usize>> {
    const MOST_DIMENSIONS: usize = 8;
    fn extend(order: &mut Vec<usize>, offsets: &[(Offset, u32)], dimensions: &[usize], refused: &mut Vec<Vec<usize>>) -> bool {
        if order.len() == dimensions.len() {
            return true;
        }
        for &d in dimensions {
            if order.contains(&d) {
                continue;
            }
            order.push(d);
            let mut set = order.clone();
            set.sort_unstable();
            let holds = |way: &Offset| way.iter().all(|&s| s == 0) || offsets.binary_search_by(|o| o.0.cmp(way)).is_ok();
            if !refused.contains(&set) {
                if offsets.iter().all(|(offset, _)| holds(&restricted(offset, order)))
                    && extend(order, offsets, dimensions, refused)
                {
                    return true;
                }
                refused.push(set);
            }
            order.pop();
        }
        false
    }
    let mut order = Vec::new();
    (dimensions.len() <= MOST_DIMENSIONS && extend(&mut order, offsets, dimensions, &mut Vec::new())).then_some(order)
}

/// Number of positions in the box; `None` if there are too many.
fn places(reach: &[i64]) -> Option<usize> {
    let widths = reach.chunks_exact(2).map(|r| usize::try_from(r[0] + r[1] + 1).ok());
    let places = widths.into_iter().try_fold(1usize, |places, width| places.checked_mul(width?));
    places.filter(|&places| places <= MOST_PLACES)
}

/// Position of an offset in the box.
fn place(offset: &[i32], reach: &[i64]) -> usize {
    let widths = reach.chunks_exact(2).zip(offset);
    to_usize(widths.fold(0, |place, (r, &steps)| place * (r[0] + r[1] + 1) + i64::from(steps) + r[0]))
}

/// List entries and offsets of the edges to other processes, in matching order.
pub(super) fn edges<'a>(grid: &'a Grid, n: &'a Neighborhood) -> impl Iterator<Item = (u32, Offset)> + 'a {
    others(n.targets_in_order(), n.rank()).map(|(entry, to)| (entry, grid.offset(n.rank(), to)))
}

pub(super) fn others(list: impl Iterator<Item = (u32, Rank)>, me: Rank) -> impl Iterator<Item = (u32, Rank)> {
    list.filter(move |e| e.1 != me)
}
