//! `distributed_coloring`: edge coloring that neighbors negotiate; no process knows the graph.
//!
//! Every edge gets a color, the number of its round, such that at each process all outgoing edges
//! have different colors and all incoming edges have different colors: one message in and one out
//! at a time. Useful where an edge coloring pays and the communicator is too large for each process
//! to hold all edges. A process knows its own lists, and sends messages to its sources and targets
//! only.
//!
//! After Marathe, Panconesi and Risinger, "An experimental study of a simple, distributed
//! edge-coloring algorithm": in each trial all uncolored edges propose a color at random out of
//! those that are free at both ends, and keep it where no other wants the same. What is added here:
//! the sender proposes different colors for its edges, so that they collide at receivers only; a
//! receiver answers with what is free there, so that a sender proposes nothing that is taken; an
//! edge between whose ends no color is free lets another edge of the sender move away; and the
//! palette begins with as many colors as the larger degree of the two ends, no more, and grows by a
//! thirty-second of that in each trial behind the sixth. It never grows beyond the degrees' sum
//! less one, with which a color is always free.
//!
//! Heavy edges share rounds: edges choose in three stages, the heaviest class of the two ends'
//! edges first, then the next one, then all others, each stage eight trials behind the one before.
//! Palettes are first those of a graph of the edges of the stage and those before. Weights with the
//! same highest two bits are of one class. Where weights are of one class there is one stage. A
//! sender's edges of earlier stages make way only within their first palette.
//!
//! # Protocol
//! Steps are numbered from 0 at each process. In even steps messages go from sources to targets, in
//! odd ones from targets to sources. In a step a process sends one message to each process in
//! [`Negotiation::sends`], receives one from each in [`Negotiation::receives`], in any order, all
//! of them before [`Negotiation::advance`] begins its next step. Processes that are not neighbors
//! may be in different steps. Between two processes messages meet in the order in which they are
//! sent, at most one in each step and direction: one tag serves. Both ends know in advance whether
//! there is a message, and how long it is: both lists give its length, and [`Negotiation::longest`]
//! bounds all lengths before anything is known about the other processes. A process is done when
//! the two lists will be empty forever; it then leaves, whatever others do.
//!
//! For each pair of a source and a target with `m` edges, which are in matching order:
//!
//! | step | words | meaning |
//! | --- | --- | --- |
//! | 0 | `1` | number of edges that leave the source |
//! | 1 | `1 + 2 m` | number of edges that arrive at the target; for each edge its stage there, and how many edges there are in this or an earlier stage |
//! | even | `m` | for each edge the proposed color or `u32::MAX`; or the first word says that the source's edges all have colors: the last message between the two |
//! | odd | `m / 32`, and at most 8 | a bit for each edge whose proposal is granted; a bit for each color that is free at the target. Both in words of 32, rounded up |
//!
//! Only colors of the pair's present palette are told, and of those at most 256 in a step, other
//! ones in each step: which they are follows from the two ranks, degrees and the step. Where a
//! process sends or receives at a time, not both, degrees are those of both sides together, and a
//! process refuses the colors that it proposes itself in this step.
//!
//! # Cost
//! A trial is two steps. A process sends in even steps until all its outgoing edges have colors,
//! and once more. Memory: at most about 24 words an edge, and a bit for each color. A palette of 32
//! colors or more has grown to its end within about 130 trials of its stage, a smaller one within
//! twice as many trials as it has colors. Then at least one edge gets a color in each trial (where
//! a pair's palette has more than 256 colors: in as many trials as tell all of it; with
//! `half_duplex`: with a probability above 0). This proves the end; the number of steps is much
//! smaller:
//!
//! Measured on random regular multigraphs with the default seed: rounds, steps of all processes,
//! messages and words an edge. "Three classes": a quarter of each process's edges weighs 1000, a
//! quarter 100, the others 10; "load" is then the sum over rounds of the heaviest edge over the
//! largest load of a process, which is 3.7 to 5.4 for the same graph and edges of unknown weight.
//!
//! | processes | degree | rounds | / degree | steps | messages | words | three classes: / degree | steps | messages | load |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 32 | 4 | 5 | 1.25 | 17 | 10 | 16 | 1.25 | 49 | 38 | 1.01 |
//! | 32 | 16 | 18 | 1.12 | 19 | 12 | 21 | 1.19 | 53 | 37 | 1.25 |
//! | 256 | 4 | 6 | 1.50 | 19 | 12 | 17 | 1.25 | 49 | 40 | 1.01 |
//! | 256 | 16 | 19 | 1.19 | 21 | 16 | 24 | 1.19 | 53 | 47 | 1.47 |
//! | 256 | 64 | 70 | 1.09 | 23 | 16 | 35 | 1.08 | 53 | 44 | 1.17 |
//! | 4,096 | 4 | 6 | 1.50 | 19 | 12 | 18 | 1.25 | 49 | 40 | 1.01 |
//! | 4,096 | 8 | 11 | 1.38 | 21 | 15 | 22 | 1.38 | 53 | 46 | 1.50 |
//! | 4,096 | 16 | 20 | 1.25 | 23 | 17 | 25 | 1.25 | 55 | 49 | 1.47 |
//! | 4,096 | 32 | 37 | 1.16 | 25 | 18 | 31 | 1.16 | 69 | 50 | 1.55 |
//! | 4,096 | 64 | 70 | 1.09 | 25 | 18 | 38 | 1.09 | 55 | 50 | 1.24 |
//! | 1,024 | 200 | 210 | 1.05 | 25 | 17 | 71 | 1.12 | 57 | 47 | 1.09 |
//! | 65,536 | 6 | 10 | 1.67 | 23 | 14 | 21 | 1.50 | 53 | 45 | 1.48 |
//! | 65,536 | 16 | 21 | 1.31 | 25 | 17 | 25 | 1.25 | 55 | 49 | 1.75 |
//!
//! With `half_duplex` and edges of one weight, rounds are 1.10 to 1.63 times the largest sum of
//! both degrees, in 21 to 35 steps. 65,536 processes of degree 16 are negotiated inside one process
//! in 2.4 s.

