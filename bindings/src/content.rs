//! The content of a function's page, from which both the reference and the manual pages are made.
//!
//! Its texts have the table's own marks: names in backquotes, `- ` before the items of a list,
//! pages of the documentation as `docs/tuning.md`.

use crate::fortran;
use crate::table::{self, Argument, Form, Function, Mode, Table};

/// The rules that hold for all functions.
pub const COMMON: &str = "Every function returns `MPI_SUCCESS`, or an error code after calling the error handler of its \
     communicator. Results are written only on success. Where a degree is 0, the arrays that belong to it are not looked at.";

/// The page of an entry of the table.
pub struct Page<'t> {
    pub function: &'t Function,
    /// All C functions that the page describes.
    pub forms: Vec<Form<'t>>,
    /// The paragraphs after the summary.
    pub about: Vec<String>,
    /// Differences in Fortran, beyond those that docs/fortran.md describes for all functions.
    pub fortran: String,
    /// In order. Some are empty.
    pub sections: Vec<Section>,
}

/// A part of a page with a heading.
pub struct Section {
    pub title: &'static str,
    pub texts: Vec<String>,
}

/// All pages.
pub fn pages(table: &Table) -> impl Iterator<Item = Page<'_>> {
    table.functions().filter(|f| f.page.is_none()).map(|f| page(table, f))
}

fn page<'t>(table: &'t Table, f: &'t Function) -> Page<'t> {
    let also: Vec<&Function> = table.functions().filter(|other| other.page.as_ref() == Some(&f.name)).collect();
    let forms: Vec<Form> = std::iter::once(f).chain(also.iter().copied()).flat_map(|f| f.forms(table)).collect();
    let everything = |like| format!("Everything on the page of `{like}` applies here too, except where this page differs.");
    let mut about: Vec<String> = f.like.iter().map(everything).collect();
    about.extend(also.iter().map(|other| format!("`{}`: {}", other.name, other.summary)));

    let common = f.generated.is_some().then_some(&table.collective);
    let own_or = |get: fn(&Function) -> Option<&String>, common: Option<&String>| -> Vec<String> {
        inherited(table, f, get).or(common).cloned().into_iter().collect()
    };
    let details = f.details.iter().chain(common.map(|c| &c.details)).cloned().collect();
    let mut failures = vec![table::list(&table.errors(f))];
    failures.extend(own_or(|f| f.after_errors.as_ref(), common.map(|c| &c.after_errors)));
    let see: Vec<String> = f.see.iter().map(|name| format!("`{}`", table.function(name).name)).collect();

    let section = |title, texts| Section { title, texts };
    let mut sections = vec![section("Arguments", vec![arguments(&f.resolved)]), section("Description", details)];
    if f.generated.is_some() {
        sections.push(started_form(table, &forms, "Nonblocking form", Mode::Nonblocking, f.started.as_deref()));
        sections.push(started_form(table, &forms, "Persistent form", Mode::Persistent, f.persistent.as_deref()));
    }
    sections.extend([
        section("Who calls it", own_or(|f| f.called.as_ref(), common.map(|c| &c.called))),
        section("Errors", failures),
        section("Cost", own_or(|f| f.cost.as_ref(), common.map(|c| &c.cost))),
        section("Source", own_or(|f| f.source.as_ref(), None)),
        section("See also", vec![see.join(", ")]),
    ]);
    Page { function: f, forms, about, fortran: fortran_notes(f), sections }
}

/// A text of a function: its own, or that of the function that it is like.
fn inherited<'t>(table: &'t Table, f: &'t Function, get: fn(&Function) -> Option<&String>) -> Option<&'t String> {
    get(f).or_else(|| table.like(f).and_then(|like| inherited(table, like, get)))
}

/// The section of the nonblocking or persistent form.
fn started_form(table: &Table, forms: &[Form], title: &'static str, mode: Mode, own: Option<&str>) -> Section {
    let form = forms.iter().find(|form| form.mode == mode).expect("collectives have all forms");
    let added = table.mode(mode).expect("it is not the blocking form");
    let mut texts = vec![format!("`{}`. {}", form.name, table.summary(form))];
    texts.push(arguments(&added.arguments));
    texts.extend(own.map(str::to_owned));
    texts.push(added.details.clone());
    texts.extend(added.called.clone());
    texts.push(format!("Cost: {}", added.cost));
    Section { title, texts }
}

fn fortran_notes(f: &Function) -> String {
    let mut notes: Vec<String> = Vec::new();
    let any = |has: fn(&Argument) -> bool| f.resolved.iter().any(has);
    if f.is_large() {
        let displacements = any(|a| a.r#type.contains("DISPL"));
        let others = if displacements { " and `integer(MPI_ADDRESS_KIND)` displacements" } else { "" };
        notes.push(format!("The `_c` variants take `integer(MPI_COUNT_KIND)` counts{others}."));
    }
    if any(|a| a.r#type.split(' ').any(|word| fortran::HANDLES.iter().any(|handle| handle.0 == word))) {
        notes.push("MPI handles may also be integers, as in module `mpi` and `mpif.h`.".into());
    }
    if any(|a| a.r#type == "int" && fortran::RENAMED.iter().any(|renamed| a.text.contains(renamed.0))) {
        notes.push(format!("The operations are {}.", operations()));
    }
    if let Some(a) = f.resolved.iter().find(|a| ["index", "indices"].contains(&a.name.as_str())) {
        // those of elements of a window are offsets
        let first = if a.r#type == "const MPI_Aint *" { "0, as in C" } else { "1" };
        notes.push(format!("Indices count from {first}."));
    }
    notes.join(" ")
}

/// The names of operations in Fortran.
fn operations() -> String {
    let names: Vec<String> = fortran::RENAMED.iter().map(|renamed| format!("`{}`", renamed.1)).collect();
    let (last, others) = names.split_last().expect("there are operations");
    format!("{} and {last}", others.join(", "))
}

/// What is said of the constants in Fortran.
pub fn constants_in_fortran() -> String {
    let names = operations();
    format!("Fortran, whose names are case-insensitive, has {names} for the names that are also functions. See docs/fortran.md.")
}

fn arguments(arguments: &[Argument]) -> String {
    let item = |a: &Argument| {
        let constant = a.r#type.starts_with("const ") || a.r#type.ends_with("const *");
        // a context is passed on
        let direction = match a.r#type.ends_with('*') && !constant && a.name != "context" {
            _ if a.inout => "in/out",
            true => "out",
            false => "in",
        };
        let length = a.entries().map_or(String::new(), |entries| format!(", {entries}"));
        format!("- `{}` ({direction}{length}): {}\n", a.name, a.text)
    };
    arguments.iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_on_fortran_speak_of_what_a_function_has() {
        let table = table::read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("functions.toml"));
        let note = |name: &str| pages(&table).find(|page| page.function.name == name).unwrap().fortran;
        for (name, handles, displacements, renamed) in [
            ("MPIX_Sparse_window_put", false, false, false),
            ("MPIX_Sparse_window_accumulate", true, false, false),
            ("MPIX_Neighbor_alltoall", true, false, false),
            ("MPIX_Neighbor_alltoallv", true, true, false),
            ("MPIX_Neighborhood_set_group", true, false, true),
            ("MPIX_Neighborhood_reverse", true, false, true),
        ] {
            let note = note(name);
            let found = ["handles", "displacements", "`MPIX_FOR_GATHER`"].map(|word| note.contains(word));
            assert_eq!(found, [handles, displacements, renamed], "{name}: {note}");
        }
    }
}
