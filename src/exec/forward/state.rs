//! The state of a forwarding executor.

use std::ops::Range;
use std::sync::Arc;

use crate::datatype::buffers::Located;
use crate::datatype::copy::OwnCopies;
use crate::datatype::known::Known;
use crate::datatype::large::Large;
use crate::datatype::pack::Packing;
use crate::error::{Error, Result};
use crate::exec::guards::Guards;
use crate::exec::waiting::Waiting;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::{self, Datatype, datatype};
use crate::observe;
use crate::schedule::{Block, Op, Schedule};
use crate::topology::neighborhood::Rank;
use crate::util::cast::{to_int, to_u32};

/// A block in the caller's buffers.
pub(super) struct CallerBlock {
    pub(super) block: Block,
    /// True if it is sent or received outside of packets.
    pub(super) direct: bool,
    /// Facts about its datatype, and the last datatype that MPI accepted for it.
    pub(super) known: Known,
    pub(super) accepted: Option<Datatype>,
    /// In the bound call: where it is, its bytes of data, and how they are packed.
    pub(super) located: Located,
    pub(super) length: usize,
    pub(super) packing: Packing,
    /// True if it could not be packed in the running call.
    pub(super) lost: bool,
    pub(super) message: Message,
    /// The bytes that arrived for it, if it is received into a buffer.
    pub(super) came: usize,
}

/// A block that has arrived and is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passing {
    /// Its buffer, and its position there.
    pub(super) buffer: usize,
    pub(super) range: Range<usize>,
    /// For a block that is lost, what its length does not exceed.
    pub(super) lost: Option<usize>,
}

/// Executes one schedule that forwards blocks in packets.
pub struct Forward {
    pub(super) comm: Arc<Comm>,
    pub(super) me: i32,
    pub(super) tag: i32,
    pub(super) waiting: Waiting,
    pub(super) schedule: Schedule,
    pub(super) own: Vec<CallerBlock>,
    /// Guards of receives, by index in `own`; only for an MPI that writes past the end of short
    /// receives.
    pub(super) guards: Option<Box<Guards>>,
    /// The index in `own` of each input or output block; `NONE` if the schedule does not use it.
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    /// For each outermost packet, the numbers of the packet and of all packets inside it; empty for
    /// the others.
    pub(super) members: Vec<Vec<u32>>,
    /// True for each outermost packet that holds blocks received in the same call, so that its
    /// length is known only when it is sent.
    pub(super) passes: Vec<bool>,
    /// The position of each packet in its buffer, for packets that this process assembles.
    pub(super) packets: Vec<Range<usize>>,
    /// For each scratch block, where it arrived.
    pub(super) scratch: Vec<Passing>,
    /// One buffer per packet, followed by one per scratch block that arrives outside of packets,
    /// and by one per output block.
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) copies: OwnCopies,
    /// The index of the first copy of each round.
    pub(super) first_copies: Vec<usize>,
    /// For each entry of the source list, the round in which its block arrives, and true if a copy
    /// brings it.
    pub(super) sources: Vec<Option<(usize, bool)>>,
    /// Rounds posted so far; 0 if no call is active.
    pub(super) round: usize,
    /// Receives of unknown length in the posted round, and how many of them have been found.
    pub(super) probed: Vec<(Rank, Block)>,
    pub(super) found: usize,
    pub(super) requests: Requests,
    /// For each request, true if it is a receive, and the process at the other end.
    pub(super) peers: Vec<(bool, Rank)>,
    /// The first message that failed.
    pub(super) failure: Option<Box<Error>>,
    pub(super) patience: Patience,
    /// Large-count datatypes: of the caller's blocks until the next `bind`, and of packets until
    /// the call is complete.
    pub(super) large: Large,
    pub(super) large_packets: Large,
    pub(super) known: Known,
    /// True if a call was given up, so that the bound buffers are left to MPI.
    pub(super) lost: bool,
    /// True if a packet of the last call was laid out anew, without what could not be packed.
    pub(super) spoiled: bool,
    /// The bytes that arrived for each packet of unknown length, even if there was no room for
    /// them.
    pub(super) arrived: Vec<usize>,
    /// Counts and traces, if the environment asks for it.
    pub(super) record: Option<Arc<observe::Record>>,
}

const NONE: u32 = u32::MAX;

/// Returns the [`members`](Forward::members) of packets, without those of packets that are
/// received, and which packets [pass blocks on](Forward::passes).
fn outermost_packets(schedule: &Schedule) -> (Vec<Vec<u32>>, Vec<bool>) {
    let packets = schedule.packets();
    let mut outermost: Vec<usize> = (0..packets).collect();
    let mut members = vec![Vec::new(); packets];
    let mut passes = vec![false; packets];
    for k in 0..packets {
        members[outermost[k]].push(to_u32(k));
        for block in schedule.packet(k) {
            match *block {
                // inner packets have higher numbers
                Block::Packet(inner) => outermost[inner as usize] = outermost[k],
                Block::Scratch(_) => passes[outermost[k]] = true,
                Block::Input(_) | Block::Output(_) => {}
            }
        }
    }
    for op in schedule.ops() {
        if let Op::Recv { into: Block::Packet(k), .. } = *op {
            members[k as usize].clear();
        }
    }
    (members, passes)
}

