//! What packagers and continuous integration read: targets, variables, scripts and packages that
//! they name exist, and versions are the crate's. `c_tests/packages/run` runs what can be run.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Phony targets of the Makefile, and its variables that a caller may set.
fn makefile() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = read("Makefile").replace("\\\n", " ");
    let phony = text.lines().find_map(|line| line.strip_prefix(".PHONY:")).expect("the Makefile has a list of targets");
    let targets = phony.split_whitespace().map(str::to_owned).collect();
    let variables = text.lines().filter_map(|line| line.split_once(" ?=")).map(|(name, _)| name.to_owned());
    (targets, variables.collect())
}

/// The words after each `make` that begins a command of a line.
fn make_calls(text: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    for line in text.replace("\\\n", " ").replace("{{ ", "{{").replace(" }}", "}}").lines() {
        let line = line.split(" #").next().unwrap();
        let line = line.trim_start().trim_start_matches("- ").trim_start_matches("run: ").trim_start_matches("RUN ");
        for command in line.split("&&").flat_map(|part| part.split(';')) {
            let mut words = command.split_whitespace().skip_while(|word| *word == "sudo").map(str::to_owned);
            if words.next().as_deref() == Some("make") {
                calls.push(words.collect());
            }
        }
    }
    calls
}

/// What is wrong with a call of make.
fn fault(call: &[String]) -> Option<String> {
    let (targets, variables) = makefile();
    call.iter().find_map(|word| match word.split_once('=') {
        Some((name, _)) if !variables.contains(name) => Some(format!("the Makefile has no variable {name}")),
        Some(_) => None,
        // a file, as build/mpicc/ring
        None if word.contains('/') || word.starts_with('-') || targets.contains(word) => None,
        None => Some(format!("the Makefile has no target {word}")),
    })
}

fn workflows() -> Vec<PathBuf> {
    common::files_below(&root().join(".github/workflows"), &[".yml"])
}

#[test]
fn calls_of_make_name_targets_and_variables() {
    let mut files = workflows();
    files.extend(
        ["packaging/container/Containerfile", "packaging/conda/recipe/build.sh", "docs/packages.md", "docs/install.md"]
            .map(|file| root().join(file)),
    );
    for file in files {
        let calls = make_calls(&fs::read_to_string(&file).unwrap());
        assert!(!calls.is_empty(), "{} calls no make", file.display());
        for call in calls {
            assert_eq!(fault(&call), None, "{}: make {}", file.display(), call.join(" "));
        }
    }
    // what that must not let pass
    let faults: Vec<_> =
        make_calls("- run: make lib MPICC=x && make everything\nRUN make lib WHAT=1").iter().map(|c| fault(c)).collect();
    let expected = [None, Some("the Makefile has no target everything"), Some("the Makefile has no variable WHAT")];
    assert_eq!(faults, expected.map(|f| f.map(str::to_owned)));
}

/// Spack's recipe passes target and variables as arguments of a function.
#[test]
fn spack_recipe_names_targets_and_variables() {
    let (recipe, (targets, variables)) = (read("packaging/spack/package.py"), makefile());
    let mut named = 0;
    for call in recipe.split(" make(").skip(1) {
        for word in call.split(')').next().unwrap().split('"').skip(1).step_by(2) {
            let known = word.split_once('=').map_or_else(|| targets.contains(word), |(name, _)| variables.contains(name));
            assert!(known, "the Makefile knows no {word}");
            named += 1;
        }
    }
    for word in recipe.split("f\"").skip(1).filter_map(|rest| rest.split_once('=')).map(|(name, _)| name) {
        assert!(variables.contains(word) || word.contains(' '), "the Makefile has no variable {word}");
        named += 1;
    }
    assert!(named >= 8, "the recipe's calls of make are not found");
}

#[test]
fn scripts_that_workflows_run_exist() {
    assert!(!workflows().is_empty());
    for file in workflows() {
        let text = fs::read_to_string(&file).unwrap();
        for command in text.lines().filter_map(|line| line.trim_start().strip_prefix("- run: ")) {
            let program = command.split_whitespace().next().unwrap();
            let known = ["make", "rustup", "apt-get", "git"].contains(&program) || root().join(program).is_file();
            assert!(known, "{}: {program}", file.display());
        }
    }
}

/// The image's packages are those that `scripts/deps` asks for.
#[test]
fn container_installs_what_the_build_needs() {
    let ignored = read(".dockerignore");
    for folder in ["build", "target*"] {
        assert!(ignored.lines().any(|line| line == folder), ".dockerignore: what was built here, in {folder}, is copied");
    }
    let (file, deps) = (read("packaging/container/Containerfile").replace("\\\n", " "), read("scripts/deps"));
    let installs: Vec<&str> = file.lines().filter(|line| line.contains("apt-get install")).collect();
    assert_eq!(installs.len(), 2, "one for the build, one for those who use it");
    for line in &installs {
        let packages = line.split("--no-install-recommends ").nth(1).unwrap().split("$(").next().unwrap();
        for package in packages.split_whitespace().map(|p| p.replace("${MPI}", "openmpi")) {
            assert!(
                deps.contains(&format!("{package} ")) || deps.contains(&format!("{package}\"")),
                "scripts/deps knows no {package}"
            );
        }
    }
    for package in ["gcc", "libclang-dev", "make", "pkg-config", "gfortran"] {
        assert!(installs[0].contains(&format!(" {package} ")), "the build needs {package}");
    }
    let rust = env!("CARGO_PKG_RUST_VERSION");
    assert!(file.contains(&format!("rust:{rust}-")), "the image has Rust {rust}, the least version");
}

#[test]
fn versions_are_the_crates() {
    let changelog = read("debian/changelog");
    assert!(changelog.starts_with(&format!("mpix-neighbor ({VERSION}-")), "debian/changelog begins with another version");
    assert!(
        read("packaging/conda/recipe/meta.yaml").contains(&format!("set version = \"{VERSION}\"")),
        "meta.yaml has another version"
    );
    for manifest in ["preload/Cargo.toml", "bindings/Cargo.toml", "python/pyproject.toml"] {
        assert!(read(manifest).contains(&format!("\nversion = \"{VERSION}\"\n")), "{manifest} has another version");
    }
    let rust = env!("CARGO_PKG_RUST_VERSION");
    let control = read("debian/control");
    assert!(control.contains(&format!("cargo (>= {rust})")) && control.contains(&format!("rustc (>= {rust})")));
    assert!(read("packaging/spack/package.py").contains(&format!("rust@{rust}:")));
    let major = env!("CARGO_PKG_VERSION_MAJOR");
    for flavor in ["openmpi", "mpich"] {
        assert!(control.contains(&format!("Package: libmpix-neighbor-{flavor}{major}\n")), "the package bears the SONAME");
    }
}
