//! The C header: prototypes and types as cbindgen finds them in the Rust sources, comments of
//! functions from the table. What a header says can be read back.

use std::fmt::Write;
use std::path::Path;

use crate::table::{self, Argument, Form, Mode, Param, Table};
use crate::text;

/// A C function, callback or structure.
pub struct Item {
    pub name: String,
    /// The first sentence of its comment.
    pub about: String,
    pub params: Vec<Param>,
}

/// The declarations of a header.
#[derive(Default)]
pub struct Header {
    /// Name, value, comment.
    pub constants: Vec<(String, String, String)>,
    /// Pointers to what only the library knows: name, comment.
    pub opaque: Vec<(String, String)>,
    pub structs: Vec<Item>,
    pub callbacks: Vec<Item>,
    pub functions: Vec<Item>,
}

/// The header that cbindgen makes of the sources, in pieces.
pub struct Prototypes {
    /// All before the first function.
    head: String,
    /// All after the last one.
    tail: String,
    functions: Vec<Item>,
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

/// Reads a header.
pub fn read(text: &str) -> Header {
    let mut header = Header::default();
    let mut about = String::new();
    let mut statement = String::new();
    let text = &text[text.find("#include <mpi.h>").expect("the header includes mpi.h")..];
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            if statement.is_empty() {
                about.push_str(comment);
                about.push('\n');
            }
            continue;
        }
        if line.is_empty() || line.starts_with('#') || line.starts_with("extern \"C\"") || line.starts_with("}  //") {
            if let Some(definition) = line.strip_prefix("#define MPIX_")
                && let Some((name, value)) = definition.split_once(' ')
            {
                header.constants.push((format!("MPIX_{name}"), value.trim().to_owned(), words(&about)));
            }
            about.clear();
            continue;
        }
        statement.push_str(line);
        statement.push(' ');
        // a structure has semicolons inside
        if line.ends_with(';') && statement.matches('{').count() == statement.matches('}').count() {
            let paragraph = about.split("\n\n").next().unwrap_or_default();
            let statement = words(std::mem::take(&mut statement).trim_end_matches([';', ' ']));
            read_statement(&mut header, &statement, first_sentence(&words(paragraph)));
            about.clear();
        }
    }
    header
}

fn first_sentence(text: &str) -> String {
    let first = text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.');
    format!("{first}.")
}

fn read_statement(header: &mut Header, text: &str, about: String) {
    let callable = |name: &str, list: &str, about: String| {
        let list = list.strip_suffix(')').unwrap_or_else(|| panic!("{name}: no list of parameters"));
        Item { name: name.to_owned(), about, params: params(list) }
    };
    if let Some((name, list)) = text.strip_prefix("int ").and_then(|t| t.split_once('(')) {
        header.functions.push(callable(name, list, about));
    } else if let Some((fields, name)) = text.strip_prefix("typedef struct {").and_then(|t| t.split_once('}')) {
        let params = fields.split(';').map(str::trim).filter(|f| !f.is_empty()).map(param).collect();
        header.structs.push(Item { name: name.trim().to_owned(), about, params });
    } else if let Some((name, list)) = text.strip_prefix("typedef int (*").and_then(|t| t.split_once(")(")) {
        header.callbacks.push(callable(name, list, about));
    } else if let Some((object, name)) = text.strip_prefix("typedef ").and_then(|t| t.split_once(" *")) {
        assert!(object.ends_with("_object"), "{text}");
        header.opaque.push((name.to_owned(), about));
    } else {
        assert!(text.starts_with("typedef struct ") && text.ends_with("_object"), "the header has something new: {text}");
    }
}

/// Runs cbindgen on the sources of the C ABI.
pub fn prototypes(root: &Path) -> Prototypes {
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/capi/mod.rs"));
    let mut generated = Vec::new();
    builder.generate().expect("cbindgen reads the sources").write(&mut generated);
    split(&String::from_utf8(generated).expect("a header is text"))
}

fn split(text: &str) -> Prototypes {
    let (begin, end) = ("extern \"C\" {\n#endif // __cplusplus\n", "#ifdef __cplusplus\n}  // extern \"C\"");
    let from = text.find(begin).expect("the header has functions") + begin.len();
    let to = text.rfind(end).expect("functions end");
    Prototypes { head: text[..from].to_owned(), tail: text[to..].to_owned(), functions: read(text).functions }
}

