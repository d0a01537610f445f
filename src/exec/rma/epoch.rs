//! The steps of a call: answers to sources, puts, arrivals, and messages in place of puts.

use std::sync::atomic::Ordering;

use super::answer::{MAY_PUT, MUST_SEND, WORDS};
use super::header::{self, Header, Place};
use super::link::{ANSWER, data_tag};
use super::slots::Slot;
use super::state::{InMessage, InState, OutMessage, Round, Stage};
use crate::datatype::buffers::enlarge;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::blocks;
use crate::mpi::attached::Attached;
use crate::mpi::landing::Group;
use crate::mpi::message;
use crate::mpi::p2p::{Lost, Message, Way};
use crate::mpi::{datatype, proc_null, sink};
use crate::observe::Medium;
use crate::util::cast::{to_int, to_usize};

impl Round {
    /// Takes every step that can be taken without waiting. Returns true when the call is complete.
    /// Notes errors.
    pub(super) fn step(&mut self) -> bool {
        match self.stage {
            Stage::Idle | Stage::Complete => return true,
            Stage::Queued if !self.link.turns.is(self.turn) => return false,
            Stage::Queued => self.open(),
            Stage::Open => {}
        }
        if !self.accessed {
            self.look_for_answers();
        }
        if self.exposed {
            if self.fence.is_some() {
                self.look_at_fence();
            } else if self.link.is_passive() {
                self.look_at_flags();
            } else {
                self.look_for_end();
            }
            // asking about an epoch, like a flag, may only read memory
            if self.exposed && self.accessed {
                self.enter_mpi();
            }
        }
        let mut done = self.accessed && !self.exposed;
        for i in 0..self.ins.len() {
            match self.ins[i].state {
                InState::Put => done = false,
                InState::Landed | InState::Done => {}
                InState::Slot => done &= self.look_into_slot(i),
                InState::Header | InState::Data { .. } => done &= self.ask(i),
            }
        }
        done &= self.fold();
        done = done && self.are_sent();
        if done {
            self.stage = Stage::Complete;
            self.link.turns.end();
        }
        done
    }

    /// Puts and sends to those targets that have answered. None waits for another one to answer.
    fn look_for_answers(&mut self) {
        match self.answers.test() {
            Ok(false) => {
                for k in 0..self.outs.len() {
                    if !self.outs[k].left && matches!(self.answers.test_one(k), Ok(true)) {
                        self.access(k..k + 1);
                    }
                }
                return;
            }
            Ok(true) => {}
            Err((_, e)) => self.note(e),
        }
        self.access(0..self.outs.len());
        self.accessed = true;
    }

    /// Takes all messages out of their slots once all sources have completed their epochs.
    fn look_for_end(&mut self) {
        match self.link.landing.test() {
            Ok(false) => {}
            Ok(true) => {
                self.exposed = false;
                (0..self.ins.len()).for_each(|i| self.take_slot(i));
            }
            Err(e) => {
                self.note(e);
                self.shut();
            }
        }
    }

    /// Takes each message out of its slot whose source has raised the flag.
    fn look_at_flags(&mut self) {
        self.exposed = false;
        for i in 0..self.ins.len() {
            if self.ins[i].state != InState::Put {
                continue;
            }
            if self.link.landing.flag(self.ins[i].slot.flag()).load(Ordering::Acquire) != self.ins[i].number {
                self.exposed = true;
                continue;
            }
            if let Err(e) = self.link.landing.sync() {
                self.note(e);
            }
            self.take_slot(i);
        }
    }

    /// Lets MPI move other messages, and yield the core if it does so at all.
    fn enter_mpi(&mut self) {
        if let Err(e) = message::progress(self.link.comm().view()) {
            self.note(e);
        }
    }

