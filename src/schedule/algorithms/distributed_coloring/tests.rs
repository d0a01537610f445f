//! Colors and steps stay few, and only messages synchronize processes.

use std::collections::{HashMap, VecDeque};

use crate::util::cases::cases;
use proptest::prelude::*;

use super::colors::{below, draw, most_colors};
use super::edges::class;
use super::*;
use crate::schedule::grammar::{Op, Schedule};
use crate::schedule::input::{Input, Tuning};
use crate::schedule::rounds::far_edges;
use crate::schedule::verify::{Goal, verify};
use crate::topology::cartesian::Grid;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;
use crate::util::cast::to_u32;

/// Edges to `degree` random permutations of the processes, with `weight` of the permutation's
/// number.
fn regular(n: u32, degree: u32, weight: impl Fn(u32) -> u32) -> Vec<Neighborhood> {
    let mut edges = Vec::new();
    for k in 0..degree {
        let mut to: Vec<Rank> = (0..n).collect();
        to.sort_by_key(|&r| draw([u64::from(n), u64::from(k), u64::from(r)]));
        edges.extend((0..n).map(|r| (r, to[r as usize], weight(k))));
    }
    Graph::from_edges(n, &edges).neighborhoods()
}

fn random(n: u32, edges: &[(u32, u32, u32)]) -> Vec<Neighborhood> {
    let edges: Vec<_> = edges.iter().map(|e| (e.0 % n, e.1 % n, e.2)).collect();
    Graph::from_edges(n, &edges).neighborhoods()
}

fn rounds(schedules: &[Schedule]) -> u32 {
    schedules.iter().filter(|s| s.rounds() > 0).map(|s| s.number(s.rounds() - 1) + 1).max().unwrap_or(0)
}

/// Verifies schedules and checks that every color is below the bound of its edge. Returns the
/// number of rounds and the degree, which bounds it from below.
fn check(world: &[Neighborhood], schedules: &[Schedule], half_duplex: bool) -> (u32, u32) {
    verify(world, schedules, Goal::Deliver, true).unwrap();
    let (out, into) = Graph::from_neighborhoods(world).degrees();
    let ends: Vec<[u32; 2]> = (out.iter().zip(&into)).map(|(&o, &i)| if half_duplex { [o + i; 2] } else { [o, i] }).collect();
    for (p, s) in schedules.iter().enumerate() {
        for r in 0..s.rounds() {
            let messages = s.round(r).iter().filter(|op| !matches!(op, Op::Copy { .. })).count();
            assert!(!half_duplex || messages <= 1, "process {p} sends and receives in round {}", s.number(r));
            for op in s.round(r) {
                if let Op::Send { to, .. } = *op {
                    assert!(s.number(r) < most_colors([ends[p][0], ends[to as usize][1]]));
                }
            }
        }
    }
    (rounds(schedules), ends.into_iter().flatten().max().unwrap_or(0))
}

#[test]
fn colors_and_steps_stay_few_on_regular_graphs() {
    for half_duplex in [false, true] {
        let tuning = Tuning { half_duplex, ..Tuning::default() };
        for (n, degree) in [(32, 4), (32, 16), (256, 8), (256, 32), (1024, 6), (512, 16), (128, 64)] {
            let world = regular(n, degree, |_| 1);
            let (schedules, stats) = run_all(&world, &tuning);
            let (rounds, least) = check(&world, &schedules, half_duplex);
            assert!(rounds * 2 <= least * 3 + 4, "{n} {degree}: {rounds} rounds, degree {least}");
            assert!(degree < 16 || rounds * 5 <= least * 7, "{n} {degree}: {rounds} rounds, degree {least}");
            assert!(stats.steps <= 40, "{n} {degree}: {} steps", stats.steps);
        }
    }
}

