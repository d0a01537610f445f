//! Receives messages through shared memory.

// inline(always): plans with blocks of 256 B take 10 % to 18 % less time, with `send`, `recv`,
// `exec/blocks.rs` and `shm/ring.rs` together (benches/fuse.c).

use super::state::{Chunks, Destination, RecvState, Shm};
use crate::datatype::buffers::enlarge;
use crate::error::{Error, Result};
use crate::exec::blocks::{self, MessageBlock};
use crate::shm::ring::{AT_SENDER, CHUNK_WORDS, CHUNKS, Header, IN_CELL, IN_CHUNKS, STREAMED, UNPACKED, WORDS};
use crate::shm::stores;
use crate::shm::streaming::{self, since, ticks};
use crate::util::cast::{to_u32, to_usize};

/// A step that a message can take now.
pub(super) enum RecvStep {
    /// Read it: its cell has come, with this header.
    Open(Header),
    /// Copy its next chunk out.
    Chunk(Chunks),
    /// Ask MPI for it.
    AskMpi,
}

impl Shm {
    /// Returns the step that the message from process `i` can take now; `None` if it is complete,
    /// waits for its sender, or is here and waits for its turn in the reduction.
    ///
    /// This is the state machine of a message: `step_recv` takes the step, a process sleeps only
    /// while no message has one, and what a dead process has left is taken as long as there is one.
    #[inline(always)]
    pub(super) fn next_recv(&self, i: usize) -> Option<RecvStep> {
        match self.recvs[i].state {
            RecvState::Waiting => self.channels.inbound[i].ring().header(self.number).map(RecvStep::Open),
            _ => self.next_of_open(i),
        }
    }

    #[cold]
    fn next_of_open(&self, i: usize) -> Option<RecvStep> {
        match self.recvs[i].state {
            RecvState::Chunks(chunks) => {
                (self.has_chunk(i) && !self.chunk_is_to_wait(i, &chunks)).then_some(RecvStep::Chunk(chunks))
            }
            RecvState::Mpi { .. } | RecvState::MpiBlocks | RecvState::Probing => Some(RecvStep::AskMpi),
            RecvState::Waiting | RecvState::Arrived | RecvState::Done => None,
        }
    }

    /// True if the next chunk of the message from process `i` has been written.
    pub(super) fn has_chunk(&self, i: usize) -> bool {
        let RecvState::Chunks(chunks) = &self.recvs[i].state else { return false };
        let written = self.channels.inbound[i].ring().chunks_written().wrapping_sub(chunks.before);
        written.min(chunks.all) > chunks.taken
    }

    /// Takes the next step of the message from process `i`, if there is one.
    #[inline(always)]
    pub(super) fn step_recv(&mut self, i: usize) -> Result<()> {
        match self.next_recv(i) {
            None => Ok(()),
            Some(RecvStep::Open(header)) => self.open(i, header),
            Some(RecvStep::Chunk(chunks)) => self.take_chunk(i, chunks),
            Some(RecvStep::AskMpi) => self.ask_mpi(i),
        }
    }

    /// Receives a message that its cell announces.
    #[inline(always)]
    fn open(&mut self, i: usize, mut header: Header) -> Result<()> {
        let streamed = header.bytes & STREAMED != 0;
        header.bytes &= !STREAMED;
        let (channels, source) = (&self.channels, &self.channels.inbound[i]);
        if let Some(back) = source.back {
            channels.outbound[back].sender.learn_acks(header.acks);
        }
        let recv = &mut self.recvs[i];
        recv.data = match header.location {
            IN_CELL if !recv.whole.is_none() && header.bytes as usize == recv.bytes => {
                // SAFETY: the caller of `bind` vouches for the blocks, which `whole` was made of.
                unsafe { recv.whole.write(source.ring().each_word(self.number)) };
                source.ring().take(self.number);
                recv.state = RecvState::Done;
                return Ok(());
            }
            IN_CELL => {
                let words = (header.bytes as usize).div_ceil(size_of::<u64>()).min(WORDS);
                source.ring().words(self.number, &mut recv.words[..words]);
                recv.words.as_ptr().cast()
            }
            IN_CHUNKS => return self.open_chunked(i),
            AT_SENDER => return self.open_published(i),
            UNPACKED => {
                source.ring().take(self.number);
                return self.fail(i, Error::Unpacked { rank: source.rank }.into());
            }
            location => match channels.at(location, 0, header.bytes as usize) {
                Some(data) => data,
                None => return self.reject(i),
            },
        };
        if header.bytes as usize != recv.bytes
            && let Err(e) = self.check(i, header.bytes.into())
        {
            self.channels.inbound[i].ring().take(self.number);
            return self.fail(i, e);
        }
        if self.folding.is_some() {
            self.recvs[i].state = RecvState::Arrived;
            self.foldable = true;
            return Ok(());
        }
        let done = if header.bytes as usize >= stores::LEAST {
            self.take_long(i, header.bytes as usize, streamed)
        } else {
            self.take_out(i, header.bytes as usize)
        };
        self.channels.inbound[i].ring().take(self.number);
        self.recvs[i].state = RecvState::Done;
        done
    }

