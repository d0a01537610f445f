//! Dynamic sparse data exchange: processes know whom they send to, nobody knows who will send to them.
//!
//! One protocol is one file: it finds out what comes, and brings it into the [`Inbox`]. All are state machines that never block, so that blocking,
//! nonblocking and streaming calls share them. Messages travel on a private communicator ([`Wires`]) as they lie at the sender, and are received as
//! packed bytes; messages to oneself are copied.
//!
//! Exchanges on a communicator follow one another without a barrier between them: a process that is through may begin the next one while another one
//! is still in this one. No process gets through exchange n + 1 before all have begun it, whatever the protocol, so that two tags which alternate keep
//! the messages apart.
//!
//! With an exchange travels the largest number of messages and of bytes that a process sends ([`Stats`]): with that, which all processes then know,
//! the next protocol is chosen. Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange, 2010.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use crate::environment;
use crate::error::{Class as ErrorClass, Error, Result};
use crate::logging;
use crate::measure;
use crate::model::{Load, Loggp, Protocol};
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::datatype::Known;
use crate::mpi::liveness::Patience;
use crate::mpi::{self, MPI_Comm, message, window};
use crate::observe;
use crate::progress::{self, Advance, Outstanding};
use crate::select::hints::origins::Origin;
use crate::select::hints::{SparseHints, site_loggp};
use crate::select::{Chooser, Class, ProtocolChoice, UNMEASURED, WhyProtocol, time_code};
use crate::shm::node;

mod barrier;
mod census;
pub mod mailbox;
mod mirror;
pub mod plan;
mod protocols;
pub mod timing;

use barrier::Barrier;
use mailbox::{Inbox, Outbox, Outgoing, Sends};
use protocols::{crystal, inbox, nbx, nbx_node, nbx_probe, pcx, pex, rsx};

/// What the processes tell each other with an exchange, of which all then know the largest. Numbers of messages and bytes are told as the number of
/// their binary digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Stats {
    /// How long the exchange before took, as a code; see `select`.
    time: u16,
    /// Messages that a process sends to others.
    messages: u16,
    /// Bytes that it sends to others.
    bytes: u16,
}

impl Stats {
    fn of(sends: &Sends, wires: &Wires) -> Stats {
        let others = sends.list.iter().filter(|o| o.target != wires.rank);
        let (messages, bytes) = others.fold((0u64, 0u64), |(n, sum), o| (n + 1, sum.saturating_add(o.bytes)));
        let digits = |n: u64| (u64::BITS - n.leading_zeros()) as u16;
        Stats { time: wires.time, messages: digits(messages.min(u32::MAX.into())), bytes: digits(bytes) }
    }

    /// The larger of each.
    fn max(self, other: Stats) -> Stats {
        Stats { time: self.time.max(other.time), messages: self.messages.max(other.messages), bytes: self.bytes.max(other.bytes) }
    }

    /// As a number of [`STATS_BITS`] bits.
    fn word(self) -> u32 {
        u32::from(self.time) << 13 | u32::from(self.messages) << 7 | u32::from(self.bytes)
    }

    fn from_word(word: u32) -> Stats {
        Stats { time: (word >> 13) as u16, messages: (word >> 7 & 0x3f) as u16, bytes: (word & 0x7f) as u16 }
    }

    /// A number in the middle of those that have so many digits.
    fn middle(digits: u16) -> u64 {
        let low = 1u64.checked_shl(u32::from(digits).saturating_sub(1)).unwrap_or(1 << 63);
        if digits < 2 { u64::from(digits) } else { low + low / 2 }
    }
}

/// 11 for the time, 6 for the digits of messages, 7 for those of bytes.
const STATS_BITS: u32 = 24;

/// What a tag on the private communicator means; those of [`Kind::Data`], [`Kind::Rest`] and [`Kind::Lost`] alternate
/// between exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Messages.
    Data,
    /// Long messages that have been announced.
    Rest,
    /// Of the barrier.
    Barrier,
    /// Of the census.
    Census,
    /// Of the crystal router: two, for heads and for what is longer.
    Router,
    /// In the place of messages that could not be sent; alternates as `Data` does.
    Lost,
}

