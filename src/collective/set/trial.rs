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
use crate::error::Result;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::group::Group;
use crate::schedule::Algorithm;
use crate::util::cast::{to_int, to_usize};

/// Most bytes of a trial's blocks on one side of a process.
const MOST: i64 = 1 << 28;

/// The operation whose calls a trial makes, and its place in `operations`.
pub fn operation(operations: &[Operation]) -> Option<(usize, Operation)> {
    let place = |wanted: Operation| operations.iter().position(|&operation| operation == wanted);
    [Operation::Alltoall, Operation::Gather].into_iter().find_map(|operation| Some((place(operation)?, operation)))
}

/// Makes trial calls of an operation by all of `selected`, `direct` among them, and returns the
/// schedule that wins; `None` if there is no room for the blocks. A weight of 1 stands for `unit`
/// bytes, and `heaviest` is the largest. Collective over the communicator.
///
/// Cost: the calls that `Race::brief` makes, memory for the blocks of a call, and if there are
/// several lengths a call by which the receivers learn them.
pub fn run(
    settings: impl Fn(Option<Timed>) -> Settings,
    selected: &[Selected],
    (unit, heaviest): (u64, u64),
) -> Result<Option<Selected>> {
    let of = settings(None);
    let (comm, n, operation) = (of.pool.comm().clone(), of.pool.neighborhood().clone(), of.operation);
    let direct = selected.iter().find(|selected| selected.choice.algorithm == Algorithm::Direct);
    let (common, direct) = (operation == Operation::Gather, direct.map(std::slice::from_ref));
    let [sent, received] = match direct {
        Some(direct) if !common => {
            let lengths: Vec<i64> = n.targets().iter().map(|edge| to_int(u64::from(edge.weight).saturating_mul(unit))).collect();
            let told = tell(&BoundNeighborhood::new(of, direct)?, &lengths)?;
            [lengths, told]
        }
        _ => [n.targets(), n.sources()].map(|list| vec![to_int(heaviest.saturating_mul(unit)); list.len()]),
    };
    let blocks = Side::new(sent, common).zip(Side::new(received, false));
    let Some((mut send, mut recv)) = all_have(&comm, blocks)? else { return Ok(None) };
    let bound = BoundNeighborhood::new(settings(Some(Timed::Trial(Group::new(&comm, |_| true)?))), selected)?;
    let buffers = Buffers { input: send.blocks(&SEND), output: recv.blocks(&RECV), op: None };
    while bound.is_timed() {
        // SAFETY: the buffers have room for all blocks; nothing else uses them, and no call is
        // under way when they go.
        unsafe { bound.run(&buffers) }?;
    }
    bound.selected().map(Some)
}

/// Tells each target the length of its block. Returns the lengths of those received.
fn tell(bound: &BoundNeighborhood, lengths: &[i64]) -> Result<Vec<i64>> {
    let mut told = vec![0i64; bound.neighborhood().sources().len()];
    let blocks = |words: *mut i64, names| Blocks {
        base: words.cast(),
        datatype: datatype::byte(),
        extent: 1,
        shape: Shape::Equal { count: to_int(size_of::<i64>()) },
        names,
    };
    let buffers =
        Buffers { input: blocks(lengths.as_ptr().cast_mut(), &SEND), output: blocks(told.as_mut_ptr(), &RECV), op: None };
    // SAFETY: there is a word for each block; those sent are only read.
    unsafe { bound.run(&buffers) }?;
    Ok(told)
}

/// What this process has, if all have one. Collective: a reduction.
fn all_have<T>(comm: &Comm, mine: Option<T>) -> Result<Option<T>> {
    let [all] = coll::allreduce(comm, [i64::from(mine.is_some())], Reduction::Min)?;
    Ok(mine.filter(|_| all != 0))
}

/// One side of a call: blocks of bytes, one after the other.
struct Side {
    memory: Vec<u8>,
    counts: Vec<i64>,
    displs: Vec<i64>,
    /// True if there is one block for all.
    common: bool,
}

impl Side {
    /// Makes room for blocks of these lengths, in bytes. `None` if they are too long.
    fn new(counts: Vec<i64>, common: bool) -> Option<Side> {
        let mut end = 0i64;
        let place = |&count: &i64| {
            let place = end;
            end = end.saturating_add(count);
            place
        };
        let displs = counts.iter().map(place).collect();
        let length = if common { counts.first().copied().unwrap_or(0) } else { end };
        if !(0..=MOST).contains(&length) {
            return None;
        }
        let mut memory = Vec::new();
        memory.try_reserve_exact(to_usize(length)).ok()?;
        memory.resize(to_usize(length), 0);
        Some(Side { memory, counts, displs, common })
    }

    fn blocks(&mut self, names: &'static Names) -> Blocks<'_> {
        let shape = if self.common {
            Shape::One { count: self.counts.first().copied().unwrap_or(0) }
        } else {
            Shape::Vector { counts: Ints::Wide(&self.counts), displs: Ints::Wide(&self.displs) }
        };
        Blocks { base: self.memory.as_mut_ptr(), datatype: datatype::byte(), extent: 1, shape, names }
    }
}
