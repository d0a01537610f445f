//! The part of a window that serves other processes: it applies operations that come, answers, and
//! takes what comes back.

use std::collections::VecDeque;
use std::sync::Arc;

use super::batch::{Batch, Content, Group, HEADER, Header, Kind, Reader, SPARE};
use super::elements::{Dense, Elements};
use super::operators::{Operator, Operators};
use super::peer::{MOST_UNACKNOWLEDGED, Peer};
use super::rings::{Rings, Short};
use super::runs::Run;
use super::words::{self, Step};
use crate::error::{Class, Error, Result};
use crate::exec::elements::fold_in_place;
use crate::mpi::Op;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::observe::{Medium, Record};
use crate::util::cast::{to_int, to_offset};

/// The tag of all messages.
const TAG: i32 = 0;

/// Operations on elements of one process.
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

/// A message on its way.
struct Sending {
    request: Request,
    batch: Batch,
}

/// A batch of the next epoch.
struct Early {
    source: u32,
    header: Header,
    length: usize,
    bytes: Vec<u8>,
}

/// The part of a window that serves other processes, and takes their answers.
pub struct State {
    /// Of all messages, which posted receives take.
    comm: Arc<Comm>,
    /// A communicator that holds only this process, for MPI's checks and packing.
    pub self_comm: Comm,
    /// This process's elements.
    pub elements: Elements,
    /// The operators.
    pub operators: Operators,
    peers: Vec<Option<Box<Peer>>>,
    /// Bytes of the longest message.
    capacity: usize,
    /// True if accumulations of one index are sent as one.
    aggregates: bool,
    /// Epochs ended so far; wraps around.
    pub epoch: u32,
    sending: VecDeque<Sending>,
    /// The processes of the node that messages go to through memory.
    rings: Option<Rings>,
    /// Counts messages and operations, if the environment asks for it.
    pub record: Option<Arc<Record>>,
    /// Batches to be used again.
    pool: Vec<Batch>,
    early: VecDeque<Early>,
    /// Places of all peers that still wait for their elements.
    awaited: usize,
    /// The first operation of another process that could not be applied, or was lost.
    pub loss: Option<Box<Error>>,
    /// The data of an element whose data is not contiguous.
    packed: [Vec<u8>; 2],
    /// The data of an element before an operation.
    before: Vec<u8>,
}

impl State {
    /// The state of a window of `size` processes without operations.
    pub fn new(
        comm: Arc<Comm>,
        self_comm: Comm,
        elements: Elements,
        rings: Option<Rings>,
        capacity: usize,
        aggregates: bool,
        size: u32,
    ) -> State {
        let size_of_element = elements.size;
        State {
            comm,
            self_comm,
            elements,
            operators: Operators::default(),
            peers: (0..size).map(|_| None).collect(),
            capacity,
            aggregates,
            epoch: 0,
            sending: VecDeque::new(),
            rings,
            record: None,
            pool: Vec::new(),
            early: VecDeque::new(),
            awaited: 0,
            loss: None,
            packed: [vec![0; size_of_element], vec![0; size_of_element]],
            before: vec![0; size_of_element],
        }
    }

    /// Returns an empty batch for a process.
    fn fresh(&mut self, rank: u32) -> Batch {
        if let Some(rings) = &mut self.rings
            && let Some(at) = rings.of(rank)
        {
            return Batch::over(rings.lease(at));
        }
        self.pool.pop().unwrap_or_else(|| Batch::new(self.capacity))
    }

    /// Takes a batch back that is no longer used.
    pub fn recycle(&mut self, mut batch: Batch) {
        match (batch.buffer(), &mut self.rings) {
            (Some(buffer), Some(rings)) => rings.release(buffer),
            (Some(_), None) => {}
            (None, _) => {
                batch.clear();
                self.pool.push(batch);
            }
        }
    }

    /// Returns what is known of another process.
    #[inline]
    pub fn peer(&mut self, rank: u32) -> &mut Peer {
        if self.peers[rank as usize].is_none() {
            let batch = self.fresh(rank);
            self.peers[rank as usize] = Some(Box::new(Peer::new(batch, self.aggregates)));
        }
        self.peers[rank as usize].as_mut().expect("made above")
    }

    /// Returns a process's batch to be sent, and begins a new one.
    pub fn take_batch(&mut self, rank: u32) -> Batch {
        let fresh = self.fresh(rank);
        let peer = self.peer(rank);
        if let Some(repeats) = &mut peer.repeats {
            repeats.forget();
        }
        std::mem::replace(&mut peer.batch, fresh)
    }

