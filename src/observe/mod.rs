//! What a person sees of a program's communication: statistics, and a trace.
//!
//! Each neighborhood and operation, and each sparse protocol of a communicator, has a [`Record`],
//! made when the neighborhood is set. Whoever starts messages holds it as an `Option`, bound at
//! that time: without `MPIX_NEIGHBOR_STATS` and `MPIX_NEIGHBOR_TRACE` there is none, and a call
//! costs a branch on it.
//!
//! All of the process hangs on `MPI_COMM_SELF`, whose attributes MPI drops first when it is
//! finalized: while messages can still be sent. See `report.rs` and `trace.rs` for what happens
//! then.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::environment;
use crate::mpi::attribute::Key;
use crate::mpi::tally::{Scope, Tally};
use crate::mpi::{MPI_Comm, comm, liveness};

mod report;
mod trace;

use trace::Lane;

/// Environment variable: where statistics go; `1`: standard error.
const STATS: &str = "MPIX_NEIGHBOR_STATS";
/// Environment variable: the file for the trace.
const TRACE: &str = "MPIX_NEIGHBOR_TRACE";

/// What the environment asks for. The only place that reads these variables.
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

/// A lock, also after a panic in another thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a line in one piece.
fn say(text: &str) {
    use std::io::Write;
    // there is no one to tell if this fails
    let _ = std::io::stderr().write_all(format!("mpix-neighbor: {text}\n").as_bytes());
}

/// What a process observes.
pub struct Observer {
    stats: Option<Output>,
    lane: Option<Arc<Lane>>,
    /// The process in `MPI_COMM_WORLD`.
    rank: u32,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    records: Vec<Arc<Record>>,
    /// How many neighborhoods a group of processes has set.
    sets: HashMap<u64, u32>,
}

/// The processes of a communicator: equal on all of them without a word between them.
#[derive(Debug)]
struct Group {
    /// Ranks in `MPI_COMM_WORLD`; without processes of other worlds.
    members: Vec<u32>,
    /// Processes in all.
    size: u32,
    /// Of the members.
    hash: u64,
    /// How many neighborhoods and sparse communicators these processes had before.
    number: u32,
}

impl Group {
    /// Who collects and prints.
    fn leader(&self) -> u32 {
        self.members.iter().copied().min().unwrap_or(0)
    }
}

/// What has been counted of a neighborhood and operation, or of a sparse protocol on a
/// communicator.
pub struct Record {
    group: Arc<Group>,
    /// One word: what the row of the table is called.
    name: &'static str,
    calls: AtomicU64,
    /// Nanoseconds in calls that wait.
    waited: AtomicU64,
    /// By shared memory, by MPI, and to the process itself.
    ways: [Arc<Tally>; 3],
    /// Schedule or protocol, and why.
    text: Mutex<String>,
    lane: Option<Arc<Lane>>,
}

/// A way that messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Through memory that both processes see.
    Shared,
    /// By MPI.
    Mpi,
    /// A copy within the process.
    Own,
}

/// Drops what the process observes, and tells it, when MPI is finalized.
struct AtEnd(Arc<Observer>);

static OBSERVER: Key<AtEnd> = Key::new();

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

/// What the process observes; `None` where the environment asks for nothing.
pub fn of_process() -> Option<Arc<Observer>> {
    // two threads may come at the same time
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = lock(&MAKING);
    let own = comm::itself();
    // SAFETY: a communicator that there always is; the value stays as long as MPI does.
    let known = unsafe { OBSERVER.get(own) }.ok()?;
    // SAFETY: as above.
    if let Some(AtEnd(observer)) = unsafe { known.as_ref() } {
        return Some(Arc::clone(observer));
    }
    let settings = Settings::from_environment(environment::variable);
    if settings.stats.is_none() && settings.trace.is_none() {
        return None;
    }
    // SAFETY: `MPI_COMM_WORLD` is a communicator as long as MPI is usable.
    let rank = unsafe { comm::rank(comm::world()) }.ok()?;
    let lane = settings.trace.and_then(|file| match Lane::open(&file, rank) {
        Ok(lane) => Some(Arc::new(lane)),
        Err(e) => {
            say(&format!("process {rank}: there is no trace: {TRACE}: cannot write {}: {e}", trace::part(&file, rank).display()));
            None
        }
    });
    let observer = Arc::new(Observer { stats: settings.stats, lane, rank, seen: Mutex::default() });
    // MPI drops the youngest first, and the end needs to know who lives
    let _ = liveness::card();
    // SAFETY: as above; there is no earlier value.
    unsafe { OBSERVER.set(own, AtEnd(Arc::clone(&observer))) }.ok()?;
    Some(observer)
}

