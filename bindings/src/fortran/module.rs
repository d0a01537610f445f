//! The Fortran module.

use std::fmt::Write;

use super::binding::{Binding, HANDLES, RENAMED, dense};
use super::{Interface, glue_name, list};
use crate::header::{Header, Item};
use crate::text;

/// Columns of a line of free-form Fortran that every compiler reads.
const COLUMNS: usize = 132;

/// Characters of a name.
const NAME: usize = 63;

fn comment(text: &str, indent: &str) -> String {
    let prefix = format!("{indent}! ");
    text::wrap(&text.replace('`', ""), &prefix, &prefix)
}

/// The declaration of a procedure for people: as module mpi_f08 takes it. Arguments' names are
/// broken before `columns`.
pub fn declarations(interface: &Interface, name: &str, columns: usize) -> String {
    let (f, bindings) = interface.functions().find(|(f, _)| f.name == name).expect("a function of the header");
    let head = list(name, &dummies(f, bindings, false), "", "", " &", columns);
    (head + &declared(bindings, false, true, "  ")).replace("integer(c_int)", "integer")
}

/// The head and the declarations of a subroutine. `integers`: MPI's handles are integers;
/// `logicals`: logicals are not C's integers, and the procedure is not the one of C.
fn subroutine(f: &Item, bindings: &[Binding], name: &str, integers: bool, logicals: bool, indent: &str) -> String {
    let tail = if logicals { String::new() } else { format!(" &\n{indent}    bind(C, name=\"{}\")", glue_name(f)) };
    let mut out = list(&format!("subroutine {name}"), &dummies(f, bindings, !logicals), &tail, indent, " &", 120);
    if !logicals {
        writeln!(out, "{indent}  import\n{indent}  implicit none").unwrap();
    }
    out + &declared(bindings, integers, logicals, &format!("{indent}  "))
}

/// The declarations of a procedure's arguments.
fn declared(bindings: &[Binding], integers: bool, logicals: bool, indent: &str) -> String {
    let mut out = String::new();
    for (b, (ty, name)) in bindings.iter().filter_map(|b| Some((b, b.fortran.as_ref()?))) {
        let mut ty = ty.replace("{logical}", if logicals { "logical" } else { "integer(c_int)" });
        for (handle, _) in HANDLES {
            let in_fortran = if integers { "integer(c_int)".to_owned() } else { format!("type({handle})") };
            ty = ty.replace(&format!("{{{handle}}}"), &in_fortran);
        }
        writeln!(out, "{indent}{ty} :: {name}").unwrap();
        if b.is_examined && !logicals {
            writeln!(out, "{indent}integer(c_int), value :: {}", dense(name.trim_end_matches("(..)"))).unwrap();
        }
    }
    out + &format!("{indent}integer(c_int), intent(out), optional :: ierror\n")
}

/// The names of a procedure's arguments; `in_c`: as the C function has them.
fn dummies(f: &Item, bindings: &[Binding], in_c: bool) -> Vec<String> {
    let in_fortran = f.params.iter().zip(bindings).filter(|(_, b)| b.fortran.is_some());
    let names = in_fortran.flat_map(|(p, b)| [Some(p.name.clone()), (in_c && b.is_examined).then(|| dense(&p.name))]);
    names.flatten().chain(["ierror".to_owned()]).collect()
}

/// True if a Fortran procedure calls the C function: for logicals, and for arrays of any rank, of
/// which gfortran 12 tells C wrong things if they are parts of a pointer to components or
/// polymorphic, but not if they are dummy arguments. For those compilers make copies of what is no
/// array of its own, though, so buffers that are kept go to C at once.
fn is_wrapped(bindings: &[Binding]) -> bool {
    let types: Vec<_> = bindings.iter().filter_map(|b| b.fortran.as_ref()).collect();
    let any_rank = types.iter().any(|(_, name)| name.ends_with("(..)"));
    let kept = types.iter().any(|(ty, _)| ty.contains("asynchronous"));
    types.iter().any(|(ty, _)| ty.contains("{logical}")) || any_rank && !kept
}

/// A procedure that makes logicals of C's integers, and looks which buffers have no gaps.
fn procedure(f: &Item, bindings: &[Binding], name: &str, integers: bool) -> String {
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
    let examined = |d: &str| Some(format!("merge(1_c_int, 0_c_int, is_contiguous({}))", d.strip_suffix(&dense(""))?));
    let actual = |d: String| if logicals.contains(&d.as_str()) { format!("{d}_in_c") } else { examined(&d).unwrap_or(d) };
    let actual: Vec<String> = dummies(f, bindings, true).into_iter().map(actual).collect();
    for l in &logicals {
        writeln!(out, "    {l}_in_c = 0").unwrap();
    }
    out += &list("call in_c", &actual, "", "    ", " &", 120);
    for l in &logicals {
        writeln!(out, "    {l} = {l}_in_c /= 0").unwrap();
    }
    out + &format!("  end subroutine {name}\n")
}

/// The operators that compare handles, and the names of their procedures.
const OPERATORS: [(&str, &str); 2] = [("==", "equal"), ("/=", "differ")];

const HEAD: &str = "! Sparse (neighborhood) collective communication on any MPI: mpix_neighbor.h for Fortran.
!
! Generated from bindings/functions.toml by `make header`; do not edit.
!
! Each name takes handles of mpi_f08 as well as integer handles (module mpi, mpif.h). The C header
! and docs/reference document the arguments, and docs/fortran.md what differs in Fortran.

module mpix_neighbor
  use, intrinsic :: iso_c_binding, only : c_double, c_int, c_intptr_t, c_null_ptr, c_ptr
  use mpi_f08, only : MPI_ADDRESS_KIND, MPI_Comm, MPI_COUNT_KIND, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op
  implicit none
  private

