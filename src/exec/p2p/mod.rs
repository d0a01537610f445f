//! The point-to-point executor: rounds of `MPI_Irecv` and `MPI_Isend` on the private communicator.
//!
//! In each round all receives are posted before the first send, self edges are copied while the
//! messages travel, and the next round begins when all are complete. Whole blocks are sent from and
//! received in place, parts of blocks as `parts.rs` says. All messages of a call have one tag:
//! those between two processes meet in the order in which the schedule posts them.
//!
//! Cost beyond MPI's: for each operation of the schedule one located block; no allocation once a
//! schedule and its largest block have been seen. Counts above `INT_MAX` make a datatype for each
//! such block when they are bound.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::copy::Copy;
use super::guards::Guards;
use super::{Executor, copy};
use crate::datatype::buffers::{self, Blocks, Buffers, Located, Shape};
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Known;
use crate::mpi::liveness::Patience;
use crate::mpi::p2p::{Lost, Message, Requests};
use crate::mpi::{MPI_Datatype, MPI_Op, datatype, op};
use crate::observe::{Record, Way};
use crate::schedule::{Block, Op, Schedule};
use crate::topology::neighborhood::Rank;

mod device;
mod parts;
mod window;

use parts::{Finder, Parts};
use window::Window;

/// How to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// In MPI. For processes that have a core each, or an MPI that gives cores away by itself.
    Block,
    /// By asking MPI again and again, and after a few times in vain giving the core away
    /// (`sched_yield`, a system call). For more processes than cores.
    Yield,
}

/// Polls in vain before the first yield.
pub const POLLS: u32 = 16;

/// Alignment of scratch blocks in bytes: a cache line.
const LINE: usize = 64;

/// Which message a block belongs to.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Index among all messages.
    message: u32,
    /// Slot in the list of sources or targets.
    slot: u32,
}

/// A round as ranges of messages and local operations.
#[derive(Debug, Clone)]
struct Round {
    recvs: Range<usize>,
    sends: Range<usize>,
    /// Blocks that are packed before the sends, and unpacked after the receives.
    packs: Range<usize>,
    unpacks: Range<usize>,
    copies: Range<usize>,
    reduces: Range<usize>,
}

/// A schedule, sorted for binding: what is found in the caller's buffers in one go, and the rest.
#[derive(Debug, Default)]
struct Sorted {
    rounds: Vec<Round>,
    /// The process at the other end of each message, and its block.
    messages: Vec<(Rank, Block)>,
    /// Messages from input blocks, and into output blocks.
    inputs: Vec<Place>,
    outputs: Vec<Place>,
    /// All other messages that carry whole blocks.
    others: Vec<u32>,
    /// Blocks that are packed because their first part is sent in the round, and unpacked because
    /// their last part is received in it.
    packs: Vec<u32>,
    unpacks: Vec<u32>,
    copies: Vec<(Block, Block)>,
    reduces: Vec<(Block, Block)>,
    /// Blocks that are received or copied.
    arrivals: Vec<Arrival>,
    /// For each source slot what arrives for it, if anything does.
    sources: Vec<Option<u32>>,
    /// What each reduction needs: two of `arrivals`.
    operands: Vec<[u32; 2]>,
}

/// What must be done until a block is complete.
#[derive(Debug, Default)]
struct Arrival {
    /// The last round in which something is written there.
    round: usize,
    /// The messages that bring it. None where it is copied.
    messages: SmallVec<[u32; 1]>,
    /// Index in `unpacks`.
    unpack: Option<u32>,
    /// The reduction that takes it in, but for the first source of all, which needs none.
    reduce: Option<u32>,
}

/// Finds out what brings which block.
#[derive(Default)]
struct Arrivals {
    list: Vec<Arrival>,
    of: HashMap<Block, u32>,
}

impl Arrivals {
    /// A block that is written in round `round`.
    fn write(&mut self, block: Block, round: usize) -> &mut Arrival {
        let next = self.list.len() as u32;
        let index = *self.of.entry(block).or_insert(next);
        if index == next {
            self.list.push(Arrival::default());
        }
        let arrival = &mut self.list[index as usize];
        arrival.round = round;
        arrival
    }
}

