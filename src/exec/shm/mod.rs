//! The shared-memory executor: edges between processes of one node by mailboxes in memory that they
//! share, all others by messages (`p2p.rs`).
//!
//! All blocks for one process travel together, in one message of its mailbox (`shm/ring.rs`): up to
//! 40 bytes in the cache line that announces it, up to a slot beside it. What is longer goes
//! through the same memory in chunks, which the receiver takes out while the sender puts in. A
//! gather's or reduction's one block lies there once for all targets. A reduction folds straight
//! from there. Nothing is posted, matched or acknowledged by MPI.
//!
//! A collective that is started (a request) must leave nothing to do for its sender, who may wait
//! in MPI for something else before it comes back: what finds no free slot, and what is longer than
//! one, it sends by MPI. A receiver looks for that while it waits, which it must do in MPI now and
//! then anyhow: a message of the caller's own may be under way that only MPI moves.
//!
//! Schedules of more than one round are run for the other edges only: between memories there is no
//! contention that rounds would keep low.
//!
//! Cost: for each process that messages go to or come from one message, two copies of its bytes; no
//! call of MPI unless it waits for more than some microseconds. Memory as `link.rs` says; for
//! blocks in chunks that only `MPI_Pack` can pack, and what goes by MPI, as much as they are long.
//! No allocation once the largest have been seen.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::copy::Copy;
use super::p2p::{P2p, accept, enlarge, self_edge};
use super::{Executor, p2p};
use crate::datatype::buffers::{self, Blocks, Buffers, Ints, Shape};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::guard;
use crate::mpi::leftover;
use crate::mpi::liveness::Patience;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::mpi::p2p::LAST_TESTS;
use crate::mpi::{MPI_Datatype, MPI_Op};
use crate::observe::{Record, Way};
use crate::schedule::{Block, FoldOrder, Op, Schedule};
use crate::shm::doorbell;
use crate::shm::ring::{Header, IN_CHUNKS, IN_LINE, INLINE, WORDS};
use crate::topology::neighborhood::Neighborhood;

mod device;
mod fold;
pub mod link;
mod pieces;

use fold::Folding;
use link::{CHUNKS, Link};
use pieces::{Own, Piece};

/// What happens to a message that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// Nothing more.
    Done,
    /// There is no room for it.
    Waits,
    /// So many chunks of so many are put in.
    Chunks(u64, u64),
}

/// A message to one process, or one that all have in common.
struct Send {
    /// To whom, as positions in the link.
    outs: Range<usize>,
    pieces: Range<usize>,
    bytes: usize,
    state: Sending,
    /// Of one that goes in chunks: where they lie, and for each target the chunks before the
    /// message.
    memory: *mut u8,
    before: Vec<u64>,
    /// What goes by MPI, to which target, and where it is put together, if it must be.
    requests: Vec<(u32, Request)>,
    buffer: Vec<u8>,
}

/// What happens to a message that is received.
enum Receiving {
    Done,
    Waits,
    /// It is there, and stays until it is folded.
    Here,
    Chunks(Chunks),
    /// By MPI, in one message. Whether the receive was posted before the message came: then it may
    /// yet come otherwise, if the sender is in error.
    Mpi(Request, bool),
    /// By MPI, in a message for each block. Those that are missing among the requests are looked
    /// for.
    MpiEach,
    /// By MPI, in one message, which is looked for: a receive that was posted before its length is
    /// known could be overrun.
    Sought,
}

/// Where chunks are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Into {
    /// To the blocks.
    Place,
    /// Together, before they go to the blocks.
    Buffer,
    /// Away: they do not fit.
    Nowhere,
}

/// A message that comes in chunks.
#[derive(Debug, Clone, Copy)]
struct Chunks {
    /// Chunks that have been taken out, and all of them.
    taken: u64,
    all: u64,
    /// Bytes of the message.
    bytes: u64,
    /// Where the memory begins, bytes of a chunk, and chunks of the mailbox before this message.
    memory: u32,
    chunk: u64,
    before: u64,
    into: Into,
}

/// A message from one process.
struct Recv {
    pieces: Range<usize>,
    bytes: usize,
    state: Receiving,
    /// Where it is, when it is here.
    data: *const u8,
    /// A message that lay in its line, is put together, or came by MPI.
    words: [u64; WORDS],
    buffer: Vec<u8>,
    /// Of a message for each block, and where those go that are too long for theirs.
    requests: Vec<Request>,
    strays: Vec<Vec<u8>>,
    /// Blocks of it that have not been folded.
    unfolded: usize,
    /// Whether its mailbox waits to be emptied.
    in_mailbox: bool,
}

impl Send {
    fn new(outs: Range<usize>, pieces: Range<usize>) -> Send {
        let (before, requests) = (Vec::with_capacity(outs.len()), Vec::with_capacity(outs.len()));
        Send { outs, pieces, bytes: 0, state: Sending::Done, memory: std::ptr::null_mut(), before, requests, buffer: Vec::new() }
    }
}

impl Recv {
    fn new(pieces: Range<usize>) -> Recv {
        let blocks = pieces.len();
        Recv {
            pieces,
            bytes: 0,
            state: Receiving::Done,
            data: std::ptr::null(),
            words: [0; WORDS],
            buffer: Vec::new(),
            requests: Vec::with_capacity(if blocks > 1 { blocks } else { 0 }),
            strays: Vec::new(),
            unfolded: 0,
            in_mailbox: false,
        }
    }
}

/// Where the block of a source comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Nowhere,
    /// Of the process at this position in the link its block number this.
    Peer(u32, u32),
    /// The process itself; the target slot, and the index of the copy.
    Own(u32, u32),
    Rest,
}

/// Executes one schedule for a process that shares memory with some of its neighbors.
pub struct Shm {
    link: Arc<Link>,
    comm: Arc<Comm>,
    alone: Option<Arc<Comm>>,
    me: i32,
    tag: i32,
    /// Whether the caller may leave it alone after the start.
    started_only: bool,
    number: u64,
    active: bool,
    /// By field and side, what is known of datatypes.
    known: Vec<[Known; 2]>,
    inputs: Vec<Piece>,
    outputs: Vec<Piece>,
    /// Messages of their own to each process, or one to all.
    each: Vec<Send>,
    all: Vec<Send>,
    to_all: bool,
    recvs: Vec<Recv>,
    /// Positions of messages that have not come to their end.
    sending: Vec<u32>,
    receiving: Vec<u32>,
    self_edges: Vec<(u32, u32)>,
    copies: Vec<Copy>,
    accepted: [Option<MPI_Datatype>; 2],
    pack: Vec<u8>,
    rest: Option<Box<P2p>>,
    rest_runs: bool,
    origins: Vec<Origin>,
    folding: Option<Box<Folding>>,
    /// Blocks for a reduction that come by messages: where they lie, of which sources they are, and
    /// by source, how they are described.
    scratch: Vec<u8>,
    far: Vec<u32>,
    far_counts: Vec<i64>,
    far_displs: Vec<i64>,
    far_datatypes: Vec<MPI_Datatype>,
    failure: Option<Box<Error>>,
    /// Whether MPI writes messages that are too long past their receives (`mpi/guard.rs`).
    guarded: bool,
    /// Whether a process sends several blocks.
    several: bool,
    /// Whether anything that is sent went by MPI.
    by_mpi: bool,
    polls: u32,
    patience: Patience,
    /// What is counted and traced, where somebody asks.
    record: Option<Arc<Record>>,
    /// When processes were last looked for that have ended.
    since: Instant,
    /// Since when messages have waited for room.
    waiting_since: Option<Instant>,
}

/// Looks of a process that has a core before it begins to pause between them.
const SPINS: u32 = 2000;
/// Looks between two entries into MPI, after that.
const ENTER: u32 = 64;
/// Looks, and then yields, of a process that shares its core, before it sleeps.
const LOOKS: u32 = 20;
const YIELDS: u32 = 16;
/// Tests of a request in vain between two entries into MPI.
const TESTS: u32 = 16;
/// How long a message waits for room.
const PATIENCE_FOR_ROOM: Duration = Duration::from_millis(2);
/// How long a process waits between two looks whether those that it waits for live.
const PATIENCE: Duration = Duration::from_millis(100);

