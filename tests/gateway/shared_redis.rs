//! Gateways that share a Redis admit exactly the limit together.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::http::Method;
use tokio::task::JoinSet;

use support::{algorithms::assert_has_each_algorithm, redis::RedisServer};

use crate::gateway::{fixture::Gateway, service::Service};

const LIMIT: usize = 100;
const CLIENTS: usize = 16;
const REQUESTS: usize = 300;

/// Every algorithm that does not queue.
const ALGORITHMS: [&str; 7] = [
    "algorithm = 'token_bucket'",
    "algorithm = 'leaky_bucket'\nqueue = false",
    "algorithm = 'fixed_window'",
    "algorithm = 'fixed_window'\nanchored = true",
    "algorithm = 'sliding_log'",
    "algorithm = 'sliding_counter'",
    "algorithm = 'sliding_counter'\nsub_windows = 10",
];

/// A limit in a window that neither ends nor refills while a test runs.
fn limit(name: &str, limit: usize, more: &str) -> String {
    format!("[[limit]]\nname = '{name}'\nlimit = {limit}\nwindow = '3650d'\n{more}\n")
}

/// Concurrent clients of all gateways send `REQUESTS` requests in total: the status of each, by its number.
async fn send_concurrently(
    gateways: &[Arc<Gateway>],
    path: impl Fn(usize) -> String + Clone + Send + 'static,
) -> Vec<(usize, u16)> {
    let sent = Arc::new(AtomicUsize::new(0));
    let clients = (0..CLIENTS).map(|client| {
        // Each client uses one gateway, so that a slow gateway does not delay the others.
        let (gateway, sent, path) = (
            Arc::clone(&gateways[client % gateways.len()]),
            Arc::clone(&sent),
            path.clone(),
        );
        async move {
            let mut answered = Vec::new();
            loop {
                let number = sent.fetch_add(1, Ordering::Relaxed);
                if number >= REQUESTS {
                    return answered;
                }
                answered.push((number, gateway.get(&path(number)).await.status));
            }
        }
    });
    let answered = clients.collect::<JoinSet<_>>().join_all().await;
    answered.concat()
}

/// The requests that the service has received under a path, none of them twice.
fn received(service: &Service, path: &str) -> HashSet<String> {
    let lines = service
        .lines()
        .into_iter()
        .filter(|line| line.starts_with(&format!("GET {path}/")));
    let all: Vec<_> = lines.collect();
    let once: HashSet<_> = all.iter().cloned().collect();
    assert_eq!(all.len(), once.len(), "a request reached the service twice");
    once
}

async fn remaining(gateway: &Gateway, key: &str) -> serde_json::Value {
    let reply = gateway.admin(Method::GET, &format!("/keys/{key}")).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()["remaining"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_admit_exactly_the_limit_together_by_every_algorithm() {
    assert_has_each_algorithm(ALGORITHMS.map(|terms| terms.split('\'').nth(1).unwrap()));
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let limits = ALGORITHMS.iter().enumerate().map(|(nth, terms)| {
        let more = format!("{terms}\npath = '/{nth}/{{number}}'\nkey = 'global'");
        limit(&format!("limit-{nth}"), LIMIT, &more)
    });
    let rules: String = limits.collect();
    let gateways = [(); 2].map(|()| Arc::new(Gateway::with_redis(&service, &redis, &rules, &[])));
    for (nth, terms) in ALGORITHMS.iter().enumerate() {
        let answered = send_concurrently(&gateways, move |number| format!("/{nth}/{number}")).await;
        let of = |wanted: u16| answered.iter().filter(|(_, status)| *status == wanted).count();
        assert_eq!((of(200), of(429)), (LIMIT, REQUESTS - LIMIT), "{terms}");
        // The service has received exactly the admitted requests.
        let admitted = answered.iter().filter(|(_, status)| *status == 200);
        let admitted: HashSet<_> = admitted.map(|(number, _)| format!("GET /{nth}/{number}")).collect();
        assert_eq!(received(&service, &format!("/{nth}")), admitted, "{terms}");
        for gateway in &gateways {
            assert_eq!(remaining(gateway, &format!("limit-{nth}/global")).await, 0, "{terms}");
        }
    }
    // A gateway that starts later finds the quota exhausted.
    let third = Gateway::with_redis(&service, &redis, &rules, &[]);
    for nth in 0..ALGORITHMS.len() {
        assert_eq!(third.get(&format!("/{nth}/late")).await.status, 429);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_charge_all_limits_of_a_request_or_none() {
    const USERS: usize = 3;
    const EACH: usize = 40;
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let fixed = "algorithm = 'fixed_window'";
    let rules = limit("all", LIMIT, &format!("{fixed}\nkey = 'global'"))
        + &limit("user", EACH, &format!("{fixed}\nkey = 'query:user'"));
    let gateways = [(); 2].map(|()| Arc::new(Gateway::with_redis(&service, &redis, &rules, &[])));
    let answered = send_concurrently(&gateways, |number| format!("/any/{number}?user={}", number % USERS)).await;

    // Three users with 40 each exceed the total of 100.
    let admitted = |user: Option<usize>| {
        let of_user = answered
            .iter()
            .filter(|(number, _)| user.is_none_or(|user| number % USERS == user));
        of_user.filter(|(_, status)| *status == 200).count()
    };
    assert_eq!(admitted(None), LIMIT);
    assert_eq!(received(&service, "/any").len(), LIMIT);
    assert_eq!(
        answered.iter().filter(|(_, status)| *status == 429).count(),
        REQUESTS - LIMIT
    );
    assert_eq!(remaining(&gateways[0], "all/global").await, 0);
    for user in 0..USERS {
        let remaining = remaining(&gateways[1], &format!("user/query/user:{user}")).await;
        assert_eq!(remaining, EACH - admitted(Some(user)), "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_with_memory_stores_admit_the_limit_each() {
    let service = Service::start().await;
    let rules = limit("all", LIMIT, "algorithm = 'fixed_window'\nkey = 'global'");
    let gateways = [(); 2].map(|()| Arc::new(Gateway::with_upstream(&service.url(), &rules, &[])));
    for gateway in gateways {
        let answered = send_concurrently(&[gateway], |number| format!("/any/{number}")).await;
        let admitted = answered.iter().filter(|(_, status)| *status == 200).count();
        assert_eq!((answered.len(), admitted), (REQUESTS, LIMIT));
    }
    assert_eq!(service.lines().len(), 2 * LIMIT);
}
