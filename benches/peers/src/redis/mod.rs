//! The Redis store against what one writes first, and against the same program called by hand.

mod arguments;
mod by_hand;
mod ours;

use self::by_hand::ByHand;
pub use self::ours::Ours;
use crate::{
    bench::{Bench, Pair},
    figure::{Figure, Group},
    naive::Naive,
    server::RedisServer,
    tier::{Tier, hot_key, one_an_hour, one_tier, three_tiers},
};

const RATE: &str = "req/s";
const LATENCY: &str = "us";
const NAIVE: &str = "naive";

/// What bounds requests a second.
const LUA: &str = "Redis's one core does nothing else meanwhile (`redis_raw_batches_256` shows that we add next to nothing to what it \
    can do). By callgrind, a charge in a batch takes it 50,000 instructions: a quarter for SET with a time-to-live, and a tenth \
    each to parse the state, to write it, to decide, and to build the reply. The same without functions, for this one algorithm only, \
    would take 35,000. It was 66,000 with states as text. Tried: parsing with find and sub (slower), MSET and PEXPIREAT (no gain), the \
    reply by unpack (no gain); one MGET for all GETs, KEEPTTL for windows, packed arguments, states and replies, no tables for verdicts, \
    whole divisions without floor (all kept).";

/// What bounds a lone request.
const START: &str = "One round trip instead of two, but Redis runs the program from its top in every call: by callgrind, 126,000 \
    instructions for one charge (159,000 with states as text), against 85,000 for the naive script and 17,000 for one that does \
    nothing. The same without functions would take 80,000, so naive's time for the script is the least there is. Tried: functions \
    only for the algorithms that a call uses, few locals that functions use, a lone request without a task of its own (all kept), no \
    timer, the same connection for calls that follow each other (no gain).";

/// What bounds requests that are answered without Redis.
const LOCALLY: &str =
    "It is answered without Redis in about a microsecond, which is the task's, the future's and the look-up's.";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("redis_one_tier_64", RATE, NAIVE, |bench| throughput(bench, &one_tier(), 64)).at_least(3.0).bound(LUA),
    Figure::new("redis_one_tier_256", RATE, NAIVE, |bench| throughput(bench, &one_tier(), 256)).at_least(3.0).bound(LUA),
    Figure::new("redis_three_tiers_64", RATE, NAIVE, |bench| throughput(bench, &three_tiers(), 64)).at_least(5.0).bound(LUA),
    Figure::new("redis_three_tiers_256", RATE, NAIVE, |bench| throughput(bench, &three_tiers(), 256)).at_least(5.0).bound(LUA),
    Figure::new("redis_one_tier_alone", LATENCY, NAIVE, |bench| latency(bench, &one_tier())).at_most(0.6).bound(START),
    Figure::new("redis_three_tiers_alone", LATENCY, NAIVE, |bench| latency(bench, &three_tiers())).at_most(0.3).bound(START),
    Figure::new("redis_raw_batches_256", RATE, "by hand", raw_batches).at_least(0.85),
    Figure::new("redis_hot_key_256", RATE, NAIVE, |bench| throughput(bench, &hot_key(), 256)).at_least(5.0),
    Figure::new("redis_spent_key", RATE, NAIVE, spent_key).at_least(50.0).bound(LOCALLY),
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
