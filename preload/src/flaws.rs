//! What MPIs are known to do wrong in neighborhood collectives. For the report: nothing else
//! depends on it.

use std::ffi::c_int;

use mpi_sys::MPI_Comm;

use crate::function::{Kind, Mode};

/// What matters of a communicator's topology.
#[derive(Debug, Default)]
pub struct Facts {
    /// Periodic Cartesian dimensions in which both neighbors are the same process.
    short: usize,
    /// A graph in which the caller has several edges from or to a process.
    repeated: bool,
    /// A distributed graph with other degrees in than out.
    unequal: bool,
}

/// Something that the MPI does wrong.
pub struct Flaw {
    /// In words.
    pub text: &'static str,
    /// For which calls.
    pub applies: fn(Kind, Mode, &Facts) -> bool,
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
fn is_alltoall(kind: Kind) -> bool {
    matches!(kind, Kind::Alltoall | Kind::Alltoallv | Kind::Alltoallw)
}

/// What is known of Open MPI.
#[cfg(open_mpi)]
pub const FLAWS: [Flaw; 2] = [
    Flaw {
        text: "nonblocking and persistent alltoall on Cartesian communicators with periodic dimensions of 1 or 2 processes exchange the two blocks",
        applies: |kind, mode, facts| is_alltoall(kind) && mode != Mode::Blocking && facts.short > 0,
    },
    Flaw {
        text: "MPI_Ineighbor_alltoallw uses the caller's arrays of counts, displacements and datatypes after it has returned",
        applies: |kind, mode, _| kind == Kind::Alltoallw && mode == Mode::Nonblocking,
    },
];

/// What is known of MPICH.
#[cfg(mpich)]
pub const FLAWS: [Flaw; 4] = [
    Flaw {
        text: "alltoallv and alltoallw on Cartesian communicators with a periodic dimension of 1 or 2 processes exchange the two blocks",
        applies: |kind, _, facts| matches!(kind, Kind::Alltoallv | Kind::Alltoallw) && facts.short > 0,
    },
    Flaw {
        text: "alltoall on Cartesian communicators with several periodic dimensions of 1 or 2 processes exchanges blocks of different dimensions",
        applies: |kind, _, facts| kind == Kind::Alltoall && facts.short > 1,
    },
    Flaw {
        text: "MPI_Neighbor_alltoall on graphs with repeated edges exchanges the blocks of these edges",
        applies: |kind, _, facts| kind == Kind::Alltoall && facts.repeated,
    },
    Flaw {
        text: "collectives on distributed graphs with other degrees in than out give wrong data",
        applies: |_, _, facts| facts.unequal,
    },
];

/// What is known of other MPIs.
#[cfg(not(any(open_mpi, mpich)))]
pub const FLAWS: [Flaw; 0] = [];

/// Whether the MPI gets a blocking call wrong.
pub fn any(kind: Kind, facts: &Facts) -> bool {
    FLAWS.iter().any(|flaw| (flaw.applies)(kind, Mode::Blocking, facts))
}

/// Looks at a communicator, of which the ranks of sources and targets are known.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn facts(comm: MPI_Comm, sources: &[c_int], targets: &[c_int]) -> Facts {
    let mut facts = Facts::default();
    let mut kind = 0;
    // SAFETY: the caller vouches for `comm`; results are locals or vectors of the lengths that are
    // said; constants of mpi-sys' C file.
    unsafe {
        mpi_sys::MPI_Topo_test(comm, &mut kind);
        if kind == mpi_sys::RSMPI_CART {
            let mut n = 0;
            mpi_sys::MPI_Cartdim_get(comm, &mut n);
            let mut lists = [0; 3].map(|_: i32| vec![0 as c_int; n.max(1) as usize]);
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
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
