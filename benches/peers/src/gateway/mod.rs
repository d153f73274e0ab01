//! The gateway under a load generator: the cost of its limits, and of the proxy.

mod http_server;

use std::time::Duration;

use self::http_server::HttpServer;
use crate::{
    benchmark::{Benchmark, Group},
    runner::{Pair, Runner},
    server::RedisServer,
    wrk::load,
};

const RATE: &str = "req/s";
const LATENCY: &str = "us";
const NO_LIMITS: &str = "--no-limits";
const DIRECT: &str = "the service itself";

/// Connections that saturate all processes, and a single one for latency.
const CONNECTIONS: usize = 64;
const SINGLE: usize = 1;

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("gateway_throughput", RATE, NO_LIMITS, |runner| in_memory(runner, long_throughput)),
    Benchmark::new("gateway_redis_throughput", RATE, NO_LIMITS, |runner| on_redis(runner, long_throughput)),
    Benchmark::new("gateway_latency", LATENCY, NO_LIMITS, |runner| in_memory(runner, median)),
    Benchmark::new("gateway_latency_p99", LATENCY, NO_LIMITS, |runner| in_memory(runner, p99)),
    Benchmark::new("gateway_redis_latency", LATENCY, NO_LIMITS, |runner| on_redis(runner, median)),
    Benchmark::new("gateway_redis_latency_p99", LATENCY, NO_LIMITS, |runner| on_redis(runner, p99)),
    Benchmark::new("gateway_proxy_throughput", RATE, DIRECT, |runner| proxy(runner, throughput)),
    Benchmark::new("gateway_proxy_latency", LATENCY, DIRECT, |runner| proxy(runner, median)),
];

pub const GROUP: Group = Group {
    title: "The gateway",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};

/// Measures a URL in a round of this length.
type Measure = fn(&str, Duration) -> f64;

fn throughput(url: &str, span: Duration) -> f64 {
    load(url, CONNECTIONS, 2 * span).rate
}

/// The throughput in rounds that take more than a minute in total.
fn long_throughput(url: &str, span: Duration) -> f64 {
    load(url, CONNECTIONS, 9 * span).rate
}

fn median(url: &str, span: Duration) -> f64 {
    load(url, SINGLE, span).median
}

fn p99(url: &str, span: Duration) -> f64 {
    load(url, SINGLE, span).p99
}

fn in_memory(runner: &Runner, measure: Measure) -> Pair {
    against_no_limits(runner, &["--store", "memory"], measure)
}

/// Fails closed, so that every forwarded request has paid the full cost of a decision.
fn on_redis(runner: &Runner, measure: Measure) -> Pair {
    let redis = RedisServer::start();
    let url = redis.url();
    let store = [
        ["--store", &url],
        ["--on-store-failure", "closed"],
        ["--store-timeout", "30s"],
    ];
    against_no_limits(runner, store.as_flattened(), measure)
}

fn against_no_limits(runner: &Runner, store: &[&str], measure: Measure) -> Pair {
    let upstream = HttpServer::upstream();
    let limited = HttpServer::gateway(&upstream, store);
    let unlimited = HttpServer::gateway(&upstream, &[NO_LIMITS]);
    assert!(
        limited.has_limits() && !unlimited.has_limits(),
        "exactly one gateway has limits"
    );
    runner.alternate(|span| measure(&limited.url, span), |span| measure(&unlimited.url, span))
}

/// The cost of forwarding a request, without limits.
fn proxy(runner: &Runner, measure: Measure) -> Pair {
    let upstream = HttpServer::upstream();
    let gateway = HttpServer::gateway(&upstream, &[NO_LIMITS]);
    runner.alternate(|span| measure(&gateway.url, span), |span| measure(&upstream.url, span))
}
