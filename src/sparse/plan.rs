//! A plan repeats an exchange whose targets and sizes stay the same while the contents change. The
//! receivers are discovered once; every run then uses persistent requests and delivers each message
//! to the place that the first exchange gave it.
//!
//! Cost of a run: one message per entry of the list; no discovery, no allocation.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::context::{ExchangeContext, SharedContext};
use super::messages::{Arrivals, Sends};
use super::transport::Transport;
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::{self, Patience};
use crate::mpi::persistent::Persistent;
use crate::observe::{self, Call, Medium, Record};
use crate::progress::Outstanding;
use crate::util::lock::lock;

/// A persistent exchange.
pub struct Plan {
    comm: Arc<Comm>,
    sends: Sends,
    /// Messages of the process to itself: index in the list, and destination.
    own: Vec<(usize, *mut u8)>,
    requests: Persistent,
    yields: bool,
    outstanding: Arc<Outstanding>,
    active: bool,
    /// A start failed half-way, or a process has ended with which the run has messages.
    broken: bool,
    /// The error of a message to oneself that could not be packed. The run continues to its end and
    /// then fails.
    loss: Option<Box<Error>>,
    patience: Patience,
    /// Counters and traces, if the environment asks for them.
    record: Option<Arc<Record>>,
    _tag: Tag,
}

/// The tag of a plan, which no other one has as long as it lives.
struct Tag {
    number: i32,
    all: Arc<Mutex<HashSet<i32>>>,
}

impl Tag {
    fn take(number: i32, all: &Arc<Mutex<HashSet<i32>>>) -> Result<Tag> {
        let is_free = lock(all).insert(number);
        if is_free { Ok(Tag { number, all: Arc::clone(all) }) } else { Err(Error::NoTags.into()) }
    }
}

impl Drop for Tag {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.number);
    }
}

impl Plan {
    /// Makes a plan from a finished exchange. `arrivals` holds its messages, sorted, and must
    /// outlive the plan. `tag` must be unique among plans: see [`ExchangeContext::next_plan`].
    /// Local.
    ///
    /// # Errors
    /// Another plan has the tag, there is no memory, or MPI fails.
    ///
    /// # Safety
    /// The blocks in `sends` must be readable while the plan runs.
    pub unsafe fn new(shared: &SharedContext, sends: Sends, arrivals: &Arrivals, tag: i32) -> Result<Plan> {
        let context = shared.hold();
        let ExchangeContext { transport: Transport { comm, rank, observed, .. }, yields, outstanding, plan_tags, .. } = &*context;
        let held = Tag::take(tag, plan_tags)?;
        let mut requests = Persistent::default();
        // SAFETY: the caller vouches for the blocks and for `arrivals`.
        unsafe {
            for m in arrivals.messages.iter().filter(|m| m.source != *rank) {
                requests.add_receive(m.at, m.bytes, m.source, tag, comm)?;
            }
            for o in sends.list.iter().filter(|o| o.target != *rank) {
                requests.add_send(&o.block, o.target, tag, comm)?;
            }
        }
        let from = (0..sends.list.len()).filter(|&i| sends.list[i].target == *rank);
        let own = from.zip(arrivals.messages.iter().filter(|m| m.source == *rank)).map(|(i, m)| (i, m.at)).collect();
        Ok(Plan {
            comm: Arc::clone(comm),
            own,
            requests,
            yields: *yields,
            outstanding: Arc::clone(outstanding),
            active: false,
            broken: false,
            loss: None,
            patience: Patience::default(),
            record: observed.as_ref().map(observe::Sparse::plan),
            sends,
            _tag: held,
        })
    }

    /// Starts a run.
    pub fn start(&mut self) -> Result<()> {
        if self.active {
            return Err(Error::Active { argument: Argument::new("plan") }.into());
        }
        if self.broken {
            return Err(Error::Lost.into());
        }
        let call = self.record.as_ref().map(|record| record.begin());
        self.patience.restart();
        if let Err(error) = self.requests.start() {
            self.broken = true;
            return Err(self.explain(error));
        }
        self.active = true;
        for &(i, into) in &self.own {
            // SAFETY: whoever made the plan vouches for the blocks; the first exchange stored a
            // message of the same size there.
            if let Err(e) = unsafe { self.sends.list[i].pack(into, self.sends.dense, &self.comm) } {
                self.loss.get_or_insert(e);
            }
        }
        if let (Some(record), Some(call)) = (&self.record, call) {
            self.observe(record, &call);
        }
        Ok(())
    }

    /// Counts what a run sends.
    #[cold]
    fn observe(&self, record: &Record, call: &Call) {
        let all: u64 = self.sends.list.iter().map(|o| o.bytes).sum();
        let own: u64 = self.own.iter().map(|&(i, _)| self.sends.list[i].bytes).sum();
        record.sent(Medium::Mpi, self.sends.list.len() - self.own.len(), all - own);
        record.sent(Medium::Own, self.own.len(), own);
        record.end(call, None);
    }

    /// Returns true if a run is in progress.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Returns true if messages are under way that may never end, so that MPI may still use the
    /// plan's memory.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Returns true if no run is in progress any more. An error of a message ends the run; that a
    /// process has ended does not.
    pub fn test(&mut self) -> Result<bool> {
        if self.active {
            let tested = self.requests.test();
            if !matches!(tested, Ok(false)) {
                (self.active, self.broken) = (false, false);
                let loss = self.loss.take();
                tested.map_err(|error| self.explain(error))?;
                loss.map_or(Ok(()), Err)?;
            }
        }
        if self.active && self.patience.is_over() {
            let dead = self.patience.look(self.comm.view(), self.requests.pending().into_iter());
            if let Some(&rank) = dead.first() {
                self.broken = true;
                return Err(Error::Gone { rank }.into());
            }
        }
        Ok(!self.active)
    }

    /// Returns what has made MPI fail: a process that has ended, if a message goes to or comes from
    /// one.
    #[cold]
    fn explain(&self, error: Box<Error>) -> Box<Error> {
        liveness::explain_messages(error, self.comm.view(), &self.requests.peers())
    }

    /// Waits until the run is done.
    pub fn wait(&mut self) -> Result<()> {
        let outstanding = Arc::clone(&self.outstanding);
        let began = self.record.as_ref().map(|_| Instant::now());
        outstanding.until(self.yields, || self.test())?;
        if let (Some(record), Some(began)) = (&self.record, began) {
            record.waited(began);
        }
        Ok(())
    }
}
