//! Sends messages through shared memory.

// inline(always): plans with blocks of 256 B take 10 % to 18 % less time, with `send`, `recv`,
// `blocks` and `shm/ring.rs` together (benches/fuse.c).

use std::ops::Range;

use super::channel::{EagerBuffer, Outbound};
use super::state::{OutMessage, SendState, Shm};
use crate::datatype::buffers::enlarge;
use crate::datatype::pack::Loopback;
use crate::error::Result;
use crate::exec::blocks::{self, MessageBlock};
use crate::observe::Medium;
use crate::shm::ring::{CHUNKS, Header, IN_CELL, IN_CHUNKS, INLINE, STREAMED, UNPACKED, WORDS};
use crate::shm::stores::{self, Style};
use crate::shm::streaming::{since, ticks};
use crate::util::cast::{to_u32, to_usize};

/// A step that a message can take now.
pub(super) enum SendStep {
    /// Send all of it, in its cells.
    Inline,
    /// Send all of it, in this eager buffer.
    Eager(EagerBuffer),
    /// Send all of it by MPI.
    ByMpi,
    /// Announce that it comes in chunks, which go through this memory.
    Announce(*mut u8),
    /// Write its next chunk.
    Chunk,
    /// Announce where it lies.
    Publish,
    /// See what its targets have made of that.
    Conclude,
    /// Send it in chunks after all, which go through this memory.
    Turn(*mut u8),
}

impl Shm {
    /// True if a message can enter the rings of all its targets now.
    #[inline(always)]
    pub(super) fn has_room(&self, send: &OutMessage) -> bool {
        let free = |i: usize| {
            let out = &self.channels.outbound[i];
            out.sender.is_free(self.number, out.ring()) && out.chunks_are_read()
        };
        self.holders(send).all(free)
    }

    /// Returns the targets that may still read from a message's memory. In reductions, the first
    /// target's memory may hold a message for all of them.
    #[inline(always)]
    pub(super) fn holders(&self, send: &OutMessage) -> Range<usize> {
        let reduces = self.folding.as_ref().is_some_and(|folding| folding.reduces());
        if reduces && send.targets.start == 0 { 0..self.channels.outbound.len() } else { send.targets.clone() }
    }

    #[inline(always)]
    fn put(&self, send: &OutMessage, bytes: u32, location: u32, words: usize, word: impl Fn(usize) -> u64) {
        if let Some(record) = &self.record {
            record.sent(Medium::Shared, send.targets.len(), u64::from(bytes & !STREAMED) * send.targets.len() as u64);
        }
        for out in &self.channels.outbound[send.targets.clone()] {
            let header = Header { bytes, location, acks: self.channels.acks(out) };
            out.sender.put_each(self.number, out.ring(), header, words, &word);
        }
    }

    /// Sends message `k` if it is whole and has room. Returns false if it has to be sent in the
    /// general way.
    #[inline(always)]
    fn send_whole(&mut self, k: usize) -> bool {
        let send = &self.sends()[k];
        if send.whole.is_none() || !self.has_room(send) {
            return false;
        }
        // SAFETY: the caller of `bind` vouches for the blocks, which `whole` was made of.
        self.put(send, to_u32(send.bytes), IN_CELL, send.whole.words, |k| unsafe { send.whole.read(k) });
        self.send_mut(k).state = SendState::Done;
        true
    }

    /// Returns the step that message `k` can take now; `None` if it is complete, or has to wait for
    /// a receiver.
    ///
    /// This is the state machine of a message: `step_send` takes the step, and a process sleeps
    /// only while no message has one.
    #[inline(always)]
    pub(super) fn next_send(&self, k: usize) -> Option<SendStep> {
        let send = &self.sends()[k];
        match send.state {
            SendState::Waiting if self.has_room(send) => {
                if send.bytes > self.short {
                    self.next_of_long(k)
                } else if send.bytes <= INLINE {
                    Some(SendStep::Inline)
                } else {
                    self.find_buffer(send)
                }
            }
            SendState::Published if self.can_conclude(k) => Some(SendStep::Conclude),
            SendState::Published => self.memory_to_turn(k).map(SendStep::Turn),
            SendState::Chunks { written, .. } => self.has_room_for_chunk(send, written).then_some(SendStep::Chunk),
            SendState::Waiting | SendState::Done => None,
        }
    }

    /// Says how message `k` is written to shared memory.
    pub(super) fn style(&self, k: usize) -> Style {
        let send = &self.sends()[k];
        let is_divisible = || self.inputs[send.blocks.clone()].iter().all(MessageBlock::is_divisible);
        if self.channels.oversubscribed || !is_divisible() {
            return Style::ORDINARY;
        }
        let outs = &self.channels.outbound[send.targets.clone()];
        outs[0].stores.choose(self.number, send.bytes, outs.iter().map(Outbound::ring))
    }

