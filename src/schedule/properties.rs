//! Properties that hold for every algorithm of the table, on random graphs and on Cartesian grids.

use crate::util::cases::cases;
use proptest::prelude::*;

use super::verify::{Goal, verify};
use super::{
    ALGORITHMS, Algorithm, Block, Build, Entry, FoldOrder, Operations, Schedule, Stencil, Tuning, schedules_on_nodes,
    world_schedules, world_schedules_on,
};
use crate::schedule::world;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{Neighbor, Neighborhood};
use crate::topology::nodes::Locality;
use crate::util::cast::{to_u32, to_usize};

/// Contents of block `entry` of process `p`; contents and length identify both.
fn block(p: u32, entry: u32) -> Vec<u8> {
    // some blocks are too short to be cut, some can be cut in many places
    let length = (p * 7 + entry * 3) as usize % 5 * 97;
    let mut bytes = [p.to_le_bytes(), entry.to_le_bytes()].concat();
    bytes.extend(std::iter::repeat_n(0xa5, length));
    bytes
}

/// The blocks that must arrive, by definition: the k-th edge of the sender in matching order
/// matches the k-th edge of the receiver.
fn oracle(world: &[Neighborhood], p: usize) -> Vec<(u32, Vec<u8>)> {
    let me = &world[p];
    let mut expected: Vec<(u32, Vec<u8>)> = Vec::new();
    for (position, (entry, source)) in me.sources_in_order().enumerate() {
        let k = me.sources_in_order().take(position).filter(|e| e.1 == source).count();
        let sent: Vec<_> = (world[source as usize].targets_in_order()).filter(|e| e.1 as usize == p).collect();
        expected.push((entry, block(source, sent[k].0)));
    }
    expected.sort();
    expected
}

fn outputs(blocks: &world::Blocks) -> Vec<(u32, Vec<u8>)> {
    let output =
        |(block, bytes): (&Block, &Vec<u8>)| if let Block::Output(entry) = block { Some((*entry, bytes.clone())) } else { None };
    blocks.iter().filter_map(output).collect()
}

fn inputs(world: &[Neighborhood]) -> Vec<Vec<Vec<u8>>> {
    (world.iter()).map(|n| (0..to_u32(n.targets().len())).map(|i| block(n.rank(), i)).collect()).collect()
}

/// Verifies the schedules of all processes and moves bytes through them; if they serve gather, also
/// as a gather.
fn check(entry: &Entry, world: &[Neighborhood], schedules: &[Schedule], seed: u64) -> Result<(), String> {
    let inputs = inputs(world);
    verify(world, schedules, Goal::Deliver, entry.single_port)?;
    let moved = world::run(schedules, &inputs, |_, _| unreachable!(), seed)?;
    for (p, blocks) in moved.iter().enumerate() {
        if outputs(blocks) != oracle(world, p) {
            return Err(format!("process {p}: wrong bytes"));
        }
    }
    if entry.unserved(Operations { gather: true, ..Operations::default() }).is_none() {
        // all blocks of a process are its first one
        let same = |inputs: &Vec<Vec<u8>>| vec![inputs.first().cloned().unwrap_or_default(); inputs.len()];
        let same: Vec<_> = inputs.iter().map(same).collect();
        let gathered = world::run(schedules, &same, |_, _| unreachable!(), seed)?;
        for (n, blocks) in world.iter().zip(&gathered) {
            let mut expected: Vec<_> = n.sources_in_order().map(|(entry, from)| (entry, block(from, 0))).collect();
            expected.sort();
            if outputs(blocks) != expected {
                return Err(format!("process {}: wrong bytes gathered", n.rank()));
            }
        }
    }
    Ok(())
}

/// Verifies all algorithms on the given lists and moves bytes through them.
fn check_all(world: &[Neighborhood], directions: Option<&[u32]>, seed: u64) -> Result<(), String> {
    check_all_on(None, world, directions, seed)
}

