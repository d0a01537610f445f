//! Writes all generated files; see the library.

use std::collections::BTreeSet;
use std::io::Result;
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut current = BTreeSet::new();
    let mut failed = Ok(());
    mpix_neighbor_bindings::generate(&root, &mut |path, text| {
        let path = root.join(path);
        let written = write(&path, text);
        if failed.is_ok() {
            failed = written;
        }
        current.insert(path);
    });
    failed?;
    for folder in mpix_neighbor_bindings::FOLDERS {
        remove_others(&root.join(folder), &current)?;
    }
    Ok(())
}

/// Writes a file unless it has this text already, so that what is built from it stays current.
fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, text)
}

/// Removes the files of functions that are no more.
fn remove_others(folder: &Path, current: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if !current.contains(&path) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
