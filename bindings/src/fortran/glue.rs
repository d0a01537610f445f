//! The C functions behind the Fortran module: each converts its arguments and calls the C function
//! of its name.

use std::fmt::Write;

use super::{Interface, glue_name, list};
use crate::table::Table;

/// The C functions that the module calls.
pub fn glue(table: &Table, interface: &Interface) -> String {
    let mut out = String::from(
        "/* The functions that the Fortran module calls: each converts its arguments and calls the C function
 * of its name.
 *
 * Generated from bindings/functions.toml by `make header`; do not edit. */
#include \"convert.h\"
",
    );
    for (f, bindings) in interface.functions() {
        let glue: Vec<String> = bindings.iter().filter_map(|b| b.glue.clone()).chain(["MPI_Fint *ierror".to_owned()]).collect();
        out += "\n";
        out += &list(&format!("MPIXF_API void {}", glue_name(f)), &glue, " {", "", "", 120);
        out += "  mpixf_begin();\n";
        let per_neighbor = f.params.iter().any(|p| p.c_type == "const MPI_Datatype *");
        if per_neighbor {
            // the arrays have as many entries as there are neighbors
            out += "  int indegree_ = 0, outdegree_ = 0;\n";
            let collective = table.entry_of(&f.name).and_then(|entry| entry.generated.as_ref());
            let operation = collective.expect("others have no arrays of datatypes").operation.to_uppercase();
            writeln!(out, "  int code = mpixf_degrees(MPIX_NEIGHBOR_{operation}, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);")
                .unwrap();
            out += "  if (code != MPI_SUCCESS) {\n    mpixf_end(ierror, code);\n    return;\n  }\n";
        }
        for line in bindings.iter().flat_map(|b| b.before.lines()) {
            writeln!(out, "  {line}").unwrap();
        }
        let arguments: Vec<String> = bindings.iter().map(|b| b.argument.clone()).collect();
        let declare = if per_neighbor { "" } else { "int " };
        out += &list(&format!("{declare}code = {}", f.name), &arguments, ";", "  ", "", 120);
        for line in bindings.iter().flat_map(|b| b.after.lines()) {
            writeln!(out, "  {line}").unwrap();
        }
        for line in bindings.iter().flat_map(|b| b.on_success.lines()) {
            writeln!(out, "  if (code == MPI_SUCCESS) {line}").unwrap();
        }
        out += "  mpixf_end(ierror, code);\n}\n";
    }
    out
}
