//! The crystal router: messages travel together through ceil(log2 P) steps of a hypercube (of any
//! number of processes, see `mirror.rs`). In each step a process gives everything that belongs to
//! the other half of its range to its mirror image there, in one message. After the last step it
//! has what is for itself: nothing needs to be counted, acknowledged or waited for.
//!
//! Useful for short messages, where the number of messages counts and not their bytes. Cost:
//! ceil(log2 P) messages a process, whatever k is; each byte is copied and sent up to ceil(log2 P)
//! times, about half as often on average, with 16 bytes for each message that travels. Memory:
//! [`HEAD`] bytes a step, and what passes through. Source: Fox, Johnson, Lyzenga, Otto, Salmon,
//! Walker, Solving Problems on Concurrent Processors, 1988, chapter 22.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::sparse::mailbox::{Inbox, Sends};
use crate::sparse::mirror::{self, Step};
use crate::sparse::{Kind, Stats, Wires, lost, tag};

/// Bytes that the receives posted ahead have room for. A longer message comes in two.
const HEAD: usize = 8192;

const WORD: usize = size_of::<u64>();

/// A message between processes of the router begins with its length in words, and the stats.
const PREFIX: usize = 2;

/// A message on its way begins with target and source, and its length in bytes.
const LABEL: usize = 2;

/// In the place of the length: the message could not be packed. Nothing follows.
pub const LOST: u64 = u64::MAX;

/// A message on its way.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// To whom: a rank of the router's communicator.
    pub target: u32,
    /// Who sends it: anything that tells the target.
    pub source: u32,
    /// Bytes.
    pub bytes: u64,
    /// What.
    pub body: Body,
}

/// Where a message's bytes are.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// The entry of the process's own list, not packed yet.
    Own(usize),
    /// Here.
    At(*const u8),
    /// Nowhere: it could not be packed.
    Lost,
}

impl Record {
    /// A message whose label says this; its bytes, if there are any, are here.
    pub fn read(label: u64, bytes: u64, at: *const u8) -> Record {
        let (bytes, body) = if bytes == LOST { (0, Body::Lost) } else { (bytes, Body::At(at)) };
        Record { target: (label >> 32) as u32, source: label as u32, bytes, body }
    }

    /// Words of its body.
    pub fn body_words(&self) -> usize {
        (self.bytes as usize).div_ceil(WORD)
    }

    /// Words that it takes.
    fn words(&self) -> usize {
        LABEL + self.body_words()
    }
}

/// One step with its messages.
#[derive(Debug)]
struct Round {
    step: Step,
    goes: Vec<u64>,
    sends: [Request; 2],
    came: Vec<Came>,
}

/// A message that comes in a step: into the head, or if it is longer than that, whole.
#[derive(Debug)]
struct Came {
    from: u32,
    head: Box<[u64]>,
    whole: Vec<u64>,
    receive: Request,
    /// Whether the head is here.
    begun: bool,
}

/// The router of a communicator.
#[derive(Debug)]
pub struct Router {
    comm: Arc<Comm>,
    tag: i32,
    rounds: Vec<Round>,
}

impl Router {
    /// For process `rank` of `size` of a communicator.
    pub fn new(comm: Arc<Comm>, rank: u32, size: u32, tag: i32) -> Router {
        let came = |&from: &u32| Came {
            from,
            head: vec![0; HEAD / WORD].into(),
            whole: Vec::new(),
            receive: Request::default(),
            begun: false,
        };
        let round =
            |step: Step| Round { goes: Vec::new(), sends: Default::default(), came: step.from.iter().map(came).collect(), step };
        Router { comm, tag, rounds: mirror::steps(rank, size).into_iter().map(round).collect() }
    }

    /// Posts all receives.
    fn arm(&mut self) -> Result<()> {
        for came in self.rounds.iter_mut().flat_map(|r| &mut r.came) {
            let at = came.head.as_mut_ptr().cast();
            came.begun = false;
            // SAFETY: the head stays where it is, and is read when the receive is complete.
            came.receive = unsafe { message::receive(at, HEAD as u64, Some(came.from), Some(self.tag), &self.comm) }?;
        }
        Ok(())
    }
}

impl Came {
    /// Whether the message is here.
    fn test(&mut self, tag: i32, comm: &Comm) -> Result<bool> {
        if !self.receive.test()? {
            return Ok(false);
        }
        if !self.begun {
            self.begun = true;
            let words = self.head[0] as usize;
            self.whole.clear();
            if words > self.head.len() {
                self.whole.resize(words, 0);
                let (first, rest) = self.whole.split_at_mut(self.head.len());
                first.copy_from_slice(&self.head);
                let bytes = (rest.len() * WORD) as u64;
                // SAFETY: the room stays where it is, and is read when the receive is complete.
                self.receive =
                    unsafe { message::receive(rest.as_mut_ptr().cast(), bytes, Some(self.from), Some(tag + 1), comm) }?;
                return self.receive.test();
            }
        }
        Ok(true)
    }

    fn words(&self) -> &[u64] {
        if self.whole.is_empty() { &self.head[..self.head[0] as usize] } else { &self.whole }
    }
}

/// Messages on their way through a router.
#[derive(Debug)]
pub struct Passage {
    at: usize,
    held: Vec<Record>,
    largest: Stats,
}

