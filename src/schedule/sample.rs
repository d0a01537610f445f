//! A grid that stands for one that may be larger.

#![forbid(unsafe_code)]

use super::stencil::Stencil;
use crate::topology::cartesian::Grid;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighbor, Neighborhood, Rank};
use crate::util::cast::to_int;

/// A stencil on a part of its grid. All processes in the interior of a grid are alike, so that
/// schedules take the same time on both, as far as a model without distances can tell.
///
/// The part begins at the first process. It is periodic where the grid is, and has an odd number of
/// processes in the dimensions in which the grid has one: rings of odd length need a round more.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The stencil on the part.
    pub stencil: Stencil,
    /// The edges of its processes, with the largest weight that any process has at the same offset.
    pub graph: Graph,
    /// The directions of the edges, if all have one.
    pub directions: Option<Vec<u32>>,
    /// The ranks that its processes have on the grid.
    pub ranks: Vec<Rank>,
}

impl Sample {
    /// A part with at most `edges` edges, the whole grid if that has no more; `None` if the stencil
    /// reaches too far for such a part. `weights`: the largest of all processes'
    /// [`Stencil::weights`].
    ///
    /// Cost: O(edges).
    pub fn of(stencil: &Stencil, weights: &[i64], edges: u64) -> Option<Sample> {
        let whole = stencil.grid();
        let grid = part(stencil, edges)?;
        let ranks = 0..grid.size();
        let stencil = Stencil { grid: grid.clone(), ..stencil.clone() };
        let world: Vec<Neighborhood> = ranks.clone().map(|rank| neighborhood(&stencil, weights, rank)).collect();
        let labelled: Option<Vec<Neighborhood>> = world.iter().map(|n| grid.with_directions(n)).collect();
        let directions = labelled.as_ref().map(|world| world.iter().flat_map(Graph::row_directions).collect());
        Some(Sample {
            // edges with directions are in another order
            graph: Graph::from_neighborhoods(labelled.as_ref().unwrap_or(&world)),
            directions,
            ranks: ranks.map(|rank| whole.rank(&grid.coords(rank))).collect(),
            stencil,
        })
    }

    /// True if there is such a part.
    pub fn exists(stencil: &Stencil, edges: u64) -> bool {
        part(stencil, edges).is_some()
    }
}

/// The part of a stencil's grid.
fn part(stencil: &Stencil, edges: u64) -> Option<Grid> {
    let whole = stencil.grid();
    let degree: u64 = stencil.offsets.iter().map(|&(_, count)| u64::from(count)).sum();
    // with fewer processes two offsets would lead to the same one
    let reach = |d: usize| stencil.offsets.iter().map(|(offset, _)| offset[d].unsigned_abs()).max().unwrap_or(0);
    let least: Vec<u32> = (0..whole.dimensions()).map(|d| 2 * reach(d) + 1).collect();
    let mut dims = whole.dims().to_vec();
    let of = |dims: &[u32]| dims.iter().fold(degree, |edges, &n| edges.saturating_mul(n.into()));
    while of(&dims) > edges {
        // by twos: odd stays odd
        let d = (0..dims.len()).filter(|&d| dims[d] >= least[d] + 2).max_by_key(|&d| dims[d])?;
        dims[d] -= 2;
    }
    Some(whole.with_dims(dims))
}

