//! Which file of a crate uses which: the paths in its syntax tree, followed through re-exports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

use crate::common::files_below;

/// The files of a crate, by module path (`["exec", "p2p"]`; the root is empty).
pub struct Crate {
    pub files: BTreeMap<Vec<String>, File>,
}

/// One source file.
pub struct File {
    /// Path below the crate's `src`.
    pub path: String,
    /// Every path that its code names and that begins in this crate, from the root, followed
    /// through re-exports.
    pub named: BTreeSet<Vec<String>>,
    /// Names that it re-exports, and what stands behind them.
    exports: BTreeMap<String, Vec<String>>,
}

impl Crate {
    /// Reads all files below `src`; `root` is what the crate calls itself (`crate`), or the name
    /// under which a binary sees its library.
    ///
    /// Modules and items for tests alone are left out.
    pub fn read(src: &Path, root: &str) -> Crate {
        let mut parsed = Vec::new();
        for path in files_below(src, &[".rs"]) {
            let relative = path.strip_prefix(src).unwrap().to_str().unwrap().to_owned();
            let syntax =
                syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("src/{relative}: {e}"));
            parsed.push((module_of(&relative), relative, syntax));
        }
        let modules: BTreeSet<Vec<String>> = parsed.iter().map(|(module, ..)| module.clone()).collect();
        let mut tests = BTreeSet::new();
        for (module, _, syntax) in &parsed {
            for item in &syntax.items {
                if let Item::Mod(m) = item
                    && for_tests(&m.attrs)
                {
                    let mut child = module.clone();
                    child.push(m.ident.to_string());
                    tests.insert(child);
                }
            }
        }
        let mut files = BTreeMap::new();
        for (module, path, syntax) in parsed {
            if tests.iter().any(|test| module.starts_with(test)) {
                continue;
            }
            let mut reader =
                Reader { root, module: module.clone(), modules: &modules, named: BTreeSet::new(), exports: BTreeMap::new() };
            reader.visit_file(&syntax);
            files.insert(module, File { path, named: reader.named, exports: reader.exports });
        }
        let mut whole = Crate { files };
        whole.follow();
        whole
    }

    /// Replaces paths that name a re-export by what stands behind it.
    fn follow(&mut self) {
        let resolved: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = (self.files.iter())
            .map(|(module, file)| (module.clone(), file.named.iter().map(|path| self.behind(path.clone())).collect()))
            .collect();
        for (module, named) in resolved {
            self.files.get_mut(&module).unwrap().named = named;
        }
    }

    fn behind(&self, mut path: Vec<String>) -> Vec<String> {
        for _ in 0..8 {
            let module = self.file_of(&path);
            let Some(target) = path.get(module.len()).and_then(|name| self.files[&module].exports.get(name)) else { break };
            path = [target.as_slice(), &path[module.len() + 1..]].concat();
        }
        path
    }

    /// The file that holds what a path names: its longest beginning that is one.
    pub fn file_of(&self, path: &[String]) -> Vec<String> {
        (0..=path.len()).rev().map(|n| path[..n].to_vec()).find(|p| self.files.contains_key(p)).unwrap_or_default()
    }

    /// The other files that a file uses.
    pub fn uses(&self, module: &[String]) -> BTreeSet<Vec<String>> {
        (self.files[module].named.iter()).map(|path| self.file_of(path)).filter(|used| used.as_slice() != module).collect()
    }

    /// Circles in the folders: groups of files and folders of one folder each of which uses, by way
    /// of others of them, each other.
    pub fn circles(&self) -> Vec<Vec<String>> {
        // which entries of a folder use which; an entry is a file, or a folder with all below it
        let mut folders: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (module, file) in &self.files {
            for used in self.uses(module) {
                if let Some((folder, from, to)) = apart(&file.path, &self.files[&used].path) {
                    folders.entry(folder).or_default().entry(from).or_default().insert(to);
                }
            }
        }
        let mut circles = Vec::new();
        for (folder, uses) in &folders {
            let reach: BTreeMap<&String, BTreeSet<&String>> = uses.keys().map(|entry| (entry, reached(entry, uses))).collect();
            let mut seen = BTreeSet::new();
            for (entry, reached) in &reach {
                let circle: Vec<String> = reached
                    .iter()
                    .filter(|o| reach.get(*o).is_some_and(|r| r.contains(entry)))
                    .map(|o| format!("{folder}{o}"))
                    .collect();
                if !circle.is_empty() && seen.insert(circle.clone()) {
                    circles.push(circle);
                }
            }
        }
        circles
    }
}

