//! A window as its process uses it: operations, flush, and the end of an epoch.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use super::batch::{Batch, Content, Header, Kind, MOST_ELEMENTS, SPARE};
use super::elements::{Dense, Elements};
use super::guarded::Guarded;
use super::rings::Rings;
use super::runs::{are_within, run_of};
use super::state::{One, Operations, State};
use crate::datatype::decode;
use crate::error::{Argument, Error, Result};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Owned as OwnedDatatype;
use crate::mpi::liveness::Patience;
use crate::mpi::message::bytes_at;
use crate::mpi::of_process::OfProcess;
use crate::mpi::posted::PostedReceives;
use crate::mpi::{self, Communicator, Datatype, MPI_Op, Op, message, op};
use crate::observe::{self, FENCE, Medium, Record};
use crate::progress::{Advance, Outstanding, of_process};
use crate::select::hints::{SparseHints, WindowHints};
use crate::sparse::messages::{Outgoing, Sends};
use crate::sparse::{self, Exchange, ExchangeContext, Form};
use crate::util::backoff::{Backoff, Pace, Rest};
use crate::util::cast::{to_int, to_offset, to_u32, to_usize};

/// Number of receives that are kept posted.
const RECEIVES: usize = 16;

/// Batches for a process of the node are so many times as long as messages: they lie where their
/// target reads them, and the fewer they are, the longer are the stretches that a processor fetches
/// ahead. 10,000 puts by one call took 1.4 times as long in batches of 4 KiB, 1.6 times on cores
/// that are far from each other (benches/onesided.c).
const NEAR: usize = 4;

/// The fewest evenly spaced elements that are sent as a run.
const SHORTEST_RUN: usize = 4;

/// Operations between two looks at what has come, if they fill no batch.
const OPERATIONS: usize = 256;

/// A window that its object, the list of what must progress, and nothing else share.
pub type Shared = Arc<Guarded<Window>>;

/// A window.
pub struct Window {
    state: State,
    /// For messages from other nodes. `None` if there are none, and once closed.
    receives: Option<PostedReceives>,
    comm: Arc<Comm>,
    rank: u32,
    /// Elements of each process.
    counts: Vec<u64>,
    /// Processes that may not have applied all operations.
    listed: Vec<u32>,
    /// Whose exchanges end the epochs.
    exchanges: sparse::Shared,
    hints: SparseHints,
    /// True if a waiting process must yield its core.
    yields: bool,
    oversubscribed: bool,
    outstanding: Arc<Outstanding>,
    /// Its entry there.
    progress: Arc<Mutex<Progress>>,
    patience: Patience,
    /// Operations until the next look at what has come.
    until_poll: usize,
    /// The elements, if single operations on them may take the short way ([`Window::issue_one`]).
    words: Option<Dense>,
    /// True while a fence is under way, which has sent the last operations of the epoch.
    is_fencing: bool,
    /// The error that ended the window. It goes no further.
    failure: Option<Box<Error>>,
}

// SAFETY: it holds addresses in the caller's buffers, which whoever calls may access, memory of its
// own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Window {}

/// The memory that a process makes a window of.
pub struct Memory {
    /// Address of the first element.
    pub base: *mut u8,
    /// Elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: Datatype,
}

/// The windows of the process, whose receives end before MPI is finalized.
#[derive(Default)]
struct Open(Mutex<Vec<Weak<Guarded<Window>>>>);

static OPEN: OfProcess<Open> = OfProcess::new();

impl Drop for Open {
    fn drop(&mut self) {
        for window in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade) {
            window.hold().iter_mut().for_each(|window| window.close());
        }
    }
}

/// Moves a window forward while the process waits for something else.
struct Progress(Weak<Guarded<Window>>);

impl Advance for Progress {
    fn advance(&mut self) {
        let Some(window) = self.0.upgrade() else { return };
        let Some(mut window) = window.hold_if_free() else { return };
        // one that has failed goes on serving others, which are not to wait for it; it keeps errors
        let polled = window.poll();
        let _ = window.keep(polled);
    }
}

