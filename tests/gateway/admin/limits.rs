//! `/limits`: the active rules, with the fields of their file.

use std::fs;

use serde_json::{Value, json};

use super::{RULES, get};
use support::wait::eventually;

use crate::gateway::fixture::Gateway;

fn as_json(rules: &str) -> (u16, Value) {
    (200, toml::from_str(rules).unwrap())
}

#[tokio::test]
async fn limits_are_returned_as_written_in_the_file() {
    let documentation = fs::read_to_string(support::project::root().join("docs/rules.md")).unwrap();
    let (_, file) = documentation.split_once("## A file\n\n```toml\n").unwrap();
    let (file, _) = file.split_once("```").unwrap();
    let gateway = Gateway::start(file, &[]);
    let (status, limits) = get(&gateway, "/limits").await;
    assert_eq!((status, limits.clone()), as_json(file));
    // Some values written by hand, since both sides above are parsed by the same crate.
    assert_eq!(limits["limit"][1]["plans"]["pro"], json!({ "limit": 1000 }));
    assert_eq!(limits["limit"][2]["key"], json!(["header:x-user-id", "route"]));
    assert_eq!(limits["exempt"][0], json!({ "methods": ["OPTIONS"] }));
    assert_eq!(limits["trust"]["headers"], json!(["x-user-id", "x-plan"]));
}

#[tokio::test]
async fn limits_follow_a_reload_and_ignore_an_invalid_file() {
    let gateway = Gateway::start(RULES, &[]);
    assert_eq!(get(&gateway, "/limits").await, as_json(RULES));
    let four = RULES.replace("limit = 3", "limit = 4");
    gateway.replace_rules(&four);
    eventually("the rules are active", async || {
        get(&gateway, "/limits").await == as_json(&four)
    })
    .await;

    // An invalid file is logged, and the previous rules stay active.
    let invalid = RULES.replace("limit = 3", "limit = 0");
    gateway.replace_rules(&invalid);
    eventually("the error is logged", async || gateway.log().contains("limit = 0")).await;
    assert_eq!(get(&gateway, "/limits").await, as_json(&four));

    gateway.replace_rules(RULES);
    eventually("the rules are active", async || {
        get(&gateway, "/limits").await == as_json(RULES)
    })
    .await;
}
