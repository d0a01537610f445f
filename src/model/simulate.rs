//! Runs the schedules of all processes in simulated time, event by event.
//!
//! # The model
//! A process has a processor and two ports, one out and one in; in half duplex one port is both.
//! All start at time 0. Letters are those of [`Loggp`].
//!
//! **A message of k bytes**
//! 1. The sender's processor works for o. It takes its work in the order in which it comes, sends
//!    of a round in their order.
//! 2. The bytes pass the sender's out-port, which takes (k - 1) G. Messages of a process leave in
//!    the order in which it sends them, whoever they are for: one that cannot leave holds up those
//!    behind it.
//! 3. They pass the target's in-port, which takes (k - 1) G too; not one after the other, but as
//!    they come. A port passes one message at a time; behind each it rests for g.
//! 4. L after its last byte has passed the in-port, the message has arrived.
//! 5. When the receive has been posted too, the target's processor works for o. Then the receive is
//!    complete.
//!
//! Steps 2 and 3 differ by size:
//! - at most `eager` bytes: passing the out-port needs only the out-port. The send is complete when
//!   the last byte has left. If the in-port is not free, the network keeps the message.
//! - more (rendezvous): the message leaves when it is first in its line, the receive has been
//!   posted, and both ports are free. It passes both at once. That the two processes agree costs
//!   nothing. Several that wait for one in-port pass in the order in which they came to wait. This
//!   is what IrregPC calls node contention: a sender whose target is busy waits, and its other
//!   messages with it.
//!
//! LogGP puts L before the in-port. As L is the same for all messages, the end of each receive is
//! the same. In full duplex nothing else differs either; in half duplex a message occupies the
//! target's port L earlier than it would there. Here times *at ports* are as the sender's side sees
//! them; [`Transfer::receive`] has L added.
//!
//! **A round** begins with the posting of its receives, then its sends are given to the processor.
//! With a window of 1 a process begins a round when all its operations of the rounds before are
//! complete. With a window of w > 1, receives of w rounds are posted, counted from the first round
//! that is not complete. The sends of a round in the window begin when all sends of the rounds
//! before are complete, and all rounds that write a block which they read. Rounds are counted as
//! each process stores them.
//!
//! **Costs nothing**: copies, but where [`Options::copy`] says otherwise those into packets and out
//! of them, for which the processor works longer than o; reductions, posting a receive, a part of a
//! block that has no bytes (no message is made of it), and what a packet says about its blocks. A
//! whole block without bytes is a message, which costs as much as one of 1 byte.
//!
//! # What happens at the same time
//! happens in this order, which does not depend on how schedules are stored; only the order of a
//! process's sends, which it posts one after the other, says anything:
//! 1. Messages arrive: those of the lowest sender first, and of one sender in the order of its
//!    sends. That is *the order of messages*, also below.
//! 2. Processes whose rounds or sends are complete go on. Each posts receives, round by round; the
//!    processor gets those whose messages are there already as they arrived, then in the order of
//!    messages. Then it gets the sends.
//! 3. Messages take ports that are free, those first that have waited longest, then in the order of
//!    messages. A message waits from when it is first in its line, its sender's processor is done
//!    with it, the port has rested from the one before it, and, for rendezvous, its receive is
//!    posted. One that was eager waits for the in-port from when it has left.
//!
//! What takes no time may make more happen at the same time: then the first of all of this that
//! can happen happens next. A message that waits for a second port holds up nobody at the first.
//!
//! Two processes that run this on equal arguments get equal bits. Only sums and products are made
//! of times.
//!
//! # Cost
//! O(m log m) time for m messages, and about 200 bytes of memory for a message and for a process.
//! In half duplex a port that becomes free may have to look at all messages that wait for it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use super::Loggp;
use crate::schedule::{Block, Op, Part, Schedule, length};
use crate::topology::neighborhood::{Neighborhood, Rank};

/// How schedules are run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Of how many rounds the receives are posted; 1: a round begins when the one before is
    /// complete. At least 1.
    pub window: u32,
    /// Whether a process sends or receives at a time, not both.
    pub half_duplex: bool,
    /// Whether [`Run::trace`] is wanted.
    pub trace: bool,
    /// Whether it is a gather, so that all input blocks of a process are one block, which is in a
    /// packet once.
    pub gather: bool,
    /// How long a processor works for a byte that it copies into a packet or out of one, in
    /// microseconds.
    pub copy: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { window: 1, half_duplex: false, trace: false, gather: false, copy: 0.0 }
    }
}

/// What a process did. Times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Process {
    /// When its last operation was complete.
    pub finish: f64,
    /// How long its processor worked.
    pub processor: f64,
    /// How long bytes passed its out-port. Rests of g are not in it.
    pub out_port: f64,
    /// How long bytes passed its in-port.
    pub in_port: f64,
}

impl Process {
    /// How long the processor had nothing to do until the finish.
    pub fn idle_processor(&self) -> f64 {
        self.finish - self.processor
    }

    /// How long no bytes passed the out-port until the finish.
    pub fn idle_out_port(&self) -> f64 {
        self.finish - self.out_port
    }

    /// How long no bytes passed the in-port until the finish.
    pub fn idle_in_port(&self) -> f64 {
        self.finish - self.in_port
    }
}

/// What a step of the critical path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The processor works for a message that it sends.
    SendOverhead,
    /// A message passes the sender's out-port.
    OutPort,
    /// A message passes the target's in-port; where nothing was in its way there, the out-port at
    /// the same time.
    InPort,
    /// A message is on its way.
    Latency,
    /// The port rests before it passes the next message.
    Gap,
    /// The processor works for a message that it receives.
    ReceiveOverhead,
}

/// One step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Where.
    pub process: Rank,
    /// What.
    pub what: What,
    /// Sender of the message that it is about.
    pub source: Rank,
    /// Its target.
    pub target: Rank,
    /// When it begins, in microseconds.
    pub from: f64,
    /// When it ends, in microseconds: when the next step begins.
    pub until: f64,
}

/// What happened to one message. Times in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// Sender.
    pub source: Rank,
    /// Receiver.
    pub target: Rank,
    /// Number of the round.
    pub round: u32,
    /// Its length.
    pub bytes: u64,
    /// From the beginning of the sender's work until the last byte has left.
    pub send: Range<f64>,
    /// From the arrival of the first byte until the receive is complete.
    pub receive: Range<f64>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// When the last process finished, in microseconds.
    pub total: f64,
    /// What each process did.
    pub processes: Vec<Process>,
    /// What the finish of the last process (of the lowest rank, where several are last) waited for:
    /// from time 0 to `total`, without a hole.
    pub path: Vec<Step>,
    /// All messages by sender, each sender's in its order, if they are wanted.
    pub trace: Option<Vec<Transfer>>,
}

/// Runs schedules, given in the order of ranks.
///
/// `bytes` is the length in bytes of a block that a process sends. It is asked for input blocks,
/// and for blocks which the process sends without having received, copied or reduced anything into
/// them before; the lengths of all others follow from what was sent.
///
/// # Errors
/// A sentence, where the schedules do not match: messages meet in the order in which they stand, in
/// rounds of the same number. Schedules that match always run to the end. Also where a parameter is
/// negative or not finite, or the window 0.
pub fn simulate(
    schedules: &[Schedule],
    bytes: &dyn Fn(Rank, Block) -> u64,
    params: &Loggp,
    options: &Options,
) -> Result<Run, String> {
    if let Some(key) = params.invalid() {
        return Err(format!("{key} is not a finite number of at least 0"));
    }
    if !options.copy.is_finite() || options.copy < 0.0 {
        return Err("the time for a copied byte is not a finite number of at least 0".into());
    }
    if options.window == 0 {
        return Err("a window of 0 rounds lets nothing begin".into());
    }
    let world = World::new(schedules, bytes, options.gather)?;
    let mut simulation = Simulation::new(&world, params, options);
    simulation.run();
    Ok(simulation.result(schedules))
}

/// The total time of a world's schedules, in microseconds, where an edge carries
/// `bytes_per_weight` bytes for each unit of the weight in the target list ([`length()`]).
///
/// # Errors
/// As [`simulate()`].
pub fn predict(
    world: &[Neighborhood],
    schedules: &[Schedule],
    bytes_per_weight: u64,
    params: &Loggp,
    options: &Options,
) -> Result<f64, String> {
    let bytes = |p: Rank, block: Block| bytes_of(world, bytes_per_weight, p, block);
    Ok(simulate(schedules, &bytes, params, options)?.total)
}

/// How many bytes a process sends in an input block, where an edge carries `bytes_per_weight` for
/// each unit of its weight.
pub fn bytes_of(world: &[Neighborhood], bytes_per_weight: u64, p: Rank, block: Block) -> u64 {
    let target = world.get(p as usize).and_then(|n| n.targets().get(block.slot()));
    target.map_or(0, |n| length(n.weight, bytes_per_weight))
}

// ---- what is to be done

/// A send and its receive.
struct Message {
    source: Rank,
    target: Rank,
    /// Number of the sender's round, counted over the rounds of all processes.
    send_round: u32,
    /// The same of the receiver's.
    recv_round: u32,
    bytes: u64,
    /// Bytes that are copied to put it together, and to take it apart.
    copied: [u64; 2],
    /// Whether it is sent at all.
    exists: bool,
}

