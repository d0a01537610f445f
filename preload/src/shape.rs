//! The topology of a communicator, as one process sees it.

use std::ffi::c_int;

use mpi_sys::MPI_Comm;
use mpix_neighbor::util::cast::{to_int, to_usize};

use crate::errors::SUCCESS;

/// What a process knows about a topology: communicators of the same processes in the same order
/// have one topology if the shapes are equal on each of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape(Vec<c_int>);

impl Shape {
    /// The shape of a communicator; `None` if it has no topology, or the MPI does not tell.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn of(comm: MPI_Comm) -> Option<Shape> {
        let (mut kind, mut rank, mut size) = (0, 0, 0);
        // SAFETY: the caller vouches for `comm`; results are locals, or vectors that are longer than
        // is said, as some versions want arrays also for nothing; constants of mpi-sys' C file.
        unsafe {
            done(mpi_sys::MPI_Topo_test(comm, &mut kind))?;
            done(mpi_sys::MPI_Comm_rank(comm, &mut rank))?;
            done(mpi_sys::MPI_Comm_size(comm, &mut size))?;
            let mut shape = vec![kind, rank, size];
            let list = |length: c_int| vec![0 as c_int; to_usize(length) + 1];
            if kind == mpi_sys::RSMPI_CART {
                let mut n = 0;
                done(mpi_sys::MPI_Cartdim_get(comm, &mut n))?;
                let (mut dims, mut periods, mut coords) = (list(n), list(n), list(n));
                if n > 0 {
                    done(mpi_sys::MPI_Cart_get(comm, n, dims.as_mut_ptr(), periods.as_mut_ptr(), coords.as_mut_ptr()))?;
                }
                shape.extend([dims, periods].concat());
            } else if kind == mpi_sys::RSMPI_GRAPH {
                let mut n = 0;
                done(mpi_sys::MPI_Graph_neighbors_count(comm, rank, &mut n))?;
                let mut neighbors = list(n);
                done(mpi_sys::MPI_Graph_neighbors(comm, rank, n, neighbors.as_mut_ptr()))?;
                shape.extend(neighbors);
            } else if kind == mpi_sys::RSMPI_DIST_GRAPH {
                let (mut n, mut m, mut weighted) = (0, 0, 0);
                done(mpi_sys::MPI_Dist_graph_neighbors_count(comm, &mut n, &mut m, &mut weighted))?;
                let (mut sources, mut targets, mut from, mut to) = (list(n), list(m), list(n), list(m));
                let unweighted = mpi_sys::RSMPI_UNWEIGHTED();
                let (at_from, at_to) =
                    if weighted != 0 { (from.as_mut_ptr(), to.as_mut_ptr()) } else { (unweighted, unweighted) };
                done(mpi_sys::MPI_Dist_graph_neighbors(comm, n, sources.as_mut_ptr(), at_from, m, targets.as_mut_ptr(), at_to))?;
                // lengths tell where one list ends and the next begins
                shape.extend([weighted, n, to_int(targets.len())]);
                shape.extend([sources, targets, from, to].concat());
            } else {
                return None;
            }
            Some(Shape(shape))
        }
    }
}

/// `None` if a call has failed.
fn done(code: c_int) -> Option<()> {
    (code == SUCCESS).then_some(())
}
