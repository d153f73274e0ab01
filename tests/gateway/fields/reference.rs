//! Every field in docs/rules.md has a case, and every case covers a field in it.

use std::{collections::BTreeSet, fs};

use super::{algorithms, exempt, keys, limit, outcomes, scope, timing, trust};
use crate::{gateway::concurrency, limit_service::grpc};

/// The text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The first two columns of a section's tables, without their heads.
fn rows(section: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let mut columns = row.split(" | ");
        (columns.next().unwrap(), columns.next().unwrap())
    })
}

#[test]
fn every_field_of_the_reference_has_a_case() {
    let reference = fs::read_to_string(support::project::root().join("docs/rules.md")).unwrap();
    let section = |name: &str| {
        let (_, text) = reference.split_once(&format!("\n## `{name}`\n")).unwrap();
        text.split("\n## ").next().unwrap()
    };
    let mut documented = BTreeSet::new();
    for (names, values) in rows(section("[[limit]]")) {
        // The prefix has taken the first backtick.
        for name in quoted(&format!("`{names}")) {
            // Kinds of keys are written as they are in a file, in quotes and with an example.
            match name.strip_prefix('"') {
                Some(key) => documented.insert(format!("key {}", key.trim_end_matches('"').split(':').next().unwrap())),
                None => documented.insert(format!("limit {name}")),
            };
        }
        if names == "algorithm`" {
            documented.extend(quoted(values).map(|name| format!("algorithm {name}")));
        }
    }
    let (exemptions, _) = section("[[exempt]]").split_once('.').unwrap();
    documented.extend(quoted(exemptions).map(|name| format!("exempt {name}")));
    for (names, _) in rows(section("[trust]")) {
        documented.extend(quoted(&format!("`{names}")).map(|name| format!("trust {name}")));
    }

    let cases = [
        algorithms::CASES,
        limit::CASES,
        keys::CASES,
        scope::CASES,
        exempt::CASES,
        trust::CASES,
    ];
    let covered = cases.into_iter().flatten().flat_map(|case| case.covers);
    let covered = covered
        .chain(timing::COVERS)
        .chain(outcomes::COVERS)
        .chain(concurrency::COVERS)
        .chain(grpc::COVERS);
    let tested: BTreeSet<_> = covered.map(|name| (*name).to_owned()).collect();
    assert_eq!(tested, documented);
}
