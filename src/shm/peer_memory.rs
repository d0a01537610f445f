//! Reads the memory of another process of the node: one copy, made by the kernel, while the other
//! process does something else.
//!
//! An [`Identity`] in shared memory says whose memory can be read.
//!
//! Linux permits `process_vm_readv` to processes of one user, unless a security module (Yama's
//! `ptrace_scope`) or a container's filter of system calls forbids it: it has to be tried.
//!
//! Cost: a system call, one copy, and a look at each page of the other process.

// models and tests use less of it
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::util::cast::to_usize;
use crate::util::unique::unique;

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

/// A process, as others on the node know it from shared memory: its number, and an address in its
/// own memory with what is there. All zeros are nobody.
#[repr(C)]
pub struct Identity {
    process: AtomicU32,
    address: AtomicU64,
    token: AtomicU64,
}

/// What a process that reads another's memory must find there. It is no shared memory: in another
/// container, that may be at the same address in a process of the same number.
static TOKEN: AtomicU64 = AtomicU64::new(0);

/// Returns the token, which is chosen at the first call.
fn token() -> u64 {
    let _ = TOKEN.compare_exchange(0, unique().cast_unsigned(), Ordering::Relaxed, Ordering::Relaxed);
    TOKEN.load(Ordering::Relaxed)
}

impl Identity {
    /// Makes it the caller's.
    pub fn claim(&self) {
        self.process.store(std::process::id(), Ordering::Relaxed);
        self.token.store(token(), Ordering::Relaxed);
        self.address.store(TOKEN.as_ptr().addr() as u64, Ordering::Relaxed);
    }

    /// Returns the process that has claimed it.
    pub fn process(&self) -> u32 {
        self.process.load(Ordering::Relaxed)
    }

    /// Returns true if the kernel lets the caller read the memory of that process.
    pub fn lets_read_memory(&self) -> bool {
        let (address, token) = (self.address.load(Ordering::Relaxed), self.token.load(Ordering::Relaxed));
        let mut word = 0u64;
        let own = span((&raw mut word).cast(), size_of::<u64>());
        let other = span(std::ptr::without_provenance_mut(to_usize(address)), size_of::<u64>());
        // SAFETY: writes a local variable.
        let read = unsafe { read(self.process(), &[own], &[other]) };
        // in another container, the number may be another process's
        read.is_ok_and(|bytes| bytes == size_of::<u64>()) && word == token
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_that_of_the_process_that_claimed_it() {
        let identity = Identity { process: AtomicU32::new(0), address: AtomicU64::new(0), token: AtomicU64::new(0) };
        // claimed by nobody
        assert!(!identity.lets_read_memory());
        identity.claim();
        // a process may always read its own memory, unless system calls of this kind are forbidden
        let mut word = 0u8;
        let from = span(std::ptr::from_ref(&identity).cast_mut().cast(), 1);
        // SAFETY: reads memory of this process into a local variable.
        let permitted = unsafe { read(std::process::id(), &[span(&raw mut word, 1)], &[from]) }.is_ok_and(|bytes| bytes == 1);
        assert_eq!((identity.process(), identity.lets_read_memory()), (std::process::id(), permitted));
        // a process with the same number in another container has something else there
        identity.token.store(token() ^ 2, Ordering::Relaxed);
        assert!(!identity.lets_read_memory());
    }

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