    /// Copies the blocks that the process sends to itself, or gets ready to combine them.
    pub(super) fn start_own(&mut self) {
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        if let Some((folding, _)) = &mut self.folding {
            // SAFETY: the caller of `bind` vouches for the blocks.
            if let Err(e) = unsafe { folding.start(loopback) } {
                self.failure.get_or_insert(e);
            }
        }
        // SAFETY: the caller of `bind` vouches for the blocks; the buffer is long enough.
        if let Err(e) = unsafe { self.copies.run(self.copies.all(), loopback) } {
            self.note(e);
        }
        if let Some(record) = &self.record {
            let copied = (self.copies.all().len(), self.copies.bytes(self.copies.all()));
            let (blocks, bytes) = self.folding.as_ref().map_or(copied, |(folding, _)| folding.own());
            record.sent(Medium::Own, blocks, bytes);
        }
    }

    /// Begins to use the window: lets the sources in and tells them, or asks them for messages.
    fn open(&mut self) {
        self.stage = Stage::Open;
        (self.accessed, self.exposed) = (false, false);
        if self.fence.is_some() {
            return self.open_between_fences();
        }
        let (dead, cut_off) = (self.link.dead(), self.link.cut_off());
        if let Some(&rank) = dead.first() {
            self.note(Error::Gone { rank }.into());
        }
        if let Some(&rank) = cut_off.first() {
            self.note(Error::Unmatched { rank }.into());
        }
        let mut answer = &MUST_SEND;
        if !self.link.is_closed() && !self.ins.is_empty() {
            match self.post() {
                Ok(()) => (self.exposed, answer) = (true, &MAY_PUT),
                Err(e) => {
                    self.note(e);
                    self.link.close();
                }
            }
        }
        for out in &mut self.outs {
            (out.answer[0], out.left, out.refused) = (0, false, false);
            out.number = self.link.count_to(out.position);
        }
        for recv in &mut self.ins {
            recv.number = self.link.count_from(recv.position);
        }
        let is_there = |slot: &Slot| !dead.contains(&slot.rank) && !cut_off.contains(&slot.rank);
        self.exchange_answers(answer, |out| is_there(&out.slot), |recv| is_there(&recv.slot));
        let cut_off = self.link.cut_off();
        for i in 0..self.ins.len() {
            let rank = self.ins[i].slot.rank;
            let is_lost = dead.contains(&rank) || cut_off.contains(&rank);
            self.ins[i].state = match () {
                () if is_lost => InState::Done,
                () if self.exposed => InState::Put,
                () => self.expect_header(i),
            };
        }
        if self.exposed && !self.link.is_passive() && self.ins.iter().any(|recv| cut_off.contains(&recv.slot.rank)) {
            self.shut();
        }
        self.pack_all();
    }

    /// Exchanges answers with those neighbors that tell or ask for one: with sources to whom places
    /// are offered while they may put, these, with the others `answer`. Answers of targets have
    /// their positions among the messages, those to sources follow.
    pub(super) fn exchange_answers(
        &mut self,
        answer: &'static [u64],
        asks: impl Fn(&OutMessage) -> bool,
        tells: impl Fn(&InMessage) -> bool,
    ) {
        let words = |at: *mut u64, count: usize, rank: u32, counts: bool| Message {
            at: at.cast(),
            count: to_int(count * size_of::<u64>()),
            datatype: datatype::byte(),
            peer: if counts { to_int(rank) } else { proc_null() },
        };
        let Self { outs, ins, answers, exposed, link, failure, .. } = self;
        for out in outs {
            let words = words(out.answer.as_mut_ptr(), WORDS, out.slot.rank, asks(out));
            // SAFETY: the words are the executor's, and are left alone until the requests are
            // complete; here and below.
            if let Some(e) = unsafe { answers.insist(&words, Way::In, ANSWER, link.comm()) } {
                failure.get_or_insert(e);
            }
        }
        for recv in ins {
            let answer = if *exposed && recv.is_offered() { &recv.offer } else { answer };
            let words = words(answer.as_ptr().cast_mut(), answer.len(), recv.slot.rank, tells(recv));
            // SAFETY: as above.
            if let Some(e) = unsafe { answers.insist(&words, Way::Out, ANSWER, link.comm()) } {
                failure.get_or_insert(e);
            }
        }
    }