/// Tags from here on belong to plans.
const FIRST_PLAN: i32 = 16;

/// What hangs on a communicator for sparse exchanges.
pub struct Wires {
    comm: Arc<Comm>,
    rank: u32,
    size: u32,
    /// Whether a process that waits must give its core away: where processes share cores, unless the MPI does that.
    yields: bool,
    /// Whether processes share cores.
    crowded: bool,
    /// Whether windows can be made.
    windows: bool,
    /// Processes of the fullest node.
    per_node: u32,
    /// The hints of the environment, which hold where a call has none.
    hints: SparseHints,
    /// The machine's parameters, where no hint says them: the communicator's, or the site's.
    machine: Option<(Loggp, Origin)>,
    /// The hints in effect in the last exchange, or in one without any.
    in_effect: SparseHints,
    matched: bool,
    /// Of the exchange that runs or comes next: 0 or 1.
    parity: i32,
    /// Largest values of the last exchange that told them.
    stats: Option<Stats>,
    /// Code of the time that the last exchange took here.
    time: u16,
    /// What that time is for.
    ticket: Option<(Class, usize)>,
    running: bool,
    /// The first message of the running exchange that could not be sent, or did not come: the exchange
    /// goes on to its end, as others count on it, and then fails.
    loss: Option<Box<Error>>,
    /// Probes in vain.
    vain: u32,
    chooser: Chooser,
    choice: Option<ProtocolChoice>,
    /// Processes of each node, if the running exchange's hints say that.
    node_size: Option<u32>,
    /// What is known of the datatypes of the last calls.
    pub send: Known,
    /// The same of what is received.
    pub recv: Known,
    plans: u64,
    largest_tag: i32,
    /// What the process has under way.
    pub outstanding: Arc<Outstanding>,
    barrier: Barrier,
    slots: Option<nbx::Slots>,
    words: pex::Words,
    census: Option<census::Census>,
    sums: Option<rsx::Sums>,
    router: Option<crystal::Router>,
    nodes: Option<nbx_node::Nodes>,
    /// Where all processes share memory.
    inboxes: Option<inbox::Inboxes>,
    /// What is counted and traced, where the environment asks for it.
    observed: Option<observe::Sparse>,
}

/// Wires, which the communicator and what runs on it own together.
pub type Shared = Arc<Guarded>;

/// Wires behind a lock, which is held for no longer than a step takes: no code of the caller's runs under it.
pub struct Guarded {
    wires: Mutex<Wires>,
    /// Whether the communicator has been freed.
    orphaned: AtomicBool,
}

// SAFETY: what is inside is used by the thread that holds the lock; MPI handles may be used in any thread that may call MPI.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn new(wires: Wires) -> Guarded {
        Guarded { wires: Mutex::new(wires), orphaned: AtomicBool::new(false) }
    }

    /// The wires.
    #[inline]
    pub fn hold(&self) -> MutexGuard<'_, Wires> {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the communicator has been freed.
    pub fn is_orphaned(&self) -> bool {
        self.orphaned.load(Ordering::Relaxed)
    }
}

/// What hangs on the communicator.
struct Hung(Shared);

impl Drop for Hung {
    fn drop(&mut self) {
        self.0.orphaned.store(true, Ordering::Relaxed);
        let mut wires = self.0.hold();
        // Freeing a window is collective, as freeing the communicator is, in which this runs; at the end of MPI there is no window any more. A process
        // whose exchange still runs cannot free it: then none does before the end of MPI.
        if wires.sums.is_some() && mpi::is_usable() {
            let idle = coll::allreduce(&wires.comm, [i64::from(!wires.running)], Reduction::Min);
            if idle.is_ok_and(|[idle]| idle == 1) {
                wires.sums = None;
            }
        }
    }
}

static WIRES: Key<Hung> = Key::new();

/// Hangs on `MPI_COMM_SELF`, whose attributes MPI drops first when it is finalized: takes back the receives that are posted ahead, and frees windows.
static AT_FINALIZE: Key<Finalizer> = Key::new();

