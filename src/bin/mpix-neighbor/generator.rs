//! Generators by name, as the command line gives them.

use std::str::FromStr;

use mpix_neighbor::cartesian::Grid;
use mpix_neighbor::graph::Graph;

use crate::input::Problem;
use crate::readers::MAX_PROCESSES;

/// Most edges that a generator is asked for.
const MAX_EDGES: u64 = 1 << 27;

/// A generator and its numbers, all in range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// A grid: processes in each dimension, and whether it is periodic.
    Grid(Vec<(u32, bool)>),
    /// Processes, and edges in and out of each.
    Regular(u32, u32),
    /// IrregPC's first test set, with about so many edges in and out of a process.
    IrregPc1(u32),
    /// IrregPC's second test set.
    IrregPc2,
    /// Like IrregPC's third test set: a mesh of so many points.
    Airfoil(u32),
    /// SparseColl's grid with heavy edges around circles: rows and columns.
    Circular(u32),
    /// SparseColl's grid with heavy edges along rows.
    Horizontal(u32),
}
