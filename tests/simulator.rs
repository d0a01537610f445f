//! The LogGP simulator against an independent one that has no events, activities or queues, and
//! searches through everything after each step. It was written from the documentation of
//! `model::simulate`, including the order of simultaneous events, and its times must be bitwise
//! equal.

use std::ops::Range;

use mpix_neighbor::model::generate;
use mpix_neighbor::model::{Loggp, Options, Run, Sharing, bytes_of, simulate};
use mpix_neighbor::schedule::{ALGORITHMS, Algorithm, Block, Op, Part, Schedule, Tuning, world_schedules};
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::neighborhood::Neighborhood;
use mpix_neighbor::util::cast::{low_half, to_u32};
use mpix_neighbor::util::random::Random;
use proptest::prelude::*;

#[path = "../src/util/cases.rs"]
mod cases;

use cases::cases;

/// A message, in the order of messages: by sender, and as the sender sends them.
#[derive(Debug, Clone, Default)]
struct Message {
    source: usize,
    target: usize,
    bytes: u64,
    /// Rounds of the sender and the receiver, counted over those that each has.
    rounds: [usize; 2],
    posted: Option<f64>,
    arrived: Option<f64>,
    /// The processor's work at both ends.
    work: [Option<Range<f64>>; 2],
    /// Since when it passes the ports.
    left: Option<f64>,
    passed: Option<f64>,
}

struct Naive<'a> {
    params: &'a Loggp,
    options: &'a Options,
    now: f64,
    messages: Vec<Message>,
    /// Number of rounds of each process.
    rounds: Vec<usize>,
    posted: Vec<usize>,
    begun: Vec<usize>,
    /// From when on processors and ports are free.
    processor: Vec<f64>,
    ports: Vec<[f64; 2]>,
}

