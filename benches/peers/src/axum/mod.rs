//! Whole axum services: the time that a layer adds to a request, and the throughput of a server on Redis.

mod axum_limit;
mod http;
mod instructions;
mod overhead;
mod routers;

use self::instructions::against_tower_governor;
use crate::benchmark::{Benchmark, Group};

const TOWER_GOVERNOR: &str = "tower_governor";

/// The bottleneck of the time that a layer adds.
const ADDED: &str = "By callgrind, a layer that does nothing (in axum, a boxed route), three constant headers and one value in the request's \
    extensions take 2,640 instructions, more than half of what tower_governor takes, which writes two headers and passes no decision \
    to handlers. Of the rest, the third header with its number takes 400, the growth of the map of extensions 400, the key as text \
    200, and the decision 600. Tried: a smaller future, whose requests that wait are boxed (40 fewer, not kept).";

/// The bottleneck of two more headers.
const HEADERS: &str = "`RateLimit-Policy` is built once per limit. The list in `RateLimit`, two more insertions, and the growth of the header map for \
    the seventh header of a response (800) take the rest.";
/// The bottleneck of two more tiers.
const TIERS: &str = "Each tier extracts a key, computes its verdict twice (all are peeked at before one is charged), and is copied for handlers. Charges and \
    decisions of several tiers are on the heap. Tried: room for three in both, which saves 400 instructions in the allocator and \
    costs 600 in copying, and 900 for requests with one tier (not kept); no collecting into lists (1,000 fewer, kept).";

/// The bottleneck of a leased limit over HTTP.
const LEASE: &str = "By perf, of the samples of both sides together, the decision by the lease takes 1% and all functions of tollgate 2.5%. \
    The rest of the difference is what a layer adds around them: a boxed route, three more headers to encode, send and \
    parse, and their memory. It was lower in runs in which the server without a limit \
    was faster: the runs gave 0.78 to 0.92.";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("axum_overhead", "ns", TOWER_GOVERNOR, overhead::against_tower_governor).at_most(1.0).bottleneck(ADDED),
    Benchmark::new("axum_instructions", "instr", TOWER_GOVERNOR, |_| against_tower_governor("x_headers")).at_most(0.99).bottleneck(ADDED),
    Benchmark::new("axum_instructions_default", "instr", TOWER_GOVERNOR, |_| against_tower_governor("default")).at_most(1.38).bottleneck(HEADERS),
    Benchmark::new("axum_instructions_three_tiers", "instr", TOWER_GOVERNOR, |_| against_tower_governor("three_tiers")).at_most(2.08).bottleneck(TIERS),
    Benchmark::new("axum_rules", "ns", "the limit in code", overhead::rules),
    Benchmark::new("axum_redis_http", "req/s", "axum-limit", http::against_axum_limit).at_least(2.0),
    Benchmark::new("axum_redis_http_plain", "req/s", "no limit", http::against_plain),
    Benchmark::new("axum_redis_lease_http", "req/s", "no limit", http::leased_against_plain).at_least(0.85).bottleneck(LEASE),
];

pub const GROUP: Group = Group {
    title: "axum",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};
