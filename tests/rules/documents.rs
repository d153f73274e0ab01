//! Rules in documents and examples.

use tollgate::RuleSet;

const REFERENCE: &str = include_str!("../../docs/rules.md");
const README: &str = include_str!("../../README.md");
const GUIDE: &str = include_str!("../../docs/choosing.md");

/// The blocks of a document that are rules, and not dependencies.
fn shown(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.split("```toml\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    // Without axum, no body is read.
    let is_supported = |block: &&str| cfg!(feature = "axum") || !block.contains("settle_json");
    blocks.filter(|block| block.contains("[[limit]]")).filter(is_supported)
}

#[test]
fn rules_in_documents_are_valid() {
    let rules =
        |document| shown(document).map(|text| RuleSet::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let limits = |document| rules(document).map(|rules| rules.limits().len()).collect::<Vec<_>>();
    let reference = if cfg!(feature = "axum") {
        &[3, 1, 1, 1, 3][..]
    } else {
        &[3, 1, 1, 3]
    };
    assert_eq!((&*limits(REFERENCE), &*limits(README)), (reference, &[1][..]));
    assert_eq!(limits(GUIDE), [1, 2, 2, 3]);
}

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
