//! Settings from environment variables, read once, at the first call. They must be the same on all
//! processes.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::ffi::{OsString, c_int};
use std::path::PathBuf;
use std::sync::{Once, OnceLock};

use mpix_neighbor::util::say::say;

/// Environment variable: a list, separated by commas, of `off`, `report`, `compare`.
const WHAT: &str = "MPIX_PRELOAD";
/// Environment variable: a file to which each launch adds a line.
const FILE: &str = "MPIX_PRELOAD_FILE";
/// Environment variable: the fewest processes of a communicator on which sparse `MPI_Alltoallv`
/// calls are looked for; unset or 0: none.
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
    /// Fewest processes of a communicator for which all-to-all calls may become sparse exchanges.
    pub alltoallv: Option<u32>,
    /// Complaints about variables with invalid values, which are otherwise ignored.
    pub complaints: Vec<String>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// The settings.
#[inline(always)]
pub fn get() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        let value = |name| mpix_neighbor::environment::variable(name).unwrap_or_default();
        // handles of another MPI may differ in size: not even passing calls on would work
        mpix_neighbor::measure::session::require_own_mpi("mpix-neighbor preload");
        let mut settings = parse(&value(WHAT), &value(ALLTOALLV));
        // the program may change its folder meanwhile
        let absolute = |file: String| std::path::absolute(&file).map_or_else(|_| file.into(), PathBuf::into_os_string);
        settings.file = Some(value(FILE)).filter(|file| !file.is_empty()).map(absolute);
        settings.counts = settings.report || settings.file.is_some();
        settings
    })
}

fn parse(what: &str, alltoallv: &str) -> Settings {
    let mut settings = Settings::default();
    for word in what.split(',').map(str::trim) {
        match word {
            "off" | "0" => settings.off = true,
            "report" => settings.report = true,
            "compare" => (settings.report, settings.compare) = (true, true),
            "" | "on" | "1" => (),
            other => settings.complaints.push(format!("{WHAT} may be off, report, compare or a list of them, not {other:?}")),
        }
    }
    settings.alltoallv = match alltoallv.trim() {
        "" | "0" => None,
        number => number.parse().ok().or_else(|| {
            settings.complaints.push(format!("{ALLTOALLV} is a number of processes, not {number:?}"));
            None
        }),
    };
    settings
}

/// Prints on process 0, once, what is wrong with the variables.
pub fn complain(rank: c_int) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for text in get().complaints.iter().filter(|_| rank == 0) {
            say(&format!("mpix-neighbor preload: {text}\n"));
        }
    });
}
