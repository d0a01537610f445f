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

use std::cell::{Ref, RefCell, RefMut};
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

use crate::error::{Error, Result};
use crate::hints::{SparseHints, site_loggp};
use crate::measure;
use crate::model::{Load, Loggp, Protocol};
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::datatype::Known;
use crate::mpi::node::{self, Node};
use crate::mpi::{self, MPI_Comm, message};
use crate::select::{Chooser, Class, ProtocolChoice, UNMEASURED, time_code};

mod barrier;
mod census;
mod crystal;
pub mod mailbox;
mod mirror;
mod nbx;
mod nbx_node;
mod nbx_probe;
mod pcx;
mod pex;
pub mod plan;
mod rsx;
pub mod timing;

use barrier::Barrier;
use mailbox::{Inbox, Outbox, Sends};

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

/// What a tag on the private communicator means; those of [`Kind::Data`] and [`Kind::Rest`] alternate between exchanges.
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
}

/// Tags from here on belong to plans.
const FIRST_PLAN: i32 = 16;

/// What hangs on a communicator for sparse exchanges.
pub struct Wires {
    comm: Arc<Comm>,
    rank: u32,
    size: u32,
    node: Node,
    /// Processes of the fullest node.
    per_node: u32,
    /// The hints of the environment, which hold where a call has none.
    hints: SparseHints,
    /// The machine's parameters, where no hint says them: the communicator's, or the site's.
    machine: Option<Loggp>,
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
    chooser: Chooser,
    choice: Option<ProtocolChoice>,
    /// Processes of each node, if the running exchange's hints say that.
    node_size: Option<u32>,
    /// What is known of the datatypes of the last calls.
    pub send: Known,
    /// The same of what is received.
    pub recv: Known,
    plans: i32,
    largest_tag: i32,
    barrier: Barrier,
    slots: Option<nbx::Slots>,
    words: pex::Words,
    census: Option<census::Census>,
    sums: Option<rsx::Sums>,
    router: Option<crystal::Router>,
    nodes: Option<nbx_node::Nodes>,
}

/// Wires, which the communicator and what runs on it own together.
pub type Shared = Arc<Guarded>;

/// Wires behind a check that one call at a time uses them.
pub struct Guarded(RefCell<Wires>);

// SAFETY: all calls on a communicator are made one after the other, which MPI asks for of collective calls; the last use is at the end of MPI. Several
// threads only count references, which `Arc` does for all.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// The wires, to look at.
    pub fn look(&self) -> Result<Ref<'_, Wires>> {
        self.0.try_borrow().map_err(|_| Error::Exchanging.into())
    }

    /// The wires, to use.
    pub fn hold(&self) -> Result<RefMut<'_, Wires>> {
        self.0.try_borrow_mut().map_err(|_| Error::Exchanging.into())
    }
}

static WIRES: Key<Shared> = Key::new();

/// Hangs on `MPI_COMM_SELF`, whose attributes MPI drops first when it is finalized: takes back the receives that are posted ahead, and frees windows.
static AT_FINALIZE: Key<Finalizer> = Key::new();

/// Held while wires are entered there.
static ENTERING: Mutex<()> = Mutex::new(());

#[derive(Default)]
struct Finalizer(RefCell<Vec<Weak<Guarded>>>);

impl Drop for Finalizer {
    fn drop(&mut self) {
        let all: Vec<Shared> = self.0.borrow().iter().filter_map(Weak::upgrade).collect();
        let mut windows = Vec::new();
        for wires in &all {
            if let Ok(mut wires) = wires.hold() {
                wires.close();
                windows.extend(wires.sums.take());
            }
        }
        // freeing a window is collective, as making it was: in the order in which they were made no process waits for another one in a circle
        windows.sort_by_key(rsx::Sums::made);
        windows.into_iter().for_each(drop);
    }
}