// SAFETY: addresses in buffers of the caller's and in shared memory, at which whoever completes the
// call may look, memory of its own, and handles, which may be used in any thread that may call MPI.
unsafe impl std::marker::Send for Shm {}

/// Takes a receive back. Whether that has come to an end: what has begun to come cannot be taken
/// back, and may never be complete.
#[cold]
fn take_back(request: &mut Request) -> bool {
    request.is_null() || (request.cancel().is_ok() && (0..LAST_TESTS).any(|_| !matches!(request.test_cancelled(), Ok(None))))
}

/// Posts a receive, which a longer message cannot overrun.
///
/// # Safety
/// As for [`message::receive`].
unsafe fn receive(guarded: bool, at: *mut u8, bytes: u64, rank: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the bytes.
    unsafe {
        if guarded {
            guard::receive(at, bytes, rank, tag, comm)
        } else {
            message::receive(at, bytes, Some(rank), Some(tag), comm)
        }
    }
}

/// What an executor is made of.
pub struct Parts<'a> {
    /// Not folded.
    pub schedule: &'a Schedule,
    pub neighborhood: &'a Neighborhood,
    /// The order in which it reduces, if it does.
    pub fold: Option<FoldOrder>,
    /// Whether it is for requests.
    pub started_only: bool,
    /// Fields that are exchanged together.
    pub fields: usize,
    pub waiting: p2p::Waiting,
    pub window: u32,
}

impl Shm {
    /// An executor. `alone` is for those that reduce.
    pub fn new(link: &Arc<Link>, comm: Arc<Comm>, alone: Option<Arc<Comm>>, parts: &Parts) -> Shm {
        let n = parts.neighborhood;
        let (targets, sources, self_edges) = (n.targets_in_order(), n.sources_in_order(), n.self_edges());
        let mut origins = vec![Origin::Nowhere; n.sources().len()];
        for &(slot, _) in &sources {
            origins[slot as usize] = Origin::Rest;
        }
        for (k, &(target, source)) in self_edges.iter().enumerate() {
            origins[source as usize] = Origin::Own(target, k as u32);
        }
        let (mut inputs, mut each) = (Vec::new(), Vec::new());
        for (i, out) in link.outs.iter().enumerate() {
            let begin = inputs.len();
            for field in 0..parts.fields {
                inputs.extend(targets.iter().filter(|t| t.1 == out.rank).map(|t| Piece::new(field, t.0)));
            }
            each.push(Send::new(i..i + 1, begin..inputs.len()));
        }
        let all = if link.outs.is_empty() { Vec::new() } else { vec![Send::new(0..link.outs.len(), 0..1)] };
        let (mut outputs, mut recvs) = (Vec::new(), Vec::new());
        for (i, source) in link.ins.iter().enumerate() {
            let begin = outputs.len();
            for field in 0..parts.fields {
                for (k, s) in sources.iter().filter(|s| s.1 == source.rank).enumerate() {
                    outputs.push(Piece::new(field, s.0));
                    origins[s.0 as usize] = Origin::Peer(i as u32, k as u32);
                }
            }
            recvs.push(Recv::new(begin..outputs.len()));
        }
        let several = recvs.iter().any(|recv| recv.pieces.len() > 1);
        let remote = |rank: u32| rank != n.rank() && !link.has(rank);
        let schedule = parts.schedule.retained(|op| match *op {
            Op::Recv { from, .. } => remote(from),
            Op::Send { to, .. } => remote(to),
            Op::Copy { .. } | Op::Reduce { .. } => false,
        });
        let rest = (!schedule.ops().is_empty())
            .then(|| Box::new(P2p::new(Arc::clone(&comm), None, n.rank(), parts.waiting, parts.window, &schedule)));
        let far: Vec<u32> = (0..).zip(&origins).filter(|o| *o.1 == Origin::Rest).map(|o| o.0).collect();
        let far_entries = if parts.fold.is_some() { origins.len() } else { 0 };
        Shm {
            link: Arc::clone(link),
            comm,
            alone,
            me: n.rank() as i32,
            tag: 0,
            started_only: parts.started_only,
            number: 0,
            active: false,
            known: (0..parts.fields).map(|_| Default::default()).collect(),
            sending: Vec::with_capacity(each.len()),
            receiving: Vec::with_capacity(recvs.len()),
            inputs,
            outputs,
            each,
            all,
            to_all: false,
            recvs,
            copies: Vec::with_capacity(self_edges.len() * parts.fields),
            self_edges,
            accepted: [None; 2],
            pack: Vec::new(),
            rest,
            rest_runs: false,
            folding: parts.fold.map(|order| Box::new(Folding::new(order, &origins))),
            origins,
            scratch: Vec::new(),
            far_counts: vec![0; far_entries],
            far_displs: vec![0; far_entries],
            // matches whatever is sent
            far_datatypes: vec![message::packed(); far_entries],
            far,
            failure: None,
            guarded: guard::is_needed(),
            several,
            by_mpi: false,
            polls: 0,
            patience: Patience::default(),
            record: None,
            since: Instant::now(),
            waiting_since: None,
        }
    }

