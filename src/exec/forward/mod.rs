//! The executor of schedules with packets: rounds of messages of which some are put together here,
//! and some are as long as they come.
//!
//! A whole block is sent from, or received in, the caller's buffer, as by `p2p.rs`. A packet is put
//! together in a kept buffer when its round begins, as `packet.rs` says, with the data of its
//! blocks as bytes, and received into another one: its length comes with it, by a probe. When its
//! round ends, what is in it for the caller is taken out. What is for others is sent on from there,
//! or copied into another packet.
//!
//! A block that is longer than where it belongs is an error of class `MPI_ERR_TRUNCATE`, as in MPI;
//! what is for others is sent on all the same. A shorter one fills what it fills.
//!
//! In a packet, input blocks that are one place in memory, and scratch blocks that came as one,
//! follow one another as one.
//!
//! Rounds do not overlap. Cost beyond MPI's: one copy of each byte where a packet is put together
//! and one where it is taken out, none where it is passed on by itself; as much memory as all
//! packets that a process puts together or receives. No allocation once the longest ones have been
//! seen. Counts above `INT_MAX` make a datatype for each such block or packet and call.

use std::ops::Range;
use std::sync::Arc;

use super::Executor;
use super::copy::{Copy, Way};
use super::device::refuse;
use super::guards::Guards;
use super::p2p::{Large, POLLS, Waiting, accept, enlarge, refuse_null, self_edge};
use crate::datatype::buffers::{self, Buffers, Located};
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Known};
use crate::mpi::device::Devices;
use crate::mpi::liveness::Patience;
use crate::mpi::message::{self, Probed};
use crate::mpi::p2p::{Message, Requests};
use crate::mpi::{self, MPI_Datatype};
use crate::observe;
use crate::schedule::{Block, Op, Schedule, packet};
use crate::topology::neighborhood::Rank;

/// A block of the caller's.
struct Own {
    block: Block,
    /// Whether it is sent or received by itself.
    direct: bool,
    /// What is known of its datatype, and the last one that MPI has accepted for it.
    known: Known,
    accepted: Option<MPI_Datatype>,
    /// In a call: where it is, its bytes of data, and how they come out of there and into it.
    located: Located,
    length: usize,
    way: Way,
    message: Message,
}

/// Executes one schedule with packets.
pub struct Packets {
    comm: Arc<Comm>,
    me: i32,
    tag: i32,
    waiting: Waiting,
    schedule: Schedule,
    own: Vec<Own>,
    /// Where the MPI writes longer messages past their receives: by index in `own`.
    guards: Option<Box<Guards>>,
    /// Where in `own` an input or output block is; `NONE` for those that the schedule does not
    /// name.
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    /// For each packet that is sent by itself, it and all that are in it, by number; empty for the
    /// others.
    members: Vec<Vec<u32>>,
    /// Of each of these whether it has blocks that come in the same call, so that its length is
    /// known when it is sent.
    passes: Vec<bool>,
    /// Where each packet is in its buffer; only of those that this process puts together.
    packets: Vec<Range<usize>>,
    /// For each scratch block the buffer in which it came, and where it is there.
    scratch: Vec<(usize, Range<usize>)>,
    /// One for each packet, and behind them one for each scratch block that comes by itself.
    buffers: Vec<Vec<u8>>,
    copies: Vec<Copy>,
    /// Copies before those of each round.
    first_copies: Vec<usize>,
    /// Of each source slot the round in which its block comes, and whether that is a copy.
    sources: Vec<Option<(usize, bool)>>,
    /// Rounds that have been posted; 0 when nothing is under way.
    round: usize,
    /// Receives of the posted round whose lengths come with them, and how many of them have been
    /// found.
    probed: Vec<(Rank, Block)>,
    found: usize,
    requests: Requests,
    /// Of each request whether it is a receive, and the other process.
    peers: Vec<(bool, Rank)>,
    /// The first message that failed.
    failure: Option<Box<Error>>,
    patience: Patience,
    /// For the caller's blocks as long as they are bound, and for packets as long as the call runs.
    large: Large,
    large_packets: Large,
    pack: Vec<u8>,
    known: Known,
    /// Whether a round has failed half-way, and what is bound is left to MPI.
    lost: bool,
    /// Where messages go for which there is no memory.
    sink: Vec<u8>,
    /// What is counted and traced, where somebody asks.
    record: Option<Arc<observe::Record>>,
}

