//! The Redis store against a naive implementation, and against the same script without our client.

mod concurrency;
mod encode;
mod leases;
mod ours;
mod raw_batches;

pub use self::ours::Ours;
use self::raw_batches::RawBatches;
use crate::{
    benchmark::{Benchmark, Group},
    naive::Naive,
    runner::{Pair, Runner},
    server::RedisServer,
    tier::{Tier, hot_key, one_per_hour, one_tier, three_tiers},
};

const RATE: &str = "req/s";
const LATENCY: &str = "us";
const NAIVE: &str = "naive";

/// The bottleneck of throughput.
const SCRIPT: &str = "Redis's single core is saturated (`redis_raw_batches_256` shows that the client adds little). By callgrind, a charge \
    in a batch takes Redis 33,000 to 43,000 instructions: a third for SET with a time-to-live, and the rest to parse the state, to \
    check it, to decide, and to build the reply. It was 50,000 with functions, and 66,000 with states as text. Tried: parsing with \
    find and sub (slower), MSET and PEXPIREAT (6% fewer instructions, no time), expiry times that Redis formats (slower), the \
    reply by unpack (no gain); one MGET for all GETs, KEEPTTL for windows, packed arguments, states and replies, no tables for \
    verdicts, integer divisions without floor, one loop without functions, one protected call for all values (all kept).";

/// The bottleneck of a single request.
const STARTUP: &str = "One round trip instead of two, and most of a round trip is waking up Redis and the client. By callgrind, the call \
    takes Redis 88,700 instructions for one charge (123,400 with functions, 159,000 with states as text), against \
    85,000 for the naive script and 17,000 for an empty one; by INFO commandstats, 12 us instead of 20 us, of a round \
    trip of 40 us and more, on which the ratio depends: it was 0.66 to 0.93 in seven runs on two machines. The same for \
    this one algorithm only, and without checking what is stored, would take a fifth less, which is 3 us; the choice of \
    the algorithm takes less than 5,000, and TIME, GET and SET 36,000. Tried: functions only for the algorithms that a \
    call uses, few upvalues, one loop without functions, no task for a single request (all kept), no timer, the same \
    connection for consecutive calls (no gain).";

/// The bottleneck of batches, compared with the same script.
const BATCHES: &str = "Both sides share two cores with Redis, so the client's own work counts: a task and a future per request, encoding and \
    decoding. Earlier runs gave 0.84 to 1.17.";

/// The bottleneck of requests that are denied without Redis.
const DENIAL_CACHE: &str = "The denial cache denies these requests without Redis in about a microsecond: the cost of the task, the future and the lookup.";

/// The bottleneck of slots, which are acquired and released.
const TWO_CHARGES: &str = "A request is two charges, and each of them reads and writes a key. By callgrind, a charge in a batch takes \
    Redis 42,000 instructions, and 43,000 for a token bucket. It was 63,000 with an array in each value, and a rule for each release. \
    What `redis_one_tier_64` does per second, halved, would be 2.3 times the naive rate. Not done: keys that expire at multiples \
    of ten seconds, so that most writes keep the time-to-live (an eighth less, but keys outlive their state); to delete what holds \
    nothing any more, after which a late call of an earlier epoch would count. The naive counter is a number, and knows no \
    nodes: what a node held when it died stays held as long as others use the key.";