/// Stops where the table and the sources do not name the same functions, arguments and types.
pub fn check(table: &Table, prototypes: &Prototypes) {
    let forms: Vec<Form> = table.functions().flat_map(|f| f.forms(table)).collect();
    for form in &forms {
        let Some(function) = prototypes.functions.iter().find(|f| f.name == form.name) else {
            panic!("functions.toml has {}, which src/capi does not export", form.name);
        };
        let said = |params: &[Param]| params.iter().map(|p| format!("{} {}", p.c_type, p.name)).collect::<Vec<_>>().join(", ");
        let (here, there) = (said(&form.params), said(&function.params));
        assert!(here == there, "{}: functions.toml has ({here}), src/capi has ({there})", form.name);
        let summary = table.summary(form);
        assert!(
            function.about == first_sentence(&summary),
            "{}: functions.toml has the summary \"{summary}\", src/capi \"{}\"",
            form.name,
            function.about
        );
    }
    for function in &prototypes.functions {
        let known = forms.iter().any(|form| form.name == function.name);
        assert!(known, "src/capi exports {}, which functions.toml does not have", function.name);
    }
}

/// A prototype, on one line if it fits.
pub fn prototype(name: &str, params: &[Param]) -> String {
    let declared: Vec<String> = params.iter().map(|p| declaration(&p.c_type, &p.name)).collect();
    let head = format!("int {name}(");
    let line = format!("{head}{});", declared.join(", "));
    if line.len() <= text::COLUMNS { line } else { format!("{head}{});", declared.join(&format!(",\n{:1$}", "", head.len()))) }
}

/// The declaration of a parameter.
pub fn declaration(c_type: &str, name: &str) -> String {
    if c_type.ends_with('*') { format!("{c_type}{name}") } else { format!("{c_type} {name}") }
}

/// Writes the header.
pub fn write(table: &Table, prototypes: &Prototypes) -> String {
    let mut out = prototypes.head.clone();
    for chapter in &table.chapters {
        write!(out, "\n// ---- {}\n//\n{}", chapter.title, text::compose([&*chapter.about], "// ")).unwrap();
        for form in chapter.functions.iter().flat_map(|f| f.forms(table)) {
            write!(out, "\n{}{}\n", comment(table, &form), prototype(&form.name, &form.params)).unwrap();
        }
    }
    out.push('\n');
    out + &prototypes.tail
}

/// The header with comments that C90 has, too.
pub fn in_c90(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let Some(first) = line.trim_start().strip_prefix("//") else {
            match line.split_once("// ") {
                Some((code, comment)) => writeln!(out, "{code}/* {comment} */").unwrap(),
                None => writeln!(out, "{line}").unwrap(),
            }
            continue;
        };
        assert!(!first.contains("*/") && !first.contains("/*"), "a comment that ends or begins in itself: {first}");
        let mut last = format!("{indent}/*{first}");
        while let Some(next) = lines.next_if(|next| next.trim_start().starts_with("//")) {
            writeln!(out, "{last}").unwrap();
            last = format!("{indent} *{}", &next.trim_start()[2..]);
        }
        let end = if last.len() + " */".len() <= text::COLUMNS { " */".to_owned() } else { format!("\n{indent} */") };
        writeln!(out, "{last}{end}").unwrap();
    }
    out
}

/// The comment of a function.
fn comment(table: &Table, form: &Form) -> String {
    let f = form.function;
    let mut texts = vec![table.summary(form)];
    if form.large {
        return text::compose(texts.iter().map(String::as_str), "// ");
    }
    if let Some(mode) = table.mode(form.mode) {
        // said once, of the first collective
        let home = table.functions().find(|f| f.generated.is_some()).expect("there is a collective");
        let own = if form.mode == Mode::Nonblocking { &f.started } else { &f.persistent };
        texts.extend(own.clone());
        if home.name == f.name {
            texts.push(items(&mode.arguments));
            texts.push(mode.details.clone());
            texts.extend(mode.called.clone());
            texts.push(format!("Cost: {}", mode.cost));
            texts.push(format!("All else is as for `{}`.", f.name));
        } else {
            let name = home.forms(table).into_iter().find(|h| h.mode == form.mode).expect("all modes are there").name;
            texts.push(format!("All else is as for `{}` and `{name}`.", f.name));
        }
        return text::compose(texts.iter().map(String::as_str), "// ");
    }
    let own: Vec<_> = f.resolved.iter().filter(|a| a.own || f.like.is_none()).cloned().collect();
    texts.push(items(&own));
    texts.extend(f.details.clone());
    let common = (f.generated.is_some() && f.like.is_none()).then_some(&table.collective);
    texts.extend(common.map(|c| c.details.clone()));
    texts.extend(f.called.clone().or_else(|| common.map(|c| c.called.clone())));
    texts.extend(f.like.iter().map(|like| format!("All else is as for `{like}`.")));
    // those of another function come with its own, as a class may mean less here
    let errors = if f.has_inherited_errors() { Vec::new() } else { table.errors(f) };
    if !errors.is_empty() {
        texts.push("Errors:".to_owned());
        texts.push(table::list(&errors));
    }
    texts.extend(f.after_errors.clone().or_else(|| common.map(|c| c.after_errors.clone())));
    texts.extend(f.cost.clone().or_else(|| common.map(|c| c.cost.clone())).map(|c| format!("Cost: {c}")));
    texts.extend(f.source.as_ref().map(|s| format!("Source: {s}")));
    text::compose(texts.iter().map(String::as_str), "// ")
}

