//! Graphs to test, measure and compare schedules on: grids, random regular graphs, and the inputs
//! of the papers' measurements.
//!
//! Each generator gives equal graphs for equal arguments on every machine. Weights are in units;
//! what a unit is, is up to the caller. Time and memory are `O(edges)` unless said otherwise.

#![forbid(unsafe_code)]

use std::ops::Range;

use crate::topology::cartesian::Grid;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::Rank;
use crate::util::cast::{to_int, to_u32, to_usize};
use crate::util::random::Random;

/// The neighbors with which a process of a grid exchanges messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stencil {
    /// Neighbors one step away in one dimension: `2 D` in `D` dimensions, the 5-point stencil in
    /// 2-D and the 7-point stencil in 3-D. In the order of a Cartesian communicator: for each
    /// dimension the lower, then the higher one.
    Faces,
    /// Neighbors at most one step away in every dimension: `3^D - 1`, 8 in 2-D and 26 in 3-D. In
    /// lexicographic order of their offsets.
    Box,
}

/// The halo exchange of a Cartesian grid of processes.
///
/// Dimension `d` has `dims[d]` processes and is periodic if `periodic[d]`. Each process has a block
/// of `cells[d]` cells per dimension; the weight of an edge is the number of cells that touch the
/// neighbor: faces, edges, corners. Without `cells` all weights are 1. Edges from a process to
/// itself, around a periodic dimension of size 1, are left out; edges to the same process in both
/// directions of a dimension are kept.
///
/// # Panics
/// If the lists differ in length, or a dimension is 0.
pub fn grid(dims: &[u32], periodic: &[bool], stencil: Stencil, cells: Option<&[u32]>) -> Graph {
    let grid = Grid::new(dims.to_vec(), periodic.to_vec());
    assert!(cells.is_none_or(|cells| cells.len() == dims.len()), "cells need a number for each dimension");
    let offsets: Vec<Vec<i8>> = match stencil {
        Stencil::Faces => (0..2 * dims.len())
            .map(|direction| (0..dims.len()).map(|d| if d == direction / 2 { [-1, 1][direction % 2] } else { 0 }).collect())
            .collect(),
        Stencil::Box => (0..3usize.pow(to_u32(dims.len())))
            .map(|i| (0..dims.len()).map(|d| to_int::<i8>(i / 3usize.pow(to_u32(dims.len() - 1 - d)) % 3) - 1).collect())
            .filter(|offset: &Vec<i8>| offset.iter().any(|&o| o != 0))
            .collect(),
    };
    let weights: Vec<u32> = (offsets.iter())
        .map(|offset| {
            let touching = offset.iter().zip(cells.unwrap_or_default()).filter(|(o, _)| **o == 0).map(|(_, &c)| c);
            touching.fold(1u32, u32::saturating_mul)
        })
        .collect();
    rows(grid.size(), |p, row| {
        for (offset, &weight) in offsets.iter().zip(&weights) {
            let to = (0..dims.len()).try_fold(p, |at, d| match offset[d] {
                0 => Some(at),
                step => grid.neighbor(at, 2 * to_u32(d) + u32::from(step > 0)),
            });
            row.extend(to.map(|to| (to, weight)));
        }
    })
}

/// A random graph in which every process has `d` outgoing and `d` incoming edges of weight 1,
/// without repeated edges or self edges.
///
/// The construction starts with the processes in random order on a circle, each sending to the next
/// `d`. It then exchanges the targets of two random edges, unless that would repeat an edge, four
/// times as often as there are edges. Such exchanges lead from any of these graphs to nearly every
/// other. Time: `O(n d^2)`.
///
/// # Panics
/// Unless `d < n` and `n d < 2^32`.
pub fn random_regular(n: u32, d: u32, seed: u64) -> Graph {
    let targets = regular_targets(n, d, &mut Random::new(seed));
    let weights = vec![1; targets.len()];
    Graph::from_rows((0..n).map(|_| u64::from(d)), targets, weights)
}

/// IrregPC's test set 1 (section 7.2): every process sends `d` messages to random others and
/// receives `d`, with lengths uniformly distributed from 1 to 32 units. The paper has `n` = 32, and
/// `d` = 8 and 16 up to small deviations; here every process has exactly `d`.
///
/// # Panics
/// As [`random_regular`].
pub fn irregpc_uniform(n: u32, d: u32, seed: u64) -> Graph {
    let mut random = Random::new(seed);
    let targets = regular_targets(n, d, &mut random);
    let weights = targets.iter().map(|_| 1 + random.below(32)).collect();
    Graph::from_rows((0..n).map(|_| u64::from(d)), targets, weights)
}

