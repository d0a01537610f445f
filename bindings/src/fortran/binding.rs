//! The one table that says how each parameter of the C functions goes from Fortran to C.
//!
//! The C type of a parameter decides, and its name where the type leaves it open. A parameter
//! without a rule stops the generator.

use crate::header::{Header, Item};
use crate::table::Param;

/// Types of MPI handles: C, what the conversion function is called after.
pub const HANDLES: [(&str, &str); 5] =
    [("MPI_Comm", "Comm"), ("MPI_Datatype", "Type"), ("MPI_Group", "Group"), ("MPI_Info", "Info"), ("MPI_Op", "Op")];

/// Constants whose names are those of functions in Fortran, which knows no capitals.
pub const RENAMED: [(&str, &str); 4] = [
    ("MPIX_NEIGHBOR_GATHER", "MPIX_FOR_GATHER"),
    ("MPIX_NEIGHBOR_ALLTOALL", "MPIX_FOR_ALLTOALL"),
    ("MPIX_NEIGHBOR_REDUCE", "MPIX_FOR_REDUCE"),
    ("MPIX_NEIGHBOR_ACCUMULATE", "MPIX_FOR_ACCUMULATE"),
];

/// How a parameter goes from Fortran to C. `{}` in declarations of handles stands for the Fortran
/// type.
#[derive(Default)]
pub struct Binding {
    /// Type and attributes, then the name with its shape; none: Fortran does not have the
    /// parameter.
    pub fortran: Option<(String, String)>,
    /// The parameter of the C function that Fortran calls.
    pub glue: Option<String>,
    /// A buffer for which Fortran looks whether it has gaps: C is told in a parameter after it.
    pub is_examined: bool,
    /// Statements before the call, after it in any case, and after it where it succeeded.
    pub before: String,
    pub after: String,
    pub on_success: String,
    pub argument: String,
}

/// How C is given an array whose form Fortran describes.
const DESCRIPTOR: &str = "const CFI_cdesc_t *";

/// The parameter after a buffer that tells C whether it is known to have no gaps.
pub fn dense(buffer: &str) -> String {
    format!("{buffer}_is_dense")
}

/// A function of the header, with what its rules look at.
struct Rules<'h> {
    function: &'h Item,
    header: &'h Header,
}

/// The bindings of a function's parameters.
pub fn bind(function: &Item, header: &Header) -> Vec<Binding> {
    let rules = Rules { function, header };
    function.params.iter().map(|p| rules.bind(p)).collect()
}

/// A variable, or an array, of what C has too: its address is handed on.
fn same(p: &Param, fortran: impl Into<String>, shape: &str, c: &str, argument: impl Into<String>) -> Binding {
    Binding {
        fortran: Some((fortran.into(), format!("{}{shape}", p.name))),
        glue: Some(format!("{c}{}", p.name)),
        argument: argument.into(),
        ..Binding::default()
    }
}

fn array(p: &Param, fortran: &str, c: &str) -> Binding {
    same(p, fortran, "(*)", c, &p.name)
}

/// An array of any rank. C is given `name_`, which `convert` makes, and the function `end` ends.
fn any_rank(p: &Param, fortran: impl Into<String>, convert: &str, end: Option<&str>) -> Binding {
    let n = &p.name;
    Binding {
        before: format!("mpixf_buffer {n}_ = {convert};"),
        after: end.map_or(String::new(), |end| format!("{end}(&{n}_);")),
        ..same(p, fortran, "(..)", DESCRIPTOR, format!("{n}_.address"))
    }
}

/// Makes an array without gaps.
fn copied(p: &Param) -> String {
    format!("mpixf_copied({}, 0, NULL)", p.name)
}

/// The number of a parameter's datatypes.
fn degree_of(p: &Param) -> &'static str {
    if p.name == "sendtypes" { "outdegree_" } else { "indegree_" }
}

/// MPI_UNWEIGHTED is a scalar in one MPI's module, an array in others: an array of any rank
/// takes both.
fn weights(p: &Param) -> Option<Binding> {
    if !["sourceweights", "targetweights"].contains(&p.name.as_str()) {
        return None;
    }
    match p.c_type.as_str() {
        "int *" => Some(any_rank(p, "integer(c_int), intent(inout)", &copied(p), Some("mpixf_give_back"))),
        "const int *" => Some(any_rank(p, "integer(c_int), intent(in)", &copied(p), Some("mpixf_drop"))),
        _ => None,
    }
}

fn scalar(p: &Param) -> Option<Binding> {
    let n = p.name.as_str();
    Some(match (p.c_type.as_str(), n) {
        ("int", _) => same(p, "integer(c_int), intent(in)", "", "const MPI_Fint *", format!("*{n}")),
        ("MPI_Count", _) => same(p, "integer(MPI_COUNT_KIND), intent(in)", "", "const MPI_Count *", format!("*{n}")),
        // no default logical is known to C: a Fortran procedure stands between
        ("int *", "flag" | "weighted") => same(p, "{logical}, intent(out)", "", "MPI_Fint *", n),
        (
            "int *",
            "major" | "minor" | "patch" | "errorclass" | "indegree" | "outdegree" | "resultlen" | "nmessages" | "source"
            | "outcount",
        ) => same(p, "integer(c_int), intent(out)", "", "MPI_Fint *", n),
        ("MPI_Count *", "nelements" | "count") => same(p, "integer(MPI_COUNT_KIND), intent(out)", "", "MPI_Count *", n),
        ("void *", "context") => same(p, "type(c_ptr), value", "", "void *", n),
        ("void **", "data") => same(p, "type(c_ptr), intent(out)", "", "void **", n),
        _ => return None,
    })
}

