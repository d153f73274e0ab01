//! Every code block of the documents is checked by a test: each has a kind, and a test takes all blocks of a kind.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use support::{
    folder::Folder,
    page::{Block, Kind, Page},
    project::root,
};
use tollgate::RuleSet;

/// The test of each kind, which mentions the kind to select its blocks.
fn test_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Doctest
        | Kind::IgnoredRust
        | Kind::Rules
        | Kind::Dependencies
        | Kind::Diagnostics
        | Kind::Diagram
        | Kind::SoakReport => "documents/code_blocks.rs",
        Kind::ForeignConfig => "documents/foreign_config.rs",
        Kind::Console => "cli/documented.rs",
        Kind::Shell => "cli/commands.rs",
        Kind::CurlOutput => "examples/documented.rs",
        Kind::Response => "over_http/samples.rs",
    }
}

#[test]
fn a_test_checks_every_block() {
    let mut count = 0;
    for (block, kind) in Page::current().iter().flat_map(Page::blocks) {
        let Some(kind) = kind else {
            panic!("{}: no test checks this block:\n{}", block.location, block.text);
        };
        let test = fs::read_to_string(root().join("tests").join(test_of(kind))).unwrap();
        assert!(
            test.contains(&format!("Kind::{kind:?}")),
            "{}: {kind:?}",
            block.location
        );
        count += 1;
    }
    assert!(count > 100, "only {count} blocks were found");
}

/// The files that rustdoc includes when it runs doctests.
fn doctest_pages() -> BTreeSet<PathBuf> {
    let mut pages = BTreeSet::new();
    for file in [
        "src/lib.rs",
        "src/guide/mod.rs",
        "src/rules/mod.rs",
        "tests/support/lib.rs",
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let included = text.lines().filter(|line| !line.contains("not(doctest)"));
        let included = included.filter_map(|line| line.split_once("include_str!(\"")?.1.split('"').next());
        let folder = Path::new(file).parent().unwrap();
        pages.extend(included.map(|included| normalized(&folder.join(included))));
    }
    // The first list of the guide has the pages with doctests.
    let guide = fs::read_to_string(root().join("src/guide/mod.rs")).unwrap();
    let list = guide.split("\npages! {").nth(1).unwrap().split("\n}").next().unwrap();
    let names = list.split('"').skip(1).step_by(2).filter(|name| name.ends_with(".md"));
    pages.extend(names.map(|name| Path::new("docs").join(name)));
    pages
}

fn normalized(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
        path
    })
}

#[test]
fn rust_blocks_are_doctests() {
    let pages = doctest_pages();
    for block in Page::blocks_of(Kind::Doctest) {
        let (page, _) = block.location.split_once(':').unwrap();
        assert!(pages.contains(Path::new(page)), "{} is not a doctest", block.location);
    }
}

