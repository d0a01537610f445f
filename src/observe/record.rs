//! The counters of each neighborhood and operation, and of each sparse protocol.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::settings::Output;
use super::trace::Lane;
use crate::mpi::Communicator;
use crate::mpi::tally::Tally;
use crate::util::cast::{to_int, to_u32};
use crate::util::lock::lock;

/// The records of a process, and where they go.
pub struct Observer {
    pub(super) stats: Option<Output>,
    pub(super) lane: Option<Arc<Lane>>,
    /// This process's rank in `MPI_COMM_WORLD`.
    pub(super) rank: u32,
    pub(super) seen: Mutex<Seen>,
}

/// The records of a process so far.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) records: Vec<Arc<Record>>,
    /// For each group of processes, how many neighborhoods it has set, and its members.
    sets: HashMap<u64, (u32, Arc<[u32]>)>,
}

/// The processes of a communicator. All of them compute the same value without communicating.
#[derive(Debug)]
pub struct Group {
    /// Ranks in `MPI_COMM_WORLD`, without processes of other worlds. The same list for all groups
    /// of these processes.
    pub(super) members: Arc<[u32]>,
    /// Number of all processes.
    pub(super) size: u32,
    /// Hash of the members.
    pub(super) hash: u64,
    /// Sequence number among the neighborhoods and sparse communicators of these processes.
    pub(super) number: u32,
}

impl Group {
    /// The process that collects and prints.
    pub(super) fn leader(&self) -> u32 {
        self.members.iter().copied().min().unwrap_or(0)
    }
}

/// Counters of a neighborhood and operation, or of a sparse protocol on a communicator.
pub struct Record {
    pub(super) group: Arc<Group>,
    /// One word: the name of the table's row.
    pub(super) name: &'static str,
    pub(super) calls: AtomicU64,
    /// Nanoseconds in calls that wait.
    pub(super) waited: AtomicU64,
    /// By shared memory, by MPI, and within the process.
    pub(super) tallies: [Arc<Tally>; 3],
    /// How often a window was put to each of the [`USES`].
    pub(super) uses: [AtomicU64; USES.len()],
    /// Schedule or protocol, and why it was chosen.
    pub(super) text: Mutex<String>,
    pub(super) lane: Option<Arc<Lane>>,
}

/// The uses of a window: operations on single elements by kind, and ends of epochs. Singular and
/// plural.
pub(super) const USES: [[&str; 2]; 6] = [
    ["put", "puts"],
    ["accumulate", "accumulates"],
    ["get", "gets"],
    ["fetch-and-op", "fetch-and-ops"],
    ["compare-and-swap", "compare-and-swaps"],
    ["fence", "fences"],
];

/// The place of fences in [`USES`].
pub const FENCE: usize = 5;

/// How a message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Through shared memory.
    Shared,
    /// By MPI.
    Mpi,
    /// A copy within the process.
    Own,
}

impl Observer {
    /// The group of a communicator's processes, with its next number.
    pub(super) fn group(&self, comm: Communicator) -> Arc<Group> {
        let all = comm.members().unwrap_or_default();
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for &member in &all {
            let word = member.map_or(u64::MAX, |m| to_int::<u64>(m));
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        let members = || all.iter().flatten().map(|&m| to_u32(m)).collect();
        let mut seen = lock(&self.seen);
        let (sets, members) = seen.sets.entry(hash).or_insert_with(|| (0, members()));
        *sets += 1;
        Arc::new(Group { members: Arc::clone(members), size: to_u32(all.len()), hash, number: *sets })
    }

    /// Makes a record of a group, whose messages by MPI `mpi` counts.
    pub(super) fn record(&self, group: &Arc<Group>, name: &'static str, mpi: Arc<Tally>) -> Arc<Record> {
        let record = Arc::new(Record {
            group: Arc::clone(group),
            name,
            calls: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            tallies: [Arc::default(), mpi, Arc::default()],
            uses: Default::default(),
            text: Mutex::default(),
            lane: self.lane.clone(),
        });
        // the trace has each call for itself
        if self.stats.is_some() {
            lock(&self.seen).records.push(Arc::clone(&record));
        }
        record
    }
}

impl Record {
    /// The counters of messages that travel this way.
    pub fn tally(&self, medium: Medium) -> &Arc<Tally> {
        &self.tallies[medium as usize]
    }

    /// Counts messages that have been started.
    #[cold]
    pub fn sent(&self, medium: Medium, messages: usize, bytes: u64) {
        self.tally(medium).add(messages as u64, bytes);
    }

    /// Counts uses of a window, by their place in [`USES`].
    #[cold]
    pub fn used(&self, place: usize, times: usize) {
        self.uses[place].fetch_add(times as u64, Ordering::Relaxed);
    }

    /// Counts a call.
    pub fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the text about the schedule.
    pub fn describe(&self, text: String) {
        *lock(&self.text) = text;
    }

    /// Adds the time since `begin`, for which a call has waited.
    #[cold]
    pub fn waited(&self, begin: Instant) {
        self.waited.fetch_add(to_int::<u64>(begin.elapsed().as_nanos()), Ordering::Relaxed);
        if let Some(lane) = &self.lane {
            lane.span("wait", "wait", begin, &format!("\"for\":\"{}\",\"neighborhood\":{}", self.name, self.group.number));
        }
    }

    /// Messages and bytes so far.
    fn totals(&self) -> [u64; 2] {
        self.tallies.iter().map(|tally| tally.get()).fold([0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
    }

    /// Begins a blocking call, or the start of a nonblocking one.
    pub fn begin(&self) -> Call {
        self.called();
        Call { begin: Instant::now(), totals: self.totals() }
    }

    /// Ends a call. `name` is the part of the operation that it did, if not all of it.
    pub fn end(&self, call: &Call, name: Option<&'static str>) {
        if let Some(lane) = &self.lane {
            let [messages, bytes] = self.totals();
            let [messages, bytes] = [messages - call.totals[0], bytes - call.totals[1]];
            let text = lock(&self.text);
            // "schedule direct: ...", "protocol nbx: ..."
            let schedule = text.split(':').next().and_then(|t| t.split_whitespace().nth(1)).unwrap_or("");
            let number = self.group.number;
            let arguments = format!(
                "\"operation\":\"{}\",\"neighborhood\":{number},\"schedule\":\"{schedule}\",\"messages\":{messages},\"bytes\":{bytes}",
                self.name
            );
            lane.span(name.unwrap_or(self.name), "call", call.begin, &arguments);
        }
    }

    /// Marks a collective as active until `over` is called with the returned number.
    pub fn under_way(&self) -> u64 {
        self.lane.as_ref().map_or(0, |lane| lane.under_way(self.name))
    }

    /// Marks a collective as complete.
    pub fn over(&self, id: u64) {
        if let Some(lane) = &self.lane {
            lane.over(self.name, id);
        }
    }

    /// Marks the start of a round.
    pub fn round(&self, round: usize) {
        if let Some(lane) = &self.lane {
            lane.instant("round", &format!("\"round\":{round},\"of\":\"{}\",\"neighborhood\":{}", self.name, self.group.number));
        }
    }
}

/// A call in progress.
pub struct Call {
    begin: Instant,
    totals: [u64; 2],
}