/// The schedules, with sends and receives matched. Messages are numbered in the order of their
/// sends: by process, round, and place.
struct World {
    /// First round of each process, and behind them the number of rounds.
    rounds: Vec<u32>,
    /// First message that is sent in each round, and behind them the number of messages.
    sends: Vec<u32>,
    /// Where the receives of each round begin in `recv_list`, and its length.
    recvs: Vec<u32>,
    /// Messages in the order of their receives.
    recv_list: Vec<u32>,
    /// For each round the one of the same process (counted over all) before which all must be
    /// complete before its sends may begin.
    needs: Vec<u32>,
    messages: Vec<Message>,
}

/// Messages have four activities each, which are numbered in 32 bits.
const MOST_MESSAGES: usize = (u32::MAX / 4) as usize;

impl World {
    fn new(schedules: &[Schedule], bytes: &dyn Fn(Rank, Block) -> u64, gather: bool) -> Result<World, String> {
        let mut world = World {
            rounds: vec![0],
            sends: vec![0],
            recvs: vec![0],
            recv_list: Vec::new(),
            needs: Vec::new(),
            messages: Vec::new(),
        };
        let (mut sends, mut recvs) = (0, 0);
        let mut steps: Vec<(u32, u32, u32)> = Vec::new();
        for (p, schedule) in schedules.iter().enumerate() {
            for r in 0..schedule.rounds() {
                steps.push((schedule.number(r), p as u32, r as u32));
                for op in schedule.round(r) {
                    match op {
                        Op::Send { .. } => sends += 1,
                        Op::Recv { .. } => recvs += 1,
                        Op::Copy { .. } | Op::Reduce { .. } => {}
                    }
                }
                if sends.max(recvs) > MOST_MESSAGES || steps.len() > MOST_MESSAGES {
                    return Err(format!("there are more than {MOST_MESSAGES} messages or rounds"));
                }
                world.sends.push(sends as u32);
                world.recvs.push(recvs as u32);
            }
            world.rounds.push(steps.len() as u32);
        }
        world.needs.resize(steps.len(), 0);
        world.recv_list.resize(recvs, 0);
        world.messages.reserve_exact(sends);
        for (p, schedule) in schedules.iter().enumerate() {
            for r in 0..schedule.rounds() {
                for op in schedule.round(r) {
                    if let Op::Send { to, .. } = *op {
                        if to as usize >= schedules.len() || to as usize == p {
                            return Err(format!("process {p}, round {}: a message is sent to {to}", schedule.number(r)));
                        }
                        let send_round = world.rounds[p] + r as u32;
                        world.messages.push(Message {
                            source: p as Rank,
                            target: to,
                            send_round,
                            recv_round: 0,
                            bytes: 0,
                            copied: [0; 2],
                            exists: true,
                        });
                    }
                }
            }
        }
        steps.sort_unstable();
        let mut lengths = Lengths::new(schedules, bytes, gather);
        for steps in steps.chunk_by(|a, b| a.0 == b.0) {
            world.meet(schedules, steps, &mut lengths)?;
        }
        Ok(world)
    }

    /// Matches the sends and receives of all rounds of one number, and follows the lengths of
    /// blocks through them.
    fn meet(&mut self, schedules: &[Schedule], steps: &[(u32, u32, u32)], lengths: &mut Lengths) -> Result<(), String> {
        struct Send {
            pair: (Rank, Rank),
            message: u32,
            length: Length,
            packed: bool,
            part: Part,
        }
        struct Recv {
            pair: (Rank, Rank),
            round: u32,
            place: u32,
            into: Block,
            part: Part,
        }
        let (mut sends, mut recvs) = (Vec::new(), Vec::new());
        for &(_, p, r) in steps {
            let round = self.rounds[p as usize] + r;
            let (mut message, mut place) = (self.sends[round as usize], self.recvs[round as usize]);
            for op in schedules[p as usize].round(r as usize) {
                match *op {
                    Op::Send { to, block, part } => {
                        let (length, begun) = lengths.read(p, block);
                        let needs = &mut self.needs[round as usize];
                        *needs = begun.max(*needs);
                        sends.push(Send { pair: (p, to), message, length, packed: matches!(block, Block::Packet(_)), part });
                        message += 1;
                    }
                    Op::Recv { from, into, part } => {
                        recvs.push(Recv { pair: (from, p), round, place, into, part });
                        place += 1;
                    }
                    Op::Copy { .. } | Op::Reduce { .. } => {}
                }
            }
        }
        // each pair's are in the order in which they stand, which this keeps
        sends.sort_by_key(|s| s.pair);
        recvs.sort_by_key(|r| r.pair);
        let number = steps[0].0;
        for i in 0..sends.len().max(recvs.len()) {
            let (s, r) = match (sends.get(i), recvs.get(i)) {
                (Some(s), Some(r)) if s.pair == r.pair => (s, r),
                (Some(s), r) if r.is_none_or(|r| s.pair < r.pair) => {
                    return Err(format!("process {}, round {number}: a send to {} meets no receive", s.pair.0, s.pair.1));
                }
                (_, r) => {
                    let (from, to) = r.map_or((0, 0), |r| r.pair);
                    return Err(format!("process {to}, round {number}: a receive from {from} meets no send"));
                }
            };
            if s.part != r.part {
                let ((from, to), (sent, wanted)) = (s.pair, (s.part, r.part));
                return Err(format!("process {to}, round {number}: {from} sends the part {sent} where {wanted} is received"));
            }
            let message = &mut self.messages[s.message as usize];
            let range = s.part.range(s.length.bytes);
            message.bytes = range.end - range.start;
            message.exists = s.part.is_whole() || message.bytes > 0;
            message.recv_round = r.round;
            message.copied = [if s.packed { s.length.bytes } else { 0 }, lengths.taken(s.pair.1, r.into, &s.length)];
            self.recv_list[r.place as usize] = s.message;
            lengths.write(s.pair.1, r.into, &s.length, r.round)?;
        }
        for &(_, p, r) in steps {
            for op in schedules[p as usize].round(r as usize) {
                if let Op::Copy { from, into } | Op::Reduce { from, into } = *op {
                    lengths.copy(p, from, into, self.rounds[p as usize] + r)?;
                }
            }
        }
        Ok(())
    }

    fn sends_of(&self, round: u32) -> Range<u32> {
        self.sends[round as usize]..self.sends[round as usize + 1]
    }

    fn recvs_of(&self, round: u32) -> &[u32] {
        &self.recv_list[self.recvs[round as usize] as usize..self.recvs[round as usize + 1] as usize]
    }
}

/// The length of a block in bytes; of a packet also those of its blocks.
#[derive(Clone)]
struct Length {
    bytes: u64,
    blocks: Option<Rc<[Length]>>,
    /// In a gather whose block it is.
    source: Option<Rank>,
}

/// Lengths of blocks.
struct Lengths<'a> {
    schedules: &'a [Schedule],
    bytes: &'a dyn Fn(Rank, Block) -> u64,
    gather: bool,
    /// Which processes send blocks other than input blocks: only of these the others are followed.
    forwards: Vec<bool>,
    /// Their blocks: length, and number of the round behind the one that wrote it last.
    blocks: HashMap<(Rank, Block), (Length, u32)>,
}

impl<'a> Lengths<'a> {
    fn new(schedules: &'a [Schedule], bytes: &'a dyn Fn(Rank, Block) -> u64, gather: bool) -> Lengths<'a> {
        let forwarded = |op: &Op| matches!(op, Op::Send { block, .. } if !matches!(block, Block::Input(_)));
        let forwards = schedules.iter().map(|s| s.ops().iter().any(forwarded)).collect();
        Lengths { schedules, bytes, gather, forwards, blocks: HashMap::new() }
    }

    fn read(&self, p: Rank, block: Block) -> (Length, u32) {
        if let Block::Packet(k) = block {
            let blocks = self.schedules[p as usize].packet(k as usize).iter().map(|&block| self.read(p, block));
            let (lengths, written): (Vec<Length>, Vec<u32>) = blocks.unzip();
            let again = |i: usize| i > 0 && lengths[i].source.is_some() && lengths[i].source == lengths[i - 1].source;
            let bytes = (0..lengths.len()).filter(|&i| !again(i)).map(|i| lengths[i].bytes).sum();
            return (Length { bytes, blocks: Some(lengths.into()), source: None }, written.into_iter().max().unwrap_or(0));
        }
        let source = (self.gather && matches!(block, Block::Input(_))).then_some(p);
        let asked = || (Length { bytes: (self.bytes)(p, block), blocks: None, source }, 0);
        self.blocks.get(&(p, block)).cloned().unwrap_or_else(asked)
    }

    fn write(&mut self, p: Rank, block: Block, length: &Length, round: u32) -> Result<(), String> {
        if !self.forwards[p as usize] {
            return Ok(());
        }
        let Block::Packet(k) = block else {
            self.blocks.insert((p, block), (length.clone(), round + 1));
            return Ok(());
        };
        let schedules = self.schedules;
        let blocks = schedules[p as usize].packet(k as usize);
        let lengths = length.blocks.as_deref().unwrap_or_default();
        if blocks.len() != lengths.len() {
            return Err(format!(
                "process {p}: packet {k} of {} blocks is received where {} are sent",
                blocks.len(),
                lengths.len()
            ));
        }
        blocks.iter().zip(lengths).try_for_each(|(&block, length)| self.write(p, block, length, round))
    }

    /// Bytes that are copied out of what a process receives, to where they belong.
    fn taken(&self, p: Rank, into: Block, length: &Length) -> u64 {
        let (Block::Packet(k), Some(lengths)) = (into, &length.blocks) else { return 0 };
        let blocks = self.schedules[p as usize].packet(k as usize).iter().zip(lengths.iter());
        blocks.filter(|(block, _)| matches!(block, Block::Output(_))).map(|(_, length)| length.bytes).sum()
    }

    fn copy(&mut self, p: Rank, from: Block, into: Block, round: u32) -> Result<(), String> {
        if !self.forwards[p as usize] {
            return Ok(());
        }
        let length = self.read(p, from).0;
        self.write(p, into, &length, round)
    }
}