/// The wires of a communicator. The first call on it is collective: a duplicate, a split by nodes, two reductions of a few words.
///
/// # Safety
/// `comm` must be a communicator.
#[inline]
pub unsafe fn wires(comm: MPI_Comm) -> Result<Shared> {
    // SAFETY: the caller vouches for `comm`.
    unsafe {
        match WIRES.get(comm)?.as_ref() {
            Some(shared) => Ok(Arc::clone(shared)),
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
    if let Some(shared) = unsafe { WIRES.get(comm)?.as_ref() } {
        let mut wires = shared.hold()?;
        wires.machine = Some(machine);
        wires.chooser = Chooser::default();
    }
    Ok(())
}

#[cold]
unsafe fn make_wires(comm: MPI_Comm) -> Result<Shared> {
    mpi::check_family()?;
    // SAFETY: the caller vouches for `comm`.
    unsafe {
        if comm::is_inter(comm)? {
            return Err(Error::SparseIntercommunicator.into());
        }
        let shared = Arc::new(Guarded(RefCell::new(Wires::new(comm)?)));
        let own = comm::itself();
        {
            // other threads may do the same for other communicators
            let _entering = ENTERING.lock();
            if AT_FINALIZE.get(own)?.is_null() {
                AT_FINALIZE.set(own, Finalizer::default())?;
            }
            if let Some(finalizer) = AT_FINALIZE.get(own)?.as_ref() {
                let mut all = finalizer.0.borrow_mut();
                all.retain(|w| w.strong_count() > 0);
                all.push(Arc::downgrade(&shared));
            }
        }
        WIRES.set(comm, Arc::clone(&shared))?;
        Ok(shared)
    }
}

/// A variable of the environment.
pub fn environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// The text of a file.
pub fn file(name: &str) -> std::result::Result<String, String> {
    std::fs::read_to_string(name).map_err(|e| e.to_string())
}

fn tag(kind: Kind, parity: i32) -> i32 {
    match kind {
        Kind::Data => 2 + parity,
        Kind::Rest => 4 + parity,
        Kind::Barrier => 6,
        Kind::Census => 7,
        Kind::Router => 8,
    }
}

impl Wires {
    unsafe fn new(user: MPI_Comm) -> Result<Wires> {
        // SAFETY: the caller vouches for `user`.
        let comm = unsafe { Comm::duplicate(user) }?;
        // SAFETY: the caller vouches for `user`.
        let known = unsafe { measure::known(user) }?.map(|p| p.loggp);
        let hints = SparseHints::from_environment(environment, file).and_then(|hints| {
            let machine = match known {
                Some(known) => Some(known),
                None => site_loggp(environment, |path| std::fs::read_to_string(path))?,
            };
            Ok((hints, machine))
        });
        // SAFETY: a live communicator.
        let (rank, size) = unsafe { (comm::rank(comm.raw())?, comm::size(comm.raw())?) };
        let node = node::look_around(&comm)?;
        // the parameters in force must be equal too
        let in_force =
            |(hints, machine): &(SparseHints, Option<Loggp>)| SparseHints { loggp: hints.loggp.or(*machine), ..*hints };
        let agreed = hints.as_ref().map_or(-1, |h| in_force(h).agreed());
        let [low, high, nodes] = coll::allreduce(&comm, [agreed, -agreed, -i64::from(node.processes)], Reduction::Min)?;
        let (hints, machine) = hints?;
        if low != -high {
            return Err(Error::Disagreement { what: SparseHints::AGREED }.into());
        }
        Ok(Wires {
            rank,
            size,
            node,
            per_node: u32::try_from(-nodes).unwrap_or(1),
            matched: true,
            hints,
            machine,
            parity: 0,
            stats: None,
            time: UNMEASURED,
            ticket: None,
            running: false,
            chooser: Chooser::default(),
            choice: None,
            node_size: None,
            send: Known::default(),
            recv: Known::default(),
            plans: 0,
            largest_tag: message::largest_tag()?,
            barrier: Barrier::new(rank, size, tag(Kind::Barrier, 0)),
            slots: None,
            words: pex::Words::default(),
            census: None,
            sums: None,
            router: None,
            nodes: None,
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

    fn tag(&self, kind: Kind) -> i32 {
        tag(kind, self.parity)
    }

    /// The tag of the next plan, which is as many on all processes.
    pub fn next_plan(&mut self) -> i32 {
        let tag = FIRST_PLAN + self.plans % (self.largest_tag - FIRST_PLAN + 1).max(1);
        self.plans += 1;
        tag
    }

    /// Takes back what is posted ahead.
    fn close(&mut self) {
        if let Some(slots) = self.slots.take() {
            slots.close();
        }
    }

    /// Which protocol serves the next exchange; the same on all processes.
    fn choose(&mut self, hints: &SparseHints) -> ProtocolChoice {
        let last = self.stats.unwrap_or_default();
        let (messages, bytes) = (Stats::middle(last.messages), Stats::middle(last.bytes));
        let load = Load {
            processes: self.size,
            per_node: self.per_node(hints),
            messages: u32::try_from(messages).unwrap_or(u32::MAX),
            bytes: bytes.checked_div(messages).unwrap_or(0),
        };
        let class = self.stats.map(|last| (last.messages, last.bytes / 2));
        self.chooser.choose(hints, &load, class)
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
        let waiting = if self.node.crowded {
            "polling and yielding the core, as the node has more processes than cores"
        } else {
            "polling"
        };
        match &self.choice {
            None => format!("sparse exchange on process {}: none yet\n", self.rank),
            Some(choice) => format!(
                "sparse exchange on process {}: {} processes, at most {} on a node\n\
                 protocol {}: {}\n\
                 waiting: {waiting}\n",
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
        if let Some(slots) = self.slots.take() {
            slots.close();
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
            }
        }
    }
}

/// Sends all messages to others.
///
/// # Safety
/// The blocks must be readable, and not be written, until the outbox is complete.
unsafe fn send_all(wires: &Wires, sends: &Sends, mode: message::Mode) -> Result<Outbox> {
    let mut outbox = Outbox::default();
    for o in sends.list.iter().filter(|o| o.target != wires.rank) {
        // SAFETY: the caller vouches for the blocks.
        outbox.push(unsafe { message::send(mode, &o.block, o.target, wires.tag(Kind::Data), &wires.comm) }?);
    }
    Ok(outbox)
}

/// An exchange under way.
pub struct Exchange {
    wires: Shared,
    sends: Sends,
    inbox: Inbox,
    run: Option<Run>,
    /// When it began, if its time is wanted.
    begin: Option<f64>,
}

impl Exchange {
    /// Begins an exchange. Every process of the communicator calls it. Local but for the first call on a communicator, and the first one with a
    /// protocol that needs a window or a map of nodes.
    ///
    /// # Safety
    /// The blocks in `sends`, and their datatype, must live, unchanged, until the exchange is done.
    pub unsafe fn start(shared: &Shared, hints: Option<&SparseHints>, sends: Sends) -> Result<Exchange> {
        let mut guard = shared.hold()?;
        let wires = &mut *guard;
        if wires.running {
            return Err(Error::Exchanging.into());
        }
        let mut hints = *hints.unwrap_or(&wires.hints);
        hints.loggp = hints.loggp.or(wires.machine);
        wires.node_size = hints.node_size;
        wires.matched = hints.matched_probe && message::has_matched_probe();
        let choice = wires.choose(&hints);
        let mut exchange = Exchange { wires: Arc::clone(shared), sends, inbox: Inbox::default(), run: None, begin: None };
        exchange.begin = wires.chooser.wants_time().then(mpi::time);
        if wires.size > 1 {
            // SAFETY: the caller vouches for the blocks.
            exchange.run = Some(unsafe { Run::start(choice.protocol, wires, &exchange.sends, &mut exchange.inbox) }?);
        }
        wires.choice = Some(choice);
        // to oneself: while the first messages travel
        for own in exchange.sends.list.iter().filter(|o| o.target == wires.rank) {
            // SAFETY: as above.
            unsafe { exchange.inbox.copy_own(own, exchange.sends.dense, &wires.comm) }?;
        }
        wires.running = true;
        Ok(exchange)
    }

    /// Goes on; true when the exchange is done. Never blocks.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        let done = self.drive()?;
        if done {
            self.end()?;
        }
        Ok(done)
    }

    /// Goes on; true when everything has come and gone.
    #[inline]
    fn drive(&mut self) -> Result<bool> {
        if let Some(run) = &mut self.run {
            // SAFETY: whoever started the exchange vouches for the blocks.
            if !unsafe { run.progress(&mut *self.wires.hold()?, &self.sends, &mut self.inbox) }? {
                return Ok(false);
            }
            self.run = None;
        }
        Ok(true)
    }

    fn end(&mut self) -> Result<()> {
        let mut wires = self.wires.hold()?;
        if wires.running {
            wires.parity ^= 1;
            wires.running = false;
            // told, and entered, by the next exchange
            wires.time = self.begin.map_or(UNMEASURED, |begin| time_code(1e6 * (mpi::time() - begin)));
            wires.ticket = wires.chooser.ticket();
        }
        Ok(())
    }

    /// Goes on until the exchange is done.
    pub fn wait(&mut self) -> Result<()> {
        self.wait_with(|_, _| ())
    }

    /// Goes on until the exchange is done, and shows `each` the messages as they come: those of `Inbox::messages` in this range are new.
    pub fn wait_with(&mut self, mut each: impl FnMut(&Inbox, Range<usize>)) -> Result<()> {
        /// Polls in vain before the core is given away.
        const POLLS: u32 = 4;
        let crowded = self.wires.look()?.node.crowded;
        let (mut polls, mut shown) = (0, 0);
        loop {
            let done = self.drive()?;
            let ready = self.inbox.ready()?;
            if ready > shown {
                // the exchange is still running: `each` can begin no other one
                each(&self.inbox, shown..ready);
                shown = ready;
            }
            if done {
                return self.end();
            }
            polls += 1;
            if crowded && polls % POLLS == 0 {
                std::thread::yield_now();
            }
        }
    }

    /// The private communicator.
    pub fn comm(&self) -> Result<Arc<Comm>> {
        Ok(Arc::clone(&self.wires.look()?.comm))
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
        if let Some(run) = self.run.take() {
            // messages are under way in these buffers, after an error or because a request was given up: they must stay
            std::mem::forget(run);
            std::mem::forget(std::mem::take(&mut self.inbox));
        }
    }
}