impl Sorted {
    fn new(schedule: &Schedule) -> (Sorted, Parts) {
        let mut sorted = Sorted::default();
        let mut finder = Finder::default();
        let mut arrivals = Arrivals::default();
        for r in 0..schedule.rounds() {
            let (first, copy, reduce) = (sorted.messages.len(), sorted.copies.len(), sorted.reduces.len());
            let (pack, unpack) = (sorted.packs.len(), sorted.unpacks.len());
            let mut sends = first;
            for op in schedule.round(r) {
                let message = sorted.messages.len() as u32;
                if let Op::Recv { into, .. } | Op::Copy { into, .. } | Op::Reduce { into, .. } = *op {
                    finder.write(into);
                }
                match *op {
                    Op::Recv { from, into, part } => {
                        sorted.messages.push((from, into));
                        sends += 1;
                        let arrival = arrivals.write(into, r);
                        arrival.messages.push(message);
                        match into {
                            _ if !part.is_whole() => {
                                if let Some(stage) = finder.receive(message, from, into, part) {
                                    arrival.unpack = Some(sorted.unpacks.len() as u32);
                                    sorted.unpacks.push(stage);
                                }
                            }
                            Block::Output(slot) => sorted.outputs.push(Place { message, slot }),
                            _ => sorted.others.push(message),
                        }
                    }
                    Op::Send { to, block, part } => {
                        sorted.messages.push((to, block));
                        match block {
                            _ if !part.is_whole() => sorted.packs.extend(finder.send(message, to, block, part)),
                            Block::Input(slot) => sorted.inputs.push(Place { message, slot }),
                            _ => sorted.others.push(message),
                        }
                    }
                    Op::Copy { from, into } => {
                        arrivals.write(into, r);
                        sorted.copies.push((from, into));
                    }
                    Op::Reduce { from, into } => {
                        // both have come before, as the grammar says
                        let (left, right) = (arrivals.of[&from], arrivals.of[&into]);
                        arrivals.list[right as usize].reduce = Some(sorted.reduces.len() as u32);
                        sorted.operands.push([left, right]);
                        sorted.reduces.push((from, into));
                    }
                }
            }
            sorted.rounds.push(Round {
                recvs: first..sends,
                sends: sends..sorted.messages.len(),
                packs: pack..sorted.packs.len(),
                unpacks: unpack..sorted.unpacks.len(),
                copies: copy..sorted.copies.len(),
                reduces: reduce..sorted.reduces.len(),
            });
        }
        for (source, block) in schedule.homes() {
            let source = source as usize;
            if sorted.sources.len() <= source {
                sorted.sources.resize(source + 1, None);
            }
            sorted.sources[source] = arrivals.of.get(&block).copied();
        }
        sorted.arrivals = arrivals.list;
        (sorted, finder.finish())
    }
}

/// What all reductions of a call have in common.
#[derive(Clone, Copy)]
struct Fold {
    op: MPI_Op,
    datatype: MPI_Datatype,
    count: i64,
    extent: i64,
}

/// Datatypes made for counts that do not fit in `int`.
#[derive(Default)]
pub struct Large(Vec<datatype::Owned>);

impl Large {
    /// Makes a message of a block. The process at the other end stays. `argument` names the count
    /// in an error.
    ///
    /// # Safety
    /// The block's datatype must be committed. `self` must live, and not be cleared, until the
    /// message is complete.
    #[inline]
    pub unsafe fn fill(&mut self, message: &mut Message, block: &Located, argument: impl FnOnce() -> Argument) -> Result<()> {
        message.at = block.at;
        message.datatype = block.datatype;
        match i32::try_from(block.count) {
            Ok(count) => {
                message.count = count;
                Ok(())
            }
            // SAFETY: the caller vouches for the datatype; the count does not fit in int.
            Err(_) => unsafe { self.repeat(message, block, argument()) },
        }
    }

    #[cold]
    unsafe fn repeat(&mut self, message: &mut Message, block: &Located, argument: Argument) -> Result<()> {
        // SAFETY: as for `fill`.
        let (extent, size) = unsafe { (datatype::extent(block.datatype)?, datatype::size(block.datatype)?) };
        buffers::length(block.count, size, || argument)?;
        // a datatype can repeat another one INT_MAX times INT_MAX times
        let most = i64::from(i32::MAX) * i64::from(i32::MAX);
        if block.count > most || block.count.checked_mul(extent).is_none() {
            return Err(Error::TooLarge { argument, count: block.count, extent }.into());
        }
        // SAFETY: as for `fill`.
        let all = unsafe { datatype::Owned::repeated(block.count, block.datatype) }?;
        (message.count, message.datatype) = (1, all.raw());
        self.0.push(all);
        Ok(())
    }

    /// Keeps a datatype of a message.
    #[cold]
    pub fn keep(&mut self, datatype: datatype::Owned) {
        self.0.push(datatype);
    }

    /// Lets go of the datatypes: no message uses them any more.
    #[inline]
    pub fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }
}

