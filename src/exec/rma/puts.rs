//! Puts and sends a process's messages to a target that has answered.
//!
//! The target waits for each of them. If MPI refuses a send, a message without data takes its
//! place. If MPI keeps the process from putting, or from learning whether it may, a message of its
//! own says so, which the target looks for now and then (`failure`).

use std::ops::Range;

use super::answer::{lets_put, wants_messages};
use super::header::{self, Place};
use super::link::{data_tag, refusal_tag};
use super::slots::Slot;
use super::state::{OutMessage, Round};
use crate::error::{Error, Result};
use crate::mpi::landing::Flag;
use crate::mpi::message::{self, Block, Mode, Request, bytes_at};
use crate::mpi::passive::Put;
use crate::observe::Medium;

impl Round {
    /// Puts, and sends what cannot be put, to those of some targets that have answered and whose
    /// messages have not left.
    pub(super) fn access(&mut self, targets: Range<usize>) {
        self.put_to_blocks(targets.clone());
        for k in targets.clone() {
            let out = &mut self.outs[k];
            if !out.left && !out.straight && std::mem::take(&mut out.in_pieces) {
                self.pack(k);
                let out = &mut self.outs[k];
                if out.spoiled {
                    out.tell(Place::Nowhere);
                }
            }
        }
        let lets = |out: &OutMessage| !out.left && lets_put(&out.answer);
        if self.fence.is_some() {
            self.put_before_fence(targets.clone());
        } else if self.link.is_passive() {
            self.put_and_raise(targets.clone(), lets);
        } else if targets.len() == self.link.targets.len() && self.outs.iter().all(lets) {
            self.put_in_epoch(targets.clone());
        } else {
            targets.clone().for_each(|k| {
                if lets(&self.outs[k]) {
                    self.put_in_epoch(k..k + 1);
                }
            });
        }
        let (mut messages, mut bytes) = (0, 0);
        for k in targets {
            if self.outs[k].left {
                continue;
            }
            self.outs[k].left = true;
            (messages, bytes) = (messages + 1, bytes + self.outs[k].bytes as u64);
            if let Err(e) = self.send(k) {
                self.note(e);
            }
        }
        if let Some(record) = &self.record {
            record.sent(Medium::Mpi, messages, bytes);
        }
    }

    /// Puts to one target, or to all, in an epoch of its own, which ends even if a put fails.
    fn put_in_epoch(&mut self, targets: Range<usize>) {
        if targets.is_empty() {
            return;
        }
        // once more if MPI refuses: no other epoch than this one ends those of the targets
        let started = self.start_epoch(&targets).or_else(|e| {
            self.note(e);
            self.start_epoch(&targets)
        });
        let done = started.and_then(|()| {
            self.put(targets.clone(), |_| true);
            // what is refused here may still be under way
            self.link.landing.complete().inspect_err(|_| (self.stuck, self.stays) = (true, true))
        });
        if let Err(e) = done {
            self.outs[targets].iter_mut().for_each(|out| out.refused = true);
            self.note(e);
        }
    }

    fn start_epoch(&self, targets: &Range<usize>) -> Result<()> {
        let Self { outs, link, .. } = self;
        let all = targets.len() == link.targets.len();
        link.landing.start(if all { &link.targets_group } else { &link.target_groups[outs[targets.start].position] })
    }

    /// Puts to those targets that let it. One for which a put fails finds no header.
    pub(super) fn put(&mut self, targets: Range<usize>, lets: impl Fn(&OutMessage) -> bool) {
        let Self { outs, link, staging, failure, .. } = self;
        for k in targets {
            if !lets(&outs[k]) {
                continue;
            }
            // SAFETY: headers and staging buffer are the executor's; the caller of `bind` vouches
            // for the blocks.
            if let Err(e) = unsafe { link.landing.put(puts_of(&outs[k], staging)) } {
                // no data by message either, for which nobody would wait
                outs[k].spoiled = true;
                failure.get_or_insert(e);
            }
        }
    }