    /// Gives up answers that have not come or gone, by their positions. Returns true if MPI may
    /// still use memory of the executor.
    #[cold]
    pub(super) fn give_up_answers(&mut self, positions: &[usize]) -> bool {
        let outs = self.outs.len();
        let fates = self.answers.give_up(positions, |position| position < outs);
        // a constant answer lives for ever
        let is_ours = |position: usize| position < outs || self.ins[position - outs].is_offered();
        positions.iter().zip(fates).any(|(&position, fate)| fate == Lost::Stuck && is_ours(position))
    }

    /// Lets the sources put.
    fn post(&self) -> Result<()> {
        let Self { link, ins, .. } = self;
        if ins.len() == link.sources.len() {
            return link.landing.post(&link.sources_group);
        }
        let ranks: Vec<u32> = ins.iter().map(|recv| recv.slot.rank).collect();
        link.landing.post(&Group::of(link.comm(), &ranks)?)
    }

    /// Packs what is sent, behind headers, while the targets' answers are on their way; but not
    /// what the last call of these buffers has put straight from its blocks to those of the target.
    pub(super) fn pack_all(&mut self) {
        for k in 0..self.outs.len() {
            let blocks = &self.inputs[self.outs[k].blocks.clone()];
            self.outs[k].in_pieces = !self.to_all && self.outs[k].straight && self.outs[k].has_pieces(blocks);
            if self.to_all && k > 0 {
                // what is packed once has the header for the first target
                self.outs[k].apart = self.outs[k].number != self.outs[0].number;
                self.outs[k].spoiled = self.outs[0].spoiled;
            } else {
                self.outs[k].apart = false;
                self.pack(k);
            }
            let out = &mut self.outs[k];
            let place = if out.bytes as u64 <= out.slot.capacity { Place::Here } else { Place::Message };
            out.tell(if out.spoiled { Place::Nowhere } else { place });
        }
    }

    /// Packs what is sent to target `k`, unless it is put from where it lies.
    pub(super) fn pack(&mut self, k: usize) {
        let Self { outs, inputs, lost, to_all, staging, me, tag, comm, failure, .. } = self;
        let out = &mut outs[k];
        out.spoiled = lost.iter().any(|block| out.blocks.contains(block));
        if out.spoiled || out.in_place.is_some() || out.in_pieces {
            return;
        }
        let loopback = Loopback { me: *me, tag: *tag, comm };
        let room = &mut staging[out.staged..][..header::BYTES + out.bytes];
        let words = Header { number: out.number, bytes: out.bytes as u64, place: Place::Here }.words();
        room[..8].copy_from_slice(&words[0].to_ne_bytes());
        room[8..header::BYTES].copy_from_slice(&words[1].to_ne_bytes());
        let blocks = if *to_all { &inputs[..1] } else { &inputs[out.blocks.clone()] };
        // SAFETY: the caller of `bind` vouches for the blocks; the room has their length.
        if let Err(e) = unsafe { blocks::pack(blocks, room[header::BYTES..].as_mut_ptr(), loopback) } {
            out.spoiled = true;
            failure.get_or_insert(e);
        }
    }

    /// True if all that was sent by message has been.
    fn are_sent(&mut self) -> bool {
        let (mut sent, mut failed) = (true, None);
        for request in self.outs.iter_mut().flat_map(|out| &mut out.sends) {
            match request.test() {
                Ok(done) => sent &= done,
                Err(e) => failed = Some(e),
            }
        }
        if let Some(e) = failed {
            self.note(e);
        }
        sent
    }