impl Naive<'_> {
    fn new<'a>(schedules: &[Schedule], bytes: &dyn Fn(u32, Block) -> u64, params: &'a Loggp, options: &'a Options) -> Naive<'a> {
        let mut messages = Vec::new();
        for (source, schedule) in schedules.iter().enumerate() {
            for r in 0..schedule.rounds() {
                for (i, op) in schedule.round(r).iter().enumerate() {
                    let Op::Send { to, block, part } = *op else { continue };
                    let before = |op: &&Op| matches!(op, Op::Send { to: other, .. } if *other == to);
                    let k = schedule.round(r)[..i].iter().filter(before).count();
                    // the k-th receive from there in the round of the same number
                    let other = &schedules[to as usize];
                    let there = (0..other.rounds()).find(|&o| other.number(o) == schedule.number(r)).unwrap();
                    let from = |op: &&Op| matches!(op, Op::Recv { from, .. } if *from as usize == source);
                    assert!(other.round(there).iter().filter(from).count() > k);
                    let range = part.range(bytes(to_u32(source), block));
                    messages.push(Message {
                        source,
                        target: to as usize,
                        bytes: range.end - range.start,
                        rounds: [r, there],
                        ..Message::default()
                    });
                }
            }
        }
        let n = schedules.len();
        let rounds = schedules.iter().map(Schedule::rounds).collect();
        let (posted, begun) = (vec![0; n], vec![0; n]);
        Naive { params, options, now: 0.0, messages, rounds, posted, begun, processor: vec![0.0; n], ports: vec![[0.0; 2]; n] }
    }

    fn takes(&self, m: usize) -> f64 {
        self.messages[m].bytes.saturating_sub(1) as f64 * self.params.gap_per_byte
    }

    fn in_port(&self, m: usize) -> &f64 {
        &self.ports[self.messages[m].target][usize::from(!self.options.half_duplex)]
    }

    /// When a message is complete at its sender or receiver.
    fn complete(&self, m: usize, end: usize) -> Option<f64> {
        let message = &self.messages[m];
        if end == 0 { message.left.map(|left| left + self.takes(m)) } else { message.work[1].as_ref().map(|w| w.end) }
    }

    /// True if all sends of a process in a round (`ends` is 0..1), or all its sends and receives
    /// (0..2), are complete.
    fn is_complete(&self, p: usize, round: usize, mut ends: Range<usize>) -> bool {
        ends.all(|end| {
            (0..self.messages.len()).all(|m| {
                let message = &self.messages[m];
                let mine = [message.source, message.target][end] == p && message.rounds[end] == round;
                !mine || self.complete(m, end).is_some_and(|time| time <= self.now)
            })
        })
    }

    fn work(&mut self, p: usize, m: usize, end: usize) {
        let begin = self.processor[p].max(self.now);
        self.processor[p] = begin + self.params.overhead;
        self.messages[m].work[end] = Some(begin..self.processor[p]);
    }

    fn eager(&self, m: usize) -> bool {
        self.messages[m].bytes <= self.params.eager
    }

    fn arrive(&mut self) -> bool {
        let due = |m: &usize| {
            let passed = self.messages[*m].passed.map(|at| at + self.takes(*m) + self.params.latency);
            self.messages[*m].arrived.is_none() && passed.is_some_and(|at| at <= self.now)
        };
        let Some(m) = (0..self.messages.len()).find(due) else { return false };
        self.messages[m].arrived = Some(self.now);
        if self.messages[m].posted.is_some() {
            self.work(self.messages[m].target, m, 1);
        }
        true
    }

    fn go_on(&mut self, p: usize) -> bool {
        let current = (0..self.rounds[p]).find(|&r| !self.is_complete(p, r, 0..2)).unwrap_or(self.rounds[p]);
        let window = self.options.window as usize;
        let mut moved = false;
        loop {
            let horizon = if window == 1 { current + 1 } else { self.begun[p] + window };
            moved |= self.post(p, self.rounds[p].min(horizon));
            let round = self.begun[p];
            let sending = (0..round).filter(|&r| !self.is_complete(p, r, 0..1)).count();
            if round == self.rounds[p] || if window == 1 { round > current } else { sending >= window } {
                return moved;
            }
            for m in 0..self.messages.len() {
                if self.messages[m].source == p && self.messages[m].rounds[0] == round {
                    self.work(p, m, 0);
                }
            }
            self.begun[p] += 1;
            moved = true;
        }
    }

    /// Posts the receives of the rounds before `horizon`.
    fn post(&mut self, p: usize, horizon: usize) -> bool {
        let mut moved = false;
        while self.posted[p] < horizon {
            let round = self.posted[p];
            let mine = |m: &Message| m.target == p && m.rounds[1] == round;
            let mut arrived = Vec::new();
            for m in 0..self.messages.len() {
                if mine(&self.messages[m]) {
                    self.messages[m].posted = Some(self.now);
                    arrived.extend(self.messages[m].arrived.map(|at| (at, m)));
                }
            }
            arrived.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            arrived.into_iter().for_each(|(_, m)| self.work(p, m, 1));
            self.posted[p] += 1;
            moved = true;
        }
        moved
    }

    /// Since when a message waits for ports, and whether it is to leave.
    fn waits(&self, m: usize) -> Option<(f64, bool)> {
        let message = &self.messages[m];
        if let Some(left) = message.left {
            return message.passed.is_none().then_some((left, false));
        }
        let mut since = message.work[0].as_ref()?.end;
        if !self.eager(m) {
            since = since.max(message.posted?);
        }
        let before = (0..m).rev().find(|&b| self.messages[b].source == message.source);
        if let Some(before) = before {
            since = since.max(self.messages[before].left? + self.takes(before) + self.params.gap);
        }
        (since <= self.now).then_some((since, true))
    }

    fn take_ports(&mut self) -> bool {
        let mut best: Option<(f64, usize, bool)> = None;
        for m in 0..self.messages.len() {
            let Some((since, leaves)) = self.waits(m) else { continue };
            let (out, into) = (self.ports[self.messages[m].source][0] <= self.now, *self.in_port(m) <= self.now);
            let free = if !leaves { into } else { out && (into || self.eager(m)) };
            if free && best.is_none_or(|b| since < b.0) {
                best = Some((since, m, leaves));
            }
        }
        let Some((_, m, leaves)) = best else { return false };
        let busy = self.now + self.takes(m) + self.params.gap;
        let (source, target) = (self.messages[m].source, self.messages[m].target);
        if leaves {
            self.messages[m].left = Some(self.now);
            self.ports[source][0] = busy;
        }
        if !leaves || !self.eager(m) {
            self.messages[m].passed = Some(self.now);
            self.ports[target][usize::from(!self.options.half_duplex)] = busy;
        }
        true
    }

    fn run(mut self) -> Self {
        loop {
            if self.arrive() || (0..self.rounds.len()).any(|p| self.go_on(p)) || self.take_ports() {
                continue;
            }
            let mut times = Vec::new();
            for (m, message) in self.messages.iter().enumerate() {
                times.extend(message.work.iter().flatten().map(|w| w.end));
                times.extend(message.left.map(|at| at + self.takes(m)));
                times.extend(message.left.map(|at| at + self.takes(m) + self.params.gap));
                times.extend(message.passed.map(|at| at + self.takes(m) + self.params.latency));
            }
            times.extend(self.ports.iter().flatten());
            let later = times.into_iter().filter(|&t| t > self.now).fold(f64::INFINITY, f64::min);
            if later == f64::INFINITY {
                assert!(self.posted == self.rounds && self.begun == self.rounds, "it stands still at {}", self.now);
                return self;
            }
            self.now = later;
        }
    }

    /// When each process has finished, and for each message when its last byte has left and it has
    /// been received.
    fn times(&self) -> (Vec<f64>, Vec<[f64; 2]>) {
        let mut finish = vec![0.0f64; self.rounds.len()];
        let mut messages = Vec::new();
        for (m, message) in self.messages.iter().enumerate() {
            let ends = [0, 1].map(|end| self.complete(m, end).unwrap());
            finish[message.source] = finish[message.source].max(ends[0]);
            finish[message.target] = finish[message.target].max(ends[1]);
            messages.push(ends);
        }
        (finish, messages)
    }
}

