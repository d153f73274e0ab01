//! Fields that take time: how long a window is, what a queue holds and for how long, when a bucket has something again.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::Method;
use tokio::task::JoinSet;

use support::{
    patience::eventually,
    redis::{RedisServer, ask, time},
};

use crate::gateway::{fixture::Gateway, service::Service};

/// What is tried here, and not in a case.
pub(super) const COVERS: &[&str] = &["limit window", "limit queue", "limit max_wait", "limit limit"];

const DAY: u64 = 24 * 60 * 60;

/// A limit of this much, for everybody together.
fn limit(terms: &str) -> String {
    format!("[[limit]]\nname = 'api'\nkey = 'global'\n{terms}\n")
}

#[tokio::test]
async fn a_window_is_as_long_as_its_number_and_unit_say() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let windows = ["86400000000us", "86400000ms", "86400s", "1440m", "24h", "1d"];
    let rules = windows.map(|window| {
        // It begins with the first request, which is told when it ends.
        let terms = format!("algorithm = 'fixed_window'\nanchored = true\nlimit = 9\nwindow = '{window}'");
        limit(&format!("{terms}\npath = '/{window}'")).replace("api", window)
    });
    let gateway = Gateway::between(&service, &redis, &rules.concat(), &[]);
    for window in windows {
        let reply = gateway.get(&format!("/{window}")).await;
        assert_eq!(reply.header("ratelimit-policy"), format!("\"{window}\";q=9;w={DAY}"));
        assert_eq!(reply.header("ratelimit"), format!("\"{window}\";r=8;t={DAY}"));
        let key = format!("rate_limit:fixed_window:{window}:{}:anchored:global", DAY * 1_000_000);
        assert_eq!(ask::<u64>(&mut redis.client(), &format!("EXISTS {key}")), 1, "{window}");
    }
}

/// Clients are told the time by the clock of Redis, to the second.
#[tokio::test]
async fn a_window_ends_when_the_clock_of_redis_says() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::between(
        &service,
        &redis,
        &limit("algorithm = 'fixed_window'\nlimit = 1\nwindow = '1d'"),
        &[],
    );
    let clock = &mut redis.client();
    // Not across midnight.
    loop {
        ask::<()>(&mut redis.client(), "FLUSHALL");
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
            let left: u64 = state.strip_prefix("\"api\";r=0;t=").unwrap().parse().unwrap();
            assert!((in_seconds(after)..=in_seconds(before)).contains(&left), "{left}");
        }
        let [_, refused] = replies;
        let retry_after: u64 = refused.header("retry-after").parse().unwrap();
        assert!(
            (in_seconds(after)..=in_seconds(before)).contains(&retry_after),
            "{retry_after}"
        );
        return;
    }
}

#[tokio::test]
async fn a_queue_serves_each_in_its_turn() {
    const TURN: Duration = Duration::from_millis(250);
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = limit("algorithm = 'leaky_bucket'\nlimit = 4\nwindow = '1s'\nmax_wait = '1h'");
    let gateway = Arc::new(Gateway::between(&service, &redis, &rules, &[]));
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

/// Until then it is nobody's but the queue's, and whoever leaves it leaves the place to others.
#[tokio::test]
async fn who_waits_has_not_reached_the_service() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = limit("algorithm = 'leaky_bucket'\nqueue = true\nlimit = 2\nwindow = '3650d'");
    let gateway = Arc::new(Gateway::between(&service, &redis, &rules, &[]));
    let left = async || gateway.admin(Method::GET, "/keys/api/global").await.json()["remaining"].clone();
    assert_eq!(gateway.get("/first").await.status, 200);
    assert_eq!(left().await, 1);
    let held = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.get("/held").await }
    });
    eventually("it is held", async || left().await == 0).await;
    assert_eq!(gateway.get("/full").await.status, 429);
    assert_eq!(service.lines(), ["GET /first"]);
    held.abort();
    eventually("its place is free", async || left().await == 1).await;
    assert_eq!(service.lines(), ["GET /first"]);
}

#[tokio::test]
async fn a_bucket_has_one_again_after_its_share_of_the_window() {
    const SHARE: Duration = Duration::from_millis(500);
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = limit("algorithm = 'token_bucket'\nlimit = 2\nwindow = '1s'\ncapacity = 1");
    let gateway = Gateway::between(&service, &redis, &rules, &[]);
    let began = Instant::now();
    for turn in 0..3 {
        eventually("there is one again", async || gateway.get("/").await.status == 200).await;
        assert!(began.elapsed() >= turn * SHARE, "{turn}");
    }
    assert_eq!(service.lines().len(), 3);
}
