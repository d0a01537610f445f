//! wip

use super::{Algorithm, Block, Input, Op, Schedule, Tuning};
use crate::neighborhood::{Neighborhood, Rank};

/// No color, and no proposal.
const NONE: u32 = u32::MAX;
/// First word of a sender's last message to a target.
const CLOSE: u32 = u32::MAX - 1;
/// Of how many words of 32 colors a receiver tells a sender in one message which are free.
const WINDOW: u32 = 8;

#[derive(Debug, Clone)]
struct Edge {
    slot: u32,
    weight: u32,
    color: u32,
    proposal: u32,
}

#[derive(Debug, Clone)]
struct Peer {
    rank: Rank,
    first: u32,
    edges: u32,
    degree: u32,
    open: bool,
    window: u32,
}

/// One message of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// For `write` or `take`.
    pub index: usize,
    /// Process at the other end.
    pub rank: Rank,
    /// Length of the message.
    pub words: usize,
}

/// One process's side.
#[derive(Debug, Clone)]
pub struct Negotiation {
    rank: Rank,
    seed: u64,
    half_duplex: bool,
    copies: Vec<Op>,
    step: u32,
    targets: Vec<Peer>,
    sources: Vec<Peer>,
    out: Vec<Edge>,
    into: Vec<Edge>,
    used: [Vec<u32>; 2],
    reserved: Vec<u32>,
    windows: Vec<u32>,
    weighted: bool,
}

fn peers(n: &Neighborhood, list: Vec<(u32, Rank)>, weight: impl Fn(u32) -> u32) -> (Vec<Peer>, Vec<Edge>) {
    let mut list: Vec<_> = list.into_iter().filter(|e| e.1 != n.rank()).collect();
    list.sort_by_key(|e| e.1);
    let mut first = 0;
    let peers = (list.chunk_by(|a, b| a.1 == b.1))
        .map(|same| {
            let peer = Peer { rank: same[0].1, first, edges: same.len() as u32, degree: 0, open: true, window: 0 };
            first += peer.edges;
            peer
        })
        .collect();
    let edges = list.iter().map(|e| Edge { slot: e.0, weight: weight(e.0), color: NONE, proposal: NONE }).collect();
    (peers, edges)
}

impl Peer {
    fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.edges) as usize
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn draw(words: [u64; 3]) -> u64 {
    words.into_iter().fold(0, |h, w| mix(h.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ w))
}

fn below(hash: u64, n: u32) -> u32 {
    ((u64::from((hash >> 32) as u32) * u64::from(n)) >> 32) as u32
}

/// see
pub static PARAMS: [std::sync::atomic::AtomicU32; 4] = [const { std::sync::atomic::AtomicU32::new(0) }; 4];
fn param(i: usize) -> u32 {
    PARAMS[i].load(std::sync::atomic::Ordering::Relaxed)
}

fn limit(a: u32, b: u32, trial: u32) -> u32 {
    let (most, full) = (a.max(b), a + b - 1);
    let extra = trial.saturating_sub(param(0)) * (most / param(1)).max(1) / param(2) + param(3) * most / 100;
    (most + extra).min(full)
}

/// (first word, words, of how many)
fn window(from: Rank, to: Rank, limit: u32, trial: u32) -> (u32, u32, u32) {
    let total = limit.div_ceil(32);
    if total <= WINDOW {
        return (0, total, total);
    }
    let start = below(draw([u64::from(from), u64::from(to), 0]), total);
    (((u64::from(start) + u64::from(trial) * u64::from(WINDOW)) % u64::from(total)) as u32, WINDOW, total)
}

fn set(bits: &mut Vec<u32>, color: u32, value: bool) {
    let w = (color / 32) as usize;
    if bits.len() <= w {
        bits.resize(w + 1, 0);
    }
    if value { bits[w] |= 1 << (color % 32) } else { bits[w] &= !(1 << (color % 32)) }
}

fn word(bits: &[u32], w: u32) -> u32 {
    bits.get(w as usize).copied().unwrap_or(0)
}

fn has(bits: &[u32], color: u32) -> bool {
    word(bits, color / 32) >> (color % 32) & 1 == 1
}

fn below_limit(w: u32, limit: u32) -> u32 {
    let left = limit.saturating_sub(32 * w);
    if left >= 32 { u32::MAX } else { (1 << left) - 1 }
}

