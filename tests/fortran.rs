//! The Fortran module and the C functions behind it are made from the C header, so that they cannot drift. `make header` writes them anew.
//!
//! What a parameter is in Fortran follows from its C type and, where that leaves it open, from its name: `Function::bind` is the one table.
//! A parameter that has no place in it ends the test with its name.

use std::fmt::Write;
use std::path::Path;

/// Types of MPI handles: C, what the conversion function is called after.
const HANDLES: [(&str, &str); 5] =
    [("MPI_Comm", "Comm"), ("MPI_Datatype", "Type"), ("MPI_Group", "Group"), ("MPI_Info", "Info"), ("MPI_Op", "Op")];

/// Constants whose names are those of functions in Fortran, which knows no capitals.
const RENAMED: [(&str, &str); 3] = [
    ("MPIX_NEIGHBOR_GATHER", "MPIX_FOR_GATHER"),
    ("MPIX_NEIGHBOR_ALLTOALL", "MPIX_FOR_ALLTOALL"),
    ("MPIX_NEIGHBOR_REDUCE", "MPIX_FOR_REDUCE"),
];

struct Param {
    c_type: String,
    name: String,
}

struct Function {
    name: String,
    /// The first sentence of its documentation.
    about: String,
    params: Vec<Param>,
}

/// What the header says.
struct Header {
    constants: Vec<(String, String)>,
    /// Pointers to what only the library knows.
    opaque: Vec<String>,
    /// Structures: name, (type, component).
    structs: Vec<(String, Vec<Param>)>,
    callbacks: Vec<Function>,
    functions: Vec<Function>,
}

/// How a parameter goes from Fortran to C. `{}` in declarations of handles stands for the Fortran type.
#[derive(Default)]
struct Binding {
    /// Type and attributes, then the name with its shape; none: Fortran does not have the parameter.
    fortran: Option<(String, String)>,
    /// The parameter of the C function that Fortran calls.
    glue: Option<String>,
    /// Statements before the call, after it in any case, and after it where it succeeded.
    before: String,
    after: String,
    on_success: String,
    argument: String,
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A declaration: `const int *targets`, `MPI_Aint displs[]`.
fn param(text: &str) -> Param {
    let text = words(text);
    let (text, stars) = text.strip_suffix("[]").map_or((text.as_str(), ""), |text| (text, "*"));
    let at = text.rfind(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or_else(|| panic!("{text}: no name"));
    Param { c_type: words(&format!("{} {stars}", &text[..=at])), name: text[at + 1..].to_owned() }
}

fn params(list: &str) -> Vec<Param> {
    list.split(',').map(param).collect()
}

fn read(text: &str) -> Header {
    let mut header = Header { constants: vec![], opaque: vec![], structs: vec![], callbacks: vec![], functions: vec![] };
    let mut about = String::new();
    let mut statement = String::new();
    let text = &text[text.find("#include <mpi.h>").unwrap()..];
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            if statement.is_empty() {
                about.push_str(comment);
            }
            continue;
        }
        if line.is_empty() || line.starts_with('#') || line.starts_with("extern \"C\"") || line.starts_with("}  //") {
            if let Some(definition) = line.strip_prefix("#define MPIX_") {
                let (name, value) = definition.split_once(' ').unwrap();
                header.constants.push((format!("MPIX_{name}"), value.trim().to_owned()));
            }
            about.clear();
            continue;
        }
        statement.push_str(line);
        statement.push(' ');
        // a structure has semicolons inside
        if line.ends_with(';') && statement.matches('{').count() == statement.matches('}').count() {
            let about = words(&std::mem::take(&mut about));
            let first = about.split_once(". ").map_or(about.as_str(), |(first, _)| first).trim_end_matches('.');
            read_statement(&mut header, words(std::mem::take(&mut statement).trim_end_matches([';', ' '])), format!("{first}."));
        }
    }
    header
}

