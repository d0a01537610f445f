//! Costs of a set of messages if each process has one port out and one in, and messages wait only
//! for ports: IrregPC's costs (a message of `m` bytes takes `tau + m phi`) without its assumption
//! that a round ends for all processes at once.

use std::collections::{BinaryHeap, HashMap, HashSet};

use mpix_neighbor::model::loggp::Loggp;
use mpix_neighbor::model::simulate::{Options, Transfer, bytes_of, simulate};
use mpix_neighbor::schedule::rounds::lower_bound;
use mpix_neighbor::schedule::{Block, Op, Rounds, Schedule, length};
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::neighborhood::Neighborhood;
use mpix_neighbor::util::cast::to_u32;

/// An ordered time; never NaN.
#[derive(PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    /// Reversed, because a `BinaryHeap` yields the greatest element.
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        other.0.total_cmp(&self.0)
    }
}

/// The cost of sending everything at once (IrregPC's AC): each process sends in the order of its
/// edges; a message waits until its receiver has received everything that came before it, and
/// blocks the sender's later messages unless it is at most `eager` long: then the network keeps it.
/// `startup`, `eager` and the result are in units of weight.
///
/// Cost: O(edges log processes) time.
pub fn asynchronous(graph: &Graph, startup: f64, eager: f64) -> f64 {
    let processes = graph.processes();
    let mut next: Vec<usize> = (0..processes).map(|p| graph.edges_of(to_u32(p)).start).collect();
    let mut free = vec![0.0f64; processes];
    let mut end = 0.0f64;
    // (time at which a process may send its next message, process): the earliest reaches its
    // receiver first
    let mut ready: BinaryHeap<(Time, std::cmp::Reverse<usize>)> =
        (0..processes).map(|p| (Time(0.0), std::cmp::Reverse(p))).collect();
    while let Some((Time(now), std::cmp::Reverse(p))) = ready.pop() {
        let edge = next[p];
        if edge == graph.edges_of(to_u32(p)).end {
            continue;
        }
        next[p] += 1;
        let port = &mut free[graph.target(edge) as usize];
        let bytes = length(graph.weight(edge), 1) as f64;
        let time = startup + bytes;
        *port = port.max(now) + time;
        end = end.max(*port);
        let sent = if bytes <= eager { now + time } else { *port };
        ready.push((Time(sent), std::cmp::Reverse(p)));
    }
    end
}

/// Lower bound of the cost of any schedule with one message in and one out at a time; in half
/// duplex, with one message in or out. In units of weight, like `startup`.
pub fn bound(graph: &Graph, startup: f64, half_duplex: bool) -> f64 {
    if !half_duplex {
        return lower_bound(graph, startup);
    }
    let ((out, into), (out_load, in_load)) = (graph.degrees(), graph.loads());
    (0..graph.processes())
        .map(|p| startup * (f64::from(out[p]) + f64::from(into[p])) + (out_load[p] + in_load[p]) as f64)
        .fold(0.0, f64::max)
}

/// Lower bound of the number of rounds, likewise.
pub fn bound_rounds(graph: &Graph, half_duplex: bool) -> u32 {
    let (out, into) = graph.degrees();
    let both = out.iter().zip(&into).map(|(a, b)| if half_duplex { a + b } else { *a.max(b) });
    both.max().unwrap_or(0)
}

/// A message of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Message {
    /// Round in which it travels.
    pub round: u32,
    /// Sender.
    pub source: u32,
    /// Receiver.
    pub target: u32,
    /// Its length in units of weight.
    pub length: f64,
}

/// The messages of all rounds, in order.
pub fn of_rounds(graph: &Graph, rounds: &Rounds) -> Vec<Message> {
    let sources: Vec<u32> = graph.iter().map(|e| e.0).collect();
    let mut messages: Vec<Message> = (rounds.pieces.iter())
        .map(|p| Message {
            round: p.round,
            source: sources[p.edge as usize],
            target: graph.target(p.edge as usize),
            length: f64::from(p.length()),
        })
        .collect();
    messages.sort_by_key(|m| m.round);
    messages
}

