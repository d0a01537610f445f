//! The topology of a communicator, as one process sees it.

use std::ffi::c_int;

use mpi_sys::MPI_Comm;
use mpix_neighbor::util::cast::to_usize;

use crate::errors::SUCCESS;

/// What a process knows about a topology: communicators of the same processes in the same order
/// have one topology if the shapes are equal on each of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    kind: c_int,
    rank: c_int,
    size: c_int,
    /// Sizes of the dimensions, and 1 for those that are periodic, if it is Cartesian.
    grid: Vec<c_int>,
    /// The process's edges otherwise.
    pub edges: Option<Edges>,
}

/// The edges of a process in a graph.
#[derive(Debug, PartialEq, Eq)]
pub struct Edges {
    /// Ranks that edges come from.
    pub sources: Vec<c_int>,
    /// Ranks that edges go to.
    pub targets: Vec<c_int>,
    /// Weights of both, if any.
    pub weights: Option<(Vec<c_int>, Vec<c_int>)>,
}

impl Shape {
    /// The shape of a communicator; `None` if it has no topology, or the MPI does not tell.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn of(comm: MPI_Comm) -> Option<Shape> {
        let mut shape = Shape { kind: 0, rank: 0, size: 0, grid: Vec::new(), edges: None };
        let Shape { kind, rank, size, .. } = &mut shape;
        // one more than is said, as some versions want arrays also for nothing
        let list = |length: c_int| vec![0 as c_int; to_usize(length) + 1];
        let cut = |mut list: Vec<c_int>, length: c_int| {
            list.truncate(to_usize(length));
            list
        };
        // SAFETY: the caller vouches for `comm`; results are locals, or vectors that are as long as
        // is said; constants of mpi-sys' C file.
        unsafe {
            done(mpi_sys::MPI_Topo_test(comm, kind))?;
            done(mpi_sys::MPI_Comm_rank(comm, rank))?;
            done(mpi_sys::MPI_Comm_size(comm, size))?;
            let (mut n, mut m, mut weighted) = (0, 0, 0);
            if *kind == mpi_sys::RSMPI_CART {
                done(mpi_sys::MPI_Cartdim_get(comm, &mut n))?;
                let (mut dims, mut periods, mut coords) = (list(n), list(n), list(n));
                if n > 0 {
                    done(mpi_sys::MPI_Cart_get(comm, n, dims.as_mut_ptr(), periods.as_mut_ptr(), coords.as_mut_ptr()))?;
                }
                shape.grid = [dims, periods].concat();
            } else if *kind == mpi_sys::RSMPI_GRAPH {
                done(mpi_sys::MPI_Graph_neighbors_count(comm, *rank, &mut n))?;
                let mut neighbors = list(n);
                done(mpi_sys::MPI_Graph_neighbors(comm, *rank, n, neighbors.as_mut_ptr()))?;
                let neighbors = cut(neighbors, n);
                shape.edges = Some(Edges { sources: neighbors.clone(), targets: neighbors, weights: None });
            } else if *kind == mpi_sys::RSMPI_DIST_GRAPH {
                done(mpi_sys::MPI_Dist_graph_neighbors_count(comm, &mut n, &mut m, &mut weighted))?;
                let (mut sources, mut targets, mut from, mut to) = (list(n), list(m), list(n), list(m));
                let none = mpi_sys::RSMPI_UNWEIGHTED();
                let weights = if weighted != 0 { [from.as_mut_ptr(), to.as_mut_ptr()] } else { [none; 2] };
                let (into_sources, into_targets) = (sources.as_mut_ptr(), targets.as_mut_ptr());
                done(mpi_sys::MPI_Dist_graph_neighbors(comm, n, into_sources, weights[0], m, into_targets, weights[1]))?;
                let weights = (weighted != 0).then(|| (cut(from, n), cut(to, m)));
                shape.edges = Some(Edges { sources: cut(sources, n), targets: cut(targets, m), weights });
            } else {
                return None;
            }
        }
        Some(shape)
    }

    /// True if both are graphs of as many processes, in which the process has the same rank.
    pub fn is_like(&self, other: &Shape) -> bool {
        let key = |shape: &Shape| (shape.kind, shape.rank, shape.size, shape.edges.is_some());
        key(self) == key(other) && self.edges.is_some()
    }
}

/// `None` if a call has failed.
fn done(code: c_int) -> Option<()> {
    (code == SUCCESS).then_some(())
}
