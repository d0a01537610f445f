//! Times code.

use std::time::Instant;

/// Runs `body`; its result and how long it took, in microseconds.
pub fn timed<T>(body: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let result = body();
    (result, begin.elapsed().as_secs_f64() * 1e6)
}