#[test]
fn colors_stay_few_on_grids() {
    for (dims, periodic) in [(vec![8, 8, 8], true), (vec![8, 8, 8], false), (vec![2, 2, 2, 2], true), (vec![32, 32], true)] {
        let grid = Grid::new(dims.clone(), vec![periodic; dims.len()]);
        let world: Vec<_> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
        let (schedules, _) = run_all(&world, &Tuning::default());
        let (rounds, least) = check(&world, &schedules, false);
        assert!(rounds * 2 <= least * 3 + 4, "{dims:?}: {rounds} rounds, degree {least}");
    }
}

/// Palettes with more colors than one message reports: edges repeated many times, and a process
/// with very many neighbors.
#[test]
fn palettes_larger_than_a_window() {
    let mut repeated = Vec::new();
    for k in 0..300u32 {
        repeated.extend([(0, 1, 1), (1, 2, 1), (2, 0, 1), (k % 3, (k + 1) % 3, 1)]);
    }
    let star: Vec<_> = (1..600).flat_map(|p| [(0, p, 1), (p, 0, 1), (p, p % 599 + 1, 1)]).collect();
    let all: Vec<_> = (0..140u32).flat_map(|p| (0..140u32).map(move |q| (p, q, 1))).collect();
    for (n, edges) in [(3, repeated), (600, star), (140, all)] {
        for half_duplex in [false, true] {
            let world = random(n, &edges);
            let (schedules, _) = run_all(&world, &Tuning { half_duplex, ..Tuning::default() });
            let (rounds, least) = check(&world, &schedules, half_duplex);
            assert!(rounds * 2 <= least * 3 + 4, "{n} processes: {rounds} rounds, degree {least}");
        }
    }
}

/// A palette of as many colors as edges, of which each message reports a part: the last edges wait
/// until another one has left them a color, and the target reports it.
#[test]
fn a_process_of_large_degree_finds_a_permutation() {
    for n in [400, 700, 1024, 3000] {
        for from_hub in [true, false] {
            let edges: Vec<_> = (1..n).map(|r| if from_hub { (0, r, 1) } else { (r, 0, 1) }).collect();
            let world = Graph::from_edges(n, &edges).neighborhoods();
            let (schedules, stats) = within(60, world.clone(), |world| run_all(world, &Tuning::default()));
            assert_eq!(check(&world, &schedules, false), (n - 1, n - 1));
            // what the hub sends to has no other edges, and lets it choose at once
            assert!(stats.steps < if from_hub { 10 } else { 600 }, "{n} processes, {} steps", stats.steps);
        }
    }
}

/// Returns what `run` makes of a world, if it does so within some seconds.
fn within<T: Send + 'static>(seconds: u64, world: Vec<Neighborhood>, run: impl Fn(&[Neighborhood]) -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(run(&world)));
    receive.recv_timeout(std::time::Duration::from_secs(seconds)).expect("it ends")
}

#[test]
fn heavy_edges_share_rounds() {
    // a quarter of each process's edges is heavy
    let world = regular(512, 16, |k| if k < 4 { 1000 } else { 10 });
    let (schedules, _) = run_all(&world, &Tuning::default());
    check(&world, &schedules, false);
    let mut heavy = std::collections::BTreeSet::new();
    for (s, n) in schedules.iter().zip(&world) {
        for r in 0..s.rounds() {
            let is_heavy = |op: &Op| matches!(*op, Op::Send { block, .. } if n.targets()[block.index()].weight == 1000);
            heavy.extend(s.round(r).iter().any(is_heavy).then_some(s.number(r)));
        }
    }
    assert!(heavy.len() <= 8, "heavy edges in rounds {heavy:?}");
}

#[test]
fn classes_of_weights() {
    let classes: Vec<u32> = [0, 1, 2, 3, 4, 5, 6, 7, 8].into_iter().map(class).collect();
    assert_eq!(classes, [0, 1, 2, 3, 4, 4, 5, 5, 6]);
    assert_eq!(class(u32::MAX), 63);
}

