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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_it_copies_and_what_not() {
        let mut from = [1u8, 2, 3, 4, 5, 6];
        let mut into = [0u8; 6];
        let at = from.as_mut_ptr();
        let (first, second) = (span(at.wrapping_add(3), 3), span(at, 2));
        let here = [span(into.as_mut_ptr(), 1), span(into.as_mut_ptr().wrapping_add(1), 5)];
        // SAFETY: writes `into`, which nobody else accesses.
        let copied = unsafe { read(std::process::id(), &here, &[first, second]) };
        let Ok(copied) = copied else {
            // a process may always read its own memory, unless calls of this kind are forbidden
            return assert!(copied.is_err_and(|e| matches!(e.raw_os_error(), Some(libc::EPERM | libc::ENOSYS))));
        };
        assert_eq!((copied, into), (5, [4, 5, 6, 1, 2, 0]));
        // no address
        // SAFETY: as above.
        let failed = unsafe { read(std::process::id(), &here, &[span(std::ptr::without_provenance_mut(8), 6)]) };
        assert_eq!(failed.map_err(|e| e.raw_os_error()), Err(Some(libc::EFAULT)));
        // no process
        // SAFETY: as above.
        let failed = unsafe { read(i32::MAX.cast_unsigned(), &here, &[first]) };
        assert_eq!(failed.map_err(|e| e.raw_os_error()), Err(Some(libc::ESRCH)));
    }
}
