//! Long messages that stay in the sender's memory until the receiver has copied them from there,
//! where the kernel permits that (`shm/peer_memory.rs`).
//!
//! The sender lists the parts of the message in a small buffer and announces the list in its cell.
//! From then on the receiver needs nothing of the sender, which may be waiting in MPI for
//! something else. The release of the cell tells the sender that its buffer is free.
//!
//! Where two copies were measured to be faster, only messages of requests are announced so, whose
//! sender may leave. If both wait in their calls when one has been, the sender turns it into one
//! that comes in chunks, which the receiver allows for a while.
//!
//! A sender in its turn must not need a receiver that has started its call and is waiting in MPI:
//! after a while it withdraws the message, and leaves a copy to MPI. It also does so when the
//! receiver refuses the message, since the kernel cannot read it (memory of a driver, say).

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::channel::Outbound;
use super::parts::{MOST_PARTS, Part};
use super::state::{RecvState, SendState, Shm};
use crate::datatype::buffers::enlarge;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::blocks::{self, MessageBlock};
use crate::observe::Medium;
use crate::shm::peer_memory::{self, Span};
use crate::shm::ring::{AT_SENDER, Fate, Header};
use crate::util::cast::to_usize;

/// Bytes that are copied at a time to blocks that are not contiguous: they stay in the cache until
/// they are unpacked.
const PIECE: usize = 128 << 10;

/// Bytes that the kernel copies in a nanosecond, about.
const BYTES_A_NANOSECOND: u64 = 8;

/// True if the kernel copies the parts for other processes, as far as their ends tell. It does not
/// copy what is in memory of a driver, say, or in a secret file, which a process alone can read.
///
/// A receiver could refuse such a message, but would then need the sender's next test of this very
/// call. Cost: a system call for each 16 parts.
fn are_readable(parts: &[Part]) -> bool {
    const AT_A_TIME: usize = 16;
    let end = |at: u64| peer_memory::span(std::ptr::without_provenance_mut(to_usize(at)), 1);
    parts.chunks(AT_A_TIME).all(|parts| {
        let (mut ends, mut bytes) = ([end(0); 2 * AT_A_TIME], [0u8; 2 * AT_A_TIME]);
        for (pair, part) in ends.chunks_mut(2).zip(parts) {
            pair.copy_from_slice(&[end(part.at), end(part.at + part.bytes - 1)]);
        }
        let (count, at) = (2 * parts.len(), bytes.as_mut_ptr());
        // SAFETY: so many bytes are written, which nobody else accesses.
        let copied = unsafe { peer_memory::read(std::process::id(), &[peer_memory::span(at, count)], &ends[..count]) };
        // any other error is for the receiver to find
        copied.map_or_else(|e| e.raw_os_error() != Some(libc::EFAULT), |copied| copied == count)
    })
}

/// Lists the parts of a message in their order, and packs into `buffer` what has to be packed, or
/// all of it if receivers cannot read it. `readable`: parts that they were found to be able to read
/// since the blocks were bound; the same ones are not looked at again.
///
/// # Safety
/// The blocks must be readable. List and buffer must stay as they are until the parts are read.
unsafe fn list_parts(
    blocks: &[MessageBlock],
    bytes: usize,
    (parts, readable, buffer): (&mut Vec<Part>, &mut Vec<Part>, &mut Vec<u8>),
    loopback: Loopback,
) -> Result<()> {
    parts.clear();
    enlarge(buffer, blocks::staged_bytes(blocks))?;
    let mut next = buffer.as_mut_ptr();
    for block in blocks.iter().filter(|block| block.bytes > 0) {
        let at = match block.in_place() {
            Some(at) => at,
            None => {
                let at = next;
                // SAFETY: the caller vouches for the block; the buffer holds all that are packed.
                unsafe { block.pack(at, loopback) }?;
                next = next.wrapping_add(block.bytes);
                at
            }
        };
        let (at, bytes) = (at.addr() as u64, block.bytes as u64);
        match parts.last_mut() {
            Some(last) if last.at.wrapping_add(last.bytes) == at => last.bytes += bytes,
            _ => parts.push(Part { at, bytes }),
        }
    }
    if parts == readable {
        return Ok(());
    }
    if parts.len() <= MOST_PARTS && are_readable(parts) {
        readable.clone_from(parts);
    } else {
        enlarge(buffer, bytes)?;
        // SAFETY: as above; the buffer holds the whole message.
        unsafe { blocks::pack(blocks, buffer.as_mut_ptr(), loopback) }?;
        parts.clear();
        parts.push(Part { at: buffer.as_ptr().addr() as u64, bytes: bytes as u64 });
    }
    Ok(())
}