impl Negotiation {
    /// new
    pub fn new(input: &Input, tuning: &Tuning) -> Negotiation {
        let n = input.neighborhood;
        let (targets, out) = peers(n, n.targets_in_order(), |s| n.targets()[s as usize].weight);
        let (sources, into) = peers(n, n.sources_in_order(), |s| n.sources()[s as usize].weight);
        Negotiation {
            rank: n.rank(),
            seed: tuning.seed,
            half_duplex: tuning.half_duplex,
            copies: super::self_copies(n),
            step: 0,
            targets,
            sources,
            out,
            into,
            used: [Vec::new(), Vec::new()],
            reserved: Vec::new(),
            windows: Vec::new(),
            weighted: n.weighted(),
        }
    }

    fn inward(&self) -> usize {
        usize::from(!self.half_duplex)
    }

    fn degrees(&self) -> [u32; 2] {
        let (out, into) = (self.out.len() as u32, self.into.len() as u32);
        if self.half_duplex { [out + into; 2] } else { [out, into] }
    }

    /// done
    pub fn done(&self) -> bool {
        !self.targets.iter().chain(&self.sources).any(|p| p.open)
    }

    fn backward_words(&self, peer: &Peer, from: Rank, to: Rank, mine: u32) -> usize {
        if self.step == 1 {
            return 1;
        }
        let trial = self.step / 2 + 1;
        peer.edges.div_ceil(32) as usize + window(from, to, limit(mine, peer.degree, trial), trial).1 as usize
    }

