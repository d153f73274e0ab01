//! What one file imports, from its `use` lines and from the paths that it writes out.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Attribute, Item, ItemMod, ItemUse, Macro, Meta, UseTree, Visibility,
    visit::{self, Visit},
};

use crate::architecture::crate_tree::ModulePath;

#[derive(Default)]
pub(crate) struct Module {
    /// Paths from the crate's root.
    pub(crate) imports: Vec<ModulePath>,
    pub(crate) crates: BTreeSet<String>,
    pub(crate) defines: BTreeSet<String>,
    /// Names that it makes its own by `pub use`, and where they are from.
    pub(crate) hands_on: BTreeMap<String, ModulePath>,
    /// Modules of which it hands on everything.
    pub(crate) hands_on_all: Vec<ModulePath>,
}

/// The module that a file is, and those that are written inside of it. What is there for its own tests does not count.
pub(crate) fn of_file(module: &ModulePath, text: &str) -> Vec<(ModulePath, Module)> {
    let file = syn::parse_file(text).expect("a file that compiles");
    let mut reader = Reader {
        dependencies: dependencies(),
        modules: vec![(module.clone(), Module::default())],
        inside: vec![0],
    };
    reader.visit_file(&file);
    reader.modules
}

struct Reader {
    /// As paths name them, and as Cargo.toml does.
    dependencies: BTreeMap<String, String>,
    modules: Vec<(ModulePath, Module)>,
    /// Which of these it reads, and inside of which.
    inside: Vec<usize>,
}

impl Reader {
    fn here(&mut self) -> &mut (ModulePath, Module) {
        let current = *self.inside.last().expect("a file is a module");
        &mut self.modules[current]
    }

    /// A path as seen from the crate's root, if it is one of this crate; otherwise its crate is noted.
    fn absolute(&mut self, path: &[String]) -> Option<ModulePath> {
        let mut module = self.here().0.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {
                while let [first, after @ ..] = rest
                    && first == "super"
                {
                    module.pop();
                    rest = after;
                }
            }
            name => {
                if let Some(dependency) = self.dependencies.get(name).cloned() {
                    self.here().1.crates.insert(dependency);
                }
                return None;
            }
        }
        module.extend_from_slice(rest);
        Some(module)
    }

    fn import(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.here().1.imports.push(path);
        }
    }

    fn hand_on(&mut self, name: String, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.here().1.hands_on.insert(name, path);
        }
    }

    fn read_use(&mut self, tree: &UseTree, before: &[String], handed_on: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.read_use(&path.tree, &with(&path.ident), handed_on),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, before, handed_on);
                }
            }
            UseTree::Glob(_) if handed_on => {
                if let Some(module) = self.absolute(before) {
                    self.here().1.hands_on_all.push(module);
                }
            }
            UseTree::Glob(_) => self.import(before),
            UseTree::Name(name) if name.ident == "self" => self.import(before),
            UseTree::Name(name) if handed_on => self.hand_on(name.ident.to_string(), &with(&name.ident)),
            UseTree::Name(name) => self.import(&with(&name.ident)),
            UseTree::Rename(rename) if handed_on => self.hand_on(rename.rename.to_string(), &with(&rename.ident)),
            UseTree::Rename(rename) => self.import(&with(&rename.ident)),
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = named(item);
        if attributes.iter().any(is_for_tests) {
            return;
        }
        if let Some(name) = name {
            self.here().1.defines.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else { return };
        let path = [&self.here().0[..], &[item.ident.to_string()]].concat();
        self.modules.push((path, Module::default()));
        self.inside.push(self.modules.len() - 1);
        items.iter().for_each(|item| self.visit_item(item));
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let handed_on = !matches!(item.vis, Visibility::Inherited);
        self.read_use(&item.tree, &[], handed_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1 {
            self.import(&words);
        }
        visit::visit_path(self, path);
    }

    /// What is inside of a macro's call are words, of which some are paths.
    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_macro(self, call);
        let text = call.tokens.to_string();
        let words: Vec<&str> = text.split_whitespace().collect();
        for (at, pair) in words.windows(2).enumerate() {
            let begins = at == 0 || words[at - 1] != "::";
            if begins && pair[1] == "::" && self.dependencies.contains_key(pair[0]) {
                self.import(&[pair[0].to_owned()]);
            }
        }
    }
}

/// What an item is called, if others can name it, and what is said of it.
fn named(item: &Item) -> (Option<String>, &[Attribute]) {
    match item {
        Item::Const(item) => (Some(item.ident.to_string()), &item.attrs),
        Item::Enum(item) => (Some(item.ident.to_string()), &item.attrs),
        Item::Fn(item) => (Some(item.sig.ident.to_string()), &item.attrs),
        Item::Static(item) => (Some(item.ident.to_string()), &item.attrs),
        Item::Struct(item) => (Some(item.ident.to_string()), &item.attrs),
        Item::Trait(item) => (Some(item.ident.to_string()), &item.attrs),
        Item::Type(item) => (Some(item.ident.to_string()), &item.attrs),
        Item::Impl(item) => (None, &item.attrs),
        Item::Mod(item) => (None, &item.attrs),
        Item::Use(item) => (None, &item.attrs),
        _ => (None, &[]),
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            matches!(list.tokens.to_string().as_str(), "test" | "doctest" | "doc")
                || list.tokens.to_string().contains("doctest")
        }
        _ => false,
    }
}

/// What Cargo.toml takes from others, by the names that paths have for it.
fn dependencies() -> BTreeMap<String, String> {
    let manifest: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).expect("Cargo.toml is TOML");
    let names = manifest["dependencies"].as_table().expect("a table").keys();
    names.map(|name| (name.replace('-', "_"), name.clone())).collect()
}