use std::ops::Range;

use crate::schedule::{Algorithm, Block, Input, Op, Schedule, Tuning};
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::random::mix;

/// No color, and no proposal.
const NONE: u32 = u32::MAX;
/// First word of a source's last message to a target.
const CLOSE: u32 = u32::MAX - 1;
/// Of how many words of 32 colors a target tells in one message which are free.
const WINDOW: u32 = 8;
/// Edges of the heaviest class choose in stage 0, of the next one in stage 1, all others in this
/// one.
const LAST_STAGE: u32 = 2;
/// So many trials later than the stage before.
const STAGE_TRIALS: u32 = 8;
/// Trials in which the palette does not grow.
const PATIENCE: u32 = 6;

/// One message of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// What [`Negotiation::write`] and [`Negotiation::take`] call it.
    pub index: usize,
    /// The process at the other end.
    pub rank: Rank,
    /// Length of the message, in words of 32 bits.
    pub words: usize,
}

/// One process's part in the negotiation.
///
/// ```
/// use mpix_neighbor::topology::neighborhood::Neighborhood;
/// use mpix_neighbor::schedule::{Input, Negotiation, Tuning};
///
/// // two processes, an edge from each to the other
/// let world = [Neighborhood::from_ranks(0, &[1], &[1]), Neighborhood::from_ranks(1, &[0], &[0])];
/// let input = |neighborhood| Input { neighborhood, processes: 2, directions: None, star: None, stencil: None };
/// let mut both = [&world[0], &world[1]].map(|n| Negotiation::new(&input(n), &Tuning::default()));
/// while !both.iter().all(Negotiation::done) {
///     for me in 0..2 {
///         let sent: Vec<_> = both[me].sends().collect();
///         for s in sent {
///             let mut message = vec![0; s.words];
///             both[me].write(s.index, &mut message);
///             let there = both[1 - me].receives().find(|r| r.rank == me as u32).unwrap();
///             both[1 - me].take(there.index, &message);
///         }
///     }
///     both.iter_mut().for_each(Negotiation::advance);
/// }
/// let [zero, _] = both.map(Negotiation::finish);
/// assert_eq!(zero.to_string(), "round 0: recv Output(0) from 1; send Input(0) to 1;\n");
/// ```
#[derive(Debug, Clone)]
pub struct Negotiation {
    rank: Rank,
    seed: u64,
    half_duplex: bool,
    step: u32,
    /// Processes at the other ends, and the edges to and from them, ascending by rank.
    targets: Vec<Peer>,
    sources: Vec<Peer>,
    outgoing: Vec<Edge>,
    incoming: Vec<Edge>,
    /// How many outgoing edges have no color.
    uncolored: usize,
    /// Colors of outgoing and of incoming edges, a bit each; with `half_duplex` the first one is
    /// both.
    used: [Vec<u32>; 2],
    /// Colors that this process proposes in this trial.
    proposed: Vec<u32>,
    /// Colors that are free at the targets, as far as they tell in this trial.
    windows: Vec<u32>,
    copies: Vec<Op>,
}

/// The edges between this process and another one, in one direction.
#[derive(Debug, Clone)]
struct Peer {
    rank: Rank,
    /// Its first edge, and how many.
    first: u32,
    edges: u32,
    /// The other end's number of edges on the side of these edges.
    degree: u32,
    /// Where its window begins; only of targets.
    window: u32,
    /// Whether messages still go between the two.
    open: bool,
}

#[derive(Debug, Clone)]
struct Edge {
    slot: u32,
    /// Grows with the weight, by the order of magnitude.
    class: u32,
    /// How many classes are heavier, of outgoing edges at the end that has more of them; at most
    /// `LAST_STAGE`.
    stage: u32,
    /// How many edges of the same side are in this stage or an earlier one, of outgoing edges at
    /// the end that has more of them.
    rivals: u32,
    color: u32,
    /// The color that is proposed in this trial; of incoming edges, behind the decision: that is
    /// granted.
    proposal: u32,
}

/// Which of the colors a target tells in a trial: words `start, start + 1 ...` modulo `total` of
/// the palette below `limit`.
#[derive(Clone, Copy)]
struct Window {
    limit: u32,
    start: u32,
    words: u32,
    total: u32,
}

