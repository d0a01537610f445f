//! The table of algorithms, and the schedules of all processes that it builds.

use super::algorithms::{
    combining, dimension_order, direct, distributed_coloring, edge_coloring, linear_permutation, node_aware, random_rounds,
    scatter_binomial, scatter_optimal,
};
use super::grammar::{Algorithm, Schedule};
use super::input::{Input, Operations, Tuning};
use super::rounds::{self, Rounds, Shares};
use super::scatter::{self, Rule, Tree};
use super::star::Star;
use super::stencil::Stencil;
use crate::topology::cartesian::Grid;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;
use crate::util::cast::to_u32;
use distributed_coloring::Negotiation;

/// How an algorithm builds a schedule.
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// From the process's own lists.
    Local(fn(&Input) -> Schedule),
    /// From the graph of all processes: one process computes the rounds, and each process gets its
    /// share.
    Global(fn(&Graph, &Tuning) -> Rounds),
    /// By messages between neighbors: each process runs its side of a [`Negotiation`], which leaves
    /// out the edges to and from processes that the function names.
    Negotiated(fn(&Input, &Tuning, &dyn Fn(Rank) -> bool) -> Negotiation),
    /// From a [`Star`]: a table with the number of blocks that a process sends away first, for each
    /// number of blocks that it holds, its own included. Arguments: the number of processes, the
    /// mean weight of a block, and message costs.
    Scatter(Rule),
    /// From the process's own lists and the [`Stencil`] of all processes.
    Stencil(fn(&Input) -> Schedule),
    /// From the graph of all processes and their nodes: one process computes the shares of all.
    Nodes(fn(&Graph, &Locality, &Tuning) -> Shares),
}

/// An algorithm's entry in the table.
pub struct Entry {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its name in hints, logs, tests and benches; the stem of its file.
    pub name: &'static str,
    /// True if each process has at most one message in and one out per round.
    pub single_port: bool,
    /// Returns why the algorithm cannot be used for an input; `None` if it can. Depends only on
    /// values that are equal on all processes.
    pub unfit: fn(&Input) -> Option<&'static str>,
    /// How it builds.
    pub build: Build,
}

impl Entry {
    /// Returns true if blocks travel through processes that are neither their source nor their
    /// target. Such schedules have packets, and need the caller's promise that all processes call,
    /// unless all processes on a block's path are neighbors of its source.
    pub fn forwards(&self) -> bool {
        matches!(self.build, Build::Scatter(_) | Build::Stencil(_) | Build::Nodes(_))
    }

    /// Returns why its schedules cannot serve all of these operations; `None` if they can.
    pub fn unserved(&self, operations: Operations) -> Option<&'static str> {
        match self.build {
            Build::Scatter(_) if operations.gather || operations.reduce => Some(
                "it serves MPIX_NEIGHBOR_ALLTOALL and MPIX_NEIGHBOR_ACCUMULATE only: set other operations by another call, with \
                 another schedule",
            ),
            Build::Stencil(_) | Build::Nodes(_) if operations.reduce => Some(
                "it serves all operations but MPIX_NEIGHBOR_REDUCE: set MPIX_NEIGHBOR_REDUCE by another call, with another \
                 schedule",
            ),
            _ => None,
        }
    }

    /// Returns true if the schedules of all processes have at most one round.
    pub fn one_round(&self) -> bool {
        self.algorithm == Algorithm::Direct
    }
}

/// Accepts every input.
fn fit(_: &Input) -> Option<&'static str> {
    None
}

/// All algorithms. Hints, dispatch, tests and benches derive from this table.
pub static ALGORITHMS: [Entry; 10] = [
    Entry { algorithm: Algorithm::Direct, name: "direct", single_port: false, unfit: fit, build: Build::Local(direct::build) },
    Entry {
        algorithm: Algorithm::DimensionOrder,
        name: "dimension_order",
        single_port: true,
        unfit: dimension_order::unfit,
        build: Build::Local(dimension_order::build),
    },
    Entry {
        algorithm: Algorithm::LinearPermutation,
        name: "linear_permutation",
        single_port: true,
        unfit: fit,
        build: Build::Local(linear_permutation::build),
    },
    Entry {
        algorithm: Algorithm::RandomRounds,
        name: "random_rounds",
        single_port: true,
        unfit: fit,
        build: Build::Global(random_rounds::build),
    },
    Entry {
        algorithm: Algorithm::EdgeColoring,
        name: "edge_coloring",
        single_port: true,
        unfit: fit,
        build: Build::Global(edge_coloring::build),
    },
    Entry {
        algorithm: Algorithm::DistributedColoring,
        name: "distributed_coloring",
        single_port: true,
        unfit: fit,
        build: Build::Negotiated(Negotiation::between_nodes),
    },
    Entry {
        algorithm: Algorithm::ScatterBinomial,
        name: "scatter_binomial",
        single_port: true,
        unfit: scatter::unfit,
        build: Build::Scatter(scatter_binomial::splits),
    },
    Entry {
        algorithm: Algorithm::ScatterOptimal,
        name: "scatter_optimal",
        single_port: true,
        unfit: scatter::unfit,
        build: Build::Scatter(scatter_optimal::splits),
    },
    Entry {
        algorithm: Algorithm::Combining,
        name: "combining",
        single_port: false,
        unfit: combining::unfit,
        build: Build::Stencil(combining::build),
    },
    Entry {
        algorithm: Algorithm::NodeAware,
        name: "node_aware",
        single_port: false,
        unfit: fit,
        build: Build::Nodes(node_aware::shares),
    },
];

