//! Tests of the simulator: against the LogGP paper, by hand, and bounds that hold for every run.

use std::collections::HashMap;

use super::*;
use crate::model::Sharing;
use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder, Op, Part, Tuning, world_schedules};
use crate::util::cases::cases;
use crate::util::cast::{to_u32, to_usize};
use proptest::prelude::*;

fn loggp(latency: f64, overhead: f64, gap: f64, gap_per_byte: f64) -> Loggp {
    Loggp { latency, overhead, gap, gap_per_byte, eager: u64::MAX, sharing: Sharing::UNKNOWN }
}

/// Schedules made from lists of messages, and the lengths of their blocks.
struct Made {
    schedules: Vec<Schedule>,
    lengths: HashMap<(Rank, Block), u64>,
}

/// Makes schedules in which `rounds[r]` are the messages (source, target, bytes) of round `r`. Each
/// carries a block of its own: an input block of process 0, a scratch block of the others.
fn made(processes: u32, rounds: &[Vec<(Rank, Rank, u64)>]) -> Made {
    let mut lengths = HashMap::new();
    let mut schedules = vec![Schedule::new(Algorithm::Direct); processes as usize];
    let mut number = 0;
    for (r, round) in rounds.iter().enumerate() {
        let mut ops = vec![Vec::new(); processes as usize];
        for &(from, to, bytes) in round {
            // no sent block was received before: a relay unpacks
            number += 1;
            let block = if from == 0 { Block::Input(number) } else { Block::Scratch(number) };
            lengths.insert((from, block), bytes);
            ops[from as usize].push(Op::send(to, block));
            ops[to as usize].push(Op::recv(from, Block::Output(number)));
        }
        for (schedule, ops) in schedules.iter_mut().zip(ops) {
            if !ops.is_empty() {
                schedule.push_round_at(to_u32(r), ops);
            }
        }
    }
    Made { schedules, lengths }
}

impl Made {
    fn run(&self, params: &Loggp, options: Options) -> Run {
        let run = simulate(&self.schedules, &|p, block| self.lengths[&(p, block)], params, &Options { trace: true, ..options });
        let run = run.unwrap();
        check(&run, params);
        run
    }

    fn total(&self, params: &Loggp) -> f64 {
        self.run(params, Options::default()).total
    }
}

/// Checks properties that hold for every run.
fn check(run: &Run, params: &Loggp) {
    assert_eq!(run.finish.iter().copied().fold(0.0, f64::max), run.total);
    for t in run.trace.iter().flatten() {
        let least = params.point_to_point(t.bytes);
        assert!(t.receive.end - t.send.start > least * (1.0 - 1e-12) - 1e-9, "{t:?} in less than {least}");
        assert!(t.receive.start >= t.send.start && t.receive.end <= run.total, "{t:?}");
    }
}

/// Section 2.1 of the LogGP paper.
#[test]
fn one_message() {
    let p = loggp(5.0, 2.0, 9.0, 0.5);
    for (bytes, time) in [(1, 9.0), (0, 9.0), (101, 59.0)] {
        let run = made(2, &[vec![(0, 1, bytes)]]).run(&p, Options::default());
        assert_eq!(run.total, time);
        assert_eq!(run.total, p.point_to_point(bytes));
        let passes = p.transfer(bytes);
        assert_eq!(run.finish, [2.0 + passes, time]);
        let t = &run.trace.unwrap()[0];
        assert_eq!((t.source, t.target, t.round, t.bytes), (0, 1, 0, bytes));
        assert_eq!((t.send.clone(), t.receive.clone()), (0.0..2.0 + passes, 7.0..time));
    }
}

/// Section 2.1 too: k1 bytes, then k2 bytes, to one target or to two.
#[test]
fn two_messages_in_a_row() {
    for (g, o) in [(9.0, 2.0), (2.0, 9.0), (0.0, 0.0)] {
        let p = loggp(5.0, o, g, 0.5);
        for second in [1, 2] {
            let long = made(3, &[vec![(0, 1, 101), (0, second, 201)]]);
            // the sender's overhead for the second message ends before the first has left
            assert_eq!(long.total(&p), o + 50.0 + g + 100.0 + 5.0 + o);
            let short = made(3, &[vec![(0, 1, 1), (0, second, 1)]]);
            assert_eq!(short.total(&p), o + f64::max(g, o) + 5.0 + o);
        }
    }
}

