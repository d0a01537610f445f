//! The programs under `c_tests/`: none that is written and never run.

mod common;

use std::fs;
use std::path::Path;

/// True if `word` stands in `text` and is not part of a longer name.
fn names(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

#[test]
fn the_table_or_a_script_runs_each_c_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("c_tests");
    // scripts and the table are the files without a suffix
    let runners: String = common::files_below(&folder, &[""])
        .iter()
        .filter(|path| path.extension().is_none())
        .chain([&root.join("Makefile")])
        .map(|path| fs::read_to_string(path).unwrap())
        .flat_map(|text| {
            text.lines().filter(|line| !line.starts_with('#')).map(|line| line.to_owned() + "\n").collect::<Vec<_>>()
        })
        .collect();
    let idle: Vec<_> = common::files_below(&folder, &[".c"])
        .into_iter()
        .filter(|path| !names(&runners, path.file_stem().unwrap().to_str().unwrap()))
        .map(|path| path.strip_prefix(root).unwrap().display().to_string())
        .collect();
    assert!(idle.is_empty(), "programs that nothing runs: {idle:#?}");
}
