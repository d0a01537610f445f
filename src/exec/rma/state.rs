//! The state of an RMA executor and of its messages.

use std::ops::Range;
use std::sync::Arc;

use super::answer::WORDS;
use super::link::Link;
use super::slots::Slot;
use crate::datatype::copy::OwnCopies;
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::Error;
use crate::exec::blocks::MessageBlock;
use crate::exec::folding::Folding;
use crate::mpi::Datatype;
use crate::mpi::barrier::Barrier;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::message::Request;
use crate::mpi::p2p::Requests;
use crate::observe::Record;

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// None is active.
    Idle,
    /// Earlier calls use the window.
    Queued,
    /// It uses the window.
    Open,
    /// It is complete, and its outcome has not been returned.
    Complete,
}

/// A message to one target.
pub(super) struct OutMessage {
    /// The target's position among the link's, and where it has room for this process.
    pub(super) position: usize,
    pub(super) slot: Slot,
    /// Which of all messages of the edges between these processes it is.
    pub(super) number: u64,
    pub(super) blocks: Range<usize>,
    pub(super) bytes: usize,
    /// Where its header and data begin in the staging buffer.
    pub(super) staged: usize,
    /// Its header, where that is not sent from the staging buffer.
    pub(super) words: [u64; 2],
    /// Address of its data, if they go straight from the caller's buffer.
    pub(super) in_place: Option<*const u8>,
    /// True if its header is put by itself, although its data are staged.
    pub(super) apart: bool,
    /// True if its blocks could not be packed.
    pub(super) spoiled: bool,
    /// True if its blocks are not packed, as they are put from where they lie.
    pub(super) in_pieces: bool,
    /// The target's answer. MPI writes it.
    pub(super) answer: [u64; WORDS],
    /// True if its data go straight to the target's blocks; before its turn, if the last ones did.
    pub(super) straight: bool,
    /// True once it has been put or sent, or nobody is there to get it.
    pub(super) left: bool,
    /// True if MPI has refused what ends its put.
    pub(super) refused: bool,
    /// Sends of the header and of data that do not go by a put.
    pub(super) sends: [Request; 2],
}

impl OutMessage {
    pub(super) fn new(position: usize, slot: Slot, blocks: Range<usize>) -> OutMessage {
        OutMessage {
            position,
            slot,
            number: 0,
            blocks,
            bytes: 0,
            staged: 0,
            words: [0; 2],
            in_place: None,
            apart: false,
            spoiled: false,
            in_pieces: false,
            answer: [0; WORDS],
            straight: false,
            left: false,
            refused: false,
            sends: Default::default(),
        }
    }
}

/// State of a message that is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InState {
    /// It is put into its slot.
    Put,
    /// The same, but its epoch will not end: its header is looked for in memory.
    Slot,
    /// Its header comes by message, or no data in place of it.
    Header,
    /// Its data come by message, so many bytes.
    Data { bytes: u64, in_place: bool, wanted: bool },
    /// It is here, and its blocks are combined where they lie.
    Landed,
    /// It is in its blocks, or will not come.
    Done,
}

/// A message from one source.
pub(super) struct InMessage {
    /// The source's position among the link's, and where its messages are put.
    pub(super) position: usize,
    pub(super) slot: Slot,
    /// Which of all messages of the edges between these processes it is.
    pub(super) number: u64,
    pub(super) blocks: Range<usize>,
    pub(super) bytes: usize,
    pub(super) state: InState,
    /// A header that comes by message.
    pub(super) words: [u64; 2],
    pub(super) request: Request,
    /// Data that come by message, if not in place.
    pub(super) buffer: Vec<u8>,
    /// Where its data are, once it has landed.
    pub(super) data: *const u8,
    /// The answer that tells its source where its blocks lie. Empty where it may not know.
    pub(super) offer: Vec<u64>,
}

impl InMessage {
    pub(super) fn new(position: usize, slot: Slot, blocks: Range<usize>) -> InMessage {
        InMessage {
            position,
            slot,
            number: 0,
            blocks,
            bytes: 0,
            state: InState::Done,
            words: [0; 2],
            request: Request::default(),
            buffer: Vec::new(),
            data: std::ptr::null(),
            offer: Vec::new(),
        }
    }
}

/// Executes the edges of one round by puts.
pub struct Round {
    pub(super) link: Arc<Link>,
    /// The private communicator, and the call's tag on it.
    pub(super) comm: Arc<Comm>,
    pub(super) tag: i32,
    pub(super) me: i32,
    pub(super) stage: Stage,
    pub(super) turn: u64,
    /// Cached facts about the datatypes, by field.
    pub(super) known: Vec<Known>,
    pub(super) inputs: Vec<MessageBlock>,
    pub(super) outputs: Vec<MessageBlock>,
    pub(super) outs: Vec<OutMessage>,
    pub(super) ins: Vec<InMessage>,
    /// Parts of blocks that could not be packed, by their positions among `inputs`.
    pub(super) lost: Vec<usize>,
    /// Entries of the source list that blocks come from, in order, and the positions of their
    /// messages.
    pub(super) of_source: Vec<(u32, u32)>,
    /// True if no process has another round.
    pub(super) is_only: bool,
    /// True if a block that comes must be as long as its place.
    pub(super) is_exact: bool,
    /// True if all targets get the same block, which is packed once for all.
    pub(super) to_all: bool,
    pub(super) self_edges: Vec<(u32, u32)>,
    pub(super) copies: OwnCopies,
    pub(super) accepted: [Option<Datatype>; 2],
    /// Combines blocks, with a communicator of this process alone.
    pub(super) folding: Option<(Box<Folding>, Arc<Comm>)>,
    /// Headers and packed data of what is sent.
    pub(super) staging: Vec<u8>,
    /// Receives of the targets' answers, then sends of this process's answers to its sources.
    pub(super) answers: Requests,
    /// Memory of the caller's in which sources may put.
    pub(super) attached: Vec<Range<usize>>,
    /// True while sources may put; true once all messages have left.
    pub(super) exposed: bool,
    pub(super) accessed: bool,
    /// Ends the round on all processes, where these synchronize.
    pub(super) fence: Option<Box<Barrier>>,
    pub(super) failure: Option<Box<Error>>,
    /// True if MPI may still access the bound buffers.
    pub(super) stuck: bool,
    /// True if MPI may still access words of the messages, now or later.
    pub(super) stays: bool,
    pub(super) patience: Patience,
    pub(super) record: Option<Arc<Record>>,
}

// SAFETY: it holds addresses in the caller's buffers, which whoever completes the call may access,
// memory of its own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Round {}

impl Round {
    pub(super) fn loopback(&self) -> Loopback<'_> {
        Loopback { me: self.me, tag: self.tag, comm: &self.comm }
    }

    /// Records a failure, unless there is an earlier one. The other messages still run to
    /// completion.
    #[cold]
    pub(super) fn note(&mut self, error: Box<Error>) {
        self.failure.get_or_insert(error);
    }
}