fn times(run: &Run) -> (Vec<f64>, Vec<[f64; 2]>) {
    let messages = run.trace.iter().flatten().map(|t| [t.send.end, t.receive.end]).collect();
    (run.finish.clone(), messages)
}

/// Runs both; what they say.
fn both(
    schedules: &[Schedule],
    bytes: &dyn Fn(u32, Block) -> u64,
    params: &Loggp,
    options: &Options,
) -> (Run, (Vec<f64>, Vec<[f64; 2]>)) {
    let options = Options { trace: true, ..*options };
    let run = simulate(schedules, bytes, params, &options).unwrap();
    (run, Naive::new(schedules, bytes, params, &options).run().times())
}

/// Random rounds between random processes: (source, target, bytes), each carrying a block of its
/// own.
fn made(processes: u32, rounds: &[Vec<(u32, u32, u64)>]) -> (Vec<Schedule>, Vec<u64>) {
    let mut lengths = Vec::new();
    let mut schedules = vec![Schedule::new(Algorithm::Direct); processes as usize];
    for (r, round) in rounds.iter().enumerate() {
        let mut ops = vec![Vec::new(); processes as usize];
        for &(from, to, bytes) in round {
            let number = to_u32(lengths.len());
            lengths.push(bytes);
            ops[from as usize].push(Op::send(to, Block::Input(number)));
            ops[to as usize].push(Op::recv(from, Block::Output(number)));
        }
        for (schedule, ops) in schedules.iter_mut().zip(ops) {
            if !ops.is_empty() {
                schedule.push_round_at(to_u32(r), ops);
            }
        }
    }
    (schedules, lengths)
}

