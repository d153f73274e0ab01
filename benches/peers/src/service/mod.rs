//! The rate limit service: calls of Envoy's API with two descriptors, on Redis.

mod client;
mod messages;
mod naive_server;

use self::{client::Client, messages::RateLimitRequest, naive_server::NaiveServer};
use crate::{
    benchmark::{Benchmark, Group},
    naive::Naive,
    runner::{Pair, Runner},
    server::RedisServer,
    subprocess::{Subprocess, sibling_program},
    tier,
};

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/service/rules.toml");
const RATE: &str = "req/s";
const NAIVE: &str = "naive";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("service_grpc_alone", RATE, NAIVE, |runner| throughput(runner, 1)),
    Benchmark::new("service_grpc_64", RATE, NAIVE, |runner| throughput(runner, 64)),
];

pub const GROUP: Group = Group {
    title: "The rate limit service",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};

fn throughput(runner: &Runner, tasks: usize) -> Pair {
    let redis = [RedisServer::start(), RedisServer::start()];
    let (_service, ours) = start_service(&redis[0].url());
    let tiers = tier::tiers(2);
    let naive = NaiveServer::start(Naive::new(&redis[1].url(), &tiers));
    let users = tiers[0].users;
    let [ours, other] = [ours, naive.url.clone()].map(|url| runner.runtime.block_on(async { Client::new(&url) }));
    let call = |client: Client| {
        move |number: usize| {
            client
                .clone()
                .call(RateLimitRequest::new(&(number % users).to_string()))
        }
    };
    let (ours, other) = (call(ours), call(other));
    runner.alternate(
        |span| runner.requests_per_second(tasks, span, &ours),
        |span| runner.requests_per_second(tasks, span, &other),
    )
}

/// Starts `tollgate service`, and parses its URL from its output.
fn start_service(redis: &str) -> (Subprocess, String) {
    let arguments = [
        ["service", "--grpc"],
        ["127.0.0.1:0", "--rules"],
        [RULES, "--store"],
        [redis, "--on-store-failure"],
        ["closed", "--store-timeout"],
    ];
    let arguments = [arguments.as_flattened(), &["30s"]].concat();
    let started = Subprocess::start(sibling_program("tollgate"), &arguments, "grpc");
    let (process, line) = started.expect("tollgate is built");
    let address = line.split([' ', ',']).find(|word| word.starts_with("127.0.0.1:"));
    (
        process,
        format!("http://{}", address.unwrap_or_else(|| panic!("{line}"))),
    )
}
