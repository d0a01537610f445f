//! The list of functions for the front, which jumps to the library of the MPI that runs.

use crate::table::Table;

/// `front/functions.h`: each name, as the argument of a macro.
pub fn functions(table: &Table) -> String {
    let names = table.functions().flat_map(|function| function.forms(table));
    let lines: Vec<String> = names.map(|form| format!("  FUNCTION({})", form.name)).collect();
    format!(
        "/* The functions of the C ABI.\n\n   Generated from bindings/functions.toml by `make header`; \
         do not edit. */\n#define FUNCTIONS(FUNCTION) \\\n{}\n",
        lines.join(" \\\n")
    )
}
