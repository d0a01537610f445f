//! The Rust entry points of the neighborhood collectives, and of the operations on sparse windows.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::table::{Blocks, Collective, Form, Function, Mode, Table};
use crate::text;

/// A file for each operation, one for several fields, and the module that joins them; a file for
/// the operations on windows.
pub fn files(table: &Table) -> Vec<(String, String)> {
    let mut files: Vec<(String, Vec<&Function>)> = Vec::new();
    for f in table.functions() {
        let Some(collective) = &f.generated else { continue };
        let name = file_of(collective);
        match files.iter_mut().find(|(file, _)| *file == name) {
            Some((_, functions)) => functions.push(f),
            None => files.push((name, vec![f])),
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let mut module = String::from(
        "//! The neighborhood collectives, blocking, nonblocking and persistent.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

",
    );
    for (name, _) in &files {
        writeln!(module, "mod {name};").unwrap();
    }
    module.push('\n');
    for (name, _) in &files {
        writeln!(module, "pub use {name}::*;").unwrap();
    }
    let path = |name: &str| format!("{}/{name}.rs", crate::ENTRY_POINTS);
    let mut out = vec![(path("mod"), module)];
    out.extend(files.iter().map(|(name, functions)| (path(name), file(table, functions))));
    out.push((crate::WINDOW_OPERATIONS.to_owned(), window_operations(table)));
    out
}

fn file_of(collective: &Collective) -> String {
    if collective.send == Blocks::Fields { "fields".to_owned() } else { collective.operation.to_lowercase() }
}

fn file(table: &Table, functions: &[&Function]) -> String {
    let forms: Vec<Form> = functions.iter().flat_map(|f| f.forms(table)).collect();
    let names: Vec<String> = functions.iter().map(|f| format!("`{}`", f.name)).collect();
    let mut out = text::wrap(&format!("{}, in all their forms.", names.join(", ")), "//! ", "//! ");
    let fields = functions.iter().any(|f| f.generated.as_ref().is_some_and(|c| c.send == Blocks::Fields));
    let reduces = forms.iter().any(|f| f.params.iter().any(|p| p.c_type == "MPI_Op"));
    let aint = forms.iter().any(|f| f.params.iter().any(|p| p.c_type.contains("MPI_Aint")));
    out += "//!\n//! Generated from bindings/functions.toml by `make header`; do not edit.\n\n";
    out += "use std::ffi::{c_int, c_void};\n\n";
    let dispatch = if fields { "FieldArrays, Mode, fields" } else { "Mode, Operation, collective" };
    writeln!(out, "use crate::capi::dispatch::{{{dispatch}}};").unwrap();
    out += "use crate::capi::request::MPIX_Request;\n";
    let sides = functions.iter().filter_map(|f| f.generated.as_ref()).flat_map(|c| [c.send, c.recv]);
    let shapes: BTreeSet<&str> = sides.filter_map(shape).collect();
    if !shapes.is_empty() {
        let shapes = Vec::from_iter(shapes).join(", ");
        writeln!(
            out,
            "use crate::capi::side::{}",
            if shapes.contains(',') { format!("{{{shapes}}};") } else { format!("{shapes};") }
        )
        .unwrap();
    }
    let mut types = vec!["MPI_Comm", "MPI_Count", "MPI_Datatype", "MPI_Info"];
    if aint {
        types.push("MPI_Aint");
    }
    if reduces {
        types.push("MPI_Op");
    }
    types.sort_unstable();
    writeln!(out, "use crate::mpi::{{{}}};", types.join(", ")).unwrap();
    for form in &forms {
        out.push('\n');
        out += &entry_point(table, form);
    }
    out
}

fn window_operations(table: &Table) -> String {
    let mut out = String::from(
        "//! Operations on elements of sparse windows.
//!
//! Generated from bindings/functions.toml by `make header`; do not edit.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use crate::capi::window::{MPIX_Sparse_window, Pointers, issue};
use crate::mpi::{MPI_Aint, MPI_Count, MPI_Op};
use crate::window::batch::Kind;
",
    );
    for function in table.functions() {
        let Some(kind) = &function.operation else { continue };
        for form in function.forms(table) {
            let has = |name: &str| form.params.iter().any(|p| p.name == name);
            let pointer = |name: &str, none: &str| if has(name) { name.to_owned() } else { format!("{name}: {none}") };
            let pointers =
                [pointer("origin", "null()"), pointer("compare", "null()"), pointer("result", "null_mut()")].join(", ");
            let until = if has("result") { ", and results be left alone until the window is flushed" } else { "" };
            out.push('\n');
            out += &head(table, &form, until);
            write!(
                out,
                "    let (function, pointers) = (\"{}\", Pointers {{ {pointers} }});
    // SAFETY: the caller vouches for the arguments.
    unsafe {{ issue(function, Kind::{kind}, {}, &pointers, count{}, target, indices, window) }}
}}
",
                form.name,
                if has("op") { "Some(op)" } else { "None" },
                if form.large { "" } else { ".into()" },
            )
            .unwrap();
        }
    }
    out
}

