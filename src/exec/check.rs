//! Verification: before a collective, the two ends of each edge tell each other what they are about to do.
//!
//! Both ends of an edge compare the same two descriptions and so come to the same conclusion. An edge whose ends do not fit together is
//! left out by both; all others carry their data, so that no process waits for one that has seen an error.
//!
//! Cost: one round, two messages of 40 bytes for each edge to another process, and allocations. What cannot be found this way: a process that
//! calls an operation whose neighborhood lists the other process not at all, or fewer times. Then one of them has an edge over which nobody
//! answers.

use std::fmt::Write as _;

use super::buffers::{Blocks, Buffers};
use super::copy;
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::{coll, datatype};
use crate::neighborhood::{Neighbor, Neighborhood};

/// Messages between the ends of an edge travel under these tags.
const FORWARD: i32 = 101;
const BACKWARD: i32 = 102;

/// What one end of an edge is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Intent {
    /// Which collective, as a number.
    operation: i64,
    /// Bytes of the block, by its type signature.
    bytes: i64,
    count: i64,
    element: i64,
    /// Slot in that process's list.
    slot: i64,
}

const WORDS: usize = 5;

/// The operation of a process whose arguments are in error.
const ERRONEOUS: i64 = -1;

impl Intent {
    fn words(&self) -> [i64; WORDS] {
        [self.operation, self.bytes, self.count, self.element, self.slot]
    }

    fn from_words(w: [i64; WORDS]) -> Intent {
        Intent { operation: w[0], bytes: w[1], count: w[2], element: w[3], slot: w[4] }
    }

    fn fits(&self, other: &Intent) -> bool {
        self.operation == other.operation && self.bytes == other.bytes
    }
}

/// What verification found.
pub struct Findings {
    /// For each source slot whether the ends fit together.
    pub sources: Vec<bool>,
    /// For each target slot whether the ends fit together.
    pub targets: Vec<bool>,
    /// A description of all differences; `None` if there are none.
    pub text: Option<String>,
}

unsafe fn intents(list: &[Neighbor], side: &Blocks, operation: usize) -> Result<Vec<Intent>> {
    (list.iter().enumerate())
        .map(|(slot, neighbor)| {
            if neighbor.rank.is_none() {
                // nothing is looked at
                return Ok(Intent::default());
            }
            let block = side.locate(slot)?;
            if datatype::is_null(block.datatype) {
                let argument = side.datatype_argument(slot);
                return Err(Error::Datatype { argument, text: "it is MPI_DATATYPE_NULL".into() }.into());
            }
            // SAFETY: the caller vouches for the datatypes.
            let (bytes, element) = unsafe { (copy::bytes(&block)?, datatype::size(block.datatype)?) };
            Ok(Intent {
                operation: operation as i64,
                bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
                count: block.count,
                element,
                slot: slot as i64,
            })
        })
        .collect()
}

