//! Messages between processes of a node that go by MPI after all.
//!
//! Long messages of requests do where the kernel does not let their receivers copy them
//! (`pull.rs`). Others do when they have waited too long, for room in the ring or for a receiver
//! that does not come back to copy them. The receiver learns of none of them from the ring, and
//! probes for them.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::state::{OutMessage, RecvState, SendState, Shm};
use crate::datatype::buffers::enlarge;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::blocks;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::mpi::{finalize, guard, notice, sink};
use crate::observe::Medium;
use crate::util::backoff::{ROOM, until_withdrawn};
use crate::util::cast::to_usize;

/// Posts a receive that a longer message cannot overrun.
///
/// # Safety
/// As for [`message::receive`].
unsafe fn receive(guarded: bool, at: *mut u8, bytes: u64, rank: u32, tag: i32, comm: &Comm) -> Result<Request> {
    // SAFETY: the caller vouches for the memory.
    unsafe {
        if guarded {
            guard::receive(at, bytes, rank, tag, comm)
        } else {
            message::receive(at, bytes, Some(rank), Some(tag), comm)
        }
    }
}

/// Posts a message to each living target, by position: what is packed, or else, or if that cannot
/// be sent, a notice. Returns the first error.
fn post_each(
    send: &mut OutMessage,
    living: impl Fn(&usize) -> bool,
    packed: Result<()>,
    post: impl Fn(usize, bool) -> Result<Request>,
) -> Result<()> {
    let mut done = packed;
    let is_packed = done.is_ok();
    for o in send.targets.clone().filter(living) {
        let mut posted = post(o, is_packed);
        if let Err(e) = posted {
            done = done.and(Err(e));
            posted = post(o, false);
        }
        // the error is known
        if let Ok(request) = posted {
            send.requests.push((o, request));
        }
    }
    done
}

impl Shm {
    /// Sends a message by MPI. The end of the call waits for that to complete, unless the message
    /// is packed into memory that can be left to MPI. A notice, which is too long for its receiver,
    /// takes the place of what cannot be packed or sent.
    #[cold]
    pub(super) fn send_by_mpi(&mut self, k: usize) -> Result<()> {
        let (tag, tag_of_blocks) = (self.channels.tag(self.number), self.channels.tag_of_blocks(self.number));
        // The receiver of a long message has posted a receive, if it cannot read this process's
        // memory. That of a short one that found no room may be busy with earlier ones.
        let reads = self.channels.outbound[self.sends()[k].targets.clone()].iter().any(|out| out.reads);
        if self.sends()[k].bytes <= self.channels.eager_limit || (reads && !self.sends_from_device(k)) {
            self.send_mut(k).state = SendState::Done;
            let mut done = Ok(());
            for o in self.sends()[k].targets.clone() {
                done = done.and(self.detach_to(k, o, self.copy_of(k)));
            }
            return done;
        }
        let Self { channels, all, each, inputs, to_all, comm, me, tag: own_tag, by_mpi, folding, record, .. } = self;
        let send = if *to_all { &mut all[k] } else { &mut each[k] };
        send.state = SendState::Done;
        let (blocks, bytes) = (&inputs[send.blocks.clone()], send.bytes);
        let loopback = Loopback { me: *me, tag: *own_tag, comm };
        // SAFETY: the caller of `bind` vouches for the blocks until the call is complete; memory of
        // our own stays untouched until MPI has sent it.
        unsafe {
            let send_from = |at: *const u8, bytes: usize, rank, tag| {
                if let Some(record) = &*record {
                    record.sent(Medium::Mpi, 1, bytes as u64);
                }
                message::send(Mode::Standard, &bytes_at(at, bytes as u64), rank, tag, comm)
            };
            let notify = |bytes: usize, rank, tag| notice::send(bytes as u64, rank, tag, comm);
            let mut done = Ok(());
            // a dead process takes nothing out of MPI's queues either
            let living = |o: &usize| !channels.outbound[*o].is_gone();
            *by_mpi = true;
            if folding.as_ref().is_some_and(|folding| folding.reduces()) && blocks.len() > 1 {
                let packed =
                    enlarge(&mut send.buffer, bytes).and_then(|()| blocks::pack(blocks, send.buffer.as_mut_ptr(), loopback));
                let at = send.buffer.as_ptr();
                return post_each(send, living, packed, |o, packed| {
                    let rank = channels.outbound[o].rank;
                    if packed { send_from(at, bytes, rank, tag) } else { notify(bytes, rank, tag) }
                });
            }
            // each block is a message of its own, so that contiguous blocks need not be copied
            let tag = if blocks.len() > 1 { tag_of_blocks } else { tag };
            let room = enlarge(&mut send.buffer, blocks::staged_bytes(blocks));
            let mut next = send.buffer.as_mut_ptr();
            for block in blocks {
                let (mut packed, mut at) = (Ok(()), std::ptr::null_mut());
                if let Some(there) = block.in_place() {
                    at = there;
                } else if block.on_device().is_none() {
                    (packed, at) = (room.clone().and_then(|()| block.pack(next, loopback)), next);
                    next = next.wrapping_add(block.bytes);
                }
                let posted = post_each(send, living, packed, |o, packed| {
                    let rank = channels.outbound[o].rank;
                    match block.on_device() {
                        _ if !packed => notify(block.bytes, rank, tag),
                        Some(on_device) => {
                            if let Some(record) = &*record {
                                record.sent(Medium::Mpi, 1, block.bytes as u64);
                            }
                            message::send(Mode::Standard, &on_device, rank, tag, comm)
                        }
                        None => send_from(at, block.bytes, rank, tag),
                    }
                });
                done = done.and(posted);
            }
            done
        }
    }