fn items(arguments: &[Argument]) -> String {
    let item = |a: &Argument| {
        let length = a.entries().map_or(String::new(), |entries| format!(" ({entries})"));
        format!("- `{}`{length}: {}\n", a.name, a.text)
    };
    arguments.iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader takes what C allows.
    #[test]
    fn prototypes_are_read() {
        let text = "#include <mpi.h>\n#define MPIX_ONE 1\n// Does it. At once.\nint MPIX_Do(int nfields,\n  \
                    const void *const sendbufs[], void **data);\n// For a person.\ntypedef struct MPIX_R_object MPIX_R_object;\n\
                    typedef MPIX_R_object *MPIX_R;\n";
        let header = read(text);
        assert_eq!(header.constants, [("MPIX_ONE".to_owned(), "1".to_owned(), String::new())]);
        assert_eq!(header.opaque[0].0, "MPIX_R");
        let f = &header.functions[0];
        assert_eq!((f.name.as_str(), f.about.as_str()), ("MPIX_Do", "Does it."));
        let types: Vec<&str> = f.params.iter().map(|p| p.c_type.as_str()).collect();
        assert_eq!(types, ["int", "const void *const *", "void **"]);
        assert_eq!(f.params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["nfields", "sendbufs", "data"]);
        assert_eq!(prototype(&f.name, &f.params), "int MPIX_Do(int nfields, const void *const *sendbufs, void **data);");
    }

    /// Checks the real table with one function more, against the header that belongs to it, in
    /// which `from` is replaced by `to`.
    fn check_with(function: &str, from: &str, to: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let table = std::fs::read_to_string(root.join("bindings/functions.toml")).unwrap();
        let table = crate::table::parse(&format!("{table}\n{function}"));
        let header = std::fs::read_to_string(root.join("include/mpix_neighbor.h")).unwrap();
        let header = with_lines(&header);
        assert!(header.contains(from), "{from}");
        check(&table, &split(&header.replacen(from, to, 1)));
    }

    /// The header as it was before `in_c90`.
    fn with_lines(header: &str) -> String {
        let (top, rest) = header.split_once("\n\n").unwrap();
        let mut inside = false;
        let mut out = format!("{top}\n\n");
        for line in rest.lines() {
            let (begins, ends) = (line.contains("/*"), line.ends_with("*/"));
            let line = match (begins, inside) {
                (true, _) => line.replacen("/*", "//", 1),
                (false, true) => line.replacen(" *", "//", 1),
                (false, false) => line.to_owned(),
            };
            inside = (begins || inside) && !ends;
            writeln!(out, "{}", line.trim_end_matches(" */")).unwrap();
        }
        out
    }

    #[test]
    fn comments_become_those_of_c90() {
        let text = "// One.\nint a; // two\n\n  // Three\n  //\n  // four.\nint b;\n";
        let wanted = "/* One. */\nint a; /* two */\n\n  /* Three\n   *\n   * four. */\nint b;\n";
        assert_eq!(in_c90(text), wanted);
        let long = "x".repeat(text::COLUMNS - 4);
        assert_eq!(in_c90(&format!("// {long}\n")), format!("/* {long}\n */\n"));
    }

    #[test]
    fn the_table_fits_the_header() {
        check_with("", "", "");
    }

    #[test]
    #[should_panic(expected = "functions.toml has MPIX_New, which src/capi does not export")]
    fn a_function_without_source_is_named() {
        check_with(
            "[[chapter.function]]\nname = \"MPIX_New\"\nsummary = \"Does it.\"\narguments = [\"comm\"]\nlike = \"MPIX_Loggp_set\"",
            "",
            "",
        );
    }

    #[test]
    #[should_panic(expected = "src/capi exports MPIX_New, which functions.toml does not have")]
    fn a_function_without_entry_is_named() {
        let end = "#ifdef __cplusplus\n}";
        check_with("", end, &format!("// Does it.\nint MPIX_New(int a);\n\n{end}"));
    }

    #[test]
    #[should_panic(expected = "MPIX_Loggp_get: functions.toml has (MPI_Comm comm, MPIX_Loggp * parameters)")]
    fn other_arguments_are_named() {
        check_with("", "int MPIX_Loggp_get(MPI_Comm comm", "int MPIX_Loggp_get(MPI_Comm communicator");
    }

    #[test]
    #[should_panic(expected = "MPIX_Sparse_free: functions.toml has the summary")]
    fn another_summary_is_named() {
        check_with("", "// Frees the result of a sparse exchange.", "// Frees a result.");
    }
}
