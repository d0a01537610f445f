//! The part of a window that takes operations of the caller: it adds them to batches, or does them
//! if they are on elements of the caller.

use super::batch::Kind;
use super::elements::{Dense, Elements};
use super::operators::Operator;
use super::peer::Peer;
use super::runs::Run;
use super::state::State;
use super::words::{self, Step};
use crate::datatype::buffers::enlarge;
use crate::error::Result;
use crate::mpi::Op;
use crate::mpi::comm::Owned as Comm;
use crate::observe::Medium;
use crate::util::cast::{to_int, to_offset};

/// Operations on elements of one process.
#[derive(Clone, Copy)]
pub struct Operations<'a> {
    /// Their kind.
    pub kind: Kind,
    /// The operator, if they have one.
    pub op: Option<Op>,
    /// The first value, if they have one for each element.
    pub origin: *const u8,
    /// The first value to compare with, if they do.
    pub compare: *const u8,
    /// Where the first element goes that they return.
    pub result: *mut u8,
    /// The process.
    pub target: u32,
    /// The elements.
    pub indices: &'a [i64],
}

/// An operation on one word.
#[derive(Clone, Copy)]
pub struct One {
    /// Its kind.
    pub kind: Kind,
    /// Its operator's number, or 0.
    pub operator: u8,
    /// The element.
    pub index: u64,
    /// The value, and the one to compare with, if it has them.
    pub values: [*const u8; 2],
    /// Where the word goes that it returns, if it does.
    pub result: *mut u8,
}

impl State {
    /// Adds operation `k` to the batch of its target, where there is room.
    ///
    /// # Safety
    /// Its values must be readable.
    #[inline]
    pub unsafe fn add_one(&mut self, operations: &Operations, operator: u8, k: usize) -> Result<()> {
        let Operations { kind, target, indices, .. } = *operations;
        let State { elements, operators, self_comm, peers, packed, .. } = self;
        let Some(peer) = &mut peers[target as usize] else { return Ok(()) };
        // SAFETY: the caller vouches for the values.
        let values = unsafe { values_of(operations, k, elements, packed, self_comm) }?;
        let index = indices[k].cast_unsigned();
        let Peer { batch: Some(batch), repeats, .. } = &mut **peer else { return Ok(()) };
        if let Some(repeats) = repeats
            && kind == Kind::Accumulate
        {
            if batch.goes_on(kind, operator)
                && let Some(at) = repeats.find(index)
                && let Some(Operator::Combine(how)) = operators.find(operator)
                && how.commutes()
            {
                return elements.combine_values(batch.value_mut(at, elements.size), values[0], how, self_comm);
            }
            let (at, begins) = batch.push(kind, operator, index, elements.size, values);
            if begins {
                repeats.forget();
            }
            repeats.note(index, at);
            return Ok(());
        }
        batch.push(kind, operator, index, elements.size, values);
        Ok(())
    }

    /// Adds an operation on one word to the batch of its target. Returns false, and does nothing,
    /// if the batch has no group that it goes on with, or no room.
    ///
    /// # Safety
    /// Its values must be readable, and the place of its result writable.
    #[inline(always)]
    pub unsafe fn add_word(&mut self, target: u32, size: usize, operation: One) -> bool {
        let One { kind, operator, index, values, result } = operation;
        // a process with operations in its batch is listed
        let Some(Some(peer)) = self.peers.get_mut(target as usize) else { return false };
        let Some(batch) = &mut peer.batch else { return false };
        // SAFETY: the caller vouches for the values.
        let added = unsafe {
            match size {
                8 => batch.push_on::<8>(kind, operator, index, words_at(kind, values)),
                _ => batch.push_on::<4>(kind, operator, index, words_at(kind, values)),
            }
        };
        if added && kind.returns() && peer.expect(result, 1, to_offset(self.elements.extent())) {
            self.awaited += 1;
        }
        added
    }

    /// Does an operation that returns something on a word of this process. Returns false, and does
    /// nothing, if others come before it, or only MPI can do it.
    ///
    /// # Safety
    /// The elements must be `words`, the values readable, the place of the result writable, and the
    /// index one of this window.
    #[inline(always)]
    pub unsafe fn apply_own_word(&self, rank: u32, words: Dense, operation: One) -> bool {
        let One { kind, operator, index, values, result } = operation;
        if let Some(Some(own)) = self.peers.get(rank as usize)
            && own.has_operations()
        {
            return false;
        }
        let Some(step) = Step::of(kind, || self.operators.find(operator)) else { return false };
        // SAFETY: the caller vouches for all of them.
        unsafe { words::apply_one(step, words, index, values, result) };
        true
    }

    /// Returns true if operations on words of this process may wait in a batch: a loop applies many
    /// of them in less time than single ones.
    pub fn may_wait(&self, kind: Kind, operator: u8) -> bool {
        !kind.returns() && Step::of(kind, || self.operators.find(operator)).is_some()
    }

    /// Applies the operations on elements of this process that wait in a batch.
    pub fn apply_waiting(&mut self, rank: u32) {
        if let Some(own) = &mut self.peers[rank as usize]
            && own.has_operations()
            && let Some(mut batch) = own.batch.take()
        {
            self.apply(rank, batch.reader());
            self.recycle(batch);
        }
    }

