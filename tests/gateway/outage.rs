//! Redis outages: killed and restarted or frozen under load, and down at startup.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::Method;

use support::{
    http::{NOTHING, Reply},
    redis::RedisServer,
    wait::eventually,
};

use crate::gateway::{
    background_load::{BackgroundLoad, Response},
    fixture::Gateway,
    service::Service,
};

const LIMIT: usize = 50;

/// Per user, in a window that does not end while a test runs.
const RULES: &str = "
[[limit]]
name = 'user'
algorithm = 'fixed_window'
limit = 50
window = '3650d'
key = 'query:user'
";

/// The values of `--on-store-failure`.
const MODES: [&str; 3] = ["open", "closed", "local"];

async fn status(gateway: &Gateway) -> String {
    let reply = gateway.admin(Method::GET, "/healthz").await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()["status"].as_str().unwrap().to_owned()
}

async fn until_status(gateway: &Gateway, wanted: &str) {
    eventually(wanted, async || status(gateway).await == wanted).await;
}

/// Sequential requests, to the gateways in turn.
async fn send(gateways: &[&Gateway], user: &str, times: usize) -> Vec<Reply> {
    let mut replies = Vec::new();
    for number in 0..times {
        let gateway = gateways[number % gateways.len()];
        replies.push(gateway.get(&format!("/?user={user}")).await);
    }
    replies
}

fn count(replies: &[Reply], status: u16) -> usize {
    replies.iter().filter(|reply| reply.status == status).count()
}

/// Redis decides: the gateways admit exactly the limit together, and report the state in Redis.
async fn assert_counted_on_redis(gateways: &[&Gateway], user: &str) {
    let replies = send(gateways, user, 2 * LIMIT).await;
    assert_eq!((count(&replies, 200), count(&replies, 429)), (LIMIT, LIMIT));
    for gateway in gateways {
        let key = gateway
            .admin(Method::GET, &format!("/keys/user/query/user:{user}"))
            .await;
        assert_eq!(
            (&key.json()["remaining"], &key.json()["by_fallback"]),
            (&0.into(), &false.into())
        );
    }
}

/// Redis is down: the failure mode decides twice as many requests as the limit allows.
async fn assert_failure_mode(mode: &str, gateway: &Gateway, user: &str) {
    let replies = send(&[gateway], user, 2 * LIMIT).await;
    match mode {
        "open" => {
            assert_eq!(count(&replies, 200), 2 * LIMIT);
            assert!(replies.iter().all(|reply| reply.limits() == NOTHING));
        }
        "closed" => {
            let unavailable = (503, "1".to_owned(), NOTHING.to_owned());
            assert!(replies.iter().all(|reply| reply.all() == unavailable), "{replies:?}");
        }
        _ => {
            let (admitted, denied) = replies.split_at(LIMIT);
            assert_eq!((count(admitted, 200), count(denied, 429)), (LIMIT, LIMIT));
            let left: Vec<_> = admitted.iter().map(Reply::remaining).collect();
            let expected: Vec<_> = (0..LIMIT).rev().map(|left| left.to_string()).collect();
            assert_eq!(left, expected);
        }
    }
}

/// A request is served, or rejected with 503 and Retry-After by a gateway that fails closed.
fn is_expected(mode: &str, response: &Response) -> bool {
    match (mode, response.status, response.has_limit_headers) {
        ("open", 200, _) | ("closed" | "local", 200, true) => true,
        ("closed", 503, false) => response.retry_after == "1",
        _ => false,
    }
}

/// Every response matches the failure mode, and the service has received each served request once.
fn assert_all_expected(mode: &str, responses: &[Response], service: &Service, load: &str) {
    for response in responses {
        assert!(is_expected(mode, response), "{mode}: {response:?}");
    }
    let served = responses.iter().filter(|response| response.status == 200);
    let mut served: Vec<_> = served.map(|response| response.line.clone()).collect();
    let mut seen = service.lines();
    seen.retain(|line| line.starts_with(&format!("GET /?user={load}-")));
    seen.sort();
    served.sort();
    assert_eq!(seen, served, "{mode}");
}

