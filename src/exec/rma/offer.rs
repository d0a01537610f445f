//! Blocks that are put straight where they are received: plans attach the memory of their blocks to
//! a window, and tell each source with the answer where the runs of its message lie.
//!
//! Messages are offered such places from a measured length on, and if they have few, long runs:
//! putting into attached memory begins later than putting into the landing area, and each run is a
//! put of its own.

use std::cmp::Reverse;
use std::ops::Range;

use super::answer::{KIND, MOST_RUNS, RUNS, runs_of};
use super::header::{self, Header, Place};
use super::state::{InMessage, OutMessage, Round};
use crate::error::Result;
use crate::exec::blocks::MessageBlock;
use crate::mpi::attached::{Attached, address};
use crate::mpi::passive::Put;

/// From how many bytes on messages are put straight to their blocks where that is not measured.
pub const STRAIGHT_FROM: u64 = 16 << 10;

/// Least bytes of a run, on average, where there are several.
const LEAST_RUN: usize = 16 << 10;

/// Most bytes of a put: what `MPI_Put` can count.
const MOST_PUT: usize = 1 << 30;

/// Gaps between runs that are attached as one range: no page lies in them.
const GAP: usize = 4 << 10;

/// True if a message of so many bytes in so many runs is put straight to its blocks; `from`: if
/// messages of that many bytes are.
pub fn goes_straight(bytes: u64, runs: u64, from: u64) -> bool {
    bytes >= from && (runs <= 1 || bytes / runs >= LEAST_RUN as u64)
}

/// The runs of some blocks as addresses, in the order of the message, joined where one follows the
/// other. `None` if they are too many, or only MPI knows them.
fn runs(blocks: &[MessageBlock]) -> Option<Vec<Range<usize>>> {
    let (mut runs, mut fit): (Vec<Range<usize>>, bool) = (Vec::with_capacity(MOST_RUNS), true);
    let mut found = |at: *const u8, bytes: usize| {
        let begin = at.expose_provenance();
        let is_full = runs.len() == MOST_RUNS;
        match runs.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if last.end == begin => last.end += bytes,
            _ if is_full => fit = false,
            _ => runs.push(begin..begin + bytes),
        }
    };
    let known = blocks.iter().all(|block| block.runs(&mut found));
    (known && fit).then_some(runs)
}

/// The ranges to attach for these runs: disjoint, and as few as can be.
fn ranges(mut runs: Vec<Range<usize>>) -> Vec<Range<usize>> {
    runs.sort_unstable_by_key(|run| run.start);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match ranges.last_mut() {
            Some(last) if run.start < last.end.saturating_add(GAP) => last.end = last.end.max(run.end),
            _ => ranges.push(run),
        }
    }
    ranges
}

impl InMessage {
    /// True if its source has been told where it may put.
    pub(super) fn is_offered(&self) -> bool {
        !self.offer.is_empty()
    }
}

impl Round {
    /// Lets sources put straight into the bound blocks, where that pays, as the same blocks are
    /// received again and again. Local.
    ///
    /// # Safety
    /// The blocks must stay what they are until the executor is bound anew or dropped.
    pub unsafe fn offer_blocks(&mut self) {
        let Self { ins, outputs, to_all, link, attached, folding, .. } = self;
        let Ok(window) = link.landing.attached() else { return };
        if folding.is_some() {
            return;
        }
        let offered = |recv: &InMessage| {
            // a block that goes to all targets travels once
            let once = *to_all && recv.blocks.len() > 1;
            let (bytes, from) = (recv.bytes as u64, link.straight_from);
            let runs = if once || !goes_straight(bytes, 1, from) { None } else { runs(&outputs[recv.blocks.clone()]) };
            runs.filter(|runs| goes_straight(bytes, runs.len() as u64, from))
        };
        let all: Vec<Option<Vec<Range<usize>>>> = ins.iter().map(offered).collect();
        *attached = ranges(all.iter().flatten().flatten().cloned().collect());
        // where there are too many, the longest are
        attached.sort_unstable_by_key(|range| Reverse(range.len()));
        // SAFETY: the caller vouches for the blocks; a page with a byte of them is memory.
        attached.retain(|range| unsafe { window.attach(range) });
        for (recv, runs) in ins.iter_mut().zip(all) {
            let is_attached = |run: &Range<usize>| attached.iter().any(|range| range.start <= run.start && run.end <= range.end);
            let Some(runs) = runs.filter(|runs| runs.iter().all(is_attached)) else { continue };
            let mut offer = vec![RUNS | (runs.len() as u64) << KIND];
            let told = runs.iter().try_for_each(|run| {
                offer.extend([address(std::ptr::with_exposed_provenance(run.start))?, run.len() as u64]);
                Result::Ok(())
            });
            if told.is_ok() {
                recv.offer = offer;
            }
        }
    }

