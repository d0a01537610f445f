//! Combines the blocks of a message that comes in parts, each part while it lies in the cache.
//!
//! Nothing else is combined between the first part and the last one: in a result into which only
//! the first parts of a block have been copied, another block would find nothing to be combined
//! with.

use std::ops::Range;

use super::{ChainEntry, Folding, Operand, Origin};
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::Result;
use crate::schedule::FoldOrder;

impl Folding {
    /// The blocks of a peer: their positions, and where they are in its message.
    fn of_peer(&self, peer: u32) -> impl Iterator<Item = (usize, ChainEntry)> + '_ {
        self.chain.iter().copied().enumerate().filter(move |(_, entry)| entry.origin == Origin::Peer(peer))
    }

    /// True if the blocks of a peer can be combined in parts whose lengths are multiples of `unit`
    /// bytes: if parts end between elements, and if the order lets no block of another source come
    /// between them.
    pub fn takes_parts_of(&self, peer: u32, unit: usize) -> bool {
        let mut previous: Option<(usize, usize)> = None;
        for (position, entry) in self.of_peer(peer) {
            let size = match &self.operand {
                Operand::Result(reduction) => reduction.element_in_place(),
                Operand::Places(accumulation) => accumulation.element(position),
            };
            if !size.is_some_and(|size| unit.is_multiple_of(size) && entry.offset.is_multiple_of(size)) {
                return false;
            }
            let follows = |(before, offset)| offset <= entry.offset && (self.order == FoldOrder::Any || before + 1 == position);
            if !previous.is_none_or(follows) {
                return false;
            }
            previous = Some((position, entry.offset));
        }
        previous.is_some()
    }

    /// True if blocks like those that come here may be combined in parts, for all that this process
    /// knows.
    pub fn may_take_parts(&self) -> bool {
        match &self.operand {
            _ if self.chain.is_empty() => true,
            Operand::Result(reduction) => reduction.element_in_place().is_some(),
            Operand::Places(accumulation) => (0..self.chain.len()).any(|position| accumulation.element(position).is_some()),
        }
    }

    /// Returns the peer whose message is being combined in parts.
    pub fn peer_in_parts(&self) -> Option<u32> {
        self.in_parts
    }

    /// Returns where the block comes from whose turn it is; `None` if any block may be next.
    pub fn next_origin(&self) -> Option<Origin> {
        match self.order {
            FoldOrder::Source => self.chain.get(self.next).map(|entry| entry.origin),
            FoldOrder::Any => None,
        }
    }

    /// Combines bytes `part` of a peer's message, the next ones, with the blocks that they belong
    /// to.
    ///
    /// # Safety
    /// The peer's blocks must take parts, and their turn have come. `data` must be readable for the
    /// bytes of the part, and result or places writable.
    pub unsafe fn fold_part(
        &mut self,
        peer: u32,
        part: Range<usize>,
        data: *const u8,
        known: &Known,
        loopback: Loopback,
    ) -> Result<()> {
        self.in_parts = Some(peer);
        let (mut done, mut before) = (Ok(()), 0);
        for position in 0..self.chain.len() {
            let ChainEntry { source, origin, offset } = self.chain[position];
            if origin != Origin::Peer(peer) {
                continue;
            }
            let (begin, end) = (part.start.max(offset), part.end.min(offset + self.bytes(source)));
            if begin < end {
                let data = data.wrapping_add(begin - part.start);
                let part = begin - offset..end - offset;
                // SAFETY: as the caller vouches.
                let folded = unsafe {
                    match &mut self.operand {
                        Operand::Result(reduction) => {
                            reduction.fold_part(part, data, before);
                            Ok(())
                        }
                        Operand::Places(accumulation) => accumulation.combine_part(position, part, data, known, loopback),
                    }
                };
                done = done.and(folded);
            }
            before += 1;
        }
        done
    }

    /// Ends the message of a peer, all parts of which have been combined.
    pub fn end_parts(&mut self, peer: u32) {
        for position in 0..self.chain.len() {
            if self.chain[position].origin == Origin::Peer(peer) {
                self.skip(position);
                if let Operand::Result(reduction) = &mut self.operand {
                    reduction.count();
                }
            }
        }
        self.in_parts = None;
    }

    /// Forgets a message of which no more parts will come.
    pub fn give_up_parts(&mut self, peer: u32) {
        if self.in_parts == Some(peer) {
            self.in_parts = None;
        }
    }
}
