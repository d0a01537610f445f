//! Generates everything that repeats the functions of the C ABI, from one table of them.
//!
//! ```text
//! functions.toml -> table ----> entry_points    src/capi/collectives/*.rs,
//!                     |                         src/capi/window_operations.rs
//!                     |  cbindgen: prototypes and types of src/capi
//!                     v
//!                   header ---> fortran         fortran/mpix_neighbor.f90, fortran/glue.c
//!                     |
//!                     +-> content > reference  docs/reference/*.md
//!                     |         |
//!                     |         +-> manual      man/man3/*.3
//!                     |
//!                     +-------> python          python/mpix_neighbor/_functions.py
//!                     +-------> front           front/functions.h
//! ```
//!
//! `make header` writes the files, and `tests/generated.rs` reports those that are not current. A
//! function that the table and the Rust sources do not agree on stops the generator.

#![forbid(unsafe_code)]

use std::path::Path;

mod content;
mod entry_points;
mod fortran;
mod front;
mod header;
mod manual;
mod python;
mod reference;
mod table;
mod text;

/// Folders in which all files are generated.
pub const FOLDERS: [&str; 3] = [REFERENCE, ENTRY_POINTS, MANUAL];

const REFERENCE: &str = "docs/reference";
const MANUAL: &str = "man/man3";
const ENTRY_POINTS: &str = "src/capi/collectives";
const WINDOW_OPERATIONS: &str = "src/capi/window_operations.rs";

/// Generates all files and passes each to `emit`, with its path below `root`.
///
/// The header is made of the entry points in `root`, so `emit` has to write these at once where the
/// files are to become current.
pub fn generate(root: &Path, emit: &mut dyn FnMut(&str, &str)) {
    let table = table::read(&root.join("bindings/functions.toml"));
    for (path, text) in entry_points::files(&table) {
        emit(&path, &text);
    }
    let prototypes = header::prototypes(root);
    header::check(&table, &prototypes);
    let header = header::write(&table, &prototypes);
    emit("include/mpix_neighbor.h", &header::in_c90(&header));
    let interface = fortran::Interface::new(header::read(&header));
    emit("fortran/mpix_neighbor.f90", &fortran::module(&interface));
    emit("fortran/glue.c", &fortran::glue(&table, &interface));
    emit("python/mpix_neighbor/_functions.py", &python::functions(&table, &interface));
    emit("front/functions.h", &front::functions(&table));
    for (path, text) in reference::pages(&table, &interface).into_iter().chain(manual::pages(&table, &interface)) {
        emit(&path, &text);
    }
}
