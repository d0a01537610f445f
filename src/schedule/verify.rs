//! Verifies the schedules of all processes against the definition of the collectives, by running
//! them on symbols.
//!
//! The symbol of a block is the list of its contributions: `Input(i)` of process `s` is `[(s, i)]`,
//! and a reduction concatenates two lists in order. The symbol of a packet is the list of its
//! blocks' symbols. Messages are queues between pairs of processes. Nothing is assumed about how a
//! schedule was built.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::fold::FoldOrder;
use super::grammar::{Block, Op, Schedule};
use super::part::Part;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::to_u32;

/// The result that the schedules together must achieve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// `Output(j)` holds the block of the edge that arrives at entry `j` of the source list.
    Deliver,
    /// `Output(0)` holds the reduction of all of them.
    Fold(FoldOrder),
}

/// A contribution: (process, entry of its target list).
type Symbol = (Rank, u32);

/// Contents of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// Contributions, in order.
    Block(Vec<Symbol>),
    /// The blocks of a packet. Shared, because large packets are forwarded many times.
    Packet(Rc<[Value]>),
}

/// Contents of a message, and the fraction of the block.
type Message = (Value, Part);

/// Verifies the schedules of all processes.
///
/// With `single_port`, also requires that no process sends or receives more than one message per
/// round.
///
/// # Errors
/// A sentence that names the process, the round and the defect.
pub fn verify(neighborhoods: &[Neighborhood], schedules: &[Schedule], goal: Goal, single_port: bool) -> Result<(), String> {
    let mut replay =
        Replay { schedules, blocks: vec![HashMap::new(); schedules.len()], parts: HashMap::new(), wires: HashMap::new() };
    for (p, schedule) in schedules.iter().enumerate() {
        check_packets(schedule).map_err(|e| format!("process {p}: {e}"))?;
    }
    // (number of the round, process, index of the round in its schedule)
    let mut steps: Vec<(u32, usize, usize)> =
        (schedules.iter().enumerate()).flat_map(|(p, s)| (0..s.rounds()).map(move |r| (s.number(r), p, r))).collect();
    steps.sort_unstable();
    for steps in steps.chunk_by(|a, b| a.0 == b.0) {
        let r = steps[0].0;
        let active = || steps.iter().map(|&(_, p, at)| (p, schedules[p].round(at)));
        for (p, round) in active() {
            check_grammar(round, &schedules[p]).map_err(|e| format!("process {p}, round {r}: {e}"))?;
            if single_port {
                check_ports(round).map_err(|e| format!("process {p}, round {r}: {e}"))?;
            }
        }
        for (p, round) in active() {
            replay.send(to_u32(p), round).map_err(|e| format!("process {p}, round {r}: {e}"))?;
        }
        for (p, round) in active() {
            replay.finish(to_u32(p), round).map_err(|e| format!("process {p}, round {r}: {e}"))?;
        }
        if let Some(((from, to), _)) = replay.wires.iter().find(|(_, q)| !q.is_empty()) {
            return Err(format!("round {r}: a message from {from} to {to} is received in no receive of this round"));
        }
    }
    if let Some((p, block)) = replay.parts.keys().next() {
        return Err(format!("process {p}: of {block:?} some parts are never received"));
    }
    replay.check(neighborhoods, goal)
}

/// The state of all processes while their schedules run.
struct Replay<'a> {
    schedules: &'a [Schedule],
    blocks: Vec<HashMap<Block, Value>>,
    /// Blocks that have arrived in part: the parts, and the contents of the whole.
    parts: HashMap<(Rank, Block), (Vec<Part>, Value)>,
    wires: HashMap<(Rank, Rank), VecDeque<Message>>,
}