/// Lists where bytes `part` of a list of addresses and lengths lie.
fn cut(list: impl Iterator<Item = (*mut u8, usize)>, part: Range<usize>, spans: &mut Vec<Span>) {
    let mut first = 0;
    spans.clear();
    for (at, bytes) in list {
        let (from, to) = (part.start.max(first), part.end.min(first + bytes));
        if from < to {
            spans.push(peer_memory::span(at.wrapping_add(from - first), to - from));
        }
        first += bytes;
        if first >= part.end {
            return;
        }
    }
}

/// Where a message is copied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Straight to the blocks, which are contiguous.
    Blocks,
    /// Piece by piece to a buffer, and from there to the blocks.
    Pieces,
    /// To a buffer as a whole.
    Buffer,
}

/// True if a target has started its call, but not come back to copy the message.
fn is_late(out: &Outbound, number: u64) -> bool {
    out.ready(number).is_some() && out.ring().fate(number) == Fate::Open
}

impl Shm {
    /// True if the targets of message `k` can copy it from where it lies.
    pub(super) fn can_publish(&self, k: usize) -> bool {
        let targets = &self.channels.outbound[self.sends()[k].targets.clone()];
        targets.iter().all(|out| out.reads || out.is_gone()) && !self.sends_from_device(k)
    }

    /// True if message `k` is to be copied from where it lies: it is too long for an eager buffer,
    /// or that is faster. Of shorter messages, blocks that are combined would be copied to a buffer
    /// then, and those with gaps packed into one first, which saves no copy.
    pub(super) fn is_to_publish(&self, k: usize) -> bool {
        let send = &self.sends()[k];
        let saves = || self.folding.is_none() && blocks::staged_bytes(&self.inputs[send.blocks.clone()]) == 0;
        let longest = self.channels.longest_in_cell(self.folding.is_some(), self.channels.eager_limit);
        let is_long = send.bytes > longest && (self.started_only || !self.channels.away_only);
        (is_long || (send.bytes as u64 >= self.channels.single_from && saves())) && self.can_publish(k)
    }

    /// Returns the memory for the chunks of message `k`, which was announced, if its only target
    /// waits for it, as this process does: then chunks are faster.
    #[cold]
    pub(super) fn memory_to_turn(&self, k: usize) -> Option<*mut u8> {
        let send = &self.sends()[k];
        let [out] = &self.channels.outbound[send.targets.clone()] else { return None };
        let divisible = || self.inputs[send.blocks.clone()].iter().all(MessageBlock::is_divisible);
        if !self.waits || out.is_gone() || !out.ring().takes_chunks(self.number) || !divisible() {
            return None;
        }
        let holders = self.holders(send);
        let is_free = || self.channels.outbound[holders.clone()].iter().all(Outbound::chunks_are_read);
        (out.ring().fate(self.number) == Fate::Open && is_free())
            .then(|| self.channels.chunk_memory(&send.targets, &holders))
            .flatten()
    }