fn check_all_on(grid: Option<&Grid>, world: &[Neighborhood], directions: Option<&[u32]>, seed: u64) -> Result<(), String> {
    let inputs = inputs(world);
    for entry in &ALGORITHMS {
        // the seed also determines if messages are cut, and how finely
        let startup = [0.0, 0.5, 10.0, 4096.0][to_usize(seed) % 4];
        let tuning = Tuning {
            seed,
            startup,
            split: seed & 0b100 == 0,
            half_duplex: seed & 0b1_1000 == 0,
            budget: 1 << 18,
            ..Tuning::default()
        };
        let Ok(schedules) = world_schedules_on(entry.algorithm, world, grid, directions, &tuning) else {
            continue;
        };
        let name = |e: String| format!("{}: {e}", entry.name);
        let single_port = entry.single_port;
        check(entry, world, &schedules, seed).map_err(name)?;
        for order in [FoldOrder::Source, FoldOrder::Any].into_iter().filter(|_| !entry.forwards()) {
            let folded: Vec<_> = schedules.iter().map(|s| s.folded(order)).collect();
            verify(world, &folded, Goal::Fold(order), single_port).map_err(name)?;
            // concatenation is associative and does not commute
            let joined = world::run(&folded, &inputs, |a, b| [a, b].concat(), seed).map_err(name)?;
            for (p, blocks) in joined.iter().enumerate() {
                let parts: Vec<Vec<u8>> = oracle(world, p).into_iter().map(|e| e.1).collect();
                let have = blocks.get(&Block::Output(0));
                let right = match (order, have) {
                    (_, None) => parts.is_empty(),
                    (FoldOrder::Source, Some(have)) => *have == parts.concat(),
                    (FoldOrder::Any, Some(have)) => have.len() == parts.concat().len(),
                };
                if !right {
                    return Err(name(format!("process {p}: wrong reduction")));
                }
            }
        }
    }
    Ok(())
}

/// Builds lists from edges (source, target, position among the source's targets, position among the
/// target's sources).
fn world_of(n: u32, edges: &[(u32, u32, u16, u16)], nulls: &[(u32, u16)]) -> Vec<Neighborhood> {
    let mut sources = vec![Vec::new(); n as usize];
    let mut targets = vec![Vec::new(); n as usize];
    let put = |list: &mut Vec<Neighbor>, at: u16, rank: Option<u32>, weight: u32| {
        let at = at as usize % (list.len() + 1);
        list.insert(at, Neighbor { rank, weight, direction: 0 });
    };
    for &(s, t, i, j) in edges {
        put(&mut targets[(s % n) as usize], i, Some(t % n), u32::from(i));
        put(&mut sources[(t % n) as usize], j, Some(s % n), u32::from(i));
    }
    for &(p, at) in nulls {
        put(&mut targets[(p % n) as usize], at, None, 0);
        put(&mut sources[(p % n) as usize], at, None, 0);
    }
    (sources.into_iter().zip(targets).enumerate()).map(|(r, (s, t))| Neighborhood::new(to_u32(r), s, t, true)).collect()
}

