//! Messages that are received by shared memory.

use super::link::CHUNKS;
use super::pieces::{self, Piece};
use super::state::{Chunks, Into, Receiving, Shm};
use crate::error::{Error, Result};
use crate::exec::p2p::enlarge;
use crate::shm::ring::{Header, IN_CHUNKS, IN_LINE, WORDS};

/// A step that a message can take.
pub(super) enum RecvStep {
    /// Its cell, which has this header, can be read.
    Open(Header),
    /// Its next chunk can be copied out.
    Chunk(Chunks),
    /// MPI may know more of it.
    AskMpi,
}

impl Shm {
    /// Returns the step that the message from process `i` can take now. `None`: it is complete, waits
    /// for its sender, or lies here until the reduction comes to it.
    #[inline(always)]
    pub(super) fn next_recv(&self, i: usize) -> Option<RecvStep> {
        match self.recvs[i].state {
            Receiving::Waits => self.link.ins[i].mailbox().header(self.number).map(RecvStep::Open),
            _ => self.next_of_begun(i),
        }
    }

    #[cold]
    fn next_of_begun(&self, i: usize) -> Option<RecvStep> {
        match self.recvs[i].state {
            Receiving::Chunks(chunks) => {
                let written = self.link.ins[i].mailbox().written().wrapping_sub(chunks.before);
                (written.min(chunks.all) > chunks.taken).then_some(RecvStep::Chunk(chunks))
            }
            Receiving::Mpi(..) | Receiving::MpiEach | Receiving::Sought => Some(RecvStep::AskMpi),
            Receiving::Waits | Receiving::Here | Receiving::Done => None,
        }
    }

    /// Takes the next step of the message from process `i`, if it can take one.
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
    fn open(&mut self, i: usize, header: Header) -> Result<()> {
        let (link, source) = (&self.link, &self.link.ins[i]);
        if let Some(back) = source.back {
            link.outs[back].sender.learn(header.acks);
        }
        let recv = &mut self.recvs[i];
        recv.data = match header.place {
            IN_LINE => {
                source.mailbox().words(self.number, &mut recv.words);
                recv.words.as_ptr().cast()
            }
            IN_CHUNKS => return self.announced(i),
            place => match link.at(place, 0, header.bytes as usize) {
                Some(data) => data,
                None => return self.broken(i),
            },
        };
        if header.bytes as usize != recv.bytes
            && let Err(e) = self.check(i, header.bytes.into())
        {
            self.link.ins[i].mailbox().take(self.number);
            return self.give_up(i, e);
        }
        if self.folding.is_some() {
            self.recvs[i].state = Receiving::Here;
            return self.fold_all();
        }
        let done = self.take_out(i, header.bytes as usize);
        self.link.ins[i].mailbox().take(self.number);
        self.recvs[i].state = Receiving::Done;
        done
    }

    /// Brings a message of `bytes` bytes that is here out to where it belongs.
    #[inline(always)]
    fn take_out(&mut self, i: usize, bytes: usize) -> Result<()> {
        let recv = &self.recvs[i];
        let pieces = &self.outputs[recv.pieces.clone()];
        // SAFETY: the caller of `bind` vouches for the blocks; the message is as long as they are,
        // as has been checked, or shorter.
        unsafe {
            match pieces {
                [piece] if bytes == recv.bytes => piece.unpack(recv.data, self.own()),
                [_, ..] if self.to_all || bytes != recv.bytes => {
                    pieces.iter().try_for_each(|piece| piece.unpack_short(recv.data, bytes, self.own()))
                }
                _ => pieces::unpack(pieces, recv.data, self.own()),
            }
        }
    }

    /// An error if a message of `sent` bytes does not fit. A shorter one does where it is one
    /// block, as in MPI.
    #[cold]
    pub(super) fn check(&self, i: usize, sent: u64) -> Result<()> {
        let recv = &self.recvs[i];
        let (expected, one) = (recv.bytes as u64, self.folding.is_none() && (self.to_all || recv.pieces.len() == 1));
        if sent == expected || (sent < expected && one) {
            return Ok(());
        }
        let slots = self.outputs[recv.pieces.clone()].iter().map(|p| p.slot).collect();
        Err(Error::Length { rank: self.link.ins[i].rank, slots, sent, expected }.into())
    }

