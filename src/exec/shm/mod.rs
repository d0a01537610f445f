//! The shared-memory executor: edges between processes of one node go through rings in shared
//! memory, all others by messages (`exec/p2p`).
//!
//! All blocks for one process travel in one message. It enters the ring of a channel
//! (`shm/ring.rs`): up to 104 bytes in the cell itself, up to the eager limit in a buffer beside
//! the ring. A longer message stays where it is, and the receiver copies it from there (`pull.rs`);
//! or, where the kernel forbids that, it goes through the same memory in chunks, which the receiver
//! copies out, or combines, while the sender writes the next ones. The one block of a gather or
//! reduction is written once for all targets. Reductions and accumulates combine blocks straight
//! from there. Nothing is posted, matched or acknowledged by MPI.
//!
//! A request must leave nothing to do for its sender, who may wait in MPI for something else before
//! it comes back. What finds no free cell or buffer, or would have to come in chunks, therefore
//! goes by MPI (`fallback.rs`). A receiver probes for it while it waits; it has to enter MPI now
//! and then anyway, as messages of the caller's own may depend on that.
//!
//! Schedules of more than one round govern only the edges to other nodes: rounds keep contention on
//! the network low, and memory has none.
//!
//! Cost: for each process that this one sends to or receives from, one message and two copies of
//! its bytes (one of a long message, by a system call), without a call of MPI unless the process
//! waits for more than some microseconds. Memory as in `channel.rs`; in addition, staging buffers
//! as long as the message for chunked messages that only `MPI_Pack` can pack, that several blocks
//! get, or whose turn to be combined has not come, for blocks with gaps of messages that are copied
//! from here, and for messages by MPI. No allocation once buffers have reached their largest size.
//!
//! | file | job |
//! |---|---|
//! | `state` | the executor, its messages and their states |
//! | `channel` | the shared memory of one operation: rings, eager buffers, chunk memory |
//! | `channel::connect` | makes the channels, of what processes have prepared or make together |
//! | `bind` | buffers, counts and datatypes of a call |
//! | `send`, `recv` | the state machines of messages |
//! | `brief` | calls whose messages are all short |
//! | `pull`, `parts` | long messages that receivers copy from the sender's memory |
//! | `fallback` | messages that go by MPI after all |
//! | `reduce` | combining blocks as they arrive |
//! | `device` | blocks in device memory |
//! | `progress`, `failure` | polling and waiting; peers that have died |

mod bind;
mod brief;
pub mod channel;
mod device;
mod failure;
mod fallback;
mod parts;
mod progress;
mod pull;
mod recv;
mod reduce;
mod send;
mod state;
pub mod under_way;

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

pub use state::Shm;

use super::combine::Combine;
use super::executor::Executor;
use super::folding::{Folding, Origin};
use super::p2p::P2p;
use super::remote::Remote;
use super::rma::link::Link;
use super::rma::{OwnEdges, Rma};
use super::waiting;
use crate::datatype::buffers::Buffers;
use crate::datatype::copy::OwnCopies;
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::Result;
use crate::exec::blocks::MessageBlock;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::guard;
use crate::mpi::liveness::Patience;
use crate::observe::{Medium, Record};
use crate::schedule::Op;
use crate::schedule::Schedule;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::{to_int, to_u32};
use crate::util::memory::LINE;
use channel::Channels;
use state::{InMessage, OutMessage, RecvState};

/// Everything from which an executor is made.
pub struct Setup<'a> {
    /// The schedule, before it is folded.
    pub schedule: &'a Schedule,
    pub neighborhood: &'a Neighborhood,
    /// How blocks are combined; `None` if each is placed where it belongs.
    pub combine: Option<Combine>,
    /// True for requests: the caller need not come back soon after the start.
    pub started_only: bool,
    /// Number of fields that are exchanged together.
    pub fields: usize,
    pub waiting: waiting::Waiting,
    pub window: u32,
    /// The window that carries the edges to other nodes, if it is not messages that do.
    pub link: Option<&'a Arc<Link>>,
}

/// Entries of a list that are processes, and these. Without an allocation where they are few.
type Entries = SmallVec<[(u32, Rank); 8]>;

