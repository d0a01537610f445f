//! How a process sleeps until memory changes.
//!
//! A process with a core of its own polls. Where processes share cores, those that it waits for may
//! need its core: after some polls it yields, and after some yields it sleeps until its doorbell
//! rings. (Yielding alone is not enough: where the launcher gives each process a session of its
//! own, the kernel's autogroups keep `sched_yield` from reaching the others.)
//!
//! # Memory order
//! A process that is about to sleep stores `asleep`, then polls once more. A process that has
//! changed what it waits for then loads `asleep`. Both have a sequentially consistent fence between
//! the two steps, so that at least one of them sees what the other one did. A lost wake-up would
//! cost no more than [`NAP`].

// models and tests use less of it
#![cfg_attr(any(loom, not(feature = "mpi")), allow(dead_code))]

use std::sync::atomic::{AtomicU32, Ordering, fence};

use crate::shm::peer_memory::Identity;
use crate::util::backoff::NAP;
use crate::util::cast::to_int;

/// A process's doorbell. Ringing it wakes the process.
#[derive(Debug, Clone, Copy)]
pub struct Doorbell(*const State);

#[repr(C, align(128))]
struct State {
    /// Number of rings, and the word that the kernel compares.
    rings: AtomicU32,
    asleep: AtomicU32,
    /// The process that owns it.
    owner: Identity,
}

// it is in memory of several processes: whole lines, and no more than a pair
const _: () = assert!(size_of::<State>() == 128);

impl Doorbell {
    /// Memory that a doorbell needs.
    pub const BYTES: usize = size_of::<State>();

    /// Returns the doorbell at an address in shared memory, which must outlive it. All zeros are a
    /// doorbell.
    pub fn at(memory: *mut u8) -> Doorbell {
        Doorbell(memory.cast())
    }

    /// The process that owns it, once it has claimed this.
    pub fn owner(&self) -> &Identity {
        &self.state().owner
    }

    #[inline]
    fn state(&self) -> &State {
        // SAFETY: the maker vouches for the memory, which consists of atomics.
        unsafe { &*self.0 }
    }

    /// Wakes the owner if it sleeps. Call it after [`fence_before_ring`].
    #[inline]
    pub fn ring(self) {
        if self.state().asleep.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(self) {
        let rings = &self.state().rings;
        rings.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the word outlives the call; waking accesses no memory.
        unsafe { libc::syscall(libc::SYS_futex, rings.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// Sleeps until the doorbell rings, at most [`NAP`]. Returns at once if `done` is already true.
    pub fn sleep(&self, done: impl FnOnce() -> bool) {
        let state = self.state();
        let heard = state.rings.load(Ordering::Relaxed);
        // several threads may wait
        state.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !done() {
            let nap = libc::timespec { tv_sec: 0, tv_nsec: to_int(NAP.as_nanos()) };
            // SAFETY: the word outlives the call, and the time is a local variable.
            unsafe { libc::syscall(libc::SYS_futex, state.rings.as_ptr(), libc::FUTEX_WAIT, heard, &raw const nap) };
        }
        state.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Orders changes to what others wait for before the rings of their doorbells.
#[inline]
pub fn fence_before_ring() {
    fence(Ordering::SeqCst);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::util::cast::to_u32;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::Instant;

    use super::*;

    /// Memory of a doorbell, which outlives it.
    fn memory() -> Box<State> {
        // SAFETY: all zeros are a doorbell's memory.
        unsafe { Box::new(std::mem::zeroed()) }
    }

    fn doorbell(memory: &State) -> Doorbell {
        Doorbell::at(std::ptr::from_ref(memory).cast_mut().cast())
    }

    #[test]
    fn nobody_sleeps_when_there_is_nothing_to_wait_for() {
        let memory = memory();
        let shortest = (0..100)
            .map(|_| {
                let began = Instant::now();
                doorbell(&memory).sleep(|| true);
                began.elapsed()
            })
            .min();
        assert!(shortest.is_some_and(|time| time < NAP / 2), "{shortest:?}");
        assert_eq!(memory.asleep.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_sleeper_wakes_up_by_itself() {
        let memory = memory();
        let began = Instant::now();
        doorbell(&memory).sleep(|| false);
        assert!(began.elapsed() >= NAP / 2, "{:?}", began.elapsed());
    }

    #[test]
    fn only_a_sleeper_is_woken() {
        let memory = memory();
        doorbell(&memory).ring();
        assert_eq!(memory.rings.load(Ordering::Relaxed), 0);
        memory.asleep.store(1, Ordering::Relaxed);
        doorbell(&memory).ring();
        assert_eq!(memory.rings.load(Ordering::Relaxed), 1);
    }

    /// A ring between the look at `done` and the system call is not lost: the kernel sees that the
    /// word has changed.
    #[test]
    fn a_ring_before_the_sleep_ends_it() {
        let memory = memory();
        let shortest = (0..100)
            .map(|_| {
                let began = Instant::now();
                doorbell(&memory).sleep(|| {
                    doorbell(&memory).ring();
                    false
                });
                began.elapsed()
            })
            .min();
        assert!(shortest.is_some_and(|time| time < NAP / 2), "{shortest:?}");
        assert_eq!(memory.rings.load(Ordering::Relaxed), 100);
    }

    /// Two threads hand a token back and forth.
    #[test]
    fn rings_wake_the_other_thread() {
        const ROUNDS: u32 = 1000;
        let memories = [memory(), memory()];
        let token = AtomicU32::new(0);
        let failed = AtomicBool::new(false);
        thread::scope(|scope| {
            for me in 0..2 {
                let (memories, token, failed) = (&memories, &token, &failed);
                scope.spawn(move || {
                    for round in (0..ROUNDS).filter(|round| round % 2 == to_u32(me)) {
                        let mine = || token.load(Ordering::Acquire) >= round;
                        let began = Instant::now();
                        while !mine() && began.elapsed().as_secs() < 10 {
                            doorbell(&memories[me]).sleep(mine);
                        }
                        failed.fetch_or(token.load(Ordering::Acquire) != round, Ordering::Relaxed);
                        token.store(round + 1, Ordering::Release);
                        fence_before_ring();
                        doorbell(&memories[1 - me]).ring();
                    }
                });
            }
        });
        assert!(!failed.load(Ordering::Relaxed));
        assert_eq!(token.load(Ordering::Relaxed), ROUNDS);
        assert!(memories.iter().all(|memory| memory.asleep.load(Ordering::Relaxed) == 0));
    }
}