impl Window {
    /// `degrees`: of the source and the target, each on the side of their common edges.
    fn new(source: Rank, target: Rank, degrees: [u32; 2], trial: u32) -> Window {
        let limit = most_colors(degrees).min(degrees[0].max(degrees[1]) + growth(degrees, trial));
        let total = limit.div_ceil(32);
        if total <= WINDOW {
            return Window { limit, start: 0, words: total, total };
        }
        // every word comes up within total / WINDOW trials, another one first for each pair
        let first = u64::from(below(draw([u64::from(source), u64::from(target), 0]), total));
        let start = ((first + u64::from(trial) * u64::from(WINDOW)) % u64::from(total)) as u32;
        Window { limit, start, words: WINDOW, total }
    }

    /// Number in the palette of the window's j-th word.
    fn word(&self, j: u32) -> u32 {
        (self.start + j) % self.total
    }
}

/// How many colors are enough: an edge's neighbors at both ends can block no more than these less
/// one.
fn most_colors(degrees: [u32; 2]) -> u32 {
    degrees[0] + degrees[1] - 1
}

/// By how many colors palettes have grown.
fn growth(degrees: [u32; 2], trial: u32) -> u32 {
    trial.saturating_sub(PATIENCE).saturating_mul((degrees[0].max(degrees[1]) / 32).max(1)).min(most_colors(degrees))
}

impl Peer {
    fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.edges) as usize
    }

    /// Words with a bit for each edge.
    fn granted_words(&self) -> usize {
        self.edges.div_ceil(32) as usize
    }
}

/// The processes of a list and the edges to them.
fn peers(me: Rank, list: &[crate::topology::neighborhood::Neighbor], mut order: Vec<(u32, Rank)>) -> (Vec<Peer>, Vec<Edge>) {
    order.retain(|e| e.1 != me);
    order.sort_by_key(|e| e.1);
    let mut first = 0;
    let peers = (order.chunk_by(|a, b| a.1 == b.1))
        .map(|same| {
            let edges = same.len() as u32;
            first += edges;
            Peer { rank: same[0].1, first: first - edges, edges, degree: 0, window: 0, open: true }
        })
        .collect();
    let edges = (order.iter())
        .map(|&(slot, _)| {
            let class = class(list[slot as usize].weight);
            Edge { slot, class, stage: 0, rivals: 0, color: NONE, proposal: NONE }
        })
        .collect();
    (peers, edges)
}

/// The order of magnitude of a weight: its highest two bits.
fn class(weight: u32) -> u32 {
    match weight.checked_ilog2() {
        None => 0,
        Some(0) => 1,
        Some(log) => 2 * log + (weight >> (log - 1) & 1),
    }
}

/// For each class of a side's edges its stage, and how many edges are in that stage or an earlier
/// one.
fn stages(edges: &[Edge]) -> impl Fn(u32) -> (u32, u32) + use<> {
    let mut classes: Vec<u32> = edges.iter().map(|e| e.class).collect();
    classes.sort_unstable_by_key(|&c| std::cmp::Reverse(c));
    let mut heaviest = classes.clone();
    heaviest.dedup();
    heaviest.truncate(LAST_STAGE as usize);
    move |class| match heaviest.iter().position(|&c| c == class) {
        Some(stage) => (stage as u32, classes.partition_point(|&c| c >= class) as u32),
        None => (LAST_STAGE, classes.len() as u32),
    }
}

impl Negotiation {
    /// Begins. `tuning` must be equal on all processes; `seed` and `half_duplex` are used.
    pub fn new(input: &Input, tuning: &Tuning) -> Negotiation {
        let n = input.neighborhood;
        let (targets, outgoing) = peers(n.rank(), n.targets(), n.targets_in_order());
        let (sources, incoming) = peers(n.rank(), n.sources(), n.sources_in_order());
        Negotiation {
            rank: n.rank(),
            seed: tuning.seed,
            half_duplex: tuning.half_duplex,
            step: 0,
            targets,
            sources,
            uncolored: outgoing.len(),
            outgoing,
            incoming,
            used: [Vec::new(), Vec::new()],
            proposed: Vec::new(),
            windows: Vec::new(),
            copies: crate::schedule::self_copies(n),
        }
    }

    /// Whether no message will be sent or received any more.
    pub fn done(&self) -> bool {
        !self.targets.iter().chain(&self.sources).any(|p| p.open)
    }

    /// An upper bound of the length of all messages between two processes with so many edges in one
    /// direction; in words.
    pub fn longest(edges: usize) -> usize {
        (1 + 2 * edges).max(edges.div_ceil(32) + WINDOW as usize)
    }

