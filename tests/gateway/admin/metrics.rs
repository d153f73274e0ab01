//! `/metrics`: exact counts in the Prometheus text format.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use tokio::net::TcpStream;

use super::{RULES, request_as};
use support::{http::Reply, port::Port, redis::RedisServer, wait::eventually};

use crate::gateway::{fixture::Gateway, service::Service};

/// Samples by name and labels.
type Samples = BTreeMap<String, f64>;

async fn samples(gateway: &Gateway) -> Samples {
    let reply = gateway.admin(Method::GET, "/metrics").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    parse(&reply.body)
}

/// Parses a page as Prometheus does: every line is valid, and every sample follows its `TYPE`.
fn parse(page: &str) -> Samples {
    assert!(page.ends_with('\n'));
    let (mut samples, mut kinds) = (Samples::new(), BTreeSet::new());
    for line in page.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let parts: Vec<_> = comment.splitn(3, ' ').collect();
            match parts[..] {
                ["HELP", name, _] => assert!(is_name(name), "{line}"),
                ["TYPE", name, "counter" | "gauge" | "histogram"] => assert!(kinds.insert(name.to_owned()), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let (name, labels) = sample.split_once('{').unwrap_or((sample, "}"));
        let of_histogram = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        assert!(is_name(name), "{line}");
        assert!(
            [Some(name), of_histogram]
                .into_iter()
                .flatten()
                .any(|kind| kinds.contains(kind)),
            "{line}"
        );
        for label in labels
            .strip_suffix('}')
            .unwrap_or_else(|| panic!("{line}"))
            .split_terminator(',')
        {
            let (label, value) = label.split_once('=').unwrap_or_else(|| panic!("{line}"));
            assert!(
                is_name(label) && value.len() > 1 && value.starts_with('"') && value.ends_with('"'),
                "{line}"
            );
        }
        let is_new = samples.insert(sample.to_owned(), value.parse().unwrap()).is_none();
        assert!(is_new, "{line}");
    }
    samples
}

fn is_name(text: &str) -> bool {
    let is_letter = |char: char| char.is_ascii_alphabetic() || char == '_';
    text.starts_with(is_letter) && text.chars().all(|char| is_letter(char) || char.is_ascii_digit())
}

/// The number of responses with this label.
fn responses(samples: &Samples, answer: &str) -> f64 {
    let sample = format!("gateway_requests_total{{answer=\"{answer}\"}}");
    samples.get(&sample).copied().unwrap_or_default()
}

#[tokio::test]
async fn responses_are_counted_by_reason() {
    let service = Service::start().await;
    let gateway = Gateway::with_upstream(&service.url(), RULES, &[]);
    let before = samples(&gateway).await;
    for answer in [
        "passed",
        "rate_limit_exceeded",
        "rate_limiter_unavailable",
        "rate_limit_key_missing",
        "rate_limit_key_ambiguous",
    ] {
        assert_eq!(responses(&before, answer), 0.0, "{answer}");
    }
    for _ in 0..5 {
        request_as(&gateway, "alice").await;
    }
    assert_eq!(gateway.get("/").await.status, 400);
    for _ in 0..4 {
        let two_users = gateway.request(Method::GET, "/").header("x-user-id", "alice");
        let reply = Reply::to(two_users.header("x-user-id", "bob"));
        assert_eq!(reply.await.json()["error"], "rate_limit_key_ambiguous");
    }
    assert_eq!(gateway.get("/%zz").await.status, 400);
    assert_eq!(gateway.get("/%zz").await.status, 400);
    let after = samples(&gateway).await;
    for (answer, times) in [
        ("passed", 3.0),
        ("rate_limit_exceeded", 2.0),
        ("rate_limit_key_missing", 1.0),
        ("rate_limit_key_ambiguous", 4.0),
        ("bad_request", 2.0),
        ("rate_limiter_unavailable", 0.0),
        ("bad_upstream", 0.0),
    ] {
        assert_eq!(responses(&after, answer), times, "{answer}");
    }
    assert_eq!(service.lines().len(), 3);
    assert_eq!(after["gateway_upstream_seconds_count"], 3.0);
    assert_eq!(after["gateway_upstream_seconds_bucket{le=\"+Inf\"}"], 3.0);
    assert_eq!(after["gateway_store_up"], 1.0);
}

#[tokio::test]
async fn decisions_are_counted_by_limit_and_outcome() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = RULES.replace("limit = 3", "limit = 10");
    // On Redis, some denials are answered from the denial cache.
    for (gateway, keys, asked) in [
        (Gateway::with_upstream(&service.url(), &rules, &[]), 1.0, 0.0),
        (Gateway::with_redis(&service, &redis, &rules, &[]), 0.0, 13.0),
    ] {
        for _ in 0..13 {
            request_as(&gateway, "alice").await;
        }
        assert_eq!(gateway.get("/").await.status, 400);
        let samples = samples(&gateway).await;
        let sample = |name: &str| samples.get(name).copied().unwrap_or_default();
        let decisions = |outcome| {
            let labels = format!("limit=\"user\",outcome=\"{outcome}\"");
            sample(&format!("tollgate_decisions_total{{{labels}}}"))
        };
        assert_eq!(["admitted", "limited", "impossible"].map(decisions), [10.0, 3.0, 0.0]);
        let requests = |(outcome, by)| sample(&format!("tollgate_requests_total{{outcome=\"{outcome}\",by=\"{by}\"}}"));
        let outcomes = [("admitted", "store"), ("limited", "store"), ("missing_key", "none")];
        assert_eq!(outcomes.map(requests), [10.0, 3.0, 1.0]);
        let responses = [
            "tollgate_store_seconds_count{outcome=\"answered\"}",
            "tollgate_cached_denials_total{limit=\"user\"}",
        ];
        let counted = (sample("tollgate_memory_keys"), responses.map(sample).iter().sum());
        assert_eq!(counted, (keys, asked));
    }
}

