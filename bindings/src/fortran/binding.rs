//! How each parameter of the C functions goes from Fortran to C: the one table of that.
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

    fn bind(&self, p: &Param) -> Binding {
        let header = self.header;
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
            before: format!("mpixf_buffer {n}_ = mpixf_copied({n}, 0, NULL);"),
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
            // which request has ended, also if it has failed
            ("int *", "index") if self.has("requests") => {
                let mut b = same("integer(c_int)", "intent(out)", "", "MPI_Fint *", "index".into());
                b.before = "*index = MPI_UNDEFINED;".into();
                b.after = "mpixf_to_one(1, index);".into();
                b
            }
            ("int *", "index") => {
                let mut b = same("integer(c_int)", "intent(out)", "", "MPI_Fint *", "index".into());
                b.on_success = "mpixf_to_one(1, index);".into();
                b
            }
            ("int *", "indices") if self.has("requests") => {
                let mut b = array("integer(c_int)", "intent(inout)", "MPI_Fint *");
                b.before = "*outcount = 0;".into();
                b.after = "mpixf_to_one(*outcount, indices);".into();
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
            // MPI_UNWEIGHTED is a scalar in one MPI's module, an array in others: an array of any
            // rank takes both
            ("const int *" | "int *", "sourceweights" | "targetweights") => {
                let (intent, back) =
                    if ty == "int *" { ("intent(inout)", "mpixf_give_back") } else { ("intent(in)", "mpixf_drop") };
                let (integer, c) = (format!("integer(c_int), {intent}"), "const CFI_cdesc_t *");
                let mut b = other(
                    &integer,
                    "(..)",
                    c,
                    format!("{n}_.address"),
                    format!("mpixf_buffer {n}_ = mpixf_copied({n}, 0, NULL);"),
                );
                b.after = format!("{back}(&{n}_);");
                b
            }
            // one column for each field, in an array of any rank: a generic name would not take two
            // dimensions for one
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
            // arrays that are written are inout: a copy that the compiler makes of one with gaps
            // holds what is not written too. Any of these may be left out
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
            ("const MPI_Aint *", "indices") => array(address, "intent(in)", "const MPI_Aint *"),
            ("const void *" | "void *", "sendbuf" | "recvbuf" | "base" | "origin" | "compare" | "result") => {
                // where one buffer is kept, no procedure stands between that could look
                let is_examined = !self.function.params.iter().any(|p| self.is_kept(p));
                let copied = format!("mpixf_copied({n}, {}, MPI_IN_PLACE)", if is_examined { dense(n) } else { "0".into() });
                let (asynchronous, convert, end) = match (self.is_kept(p), ty) {
                    (true, _) => (", asynchronous", format!("mpixf_direct({n})"), ""),
                    (false, "void *") => ("", copied, "mpixf_give_back"),
                    (false, _) => ("", copied, "mpixf_drop"),
                };
                let intent = if ty == "const void *" { ", intent(in)" } else { "" };
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
                if is_examined {
                    b.is_examined = true;
                    b.glue = Some(format!("{c}{n}, int {}", dense(n)));
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
                } else if header.opaque.iter().any(|(o, _)| o == ty) {
                    same(&format!("type({ty})"), "intent(in)", "", &format!("const {ty} *"), format!("*{n}"))
                } else if let Some((o, _)) = header.opaque.iter().find(|(o, _)| format!("{o} *") == ty) {
                    let shape = if n == "requests" { "(*)" } else { "" };
                    same(&format!("type({o})"), "intent(inout)", shape, &format!("{o} *"), n.into())
                } else if let Some(s) =
                    header.structs.iter().map(|s| &s.name).find(|s| ty.trim_start_matches("const ") == format!("{s} *"))
                {
                    let intent = if ty.starts_with("const ") { "intent(in)" } else { "intent(out)" };
                    same(&format!("type({s})"), intent, "", ty, n.into())
                } else if header.callbacks.iter().any(|c| c.name == ty) {
                    same(&format!("procedure({ty})"), "", "", &format!("{ty} "), n.into())
                } else {
                    panic!("{}: parameter `{ty} {n}` has no place in bindings/src/fortran/binding.rs", self.function.name)
                }
            }
        };
        if let Some((ty, _)) = &mut b.fortran {
            *ty = ty.trim_end_matches([',', ' ']).to_owned();
        }
        b
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