    #[inline(always)]
    fn find_buffer(&self, send: &OutMessage) -> Option<SendStep> {
        let buffer = self.channels.free_buffer(&send.targets, &self.holders(send), self.number, send.bytes);
        buffer.map(SendStep::Eager)
    }

    /// Returns how a long message can begin: at once, or, if it is to come in chunks,
    /// once all its receivers are ready and have said how they take it.
    #[cold]
    fn next_of_long(&self, k: usize) -> Option<SendStep> {
        let send = &self.sends()[k];
        if self.is_to_publish(k) {
            return Some(SendStep::Publish);
        }
        let has_cell = send.bytes <= self.channels.eager_limit;
        let hopes = || self.hopes && self.can_publish(k);
        if has_cell && !hopes() {
            return self.find_buffer(send);
        }
        let mut in_chunks = true;
        for out in &self.channels.outbound[send.targets.clone()] {
            in_chunks &= out.ready(self.number)?;
        }
        if !in_chunks && has_cell {
            return self.find_buffer(send);
        }
        if !in_chunks && self.can_publish(k) {
            return Some(SendStep::Publish);
        }
        if !in_chunks || self.sends_from_device(k) {
            return Some(SendStep::ByMpi);
        }
        self.channels.chunk_memory(&send.targets, &self.holders(send)).map(SendStep::Announce)
    }

    /// True if all targets have room for chunk number `written` of a message.
    #[inline]
    fn has_room_for_chunk(&self, send: &OutMessage, written: u64) -> bool {
        let mut outs = self.channels.outbound[send.targets.clone()].iter().zip(&send.before);
        outs.all(|(out, &before)| out.has_room_for_chunk(before, written))
    }

    /// Takes the next step of message `k`, if there is one. Returns true if it took one.
    #[inline(always)]
    pub(super) fn step_send(&mut self, k: usize) -> Result<bool> {
        let Some(step) = self.next_send(k) else { return Ok(false) };
        match step {
            SendStep::Inline => self.send_inline(k),
            SendStep::Eager(buffer) => self.send_eager(k, buffer),
            SendStep::ByMpi => self.send_by_mpi(k),
            SendStep::Publish => self.publish(k),
            SendStep::Conclude => self.conclude(k),
            SendStep::Announce(memory) => self.begin_chunks(k, memory),
            SendStep::Turn(memory) => {
                self.turn(k, memory);
                Ok(())
            }
            SendStep::Chunk => {
                self.send_chunk(k);
                Ok(())
            }
        }
        .map(|()| true)
    }

    /// Sends a message in its cells.
    #[inline(always)]
    fn send_inline(&mut self, k: usize) -> Result<()> {
        let send = &self.sends()[k];
        let mut words = [0u64; WORDS];
        // SAFETY: the caller of `bind` vouches for the blocks.
        let packed = unsafe { blocks::pack(&self.inputs[send.blocks.clone()], words.as_mut_ptr().cast(), self.loopback()) };
        match packed {
            Ok(()) => self.put(send, to_u32(send.bytes), IN_CELL, send.bytes.div_ceil(size_of::<u64>()), |k| words[k]),
            Err(_) => self.put(send, 0, UNPACKED, 0, |_| 0),
        }
        self.send_mut(k).state = SendState::Done;
        packed
    }

    /// Sends a message in an eager buffer.
    #[inline(always)]
    fn send_eager(&mut self, k: usize, buffer: EagerBuffer) -> Result<()> {
        let send = &self.sends()[k];
        self.channels.claim(buffer, &send.targets, self.number);
        if send.bytes >= stores::LEAST {
            return self.send_eager_long(k, buffer);
        }
        // SAFETY: as above; the buffer is long enough, and free.
        let packed = unsafe { blocks::pack(&self.inputs[send.blocks.clone()], buffer.at, self.loopback()) };
        match packed {
            Ok(()) => self.put(send, to_u32(send.bytes), self.channels.location(buffer.at), 0, |_| 0),
            Err(_) => self.put(send, 0, UNPACKED, 0, |_| 0),
        }
        self.send_mut(k).state = SendState::Done;
        packed
    }

    /// Sends a message in an eager buffer that is its own, in the faster way.
    fn send_eager_long(&mut self, k: usize, buffer: EagerBuffer) -> Result<()> {
        let style = self.style(k);
        let send = &self.sends()[k];
        let (blocks, began) = (&self.inputs[send.blocks.clone()], if style.timed { ticks() } else { 0 });
        // SAFETY: as above.
        let packed = unsafe {
            if style.streams {
                blocks::pack_streaming(blocks, 0..send.bytes, buffer.at);
                Ok(())
            } else {
                blocks::pack(blocks, buffer.at, self.loopback())
            }
        };
        if style.timed {
            self.channels.outbound[send.targets.start].stores.add(since(began));
        }
        let bytes = to_u32(send.bytes) | style.flag();
        match packed {
            Ok(()) => self.put(send, bytes, self.channels.location(buffer.at), 0, |_| 0),
            Err(_) => self.put(send, 0, UNPACKED, 0, |_| 0),
        }
        self.send_mut(k).state = SendState::Done;
        packed
    }

