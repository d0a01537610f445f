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

/// The output of a run, which must succeed.
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
    for entry in ALGORITHMS.iter().filter(|e| !e.forwards()) {
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

/// A full stencil in three dimensions: 6 messages of each process in 3 rounds instead of 26, which
/// take less time where they are short.
#[test]
fn combined_messages() {
    let run = |unit| json(&["schedule", "--generate", "grid:4px4px4p,box", "--unit", unit]);
    let time = |report: &Value, algorithm| figures(report, algorithm)["predicted_us"].as_f64().unwrap();
    let (short, long) = (run("8"), run("100000"));
    let combining = figures(&short, "combining");
    assert_eq!((combining["rounds"].as_u64(), combining["messages"].as_u64()), (Some(3), Some(64 * 6)));
    assert!(time(&short, "combining") < time(&short, "direct"));
    assert!(time(&long, "combining") > time(&long, "direct"));
}

/// Table 3 of the LogGP paper, its columns k = 1 and k = 10 with L = 30, g = 10: what a program's
/// schedules take on a star.
#[test]
fn trees_on_a_star() {
    let model = file("table3.loggp", b"latency = 20\noverhead = 5\ngap = 10\ngap_per_byte = 1\neager = unlimited\n");
    for (unit, times) in [("1", [10_250.0, 1_313.0, 1_171.0]), ("10", [19_457.0, 10_520.0, 10_358.0])] {
        let names = ["direct", "scatter_binomial", "scatter_optimal"];
        let mut arguments = vec!["schedule", "--generate", "star:1024", "--unit", unit, "--model", &model];
        names.iter().for_each(|name| arguments.extend(["--algorithm", name]));
        let report = json(&arguments);
        assert_eq!(names.map(|name| figures(&report, name)["predicted_us"].as_f64().unwrap()), times);
        assert_eq!(names.map(|name| figures(&report, name)["messages"].as_u64().unwrap()), [1023; 3]);
        // the port model's cost does not know what is passed on
        assert!(figures(&report, "scatter_binomial")["cost_bytes"].is_null());
        assert_eq!(figures(&report, "scatter_binomial")["rounds"], 10);
    }
    // the time with a fixed splitting ratio, which is that of the tree with a half (section 4.6)
    let time = |share: &str| {
        let arguments = [
            "schedule",
            "--generate",
            "star:64",
            "--unit",
            "4",
            "--model",
            &model,
            "--algorithm",
            "scatter_binomial",
            "--share",
            share,
        ];
        figures(&json(&arguments), "scatter_binomial")["predicted_us"].as_f64().unwrap()
    };
    // six ways of 30, and 63 blocks of 4 bytes: Table 2
    assert_eq!(time("0.5"), 30.0 * 5.0 + 30.0 + 63.0 * 4.0 - 6.0);
    // a block at a time: Table 2's Simple Long-Message
    assert_eq!(time("0"), 62.0 * 10.0 + 63.0 * 3.0 + 30.0);
    assert!(time("0.3") > time("0.45") && time("0.7") > time("0.5"));
    let report = json(&["schedule", "--generate", "grid:2x2"]);
    let unfit = report["unfit"].as_array().unwrap();
    assert!(unfit.iter().any(|u| u[0] == "scatter_optimal" && u[1].as_str().unwrap().contains("only one process sends")));
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
        ("vertical:4x8", 32, Some(128)),
        ("star:12", 12, Some(11)),
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
    // trees send packets with several blocks, of more bytes than a message can have
    let star = file("heavy-star.txt", b"0 1 4294967295\n0 2 4294967295\n0 3 4294967295\n");
    for edges in [edges, star] {
        let report = json(&["schedule", &edges, "--unit", "4294967295"]);
        for f in report["algorithms"].as_array().unwrap() {
            // 2^64 bytes at 0.00058 us
            let us = f["predicted_us"].as_f64().unwrap();
            assert!((1.0e16..1.0e17).contains(&us), "{f}");
        }
    }
}

/// An edge of weight 0 costs its bound, whatever a unit of weight is; so does a whole graph of
/// them.
#[test]
fn weights_of_zero() {
    let (one, all) = (file("zero.txt", b"0 1 0\n"), file("zeros.txt", b"0 1 0\n0 2 0\n1 2 0\n2 0 0\n"));
    for unit in ["1", "1048576"] {
        for startup in [&[][..], &["--startup", "0"]] {
            for (edges, rounds) in [(&one, 1.0), (&all, 2.0)] {
                let report = json(&[&["schedule", edges, "--unit", unit], startup].concat());
                let tau = report["startup_bytes"].as_f64().unwrap();
                assert_eq!(report["lower_bound_bytes"].as_f64().unwrap(), rounds * tau);
                let coloring = figures(&report, "edge_coloring");
                assert_eq!(coloring["cost_ratio"], 1.0, "{unit}: {coloring}");
                assert_eq!(coloring["cost_bytes"].as_f64().unwrap(), rounds * tau);
                // o, L and o, and no bytes
                let direct = figures(&report, "direct")["predicted_us"].as_f64().unwrap();
                assert!(direct < 25.0, "{unit}: {direct}");
            }
        }
    }
}

/// A share of 1 would make a chain, whose packets were nested as deep as it is long.
#[test]
fn a_chain_of_many_processes() {
    let report = json(&["schedule", "--generate", "star:30000", "--algorithm", "scatter_binomial", "--share", "1"]);
    assert_eq!(figures(&report, "scatter_binomial")["messages"], 29_999);
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
        "schedule --generate star:4 --share 1.5",
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
        "compare --phi -1",
        "sparse --compare --barrier 1",
        "sparse --processes 0",
        "sparse --processes 8,",
        "sparse --processes 4294967296",
        "sparse --messages -1",
        "sparse --bytes 1.5",
        "sparse --per-node 0",
        "sparse --loggp cray",
        "sparse --loggp jaguar --loggp cray",
        "sparse --crossover x.svg --processes 8,8",
        "sparse --compare --processes 8",
        "sparse --compare --crossover x.svg",
        "sparse --compare --batches 0",
        "sparse --exchanges 10",
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
    assert_balanced(&svg);
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

/// Elements that begin and that end are as many.
fn assert_balanced(svg: &str) {
    let opened = svg.matches('<').count() - svg.matches("</").count() - svg.matches("/>").count();
    assert_eq!(opened, svg.matches("</").count(), "elements that begin and that end");
}

/// L = 10, o = 2, g = 3, G = 1/2: a round of b bytes takes 14 + (b - 1) / 2, so a barrier of 4
/// processes 2 * 21.5 = 43.
#[test]
fn sparse_exchanges_by_hand() {
    let model = file("round.loggp", b"latency = 10\noverhead = 2\ngap = 3\ngap_per_byte = 0.5\neager = unlimited\n");
    let arguments =
        ["sparse", "--processes", "4,1", "--messages", "2", "--bytes", "17", "--per-node", "2", "--loggp", model.as_str()];
    let report = json(&arguments);
    let cases = &report["machines"][0]["cases"];
    let expected = [
        // two ways of 14, 8 and 7.5 for the bytes, and the second message 3 + 8 behind the first;
        // barrier
        ("nbx", 28.0 + 15.5 + 11.0 + 43.0),
        ("nbx_probe", 28.0 + 15.5 + 2.0 + 11.0 + 43.0),
        // 2 * 2/3 * 33 = 44 bytes to the other node; then 33 bytes within the node
        ("nbx_node", 28.0 + 21.5 + 7.5 + 43.0 + 14.0 + 16.0),
        // two rounds of two words and the stats; data 14 + 8 + 11
        ("pex", 2.0 * (14.0 + 5.5) + 33.0),
        // rounds of 8 and 4 bytes
        ("pcx", 17.5 + 15.5 + 33.0),
        ("pcx_library", 17.5 + 15.5 + 33.0),
        // counts of 8 bytes and their answers, 3 + 7.5 apart
        ("rsx", 28.0 + 3.5 + 7.5 + 10.5 + 43.0 + 33.0 + 2.0),
        // 33 bytes move in each of two rounds
        ("crystal", 2.0 * 30.0),
    ];
    let protocols = cases[0]["protocols"].as_array().unwrap();
    // two nodes share no memory
    let inbox = &protocols[expected.len()];
    assert_eq!(
        (&inbox["protocol"], inbox["predicted_us"].is_null(), protocols.len()),
        (&"inbox".into(), true, expected.len() + 1)
    );
    for (p, (name, us)) in protocols.iter().zip(expected) {
        assert_eq!((&p["protocol"], p["predicted_us"].as_f64()), (&name.into(), Some(us)));
    }
    assert_eq!((&cases[0]["processes"], &cases[0]["best"]), (&4.into(), &"crystal".into()));
    // T_RS = 1/2 * 3 + 13.5 * 2 = 28.5; less 2 * 2 or 2 * 14, and 10; over 2
    assert_eq!((&cases[0]["crossover_lower"], &cases[0]["crossover_upper"]), (&7.25.into(), &(-4.75).into()));
    // alone, a process has nothing to send
    assert!(cases[1]["protocols"].as_array().unwrap().iter().all(|p| p["predicted_us"] == 0.0));

    let text = printed(&arguments);
    let row = text.lines().find(|l| l.starts_with("| 4 ")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let times = ["97.50 µs", "99.50 µs", "130.0 µs", "72.00 µs", "66.00 µs", "66.00 µs", "127.5 µs", "*60.00 µs"];
    assert_eq!((&cells[2..10], cells[10]), (&times[..], "-"), "{text}");
    assert!(text.contains("L = 10 µs, o = 2 µs, g = 3 µs, G = 0.5 µs/B, no rendezvous"), "{text}");
}

/// DSDE's own formulas, and a network with a barrier and acknowledgements of its own.
#[test]
fn bounds_and_hardware() {
    let model = file("bounds.loggp", b"latency = 10\noverhead = 2\ngap = 3\ngap_per_byte = 0.5\neager = unlimited\n");
    let base = ["sparse", "--processes", "4", "--messages", "2", "--bytes", "17", "--loggp", &model, "--bounds"];
    let case = |more: &[&str]| json(&[&base, more].concat())["machines"][0]["cases"][0].clone();
    let plain = case(&[]);
    // T_RS = 28.5, T_DT = 16, T_BC = 4 to 28, L + k o = 14
    assert_eq!(plain["bounds_lower"], serde_json::json!([44.5, 44.5, 34.0, 34.0]));
    assert_eq!(plain["bounds_upper"], serde_json::json!([44.5, 44.5, 58.0, 58.0]));
    let fast = case(&["--barrier", "1", "--synchronous", "15"]);
    // an acknowledgement takes 5 more than the message
    assert_eq!(fast["bounds_lower"], serde_json::json!([44.5, 44.5, 31.0, 22.0]));
    assert_eq!(fast["bounds_lower"], fast["bounds_upper"]);
    // one way of 14, 8 for the bytes, 11 for the second message; and the same 5 and 1
    assert_eq!(fast["protocols"][0]["predicted_us"], 14.0 + 8.0 + 11.0 + 5.0 + 1.0);
    let text = printed(&base);
    assert!(text.contains("| 4         | 44.50 µs |") && text.contains(" 1.31 |") && text.contains(" 0.77 |"), "{text}");
}

#[test]
fn sparse_exchanges_by_default() {
    let report = json(&["sparse"]);
    let machines = report["machines"].as_array().unwrap();
    assert_eq!((machines.len(), &machines[0]["model"]), (1, &"jaguar".into()));
    let processes: Vec<u64> = machines[0]["cases"].as_array().unwrap().iter().map(|c| c["processes"].as_u64().unwrap()).collect();
    assert_eq!(processes, (1..=16).map(|e| 1 << e).collect::<Vec<u64>>());
    assert_eq!((&report["messages"], &report["bytes"], &report["per_node"]), (&6.into(), &512.into(), &1.into()));
    assert!(!printed(&["sparse"]).contains("inbox"), "a column for what can never run");
    // processes that share a node: one way of 14, and two messages of 48 bytes
    let model = file("node.loggp", b"latency = 10\noverhead = 2\ngap = 3\ngap_per_byte = 0.5\neager = unlimited\n");
    let report = json(&["sparse", "--processes", "4", "--messages", "2", "--bytes", "32", "--per-node", "4", "--loggp", &model]);
    assert_eq!(report["machines"][0]["cases"][0]["protocols"][8]["predicted_us"], 14.0 + 0.5 * 95.0);
    // several machines: a table each
    let text = printed(&["sparse", "--loggp", "big_red", "--loggp", "jaguar", "--bytes", "4k"]);
    assert_eq!(text.matches("| processes |").count(), 2);
    assert!(text.contains("rendezvous above 1536 B") && text.contains("6 messages of 4096 B"), "{text}");
    // the best protocol of each row is marked, once
    assert!(text.lines().filter(|l| l.contains("µs |")).all(|l| l.matches('*').count() == 1), "{text}");
}

#[test]
fn sparse_crossovers_are_drawn() {
    let path = file("crossover.svg", b"");
    let draw = |more: &[&str]| {
        printed(&[&["sparse", "--crossover", &path], more].concat());
        std::fs::read_to_string(&path).unwrap()
    };
    let svg = draw(&[]);
    assert_balanced(&svg);
    for preset in ["jaguar", "intrepid", "big_red", "meiko_split_c", "meiko_elan"] {
        assert_eq!(svg.matches(&format!(">{preset}</text>")).count(), 1, "{preset}");
    }
    // from Table 1 by hand: (252.40102 - 214.4 - 9.9) / 1.75, (252.40102 - 28 - 9.9) / 1.75,
    // (103.00471 - 28.7 - 4.29) / 2.87
    for point in ["jaguar: 16.1 at 65536", "jaguar: 123 at 65536", "intrepid: 24.4 at 1024"] {
        assert_eq!(svg.matches(&format!("<title>{point}</title>")).count(), 1, "{point}");
    }
    // the legend names what has a line, and no more
    let few = draw(&["--processes", "2,64"]);
    let named = |preset: &str| few.contains(&format!(">{preset}</text>"));
    let drawn = |preset: &str| few.contains(&format!("<title>{preset}: "));
    let presets = ["jaguar", "intrepid", "big_red", "meiko_split_c", "meiko_elan"];
    assert!(presets.iter().all(|preset| named(preset) == drawn(preset)), "{few}");
    assert!(presets.iter().any(|preset| !named(preset)) || !few.contains(">T_BC = log2(P) (L + 2 o)</text>"), "{few}");
    // what has no crossover is no point, and one machine's lines are two
    let one = draw(&["--loggp", "jaguar", "--processes", "65536,4,256"]);
    assert_balanced(&one);
    assert_eq!((one.matches("<circle").count(), one.matches(">intrepid<").count()), (4, 0));

    let (code, text) = refused(&["sparse", "--crossover", "no/such/dir/x.svg"]);
    assert_eq!((code, text.contains("x.svg: No such file")), (1, true), "{text}");
    let (code, text) = refused(&["sparse", "--loggp", &file("wrong_sparse.loggp", b"latency = 9\nlatency = 9\n")]);
    assert_eq!((code, text.contains("wrong_sparse.loggp: line 2")), (1, true), "{text}");
}

/// `edge_coloring` is nearer to the bound by matchings, which is never below the other one. What
/// sends all at once has no rounds, and none.
#[test]
fn comparison_with_a_bound_by_matchings() {
    let report = json(&[
        "compare",
        "--set",
        "3",
        "--points",
        "200",
        "--matrices",
        "1",
        "--units",
        "256",
        "--matchings",
        "--budget",
        "1000000",
    ]);
    let of = |method: &str| report["cells"].as_array().unwrap().iter().find(|c| c["method"] == method).unwrap();
    let (ports, matchings) = (&of("edge_coloring")["ratio"], &of("edge_coloring")["matchings"]);
    assert!(matchings["mean"].as_f64().unwrap() > 1.0 - 1e-9 && matchings["mean"].as_f64() < ports["mean"].as_f64(), "{report}");
    assert!(of("AC")["matchings"].is_null(), "{report}");
    let bound = |which: &str| report[which][0][1].as_f64().unwrap();
    assert!(bound("matchings") > bound("lower_bounds"), "{report}");
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
                assert!(of(method)["ratio"]["mean"].as_f64().unwrap() > 1.0 - 1e-9, "set {set}, {method}");
                assert!(of(method)["ratio"]["worst"].as_f64() >= of(method)["ratio"]["mean"].as_f64());
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
        assert!(!text.contains("node_aware"), "{text}");
        // processes that share a node pass blocks on in it; one alone on its node sends what it
        // sends anyhow
        let on_nodes = |nodes: &str| {
            let with: Vec<&str> = arguments.iter().copied().chain(["--nodes", nodes]).collect();
            assert!(printed(&with).contains(" node_aware "));
            let report = json(&with);
            let cells = report["cells"].as_array().unwrap().clone();
            let of = |method: &str| cells.iter().find(|c| c["method"] == method && c["unit"] == 64).unwrap().clone();
            let number = |method: &str, key: &str| of(method)[key].as_f64().unwrap();
            assert!(number("node_aware", "cost") > 0.0);
            (number("node_aware", "messages"), number("AC", "messages"))
        };
        let ((shared, all), (alone, _)) = (on_nodes("8"), on_nodes("1"));
        assert!(shared != all && (alone - all).abs() < 1e-9, "set {set}: {shared} and {alone} messages, {all} edges");
    }
    // costs as times, and what making the schedule adds
    let times = printed(&[
        "compare",
        "--set",
        "2",
        "--matrices",
        "1",
        "--units",
        "64",
        "--startup",
        "1000",
        "--phi",
        "1",
        "--budget",
        "0",
    ]);
    assert!(times.contains("tau + M phi, in ms. AC") && times.contains("Scheduling time to communication time"), "{times}");
    // a message of AC that waits holds up nothing
    let cost = |eager| {
        let report = json(&["compare", "--set", "2", "--matrices", "5", "--units", "64", "--eager", eager, "--budget", "0"]);
        let cells = report["cells"].as_array().unwrap().clone();
        cells.iter().find(|c| c["method"] == "AC").unwrap()["cost"].as_f64().unwrap()
    };
    assert!(cost("1024") < cost("64") && cost("64") < cost("0"));
    let (code, text) = refused(&["compare", "--matrices", "1", "--nodes", "0,0,1"]);
    assert_eq!((code, text.contains("--nodes names the nodes of 3 processes, but there are 32")), (2, true), "{text}");
}

/// The tool that was built without MPI says which one measures.
#[cfg(not(feature = "mpi"))]
#[test]
fn measuring_needs_mpi() {
    let (code, text) = refused(&["loggp"]);
    assert_eq!(code, 1);
    assert!(text.contains("make tool-mpi") && text.contains("mpirun -n 2"), "{text}");
    let (code, text) = refused(&["sparse", "--compare", "--messages", "3", "--batches", "2"]);
    assert_eq!(code, 1);
    assert!(text.contains("make tool-mpi") && text.contains("mpirun -n 4 build/mpicc/mpix-neighbor sparse --compare"), "{text}");
    let (code, text) = refused(&["loggp", "--longest", "2G"]);
    assert_eq!(code, 2);
    assert!(text.contains("not from 1k to 1G"), "{text}");
}

/// The output of `info` in an environment with only these variables.
fn info(variables: &[(&str, &str)]) -> String {
    let mut command = command(&["info"]);
    let output = command.env_clear().envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn info_names_the_files_that_the_library_reads() {
    use mpix_neighbor::model::copies::Node;
    use mpix_neighbor::model::kept::Place;
    use mpix_neighbor::model::puts::{Notice, Times, Way};
    use mpix_neighbor::model::{Loggp, Sharing};

    let empty = info(&[]);
    assert!(empty.contains("LogGP parameters, nowhere, as neither HOME nor XDG_* is set: not there\n"), "{empty}");
    assert!(empty.contains("measured by set calls: nowhere"), "{empty}");

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("info");
    let home = folder.join("home");
    let (cache, config) = (home.join(".cache/mpix-neighbor"), home.join(".config/mpix-neighbor"));
    std::fs::remove_dir_all(&folder).unwrap_or_default();
    std::fs::create_dir_all(&cache).unwrap();
    std::fs::create_dir_all(&config).unwrap();
    let home = [("HOME", home.to_str().unwrap())];
    let before = info(&home);
    assert_eq!(before.matches(": not there\n").count(), 4, "{before}");

    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let node = Node::new(host.trim());
    std::fs::write(cache.join(node.file()), node.text(65536)).unwrap();
    let place = Place::new("Open MPI v4.1.4", ["node017", "node3"], [2, 16]);
    let machine = Loggp { latency: 31.5, overhead: 4.25, gap: 6.0, gap_per_byte: 0.04, eager: 49152, sharing: Sharing::UNKNOWN };
    std::fs::write(cache.join(place.file()), place.text(&machine)).unwrap();
    std::fs::write(config.join("loggp"), machine.to_string()).unwrap();
    let puts = Way { notice: Notice::Epoch, between_nodes: true };
    std::fs::write(cache.join(Times::file(&place, puts)), Times::UNKNOWN.text(&place, puts)).unwrap();
    // what a writer that was killed has left
    std::fs::write(cache.join("loggp-7.123-456-0"), "latency = ").unwrap();
    let text = info(&home);
    assert!(
        text.contains(": bytes = microseconds: ")
            && text.contains("; puts: active target, between nodes)\n")
            && !text.contains("loggp-7.123"),
        "{text}"
    );
    let values = "L = 31.5 µs, o = 4.25 µs, g = 6 µs, G = 0.04 µs/B, rendezvous above 49152 B";
    assert!(text.contains(&format!("LogGP parameters, {}: LogGP: {values}\n", config.join("loggp").display())), "{text}");
    assert!(text.contains(&format!("{}: from 65536 bytes on\n", cache.join(node.file()).display())), "{text}");
    let of = format!(
        "{}: LogGP: {values} (mpi: Open MPI v4.1.4; nodes: node#, node#; 2 or more, of 16 or more processes)\n",
        cache.join(place.file()).display()
    );
    assert!(text.contains(&of), "{text}");

    // files that do not count are named with the reason
    std::fs::write(cache.join(node.file()), "x").unwrap();
    std::fs::write(config.join("loggp"), "latency = \n").unwrap();
    let text = info(&home);
    assert!(text.contains("does not count: it is of another node"), "{text}");
    assert!(text.contains("latency is not a finite number"), "{text}");
}

#[test]
fn info_names_variables_and_limits() {
    let text = info(&[("MPIX_SCHEDULE", "direct"), ("MPIX_SHEDULE", "a\nb"), ("MPIX_LOGGP_FILE", "/none"), ("OTHER", "hidden")]);
    assert!(text.contains("\n  MPIX_SCHEDULE: direct\n"), "{text}");
    assert!(
        text.contains("\n  MPIX_SHEDULE: a\\nb (unknown environment variable MPIX_SHEDULE: is MPIX_SCHEDULE meant?)\n"),
        "{text}"
    );
    assert!(text.contains("\n  LogGP parameters, /none: ") && !text.contains("hidden"), "{text}");
    assert!(text.contains(&format!("version: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(info(&[]).contains("\nEnvironment:\n  none\n"));
    assert!(text.contains("\n\nSelf-test:\n  schedules: 16 processes with 5 messages each: direct, "), "{text}");
    assert!(text.ends_with("\n  passed\n"), "{text}");

    let limited = format!("ulimit -n 77; exec {} info", env!("CARGO_BIN_EXE_mpix-neighbor"));
    let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("(ulimit -n): 77\n"), "{output:?}");
}
