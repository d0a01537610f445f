//! The counters of this process. Reading and writing them neither allocates nor locks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mpix_neighbor::util::cast::to_int;

use crate::flaws::FLAWS;
use crate::function::ROWS;
use crate::reason::REASONS;

/// Counters of all calls of a function in one mode.
pub struct Row {
    /// Calls taken over; for persistent operations, starts.
    pub calls: AtomicU64,
    pub communicators: AtomicU64,
    /// Bytes sent.
    pub bytes: AtomicU64,
    /// Time in calls that start an operation, and in those that wait for it if this library does
    /// the waiting.
    pub nanoseconds: AtomicU64,
    /// Calls that were compared.
    pub compared: AtomicU64,
    /// Compared calls whose results differed.
    pub differing: AtomicU64,
    /// Time of compared calls, here and in the MPI.
    pub ours: AtomicU64,
    pub native: AtomicU64,
}

pub static TABLE: [Row; ROWS] = [const {
    Row {
        calls: AtomicU64::new(0),
        communicators: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        nanoseconds: AtomicU64::new(0),
        compared: AtomicU64::new(0),
        differing: AtomicU64::new(0),
        ours: AtomicU64::new(0),
        native: AtomicU64::new(0),
    }
}; ROWS];

/// Calls that the MPI is known to get wrong.
pub static FLAWED: [AtomicU64; FLAWS.len()] = [const { AtomicU64::new(0) }; FLAWS.len()];

/// Calls passed on to the MPI, by function and reason.
pub static PASSED: [[AtomicU64; REASONS]; ROWS] = [const { [const { AtomicU64::new(0) }; REASONS] }; ROWS];

/// Adds to a counter.
pub fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

/// The nanoseconds of a duration.
pub fn nanoseconds(time: Duration) -> u64 {
    to_int::<u64>(time.as_nanos())
}

/// Columns of a row.
pub const COLUMNS: usize = 8;
/// Offsets of the calls that the MPI gets wrong, and of those passed on to it.
pub const AT_FLAWS: usize = ROWS * COLUMNS;
pub const AT_PASSED: usize = AT_FLAWS + FLAWS.len();
pub const NUMBERS: usize = AT_PASSED + ROWS * REASONS;

/// All numbers of this process.
pub fn snapshot() -> [u64; NUMBERS] {
    let mut numbers = [0; NUMBERS];
    copy(&mut numbers);
    numbers
}

/// Copies all numbers of this process.
pub fn copy(numbers: &mut [u64; NUMBERS]) {
    let rows = (TABLE.iter())
        .flat_map(|r| [&r.calls, &r.communicators, &r.bytes, &r.nanoseconds, &r.compared, &r.differing, &r.ours, &r.native]);
    for (number, counter) in numbers.iter_mut().zip(rows.chain(&FLAWED).chain(PASSED.iter().flatten())) {
        *number = counter.load(Ordering::Relaxed);
    }
}
