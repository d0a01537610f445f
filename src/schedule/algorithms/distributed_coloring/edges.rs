//! A process's edges, grouped by the process at the other end, and the stages in which they choose.

use std::ops::Range;

use super::colors::{NONE, set};
use crate::topology::neighborhood::{Neighbor, Rank};

/// Edges of the heaviest class choose in stage 0, of the next one in stage 1, all others in this
/// one.
pub(super) const LAST_STAGE: u32 = 2;

/// The edges between this process and another one, in one direction.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) rank: Rank,
    /// Its first edge, and how many.
    pub(super) first: u32,
    pub(super) edges: u32,
    /// The other end's number of edges on the side of these edges.
    pub(super) degree: u32,
    /// Where its window begins; only of targets.
    pub(super) window: u32,
    /// Whether messages still go between the two.
    pub(super) open: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) slot: u32,
    /// Grows with the weight, by the order of magnitude.
    pub(super) class: u32,
    /// How many classes are heavier, of outgoing edges at the end that has more of them; at most
    /// `LAST_STAGE`.
    pub(super) stage: u32,
    /// How many edges of the same side are in this stage or an earlier one, of outgoing edges at
    /// the end that has more of them.
    pub(super) rivals: u32,
    pub(super) color: u32,
    /// The color that is proposed in this trial; of incoming edges, behind the decision: that is
    /// granted.
    pub(super) proposal: u32,
}

impl Peer {
    pub(super) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.edges) as usize
    }

    /// Words with a bit for each edge.
    pub(super) fn granted_words(&self) -> usize {
        self.edges.div_ceil(32) as usize
    }
}

/// The processes of a list and the edges to them.
pub(super) fn peers(me: Rank, list: &[Neighbor], mut order: Vec<(u32, Rank)>) -> (Vec<Peer>, Vec<Edge>) {
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
pub(super) fn class(weight: u32) -> u32 {
    match weight.checked_ilog2() {
        None => 0,
        Some(0) => 1,
        Some(log) => 2 * log + (weight >> (log - 1) & 1),
    }
}

/// For each class of a side's edges its stage, and how many edges are in that stage or an earlier
/// one.
pub(super) fn stages(edges: &[Edge]) -> impl Fn(u32) -> (u32, u32) + use<> {
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

/// Gives an edge the color that was proposed.
pub(super) fn recolor(used: &mut Vec<u32>, e: &mut Edge) {
    if e.color != NONE {
        used[(e.color / 32) as usize] &= !(1 << (e.color % 32));
    }
    set(used, e.proposal);
    e.color = e.proposal;
}
