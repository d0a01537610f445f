//! Parameters that a set call has measured: kept in memory for later set calls of the program, and
//! in a file for later programs.
//!
//! The file is replaced as a whole: a reader finds the old one or the new one. Not being able to
//! read or write it only costs another measurement.

use std::fs::{self, File};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::environment;
use crate::model::Loggp;
use crate::model::kept::{FILES, Place};
use crate::mpi::of_process::OfProcess;
use crate::select::hints::kept_folder;
use crate::select::hints::origins::Origin;

/// What the process has measured or found in files, the newest last.
static MEMORY: OfProcess<Mutex<Vec<(Place, Found)>>> = OfProcess::new();

/// Parameters, and where they come from.
pub type Found = (Loggp, Origin);

/// Returns what the process remembers of a place.
pub fn recall(place: &Place) -> crate::error::Result<Option<Found>> {
    let memory = MEMORY.get()?;
    let all = memory.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(all.iter().rfind(|entry| entry.0 == *place).map(|entry| entry.1))
}

/// Remembers the parameters of a place.
pub fn remember(place: &Place, found: Found) -> crate::error::Result<()> {
    let memory = MEMORY.get()?;
    let mut all = memory.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|entry| entry.0 != *place);
    if all.len() as u64 == FILES {
        all.remove(0);
    }
    all.push((place.clone(), found));
    Ok(())
}

/// Reads the parameters of a place from its file. `None` if there is no file that counts.
pub fn read(place: &Place) -> Option<Loggp> {
    read_file(place.file(), "LogGP parameters", |text| place.read(text))
}

/// Reads what a file holds by `parse`; `what` that is, for the log.
pub fn read_file<T>(name: String, what: &str, parse: impl Fn(&str) -> std::result::Result<T, String>) -> Option<T> {
    let path = path(name)?;
    match environment::text(&path) {
        Ok(text) => match parse(&text) {
            Ok(found) => {
                log::info!("{what} read from {}", path.display());
                Some(found)
            }
            Err(why) => {
                log::info!("{} does not count: {why}", path.display());
                None
            }
        },
        Err(e) => {
            if e.kind() != ErrorKind::NotFound {
                log::info!("{} does not count: {e}", path.display());
            }
            None
        }
    }
}

/// Writes the parameters of a place into its file.
pub fn write(place: &Place, parameters: &Loggp) {
    write_file(place.file(), "LogGP parameters", &place.text(parameters));
}

/// Writes a file with this text; `what` that is, for the log.
pub fn write_file(name: String, what: &str, text: &str) {
    let Some(path) = path(name) else { return };
    match replace(&path, text) {
        Ok(()) => log::info!("{what} written to {}", path.display()),
        Err(e) => log::info!("{what} cannot be kept, as {} cannot be written: {e}", path.display()),
    }
}

fn path(name: String) -> Option<PathBuf> {
    Some(kept_folder(environment::variable)?.join(name))
}

/// Puts a file with this text in the place of one that may be there.
fn replace(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // programs on several hosts may write at the same time: each one a file of its own
    let moment = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_nanos());
    let new = path.with_extension(format!("{}-{moment}", std::process::id()));
    let written = File::create_new(&new).and_then(|mut file| file.write_all(text.as_bytes()));
    let replaced = written.and_then(|()| fs::rename(&new, path));
    if replaced.is_err() {
        // there may be none
        let _ = fs::remove_file(&new);
    }
    replaced
}
