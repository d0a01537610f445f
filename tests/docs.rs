//! The documentation: links, tables of hints and errors, and widths. `c_tests/docs` runs what it
//! shows.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files below `dir` that end with one of `suffixes`.
fn files(dir: &str, suffixes: &[&str]) -> Vec<PathBuf> {
    common::files_below(&root().join(dir), suffixes)
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn pages() -> Vec<PathBuf> {
    let mut pages = files("docs", &[".md"]);
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|page| root().join(page)));
    pages
}

/// Lines of a page with their numbers; the second part is the info string of the block that a line
/// belongs to.
fn lines(text: &str) -> Vec<(usize, Option<String>, &str)> {
    let mut block: Option<String> = None;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(info) if block.is_none() => {
                block = Some(info.trim().to_owned());
                found.push((number + 1, block.clone(), line));
            }
            Some(_) => {
                found.push((number + 1, block.take(), line));
            }
            None => found.push((number + 1, block.clone(), line)),
        }
    }
    assert!(block.is_none(), "a block has no end");
    found
}

/// A heading's anchor, as GitHub makes it.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = read(&page);
        for (number, block, line) in lines(&text) {
            if block.is_some() {
                continue;
            }
            for link in without_code(line).split("](").skip(1) {
                let target = link.split(')').next().unwrap();
                if target.starts_with("http") {
                    continue;
                }
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                // generated: there are no broken links to it before it has been made
                if path.contains("reference/") && !root().join("docs/reference").exists() {
                    continue;
                }
                let file = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
                let known = || lines(&read(&file)).iter().any(|(_, b, l)| b.is_none() && l.starts_with('#') && slug(l) == anchor);
                // python's anchors have no double hyphens
                if !file.exists() || !anchor.is_empty() && (anchor.contains("--") || !known()) {
                    broken.push(format!("{}:{number}: {target}", page.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn lines_are_at_most_100_columns_wide() {
    assert!(read("README.md").lines().count() <= 150, "README.md has more than 150 lines");
    let mut wide = Vec::new();
    for page in pages().iter().filter(|p| !p.to_string_lossy().contains("/reference/")) {
        let text = read(page);
        for (number, block, line) in lines(&text) {
            let prose = match block.as_deref() {
                None => !line.starts_with(['|', '!']) && !line.starts_with("<!--"),
                Some(info) => info.starts_with('c') || info.starts_with("fortran"),
            };
            // a text that is shown whole, or a link
            let whole = without_code(line).trim_start_matches(['-', ' ']).len() < 12 || line.trim_start().starts_with('[');
            if prose && !whole && line.chars().count() > 100 {
                wide.push(format!("{}:{number}: {}", page.display(), line.chars().count()));
            }
        }
    }
    assert!(wide.is_empty(), "lines of more than 100 columns:\n{}", wide.join("\n"));
}

#[test]
fn blocks_say_what_they_are() {
    let known = ["c", "c fragment", "fortran", "fortran fragment", "sh", "cmake", "json", "python", "text", "text output"];
    let mut wrong = Vec::new();
    for page in pages() {
        for (number, block, line) in lines(&read(&page)) {
            if let Some(info) = block
                && line.trim_start().starts_with("```")
                && !known.contains(&info.as_str())
            {
                wrong.push(format!("{}:{number}: {info:?}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "blocks with an unknown info string:\n{}", wrong.join("\n"));
}

/// Texts of the variants of the error enum, without those that are nothing but a text from
/// elsewhere.
fn error_texts() -> BTreeSet<String> {
    let source = read("src/error.rs");
    let texts = source.split("#[error(").skip(1).map(|rest| {
        let quoted = rest.trim_start().strip_prefix('"').expect("an error text is a literal");
        let mut text = String::new();
        let mut letters = quoted.chars();
        while let Some(c) = letters.next() {
            match c {
                '"' => break,
                '\\' => match letters.next() {
                    Some('\n') => {
                        let rest = letters.as_str().trim_start();
                        letters = rest.chars();
                    }
                    Some(c) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        text
    });
    let outside = |text: &str| {
        let mut depth = 0;
        text.chars().any(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0 && c.is_alphabetic()
        })
    };
    texts.filter(|text| outside(text)).collect()
}

#[test]
fn each_error_text_is_explained() {
    let page = read("docs/faq.md");
    let texts = error_texts();
    assert!(texts.len() > 40, "the error texts are not found in src/error.rs");
    let missing: Vec<&String> = texts.iter().filter(|text| !page.contains(&format!("- `{text}`\n\n    "))).collect();
    assert!(missing.is_empty(), "docs/faq.md has no entry for {missing:#?}");
    // entries with names in braces are those of the enum, or of texts that stand elsewhere
    let elsewhere = ["process {source} lists ", "targets[{entry}], process {peer}, expects ..."];
    let stale: Vec<&str> = (page.lines().filter_map(|l| l.strip_prefix("- `")))
        .map(|l| l.split('`').next().unwrap())
        .filter(|l| l.contains('{') && !texts.contains(*l) && !elsewhere.iter().any(|e| l.starts_with(e)))
        .collect();
    assert!(stale.is_empty(), "docs/faq.md explains texts that nobody prints: {stale:#?}");
}

/// String literals in the sources that `wanted` takes.
fn literals(wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files("src", &[".rs"]).into_iter().chain(files("preload/src", &[".rs"])) {
        let text = read(&file);
        // tests have misspelled ones
        let text = text.split("mod tests {").next().unwrap();
        found.extend(text.split('"').skip(1).step_by(1).filter(|s| wanted(s)).map(str::to_owned));
    }
    found
}

#[test]
fn each_hint_is_in_the_table() {
    let page = read("docs/choosing-a-schedule.md");
    let plain = |s: &str, letters: fn(char) -> bool| s.chars().all(|c| letters(c) || c == '_');
    let keys = literals(|s| s.starts_with("mpix_") && s.len() > 6 && plain(s, |c| c.is_ascii_lowercase()));
    let keys: BTreeSet<String> = keys.into_iter().filter(|k| k != "mpix_neighbor").collect();
    assert!(keys.len() > 20, "the keys are not found in src: {keys:?}");
    for key in &keys {
        let row = |end| page.contains(&format!("\n| `{key}`{end}"));
        assert!(row("<br>`MPIX_") || row(" |"), "docs/choosing-a-schedule.md has no row for {key}");
    }
    let constants = ["MPIX_NEIGHBOR_GATHER", "MPIX_NEIGHBOR_ALLTOALL", "MPIX_NEIGHBOR_REDUCE", "MPIX_NEIGHBOR_ACCUMULATE"];
    let variables = literals(|s| s.starts_with("MPIX_") && s.len() > 6 && plain(s, |c| c.is_ascii_uppercase()));
    for variable in variables.iter().filter(|v| !constants.contains(&v.as_str()) && !v.starts_with("MPIX_ERR")) {
        assert!(page.contains(&format!("`{variable}`")), "docs/choosing-a-schedule.md does not name {variable}");
    }
    let rows = page.lines().filter_map(|l| l.strip_prefix("| `mpix_")).map(|l| format!("mpix_{}", l.split('`').next().unwrap()));
    let stale: Vec<String> = rows.filter(|key| !keys.contains(key)).collect();
    assert!(stale.is_empty(), "docs/choosing-a-schedule.md has rows for keys that nobody reads: {stale:?}");
}

#[test]
fn each_schedule_is_in_the_tables() {
    for page in ["docs/choosing-a-schedule.md", "docs/schedules.md", "docs/architecture.md"] {
        let text = read(page);
        for entry in &mpix_neighbor::schedule::ALGORITHMS {
            assert!(text.contains(&format!("\n| `{}` |", entry.name)), "{page} has no row for {}", entry.name);
        }
    }
}

#[test]
fn pages_named_in_the_sources_exist() {
    let mut missing = Vec::new();
    for dir in ["src", "preload", "include", "fortran", "tests", "c_tests", "scripts", "examples", "benches", "bindings"] {
        for file in files(dir, &[".rs", ".h", ".c", ".f90", ".F90", ".py", ".toml"]) {
            let text = read(&file);
            for rest in text.split("docs/").skip(1) {
                let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_/.".contains(*c)).collect();
                let name = name.trim_end_matches('.');
                if name.ends_with(".md") && !root().join("docs").join(name).exists() {
                    missing.push(format!("{}: docs/{name}", file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "pages that are named and are not there:\n{}", missing.join("\n"));
}

/// The paths in docs/architecture.md that a call takes: each function that a step names is in the
/// file before it.
#[test]
fn functions_are_where_paths_say() {
    let text = read("docs/architecture.md");
    let steps = text.lines().filter_map(|line| line.split('|').nth(2).filter(|cell| cell.contains(".rs`: `")));
    let mut named = 0;
    for part in steps.flat_map(|cell| cell.split(';')) {
        let Some((file, functions)) = part.split_once(".rs`: ") else { continue };
        let path = format!("src/{}.rs", file.rsplit('`').next().unwrap_or_default());
        let source = read(&path);
        for function in functions.split('`').skip(1).step_by(2) {
            // a type, or another file
            let name = function.rsplit("::").next().unwrap_or_default();
            if name.contains('/') || name.starts_with(char::is_uppercase) && !name.starts_with("MPIX_") {
                continue;
            }
            let is = |kind: char| source.contains(&format!("fn {name}{kind}"));
            assert!(is('(') || is('<'), "docs/architecture.md: {function} is not in {path}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}

#[test]
fn each_page_is_on_the_site_and_in_the_index() {
    let (nav, index) = (read("mkdocs.yml"), read("docs/index.md"));
    for page in files("docs", &[".md"]) {
        let name = page.strip_prefix(root().join("docs")).unwrap().to_str().unwrap().to_owned();
        if name.starts_with("reference/") {
            continue;
        }
        assert!(nav.contains(&format!(" {name}\n")), "mkdocs.yml does not name {name}");
        assert!(name == "index.md" || index.contains(&format!("]({name})")), "docs/index.md does not name {name}");
    }
}

/// A paragraph is not wrapped so that a line begins with a minus, a plus or a number and a point,
/// which Markdown takes for an item of a list.
#[test]
fn no_line_of_a_paragraph_begins_like_an_item() {
    let begins_item = |line: &str| {
        let word = line.split(' ').next().unwrap();
        let number = word.strip_suffix(['.', ')']).is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
        ["-", "+", "*"].contains(&word) || number
    };
    let mut found = Vec::new();
    for page in pages() {
        let text = read(&page);
        let lines = lines(&text);
        for two in lines.windows(2) {
            let ((_, block, before), (number, _, line)) = (&two[0], &two[1]);
            // a list may follow upon an item, its further lines, a heading or an empty line alone
            let paragraph = !before.is_empty() && !before.starts_with([' ', '#', '|', '<']) && !begins_item(before);
            if block.is_none() && paragraph && begins_item(line) {
                found.push(format!("{}:{number}: {line}", page.display()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