/// The targets of all processes of a random regular graph, concatenated.
fn regular_targets(n: u32, d: u32, random: &mut Random) -> Vec<Rank> {
    assert!(d < n, "{n} processes cannot have {d} different neighbors");
    let edges = n.checked_mul(d).expect("too many edges");
    let mut circle: Vec<Rank> = (0..n).collect();
    random.shuffle(&mut circle);
    let mut targets = vec![0; edges as usize];
    for (at, &p) in circle.iter().enumerate() {
        for k in 0..d as usize {
            targets[p as usize * d as usize + k] = circle[(at + 1 + k) % n as usize];
        }
    }
    for _ in 0..4 * u64::from(edges) {
        let (e, f) = (random.below(edges), random.below(edges));
        let (a, b) = (e / d, f / d);
        let (to_a, to_b) = (targets[e as usize], targets[f as usize]);
        let row = |p: Rank| &targets[(p * d) as usize..(p * d + d) as usize];
        if a != to_b && b != to_a && !row(a).contains(&to_b) && !row(b).contains(&to_a) {
            targets.swap(e as usize, f as usize);
        }
    }
    targets
}

/// IrregPC's test set 2 (section 7.2): 32 processes that send 16 units each, few of them in a few
/// long messages, most in many short ones. 1, 2, 4, 8 and 17 processes send 1, 2, 4, 8 and 16
/// messages of 16, 8, 4, 2 and 1 units. These processes and their targets are random.
pub fn irregpc_skewed(seed: u64) -> Graph {
    /// (processes, messages of each, length of a message)
    const SETS: [(usize, usize, u32); 5] = [(1, 1, 16), (2, 2, 8), (4, 4, 4), (8, 8, 2), (17, 16, 1)];
    let mut random = Random::new(seed);
    let mut kinds: Vec<(usize, u32)> =
        SETS.iter().flat_map(|&(processes, messages, length)| std::iter::repeat_n((messages, length), processes)).collect();
    random.shuffle(&mut kinds);
    rows(to_u32(kinds.len()), |p, row| {
        let (messages, length) = kinds[p as usize];
        let mut others: Vec<Rank> = (0..to_u32(kinds.len())).filter(|&q| q != p).collect();
        random.shuffle(&mut others);
        row.extend(others[..messages].iter().map(|&to| (to, length)));
    })
}

/// A graph like IrregPC's test set 3 (section 7.2): an unstructured mesh around a wing, partitioned
/// among the processes. A process sends to another one the values of its points that touch points
/// there, one unit per point.
///
/// The paper's matrices are not published. Its description (2,800 points in 32 parts: 3 to 15
/// neighbors, 9.25 on average, messages of up to 36 units, 14.2 on average; 53,961 points: 6 to 18
/// and 10.81 neighbors, up to 276 and 93.21 units) fits a mesh of a volume: parts of a plane have
/// fewer than six neighbors on average. Therefore points are drawn in a box around half a wing with
/// the profile NACA 0012, denser near the wing. Each point touches its [`NEAREST`] nearest points
/// and those of which it is one of the nearest. Parts are cut by recursive coordinate bisection, at
/// the median across the longest extent. In 32 parts, 2,800 points give 5 to 15 neighbors, 9.4 to
/// 10.2 on average, and messages of 15 to 16 units on average, the longest twice the paper's;
/// 53,961 points give 5 to 12 and 8.7 to 9.0 neighbors, and 101 to 105 units.
///
/// Time: `O(points ln points)`.
///
/// # Panics
/// If there are fewer points than parts, or no parts.
pub fn airfoil(points: u32, parts: u32, seed: u64) -> Graph {
    assert!(0 < parts && parts <= points, "{points} points in {parts} parts");
    let mut random = Random::new(seed);
    let mut mesh: Vec<Point> = std::iter::repeat_with(|| wing_point(&mut random)).take(points as usize).collect();
    cut(&mut mesh, 0, parts);
    tree(&mut mesh);
    // (part, other part, point to send)
    let mut sent: Vec<(u32, u32, u32)> = Vec::new();
    let mut nearest = Vec::with_capacity(NEAREST + 1);
    for (i, point) in mesh.iter().enumerate() {
        nearest.clear();
        find_nearest(&mesh, 0..mesh.len(), i, &mut nearest);
        for &(_, j) in &nearest {
            let other = mesh[j].part;
            if other != point.part {
                sent.extend([(point.part, other, to_u32(i)), (other, point.part, to_u32(j))]);
            }
        }
    }
    sent.sort_unstable();
    sent.dedup();
    let edges: Vec<_> = sent.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|s| (s[0].0, s[0].1, to_u32(s.len()))).collect();
    Graph::from_edges(parts, &edges)
}

