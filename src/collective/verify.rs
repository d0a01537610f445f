//! Verification: before a collective, the two ends of each edge exchange what they are about to do.
//!
//! Both ends of an edge compare the same two descriptions and so reach the same conclusion. Both
//! leave out an edge whose ends do not match; all others carry their data, so that no process waits
//! for one that has seen an error.
//!
//! Cost: one round, two messages of 56 bytes for each edge to another process, and allocations. One
//! mistake cannot be found: a process calls an operation whose neighborhood does not list the other
//! process, or lists it fewer times. One of them then has an edge over which nobody answers.

use std::fmt::Write as _;

use crate::collective::COLLECTIVES;
use crate::datatype::buffers::{Blocks, Buffers};
use crate::error::{Error, Result};
use crate::mpi::coll;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::p2p::{Lost, Message, Requests};
use crate::topology::neighborhood::{Neighbor, Neighborhood};
use crate::util::cast::to_int;

/// Tags of the messages between the ends of an edge.
const FORWARD: i32 = 101;
const BACKWARD: i32 = 102;

/// The call that one end of an edge is about to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Intent {
    /// The collective, as a number.
    operation: i64,
    /// Bytes of the block by its type signature, summed over the fields.
    bytes: i64,
    /// A hash of the number of fields and their bytes.
    digest: i64,
    /// For a persistent collective that matches alone, one more than its number; else 0. Data
    /// travels with the same tags as that of all others here.
    alone: i64,
    count: i64,
    element: i64,
    /// Index of the entry in that process's list.
    entry: i64,
}

const WORDS: usize = 7;

/// The multiplier of Knuth's MMIX generator: odd and large.
const MULTIPLIER: i64 = 6_364_136_223_846_793_005;

/// Stands for the operation of a process whose arguments are in error.
const ERRONEOUS: i64 = -1;
/// Stands for the operation of a process that has ended.
const ENDED: i64 = -2;

impl Intent {
    fn words(&self) -> [i64; WORDS] {
        [self.operation, self.bytes, self.count, self.element, self.entry, self.digest, self.alone]
    }

    fn from_words(w: [i64; WORDS]) -> Intent {
        Intent { operation: w[0], bytes: w[1], count: w[2], element: w[3], entry: w[4], digest: w[5], alone: w[6] }
    }

    fn fits(&self, other: &Intent) -> bool {
        let same = self.operation == other.operation && self.alone == other.alone;
        same && self.bytes == other.bytes && self.digest == other.digest
    }

    /// Says what it is, beside another one that does not fit.
    fn describe(&self, other: &Intent) -> String {
        if self.operation == ERRONEOUS {
            return "nothing, as its arguments are in error".to_owned();
        }
        let name = usize::try_from(self.operation).ok().and_then(|operation| COLLECTIVES.get(operation));
        let name = name.unwrap_or(&"something else");
        // sums may be equal where the blocks of the fields are not
        let how = match self.operation == other.operation {
            true if self.alone != other.alone => " of another plan (mpix_match)",
            true if self.bytes == other.bytes => " in blocks of other lengths",
            _ => "",
        };
        format!("{} bytes ({} elements of {} bytes){how} in {name}", self.bytes, self.count, self.element)
    }
}

/// The result of verification.
pub struct Findings {
    /// For each source entry, true if the ends match.
    pub sources: Vec<bool>,
    /// For each target entry, true if the ends match.
    pub targets: Vec<bool>,
    /// All differences; `None` if there are none. A process that has ended is one for its edges,
    /// and if there are no others, that is the error.
    pub error: Option<Box<Error>>,
}

fn intents(list: &[Neighbor], fields: &[&Blocks], call: Call) -> Result<Vec<Intent>> {
    (list.iter().enumerate())
        .map(|(entry, neighbor)| {
            // both ends must have as many fields: each has a tag of its own
            let digest = to_int(fields.len());
            let (operation, alone) = (to_int(call.operation), call.alone.map_or(0, |number| to_int(number + 1)));
            let mut intent = Intent { operation, entry: to_int(entry), digest, alone, ..Intent::default() };
            // an entry without a process is not read
            for side in fields.iter().filter(|_| neighbor.rank.is_some()) {
                let block = side.locate(entry)?;
                let (bytes, element) = (block.bytes()?, block.datatype.size()?);
                let length = i64::try_from(bytes).unwrap_or(i64::MAX);
                intent.bytes = intent.bytes.saturating_add(length);
                intent.digest = intent.digest.wrapping_mul(MULTIPLIER).wrapping_add(length);
                // of several fields only the bytes are exchanged
                (intent.count, intent.element) = if fields.len() == 1 { (block.count, element) } else { (intent.bytes, 1) };
            }
            Ok(intent)
        })
        .collect()
}

/// What is called.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The collective, as a number.
    pub operation: usize,
    /// The number of a persistent collective that matches alone.
    pub alone: Option<u64>,
}