/// Documentation and signature of an entry point. `until` adds to what its caller vouches for.
fn head(table: &Table, form: &Form, until: &str) -> String {
    let mut out = text::compose([&*table.summary(form)], "/// ");
    out += "///\n/// # Safety\n";
    let vouched = format!("As for any MPI function: handles must be valid, arrays and buffers as large as documented{until}.");
    out += &text::wrap(&vouched, "/// ", "/// ");
    writeln!(out, "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}(", form.name).unwrap();
    for p in &form.params {
        writeln!(out, "    {}: {},", p.name, rust_type(&p.c_type)).unwrap();
    }
    out + ") -> c_int {\n"
}

fn entry_point(table: &Table, form: &Form) -> String {
    let mut out = head(table, form, if form.mode == Mode::Blocking { "" } else { ", until the request is complete" });
    let collective = form.function.generated.as_ref().expect("only generated functions come here");
    out += &if collective.send == Blocks::Fields { fields(form) } else { call(form, collective) };
    out + "}\n"
}

fn mode(form: &Form) -> &'static str {
    match form.mode {
        Mode::Blocking => "Mode::Blocking",
        Mode::Nonblocking => "Mode::Nonblocking(request)",
        Mode::Persistent => "Mode::Persistent(info, request)",
    }
}

fn call(form: &Form, collective: &Collective) -> String {
    let op = if form.params.iter().any(|p| p.name == "op") { "Some(op)" } else { "None" };
    format!(
        "    let send = {};
    let recv = {};
    let mode = {};
    // SAFETY: the caller vouches for the arguments.
    unsafe {{ collective(\"{}\", Operation::{}, comm, mode, || (send, recv), {op}) }}
",
        blocks(collective.send, "send", form.large),
        blocks(collective.recv, "recv", form.large),
        mode(form),
        form.name,
        collective.operation,
    )
}

/// The type of one side's arguments; `None` for those of several fields.
fn shape(blocks: Blocks) -> Option<&'static str> {
    match blocks {
        Blocks::One => Some("One"),
        Blocks::Equal => Some("Equal"),
        Blocks::Vector => Some("Vector"),
        Blocks::General => Some("General"),
        Blocks::Fields => None,
    }
}

/// The arguments of one side.
fn blocks(blocks: Blocks, side: &str, large: bool) -> String {
    let base = if side == "send" { "sendbuf.cast_mut()" } else { "recvbuf" };
    let arguments = match blocks {
        Blocks::One | Blocks::Equal => {
            format!("count: {side}count{}, datatype: {side}type", if large { "" } else { ".into()" })
        }
        Blocks::Vector => format!("counts: {side}counts, displs: {side}displs, datatype: {side}type"),
        Blocks::General => format!("counts: {side}counts, displs: {side}displs, datatypes: {side}types"),
        Blocks::Fields => panic!("fields have sides of their own"),
    };
    format!("{} {{ base: {base}, {arguments} }}", shape(blocks).expect("fields have sides of their own"))
}

fn fields(form: &Form) -> String {
    let side = |side: &str| {
        format!(
            "    let {side} = FieldArrays {{ buffers: {side}bufs.cast(), counts: {side}counts, displs: {side}displs, \
             datatypes: {side}types }};\n"
        )
    };
    format!(
        "{}{}    // SAFETY: the caller vouches for the arguments.
    unsafe {{ fields(\"{}\", nfields, send, recv, comm, {}) }}
",
        side("send"),
        side("recv"),
        form.name,
        mode(form)
    )
}

/// A C type in Rust.
fn rust_type(c: &str) -> String {
    let spaced = c.replace('*', " * ");
    let mut constant = false;
    let mut ty = String::new();
    for word in spaced.split_whitespace() {
        match word {
            "const" => constant = true,
            "*" => {
                ty = format!("*{} {ty}", if constant { "const" } else { "mut" });
                constant = false;
            }
            "void" => "c_void".clone_into(&mut ty),
            "int" => "c_int".clone_into(&mut ty),
            other => other.clone_into(&mut ty),
        }
    }
    ty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_c_are_those_of_rust() {
        for (c, rust) in [
            ("int", "c_int"),
            ("const void *", "*const c_void"),
            ("void *", "*mut c_void"),
            ("const void *const *", "*const *const c_void"),
            ("void *const *", "*const *mut c_void"),
            ("const MPI_Count *", "*const MPI_Count"),
            ("MPIX_Request *", "*mut MPIX_Request"),
        ] {
            assert_eq!(rust_type(c), rust, "{c}");
        }
    }
}
