//! Agreement between processes when a neighborhood is set: on the arguments, the lists, the
//! directions of edges, and what all lists together are like.

use crate::collective::OPERATIONS;
use crate::collective::own::Own;
use crate::collective::tags::Given;
use crate::error::{Error, Result};
use crate::exec::shm::channel::Prepared;
use crate::machine::trials;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::{Communicator, Owned as Comm};
use crate::mpi::device;
use crate::schedule::{Algorithm, Operations, Star};
use crate::select::Outline;
use crate::select::hints::Hints;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{self, Neighbor, Neighborhood};
use crate::util::cast::{to_int, to_u32, to_usize};
use crate::util::random::mix;
use crate::util::unique::unique;

/// One process's arguments of a set call.
pub struct SetCall {
    /// Its lists.
    pub neighborhood: Neighborhood,
    /// Its hints.
    pub hints: Hints,
    /// The operations, as a set of bits.
    pub operations: i32,
    /// What errors call them.
    pub argument: &'static str,
}

/// An operation's neighborhood whose schedule may serve another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reusable {
    /// The operation, by its place.
    pub place: usize,
    /// The schedule's algorithm: parts that no edge connects may have measured, and so have,
    /// different ones.
    pub algorithm: Algorithm,
}

impl Reusable {
    /// A word that tells it from others.
    fn word(self) -> i64 {
        to_int(self.algorithm as usize * OPERATIONS + self.place)
    }
}

/// The result of the agreement.
pub struct Agreed {
    /// The arguments. Edges have directions if all edges of all processes have one.
    pub call: SetCall,
    /// The directions then, heaviest first.
    pub directions: Option<Vec<u32>>,
    /// All lists together, as far as the lists tell.
    pub outline: Outline,
    /// The sum of all processes' [`Star::share`].
    pub star: [u64; 4],
    /// The most numbers that a process has given out, by operation.
    pub given: [Given; OPERATIONS],
    /// The operation whose schedule may serve, on all processes, if devices are in use as they
    /// were.
    pub reusable: Option<usize>,
}

/// Places of the words of which the least ones count, or the largest, whose signs are changed.
const FAILED: usize = 0;
const SET: usize = 1;
const HINTS: usize = 3;
const DEVICES: usize = 5;
const WEIGHTED: usize = 6;
const HEAVIEST: usize = 7;
const BUSIEST: usize = 8;
const UNMATCHED: usize = 9;
const SPENT: usize = 10;
const GIVEN: usize = 11;
const REUSABLE: usize = GIVEN + 2 * OPERATIONS;
const PROPOSED: usize = REUSABLE + 2;
const NUMBER: usize = PROPOSED + 2;
const PREPARED: usize = NUMBER + 1;
const DIRECTIONS: usize = PREPARED + 1;

/// The word of a process that has nothing that may serve.
const NONE: i64 = -1;

/// The same for words that are added.
const FINGERPRINT: usize = 0;
const STAR: usize = 2;
const EDGES: usize = 6;
const DIFFERENCE: usize = 7;

/// What a process contributes beside its arguments.
pub struct State {
    /// The numbers that it has given out.
    pub given: [Given; OPERATIONS],
    /// True if messages to or from some processes no longer match.
    pub unmatched: bool,
    /// The number of what it proposes to use as its own objects; 0 for nothing.
    pub proposed: i64,
    /// A word for the shared memory that it has prepared.
    pub prepared: Option<u64>,
    /// Its place in the node, and how many processes are there.
    pub place: [u32; 2],
    /// The rank of the node's first process.
    pub node: u32,
}

impl State {
    /// What a process contributes that has given out these numbers, proposes objects with this
    /// number, and has or proposes `own`.
    pub fn new(given: [Given; OPERATIONS], proposed: i64, own: Option<&Own>, prepared: Option<&Prepared>) -> State {
        let unmatched = own.is_some_and(|own| own.comm.has_unmatched());
        let place = own.map_or([0, 1], |own| [own.team.me(), own.team.size()]);
        let node = own.map_or(0, |own| own.team.group().ranks()[0]);
        State { given, unmatched, proposed, prepared: prepared.map(Prepared::word), place, node }
    }
}