/// Executes one schedule.
pub struct P2p {
    comm: Arc<Comm>,
    /// A communicator of this process alone; only executors that reduce have one.
    alone: Option<Arc<Comm>>,
    me: i32,
    tag: i32,
    waiting: Waiting,
    sorted: Sorted,
    scratch_blocks: usize,
    /// The messages, bound.
    messages: Vec<Message>,
    parts: Parts,
    /// Where the MPI writes longer messages past their receives.
    guards: Option<Box<Guards>>,
    copies: Vec<Copy>,
    reduces: Vec<(*mut u8, *mut u8)>,
    fold: Option<Fold>,
    /// Rounds that have been posted; 0 when nothing is under way.
    round: usize,
    /// Reductions that are done.
    reduced: usize,
    /// By their index, which blocks have been unpacked.
    unpacked: Vec<bool>,
    /// Of the last round that has been posted; where rounds overlap only of its sends.
    requests: Requests,
    /// Where rounds overlap.
    window: Option<Box<Window>>,
    /// The first message that failed.
    failure: Option<Box<Error>>,
    patience: Patience,
    /// MPI may still be at work in the buffers of this call, or of an earlier one since `bind`.
    stuck: bool,
    large: Large,
    scratch: Vec<u8>,
    /// A neighbor that has died: no messages to or from it are posted any more.
    gone: Option<u32>,
    /// Whether a start has failed half-way, and what is bound is left to MPI.
    lost: bool,
    pack: Vec<u8>,
    /// What is counted and traced, where somebody asks.
    record: Option<Arc<Record>>,
    /// The last datatype of self edges.
    known: Known,
    accepted: Accepted,
}

/// Datatypes and operators that MPI has accepted: it is asked again only when another one comes.
#[derive(Default)]
struct Accepted {
    /// The one type of all input, and of all output blocks; else the last one of a self edge.
    input: Option<MPI_Datatype>,
    output: Option<MPI_Datatype>,
    /// By message, where each block has a type of its own.
    messages: Vec<Option<MPI_Datatype>>,
    op: Option<(MPI_Op, MPI_Datatype)>,
}

/// Makes sure that MPI takes a datatype, unless it is the one that it took before.
///
/// # Safety
/// `datatype` must be a datatype or null.
#[inline]
pub unsafe fn accept(
    known: &mut Option<MPI_Datatype>,
    datatype: MPI_Datatype,
    side: &Blocks,
    slot: usize,
    comm: &Comm,
) -> Result<()> {
    if *known == Some(datatype) {
        return Ok(());
    }
    // SAFETY: the caller of `bind` vouches for the handle.
    unsafe { datatype::check_committed(datatype, comm) }
        .map_err(|e| Error::Datatype { argument: side.datatype_argument(slot), text: text(*e) })?;
    *known = Some(datatype);
    Ok(())
}

impl P2p {
    /// An executor of `schedule` for process `me` on the private communicator. Receives of `window`
    /// rounds are posted, where the schedule lets rounds overlap; with 1 each round is complete
    /// before the next one begins.
    pub fn new(comm: Arc<Comm>, alone: Option<Arc<Comm>>, me: u32, waiting: Waiting, window: u32, schedule: &Schedule) -> P2p {
        let (sorted, parts) = Sorted::new(schedule);
        let mut requests = Requests::default();
        requests.reserve(sorted.rounds.iter().map(|r| r.sends.end - r.recvs.start).max().unwrap_or(0));
        let nothing = |&(peer, _): &(Rank, Block)| Message {
            at: std::ptr::null_mut(),
            count: 0,
            datatype: datatype::null(),
            peer: peer as i32,
        };
        P2p {
            comm,
            alone,
            me: me as i32,
            tag: 0,
            waiting,
            scratch_blocks: schedule.scratch_blocks() as usize,
            messages: sorted.messages.iter().map(nothing).collect(),
            parts,
            guards: Guards::new(sorted.messages.len()),
            copies: Vec::with_capacity(sorted.copies.len()),
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
            scratch: Vec::new(),
            gone: None,
            lost: false,
            pack: Vec::new(),
            record: None,
            known: Known::default(),
            accepted: Accepted { messages: vec![None; sorted.messages.len()], ..Accepted::default() },
            sorted,
        }
    }

    fn alone(&self) -> Result<&Comm> {
        self.alone.as_deref().ok_or_else(|| Error::Internal("an executor that does not reduce got an operator".into()).into())
    }

    /// Binds the messages of one side. The shape is looked at once, not for each message: this loop
    /// is all that a call costs beyond MPI.
    #[inline]
    unsafe fn bind_side(&mut self, side: &Blocks, input: bool) -> Result<()> {
        let places = if input { &self.sorted.inputs } else { &self.sorted.outputs };
        let Some(first) = places.first() else {
            return Ok(());
        };
        if let Shape::General { .. } = side.shape {
            for place in places {
                let (block, i) = (side.locate(place.slot as usize)?, place.message as usize);
                // SAFETY: as for `bind`.
                unsafe {
                    accept(&mut self.accepted.messages[i], block.datatype, side, place.slot as usize, &self.comm)?;
                    refuse_null(&block, side)?;
                    self.large.fill(&mut self.messages[i], &block, || side.count_argument(place.slot as usize))?;
                }
            }
            return Ok(());
        }
        let known = if input { &mut self.accepted.input } else { &mut self.accepted.output };
        // SAFETY: as for `bind`.
        unsafe { accept(known, side.datatype, side, first.slot as usize, &self.comm) }?;
        side.locate_all(places.iter().map(|p| p.slot), |k, block| {
            let argument = || side.count_argument(places[k].slot as usize);
            // SAFETY: as for `bind`; the type has been accepted.
            unsafe {
                refuse_null(&block, side)?;
                self.large.fill(&mut self.messages[places[k].message as usize], &block, argument)
            }
        })
    }

