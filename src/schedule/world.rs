//! Runs the schedules of all processes inside one process, moving real bytes. For tests.
//!
//! Processes advance one at a time in a seeded random order, each as far as its messages allow, so
//! that they are in different rounds at the same time. A send completes only when its receive is
//! posted (rendezvous), so that a schedule that relies on buffering deadlocks here.

use std::collections::{BTreeMap, VecDeque};

use super::grammar::{Block, Op, Schedule};
use super::packet;
use super::part::Part;
use crate::util::cast::{to_u32, to_usize};

/// Contents of the blocks of a process.
pub type Blocks = BTreeMap<Block, Vec<u8>>;

struct Process<'a> {
    schedule: &'a Schedule,
    round: usize,
    posted: bool,
    blocks: Blocks,
    /// Incomplete receives and sends of the current round.
    pending: usize,
}

impl Process<'_> {
    /// The bytes of a block; for a packet, its wire format.
    fn read(&self, block: Block) -> Vec<u8> {
        let Block::Packet(k) = block else { return self.blocks[&block].clone() };
        let blocks: Vec<Vec<u8>> = self.schedule.packet(k as usize).iter().map(|&block| self.read(block)).collect();
        let mut bytes = vec![0; packet::WORD * blocks.len()];
        let same = |i: usize| i > 0 && blocks[i] == blocks[i - 1];
        let words = (0..blocks.len()).map(|i| if same(i) { packet::SAME } else { blocks[i].len() as u64 });
        packet::write_lengths(&mut bytes, words);
        (0..blocks.len()).filter(|&i| !same(i)).for_each(|i| bytes.extend(&blocks[i]));
        bytes
    }

    /// Unpacks a packet that has arrived completely.
    fn open(&mut self, k: u32) {
        let bytes = self.blocks.remove(&Block::Packet(k)).unwrap_or_default();
        let blocks = self.schedule.packet(k as usize);
        packet::check(&bytes, blocks.len()).unwrap();
        let mut place = packet::front(blocks.len());
        for (i, &block) in blocks.iter().enumerate() {
            place = packet::place(&bytes, i, place);
            self.blocks.insert(block, bytes[place.clone()].to_vec());
        }
    }
}

/// Sends and receives between two processes that have not been matched.
#[derive(Default)]
struct Channel {
    sends: VecDeque<(usize, Vec<u8>, Part)>,
    recvs: VecDeque<(usize, Block, Part)>,
}

/// Runs all schedules to completion; `inputs[p][i]` is block `Input(i)` of process `p`. Returns all
/// blocks of all processes.
///
/// # Errors
/// Names the processes that cannot continue, unless all finish.
pub fn run(
    schedules: &[Schedule],
    inputs: &[Vec<Vec<u8>>],
    reduce: impl Fn(&[u8], &[u8]) -> Vec<u8>,
    seed: u64,
) -> Result<Vec<Blocks>, String> {
    let mut processes: Vec<Process> = (schedules.iter().zip(inputs))
        .map(|(schedule, inputs)| Process {
            schedule,
            round: 0,
            posted: false,
            blocks: (inputs.iter().enumerate()).map(|(i, bytes)| (Block::Input(to_u32(i)), bytes.clone())).collect(),
            pending: 0,
        })
        .collect();
    let mut channels: BTreeMap<(usize, usize), Channel> = BTreeMap::new();
    let mut random = seed | 1;
    let mut idle = 0;
    while processes.iter().any(|p| p.round < p.schedule.rounds()) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // after many steps without progress, visit every process in turn, so that a deadlock is
        // certain
        let p = if idle > 64 * processes.len() { idle % processes.len() } else { (random >> 33) as usize % processes.len() };
        if idle > 66 * processes.len() {
            let stuck: Vec<_> = (0..processes.len()).filter(|&p| processes[p].round < processes[p].schedule.rounds()).collect();
            return Err(format!("processes {stuck:?} wait forever"));
        }
        let moved = step(p, &mut processes, &mut channels, &reduce);
        idle = if moved { 0 } else { idle + 1 };
    }
    Ok(processes.into_iter().map(|p| p.blocks).collect())
}

fn step(
    p: usize,
    processes: &mut [Process],
    channels: &mut BTreeMap<(usize, usize), Channel>,
    reduce: &impl Fn(&[u8], &[u8]) -> Vec<u8>,
) -> bool {
    let process = &mut processes[p];
    if process.round >= process.schedule.rounds() {
        return false;
    }
    let round = process.schedule.round(process.round).to_vec();
    if !process.posted {
        for op in &round {
            match *op {
                Op::Recv { from, into, part } => {
                    let channel = channels.entry((from as usize, p)).or_default();
                    channel.recvs.push_back((p, into, part));
                    process.pending += 1;
                }
                Op::Send { to, block, part } => {
                    let channel = channels.entry((p, to as usize)).or_default();
                    channel.sends.push_back((p, process.read(block), part));
                    process.pending += 1;
                }
                Op::Copy { from, into } => {
                    let bytes = process.blocks[&from].clone();
                    process.blocks.insert(into, bytes);
                }
                Op::Reduce { .. } => {}
            }
        }
        process.posted = true;
        for op in &round {
            let pair = match *op {
                Op::Recv { from, .. } => (from as usize, p),
                Op::Send { to, .. } => (p, to as usize),
                _ => continue,
            };
            let channel = channels.get_mut(&pair).expect("it has just been used");
            while let (Some(_), Some(_)) = (channel.sends.front(), channel.recvs.front()) {
                let (sender, bytes, part) = channel.sends.pop_front().unwrap();
                let (receiver, into, expected) = channel.recvs.pop_front().unwrap();
                // each end computes the cut itself; both know the length of the block
                let (from, to) = (part.range(bytes.len() as u64), expected.range(bytes.len() as u64));
                let block = processes[receiver].blocks.entry(into).or_default();
                block.resize(bytes.len(), 0);
                block[to_usize(to.start)..to_usize(to.end)].copy_from_slice(&bytes[to_usize(from.start)..to_usize(from.end)]);
                if let Block::Packet(k) = into {
                    processes[receiver].open(k);
                }
                processes[receiver].pending -= 1;
                processes[sender].pending -= 1;
            }
        }
        return true;
    }
    if process.pending > 0 {
        return false;
    }
    for op in &round {
        if let Op::Reduce { from, into } = op {
            let result = reduce(&process.blocks[from], &process.blocks[into]);
            process.blocks.insert(*into, result);
        }
    }
    process.round += 1;
    process.posted = false;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Algorithm;

    /// Two processes that each send before they receive, in different rounds: buffering would hide
    /// the deadlock.
    #[test]
    fn reliance_on_buffering_is_found() {
        let schedules: Vec<_> = (0..2u32)
            .map(|p| {
                let mut s = Schedule::new(Algorithm::Direct);
                s.push_round([Op::send(1 - p, Block::Input(0))]);
                s.push_round([Op::recv(1 - p, Block::Output(0))]);
                s
            })
            .collect();
        let inputs = vec![vec![vec![1]], vec![vec![2]]];
        let e = run(&schedules, &inputs, |a, _| a.to_vec(), 7).unwrap_err();
        assert_eq!(e, "processes [0, 1] wait forever");
    }
}