    /// Binds several fields, which are exchanged together; edges that leave the node are not looked
    /// at.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    pub unsafe fn bind_fields(&mut self, fields: &[Buffers]) -> Result<()> {
        self.copies.clear();
        let Some(first) = fields.first() else { return Ok(()) };
        self.to_all = pieces::is_one(&first.input);
        let freed = self.known[0][0].freed()?;
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            if let Some(op) = first.op {
                self.bind_fold(op, first)?;
            } else {
                for piece in &mut self.outputs {
                    let (side, known) = (&fields[piece.field as usize].output, &self.known[piece.field as usize][1]);
                    piece.bind(side, known, freed, &self.comm)?;
                }
                if !self.self_edges.is_empty() {
                    self.bind_copies(fields)?;
                }
            }
            let own = if self.to_all { self.inputs.len().min(1) } else { self.inputs.len() };
            for piece in &mut self.inputs[..own] {
                let (side, known) = (&fields[piece.field as usize].input, &self.known[piece.field as usize][0]);
                piece.bind(side, known, freed, &self.comm)?;
            }
        }
        for send in if self.to_all { &mut self.all } else { &mut self.each } {
            send.bytes = pieces::total(&self.inputs[send.pieces.clone()])?;
        }
        if first.op.is_none() {
            for recv in &mut self.recvs {
                // a block that all targets get travels once
                let last = if self.to_all { recv.pieces.end.min(recv.pieces.start + 1) } else { recv.pieces.end };
                recv.bytes = pieces::total(&self.outputs[recv.pieces.start..last])?;
            }
        }
        Ok(())
    }

    unsafe fn bind_copies(&mut self, fields: &[Buffers]) -> Result<()> {
        for (field, known) in fields.iter().zip(&self.known) {
            for &(target, source) in &self.self_edges {
                let (from, into) = (field.input.locate(target as usize)?, field.output.locate(source as usize)?);
                // SAFETY: as for `bind_fields`.
                unsafe {
                    accept(&mut self.accepted[0], from.datatype, &field.input, target as usize, &self.comm)?;
                    accept(&mut self.accepted[1], into.datatype, &field.output, source as usize, &self.comm)?;
                    p2p::refuse_null(&from, &field.input)?;
                    p2p::refuse_null(&into, &field.output)?;
                    let Some(copy) = Copy::prepare(from, into, &known[0], &self.comm)? else {
                        let (from_block, into_block) = (Block::Input(target), Block::Output(source));
                        return Err(self_edge(from_block, &from, into_block, &into)?.into());
                    };
                    enlarge(&mut self.pack, copy.buffer())?;
                    self.copies.push(copy);
                }
            }
        }
        Ok(())
    }

    /// Prepares a reduction: everything but what is sent.
    unsafe fn bind_fold(&mut self, op: MPI_Op, buffers: &Buffers) -> Result<()> {
        let Some(folding) = &mut self.folding else {
            return Err(Error::Internal("an executor that does not reduce got an operator".into()).into());
        };
        let Some(alone) = self.alone.as_deref() else {
            return Err(Error::Internal("an executor that does not reduce got an operator".into()).into());
        };
        // SAFETY: as for `bind_fields`.
        unsafe {
            let known = &self.known[0][1];
            folding.bind(op, &buffers.output, known, &self.comm, alone)?;
            for &(target, _) in &self.self_edges {
                let from = buffers.input.locate(target as usize)?;
                accept(&mut self.accepted[0], from.datatype, &buffers.input, target as usize, &self.comm)?;
                p2p::refuse_null(&from, &buffers.input)?;
                folding.bind_own(target, from, &self.known[0][0], &self.comm)?;
            }
        }
        for recv in &mut self.recvs {
            // a block that all targets get travels once
            let blocks = if self.to_all { recv.pieces.len().min(1) } else { recv.pieces.len() };
            let bytes = blocks.checked_mul(folding.bytes()).filter(|&bytes| bytes <= buffers::MOST as usize);
            recv.bytes = bytes.ok_or(Error::NoMemory { bytes: usize::MAX })?;
        }
        Ok(())
    }

    /// Binds the edges that leave the node.
    unsafe fn bind_rest(&mut self, buffers: &Buffers) -> Result<()> {
        let Some(rest) = &mut self.rest else { return Ok(()) };
        // SAFETY: as for `bind_fields`; what is received for a reduction goes into memory of our
        // own.
        unsafe {
            let Some(folding) = &self.folding else { return rest.bind(buffers) };
            let bytes = folding.bytes();
            let needed = self.far.len().checked_mul(bytes).ok_or(Error::NoMemory { bytes: usize::MAX })?;
            if rest.is_stuck() {
                // MPI may still write there
                std::mem::forget(std::mem::take(&mut self.scratch));
            }
            enlarge(&mut self.scratch, needed)?;
            for (place, &source) in self.far.iter().enumerate() {
                self.far_counts[source as usize] = bytes as i64;
                self.far_displs[source as usize] = (place * bytes) as i64;
            }
            let (counts, displs) = (Ints::Wide(&self.far_counts), Ints::Wide(&self.far_displs));
            let shape = Shape::General { counts, displs, datatypes: &self.far_datatypes };
            let output = Blocks {
                base: self.scratch.as_mut_ptr(),
                datatype: message::packed(),
                extent: 1,
                shape,
                names: buffers.output.names,
            };
            rest.bind(&Buffers { input: buffers.input, output, op: None })
        }
    }

    /// Counts the edges to the process itself.
    #[cold]
    fn observe_own(&self, record: &Record) {
        match &self.folding {
            Some(folding) => record.sent(Way::Own, self.self_edges.len(), (self.self_edges.len() * folding.bytes()) as u64),
            None => record.sent(Way::Own, self.copies.len(), self.copies.iter().map(Copy::bytes).sum()),
        }
    }

    /// Counts and traces what this executor does from now on.
    pub fn observe(&mut self, record: &Arc<Record>) {
        if let Some(rest) = &mut self.rest {
            rest.observe(record);
        }
        self.record = Some(Arc::clone(record));
    }

    #[inline(always)]
    fn sends(&self) -> &[Send] {
        if self.to_all { &self.all } else { &self.each }
    }

    #[inline(always)]
    fn send_mut(&mut self, k: usize) -> &mut Send {
        if self.to_all { &mut self.all[k] } else { &mut self.each[k] }
    }

    #[inline(always)]
    fn own(&self) -> Own<'_> {
        Own { me: self.me, tag: self.tag, comm: &self.comm }
    }

    /// Remembers a failure, if it is the first: all messages come to their end.
    #[cold]
    fn note(&mut self, error: Box<Error>) {
        self.failure.get_or_insert(error);
    }

    /// Whether message `k` can be put into all of its mailboxes now.
    #[inline(always)]
    fn has_room(&self, send: &Send) -> bool {
        let free = |i: usize| {
            let out = &self.link.outs[i];
            out.sender.is_free(self.number, out.mailbox()) && out.chunks_are_taken()
        };
        self.holders(send).all(free)
    }

    /// The targets that may still read what lies in a message's memory: in reductions the first
    /// one's memory may hold what is for all.
    #[inline(always)]
    fn holders(&self, send: &Send) -> Range<usize> {
        if self.folding.is_some() && send.outs.start == 0 { 0..self.link.outs.len() } else { send.outs.clone() }
    }

    #[inline(always)]
    fn put(&self, send: &Send, bytes: u32, place: u32, words: &[u64]) {
        if let Some(record) = &self.record {
            record.sent(Way::Shared, send.outs.len(), bytes as u64 * send.outs.len() as u64);
        }
        for out in &self.link.outs[send.outs.clone()] {
            let acks = out.back.map_or(0, |back| self.link.ins[back].mailbox().acks());
            out.sender.put(self.number, out.mailbox(), Header { bytes, place, acks }, words);
        }
    }

    /// Puts message `k` in, if there is room; the next chunk of it, if it is long. Whether anything
    /// was done.
    #[inline(always)]
    fn step_send(&mut self, k: usize) -> Result<bool> {
        let send = &self.sends()[k];
        match send.state {
            Sending::Waits if self.has_room(send) => {}
            Sending::Chunks(..) => return self.step_chunk(k),
            _ => return Ok(false),
        }
        if send.bytes > self.link.slot {
            return self.begin_long(k);
        }
        let pieces = &self.inputs[send.pieces.clone()];
        let packed = if send.bytes <= INLINE {
            let mut words = [0u64; WORDS];
            // SAFETY: the caller of `bind` vouches for the blocks.
            let packed = unsafe { pieces::pack(pieces, words.as_mut_ptr().cast(), self.own()) };
            self.put(send, send.bytes as u32, IN_LINE, &words[..send.bytes.div_ceil(8)]);
            packed
        } else {
            let slot = self.link.slot_for(&send.outs, &self.holders(send), self.number, send.bytes);
            let Some(slot) = slot else { return Ok(false) };
            // SAFETY: as above; the slot is as long, and nobody reads it, as there is room.
            let packed = unsafe { pieces::pack(pieces, slot, self.own()) };
            self.put(send, send.bytes as u32, self.link.place(slot), &[]);
            packed
        };
        self.send_mut(k).state = Sending::Done;
        packed.map(|()| true)
    }

    /// Begins to send a message that is longer than a slot, when its receivers have said how they
    /// take it. Whether anything was done.
    #[cold]
    fn begin_long(&mut self, k: usize) -> Result<bool> {
        let send = &self.sends()[k];
        let mut in_chunks = true;
        for out in &self.link.outs[send.outs.clone()] {
            match out.begun(self.number) {
                None => return Ok(false),
                Some(chunks) => in_chunks &= chunks,
            }
        }
        if !in_chunks || self.sends_from_device(k) {
            return self.send_by_mpi(k).map(|()| true);
        }
        match self.link.memory_for_chunks(&send.outs, &self.holders(send)) {
            Some(memory) => self.begin_chunks(k, memory).map(|()| true),
            None => Ok(false),
        }
    }

    /// Announces a message that comes in chunks.
    fn begin_chunks(&mut self, k: usize, memory: *mut u8) -> Result<()> {
        let chunk = self.link.chunk();
        let Self { link, all, each, inputs, to_all, comm, me, tag, record, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        if let Some(record) = record {
            record.sent(Way::Shared, send.outs.len(), (send.bytes * send.outs.len()) as u64);
        }
        let pieces = &inputs[send.pieces.clone()];
        let count = send.bytes.div_ceil(chunk) as u64;
        let mut packed = Ok(());
        if !pieces.iter().all(Piece::is_divisible) {
            enlarge(&mut send.buffer, send.bytes)?;
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer is as long.
            packed = unsafe { pieces::pack(pieces, send.buffer.as_mut_ptr(), Own { me: *me, tag: *tag, comm }) };
        }
        send.memory = memory;
        let memory = link.place(memory);
        send.before.clear();
        send.state = Sending::Chunks(0, count);
        for out in &link.outs[send.outs.clone()] {
            let before = out.chunks.load(Ordering::Relaxed);
            send.before.push(before);
            let acks = out.back.map_or(0, |back| link.ins[back].mailbox().acks());
            let words = [before, send.bytes as u64, memory.into(), chunk as u64];
            out.sender.put(self.number, out.mailbox(), Header { bytes: 0, place: IN_CHUNKS, acks }, &words);
        }
        packed
    }

    /// Puts the next chunk of a message in, if there is room.
    fn step_chunk(&mut self, k: usize) -> Result<bool> {
        let send = &self.sends()[k];
        let Sending::Chunks(done, all) = send.state else { return Ok(false) };
        let outs = &self.link.outs[send.outs.clone()];
        if outs.iter().zip(&send.before).any(|(out, &before)| !out.has_room_for_chunk(before, done)) {
            return Ok(false);
        }
        let chunk = self.link.chunk();
        let begin = done as usize * chunk;
        let part = begin..(begin + chunk).min(send.bytes);
        let memory = send.memory.wrapping_add((done % CHUNKS) as usize * chunk);
        // SAFETY: the caller of `bind` vouches for the blocks; the memory is as long, and has been
        // read.
        unsafe {
            let pieces = &self.inputs[send.pieces.clone()];
            if pieces.iter().all(Piece::is_divisible) {
                pieces::pack_part(pieces, part, memory);
            } else {
                memory.copy_from_nonoverlapping(send.buffer[part].as_ptr(), chunk.min(send.bytes - begin));
            }
        }
        for (out, before) in outs.iter().zip(&send.before) {
            out.chunks.store(before + done + 1, Ordering::Relaxed);
            out.mailbox().set_written(before + done + 1);
        }
        let state = if done + 1 == all { Sending::Done } else { Sending::Chunks(done + 1, all) };
        self.send_mut(k).state = state;
        Ok(true)
    }

    /// Sends a message by MPI. The call's end waits for that to be complete, unless the message is
    /// put together in memory that can be left to MPI.
    #[cold]
    fn send_by_mpi(&mut self, k: usize) -> Result<()> {
        let (tag, tag_of_blocks) = (self.link.tag(self.number), self.link.tag_of_blocks(self.number));
        // for a long one the receiver has posted a receive, or looks for it; where a short one
        // found no room it may be busy with earlier ones
        let detach = self.sends()[k].bytes <= self.link.slot;
        let Self { link, all, each, inputs, to_all, comm, me, tag: own_tag, by_mpi, folding, record, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        send.state = Sending::Done;
        let (pieces, bytes) = (&inputs[send.pieces.clone()], send.bytes);
        let own = Own { me: *me, tag: *own_tag, comm };
        // SAFETY: the caller of `bind` vouches for the blocks until the call is complete; memory of
        // our own is left alone until MPI has sent it.
        unsafe {
            let send_from = |at: *const u8, bytes: usize, rank, tag| {
                if let Some(record) = &*record {
                    record.sent(Way::Mpi, 1, bytes as u64);
                }
                message::send(Mode::Standard, &bytes_at(at, bytes as u64), rank, tag, comm)
            };
            // whoever is dead takes nothing from MPI's queues either
            let living = |o: &usize| !link.outs[*o].is_gone();
            if detach {
                for out in send.outs.clone().filter(living).map(|o| &link.outs[o]) {
                    let mut buffer = Vec::new();
                    enlarge(&mut buffer, bytes)?;
                    pieces::pack(pieces, buffer.as_mut_ptr(), own)?;
                    let request = send_from(buffer.as_ptr(), bytes, out.rank, tag)?;
                    link.detach(leftover::Message { request, memory: buffer, receiver: out.world });
                }
                return Ok(());
            }
            *by_mpi = true;
            if folding.is_some() && pieces.len() > 1 {
                enlarge(&mut send.buffer, bytes)?;
                pieces::pack(pieces, send.buffer.as_mut_ptr(), own)?;
                for o in send.outs.clone().filter(living) {
                    send.requests.push((o as u32, send_from(send.buffer.as_ptr(), bytes, link.outs[o].rank, tag)?));
                }
                return Ok(());
            }
            // each block for itself: those that lie in one piece need not be copied
            let tag = if pieces.len() > 1 { tag_of_blocks } else { tag };
            enlarge(&mut send.buffer, pieces::gapped(pieces))?;
            let mut next = send.buffer.as_mut_ptr();
            for piece in pieces {
                if let Some(block) = piece.on_device() {
                    for o in send.outs.clone().filter(living) {
                        if let Some(record) = &*record {
                            record.sent(Way::Mpi, 1, piece.bytes as u64);
                        }
                        let request = message::send(Mode::Standard, &block, link.outs[o].rank, tag, comm)?;
                        send.requests.push((o as u32, request));
                    }
                    continue;
                }
                let at = match piece.in_place() {
                    Some(at) => at,
                    None => {
                        piece.pack(next, own)?;
                        let at = next;
                        next = next.wrapping_add(piece.bytes);
                        at
                    }
                };
                for o in send.outs.clone().filter(living) {
                    send.requests.push((o as u32, send_from(at, piece.bytes, link.outs[o].rank, tag)?));
                }
            }
        }
        Ok(())
    }

    /// Looks whether the message from a process is there, and takes it out. Whether it has come to
    /// its end.
    #[inline(always)]
    fn step_recv(&mut self, i: usize) -> Result<bool> {
        if !matches!(self.recvs[i].state, Receiving::Waits) {
            return self.go_on(i);
        }
        let (link, source) = (&self.link, &self.link.ins[i]);
        let Some(header) = source.mailbox().header(self.number) else { return Ok(false) };
        if let Some(back) = source.back {
            link.outs[back].sender.learn(header.acks);
        }
        let recv = &mut self.recvs[i];
        recv.data = match header.place {
            IN_LINE => {
                source.mailbox().words(self.number, &mut recv.words);
                recv.words.as_ptr().cast()
            }
            IN_CHUNKS => return self.announced(i),
            place => match link.at(place, 0, header.bytes as usize) {
                Some(data) => data,
                None => return self.broken(i),
            },
        };
        if header.bytes as usize != recv.bytes
            && let Err(e) = self.check(i, header.bytes.into())
        {
            self.link.ins[i].mailbox().take(self.number);
            return self.give_up(i, e);
        }
        if self.folding.is_some() {
            self.recvs[i].state = Receiving::Here;
            return self.fold(i);
        }
        let done = self.take_out(i, header.bytes as usize);
        self.link.ins[i].mailbox().take(self.number);
        self.recvs[i].state = Receiving::Done;
        done.map(|()| true)
    }

    /// Brings a message of `bytes` bytes that is here out to where it belongs.
    #[inline(always)]
    fn take_out(&mut self, i: usize, bytes: usize) -> Result<()> {
        let recv = &self.recvs[i];
        let pieces = &self.outputs[recv.pieces.clone()];
        // SAFETY: the caller of `bind` vouches for the blocks; the message is as long as they are,
        // as has been checked, or shorter.
        unsafe {
            match pieces {
                [piece] if bytes == recv.bytes => piece.unpack(recv.data, self.own()),
                [_, ..] if self.to_all || bytes != recv.bytes => {
                    pieces.iter().try_for_each(|piece| piece.unpack_short(recv.data, bytes, self.own()))
                }
                _ => pieces::unpack(pieces, recv.data, self.own()),
            }
        }
    }

    /// An error if a message of `sent` bytes does not fit. A shorter one does where it is one
    /// block, as in MPI.
    #[cold]
    fn check(&self, i: usize, sent: u64) -> Result<()> {
        let recv = &self.recvs[i];
        let (expected, one) = (recv.bytes as u64, self.folding.is_none() && (self.to_all || recv.pieces.len() == 1));
        if sent == expected || (sent < expected && one) {
            return Ok(());
        }
        let slots = self.outputs[recv.pieces.clone()].iter().map(|p| p.slot).collect();
        Err(Error::Length { rank: self.link.ins[i].rank, slots, sent, expected }.into())
    }

    /// Ends a message that cannot be used.
    #[cold]
    fn give_up(&mut self, i: usize, error: Box<Error>) -> Result<bool> {
        self.recvs[i].state = Receiving::Done;
        self.skip_peer(i);
        Err(error)
    }

    /// Leaves the blocks of a process out of the reduction.
    fn skip_peer(&mut self, i: usize) {
        for position in 0..self.folding.as_ref().map_or(0, |f| f.chain.len()) {
            if let Some(folding) = &mut self.folding
                && matches!(folding.chain[position].1, Origin::Peer(peer, _) if peer as usize == i)
            {
                folding.skip(position);
            }
        }
    }

    /// Ends a message that comes by no way that there is.
    #[cold]
    fn broken(&mut self, i: usize) -> Result<bool> {
        let rank = self.link.ins[i].rank;
        self.give_up(
            i,
            Error::Internal(format!("process {rank} has put no message where its mailbox says that there is one")).into(),
        )
    }

    /// Begins to take out a message that comes in chunks.
    #[cold]
    fn announced(&mut self, i: usize) -> Result<bool> {
        let mut words = [0u64; WORDS];
        self.link.ins[i].mailbox().words(self.number, &mut words);
        let [before, bytes, memory, chunk, _] = words;
        if chunk == 0 {
            return self.broken(i);
        }
        let checked = self.check(i, bytes);
        let Self { outputs, recvs, folding, to_all, .. } = self;
        let recv = &mut recvs[i];
        let whole = folding.is_none() && !*to_all && bytes == recv.bytes as u64;
        let into = match &checked {
            Err(_) => Into::Nowhere,
            Ok(()) if whole && outputs[recv.pieces.clone()].iter().all(Piece::is_divisible) => Into::Place,
            Ok(()) => Into::Buffer,
        };
        let (mut into, mut checked) = (into, checked);
        if into == Into::Buffer
            && let Err(e) = enlarge(&mut recv.buffer, bytes as usize)
        {
            (into, checked) = (Into::Nowhere, Err(e));
        }
        recv.state =
            Receiving::Chunks(Chunks { taken: 0, all: bytes.div_ceil(chunk), bytes, memory: memory as u32, chunk, before, into });
        checked.map(|()| false)
    }

    /// Goes on with a message that has begun to come, or is here. Whether it has come to its end.
    #[cold]
    fn go_on(&mut self, i: usize) -> Result<bool> {
        match &mut self.recvs[i].state {
            Receiving::Done => Ok(true),
            Receiving::Waits => Ok(false),
            Receiving::Here => self.fold(i),
            Receiving::Chunks(chunks) => {
                let chunks = *chunks;
                self.take_chunks(i, chunks)
            }
            Receiving::MpiEach => self.take_each(i),
            Receiving::Sought => self.seek(i),
            Receiving::Mpi(request, posted) => {
                let came = match request.test_receive() {
                    Ok(Some(status)) => status.bytes,
                    Ok(None) if !*posted || self.link.ins[i].mailbox().header(self.number).is_none() => return Ok(false),
                    Ok(None) => return self.take_back(i),
                    Err(e) => return self.give_up(i, e),
                };
                match self.check(i, came) {
                    Ok(()) => self.complete(i, came as usize),
                    Err(e) => self.give_up(i, e),
                }
            }
        }
    }

    /// Looks for a message that comes by MPI. Whether it has come to its end.
    fn seek(&mut self, i: usize) -> Result<bool> {
        if self.link.ins[i].mailbox().header(self.number).is_some() {
            // its sender takes it to be shorter
            self.recvs[i].state = Receiving::Waits;
            return self.step_recv(i);
        }
        self.look_for_message(i)?;
        Ok(matches!(self.recvs[i].state, Receiving::Done))
    }

    /// Receives what has come of the messages for each block.
    #[cold]
    fn seek_each(&mut self, i: usize) -> Result<()> {
        if self.receives_on_device(i) {
            return self.post_each(i);
        }
        let tag = self.link.tag_of_blocks(self.number);
        let Self { link, outputs, recvs, comm, .. } = self;
        let (recv, rank) = (&mut recvs[i], link.ins[i].rank);
        let pieces = &outputs[recv.pieces.clone()];
        enlarge(&mut recv.buffer, pieces::gapped(pieces))?;
        while recv.requests.len() < pieces.len() {
            let Some(found) = message::probe(Some(rank), tag, message::has_matched_probe(), comm)? else { break };
            let piece = &pieces[recv.requests.len()];
            let at = if found.status.bytes > piece.bytes as u64 {
                let mut stray = Vec::new();
                enlarge(&mut stray, found.status.bytes as usize)?;
                recv.strays.push(stray);
                recv.strays.last_mut().map_or(std::ptr::null_mut(), Vec::as_mut_ptr)
            } else {
                let begin = pieces::gapped(&pieces[..recv.requests.len()]);
                piece.in_place().unwrap_or(recv.buffer.as_mut_ptr().wrapping_add(begin))
            };
            // SAFETY: there is room for the message, as has been looked; it is left alone until the
            // request is complete.
            recv.requests.push(unsafe { found.receive(at, comm) }?);
        }
        Ok(())
    }

    /// Completes a message that comes by MPI block by block. Whether it has come to its end.
    fn take_each(&mut self, i: usize) -> Result<bool> {
        let mut done = true;
        if self.recvs[i].requests.len() < self.recvs[i].pieces.len() {
            if let Err(e) = self.seek_each(i) {
                self.cancel_each(i);
                return self.give_up(i, e);
            }
            done = self.recvs[i].requests.len() == self.recvs[i].pieces.len();
        }
        let lengths: usize = self.recvs[i].requests.len();
        for k in 0..lengths {
            if self.recvs[i].requests[k].is_null() {
                continue;
            }
            match self.recvs[i].requests[k].test_receive() {
                Ok(Some(status)) => {
                    let recv = &self.recvs[i];
                    let expected = self.outputs[recv.pieces.start + k].bytes as u64;
                    if status.bytes != expected {
                        let slots = self.outputs[recv.pieces.clone()].iter().map(|p| p.slot).collect();
                        self.note(Error::Length { rank: self.link.ins[i].rank, slots, sent: status.bytes, expected }.into());
                    }
                }
                Ok(None) => done = false,
                Err(e) => self.note(e),
            }
        }
        if !done {
            if self.link.ins[i].mailbox().header(self.number).is_some() {
                // its sender takes it to be shorter
                self.cancel_each(i);
                self.recvs[i].state = Receiving::Waits;
                return self.step_recv(i);
            }
            return Ok(false);
        }
        let recv = &mut self.recvs[i];
        recv.requests.clear();
        recv.strays.clear();
        recv.in_mailbox = false;
        recv.state = Receiving::Done;
        let (recv, own) = (&self.recvs[i], self.own());
        let mut from = recv.buffer.as_ptr();
        for piece in self.outputs[recv.pieces.clone()].iter().filter(|piece| piece.is_gapped()) {
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer has room for those
            // that it is for.
            unsafe { piece.unpack(from, own) }?;
            from = from.wrapping_add(piece.bytes);
        }
        Ok(true)
    }

    /// Takes back the receives of a message that was to come block by block.
    #[cold]
    fn cancel_each(&mut self, i: usize) {
        let recv = &mut self.recvs[i];
        let mut all = true;
        for mut request in recv.requests.drain(..) {
            all &= take_back(&mut request);
        }
        if !all {
            // MPI may still write there
            std::mem::forget(std::mem::take(&mut recv.buffer));
            std::mem::forget(std::mem::take(&mut recv.strays));
        }
        recv.strays.clear();
    }

    /// Whether the blocks of a process, where they come by MPI, can come in a message each.
    fn may_come_in_pieces(&self, i: usize) -> bool {
        self.recvs[i].pieces.len() > 1 && !self.to_all && self.folding.is_none()
    }

    /// Whether a message comes block by block where it comes by MPI.
    fn comes_in_pieces(&self, i: usize) -> bool {
        self.recvs[i].bytes > self.link.ins[i].slot && self.may_come_in_pieces(i)
    }

    /// Posts the receives of a message that comes by MPI block by block.
    fn post_each(&mut self, i: usize) -> Result<()> {
        let tag = self.link.tag_of_blocks(self.number);
        let Self { link, outputs, recvs, comm, guarded, .. } = self;
        let (recv, rank) = (&mut recvs[i], link.ins[i].rank);
        let pieces = &outputs[recv.pieces.clone()];
        enlarge(&mut recv.buffer, pieces::gapped(pieces))?;
        // those that have been posted before an error stay
        let posted = recv.requests.len();
        let mut next = recv.buffer.as_mut_ptr().wrapping_add(pieces::gapped(&pieces[..posted]));
        recv.state = Receiving::MpiEach;
        for piece in &pieces[posted..] {
            if let Some(block) = piece.on_device() {
                // SAFETY: the caller of `bind` vouches for the block.
                recv.requests.push(unsafe { message::receive_block(&block, rank, tag, comm) }?);
                continue;
            }
            let at = piece.in_place().unwrap_or(next);
            if piece.in_place().is_none() {
                next = next.wrapping_add(piece.bytes);
            }
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer has room for those
            // that it is for, and is left alone.
            recv.requests.push(unsafe { receive(*guarded, at, piece.bytes as u64, rank, tag, comm) }?);
        }
        Ok(())
    }

    /// Takes a receive back: the message is in the mailbox, as its sender takes it to be shorter.
    #[cold]
    fn take_back(&mut self, i: usize) -> Result<bool> {
        if let Receiving::Mpi(request, _) = &mut self.recvs[i].state {
            take_back(request);
        }
        self.recvs[i].state = Receiving::Waits;
        self.step_recv(i)
    }

    /// Brings a message out that is here as a whole, and not in its mailbox any more.
    fn complete(&mut self, i: usize, bytes: usize) -> Result<bool> {
        let recv = &mut self.recvs[i];
        recv.in_mailbox = false;
        if self.folding.is_some() {
            recv.state = Receiving::Here;
            return self.fold(i);
        }
        recv.state = Receiving::Done;
        if recv.data.is_null() {
            // it came where it belongs
            return Ok(true);
        }
        let recv = &mut self.recvs[i];
        recv.data = recv.buffer.as_ptr();
        self.take_out(i, bytes).map(|()| true)
    }

    /// Takes the chunks out that are there.
    fn take_chunks(&mut self, i: usize, mut chunks: Chunks) -> Result<bool> {
        let mailbox = self.link.ins[i].mailbox();
        let there = mailbox.written().wrapping_sub(chunks.before).min(chunks.all);
        if there <= chunks.taken {
            return Ok(false);
        }
        // one at a time, so that other messages go on too
        let begin = chunks.taken * chunks.chunk;
        let end = (begin + chunks.chunk).min(chunks.bytes);
        let part = begin as usize..end as usize;
        let offset = (chunks.taken % CHUNKS * chunks.chunk) as usize;
        let Some(data) = self.link.at(chunks.memory, offset, part.len()) else { return self.broken(i) };
        let recv = &mut self.recvs[i];
        // SAFETY: the caller of `bind` vouches for the blocks; the sender has put as many bytes
        // there.
        unsafe {
            match chunks.into {
                Into::Place => pieces::unpack_part(&self.outputs[recv.pieces.clone()], part, data),
                Into::Buffer => recv.buffer[part.clone()].as_mut_ptr().copy_from_nonoverlapping(data, part.len()),
                Into::Nowhere => {}
            }
        }
        chunks.taken += 1;
        mailbox.set_read(chunks.before + chunks.taken);
        recv.state = Receiving::Chunks(chunks);
        if chunks.taken < chunks.all {
            return Ok(false);
        }
        mailbox.take(self.number);
        recv.data = recv.buffer.as_ptr();
        match chunks.into {
            Into::Place => {
                recv.state = Receiving::Done;
                Ok(true)
            }
            Into::Buffer => self.complete(i, chunks.bytes as usize),
            Into::Nowhere => {
                recv.state = Receiving::Done;
                self.skip_peer(i);
                Ok(true)
            }
        }
    }

    /// Folds what can be folded now. Whether the message of process `i` has come to its end by
    /// that.
    fn fold(&mut self, i: usize) -> Result<bool> {
        self.fold_all()?;
        Ok(matches!(self.recvs[i].state, Receiving::Done))
    }

    /// Folds what can be folded now.
    fn fold_all(&mut self) -> Result<()> {
        let Some(mut folding) = self.folding.take() else { return Ok(()) };
        let folded = self.fold_with(&mut folding);
        self.folding = Some(folding);
        folded
    }

    fn fold_with(&mut self, folding: &mut Folding) -> Result<()> {
        let mut done = Ok(());
        loop {
            let mut any = false;
            for position in folding.candidates() {
                if folding.is_done(position) {
                    continue;
                }
                let (source, origin) = folding.chain[position];
                let data = match origin {
                    Origin::Peer(i, k) => {
                        let recv = &self.recvs[i as usize];
                        let block = if self.to_all { 0 } else { k as usize };
                        matches!(recv.state, Receiving::Here).then(|| recv.data.wrapping_add(block * folding.bytes()))
                    }
                    Origin::Own(target, _) => Some(folding.own_data(target)),
                    Origin::Rest => self.rest_data(source as usize, folding.bytes())?,
                    Origin::Nowhere => None,
                };
                let Some(data) = data else { continue };
                // SAFETY: the caller of `bind` vouches for the result; the block is there.
                let folded = unsafe { folding.fold(position, data, self.own()) };
                done = done.and(folded);
                any = true;
                if let Origin::Peer(i, _) = origin {
                    let recv = &mut self.recvs[i as usize];
                    recv.unfolded -= 1;
                    if recv.unfolded == 0 {
                        recv.state = Receiving::Done;
                        if recv.in_mailbox {
                            self.link.ins[i as usize].mailbox().take(self.number);
                        }
                    }
                }
            }
            if !any {
                return done;
            }
        }
    }

    /// The block of a source that came by the other executor, if it has come.
    fn rest_data(&mut self, source: usize, bytes: usize) -> Result<Option<*const u8>> {
        let there = match &mut self.rest {
            Some(rest) if self.rest_runs => rest.arrived(source)?,
            _ => true,
        };
        let place = self.far.binary_search(&(source as u32)).unwrap_or(0);
        Ok(there.then(|| self.scratch.as_ptr().wrapping_add(place * bytes)))
    }

    /// Does what can be done without waiting, once. Whether all has come to its end. Errors are
    /// noted.
    #[inline(always)]
    fn poll(&mut self) -> bool {
        let mut changed = false;
        let mut k = 0;
        while k < self.sending.len() {
            let i = self.sending[k] as usize;
            match self.step_send(i) {
                Ok(stepped) => changed |= stepped,
                Err(e) => self.note(e),
            }
            match self.sends()[i].state {
                Sending::Done => drop(self.sending.swap_remove(k)),
                _ => k += 1,
            }
        }
        let mut k = 0;
        while k < self.receiving.len() {
            let i = self.receiving[k] as usize;
            if let Err(e) = self.step_recv(i) {
                self.note(e);
            }
            match self.recvs[i].state {
                // the sender may wait for what has been taken out
                Receiving::Chunks(_) => {
                    changed = true;
                    k += 1;
                }
                Receiving::Done => {
                    self.receiving.swap_remove(k);
                    changed = true;
                }
                _ => k += 1,
            }
        }
        if let Some(folding) = &self.folding {
            let before = folding.count_done();
            if let Err(e) = self.fold_all() {
                self.note(e);
            }
            changed |= self.folding.as_ref().is_some_and(|folding| folding.count_done() > before);
        }
        if changed && self.link.crowded {
            self.ring();
        }
        let here = self.sending.is_empty() && self.receiving.is_empty();
        here && !self.rest_runs && !self.has_more()
    }

    /// Whether messages that went by MPI, or a reduction, are not at their end.
    #[inline(always)]
    fn has_more(&mut self) -> bool {
        if !self.by_mpi && self.folding.is_none() {
            return false;
        }
        self.look_for_more()
    }

    #[cold]
    fn look_for_more(&mut self) -> bool {
        let mut more = self.folding.as_ref().is_some_and(|f| !f.is_complete());
        let mut failed = None;
        if self.by_mpi {
            let sends = if self.to_all { &mut self.all } else { &mut self.each };
            for (_, request) in sends.iter_mut().flat_map(|s| &mut s.requests) {
                match request.test() {
                    Ok(done) => more |= !done,
                    Err(e) => failed = Some(e),
                }
            }
        }
        if let Some(e) = failed {
            self.note(e);
        }
        more
    }

    /// Wakes the processes that may wait for what has been done here.
    fn ring(&self) {
        doorbell::before_ringing();
        for member in self.link.outs.iter().map(|o| o.member).chain(self.link.ins.iter().map(|i| i.member)) {
            self.link.bells[member as usize].ring();
        }
    }

    /// Lets MPI move other messages, and looks for those of this call that come by MPI.
    #[cold]
    fn enter_mpi(&mut self) {
        match self.may_have_come() {
            Ok(true) => {
                for k in 0..self.receiving.len() {
                    let i = self.receiving[k] as usize;
                    if matches!(self.recvs[i].state, Receiving::Waits | Receiving::MpiEach)
                        && let Err(e) = self.look_for_any(i)
                    {
                        self.note(e);
                    }
                }
            }
            Ok(false) => {}
            Err(e) => self.note(e),
        }
        if !self.sending.is_empty() {
            self.lose_patience();
        }
    }

    /// Whether MPI has a message of this call that nobody has begun to receive. Lets MPI move
    /// others.
    fn may_have_come(&self) -> Result<bool> {
        let has = |tag: i32| message::probe(None, tag, false, &self.comm).map(|found| found.is_some());
        Ok(has(self.link.tag(self.number))? || (self.several && has(self.link.tag_of_blocks(self.number))?))
    }

    /// Begins to receive the message of a process by MPI if it comes that way, in one message or
    /// several, whatever was expected.
    fn look_for_any(&mut self, i: usize) -> Result<()> {
        if matches!(self.recvs[i].state, Receiving::MpiEach) {
            let source = Some(self.link.ins[i].rank);
            if message::probe(source, self.link.tag(self.number), false, &self.comm)?.is_none() {
                return Ok(());
            }
            // its sender takes it to be shorter
            self.cancel_each(i);
            self.recvs[i].state = Receiving::Waits;
        }
        self.look_for_message(i)
    }

    /// Sends by MPI what has waited for long: its receiver may be waiting for it while earlier
    /// messages are still in its mailbox.
    #[cold]
    fn lose_patience(&mut self) {
        match self.waiting_since {
            None => self.waiting_since = Some(Instant::now()),
            Some(since) if since.elapsed() > PATIENCE_FOR_ROOM => {
                for k in (0..self.sending.len()).rev() {
                    let i = self.sending[k] as usize;
                    if self.sends()[i].state == Sending::Waits {
                        self.sending.swap_remove(k);
                        if let Err(e) = self.send_by_mpi(i) {
                            self.note(e);
                        }
                    }
                }
            }
            Some(_) => {}
        }
    }

    /// Begins to receive the message of a process by MPI if it comes that way.
    fn look_for_message(&mut self, i: usize) -> Result<()> {
        let (source, tag) = (Some(self.link.ins[i].rank), self.link.tag(self.number));
        if self.may_come_in_pieces(i)
            && message::probe(source, self.link.tag_of_blocks(self.number), false, &self.comm)?.is_some()
        {
            // what is found waits for the receives
            self.recvs[i].state = Receiving::MpiEach;
            return Ok(());
        }
        // there must be room before the message is taken out of MPI's queue
        let Some(found) = message::probe(source, tag, false, &self.comm)? else { return Ok(()) };
        let at = match self.room(i, found.status.bytes) {
            Ok(at) => at,
            Err(e) => return self.give_up(i, e).map(|_| ()),
        };
        let Some(probed) = message::probe(source, tag, message::has_matched_probe(), &self.comm)? else { return Ok(()) };
        // SAFETY: the caller of `bind` vouches for the block, in which there is room; a buffer is
        // as long, and left alone until the message is complete.
        let request = unsafe { probed.receive(at, &self.comm) }?;
        self.recvs[i].state = Receiving::Mpi(request, false);
        Ok(())
    }

    /// Posts the receive of a message that the sender will send by MPI, as it is long and the
    /// caller may not come back soon.
    #[cold]
    fn post(&mut self, i: usize) -> Result<()> {
        if self.guarded && !self.started_only && !self.receives_on_device(i) {
            // whoever waits can look for it, which leaves MPI its single copy
            self.recvs[i].state = if self.comes_in_pieces(i) { Receiving::MpiEach } else { Receiving::Sought };
            return Ok(());
        }
        if self.comes_in_pieces(i) {
            return self.post_each(i);
        }
        if let Some(posted) = self.post_to_device(i) {
            return posted;
        }
        let bytes = self.recvs[i].bytes as u64;
        let at = self.room(i, bytes)?;
        let (rank, tag) = (self.link.ins[i].rank, self.link.tag(self.number));
        // SAFETY: as for `look_for_message`.
        let request = unsafe { receive(self.guarded, at, bytes, rank, tag, &self.comm) }?;
        self.recvs[i].state = Receiving::Mpi(request, true);
        Ok(())
    }

    /// Where a message that comes by MPI goes: to its block where that is one without gaps, else to
    /// a buffer.
    fn room(&mut self, i: usize, bytes: u64) -> Result<*mut u8> {
        let Self { outputs, recvs, folding, .. } = self;
        let recv = &mut recvs[i];
        let at = match &outputs[recv.pieces.clone()] {
            [piece] if folding.is_none() && bytes <= piece.bytes as u64 => piece.in_place(),
            _ => None,
        };
        recv.data = std::ptr::null();
        if at.is_none() {
            enlarge(&mut recv.buffer, bytes as usize)?;
            recv.data = recv.buffer.as_ptr();
        }
        Ok(at.unwrap_or(recv.buffer.as_mut_ptr()))
    }

    /// Polls the other executor.
    #[inline(always)]
    fn poll_rest(&mut self) {
        if !self.rest_runs {
            return;
        }
        if let Some(rest) = &mut self.rest {
            match rest.test() {
                Ok(done) => self.rest_runs = !done,
                Err(e) => {
                    self.rest_runs = false;
                    self.note(e);
                }
            }
        }
    }

    /// Ends the call.
    #[inline(always)]
    fn end(&mut self) -> Result<()> {
        self.active = false;
        if self.by_mpi {
            self.end_sends();
        }
        match self.failure.take() {
            None => Ok(()),
            Some(e) => Err(e),
        }
    }

    /// Waits where processes share cores.
    fn wait_crowded(&mut self) {
        let (mut looks, mut all) = (0, 0u32);
        let mut left = self.sending.len() + self.receiving.len();
        let mut alive = Instant::now();
        loop {
            self.poll_rest();
            if self.poll() {
                return;
            }
            let now_left = self.sending.len() + self.receiving.len();
            if now_left != left {
                (looks, left) = (0, now_left);
            }
            (looks, all) = (looks + 1, all.wrapping_add(1));
            if looks <= LOOKS {
                std::hint::spin_loop();
                continue;
            }
            if all.is_multiple_of(LOOKS) {
                self.enter_mpi();
            }
            if looks <= LOOKS + YIELDS || self.rest_runs || self.by_mpi {
                // SAFETY: takes nothing, touches nothing.
                unsafe { libc::sched_yield() };
            } else {
                self.enter_mpi();
                let link = Arc::clone(&self.link);
                link.bell.sleep(|| self.may_go_on());
                // what has woken this process may not be all
                looks = LOOKS;
            }
            if all.is_multiple_of(64) && alive.elapsed() > PATIENCE {
                self.look_for_dead();
                alive = Instant::now();
            }
        }
    }

    /// Whether polling would do anything.
    fn may_go_on(&self) -> bool {
        let receives = self.receiving.iter().any(|&i| {
            let (recv, source) = (&self.recvs[i as usize], &self.link.ins[i as usize]);
            match recv.state {
                Receiving::Waits => source.mailbox().header(self.number).is_some(),
                Receiving::Chunks(c) => source.mailbox().written().wrapping_sub(c.before) > c.taken,
                Receiving::Mpi(..) | Receiving::MpiEach | Receiving::Sought => true,
                Receiving::Here | Receiving::Done => false,
            }
        });
        receives
            || self.sending.iter().any(|&k| {
                let send = &self.sends()[k as usize];
                match send.state {
                    Sending::Waits if send.bytes > self.link.slot => {
                        self.link.outs[send.outs.clone()].iter().all(|out| out.begun(self.number).is_some())
                    }
                    Sending::Waits => self.has_room(send),
                    Sending::Chunks(done, _) => {
                        let mut outs = self.link.outs[send.outs.clone()].iter().zip(&send.before);
                        outs.all(|(out, &before)| out.has_room_for_chunk(before, done))
                    }
                    Sending::Done => false,
                }
            })
    }

    /// True if the message from process `i` has been found in MPI's queue, and has not come yet.
    fn is_found(&self, i: usize) -> bool {
        matches!(self.recvs[i].state, Receiving::Mpi(_, false))
    }

    /// Gives up on processes that have ended: what has not come from them never will.
    #[cold]
    fn look_for_dead(&mut self) {
        let gone = |rank: u32| Box::new(Error::Gone { rank });
        // what they have left behind is taken first
        self.enter_mpi();
        // a process that has left for the end of MPI still lets MPI bring what has been found of
        // it, but what MPI would copy out of the memory of a dead one never comes
        let found = self.receiving.iter().map(|&i| i as usize).filter(|&i| self.is_found(i));
        let senders = found.filter(|&i| !self.link.lives(self.link.ins[i].member)).map(|i| self.link.ins[i].rank);
        let senders: Vec<u32> = senders.collect();
        // SAFETY: a live communicator.
        let dead = unsafe { self.patience.look(self.comm.raw(), senders.into_iter()) };
        for k in (0..self.receiving.len()).rev() {
            let i = self.receiving[k] as usize;
            let found = self.is_found(i);
            if self.link.lives(self.link.ins[i].member) || (found && !dead.contains(&self.link.ins[i].rank)) {
                continue;
            }
            self.link.note_gone();
            match self.step_recv(i) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(e) => {
                    self.note(e);
                    continue;
                }
            }
            let source = &self.link.ins[i];
            let rank = source.rank;
            match &mut self.recvs[i].state {
                Receiving::Here | Receiving::Done => continue,
                Receiving::Chunks(c) if source.mailbox().written().wrapping_sub(c.before) > c.taken => continue,
                Receiving::Mpi(request, posted) => {
                    // what has been found cannot be taken back
                    if !*posted || !take_back(request) {
                        // MPI may still write there
                        std::mem::forget(std::mem::take(&mut self.recvs[i].buffer));
                    }
                }
                Receiving::MpiEach => self.cancel_each(i),
                Receiving::Waits | Receiving::Sought | Receiving::Chunks(_) => {}
            }
            self.receiving.swap_remove(k);
            if let Err(e) = self.give_up(i, gone(rank)) {
                self.note(e);
            }
        }
        // a message goes on without the targets that are dead: the others wait for it
        for k in 0..self.sending.len() {
            let send = &self.sends()[self.sending[k] as usize];
            let (own, holders) = (send.outs.clone(), self.holders(send));
            for o in holders {
                let out = &self.link.outs[o];
                // one that holds nothing of ours may have gone its way
                let holds = own.contains(&o) || !out.sender.is_idle(out.mailbox()) || !out.chunks_are_taken();
                if holds && !out.is_gone() && !self.link.lives(out.member) {
                    self.link.give_up(o);
                }
            }
        }
        if let Some(out) = self.link.outs.iter().find(|out| out.is_gone()) {
            self.note(gone(out.rank));
        }
        let mut dead = None;
        let Self { link, all, each, to_all, .. } = self;
        for send in if *to_all { all } else { each } {
            let before = send.requests.len();
            send.requests.retain_mut(|(out, request)| {
                let out = &link.outs[*out as usize];
                let lost = !link.lives(out.member) && !matches!(request.test(), Ok(true));
                if lost {
                    dead = Some(out.rank);
                }
                !lost
            });
            if send.requests.len() < before {
                // MPI may still read there
                std::mem::forget(std::mem::take(&mut send.buffer));
            }
        }
        if let Some(rank) = dead {
            self.note(gone(rank));
        }
    }

    /// Forgets what MPI sends.
    fn end_sends(&mut self) {
        let sends = if self.to_all { &mut self.all } else { &mut self.each };
        sends.iter_mut().for_each(|s| s.requests.clear());
        self.by_mpi = false;
    }

    /// Waits where each process has a core.
    #[inline(always)]
    fn wait_alone(&mut self) {
        for _ in 0..SPINS {
            self.poll_rest();
            if self.poll() {
                return;
            }
        }
        self.wait_long();
    }

    #[cold]
    fn wait_long(&mut self) {
        let mut looks = 0u32;
        let mut alive = Instant::now();
        loop {
            self.poll_rest();
            if self.poll() {
                return;
            }
            looks = looks.wrapping_add(1);
            std::hint::spin_loop();
            if looks.is_multiple_of(ENTER) {
                self.enter_mpi();
            }
            if looks.is_multiple_of(ENTER << 8) && alive.elapsed() > PATIENCE {
                self.look_for_dead();
                alive = Instant::now();
            }
        }
    }

    /// Starts messages; what cannot be put in waits, or goes by MPI where the caller may not come
    /// back soon.
    #[inline(always)]
    fn send_all(&mut self) {
        for k in 0..self.sends().len() {
            self.send_mut(k).state = Sending::Waits;
            let must_not_wait = self.started_only;
            let done = if must_not_wait && self.sends()[k].bytes > self.link.slot { Ok(false) } else { self.step_send(k) };
            if let Err(e) = done {
                self.note(e);
            }
            if self.sends()[k].state == Sending::Done {
                continue;
            }
            if must_not_wait {
                if let Err(e) = self.send_by_mpi(k) {
                    self.note(e);
                }
            } else {
                self.sending.push(k as u32);
            }
        }
        if self.link.crowded {
            self.ring();
        }
        if self.link.any_gone() {
            // known from an earlier call
            self.look_for_dead();
        }
    }
}