/// Gap and overhead at the receiver: three short messages arrive at the same time.
#[test]
fn three_messages_to_one_process() {
    for (g, o) in [(9.0, 2.0), (2.0, 9.0)] {
        let p = loggp(5.0, o, g, 0.5);
        let run = made(4, &[vec![(1, 0, 1), (2, 0, 1), (3, 0, 1)]]).run(&p, Options::default());
        assert_eq!(run.total, o + 5.0 + 2.0 * f64::max(g, o) + o);
    }
}

/// A scatter of `k` items of one byte from process 0 by splitting: of the items of `P` processes,
/// those of `split(P)` are sent to one of them. A process sends all its messages one after another
/// as soon as it has received its items.
fn scatter(processes: u32, k: u64, split: &dyn Fn(u32) -> u32) -> Made {
    let mut rounds: Vec<Vec<(Rank, Rank, u64)>> = Vec::new();
    let mut todo = vec![(0, processes, 0)];
    while let Some((root, mut owned, depth)) = todo.pop() {
        rounds.resize(rounds.len().max(depth + 1), Vec::new());
        while owned > 1 {
            let gives = split(owned);
            owned -= gives;
            rounds[depth].push((root, root + owned, u64::from(gives) * k));
            todo.push((root + owned, gives, depth + 1));
        }
    }
    made(processes, &rounds)
}

/// The paper's t^k(P) of algorithm A_t^k and the smallest split that attains it, for all P up to
/// `most`, with L' = L + 2 o.
fn optimal(most: u32, k: f64, latency: f64, gap: f64) -> (Vec<f64>, Vec<u32>) {
    let (mut time, mut splits) = (vec![0.0, 0.0], vec![0, 0]);
    for p in 2..=most as usize {
        let cost = |s: usize| s as f64 * k - 1.0 + f64::max(latency + time[s], gap + time[p - s]);
        let best = (1..p).reduce(|a, b| if cost(b) < cost(a) { b } else { a }).unwrap();
        splits.push(to_u32(best));
        time.push(cost(best));
    }
    (time, splits)
}

/// All of Table 3 of the LogGP paper, which evaluates the formulas of Table 2 for P = 1024. The
/// paper's L there is L' = L + 2 o, which is divided here into L and o. At the source, the o of the
/// next message overlaps with the port, as o <= g.
#[test]
fn scatter_formulas() {
    const P: u32 = 1024;
    let printed: [[f64; 6]; 4] = [
        [10_250.0, 102_500.0, 102_320.0, 1_023_200.0, 1_023_020.0, 10_230_200.0],
        [10_250.0, 102_500.0, 19_457.0, 111_707.0, 111_527.0, 203_777.0],
        [1_313.0, 4_013.0, 10_520.0, 13_220.0, 102_590.0, 105_290.0],
        [1_171.0, 2_860.0, 10_358.0, 11_819.0, 102_419.0, 103_688.0],
    ];
    let columns =
        [(1, 10.0, 30.0), (1, 100.0, 300.0), (10, 10.0, 30.0), (10, 100.0, 300.0), (100, 10.0, 30.0), (100, 100.0, 300.0)];
    for (c, (k, gap, latency)) in columns.into_iter().enumerate() {
        // the paper counts from the source's first byte to the end of the last receive with L' for
        // L, which amounts to an additional o at the beginning
        let params = loggp(latency - 10.0, 5.0, gap, 1.0);
        let short: Vec<_> = (1..P).flat_map(|to| std::iter::repeat_n((0, to, 1), to_usize(k))).collect();
        let (best, splits) = optimal(P, k as f64, latency, gap);
        let (items, log) = (f64::from(P - 1) * k as f64, 10.0);
        let formulas = [
            (items - 1.0) * gap + latency,
            f64::from(P - 2) * gap + f64::from(P - 1) * (k as f64 - 1.0) + latency,
            f64::max(latency, gap) * (log - 1.0) + latency + items - log,
            best[P as usize],
        ];
        let simulated = [
            made(P, &[short]).total(&params),
            scatter(P, k, &|_| 1).total(&params),
            scatter(P, k, &|owned| owned / 2).total(&params),
            scatter(P, k, &|owned| splits[owned as usize]).total(&params),
        ];
        let column = [printed[0][c], printed[1][c], printed[2][c], printed[3][c]];
        assert_eq!(formulas, column, "k = {k}, g = {gap}");
        assert_eq!(simulated, column, "k = {k}, g = {gap}");
    }
}

