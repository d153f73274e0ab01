//! What is in force, asked of the rules themselves.

use std::fs;

use tollgate::{Algorithm, Limit, Quota, RuleSet, TokenBucket};

use support::folder::Folder;

/// Two limits, of which one has plans.
const FILE: &str = r#"# Windows are short here.
    [[limit]]
    name = "user"
    algorithm = "token_bucket"
    limit = 100
    window = "1m"
    key = "header:x-user-id"
    plan = "header:x-plan"
    plans.free = { limit = 10 }
    plans.pro = { limit = 1000, capacity = 2000 }

    [[limit]]
    name = "all"
    algorithm = "token_bucket"
    limit = 5000
    window = "1m"
    key = "global"

    [trust]
    proxies = ["127.0.0.1"]
    headers = ["x-plan"]
"#;

fn limit(name: &str, algorithm: impl Algorithm) -> Option<Limit> {
    Some(Limit::new(name, algorithm))
}

#[test]
fn a_limit_is_found_by_its_name_and_by_a_plan_that_it_has() {
    let rules = RuleSet::parse(FILE).unwrap();
    let bucket = |amount| TokenBucket::new(Quota::per_minute(amount));
    for (name, plan, found) in [
        ("user", None, limit("user", bucket(100))),
        ("user", Some("free"), limit("user", bucket(10))),
        ("user", Some("pro"), limit("user", bucket(1000).capacity(2000))),
        ("all", None, limit("all", bucket(5000))),
        // Plans are those of their limit, letter by letter, and who asks for one does not mean another.
        ("all", Some("free"), None),
        ("user", Some("Free"), None),
        ("user", Some(""), None),
        ("users", None, None),
        ("", None, None),
    ] {
        assert_eq!(rules.limit(name, plan), found, "{name} on {plan:?}");
    }
}

#[test]
fn what_was_taken_last_is_told_word_for_word_by_all_clones() {
    let rules = RuleSet::parse(FILE).unwrap();
    let clone = rules.clone();
    assert_eq!(rules.text(), FILE);
    let other = FILE.replace("5000", "6000") + "# No more than that.\r\n";
    rules.replace(&other).unwrap();
    assert_eq!((rules.text(), clone.text()), (other.clone(), other));
}

#[test]
fn what_is_wrong_is_not_taken_and_not_told() {
    let rules = RuleSet::parse(FILE).unwrap();
    assert!(rules.replace("limit = 100").is_err());
    assert_eq!(rules.text(), FILE);
    assert_eq!(rules.limit("user", None).as_ref(), rules.limits().first());
}

#[test]
fn a_file_is_told_as_it_was_read() {
    let folder = Folder::new("in-force");
    let file = folder.file("rules.toml");
    fs::write(&file, FILE).unwrap();
    let rules = RuleSet::read(&file).unwrap();
    fs::write(&file, "").unwrap();
    assert_eq!(rules.text(), FILE);
}
