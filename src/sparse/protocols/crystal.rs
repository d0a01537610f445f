//! The crystal router: messages travel together through ceil(log2 P) steps of a hypercube, which
//! works for any number of processes (see `recursive_halving.rs`). In each step, a process sends
//! everything that belongs to the other half of its range to its counterpart there, in one message.
//! After the last step it holds what is addressed to itself: nothing needs to be counted,
//! acknowledged or waited for.
//!
//! Best for short messages, where the number of messages counts rather than their bytes. Cost:
//! ceil(log2 P) messages per process, whatever k is; each byte is copied and sent up to ceil(log2
//! P) times, about half as often on average, plus 16 bytes per packet. Memory: [`HEAD`] bytes per
//! step, and the packets that pass through. Source: Fox, Johnson, Lyzenga, Otto, Salmon, Walker,
//! Solving Problems on Concurrent Processors, 1988, chapter 22.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::sparse::messages::{Arrivals, Sends};
use crate::sparse::recursive_halving::{Step, steps};
use crate::sparse::stats::Stats;
use crate::sparse::transport::{Loss, Tag, Transport};
use crate::util::cast::{high_half, low_half, to_usize};

/// Size of the receives posted in advance. A longer message arrives in two pieces.
const HEAD: usize = 8192;

const WORD: usize = size_of::<u64>();

/// Words before the packets of a message between routers: its length in words, and the stats.
const PREFIX: usize = 2;

/// Words before a packet's bytes: target and source, and the length in bytes.
const LABEL: usize = 2;

/// Stands in place of the length of a packet that could not be packed. No bytes follow.
const LOST: u64 = u64::MAX;

/// A message on its way through the router.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// The receiver's place among the router's processes.
    pub target: u32,
    /// The sender, in whatever numbering its receiver understands.
    pub source: u32,
    /// Length in bytes.
    pub bytes: u64,
    /// The bytes.
    pub body: Body,
}

/// Where the bytes of a packet are.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// In this entry of the process's own list, not packed yet.
    Own(usize),
    /// At this address.
    At(*const u8),
    /// Nowhere: they could not be packed.
    Lost,
}

impl Packet {
    /// Decodes the packets in a message, whose bytes stay there.
    pub fn read_all(mut message: &[u64], into: &mut Vec<Packet>) {
        while let [label, bytes, rest @ ..] = message {
            let (bytes, body) = if *bytes == LOST { (0, Body::Lost) } else { (*bytes, Body::At(rest.as_ptr().cast())) };
            into.push(Packet { target: high_half(*label), source: low_half(*label), bytes, body });
            message = &rest[words(bytes) - LABEL..];
        }
    }
}

/// Returns the words of a packet of this many bytes.
pub fn words(bytes: u64) -> usize {
    LABEL + to_usize(bytes).div_ceil(WORD)
}

/// Asks for room for some more words in a buffer.
fn reserve(buffer: &mut Vec<u64>, words: usize) -> Result<()> {
    buffer.try_reserve_exact(words).map_err(|_| Error::NoMemory { bytes: words.saturating_mul(WORD) }.into())
}

/// Appends zeros to a buffer, and returns where they begin.
fn extend(buffer: &mut Vec<u64>, words: usize) -> Result<*mut u8> {
    let at = buffer.len();
    reserve(buffer, words)?;
    buffer.resize(at + words, 0);
    Ok(buffer[at..].as_mut_ptr().cast())
}

/// Appends a packet, whose bytes `pack` writes, to a message between routers. `label` is its target
/// and source, and its length or [`LOST`]. If there is no room for it or it cannot be packed, the
/// label travels without it, so that the others are not held up, and the loss is noted. Fails if
/// there is no room for the label.
pub fn append(
    message: &mut Vec<u64>,
    label: [u64; LABEL],
    pack: impl FnOnce(*mut u8) -> Result<()>,
    loss: &mut Loss,
) -> Result<()> {
    reserve(message, LABEL)?;
    message.extend(label);
    let at = message.len();
    let bytes = if label[1] == LOST { 0 } else { label[1] };
    if let Err(e) = extend(message, words(bytes) - LABEL).and_then(pack) {
        message.truncate(at);
        message[at - 1] = LOST;
        loss.note(e);
    }
    Ok(())
}

