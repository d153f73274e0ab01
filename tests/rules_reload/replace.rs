//! Rules that the program replaces with `RuleSet::replace`.

use std::convert::Infallible;

use axum::{
    body::Body,
    http::{Request, Response},
};
use tollgate::{MemoryStore, RuleSet, RulesLayer};
use tower::{Layer, ServiceExt, service_fn};

use crate::rules_reload::fixture::{FIRST, NamedLimit, SECOND, Watched, are_current, text, wait_for_polls};

const OTHER: &[NamedLimit] = &[("other", 9)];

/// The `RateLimit-Policy` header of a response by this layer.
async fn policy_header(layer: &RulesLayer) -> String {
    let service = layer.layer(service_fn(async |_: Request<Body>| {
        Ok::<_, Infallible>(Response::new(Body::empty()))
    }));
    let response = service.oneshot(Request::new(Body::empty())).await.unwrap();
    let policy = &response.headers()["ratelimit-policy"];
    policy.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn all_clones_and_layers_use_the_new_rules_at_once() {
    let rules = RuleSet::parse(&text(FIRST)).unwrap();
    let clones = [rules.clone(), rules.clone()];
    let layers = clones
        .each_ref()
        .map(|rules| RulesLayer::new(rules.clone(), MemoryStore::new()));
    for layer in &layers {
        assert_eq!(policy_header(layer).await, "\"first\";q=1;w=86400");
    }
    clones[0].replace(&text(SECOND)).unwrap();
    assert!(are_current(&rules, SECOND) && are_current(&clones[1], SECOND));
    for layer in &layers {
        assert_eq!(
            policy_header(layer).await,
            "\"second\";q=2;w=86400, \"third\";q=3;w=86400"
        );
    }
    // Other rule sets do not change.
    let parsed = RuleSet::parse(&text(FIRST)).unwrap();
    rules.replace(&text(OTHER)).unwrap();
    assert!(are_current(&parsed, FIRST));
}

#[test]
fn invalid_rules_are_not_applied() {
    let rules = RuleSet::parse(&text(FIRST)).unwrap();
    for (invalid, why) in [
        ("[[limit", "line 1, column 8: "),
        ("", "line 1, column 1: no limit is defined: "),
        (
            &text(SECOND).replace("limit = 3", "limit = 0"),
            "line 10, column 9: limit \"third\": limit = 0: ",
        ),
    ] {
        let error = rules.replace(invalid).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
        assert!(are_current(&rules, FIRST), "{invalid}");
    }
}

#[test]
fn replaced_rules_stay_until_the_file_changes() {
    let watched = Watched::new();
    watched.rules.replace(&text(OTHER)).unwrap();
    wait_for_polls();
    assert!(are_current(&watched.rules, OTHER));
    // Neither an unchanged nor an invalid file replaces them.
    watched.write(text(FIRST));
    wait_for_polls();
    assert!(are_current(&watched.rules, OTHER));
    watched.write("");
    watched.logged_event();
    assert!(are_current(&watched.rules, OTHER));
    watched.write(text(SECOND));
    watched.wait_until_current(SECOND);
}