/// A comparison under way.
pub struct Check {
    me: u32,
    mine_out: Vec<Intent>,
    mine_in: Vec<Intent>,
    /// The error in this process's own arguments.
    error: Option<Box<Error>>,
    /// Edges to other processes: index of the entry, and rank.
    sources: Vec<(usize, u32)>,
    targets: Vec<(usize, u32)>,
    self_edges: Vec<(u32, u32)>,
    /// Intents sent and received: backward over source edges, then forward over target edges.
    told: Vec<[i64; WORDS]>,
    heard: Vec<[i64; WORDS]>,
    /// Edges over which the ends could not tell each other, by their places in `told`, and why.
    failed: Vec<(usize, Box<Error>)>,
    requests: Requests,
    patience: Patience,
    /// True if a process has died and MPI may still access `told` or `heard`.
    stuck: bool,
}

// SAFETY: it holds memory of its own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Check {}

impl Check {
    /// Begins to exchange intents over all edges.
    ///
    /// If this process's own arguments are in error, the other ends hear of it: they find that the
    /// edge does not match and go on without it.
    ///
    /// If MPI refuses a send, a notice takes its place, and the edge does not match at either end.
    /// A refused receive is an error of this process, of which all other ends hear.
    pub fn begin(neighborhood: &Neighborhood, fields: Result<&[Buffers]>, call: Call, comm: &Comm) -> Check {
        let me = neighborhood.rank();
        let mine = fields.and_then(|fields| {
            let inputs: Vec<&Blocks> = fields.iter().map(|f| &f.input).collect();
            let outputs: Vec<&Blocks> = fields.iter().map(|f| &f.output).collect();
            Ok((intents(neighborhood.targets(), &inputs, call)?, intents(neighborhood.sources(), &outputs, call)?))
        });
        let (mine_out, mine_in, error) = match mine {
            Ok((out, into)) => (out, into, None),
            Err(e) => {
                let none = Intent { operation: ERRONEOUS, ..Intent::default() };
                (vec![none; neighborhood.targets().len()], vec![none; neighborhood.sources().len()], Some(e))
            }
        };
        let sources = remote(neighborhood.sources_in_order().collect(), me);
        let targets = remote(neighborhood.targets_in_order().collect(), me);
        let told: Vec<[i64; WORDS]> =
            (sources.iter().map(|e| mine_in[e.0].words())).chain(targets.iter().map(|e| mine_out[e.0].words())).collect();
        let heard = vec![[0i64; WORDS]; told.len()];
        let mut requests = Requests::default();
        requests.reserve(2 * told.len());
        let self_edges = neighborhood.self_edges();
        let mut check = Check {
            me,
            mine_out,
            mine_in,
            error,
            sources,
            targets,
            self_edges,
            told,
            heard,
            failed: Vec::new(),
            requests,
            patience: Patience::default(),
            stuck: false,
        };
        check.post(comm);
        check
    }

    fn post(&mut self, comm: &Comm) {
        let message = |words: *mut [i64; WORDS], peer: u32| Message {
            at: words.cast(),
            count: to_int(WORDS),
            datatype: <i64 as coll::Element>::datatype(),
            peer: to_int(peer),
        };
        let (sources, targets) = (self.sources.iter(), self.targets.iter());
        let peers = (sources.map(|e| (e.1, FORWARD, BACKWARD))).chain(targets.map(|e| (e.1, BACKWARD, FORWARD)));
        for (edge, (peer, tag, _)) in peers.clone().enumerate() {
            let words = message(&mut self.heard[edge], peer);
            // SAFETY: the words are left alone until all requests are complete. Also a process with
            // which nothing else is exchanged hears of it.
            if let Err(e) = unsafe { self.requests.post_receives(&[words], tag, comm) } {
                self.requests.skip();
                comm.mismatch(peer);
                self.error.get_or_insert(e);
                self.told.fill(Intent { operation: ERRONEOUS, ..Intent::default() }.words());
            }
        }
        for (edge, (peer, _, tag)) in peers.enumerate() {
            let words = message(&mut self.told[edge], peer);
            // SAFETY: as above; they are only read.
            if let Err(e) = unsafe { self.requests.post_sends(&[words], tag, comm) } {
                self.requests.notify(size_of::<[i64; WORDS]>() as u64, to_int(peer), tag, comm);
                self.failed.push((edge, e));
            }
        }
    }

    /// Returns true when all living processes have answered.
    pub fn test(&mut self, comm: &Comm) -> bool {
        if self.requests.is_empty() {
            return true;
        }
        match self.requests.test() {
            // the others are complete
            Err((position, e)) => self.failed.push((position % self.told.len(), e)),
            Ok(true) => {}
            Ok(false) => {
                if self.patience.is_over() {
                    self.look_for_dead(comm);
                }
                return false;
            }
        }
        true
    }

