//! The pages of the reference: one for each entry of the table, and an index.

use std::fmt::Write;

use crate::fortran::{self, Interface};
use crate::header;
use crate::table::{self, Argument, Failure, Form, Function, Mode, Table};
use crate::text;

/// All pages.
pub fn pages(table: &Table, interface: &Interface) -> Vec<(String, String)> {
    let path = |name: &str| format!("{}/{name}.md", crate::REFERENCE);
    let mut out = vec![(path("index"), index(table, interface))];
    for f in table.functions().filter(|f| f.page.is_none()) {
        out.push((path(&f.name), page(table, interface, f)));
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
    out += &text::compose(
        ["Every function returns `MPI_SUCCESS`, or an error code after calling the error handler of its communicator. \
          Results are written only on success. Where a degree is 0, the arrays that belong to it are not looked at."],
        "",
    );
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
    let fortran = "Fortran, whose names are case-insensitive, has `MPIX_FOR_GATHER`, `MPIX_FOR_ALLTOALL`, `MPIX_FOR_REDUCE` and `MPIX_FOR_ACCUMULATE` \
                   for the names that are also functions. See [Fortran](../fortran.md).";
    write!(out, "\n{}", text::compose([fortran], "")).unwrap();
    out += "\n## Types\n\n";
    for (name, about) in &header.opaque {
        out += &text::compose([&*format!("- `{name}`: {}", link(table, about, ""))], "");
    }
    for item in header.callbacks.iter().chain(&header.structs) {
        out += &text::compose([&*format!("- `{}`: {}", item.name, link(table, &item.about, ""))], "");
    }
    out
}

/// What a function has of its own, or has from the one that it is like.
fn inherited<'t>(table: &'t Table, f: &'t Function, get: fn(&Function) -> Option<&String>) -> Option<&'t String> {
    get(f).or_else(|| table.like(f).and_then(|like| inherited(table, like, get)))
}

/// Errors of a function and of those that it is like, each class once.
fn errors(table: &Table, f: &Function) -> Vec<Failure> {
    let mut all = f.errors.clone();
    let inherited = match table.like(f) {
        Some(like) => errors(table, like),
        None if f.generated.is_some() => table.collective.errors.clone(),
        None => Vec::new(),
    };
    for error in inherited {
        if !f.without.contains(&error.0) && all.iter().all(|e| e.0 != error.0) {
            all.push(error);
        }
    }
    all
}

fn page(table: &Table, interface: &Interface, f: &Function) -> String {
    let here = f.name.as_str();
    let linked = |text: &str| link(table, text, here);
    let also: Vec<&Function> = table.functions().filter(|other| other.page.as_deref() == Some(here)).collect();
    let forms: Vec<Form> = std::iter::once(f).chain(also.iter().copied()).flat_map(|f| f.forms(table)).collect();

    let mut head = vec![linked(&f.summary)];
    head.extend(
        f.like
            .iter()
            .map(|like| linked(&format!("Everything on the page of `{like}` applies here too, except where this page differs."))),
    );
    head.extend(also.iter().map(|other| format!("`{}`: {}", other.name, linked(&other.summary))));
    let mut out = format!("# {here}\n\n{GENERATED}\n\n{}", composed(&head));
    out += &interfaces(interface, f, &forms);
    section(&mut out, "Arguments", &[arguments(&f.resolved, &linked)]);

    let common = f.generated.is_some().then_some(&table.collective);
    let own_or = |get: fn(&Function) -> Option<&String>, common: Option<&String>| -> Vec<String> {
        inherited(table, f, get).or(common).map(|text| linked(text)).into_iter().collect()
    };
    let details: Vec<String> = f.details.iter().chain(common.map(|c| &c.details)).map(|t| linked(t)).collect();
    section(&mut out, "Description", &details);
    if f.generated.is_some() {
        out += &started_form(table, &forms, "Nonblocking form", Mode::Nonblocking, f.started.as_deref());
        out += &started_form(table, &forms, "Persistent form", Mode::Persistent, f.persistent.as_deref());
    }
    section(&mut out, "Who calls it", &own_or(|f| f.called.as_ref(), common.map(|c| &c.called)));
    let mut failures = vec![linked(&table::list(&errors(table, f)))];
    failures.extend(own_or(|f| f.after_errors.as_ref(), common.map(|c| &c.after_errors)));
    section(&mut out, "Errors", &failures);
    section(&mut out, "Cost", &own_or(|f| f.cost.as_ref(), common.map(|c| &c.cost)));
    section(&mut out, "Source", &own_or(|f| f.source.as_ref(), None));
    let see: Vec<String> = f.see.iter().map(|name| linked(&format!("`{}`", table.function(name).name))).collect();
    if !see.is_empty() {
        section(&mut out, "See also", &[see.join(", ")]);
    }
    out
}

/// The prototypes in C and Fortran.
fn interfaces(interface: &Interface, f: &Function, forms: &[Form]) -> String {
    let mut out = String::from("\n## C\n\n```c\n#include <mpix_neighbor.h>\n");
    for form in forms {
        write!(out, "\n{}\n", header::prototype(&form.name, &form.params)).unwrap();
    }
    out += "```\n\n## Fortran\n\n```fortran\nuse mpix_neighbor\n";
    for form in forms.iter().filter(|form| !form.large) {
        write!(out, "\n{}", fortran::declarations(interface, &form.name)).unwrap();
    }
    out + "```\n\n" + &text::compose([&*fortran_notes(f)], "")
}

/// The section of the nonblocking or persistent form.
fn started_form(table: &Table, forms: &[Form], title: &str, mode: Mode, own: Option<&str>) -> String {
    let form = forms.iter().find(|form| form.mode == mode).expect("collectives have all forms");
    let linked = |text: &str| link(table, text, &form.function.name);
    let texts = table.mode(mode).expect("it is not the blocking form");
    let mut parts = vec![format!("`{}`. {}", form.name, linked(&table.summary(form)))];
    parts.push(arguments(&texts.arguments, &linked));
    parts.extend(own.map(linked));
    parts.push(linked(&texts.details));
    parts.extend(texts.called.as_deref().map(linked));
    parts.push(format!("Cost: {}", linked(&texts.cost)));
    let mut out = String::new();
    section(&mut out, title, &parts);
    out
}

/// What differs in Fortran; the rest is in docs/fortran.md.
fn fortran_notes(f: &Function) -> String {
    let mut notes = Vec::new();
    if f.is_large() {
        notes.push("The `_c` variants take `integer(MPI_COUNT_KIND)` counts and `integer(MPI_ADDRESS_KIND)` displacements.");
    }
    if f.resolved.iter().any(|a| a.r#type.contains("MPI_") && !a.r#type.contains("MPI_Count")) {
        notes.push("MPI handles may also be integers, as in module `mpi` and `mpif.h`.");
    }
    if f.resolved.iter().any(|a| ["index", "indices"].contains(&a.name.as_str())) {
        notes.push("Indices count from 1.");
    }
    notes.push("See [Fortran](../fortran.md).");
    notes.join(" ")
}

fn composed(texts: &[String]) -> String {
    text::compose(texts.iter().map(String::as_str), "")
}

/// A section, if there is anything in it.
fn section(out: &mut String, title: &str, texts: &[String]) {
    let text = composed(texts);
    if !text.is_empty() {
        write!(out, "\n## {title}\n\n{text}").unwrap();
    }
}

fn arguments(arguments: &[Argument], linked: &impl Fn(&str) -> String) -> String {
    let item = |a: &Argument| {
        let constant = a.r#type.starts_with("const ") || a.r#type.ends_with("const *");
        // a context is passed on
        let direction = match a.r#type.ends_with('*') && !constant && a.name != "context" {
            _ if a.inout => "in/out",
            true => "out",
            false => "in",
        };
        let length = a.entries().map_or(String::new(), |entries| format!(", {entries}"));
        format!("- `{}` ({direction}{length}): {}\n", a.name, linked(&a.text))
    };
    arguments.iter().map(item).collect()
}
