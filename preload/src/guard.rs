//! Tells calls of the program from calls made on its behalf.
//!
//! Code in this library calls MPI by the names that the library itself defines. While it does so,
//! the thread is *inside*, and these names lead to the next definition.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::settings;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// The thread is inside as long as this lives.
pub struct Inside(());

/// Puts the thread inside.
#[inline]
pub fn enter() -> Inside {
    DEPTH.set(DEPTH.get() + 1);
    BEGUN.set(true);
    Inside(())
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// True if a call must be passed straight on.
#[inline(always)]
pub fn passes() -> bool {
    DEPTH.get() > 0 || settings::get().off
}

/// True from the start of `MPI_Finalize`, which then frees all communicators.
pub static FINALIZING: AtomicBool = AtomicBool::new(false);

/// True once the program has initialized the world model: programs with sessions alone have no
/// `MPI_COMM_SELF`, where the library keeps what it needs.
pub fn has_world() -> bool {
    static HAS: AtomicBool = AtomicBool::new(false);
    if HAS.load(Ordering::Relaxed) {
        // what sessions make afterwards has no world either
        return !FINALIZING.load(Ordering::Acquire);
    }
    let mut flag = 0;
    // SAFETY: may be called at any time; the result is a local.
    let has = unsafe { mpi_sys::MPI_Initialized(&mut flag) } == mpi_sys::MPI_SUCCESS.cast_signed() && flag != 0;
    HAS.store(has, Ordering::Relaxed);
    has
}

/// Runs the body of a function that a program called. If it panics before calling MPI, the call is
/// passed on; if later, it returns an error.
#[inline(always)]
pub fn run(body: impl FnOnce() -> i32, native: impl FnOnce() -> i32) -> i32 {
    BEGUN.set(false);
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(code) => code,
        Err(_) if BEGUN.get() => mpi_sys::MPI_ERR_INTERN.cast_signed(),
        Err(_) => native(),
    }
}