/// The words of all processes.
pub struct Gathered {
    sums: [u64; DIFFERENCE + 1],
    least: Vec<i64>,
    /// This process's lists with directions.
    labelled: Option<Neighborhood>,
    me: u32,
}

/// Gathers what all processes have to agree on. `comm` is the program's communicator, `known` what
/// the library has there of its own, and `grid` that of a Cartesian communicator. `reusable` says
/// which operation has a schedule that may serve these lists and hints.
///
/// Collective: two reductions at the same time, or one through shared memory.
pub fn gather(
    comm: Communicator,
    known: Option<&Own>,
    request: &Result<SetCall>,
    grid: Option<&Grid>,
    state: &State,
    reusable: impl FnOnce(&Neighborhood, &Hints) -> Option<Reusable>,
) -> Result<Gathered> {
    let me = comm.rank()?;
    let mut sums = [0; DIFFERENCE + 1];
    // of directions 1: there is none
    let mut mine = vec![1; DIRECTIONS + grid.map_or(0, |grid| 2 * grid.dimensions() + 1)];
    mine[FAILED] = if request.is_err() { i64::from(me) } else { i64::MAX };
    mine[DEVICES] = -i64::from(device::is_in_use());
    mine[UNMATCHED] = -i64::from(state.unmatched);
    mine[PREPARED] = state.prepared.is_some().into();
    sums[DIFFERENCE] = difference(state);
    let given = state.given.as_flattened().iter().map(|&given| -to_int::<i64>(given));
    mine[GIVEN..REUSABLE].iter_mut().zip(given).for_each(|(word, given)| *word = given);
    [mine[PROPOSED], mine[PROPOSED + 1]] = [state.proposed, -state.proposed];
    // those of the first process
    mine[SPENT] = if me == 0 && !trials::is_affordable() { -1 } else { 0 };
    mine[NUMBER] = if me == 0 { unique() } else { i64::MAX };
    let mut labelled = None;
    if let Ok(SetCall { neighborhood, hints, operations, .. }) = request {
        let is_other = |n: &&Neighbor| n.rank.is_some_and(|rank| rank != me);
        let sent = || neighborhood.targets().iter().filter(is_other).map(|n| u64::from(n.weight));
        let received = neighborhood.sources().iter().filter(is_other).map(|n| u64::from(n.weight));
        sums[FINGERPRINT..STAR].copy_from_slice(&neighborhood.fingerprint());
        sums[STAR..EDGES].copy_from_slice(&Star::share(neighborhood));
        sums[EDGES] = sent().count() as u64;
        [mine[SET], mine[SET + 1]] = [i64::from(*operations), -i64::from(*operations)];
        let agreed = hints.agreed();
        [mine[HINTS], mine[HINTS + 1]] = [agreed, -agreed];
        mine[WEIGHTED] = -i64::from(neighborhood.weighted());
        mine[BUSIEST] = -to_int::<i64>(sent().sum::<u64>().max(received.sum()));
        mine[HEAVIEST] = -to_int::<i64>(sent().max().unwrap_or(0));
        labelled = grid.and_then(|grid| label(neighborhood, grid, &mut mine[DIRECTIONS..]));
        let reusable = reusable(labelled.as_ref().unwrap_or(neighborhood), hints).map_or(NONE, Reusable::word);
        [mine[REUSABLE], mine[REUSABLE + 1]] = [reusable, -reusable];
    }
    match known {
        Some(own) => own.sum_and_least(&mut sums, &mut mine)?,
        None => coll::sum_and_least(comm, None, &mut sums, &mut mine)?,
    }
    Ok(Gathered { sums, least: mine, labelled, me })
}

