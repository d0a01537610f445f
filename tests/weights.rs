//! An edge of weight 0 is a message of no bytes: bound, costs, simulation, prediction and all
//! schedules agree on that.

use mpix_neighbor::model::{Loggp, Options, Sharing, bytes_of, predict, simulate};
use mpix_neighbor::schedule::rounds::{lower_bound, ratio};
use mpix_neighbor::schedule::verify::{Goal, verify};
use mpix_neighbor::schedule::{
    ALGORITHMS, Block, Build, Entry, Op, Schedule, Tuning, length, schedules_on_nodes, world_schedules,
};
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::nodes::Locality;
use mpix_neighbor::util::cast::to_u32;
use proptest::prelude::*;

#[path = "../src/util/cases.rs"]
mod cases;

use cases::cases;

/// The schedules of an algorithm, where it fits; on nodes of two processes.
fn schedules(entry: &Entry, graph: &Graph, directions: Option<&[u32]>, tuning: &Tuning) -> Option<Vec<Schedule>> {
    let world = graph.neighborhoods();
    if let Build::Nodes(_) = entry.build {
        let names: Vec<u32> = (0..to_u32(world.len())).map(|p| p / 2).collect();
        return Some(schedules_on_nodes(&world, &Locality::from_names(&names), tuning));
    }
    world_schedules(entry.algorithm, &world, directions, tuning).ok()
}

/// IrregPC's cost by its definition, from the schedules alone: the sum over rounds of a startup and
/// the longest message.
fn cost(graph: &Graph, schedules: &[Schedule], startup: f64) -> f64 {
    let world = graph.neighborhoods();
    let mut longest = std::collections::BTreeMap::<u32, f64>::new();
    for (n, schedule) in world.iter().zip(schedules) {
        for r in 0..schedule.rounds() {
            for op in schedule.round(r) {
                let Op::Send { block: Block::Input(entry), part, .. } = *op else { continue };
                let (begin, end, of) = part.fraction();
                let bytes = f64::from(n.targets()[entry as usize].weight) * f64::from(end - begin) / f64::from(of);
                let longest = longest.entry(schedule.number(r)).or_default();
                *longest = longest.max(bytes);
            }
        }
    }
    longest.values().map(|l| startup + l).sum()
}

/// Lower bound of that cost in half duplex, where a process has one message in or out at a time.
fn half_duplex_bound(graph: &Graph, startup: f64) -> f64 {
    let ((out, into), (sent, received)) = (graph.degrees(), graph.loads());
    let of = |p: usize| startup * f64::from(out[p] + into[p]) + (sent[p] + received[p]) as f64;
    (0..graph.processes()).map(of).fold(0.0, f64::max)
}

/// Returns true if no process sends and receives in the same round.
fn sends_or_receives(schedules: &[Schedule]) -> bool {
    schedules.iter().all(|schedule| {
        (0..schedule.rounds()).all(|r| {
            let has = |kind: fn(&Op) -> bool| schedule.round(r).iter().any(kind);
            !has(|op| matches!(op, Op::Send { .. })) || !has(|op| matches!(op, Op::Recv { .. }))
        })
    })
}

/// Algorithms whose rounds are the same in half duplex.
const BOTH: [&str; 2] = ["linear_permutation", "dimension_order"];

fn tunings(startup: f64) -> impl Iterator<Item = Tuning> {
    [(false, false), (true, false), (false, true), (true, true)]
        .map(|(split, half_duplex)| Tuning { startup, split, half_duplex, budget: 1 << 16, ..Tuning::default() })
        .into_iter()
}

#[test]
fn one_edge_costs_its_bound() {
    for weight in [0, 1, 2, 1000, u32::MAX] {
        for startup in [0.0, 0.022, 1.0, 4096.0, 1e12] {
            let graph = Graph::from_edges(2, &[(0, 1, weight)]);
            let bound = lower_bound(&graph, startup);
            assert_eq!(bound, startup + f64::from(weight));
            let mut algorithms = 0;
            for tuning in tunings(startup) {
                for entry in ALGORITHMS.iter().filter(|e| e.single_port) {
                    if let Build::Global(plan) = entry.build {
                        assert_eq!(ratio(plan(&graph, &tuning).cost(startup), bound), 1.0, "{}: {weight}, {startup}", entry.name);
                    }
                    let Some(schedules) = schedules(entry, &graph, Some(&[0]), &tuning) else { continue };
                    let cost = cost(&graph, &schedules, startup);
                    assert_eq!(ratio(cost, bound), 1.0, "{}: {weight}, {startup}", entry.name);
                    algorithms += 1;
                }
            }
            // a star serves two trees too
            assert!(algorithms >= 4 * 5, "{algorithms}");
        }
    }
}