/// The messages of all processes' schedules, in the order of rounds. `None` if some carry forwarded
/// blocks.
pub fn of_schedules(world: &[Neighborhood], schedules: &[Schedule]) -> Option<Vec<Message>> {
    let mut messages = Vec::new();
    for (n, schedule) in world.iter().zip(schedules) {
        for r in 0..schedule.rounds() {
            for op in schedule.round(r) {
                let Op::Send { to, block, part } = *op else { continue };
                let Block::Input(entry) = block else { return None };
                let (begin, end, of) = part.fraction();
                let length = length(n.targets()[entry as usize].weight, 1) as f64 * f64::from(end - begin) / f64::from(of);
                messages.push(Message { round: schedule.number(r), source: n.rank(), target: to, length });
            }
        }
    }
    messages.sort_by_key(|m| m.round);
    Some(messages)
}

/// The messages of schedules that forward blocks, in the order of rounds and in units of weight.
pub fn of_packets(world: &[Neighborhood], schedules: &[Schedule]) -> Result<Vec<Message>, String> {
    let options = Options { trace: true, ..Options::default() };
    let run = simulate(schedules, &|p, block| bytes_of(world, 1, p, block), &Loggp::default(), &options)?;
    let message = |t: Transfer| Message { round: t.round, source: t.source, target: t.target, length: t.bytes as f64 };
    let mut messages: Vec<Message> = run.trace.unwrap_or_default().into_iter().map(message).collect();
    messages.sort_by_key(|m| m.round);
    Ok(messages)
}

/// The cost of rounds in which a process may have several messages: the sum over rounds of the time
/// of the busiest port. With one message per port this equals [`synchronized`].
pub fn loaded(messages: &[Message], startup: f64) -> f64 {
    let round = |round: &[Message]| {
        let mut ports: HashMap<(bool, u32), f64> = HashMap::new();
        for m in round {
            for port in [(false, m.source), (true, m.target)] {
                *ports.entry(port).or_default() += startup + m.length;
            }
        }
        ports.into_values().fold(0.0, f64::max)
    };
    messages.chunk_by(|a, b| a.round == b.round).map(round).sum()
}

/// Returns true if each process sends at most one message and receives at most one in a round; in
/// half duplex, if it has at most one, which it sends or receives. `messages` are in the order of
/// rounds.
pub fn one_at_a_time(messages: &[Message], half_duplex: bool) -> bool {
    messages.chunk_by(|a, b| a.round == b.round).all(|round| {
        let mut busy = HashSet::new();
        round.iter().all(|m| busy.insert((false, m.source)) && busy.insert((!half_duplex, m.target)))
    })
}

/// Number of rounds in which messages travel.
pub fn rounds(messages: &[Message]) -> usize {
    messages.chunk_by(|a, b| a.round == b.round).count()
}

/// IrregPC's cost: the sum over rounds of a startup and the longest message in it. In units of
/// weight, as `startup`.
pub fn synchronized(messages: &[Message], startup: f64) -> f64 {
    let longest = |round: &[Message]| round.iter().fold(0.0, |longest: f64, m| longest.max(m.length));
    messages.chunk_by(|a, b| a.round == b.round).map(|round| startup + longest(round)).sum()
}

