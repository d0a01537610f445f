//! The generated files are those that `bindings/functions.toml` and the sources say: the entry
//! points of the collectives, the C header, the Fortran module with its glue, the reference, the
//! man pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[test]
fn generated_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut generated = BTreeSet::new();
    let mut stale = BTreeSet::new();
    mpix_neighbor_bindings::generate(root, &mut |path, text| {
        if std::fs::read_to_string(root.join(path)).unwrap_or_default() != text {
            stale.insert(path.to_owned());
        }
        generated.insert(path.to_owned());
    });
    // nothing is left of what is no longer generated
    for folder in mpix_neighbor_bindings::FOLDERS {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap());
            if !generated.contains(&path) {
                stale.insert(path);
            }
        }
    }
    assert!(stale.is_empty(), "out of date: {stale:?}; run `make header` and commit what it writes");
}

/// Pages of docs/ that generated pages refer to are there.
#[test]
fn links_of_the_reference_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut dead = BTreeSet::new();
    mpix_neighbor_bindings::generate(root, &mut |path, text| {
        let Some(folder) = Path::new(path).parent().filter(|_| path.ends_with(".md")) else { return };
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !root.join(folder).join(target).exists() {
                dead.insert(format!("{path}: {target}"));
            }
        }
    });
    assert!(dead.is_empty(), "{dead:?}");
}

/// Elements of windows have the same indices in Fortran as in C.
#[test]
fn indices_of_window_elements_count_from_0() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut windows, mut others) = (0, 0);
    mpix_neighbor_bindings::generate(root, &mut |path, text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if path.contains("MPIX_Sparse_window_") {
            assert!(!text.contains("count from 1"), "{path}");
            windows += usize::from(text.contains("Indices count from 0, as in C."));
        }
        others += usize::from(text.contains("Indices count from 1."));
    });
    // in Markdown and for `man`
    assert_eq!((windows, others), (2 * 5, 2 * 10));
}

/// The names at the beginning of the items of the list after `heading`.
fn listed(text: &str, heading: &str, bullet: &str, empty: &str) -> Option<BTreeSet<String>> {
    let list = text.split_once(heading)?.1.split(empty).next()?;
    let names = list.lines().filter_map(|line| line.strip_prefix(bullet)?.split(['(', ':']).next());
    Some(names.map(|name| name.replace(['`', '[', ']'], "")).collect())
}

/// The header and the pages say the same of the errors of a function. Where the header has no list,
/// those of the function that it refers to are the same.
#[test]
fn the_header_lists_the_errors_of_the_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut header, mut pages) = (String::new(), BTreeMap::new());
    mpix_neighbor_bindings::generate(root, &mut |path, text| {
        if path == "include/mpix_neighbor.h" {
            text.clone_into(&mut header);
        } else if let Some(page) = path.strip_prefix("docs/reference/MPIX_") {
            pages.insert(format!("MPIX_{}", page.strip_suffix(".md").unwrap()), text.to_owned());
        }
    });
    let errors = |page: &str| listed(&pages[page], "\n## Errors\n\n", "- ", "\n\n").unwrap_or_default();
    let mut compared = 0;
    for page in pages.keys() {
        let comment = header.split_once(&format!("\nint {page}(")).unwrap().0.rsplit_once("/*").unwrap().1;
        let like = comment.split_once(" * All else is as for `").map(|(_, rest)| rest.split('`').next().unwrap());
        let said = listed(comment, "\n * Errors:\n *\n", " * - ", "\n *\n");
        compared += usize::from(said.is_some());
        let said = said.unwrap_or_else(|| like.map_or_else(BTreeSet::new, errors));
        assert_eq!(said, errors(page), "{page}");
    }
    assert!(compared > 40, "{compared}");
}

/// `scripts/install` makes a name of each function for its page of what the section NAME says.
#[test]
fn every_function_has_one_manual_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut described: Vec<String> = Vec::new();
    let mut header = String::new();
    mpix_neighbor_bindings::generate(root, &mut |path, text| {
        if path == "include/mpix_neighbor.h" {
            text.clone_into(&mut header);
        } else if let Some(page) = path.strip_prefix("man/man3/") {
            let name = text.lines().skip_while(|line| *line != ".SH NAME").nth(1).unwrap();
            let (names, about) = name.split_once(" \\- ").unwrap();
            assert!(!about.is_empty() && !about.ends_with('.'), "{path}: {name}");
            // the page's own name comes first, and has no link
            assert_eq!(names.split(", ").next(), page.strip_suffix(".3"));
            let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
            assert!(sections.starts_with(&["NAME", "SYNOPSIS", "DESCRIPTION"]), "{path}: {sections:?}");
            assert_eq!(sections.last(), Some(&"\"SEE ALSO\""), "{path}");
            described.extend(names.split(", ").map(str::to_owned));
        }
    });
    let declared = header.lines().filter_map(|line| line.strip_prefix("int MPIX_")?.split('(').next());
    let mut functions: Vec<String> = declared.map(|name| format!("MPIX_{name}")).collect();
    assert!(functions.len() > 100, "{functions:?}");
    functions.push("mpix_neighbor".into());
    functions.sort();
    described.sort();
    assert_eq!(described, functions);
}
