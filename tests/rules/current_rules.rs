//! The current rules, as the methods of `RuleSet` return them.

use std::fs;

use tollgate::{Algorithm, Limit, Quota, RuleSet, TokenBucket};

use support::folder::Folder;

/// Two limits, one of them with plans.
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
fn a_limit_is_found_by_name_and_plan() {
    let rules = RuleSet::parse(FILE).unwrap();
    let bucket = |amount| TokenBucket::new(Quota::per_minute(amount));
    for (name, plan, found) in [
        ("user", None, limit("user", bucket(100))),
        ("user", Some("free"), limit("user", bucket(10))),
        ("user", Some("pro"), limit("user", bucket(1000).capacity(2000))),
        ("all", None, limit("all", bucket(5000))),
        // A plan belongs to one limit and is case-sensitive, and an unknown plan gives no limit.
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
fn all_clones_return_the_latest_text_unchanged() {
    let rules = RuleSet::parse(FILE).unwrap();
    let clone = rules.clone();
    assert_eq!(rules.text(), FILE);
    let other = FILE.replace("5000", "6000") + "# No more than that.\r\n";
    rules.replace(&other).unwrap();
    assert_eq!((rules.text(), clone.text()), (other.clone(), other));
}

#[test]
fn an_invalid_text_is_not_applied() {
    let rules = RuleSet::parse(FILE).unwrap();
    assert!(rules.replace("limit = 100").is_err());
    assert_eq!(rules.text(), FILE);
    assert_eq!(rules.limit("user", None).as_ref(), rules.limits().first());
}

#[test]
fn the_text_of_a_file_is_the_one_that_was_read() {
    let folder = Folder::new("in-force");
    let file = folder.file("rules.toml");
    fs::write(&file, FILE).unwrap();
    let rules = RuleSet::read(&file).unwrap();
    fs::write(&file, "").unwrap();
    assert_eq!(rules.text(), FILE);
}
