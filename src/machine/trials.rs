//! What trial calls of set calls have found, for later set calls of the program: neighborhoods that
//! are set again and again, as meshes are refined, are much like one another. And how long they
//! took: where new ones come again and again, trials must not take the program's time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::kept::Memory;
use crate::error::Result;
use crate::mpi;
use crate::schedule::Operations;
use crate::select::hints::Hints;
use crate::select::{Candidate, Choice, Outline};
use crate::util::cast::{to_usize, whole};

static MEMORY: Memory<Alike, Choice> = Memory::new();

/// When the program began its first trial, and how long all of them took: bits of seconds.
static BEGAN: AtomicU64 = AtomicU64::new(0);
static SPENT: AtomicU64 = AtomicU64::new(0);

/// Seconds that trials may take in any program, and from there on the part of its time.
const FREE: f64 = 60.0;
const PART: f64 = 0.05;

/// The calls of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// True for gathers, false for alltoalls.
    pub gathers: bool,
    /// Processes that share the caller's node.
    pub sharing: u32,
}

/// Neighborhoods for which the same schedule counts as the fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    processes: u32,
    /// Those of process 0, which alone looks here.
    calls: Calls,
    operations: Operations,
    /// Numbers of edges, bytes of the longest block, and of all blocks of the busiest process: each
    /// by its logarithm.
    sizes: [usize; 3],
    /// Number of edges between nodes, by its logarithm; `None` where the graph is not known.
    far: Option<usize>,
    /// What is compared.
    close: Vec<Candidate>,
    window: Option<u32>,
    /// All hints that are equal on all processes.
    hints: i64,
}

impl Alike {
    /// Describes a neighborhood of `processes` processes for which `close` would be compared.
    /// `far`: the number of edges between nodes, if it is known.
    pub fn new(hints: &Hints, outline: Outline, processes: u32, calls: Calls, far: Option<u64>, close: &[Candidate]) -> Alike {
        let sizes = [outline.edges, hints.bytes(outline.heaviest), hints.bytes(outline.busiest)];
        let mut close = close.to_vec();
        close.sort_unstable_by_key(|&Candidate { algorithm, strict }| (algorithm as usize, strict));
        Alike {
            processes,
            calls,
            operations: outline.operations,
            sizes: sizes.map(step),
            far: far.map(step),
            close,
            window: hints.window,
            hints: hints.agreed(),
        }
    }
}

/// The logarithm of a number, in steps of 19 %.
fn step(number: u64) -> usize {
    to_usize(whole(4.0 * (number.max(1) as f64).log2()))
}

/// What was found for such a neighborhood. Local.
pub fn recall(alike: &Alike) -> Result<Option<Choice>> {
    MEMORY.recall(alike)
}

/// Keeps what was found. Local.
pub fn remember(alike: Alike, choice: Choice) -> Result<()> {
    MEMORY.remember(alike, choice)
}

/// True if the program can afford another trial. Local.
pub fn is_affordable() -> bool {
    let [began, spent] = [&BEGAN, &SPENT].map(|word| f64::from_bits(word.load(Relaxed)));
    // most programs need no clock
    affords(spent, 0.0) || affords(spent, mpi::time() - began)
}

fn affords(spent: f64, since: f64) -> bool {
    spent <= FREE.max(since * PART)
}

/// Counts the time of a trial that began at `began` by MPI's clock. By process 0 alone, which alone
/// asks: simulated processes share what is counted. One thread sets neighborhoods at a time, or
/// nearly so: what another one adds meanwhile may be lost.
pub fn spend(began: f64) {
    let spent = f64::from_bits(SPENT.load(Relaxed));
    if spent == 0.0 {
        BEGAN.store(began.to_bits(), Relaxed);
    }
    SPENT.store((spent + mpi::time() - began).to_bits(), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Algorithm;
    use crate::select::hints::Synchronization;

    #[test]
    fn trials_take_a_part_of_the_time() {
        for (spent, since, affordable) in [
            (0.0, 0.0, true),
            (60.0, 60.0, true),
            (61.0, 61.0, false),
            (61.0, 1219.0, false),
            (61.0, 1221.0, true),
            (400.0, 7000.0, false),
            (400.0, 8001.0, true),
        ] {
            assert_eq!(affords(spent, since), affordable, "{spent} s in {since} s");
        }
    }

    #[test]
    fn neighborhoods_are_alike_if_little_differs() {
        let operations = Operations { gather: false, alltoall: true, reduce: false };
        let outline = Outline {
            edges: 1000,
            weighted: true,
            heaviest: 1000,
            busiest: 26_000,
            one_node: false,
            operations,
            nodes: 4,
            has_trial: true,
            affords_trial: true,
        };
        let (hints, both) = (Hints::default(), [Algorithm::Direct, Algorithm::EdgeColoring].map(Candidate::from));
        let calls = Calls { gathers: false, sharing: 2 };
        let far = Some(500);
        let one = Alike::new(&hints, outline, 8, calls, far, &both);
        let like = Outline { edges: 1010, heaviest: 1005, ..outline };
        let window = |window| Alike::new(&Hints { window: Some(window), ..Hints::default() }, outline, 8, calls, far, &both);
        assert_ne!(window(1), window(4));
        assert_eq!(one, Alike::new(&hints, like, 8, calls, Some(505), &[both[1], both[0]]));
        for other in [
            Alike::new(&hints, Outline { heaviest: 1400, ..outline }, 8, calls, far, &both),
            Alike::new(&hints, Outline { busiest: 60_000, ..outline }, 8, calls, far, &both),
            Alike::new(&hints, Outline { edges: 2000, ..outline }, 8, calls, far, &both),
            Alike::new(&hints, outline, 8, calls, Some(1000), &both),
            Alike::new(&hints, outline, 8, calls, None, &both),
            Alike::new(&hints, outline, 16, calls, far, &both),
            Alike::new(&hints, outline, 8, Calls { sharing: 4, ..calls }, far, &both),
            Alike::new(&hints, outline, 8, Calls { gathers: true, ..calls }, far, &both),
            Alike::new(&hints, outline, 8, calls, far, &[Algorithm::Direct, Algorithm::Combining].map(Candidate::from)),
            Alike::new(&hints, outline, 8, calls, far, &[both[0], Candidate { strict: true, ..both[1] }]),
            Alike::new(&Hints { window: Some(1), ..Hints::default() }, outline, 8, calls, far, &both),
            Alike::new(&Hints { weight_unit: Some(8), ..Hints::default() }, outline, 8, calls, far, &both),
            Alike::new(&Hints { rma_synchronization: Synchronization::Fence, ..Hints::default() }, outline, 8, calls, far, &both),
        ] {
            assert_ne!(one, other);
        }
    }
}