proptest! {
    #![proptest_config(cases(200))]

    /// Sparse and dense multigraphs up to 64 processes: repeated edges, self edges,
    /// `MPI_PROC_NULL`, processes without edges.
    #[test]
    fn random_graphs(
        n in 1u32..=64,
        edges in prop::collection::vec((0u32..64, 0u32..64, any::<u16>(), any::<u16>()), 0..200),
        nulls in prop::collection::vec((0u32..64, any::<u16>()), 0..8),
        seed in any::<u64>(),
    ) {
        check_all(&world_of(n, &edges, &nulls), None, seed).map_err(TestCaseError::fail)?;
    }

    /// One process sends to any others in any order, and any send to themselves, with list entries
    /// without a process and blocks of all lengths.
    #[test]
    fn stars(
        n in 1u32..=80,
        hub in 0u32..80,
        targets in any::<u128>(),
        order in prop::collection::vec(any::<u16>(), 80),
        own in prop::collection::vec((0u32..80, any::<u16>(), any::<u16>()), 0..8),
        nulls in prop::collection::vec((0u32..80, any::<u16>()), 0..8),
        seed in any::<u64>(),
    ) {
        let hub = hub % n;
        let targets = (0..n).filter(|&t| targets.rotate_left(t) & 1 == 1);
        let edges = targets.map(|t| (hub, t, order[t as usize], 0));
        let edges: Vec<_> = edges.chain(own.into_iter().map(|(p, i, j)| (p, p, i, j))).collect();
        let world = world_of(n, &edges, &nulls);
        let fits = |e: &&Entry| world_schedules(e.algorithm, &world, None, &Tuning::default()).is_ok();
        prop_assert_eq!(ALGORITHMS.iter().filter(|e| matches!(e.build, Build::Scatter(_))).filter(fits).count(), 2);
        check_all(&world, None, seed).map_err(TestCaseError::fail)?;
    }

    /// Any graph on any nodes, by `node_aware`: nodes of different sizes, ranks in any order, pairs
    /// of nodes with and without cuts.
    #[test]
    fn graphs_on_nodes(
        names in prop::collection::vec(0u32..20, 1..=48),
        few in 1u32..=20,
        edges in prop::collection::vec((0u32..48, 0u32..48, any::<u16>(), any::<u16>()), 0..300),
        nulls in prop::collection::vec((0u32..48, any::<u16>()), 0..8),
        startup in prop::sample::select(vec![0.0, 10.0, 4096.0, 1e6, f64::INFINITY]),
        seed in any::<u64>(),
    ) {
        let names: Vec<u32> = names.iter().map(|name| name % few).collect();
        let world = world_of(to_u32(names.len()), &edges, &nulls);
        let schedules = schedules_on_nodes(&world, &Locality::from_names(&names), &Tuning { startup, ..Tuning::default() });
        check(Algorithm::NodeAware.entry(), &world, &schedules, seed).map_err(TestCaseError::fail)?;
        prop_assert!(schedules.iter().all(|s| s.rounds() <= 3));
    }

    /// Up to 256 processes, some of them with many edges.
    #[test]
    fn large_graphs(
        n in 100u32..=256,
        edges in prop::collection::vec((0u32..256, 0u32..256, any::<u16>(), any::<u16>()), 200..1500),
        skew in 1u32..=20,
        seed in any::<u64>(),
    ) {
        // one case in ten, because they take long
        if seed % 10 == 0 {
            let edges: Vec<_> = edges.iter().map(|e| (e.0 / skew, e.1, e.2, e.3)).collect();
            check_all(&world_of(n, &edges, &[]), None, seed / 10).map_err(TestCaseError::fail)?;
        }
    }

    /// Few processes and many edges: nearly every edge is repeated or a self edge.
    #[test]
    fn crowded_graphs(
        n in 1u32..=4,
        edges in prop::collection::vec((0u32..4, 0u32..4, any::<u16>(), any::<u16>()), 0..60),
        seed in any::<u64>(),
    ) {
        check_all(&world_of(n, &edges, &[]), None, seed).map_err(TestCaseError::fail)?;
    }

    /// Grids up to 4-D with open and periodic dimensions of sizes 1, 2 and more, rounds in any
    /// order.
    #[test]
    fn grids(
        dims in prop::collection::vec((1u32..=4, any::<bool>()), 0..=4),
        shuffle in any::<u64>(),
    ) {
        let grid = Grid::new(dims.iter().map(|d| d.0).collect(), dims.iter().map(|d| d.1).collect());
        let world: Vec<_> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
        let mut directions: Vec<u32> = (0..2 * to_u32(dims.len())).collect();
        if !directions.is_empty() {
            let by = to_usize(shuffle) % directions.len();
            directions.rotate_left(by);
        }
        check_all_on(Some(&grid), &world, Some(&directions), shuffle).map_err(TestCaseError::fail)?;
        // definition of the Cartesian case: data sent in direction +d is received from -d, however
        // small the dimension
        for n in &world {
            for (entry, target) in n.targets().iter().enumerate() {
                if let Some(to) = target.rank {
                    let arrives = world[to as usize].sources()[entry ^ 1];
                    prop_assert_eq!(arrives.rank, Some(n.rank()));
                    prop_assert_eq!(arrives.direction, target.direction);
                }
            }
        }
    }

    /// Lists that a caller passes for a grid, in any order and incomplete, get directions that
    /// serve every algorithm.
    #[test]
    fn lists_on_grids(
        dims in prop::collection::vec((1u32..=4, any::<bool>()), 1..=3),
        keep in any::<u64>(),
    ) {
        let grid = Grid::new(dims.iter().map(|d| d.0).collect(), dims.iter().map(|d| d.1).collect());
        let n = grid.size();
        let mut edges = Vec::new();
        for r in 0..n {
            for direction in 0..2 * to_u32(dims.len()) {
                let bit = (keep.rotate_left(r * 5 + direction)) & 1;
                if let Some(to) = grid.neighbor(r, direction).filter(|_| bit == 1) {
                    edges.push((r, to, ((keep >> (direction + 1)) & 0xffff) as u16, ((keep >> (r % 48)) & 0xffff) as u16));
                }
            }
        }
        let plain = world_of(n, &edges, &[]);
        let world: Vec<_> = plain.iter().map(|x| grid.with_directions(x)).collect();
        prop_assert!(world.iter().all(Option::is_some));
        let world: Vec<_> = world.into_iter().flatten().collect();
        let directions: Vec<u32> = (0..2 * to_u32(dims.len())).collect();
        check_all_on(Some(&grid), &world, Some(&directions), keep).map_err(TestCaseError::fail)?;
        // edges match as they would without directions
        for (a, b) in plain.iter().zip(&world) {
            prop_assert_eq!(a.self_edges(), b.self_edges());
        }
    }
}

