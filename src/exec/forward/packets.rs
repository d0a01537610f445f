//! Assembles packets and takes them apart.

use std::ops::Range;

use super::state::{Forward, Passing};
use crate::datatype::buffers::enlarge;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::schedule::{Block, packet};

/// How a block lies in a packet that this process assembles.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    Bytes(usize),
    /// It shares the bytes of the one before it.
    Same,
    /// Not at all: it is lost, and not longer than this.
    Lost(usize),
}

impl Piece {
    /// The bytes that it takes up.
    fn bytes(self) -> usize {
        if let Piece::Bytes(length) = self { length } else { 0 }
    }

    fn word(self) -> u64 {
        match self {
            Piece::Bytes(length) => length as u64,
            Piece::Same => packet::SAME,
            Piece::Lost(most) => packet::LOST | most as u64,
        }
    }
}

impl Forward {
    fn loopback(&self) -> Loopback<'_> {
        Loopback { me: self.me, tag: self.tag, comm: &self.comm }
    }

    /// Lays out a packet that this process assembles, and makes room for it.
    pub(super) fn lay_out(&mut self, outer: usize) -> Result<()> {
        // lengths from the innermost outward, then positions from the outermost inward
        for i in (0..self.members[outer].len()).rev() {
            let k = self.members[outer][i] as usize;
            let words = self.schedule.packet(k).len() * packet::WORD;
            let length = self.pieces(k).try_fold(words, |sum, (_, piece)| sum.checked_add(piece.bytes()));
            self.packets[k] = 0..length.filter(|&l| isize::try_from(l).is_ok()).ok_or(Error::NoMemory { bytes: usize::MAX })?;
        }
        for i in 0..self.members[outer].len() {
            let k = self.members[outer][i] as usize;
            let mut at = self.packets[k].start + self.schedule.packet(k).len() * packet::WORD;
            for j in 0..self.schedule.packet(k).len() {
                let length = self.piece(k, j).bytes();
                if let Block::Packet(inner) = self.schedule.packet(k)[j] {
                    self.packets[inner as usize] = at..at + length;
                }
                at += length;
            }
        }
        enlarge(&mut self.buffers[outer], self.packets[outer].len())
    }

    /// Returns the blocks of a packet that this process assembles.
    pub(super) fn pieces(&self, k: usize) -> impl Iterator<Item = (Block, Piece)> + '_ {
        (self.schedule.packet(k).iter().enumerate()).map(move |(i, &block)| (block, self.piece(k, i)))
    }

    pub(super) fn piece(&self, k: usize, i: usize) -> Piece {
        let blocks = self.schedule.packet(k);
        let last = if i > 0 { Some(blocks[i - 1]) } else { None };
        match (blocks[i], last) {
            (Block::Packet(k), _) => Piece::Bytes(self.packets[k as usize].len()),
            (Block::Scratch(s), last) => {
                let came = &self.scratch[s as usize];
                let same = matches!(last, Some(Block::Scratch(last)) if self.scratch[last as usize] == *came);
                match came.lost {
                    _ if same => Piece::Same,
                    Some(most) => Piece::Lost(most),
                    None => Piece::Bytes(came.range.len()),
                }
            }
            (block, last) => {
                let own = self.own(block);
                let same = matches!(last, Some(last @ Block::Input(_)) if self.own(last).located == own.located);
                match own.lost {
                    _ if same => Piece::Same,
                    true => Piece::Lost(own.length),
                    false => Piece::Bytes(own.length),
                }
            }
        }
    }

    /// Assembles a packet, without blocks that cannot be packed.
    pub(super) unsafe fn put(&mut self, outer: usize) -> Result<()> {
        if self.passes[outer] {
            self.lay_out(outer)?;
        }
        loop {
            let mut buffer = std::mem::take(&mut self.buffers[outer]);
            // SAFETY: the caller of `bind` vouches for the blocks.
            let put = unsafe { self.put_into(outer, &mut buffer) };
            self.buffers[outer] = buffer;
            let Err((block, error)) = put else { return Ok(()) };
            self.lose_own(block, error);
            self.lay_out(outer)?;
        }
    }

    /// Notes that a block of the caller's cannot be packed.
    #[cold]
    fn lose_own(&mut self, block: Block, error: Box<Error>) {
        self.own_mut(block).lost = true;
        self.spoiled = true;
        self.note(Err(error));
    }

    /// Lays out anew what the last call laid out without blocks that it could not pack.
    #[cold]
    pub(super) fn restore(&mut self) -> Result<()> {
        self.own.iter_mut().for_each(|own| own.lost = false);
        for outer in 0..self.members.len() {
            if !self.members[outer].is_empty() && !self.passes[outer] {
                self.lay_out(outer)?;
            }
        }
        self.spoiled = false;
        Ok(())
    }

    /// Assembles a packet. Fails with the block that cannot be packed.
    unsafe fn put_into(&self, outer: usize, buffer: &mut [u8]) -> std::result::Result<(), (Block, Box<Error>)> {
        for &k in &self.members[outer] {
            let (k, place) = (k as usize, self.packets[k as usize].clone());
            packet::write_lengths(&mut buffer[place.clone()], self.pieces(k).map(|(_, piece)| piece.word()));
            let mut at = place.start + self.schedule.packet(k).len() * packet::WORD;
            for (block, piece) in self.pieces(k) {
                let Piece::Bytes(length) = piece else { continue };
                let into = &mut buffer[at..at + length];
                at += length;
                match block {
                    // a member itself
                    Block::Packet(_) => {}
                    Block::Scratch(s) => {
                        let Passing { buffer, range, .. } = self.scratch[s as usize].clone();
                        into.copy_from_slice(&self.buffers[buffer][range]);
                    }
                    block => {
                        let own = self.own(block);
                        // SAFETY: the caller of `bind` vouches for the block; the buffer is ours.
                        unsafe { own.packing.pack(&own.located, into, self.loopback()) }.map_err(|e| (block, e))?;
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
        let whole = packet::check(&self.buffers[k][..length], blocks);
        // its sender, or this process, says by an empty one that it is lost; a process that lost it
        // on the way, by a notice
        let is_told = length == 0 || packet::is_notice(&self.buffers[k][..length]);
        let mut done = if is_told { Ok(()) } else { whole.clone().map_err(|text| Error::Internal(text).into()) };
        let whole = whole.is_ok();
        // processes that wait for a lost block hear of it
        let (mut range, mut lost) = if whole { (packet::front(blocks), None) } else { (0..0, Some(self.arrived[k])) };
        for i in 0..blocks {
            if whole {
                range = packet::place(&self.buffers[k], i, range);
                lost = packet::lost(&self.buffers[k], i, lost);
            }
            match self.schedule.packet(k)[i] {
                Block::Scratch(s) => self.scratch[s as usize] = Passing { buffer: k, range: range.clone(), lost },
                block if lost.is_some() => done = done.and(Err(Error::LostBlock { source_entry: block.index() }.into())),
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
            unsafe { own.packing.unpack_front(from, &own.located, own.length, self.loopback()) }
        };
        self.buffers[k] = buffer;
        taken
    }
}
