//! Three tiers of which the middle one is corrupt, and the same tiers without corruption.

use std::time::Duration;

use tollgate::redis::{Connection, FromRedisValue, Value, cmd};
use tollgate::{
    AnyAlgorithm, Charge, Charges, Decision, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore,
    SlidingLog, Store, TierDecision, Verdict,
};

use tracing::Level;

use super::corruptions::{arguments, cases};
use support::{
    algorithms::assert_has_each_algorithm,
    log,
    redis::{RedisServer, time},
};

/// The time of every call: early, so that small numbers would be valid timestamps.
pub(crate) const NOW: u64 = 20;

pub(crate) fn quota(limit: u32) -> Quota {
    Quota::new(limit, Duration::from_micros(1000))
}

/// Runs a command with KEY replaced by the key.
pub(crate) fn run<T: FromRedisValue>(redis: &mut Connection, command: &[String], key: &str) -> T {
    let arguments = command
        .iter()
        .map(|argument| if argument == "KEY" { key } else { argument });
    let arguments: Vec<&str> = arguments.collect();
    cmd(arguments[0]).arg(&arguments[1..]).query(redis).unwrap()
}

pub(crate) fn query<T: FromRedisValue>(redis: &mut Connection, command: &str, key: &str) -> T {
    run(redis, &arguments(command), key)
}

/// Three limits under one prefix.
pub(crate) struct Tiers {
    /// The time of creation by Redis's clock, before any key is written.
    since: u64,
    prefix: String,
    store: RedisStore,
    tiers: [Limit; 3],
}

impl Tiers {
    pub(crate) fn new(server: &RedisServer, prefix: &str, algorithm: AnyAlgorithm) -> Self {
        let store = server
            .store()
            .prefix(prefix)
            .clock(ManualClock::at(NOW))
            .build()
            .unwrap();
        let first = Limit::new("first", FixedWindow::new(quota(10)));
        let last = Limit::new("last", SlidingLog::new(quota(10)));
        let tiers = [first, Limit::new("victim", algorithm), last];
        Self {
            since: time(&mut server.client()),
            prefix: prefix.to_owned(),
            store,
            tiers,
        }
    }

    /// The key of the middle limit, which is corrupted.
    pub(crate) fn victim(&self) -> String {
        format!("{}:{}:key", self.prefix, self.tiers[1])
    }

    pub(crate) fn charge(&self, tier: usize, cost: u32) -> Charge {
        Charge::new(self.tiers[tier].clone(), Key::new("key")).with_cost(cost)
    }

    pub(crate) async fn apply(&self, operation: Operation) -> Decision {
        self.store.apply(operation).await.unwrap()
    }

    /// The verdicts on a group with these costs.
    pub(crate) async fn acquire(&self, costs: [u32; 3]) -> Vec<Verdict> {
        let mut charges = Charges::new();
        for (tier, cost) in costs.into_iter().enumerate() {
            charges.push(self.charge(tier, cost)).unwrap();
        }
        let decision = self.apply(Operation::Acquire(charges)).await;
        decision.tiers().iter().map(TierDecision::verdict).collect()
    }

    /// Keys and values under the prefix; asserts that each key lives for an hour.
    pub(crate) fn stored(&self, redis: &mut Connection) -> Vec<(String, Value)> {
        let mut keys: Vec<String> = query(redis, "KEYS KEY", &format!("{}:*", self.prefix));
        keys.sort();
        let look = |key: String| {
            let expires_at: u64 = query(redis, "PEXPIRETIME KEY", &key);
            let hour_of = |written: u64| written / 1000 + 3_600_000;
            let hours = hour_of(self.since)..=hour_of(time(redis));
            assert!(hours.contains(&expires_at), "{key}: {expires_at}, not {hours:?}");
            let value = match query::<String>(redis, "TYPE KEY", &key).as_str() {
                "string" => query(redis, "GET KEY", &key),
                "list" => query(redis, "LRANGE KEY 0 -1", &key),
                other => panic!("{key} is a {other}"),
            };
            (key[self.prefix.len()..].to_owned(), value)
        };
        keys.into_iter().map(look).collect()
    }

    /// The keys under the prefix in new warnings of the log.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        let prefix = format!("{}:", self.prefix);
        let lines = log::take(|line| line.level == Level::WARN && line.field("key").starts_with(&prefix));
        lines.iter().map(|line| line.field("key").to_owned()).collect()
    }
}

/// Calls `test` for every corruption of every algorithm, with corrupt tiers and the same tiers without corruption. The other
/// two tiers have been charged before.
pub(crate) async fn for_each_corruption(name: &str, test: impl AsyncFn(&mut Connection, &Tiers, &Tiers, &[String])) {
    log::listen();
    let server = RedisServer::start();
    let redis = &mut server.client();
    assert_has_each_algorithm(cases().iter().map(|(algorithm, _)| algorithm.name()));
    for (algorithm, commands) in cases() {
        let corrupt = Tiers::new(&server, &format!("{name}.corrupt"), algorithm);
        let clean = Tiers::new(&server, &format!("{name}.clean"), algorithm);
        for command in commands {
            query::<()>(redis, "FLUSHALL", "");
            assert_eq!(corrupt.acquire([2, 0, 1]).await, clean.acquire([2, 0, 1]).await);
            run::<Value>(redis, &command, &corrupt.victim());
            println!("{command:?} under {algorithm:?}");
            test(redis, &corrupt, &clean, &command).await;
        }
    }
}
