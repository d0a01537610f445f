//! Feeds the reduction with blocks as they arrive.

use super::fold::{Folding, Origin};
use super::state::{RecvState, Shm};
use crate::error::Result;
use crate::exec::executor::Executor;

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
                let (source, origin) = folding.chain[position];
                let data = match origin {
                    Origin::Peer(i, k) => {
                        let recv = &self.recvs[i as usize];
                        let block = if self.to_all { 0 } else { k as usize };
                        matches!(recv.state, RecvState::Arrived).then(|| recv.data.wrapping_add(block * folding.bytes()))
                    }
                    Origin::Own(target, _) => Some(folding.own_data(target)),
                    Origin::Remote => self.remote_data(source, folding.bytes())?,
                    Origin::Nowhere => None,
                };
                let Some(data) = data else { continue };
                // SAFETY: the caller of `bind` vouches for the result; the block is here.
                let folded = unsafe { folding.fold(position, data, self.loopback()) };
                done = done.and(folded);
                any = true;
                if let Origin::Peer(i, _) = origin {
                    let recv = &mut self.recvs[i as usize];
                    recv.unfolded -= 1;
                    if recv.unfolded == 0 {
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

    /// Returns the block of a source on another node, if it has come.
    fn remote_data(&mut self, source: u32, bytes: usize) -> Result<Option<*const u8>> {
        let there = match &mut self.remote {
            Some(remote) if self.remote_runs => remote.arrived(source as usize)?,
            _ => true,
        };
        let place = self.remote_entries.binary_search(&source).unwrap_or(0);
        Ok(there.then(|| self.scratch.as_ptr().wrapping_add(place * bytes)))
    }

    /// Leaves the blocks of process `i` out of the reduction.
    pub(super) fn skip_peer(&mut self, i: usize) {
        for position in 0..self.folding.as_ref().map_or(0, |f| f.chain.len()) {
            if let Some(folding) = &mut self.folding
                && matches!(folding.chain[position].1, Origin::Peer(peer, _) if peer as usize == i)
            {
                folding.skip(position);
            }
        }
    }
}
