//! Input from outside the program: environment variables and small parameter files.
//!
//! All reads go through here, so that a program that runs with more privileges than its user
//! (setuid, setgid, file capabilities) ignores that user's environment, like `secure_getenv`. Files
//! are read with care, as their names may come from anywhere. Files that are written for later
//! programs are replaced as a whole.

use std::ffi::{CStr, c_char};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

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
        static mut environ: *const *const c_char;
    }
    if is_privileged() {
        return;
    }
    let first = prefix.as_bytes().first().copied();
    // SAFETY: an array of strings that ends with a null pointer. As with `getenv`, no other thread
    // of the program may change its environment meanwhile.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            // as most differ in the first byte
            if first.is_none_or(|first| (*at).cast::<u8>().read() == first) {
                let found = CStr::from_ptr(*at).to_bytes();
                if found.starts_with(prefix.as_bytes()) {
                    entry(found);
                }
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
/// writer, and never reads a device. A mark of UTF-8 at the beginning is left out; what is not
/// UTF-8 has replacement characters, which are errors but in comments.
///
/// # Errors
/// Errors of the system; `InvalidInput` for anything but such a file.
pub fn text(path: &Path) -> Result<String> {
    // opening a device can have side effects, so the file is checked first, and again once it is
    // open, as its name may have been reused
    check(&std::fs::metadata(path)?)?;
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check(&file.metadata()?)?;
    let mut bytes = Vec::new();
    // a growing file, or one in /proc, may be longer than its metadata says
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(too_large());
    }
    Ok(String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)).into_owned())
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

/// Refuses a pipe: whoever opens it waits for a reader, and closes it for that one.
///
/// # Errors
/// `InvalidInput`: the file is one.
pub fn refuse_pipe(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo()) {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a pipe"));
    }
    Ok(())
}

/// Puts a file with what `write` writes in the place of one that may be there. Whoever reads it
/// finds the old one or the new one, also if writing fails, or several programs write it at once. A
/// symbolic link stays and leads to the new file; the new file has the permissions of the old one,
/// which must be writable. Devices and pipes are written to, and so is a file whose directory takes
/// no other one.
///
/// # Errors
/// Errors of the system and of `write`.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let in_place = |path: &Path| File::options().write(true).create(true).truncate(true).open(path);
    // what these lead to is open, and would not be the new file
    let open = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|place| path.starts_with(place));
    let old = fs::metadata(path).ok();
    let leads_nowhere = old.is_none() && path.is_symlink();
    if open || leads_nowhere || old.as_ref().is_some_and(|old| !old.is_file() && !old.is_dir()) {
        return write(&mut in_place(path)?);
    }
    let path = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    if old.as_ref().is_some_and(fs::Metadata::is_file) {
        // who may write to the folder may not write to every file there
        File::options().write(true).open(&path)?;
    }
    // programs on several hosts may write at the same time: each one a file of its own
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos());
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("{}-{moment}-{number}", std::process::id()));
    let mut file = match File::create_new(&new) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) && old.is_some() => {
            return write(&mut in_place(&path)?);
        }
        Err(e) => return Err(e),
    };
    let replaced = write(&mut file).and_then(|()| {
        if let Some(old) = old.filter(fs::Metadata::is_file) {
            // some systems have none
            let _ = file.set_permissions(old.permissions());
        }
        fs::rename(&new, &path)
    });
    if replaced.is_err() {
        // nothing can be done about it
        let _ = fs::remove_file(&new);
    }
    replaced
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidInput, format!("it is larger than {LARGEST_FILE} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// An empty directory; `name` is the test's own.
    fn place(name: &str) -> std::path::PathBuf {
        let place = std::env::temp_dir().join(format!("mpix-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        place
    }

    fn put(path: &Path, text: &str) -> Result<()> {
        replace(path, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn the_old_file_stays_where_the_new_one_cannot_be_written() {
        let place = place("full");
        let path = place.join("loggp");
        put(&path, "old").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"half of")?;
            Err(Error::from(ErrorKind::StorageFull))
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(text(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1, "something is left over");
        assert!(put(&place, "a directory").is_err() && put(&place.join("none/loggp"), "nowhere").is_err());
        fs::remove_dir_all(place).unwrap();
    }

    /// A reader never sees a mixture, nor a part.
    #[test]
    fn writers_at_once() {
        let place = place("writers");
        let path = place.join("loggp");
        put(&path, "").unwrap();
        std::thread::scope(|scope| {
            for (k, letter) in ["a", "b"].into_iter().enumerate() {
                let (path, text) = (&path, letter.repeat(5000 + 5000 * k));
                scope.spawn(move || (0..50).for_each(|_| put(path, &text).unwrap()));
            }
            for _ in 0..200 {
                let seen = text(&path).unwrap();
                assert!(seen.is_empty() || seen == "a".repeat(5000) || seen == "b".repeat(10_000), "{seen}");
            }
        });
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1, "something is left over");
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn texts_of_any_bytes() {
        let place = place("bytes");
        let path = place.join("loggp");
        fs::write(&path, b"\xEF\xBB\xBFlatency = 1 # \xB5s\n").unwrap();
        assert_eq!(text(&path).unwrap(), "latency = 1 # \u{FFFD}s\n");
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn links_permissions_and_devices_stay() {
        let place = place("links");
        let (path, link) = (place.join("loggp"), place.join("link"));
        put(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("loggp", &link).unwrap();
        put(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(text(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        put(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        fs::remove_dir_all(place).unwrap();
    }
}
