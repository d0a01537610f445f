//! The Fortran names of MPI's functions.
//!
//! A call from Fortran reaches the C names only if the MPI's Fortran bindings call them. Open MPI's
//! call `PMPI_*` from all functions, so all of them are defined here. MPICH's call `MPI_*`, except
//! for those functions of `mpi_f08` that take no buffer, and `alltoallw`, which fails before; only
//! these are defined here.
//!
//! Arguments come by reference, handles as integers. `mpi_f08` does the same: its handles are
//! structures of one integer, and an absent `ierror` is a null pointer. A status has the layout of
//! the C structure in all Fortran bindings. Default integers and logicals are as wide as `int`.

#[cfg(open_mpi)]
mod collectives;
#[cfg(mpich)]
mod descriptor;
#[cfg(mpich)]
mod descriptors;
mod export;
mod management;
