//! Concurrency limits: a request holds its slot until its response body has ended, a WebSocket until it is closed.

use std::time::{Duration, Instant};

use axum::http::Method;

use support::{http::Reply, redis::RedisServer, wait::eventually};

use crate::gateway::{
    fixture::Gateway,
    socket::{Socket, Upstream, status},
    websockets::open_websocket,
};

/// The fields of rules that these tests cover.
pub(crate) const COVERS: &[&str] = &[
    "algorithm concurrency",
    "limit limit",
    "limit retry_after",
    "limit status",
    "limit time_to_live",
];

const REQUEST: &str = "GET /export HTTP/1.1\r\nhost: a\r\n\r\n";

/// The head of a response and a part of its body. It closes, so that each request has a connection of its own.
const FIRST_PART: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n";
const END: &str = "0\r\n\r\n";

const COMPLETE: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nwhole";

/// A limit on requests at once, with these fields.
fn at_once(limit: u32, fields: &str) -> String {
    format!("[[limit]]\nname = 'exports'\nalgorithm = 'concurrency'\nlimit = {limit}\nkey = 'global'\n{fields}\n")
}

/// Sends a request that is admitted and whose response has begun: both ends of it.
async fn start_response(upstream: &Upstream, gateway: &Gateway) -> (Socket, Socket) {
    let mut client = Socket::connect(gateway).await;
    client.send(REQUEST).await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    service.send(FIRST_PART).await;
    assert_eq!(status(&client.read_until("first\r\n").await), 200);
    (client, service)
}

/// Sends requests until one is admitted, and answers it.
async fn until_admitted(upstream: &Upstream, gateway: &Gateway) {
    eventually("a request is admitted", async || {
        let mut client = Socket::connect(gateway).await;
        client.send(REQUEST).await;
        tokio::select! {
            mut service = upstream.accept() => {
                service.read_head().await;
                service.send(COMPLETE).await;
                assert_eq!(client.response().await, (200, "whole".to_owned()));
                true
            }
            (status, _) = client.response() => {
                assert_eq!(status, 429);
                false
            }
        }
    })
    .await;
}

async fn assert_denied(gateway: &Gateway) {
    assert_eq!(Socket::get(gateway, "/").await.0, 429);
}

#[tokio::test]
async fn a_response_holds_its_slot_until_it_has_ended() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_once(2, ""), &[]);
    let (mut client, mut service) = start_response(&upstream, &gateway).await;
    let _held = start_response(&upstream, &gateway).await;
    assert_denied(&gateway).await;
    service.send("4\r\nmore\r\n").await;
    client.read_until("more\r\n").await;
    assert_denied(&gateway).await;
    service.send(END).await;
    client.read_until(END).await;
    for _ in 0..3 {
        until_admitted(&upstream, &gateway).await;
    }
}

#[tokio::test]
async fn a_client_that_disconnects_releases_its_slot() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_once(1, ""), &["--upstream-timeout", "10m"]);
    // Before the response, and in the middle of it.
    let mut client = Socket::connect(&gateway).await;
    client.send(REQUEST).await;
    let _not_answered = upstream.accept().await;
    assert_denied(&gateway).await;
    drop(client);
    until_admitted(&upstream, &gateway).await;
    let (client, _service) = start_response(&upstream, &gateway).await;
    assert_denied(&gateway).await;
    drop(client);
    until_admitted(&upstream, &gateway).await;
}

#[tokio::test]
async fn a_service_that_fails_releases_the_slot() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_once(1, ""), &[]);
    let mut client = Socket::connect(&gateway).await;
    client.send(REQUEST).await;
    drop(upstream.accept().await);
    assert_eq!(client.response().await.0, 502);
    until_admitted(&upstream, &gateway).await;
    let (mut client, service) = start_response(&upstream, &gateway).await;
    drop(service);
    client.read_until_closed().await;
    until_admitted(&upstream, &gateway).await;
}

#[tokio::test]
async fn a_websocket_holds_its_slot_until_it_is_closed() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_once(1, ""), &[]);
    for client_closes in [true, false] {
        let (mut client, mut service) = open_websocket(&upstream, &gateway).await;
        client.send("\u{1}").await;
        assert_eq!(service.read_exact(1).await, [1]);
        assert_denied(&gateway).await;
        let (closed, mut open) = match client_closes {
            true => (client, service),
            false => (service, client),
        };
        drop(closed);
        open.read_until_closed().await;
        drop(open);
        until_admitted(&upstream, &gateway).await;
    }
}

