//! What the Redis store leaves in Redis and in Valkey: keys, their times-to-live, and nothing that was not charged.

use std::time::Duration;

use tollgate::{
    Algorithm, Charge, Charges, Decision, FixedWindow, Key, LeakyBucket, Limit, ManualClock, Operation, Quota, Rule,
    SlidingCounter, SlidingLog, Store, StoreError, TokenBucket,
};

use support::redis::{RedisServer, ask, everything, keys, time};

/// Every algorithm at `limit` in `window`, and how keys spell it.
fn rules(limit: u32, window: Duration) -> [(&'static str, Rule); 7] {
    let quota = Quota::new(limit, window);
    [
        ("token_bucket:name:W", TokenBucket::new(quota).rule()),
        ("leaky_bucket:name:W", LeakyBucket::new(quota).rule()),
        ("fixed_window:name:W", FixedWindow::new(quota).rule()),
        (
            "fixed_window:name:W:anchored",
            FixedWindow::new(quota).anchored().rule(),
        ),
        ("sliding_log:name:W", SlidingLog::new(quota).rule()),
        ("sliding_counter:name:W:1", SlidingCounter::new(quota).rule()),
        ("sliding_counter:name:W:6", SlidingCounter::new(quota).buckets(6).rule()),
    ]
}

/// So long that no window ends while a test on Redis's own clock runs.
const TEN_YEARS: Duration = Duration::from_secs(315_360_000);

fn charge(rule: Rule, cost: u32) -> Charge {
    Charge::new(Limit::new("name", rule), Key::new("user:12345")).cost(cost)
}

fn acquire(rule: Rule, cost: u32) -> Operation {
    Operation::Acquire(charge(rule, cost).into())
}

#[tokio::test]
async fn keys_are_spelled_as_documented() {
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let store = server.store().build().unwrap();
        for (shape, rule) in rules(10, TEN_YEARS) {
            let shape = shape.replace('W', "315360000000000");
            for identity in ["user:12345", "a b:ü{x}\n", ""] {
                let charge = Charge::new(Limit::new("name", rule), Key::verbatim(identity));
                store.apply(Operation::Acquire(charge.into())).await.unwrap();
                assert_eq!(keys(redis), [format!("rate_limit:{shape}:{identity}")]);
                ask::<()>(redis, "FLUSHALL");
            }
        }
    }
}

#[tokio::test]
async fn stores_of_one_prefix_share_and_of_two_know_nothing_of_each_other() {
    for server in RedisServer::each() {
        let store = |prefix| server.store().prefix(prefix).build().unwrap();
        for (_, rule) in rules(1, TEN_YEARS) {
            let mut admitted = Vec::new();
            for store in [store("one"), store("one:2"), store("one"), store("one:2")] {
                admitted.push(store.apply(acquire(rule, 1)).await.unwrap().admits());
            }
            assert_eq!(admitted, [true, true, false, false], "{rule:?}");
        }
    }
}

#[tokio::test]
async fn on_the_clock_of_redis_a_key_lives_until_it_is_as_good_as_new() {
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let store = server.store().build().unwrap();
        for (_, rule) in rules(7, TEN_YEARS) {
            for cost in [1, 2, 1, 3] {
                let before = time(redis);
                let decision = store.apply(acquire(rule, cost)).await.unwrap();
                assert!(
                    decision.admits() && (before..=time(redis)).contains(&decision.now()),
                    "{rule:?}"
                );
                let reset_after = decision.tiers()[0].verdict().reset_after().as_micros() as u64;
                let key = keys(redis).pop().unwrap();
                let expires_at: u64 = ask(redis, &format!("PEXPIRETIME {key}"));
                assert_eq!(expires_at, (decision.now() + reset_after).div_ceil(1000), "{rule:?}");
            }
            ask::<()>(redis, "FLUSHALL");
        }
    }
}

