//! Runs, times and counts the calls that are taken over, and compares their results if the user
//! asks for it.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::blocks::Sides;
use crate::compare::{self, Comparison};
use crate::counters::{FLAWED, TABLE, add, nanoseconds};
use crate::errors::SUCCESS;
use crate::flaws::{self, FLAWS};
use crate::function::{Function, Mode, index};
use crate::settings;
use crate::state::State;

/// Runs a blocking collective, and counts it.
///
/// # Safety
/// The arguments that `sides` describes must be what the prototype asks for; the thread must be
/// inside.
#[inline(always)]
pub unsafe fn blocking(
    function: Function,
    state: &State,
    sides: impl Fn() -> Sides,
    ours: impl Fn() -> c_int,
    twin: impl Fn() -> c_int,
) -> c_int {
    if settings::get().counts {
        // SAFETY: the caller vouches for the arguments.
        return unsafe { watched(function, state, sides(), &ours, &twin) };
    }
    let code = ours();
    if code == SUCCESS {
        add(&TABLE[index(function, Mode::Blocking)].calls, 1);
    }
    code
}

#[cold]
unsafe fn watched(function: Function, state: &State, sides: Sides, ours: &dyn Fn() -> c_int, twin: &dyn Fn() -> c_int) -> c_int {
    let begin = Instant::now();
    let mut spent = None;
    let code = if settings::get().compare {
        // SAFETY: the caller vouches for the arguments.
        let (code, comparison) = unsafe { compare::run(state, &sides, ours, twin, flaws::any(function, &state.facts)) };
        if let Some(Comparison { differ, ours, native }) = comparison {
            let row = &TABLE[index(function, Mode::Blocking)];
            add(&row.compared, 1);
            add(&row.differing, differ.into());
            add(&row.ours, nanoseconds(ours));
            add(&row.native, nanoseconds(native));
            spent = Some(ours);
        }
        code
    } else {
        ours()
    };
    let spent = spent.unwrap_or_else(|| begin.elapsed());
    if code == SUCCESS {
        // SAFETY: the call has succeeded with these arguments.
        let bytes = unsafe { sides.send.bytes(&state.targets) };
        started(function, Mode::Blocking, state, bytes, spent);
    }
    code
}

/// Counts a call that has been started or, if it blocks, completed, and that sends `bytes` bytes.
pub fn started(function: Function, mode: Mode, state: &State, bytes: u64, spent: Duration) {
    let row = index(function, mode);
    add(&TABLE[row].calls, 1);
    if !settings::get().counts {
        return;
    }
    add(&TABLE[row].bytes, bytes);
    add(&TABLE[row].nanoseconds, nanoseconds(spent));
    if state.seen.fetch_or(1 << row, Ordering::Relaxed) & (1 << row) == 0 {
        add(&TABLE[row].communicators, 1);
    }
    for (flaw, counter) in FLAWS.iter().zip(&FLAWED) {
        if (flaw.applies)(function, mode, &state.facts) {
            add(counter, 1);
        }
    }
}

/// Counts an all-to-all call that ran as a sparse exchange.
pub fn sparse(function: Function, bytes: u64, first: bool, spent: Duration) {
    let row = &TABLE[index(function, Mode::Blocking)];
    add(&row.calls, 1);
    add(&row.bytes, bytes);
    add(&row.nanoseconds, nanoseconds(spent));
    add(&row.communicators, first.into());
}
