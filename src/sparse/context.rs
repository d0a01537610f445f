//! The state that a communicator keeps for its sparse exchanges, and the choice of their protocol.
//!
//! The first exchange on a communicator attaches an [`ExchangeContext`] to it. The communicator and
//! everything that runs on it own the context together.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use super::dispatch::{Resources, Run};
use super::protocols::inbox;
use super::receive_ring::ReceiveRing;
use super::stats::Stats;
use super::transport::{FIRST_PLAN_TAG, Transport};
use crate::datatype::known::Known;
use crate::environment;
use crate::error::{Error, Result};
use crate::logging;
use crate::model::{Load, Loggp, Protocol};
use crate::mpi::attribute::{Key, freed_flag};
use crate::mpi::barrier::Barrier;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::counters::Counters;
use crate::mpi::of_process::OfProcess;
use crate::mpi::{self, Communicator, message};
use crate::observe;
use crate::progress::{self, Outstanding};
use crate::select::hints::origins::Origin;
use crate::select::hints::{SparseHints, site_loggp};
use crate::select::{Chooser, Class, ProtocolChoice, ProtocolReason};
use crate::shm::node::{Note, Team};
use crate::util::cast::to_int;
use crate::util::lock::{if_free, lock};

/// How an exchange is called. All processes must use the same form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The call that starts the exchange also completes it.
    Blocking,
    /// Starting the exchange must not wait for other processes: nothing is created that takes all
    /// of them, unless a hint asks for it.
    Nonblocking,
}

/// The state that a communicator keeps for its sparse exchanges.
pub struct ExchangeContext {
    pub(super) transport: Transport,
    pub(super) resources: Resources,
    /// True if a waiting process must yield its core: processes share cores, and the MPI library
    /// does not yield by itself.
    pub(super) yields: bool,
    /// True if there are more processes than cores.
    pub(super) oversubscribed: bool,
    /// True if windows can be created.
    windows: bool,
    /// Processes of the fullest node.
    per_node: u32,
    /// The hints of the environment, which apply to calls without their own.
    pub(super) hints: SparseHints,
    /// The machine's parameters if no hint gives them: those set on the communicator, or the
    /// site's.
    pub(super) machine: Option<(Loggp, Origin)>,
    /// The hints that apply to the last exchange, or to one that gives none.
    pub(super) in_effect: SparseHints,
    /// The maximum stats of the last exchange that computed them.
    stats: Option<Stats>,
    /// The class and candidate for which the duration of the last exchange will be recorded.
    ticket: Option<(Class, usize)>,
    /// True while an exchange is running, and for good after one has failed whose messages may
    /// still be in flight.
    pub(super) running: bool,
    pub(super) chooser: Chooser,
    pub(super) choice: Option<ProtocolChoice>,
    /// The choice for an exchange that has failed on this process before its first message. The
    /// others may run it: until this process joins them, their messages may arrive in its buffers.
    pub(super) next_choice: Option<ProtocolChoice>,
    /// Cached facts about the datatypes that recent calls sent.
    pub send: Known,
    /// Cached facts about the datatypes that recent calls received.
    pub recv: Known,
    /// Plans that all processes have tried to make so far.
    plans: u64,
    largest_tag: i32,
    /// Tags of this process's plans that exist.
    pub(super) plan_tags: Arc<Mutex<HashSet<i32>>>,
    /// The operations that this process must keep moving.
    pub outstanding: Arc<Outstanding>,
}

/// A context that the communicator and its exchanges own together.
pub type SharedContext = Arc<GuardedContext>;

/// A context behind a lock. The lock is held for a single step at a time, and never while code of
/// the caller's runs, but that MPICH may free a communicator in such a step, with its attributes.
pub struct GuardedContext {
    context: Mutex<ExchangeContext>,
    /// The window of RSX, once it has been made.
    counters: Arc<OnceLock<Arc<Counters>>>,
    /// True once the communicator has been freed.
    freed: Arc<AtomicBool>,
}

// SAFETY: the contents are used only by the thread that holds the lock; MPI handles may be used by
// any thread that may call MPI.
unsafe impl Send for GuardedContext {}
// SAFETY: as above.
unsafe impl Sync for GuardedContext {}

impl GuardedContext {
    /// Guards the context of a communicator.
    fn new(context: ExchangeContext, comm: Communicator) -> Result<SharedContext> {
        let counters = Arc::clone(context.resources.sums.counters());
        Ok(Arc::new(GuardedContext { context: Mutex::new(context), counters, freed: freed_flag(comm)? }))
    }