";

/// The module `mpix_neighbor`.
pub fn module(interface: &Interface) -> String {
    let header = interface.header();
    let (interfaces, procedures) = interfaces(interface);
    let declarations = [constants(header), structures(header), handles(header), callbacks(header), interfaces];
    let definitions = [comparisons(header), procedures];
    let out = format!("{HEAD}{}\ncontains\n{}\nend module mpix_neighbor\n", declarations.concat(), definitions.concat());
    assert!(out.lines().all(|line| line.len() <= COLUMNS), "a line of the module is too long for Fortran");
    out
}

fn constants(header: &Header) -> String {
    let clashes = |name: &str| header.functions.iter().any(|f| f.name.eq_ignore_ascii_case(name));
    let mut out = String::new();
    for (name, value, _) in &header.constants {
        let fortran = RENAMED.iter().find(|r| r.0 == name).map_or(name.as_str(), |r| r.1);
        assert!(!clashes(fortran), "constant {name} needs another name in Fortran, where {fortran} is a function too");
        writeln!(out, "  integer, parameter, public :: {fortran} = {value}").unwrap();
    }
    out
}

fn structures(header: &Header) -> String {
    let mut out = String::new();
    for structure in &header.structs {
        let name = &structure.name;
        writeln!(out, "\n  type, bind(C), public :: {name}").unwrap();
        for f in &structure.params {
            let ty = match f.c_type.as_str() {
                "double" => "real(c_double)",
                "MPI_Count" => "integer(MPI_COUNT_KIND)",
                other => panic!("{name}: component `{other} {}` has no place in bindings/src/fortran/module.rs", f.name),
            };
            writeln!(out, "    {ty} :: {}", f.name).unwrap();
        }
        writeln!(out, "  end type {name}").unwrap();
    }
    out
}

/// The types of the library's handles, which can be compared.
fn handles(header: &Header) -> String {
    let mut out = String::from("\n  ! handles: a variable is null until a call sets it\n");
    for (name, _) in &header.opaque {
        writeln!(out, "  type, bind(C), public :: {name}\n    type(c_ptr) :: MPIX_VAL = c_null_ptr\n  end type {name}").unwrap();
        writeln!(out, "  type({name}), parameter, public :: {}_NULL = {name}(c_null_ptr)\n", name.to_uppercase()).unwrap();
    }
    out += "  public :: operator(==), operator(/=)\n";
    for (operator, procedure) in OPERATORS {
        writeln!(out, "  interface operator({operator})").unwrap();
        for (name, _) in &header.opaque {
            writeln!(out, "    module procedure {procedure}_{}", name.trim_start_matches("MPIX_")).unwrap();
        }
        writeln!(out, "  end interface operator({operator})").unwrap();
    }
    out
}

/// Interfaces of functions that a program passes.
fn callbacks(header: &Header) -> String {
    let mut out = String::new();
    for c in &header.callbacks {
        let dummies: Vec<String> = c.params.iter().map(|p| p.name.clone()).collect();
        writeln!(out, "\n  public :: {}\n  abstract interface", c.name).unwrap();
        out += &comment(&c.about, "    ");
        out += &list(&format!("function {}", c.name), &dummies, " bind(C) result(code)", "    ", " &", 120);
        out += "      import\n      implicit none\n";
        for p in &c.params {
            let ty = match p.c_type.as_str() {
                "int" => "integer(c_int)",
                "MPI_Count" => "integer(MPI_COUNT_KIND)",
                "const void *" | "void *" => "type(c_ptr)",
                other => panic!("{}: parameter `{other} {}` has no place in bindings/src/fortran/module.rs", c.name, p.name),
            };
            writeln!(out, "      {ty}, value :: {}", p.name).unwrap();
        }
        writeln!(out, "      integer(c_int) :: code\n    end function {}\n  end interface", c.name).unwrap();
    }
    out
}

/// The interfaces of all functions, and the procedures that stand between some of them and C.
fn interfaces(interface: &Interface) -> (String, String) {
    let (mut out, mut procedures) = (String::new(), String::new());
    for (f, bindings) in interface.functions() {
        assert!(f.name.len() + "_f08".len() <= NAME, "{}: too long a name for Fortran", f.name);
        let has = |what: &str| bindings.iter().filter_map(|b| b.fortran.as_ref()).any(|(ty, _)| ty.contains(what));
        let (generic, wrapped) = (has("{MPI_"), is_wrapped(bindings));
        // name, handles are integers
        let specific = match generic {
            true => vec![(format!("{}_f08", f.name), false), (format!("{}_int", f.name), true)],
            false => vec![(f.name.clone(), false)],
        };
        out += &format!("\n{}  public :: {}\n", comment(&f.about, "  "), f.name);
        if generic || !wrapped {
            writeln!(out, "  interface{}", if generic { format!(" {}", f.name) } else { String::new() }).unwrap();
        }
        for (name, integers) in &specific {
            if wrapped {
                if generic {
                    writeln!(out, "    module procedure {name}").unwrap();
                }
                procedures += &procedure(f, bindings, name, *integers);
            } else {
                out += &subroutine(f, bindings, name, *integers, false, "    ");
                writeln!(out, "    end subroutine {name}").unwrap();
            }
        }
        if generic || !wrapped {
            writeln!(out, "  end interface{}", if generic { format!(" {}", f.name) } else { String::new() }).unwrap();
        }
    }
    (out, procedures)
}

/// The procedures that compare handles.
fn comparisons(header: &Header) -> String {
    let mut out = String::new();
    for (name, _) in &header.opaque {
        for (operator, procedure) in OPERATORS {
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
    out
}
