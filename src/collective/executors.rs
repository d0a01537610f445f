//! Executors of a neighborhood: made for a schedule, and lent to requests.

use std::sync::{Arc, Mutex};

use crate::collective::Purpose;
use crate::collective::fuse::Joined;
use crate::collective::transport::Transport;
use crate::collective::verify::Findings;
use crate::exec::combine::Combine;
use crate::exec::delivered::Delivered;
use crate::exec::forward::Forward;
use crate::exec::p2p::P2p;
use crate::exec::rma::link::Link;
use crate::exec::rma::{OwnEdges, Rma};
use crate::exec::shm::channel::Channels;
use crate::exec::shm::{self, Shm};
use crate::exec::waiting::Waiting;
use crate::exec::{Any, Executor};
use crate::mpi::comm::Owned as Comm;
use crate::observe::Record;
use crate::schedule::{Block, Op, Schedule};
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::lock::lock;

/// Makes the executors of a neighborhood, and keeps those that requests have given back.
pub struct ExecutorPool {
    /// The private communicator.
    pub(super) comm: Arc<Comm>,
    /// A communicator of this process alone, for executors that combine blocks.
    pub(super) self_comm: Option<Arc<Comm>>,
    /// The lists.
    pub(super) neighborhood: Arc<Neighborhood>,
    /// How a process waits.
    pub(super) waiting: Waiting,
    /// Most rounds whose messages are under way at a time.
    pub(super) window: u32,
    /// Memory shared with neighbors, if there is any.
    pub(super) channels: Option<Arc<Channels>>,
    /// Carries blocks between processes that share no memory.
    pub(super) transport: Arc<Transport>,
    /// Counters and trace, where the environment asks for them.
    pub(super) record: Option<Arc<Record>>,
    /// Executors that wait for another request.
    pub(super) spare: Mutex<Vec<Lease>>,
}

/// An executor lent to a request.
pub struct Lease {
    /// The executor.
    pub executor: Any,
    /// Index of its tag among the request's tags.
    pub tag: usize,
    any_order: bool,
    /// True if other requests can use it later.
    reusable: bool,
}

// SAFETY: an executor holds addresses in the caller's buffers, which whoever completes the call may
// access, memory of its own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Lease {}

impl Lease {
    /// A lease that ends with its request.
    fn once(executor: Any) -> Lease {
        Lease { executor, tag: 0, any_order: false, reusable: false }
    }
}

impl ExecutorPool {
    /// The private communicator.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    /// The lists.
    pub fn neighborhood(&self) -> &Neighborhood {
        &self.neighborhood
    }

    /// How the executors wait.
    pub fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Memory shared with neighbors, if there is any.
    pub fn channels(&self) -> Option<&Channels> {
        self.channels.as_deref()
    }