    /// Stops waiting for processes that have ended. Their edges do not match, and the call goes on
    /// without them.
    #[cold]
    fn look_for_dead(&mut self, comm: &Comm) {
        let edges = self.told.len();
        let peer = |position: usize| {
            let edge = position % edges;
            self.sources.get(edge).unwrap_or_else(|| &self.targets[edge - self.sources.len()]).1
        };
        let mut pending = self.requests.pending();
        let dead = self.patience.look(comm.view(), pending.iter().map(|&position| peer(position)));
        pending.retain(|&position| dead.contains(&peer(position)));
        let receives = |position: usize| position < edges;
        for (&position, fate) in pending.iter().zip(self.requests.give_up(&pending, receives)) {
            self.stuck |= fate == Lost::Stuck;
            if receives(position) && fate != Lost::No {
                self.heard[position] = Intent { operation: ENDED, ..Intent::default() }.words();
            }
        }
    }

    /// Compares the intents after `test` has returned true.
    ///
    /// # Errors
    /// That of the process's own arguments.
    pub fn finish(self) -> Result<Findings> {
        let Check { me, mine_out, mine_in, error, sources, targets, self_edges, told, heard, failed, stuck, .. } = self;
        let heard = if stuck {
            let kept = heard.clone();
            std::mem::forget((told, heard));
            kept
        } else {
            heard
        };
        if let Some(e) = error {
            return Err(e);
        }
        let mut findings = Findings { sources: vec![true; mine_in.len()], targets: vec![true; mine_out.len()], error: None };
        let mut differences = Differences::default();
        for (edge, e) in failed {
            let (list, matches, &(entry, peer)) = match sources.get(edge) {
                Some(source) => ("sources", &mut findings.sources, source),
                None => ("targets", &mut findings.targets, &targets[edge - sources.len()]),
            };
            matches[entry] = false;
            let _ = write!(differences.text, "; {list}[{entry}], process {peer}: {e}");
        }
        let (from_sources, from_targets) = heard.split_at(sources.len());
        let sides = [
            (true, &sources, from_sources, &mine_in, &mut findings.sources),
            (false, &targets, from_targets, &mine_out, &mut findings.targets),
        ];
        for (receives, edges, heard, mine, matches) in sides {
            for (&(entry, peer), words) in edges.iter().zip(heard) {
                let (theirs, mine) = (Intent::from_words(*words), &mine[entry]);
                if matches[entry] && !theirs.fits(mine) {
                    matches[entry] = false;
                    differences.add(me, receives, (entry, peer), (&theirs, mine));
                }
            }
        }
        for (target, source) in self_edges {
            let (target, source) = (target as usize, source as usize);
            if !mine_out[target].fits(&mine_in[source]) {
                findings.targets[target] = false;
                findings.sources[source] = false;
                let _ = write!(
                    differences.text,
                    "; targets[{target}], process {me} itself, sends {}, but sources[{source}] expects {}",
                    mine_out[target].describe(&mine_in[source]),
                    mine_in[source].describe(&Intent::default())
                );
            }
        }
        findings.error = differences.into_error();
        Ok(findings)
    }
}

/// Edges whose ends differ, in words.
#[derive(Default)]
struct Differences {
    text: String,
    /// Those whose other end has ended, and the first process of these.
    ended: String,
    gone: Option<u32>,
}

impl Differences {
    /// Adds an edge of process `me` from a source (`receives`) or to a target: its entry in the
    /// list and the process there, and the intents of that process and of this one.
    fn add(&mut self, me: u32, receives: bool, (entry, peer): (usize, u32), (theirs, mine): (&Intent, &Intent)) {
        let list = if receives { "sources" } else { "targets" };
        if theirs.operation == ENDED {
            let _ = write!(self.ended, "; {list}[{entry}]: process {peer} has ended");
            self.gone.get_or_insert(peer);
            return;
        }
        let (they, this) = (theirs.describe(mine), mine.describe(&Intent::default()));
        let _ = if receives {
            write!(self.text, "; {list}[{entry}], process {peer}, sends {they}, but process {me} expects {this}")
        } else {
            let at = theirs.entry;
            write!(
                self.text,
                "; {list}[{entry}], process {peer}, expects in its sources[{at}] {they}, but process {me} sends {this}"
            )
        };
    }

    fn into_error(self) -> Option<Box<Error>> {
        if self.text.is_empty() {
            self.gone.map(|rank| Error::Gone { rank }.into())
        } else {
            Some(Error::Verification(format!("{}{}", self.text.trim_start_matches("; "), self.ended)).into())
        }
    }
}

fn remote(list: Vec<(u32, u32)>, me: u32) -> Vec<(usize, u32)> {
    (list.into_iter()).filter(|&(_, r)| r != me).map(|(entry, r)| (entry as usize, r)).collect()
}
