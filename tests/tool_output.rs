//! Files that the command-line tool writes, and what stands in tables where there is no number.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const TOOL: &str = env!("CARGO_BIN_EXE_mpix-neighbor");

fn run(arguments: &str) -> Output {
    Command::new(TOOL).args(arguments.split_whitespace()).output().unwrap()
}

/// The output of a run, which must succeed.
fn printed(arguments: &str) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An empty directory; `name` is the test's own.
fn place(name: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    place
}

/// Where there is no room for a file, the one that is there stays as it is.
#[test]
fn no_room_for_a_file() {
    let place = place("no_room");
    let old = place.join("old");
    for arguments in
        ["schedule --generate irregpc2 --export", "schedule --generate irregpc2 --algorithm direct --chart", "sparse --crossover"]
    {
        std::fs::write(&old, "old").unwrap();
        let line = format!("trap '' XFSZ; ulimit -f 1; exec {TOOL} {arguments} {}", old.display());
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && error.contains("old: File too large"), "{arguments}: {error}");
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "old", "{arguments}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1, "{arguments}: something is left over");
    }
}

#[test]
fn charts_on_standard_output() {
    let place = place("dash");
    for (option, arguments) in
        [("--chart", "schedule --generate irregpc2 --split no --algorithm random_rounds"), ("--crossover", "sparse")]
    {
        let file = place.join("chart.svg");
        assert!(printed(&format!("{arguments} {option} {}", file.display())).contains('|'));
        assert_eq!(printed(&format!("{arguments} {option} -")), std::fs::read_to_string(&file).unwrap(), "{option}");
        let output = run(&format!("{arguments} {option} - --json"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty() && output.status.code() == Some(2), "{error}");
        assert_eq!(error, format!("error: {option} - and --json both write to standard output\n"));
    }
    let output = run("schedule --generate irregpc2 --algorithm direct --chart - --export -");
    assert_eq!(output.status.code(), Some(2), "two things on standard output");
    assert!(!PathBuf::from("-").exists());
}

/// Where a process sends and receives in a round, although it has one port, there is no cost to
/// compare with the bound; no cost is below the bound.
#[test]
fn costs_in_half_duplex() {
    for graph in ["grid:4p", "grid:4x4p", "irregpc2", "star:8", "regular:16,15"] {
        let text = printed(&format!("schedule --generate {graph} --duplex half --unit 100000 --json"));
        let report: Value = serde_json::from_str(&text).unwrap();
        for f in report["algorithms"].as_array().unwrap() {
            let name = f["algorithm"].as_str().unwrap();
            let keeps_both = ["linear_permutation", "dimension_order"].contains(&name) && graph != "star:8";
            let rounds = ["random_rounds", "edge_coloring", "distributed_coloring"].contains(&name);
            let ratio = f["cost_ratio"].as_f64();
            assert_eq!(f["cost_bytes"].is_number(), ratio.is_some(), "{graph}: {f}");
            assert!(ratio.is_none_or(|ratio| ratio > 1.0 - 1e-9), "{graph}: {f}");
            assert!(!(keeps_both && ratio.is_some() || rounds && ratio.is_none()), "{graph}: {f}");
        }
    }
    let text = printed("schedule --generate grid:4p --duplex half");
    assert!(text.contains("with one message in or one out at a time, at least 4 rounds"), "{text}");
    assert!(text.lines().any(|l| l.starts_with("| linear_permutation ") && l.contains(" - | ")), "{text}");
}