/// The same schedule with each round's receives in another order, except those of one source.
fn reordered(schedule: &Schedule, random: &mut Random) -> Schedule {
    let mut other = Schedule::new(schedule.algorithm());
    for r in 0..schedule.rounds() {
        let (recvs, rest): (Vec<Op>, Vec<Op>) = schedule.round(r).iter().partition(|op| matches!(op, Op::Recv { .. }));
        let from = |op: &Op| if let Op::Recv { from, .. } = op { *from } else { 0 };
        let mut sources: Vec<u32> = recvs.iter().map(from).collect();
        random.shuffle(&mut sources);
        let mut queues = recvs;
        let next = |source: u32| queues.remove(queues.iter().position(|op| from(op) == source).unwrap());
        let recvs: Vec<Op> = sources.into_iter().map(next).collect();
        other.push_round_at(schedule.number(r), recvs.into_iter().chain(rest));
    }
    other
}

/// Among 64 processes whose costs are whole numbers, with messages of both kinds, much happens at
/// the same time: one that comes to an in-port when it becomes free, several that come to it at
/// once, receives that are posted when their messages are there.
#[test]
fn sixty_four_processes() {
    let params = Loggp { latency: 10.0, overhead: 2.0, gap: 4.0, gap_per_byte: 0.125, eager: 500, sharing: Sharing::UNKNOWN };
    let mut differ = Vec::new();
    for seed in 0..20 {
        for degree in [4, 8] {
            let graph = generate::random_regular(64, degree, seed);
            let world = graph.neighborhoods();
            let schedules = world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
            let bytes = |p: u32, block: Block| {
                let weight = (p * 31 + to_u32(block.index()) * 17 + low_half(seed)) % 12;
                u64::from(weight) * 80 + 1
            };
            let (run, (finish, messages)) = both(&schedules, &bytes, &params, &Options::default());
            let total = finish.iter().copied().fold(0.0, f64::max);
            if times(&run) != (finish, messages) {
                differ.push((seed, degree, run.total, total));
            }
        }
    }
    assert!(differ.is_empty(), "seed, degree, ours, naive: {differ:?}");
}

/// By hand: o = 1, L = 0, g = 0, G = 1. In round 0 process 1 sends 11 bytes to 4 and then 3 to 0,
/// which has received them at 14. Both messages of round 1 are there by then: that of 2 came at 6,
/// that of 3 at 8. The receive from 3 stands first.
#[test]
fn receives_that_are_posted_late_are_taken_as_they_arrived() {
    let params = Loggp { latency: 0.0, overhead: 1.0, gap: 0.0, gap_per_byte: 1.0, eager: 100, sharing: Sharing::UNKNOWN };
    let lengths = [11, 3, 6, 3];
    let mut schedules = vec![Schedule::new(Algorithm::Direct); 5];
    schedules[0].push_round_at(0, [Op::recv(1, Block::Output(0))]);
    schedules[0].push_round_at(1, [Op::recv(3, Block::Output(1)), Op::recv(2, Block::Output(2))]);
    schedules[1].push_round_at(0, [Op::send(4, Block::Input(0)), Op::send(0, Block::Input(1))]);
    schedules[2].push_round_at(1, [Op::send(0, Block::Input(2))]);
    schedules[3].push_round_at(1, [Op::send(0, Block::Input(3))]);
    schedules[4].push_round_at(0, [Op::recv(1, Block::Output(0))]);
    let (run, naive) = both(&schedules, &|_, block| lengths[block.index()], &params, &Options::default());
    let received: Vec<f64> = run.trace.iter().flatten().map(|t| t.receive.end).collect();
    assert_eq!(received, [12.0, 14.0, 15.0, 16.0]);
    assert_eq!(times(&run), naive);
}

