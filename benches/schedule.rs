//! Time to build schedules from neighborhoods, by the table of algorithms; pure code.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mpix_neighbor::cartesian::Grid;
use mpix_neighbor::graph::Graph;
use mpix_neighbor::neighborhood::Neighborhood;
use mpix_neighbor::schedule::distributed_coloring::run_all;
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

criterion_group!(benches, build);
criterion_main!(benches);
