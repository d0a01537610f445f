//! A schedule's operations, sorted for binding and for running.

use std::collections::HashMap;
use std::ops::Range;

use smallvec::SmallVec;

use super::parts::{Finder, Parts};
use crate::schedule::{Block, Op, Part, Schedule};
use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;

/// A message of a whole input or output block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Index among all messages.
    pub(super) message: u32,
    /// Entry of the list of sources or targets.
    pub(super) entry: u32,
}

/// A round, as ranges of messages and local operations.
#[derive(Debug, Clone)]
pub(super) struct Round {
    pub(super) recvs: Range<usize>,
    pub(super) sends: Range<usize>,
    /// Blocks to pack before the sends, and to unpack after the receives.
    pub(super) packs: Range<usize>,
    pub(super) unpacks: Range<usize>,
    pub(super) copies: Range<usize>,
    pub(super) reduces: Range<usize>,
}

/// A schedule, sorted for binding: messages of whole input and output blocks, and everything else.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) rounds: Vec<Round>,
    /// The process at the other end of each message, and its block.
    pub(super) messages: Vec<(Rank, Block)>,
    /// All messages, round by round, in the order in which they are posted where they may be sent
    /// by rendezvous; empty until a call needs it.
    pub(super) rendezvous: Vec<u32>,
    /// Messages that send input blocks, and messages that receive output blocks.
    pub(super) inputs: Vec<Place>,
    pub(super) outputs: Vec<Place>,
    /// All other messages that carry whole blocks.
    pub(super) others: Vec<u32>,
    /// Blocks to pack, in the round that sends their first part, and to unpack, in the round that
    /// receives their last part.
    pub(super) packs: Vec<u32>,
    pub(super) unpacks: Vec<u32>,
    pub(super) copies: Vec<(Block, Block)>,
    pub(super) reduces: Vec<(Block, Block)>,
    /// Blocks that are received or copied.
    pub(super) arrivals: Vec<Arrival>,
    /// For each entry of the source list, the index of its block in `arrivals`.
    pub(super) sources: Vec<Option<u32>>,
    /// The operands of each reduction, as indices of `arrivals`.
    pub(super) operands: Vec<[u32; 2]>,
}

/// A block that is received or copied, and what it takes to complete it.
#[derive(Debug, Default)]
pub(super) struct Arrival {
    /// The last round that writes to it.
    pub(super) round: usize,
    /// The messages that bring it; none if it is copied.
    pub(super) messages: SmallVec<[u32; 1]>,
    /// Index in `unpacks`.
    pub(super) unpack: Option<u32>,
    /// The reduction that folds it in. The first source needs none.
    pub(super) reduce: Option<u32>,
}

/// Collects the arrivals of a schedule.
#[derive(Default)]
struct Arrivals {
    list: Vec<Arrival>,
    of: HashMap<Block, u32>,
}

impl Arrivals {
    /// Returns the arrival of a block that is written in round `round`.
    fn write(&mut self, block: Block, round: usize) -> &mut Arrival {
        let next = to_u32(self.list.len());
        let index = *self.of.entry(block).or_insert(next);
        if index == next {
            self.list.push(Arrival::default());
        }
        let arrival = &mut self.list[index as usize];
        arrival.round = round;
        arrival
    }
}

/// Sorts the operations of a schedule, round by round.
#[derive(Default)]
struct Sorter {
    sorted: Sorted,
    finder: Finder,
    arrivals: Arrivals,
}

impl Sorter {
    /// Sorts the operations of round `r`.
    fn sort_round(&mut self, r: usize, ops: &[Op]) {
        let Sorted { messages, packs, unpacks, copies, reduces, .. } = &self.sorted;
        let (first, pack, unpack) = (messages.len(), packs.len(), unpacks.len());
        let (copy, reduce) = (copies.len(), reduces.len());
        let mut sends = first;
        for op in ops {
            if let Op::Recv { into, .. } | Op::Copy { into, .. } | Op::Reduce { into, .. } = *op {
                self.finder.write(into);
            }
            match *op {
                Op::Recv { from, into, part } => {
                    self.receive(r, from, into, part);
                    sends += 1;
                }
                Op::Send { to, block, part } => self.send(to, block, part),
                Op::Copy { from, into } => {
                    self.arrivals.write(into, r);
                    self.sorted.copies.push((from, into));
                }
                Op::Reduce { from, into } => self.reduce(from, into),
            }
        }
        let Sorted { rounds, messages, packs, unpacks, copies, reduces, .. } = &mut self.sorted;
        rounds.push(Round {
            recvs: first..sends,
            sends: sends..messages.len(),
            packs: pack..packs.len(),
            unpacks: unpack..unpacks.len(),
            copies: copy..copies.len(),
            reduces: reduce..reduces.len(),
        });
    }

