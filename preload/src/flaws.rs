//! Known bugs of MPIs in neighborhood collectives. Only the report depends on them.

use std::ffi::c_int;

use mpix_neighbor::util::cast::to_usize;

use mpi_sys::MPI_Comm;

use crate::function::{Function, Mode};

/// The properties of a communicator's topology that bugs depend on.
#[derive(Debug, Default)]
pub struct Facts {
    /// Number of periodic Cartesian dimensions in which both neighbors are the same process.
    short: usize,
    /// True for a graph in which this process has several edges from or to the same process.
    repeated: bool,
    /// True for a distributed graph whose indegree and outdegree differ.
    unequal: bool,
}

/// A known bug.
pub struct Flaw {
    /// Its description.
    pub text: &'static str,
    /// True for the calls that it affects.
    pub applies: fn(Function, Mode, &Facts) -> bool,
}

/// The MPI, and the version in which this was seen.
#[cfg(open_mpi)]
pub const MPI: &str = "Open MPI (seen in 4.1.4)";
/// The MPI, and the version in which this was seen.
#[cfg(mpich)]
pub const MPI: &str = "MPICH (seen in 4.0.2)";
/// The MPI.
#[cfg(not(any(open_mpi, mpich)))]
pub const MPI: &str = "the MPI";

#[cfg(open_mpi)]
fn is_alltoall(function: Function) -> bool {
    matches!(function, Function::Alltoall | Function::Alltoallv | Function::Alltoallw)
}

/// Known bugs of Open MPI.
#[cfg(open_mpi)]
pub const FLAWS: [Flaw; 2] = [
    Flaw {
        text: "nonblocking and persistent alltoall on Cartesian communicators with periodic dimensions of 1 or 2 processes exchange the two blocks",
        applies: |function, mode, facts| is_alltoall(function) && mode != Mode::Blocking && facts.short > 0,
    },
    Flaw {
        text: "MPI_Ineighbor_alltoallw uses the caller's arrays of counts, displacements and datatypes after it has returned",
        applies: |function, mode, _| function == Function::Alltoallw && mode == Mode::Nonblocking,
    },
];

/// Known bugs of MPICH.
#[cfg(mpich)]
pub const FLAWS: [Flaw; 4] = [
    Flaw {
        text: "alltoallv and alltoallw on Cartesian communicators with a periodic dimension of 1 or 2 processes exchange the two blocks",
        applies: |function, _, facts| matches!(function, Function::Alltoallv | Function::Alltoallw) && facts.short > 0,
    },
    Flaw {
        text: "alltoall on Cartesian communicators with several periodic dimensions of 1 or 2 processes exchanges blocks of different dimensions",
        applies: |function, _, facts| function == Function::Alltoall && facts.short > 1,
    },
    Flaw {
        text: "MPI_Neighbor_alltoall on graphs with repeated edges exchanges the blocks of these edges",
        applies: |function, _, facts| function == Function::Alltoall && facts.repeated,
    },
    Flaw {
        text: "collectives on distributed graphs with other degrees in than out give wrong data",
        applies: |_, _, facts| facts.unequal,
    },
];

/// No bugs are known of other MPIs.
#[cfg(not(any(open_mpi, mpich)))]
pub const FLAWS: [Flaw; 0] = [];

/// True if the MPI gets a blocking call wrong.
pub fn any(function: Function, facts: &Facts) -> bool {
    FLAWS.iter().any(|flaw| (flaw.applies)(function, Mode::Blocking, facts))
}

/// Collects the facts about a communicator with these sources and targets.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn facts(comm: MPI_Comm, sources: &[c_int], targets: &[c_int]) -> Facts {
    let mut facts = Facts::default();
    let mut topology = 0;
    // SAFETY: the caller vouches for `comm`; results are locals or vectors of the lengths that are
    // said; constants of mpi-sys' C file.
    unsafe {
        mpi_sys::MPI_Topo_test(comm, &mut topology);
        if topology == mpi_sys::RSMPI_CART {
            let mut n = 0;
            mpi_sys::MPI_Cartdim_get(comm, &mut n);
            let mut lists = [0; 3].map(|_: i32| vec![0 as c_int; to_usize(n.max(1))]);
            let [dims, periods, coords] = &mut lists;
            if n > 0 {
                mpi_sys::MPI_Cart_get(comm, n, dims.as_mut_ptr(), periods.as_mut_ptr(), coords.as_mut_ptr());
                facts.short = dims.iter().zip(periods.iter()).filter(|&(&d, &p)| p != 0 && d <= 2).count();
            }
        } else {
            facts.repeated = repeats(sources) || repeats(targets);
            facts.unequal = sources.len() != targets.len();
        }
    }
    facts
}

fn repeats(ranks: &[c_int]) -> bool {
    /// Longer lists are sorted.
    const SHORT: usize = 16;
    if ranks.len() <= SHORT {
        return ranks.iter().enumerate().any(|(k, rank)| ranks[..k].contains(rank));
    }
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