/// One step of the router, with its messages.
#[derive(Debug)]
struct Round {
    step: Step,
    outgoing: Vec<u64>,
    sends: [Request; 2],
    incoming: Vec<Incoming>,
}

/// A message received in a step: in `head` if it fits, otherwise in `whole`.
#[derive(Debug)]
struct Incoming {
    from: u32,
    head: Box<[u64]>,
    whole: Vec<u64>,
    receive: Request,
    /// True once the head has arrived.
    begun: bool,
}

/// The router of one communicator.
#[derive(Debug)]
pub struct Router {
    comm: Arc<Comm>,
    tag: i32,
    rounds: Vec<Round>,
}

impl Router {
    /// Creates the router of the process that has place `me` among `size`; `rank` returns the rank
    /// in `comm` of each. Packets name their targets by places.
    pub fn new(comm: Arc<Comm>, [me, size]: [u32; 2], rank: impl Fn(u32) -> u32, tag: i32) -> Router {
        let incoming = |from: u32| Incoming {
            from,
            head: vec![0; HEAD / WORD].into(),
            whole: Vec::new(),
            receive: Request::default(),
            begun: false,
        };
        let round = |step: Step| Round {
            outgoing: Vec::new(),
            sends: Default::default(),
            incoming: step.from.iter().map(|&from| incoming(rank(from))).collect(),
            step: Step { to: rank(step.to), ..step },
        };
        Router { comm, tag, rounds: steps(me, size).into_iter().map(round).collect() }
    }

    /// Posts the receives of all steps, except those that an earlier attempt has posted.
    fn arm(&mut self) -> Result<()> {
        for incoming in self.rounds.iter_mut().flat_map(|r| &mut r.incoming).filter(|i| i.receive.is_null()) {
            let at = incoming.head.as_mut_ptr().cast();
            incoming.begun = false;
            // SAFETY: the head does not move and is read only after the receive completes.
            incoming.receive = unsafe { message::receive(at, HEAD as u64, Some(incoming.from), Some(self.tag), &self.comm) }?;
        }
        Ok(())
    }
}

impl Incoming {
    /// Returns true once the whole message has arrived.
    fn test(&mut self, tag: i32, comm: &Comm) -> Result<bool> {
        if !self.receive.test()? {
            return Ok(false);
        }
        if !self.begun {
            self.begun = true;
            let words = to_usize(self.head[0]);
            self.whole.clear();
            if words > self.head.len() {
                extend(&mut self.whole, words)?;
                let (first, rest) = self.whole.split_at_mut(self.head.len());
                first.copy_from_slice(&self.head);
                let bytes = (rest.len() * WORD) as u64;
                // SAFETY: the buffer does not move and is read only after the receive completes.
                self.receive =
                    unsafe { message::receive(rest.as_mut_ptr().cast(), bytes, Some(self.from), Some(tag + 1), comm) }?;
                return self.receive.test();
            }
        }
        Ok(true)
    }

    fn words(&self) -> &[u64] {
        if self.whole.is_empty() { &self.head[..to_usize(self.head[0])] } else { &self.whole }
    }
}

/// Packets on their way through a router.
#[derive(Debug)]
pub struct Routing {
    at: usize,
    held: Vec<Packet>,
    largest: Stats,
}

impl Routing {
    /// Starts to route these packets.
    ///
    /// # Safety
    /// The bytes of the packets and the blocks in `sends` must stay readable until the routing is
    /// done.
    pub unsafe fn start(router: &mut Router, held: Vec<Packet>, stats: Stats, sends: &Sends, loss: &mut Loss) -> Result<Routing> {
        router.arm()?;
        let mut routing = Routing { at: 0, held, largest: stats };
        // SAFETY: the caller vouches for the bytes.
        unsafe { routing.send(router, sends, loss) }?;
        Ok(routing)
    }

