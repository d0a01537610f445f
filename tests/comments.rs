//! How comments are set: at most 100 columns wide, in all sources.

use std::path::{Path, PathBuf};

const WIDTH: usize = 100;

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// What begins a line that is nothing but a comment, by the file's kind.
fn marks(path: &Path, text: &str) -> &'static [&'static str] {
    match path.extension().and_then(|e| e.to_str()) {
        Some("rs") => &["//"],
        Some("c" | "h") => &["/*", "*"],
        Some("f90" | "F90") => &["!"],
        Some("f") => &["c "],
        None if text.starts_with("#!") || path.ends_with("Makefile") => &["# "],
        _ => &[],
    }
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("build.rs"), root.join("Makefile")];
    for folder in ["src", "preload", "tests", "benches", "c_tests", "examples", "include", "fortran", "scripts", "clients"] {
        files_below(&root.join(folder), &mut files);
    }
    let mut wide = Vec::new();
    for path in files {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let marks = marks(&path, &text);
        // an address cannot be broken
        wide.extend(
            (text.lines().enumerate()).filter(|(_, line)| line.chars().count() > WIDTH && !line.contains("://")).filter_map(
                |(number, line)| {
                    let begins = marks.iter().any(|mark| line.trim_start().starts_with(mark));
                    begins.then(|| format!("{}:{}", path.strip_prefix(root).unwrap().display(), number + 1))
                },
            ),
        );
    }
    assert!(wide.is_empty(), "wider than {WIDTH} columns: {wide:#?}");
}