/// Held while wires are entered there.
static ENTERING: Mutex<()> = Mutex::new(());

#[derive(Default)]
struct Finalizer {
    wires: Mutex<Vec<Weak<Guarded>>>,
    /// Windows whose communicators went before they could be freed.
    windows: Mutex<Vec<rsx::Sums>>,
}

impl Drop for Finalizer {
    fn drop(&mut self) {
        let all: Vec<Shared> = lock(&self.wires).iter().filter_map(Weak::upgrade).collect();
        let mut windows = std::mem::take(&mut *lock(&self.windows));
        for wires in &all {
            let mut wires = wires.hold();
            wires.close();
            // freeing a window takes all processes
            match wires.comm.is_whole() {
                Ok(()) => windows.extend(wires.sums.take()),
                Err(_) => std::mem::forget(wires.sums.take()),
            }
        }
        // freeing a window is collective, as making it was: in the order in which they were made no process waits for another one in a circle
        windows.sort_by_key(rsx::Sums::made);
        windows.into_iter().for_each(drop);
    }
}

/// A list, also after a panic in another thread.
fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The wires of a communicator. The first call on it is collective: two duplicates, a split by nodes, two
/// reductions of a few words, and where all processes are on one node the making of memory that they share.
///
/// # Safety
/// `comm` must be a communicator.
#[inline]
pub unsafe fn wires(comm: MPI_Comm) -> Result<Shared> {
    // SAFETY: the caller vouches for `comm`.
    unsafe {
        match WIRES.get(comm)?.as_ref() {
            Some(Hung(shared)) => Ok(Arc::clone(shared)),
            None => make_wires(comm),
        }
    }
}

/// Lets the sparse exchanges of a communicator know the machine's parameters that have been set on it. All processes of it call this.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn set_machine(comm: MPI_Comm, machine: Loggp) -> Result<()> {
    // SAFETY: the caller vouches for `comm`.
    if let Some(Hung(shared)) = unsafe { WIRES.get(comm)?.as_ref() } {
        let mut wires = shared.hold();
        wires.machine = Some((machine, Origin::Communicator));
        (wires.chooser, wires.ticket) = (Chooser::default(), None);
    }
    Ok(())
}

#[cold]
unsafe fn make_wires(comm: MPI_Comm) -> Result<Shared> {
    logging::start();
    // SAFETY: the caller vouches for `comm`.
    unsafe {
        if comm::is_inter(comm)? {
            return Err(Error::SparseIntercommunicator.into());
        }
        let shared = Arc::new(Guarded::new(Wires::new(comm)?));
        let own = comm::itself();
        {
            // other threads may do the same for other communicators
            let _entering = ENTERING.lock();
            if AT_FINALIZE.get(own)?.is_null() {
                AT_FINALIZE.set(own, Finalizer::default())?;
            }
            if let Some(finalizer) = AT_FINALIZE.get(own)?.as_ref() {
                let mut all = lock(&finalizer.wires);
                all.retain(|w| w.strong_count() > 0);
                all.push(Arc::downgrade(&shared));
            }
        }
        WIRES.set(comm, Hung(Arc::clone(&shared)))?;
        Ok(shared)
    }
}

fn tag(kind: Kind, parity: i32) -> i32 {
    match kind {
        Kind::Data => 2 + parity,
        Kind::Rest => 4 + parity,
        Kind::Barrier => 6,
        Kind::Census => 7,
        Kind::Router => 8,
        Kind::Lost => 10 + parity,
    }
}