/// Returns the index of the first copy of each round, and the number of all copies.
fn first_copies(schedule: &Schedule) -> Vec<usize> {
    let copies = |r: usize| schedule.round(r).iter().filter(|op| matches!(op, Op::Copy { .. })).count();
    let ends = (0..schedule.rounds()).scan(0, |sum, r| {
        *sum += copies(r);
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

impl Forward {
    /// Makes an executor of `schedule` for process `me` on the private communicator.
    pub fn new(comm: Arc<Comm>, me: u32, waiting: Waiting, schedule: &Schedule) -> Forward {
        let (packets, scratch) = (schedule.packets(), schedule.scratch_blocks() as usize);
        let (members, passes) = outermost_packets(schedule);
        let most = (0..schedule.rounds()).map(|r| schedule.round(r).len()).max().unwrap_or(0);
        let mut requests = Requests::default();
        requests.reserve(most);
        let mut executor = Forward {
            comm,
            me: to_int(me),
            tag: 0,
            waiting,
            own: Vec::new(),
            guards: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            members,
            passes,
            packets: vec![0..0; packets],
            scratch: vec![Passing { buffer: 0, range: 0..0, lost: None }; scratch],
            buffers: vec![Vec::new(); packets + scratch],
            copies: OwnCopies::default(),
            first_copies: first_copies(schedule),
            sources: Vec::new(),
            round: 0,
            probed: Vec::with_capacity(most),
            found: 0,
            requests,
            peers: Vec::with_capacity(most),
            failure: None,
            patience: Patience::default(),
            large: Large::default(),
            large_packets: Large::default(),
            known: Known::default(),
            lost: false,
            spoiled: false,
            arrived: vec![0; packets],
            record: None,
            schedule: schedule.clone(),
        };
        executor.name_blocks(schedule);
        executor.buffers.resize(packets + scratch + executor.outputs.len(), Vec::new());
        executor.guards = Guards::new(executor.own.len());
        executor.note_sources(schedule);
        executor
    }

    /// Adds all blocks of the caller's that the schedule uses to `own`.
    fn name_blocks(&mut self, schedule: &Schedule) {
        for op in schedule.ops() {
            match *op {
                Op::Send { block, .. } | Op::Recv { into: block, .. } => self.name(block, true),
                Op::Copy { from, into } | Op::Reduce { from, into } => {
                    [from, into].into_iter().for_each(|b| self.name(b, false));
                }
            }
        }
        (0..schedule.packets()).flat_map(|k| schedule.packet(k)).for_each(|&block| self.name(block, false));
    }

    /// Notes in which round each output block arrives.
    fn note_sources(&mut self, schedule: &Schedule) {
        for r in 0..schedule.rounds() {
            for op in schedule.round(r) {
                match *op {
                    Op::Recv { into: Block::Packet(k), .. } => {
                        (schedule.packet(k as usize).iter()).for_each(|&block| self.note_source(block, r, false));
                    }
                    Op::Recv { into, .. } => self.note_source(into, r, false),
                    Op::Copy { into, .. } => self.note_source(into, r, true),
                    Op::Send { .. } | Op::Reduce { .. } => {}
                }
            }
        }
    }

    /// Notes in which round an output block arrives.
    pub(super) fn note_source(&mut self, block: Block, r: usize, copied: bool) {
        if let Block::Output(entry) = block {
            let entry = entry as usize;
            if self.sources.len() <= entry {
                self.sources.resize(entry + 1, None);
            }
            self.sources[entry] = Some((r, copied));
        }
    }

    /// Adds a block of the caller's to `own`, unless it is there already.
    pub(super) fn name(&mut self, block: Block, direct: bool) {
        let list = match block {
            Block::Input(_) => &mut self.inputs,
            Block::Output(_) => &mut self.outputs,
            Block::Scratch(_) | Block::Packet(_) => return,
        };
        if list.len() <= block.index() {
            list.resize(block.index() + 1, NONE);
        }
        let at = &mut list[block.index()];
        if *at == NONE {
            *at = to_u32(self.own.len());
            let (nowhere, datatype) = (std::ptr::null_mut(), datatype::byte());
            self.own.push(CallerBlock {
                block,
                direct: false,
                known: Known::default(),
                accepted: None,
                located: Located { at: nowhere, count: 0, datatype },
                length: 0,
                packing: Packing::InPlace(nowhere),
                lost: false,
                message: Message { at: nowhere, count: 0, datatype, peer: mpi::proc_null() },
                came: 0,
            });
        }
        self.own[*at as usize].direct |= direct;
    }

    /// Returns the index in `own` of a block of the caller's that the schedule uses.
    pub(super) fn position(&self, block: Block) -> usize {
        let list = if let Block::Input(_) = block { &self.inputs } else { &self.outputs };
        list[block.index()] as usize
    }

    /// Returns a block of the caller's that the schedule uses.
    pub(super) fn own(&self, block: Block) -> &CallerBlock {
        &self.own[self.position(block)]
    }

    /// As [`own`](Forward::own).
    pub(super) fn own_mut(&mut self, block: Block) -> &mut CallerBlock {
        let position = self.position(block);
        &mut self.own[position]
    }

    /// Returns the index of the buffer that receives a block or packet.
    pub(super) fn buffer(&self, block: Block) -> usize {
        let first = match block {
            Block::Packet(_) => 0,
            Block::Scratch(_) => self.schedule.packets(),
            Block::Output(_) | Block::Input(_) => self.schedule.packets() + self.scratch.len(),
        };
        first + block.index()
    }

    /// Records a failure, if it is the first. All rounds still run, because other processes wait
    /// for the later ones.
    pub(super) fn note(&mut self, done: Result<()>) {
        if let Err(e) = done {
            self.failure.get_or_insert(e);
        }
    }
}
