//! The issue forms have the fields that GitHub requires, and ask for what a report needs.

use std::{collections::BTreeSet, fs};

use support::project::root;

fn form(name: &str) -> String {
    fs::read_to_string(root().join(".github/ISSUE_TEMPLATE").join(name)).unwrap()
}

/// The value of a field, with the indentation that it must have.
fn field<'a>(text: &'a str, indented: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(indented)?.strip_prefix(": "))
        .filter(|value| !value.is_empty())
}

/// The ids of the fields of a form.
fn fields(name: &str) -> BTreeSet<String> {
    let text = form(name);
    assert!(!text.contains('\t'), "{name}: YAML has no tabs");
    let (head, body) = text
        .split_once("\nbody:\n")
        .unwrap_or_else(|| panic!("{name} has no body"));
    for required in ["name", "description"] {
        assert!(field(head, required).is_some(), "{name} has no {required}");
    }
    let mut ids = BTreeSet::new();
    for element in format!("\n{body}").split("\n  - type: ").skip(1) {
        let kind = element.lines().next().unwrap();
        if kind == "markdown" {
            assert!(field(element, "      value").is_some(), "{name}: {element}");
            continue;
        }
        assert!(["input", "textarea", "dropdown"].contains(&kind), "{name}: {kind}");
        assert_eq!(
            kind == "dropdown",
            element.contains("\n      options:\n        - "),
            "{name}: {element}"
        );
        assert!(field(element, "      label").is_some(), "{name}: {element}");
        let id = field(element, "    id").unwrap_or_else(|| panic!("{name}: {element}"));
        assert!(ids.insert(id.to_owned()), "{name}: {id} occurs twice");
    }
    ids
}

#[test]
fn a_bug_report_asks_for_what_is_needed_to_reproduce_it() {
    let needed = [
        "version",
        "limit",
        "store",
        "nodes",
        "deployment",
        "expected",
        "actual",
        "check",
        "log",
    ];
    assert_eq!(fields("bug_report.yml"), needed.map(str::to_owned).into());
}

#[test]
fn every_form_has_the_required_fields() {
    let forms = fs::read_dir(root().join(".github/ISSUE_TEMPLATE")).unwrap();
    let forms = forms.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in forms.filter(|name| name != "config.yml") {
        assert!(!fields(&name).is_empty(), "{name}");
    }
}

#[test]
fn vulnerabilities_are_not_reported_in_issues() {
    let config = form("config.yml");
    assert!(config.contains("SECURITY.md"), "no link to the security policy");
    let links = config.matches("\n  - name: ").count();
    for required in ["    url: https://", "    about: "] {
        assert_eq!(config.matches(required).count(), links, "{required}");
    }
}