    /// What this process sends in this step.
    pub fn sends(&self) -> impl Iterator<Item = Exchange> + '_ {
        self.exchanges(self.backward())
    }

    /// What it receives in this step.
    pub fn receives(&self) -> impl Iterator<Item = Exchange> + '_ {
        self.exchanges(!self.backward())
    }

    /// With sources or with targets.
    fn exchanges(&self, with_sources: bool) -> impl Iterator<Item = Exchange> + '_ {
        let list = if with_sources { &self.sources } else { &self.targets };
        (list.iter().enumerate()).filter(|(_, p)| p.open).map(move |(index, p)| {
            let words = match self.step {
                0 => 1,
                1 => 1 + 2 * p.edges as usize,
                step if step % 2 == 0 => p.edges as usize,
                _ => p.granted_words() + self.window(p, with_sources, self.trial() + 1).words as usize,
            };
            Exchange { index, rank: p.rank, words }
        })
    }

    /// Writes a message of this step; `message` is as long as [`Negotiation::sends`] says.
    pub fn write(&self, index: usize, message: &mut [u32]) {
        let degrees = self.degrees();
        match self.step {
            0 => message[0] = degrees[0],
            1 => {
                message[0] = degrees[1];
                for (words, e) in message[1..].chunks_exact_mut(2).zip(&self.incoming[self.sources[index].range()]) {
                    words.copy_from_slice(&[e.stage, e.rivals]);
                }
            }
            step if step % 2 == 0 => {
                for (word, e) in message.iter_mut().zip(&self.outgoing[self.targets[index].range()]) {
                    *word = e.proposal;
                }
                if self.uncolored == 0 {
                    message[0] = CLOSE;
                }
            }
            _ => {
                let p = &self.sources[index];
                let (granted, free) = message.split_at_mut(p.granted_words());
                granted.fill(0);
                for (k, e) in self.incoming[p.range()].iter().enumerate() {
                    granted[k / 32] |= u32::from(e.proposal != NONE) << (k % 32);
                }
                let window = self.window(p, true, self.trial() + 1);
                // What this process proposes itself is most often granted, and so not free. But two
                // processes that always told each other so could refuse each other the same two
                // colors in turn forever: chance breaks the tie.
                let own = self.half_duplex && self.drawn(3, 0) >> 63 == 0;
                for (j, free) in (0..).zip(free) {
                    let w = window.word(j);
                    let own = if own { word_of(&self.proposed, w) } else { 0 };
                    *free = !(word_of(&self.used[self.receiving()], w) | own) & bits_below(w, window.limit);
                }
            }
        }
    }

    /// Takes a message of this step; `message` is as long as [`Negotiation::receives`] says.
    pub fn take(&mut self, index: usize, message: &[u32]) {
        match self.step {
            0 => self.sources[index].degree = message[0],
            1 => {
                let p = &mut self.targets[index];
                p.degree = message[0];
                for (e, words) in self.outgoing[p.range()].iter_mut().zip(message[1..].chunks_exact(2)) {
                    e.stage = e.stage.max(words[0]);
                    e.rivals = e.rivals.max(words[1]);
                }
            }
            step if step % 2 == 0 => {
                let p = &mut self.sources[index];
                p.open = message[0] != CLOSE;
                for (e, &word) in self.incoming[p.range()].iter_mut().zip(message) {
                    e.proposal = if p.open { word } else { NONE };
                }
            }
            _ => {
                let p = &self.targets[index];
                let (granted, free) = message.split_at(p.granted_words());
                for (k, e) in self.outgoing[p.range()].iter_mut().enumerate() {
                    if granted[k / 32] >> (k % 32) & 1 == 1 {
                        self.uncolored -= usize::from(e.color == NONE);
                        recolor(&mut self.used[0], e);
                    }
                }
                self.windows[p.window as usize..][..free.len()].copy_from_slice(free);
            }
        }
    }

    /// Begins the next step: all messages of this one are sent and taken.
    pub fn advance(&mut self) {
        match self.step {
            0 => self.find_stages(),
            1 => {
                self.open_windows();
                self.propose();
            }
            step if step % 2 == 0 => {
                self.grant();
                if self.uncolored == 0 {
                    self.targets.iter_mut().for_each(|p| p.open = false);
                }
            }
            _ => self.propose(),
        }
        self.step += 1;
    }

    /// The schedule. All messages have been exchanged.
    ///
    /// # Panics
    /// Before [`Negotiation::done`].
    pub fn finish(self) -> Schedule {
        assert!(self.done(), "process {} has edges without a color", self.rank);
        let mut ops: Vec<(u32, Op)> = Vec::with_capacity(self.outgoing.len() + self.incoming.len());
        for p in &self.targets {
            ops.extend(self.outgoing[p.range()].iter().map(|e| (e.color, Op::send(p.rank, Block::Input(e.slot)))));
        }
        for p in &self.sources {
            ops.extend(self.incoming[p.range()].iter().map(|e| (e.color, Op::recv(p.rank, Block::Output(e.slot)))));
        }
        Schedule::from_numbered(Algorithm::DistributedColoring, ops, self.copies)
    }

    /// Whether messages go from targets to sources.
    fn backward(&self) -> bool {
        self.step % 2 == 1
    }

    /// Trials are numbered from 1: steps 2 and 3 are the first one.
    fn trial(&self) -> u32 {
        self.step / 2
    }

    /// Index in `used` of the colors of incoming edges.
    fn receiving(&self) -> usize {
        usize::from(!self.half_duplex)
    }

    /// Numbers of edges at this process that a color of an outgoing, and of an incoming edge must
    /// differ from, itself included.
    fn degrees(&self) -> [u32; 2] {
        let (out, into) = (self.outgoing.len() as u32, self.incoming.len() as u32);
        if self.half_duplex { [out + into; 2] } else { [out, into] }
    }

    /// What is told in a trial about the target of the pair of this process with a source, or with
    /// a target.
    fn window(&self, p: &Peer, with_source: bool, trial: u32) -> Window {
        match (with_source, self.degrees()) {
            (true, [_, into]) => Window::new(p.rank, self.rank, [p.degree, into], trial),
            (false, [out, _]) => Window::new(self.rank, p.rank, [out, p.degree], trial),
        }
    }

    /// A word of the colors that nothing more can have on a side.
    fn taken(&self, side: usize, word: u32) -> u32 {
        let proposed = if side == 0 { word_of(&self.proposed, word) } else { 0 };
        word_of(&self.used[side], word) | proposed
    }

    /// Finds each edge's stage and rivals at this process.
    fn find_stages(&mut self) {
        let both = self.half_duplex.then(|| stages(&[&self.outgoing[..], &self.incoming[..]].concat()));
        for edges in [&mut self.outgoing, &mut self.incoming] {
            let side = stages(edges);
            for e in edges {
                (e.stage, e.rivals) = both.as_ref().map_or_else(|| side(e.class), |both| both(e.class));
            }
        }
    }

    /// Makes room for what the targets tell. At first all is free.
    fn open_windows(&mut self) {
        let out = self.degrees()[0];
        let mut end = 0;
        for p in &mut self.targets {
            p.window = end;
            end += most_colors([out, p.degree]).div_ceil(32).min(WINDOW);
        }
        let mut windows = vec![0; end as usize];
        for p in &self.targets {
            let window = self.window(p, false, 1);
            for j in 0..window.words {
                windows[(p.window + j) as usize] = bits_below(window.word(j), window.limit);
            }
        }
        self.windows = windows;
    }

    /// What is drawn for the edge `e` of a side of this process in this step.
    fn drawn(&self, what: u64, e: usize) -> u64 {
        draw([self.seed.wrapping_add(what), u64::from(self.rank) << 32 | u64::from(self.step), e as u64])
    }

    /// Grants of the proposals that came one for each color that is free, to the heaviest edge, and
    /// notes it as its proposal.
    fn grant(&mut self) {
        let side = self.receiving();
        let mut offers: Vec<(u32, u32, u64, usize)> = Vec::new();
        for p in self.sources.iter().filter(|p| p.open) {
            for i in p.range() {
                let e = &self.incoming[i];
                if e.proposal != NONE && self.taken(side, e.proposal / 32) >> (e.proposal % 32) & 1 == 0 {
                    offers.push((e.proposal, u32::MAX - e.class, self.drawn(0, i), i));
                }
            }
        }
        offers.sort_unstable();
        self.incoming.iter_mut().for_each(|e| e.proposal = NONE);
        for same in offers.chunk_by(|a, b| a.0 == b.0) {
            let (color, .., i) = same[0];
            let e = &mut self.incoming[i];
            e.proposal = color;
            recolor(&mut self.used[side], e);
        }
    }

    /// Chooses what is proposed in the next trial.
    fn propose(&mut self) {
        self.proposed.fill(0);
        self.outgoing.iter_mut().for_each(|e| e.proposal = NONE);
        // (number of choices, drawn, peer, edge): who has little choice chooses first
        let mut wanting: Vec<(u32, u64, usize, usize)> = Vec::with_capacity(self.uncolored);
        for (t, p) in self.targets.iter().enumerate() {
            for i in p.range().filter(|&i| self.outgoing[i].color == NONE) {
                let palette = self.palette(t, i);
                if palette.is_empty() {
                    continue;
                }
                let choices = self.free(t, palette).map(|f| f.1.count_ones()).sum();
                wanting.push((choices, self.drawn(1, i), t, i));
            }
        }
        wanting.sort_unstable();
        let stuck = wanting.partition_point(|w| w.0 == 0);
        for &(.., drawn, t, i) in &wanting[stuck..] {
            let color = self.pick(t, i, drawn);
            if let Some(color) = color {
                self.outgoing[i].proposal = color;
                set(&mut self.proposed, color);
            }
        }
        if stuck == 0 {
            return;
        }
        // the edge of each color
        let colored = self.outgoing.iter().filter(|e| e.color != NONE).map(|e| e.color as usize + 1).max().unwrap_or(0);
        let mut edge_of = vec![NONE; colored];
        for (e, edge) in self.outgoing.iter().enumerate().filter(|(_, edge)| edge.color != NONE) {
            edge_of[edge.color as usize] = e as u32;
        }
        for &(.., drawn, t, i) in &wanting[..stuck] {
            self.make_way(t, i, drawn, &edge_of);
        }
    }

    /// No color is free at both ends of edge `i` to target `t`: takes one that is free there, and
    /// proposes another one for the edge that has it here. `edge_of` holds the edge of each color.
    fn make_way(&mut self, t: usize, i: usize, drawn: u64, edge_of: &[u32]) {
        let p = &self.targets[t];
        let (window, palette) = (self.window(p, false, self.next_trial()), self.palette(t, i));
        let there = (0..window.words).map(|j| {
            let w = window.word(j);
            (w, self.windows[(p.window + j) as usize] & bits_in(w, &palette) & !word_of(&self.proposed, w))
        });
        let count: u32 = there.clone().map(|f| f.1.count_ones()).sum();
        for k in 0..count {
            let color = nth(there.clone(), (below(drawn, count) + k) % count);
            // with `half_duplex` it may be an incoming edge
            let other = edge_of.get(color as usize).map_or(NONE, |&e| e) as usize;
            if self.outgoing.get(other).is_none_or(|e| e.proposal != NONE) {
                continue;
            }
            let to = self.targets.partition_point(|p| p.first as usize <= other) - 1;
            let drawn = self.drawn(2, other);
            let instead = if self.outgoing[other].stage < self.outgoing[i].stage {
                // heavier ones stay together
                self.choose(to, 0..self.outgoing[other].rivals, drawn)
            } else {
                self.pick(to, other, drawn)
            };
            if let Some(instead) = instead {
                self.outgoing[other].proposal = instead;
                set(&mut self.proposed, instead);
                set(&mut self.proposed, color);
                return;
            }
        }
    }

    /// The trial for which proposals are chosen.
    fn next_trial(&self) -> u32 {
        self.trial() + 1
    }

    /// The colors that edge `i` to target `t` may have; none before its stage.
    fn palette(&self, t: usize, i: usize) -> Range<u32> {
        let degrees = [self.degrees()[0], self.targets[t].degree];
        let e = &self.outgoing[i];
        match self.next_trial().checked_sub(e.stage * STAGE_TRIALS) {
            None | Some(0) => 0..0,
            Some(trial) => 0..most_colors(degrees).min(e.rivals + growth(degrees, trial)),
        }
    }

    /// One of the colors that are free at both ends of an edge: any of those with which a graph of
    /// its rivals could do, else a low one.
    fn pick(&self, t: usize, i: usize, drawn: u64) -> Option<u32> {
        let (end, rivals) = (self.palette(t, i).end, self.outgoing[i].rivals);
        (self.choose(t, 0..rivals.min(end), drawn)).or_else(|| self.choose(t, rivals..end, 0))
    }

    /// Words of colors that are free here and at a target, with their numbers.
    fn free(&self, t: usize, palette: Range<u32>) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        let p = &self.targets[t];
        let window = self.window(p, false, self.next_trial());
        (0..window.words).map(move |j| {
            let w = window.word(j);
            (w, self.windows[(p.window + j) as usize] & !self.taken(0, w) & bits_in(w, &palette))
        })
    }

    /// One of the colors that are free here and at a target.
    fn choose(&self, t: usize, palette: Range<u32>, drawn: u64) -> Option<u32> {
        let free = self.free(t, palette);
        let count: u32 = free.clone().map(|f| f.1.count_ones()).sum();
        (count > 0).then(|| nth(free, below(drawn, count)))
    }
}

