//! What was taken over: counted always, timed on demand, told at the end. What a signal handler
//! calls of this neither allocates nor locks.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use mpix_neighbor::capi::{MPIX_NEIGHBOR_ALLTOALL, MPIX_Neighborhood_describe};

use crate::blocks::Sides;
use crate::compare::{self, Comparison};
use crate::errors::SUCCESS;
use crate::flaws::{self, FLAWS};
use crate::passed::{self, PASSED, REASONS};
use crate::state::{self, State};
use crate::{ending, guard, settings};

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
/// Functions of the report.
pub const ROWS: usize = KINDS * MODES;

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

/// The name of a row's function. Written without allocating, as a signal handler must.
struct Name(usize);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (kind, mode) = (NAMES[self.0 / MODES], self.0 % MODES);
        let (first, rest) = kind.split_at(1);
        let first = first.chars().next().map_or(' ', |c| c.to_ascii_uppercase());
        match mode {
            0 => write!(f, "MPI_{first}{rest}"),
            1 => write!(f, "MPI_I{kind}"),
            _ => write!(f, "MPI_{first}{rest}_init"),
        }
    }
}

/// A name, filled up with spaces.
struct Wide(usize);

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        /// As wide as the longest name.
        const WIDTH: usize = 28;
        let (kind, mode) = (NAMES[self.0 / MODES].len(), self.0 % MODES);
        let length = kind + [4, 5, 9][mode];
        write!(f, "{}", Name(self.0))?;
        (length..WIDTH).try_for_each(|_| f.write_char(' '))
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

/// The row of a function.
pub fn index(kind: Kind, mode: Mode) -> usize {
    kind as usize * MODES + mode as usize
}

/// Runs a blocking collective, and counts it.
///
/// # Safety
/// The arguments that `sides` describes must be what the prototype asks for; the thread must be
/// inside.
#[inline(always)]
pub unsafe fn blocking(
    kind: Kind,
    state: &State,
    sides: impl Fn() -> Sides,
    ours: impl Fn() -> c_int,
    twin: impl Fn() -> c_int,
) -> c_int {
    if settings::get().counts {
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
    if !settings::get().counts {
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
    let Some(line) = text.lines().nth(1) else { return };
    if let Ok(mut schedules) = SCHEDULES.lock() {
        *schedules.entry(line.to_owned()).or_default() += 1;
    }
}

/// Columns of a row.
const COLUMNS: usize = 8;
/// Where the calls begin that the MPI gets wrong, and those that went on to it.
const AT_FLAWS: usize = ROWS * COLUMNS;
const AT_PASSED: usize = AT_FLAWS + FLAWS.len();
const NUMBERS: usize = AT_PASSED + ROWS * REASONS;

/// Whose numbers a report has.
pub enum Scope<'a> {
    /// A launch that came to its end.
    Launch {
        /// Its processes.
        processes: c_int,
    },
    /// One process, as the launch did not come to its end.
    Process {
        /// Which one.
        rank: c_int,
        /// What ended it, in two parts.
        how: &'a str,
        /// The second part.
        name: &'a str,
    },
}

/// All numbers of this process.
pub fn snapshot() -> [u64; NUMBERS] {
    let mut numbers = [0; NUMBERS];
    let rows = (TABLE.iter())
        .flat_map(|r| [&r.calls, &r.communicators, &r.bytes, &r.nanoseconds, &r.compared, &r.differing, &r.ours, &r.native]);
    for (number, counter) in numbers.iter_mut().zip(rows.chain(&FLAWED).chain(PASSED.iter().flatten())) {
        *number = counter.load(Ordering::Relaxed);
    }
    numbers
}

/// Collects from all processes, and prints on process 0 of `MPI_COMM_WORLD`. Collective.
pub fn finish() {
    let _inside = guard::enter();
    let first = ending::finishing();
    if settings::get().report {
        state::describe_all();
    }
    let mine = snapshot();
    // SAFETY: MPI is not finalized yet; constants of mpi-sys' C file.
    let (sum, most, rank, processes) = unsafe {
        let world = mpi_sys::RSMPI_COMM_WORLD;
        let (mut rank, mut size) = (0, 0);
        mpi_sys::MPI_Comm_rank(world, &mut rank);
        mpi_sys::MPI_Comm_size(world, &mut size);
        (reduce(&mine, mpi_sys::RSMPI_SUM, world), reduce(&mine, mpi_sys::RSMPI_MAX, world), rank, size)
    };
    if rank != 0 || !first {
        return;
    }
    if settings::get().report {
        let mut text = String::new();
        // writing to a string does not fail
        let _ = write(&mut text, &sum, &most, &Scope::Launch { processes });
        let _ = write_schedules(&mut text);
        use std::io::Write;
        // there is no one to tell if this fails
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    ending::add_line(&sum, processes);
}

unsafe fn reduce(mine: &[u64], op: MPI_Op, comm: MPI_Comm) -> Vec<u64> {
    let mut result = vec![0u64; mine.len()];
    let (from, into) = (mine.as_ptr().cast::<c_void>(), result.as_mut_ptr().cast::<c_void>());
    // SAFETY: both have as many elements; the caller vouches for operator and communicator.
    unsafe { mpi_sys::MPI_Reduce(from, into, mine.len() as c_int, mpixp_int64(), op, 0, comm) };
    result
}

/// "1 call", "2 calls".
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // "process" is the one word here that ends with s
        let plural = if self.0 == 1 {
            ""
        } else if self.1.ends_with('s') {
            "es"
        } else {
            "s"
        };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// Every line begins with this.
const P: &str = "mpix-neighbor preload:";

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 * 1e-9
}

/// Rows with calls: their numbers, sums and largest.
fn rows<'a>(sum: &'a [u64], most: &'a [u64]) -> impl Iterator<Item = (usize, &'a [u64], &'a [u64])> {
    (0..ROWS).filter_map(move |row| {
        let columns = row * COLUMNS..(row + 1) * COLUMNS;
        (sum[columns.clone()][0] > 0).then(|| (row, &sum[columns.clone()], &most[columns]))
    })
}