    /// Finds a block of any kind, off the path that most messages take.
    unsafe fn locate(&mut self, block: Block, buffers: &Buffers, scratch: &Scratch) -> Result<Located> {
        let known = if let Block::Input(_) = block { &mut self.accepted.input } else { &mut self.accepted.output };
        // SAFETY: as for `bind`.
        unsafe { locate(block, buffers, scratch, known, &self.comm) }
    }

    /// Binds what is neither a message from a whole input block nor one into a whole output block.
    #[inline]
    unsafe fn bind_others(&mut self, buffers: &Buffers, scratch: &Scratch) -> Result<()> {
        let none = self.sorted.others.is_empty() && self.sorted.copies.is_empty() && self.sorted.reduces.is_empty();
        if none && self.parts.is_empty() {
            return Ok(());
        }
        // SAFETY: as for `bind`.
        unsafe { self.bind_each(buffers, scratch) }
    }

    unsafe fn bind_each(&mut self, buffers: &Buffers, scratch: &Scratch) -> Result<()> {
        // SAFETY: as for `bind`, in all of the calls.
        unsafe {
            if !self.parts.is_empty() {
                let locate = |block: Block, known: &mut _| locate(block, buffers, scratch, known, &self.comm);
                self.parts.bind(buffers, locate, &mut self.messages, &mut self.large, &self.comm)?;
            }
            for k in 0..self.sorted.others.len() {
                let i = self.sorted.others[k] as usize;
                let block = self.locate(self.sorted.messages[i].1, buffers, scratch)?;
                self.large.fill(&mut self.messages[i], &block, || buffers.output.count_argument(0))?;
            }
            for k in 0..self.sorted.copies.len() {
                let (from, into) = self.sorted.copies[k];
                let (source, target) = (self.locate(from, buffers, scratch)?, self.locate(into, buffers, scratch)?);
                let Some(copy) = Copy::prepare(source, target, &self.known, &self.comm)? else {
                    return Err(self_edge(from, &source, into, &target)?.into());
                };
                enlarge(&mut self.pack, copy.buffer())?;
                self.copies.push(copy);
            }
            for k in 0..self.sorted.reduces.len() {
                let (from, into) = self.sorted.reduces[k];
                let pair = (self.locate(from, buffers, scratch)?.at, self.locate(into, buffers, scratch)?.at);
                self.reduces.push(pair);
            }
        }
        Ok(())
    }

    /// Guards the receives, where the MPI needs that.
    #[inline]
    unsafe fn guard(&mut self) -> Result<()> {
        let Some(guards) = &mut self.guards else { return Ok(()) };
        for i in self.sorted.rounds.iter().flat_map(|round| round.recvs.clone()) {
            // SAFETY: the messages have been bound, and none is under way.
            unsafe { guards.apply(i, &mut self.messages[i]) }?;
        }
        Ok(())
    }

    /// Checks the operator and lays out the scratch blocks.
    #[inline]
    unsafe fn prepare_fold(&mut self, buffers: &Buffers) -> Result<Scratch> {
        self.fold = None;
        match buffers.op {
            // SAFETY: as for `bind`.
            Some(op) => unsafe { self.lay_out_fold(op, buffers) },
            None => Ok(Scratch::NONE),
        }
    }

    unsafe fn lay_out_fold(&mut self, op: MPI_Op, buffers: &Buffers) -> Result<Scratch> {
        let result = buffers.output.locate(0)?;
        // SAFETY: the caller of `bind` vouches for the handles.
        unsafe {
            if self.accepted.op != Some((op, result.datatype)) {
                op::check_type(op, result.datatype, self.alone()?).map_err(|e| Error::Operator { text: text(*e) })?;
                self.accepted.op = Some((op, result.datatype));
            }
            let extent = buffers.output.extent;
            self.fold = Some(Fold { op, datatype: result.datatype, count: result.count, extent });
            if self.scratch_blocks == 0 {
                return Ok(Scratch::NONE);
            }
            let (true_lb, true_extent) = datatype::true_extent(result.datatype)?;
            let argument = || buffers.output.count_argument(0);
            let too_large = || Error::TooLarge { argument: argument(), count: result.count, extent };
            // from the lowest to the highest byte of all elements
            let steps = buffers::steps(result.count, extent, argument)?;
            let length = steps.unsigned_abs() as usize + buffers::length(1, true_extent, argument)?;
            let stride = length.next_multiple_of(LINE);
            let needed = stride.checked_mul(self.scratch_blocks).and_then(|n| n.checked_add(2 * LINE)).ok_or_else(too_large)?;
            enlarge(&mut self.scratch, needed)?;
            // the address that the operator is given is aligned, wherever the bytes around it begin
            let aligned = self.scratch.as_ptr().align_offset(LINE);
            let lowest = true_lb + steps.min(0);
            let before = lowest.rem_euclid(LINE as i64) - lowest;
            Ok(Scratch { first: self.scratch.as_mut_ptr().wrapping_add(aligned).wrapping_offset(before as isize), stride })
        }
    }