    /// Returns the header of a message to a process, which acknowledges what came from there.
    pub fn header(&mut self, rank: u32, content: Content) -> Header {
        let epoch = self.epoch;
        let peer = self.peer(rank);
        peer.reported = peer.applied;
        Header { content, lost: false, epoch, applied: peer.applied, before: peer.sent }
    }

    /// Sends a message. Never waits.
    pub fn send(&mut self, rank: u32, content: Content, mut batch: Batch) -> Result<()> {
        let (header, buffer) = (self.header(rank, content), batch.buffer());
        let message = batch.message(header);
        if let Some(buffer) = buffer
            && let Some(rings) = &mut self.rings
            && let Some(at) = rings.of(rank)
        {
            rings.send(at, buffer, message)?;
            self.record.iter().for_each(|record| record.sent(Medium::Shared, 1, message.len() as u64));
            return Ok(());
        }
        let block = bytes_at(message.as_ptr(), message.len() as u64);
        // SAFETY: the bytes are on the heap, and kept until the send is complete.
        let send = || unsafe { message::send(Mode::Standard, &block, rank, TAG, &self.comm) };
        let (request, refused) = match send() {
            Ok(request) => (request, Ok(())),
            // once more if MPI refuses: its target may wait for this one
            Err(e) => (send()?, Err(e)),
        };
        self.sending.push_back(Sending { request, batch });
        refused.and(self.reap())
    }

    /// Takes what has come through memory. Returns true if something has.
    pub fn take_from_memory(&mut self) -> Result<bool> {
        let links = self.rings.as_ref().map_or(0, Rings::count);
        let mut came = false;
        for at in 0..links {
            // a process that sends as fast as this one takes keeps none of the others waiting
            for _ in 0..MOST_UNACKNOWLEDGED {
                let (Some(rings), mut short) = (&self.rings, Short::default()) else { break };
                // SAFETY: the message is used until it is taken out below.
                let Some(arrived) = (unsafe { rings.next(at, &mut short) }) else { break };
                let taken = self.take(arrived.source, arrived.bytes, arrived.length);
                self.rings.iter_mut().for_each(|rings| rings.take_out(at));
                came = true;
                taken?;
            }
        }
        Ok(came)
    }

    /// Takes back the batches that have been sent, in order.
    pub fn reap(&mut self) -> Result<()> {
        while let Some(first) = self.sending.front_mut()
            && first.request.test()?
        {
            if let Some(sent) = self.sending.pop_front() {
                self.recycle(sent.batch);
            }
        }
        Ok(())
    }

    /// Returns true if nothing of this process's is under way: all that it has sent has gone, and
    /// all that its operations return has come.
    pub fn is_done(&self) -> bool {
        self.sending.is_empty() && self.awaited == 0
    }

    /// Returns true if no element is awaited.
    pub fn has_all_results(&self) -> bool {
        self.awaited == 0
    }

