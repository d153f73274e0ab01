//! `/limits`: the rules in force, in the words of their file.

use std::fs;

use serde_json::{Value, json};

use super::{RULES, get};
use support::patience::eventually;

use crate::gateway::fixture::Gateway;

fn as_json(rules: &str) -> (u16, Value) {
    (200, toml::from_str(rules).unwrap())
}

#[tokio::test]
async fn the_file_is_told_as_it_is_written() {
    let documentation = fs::read_to_string(support::project::root().join("docs/rules.md")).unwrap();
    let (_, file) = documentation.split_once("## A file\n\n```toml\n").unwrap();
    let (file, _) = file.split_once("```").unwrap();
    let gateway = Gateway::start(file, &[]);
    let (status, limits) = get(&gateway, "/limits").await;
    assert_eq!((status, limits.clone()), as_json(file));
    // And that is what one would write by hand.
    assert_eq!(limits["limit"][1]["plans"]["pro"], json!({ "limit": 1000 }));
    assert_eq!(limits["limit"][2]["key"], json!(["header:x-user-id", "route"]));
    assert_eq!(limits["exempt"][0], json!({ "methods": ["OPTIONS"] }));
    assert_eq!(limits["trust"]["headers"], json!(["x-user-id", "x-plan"]));
}

#[tokio::test]
async fn what_is_told_is_what_is_in_force() {
    let gateway = Gateway::start(RULES, &[]);
    assert_eq!(get(&gateway, "/limits").await, as_json(RULES));
    let four = RULES.replace("limit = 3", "limit = 4");
    gateway.change(&four);
    eventually("it is in force", async || {
        get(&gateway, "/limits").await == as_json(&four)
    })
    .await;

    // A wrong one is told of in the log, and the one before stays.
    let wrong = RULES.replace("limit = 3", "limit = 0");
    gateway.change(&wrong);
    eventually("it is found wrong", async || gateway.log().contains("limit = 0")).await;
    assert_eq!(get(&gateway, "/limits").await, as_json(&four));

    gateway.change(RULES);
    eventually("it is in force", async || {
        get(&gateway, "/limits").await == as_json(RULES)
    })
    .await;
}