/// Makes a window. Collective over `user`. A process whose arguments are in error takes part, and
/// all get the error.
///
/// Cost: about ten collective operations of a few words, and 16 bytes a process.
///
/// # Safety
/// The memory must be readable and writable, and be left to the window, until it is freed.
pub unsafe fn create(memory: Result<Memory>, hints: Result<WindowHints>, user: Communicator) -> Result<Shared> {
    let comm = Comm::duplicate(user)?;
    let size = comm.size()?;
    let self_comm = comm.self_comm()?;
    let made = memory.and_then(|memory| Ok((elements(&memory, &self_comm)?, hints?)));
    let ((elements, kind), hints) = coll::share_outcome(&comm, made)?;
    let sizes = [kind, to_int(elements.size), hints.exchange.agreed(), to_int(hints.batch)];
    let [a, b, c, d] = sizes;
    let low = coll::allreduce(&comm, [a, b, c, d, -a, -b, -c], Reduction::Min)?;
    if low[0] != -low[4] || low[1] != -low[5] {
        return Err(Error::Disagreement { what: "type" }.into());
    }
    if low[2] != -low[6] {
        return Err(Error::Disagreement { what: "one of the hints of sparse exchanges" }.into());
    }
    let (batch, least) = (to_usize(low[3]), Batch::least_capacity(elements.size));
    let (capacity, near_capacity) = (batch.max(least), (NEAR * batch).max(least));
    let counts = coll::allgather_words(&comm, [elements.count], size)?.into_iter().map(|[count]| count).collect();
    let exchanges = ExchangeContext::own(user)?;
    exchanges.hold().prepare(&hints.exchange)?;
    let (yields, oversubscribed) = exchanges.hold().waiting();
    let comm = Arc::new(comm);
    let rings = Rings::new(&comm, hints.exchange.node_size, near_capacity)?;
    let reached = 1 + rings.as_ref().map_or(0, Rings::count);
    let receives =
        if reached == size as usize { None } else { Some(PostedReceives::new(Arc::clone(&comm), RECEIVES, capacity, SPARE)?) };
    let rank = comm.rank()?;
    let outstanding = of_process()?;
    let several_threads = mpi::has_several_threads()?;
    let record = exchanges.hold().record_window();
    if let Some(record) = &record {
        let (near, others) = (reached - 1, size - 1);
        let (way, longest) = if near == 0 { ("messages", capacity) } else { ("shared memory", near_capacity) };
        record.describe(format!("transport {way}: memory to {near} of {others} other processes, batches of {longest} bytes"));
        comm.count(Arc::clone(record.tally(Medium::Mpi)));
    }
    let words = elements.dense().filter(|_| elements.are_words() && !hints.aggregate && record.is_none());
    let mut state = State::new(Arc::clone(&comm), self_comm, elements, rings, capacity, hints.aggregate, size);
    state.record = record;
    let window = Arc::new_cyclic(|own: &Weak<Guarded<Window>>| {
        Guarded::new(
            Window {
                state,
                receives,
                comm,
                rank,
                counts,
                listed: Vec::new(),
                exchanges,
                hints: hints.exchange,
                yields,
                oversubscribed,
                outstanding: Arc::clone(&outstanding),
                progress: Arc::new(Mutex::new(Progress(Weak::clone(own)))),
                patience: Patience::default(),
                until_poll: OPERATIONS,
                words,
                is_fencing: false,
                failure: None,
            },
            several_threads,
        )
    });
    let open = OPEN.get()?;
    {
        let mut all = open.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|window| window.strong_count() > 0);
        all.push(Arc::downgrade(&window));
    }
    let progress = Arc::clone(&window.hold()?.progress);
    outstanding.add(progress);
    Ok(window)
}

/// Checks a process's memory. Also returns a number that differs if the elements are of different
/// predefined datatypes that the library knows.
fn elements(memory: &Memory, self_comm: &Comm) -> Result<(Elements, i64)> {
    let &Memory { base, count, datatype } = memory;
    if let Err(e) = datatype.check_committed(self_comm) {
        return Err(Error::Datatype { argument: Argument::new("type"), text: e.to_string() }.into());
    }
    let most = MOST_ELEMENTS.cast_signed();
    let extent = datatype.extent()?;
    if count > most || count.checked_mul(extent.max(1)).is_none_or(|bytes| bytes > most << 6) {
        return Err(Error::TooLarge { argument: Argument::new("count"), count, extent }.into());
    }
    if base.is_null() && count > 0 {
        return Err(Error::NullBuffer { argument: Argument::new("base"), count }.into());
    }
    let basic = decode::basic(datatype)?;
    let kind = basic.and_then(op::element).map_or(0, |element| 1 + element as i64);
    let own = OwnedDatatype::duplicate(datatype)?;
    Ok((Elements::new(base, count.cast_unsigned(), own, self_comm)?, kind))
}