impl Wires {
    unsafe fn new(user: MPI_Comm) -> Result<Wires> {
        // SAFETY: the caller vouches for `user`.
        let comm = unsafe { Comm::duplicate(user) }?;
        // SAFETY: the caller vouches for `user`.
        let known = unsafe { measure::loggp::known(user) }?.map(|p| p.loggp);
        let hints = SparseHints::from_environment(environment::variable, environment::text).and_then(|hints| {
            let machine = match known {
                Some(known) => Some((known, Origin::Communicator)),
                None => site_loggp(environment::variable, environment::text)?.map(|site| (site, Origin::File)),
            };
            Ok((hints, machine))
        });
        // SAFETY: a live communicator.
        let (rank, size) = unsafe { (comm::rank(comm.raw())?, comm::size(comm.raw())?) };
        let node = node::look_around(&comm)?;
        // the parameters in force must be equal too
        let in_force = |(hints, machine): &(SparseHints, Option<(Loggp, Origin)>)| hints.with_machine(*machine);
        let agreed = hints.as_ref().map_or(-1, |h| in_force(h).agreed());
        let [low, high, nodes] = coll::allreduce(&comm, [agreed, -agreed, -i64::from(node.processes)], Reduction::Min)?;
        // an error on one process is the error of all, with its text
        let (hints, machine) = if low < 0 { measure::loggp::together(&comm, hints)? } else { hints? };
        if low != -high {
            return Err(Error::Disagreement { what: SparseHints::AGREED }.into());
        }
        // with the wires, so that nonblocking exchanges have it too; all processes agree, as either all or none see all of them on their node
        let inboxes = if size > 1 && node.processes == size { inbox::Inboxes::new(&comm, size)? } else { None };
        let slots = nbx::Slots::new(&comm)?;
        // SAFETY: the caller vouches for `user`.
        let observed = unsafe { observe::Sparse::new(user) };
        if let Some(observed) = &observed {
            comm.count(observed.tally());
            slots.count(observed.tally());
        }
        Ok(Wires {
            rank,
            size,
            yields: node.oversubscribed && !mpi::wait_yields(),
            crowded: node.oversubscribed,
            // SAFETY: a live communicator.
            windows: unsafe { window::can_be_made(comm.raw()) }?,
            per_node: u32::try_from(-nodes).unwrap_or(1),
            matched: true,
            hints,
            machine,
            in_effect: hints.with_machine(machine),
            parity: 0,
            stats: None,
            time: UNMEASURED,
            ticket: None,
            running: false,
            loss: None,
            vain: 0,
            chooser: Chooser::default(),
            choice: None,
            node_size: None,
            send: Known::default(),
            recv: Known::default(),
            plans: 0,
            largest_tag: message::largest_tag()?,
            outstanding: progress::of_process()?,
            barrier: Barrier::new(rank, size, tag(Kind::Barrier, 0)),
            slots: Some(slots),
            words: pex::Words::default(),
            census: None,
            sums: None,
            router: None,
            nodes: None,
            inboxes,
            observed,
            comm: Arc::new(comm),
        })
    }

    /// The private communicator.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    /// Processes of the communicator.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Processes of the fullest node, as these hints have it.
    fn per_node(&self, hints: &SparseHints) -> u32 {
        hints.node_size.map_or(self.per_node, |n| n.min(self.size))
    }

    /// Whether all processes share memory, and these hints do not have it otherwise.
    fn shares_memory(&self, hints: &SparseHints) -> bool {
        self.inboxes.is_some() && self.per_node(hints) >= self.size
    }

    fn tag(&self, kind: Kind) -> i32 {
        tag(kind, self.parity)
    }

    /// The tag of the next plan, which is as many on all processes.
    pub fn next_plan(&mut self) -> i32 {
        let tags = u64::from((self.largest_tag - FIRST_PLAN + 1).unsigned_abs());
        let tag = FIRST_PLAN + (self.plans % tags) as i32;
        self.plans += 1;
        tag
    }

    /// Looks for a message, or the word that one could not be sent; true if there was either.
    fn find(&mut self, source: Option<u32>, inbox: &mut Inbox) -> Result<bool> {
        /// Probes for a message in vain before a probe for the word: an exchange without errors has next
        /// to none of the latter.
        const HOPE: u32 = 16;
        if let Some(probed) = message::probe(source, self.tag(Kind::Data), self.matched, &self.comm)? {
            inbox.take(probed, &self.comm)?;
            return Ok(true);
        }
        self.vain = self.vain.wrapping_add(1);
        if !self.vain.is_multiple_of(HOPE) {
            return Ok(false);
        }
        let Some(probed) = message::probe(source, self.tag(Kind::Lost), self.matched, &self.comm)? else {
            return Ok(false);
        };
        self.loss.get_or_insert_with(|| lost(probed.status.source));
        inbox.take_word(probed, &self.comm)?;
        Ok(true)
    }

