//! How comments are set: at most 100 columns wide, in all sources.

mod common;

use std::path::Path;

use common::files_below;

const WIDTH: usize = 100;

/// The beginning of a comment line, by the file's kind; `None` for files without comments.
fn mark(path: &Path, text: &str) -> Option<&'static str> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("rs") => Some("//"),
        Some("c" | "h") => Some("/*"),
        Some("f90" | "F90") => Some("!"),
        Some("f") => Some("c "),
        Some("py") => Some("# "),
        None if text.starts_with("#!") || path.ends_with("Makefile") => Some("# "),
        _ => None,
    }
}

/// The numbers of the lines that are nothing but a comment and too wide.
fn wide(text: &str, mark: &str) -> Vec<usize> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let comment = inside || line.trim_start().starts_with(mark);
        if mark == "/*" && comment {
            inside = !line.contains("*/");
        }
        // an address cannot be broken
        if comment && line.chars().count() > WIDTH && !line.contains("://") {
            found.push(number + 1);
        }
    }
    found
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("build.rs"), root.join("Makefile")];
    let folders = [
        "src", "bindings", "preload", "tests", "benches", "c_tests", "examples", "include", "fortran", "python", "scripts",
        "clients", "front",
    ];
    for folder in folders {
        files.extend(files_below(&root.join(folder), &[""]));
    }
    let mut found = Vec::new();
    for path in files {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Some(mark) = mark(&path, &text) else { continue };
        let name = path.strip_prefix(root).unwrap().display().to_string();
        found.extend(wide(&text, mark).into_iter().map(|number| format!("{name}:{number}")));
    }
    assert!(found.is_empty(), "wider than {WIDTH} columns: {found:#?}");
}
