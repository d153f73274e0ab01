//! The list in docs/observability.md, held against what is measured when everything happens that can.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::timeout;
use tollgate::{
    AsError, FixedWindow, Global, Key, LeakyBucket, Limiter, MemoryStore, Quota, RateLimitLayer, RedisStore,
    SlidingLog, Store, TokenBucket,
};

use support::{
    documented::{code, observability},
    redis::RedisServer,
    requests::{name, passed},
};

use crate::recorded::{Listed, Recorded};

const HOUR: Duration = Duration::from_secs(3600);

fn documented() -> BTreeSet<Listed> {
    let rows = observability("| metric | kind | unit | labels |").into_iter();
    let metrics = rows.map(|row| Listed {
        name: code(&row[0]).pop().unwrap(),
        kind: row[1].clone(),
        unit: row[2].clone(),
        labels: code(&row[3]),
    });
    metrics.collect()
}

#[tokio::test]
async fn what_is_measured_is_documented_and_what_is_documented_is_measured() {
    let recorded = Recorded::start();
    everything().await;
    let measured: BTreeSet<Listed> = recorded.list().into_iter().collect();
    assert_eq!(measured, documented());
    for row in observability("| label of | is one of |") {
        let (label, of) = row[0].split_once(" of ").unwrap();
        let [label, of] = [label, of].map(|cell| code(cell).pop().unwrap());
        assert_eq!(recorded.words(&of, &label), code(&row[1]), "{label} of {of}");
    }
}

/// Everything that can become of requests, on real stores.
async fn everything() {
    let mut server = RedisServer::start();
    let redis = server.store().build().unwrap();
    redis.check().await.unwrap();
    limited(redis.clone()).await;
    limited(MemoryStore::new()).await;
    held().await;
    server.freeze();
    let _left = timeout(Duration::from_millis(1), limited(redis.clone())).await;
    server.kill();
    without(&redis).await;
}

/// Admitted, spared, limited and more than there ever is; watched, exempt, denied and nobody.
async fn limited(store: impl Store) {
    let layer = RateLimitLayer::new("all", FixedWindow::new(Quota::new(3, HOUR)), Global, store)
        .tier("user", TokenBucket::new(Quota::new(2, HOUR)), name)
        .cost(|request: &&str| if *request == "greedy" { 3 } else { 1 })
        .tier("shadow", SlidingLog::new(Quota::new(1, HOUR)), Global)
        .shadow()
        .exempt(|request: &&str| *request == "admin")
        .deny(|request: &&str| *request == "mallory")
        .respond_with(AsError);
    let requests = [
        "alice", "alice", "alice", "bob", "bob", "bob", "greedy", "nobody", "admin", "mallory",
    ];
    assert_eq!(passed(&layer, requests).await, 4);
}

/// In a queue and in a line.
async fn held() {
    let queue = LeakyBucket::new(Quota::new(1, HOUR));
    let limiter = Limiter::new("queue", queue, MemoryStore::new());
    for _ in 0..2 {
        let _left = timeout(Duration::from_millis(1), limiter.wait(&Key::GLOBAL, HOUR)).await;
    }
}

/// Nobody decides, or somebody else does.
async fn without(redis: &RedisStore) {
    let layer = || RateLimitLayer::new("user", TokenBucket::new(Quota::new(2, HOUR)), name, redis.clone());
    let [open, closed] = [layer(), layer().fail_closed()].map(|layer| layer.respond_with(AsError));
    assert_eq!(passed(&open, ["alice"; 3]).await, 3);
    assert_eq!(passed(&closed, ["alice"; 3]).await, 0);
    let local = layer().fallback(MemoryStore::new()).respond_with(AsError);
    assert_eq!(passed(&local, ["alice"; 3]).await, 2);
    assert!(!redis.health().is_up());
}
