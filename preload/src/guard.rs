//! Which calls are a program's, and which are made on its behalf.
//!
//! What runs here calls MPI by the names that are defined here. While it does, the thread is
//! *inside*, and these names lead on to what lies behind.

use std::cell::Cell;

use crate::settings;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// The thread is inside as long as this lives.
pub struct Inside(());

/// Goes inside.
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

/// Whether a call goes straight on.
#[inline(always)]
pub fn passes() -> bool {
    DEPTH.get() > 0 || settings::get().off
}

/// Runs the body of a function that a program has called. If it panics before it has called MPI the
/// call goes on as if nothing had been; if later, there is only the error to tell.
#[inline(always)]
pub fn run(body: impl FnOnce() -> i32, native: impl FnOnce() -> i32) -> i32 {
    BEGUN.set(false);
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(code) => code,
        Err(_) if BEGUN.get() => mpi_sys::MPI_ERR_INTERN as i32,
        Err(_) => native(),
    }
}
