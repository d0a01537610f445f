//! The rules about which module may use which. One way only; see the picture in `src/lib.rs`.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::files_below;
use uses::Crate;

/// Most lines of a source file.
const MAX_LINES: usize = 700;

/// The rooms that are built without MPI.
const PURE: [&str; 6] = ["error", "util", "topology", "schedule", "model", "select"];

/// The workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn source_folder() -> PathBuf {
    root().join("src")
}

/// Source files below `src` as (path relative to `src`, text without comments and tests' modules).
fn sources() -> Vec<(String, String)> {
    let root = source_folder();
    (files_below(&root, &[".rs"]).iter())
        .map(|f| {
            let text = std::fs::read_to_string(f).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            (f.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), code.join("\n"))
        })
        .collect()
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let allowed = |module: &str| -> Vec<&str> {
        match module {
            "error" | "util" => vec![],
            "topology" => vec!["error", "util"],
            "schedule" => vec!["topology", "util"],
            "model" => vec!["schedule", "topology", "util"],
            "select" => vec!["error", "model", "schedule", "topology", "util"],
            "environment" => vec![],
            "logging" => vec!["environment", "mpi", "select", "util"],
            "mpi" => vec!["error", "util"],
            "datatype" => vec!["error", "mpi", "topology", "util"],
            "shm" => vec!["error", "mpi", "util"],
            "exec" => vec!["datatype", "error", "mpi", "observe", "schedule", "shm", "topology", "util"],
            "observe" => vec!["environment", "error", "mpi", "util"],
            "progress" => vec!["error", "mpi", "util"],
            "machine" => vec!["environment", "error", "model", "mpi", "schedule", "select", "shm", "topology", "util"],
            "collective" => [&PURE[..], &["datatype", "exec", "machine", "mpi", "observe", "progress", "shm"]].concat(),
            "sparse" => {
                vec![
                    "datatype",
                    "environment",
                    "error",
                    "logging",
                    "model",
                    "mpi",
                    "observe",
                    "progress",
                    "select",
                    "shm",
                    "topology",
                    "util",
                ]
            }
            "window" => vec!["datatype", "error", "exec", "mpi", "observe", "progress", "select", "shm", "sparse", "util"],
            "measure" => vec!["error", "machine", "model", "mpi", "select", "sparse", "util"],
            "capi" => {
                vec![
                    "collective",
                    "datatype",
                    "environment",
                    "error",
                    "logging",
                    "machine",
                    "model",
                    "mpi",
                    "select",
                    "sparse",
                    "topology",
                    "util",
                    "window",
                ]
            }
            // a crate of its own, which sees what is public
            "bin" => [&PURE[..], &["capi", "environment", "measure"]].concat(),
            "lib" => vec![],
            other => panic!("src/{other} has no place in the layers: give it one here"),
        }
    };
    let library = Crate::read(&source_folder(), "crate");
    let mut arrows: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, file) in &library.files {
        let room = file.path.split(['/', '.']).next().unwrap();
        if room == "bin" {
            continue;
        }
        for used in library.uses(module) {
            let Some(used) = used.first() else { continue };
            assert!(room == used.as_str() || allowed(room).contains(&used.as_str()), "src/{} uses crate::{used}", file.path);
            arrows.entry(room).or_default().insert(used.clone());
        }
    }
    let mut unused: Vec<String> = Vec::new();
    for (room, used) in &arrows {
        unused.extend(allowed(room).iter().filter(|module| !used.contains(**module)).map(|module| format!("{room} -> {module}")));
    }
    assert!(unused.is_empty(), "the table allows what nobody needs: {unused:?}");
    let tool = Crate::read(&source_folder().join("bin/mpix-neighbor"), "mpix_neighbor");
    for file in tool.files.values() {
        for used in
            file.named.iter().filter_map(|path| path.first()).filter(|name| library.files.contains_key(&vec![(*name).clone()]))
        {
            assert!(allowed("bin").contains(&used.as_str()), "src/bin/mpix-neighbor/{} uses mpix_neighbor::{used}", file.path);
        }
    }
    let mut algorithms: Vec<&str> =
        library.files.keys().filter(|path| path.len() == 3 && path[1] == "algorithms").map(|path| path[2].as_str()).collect();
    assert!(algorithms.len() >= 8, "{algorithms:?}");
    algorithms.push("algorithms");
    for (file, text) in sources() {
        let module = file.split(['/', '.']).next().unwrap();
        if PURE.contains(&module) {
            assert!(!text.contains("libc"), "src/{file} uses libc");
        }
        // the algorithms are reached through the table; `build` does what its entries ask for
        if !["schedule", "bin"].contains(&module) && file != "collective/set/build.rs" {
            let around = algorithms.iter().find(|name| text.contains(&format!("{name}::")));
            assert!(around.is_none(), "src/{file} reaches around the table of algorithms: {around:?}");
        }
        if module != "mpi" {
            assert!(!text.contains("mpi_sys"), "src/{file} uses mpi_sys");
        }
        assert!(!text.contains("MPI_Neighbor_"), "src/{file} calls a native neighborhood collective");
    }
}

