//! Constants of MPI that mpi-sys' C file defines. They are declared here once more, as safe to
//! read: each is initialized before the program runs and never changes.

#![allow(missing_docs)]

use std::ffi::c_int;

use mpi_sys::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request, MPI_Status, MPI_Win,
};

// types and names are those of mpi-sys' `rsmpi.h`; the functions take nothing.
unsafe extern "C" {
    pub safe static RSMPI_DATATYPE_NULL: MPI_Datatype;
    pub safe static RSMPI_DOUBLE: MPI_Datatype;
    pub safe static RSMPI_INT64_T: MPI_Datatype;
    pub safe static RSMPI_UINT32_T: MPI_Datatype;
    pub safe static RSMPI_UINT64_T: MPI_Datatype;

    pub safe static RSMPI_COMM_NULL: MPI_Comm;
    pub safe static RSMPI_IDENT: c_int;
    pub safe static RSMPI_CONGRUENT: c_int;
    pub safe static RSMPI_UNEQUAL: c_int;
    pub safe static RSMPI_CART: c_int;
    pub safe static RSMPI_DIST_GRAPH: c_int;
    pub safe static RSMPI_GRAPH: c_int;
    pub safe static RSMPI_GROUP_NULL: MPI_Group;

    pub safe static RSMPI_ANY_SOURCE: c_int;
    pub safe static RSMPI_ANY_TAG: c_int;
    pub safe static RSMPI_PROC_NULL: c_int;
    pub safe static RSMPI_UNDEFINED: c_int;
    pub safe static RSMPI_MESSAGE_NULL: MPI_Message;
    pub safe static RSMPI_REQUEST_NULL: MPI_Request;
    pub safe static RSMPI_STATUS_IGNORE: *mut MPI_Status;

    pub safe static RSMPI_MAX: MPI_Op;
    pub safe static RSMPI_MIN: MPI_Op;
    pub safe static RSMPI_SUM: MPI_Op;

    pub safe static RSMPI_ERRORS_ARE_FATAL: MPI_Errhandler;
    pub safe static RSMPI_ERRORS_RETURN: MPI_Errhandler;
    pub safe static RSMPI_INFO_NULL: MPI_Info;
    pub safe static RSMPI_WIN_NULL: MPI_Win;

    pub safe fn RSMPI_UNWEIGHTED() -> *mut c_int;
    pub safe fn RSMPI_Wtime() -> f64;
}
