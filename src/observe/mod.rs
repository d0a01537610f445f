//! Statistics and a trace of a program's communication, for people.
//!
//! Each neighborhood and operation, and each sparse protocol of a communicator, has a [`Record`],
//! made when the neighborhood is set. Code that starts messages holds it as an `Option`: without
//! `MPIX_NEIGHBOR_STATS` and `MPIX_NEIGHBOR_TRACE` it is `None`, and a call only pays for a branch.
//!
//! All records of the process are an attribute of `MPI_COMM_SELF`. MPI deletes these attributes
//! first when it is finalized, while messages can still be sent. See `report.rs` and `trace.rs` for
//! what happens then.

use std::fmt::Display;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use crate::environment;
use crate::mpi::of_process::OfProcess;
use crate::mpi::tally::{Scope, Tally};
use crate::mpi::{Communicator, comm, liveness};
use crate::util::cast::{to_int, to_usize};

mod record;
mod report;
mod settings;
mod trace;

pub use record::{Call, FENCE, Medium, Record};
use record::{Group, Observer};
use settings::{Settings, TRACE, complain};
use trace::Lane;

/// Reports and drops the records when MPI is finalized.
struct AtEnd(Arc<Observer>);

static OBSERVER: OfProcess<AtEnd> = OfProcess::new();

impl Drop for AtEnd {
    fn drop(&mut self) {
        report::finish(&self.0);
        if let Some(lane) = &self.0.lane {
            let size = comm::world().size().unwrap_or(1);
            lane.finish(size);
        }
    }
}

/// The records of the process; `None` if the environment asked for none at the first call.
pub fn of_process() -> Option<Arc<Observer>> {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    let settings = SETTINGS.get_or_init(|| Settings::from_environment(environment::variable));
    if settings.stats.is_none() && settings.trace.is_none() {
        return None;
    }
    let observed = OBSERVER.get_or_make(|| {
        let rank = comm::world().rank()?;
        let lane = settings.trace.as_ref().and_then(|file| match Lane::open(file, rank) {
            Ok(lane) => Some(Arc::new(lane)),
            Err((path, e)) => {
                complain(&format!("process {rank}: there is no trace: {TRACE}: cannot write {}: {e}", path.display()));
                None
            }
        });
        // MPI drops the youngest attribute first, and the report needs to know who lives
        let _ = liveness::card();
        Ok(Some(AtEnd(Arc::new(Observer { stats: settings.stats.clone(), lane, rank, seen: Mutex::default() }))))
    });
    observed.ok().flatten().map(|at_end| Arc::clone(&at_end.0))
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
    pub fn new(comm: Communicator, call: SetCall) -> Set {
        let group = call.observer.group(comm);
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
        record.waited.store(to_int::<u64>(begin.elapsed().as_nanos()), Ordering::Relaxed);
        if let Some(lane) = &observer.lane {
            let arguments = format!("\"neighborhood\":{},\"processes\":{}", self.group.number, self.group.size);
            lane.span("set", "set", *begin, &arguments);
        }
    }
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
    pub fn new(comm: Communicator) -> Option<Sparse> {
        let observer = of_process()?;
        let group = observer.group(comm);
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

    /// Makes the record of a window whose epochs end by these exchanges.
    pub fn window(&self) -> Arc<Record> {
        self.observer.record(&self.group, "window", Arc::default())
    }

    /// Makes the record of a plan.
    pub fn plan(&self) -> Arc<Record> {
        let record = self.observer.record(&self.group, "plan", Arc::default());
        record.describe("protocol plan: an exchange whose targets and sizes stay".to_owned());
        record
    }

    /// Begins an exchange. `why` its protocol was chosen, if that is not what it was for the last
    /// one.
    pub fn begin(&mut self, protocol: &'static str, why: Option<impl Display>) -> Exchange {
        let known = self.records.iter().find(|r| r.name == protocol).map(Arc::clone);
        let record = known.unwrap_or_else(|| {
            let record = self.observer.record(&self.group, protocol, Arc::default());
            self.records.push(Arc::clone(&record));
            record
        });
        if let Some(why) = why {
            record.describe(format!("protocol {protocol}: {why}"));
        }
        let before = [self.all[0].get(), self.all[1].get()];
        let operations = self.all[0].operations();
        Exchange { call: record.begin(), record, all: self.all.clone(), before, operations }
    }
}

/// A sparse exchange in progress.
pub struct Exchange {
    record: Arc<Record>,
    call: Call,
    all: [Arc<Tally>; 2],
    before: [[u64; 2]; 2],
    operations: [u64; 4],
}

impl Exchange {
    /// Its record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Ends the exchange.
    pub fn end(&self) {
        for (medium, (all, before)) in [Medium::Mpi, Medium::Shared].into_iter().zip(self.all.iter().zip(self.before)) {
            let after = all.get();
            self.record.sent(medium, to_usize(after[0] - before[0]), after[1] - before[1]);
        }
        let operations = self.all[0].operations();
        self.record.tally(Medium::Mpi).operate(std::array::from_fn(|k| operations[k] - self.operations[k]));
        self.record.end(&self.call, None);
    }
}
