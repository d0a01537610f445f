//! Constants of MPI, declared as safe to read: each is initialized before the program runs and
//! never changes.

use std::ffi::c_void;

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Request};

// types and names are those of the C files, mpi-sys' and our own.
unsafe extern "C" {
    pub safe static RSMPI_COMM_NULL: MPI_Comm;
    pub safe static RSMPI_DATATYPE_NULL: MPI_Datatype;
    pub safe static RSMPI_REQUEST_NULL: MPI_Request;
    #[cfg(any(open_mpi, mpich))]
    pub safe static mpixp_bottom: *const c_void;
    pub safe static mpixp_in_place: *const c_void;
}
