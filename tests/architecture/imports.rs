//! The imports of a file, from its `use` items and its qualified paths.

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
    /// Names re-exported by `pub use`, with their origins.
    pub(crate) re_exports: BTreeMap<String, ModulePath>,
    /// Modules re-exported by `pub use module::*`.
    pub(crate) glob_re_exports: Vec<ModulePath>,
}

/// The module of a file and its inline modules, without items for tests and docs only.
pub(crate) fn of_file(module: &ModulePath, text: &str) -> Vec<(ModulePath, Module)> {
    let file = syn::parse_file(text).expect("a file that compiles");
    let mut reader = Reader {
        dependencies: dependencies(),
        modules: vec![(module.clone(), Module::default())],
        stack: vec![0],
    };
    reader.visit_file(&file);
    reader.modules
}

struct Reader {
    /// Crate names as in paths, with the names in Cargo.toml.
    dependencies: BTreeMap<String, String>,
    modules: Vec<(ModulePath, Module)>,
    /// Indexes into `modules`, from the file's module to the current one.
    stack: Vec<usize>,
}

impl Reader {
    fn current(&mut self) -> &mut (ModulePath, Module) {
        let current = *self.stack.last().expect("a file is a module");
        &mut self.modules[current]
    }

    /// A path of this crate, from the crate's root; for a path of a dependency, records the crate.
    fn absolute(&mut self, path: &[String]) -> Option<ModulePath> {
        let mut module = self.current().0.clone();
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
                // An imported module of this crate, like `metrics`, shadows the dependency of its name.
                let is_module = |path: &ModulePath| path.last().is_some_and(|last| last == name);
                if self.current().1.imports.iter().any(is_module) {
                    return None;
                }
                if let Some(dependency) = self.dependencies.get(name).cloned() {
                    self.current().1.crates.insert(dependency);
                }
                return None;
            }
        }
        module.extend_from_slice(rest);
        Some(module)
    }

    fn import(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.current().1.imports.push(path);
        }
    }

    fn re_export(&mut self, name: String, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.current().1.re_exports.insert(name, path);
        }
    }

    fn read_use(&mut self, tree: &UseTree, prefix: &[String], is_re_export: bool) {
        let joined = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.read_use(&path.tree, &joined(&path.ident), is_re_export),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, prefix, is_re_export);
                }
            }
            UseTree::Glob(_) if is_re_export => {
                if let Some(module) = self.absolute(prefix) {
                    self.current().1.glob_re_exports.push(module);
                }
            }
            UseTree::Glob(_) => self.import(prefix),
            UseTree::Name(name) if name.ident == "self" => self.import(prefix),
            UseTree::Name(name) if is_re_export => self.re_export(name.ident.to_string(), &joined(&name.ident)),
            UseTree::Name(name) => self.import(&joined(&name.ident)),
            UseTree::Rename(rename) if is_re_export => {
                self.re_export(rename.rename.to_string(), &joined(&rename.ident))
            }
            UseTree::Rename(rename) => self.import(&joined(&rename.ident)),
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
            self.current().1.defines.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else { return };
        let path = [&self.current().0[..], &[item.ident.to_string()]].concat();
        self.modules.push((path, Module::default()));
        self.stack.push(self.modules.len() - 1);
        items.iter().for_each(|item| self.visit_item(item));
        self.stack.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_re_export = !matches!(item.vis, Visibility::Inherited);
        self.read_use(&item.tree, &[], is_re_export);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.import(&segments);
        }
        visit::visit_path(self, path);
    }

    /// Finds paths of dependencies in the tokens of a macro call.
    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_macro(self, call);
        let text = call.tokens.to_string();
        let tokens: Vec<&str> = text.split_whitespace().collect();
        for (at, pair) in tokens.windows(2).enumerate() {
            let begins = at == 0 || tokens[at - 1] != "::";
            if begins && pair[1] == "::" && self.dependencies.contains_key(pair[0]) {
                self.import(&[pair[0].to_owned()]);
            }
        }
    }
}

/// The name of an item, if others can import it, and its attributes.
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

/// The dependencies in Cargo.toml, by their names in paths.
fn dependencies() -> BTreeMap<String, String> {
    let manifest: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).expect("Cargo.toml is TOML");
    let names = manifest["dependencies"].as_table().expect("a table").keys();
    names.map(|name| (name.replace('-', "_"), name.clone())).collect()
}
