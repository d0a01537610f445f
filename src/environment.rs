//! Input from outside the program: environment variables and small parameter files.
//!
//! All reads go through here, so that a program that runs with more privileges than its user
//! (setuid, setgid, file capabilities) ignores that user's environment, like `secure_getenv`. Files
//! are read with care, as their names may come from anywhere.

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Largest parameter file in bytes. A typical one has about 100.
pub const LARGEST_FILE: u64 = 1 << 16;

/// The value of an environment variable. Always `None` in a program with more privileges than its
/// user.
///
/// Invalid UTF-8 is kept with replacement characters, so that the parser reports an error and does
/// not take the variable to be unset.
pub fn variable(name: &str) -> Option<String> {
    if is_privileged() {
        return None;
    }
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The names of all environment variables. Empty in a program with more privileges than its user.
pub fn names() -> Vec<String> {
    if is_privileged() {
        return Vec::new();
    }
    std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
}

/// Tells the present values of the variables whose names begin with `prefix` from others: a hash of
/// them. Allocates nothing.
pub fn fingerprint(prefix: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    visit(prefix, |entry| {
        hasher.write(entry);
        hasher.write_u8(0);
    });
    hasher.finish()
}

/// Looks variables up whose names begin with `prefix`, as [`variable`] does. If there is none now,
/// each answer is `None` without another look.
pub fn of_prefix(prefix: &str) -> impl Fn(&str) -> Option<String> {
    let mut any = false;
    visit(prefix, |_| any = true);
    move |name| if any { variable(name) } else { None }
}

/// Visits the variables whose names begin with `prefix`, with their values. None in a program with
/// more privileges than its user.
fn visit(prefix: &str, mut entry: impl FnMut(&[u8])) {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    if is_privileged() {
        return;
    }
    // SAFETY: an array of strings that ends with a null pointer. As with `getenv`, no other thread
    // of the program may change its environment meanwhile.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            if libc::strncmp(*at, prefix.as_ptr().cast(), prefix.len()) == 0 {
                entry(CStr::from_ptr(*at).to_bytes());
            }
            at = at.add(1);
        }
    }
}

/// True if the kernel started the program with more privileges than its user has.
fn is_privileged() -> bool {
    // SAFETY: reads a value that the kernel passed to the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Reads a parameter file: a regular file of at most [`LARGEST_FILE`] bytes. Never waits for a
/// writer, and never reads a device.
///
/// # Errors
/// Errors of the system; `InvalidInput` for anything but such a file, `InvalidData` for invalid
/// UTF-8.
pub fn text(path: &Path) -> Result<String> {
    // opening a device can have side effects, so the file is checked first, and again once it is
    // open, as its name may have been reused
    check(&std::fs::metadata(path)?)?;
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check(&file.metadata()?)?;
    let mut text = String::new();
    // a growing file, or one in /proc, may be longer than its metadata says
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
