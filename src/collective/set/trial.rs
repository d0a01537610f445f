//! Trial calls of a set call: the schedules that the model finds close to one another exchange
//! blocks of the lengths that the weights say, and the fastest one is taken.
//!
//! Only a set call can do this without being asked to. It is collective over the communicator,
//! while calls on a neighborhood wait for no process but those at the other ends of edges, so that
//! they cannot agree on times.

use crate::collective::autotune::Timed;
use crate::collective::handle::{BoundNeighborhood, Settings};
use crate::collective::{Operation, Selected};
use crate::datatype::buffers::{Blocks, Buffers, Ints, Names, RECV, SEND, Shape};
use crate::error::{Error, Result};
use crate::machine::trials::Calls;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::group::Group;
use crate::schedule::Algorithm;
use crate::select::Outline;
use crate::topology::neighborhood::Neighbor;
use crate::util::cast::{to_int, to_usize};

/// Most bytes of a trial's blocks on one side of all processes of a node: each has its share.
const MOST: i64 = 1 << 28;

/// What the calls of a trial are like, if there can be one: `sharing` processes share the caller's
/// node. A weight of 1 stands for `unit` bytes.
pub fn calls(operations: &[Operation], outline: Outline, unit: u64, sharing: u32) -> Option<Calls> {
    let (_, operation) = operation(operations)?;
    let gathers = operation == Operation::Gather;
    let most = if gathers { outline.heaviest } else { outline.busiest };
    // found out again when lengths are known, and where processes share nodes
    (most.saturating_mul(unit) <= MOST.cast_unsigned()).then_some(Calls { gathers, sharing })
}

/// The operation whose calls a trial makes, and its place in `operations`. `None`: all of them
/// combine blocks, so that there is no trial.
pub fn operation(operations: &[Operation]) -> Option<(usize, Operation)> {
    let place = |wanted: Operation| operations.iter().position(|&operation| operation == wanted);
    [Operation::Alltoall, Operation::Gather].into_iter().find_map(|operation| Some((place(operation)?, operation)))
}

/// What a trial has found.
pub enum Outcome {
    /// The schedule that wins.
    Won(Selected),
    /// A process has no room for the blocks.
    NoRoom,
    /// A process has a request under way, whose tag the calls might come to.
    Busy,
}

/// Makes trial calls of an operation by all of `selected`, `direct` among them, and returns the
/// schedule that wins. A weight of 1 stands for `unit` bytes; `sharing` processes share this one's
/// node. Collective over the communicator.
///
/// Cost: the calls that `Race::brief` makes, memory for the blocks of a call, and a call by which
/// the receivers learn their lengths.
///
/// # Errors
/// MPI fails, or a process has ended; the same call fails on all others.
pub fn run(settings: impl Fn(Option<Timed>) -> Settings, selected: &[Selected], unit: u64, sharing: u32) -> Result<Outcome> {
    let plain = settings(None);
    let (comm, n, is_common) =
        (plain.pool.comm().clone(), plain.pool.neighborhood().clone(), plain.operation == Operation::Gather);
    let Some(direct) = selected.iter().find(|selected| selected.choice.algorithm() == Algorithm::Direct) else {
        return Err(Error::Internal("a trial lacks the schedule direct".into()).into());
    };
    let length = |edge: &Neighbor| {
        // what reaches no other process is no part of what it is long for
        let counts = edge.rank.is_some_and(|rank| rank != n.rank() || !is_common);
        if counts { i64::try_from(u64::from(edge.weight).saturating_mul(unit)).unwrap_or(i64::MAX) } else { 0 }
    };
    let mut lengths: Vec<i64> = n.targets().iter().map(length).collect();
    if is_common {
        lengths = vec![lengths.into_iter().max().unwrap_or(0)];
    }
    // a call whose tag a request has cannot start, on this process alone
    if all_have(&comm, (!plain.tags.is_holding()).then_some(()))?.is_none() {
        return Ok(Outcome::Busy);
    }
    let received = tell(&*BoundNeighborhood::new(plain, std::slice::from_ref(direct))?, &lengths, is_common)?;
    let most = MOST / i64::from(sharing.max(1));
    let blocks = TrialBlocks::new(lengths, is_common, most).zip(TrialBlocks::new(received, false, most));
    let Some((mut send, mut recv)) = all_have(&comm, blocks)? else { return Ok(Outcome::NoRoom) };
    let bound = BoundNeighborhood::new(settings(Some(Timed::Trial(Group::new(&comm, |_| true)?))), selected)?;
    let buffers = Buffers { input: send.blocks(&SEND), output: recv.blocks(&RECV), op: None };
    // what one process cannot bind, no process may wait for
    // SAFETY: the buffers have room for all blocks.
    if all_have(&comm, unsafe { bound.bind_candidates(&buffers) }.ok())?.is_none() {
        return Ok(Outcome::NoRoom);
    }
    let mut failed = Ok(());
    while bound.is_timed() {
        // SAFETY: as above; nothing else uses the buffers.
        match unsafe { bound.take_turn(&buffers) } {
            // all go on, as nobody knows of the failure, nor that a neighbor of this process has
            // ended, until all meet; but what comes next matches no more if a message was neither
            // received nor replaced
            Ok(Err(error)) if !comm.has_unmatched() => failed = failed.and(Err(error)),
            Ok(Ok(())) => {}
            Ok(Err(error)) | Err(error) => {
                std::mem::forget((send, recv));
                return Err(lost(&comm, error));
            }
        }
    }
    if failed.is_err() {
        // MPI may still use them
        std::mem::forget((send, recv));
    }
    coll::share_outcome(&comm, failed)?;
    bound.selected().map(Outcome::Won)
}