// ---- what happens

/// No activity: time 0.
const NOTHING: u32 = u32::MAX;

/// In `Simulation::left`: the round is complete.
const DONE: u32 = u32::MAX;

/// The activities of message `m` are numbered `4 m` and on.
const ACTIVITIES: [What; 4] = [What::SendOverhead, What::OutPort, What::InPort, What::ReceiveOverhead];

const SEND_OVERHEAD: u32 = 0;
const OUT_PORT: u32 = 1;
const IN_PORT: u32 = 2;
const RECEIVE_OVERHEAD: u32 = 3;

/// Its sender's processor has got it.
const BEGUN: u8 = 1;
/// The receive has been posted.
const POSTED: u8 = 2;
/// It passes the out-port, or has passed it.
const LEFT: u8 = 4;
/// It passes the in-port, or has passed it.
const PASSED: u8 = 8;
/// It has arrived.
const ARRIVED: u8 = 16;
/// It stands in the line of its sender's out-port.
const WAITS_OUT: u8 = 32;
/// It stands in the line of its target's in-port.
const WAITS_IN: u8 = 64;
/// Its first `Event::Take` has been put among the events.
const CALLED: u8 = 128;

/// What happens at one time happens in this order, by number within a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message has arrived.
    Arrived(u32),
    /// A round is complete.
    Done(u32),
    /// The last message of the sends that have begun has left.
    Left(u32),
    /// A process looks at what is complete, and begins what may begin then.
    Progress(u32),
    /// A port that messages wait for is free.
    Free(u32),
    /// A message takes the ports that it needs, if they are free. Those that have waited longest
    /// come first: the bits of the time since when it waits.
    Take(u64, u32),
}

/// Messages that wait for a port, with the bits of the time since when: ascending, as they get it.
type Line = VecDeque<(u64, u32)>;

struct Port {
    /// From when on it is free.
    free: f64,
    /// What it did last.
    last: u32,
    /// Whether its next `Event::Free` is on its way.
    wakes: bool,
    waiting: Line,
}

struct State {
    /// First round that is not complete.
    current: u32,
    /// First round whose receives are not posted.
    posted: u32,
    /// First round whose sends have not begun.
    begun: u32,
    /// Sends that have begun and have not left. The last one counts until its last byte has left,
    /// where the window makes that matter.
    sending: u32,
    /// First message that has not left.
    head: u32,
    /// What left last, and from when on the next message may leave.
    sent: u32,
    rested: f64,
    /// From when on the processor is free.
    free: f64,
    /// What it did last.
    last: u32,
    /// At whose end there is progress.
    woken: u32,
    /// At whose end the process finished.
    end: u32,
    did: Process,
}

struct Simulation<'a> {
    world: &'a World,
    params: &'a Loggp,
    options: &'a Options,
    /// By time: bits of a number that is not negative are ordered as it is.
    events: BinaryHeap<Reverse<(u64, Event)>>,
    /// An event of now that comes before all others.
    next: Option<Event>,
    now: f64,
    /// The activity whose end is dealt with now.
    cause: u32,
    /// For each activity when it began, and at whose end. Until a message leaves, for its
    /// out-port since when it waits.
    begin: Vec<f64>,
    causes: Vec<u32>,
    flags: Vec<u8>,
    /// For each round the number of operations of which it is not known when they will be complete;
    /// `DONE` when they are.
    left: Vec<u32>,
    /// When the last of those is complete of which it is known, and at whose end.
    done: Vec<(f64, u32)>,
    states: Vec<State>,
    /// Of process `p` the out-port `2 p` and the in-port `2 p + 1`; in half duplex both are `2 p`.
    ports: Vec<Port>,
}

impl<'a> Simulation<'a> {
    fn new(world: &'a World, params: &'a Loggp, options: &'a Options) -> Self {
        let processes = world.rounds.len() - 1;
        let mut left = vec![0; world.needs.len()];
        for m in world.messages.iter().filter(|m| m.exists) {
            left[m.send_round as usize] += 1;
            left[m.recv_round as usize] += 1;
        }
        left.iter_mut().filter(|left| **left == 0).for_each(|left| *left = DONE);
        let state = |p: usize| {
            let first = world.rounds[p];
            State {
                current: first,
                posted: first,
                begun: first,
                sending: 0,
                head: world.sends[first as usize],
                sent: NOTHING,
                rested: 0.0,
                free: 0.0,
                last: NOTHING,
                woken: NOTHING,
                end: NOTHING,
                did: Process::default(),
            }
        };
        let port = |_| Port { free: 0.0, last: NOTHING, wakes: false, waiting: Line::new() };
        Simulation {
            world,
            params,
            options,
            events: BinaryHeap::new(),
            next: None,
            now: 0.0,
            cause: NOTHING,
            begin: vec![0.0; 4 * world.messages.len()],
            causes: vec![NOTHING; 4 * world.messages.len()],
            flags: vec![0; world.messages.len()],
            done: vec![(0.0, NOTHING); left.len()],
            left,
            states: (0..processes).map(state).collect(),
            ports: (0..2 * processes).map(port).collect(),
        }
    }