/// Number of nearest points that a point of [`airfoil`]'s mesh touches; including the points of
/// which it is a nearest one, about as many as in a mesh of tetrahedra.
pub const NEAREST: usize = 10;

/// A point of a mesh.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: [f64; 3],
    part: u32,
    /// The dimension in which the point separates others in the tree.
    across: usize,
}

/// A random point around a wing of chord 1 and length 2, whose root is in the wall `z = 0`.
fn wing_point(random: &mut Random) -> Point {
    loop {
        let at = [5.0 * random.unit() - 2.0, 4.0 * random.unit() - 2.0, 3.0 * random.unit()];
        let [x, y, z] = at;
        // distance vector from the plane of the wing
        let outside = [x - x.clamp(0.0, 1.0), y, z - z.min(2.0)];
        let distance = outside.iter().map(|o| o * o).sum::<f64>().sqrt();
        // the spacing of points grows linearly with the distance, from 1 at the wing
        let spacing = 1.0 + 4.0 * distance;
        // half of the thickness of NACA 0012 at x
        let half = 0.6 * (0.2969 * x.abs().sqrt() - x * (0.1260 + x * (0.3516 - x * (0.2843 - x * 0.1036))));
        let inside = (0.0..=1.0).contains(&x) && z <= 2.0 && y.abs() < half;
        if !inside && random.unit() < 1.0 / (spacing * spacing * spacing) {
            return Point { at, part: 0, across: 0 };
        }
    }
}

/// Reorders points so that the one at position `at` separates those before it from those after it
/// along the longest extent, whose dimension is returned.
fn separate(points: &mut [Point], at: usize) -> usize {
    let extents = [0, 1, 2].map(|d| {
        let (low, high) = points.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p.at[d]), h.max(p.at[d])));
        high - low
    });
    let longest = (0..3).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
    points.select_nth_unstable_by(at, |a, b| a.at[longest].total_cmp(&b.at[longest]));
    longest
}

/// Divides points into parts by recursive coordinate bisection. Parts are numbered from `first`;
/// their sizes differ by at most one per level.
fn cut(points: &mut [Point], first: u32, parts: u32) {
    if parts == 1 {
        points.iter_mut().for_each(|p| p.part = first);
        return;
    }
    let at = to_usize(points.len() as u64 * u64::from(parts / 2) / u64::from(parts));
    separate(points, at);
    let (lower, upper) = points.split_at_mut(at);
    cut(lower, first, parts / 2);
    cut(upper, first + parts / 2, parts - parts / 2);
}

/// Orders points as a k-d tree: the middle point separates the others.
fn tree(points: &mut [Point]) {
    if points.len() > 1 {
        let middle = points.len() / 2;
        points[middle].across = separate(points, middle);
        tree(&mut points[..middle]);
        tree(&mut points[middle + 1..]);
    }
}

/// Finds the points nearest to point `i` in a range of the tree: (squared distance, number),
/// nearest first.
fn find_nearest(mesh: &[Point], range: Range<usize>, i: usize, nearest: &mut Vec<(f64, usize)>) {
    if range.is_empty() {
        return;
    }
    let middle = range.start + range.len() / 2;
    let (point, node) = (&mesh[i], &mesh[middle]);
    let distance: f64 = (0..3).map(|d| (point.at[d] - node.at[d]) * (point.at[d] - node.at[d])).sum();
    if middle != i {
        let at = nearest.partition_point(|n| n.0 <= distance);
        nearest.insert(at, (distance, middle));
        nearest.truncate(NEAREST);
    }
    let beyond = point.at[node.across] - node.at[node.across];
    let (lower, upper) = (range.start..middle, middle + 1..range.end);
    let (near, far) = if beyond < 0.0 { (lower, upper) } else { (upper, lower) };
    find_nearest(mesh, near, i, nearest);
    if nearest.len() < NEAREST || beyond * beyond < nearest[NEAREST - 1].0 {
        find_nearest(mesh, far, i, nearest);
    }
}