impl Shm {
    /// Returns whether MPI may still be at work in what the other executor has bound, though
    /// nothing is under way.
    pub fn is_stuck(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.is_stuck())
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
    #[inline]
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            self.bind_fields(std::slice::from_ref(buffers))?;
            if self.rest.is_some() {
                self.bind_rest(buffers)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn start(&mut self, tag: i32) -> Result<()> {
        self.tag = tag;
        self.number = self.link.take_number();
        self.active = true;
        self.polls = 0;
        self.sending.clear();
        self.receiving.clear();
        if let Some(rest) = &mut self.rest {
            // the network takes longest
            match rest.start(tag) {
                Ok(()) => self.rest_runs = true,
                Err(e) => self.note(e),
            }
        }
        self.waiting_since = None;
        for i in 0..self.recvs.len() {
            let recv = &mut self.recvs[i];
            recv.state = Receiving::Waits;
            recv.in_mailbox = true;
            recv.unfolded = recv.pieces.len();
            self.receiving.push(i as u32);
            if recv.bytes > self.link.ins[i].slot {
                let by_mpi = self.started_only || self.link.ins[i].long_by_mpi || self.receives_on_device(i);
                if by_mpi && let Err(e) = self.post(i) {
                    self.note(e);
                }
                self.link.ins[i].mailbox().begin(self.number, !by_mpi);
            }
        }
        if let Some(mut folding) = self.folding.take() {
            // SAFETY: the caller of `bind` vouches for the blocks.
            let started = unsafe { folding.start(self.own()) };
            self.folding = Some(folding);
            if let Err(e) = started {
                self.note(e);
            }
        }
        self.send_all();
        for k in 0..self.copies.len() {
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer is long enough.
            let copied = unsafe { self.copies[k].run(&mut self.pack, self.me, self.tag, &self.comm) };
            if let Err(e) = copied {
                self.note(e);
            }
        }
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
        self.poll_rest();
        if self.poll() {
            return self.end().map(|()| true);
        }
        self.polls = self.polls.wrapping_add(1);
        if self.polls == TESTS {
            self.since = Instant::now();
        }
        if self.polls.is_multiple_of(TESTS) {
            self.enter_mpi();
        }
        if self.polls.is_multiple_of(TESTS << 8) && self.since.elapsed() > PATIENCE {
            self.since = Instant::now();
            self.look_for_dead();
        }
        Ok(false)
    }

    #[inline]
    fn wait(&mut self) -> Result<()> {
        if !self.active {
            return Ok(());
        }
        if self.link.crowded {
            self.wait_crowded();
        } else {
            self.wait_alone();
        }
        self.end()
    }

    fn is_lost(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.is_lost())
    }

    fn posts_at_once(&self) -> bool {
        self.rest.as_ref().is_none_or(|rest| rest.posts_at_once())
    }

    fn forget_datatypes(&mut self) {
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(Piece::forget);
        self.accepted = [None; 2];
        if let Some(folding) = &mut self.folding {
            folding.forget_datatypes();
        }
        if let Some(rest) = &mut self.rest {
            rest.forget_datatypes();
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
            Some(&Origin::Peer(i, _)) => Ok(matches!(self.recvs[i as usize].state, Receiving::Done)),
            Some(Origin::Rest) if self.rest_runs => self.rest.as_mut().map_or(Ok(true), |rest| rest.arrived(source)),
            _ => Ok(true),
        }
    }
}