async fn kill_and_restart(mode: &str) {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let options = ["--on-store-failure", mode];
    let gateways = [(); 2].map(|()| Arc::new(Gateway::with_redis(&service, &redis, RULES, &options)));
    let loads = [
        BackgroundLoad::start("left", &gateways[0]),
        BackgroundLoad::start("right", &gateways[1]),
    ];
    let [left, right] = gateways.each_ref().map(Arc::as_ref);
    assert_counted_on_redis(&[left, right], "alice").await;

    redis.kill();
    for gateway in [left, right] {
        until_status(gateway, "store_failing").await;
        assert_failure_mode(mode, gateway, "bob").await;
    }
    for load in &loads {
        load.wait_for_responses(50).await;
    }

    redis.restart();
    for gateway in [left, right] {
        until_status(gateway, "ok").await;
    }
    // Redis restarts empty, and counts of the fallback are not carried over.
    assert_counted_on_redis(&[left, right], "bob").await;
    for (load, name) in loads.into_iter().zip(["left", "right"]) {
        load.wait_for_responses(50).await;
        let responses = load.stop().await;
        assert_all_expected(mode, &responses, &service, name);
        // Some responses are from the outage and some are not.
        let without = responses.iter().filter(|response| !response.has_limit_headers).count();
        assert!(mode == "local" || (1..responses.len()).contains(&without), "{without}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_killed_and_restarted_under_load_failing_open() {
    kill_and_restart("open").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_killed_and_restarted_under_load_failing_closed() {
    kill_and_restart("closed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_killed_and_restarted_under_load_with_local_fallback() {
    kill_and_restart("local").await;
}

/// A frozen Redis keeps its connections open and does not answer.
#[tokio::test(flavor = "multi_thread")]
async fn redis_frozen_and_thawed_under_load() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let gateways = MODES.map(|mode| {
        let options = [
            "--store",
            &redis.url(),
            "--store-timeout",
            "500ms",
            "--on-store-failure",
            mode,
        ];
        Arc::new(Gateway::with_upstream(&service.url(), RULES, &options))
    });
    let loads: Vec<_> = MODES
        .iter()
        .zip(&gateways)
        .map(|(mode, gateway)| BackgroundLoad::start(mode, gateway))
        .collect();
    for load in &loads {
        load.wait_for_responses(20).await;
    }
    redis.freeze();
    for (mode, gateway) in MODES.iter().zip(&gateways) {
        until_status(gateway, "store_failing").await;
        assert_failure_mode(mode, gateway, &format!("bob-{mode}")).await;
    }
    for load in &loads {
        load.wait_for_responses(20).await;
    }
    redis.thaw();
    for gateway in &gateways {
        until_status(gateway, "ok").await;
    }
    for ((mode, gateway), load) in MODES.iter().zip(&gateways).zip(loads) {
        // Counted by Redis, not by the fallback.
        eventually("Redis counts again", async || {
            let user = format!("/keys/user/query/user:carol-{mode}");
            gateway.get(&format!("/?user=carol-{mode}")).await;
            let key = gateway.admin(Method::GET, &user).await;
            key.status == 200 && key.json()["by_fallback"] == false && key.json()["remaining"] != LIMIT
        })
        .await;
        assert_all_expected(mode, &load.stop().await, &service, mode);
    }
}

#[tokio::test]
async fn requests_wait_for_a_frozen_redis_until_the_store_timeout() {
    const TIMEOUT: Duration = Duration::from_millis(400);
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let options = ["--store", &redis.url(), "--store-timeout", "400ms"];
    let gateway = Gateway::with_upstream(&service.url(), RULES, &options);
    redis.freeze();
    let began = Instant::now();
    let reply = gateway.get("/?user=alice").await;
    assert_eq!((reply.status, reply.limits()), (200, NOTHING.to_owned()));
    assert!(began.elapsed() >= TIMEOUT);
}

#[tokio::test]
async fn a_gateway_starts_without_redis_and_uses_it_once_it_is_up() {
    for (mode, banner) in MODES.into_iter().zip([
        "open: requests are admitted unchecked while it fails",
        "closed: requests are rejected while it fails",
        "local: each process counts in memory while it fails",
    ]) {
        let (mut redis, service) = (RedisServer::start(), Service::start().await);
        redis.kill();
        let gateway = Gateway::with_redis(&service, &redis, RULES, &["--on-store-failure", mode]);
        assert!(
            gateway.running.banner.contains("Redis is unavailable: "),
            "{}",
            gateway.running.banner
        );
        assert!(gateway.running.banner.contains(banner), "{}", gateway.running.banner);
        let log = gateway.log();
        assert!(
            log.contains("WARN tollgate::server: Redis cannot be used at the start; "),
            "{log}"
        );
        assert_failure_mode(mode, &gateway, "bob").await;
        assert_eq!(status(&gateway).await, "store_failing");
        redis.restart();
        until_status(&gateway, "ok").await;
        assert_counted_on_redis(&[&gateway], "alice").await;
    }
}
