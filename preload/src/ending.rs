//! Reports of programs that end before `MPI_Finalize`: by a signal, by `MPI_Abort`, or by exiting.
//!
//! Signal handlers are installed only if a report is wanted, and only in place of the default
//! action or of a handler of the MPI, which then runs as usual. The program's own handlers stay,
//! whether they are installed earlier or later. Code in a handler neither allocates nor locks: it
//! formats into an array that is kept for it and calls `write`.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use mpix_neighbor::util::say::say;

use crate::counters::NUMBERS;
use crate::errors::SUCCESS;
use crate::report::{self, Scope};
use crate::{counters, guard, settings};

/// Signals that end a process, their names, and true if a fault of the process itself raises them.
const SIGNALS: [(c_int, &str, bool); 10] = [
    (libc::SIGHUP, "SIGHUP", false),
    (libc::SIGINT, "SIGINT", false),
    (libc::SIGTERM, "SIGTERM", false),
    (libc::SIGXCPU, "SIGXCPU", false),
    (libc::SIGXFSZ, "SIGXFSZ", true),
    (libc::SIGILL, "SIGILL", true),
    (libc::SIGABRT, "SIGABRT", true),
    (libc::SIGBUS, "SIGBUS", true),
    (libc::SIGFPE, "SIGFPE", true),
    (libc::SIGSEGV, "SIGSEGV", true),
];

/// Libraries of MPIs and of their layers, and gfortran's, whose handlers only print.
const MPIS: [&str; 8] = ["libmpi", "libopen-pal", "libopen-rte", "libpmix", "libprrte", "libucs", "libfabric", "libgfortran"];

/// The data that a handler needs.
struct Prepared {
    rank: c_int,
    /// The process's id. Forked children have another one, and report nothing.
    process: c_int,
    /// The previous action, by signal; `None` if ours is not installed.
    before: [Option<libc::sigaction>; SIGNALS.len()],
    /// The file for a launch's line.
    file: Option<CString>,
    program: String,
}

static PREPARED: OnceLock<Prepared> = OnceLock::new();

/// True once something has been reported.
static TOLD: AtomicBool = AtomicBool::new(false);

/// True if that was said in an exit handler, of which later ones may call `MPI_Finalize`.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Memory for a report, not on the stack: that of a signal handler may have 8 KiB.
static ROOM: Room = Room(UnsafeCell::new((Text { bytes: [0; LONGEST], used: 0 }, [0; NUMBERS])));

struct Room(UnsafeCell<(Text, [u64; NUMBERS])>);

// SAFETY: whoever has set `TOLD` uses it, and is the only one that ever does.
unsafe impl Sync for Room {}

/// Bytes of the longest text.
const LONGEST: usize = 16384;

/// Text in a fixed array.
pub struct Text {
    bytes: [u8; LONGEST],
    used: usize,
}

impl Text {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let length = text.len().min(self.bytes.len() - self.used);
        self.bytes[self.used..self.used + length].copy_from_slice(&text.as_bytes()[..length]);
        self.used += length;
        if length == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Prepares for an end before `MPI_Finalize`: once, as soon as MPI is initialized. As the rank is
/// known then, process 0 also says which settings are in error.
#[inline]
pub fn prepare() {
    let settings = settings::get();
    if PREPARED.get().is_none() && (settings.counts || !settings.complaints.is_empty()) {
        install();
    }
}

#[cold]
fn install() {
    let _inside = guard::enter();
    let (mut initialized, mut finalized, mut rank) = (0, 0, 0);
    // SAFETY: may be called at any time; results are locals; MPI is there where the rank is asked
    // for.
    unsafe {
        mpi_sys::MPI_Initialized(&mut initialized);
        mpi_sys::MPI_Finalized(&mut finalized);
        if initialized == 0 || finalized != 0 || mpi_sys::MPI_Comm_rank(mpi_sys::RSMPI_COMM_WORLD, &mut rank) != SUCCESS {
            return;
        }
    }
    settings::complain(rank);
    if !settings::get().counts {
        return;
    }
    let mut first = false;
    PREPARED.get_or_init(|| {
        first = true;
        let file = settings::get().file.as_deref().and_then(|f| CString::new(f.as_bytes()).ok());
        // SAFETY: takes nothing.
        let process = unsafe { libc::getpid() };
        Prepared { rank, process, before: SIGNALS.map(|(signal, ..)| replaceable(signal)), file, program: program() }
    });
    if !first {
        return;
    }
    for (index, (signal, ..)) in SIGNALS.into_iter().enumerate() {
        if PREPARED.get().is_some_and(|p| p.before[index].is_some()) {
            // SAFETY: the structure is filled as the call asks for; the handler has the type that
            // SA_SIGINFO says.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }
    // SAFETY: a function that takes nothing; it stays as long as the process, as preloaded
    // libraries are not unloaded.
    unsafe { libc::atexit(leaving) };
}

/// The name of the program, without characters that would end a field of the line.
fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    name.chars().map(|c| if c.is_whitespace() || c.is_control() || c == '=' { '_' } else { c }).collect()
}

/// The current action of a signal, if ours may precede it: the default, or a handler of the MPI's
/// libraries.
fn replaceable(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: the structure is written by the call; `dladdr` looks at no more than the address, and
    // the name that it gives ends with a null.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut old) != 0 || old.sa_sigaction == libc::SIG_IGN {
            return None;
        }
        if old.sa_sigaction != libc::SIG_DFL {
            let mut info: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(old.sa_sigaction as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
                return None;
            }
            let path = CStr::from_ptr(info.dli_fname).to_string_lossy();
            let file = path.rsplit('/').next().unwrap_or_default();
            if !MPIS.iter().any(|library| file.starts_with(library)) {
                return None;
            }
        }
        Some(old)
    }
}