fn read_statement(header: &mut Header, text: String, about: String) {
    if let Some(prototype) = text.strip_prefix("int ") {
        let (name, list) = prototype.split_once('(').unwrap();
        let list = list.strip_suffix(')').unwrap();
        header.functions.push(Function { name: name.to_owned(), about, params: params(list) });
    } else if let Some(structure) = text.strip_prefix("typedef struct {") {
        let (fields, name) = structure.split_once('}').unwrap();
        let fields = fields.split(';').map(str::trim).filter(|f| !f.is_empty()).map(param).collect();
        header.structs.push((name.trim().to_owned(), fields));
    } else if let Some(callback) = text.strip_prefix("typedef int (*") {
        let (name, list) = callback.split_once(")(").unwrap();
        let list = list.strip_suffix(')').unwrap();
        header.callbacks.push(Function { name: name.to_owned(), about, params: params(list) });
    } else if let Some((object, name)) = text.strip_prefix("typedef ").and_then(|t| t.split_once(" *")) {
        assert!(object.ends_with("_object"), "{text}");
        header.opaque.push(name.to_owned());
    } else {
        assert!(text.starts_with("typedef struct ") && text.ends_with("_object"), "the header has something new: {text}");
    }
}

impl Function {
    fn has(&self, name: &str) -> bool {
        self.params.iter().any(|p| p.name == name)
    }

    /// Whether buffers stay in use after the call.
    fn is_started(&self) -> bool {
        (self.params.iter())
            .any(|p| ["MPIX_Request *", "MPIX_Sparse_request *", "MPIX_Sparse_plan *"].contains(&p.c_type.as_str()))
    }

    /// The name that Fortran calls.
    fn glue_name(&self) -> String {
        self.name.replacen("MPIX_", "mpixf_", 1)
    }