impl Replay<'_> {
    fn read(&self, p: Rank, block: Block) -> Result<Value, String> {
        match block {
            Block::Input(entry) => Ok(Value::Block(vec![(p, entry)])),
            Block::Packet(k) => {
                let read = |&block: &Block| match block {
                    Block::Output(_) => Err(format!("{block:?} is sent in a packet")),
                    _ => self.read(p, block),
                };
                let blocks = self.schedules[p as usize].packet(k as usize).iter();
                blocks.map(read).collect::<Result<Vec<Value>, String>>().map(|v| Value::Packet(v.into()))
            }
            _ => (self.blocks[p as usize].get(&block).cloned()).ok_or_else(|| format!("{block:?} is read before it is written")),
        }
    }

    fn write(&mut self, p: Rank, block: Block, value: Value) -> Result<(), String> {
        match block {
            Block::Input(_) => Err(format!("{block:?} is written")),
            Block::Packet(k) => {
                let schedules = self.schedules;
                let blocks = schedules[p as usize].packet(k as usize);
                let Value::Packet(values) = value else {
                    return Err(format!("{block:?} is received where a block is sent"));
                };
                if values.len() != blocks.len() {
                    return Err(format!("{block:?} of {} blocks is received where {} are sent", blocks.len(), values.len()));
                }
                blocks.iter().zip(values.iter()).try_for_each(|(&block, value)| match block {
                    Block::Output(_) | Block::Scratch(_) => self.write(p, block, value.clone()),
                    _ => Err(format!("{block:?} is received in a packet")),
                })
            }
            Block::Output(_) if self.blocks[p as usize].contains_key(&block) => Err(format!("{block:?} is written twice")),
            _ => {
                self.blocks[p as usize].insert(block, value);
                Ok(())
            }
        }
    }

    /// Writes a part of a block; the block becomes available when all parts have been written.
    fn write_part(&mut self, p: Rank, block: Block, part: Part, value: Value) -> Result<(), String> {
        if part.is_whole() {
            return self.write(p, block, value);
        }
        if matches!(block, Block::Packet(_)) || matches!(value, Value::Packet(_)) {
            return Err(format!("{block:?}{part} is a part of a packet"));
        }
        let (_, _, of) = part.fraction();
        let (parts, symbols) = self.parts.entry((p, block)).or_insert_with(|| (Vec::new(), value.clone()));
        if *symbols != value || parts.iter().any(|other| other.fraction().2 != of) {
            return Err(format!("{block:?}{part} is not a part of the same block as the parts before"));
        }
        parts.push(part);
        parts.sort_unstable_by_key(|p| p.fraction());
        if parts.windows(2).any(|w| w[0].fraction().1 > w[1].fraction().0) {
            return Err(format!("{block:?}{part} is written twice"));
        }
        if parts.iter().map(|p| p.fraction().1 - p.fraction().0).sum::<u32>() == of {
            self.parts.remove(&(p, block));
            self.write(p, block, value)?;
        }
        Ok(())
    }

    fn send(&mut self, p: Rank, round: &[Op]) -> Result<(), String> {
        for op in round {
            if let Op::Send { to, block, part } = *op {
                if to as usize >= self.blocks.len() || to == p {
                    return Err(format!("a message is sent to {to}"));
                }
                let value = self.read(p, block)?;
                self.wires.entry((p, to)).or_default().push_back((value, part));
            }
        }
        Ok(())
    }

    fn finish(&mut self, p: Rank, round: &[Op]) -> Result<(), String> {
        // copies read the state before the round: read all, then write all
        let mut writes = Vec::new();
        for op in round {
            match *op {
                Op::Recv { from, into, part } => {
                    let (value, sent) = (self.wires.get_mut(&(from, p)).and_then(VecDeque::pop_front))
                        .ok_or_else(|| format!("a receive from {from} meets no send"))?;
                    if sent != part {
                        return Err(format!("{into:?}{part} is received from {from}, which sends the part {sent}"));
                    }
                    writes.push((into, part, value));
                }
                Op::Copy { from, into } => writes.push((into, Part::WHOLE, self.read(p, from)?)),
                Op::Send { .. } | Op::Reduce { .. } => {}
            }
        }
        for (into, part, value) in writes {
            self.write_part(p, into, part, value)?;
        }
        for op in round {
            if let Op::Reduce { from, into } = *op {
                let (Value::Block(mut value), Value::Block(right)) = (self.read(p, from)?, self.read(p, into)?) else {
                    return Err(format!("{from:?} and {into:?} are reduced, one of which is a packet"));
                };
                value.extend(right);
                self.blocks[p as usize].insert(into, Value::Block(value));
            }
        }
        Ok(())
    }

    /// Compares what arrived with what the lists require.
    fn check(&self, neighborhoods: &[Neighborhood], goal: Goal) -> Result<(), String> {
        for (p, n) in neighborhoods.iter().enumerate() {
            let mut expected: Vec<(u32, Symbol)> = Vec::new();
            let mut seen: HashMap<Rank, usize> = HashMap::new();
            for (entry, source) in n.sources_in_order() {
                let k = seen.entry(source).or_default();
                let sender = &neighborhoods[source as usize];
                let (target_entry, _) = sender
                    .targets_in_order()
                    .filter(|&(_, to)| to as usize == p)
                    .nth(*k)
                    .ok_or_else(|| format!("lists of {source} and {p} do not match"))?;
                *k += 1;
                expected.push((entry, (source, target_entry)));
            }
            expected.sort_unstable();
            let mut outputs: HashMap<u32, &Vec<Symbol>> = HashMap::new();
            for (block, value) in &self.blocks[p] {
                match (block, value) {
                    (Block::Output(entry), Value::Block(value)) => drop(outputs.insert(*entry, value)),
                    (Block::Output(_), Value::Packet(_)) => return Err(format!("process {p}: {block:?} holds a packet")),
                    _ => {}
                }
            }
            let wanted: Vec<(u32, Vec<Symbol>)> = match goal {
                Goal::Deliver => expected.iter().map(|&(j, s)| (j, vec![s])).collect(),
                Goal::Fold(_) if expected.is_empty() => Vec::new(),
                Goal::Fold(_) => vec![(0, expected.iter().map(|&(_, s)| s).collect())],
            };
            if outputs.len() != wanted.len() {
                return Err(format!("process {p}: {} output blocks are written, not {}", outputs.len(), wanted.len()));
            }
            for (entry, mut want) in wanted {
                let mut have = outputs.get(&entry).copied().cloned().unwrap_or_default();
                if goal == Goal::Fold(FoldOrder::Any) {
                    have.sort_unstable();
                    want.sort_unstable();
                }
                if have != want {
                    return Err(format!("process {p}: Output({entry}) holds {have:?}, not {want:?}"));
                }
            }
        }
        Ok(())
    }
}

