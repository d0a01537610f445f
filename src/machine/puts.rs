//! How long puts into windows of MPI take, and messages with the same bytes: remembered, found in a
//! file that an earlier program has left, or measured.
//!
//! Two processes exchange blocks of some lengths in both ways, as neighbors do that send to each
//! other: as messages, and as the RMA executor does, which answers, puts a block behind a header,
//! synchronizes, and copies the block out of the window; for plans it puts the block where it is
//! received, and flushes, before it puts the header. With barriers, only plans answer. Each time
//! they write what they send, and read what has come, as programs do: otherwise what is put lies in
//! the right cache already. The lower quartile of some times counts: other programs make times
//! longer only, and a network that forwards some bytes at once, before it holds a sender to its
//! rate, makes few of them shorter.
//!
//! Source: Barrett, One-Sided Communication for High Performance Computing Applications, chapter 3,
//! which compares the two so.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::buffer::{read_lines, write_lines, written};
use super::kept::{self, Memory};
use super::{measure, place};
use crate::error::{Error, Result};
use crate::model::kept::Place;
use crate::model::puts::{MESSAGES, Notice, SIZES, Times, Way};
use crate::mpi::attached::address;
use crate::mpi::coll::{self, Reduction, idle_barrier, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype;
use crate::mpi::landing::{Flag, Group, IN_PLACE, Landing, Target};
use crate::mpi::liveness::Patience;
use crate::mpi::message;
use crate::mpi::p2p::{Message, Requests, may_rendezvous};
use crate::mpi::passive::Put;
use crate::mpi::peer::now;
use crate::select::hints::origins::Origin;
use crate::util::cast::{to_int, to_usize, whole};

/// Tags on the communicator of the window.
const WORD: i32 = 1;
const BLOCK: i32 = 2;

/// Where in the window the flag, the header and the block are.
const FLAG: u64 = 0;
const HEADER: u64 = 16;
const HEADER_BYTES: usize = 16;

/// Not where blocks lie in their pages: copies between such places take up to twice as long.
const DATA: usize = 2080;

/// For how many blocks there is a place: with barriers, they are used in turn.
const PLACES: usize = 2;

/// The longest block, and the most bytes in a direction.
const LONGEST: usize = SIZES[SIZES.len() - 1];
const ALL: usize = MESSAGES[MESSAGES.len() - 1] * LONGEST;

/// Microseconds for the exchanges of one length, and how many of each kind there are at least and
/// at most, beside one that warms up.
const BUDGET: f64 = 10_000.0;
const LEAST: usize = 5;
const MOST: usize = 200;

/// Microseconds that exchanges of all kinds may take of a length, if that is to be timed. Times of
/// longer ones follow from the two lengths before.
const SLOWEST: f64 = 20_000.0;

/// Most exchanges of one kind that are timed together. An exchange takes hardly any time in which
/// the other process is ahead; but it is never ahead by more than one.
const TOGETHER: usize = 8;

/// Microseconds that all may take: else MPI has refused something to the other process.
const DEADLINE: f64 = 3e6;

/// Times, and where they come from.
pub type Found = (Times, Origin);

/// What the process has measured or found in files.
static MEMORY: Memory<(Place, Way), Found> = Memory::new();

/// What its files hold, for the log.
const KEPT: &str = "Times of puts";

/// Returns who takes part in epochs, if targets learn of puts so.
pub fn target(notice: Notice) -> Target {
    if notice == Notice::Epoch { Target::Active } else { Target::Passive }
}

/// Finds out how long puts and messages take between process 0 and the first process on another
/// node, or process 1 if there is only one node. Returns the same on all processes; `None` if it
/// cannot be measured.
///
/// `first` is the lowest rank of the caller's node; there are two processes at least. Collective: a
/// reduction and three broadcasts; if it measures, the making of a window, and some 50 ms.
pub fn learn(comm: &Comm, first: u32, notice: Notice) -> Result<Option<Found>> {
    let (peer, between_nodes) = measure::peer(comm, first)?;
    let place = place(comm, peer, first)?;
    let way = Way { notice, between_nodes };
    let key = (place.clone(), way);
    let found = kept::look_up(
        comm,
        &MEMORY,
        &key,
        || kept::read_file(Times::file(&place, way), KEPT, |text| Times::read(text, &place, way)),
        |times| times.numbers().map(f64::to_bits),
        |words| Times::from_numbers(words.map(f64::from_bits)),
    )?;
    if let Some(found) = found {
        if comm.rank()? == 0 {
            MEMORY.remember(key, found)?;
        }
        return Ok(Some(found).filter(|(times, _)| times.is_plausible()));
    }
    let times = between(comm, peer, notice)?.map_or(Times::UNKNOWN, |times| times.rounded());
    let counts = times.is_plausible();
    if !counts {
        log::info!("measured times of puts do not count: {:?}", times.numbers());
    }
    if comm.rank()? == 0 {
        if counts {
            kept::write_file(Times::file(&place, way), KEPT, &times.text(&place, way));
        }
        // what could not be measured is not measured again
        MEMORY.remember(key, (times, Origin::Measured))?;
    }
    Ok(counts.then_some((times, Origin::Measured)))
}

/// Measures between process 0 and `peer`. `None` if MPI makes no window, or refuses something.
/// Collective.
fn between(comm: &Comm, peer: u32, notice: Notice) -> Result<Option<Times>> {
    let me = comm.rank()?;
    let other = if me == 0 { Some(peer) } else { (me == peer).then_some(0) };
    let bytes = if other.is_some() { DATA + PLACES * LONGEST } else { 0 };
    let landing = match Landing::new(bytes, target(notice), comm.again()?)? {
        Ok(landing) => landing,
        Err(e) => {
            log::info!("puts cannot be measured, as no window can be made: {e}");
            return Ok(None);
        }
    };
    let pair = other.map(|rank| Pair::new(&landing, rank, notice)).transpose();
    let mut times = None;
    let (mut failed, mut stuck) = (false, false);
    if let Some(mut pair) = share_outcome(comm, pair)? {
        let measured = pair.measure();
        stuck = measured.is_err();
        match pair.refusal.take().map_or(measured, Err) {
            Ok(measured) => times = Some(measured),
            Err(e) => {
                log::info!("puts cannot be measured: {e}");
                failed = true;
            }
        }
        if stuck {
            // MPI may still be at work in the buffers
            std::mem::forget(pair);
        }
    }
    idle_barrier(comm)?;
    let [all] = coll::allreduce(comm, [i64::from(!failed)], Reduction::Min)?;
    landing.free(stuck)?;
    if all == 0 {
        return Ok(None);
    }
    let words = times.map_or([0; Times::NUMBERS], |times| times.numbers().map(f64::to_bits));
    Ok(Some(Times::from_numbers(coll::broadcast_words(comm, words, 0)?.map(f64::from_bits))))
}

/// One of the two processes that measure.
struct Pair {
    landing: Arc<Landing>,
    notice: Notice,
    /// The other one.
    rank: u32,
    group: Group,
    requests: Requests,
    /// What is sent: a header and blocks. What is received: blocks.
    send: Vec<u8>,
    recv: Vec<u8>,
    /// Words that are sent and received.
    words: Box<[u64; 2]>,
    /// Where the other one receives blocks, if this one can put there.
    place: Option<u64>,
    /// Number of the last put.
    number: u64,
    /// Why MPI has not put something. The epoch ends all the same, and so do those that follow.
    refusal: Option<Box<Error>>,
    deadline: f64,
    patience: Patience,
}

/// What exchanges consist of.
#[derive(Clone, Copy)]
enum Kind {
    Messages(usize),
    Put,
    /// Where the block is received; as `Put`, where MPI cannot do that.
    Straight,
}

/// All of them, in the order of the file.
const KINDS: [Kind; Times::NUMBERS / SIZES.len()] =
    [Kind::Messages(MESSAGES[0]), Kind::Messages(MESSAGES[1]), Kind::Put, Kind::Straight];

impl Pair {
    fn new(landing: &Arc<Landing>, rank: u32, notice: Notice) -> Result<Pair> {
        let mut requests = Requests::default();
        requests.reserve(2 * MESSAGES[1]);
        if landing.target() == Target::Passive {
            landing.flag(FLAG).store(0, Ordering::Release);
            landing.sync()?;
        }
        Ok(Pair {
            landing: Arc::clone(landing),
            notice,
            rank,
            group: Group::of(landing.comm(), &[rank])?,
            requests,
            send: written(HEADER_BYTES + ALL)?,
            recv: written(ALL)?,
            words: Box::new([0; 2]),
            place: None,
            number: 0,
            refusal: None,
            deadline: now() + DEADLINE,
            patience: Patience::default(),
        })
    }

    /// Measures all lengths and kinds.
    fn measure(&mut self) -> Result<Times> {
        let landing = Arc::clone(&self.landing);
        let begin = self.recv.as_ptr().expose_provenance();
        let range = begin..begin + self.recv.len();
        // SAFETY: the buffer keeps its place until it is detached, or for ever where the pair is
        // leaked.
        let attached = landing.attached().ok().filter(|window| unsafe { window.attach(&range) });
        // no memory has the address 0
        let mine = if attached.is_some() { address(self.recv.as_ptr())? } else { 0 };
        self.post_word(mine)?;
        self.settle()?;
        self.place = Some(self.words[1]).filter(|&theirs| mine != 0 && theirs != 0);
        let measured = self.measure_all()?;
        // nobody puts any more
        if let Some(window) = attached {
            self.post_word(0)?;
            self.settle()?;
            window.detach(&range);
        }
        Ok(measured)
    }

    fn measure_all(&mut self) -> Result<Times> {
        let mut all = [0.0; Times::NUMBERS];
        for (i, bytes) in SIZES.into_iter().enumerate() {
            let (before, after) = all.split_at_mut(i * KINDS.len());
            // by the bytes, more than it will be
            let longer = |k: usize| bytes as f64 / SIZES[k - 1] as f64;
            let last: f64 = before.rchunks_exact(KINDS.len()).next().unwrap_or_default().iter().sum();
            // what process 0 finds counts
            if i > 1 && self.decided(u64::from(last * longer(i) > SLOWEST))? != 0 {
                let part = (bytes - SIZES[i - 1]) as f64 / (SIZES[i - 1] - SIZES[i - 2]) as f64;
                for (k, time) in after[..KINDS.len()].iter_mut().enumerate() {
                    let at = |back: usize| before[(i - back) * KINDS.len() + k];
                    *time = at(1) + part * (at(1) - at(2)).max(0.0);
                }
            } else {
                after[..KINDS.len()].copy_from_slice(&self.times(bytes)?);
            }
        }
        log::debug!("microseconds of exchanges by messages and by puts: {all:?}");
        Ok(Times::from_numbers(all))
    }

    /// The lower quartiles of the times of exchanges, for each kind. Several in a row are timed
    /// together where there is time for more than the least number. Kinds take turns, so that what
    /// disturbs some exchanges disturbs all kinds.
    fn times(&mut self, bytes: usize) -> Result<[f64; KINDS.len()]> {
        let began = now();
        for kind in KINDS {
            self.exchange(kind, bytes)?;
        }
        let wanted = whole((BUDGET / (now() - began).max(0.1)).clamp(LEAST as f64, MOST as f64));
        let exchanges = to_usize(self.decided(wanted)?);
        let together = (exchanges / LEAST).clamp(1, TOGETHER);
        let mut times: [Vec<f64>; KINDS.len()] = Default::default();
        for _ in 0..exchanges / together {
            for (kind, times) in KINDS.into_iter().zip(&mut times) {
                let began = now();
                for _ in 0..together {
                    self.exchange(kind, bytes)?;
                }
                times.push((now() - began) / together as f64);
            }
        }
        Ok(times.map(quartile))
    }

    /// What process 0 says, on both.
    fn decided(&mut self, word: u64) -> Result<u64> {
        let is_first = self.rank != 0;
        self.post_word(if is_first { word } else { 0 })?;
        self.settle()?;
        Ok(if is_first { word } else { self.words[1] })
    }

    fn exchange(&mut self, kind: Kind, bytes: usize) -> Result<()> {
        let all = bytes * if let Kind::Messages(messages) = kind { messages } else { 1 };
        write_lines(&mut self.send[HEADER_BYTES..HEADER_BYTES + all]);
        self.transfer(kind, bytes)?;
        read_lines(&self.recv[..all]);
        Ok(())
    }

    fn transfer(&mut self, kind: Kind, bytes: usize) -> Result<()> {
        match kind {
            Kind::Messages(messages) => {
                if may_rendezvous(&[self.message(std::ptr::null_mut(), bytes)]) {
                    self.post_sends(messages, bytes)?;
                    self.post_receives(messages, bytes)?;
                } else {
                    self.post_receives(messages, bytes)?;
                    self.post_sends(messages, bytes)?;
                }
                self.settle()
            }
            Kind::Put => self.put(bytes, None),
            Kind::Straight => self.put(bytes, self.place),
        }
    }

    fn post_receives(&mut self, messages: usize, bytes: usize) -> Result<()> {
        (0..messages).try_for_each(|message| {
            let at = self.recv[message * bytes..].as_mut_ptr();
            let block = self.message(at, bytes);
            // SAFETY: the buffer has these bytes; it is the pair's, which is leaked if the request
            // does not end. Here and below.
            unsafe { self.requests.post_receives(&[block], BLOCK, self.landing.comm()) }
        })
    }

    fn post_sends(&mut self, messages: usize, bytes: usize) -> Result<()> {
        (0..messages).try_for_each(|message| {
            let at = self.send[HEADER_BYTES + message * bytes..].as_ptr().cast_mut();
            let block = self.message(at, bytes);
            // SAFETY: as above; MPI does not write there.
            unsafe { self.requests.post_sends(&[block], BLOCK, self.landing.comm()) }
        })
    }

    /// Lets the other process put, and puts when it answers: behind the header, or to its `place`.
    fn put(&mut self, bytes: usize, place: Option<u64>) -> Result<()> {
        self.number += 1;
        let barrier = self.notice == Notice::Barrier;
        let answers = !barrier || place.is_some();
        if answers {
            self.landing.post(&self.group)?;
            self.post_word(1)?;
        }
        if bytes < IN_PLACE && place.is_none() {
            // from the buffer's other end
            let block = self.send.len() - bytes..self.send.len();
            self.send.copy_within(block, HEADER_BYTES);
        }
        self.settle()?;
        if let (Some(offset), Ok(window)) = (place, self.landing.attached()) {
            let block = Put { at: self.send.as_ptr().wrapping_add(HEADER_BYTES), bytes, target: self.rank, offset };
            // SAFETY: the buffer has these bytes, and is the pair's; nobody writes to it before the
            // flush.
            let put = unsafe { window.put(block) };
            self.refusal = self.refusal.take().or(put.err());
            window.flush(self.rank)?;
        }
        if self.notice == Notice::Epoch {
            self.landing.start(&self.group)?;
        }
        // with barriers, the other process may still read what has been put before
        let data = DATA + if barrier && self.number % 2 == 1 { LONGEST } else { 0 };
        let (at, target) = (self.send.as_ptr(), self.rank);
        let header = Put { at, bytes: HEADER_BYTES, target, offset: HEADER };
        let block = Put { at: at.wrapping_add(HEADER_BYTES), bytes, target, offset: data as u64 };
        let both = Put { bytes: HEADER_BYTES + bytes, offset: (data - HEADER_BYTES) as u64, ..header };
        // SAFETY: the buffer has header and block, and is the pair's; nobody writes to it before
        // the epoch ends.
        let put = unsafe {
            match place {
                Some(_) => self.landing.put([header]),
                None if bytes < IN_PLACE => self.landing.put([both]),
                None => self.landing.put([block, header]),
            }
        };
        self.refusal = self.refusal.take().or(put.err());
        self.await_put()?;
        if let (Some(_), Ok(window)) = (place, self.landing.attached()) {
            return window.sync();
        }
        // SAFETY: the window has these bytes, as has the buffer; nobody writes to them before this
        // process has let it, or entered the next barrier.
        unsafe { self.recv.as_mut_ptr().copy_from_nonoverlapping(self.landing.at(data, bytes), bytes) };
        Ok(())
    }

    /// Ends what this process puts, and waits for what the other one does.
    fn await_put(&mut self) -> Result<()> {
        let target = self.rank;
        match self.notice {
            Notice::Epoch => {
                self.landing.complete()?;
                while !self.landing.test()? {
                    self.look()?;
                }
                return Ok(());
            }
            Notice::Flag => {
                self.landing.flush(target)?;
                self.landing.raise(Flag { value: self.number, target, offset: FLAG })?;
                while self.landing.flag(FLAG).load(Ordering::Acquire) != self.number {
                    message::progress(self.landing.comm().view())?;
                    self.look()?;
                }
            }
            Notice::Barrier => {
                self.landing.flush(target)?;
                self.post_word(0)?;
                self.settle()?;
            }
        }
        self.landing.sync()
    }

    /// Sends a word, and receives one.
    fn post_word(&mut self, word: u64) -> Result<()> {
        self.words[0] = word;
        let at = self.words.as_mut_ptr().cast::<u8>();
        let bytes = size_of::<u64>();
        let (out, into) = (self.message(at, bytes), self.message(at.wrapping_add(bytes), bytes));
        // SAFETY: two words, which are the pair's; nobody else touches them before the requests are
        // complete.
        unsafe {
            self.requests.post_receives(&[into], WORD, self.landing.comm())?;
            self.requests.post_sends(&[out], WORD, self.landing.comm())
        }
    }

    fn message(&self, at: *mut u8, bytes: usize) -> Message {
        Message { at, count: to_int(bytes), datatype: datatype::byte(), peer: to_int(self.rank) }
    }

    /// Waits for all messages.
    fn settle(&mut self) -> Result<()> {
        while !self.requests.test().map_err(|(_, error)| error)? {
            self.look()?;
        }
        Ok(())
    }

    /// Fails if the other process has ended, or has kept this one waiting for too long.
    fn look(&mut self) -> Result<()> {
        if !self.patience.is_over() {
            return Ok(());
        }
        self.patience.look_at_all(self.landing.comm())?;
        if now() > self.deadline {
            return Err(Error::Internal(format!("process {} does not answer", self.rank)).into());
        }
        Ok(())
    }
}

/// The time that a quarter of all falls below.
fn quartile(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 4).copied().unwrap_or(f64::INFINITY)
}
