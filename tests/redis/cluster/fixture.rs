//! A cluster, stores on it, and what they have charged.

use std::sync::OnceLock;

use tollgate::{Charge, Charges, Decision, FixedWindow, Key, Limit, ManualClock, Quota, RedisStore, RedisStoreBuilder};

use support::{cluster::Cluster, redis::stored};

/// What all limits here allow.
pub(crate) const LIMIT: u32 = 10;

/// A cluster that tests share who leave it as it is. Each has a prefix of its own.
pub(crate) fn shared_cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

pub(crate) fn builder(cluster: &Cluster, prefix: &str) -> RedisStoreBuilder {
    cluster.store().prefix(prefix)
}

/// On a clock that stands still, so that no window ends while a test runs.
pub(crate) fn store(cluster: &Cluster, prefix: &str) -> RedisStore {
    builder(cluster, prefix).clock(ManualClock::at(0)).build().unwrap()
}

/// Anchored, so that no midnight ends it.
pub(crate) fn window() -> FixedWindow {
    FixedWindow::new(Quota::per_day(LIMIT)).anchored()
}

pub(crate) fn charge(name: &str) -> Charge {
    let limit = Limit::new("limit", window());
    Charge::new(limit, Key::verbatim(name.to_owned()))
}

pub(crate) fn charges<'a>(names: impl IntoIterator<Item = &'a str>) -> Charges {
    let mut charges = Charges::new();
    for name in names {
        charges.push(charge(name)).unwrap();
    }
    charges
}

pub(crate) fn left(decision: &Decision) -> Vec<u64> {
    let verdicts = decision.tiers().iter().map(|tier| tier.verdict());
    verdicts.map(|verdict| verdict.remaining()).collect()
}

pub(crate) fn key(prefix: &str, name: &str) -> String {
    format!("{prefix}:fixed_window:limit:86400000000:anchored:{name}")
}

/// What has been charged, by the word of the node that has the key.
pub(crate) fn charged(cluster: &Cluster, prefix: &str, name: &str) -> u64 {
    let key = key(prefix, name);
    let state = stored(&mut cluster.client_of(cluster.slot_of(&key)), &key);
    state.map_or(0, |state| state.strip_prefix("0 ").unwrap().parse().unwrap())
}

/// Names whose keys are at different nodes, one for each.
pub(crate) fn apart(cluster: &Cluster, prefix: &str) -> [String; 3] {
    let primaries = cluster.primaries();
    std::array::from_fn(|index| {
        let mut names = (0..).map(|number| format!("name{number}"));
        let is_there = |name: &String| cluster.node_of(cluster.slot_of(&key(prefix, name))) == primaries[index];
        names.find(is_there).unwrap()
    })
}