/// SparseColl's irregular exchanges (Figures 6 and 9): a periodic 2-D grid in which two of a
/// process's four messages are heavy. Ranks are row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Figure 6, right: the grid is divided into blocks of two by two processes. Messages along the
    /// circle of a block, in both directions, are heavy, those between blocks are not.
    ///
    /// A process has one heavy message in each dimension, so that in each of the four rounds by
    /// dimension every process sends or receives a heavy one. Two rounds suffice for all heavy
    /// messages: once around each circle, and back. The figure itself is not in the paper's text;
    /// this pattern reproduces the numbers in the text.
    Circular,
    /// Figure 6, left: messages along the first dimension, in both directions, are heavy. Rounds by
    /// dimension need two heavy rounds. Heavy messages go to ranks a row apart, across nodes if a
    /// node holds a row, as in the text to Figure 9.
    Horizontal,
    /// Figure 9: like `Horizontal`, with the heavy messages along the second dimension.
    Vertical,
}

impl Pattern {
    /// All patterns, by name.
    pub const ALL: [(&str, Pattern); 3] =
        [("circular", Pattern::Circular), ("horizontal", Pattern::Horizontal), ("vertical", Pattern::Vertical)];

    /// Weight of the message that leaves these coordinates in a direction: `heavy` or 1.
    pub fn weight(self, coords: &[u32], direction: u32, heavy: u32) -> u32 {
        let is_heavy = match self {
            // up from an even coordinate, down from an odd one
            Pattern::Circular => direction % 2 != coords[direction as usize / 2] % 2,
            Pattern::Horizontal => direction < 2,
            Pattern::Vertical => direction >= 2,
        };
        if is_heavy { heavy } else { 1 }
    }

    /// The pattern on a grid of this size.
    #[cfg(test)]
    pub(crate) fn graph(self, dim0: u32, dim1: u32, heavy: u32) -> Graph {
        let grid = Grid::new(vec![dim0, dim1], vec![true; 2]);
        rows(grid.size(), |p, row| {
            let coords = grid.coords(p);
            for direction in 0..4 {
                row.extend(grid.neighbor(p, direction).map(|to| (to, self.weight(&coords, direction, heavy))));
            }
        })
    }
}

