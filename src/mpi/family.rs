//! The MPI that the library was built for, and the one that the program runs under.
//!
//! Handles differ in size and constants in value between families of MPIs. Within a family they do
//! not: a library for Open MPI 4 runs under Open MPI 5, one for MPICH under MPICH's relatives.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use super::library_version;
use crate::error::{Error, Result};

unsafe extern "C" {
    fn mpixn_family() -> *const c_char;
    fn mpixn_built_for() -> *const c_char;
}

const OPEN_MPI: &str = "Open MPI";
const MPICH: &str = "MPICH";

/// Symbols that all MPIs of a family export, and no other.
const OF_OPEN_MPI: &CStr = c"ompi_mpi_comm_world";
const OF_MPICH: &CStr = c"MPII_Comm_get_attr";

/// Part of `MPI_Get_library_version`'s text, and the family.
const NAMES: [(&str, &str); 9] = [
    (OPEN_MPI, OPEN_MPI),
    ("Spectrum MPI", OPEN_MPI),
    ("FUJITSU MPI", OPEN_MPI),
    // with MVAPICH's and Cray's
    (MPICH, MPICH),
    ("MVAPICH", MPICH),
    ("Intel(R) MPI", MPICH),
    ("ParaStation MPI", MPICH),
    ("SMPI", "SimGrid"),
    ("SimGrid", "SimGrid"),
];

/// The family that the library was built for; empty where mpi.h does not tell.
pub fn built() -> &'static str {
    // SAFETY: a string constant of the C file.
    unsafe { CStr::from_ptr(mpixn_family()) }.to_str().unwrap_or_default()
}

/// Whether waiting in MPI gives the core away where processes share cores. Open MPI does so when
/// its launcher sees it; MPICH's wait keeps the core that its peer needs (milliseconds a call, seen
/// in 4.0.2).
pub fn wait_yields() -> bool {
    is_open_mpi()
}

/// Whether the MPI is Open MPI.
pub fn is_open_mpi() -> bool {
    built() == "Open MPI"
}

/// An error if the program runs under an MPI of another family than the one that the library was
/// built for: no other function of the MPI may be called then.
pub fn check() -> Result<()> {
    let mut running = library_version();
    if fits(built(), &running, exports_open_mpi) {
        match beside() {
            Some(other) => running = format!("{other}, which is loaded too"),
            None => return Ok(()),
        }
    }
    // SAFETY: a string constant of the C file.
    let built = unsafe { CStr::from_ptr(mpixn_built_for()) }.to_string_lossy();
    Err(Error::WrongMpi { built: built.into(), running }.into())
}

/// Ends the process if it runs under another MPI than the library was built for. `who` begins the
/// message.
///
/// No handle that the caller passed means what it says then, and no error handler can be called; a
/// return code can be ignored, and the program would go on with whatever its buffers hold. So it
/// ends here, before any argument is looked at. MPI need not be initialized. Checks once in a
/// process.
#[inline(always)]
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
            use std::io::Write;
            // one write, so that lines of several processes do not mix; nobody is there to tell if
            // it fails
            let _ = std::io::stderr().write_all(format!("{who}: {error}. The program ends here.\n").as_bytes());
            // SAFETY: ends the process at once. Exit handlers are not run: they may belong to
            // either MPI.
            unsafe { libc::_exit(EXIT_CODE) }
        }
    });
}

/// Exit code of a program that runs under the wrong MPI.
const EXIT_CODE: c_int = 1;

/// True if a library for the family `built` can work under an MPI that calls itself `running`.
/// Names that nobody knows are of vendors' MPIs, which descend from one of the two families.
fn fits(built: &str, running: &str, exports_open_mpi: impl FnOnce() -> bool) -> bool {
    if built.is_empty() {
        return true;
    }
    match NAMES.iter().find(|(name, _)| running.contains(name)) {
        Some((_, family)) => *family == built,
        None => exports_open_mpi() == (built == OPEN_MPI),
    }
}

/// True if the library that MPI's functions come from is a descendant of Open MPI.
fn exports_open_mpi() -> bool {
    // SAFETY: the address of a function.
    unsafe { family_of(mpi_sys::MPI_Get_library_version as *const c_void) == Some(OPEN_MPI) }
}

/// The other family, if an MPI of it is loaded for the whole program too. The libraries that a
/// program needs are searched before those that ours need, so that its Fortran part may call one
/// MPI and its C part another.
fn beside() -> Option<&'static str> {
    let (marker, family) = match built() {
        OPEN_MPI => (OF_MPICH, MPICH),
        MPICH => (OF_OPEN_MPI, OPEN_MPI),
        _ => return None,
    };
    // SAFETY: looks up a symbol; nothing is loaded.
    (!unsafe { libc::dlsym(libc::RTLD_DEFAULT, marker.as_ptr()) }.is_null()).then_some(family)
}

/// The family of the library that holds an address, by a symbol that it or what it needs exports.
///
/// # Safety
/// None but that of an address: it is not followed.
unsafe fn family_of(address: *const c_void) -> Option<&'static str> {
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
        let has = |name: &CStr| !libc::dlsym(library, name.as_ptr()).is_null();
        let found = match (has(OF_OPEN_MPI), has(OF_MPICH)) {
            (true, false) => Some(OPEN_MPI),
            (false, true) => Some(MPICH),
            _ => None,
        };
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
        assert!(!fits(OPEN_MPI, "SMPI Version 3.32", no));
    }

    #[test]
    fn unknown_names_are_told_apart_by_what_they_export() {
        assert!(fits(OPEN_MPI, "Vendor 1", || true) && !fits(OPEN_MPI, "Vendor 1", || false));
        assert!(fits(MPICH, "Vendor 1", || false) && !fits(MPICH, "Vendor 1", || true));
        assert!(fits("", "Vendor 1", || unreachable!("nothing is known to compare with")));
    }
}