/// Runs each process as far as its messages allow, in a random order given by `seed`: only messages
/// synchronize processes. Both ends must expect the same lengths.
fn run_unordered(world: &[Neighborhood], tuning: &Tuning, seed: u64) -> Vec<Schedule> {
    let processes = to_u32(world.len());
    let input = |neighborhood| Input { neighborhood, processes, directions: None, star: None, stencil: None };
    let mut all: Vec<Negotiation> = world.iter().map(|n| Negotiation::new(&input(n), tuning)).collect();
    let mut wires: HashMap<(Rank, Rank), VecDeque<Vec<u32>>> = HashMap::new();
    let send = |n: &Negotiation, wires: &mut HashMap<(Rank, Rank), VecDeque<Vec<u32>>>| {
        for x in n.sends() {
            let mut message = vec![0xdead_beef; x.words];
            n.write(x.index, &mut message);
            wires.entry((n.rank, x.rank)).or_default().push_back(message);
        }
    };
    all.iter().for_each(|n| send(n, &mut wires));
    let mut turn = 0u64;
    while !all.iter().all(Negotiation::done) {
        turn += 1;
        let me = below(draw([seed, turn, 0]), processes);
        let n = &mut all[me as usize];
        let receives: Vec<Exchange> = n.receives().collect();
        if n.done() || receives.iter().any(|x| wires.get(&(x.rank, me)).is_none_or(VecDeque::is_empty)) {
            continue;
        }
        for x in receives {
            let message = wires.get_mut(&(x.rank, me)).and_then(VecDeque::pop_front).unwrap();
            assert_eq!(message.len(), x.words);
            let list = if n.backward() { &n.targets } else { &n.sources };
            assert!(x.words <= Negotiation::longest(list[x.index].edges as usize));
            n.take(x.index, &message);
        }
        n.advance();
        send(n, &mut wires);
    }
    assert!(wires.values().all(VecDeque::is_empty), "messages that nobody receives");
    all.into_iter().map(Negotiation::finish).collect()
}

proptest! {
    #![proptest_config(cases(150))]

    /// Every edge stays below the sum of its two degrees minus one, and processes need not be in
    /// the same step.
    #[test]
    fn never_more_colors_than_two_degrees(
        n in 1u32..=24,
        edges in prop::collection::vec((0u32..24, 0u32..24, 0u32..2000), 0..300),
        seed in any::<u64>(),
        half_duplex in any::<bool>(),
    ) {
        let world = random(n, &edges);
        let tuning = Tuning { seed, half_duplex, ..Tuning::default() };
        let (schedules, stats) = run_all(&world, &tuning);
        let (rounds, least) = check(&world, &schedules, half_duplex);
        prop_assert!(rounds <= (2 * least).saturating_sub(1));
        prop_assert_eq!(stats.steps == 0, least == 0);
        prop_assert_eq!(run_unordered(&world, &tuning, seed), schedules);
    }
}

/// Edges within nodes get no color: the others are ordered as if there were no others, and all are
/// delivered.
#[test]
fn edges_within_nodes_take_no_rounds() {
    let world = regular(24, 7, |k| 1 << k);
    let graph = Graph::from_neighborhoods(&world);
    for names in [(0..24).map(|p| p % 6).collect::<Vec<_>>(), (0..24).collect(), vec![0; 24]] {
        let nodes = Locality::from_names(&names);
        let begin = |neighborhood: &Neighborhood| {
            let input = Input { neighborhood, processes: 24, directions: None, star: None, stencil: None };
            Negotiation::between_nodes(&input, &Tuning::default(), &|rank| nodes.is_near(neighborhood.rank(), rank))
        };
        let (schedules, _) = negotiate(world.iter().map(begin).collect());
        let rounds_alone = rounds(&run_all(&far_edges(&graph, &nodes).0.neighborhoods(), &Tuning::default()).0);
        assert_eq!(rounds(&schedules), rounds_alone.max(u32::from(nodes.nodes() < 24)));
        verify(&world, &schedules, Goal::Deliver, nodes.nodes() == 24).unwrap();
    }
}