/// Gives an edge the color that was proposed.
fn recolor(used: &mut Vec<u32>, e: &mut Edge) {
    if e.color != NONE {
        used[(e.color / 32) as usize] &= !(1 << (e.color % 32));
    }
    set(used, e.proposal);
    e.color = e.proposal;
}

/// Adds a color to a set of bits, which grows as needed.
fn set(bits: &mut Vec<u32>, color: u32) {
    let w = (color / 32) as usize;
    if bits.len() <= w {
        bits.resize(w + 1, 0);
    }
    bits[w] |= 1 << (color % 32);
}

/// A word of a set of bits.
fn word_of(bits: &[u32], w: u32) -> u32 {
    bits.get(w as usize).copied().unwrap_or(0)
}

/// The bits of the w-th word that stand for colors below `limit`.
fn bits_below(w: u32, limit: u32) -> u32 {
    match limit.saturating_sub(32 * w) {
        left @ 0..32 => (1 << left) - 1,
        _ => u32::MAX,
    }
}

/// The bits of the w-th word that stand for colors of a palette.
fn bits_in(w: u32, palette: &Range<u32>) -> u32 {
    bits_below(w, palette.end) & !bits_below(w, palette.start)
}

/// The n-th color of a set.
fn nth(words: impl Iterator<Item = (u32, u32)>, mut n: u32) -> u32 {
    for (w, mut bits) in words {
        if n < bits.count_ones() {
            for _ in 0..n {
                bits &= bits - 1;
            }
            return 32 * w + bits.trailing_zeros();
        }
        n -= bits.count_ones();
    }
    unreachable!("there are fewer colors")
}

