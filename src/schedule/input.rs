//! What the builders of schedules are given.

use super::costs::Costs;
use super::star::Star;
use super::stencil::Stencil;
use crate::topology::neighborhood::Neighborhood;

/// What algorithms are built from that need only a process's own lists.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The process's own lists.
    pub neighborhood: &'a Neighborhood,
    /// Number of processes.
    pub processes: u32,
    /// Where all edges of all processes have directions: the directions, heaviest first, equal on
    /// all processes.
    pub directions: Option<&'a [u32]>,
    /// Where one process sends and all others receive from it at most, and forwarding is promised
    /// to be right: that star, equal on all processes.
    pub star: Option<&'a Star>,
    /// Where all processes of a Cartesian communicator have neighbors at the same offsets, and that
    /// has been looked for: these, equal on all processes.
    pub stencil: Option<&'a Stencil>,
}

/// The collective operations that a schedule is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// `MPIX_Neighbor_gather`, `gatherv`
    pub gather: bool,
    /// `MPIX_Neighbor_alltoall`, `alltoallv`, `alltoallw`
    pub alltoall: bool,
    /// `MPIX_Neighbor_reduce`, `reducev`
    pub reduce: bool,
}

/// What the caller or the model say about how to build; equal on all processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Where choices are drawn, they are drawn from this.
    pub seed: u64,
    /// What a message costs beyond its bytes, in units of weight (tau / phi in IrregPC): splitting
    /// pays where it is small.
    pub startup: f64,
    /// Whether messages may be split.
    pub split: bool,
    /// Whether a process sends or receives at a time, not both.
    pub half_duplex: bool,
    /// Elementary steps that a search for better rounds may take; about 10^9 a second.
    pub budget: u64,
    /// What messages cost, for trees.
    pub costs: Costs,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { seed: 1, startup: 4096.0, split: true, half_duplex: false, budget: 1 << 25, costs: Costs::default() }
    }
}
