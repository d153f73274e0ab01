//! The list in docs/observability.md, compared with the metrics that are recorded when every event occurs.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::timeout;
use tollgate::{
    AsError, CallKey, Global, Key, LeakyBucket, Limiter, MemoryStore, Quota, RateLimitLayer, RedisStore, Store, Tier,
};

use support::{
    doc_tables::{code_spans, observability_table},
    redis::RedisServer,
    requests::{UserKey, count_admitted},
};

use crate::{
    cluster::send_with_a_node_down,
    leases::lease_and_return,
    recorder::{MetricInfo, TestRecorder},
    redis::shed_three_requests,
};

const HOUR: Duration = Duration::from_secs(3600);

fn documented() -> BTreeSet<MetricInfo> {
    let rows = observability_table("| metric | kind | unit | labels |").into_iter();
    let metrics = rows.map(|row| MetricInfo {
        name: code_spans(&row[0]).pop().unwrap(),
        kind: row[1].clone(),
        unit: row[2].clone(),
        labels: code_spans(&row[3]),
    });
    metrics.collect()
}

#[tokio::test]
async fn every_metric_is_documented_and_every_documented_metric_is_recorded() {
    let recorded = TestRecorder::start();
    produce_every_outcome().await;
    let recorded_metrics: BTreeSet<MetricInfo> = recorded.list().into_iter().collect();
    assert_eq!(recorded_metrics, documented());
    for row in observability_table("| label of | is one of |") {
        let (label, of) = row[0].split_once(" of ").unwrap();
        let [label, of] = [label, of].map(|cell| code_spans(cell).pop().unwrap());
        assert_eq!(
            recorded.label_values(&of, &label),
            code_spans(&row[1]),
            "{label} of {of}"
        );
    }
}

/// Every outcome of a request, on real stores.
async fn produce_every_outcome() {
    let mut server = RedisServer::start();
    let redis = server.store().build().unwrap();
    redis.check().await.unwrap();
    limited(redis.clone()).await;
    limited(MemoryStore::new()).await;
    delayed().await;
    lease_and_return().await;
    server.freeze();
    let _cancelled = timeout(Duration::from_millis(1), limited(redis.clone())).await;
    server.kill();
    store_failure(&redis).await;
    shed_three_requests().await;
    send_with_a_node_down().await;
}

/// Admitted, spared, limited and impossible requests; shadow, exempt, blocked, without a key and with an ambiguous one.
async fn limited(store: impl Store) {
    let layer = RateLimitLayer::fixed_window("all", Quota::new(3, HOUR), Global, store)
        .tier(
            Tier::token_bucket("user", Quota::new(2, HOUR), UserKey)
                .cost(|request: &&str| if *request == "greedy" { 3 } else { 1 }),
        )
        .tier(Tier::sliding_log("shadow", Quota::new(1, HOUR), Global).shadow())
        .exempt(|request: &&str| *request == "admin")
        .block(|request: &&str| *request == "mallory")
        .respond_with(AsError);
    let requests = [
        "alice", "alice", "alice", "bob", "bob", "bob", "greedy", "nobody", "janus", "admin", "mallory",
    ];
    assert_eq!(count_admitted(&layer, requests).await, 4);
}

/// In a leaky bucket and in a wait queue.
async fn delayed() {
    let queue = LeakyBucket::new(Quota::new(1, HOUR));
    let limiter = Limiter::new(Tier::new("queue", queue, CallKey), MemoryStore::new());
    for _ in 0..2 {
        let _cancelled = timeout(Duration::from_millis(1), limiter.wait(&Key::GLOBAL, HOUR)).await;
    }
}

/// A store that fails, with each failure mode.
async fn store_failure(redis: &RedisStore) {
    let layer = || RateLimitLayer::token_bucket("user", Quota::new(2, HOUR), UserKey, redis.clone());
    let [open, closed] = [layer(), layer().fail_closed()].map(|layer| layer.respond_with(AsError));
    assert_eq!(count_admitted(&open, ["alice"; 3]).await, 3);
    assert_eq!(count_admitted(&closed, ["alice"; 3]).await, 0);
    let local = layer().fallback(MemoryStore::new()).respond_with(AsError);
    assert_eq!(count_admitted(&local, ["alice"; 3]).await, 2);
    assert!(!redis.health().is_up());
}
