//! Leased keys: against requests that need no Redis at all, three naive layers, and the same limits without leases.

use std::time::Duration;

use tollgate::redis::{Connection, cmd};

use super::{Naive, Ours};
use crate::{
    runner::{Pair, Runner},
    server::RedisServer,
    tier::{Tier, hot_key, one_per_hour, one_tier, three_tiers},
};

const LEASE: Duration = Duration::from_millis(100);
const TASKS: usize = 256;

/// A leased key, against an exhausted one that the denial cache denies.
pub fn hot_key_throughput(runner: &Runner) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let leased = node(&servers[0], &leased(hot_key(), |_| true));
    let exhausted = node(&servers[1], &one_per_hour());
    runner.runtime.block_on(exhausted.clone().acquire(0));
    runner.alternate(
        |span| throughput(runner, span, &leased, true),
        |span| throughput(runner, span, &exhausted, false),
    )
}

/// The limit for all users and that for the endpoint are leased, that per user is not.
pub fn three_tiers_against_naive(runner: &Runner) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let mut tiers = three_tiers();
    tiers[2].users = 1;
    let naive = Naive::new(&servers[1].url(), &tiers);
    let ours = node(&servers[0], &leased(tiers, |tier| tier.users == 1));
    let acquire_naive = move |number| {
        let answer = naive.clone().acquire(number);
        async move { assert!(answer.await) }
    };
    runner.alternate(
        |span| throughput(runner, span, &ours, true),
        |span| runner.requests_per_second(TASKS, span, &acquire_naive),
    )
}

/// Calls to Redis per second by four nodes that share a key.
pub fn calls(runner: &Runner) -> Pair {
    let measure = |tiers: [Tier; 1]| {
        let server = RedisServer::start();
        let nodes: Vec<_> = (0..4).map(|_| node(&server, &tiers)).collect();
        let mut redis = server.client();
        move |span: Duration| {
            let _running = &server;
            let before = evalsha_calls(&mut redis);
            let nodes = nodes.clone();
            let acquire = move |number: usize| {
                let answer = nodes[number % 4].clone().acquire(0);
                async move {
                    assert!(answer.await);
                    // Four nodes at a rate that all of them can serve without leases too.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            runner.requests_per_second(64, span, &acquire);
            (evalsha_calls(&mut redis) - before) as f64 / span.as_secs_f64()
        }
    };
    runner.alternate(measure(leased(hot_key(), |_| true)), measure(hot_key()))
}

/// Random keys, of which none is hot. Both sides share a Redis, since two servers that do the same differ by up to a tenth.
pub fn cold_keys(runner: &Runner) -> Pair {
    let server = RedisServer::start();
    let ours = node(&server, &leased(one_tier(), |_| true));
    let unleased = node(&server, &one_tier());
    runner.alternate_quickly(
        |span| throughput(runner, span, &ours, true),
        |span| throughput(runner, span, &unleased, true),
    )
}

fn node(server: &RedisServer, tiers: &[Tier]) -> Ours {
    Ours::new(server.store().build().expect("valid settings"), tiers)
}

fn leased<const N: usize>(tiers: [Tier; N], which: impl Fn(&Tier) -> bool) -> [Tier; N] {
    tiers.map(|tier| match which(&tier) {
        true => tier.leased(LEASE),
        false => tier,
    })
}

fn throughput(runner: &Runner, span: Duration, node: &Ours, admitted: bool) -> f64 {
    let node = node.clone();
    let acquire = move |number| {
        let answer = node.clone().acquire(number);
        async move { assert_eq!(answer.await, admitted) }
    };
    runner.requests_per_second(TASKS, span, &acquire)
}

fn evalsha_calls(redis: &mut Connection) -> u64 {
    let stats: String = cmd("INFO")
        .arg("commandstats")
        .query(redis)
        .expect("the server is running");
    let calls = stats
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    calls.map_or(0, |calls| {
        let number = calls.split(',').next().and_then(|number| number.parse().ok());
        number.expect("a number of calls")
    })
}
