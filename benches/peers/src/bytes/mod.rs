//! What a key takes in Redis, by Redis's own account.

mod growing;

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, Operation, Quota, RedisStore, SlidingCounter, SlidingLog,
    Store, TokenBucket,
    redis::{Connection, cmd},
};

use crate::{
    bench::{Bench, Pair},
    figure::{Figure, Group},
    picks::Picks,
    server::RedisServer,
};

const B: &str = "B";
const TWO_KEYS: &str = "two-key bucket";
const QUOTA: Quota = Quota::per_minute(100);
const IDENTITY: &str = "user:12345";

/// What bounds a key of ours.
const NAME: &str = "88 bytes of it are the key's name and its place in Redis's table: the name says algorithm, limit, window and \
    identity (48 characters here), so that no two limits meet. The two keys' names say only whom they count.";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("redis_bytes_token_bucket", B, TWO_KEYS, |bench| charged(bench, TokenBucket::new)).at_most(0.5).bound(NAME),
    Figure::new("redis_bytes_leaky_bucket", B, TWO_KEYS, |bench| charged(bench, LeakyBucket::new)).at_most(0.5).bound(NAME),
    Figure::new("redis_bytes_fixed_window", B, TWO_KEYS, |bench| charged(bench, FixedWindow::new)).at_most(0.5).bound(NAME),
    Figure::new("redis_bytes_sliding_counter", B, TWO_KEYS, |bench| charged(bench, SlidingCounter::new)).at_most(0.5).bound(NAME),
    Figure::new("redis_bytes_sliding_log", B, "sorted-set log", full_log).at_most(0.25),
];

pub const GROUP: Group = Group {
    title: "Bytes in Redis",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: growing::GROWTHS,
};

fn charged<A: Algorithm>(bench: &Bench, new: fn(Quota) -> A) -> Pair {
    let server = RedisServer::start();
    charge(bench, &server, new(QUOTA), 1);
    Pair {
        ours: all_keys(&mut server.client()),
        other: two_keys(),
    }
}

fn full_log(bench: &Bench) -> Pair {
    let server = RedisServer::start();
    // One at a time: a charge of 100 would be 100 times the same time.
    charge(bench, &server, SlidingLog::new(QUOTA), QUOTA.limit());
    Pair {
        ours: all_keys(&mut server.client()),
        other: sorted_set(QUOTA.limit()),
    }
}

fn charge(bench: &Bench, server: &RedisServer, algorithm: impl Algorithm, times: u32) {
    let store = server.store().build().expect("the settings are valid");
    let limit = Limit::new("user", algorithm);
    for _ in 0..times {
        take(bench, &store, &limit, 1);
    }
}

fn take(bench: &Bench, store: &RedisStore, limit: &Limit, cost: u32) {
    let charge = Charge::new(limit.clone(), Key::new(IDENTITY)).cost(cost);
    let decision = bench.runtime.block_on(store.apply(Operation::Acquire(charge.into())));
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
    all_keys(&mut redis)
}

fn sorted_set(entries: u32) -> f64 {
    let server = RedisServer::start();
    let (mut redis, mut picks) = (server.client(), Picks::new(0));
    for entry in 0..u64::from(entries) {
        let time = 1_700_000_000_000_000 + entry * 54_321;
        let member = unique(&mut picks);
        let mut add = cmd("ZADD");
        add.arg(format!("rate_limit:{IDENTITY}"))
            .arg(time)
            .arg(member)
            .exec(&mut redis)
            .expect("Redis is up");
    }
    all_keys(&mut redis)
}

/// A UUID, which is what most logs in sorted sets make their members unique by.
fn unique(picks: &mut Picks) -> String {
    let digits = format!("{:016x}{:016x}", picks.next(), picks.next());
    let lengths = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    lengths.map(|(from, to)| &digits[from..to]).join("-")
}

/// What all there is takes, to the last entry.
fn all_keys(redis: &mut Connection) -> f64 {
    let keys: Vec<String> = cmd("KEYS").arg("*").query(redis).expect("Redis is up");
    assert!(!keys.is_empty(), "what is to be measured has lapsed");
    let bytes = keys.iter().map(|key| {
        let mut usage = cmd("MEMORY");
        usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
        usage.query::<f64>(redis).expect("Redis is up")
    });
    bytes.sum()
}
