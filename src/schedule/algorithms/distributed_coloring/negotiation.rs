//! One process's side of the negotiation.

use std::ops::Range;

use super::colors::*;
use super::edges::*;
use crate::schedule::grammar::{Algorithm, Block, Op, Schedule};
use crate::schedule::input::{Input, Tuning};
use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;

/// First word of a source's last message to a target.
const CLOSE: u32 = u32::MAX - 1;
/// Number of trials by which a stage starts after the one before.
const STAGE_TRIALS: u32 = 8;

/// One message of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Index to pass to [`Negotiation::write`] and [`Negotiation::take`].
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
/// let input = |neighborhood| Input {
///     neighborhood,
///     processes: 2,
///     directions: None,
///     star: None,
///     stencil: None,
/// };
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
    pub(super) rank: Rank,
    seed: u64,
    half_duplex: bool,
    step: u32,
    /// Processes at the other ends and the edges to and from them, ascending by rank.
    pub(super) targets: Vec<Peer>,
    pub(super) sources: Vec<Peer>,
    outgoing: Vec<Edge>,
    incoming: Vec<Edge>,
    /// Number of outgoing edges without a color.
    uncolored: usize,
    /// Colors of outgoing and of incoming edges, as bit sets; with `half_duplex` the first one
    /// serves both.
    used: [Vec<u32>; 2],
    /// Colors that this process proposes in this trial.
    proposed: Vec<u32>,
    /// Free colors reported by the targets in this trial.
    windows: Vec<u32>,
    /// Edges that need no color: those within the node, in round 0, if memory is to serve them.
    near: Vec<(u32, Op)>,
    copies: Vec<Op>,
}

impl Negotiation {
    /// Begins a negotiation. `tuning` must be equal on all processes; `seed` and `half_duplex` are
    /// used.
    pub fn new(input: &Input, tuning: &Tuning) -> Negotiation {
        Negotiation::between_nodes(input, tuning, &|_| false)
    }

