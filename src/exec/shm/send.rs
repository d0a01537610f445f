//! Messages that are sent by shared memory.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::link::CHUNKS;
use super::pieces::{self, Own, Piece};
use super::state::{Send, Sending, Shm};
use crate::error::Result;
use crate::exec::p2p::enlarge;
use crate::observe::Way;
use crate::shm::ring::{Header, IN_CHUNKS, IN_LINE, INLINE, WORDS};

impl Shm {
    /// Whether message `k` can be put into all of its mailboxes now.
    #[inline(always)]
    pub(super) fn has_room(&self, send: &Send) -> bool {
        let free = |i: usize| {
            let out = &self.link.outs[i];
            out.sender.is_free(self.number, out.mailbox()) && out.chunks_are_taken()
        };
        self.holders(send).all(free)
    }

    /// The targets that may still read what lies in a message's memory: in reductions the first
    /// one's memory may hold what is for all.
    #[inline(always)]
    pub(super) fn holders(&self, send: &Send) -> Range<usize> {
        if self.folding.is_some() && send.outs.start == 0 { 0..self.link.outs.len() } else { send.outs.clone() }
    }

    #[inline(always)]
    fn put(&self, send: &Send, bytes: u32, place: u32, words: &[u64]) {
        if let Some(record) = &self.record {
            record.sent(Way::Shared, send.outs.len(), bytes as u64 * send.outs.len() as u64);
        }
        for out in &self.link.outs[send.outs.clone()] {
            let acks = out.back.map_or(0, |back| self.link.ins[back].mailbox().acks());
            out.sender.put(self.number, out.mailbox(), Header { bytes, place, acks }, words);
        }
    }

    /// Puts message `k` in, if there is room; the next chunk of it, if it is long. Whether anything
    /// was done.
    #[inline(always)]
    pub(super) fn step_send(&mut self, k: usize) -> Result<bool> {
        let send = &self.sends()[k];
        match send.state {
            Sending::Waits if self.has_room(send) => {}
            Sending::Chunks(..) => return self.step_chunk(k),
            _ => return Ok(false),
        }
        if send.bytes > self.link.slot {
            return self.begin_long(k);
        }
        let pieces = &self.inputs[send.pieces.clone()];
        let packed = if send.bytes <= INLINE {
            let mut words = [0u64; WORDS];
            // SAFETY: the caller of `bind` vouches for the blocks.
            let packed = unsafe { pieces::pack(pieces, words.as_mut_ptr().cast(), self.own()) };
            self.put(send, send.bytes as u32, IN_LINE, &words[..send.bytes.div_ceil(8)]);
            packed
        } else {
            let slot = self.link.slot_for(&send.outs, &self.holders(send), self.number, send.bytes);
            let Some(slot) = slot else { return Ok(false) };
            // SAFETY: as above; the slot is as long, and nobody reads it, as there is room.
            let packed = unsafe { pieces::pack(pieces, slot, self.own()) };
            self.put(send, send.bytes as u32, self.link.place(slot), &[]);
            packed
        };
        self.send_mut(k).state = Sending::Done;
        packed.map(|()| true)
    }

    /// Begins to send a message that is longer than a slot, when its receivers have said how they
    /// take it. Whether anything was done.
    #[cold]
    fn begin_long(&mut self, k: usize) -> Result<bool> {
        let send = &self.sends()[k];
        let mut in_chunks = true;
        for out in &self.link.outs[send.outs.clone()] {
            match out.begun(self.number) {
                None => return Ok(false),
                Some(chunks) => in_chunks &= chunks,
            }
        }
        if !in_chunks || self.sends_from_device(k) {
            return self.send_by_mpi(k).map(|()| true);
        }
        match self.link.memory_for_chunks(&send.outs, &self.holders(send)) {
            Some(memory) => self.begin_chunks(k, memory).map(|()| true),
            None => Ok(false),
        }
    }

    /// Announces a message that comes in chunks.
    fn begin_chunks(&mut self, k: usize, memory: *mut u8) -> Result<()> {
        let chunk = self.link.chunk();
        let Self { link, all, each, inputs, to_all, comm, me, tag, record, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        if let Some(record) = record {
            record.sent(Way::Shared, send.outs.len(), (send.bytes * send.outs.len()) as u64);
        }
        let pieces = &inputs[send.pieces.clone()];
        let count = send.bytes.div_ceil(chunk) as u64;
        let mut packed = Ok(());
        if !pieces.iter().all(Piece::is_divisible) {
            enlarge(&mut send.buffer, send.bytes)?;
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer is as long.
            packed = unsafe { pieces::pack(pieces, send.buffer.as_mut_ptr(), Own { me: *me, tag: *tag, comm }) };
        }
        send.memory = memory;
        let memory = link.place(memory);
        send.before.clear();
        send.state = Sending::Chunks(0, count);
        for out in &link.outs[send.outs.clone()] {
            let before = out.chunks.load(Ordering::Relaxed);
            send.before.push(before);
            let acks = out.back.map_or(0, |back| link.ins[back].mailbox().acks());
            let words = [before, send.bytes as u64, memory.into(), chunk as u64];
            out.sender.put(self.number, out.mailbox(), Header { bytes: 0, place: IN_CHUNKS, acks }, &words);
        }
        packed
    }

    /// Puts the next chunk of a message in, if there is room.
    fn step_chunk(&mut self, k: usize) -> Result<bool> {
        let send = &self.sends()[k];
        let Sending::Chunks(done, all) = send.state else { return Ok(false) };
        let outs = &self.link.outs[send.outs.clone()];
        if outs.iter().zip(&send.before).any(|(out, &before)| !out.has_room_for_chunk(before, done)) {
            return Ok(false);
        }
        let chunk = self.link.chunk();
        let begin = done as usize * chunk;
        let part = begin..(begin + chunk).min(send.bytes);
        let memory = send.memory.wrapping_add((done % CHUNKS) as usize * chunk);
        // SAFETY: the caller of `bind` vouches for the blocks; the memory is as long, and has been
        // read.
        unsafe {
            let pieces = &self.inputs[send.pieces.clone()];
            if pieces.iter().all(Piece::is_divisible) {
                pieces::pack_part(pieces, part, memory);
            } else {
                memory.copy_from_nonoverlapping(send.buffer[part].as_ptr(), chunk.min(send.bytes - begin));
            }
        }
        for (out, before) in outs.iter().zip(&send.before) {
            out.chunks.store(before + done + 1, Ordering::Relaxed);
            out.mailbox().set_written(before + done + 1);
        }
        let state = if done + 1 == all { Sending::Done } else { Sending::Chunks(done + 1, all) };
        self.send_mut(k).state = state;
        Ok(true)
    }

    /// Starts messages; what cannot be put in waits, or goes by MPI where the caller may not come
    /// back soon.
    #[inline(always)]
    pub(super) fn send_all(&mut self) {
        for k in 0..self.sends().len() {
            self.send_mut(k).state = Sending::Waits;
            let must_not_wait = self.started_only;
            let done = if must_not_wait && self.sends()[k].bytes > self.link.slot { Ok(false) } else { self.step_send(k) };
            if let Err(e) = done {
                self.note(e);
            }
            if self.sends()[k].state == Sending::Done {
                continue;
            }
            if must_not_wait {
                if let Err(e) = self.send_by_mpi(k) {
                    self.note(e);
                }
            } else {
                self.sending.push(k as u32);
            }
        }
        if self.link.crowded {
            self.ring();
        }
        if self.link.any_gone() {
            // known from an earlier call
            self.look_for_dead();
        }
    }
}