/// Figures 9 and 10 of the LogGP paper: 10 items for each of 6 processes, in sets that stay
/// together; and with that of process 3 divided, 8 items by process 2 and 2 by process 4. Before,
/// process 4 passes the set of process 5 on.
#[test]
fn a_divided_set_of_items() {
    let params = loggp(4.0, 1.0, 4.0, 1.0);
    let together = [vec![(0, 4, 20)], vec![(0, 2, 20), (4, 5, 10)], vec![(0, 1, 10), (2, 3, 10)]];
    let divided = [vec![(0, 4, 22)], vec![(0, 2, 18), (4, 5, 10)], vec![(0, 1, 10), (2, 3, 8), (4, 3, 2)]];
    assert_eq!([together, divided].map(|rounds| made(6, &rounds).total(&params)), [63.0, 61.0]);
}

/// A star of `processes` processes around process 0, with `edges` (times, weight) to each of the
/// others.
fn star(processes: u32, edges: &[(u32, u32)]) -> Vec<Neighborhood> {
    let all: Vec<_> = (1..processes)
        .flat_map(|to| edges.iter().flat_map(move |&(times, weight)| std::iter::repeat_n((0, to, weight), times as usize)))
        .collect();
    crate::topology::graph::Graph::from_edges(processes, &all).neighborhoods()
}

/// The time of an algorithm of the table on a star.
fn on_star(algorithm: Algorithm, world: &[Neighborhood], params: &Loggp) -> f64 {
    let tuning = Tuning { costs: params.costs(1), ..Tuning::default() };
    let schedules = world_schedules(algorithm, world, None, &tuning).unwrap();
    let bytes = |p: Rank, block: Block| u64::from(world[p as usize].targets()[block.index()].weight);
    let run = simulate(&schedules, &bytes, params, &Options { trace: true, ..Options::default() }).unwrap();
    check(&run, params);
    run.total
}

/// The same table with the algorithms available to programs. `direct` on these edges sends one
/// message per item, or one per process.
#[test]
fn scatter_table() {
    const P: u32 = 1024;
    let printed = [
        (1, 10.0, 30.0, [10_250.0, 10_250.0, 1_313.0, 1_171.0]),
        (1, 100.0, 300.0, [102_500.0, 102_500.0, 4_013.0, 2_860.0]),
        (10, 10.0, 30.0, [102_320.0, 19_457.0, 10_520.0, 10_358.0]),
        (10, 100.0, 300.0, [1_023_200.0, 111_707.0, 13_220.0, 11_819.0]),
        (100, 10.0, 30.0, [1_023_020.0, 111_527.0, 102_590.0, 102_419.0]),
        (100, 100.0, 300.0, [10_230_200.0, 203_777.0, 105_290.0, 103_688.0]),
    ];
    for (k, gap, latency, column) in printed {
        let params = loggp(latency - 10.0, 5.0, gap, 1.0);
        let (items, processes) = (star(P, &[(k, 1)]), star(P, &[(1, k)]));
        let on = |algorithm| on_star(algorithm, &processes, &params);
        assert_eq!(on_star(Algorithm::Direct, &items, &params), column[0], "k = {k}, g = {gap}");
        assert_eq!(on(Algorithm::Direct), column[1], "k = {k}, g = {gap}");
        assert_eq!(on(Algorithm::LinearPermutation), column[1], "k = {k}, g = {gap}");
        assert_eq!(on(Algorithm::ScatterBinomial), column[2], "k = {k}, g = {gap}");
        assert_eq!(on(Algorithm::ScatterOptimal), column[3], "k = {k}, g = {gap}");
    }
    // Figure 9
    assert_eq!(on_star(Algorithm::ScatterOptimal, &star(6, &[(1, 10)]), &loggp(4.0, 1.0, 4.0, 1.0)), 63.0);
    // Figures 7 and 8, by hand: L = o = 5, g = 10, G = 1
    let figure = loggp(5.0, 5.0, 10.0, 1.0);
    assert_eq!(on_star(Algorithm::Direct, &star(4, &[(1, 1)]), &figure), 35.0);
    assert_eq!(on_star(Algorithm::ScatterBinomial, &star(4, &[(1, 1)]), &figure), 31.0);
}

