//! Virtual topologies of communicators.

use std::ffi::c_int;

use super::check;
use super::comm::Communicator;
use super::constants::{RSMPI_CART, RSMPI_DIST_GRAPH, RSMPI_GRAPH, RSMPI_UNWEIGHTED};
use crate::error::Result;
use crate::util::cast::{to_int, to_u32, to_usize};

/// A communicator's topology.
#[derive(Debug, PartialEq, Eq)]
pub enum Topology {
    /// No topology.
    None,
    /// Cartesian: sizes of the dimensions, and true for periodic ones.
    Cartesian(Vec<u32>, Vec<bool>),
    /// Graph: the caller's neighbors.
    Graph(Vec<c_int>),
    /// Distributed graph: the caller's sources and targets, and their weights.
    DistGraph {
        /// Ranks of the sources.
        sources: Vec<c_int>,
        /// Ranks of the targets.
        targets: Vec<c_int>,
        /// Weights of both, if any.
        weights: Option<(Vec<c_int>, Vec<c_int>)>,
    },
}

/// Returns the topology of a communicator.
pub fn get(comm: Communicator) -> Result<Topology> {
    let (mut kind, communicator) = (0, comm);
    let comm = comm.raw();
    // SAFETY: a live communicator; results are locals, or vectors of the given
    // lengths.
    unsafe {
        check(mpi_sys::MPI_Topo_test(comm, &mut kind), "MPI_Topo_test")?;
        if kind == RSMPI_CART {
            let mut n = 0;
            check(mpi_sys::MPI_Cartdim_get(comm, &mut n), "MPI_Cartdim_get")?;
            let length = to_usize(n);
            let (mut dims, mut periods, mut coords) = (vec![0; length], vec![0; length], vec![0; length]);
            if n > 0 {
                check(
                    mpi_sys::MPI_Cart_get(comm, n, dims.as_mut_ptr(), periods.as_mut_ptr(), coords.as_mut_ptr()),
                    "MPI_Cart_get",
                )?;
            }
            Ok(Topology::Cartesian(
                dims.iter().map(|&d: &c_int| to_u32(d)).collect(),
                periods.iter().map(|&p: &c_int| p != 0).collect(),
            ))
        } else if kind == RSMPI_GRAPH {
            let (rank, mut n) = (to_int(communicator.rank()?), 0);
            check(mpi_sys::MPI_Graph_neighbors_count(comm, rank, &mut n), "MPI_Graph_neighbors_count")?;
            let mut neighbors = vec![0; to_usize(n)];
            check(mpi_sys::MPI_Graph_neighbors(comm, rank, n, neighbors.as_mut_ptr()), "MPI_Graph_neighbors")?;
            Ok(Topology::Graph(neighbors))
        } else if kind == RSMPI_DIST_GRAPH {
            let (mut n, mut m, mut weighted) = (0, 0, 0);
            check(
                mpi_sys::MPI_Dist_graph_neighbors_count(comm, &mut n, &mut m, &mut weighted),
                "MPI_Dist_graph_neighbors_count",
            )?;
            // one spare entry: some versions require arrays even for degree 0
            let list = |n: c_int| vec![0; to_usize(n) + 1];
            let (mut sources, mut targets, mut from, mut to) = (list(n), list(m), list(n), list(m));
            let unweighted = RSMPI_UNWEIGHTED();
            let (at_from, at_to) = if weighted != 0 { (from.as_mut_ptr(), to.as_mut_ptr()) } else { (unweighted, unweighted) };
            check(
                mpi_sys::MPI_Dist_graph_neighbors(comm, n, sources.as_mut_ptr(), at_from, m, targets.as_mut_ptr(), at_to),
                "MPI_Dist_graph_neighbors",
            )?;
            for (list, n) in [(&mut sources, n), (&mut targets, m), (&mut from, n), (&mut to, m)] {
                list.truncate(to_usize(n));
            }
            Ok(Topology::DistGraph { sources, targets, weights: (weighted != 0).then_some((from, to)) })
        } else {
            Ok(Topology::None)
        }
    }
}

/// `MPI_UNWEIGHTED`.
pub fn unweighted() -> *const c_int {
    RSMPI_UNWEIGHTED().cast_const()
}

unsafe extern "C" {
    safe fn mpixn_weights_empty() -> *const c_int;
}

/// Returns true if a weights argument is `MPI_WEIGHTS_EMPTY`.
pub fn is_weights_empty(weights: *const c_int) -> bool {
    weights == mpixn_weights_empty()
}

/// Returns true if a weights argument is `MPI_UNWEIGHTED`.
pub fn is_unweighted(weights: *const c_int) -> bool {
    weights == unweighted()
}