/// Returns the messages to or from processes of the node, and their blocks. `message` gets a
/// message's position and its range of the blocks: those of the first field, then those of the next
/// one, each in the order of the list.
fn messages<M>(
    ranks: impl ExactSizeIterator<Item = Rank>,
    entries: &Entries,
    fields: usize,
    message: impl Fn(usize, Range<usize>) -> M,
) -> (Vec<M>, Vec<MessageBlock>) {
    let mut blocks = Vec::with_capacity(entries.len() * fields);
    let mut messages = Vec::with_capacity(ranks.len());
    for (i, rank) in ranks.enumerate() {
        let begin = blocks.len();
        for field in 0..fields {
            blocks.extend(entries.iter().filter(|entry| entry.1 == rank).map(|entry| MessageBlock::new(field, entry.0)));
        }
        messages.push(message(i, begin..blocks.len()));
    }
    (messages, blocks)
}

/// Makes the executor of the edges to other nodes. Returns `None` if there is nothing for it to do.
fn remote(channels: &Channels, comm: &Arc<Comm>, setup: &Setup) -> Option<Remote> {
    let &Setup { schedule, neighborhood: n, link, waiting, .. } = setup;
    let is_remote = |rank: u32| rank != n.rank() && !channels.has(rank);
    let is_left = |op: &Op| match *op {
        Op::Recv { from, .. } => is_remote(from),
        Op::Send { to, .. } => is_remote(to),
        Op::Copy { .. } | Op::Reduce { .. } => false,
    };
    // without an edge, too, where all processes synchronize
    let takes_part = link.is_some_and(|link| link.fenced_rounds(schedule.algorithm()).is_some());
    if !takes_part && !schedule.ops().iter().any(is_left) {
        return None;
    }
    let schedule = schedule.retained(is_left);
    Some(match link {
        Some(link) => {
            let executor = Rma::new(link, comm, n, &schedule, OwnEdges::Left, waiting, 1);
            Remote::Rma(Box::new(if setup.combine.is_some() { executor.with_exact_lengths() } else { executor }))
        }
        None => Remote::P2p(Box::new(P2p::new(Arc::clone(comm), None, n.rank(), waiting, setup.window, &schedule))),
    })
}

impl Shm {
    /// Makes an executor. `self_comm` is needed where blocks are combined.
    pub fn new(channels: &Arc<Channels>, comm: Arc<Comm>, self_comm: Option<Arc<Comm>>, setup: &Setup) -> Shm {
        let n = setup.neighborhood;
        let (targets, sources): (Entries, Entries) = (n.targets_in_order().collect(), n.sources_in_order().collect());
        let self_edges = n.self_edges();
        let (each, inputs) = messages(channels.outbound.iter().map(|out| out.rank), &targets, setup.fields, |i, blocks| {
            OutMessage::new(i..i + 1, blocks)
        });
        let all = if channels.outbound.is_empty() { Vec::new() } else { vec![OutMessage::new(0..channels.outbound.len(), 0..1)] };
        let (recvs, outputs) =
            messages(channels.inbound.iter().map(|source| source.rank), &sources, setup.fields, |_, blocks| {
                InMessage::new(blocks)
            });
        let several = recvs.iter().any(|recv| recv.blocks.len() > 1);
        let mut origins = vec![Origin::Nowhere; n.sources().len()];
        sources.iter().for_each(|&(entry, _)| origins[entry as usize] = Origin::Remote);
        (0..).zip(&self_edges).for_each(|(k, &(_, source))| origins[source as usize] = Origin::Own(k));
        for (i, recv) in (0..).zip(&recvs) {
            outputs[recv.blocks.clone()].iter().for_each(|block| origins[block.entry as usize] = Origin::Peer(i));
        }
        let remote = remote(channels, &comm, setup);
        let remote_entries: Vec<u32> = (0..).zip(&origins).filter(|o| *o.1 == Origin::Remote).map(|o| o.0).collect();
        let remote_places = if setup.combine.is_some() { origins.len() } else { 0 };
        Shm {
            channels: Arc::clone(channels),
            comm,
            self_comm,
            me: to_int(n.rank()),
            brief: false,
            unlisted: false,
            short: channels.short(setup.combine.is_none() || channels.away_only, channels.eager_limit),
            hopes: false,
            tag: 0,
            started_only: setup.started_only,
            waits: false,
            number: 0,
            active: false,
            known: (0..setup.fields).map(|_| Known::default()).collect(),
            sending: Vec::with_capacity(each.len()),
            receiving: Vec::with_capacity(recvs.len()),
            inputs,
            outputs,
            each,
            all,
            to_all: false,
            recvs,
            copies: OwnCopies::with_capacity(self_edges.len() * setup.fields),
            self_edges,
            accepted: [None; 2],
            remote,
            remote_runs: false,
            folding: setup.combine.map(|combine| Box::new(Folding::new(combine, &origins))),
            foldable: false,
            origins,
            scratch: Vec::new(),
            remote_counts: vec![0; remote_places],
            remote_displs: vec![0; remote_places],
            remote_entries,
            failure: None,
            spans: Default::default(),
            stuck: false,
            guarded: guard::is_needed(),
            several,
            by_mpi: false,
            backoff: Backoff::new(Pace::TESTS),
            patience: Patience::default(),
            record: None,
            waiting_since: None,
        }
    }