/// The tree with the lowest predicted time is also the fastest in the simulator, even if o > g.
#[test]
fn scatter_by_parameters() {
    let presets = crate::model::PRESETS.iter().map(|p| p.values);
    for params in presets.chain([loggp(4.0, 9.0, 1.0, 0.25), loggp(1.0, 0.0, 50.0, 0.25), loggp(0.0, 0.0, 0.0, 1.0)]) {
        for (processes, weight) in [(1, 1), (2, 8), (3, 8), (17, 1000), (100, 1), (100, 100_000), (1000, 64)] {
            let world = star(processes, &[(1, weight)]);
            let time = |algorithm| on_star(algorithm, &world, &params) * (1.0 - 1e-12);
            let best = time(Algorithm::ScatterOptimal);
            let others = [Algorithm::ScatterBinomial, Algorithm::LinearPermutation].map(time);
            assert!(others.iter().all(|&t| best <= t * (1.0 + 1e-11)), "{params:?}, {processes}: {best}, {others:?}");
        }
    }
}

/// Packets with blocks of different lengths: a forwarded block keeps its length.
#[test]
fn packets_have_the_lengths_of_their_blocks() {
    let weights = [7, 1, 20, 0, 3, 300];
    let world =
        crate::topology::graph::Graph::from_edges(7, &(1..7).map(|to| (0, to, weights[to as usize - 1])).collect::<Vec<_>>());
    let world = world.neighborhoods();
    let schedules = world_schedules(Algorithm::ScatterBinomial, &world, None, &Tuning::default()).unwrap();
    let bytes = |p: Rank, block: Block| {
        assert_eq!(p, 0);
        u64::from(weights[block.index()])
    };
    let options = Options { trace: true, ..Options::default() };
    let run = simulate(&schedules, &bytes, &Loggp::default(), &options).unwrap();
    let sent: Vec<_> = run.trace.unwrap().iter().map(|t| (t.source, t.target, t.round, t.bytes)).collect();
    // 0 keeps the blocks of 1 to 3, then of 1; 4 has those of 4 to 6 and keeps those of 4 and 5
    assert_eq!(sent, [(0, 4, 0, 303), (0, 2, 1, 21), (0, 1, 2, 7), (2, 3, 2, 20), (4, 6, 1, 300), (4, 5, 2, 3)]);
    let mut bad = schedules.clone();
    bad[4] = schedules[2].clone();
    bad[4].push_round_at(9, [Op::send(5, Block::Scratch(1))]);
    let e = simulate(&bad, &bytes, &Loggp::default(), &options).unwrap_err();
    assert!(e.contains("meets no"), "{e}");
}

/// Process 2 forwards what it receives from 0 and 1 with a block of its own: after both have
/// arrived, with the total length of all three.
#[test]
fn collected_packets_have_the_lengths_of_their_blocks() {
    let (input, scratch, packet) = (Block::Input, Block::Scratch, Block::Packet);
    let mut schedules = vec![Schedule::new(Algorithm::Direct); 4];
    schedules[0].push_round([Op::send(2, packet(0))]);
    schedules[0].push_packet([input(0), input(1)]);
    schedules[1].push_round([Op::send(2, input(0))]);
    schedules[2].push_round([Op::recv(0, packet(0)), Op::recv(1, scratch(2))]);
    schedules[2].push_packet([scratch(0), scratch(1)]);
    schedules[2].push_packet([scratch(2), input(0), scratch(1)]);
    schedules[2].push_round([Op::send(3, packet(1))]);
    schedules[3].push_round_at(1, [Op::recv(2, packet(0))]);
    schedules[3].push_packet([Block::Output(0), Block::Output(1), Block::Output(2)]);
    let bytes = |p: Rank, block: Block| [[200, 40], [1000, 0], [5, 0], [0, 0]][p as usize][block.index()];
    let p = loggp(5.0, 2.0, 9.0, 0.5);
    let run = simulate(&schedules, &bytes, &p, &Options { trace: true, ..Options::default() }).unwrap();
    let sent: Vec<_> = run.trace.unwrap().iter().map(|t| (t.source, t.target, t.round, t.bytes)).collect();
    assert_eq!(sent, [(0, 2, 0, 240), (1, 2, 0, 1000), (2, 3, 1, 1045)]);
    // the messages queue at the in-port of 2; the last byte arrives at 2 + 119.5 + 9 + 499.5 + 5
    assert_eq!(run.total, 635.0 + 2.0 + 2.0 + 522.0 + 5.0 + 2.0);
    // 240 bytes are packed at 0, 1045 at 2, and unpacked at 3; 2 does not unpack what it forwards
    let run = simulate(&schedules, &bytes, &p, &Options { copy: 0.25, ..Options::default() }).unwrap();
    // the message of 1 now comes first; that of 0 leaves at 62, but passes when the port has rested
    let forwarded = 2.0 + 499.5 + 9.0 + 119.5 + 5.0 + 2.0 + 2.0 + 261.25 + 522.0;
    assert_eq!(run.finish, [62.0 + 119.5, 2.0 + 499.5, forwarded, forwarded + 5.0 + 2.0 + 261.25]);
    // in a gather, a block of 0 occurs once in its packet, and twice in that of 2, where its copies
    // are not adjacent
    let gather = Options { gather: true, trace: true, ..Options::default() };
    let run = simulate(&schedules, &|p, _| [200, 1000, 5, 0][p as usize], &p, &gather).unwrap();
    assert_eq!(run.trace.unwrap().iter().map(|t| t.bytes).collect::<Vec<_>>(), [200, 1000, 1205]);
}