/// A reader can begin with the file that uses no other of its folder, and go on from there.
#[test]
fn no_files_of_a_folder_use_each_other_in_a_circle() {
    for folder in ["src", "src/bin/mpix-neighbor", "preload/src", "bindings/src"] {
        let folder = root().join(folder);
        let circles = Crate::read(&folder, "crate").circles();
        assert!(circles.is_empty(), "below {}: {circles:#?}", folder.display());
    }
}

#[test]
fn no_file_is_too_long() {
    let root = root();
    let mut long = Vec::new();
    for folder in ["src", "preload/src", "bindings", "tests", "benches"] {
        for file in files_below(&root.join(folder), &[".rs"]) {
            let lines = std::fs::read_to_string(&file).unwrap().lines().count();
            if lines > MAX_LINES {
                long.push(format!("{}: {lines}", file.strip_prefix(root).unwrap().display()));
            }
        }
    }
    assert!(long.is_empty(), "more than {MAX_LINES} lines: {long:#?}");
}

/// The map in `lib.rs` names every room, and every folder in it: in backquotes, or in the picture.
#[test]
fn the_map_draws_every_module() {
    let text = std::fs::read_to_string(source_folder().join("lib.rs")).unwrap();
    let map: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//!")).collect();
    let map = map.join("\n").replace("```", "~~~");
    let mut drawn: Vec<&str> = map.split('`').skip(1).step_by(2).flat_map(|name| name.split("::")).collect();
    let picture = map.split("~~~").nth(1).unwrap();
    // a line of the picture begins with a room, or with several that use one another
    for line in picture.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        let rooms = line.split("    ").next().unwrap();
        drawn.extend(rooms.split(" -> ").map(|room| room.split_whitespace().next().unwrap_or_default()));
    }
    let missing: Vec<String> = (Crate::read(&source_folder(), "crate").files.iter())
        .filter(|(module, file)| !file.path.starts_with("bin/") && (module.len() == 1 || file.path.ends_with("/mod.rs")))
        .filter(|(module, _)| module.last().is_some_and(|name| !drawn.contains(&name.as_str())))
        .map(|(module, _)| module.join("::"))
        .collect();
    assert!(missing.is_empty(), "lib.rs's map does not draw {missing:?}");
}

/// A program with more rights than its user takes nothing from that user's environment, which
/// `environment` sees to.
#[test]
fn the_environment_is_read_in_one_place() {
    for (file, text) in sources() {
        if file != "environment.rs" {
            for read in ["env::var", "getenv"] {
                assert!(!text.contains(read), "src/{file} reads the environment itself: {read}");
            }
        }
    }
    for path in files_below(&root().join("preload/src"), &[".rs"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("env::var") && !text.contains("getenv"), "{} reads the environment itself", path.display());
    }
}

/// A file without `unsafe` says so itself, or the module says so for all files that it is in.
#[test]
fn pure_modules_forbid_unsafe_code() {
    let library = Crate::read(&source_folder(), "crate");
    let forbids = |module: &[String]| {
        let text = library.files.get(module).map(|file| std::fs::read_to_string(source_folder().join(&file.path)).unwrap());
        text.is_some_and(|text| text.contains("#![forbid(unsafe_code)]"))
    };
    let typemap = ["datatype".to_owned(), "typemap".to_owned()];
    let mut free: Vec<String> = Vec::new();
    for module in library.files.keys() {
        if module.first().is_some_and(|room| PURE.contains(&room.as_str())) || *module == typemap {
            let forbidden = (1..=module.len()).any(|n| forbids(&module[..n]));
            if !forbidden {
                free.push(module.join("::"));
            }
        }
    }
    assert!(free.is_empty(), "may have unsafe code: {free:?}");
}
