//! The table of functions: what `functions.toml` says, with inherited arguments filled in.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// The whole table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Arguments that mean the same wherever they stand.
    arguments: BTreeMap<String, Shared>,
    /// Texts that all neighborhood collectives share.
    pub collective: Common,
    /// Texts that nonblocking and persistent forms add.
    pub mode: Modes,
    /// Functions by subject, in the order of the header.
    #[serde(rename = "chapter")]
    pub chapters: Vec<Chapter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    r#type: String,
    length: Option<String>,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    pub called: String,
    pub details: String,
    pub errors: Vec<Failure>,
    pub after_errors: String,
    pub cost: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modes {
    pub nonblocking: ModeText,
    pub persistent: ModeText,
}

/// Texts that a nonblocking or persistent form adds to those of the blocking one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeText {
    /// `{name}` is the blocking form.
    pub summary: String,
    pub arguments: Vec<Argument>,
    pub details: String,
    pub called: Option<String>,
    pub cost: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    pub title: String,
    pub about: String,
    #[serde(rename = "function")]
    pub functions: Vec<Function>,
}

/// An error class, and when it is returned.
#[derive(Deserialize, Clone)]
pub struct Failure(pub String, pub String);

/// A list of errors.
pub fn list<'e>(errors: impl IntoIterator<Item = &'e Failure>) -> String {
    let line = |Failure(class, when): &Failure| match class.starts_with("MPI") {
        true => format!("- `{class}`: {when}\n"),
        false => format!("- {class}: {when}\n"),
    };
    errors.into_iter().map(line).collect()
}

/// An entry of the table. Texts are its own, without those of the function that it is like.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: String,
    #[serde(default)]
    large: bool,
    pub generated: Option<Collective>,
    /// The kind of a window's operation, whose entry points are generated.
    pub operation: Option<String>,
    pub page: Option<String>,
    pub like: Option<String>,
    pub summary: String,
    arguments: Vec<ArgumentEntry>,
    pub details: Option<String>,
    pub called: Option<String>,
    #[serde(default)]
    pub errors: Vec<Failure>,
    #[serde(default)]
    pub without: Vec<String>,
    pub after_errors: Option<String>,
    pub cost: Option<String>,
    pub source: Option<String>,
    /// Text that the nonblocking form adds to that of `[mode.nonblocking]`; `persistent` likewise.
    pub started: Option<String>,
    pub persistent: Option<String>,
    #[serde(default)]
    pub see: Vec<String>,
    /// All arguments of the blocking form, those taken from elsewhere included.
    #[serde(skip)]
    pub resolved: Vec<Argument>,
}

/// A neighborhood collective whose entry points are generated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    pub operation: String,
    pub send: Blocks,
    pub recv: Blocks,
}

/// How the blocks of one side lie.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Blocks {
    One,
    Equal,
    Vector,
    General,
    Fields,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ArgumentEntry {
    Elsewhere(String),
    Own(Argument),
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    pub name: String,
    /// In C, with `COUNT` and `DISPL`.
    pub r#type: String,
    /// Entries of an array.
    pub length: Option<String>,
    #[serde(default)]
    pub inout: bool,
    pub text: String,
    /// Said of this function, rather than of the one that it is like.
    #[serde(skip)]
    pub own: bool,
}

/// A parameter of a C function.
#[derive(Debug, PartialEq, Eq)]
pub struct Param {
    pub c_type: String,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Blocking,
    Nonblocking,
    Persistent,
}

/// One C function of an entry.
pub struct Form<'t> {
    pub function: &'t Function,
    pub name: String,
    pub mode: Mode,
    pub large: bool,
    pub params: Vec<Param>,
}

impl Argument {
    /// How many entries an array has, in words.
    pub fn entries(&self) -> Option<String> {
        let length = self.length.as_ref()?;
        Some(if length.contains('`') { length.clone() } else { format!("`{length}` entries") })
    }
}

impl Function {
    /// The name of a form.
    fn name_of(&self, mode: Mode, large: bool) -> String {
        let name = match mode {
            Mode::Blocking => self.name.clone(),
            Mode::Nonblocking => self.name.replacen("MPIX_Neighbor_", "MPIX_Ineighbor_", 1),
            Mode::Persistent => format!("{}_plan", self.name),
        };
        if large { name + "_c" } else { name }
    }

    /// Has a variant with large counts.
    pub fn is_large(&self) -> bool {
        self.large || self.generated.is_some()
    }

    /// Returns exactly the errors of the function that it is like.
    pub fn has_inherited_errors(&self) -> bool {
        self.like.is_some() && self.errors.is_empty() && self.without.is_empty()
    }