/// Binomial trees of any size, with L' below g as well as above.
///
/// For powers of two, this is the formula behind Lemma 2. For other sizes that formula
/// overestimates: its recurrence treats ceil(P / 2) processes as starting after L', but the ones
/// that stay at the source continue after g, and only floor(P / 2) start after L'. Hence t(P) =
/// floor(P / 2) k - 1 + max(L' + t(floor(P / 2)), g + t(ceil(P / 2))).
#[test]
fn binomial_trees_of_any_size() {
    for (latency, overhead, gap) in [(4.0, 1.0, 4.0), (4.0, 1.0, 6.0), (1.0, 2.0, 20.0), (0.0, 0.0, 3.0)] {
        let params = loggp(latency, overhead, gap, 1.0);
        let all = latency + 2.0 * overhead;
        for k in [1u32, 3, 10] {
            let mut time = vec![0.0, 0.0];
            for p in 2..=40usize {
                let (gives, keeps) = (p / 2, p - p / 2);
                // nothing waits for g after the source's last message
                let rest = if keeps > 1 { gap + time[keeps] } else { 0.0 };
                time.push(gives as f64 * f64::from(k) - 1.0 + f64::max(all + time[gives], rest));
                let total = scatter(to_u32(p), k.into(), &|owned| owned / 2).total(&params);
                assert_eq!(total, time[p], "P = {p}, k = {k}");
                let log = f64::from(p.next_power_of_two().trailing_zeros());
                let lemma = f64::max(all, gap) * (log - 1.0) + all + (p - 1) as f64 * f64::from(k) - log;
                assert!(if p.is_power_of_two() { total == lemma } else { total <= lemma }, "P = {p}, k = {k}: {lemma}");
            }
        }
    }
}

/// Figures 9 and 10 of the LogGP paper: L = 4, o = 1, g = 4, G = 1, P = 6, k = 10.
#[test]
fn worked_example() {
    let params = loggp(4.0, 1.0, 4.0, 1.0);
    let (time, splits) = optimal(6, 10.0, 6.0, 4.0);
    assert_eq!(time[6], 63.0);
    assert_eq!(scatter(6, 10, &|owned| splits[owned as usize]).total(&params), 63.0);
    // this tree, in which the items of process 3 arrive last
    let tree = [vec![(0, 4, 20), (0, 2, 20), (0, 1, 10)], vec![(4, 5, 10), (2, 3, 10)]];
    let run = made(6, &tree).run(&params, Options::default());
    assert_eq!((run.total, run.finish[3]), (63.0, 63.0));
    // 2 of these items travel through the other relay, which has time
    let split = [vec![(0, 4, 22), (0, 2, 18), (0, 1, 10)], vec![(4, 5, 10), (4, 3, 2), (2, 3, 8)]];
    assert_eq!(made(6, &split).total(&params), 61.0);
}

/// On a torus, each round costs one message by the model; `direct` costs the messages of one
/// process in sequence.
#[test]
fn halo_exchange() {
    let params = Loggp { eager: 0, ..loggp(4.0, 1.0, 2.0, 1.0) };
    let grid = crate::topology::cartesian::Grid::new(vec![4, 3, 5], vec![true; 3]);
    let world: Vec<_> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
    let directions: Vec<u32> = (0..6).collect();
    let run = |algorithm| {
        let schedules = world_schedules(algorithm, &world, Some(&directions), &Tuning::default()).unwrap();
        predict(&world, &schedules, 101, &params, &Options::default()).unwrap()
    };
    assert_eq!(run(Algorithm::DimensionOrder), 6.0 * (1.0 + 100.0 + 4.0 + 1.0));
    // no contention: the k-th message of all processes travels in the same direction
    assert_eq!(run(Algorithm::Direct), 1.0 + 6.0 * 100.0 + 5.0 * 2.0 + 4.0 + 1.0);
}