    /// Posts all operations of the next round.
    #[inline(always)]
    fn post(&mut self) -> Result<()> {
        let recvs = self.sorted.rounds[self.round].recvs.clone();
        let posted = recvs.len();
        // SAFETY: the caller of `bind` vouches for the buffers until the collective is complete.
        let received = unsafe { self.requests.post_receives(&self.messages[recvs.clone()], self.tag, &self.comm) };
        if let (Ok(()), Some(guards)) = (&received, &self.guards) {
            self.requests.expect(guards.limits(recvs));
        }
        received.and_then(|()| self.post_own()).inspect_err(|_| {
            if self.requests.abandon(|i| i < posted) {
                self.lose();
            }
        })
    }

    /// Notes that MPI may still read what a start that failed has posted: only binding makes memory
    /// that can be written again.
    #[cold]
    fn lose(&mut self) {
        (self.lost, self.stuck) = (true, true);
    }

    /// Leaves memory of ours to MPI, if that may still be at work there.
    #[inline]
    fn leave_memory(&mut self) {
        if std::mem::take(&mut self.stuck) {
            self.parts.lose();
            std::mem::forget(std::mem::take(&mut self.scratch));
        }
    }

    /// Returns whether MPI may still be at work in the buffers that are bound, though nothing is
    /// under way.
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Posts all of the next round but its receives.
    #[inline(always)]
    fn post_own(&mut self) -> Result<()> {
        let Round { sends, packs, copies, .. } = self.sorted.rounds[self.round].clone();
        self.round += 1;
        // SAFETY: as for `post`.
        unsafe {
            if !packs.is_empty() {
                self.pack(packs)?;
            }
            self.requests.post_sends(&self.messages[sends], self.tag, &self.comm)?;
        }
        for copy in &self.copies[copies] {
            // SAFETY: as for `post`; `bind` has made the buffer long enough.
            unsafe { copy.run(&mut self.pack, self.me, self.tag, &self.comm) }?;
        }
        if let Some(record) = &self.record {
            self.observe_round(record);
        }
        Ok(())
    }

    /// Counts and traces the round that has just been posted.
    #[cold]
    fn observe_round(&self, record: &Record) {
        let Round { copies, .. } = self.sorted.rounds[self.round - 1].clone();
        record.sent(Way::Own, copies.len(), self.copies[copies].iter().map(Copy::bytes).sum());
        record.round(self.round);
    }

    /// Counts and traces what this executor does from now on.
    pub fn observe(&mut self, record: &Arc<Record>) {
        self.requests.count(record.tally(Way::Mpi));
        self.record = Some(Arc::clone(record));
    }

    /// Packs blocks whose first parts are about to be sent.
    unsafe fn pack(&mut self, packs: Range<usize>) -> Result<()> {
        for &stage in &self.sorted.packs[packs] {
            // SAFETY: as for `Executor::bind`.
            unsafe { self.parts.pack(stage, self.me, self.tag, &self.comm) }?;
        }
        Ok(())
    }

    /// Unpacks the blocks whose last parts have come in round `r`.
    fn unpack_round(&mut self, r: usize) -> Result<()> {
        self.sorted.rounds[r].unpacks.clone().try_for_each(|index| self.unpack(index))
    }

    /// Unpacks a block whose parts are there, unless that has been done.
    fn unpack(&mut self, index: usize) -> Result<()> {
        if !std::mem::replace(&mut self.unpacked[index], true) {
            // SAFETY: as for `Executor::bind`.
            unsafe { self.parts.unpack(self.sorted.unpacks[index], self.me, self.tag, &self.comm) }?;
        }
        Ok(())
    }

    /// Does the reductions of round `r` that have not been done.
    #[inline]
    fn fold_round(&mut self, r: usize) -> Result<()> {
        while self.reduced < self.sorted.rounds[r].reduces.end {
            self.fold_next()?;
        }
        Ok(())
    }

