//! What shell scripts must not do.

mod common;

use std::path::Path;

use common::files_below;

/// Whether a command may end before it has read all of its input.
fn leaves_early(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match words.next() {
        Some("head") => true,
        Some("grep") => words
            .take_while(|w| w.starts_with('-'))
            .any(|w| w == "--quiet" || !w.starts_with("--") && (w.contains('q') || w.contains('m'))),
        Some("awk") => command.contains("exit") && !command.contains("END"),
        Some("sed") => ["; q", "{q", "{ q"].iter().any(|quit| command.contains(quit)),
        _ => false,
    }
}

/// The numbers of the lines with a pipe into such a command.
fn broken_pipes(text: &str) -> Vec<usize> {
    let piped = |line: &str| line.replace("||", "\0").split('|').skip(1).any(|c| leaves_early(c.split('\0').next().unwrap()));
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| !line.trim_start().starts_with('#') && piped(line)).map(|(n, _)| n + 1).collect()
}

// the writer dies of SIGPIPE if it writes later, once in hundreds of runs, and pipefail fails then
#[test]
fn under_pipefail_nothing_is_piped_into_a_command_that_ends_early() {
    assert_eq!(broken_pipes("a | grep -q b\na || grep -q b\ngrep -q b < <(a)\na | head -1\na | grep -c b"), [1, 4]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut scripts) = (Vec::new(), 0);
    for path in ["scripts", "c_tests", "packaging", "clients", ".ci"].iter().flat_map(|f| files_below(&root.join(f), &[""])) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if !text.starts_with("#!") || !text.lines().any(|l| l.starts_with("set ") && l.contains("pipefail")) {
            continue;
        }
        scripts += 1;
        found.extend(broken_pipes(&text).into_iter().map(|n| format!("{}:{n}", path.strip_prefix(root).unwrap().display())));
    }
    assert!(scripts > 10, "{scripts} scripts with pipefail");
    assert!(found.is_empty(), "write `grep -q ... < <(...)` in place of `... | grep -q ...`: {found:#?}");
}
