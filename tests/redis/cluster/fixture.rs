//! A shared cluster, stores on it, and the charges they have made.

use std::{sync::OnceLock, time::Duration};

use tokio::time;
use tollgate::{Charge, Charges, Decision, FixedWindow, Key, Limit, ManualClock, Quota, RedisStore, RedisStoreBuilder};

use support::{cluster::Cluster, redis::stored};

/// The limit of every charge.
pub(crate) const LIMIT: u32 = 10;

/// A cluster for tests that do not change its nodes. Each test uses a separate prefix.
pub(crate) fn shared_cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

pub(crate) fn builder(cluster: &Cluster, prefix: &str) -> RedisStoreBuilder {
    cluster.store().prefix(prefix)
}

/// A store on a manual clock, so that no window ends during a test.
pub(crate) fn store(cluster: &Cluster, prefix: &str) -> RedisStore {
    builder(cluster, prefix).clock(ManualClock::at(0)).build().unwrap()
}

/// A daily window, anchored so that it does not end at midnight.
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

pub(crate) fn remaining(decision: &Decision) -> Vec<u64> {
    let verdicts = decision.tiers().iter().map(|tier| tier.verdict());
    verdicts.map(|verdict| verdict.remaining()).collect()
}

pub(crate) fn key(prefix: &str, name: &str) -> String {
    format!("{prefix}:fixed_window:limit:86400000000:anchored:{name}")
}

/// The units charged, read from the node that owns the key.
pub(crate) fn charged(cluster: &Cluster, prefix: &str, name: &str) -> u64 {
    let key = key(prefix, name);
    let state = stored(&mut cluster.client_of(cluster.slot_of(&key)), &key);
    state.map_or(0, |state| state.strip_prefix("0 ").unwrap().parse().unwrap())
}

/// Advances the clock of the runtime.
pub(crate) async fn advance(by: Duration) {
    time::pause();
    time::advance(by).await;
    time::resume();
}

/// Names whose keys are on different nodes, one per primary.
pub(crate) fn names_on_each_node(cluster: &Cluster, prefix: &str) -> [String; 3] {
    let primaries = cluster.primaries();
    std::array::from_fn(|index| {
        let mut names = (0..).map(|number| format!("name{number}"));
        let is_on_node = |name: &String| cluster.node_of(cluster.slot_of(&key(prefix, name))) == primaries[index];
        names.find(is_on_node).unwrap()
    })
}
