use tollgate::{Global, MemoryStore, Quota, RuleSet, RulesLayer, Tier};

fn main() {
    let rules = RuleSet::watch("rules.toml").unwrap();
    let _ = RulesLayer::new(rules, MemoryStore::new()).tier(Tier::token_bucket("all", Quota::per_minute(10), Global));
}