const NONE: u32 = u32::MAX;

impl Packets {
    /// An executor of `schedule` for process `me` on the private communicator.
    pub fn new(comm: Arc<Comm>, me: u32, waiting: Waiting, schedule: &Schedule) -> Packets {
        let (packets, scratch) = (schedule.packets(), schedule.scratch_blocks() as usize);
        let mut outermost: Vec<usize> = (0..packets).collect();
        let mut members = vec![Vec::new(); packets];
        let mut passes = vec![false; packets];
        for k in 0..packets {
            members[outermost[k]].push(k as u32);
            for block in schedule.packet(k) {
                match *block {
                    // of higher numbers
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
        let rounds = (0..schedule.rounds()).map(|r| schedule.round(r));
        let most = rounds.clone().map(<[Op]>::len).max().unwrap_or(0);
        let copies = |round: &[Op]| round.iter().filter(|op| matches!(op, Op::Copy { .. })).count();
        let first_copies = std::iter::once(0).chain(rounds.scan(0, |sum, round| {
            *sum += copies(round);
            Some(*sum)
        }));
        let mut requests = Requests::default();
        requests.reserve(most);
        let mut executor = Packets {
            comm,
            me: me as i32,
            tag: 0,
            waiting,
            own: Vec::new(),
            guards: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            members,
            passes,
            packets: vec![0..0; packets],
            scratch: vec![(0, 0..0); scratch],
            buffers: vec![Vec::new(); packets + scratch],
            copies: Vec::new(),
            first_copies: first_copies.collect(),
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
            pack: Vec::new(),
            known: Known::default(),
            lost: false,
            sink: Vec::new(),
            record: None,
            schedule: schedule.clone(),
        };
        for op in schedule.ops() {
            match *op {
                Op::Send { block, .. } | Op::Recv { into: block, .. } => executor.name(block, true),
                Op::Copy { from, into } | Op::Reduce { from, into } => {
                    [from, into].into_iter().for_each(|b| executor.name(b, false))
                }
            }
        }
        (0..packets).flat_map(|k| schedule.packet(k)).for_each(|&block| executor.name(block, false));
        executor.guards = Guards::new(executor.own.len());
        for r in 0..schedule.rounds() {
            for op in schedule.round(r) {
                match *op {
                    Op::Recv { into: Block::Packet(k), .. } => {
                        (schedule.packet(k as usize).iter()).for_each(|&block| executor.note_source(block, r, false));
                    }
                    Op::Recv { into, .. } => executor.note_source(into, r, false),
                    Op::Copy { into, .. } => executor.note_source(into, r, true),
                    Op::Send { .. } | Op::Reduce { .. } => {}
                }
            }
        }
        executor
    }

    /// Counts and traces what this executor does from now on.
    pub fn observe(&mut self, record: &Arc<observe::Record>) {
        self.requests.count(record.tally(observe::Way::Mpi));
        self.record = Some(Arc::clone(record));
    }

    /// Notes in which round an output block comes.
    fn note_source(&mut self, block: Block, r: usize, copied: bool) {
        if let Block::Output(slot) = block {
            let slot = slot as usize;
            if self.sources.len() <= slot {
                self.sources.resize(slot + 1, None);
            }
            self.sources[slot] = Some((r, copied));
        }
    }

    /// Makes a place for a block of the caller's.
    fn name(&mut self, block: Block, direct: bool) {
        let list = match block {
            Block::Input(_) => &mut self.inputs,
            Block::Output(_) => &mut self.outputs,
            Block::Scratch(_) | Block::Packet(_) => return,
        };
        if list.len() <= block.slot() {
            list.resize(block.slot() + 1, NONE);
        }
        let at = &mut list[block.slot()];
        if *at == NONE {
            *at = self.own.len() as u32;
            let (nowhere, datatype) = (std::ptr::null_mut(), datatype::null());
            self.own.push(Own {
                block,
                direct: false,
                known: Known::default(),
                accepted: None,
                located: Located { at: nowhere, count: 0, datatype },
                length: 0,
                way: Way::InPlace(nowhere),
                message: Message { at: nowhere, count: 0, datatype, peer: mpi::proc_null() },
            });
        }
        self.own[*at as usize].direct |= direct;
    }

    /// A block of the caller's that has been named.
    fn own(&self, block: Block) -> &Own {
        let list = if let Block::Input(_) = block { &self.inputs } else { &self.outputs };
        &self.own[list[block.slot()] as usize]
    }

    /// Finds and checks all blocks of the caller's.
    unsafe fn bind_blocks(&mut self, buffers: &Buffers) -> Result<()> {
        for own in &mut self.own {
            let side = if let Block::Input(_) = own.block { &buffers.input } else { &buffers.output };
            let slot = own.block.slot();
            let located = side.locate(slot)?;
            let argument = || side.count_argument(slot);
            // SAFETY: the caller of `bind` vouches for handles and buffers.
            unsafe {
                accept(&mut own.accepted, located.datatype, side, slot, &self.comm)?;
                refuse_null(&located, side)?;
                let (way, size) = Way::of(&located, &own.known, &self.comm)?;
                own.length = buffers::length(located.count, size, argument)?;
                own.way = way;
                if own.direct {
                    self.large.fill(&mut own.message, &located, argument)?;
                }
            }
            own.located = located;
        }
        Ok(())
    }

    /// An error if a block that has just been bound lies in device memory.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    #[cold]
    pub unsafe fn refuse_devices(&self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        let why = || {
            let name = self.schedule.algorithm().name();
            format!(
                "the schedule {name} passes blocks on in the memory of the host; mpix_schedule=direct sends them from where they are"
            )
        };
        // SAFETY: the datatypes have been accepted.
        unsafe { refuse(devices, buffers, self.own.iter().map(|own| own.block), why) }
    }

    unsafe fn bind_copies(&mut self) -> Result<()> {
        for op in self.schedule.ops() {
            let Op::Copy { from, into } = *op else { continue };
            let (source, target) = (self.own(from).located, self.own(into).located);
            // SAFETY: both datatypes have been accepted.
            let Some(copy) = unsafe { Copy::prepare(source, target, &self.known, &self.comm) }? else {
                // SAFETY: as above.
                return Err(unsafe { self_edge(from, &source, into, &target) }?.into());
            };
            enlarge(&mut self.pack, copy.buffer())?;
            self.copies.push(copy);
        }
        Ok(())
    }

    /// Lays out a packet that this process puts together, and makes room for it.
    fn lay_out(&mut self, outer: usize) -> Result<()> {
        // lengths from the innermost outward, then places from the outermost inward
        for i in (0..self.members[outer].len()).rev() {
            let k = self.members[outer][i] as usize;
            let words = self.schedule.packet(k).len() * packet::WORD;
            let length = self.pieces(k).try_fold(words, |sum, (_, length)| sum.checked_add(length.unwrap_or(0)));
            self.packets[k] = 0..length.filter(|&l| l <= isize::MAX as usize).ok_or(Error::NoMemory { bytes: usize::MAX })?;
        }
        for i in 0..self.members[outer].len() {
            let k = self.members[outer][i] as usize;
            let mut at = self.packets[k].start + self.schedule.packet(k).len() * packet::WORD;
            for j in 0..self.schedule.packet(k).len() {
                let length = self.piece(k, j).unwrap_or(0);
                if let Block::Packet(inner) = self.schedule.packet(k)[j] {
                    self.packets[inner as usize] = at..at + length;
                }
                at += length;
            }
        }
        enlarge(&mut self.buffers[outer], self.packets[outer].len())
    }

    /// The blocks of a packet that this process puts together, with the bytes that each takes
    /// there; `None` for one that is the same as that before it.
    fn pieces(&self, k: usize) -> impl Iterator<Item = (Block, Option<usize>)> + '_ {
        (self.schedule.packet(k).iter().enumerate()).map(move |(i, &block)| (block, self.piece(k, i)))
    }

    fn piece(&self, k: usize, i: usize) -> Option<usize> {
        let blocks = self.schedule.packet(k);
        let last = if i > 0 { Some(blocks[i - 1]) } else { None };
        match (blocks[i], last) {
            (Block::Packet(k), _) => Some(self.packets[k as usize].len()),
            (Block::Scratch(s), last) => {
                let came = &self.scratch[s as usize];
                let same = matches!(last, Some(Block::Scratch(last)) if self.scratch[last as usize] == *came);
                (!same).then_some(came.1.len())
            }
            (block, last) => {
                let own = self.own(block);
                let same = matches!(last, Some(last @ Block::Input(_)) if self.own(last).located == own.located);
                (!same).then_some(own.length)
            }
        }
    }

    /// Puts a packet together.
    unsafe fn put(&mut self, outer: usize) -> Result<()> {
        if self.passes[outer] {
            self.lay_out(outer)?;
        }
        let mut buffer = std::mem::take(&mut self.buffers[outer]);
        // SAFETY: the caller of `bind` vouches for the blocks.
        let put = unsafe { self.put_into(outer, &mut buffer) };
        self.buffers[outer] = buffer;
        put
    }

    unsafe fn put_into(&self, outer: usize, buffer: &mut [u8]) -> Result<()> {
        for &k in &self.members[outer] {
            let (k, place) = (k as usize, self.packets[k as usize].clone());
            let words = self.pieces(k).map(|(_, length)| length.map_or(packet::SAME, |length| length as u64));
            packet::write_lengths(&mut buffer[place.clone()], words);
            let mut at = place.start + self.schedule.packet(k).len() * packet::WORD;
            for (block, length) in self.pieces(k) {
                let Some(length) = length else { continue };
                let into = &mut buffer[at..at + length];
                at += length;
                match block {
                    // it is among the members
                    Block::Packet(_) => {}
                    Block::Scratch(s) => {
                        let (buffer, range) = self.scratch[s as usize].clone();
                        into.copy_from_slice(&self.buffers[buffer][range]);
                    }
                    block => {
                        let own = self.own(block);
                        // SAFETY: the caller of `bind` vouches for the block; the buffer is ours.
                        unsafe { own.way.pack(&own.located, into, self.me, self.tag, &self.comm) }?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a packet apart that has come: what is the caller's goes there, of what is others' the
    /// place is noted.
    unsafe fn take(&mut self, k: usize, length: usize) -> Result<()> {
        let blocks = self.schedule.packet(k).len();
        let mut done: Result<()> = packet::check(&self.buffers[k][..length], blocks).map_err(|text| Error::Internal(text).into());
        let whole = done.is_ok();
        // others must not wait for what is lost
        let mut range = if whole { packet::front(blocks) } else { 0..0 };
        for i in 0..blocks {
            if whole {
                range = packet::place(&self.buffers[k], i, range);
            }
            match self.schedule.packet(k)[i] {
                Block::Scratch(s) => self.scratch[s as usize] = (k, range.clone()),
                // SAFETY: the caller of `bind` vouches for the block.
                block => done = done.and(unsafe { self.take_own(block, k, range.clone()) }),
            }
        }
        done
    }

    unsafe fn take_own(&mut self, block: Block, k: usize, range: Range<usize>) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffers[k]);
        let (own, from) = (self.own(block), &mut buffer[range]);
        let taken = if from.len() > own.length {
            Err(Error::Truncated { source_slot: block.slot(), sent: from.len(), expected: own.length }.into())
        } else {
            // SAFETY: the caller of `bind` vouches for the block, of which as many bytes at least
            // lie there; the buffer is ours.
            unsafe { own.way.unpack(from, &own.located, own.length, self.me, self.tag, &self.comm) }
        };
        self.buffers[k] = buffer;
        taken
    }

    /// A message of bytes in one of the buffers.
    fn bytes(&mut self, buffer: usize, range: Range<usize>, peer: Rank) -> Result<Message> {
        let at = self.buffers[buffer][range.clone()].as_mut_ptr();
        let block = Located { at, count: range.len() as i64, datatype: datatype::byte() };
        let mut message = Message { at, count: 0, datatype: block.datatype, peer: peer as i32 };
        // SAFETY: bytes are a committed type.
        unsafe { self.large_packets.fill(&mut message, &block, || Argument::new("recvcounts")) }?;
        Ok(message)
    }

    /// Posts the next round.
    fn post(&mut self) -> Result<()> {
        (self.found, self.round) = (0, self.round + 1);
        self.probed.clear();
        self.peers.clear();
        // SAFETY: the caller of `bind` vouches for the buffers until the collective is complete.
        unsafe { self.post_ops() }
    }

    /// Lets go of what has been posted of a round. Memory in which MPI may still read is left to
    /// it.
    #[cold]
    fn give_up(&mut self) {
        let Self { requests, peers, .. } = self;
        if requests.abandon(|i| peers.get(i).is_some_and(|peer| peer.0)) {
            self.buffers.iter_mut().chain([&mut self.sink]).for_each(|buffer| std::mem::forget(std::mem::take(buffer)));
            self.lost = true;
        }
    }

    unsafe fn post_ops(&mut self) -> Result<()> {
        let r = self.round - 1;
        // SAFETY: as for `post`.
        unsafe {
            for i in 0..self.schedule.round(r).len() {
                match self.schedule.round(r)[i] {
                    Op::Recv { from, into: block @ Block::Output(_), .. } => {
                        let mut message = Message { peer: from as i32, ..self.own(block).message };
                        let k = self.outputs[block.slot()] as usize;
                        if let Some(guards) = &mut self.guards {
                            guards.apply(k, &mut message)?;
                        }
                        self.requests.post_receives(&[message], self.tag, &self.comm)?;
                        if let Some(guards) = &self.guards {
                            self.requests.expect(guards.limits(k..k + 1));
                        }
                        self.peers.push((true, from));
                    }
                    Op::Recv { from, into, .. } => self.probed.push((from, into)),
                    Op::Send { to, block, .. } => {
                        let message = match block {
                            Block::Packet(k) => {
                                self.put(k as usize)?;
                                self.bytes(k as usize, self.packets[k as usize].clone(), to)?
                            }
                            Block::Scratch(s) => {
                                let (buffer, range) = self.scratch[s as usize].clone();
                                self.bytes(buffer, range, to)?
                            }
                            block => Message { peer: to as i32, ..self.own(block).message },
                        };
                        self.requests.post_sends(&[message], self.tag, &self.comm)?;
                        self.peers.push((false, to));
                    }
                    Op::Copy { .. } | Op::Reduce { .. } => {}
                }
            }
            for copy in &self.copies[self.first_copies[r]..self.first_copies[r + 1]] {
                copy.run(&mut self.pack, self.me, self.tag, &self.comm)?;
            }
        }
        if let Some(record) = &self.record {
            let copies = &self.copies[self.first_copies[r]..self.first_copies[r + 1]];
            record.sent(observe::Way::Own, copies.len(), copies.iter().map(Copy::bytes).sum());
            record.round(self.round);
        }
        Ok(())
    }

    /// Looks for the next message whose length comes with it, and begins to receive it. Whether it
    /// was there.
    fn look(&mut self, from: Rank) -> Result<bool> {
        // its length first: there must be room before the message is taken out of MPI's queue
        let Some(found) = message::probe(Some(from), self.tag, false, &self.comm)? else { return Ok(false) };
        let into = self.probed[self.found].1;
        let buffer = if let Block::Packet(k) = into { k as usize } else { self.schedule.packets() + into.slot() };
        let mut length = usize::try_from(found.status.bytes).unwrap_or(usize::MAX);
        let message = match enlarge(&mut self.buffers[buffer], length).and_then(|()| self.bytes(buffer, 0..length, from)) {
            Ok(message) => message,
            Err(e) => {
                // its sender must not wait for ever, nor those to whom this process passes on what
                // it holds
                let message = self.sink(length, from)?;
                self.note(Err(e));
                length = 0;
                message
            }
        };
        if let Block::Packet(k) = into {
            self.packets[k as usize] = 0..length;
        } else {
            self.scratch[into.slot()] = (buffer, 0..length);
        }
        // nobody else receives with this tag
        let matched = message::has_matched_probe();
        let Some(probed) = message::probe(Some(from), self.tag, matched, &self.comm)? else { return Ok(false) };
        self.receive(probed, &message, from)
    }

    /// A message of so many bytes of which only some are kept: all parts of it go to one place, one
    /// after the other.
    #[cold]
    fn sink(&mut self, length: usize, from: Rank) -> Result<Message> {
        const ROOM: usize = 1 << 16;
        enlarge(&mut self.sink, ROOM)?;
        let (at, parts) = (self.sink.as_mut_ptr(), length.div_ceil(ROOM));
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(parts).map_err(|_| Error::NoMemory { bytes: length })?;
        blocks.extend((0..parts).map(|k| (at, (length - k * ROOM).min(ROOM) as i32, datatype::byte())));
        // SAFETY: bytes are a committed type.
        let all = unsafe { datatype::Owned::joined(&blocks) }?;
        let message = Message { at: std::ptr::null_mut(), count: 1, datatype: all.raw(), peer: from as i32 };
        self.large_packets.keep(all);
        Ok(message)
    }

    /// Receives what has been found.
    fn receive(&mut self, probed: Probed, message: &Message, from: Rank) -> Result<bool> {
        // SAFETY: nothing touches the buffer until the round is complete.
        unsafe { self.requests.post_probed(probed, message, &self.comm) }?;
        self.peers.push((true, from));
        self.found += 1;
        Ok(true)
    }

    /// Finishes the posted round, whose messages are complete, and posts the next one, if there is
    /// one.
    fn advance(&mut self, completed: std::result::Result<(), (usize, Box<Error>)>) -> Result<()> {
        if let Err((position, mut error)) = completed {
            if let (Error::Mpi { text, .. }, Some(&(receives, peer))) = (&mut *error, self.peers.get(position)) {
                *text = format!("the message {} process {peer}: {text}", if receives { "from" } else { "to" });
            }
            self.note(Err(error));
        }
        for i in 0..self.probed.len() {
            if let Block::Packet(k) = self.probed[i].1 {
                // SAFETY: the caller of `bind` vouches for the blocks.
                let taken = unsafe { self.take(k as usize, self.packets[k as usize].len()) };
                self.note(taken);
            }
        }
        if self.round == self.schedule.rounds() {
            self.round = 0;
            return Ok(());
        }
        self.post()
    }

    /// Remembers a failure, if it is the first. All rounds run to their end, as others wait for the
    /// later ones.
    fn note(&mut self, done: Result<()>) {
        if let Err(e) = done {
            self.failure.get_or_insert(e);
        }
    }

    /// Notes a poll in vain, and fails if the process has waited long enough to find that another
    /// one has ended.
    fn be_patient(&mut self) -> Result<()> {
        if self.patience.is_over() { self.look_for_dead() } else { Ok(()) }
    }

    /// Fails if a process of the communicator has ended. What it would have passed on is nobody's
    /// to make up: the call goes no further, and those that wait for this process find the dead one
    /// themselves.
    #[cold]
    fn look_for_dead(&mut self) -> Result<()> {
        self.patience.look_at_all(&self.comm).inspect_err(|_| {
            self.requests.give_up_all(|position| self.peers[position].0);
            // MPI may still be at work there; only binding makes new ones
            self.lost = true;
            self.buffers.iter_mut().chain([&mut self.sink]).for_each(|buffer| std::mem::forget(std::mem::take(buffer)));
        })
    }

    fn block(&mut self) -> Result<()> {
        while self.round > 0 {
            while let Some(&(from, _)) = self.probed.get(self.found) {
                if !self.look(from)? {
                    self.be_patient()?;
                }
            }
            while !self.requests.settle(&mut self.patience) {
                self.look_for_dead()?;
            }
            let completed = if self.requests.is_empty() { Ok(()) } else { self.requests.wait() };
            self.advance(completed)?;
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<bool> {
        while self.round > 0 {
            while let Some(&(from, _)) = self.probed.get(self.found) {
                if !self.look(from)? {
                    return Ok(false);
                }
            }
            let completed = if self.requests.is_empty() { Ok(true) } else { self.requests.test() };
            if let Ok(false) = completed {
                return Ok(false);
            }
            self.advance(completed.map(|_| ()))?;
        }
        Ok(true)
    }

    /// Comes back to where nothing is under way. `ended` is how the last step did.
    fn end(&mut self, ended: Result<()>) -> Result<()> {
        self.round = 0;
        if !self.requests.is_empty() {
            self.give_up();
        }
        self.large_packets.clear();
        ended.and(self.failure.take().map_or(Ok(()), Err))
    }
}

impl Executor for Packets {
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.copies.clear();
        self.large.clear();
        self.lost = false;
        // SAFETY: the caller vouches for the buffers.
        unsafe { self.bind_blocks(buffers).and_then(|()| self.bind_copies()) }?;
        for outer in 0..self.members.len() {
            // not those that are in others, are received, or are as long as what comes in the call
            if !self.members[outer].is_empty() && !self.passes[outer] {
                self.lay_out(outer)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        (self.tag, self.round) = (tag, 0);
        self.patience.restart();
        if self.schedule.rounds() == 0 {
            return Ok(());
        }
        if self.lost {
            // by a death or by an error
            return self.comm.is_whole().and_then(|()| Err(Error::Lost.into()));
        }
        self.post().or_else(|e| self.end(Err(e)))
    }

    fn test(&mut self) -> Result<bool> {
        match self.poll() {
            Ok(false) => match self.be_patient() {
                Ok(()) => Ok(false),
                Err(e) => self.end(Err(e)).map(|()| true),
            },
            ended => self.end(ended.map(|_| ())).map(|()| true),
        }
    }

    fn wait(&mut self) -> Result<()> {
        if self.waiting == Waiting::Block {
            let ended = self.block();
            return self.end(ended);
        }
        let mut polls = 0;
        while !self.test()? {
            polls += 1;
            if polls >= POLLS {
                // SAFETY: takes nothing, touches nothing.
                unsafe { libc::sched_yield() };
            }
        }
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.lost
    }

    fn posts_at_once(&self) -> bool {
        // lengths of what comes are asked for after the start
        self.schedule.rounds() == 0
    }

    fn forget_datatypes(&mut self) {
        self.own.iter_mut().for_each(|own| own.accepted = None);
        self.large.clear();
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let Some(&Some((r, copied))) = self.sources.get(source) else {
            return Ok(true);
        };
        // what is received is taken out of its packet when the round ends
        Ok(self.round == 0 || r + usize::from(!copied) < self.round)
    }
}
