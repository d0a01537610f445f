//! Time to build schedules from neighborhoods, by the table of algorithms; pure code.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mpix_neighbor::cartesian::Grid;
use mpix_neighbor::generate::irregpc_uniform;
use mpix_neighbor::neighborhood::Neighborhood;
use mpix_neighbor::schedule::random_rounds::{Lambda, Variant, plan_variant};
use mpix_neighbor::schedule::verify::{Goal, verify};
use mpix_neighbor::schedule::{ALGORITHMS, FoldOrder, Schedule, Tuning, world_schedules};

fn build(c: &mut Criterion) {
    // 4,096 processes of a 3-D torus: all algorithms fit
    let grid = Grid::new(vec![16, 16, 16], vec![true; 3]);
    let directions: Vec<u32> = (0..6).collect();
    let world: Vec<Neighborhood> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
    let edges: usize = world.iter().map(|n| n.targets().len()).sum();
    let schedules = |algorithm| world_schedules(algorithm, &world, Some(&directions), &Tuning::default()).unwrap();
    let mut group = c.benchmark_group("build, 3-D torus of 4,096 processes");
    group.throughput(Throughput::Elements(edges as u64));
    for entry in &ALGORITHMS {
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
}

fn random_rounds(c: &mut Criterion) {
    let graph = irregpc_uniform(65_536, 16, 1);
    let tuning = Tuning { startup: 4.0, ..Tuning::default() };
    let mut group = c.benchmark_group("plan, random 16-regular graph of 65,536 processes");
    group.throughput(Throughput::Elements(graph.edges() as u64)).sample_size(10);
    for (name, variant) in [
        ("RS_N", Variant::RsN),
        ("RS_N+sort", Variant::RsNSort),
        ("RS_NH lambda 1", Variant::RsNh(Lambda::One)),
        ("RS_NH lambda 0.75", Variant::RsNh(Lambda::Fixed(0.75))),
        ("RS_NH", Variant::RsNh(Lambda::Incremental)),
    ] {
        group.bench_function(BenchmarkId::new("random_rounds", name), |b| {
            b.iter(|| plan_variant(&graph, variant, &tuning).1.rounds);
        });
    }
    group.finish();
}

criterion_group!(benches, build, random_rounds);
criterion_main!(benches);