/// A number that looks like drawn at random, the same wherever it is drawn from the same words.
fn draw(words: [u64; 3]) -> u64 {
    words.into_iter().fold(0, |hash: u64, word| mix((hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// A drawn number as one below `n`.
fn below(drawn: u64, n: u32) -> u32 {
    (((drawn >> 32) * u64::from(n)) >> 32) as u32
}

/// What a negotiation of all processes took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Steps until the last process was done.
    pub steps: u32,
    /// Messages of all processes together.
    pub messages: u64,
    /// Words of 32 bits in them.
    pub words: u64,
}

/// The schedules of all processes, negotiated inside this one.
pub fn run_all(world: &[Neighborhood], tuning: &Tuning) -> (Vec<Schedule>, Stats) {
    let processes = world.len() as u32;
    let input = |neighborhood| Input { neighborhood, processes, directions: None, star: None, stencil: None };
    negotiate(world.iter().map(|n| Negotiation::new(&input(n), tuning)).collect())
}

/// Takes the negotiations of all processes, in the order of ranks, to their end.
///
/// # Panics
/// If the lists of the processes do not match.
pub fn negotiate(mut all: Vec<Negotiation>) -> (Vec<Schedule>, Stats) {
    // a place for the messages of each pair; one end's message is taken before the other one's is
    // written
    let mut end = 0;
    let from_source: Vec<Vec<usize>> = (all.iter())
        .map(|n| {
            let mut place = |p: &Peer| {
                end += Negotiation::longest(p.edges as usize);
                end - Negotiation::longest(p.edges as usize)
            };
            n.targets.iter().map(&mut place).collect()
        })
        .collect();
    let from_target: Vec<Vec<usize>> = (all.iter())
        .map(|n| {
            let place = |p: &Peer| {
                let there = all[p.rank as usize].targets.binary_search_by_key(&n.rank, |t| t.rank);
                from_source[p.rank as usize][there.expect("lists match")]
            };
            n.sources.iter().map(place).collect()
        })
        .collect();
    let mut mail = vec![0u32; end];
    let mut stats = Stats::default();
    let mut busy: Vec<usize> = (0..all.len()).collect();
    loop {
        busy.retain(|&p| !all[p].done());
        if busy.is_empty() {
            break;
        }
        let backward = stats.steps % 2 == 1;
        let (writers, readers) = if backward { (&from_target, &from_source) } else { (&from_source, &from_target) };
        for &p in &busy {
            for x in all[p].sends() {
                all[p].write(x.index, &mut mail[writers[p][x.index]..][..x.words]);
                stats.messages += 1;
                stats.words += x.words as u64;
            }
        }
        let mut receives = Vec::new();
        for &p in &busy {
            receives.clear();
            receives.extend(all[p].receives());
            for x in &receives {
                all[p].take(x.index, &mail[readers[p][x.index]..][..x.words]);
            }
            all[p].advance();
        }
        stats.steps += 1;
    }
    (all.into_iter().map(Negotiation::finish).collect(), stats)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use proptest::prelude::*;

    use super::*;
    use crate::schedule::verify::{Goal, verify};
    use crate::topology::cartesian::Grid;
    use crate::topology::graph::Graph;

    /// Edges to `degree` random permutations of the processes; `weight` of the permutation's
    /// number.
    fn regular(n: u32, degree: u32, weight: impl Fn(u32) -> u32) -> Vec<Neighborhood> {
        let mut edges = Vec::new();
        for k in 0..degree {
            let mut to: Vec<Rank> = (0..n).collect();
            to.sort_by_key(|&r| draw([u64::from(n), u64::from(k), u64::from(r)]));
            edges.extend((0..n).map(|r| (r, to[r as usize], weight(k))));
        }
        Graph::from_edges(n, &edges).neighborhoods()
    }

    fn random(n: u32, edges: &[(u32, u32, u32)]) -> Vec<Neighborhood> {
        let edges: Vec<_> = edges.iter().map(|e| (e.0 % n, e.1 % n, e.2)).collect();
        Graph::from_edges(n, &edges).neighborhoods()
    }

    fn rounds(schedules: &[Schedule]) -> u32 {
        schedules.iter().filter(|s| s.rounds() > 0).map(|s| s.number(s.rounds() - 1) + 1).max().unwrap_or(0)
    }

    /// Checks schedules and that no edge has a color that its two ends' degrees do not need.
    /// Returns the number of rounds, and the degree that no coloring has fewer rounds than.
    fn check(world: &[Neighborhood], schedules: &[Schedule], half_duplex: bool) -> (u32, u32) {
        verify(world, schedules, Goal::Deliver, true).unwrap();
        let (out, into) = Graph::from_neighborhoods(world).degrees();
        let ends: Vec<[u32; 2]> = (out.iter().zip(&into)).map(|(&o, &i)| if half_duplex { [o + i; 2] } else { [o, i] }).collect();
        for (p, s) in schedules.iter().enumerate() {
            for r in 0..s.rounds() {
                let messages = s.round(r).iter().filter(|op| !matches!(op, Op::Copy { .. })).count();
                assert!(!half_duplex || messages <= 1, "process {p} sends and receives in round {}", s.number(r));
                for op in s.round(r) {
                    if let Op::Send { to, .. } = *op {
                        assert!(s.number(r) < most_colors([ends[p][0], ends[to as usize][1]]));
                    }
                }
            }
        }
        (rounds(schedules), ends.into_iter().flatten().max().unwrap_or(0))
    }

    #[test]
    fn colors_and_steps_stay_few_on_regular_graphs() {
        for half_duplex in [false, true] {
            let tuning = Tuning { half_duplex, ..Tuning::default() };
            for (n, degree) in [(32, 4), (32, 16), (256, 8), (256, 32), (1024, 6), (512, 16), (128, 64)] {
                let world = regular(n, degree, |_| 1);
                let (schedules, stats) = run_all(&world, &tuning);
                let (rounds, least) = check(&world, &schedules, half_duplex);
                assert!(rounds * 2 <= least * 3 + 4, "{n} {degree}: {rounds} rounds, degree {least}");
                assert!(degree < 16 || rounds * 5 <= least * 7, "{n} {degree}: {rounds} rounds, degree {least}");
                assert!(stats.steps <= 40, "{n} {degree}: {} steps", stats.steps);
            }
        }
    }

    #[test]
    fn colors_stay_few_on_grids() {
        for (dims, periodic) in [(vec![8, 8, 8], true), (vec![8, 8, 8], false), (vec![2, 2, 2, 2], true), (vec![32, 32], true)] {
            let grid = Grid::new(dims.clone(), vec![periodic; dims.len()]);
            let world: Vec<_> = (0..grid.size()).map(|r| grid.neighborhood(r)).collect();
            let (schedules, _) = run_all(&world, &Tuning::default());
            let (rounds, least) = check(&world, &schedules, false);
            assert!(rounds * 2 <= least * 3 + 4, "{dims:?}: {rounds} rounds, degree {least}");
        }
    }

    /// Palettes of more colors than one message tells: edges repeated many times, and a process
    /// with very many neighbors.
    #[test]
    fn palettes_larger_than_a_window() {
        let mut repeated = Vec::new();
        for k in 0..300u32 {
            repeated.extend([(0, 1, 1), (1, 2, 1), (2, 0, 1), (k % 3, (k + 1) % 3, 1)]);
        }
        let star: Vec<_> = (1..600).flat_map(|p| [(0, p, 1), (p, 0, 1), (p, p % 599 + 1, 1)]).collect();
        let all: Vec<_> = (0..140u32).flat_map(|p| (0..140u32).map(move |q| (p, q, 1))).collect();
        for (n, edges) in [(3, repeated), (600, star), (140, all)] {
            for half_duplex in [false, true] {
                let world = random(n, &edges);
                let (schedules, _) = run_all(&world, &Tuning { half_duplex, ..Tuning::default() });
                let (rounds, least) = check(&world, &schedules, half_duplex);
                assert!(rounds * 2 <= least * 3 + 4, "{n} processes: {rounds} rounds, degree {least}");
            }
        }
    }

    #[test]
    fn heavy_edges_share_rounds() {
        // a quarter of each process's edges is heavy
        let world = regular(512, 16, |k| if k < 4 { 1000 } else { 10 });
        let (schedules, _) = run_all(&world, &Tuning::default());
        check(&world, &schedules, false);
        let mut heavy = std::collections::BTreeSet::new();
        for (s, n) in schedules.iter().zip(&world) {
            for r in 0..s.rounds() {
                let is_heavy = |op: &Op| matches!(*op, Op::Send { block, .. } if n.targets()[block.slot()].weight == 1000);
                heavy.extend(s.round(r).iter().any(is_heavy).then_some(s.number(r)));
            }
        }
        assert!(heavy.len() <= 8, "heavy edges in rounds {heavy:?}");
    }

    #[test]
    fn classes_of_weights() {
        let classes: Vec<u32> = [0, 1, 2, 3, 4, 5, 6, 7, 8].into_iter().map(class).collect();
        assert_eq!(classes, [0, 1, 2, 3, 4, 4, 5, 5, 6]);
        assert_eq!(class(u32::MAX), 63);
    }

    /// Runs each process as far as the messages that it has allow, in an order that `seed` says:
    /// nothing but messages holds processes together. Both ends must expect the same lengths.
    fn run_unordered(world: &[Neighborhood], tuning: &Tuning, seed: u64) -> Vec<Schedule> {
        let processes = world.len() as u32;
        let input = |neighborhood| Input { neighborhood, processes, directions: None, star: None, stencil: None };
        let mut all: Vec<Negotiation> = world.iter().map(|n| Negotiation::new(&input(n), tuning)).collect();
        let mut wires: HashMap<(Rank, Rank), VecDeque<Vec<u32>>> = HashMap::new();
        let send = |n: &Negotiation, wires: &mut HashMap<(Rank, Rank), VecDeque<Vec<u32>>>| {
            for x in n.sends() {
                let mut message = vec![0xdead_beef; x.words];
                n.write(x.index, &mut message);
                wires.entry((n.rank, x.rank)).or_default().push_back(message);
            }
        };
        all.iter().for_each(|n| send(n, &mut wires));
        let mut turn = 0u64;
        while !all.iter().all(Negotiation::done) {
            turn += 1;
            let me = below(draw([seed, turn, 0]), processes);
            let n = &mut all[me as usize];
            let receives: Vec<Exchange> = n.receives().collect();
            if n.done() || receives.iter().any(|x| wires.get(&(x.rank, me)).is_none_or(VecDeque::is_empty)) {
                continue;
            }
            for x in receives {
                let message = wires.get_mut(&(x.rank, me)).and_then(VecDeque::pop_front).unwrap();
                assert_eq!(message.len(), x.words);
                let list = if n.backward() { &n.targets } else { &n.sources };
                assert!(x.words <= Negotiation::longest(list[x.index].edges as usize));
                n.take(x.index, &message);
            }
            n.advance();
            send(n, &mut wires);
        }
        assert!(wires.values().all(VecDeque::is_empty), "messages that nobody receives");
        all.into_iter().map(Negotiation::finish).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

        /// The bound of two degrees less one holds for every edge, and processes need no common
        /// steps.
        #[test]
        fn never_more_colors_than_two_degrees(
            n in 1u32..=24,
            edges in prop::collection::vec((0u32..24, 0u32..24, 0u32..2000), 0..300),
            seed in any::<u64>(),
            half_duplex in any::<bool>(),
        ) {
            let world = random(n, &edges);
            let tuning = Tuning { seed, half_duplex, ..Tuning::default() };
            let (schedules, stats) = run_all(&world, &tuning);
            let (rounds, least) = check(&world, &schedules, half_duplex);
            prop_assert!(rounds <= (2 * least).saturating_sub(1));
            prop_assert_eq!(stats.steps == 0, least == 0);
            prop_assert_eq!(run_unordered(&world, &tuning, seed), schedules);
        }
    }
}
