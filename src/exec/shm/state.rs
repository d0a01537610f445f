//! The messages of the shared-memory executor, and the executor's own state.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use smallvec::SmallVec;

use super::channel::Channels;
use super::parts::Part;
use crate::datatype::copy::OwnCopies;
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::blocks::{self, MessageBlock};
use crate::exec::folding::{Folding, Origin};
use crate::exec::remote::Remote;
use crate::mpi::Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::message::Request;
use crate::observe::Record;
use crate::shm::peer_memory::Span;
use crate::shm::ring::WORDS;
use crate::shm::stores::Style;
use crate::util::backoff::Backoff;

/// State of a message that this process sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendState {
    /// Nothing is left to do.
    Done,
    /// It waits for a free cell, buffer or receiver.
    Waiting,
    /// `written` of `all` chunks have been written.
    Chunks { written: u64, all: u64 },
    /// Its targets have been told where it lies, and copy it from there.
    Published,
}

/// Where all bytes of a short message lie, if that is in one piece of whole words, as most short
/// messages do: they go straight from there to the cell, and from the cell to there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    at: *mut u8,
    pub(super) words: usize,
}

impl Whole {
    pub(super) const NONE: Whole = Whole { at: std::ptr::null_mut(), words: 0 };

    /// Of the blocks of a message of `bytes` bytes.
    #[inline(always)]
    pub(super) fn of(blocks: &[MessageBlock], bytes: usize) -> Whole {
        match blocks::in_one_piece(blocks) {
            Some(at) if bytes.is_multiple_of(size_of::<u64>()) => Whole { at, words: bytes / size_of::<u64>() },
            _ => Whole::NONE,
        }
    }

    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.words == 0
    }

    /// Reads word `k`.
    ///
    /// # Safety
    /// It must be readable.
    #[inline(always)]
    pub(super) unsafe fn read(self, k: usize) -> u64 {
        // SAFETY: the caller vouches for the word.
        unsafe { self.at.wrapping_add(k * size_of::<u64>()).cast::<u64>().read_unaligned() }
    }

    /// Writes its words.
    ///
    /// # Safety
    /// They must be writable.
    #[inline(always)]
    pub(super) unsafe fn write(self, words: impl Iterator<Item = u64>) {
        for (k, word) in (0..self.words).zip(words) {
            // SAFETY: the caller vouches for the words.
            unsafe { self.at.wrapping_add(k * size_of::<u64>()).cast::<u64>().write_unaligned(word) };
        }
    }
}

/// A message to one process, or the one message that all targets get.
pub(super) struct OutMessage {
    /// Its targets, as positions among the outbound channels.
    pub(super) targets: Range<usize>,
    pub(super) blocks: Range<usize>,
    pub(super) bytes: usize,
    pub(super) whole: Whole,
    /// True if the process asks ahead for the memory that it goes through.
    pub(super) fetched: bool,
    pub(super) state: SendState,
    /// For a message in chunks: the memory that they go through, for each target the number of
    /// chunks in its channel before this message, and how they are written.
    pub(super) memory: *mut u8,
    pub(super) before: SmallVec<[u64; 1]>,
    pub(super) style: Style,
    /// For a message that its targets copy: where its parts lie.
    pub(super) parts: Vec<Part>,
    /// The parts that targets were found to be able to read; none after `bind`.
    pub(super) readable: Vec<Part>,
    /// Sends by MPI (target and request), and the staging buffer, if the blocks need one.
    pub(super) requests: SmallVec<[(usize, Request); 1]>,
    pub(super) buffer: Vec<u8>,
}

/// State of a message that this process receives.
pub(super) enum RecvState {
    Done,
    Waiting,
    /// It is here, and stays until it has been combined.
    Arrived,
    Chunks(Chunks),
    /// It comes by MPI, in one message. `posted`: the receive was posted before the message was
    /// found, which may still come through the ring if sender and receiver disagree on its length.
    Mpi {
        request: Request,
        posted: bool,
    },
    /// It comes by MPI, in one message for each block. Requests that are still missing are probed
    /// for.
    MpiBlocks,
    /// It was to be copied from its sender's memory, and comes by MPI after all, in one message,
    /// which is probed for.
    Probing,
}