/// Two long messages to process 2 and another one after them, by hand: rendezvous, o = 1, L = 2, g
/// = 1, G = 1, k = 11.
#[test]
fn a_busy_target_holds_up_the_messages_behind() {
    let mut params = loggp(2.0, 1.0, 1.0, 1.0);
    let made = made(4, &[vec![(0, 2, 11), (1, 2, 11), (1, 3, 11)]]);
    let sends = |run: Run| run.trace.unwrap().iter().map(|t| (t.source, t.target, t.send.end, t.receive.end)).collect::<Vec<_>>();
    // the network keeps what the target cannot take: 1 sends from 1 to 11 and from 12 to 22
    let eager = made.run(&params, Options::default());
    assert_eq!(sends(eager), [(0, 2, 11.0, 14.0), (1, 2, 11.0, 25.0), (1, 3, 22.0, 25.0)]);
    // 1 waits for 2 until 12, and its own port is free again at 23
    params.eager = 10;
    let rendezvous = made.run(&params, Options::default());
    assert_eq!(sends(rendezvous), [(0, 2, 11.0, 14.0), (1, 2, 22.0, 25.0), (1, 3, 33.0, 36.0)]);
    // 11 bytes is the eager limit
    params.eager = 11;
    assert_eq!(made.run(&params, Options::default()).total, 25.0);
}

/// A receive posted late, after that of a long message: an eager message has long arrived by then,
/// a rendezvous message waits. o = 1, L = 2, g = 1, G = 1.
#[test]
fn a_late_receive() {
    let mut params = loggp(2.0, 1.0, 1.0, 1.0);
    let made = made(3, &[vec![(2, 1, 21)], vec![(0, 1, 11)]]);
    let finish = |run: Run| (run.finish[0], run.finish[2], run.total);
    // 0 is first at the port, 1..11, and arrives at 13; 2 passes 12..32, arrives at 34, is received
    // at 35, and then 0 is received
    let eager = made.run(&params, Options::default());
    assert_eq!(finish(eager), (11.0, 21.0, 36.0));
    // 2 passes 1..21 and is received at 24; only then 0 passes, 24..34
    params.eager = 0;
    assert_eq!(finish(made.run(&params, Options::default())), (34.0, 21.0, 37.0));
    // both receives are posted from the beginning: 1..11, 12..32
    assert_eq!(finish(made.run(&params, Options { window: 2, ..Options::default() })), (11.0, 32.0, 35.0));
}

/// With a window, the sends of a round start while those of earlier rounds are in flight, even if
/// nothing has been received.
#[test]
fn a_window_lets_sends_go_ahead() {
    let params = loggp(100.0, 1.0, 0.0, 1.0);
    let made = made(2, &[vec![(0, 1, 11), (1, 0, 11)], vec![(0, 1, 11), (1, 0, 11)], vec![(0, 1, 11), (1, 0, 11)]]);
    assert_eq!(made.total(&params), 3.0 * 112.0);
    let total = |window| made.run(&params, Options { window, ..Options::default() }).total;
    assert_eq!(total(3), 1.0 + 3.0 * 10.0 + 101.0);
    // the processor works for the third round while the second leaves
    assert_eq!(total(2), total(3));
    assert_eq!(total(9), total(3));
}

/// A forwarded block has the length in which it arrived, and is not forwarded before it arrived,
/// for any window.
#[test]
fn relays() {
    let schedules = |pieces: u32| {
        let mut s = vec![Schedule::new(Algorithm::Direct); 3];
        for i in 0..pieces {
            let part = Part::new(i, i + 1, pieces);
            s[0].push_round_at(i, [Op::Send { to: 1, block: Block::Input(4), part }]);
            s[1].push_round_at(i, [Op::Recv { from: 0, into: Block::Scratch(0), part }]);
        }
        s[1].push_round_at(8, [Op::Copy { from: Block::Scratch(0), into: Block::Scratch(1) }]);
        s[1].push_round_at(9, [Op::send(2, Block::Scratch(1))]);
        s[2].push_round_at(9, [Op::recv(1, Block::Output(0))]);
        s
    };
    let params = loggp(5.0, 2.0, 0.0, 0.5);
    let bytes = |p: Rank, block: Block| {
        assert_eq!((p, block), (0, Block::Input(4)), "the lengths of the others follow");
        128
    };
    for window in [1, 2, 20] {
        let total = |pieces| {
            let run = simulate(&schedules(pieces), &bytes, &params, &Options { window, ..Options::default() }).unwrap();
            check(&run, &params);
            run.total
        };
        assert_eq!(total(1), 2.0 * (9.0 + 63.5));
        // the sender's o for the second part begins when the first has left, or at once
        let between = if window == 1 { 2.0 } else { 0.0 };
        assert_eq!(total(2), 2.0 + 31.5 + between + 31.5 + 7.0 + 9.0 + 63.5);
        // cuts fall on multiples of 64: the first of three parts is empty, and sent all the same
        assert_eq!(total(3), 2.0 + total(2));
    }
}

