//! Matches each send with its receive, and computes the lengths of all blocks.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::schedule::{Block, Op, Part, Schedule};
use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;

/// A send and its receive.
pub(super) struct Message {
    pub(super) source: Rank,
    pub(super) target: Rank,
    /// The sender's round, counted over the rounds of all processes.
    pub(super) send_round: u32,
    /// The receiver's round, likewise.
    pub(super) recv_round: u32,
    pub(super) bytes: u64,
    /// Bytes copied for packing and for unpacking.
    pub(super) copied: [u64; 2],
}

/// The schedules with sends and receives matched. Messages are numbered in the order of their
/// sends: by process, round, and position.
pub(super) struct Matched {
    /// First round of each process, then the total number of rounds.
    pub(super) rounds: Vec<u32>,
    /// First message sent in each round, then the total number of messages.
    pub(super) sends: Vec<u32>,
    /// Index in `recv_list` of the first receive of each round, then its length.
    pub(super) recvs: Vec<u32>,
    /// Messages in the order of their receives.
    pub(super) recv_list: Vec<u32>,
    /// For each round, the round of the same process (counted over all) before which all rounds
    /// must be complete before its sends may start.
    pub(super) needs: Vec<u32>,
    pub(super) messages: Vec<Message>,
}

/// One end of a message; `pair`: its source and target.
struct SendEnd {
    pair: (Rank, Rank),
    message: u32,
    length: Length,
    packed: bool,
    part: Part,
}

/// The other end.
struct RecvEnd {
    pair: (Rank, Rank),
    round: u32,
    place: u32,
    into: Block,
    part: Part,
}

/// Returns the next send and the next receive of the rounds with one number if they are the ends of
/// one message.
fn pair<'a>(number: u32, send: Option<&'a SendEnd>, recv: Option<&'a RecvEnd>) -> Result<(&'a SendEnd, &'a RecvEnd), String> {
    let (s, r) = match (send, recv) {
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
    Ok((s, r))
}

/// A round of a process: its number, the process, and its index.
type Step = (u32, u32, u32);

/// Each message has four activities, numbered with 32 bits.
const MOST_MESSAGES: usize = (u32::MAX / 4) as usize;

impl Matched {
    pub(super) fn new(schedules: &[Schedule], bytes: &dyn Fn(Rank, Block) -> u64, gather: bool) -> Result<Matched, String> {
        let (mut world, mut steps) = Matched::count(schedules)?;
        world.add_messages(schedules)?;
        steps.sort_unstable();
        let mut lengths = Lengths::new(schedules, bytes, gather);
        for steps in steps.chunk_by(|a, b| a.0 == b.0) {
            world.meet(schedules, steps, &mut lengths)?;
        }
        Ok(world)
    }

    /// Counts rounds and messages. Also returns all rounds.
    fn count(schedules: &[Schedule]) -> Result<(Matched, Vec<Step>), String> {
        let mut world = Matched {
            rounds: vec![0],
            sends: vec![0],
            recvs: vec![0],
            recv_list: Vec::new(),
            needs: Vec::new(),
            messages: Vec::new(),
        };
        let (mut sends, mut recvs) = (0, 0);
        let mut steps: Vec<Step> = Vec::new();
        for (p, schedule) in schedules.iter().enumerate() {
            for r in 0..schedule.rounds() {
                steps.push((schedule.number(r), to_u32(p), to_u32(r)));
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
                world.sends.push(to_u32(sends));
                world.recvs.push(to_u32(recvs));
            }
            world.rounds.push(to_u32(steps.len()));
        }
        world.needs.resize(steps.len(), 0);
        world.recv_list.resize(recvs, 0);
        world.messages.reserve_exact(sends);
        Ok((world, steps))
    }

