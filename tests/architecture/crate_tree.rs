//! The crate's modules: the file of each, its definitions and its re-exports.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use support::project::root;

use crate::architecture::imports::{self, Module};

/// The segments of a path: `store::redis` is `["store", "redis"]`.
pub(crate) type ModulePath = Vec<String>;

pub(crate) fn source() -> PathBuf {
    root().join("src")
}

pub(crate) struct CrateTree {
    modules: BTreeMap<ModulePath, Module>,
    /// The modules of each file, by path under `src/`.
    files: BTreeMap<String, Vec<ModulePath>>,
}

impl CrateTree {
    pub(crate) fn read() -> Self {
        let mut tree = Self {
            modules: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        tree.read_folder("");
        tree
    }

    fn read_folder(&mut self, folder: &str) {
        let entries = fs::read_dir(source().join(folder)).expect("src/ can be read");
        for entry in entries {
            let entry = entry.expect("src/ can be read");
            let name = entry.file_name().into_string().expect("a name in Unicode");
            let path = format!("{folder}{name}");
            if entry.path().is_dir() {
                self.read_folder(&format!("{path}/"));
            } else if let Some(module) = path.strip_suffix(".rs") {
                let text = fs::read_to_string(entry.path()).expect("a file in UTF-8");
                let modules = imports::of_file(&module_path(module), &text);
                self.files
                    .insert(path, modules.iter().map(|(path, _)| path.clone()).collect());
                self.modules.extend(modules);
            }
        }
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The other files whose definitions a file uses, through any re-export.
    pub(crate) fn imports_of(&self, file: &str) -> BTreeSet<String> {
        let modules = self.files[file].iter();
        let paths = modules.flat_map(|module| self.modules[module].imports.iter());
        let files = paths.filter_map(|path| self.defined_in(path));
        files.filter(|other| other != file).collect()
    }

    /// The named items that a file defines.
    pub(crate) fn defines(&self, file: &str) -> BTreeSet<String> {
        let modules = self.files[file].iter();
        modules
            .flat_map(|module| self.modules[module].defines.clone())
            .collect()
    }

    /// The crates that a file names, as Cargo.toml has them.
    pub(crate) fn crates_of(&self, file: &str) -> BTreeSet<String> {
        let modules = self.files[file].iter();
        modules.flat_map(|module| self.modules[module].crates.clone()).collect()
    }

    /// The file that defines the item of a path, through any number of re-exports.
    fn defined_in(&self, path: &[String]) -> Option<String> {
        let (mut module, mut rest) = (ModulePath::new(), path);
        while let [name, after @ ..] = rest {
            let child = [&module[..], std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&child) {
                (module, rest) = (child, after);
                continue;
            }
            if let Some(target) = self.re_exported(&module, name) {
                return self.defined_in(&[&target[..], after].concat());
            }
            break;
        }
        let contains = |(_, modules): &(&String, &Vec<ModulePath>)| modules.contains(&module);
        self.files.iter().find(contains).map(|(file, _)| file.clone())
    }

    fn re_exported(&self, module: &[String], name: &str) -> Option<ModulePath> {
        let module = &self.modules[module];
        if module.defines.contains(name) {
            return None;
        }
        if let Some(target) = module.re_exports.get(name) {
            return Some(target.clone());
        }
        let glob = module.glob_re_exports.iter().find(|glob| self.has(glob, name))?;
        Some([&glob[..], &[name.to_owned()]].concat())
    }

    fn has(&self, module: &[String], name: &str) -> bool {
        let module = &self.modules[module];
        module.defines.contains(name) || module.re_exports.contains_key(name)
    }
}

fn module_path(file: &str) -> ModulePath {
    let segments = file.split('/').filter(|segment| !matches!(*segment, "mod" | "lib"));
    segments.map(str::to_owned).collect()
}