fn costs() -> impl Strategy<Value = Loggp> {
    let eager = prop_oneof![Just(0), Just(u64::MAX), 0u64..400];
    (prop::array::uniform4(0u8..4), eager).prop_map(|(costs, eager)| {
        let cost = |i: usize| f64::from(costs[i]);
        Loggp {
            latency: 2.0 * cost(0),
            overhead: cost(1),
            gap: cost(2),
            gap_per_byte: cost(3) / 64.0,
            eager,
            sharing: Sharing::UNKNOWN,
        }
    })
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn random_rounds(
        n in 2u32..=8,
        rounds in prop::collection::vec(prop::collection::vec((0u32..8, 1u32..8, 0u64..5), 0..16), 1..5),
        params in costs(),
        window in 1u32..4,
        half_duplex in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let message = |&(from, by, size): &(u32, u32, u64)| (from % n, (from + 1 + by % (n - 1)) % n, size * 64 + 1);
        let rounds: Vec<Vec<_>> = rounds.iter().map(|r| r.iter().map(message).collect()).collect();
        let (schedules, lengths) = made(n, &rounds);
        let options = Options { window, half_duplex, ..Options::default() };
        let bytes = |_: u32, block: Block| lengths[block.index()];
        let (run, naive) = both(&schedules, &bytes, &params, &options);
        prop_assert_eq!(times(&run), naive);

        // how receives are stored makes no difference
        let mut random = Random::new(seed);
        let others: Vec<Schedule> = schedules.iter().map(|s| reordered(s, &mut random)).collect();
        let trace = Options { trace: true, ..options };
        prop_assert_eq!(&run, &simulate(&others, &bytes, &params, &trace).unwrap());

        // nor do processes between these that do nothing
        let mut spread = vec![Schedule::new(Algorithm::Direct); 2 * n as usize + 1];
        for (p, schedule) in schedules.iter().enumerate() {
            for r in 0..schedule.rounds() {
                let moved = schedule.round(r).iter().map(|op| match *op {
                    Op::Send { to, block, part } => Op::Send { to: 2 * to + 1, block, part },
                    Op::Recv { from, into, part } => Op::Recv { from: 2 * from + 1, into, part },
                    other => other,
                });
                spread[2 * p + 1].push_round_at(schedule.number(r), moved);
            }
        }
        let spread = simulate(&spread, &bytes, &params, &trace).unwrap();
        prop_assert_eq!(run.total, spread.total);
        prop_assert!(run.finish.iter().eq(spread.finish.iter().skip(1).step_by(2)));
    }

    /// The table's algorithms, with messages in parts, some of which have no bytes.
    #[test]
    fn algorithms(
        n in 2u32..=12,
        edges in prop::collection::vec((0u32..12, 0u32..12, 0u32..6), 0..50),
        params in costs(),
        window in 1u32..4,
        half_duplex in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let edges: Vec<_> = edges.iter().map(|e| (e.0 % n, e.1 % n, e.2)).collect();
        let world: Vec<Neighborhood> = Graph::from_edges(n, &edges).neighborhoods();
        for entry in ALGORITHMS.iter().filter(|e| !e.forwards()) {
            let tuning = Tuning { seed, startup: 0.5, half_duplex, budget: 1 << 14, ..Tuning::default() };
            let Ok(schedules) = world_schedules(entry.algorithm, &world, None, &tuning) else { continue };
            let options = Options { window, half_duplex, ..Options::default() };
            let (run, naive) = both(&schedules, &|p, block| bytes_of(&world, 64, p, block), &params, &options);
            prop_assert_eq!(times(&run), naive, "{}", entry.name);
        }
    }
}

/// A part without bytes is a message in both.
#[test]
fn parts_without_bytes() {
    let mut schedules = vec![Schedule::new(Algorithm::Direct); 2];
    for (i, part) in [Part::new(0, 1, 2), Part::new(1, 2, 2)].into_iter().enumerate() {
        schedules[0].push_round_at(to_u32(i), [Op::Send { to: 1, block: Block::Input(0), part }]);
        schedules[1].push_round_at(to_u32(i), [Op::Recv { from: 0, into: Block::Output(0), part }]);
    }
    let (run, naive) = both(&schedules, &|_, _| 64, &Loggp::default(), &Options::default());
    assert_eq!((times(&run), run.trace.unwrap().len()), (naive, 2));
}
