//! Graceful shutdown.

use std::time::Duration;

use axum::http::Method;
use tokio::net::TcpStream;
use tollgate::{Charge, Key, Limit, Operation, RedisStore, RuleSet, Store};

use support::{
    proxy::{Direction, Proxy},
    redis::RedisServer,
    wait::eventually,
};

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    service::Service,
    socket::{Socket, Upstream, status, with_timeout},
};

/// Longer than a request takes on a busy machine, and short enough to wait for during a shutdown.
const SHORT_TIMEOUT: &str = "5s";

/// A request that the service has received and not yet answered.
async fn in_flight(options: &[&str]) -> (Gateway, Socket, Socket) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, options);
    let mut client = Socket::connect(&gateway).await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    (gateway, client, service)
}

/// Waits until the gateway accepts no more connections.
async fn until_closed(gateway: &Gateway) {
    eventually("it is closed", async || {
        TcpStream::connect(gateway.address).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn requests_in_flight_are_completed() {
    for name in ["-TERM", "-INT", "-HUP"] {
        let (gateway, mut client, mut service) = in_flight(&[]).await;
        gateway.running.signal(name);
        until_closed(&gateway).await;
        let health = gateway.admin(Method::GET, "/healthz").await;
        assert_eq!((health.status, &health.json()["status"]), (503, &"ending".into()));
        service.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345").await;
        let head = client.read_until("12345").await;
        assert_eq!(status(&head), 200);
        assert!(head.contains("connection: close\r\n"), "{head}");
        service.send("67890").await;
        assert_eq!(client.read_to_end().await.unwrap(), "67890", "{name}");
        assert_eq!(gateway.wait_for_exit().code(), Some(0), "{name}");
    }
}

/// Otherwise others could not use them until they expire.
#[tokio::test]
async fn slots_are_released_on_redis_before_it_exits() {
    let (redis, upstream) = (RedisServer::start(), Upstream::start().await);
    let slow = Proxy::to(redis.port());
    let limit = "name = 'all'\nalgorithm = 'concurrency'\nlimit = 20\nkey = 'global'\ntime_to_live = '1h'";
    let rules = format!("[[limit]]\n{limit}\n");
    let options = ["--store-timeout", "30s", "--store", &slow.url()];
    let gateway = Gateway::with_upstream(&upstream.url(), &rules, &options);
    let mut ends = Vec::new();
    for _ in 0..20 {
        let mut client = Socket::connect(&gateway).await;
        client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        ends.push((client, service));
    }
    let other = Gateway::with_upstream(
        &upstream.url(),
        &rules,
        &["--store", &redis.url(), "--store-timeout", "30s"],
    );
    let held = async || other.admin(Method::GET, "/keys/all/global").await.json()["held"].clone();
    assert_eq!(held().await, 20);
    slow.delay(Direction::ToClient, Duration::from_millis(300));
    gateway.running.signal("-TERM");
    until_closed(&gateway).await;
    for (client, service) in &mut ends {
        service.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n12345").await;
        client.read_until("12345").await;
    }
    assert_eq!(gateway.wait_for_exit().code(), Some(0));
    eventually("all are released", async || held().await == 0).await;
}

#[tokio::test]
async fn idle_connections_are_closed_at_once() {
    let service = crate::gateway::client::echo().await;
    let mut gateway = Gateway::with_upstream(
        &service.url(),
        COUNT_ONLY,
        // Less than the ten seconds for which it would wait for clients to close.
        &["--client-timeout", "10m", "--upstream-timeout", "8s"],
    );
    let mut fresh = Socket::connect(&gateway).await;
    let mut asked = Socket::connect(&gateway).await;
    asked.send("GET /one HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(asked.response().await, (200, "/one".to_owned()));
    let mut posted = Socket::connect(&gateway).await;
    posted
        .send("POST /two HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody")
        .await;
    assert_eq!(posted.response().await, (200, "/two".to_owned()));
    let mut chunked = Socket::connect(&gateway).await;
    chunked
        .send("POST /three HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n")
        .await;
    assert_eq!(chunked.response().await, (200, "/three".to_owned()));
    gateway.running.signal("-TERM");
    for client in [&mut fresh, &mut asked, &mut posted, &mut chunked] {
        assert_eq!(client.read_to_end().await.unwrap(), "");
    }
    assert_eq!(gateway.exited().code(), Some(0));
    // It waited for none of them to close, which they do now.
    assert!(!gateway.log().contains("drain timeout elapsed"), "{}", gateway.log());
    drop((fresh, asked, posted, chunked));
}

#[tokio::test]
async fn an_endless_response_is_aborted() {
    let (gateway, mut client, mut service) = in_flight(&["--upstream-timeout", SHORT_TIMEOUT]).await;
    service.send("HTTP/1.1 200 OK\r\n\r\n").await;
    client.read_head().await;
    let endless = tokio::spawn(async move { while service.try_send("more").await.is_ok() {} });
    let reading = tokio::spawn(client.closed());
    gateway.running.signal("-TERM");
    // Waiting blocks the thread, and the other tasks have to run.
    let ended = tokio::task::spawn_blocking(|| gateway.wait_for_exit());
    assert_eq!(with_timeout(ended).await.unwrap().code(), Some(0));
    with_timeout(reading).await.unwrap();
    with_timeout(endless).await.unwrap();
}

#[tokio::test]
async fn a_second_signal_exits_at_once() {
    let (gateway, mut client, _service) = in_flight(&["--upstream-timeout", "10m"]).await;
    gateway.running.signal("-TERM");
    until_closed(&gateway).await;
    gateway.running.signal("-INT");
    assert_eq!(gateway.wait_for_exit().code(), Some(0));
    assert_eq!(client.read_until_closed().await, "");
}

#[tokio::test]
async fn websockets_are_aborted() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--upstream-timeout", SHORT_TIMEOUT]);
    let (mut client, _service) = crate::gateway::websockets::open_websocket(&upstream, &gateway).await;
    gateway.running.signal("-TERM");
    until_closed(&gateway).await;
    assert_eq!(gateway.wait_for_exit().code(), Some(0));
    assert_eq!(client.read_until_closed().await, "");
}

/// Every algorithm that can be leased, in windows that neither end nor refill while a test runs.
const LEASED: [(&str, &str); 5] = [
    ("token_bucket", "window = '3650d'"),
    ("leaky_bucket", "window = '3650d'\nqueue = false"),
    ("fixed_window", "window = '3650d'"),
    // The longest window and a lease would exceed the longest window.
    ("sliding_log", "window = '365d'"),
    ("sliding_counter", "window = '3650d'"),
];

/// The units of a limit that the gateway holds, according to its metrics.
async fn held_units(gateway: &Gateway, limit: &Limit) -> u64 {
    let page = gateway.admin(Method::GET, "/metrics").await.body;
    let [leased, spent, returned] = ["leased", "spent", "returned"].map(|outcome| {
        let sample = format!(
            "tollgate_leased_units_total{{limit=\"{}\",outcome=\"{outcome}\"}} ",
            limit.name()
        );
        let value = page.lines().find_map(|line| line.strip_prefix(&sample));
        value.map_or(0, |value| value.parse::<u64>().unwrap())
    });
    leased - spent - returned
}

/// The units that remain in Redis.
async fn remaining(store: &RedisStore, limit: &Limit) -> u64 {
    let peek = Charge::new(limit.clone(), Key::GLOBAL).with_cost(0);
    let decision = store.apply(Operation::Peek(peek.into())).await.unwrap();
    decision.tiers()[0].verdict().remaining()
}

fn leased_rules() -> String {
    let limits = LEASED.map(|(algorithm, more)| {
        let terms = "limit = 10000\nkey = 'global'\nlease = '1m'";
        format!("[[limit]]\nname = '{algorithm}'\nalgorithm = '{algorithm}'\n{terms}\n{more}\n")
    });
    limits.concat()
}

#[tokio::test]
async fn leased_units_are_returned() {
    const REQUESTS: u64 = 100;
    let rules = leased_rules();
    let limits = RuleSet::parse(&rules).unwrap().limits();
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let store = redis.store().build().unwrap();
    let gateway = Gateway::with_redis(&service, &redis, &rules, &[]);
    for _ in 0..REQUESTS {
        assert_eq!(gateway.get("/").await.status, 200);
    }
    let unused = |limit: &Limit| u64::from(limit.algorithm().capacity()) - REQUESTS;
    for limit in &limits {
        // A lease is asked for in the background.
        eventually("all leases have arrived", async || {
            let held = held_units(&gateway, limit).await;
            held > 0 && remaining(&store, limit).await + held == unused(limit)
        })
        .await;
    }
    gateway.running.signal("-TERM");
    assert_eq!(gateway.wait_for_exit().code(), Some(0));
    for limit in &limits {
        assert_eq!(remaining(&store, limit).await, unused(limit), "{limit}");
    }
}

/// The gateway holds units, and Redis does not take them back.
#[tokio::test]
async fn an_unresponsive_redis_does_not_prevent_the_exit() {
    let redis = RedisServer::start();
    let rules = leased_rules();
    let gateway = Gateway::start(&rules, &["--store", &redis.url(), "--store-timeout", SHORT_TIMEOUT]);
    let limits = RuleSet::parse(&rules).unwrap().limits();
    eventually("it holds units", async || {
        assert_eq!(gateway.get("/").await.status, 200);
        held_units(&gateway, &limits[0]).await > 0
    })
    .await;
    redis.freeze();
    gateway.running.signal("-TERM");
    assert_eq!(gateway.wait_for_exit().code(), Some(0));
}
