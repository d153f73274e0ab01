//! Modules import only from lower layers, by the tables of docs/architecture.md.

mod crate_tree;
mod imports;
mod page;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate_tree::CrateTree;
use page::{LayeredModule, modules};
use support::project::root;

/// The module of a file: the one with the longest matching path.
fn module_of<'a>(modules: &'a [LayeredModule], file: &str) -> Option<&'a LayeredModule> {
    let contains = |module: &&LayeredModule| page::contains(&module.path, file);
    modules.iter().filter(contains).max_by_key(|module| module.path.len())
}

/// The one permitted cycle: `AnyAlgorithm` is an enum of the algorithms, and each of them converts into it.
const PERMITTED_CYCLE: &str = "algorithm/";

/// The crate root only re-exports, and is in no layer.
fn is_crate_root(file: &str) -> bool {
    file == "lib.rs"
}

#[test]
fn every_file_is_in_a_module_and_every_module_has_files() {
    let (modules, tree) = (modules(), CrateTree::read());
    let mut files_in: BTreeMap<&str, usize> = modules.iter().map(|module| (module.path.as_str(), 0)).collect();
    for file in tree.files().filter(|file| !is_crate_root(file)) {
        let module =
            module_of(&modules, file).unwrap_or_else(|| panic!("docs/architecture.md has no module for src/{file}"));
        *files_in.entry(&module.path).or_default() += 1;
    }
    let empty: Vec<_> = files_in.iter().filter(|(_, files)| **files == 0).collect();
    assert!(
        empty.is_empty(),
        "docs/architecture.md has modules without files: {empty:?}"
    );
}

#[test]
fn modules_import_only_from_lower_layers() {
    let (modules, tree) = (modules(), CrateTree::read());
    let mut violations = Vec::new();
    for file in tree.files().filter(|file| !is_crate_root(file)) {
        let importer = module_of(&modules, file).expect("every file is in a module");
        for imported in tree.imports_of(file) {
            let target = module_of(&modules, &imported)
                .unwrap_or_else(|| panic!("src/{file} imports src/{imported}, which is in no module"));
            if importer.path != target.path && importer.layer <= target.layer {
                violations.push(format!(
                    "src/{file} (layer {}) imports src/{imported} (layer {})",
                    importer.layer, target.layer
                ));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn forbidden_imports_are_absent() {
    let tree = CrateTree::read();
    for (module, forbidden) in page::forbidden_imports() {
        for file in tree.files().filter(|file| page::contains(&module, file)) {
            for imported in tree.imports_of(file) {
                let forbidden = forbidden.iter().find(|forbidden| page::contains(forbidden, &imported));
                assert_eq!(forbidden, None, "src/{file} imports src/{imported}");
            }
        }
    }
}

#[test]
fn there_are_no_import_cycles() {
    let tree = CrateTree::read();
    let imports = |file: &str| (file.to_owned(), tree.imports_of(file));
    let mut cycles: BTreeMap<String, BTreeSet<String>> = tree.files().map(imports).collect();
    // Removes files that import no remaining file or that no remaining file imports, until only cycles are left.
    loop {
        let remaining: BTreeSet<String> = cycles.keys().cloned().collect();
        let imported: BTreeSet<String> = cycles.values().flatten().cloned().collect();
        cycles.retain(|file, imports| !imports.is_disjoint(&remaining) && imported.contains(file));
        cycles
            .values_mut()
            .for_each(|imports| imports.retain(|file| remaining.contains(file)));
        if cycles.len() == remaining.len() {
            break;
        }
    }
    cycles.retain(|file, _| !file.starts_with(PERMITTED_CYCLE));
    assert!(cycles.is_empty(), "in a cycle, or between two cycles: {cycles:#?}");
}

#[test]
fn modules_use_exactly_the_crates_of_the_table() {
    let (modules, tree) = (modules(), CrateTree::read());
    let mut used: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in tree.files().filter(|file| !is_crate_root(file)) {
        let module = module_of(&modules, file).expect("every file is in a module");
        used.entry(&module.path).or_default().extend(tree.crates_of(file));
    }
    for module in &modules {
        let mut used = used.remove(module.path.as_str()).unwrap_or_default();
        used.sort();
        used.dedup();
        assert_eq!(used, module.crates, "the crates of {}", module.path);
    }
}

#[test]
fn a_mod_rs_defines_nothing() {
    let tree = CrateTree::read();
    for file in tree.files().filter(|file| file.ends_with("mod.rs")) {
        let defined = tree.defines(file);
        assert!(
            defined.is_empty(),
            "src/{file} defines {defined:?}: move it to another file"
        );
    }
}

#[test]
fn every_file_starts_with_a_comment() {
    for file in CrateTree::read().files() {
        let text = fs::read_to_string(crate_tree::source().join(file)).expect("the file was listed");
        assert!(text.starts_with("//"), "src/{file} does not start with a comment");
    }
}

/// Names of constants that do not state what they bound.
const VAGUE_CONSTANTS: [&str; 6] = ["MOST", "LEAST", "LONGEST", "LARGEST", "FEW", "OFTEN"];

#[test]
fn constants_state_what_they_bound() {
    for folder in ["benches", "cli", "examples", "fuzz", "src", "tests", "tools"] {
        for file in rust_files(&root().join(folder)) {
            let text = fs::read_to_string(&file).expect("the file was listed");
            let names = text.lines().filter_map(constant_name);
            let vague: Vec<_> = names.filter(|name| VAGUE_CONSTANTS.contains(name)).collect();
            assert!(
                vague.is_empty(),
                "{}: {vague:?} does not state what it bounds",
                file.display()
            );
        }
    }
}

/// The name in `pub(crate) const NAME: u32 = 1;` or `static NAME: ..`.
fn constant_name(line: &str) -> Option<&str> {
    let (_, declaration) = line.split_once("const ").or_else(|| line.split_once("static "))?;
    let (name, _) = declaration.split_once(':')?;
    Some(name.trim())
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder exists").flatten();
    let files = entries.map(|entry| entry.path()).flat_map(|path| match path.is_dir() {
        true if path.ends_with("target") => Vec::new(),
        true => rust_files(&path),
        false => vec![path],
    });
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