/// A connection that the service does not upgrade is an ordinary response.
#[tokio::test]
async fn a_declined_websocket_holds_nothing() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_once(1, ""), &[]);
    let mut client = Socket::connect(&gateway).await;
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n";
    client.send(format!("GET / HTTP/1.1\r\nhost: a\r\n{upgrade}\r\n")).await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    service.send(COMPLETE.replace("200 OK", "426 Upgrade Required")).await;
    assert_eq!(client.response().await.0, 426);
    // The client is still connected.
    until_admitted(&upstream, &gateway).await;
}

async fn denial(fields: &str) -> (Reply, String) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_once(2, fields), &[]);
    let _held = (
        start_response(&upstream, &gateway).await,
        start_response(&upstream, &gateway).await,
    );
    let denial = gateway.get("/").await;
    (denial, gateway.admin(Method::GET, "/metrics").await.body)
}

#[tokio::test]
async fn denials_have_the_status_and_the_hint_of_the_rules() {
    for (fields, status, retry_after) in [
        ("", 429, "1"),
        ("retry_after = '7s'", 429, "7"),
        ("retry_after = '90s'\nstatus = 503", 503, "90"),
    ] {
        let (reply, metrics) = denial(fields).await;
        assert_eq!(
            (reply.status, reply.header("retry-after").as_str()),
            (status, retry_after)
        );
        let policy = r#""exports";q=2;qu="concurrent-requests""#;
        assert_eq!(reply.header("ratelimit-policy"), policy);
        assert_eq!(reply.header("ratelimit"), r#""exports";r=0"#);
        assert_eq!(reply.json()["error"], "concurrency_limit_exceeded");
        for (answer, count) in [
            ("concurrency_limit_exceeded", 1),
            ("rate_limit_exceeded", 0),
            ("rate_limiter_unavailable", 0),
        ] {
            let sample = format!("gateway_requests_total{{answer=\"{answer}\"}} {count}\n");
            assert!(metrics.contains(&sample), "{fields}: {metrics}");
        }
    }
}

/// A denied request holds nothing of the other limits, and one that another limit denies holds no slot.
#[tokio::test]
async fn limits_hold_and_count_together_or_not_at_all() {
    let upstream = Upstream::start().await;
    let twice = "[[limit]]\nname = 'twice'\nalgorithm = 'fixed_window'\nlimit = 2\nwindow = '3650d'\nkey = 'global'\n";
    let gateway = Gateway::with_upstream(&upstream.url(), &(at_once(1, "") + twice), &[]);
    let used = async || {
        let exports = gateway.admin(Method::GET, "/keys/exports/global").await.json();
        assert!(exports.get("full_in_us").is_none(), "{exports}");
        let twice = gateway.admin(Method::GET, "/keys/twice/global").await.json();
        (exports["held"].clone(), twice["remaining"].clone())
    };
    let held = start_response(&upstream, &gateway).await;
    assert_denied(&gateway).await;
    assert_eq!(used().await, (1.into(), 1.into()));
    drop(held);
    until_admitted(&upstream, &gateway).await;
    let denied = gateway.get("/").await;
    assert_eq!(
        (denied.status, denied.json()["error"].as_str()),
        (429, Some("rate_limit_exceeded"))
    );
    assert_eq!(used().await, (0.into(), 0.into()));
}

#[tokio::test]
async fn gateways_share_the_slots_on_redis() {
    let (redis, upstream) = (RedisServer::start(), Upstream::start().await);
    let gateway = || {
        let options = ["--store", &redis.url(), "--store-timeout", "30s"];
        Gateway::with_upstream(&upstream.url(), &at_once(1, "time_to_live = '10s'"), &options)
    };
    let (one, other) = (gateway(), gateway());
    let (mut client, mut service) = start_response(&upstream, &one).await;
    assert_denied(&other).await;
    service.send(END).await;
    client.read_until(END).await;
    until_admitted(&upstream, &other).await;
    // What a killed gateway held is free after the time to live.
    let _held = start_response(&upstream, &one).await;
    assert_denied(&other).await;
    drop(one);
    let killed_at = Instant::now();
    until_admitted(&upstream, &other).await;
    // By default, it takes half a minute.
    assert!(killed_at.elapsed() < Duration::from_secs(25));
}
