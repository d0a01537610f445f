//! The algorithms that build schedules, one per file or folder. All are reached through the table
//! in [`schedule`](super).

pub(super) mod combining;
pub(super) mod dimension_order;
pub(super) mod direct;
pub mod distributed_coloring;
pub(super) mod edge_coloring;
pub(super) mod linear_permutation;
pub mod node_aware;
pub mod random_rounds;
pub(super) mod scatter_binomial;
pub(super) mod scatter_optimal;
