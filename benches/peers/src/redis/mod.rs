//! The Redis store against what one writes first, and against the same program called by hand.

mod arguments;
mod by_hand;
mod ours;
mod tier;

use self::{
    by_hand::ByHand,
    tier::{hot_key, one_an_hour, one_tier, three_tiers},
};
pub use self::{
    ours::Ours,
    tier::{Tier, never_refuses, tiers},
};
use crate::{
    bench::Bench,
    figure::{Figure, Group, Pair},
    naive::Naive,
    server::RedisServer,
};

const RATE: &str = "req/s";
const LATENCY: &str = "us";
const NAIVE: &str = "naive";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("redis_one_tier_64", RATE, NAIVE, |bench| throughput(bench, &one_tier(), 64)).at_least(3.0),
    Figure::new("redis_one_tier_256", RATE, NAIVE, |bench| throughput(bench, &one_tier(), 256)).at_least(3.0),
    Figure::new("redis_three_tiers_64", RATE, NAIVE, |bench| throughput(bench, &three_tiers(), 64)).at_least(5.0),
    Figure::new("redis_three_tiers_256", RATE, NAIVE, |bench| throughput(bench, &three_tiers(), 256)).at_least(5.0),
    Figure::new("redis_one_tier_alone", LATENCY, NAIVE, |bench| latency(bench, &one_tier())).at_most(0.6),
    Figure::new("redis_three_tiers_alone", LATENCY, NAIVE, |bench| latency(bench, &three_tiers())).at_most(0.3),
    Figure::new("redis_raw_batches_256", RATE, "by hand", raw_batches).at_least(0.85),
    Figure::new("redis_hot_key_256", RATE, NAIVE, |bench| throughput(bench, &hot_key(), 256)).at_least(5.0),
    Figure::new("redis_spent_key", RATE, NAIVE, spent_key).at_least(50.0),
];

pub const GROUP: Group = Group {
    title: "The Redis store",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};

/// Requests a second, all of them admitted.
fn throughput(bench: &Bench, tiers: &[Tier], tasks: usize) -> Pair {
    against_naive(bench, tiers, tasks, true)
}

/// Microseconds a request, one at a time.
fn latency(bench: &Bench, tiers: &[Tier]) -> Pair {
    let Pair { ours, other } = against_naive(bench, tiers, 1, true);
    Pair {
        ours: 1e6 / ours,
        other: 1e6 / other,
    }
}

/// Requests a second, none of them admitted.
fn spent_key(bench: &Bench) -> Pair {
    against_naive(bench, &one_an_hour(), 64, false)
}

/// Each side has a Redis of its own, or one would slow down the other with what it has stored. The tiers are charged
/// once beforehand, which spends those that can be spent.
fn against_naive(bench: &Bench, tiers: &[Tier], tasks: usize, admitted: bool) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let ours = Ours::new(servers[0].store().build().expect("the settings are valid"), tiers);
    let naive = Naive::new(&servers[1], tiers);
    bench.runtime.block_on(async {
        ours.clone().acquire(0).await;
        naive.clone().acquire(0).await;
    });
    let ask_ours = move |pick| {
        let answer = ours.clone().acquire(pick);
        async move { assert_eq!(answer.await, admitted) }
    };
    let ask_naive = move |pick| {
        let answer = naive.clone().acquire(pick);
        async move { assert_eq!(answer.await, admitted) }
    };
    bench.in_turn(
        |span| bench.requests_a_second(tasks, span, &ask_ours),
        |span| bench.requests_a_second(tasks, span, &ask_naive),
    )
}

fn raw_batches(bench: &Bench) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let tiers = one_tier();
    let ours = Ours::new(servers[0].store().build().expect("the settings are valid"), &tiers);
    let by_hand = bench.runtime.block_on(ByHand::new(&servers[1], &tiers[0]));
    let ask_ours = move |pick| {
        let answer = ours.clone().acquire(pick);
        async move { assert!(answer.await) }
    };
    bench.in_turn(
        |span| bench.requests_a_second(256, span, &ask_ours),
        |span| by_hand.requests_a_second(&bench.runtime, span),
    )
}
