//! Sources of the machine's parameters, and hints for measuring them.

use std::io::{self, ErrorKind::NotADirectory, ErrorKind::NotFound, ErrorKind::PermissionDenied};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::names::{LOGGP_BYTES, LOGGP_FILE, LOGGP_SECONDS};
use super::value::find;
use crate::error::{Error, Result};
use crate::model::{FileError, Loggp};

/// Reads the machine's parameters from the site's file: the one named by the environment variable
/// `MPIX_LOGGP_FILE`, or [`loggp_path`] if that file exists.
///
/// # Errors
/// The file cannot be read, or is not a valid parameter file.
pub fn site_loggp(env: impl Fn(&str) -> Option<String>, file: impl Fn(&Path) -> io::Result<String>) -> Result<Option<Loggp>> {
    let (origin, path) = match env(LOGGP_FILE) {
        Some(name) => (format!("environment variable {LOGGP_FILE} = \"{name}\""), name.into()),
        None => match loggp_path(&env) {
            Some(path) => (format!("the file {}", path.display()), path),
            None => return Ok(None),
        },
    };
    match file(&path) {
        Ok(text) => {
            let wrong = |e: FileError| Error::LoggpFile { origin, reason: e.without_content() };
            Ok(Some(text.parse().map_err(wrong)?))
        }
        // a default file need not exist
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | PermissionDenied) && env(LOGGP_FILE).is_none() => {
            if e.kind() == PermissionDenied {
                log::warn!("{origin} is not looked at: {e}");
            }
            Ok(None)
        }
        Err(e) => Err(Error::LoggpUnread { origin, reason: e.to_string() }.into()),
    }
}

/// Path of the file with the machine's parameters for all programs of a user: `mpix-neighbor/loggp`
/// in `$XDG_CONFIG_HOME`, or in `~/.config`. `None` if neither directory is known. `env` returns
/// the value of an environment variable.
pub fn loggp_path(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    Some(folder("XDG_CONFIG_HOME", ".config", env)?.join("loggp"))
}

/// Path of the folder with the parameters that set calls have measured: `mpix-neighbor` in
/// `$XDG_CACHE_HOME`, or in `~/.cache`. `None` if neither directory is known.
pub fn kept_folder(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    folder("XDG_CACHE_HOME", ".cache", env)
}

fn folder(variable: &str, below_home: &str, env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let directory = |variable: &str| env(variable).map(PathBuf::from).filter(|d| d.is_absolute());
    let base = directory(variable).or_else(|| Some(directory("HOME")?.join(below_home)))?;
    Some(base.join("mpix-neighbor"))
}

/// Options for measuring the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measuring {
    /// `mpix_loggp_seconds`: approximate duration, in seconds (default 3).
    pub seconds: f64,
    /// `mpix_loggp_bytes`: the longest message, in bytes (default 1 MiB).
    pub longest: u32,
}

impl Default for Measuring {
    fn default() -> Self {
        Measuring { seconds: 3.0, longest: 1 << 20 }
    }
}

impl Measuring {
    /// Valid durations, in seconds.
    pub const SECONDS: RangeInclusive<f64> = 0.01..=3600.0;
    /// Valid lengths of the longest message, in bytes.
    pub const BYTES: RangeInclusive<u32> = 1024..=1 << 30;

    /// Reads the hints. `info` and `env` return the value of a key or variable.
    pub fn read(info: impl Fn(&str) -> Result<Option<String>>, env: impl Fn(&str) -> Option<String>) -> Result<Measuring> {
        let mut measuring = Measuring::default();
        if let Some(v) = find(LOGGP_SECONDS, &info, &env)? {
            let seconds = v.text.trim().parse().ok().filter(|s| Self::SECONDS.contains(s));
            let allowed = || format!("{} to {}", Self::SECONDS.start(), Self::SECONDS.end());
            measuring.seconds = seconds.ok_or_else(|| v.wrong(allowed()))?;
        }
        if let Some(v) = find(LOGGP_BYTES, &info, &env)? {
            measuring.longest = v.small_number(Self::BYTES)?;
        }
        Ok(measuring)
    }
}
