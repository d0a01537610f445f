//! The command-line tool as a person runs it: what it prints, what it draws, and how it fails.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use mpix_neighbor::schedule::ALGORITHMS;
use serde_json::Value;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpix-neighbor"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// What a run prints that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json"]].concat())).unwrap()
}

/// Exit code and message of a run that fails. A panic would exit with 101.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// A file with this text; `name` is the test's own.
fn file(name: &str, text: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The figures of an algorithm.
fn figures<'a>(report: &'a Value, algorithm: &str) -> &'a Value {
    let list = report["algorithms"].as_array().unwrap();
    list.iter().find(|f| f["algorithm"] == algorithm).unwrap_or_else(|| panic!("no {algorithm}"))
}

#[test]
fn every_algorithm_of_the_table_has_its_row() {
    let table = printed(&["schedule", "--generate", "grid:4x4p", "--unit", "1024"]);
    let report = json(&["schedule", "--generate", "grid:4x4p", "--unit", "1024"]);
    for entry in &ALGORITHMS {
        assert!(table.contains(&format!("\n| {} ", entry.name)), "{table}");
        let f = figures(&report, entry.name);
        assert!(f["predicted_us"].as_f64().unwrap() > 0.0);
        // a round of a port model has a cost, everything at once has none
        assert_eq!(f["cost_bytes"].is_number(), entry.single_port, "{}", entry.name);
        if entry.single_port {
            assert!(f["cost_ratio"].as_f64().unwrap() > 1.0 - 1e-9, "{}", entry.name);
        }
    }
    // 4 x 4, the second dimension periodic: at most four neighbors, 24 + 32 edges
    assert_eq!((report["processes"].as_u64(), report["edges"].as_u64()), (Some(16), Some(56)));
    assert_eq!(report["lower_bound_rounds"], 4);
    assert_eq!(figures(&report, "dimension_order")["rounds"], 4);
}

#[test]
fn generators_make_what_they_say() {
    for (spec, processes, edges) in [
        ("grid:3x3,box", 9, Some(40)),
        ("regular:20,3", 20, Some(60)),
        ("irregpc1:8", 32, Some(256)),
        ("irregpc2", 32, Some(357)),
        ("airfoil:500,8", 8, None),
        ("circular:4", 16, Some(64)),
        ("horizontal:4", 16, Some(64)),
    ] {
        let report = json(&["schedule", "--generate", spec, "--seed", "5"]);
        assert_eq!(report["processes"], processes, "{spec}");
        assert!(edges.is_none_or(|edges: u64| report["edges"] == edges), "{spec}");
    }
    // SparseColl: heavy edges around squares cost the dimensions four heavy rounds, along rows two
    let cost = |spec| {
        let report = json(&["schedule", "--generate", spec, "--startup", "0", "--algorithm", "dimension_order"]);
        figures(&report, "dimension_order")["cost_bytes"].as_f64().unwrap()
    };
    assert_eq!((cost("circular:4"), cost("horizontal:4")), (400.0, 202.0));
}

#[test]
fn equal_arguments_give_equal_figures() {
    let figures = |seed| {
        let mut report = json(&["schedule", "--generate", "irregpc1:8", "--seed", seed, "--unit", "512"]);
        for f in report["algorithms"].as_array_mut().unwrap() {
            // the one thing that is measured
            f.as_object_mut().unwrap().remove("scheduling_us").unwrap();
        }
        report
    };
    assert_eq!(figures("3"), figures("3"));
    assert_ne!(figures("3"), figures("4"));
}

#[test]
fn options_reach_the_algorithms_and_the_model() {
    let base = ["schedule", "--generate", "irregpc2", "--unit", "4096", "--algorithm", "random_rounds"];
    let with = |more: &[&str]| json(&[&base, more].concat());
    let time = |report: &Value| figures(report, "random_rounds")["predicted_us"].as_f64().unwrap();
    let pieces = |report: &Value| figures(report, "random_rounds")["pieces"].as_u64().unwrap();
    let plain = with(&[]);
    assert!(pieces(&plain) > 0);
    assert_eq!(pieces(&with(&["--split", "no"])), 0);
    // a startup that nothing is worth
    assert_eq!(pieces(&with(&["--startup", "1G"])), 0);
    assert!(time(&with(&["--duplex", "half"])) > time(&plain));
    assert!(time(&with(&["--window", "8"])) < time(&plain));
    assert!(time(&with(&["--model", "meiko_elan"])) > 2.0 * time(&plain));
    let model = file("slow.loggp", b"latency = 99\noverhead = 17\ngap = 34\ngap_per_byte = 0.0058\neager = unlimited\n");
    assert!(time(&with(&["--model", &model])) > 5.0 * time(&plain));
}

