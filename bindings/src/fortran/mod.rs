//! The Fortran module, and the C functions that it calls.

use std::fmt::Write;

use crate::header::{Header, Item};

mod binding;
mod glue;
mod module;

use binding::Binding;
pub use binding::{HANDLES, RENAMED};
pub use glue::glue;
pub use module::{declarations, module};

/// A header and how each of its functions is bound.
pub struct Interface {
    header: Header,
    bindings: Vec<Vec<Binding>>,
}

impl Interface {
    /// Finds a binding for each parameter.
    pub fn new(header: Header) -> Self {
        let bindings = header.functions.iter().map(|f| binding::bind(f, &header)).collect();
        Interface { header, bindings }
    }

    /// The header from which the module is made.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Functions and the bindings of their parameters.
    fn functions(&self) -> impl Iterator<Item = (&Item, &[Binding])> {
        self.header.functions.iter().zip(self.bindings.iter().map(Vec::as_slice))
    }
}

/// The name of the C function that Fortran calls for another one.
fn glue_name(function: &Item) -> String {
    function.name.replacen("MPIX_", "mpixf_", 1)
}

/// A list in parentheses, broken before it is `width` wide; `more` ends a line that goes on.
pub(crate) fn list(head: &str, items: &[String], tail: &str, indent: &str, more: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = format!("{indent}{head}(");
    for (i, item) in items.iter().enumerate() {
        let item = if i + 1 < items.len() { format!("{item},") } else { format!("{item}){tail}") };
        if line.len() + 1 + item.lines().next().unwrap().len() + more.len() > width {
            writeln!(out, "{line}{more}").unwrap();
            line = format!("{indent}    {item}");
        } else {
            line += if line.ends_with('(') { "" } else { " " };
            line += &item;
        }
    }
    out + &line + "\n"
}