    /// Takes back what `offer_blocks` has offered. What somebody may still put to stays attached.
    pub(super) fn withdraw_offers(&mut self) {
        let Self { ins, attached, link, stuck, .. } = self;
        ins.iter_mut().for_each(|recv| recv.offer.clear());
        // MPI may wait for a process that has died while it looked what is attached
        let stays = *stuck || link.is_closed() || !link.dead().is_empty();
        let ranges = std::mem::take(attached);
        if let Ok(window) = link.landing.attached()
            && !stays
        {
            ranges.iter().for_each(|range| window.detach(range));
        }
    }

    /// Puts to those of some targets that let it and have said where their blocks lie, and
    /// completes that; their headers are left to be put. Where lengths differ, all is left.
    pub(super) fn put_to_blocks(&mut self, targets: Range<usize>) {
        let Self { outs, inputs, to_all, staging, link, failure, stuck, stays, .. } = self;
        let Ok(window) = link.landing.attached() else { return };
        for out in &mut outs[targets.clone()] {
            if out.left {
                continue;
            }
            let total = runs_of(&out.answer).fold(0, |sum: u64, run| sum.saturating_add(run.1));
            out.straight = !out.spoiled && total == out.bytes as u64 && total > 0;
            if !out.straight {
                continue;
            }
            let blocks = if *to_all { &inputs[..1] } else { &inputs[out.blocks.clone()] };
            let packed = (out.in_place).or_else(|| (!out.in_pieces).then(|| staging[out.staged + header::BYTES..].as_ptr()));
            // SAFETY: header and staging buffer are the executor's; the caller of `bind` vouches
            // for the blocks.
            let put = unsafe { put_pieces(window, out, packed, blocks) };
            out.tell(if put.is_ok() { Place::There } else { Place::Nowhere });
            if let Err(e) = put {
                failure.get_or_insert(e);
            }
        }
        let put = |out: &OutMessage| !out.left && out.straight;
        for out in outs[targets].iter_mut().filter(|out| put(out)) {
            let Err(e) = window.flush(out.slot.rank) else { continue };
            failure.get_or_insert(e);
            // once more: what is refused may still be under way to memory of the program's
            if window.flush(out.slot.rank).is_err() {
                (*stuck, *stays) = (true, true);
                out.tell(Place::Nowhere);
            }
        }
    }
}

impl OutMessage {
    /// True if its blocks can be put from where they lie.
    pub(super) fn has_pieces(&self, blocks: &[MessageBlock]) -> bool {
        self.in_place.is_none()
            && blocks.len() <= MOST_RUNS
            && self.bytes >= blocks.len() * LEAST_RUN
            && blocks.iter().all(|block| block.in_place().is_some())
    }

    /// Makes its header say where it is.
    pub(super) fn tell(&mut self, place: Place) {
        self.words = Header { number: self.number, bytes: self.bytes as u64, place }.words();
    }
}

/// Puts a message to the runs of its target: from `packed`, or from its contiguous blocks.
///
/// # Safety
/// The message must be readable, and not be written, until the target has been flushed.
unsafe fn put_pieces(window: &Attached, out: &OutMessage, packed: Option<*const u8>, blocks: &[MessageBlock]) -> Result<()> {
    let mut runs = runs_of(&out.answer);
    let (mut offset, mut room) = (0u64, 0u64);
    let mut send = |mut at: *const u8, mut bytes: usize| {
        while bytes > 0 {
            while room == 0 {
                // as long as the message: all runs together
                let Some(run) = runs.next() else { return Ok(()) };
                (offset, room) = run;
            }
            let part = bytes.min(MOST_PUT).min(usize::try_from(room).unwrap_or(usize::MAX));
            // SAFETY: the caller vouches for the bytes.
            unsafe { window.put(Put { at, bytes: part, target: out.slot.rank, offset }) }?;
            (at, bytes) = (at.wrapping_add(part), bytes - part);
            (offset, room) = (offset + part as u64, room - part as u64);
        }
        Ok(())
    };
    match packed {
        Some(at) => send(at, out.bytes),
        None => blocks.iter().try_for_each(|block| block.in_place().map_or(Ok(()), |at| send(at, block.bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_runs_are_attached_as_one() {
        assert_eq!(ranges(vec![100_000..100_010, 0..8, 16..20, 10..16]), [0..20, 100_000..100_010]);
        assert_eq!(ranges(vec![0..8, 8 + GAP..9 + GAP]), [0..8, 8 + GAP..9 + GAP]);
        assert_eq!(ranges(vec![0..100, 10..20, 200_000..200_001]), [0..100, 200_000..200_001]);
    }
}
