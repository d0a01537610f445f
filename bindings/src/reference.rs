//! The pages of the reference in Markdown, and an index.

use std::fmt::Write;
use std::slice::from_ref;

use crate::content::{self, Page};
use crate::fortran::{self, Interface};
use crate::header;
use crate::table::Table;
use crate::text;

/// All pages.
pub fn pages(table: &Table, interface: &Interface) -> Vec<(String, String)> {
    let path = |name: &str| format!("{}/{name}.md", crate::REFERENCE);
    let mut out = vec![(path("index"), index(table, interface))];
    for one in content::pages(table) {
        out.push((path(&one.function.name), page(table, interface, &one)));
    }
    out
}

const GENERATED: &str = "<!-- Generated from bindings/functions.toml by `make header`; do not edit. -->";

/// Names of functions in backquotes as links to their pages, and files of docs/ too.
fn link(table: &Table, text: &str, here: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 0 {
            out += &documents(part);
            continue;
        }
        match table.page_of(part).filter(|page| *page != here) {
            Some(page) => write!(out, "[`{part}`]({page}.md)").unwrap(),
            None => write!(out, "`{part}`").unwrap(),
        }
    }
    out
}

/// `docs/tuning.md` as a link.
fn documents(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("docs/") {
        let end = after.find(".md").expect("docs/ is followed by the name of a page") + ".md".len();
        let page = &after[..end];
        write!(out, "{before}[docs/{page}](../{page})").unwrap();
        rest = &after[end..];
    }
    out + rest
}

/// The index: functions by subject, then constants and types.
fn index(table: &Table, interface: &Interface) -> String {
    let mut out = format!("# Reference\n\n{GENERATED}\n\n");
    out += &text::compose([content::COMMON], "");
    for chapter in &table.chapters {
        write!(out, "\n## {}\n\n{}\n", chapter.title, text::compose([&*chapter.about], "")).unwrap();
        for f in chapter.functions.iter().filter(|f| f.page.is_none()) {
            let line = format!("- [`{}`]({}.md): {}", f.name, f.name, link(table, &f.summary, &f.name));
            out += &text::compose([&*line], "");
        }
    }
    let header = interface.header();
    out += "\n## Constants\n\n";
    for (name, value, about) in &header.constants {
        let line = format!("- `{name}` = {value}: {}", link(table, about, ""));
        out += &text::compose([&*line], "");
    }
    let fortran = link(table, &content::constants_in_fortran(), "");
    write!(out, "\n{}", text::compose([&*fortran], "")).unwrap();
    out += "\n## Types\n\n";
    for (name, about) in &header.opaque {
        out += &text::compose([&*format!("- `{name}`: {}", link(table, about, ""))], "");
    }
    for item in header.callbacks.iter().chain(&header.structs) {
        out += &text::compose([&*format!("- `{}`: {}", item.name, link(table, &item.about, ""))], "");
    }
    out
}

fn page(table: &Table, interface: &Interface, page: &Page) -> String {
    let here = page.function.name.as_str();
    let linked = |texts: &[String]| texts.iter().map(|text| link(table, text, here)).collect::<Vec<_>>();
    let head = [from_ref(&page.function.summary), &page.about].concat();
    let mut out = format!("# {here}\n\n{GENERATED}\n\n{}", composed(&linked(&head)));
    out += &interfaces(interface, page);
    for part in &page.sections {
        let text = composed(&linked(&part.texts));
        if !text.is_empty() {
            write!(out, "\n## {}\n\n{text}", part.title).unwrap();
        }
    }
    out
}

/// The prototypes in C and Fortran.
fn interfaces(interface: &Interface, page: &Page) -> String {
    let mut out = String::from("\n## C\n\n```c\n#include <mpix_neighbor.h>\n");
    for form in &page.forms {
        write!(out, "\n{}\n", header::prototype(&form.name, &form.params)).unwrap();
    }
    out += "```\n\n## Fortran\n\n```fortran\nuse mpix_neighbor\n";
    for form in page.forms.iter().filter(|form| !form.large) {
        write!(out, "\n{}", fortran::declarations(interface, &form.name, text::COLUMNS)).unwrap();
    }
    let notes = format!("{} See [Fortran](../fortran.md).", page.fortran);
    out + "```\n\n" + &text::compose([&*notes], "")
}

fn composed(texts: &[String]) -> String {
    text::compose(texts.iter().map(String::as_str), "")
}
