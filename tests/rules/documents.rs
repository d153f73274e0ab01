//! The reference of rules files is complete.

use tollgate::RuleSet;

const REFERENCE: &str = include_str!("../../docs/rules.md");

/// Each field is in the first column of a table, or under its own heading.
#[test]
fn the_reference_has_every_field() {
    let unknown = RuleSet::parse("[[limit]]\n\"?\" = 1\n[[exempt]]\n\"?\" = 1\n[trust]\n\"?\" = 1").unwrap_err();
    let fields = unknown.diagnostics().iter();
    let fields = fields.filter_map(|diagnostic| diagnostic.message().split_once("known fields are "));
    let fields: Vec<_> = fields.flat_map(|(_, fields)| fields.split(", ")).collect();
    assert_eq!(fields.len(), 27 + 5 + 3, "{fields:?}");
    let rows = REFERENCE
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let exempt = REFERENCE
        .split("## ")
        .find(|section| section.starts_with("`[[exempt]]`"));
    let documented: Vec<_> = rows.chain(exempt).collect();
    for field in fields {
        assert!(
            documented.iter().any(|place| place.contains(&format!("`{field}`"))),
            "{field}"
        );
    }
}
