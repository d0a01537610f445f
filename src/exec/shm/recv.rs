//! Messages that are received by shared memory.

use super::link::CHUNKS;
use super::pieces::{self, Piece};
use super::state::{Chunks, Into, Receiving, Shm};
use crate::error::{Error, Result};
use crate::exec::p2p::enlarge;
use crate::shm::ring::{IN_CHUNKS, IN_LINE, WORDS};

impl Shm {
    /// Looks whether the message from a process is there, and takes it out. Whether it has come to
    /// its end.
    #[inline(always)]
    pub(super) fn step_recv(&mut self, i: usize) -> Result<bool> {
        if !matches!(self.recvs[i].state, Receiving::Waits) {
            return self.go_on(i);
        }
        let (link, source) = (&self.link, &self.link.ins[i]);
        let Some(header) = source.mailbox().header(self.number) else { return Ok(false) };
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
            return self.fold(i);
        }
        let done = self.take_out(i, header.bytes as usize);
        self.link.ins[i].mailbox().take(self.number);
        self.recvs[i].state = Receiving::Done;
        done.map(|()| true)
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
    fn check(&self, i: usize, sent: u64) -> Result<()> {
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
    pub(super) fn give_up(&mut self, i: usize, error: Box<Error>) -> Result<bool> {
        self.recvs[i].state = Receiving::Done;
        self.skip_peer(i);
        Err(error)
    }

    /// Ends a message that comes by no way that there is.
    #[cold]
    fn broken(&mut self, i: usize) -> Result<bool> {
        let rank = self.link.ins[i].rank;
        self.give_up(
            i,
            Error::Internal(format!("process {rank} has put no message where its mailbox says that there is one")).into(),
        )
    }

    /// Begins to take out a message that comes in chunks.
    #[cold]
    fn announced(&mut self, i: usize) -> Result<bool> {
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
        checked.map(|()| false)
    }

    /// Goes on with a message that has begun to come, or is here. Whether it has come to its end.
    #[cold]
    fn go_on(&mut self, i: usize) -> Result<bool> {
        match &mut self.recvs[i].state {
            Receiving::Done => Ok(true),
            Receiving::Waits => Ok(false),
            Receiving::Here => self.fold(i),
            Receiving::Chunks(chunks) => {
                let chunks = *chunks;
                self.take_chunks(i, chunks)
            }
            Receiving::MpiEach => self.take_each(i),
            Receiving::Sought => self.seek(i),
            Receiving::Mpi(request, posted) => {
                let came = match request.test_receive() {
                    Ok(Some(status)) => status.bytes,
                    Ok(None) if !*posted || self.link.ins[i].mailbox().header(self.number).is_none() => return Ok(false),
                    Ok(None) => return self.take_back(i),
                    Err(e) => return self.give_up(i, e),
                };
                match self.check(i, came) {
                    Ok(()) => self.complete(i, came as usize),
                    Err(e) => self.give_up(i, e),
                }
            }
        }
    }

    /// Brings a message out that is here as a whole, and not in its mailbox any more.
    fn complete(&mut self, i: usize, bytes: usize) -> Result<bool> {
        let recv = &mut self.recvs[i];
        recv.in_mailbox = false;
        if self.folding.is_some() {
            recv.state = Receiving::Here;
            return self.fold(i);
        }
        recv.state = Receiving::Done;
        if recv.data.is_null() {
            // it came where it belongs
            return Ok(true);
        }
        let recv = &mut self.recvs[i];
        recv.data = recv.buffer.as_ptr();
        self.take_out(i, bytes).map(|()| true)
    }

    /// Takes the chunks out that are there.
    fn take_chunks(&mut self, i: usize, mut chunks: Chunks) -> Result<bool> {
        let mailbox = self.link.ins[i].mailbox();
        let there = mailbox.written().wrapping_sub(chunks.before).min(chunks.all);
        if there <= chunks.taken {
            return Ok(false);
        }
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
            return Ok(false);
        }
        mailbox.take(self.number);
        recv.data = recv.buffer.as_ptr();
        match chunks.into {
            Into::Place => {
                recv.state = Receiving::Done;
                Ok(true)
            }
            Into::Buffer => self.complete(i, chunks.bytes as usize),
            Into::Nowhere => {
                recv.state = Receiving::Done;
                self.skip_peer(i);
                Ok(true)
            }
        }
    }
}
