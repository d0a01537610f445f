//! What the library takes from outside the program: environment variables and small files of
//! parameters.
//!
//! All reads go through here, so that a program that runs with more rights than its user (setuid,
//! setgid, file capabilities) takes nothing from that user's environment: the rule of
//! `secure_getenv`. Files are read with care, as a name may come from anywhere.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Most bytes of a file of parameters. One has about 100.
pub const LARGEST_FILE: u64 = 1 << 16;

/// The value of an environment variable. `None` for all of them in a program with more rights than
/// its user.
///
/// What is no UTF-8 is kept with replacement characters, so that whoever parses it finds it wrong
/// and does not take the variable to be unset.
pub fn variable(name: &str) -> Option<String> {
    if is_privileged() {
        return None;
    }
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The names of all environment variables. None in a program with more rights than its user.
pub fn names() -> Vec<String> {
    if is_privileged() {
        return Vec::new();
    }
    std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
}

/// True if the kernel started the program with more rights than its user has.
fn is_privileged() -> bool {
    // SAFETY: reads a value that the kernel has passed to the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The text of a file of parameters: a regular file of at most [`LARGEST_FILE`] bytes. Never waits
/// for anybody to write, and reads no device.
///
/// # Errors
/// What the system says; `InvalidInput` for what is no such file, `InvalidData` for what is no
/// UTF-8.
pub fn text(path: &Path) -> Result<String> {
    // opening a device can have effects, so it is looked at first; and again when it is open, as
    // names can change hands
    check(&std::fs::metadata(path)?)?;
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check(&file.metadata()?)?;
    let mut text = String::new();
    // a file that grows, or one of /proc, has more than it says
    let bytes = file.take(LARGEST_FILE + 1).read_to_string(&mut text)?;
    if bytes as u64 > LARGEST_FILE { Err(too_large()) } else { Ok(text) }
}

fn check(file: &std::fs::Metadata) -> Result<()> {
    if file.is_dir() {
        Err(Error::new(ErrorKind::InvalidInput, "it is a directory"))
    } else if !file.is_file() {
        Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
    } else if file.len() > LARGEST_FILE {
        Err(too_large())
    } else {
        Ok(())
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidInput, format!("it is larger than {LARGEST_FILE} bytes"))
}
