//! The point-to-point executor: rounds of `MPI_Irecv` and `MPI_Isend` on the private communicator.
//!
//! In each round all receives are posted before the first send, self edges are copied while the messages travel, and the next round begins
//! when all are complete. Contiguous data is sent from and received in place. One tag serves a whole neighborhood: messages between two
//! processes meet in the order in which the schedule posts them.
//!
//! Cost beyond MPI's: for each operation of the schedule one located block; no allocation once a schedule and its largest block have been
//! seen. Counts above `INT_MAX` make a datatype for each such block and call.

use super::buffers::{Blocks, Buffers, Located};
use super::copy::Copy;
use super::{Executor, copy};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::{MPI_Datatype, MPI_Op, datatype, op, p2p};
use crate::schedule::{Block, Op, Schedule};

/// How to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// In MPI, which spins or yields as it likes. For processes that have a core each.
    Block,
    /// By asking MPI again and again, and after a few times in vain giving the core away (`sched_yield`, a system call). For more processes
    /// than cores: MPICH's wait keeps a core that its peer needs (milliseconds a call, seen in 4.0.2).
    Yield,
}

/// Polls in vain before the first yield.
const POLLS: u32 = 16;

/// Alignment of scratch blocks in bytes: a cache line.
const LINE: usize = 64;

/// One operation of a schedule, bound.
#[derive(Clone, Copy)]
enum Action {
    Recv(Message),
    Send(Message),
    Copy(Copy),
    Reduce { from: *mut u8, into: *mut u8 },
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
    /// A block as a message.
    ///
    /// # Safety
    /// The block's datatype must be committed. `self` must live until the message is complete.
    #[inline]
    pub unsafe fn message(&mut self, block: &Located, peer: i32) -> Result<Message> {
        match i32::try_from(block.count) {
            Ok(count) => Ok(Message { at: block.at, count, datatype: block.datatype, peer }),
            // SAFETY: the caller vouches for the datatype; the count does not fit in int.
            Err(_) => unsafe { self.repeated(block, peer) },
        }
    }

    #[cold]
    unsafe fn repeated(&mut self, block: &Located, peer: i32) -> Result<Message> {
        // SAFETY: as for `message`.
        let all = unsafe { datatype::Owned::repeated(block.count, block.datatype) }?;
        let datatype = all.raw();
        self.0.push(all);
        Ok(Message { at: block.at, count: 1, datatype, peer })
    }
}

/// Executes schedules of one neighborhood.
pub struct P2p {
    comm: std::rc::Rc<Comm>,
    me: i32,
    tag: i32,
    waiting: Waiting,
    actions: Vec<Action>,
    ends: Vec<u32>,
    /// Rounds that have been posted.
    round: usize,
    requests: Requests,
    /// Receives among the posted requests.
    receives: usize,
    large: Large,
    fold: Option<Fold>,
    scratch: Vec<u8>,
    pack: Vec<u8>,
    /// Datatypes that MPI has accepted, two an operation (what is read, what is written): asked again only when another one comes.
    accepted: Vec<Option<MPI_Datatype>>,
    accepted_op: Option<(MPI_Op, MPI_Datatype)>,
}

impl P2p {
    /// An executor for process `me` on the private communicator, with room for `schedule`.
    pub fn new(comm: std::rc::Rc<Comm>, me: u32, tag: i32, waiting: Waiting, schedule: &Schedule) -> P2p {
        let mut new = P2p {
            comm,
            me: me as i32,
            tag,
            waiting,
            actions: Vec::new(),
            ends: Vec::new(),
            round: 0,
            requests: Requests::default(),
            receives: 0,
            large: Large::default(),
            fold: None,
            scratch: Vec::new(),
            pack: Vec::new(),
            accepted: Vec::new(),
            accepted_op: None,
        };
        new.reserve(schedule);
        new
    }

    /// Makes room for a schedule.
    fn reserve(&mut self, schedule: &Schedule) {
        let operations = schedule.ops().len();
        self.actions.clear();
        self.actions.reserve(operations);
        self.ends.clear();
        self.ends.extend_from_slice(schedule.round_ends());
        self.accepted.resize((2 * operations).max(self.accepted.len()), None);
        let largest = (0..schedule.rounds()).map(|r| schedule.round(r).len()).max();
        self.requests.reserve(largest.unwrap_or(0));
    }