    /// Takes the message of source `i`, which has completed its puts, out of its slot.
    pub(super) fn take_slot(&mut self, i: usize) {
        let slot = self.ins[i].slot;
        let at = to_usize(slot.offset);
        let landing = &self.link.landing;
        // SAFETY: a slot has room for a header, at an address that is a multiple of a line's length
        // in memory of MPI, which may be aligned less; nobody writes it until the next epoch.
        let words = unsafe { landing.at(at, header::BYTES).cast::<[u64; 2]>().read_unaligned() };
        let data = landing.at(at + header::BYTES, to_usize(slot.capacity));
        if let Err(e) = self.read(i, words, data) {
            self.note(e);
        }
    }

    /// Goes on with the message of source `i`, whose header is here, and, if it says so, its data.
    fn read(&mut self, i: usize, words: [u64; 2], data: *const u8) -> Result<()> {
        let rank = self.ins[i].slot.rank;
        self.ins[i].state = InState::Done;
        let header = Header::of(words).filter(|header| header.number == self.ins[i].number);
        let Some(Header { bytes, place, .. }) = header else {
            return Err(Error::Internal(format!("process {rank} has put no message of this call")).into());
        };
        let is_offered = self.ins[i].is_offered();
        match place {
            Place::Nowhere => {
                // a part of it may still be under way
                self.stuck |= is_offered;
                Err(Error::Unpacked { rank }.into())
            }
            Place::There if is_offered && bytes == self.ins[i].bytes as u64 => {
                self.link.landing.attached().map_or(Ok(()), Attached::sync)
            }
            Place::There => Err(Error::Internal(format!("process {rank} has put a message where it may not")).into()),
            Place::Here if data.is_null() || bytes > self.ins[i].slot.capacity => {
                Err(Error::Internal(format!("process {rank} has put a message that is longer than its slot")).into())
            }
            Place::Here => {
                self.check(i, bytes)?;
                self.unpack(i, data, to_usize(bytes))
            }
            Place::Message => self.expect_data(i, bytes),
        }
    }

    /// Fails if a message of `sent` bytes does not fit its blocks. As in MPI, a single block may
    /// get less than it has room for, but not one that is combined, or a part: its sender cuts at
    /// other bytes then.
    fn check(&self, i: usize, sent: u64) -> Result<()> {
        let recv = &self.ins[i];
        let is_one = self.to_all || (recv.blocks.len() == 1 && !self.outputs[recv.blocks.start].is_part());
        let (expected, one) = (recv.bytes as u64, !self.is_exact && is_one);
        if sent == expected || (sent < expected && one) {
            return Ok(());
        }
        let entries = self.outputs[recv.blocks.clone()].iter().map(|block| block.entry).collect();
        Err(Error::Length { rank: recv.slot.rank, entries, sent, expected }.into())
    }

    /// Copies a message to its blocks, or leaves it where it is to be combined.
    fn unpack(&mut self, i: usize, data: *const u8, bytes: usize) -> Result<()> {
        if self.folding.is_some() {
            (self.ins[i].state, self.ins[i].data) = (InState::Landed, data);
            return Ok(());
        }
        let recv = &self.ins[i];
        let blocks = &self.outputs[recv.blocks.clone()];
        // SAFETY: the caller of `bind` vouches for the blocks; the message fits, which has been
        // checked.
        unsafe { blocks::unpack_message(blocks, self.to_all, recv.bytes, data, bytes, self.loopback()) }
    }

    /// Posts the receive of the header of source `i`.
    fn expect_header(&mut self, i: usize) -> InState {
        let (rank, tag) = (self.ins[i].slot.rank, data_tag(self.ins[i].number));
        let recv = &mut self.ins[i];
        let at = recv.words.as_mut_ptr().cast();
        // SAFETY: the words are left alone until the request is complete.
        match unsafe { message::receive(at, header::BYTES as u64, Some(rank), Some(tag), self.link.comm()) } {
            Ok(request) => {
                recv.request = request;
                InState::Header
            }
            Err(e) => {
                self.note(e);
                InState::Done
            }
        }
    }