    /// All C functions of this entry.
    pub fn forms<'t>(&'t self, table: &'t Table) -> Vec<Form<'t>> {
        let modes: &[Mode] =
            if self.generated.is_some() { &[Mode::Blocking, Mode::Nonblocking, Mode::Persistent] } else { &[Mode::Blocking] };
        let widths: &[bool] = if self.is_large() { &[false, true] } else { &[false] };
        let mut forms = Vec::new();
        for &mode in modes {
            for &large in widths {
                let arguments = self.resolved.iter().chain(table.added(mode));
                let params = arguments.map(|a| Param { c_type: c_type(&a.r#type, large), name: a.name.clone() }).collect();
                forms.push(Form { function: self, name: self.name_of(mode, large), mode, large, params });
            }
        }
        forms
    }
}

/// A type of the table in C.
pub fn c_type(ty: &str, large: bool) -> String {
    let (count, displ) = if large { ("MPI_Count", "MPI_Aint") } else { ("int", "int") };
    ty.replace("COUNT", count).replace("DISPL", displ)
}

impl Table {
    /// All entries.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.chapters.iter().flat_map(|c| &c.functions)
    }

    /// The entry of a name.
    pub fn function(&self, name: &str) -> &Function {
        self.functions().find(|f| f.name == name).unwrap_or_else(|| panic!("functions.toml has no function {name}"))
    }

    /// The entry that this one is like.
    pub fn like(&self, function: &Function) -> Option<&Function> {
        function.like.as_deref().map(|name| self.function(name))
    }

    /// Errors of a function and of those that it is like, each class once.
    pub fn errors(&self, f: &Function) -> Vec<Failure> {
        let inherited = match self.like(f) {
            Some(like) => self.errors(like),
            None if f.generated.is_some() => self.collective.errors.clone(),
            None => Vec::new(),
        };
        let mut all = f.errors.clone();
        all.extend(inherited.into_iter().filter(|e| !f.without.contains(&e.0) && f.errors.iter().all(|own| own.0 != e.0)));
        all
    }

    /// The texts of a mode.
    pub fn mode(&self, mode: Mode) -> Option<&ModeText> {
        match mode {
            Mode::Blocking => None,
            Mode::Nonblocking => Some(&self.mode.nonblocking),
            Mode::Persistent => Some(&self.mode.persistent),
        }
    }

    /// The arguments that a mode adds.
    fn added(&self, mode: Mode) -> &[Argument] {
        self.mode(mode).map_or(&[], |m| &m.arguments)
    }

    /// The summary of a form: the first sentence of its documentation.
    pub fn summary(&self, form: &Form) -> String {
        let f = form.function;
        match self.mode(form.mode) {
            _ if form.large => format!("`{}` with large counts.", f.name_of(form.mode, false)),
            None => f.summary.clone(),
            Some(mode) => mode.summary.replace("{name}", &f.name),
        }
    }

    /// The entry of a C function, if there is one.
    pub fn entry_of(&self, name: &str) -> Option<&Function> {
        self.functions().find(|f| f.forms(self).iter().any(|form| form.name == name))
    }

    /// The function whose page describes a C function, if there is one.
    pub fn page_of(&self, name: &str) -> Option<&str> {
        self.entry_of(name).map(|function| function.page.as_deref().unwrap_or(&function.name))
    }
}

/// Reads the table.
pub fn read(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    parse(&text)
}

/// Makes a table of its text.
pub fn parse(text: &str) -> Table {
    let mut table: Table = toml::from_str(text).unwrap_or_else(|e| panic!("functions.toml: {e}"));
    let mut known: BTreeMap<String, Vec<Argument>> = BTreeMap::new();
    for f in table.chapters.iter_mut().flat_map(|c| &mut c.functions) {
        assert!(f.summary.ends_with('.'), "{}: the summary is no sentence", f.name);
        let like = f
            .like
            .as_ref()
            .map_or(&[][..], |like| known.get(like).unwrap_or_else(|| panic!("{}: {like} does not stand before it", f.name)));
        let arguments = f.arguments.iter().map(|entry| match entry {
            ArgumentEntry::Own(argument) => Argument { own: true, ..argument.clone() },
            ArgumentEntry::Elsewhere(name) => {
                let inherited = like.iter().find(|a| a.name == *name).map(|a| Argument { own: false, ..a.clone() });
                inherited.unwrap_or_else(|| {
                    let shared = table.arguments.get(name).unwrap_or_else(|| panic!("{}: {name} is described nowhere", f.name));
                    Argument {
                        name: name.clone(),
                        r#type: shared.r#type.clone(),
                        length: shared.length.clone(),
                        inout: false,
                        text: shared.text.clone(),
                        own: true,
                    }
                })
            }
        });
        f.resolved = arguments.collect();
        assert!(known.insert(f.name.clone(), f.resolved.clone()).is_none(), "{} stands twice", f.name);
    }
    table
}
