//! Log messages on standard error, at the level that the environment variable `MPIX_NEIGHBOR_LOG`
//! asks for.
//!
//! Uses the facade of the crate `log`. Its level is `off` until [`start`] has read the variable,
//! and a disabled message costs one comparison of numbers. Nothing is logged on the data path. A
//! Rust program with its own logger gets the messages there.
//!
//! - `error`: each error that a call reports, even if the program's error handler ignores it.
//! - `warn`: likely mistakes, and choices that are slower than need be. The program still gets what
//!   it asked for.
//! - `info`: the choices made, on process 0 of the communicator.
//! - `debug`: the same on every process.

use std::collections::BTreeSet;
use std::sync::{Mutex, Once};

use log::{LevelFilter, Log, Metadata, Record};

use crate::environment;
use crate::mpi::{self, MPI_Info, comm, info};
use crate::select::hints::unknown;
use crate::util::lock::lock;
use crate::util::say::say;

/// Environment variable: the level.
const VARIABLE: &str = unknown::LOG;

const LEVELS: [(&str, LevelFilter); 5] = [
    ("off", LevelFilter::Off),
    ("error", LevelFilter::Error),
    ("warn", LevelFilter::Warn),
    ("info", LevelFilter::Info),
    ("debug", LevelFilter::Debug),
];

/// Writes one line for each message, with the process's rank.
struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.target().starts_with("mpix_neighbor")
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            line(&format!("{}: {}", record.level().as_str().to_lowercase(), record.args()));
        }
    }

    fn flush(&self) {}
}

/// Writes a line that begins with the process's rank.
fn line(text: &str) {
    let place = match rank() {
        Some(rank) => format!("process {rank}: "),
        None => String::new(),
    };
    say(&format!("mpix-neighbor: {place}{text}\n"));
}

/// This process's rank in `MPI_COMM_WORLD`, while MPI can be called.
fn rank() -> Option<u32> {
    mpi::is_usable().then(|| comm::world().rank().ok()).flatten()
}

/// Reads the variable at the first call. Call it before anything is logged, when the MPI is known
/// to be the right one.
pub fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let Some(wanted) = environment::variable(VARIABLE) else { return };
        let Some(&(_, level)) = LEVELS.iter().find(|(name, _)| *name == wanted.trim()) else {
            if rank() == Some(0) {
                let levels = LEVELS.map(|(name, _)| name).join(", ");
                line(&format!("warn: environment variable {VARIABLE} = {wanted:?} is not one of {levels}"));
            }
            return;
        };
        // a Rust program may have its own logger, and then it also sets the level
        if log::set_logger(&Lines).is_ok() {
            log::set_max_level(level);
        }
        // usually the same on all processes
        if log::log_enabled!(log::Level::Warn) && rank() == Some(0) {
            environment::names().iter().filter_map(|name| unknown::variable(name)).for_each(|text| log::warn!("{text}"));
        }
    });
}

/// Logs the keys of an info object that look like hints but are not: as warnings on process 0 of
/// the communicator, at level `debug` on the others, which usually have the same keys.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn unknown_keys(info: MPI_Info, comm: mpi::Communicator) {
    if !log::log_enabled!(log::Level::Warn) {
        return;
    }
    // SAFETY: the caller vouches for the handle.
    let keys = unsafe { info::keys(info) };
    let level = if matches!(comm.rank(), Ok(0)) { log::Level::Warn } else { log::Level::Debug };
    // if the info object cannot be read, the call itself returns an error
    for text in keys.unwrap_or_default().iter().filter_map(|key| unknown::key(key)) {
        if first_time(&text) {
            log::log!(level, "{text}");
        }
    }
}

/// True if this text is logged for the first time: a call in a loop logs it once.
fn first_time(text: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    lock(&SAID).insert(text.to_owned())
}

/// Logs what a call has made: at level `info` on process 0 of the communicator, at level `debug` on
/// the others. `text` has several lines.
pub fn made(comm: mpi::Communicator, text: impl FnOnce() -> String) {
    if !log::log_enabled!(log::Level::Info) {
        return;
    }
    let level = if matches!(comm.rank(), Ok(0)) { log::Level::Info } else { log::Level::Debug };
    if log::log_enabled!(level) {
        text().lines().for_each(|line| log::log!(level, "{line}"));
    }
}
