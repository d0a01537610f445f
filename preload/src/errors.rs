//! Error codes and error handlers.

use std::ffi::c_int;

use mpi_sys::MPI_Comm;
use mpix_neighbor::capi::preload;
use mpix_neighbor::util::cast::to_usize;
use mpix_neighbor::util::say::say;

use crate::function::Name;
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
/// sent. What else the calls take is the library's own.
pub fn is_of_arguments(class: c_int) -> bool {
    let classes = [mpi_sys::MPI_ERR_BUFFER, mpi_sys::MPI_ERR_COUNT, mpi_sys::MPI_ERR_TYPE, mpi_sys::MPI_ERR_ARG];
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

/// Says what the library knows of an error, if the error handler of the program's communicator ends
/// the program: the MPI then names no function but `MPI_Comm_call_errhandler`. `on`: the library's
/// own communicator, which has the text.
///
/// # Safety
/// Both must be communicators.
#[cold]
pub unsafe fn explain(comm: MPI_Comm, on: MPI_Comm, function: Name) {
    // SAFETY: the caller vouches for both.
    unsafe { say_if_fatal(comm, function, || preload::last_error(on)) };
}

/// Same as above, of an error that the library has found itself.
///
/// # Safety
/// `comm` must be a communicator.
#[cold]
pub unsafe fn say_if_fatal(comm: MPI_Comm, function: Name, text: impl FnOnce() -> String) {
    let _inside = guard::enter();
    // SAFETY: the caller vouches for `comm`; all else are locals, the name as long as any.
    unsafe {
        if !preload::is_fatal(comm) {
            return;
        }
        let (mut rank, mut length, mut name) = (0, 0, [0u8; mpi_sys::MPI_MAX_OBJECT_NAME as usize]);
        mpi_sys::MPI_Comm_rank(mpi_sys::RSMPI_COMM_WORLD, &mut rank);
        mpi_sys::MPI_Comm_get_name(comm, name.as_mut_ptr().cast(), &mut length);
        let name = String::from_utf8_lossy(&name[..to_usize(length.max(0)).min(name.len())]);
        let text = text();
        say(&format!("mpix-neighbor preload: process {rank}: {function} on \"{name}\": {text}\n"));
    }
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

/// Ends a call of the program's function on `comm` with the code of our own function `on` another
/// one. The MPI reports invalid arguments in its own way.
///
/// # Safety
/// Both must be communicators.
#[inline]
pub unsafe fn finish(code: c_int, [comm, on]: [MPI_Comm; 2], function: Name, native: impl FnOnce() -> c_int) -> c_int {
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
    // SAFETY: the caller vouches for both.
    unsafe {
        explain(comm, on, function);
        raise(comm, class)
    }
}