/// Checks that packets contain only packets with higher numbers, so that none contains itself, and
/// that each is used once: received, sent or contained.
fn check_packets(schedule: &Schedule) -> Result<(), String> {
    let packets = to_u32(schedule.packets());
    let mut used = HashSet::new();
    for k in 0..packets {
        for block in schedule.packet(k as usize) {
            if let Block::Packet(inner) = *block
                && (inner <= k || inner >= packets || !used.insert(inner))
            {
                return Err(format!("packet {k} holds {block:?}"));
            }
        }
    }
    let travels = |op: &Op| match *op {
        Op::Send { block: Block::Packet(k), .. } | Op::Recv { into: Block::Packet(k), .. } => Some(k),
        _ => None,
    };
    match schedule.ops().iter().filter_map(travels).find(|&k| k >= packets || !used.insert(k)) {
        Some(k) => Err(format!("packet {k} travels, but is not there, or travels or is held already")),
        None => Ok(()),
    }
}

/// A block, or the blocks of a packet and of the packets nested in it.
fn contents(block: Block, schedule: &Schedule) -> Vec<Block> {
    let mut blocks = vec![block];
    let mut done = 0;
    while let Some(&block) = blocks.get(done) {
        done += 1;
        if let Block::Packet(k) = block {
            blocks.extend(schedule.packet(k as usize));
        }
    }
    blocks
}

fn check_grammar(round: &[Op], schedule: &Schedule) -> Result<(), String> {
    if !round.is_sorted_by_key(Op::phase) {
        return Err("operations are not in the order receive, send, copy, reduce".into());
    }
    let written: HashSet<Block> = (round.iter())
        .filter_map(|op| match op {
            Op::Recv { into, .. } | Op::Copy { into, .. } => Some(contents(*into, schedule)),
            _ => None,
        })
        .flatten()
        .collect();
    for op in round {
        if let Op::Send { block: from, .. } | Op::Copy { from, .. } = op
            && let Some(from) = contents(*from, schedule).into_iter().find(|from| written.contains(from))
        {
            return Err(format!("{from:?} is read while it is written"));
        }
    }
    Ok(())
}