    /// Locks the context.
    #[inline]
    pub fn hold(&self) -> MutexGuard<'_, ExchangeContext> {
        lock(&self.context)
    }

    /// Locks the context, unless it is locked.
    pub fn hold_if_free(&self) -> Option<MutexGuard<'_, ExchangeContext>> {
        if_free(&self.context)
    }

    /// Frees the window, if there is one. A process whose exchange is still running cannot free its
    /// window: then no process frees it before MPI ends. Collective.
    pub fn free_window_if_idle(&self) {
        if let Some(counters) = self.counters.get() {
            // Whoever has the lock moves an exchange: under MPICH this thread may, whose step frees
            // the communicator late. Others may wait for that exchange, which needs the lock.
            let idle = self.hold_if_free().is_some_and(|context| !context.running);
            // errors cannot be reported
            let _ = counters.free(idle);
        }
    }

    /// Returns a flag that is true once the communicator has been freed.
    pub fn freed(&self) -> &Arc<AtomicBool> {
        &self.freed
    }
}

/// The attribute of a communicator that has a context.
struct CommAttr(SharedContext);

impl Drop for CommAttr {
    fn drop(&mut self) {
        // freeing the communicator, which runs this, is collective
        self.0.free_window_if_idle();
    }
}

static CONTEXT: Key<CommAttr> = Key::new();

/// The machine's parameters set on a communicator before its first exchange.
static MACHINE: Key<Loggp> = Key::new();

/// Dropped when MPI is finalized.
static AT_FINALIZE: OfProcess<Finalizer> = OfProcess::new();

/// Cancels the receives that are posted in advance.
#[derive(Default)]
struct Finalizer {
    contexts: Mutex<Vec<Weak<GuardedContext>>>,
}

impl Drop for Finalizer {
    fn drop(&mut self) {
        let all: Vec<SharedContext> = lock(&self.contexts).iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|context| context.hold().resources.close());
    }
}

/// Returns the context of a communicator. The first call on a communicator is collective: it makes
/// two duplicates, two allgathers and two reductions of a few words, and, if all processes are on
/// one node, memory that they share.
#[inline]
pub fn context(comm: Communicator) -> Result<SharedContext> {
    // SAFETY: the value lives as long as the communicator.
    match unsafe { CONTEXT.value(comm)? } {
        Some(CommAttr(shared)) => Ok(Arc::clone(shared)),
        None => create(comm),
    }
}

/// Sets the machine's parameters for the exchanges of a communicator. All of its processes call
/// this with the same parameters.
pub fn set_machine(comm: Communicator, machine: &Loggp) -> Result<()> {
    // SAFETY: the value lives as long as the communicator; no reference to an earlier one is kept.
    unsafe {
        match CONTEXT.value(comm)? {
            Some(CommAttr(shared)) => {
                let mut context = shared.hold();
                context.machine = Some((*machine, Origin::Communicator));
                (context.chooser, context.ticket) = (Chooser::default(), None);
                Ok(())
            }
            None => MACHINE.set(comm, *machine).map(|_| ()),
        }
    }
}

#[cold]
fn create(comm: Communicator) -> Result<SharedContext> {
    logging::start();
    if comm.is_inter()? {
        return Err(Error::SparseIntercommunicator.into());
    }
    let shared = ExchangeContext::make(comm)?;
    // SAFETY: neither attribute is replaced while someone refers to it.
    unsafe { CONTEXT.set(comm, CommAttr(Arc::clone(&shared))) }?;
    Ok(shared)
}

/// Everything of a context that can fail on one process alone.
struct LocalParts {
    hints: SparseHints,
    machine: Option<(Loggp, Origin)>,
    receives: ReceiveRing,
    windows: bool,
    largest_tag: i32,
    outstanding: Arc<Outstanding>,
}

