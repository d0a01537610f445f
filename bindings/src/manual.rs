//! The manual pages, section 3: what the reference says, for `man`, and an index of them. A page
//! describes several C functions; `scripts/install` links their names to it, as the section NAME
//! has them.

use roff::{Inline, Roff, bold, italic, roman};

use crate::content::{self, Page};
use crate::fortran::{self, Interface};
use crate::header;
use crate::table::Table;
use crate::text::{self, Block};

/// Columns of a synopsis, which is not filled: what a terminal leaves beside the indent.
const COLUMNS: usize = 72;

/// All pages.
pub fn pages(table: &Table, interface: &Interface) -> Vec<(String, String)> {
    let path = |page: &Page| format!("{}/{}.3", crate::MANUAL, page.function.name);
    let mut out = vec![(format!("{}/{INDEX}.3", crate::MANUAL), index(table, interface))];
    out.extend(content::pages(table).map(|page| (path(&page), manual(table, interface, &page))));
    out
}

/// The page with all others.
const INDEX: &str = "mpix_neighbor";

/// Where a reader finds the pages of the documentation that texts name.
const DOCUMENTS: &str = "Pages in docs/ are installed below share/doc/mpix_neighbor.";

fn head(interface: &Interface, title: &str, names: &str, phrase: &str) -> Roff {
    let mut out = Roff::new();
    let product = format!("mpix-neighbor {}", version(interface));
    // no date: the page is the same whenever it is made
    out.control("TH", [title, "3", "\"\"", &product, "mpix-neighbor"]);
    // names are not hyphenated, and lines of them not stretched
    out.control("nh", []).control("ad", ["l"]);
    out.control("SH", ["NAME"]).text([roman(format!("{names} - {phrase}"))]);
    out
}

/// Functions by subject, then constants and types.
fn index(table: &Table, interface: &Interface) -> String {
    let mut out = head(interface, INDEX, INDEX, "sparse (neighborhood) collective communication on any MPI");
    out.control("SH", ["SYNOPSIS"]);
    code(&mut out, "#include <mpix_neighbor.h>\n\nuse mpix_neighbor");
    let mut section = |title: &str, texts: &[String]| section(&mut out, title, texts, &|text| inlines(table, None, text));
    section("Description", &[content::COMMON.into()]);
    for chapter in &table.chapters {
        let functions = chapter.functions.iter().filter(|f| f.page.is_none());
        let items: String = functions.map(|f| format!("- `{}`: {}\n", f.name, f.summary)).collect();
        section(&chapter.title, &[chapter.about.clone(), items]);
    }
    let header = interface.header();
    let constant = |(name, value, about): &(String, String, String)| format!("- `{name}` = {value}: {about}\n");
    section("Constants", &[header.constants.iter().map(constant).collect(), content::constants_in_fortran()]);
    let opaque = header.opaque.iter().map(|(name, about)| (name, about));
    let others = header.callbacks.iter().chain(&header.structs).map(|item| (&item.name, &item.about));
    section("Types", &[opaque.chain(others).map(|(name, about)| format!("- `{name}`: {about}\n")).collect()]);
    let see = format!("`mpix-neighbor`(1), `mpix-neighbor-preload`(1)\n\n{DOCUMENTS}");
    section("See also", &[see]);
    out.render()
}

fn manual(table: &Table, interface: &Interface, page: &Page) -> String {
    let names: Vec<&str> = page.forms.iter().map(|form| form.name.as_str()).collect();
    let mut out = head(interface, &page.function.name, &names.join(", "), &phrase(&page.function.summary));
    synopsis(&mut out, interface, page);
    let mut section = |title: &str, texts: &[String]| section(&mut out, title, texts, &|text| inlines(table, Some(page), text));
    // a manual page describes before it lists
    let (description, rest): (Vec<_>, Vec<_>) = page.sections.iter().partition(|s| s.title == "Description");
    let mut described = vec![page.function.summary.clone()];
    described.extend(page.about.iter().chain(description.iter().flat_map(|s| &s.texts)).cloned());
    section("Description", &described);
    for part in rest {
        if part.title == "See also" {
            section("In Fortran", &[format!("{} See docs/fortran.md.", page.fortran)]);
            let others = part.texts.iter().filter(|text| !text.is_empty()).map(|text| format!("{text}, "));
            section(part.title, &[format!("{}`{INDEX}`(3)", others.collect::<String>()), DOCUMENTS.into()]);
        } else {
            section(part.title, &part.texts);
        }
    }
    out.render()
}