/// Builds the schedules of all processes by one algorithm; `world` is in the order of ranks. This
/// is what the processes of a communicator do together when a neighborhood is set, for tests, the
/// model and the command-line tool.
///
/// # Errors
/// Why the algorithm cannot be used.
pub fn world_schedules(
    algorithm: Algorithm,
    world: &[Neighborhood],
    directions: Option<&[u32]>,
    tuning: &Tuning,
) -> Result<Vec<Schedule>, &'static str> {
    world_schedules_on(algorithm, world, None, directions, tuning)
}

/// Like [`world_schedules`], for the processes of a grid.
///
/// # Errors
/// Why the algorithm cannot be used.
pub fn world_schedules_on(
    algorithm: Algorithm,
    world: &[Neighborhood],
    grid: Option<&Grid>,
    directions: Option<&[u32]>,
    tuning: &Tuning,
) -> Result<Vec<Schedule>, &'static str> {
    let processes = to_u32(world.len());
    let entry = algorithm.entry();
    let star = if let Build::Scatter(_) = entry.build { Star::find(world) } else { None };
    let stencil = if let Build::Stencil(_) = entry.build { grid.and_then(|grid| Stencil::find(grid, world)) } else { None };
    let input = |neighborhood| Input { neighborhood, processes, directions, star: star.as_ref(), stencil: stencil.as_ref() };
    if let Some(reason) = world.iter().find_map(|n| (entry.unfit)(&input(n))) {
        return Err(reason);
    }
    Ok(match entry.build {
        Build::Local(build) | Build::Stencil(build) => world.iter().map(|n| build(&input(n))).collect(),
        Build::Global(build) => {
            let graph = Graph::from_neighborhoods(world);
            build(&graph, tuning).schedules(&graph, world)
        }
        Build::Negotiated(begin) => {
            distributed_coloring::negotiate(world.iter().map(|n| begin(&input(n), tuning, &|_| false)).collect()).0
        }
        Build::Scatter(rule) => {
            let tree = star.as_ref().map(|star| Tree::new(star, world.len(), rule, tuning));
            world.iter().map(|n| scatter::schedule(algorithm, n, tree.as_ref())).collect()
        }
        Build::Nodes(_) => return Err("it needs to know which processes share a node"),
    })
}

/// Builds the schedules of all processes by `node_aware`; `world` is in the order of ranks.
pub fn schedules_on_nodes(world: &[Neighborhood], nodes: &Locality, tuning: &Tuning) -> Vec<Schedule> {
    let shares = node_aware::shares(&Graph::from_neighborhoods(world), nodes, tuning);
    rounds::from_shares(shares, world, node_aware::schedule)
}

/// Builds the schedule of one process along the tree that `rule` gives for the star of the input.
pub fn scatter(algorithm: Algorithm, rule: Rule, input: &Input, tuning: &Tuning) -> Schedule {
    let tree = input.star.map(|star| Tree::new(star, input.processes as usize, rule, tuning));
    scatter::schedule(algorithm, input.neighborhood, tree.as_ref())
}

impl Algorithm {
    /// The algorithm's entry in the table.
    pub fn entry(self) -> &'static Entry {
        &ALGORITHMS[self as usize]
    }

    /// The algorithm's name.
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_indexed_by_algorithm_and_names_are_file_stems() {
        for (i, e) in ALGORITHMS.iter().enumerate() {
            assert_eq!(e.algorithm as usize, i);
            let path = format!("{}/src/schedule/algorithms/{}", env!("CARGO_MANIFEST_DIR"), e.name);
            let exists = |path: String| std::path::Path::new(&path).exists();
            assert!(exists(format!("{path}.rs")) || exists(format!("{path}/mod.rs")), "{path}");
        }
    }
}