#[tokio::test]
async fn an_unreachable_service_is_counted() {
    let unused = Port::free();
    let gateway = Gateway::with_upstream(&format!("http://127.0.0.1:{}", unused.number()), RULES, &[]);
    for status in [502, 502, 502, 429] {
        assert_eq!(request_as(&gateway, "alice").await, status);
    }
    let samples = samples(&gateway).await;
    let counted = ["bad_upstream", "rate_limit_exceeded", "passed"].map(|answer| responses(&samples, answer));
    assert_eq!(counted, [3.0, 1.0, 0.0]);
}

#[tokio::test]
async fn a_failed_store_is_counted() {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::with_redis(&service, &redis, RULES, &["--on-store-failure", "closed"]);
    assert_eq!(request_as(&gateway, "alice").await, 200);
    assert_eq!(samples(&gateway).await["gateway_store_up"], 1.0);
    redis.kill();
    for _ in 0..20 {
        assert_eq!(request_as(&gateway, "alice").await, 503);
    }
    let samples = samples(&gateway).await;
    let counted =
        ["passed", "rate_limiter_unavailable", "rate_limit_exceeded"].map(|answer| responses(&samples, answer));
    assert_eq!(counted, [1.0, 20.0, 0.0]);
    assert_eq!(samples["gateway_store_up"], 0.0);
}

#[tokio::test]
async fn connections_are_counted_while_they_are_open() {
    let gateway = Gateway::start(RULES, &[]);
    let mut open = Vec::new();
    for count in 1..=3 {
        open.push(TcpStream::connect(gateway.address).await.unwrap());
        eventually("it is counted", async || {
            samples(&gateway).await["gateway_connections"] == f64::from(count)
        })
        .await;
    }
    drop(open);
    eventually("they are closed", async || {
        samples(&gateway).await["gateway_connections"] == 0.0
    })
    .await;
}
