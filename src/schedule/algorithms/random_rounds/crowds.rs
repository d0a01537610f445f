//! Processes that would search in vain, in nearly every round, for a receiver that is free.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;

/// Where a round that begins at `start` comes to a process.
pub fn place(p: Rank, start: Rank) -> (bool, Rank) {
    (p < start, p)
}

/// Processes whose remaining messages lead to the same few receivers, with many others. A round
/// looks at the first one of such a crowd that can send, as long as a receiver is free.
pub struct Crowds {
    /// Crowds, each with its processes.
    all: BTreeSet<(u32, Rank)>,
    /// The receivers of each crowd.
    receivers: Vec<Receivers>,
    found: HashMap<Receivers, Found>,
    /// The crowd of each process, or [`Crowds::NONE`].
    of: Vec<u32>,
    /// The next process of each crowd that the round comes to, and the crowd.
    next: BinaryHeap<Reverse<((bool, Rank), u32)>>,
    start: Rank,
    /// Looks for the next process of a crowd.
    pub looks: u64,
}

/// Processes that have been found to have the same receivers.
#[derive(Default)]
struct Found {
    /// The first ones, until there is a crowd.
    first: Vec<Rank>,
    crowd: Option<u32>,
}

/// The most receivers of a crowd.
pub const MOST: usize = 8;

/// The receivers of a process: up to [`MOST`], each once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Receivers {
    /// In ascending order; 0 behind the last one.
    ranks: [Rank; MOST],
    count: usize,
}

impl Receivers {
    /// Those that an iterator returns, in any order.
    pub fn new(all: impl Iterator<Item = Rank>) -> Receivers {
        let mut receivers = Receivers::default();
        for rank in all {
            receivers.ranks[receivers.count] = rank;
            receivers.count += 1;
        }
        receivers.ranks[..receivers.count].sort_unstable();
        receivers
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.ranks[..self.count].iter().map(|&rank| rank as usize)
    }
}

impl Crowds {
    const NONE: u32 = u32::MAX;
    /// Processes with the same receivers, and messages of each of these, that make a crowd. Fewer
    /// look in vain at most this many times for each message of a receiver.
    const LEAST: u32 = 32;

    /// No crowds yet, of `processes` processes.
    pub fn new(processes: usize) -> Crowds {
        Crowds {
            all: BTreeSet::new(),
            receivers: Vec::new(),
            found: HashMap::new(),
            of: vec![Crowds::NONE; processes],
            next: BinaryHeap::new(),
            start: 0,
            looks: 0,
        }
    }

    /// Returns true if a process belongs to a crowd.
    pub fn have(&self, p: Rank) -> bool {
        self.of[p as usize] != Crowds::NONE
    }

    /// Takes in a process that belongs to no crowd, if there is one for its receivers; others like
    /// it, too, if they now are enough. Returns how many. `receivers`: those of each process, if
    /// they are few; `to_come`: messages that each process has still to receive.
    pub fn take_in(&mut self, p: Rank, receivers: impl Fn(Rank) -> Option<Receivers>, to_come: &[u32]) -> usize {
        let are_crowded = |receivers: &Receivers| receivers.iter().all(|r| to_come[r] >= Crowds::LEAST);
        let Some(own) = receivers(p).filter(are_crowded) else { return 0 };
        let found = self.found.entry(own).or_default();
        found.first.push(p);
        if found.crowd.is_none() && found.first.len() < Crowds::LEAST as usize {
            return 0;
        }
        let mut joined = 0;
        for p in std::mem::take(&mut found.first) {
            if !self.have(p) && receivers(p) == Some(own) {
                self.join(p, own);
                joined += 1;
            }
        }
        joined
    }

    fn join(&mut self, p: Rank, receivers: Receivers) {
        let crowd = *self.found.entry(receivers).or_default().crowd.get_or_insert_with(|| {
            self.receivers.push(receivers);
            to_u32(self.receivers.len() - 1)
        });
        self.of[p as usize] = crowd;
        self.all.insert((crowd, p));
    }

    /// Notes that a process of a crowd has sent a message, and what receivers it has left: it goes
    /// to the crowd of those that have the same ones, or, without any, out of all.
    pub fn sent(&mut self, p: Rank, left: Receivers) {
        let crowd = self.of[p as usize];
        if left == self.receivers[crowd as usize] {
            return;
        }
        self.all.remove(&(crowd, p));
        self.of[p as usize] = Crowds::NONE;
        if left.count > 0 {
            self.join(p, left);
        }
    }

    /// Begins a round with process `start`.
    pub fn begin_round(&mut self, start: Rank) {
        self.start = start;
        self.next.clear();
        let mut crowd = self.all.first().map(|member| member.0);
        while let Some(c) = crowd {
            self.find_next(c, None);
            crowd = self.all.range((c + 1, 0)..).next().map(|member| member.0);
        }
    }

    /// Finds the process of a crowd that a round comes to after `last`.
    fn find_next(&mut self, crowd: u32, last: Option<Rank>) {
        self.looks += 1;
        let first = |from: Rank, to: Rank| self.all.range((crowd, from)..=(crowd, to)).next().map(|member| member.1);
        let from = last.map_or(self.start, |last| last + 1);
        let next = match last {
            Some(last) if last < self.start => (from < self.start).then(|| first(from, self.start - 1)).flatten(),
            _ => first(from, Rank::MAX).or_else(|| self.start.checked_sub(1).and_then(|end| first(0, end))),
        };
        self.next.extend(next.map(|p| Reverse((place(p, self.start), crowd))));
    }

    /// Returns the next process of a crowd that has a free receiver, if the round comes to it
    /// before `other`.
    pub fn next_before(&mut self, other: Option<(bool, Rank)>, free: impl Fn(usize) -> bool) -> Option<Rank> {
        while let Some(&Reverse((at, crowd))) = self.next.peek()
            && other.is_none_or(|other| at < other)
        {
            self.next.pop();
            if self.receivers[crowd as usize].iter().any(&free) {
                self.find_next(crowd, Some(at.1));
                return Some(at.1);
            }
        }
        None
    }
}