/// Where chunks are copied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// Straight to the blocks.
    Blocks,
    /// Nowhere: each is combined at once, as all before it in the message, once the turn of the
    /// message has come. If it has not when the first one is here, they go to a buffer instead.
    Combined,
    /// To a buffer, and from there to the blocks once all have come.
    Buffer,
    /// Nowhere: the message does not fit.
    Discard,
}

/// A message that comes in chunks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunks {
    /// Chunks copied out so far, and the total.
    pub(super) taken: u64,
    pub(super) all: u64,
    /// Length of the message in bytes.
    pub(super) bytes: u64,
    /// Location of the memory, bytes of a chunk, and chunks in the channel before this message.
    pub(super) memory: u32,
    pub(super) chunk: u64,
    pub(super) before: u64,
    pub(super) into: Destination,
    /// True if it is written by streaming stores; ticks that copying out has taken so far, if the
    /// sender wants to know.
    pub(super) streamed: bool,
    pub(super) ticks: Option<u64>,
}

/// A message from one process.
pub(super) struct InMessage {
    pub(super) blocks: Range<usize>,
    pub(super) bytes: usize,
    pub(super) whole: Whole,
    pub(super) state: RecvState,
    /// Address of the message, once it is here.
    pub(super) data: *const u8,
    /// Storage for a message that came in its cell (`words`), and for one that is assembled here or
    /// came by MPI (`buffer`).
    pub(super) words: [u64; WORDS],
    pub(super) buffer: Vec<u8>,
    /// For a message that is copied from its sender's memory: where its parts lie there.
    pub(super) parts: Vec<Part>,
    /// For a message that comes block by block: the receives.
    pub(super) requests: Vec<Request>,
    /// True while a message comes by MPI that there is no memory for: what is not received in its
    /// block is discarded.
    pub(super) discards: bool,
    /// Blocks of it that have not been combined yet, and ticks that combining has taken so far.
    pub(super) unfolded: usize,
    pub(super) ticks: u64,
    /// True until its cell in the ring is released.
    pub(super) in_ring: bool,
    /// Until when it may come in chunks, though it could be copied from its sender's memory.
    pub(super) until: Option<Instant>,
}

impl OutMessage {
    pub(super) fn new(targets: Range<usize>, blocks: Range<usize>) -> OutMessage {
        let (before, requests) = (SmallVec::with_capacity(targets.len()), SmallVec::with_capacity(targets.len()));
        OutMessage {
            targets,
            blocks,
            bytes: 0,
            whole: Whole::NONE,
            fetched: false,
            state: SendState::Done,
            memory: std::ptr::null_mut(),
            before,
            style: Style::ORDINARY,
            parts: Vec::new(),
            readable: Vec::new(),
            requests,
            buffer: Vec::new(),
        }
    }
}

impl InMessage {
    pub(super) fn new(blocks: Range<usize>) -> InMessage {
        let count = blocks.len();
        InMessage {
            blocks,
            bytes: 0,
            whole: Whole::NONE,
            state: RecvState::Done,
            data: std::ptr::null(),
            words: [0; WORDS],
            buffer: Vec::new(),
            parts: Vec::new(),
            requests: Vec::with_capacity(if count > 1 { count } else { 0 }),
            discards: false,
            unfolded: 0,
            ticks: 0,
            in_ring: false,
            until: None,
        }
    }
}

