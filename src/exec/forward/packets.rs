//! Assembles packets and takes them apart.

use std::ops::Range;

use super::state::Forward;
use crate::datatype::buffers::enlarge;
use crate::error::{Error, Result};
use crate::schedule::{Block, packet};

impl Forward {
    /// Lays out a packet that this process assembles, and makes room for it.
    pub(super) fn lay_out(&mut self, outer: usize) -> Result<()> {
        // lengths from the innermost outward, then positions from the outermost inward
        for i in (0..self.members[outer].len()).rev() {
            let k = self.members[outer][i] as usize;
            let words = self.schedule.packet(k).len() * packet::WORD;
            let length = self.pieces(k).try_fold(words, |sum, (_, length)| sum.checked_add(length.unwrap_or(0)));
            self.packets[k] = 0..length.filter(|&l| l <= isize::MAX as usize).ok_or(Error::NoMemory { bytes: usize::MAX })?;
        }
        for i in 0..self.members[outer].len() {
            let k = self.members[outer][i] as usize;
            let mut at = self.packets[k].start + self.schedule.packet(k).len() * packet::WORD;
            for j in 0..self.schedule.packet(k).len() {
                let length = self.piece(k, j).unwrap_or(0);
                if let Block::Packet(inner) = self.schedule.packet(k)[j] {
                    self.packets[inner as usize] = at..at + length;
                }
                at += length;
            }
        }
        enlarge(&mut self.buffers[outer], self.packets[outer].len())
    }

    /// Returns the blocks of a packet that this process assembles, with the bytes that each takes
    /// up; `None` for a block that shares the bytes of the one before it.
    pub(super) fn pieces(&self, k: usize) -> impl Iterator<Item = (Block, Option<usize>)> + '_ {
        (self.schedule.packet(k).iter().enumerate()).map(move |(i, &block)| (block, self.piece(k, i)))
    }

    pub(super) fn piece(&self, k: usize, i: usize) -> Option<usize> {
        let blocks = self.schedule.packet(k);
        let last = if i > 0 { Some(blocks[i - 1]) } else { None };
        match (blocks[i], last) {
            (Block::Packet(k), _) => Some(self.packets[k as usize].len()),
            (Block::Scratch(s), last) => {
                let came = &self.scratch[s as usize];
                let same = matches!(last, Some(Block::Scratch(last)) if self.scratch[last as usize] == *came);
                (!same).then_some(came.1.len())
            }
            (block, last) => {
                let own = self.own(block);
                let same = matches!(last, Some(last @ Block::Input(_)) if self.own(last).located == own.located);
                (!same).then_some(own.length)
            }
        }
    }

    /// Assembles a packet.
    pub(super) unsafe fn put(&mut self, outer: usize) -> Result<()> {
        if self.passes[outer] {
            self.lay_out(outer)?;
        }
        let mut buffer = std::mem::take(&mut self.buffers[outer]);
        // SAFETY: the caller of `bind` vouches for the blocks.
        let put = unsafe { self.put_into(outer, &mut buffer) };
        self.buffers[outer] = buffer;
        put
    }

    pub(super) unsafe fn put_into(&self, outer: usize, buffer: &mut [u8]) -> Result<()> {
        for &k in &self.members[outer] {
            let (k, place) = (k as usize, self.packets[k as usize].clone());
            let words = self.pieces(k).map(|(_, length)| length.map_or(packet::SAME, |length| length as u64));
            packet::write_lengths(&mut buffer[place.clone()], words);
            let mut at = place.start + self.schedule.packet(k).len() * packet::WORD;
            for (block, length) in self.pieces(k) {
                let Some(length) = length else { continue };
                let into = &mut buffer[at..at + length];
                at += length;
                match block {
                    // a member itself
                    Block::Packet(_) => {}
                    Block::Scratch(s) => {
                        let (buffer, range) = self.scratch[s as usize].clone();
                        into.copy_from_slice(&self.buffers[buffer][range]);
                    }
                    block => {
                        let own = self.own(block);
                        // SAFETY: the caller of `bind` vouches for the block; the buffer is ours.
                        unsafe { own.packing.pack(&own.located, into, self.me, self.tag, &self.comm) }?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a received packet apart: unpacks the caller's blocks, and notes where those for others
    /// lie.
    pub(super) unsafe fn take(&mut self, k: usize, length: usize) -> Result<()> {
        let blocks = self.schedule.packet(k).len();
        let mut done: Result<()> = packet::check(&self.buffers[k][..length], blocks).map_err(|text| Error::Internal(text).into());
        let whole = done.is_ok();
        // processes that wait for a lost block get an empty one
        let mut range = if whole { packet::front(blocks) } else { 0..0 };
        for i in 0..blocks {
            if whole {
                range = packet::place(&self.buffers[k], i, range);
            }
            match self.schedule.packet(k)[i] {
                Block::Scratch(s) => self.scratch[s as usize] = (k, range.clone()),
                // SAFETY: the caller of `bind` vouches for the block.
                block => done = done.and(unsafe { self.take_own(block, k, range.clone()) }),
            }
        }
        done
    }

    pub(super) unsafe fn take_own(&mut self, block: Block, k: usize, range: Range<usize>) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffers[k]);
        let (own, from) = (self.own(block), &mut buffer[range]);
        let taken = if from.len() > own.length {
            Err(Error::Truncated { source_entry: block.index(), sent: from.len(), expected: own.length }.into())
        } else {
            // SAFETY: the caller of `bind` vouches for the block, of which as many bytes at least
            // lie there; the buffer is ours.
            unsafe { own.packing.unpack_front(from, &own.located, own.length, self.me, self.tag, &self.comm) }
        };
        self.buffers[k] = buffer;
        taken
    }
}
