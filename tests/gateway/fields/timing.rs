//! Fields whose effect depends on time: window length, queueing and refill.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::Method;
use tokio::task::JoinSet;

use support::{
    redis::{RedisServer, query, time},
    wait::eventually,
};

use crate::gateway::{fixture::Gateway, service::Service};

/// The fields that these tests cover, beside the cases.
pub(super) const COVERS: &[&str] = &["limit window", "limit queue", "limit max_wait", "limit limit"];

const DAY: u64 = 24 * 60 * 60;

/// A limit with a global key.
fn limit(terms: &str) -> String {
    format!("[[limit]]\nname = 'api'\nkey = 'global'\n{terms}\n")
}

#[tokio::test]
async fn windows_accept_every_unit() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let windows = ["86400000000us", "86400000ms", "86400s", "1440m", "24h", "1d"];
    let rules = windows.map(|window| {
        // Anchored at the first request, so that its reset is a full window away.
        let terms = format!("algorithm = 'fixed_window'\nanchored = true\nlimit = 9\nwindow = '{window}'");
        limit(&format!("{terms}\npath = '/{window}'")).replace("api", window)
    });
    let gateway = Gateway::with_redis(&service, &redis, &rules.concat(), &[]);
    for window in windows {
        let reply = gateway.get(&format!("/{window}")).await;
        assert_eq!(reply.header("ratelimit-policy"), format!("\"{window}\";q=9;w={DAY}"));
        assert_eq!(reply.header("ratelimit"), format!("\"{window}\";r=8;t={DAY}"));
        let key = format!("rate_limit:fixed_window:{window}:{}:anchored:global", DAY * 1_000_000);
        assert_eq!(
            query::<u64>(&mut redis.client(), &format!("EXISTS {key}")),
            1,
            "{window}"
        );
    }
}

/// Clients receive reset times by the Redis clock, to the second.
#[tokio::test]
async fn a_window_ends_by_the_redis_clock() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::with_redis(
        &service,
        &redis,
        &limit("algorithm = 'fixed_window'\nlimit = 1\nwindow = '1d'"),
        &[],
    );
    let clock = &mut redis.client();
    // Repeated if midnight passes in between.
    loop {
        query::<()>(&mut redis.client(), "FLUSHALL");
        let before = time(clock);
        let replies = [gateway.get("/").await, gateway.get("/").await];
        let after = time(clock);
        let end = (before / 1_000_000 / DAY + 1) * DAY;
        if after / 1_000_000 >= end {
            continue;
        }
        let in_seconds = |time: u64| (end * 1_000_000 - time).div_ceil(1_000_000);
        for (reply, status) in replies.iter().zip([200, 429]) {
            assert_eq!(
                (reply.status, reply.header("x-ratelimit-reset")),
                (status, end.to_string())
            );
            let state = reply.header("ratelimit");
            let remaining: u64 = state.strip_prefix("\"api\";r=0;t=").unwrap().parse().unwrap();
            assert!(
                (in_seconds(after)..=in_seconds(before)).contains(&remaining),
                "{remaining}"
            );
        }
        let [_, denied] = replies;
        let retry_after: u64 = denied.header("retry-after").parse().unwrap();
        assert!(
            (in_seconds(after)..=in_seconds(before)).contains(&retry_after),
            "{retry_after}"
        );
        return;
    }
}

#[tokio::test]
async fn a_queue_serves_at_the_leak_rate() {
    const TURN: Duration = Duration::from_millis(250);
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = limit("algorithm = 'leaky_bucket'\nlimit = 4\nwindow = '1s'\nmax_wait = '1h'");
    let gateway = Arc::new(Gateway::with_redis(&service, &redis, &rules, &[]));
    let began = Instant::now();
    let client = |_| {
        let gateway = Arc::clone(&gateway);
        async move { (gateway.get("/").await.status, began.elapsed()) }
    };
    let mut served = (0..4).map(client).collect::<JoinSet<_>>().join_all().await;
    served.sort();
    for (turn, (status, after)) in (0..).zip(served) {
        assert_eq!(status, 200);
        assert!(after >= turn * TURN, "{turn}: {after:?}");
    }
}

/// A client that disconnects while queued frees its place.
#[tokio::test]
async fn a_queued_request_has_not_reached_the_service() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = limit("algorithm = 'leaky_bucket'\nqueue = true\nlimit = 2\nwindow = '3650d'");
    let gateway = Arc::new(Gateway::with_redis(&service, &redis, &rules, &[]));
    let remaining = async || gateway.admin(Method::GET, "/keys/api/global").await.json()["remaining"].clone();
    assert_eq!(gateway.get("/first").await.status, 200);
    assert_eq!(remaining().await, 1);
    let held = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.get("/held").await }
    });
    eventually("it is held", async || remaining().await == 0).await;
    assert_eq!(gateway.get("/full").await.status, 429);
    assert_eq!(service.lines(), ["GET /first"]);
    held.abort();
    eventually("its place is free", async || remaining().await == 1).await;
    assert_eq!(service.lines(), ["GET /first"]);
}

#[tokio::test]
async fn a_token_bucket_refills_at_its_rate() {
    const SHARE: Duration = Duration::from_millis(500);
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = limit("algorithm = 'token_bucket'\nlimit = 2\nwindow = '1s'\ncapacity = 1");
    let gateway = Gateway::with_redis(&service, &redis, &rules, &[]);
    let began = Instant::now();
    for turn in 0..3 {
        eventually("a token is available", async || gateway.get("/").await.status == 200).await;
        assert!(began.elapsed() >= turn * SHARE, "{turn}");
    }
    assert_eq!(service.lines().len(), 3);
}