    /// Does the next reduction, if the call reduces.
    #[inline]
    fn fold_next(&mut self) -> Result<()> {
        let next = self.reduced;
        self.reduced += 1;
        let (Some(fold), Some(&(from, into))) = (self.fold, self.reduces.get(next)) else {
            return Ok(());
        };
        // SAFETY: scratch blocks and the caller's result have room for these elements and are
        // distinct.
        unsafe { op::reduce(from, into, fold.count, fold.extent, fold.datatype, fold.op) }
    }

    /// Whether all that is written to a block of this call has come; then it is unpacked.
    fn complete(&mut self, index: u32) -> Result<bool> {
        let arrival = &self.sorted.arrivals[index as usize];
        if arrival.messages.is_empty() {
            return Ok(arrival.round < self.round);
        }
        for k in 0..arrival.messages.len() {
            let message = self.sorted.arrivals[index as usize].messages[k];
            if !self.received(message as usize)? {
                return Ok(false);
            }
        }
        match self.sorted.arrivals[index as usize].unpack {
            Some(unpack) => self.unpack(unpack as usize).map(|()| true),
            None => Ok(true),
        }
    }

    /// Whether a block is complete and, where it is reduced, part of the result. Does the unpacking
    /// and reducing for that.
    fn bring_in(&mut self, index: u32) -> Result<bool> {
        if !self.complete(index)? {
            return Ok(false);
        }
        let Some(reduction) = self.sorted.arrivals[index as usize].reduce else {
            return Ok(true);
        };
        // one after the other, in their order
        while self.reduced <= reduction as usize {
            let [left, right] = self.sorted.operands[self.reduced];
            if !(self.complete(left)? && self.complete(right)?) {
                return Ok(false);
            }
            self.fold_next()?;
        }
        Ok(true)
    }

    /// Whether a message that is received is there.
    fn received(&mut self, message: usize) -> Result<bool> {
        let r = self.sorted.rounds.partition_point(|round| round.sends.end <= message);
        let position = message - self.sorted.rounds[r].recvs.start;
        let tested = match &mut self.window {
            Some(window) => window.received(r, position),
            None if r + 1 != self.round => return Ok(r + 1 < self.round),
            None => self.requests.test_one(position),
        };
        tested.map_err(|error| self.name_edge(message, (0, error)))
    }

    /// Does what follows when the messages of round `r` are complete, or have failed.
    #[inline(always)]
    fn finish_round(&mut self, r: usize, completed: Result<()>) {
        // most schedules have nothing to do here
        if completed.is_err() || self.fold.is_some() || !self.sorted.unpacks.is_empty() {
            self.finish(r, completed);
        }
    }

    #[inline(never)]
    fn finish(&mut self, r: usize, completed: Result<()>) {
        // where one message has failed, blocks of others are complete
        let unpacked = self.unpack_round(r);
        let done = completed.and(unpacked).and_then(|()| self.fold_round(r));
        self.note(done);
    }

    /// Remembers a failure, if it is the first. All rounds run to their end, as neighbors wait for
    /// the later ones.
    #[inline]
    fn note(&mut self, done: Result<()>) {
        if let Err(e) = done
            && self.failure.is_none()
        {
            self.failure = Some(e);
        }
    }

    /// The error of a message, with the process at its other end. `first` is the message of the
    /// first request.
    #[cold]
    fn name_edge(&self, first: usize, (position, mut error): (usize, Box<Error>)) -> Box<Error> {
        let i = first + position;
        if let (Error::Mpi { text, .. }, Some((peer, block))) = (&mut *error, self.sorted.messages.get(i)) {
            let received = self.sorted.rounds.iter().any(|round| round.recvs.contains(&i));
            let (way, block) = (if received { "from" } else { "to" }, block.slot());
            *text = format!("the message {way} process {peer} (slot {block}): {text}");
        }
        error
    }

    /// Finishes the posted round, whose messages are complete, and posts the next one, if there is
    /// one.
    #[inline(always)]
    fn advance(&mut self, completed: std::result::Result<(), (usize, Box<Error>)>) -> Result<()> {
        let r = self.round - 1;
        let completed = completed.map_err(|failure| self.name_edge(self.sorted.rounds[r].recvs.start, failure));
        self.finish_round(r, completed);
        if self.round == self.sorted.rounds.len() {
            self.round = 0;
            return Ok(());
        }
        self.post()
    }

    /// Does a step with rounds that overlap. `None` where they do not.
    #[inline(always)]
    fn ahead<T>(&mut self, step: impl FnOnce(&mut P2p, &mut Window) -> T) -> Option<T> {
        self.window.as_ref()?;
        let mut window = self.window.take()?;
        let done = step(self, &mut window);
        self.window = Some(window);
        Some(done)
    }