    /// Tells the receivers of a message that it could not be packed.
    #[cold]
    pub(super) fn give_up_packing(&mut self, k: usize) {
        self.send_mut(k).state = SendState::Done;
        self.put(&self.sends()[k], 0, UNPACKED, 0, |_| 0);
    }

    /// Announces a message that comes in chunks.
    fn begin_chunks(&mut self, k: usize, memory: *mut u8) -> Result<()> {
        let (chunk, style) = (self.channels.chunk(), self.style(k));
        let Self { channels, all, each, inputs, to_all, comm, me, tag, record, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        let blocks = &inputs[send.blocks.clone()];
        let count = send.bytes.div_ceil(chunk) as u64;
        let mut packed = Ok(());
        if !blocks.iter().all(MessageBlock::is_divisible) {
            packed = enlarge(&mut send.buffer, send.bytes);
            if packed.is_ok() {
                // SAFETY: the caller of `bind` vouches for the blocks; the buffer is long enough.
                packed = unsafe { blocks::pack(blocks, send.buffer.as_mut_ptr(), Loopback { me: *me, tag: *tag, comm }) };
            }
        }
        if packed.is_err() {
            self.give_up_packing(k);
            return packed;
        }
        if let Some(record) = record {
            record.sent(Medium::Shared, send.targets.len(), (send.bytes * send.targets.len()) as u64);
        }
        (send.memory, send.style) = (memory, style);
        let memory = channels.location(memory);
        send.before.clear();
        send.state = SendState::Chunks { written: 0, all: count };
        for out in &channels.outbound[send.targets.clone()] {
            let before = out.take_chunks(count);
            send.before.push(before);
            let acks = channels.acks(out);
            let words = [before, send.bytes as u64, memory.into(), style.chunk(chunk)];
            out.sender.put(self.number, out.ring(), Header { bytes: 0, location: IN_CHUNKS, acks }, &words);
        }
        packed
    }

    /// Writes the next chunk of a message, for which there is room.
    fn send_chunk(&mut self, k: usize) {
        let send = &self.sends()[k];
        let SendState::Chunks { written, all } = send.state else { return };
        let outs = &self.channels.outbound[send.targets.clone()];
        let chunk = self.channels.chunk();
        let begin = to_usize(written) * chunk;
        let part = begin..(begin + chunk).min(send.bytes);
        let memory = send.memory.wrapping_add(to_usize(written % CHUNKS) * chunk);
        let began = if send.style.timed { ticks() } else { 0 };
        // SAFETY: the caller of `bind` vouches for the blocks; the memory is long enough, and what
        // it held before has been read.
        unsafe {
            let blocks = &self.inputs[send.blocks.clone()];
            if blocks.iter().all(MessageBlock::is_divisible) {
                if send.style.streams {
                    blocks::pack_streaming(blocks, part, memory);
                } else {
                    blocks::pack_part(blocks, part, memory);
                }
            } else {
                memory.copy_from_nonoverlapping(send.buffer[part].as_ptr(), chunk.min(send.bytes - begin));
            }
        }
        if send.style.timed {
            outs[0].stores.add(since(began));
        }
        for (out, before) in outs.iter().zip(&send.before) {
            out.ring().set_chunks_written(before + written + 1);
        }
        let state = match written + 1 {
            // one that was turned: until it has been read, what is started next would find no room
            written if written == all && self.started_only => SendState::Published,
            written if written == all => SendState::Done,
            written => SendState::Chunks { written, all },
        };
        self.send_mut(k).state = state;
    }

    /// Starts all messages. Those that find no room wait; in a request, they go by MPI, as the
    /// caller may not come back soon.
    #[inline(always)]
    pub(super) fn send_all(&mut self) {
        for k in 0..self.sends().len() {
            if self.send_whole(k) {
                continue;
            }
            self.send_mut(k).state = SendState::Waiting;
            let must_not_wait = self.started_only;
            let is_long = self.sends()[k].bytes > self.channels.eager_limit;
            let done = if must_not_wait && is_long && !self.can_publish(k) { Ok(false) } else { self.step_send(k) };
            if let Err(e) = done {
                self.note(e);
            }
            match self.sends()[k].state {
                SendState::Done => {}
                SendState::Waiting if must_not_wait || self.is_clogged(k) => {
                    if let Err(e) = self.send_by_mpi(k) {
                        self.note(e);
                    }
                }
                _ => self.sending.push(k),
            }
        }
        self.wake_sleepers();
    }

    /// Gives up what comes from processes that were found dead in earlier calls.
    #[inline(always)]
    pub(super) fn heed_dead(&mut self) {
        if self.channels.any_gone() {
            self.list();
            self.give_up_on_dead();
        }
    }
}