/// The version, from the header.
fn version(interface: &Interface) -> String {
    let part = |name: &str| {
        let name = format!("MPIX_NEIGHBOR_VERSION_{name}");
        let constants = &interface.header().constants;
        constants.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("the header has no {name}")).1.clone()
    };
    ["MAJOR", "MINOR", "PATCH"].map(part).join(".")
}

/// A sentence as the part of a line that follows a name.
fn phrase(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first = letters.next().expect("a summary has words");
    // a name, which begins with a backquote, keeps its capitals
    format!("{}{}", first.to_lowercase(), letters.as_str()).replace('`', "")
}

/// Prototypes in C and Fortran.
fn synopsis(out: &mut Roff, interface: &Interface, page: &Page) {
    out.control("SH", ["SYNOPSIS"]).control("SS", ["C"]);
    let mut c = String::from("#include <mpix_neighbor.h>\n");
    for form in &page.forms {
        let params: Vec<String> = form.params.iter().map(|p| header::declaration(&p.c_type, &p.name)).collect();
        c += "\n";
        c += &fortran::list(&format!("int {}", form.name), &params, ";", "", "", COLUMNS);
    }
    code(out, &c);
    out.control("SS", ["Fortran"]);
    let mut module = String::from("use mpix_neighbor\n");
    for form in page.forms.iter().filter(|form| !form.large) {
        module += "\n";
        module += &fortran::declarations(interface, &form.name, COLUMNS);
    }
    code(out, &module);
}

/// Lines that are not filled.
fn code(out: &mut Roff, lines: &str) {
    out.control("nf", []).text([roman(lines.trim_end())]).control("fi", []);
}

/// A section of paragraphs and lists, if there is anything in it.
fn section(out: &mut Roff, title: &str, texts: &[String], inlines: &impl Fn(&str) -> Vec<Inline>) {
    let blocks: Vec<Block> = texts.iter().flat_map(|text| text::blocks(text)).collect();
    if !blocks.is_empty() {
        out.control("SH", [title.to_uppercase().as_str()]);
    }
    for (i, block) in blocks.into_iter().enumerate() {
        match block {
            Block::Paragraph(text) => {
                if i > 0 {
                    out.control("PP", []);
                }
                out.text(inlines(&text));
            }
            Block::Item(text) => match tag(&text) {
                Some((tag, rest)) => {
                    out.control("TP", []).text(inlines(tag)).text(inlines(rest));
                }
                None => {
                    out.control("IP", ["\\(bu", "2"]).text(inlines(&text));
                }
            },
        }
    }
}

/// Splits an item into the names that it begins with and their explanation, at the first `: ` that
/// is not inside a name.
fn tag(item: &str) -> Option<(&str, &str)> {
    let (tag, rest) = item.split_once(": ")?;
    (tag.starts_with('`') && tag.matches('`').count() % 2 == 0).then_some((tag, rest))
}

/// A text with its names set apart: functions of other pages with their section, arguments in
/// italics.
fn inlines(table: &Table, page: Option<&Page>, text: &str) -> Vec<Inline> {
    let here = page.map(|page| page.function.name.as_str());
    let params = || page.iter().flat_map(|page| &page.forms).flat_map(|form| &form.params);
    let is_argument = |name: &str| params().any(|p| p.name == name);
    let mut out = Vec::new();
    for (i, part) in text.split('`').enumerate().filter(|(_, part)| !part.is_empty()) {
        if i % 2 == 0 {
            out.push(roman(part));
        } else if is_argument(part) {
            out.push(italic(part));
        } else {
            out.push(bold(part));
            if table.page_of(part).is_some_and(|other| here != Some(other)) {
                out.push(roman("(3)"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_begin_with_a_name() {
        assert_eq!(tag("`comm` (in): A communicator."), Some(("`comm` (in)", "A communicator.")));
        assert_eq!(tag("`a: b` is: so"), None);
        assert_eq!(tag("Others: none"), None);
    }

    #[test]
    fn summaries_become_phrases() {
        assert_eq!(phrase("Does what `MPIX_A` does."), "does what MPIX_A does");
        assert_eq!(phrase("`MPIX_A` with more."), "MPIX_A with more");
    }
}
