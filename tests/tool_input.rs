//! The command-line tool and what it is given: files that are compressed, that are no text, that
//! cannot be read, standard input; and what it makes for shells and `man`.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpix-neighbor"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // who does not read it closes the pipe
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn json(arguments: &[&str], input: &[u8]) -> Value {
    let output = run(&[arguments, &["--json"]].concat(), input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exit code and the line that is printed of a run that fails.
fn refused(arguments: &[&str], input: &[u8]) -> (i32, String) {
    let output = run(arguments, input);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "{arguments:?}: {text:?}");
    (output.status.code().unwrap(), text.trim_end().to_owned())
}

fn path(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

fn file(name: &str, bytes: &[u8]) -> String {
    std::fs::write(path(name), bytes).unwrap();
    path(name)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

const MATRIX: &[u8] = b"%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 3\n";

#[test]
fn compressed_files() {
    let parts = gzip(b"0\n1\n0\n1\n");
    let (plain, hidden) = (file("plain.mtx", MATRIX), file("hidden.mtx", &gzip(MATRIX)));
    let (named, parts) = (file("named.mtx.gz", &gzip(MATRIX)), file("parts.gz", &parts));
    let expected = json(&["schedule", &plain, "--partition", &parts], b"");
    assert_eq!(expected["weight"], 4);
    for file in [&hidden, &named] {
        let report = json(&["schedule", file, "--partition", &parts], b"");
        assert_eq!((&report["edges"], &report["weight"]), (&expected["edges"], &expected["weight"]), "{file}");
    }
    let model = file("model.gz", &gzip(b"latency = 9\noverhead = 1\ngap = 3\ngap_per_byte = 0.5\neager = 7\n"));
    assert_eq!(json(&["schedule", &plain, "--ranks", "2", "--model", &model], b"")["latency_us"], 9.0);
    let cut = file("cut.mtx.gz", &gzip(MATRIX)[..40]);
    let fake = file("fake.mtx.gz", MATRIX);
    for (file, message) in [(&cut, "cut.mtx.gz: cannot be expanded"), (&fake, "fake.mtx.gz: is not compressed by gzip")] {
        let (code, text) = refused(&["schedule", file, "--ranks", "2"], b"");
        assert!(code == 1 && text.contains(message), "{text}");
    }
}

#[test]
fn standard_input() {
    let parts = file("stdin.parts", b"0\n1\n0\n1\n");
    let matrix = file("stdin.mtx", MATRIX);
    let model: &[u8] = b"latency = 9\noverhead = 1\ngap = 3\ngap_per_byte = 0.5\neager = 7\n";
    assert_eq!(json(&["schedule", "-"], b"0 1 5\n1 0 7\n3 0\n")["edges"], 3);
    assert_eq!(json(&["schedule", "-"], &gzip(b"0 1 5\n"))["weight"], 5);
    assert_eq!(json(&["schedule", "-", "--format", "mtx", "--partition", &parts], MATRIX)["weight"], 4);
    assert_eq!(json(&["schedule", &matrix, "--partition", "-"], b"0\n1\n0\n1\n")["weight"], 4);
    assert_eq!(json(&["schedule", &matrix, "--ranks", "2", "--model", "-"], model)["latency_us"], 9.0);
    assert_eq!(json(&["sparse", "--loggp", "-"], model)["machines"][0]["latency_us"], 9.0);
    let (code, text) = refused(&["schedule", "-"], b"0 1\n0 one\n");
    assert_eq!((code, text.as_str()), (1, "error: standard input:2: target 'one' is not a whole number from 0 to 4194303"));
    let (code, text) = refused(&["schedule", "-", "--format", "mtx", "--partition", "-"], MATRIX);
    assert!(code == 2 && text.contains("standard input (-) can be read only once"), "{text}");
}

/// Whatever stands in a file or in its name: one line without control characters, which shows at
/// most 80 characters of the file.
#[test]
fn errors_show_little_and_nothing_that_a_terminal_obeys() {
    let long = "y".repeat(100_000);
    let escape = "\x1b[2J\x1b]0;owned\x07".repeat(50);
    let binary: Vec<u8> = (0..20_000u32).map(|i| (i * 7 % 251) as u8 | 0x80).collect();
    for (i, text) in [long.as_bytes(), escape.as_bytes(), &binary, b"0 \xff\x9f\x1b"].into_iter().enumerate() {
        let banner = [b"%%MatrixMarket matrix coordinate ", text, b" general\n"].concat();
        let edge = [b"0 1 2 ", text, b"\n"].concat();
        let mesh = [b"4 3 ", text, b"\n"].concat();
        let latency = [b"latency = ", text, b"\n"].concat();
        let key = [text, b" = 1\n"].concat();
        let edges = file(&format!("edges-{i}"), text);
        for arguments in [
            vec!["schedule", edges.as_str()],
            vec!["schedule", &file(&format!("after-{i}"), &edge)],
            vec!["schedule", &file(&format!("banner-{i}.mtx"), &banner), "--ranks", "2"],
            vec!["schedule", &file(&format!("mesh-{i}.graph"), &mesh), "--ranks", "2"],
            vec!["schedule", &file(&format!("ok-{i}.mtx"), MATRIX), "--partition", &edges],
            vec!["schedule", "--generate", "star:3", "--model", &edges],
            vec!["schedule", "--generate", "star:3", "--model", &file(&format!("value-{i}"), &latency)],
            vec!["sparse", "--loggp", &file(&format!("key-{i}"), &key)],
        ] {
            let (code, text) = refused(&arguments, b"");
            assert_eq!(code, 1, "{text}");
            assert!(text.chars().all(|c| !c.is_control()), "{text:?}");
            let rest: usize = text.chars().count() - env!("CARGO_TARGET_TMPDIR").chars().count();
            assert!(rest < 80 + 170, "{rest} characters: {text}");
        }
    }
    let (_, text) = refused(&["schedule", &file("bytes", b"0 \xff\x1b\n")], b"");
    assert!(text.ends_with("bytes:1: target '\\xff\\u{1b}' is not a whole number from 0 to 4194303"), "{text}");
    let (code, text) = refused(&["schedule", "no\x1b[2J"], b"");
    assert!(code == 1 && text == "error: no\\u{1b}[2J: No such file or directory (os error 2)", "{text}");
    // what is printed of a file that is right has its name only
    let report = run(&["schedule", &file("na\x1bme", b"0 1\n"), "--algorithm", "direct"], b"");
    assert!(String::from_utf8(report.stdout).unwrap().starts_with("graph: na\\u{1b}me; 2 processes"));
}

#[test]
fn what_cannot_be_read_is_one_line() {
    std::fs::create_dir_all(path("directory.mtx")).unwrap();
    let locked = file("locked.txt", b"0 1\n");
    let (code, text) = refused(&["schedule", &path("directory.mtx"), "--ranks", "2"], b"");
    assert!(code == 1 && text.ends_with("directory.mtx: is a directory"), "{text}");
    let (code, text) = refused(&["schedule", "--generate", "star:3", "--model", &path("directory.mtx")], b"");
    assert!(code == 1 && text.ends_with("directory.mtx: is a directory"), "{text}");
    let (code, text) = refused(&["schedule", "--generate", "star:3", "--model", "no/such/model"], b"");
    assert!(code == 2 && text.contains("--model no/such/model is neither a file nor one of jaguar"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o0)).unwrap();
        // the superuser reads it all the same
        if std::fs::File::open(&locked).is_err() {
            let (code, text) = refused(&["schedule", &locked], b"");
            assert!(code == 1 && text.ends_with("locked.txt: Permission denied (os error 13)"), "{text}");
        }
        let (code, text) = refused(&["schedule", &format!("{locked}/x")], b"");
        assert!(code == 1 && text.ends_with("locked.txt/x: Not a directory (os error 20)"), "{text}");
    }
}

/// Whatever it prints, nobody has to read all of it.
#[test]
fn nobody_reads_on() {
    let page = path("man-unread");
    for arguments in [
        &["schedule", "--generate", "irregpc1:16"][..],
        &["schedule", "--generate", "regular:2000,8", "--algorithm", "direct", "--export", "-"],
        &["schedule", "--generate", "irregpc2", "--json"],
        &["sparse"],
        &["completions", "bash"],
        &["man", &page],
        &["--help"],
        &["schedule", "--help"],
    ] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.is_empty(), "{arguments:?}: {text}");
    }
}