    /// Adds a message that is received in round `r`.
    fn receive(&mut self, r: usize, from: Rank, into: Block, part: Part) {
        let sorted = &mut self.sorted;
        let message = to_u32(sorted.messages.len());
        sorted.messages.push((from, into));
        let arrival = self.arrivals.write(into, r);
        arrival.messages.push(message);
        match into {
            _ if !part.is_whole() => {
                if let Some(stage) = self.finder.receive(message, into, part) {
                    arrival.unpack = Some(to_u32(sorted.unpacks.len()));
                    sorted.unpacks.push(stage);
                }
            }
            Block::Output(entry) => sorted.outputs.push(Place { message, entry }),
            _ => sorted.others.push(message),
        }
    }

    /// Adds a message that is sent.
    fn send(&mut self, to: Rank, block: Block, part: Part) {
        let sorted = &mut self.sorted;
        let message = to_u32(sorted.messages.len());
        sorted.messages.push((to, block));
        match block {
            _ if !part.is_whole() => sorted.packs.extend(self.finder.send(message, block, part)),
            Block::Input(entry) => sorted.inputs.push(Place { message, entry }),
            _ => sorted.others.push(message),
        }
    }

    /// Adds a reduction.
    fn reduce(&mut self, from: Block, into: Block) {
        let Arrivals { list, of } = &mut self.arrivals;
        // the grammar has both arrive earlier
        let (left, right) = (of[&from], of[&into]);
        list[right as usize].reduce = Some(to_u32(self.sorted.reduces.len()));
        self.sorted.operands.push([left, right]);
        self.sorted.reduces.push((from, into));
    }
}

impl Sorted {
    /// Sorts a schedule, and finds the blocks that travel in parts.
    pub(super) fn new(schedule: &Schedule) -> (Sorted, Parts) {
        let mut sorter = Sorter::default();
        for r in 0..schedule.rounds() {
            sorter.sort_round(r, schedule.round(r));
        }
        let Sorter { mut sorted, finder, arrivals } = sorter;
        for (source, block) in schedule.homes() {
            let source = source as usize;
            if sorted.sources.len() <= source {
                sorted.sources.resize(source + 1, None);
            }
            sorted.sources[source] = arrivals.of.get(&block).copied();
        }
        sorted.arrivals = arrivals.list;
        (sorted, finder.finish())
    }

    /// Finds the order in which messages are posted where they may be sent by rendezvous.
    pub(super) fn order_for_rendezvous(&mut self) {
        if self.rendezvous.is_empty() {
            let of_round = |round: &Round| rendezvous_order(&self.messages, &round.recvs, &round.sends);
            self.rendezvous = self.rounds.iter().flat_map(of_round).collect();
        }
    }
}

/// Returns the order in which to post the messages of a round that may be sent by rendezvous: sends
/// in their order, and each receive behind the last send to the same process.
fn rendezvous_order(messages: &[(Rank, Block)], recvs: &Range<usize>, sends: &Range<usize>) -> Vec<u32> {
    let last: HashMap<Rank, usize> = sends.clone().map(|send| (messages[send].0, send)).collect();
    let mut order: Vec<usize> = recvs.clone().chain(sends.clone()).collect();
    // a receive belongs to a send; those from processes to which nothing is sent come first
    order.sort_by_key(|&i| if i < sends.start { last.get(&messages[i].0).map(|&send| (send, true)) } else { Some((i, false)) });
    order.into_iter().map(to_u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_follow_the_sends_to_the_same_process() {
        let order = |recvs: &[Rank], sends: &[Rank]| {
            let messages: Vec<(Rank, Block)> = recvs.iter().chain(sends).map(|&peer| (peer, Block::Input(0))).collect();
            rendezvous_order(&messages, &(0..recvs.len()), &(recvs.len()..messages.len()))
        };
        assert_eq!(order(&[1, 2], &[2, 1]), [2, 1, 3, 0], "each behind its own");
        assert_eq!(order(&[1, 1, 2], &[1, 2, 1]), [3, 4, 2, 5, 0, 1], "behind the last send, in their order");
        assert_eq!(order(&[3, 1, 4], &[1, 2]), [0, 2, 3, 1, 4], "first those that need not wait");
        assert_eq!(order(&[], &[5]), [0]);
        assert_eq!(order(&[5], &[]), [0]);
    }
}