impl Rules<'_> {
    fn has(&self, name: &str) -> bool {
        self.function.params.iter().any(|p| p.name == name)
    }

    /// True if buffers stay in use after the call.
    fn is_started(&self) -> bool {
        let kept = ["MPIX_Request *", "MPIX_Sparse_request *", "MPIX_Sparse_plan *"];
        self.function.params.iter().any(|p| kept.contains(&p.c_type.as_str()))
    }

    /// True for a buffer that is in use until another call.
    fn is_kept(&self, p: &Param) -> bool {
        let is_buffer = ["const void *", "void *"].contains(&p.c_type.as_str());
        is_buffer && (self.is_started() && p.name != "context" || p.name == "base" || p.name == "result")
    }

    /// Binds a parameter by the first rule that knows it.
    fn bind(&self, p: &Param) -> Binding {
        let bound = (self.string(p))
            .or_else(|| self.index(p))
            .or_else(|| weights(p))
            .or_else(|| self.columns(p))
            .or_else(|| self.array(p))
            .or_else(|| self.buffer(p))
            .or_else(|| scalar(p))
            .or_else(|| self.by_type(p));
        bound.unwrap_or_else(|| {
            let (function, ty, n) = (&self.function.name, &p.c_type, &p.name);
            panic!("{function}: parameter `{ty} {n}` has no place in bindings/src/fortran/binding.rs")
        })
    }

    fn string(&self, p: &Param) -> Option<Binding> {
        Some(match (p.c_type.as_str(), p.name.as_str()) {
            // the length of a Fortran string goes with it
            ("int", "length") if self.has("string") => Binding { argument: "string_.length".into(), ..Binding::default() },
            ("char *", "string") => Binding {
                before: "mpixf_text string_ = mpixf_text_room(string);".into(),
                after: "mpixf_text_end(&string_, code);".into(),
                ..same(p, "character(len=*)", "", DESCRIPTOR, "string_.text")
            },
            _ => return None,
        })
    }

    /// Numbers of messages, neighbors and requests, which count from 1 in Fortran.
    fn index(&self, p: &Param) -> Option<Binding> {
        let (other, to_one, before) = match (p.c_type.as_str(), p.name.as_str()) {
            ("int", "index") => {
                return Some(same(p, "integer(c_int), intent(in)", "", "const MPI_Fint *", "mpixf_from_one(*index)"));
            }
            ("int *", "index") => {
                let index = same(p, "integer(c_int), intent(out)", "", "MPI_Fint *", "index");
                (index, "mpixf_to_one(1, index);", "*index = MPI_UNDEFINED;")
            }
            ("int *", "indices") => {
                let indices = array(p, "integer(c_int), intent(inout)", "MPI_Fint *");
                (indices, "mpixf_to_one(*outcount, indices);", "*outcount = 0;")
            }
            _ => return None,
        };
        Some(match self.has("requests") {
            // which request has ended, also if it has failed
            true => Binding { before: before.into(), after: to_one.into(), ..other },
            false => Binding { on_success: to_one.into(), ..other },
        })
    }

    /// One column for each field, in an array of any rank: a generic name would not take two
    /// dimensions for one.
    fn columns(&self, p: &Param) -> Option<Binding> {
        let n = p.name.as_str();
        let columns = |fortran: &str| any_rank(p, format!("{fortran}, intent(in)"), &copied(p), Some("mpixf_drop"));
        Some(match (p.c_type.as_str(), n) {
            _ if !self.has("nfields") => return None,
            ("const int *", "sendcounts" | "recvcounts") => columns("integer(c_int)"),
            ("const MPI_Count *", "sendcounts" | "recvcounts") => columns("integer(MPI_COUNT_KIND)"),
            ("const MPI_Aint *", "senddispls" | "recvdispls") => columns("integer(MPI_ADDRESS_KIND)"),
            ("const MPI_Datatype *", "sendtypes" | "recvtypes") => {
                let types = columns("{MPI_Datatype}");
                let of = format!("mpixf_types_of(&{n}_in_c_, {n}_.address, {}, *nfields);", degree_of(p));
                Binding {
                    before: format!("{}\nmpixf_types {n}_in_c_;\n{of}", types.before),
                    after: format!("{}\nmpixf_types_end(&{n}_in_c_);", types.after),
                    argument: format!("{n}_in_c_.types"),
                    ..types
                }
            }
            _ => return None,
        })
    }

    /// Arrays that are written are inout: a copy that the compiler makes of one with gaps holds
    /// what is not written too. Any of those of messages may be left out.
    fn array(&self, p: &Param) -> Option<Binding> {
        let (ty, n) = (p.c_type.as_str(), p.name.as_str());
        let of_messages = self.has("maxmessages");
        Some(match (ty, n) {
            ("const int *", "sources" | "targets" | "sendcounts" | "recvcounts" | "senddispls" | "recvdispls") => {
                array(p, "integer(c_int), intent(in)", "const MPI_Fint *")
            }
            ("const MPI_Count *", "sendcounts" | "recvcounts") => {
                array(p, "integer(MPI_COUNT_KIND), intent(in)", "const MPI_Count *")
            }
            ("const MPI_Aint *", "senddispls" | "recvdispls" | "indices") => {
                array(p, "integer(MPI_ADDRESS_KIND), intent(in)", "const MPI_Aint *")
            }
            ("int *", "sources" | "counts" | "displs") if of_messages => {
                array(p, "integer(c_int), intent(inout), optional", "MPI_Fint *")
            }
            ("MPI_Count *", "counts") if of_messages => {
                array(p, "integer(MPI_COUNT_KIND), intent(inout), optional", "MPI_Count *")
            }
            ("MPI_Aint *", "displs") if of_messages => {
                array(p, "integer(MPI_ADDRESS_KIND), intent(inout), optional", "MPI_Aint *")
            }
            ("int *", "sources" | "targets") => array(p, "integer(c_int), intent(inout)", "MPI_Fint *"),
            // addresses, as MPI_Get_address gives them
            ("const void *const *" | "void *const *", "sendbufs" | "recvbufs") => {
                same(p, "integer(MPI_ADDRESS_KIND), intent(in)", "(*)", "const MPI_Aint *", format!("({ty}){n}"))
            }
            ("const MPI_Datatype *", "sendtypes" | "recvtypes") => Binding {
                before: format!("mpixf_types {n}_;\nmpixf_types_of(&{n}_, {n}, {}, 1);", degree_of(p)),
                after: format!("mpixf_types_end(&{n}_);"),
                ..same(p, "{MPI_Datatype}, intent(in)", "(*)", "const MPI_Fint *", format!("{n}_.types"))
            },
            _ => return None,
        })
    }

    fn buffer(&self, p: &Param) -> Option<Binding> {
        let (is_const, n) = (p.c_type == "const void *", p.name.as_str());
        let buffers = ["sendbuf", "recvbuf", "base", "origin", "compare", "result"];
        if !is_const && p.c_type != "void *" || !buffers.contains(&n) {
            return None;
        }
        let intent = if is_const { ", intent(in)" } else { "" };
        if self.is_kept(p) {
            return Some(any_rank(p, format!("type(*){intent}, asynchronous"), &format!("mpixf_direct({n})"), None));
        }
        // where one buffer is kept, no procedure stands between that could look
        let is_examined = !self.function.params.iter().any(|p| self.is_kept(p));
        let convert = format!("mpixf_copied({n}, {}, MPI_IN_PLACE)", if is_examined { dense(n) } else { "0".into() });
        let end = if is_const { "mpixf_drop" } else { "mpixf_give_back" };
        let copied = any_rank(p, format!("type(*){intent}"), &convert, Some(end));
        let glue = is_examined.then(|| format!("{DESCRIPTOR}{n}, int {}", dense(n))).or(copied.glue);
        Some(Binding { glue, is_examined, ..copied })
    }

    /// Handles, structures and callbacks.
    fn by_type(&self, p: &Param) -> Option<Binding> {
        let (header, ty, n) = (self.header, p.c_type.as_str(), p.name.as_str());
        if let Some((_, short)) = HANDLES.iter().find(|(handle, _)| *handle == ty) {
            return Some(same(p, format!("{{{ty}}}, intent(in)"), "", "const MPI_Fint *", format!("MPI_{short}_f2c(*{n})")));
        }
        if let Some((o, _)) = header.opaque.iter().find(|(o, _)| o == ty) {
            return Some(same(p, format!("type({o}), intent(in)"), "", &format!("const {o} *"), format!("*{n}")));
        }
        if let Some((o, _)) = header.opaque.iter().find(|(o, _)| format!("{o} *") == ty) {
            let shape = if n == "requests" { "(*)" } else { "" };
            return Some(same(p, format!("type({o}), intent(inout)"), shape, &format!("{o} *"), n));
        }
        let to = ty.trim_start_matches("const ");
        if let Some(s) = header.structs.iter().map(|s| &s.name).find(|s| to == format!("{s} *")) {
            let intent = if to == ty { "intent(out)" } else { "intent(in)" };
            return Some(same(p, format!("type({s}), {intent}"), "", ty, n));
        }
        let is_callback = header.callbacks.iter().any(|c| c.name == ty);
        is_callback.then(|| same(p, format!("procedure({ty})"), "", &format!("{ty} "), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "MPIX_Do: parameter `int * unheard_of` has no place")]
    fn a_parameter_without_a_rule_is_named() {
        let header = crate::header::read("#include <mpi.h>\n// Does it.\nint MPIX_Do(int *unheard_of);\n");
        bind(&header.functions[0], &header);
    }
}