impl Gathered {
    /// The least and the largest number of the objects that processes have proposed.
    pub fn proposed(&self) -> [i64; 2] {
        [self.least[PROPOSED], -self.least[PROPOSED + 1]]
    }

    /// True if all processes have prepared shared memory, of the same objects, and those of each
    /// node the same.
    pub fn prepared(&self) -> bool {
        let [least, largest] = self.proposed();
        least == largest && self.least[PREPARED] == 1 && self.sums[DIFFERENCE] == 0
    }

    /// A number for new ones.
    pub fn number(&self) -> i64 {
        self.least[NUMBER]
    }

    /// True if messages between some processes no longer match.
    pub fn unmatched(&self) -> bool {
        self.least[UNMATCHED] < 0
    }
}

/// The error of hints that are not equal on all processes, which names them. Collective: a
/// reduction of two words a hint.
#[cold]
fn differing(comm: &Comm, hints: &Hints) -> Result<Box<Error>> {
    let each = hints.agreed_each();
    let (mine, mut least) = (each.map(|(_, number)| [number, -number]), each.map(|_| [0; 2]));
    coll::allreduce_slice(comm, mine.as_flattened(), least.as_flattened_mut(), Reduction::Min)?;
    let keys = each.iter().zip(least).filter(|(_, [least, most])| *least != -most).map(|((key, _), _)| Hints::what_of(key));
    Ok(Error::Disagreement { what: keys.collect::<Vec<_>>().join("; ").into() }.into())
}

/// Finds out whether all arguments are in order, and equal where they must be, whether all lists
/// match, and what they are like. `comm` is the private communicator.
///
/// Collective; where lists do not match, one exchange of O(P) words, else none.
pub fn agree(comm: &Comm, gathered: Gathered, request: Result<SetCall>, grid: Option<&Grid>) -> Result<Agreed> {
    let Gathered { sums, least, labelled, me } = gathered;
    if least[FAILED] != i64::MAX {
        let root = to_u32(least[FAILED]);
        let remote = coll::share_error(comm, request.as_ref().err().map(|e| &**e), root, me)?;
        return Err(request.err().unwrap_or(remote.into()));
    }
    if least[SET] != -least[SET + 1] {
        return Err(Error::Disagreement { what: request?.argument.into() }.into());
    }
    if least[HINTS] != -least[HINTS + 1] {
        return Err(differing(comm, &request?.hints)?);
    }
    let SetCall { neighborhood, hints, operations, argument } = request?;
    if sums[FINGERPRINT..STAR] != [0, 0] {
        return Err(mismatch(comm, &neighborhood)?);
    }
    // the last word: 0 if a process lacks directions
    let split = least[DIRECTIONS..].split_last();
    // looked for among the lists with directions
    let comparable = grid.is_none() || matches!(split, Some((1, _)));
    let reusable = (comparable && least[REUSABLE] == -least[REUSABLE + 1]).then_some(least[REUSABLE]);
    let (neighborhood, directions) = match (labelled, split) {
        (Some(labelled), Some((1, weights))) => (labelled, Some(heaviest_first(weights))),
        _ => (neighborhood, None),
    };
    let largest = |place: usize| to_int::<u64>(-least[place]);
    Ok(Agreed {
        call: SetCall { neighborhood, hints: Hints { devices: least[DEVICES] < 0, ..hints }, operations, argument },
        directions,
        outline: Outline {
            edges: sums[EDGES],
            weighted: least[WEIGHTED] < 0,
            heaviest: largest(HEAVIEST),
            busiest: largest(BUSIEST),
            one_node: false,
            operations: Operations::default(),
            nodes: 0,
            has_trial: false,
            affords_trial: least[SPENT] == 0,
        },
        star: std::array::from_fn(|k| sums[STAR + k]),
        given: std::array::from_fn(|k| [0, 1].map(|kind| largest(GIVEN + 2 * k + kind))),
        reusable: reusable.filter(|&word| word != NONE).map(|word| to_usize(word) % OPERATIONS),
    })
}