/// Section 3 of the LogGP paper: an exchange takes 2 k G in half duplex.
#[test]
fn half_duplex() {
    for eager in [0, u64::MAX] {
        let params = Loggp { eager, ..loggp(2.0, 1.0, 3.0, 1.0) };
        let exchange = made(2, &[vec![(0, 1, 11), (1, 0, 11)]]);
        let half = |made: &Made| made.run(&params, Options { half_duplex: true, ..Options::default() }).total;
        assert_eq!(exchange.total(&params), 14.0);
        assert_eq!(half(&exchange), 1.0 + 10.0 + 3.0 + 10.0 + 3.0);
        // a chain of four processes: the outer two messages at the same time, then the inner one
        let chain = made(4, &[vec![(0, 1, 11), (1, 2, 11), (2, 3, 11)]]);
        assert_eq!(half(&chain), 27.0);
    }
}

#[test]
fn schedules_that_do_not_match_are_named() {
    let run = |change: &dyn Fn(&mut Vec<Schedule>)| {
        let mut made = made(3, &[vec![(0, 1, 5)], vec![(1, 2, 5)]]);
        change(&mut made.schedules);
        simulate(&made.schedules, &|_, _| 100, &Loggp::default(), &Options::default()).map(|r| r.total)
    };
    let empty = || Schedule::new(Algorithm::Direct);
    assert!(run(&|_| {}).is_ok());
    assert_eq!(run(&|s| s[2] = empty()).unwrap_err(), "process 1, round 1: a send to 2 meets no receive");
    assert_eq!(run(&|s| s[0] = empty()).unwrap_err(), "process 1, round 0: a receive from 0 meets no send");
    assert_eq!(
        run(&|s| s[0].push_round_at(7, [Op::send(3, Block::Input(0))])).unwrap_err(),
        "process 0, round 7: a message is sent to 3"
    );
    assert_eq!(
        run(&|s| s[2].push_round_at(7, [Op::send(2, Block::Input(0))])).unwrap_err(),
        "process 2, round 7: a message is sent to 2"
    );
    let other_round = |s: &mut Vec<Schedule>| {
        s[2] = empty();
        s[2].push_round_at(4, [Op::recv(1, Block::Output(0))]);
    };
    assert_eq!(run(&other_round).unwrap_err(), "process 1, round 1: a send to 2 meets no receive");
    let other_part = |s: &mut Vec<Schedule>| {
        s[2] = empty();
        s[2].push_round_at(1, [Op::Recv { from: 1, into: Block::Output(0), part: Part::new(0, 1, 2) }]);
    };
    assert_eq!(run(&other_part).unwrap_err(), "process 2, round 1: 1 sends the part  where [0..1/2] is received");
    let simulate = |params: &Loggp, window| simulate(&[], &|_, _| 0, params, &Options { window, ..Options::default() });
    assert_eq!(simulate(&Loggp::default(), 1).unwrap().total, 0.0);
    assert!(simulate(&Loggp::default(), 0).unwrap_err().contains("window"));
    assert!(simulate(&Loggp { latency: f64::NAN, ..Loggp::default() }, 1).unwrap_err().contains("latency"));
}

#[test]
fn prediction_from_weights() {
    use crate::topology::graph::Graph;
    let world = Graph::from_edges(2, &[(0, 1, 3), (0, 1, 0)]).neighborhoods();
    let schedules = world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
    let p = loggp(5.0, 2.0, 9.0, 0.5);
    assert_eq!(predict(&world, &schedules, 100, &p, &Options::default()), Ok(2.0 + 149.5 + 9.0 + 7.0));
}

