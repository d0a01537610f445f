//! Messages of the shared-memory executor that go by MPI.

use std::time::{Duration, Instant};

use super::blocks::{self, Loopback};
use super::state::{RecvState, SendState, Shm};
use crate::error::{Error, Result};
use crate::exec::p2p::enlarge;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::mpi::p2p::LAST_TESTS;
use crate::mpi::{guard, leftover};
use crate::observe::Way;

/// How long a message waits for room.
const PATIENCE_FOR_ROOM: Duration = Duration::from_millis(2);

/// Takes a receive back. Whether that has come to an end: what has begun to come cannot be taken
/// back, and may never be complete.
#[cold]
pub(super) fn cancel(request: &mut Request) -> bool {
    request.is_null() || (request.cancel().is_ok() && (0..LAST_TESTS).any(|_| !matches!(request.test_cancelled(), Ok(None))))
}

/// Posts a receive, which a longer message cannot overrun.
///
/// # Safety
/// As for [`message::receive`].
unsafe fn receive(guarded: bool, at: *mut u8, bytes: u64, rank: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the bytes.
    unsafe {
        if guarded {
            guard::receive(at, bytes, rank, tag, comm)
        } else {
            message::receive(at, bytes, Some(rank), Some(tag), comm)
        }
    }
}

impl Shm {
    /// Sends a message by MPI. The call's end waits for that to be complete, unless the message is
    /// put together in memory that can be left to MPI.
    #[cold]
    pub(super) fn send_by_mpi(&mut self, k: usize) -> Result<()> {
        let (tag, tag_of_blocks) = (self.channels.tag(self.number), self.channels.tag_of_blocks(self.number));
        // for a long one the receiver has posted a receive, or looks for it; where a short one
        // found no room it may be busy with earlier ones
        let detach = self.sends()[k].bytes <= self.channels.eager_limit;
        let Self { channels, all, each, inputs, to_all, comm, me, tag: own_tag, by_mpi, folding, record, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        send.state = SendState::Done;
        let (blocks, bytes) = (&inputs[send.blocks.clone()], send.bytes);
        let loopback = Loopback { me: *me, tag: *own_tag, comm };
        // SAFETY: the caller of `bind` vouches for the blocks until the call is complete; memory of
        // our own is left alone until MPI has sent it.
        unsafe {
            let send_from = |at: *const u8, bytes: usize, rank, tag| {
                if let Some(record) = &*record {
                    record.sent(Way::Mpi, 1, bytes as u64);
                }
                message::send(Mode::Standard, &bytes_at(at, bytes as u64), rank, tag, comm)
            };
            // whoever is dead takes nothing from MPI's queues either
            let living = |o: &usize| !channels.outbound[*o].is_gone();
            if detach {
                for out in send.targets.clone().filter(living).map(|o| &channels.outbound[o]) {
                    let mut buffer = Vec::new();
                    enlarge(&mut buffer, bytes)?;
                    blocks::pack(blocks, buffer.as_mut_ptr(), loopback)?;
                    let request = send_from(buffer.as_ptr(), bytes, out.rank, tag)?;
                    channels.detach(leftover::Message { request, memory: buffer, receiver: out.world });
                }
                return Ok(());
            }
            *by_mpi = true;
            if folding.is_some() && blocks.len() > 1 {
                enlarge(&mut send.buffer, bytes)?;
                blocks::pack(blocks, send.buffer.as_mut_ptr(), loopback)?;
                for o in send.targets.clone().filter(living) {
                    send.requests.push((o as u32, send_from(send.buffer.as_ptr(), bytes, channels.outbound[o].rank, tag)?));
                }
                return Ok(());
            }
            // each block for itself: those that lie in one piece need not be copied
            let tag = if blocks.len() > 1 { tag_of_blocks } else { tag };
            enlarge(&mut send.buffer, blocks::staged_bytes(blocks))?;
            let mut next = send.buffer.as_mut_ptr();
            for block in blocks {
                if let Some(on_device) = block.on_device() {
                    for o in send.targets.clone().filter(living) {
                        if let Some(record) = &*record {
                            record.sent(Way::Mpi, 1, block.bytes as u64);
                        }
                        let request = message::send(Mode::Standard, &on_device, channels.outbound[o].rank, tag, comm)?;
                        send.requests.push((o as u32, request));
                    }
                    continue;
                }
                let at = match block.in_place() {
                    Some(at) => at,
                    None => {
                        block.pack(next, loopback)?;
                        let at = next;
                        next = next.wrapping_add(block.bytes);
                        at
                    }
                };
                for o in send.targets.clone().filter(living) {
                    send.requests.push((o as u32, send_from(at, block.bytes, channels.outbound[o].rank, tag)?));
                }
            }
        }
        Ok(())
    }

    /// Forgets what MPI sends.
    pub(super) fn end_sends(&mut self) {
        let sends = if self.to_all { &mut self.all } else { &mut self.each };
        sends.iter_mut().for_each(|s| s.requests.clear());
        self.by_mpi = false;
    }

    /// Sends by MPI what has waited for long: its receiver may be waiting for it while earlier
    /// messages are still in its mailbox.
    #[cold]
    pub(super) fn send_overdue(&mut self) {
        match self.waiting_since {
            None => self.waiting_since = Some(Instant::now()),
            Some(since) if since.elapsed() > PATIENCE_FOR_ROOM => {
                for k in (0..self.sending.len()).rev() {
                    let i = self.sending[k] as usize;
                    if self.sends()[i].state == SendState::Waiting {
                        self.sending.swap_remove(k);
                        if let Err(e) = self.send_by_mpi(i) {
                            self.note(e);
                        }
                    }
                }
            }
            Some(_) => {}
        }
    }

    /// Whether MPI has a message of this call that nobody has begun to receive. Lets MPI move
    /// others.
    pub(super) fn mpi_has_message(&self) -> Result<bool> {
        let has = |tag: i32| message::probe(None, tag, false, &self.comm).map(|found| found.is_some());
        Ok(has(self.channels.tag(self.number))? || (self.several && has(self.channels.tag_of_blocks(self.number))?))
    }

    /// Begins to receive the message of a process by MPI if it comes that way, in one message or
    /// several, whatever was expected.
    pub(super) fn probe_any(&mut self, i: usize) -> Result<()> {
        if matches!(self.recvs[i].state, RecvState::MpiBlocks) {
            let source = Some(self.channels.inbound[i].rank);
            if message::probe(source, self.channels.tag(self.number), false, &self.comm)?.is_none() {
                return Ok(());
            }
            // its sender takes it to be shorter
            self.cancel_blocks(i);
            self.recvs[i].state = RecvState::Waiting;
        }
        self.probe_message(i)
    }

    /// Begins to receive the message of a process by MPI if it comes that way.
    fn probe_message(&mut self, i: usize) -> Result<()> {
        let (source, tag) = (Some(self.channels.inbound[i].rank), self.channels.tag(self.number));
        if self.may_come_as_blocks(i)
            && message::probe(source, self.channels.tag_of_blocks(self.number), false, &self.comm)?.is_some()
        {
            // what is found waits for the receives
            self.recvs[i].state = RecvState::MpiBlocks;
            return Ok(());
        }
        // there must be room before the message is taken out of MPI's queue
        let Some(found) = message::probe(source, tag, false, &self.comm)? else { return Ok(()) };
        let at = match self.destination(i, found.status.bytes) {
            Ok(at) => at,
            Err(e) => return self.fail(i, e),
        };
        let Some(probed) = message::probe(source, tag, message::has_matched_probe(), &self.comm)? else { return Ok(()) };
        // SAFETY: the caller of `bind` vouches for the block, in which there is room; a buffer is
        // as long, and left alone until the message is complete.
        let request = unsafe { probed.receive(at, &self.comm) }?;
        self.recvs[i].state = RecvState::Mpi { request, posted: false };
        Ok(())
    }

    /// Asks MPI for a message that comes by MPI.
    #[cold]
    pub(super) fn ask_mpi(&mut self, i: usize) -> Result<()> {
        let posted = match self.recvs[i].state {
            RecvState::Mpi { posted, .. } => posted,
            RecvState::MpiBlocks => return self.take_blocks(i),
            RecvState::Probing => return self.keep_probing(i),
            _ => return Ok(()),
        };
        let RecvState::Mpi { request, .. } = &mut self.recvs[i].state else { return Ok(()) };
        let came = match request.test_receive() {
            Ok(Some(status)) => status.bytes,
            Ok(None) if !posted || self.channels.inbound[i].ring().header(self.number).is_none() => return Ok(()),
            Ok(None) => return self.withdraw(i),
            Err(e) => return self.fail(i, e),
        };
        match self.check(i, came) {
            Ok(()) => self.complete(i, came as usize),
            Err(e) => self.fail(i, e),
        }
    }

    /// Looks for a message that comes by MPI. Whether it has come to its end.
    pub(super) fn keep_probing(&mut self, i: usize) -> Result<()> {
        if self.channels.inbound[i].ring().header(self.number).is_some() {
            // its sender takes it to be shorter
            self.recvs[i].state = RecvState::Waiting;
            return self.step_recv(i);
        }
        self.probe_message(i)
    }

    /// Receives what has come of the messages for each block.
    #[cold]
    fn probe_blocks(&mut self, i: usize) -> Result<()> {
        if self.receives_on_device(i) {
            return self.post_blocks(i);
        }
        let tag = self.channels.tag_of_blocks(self.number);
        let Self { channels, outputs, recvs, comm, .. } = self;
        let (recv, rank) = (&mut recvs[i], channels.inbound[i].rank);
        let blocks = &outputs[recv.blocks.clone()];
        enlarge(&mut recv.buffer, blocks::staged_bytes(blocks))?;
        while recv.requests.len() < blocks.len() {
            let Some(found) = message::probe(Some(rank), tag, message::has_matched_probe(), comm)? else { break };
            let block = &blocks[recv.requests.len()];
            let at = if found.status.bytes > block.bytes as u64 {
                let mut stray = Vec::new();
                enlarge(&mut stray, found.status.bytes as usize)?;
                recv.strays.push(stray);
                recv.strays.last_mut().map_or(std::ptr::null_mut(), Vec::as_mut_ptr)
            } else {
                let begin = blocks::staged_bytes(&blocks[..recv.requests.len()]);
                block.in_place().unwrap_or(recv.buffer.as_mut_ptr().wrapping_add(begin))
            };
            // SAFETY: there is room for the message, as has been looked; it is left alone until the
            // request is complete.
            recv.requests.push(unsafe { found.receive(at, comm) }?);
        }
        Ok(())
    }

    /// Completes a message that comes by MPI block by block. Whether it has come to its end.
    pub(super) fn take_blocks(&mut self, i: usize) -> Result<()> {
        let mut done = true;
        if self.recvs[i].requests.len() < self.recvs[i].blocks.len() {
            if let Err(e) = self.probe_blocks(i) {
                self.cancel_blocks(i);
                return self.fail(i, e);
            }
            done = self.recvs[i].requests.len() == self.recvs[i].blocks.len();
        }
        let lengths: usize = self.recvs[i].requests.len();
        for k in 0..lengths {
            if self.recvs[i].requests[k].is_null() {
                continue;
            }
            match self.recvs[i].requests[k].test_receive() {
                Ok(Some(status)) => {
                    let recv = &self.recvs[i];
                    let expected = self.outputs[recv.blocks.start + k].bytes as u64;
                    if status.bytes != expected {
                        let slots = self.outputs[recv.blocks.clone()].iter().map(|p| p.entry).collect();
                        self.note(
                            Error::Length { rank: self.channels.inbound[i].rank, slots, sent: status.bytes, expected }.into(),
                        );
                    }
                }
                Ok(None) => done = false,
                Err(e) => self.note(e),
            }
        }
        if !done {
            if self.channels.inbound[i].ring().header(self.number).is_some() {
                // its sender takes it to be shorter
                self.cancel_blocks(i);
                self.recvs[i].state = RecvState::Waiting;
                return self.step_recv(i);
            }
            return Ok(());
        }
        let recv = &mut self.recvs[i];
        recv.requests.clear();
        recv.strays.clear();
        recv.in_ring = false;
        recv.state = RecvState::Done;
        let (recv, loopback) = (&self.recvs[i], self.loopback());
        let mut from = recv.buffer.as_ptr();
        for block in self.outputs[recv.blocks.clone()].iter().filter(|block| block.is_staged()) {
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer has room for those
            // that it is for.
            unsafe { block.unpack(from, loopback) }?;
            from = from.wrapping_add(block.bytes);
        }
        Ok(())
    }

    /// Takes back the receives of a message that was to come block by block.
    #[cold]
    pub(super) fn cancel_blocks(&mut self, i: usize) {
        let recv = &mut self.recvs[i];
        let mut all = true;
        for mut request in recv.requests.drain(..) {
            all &= cancel(&mut request);
        }
        if !all {
            // MPI may still write there
            std::mem::forget(std::mem::take(&mut recv.buffer));
            std::mem::forget(std::mem::take(&mut recv.strays));
        }
        recv.strays.clear();
    }

    /// Whether the blocks of a process, where they come by MPI, can come in a message each.
    fn may_come_as_blocks(&self, i: usize) -> bool {
        self.recvs[i].blocks.len() > 1 && !self.to_all && self.folding.is_none()
    }

    /// Whether a message comes block by block where it comes by MPI.
    fn comes_as_blocks(&self, i: usize) -> bool {
        self.recvs[i].bytes > self.channels.inbound[i].eager_limit && self.may_come_as_blocks(i)
    }

    /// Posts the receive of a message that the sender will send by MPI, as it is long and the
    /// caller may not come back soon.
    #[cold]
    pub(super) fn post(&mut self, i: usize) -> Result<()> {
        if self.guarded && !self.started_only && !self.receives_on_device(i) {
            // whoever waits can look for it, which leaves MPI its single copy
            self.recvs[i].state = if self.comes_as_blocks(i) { RecvState::MpiBlocks } else { RecvState::Probing };
            return Ok(());
        }
        if self.comes_as_blocks(i) {
            return self.post_blocks(i);
        }
        if let Some(posted) = self.post_to_device(i) {
            return posted;
        }
        let bytes = self.recvs[i].bytes as u64;
        let at = self.destination(i, bytes)?;
        let (rank, tag) = (self.channels.inbound[i].rank, self.channels.tag(self.number));
        // SAFETY: as for `look_for_message`.
        let request = unsafe { receive(self.guarded, at, bytes, rank, tag, &self.comm) }?;
        self.recvs[i].state = RecvState::Mpi { request, posted: true };
        Ok(())
    }

    /// Posts the receives of a message that comes by MPI block by block.
    fn post_blocks(&mut self, i: usize) -> Result<()> {
        let tag = self.channels.tag_of_blocks(self.number);
        let Self { channels, outputs, recvs, comm, guarded, .. } = self;
        let (recv, rank) = (&mut recvs[i], channels.inbound[i].rank);
        let blocks = &outputs[recv.blocks.clone()];
        enlarge(&mut recv.buffer, blocks::staged_bytes(blocks))?;
        // those that have been posted before an error stay
        let posted = recv.requests.len();
        let mut next = recv.buffer.as_mut_ptr().wrapping_add(blocks::staged_bytes(&blocks[..posted]));
        recv.state = RecvState::MpiBlocks;
        for block in &blocks[posted..] {
            if let Some(on_device) = block.on_device() {
                // SAFETY: the caller of `bind` vouches for the block.
                recv.requests.push(unsafe { message::receive_block(&on_device, rank, tag, comm) }?);
                continue;
            }
            let at = block.in_place().unwrap_or(next);
            if block.in_place().is_none() {
                next = next.wrapping_add(block.bytes);
            }
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer has room for those
            // that it is for, and is left alone.
            recv.requests.push(unsafe { receive(*guarded, at, block.bytes as u64, rank, tag, comm) }?);
        }
        Ok(())
    }

    /// Takes a receive back: the message is in the mailbox, as its sender takes it to be shorter.
    #[cold]
    pub(super) fn withdraw(&mut self, i: usize) -> Result<()> {
        if let RecvState::Mpi { request, .. } = &mut self.recvs[i].state {
            cancel(request);
        }
        self.recvs[i].state = RecvState::Waiting;
        self.step_recv(i)
    }

    /// Where a message that comes by MPI goes: to its block where that is one without gaps, else to
    /// a buffer.
    fn destination(&mut self, i: usize, bytes: u64) -> Result<*mut u8> {
        let Self { outputs, recvs, folding, .. } = self;
        let recv = &mut recvs[i];
        let at = match &outputs[recv.blocks.clone()] {
            [block] if folding.is_none() && bytes <= block.bytes as u64 => block.in_place(),
            _ => None,
        };
        recv.data = std::ptr::null();
        if at.is_none() {
            enlarge(&mut recv.buffer, bytes as usize)?;
            recv.data = recv.buffer.as_ptr();
        }
        Ok(at.unwrap_or(recv.buffer.as_mut_ptr()))
    }
}