    /// Begins a negotiation of the edges between nodes, as [`Rounds::between_nodes`] orders them:
    /// those to and from processes that `is_near` names are whole in round 0. Both ends of an edge
    /// must agree that they are near.
    ///
    /// [`Rounds::between_nodes`]: crate::schedule::Rounds::between_nodes
    pub fn between_nodes(input: &Input, tuning: &Tuning, is_near: &dyn Fn(Rank) -> bool) -> Negotiation {
        let n = input.neighborhood;
        let split = |list: Vec<(u32, Rank)>| {
            (list.into_iter().filter(|e| e.1 != n.rank())).partition::<Vec<_>, _>(|&(_, rank)| is_near(rank))
        };
        let ((near_targets, targets), (near_sources, sources)) =
            (split(n.targets_in_order().collect()), split(n.sources_in_order().collect()));
        let sends = near_targets.into_iter().map(|(entry, to)| (0, Op::send(to, Block::Input(entry))));
        let receives = near_sources.into_iter().map(|(entry, from)| (0, Op::recv(from, Block::Output(entry))));
        let near = sends.chain(receives).collect();
        let ((targets, outgoing), (sources, incoming)) = (peers(n.targets(), targets), peers(n.sources(), sources));
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
            near,
            copies: crate::schedule::grammar::self_copies(n),
        }
    }

    /// Returns true when no more messages will be sent or received.
    pub fn done(&self) -> bool {
        !self.targets.iter().chain(&self.sources).any(|p| p.open)
    }

    /// Upper bound of the length in words of all messages between two processes with `edges` edges
    /// in one direction.
    pub fn longest(edges: usize) -> usize {
        (1 + 2 * edges).max(edges.div_ceil(32) + WINDOW as usize)
    }

    /// Messages that this process sends in this step.
    pub fn sends(&self) -> impl Iterator<Item = Exchange> + '_ {
        self.exchanges(self.backward())
    }

    /// Messages that this process receives in this step.
    pub fn receives(&self) -> impl Iterator<Item = Exchange> + '_ {
        self.exchanges(!self.backward())
    }

    /// Messages exchanged with sources or with targets.
    fn exchanges(&self, with_sources: bool) -> impl Iterator<Item = Exchange> + '_ {
        let list = if with_sources { &self.sources } else { &self.targets };
        (list.iter().enumerate()).filter(|(_, p)| p.open).map(move |(index, p)| {
            let words = match self.step {
                0 => 1,
                1 => 1 + 2 * p.edges as usize,
                step if step % 2 == 0 => p.edges as usize,
                _ => p.granted_words() + self.window(p, with_sources, self.trial() + 1).reported_words() as usize,
            };
            Exchange { index, rank: p.rank, words }
        })
    }

    /// Writes a message of this step; `message` has the length given by [`Negotiation::sends`].
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
                // Colors that this process proposes itself will mostly be granted, and are then not
                // free. But if two processes always told each other so, they could refuse each
                // other the same two colors in turn forever: chance breaks the tie.
                let own = self.half_duplex && self.drawn(3, 0) >> 63 == 0;
                for (j, free) in (0..).zip(free) {
                    let w = window.word(j);
                    let own = if own { word_of(&self.proposed, w) } else { 0 };
                    let taken = word_of(&self.used[self.receiving()], w) | own;
                    *free = !taken & bits_below(w, window.limit);
                }
            }
        }
    }

    /// Takes a message of this step; `message` has the length given by [`Negotiation::receives`].
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

    /// Begins the next step; all messages of this step have been sent and taken.
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

    /// Returns the schedule after all messages have been exchanged.
    ///
    /// # Panics
    /// Before [`Negotiation::done`].
    pub fn finish(self) -> Schedule {
        assert!(self.done(), "process {} has edges without a color", self.rank);
        let mut ops = self.near;
        ops.reserve_exact(self.outgoing.len() + self.incoming.len());
        for p in &self.targets {
            ops.extend(self.outgoing[p.range()].iter().map(|e| (e.color, Op::send(p.rank, Block::Input(e.entry)))));
        }
        for p in &self.sources {
            ops.extend(self.incoming[p.range()].iter().map(|e| (e.color, Op::recv(p.rank, Block::Output(e.entry)))));
        }
        Schedule::from_numbered(Algorithm::DistributedColoring, ops, self.copies)
    }

    /// True if messages of this step travel from targets to sources.
    pub(super) fn backward(&self) -> bool {
        self.step % 2 == 1
    }

    /// Number of the trial, from 1: steps 2 and 3 are the first trial.
    fn trial(&self) -> u32 {
        self.step / 2
    }

    /// Index in `used` of the colors of incoming edges.
    fn receiving(&self) -> usize {
        usize::from(!self.half_duplex)
    }

    /// Number of edges at this process, itself included, with which an outgoing or an incoming edge
    /// competes for colors.
    fn degrees(&self) -> [u32; 2] {
        let (out, into) = (to_u32(self.outgoing.len()), to_u32(self.incoming.len()));
        if self.half_duplex { [out + into; 2] } else { [out, into] }
    }

    /// Window that the target of a pair reports in a trial; the pair is this process and a source,
    /// or this process and a target.
    fn window(&self, p: &Peer, with_source: bool, trial: u32) -> Window {
        match (with_source, self.degrees()) {
            (true, [_, into]) => Window::new(p.rank, self.rank, [p.degree, into], p.edges, trial),
            (false, [out, _]) => Window::new(self.rank, p.rank, [out, p.degree], p.edges, trial),
        }
    }

    /// Returns a word of the colors that are no longer available on a side.
    fn taken(&self, side: usize, word: u32) -> u32 {
        let proposed = if side == 0 { word_of(&self.proposed, word) } else { 0 };
        word_of(&self.used[side], word) | proposed
    }

    /// Computes each edge's stage and rivals at this process.
    fn find_stages(&mut self) {
        let both = self.half_duplex.then(|| stages(&[&self.outgoing[..], &self.incoming[..]].concat()));
        for edges in [&mut self.outgoing, &mut self.incoming] {
            let side = stages(edges);
            for e in edges {
                (e.stage, e.rivals) = both.as_ref().map_or_else(|| side(e.class), |both| both(e.class));
            }
        }
    }

    /// Allocates the windows of the targets. Initially all colors are free.
    fn open_windows(&mut self) {
        let mut end = 0;
        for t in 0..self.targets.len() {
            self.targets[t].window = end;
            // the palette is largest in the last trials
            end += self.window(&self.targets[t], false, u32::MAX).reported_words();
        }
        let mut windows = vec![0; end as usize];
        for p in &self.targets {
            let window = self.window(p, false, 1);
            for j in 0..window.reported_words() {
                windows[(p.window + j) as usize] = bits_below(window.word(j), window.limit);
            }
        }
        self.windows = windows;
    }

    /// Returns the random number for edge `e` of one side in this step.
    fn drawn(&self, what: u64, e: usize) -> u64 {
        draw([self.seed.wrapping_add(what), u64::from(self.rank) << 32 | u64::from(self.step), e as u64])
    }

    /// Grants, for each free color, the proposal of the heaviest edge, and records it as that
    /// edge's proposal.
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

    /// Chooses the proposals of the next trial.
    fn propose(&mut self) {
        self.proposed.fill(0);
        self.outgoing.iter_mut().for_each(|e| e.proposal = NONE);
        // (number of choices, random number, peer, edge): edges with the fewest choices go first
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
            edge_of[edge.color as usize] = to_u32(e);
        }
        for &(.., drawn, t, i) in &wanting[..stuck] {
            // A color that is free here may be free there, too, and be reported later. If another
            // edge took it before, and left a color of this report, that would be free in vain
            // until it is reported again; all the more if yet another edge took it meanwhile.
            if self.next_trial().is_multiple_of(self.window(&self.targets[t], false, self.next_trial()).period()) {
                self.make_way(t, i, drawn, &edge_of);
            }
        }
    }

    /// Handles an edge `i` to target `t` without a color that is free at both ends: reserves a
    /// color that is free there, and proposes another color for the edge that has it here.
    /// `edge_of` maps each color to its edge.
    fn make_way(&mut self, t: usize, i: usize, drawn: u64, edge_of: &[u32]) {
        let p = &self.targets[t];
        let (window, palette) = (self.window(p, false, self.next_trial()), self.palette(t, i));
        let there = (0..window.words).map(|j| {
            let w = window.word(j);
            (w, self.free_there(p, &window, j) & bits_in(w, &palette) & !word_of(&self.proposed, w))
        });
        let count: u32 = there.clone().map(|f| f.1.count_ones()).sum();
        for k in 0..count {
            let color = nth(there.clone(), (below(drawn, count) + k) % count);
            // with `half_duplex` this may be an incoming edge
            let other = edge_of.get(color as usize).map_or(NONE, |&e| e) as usize;
            if self.outgoing.get(other).is_none_or(|e| e.proposal != NONE) {
                continue;
            }
            let to = self.targets.partition_point(|p| p.first as usize <= other) - 1;
            let drawn = self.drawn(2, other);
            let instead = if self.outgoing[other].stage < self.outgoing[i].stage {
                // heavier edges stay together
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

    /// The trial whose proposals are being chosen.
    fn next_trial(&self) -> u32 {
        self.trial() + 1
    }

    /// The colors that edge `i` to target `t` may take; empty before its stage.
    fn palette(&self, t: usize, i: usize) -> Range<u32> {
        let degrees = [self.degrees()[0], self.targets[t].degree];
        let e = &self.outgoing[i];
        match self.next_trial().checked_sub(e.stage * STAGE_TRIALS) {
            None | Some(0) => 0..0,
            Some(trial) => 0..most_colors(degrees).min(e.rivals + growth(degrees, trial)),
        }
    }

    /// Picks a color that is free at both ends of an edge: any color sufficient for a graph of its
    /// rivals, otherwise a low one.
    fn pick(&self, t: usize, i: usize, drawn: u64) -> Option<u32> {
        let (end, rivals) = (self.palette(t, i).end, self.outgoing[i].rivals);
        (self.choose(t, 0..rivals.min(end), drawn)).or_else(|| self.choose(t, rivals..end, 0))
    }

    /// The j-th word of a window of colors that are free at a target, apart from those of edges
    /// that both have.
    fn free_there(&self, p: &Peer, window: &Window, j: u32) -> u32 {
        if window.reported { self.windows[(p.window + j) as usize] } else { bits_below(window.word(j), window.limit) }
    }

    /// Words of colors that are free here and at a target, with their numbers.
    fn free(&self, t: usize, palette: Range<u32>) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        let p = &self.targets[t];
        let window = self.window(p, false, self.next_trial());
        (0..window.words).map(move |j| {
            let w = window.word(j);
            (w, self.free_there(p, &window, j) & !self.taken(0, w) & bits_in(w, &palette))
        })
    }

    /// Chooses a color that is free here and at a target.
    fn choose(&self, t: usize, palette: Range<u32>, drawn: u64) -> Option<u32> {
        let free = self.free(t, palette);
        let count: u32 = free.clone().map(|f| f.1.count_ones()).sum();
        (count > 0).then(|| nth(free, below(drawn, count)))
    }
}
