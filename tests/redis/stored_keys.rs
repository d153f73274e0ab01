//! Keys and expiry times that the store writes to Redis and Valkey.

use std::time::Duration;

use tollgate::{
    Algorithm, AnyAlgorithm, Charge, Charges, Decision, FixedWindow, Key, LeakyBucket, Limit, ManualClock, Operation,
    Quota, SlidingCounter, SlidingLog, Store, StoreError, TokenBucket,
};

use support::{
    algorithms::assert_has_each_algorithm,
    redis::{RedisServer, dump_all, keys, query, time},
};

/// Every algorithm with `limit` in `window`, and its part of the key.
fn algorithms(limit: u32, window: Duration) -> [(&'static str, AnyAlgorithm); 7] {
    let quota = Quota::new(limit, window);
    [
        ("token_bucket:name:W", TokenBucket::new(quota).to_any()),
        ("leaky_bucket:name:W", LeakyBucket::new(quota).to_any()),
        ("fixed_window:name:W", FixedWindow::new(quota).to_any()),
        (
            "fixed_window:name:W:anchored",
            FixedWindow::new(quota).anchored().to_any(),
        ),
        ("sliding_log:name:W", SlidingLog::new(quota).to_any()),
        ("sliding_counter:name:W:1", SlidingCounter::new(quota).to_any()),
        (
            "sliding_counter:name:W:6",
            SlidingCounter::new(quota).sub_windows(6).to_any(),
        ),
    ]
}

/// A window that does not end during a test on Redis's clock.
const TEN_YEARS: Duration = Duration::from_secs(315_360_000);

fn charge(algorithm: AnyAlgorithm, cost: u32) -> Charge {
    Charge::new(Limit::new("name", algorithm), Key::new("user:12345")).with_cost(cost)
}

fn acquire(algorithm: AnyAlgorithm, cost: u32) -> Operation {
    Operation::Acquire(charge(algorithm, cost).into())
}

#[tokio::test]
async fn keys_have_the_documented_format() {
    assert_has_each_algorithm(algorithms(10, TEN_YEARS).map(|(_, algorithm)| algorithm.name()));
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let store = server.store().build().unwrap();
        for (shape, algorithm) in algorithms(10, TEN_YEARS) {
            let shape = shape.replace('W', "315360000000000");
            for identity in ["user:12345", "a b:ü{x}\n", ""] {
                let charge = Charge::new(Limit::new("name", algorithm), Key::verbatim(identity));
                store.apply(Operation::Acquire(charge.into())).await.unwrap();
                assert_eq!(keys(redis), [format!("rate_limit:{shape}:{identity}")]);
                query::<()>(redis, "FLUSHALL");
            }
        }
    }
}

#[tokio::test]
async fn stores_share_keys_if_and_only_if_their_prefixes_are_equal() {
    for server in RedisServer::each() {
        let store = |prefix| server.store().prefix(prefix).build().unwrap();
        for (_, algorithm) in algorithms(1, TEN_YEARS) {
            let mut admitted = Vec::new();
            for store in [store("one"), store("one:2"), store("one"), store("one:2")] {
                admitted.push(store.apply(acquire(algorithm, 1)).await.unwrap().admits());
            }
            assert_eq!(admitted, [true, true, false, false], "{algorithm:?}");
        }
    }
}

#[tokio::test]
async fn on_the_clock_of_redis_a_key_expires_when_its_limit_has_reset() {
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let store = server.store().build().unwrap();
        for (_, algorithm) in algorithms(7, TEN_YEARS) {
            for cost in [1, 2, 1, 3] {
                let before = time(redis);
                let decision = store.apply(acquire(algorithm, cost)).await.unwrap();
                assert!(
                    decision.admits() && (before..=time(redis)).contains(&decision.now()),
                    "{algorithm:?}"
                );
                let reset_after = decision.tiers()[0].verdict().reset_after().as_micros() as u64;
                let key = keys(redis).pop().unwrap();
                let expires_at: u64 = query(redis, &format!("PEXPIRETIME {key}"));
                assert_eq!(
                    expires_at,
                    (decision.now() + reset_after).div_ceil(1000),
                    "{algorithm:?}"
                );
            }
            query::<()>(redis, "FLUSHALL");
        }
    }
}

#[tokio::test]
async fn on_a_custom_clock_a_key_lives_for_at_least_an_hour() {
    const HOUR: u64 = 3_600_000;
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let store = server.store().clock(ManualClock::at(5)).build().unwrap();
        for window in [Duration::from_micros(600), Duration::from_secs(36_000)] {
            for (_, algorithm) in algorithms(2, window) {
                let before = time(redis) / 1000;
                let decision = store.apply(acquire(algorithm, 2)).await.unwrap();
                let after = time(redis) / 1000;
                assert_eq!(decision.now(), 5);
                let reset_after = decision.tiers()[0].verdict().reset_after().as_micros() as u64;
                let ttl = reset_after.div_ceil(1000).max(HOUR);
                let key = keys(redis).pop().unwrap();
                let expires_at: u64 = query(redis, &format!("PEXPIRETIME {key}"));
                assert!((before + ttl..=after + ttl).contains(&expires_at), "{algorithm:?}");
                query::<()>(redis, "FLUSHALL");
            }
        }
    }
}