/// Exchanges intents over all edges and compares. `names[operation]` are the collectives' names.
///
/// Where the process's own arguments are in error, the other ends are told so before the error is returned: they find that the edge does
/// not fit and go on without it.
///
/// # Safety
/// The datatypes in `buffers` must be datatypes.
pub unsafe fn check(
    neighborhood: &Neighborhood,
    buffers: Result<&Buffers>,
    operation: usize,
    names: &[&str],
    comm: &Comm,
) -> Result<Findings> {
    let me = neighborhood.rank();
    let mine = buffers.and_then(|buffers| {
        // SAFETY: the caller vouches for the datatypes.
        unsafe {
            Ok((
                intents(neighborhood.targets(), &buffers.input, operation)?,
                intents(neighborhood.sources(), &buffers.output, operation)?,
            ))
        }
    });
    let (mine_out, mine_in, error) = match mine {
        Ok((out, into)) => (out, into, None),
        Err(e) => {
            let none = Intent { operation: ERRONEOUS, ..Intent::default() };
            (vec![none; neighborhood.targets().len()], vec![none; neighborhood.sources().len()], Some(e))
        }
    };
    let sources: Vec<(usize, u32)> = remote(neighborhood.sources_in_order(), me);
    let targets: Vec<(usize, u32)> = remote(neighborhood.targets_in_order(), me);
    // what I tell and hear: about each source edge backward, about each target edge forward
    let told: Vec<[i64; WORDS]> =
        (sources.iter().map(|e| mine_in[e.0].words())).chain(targets.iter().map(|e| mine_out[e.0].words())).collect();
    let mut heard = vec![[0i64; WORDS]; told.len()];
    let mut requests = Requests::default();
    requests.reserve(2 * told.len());
    let message = |words: *mut [i64; WORDS], peer: u32| Message {
        at: words.cast(),
        count: WORDS as i32,
        datatype: <i64 as coll::Element>::datatype(),
        peer: peer as i32,
    };
    let peers = (sources.iter().map(|e| (e.1, FORWARD, BACKWARD))).chain(targets.iter().map(|e| (e.1, BACKWARD, FORWARD)));
    let mut receives = 0;
    let posted = (|| {
        for ((peer, tag, _), words) in peers.clone().zip(&mut heard) {
            // SAFETY: the words are left alone until all requests are complete, below.
            unsafe { requests.post_receives(&[message(words, peer)], tag, comm) }?;
            receives += 1;
        }
        for ((peer, _, tag), words) in peers.zip(&told) {
            // SAFETY: as above; they are only read.
            unsafe { requests.post_sends(&[message(std::ptr::from_ref(words).cast_mut(), peer)], tag, comm) }?;
        }
        Ok(())
    })();
    if let Err(e) = posted {
        requests.abandon(receives);
        // MPI may still read what was being sent
        std::mem::forget(told);
        return Err(e);
    }
    requests.wait().map_err(|(_, e)| e)?;
    if let Some(e) = error {
        return Err(e);
    }

    let mut findings = Findings { sources: vec![true; mine_in.len()], targets: vec![true; mine_out.len()], text: None };
    let mut text = String::new();
    let (from_sources, from_targets) = heard.split_at(sources.len());
    let describe = |i: &Intent| {
        if i.operation == ERRONEOUS {
            return "nothing, as its arguments are in error".to_owned();
        }
        let name = names.get(i.operation as usize).copied().unwrap_or("something else");
        format!("{} bytes ({} elements of {} bytes) in {name}", i.bytes, i.count, i.element)
    };
    for (&(slot, peer), words) in sources.iter().zip(from_sources) {
        let (theirs, mine) = (Intent::from_words(*words), &mine_in[slot]);
        if !theirs.fits(mine) {
            findings.sources[slot] = false;
            let _ = write!(
                text,
                "; sources[{slot}], process {peer}, sends {}, but process {me} expects {}",
                describe(&theirs),
                describe(mine)
            );
        }
    }
    for (&(slot, peer), words) in targets.iter().zip(from_targets) {
        let (theirs, mine) = (Intent::from_words(*words), &mine_out[slot]);
        if !theirs.fits(mine) {
            findings.targets[slot] = false;
            let _ = write!(
                text,
                "; targets[{slot}], process {peer}, expects in its sources[{}] {}, but process {me} sends {}",
                theirs.slot,
                describe(&theirs),
                describe(mine)
            );
        }
    }
    for (target, source) in neighborhood.self_edges() {
        let (target, source) = (target as usize, source as usize);
        if !mine_out[target].fits(&mine_in[source]) {
            findings.targets[target] = false;
            findings.sources[source] = false;
            let _ = write!(
                text,
                "; targets[{target}], process {me} itself, sends {}, but sources[{source}] expects {}",
                describe(&mine_out[target]),
                describe(&mine_in[source])
            );
        }
    }
    findings.text = text.strip_prefix("; ").map(str::to_owned);
    Ok(findings)
}

fn remote(list: Vec<(u32, u32)>, me: u32) -> Vec<(usize, u32)> {
    (list.into_iter()).filter(|&(_, r)| r != me).map(|(slot, r)| (slot as usize, r)).collect()
}
