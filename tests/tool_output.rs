//! Files that the command-line tool writes, and what stands in tables where there is no number.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
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

/// A file that its reader may not write to is not replaced, though the folder takes a new one.
#[test]
fn a_file_that_must_not_be_written_stays() {
    const NOBODY: u32 = 65534;
    let place = std::env::temp_dir().join(format!("mpix-tool-read-only-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let (tool, file) = (place.join("tool"), place.join("export.json"));
    // by a process of its own: one that another thread starts would inherit the open copy, and what
    // is open for writing cannot be run
    assert!(Command::new("cp").arg(TOOL).arg(&tool).status().unwrap().success());
    std::fs::write(&file, "old").unwrap();
    for (path, mode) in [(&place, 0o777), (&tool, 0o755), (&file, 0o444)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(&tool);
    // SAFETY: reads an id of the process.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.args(["schedule", "--generate", "irregpc2", "--export"]).arg(&file).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && error.contains("export.json: Permission denied"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2, "something is left over");
    std::fs::remove_dir_all(place).unwrap();
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

/// The lines of tables have as many cells as their headings, and no cell is no number.
fn assert_tables(text: &str) {
    let cells = |line: &str| line.matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for table in lines.split(|line| !line.starts_with('|')).filter(|table| !table.is_empty()) {
        assert!(table.iter().all(|line| cells(line) == cells(table[0])), "{text}");
    }
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[test]
fn what_is_no_number_is_a_dash() {
    let place = place("numbers");
    let model = |name: &str, value: &str| {
        let path = place.join(name);
        let text = format!("latency = {value}\noverhead = {value}\ngap = {value}\ngap_per_byte = {value}\neager = unlimited\n");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (zero, huge) = (model("zero", "0"), model("huge", "1e308"));
    let text = printed("compare --matrices 1 --budget 0 --phi 0 --units 16,64,16");
    assert_tables(&text);
    assert_eq!(text.lines().filter(|line| line.starts_with("| 16 ")).count(), 4, "a row in each table: {text}");
    let text = printed(&format!("sparse --loggp {zero} --processes 2,4 --bounds"));
    assert_tables(&text);
    assert!(text.contains(" - |"), "{text}");
    assert_tables(&printed(&format!("sparse --loggp {huge} --processes 2,4 --bounds")));
    let schedule = format!("schedule --generate star:3 --startup 1k --model {huge}");
    let text = printed(&schedule);
    assert_tables(&text);
    assert!(text.lines().any(|line| line.starts_with("| direct ") && line.contains(" - | ")), "{text}");
    let output = run(&format!("{schedule} --algorithm direct --chart -"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: the predicted time is too long to be drawn\n");
}

#[test]
fn edges_to_the_same_process_are_told() {
    let place = place("selves");
    let told = |text: &str| {
        std::fs::write(place.join("edges"), text).unwrap();
        printed(&format!("schedule {}", place.join("edges").display())).lines().next().unwrap().to_owned()
    };
    assert!(told("0 1\n1 0\n").starts_with("graph: edges; 2 processes, 2 edges, "));
    assert!(told("0 1\n1 1\n").starts_with("graph: edges, 1 edge of a process to itself left out; 2 processes, 1 edges, "));
    assert!(told("0 0\n0 1\n1 1\n").contains(", 2 edges of a process to itself left out; "));
}

/// Names of files and what stands in them reach neither a terminal nor a chart as they are.
#[test]
fn names_in_reports_and_charts_are_printable() {
    let place = place("names");
    let model = place.join("model\x1b[2J");
    std::fs::write(&model, "latency = 9\noverhead = 1\ngap = 3\ngap_per_byte = 0.5\neager = 7\n").unwrap();
    let times = place.join("times");
    std::fs::write(&times, "about\x1b[1m\n\nput\x07, microseconds (ratio to a)\nn\x1b  a\x1b\n1  2.0\n2  3.0\n").unwrap();
    let model = model.to_str().unwrap();
    for arguments in [
        vec!["schedule", "--generate", "star:3", "--model", model],
        vec!["schedule", "--generate", "star:3", "--model", model, "--algorithm", "direct", "--chart", "-"],
        vec!["sparse", "--loggp", model],
        vec!["sparse", "--loggp", model, "--crossover", "-"],
        vec!["plot", times.to_str().unwrap()],
    ] {
        let output = Command::new(TOOL).args(&arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("\\u{1b}"), "{arguments:?}: {text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{arguments:?}: {text:?}");
    }
}

/// Launchers merge what processes print: an error comes in one write, or lines of several mix.
#[test]
fn an_error_in_one_write() {
    let (reader, writer) = UnixDatagram::pair().unwrap();
    let status = Command::new(TOOL).args(["schedule", "no_such_file"]).stderr(OwnedFd::from(writer)).status().unwrap();
    assert_eq!(status.code(), Some(1));
    let mut text = [0; 4096];
    let length = reader.recv(&mut text).unwrap();
    let first = String::from_utf8_lossy(&text[..length]);
    assert!(first.starts_with("error: no_such_file: ") && first.ends_with('\n'), "{first:?}");
}
