//! The memory of a key in Redis, by `MEMORY USAGE`.

mod scaling;

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, Operation, Quota, RedisStore, SlidingCounter, SlidingLog,
    Store, TokenBucket,
    redis::{Connection, cmd},
};

use crate::{
    benchmark::{Benchmark, Group},
    rng::Rng,
    runner::{Pair, Runner},
    server::RedisServer,
};

const B: &str = "B";
const TWO_KEYS: &str = "two-key bucket";
const QUOTA: Quota = Quota::per_minute(100);
const IDENTITY: &str = "user:12345";

/// The bottleneck of our keys.
const NAME: &str = "88 of these bytes are the key's name and its entry in Redis's hash table: the name contains algorithm, limit, window \
    and identity (48 characters here), so that no two limits share a key. The names of the two-key bucket contain only the identity.";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("redis_bytes_token_bucket", B, TWO_KEYS, |runner| charged(runner, TokenBucket::new)).at_most(0.5).bottleneck(NAME),
    Benchmark::new("redis_bytes_leaky_bucket", B, TWO_KEYS, |runner| charged(runner, LeakyBucket::new)).at_most(0.5).bottleneck(NAME),
    Benchmark::new("redis_bytes_fixed_window", B, TWO_KEYS, |runner| charged(runner, FixedWindow::new)).at_most(0.5).bottleneck(NAME),
    Benchmark::new("redis_bytes_sliding_counter", B, TWO_KEYS, |runner| charged(runner, SlidingCounter::new)).at_most(0.5).bottleneck(NAME),
    Benchmark::new("redis_bytes_sliding_log", B, "sorted-set log", full_log).at_most(0.25),
];

pub const GROUP: Group = Group {
    title: "Bytes in Redis",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: scaling::SCALINGS,
};

fn charged<A: Algorithm>(runner: &Runner, new: fn(Quota) -> A) -> Pair {
    let server = RedisServer::start();
    charge(runner, &server, new(QUOTA), 1);
    Pair {
        ours: memory_usage(&mut server.client()),
        other: two_keys(),
    }
}

fn full_log(runner: &Runner) -> Pair {
    let server = RedisServer::start();
    // One at a time: a charge of 100 would write 100 equal times.
    charge(runner, &server, SlidingLog::new(QUOTA), QUOTA.limit());
    Pair {
        ours: memory_usage(&mut server.client()),
        other: sorted_set(QUOTA.limit()),
    }
}

fn charge(runner: &Runner, server: &RedisServer, algorithm: impl Algorithm, times: u32) {
    let store = server.store().build().expect("valid settings");
    let limit = Limit::new("user", algorithm);
    for _ in 0..times {
        charge_once(runner, &store, &limit, 1);
    }
}

fn charge_once(runner: &Runner, store: &RedisStore, limit: &Limit, cost: u32) {
    let charge = Charge::new(limit.clone(), Key::new(IDENTITY)).with_cost(cost);
    let decision = runner.runtime.block_on(store.apply(Operation::Acquire(charge.into())));
    assert!(decision.expect("Redis is up").admits());
}

fn two_keys() -> f64 {
    let server = RedisServer::start();
    let mut redis = server.client();
    for (name, value) in [("tokens", 99), ("timestamp", 1_700_000_000)] {
        let key = format!("request_rate_limiter.{{{IDENTITY}}}.{name}");
        let mut set = cmd("SETEX");
        set.arg(key).arg(120).arg(value).exec(&mut redis).expect("Redis is up");
    }
    memory_usage(&mut redis)
}

fn sorted_set(entries: u32) -> f64 {
    let server = RedisServer::start();
    let (mut redis, mut rng) = (server.client(), Rng::new(0));
    for entry in 0..u64::from(entries) {
        let time = 1_700_000_000_000_000 + entry * 54_321;
        let member = uuid(&mut rng);
        let mut add = cmd("ZADD");
        add.arg(format!("rate_limit:{IDENTITY}"))
            .arg(time)
            .arg(member)
            .exec(&mut redis)
            .expect("Redis is up");
    }
    memory_usage(&mut redis)
}

/// A UUID, which most logs in sorted sets use as their members.
fn uuid(rng: &mut Rng) -> String {
    let digits = format!("{:016x}{:016x}", rng.next(), rng.next());
    let lengths = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    lengths.map(|(from, to)| &digits[from..to]).join("-")
}

/// The memory of all keys, with all of their entries.
fn memory_usage(redis: &mut Connection) -> f64 {
    let keys: Vec<String> = cmd("KEYS").arg("*").query(redis).expect("Redis is up");
    assert!(!keys.is_empty(), "the keys have expired");
    let bytes = keys.iter().map(|key| {
        let mut usage = cmd("MEMORY");
        usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
        usage.query::<f64>(redis).expect("Redis is up")
    });
    bytes.sum()
}