    fn bind(&self, p: &Param, header: &Header) -> Binding {
        let (ty, n) = (p.c_type.as_str(), p.name.as_str());
        // a variable, or an array of what C has too: its address is handed on
        let same = |fortran: &str, intent: &str, shape: &str, c: &str, argument: String| Binding {
            fortran: Some((format!("{fortran}, {intent}"), format!("{n}{shape}"))),
            glue: Some(format!("{c}{n}")),
            argument,
            ..Binding::default()
        };
        let array = |fortran: &str, intent: &str, c: &str| same(fortran, intent, "(*)", c, n.to_owned());
        // one that C has otherwise: `name_` is what C is given
        let other = |fortran: &str, shape: &str, c: &str, argument: String, before: String| Binding {
            before,
            ..same(fortran, "", shape, c, argument)
        };
        let (count, address) = ("integer(MPI_COUNT_KIND)", "integer(MPI_ADDRESS_KIND)");
        let columns = |fortran: &str| Binding {
            before: format!("mpixf_buffer {n}_ = mpixf_copied({n}, NULL);"),
            after: format!("mpixf_drop(&{n}_);"),
            ..same(fortran, "intent(in)", "(..)", "const CFI_cdesc_t *", format!("{n}_.address"))
        };
        let mut b = match (ty, n) {
            // the length of a Fortran string goes with it
            ("int", "length") if self.has("string") => Binding { argument: "string_.length".into(), ..Binding::default() },
            ("char *", "string") => {
                let before = "mpixf_text string_ = mpixf_text_room(string);".to_owned();
                let mut b = other("character(len=*)", "", "const CFI_cdesc_t *", "string_.text".into(), before);
                b.after = "mpixf_text_end(&string_, code);".into();
                b
            }
            // messages and neighbors count from 1 in Fortran
            ("int", "index") => same("integer(c_int)", "intent(in)", "", "const MPI_Fint *", "mpixf_from_one(*index)".into()),
            ("int *", "index") => {
                let mut b = same("integer(c_int)", "intent(out)", "", "MPI_Fint *", "index".into());
                b.on_success = "mpixf_to_one(1, index);".into();
                b
            }
            ("int *", "indices") => {
                let mut b = array("integer(c_int)", "intent(inout)", "MPI_Fint *");
                b.on_success = "mpixf_to_one(*outcount, indices);".into();
                b
            }
            ("int", _) => same("integer(c_int)", "intent(in)", "", "const MPI_Fint *", format!("*{n}")),
            ("MPI_Count", _) => same(count, "intent(in)", "", "const MPI_Count *", format!("*{n}")),
            // no default logical is known to C: a Fortran procedure stands between
            ("int *", "flag" | "weighted") => same("{logical}", "intent(out)", "", "MPI_Fint *", n.into()),
            // MPI_UNWEIGHTED is a scalar in one MPI's module, an array in others: an array of any rank takes both
            ("const int *" | "int *", "sourceweights" | "targetweights") => {
                let (intent, back) =
                    if ty == "int *" { ("intent(inout)", "mpixf_give_back") } else { ("intent(in)", "mpixf_drop") };
                let (integer, c) = (format!("integer(c_int), {intent}"), "const CFI_cdesc_t *");
                let mut b =
                    other(&integer, "(..)", c, format!("{n}_.address"), format!("mpixf_buffer {n}_ = mpixf_copied({n}, NULL);"));
                b.after = format!("{back}(&{n}_);");
                b
            }
            // one column for each field, in an array of any rank: a generic name would not take two dimensions for one
            ("const int *", "sendcounts" | "recvcounts") if self.has("nfields") => columns("integer(c_int)"),
            ("const MPI_Count *", "sendcounts" | "recvcounts") if self.has("nfields") => columns(count),
            ("const MPI_Aint *", "senddispls" | "recvdispls") if self.has("nfields") => columns(address),
            ("const MPI_Datatype *", "sendtypes" | "recvtypes") if self.has("nfields") => {
                let degree = if n == "sendtypes" { "outdegree_" } else { "indegree_" };
                let mut b = columns("{MPI_Datatype}");
                b.before += &format!("\nmpixf_types {n}_in_c_;\nmpixf_types_of(&{n}_in_c_, {n}_.address, {degree}, *nfields);");
                b.after += &format!("\nmpixf_types_end(&{n}_in_c_);");
                b.argument = format!("{n}_in_c_.types");
                b
            }
            ("const int *", "sources" | "targets" | "sendcounts" | "recvcounts" | "senddispls" | "recvdispls") => {
                array("integer(c_int)", "intent(in)", "const MPI_Fint *")
            }
            ("const MPI_Count *", "sendcounts" | "recvcounts") => array(count, "intent(in)", "const MPI_Count *"),
            ("const MPI_Aint *", "senddispls" | "recvdispls") => array(address, "intent(in)", "const MPI_Aint *"),
            // arrays that are written are inout: a copy that the compiler makes of one with gaps holds what is not written too.
            // Any of these may be left out
            ("int *", "sources" | "counts" | "displs") if self.has("maxmessages") => {
                array("integer(c_int)", "intent(inout), optional", "MPI_Fint *")
            }
            ("MPI_Count *", "counts") if self.has("maxmessages") => array(count, "intent(inout), optional", "MPI_Count *"),
            ("MPI_Aint *", "displs") if self.has("maxmessages") => array(address, "intent(inout), optional", "MPI_Aint *"),
            ("int *", "sources" | "targets") => array("integer(c_int)", "intent(inout)", "MPI_Fint *"),
            (
                "int *",
                "major" | "minor" | "patch" | "errorclass" | "indegree" | "outdegree" | "resultlen" | "nmessages" | "source"
                | "outcount",
            ) => same("integer(c_int)", "intent(out)", "", "MPI_Fint *", n.into()),
            ("MPI_Count *", "nelements" | "count") => same(count, "intent(out)", "", "MPI_Count *", n.into()),
            ("const void *" | "void *", "sendbuf" | "recvbuf") => {
                let (asynchronous, convert, end) = match (self.is_started(), ty) {
                    (true, _) => (", asynchronous", format!("mpixf_direct({n})"), ""),
                    (false, "void *") => ("", format!("mpixf_copied({n}, MPI_IN_PLACE)"), "mpixf_give_back"),
                    (false, _) => ("", format!("mpixf_copied({n}, MPI_IN_PLACE)"), "mpixf_drop"),
                };
                let intent = if n == "sendbuf" { ", intent(in)" } else { "" };
                let c = "const CFI_cdesc_t *";
                let mut b = other(
                    &format!("type(*){intent}{asynchronous}"),
                    "(..)",
                    c,
                    format!("{n}_.address"),
                    format!("mpixf_buffer {n}_ = {convert};"),
                );
                if !end.is_empty() {
                    b.after = format!("{end}(&{n}_);");
                }
                b
            }
            // addresses, as MPI_Get_address gives them
            ("const void *const *" | "void *const *", "sendbufs" | "recvbufs") => {
                same(address, "intent(in)", "(*)", "const MPI_Aint *", format!("({ty}){n}"))
            }
            ("const MPI_Datatype *", "sendtypes" | "recvtypes") => {
                let degree = if n == "sendtypes" { "outdegree_" } else { "indegree_" };
                let mut b = same("{MPI_Datatype}", "intent(in)", "(*)", "const MPI_Fint *", format!("{n}_.types"));
                b.before = format!("mpixf_types {n}_;\nmpixf_types_of(&{n}_, {n}, {degree}, 1);");
                b.after = format!("mpixf_types_end(&{n}_);");
                b
            }
            ("void *", "context") => same("type(c_ptr)", "value", "", "void *", n.into()),
            ("void **", "data") => same("type(c_ptr)", "intent(out)", "", "void **", n.into()),
            _ => {
                if let Some((_, short)) = HANDLES.iter().find(|(handle, _)| *handle == ty) {
                    same(&format!("{{{ty}}}"), "intent(in)", "", "const MPI_Fint *", format!("MPI_{short}_f2c(*{n})"))
                } else if header.opaque.iter().any(|o| o == ty) {
                    same(&format!("type({ty})"), "intent(in)", "", &format!("const {ty} *"), format!("*{n}"))
                } else if let Some(o) = header.opaque.iter().find(|o| format!("{o} *") == ty) {
                    let shape = if n == "requests" { "(*)" } else { "" };
                    same(&format!("type({o})"), "intent(inout)", shape, &format!("{o} *"), n.into())
                } else if let Some((s, _)) =
                    header.structs.iter().find(|(s, _)| ty.trim_start_matches("const ") == format!("{s} *"))
                {
                    let intent = if ty.starts_with("const ") { "intent(in)" } else { "intent(out)" };
                    same(&format!("type({s})"), intent, "", ty, n.into())
                } else if header.callbacks.iter().any(|c| c.name == ty) {
                    same(&format!("procedure({ty})"), "", "", &format!("{ty} "), n.into())
                } else {
                    panic!("{}: parameter `{ty} {n}` has no place in the table of tests/fortran.rs", self.name)
                }
            }
        };
        if let Some((ty, _)) = &mut b.fortran {
            *ty = ty.trim_end_matches([',', ' ']).to_owned();
        }
        b
    }
}

