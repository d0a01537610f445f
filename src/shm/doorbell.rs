//! How a process waits for memory to change.
//!
//! Where processes have cores of their own it looks again and again. Where they share cores, those
//! that it waits for may need its core: after a few looks it yields, and after some yields it
//! sleeps until its bell rings. (Yielding alone is not enough: where the launcher gives each
//! process a session of its own, the kernel's autogroups keep sched_yield from reaching the
//! others.)
//!
//! Memory order: who sleeps stores `asleep`, then looks once more; who has changed what it waits
//! for then loads `asleep`. Both have a fence between their two steps (sequentially consistent), so
//! that not both can miss the other's. A lost call would cost no more than [`NAP`].

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

/// How long a process sleeps at the most: then it lets MPI move other messages.
pub const NAP: Duration = Duration::from_micros(500);

/// A process's bell: one that is rung wakes the process.
#[derive(Debug, Clone, Copy)]
pub struct Doorbell(*const State);

#[repr(C, align(128))]
struct State {
    /// Rings; the word at which the kernel looks.
    rings: AtomicU32,
    asleep: AtomicU32,
    /// The process, and where it has this.
    process: AtomicU32,
    address: AtomicU64,
}

impl Doorbell {
    /// Memory of a bell.
    pub const BYTES: usize = size_of::<State>();

    /// The bell at an address in shared memory, which must outlive it.
    pub fn at(memory: *mut u8) -> Doorbell {
        Doorbell(memory.cast())
    }

    /// Says whose it is: the caller's.
    pub fn claim(&self) {
        self.state().process.store(std::process::id(), Ordering::Relaxed);
        self.state().address.store(self.0.addr() as u64, Ordering::Relaxed);
    }

    /// Whether the kernel lets the caller read the memory of the process whose it is, which has
    /// claimed it: then MPI needs one copy for a message of any length.
    pub fn reads_owner(&self) -> bool {
        let (process, address) = (self.state().process.load(Ordering::Relaxed), self.state().address.load(Ordering::Relaxed));
        let mut word = 0u64;
        let own = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<u64>() };
        let at = address as usize + std::mem::offset_of!(State, address);
        let other = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: size_of::<u64>() };
        // SAFETY: writes a local; what the other address is the kernel finds out.
        let read = unsafe { libc::process_vm_readv(process as libc::pid_t, &own, 1, &other, 1, 0) };
        // in another container the number may be another process's
        read == size_of::<u64>() as isize && word == address
    }

    #[inline]
    fn state(&self) -> &State {
        // SAFETY: whoever made it vouches for the memory, which is all atomics.
        unsafe { &*self.0 }
    }

    /// Wakes the process if it sleeps. What it waits for has been changed, and a fence is behind
    /// that.
    #[inline]
    pub fn ring(&self) {
        if self.state().asleep.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let rings = &self.state().rings;
        rings.fetch_add(1, Ordering::Relaxed);
        // SAFETY: a word that stays; waking reads and writes nothing.
        unsafe { libc::syscall(libc::SYS_futex, rings.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// Sleeps until the bell rings, at most [`NAP`]; not at all if `done` says that there is no
    /// need to any more.
    pub fn sleep(&self, done: impl FnOnce() -> bool) {
        let state = self.state();
        let heard = state.rings.load(Ordering::Relaxed);
        // several threads may wait
        state.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !done() {
            let nap = libc::timespec { tv_sec: 0, tv_nsec: NAP.as_nanos() as _ };
            // SAFETY: a word that stays, and a local.
            unsafe { libc::syscall(libc::SYS_futex, state.rings.as_ptr(), libc::FUTEX_WAIT, heard, &raw const nap) };
        }
        state.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

/// To be called between changing what others wait for and ringing their bells.
#[inline(always)]
pub fn fence_before_ring() {
    fence(Ordering::SeqCst);
}