    /// Gives up the messages of the posted rounds to and from processes that have ended. Those of
    /// others go on, in later rounds too, as neighbors wait for them.
    #[cold]
    #[inline(never)]
    fn look_for_dead(&mut self, window: Option<&mut Window>) {
        if self.round == 0 {
            return;
        }
        let round = &self.sorted.rounds[self.round - 1];
        // where rounds overlap, receives are apart from sends
        let receives = if window.is_some() { 0 } else { round.recvs.len() };
        let first = if window.is_some() { round.sends.start } else { round.recvs.start };
        let mut lists = vec![(first, receives, &mut self.requests)];
        if let Some(window) = window {
            for (r, requests) in window.receives() {
                let recvs = &self.sorted.rounds[r].recvs;
                lists.push((recvs.start, recvs.len(), requests));
            }
        }
        let pending: Vec<Vec<usize>> = lists.iter().map(|(.., requests)| requests.pending()).collect();
        let peer = |message: usize| self.sorted.messages[message].0;
        let wanted = lists.iter().zip(&pending).flat_map(|((first, ..), list)| list.iter().map(|k| peer(*first + k)));
        // SAFETY: a live communicator.
        let dead = unsafe { self.patience.look(self.comm.raw(), wanted) };
        let mut gone = None;
        for ((first, receives, requests), list) in lists.into_iter().zip(pending) {
            for position in list.into_iter().filter(|k| dead.contains(&peer(first + k))) {
                match requests.give_up(position, position < receives) {
                    Lost::No => continue,
                    Lost::Gone => {}
                    Lost::Stuck => self.stuck = true,
                }
                gone.get_or_insert(peer(first + position));
            }
        }
        // later rounds are for the living: an MPI may refuse messages to the dead, and the call
        // would end before others have got what they wait for
        let messages = self.sorted.messages.iter().zip(&mut self.messages);
        messages.filter(|(of, _)| dead.contains(&of.0)).for_each(|(_, message)| message.peer = crate::mpi::proc_null());
        if let Some(rank) = gone {
            self.gone.get_or_insert(rank);
            self.note(Err(Error::Gone { rank }.into()));
        }
    }

    /// Waits for the messages of the posted round.
    #[inline]
    fn wait_round(&mut self) -> std::result::Result<(), (usize, Box<Error>)> {
        while !self.requests.settle(&mut self.patience) {
            self.look_for_dead(None);
        }
        self.requests.wait()
    }

    /// Waits in MPI.
    #[inline]
    fn block(&mut self) -> Result<()> {
        if let Some(done) = self.ahead(P2p::block_ahead) {
            return done;
        }
        while self.round > 0 {
            let completed = if self.requests.is_empty() { Ok(()) } else { self.wait_round() };
            self.advance(completed)?;
        }
        Ok(())
    }

    /// Does what can be done without waiting.
    #[inline]
    fn poll(&mut self) -> Result<bool> {
        if let Some(done) = self.ahead(P2p::poll_ahead) {
            return done;
        }
        while self.round > 0 {
            let completed = if self.requests.is_empty() { Ok(true) } else { self.requests.test() };
            if let Ok(false) = completed {
                return Ok(false);
            }
            self.advance(completed.map(|_| ()))?;
        }
        Ok(true)
    }

    /// Comes back to where nothing is under way. `ended` is how the last step did.
    #[inline(always)]
    fn end(&mut self, ended: Result<()>) -> Result<()> {
        self.round = 0;
        if self.failure.is_none() {
            return ended;
        }
        // what came first: an MPI that knows of a death too refuses later messages
        self.failure.take().map_or(ended, Err)
    }
}

/// Finds a block of any kind; `known` is a datatype that has been accepted.
unsafe fn locate(
    block: Block,
    buffers: &Buffers,
    scratch: &Scratch,
    known: &mut Option<MPI_Datatype>,
    comm: &Comm,
) -> Result<Located> {
    let (side, slot) = match block {
        Block::Input(slot) => (&buffers.input, slot as usize),
        Block::Output(slot) => (&buffers.output, slot as usize),
        // laid out as the result
        Block::Scratch(_) => (&buffers.output, 0),
        Block::Packet(_) => return Err(Error::Internal("this executor has no packets".into()).into()),
    };
    let mut located = side.locate(slot)?;
    // SAFETY: as for `bind`.
    unsafe {
        accept(known, located.datatype, side, slot, comm)?;
        refuse_null(&located, side)?;
    }
    if let Block::Scratch(k) = block {
        located.at = scratch.at(k);
    }
    Ok(located)
}

/// Where the scratch blocks lie.
#[derive(Clone, Copy)]
struct Scratch {
    /// Address of element 0 of block 0.
    first: *mut u8,
    /// Bytes from one block to the next.
    stride: usize,
}

impl Scratch {
    const NONE: Scratch = Scratch { first: std::ptr::null_mut(), stride: 0 };

