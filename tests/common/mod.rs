//! Helpers that several tests share.

use std::path::{Path, PathBuf};

/// Files below a folder whose names end with one of `suffixes`, sorted.
pub fn files_below(folder: &Path, suffixes: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, suffixes));
        } else if suffixes.iter().any(|suffix| path.to_string_lossy().ends_with(suffix)) {
            found.push(path);
        }
    }
    found.sort();
    found
}
