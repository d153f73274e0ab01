use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, RuleSet, TokenBucket};

fn main() {
    let rules = RuleSet::watch("rules.toml").unwrap();
    let _ =
        RateLimitLayer::rules(rules, MemoryStore::new()).tier("all", TokenBucket::new(Quota::per_minute(10)), Global);
}