    /// Makes ready for the message from process `i`, if it is a long one.
    #[inline(never)]
    fn prepare_long(&mut self, i: usize) {
        let source = &self.channels.inbound[i];
        let (bytes, longest) = (self.recvs[i].bytes, source.eager_limit);
        let reads = source.process.is_some() && (self.folding.is_none() || self.channels.away_only);
        if bytes <= self.channels.short(reads, longest) {
            return;
        }
        let comes_by_mpi = self.started_only && source.process.is_none();
        if (comes_by_mpi || self.receives_on_device(i))
            && let Err(e) = self.post(i)
        {
            self.note(e);
        }
        // what must come as a whole to be combined is combined in its cell, if it has one
        let fits = || bytes > longest || self.folding.as_ref().is_none_or(|f| f.takes_parts_of(to_u32(i), LINE));
        let in_chunks = !self.started_only && !self.receives_on_device(i) && fits();
        self.channels.inbound[i].ring().set_ready(self.number, in_chunks);
    }

    /// Begins a call, but for its messages.
    #[inline(always)]
    fn begin(&mut self) {
        self.channels.under_way.begin(self.number);
        self.active = true;
        self.backoff.restart();
        self.patience.restart();
        self.receiving.clear();
        (self.waiting_since, self.unlisted) = (None, false);
    }

    /// Copies the blocks for the process itself.
    #[inline]
    fn copy_own(&mut self) {
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        // SAFETY: the caller of `bind` vouches for the blocks; the buffer is long enough.
        if let Err(e) = unsafe { self.copies.run(self.copies.all(), loopback) } {
            self.note(e);
        }
    }

    /// Counts the edges from the process to itself.
    #[cold]
    fn observe_own(&self, record: &Record) {
        match &self.folding {
            Some(folding) => {
                let (blocks, bytes) = folding.own();
                record.sent(Medium::Own, blocks, bytes);
            }
            None => record.sent(Medium::Own, self.copies.all().len(), self.copies.bytes(self.copies.all())),
        }
    }

    /// Prepares for many calls with the bound buffers.
    ///
    /// # Safety
    /// As for [`Any::settle`](crate::exec::Any::settle).
    pub unsafe fn settle(&mut self) {
        // what is combined is received into memory of this executor, which may move
        if let (Some(Remote::Rma(executor)), None) = (&mut self.remote, &self.folding) {
            // SAFETY: the caller vouches for the buffers.
            unsafe { executor.offer_blocks() };
        }
    }
}

impl Drop for Shm {
    fn drop(&mut self) {
        if self.is_stuck() {
            std::mem::forget(std::mem::take(&mut self.scratch));
        }
    }
}

impl Executor for Shm {
    fn observe(&mut self, record: &Arc<Record>) {
        if let Some(remote) = &mut self.remote {
            remote.observe(record);
        }
        self.record = Some(Arc::clone(record));
    }

