//! Whole axum services: the time that a layer adds to a request, and the throughput of a server on Redis.

mod axum_limit;
mod http;
mod overhead;

use crate::benchmark::{Benchmark, Group};

/// The bottleneck of the time that a layer adds.
const ADDED: &str = "By callgrind, a layer that does nothing (in axum, a boxed route), three constant headers and one value in the request's \
    extensions take 2,640 instructions: two thirds of what tower_governor takes, which writes two headers and passes no decision to \
    handlers. The key as text (300), the decision (600), and numbers, clones and futures (900) add to these. The total was half as much \
    again when every request cloned the inner route and numbers were formatted. Since then, costs, outcomes, waiting and gRPC, which any \
    request may need, have raised the ratio from 1.1 to 1.25, and spans and metrics to 1.3, as measured on one day at the commits that \
    added them.";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("axum_overhead", "ns", "tower_governor", overhead::against_tower_governor).at_most(0.6).bottleneck(ADDED),
    Benchmark::new("axum_rules", "ns", "the limit in code", overhead::rules),
    Benchmark::new("axum_redis_http", "req/s", "axum-limit", http::against_axum_limit).at_least(2.0),
    Benchmark::new("axum_redis_http_plain", "req/s", "no limit", http::against_plain),
];

pub const GROUP: Group = Group {
    title: "axum",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};
