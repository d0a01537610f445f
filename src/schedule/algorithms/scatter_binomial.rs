//! `scatter_binomial`: from one process to the others along a binomial tree.
//!
//! A process that holds the blocks of several processes sends half of them, rounded down, to one of
//! those processes, which continues in the same way; then half of the rest, until only its own
//! block is left. This is LogGP's Binomial Tree (section 4.4). It is the optimal tree if L + 2 o =
//! g, and the best known tree if the parameters of the machine are unknown. `scatter.rs` describes
//! its requirements and how processes follow it.
//!
//! Cost: `ceil(log2 P)` rounds and P - 1 messages for P processes, source included; about half of
//! all blocks travel in each round. Building takes time and memory `O(P)`.

use crate::schedule::costs::Costs;

/// For each number of processes from 0 to `processes`, the number of blocks to send away first.
pub(in crate::schedule) fn splits(processes: u32, _: f64, _: &Costs) -> Vec<u32> {
    (0..=processes).map(|p| p / 2).collect()
}
