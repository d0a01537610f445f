//! An input graph, wherever it comes from.

use mpix_neighbor::topology::cartesian::Grid;
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::neighborhood::Neighborhood;

/// A graph and related data.
pub struct Problem {
    /// A human-readable name.
    pub name: String,
    /// The neighborhoods of all processes.
    pub world: Vec<Neighborhood>,
    /// Their graph.
    pub graph: Graph,
    /// If all edges have directions, those directions, heaviest first.
    pub directions: Option<Vec<u32>>,
    /// The grid of the processes, if there is one.
    pub grid: Option<Grid>,
}

impl Problem {
    /// A graph without directions.
    pub fn new(name: String, graph: Graph) -> Problem {
        Problem { name, world: graph.neighborhoods(), graph, directions: None, grid: None }
    }
}