#[test]
fn graphs_from_files() {
    let edges = file("edges.txt", b"# two\n0 1 5\n1 0 7\n3 0\n");
    let report = json(&["schedule", &edges, "--algorithm", "direct"]);
    assert_eq!((&report["processes"], &report["edges"], &report["weight"]), (&4.into(), &3.into(), &13.into()));
    assert_eq!(json(&["schedule", &edges, "--ranks", "9"])["processes"], 9);
    // a 4 x 4 matrix whose comment is not UTF-8
    let matrix = file("m.mtx", b"%%MatrixMarket matrix coordinate pattern symmetric\n% \xe9\n4 4 3\n2 1\n3 2\n4 3\n");
    let report = json(&["schedule", &matrix, "--ranks", "2"]);
    assert_eq!((&report["edges"], &report["weight"]), (&2.into(), &2.into()));
    let parts = file("m.parts", b"0\n1\n0\n1\n");
    let report = json(&["schedule", &matrix, "--partition", &parts]);
    assert_eq!((&report["edges"], &report["weight"]), (&2.into(), &4.into()));
    let mesh = file("path.graph", b"4 3\n2\n1 3\n2 4\n3\n");
    assert_eq!(json(&["schedule", &mesh, "--partition", &parts])["weight"], 4);
    // the same file by another name
    let other = file("path.txt", b"4 3\n2\n1 3\n2 4\n3\n");
    assert_eq!(json(&["schedule", &other, "--format", "metis", "--ranks", "4"])["edges"], 6);
    // nothing to send is no failure
    assert_eq!(json(&["schedule", &file("none.txt", b""), "--ranks", "3"])["edges"], 0);
}

#[test]
fn weights_up_to_the_largest() {
    let edges = file("heavy.txt", b"0 1 4294967295\n1 2 4294967295\n2 0 1\n0 2 0\n1 0 3000000000\n");
    let report = json(&["schedule", &edges, "--unit", "4294967295"]);
    for f in report["algorithms"].as_array().unwrap() {
        // 2^64 bytes at 0.00058 us
        let us = f["predicted_us"].as_f64().unwrap();
        assert!((1.0e16..1.0e17).contains(&us), "{f}");
    }
}

