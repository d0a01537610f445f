//! The edges of a process, grouped by the process at the other end, and the stages in which they
//! choose colors.

use std::ops::Range;

use super::colors::{NONE, set};
use crate::topology::neighborhood::{Neighbor, Rank};
use crate::util::cast::to_u32;

/// Edges of the heaviest class choose in stage 0, those of the next class in stage 1, all others in
/// this stage.
pub(super) const LAST_STAGE: u32 = 2;

/// The edges between this process and another one, in one direction.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) rank: Rank,
    /// Index of the first edge, and number of edges.
    pub(super) first: u32,
    pub(super) edges: u32,
    /// Degree of the other end, on the side of these edges.
    pub(super) degree: u32,
    /// Index of the first word of the window; for targets only.
    pub(super) window: u32,
    /// True while messages are still exchanged with the process.
    pub(super) open: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) entry: u32,
    /// Order of magnitude of the weight; larger for heavier edges.
    pub(super) class: u32,
    /// Number of heavier classes, at most `LAST_STAGE`; for outgoing edges, the maximum over both
    /// ends.
    pub(super) stage: u32,
    /// Number of edges of the same side in this or an earlier stage; for outgoing edges, the
    /// maximum over both ends.
    pub(super) rivals: u32,
    pub(super) color: u32,
    /// The color proposed in this trial; for incoming edges after the decision, the color granted.
    pub(super) proposal: u32,
}

impl Peer {
    pub(super) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.edges) as usize
    }

    /// Number of words with one bit per edge.
    pub(super) fn granted_words(&self) -> usize {
        self.edges.div_ceil(32) as usize
    }
}

/// Groups edges, in the order in which they match, by the process at the other end. `list`: that of
/// which they are entries.
pub(super) fn peers(list: &[Neighbor], mut order: Vec<(u32, Rank)>) -> (Vec<Peer>, Vec<Edge>) {
    order.sort_by_key(|e| e.1);
    let mut first = 0;
    let peers = (order.chunk_by(|a, b| a.1 == b.1))
        .map(|same| {
            let edges = to_u32(same.len());
            first += edges;
            Peer { rank: same[0].1, first: first - edges, edges, degree: 0, window: 0, open: true }
        })
        .collect();
    let edges = (order.iter())
        .map(|&(entry, _)| {
            let class = class(list[entry as usize].weight);
            Edge { entry, class, stage: 0, rivals: 0, color: NONE, proposal: NONE }
        })
        .collect();
    (peers, edges)
}

/// Order of magnitude of a weight: its two highest bits.
pub(super) fn class(weight: u32) -> u32 {
    match weight.checked_ilog2() {
        None => 0,
        Some(0) => 1,
        Some(log) => 2 * log + (weight >> (log - 1) & 1),
    }
}

/// Maps each class of the edges of one side to its stage, and to the number of edges in that stage
/// or earlier ones.
pub(super) fn stages(edges: &[Edge]) -> impl Fn(u32) -> (u32, u32) + use<> {
    let mut classes: Vec<u32> = edges.iter().map(|e| e.class).collect();
    classes.sort_unstable_by_key(|&c| std::cmp::Reverse(c));
    let mut heaviest = classes.clone();
    heaviest.dedup();
    heaviest.truncate(LAST_STAGE as usize);
    move |class| match heaviest.iter().position(|&c| c == class) {
        Some(stage) => (to_u32(stage), to_u32(classes.partition_point(|&c| c >= class))),
        None => (LAST_STAGE, to_u32(classes.len())),
    }
}

/// Gives an edge its proposed color.
pub(super) fn recolor(used: &mut Vec<u32>, e: &mut Edge) {
    if e.color != NONE {
        used[(e.color / 32) as usize] &= !(1 << (e.color % 32));
    }
    set(used, e.proposal);
    e.color = e.proposal;
}