impl ExchangeContext {
    fn new(user: Communicator) -> Result<ExchangeContext> {
        let comm = Arc::new(Comm::duplicate(user)?);
        // SAFETY: the values live as long as the communicator, and are copied.
        let set = unsafe {
            match CONTEXT.value(user)? {
                Some(CommAttr(shared)) => {
                    shared.hold().machine.filter(|machine| machine.1 == Origin::Communicator).map(|set| set.0)
                }
                None => MACHINE.value(user)?.copied(),
            }
        };
        let hints = SparseHints::from_environment(environment::variable, environment::text).and_then(|hints| {
            let machine = match set {
                Some(machine) => Some((machine, Origin::Communicator)),
                None => site_loggp(environment::variable, environment::text)?.map(|site| (site, Origin::File)),
            };
            Ok((hints, machine))
        });
        let (rank, size) = (comm.rank()?, comm.size()?);
        let node = Team::new(&comm, Note::default())?;
        let receives = ReceiveRing::new(&comm);
        let local = hints.and_then(|(hints, machine)| {
            Ok(LocalParts {
                hints,
                machine,
                receives: receives?,
                windows: comm.can_have_windows()?,
                largest_tag: message::largest_tag()?,
                outstanding: progress::of_process()?,
            })
        });
        // the machine's parameters in effect must agree as well
        let agreed = local.as_ref().map_or(-1, |local| local.hints.with_machine(local.machine).agreed());
        let [low, high, nodes] = coll::allreduce(&comm, [agreed, -agreed, -i64::from(node.size())], Reduction::Min)?;
        // an error on one process is reported on all, with its text
        let local = if low < 0 { coll::share_outcome(&comm, local)? } else { local? };
        if low != -high {
            return Err(Error::Disagreement { what: SparseHints::AGREED.into() }.into());
        }
        let LocalParts { hints, machine, receives, windows, largest_tag, outstanding } = local;
        // Created here, so that nonblocking exchanges have them too. All processes take the same
        // branch: either every process sees all of them on its node, or none does.
        let inboxes = if size > 1 && node.size() == size { inbox::Inboxes::new(node.group())? } else { None };
        let observed = observe::Sparse::new(user);
        if let Some(observed) = &observed {
            comm.count(observed.tally());
            receives.count(observed.tally());
        }
        Ok(ExchangeContext {
            yields: node.oversubscribed() && !mpi::wait_yields(),
            oversubscribed: node.oversubscribed(),
            windows,
            per_node: u32::try_from(-nodes).unwrap_or(1),
            hints,
            machine,
            in_effect: hints.with_machine(machine),
            stats: None,
            ticket: None,
            running: false,
            chooser: Chooser::default(),
            choice: None,
            next_choice: None,
            send: Known::default(),
            recv: Known::default(),
            plans: 0,
            largest_tag,
            plan_tags: Arc::default(),
            outstanding,
            resources: Resources::new(receives, inboxes),
            transport: Transport::new(comm, rank, size, observed),
        })
    }

    /// Creates a context that programs use, which is closed while MPI is finalized if it still
    /// exists then. Its owner is a communicator, or a window. Collective over `comm`, an
    /// intracommunicator.
    pub fn make(comm: Communicator) -> Result<SharedContext> {
        let shared = GuardedContext::new(ExchangeContext::new(comm)?, comm)?;
        let finalizer = AT_FINALIZE.get()?;
        let mut all = lock(&finalizer.contexts);
        all.retain(|w| w.strong_count() > 0);
        all.push(Arc::downgrade(&shared));
        drop(all);
        Ok(shared)
    }

    /// Makes what the protocol of a hint needs that takes all processes. Collective.
    pub fn prepare(&mut self, hints: &SparseHints) -> Result<()> {
        match hints.protocol {
            Some(Protocol::Rsx) if !self.windows => Ok(()),
            Some(protocol) if self.transport.size > 1 => {
                Run::make(protocol, hints.node_size, &mut self.transport, &mut self.resources)
            }
            _ => Ok(()),
        }
    }

    /// True if the others may run an exchange that this process could not start.
    pub fn is_awaited(&self) -> bool {
        self.next_choice.is_some()
    }

    /// Returns true if a waiting process must yield its core, and true if there are more processes
    /// than cores.
    pub fn waiting(&self) -> (bool, bool) {
        (self.yields, self.oversubscribed)
    }

    /// Creates a context for measurements, which is dropped before MPI is finalized. It may create
    /// a window even where other parts of the world could create one at the same time, which Open
    /// MPI 4 cannot do: none may do so meanwhile. Collective over `comm`, an intracommunicator.
    pub fn for_measurement(comm: Communicator) -> Result<SharedContext> {
        let mut context = ExchangeContext::new(comm)?;
        context.windows = true;
        GuardedContext::new(context, comm)
    }

    /// Makes the record of a window whose epochs end by these exchanges; `None` if nothing is
    /// observed.
    pub fn record_window(&self) -> Option<Arc<observe::Record>> {
        self.transport.observed.as_ref().map(observe::Sparse::window)
    }

