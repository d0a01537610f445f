//! Combines blocks as they arrive and their turn comes.

use std::ops::Range;

use super::state::{Chunks, Destination, RecvState, Shm};
use crate::error::Result;
use crate::exec::executor::Executor;
use crate::exec::folding::{ChainEntry, Folding, Origin};
use crate::shm::stores::{LEAST, told};
use crate::shm::streaming::{since, ticks};
use crate::util::cast::to_u32;

impl Shm {
    /// Folds every block that is here and whose turn has come.
    pub(super) fn fold_all(&mut self) -> Result<()> {
        let Some(mut folding) = self.folding.take() else { return Ok(()) };
        let folded = self.fold_with(&mut folding);
        self.folding = Some(folding);
        folded
    }

    fn fold_with(&mut self, folding: &mut Folding) -> Result<()> {
        let mut done = Ok(());
        loop {
            let mut any = false;
            for position in folding.candidates() {
                if folding.is_done(position) {
                    continue;
                }
                let ChainEntry { source, origin, offset } = folding.chain[position];
                let data = match origin {
                    Origin::Peer(i) => {
                        let recv = &self.recvs[i as usize];
                        matches!(recv.state, RecvState::Arrived).then(|| recv.data.wrapping_add(offset))
                    }
                    Origin::Own(k) => Some(folding.own_data(k)),
                    Origin::Remote => self.remote_is_here(source)?.then(|| self.scratch.as_ptr().wrapping_add(offset)),
                    Origin::Nowhere => None,
                };
                let Some(data) = data else { continue };
                let began = self.is_timed(origin).then(ticks);
                // SAFETY: the caller of `bind` vouches for result and places; the block is here.
                let folded = unsafe { folding.fold(position, data, &self.known[0], self.loopback()) };
                done = done.and(folded);
                any = true;
                if let Origin::Peer(i) = origin {
                    let recv = &mut self.recvs[i as usize];
                    recv.unfolded -= 1;
                    recv.ticks = recv.ticks.saturating_add(began.map_or(0, since));
                    if recv.unfolded == 0 {
                        if began.is_some() {
                            self.channels.inbound[i as usize].ring().set_time(self.number, told(recv.ticks));
                        }
                        recv.state = RecvState::Done;
                        if recv.in_ring {
                            self.channels.inbound[i as usize].ring().take(self.number);
                        }
                    }
                }
            }
            if !any {
                return done;
            }
        }
    }

    /// True if a block is of a message in shared memory whose sender wants to know how long it
    /// takes to combine it.
    fn is_timed(&self, origin: Origin) -> bool {
        let Origin::Peer(i) = origin else { return false };
        let recv = &self.recvs[i as usize];
        recv.bytes >= LEAST && recv.in_ring && self.channels.inbound[i as usize].ring().is_timed(self.number)
    }

    /// True if the message from process `i` may be combined as its chunks come.
    pub(super) fn is_turn_of(&self, i: usize) -> bool {
        let Some(folding) = &self.folding else { return false };
        match (folding.peer_in_parts(), folding.next_origin()) {
            (Some(peer), _) => peer as usize == i,
            (None, Some(next)) => next == Origin::Peer(to_u32(i)),
            (None, None) => true,
        }
    }

    /// True if the next chunk of a message that is combined as it comes is left where it is: its
    /// turn is after a block of the process's own, which is combined next, or after a message whose
    /// chunks are coming, too, and whose sender stays until all have.
    ///
    /// Never for a message in a reduction. There a sender has one for all targets, so that it would
    /// wait for one that waits for another sender, which in its turn may wait for a target of this
    /// one.
    pub(super) fn chunk_is_to_wait(&self, i: usize, chunks: &Chunks) -> bool {
        if chunks.into != Destination::Combined || chunks.taken > 0 || self.is_turn_of(i) {
            return false;
        }
        let Some(folding) = &self.folding else { return false };
        let first = match folding.next_origin() {
            Some(Origin::Own(_)) => return true,
            _ if folding.reduces() => return false,
            Some(Origin::Peer(peer)) => Some(peer),
            _ => folding.peer_in_parts(),
        };
        // what has arrived is combined in this poll
        let is_coming = |peer: u32| matches!(self.recvs[peer as usize].state, RecvState::Chunks(_) | RecvState::Arrived);
        first.is_some_and(is_coming)
    }

    /// Combines bytes `part` of the message from process `i`.
    ///
    /// # Safety
    /// So many bytes must be readable, and the blocks be as the caller of `bind` vouches.
    pub(super) unsafe fn fold_chunk(&mut self, i: usize, part: Range<usize>, data: *const u8) -> Result<()> {
        let Some(mut folding) = self.folding.take() else { return Ok(()) };
        // SAFETY: the caller vouches for the data, and for the blocks.
        let folded = unsafe { folding.fold_part(to_u32(i), part, data, &self.known[0], self.loopback()) };
        self.folding = Some(folding);
        folded
    }

    /// Ends a message of which all chunks have been combined.
    pub(super) fn end_chunks(&mut self, i: usize) {
        if let Some(folding) = &mut self.folding {
            folding.end_parts(to_u32(i));
        }
        self.foldable = true;
        let recv = &mut self.recvs[i];
        (recv.unfolded, recv.in_ring) = (0, false);
    }

    /// True if the block of a source on another node has come.
    fn remote_is_here(&mut self, source: u32) -> Result<bool> {
        match &mut self.remote {
            Some(remote) if self.remote_runs => remote.arrived(source as usize),
            _ => Ok(true),
        }
    }

    /// Leaves the blocks from other nodes out that have not been combined, as not all of them have
    /// come.
    #[cold]
    pub(super) fn skip_remote(&mut self) {
        let Some(folding) = &mut self.folding else { return };
        self.foldable = true;
        for position in 0..folding.chain.len() {
            if matches!(folding.chain[position].origin, Origin::Remote) {
                folding.skip(position);
            }
        }
    }

    /// Leaves the blocks of process `i` out of what is combined.
    pub(super) fn skip_peer(&mut self, i: usize) {
        self.recvs[i].unfolded = 0;
        self.foldable = true;
        if let Some(folding) = &mut self.folding {
            folding.give_up_parts(to_u32(i));
        }
        for position in 0..self.folding.as_ref().map_or(0, |f| f.chain.len()) {
            if let Some(folding) = &mut self.folding
                && matches!(folding.chain[position].origin, Origin::Peer(peer) if peer as usize == i)
            {
                folding.skip(position);
            }
        }
    }
}