/// The cost of the same messages if rounds need not wait for each other: a message begins when its
/// two processes are done with their earlier ones. If each process has at most one message in and
/// one out per round, this is at most the synchronized cost.
pub fn unsynchronized(processes: usize, messages: &[Message], startup: f64) -> f64 {
    let (mut out, mut into) = (vec![0.0f64; processes], vec![0.0f64; processes]);
    for m in messages {
        let (out, into) = (&mut out[m.source as usize], &mut into[m.target as usize]);
        let end = out.max(*into) + startup + m.length;
        (*out, *into) = (end, end);
    }
    out.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpix_neighbor::schedule::{ALGORITHMS, Algorithm, Build, Tuning, world_schedules};

    #[test]
    fn messages_wait_for_ports() {
        // 0 and 1 send to 2 at once; 1 then sends to 0, but only when 2 has its message
        let graph = Graph::from_edges(3, &[(0, 2, 10), (1, 2, 20), (1, 0, 1)]);
        assert_eq!(asynchronous(&graph, 5.0, 0.0), 15.0 + 25.0 + 6.0);
        // the network keeps the second message, and 1 turns to the third one while 2 is busy
        assert_eq!(asynchronous(&graph, 5.0, 20.0), 15.0 + 25.0);
        // the other way round: 1 sends to 0 while 0 sends to 2
        let messages = of_rounds(&graph, &Rounds::uncut(Algorithm::Direct, &graph, &[0, 1, 0]));
        assert_eq!(synchronized(&messages, 5.0), 15.0 + 25.0);
        assert_eq!(unsynchronized(3, &messages, 5.0), 15.0 + 25.0);
    }

    #[test]
    fn rounds_overlap_where_processes_differ() {
        let graph = Graph::from_edges(4, &[(0, 1, 10), (0, 1, 1), (2, 3, 1), (2, 3, 10)]);
        let messages = of_rounds(&graph, &Rounds::uncut(Algorithm::Direct, &graph, &[0, 1, 0, 1]));
        assert_eq!((synchronized(&messages, 1.0), unsynchronized(4, &messages, 1.0)), (22.0, 13.0));
    }

    /// The messages of rounds are those of the schedules built from them.
    #[test]
    fn plans_and_schedules_have_the_same_messages() {
        let edges: Vec<(u32, u32, u32)> = (0..60u32).map(|i| (i % 8, (i * i + 3 * i) % 8, 1 + i * 37 % 100)).collect();
        let graph = Graph::from_edges(8, &edges);
        let world = graph.neighborhoods();
        let tuning = Tuning { startup: 5.0, ..Tuning::default() };
        for entry in &ALGORITHMS {
            let Build::Global(build) = entry.build else { continue };
            let rounds = build(&graph, &tuning);
            let planned = of_rounds(&graph, &rounds);
            let mut taken = of_schedules(&world, &world_schedules(entry.algorithm, &world, None, &tuning).unwrap()).unwrap();
            taken.sort_by_key(|m| (m.round, m.source));
            let mut sorted = planned.clone();
            sorted.sort_by_key(|m| (m.round, m.source));
            assert_eq!(sorted, taken, "{}", entry.name);
            assert!((synchronized(&planned, 5.0) - rounds.cost(5.0)).abs() < 1e-6);
            assert!(unsynchronized(8, &planned, 5.0) <= rounds.cost(5.0) + 1e-6);
        }
    }

    #[test]
    fn bounds() {
        let graph = Graph::from_edges(3, &[(0, 1, 10), (1, 2, 20), (1, 0, 1)]);
        assert_eq!((bound(&graph, 5.0, false), bound_rounds(&graph, false)), (31.0, 2));
        assert_eq!((bound(&graph, 5.0, true), bound_rounds(&graph, true)), (46.0, 3));
    }

    #[test]
    fn ports_of_a_round() {
        let graph = Graph::from_edges(3, &[(0, 1, 10), (1, 2, 20), (1, 0, 1)]);
        let one = |rounds: &[u32]| {
            let messages = of_rounds(&graph, &Rounds::uncut(Algorithm::Direct, &graph, rounds));
            [false, true].map(|half_duplex| one_at_a_time(&messages, half_duplex))
        };
        assert_eq!(one(&[0, 1, 2]), [true, true]);
        assert_eq!(one(&[0, 0, 1]), [true, false], "process 1 sends and receives in round 0");
        assert_eq!(one(&[0, 1, 1]), [false, false], "process 1 sends twice in round 1");
    }

    #[test]
    fn nothing_costs_nothing() {
        let graph = Graph::from_edges(2, &[]);
        assert_eq!(asynchronous(&graph, 5.0, 0.0), 0.0);
        assert_eq!(synchronized(&[], 5.0), 0.0);
    }
}