/// Tells each target the length of its block, of which there is one for all if it is common.
/// Returns the lengths of those received.
fn tell(bound: &BoundNeighborhood, lengths: &[i64], is_common: bool) -> Result<Vec<i64>> {
    let mut told = vec![0i64; bound.neighborhood().sources().len()];
    let count = to_int(size_of::<i64>());
    let blocks = |words: *mut i64, shape, names| Blocks {
        base: words.cast(),
        datatype: datatype::byte(),
        extent: 1,
        shape,
        names,
        field: None,
    };
    let shape = if is_common { Shape::One { count } } else { Shape::Equal { count } };
    let sent: Vec<i64> = lengths.to_vec();
    let buffers = Buffers {
        input: blocks(sent.as_ptr().cast_mut(), shape, &SEND),
        output: blocks(told.as_mut_ptr(), Shape::Equal { count }, &RECV),
        op: None,
    };
    // SAFETY: there is a word for each block; those sent are only read.
    let ended = unsafe { bound.run(&buffers) };
    if ended.is_err() {
        // MPI may still use them
        std::mem::forget((sent, std::mem::take(&mut told)));
    }
    let comm = bound.comm();
    coll::share_outcome(comm, ended.map_err(|error| lost(comm, error)))?;
    Ok(told)
}

/// Notes on the communicator that a process has ended, if that is the error.
fn lost(comm: &Comm, error: Box<Error>) -> Box<Error> {
    if let Error::Gone { rank } = *error { comm.lose(rank) } else { error }
}

/// What this process has, if all have it. Collective: a reduction.
fn all_have<T>(comm: &Comm, mine: Option<T>) -> Result<Option<T>> {
    let [all] = coll::allreduce(comm, [i64::from(mine.is_some())], Reduction::Min)?;
    Ok(mine.filter(|_| all != 0))
}

/// The blocks of one side of a call, in bytes, one after the other.
struct TrialBlocks {
    memory: Vec<u8>,
    counts: Vec<i64>,
    displs: Vec<i64>,
    /// True if there is one block for all.
    is_common: bool,
}

impl TrialBlocks {
    /// Makes room for blocks of these lengths. `None` if they have more than `most` bytes, or there
    /// is no memory.
    fn new(counts: Vec<i64>, is_common: bool, most: i64) -> Option<TrialBlocks> {
        let mut end = 0i64;
        let place = |&count: &i64| {
            let place = end;
            end = end.saturating_add(count);
            place
        };
        let displs = counts.iter().map(place).collect();
        if !(0..=most).contains(&end) {
            return None;
        }
        let mut memory = Vec::new();
        memory.try_reserve_exact(to_usize(end)).ok()?;
        memory.resize(to_usize(end), 0);
        Some(TrialBlocks { memory, counts, displs, is_common })
    }

    fn blocks(&mut self, names: &'static Names) -> Blocks<'_> {
        let shape = if self.is_common {
            Shape::One { count: self.counts.first().copied().unwrap_or(0) }
        } else {
            Shape::Vector { counts: Ints::Wide(&self.counts), displs: Ints::Wide(&self.displs) }
        };
        Blocks { base: self.memory.as_mut_ptr(), datatype: datatype::byte(), extent: 1, shape, names, field: None }
    }
}