    /// Copies a message of an eager buffer to its blocks as it was written, and says how long that
    /// took if its sender wants to know.
    fn take_long(&mut self, i: usize, bytes: usize, streamed: bool) -> Result<()> {
        let (recv, ring) = (&self.recvs[i], self.channels.inbound[i].ring());
        let began = ring.is_timed(self.number).then(ticks);
        let blocks = &self.outputs[recv.blocks.clone()];
        let whole = bytes == recv.bytes && (!self.to_all || blocks.len() == 1);
        let done = if streamed && whole && blocks.iter().all(MessageBlock::is_divisible) {
            // SAFETY: as for `take_out`.
            unsafe { blocks::unpack_streamed(blocks, 0..recv.bytes, recv.data, false) };
            Ok(())
        } else {
            self.take_out(i, bytes)
        };
        if let Some(began) = began {
            self.channels.inbound[i].ring().set_time(self.number, stores::told(since(began)));
        }
        done
    }

    /// Copies a message of `bytes` bytes to its blocks.
    #[inline(always)]
    fn take_out(&mut self, i: usize, bytes: usize) -> Result<()> {
        let recv = &self.recvs[i];
        let blocks = &self.outputs[recv.blocks.clone()];
        // SAFETY: the caller of `bind` vouches for the blocks; the message is at most as long as
        // they are, which has been checked.
        unsafe { blocks::unpack_message(blocks, self.to_all, recv.bytes, recv.data, bytes, self.loopback()) }
    }

    /// Fails if a message of `sent` bytes does not fit its blocks. As in MPI, a single block may
    /// get less than it has room for.
    #[cold]
    pub(super) fn check(&self, i: usize, sent: u64) -> Result<()> {
        let recv = &self.recvs[i];
        let (expected, one) = (recv.bytes as u64, self.folding.is_none() && (self.to_all || recv.blocks.len() == 1));
        if sent == expected || (sent < expected && one) {
            return Ok(());
        }
        let entries = self.outputs[recv.blocks.clone()].iter().map(|p| p.entry).collect();
        Err(Error::Length { rank: self.channels.inbound[i].rank, entries, sent, expected }.into())
    }

    /// Completes a message that cannot be used, with an error.
    #[cold]
    pub(super) fn fail(&mut self, i: usize, error: Box<Error>) -> Result<()> {
        self.leave_out(i);
        Err(error)
    }

    /// Completes a message that cannot be used.
    #[cold]
    pub(super) fn leave_out(&mut self, i: usize) {
        (self.recvs[i].state, self.recvs[i].discards) = (RecvState::Done, false);
        self.skip_peer(i);
    }

    /// Fails a message whose header names no valid location.
    #[cold]
    fn reject(&mut self, i: usize) -> Result<()> {
        let rank = self.channels.inbound[i].rank;
        self.fail(
            i,
            Error::Internal(format!("process {rank} announced a message at a location outside the shared memory")).into(),
        )
    }

    /// Starts to receive a message that comes in chunks.
    #[cold]
    fn open_chunked(&mut self, i: usize) -> Result<()> {
        let mut words = [0u64; CHUNK_WORDS];
        self.channels.inbound[i].ring().words(self.number, &mut words);
        self.begin_to_take_chunks(i, words)
    }