    /// Sends message `k` in chunks after all, unless its target copies it already.
    #[cold]
    pub(super) fn turn(&mut self, k: usize, memory: *mut u8) {
        let (chunk, number, style) = (self.channels.chunk(), self.number, self.style(k));
        let location = self.channels.location(memory);
        let Self { channels, all, each, to_all, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        let (out, count) = (&channels.outbound[send.targets.start], send.bytes.div_ceil(chunk) as u64);
        let before = out.chunks.load(Ordering::Relaxed);
        if !out.ring().turn(number, [before, send.bytes as u64, location.into(), style.chunk(chunk)]) {
            out.stores.withdraw();
            return;
        }
        out.take_chunks(count);
        (send.memory, send.style) = (memory, style);
        send.before.clear();
        send.before.push(before);
        send.state = SendState::Chunks { written: 0, all: count };
    }

    /// Begins to wait: long messages may come in chunks from now on, as this process stays until
    /// they have come.
    #[cold]
    pub(super) fn begin_to_wait(&mut self) {
        self.waits = true;
        for &i in &self.receiving {
            let (recv, source) = (&self.recvs[i], &self.channels.inbound[i]);
            let longest = self.channels.longest_in_cell(self.folding.is_some(), source.eager_limit);
            let is_long = recv.bytes > longest && source.process.is_some();
            if is_long && matches!(recv.state, RecvState::Waiting) && !self.receives_on_device(i) {
                source.ring().set_takes_chunks(self.number);
            }
        }
    }

    /// True if the message from process `i`, which lies in its memory, may still come in chunks, so
    /// that it is not copied from there yet: for as long as that takes, about.
    fn may_be_turned(&mut self, i: usize) -> bool {
        if !self.waits {
            return false;
        }
        let recv = &mut self.recvs[i];
        let now = Instant::now();
        let copying = Duration::from_nanos(recv.bytes as u64 / BYTES_A_NANOSECOND);
        now < *recv.until.get_or_insert_with(|| now + copying)
    }

    /// Announces a message that its targets copy from where it lies.
    #[cold]
    pub(super) fn publish(&mut self, k: usize) -> Result<()> {
        let Self { channels, all, each, inputs, to_all, comm, me, tag, record, number, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        let lists = (&mut send.parts, &mut send.readable, &mut send.buffer);
        // SAFETY: the caller of `bind` vouches for the blocks until the call is complete.
        let listed =
            unsafe { list_parts(&inputs[send.blocks.clone()], send.bytes, lists, Loopback { me: *me, tag: *tag, comm }) };
        if listed.is_err() {
            self.give_up_packing(k);
            return listed;
        }
        if let Some(record) = record {
            record.sent(Medium::Shared, send.targets.len(), (send.bytes * send.targets.len()) as u64);
        }
        send.state = SendState::Published;
        let location = channels.put_parts(&send.targets, *number, &send.parts);
        let can_turn = channels.turns && send.targets.len() == 1;
        let words = [send.bytes as u64, send.parts.len() as u64, location.into(), can_turn.into()];
        for out in &channels.outbound[send.targets.clone()] {
            let acks = channels.acks(out);
            out.sender.put(*number, out.ring(), Header { bytes: 0, location: AT_SENDER, acks }, &words);
        }
        Ok(())
    }

    /// True if nothing is left to do for a target of a message that was announced.
    pub(super) fn is_over(&self, out: &Outbound) -> bool {
        out.is_gone() || out.sender.is_taken(self.number, out.ring()) || out.ring().fate(self.number) == Fate::Withdrawn
    }

    /// True if there is something to do for a message that was announced: all targets have copied
    /// it, or one refuses it.
    #[cold]
    pub(super) fn can_conclude(&self, k: usize) -> bool {
        let targets = &self.channels.outbound[self.sends()[k].targets.clone()];
        let refuses = |out: &Outbound| !self.is_over(out) && out.ring().fate(self.number) == Fate::Refused;
        targets.iter().all(|out| self.is_over(out)) || targets.iter().any(refuses)
    }

    /// Completes a message that was announced, and sends it by MPI to targets that have refused it.
    #[cold]
    pub(super) fn conclude(&mut self, k: usize) -> Result<()> {
        let may_stay = false;
        let sent = self.withdraw_from(k, |out, number| out.ring().fate(number) == Fate::Refused, may_stay);
        let targets = &self.channels.outbound[self.sends()[k].targets.clone()];
        if targets.iter().all(|out| self.is_over(out)) {
            self.send_mut(k).state = SendState::Done;
        }
        sent.map(drop)
    }

    /// True if a target of a message that was announced has started its call, but not come back to
    /// copy the message.
    pub(super) fn is_left_lying(&self, k: usize) -> bool {
        let targets = &self.channels.outbound[self.sends()[k].targets.clone()];
        targets.iter().any(|out| !self.is_over(out) && is_late(out, self.number))
    }

    /// Withdraws a message from those targets, and leaves copies to MPI. Without memory for a copy
    /// the message stays where it is: they find it there when they come. Returns true if it has
    /// been withdrawn from one.
    #[cold]
    pub(super) fn withdraw_from_late(&mut self, k: usize) -> Result<bool> {
        let may_stay = true;
        self.withdraw_from(k, is_late, may_stay)
    }

    /// Withdraws a message from some of its targets, and leaves copies to MPI. `may_stay`: unless
    /// there is no memory for a copy. Returns true if it has been withdrawn from one.
    #[cold]
    fn withdraw_from(&mut self, k: usize, which: impl Fn(&Outbound, u64) -> bool, may_stay: bool) -> Result<bool> {
        let mut sent = Ok(false);
        for o in self.sends()[k].targets.clone() {
            let out = &self.channels.outbound[o];
            // MPIs fail in various ways when they send to a process that has ended
            let waits = !self.is_over(out) && which(out, self.number) && self.channels.lives(out.member);
            if !waits {
                continue;
            }
            let copy = match self.copy_of(k) {
                Err(e) if may_stay && matches!(*e, Error::NoMemory { .. }) => return sent,
                copy => copy,
            };
            // its receiver knows that before the message comes
            if self.channels.outbound[o].ring().withdraw(self.number) {
                // as it may be that the target cannot read it any longer
                self.send_mut(k).readable.clear();
                sent = sent.and(self.detach_to(k, o, copy).map(|()| true));
            }
        }
        sent
    }

    /// Copies a message that its sender has announced.
    ///
    /// All of it at once: once it is claimed, the sender cannot take it back, and this process may
    /// leave for MPI after the next test.
    #[cold]
    pub(super) fn open_published(&mut self, i: usize) -> Result<()> {
        let (ring, mut words) = (self.channels.inbound[i].ring(), [0u64; 4]);
        ring.words(self.number, &mut words);
        let [bytes, count, location, can_turn] = words;
        match ring.fate(self.number) {
            // until its sender has said how
            Fate::Turning => return Ok(()),
            Fate::InChunks => {
                let words = ring.turned(self.number);
                return self.begin_to_take_chunks(i, words);
            }
            Fate::Open if can_turn != 0 && self.may_be_turned(i) => return Ok(()),
            Fate::Open | Fate::Claimed | Fate::Refused | Fate::Withdrawn => {}
        }
        let source = &self.channels.inbound[i];
        if !source.ring().claim(self.number) {
            if source.ring().fate(self.number) == Fate::Withdrawn {
                self.recvs[i].state = RecvState::Probing;
            }
            return Ok(());
        }
        if let Err(e) = self.check(i, bytes) {
            return self.drop_published(i, e);
        }
        let (rank, bytes) = (source.rank, to_usize(bytes));
        let Self { channels, outputs, recvs, folding, to_all, .. } = self;
        let recv = &mut recvs[i];
        if !channels.parts(location, count, bytes, &mut recv.parts) {
            let text = format!("process {rank} announced a message without a valid list of its parts");
            return self.drop_published(i, Error::Internal(text).into());
        }
        let blocks = &outputs[recv.blocks.clone()];
        let whole = folding.is_none() && (!*to_all || blocks.len() == 1) && bytes == recv.bytes;
        let in_place = blocks.iter().all(|block| block.in_place().is_some());
        let into = match blocks {
            [_] if folding.is_none() && in_place => Place::Blocks,
            _ if whole && in_place => Place::Blocks,
            _ if whole && blocks.iter().all(MessageBlock::is_divisible) => Place::Pieces,
            _ => Place::Buffer,
        };
        let room = match into {
            Place::Blocks => 0,
            Place::Pieces => PIECE,
            Place::Buffer => bytes,
        };
        if let Err(e) = enlarge(&mut recv.buffer, room) {
            return self.drop_published(i, e);
        }
        // SAFETY: the caller of `bind` vouches for the blocks; the buffer is long enough.
        let copied = unsafe { self.copy_from_sender(i, bytes, into) };
        let (recv, source) = (&mut self.recvs[i], &self.channels.inbound[i]);
        if !copied {
            source.ring().refuse(self.number);
            recv.state = RecvState::Probing;
            self.wake_sleepers();
            return Ok(());
        }
        // the number of a process that has ended may be another one's
        if !self.channels.lives(source.member) {
            return self.drop_published(i, Error::Gone { rank }.into());
        }
        source.ring().take(self.number);
        recv.data = if into == Place::Buffer { recv.buffer.as_ptr() } else { std::ptr::null() };
        self.complete(i, bytes)
    }

    /// Copies a message of `bytes` bytes from its sender's memory. Returns false if the kernel does
    /// not copy all of it.
    ///
    /// # Safety
    /// The blocks must be writable, and the message's buffer have room for what is copied there.
    unsafe fn copy_from_sender(&mut self, i: usize, bytes: usize, into: Place) -> bool {
        let Self { channels, outputs, recvs, spans: [here, there], .. } = self;
        let recv = &mut recvs[i];
        let blocks = &outputs[recv.blocks.clone()];
        let Some(process) = channels.inbound[i].process else { return false };
        let buffer = recv.buffer.as_mut_ptr();
        let mut begin = 0;
        while begin < bytes {
            let end = if into == Place::Pieces { bytes.min(begin + PIECE) } else { bytes };
            let parts = recv.parts.iter().map(|part| (std::ptr::without_provenance_mut(to_usize(part.at)), to_usize(part.bytes)));
            cut(parts, begin..end, there);
            match into {
                Place::Blocks => {
                    let places = blocks.iter().filter_map(|block| Some((block.in_place()?, block.bytes)));
                    cut(places, begin..end, here);
                }
                Place::Pieces => cut(std::iter::once((buffer, end - begin)), 0..end - begin, here),
                Place::Buffer => cut(std::iter::once((buffer, bytes)), begin..end, here),
            }
            // SAFETY: the caller vouches for blocks and buffer.
            let Ok(copied @ 1..) = (unsafe { peer_memory::read(process, here, there) }) else { return false };
            if into == Place::Pieces {
                // SAFETY: as above; so many bytes are in the buffer.
                unsafe { blocks::unpack_part(blocks, begin..begin + copied, buffer) };
            }
            begin += copied;
        }
        true
    }

    /// Releases and fails a message that cannot be used.
    fn drop_published(&mut self, i: usize, error: Box<Error>) -> Result<()> {
        self.channels.inbound[i].ring().take(self.number);
        self.fail(i, error)
    }

    /// Asks for a message by MPI, as a receive into device memory has been posted for it. (That
    /// cannot be canceled: withdrawn by its sender, the message may already have met it.)
    #[cold]
    pub(super) fn refuse_announced(&self, i: usize) {
        let ring = self.channels.inbound[i].ring();
        if ring.claim(self.number) {
            ring.refuse(self.number);
            self.wake_sleepers();
        }
    }

    /// Releases the cell of a message that was announced there, but has come by MPI.
    #[cold]
    pub(super) fn release_withdrawn(&mut self, i: usize) {
        let (recv, ring) = (&mut self.recvs[i], self.channels.inbound[i].ring());
        if recv.in_ring && self.is_announced(i) && ring.fate(self.number) == Fate::Withdrawn {
            ring.take(self.number);
            self.recvs[i].in_ring = false;
        }
    }

    /// True if the cell of the message from process `i` says that it lies in the sender's memory.
    pub(super) fn is_announced(&self, i: usize) -> bool {
        self.channels.inbound[i].ring().header(self.number).is_some_and(|header| header.location == AT_SENDER)
    }
}
