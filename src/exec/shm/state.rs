//! What the shared-memory executor knows of its messages.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::blocks::{Loopback, MessageBlock};
use super::channel::Channels;
use super::fold::{Folding, Origin};
use crate::error::{Error, Result};
use crate::exec::copy::Copy;
use crate::exec::p2p::P2p;
use crate::mpi::MPI_Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::liveness::Patience;
use crate::mpi::message::Request;
use crate::observe::Record;
use crate::shm::ring::WORDS;

/// What happens to a message that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendState {
    /// Nothing more.
    Done,
    /// There is no room for it.
    Waiting,
    /// So many chunks of so many are put in.
    Chunks { written: u64, all: u64 },
}

/// A message to one process, or one that all have in common.
pub(super) struct OutMessage {
    /// To whom, as positions in the link.
    pub(super) targets: Range<usize>,
    pub(super) blocks: Range<usize>,
    pub(super) bytes: usize,
    pub(super) state: SendState,
    /// Of one that goes in chunks: where they lie, and for each target the chunks before the
    /// message.
    pub(super) memory: *mut u8,
    pub(super) before: Vec<u64>,
    /// What goes by MPI, to which target, and where it is put together, if it must be.
    pub(super) requests: Vec<(u32, Request)>,
    pub(super) buffer: Vec<u8>,
}

/// What happens to a message that is received.
pub(super) enum RecvState {
    Done,
    Waiting,
    /// It is there, and stays until it is folded.
    Arrived,
    Chunks(Chunks),
    /// By MPI, in one message. Whether the receive was posted before the message came: then it may
    /// yet come otherwise, if the sender is in error.
    Mpi {
        request: Request,
        posted: bool,
    },
    /// By MPI, in a message for each block. Those that are missing among the requests are looked
    /// for.
    MpiBlocks,
    /// By MPI, in one message, which is looked for: a receive that was posted before its length is
    /// known could be overrun.
    Probing,
}

/// Where chunks are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// To the blocks.
    Blocks,
    /// Together, before they go to the blocks.
    Buffer,
    /// Away: they do not fit.
    Discard,
}

/// A message that comes in chunks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunks {
    /// Chunks that have been taken out, and all of them.
    pub(super) taken: u64,
    pub(super) all: u64,
    /// Bytes of the message.
    pub(super) bytes: u64,
    /// Where the memory begins, bytes of a chunk, and chunks of the mailbox before this message.
    pub(super) memory: u32,
    pub(super) chunk: u64,
    pub(super) before: u64,
    pub(super) into: Destination,
}

/// A message from one process.
pub(super) struct InMessage {
    pub(super) blocks: Range<usize>,
    pub(super) bytes: usize,
    pub(super) state: RecvState,
    /// Where it is, when it is here.
    pub(super) data: *const u8,
    /// A message that lay in its line, is put together, or came by MPI.
    pub(super) words: [u64; WORDS],
    pub(super) buffer: Vec<u8>,
    /// Of a message for each block, and where those go that are too long for theirs.
    pub(super) requests: Vec<Request>,
    pub(super) strays: Vec<Vec<u8>>,
    /// Blocks of it that have not been folded.
    pub(super) unfolded: usize,
    /// Whether its mailbox waits to be emptied.
    pub(super) in_ring: bool,
}

impl OutMessage {
    pub(super) fn new(targets: Range<usize>, blocks: Range<usize>) -> OutMessage {
        let (before, requests) = (Vec::with_capacity(targets.len()), Vec::with_capacity(targets.len()));
        OutMessage {
            targets,
            blocks,
            bytes: 0,
            state: SendState::Done,
            memory: std::ptr::null_mut(),
            before,
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
            state: RecvState::Done,
            data: std::ptr::null(),
            words: [0; WORDS],
            buffer: Vec::new(),
            requests: Vec::with_capacity(if count > 1 { count } else { 0 }),
            strays: Vec::new(),
            unfolded: 0,
            in_ring: false,
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
    /// Whether the caller may leave it alone after the start.
    pub(super) started_only: bool,
    pub(super) number: u64,
    pub(super) active: bool,
    /// By field and side, what is known of datatypes.
    pub(super) known: Vec<[Known; 2]>,
    pub(super) inputs: Vec<MessageBlock>,
    pub(super) outputs: Vec<MessageBlock>,
    /// Messages of their own to each process, or one to all.
    pub(super) each: Vec<OutMessage>,
    pub(super) all: Vec<OutMessage>,
    pub(super) to_all: bool,
    pub(super) recvs: Vec<InMessage>,
    /// Positions of messages that have not come to their end.
    pub(super) sending: Vec<u32>,
    pub(super) receiving: Vec<u32>,
    pub(super) self_edges: Vec<(u32, u32)>,
    pub(super) copies: Vec<Copy>,
    pub(super) accepted: [Option<MPI_Datatype>; 2],
    pub(super) pack: Vec<u8>,
    pub(super) remote: Option<Box<P2p>>,
    pub(super) remote_runs: bool,
    pub(super) origins: Vec<Origin>,
    pub(super) folding: Option<Box<Folding>>,
    /// Blocks for a reduction that come by messages: where they lie, of which sources they are, and
    /// by source, how they are described.
    pub(super) scratch: Vec<u8>,
    pub(super) remote_entries: Vec<u32>,
    pub(super) remote_counts: Vec<i64>,
    pub(super) remote_displs: Vec<i64>,
    pub(super) remote_datatypes: Vec<MPI_Datatype>,
    pub(super) failure: Option<Box<Error>>,
    /// Whether MPI writes messages that are too long past their receives (`mpi/guard.rs`).
    pub(super) guarded: bool,
    /// Whether a process sends several blocks.
    pub(super) several: bool,
    /// Whether anything that is sent went by MPI.
    pub(super) by_mpi: bool,
    pub(super) polls: u32,
    pub(super) patience: Patience,
    /// What is counted and traced, where somebody asks.
    pub(super) record: Option<Arc<Record>>,
    /// When processes were last looked for that have ended.
    pub(super) since: Instant,
    /// Since when messages have waited for room.
    pub(super) waiting_since: Option<Instant>,
}

// SAFETY: addresses in buffers of the caller's and in shared memory, at which whoever completes the
// call may look, memory of its own, and handles, which may be used in any thread that may call MPI.
unsafe impl std::marker::Send for Shm {}

impl Shm {
    #[inline(always)]
    pub(super) fn sends(&self) -> &[OutMessage] {
        if self.to_all { &self.all } else { &self.each }
    }

    #[inline(always)]
    pub(super) fn send_mut(&mut self, k: usize) -> &mut OutMessage {
        if self.to_all { &mut self.all[k] } else { &mut self.each[k] }
    }

    #[inline(always)]
    pub(super) fn loopback(&self) -> Loopback<'_> {
        Loopback { me: self.me, tag: self.tag, comm: &self.comm }
    }

    /// Remembers a failure, if it is the first: all messages come to their end.
    #[cold]
    pub(super) fn note(&mut self, error: Box<Error>) {
        self.failure.get_or_insert(error);
    }

    /// Ends the call.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Result<()> {
        self.active = false;
        if self.by_mpi {
            self.end_sends();
        }
        match self.failure.take() {
            None => Ok(()),
            Some(e) => Err(e),
        }
    }
}
