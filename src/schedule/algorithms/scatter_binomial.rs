//! `scatter_binomial`: from one process to others along a binomial tree.
//!
//! Who has blocks of several processes sends half of them, rounded down, to one of those processes,
//! which goes on in the same way; then half of the rest, until only its own block is left. LogGP's
//! Binomial Tree (section 4.4). The best tree where L + 2 o = g, and the best known one without
//! knowledge of the machine: `scatter.rs` says what it needs and what its processes do.
//!
//! Cost: `ceil(log2 P)` rounds for P processes, the source among them, and P - 1 messages; about
//! half of all blocks travel in each round. To build: time and memory `O(P)`.

use crate::schedule::costs::Costs;

/// For 0 to `processes` processes how many blocks are sent away first.
pub(in crate::schedule) fn splits(processes: u32, _: f64, _: &Costs) -> Vec<u32> {
    (0..=processes).map(|p| p / 2).collect()
}