#[test]
fn nodes_of_processes() {
    let with = |nodes: &str| json(&["schedule", "--generate", "regular:16,8", "--nodes", nodes], b"");
    let of = |report: &Value| {
        let list = report["algorithms"].as_array().unwrap();
        list.iter().find(|f| f["algorithm"] == "node_aware").map(|f| f["messages"].as_u64().unwrap())
    };
    // the same nodes by number and by list
    let (by_number, by_list) = (with("4"), with("0,0,0,0,1,1,1,1,7,7,7,7,3,3,3,3"));
    assert!(of(&by_number).is_some_and(|messages| messages < 16 * 8), "{by_number}");
    assert_eq!(of(&by_number), of(&by_list));
    let without = json(&["schedule", "--generate", "regular:16,8"], b"");
    assert_eq!(of(&without), None);
    let unfit = without["unfit"].as_array().unwrap();
    assert!(unfit.iter().any(|u| u[0] == "node_aware" && u[1].as_str().unwrap().contains("--nodes")), "{without}");
    // it is drawn as others are
    let svg = path("nodes.svg");
    json(&["schedule", "--generate", "regular:16,8", "--nodes", "4", "--algorithm", "node_aware", "--chart", &svg], b"");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("node_aware on regular:16,8: "));
    for (nodes, message) in [("0,1", "names the nodes of 2 processes, but there are 16"), ("two", "not a number of processes")] {
        let output = run(&["schedule", "--generate", "regular:16,8", "--nodes", nodes], b"");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(message), "{text}");
    }
    let (code, text) = refused(&["schedule", "--generate", "star:4", "--algorithm", "node_aware"], b"");
    assert!(code == 1 && text.contains("node_aware does not fit"), "{text}");
}

