//! Error codes and error handlers.

use std::ffi::c_int;

use mpi_sys::MPI_Comm;

use crate::guard;

/// `MPI_SUCCESS`.
pub const SUCCESS: c_int = mpi_sys::MPI_SUCCESS.cast_signed();

/// The class of an error code.
pub fn class(code: c_int) -> c_int {
    let mut class = code;
    // SAFETY: the result is a local; on failure the code stands for itself.
    unsafe { mpi_sys::MPI_Error_class(code, &mut class) };
    class
}

/// True if an error of this class concerns the arguments, and so was found before anything was
/// sent.
pub fn is_of_arguments(class: c_int) -> bool {
    let classes = [
        mpi_sys::MPI_ERR_BUFFER,
        mpi_sys::MPI_ERR_COUNT,
        mpi_sys::MPI_ERR_TYPE,
        mpi_sys::MPI_ERR_ARG,
        mpi_sys::MPI_ERR_TOPOLOGY,
        mpi_sys::MPI_ERR_COMM,
        mpi_sys::MPI_ERR_OP,
        mpi_sys::MPI_ERR_RANK,
    ];
    classes.iter().any(|c| c.cast_signed() == class)
}

/// Calls the communicator's error handler with a class, and returns it.
///
/// # Safety
/// `comm` must be a communicator.
#[cold]
pub unsafe fn raise(comm: MPI_Comm, class: c_int) -> c_int {
    // SAFETY: the caller vouches for `comm`. The handler is the program's: it is not inside.
    unsafe { mpi_sys::MPI_Comm_call_errhandler(comm, class) };
    class
}

/// Makes a call on a program's communicator without invoking its error handler, which is restored.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn quietly(comm: MPI_Comm, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller vouches for `comm`; the handle is a local.
    unsafe {
        let mut handler = mpi_sys::RSMPI_ERRORS_RETURN;
        let asked = mpi_sys::MPI_Comm_get_errhandler(comm, &mut handler);
        if asked != SUCCESS {
            return asked;
        }
        mpi_sys::MPI_Comm_set_errhandler(comm, mpi_sys::RSMPI_ERRORS_RETURN);
        let code = call();
        mpi_sys::MPI_Comm_set_errhandler(comm, handler);
        mpi_sys::MPI_Errhandler_free(&mut handler);
        code
    }
}

/// Ends a call with the code of our own function. The MPI reports invalid arguments in its own way.
///
/// # Safety
/// As for `raise`.
#[inline]
pub unsafe fn finish(code: c_int, comm: MPI_Comm, native: impl FnOnce() -> c_int) -> c_int {
    if code == SUCCESS {
        return code;
    }
    let class = {
        let _inside = guard::enter();
        class(code)
    };
    if is_of_arguments(class) {
        return native();
    }
    // SAFETY: the caller vouches for `comm`.
    unsafe { raise(comm, class) }
}
