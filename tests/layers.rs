//! The rules about which module may use which. One way only; see the picture in `src/lib.rs`.

use std::path::{Path, PathBuf};

/// Source files below `src` as (path relative to `src`, text without comments and tests' modules).
fn sources() -> Vec<(String, String)> {
    fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    (files.into_iter())
        .map(|f| {
            let text = std::fs::read_to_string(&f).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let text = code.join("\n");
            (f.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text)
        })
        .collect()
}

/// Modules of the crate, which is called `root`, that a text names, in `use` or in a path.
fn uses(text: &str, root: &str) -> Vec<String> {
    let mut names: Vec<String> = (text.split(root).skip(1))
        .flat_map(|rest| {
            // `use crate::{a::b, c}` names several
            let inner = rest.strip_prefix('{').and_then(|r| r.split('}').next()).unwrap_or(rest);
            let list: Vec<&str> = if rest.starts_with('{') { inner.split(',').collect() } else { vec![inner] };
            list.into_iter()
                .map(|item| item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
                .collect::<Vec<String>>()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let pure = ["error", "util", "topology", "schedule", "model", "select"];
    let allowed = |module: &str| -> Vec<&str> {
        match module {
            "error" | "util" => vec![],
            "topology" => vec!["error", "util"],
            "schedule" => vec!["topology", "util"],
            "model" => vec!["error", "schedule", "topology", "util"],
            "select" => vec!["error", "model", "schedule", "topology", "util"],
            "environment" => vec![],
            "logging" => vec!["environment", "mpi", "select"],
            // `typemap` alone, which `mpi/typemap.rs` makes
            "mpi" => vec!["datatype", "error"],
            "datatype" => vec!["error", "mpi"],
            "shm" => vec!["error", "mpi"],
            "exec" => vec!["datatype", "error", "mpi", "observe", "schedule", "shm", "topology"],
            "observe" => vec!["environment", "error", "mpi"],
            "progress" => vec!["error", "mpi"],
            "collective" => [&pure[..], &["datatype", "exec", "mpi", "observe", "progress", "shm"]].concat(),
            "sparse" => {
                vec!["environment", "error", "logging", "model", "mpi", "observe", "progress", "select", "shm"]
            }
            "measure" => vec!["error", "model", "mpi", "select", "sparse", "util"],
            "capi" => {
                let below =
                    ["collective", "datatype", "environment", "exec", "logging", "measure", "mpi", "progress", "shm", "sparse"];
                [&pure[..], &below].concat()
            }
            // a crate of its own, which sees what is public
            "bin" => [&pure[..], &["environment", "measure"]].concat(),
            "lib" => vec![],
            other => panic!("src/{other} has no place in the layers: give it one here"),
        }
    };
    for (file, text) in sources() {
        if ["schedule/properties.rs", "schedule/world.rs"].contains(&file.as_str()) {
            // modules of tests in files of their own
            continue;
        }
        let module = file.split(['/', '.']).next().unwrap();
        let root = if module == "bin" { "mpix_neighbor::" } else { "crate::" };
        for used in uses(&text, root) {
            assert!(used == module || allowed(module).contains(&used.as_str()), "src/{file} uses {root}{used}");
        }
        if pure.contains(&module) {
            assert!(!text.contains("libc::"), "src/{file} uses libc");
        }
        if module != "mpi" {
            assert!(!text.contains("mpi_sys"), "src/{file} uses mpi_sys");
        }
        // the algorithms are reached through the table; a negotiation's messages are the business of setup
        if !file.starts_with("schedule/") {
            for algorithm in ["direct::", "dimension_order::", "linear_permutation::", "edge_coloring::"] {
                assert!(!text.contains(algorithm), "src/{file} reaches around the table of algorithms");
            }
        }
        assert!(!text.contains("MPI_Neighbor_"), "src/{file} calls a native neighborhood collective");
    }
}

/// A program with more rights than its user takes nothing from that user's environment, which `environment` sees to.
#[test]
fn the_environment_is_read_in_one_place() {
    for (file, text) in sources() {
        if file != "environment.rs" {
            for read in ["env::var", "getenv"] {
                assert!(!text.contains(read), "src/{file} reads the environment itself: {read}");
            }
        }
    }
    let preload = Path::new(env!("CARGO_MANIFEST_DIR")).join("preload/src");
    for entry in std::fs::read_dir(preload).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("env::var") && !text.contains("getenv"), "{} reads the environment itself", path.display());
    }
}

#[test]
fn pure_modules_forbid_unsafe_code() {
    for module in [
        "error",
        "util/random",
        "topology/neighborhood",
        "topology/cartesian",
        "topology/graph",
        "topology/nodes",
        "model/generate",
        "select/hints",
        "model/mod",
        "select/mod",
        "schedule/mod",
        "datatype/typemap",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/{module}.rs"));
        assert!(std::fs::read_to_string(path).unwrap().contains("#![forbid(unsafe_code)]"), "{module}");
    }
}
