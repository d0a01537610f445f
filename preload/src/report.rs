//! What was taken over: counted always, timed on demand, told at the end.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use mpix_neighbor::capi::{MPIX_NEIGHBOR_ALLTOALL, MPIX_Neighborhood_describe};

use crate::blocks::Sides;
use crate::compare::{self, Comparison};
use crate::errors::SUCCESS;
use crate::flaws::{self, FLAWS};
use crate::state::{self, State};
use crate::{guard, settings};

unsafe extern "C" {
    fn mpixp_int64() -> MPI_Datatype;
}

/// What a call is called in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `MPI_Neighbor_allgather`
    Allgather,
    /// `MPI_Neighbor_allgatherv`
    Allgatherv,
    /// `MPI_Neighbor_alltoall`
    Alltoall,
    /// `MPI_Neighbor_alltoallv`
    Alltoallv,
    /// `MPI_Neighbor_alltoallw`
    Alltoallw,
    /// `MPI_Alltoallv` with few blocks
    SparseAlltoallv,
    /// `MPI_Alltoallw` with few blocks
    SparseAlltoallw,
}

/// When a call completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Before it returns.
    Blocking,
    /// When its request does.
    Nonblocking,
    /// When its request does, each time that it is started.
    Persistent,
}

const KINDS: usize = 7;
const MODES: usize = 3;
const ROWS: usize = KINDS * MODES;

/// Names, by kind; one for each mode follows.
const NAMES: [&str; KINDS] = [
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "alltoallv",
    "alltoallw",
];

fn name(row: usize) -> String {
    let (kind, mode) = (NAMES[row / MODES], row % MODES);
    let capital = |name: &str| name[..1].to_uppercase() + &name[1..];
    match mode {
        0 => format!("MPI_{}", capital(kind)),
        1 => format!("MPI_I{kind}"),
        _ => format!("MPI_{}_init", capital(kind)),
    }
}

/// What is known of all calls of a kind and mode.
struct Row {
    /// Calls taken over; of persistent operations starts.
    calls: AtomicU64,
    communicators: AtomicU64,
    /// Bytes sent.
    bytes: AtomicU64,
    /// Time in calls that start and, where it is this library that does so, in those that wait.
    nanoseconds: AtomicU64,
    /// Calls that were compared.
    compared: AtomicU64,
    /// Compared calls whose results differed.
    differing: AtomicU64,
    /// Time of compared calls, here and in the MPI.
    ours: AtomicU64,
    native: AtomicU64,
}