/// Without whitespace, which depends on the indentation.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The items that a block imports from tollgate.
fn imported(block: &str) -> Vec<&str> {
    let imports = block
        .lines()
        .filter_map(|line| line.trim().strip_prefix("use tollgate::"));
    let names = imports.flat_map(|list| list.split(['{', '}', ',', ';', ' ']));
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn rust_that_is_not_a_doctest_is_part_of_an_example_or_parses() {
    let examples = fs::read_dir(root().join("examples")).unwrap();
    let examples = examples.filter_map(|entry| fs::read_to_string(entry.unwrap().path().join("src/main.rs")).ok());
    let examples: Vec<_> = examples.map(|text| squeezed(&text)).collect();
    let api = fs::read_to_string(root().join("docs/api.txt")).unwrap();
    for Block { location, text, .. } in Page::blocks_of(Kind::IgnoredRust) {
        let code = text.lines().filter(|line| !line.starts_with("use "));
        let code = squeezed(&code.collect::<Vec<_>>().join("\n"));
        let is_from_example = examples.iter().any(|example| example.contains(&code));
        let uses_another_crate = text.contains("use tower_acc::");
        assert!(is_from_example || uses_another_crate, "{location} is in no example");
        syn::parse_str::<syn::Block>(&format!("{{{text}}}")).unwrap_or_else(|error| panic!("{location}: {error}"));
        for name in imported(&text) {
            let is_public = api.lines().any(|line| {
                line.ends_with(&format!(" tollgate::{name}")) || line.contains(&format!(" tollgate::{name}<"))
            });
            assert!(is_public, "{location}: tollgate::{name}");
        }
    }
}

#[test]
fn rules_are_valid() {
    // Without axum, no body is read.
    let is_supported = |block: &Block| cfg!(feature = "axum") || !block.text.contains("settle_json");
    for block in Page::blocks_of(Kind::Rules).into_iter().filter(is_supported) {
        let rules = RuleSet::parse(&block.text).unwrap_or_else(|error| panic!("{}: {error}", block.location));
        assert_eq!(
            rules.limits().len(),
            block.text.matches("[[limit]]\n").count(),
            "{}",
            block.location
        );
    }
}

/// The dependency tables of all packages of the workspace.
fn dependencies() -> Vec<toml::Table> {
    let root_manifest = manifest("Cargo.toml");
    let members = root_manifest["workspace"]["members"].as_array().unwrap().iter();
    let members = members.map(|member| manifest(&format!("{}/Cargo.toml", member.as_str().unwrap())));
    let manifests = members.chain([root_manifest.clone()]);
    let tables = manifests
        .flat_map(|manifest| ["dependencies", "dev-dependencies"].map(|name| manifest.get(name)?.as_table().cloned()));
    tables.flatten().collect()
}

fn manifest(path: &str) -> toml::Table {
    fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

fn version(dependency: &toml::Value) -> Option<&str> {
    dependency.as_str().or_else(|| dependency.get("version")?.as_str())
}

/// tollgate has the version and the features; other crates have the versions with which the tests compile.
#[test]
fn dependencies_exist() {
    let (tollgate, used) = (manifest("Cargo.toml"), dependencies());
    let released = tollgate["workspace"]["package"]["version"].as_str().unwrap();
    for Block { location, text, .. } in Page::blocks_of(Kind::Dependencies) {
        let shown: toml::Table = text.parse().unwrap_or_else(|error| panic!("{location}: {error}"));
        for (name, dependency) in shown["dependencies"].as_table().unwrap() {
            let required = version(dependency).unwrap();
            if name == "tollgate" {
                assert!(
                    released.starts_with(&format!("{required}.")),
                    "{location}: {name} {required}"
                );
                let features = dependency.get("features").and_then(|features| features.as_array());
                for feature in features.into_iter().flatten() {
                    let feature = feature.as_str().unwrap();
                    assert!(
                        tollgate["features"].get(feature).is_some(),
                        "{location}: feature {feature}"
                    );
                }
            } else {
                let compiled = used.iter().filter_map(|table| version(table.get(name)?));
                let is_compatible =
                    |compiled: &str| compiled == required || compiled.starts_with(&format!("{required}."));
                let compiled: Vec<_> = compiled.collect();
                assert!(
                    compiled.iter().any(|compiled| is_compatible(compiled)),
                    "{location}: {name} {required}, {compiled:?}"
                );
            }
        }
    }
}

/// The file whose diagnostics docs/rules.md shows.
const INVALID: &str = r#"[[limit]]
name = "user"
algorithm = "token_bucket"
limit = 100
window = 60
key = "header:x-user-id"
default = "ip"

capcity = 20
"#;

#[test]
fn diagnostics_are_those_of_an_invalid_file() {
    let folder = Folder::new("diagnostics");
    fs::write(folder.file("rules.toml"), INVALID).unwrap();
    let error = RuleSet::read(folder.file("rules.toml")).unwrap_err().to_string();
    let printed = error.replace(&format!("{}/", folder.path().display()), "");
    for block in Page::blocks_of(Kind::Diagnostics) {
        assert_eq!(block.text.trim_end(), printed, "{}", block.location);
    }
}

#[test]
fn diagrams_name_existing_files() {
    let mut count = 0;
    for Block { location, text, .. } in Page::blocks_of(Kind::Diagram) {
        for path in text.split_whitespace().filter(|word| word.starts_with("src/")) {
            assert!(root().join(path).exists(), "{location}: {path}");
            count += 1;
        }
    }
    assert!(count > 0, "no diagram names a file");
}

/// The measurements take minutes and differ in every run, so only the columns are compared.
#[test]
fn the_soak_report_has_the_columns_of_the_soak_test() {
    let report = fs::read_to_string(root().join("tools/src/soak/report.rs")).unwrap();
    let columns = report.split_once("\"times\"").unwrap().1.split_once('\n').unwrap().0;
    let columns = format!("\"times\"{columns}")
        .replace("late", "\">120 ms\"")
        .replace(['"', ','], "");
    for block in Page::blocks_of(Kind::SoakReport) {
        let header = block.text.lines().next().unwrap();
        assert_eq!(squeezed(header), squeezed(&columns), "{}", block.location);
        for row in block.text.lines().skip(1) {
            assert_eq!(row.trim_end().len(), header.len(), "{}: {row}", block.location);
        }
    }
}