/// One rule for lengths: no bytes, and o, L and o for the message itself; what a unit is makes no
/// difference.
#[test]
fn a_message_without_bytes_is_a_message() {
    let machine = Loggp { latency: 10.0, overhead: 2.0, gap: 3.0, gap_per_byte: 0.5, eager: 100, sharing: Sharing::UNKNOWN };
    let graph = Graph::from_edges(2, &[(0, 1, 0)]);
    let world = graph.neighborhoods();
    for entry in &ALGORITHMS {
        let Some(schedules) = schedules(entry, &graph, Some(&[0]), &Tuning::default()) else { continue };
        assert_eq!(schedules[0].messages(), 1, "{}", entry.name);
        for unit in [1, 1 << 20, u64::MAX] {
            assert_eq!(predict(&world, &schedules, unit, &machine, &Options::default()), Ok(14.0), "{}", entry.name);
        }
    }
    assert_eq!([length(0, u64::MAX), length(3, 5), length(u32::MAX, u64::MAX)], [0, 15, u64::MAX]);
}

proptest! {
    #![proptest_config(cases(48))]

    /// Graphs in which many edges, or all, weigh nothing, by every algorithm of the table.
    #[test]
    fn graphs_with_weights_of_zero(
        n in 2u32..=12,
        edges in prop::collection::vec((0u32..12, 0u32..12, prop_oneof![2 => Just(0u32), 1 => 0u32..4, 1 => 1u32..5000]), 0..60),
        star in any::<bool>(),
        startup in prop::sample::select(vec![0.0, 0.01, 1.0, 100.0, 1e9]),
    ) {
        let mut edges: Vec<_> = edges.into_iter().map(|(s, t, w)| (if star { 0 } else { s % n }, t % n, w)).collect();
        if star {
            edges.sort_unstable();
            edges.dedup_by_key(|e| e.1);
        }
        let graph = Graph::from_edges(n, &edges);
        let world = graph.neighborhoods();
        let bound = lower_bound(&graph, startup);
        for tuning in tunings(startup) {
            for entry in &ALGORITHMS {
                let Some(schedules) = schedules(entry, &graph, None, &tuning) else { continue };
                let name = |e: String| TestCaseError::fail(format!("{}: {e}", entry.name));
                verify(&world, &schedules, Goal::Deliver, entry.single_port).map_err(name)?;
                let options = Options { trace: true, half_duplex: tuning.half_duplex, ..Options::default() };
                let machine = Loggp { eager: 64, ..Loggp::default() };
                let run = simulate(&schedules, &|p, block| bytes_of(&world, 7, p, block), &machine, &options).map_err(name)?;
                prop_assert_eq!(run.total, predict(&world, &schedules, 7, &machine, &options).map_err(name)?);
                if entry.forwards() {
                    continue;
                }
                let sent: u64 = run.trace.iter().flatten().map(|t| t.bytes).sum();
                prop_assert_eq!(sent, graph.loads().0.iter().sum::<u64>() * 7, "{}", entry.name);
                // a message without bytes is whole, and there for each edge
                let whole = |op: &&Op| matches!(op, Op::Send { part, .. } if part.is_whole());
                let empty = graph.iter().filter(|e| e.2 == 0).count();
                prop_assert!(schedules.iter().flat_map(Schedule::ops).filter(whole).count() >= empty, "{}", entry.name);
                if entry.single_port {
                    let cost = cost(&graph, &schedules, startup);
                    let one = sends_or_receives(&schedules);
                    prop_assert!(!tuning.half_duplex || one || BOTH.contains(&entry.name), "{} sends and receives", entry.name);
                    let bound = if tuning.half_duplex && one { half_duplex_bound(&graph, startup) } else { bound };
                    prop_assert!(cost >= bound * (1.0 - 1e-9), "{}: {} < {}", entry.name, cost, bound);
                    if let Build::Global(plan) = entry.build {
                        let planned = plan(&graph, &tuning).cost(startup);
                        prop_assert!((planned - cost).abs() <= 1e-9 * (1.0 + cost), "{}: {} and {}", entry.name, planned, cost);
                    }
                }
            }
        }
    }
}
