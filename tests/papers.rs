//! `docs/papers.md`: the commands of its rows print the numbers that the rows quote.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/papers.md")).unwrap()
}

/// What a shell prints in `place`, with the tool in its path.
fn shell(place: &Path, script: &str) -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_mpix-neighbor")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let output =
        Command::new("timeout").args(["60", "bash", "-e", "-c", script]).current_dir(place).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The page's parts in bold print.
fn bold(text: &str) -> impl Iterator<Item = &str> {
    text.split("**").skip(1).step_by(2)
}

/// True if `text` has this number, and not as a part of another one.
fn has(text: &str, number: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '.');
    text.match_indices(number)
        .any(|(at, _)| !inside(text[..at].chars().next_back()) && !inside(text[at + number.len()..].chars().next()))
}

#[test]
fn the_papers_page_quotes_what_its_commands_print() {
    let text = page();
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("papers");
    fs::create_dir_all(&place).unwrap();
    let setup = text.split("```sh\n").nth(1).and_then(|t| t.split("```").next()).expect("the files of the commands");
    shell(&place, setup);
    let mut printed: HashMap<&str, String> = HashMap::new();
    let (mut above, mut numbers, mut wrong) = ("", 0, Vec::new());
    for row in text.lines().filter(|l| l.starts_with("| ")) {
        let commands: Vec<&str> = row.split('`').skip(1).step_by(2).filter(|c| c.starts_with("mpix-neighbor ")).collect();
        let command = match commands[..] {
            [] if row.contains("| as above |") => above,
            [] => "",
            [command] => command,
            _ => panic!("more than one command: {row}"),
        };
        above = command;
        if command.is_empty() {
            assert_eq!(bold(row).count(), 0, "numbers without a command: {row}");
            continue;
        }
        let output = printed.entry(command).or_insert_with(|| shell(&place, command));
        for number in bold(row) {
            numbers += 1;
            if !has(output, number) {
                wrong.push(format!("{number}: {command}"));
            }
        }
    }
    assert!(numbers > 60, "the page's numbers are not found");
    assert!(wrong.is_empty(), "docs/papers.md quotes what its commands do not print:\n{}", wrong.join("\n"));
    // the prose has the numbers of its rows
    let rows: String = text.lines().filter(|l| l.starts_with("| ")).collect();
    for line in text.lines().filter(|l| !l.starts_with("| ")) {
        for number in bold(line).filter(|n| n.starts_with(|c: char| c.is_ascii_digit())) {
            assert!(has(&rows.replace("**", " "), number), "{number} is in no row");
        }
    }
}

#[test]
fn numbers_are_found_whole() {
    assert!(has("| 5.4 | x", "5.4") && has("5.4", "5.4") && has("a 31 us", "31"));
    assert!(!has("15.4", "5.4") && !has("5.41", "5.4") && !has("5.4ms", "5.4"));
    assert_eq!(bold("a **1** b **2.5 ms**").collect::<Vec<_>>(), ["1", "2.5 ms"]);
}