    /// sends
    pub fn sends(&self) -> impl Iterator<Item = Exchange> + '_ {
        let back = self.step % 2 == 1;
        let list = if back { &self.sources } else { &self.targets };
        list.iter().enumerate().filter(|p| p.1.open).map(move |(index, p)| {
            let words =
                if back { self.backward_words(p, p.rank, self.rank, self.degrees()[1]) } else { p.edges as usize };
            Exchange { index, rank: p.rank, words }
        })
    }

    /// receives
    pub fn receives(&self) -> impl Iterator<Item = Exchange> + '_ {
        let back = self.step % 2 == 1;
        let list = if back { &self.targets } else { &self.sources };
        list.iter().enumerate().filter(|p| p.1.open).map(move |(index, p)| {
            let words =
                if back { self.backward_words(p, self.rank, p.rank, self.degrees()[0]) } else { p.edges as usize };
            Exchange { index, rank: p.rank, words }
        })
    }

    /// write
    pub fn write(&self, index: usize, message: &mut [u32]) {
        let back = self.step % 2 == 1;
        if self.step < 2 {
            message[0] = self.degrees()[usize::from(back)];
        } else if !back {
            let p = &self.targets[index];
            for (w, e) in message.iter_mut().zip(&self.out[p.range()]) {
                *w = e.proposal;
            }
            if self.colored() {
                message[0] = CLOSE;
            }
        } else {
            let p = &self.sources[index];
            message.fill(0);
            let (granted, free) = message.split_at_mut(p.edges.div_ceil(32) as usize);
            for (k, e) in self.into[p.range()].iter().enumerate() {
                if e.proposal != NONE {
                    granted[k / 32] |= 1 << (k % 32);
                }
            }
            let trial = self.step / 2 + 1;
            let limit = limit(self.degrees()[1], p.degree, trial);
            let (start, _, total) = window(p.rank, self.rank, limit, trial);
            for (j, f) in free.iter_mut().enumerate() {
                let w = (start + j as u32) % total;
                *f = !(word(&self.used[self.inward()], w) | if self.half_duplex { word(&self.reserved, w) } else { 0 })
                    & below_limit(w, limit);
            }
        }
    }

    fn colored(&self) -> bool {
        self.out.iter().all(|e| e.color != NONE)
    }

    /// take
    pub fn take(&mut self, index: usize, message: &[u32]) {
        let back = self.step % 2 == 1;
        if self.step < 2 {
            let list = if back { &mut self.targets } else { &mut self.sources };
            list[index].degree = message[0];
        } else if !back {
            let p = &mut self.sources[index];
            if message[0] == CLOSE {
                p.open = false;
            } else {
                for (e, &w) in self.into[p.range()].iter_mut().zip(message) {
                    e.proposal = w;
                }
            }
        } else {
            let p = &self.targets[index];
            let (granted, free) = message.split_at(p.edges.div_ceil(32) as usize);
            for (k, e) in self.out[p.range()].iter_mut().enumerate() {
                if e.proposal == NONE {
                    continue;
                }
                if granted[k / 32] >> (k % 32) & 1 == 1 {
                    if e.color != NONE {
                        set(&mut self.used[0], e.color, false);
                    }
                    set(&mut self.used[0], e.proposal, true);
                    e.color = e.proposal;
                }
            }
            self.windows[p.window as usize..][..free.len()].copy_from_slice(free);
        }
    }

    /// advance
    pub fn advance(&mut self) {
        let back = self.step % 2 == 1;
        if self.step == 1 {
            let mut at = 0;
            let mine = self.degrees()[0];
            for p in &mut self.targets {
                p.window = at;
                at += limit(mine, p.degree, u32::MAX / 1000).div_ceil(32).min(WINDOW);
            }
            self.windows = vec![0; at as usize];
            for p in &self.targets {
                let limit = limit(mine, p.degree, 1);
                let (start, words, total) = window(self.rank, p.rank, limit, 1);
                for j in 0..words {
                    self.windows[(p.window + j) as usize] = below_limit((start + j) % total, limit);
                }
            }
        }
        if !back && self.step > 0 {
            if self.colored() {
                for p in &mut self.targets {
                    p.open = false;
                }
            }
            self.grant();
        }
        if back {
            self.propose();
        }
        self.step += 1;
    }

    fn grant(&mut self) {
        let inward = self.inward();
        let mut offers: Vec<(u32, u32, u64, u32)> = Vec::new();
        for p in self.sources.iter().filter(|p| p.open) {
            for i in p.range() {
                let e = &mut self.into[i];
                if e.proposal == NONE {
                    continue;
                }
                let free = !has(&self.used[inward], e.proposal) && !(self.half_duplex && has(&self.reserved, e.proposal));
                if free {
                    let weight = if self.weighted { e.weight } else { 0 };
                    let h = draw([self.seed, u64::from(self.rank) << 32 | i as u64, u64::from(self.step)]);
                    offers.push((e.proposal, !weight, h, i as u32));
                }
                e.proposal = NONE;
            }
        }
        offers.sort_unstable();
        for same in offers.chunk_by(|a, b| a.0 == b.0) {
            let (color, .., i) = same[0];
            let e = &mut self.into[i as usize];
            if e.color != NONE {
                set(&mut self.used[inward], e.color, false);
            }
            set(&mut self.used[inward], color, true);
            e.color = color;
            e.proposal = color;
        }
    }

    fn propose(&mut self) {
        self.reserved.fill(0);
        for e in &mut self.out {
            e.proposal = NONE;
        }
        if self.colored() {
            return;
        }
        let trial = self.step.div_ceil(2);
        let mine = self.degrees()[0];
        let key = |i: usize, what: u64| draw([self.seed ^ what, u64::from(self.rank) << 32 | i as u64, u64::from(self.step)]);
        // (choices, hash, edge, peer)
        let mut wanting: Vec<(u32, u64, u32, u32)> = Vec::new();
        let mut by_weight: Vec<(u32, u64, u32)> = Vec::new();
        for (t, p) in self.targets.iter().enumerate() {
            let mut choices = None;
            for i in p.range() {
                if self.out[i].color == NONE {
                    let choices = *choices.get_or_insert_with(|| {
                        let (start, words, total) = window(self.rank, p.rank, limit(mine, p.degree, trial), trial);
                        (0..words)
                            .map(|j| {
                                (self.windows[(p.window + j) as usize] & !word(&self.used[0], (start + j) % total)).count_ones()
                            })
                            .sum::<u32>()
                    });
                    let h = key(i, 1);
                    wanting.push((choices, h, i as u32, t as u32));
                    by_weight.push((if self.weighted { !self.out[i].weight } else { 0 }, h, i as u32));
                }
            }
        }
        by_weight.sort_unstable();
        wanting.sort_unstable();
        let u = wanting.len() as u64;
        let mut stuck = Vec::new();
        let mut position = vec![0u32; self.out.len()];
        for (r, e) in by_weight.iter().enumerate() {
            position[e.2 as usize] = r as u32;
        }
        for &(choices, h, i, t) in &wanting {
            if choices == 0 {
                stuck.push((i, t, h));
                continue;
            }
            let r = u64::from(position[i as usize]);
            let free = self.free(t, trial);
            let count: u32 = free.iter().map(|f| f.1.count_ones()).sum();
            if count == 0 {
                continue;
            }
            let frac = (r << 32) + (key(i as usize, 2) >> 32);
            let j = (u128::from(frac) * u128::from(count) / (u128::from(u) << 32)) as u32;
            let color = nth(&free, j);
            self.out[i as usize].proposal = color;
            set(&mut self.reserved, color, true);
        }
        // helper moves
        for (i, t, h) in stuck {
            let p = &self.targets[t as usize];
            let (start, words, total) = window(self.rank, p.rank, limit(mine, p.degree, trial), trial);
            // colors free there and used here
            let there: Vec<(u32, u32)> = (0..words)
                .map(|j| ((start + j) % total, self.windows[(p.window + j) as usize]))
                .collect();
            let count: u32 = there.iter().map(|f| f.1.count_ones()).sum();
            let offset = below(h, count.max(1));
            let _ = i;
            for k in 0..count {
                let a = nth(&there, (k + offset) % count);
                if has(&self.reserved, a) {
                    continue;
                }
                let Some(other) = self.out.iter().position(|e| e.color == a && e.proposal == NONE) else { continue };
                let to = self.targets.partition_point(|p| p.first as usize <= other) - 1;
                let free = self.free(to as u32, trial);
                let count: u32 = free.iter().map(|f| f.1.count_ones()).sum();
                if count > 0 {
                    let b = nth(&free, below(key(other, 3), count));
                    self.out[other].proposal = b;
                    set(&mut self.reserved, b, true);
                    set(&mut self.reserved, a, true);
                    break;
                }
            }
        }
    }

    /// Free at both ends and not reserved.
    fn free(&self, t: u32, trial: u32) -> Vec<(u32, u32)> {
        let p = &self.targets[t as usize];
        let (start, words, total) = window(self.rank, p.rank, limit(self.degrees()[0], p.degree, trial), trial);
        (0..words)
            .map(|j| {
                let w = (start + j) % total;
                (w, self.windows[(p.window + j) as usize] & !word(&self.used[0], w) & !word(&self.reserved, w))
            })
            .collect()
    }

    /// finish
    pub fn finish(self) -> Schedule {
        let mut ops: Vec<(u32, Op)> = Vec::with_capacity(self.out.len() + self.into.len());
        for p in &self.targets {
            ops.extend(self.out[p.range()].iter().map(|e| (e.color, Op::send(p.rank, Block::Input(e.slot)))));
        }
        for p in &self.sources {
            ops.extend(self.into[p.range()].iter().map(|e| (e.color, Op::recv(p.rank, Block::Output(e.slot)))));
        }
        ops.sort_by_key(|o| o.0);
        let mut copies = self.copies;
        let mut schedule = Schedule::new(Algorithm::DistributedColoring);
        for round in ops.chunk_by(|a, b| a.0 == b.0) {
            schedule.push_round_at(round[0].0, round.iter().map(|o| o.1).chain(std::mem::take(&mut copies)));
        }
        if !copies.is_empty() {
            schedule.push_round(copies);
        }
        schedule
    }
}