/// A list in parentheses, broken before it is `width` wide; `more` ends a line that goes on.
fn list(head: &str, items: &[String], tail: &str, indent: &str, more: &str, width: usize) -> String {
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

fn comment(mark: &str, text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = format!("{indent}{mark}");
    for word in text.replace('`', "").split(' ') {
        if line.len() + 1 + word.len() > 120 {
            writeln!(out, "{line}").unwrap();
            line = format!("{indent}{mark}");
        }
        line = line + " " + word;
    }
    out + &line + "\n"
}

/// The head and the declarations of a subroutine. `integers`: MPI's handles are integers; `logicals`: logicals are not C's integers.
fn subroutine(f: &Function, bindings: &[Binding], name: &str, integers: bool, logicals: bool, indent: &str) -> String {
    let tail = if logicals { String::new() } else { format!(" &\n{indent}    bind(C, name=\"{}\")", f.glue_name()) };
    let mut out = list(&format!("subroutine {name}"), &dummies(f, bindings), &tail, indent, " &", 120);
    if !logicals {
        writeln!(out, "{indent}  import\n{indent}  implicit none").unwrap();
    }
    for (ty, name) in bindings.iter().filter_map(|b| b.fortran.as_ref()) {
        let mut ty = ty.replace("{logical}", if logicals { "logical" } else { "integer(c_int)" });
        for (handle, _) in HANDLES {
            let in_fortran = if integers { "integer(c_int)".to_owned() } else { format!("type({handle})") };
            ty = ty.replace(&format!("{{{handle}}}"), &in_fortran);
        }
        writeln!(out, "{indent}  {ty} :: {name}").unwrap();
    }
    out + &format!("{indent}  integer(c_int), intent(out), optional :: ierror\n")
}

fn dummies(f: &Function, bindings: &[Binding]) -> Vec<String> {
    let in_fortran = f.params.iter().zip(bindings).filter(|(_, b)| b.fortran.is_some());
    in_fortran.map(|(p, _)| p.name.clone()).chain(["ierror".to_owned()]).collect()
}

/// A procedure that makes logicals of C's integers.
fn procedure(f: &Function, bindings: &[Binding], name: &str, integers: bool) -> String {
    let logicals: Vec<&str> = (f.params.iter().zip(bindings))
        .filter(|(_, b)| b.fortran.as_ref().is_some_and(|(ty, _)| ty.contains("{logical}")))
        .map(|(p, _)| p.name.as_str())
        .collect();
    let mut out = format!("\n{}", subroutine(f, bindings, name, integers, true, "  "));
    for l in &logicals {
        writeln!(out, "    integer(c_int) :: {l}_in_c").unwrap();
    }
    out += "    interface\n";
    out += &subroutine(f, bindings, "in_c", integers, false, "      ");
    out += "      end subroutine in_c\n    end interface\n";
    let actual = |d: String| if logicals.contains(&d.as_str()) { format!("{d}_in_c") } else { d };
    let actual: Vec<String> = dummies(f, bindings).into_iter().map(actual).collect();
    for l in &logicals {
        writeln!(out, "    {l}_in_c = 0").unwrap();
    }
    out += &list("call in_c", &actual, "", "    ", " &", 120);
    for l in &logicals {
        writeln!(out, "    {l} = {l}_in_c /= 0").unwrap();
    }
    out + &format!("  end subroutine {name}\n")
}

fn module(header: &Header) -> String {
    let clashes = |name: &str| header.functions.iter().any(|f| f.name.eq_ignore_ascii_case(name));
    let mut out = String::from(
        "! Sparse (neighborhood) collective communication on any MPI: what mpix_neighbor.h has, for Fortran.
!
! Generated from include/mpix_neighbor.h by `make header`; do not edit.
!
! Each name takes handles of mpi_f08 as well as integer handles (module mpi, mpif.h). The C header documents the arguments;
! docs/fortran.md tells what is otherwise in Fortran.

module mpix_neighbor
  use, intrinsic :: iso_c_binding, only : c_double, c_int, c_intptr_t, c_null_ptr, c_ptr
  use mpi_f08, only : MPI_ADDRESS_KIND, MPI_Comm, MPI_COUNT_KIND, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op
  implicit none
  private

",
    );
    for (name, value) in &header.constants {
        let fortran = RENAMED.iter().find(|r| r.0 == name).map_or(name.as_str(), |r| r.1);
        assert!(!clashes(fortran), "constant {name} needs another name in Fortran, where {fortran} is a function too");
        writeln!(out, "  integer, parameter, public :: {fortran} = {value}").unwrap();
    }
    for (name, fields) in &header.structs {
        writeln!(out, "\n  type, bind(C), public :: {name}").unwrap();
        for f in fields {
            let ty = match f.c_type.as_str() {
                "double" => "real(c_double)",
                "MPI_Count" => "integer(MPI_COUNT_KIND)",
                other => panic!("{name}: component `{other} {}` has no place in tests/fortran.rs", f.name),
            };
            writeln!(out, "    {ty} :: {}", f.name).unwrap();
        }
        writeln!(out, "  end type {name}").unwrap();
    }
    out += "\n  ! handles: a variable is null until a call makes it something\n";
    for name in &header.opaque {
        writeln!(out, "  type, bind(C), public :: {name}\n    type(c_ptr) :: MPIX_VAL = c_null_ptr\n  end type {name}").unwrap();
        writeln!(out, "  type({name}), parameter, public :: {}_NULL = {name}(c_null_ptr)\n", name.to_uppercase()).unwrap();
    }
    out += "  public :: operator(==), operator(/=)\n";
    for (operator, procedure) in [("==", "equal"), ("/=", "differ")] {
        writeln!(out, "  interface operator({operator})").unwrap();
        for name in &header.opaque {
            writeln!(out, "    module procedure {procedure}_{}", name.trim_start_matches("MPIX_")).unwrap();
        }
        writeln!(out, "  end interface operator({operator})").unwrap();
    }
    for c in &header.callbacks {
        let dummies: Vec<String> = c.params.iter().map(|p| p.name.clone()).collect();
        writeln!(out, "\n  public :: {}\n  abstract interface", c.name).unwrap();
        out += &comment("!", &c.about, "    ");
        out += &list(&format!("function {}", c.name), &dummies, " bind(C) result(code)", "    ", " &", 120);
        out += "      import\n      implicit none\n";
        for p in &c.params {
            let ty = match p.c_type.as_str() {
                "int" => "integer(c_int)",
                "MPI_Count" => "integer(MPI_COUNT_KIND)",
                "const void *" | "void *" => "type(c_ptr)",
                other => panic!("{}: parameter `{other} {}` has no place in tests/fortran.rs", c.name, p.name),
            };
            writeln!(out, "      {ty}, value :: {}", p.name).unwrap();
        }
        writeln!(out, "      integer(c_int) :: code\n    end function {}\n  end interface", c.name).unwrap();
    }
    let mut procedures = String::new();
    for f in &header.functions {
        let bindings: Vec<Binding> = f.params.iter().map(|p| f.bind(p, header)).collect();
        let has = |what: &str| bindings.iter().filter_map(|b| b.fortran.as_ref()).any(|(ty, _)| ty.contains(what));
        let (generic, logical) = (has("{MPI_"), has("{logical}"));
        // name, handles are integers
        let specific = match generic {
            true => vec![(format!("{}_f08", f.name), false), (format!("{}_int", f.name), true)],
            false => vec![(f.name.clone(), false)],
        };
        out += &format!("\n{}  public :: {}\n", comment("!", &f.about, "  "), f.name);
        if generic || !logical {
            writeln!(out, "  interface{}", if generic { format!(" {}", f.name) } else { String::new() }).unwrap();
        }
        for (name, integers) in &specific {
            if logical {
                if generic {
                    writeln!(out, "    module procedure {name}").unwrap();
                }
                procedures += &procedure(f, &bindings, name, *integers);
            } else {
                out += &subroutine(f, &bindings, name, *integers, false, "    ");
                writeln!(out, "    end subroutine {name}").unwrap();
            }
        }
        if generic || !logical {
            writeln!(out, "  end interface{}", if generic { format!(" {}", f.name) } else { String::new() }).unwrap();
        }
    }
    out += "\ncontains\n";
    for name in &header.opaque {
        for (operator, procedure) in [("==", "equal"), ("/=", "differ")] {
            let procedure = format!("{procedure}_{}", name.trim_start_matches("MPIX_"));
            write!(
                out,
                "
  elemental logical function {procedure}(a, b)
    type({name}), intent(in) :: a, b
    {procedure} = transfer(a%MPIX_VAL, 0_c_intptr_t) {operator} transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function {procedure}
"
            )
            .unwrap();
        }
    }
    out + &procedures + "\nend module mpix_neighbor\n"
}

fn glue(header: &Header) -> String {
    let mut out = String::from(
        "/* The functions that the Fortran module calls: each converts its arguments and calls the C function of its name.
 *
 * Generated from include/mpix_neighbor.h by `make header`; do not edit. */
#include \"convert.h\"
",
    );
    for f in &header.functions {
        let bindings: Vec<Binding> = f.params.iter().map(|p| f.bind(p, header)).collect();
        let glue: Vec<String> = bindings.iter().filter_map(|b| b.glue.clone()).chain(["MPI_Fint *ierror".to_owned()]).collect();
        out += "\n";
        out += &list(&format!("MPIXF_API void {}", f.glue_name()), &glue, " {", "", "", 120);
        out += "  mpixf_begin();\n";
        let per_neighbor = f.params.iter().any(|p| p.c_type == "const MPI_Datatype *");
        if per_neighbor {
            // the arrays have as many entries as there are neighbors
            out += "  int indegree_ = 0, outdegree_ = 0;\n";
            out += "  int code = mpixf_degrees(MPI_Comm_f2c(*comm), &indegree_, &outdegree_);\n";
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

#[test]
fn fortran_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("include/mpix_neighbor.h")).unwrap();
    let header = read(&text);
    // none was read over
    assert_eq!(header.functions.len(), text.lines().filter(|line| line.starts_with("int MPIX_")).count());
    for (file, text) in [("fortran/mpix_neighbor.f90", module(&header)), ("fortran/glue.c", glue(&header))] {
        assert!(text.lines().all(|line| line.len() <= 132), "{file}: lines have at most 132 characters in Fortran");
        let path = root.join(file);
        if std::env::var_os("MPIX_WRITE_HEADER").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{file} is not what the header says: run `make header` and commit it");
    }
    for f in &header.functions {
        assert!(f.name.len() + "_f08".len() <= 63, "{}: names have at most 63 characters in Fortran", f.name);
    }
}

/// The reader takes what C allows, and what it cannot place is named.
#[test]
fn prototypes_are_read() {
    let text = "#include <mpi.h>\n#define MPIX_ONE 1\n// Does it. At once.\nint MPIX_Do(int nfields,\n  const void *const sendbufs[], void **data);\n\
                // For a person.\ntypedef struct MPIX_R_object MPIX_R_object;\ntypedef MPIX_R_object *MPIX_R;\n";
    let header = read(text);
    assert_eq!(header.constants, [("MPIX_ONE".to_owned(), "1".to_owned())]);
    assert_eq!(header.opaque, ["MPIX_R"]);
    let f = &header.functions[0];
    assert_eq!((f.name.as_str(), f.about.as_str()), ("MPIX_Do", "Does it."));
    let types: Vec<&str> = f.params.iter().map(|p| p.c_type.as_str()).collect();
    assert_eq!(types, ["int", "const void *const *", "void **"]);
    assert_eq!(f.params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["nfields", "sendbufs", "data"]);
}

#[test]
#[should_panic(expected = "MPIX_Do: parameter `int * unheard_of` has no place")]
fn what_has_no_place_is_named() {
    let header = read("#include <mpi.h>\n// Does it.\nint MPIX_Do(int *unheard_of);\n");
    module(&header);
}