/// Ends an epoch: applies all operations of all processes on all elements. Collective.
///
/// Cost: one sparse exchange of the last batches, and for operations that return something a
/// message back.
///
/// # Safety
/// As for [`create`], and [`Window::issue`] for each operation of the epoch.
pub unsafe fn fence(window: &Guarded<Window>) -> Result<()> {
    let (mut begun, observed) = {
        let mut window = window.hold()?;
        if window.is_fencing {
            return Err(Error::WindowInUse.into());
        }
        let observed = window.observe();
        observed.iter().for_each(|(record, _)| record.used(FENCE, 1));
        let begun = window.begin_fence();
        match window.keep(begun) {
            Ok(begun) => {
                window.is_fencing = true;
                (begun, observed)
            }
            Err(e) => return Err(window.failure.clone().unwrap_or(e)),
        }
    };
    // the list of what must progress has the window
    let exchanged = begun.exchange.wait();
    let mut window = window.hold()?;
    window.is_fencing = false;
    let ended = match exchanged {
        Ok(()) => window.end_fence(begun),
        Err(e) => {
            // they may still be on their way
            std::mem::forget(begun.last);
            Err(e)
        }
    };
    if let Some((record, call)) = observed {
        record.end(&call, Some("fence"));
    }
    window.keep(ended)?;
    window.failure.clone().or_else(|| window.state.loss.take()).map_or(Ok(()), Err)
}

/// Applies all operations, and ends the window's use of its memory. Collective.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn free(window: &Shared) -> Result<()> {
    let outcome = {
        let flushed = window.hold()?.flush();
        // SAFETY: as above.
        let fenced = unsafe { fence(window) };
        flushed.and(fenced)
    };
    let mut window = window.hold()?;
    window.outstanding.remove(&window.progress);
    window.close();
    window.exchanges.hold().free_window_if_idle();
    outcome
}

/// An epoch's end that has begun.
struct Begun {
    exchange: Exchange,
    /// The batches that the exchange sends.
    last: Vec<Batch>,
}

impl Window {
    /// Begins a call that is counted, if calls are.
    fn observe(&self) -> Option<(Arc<Record>, observe::Call)> {
        self.state.record.as_ref().map(|record| (Arc::clone(record), record.begin()))
    }