    /// Posts the receive of the data of source `i`, also if they do not fit their blocks, or there
    /// is no memory for them, so that they do not stay in MPI's queue.
    fn expect_data(&mut self, i: usize, bytes: u64) -> Result<()> {
        let mut wanted = self.check(i, bytes);
        let (rank, tag) = (self.ins[i].slot.rank, data_tag(self.ins[i].number));
        let Self { ins, outputs, link, .. } = self;
        let recv = &mut ins[i];
        let in_place = match &outputs[recv.blocks.clone()] {
            [block] if wanted.is_ok() => block.in_place(),
            _ => None,
        };
        if wanted.is_ok() && in_place.is_none() {
            wanted = enlarge(&mut recv.buffer, to_usize(bytes));
        }
        recv.request = if wanted.is_ok() {
            let at = in_place.unwrap_or(recv.buffer.as_mut_ptr());
            // SAFETY: the caller of `bind` vouches for the block, in which the message fits; the
            // buffer is long enough, and left alone until the request is complete.
            unsafe { message::receive(at, bytes, Some(rank), Some(tag), link.comm()) }
        } else {
            sink::receive(bytes, rank, tag, link.comm())
        }?;
        recv.state = InState::Data { bytes, in_place: in_place.is_some(), wanted: wanted.is_ok() };
        wanted
    }

    /// Moves a message forward that comes by message. Returns true if it is complete.
    fn ask(&mut self, i: usize) -> bool {
        let came = match self.ins[i].request.test_receive() {
            Ok(None) => return false,
            Ok(Some(status)) => Ok(status.bytes),
            Err(e) => Err(e),
        };
        let state = std::mem::replace(&mut self.ins[i].state, InState::Done);
        let done = came.and_then(|came| match state {
            InState::Header if came == header::BYTES as u64 => self.read(i, self.ins[i].words, std::ptr::null()),
            InState::Data { bytes, in_place, wanted } if came == bytes => {
                if in_place || !wanted {
                    Ok(())
                } else {
                    self.unpack(i, self.ins[i].buffer.as_ptr(), to_usize(bytes))
                }
            }
            // in place of what MPI has refused to send
            _ => Err(Error::Unpacked { rank: self.ins[i].slot.rank }.into()),
        });
        if let Err(e) = done {
            self.note(e);
        }
        matches!(self.ins[i].state, InState::Landed | InState::Done)
    }

    /// Gives up the exposure epoch, which will not end. Living sources still put: a message that
    /// follows must be received, or its sender would wait for ever.
    #[cold]
    pub(super) fn shut(&mut self) {
        self.exposed = false;
        self.link.close();
        for recv in self.ins.iter_mut().filter(|recv| recv.state == InState::Put) {
            (recv.state, recv.words) = (InState::Slot, [0; 2]);
        }
    }

    /// Looks for a header that a source has put without the end of an epoch. Returns true if
    /// nothing more is to come. The call has failed: its blocks need not be right.
    #[cold]
    fn look_into_slot(&mut self, i: usize) -> bool {
        self.enter_mpi();
        let slot = self.ins[i].slot;
        let at = self.link.landing.at(to_usize(slot.offset), header::BYTES);
        // SAFETY: as for `take_slot`, but that the source may be writing: the words count only when
        // they have not changed since the last look.
        let words = unsafe { at.cast::<[u64; 2]>().read_unaligned() };
        let is_same = std::mem::replace(&mut self.ins[i].words, words) == words;
        let header = Header::of(words).filter(|header| is_same && header.number == self.ins[i].number);
        let Some(Header { bytes, place, .. }) = header else { return false };
        self.ins[i].state = InState::Done;
        if place == Place::Message
            && let Err(e) = self.expect_data(i, bytes)
        {
            self.note(e);
        }
        self.ins[i].state == InState::Done
    }
}