#[test]
fn shells_and_man() {
    for (shell, sign) in [
        ("bash", "-o bashdefault -o default mpix-neighbor"),
        ("zsh", "#compdef mpix-neighbor"),
        ("fish", "complete -c mpix-neighbor"),
        ("elvish", "edit:completion:arg-completer[mpix-neighbor]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let output = run(&["completions", shell], b"");
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains(sign) && script.contains("partition"), "{shell}: {script}");
    }
    assert_eq!(run(&["completions", "cmd"], b"").status.code(), Some(2));
    let directory = path("man/man1");
    let output = run(&["man", &directory], b"");
    assert!(output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut pages: Vec<String> =
        (std::fs::read_dir(&directory).unwrap()).map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let commands = ["", "-compare", "-completions", "-info", "-loggp", "-man", "-plot", "-schedule", "-sparse"];
    let mut expected = commands.map(|command| format!("mpix-neighbor{command}.1"));
    expected.sort();
    assert_eq!(pages, expected);
    for (page, name) in pages.iter().zip(&expected) {
        let text = std::fs::read_to_string(PathBuf::from(&directory).join(page)).unwrap();
        assert!(text.contains(".TH ") && text.contains(name.trim_end_matches(".1")), "{page}: {text}");
    }
    let (code, text) = refused(&["man", "/proc/no/such"], b"");
    assert!(code == 1 && text.starts_with("error: /proc/no/such: "), "{text}");
}
