//! The family of the MPI that the library was built for, and of the one that the program runs
//! under.
//!
//! Families of MPIs differ in the size of handles and the values of constants. Within a family
//! these agree: a library built for Open MPI 4 runs under Open MPI 5, one for MPICH under its
//! relatives.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Once, OnceLock};

use super::{library_description, library_version};
use crate::error::{Error, Result};
use crate::util::backoff::Pace;
use crate::util::say::say;

unsafe extern "C" {
    fn mpixn_family() -> *const c_char;
    fn mpixn_built_for() -> *const c_char;
    fn mpixn_families_of(scope: *mut c_void) -> c_uint;
    safe fn mpixn_family_name(family: c_int) -> *const c_char;
    safe static mpixn_simulated: c_int;
    safe fn mpixn_pass_time(microseconds: f64);
}

const OPEN_MPI: &str = "Open MPI";
const MPICH: &str = "MPICH";
const SIMGRID: &str = "SimGrid";
/// What any MPI may have, beside or in place of the interface of its family.
const STANDARD: &str = "MPI-5 standard ABI";

/// A part of `MPI_Get_library_version`'s text, and the family that it identifies.
const NAMES: [(&str, &str); 9] = [
    (OPEN_MPI, OPEN_MPI),
    ("Spectrum MPI", OPEN_MPI),
    ("FUJITSU MPI", OPEN_MPI),
    // Cray's and some MVAPICH versions' too
    (MPICH, MPICH),
    ("MVAPICH", MPICH),
    ("Intel(R) MPI", MPICH),
    ("ParaStation MPI", MPICH),
    ("SMPI", SIMGRID),
    (SIMGRID, SIMGRID),
];

/// Returns the family that the library was built for; empty if `mpi.h` does not identify it.
pub fn built() -> &'static str {
    // SAFETY: a string constant of the C file.
    unsafe { CStr::from_ptr(mpixn_family()) }.to_str().unwrap_or_default()
}

/// Returns true if MPI's wait yields the core on oversubscribed nodes. Open MPI does if its
/// launcher detects this; MPICH's wait keeps the core that its peer needs, which costs milliseconds
/// per call (seen in 4.0.2).
pub fn wait_yields() -> bool {
    is_open_mpi()
}

/// Returns true if the MPI is Open MPI.
pub fn is_open_mpi() -> bool {
    static RUNNING: OnceLock<bool> = OnceLock::new();
    match built() {
        STANDARD => *RUNNING.get_or_init(|| library_version().contains(OPEN_MPI)),
        built => built == OPEN_MPI,
    }
}

/// Returns true if the processes are simulated: they share one process of the system, its memory
/// and its only thread, and take turns when they call MPI. Their time is MPI's, not the system's.
#[inline]
pub fn is_simulated() -> bool {
    mpixn_simulated != 0
}

/// Lets simulated time pass; does nothing where processes are real.
pub fn pass_time(microseconds: f64) {
    mpixn_pass_time(microseconds);
}

/// Returns how a process waits that may rest: a simulated one that does stops all of them.
pub fn resting(pace: Pace) -> Pace {
    if is_simulated() { Pace::POLLING } else { pace }
}

/// Returns what is wrong with epochs of active targets, if this MPI is known to have such a flaw.
///
/// - `MPI_Win_test` may say that an epoch is over before all of its puts have arrived: seen in Open
///   MPI 5.0.11 with three processes and more (`c_tests/c/win_test.c`).
/// - `MPI_Win_complete` may return before MPI has read what is put, where a process has an epoch
///   for each target: seen in MPICH 4.0.2 over UCX with eight processes
///   (`c_tests/c/win_complete.c`).
pub fn flaw_of_epochs() -> Option<&'static str> {
    let version = library_description();
    if is_open_mpi_5(&version) {
        return Some("this MPI ends epochs of active targets too early");
    }
    is_over_ucx(&version).then_some("this MPI completes puts to active targets before it has read them")
}

/// Returns true if this MPI is known to call a distributed graph by the kind of topology of the
/// communicator that it was made from: seen in Open MPI 5.0.11 (`c_tests/c/topologies.c`), where
/// asking for the grid or graph ends the program.
pub fn has_flawed_topologies() -> bool {
    static FLAWED: OnceLock<bool> = OnceLock::new();
    *FLAWED.get_or_init(|| is_open_mpi_5(&library_description()))
}

/// Returns true if `MPI_Get_library_version` says this of Open MPI 5 or later.
fn is_open_mpi_5(text: &str) -> bool {
    open_mpi_version(text).is_some_and(|version| version >= 5)
}

/// Returns true if `MPI_Get_library_version` says this of an MPICH that may communicate by UCX.
fn is_over_ucx(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("MPICH Device") && line.contains("ucx"))
}

/// Returns the major version of an Open MPI by what `MPI_Get_library_version` says.
fn open_mpi_version(text: &str) -> Option<u32> {
    let (_, version) = text.split_once("Open MPI v")?;
    version.split('.').next()?.parse().ok()
}

/// Fails if the program runs under an MPI of another family than the library was built for. No
/// other MPI function may be called then.
pub fn check() -> Result<()> {
    let mut running = library_version();
    if fits(built(), &running, exports_open_mpi) {
        match beside() {
            Some(other) => running = format!("{other}, which is loaded too"),
            None => return Ok(()),
        }
    }
    Err(Error::WrongMpi { built: built_for(), running }.into())
}

/// Returns name and version of the MPI that the library was built for.
pub fn built_for() -> String {
    // SAFETY: a string constant of the C file.
    unsafe { CStr::from_ptr(mpixn_built_for()) }.to_string_lossy().into_owned()
}

