//! The programs under `c_tests/`: none that is written and never run.

mod common;

use std::fs;
use std::path::Path;

/// A file's lines that are no comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| [line, "\n"]).collect()
}

/// True if `name` stands in `text` and does not go on there: `$OUT/fuzz` does in `$OUT/fuzz.log`.
fn names(text: &str, name: &str) -> bool {
    text.split(name).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_-.".contains(c)))
}

#[test]
fn the_table_or_a_script_runs_each_c_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("c_tests");
    let table = code(&folder.join("table"));
    let rows: Vec<&str> = table.lines().filter_map(|line| Some(line.split_once('|')?.0.trim())).collect();
    // scripts are the files without a suffix
    let scripts: String = common::files_below(&folder, &[""])
        .iter()
        .filter(|path| path.extension().is_none() && !path.ends_with("table"))
        .map(|path| code(path))
        .collect();
    // a script, or a rule for one file, compiles some programs by their paths
    let compiled = code(&root.join("Makefile")) + &scripts;
    let idle: Vec<_> = common::files_below(&folder, &[".c"])
        .into_iter()
        .map(|path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned())
        .filter(|path| {
            let stem = Path::new(path).file_stem().unwrap().to_str().unwrap();
            let run = match path.strip_prefix("c_tests/preload/") {
                Some(_) => names(&scripts, &format!("preload_{stem}")),
                None => rows.contains(&stem) || names(&scripts, &format!("$OUT/{stem}")),
            };
            !run && !names(&compiled, path)
        })
        .collect();
    assert!(idle.is_empty(), "programs that nothing runs: {idle:#?}");
}
