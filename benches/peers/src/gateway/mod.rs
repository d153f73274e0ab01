//! The gateway under a load generator: what its limits cost, and what the proxy around them does.

mod process;

use std::time::Duration;

use self::process::Process;
use crate::{
    bench::{Bench, Pair},
    figure::{Figure, Group},
    server::RedisServer,
    wrk::load,
};

const RATE: &str = "req/s";
const LATENCY: &str = "us";
const NO_LIMITS: &str = "--no-limits";
const DIRECT: &str = "the service itself";

/// As many connections as keep everybody busy, and one that never waits for another.
const MANY: usize = 64;
const ALONE: usize = 1;

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("gateway_throughput", RATE, NO_LIMITS, |bench| in_memory(bench, a_minute)),
    Figure::new("gateway_redis_throughput", RATE, NO_LIMITS, |bench| on_redis(bench, a_minute)),
    Figure::new("gateway_latency", LATENCY, NO_LIMITS, |bench| in_memory(bench, median)),
    Figure::new("gateway_latency_p99", LATENCY, NO_LIMITS, |bench| in_memory(bench, p99)),
    Figure::new("gateway_redis_latency", LATENCY, NO_LIMITS, |bench| on_redis(bench, median)),
    Figure::new("gateway_redis_latency_p99", LATENCY, NO_LIMITS, |bench| on_redis(bench, p99)),
    Figure::new("gateway_proxy_throughput", RATE, DIRECT, |bench| proxy(bench, throughput)),
    Figure::new("gateway_proxy_latency", LATENCY, DIRECT, |bench| proxy(bench, median)),
];

pub const GROUP: Group = Group {
    title: "The gateway",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};

/// What to measure at an address, in a round of this length.
type Measure = fn(&str, Duration) -> f64;

fn throughput(url: &str, span: Duration) -> f64 {
    load(url, MANY, 2 * span).rate
}

/// The throughput in rounds that are more than a minute together.
fn a_minute(url: &str, span: Duration) -> f64 {
    load(url, MANY, 9 * span).rate
}

fn median(url: &str, span: Duration) -> f64 {
    load(url, ALONE, span).median
}

fn p99(url: &str, span: Duration) -> f64 {
    load(url, ALONE, span).p99
}

fn in_memory(bench: &Bench, measure: Measure) -> Pair {
    against_no_limits(bench, &["--store", "memory"], measure)
}

/// Who cannot be counted is refused, so that none is passed on at less than the whole cost.
fn on_redis(bench: &Bench, measure: Measure) -> Pair {
    let redis = RedisServer::start();
    let url = redis.url();
    let store = [
        ["--store", &url],
        ["--on-store-failure", "closed"],
        ["--store-timeout", "30s"],
    ];
    against_no_limits(bench, store.as_flattened(), measure)
}

fn against_no_limits(bench: &Bench, store: &[&str], measure: Measure) -> Pair {
    let upstream = Process::upstream();
    let limited = Process::gateway(&upstream, store);
    let unlimited = Process::gateway(&upstream, &[NO_LIMITS]);
    assert!(limited.limits() && !unlimited.limits(), "one of them has limits");
    bench.in_turn(|span| measure(&limited.url, span), |span| measure(&unlimited.url, span))
}

/// What it takes to pass a request on, without limits.
fn proxy(bench: &Bench, measure: Measure) -> Pair {
    let upstream = Process::upstream();
    let gateway = Process::gateway(&upstream, &[NO_LIMITS]);
    bench.in_turn(|span| measure(&gateway.url, span), |span| measure(&upstream.url, span))
}