impl Observer {
    /// The next neighborhood of a communicator's processes.
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

/// A set call that has begun. Counts what its thread does.
pub struct SetCall {
    observer: Arc<Observer>,
    begin: Instant,
    tally: Arc<Tally>,
    _scope: Scope,
}

impl SetCall {
    /// A set call begins. `None` where nothing is observed.
    pub fn begin() -> Option<SetCall> {
        let observer = of_process()?;
        let tally = Arc::default();
        let scope = Scope::enter(&tally);
        Some(SetCall { observer, begin: Instant::now(), tally, _scope: scope })
    }
}

/// The records of a set call: one of its own, and one for each operation.
pub struct Set {
    call: SetCall,
    group: Arc<Group>,
}

impl Set {
    /// A set call makes neighborhoods on a communicator.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn new(comm: MPI_Comm, call: SetCall) -> Set {
        // SAFETY: the caller vouches for it.
        let group = unsafe { call.observer.group(comm) };
        Set { call, group }
    }

    /// The record of an operation.
    pub fn record(&self, name: &'static str) -> Arc<Record> {
        self.call.observer.record(&self.group, name, Arc::default())
    }

    /// The call has come to its end.
    pub fn end(&self) {
        let SetCall { observer, begin, tally, .. } = &self.call;
        let record = observer.record(&self.group, "set", Arc::clone(tally));
        record.called();
        // nearly all of it is waiting
        record.waited.store(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if let Some(lane) = &observer.lane {
            let arguments = format!("\"neighborhood\":{},\"processes\":{}", self.group.number, self.group.size);
            lane.span("set", "set", *begin, &arguments);
        }
    }
}

impl Record {
    /// Where messages of a way are counted.
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

    /// What is said of the schedule.
    pub fn describe(&self, text: String) {
        *lock(&self.text) = text;
    }

    /// Counts the time that a call has waited since `begin`.
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

    /// A blocking call, or the start of another one, begins.
    pub fn begin(&self) -> Call {
        self.called();
        Call { begin: Instant::now(), totals: self.totals() }
    }

    /// A call that has begun returns. `name` is what it does, if that is not all of it.
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

    /// A collective is under way from now until `over`, to which the result is given.
    pub fn under_way(&self) -> u64 {
        self.lane.as_ref().map_or(0, |lane| lane.under_way(self.name))
    }

    /// A collective has come to its end.
    pub fn over(&self, id: u64) {
        if let Some(lane) = &self.lane {
            lane.over(self.name, id);
        }
    }

    /// A round begins.
    pub fn round(&self, round: usize) {
        if let Some(lane) = &self.lane {
            lane.instant("round", &format!("\"round\":{round},\"of\":\"{}\",\"neighborhood\":{}", self.name, self.group.number));
        }
    }
}

/// A call that has begun.
pub struct Call {
    begin: Instant,
    totals: [u64; 2],
}

/// The sparse exchanges of a communicator.
pub struct Sparse {
    observer: Arc<Observer>,
    group: Arc<Group>,
    /// What goes by MPI, and by shared memory, whatever the protocol.
    all: [Arc<Tally>; 2],
    /// By protocol.
    records: Vec<Arc<Record>>,
}

impl Sparse {
    /// Of a communicator; `None` where nothing is observed.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn new(comm: MPI_Comm) -> Option<Sparse> {
        let observer = of_process()?;
        // SAFETY: the caller vouches for it.
        let group = unsafe { observer.group(comm) };
        Some(Sparse { observer, group, all: Default::default(), records: Vec::new() })
    }

    /// Where all messages of the communicator are counted.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.all[0])
    }

    /// Counts a message in memory that its receiver sees.
    pub fn in_memory(&self, bytes: u64) {
        self.all[1].add(1, bytes);
    }

    /// The record of a plan.
    pub fn plan(&self) -> Arc<Record> {
        let record = self.observer.record(&self.group, "plan", Arc::default());
        record.describe("protocol plan: an exchange whose targets and sizes stay".to_owned());
        record
    }

    /// An exchange begins.
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

/// A sparse exchange under way.
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

    /// It has come to its end.
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