fn nth(free: &[(u32, u32)], mut j: u32) -> u32 {
    for &(w, mut bits) in free {
        let ones = bits.count_ones();
        if j < ones {
            for _ in 0..j {
                bits &= bits - 1;
            }
            return 32 * w + bits.trailing_zeros();
        }
        j -= ones;
    }
    unreachable!()
}

/// Stats
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// steps
    pub steps: u32,
    /// messages
    pub messages: u64,
    /// words
    pub words: u64,
}

/// run
pub fn run_all(mut all: Vec<Negotiation>) -> (Vec<Schedule>, Stats) {
    let mut stats = Stats::default();
    let mut message = Vec::new();
    while all.iter().any(|n| !n.done()) {
        for s in 0..all.len() {
            let sends: Vec<Exchange> = all[s].sends().collect();
            let back = all[s].step % 2 == 1;
            for x in sends {
                message.resize(x.words, 0);
                all[s].write(x.index, &mut message);
                let there = &mut all[x.rank as usize];
                let list = if back { &there.targets } else { &there.sources };
                let at = list.binary_search_by_key(&(s as Rank), |p| p.rank).expect("lists match");
                there.take(at, &message);
                stats.messages += 1;
                stats.words += x.words as u64;
            }
        }
        all.iter_mut().for_each(Negotiation::advance);
        stats.steps += 1;
    }
    (all.into_iter().map(Negotiation::finish).collect(), stats)
}