    /// Takes back what is posted ahead.
    fn close(&mut self) {
        if let Some(slots) = self.slots.take() {
            slots.close();
        }
    }

    /// Which protocol serves the next exchange; the same on all processes.
    fn choose(&mut self, hints: &SparseHints, form: Form) -> ProtocolChoice {
        let last = self.stats.unwrap_or_default();
        let (messages, bytes) = (Stats::middle(last.messages), Stats::middle(last.bytes));
        let load = Load {
            processes: self.size,
            per_node: self.per_node(hints),
            messages: u32::try_from(messages).unwrap_or(u32::MAX),
            bytes: bytes.checked_div(messages).unwrap_or(0),
        };
        let like = self.stats.map(|last| (last.messages, last.bytes));
        let shares = self.shares_memory(hints);
        let choice = self.chooser.choose(hints, &load, like, shares);
        if choice.protocol == Protocol::Inbox && !shares && self.size > 1 {
            self.chooser.forget();
            return ProtocolChoice { protocol: Protocol::Nbx, why: WhyProtocol::NoMemory };
        }
        if choice.protocol == Protocol::Rsx && !self.windows {
            self.chooser.forget();
            return ProtocolChoice { protocol: Protocol::Nbx, why: WhyProtocol::NoWindow };
        }
        let made = match choice.protocol {
            Protocol::Rsx => self.sums.is_some(),
            Protocol::NbxNode => self.nodes.is_some(),
            _ => true,
        };
        if form == Form::Nonblocking && !made && hints.protocol.is_none() {
            self.chooser.forget();
            return ProtocolChoice { protocol: Protocol::Nbx, why: WhyProtocol::Local };
        }
        choice
    }

    /// Takes what an exchange has told about all processes.
    fn learn(&mut self, largest: Stats) {
        self.stats = Some(largest);
        if let Some(ticket) = self.ticket.take() {
            self.chooser.enter(ticket, largest.time);
        }
    }

    /// Which protocol served the last exchange, and why, in a few lines.
    pub fn describe(&self) -> String {
        let waiting =
            if self.yields { "polling and yielding the core, as the node has more processes than cores" } else { "polling" };
        let hints = self.in_effect.describe();
        match &self.choice {
            None => format!("sparse exchange on process {}: none yet\n{hints}", self.rank),
            Some(choice) => format!(
                "sparse exchange on process {}: {} processes, at most {} on a node\n\
                 protocol {}: {}\n\
                 waiting: {waiting}\n\
                 {hints}",
                self.rank,
                self.size,
                self.per_node,
                choice.protocol.name(),
                choice.why,
            ),
        }
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        self.close();
        if let Some(sums) = self.sums.take() {
            // SAFETY: `MPI_COMM_SELF` is a communicator as long as MPI is usable.
            let finalizer = if mpi::is_usable() { unsafe { AT_FINALIZE.get(comm::itself()) } } else { Ok(std::ptr::null_mut()) };
            // SAFETY: the attribute's value lives until MPI ends.
            match finalizer.ok().and_then(|f| unsafe { f.as_ref() }) {
                // freeing is collective, and not all live any more
                Some(finalizer) if self.comm.is_whole().is_ok() => lock(&finalizer.windows).push(sums),
                _ => std::mem::forget(sums),
            }
        }
        if self.running {
            // messages of an exchange that failed are still on their way into these
            std::mem::forget(std::mem::replace(&mut self.barrier, Barrier::new(0, 1, 0)));
            std::mem::forget((self.census.take(), self.router.take(), self.nodes.take(), std::mem::take(&mut self.words)));
        }
    }
}

