//! The functions and constants of the C ABI for the Python package, which calls them by `ctypes`.

use std::fmt::Write;

use crate::fortran::Interface;
use crate::table::{Param, Table};

/// How `ctypes` passes a parameter.
fn kind(param: &Param) -> char {
    match param.c_type.trim_start_matches("const ") {
        "int" => 'i',
        "MPI_Count" => 'n',
        "MPI_Comm" | "MPI_Datatype" | "MPI_Group" | "MPI_Info" | "MPI_Op" => 'h',
        // arrays, results, functions, and the handles of this library, all of which are pointers
        _ => 'p',
    }
}

/// The module `_functions`.
pub fn functions(table: &Table, interface: &Interface) -> String {
    let mut out = String::from(
        "\"\"\"The functions and constants of the C library.\n\n\
         Generated from bindings/functions.toml by `make header`; do not edit.\n\"\"\"\n\n\
         # How each parameter is passed: `i` int, `n` MPI_Count, `h` a handle of MPI, `p` a \
         pointer.\n\
         PARAMETERS = {\n",
    );
    for function in table.functions() {
        for form in function.forms(table) {
            let kinds: String = form.params.iter().map(kind).collect();
            writeln!(out, "    \"{}\": \"{kinds}\",", form.name).unwrap();
        }
    }
    out += "}\n\n";
    for (name, value, _) in &interface.header().constants {
        writeln!(out, "{} = {value}", name.trim_start_matches("MPIX_")).unwrap();
    }
    out
}