    /// Carries blocks between processes that share no memory.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Counters and trace, where the environment asks for them.
    #[inline]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_deref()
    }

    /// True if a process that waits must yield its core.
    pub fn yields(&self) -> bool {
        self.waiting == Waiting::Yield || self.channels.as_ref().is_some_and(|channels| channels.oversubscribed)
    }

    /// True if edges to this process bypass MPI in executors that may share memory.
    pub fn is_near(&self, rank: Rank) -> bool {
        self.channels.as_ref().is_some_and(|channels| rank == self.neighborhood.rank() || channels.has(rank))
    }

    /// Makes an executor for a schedule that is not folded.
    pub fn executor(&self, schedule: &Schedule, purpose: Purpose) -> Any {
        self.observed(self.unobserved(schedule, purpose))
    }

    fn observed(&self, mut executor: Any) -> Any {
        if let Some(record) = &self.record {
            executor.observe(record);
        }
        executor
    }

    fn unobserved(&self, schedule: &Schedule, purpose: Purpose) -> Any {
        let (comm, me) = (Arc::clone(&self.comm), self.neighborhood.rank());
        let forwards = schedule.algorithm().entry().forwards();
        let link = self.puts_by(schedule).filter(|_| purpose.shares && purpose.fields == 1);
        if let Some(channels) = self.channels.as_ref().filter(|_| purpose.shares && !forwards) {
            let setup = shm::Setup {
                schedule,
                neighborhood: &self.neighborhood,
                combine: purpose.combine,
                started_only: purpose.request,
                fields: purpose.fields,
                waiting: self.waiting,
                window: self.window,
                link,
            };
            return Any::Shm(Box::new(Shm::new(channels, comm, self.self_comm.clone(), &setup)));
        }
        if let Some(link) = link {
            return self.putting(link, schedule, purpose.combine);
        }
        let fold = match (purpose.combine, &self.self_comm) {
            (Some(combine @ Combine::Accumulate(_)), Some(self_comm)) => {
                let inner = self.unobserved(schedule, Purpose { combine: None, ..purpose });
                return self.delivered(inner, combine, schedule, self_comm);
            }
            (Some(Combine::Reduce(order)), _) => Some(order),
            _ => None,
        };
        if forwards {
            return Any::Forward(Box::new(Forward::new(comm, me, self.waiting, schedule)));
        }
        match fold {
            Some(order) => P2p::new(comm, self.self_comm.clone(), me, self.waiting, self.window, &schedule.folded(order)).into(),
            None => P2p::new(comm, None, me, self.waiting, self.window, schedule).into(),
        }
    }

    /// Makes an executor that puts the blocks of a schedule into a window. It combines them there
    /// if there is one round. A slot keeps one message, and what is combined in the order of the
    /// sources would wait there for a later round, which may need the slot: blocks of several
    /// rounds are combined in memory of their own.
    fn putting(&self, link: &Arc<Link>, schedule: &Schedule, combine: Option<Combine>) -> Any {
        let (n, waiting) = (&self.neighborhood, self.waiting);
        let rma = |own: OwnEdges| Rma::new(link, &self.comm, n, schedule, own, waiting, 1);
        match (combine, &self.self_comm) {
            (Some(combine), Some(self_comm)) if schedule.algorithm().entry().one_round() => {
                Any::Rma(Box::new(rma(OwnEdges::Combined(combine, Arc::clone(self_comm)))))
            }
            (Some(combine), Some(self_comm)) => {
                let inner = Any::Rma(Box::new(rma(OwnEdges::Copied).with_exact_lengths()));
                self.delivered(inner, combine, schedule, self_comm)
            }
            _ => Any::Rma(Box::new(rma(OwnEdges::Copied))),
        }
    }

    /// Makes an executor that combines what another one delivers.
    fn delivered(&self, inner: Any, combine: Combine, schedule: &Schedule, self_comm: &Arc<Comm>) -> Any {
        let (sources, me) = (self.neighborhood.sources().len(), self.neighborhood.rank());
        let comms = [Arc::clone(&self.comm), Arc::clone(self_comm)];
        Any::Delivered(Box::new(Delivered::new(inner, combine, schedule, sources, me, comms)))
    }

    /// Lends an executor that is bound to nothing; one that an earlier request has given back, if
    /// there is one. `combine` tells how it combines blocks, if it does.
    ///
    /// `private`: the request's starts match only with one another, and so have no place in rings
    /// that other calls use too. `settled`: the schedule is final, so that the executor can be used
    /// again.
    pub fn lend(&self, schedule: &Schedule, combine: Option<Combine>, private: bool, settled: bool) -> Lease {
        let any_order = combine.is_some_and(Combine::is_any_order);
        let mut spare = lock(&self.spare);
        if !private && let Some(position) = spare.iter().position(|lease| lease.any_order == any_order) {
            let mut lease = spare.swap_remove(position);
            lease.tag = 0;
            let watches = true;
            lease.executor.forget_datatypes(watches);
            return lease;
        }
        let executor = self.executor(schedule, Purpose { combine, request: true, fields: 1, shares: !private });
        Lease { executor, tag: 0, any_order, reusable: !private && settled }
    }

    /// Lends an executor for several fields on the edges to near processes. `None` where no memory
    /// is shared. For operations that do not reduce.
    pub fn lend_near(&self, schedule: &Schedule, fields: usize) -> Option<Lease> {
        self.channels.as_ref()?;
        let purpose = Purpose { combine: None, request: true, fields, shares: true };
        Some(Lease::once(self.executor(&schedule.retained(|_| false), purpose)))
    }

    /// Lends an executor that puts several fields for all edges to far processes. `None` where
    /// messages carry them. For operations that do not reduce.
    pub fn lend_puts(&self, schedule: &Schedule, fields: usize) -> Option<Lease> {
        let link = self.puts_by(schedule)?;
        let own = if self.channels.is_some() { OwnEdges::Left } else { OwnEdges::Copied };
        let executor = Rma::new(link, &self.comm, &self.neighborhood, schedule, own, self.waiting, fields);
        Some(Lease::once(self.observed(Any::Rma(Box::new(executor)))))
    }

    /// The window into which a schedule puts, if it does.
    fn puts_by(&self, schedule: &Schedule) -> Option<&Arc<Link>> {
        self.transport.link.as_ref().filter(|_| self.transport.puts_by(schedule.algorithm()))
    }

    /// Lends an executor for the edges to far processes, without those that are joined. `None`
    /// where no such edges are left. For operations that do not reduce.
    pub fn lend_far(&self, schedule: &Schedule, joined: Option<&Joined>, shares: bool) -> Option<Lease> {
        let near = |rank: Rank| shares && self.is_near(rank);
        let schedule = schedule.retained(|op| match *op {
            Op::Recv { into: Block::Output(source), from, .. } => !near(from) && joined.is_none_or(|j| !j.source(source)),
            Op::Send { block: Block::Input(target), to, .. } => !near(to) && joined.is_none_or(|j| !j.target(target)),
            Op::Recv { from, .. } => !near(from),
            Op::Send { to, .. } => !near(to),
            Op::Copy { .. } | Op::Reduce { .. } => !near(self.neighborhood.rank()),
        });
        let purpose = Purpose { combine: None, request: true, fields: 1, shares: false };
        (!schedule.ops().is_empty()).then(|| Lease::once(self.executor(&schedule, purpose)))
    }

    /// Lends an executor for those edges that verification has found good: neighbors at their other
    /// ends count on this process.
    ///
    /// `None` as findings: this process's own arguments are in error. It then serves processes that
    /// count on what it forwards, if the schedule forwards anything.
    pub fn lend_for_good(&self, schedule: &Schedule, combine: Option<Combine>, findings: Option<&Findings>) -> Option<Lease> {
        let purpose = Purpose { combine, request: true, fields: 1, shares: false };
        let lease = |schedule: &Schedule| Lease::once(self.executor(schedule, purpose));
        let forwards = schedule.algorithm().entry().forwards();
        let Some(findings) = findings else {
            return forwards.then(|| lease(&schedule.without(|_| true)));
        };
        let good = |block: &Block| match *block {
            Block::Input(t) => findings.targets[t as usize],
            Block::Output(s) => findings.sources[s as usize],
            Block::Scratch(_) | Block::Packet(_) => true,
        };
        let good_part = match schedule {
            schedule if forwards => schedule.without(|block| !good(&block)),
            schedule => schedule.retained(|op| match op {
                Op::Recv { into, .. } => good(into),
                Op::Send { block, .. } => good(block),
                Op::Copy { from, into } | Op::Reduce { from, into } => good(from) && good(into),
            }),
        };
        if let Some(link) = self.puts_by(schedule) {
            return Some(Lease::once(self.observed(self.putting(link, &good_part, combine))));
        }
        Some(lease(&good_part))
    }

    /// Takes back an executor that is not running.
    pub fn give_back(&self, lease: Lease) {
        if lease.reusable {
            lock(&self.spare).push(lease);
        }
    }
}