/// A protocol at work. One exchange on a communicator runs at a time.
enum Run {
    Nbx(nbx::Run),
    NbxProbe(nbx_probe::Run),
    NbxNode(nbx_node::Run),
    Pex(pex::Run),
    Pcx(pcx::Run),
    Rsx(rsx::Run),
    Crystal(crystal::Run),
    Inbox(inbox::Run),
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// The blocks in `sends` must be readable, and not be written, until the run is done.
    unsafe fn start(protocol: Protocol, wires: &mut Wires, sends: &Sends, inbox: &mut Inbox) -> Result<Run> {
        // SAFETY: the caller vouches for the blocks.
        unsafe {
            Ok(match protocol {
                Protocol::Nbx => Run::Nbx(nbx::Run::start(wires, sends, Stats::of(sends, wires), inbox)?),
                Protocol::NbxProbe => Run::NbxProbe(nbx_probe::Run::start(wires, sends)?),
                Protocol::NbxNode => Run::NbxNode(nbx_node::Run::start(wires, sends)?),
                Protocol::Pex => Run::Pex(pex::Run::start(wires, sends)?),
                Protocol::Pcx => Run::Pcx(pcx::Run::start(wires, sends, pcx::Census::Own)?),
                Protocol::PcxLibrary => Run::Pcx(pcx::Run::start(wires, sends, pcx::Census::Library)?),
                Protocol::Rsx => Run::Rsx(rsx::Run::start(wires, sends)?),
                Protocol::Crystal => Run::Crystal(crystal::Run::start(wires, sends)?),
                Protocol::Inbox => Run::Inbox(inbox::Run::start(wires, sends)?),
            })
        }
    }

    /// Goes on; true when everything has come and gone.
    ///
    /// # Safety
    /// As for `start`; `sends` must be the same.
    #[inline]
    unsafe fn progress(&mut self, wires: &mut Wires, sends: &Sends, inbox: &mut Inbox) -> Result<bool> {
        // SAFETY: the caller vouches for the blocks.
        unsafe {
            match self {
                Run::Nbx(run) => run.progress(wires, inbox),
                Run::NbxProbe(run) => run.progress(wires, inbox),
                Run::NbxNode(run) => run.progress(wires, inbox),
                Run::Pex(run) => run.progress(wires, inbox),
                Run::Pcx(run) => run.progress(wires, inbox),
                Run::Rsx(run) => run.progress(wires, inbox),
                Run::Crystal(run) => run.progress(wires, sends, inbox),
                Run::Inbox(run) => run.progress(wires, inbox),
            }
        }
    }
}

/// The error of a process to which a message could not be sent.
fn lost(source: u32) -> Box<Error> {
    let text = "a message could not be sent to this process".into();
    Error::Remote { rank: source, class: ErrorClass::Other, text }.into()
}

/// Sends a message. If that fails, sends an empty one of [`Kind::Lost`] in its place: the exchange goes on,
/// and nobody waits for what does not come. True if the message itself went.
///
/// # Safety
/// The block must be readable, and not be written, until the outbox is complete.
unsafe fn send_one(wires: &mut Wires, o: &Outgoing, mode: message::Mode, outbox: &mut Outbox) -> Result<bool> {
    // SAFETY: the caller vouches for the block.
    let sent = unsafe { message::send(mode, &o.block, o.target, wires.tag(Kind::Data), &wires.comm) };
    let whole = sent.is_ok();
    outbox.push(sent.or_else(|e| {
        wires.loss.get_or_insert(e);
        let nothing = message::bytes_at([].as_ptr(), 0);
        // SAFETY: no bytes are read.
        unsafe { message::send(mode, &nothing, o.target, wires.tag(Kind::Lost), &wires.comm) }
    })?);
    Ok(whole)
}

/// Sends all messages to others.
///
/// # Safety
/// The blocks must be readable, and not be written, until the outbox is complete.
unsafe fn send_all(wires: &mut Wires, sends: &Sends, mode: message::Mode) -> Result<Outbox> {
    let mut outbox = Outbox::default();
    let rank = wires.rank;
    for o in sends.list.iter().filter(|o| o.target != rank) {
        // SAFETY: the caller vouches for the blocks.
        unsafe { send_one(wires, o, mode, &mut outbox) }?;
    }
    Ok(outbox)
}

