//! NBX between nodes: what a process sends to the processes of one node travels as one message, to
//! one process there, which passes it on inside the node.
//!
//! The message goes to the process whose place on its node is that of the sender on its own, so
//! that the processes of a node share the work. Between nodes runs NBX (`nbx.rs`), inside a node
//! the crystal router (`crystal.rs`).
//!
//! Useful with many processes a node, and a network whose messages are dear. Cost: at most one
//! message for each node that a process sends to, as NBX; then ceil(log2 n) messages inside a node
//! of n processes. Memory: 8 bytes for each process, made at the first use. Source: DSDE's NBX, and
//! the crystal router.

use std::sync::Arc;

use super::crystal::{self, LOST, Passage, Record, Router};
use crate::error::Result;
use crate::mpi::coll;
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::message::bytes_at;
use crate::sparse::mailbox::{Inbox, Outgoing, Sends};
use crate::sparse::{Kind, Stats, Wires, nbx, tag};

/// Which processes share a node, real or said to be one.
pub struct Nodes {
    /// Node of each process, as the lowest rank on it.
    node_of: Vec<u32>,
    /// All processes, node by node.
    members: Vec<u32>,
    /// Where a node's members begin; a node is named by the lowest rank on it.
    begins: Vec<(u32, u32)>,
    /// Place of this process on its node.
    place: u32,
    router: Router,
    /// Processes of each node, if that is said.
    fabricated: Option<u32>,
}

impl Nodes {
    /// Collective. `fabricated`: as if each so many processes were a node.
    fn new(comm: &Arc<Comm>, rank: u32, size: u32, fabricated: Option<u32>) -> Result<Nodes> {
        let node = match fabricated {
            Some(processes) => comm.split(rank / processes)?,
            None => comm.node()?,
        };
        // SAFETY: a live communicator.
        let (place, processes) = unsafe { (comm::rank(node.raw())?, comm::size(node.raw())?) };
        let mut lowest = rank.to_ne_bytes();
        coll::broadcast(&node, &mut lowest, 0)?;
        let node_of = coll::allgather(comm, u32::from_ne_bytes(lowest), size)?;
        let mut members: Vec<u32> = (0..size).collect();
        members.sort_by_key(|&r| node_of[r as usize]);
        let mut begins: Vec<(u32, u32)> = Vec::new();
        for (i, &r) in members.iter().enumerate() {
            let name = node_of[r as usize];
            if begins.last().is_none_or(|b| b.0 != name) {
                begins.push((name, i as u32));
            }
        }
        let router = Router::new(Arc::new(node), place, processes, tag(Kind::Router, 0));
        Ok(Nodes { node_of, members, begins, place, router, fabricated })
    }

    /// Members of a node, in the order of their places.
    fn members_of(&self, node: u32) -> &[u32] {
        let n = self.begins.partition_point(|b| b.0 < node);
        let end = self.begins.get(n + 1).map_or(self.members.len(), |b| b.1 as usize);
        &self.members[self.begins[n].1 as usize..end]
    }
}

const WORD: usize = size_of::<u64>();

enum Phase {
    /// Envelopes travel between nodes.
    Between(nbx::Run),
    /// Their contents travel inside nodes.
    Inside(Passage),
}

/// The protocol at work.
pub struct Run {
    phase: Phase,
    mine: Stats,
    /// What goes to each node; what NBX sends.
    _envelopes: Vec<Vec<u64>>,
    /// Envelopes that have come.
    arrived: Inbox,
    nothing: Sends,
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        if wires.nodes.as_ref().is_none_or(|n| n.fabricated != wires.node_size) {
            wires.nodes = Some(Nodes::new(&wires.comm, wires.rank, wires.size, wires.node_size)?);
        }
        let Some(nodes) = &wires.nodes else { unreachable!("they have just been made") };
        let mut order: Vec<&Outgoing> = sends.list.iter().filter(|o| o.target != wires.rank).collect();
        order.sort_by_key(|o| nodes.node_of[o.target as usize]);
        let (mut envelopes, mut outgoing) = (Vec::new(), Vec::new());
        for group in order.chunk_by(|a, b| nodes.node_of[a.target as usize] == nodes.node_of[b.target as usize]) {
            let members = nodes.members_of(nodes.node_of[group[0].target as usize]);
            let mut envelope: Vec<u64> = Vec::new();
            for o in group {
                let place = members.partition_point(|&m| m < o.target) as u64;
                // as a router's label
                envelope.extend([place << 32 | u64::from(wires.rank), o.bytes]);
                let at = envelope.len();
                envelope.resize(at + (o.bytes as usize).div_ceil(WORD), 0);
                // SAFETY: the caller vouches for the block; there is room for its bytes.
                if let Err(e) = unsafe { o.pack(envelope[at..].as_mut_ptr().cast(), sends.dense, &wires.comm) } {
                    wires.loss.get_or_insert(e);
                    envelope.truncate(at);
                    envelope[at - 1] = LOST;
                }
            }
            let target = members[nodes.place as usize % members.len()];
            envelopes.push(envelope);
            outgoing.push(target);
        }
        let list = (outgoing.into_iter().zip(&envelopes)).map(|(target, e)| {
            let bytes = size_of_val(&e[..]) as u64;
            Outgoing { target, block: bytes_at(e.as_ptr().cast(), bytes), bytes, device: false }
        });
        let list = Sends { list: list.collect(), dense: true };
        let mut arrived = Inbox::default();
        // an envelope for this process's own node may be for this process to pass on
        for own in list.list.iter().filter(|o| o.target == wires.rank) {
            // SAFETY: the envelope is there.
            unsafe { arrived.copy_own(own, true, &wires.comm) }?;
        }
        let mine = Stats::of(sends, wires);
        // SAFETY: the envelopes do not move, and live as long as the run.
        let between = unsafe { nbx::Run::start(wires, &list, mine, &mut arrived) }?;
        Ok(Run { phase: Phase::Between(between), mine, _envelopes: envelopes, arrived, nothing: Sends::default() })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        if let Phase::Between(between) = &mut self.phase {
            // SAFETY: the envelopes live as long as the run.
            if !unsafe { between.progress(wires, &mut self.arrived) }? {
                return Ok(false);
            }
            let held = self.contents();
            let nodes = wires.nodes.as_mut().expect("made at the start");
            // SAFETY: the envelopes that have come live as long as the run.
            self.phase =
                Phase::Inside(unsafe { Passage::start(&mut nodes.router, held, self.mine, &self.nothing, &mut wires.loss) }?);
        }
        let Phase::Inside(inside) = &mut self.phase else { unreachable!("begun above") };
        let nodes = wires.nodes.as_mut().expect("made at the start");
        // SAFETY: as above; the records' bytes are there until the router is used again.
        unsafe {
            let Some((records, _)) = inside.progress(&mut nodes.router, &self.nothing, &mut wires.loss)? else {
                return Ok(false);
            };
            crystal::deliver(records, inbox, &mut wires.loss)?;
        }
        Ok(true)
    }

    /// The messages in the envelopes that have come, those of one source in the order in which it
    /// sent them.
    fn contents(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for envelope in &self.arrived.messages {
            // SAFETY: so many bytes, which are words, have come; messages in the inbox are aligned
            // for words.
            let words = unsafe { std::slice::from_raw_parts(envelope.at.cast::<u64>(), envelope.bytes as usize / WORD) };
            let mut rest = words;
            while let [label, bytes, body @ ..] = rest {
                let record = Record::read(*label, *bytes, body.as_ptr().cast());
                rest = &body[record.body_words()..];
                records.push(record);
            }
        }
        records
    }
}