    /// Returns a copy of a message.
    pub(super) fn copy_of(&self, k: usize) -> Result<Vec<u8>> {
        let (send, mut copy) = (&self.sends()[k], Vec::new());
        enlarge(&mut copy, send.bytes)?;
        // SAFETY: the caller of `bind` vouches for the blocks; the copy has room for them.
        unsafe { blocks::pack(&self.inputs[send.blocks.clone()], copy.as_mut_ptr(), self.loopback()) }?;
        Ok(copy)
    }

    /// Leaves a copy of a message to MPI, for one of its targets.
    pub(super) fn detach_to(&mut self, k: usize, o: usize, copy: Result<Vec<u8>>) -> Result<()> {
        let tag = self.channels.tag(self.number);
        let (out, bytes) = (&self.channels.outbound[o], self.sends()[k].bytes);
        // a dead process takes nothing out of MPI's queues
        if out.is_gone() {
            return Ok(());
        }
        let sent = copy.and_then(|copy| {
            // SAFETY: the copy stays untouched until MPI has sent it.
            let request = unsafe {
                let block = bytes_at(copy.as_ptr(), bytes as u64);
                message::send(Mode::Standard, &block, out.rank, tag, &self.comm)
            }?;
            Ok((request, copy))
        });
        let ((request, memory), done) = match sent {
            Ok(sent) => {
                if let Some(record) = &self.record {
                    record.sent(Medium::Mpi, 1, bytes as u64);
                }
                (sent, Ok(()))
            }
            // one error is enough
            Err(e) => match notice::send(bytes as u64, out.rank, tag, &self.comm) {
                Ok(request) => ((request, Vec::new()), Err(e)),
                Err(_) => return Err(e),
            },
        };
        self.channels.detach(finalize::Message { request, memory, receiver: out.world, beside: None });
        done
    }

    /// Drops the sends, which have completed or been given up.
    pub(super) fn end_sends(&mut self) {
        let sends = if self.to_all { &mut self.all } else { &mut self.each };
        sends.iter_mut().for_each(|s| s.requests.clear());
        self.by_mpi = false;
    }

    /// True if a message that waits for its receivers can be announced to them instead.
    fn can_be_left(&self, k: usize) -> bool {
        let send = &self.sends()[k];
        self.channels.away_only && send.bytes > self.channels.eager_limit && self.has_room(send) && self.can_publish(k)
    }

