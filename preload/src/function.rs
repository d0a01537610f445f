//! The functions that this library takes over, and their names.

use std::fmt::{self, Write};

/// A function that this library takes over, as the report names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// `MPI_Neighbor_allgather`
    Allgather,
    /// `MPI_Neighbor_allgatherv`
    Allgatherv,
    /// `MPI_Neighbor_alltoall`
    Alltoall,
    /// `MPI_Neighbor_alltoallv`
    Alltoallv,
    /// `MPI_Neighbor_alltoallw`
    Alltoallw,
    /// `MPI_Alltoallv` with few blocks
    SparseAlltoallv,
    /// `MPI_Alltoallw` with few blocks
    SparseAlltoallw,
}

/// When a call completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Before it returns.
    Blocking,
    /// When its request does.
    Nonblocking,
    /// When its request does, each time that it is started.
    Persistent,
}

const KINDS: usize = 7;
const MODES: usize = 3;
/// Number of rows in the report.
pub const ROWS: usize = KINDS * MODES;

/// Base names, by function. Each has one name for each mode.
const NAMES: [&str; KINDS] = [
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "alltoallv",
    "alltoallw",
];

/// The name of a row's function. Written without allocating, as a signal handler must.
#[derive(Clone, Copy)]
pub struct Name(pub usize);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (function, mode) = (NAMES[self.0 / MODES], self.0 % MODES);
        let (first, rest) = function.split_at(1);
        let first = first.chars().next().map_or(' ', |c| c.to_ascii_uppercase());
        match mode {
            0 => write!(f, "MPI_{first}{rest}"),
            1 => write!(f, "MPI_I{function}"),
            _ => write!(f, "MPI_{first}{rest}_init"),
        }
    }
}

/// A name, filled up with spaces.
pub struct Wide(pub usize);

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        /// Width of the longest name.
        const WIDTH: usize = 28;
        let (function, mode) = (NAMES[self.0 / MODES].len(), self.0 % MODES);
        let length = function + [4, 5, 9][mode];
        write!(f, "{}", Name(self.0))?;
        (length..WIDTH).try_for_each(|_| f.write_char(' '))
    }
}

/// The row of a function.
pub fn index(function: Function, mode: Mode) -> usize {
    function as usize * MODES + mode as usize
}