#[tokio::test]
async fn at_a_named_time_a_key_lives_for_an_hour_at_least() {
    const HOUR: u64 = 3_600_000;
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let store = server.store().clock(ManualClock::at(5)).build().unwrap();
        for window in [Duration::from_micros(600), Duration::from_secs(36_000)] {
            for (_, rule) in rules(2, window) {
                let before = time(redis) / 1000;
                let decision = store.apply(acquire(rule, 2)).await.unwrap();
                let after = time(redis) / 1000;
                assert_eq!(decision.now(), 5);
                let reset_after = decision.tiers()[0].verdict().reset_after().as_micros() as u64;
                let lives = reset_after.div_ceil(1000).max(HOUR);
                let key = keys(redis).pop().unwrap();
                let expires_at: u64 = ask(redis, &format!("PEXPIRETIME {key}"));
                assert!((before + lives..=after + lives).contains(&expires_at), "{rule:?}");
                ask::<()>(redis, "FLUSHALL");
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_changes_nothing() {
    for server in RedisServer::each() {
        let redis = &mut server.client();
        let untouched = SlidingLog::new(Quota::new(5, TEN_YEARS / 2)).rule();
        for builder in [server.store(), server.store().clock(ManualClock::at(5))] {
            let store = builder.build().unwrap();
            for (_, rule) in rules(10, TEN_YEARS) {
                assert!(store.apply(acquire(rule, 8)).await.unwrap().admits());
                let before = everything(redis);
                let mut group = Charges::from(charge(untouched, 1));
                group.push(charge(rule, 3)).unwrap();
                let mut peek = Charges::from(charge(untouched, 0));
                peek.push(charge(rule, 0)).unwrap();
                let outcome = |decision: Decision| decision.outcome().name();
                for (charges, expected) in [
                    (charge(rule, 3).into(), "limited"),
                    (charge(rule, 11).into(), "impossible"),
                    (group, "limited"),
                    (peek, "admitted"),
                ] {
                    let decision = store.apply(Operation::Acquire(charges)).await.unwrap();
                    assert_eq!(outcome(decision), expected, "{rule:?}");
                    assert_eq!(everything(redis), before, "{rule:?}");
                }
                ask::<()>(redis, "FLUSHALL");
            }
        }
    }
}

#[tokio::test]
async fn a_full_redis_is_an_error_and_never_an_admission() {
    for server in RedisServer::each_with(&["--maxmemory-policy", "noeviction"]) {
        let redis = &mut server.client();
        let store = server.store().build().unwrap();
        store.check().await.unwrap();
        ask::<()>(redis, &format!("SET filler {}", "x".repeat(4_000_000)));
        ask::<()>(redis, "CONFIG SET maxmemory 1mb");
        let before = everything(redis);
        for (_, rule) in rules(10, TEN_YEARS) {
            let error = store.apply(acquire(rule, 1)).await.unwrap_err();
            assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
            assert!(
                error.to_string().ends_with("; Redis is out of memory: raise maxmemory"),
                "{error}"
            );
            assert_eq!(everything(redis), before, "{rule:?}");
        }
        ask::<()>(redis, "CONFIG SET maxmemory 0");
        for (_, rule) in rules(10, TEN_YEARS) {
            let decision = store.apply(acquire(rule, 1)).await.unwrap();
            assert_eq!(decision.tiers()[0].verdict().remaining(), 9, "{rule:?}");
        }
    }
}

#[tokio::test]
async fn no_two_limits_meet_in_one_key() {
    for server in RedisServer::each() {
        let store = server.store().build().unwrap();
        let aligned = FixedWindow::new(Quota::new(1, TEN_YEARS));
        let limits = [Limit::new("name", aligned), Limit::new("name", aligned.anchored())];
        let identities = [
            "k",
            "anchored:k",
            "aligned:k",
            "aligned:anchored:k",
            "anchored:aligned:k",
            "anchored",
            "aligned:",
            "",
        ];
        let mut charges = Charges::new();
        for (limit, identity) in limits
            .iter()
            .flat_map(|limit| identities.map(|identity| (limit, identity)))
        {
            charges.push(Charge::new(limit.clone(), Key::new(identity))).unwrap();
        }
        assert!(store.apply(Operation::Acquire(charges)).await.unwrap().admits());
        assert_eq!(keys(&mut server.client()).len(), 2 * identities.len());
    }
}

/// The Lua program takes its arguments, and reads its keys, in another way when there are many.
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
                    charges.push(charge.cost(cost)).unwrap();
                }
                Operation::Acquire(charges)
            };
            let mut remaining = Vec::new();
            for cost_of_last in [1, 2, 1, 1] {
                let decision = store.apply(group(cost_of_last)).await.unwrap();
                let left = decision.tiers().iter().map(|tier| tier.verdict().remaining());
                remaining.push((decision.admits(), left.collect::<Vec<_>>()));
            }
            let all = |left: u64| vec![left; size];
            let expected = [(true, all(1)), (false, all(1)), (true, all(0)), (false, all(0))];
            assert_eq!(remaining, expected, "{size}");
        }
    }
}