    /// True if the cell of a message has one that others have waited for in vain: its receiver has
    /// requests under way that it does not complete.
    #[cold]
    pub(super) fn is_clogged(&self, k: usize) -> bool {
        self.channels.outbound[self.holders(&self.sends()[k])].iter().any(|out| {
            let below = out.clogged_below.load(Ordering::Relaxed);
            out.sender.occupant(self.number, out.ring()).is_some_and(|number| number < below)
        })
    }

    fn note_clogged(&self, k: usize) {
        for out in &self.channels.outbound[self.holders(&self.sends()[k])] {
            if let Some(number) = out.sender.occupant(self.number, out.ring()) {
                out.clogged_below.fetch_max(number + 1, Ordering::Relaxed);
            }
        }
    }

    /// Sends by MPI what has waited too long: its receiver may be waiting for it while earlier
    /// messages still fill its ring; or it has started its call, and waits for something else.
    /// Returns true if it has done so, or announced a message.
    #[cold]
    pub(super) fn send_overdue(&mut self) -> bool {
        let waits = |k: &usize| match self.sends()[*k].state {
            SendState::Waiting => true,
            SendState::Published => self.is_left_lying(*k),
            SendState::Chunks { .. } | SendState::Done => false,
        };
        if !self.sending.iter().any(waits) {
            self.waiting_since = None;
            return false;
        }
        let Some(since) = self.waiting_since else {
            self.waiting_since = Some(Instant::now());
            return false;
        };
        if since.elapsed() <= ROOM {
            return false;
        }
        let bytes = self.sends().iter().map(|send| send.bytes as u64).sum();
        let is_over = since.elapsed() > until_withdrawn(bytes);
        let mut acted = false;
        for k in (0..self.sending.len()).rev() {
            acted |= self.send_late(k, is_over);
        }
        acted
    }

    /// Sends by MPI, or announces, message `k` of those that are not complete, if it waits for its
    /// receivers; `is_over`: also withdraws announced ones. Returns true if it has done so.
    #[cold]
    fn send_late(&mut self, k: usize, is_over: bool) -> bool {
        let i = self.sending[k];
        let sent = match self.sends()[i].state {
            // its receiver turns or copies it when it comes
            SendState::Waiting if self.can_be_left(i) => self.publish(i),
            SendState::Waiting => {
                self.note_clogged(i);
                self.sending.swap_remove(k);
                self.send_by_mpi(i)
            }
            SendState::Published if is_over => match self.withdraw_from_late(i) {
                Ok(false) => {
                    // it waits as long once more before that is tried again
                    self.waiting_since = None;
                    return false;
                }
                withdrawn => withdrawn.map(drop),
            },
            SendState::Published | SendState::Chunks { .. } | SendState::Done => return false,
        };
        if let Err(e) = sent {
            self.note(e);
        }
        true
    }

    /// Returns true if MPI has a message of this call that no receive has matched. Gives MPI a
    /// chance to progress.
    pub(super) fn mpi_has_message(&self) -> Result<bool> {
        let has = |tag: i32| message::probe(None, tag, false, &self.comm).map(|found| found.is_some());
        Ok(has(self.channels.tag(self.number))? || (self.several && has(self.channels.tag_of_blocks(self.number))?))
    }

    /// Begins to receive the message from process `i` if it has come by MPI, in one message or
    /// block by block, whatever was expected.
    pub(super) fn probe_any(&mut self, i: usize) -> Result<()> {
        if matches!(self.recvs[i].state, RecvState::MpiBlocks) {
            let source = Some(self.channels.inbound[i].rank);
            if message::probe(source, self.channels.tag(self.number), false, &self.comm)?.is_none() {
                return Ok(());
            }
            // its sender takes the message to be shorter
            self.cancel_blocks(i);
            self.recvs[i].state = RecvState::Waiting;
        }
        self.probe_message(i)
    }