/// How an exchange is called; the same on all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It is brought to its end in the call.
    Blocking,
    /// Beginning it must not wait for other processes: nothing is made that takes all of them, unless a hint asks for it.
    Nonblocking,
}

/// An exchange under way.
pub struct Exchange {
    wires: Shared,
    sends: Sends,
    inbox: Inbox,
    run: Option<Run>,
    /// Seconds that the calls for it took, if they are wanted.
    spent: Option<f64>,
    /// What went wrong: then it goes no further.
    failure: Option<Box<Error>>,
    /// What is counted and traced, where the environment asks for it.
    observed: Option<observe::Exchange>,
    /// Messages that could not be sent, or did not come: it goes on to its end, as others count on it, and then fails.
    loss: Option<Box<Error>>,
    patience: Patience,
}

// SAFETY: addresses in buffers of the caller's, at which whoever completes the exchange may look, memory of its own, and handles, which may be used in any
// thread that may call MPI.
unsafe impl Send for Exchange {}

impl Advance for Exchange {
    /// Does not end it: no other exchange may begin before the caller knows that it is done.
    fn advance(&mut self) {
        if self.failure.is_none() {
            let begin = self.spent.map(|_| mpi::time());
            self.failure = self.drive().err();
            self.spend(begin);
        }
    }
}

impl Exchange {
    /// Begins an exchange. Every process of the communicator calls it. Local but for the first call on a communicator, and the first one with a
    /// protocol that needs a window or a map of nodes, which a nonblocking exchange takes only if a hint asks for it.
    ///
    /// # Safety
    /// The blocks in `sends`, and their datatype, must live, unchanged, until the exchange is done.
    pub unsafe fn start(shared: &Shared, hints: Option<&SparseHints>, sends: Sends, form: Form) -> Result<Exchange> {
        let mut guard = shared.hold();
        let wires = &mut *guard;
        wires.comm.is_whole()?;
        if wires.running {
            return Err(Error::Exchanging.into());
        }
        let hints = hints.unwrap_or(&wires.hints).with_machine(wires.machine);
        wires.in_effect = hints;
        wires.node_size = hints.node_size;
        wires.matched = hints.matched_probe && message::has_matched_probe();
        let choice = wires.choose(&hints, form);
        // from here on no other exchange can begin before this one's end, also if something fails
        wires.running = true;
        wires.loss = None;
        wires.choice = Some(choice);
        let observed = wires.observed.as_mut().map(|o| o.begin(choice.protocol.name(), || choice.why.to_string()));
        if let Some(observed) = &observed {
            let own = sends.list.iter().filter(|o| o.target == wires.rank);
            own.for_each(|o| observed.record().sent(observe::Way::Own, 1, o.bytes));
        }
        let mut exchange = Exchange {
            wires: Arc::clone(shared),
            sends,
            inbox: Inbox::default(),
            run: None,
            spent: None,
            failure: None,
            observed,
            loss: None,
            patience: Patience::default(),
        };
        let begin = wires.chooser.wants_time().then(mpi::time);
        if wires.size > 1 {
            // SAFETY: the caller vouches for the blocks.
            exchange.run = Some(unsafe { Run::start(choice.protocol, wires, &exchange.sends, &mut exchange.inbox) }?);
        }
        // to oneself: while the first messages travel
        for own in exchange.sends.list.iter().filter(|o| o.target == wires.rank) {
            // SAFETY: as above.
            if let Err(e) = unsafe { exchange.inbox.copy_own(own, exchange.sends.dense, &wires.comm) } {
                wires.loss.get_or_insert(e);
            }
        }
        if exchange.run.is_none() {
            exchange.loss = wires.loss.take();
        }
        exchange.spent = begin.map(|begin| mpi::time() - begin);
        Ok(exchange)
    }