/// Executes one schedule for a process that shares memory with some of its neighbors.
pub struct Shm {
    pub(super) channels: Arc<Channels>,
    pub(super) comm: Arc<Comm>,
    pub(super) self_comm: Option<Arc<Comm>>,
    pub(super) me: i32,
    pub(super) tag: i32,
    /// True if calls with what is bound are brief (`brief.rs`), and if one is under way whose
    /// messages `receiving` does not list.
    pub(super) brief: bool,
    pub(super) unlisted: bool,
    /// Most bytes of a message to send that is copied twice in any case.
    pub(super) short: usize,
    /// True for requests: the caller need not come back soon after the start.
    pub(super) started_only: bool,
    /// True while the caller waits, and long messages that were announced may come in chunks.
    pub(super) waits: bool,
    /// True for some microseconds, in which messages that a cell has room for wait for a receiver
    /// that takes them in chunks.
    pub(super) hopes: bool,
    pub(super) number: u64,
    pub(super) active: bool,
    /// Cached facts about the datatypes, by field.
    pub(super) known: Vec<Known>,
    pub(super) inputs: Vec<MessageBlock>,
    pub(super) outputs: Vec<MessageBlock>,
    /// One message to each process; one message to all of them; and which of the two is in use.
    pub(super) each: Vec<OutMessage>,
    pub(super) all: Vec<OutMessage>,
    pub(super) to_all: bool,
    pub(super) recvs: Vec<InMessage>,
    /// Positions of messages that are not complete.
    pub(super) sending: Vec<usize>,
    pub(super) receiving: Vec<usize>,
    pub(super) self_edges: Vec<(u32, u32)>,
    pub(super) copies: OwnCopies,
    pub(super) accepted: [Option<Datatype>; 2],
    pub(super) remote: Option<Remote>,
    pub(super) remote_runs: bool,
    pub(super) origins: Vec<Origin>,
    pub(super) folding: Option<Box<Folding>>,
    /// True if a block may have come whose turn it is to be combined.
    pub(super) foldable: bool,
    /// Where blocks are combined, those that come from other nodes: their memory, their sources,
    /// and by source their counts, displacements and datatypes.
    pub(super) scratch: Vec<u8>,
    pub(super) remote_entries: Vec<u32>,
    pub(super) remote_counts: Vec<i64>,
    pub(super) remote_displs: Vec<i64>,
    pub(super) failure: Option<Box<Error>>,
    /// Spans of memory between which the kernel copies: of this process, and of a sender.
    pub(super) spans: [Vec<Span>; 2],
    /// True if MPI may still write into a block that this executor has bound.
    pub(super) stuck: bool,
    /// True if MPI writes messages that are too long past the end of their receives
    /// (`mpi/guard.rs`).
    pub(super) guarded: bool,
    /// True if some process sends several blocks.
    pub(super) several: bool,
    /// True if part of what is sent went by MPI.
    pub(super) by_mpi: bool,
    /// Of tests in vain.
    pub(super) backoff: Backoff,
    pub(super) patience: Patience,
    /// Where messages are counted and traced, if the user asked for that.
    pub(super) record: Option<Arc<Record>>,
    /// Since when messages have waited for room.
    pub(super) waiting_since: Option<Instant>,
}

// SAFETY: it holds addresses in the caller's buffers and in shared memory, which whoever completes
// the call may access, memory of its own, and handles, which any thread that may call MPI may use.
unsafe impl std::marker::Send for Shm {}

impl Shm {
    #[inline]
    pub(super) fn sends(&self) -> &[OutMessage] {
        if self.to_all { &self.all } else { &self.each }
    }

    #[inline]
    pub(super) fn send_mut(&mut self, k: usize) -> &mut OutMessage {
        if self.to_all { &mut self.all[k] } else { &mut self.each[k] }
    }

    #[inline]
    pub(super) fn loopback(&self) -> Loopback<'_> {
        Loopback { me: self.me, tag: self.tag, comm: &self.comm }
    }

    /// Records a failure, unless there is an earlier one. The other messages still run to
    /// completion.
    #[cold]
    pub(super) fn note(&mut self, error: Box<Error>) {
        self.failure.get_or_insert(error);
    }

    /// Finishes the call and returns its first failure.
    #[inline]
    pub(super) fn end(&mut self) -> Result<()> {
        self.active = false;
        self.channels.under_way.end(self.number);
        self.channels.forget_detached();
        if self.by_mpi {
            self.end_sends();
        }
        match self.failure.take() {
            None => Ok(()),
            Some(error) => Err(self.explain(error)),
        }
    }
}