    fn run(&mut self) {
        for p in 0..self.states.len() {
            self.at(0.0, Event::Progress(p as u32));
        }
        loop {
            let event = match self.next.take() {
                Some(event) => event,
                None => {
                    let Some(Reverse((time, event))) = self.events.pop() else { break };
                    debug_assert!(f64::from_bits(time) >= self.now);
                    self.now = f64::from_bits(time);
                    event
                }
            };
            self.happen(event);
        }
        // A process that waits in the earliest round of all waits only for messages whose sender
        // has reached that round, and its line, and whose target has too; so one of them moves.
        let stuck = (self.states.iter().enumerate()).find(|(p, s)| s.current < self.world.rounds[p + 1]);
        assert!(stuck.is_none(), "process {} waits for ever", stuck.map_or(0, |s| s.0));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrived(m) => {
                self.cause = 4 * m + IN_PORT;
                self.flags[m as usize] |= ARRIVED;
                if self.flags[m as usize] & POSTED != 0 {
                    self.receive(m);
                }
            }
            Event::Done(round) => {
                let cause = self.done[round as usize].1;
                let message = &self.world.messages[cause as usize / 4];
                self.left[round as usize] = DONE;
                self.wake_process(if cause % 4 == OUT_PORT { message.source } else { message.target }, cause);
            }
            Event::Left(m) => {
                let p = self.world.messages[m as usize].source;
                self.states[p as usize].sending = 0;
                self.wake_process(p, 4 * m + OUT_PORT);
            }
            Event::Progress(p) => {
                self.cause = self.states[p as usize].woken;
                self.progress(p as usize);
            }
            Event::Free(port) => {
                self.ports[port as usize].wakes = false;
                if let Some(&(since, m)) = self.ports[port as usize].waiting.front() {
                    self.at(self.now, Event::Take(since, m));
                }
            }
            Event::Take(since, m) => self.take(since, m),
        }
    }

    fn at(&mut self, time: f64, event: Event) {
        let mut event = event;
        if time == self.now {
            match self.next {
                Some(next) if event < next => {
                    self.next = Some(event);
                    event = next;
                }
                None if self.events.peek().is_none_or(|first| (time.to_bits(), event) < first.0) => {
                    self.next = Some(event);
                    return;
                }
                _ => {}
            }
        }
        self.events.push(Reverse((time.to_bits(), event)));
    }

    fn wake_process(&mut self, p: Rank, cause: u32) {
        self.states[p as usize].woken = cause;
        self.at(self.now, Event::Progress(p));
    }

    /// It is known when an operation of a round will be complete.
    fn complete(&mut self, round: u32, time: f64, node: u32) {
        let done = &mut self.done[round as usize];
        if time >= done.0 {
            *done = (time, node);
        }
        let last = done.0;
        self.left[round as usize] -= 1;
        if self.left[round as usize] == 0 {
            self.at(last, Event::Done(round));
        }
    }

    /// Counts the rounds that are complete, and begins what may begin then.
    fn progress(&mut self, p: usize) {
        let world = self.world;
        let state = &mut self.states[p];
        let end = world.rounds[p + 1];
        while state.current < end && self.left[state.current as usize] == DONE {
            state.current += 1;
        }
        // there is nothing after what completes the last round
        if state.current == end {
            state.did.finish = self.now;
            state.end = self.cause;
        }
        let (current, horizon) = (state.current, end.min(state.current.saturating_add(self.options.window)));
        while self.states[p].posted < horizon {
            self.post(self.states[p].posted);
            self.states[p].posted += 1;
        }
        loop {
            let round = self.states[p].begun;
            if self.states[p].sending > 0 || round >= horizon || current < world.needs[round as usize] {
                break;
            }
            for m in world.sends_of(round).filter(|&m| world.messages[m as usize].exists) {
                self.states[p].sending += 1;
                self.flags[m as usize] |= BEGUN;
                self.work(p, m, SEND_OVERHEAD);
            }
            self.states[p].begun += 1;
            self.advance(p);
        }
    }

    /// Gives the processor of `p` something to do for a message. Returns when it is done.
    fn work(&mut self, p: usize, m: u32, activity: u32) -> f64 {
        let state = &self.states[p];
        let (begin, cause) = if state.free > self.now { (state.free, state.last) } else { (self.now, self.cause) };
        let node = 4 * m + activity;
        let works = self.works(node);
        let state = &mut self.states[p];
        state.free = begin + works;
        state.last = node;
        state.did.processor += works;
        self.begin[node as usize] = begin;
        self.causes[node as usize] = cause;
        begin + works
    }

    /// How long a processor works for a message at one of its ends.
    fn works(&self, node: u32) -> f64 {
        let copied = self.world.messages[node as usize / 4].copied[usize::from(node % 4 == RECEIVE_OVERHEAD)];
        self.params.overhead + copied as f64 * self.options.copy
    }

    /// Posts the receives of a round, all at once: the processor takes those whose messages have
    /// arrived in the order in which they did.
    fn post(&mut self, round: u32) {
        let world = self.world;
        let mut arrived: Vec<(u64, u32)> = Vec::new();
        for &m in world.recvs_of(round) {
            let message = &world.messages[m as usize];
            if !message.exists {
                continue;
            }
            self.flags[m as usize] |= POSTED;
            if self.flags[m as usize] & ARRIVED != 0 {
                arrived.push(((self.end_of(4 * m + IN_PORT) + self.params.latency).to_bits(), m));
            } else if message.bytes > self.params.eager && self.states[message.source as usize].head == m {
                self.advance(message.source as usize);
            }
        }
        arrived.sort_unstable();
        arrived.into_iter().for_each(|(_, m)| self.receive(m));
    }

    fn receive(&mut self, m: u32) {
        let message = &self.world.messages[m as usize];
        let time = self.work(message.target as usize, m, RECEIVE_OVERHEAD);
        self.complete(message.recv_round, time, 4 * m + RECEIVE_OVERHEAD);
    }

    fn out_port(&self, m: u32) -> usize {
        2 * self.world.messages[m as usize].source as usize
    }

    fn in_port(&self, m: u32) -> usize {
        2 * self.world.messages[m as usize].target as usize + usize::from(!self.options.half_duplex)
    }

    /// Calls the first message in the line of a process for when nothing but ports holds it up, if
    /// that is known.
    fn advance(&mut self, p: usize) {
        let world = self.world;
        let behind = world.sends[world.rounds[p + 1] as usize];
        let state = &mut self.states[p];
        while state.head < behind && !world.messages[state.head as usize].exists {
            state.head += 1;
        }
        let m = state.head;
        if m == behind {
            return;
        }
        let flags = self.flags[m as usize];
        let wanted = world.messages[m as usize].bytes <= self.params.eager || flags & POSTED != 0;
        if flags & (BEGUN | CALLED) != BEGUN || !wanted {
            return;
        }
        let (mut since, mut cause) = (self.now, self.cause);
        let (rested, sent) = (self.states[p].rested, self.states[p].sent);
        if rested > since {
            (since, cause) = (rested, sent);
        }
        let ready = self.end_of(4 * m + SEND_OVERHEAD);
        if ready >= since {
            (since, cause) = (ready, 4 * m + SEND_OVERHEAD);
        }
        self.flags[m as usize] |= CALLED;
        self.begin[(4 * m + OUT_PORT) as usize] = since;
        self.causes[(4 * m + OUT_PORT) as usize] = cause;
        self.at(since, Event::Take(since.to_bits(), m));
    }

    /// Gives a message the ports that it needs. If one of them is not free it stands in its line.
    fn take(&mut self, since: u64, m: u32) {
        let flags = self.flags[m as usize];
        // called by both of its ports, or gone on since
        if flags & PASSED != 0 || self.begin[(4 * m + OUT_PORT) as usize].to_bits() != since {
            return;
        }
        let leaves = flags & LEFT == 0;
        let eager = self.world.messages[m as usize].bytes <= self.params.eager;
        let needs = [(self.out_port(m), leaves), (self.in_port(m), !leaves || !eager)];
        let is_free = |s: &Self, port: usize| s.ports[port].free <= s.now;
        if needs.iter().all(|&(port, needed)| !needed || is_free(self, port)) {
            return if leaves { self.leave(m, since, eager) } else { self.pass(m, since) };
        }
        for (i, (port, _)) in needs.into_iter().enumerate().filter(|n| n.1.1) {
            if !is_free(self, port) {
                self.wait(port, since, m, [WAITS_OUT, WAITS_IN][i]);
            } else if flags & [WAITS_OUT, WAITS_IN][i] != 0 {
                // it can do nothing with this port: the next one may
                let line = &self.ports[port].waiting;
                let behind = line.partition_point(|&waiting| waiting <= (since, m));
                if let Some(&(since, next)) = line.get(behind) {
                    self.at(self.now, Event::Take(since, next));
                }
            }
        }
    }

    fn wait(&mut self, port: usize, since: u64, m: u32, flag: u8) {
        if self.flags[m as usize] & flag == 0 {
            self.flags[m as usize] |= flag;
            let line = &mut self.ports[port].waiting;
            let place = line.iter().rposition(|&waiting| waiting < (since, m)).map_or(0, |i| i + 1);
            line.insert(place, (since, m));
        }
        self.wake(port);
    }

    fn no_longer_waits(&mut self, port: usize, since: u64, m: u32, flag: u8) {
        if self.flags[m as usize] & flag != 0 {
            let line = &mut self.ports[port].waiting;
            if let Ok(place) = line.binary_search(&(since, m)) {
                line.remove(place);
            }
        }
    }

    /// Sees to it that those who wait for a port get it.
    fn wake(&mut self, port: usize) {
        let p = &mut self.ports[port];
        if !p.wakes && !p.waiting.is_empty() {
            p.wakes = true;
            let free = p.free;
            self.at(free, Event::Free(port as u32));
        }
    }

    /// What held up a message that waited for its ports until now.
    fn freed_by(&self, ports: [usize; 2]) -> u32 {
        let last = ports.iter().find(|&&port| self.ports[port].free == self.now);
        last.map_or(NOTHING, |&port| self.ports[port].last)
    }

    /// Lets the first message of a process's line leave. Its ports are free.
    fn leave(&mut self, m: u32, since: u64, eager: bool) {
        let (out, into) = (self.out_port(m), self.in_port(m));
        let message = &self.world.messages[m as usize];
        let node = 4 * m + OUT_PORT;
        self.no_longer_waits(out, since, m, WAITS_OUT);
        self.no_longer_waits(into, since, m, WAITS_IN);
        if self.now > f64::from_bits(since) {
            // an eager one does not look at the in-port
            self.causes[node as usize] = self.freed_by([if eager { out } else { into }, out]);
            self.begin[node as usize] = self.now;
        }
        self.flags[m as usize] |= LEFT;
        let takes = self.params.transfer(message.bytes);
        let state = &mut self.states[message.source as usize];
        state.head += 1;
        state.did.out_port += takes;
        state.rested = self.now + takes + self.params.gap;
        state.sent = node;
        if self.options.window > 1 && state.sending == 1 {
            self.at(self.now + takes, Event::Left(m));
        } else {
            state.sending -= 1;
        }
        self.occupy(out, node, takes);
        self.complete(message.send_round, self.now + takes, node);
        if eager {
            self.at(self.now, Event::Take(self.now.to_bits(), m));
        } else {
            self.pass(m, self.now.to_bits());
        }
        self.cause = node;
        self.advance(message.source as usize);
    }

    /// Lets a message pass its target's port, which is free.
    fn pass(&mut self, m: u32, since: u64) {
        let message = &self.world.messages[m as usize];
        let (into, takes, node) = (self.in_port(m), self.params.transfer(message.bytes), 4 * m + IN_PORT);
        let waited = self.now > f64::from_bits(since);
        self.no_longer_waits(into, since, m, WAITS_IN);
        self.flags[m as usize] |= PASSED;
        self.states[message.target as usize].did.in_port += takes;
        self.begin[node as usize] = self.now;
        self.causes[node as usize] = if waited { self.ports[into].last } else { self.causes[(4 * m + OUT_PORT) as usize] };
        self.occupy(into, node, takes);
        self.at(self.now + takes + self.params.latency, Event::Arrived(m));
    }

    fn occupy(&mut self, port: usize, node: u32, takes: f64) {
        self.ports[port].free = self.now + takes + self.params.gap;
        self.ports[port].last = node;
        self.wake(port);
    }

    // ---- what came out

    /// When an activity ended.
    fn end_of(&self, node: u32) -> f64 {
        self.begin[node as usize]
            + match node % 4 {
                OUT_PORT | IN_PORT => self.params.transfer(self.world.messages[node as usize / 4].bytes),
                _ => self.works(node),
            }
    }

    fn path(&self, last: u32) -> Vec<Step> {
        let mut path = Vec::new();
        let (mut node, mut next) = (last, NOTHING);
        while node != NOTHING {
            let message = &self.world.messages[node as usize / 4];
            let (source, target) = (message.source, message.target);
            let what = ACTIVITIES[node as usize % 4];
            let process = if matches!(what, What::SendOverhead | What::OutPort) { source } else { target };
            let step = |what, from, until| Step { process, what, source, target, from, until };
            let end = self.end_of(node);
            // between two activities a message is on its way, or a port rests
            if next != NOTHING && self.begin[next as usize] > end {
                let between = if next == node + 1 { What::Latency } else { What::Gap };
                path.push(step(between, end, self.begin[next as usize]));
            }
            path.push(step(what, self.begin[node as usize], end));
            (next, node) = (node, self.causes[node as usize]);
        }
        path.reverse();
        path.retain(|s| s.until > s.from);
        path
    }

    fn trace(&self, schedules: &[Schedule]) -> Vec<Transfer> {
        (self.world.messages.iter().enumerate())
            .filter(|(_, m)| m.exists)
            .map(|(i, m)| {
                let at = |activity| self.begin[4 * i + activity as usize];
                let end = |activity| self.end_of(4 * i as u32 + activity);
                Transfer {
                    source: m.source,
                    target: m.target,
                    round: schedules[m.source as usize].number((m.send_round - self.world.rounds[m.source as usize]) as usize),
                    bytes: m.bytes,
                    send: at(SEND_OVERHEAD)..end(OUT_PORT),
                    receive: at(IN_PORT) + self.params.latency..end(RECEIVE_OVERHEAD),
                }
            })
            .collect()
    }

    fn result(&self, schedules: &[Schedule]) -> Run {
        let last = self.states.iter().reduce(|a, b| if b.did.finish > a.did.finish { b } else { a });
        Run {
            total: last.map_or(0.0, |s| s.did.finish),
            path: last.map_or_else(Vec::new, |s| self.path(s.end)),
            processes: self.states.iter().map(|s| s.did).collect(),
            trace: self.options.trace.then(|| self.trace(schedules)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder, Tuning, world_schedules};
    use proptest::prelude::*;

    fn loggp(latency: f64, overhead: f64, gap: f64, gap_per_byte: f64) -> Loggp {
        Loggp { latency, overhead, gap, gap_per_byte, eager: u64::MAX }
    }

    /// Schedules from the sends of each process: for each round (source, target, bytes), with the
    /// blocks' lengths.
    struct Made {
        schedules: Vec<Schedule>,
        lengths: HashMap<(Rank, Block), u64>,
    }

    /// `rounds[r]` are the messages of round `r`. Each carries a block of its own: an input block
    /// of process 0, a scratch block of others.
    fn made(processes: u32, rounds: &[Vec<(Rank, Rank, u64)>]) -> Made {
        let mut lengths = HashMap::new();
        let mut schedules = vec![Schedule::new(Algorithm::Direct); processes as usize];
        let mut number = 0;
        for (r, round) in rounds.iter().enumerate() {
            let mut ops = vec![Vec::new(); processes as usize];
            for &(from, to, bytes) in round {
                // no block that is sent is one that was received: a relay unpacks
                number += 1;
                let block = if from == 0 { Block::Input(number) } else { Block::Scratch(number) };
                lengths.insert((from, block), bytes);
                ops[from as usize].push(Op::send(to, block));
                ops[to as usize].push(Op::recv(from, Block::Output(number)));
            }
            for (schedule, ops) in schedules.iter_mut().zip(ops) {
                if !ops.is_empty() {
                    schedule.push_round_at(r as u32, ops);
                }
            }
        }
        Made { schedules, lengths }
    }

    impl Made {
        fn run(&self, params: &Loggp, options: Options) -> Run {
            let run =
                simulate(&self.schedules, &|p, block| self.lengths[&(p, block)], params, &Options { trace: true, ..options });
            let run = run.unwrap();
            check(&run, params);
            run
        }

        fn total(&self, params: &Loggp) -> f64 {
            self.run(params, Options::default()).total
        }
    }

    /// What holds for every run.
    fn check(run: &Run, params: &Loggp) {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        let mut at = 0.0;
        for step in &run.path {
            assert!(step.from == at && step.until > at, "{step:?} is not at {at}");
            at = step.until;
        }
        assert!(close(at, run.total), "the path ends at {at}, not {}", run.total);
        let finish = |p: &Process| p.finish;
        assert_eq!(run.processes.iter().map(finish).fold(0.0, f64::max), run.total);
        for p in &run.processes {
            assert!(p.idle_processor() > -1e-9 && p.idle_out_port() > -1e-9 && p.idle_in_port() > -1e-9, "{p:?}");
        }
        for t in run.trace.iter().flatten() {
            let least = params.point_to_point(t.bytes);
            assert!(t.receive.end - t.send.start > least * (1.0 - 1e-12) - 1e-9, "{t:?} in less than {least}");
            assert!(t.receive.start >= t.send.start && t.receive.end <= run.total, "{t:?}");
        }
    }

    /// Section 2.1 of the LogGP paper.
    #[test]
    fn one_message() {
        let p = loggp(5.0, 2.0, 9.0, 0.5);
        for (bytes, time) in [(1, 9.0), (0, 9.0), (101, 59.0)] {
            let run = made(2, &[vec![(0, 1, bytes)]]).run(&p, Options::default());
            assert_eq!(run.total, time);
            assert_eq!(run.total, p.point_to_point(bytes));
            let passes = p.transfer(bytes);
            assert_eq!(run.processes[0], Process { finish: 2.0 + passes, processor: 2.0, out_port: passes, in_port: 0.0 });
            assert_eq!(run.processes[1], Process { finish: time, processor: 2.0, out_port: 0.0, in_port: passes });
            let t = &run.trace.unwrap()[0];
            assert_eq!((t.source, t.target, t.round, t.bytes), (0, 1, 0, bytes));
            assert_eq!((t.send.clone(), t.receive.clone()), (0.0..2.0 + passes, 7.0..time));
        }
        let steps: Vec<_> = made(2, &[vec![(0, 1, 101)]]).run(&p, Options::default()).path;
        let steps: Vec<_> = steps.iter().map(|s| (s.process, s.what, s.from, s.until)).collect();
        let expected = [
            (0, What::SendOverhead, 0.0, 2.0),
            (1, What::InPort, 2.0, 52.0),
            (1, What::Latency, 52.0, 57.0),
            (1, What::ReceiveOverhead, 57.0, 59.0),
        ];
        assert_eq!(steps, expected);
    }

    /// Section 2.1 too: k1 bytes and then k2 bytes, to one target or to two.
    #[test]
    fn two_messages_in_a_row() {
        for (g, o) in [(9.0, 2.0), (2.0, 9.0), (0.0, 0.0)] {
            let p = loggp(5.0, o, g, 0.5);
            for second in [1, 2] {
                let long = made(3, &[vec![(0, 1, 101), (0, second, 201)]]);
                // the sender's overhead of the second is over before the first has left
                assert_eq!(long.total(&p), o + 50.0 + g + 100.0 + 5.0 + o);
                let short = made(3, &[vec![(0, 1, 1), (0, second, 1)]]);
                assert_eq!(short.total(&p), o + f64::max(g, o) + 5.0 + o);
            }
        }
    }

    /// Gap and overhead at the receiver: three short messages arrive at the same time.
    #[test]
    fn three_messages_to_one_process() {
        for (g, o) in [(9.0, 2.0), (2.0, 9.0)] {
            let p = loggp(5.0, o, g, 0.5);
            let run = made(4, &[vec![(1, 0, 1), (2, 0, 1), (3, 0, 1)]]).run(&p, Options::default());
            assert_eq!(run.total, o + 5.0 + 2.0 * f64::max(g, o) + o);
        }
    }

    /// A scatter of `k` items of one byte from process 0 by splitting: of `P` processes' items,
    /// those of `split(P)` are sent to one of them. A process sends all its messages one after the
    /// other as soon as it has what it received.
    fn scatter(processes: u32, k: u64, split: &dyn Fn(u32) -> u32) -> Made {
        let mut rounds: Vec<Vec<(Rank, Rank, u64)>> = Vec::new();
        let mut todo = vec![(0, processes, 0)];
        while let Some((root, mut owned, depth)) = todo.pop() {
            rounds.resize(rounds.len().max(depth + 1), Vec::new());
            while owned > 1 {
                let gives = split(owned);
                owned -= gives;
                rounds[depth].push((root, root + owned, u64::from(gives) * k));
                todo.push((root + owned, gives, depth + 1));
            }
        }
        made(processes, &rounds)
    }

    /// The paper's t^k(P) of algorithm A_t^k and the split that attains it, smallest first, for all
    /// P up to `most`. With L' = L + 2 o.
    fn optimal(most: u32, k: f64, latency: f64, gap: f64) -> (Vec<f64>, Vec<u32>) {
        let (mut time, mut splits) = (vec![0.0, 0.0], vec![0, 0]);
        for p in 2..=most as usize {
            let cost = |s: usize| s as f64 * k - 1.0 + f64::max(latency + time[s], gap + time[p - s]);
            let best = (1..p).reduce(|a, b| if cost(b) < cost(a) { b } else { a }).unwrap();
            splits.push(best as u32);
            time.push(cost(best));
        }
        (time, splits)
    }

    /// All of Table 3 of the LogGP paper, which is made from the formulas of Table 2; P = 1024. The
    /// paper's L there is L' = L + 2 o, so that it is divided here into L and o. At the source, o
    /// of the next message is spent while the port passes the one before and rests, as o <= g.
    #[test]
    fn scatter_formulas() {
        const P: u32 = 1024;
        let printed: [[f64; 6]; 4] = [
            [10_250.0, 102_500.0, 102_320.0, 1_023_200.0, 1_023_020.0, 10_230_200.0],
            [10_250.0, 102_500.0, 19_457.0, 111_707.0, 111_527.0, 203_777.0],
            [1_313.0, 4_013.0, 10_520.0, 13_220.0, 102_590.0, 105_290.0],
            [1_171.0, 2_860.0, 10_358.0, 11_819.0, 102_419.0, 103_688.0],
        ];
        let columns =
            [(1, 10.0, 30.0), (1, 100.0, 300.0), (10, 10.0, 30.0), (10, 100.0, 300.0), (100, 10.0, 30.0), (100, 100.0, 300.0)];
        for (c, (k, gap, latency)) in columns.into_iter().enumerate() {
            // the paper counts from the source's first byte to the end of the last receive and
            // takes L' for L: it has an o more at the front
            let params = loggp(latency - 10.0, 5.0, gap, 1.0);
            let short: Vec<_> = (1..P).flat_map(|to| std::iter::repeat_n((0, to, 1), k as usize)).collect();
            let (best, splits) = optimal(P, k as f64, latency, gap);
            let (items, log) = (f64::from(P - 1) * k as f64, 10.0);
            let formulas = [
                (items - 1.0) * gap + latency,
                f64::from(P - 2) * gap + f64::from(P - 1) * (k as f64 - 1.0) + latency,
                f64::max(latency, gap) * (log - 1.0) + latency + items - log,
                best[P as usize],
            ];
            let simulated = [
                made(P, &[short]).total(&params),
                scatter(P, k, &|_| 1).total(&params),
                scatter(P, k, &|owned| owned / 2).total(&params),
                scatter(P, k, &|owned| splits[owned as usize]).total(&params),
            ];
            let column = [printed[0][c], printed[1][c], printed[2][c], printed[3][c]];
            assert_eq!(formulas, column, "k = {k}, g = {gap}");
            assert_eq!(simulated, column, "k = {k}, g = {gap}");
        }
    }

    /// A star of `processes` processes around process 0, whose edges to each of the others are
    /// `edges`.
    fn star(processes: u32, edges: &[(u32, u32)]) -> Vec<Neighborhood> {
        let all: Vec<_> = (1..processes)
            .flat_map(|to| edges.iter().flat_map(move |&(times, weight)| std::iter::repeat_n((0, to, weight), times as usize)))
            .collect();
        crate::topology::graph::Graph::from_edges(processes, &all).neighborhoods()
    }

    /// The time of an algorithm of the table on a star.
    fn on_star(algorithm: Algorithm, world: &[Neighborhood], params: &Loggp) -> f64 {
        let tuning = Tuning { costs: params.costs(1), ..Tuning::default() };
        let schedules = world_schedules(algorithm, world, None, &tuning).unwrap();
        let bytes = |p: Rank, block: Block| u64::from(world[p as usize].targets()[block.slot()].weight);
        let run = simulate(&schedules, &bytes, params, &Options { trace: true, ..Options::default() }).unwrap();
        check(&run, params);
        run.total
    }

    /// The same table by the algorithms that a program can ask for. A message for each item, and
    /// one for each process, are what `direct` makes of the edges.
    #[test]
    fn scatter_table() {
        const P: u32 = 1024;
        let printed = [
            (1, 10.0, 30.0, [10_250.0, 10_250.0, 1_313.0, 1_171.0]),
            (1, 100.0, 300.0, [102_500.0, 102_500.0, 4_013.0, 2_860.0]),
            (10, 10.0, 30.0, [102_320.0, 19_457.0, 10_520.0, 10_358.0]),
            (10, 100.0, 300.0, [1_023_200.0, 111_707.0, 13_220.0, 11_819.0]),
            (100, 10.0, 30.0, [1_023_020.0, 111_527.0, 102_590.0, 102_419.0]),
            (100, 100.0, 300.0, [10_230_200.0, 203_777.0, 105_290.0, 103_688.0]),
        ];
        for (k, gap, latency, column) in printed {
            let params = loggp(latency - 10.0, 5.0, gap, 1.0);
            let (items, processes) = (star(P, &[(k, 1)]), star(P, &[(1, k)]));
            let on = |algorithm| on_star(algorithm, &processes, &params);
            assert_eq!(on_star(Algorithm::Direct, &items, &params), column[0], "k = {k}, g = {gap}");
            assert_eq!(on(Algorithm::Direct), column[1], "k = {k}, g = {gap}");
            assert_eq!(on(Algorithm::LinearPermutation), column[1], "k = {k}, g = {gap}");
            assert_eq!(on(Algorithm::ScatterBinomial), column[2], "k = {k}, g = {gap}");
            assert_eq!(on(Algorithm::ScatterOptimal), column[3], "k = {k}, g = {gap}");
        }
        // Figure 9
        assert_eq!(on_star(Algorithm::ScatterOptimal, &star(6, &[(1, 10)]), &loggp(4.0, 1.0, 4.0, 1.0)), 63.0);
        // Figures 7 and 8, by hand: L = o = 5, g = 10, G = 1
        let figure = loggp(5.0, 5.0, 10.0, 1.0);
        assert_eq!(on_star(Algorithm::Direct, &star(4, &[(1, 1)]), &figure), 35.0);
        assert_eq!(on_star(Algorithm::ScatterBinomial, &star(4, &[(1, 1)]), &figure), 31.0);
    }

    /// The tree that is predicted to be the fastest is, in the simulator, also where o is above g.
    #[test]
    fn scatter_by_parameters() {
        let presets = crate::model::PRESETS.iter().map(|p| p.values);
        for params in presets.chain([loggp(4.0, 9.0, 1.0, 0.25), loggp(1.0, 0.0, 50.0, 0.25), loggp(0.0, 0.0, 0.0, 1.0)]) {
            for (processes, weight) in [(1, 1), (2, 8), (3, 8), (17, 1000), (100, 1), (100, 100_000), (1000, 64)] {
                let world = star(processes, &[(1, weight)]);
                let time = |algorithm| on_star(algorithm, &world, &params) * (1.0 - 1e-12);
                let best = time(Algorithm::ScatterOptimal);
                let others = [Algorithm::ScatterBinomial, Algorithm::LinearPermutation].map(time);
                assert!(others.iter().all(|&t| best <= t * (1.0 + 1e-11)), "{params:?}, {processes}: {best}, {others:?}");
            }
        }
    }

    /// Blocks of one length in each packet, but of others than those of other packets: what is
    /// passed on has the length that came.
    #[test]
    fn packets_have_the_lengths_of_their_blocks() {
        let weights = [7, 1, 20, 0, 3, 300];
        let world =
            crate::topology::graph::Graph::from_edges(7, &(1..7).map(|to| (0, to, weights[to as usize - 1])).collect::<Vec<_>>());
        let world = world.neighborhoods();
        let schedules = world_schedules(Algorithm::ScatterBinomial, &world, None, &Tuning::default()).unwrap();
        let bytes = |p: Rank, block: Block| {
            assert_eq!(p, 0);
            u64::from(weights[block.slot()])
        };
        let options = Options { trace: true, ..Options::default() };
        let run = simulate(&schedules, &bytes, &Loggp::default(), &options).unwrap();
        let sent: Vec<_> = run.trace.unwrap().iter().map(|t| (t.source, t.target, t.round, t.bytes)).collect();
        // 0 keeps 1 to 3, then 1, and 4 has 4 to 6 and keeps 4 and 5
        assert_eq!(sent, [(0, 4, 0, 303), (0, 2, 1, 21), (0, 1, 2, 7), (2, 3, 2, 20), (4, 6, 1, 300), (4, 5, 2, 3)]);
        let mut bad = schedules.clone();
        bad[4] = schedules[2].clone();
        bad[4].push_round_at(9, [Op::send(5, Block::Scratch(1))]);
        let e = simulate(&bad, &bytes, &Loggp::default(), &options).unwrap_err();
        assert!(e.contains("meets no"), "{e}");
    }

    /// Process 2 sends on what came from 0 and 1, with a block of its own: when both have come, and
    /// as long as all three.
    #[test]
    fn collected_packets_have_the_lengths_of_their_blocks() {
        let (input, scratch, packet) = (Block::Input, Block::Scratch, Block::Packet);
        let mut schedules = vec![Schedule::new(Algorithm::Direct); 4];
        schedules[0].push_round([Op::send(2, packet(0))]);
        schedules[0].push_packet([input(0), input(1)]);
        schedules[1].push_round([Op::send(2, input(0))]);
        schedules[2].push_round([Op::recv(0, packet(0)), Op::recv(1, scratch(2))]);
        schedules[2].push_packet([scratch(0), scratch(1)]);
        schedules[2].push_packet([scratch(2), input(0), scratch(1)]);
        schedules[2].push_round([Op::send(3, packet(1))]);
        schedules[3].push_round_at(1, [Op::recv(2, packet(0))]);
        schedules[3].push_packet([Block::Output(0), Block::Output(1), Block::Output(2)]);
        let bytes = |p: Rank, block: Block| [[200, 40], [1000, 0], [5, 0], [0, 0]][p as usize][block.slot()];
        let p = loggp(5.0, 2.0, 9.0, 0.5);
        let run = simulate(&schedules, &bytes, &p, &Options { trace: true, ..Options::default() }).unwrap();
        let sent: Vec<_> = run.trace.unwrap().iter().map(|t| (t.source, t.target, t.round, t.bytes)).collect();
        assert_eq!(sent, [(0, 2, 0, 240), (1, 2, 0, 1000), (2, 3, 1, 1045)]);
        // one behind the other at the in-port of 2, of which the last byte comes at 2 + 119.5 + 9 +
        // 499.5 + 5
        assert_eq!(run.total, 635.0 + 2.0 + 2.0 + 522.0 + 5.0 + 2.0);
        // 240 bytes are put together at 0, 1045 at 2, and taken apart at 3; what 2 passes on it
        // does not take out
        let run = simulate(&schedules, &bytes, &p, &Options { copy: 0.25, ..Options::default() }).unwrap();
        assert_eq!(run.processes.iter().map(|p| p.processor).collect::<Vec<_>>(), [62.0, 2.0, 6.0 + 261.25, 2.0 + 261.25]);
        // the message of 1 comes first now; that of 0 leaves at 62, but passes when the port has
        // rested
        assert_eq!(run.total, 2.0 + 499.5 + 9.0 + 119.5 + 5.0 + 2.0 + 2.0 + 261.25 + 522.0 + 5.0 + 2.0 + 261.25);
        // in a gather one block of 0 is in its packet once, and twice in that of 2, where it does
        // not follow itself
        let gather = Options { gather: true, trace: true, ..Options::default() };
        let run = simulate(&schedules, &|p, _| [200, 1000, 5, 0][p as usize], &p, &gather).unwrap();
        assert_eq!(run.trace.unwrap().iter().map(|t| t.bytes).collect::<Vec<_>>(), [200, 1000, 1205]);
    }

    /// Binomial trees of any size, with L' below g as well as above.
    ///
    /// For powers of two, the formula behind Lemma 2. Otherwise that formula is above the truth:
    /// its recurrence continues with the ceil(P / 2) processes that stay at the source as if they
    /// came after L', but only floor(P / 2) do, the others go on after g. By hand therefore t(P) =
    /// floor(P / 2) k - 1 + max(L' + t(floor(P / 2)), g + t(ceil(P / 2))).
    #[test]
    fn binomial_trees_of_any_size() {
        for (latency, overhead, gap) in [(4.0, 1.0, 4.0), (4.0, 1.0, 6.0), (1.0, 2.0, 20.0), (0.0, 0.0, 3.0)] {
            let params = loggp(latency, overhead, gap, 1.0);
            let all = latency + 2.0 * overhead;
            for k in [1u32, 3, 10] {
                let mut time = vec![0.0, 0.0];
                for p in 2..=40usize {
                    let (gives, keeps) = (p / 2, p - p / 2);
                    // behind the last message of the source nothing waits for g
                    let rest = if keeps > 1 { gap + time[keeps] } else { 0.0 };
                    time.push(gives as f64 * f64::from(k) - 1.0 + f64::max(all + time[gives], rest));
                    let total = scatter(p as u32, k.into(), &|owned| owned / 2).total(&params);
                    assert_eq!(total, time[p], "P = {p}, k = {k}");
                    let log = f64::from(p.next_power_of_two().trailing_zeros());
                    let lemma = f64::max(all, gap) * (log - 1.0) + all + (p - 1) as f64 * f64::from(k) - log;
                    assert!(if p.is_power_of_two() { total == lemma } else { total <= lemma }, "P = {p}, k = {k}: {lemma}");
                }
            }
        }
    }

    /// Figures 9 and 10 of the LogGP paper: L = 4, o = 1, g = 4, G = 1, P = 6, k = 10.
    #[test]
    fn worked_example() {
        let params = loggp(4.0, 1.0, 4.0, 1.0);
        let (time, splits) = optimal(6, 10.0, 6.0, 4.0);
        assert_eq!(time[6], 63.0);
        assert_eq!(scatter(6, 10, &|owned| splits[owned as usize]).total(&params), 63.0);
        // that is this tree, whose last arrival is that of process 3's items
        let tree = [vec![(0, 4, 20), (0, 2, 20), (0, 1, 10)], vec![(4, 5, 10), (2, 3, 10)]];
        let run = made(6, &tree).run(&params, Options::default());
        assert_eq!((run.total, run.processes[3].finish), (63.0, 63.0));
        // 2 of them come by way of the other relay, which has time
        let split = [vec![(0, 4, 22), (0, 2, 18), (0, 1, 10)], vec![(4, 5, 10), (4, 3, 2), (2, 3, 8)]];
        assert_eq!(made(6, &split).total(&params), 61.0);
    }

    /// Rounds on a torus cost what the model says of a message, each; everything at once costs one
    /// process's messages one after the other.
    #[test]
    fn halo_exchange() {
        let params = Loggp { eager: 0, ..loggp(4.0, 1.0, 2.0, 1.0) };
        let grid = crate::topology::cartesian::Grid::new(vec![4, 3, 5], vec![true; 3]);
        let world: Vec<_> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
        let directions: Vec<u32> = (0..6).collect();
        let run = |algorithm| {
            let schedules = world_schedules(algorithm, &world, Some(&directions), &Tuning::default()).unwrap();
            predict(&world, &schedules, 101, &params, &Options::default()).unwrap()
        };
        assert_eq!(run(Algorithm::DimensionOrder), 6.0 * (1.0 + 100.0 + 4.0 + 1.0));
        // nobody is in another's way: the k-th message of all processes goes in the same direction
        assert_eq!(run(Algorithm::Direct), 1.0 + 6.0 * 100.0 + 5.0 * 2.0 + 4.0 + 1.0);
    }

    /// Two long messages to process 2 and one behind them, by hand: rendezvous, o = 1, L = 2, g =
    /// 1, G = 1, k = 11.
    #[test]
    fn a_busy_target_holds_up_the_messages_behind() {
        let mut params = loggp(2.0, 1.0, 1.0, 1.0);
        let made = made(4, &[vec![(0, 2, 11), (1, 2, 11), (1, 3, 11)]]);
        let sends =
            |run: Run| run.trace.unwrap().iter().map(|t| (t.source, t.target, t.send.end, t.receive.end)).collect::<Vec<_>>();
        // the network keeps what the target cannot take: 1 sends from 1 to 11 and from 12 to 22
        let eager = made.run(&params, Options::default());
        assert_eq!(sends(eager), [(0, 2, 11.0, 14.0), (1, 2, 11.0, 25.0), (1, 3, 22.0, 25.0)]);
        // 1 waits for 2 until 12, and has its own port again at 23
        params.eager = 10;
        let rendezvous = made.run(&params, Options::default());
        assert_eq!(rendezvous.processes[1].idle_out_port(), 33.0 - 20.0);
        let path: Vec<_> = rendezvous.path.iter().map(|s| (s.process, s.what, s.until)).collect();
        let expected = [
            (0, What::SendOverhead, 1.0),
            (2, What::InPort, 11.0),
            (2, What::Gap, 12.0),
            (1, What::OutPort, 22.0),
            (1, What::Gap, 23.0),
            (3, What::InPort, 33.0),
            (3, What::Latency, 35.0),
            (3, What::ReceiveOverhead, 36.0),
        ];
        assert_eq!(path, expected);
        assert_eq!(sends(rendezvous), [(0, 2, 11.0, 14.0), (1, 2, 22.0, 25.0), (1, 3, 33.0, 36.0)]);
        // 11 bytes are the most that is eager
        params.eager = 11;
        assert_eq!(made.run(&params, Options::default()).total, 25.0);
    }

    /// A receive that is posted late, after that of a message which takes long: an eager message
    /// has left and arrived long before, a rendezvous waits. o = 1, L = 2, g = 1, G = 1.
    #[test]
    fn a_late_receive() {
        let mut params = loggp(2.0, 1.0, 1.0, 1.0);
        let made = made(3, &[vec![(2, 1, 21)], vec![(0, 1, 11)]]);
        let finish = |run: Run| (run.processes[0].finish, run.processes[2].finish, run.total);
        // at the port 0 is first, 1..11, and arrives at 13; 2 passes 12..32, arrives at 34, is
        // received at 35, and then 0 is
        let eager = made.run(&params, Options::default());
        assert_eq!(eager.processes[1].in_port, 30.0);
        assert_eq!(finish(eager), (11.0, 21.0, 36.0));
        // 2 passes 1..21 and is received at 24; only then 0 passes, 24..34
        params.eager = 0;
        assert_eq!(finish(made.run(&params, Options::default())), (34.0, 21.0, 37.0));
        // both are wanted from the beginning: 1..11, 12..32
        assert_eq!(finish(made.run(&params, Options { window: 2, ..Options::default() })), (11.0, 32.0, 35.0));
    }

    /// With a window the sends of a round begin when those of the one before have left, though
    /// nothing has been received.
    #[test]
    fn a_window_lets_sends_go_ahead() {
        let params = loggp(100.0, 1.0, 0.0, 1.0);
        let made = made(2, &[vec![(0, 1, 11), (1, 0, 11)], vec![(0, 1, 11), (1, 0, 11)], vec![(0, 1, 11), (1, 0, 11)]]);
        assert_eq!(made.total(&params), 3.0 * 112.0);
        let total = |window| made.run(&params, Options { window, ..Options::default() }).total;
        assert_eq!(total(3), 3.0 * 11.0 + 101.0);
        // the third round begins when the first is complete
        assert_eq!(total(2), 112.0 + 112.0);
        assert_eq!(total(9), total(3));
    }

    /// A block that is passed on has the length that came, and is not passed on before it came,
    /// whatever the window.
    #[test]
    fn relays() {
        let schedules = |pieces: u32| {
            let mut s = vec![Schedule::new(Algorithm::Direct); 3];
            for i in 0..pieces {
                let part = Part::new(i, i + 1, pieces);
                s[0].push_round_at(i, [Op::Send { to: 1, block: Block::Input(4), part }]);
                s[1].push_round_at(i, [Op::Recv { from: 0, into: Block::Scratch(0), part }]);
            }
            s[1].push_round_at(8, [Op::Copy { from: Block::Scratch(0), into: Block::Scratch(1) }]);
            s[1].push_round_at(9, [Op::send(2, Block::Scratch(1))]);
            s[2].push_round_at(9, [Op::recv(1, Block::Output(0))]);
            s
        };
        let params = loggp(5.0, 2.0, 0.0, 0.5);
        let bytes = |p: Rank, block: Block| {
            assert_eq!((p, block), (0, Block::Input(4)), "the lengths of the others follow");
            128
        };
        for window in [1, 2, 20] {
            let total = |pieces| {
                let run = simulate(&schedules(pieces), &bytes, &params, &Options { window, ..Options::default() }).unwrap();
                check(&run, &params);
                run.total
            };
            assert_eq!(total(1), 2.0 * (9.0 + 63.5));
            // the sender's o of the second part begins when the first has left
            assert_eq!(total(2), 2.0 + 31.5 + 9.0 + 31.5 + 9.0 + 63.5);
            // cuts fall on multiples of 64: the first of three parts is empty, costs nothing, and
            // is no message
            assert_eq!(total(3), total(2));
        }
    }

    /// Section 3 of the LogGP paper: an exchange takes 2 k G where a process sends or receives at a
    /// time.
    #[test]
    fn half_duplex() {
        for eager in [0, u64::MAX] {
            let params = Loggp { eager, ..loggp(2.0, 1.0, 3.0, 1.0) };
            let exchange = made(2, &[vec![(0, 1, 11), (1, 0, 11)]]);
            let half = |made: &Made| made.run(&params, Options { half_duplex: true, ..Options::default() }).total;
            assert_eq!(exchange.total(&params), 14.0);
            assert_eq!(half(&exchange), 1.0 + 10.0 + 3.0 + 10.0 + 3.0);
            // a chain of four: the outer two messages at the same time, then the inner one
            let chain = made(4, &[vec![(0, 1, 11), (1, 2, 11), (2, 3, 11)]]);
            assert_eq!(half(&chain), 27.0);
        }
    }

    #[test]
    fn schedules_that_do_not_match_are_named() {
        let run = |change: &dyn Fn(&mut Vec<Schedule>)| {
            let mut made = made(3, &[vec![(0, 1, 5)], vec![(1, 2, 5)]]);
            change(&mut made.schedules);
            simulate(&made.schedules, &|_, _| 100, &Loggp::default(), &Options::default()).map(|r| r.total)
        };
        let empty = || Schedule::new(Algorithm::Direct);
        assert!(run(&|_| {}).is_ok());
        assert_eq!(run(&|s| s[2] = empty()).unwrap_err(), "process 1, round 1: a send to 2 meets no receive");
        assert_eq!(run(&|s| s[0] = empty()).unwrap_err(), "process 1, round 0: a receive from 0 meets no send");
        assert_eq!(
            run(&|s| s[0].push_round_at(7, [Op::send(3, Block::Input(0))])).unwrap_err(),
            "process 0, round 7: a message is sent to 3"
        );
        assert_eq!(
            run(&|s| s[2].push_round_at(7, [Op::send(2, Block::Input(0))])).unwrap_err(),
            "process 2, round 7: a message is sent to 2"
        );
        let other_round = |s: &mut Vec<Schedule>| {
            s[2] = empty();
            s[2].push_round_at(4, [Op::recv(1, Block::Output(0))]);
        };
        assert_eq!(run(&other_round).unwrap_err(), "process 1, round 1: a send to 2 meets no receive");
        let other_part = |s: &mut Vec<Schedule>| {
            s[2] = empty();
            s[2].push_round_at(1, [Op::Recv { from: 1, into: Block::Output(0), part: Part::new(0, 1, 2) }]);
        };
        assert_eq!(run(&other_part).unwrap_err(), "process 2, round 1: 1 sends the part  where [0..1/2] is received");
        let simulate = |params: &Loggp, window| simulate(&[], &|_, _| 0, params, &Options { window, ..Options::default() });
        assert_eq!(simulate(&Loggp::default(), 1).unwrap().total, 0.0);
        assert!(simulate(&Loggp::default(), 0).unwrap_err().contains("window"));
        assert!(simulate(&Loggp { latency: f64::NAN, ..Loggp::default() }, 1).unwrap_err().contains("latency"));
    }

    #[test]
    fn prediction_from_weights() {
        use crate::topology::graph::Graph;
        let world = Graph::from_edges(2, &[(0, 1, 3), (0, 1, 0)]).neighborhoods();
        let schedules = world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
        let p = loggp(5.0, 2.0, 9.0, 0.5);
        assert_eq!(predict(&world, &schedules, 100, &p, &Options::default()), Ok(2.0 + 149.5 + 9.0 + 7.0));
    }

    prop_compose! {
        fn params()(costs in prop::array::uniform4(0u8..6), eager in prop_oneof![Just(0), Just(u64::MAX), 0u64..2000]) -> Loggp {
            // quarters, so that much happens at the same time
            let cost = |i: usize| f64::from(costs[i]) / 4.0;
            Loggp { latency: 4.0 * cost(0), overhead: cost(1), gap: cost(2), gap_per_byte: cost(3) / 64.0, eager }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// For all algorithms on random graphs: every run ends, is between its bounds, and gives
        /// the same again.
        #[test]
        fn runs_end_and_keep_their_bounds(
            n in 1u32..=24,
            edges in prop::collection::vec((0u32..24, 0u32..24, 0u32..30), 0..120),
            params in params(),
            window in 1u32..5,
            half_duplex in any::<bool>(),
            fold in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let edges: Vec<_> = edges.iter().map(|e| (e.0 % n, e.1 % n, e.2)).collect();
            let world = crate::topology::graph::Graph::from_edges(n, &edges).neighborhoods();
            let bytes = |p: Rank, block: Block| u64::from(world[p as usize].targets()[block.slot()].weight) * 100;
            let options = Options { window, half_duplex, trace: true, ..Options::default() };
            for entry in ALGORITHMS.iter().filter(|e| !e.forwards()) {
                let tuning = Tuning { seed, startup: 2.0, half_duplex, ..Tuning::default() };
                let Ok(mut schedules) = world_schedules(entry.algorithm, &world, None, &tuning) else {
                    continue;
                };
                if fold {
                    schedules = schedules.iter().map(|s| s.folded(FoldOrder::Source)).collect();
                }
                let run = simulate(&schedules, &bytes, &params, &options).unwrap();
                check(&run, &params);
                prop_assert_eq!(&run, &simulate(&schedules, &bytes, &params, &options).unwrap());
                let trace = run.trace.as_ref().unwrap();
                let sent: u64 = trace.iter().map(|t| t.bytes).sum();
                prop_assert_eq!(sent, world.iter().flat_map(|n| n.targets()).map(|t| u64::from(t.weight) * 100).sum::<u64>());
                // ports and processors are the lower bound, one message after the other the upper
                // one
                let slack = |x: f64| x * (1.0 - 1e-12);
                for p in 0..n {
                    let load = |of: &dyn Fn(&Transfer) -> bool| {
                        let mine: Vec<_> = trace.iter().filter(|t| of(t)).collect();
                        let ports: f64 = mine.iter().map(|t| params.transfer(t.bytes)).sum();
                        let rests = mine.len().saturating_sub(1) as f64 * params.gap;
                        if mine.is_empty() { 0.0 } else { ports + rests + params.point_to_point(1) }
                    };
                    let bound = if half_duplex {
                        // whether the last one comes or goes: L and o are still to come, here or
                        // there
                        load(&|t| t.source == p || t.target == p)
                    } else {
                        load(&|t| t.source == p).max(load(&|t| t.target == p))
                    };
                    prop_assert!(run.total >= slack(bound), "process {}: {} < {}", p, run.total, bound);
                    let mine = trace.iter().filter(|t| t.source == p || t.target == p).count();
                    prop_assert!(run.processes[p as usize].finish >= slack(mine as f64 * params.overhead));
                }
                let alone = |t: &Transfer| params.point_to_point(t.bytes) + params.transfer(t.bytes) + 2.0 * params.gap;
                let one_by_one: f64 = trace.iter().map(alone).sum();
                prop_assert!(slack(run.total) <= one_by_one, "{} > {}", run.total, one_by_one);
                // all rounds are within any window that is as long as the longest schedule
                let rounds = schedules.iter().map(Schedule::rounds).max().unwrap_or(0).max(1) as u32;
                let wide = |window| simulate(&schedules, &bytes, &params, &Options { window, ..options }).unwrap();
                prop_assert_eq!(wide(rounds), wide(u32::MAX));
            }
        }

        /// Messages of many rounds between random processes, also forwarded ones.
        #[test]
        fn random_rounds_end(
            n in 2u32..=10,
            rounds in prop::collection::vec(prop::collection::vec((0u32..10, 1u32..10, 0u64..300), 0..20), 0..8),
            params in params(),
            window in 1u32..5,
            half_duplex in any::<bool>(),
        ) {
            let message = |&(from, by, bytes): &(u32, u32, u64)| (from % n, (from + 1 + by % (n - 1)) % n, bytes);
            let rounds: Vec<Vec<_>> = rounds.iter().map(|r| r.iter().map(message).filter(|m| m.0 != m.1).collect()).collect();
            let run = made(n, &rounds).run(&params, Options { window, half_duplex, trace: true, ..Options::default() });
            prop_assert_eq!(run.trace.unwrap().len(), rounds.iter().flatten().count());
        }
    }
}