/// The bottleneck of keys that are not leased.
const COLD_KEYS: &str = "Thirteen runs gave 0.87 to 1.05, with a median of 0.97; the same row without leases on both sides gave 0.95 to 1.04. By \
    INFO commandstats, a charge takes Redis the same time, within 4%. Leased keys have longer names, which takes 12 bytes per charge and key.";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("redis_one_tier_64", RATE, NAIVE, |runner| throughput(runner, &one_tier(), 64)).at_least(3.0).bottleneck(SCRIPT),
    Benchmark::new("redis_one_tier_256", RATE, NAIVE, |runner| throughput(runner, &one_tier(), 256)).at_least(3.0).bottleneck(SCRIPT),
    Benchmark::new("redis_three_tiers_64", RATE, NAIVE, |runner| throughput(runner, &three_tiers(), 64)).at_least(5.5).bottleneck(SCRIPT),
    Benchmark::new("redis_three_tiers_256", RATE, NAIVE, |runner| throughput(runner, &three_tiers(), 256)).at_least(5.5).bottleneck(SCRIPT),
    Benchmark::new("redis_one_tier_alone", LATENCY, NAIVE, |runner| latency(runner, &one_tier())).at_most(0.65).bottleneck(STARTUP),
    Benchmark::new("redis_three_tiers_alone", LATENCY, NAIVE, |runner| latency(runner, &three_tiers())).at_most(0.3).bottleneck(STARTUP),
    Benchmark::new("redis_raw_batches_256", RATE, "prepared batches", raw_batches).at_least(0.85).bottleneck(BATCHES),
    Benchmark::new("redis_hot_key_256", RATE, NAIVE, |runner| throughput(runner, &hot_key(), 256)).at_least(5.0),
    Benchmark::new("redis_exhausted_key", RATE, NAIVE, exhausted_key).at_least(50.0).bottleneck(DENIAL_CACHE),
    Benchmark::new("redis_concurrency_64", RATE, NAIVE, |runner| concurrency::throughput(runner, &one_tier(), 64)).at_least(3.0).bottleneck(TWO_CHARGES),
    Benchmark::new("redis_concurrency_hot_key_64", RATE, NAIVE, |runner| concurrency::throughput(runner, &hot_key(), 64)),
    Benchmark::new("redis_lease_hot_key_256", RATE, "the denial cache", leases::hot_key_throughput).at_least(0.8),
    Benchmark::new("redis_lease_three_tiers_256", RATE, NAIVE, leases::three_tiers_against_naive).at_least(7.0),
    Benchmark::new("redis_lease_calls", "call/s", "no leases", leases::calls).at_most(0.05),
    Benchmark::new("redis_lease_cold_key", RATE, "no leases", leases::cold_keys).at_least(0.97).bottleneck(COLD_KEYS),
];

pub const GROUP: Group = Group {
    title: "The Redis store",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};

/// Requests per second, all of them admitted.
fn throughput(runner: &Runner, tiers: &[Tier], tasks: usize) -> Pair {
    against_naive(runner, tiers, tasks, true)
}

/// Microseconds per request, one at a time.
fn latency(runner: &Runner, tiers: &[Tier]) -> Pair {
    let Pair { ours, other } = against_naive(runner, tiers, 1, true);
    Pair {
        ours: 1e6 / ours,
        other: 1e6 / other,
    }
}

/// Requests per second, none of them admitted.
fn exhausted_key(runner: &Runner) -> Pair {
    against_naive(runner, &one_per_hour(), 64, false)
}

/// Each side has its own Redis, since the keys of one would slow down the other. The tiers are charged once beforehand, which
/// exhausts a limit of one.
fn against_naive(runner: &Runner, tiers: &[Tier], tasks: usize, admitted: bool) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let ours = Ours::new(servers[0].store().build().expect("valid settings"), tiers);
    let naive = Naive::new(&servers[1].url(), tiers);
    runner.runtime.block_on(async {
        ours.clone().acquire(0).await;
        naive.clone().acquire(0).await;
    });
    let acquire_ours = move |number| {
        let answer = ours.clone().acquire(number);
        async move { assert_eq!(answer.await, admitted) }
    };
    let acquire_naive = move |number| {
        let answer = naive.clone().acquire(number);
        async move { assert_eq!(answer.await, admitted) }
    };
    runner.alternate(
        |span| runner.requests_per_second(tasks, span, &acquire_ours),
        |span| runner.requests_per_second(tasks, span, &acquire_naive),
    )
}

fn raw_batches(runner: &Runner) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let tiers = one_tier();
    let ours = Ours::new(servers[0].store().build().expect("valid settings"), &tiers);
    let raw_batches = runner.runtime.block_on(RawBatches::new(&servers[1], &tiers[0]));
    let acquire_ours = move |number| {
        let answer = ours.clone().acquire(number);
        async move { assert!(answer.await) }
    };
    runner.alternate(
        |span| runner.requests_per_second(256, span, &acquire_ours),
        |span| raw_batches.requests_per_second(&runner.runtime, span),
    )
}
