//! Input of the schedule builders.

use super::costs::Costs;
use super::star::Star;
use super::stencil::Stencil;
use crate::topology::neighborhood::Neighborhood;

/// Input of algorithms that need only the process's own lists.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The process's own lists.
    pub neighborhood: &'a Neighborhood,
    /// Number of processes in the communicator.
    pub processes: u32,
    /// If all edges of all processes have directions, those directions, heaviest first; equal on
    /// all processes.
    pub directions: Option<&'a [u32]>,
    /// If only one process sends to others, at most once to each, and the caller promised that
    /// forwarding is safe: that star; equal on all processes.
    pub star: Option<&'a Star>,
    /// If all processes of a Cartesian communicator have neighbors at the same offsets, and the
    /// library looked for that: those offsets; equal on all processes.
    pub stencil: Option<&'a Stencil>,
}

/// The collective operations that a schedule must serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// `MPIX_Neighbor_gather`, `gatherv`
    pub gather: bool,
    /// `MPIX_Neighbor_alltoall`, `alltoallv`, `alltoallw`
    pub alltoall: bool,
    /// `MPIX_Neighbor_reduce`, `reducev`
    pub reduce: bool,
}

/// Parameters from the caller or the model for building schedules; equal on all processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Seed of all random choices.
    pub seed: u64,
    /// Cost of a message beyond its bytes, in units of weight (tau / phi in IrregPC). Splitting
    /// pays where it is small.
    pub startup: f64,
    /// True if messages may be split.
    pub split: bool,
    /// True if a process can either send or receive at a time, but not both.
    pub half_duplex: bool,
    /// Elementary steps that a search for better rounds may take; about 10^9 per second.
    pub budget: u64,
    /// Message costs, for trees.
    pub costs: Costs,
    /// Share of its blocks that a process of `scatter_binomial` hands on first, between 0 and 1
    /// (alpha in LogGP, section 4.6); the binomial tree has a half.
    pub share: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { seed: 1, startup: 4096.0, split: true, half_duplex: false, budget: 1 << 27, costs: Costs::default(), share: 0.5 }
    }
}