    /// Makes sure that MPI will take the datatype of block `slot` of one side; `i` is where the answer is kept.
    #[inline]
    unsafe fn accept(&mut self, i: usize, block: &Located, side: &Blocks, slot: usize) -> Result<()> {
        if self.accepted[i] == Some(block.datatype) {
            return Ok(());
        }
        // SAFETY: the caller of `bind` vouches for the handle.
        unsafe { datatype::check_committed(block.datatype, &self.comm) }
            .map_err(|e| Error::Datatype { argument: side.datatype_argument(slot), text: text(e) })?;
        self.accepted[i] = Some(block.datatype);
        Ok(())
    }

    /// Finds a block for operation `i`.
    #[inline]
    unsafe fn locate(&mut self, i: usize, block: Block, buffers: &Buffers, scratch: &Scratch) -> Result<Located> {
        let (kept, side, slot) = match block {
            Block::Input(slot) => (2 * i, &buffers.input, slot as usize),
            Block::Output(slot) => (2 * i + 1, &buffers.output, slot as usize),
            // laid out as the result
            Block::Scratch(_) => (2 * i + 1, &buffers.output, 0),
        };
        let mut located = side.locate(slot)?;
        // SAFETY: as for `bind`.
        unsafe { self.accept(kept, &located, side, slot) }?;
        if let Block::Scratch(k) = block {
            located.at = scratch.at(k);
        }
        Ok(located)
    }

    /// Binds one operation.
    #[inline]
    unsafe fn action(&mut self, i: usize, operation: &Op, buffers: &Buffers, scratch: &Scratch) -> Result<Action> {
        // SAFETY: as for `bind`, in all of the calls.
        unsafe {
            Ok(match *operation {
                Op::Recv { from, into } => {
                    let block = self.locate(i, into, buffers, scratch)?;
                    Action::Recv(self.large.message(&block, from as i32)?)
                }
                Op::Send { to, block } => {
                    let block = self.locate(i, block, buffers, scratch)?;
                    Action::Send(self.large.message(&block, to as i32)?)
                }
                Op::Copy { from, into } => {
                    let source = self.locate(i, from, buffers, scratch)?;
                    let target = self.locate(i, into, buffers, scratch)?;
                    match Copy::prepare(source, target, &self.comm)? {
                        Some(copy) => {
                            if self.pack.len() < copy.buffer() {
                                self.pack.resize(copy.buffer(), 0);
                            }
                            Action::Copy(copy)
                        }
                        None => return Err(self_edge(from, &source, into, &target)?),
                    }
                }
                Op::Reduce { from, into } => Action::Reduce {
                    from: self.locate(i, from, buffers, scratch)?.at,
                    into: self.locate(i, into, buffers, scratch)?.at,
                },
            })
        }
    }

    /// Checks the operator and lays out the scratch blocks.
    unsafe fn prepare_fold(&mut self, schedule: &Schedule, buffers: &Buffers) -> Result<Scratch> {
        self.fold = None;
        let Some(op) = buffers.op else {
            return Ok(Scratch::NONE);
        };
        let result = buffers.output.locate(0)?;
        // SAFETY: the caller of `bind` vouches for the handles.
        unsafe {
            if self.accepted_op != Some((op, result.datatype)) {
                op::check_type(op, result.datatype).map_err(|e| Error::Operator { text: text(e) })?;
                self.accepted_op = Some((op, result.datatype));
            }
            let extent = buffers.output.extent;
            self.fold = Some(Fold { op, datatype: result.datatype, count: result.count, extent });
            if schedule.scratch_blocks() == 0 {
                return Ok(Scratch::NONE);
            }
            let (true_lb, true_extent) = datatype::true_extent(result.datatype)?;
            let too_large = || Error::TooLarge { argument: buffers.output.count_argument(0), count: result.count, extent };
            // from the lowest to the highest byte of all elements; a negative extent walks downward
            let steps = extent.checked_mul((result.count - 1).max(0)).ok_or_else(too_large)?;
            let length = steps.unsigned_abs() as usize + true_extent as usize;
            let stride = length.next_multiple_of(LINE);
            let blocks = schedule.scratch_blocks() as usize;
            let needed = stride.checked_mul(blocks).and_then(|n| n.checked_add(LINE)).ok_or_else(too_large)?;
            if self.scratch.len() < needed {
                self.scratch.resize(needed, 0);
            }
            let aligned = self.scratch.as_ptr().align_offset(LINE);
            let first = self.scratch.as_mut_ptr().wrapping_add(aligned);
            Ok(Scratch { first: first.wrapping_offset(-(true_lb + steps.min(0)) as isize), stride })
        }
    }