    /// Keeps an error that ends the window.
    fn keep<T>(&mut self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|e| {
            self.failure.get_or_insert_with(|| e.clone());
            self.words = None;
        })
    }

    /// Fails if a fence is under way, or an earlier error has ended the window.
    #[inline]
    fn usable(&self) -> Result<()> {
        if self.is_fencing {
            return Err(Error::WindowInUse.into());
        }
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Returns the number of processes.
    pub fn size(&self) -> u32 {
        to_u32(self.counts.len())
    }

    /// Returns the bytes of an element's data.
    fn element_size(&self) -> usize {
        self.state.elements.size
    }

    /// Returns true if an element has data, which is contiguous.
    #[inline]
    pub fn has_plain_elements(&self) -> bool {
        self.state.elements.size > 0 && self.state.elements.is_plain()
    }

    /// Adds an operator of the program's.
    pub fn add_operator(&mut self, op: Op) -> Result<()> {
        let State { operators, elements, self_comm, .. } = &mut self.state;
        operators.add(op, elements, self_comm)
    }

    /// Takes what has come, answers, and takes back batches that have been sent. Never waits.
    /// Returns true if something has come.
    fn poll(&mut self) -> Result<bool> {
        self.state.apply_early()?;
        let mut came = self.state.take_from_memory()?;
        let Some(receives) = &mut self.receives else { return Ok(came) };
        while let Some(status) = receives.test()? {
            self.state.take(status.source, receives.with_spare(), to_usize(status.bytes))?;
            receives.post()?;
            came = true;
        }
        self.state.reap()?;
        Ok(came)
    }

    /// Waits until `done` returns true. Fails if a process ends before, of `wanted`, or if that is
    /// empty of all.
    fn wait(&mut self, wanted: &[u32], mut done: impl FnMut(&mut Window) -> bool) -> Result<()> {
        if done(self) {
            return Ok(());
        }
        let observed = self.state.record.as_ref().map(|record| (Arc::clone(record), Instant::now()));
        let waited = self.wait_until(wanted, done);
        if let Some((record, begin)) = observed {
            record.waited(begin);
        }
        waited
    }

    fn wait_until(&mut self, wanted: &[u32], mut done: impl FnMut(&mut Window) -> bool) -> Result<()> {
        let in_memory = self.receives.is_none();
        let mut backoff = Backoff::new(match (in_memory, self.oversubscribed) {
            (true, false) => Pace::OWN_CORE,
            (true, true) => Pace::SHARED_CORE,
            (false, false) => Pace::POLLING,
            (false, true) => Pace::EXCHANGE,
        });
        self.patience.restart();
        let outstanding = Arc::clone(&self.outstanding);
        while !done(self) {
            if self.poll()? {
                backoff.reset();
                continue;
            }
            // this window is on the list, too
            if !outstanding.has_one() {
                outstanding.advance();
            }
            let turn = backoff.turn();
            if in_memory && turn.enters_mpi {
                // other messages progress; no message matches
                message::probe(None, 0, false, &self.comm)?;
            }
            match turn.rest {
                Rest::None => {}
                Rest::Pause => Rest::Pause.take(),
                // MPI yields by itself, if it does, only where it is polled
                Rest::Yield | Rest::Sleep if in_memory || self.yields => Rest::Yield.take(),
                Rest::Yield | Rest::Sleep => {}
            }
            if self.patience.is_over() {
                if wanted.is_empty() {
                    self.patience.look_at_all(&self.comm)?;
                } else if let Some(&dead) = self.patience.look(self.comm.view(), wanted.iter().copied()).first() {
                    return Err(self.comm.lose(dead));
                }
            }
        }
        Ok(())
    }

    /// Sends a process's batch, once that process has acknowledged enough of the earlier ones.
    fn ship(&mut self, target: u32, content: Content) -> Result<()> {
        if !self.state.peer(target).takes_another() {
            self.wait(&[target], |window| window.state.peer(target).takes_another())?;
        }
        let batch = self.state.take_batch(target);
        self.state.send(target, content, batch)?;
        let peer = self.state.peer(target);
        peer.sent = peer.sent.wrapping_add(1);
        self.poll().map(drop)
    }

    /// Issues an operation on one element the short way: it goes on with the last group of its
    /// target's batch, the caller's own one among them, or returns a word of the caller. Returns
    /// false, and does nothing, if it must take the long way, [`Window::issue`], which also finds
    /// what is wrong with it. Cannot panic.
    ///
    /// # Safety
    /// As for `issue`.
    // inline(always), and what it calls: with the kind known, a call takes two thirds of the time
    // (benches/onesided.c)
    #[inline(always)]
    pub unsafe fn issue_one(
        &mut self,
        kind: Kind,
        op: Option<MPI_Op>,
        values: [*const u8; 2],
        result: *mut u8,
        target: c_int,
        index: i64,
    ) -> bool {
        let Window { state, counts, words: Some(words), until_poll: left @ 1.., rank, .. } = self else { return false };
        let (words, target, index) = (*words, target.cast_unsigned(), index.cast_unsigned());
        // as unsigned numbers, negative ones are larger than any
        if counts.get(target as usize).is_none_or(|&count| index >= count) {
            return false;
        }
        let operator = match op {
            None => 0,
            Some(op) => match state.operators.number_if_last(op) {
                Some(number) => number,
                None => return false,
            },
        };
        let operation = One { kind, operator, index, values, result };
        // SAFETY: the caller vouches for values and places.
        let done = unsafe {
            if kind.returns() && target == *rank {
                state.apply_own_word(*rank, words, operation)
            } else {
                state.add_word(target, words.size, operation)
            }
        };
        *left -= usize::from(done);
        done
    }

    /// Adds operations to the batch of their target, and sends it whenever it is full. Operations
    /// on elements of the caller are done at once, or wait in a batch for the next flush or fence.
    ///
    /// # Safety
    /// The values must be readable. The places of results must be writable, and be left alone,
    /// until the operations are flushed.
    pub unsafe fn issue(&mut self, operations: &Operations) -> Result<()> {
        self.usable()?;
        let Operations { kind, op, target, indices, .. } = *operations;
        let count = self.counts[target as usize];
        let run = run_of(indices);
        if !are_within(indices, run, count) {
            return Err(outside(indices, target, count));
        }
        let operator = match op {
            None => 0,
            Some(op) => {
                let State { operators, elements, self_comm, .. } = &mut self.state;
                operators.number(op, elements, self_comm)?
            }
        };
        // SAFETY: the caller vouches for values and places.
        let issued = unsafe {
            if target == self.rank { self.issue_own(operations, operator) } else { self.add(operations, operator, run) }
        };
        if let Some(record) = &self.state.record {
            record.used(kind as usize, indices.len());
        }
        let polled = issued.and_then(|()| match self.until_poll.checked_sub(indices.len()) {
            Some(left) => {
                self.until_poll = left;
                Ok(())
            }
            None => {
                self.until_poll = OPERATIONS;
                self.poll().map(drop)
            }
        });
        self.keep(polled)
    }

    /// Does operations on elements of the caller, or adds them to a batch that
    /// [`Window::issue_one`] goes on with.
    ///
    /// # Safety
    /// As for `issue`.
    unsafe fn issue_own(&mut self, operations: &Operations, operator: u8) -> Result<()> {
        self.state.apply_waiting(self.rank)?;
        // SAFETY: the caller vouches for values and places.
        unsafe {
            if self.words.is_some() && operations.indices.len() == 1 && self.state.may_wait(operations.kind, operator) {
                self.state.peer(self.rank);
                self.state.add_one(operations, operator, 0)
            } else {
                self.state.apply_own(operations, operator)
            }
        }
    }

    /// Adds operations to the batch of another process. `run` is what `run_of` says of them.
    ///
    /// # Safety
    /// As for `issue`.
    unsafe fn add(&mut self, operations: &Operations, operator: u8, mut run: (usize, i64)) -> Result<()> {
        let Operations { kind, origin, compare, result, target, indices, .. } = *operations;
        let (size, extent) = (self.element_size(), self.state.elements.extent());
        if !indices.is_empty() && !std::mem::replace(&mut self.state.peer(target).listed, true) {
            self.listed.push(target);
        }
        let mut k = 0;
        while k < indices.len() {
            let (length, distance) = run;
            let is_run = length >= SHORTEST_RUN && kind != Kind::CompareAndSwap;
            // the last element of what is no run may begin one
            let end = k + if is_run { length } else { (length - 1).max(1) };
            while k < end {
                if !is_run && let Some(words) = self.words {
                    let offset = to_offset(extent.wrapping_mul(to_int(k)));
                    let values = [origin.wrapping_offset(offset), compare.wrapping_offset(offset)];
                    let (index, result) = (indices[k].cast_unsigned(), result.wrapping_offset(offset));
                    let operation = One { kind, operator, index, values, result };
                    // SAFETY: the caller vouches for values and places.
                    if unsafe { self.state.add_word(target, words.size, operation) } {
                        k += 1;
                        continue;
                    }
                }
                let batch = &self.state.peer(target).batch;
                let room = if is_run { batch.run_room(kind, size) } else { batch.takes_one(kind, size).into() };
                if room == 0 {
                    self.ship(target, Content::Operations)?;
                    continue;
                }
                let now = room.min(end - k);
                // SAFETY: the caller vouches for values and places.
                unsafe {
                    if is_run {
                        self.state.add_run(operations, operator, k, now, distance)?;
                    } else {
                        self.state.add_one(operations, operator, k)?;
                    }
                }
                if kind.returns() {
                    let at = to_offset(extent.wrapping_mul(to_int(k)));
                    self.state.expect(target, result.wrapping_offset(at), now);
                }
                k += now;
            }
            run = run_of(&indices[k..]);
        }
        Ok(())
    }

    /// Waits until the caller's operations have been applied, and what they return has come.
    pub fn flush(&mut self) -> Result<()> {
        self.usable()?;
        let observed = self.observe();
        let flushed = self.flush_all();
        if let Some((record, call)) = observed {
            record.end(&call, Some("flush"));
        }
        self.keep(flushed)
    }

    fn flush_all(&mut self) -> Result<()> {
        self.state.apply_waiting(self.rank)?;
        let listed = std::mem::take(&mut self.listed);
        let flushed = self.flush_to(&listed);
        if flushed.is_err() {
            // the next fence tells them
            self.listed = listed;
        }
        flushed
    }

    fn flush_to(&mut self, listed: &[u32]) -> Result<()> {
        for &target in listed {
            let peer = self.state.peer(target);
            if !peer.batch.is_empty() || !peer.has_applied_all() {
                self.ship(target, Content::Urgent)?;
            }
        }
        if !listed.is_empty() {
            self.wait(listed, |window| {
                window.state.has_all_results() && listed.iter().all(|&target| window.state.peer(target).has_applied_all())
            })?;
        }
        for &target in listed {
            self.state.peer(target).listed = false;
        }
        Ok(())
    }

    /// Starts the exchange of the last batches of the epoch. It makes nothing that takes all
    /// processes, as nobody would serve the others meanwhile.
    fn begin_fence(&mut self) -> Result<Begun> {
        self.state.apply_waiting(self.rank)?;
        let lost = self.failure.is_some();
        let (mut list, mut last) = (Vec::new(), Vec::new());
        let listed = std::mem::take(&mut self.listed);
        for &target in &listed {
            let peer = self.state.peer(target);
            peer.listed = false;
            if peer.batch.is_empty() && peer.has_applied_all() && !lost {
                continue;
            }
            let mut batch = self.state.take_batch(target);
            let mut header = self.state.header(target, Content::Last);
            header.lost = lost;
            let message = batch.message_with_spare(header);
            let (block, bytes) = (bytes_at(message.as_ptr(), message.len() as u64), message.len() as u64);
            list.push(Outgoing { target, block, bytes, device: false });
            last.push(batch);
        }
        let sends = Sends { list, dense: true };
        // SAFETY: the batches are kept until the exchange is done.
        let exchange = unsafe { Exchange::start(&self.exchanges, Some(&self.hints), sends, Form::Nonblocking) };
        match exchange {
            Ok(exchange) => Ok(Begun { exchange, last }),
            Err(e) => {
                // some may be on their way, and the next fence tells those that miss one
                std::mem::forget(last);
                for &target in &listed {
                    self.state.peer(target).listed = true;
                }
                self.listed = listed;
                Err(e)
            }
        }
    }

    /// Applies what the exchange has brought, and waits until nothing is under way.
    fn end_fence(&mut self, mut begun: Begun) -> Result<()> {
        begun.last.into_iter().for_each(|batch| self.state.recycle(batch));
        let arrived = begun.exchange.take();
        let mut ended = Ok(());
        for message in &arrived.messages {
            // SAFETY: the message has arrived.
            let bytes = unsafe { std::slice::from_raw_parts(message.at, to_usize(message.bytes)) };
            let (source, header) = (message.source, Header::of(bytes));
            let waited =
                if header.lost { Ok(()) } else { self.wait(&[], |window| window.state.peer(source).applied == header.before) };
            let is_over = waited.is_err();
            // the others wait for what their operations return
            ended = ended.and(waited.and_then(|()| self.state.apply_last(source, header, bytes, bytes.len() - SPARE)));
            if is_over {
                break;
            }
        }
        ended = ended.and_then(|()| self.wait(&[], |window| window.state.is_done()));
        // also if this process has failed: the others are in the next one
        self.state.epoch = self.state.epoch.wrapping_add(1);
        ended
    }

    /// Ends the receives. After an error, or if the window was not freed, messages may be on their
    /// way, whose memory stays.
    fn close(&mut self) {
        self.receives = None;
        self.state.abandon(self.failure.is_some());
        self.state.elements.close();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the error of an index outside of a process's elements.
#[cold]
fn outside(indices: &[i64], target: u32, count: u64) -> Box<Error> {
    let index = indices.iter().copied().find(|index| index.cast_unsigned() >= count).unwrap_or_default();
    Error::WindowIndex { index, target, count }.into()
}