    /// Begins to receive the message from process `i` if it has come by MPI.
    fn probe_message(&mut self, i: usize) -> Result<()> {
        let (source, tag) = (Some(self.channels.inbound[i].rank), self.channels.tag(self.number));
        if self.may_come_as_blocks(i)
            && message::probe(source, self.channels.tag_of_blocks(self.number), false, &self.comm)?.is_some()
        {
            // the message stays in MPI's queue until its blocks' receives match it
            self.recvs[i].state = RecvState::MpiBlocks;
            return Ok(());
        }
        // allocate before the message is taken out of MPI's queue
        let Some(found) = message::probe(source, tag, false, &self.comm)? else { return Ok(()) };
        let room = self.destination(i, found.status.bytes);
        let Some(probed) = message::probe(source, tag, message::has_matched_probe(), &self.comm)? else { return Ok(()) };
        let received = match room {
            // SAFETY: the caller of `bind` vouches for the block, in which the message fits; a
            // buffer is long enough, and stays untouched until the message is complete.
            Ok(at) => unsafe { probed.receive(at, &self.comm) },
            Err(_) => sink::discard(probed, &self.comm),
        };
        match received {
            Ok(request) => {
                self.recvs[i].state = RecvState::Mpi { request, posted: false };
                room.map(drop)
            }
            // it has been taken out of MPI's queue
            Err(e) => self.fail(i, e),
        }
    }

    /// Moves a message forward that comes by MPI.
    #[cold]
    pub(super) fn ask_mpi(&mut self, i: usize) -> Result<()> {
        let posted = match self.recvs[i].state {
            RecvState::Mpi { posted, .. } => posted,
            RecvState::MpiBlocks => return self.take_blocks(i),
            RecvState::Probing => return self.probe_message(i),
            _ => return Ok(()),
        };
        let RecvState::Mpi { request, .. } = &mut self.recvs[i].state else { return Ok(()) };
        let came = match request.test_receive() {
            Ok(Some(status)) => {
                self.release_withdrawn(i);
                status.bytes
            }
            Ok(None) if !posted || self.channels.inbound[i].ring().header(self.number).is_none() => return Ok(()),
            Ok(None) if self.is_announced(i) => {
                self.refuse_announced(i);
                return Ok(());
            }
            Ok(None) => return self.withdraw(i),
            Err(e) => return self.fail(i, e),
        };
        if self.recvs[i].discards {
            self.leave_out(i);
            return Ok(());
        }
        match self.check(i, came) {
            Ok(()) => self.complete(i, to_usize(came)),
            Err(e) => self.fail(i, e),
        }
    }

    /// Receives those blocks' messages that have arrived.
    #[cold]
    fn probe_blocks(&mut self, i: usize) -> Result<()> {
        if self.receives_on_device(i) {
            return self.post_blocks(i);
        }
        self.make_room_for_blocks(i);
        let tag = self.channels.tag_of_blocks(self.number);
        let Self { channels, outputs, recvs, comm, .. } = self;
        let (recv, rank) = (&mut recvs[i], channels.inbound[i].rank);
        let blocks = &outputs[recv.blocks.clone()];
        while recv.requests.len() < blocks.len() {
            let Some(found) = message::probe(Some(rank), tag, message::has_matched_probe(), comm)? else { break };
            let block = &blocks[recv.requests.len()];
            let is_lost = found.status.bytes > block.bytes as u64 || (recv.discards && block.is_staged());
            let request = if is_lost {
                sink::discard(found, comm)
            } else {
                let begin = blocks::staged_bytes(&blocks[..recv.requests.len()]);
                let at = block.in_place().unwrap_or(recv.buffer.as_mut_ptr().wrapping_add(begin));
                // SAFETY: the message fits, as checked above; the memory stays untouched until the
                // request is complete.
                unsafe { found.receive(at, comm) }
            };
            recv.requests.push(request?);
        }
        Ok(())
    }