static TABLE: [Row; ROWS] = [const {
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

/// Calls for which the MPI is known to be wrong.
static FLAWED: [AtomicU64; FLAWS.len()] = [const { AtomicU64::new(0) }; FLAWS.len()];

/// What `MPIX_Neighborhood_describe` said, and of how many communicators.
static SCHEDULES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos() as u64
}

fn index(kind: Kind, mode: Mode) -> usize {
    kind as usize * MODES + mode as usize
}

/// Runs a blocking collective, and counts it.
///
/// # Safety
/// The arguments that `sides` describes must be what the prototype asks for; the thread must be inside.
#[inline(always)]
pub unsafe fn blocking(
    kind: Kind,
    state: &State,
    sides: impl Fn() -> Sides,
    ours: impl Fn() -> c_int,
    twin: impl Fn() -> c_int,
) -> c_int {
    if settings::get().report {
        // SAFETY: the caller vouches for the arguments.
        return unsafe { watched(kind, state, sides(), &ours, &twin) };
    }
    let code = ours();
    if code == SUCCESS {
        add(&TABLE[index(kind, Mode::Blocking)].calls, 1);
    }
    code
}

#[cold]
unsafe fn watched(kind: Kind, state: &State, sides: Sides, ours: &dyn Fn() -> c_int, twin: &dyn Fn() -> c_int) -> c_int {
    let begin = Instant::now();
    let mut spent = None;
    let code = if settings::get().compare {
        // SAFETY: the caller vouches for the arguments.
        let (code, comparison) = unsafe { compare::run(state, &sides, ours, twin, flaws::any(kind, &state.facts)) };
        if let Some(Comparison { differ, ours, native }) = comparison {
            let row = &TABLE[index(kind, Mode::Blocking)];
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
        unsafe { count(kind, Mode::Blocking, state, &sides, spent) };
    }
    code
}

/// Counts a call that has been started or, if it is a blocking one, is over.
///
/// # Safety
/// The arguments that `sides` describes must be what the prototype asks for.
pub unsafe fn count(kind: Kind, mode: Mode, state: &State, sides: &Sides, spent: Duration) {
    // SAFETY: the caller vouches for the arguments.
    started(kind, mode, state, unsafe { sides.send.bytes(&state.targets) }, spent);
}

/// The same, where the bytes are known.
pub fn started(kind: Kind, mode: Mode, state: &State, bytes: u64, spent: Duration) {
    let row = index(kind, mode);
    add(&TABLE[row].calls, 1);
    if !settings::get().report {
        return;
    }
    add(&TABLE[row].bytes, bytes);
    add(&TABLE[row].nanoseconds, nanoseconds(spent));
    if state.seen.fetch_or(1 << row, Ordering::Relaxed) & (1 << row) == 0 {
        add(&TABLE[row].communicators, 1);
    }
    for (flaw, counter) in FLAWS.iter().zip(&FLAWED) {
        if (flaw.applies)(kind, mode, &state.facts) {
            add(counter, 1);
        }
    }
}

/// A sparse exchange instead of an all-to-all call.
pub fn sparse(kind: Kind, bytes: u64, first: bool, spent: Duration) {
    let row = &TABLE[index(kind, Mode::Blocking)];
    add(&row.calls, 1);
    add(&row.bytes, bytes);
    add(&row.nanoseconds, nanoseconds(spent));
    add(&row.communicators, first.into());
}

/// What the library says of a neighborhood.
pub fn description(shadow: MPI_Comm) -> String {
    let mut text = [0u8; 1024];
    let mut length = 0;
    // SAFETY: the buffer is as long as said; the result is a local.
    let code = unsafe {
        MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, shadow, text.len() as c_int, text.as_mut_ptr().cast(), &mut length)
    };
    let written = if code == SUCCESS { (length.max(0) as usize).min(text.len() - 1) } else { 0 };
    String::from_utf8_lossy(&text[..written]).into_owned()
}

/// Keeps what is to be said of a communicator before it goes.
pub fn describe(shadow: MPI_Comm) {
    // the first line is of the process, the second one of the schedule
    let text = description(shadow);
    let line = text.lines().nth(1).unwrap_or_default();
    if let Ok(mut schedules) = SCHEDULES.lock() {
        *schedules.entry(line.to_owned()).or_default() += 1;
    }
}

/// Collects from all processes, and prints on process 0 of `MPI_COMM_WORLD`. Collective.
pub fn finish() {
    let _inside = guard::enter();
    state::describe_all();
    let mine: Vec<u64> = (TABLE.iter())
        .flat_map(|r| [&r.calls, &r.communicators, &r.bytes, &r.nanoseconds, &r.compared, &r.differing, &r.ours, &r.native])
        .chain(&FLAWED)
        .map(|counter| counter.load(Ordering::Relaxed))
        .collect();
    // SAFETY: MPI is not finalized yet; constants of mpi-sys' C file.
    let (sum, most, rank, size) = unsafe {
        let world = mpi_sys::RSMPI_COMM_WORLD;
        let (mut rank, mut size) = (0, 0);
        mpi_sys::MPI_Comm_rank(world, &mut rank);
        mpi_sys::MPI_Comm_size(world, &mut size);
        (reduce(&mine, mpi_sys::RSMPI_SUM, world), reduce(&mine, mpi_sys::RSMPI_MAX, world), rank, size)
    };
    if rank == 0 {
        let text = text(&sum, &most, size);
        use std::io::Write;
        // there is no one to tell if this fails
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

unsafe fn reduce(mine: &[u64], op: MPI_Op, comm: MPI_Comm) -> Vec<u64> {
    let mut result = vec![0u64; mine.len()];
    let (from, into) = (mine.as_ptr().cast::<c_void>(), result.as_mut_ptr().cast::<c_void>());
    // SAFETY: both have as many elements; the caller vouches for operator and communicator.
    unsafe { mpi_sys::MPI_Reduce(from, into, mine.len() as c_int, mpixp_int64(), op, 0, comm) };
    result
}

fn text(sum: &[u64], most: &[u64], processes: c_int) -> String {
    const COLUMNS: usize = 8;
    let mut text = String::new();
    let taken: u64 = sum[..ROWS * COLUMNS].chunks(COLUMNS).map(|row| row[0]).sum();
    let p = "mpix-neighbor preload:";
    // writing to a string does not fail
    let _ = writeln!(text, "{p} {taken} calls taken over on {processes} processes");
    let rows = || (sum.chunks(COLUMNS).zip(most.chunks(COLUMNS)).take(ROWS).enumerate()).filter(|(_, (sum, _))| sum[0] > 0);
    let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
    if taken > 0 {
        let head = ["communicators", "calls", "bytes sent", "most", "seconds"];
        let _ = writeln!(
            text,
            "{p} {:28} {:>13} {:>10} {:>14} {:>14} {:>10}",
            "function", head[0], head[1], head[2], head[3], head[4]
        );
        for (row, (sum, most)) in rows() {
            let _ = writeln!(
                text,
                "{p} {:28} {:>13} {:>10} {:>14} {:>14} {:>10.6}",
                name(row),
                most[1],
                sum[0],
                sum[2],
                most[2],
                seconds(most[3])
            );
        }
        let _ = writeln!(
            text,
            "{p} communicators, most bytes and seconds: of the process with most; calls and bytes: of all processes"
        );
    }
    if settings::get().compare {
        for (row, (sum, most)) in rows().filter(|(_, (sum, _))| sum[4] > 0) {
            let _ = writeln!(
                text,
                "{p} {} compared: {} calls, {} differ; {:.6} seconds here, {:.6} in the MPI",
                name(row),
                sum[4],
                sum[5],
                seconds(most[6]),
                seconds(most[7])
            );
        }
    }
    if let Ok(schedules) = SCHEDULES.lock() {
        for (line, communicators) in schedules.iter() {
            let plural = if *communicators == 1 { "" } else { "s" };
            let _ = writeln!(text, "{p} {communicators} communicator{plural} of process 0: {line}");
        }
    }
    for (flaw, calls) in FLAWS.iter().zip(&sum[ROWS * COLUMNS..]).filter(|(_, calls)| **calls > 0) {
        let _ = writeln!(text, "{p} {calls} calls were ones that {} gets wrong: {}", flaws::MPI, flaw.text);
    }
    text
}
