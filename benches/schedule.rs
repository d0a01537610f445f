//! Time to build schedules from neighborhoods, by the table of algorithms, and to simulate them;
//! pure code.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mpix_neighbor::model::generate::irregpc_uniform;
use mpix_neighbor::model::{Loggp, Options, simulate};
use mpix_neighbor::schedule::distributed_coloring::run_all;
use mpix_neighbor::schedule::random_rounds::{Lambda, Variant, build_variant};
use mpix_neighbor::schedule::verify::{Goal, verify};
use mpix_neighbor::schedule::{ALGORITHMS, Algorithm, Block, Build, FoldOrder, Op, Schedule, Tuning, world_schedules};
use mpix_neighbor::topology::cartesian::Grid;
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::neighborhood::Neighborhood;

fn build(c: &mut Criterion) {
    // 4,096 processes of a 3-D torus: all algorithms fit but those for stars
    let grid = Grid::new(vec![16, 16, 16], vec![true; 3]);
    let directions: Vec<u32> = (0..6).collect();
    let world: Vec<Neighborhood> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
    let edges: usize = world.iter().map(|n| n.targets().len()).sum();
    let schedules = |algorithm| world_schedules(algorithm, &world, Some(&directions), &Tuning::default()).unwrap();
    let mut group = c.benchmark_group("build, 3-D torus of 4,096 processes");
    group.throughput(Throughput::Elements(edges as u64));
    for entry in ALGORITHMS.iter().filter(|e| !e.forwards()) {
        group.bench_function(BenchmarkId::from_parameter(entry.name), |b| {
            b.iter(|| schedules(entry.algorithm).iter().map(Schedule::messages).sum::<usize>());
        });
    }
    group.finish();

    let schedules = schedules(ALGORITHMS[0].algorithm);
    let mut group = c.benchmark_group("3-D torus of 4,096 processes");
    group.throughput(Throughput::Elements(edges as u64));
    group.bench_function("fold", |b| {
        b.iter(|| schedules.iter().map(|s| s.folded(FoldOrder::Source).rounds()).sum::<usize>());
    });
    group.sample_size(10).bench_function("verify", |b| b.iter(|| verify(&world, &schedules, Goal::Deliver, false).unwrap()));
    group.finish();

    // a random multigraph: what a process of an unstructured mesh has
    let random: Vec<(u32, u32, u32)> = (0..65_536u32)
        .map(|e| {
            let hash = u64::from(e).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (e % 4096, (hash >> 40) as u32 % 4096, 1 + (hash >> 20) as u32 % 1000)
        })
        .collect();
    let world = Graph::from_edges(4096, &random).neighborhoods();
    let mut group = c.benchmark_group("negotiate, 4,096 processes of degree 16");
    group.throughput(Throughput::Elements(random.len() as u64)).sample_size(10);
    group.bench_function("distributed_coloring", |b| b.iter(|| run_all(&world, &Tuning::default()).1.steps));
    group.finish();
}

fn plans(c: &mut Criterion) {
    let graph = irregpc_uniform(65_536, 16, 1);
    let tuning = Tuning { startup: 4.0, ..Tuning::default() };
    let mut group = c.benchmark_group("plan, random 16-regular graph of 65,536 processes");
    group.throughput(Throughput::Elements(graph.edges() as u64)).sample_size(10);
    for entry in &ALGORITHMS {
        if let Build::Global(build) = entry.build {
            group.bench_function(BenchmarkId::from_parameter(entry.name), |b| b.iter(|| build(&graph, &tuning).count));
        }
    }
    for (name, variant) in [
        ("RS_N", Variant::RsN),
        ("RS_N+sort", Variant::RsNSort),
        ("RS_NH lambda 1", Variant::RsNh(Lambda::One)),
        ("RS_NH lambda 0.75", Variant::RsNh(Lambda::Fixed(0.75))),
        ("RS_NH", Variant::RsNh(Lambda::Incremental)),
    ] {
        group.bench_function(BenchmarkId::new("random_rounds", name), |b| {
            b.iter(|| build_variant(&graph, variant, &tuning).1.rounds);
        });
    }
    group.finish();
}

/// Process `p` and those `step(k)` behind it, for 8 values of `k`: a graph without order in space,
/// all degrees 8.
fn simulation(c: &mut Criterion) {
    const PROCESSES: u32 = 100_000;
    let step = |k: u32| (k * 12_345 + k * k * 77 + 1) % PROCESSES;
    let at = |p: u32, k: u32| (p + step(k)) % PROCESSES;
    let back = |p: u32, k: u32| (p + PROCESSES - step(k)) % PROCESSES;
    let world: Vec<Neighborhood> = (0..PROCESSES)
        .map(|p| {
            // each process begins elsewhere in its list, so that targets are in each other's way
            let turned = |k| (k + p) % 8;
            let sources: Vec<u32> = (0..8).map(|k| back(p, turned(k))).collect();
            let targets: Vec<u32> = (0..8).map(|k| at(p, turned(k))).collect();
            Neighborhood::from_ranks(p, &sources, &targets)
        })
        .collect();
    let direct = world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
    let rounds: Vec<Schedule> = (0..PROCESSES)
        .map(|p| {
            let mut schedule = Schedule::new(Algorithm::Direct);
            for k in 0..8 {
                schedule.push_round([Op::recv(back(p, k), Block::Output(k)), Op::send(at(p, k), Block::Input(k))]);
            }
            schedule
        })
        .collect();
    let mut group = c.benchmark_group("simulate, 100,000 processes of degree 8");
    group.sample_size(10).throughput(Throughput::Elements(8 * u64::from(PROCESSES)));
    let params = Loggp::default();
    for (name, schedules, bytes) in [
        ("direct, eager", &direct, 1_000),
        ("direct, rendezvous", &direct, 1_000_000),
        ("rounds, rendezvous", &rounds, 1_000_000),
    ] {
        // messages differ in length by up to a half
        let bytes = |p: u32, block: Block| bytes + bytes / 100 * (u64::from(p * 31 + block.index() as u32 * 7) % 50);
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| simulate(schedules, &bytes, &params, &Options::default()).unwrap().total);
        });
    }
    group.finish();
}

criterion_group!(benches, build, plans, simulation);
criterion_main!(benches);
