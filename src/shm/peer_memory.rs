//! Reads the memory of another process of the node: one copy, made by the kernel, while the other
//! process does something else.
//!
//! Linux permits `process_vm_readv` to processes of one user, unless a security module (Yama's
//! `ptrace_scope`) or a container's filter of system calls forbids it: it has to be tried.
//!
//! Cost: a system call, one copy, and a look at each page of the other process.

// models and tests use less of it
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

use std::io;

/// A span of bytes, in this process or in the other one.
pub type Span = libc::iovec;

/// Most spans that one call takes on each side.
pub const MOST_SPANS: usize = 1024;

/// Returns the span of `bytes` bytes at `at`.
pub fn span(at: *mut u8, bytes: usize) -> Span {
    libc::iovec { iov_base: at.cast(), iov_len: bytes }
}

/// Copies the bytes of `process` in the spans `from` to those in `into`, one after the other, and
/// returns how many bytes were copied: fewer than asked for if a span cannot be read to its end.
///
/// # Safety
/// The spans `into` must be writable, and nobody else may access them. (The kernel checks those of
/// the other process.)
pub unsafe fn read(process: u32, into: &[Span], from: &[Span]) -> io::Result<usize> {
    let (here, there) = (into.len().min(MOST_SPANS), from.len().min(MOST_SPANS));
    // SAFETY: the caller vouches for the memory of this process; there are no flags.
    let copied = unsafe { libc::process_vm_readv(process.cast_signed(), into.as_ptr(), here as _, from.as_ptr(), there as _, 0) };
    usize::try_from(copied).map_err(|_| io::Error::last_os_error())
}
