//! Rules that the program replaces.

use std::convert::Infallible;

use axum::{
    body::Body,
    http::{Request, Response},
};
use tollgate::{MemoryStore, RateLimitLayer, RuleSet};
use tower::{Layer, ServiceExt, service_fn};

use crate::rules_reload::fixture::{FIRST, Named, SECOND, Watched, are_in_force, let_it_be_looked_at, text};

const OTHER: &[Named] = &[("other", 9)];

/// What a client is told of the limits, by a layer of these rules.
async fn told(layer: &RateLimitLayer<RuleSet, RuleSet, MemoryStore, tollgate::HttpAnswers, RuleSet>) -> String {
    let service = layer.layer(service_fn(async |_: Request<Body>| {
        Ok::<_, Infallible>(Response::new(Body::empty()))
    }));
    let response = service.oneshot(Request::new(Body::empty())).await.unwrap();
    let policy = &response.headers()["ratelimit-policy"];
    policy.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn all_who_share_them_get_the_new_ones_at_once() {
    let rules = RuleSet::parse(&text(FIRST)).unwrap();
    let clones = [rules.clone(), rules.clone()];
    let layers = clones
        .each_ref()
        .map(|rules| RateLimitLayer::rules(rules.clone(), MemoryStore::new()));
    for layer in &layers {
        assert_eq!(told(layer).await, "\"first\";q=1;w=86400");
    }
    clones[0].replace(&text(SECOND)).unwrap();
    assert!(are_in_force(&rules, SECOND) && are_in_force(&clones[1], SECOND));
    for layer in &layers {
        assert_eq!(told(layer).await, "\"second\";q=2;w=86400, \"third\";q=3;w=86400");
    }
    // What has nothing to do with them stays as it is.
    let parsed = RuleSet::parse(&text(FIRST)).unwrap();
    rules.replace(&text(OTHER)).unwrap();
    assert!(are_in_force(&parsed, FIRST));
}

#[test]
fn wrong_ones_are_not_taken() {
    let rules = RuleSet::parse(&text(FIRST)).unwrap();
    for (wrong, why) in [
        ("[[limit", "line 1, column 8: "),
        ("", "line 1, column 1: there is no limit: "),
        (
            &text(SECOND).replace("limit = 3", "limit = 0"),
            "line 10, column 9: limit \"third\": limit = 0: ",
        ),
    ] {
        let error = rules.replace(wrong).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
        assert!(are_in_force(&rules, FIRST), "{wrong}");
    }
}

#[test]
fn those_of_a_file_stay_replaced_until_the_file_changes() {
    let watched = Watched::new();
    watched.rules.replace(&text(OTHER)).unwrap();
    let_it_be_looked_at();
    assert!(are_in_force(&watched.rules, OTHER));
    // Neither has a file that is written again, nor is one that is wrong any reason.
    watched.write(text(FIRST));
    let_it_be_looked_at();
    assert!(are_in_force(&watched.rules, OTHER));
    watched.write("");
    watched.says();
    assert!(are_in_force(&watched.rules, OTHER));
    watched.write(text(SECOND));
    watched.follows(SECOND);
}
