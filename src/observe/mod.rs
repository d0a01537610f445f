//! Statistics and a trace of a program's communication, for people.
//!
//! Each neighborhood and operation, and each sparse protocol of a communicator, has a [`Record`],
//! made when the neighborhood is set. Code that starts messages holds it as an `Option`: without
//! `MPIX_NEIGHBOR_STATS` and `MPIX_NEIGHBOR_TRACE` it is `None`, and a call only pays for a branch.
//!
//! All records of the process are an attribute of `MPI_COMM_SELF`. MPI deletes these attributes
//! first when it is finalized, while messages can still be sent. See `report.rs` and `trace.rs` for
//! what happens then.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::environment;
use crate::mpi::of_process::OfProcess;
use crate::mpi::tally::{Scope, Tally};
use crate::mpi::{MPI_Comm, comm, liveness};

mod report;
mod trace;

use trace::Lane;

/// Environment variable: the file for statistics, or `1` for standard error.
const STATS: &str = "MPIX_NEIGHBOR_STATS";
/// Environment variable: the file for the trace.
const TRACE: &str = "MPIX_NEIGHBOR_TRACE";

/// The settings in the environment. Only this code reads the variables.
struct Settings {
    stats: Option<Output>,
    trace: Option<String>,
}

/// Where statistics go.
#[derive(Debug, Clone)]
enum Output {
    Stderr,
    File(String),
}

impl Settings {
    fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Settings {
        let stats = match variable(STATS).as_deref().map(str::trim) {
            None | Some("" | "0" | "off" | "no" | "false") => None,
            Some("1" | "on" | "yes" | "true" | "stderr") => Some(Output::Stderr),
            Some(file) => Some(Output::File(file.to_owned())),
        };
        let trace = variable(TRACE).map(|file| file.trim().to_owned());
        Settings { stats, trace: trace.filter(|file| !matches!(&file[..], "" | "0" | "off" | "no" | "false")) }
    }
}

/// Locks a mutex, even after a panic in another thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a line in one piece.
fn say(text: &str) {
    use std::io::Write;
    // a failure cannot be reported
    let _ = std::io::stderr().write_all(format!("mpix-neighbor: {text}\n").as_bytes());
}

/// The records of a process, and where they go.
pub struct Observer {
    stats: Option<Output>,
    lane: Option<Arc<Lane>>,
    /// This process's rank in `MPI_COMM_WORLD`.
    rank: u32,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    records: Vec<Arc<Record>>,
    /// Number of neighborhoods that each group of processes has set.
    sets: HashMap<u64, u32>,
}

/// The processes of a communicator. All of them compute the same value without communicating.
#[derive(Debug)]
struct Group {
    /// Ranks in `MPI_COMM_WORLD`, without processes of other worlds.
    members: Vec<u32>,
    /// Number of all processes.
    size: u32,
    /// Hash of the members.
    hash: u64,
    /// Sequence number among the neighborhoods and sparse communicators of these processes.
    number: u32,
}

impl Group {
    /// The process that collects and prints.
    fn leader(&self) -> u32 {
        self.members.iter().copied().min().unwrap_or(0)
    }
}

/// Counters of a neighborhood and operation, or of a sparse protocol on a communicator.
pub struct Record {
    group: Arc<Group>,
    /// One word: the name of the table's row.
    name: &'static str,
    calls: AtomicU64,
    /// Nanoseconds in calls that wait.
    waited: AtomicU64,
    /// By shared memory, by MPI, and within the process.
    ways: [Arc<Tally>; 3],
    /// Schedule or protocol, and why it was chosen.
    text: Mutex<String>,
    lane: Option<Arc<Lane>>,
}

/// How a message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Through shared memory.
    Shared,
    /// By MPI.
    Mpi,
    /// A copy within the process.
    Own,
}

/// Reports and drops the records when MPI is finalized.
struct AtEnd(Arc<Observer>);

static OBSERVER: OfProcess<AtEnd> = OfProcess::new();

impl Drop for AtEnd {
    fn drop(&mut self) {
        report::finish(&self.0);
        if let Some(lane) = &self.0.lane {
            // SAFETY: `MPI_COMM_WORLD` is a communicator as long as MPI is usable, as it is in this
            // callback.
            let size = unsafe { comm::size(comm::world()) }.unwrap_or(1);
            lane.finish(size);
        }
    }
}

/// The records of the process; `None` if the environment asks for none.
pub fn of_process() -> Option<Arc<Observer>> {
    let observed = OBSERVER.get_or_make(|| {
        let settings = Settings::from_environment(environment::variable);
        if settings.stats.is_none() && settings.trace.is_none() {
            return Ok(None);
        }
        // SAFETY: `MPI_COMM_WORLD` is a communicator as long as MPI is usable.
        let rank = unsafe { comm::rank(comm::world()) }?;
        let lane = settings.trace.and_then(|file| match Lane::open(&file, rank) {
            Ok(lane) => Some(Arc::new(lane)),
            Err(e) => {
                let part = trace::part(&file, rank);
                say(&format!("process {rank}: there is no trace: {TRACE}: cannot write {}: {e}", part.display()));
                None
            }
        });
        // MPI drops the youngest attribute first, and the report needs to know who lives
        let _ = liveness::card();
        Ok(Some(AtEnd(Arc::new(Observer { stats: settings.stats, lane, rank, seen: Mutex::default() }))))
    });
    observed.ok().flatten().map(|at_end| Arc::clone(&at_end.0))
}