    /// Adds a message for each send, not matched yet.
    fn add_messages(&mut self, schedules: &[Schedule]) -> Result<(), String> {
        for (p, schedule) in schedules.iter().enumerate() {
            for r in 0..schedule.rounds() {
                for op in schedule.round(r) {
                    if let Op::Send { to, .. } = *op {
                        if to as usize >= schedules.len() || to as usize == p {
                            return Err(format!("process {p}, round {}: a message is sent to {to}", schedule.number(r)));
                        }
                        let send_round = self.rounds[p] + to_u32(r);
                        self.messages.push(Message {
                            source: to_u32(p),
                            target: to,
                            send_round,
                            recv_round: 0,
                            bytes: 0,
                            copied: [0; 2],
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Matches the sends and receives of all rounds with one number, and propagates the lengths of
    /// blocks through them.
    fn meet(&mut self, schedules: &[Schedule], steps: &[Step], lengths: &mut Lengths) -> Result<(), String> {
        let (sends, recvs) = self.ends(schedules, steps, lengths);
        let number = steps[0].0;
        for i in 0..sends.len().max(recvs.len()) {
            let (s, r) = pair(number, sends.get(i), recvs.get(i))?;
            let message = &mut self.messages[s.message as usize];
            let range = s.part.range(s.length.bytes);
            message.bytes = range.end - range.start;
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

    /// Returns the sends and receives of rounds with one number, those of each pair of processes
    /// together and in their order. Notes which rounds the sends wait for.
    fn ends(&mut self, schedules: &[Schedule], steps: &[Step], lengths: &Lengths) -> (Vec<SendEnd>, Vec<RecvEnd>) {
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
                        sends.push(SendEnd { pair: (p, to), message, length, packed: matches!(block, Block::Packet(_)), part });
                        message += 1;
                    }
                    Op::Recv { from, into, part } => {
                        recvs.push(RecvEnd { pair: (from, p), round, place, into, part });
                        place += 1;
                    }
                    Op::Copy { .. } | Op::Reduce { .. } => {}
                }
            }
        }
        // stable sorts: messages of a pair keep their order
        sends.sort_by_key(|s| s.pair);
        recvs.sort_by_key(|r| r.pair);
        (sends, recvs)
    }

    pub(super) fn sends_of(&self, round: u32) -> Range<u32> {
        self.sends[round as usize]..self.sends[round as usize + 1]
    }

    pub(super) fn recvs_of(&self, round: u32) -> &[u32] {
        &self.recv_list[self.recvs[round as usize] as usize..self.recvs[round as usize + 1] as usize]
    }
}

/// The length of a block in bytes, and for a packet those of its blocks.
#[derive(Clone)]
struct Length {
    bytes: u64,
    blocks: Option<Rc<[Length]>>,
    /// In a gather, the process whose block it is.
    source: Option<Rank>,
}

/// Lengths of blocks.
struct Lengths<'a> {
    schedules: &'a [Schedule],
    bytes: &'a dyn Fn(Rank, Block) -> u64,
    gather: bool,
    /// True for processes that send blocks other than input blocks: only their blocks are tracked.
    forwards: Vec<bool>,
    /// The tracked blocks: length, and number of the round after the one that wrote it last.
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
            let bytes = (0..lengths.len()).filter(|&i| !again(i)).map(|i| lengths[i].bytes).fold(0, u64::saturating_add);
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

    /// Number of bytes that a process copies from a received packet to their destination.
    fn taken(&self, p: Rank, into: Block, length: &Length) -> u64 {
        let (Block::Packet(k), Some(lengths)) = (into, &length.blocks) else { return 0 };
        let blocks = self.schedules[p as usize].packet(k as usize).iter().zip(lengths.iter());
        blocks.filter(|(block, _)| matches!(block, Block::Output(_))).map(|(_, length)| length.bytes).fold(0, u64::saturating_add)
    }

    fn copy(&mut self, p: Rank, from: Block, into: Block, round: u32) -> Result<(), String> {
        if !self.forwards[p as usize] {
            return Ok(());
        }
        let length = self.read(p, from).0;
        self.write(p, into, &length, round)
    }
}