/// Ends the process if it runs under another MPI than the library was built for. `who` begins the
/// message.
///
/// Under the wrong MPI, the caller's handles are meaningless and no error handler can be called; a
/// return code could be ignored, and the program would continue with garbage in its buffers. So it
/// ends here, before any argument is read. MPI need not be initialized. Only the first call in a
/// process checks.
#[inline]
pub fn require(who: &str) {
    static CHECKED: Once = Once::new();
    if !CHECKED.is_completed() {
        examine(&CHECKED, who);
    }
}

#[cold]
fn examine(checked: &Once, who: &str) {
    checked.call_once(|| {
        if let Err(error) = check() {
            say(&format!("{who}: {error}. The program ends here.\n"));
            // SAFETY: ends the process at once. Exit handlers are not run: they may belong to
            // either MPI.
            unsafe { libc::_exit(EXIT_CODE) }
        }
    });
}

/// Exit code of a program that runs under the wrong MPI.
const EXIT_CODE: c_int = 1;

/// Returns true if a library for the family `built` works under an MPI that calls itself `running`.
/// Unknown names belong to vendors' MPIs, which descend from one of the two families.
fn fits(built: &str, running: &str, exports_open_mpi: impl FnOnce() -> bool) -> bool {
    // whoever has the standard ABI
    if built.is_empty() || built == STANDARD {
        return true;
    }
    match NAMES.iter().find(|(name, _)| running.contains(name)) {
        Some((_, family)) => *family == built,
        None => exports_open_mpi() == (built == OPEN_MPI),
    }
}

/// Returns true if the library that provides MPI's functions descends from Open MPI.
fn exports_open_mpi() -> bool {
    family_of(mpi_sys::MPI_Get_library_version as *const c_void) == Some(OPEN_MPI)
}

/// Returns the other family if the program has also loaded an MPI of it. The loader searches the
/// program's own libraries before those that this library needs, so the Fortran part of a program
/// may call one MPI and its C part another.
fn beside() -> Option<&'static str> {
    let built = built();
    let mut others = families(libc::RTLD_DEFAULT).filter(|family| *family != built);
    [OPEN_MPI, MPICH, STANDARD].contains(&built).then(|| others.next()).flatten()
}

/// Returns the families whose MPI is in a library, by a handle of `dlopen`, or in the process.
fn families(scope: *mut c_void) -> impl Iterator<Item = &'static str> {
    // SAFETY: looks up symbols; nothing is loaded. The function of MPI that is called, to ask for
    // the ABI, may be called at any time.
    let found = unsafe { mpixn_families_of(scope) };
    let named = |family: c_int| {
        let name = mpixn_family_name(family);
        // SAFETY: a string constant of the C file, or null.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default())
    };
    (0..).map_while(named).enumerate().filter(move |(family, _)| found >> family & 1 != 0).map(|(_, name)| name)
}

/// Returns the family of the library that contains an address, identified by a symbol that it or
/// one of its dependencies exports.
fn family_of(address: *const c_void) -> Option<&'static str> {
    // SAFETY: a structure of integers and pointers, which the call fills; symbols are looked up in
    // the object that it names, and nothing new is loaded.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        let library = libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        let mut all = families(library);
        let found = all.next().filter(|_| all.next().is_none());
        libc::dlclose(library);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_and_newer_versions_fit() {
        let no = || unreachable!("the name is known");
        for running in ["Open MPI v4.1.4, package: Debian OpenMPI", "Open MPI v5.0.11", "IBM Spectrum MPI v10.4"] {
            assert!(fits(OPEN_MPI, running, no) && !fits(MPICH, running, no), "{running}");
        }
        for running in [
            "MPICH Version: 5.0.2",
            "MVAPICH2 Version : 2.3.7",
            "Intel(R) MPI Library 2021.12 for Linux* OS",
            "MPI VERSION : CRAY MPICH version 8.1",
        ] {
            assert!(fits(MPICH, running, no) && !fits(OPEN_MPI, running, no), "{running}");
        }
        for running in ["SMPI Version 3.32. Copyright The SimGrid Team 2007-2022", "SimGrid 4"] {
            assert!(fits(SIMGRID, running, no) && !fits(OPEN_MPI, running, no) && !fits(MPICH, running, no), "{running}");
        }
    }

    #[test]
    fn the_standard_abi_fits_whoever_has_it() {
        let no = || unreachable!("the name does not matter");
        assert!(fits(STANDARD, "MPICH Version: 5.0.2", no) && fits(STANDARD, "Open MPI v6.0.0", no));
    }

    #[test]
    fn versions_of_open_mpi_are_read() {
        for (text, version) in [
            ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", Some(4)),
            ("Open MPI v5.0.11", Some(5)),
            ("Open MPI v10.0.0rc1", Some(10)),
            ("MPICH Version: 5.0.2", None),
            ("IBM Spectrum MPI v10.4", None),
        ] {
            assert_eq!(open_mpi_version(text), version, "{text}");
        }
    }

    #[test]
    fn devices_of_mpich_are_read() {
        let over =
            |device: &str| is_over_ucx(&format!("MPICH Version: 4.0.2\nMPICH Device: {device}\nMPICH configure: --with-ucx\n"));
        assert!(over("ch4:ucx") && over("ch4:ofi,ucx") && !over("ch4:ofi") && !is_over_ucx("Open MPI v4.1.4, ucx"));
    }

    #[test]
    fn unknown_names_are_told_apart_by_what_they_export() {
        assert!(fits(OPEN_MPI, "Vendor 1", || true) && !fits(OPEN_MPI, "Vendor 1", || false));
        assert!(fits(MPICH, "Vendor 1", || false) && !fits(MPICH, "Vendor 1", || true));
        assert!(fits("", "Vendor 1", || unreachable!("nothing is known to compare with")));
    }
}