#[test]
fn wrong_input_names_file_and_line() {
    let parts = file("short.parts", b"0\n1\n");
    let matrix = file("wrong.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n");
    let fine = file("fine.mtx", b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 3\n");
    let long = file("long.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
    let edges = file("wrong.txt", b"0 1\n0 one\n");
    let binary = file("binary", &[0, 159, 146, 150, 10, 255]);
    let model = file("wrong.loggp", b"latency = 9\nlatency = 9\n");
    for (arguments, message) in [
        (vec![edges.as_str()], "wrong.txt:2: target 'one'"),
        (vec![&binary], "binary:1: source"),
        (vec![&matrix, "--ranks", "2"], "wrong.mtx:3: column '3'"),
        (vec![&fine, "--partition", &parts], "short.parts: 2 parts for 3 rows"),
        (vec![&long, "--partition", &parts], "needs a square matrix"),
        (vec!["no/such/file", "--ranks", "2"], "no/such/file: No such file"),
        (vec!["--generate", "irregpc2", "--model", &model], "wrong.loggp: line 2"),
        (vec!["--generate", "irregpc2", "--algorithm", "dimension_order"], "dimension_order does not fit"),
        (vec!["--generate", "irregpc2", "--algorithm", "direct", "--chart", "no/such/dir/x.svg"], "x.svg: No such file"),
    ] {
        let (code, text) = refused(&[&["schedule"], &arguments[..]].concat());
        assert_eq!(code, 1, "{arguments:?}: {text}");
        assert!(text.contains(message), "{arguments:?}: {text}");
    }
    let (code, text) = refused(&["schedule", &fine, "--partition", &file("big.parts", b"0\n5\n1\n"), "--ranks", "2"]);
    assert_eq!((code, text.contains("has part 5, but --ranks is 2")), (1, true), "{text}");
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let matrix = file("some.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
    let edges = file("some.txt", b"0 1\n");
    for arguments in [
        "",
        "draw",
        "schedule",
        "schedule --generate tree:4",
        "schedule --generate grid:0x4",
        "schedule --generate regular:4,4",
        "schedule --generate irregpc2 --algorithm best",
        "schedule --generate irregpc2 --unit 0",
        "schedule --generate irregpc2 --unit 4294967296",
        "schedule --generate irregpc2 --startup -1",
        "schedule --generate irregpc2 --startup nan",
        "schedule --generate irregpc2 --window 0",
        "schedule --generate irregpc2 --model cray",
        "schedule --generate irregpc2 --ranks 4",
        "schedule --generate irregpc2 --chart x.svg",
        "schedule --generate irregpc2 --algorithm direct --processes 0..4",
        "schedule --generate irregpc2 --algorithm direct --chart x.svg --processes 0..33",
        "schedule --generate irregpc2 --algorithm direct --chart x.svg --processes 4..4",
        "schedule --generate grid:65 --algorithm direct --chart x.svg",
        "compare --set 4",
        "compare --set 1 --degree 32",
        "compare --matrices 0",
        "compare --units 16,0",
    ] {
        let (code, text) = refused(&arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(code, 2, "{arguments}: {text}");
        assert!(!text.is_empty(), "{arguments}");
    }
    assert_eq!(refused(&["schedule", &matrix]).0, 2);
    assert_eq!(refused(&["schedule", &matrix, "--ranks", "0"]).0, 2);
    assert_eq!(refused(&["schedule", &edges, "--partition", &matrix]).0, 2);
}

#[test]
fn charts() {
    let path = file("chart.svg", b"");
    let draw = |spec: &str, more: &[&str]| {
        printed(
            &[&["schedule", "--generate", spec, "--unit", "4096", "--algorithm", "random_rounds", "--chart", &path], more]
                .concat(),
        );
        std::fs::read_to_string(&path).unwrap()
    };
    let svg = draw("irregpc2", &["--split", "no"]);
    // a title for each message at both its ends, and the chart's own
    assert_eq!(svg.matches("<title>").count(), 2 * 357 + 1);
    let opened = svg.matches('<').count() - svg.matches("</").count() - svg.matches("/>").count();
    assert_eq!(opened, svg.matches("</").count(), "elements that begin and that end");
    assert!(svg.contains("random_rounds on irregpc2: ") && svg.contains("time (µs)") && svg.contains(">round</text>"));
    // lanes of some of many processes
    let few = draw("grid:10x10", &["--processes", "90..100"]);
    assert!(few.contains(">99</text>") && few.matches("<title>").count() < 100);
}

#[test]
fn nobody_reads_on() {
    let mut child =
        command(&["schedule", "--generate", "irregpc1:16"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn comparison_with_the_papers_columns() {
    for set in ["1", "2", "3"] {
        let arguments =
            ["compare", "--set", set, "--matrices", "3", "--units", "64,4096", "--points", "600", "--budget", "100000"];
        let report = json(&arguments);
        let cells = report["cells"].as_array().unwrap();
        let methods = ["AC", "LP", "RS_N", "RS_N+sort", "RS_NH", "RS_NH(1)", "RS_NH+fixed"];
        for unit in [64, 4096] {
            let of = |method: &str| cells.iter().find(|c| c["method"] == method && c["unit"] == unit).unwrap();
            for method in methods {
                assert!(of(method)["ratio_mean"].as_f64().unwrap() > 1.0 - 1e-9, "set {set}, {method}");
                assert!(of(method)["ratio_worst"].as_f64() >= of(method)["ratio_mean"].as_f64());
            }
            let cost = |method: &str| of(method)["cost"].as_f64().unwrap();
            // IrregPC's result on all its sets
            assert!(cost("RS_NH+fixed") <= cost("RS_NH(1)") + 1e-9 && cost("RS_NH+fixed") < cost("LP"), "set {set}");
        }
        // and what else the table has for any graph
        for entry in ALGORITHMS.iter().filter(|e| e.name.ends_with("coloring")) {
            assert!(cells.iter().any(|c| c["method"] == entry.name), "{}", entry.name);
        }
        let text = printed(&arguments);
        assert!(methods.iter().all(|m| text.contains(&format!(" {m} "))), "{text}");
    }
}

/// The tool that was built without MPI says which one measures.
#[cfg(not(feature = "mpi"))]
#[test]
fn measuring_needs_mpi() {
    let (code, text) = refused(&["loggp"]);
    assert_eq!(code, 1);
    assert!(text.contains("make tool-mpi") && text.contains("mpirun -n 2"), "{text}");
    let (code, text) = refused(&["loggp", "--longest", "2G"]);
    assert_eq!(code, 2);
    assert!(text.contains("not from 1k to 1G"), "{text}");
}