    fn is_stuck(&self) -> bool {
        self.stuck || self.remote.as_ref().is_some_and(Remote::is_stuck)
    }

    #[inline]
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            self.bind_fields(std::slice::from_ref(buffers))?;
            if self.remote.is_some() {
                self.bind_remote(buffers)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn start(&mut self, tag: i32) -> Result<()> {
        self.channels.check(1)?;
        self.tag = tag;
        self.number = self.channels.next_number();
        self.sending.clear();
        if self.brief && self.record.is_none() {
            self.start_brief();
            return Ok(());
        }
        self.begin();
        let mut remote_failed = false;
        if let Some(remote) = &mut self.remote {
            // the network takes longest
            match remote.start(tag) {
                Ok(()) => self.remote_runs = true,
                Err(e) => {
                    remote_failed = true;
                    self.note(e);
                }
            }
        }
        self.hopes = self.channels.away_only
            && !self.started_only
            && !self.channels.oversubscribed
            && self.folding.as_ref().is_none_or(|folding| folding.may_take_parts());
        self.receiving.extend(0..self.recvs.len());
        for i in 0..self.recvs.len() {
            let recv = &mut self.recvs[i];
            recv.state = RecvState::Waiting;
            recv.in_ring = true;
            (recv.unfolded, recv.ticks) = (recv.blocks.len(), 0);
            recv.until = None;
            // nothing that lies in a cell is long
            if recv.whole.is_none() && recv.bytes > 0 {
                self.prepare_long(i);
            }
        }
        if let Some(mut folding) = self.folding.take() {
            // SAFETY: the caller of `bind` vouches for the blocks.
            let started = unsafe { folding.start(self.loopback()) };
            self.folding = Some(folding);
            // own blocks are here
            self.foldable = true;
            if let Err(e) = started {
                self.note(e);
            }
            if remote_failed {
                self.skip_remote();
            }
        }
        self.send_all();
        self.heed_dead();
        self.copy_own();
        if let Some(record) = &self.record {
            self.observe_own(record);
        }
        Ok(())
    }

    #[inline]
    fn test(&mut self) -> Result<bool> {
        if !self.active {
            return Ok(true);
        }
        self.list();
        self.poll_remote();
        if self.poll() {
            return self.end().map(|()| true);
        }
        self.hopes = false;
        let turn = self.backoff.turn();
        if turn.enters_mpi {
            self.enter_mpi();
        }
        if turn.checks {
            self.give_up_on_dead();
        }
        Ok(false)
    }

    #[inline]
    fn wait(&mut self) -> Result<()> {
        if !self.active {
            return Ok(());
        }
        if self.channels.oversubscribed {
            self.list();
            self.wait_oversubscribed();
        } else {
            if !self.unlisted || !self.wait_briefly() {
                if self.channels.turns {
                    self.begin_to_wait();
                }
                self.wait_on_own_core();
                self.waits = false;
            }
            if self.brief {
                self.fetch_for_next();
            }
        }
        self.end()
    }

    fn can_start(&self) -> Result<()> {
        self.remote.as_ref().map_or(Ok(()), Executor::can_start)
    }

    fn has_numbers(&self, many: u64) -> Result<()> {
        self.channels.check(many)
    }

    fn posts_at_once(&self) -> bool {
        self.remote.as_ref().is_none_or(Executor::posts_at_once)
    }

    fn forget_datatypes(&mut self, watches: bool) {
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(MessageBlock::forget);
        self.accepted = [None; 2];
        self.known.iter().for_each(|known| known.forget(watches));
        if let Some(folding) = &mut self.folding {
            folding.forget_datatypes();
        }
        if let Some(remote) = &mut self.remote {
            remote.forget_datatypes(watches);
        }
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if !self.active {
            return Ok(true);
        }
        if let Some(folding) = &self.folding {
            return Ok(folding.is_source_done(source));
        }
        match self.origins.get(source) {
            Some(&Origin::Peer(i)) => Ok(matches!(self.recvs[i as usize].state, RecvState::Done)),
            Some(Origin::Remote) if self.remote_runs => self.remote.as_mut().map_or(Ok(true), |remote| remote.arrived(source)),
            _ => Ok(true),
        }
    }
}