fn check_ports(round: &[Op]) -> Result<(), String> {
    let count = |phase| round.iter().filter(|op| op.phase() == phase).count();
    match (count(0), count(1)) {
        (0..=1, 0..=1) => Ok(()),
        (recvs, sends) => Err(format!("{recvs} receives and {sends} sends in one round")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Algorithm, Tuning, world_schedules};
    use super::*;

    fn ring(n: u32) -> Vec<Neighborhood> {
        (0..n).map(|r| Neighborhood::from_ranks(r, &[(r + n - 1) % n, r], &[(r + 1) % n, r])).collect()
    }

    fn direct(world: &[Neighborhood]) -> Vec<Schedule> {
        world_schedules(Algorithm::Direct, world, None, &Tuning::default()).unwrap()
    }

    /// Every defect that a builder could have must be found: each case breaks one thing.
    #[test]
    fn defects_are_found() {
        let world = ring(3);
        let good = direct(&world);
        verify(&world, &good, Goal::Deliver, true).unwrap();
        let spoil = |f: &dyn Fn(&mut Vec<Op>)| {
            let mut bad = good.clone();
            let mut ops = bad[1].round(0).to_vec();
            f(&mut ops);
            bad[1] = Schedule::new(Algorithm::Direct);
            bad[1].push_round(ops);
            verify(&world, &bad, Goal::Deliver, true).unwrap_err()
        };
        let lost = spoil(&|ops| ops.retain(|op| !matches!(op, Op::Send { .. })));
        assert!(lost.contains("meets no send"), "{lost}");
        let unreceived = spoil(&|ops| ops.retain(|op| !matches!(op, Op::Recv { .. })));
        assert!(unreceived.contains("received in no receive"), "{unreceived}");
        let uncopied = spoil(&|ops| ops.retain(|op| !matches!(op, Op::Copy { .. })));
        assert!(uncopied.contains("output blocks"), "{uncopied}");
        let wrong_block = spoil(&|ops| {
            for op in ops {
                if let Op::Send { block, .. } = op {
                    *block = Block::Input(1);
                }
            }
        });
        assert!(wrong_block.contains("holds"), "{wrong_block}");
        let unwritten = spoil(&|ops| {
            for op in ops {
                if let Op::Send { block, .. } = op {
                    *block = Block::Scratch(0);
                }
            }
        });
        assert!(unwritten.contains("before it is written"), "{unwritten}");
        let twice = spoil(&|ops| {
            ops.push(Op::Copy { from: Block::Input(0), into: Block::Output(1) });
        });
        assert!(twice.contains("written twice"), "{twice}");
        let crowded = spoil(&|ops| {
            ops.push(Op::send(0, Block::Input(0)));
        });
        assert!(crowded.contains("2 sends"), "{crowded}");
        let late = {
            let mut bad = good.clone();
            let ops = bad[2].round(0).to_vec();
            bad[2] = Schedule::new(Algorithm::Direct);
            bad[2].push_round([]);
            bad[2].push_round(ops);
            verify(&world, &bad, Goal::Deliver, true).unwrap_err()
        };
        assert!(late.contains("meets no send"), "{late}");
    }

    /// Two processes; the block from 0 to 1 travels in two parts, one of which is wrong at one end.
    #[test]
    fn wrong_parts_are_found() {
        let world = [Neighborhood::from_ranks(0, &[], &[1]), Neighborhood::from_ranks(1, &[0], &[])];
        let run = |sent: &[Part], received: &[Part]| {
            let mut schedules = [Schedule::new(Algorithm::Direct), Schedule::new(Algorithm::Direct)];
            for &part in sent {
                schedules[0].push_round([Op::Send { to: 1, block: Block::Input(0), part }]);
            }
            for &part in received {
                schedules[1].push_round([Op::Recv { from: 0, into: Block::Output(0), part }]);
            }
            verify(&world, &schedules, Goal::Deliver, true)
        };
        let (a, b, c) = (Part::new(0, 2, 5), Part::new(2, 5, 5), Part::new(1, 5, 5));
        run(&[b, a], &[b, a]).unwrap();
        let swapped = run(&[a, b], &[b, a]).unwrap_err();
        assert!(swapped.contains("which sends the part [0..2/5]"), "{swapped}");
        let missing = run(&[a], &[a]).unwrap_err();
        assert!(missing.contains("some parts are never received"), "{missing}");
        let overlap = run(&[a, c], &[a, c]).unwrap_err();
        assert!(overlap.contains("is written twice"), "{overlap}");
        let other = Part::new(1, 2, 2);
        let other = run(&[a, other], &[a, other]).unwrap_err();
        assert!(other.contains("not a part of the same block"), "{other}");
    }

    /// Process 0 sends 2 a packet with a block for 2 and one for 1, which 2 forwards.
    #[test]
    fn wrong_packets_are_found() {
        let world = [
            Neighborhood::from_ranks(0, &[], &[1, 2]),
            Neighborhood::from_ranks(1, &[0], &[]),
            Neighborhood::from_ranks(2, &[0], &[]),
        ];
        let (input, output, scratch, packet) = (Block::Input, Block::Output(0), Block::Scratch(0), Block::Packet);
        let run = |sent: &[Block], received: &[Block], into: Block| {
            let mut schedules = vec![Schedule::new(Algorithm::Direct); 3];
            schedules[0].push_round([Op::send(2, packet(0))]);
            schedules[0].push_packet(sent.iter().copied());
            schedules[0].push_packet([input(0), input(0)]);
            schedules[2].push_round([Op::recv(0, packet(0))]);
            schedules[2].push_packet(received.iter().copied());
            schedules[2].push_round([Op::send(1, scratch)]);
            schedules[1].push_round_at(1, [Op::recv(2, into)]);
            schedules[1].push_packet([output, Block::Scratch(1)]);
            verify(&world, &schedules, Goal::Deliver, true)
        };
        run(&[input(1), input(0)], &[output, scratch], output).unwrap();
        run(&[input(1), packet(1)], &[output, scratch], packet(0)).unwrap();
        for (sent, received, into, text) in [
            (&[input(0), input(1)][..], &[output, scratch][..], output, "Output(0) holds"),
            (&[input(1), input(0), input(0)], &[output, scratch], output, "of 2 blocks is received where 3 are sent"),
            (&[input(1), packet(1)], &[output, scratch], output, "Output(0) holds a packet"),
            (&[input(1), packet(0)], &[output, scratch], output, "packet 0 holds Packet(0)"),
            (&[input(1), packet(2)], &[output, scratch], output, "packet 0 holds Packet(2)"),
            (&[packet(1), packet(1)], &[output, scratch], output, "packet 0 holds Packet(1)"),
            (&[input(1), input(0)], &[output, scratch], packet(0), "is received where a block is sent"),
            (&[input(1), packet(1)], &[output, packet(1)], output, "packet 0 holds Packet(1)"),
            (&[input(1), input(0)], &[output, input(0)], output, "Input(0) is received in a packet"),
            (&[input(1), Block::Scratch(7)], &[output, scratch], output, "Scratch(7) is read before it is written"),
            (&[input(1), output], &[output, scratch], output, "Output(0) is sent in a packet"),
            (&[input(1), input(0)], &[output, output], output, "is written twice"),
        ] {
            let e = run(sent, received, into).unwrap_err();
            assert!(e.contains(text), "{e}");
        }
    }

    /// Processes 0 and 1 each send 2 a packet in one round. 2 forwards their contents with a block
    /// of its own: to 3 in a packet, to 4 separately. The last blocks of 0 and 1 have the same
    /// contents, which a packet holds once.
    #[test]
    fn collected_packets() {
        let (input, output, scratch, packet) = (Block::Input, Block::Output, Block::Scratch, Block::Packet);
        let world = [
            Neighborhood::from_ranks(0, &[], &[3, 4]),
            Neighborhood::from_ranks(1, &[], &[3, 2, 2]),
            Neighborhood::from_ranks(2, &[1, 1], &[3]),
            Neighborhood::from_ranks(3, &[2, 1, 0], &[]),
            Neighborhood::from_ranks(4, &[0], &[]),
        ];
        let made = |collected: &[Block], again: Option<Block>, early: u32| {
            let mut schedules = vec![Schedule::new(Algorithm::Direct); 5];
            schedules[0].push_round([Op::send(2, packet(0))]);
            schedules[0].push_packet([input(0), input(1)]);
            schedules[1].push_round([Op::send(2, packet(0))]);
            schedules[1].push_packet([input(0), input(1), input(2)]);
            let sends = [Op::send(3, packet(2)), Op::send(4, scratch(1))];
            let receives = [Op::recv(0, packet(0)), Op::recv(1, packet(1))];
            if early == 0 {
                schedules[2].push_round(receives.into_iter().chain(sends));
            } else {
                schedules[2].push_round(receives);
                schedules[2].push_round_at(early, sends);
            }
            schedules[2].push_packet([scratch(0), scratch(1)]);
            schedules[2].push_packet([scratch(2), output(0), output(1)]);
            schedules[2].push_packet(collected.iter().copied());
            schedules[3].push_round_at(early, [Op::recv(2, packet(0))]);
            schedules[3].push_packet([output(0), output(1), output(2)]);
            schedules[4].push_round_at(early, [Op::recv(2, output(0))]);
            if let Some(again) = again {
                schedules[2].push_round_at(early + 1, [Op::send(3, again)]);
                schedules[3].push_round_at(early + 1, [Op::recv(2, scratch(9))]);
            }
            schedules
        };
        let run = |collected: &[Block], again, early| verify(&world, &made(collected, again, early), Goal::Deliver, false);
        let good = [input(0), scratch(2), scratch(0)];
        run(&good, None, 1).unwrap();
        // what was forwarded stays
        run(&good, Some(scratch(0)), 1).unwrap();
        for (collected, again, early, text) in [
            (&[input(0), scratch(0), scratch(2)][..], None, 1, "Output(1) holds"),
            (&[input(0), scratch(2), scratch(3)], None, 1, "Scratch(3) is read before it is written"),
            (&good, None, 0, "is read while it is written"),
            (&good, Some(packet(2)), 1, "packet 2 travels, but is not there, or travels or is held already"),
            (&good, Some(packet(0)), 1, "packet 0 travels, but is not there, or travels or is held already"),
            (&[input(0), scratch(2), packet(0)], None, 1, "packet 2 holds Packet(0)"),
        ] {
            let e = run(collected, again, early).unwrap_err();
            assert!(e.contains(text), "{e}");
        }
        let same = vec![7u8; 40];
        for seed in 0..20 {
            let inputs =
                vec![vec![vec![1; 3], vec![2; 5]], vec![vec![], same.clone(), same.clone()], vec![vec![4; 7]], vec![], vec![]];
            let moved = crate::schedule::world::run(&made(&good, None, 1), &inputs, |_, _| unreachable!(), seed).unwrap();
            let out = |p: usize| (0..3).map_while(|j| moved[p].get(&output(j)).cloned()).collect::<Vec<_>>();
            assert_eq!(out(2), [same.clone(), same.clone()]);
            assert_eq!((out(3), out(4)), (vec![vec![4; 7], vec![], vec![1; 3]], vec![vec![2; 5]]));
        }
    }

    #[test]
    fn a_fold_in_the_wrong_order_is_found() {
        let world: Vec<_> = vec![
            Neighborhood::from_ranks(0, &[1, 2], &[]),
            Neighborhood::from_ranks(1, &[], &[0]),
            Neighborhood::from_ranks(2, &[], &[0]),
        ];
        let mut bad: Vec<_> = (direct(&world).iter()).map(|s| s.folded(FoldOrder::Source)).collect();
        verify(&world, &bad, Goal::Fold(FoldOrder::Source), false).unwrap();
        bad[0] = Schedule::new(Algorithm::Direct);
        bad[0].push_round([
            Op::recv(1, Block::Output(0)),
            Op::recv(2, Block::Scratch(0)),
            Op::Reduce { from: Block::Scratch(0), into: Block::Output(0) },
        ]);
        verify(&world, &bad, Goal::Fold(FoldOrder::Any), false).unwrap();
        let e = verify(&world, &bad, Goal::Fold(FoldOrder::Source), false).unwrap_err();
        assert!(e.contains("Output(0) holds"), "{e}");
    }
}
