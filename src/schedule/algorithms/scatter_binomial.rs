//! `scatter_binomial`: from one process to the others along a binomial tree.
//!
//! A process that holds the blocks of several processes sends half of them, rounded down, to one of
//! those processes, which continues in the same way; then half of the rest, until only its own
//! block is left. This is LogGP's Binomial Tree (section 4.4). It is the optimal tree if L + 2 o =
//! g, and the best known tree if the parameters of the machine are unknown. `scatter.rs` describes
//! its requirements and how processes follow it. `Tuning::share` takes the place of the half in the
//! command-line tool alone: it is the fixed splitting ratio of section 4.6.
//!
//! Cost: `ceil(log2 P)` rounds and P - 1 messages for P processes, source included; about half of
//! all blocks travel in each round. Building takes time and memory `O(P)`.

use crate::schedule::input::Tuning;
use crate::util::cast::{to_u32, whole};

/// For each number of processes from 0 to `processes`, the number of blocks to send away first.
pub(in crate::schedule) fn splits(processes: u32, _: f64, tuning: &Tuning) -> Vec<u32> {
    let share = |p: u32| to_u32(whole((f64::from(p) * tuning.share).floor())).clamp(1, p - 1);
    (0..=processes).map(|p| if p < 2 { 0 } else { share(p) }).collect()
}
