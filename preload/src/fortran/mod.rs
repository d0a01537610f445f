//! The Fortran names.
//!
//! A call from Fortran reaches the C names only where the MPI's Fortran part calls them. Open MPI's
//! calls `PMPI_*` from all its functions, so that all of them are here. MPICH's calls `MPI_*`, but
//! for those functions of `mpi_f08` that take no buffer; only these are here.
//!
//! Arguments come by reference, handles as integers. `mpi_f08` passes the same: its handles are
//! structures of one integer, and its absent `ierror` is a null pointer. A status has the C
//! structure's layout in all of Fortran's forms. Default integers and logicals are as wide as
//! `int`.

#[cfg(open_mpi)]
mod collectives;
#[cfg(mpich)]
mod descriptors;
mod export;
mod management;
