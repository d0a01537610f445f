//! The part of a window that serves other processes: it applies operations that come, answers, and
//! takes what comes back.

use std::collections::VecDeque;
use std::sync::Arc;

use super::batch::{Batch, Content, Group, HEADER, Header, Kind, Reader, SPARE};
use super::elements::Elements;
use super::operators::{Operator, Operators};
use super::peer::{MOST_UNACKNOWLEDGED, Peer};
use super::rings::{Rings, Short};
use super::runs::Run;
use super::storage::Place;
use super::words::{self, Step};
use crate::error::{Class, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::observe::{Medium, Record};
use crate::util::cast::to_u32;

/// How many messages that MPI still sends are passed over at a time.
const PASSED_OVER: usize = 2;

/// The tag of all messages.
const TAG: i32 = 0;

/// The most bytes of a message without operations, and without what they return.
const NOTICE: usize = HEADER + size_of::<u32>();

/// A message that MPI has refused: an answer, which its target waits for.
struct Unsent {
    rank: u32,
    head: Head,
    batch: Batch,
}

/// What a message is, beside what the process that sends it knows anyway.
#[derive(Clone, Copy)]
struct Head {
    content: Content,
    /// True if MPI could not apply some of the operations that it answers.
    lost: bool,
    /// The epoch of the operations, or of those that are answered.
    epoch: u32,
}

/// A message on its way.
struct Sending {
    request: Request,
    batch: Batch,
}

/// The outcome of a batch.
pub(super) struct Applied {
    /// What its operations return, if any do.
    results: Option<Batch>,
    /// True if one of them that is awaited, or that MPI refused, has not been applied.
    lost: bool,
    /// True if that is for want of memory for what they return.
    unreturned: bool,
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
    pub(super) peers: Vec<Option<Box<Peer>>>,
    /// Bytes of the longest message.
    capacity: usize,
    /// True if accumulations of one index are sent as one.
    aggregates: bool,
    /// Epochs ended so far; wraps around.
    pub epoch: u32,
    sending: VecDeque<Sending>,
    /// Answers that the next poll sends, in order.
    unsent: VecDeque<Unsent>,
    /// The processes of the node that messages go to through memory.
    rings: Option<Rings>,
    /// Counts messages and operations, if the environment asks for it.
    pub record: Option<Arc<Record>>,
    /// Batches to be used again.
    pool: Vec<Batch>,
    early: VecDeque<Early>,
    /// Places of all peers that still wait for their elements.
    pub(super) awaited: usize,
    /// Processes whose results do not count any more in this epoch.
    given_up: Vec<u32>,
    /// The first operation that could not be applied, or was lost, of this process's or on its
    /// elements.
    pub loss: Option<Box<Error>>,
    /// True if a process could not apply operations of this one, which no flush has said yet.
    pub unapplied: bool,
    /// The last epoch that ends, and why, once processes have freed the window, or finalized MPI
    /// with it, and others have not.
    pub over: Option<(u32, Box<Error>)>,
    /// The rank after this process's.
    next: u32,
    /// The data of an element whose data is not contiguous, once there has been one.
    pub(super) packed: [Vec<u8>; 2],
    /// The data of an element before an operation, once one has returned it.
    pub(super) before: Vec<u8>,
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
        [rank, size]: [u32; 2],
    ) -> State {
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
            unsent: VecDeque::new(),
            rings,
            record: None,
            pool: Vec::new(),
            early: VecDeque::new(),
            awaited: 0,
            given_up: Vec::new(),
            loss: None,
            unapplied: false,
            over: None,
            next: (rank + 1) % size,
            packed: Default::default(),
            before: Vec::new(),
        }
    }

    /// Returns an empty batch for a process.
    fn fresh(&mut self, rank: u32) -> Result<Batch> {
        if let Some(rings) = &mut self.rings
            && let Some(at) = rings.of(rank)
        {
            return Ok(Batch::over(rings.lease(at)));
        }
        self.pool.pop().map_or_else(|| Batch::new(self.capacity), Ok)
    }

    /// Returns a batch for a notice, which takes little memory where there is not much.
    fn fresh_for_notice(&mut self, rank: u32) -> Result<Batch> {
        self.fresh(rank).or_else(|_| Batch::new(NOTICE))
    }

    /// Takes a batch back that is no longer used.
    pub fn recycle(&mut self, mut batch: Batch) {
        if batch.place() == Place::Own {
            // others are those of notices
            if batch.capacity() == self.capacity {
                batch.clear();
                self.pool.push(batch);
            }
        } else if let Some(rings) = &mut self.rings {
            rings.release(batch.into_storage());
        }
    }

    /// Returns what is known of another process.
    #[inline]
    pub fn peer(&mut self, rank: u32) -> &mut Peer {
        let aggregates = self.aggregates;
        self.peers[rank as usize].get_or_insert_with(|| Box::new(Peer::new(aggregates)))
    }

    /// Returns the batch to which operations on a process's elements are added.
    #[inline]
    pub fn batch(&mut self, rank: u32) -> Result<&Batch> {
        if self.peer(rank).batch.is_none() {
            self.peer(rank).batch = Some(self.fresh(rank)?);
        }
        Ok(self.peer(rank).batch.as_ref().expect("made above"))
    }

    /// Returns a process's batch to be sent, or an empty one.
    pub fn take_batch(&mut self, rank: u32) -> Result<Batch> {
        let peer = self.peer(rank);
        if let Some(repeats) = &mut peer.repeats {
            repeats.forget();
        }
        peer.batch.take().map_or_else(|| self.fresh_for_notice(rank), Ok)
    }

    /// Returns the header of a message to a process, which acknowledges what came from there, but
    /// nothing whose answer has not left.
    pub fn header(&mut self, rank: u32, content: Content) -> Header {
        let (epoch, is_behind) = (self.epoch, self.has_unsent(rank));
        let peer = self.peer(rank);
        let applied = if is_behind { peer.reported } else { peer.applied };
        Header { content, lost: false, epoch, applied, before: peer.sent }
    }

    fn has_unsent(&self, rank: u32) -> bool {
        self.unsent.iter().any(|answer| answer.rank == rank)
    }

    /// Sends operations of this epoch. Never waits.
    pub fn send(&mut self, rank: u32, content: Content, batch: Batch) -> Result<()> {
        let (refused, sent) = self.post(rank, Head { content, lost: false, epoch: self.epoch }, batch);
        refused.into_iter().for_each(|batch| self.recycle(batch));
        sent
    }

    /// Sends an answer. Never waits. If MPI refuses, the next poll sends it.
    fn answer(&mut self, rank: u32, head: Head, batch: Batch) -> Result<()> {
        if self.has_unsent(rank) {
            // they keep their order
            self.unsent.push_back(Unsent { rank, head, batch });
            return Ok(());
        }
        let (refused, sent) = self.post(rank, head, batch);
        refused.into_iter().for_each(|batch| self.unsent.push_back(Unsent { rank, head, batch }));
        sent
    }

    /// Sends the answers that MPI has refused.
    pub fn send_unsent(&mut self) -> Result<()> {
        while let Some(Unsent { rank, head, batch }) = self.unsent.pop_front() {
            let (refused, sent) = self.post(rank, head, batch);
            if let Some(batch) = refused {
                self.unsent.push_front(Unsent { rank, head, batch });
            }
            sent?;
        }
        Ok(())
    }

    /// Hands a message to MPI, or puts it into a ring. Also returns it if it has not left.
    fn post(&mut self, rank: u32, head: Head, mut batch: Batch) -> (Option<Batch>, Result<()>) {
        let Head { content, lost, epoch } = head;
        let header = Header { lost, epoch, ..self.header(rank, content) };
        let place = batch.place();
        let message = batch.message(header);
        let sent = if place != Place::Own
            && let Some(rings) = &mut self.rings
            && let Some(at) = rings.of(rank)
        {
            if let Err(e) = rings.send(at, place, message) {
                return (Some(batch), Err(e));
            }
            self.record.iter().for_each(|record| record.sent(Medium::Shared, 1, message.len() as u64));
            rings.keep(batch.into_storage());
            Ok(())
        } else {
            let block = bytes_at(message.as_ptr(), message.len() as u64);
            // SAFETY: the bytes are on the heap, and kept until the send is complete.
            let send = || unsafe { message::send(Mode::Standard, &block, rank, TAG, &self.comm) };
            let (request, refused) = match send() {
                Ok(request) => (Ok(request), Ok(())),
                // once more: its target may wait for this one
                Err(e) => (send(), Err(e)),
            };
            let Ok(request) = request else { return (Some(batch), refused) };
            self.sending.push_back(Sending { request, batch });
            refused
        };
        let peer = self.peer(rank);
        peer.reported = header.applied;
        if matches!(content, Content::Operations | Content::Urgent) {
            peer.sent = peer.sent.wrapping_add(1);
        }
        (None, sent.and_then(|()| self.reap()))
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
                let (began, early) = (arrived.began, self.early.len());
                let taken = self.take(arrived.source, arrived.bytes, arrived.length);
                // what is set aside is not applied: a time that cannot be right
                let began = began.map(|began| if self.early.len() > early { u64::MAX } else { began });
                self.rings.iter_mut().for_each(|rings| rings.take_out(at, began));
                came = true;
                taken?;
            }
        }
        Ok(came)
    }

    /// Takes back batches that have been sent. A few that have not are passed over in a call, so
    /// that one whose target stays away does not keep what is sent after it.
    pub fn reap(&mut self) -> Result<()> {
        for _ in 0..PASSED_OVER.min(self.sending.len()) {
            while let Some(first) = self.sending.front_mut()
                && first.request.test()?
            {
                if let Some(sent) = self.sending.pop_front() {
                    self.recycle(sent.batch);
                }
            }
            self.sending.rotate_left(usize::from(!self.sending.is_empty()));
        }
        Ok(())
    }

    /// Returns true if nothing of this process's is under way: all that it has sent has gone, and
    /// all that its operations return has come.
    pub fn is_done(&self) -> bool {
        self.sending.is_empty() && self.unsent.is_empty() && self.awaited == 0
    }

    /// Waits no longer for what operations on a process's elements return in this epoch, and leaves
    /// the places alone.
    fn give_up(&mut self, rank: u32) {
        if let Some(peer) = &mut self.peers[rank as usize] {
            self.awaited -= peer.places.len();
            peer.places.clear();
            self.given_up.push(rank);
        }
    }

    /// The same for all processes.
    #[cold]
    pub fn give_up_all(&mut self) {
        (0..to_u32(self.peers.len())).for_each(|rank| self.give_up(rank));
    }

    /// Ends the epoch. What operations of it still return does not count.
    pub fn end_epoch(&mut self) {
        if self.awaited > 0 {
            self.give_up_all();
        }
        self.given_up.clear();
        self.unapplied = false;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Tells a process that its last operations of this epoch have been lost.
    #[cold]
    pub fn tell_lost(&mut self, source: u32) -> Result<()> {
        let (epoch, nothing) = (self.epoch, self.fresh_for_notice(source)?);
        self.answer(source, Head { content: Content::Lost, lost: false, epoch }, nothing)
    }

    /// Notes that a process finalizes MPI with the window after an epoch, and tells the next
    /// process, which passes it on.
    #[cold]
    fn note_over(&mut self, ended: u32, epoch: u32) {
        if self.over.is_none() {
            let text = "it has finalized MPI before it has freed the window".into();
            self.over = Some((epoch, Error::Remote { rank: ended, class: Class::Mismatch, text }.into()));
            if self.next != ended {
                self.tell_over(ended, epoch);
            }
        }
    }

    /// Fails if the current epoch does not end.
    #[inline]
    pub fn check_epoch(&self) -> Result<()> {
        match &self.over {
            Some((last, why)) if *last != self.epoch => Err(why.clone()),
            _ => Ok(()),
        }
    }

    /// Tells the next process that one finalizes MPI after an epoch.
    #[cold]
    pub fn tell_over(&mut self, ended: u32, epoch: u32) {
        let rank = self.next;
        // who cannot be told waits, as for a process that never calls
        let Ok(mut batch) = self.fresh_for_notice(rank) else { return };
        batch.append(size_of::<u32>()).copy_from_slice(&ended.to_ne_bytes());
        let (refused, _) = self.post(rank, Head { content: Content::Over, lost: false, epoch }, batch);
        refused.into_iter().for_each(|batch| self.recycle(batch));
    }

    /// Leaves memory to messages that may still be under way, in buffers of the rings too if
    /// `in_buffers`. Nothing is added any more.
    pub fn abandon(&mut self, in_buffers: bool) {
        self.peers.iter_mut().for_each(|peer| *peer = None);
        let rings = self.rings.take();
        if in_buffers {
            std::mem::forget(rings);
        }
        self.unsent.clear();
        std::mem::forget(std::mem::take(&mut self.sending));
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
            Content::Operations | Content::Urgent if header.epoch == self.epoch.wrapping_add(1) => {
                self.early.push_back(Early { source, header, length, bytes: bytes[..length + SPARE].to_vec() });
                Ok(())
            }
            // also of the last epoch, whose end from there was lost and reported: batches are
            // counted, and their source may wait for results
            Content::Operations | Content::Urgent => self.apply_counted(source, header, bytes, length),
            Content::Results | Content::Lost if header.epoch != self.epoch || self.given_up.contains(&source) => Ok(()),
            Content::Lost => {
                self.note_lost(source, "the last operations on its elements were lost");
                self.give_up(source);
                // others would wait for results that no longer count
                if header.lost { Err(out_of_memory(source)) } else { Ok(()) }
            }
            Content::Results => {
                if header.lost {
                    self.note_lost(source, "it could not apply operations on its elements");
                    self.unapplied = true;
                }
                self.place(source, &bytes[HEADER..length])
            }
            Content::Acknowledgement => Ok(()),
            Content::Over => {
                self.note_over(bytes[HEADER..length].try_into().map_or(source, u32::from_ne_bytes), header.epoch);
                Ok(())
            }
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
        let applied = self.apply(source, Reader::new(bytes, length));
        let peer = self.peer(source);
        peer.applied = peer.applied.wrapping_add(1);
        let owed = header.content == Content::Urgent || peer.is_owed_acknowledgement();
        self.reply(source, header.epoch, applied, owed)
    }

    /// Answers operations, if they return something, or a word of them is `owed`.
    fn reply(&mut self, source: u32, epoch: u32, applied: Applied, owed: bool) -> Result<()> {
        let Applied { results, lost, unreturned } = applied;
        let (content, batch) = match results {
            Some(results) => (Content::Results, results),
            None if unreturned => (Content::Lost, self.fresh_for_notice(source)?),
            None if lost => (Content::Results, self.fresh_for_notice(source)?),
            None if owed => (Content::Acknowledgement, self.fresh_for_notice(source)?),
            None => return Ok(()),
        };
        self.answer(source, Head { content, lost, epoch }, batch)
    }

    /// Applies the last operations of a process in this epoch, and answers. All its batches have
    /// been applied.
    pub fn apply_last(&mut self, source: u32, header: Header, bytes: &[u8], length: usize) -> Result<()> {
        if header.lost {
            self.note_lost(source, "operations on this process's elements were lost");
        }
        self.peer(source).acknowledge(header.applied);
        let applied = self.apply(source, Reader::new(bytes, length));
        if applied.unreturned { self.tell_lost(source) } else { self.reply(source, header.epoch, applied, false) }
    }

    #[cold]
    fn note_lost(&mut self, rank: u32, text: &str) {
        let lost = || Error::Remote { rank, class: Class::Other, text: text.into() }.into();
        self.loss.get_or_insert_with(lost);
    }

    /// Applies the operations of a message. The error of one that MPI cannot apply is that of the
    /// epoch: the others are applied, and the process goes on serving.
    pub(super) fn apply(&mut self, source: u32, mut reader: Reader) -> Applied {
        let (mut results, mut lost, mut unreturned) = (None, false, false);
        while let Some(group) = reader.group() {
            let known = !matches!(group.kind, Kind::Accumulate | Kind::FetchAndOp) || self.is_known(source, group.operator);
            // elements without data return nothing
            if group.kind.returns() && results.is_none() && self.elements.size > 0 && !unreturned {
                match self.fresh(source) {
                    Ok(batch) => results = Some(batch),
                    Err(error) => {
                        self.loss.get_or_insert(error);
                        unreturned = true;
                    }
                }
            }
            let known = known && !(unreturned && group.kind.returns());
            let returned = results.as_mut().filter(|_| group.kind.returns());
            // an accumulate, whose caller has left the call, fails in the target's fence alone
            lost |= !known && group.kind.returns();
            if let Err(error) = self.apply_group(source, group, known, &mut reader, returned) {
                lost = true;
                self.loss.get_or_insert(error);
            }
        }
        Applied { results, lost, unreturned }
    }

    /// Returns true if an operator that a process uses is ready. Otherwise the error is kept.
    #[inline]
    fn is_known(&mut self, source: u32, operator: u8) -> bool {
        let ready = self.operators.ready(operator, &mut self.elements, &self.self_comm);
        ready.map_err(|error| self.note_unknown(source, error)).is_ok()
    }

    #[cold]
    fn note_unknown(&mut self, rank: u32, mut error: Box<Error>) {
        if matches!(*error, Error::UnknownOperator { .. }) {
            let text = "it has used a user-defined operator that this process has not added to the window".into();
            *error = Error::Remote { rank, class: Class::Op, text };
        }
        self.loss.get_or_insert(error);
    }

    /// Applies a group. Returns the first error; what the operation would have returned is zeros.
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
        let mut applied = Ok(());
        for k in 0..usize::from(group.elements) {
            let index = group.run.map_or_else(|| reader.index(), |run| run.index(k));
            let values = reader.values(group.kind.values() * size);
            let value = |part: usize| values.get(part * size..(part + 1) * size).unwrap_or_default();
            let mut result = results.as_mut().map(|results| results.append(size));
            if known && index < self.elements.count {
                let result = result.as_deref_mut();
                // SAFETY: as above.
                let done = unsafe { self.apply_one(group.kind, group.operator, index, [value(0), value(1)], result) };
                if done.is_ok() {
                    continue;
                }
                applied = applied.and(done);
            } else {
                self.refuse(source, index, known);
            }
            result.into_iter().for_each(|result| result.fill(0));
        }
        applied
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
                },
                Kind::Get | Kind::CompareAndSwap => Ok(()),
            }
        }
    }
}

/// The error of operations whose target has no memory for what they return.
#[cold]
fn out_of_memory(rank: u32) -> Box<Error> {
    let text = "it has no memory for what operations on its elements return".into();
    Error::Remote { rank, class: Class::NoMem, text }.into()
}