/// Every process of a grid has an edge at each of some offsets, as far as the grid extends, in an
/// order of its own.
fn stencil_world(grid: &Grid, offsets: &[Vec<i32>], order: u64) -> Vec<Neighborhood> {
    let mut edges = Vec::new();
    for (p, (i, offset)) in (0..grid.size()).flat_map(|p| (0..).zip(offsets).map(move |o| (p, o))) {
        if let Some(to) = grid.moved(&grid.coords(p), offset, 1) {
            let at = |by: u32| (order.rotate_left(by) & 0xffff) as u16;
            edges.push((p, grid.rank(&to), at(3 * p + i), at(5 * p + 7 * i)));
        }
    }
    world_of(grid.size(), &edges, &[])
}

proptest! {
    #![proptest_config(cases(300))]

    /// Any offsets, with repetitions and 0, on grids of up to 4 dimensions of all kinds: messages
    /// are combined, one for each step along each dimension, and for a closed stencil only targets
    /// of a block's source forward the block.
    #[test]
    fn stencils(
        dims in prop::collection::vec((1u32..=5, any::<bool>()), 1..=4),
        offsets in prop::collection::vec(prop::array::uniform4(-2i32..=2), 0..14),
        full in 0u32..4,
        seed in any::<u64>(),
    ) {
        let grid = Grid::new(dims.iter().map(|d| d.0).collect(), dims.iter().map(|d| d.1).collect());
        let d = dims.len();
        let mut offsets: Vec<Vec<i32>> = offsets.iter().map(|o| o[..d].to_vec()).collect();
        if full == 0 && d <= 3 {
            offsets = (0..3i32.pow(to_u32(d))).map(|i| (0..to_u32(d)).map(|e| i / 3i32.pow(e) % 3 - 1).collect()).collect();
        }
        let world = stencil_world(&grid, &offsets, seed);
        let stencil = Stencil::find(&grid, &world);
        prop_assert!(stencil.is_some());
        let stencil = stencil.unwrap();
        check_all_on(Some(&grid), &world, None, seed).map_err(TestCaseError::fail)?;
        if full == 0 && d <= 3 {
            prop_assert!(stencil.closed());
        }
        let schedules = world_schedules_on(Algorithm::Combining, &world, Some(&grid), None, &Tuning::default()).unwrap();
        for (n, schedule) in world.iter().zip(&schedules) {
            let mut steps: Vec<(usize, i32)> = (world.iter())
                .flat_map(|from| from.targets().iter().filter_map(|t| t.rank).map(|to| grid.offset(from.rank(), to)))
                .flat_map(|offset| offset.into_iter().enumerate().filter(|s| s.1 != 0).collect::<Vec<_>>())
                .collect();
            steps.sort_unstable();
            steps.dedup();
            prop_assert!(schedule.messages() <= steps.len());
            prop_assert!(schedule.messages() == steps.len() || dims.iter().any(|d| !d.1), "process {}", n.rank());
            let ways: std::collections::BTreeSet<usize> = steps.iter().map(|s| s.0).collect();
            prop_assert!(schedule.rounds() <= ways.len().max(1));
        }
        if stencil.closed() {
            let inputs: Vec<Vec<Vec<u8>>> =
                (world.iter()).map(|n| (0..to_u32(n.targets().len())).map(|i| block(n.rank(), i)).collect()).collect();
            let moved = world::run(&schedules, &inputs, |_, _| unreachable!(), seed).unwrap();
            for (n, blocks) in world.iter().zip(&moved) {
                for bytes in blocks.iter().filter(|b| matches!(b.0, Block::Scratch(_))).map(|b| b.1) {
                    let source = u32::from_le_bytes(bytes[..4].try_into().unwrap());
                    prop_assert!(n.sources().iter().any(|s| s.rank == Some(source)), "{} through {}", source, n.rank());
                }
            }
        }
    }
}

/// Degree larger than the communicator: a periodic grid of one process.
#[test]
fn one_process_that_is_all_its_neighbors() {
    let grid = Grid::new(vec![1, 1, 1], vec![true; 3]);
    let world = [grid.neighborhood(0)];
    assert_eq!(world[0].self_edges().len(), 6);
    check_all(&world, Some(&[4, 5, 0, 1, 2, 3]), 3).unwrap();
    // no direction has an edge to another process: no rounds, but the copies run
    check_all(&world, Some(&[]), 3).unwrap();
}
