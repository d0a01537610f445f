//! What the environment says. Read once, at the first call. It must be the same on all processes.

use std::ffi::{CStr, OsString, c_char};
use std::sync::OnceLock;

unsafe extern "C" {
    fn mpixp_family() -> *const c_char;
}

/// Environment variable: a list, separated by commas, of `off`, `report`, `compare`.
const WHAT: &str = "MPIX_PRELOAD";
/// Environment variable: a file to which each launch adds a line.
const FILE: &str = "MPIX_PRELOAD_FILE";
/// Environment variable: the fewest processes of a communicator on which sparse `MPI_Alltoallv` calls are looked for; unset or 0: none.
const ALLTOALLV: &str = "MPIX_PRELOAD_ALLTOALLV";

/// The settings.
#[derive(Debug, Default)]
pub struct Settings {
    /// Nothing is taken over.
    pub off: bool,
    /// Calls are counted and timed, and process 0 says at the end what they were.
    pub report: bool,
    /// A file to which process 0 adds a line for the launch.
    pub file: Option<OsString>,
    /// Calls are counted, for the report or the file.
    pub counts: bool,
    /// Blocking calls are made twice, by the MPI too, and the results compared.
    pub compare: bool,
    /// The fewest processes for which all-to-all calls are looked at.
    pub alltoallv: Option<u32>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// The settings.
#[inline(always)]
pub fn get() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        let value = |name| mpix_neighbor::environment::variable(name).unwrap_or_default();
        let mut settings = parse(&value(WHAT), &value(ALLTOALLV));
        settings.file = Some(value(FILE)).filter(|file| !file.is_empty()).map(OsString::from);
        settings.counts = settings.report || settings.file.is_some();
        // handles of another MPI have another size
        let right = is_built_for_this_mpi();
        settings.off |= !right;
        settings
    })
}

/// Whether the program runs under an MPI of the family that the library was built for; says so if not.
fn is_built_for_this_mpi() -> bool {
    /// More than any MPI's MPI_MAX_LIBRARY_VERSION_STRING.
    const LENGTH: usize = 1 << 16;
    let (mut text, mut length) = (vec![0u8; LENGTH], 0);
    // SAFETY: a string constant of the C file; the buffer is longer than what any MPI writes, and the function may be called at any time.
    let built = unsafe {
        mpi_sys::MPI_Get_library_version(text.as_mut_ptr().cast(), &mut length);
        CStr::from_ptr(mpixp_family()).to_string_lossy()
    };
    let running = String::from_utf8_lossy(&text[..length.clamp(0, LENGTH as i32) as usize]).replace('\t', " ");
    let right = running.starts_with(built.as_ref());
    if !right {
        let running = running.lines().next().unwrap_or_default();
        let fits = size_of::<mpi_sys::MPI_Comm>() == size_of::<usize>();
        let then = if fits { "nothing is taken over" } else { "its handles do not fit into this library's" };
        eprintln!("mpix-neighbor preload: built for {built}, but running under {running}: {then}");
        if !fits {
            // not even passing calls on would work
            std::process::exit(1);
        }
    }
    right
}

fn parse(what: &str, alltoallv: &str) -> Settings {
    let mut settings = Settings::default();
    for word in what.split(',').map(str::trim) {
        match word {
            "off" | "0" => settings.off = true,
            "report" => settings.report = true,
            "compare" => (settings.report, settings.compare) = (true, true),
            "" | "on" | "1" => (),
            other => eprintln!("mpix-neighbor preload: {WHAT} may be off, report, compare or a list of them, not {other:?}"),
        }
    }
    settings.alltoallv = match alltoallv.trim() {
        "" | "0" => None,
        number => number.parse().ok().or_else(|| {
            eprintln!("mpix-neighbor preload: {ALLTOALLV} is a number of processes, not {number:?}");
            None
        }),
    };
    settings
}