    /// Makes room for what is not received in place of a message that comes block by block. Notes
    /// an error if there is none.
    fn make_room_for_blocks(&mut self, i: usize) {
        let recv = &mut self.recvs[i];
        if recv.discards {
            return;
        }
        if let Err(e) = enlarge(&mut recv.buffer, blocks::staged_bytes(&self.outputs[recv.blocks.clone()])) {
            recv.discards = true;
            self.note(e);
        }
    }

    /// Moves a message forward that comes by MPI block by block.
    pub(super) fn take_blocks(&mut self, i: usize) -> Result<()> {
        let count = self.recvs[i].blocks.len();
        if self.recvs[i].requests.len() < count
            && let Err(e) = self.probe_blocks(i)
        {
            self.cancel_blocks(i);
            return self.fail(i, e);
        }
        if !self.test_blocks(i) || self.recvs[i].requests.len() < count {
            if self.channels.inbound[i].ring().header(self.number).is_some() {
                // its sender takes the message to be shorter
                self.cancel_blocks(i);
                self.recvs[i].state = RecvState::Waiting;
                return self.step_recv(i);
            }
            return Ok(());
        }
        let recv = &mut self.recvs[i];
        recv.requests.clear();
        if recv.discards {
            self.leave_out(i);
            return Ok(());
        }
        if self.folding.is_some() {
            recv.data = recv.buffer.as_ptr();
            return self.complete(i, 0);
        }
        recv.in_ring = false;
        recv.state = RecvState::Done;
        self.unpack_staged(i)
    }

    /// Tests the receives of those blocks' messages that have arrived, and checks what has come.
    /// Returns true if all of them are complete.
    fn test_blocks(&mut self, i: usize) -> bool {
        let mut complete = true;
        for k in 0..self.recvs[i].requests.len() {
            if self.recvs[i].requests[k].is_null() {
                continue;
            }
            match self.recvs[i].requests[k].test_receive() {
                Ok(Some(status)) => self.check_block(i, k, status.bytes),
                Ok(None) => complete = false,
                Err(e) => {
                    self.note(e);
                    self.skip_peer(i);
                }
            }
        }
        complete
    }

    /// Notes an error if block `k` of a message does not have the bytes that are expected.
    fn check_block(&mut self, i: usize, k: usize, sent: u64) {
        let recv = &self.recvs[i];
        let expected = self.outputs[recv.blocks.start + k].bytes as u64;
        if sent != expected {
            let entries = self.outputs[recv.blocks.clone()].iter().map(|p| p.entry).collect();
            self.note(Error::Length { rank: self.channels.inbound[i].rank, entries, sent, expected }.into());
            self.skip_peer(i);
        }
    }

    /// Unpacks what of a message that came block by block was not received in its place.
    fn unpack_staged(&self, i: usize) -> Result<()> {
        let (recv, loopback) = (&self.recvs[i], self.loopback());
        let mut from = recv.buffer.as_ptr();
        for block in self.outputs[recv.blocks.clone()].iter().filter(|block| block.is_staged()) {
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer holds all staged
            // blocks.
            unsafe { block.unpack(from, loopback) }?;
            from = from.wrapping_add(block.bytes);
        }
        Ok(())
    }

    /// Cancels the receives of a message that was to come block by block.
    #[cold]
    pub(super) fn cancel_blocks(&mut self, i: usize) {
        let mut all = true;
        for mut request in self.recvs[i].requests.drain(..) {
            all &= request.withdraw();
        }
        if !all {
            self.leave_buffer(i);
        }
        self.recvs[i].discards = false;
    }

    /// Leaves the buffer of the message from process `i` to MPI, which may still write there.
    #[cold]
    pub(super) fn leave_buffer(&mut self, i: usize) {
        std::mem::forget(std::mem::take(&mut self.recvs[i].buffer));
        self.stuck = true;
    }

    /// True if the message from process `i`, when it comes by MPI, may come as one message for each
    /// block.
    fn may_come_as_blocks(&self, i: usize) -> bool {
        self.recvs[i].blocks.len() > 1 && !self.to_all && self.folding.as_ref().is_none_or(|folding| !folding.reduces())
    }

