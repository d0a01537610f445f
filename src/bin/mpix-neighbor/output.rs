//! Files that commands write. They are replaced as a whole: whoever reads one, also after a failure
//! to write, finds the old one or the new one.

use std::io::Write;
use std::path::Path;

use mpix_neighbor::environment::replace;

use crate::failure::{Failure, print, unless_nobody_reads};
use crate::text::printable;

/// Returns true if a name stands for standard output.
fn is_standard_output(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Checks that only one of the things that a command makes goes to standard output: files, by the
/// options that name them, and JSON. Returns true if it is a file: then nothing else is printed.
pub fn alone(files: &[(&str, Option<&Path>)], json: bool) -> Result<bool, Failure> {
    let printed = files.iter().filter(|(_, file)| file.is_some_and(is_standard_output));
    let mut options: Vec<String> = printed.map(|(option, _)| format!("{option} -")).collect();
    let any = !options.is_empty();
    if json {
        options.push("--json".into());
    }
    match (any, &options[..]) {
        (true, [one, other, ..]) => Err(Failure::Usage(format!("{one} and {other} both write to standard output"))),
        _ => Ok(any),
    }
}

/// Writes a text to a file, or to standard output for `-`.
pub fn write(file: &Path, text: &str) -> Result<(), Failure> {
    if is_standard_output(file) {
        return print(text);
    }
    write_by(file, |out| out.write_all(text.as_bytes()))
}

/// Writes what `write` does to a file, or to standard output for `-`.
pub fn write_by(file: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    if is_standard_output(file) {
        return unless_nobody_reads(write(&mut std::io::stdout().lock()));
    }
    let failed = |e: std::io::Error| Failure::Run(format!("{}: {e}", printable(&file.display().to_string())));
    let written = replace(file, |open| {
        write(open)?;
        // some systems only now find that there is no room; devices and pipes need not be able to
        if open.metadata()?.is_file() { open.sync_all() } else { Ok(()) }
    });
    written.map_err(failed)
}

/// Writes a text to a file, and the directories that lead to it; or to standard output for `-`.
#[cfg(any(test, feature = "mpi"))]
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub fn write_with_directories(file: &Path, text: &str) -> Result<(), Failure> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)
            .map_err(|e| Failure::Run(format!("{}: {e}", printable(&file.display().to_string()))))?;
    }
    write(file, text)
}