impl Observer {
    /// The group of a communicator's processes, with its next number.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    unsafe fn group(&self, comm: MPI_Comm) -> Arc<Group> {
        // SAFETY: the caller vouches for it.
        let all = unsafe { comm::members(comm) }.unwrap_or_default();
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for &member in &all {
            let word = member.map_or(u64::MAX, |m| m as u64);
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        let members: Vec<u32> = all.iter().flatten().map(|&m| m as u32).collect();
        let mut seen = lock(&self.seen);
        let sets = seen.sets.entry(hash).or_default();
        *sets += 1;
        Arc::new(Group { members, size: all.len() as u32, hash, number: *sets })
    }

    fn record(&self, group: &Arc<Group>, name: &'static str, mpi: Arc<Tally>) -> Arc<Record> {
        let record = Arc::new(Record {
            group: Arc::clone(group),
            name,
            calls: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            ways: [Arc::default(), mpi, Arc::default()],
            text: Mutex::default(),
            lane: self.lane.clone(),
        });
        lock(&self.seen).records.push(Arc::clone(&record));
        record
    }
}

/// A set call in progress. Counts what its thread does.
pub struct SetCall {
    observer: Arc<Observer>,
    begin: Instant,
    tally: Arc<Tally>,
    _scope: Scope,
}

impl SetCall {
    /// Begins a set call. `None` if nothing is observed.
    pub fn begin() -> Option<SetCall> {
        let observer = of_process()?;
        let tally = Arc::default();
        let scope = Scope::enter(&tally);
        Some(SetCall { observer, begin: Instant::now(), tally, _scope: scope })
    }
}

/// The records of a set call: its own, and one for each operation.
pub struct Set {
    call: SetCall,
    group: Arc<Group>,
}

impl Set {
    /// Begins the records of neighborhoods on a communicator.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn new(comm: MPI_Comm, call: SetCall) -> Set {
        // SAFETY: the caller vouches for it.
        let group = unsafe { call.observer.group(comm) };
        Set { call, group }
    }

    /// Makes the record of an operation.
    pub fn record(&self, name: &'static str) -> Arc<Record> {
        self.call.observer.record(&self.group, name, Arc::default())
    }

    /// Ends the call.
    pub fn end(&self) {
        let SetCall { observer, begin, tally, .. } = &self.call;
        let record = observer.record(&self.group, "set", Arc::clone(tally));
        record.called();
        // nearly all of this time is waiting
        record.waited.store(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if let Some(lane) = &observer.lane {
            let arguments = format!("\"neighborhood\":{},\"processes\":{}", self.group.number, self.group.size);
            lane.span("set", "set", *begin, &arguments);
        }
    }
}

impl Record {
    /// The counters of messages that travel this way.
    pub fn tally(&self, way: Way) -> &Arc<Tally> {
        &self.ways[way as usize]
    }

    /// Counts messages that have been started.
    #[cold]
    pub fn sent(&self, way: Way, messages: usize, bytes: u64) {
        self.tally(way).add(messages as u64, bytes);
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
        self.waited.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if let Some(lane) = &self.lane {
            lane.span("wait", "wait", begin, &format!("\"for\":\"{}\",\"neighborhood\":{}", self.name, self.group.number));
        }
    }

    /// Messages and bytes so far.
    fn totals(&self) -> [u64; 2] {
        self.ways.iter().map(|tally| tally.get()).fold([0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
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

/// The sparse exchanges of a communicator.
pub struct Sparse {
    observer: Arc<Observer>,
    group: Arc<Group>,
    /// Messages by MPI and by shared memory, over all protocols.
    all: [Arc<Tally>; 2],
    /// By protocol.
    records: Vec<Arc<Record>>,
}

impl Sparse {
    /// Begins the records of a communicator; `None` if nothing is observed.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn new(comm: MPI_Comm) -> Option<Sparse> {
        let observer = of_process()?;
        // SAFETY: the caller vouches for it.
        let group = unsafe { observer.group(comm) };
        Some(Sparse { observer, group, all: Default::default(), records: Vec::new() })
    }

    /// The counters of all messages of the communicator.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.all[0])
    }

    /// Counts a message through shared memory.
    pub fn in_memory(&self, bytes: u64) {
        self.all[1].add(1, bytes);
    }

    /// Makes the record of a plan.
    pub fn plan(&self) -> Arc<Record> {
        let record = self.observer.record(&self.group, "plan", Arc::default());
        record.describe("protocol plan: an exchange whose targets and sizes stay".to_owned());
        record
    }

    /// Begins an exchange.
    pub fn begin(&mut self, protocol: &'static str, why: impl FnOnce() -> String) -> Exchange {
        let record = match self.records.iter().find(|r| r.name == protocol) {
            Some(record) => Arc::clone(record),
            None => {
                let record = self.observer.record(&self.group, protocol, Arc::default());
                record.describe(format!("protocol {protocol}: {}", why()));
                self.records.push(Arc::clone(&record));
                record
            }
        };
        let before = [self.all[0].get(), self.all[1].get()];
        let operations = self.all[0].operations();
        Exchange { call: record.begin(), record, all: self.all.clone(), before, operations, over: false }
    }
}

/// A sparse exchange in progress.
pub struct Exchange {
    record: Arc<Record>,
    call: Call,
    all: [Arc<Tally>; 2],
    before: [[u64; 2]; 2],
    operations: [u64; 4],
    over: bool,
}

impl Exchange {
    /// Its record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Ends the exchange.
    pub fn end(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            for (way, (all, before)) in [Way::Mpi, Way::Shared].into_iter().zip(self.all.iter().zip(self.before)) {
                let after = all.get();
                self.record.sent(way, (after[0] - before[0]) as usize, after[1] - before[1]);
            }
            let operations = self.all[0].operations();
            self.record.tally(Way::Mpi).operate(std::array::from_fn(|k| operations[k] - self.operations[k]));
            self.record.end(&self.call, None);
        }
    }
}