/// This process's share of a sum that is 0 if the processes of each node have prepared the same,
/// and except with probability of about 2^-64 only then: as often as there are others, the first
/// one of a node adds what each of them subtracts. What they add depends on the node, so that
/// differences on two nodes do not cancel each other.
fn difference(state: &State) -> u64 {
    let [me, processes] = state.place;
    let node = mix(1 + u64::from(state.node));
    let word = state.prepared.map_or(0, |word| mix(word.wrapping_add(1) ^ node));
    if me == 0 { word.wrapping_mul(u64::from(processes.max(1)) - 1) } else { word.wrapping_neg() }
}

/// The lists with directions, if all edges of this process have one. Writes the weights of the
/// directions with changed signs, 1 where there is none, and last 0 if directions are missing.
fn label(n: &Neighborhood, grid: &Grid, words: &mut [i64]) -> Option<Neighborhood> {
    let labelled = if n.has_directions() { Some(n.clone()) } else { grid.with_directions(n) };
    match &labelled {
        Some(labelled) => {
            for (word, weight) in words.iter_mut().zip(labelled.direction_weights(grid.dimensions())) {
                *word = weight.map_or(1, |weight| -i64::from(weight));
            }
        }
        None => words.last_mut().into_iter().for_each(|word| *word = 0),
    }
    labelled
}

/// The directions that edges have, heaviest first.
fn heaviest_first(weights: &[i64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..to_u32(weights.len())).filter(|&d| weights[d as usize] <= 0).collect();
    order.sort_by_key(|&d| weights[d as usize]);
    order
}

/// Returns the error, the same on all processes, that a source or target entry has no counterpart
/// at the other end. Collective: one exchange of O(P) words.
fn mismatch(comm: &Comm, neighborhood: &Neighborhood) -> Result<Box<Error>> {
    let size = comm.size()?;
    let mut listed = vec![0u32; size as usize];
    for (rank, times) in Neighborhood::multiplicities(neighborhood.targets()) {
        listed[rank as usize] = times;
    }
    let listed_by = coll::alltoall(comm, &listed)?;
    let mismatch = neighborhood::first_mismatch(neighborhood, &listed_by);
    let me = neighborhood.rank();
    let found = if mismatch.is_some() { i64::from(me) } else { i64::MAX };
    let [root] = coll::allreduce(comm, [found], Reduction::Min)?;
    let Ok(root) = u32::try_from(root) else {
        return Err(Error::Internal("lists match, but their fingerprints do not".into()).into());
    };
    // the receiver with the lowest rank speaks for all
    let remote = coll::share_error(comm, mismatch.as_ref(), root, me)?;
    let error = match (remote, mismatch) {
        (_, Some(own)) if root == me => own,
        (Error::Remote { text, .. }, _) => Error::Lists { text },
        (other, _) => other,
    };
    Ok(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over two nodes of two processes each, which have prepared these words.
    fn sum(words: [[u64; 2]; 2]) -> u64 {
        let state = |node: usize, me: usize| State {
            given: [[0; 2]; OPERATIONS],
            unmatched: false,
            proposed: 0,
            prepared: Some(words[node][me]),
            place: [to_u32(me), 2],
            node: to_u32(2 * node),
        };
        [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().map(|(node, me)| difference(&state(node, me))).fold(0, u64::wrapping_add)
    }

    #[test]
    fn nodes_that_have_prepared_different_things_are_found() {
        assert_eq!(sum([[7, 7], [9, 9]]), 0);
        assert_eq!(sum([[7, 7], [7, 7]]), 0);
        assert_ne!(sum([[7, 9], [7, 7]]), 0);
        // the same difference the other way round
        assert_ne!(sum([[7, 9], [9, 7]]), 0);
    }
}