prop_compose! {
    fn params()(costs in prop::array::uniform4(0u8..6), eager in prop_oneof![Just(0), Just(u64::MAX), 0u64..2000]) -> Loggp {
        // quarters, so that many events coincide
        let cost = |i: usize| f64::from(costs[i]) / 4.0;
        Loggp { latency: 4.0 * cost(0), overhead: cost(1), gap: cost(2), gap_per_byte: cost(3) / 64.0, eager, sharing: Sharing::UNKNOWN }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    /// For all algorithms on random graphs: every run terminates within its bounds and is
    /// reproducible.
    #[test]
    fn runs_end_and_keep_their_bounds(
        n in 1u32..=24,
        edges in prop::collection::vec((0u32..24, 0u32..24, 0u32..30), 0..120),
        params in params(),
        window in 1u32..5,
        half_duplex in any::<bool>(),
        fold in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let edges: Vec<_> = edges.iter().map(|e| (e.0 % n, e.1 % n, e.2)).collect();
        let world = crate::topology::graph::Graph::from_edges(n, &edges).neighborhoods();
        let bytes = |p: Rank, block: Block| u64::from(world[p as usize].targets()[block.index()].weight) * 100;
        let options = Options { window, half_duplex, trace: true, ..Options::default() };
        for entry in ALGORITHMS.iter().filter(|e| !e.forwards()) {
            let tuning = Tuning { seed, startup: 2.0, half_duplex, ..Tuning::default() };
            let Ok(mut schedules) = world_schedules(entry.algorithm, &world, None, &tuning) else {
                continue;
            };
            if fold {
                schedules = schedules.iter().map(|s| s.folded(FoldOrder::Source)).collect();
            }
            let run = simulate(&schedules, &bytes, &params, &options).unwrap();
            check(&run, &params);
            prop_assert_eq!(&run, &simulate(&schedules, &bytes, &params, &options).unwrap());
            let trace = run.trace.as_ref().unwrap();
            let sent: u64 = trace.iter().map(|t| t.bytes).sum();
            prop_assert_eq!(sent, world.iter().flat_map(Neighborhood::targets).map(|t| u64::from(t.weight) * 100).sum::<u64>());
            // lower bound: ports and processors; upper bound: all messages in sequence
            let slack = |x: f64| x * (1.0 - 1e-12);
            for p in 0..n {
                let load = |of: &dyn Fn(&Transfer) -> bool| {
                    let mine: Vec<_> = trace.iter().filter(|t| of(t)).collect();
                    let ports: f64 = mine.iter().map(|t| params.transfer(t.bytes)).sum();
                    let rests = mine.len().saturating_sub(1) as f64 * params.gap;
                    if mine.is_empty() { 0.0 } else { ports + rests + params.point_to_point(1) }
                };
                let bound = if half_duplex {
                    // L and o of the last message follow, whether it is sent or received
                    load(&|t| t.source == p || t.target == p)
                } else {
                    load(&|t| t.source == p).max(load(&|t| t.target == p))
                };
                prop_assert!(run.total >= slack(bound), "process {}: {} < {}", p, run.total, bound);
                let mine = trace.iter().filter(|t| t.source == p || t.target == p).count();
                prop_assert!(run.finish[p as usize] >= slack(mine as f64 * params.overhead));
            }
            let alone = |t: &Transfer| params.point_to_point(t.bytes) + params.transfer(t.bytes) + 2.0 * params.gap;
            let one_by_one: f64 = trace.iter().map(alone).sum();
            prop_assert!(slack(run.total) <= one_by_one, "{} > {}", run.total, one_by_one);
            // any window at least as long as the longest schedule contains all rounds
            let rounds = to_u32(schedules.iter().map(Schedule::rounds).max().unwrap_or(0).max(1));
            let wide = |window| simulate(&schedules, &bytes, &params, &Options { window, ..options }).unwrap();
            prop_assert_eq!(wide(rounds), wide(u32::MAX));
        }
    }

    /// Messages of many rounds between random processes, also forwarded ones.
    #[test]
    fn random_rounds_end(
        n in 2u32..=10,
        rounds in prop::collection::vec(prop::collection::vec((0u32..10, 1u32..10, 0u64..300), 0..20), 0..8),
        params in params(),
        window in 1u32..5,
        half_duplex in any::<bool>(),
    ) {
        let message = |&(from, by, bytes): &(u32, u32, u64)| (from % n, (from + 1 + by % (n - 1)) % n, bytes);
        let rounds: Vec<Vec<_>> = rounds.iter().map(|r| r.iter().map(message).filter(|m| m.0 != m.1).collect()).collect();
        let run = made(n, &rounds).run(&params, Options { window, half_duplex, trace: true, ..Options::default() });
        prop_assert_eq!(run.trace.unwrap().len(), rounds.iter().flatten().count());
    }
}