/// Reports, and lets the signal take its previous action.
unsafe extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: `errno` is the thread's own; the rest is async-signal-safe: atomics, formatting into
    // memory that nobody else uses, `write`, `sigaction`, `raise`.
    unsafe {
        let errno = *libc::__errno_location();
        let Some(prepared) = PREPARED.get() else { return };
        let Some(index) = SIGNALS.iter().position(|s| s.0 == signal) else { return };
        let (_, name, own) = SIGNALS[index];
        // process 0 reports signals that a launcher sends to all processes
        if own || prepared.rank == 0 {
            tell(prepared, "killed by ", name);
        }
        if let Some(before) = &prepared.before[index] {
            libc::sigaction(signal, before, std::ptr::null_mut());
        }
        let fault = matches!(signal, libc::SIGILL | libc::SIGBUS | libc::SIGFPE | libc::SIGSEGV);
        // a fault recurs when the instruction is repeated; other signals stay pending until this
        // returns
        if !(fault && !info.is_null() && (*info).si_code > 0) {
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// Reports the numbers of this process alone, unless a report has been made.
fn tell(prepared: &Prepared, how: &str, name: &str) {
    // SAFETY: takes nothing.
    if unsafe { libc::getpid() } != prepared.process || TOLD.swap(true, Ordering::AcqRel) {
        return;
    }
    // SAFETY: this is the one that has set `TOLD`.
    let (text, mine) = unsafe { &mut *ROOM.0.get() };
    counters::copy(mine);
    let scope = Scope::Process { rank: prepared.rank, how, name };
    if settings::get().report {
        // what does not fit is cut off
        let _ = report::write(text, mine, mine, &scope);
        put(libc::STDERR_FILENO, text.as_bytes());
    }
    if let Some(file) = &prepared.file {
        text.used = 0;
        let _ = report::write_line(text, &prepared.program, mine, &scope);
        let _ = append(file, text.as_bytes());
    }
}

fn put(file: c_int, bytes: &[u8]) -> bool {
    // SAFETY: as many bytes as are said.
    unsafe { usize::try_from(libc::write(file, bytes.as_ptr().cast(), bytes.len())) == Ok(bytes.len()) }
}

/// Appends a line to a file with one `write`. Returns false, with `errno` set, if that fails.
fn append(file: &CStr, bytes: &[u8]) -> bool {
    // SAFETY: a C string; the descriptor is our own.
    unsafe {
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let descriptor = libc::open(file.as_ptr(), flags, 0o666 as libc::c_uint);
        if descriptor < 0 {
            return false;
        }
        let written = put(descriptor, bytes);
        let errno = *libc::__errno_location();
        libc::close(descriptor);
        *libc::__errno_location() = errno;
        written
    }
}

/// Reports a call of `MPI_Abort`.
pub fn aborting() {
    prepare();
    if let Some(prepared) = PREPARED.get() {
        tell(prepared, "MPI_Abort", "");
    }
}

/// Reports that the process exits without `MPI_Finalize`.
extern "C" fn leaving() {
    if let Some(prepared) = PREPARED.get().filter(|p| p.rank == 0) {
        LEFT.store(!TOLD.load(Ordering::Acquire), Ordering::Release);
        tell(prepared, "left without MPI_Finalize", "");
    }
}

/// Claims the report for `MPI_Finalize`. Returns false if a report has been made, but for the one
/// of an exit without it.
pub fn finishing() -> bool {
    !TOLD.swap(true, Ordering::AcqRel) || LEFT.load(Ordering::Acquire)
}

/// Appends the line of a launch that has reached `MPI_Finalize`.
pub fn add_line(sum: &[u64], processes: c_int) {
    let Some((prepared, file)) = PREPARED.get().and_then(|p| Some((p, p.file.as_ref()?))) else { return };
    let mut line = String::new();
    // writing to a string does not fail
    let _ = report::write_line(&mut line, &prepared.program, sum, &Scope::Launch { processes });
    if !append(file, line.as_bytes()) {
        let error = std::io::Error::last_os_error();
        let file = file.to_string_lossy();
        say(&format!("mpix-neighbor preload: cannot append to {file}, the file of MPIX_PRELOAD_FILE: {error}\n"));
    }
}