    /// Goes on; true when the exchange is done. Never blocks.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        let begin = self.spent.map(|_| mpi::time());
        let done = self.go_on()?;
        if done {
            self.end(begin)?;
        } else {
            self.spend(begin);
        }
        Ok(done)
    }

    /// Enters the time since `begin`.
    fn spend(&mut self, begin: Option<f64>) {
        if let (Some(spent), Some(begin)) = (&mut self.spent, begin) {
            *spent += mpi::time() - begin;
        }
    }

    /// Goes on, or tells what went wrong before.
    fn go_on(&mut self) -> Result<bool> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.drive().inspect_err(|e| self.failure = Some(e.clone()))
    }

    /// Goes on; true when everything has come and gone.
    #[inline]
    fn drive(&mut self) -> Result<bool> {
        if let Some(run) = &mut self.run {
            let mut wires = self.wires.hold();
            // SAFETY: whoever started the exchange vouches for the blocks.
            if !unsafe { run.progress(&mut wires, &self.sends, &mut self.inbox) }? {
                if self.patience.is_over() {
                    // an exchange needs all processes
                    self.patience.look_at_all(&wires.comm)?;
                }
                return Ok(false);
            }
            self.run = None;
            self.loss = wires.loss.take();
        }
        Ok(true)
    }

    /// Everything has come and gone, in a call that began at `begin`; fails if something has been lost.
    fn end(&mut self, begin: Option<f64>) -> Result<()> {
        self.spend(begin);
        if let Some(observed) = &mut self.observed {
            observed.end();
        }
        let mut wires = self.wires.hold();
        if wires.running {
            wires.parity ^= 1;
            wires.running = false;
            // told, and entered, by the next exchange
            wires.time = self.spent.map_or(UNMEASURED, |seconds| time_code(1e6 * seconds));
            wires.ticket = wires.chooser.ticket();
        }
        self.loss.take().map_or(Ok(()), Err)
    }

    /// Goes on until the exchange is done.
    pub fn wait(&mut self) -> Result<()> {
        self.wait_with(|_, _| ())
    }

    /// Goes on until the exchange is done, and shows `each` the messages as they come: those of `Inbox::messages` in this range are new.
    pub fn wait_with(&mut self, mut each: impl FnMut(&Inbox, Range<usize>)) -> Result<()> {
        /// Polls in vain before the core is given away.
        const POLLS: u32 = 4;
        /// Polls in vain before the process sleeps, if there is what wakes it.
        const WAKEFUL: u32 = 64;
        let (yields, crowded, outstanding) = {
            let wires = self.wires.hold();
            (wires.yields, wires.crowded, Arc::clone(&wires.outstanding))
        };
        let (mut polls, mut shown) = (0u32, 0);
        let waiting = self.observed.as_ref().map(|_| Instant::now());
        let begin = self.spent.map(|_| mpi::time());
        loop {
            let done = self.go_on()?;
            let ready = self.inbox.ready()?;
            if ready > shown {
                // the exchange is still running: `each` can begin no other one
                each(&self.inbox, shown..ready);
                shown = ready;
            }
            if done {
                if let (Some(observed), Some(waiting)) = (&self.observed, waiting) {
                    observed.record().waited(waiting);
                }
                return self.end(begin);
            }
            outstanding.advance();
            polls = polls.wrapping_add(1);
            if !crowded || polls % POLLS != 0 {
                continue;
            }
            match &self.run {
                Some(Run::Inbox(run)) if polls > WAKEFUL && outstanding.is_empty() => run.sleep(),
                // that protocol rarely enters MPI, which so does not give the core away
                Some(Run::Inbox(_)) => std::thread::yield_now(),
                _ if yields => std::thread::yield_now(),
                _ => {}
            }
        }
    }

    /// The private communicator.
    pub fn comm(&self) -> Result<Arc<Comm>> {
        Ok(Arc::clone(&self.wires.hold().comm))
    }

    /// What hangs on the communicator.
    pub fn wires(&self) -> &Shared {
        &self.wires
    }

    /// What has come, when the exchange is done, ordered by source.
    pub fn take(&mut self) -> Inbox {
        let mut inbox = std::mem::take(&mut self.inbox);
        inbox.sort();
        inbox
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // messages are under way in these buffers, after an error or because a request was given up: they must stay
        std::mem::forget(self.run.take());
    }
}