    /// Leaves memory to messages that may still be under way, in buffers of the rings too if
    /// `in_buffers`. Nothing is added any more.
    pub fn abandon(&mut self, in_buffers: bool) {
        self.peers.iter_mut().for_each(|peer| *peer = None);
        let rings = self.rings.take();
        if in_buffers {
            std::mem::forget(rings);
        }
        std::mem::forget(std::mem::take(&mut self.sending));
    }

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
        let Peer { batch, repeats, .. } = &mut **peer;
        if let Some(repeats) = repeats
            && kind == Kind::Accumulate
        {
            if batch.goes_on(kind, operator)
                && let Some(at) = repeats.find(index)
                && let Some(Step::Fold(predefined, element)) = Step::of(kind, || operators.find(operator))
            {
                let value = batch.value_mut(at, elements.size);
                // SAFETY: both are data of an element.
                unsafe { fold_in_place(predefined, element, value.as_mut_ptr(), values[0].as_ptr(), value.len()) };
                return Ok(());
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
        // SAFETY: the caller vouches for the values.
        let added = unsafe {
            match size {
                8 => peer.batch.push_on::<8>(kind, operator, index, words_at(kind, values)),
                _ => peer.batch.push_on::<4>(kind, operator, index, words_at(kind, values)),
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
            && !own.batch.is_empty()
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
    pub fn apply_waiting(&mut self, rank: u32) -> Result<()> {
        if self.peers[rank as usize].as_ref().is_none_or(|own| own.batch.is_empty()) {
            return Ok(());
        }
        let mut batch = self.take_batch(rank);
        let applied = self.apply(rank, batch.reader());
        self.recycle(batch);
        applied.map(drop)
    }

    /// Does operations on elements of this process.
    ///
    /// # Safety
    /// The values must be readable, the places of results writable, and the indices of this window.
    pub unsafe fn apply_own(&mut self, operations: &Operations, operator: u8) -> Result<()> {
        let Operations { kind, result, indices, .. } = *operations;
        let (mut packed, mut before) = (std::mem::take(&mut self.packed), std::mem::take(&mut self.before));
        let extent = self.elements.extent();
        let bytes = indices.len() * self.elements.size * (kind.values() + usize::from(kind.returns()));
        self.record.iter().for_each(|record| record.sent(Medium::Own, indices.len(), bytes as u64));
        let mut applied = Ok(());
        for (k, &index) in indices.iter().enumerate() {
            // SAFETY: the caller vouches for all of them.
            applied = applied.and_then(|()| unsafe {
                let values = values_of(operations, k, &self.elements, &mut packed, &self.self_comm)?;
                let returned = kind.returns().then_some(&mut before[..]);
                self.apply_one(kind, operator, index.cast_unsigned(), values, returned)?;
                if !kind.returns() {
                    return Ok(());
                }
                let at = result.wrapping_offset(to_offset(extent.wrapping_mul(to_int(k))));
                self.elements.store(&before, at, &self.self_comm)
            });
        }
        (self.packed, self.before) = (packed, before);
        applied
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
        let Some(peer) = &mut peers[target as usize] else { return Ok(()) };
        let values = peer.batch.push_run(kind, operator, run, to_int(number), elements.size);
        if values.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller vouches for the values.
        unsafe {
            let from = elements.after(origin.cast_mut(), k);
            elements.load_all(from, values, self_comm)
        }
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

    /// Applies the batches that came before this process had ended the epoch before.
    #[inline]
    pub fn apply_early(&mut self) -> Result<()> {
        while self.early.front().is_some_and(|first| first.header.epoch == self.epoch) {
            let Some(Early { source, header, length, bytes }) = self.early.pop_front() else { break };
            self.apply_counted(source, header, &bytes, length)?;
        }
        Ok(())
    }

    /// Takes a message of `length` bytes, which [`SPARE`] bytes follow in memory.
    pub fn take(&mut self, source: u32, bytes: &[u8], length: usize) -> Result<()> {
        let header = Header::of(bytes);
        self.peer(source).acknowledge(header.applied);
        match header.content {
            Content::Operations | Content::Urgent if header.epoch == self.epoch => {
                self.apply_counted(source, header, bytes, length)
            }
            // those that were lost have been reported, and are late
            Content::Operations | Content::Urgent if header.epoch != self.epoch.wrapping_add(1) => Ok(()),
            Content::Operations | Content::Urgent => {
                self.early.push_back(Early { source, header, length, bytes: bytes[..length + SPARE].to_vec() });
                Ok(())
            }
            Content::Results => self.place(source, &bytes[HEADER..length]),
            Content::Acknowledgement => Ok(()),
            Content::Last => Err(Error::Internal("the end of an epoch came as a message".into()).into()),
        }
    }

    /// Puts the elements that operations return where they belong.
    fn place(&mut self, source: u32, mut values: &[u8]) -> Result<()> {
        let size = self.elements.size;
        while !values.is_empty() {
            let places = &mut self.peers[source as usize].as_mut().expect("awaited from there").places;
            let place = places.front_mut().expect("a place for each result");
            let now = place.elements.min(values.len() / size);
            // SAFETY: the caller of the operation has left the places to it.
            unsafe { self.elements.store_all(&values[..now * size], place.at, &self.self_comm) }?;
            place.at = self.elements.after(place.at, now);
            place.elements -= now;
            values = &values[now * size..];
            if place.elements == 0 {
                places.pop_front();
                self.awaited -= 1;
            }
        }
        Ok(())
    }

    /// Applies a batch of the current epoch and answers.
    fn apply_counted(&mut self, source: u32, header: Header, bytes: &[u8], length: usize) -> Result<()> {
        // what cannot be applied is not waited for
        let results = self.apply(source, Reader::new(bytes, length));
        let peer = self.peer(source);
        peer.applied = peer.applied.wrapping_add(1);
        let results = results?;
        let owed = header.content == Content::Urgent || peer.is_owed_acknowledgement();
        match results {
            Some(results) => self.send(source, Content::Results, results),
            None if owed => {
                let empty = self.fresh(source);
                self.send(source, Content::Acknowledgement, empty)
            }
            None => Ok(()),
        }
    }

    /// Applies the last operations of a process in this epoch, and answers. All its batches have
    /// been applied.
    pub fn apply_last(&mut self, source: u32, header: Header, bytes: &[u8], length: usize) -> Result<()> {
        if header.lost {
            let text = "operations on this process's elements were lost".into();
            self.loss.get_or_insert_with(|| Error::Remote { rank: source, class: Class::Other, text }.into());
        }
        self.peer(source).acknowledge(header.applied);
        let results = self.apply(source, Reader::new(bytes, length))?;
        results.map_or(Ok(()), |results| self.send(source, Content::Results, results))
    }

    /// Applies the operations of a message. Returns what they return.
    fn apply(&mut self, source: u32, mut reader: Reader) -> Result<Option<Batch>> {
        let mut results = None;
        while let Some(group) = reader.group() {
            let known = !matches!(group.kind, Kind::Accumulate | Kind::FetchAndOp) || self.is_known(group.operator);
            // elements without data return nothing
            if group.kind.returns() && results.is_none() && self.elements.size > 0 {
                results = Some(self.fresh(source));
            }
            let returned = results.as_mut().filter(|_| group.kind.returns());
            if let Err(e) = self.apply_group(source, group, known, &mut reader, returned) {
                results.into_iter().for_each(|results| self.recycle(results));
                return Err(e);
            }
        }
        Ok(results)
    }

    /// Returns true if an operator is ready. Otherwise the error is kept.
    #[inline]
    fn is_known(&mut self, operator: u8) -> bool {
        let ready = self.operators.ready(operator, &mut self.elements, &self.self_comm);
        ready.map_err(|e| self.loss.get_or_insert(e)).is_ok()
    }

    #[inline]
    fn apply_group(
        &mut self,
        source: u32,
        group: Group,
        known: bool,
        reader: &mut Reader,
        mut results: Option<&mut Batch>,
    ) -> Result<()> {
        let State { elements, operators, .. } = self;
        let size = elements.size;
        if known
            && let Some(dense) = elements.dense()
            && let in_order = group.run.filter(|run| run.distance == 1)
            && (in_order.is_some() || elements.are_words())
            && let Some(step) = Step::of(group.kind, || operators.find(group.operator))
            && (in_order.is_some() || step.is_of(size))
        {
            let returned = results.map_or(&mut [][..], |results| results.append(usize::from(group.elements) * size));
            // SAFETY: the window's memory is the caller's until it is freed, and was checked to
            // reach that far.
            let outside = unsafe {
                if let Some(Run { first, .. }) = in_order {
                    let values = reader.values(group.kind.values() * size * usize::from(group.elements));
                    words::apply_run(dense, step, first, group.elements, values, returned)
                } else {
                    words::apply_each(dense, step, group, reader, returned)
                }
            };
            outside.into_iter().for_each(|index| self.refuse(source, index, true));
            return Ok(());
        }
        for k in 0..usize::from(group.elements) {
            let index = group.run.map_or_else(|| reader.index(), |run| run.index(k));
            let values = reader.values(group.kind.values() * size);
            let value = |part: usize| values.get(part * size..(part + 1) * size).unwrap_or_default();
            let result = results.as_mut().map(|results| results.append(size));
            if known && index < self.elements.count {
                // SAFETY: as above.
                unsafe { self.apply_one(group.kind, group.operator, index, [value(0), value(1)], result) }?;
            } else {
                result.into_iter().for_each(|result| result.fill(0));
                self.refuse(source, index, known);
            }
        }
        Ok(())
    }

    /// Notes that operations cannot be applied. Their results are zeros.
    #[cold]
    fn refuse(&mut self, source: u32, index: u64, known: bool) {
        let count = self.elements.count;
        let text =
            if known { format!("index {index} is outside the window's {count} elements") } else { "unknown operator".into() };
        self.loss.get_or_insert_with(|| Error::Remote { rank: source, class: Class::Arg, text }.into());
    }

    /// Applies an operation to an element of this process. `result` takes the element before the
    /// operation.
    ///
    /// # Safety
    /// The index must be one of the window, whose memory must be writable.
    #[inline]
    pub unsafe fn apply_one(
        &mut self,
        kind: Kind,
        operator: u8,
        index: u64,
        [value, expected]: [&[u8]; 2],
        result: Option<&mut [u8]>,
    ) -> Result<()> {
        let State { elements, operators, self_comm, .. } = self;
        // SAFETY: the caller vouches for the element.
        unsafe {
            if let Some(result) = result {
                elements.get(index, result, self_comm)?;
                if kind == Kind::CompareAndSwap {
                    return if expected == result { elements.put(index, value, self_comm) } else { Ok(()) };
                }
            }
            match kind {
                Kind::Put => elements.put(index, value, self_comm),
                Kind::Accumulate | Kind::FetchAndOp => match operators.get(operator) {
                    Operator::Combine(how) => elements.combine(index, value, how, self_comm),
                    Operator::Replace => elements.put(index, value, self_comm),
                    Operator::Nothing => Ok(()),
                },
                Kind::Get | Kind::CompareAndSwap => Ok(()),
            }
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
                elements.load(from, own, self_comm)?;
                own
            }
        };
    }
    Ok(values)
}