    /// Sends what leaves this process in the current step.
    unsafe fn send(&mut self, router: &mut Router, sends: &Sends, loss: &mut Loss) -> Result<()> {
        let (tag, comm) = (router.tag, &router.comm);
        let Some(Round { step, outgoing, sends: requests, .. }) = router.rounds.get_mut(self.at) else {
            return Ok(());
        };
        let gives = |r: &&Packet| step.gives.contains(&r.target);
        let words = PREFIX + self.held.iter().filter(gives).map(|r| words(r.bytes)).sum::<usize>();
        outgoing.clear();
        // where this fails, each packet asks for its own room
        reserve(outgoing, words).or_else(|_| reserve(outgoing, PREFIX))?;
        outgoing.extend([0, self.largest.word().into()]);
        for r in self.held.iter().filter(gives) {
            let bytes = if matches!(r.body, Body::Lost) { LOST } else { r.bytes };
            let label = [u64::from(r.target) << 32 | u64::from(r.source), bytes];
            // SAFETY: the caller vouches for the source; there is room for as many bytes.
            let pack = |into| unsafe {
                match r.body {
                    Body::Own(i) => return sends.list[i].pack(into, sends.dense, comm),
                    Body::At(from) => std::ptr::copy_nonoverlapping(from, into, to_usize(r.bytes)),
                    Body::Lost => {}
                }
                Ok(())
            };
            append(outgoing, label, pack, loss)?;
        }
        outgoing[0] = outgoing.len() as u64;
        self.held.retain(|r| !step.gives.contains(&r.target));
        let (head, rest) = outgoing.split_at(outgoing.len().min(HEAD / WORD));
        for (request, (part, tag)) in requests.iter_mut().zip([(head, tag), (rest, tag + 1)]) {
            if !part.is_empty() {
                let block = bytes_at(part.as_ptr().cast(), size_of_val(part) as u64);
                // SAFETY: the words are not changed before the sends complete.
                *request = unsafe { message::send(Mode::Standard, &block, step.to, tag, comm) }?;
            }
        }
        Ok(())
    }

    /// Advances the routing. Once it is done, returns the packets addressed to this process, and
    /// the maximum stats. Their bytes belong to the router, until it is used again, or to the
    /// sender.
    ///
    /// # Safety
    /// As for `start`.
    #[inline]
    pub unsafe fn progress(&mut self, router: &mut Router, sends: &Sends, loss: &mut Loss) -> Result<Option<(&[Packet], Stats)>> {
        while let Some(round) = router.rounds.get_mut(self.at) {
            for incoming in &mut round.incoming {
                if !incoming.test(router.tag, &router.comm)? {
                    return Ok(None);
                }
            }
            for incoming in &round.incoming {
                let words = incoming.words();
                self.largest = self.largest.max(Stats::from_word(low_half(words[1])));
                Packet::read_all(&words[PREFIX..], &mut self.held);
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

/// A run of the protocol.
pub struct Run(Routing);

impl Run {
    /// Posts the receives. If that fails, it may be done again.
    pub fn arm(transport: &Transport, router: &mut Option<Router>) -> Result<()> {
        let Transport { comm, rank, size, .. } = transport;
        router.get_or_insert_with(|| Router::new(Arc::clone(comm), [*rank, *size], |place| place, Tag::Router.number(0))).arm()
    }

    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, router: &mut Option<Router>, sends: &Sends) -> Result<Run> {
        let (rank, mine) = (transport.rank, transport.stats(sends));
        let router = router.as_mut().expect("created by arm");
        let held = (sends.list.iter().enumerate())
            .filter(|(_, o)| o.target != rank)
            .map(|(i, o)| Packet { target: o.target, source: rank, bytes: o.bytes, body: Body::Own(i) })
            .collect();
        // SAFETY: the caller vouches for the blocks.
        Ok(Run(unsafe { Routing::start(router, held, mine, sends, &mut transport.loss) }?))
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        router: &mut Option<Router>,
        sends: &Sends,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let router = router.as_mut().expect("created by start");
        // SAFETY: the caller vouches for the blocks.
        let Some((packets, largest)) = unsafe { self.0.progress(router, sends, &mut transport.loss) }? else {
            return Ok(false);
        };
        transport.learn(largest);
        // SAFETY: the bytes are valid until the router is used again.
        unsafe { deliver(packets, arrivals, &mut transport.loss) }?;
        Ok(true)
    }
}

/// Adds copies of packets that have arrived, and packets lost ones.
///
/// # Safety
/// Their bytes must be readable.
pub unsafe fn deliver(packets: &[Packet], arrivals: &mut Arrivals, loss: &mut Loss) -> Result<()> {
    for r in packets {
        match r.body {
            // SAFETY: the caller vouches for the bytes.
            Body::At(from) => unsafe { arrivals.copy(r.source, from, r.bytes) }?,
            Body::Lost => loss.miss(r.source),
            Body::Own(_) => {}
        }
    }
    Ok(())
}