#[tokio::test]
async fn a_denial_changes_nothing() {
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let untouched = SlidingLog::new(Quota::new(5, TEN_YEARS / 2)).to_any();
        for builder in [server.store(), server.store().clock(ManualClock::at(5))] {
            let store = builder.build().unwrap();
            for (_, algorithm) in algorithms(10, TEN_YEARS) {
                assert!(store.apply(acquire(algorithm, 8)).await.unwrap().admits());
                let before = dump_all(redis);
                let mut group = Charges::from(charge(untouched, 1));
                group.push(charge(algorithm, 3)).unwrap();
                let mut peek = Charges::from(charge(untouched, 0));
                peek.push(charge(algorithm, 0)).unwrap();
                let outcome = |decision: Decision| decision.outcome().name();
                for (charges, expected) in [
                    (charge(algorithm, 3).into(), "limited"),
                    (charge(algorithm, 11).into(), "impossible"),
                    (group, "limited"),
                    (peek, "admitted"),
                ] {
                    let decision = store.apply(Operation::Acquire(charges)).await.unwrap();
                    assert_eq!(outcome(decision), expected, "{algorithm:?}");
                    assert_eq!(dump_all(redis), before, "{algorithm:?}");
                }
                query::<()>(redis, "FLUSHALL");
            }
        }
    }
}

#[tokio::test]
async fn out_of_memory_is_an_error() {
    for server in RedisServer::each_with(&["--maxmemory-policy", "noeviction"]) {
        let redis = &mut server.client();
        let store = server.store().build().unwrap();
        store.check().await.unwrap();
        query::<()>(redis, &format!("SET filler {}", "x".repeat(4_000_000)));
        query::<()>(redis, "CONFIG SET maxmemory 1mb");
        let before = dump_all(redis);
        for (_, algorithm) in algorithms(10, TEN_YEARS) {
            let error = store.apply(acquire(algorithm, 1)).await.unwrap_err();
            assert!(matches!(error, StoreError::Server { .. }), "{error:?}");
            assert!(
                error.to_string().ends_with("; Redis is out of memory: raise maxmemory"),
                "{error}"
            );
            assert_eq!(dump_all(redis), before, "{algorithm:?}");
        }
        query::<()>(redis, "CONFIG SET maxmemory 0");
        for (_, algorithm) in algorithms(10, TEN_YEARS) {
            let decision = store.apply(acquire(algorithm, 1)).await.unwrap();
            assert_eq!(decision.tiers()[0].verdict().remaining(), 9, "{algorithm:?}");
        }
    }
}

#[tokio::test]
async fn no_two_limits_share_a_key() {
    let quota = Quota::per_day(100);
    let (aligned, lease) = (FixedWindow::new(quota), Duration::from_millis(1));
    let bucket = Limit::new("name", TokenBucket::new(quota));
    let log = Limit::new("name", SlidingLog::new(quota));
    let limits = [
        Limit::new("name", aligned),
        Limit::new("name", aligned.anchored()),
        bucket.lease(lease),
        bucket,
        log.lease(lease),
        log.lease(2 * lease),
        log,
    ];
    let identities = [
        "k",
        "anchored:k",
        "aligned:k",
        "aligned:anchored:k",
        "anchored:aligned:k",
        "anchored",
        "aligned:",
        "lease1000:k",
        "lease2000:k",
        "lease1000",
        "unleased:k",
        "unleased:lease1000:k",
        "",
    ];
    for server in RedisServer::each() {
        let store = server.store().build().unwrap();
        let mut charges = Charges::new();
        for (limit, identity) in limits
            .iter()
            .flat_map(|limit| identities.map(|identity| (limit, identity)))
        {
            charges.push(Charge::new(limit.clone(), Key::new(identity))).unwrap();
        }
        assert!(store.apply(Operation::Acquire(charges)).await.unwrap().admits());
        assert_eq!(keys(&mut server.client()).len(), limits.len() * identities.len());
    }
}

/// The Lua script parses arguments and reads keys differently when there are many.
#[tokio::test]
async fn a_group_of_any_size_is_charged_all_or_none() {
    for server in RedisServer::each() {
        let store = server.store().build().unwrap();
        for size in [999, 1000, 1001, 5000] {
            let limit = Limit::new(&format!("of-{size}"), FixedWindow::new(Quota::new(2, TEN_YEARS)));
            let group = |cost_of_last: u32| {
                let mut charges = Charges::new();
                for user in 1..=size {
                    let cost = if user == size { cost_of_last } else { 1 };
                    let charge = Charge::new(limit.clone(), Key::new(format!("user:{user}")));
                    charges.push(charge.with_cost(cost)).unwrap();
                }
                Operation::Acquire(charges)
            };
            let mut remaining = Vec::new();
            for cost_of_last in [1, 2, 1, 1] {
                let decision = store.apply(group(cost_of_last)).await.unwrap();
                let units = decision.tiers().iter().map(|tier| tier.verdict().remaining());
                remaining.push((decision.admits(), units.collect::<Vec<_>>()));
            }
            let all = |units: u64| vec![units; size];
            let expected = [(true, all(1)), (false, all(1)), (true, all(0)), (false, all(0))];
            assert_eq!(remaining, expected, "{size}");
        }
    }
}