    /// Does operations on elements of this process. As elsewhere, the error of one that MPI cannot
    /// apply is that of the next flush, and of the epoch: the others are applied.
    ///
    /// # Safety
    /// The values must be readable, the places of results writable, and the indices of this window.
    pub unsafe fn apply_own(&mut self, operations: &Operations, operator: u8) -> Result<()> {
        let Operations { kind, result, indices, .. } = *operations;
        let bytes = indices.len() * self.elements.size * (kind.values() + usize::from(kind.returns()));
        self.record.iter().for_each(|record| record.sent(Medium::Own, indices.len(), bytes as u64));
        // SAFETY: the caller vouches for the values.
        let copied = unsafe { self.copy_overlapping(operations) }?;
        if kind.returns() {
            enlarge(&mut self.before, self.elements.size)?;
        }
        let (mut packed, mut before) = (std::mem::take(&mut self.packed), std::mem::take(&mut self.before));
        let (extent, size) = (self.elements.extent(), self.elements.size);
        for (k, &index) in indices.iter().enumerate() {
            // SAFETY: the caller vouches for all of them.
            let applied = unsafe {
                let values = match &copied {
                    None => values_of(operations, k, &self.elements, &mut packed, &self.self_comm),
                    Some(copied) => Ok(copied.each_ref().map(|all| all.get(k * size..(k + 1) * size).unwrap_or_default())),
                };
                let returned = kind.returns().then_some(&mut before[..]);
                let mut applied =
                    values.and_then(|values| self.apply_one(kind, operator, index.cast_unsigned(), values, returned));
                if kind.returns() {
                    if applied.is_err() {
                        before.fill(0);
                    }
                    let at = result.wrapping_offset(to_offset(extent.wrapping_mul(to_int(k))));
                    applied = applied.and(self.elements.store(&before, at, &self.self_comm));
                }
                applied
            };
            if let Err(error) = applied {
                self.loss.get_or_insert(error);
                self.unapplied = true;
            }
        }
        (self.packed, self.before) = (packed, before);
        Ok(())
    }

    /// Copies the values of operations on elements of this process if some may lie among these: an
    /// operation would change the value of the next one.
    ///
    /// # Safety
    /// The values must be readable.
    unsafe fn copy_overlapping(&self, operations: &Operations) -> Result<Option<[Vec<u8>; 2]>> {
        let &Operations { kind, origin, compare, indices, .. } = operations;
        let State { elements, self_comm, .. } = self;
        let values = &[origin, compare][..kind.values()];
        if indices.len() < 2 || !values.iter().any(|&at| elements.may_overlap(at, indices.len())) {
            return Ok(None);
        }
        let mut copied = [Vec::new(), Vec::new()];
        for (&at, into) in values.iter().zip(&mut copied) {
            enlarge(into, indices.len() * elements.size)?;
            // SAFETY: the caller vouches for the values.
            unsafe { elements.load_all(at, into, self_comm) }?;
        }
        Ok(Some(copied))
    }

    /// Adds operations on `number` elements that are evenly spaced, from operation `k` on, to the
    /// batch of their target, where there is room.
    ///
    /// # Safety
    /// Their values must be readable.
    pub unsafe fn add_run(
        &mut self,
        operations: &Operations,
        operator: u8,
        k: usize,
        number: usize,
        distance: i64,
    ) -> Result<()> {
        let Operations { kind, origin, target, indices, .. } = *operations;
        let run = Run { first: indices[k].cast_unsigned(), distance };
        let State { elements, self_comm, peers, .. } = self;
        let Some(batch) = peers[target as usize].as_mut().and_then(|peer| peer.batch.as_mut()) else { return Ok(()) };
        let mark = batch.mark();
        let values = batch.push_run(kind, operator, run, to_int(number), elements.size);
        if values.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller vouches for the values.
        let loaded = unsafe {
            let from = elements.after(origin.cast_mut(), k);
            elements.load_all(from, values, self_comm)
        };
        // what could not be packed must not travel
        loaded.inspect_err(|_| batch.rewind(mark))
    }

    /// Notes where the elements go that an operation returns.
    #[inline]
    pub fn expect(&mut self, rank: u32, at: *mut u8, elements: usize) {
        if self.elements.size == 0 {
            return;
        }
        let extent = to_offset(self.elements.extent());
        if self.peer(rank).expect(at, elements, extent) {
            self.awaited += 1;
        }
    }
}

/// Returns the values that an operation has, and zeros in place of those that it has not.
///
/// # Safety
/// They must be readable, and not be written, as long as they are used.
#[inline]
unsafe fn words_at<'v, const SIZE: usize>(kind: Kind, values: [*const u8; 2]) -> [&'v [u8; SIZE]; 2] {
    let word = |part: usize| {
        // SAFETY: the caller vouches for the values.
        if part < kind.values() { unsafe { &*values[part].cast() } } else { &[0; SIZE] }
    };
    [word(0), word(1)]
}

/// Returns the values that operation `k` has: the caller's, or a packed copy.
///
/// # Safety
/// They must be readable, and not be written, as long as they are used.
#[inline]
unsafe fn values_of<'v>(
    operations: &Operations,
    k: usize,
    elements: &Elements,
    packed: &'v mut [Vec<u8>; 2],
    self_comm: &Comm,
) -> Result<[&'v [u8]; 2]> {
    let &Operations { kind, origin, compare, .. } = operations;
    let offset = to_offset(elements.extent().wrapping_mul(to_int(k)));
    let mut values: [&[u8]; 2] = [&[]; 2];
    for (part, own) in packed.iter_mut().enumerate().take(kind.values()) {
        let from = [origin, compare][part].wrapping_offset(offset);
        // SAFETY: the caller vouches for the values.
        values[part] = unsafe {
            if let Some(data) = elements.in_place(from) {
                data
            } else {
                enlarge(own, elements.size)?;
                elements.load(from, own, self_comm)?;
                own
            }
        };
    }
    Ok(values)
}
