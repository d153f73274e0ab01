use axum::extract::Request;
use tollgate::{MemoryStore, RateLimitLayer, RuleSet};

fn main() {
    let rules = RuleSet::watch("rules.toml").unwrap();
    let _ =
        RateLimitLayer::rules(rules, MemoryStore::new()).cost(|request: &Request| request.uri().path().len() as u64);
}
