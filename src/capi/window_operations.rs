//! Operations on elements of sparse windows.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use crate::capi::window::{MPIX_Sparse_window, Pointers, issue};
use crate::mpi::{MPI_Aint, MPI_Count, MPI_Op};
use crate::window::batch::Kind;

/// Stores values in elements of a process.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_put(
    origin: *const c_void,
    count: c_int,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_put", Pointers { origin, compare: null(), result: null_mut() });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::Put, None, &pointers, count.into(), target, indices, window) }
}

/// `MPIX_Sparse_window_put` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_put_c(
    origin: *const c_void,
    count: MPI_Count,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_put_c", Pointers { origin, compare: null(), result: null_mut() });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::Put, None, &pointers, count, target, indices, window) }
}

/// Reads elements of a process.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, and
/// results be left alone until the window is flushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_get(
    result: *mut c_void,
    count: c_int,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_get", Pointers { origin: null(), compare: null(), result });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::Get, None, &pointers, count.into(), target, indices, window) }
}

/// `MPIX_Sparse_window_get` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, and
/// results be left alone until the window is flushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_get_c(
    result: *mut c_void,
    count: MPI_Count,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_get_c", Pointers { origin: null(), compare: null(), result });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::Get, None, &pointers, count, target, indices, window) }
}

/// Combines values with elements of a process.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_accumulate(
    origin: *const c_void,
    count: c_int,
    target: c_int,
    indices: *const MPI_Aint,
    op: MPI_Op,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_accumulate", Pointers { origin, compare: null(), result: null_mut() });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::Accumulate, Some(op), &pointers, count.into(), target, indices, window) }
}

/// `MPIX_Sparse_window_accumulate` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_accumulate_c(
    origin: *const c_void,
    count: MPI_Count,
    target: c_int,
    indices: *const MPI_Aint,
    op: MPI_Op,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_accumulate_c", Pointers { origin, compare: null(), result: null_mut() });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::Accumulate, Some(op), &pointers, count, target, indices, window) }
}

/// Reads elements of a process, and combines values with them.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, and
/// results be left alone until the window is flushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_fetch_and_op(
    origin: *const c_void,
    result: *mut c_void,
    count: c_int,
    target: c_int,
    indices: *const MPI_Aint,
    op: MPI_Op,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_fetch_and_op", Pointers { origin, compare: null(), result });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::FetchAndOp, Some(op), &pointers, count.into(), target, indices, window) }
}

/// `MPIX_Sparse_window_fetch_and_op` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, and
/// results be left alone until the window is flushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_fetch_and_op_c(
    origin: *const c_void,
    result: *mut c_void,
    count: MPI_Count,
    target: c_int,
    indices: *const MPI_Aint,
    op: MPI_Op,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_fetch_and_op_c", Pointers { origin, compare: null(), result });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::FetchAndOp, Some(op), &pointers, count, target, indices, window) }
}

/// Reads elements of a process, and stores values in those that equal what they are compared with.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, and
/// results be left alone until the window is flushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_compare_and_swap(
    origin: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    count: c_int,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_compare_and_swap", Pointers { origin, compare, result });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::CompareAndSwap, None, &pointers, count.into(), target, indices, window) }
}

/// `MPIX_Sparse_window_compare_and_swap` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid, arrays and buffers as large as documented, and
/// results be left alone until the window is flushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_compare_and_swap_c(
    origin: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    count: MPI_Count,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    let (function, pointers) = ("MPIX_Sparse_window_compare_and_swap_c", Pointers { origin, compare, result });
    // SAFETY: the caller vouches for the arguments.
    unsafe { issue(function, Kind::CompareAndSwap, None, &pointers, count, target, indices, window) }
}