    fn at(&self, k: u32) -> *mut u8 {
        self.first.wrapping_add(self.stride * k as usize)
    }
}

/// An error if a block at address 0 has bytes there. Only a datatype with absolute addresses has
/// none (`MPI_BOTTOM`).
///
/// # Safety
/// The block's datatype must be a datatype.
#[inline]
pub unsafe fn refuse_null(block: &Located, side: &Blocks) -> Result<()> {
    if block.at.is_null() && block.count > 0 {
        // SAFETY: the datatype has been accepted.
        let ((true_lb, _), size) = unsafe { (datatype::true_extent(block.datatype)?, datatype::size(block.datatype)?) };
        if true_lb == 0 && size > 0 {
            return Err(Error::NullBuffer { argument: Argument::new(side.names.buffer), count: block.count }.into());
        }
    }
    Ok(())
}

/// Makes a buffer at least so long.
#[inline]
pub fn enlarge(buffer: &mut Vec<u8>, length: usize) -> Result<()> {
    if buffer.len() < length {
        buffer.try_reserve_exact(length - buffer.len()).map_err(|_| Error::NoMemory { bytes: length })?;
        buffer.resize(length, 0);
    }
    Ok(())
}

/// What MPI said, without the function that was only used to ask.
#[cold]
fn text(e: Error) -> String {
    match e {
        Error::Mpi { text, .. } => text,
        other => other.to_string(),
    }
}

/// The error of a self edge whose ends carry different amounts of bytes.
///
/// # Safety
/// Both datatypes must be datatypes.
#[cold]
pub unsafe fn self_edge(from: Block, source: &Located, into: Block, target: &Located) -> Result<Error> {
    // SAFETY: the datatypes have been accepted.
    let (sent, expected) = unsafe { (copy::bytes(source)?, copy::bytes(target)?) };
    Ok(Error::SelfEdge { target: from.slot(), sent, source_slot: into.slot(), expected })
}

impl Drop for P2p {
    fn drop(&mut self) {
        self.leave_memory();
    }
}

impl Executor for P2p {
    #[inline]
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.copies.clear();
        self.reduces.clear();
        self.large.clear();
        self.leave_memory();
        self.lost = false;
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            self.prepare_fold(buffers).and_then(|scratch| {
                self.bind_side(&buffers.output, false)?;
                self.bind_side(&buffers.input, true)?;
                self.bind_others(buffers, &scratch)?;
                self.guard()
            })
        }
    }

    #[inline]
    fn start(&mut self, tag: i32) -> Result<()> {
        (self.tag, self.round, self.reduced) = (tag, 0, 0);
        self.patience.restart();
        self.unpacked.fill(false);
        if self.sorted.rounds.is_empty() {
            return Ok(());
        }
        if self.lost {
            return Err(Error::Lost.into());
        }
        if let Some(rank) = self.gone {
            self.note(Err(Error::Gone { rank }.into()));
        }
        let posted = match self.ahead(P2p::start_ahead) {
            Some(posted) => posted,
            None => self.post(),
        };
        posted.or_else(|e| self.end(Err(e)))
    }

    #[inline]
    fn test(&mut self) -> Result<bool> {
        match self.poll() {
            Ok(false) => {
                if self.patience.is_over() {
                    let mut window = self.window.take();
                    self.look_for_dead(window.as_deref_mut());
                    self.window = window;
                }
                Ok(false)
            }
            ended => self.end(ended.map(|_| ())).map(|()| true),
        }
    }

    #[inline]
    fn wait(&mut self) -> Result<()> {
        if self.waiting == Waiting::Block {
            let ended = self.block();
            return self.end(ended);
        }
        let (mut polls, mut round) = (0, self.round);
        while !self.test()? {
            if self.round != round {
                (polls, round) = (0, self.round);
            }
            polls += 1;
            if polls >= POLLS {
                // SAFETY: takes nothing, touches nothing.
                unsafe { libc::sched_yield() };
            }
        }
        Ok(())
    }

    fn posts_at_once(&self) -> bool {
        self.sorted.rounds.len() <= 1
    }

    fn is_lost(&self) -> bool {
        self.lost
    }

    fn forget_datatypes(&mut self) {
        (self.accepted.input, self.accepted.output, self.accepted.op) = (None, None, None);
        self.accepted.messages.fill(None);
        self.parts.forget_datatypes();
        self.large.clear();
    }

    fn keeps_datatypes(&self) -> bool {
        self.sorted.rounds.len() > 1 || !self.sorted.reduces.is_empty() || !self.sorted.unpacks.is_empty()
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        match self.sorted.sources.get(source) {
            // the end of the call tells of it too
            Some(&Some(index)) if self.round > 0 => self.bring_in(index).inspect_err(|e| self.note(Err(e.clone()))),
            _ => Ok(true),
        }
    }
}
