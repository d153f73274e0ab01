//! A Redis that is killed and returns, that is frozen, and that is not there yet, while clients keep coming.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::Method;

use support::{
    http::{NOTHING, Reply},
    patience::eventually,
    redis::RedisServer,
};

use crate::gateway::{
    crowd::{Answer, Crowd},
    fixture::Gateway,
    service::Service,
};

const LIMIT: usize = 50;

/// For each user, in a window that does not end while a test runs.
const RULES: &str = "
[[limit]]
name = 'user'
algorithm = 'fixed_window'
limit = 50
window = '3650d'
key = 'query:user'
";

/// What becomes of requests while there is no Redis, as operators say it.
const MODES: [&str; 3] = ["open", "closed", "local"];

async fn status(gateway: &Gateway) -> String {
    let reply = gateway.admin(Method::GET, "/healthz").await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()["status"].as_str().unwrap().to_owned()
}

async fn becomes(gateway: &Gateway, wanted: &str) {
    eventually(wanted, async || status(gateway).await == wanted).await;
}

/// One request after the other, in turn at each of these gateways.
async fn ask(gateways: &[&Gateway], user: &str, times: usize) -> Vec<Reply> {
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

/// Redis decides: of these, exactly the limit is admitted together, and every one is told what is left.
async fn counts_on_redis(gateways: &[&Gateway], user: &str) {
    let replies = ask(gateways, user, 2 * LIMIT).await;
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

/// There is no Redis: what is due to twice as many as the limit allows, at each gateway.
async fn counts_without_redis(mode: &str, gateway: &Gateway, user: &str) {
    let replies = ask(&[gateway], user, 2 * LIMIT).await;
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
            let (admitted, refused) = replies.split_at(LIMIT);
            assert_eq!((count(admitted, 200), count(refused, 429)), (LIMIT, LIMIT));
            let left: Vec<_> = admitted.iter().map(Reply::remaining).collect();
            let expected: Vec<_> = (0..LIMIT).rev().map(|left| left.to_string()).collect();
            assert_eq!(left, expected);
        }
    }
}

/// Nobody of a crowd is refused for good: each was served, or told to come again by a gateway that is closed meanwhile.
fn is_due(mode: &str, answer: &Answer) -> bool {
    match (mode, answer.status, answer.is_counted) {
        ("open", 200, _) | ("closed" | "local", 200, true) => true,
        ("closed", 503, false) => answer.retry_after == "1",
        _ => false,
    }
}

/// All of a crowd was answered as the mode says, and the service has seen whom the gateways served, each once.
fn all_is_due(mode: &str, answers: &[Answer], service: &Service, crowd: &str) {
    for answer in answers {
        assert!(is_due(mode, answer), "{mode}: {answer:?}");
    }
    let served = answers.iter().filter(|answer| answer.status == 200);
    let mut served: Vec<_> = served.map(|answer| answer.line.clone()).collect();
    let mut seen = service.lines();
    seen.retain(|line| line.starts_with(&format!("GET /?user={crowd}-")));
    seen.sort();
    served.sort();
    assert_eq!(seen, served, "{mode}");
}

async fn killed_and_returns(mode: &str) {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let options = ["--on-store-failure", mode];
    let gateways = [(); 2].map(|()| Arc::new(Gateway::between(&service, &redis, RULES, &options)));
    let crowds = [Crowd::start("left", &gateways[0]), Crowd::start("right", &gateways[1])];
    let [left, right] = gateways.each_ref().map(Arc::as_ref);
    counts_on_redis(&[left, right], "alice").await;

    redis.kill();
    for gateway in [left, right] {
        becomes(gateway, "store_failing").await;
        counts_without_redis(mode, gateway, "bob").await;
    }
    for crowd in &crowds {
        crowd.goes_on(50).await;
    }

    redis.restart();
    for gateway in [left, right] {
        becomes(gateway, "ok").await;
    }
    // It has forgotten everything, and what was counted without it is not carried over.
    counts_on_redis(&[left, right], "bob").await;
    for (crowd, name) in crowds.into_iter().zip(["left", "right"]) {
        crowd.goes_on(50).await;
        let answers = crowd.stop().await;
        all_is_due(mode, &answers, &service, name);
        // Some have met with each.
        let without = answers.iter().filter(|answer| !answer.is_counted).count();
        assert!(mode == "local" || (1..answers.len()).contains(&without), "{without}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_is_killed_and_returns_under_load_at_open_gateways() {
    killed_and_returns("open").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_is_killed_and_returns_under_load_at_closed_gateways() {
    killed_and_returns("closed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_is_killed_and_returns_under_load_at_gateways_that_count_for_themselves() {
    killed_and_returns("local").await;
}

/// It is still connected, and answers nobody.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_go_on_while_their_redis_is_frozen() {
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
        Arc::new(Gateway::to(&service.url(), RULES, &options))
    });
    let crowds: Vec<_> = MODES
        .iter()
        .zip(&gateways)
        .map(|(mode, gateway)| Crowd::start(mode, gateway))
        .collect();
    for crowd in &crowds {
        crowd.goes_on(20).await;
    }
    redis.freeze();
    for (mode, gateway) in MODES.iter().zip(&gateways) {
        becomes(gateway, "store_failing").await;
        counts_without_redis(mode, gateway, &format!("bob-{mode}")).await;
    }
    for crowd in &crowds {
        crowd.goes_on(20).await;
    }
    redis.thaw();
    for gateway in &gateways {
        becomes(gateway, "ok").await;
    }
    for ((mode, gateway), crowd) in MODES.iter().zip(&gateways).zip(crowds) {
        // Counted by Redis, not by the gateway for itself.
        eventually("Redis counts again", async || {
            let user = format!("/keys/user/query/user:carol-{mode}");
            gateway.get(&format!("/?user=carol-{mode}")).await;
            let key = gateway.admin(Method::GET, &user).await;
            key.status == 200 && key.json()["by_fallback"] == false && key.json()["remaining"] != LIMIT
        })
        .await;
        all_is_due(mode, &crowd.stop().await, &service, mode);
    }
}

#[tokio::test]
async fn nobody_waits_less_for_a_frozen_redis_than_operators_say() {
    const TIMEOUT: Duration = Duration::from_millis(400);
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let options = ["--store", &redis.url(), "--store-timeout", "400ms"];
    let gateway = Gateway::to(&service.url(), RULES, &options);
    redis.freeze();
    let began = Instant::now();
    let reply = gateway.get("/?user=alice").await;
    assert_eq!((reply.status, reply.limits()), (200, NOTHING.to_owned()));
    assert!(began.elapsed() >= TIMEOUT);
}

#[tokio::test]
async fn a_gateway_starts_without_its_redis_and_uses_it_as_soon_as_it_comes() {
    for (mode, says) in MODES.into_iter().zip([
        "open: requests pass unchecked while it fails",
        "closed: requests are refused while it fails",
        "local: each gateway counts for itself while it fails",
    ]) {
        let (mut redis, service) = (RedisServer::start(), Service::start().await);
        redis.kill();
        let gateway = Gateway::between(&service, &redis, RULES, &["--on-store-failure", mode]);
        assert!(
            gateway.running.banner.contains("Redis cannot be asked now: "),
            "{}",
            gateway.running.banner
        );
        assert!(gateway.running.banner.contains(says), "{}", gateway.running.banner);
        counts_without_redis(mode, &gateway, "bob").await;
        assert_eq!(status(&gateway).await, "store_failing");
        redis.restart();
        becomes(&gateway, "ok").await;
        counts_on_redis(&[&gateway], "alice").await;
    }
}
