//! Virtual topologies of communicators.

use std::ffi::c_int;

use super::comm::Communicator;
use super::constants::{RSMPI_CART, RSMPI_DIST_GRAPH, RSMPI_GRAPH, RSMPI_UNWEIGHTED};
use super::family::has_flawed_topologies;
use super::{check, errors, success};
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
    let (kind, communicator) = (kind(comm)?, comm);
    let comm = comm.raw();
    // SAFETY: a live communicator; results are locals, or vectors of the given
    // lengths.
    unsafe {
        if kind == RSMPI_CART {
            Ok(grid(communicator)?.map_or(Topology::None, |(dims, periodic)| Topology::Cartesian(dims, periodic)))
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
            let (mut sources, mut targets) = (list(n), list(m));
            let mut weights = (weighted != 0).then(|| (list(n), list(m)));
            let unweighted = RSMPI_UNWEIGHTED();
            let (at_from, at_to) =
                weights.as_mut().map_or((unweighted, unweighted), |(from, to)| (from.as_mut_ptr(), to.as_mut_ptr()));
            check(
                mpi_sys::MPI_Dist_graph_neighbors(comm, n, sources.as_mut_ptr(), at_from, m, targets.as_mut_ptr(), at_to),
                "MPI_Dist_graph_neighbors",
            )?;
            let weights_of = weights.iter_mut().flat_map(|(from, to)| [(from, n), (to, m)]);
            for (list, n) in [(&mut sources, n), (&mut targets, m)].into_iter().chain(weights_of) {
                list.truncate(to_usize(n));
            }
            Ok(Topology::DistGraph { sources, targets, weights })
        } else {
            Ok(Topology::None)
        }
    }
}

/// Returns the numbers of processes along the dimensions of a Cartesian communicator, and which
/// dimensions are periodic. `None` for any other communicator.
pub fn cartesian(comm: Communicator) -> Result<Option<(Vec<u32>, Vec<bool>)>> {
    if kind(comm)? == RSMPI_CART { grid(comm) } else { Ok(None) }
}

/// The kind of topology, as MPI names it, or would if it were right.
fn kind(comm: Communicator) -> Result<c_int> {
    let mut kind = 0;
    // SAFETY: a live communicator; the result is a local.
    check(unsafe { mpi_sys::MPI_Topo_test(comm.raw(), &mut kind) }, "MPI_Topo_test")?;
    let is_doubtful = (kind == RSMPI_CART || kind == RSMPI_GRAPH) && has_flawed_topologies();
    Ok(if is_doubtful && is_dist_graph(comm)? { RSMPI_DIST_GRAPH } else { kind })
}

/// Returns true if MPI answers as for a distributed graph, whatever it says of the kind. The
/// program's error handler is not called.
fn is_dist_graph(comm: Communicator) -> Result<bool> {
    let (mut n, mut m, mut weighted) = (0, 0, 0);
    errors::returning(comm, || {
        // SAFETY: a live communicator; results are locals.
        let code = unsafe { mpi_sys::MPI_Dist_graph_neighbors_count(comm.raw(), &mut n, &mut m, &mut weighted) };
        Ok(code == success())
    })
}

/// Returns the grid of a communicator that MPI calls Cartesian, as [`cartesian`].
///
/// `None` for a grid of another number of processes: Open MPI 4.1.4 and 5.0.11 give what
/// `MPI_Comm_create_group` makes the grid of the communicator that it was made from
/// (`c_tests/c/topologies.c`). Of graphs, MPI returns nothing that could be compared.
fn grid(comm: Communicator) -> Result<Option<(Vec<u32>, Vec<bool>)>> {
    let mut n = 0;
    // SAFETY: a live communicator; results are locals, or vectors of the given lengths.
    unsafe {
        check(mpi_sys::MPI_Cartdim_get(comm.raw(), &mut n), "MPI_Cartdim_get")?;
        let list = || vec![0; to_usize(n)];
        let (mut dims, mut periods, mut coords) = (list(), list(), list());
        if n > 0 {
            let code = mpi_sys::MPI_Cart_get(comm.raw(), n, dims.as_mut_ptr(), periods.as_mut_ptr(), coords.as_mut_ptr());
            check(code, "MPI_Cart_get")?;
        }
        let dims: Vec<u32> = dims.iter().map(|&d: &c_int| to_u32(d)).collect();
        let periodic = periods.iter().map(|&p: &c_int| p != 0).collect();
        Ok((dims.iter().try_fold(1, |cells: u32, &d| cells.checked_mul(d)) == Some(comm.size()?)).then_some((dims, periodic)))
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