    /// Starts to receive a message in chunks, which the words describe.
    #[cold]
    pub(super) fn begin_to_take_chunks(&mut self, i: usize, words: [u64; CHUNK_WORDS]) -> Result<()> {
        let [before, bytes, memory, chunk] = words;
        let (chunk, streamed) = stores::chunk(chunk);
        let (Ok(memory), 1..) = (u32::try_from(memory), chunk) else { return self.reject(i) };
        let ticks = self.channels.inbound[i].ring().is_timed(self.number).then_some(0);
        let checked = self.check(i, bytes);
        let Self { outputs, recvs, folding, to_all, .. } = self;
        let recv = &mut recvs[i];
        let whole = folding.is_none() && (!*to_all || recv.blocks.len() == 1) && bytes == recv.bytes as u64;
        let combines = || folding.as_ref().is_some_and(|folding| folding.takes_parts_of(to_u32(i), to_usize(chunk)));
        let into = match &checked {
            Err(_) => Destination::Discard,
            Ok(()) if whole && outputs[recv.blocks.clone()].iter().all(MessageBlock::is_divisible) => Destination::Blocks,
            Ok(()) if combines() => Destination::Combined,
            Ok(()) => Destination::Buffer,
        };
        let (mut into, mut checked) = (into, checked);
        if into == Destination::Buffer
            && let Err(e) = enlarge(&mut recv.buffer, to_usize(bytes))
        {
            (into, checked) = (Destination::Discard, Err(e));
        }
        recv.state = RecvState::Chunks(Chunks {
            taken: 0,
            all: bytes.div_ceil(chunk),
            bytes,
            memory,
            chunk,
            before,
            into,
            streamed,
            ticks,
        });
        checked
    }

    /// Completes a message that is here as a whole and no longer occupies its ring.
    pub(super) fn complete(&mut self, i: usize, bytes: usize) -> Result<()> {
        let recv = &mut self.recvs[i];
        recv.in_ring = false;
        if self.folding.is_some() {
            // of which there are none if it has been left out
            recv.state = if recv.unfolded == 0 { RecvState::Done } else { RecvState::Arrived };
            self.foldable = true;
            return Ok(());
        }
        recv.state = RecvState::Done;
        if recv.data.is_null() {
            // it was received in place
            return Ok(());
        }
        let recv = &mut self.recvs[i];
        recv.data = recv.buffer.as_ptr();
        self.take_out(i, bytes)
    }

    /// Copies the next chunk of a message, which has been written, out.
    #[cold]
    fn take_chunk(&mut self, i: usize, mut chunks: Chunks) -> Result<()> {
        // one chunk at a time, so that other messages progress too
        let begin = chunks.taken * chunks.chunk;
        let end = (begin + chunks.chunk).min(chunks.bytes);
        let part = to_usize(begin)..to_usize(end);
        let offset = to_usize(chunks.taken % CHUNKS * chunks.chunk);
        let Some(data) = self.channels.at(chunks.memory, offset, part.len()) else { return self.reject(i) };
        let mut done = Ok(());
        if chunks.into == Destination::Combined && chunks.taken == 0 && !self.is_turn_of(i) {
            done = enlarge(&mut self.recvs[i].buffer, to_usize(chunks.bytes));
            chunks.into = if done.is_ok() { Destination::Buffer } else { Destination::Discard };
        }
        let began = if chunks.ticks.is_some() { ticks() } else { 0 };
        let past_caches = chunks.bytes >= streaming::past_caches();
        let recv = &mut self.recvs[i];
        // SAFETY: the caller of `bind` vouches for the blocks; the sender has written that many
        // bytes.
        unsafe {
            match chunks.into {
                Destination::Blocks if chunks.streamed || past_caches => {
                    blocks::unpack_streamed(&self.outputs[recv.blocks.clone()], part, data, past_caches);
                }
                Destination::Blocks => blocks::unpack_part(&self.outputs[recv.blocks.clone()], part, data),
                Destination::Combined => done = self.fold_chunk(i, part, data),
                Destination::Buffer => recv.buffer[part.clone()].as_mut_ptr().copy_from_nonoverlapping(data, part.len()),
                Destination::Discard => {}
            }
        }
        let (recv, ring) = (&mut self.recvs[i], self.channels.inbound[i].ring());
        chunks.taken += 1;
        if let Some(all) = &mut chunks.ticks {
            *all = all.saturating_add(since(began));
            if chunks.taken == chunks.all {
                ring.set_time(self.number, stores::told(*all));
            }
        }
        ring.set_chunks_read(chunks.before + chunks.taken);
        recv.state = RecvState::Chunks(chunks);
        if chunks.taken < chunks.all {
            return done;
        }
        ring.take(self.number);
        recv.data = recv.buffer.as_ptr();
        match chunks.into {
            Destination::Buffer => return done.and(self.complete(i, to_usize(chunks.bytes))),
            Destination::Blocks => {}
            Destination::Combined => self.end_chunks(i),
            Destination::Discard => self.skip_peer(i),
        }
        self.recvs[i].state = RecvState::Done;
        done
    }
}
