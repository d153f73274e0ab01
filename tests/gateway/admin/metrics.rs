//! `/metrics`: figures in Prometheus's text, which count exactly.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use tokio::net::TcpStream;

use super::{RULES, ask_as};
use support::{patience::eventually, port::Port, redis::RedisServer};

use crate::gateway::{fixture::Gateway, service::Service};

/// Samples by name and labels.
type Figures = BTreeMap<String, f64>;

async fn figures(gateway: &Gateway) -> Figures {
    let reply = gateway.admin(Method::GET, "/metrics").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    read(&reply.body)
}

/// Reads a page as Prometheus does: every line of it is something, and every figure is of a kind that was told before.
fn read(page: &str) -> Figures {
    assert!(page.ends_with('\n'));
    let (mut figures, mut kinds) = (Figures::new(), BTreeSet::new());
    for line in page.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<_> = comment.splitn(3, ' ').collect();
            match words[..] {
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
        let is_new = figures.insert(sample.to_owned(), value.parse().unwrap()).is_none();
        assert!(is_new, "{line}");
    }
    figures
}

fn is_name(text: &str) -> bool {
    let is_letter = |char: char| char.is_ascii_alphabetic() || char == '_';
    text.starts_with(is_letter) && text.chars().all(|char| is_letter(char) || char.is_ascii_digit())
}

/// How many were answered so.
fn answered(figures: &Figures, answer: &str) -> f64 {
    let sample = format!("gateway_requests_total{{answer=\"{answer}\"}}");
    figures.get(&sample).copied().unwrap_or_default()
}

#[tokio::test]
async fn answers_are_counted_by_who_gave_them() {
    let service = Service::start().await;
    let gateway = Gateway::to(&service.url(), RULES, &[]);
    let before = figures(&gateway).await;
    for answer in [
        "passed",
        "rate_limit_exceeded",
        "rate_limiter_unavailable",
        "rate_limit_key_missing",
    ] {
        assert_eq!(answered(&before, answer), 0.0, "{answer}");
    }
    for _ in 0..5 {
        ask_as(&gateway, "alice").await;
    }
    assert_eq!(gateway.get("/").await.status, 400);
    assert_eq!(gateway.get("/%zz").await.status, 400);
    assert_eq!(gateway.get("/%zz").await.status, 400);
    let after = figures(&gateway).await;
    for (answer, times) in [
        ("passed", 3.0),
        ("rate_limit_exceeded", 2.0),
        ("rate_limit_key_missing", 1.0),
        ("bad_request", 2.0),
        ("rate_limiter_unavailable", 0.0),
        ("bad_upstream", 0.0),
    ] {
        assert_eq!(answered(&after, answer), times, "{answer}");
    }
    assert_eq!(service.lines().len(), 3);
    assert_eq!(after["gateway_upstream_seconds_count"], 3.0);
    assert_eq!(after["gateway_upstream_seconds_bucket{le=\"+Inf\"}"], 3.0);
    assert_eq!(after["gateway_store_up"], 1.0);
}

/// Limits that a request was charged to, and what they said of it.
#[tokio::test]
async fn what_the_limits_say_is_counted_too() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let rules = RULES.replace("limit = 3", "limit = 10");
    // In memory, or on Redis: whom that is not asked about is refused again.
    for (gateway, keys, asked) in [
        (Gateway::to(&service.url(), &rules, &[]), 1.0, 0.0),
        (Gateway::between(&service, &redis, &rules, &[]), 0.0, 13.0),
    ] {
        for _ in 0..13 {
            ask_as(&gateway, "alice").await;
        }
        assert_eq!(gateway.get("/").await.status, 400);
        let figures = figures(&gateway).await;
        let sample = |name: &str| figures.get(name).copied().unwrap_or_default();
        let said = |outcome| {
            let labels = format!("limit=\"user\",outcome=\"{outcome}\"");
            sample(&format!("tollgate_decisions_total{{{labels}}}"))
        };
        assert_eq!(["admitted", "limited", "impossible"].map(said), [10.0, 3.0, 0.0]);
        let became = |(outcome, by)| sample(&format!("tollgate_requests_total{{outcome=\"{outcome}\",by=\"{by}\"}}"));
        let fates = [("admitted", "store"), ("limited", "store"), ("uncounted", "nobody")];
        assert_eq!(fates.map(became), [10.0, 3.0, 1.0]);
        let answered = [
            "tollgate_store_seconds_count{outcome=\"answered\"}",
            "tollgate_repeated_refusals_total{limit=\"user\"}",
        ];
        let counted = (sample("tollgate_memory_keys"), answered.map(sample).iter().sum());
        assert_eq!(counted, (keys, asked));
    }
}

#[tokio::test]
async fn a_service_that_is_gone_is_counted() {
    let nobody = Port::free();
    let gateway = Gateway::to(&format!("http://127.0.0.1:{}", nobody.number()), RULES, &[]);
    for status in [502, 502, 502, 429] {
        assert_eq!(ask_as(&gateway, "alice").await, status);
    }
    let figures = figures(&gateway).await;
    let counted = ["bad_upstream", "rate_limit_exceeded", "passed"].map(|answer| answered(&figures, answer));
    assert_eq!(counted, [3.0, 1.0, 0.0]);
}

#[tokio::test]
async fn a_store_that_is_gone_is_counted() {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::between(&service, &redis, RULES, &["--on-store-failure", "closed"]);
    assert_eq!(ask_as(&gateway, "alice").await, 200);
    assert_eq!(figures(&gateway).await["gateway_store_up"], 1.0);
    redis.kill();
    for _ in 0..20 {
        assert_eq!(ask_as(&gateway, "alice").await, 503);
    }
    let figures = figures(&gateway).await;
    let counted =
        ["passed", "rate_limiter_unavailable", "rate_limit_exceeded"].map(|answer| answered(&figures, answer));
    assert_eq!(counted, [1.0, 20.0, 0.0]);
    assert_eq!(figures["gateway_store_up"], 0.0);
}

#[tokio::test]
async fn connections_are_counted_while_they_are_open() {
    let gateway = Gateway::start(RULES, &[]);
    let mut open = Vec::new();
    for count in 1..=3 {
        open.push(TcpStream::connect(gateway.address).await.unwrap());
        eventually("it is counted", async || {
            figures(&gateway).await["gateway_connections"] == f64::from(count)
        })
        .await;
    }
    drop(open);
    eventually("they are gone", async || {
        figures(&gateway).await["gateway_connections"] == 0.0
    })
    .await;
}