/// The folder in which two paths part, and what each is called there; `None` if they are the same.
fn apart(one: &str, other: &str) -> Option<(String, String, String)> {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split('/').collect(), other.split('/').collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let folder = one[..same].iter().map(|part| format!("{part}/")).collect();
    Some((folder, (*one.get(same)?).to_owned(), (*other.get(same)?).to_owned()))
}

/// Whatever is used by way of whatever else.
fn reached<'a>(from: &'a String, uses: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(entry) = next.pop() {
        for used in uses.get(entry).into_iter().flatten() {
            if reached.insert(used) {
                next.push(used);
            }
        }
    }
    reached
}

/// `exec/p2p/mod.rs` is the module `exec::p2p`.
fn module_of(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// True if the attributes hold `cfg(test)`, alone or in an `all`.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut found = false;
        if attribute.path().is_ident("cfg") {
            let _ = attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("test") {
                    found = true;
                } else if meta.path.is_ident("all") {
                    meta.parse_nested_meta(|inner| {
                        found |= inner.path.is_ident("test");
                        Ok(())
                    })?;
                }
                Ok(())
            });
        }
        found
    })
}

struct Reader<'a> {
    root: &'a str,
    /// The module that is read, with those that stand in the file itself.
    module: Vec<String>,
    modules: &'a BTreeSet<Vec<String>>,
    named: BTreeSet<Vec<String>>,
    exports: BTreeMap<String, Vec<String>>,
}

impl Reader<'_> {
    /// A path from the crate's root; `None` if it begins elsewhere.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?;
        if first == self.root {
            return Some(path[1..].to_vec());
        }
        if self.root != "crate" {
            return None;
        }
        if first == "self" && path.len() > 1 {
            return Some([self.module.as_slice(), &path[1..]].concat());
        }
        let ups = path.iter().take_while(|part| *part == "super").count();
        if ups > 0 {
            return Some([self.module.get(..self.module.len().checked_sub(ups)?)?, &path[ups..]].concat());
        }
        // a child module, named without more
        let child: Vec<String> = [self.module.as_slice(), &path[..1]].concat();
        (path.len() > 1 && self.modules.contains(&child)).then(|| [self.module.as_slice(), path].concat())
    }

    fn tree(&mut self, tree: &UseTree, before: &[String], public: bool) {
        match tree {
            UseTree::Path(path) => self.tree(&path.tree, &[before, &[path.ident.to_string()]].concat(), public),
            UseTree::Name(name) if name.ident == "self" => self.name(before, before.last(), public),
            UseTree::Name(name) => {
                self.name(&[before, &[name.ident.to_string()]].concat(), Some(&name.ident.to_string()), public);
            }
            UseTree::Rename(rename) => {
                self.name(&[before, &[rename.ident.to_string()]].concat(), Some(&rename.rename.to_string()), public);
            }
            UseTree::Glob(_) => self.name(before, None, false),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before, public)),
        }
    }

    fn name(&mut self, path: &[String], name: Option<&String>, public: bool) {
        let Some(absolute) = self.absolute(path) else { return };
        match name {
            Some(name) if public => drop(self.exports.insert(name.clone(), absolute)),
            _ => drop(self.named.insert(absolute)),
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Const(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.tree(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
    }

    /// `pub(super)` names a module that it does not use.
    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let Some(absolute) = self.absolute(&parts) {
            self.named.insert(absolute);
        }
        visit::visit_path(self, path);
    }

    /// A macro's arguments are tokens, of which only paths from the root are read.
    fn visit_macro(&mut self, m: &'a syn::Macro) {
        visit::visit_macro(self, m);
        let tokens = m.tokens.to_string().replace(' ', "");
        for rest in tokens.split(&format!("{}::", self.root)).skip(1) {
            let path = rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).next().unwrap();
            self.named.insert(path.split("::").map(str::to_owned).collect());
        }
    }
}
