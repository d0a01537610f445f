//! The text of `MPIX_Neighborhood_describe`.

use crate::collective::Operation;
use crate::collective::executors::ExecutorPool;
use crate::exec::waiting::Waiting;
use crate::schedule::{ALGORITHMS, Algorithm, Schedule};
use crate::select::hints::Hints;
use crate::select::{Candidate, Choice};
use crate::topology::neighborhood::{Neighbor, Neighborhood};

/// Facts about the schedule in use, readable while a collective runs.
pub struct Summary {
    choice: Choice,
    rounds: usize,
    messages: usize,
    /// The schedules that the first calls compare it with.
    rivals: Vec<Candidate>,
}

impl Summary {
    /// Summarizes a schedule and the rivals that are still compared with it.
    pub fn new(choice: Choice, schedule: &Schedule, rivals: Vec<Candidate>) -> Summary {
        Summary { choice, rounds: schedule.rounds(), messages: schedule.messages(), rivals }
    }

    /// One line: the schedule, its size, and why it was chosen.
    pub fn line(&self) -> String {
        let why = match &self.rivals[..] {
            [] => self.choice.why.to_string(),
            rivals => {
                let names: Vec<String> = rivals.iter().map(Candidate::to_string).collect();
                format!("the first calls compare it with {}", names.join(", "))
            }
        };
        let Candidate { algorithm, strict } = self.choice.candidate;
        let [one, many] = if strict { ["strict round", "strict rounds"] } else { ["round", "rounds"] };
        let (rounds, messages) = (count(self.rounds, one, many), count(self.messages, "message", "messages"));
        format!("schedule {}: {rounds}, {messages}; {why}", algorithm.name())
    }

    /// True if calls may run by this algorithm.
    fn has(&self, algorithm: Algorithm) -> bool {
        self.choice.algorithm() == algorithm || self.rivals.iter().any(|rival| rival.algorithm == algorithm)
    }

    /// True if calls may run by an algorithm that sends blocks directly to their targets, so that
    /// shared memory can carry them.
    fn shares_memory(&self) -> bool {
        ALGORITHMS.iter().any(|entry| self.has(entry.algorithm) && !entry.forwards())
    }
}

/// Several lines: the lists, the schedule and why, shared memory, what carries the other blocks,
/// how the process waits, and the hints.
pub fn text(operation: Operation, pool: &ExecutorPool, schedule: &Summary, hints: &Hints) -> String {
    let n = pool.neighborhood();
    let edges = |list: &[Neighbor], one: &str, many: &str| {
        let processes = Neighborhood::multiplicities(list).len();
        format!("{} ({})", count(list.len(), one, many), count(processes, "process", "processes"))
    };
    format!(
        "{} on process {}: {}, {}, {}\n\
         {}\n\
         shared memory: {}\n\
         transport: {}\n\
         waiting: {}; verification {}\n\
         {}",
        operation.name(),
        n.rank(),
        edges(n.sources(), "source", "sources"),
        edges(n.targets(), "target", "targets"),
        if n.weighted() { "weighted" } else { "unweighted" },
        schedule.line(),
        sharing(pool, schedule),
        pool.transport().text(|algorithm| schedule.has(algorithm)),
        match pool.waiting() {
            Waiting::Block => "in MPI",
            Waiting::Yield => "polling and yielding the core, as the node has more processes than cores",
        },
        if hints.verify { "on" } else { "off" },
        hints.describe(),
    )
}

/// Describes which edges go through shared memory.
fn sharing(pool: &ExecutorPool, schedule: &Summary) -> String {
    let Some(channels) = pool.channels() else { return "none".to_owned() };
    if !schedule.shares_memory() {
        return format!("not used, as the schedule {} passes blocks on by messages", schedule.choice.algorithm().name());
    }
    let n = pool.neighborhood();
    let near =
        |list: &[Neighbor]| list.iter().filter(|e| e.rank.is_some_and(|rank| rank != n.rank() && channels.has(rank))).count();
    let (sources, targets) = (near(n.sources()), near(n.targets()));
    let cell = channels.eager_limit >> 10;
    let once = channels.single_from.saturating_sub(1) >> 10;
    let long = match channels.count_copying() {
        (0, _) => format!("above {cell} KiB: in chunks, or by MPI if they are started"),
        (some, all) if channels.away_only => {
            let ways = if some == all { String::new() } else { format!(" on {some} of {all} ways, else by MPI,") };
            format!("above {cell} KiB: in chunks, or copied from the sender's memory{ways} if they are started and it is away")
        }
        (some, all) if some == all => format!("above {once} KiB: copied from the sender's memory"),
        (some, all) => format!("above {once} KiB: copied from the sender's memory on {some} of {all} ways"),
    };
    format!(
        "{sources} of the sources and {targets} of the targets, not ordered by the schedule's rounds; {} KiB for each process; messages {long}",
        channels.bytes() >> 10,
    )
}

/// A number and its noun.
fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
