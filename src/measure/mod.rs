//! Measurements for programs and for the command-line tool: sessions, and sparse exchanges.

pub mod session;
mod sparse;

/// The MPI that the library was built for, and the one that is loaded. MPI need not be initialized.
pub fn libraries() -> (String, String) {
    (crate::mpi::family::built_for(), crate::mpi::library_version())
}
