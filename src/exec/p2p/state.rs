//! The state of a point-to-point executor, and how it records failures.

use std::sync::Arc;

use super::order::Sorted;
use super::parts::Parts;
use super::window::Window;
use crate::datatype::copy::OwnCopies;
use crate::datatype::known::Known;
use crate::datatype::large::Large;
use crate::error::{Error, Result};
use crate::exec::guards::Guards;
use crate::exec::scratch::Scratch;
use crate::exec::waiting::Waiting;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::op::{Element, Operator};
use crate::mpi::p2p::{Failure, Message, Requests};
use crate::mpi::{Datatype, Op, datatype};
use crate::observe::Record;
use crate::schedule::{Block, Schedule};
use crate::topology::neighborhood::Rank;
use crate::util::cast::to_int;

/// The operator and elements of a call's reductions.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    pub(super) op: Op,
    pub(super) datatype: Datatype,
    pub(super) count: i64,
    pub(super) extent: i64,
    /// What a loop of ours combines; `None` if MPI combines them.
    pub(super) loops: Option<(Operator, Element)>,
}

/// Executes one schedule.
pub struct P2p {
    pub(super) comm: Arc<Comm>,
    /// A communicator that holds only this process; only executors that reduce have one.
    pub(super) self_comm: Option<Arc<Comm>>,
    pub(super) me: i32,
    pub(super) tag: i32,
    pub(super) waiting: Waiting,
    pub(super) sorted: Sorted,
    pub(super) scratch_blocks: usize,
    /// The messages, bound.
    pub(super) messages: Vec<Message>,
    pub(super) parts: Parts,
    /// True if one of the bound messages may be sent by rendezvous.
    pub(super) may_rendezvous: bool,
    /// Guards of receives, for an MPI that writes past the end of short ones.
    pub(super) guards: Option<Box<Guards>>,
    pub(super) copies: OwnCopies,
    pub(super) reduces: Vec<(*mut u8, *mut u8)>,
    pub(super) fold: Option<Fold>,
    /// Rounds posted so far; 0 if no call is active.
    pub(super) round: usize,
    /// Reductions done so far.
    pub(super) reduced: usize,
    /// True for each entry of `sorted.unpacks` that has been unpacked.
    pub(super) unpacked: Vec<bool>,
    /// The requests of the last round that was posted; none if rounds overlap.
    pub(super) requests: Requests,
    /// Present if rounds overlap.
    pub(super) window: Option<Box<Window>>,
    /// The first message that failed.
    pub(super) failure: Option<Box<Error>>,
    pub(super) patience: Patience,
    /// True if MPI may still access the buffers of this call, or of an earlier one since `bind`.
    pub(super) stuck: bool,
    pub(super) large: Large,
    pub(super) scratch: Scratch,
    /// A neighbor that has died; no more messages to or from it are posted.
    pub(super) gone: Option<u32>,
    /// Messages of the running call whose blocks could not be packed: notices go instead.
    pub(super) spoiled: Vec<u32>,
    /// Messages of the running call that have not arrived, and will not.
    pub(super) missing: Vec<u32>,
    /// Counts and traces, if the environment asks for it.
    pub(super) record: Option<Arc<Record>>,
    /// Facts about the datatypes of self edges.
    pub(super) known: Known,
    pub(super) accepted: Accepted,
}

/// Datatypes and operators that MPI has accepted. MPI is asked again only about others.
#[derive(Default)]
pub(super) struct Accepted {
    /// The datatype of all input and of all output blocks; if blocks have their own, the last one
    /// of a self edge.
    pub(super) input: Option<Datatype>,
    pub(super) output: Option<Datatype>,
    /// By message, if each block has a datatype of its own.
    pub(super) messages: Vec<Option<Datatype>>,
    pub(super) op: Option<(Op, Datatype)>,
}

impl P2p {
    /// Makes an executor of `schedule` for process `me` on the private communicator. If the
    /// schedule lets rounds overlap, the sends of `window` rounds are in flight; with 1, each round
    /// is complete before the next one begins.
    pub fn new(
        comm: Arc<Comm>,
        self_comm: Option<Arc<Comm>>,
        me: u32,
        waiting: Waiting,
        window: u32,
        schedule: &Schedule,
    ) -> P2p {
        let (sorted, parts) = Sorted::new(schedule);
        let mut requests = Requests::default();
        requests.reserve(sorted.rounds.iter().map(|r| r.sends.end - r.recvs.start).max().unwrap_or(0));
        let nothing = |&(peer, _): &(Rank, Block)| Message {
            at: std::ptr::null_mut(),
            count: 0,
            datatype: datatype::byte(),
            peer: to_int(peer),
        };
        P2p {
            comm,
            self_comm,
            me: to_int(me),
            tag: 0,
            waiting,
            scratch_blocks: schedule.scratch_blocks() as usize,
            messages: sorted.messages.iter().map(nothing).collect(),
            parts,
            may_rendezvous: false,
            guards: Guards::new(sorted.messages.len()),
            copies: OwnCopies::with_capacity(sorted.copies.len()),
            reduces: Vec::with_capacity(sorted.reduces.len()),
            fold: None,
            round: 0,
            reduced: 0,
            unpacked: vec![false; sorted.unpacks.len()],
            requests,
            window: Window::new(schedule, window).map(Box::new),
            failure: None,
            patience: Patience::default(),
            stuck: false,
            large: Large::default(),
            scratch: Scratch::default(),
            gone: None,
            spoiled: Vec::new(),
            missing: Vec::new(),
            record: None,
            known: Known::default(),
            accepted: Accepted { messages: vec![None; sorted.messages.len()], ..Accepted::default() },
            sorted,
        }
    }

    pub(super) fn self_comm(&self) -> Result<&Comm> {
        self.self_comm.as_deref().ok_or_else(|| Error::Internal("an executor that does not reduce got an operator".into()).into())
    }

    /// Leaks our memory if MPI may still access it.
    #[inline]
    pub(super) fn leave_memory(&mut self) {
        if std::mem::take(&mut self.stuck) {
            self.parts.lose();
            self.scratch.lose();
        }
    }

    /// Records a failure, if it is the first. All rounds still run, because neighbors wait for the
    /// later ones.
    #[inline]
    pub(super) fn note(&mut self, done: Result<()>) {
        if let Err(e) = done
            && self.failure.is_none()
        {
            self.failure = Some(e);
        }
    }

    /// Returns true if the block of a source has arrived in the call that has ended, whatever else
    /// failed.
    #[cold]
    pub fn came(&self, source: usize) -> bool {
        let Some(&Some(index)) = self.sorted.sources.get(source) else { return true };
        self.sorted.arrivals[index as usize].messages.iter().all(|m| !self.missing.contains(m))
    }

    /// Names the process at the other end in the error of a message. `first` is the message of the
    /// first request.
    #[cold]
    pub(super) fn name_edge(&self, first: usize, (position, mut error): Failure) -> Box<Error> {
        let i = first + position;
        if let (Error::Mpi { text, .. }, Some((peer, block))) = (&mut *error, self.sorted.messages.get(i)) {
            let received = self.sorted.rounds.iter().any(|round| round.recvs.contains(&i));
            let (way, block) = (if received { "from" } else { "to" }, block.index());
            *text = format!("the message {way} process {peer} (block {block}): {text}");
        }
        error
    }
}

impl Drop for P2p {
    fn drop(&mut self) {
        self.leave_memory();
    }
}