/// Functions, reasons and calls that went on to the MPI.
fn passed_on(sum: &[u64]) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    (sum[AT_PASSED..].iter().enumerate()).filter(|(_, calls)| **calls > 0).map(|(i, &calls)| (i / REASONS, i % REASONS, calls))
}

/// Writes the report.
pub fn write(out: &mut dyn fmt::Write, sum: &[u64], most: &[u64], scope: &Scope) -> fmt::Result {
    let taken: u64 = rows(sum, most).map(|row| row.1[0]).sum();
    let passed: u64 = passed_on(sum).map(|p| p.2).sum();
    let taken_over = Counted(taken, "call");
    match *scope {
        Scope::Launch { processes } => {
            writeln!(out, "{P} {taken_over} taken over on {}", Counted(processes.unsigned_abs().into(), "process"))?;
        }
        Scope::Process { rank, how, name } => {
            writeln!(out, "{P} process {rank}: {how}{name}; what follows is of this process alone")?;
            writeln!(out, "{P} {taken_over} taken over on process {rank}")?;
        }
    }
    if taken > 0 {
        writeln!(
            out,
            "{P} {:28} {:>13} {:>10} {:>14} {:>14} {:>10}",
            "function", "communicators", "calls", "bytes sent", "most", "seconds"
        )?;
        for (row, sum, most) in rows(sum, most) {
            writeln!(
                out,
                "{P} {} {:>13} {:>10} {:>14} {:>14} {:>10.6}",
                Wide(row),
                most[1],
                sum[0],
                sum[2],
                most[2],
                seconds(most[3])
            )?;
        }
        if let Scope::Launch { .. } = scope {
            writeln!(
                out,
                "{P} communicators, most bytes and seconds: of the process with most; calls and bytes: of all processes"
            )?;
        }
    }
    if passed > 0 {
        writeln!(out, "{P} {} went on to the MPI", Counted(passed, "call"))?;
        for (row, why, calls) in passed_on(sum) {
            writeln!(out, "{P} {}: {} {}", Name(row), Counted(calls, "call"), passed::TEXTS[why].1)?;
        }
    }
    if settings::get().compare {
        for (row, sum, most) in rows(sum, most).filter(|row| row.1[4] > 0) {
            let differ = if sum[5] == 1 { "differs" } else { "differ" };
            writeln!(
                out,
                "{P} {} compared: {}, {} {differ}; {:.6} seconds here, {:.6} in the MPI",
                Name(row),
                Counted(sum[4], "call"),
                sum[5],
                seconds(most[6]),
                seconds(most[7])
            )?;
        }
    }
    for (flaw, &calls) in FLAWS.iter().zip(&sum[AT_FLAWS..AT_PASSED]).filter(|(_, calls)| **calls > 0) {
        let were = if calls == 1 { "was one" } else { "were ones" };
        writeln!(out, "{P} {} {were} that {} gets wrong: {}", Counted(calls, "call"), flaws::MPI, flaw.text)?;
    }
    Ok(())
}

/// Writes which schedules process 0 has.
fn write_schedules(out: &mut String) -> fmt::Result {
    if let Ok(schedules) = SCHEDULES.lock() {
        for (line, &communicators) in schedules.iter() {
            writeln!(out, "{P} {} of process 0: {line}", Counted(communicators, "communicator"))?;
        }
    }
    Ok(())
}

/// Writes the line of a launch: fields `key=value` with spaces between them, as docs/preload.md
/// says.
pub fn write_line(out: &mut dyn fmt::Write, program: &str, sum: &[u64], scope: &Scope) -> fmt::Result {
    let all = || rows(sum, sum);
    let (taken, bytes): (u64, u64) = (all().map(|r| r.1[0]).sum(), all().map(|r| r.1[2]).sum());
    let passed: u64 = passed_on(sum).map(|p| p.2).sum();
    write!(out, "mpix-neighbor-preload=1 program={program}")?;
    match *scope {
        Scope::Launch { processes } => write!(out, " end=finalize processes={processes}")?,
        Scope::Process { rank, how, name } => {
            let end = match (how, name) {
                (_, name) if !name.is_empty() => name,
                ("MPI_Abort", _) => "abort",
                _ => "exit",
            };
            write!(out, " end={end} process={rank}")?;
        }
    }
    write!(out, " taken={taken} bytes={bytes} passed={passed}")?;
    for (row, columns, _) in all() {
        write!(out, " taken.{}={}", Name(row), columns[0])?;
    }
    for (row, why, calls) in passed_on(sum) {
        write!(out, " passed.{}.{}={calls}", Name(row), passed::TEXTS[why].0)?;
    }
    out.write_char('\n')
}