impl Passage {
    /// Begins with these messages.
    ///
    /// # Safety
    /// The bytes of the messages and the blocks in `sends` must be readable, and stay, until the
    /// passage is over.
    pub unsafe fn start(
        router: &mut Router,
        held: Vec<Record>,
        stats: Stats,
        sends: &Sends,
        loss: &mut Option<Box<Error>>,
    ) -> Result<Passage> {
        router.arm()?;
        let mut passage = Passage { at: 0, held, largest: stats };
        // SAFETY: the caller vouches for the bytes.
        unsafe { passage.send(router, sends, loss) }?;
        Ok(passage)
    }

    /// Gives away what the step at hand gives away. A message that cannot be packed is a loss; its
    /// label travels without it, so that the others go their way.
    unsafe fn send(&mut self, router: &mut Router, sends: &Sends, loss: &mut Option<Box<Error>>) -> Result<()> {
        let (tag, comm) = (router.tag, &router.comm);
        let Some(Round { step, goes, sends: requests, .. }) = router.rounds.get_mut(self.at) else {
            return Ok(());
        };
        let gives = |r: &&Record| step.gives.contains(&r.target);
        let words = PREFIX + self.held.iter().filter(gives).map(Record::words).sum::<usize>();
        goes.clear();
        goes.reserve(words);
        goes.extend([0, self.largest.word().into()]);
        for r in self.held.iter().filter(gives) {
            goes.extend([u64::from(r.target) << 32 | u64::from(r.source), r.bytes]);
            let at = goes.len();
            goes.resize(at + r.body_words(), 0);
            let into: *mut u8 = goes[at..].as_mut_ptr().cast();
            // SAFETY: the caller vouches for what is read; there is room for as many bytes.
            unsafe {
                match r.body {
                    Body::Own(i) => {
                        if let Err(e) = sends.list[i].pack(into, sends.dense, comm) {
                            loss.get_or_insert(e);
                            goes.truncate(at);
                            goes[at - 1] = LOST;
                        }
                    }
                    Body::At(from) => std::ptr::copy_nonoverlapping(from, into, r.bytes as usize),
                    Body::Lost => goes[at - 1] = LOST,
                }
            }
        }
        goes[0] = goes.len() as u64;
        self.held.retain(|r| !step.gives.contains(&r.target));
        let (head, rest) = goes.split_at(goes.len().min(HEAD / WORD));
        for (request, (part, tag)) in requests.iter_mut().zip([(head, tag), (rest, tag + 1)]) {
            if !part.is_empty() {
                let block = bytes_at(part.as_ptr().cast(), size_of_val(part) as u64);
                // SAFETY: the words stay as they are until the sends are complete.
                *request = unsafe { message::send(Mode::Standard, &block, step.to, tag, comm) }?;
            }
        }
        Ok(())
    }

    /// Goes on; the messages that have come to this process, and the largest stats, when all is
    /// over. The bytes are the router's until it is used again, or the sender's.
    ///
    /// # Safety
    /// As for `start`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        router: &mut Router,
        sends: &Sends,
        loss: &mut Option<Box<Error>>,
    ) -> Result<Option<(&[Record], Stats)>> {
        while let Some(round) = router.rounds.get_mut(self.at) {
            for came in &mut round.came {
                if !came.test(router.tag, &router.comm)? {
                    return Ok(None);
                }
            }
            for came in &round.came {
                let words = came.words();
                self.largest = self.largest.max(Stats::from_word(words[1] as u32));
                let mut rest = &words[PREFIX..];
                while let [label, bytes, body @ ..] = rest {
                    let record = Record::read(*label, *bytes, body.as_ptr().cast());
                    rest = &rest[record.words()..];
                    self.held.push(record);
                }
            }
            self.at += 1;
            // SAFETY: the caller vouches for the bytes.
            unsafe { self.send(router, sends, loss) }?;
        }
        for round in &mut router.rounds {
            for send in &mut round.sends {
                if !send.test()? {
                    return Ok(None);
                }
            }
        }
        Ok(Some((&self.held, self.largest)))
    }
}

/// The protocol at work.
pub struct Run(Passage);

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        let (rank, size, mine) = (wires.rank, wires.size, Stats::of(sends, wires));
        let comm = &wires.comm;
        let router = wires.router.get_or_insert_with(|| Router::new(Arc::clone(comm), rank, size, tag(Kind::Router, 0)));
        let held = (sends.list.iter().enumerate())
            .filter(|(_, o)| o.target != rank)
            .map(|(i, o)| Record { target: o.target, source: rank, bytes: o.bytes, body: Body::Own(i) })
            .collect();
        // SAFETY: the caller vouches for the blocks.
        Ok(Run(unsafe { Passage::start(router, held, mine, sends, &mut wires.loss) }?))
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, sends: &Sends, inbox: &mut Inbox) -> Result<bool> {
        let router = wires.router.as_mut().expect("it has been started");
        // SAFETY: the caller vouches for the blocks.
        let Some((records, largest)) = unsafe { self.0.progress(router, sends, &mut wires.loss) }? else {
            return Ok(false);
        };
        wires.learn(largest);
        // SAFETY: the bytes are there until the router is used again.
        unsafe { deliver(records, inbox, &mut wires.loss) }?;
        Ok(true)
    }
}

/// Enters messages that have come, and losses.
///
/// # Safety
/// Their bytes must be readable.
pub unsafe fn deliver(records: &[Record], inbox: &mut Inbox, loss: &mut Option<Box<Error>>) -> Result<()> {
    for r in records {
        match r.body {
            // SAFETY: the caller vouches for the bytes.
            Body::At(from) => unsafe { inbox.copy(r.source, from, r.bytes) }?,
            Body::Lost => drop(loss.get_or_insert_with(|| lost(r.source))),
            Body::Own(_) => {}
        }
    }
    Ok(())
}