    /// Puts to those targets that let it, and raises their flags: of one without its header, too,
    /// but only once its puts have been completed.
    fn put_and_raise(&mut self, targets: Range<usize>, lets: impl Fn(&OutMessage) -> bool) {
        self.put(targets.clone(), &lets);
        let Self { outs, link, failure, stuck, stays, .. } = self;
        let mut each = |outs: &mut [OutMessage], run: &dyn Fn(&OutMessage) -> Result<()>| {
            for k in targets.clone() {
                if lets(&outs[k])
                    && !outs[k].refused
                    && let Err(e) = run(&outs[k])
                {
                    (outs[k].refused, *stuck, *stays) = (true, true, true);
                    failure.get_or_insert(e);
                }
            }
        };
        each(outs, &|out| link.landing.flush(out.slot.rank));
        each(outs, &|out| link.landing.raise(Flag { value: out.number, target: out.slot.rank, offset: out.slot.flag() }));
    }

    /// Sends what target `k` does not get by a put.
    fn send(&mut self, k: usize) -> Result<()> {
        let Self { outs, link, fence, staging, .. } = self;
        let out = &mut outs[k];
        let (slot, number) = (out.slot, out.number);
        let is_told = lets_put(&out.answer) || wants_messages(&out.answer);
        let send = |request: &mut Request, data: &Block, tag: i32| {
            // SAFETY: headers, answers and staging buffer are the executor's, and stay until the
            // call is complete; the caller of `bind` vouches for the blocks.
            *request = unsafe { message::send(Mode::Standard, data, slot.rank, tag, link.comm()) }?;
            Ok(())
        };
        let nothing = bytes_at((&raw const out.answer).cast(), 0);
        if out.refused || !is_told {
            // who has died waits for nothing, and a barrier tells the others
            let waits = fence.is_none() && !link.dead().contains(&slot.rank);
            let told = bytes_at((&raw const out.number).cast(), size_of::<u64>() as u64);
            return if waits { send(&mut out.sends[0], &told, refusal_tag(number)) } else { Ok(()) };
        }
        let tag = data_tag(number);
        let send = |request: &mut Request, data: &Block| {
            // if this is refused, too, nothing is left that could tell the target
            send(request, data, tag).or_else(|e: Box<Error>| send(request, &nothing, tag).and(Err(e)))
        };
        let by_message = wants_messages(&out.answer);
        if by_message {
            let place = if out.spoiled { Place::Nowhere } else { Place::Message };
            out.tell(place);
            send(&mut out.sends[0], &bytes_at(out.words.as_ptr().cast(), header::BYTES as u64))?;
        }
        if !out.spoiled && (by_message || (!out.straight && out.bytes as u64 > slot.capacity)) {
            let at = out.in_place.unwrap_or_else(|| staging[out.staged + header::BYTES..].as_ptr());
            send(&mut out.sends[1], &bytes_at(at, out.bytes as u64))?;
        }
        Ok(())
    }
}

/// The puts for one target, in order: its whole message, or only a header that says where the rest
/// is. A message counts once its header is there.
fn puts_of(out: &OutMessage, staging: &[u8]) -> impl Iterator<Item = Put> {
    let Slot { rank: target, offset, capacity } = out.slot;
    let header = Put { at: out.words.as_ptr().cast(), bytes: header::BYTES, target, offset };
    let puts = if out.spoiled || out.straight || out.bytes as u64 > capacity {
        [Some(header), None]
    } else if let Some(at) = out.in_place.or_else(|| out.apart.then(|| staging[out.staged + header::BYTES..].as_ptr())) {
        [Some(Put { at, bytes: out.bytes, offset: offset + header::BYTES as u64, ..header }), Some(header)]
    } else {
        [Some(Put { at: staging[out.staged..].as_ptr(), bytes: header::BYTES + out.bytes, ..header }), None]
    };
    puts.into_iter().flatten()
}