    /// Returns the private communicator.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.transport.comm
    }

    /// Returns the number of processes.
    pub fn size(&self) -> u32 {
        self.transport.size
    }

    /// Returns the hints of the environment.
    pub fn environment_hints(&self) -> SparseHints {
        self.hints
    }

    /// Returns true if no exchange can be started, as one is under way.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Returns the number of processes on the fullest node, under these hints.
    pub fn per_node(&self, hints: &SparseHints) -> u32 {
        hints.node_size.map_or(self.per_node, |n| n.min(self.size()))
    }

    /// Returns true if all processes share memory and these hints do not say otherwise.
    pub fn shares_memory(&self, hints: &SparseHints) -> bool {
        self.resources.inboxes.is_some() && self.per_node(hints) >= self.size()
    }

    /// Returns the tag of the next plan. It is the same on all processes if each calls this once an
    /// exchange has ended that makes a plan, whatever came of it. After as many plans as there are
    /// tags, an older one may still have it: then [`Plan::new`](super::plan::Plan::new) fails.
    pub fn next_plan(&mut self) -> i32 {
        let tags = u64::from((self.largest_tag - FIRST_PLAN_TAG + 1).unsigned_abs());
        let tag = FIRST_PLAN_TAG + to_int::<i32>(self.plans % tags);
        self.plans += 1;
        tag
    }

    /// Chooses the protocol of the next exchange; the same on all processes.
    pub(super) fn choose(&mut self, hints: &SparseHints, form: Form) -> ProtocolChoice {
        let size = self.size();
        let last = self.stats.unwrap_or_default();
        let (messages, bytes) = (Stats::middle(last.messages), Stats::middle(last.bytes));
        let load = Load {
            processes: size,
            per_node: self.per_node(hints),
            messages: u32::try_from(messages).unwrap_or(u32::MAX),
            bytes: bytes.checked_div(messages).unwrap_or(0),
        };
        let like = self.stats.map(|last| (last.messages, last.bytes));
        let shares = self.shares_memory(hints);
        let choice = self.chooser.choose(hints, &load, like, shares);
        let unable = if choice.protocol == Protocol::Inbox && !shares && size > 1 {
            ProtocolReason::NoMemory
        } else if choice.protocol == Protocol::Rsx && !self.windows {
            ProtocolReason::NoWindow
        } else if form == Form::Nonblocking && hints.protocol.is_none() && self.resources.lacks(choice.protocol, hints.node_size)
        {
            ProtocolReason::Local
        } else {
            return choice;
        };
        self.chooser.forget();
        ProtocolChoice { protocol: Protocol::Nbx, why: unable }
    }

    /// Ends the running exchange, whose calls took an encoded `time` on this process. Returns the
    /// marks of all processes.
    pub(super) fn finish(&mut self, time: u16) -> u8 {
        let learned = self.transport.learned.take();
        if let Some(largest) = learned {
            self.stats = Some(largest);
            // the duration that travels with an exchange is that of the one before
            if let Some(ticket) = self.ticket.take() {
                self.chooser.enter(ticket, largest.time);
            }
        }
        self.transport.parity ^= 1;
        self.transport.time = time;
        self.ticket = self.chooser.ticket();
        self.running = false;
        learned.map_or(0, |largest| largest.marks)
    }

    /// Describes, in a few lines, which protocol served the last exchange, and why.
    pub fn describe(&self) -> String {
        let waiting =
            if self.yields { "polling and yielding the core, as the node has more processes than cores" } else { "polling" };
        let hints = self.in_effect.describe();
        let rank = self.transport.rank;
        match &self.choice {
            None => format!("sparse exchange on process {rank}: none yet\n{hints}"),
            Some(choice) => format!(
                "sparse exchange on process {rank}: {} processes, at most {} on a node\n\
                 protocol {}: {}\n\
                 waiting: {waiting}\n\
                 {hints}",
                self.size(),
                self.per_node,
                choice.protocol.name(),
                choice.why,
            ),
        }
    }
}

impl Drop for ExchangeContext {
    fn drop(&mut self) {
        self.resources.close();
        if self.running || self.next_choice.is_some() {
            // messages of an exchange that has failed, or whose start has, may still be in flight
            // in these buffers
            std::mem::forget(std::mem::replace(&mut self.transport.barrier, Barrier::new(0, 1, 0, Stats::merge)));
            self.resources.leak_buffers();
        }
    }
}