    /// Ends a message that cannot be used.
    #[cold]
    pub(super) fn give_up(&mut self, i: usize, error: Box<Error>) -> Result<()> {
        self.recvs[i].state = Receiving::Done;
        self.skip_peer(i);
        Err(error)
    }

    /// Ends a message that comes by no way that there is.
    #[cold]
    fn broken(&mut self, i: usize) -> Result<()> {
        let rank = self.link.ins[i].rank;
        self.give_up(
            i,
            Error::Internal(format!("process {rank} has put no message where its mailbox says that there is one")).into(),
        )
    }

    /// Begins to take out a message that comes in chunks.
    #[cold]
    fn announced(&mut self, i: usize) -> Result<()> {
        let mut words = [0u64; WORDS];
        self.link.ins[i].mailbox().words(self.number, &mut words);
        let [before, bytes, memory, chunk, _] = words;
        if chunk == 0 {
            return self.broken(i);
        }
        let checked = self.check(i, bytes);
        let Self { outputs, recvs, folding, to_all, .. } = self;
        let recv = &mut recvs[i];
        let whole = folding.is_none() && !*to_all && bytes == recv.bytes as u64;
        let into = match &checked {
            Err(_) => Into::Nowhere,
            Ok(()) if whole && outputs[recv.pieces.clone()].iter().all(Piece::is_divisible) => Into::Place,
            Ok(()) => Into::Buffer,
        };
        let (mut into, mut checked) = (into, checked);
        if into == Into::Buffer
            && let Err(e) = enlarge(&mut recv.buffer, bytes as usize)
        {
            (into, checked) = (Into::Nowhere, Err(e));
        }
        recv.state =
            Receiving::Chunks(Chunks { taken: 0, all: bytes.div_ceil(chunk), bytes, memory: memory as u32, chunk, before, into });
        checked
    }

    /// Brings a message out that is here as a whole, and not in its mailbox any more.
    pub(super) fn complete(&mut self, i: usize, bytes: usize) -> Result<()> {
        let recv = &mut self.recvs[i];
        recv.in_mailbox = false;
        if self.folding.is_some() {
            recv.state = Receiving::Here;
            return self.fold_all();
        }
        recv.state = Receiving::Done;
        if recv.data.is_null() {
            // it came where it belongs
            return Ok(());
        }
        let recv = &mut self.recvs[i];
        recv.data = recv.buffer.as_ptr();
        self.take_out(i, bytes)
    }

    /// Copies the next chunk of a message out, which has been written.
    #[cold]
    fn take_chunk(&mut self, i: usize, mut chunks: Chunks) -> Result<()> {
        let mailbox = self.link.ins[i].mailbox();
        // one at a time, so that other messages go on too
        let begin = chunks.taken * chunks.chunk;
        let end = (begin + chunks.chunk).min(chunks.bytes);
        let part = begin as usize..end as usize;
        let offset = (chunks.taken % CHUNKS * chunks.chunk) as usize;
        let Some(data) = self.link.at(chunks.memory, offset, part.len()) else { return self.broken(i) };
        let recv = &mut self.recvs[i];
        // SAFETY: the caller of `bind` vouches for the blocks; the sender has put as many bytes
        // there.
        unsafe {
            match chunks.into {
                Into::Place => pieces::unpack_part(&self.outputs[recv.pieces.clone()], part, data),
                Into::Buffer => recv.buffer[part.clone()].as_mut_ptr().copy_from_nonoverlapping(data, part.len()),
                Into::Nowhere => {}
            }
        }
        chunks.taken += 1;
        mailbox.set_read(chunks.before + chunks.taken);
        recv.state = Receiving::Chunks(chunks);
        if chunks.taken < chunks.all {
            return Ok(());
        }
        mailbox.take(self.number);
        recv.data = recv.buffer.as_ptr();
        match chunks.into {
            Into::Place => {
                recv.state = Receiving::Done;
                Ok(())
            }
            Into::Buffer => self.complete(i, chunks.bytes as usize),
            Into::Nowhere => {
                recv.state = Receiving::Done;
                self.skip_peer(i);
                Ok(())
            }
        }
    }
}