    /// The operations of the posted round.
    fn posted(&self) -> std::ops::Range<usize> {
        let begin = if self.round == 1 { 0 } else { self.ends[self.round - 2] as usize };
        begin..self.ends[self.round - 1] as usize
    }

    /// Posts all operations of the next round.
    fn post(&mut self) -> Result<()> {
        self.round += 1;
        self.receives = 0;
        for i in self.posted() {
            let posted = match &self.actions[i] {
                // SAFETY: the caller of `bind` vouches for the buffers until the collective is complete.
                Action::Recv(message) => unsafe { p2p::irecv(message, self.tag, &self.comm) }.map(|request| {
                    self.receives += 1;
                    self.requests.push(request);
                }),
                Action::Send(message) => {
                    // SAFETY: as above.
                    unsafe { p2p::isend(message, self.tag, &self.comm) }.map(|request| self.requests.push(request))
                }
                // SAFETY: as above; `bind` has made the buffer long enough.
                Action::Copy(copy) => unsafe { copy.run(&mut self.pack, self.me, self.tag, &self.comm) },
                Action::Reduce { .. } => Ok(()),
            };
            if let Err(e) = posted {
                self.requests.abandon(self.receives);
                return Err(e);
            }
        }
        Ok(())
    }

    /// Does the reductions of the round that has just been completed.
    fn fold_round(&mut self) -> Result<()> {
        let Some(fold) = self.fold else {
            return Ok(());
        };
        for action in &self.actions[self.posted()] {
            if let Action::Reduce { from, into } = *action {
                // SAFETY: scratch blocks and the caller's result have room for these elements and are distinct.
                unsafe { op::reduce(from, into, fold.count, fold.extent, fold.datatype, fold.op) }?;
            }
        }
        Ok(())
    }

    /// Waits until the posted round is complete.
    fn complete_round(&mut self) -> Result<()> {
        if self.requests.is_empty() {
            return Ok(());
        }
        match self.waiting {
            Waiting::Block => self.requests.wait().map_err(|(_, e)| e),
            Waiting::Yield => {
                let mut polls = 0;
                while !self.requests.test().map_err(|(_, e)| e)? {
                    polls += 1;
                    if polls >= POLLS {
                        // SAFETY: takes nothing, touches nothing.
                        unsafe { libc::sched_yield() };
                    }
                }
                Ok(())
            }
        }
    }

    /// Completes the posted round and runs all later ones.
    fn run_to_the_end(&mut self) -> Result<()> {
        while self.round > 0 {
            self.complete_round()?;
            self.fold_round()?;
            if self.round == self.ends.len() {
                break;
            }
            self.post()?;
        }
        Ok(())
    }

    /// Ends a collective: lets go of the datatypes that were made for it.
    fn finish(&mut self) {
        self.large.0.clear();
    }
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

/// What MPI said, without the function that was only used to ask.
#[cold]
fn text(e: Error) -> String {
    match e {
        Error::Mpi { text, .. } => text,
        other => other.to_string(),
    }
}

#[cold]
unsafe fn self_edge(from: Block, source: &Located, into: Block, target: &Located) -> Result<Error> {
    let slot = |block| match block {
        Block::Input(slot) | Block::Output(slot) | Block::Scratch(slot) => slot as usize,
    };
    // SAFETY: the datatypes have been accepted.
    let (sent, expected) = unsafe { (copy::bytes(source)?, copy::bytes(target)?) };
    Ok(Error::SelfEdge { target: slot(from), sent, source_slot: slot(into), expected })
}

impl Executor for P2p {
    unsafe fn bind(&mut self, schedule: &Schedule, buffers: &Buffers) -> Result<()> {
        self.reserve(schedule);
        // SAFETY: the caller vouches for the buffers.
        let bound = unsafe {
            self.prepare_fold(schedule, buffers).and_then(|scratch| {
                for (i, operation) in schedule.ops().iter().enumerate() {
                    let action = self.action(i, operation, buffers, &scratch)?;
                    self.actions.push(action);
                }
                Ok(())
            })
        };
        if bound.is_err() {
            self.finish();
        }
        bound
    }

    fn start(&mut self) -> Result<()> {
        self.round = 0;
        if self.ends.is_empty() { Ok(()) } else { self.post().inspect_err(|_| self.finish()) }
    }

    fn wait(&mut self) -> Result<()> {
        let done = self.run_to_the_end();
        self.finish();
        done
    }
}
