//! The layers, from the tables of docs/architecture.md.

const PAGE: &str = include_str!("../../docs/architecture.md");

/// A row of the table of modules.
pub(crate) struct LayeredModule {
    /// A folder of `src/`, or a file without its `.rs`.
    pub(crate) path: String,
    pub(crate) layer: u32,
    /// The crates that its files use, sorted.
    pub(crate) crates: Vec<String>,
}

/// The rows of the table with the columns layer, module, purpose, and crates.
pub(crate) fn modules() -> Vec<LayeredModule> {
    let modules: Vec<LayeredModule> = PAGE.lines().filter_map(module).collect();
    assert!(!modules.is_empty(), "docs/architecture.md has no table of modules");
    modules
}

/// Modules, and the modules that each must not import.
pub(crate) fn forbidden_imports() -> Vec<(String, Vec<String>)> {
    let after = PAGE.split_once(" | never imports | why |");
    let (_, table) = after.expect("docs/architecture.md has a table of forbidden imports");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let [module, forbidden, _] = cells(line)[..] else {
            return None;
        };
        Some((code(module).pop()?, code(forbidden)))
    };
    rows.map(|line| row(line).expect("a module and its forbidden imports"))
        .collect()
}

fn module(line: &str) -> Option<LayeredModule> {
    let [layer, module, _, crates] = cells(line)[..] else {
        return None;
    };
    let (layer, mut crates) = (layer.parse().ok()?, code(crates));
    crates.sort();
    let path = code(module).pop()?;
    Some(LayeredModule { path, layer, crates })
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// The code spans of a cell.
fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a file of `src/` is a module, or in its folder.
pub(crate) fn contains(module: &str, file: &str) -> bool {
    let rest = file.strip_prefix(module);
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}