/// The edges of a process.
fn neighborhood(stencil: &Stencil, weights: &[i64], rank: Rank) -> Neighborhood {
    let coords = stencil.grid().coords(rank);
    let list = |times: i32| -> Vec<Neighbor> {
        (stencil.offsets.iter().zip(weights))
            .filter_map(|((offset, count), &weight)| {
                let peer = stencil.grid().moved(&coords, offset, times)?;
                let edge = Neighbor { rank: Some(stencil.grid().rank(&peer)), weight: to_int(weight), direction: 0 };
                Some(std::iter::repeat_n(edge, *count as usize))
            })
            .flatten()
            .collect()
    };
    Neighborhood::new(rank, list(-1), list(1), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::generate;

    /// A stencil on a grid, the largest weights at its offsets, and its graph.
    fn of(dims: &[u32], periodic: &[bool], shape: generate::Stencil) -> (Stencil, Vec<i64>, Graph) {
        let graph = generate::grid(dims, periodic, shape, None);
        let world = graph.neighborhoods();
        let stencil = Stencil::find(&Grid::new(dims.to_vec(), periodic.to_vec()), &world).unwrap();
        let mut most = vec![0; stencil.offsets.len()];
        for n in &world {
            most.iter_mut().zip(stencil.weights(n)).for_each(|(most, weight)| *most = weight.max(*most));
        }
        (stencil, most, graph)
    }

    /// The part is a stencil of the same offsets, as large as the edges allow.
    #[test]
    fn a_part_has_the_offsets_of_the_whole() {
        for (dims, periodic, part) in [
            (vec![16, 16, 16], vec![true; 3], vec![8, 8, 10]),
            (vec![15, 16, 17], vec![true, false, true], vec![9, 8, 9]),
            (vec![200, 2, 9], vec![true, true, false], vec![18, 2, 9]),
            (vec![9, 7], vec![true, false], vec![9, 7]),
        ] {
            for shape in [generate::Stencil::Faces, generate::Stencil::Box] {
                let (stencil, weights, graph) = of(&dims, &periodic, shape);
                let degree: u64 = stencil.offsets.iter().map(|o| u64::from(o.1)).sum();
                let most = degree * part.iter().map(|&n| u64::from(n)).product::<u64>() + degree;
                let sample = Sample::of(&stencil, &weights, most).unwrap();
                assert!(Sample::exists(&stencil, most));
                let grid = sample.stencil.grid();
                assert_eq!(grid.size(), part.iter().product::<u32>(), "{dims:?}: {:?}", grid.dims());
                assert!(grid.dims().iter().zip(&dims).all(|(part, whole)| part <= whole && (whole - part) % 2 == 0));
                assert!(sample.graph.edges() as u64 <= most && (dims == part || sample.graph.edges() < graph.edges()));
                let world = sample.graph.neighborhoods();
                assert_eq!(Stencil::find(grid, &world).unwrap(), sample.stencil);
                assert_eq!(sample.directions.is_some(), shape == generate::Stencil::Faces);
                // each edge has the direction in which it leads
                for (e, &direction) in sample.directions.iter().flatten().enumerate() {
                    let (from, to, _) = sample.graph.iter().nth(e).unwrap();
                    assert_eq!(grid.neighbor(from, direction), Some(to));
                }
                // each process is where the whole has it
                let whole = stencil.grid();
                for (rank, &on_whole) in (0..).zip(&sample.ranks) {
                    assert_eq!(grid.coords(rank), whole.coords(on_whole));
                }
            }
        }
    }

    /// Two offsets that lead to different processes do so in the part; where that takes the whole
    /// dimension, there may be none.
    #[test]
    fn a_part_is_no_narrower_than_its_offsets() {
        let line = Grid::new(vec![9], vec![true]);
        let targets = |p: u32| (1..=4).map(move |s| (p, (p + s) % 9, s));
        let world = Graph::from_edges(9, &(0..9).flat_map(targets).collect::<Vec<_>>()).neighborhoods();
        let stencil = Stencil::find(&line, &world).unwrap();
        assert_eq!(stencil.weights(&world[3]), [1, 2, 3, 4]);
        assert!(Sample::of(&stencil, &[1, 2, 3, 4], 35).is_none());
        assert!(!Sample::exists(&stencil, 35));
        assert_eq!(Sample::of(&stencil, &[1, 2, 3, 4], 36).unwrap().graph, Graph::from_neighborhoods(&world));
    }
}