/// A graph from each process's row of (target, weight), without edges from a process to itself.
fn rows(processes: u32, mut row: impl FnMut(Rank, &mut Vec<(Rank, u32)>)) -> Graph {
    let (mut degrees, mut edges) = (Vec::with_capacity(processes as usize), Vec::new());
    for p in 0..processes {
        let before = edges.len();
        let mut own = Vec::new();
        row(p, &mut own);
        edges.extend(own.into_iter().filter(|e| e.0 != p));
        degrees.push((edges.len() - before) as u64);
    }
    let (targets, weights) = edges.into_iter().unzip();
    Graph::from_rows(degrees, targets, weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cases::cases;
    use proptest::prelude::*;

    fn row(graph: &Graph, p: Rank) -> Vec<(Rank, u32)> {
        graph.edges_of(p).map(|e| (graph.target(e), graph.weight(e))).collect()
    }

    /// Every edge has one back.
    fn symmetric(graph: &Graph) -> bool {
        let mut there: Vec<_> = graph.iter().map(|e| (e.0, e.1)).collect();
        let mut back: Vec<_> = graph.iter().map(|e| (e.1, e.0)).collect();
        there.sort_unstable();
        back.sort_unstable();
        there == back
    }

    #[test]
    fn grids_of_faces() {
        let g = grid(&[2, 3], &[false, true], Stencil::Faces, Some(&[10, 20]));
        // up the first dimension the whole second one touches
        assert_eq!(row(&g, 0), [(3, 20), (2, 10), (1, 10)]);
        assert_eq!(row(&g, 4), [(1, 20), (3, 10), (5, 10)]);
        let g = grid(&[4, 5, 6], &[true; 3], Stencil::Faces, None);
        assert_eq!((g.edges(), g.max_degree()), (6 * 120, 6));
        assert!(g.iter().all(|e| e.2 == 1) && symmetric(&g));
        // the same rows as a Cartesian communicator's, also where both neighbors are one process
        for (dims, periodic) in [([2, 3], [true, true]), ([1, 4], [true, false])] {
            let cartesian = Grid::new(dims.to_vec(), periodic.to_vec());
            let g = grid(&dims, &periodic, Stencil::Faces, None);
            for p in 0..cartesian.size() {
                let neighbors = cartesian.neighborhood(p);
                let expected: Vec<_> = (neighbors.targets().iter()).filter_map(|n| n.rank).filter(|&r| r != p).collect();
                assert_eq!(row(&g, p).iter().map(|e| e.0).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn grids_of_boxes() {
        let g = grid(&[3, 3], &[false; 2], Stencil::Box, Some(&[7, 9]));
        let all = [(0, 1), (1, 7), (2, 1), (3, 9), (5, 9), (6, 1), (7, 7), (8, 1)];
        assert_eq!(row(&g, 4).len(), 8);
        // along the first dimension the second one's cells touch
        assert_eq!(
            row(&g, 4),
            all.map(|(to, w)| (
                to,
                match w {
                    7 => 9,
                    9 => 7,
                    w => w,
                }
            ))
        );
        assert_eq!(row(&g, 0), [(1, 7), (3, 9), (4, 1)]);
        let g = grid(&[3, 4, 5], &[true; 3], Stencil::Box, None);
        assert_eq!((g.edges(), g.max_degree()), (26 * 60, 26));
        assert!(symmetric(&g));
    }

    proptest! {
        #![proptest_config(cases(60))]

        /// Exactly `d` edges in and out everywhere, no repeated ones, up to the complete graph.
        #[test]
        fn random_graphs_are_regular(n in 1u32..60, d in any::<u32>(), seed in any::<u64>()) {
            let d = d % n;
            for g in [random_regular(n, d, seed), irregpc_uniform(n, d, seed)] {
                prop_assert_eq!(g.processes(), n as usize);
                prop_assert_eq!(g.degrees(), (vec![d; n as usize], vec![d; n as usize]));
                let mut edges: Vec<_> = g.iter().map(|e| (e.0, e.1)).collect();
                edges.sort_unstable();
                edges.dedup();
                prop_assert_eq!(to_u32(edges.len()), n * d);
                prop_assert!(edges.iter().all(|e| e.0 != e.1));
            }
        }
    }

    /// Every process is a target of every other one about equally often, however far away on the
    /// circle it began.
    #[test]
    fn random_graphs_are_random() {
        let (n, d, graphs) = (12, 3, 2_000);
        let mut times = vec![0u32; (n * n) as usize];
        for seed in 0..graphs {
            for (from, to, _) in random_regular(n, d, seed).iter() {
                times[(from * n + to) as usize] += 1;
            }
        }
        let expected = graphs as f64 * f64::from(d) / f64::from(n - 1);
        for (i, &t) in times.iter().enumerate().filter(|(i, _)| i % (n as usize + 1) != 0) {
            assert!((f64::from(t) / expected - 1.0).abs() < 0.2, "{} times from {} to {}", t, to_u32(i) / n, to_u32(i) % n);
        }
        assert_ne!(random_regular(n, d, 1), random_regular(n, d, 2));
    }

    #[test]
    fn the_papers_uniform_and_skewed_sets() {
        let g = irregpc_uniform(32, 16, 3);
        let (shortest, longest) = g.iter().fold((u32::MAX, 0), |(s, l), e| (s.min(e.2), l.max(e.2)));
        assert_eq!((shortest, longest), (1, 32));
        let mean = g.iter().map(|e| f64::from(e.2)).sum::<f64>() / g.edges() as f64;
        assert!((14.5..18.5).contains(&mean), "{mean}");

        let g = irregpc_skewed(3);
        assert_eq!(g.loads().0, [16; 32]);
        let mut degrees = g.degrees().0;
        degrees.sort_unstable();
        assert_eq!(degrees, [vec![1], vec![2; 2], vec![4; 4], vec![8; 8], vec![16; 17]].concat());
        assert!(g.iter().all(|(p, _, w)| w as usize * g.edges_of(p).len() == 16));
        assert_ne!(g, irregpc_skewed(4));
    }

    /// The k-d tree finds what looking at all points finds.
    #[test]
    fn nearest_points() {
        let mut random = Random::new(9);
        let mut mesh: Vec<Point> = (0..500).map(|_| wing_point(&mut random)).collect();
        tree(&mut mesh);
        for i in 0..mesh.len() {
            let square = |j: usize| (0..3).map(|d| (mesh[i].at[d] - mesh[j].at[d]).powi(2)).sum::<f64>();
            let mut all: Vec<(f64, usize)> = (0..mesh.len()).filter(|&j| j != i).map(|j| (square(j), j)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut nearest = Vec::new();
            find_nearest(&mesh, 0..mesh.len(), i, &mut nearest);
            assert_eq!(nearest.iter().map(|n| n.1).collect::<Vec<_>>(), all[..NEAREST].iter().map(|n| n.1).collect::<Vec<_>>());
        }
    }

    /// About what the paper says of its own matrices.
    #[test]
    fn airfoils_look_like_the_papers() {
        let about = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.25;
        for (points, seed, neighbors, units) in [(2_800, 1, 9.25, 14.2), (2_800, 2, 9.25, 14.2), (53_961, 1, 10.81, 93.21)] {
            let g = airfoil(points, 32, seed);
            assert_eq!(g.processes(), 32);
            assert!(symmetric(&g));
            let degree = g.edges() as f64 / 32.0;
            let length = g.iter().map(|e| f64::from(e.2)).sum::<f64>() / g.edges() as f64;
            assert!(about(degree, neighbors) && about(length, units), "{points} points: {degree} neighbors, {length} units");
            assert!(g.degrees().0.into_iter().all(|d| (3..=18).contains(&d)));
        }
        assert_ne!(airfoil(500, 7, 1), airfoil(500, 7, 2));
        // as many parts as points, and one part
        assert_eq!(airfoil(40, 40, 1).loads().0.into_iter().min(), Some(NEAREST as u64));
        assert_eq!(airfoil(40, 1, 1).edges(), 0);
        // parts are equally large
        let mut random = Random::new(1);
        let mut mesh: Vec<Point> = (0..100).map(|_| wing_point(&mut random)).collect();
        cut(&mut mesh, 0, 7);
        let sizes: Vec<usize> = (0..7).map(|part| mesh.iter().filter(|p| p.part == part).count()).collect();
        assert!(sizes.iter().all(|s| (14..=15).contains(s)), "{sizes:?}");
    }

    /// The numbers of SparseColl's text: rounds by dimension have two heavy rounds in one pattern
    /// and four in the other, though each process sends and receives two heavy messages in both.
    #[test]
    fn horizontal_and_circular_patterns() {
        for (rows, columns) in [(4, 8), (2, 4), (2, 2), (6, 6)] {
            let [c, h, v] = Pattern::ALL.map(|(_, pattern)| pattern.graph(rows, columns, 100));
            for (name, graph, heavy_rounds) in [("horizontal", &h, 2), ("vertical", &v, 2), ("circular", &c, 4)] {
                assert_eq!(graph.loads(), (vec![202; graph.processes()], vec![202; graph.processes()]), "{name}");
                let heavy = |round: usize| (0..to_u32(graph.processes())).any(|p| row(graph, p)[round].1 == 100);
                assert_eq!((0..4).filter(|&round| heavy(round)).count(), heavy_rounds, "{name}");
            }
            // in each round every process of the circular pattern sends or receives a heavy message
            for round in 0..4 {
                for p in 0..rows * columns {
                    let from = (0..rows * columns).find(|&q| row(&c, q)[round].0 == p).unwrap();
                    assert_eq!(row(&c, p)[round].1 + row(&c, from)[round].1, 101);
                }
            }
        }
        // on four nodes with a row each, horizontal's heavy messages cross nodes, vertical's do not
        let crosses = |g: &Graph| g.iter().filter(|e| e.2 == 100).all(|e| e.0 / 8 != e.1 / 8);
        assert!(crosses(&Pattern::Horizontal.graph(4, 8, 100)) && !crosses(&Pattern::Vertical.graph(4, 8, 100)));
        // processes 0 1 / 8 9 are a circle
        assert_eq!(row(&Pattern::Circular.graph(4, 8, 100), 0), [(24, 1), (8, 100), (7, 1), (1, 100)]);
    }
}
