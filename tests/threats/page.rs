//! docs/security.md, compared with the tests that it names.

use std::fs;

use support::project::root;

pub(crate) fn text() -> String {
    fs::read_to_string(root().join("docs/security.md")).unwrap()
}

/// The tests that a text names as `path::test`, as pairs of path and name.
fn named(text: &str) -> Vec<(&str, &str)> {
    let code = text.split('`').skip(1).step_by(2);
    let tests = code.filter(|code| code.starts_with("tests/") || code.starts_with("src/"));
    tests.filter_map(|test| test.split_once(".rs::")).collect()
}

/// Macros that generate tests from the functions in their lists.
const LISTS: [&str; 2] = ["on_both_stores![", "in_one_browser! {"];

/// Whether a file has a test of this name, by attribute or in such a list.
fn has_test(code: &str, name: &str) -> bool {
    let declares = |line: &str| {
        let function = line.trim_start().trim_start_matches("async ").strip_prefix("fn ");
        let rest = function.and_then(|function| function.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let lines: Vec<_> = code.lines().collect();
    let Some(declared) = lines.iter().position(|line| declares(line)) else {
        return false;
    };
    let before = lines[..declared].last().unwrap_or(&"").trim_start();
    let lists = LISTS.iter().flat_map(|list| code.split(list).skip(1));
    let mut listed = lists.flat_map(|list| list.split([']', '}']).next().unwrap_or_default().split(','));
    before.starts_with("#[test]") || before.starts_with("#[tokio::test") || listed.any(|test| test.trim() == name)
}

#[test]
fn every_named_test_exists() {
    let page = text();
    let missing = |&(file, name): &(&str, &str)| {
        let code = fs::read_to_string(root().join(format!("{file}.rs")));
        !code.is_ok_and(|code| has_test(&code, name))
    };
    let tests = named(&page);
    assert!(!tests.is_empty());
    let missing: Vec<_> = tests.into_iter().filter(missing).collect();
    assert_eq!(missing, []);
}

/// The rest of the page is about attackers and countermeasures.
#[test]
fn every_threat_names_a_test() {
    let page = text();
    let threats = page.split("\n### ").skip(1);
    let untested = |threat: &&str| named(threat.split("\n## ").next().unwrap_or_default()).is_empty();
    let titles: Vec<_> = threats
        .filter(untested)
        .filter_map(|threat| threat.lines().next())
        .collect();
    assert_eq!(titles, [""; 0]);
}