    /// True if the message from process `i`, when it comes by MPI, is expected block by block.
    fn comes_as_blocks(&self, i: usize) -> bool {
        self.recvs[i].bytes > self.channels.inbound[i].eager_limit && self.may_come_as_blocks(i)
    }

    /// Posts the receive of a long message that its sender will send by MPI.
    #[cold]
    pub(super) fn post(&mut self, i: usize) -> Result<()> {
        if self.comes_as_blocks(i) {
            return self.post_blocks(i);
        }
        if let Some(posted) = self.post_to_device(i) {
            return posted;
        }
        let bytes = self.recvs[i].bytes as u64;
        let room = self.destination(i, bytes);
        let (rank, tag) = (self.channels.inbound[i].rank, self.channels.tag(self.number));
        let request = match room {
            // SAFETY: as for `probe_message`.
            Ok(at) => unsafe { receive(self.guarded, at, bytes, rank, tag, &self.comm) },
            Err(_) => sink::receive(bytes, rank, tag, &self.comm),
        }?;
        self.recvs[i].state = RecvState::Mpi { request, posted: true };
        room.map(drop)
    }

    /// Posts the receives of a message that comes by MPI block by block.
    fn post_blocks(&mut self, i: usize) -> Result<()> {
        self.make_room_for_blocks(i);
        let tag = self.channels.tag_of_blocks(self.number);
        let Self { channels, outputs, recvs, comm, guarded, .. } = self;
        let (recv, rank) = (&mut recvs[i], channels.inbound[i].rank);
        let blocks = &outputs[recv.blocks.clone()];
        // receives that were posted before an error stay
        let posted = recv.requests.len();
        let mut next = recv.buffer.as_mut_ptr().wrapping_add(blocks::staged_bytes(&blocks[..posted]));
        recv.state = RecvState::MpiBlocks;
        for block in &blocks[posted..] {
            if let Some(on_device) = block.on_device() {
                // SAFETY: the caller of `bind` vouches for the block.
                recv.requests.push(unsafe { message::receive_block(&on_device, rank, tag, comm) }?);
                continue;
            }
            if recv.discards && block.is_staged() {
                recv.requests.push(sink::receive(block.bytes as u64, rank, tag, comm)?);
                continue;
            }
            let at = block.in_place().unwrap_or(next);
            if block.is_staged() {
                next = next.wrapping_add(block.bytes);
            }
            // SAFETY: the caller of `bind` vouches for the blocks; the buffer holds all staged
            // blocks, and stays untouched.
            recv.requests.push(unsafe { receive(*guarded, at, block.bytes as u64, rank, tag, comm) }?);
        }
        Ok(())
    }

    /// Withdraws a receive: the message is in the ring, as its sender takes it to be shorter.
    #[cold]
    pub(super) fn withdraw(&mut self, i: usize) -> Result<()> {
        if let RecvState::Mpi { request, .. } = &mut self.recvs[i].state
            && !request.withdraw()
        {
            self.leave_buffer(i);
        }
        (self.recvs[i].state, self.recvs[i].discards) = (RecvState::Waiting, false);
        self.step_recv(i)
    }

    /// Returns where to receive a message of `bytes` bytes by MPI: in its block, if that is the
    /// only one and contiguous, else in a buffer.
    fn destination(&mut self, i: usize, bytes: u64) -> Result<*mut u8> {
        let Self { outputs, recvs, folding, .. } = self;
        let recv = &mut recvs[i];
        let at = match &outputs[recv.blocks.clone()] {
            [block] if folding.is_none() && bytes <= block.bytes as u64 => block.in_place(),
            _ => None,
        };
        recv.data = std::ptr::null();
        if at.is_none() {
            let room = enlarge(&mut recv.buffer, to_usize(bytes));
            recv.discards = room.is_err();
            room?;
            recv.data = recv.buffer.as_ptr();
        }
        Ok(at.unwrap_or(recv.buffer.as_mut_ptr()))
    }
}
