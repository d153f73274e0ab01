//! Tiers with something planted in their midst, and the same tiers without.

use std::time::Duration;

use tollgate::redis::{Connection, FromRedisValue, Value, cmd};
use tollgate::{
    Charge, Charges, Decision, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, Rule, SlidingLog,
    Store, Tier, Verdict,
};

use super::{
    planted::{cases, words},
    warnings,
};
use support::redis::{RedisServer, time};

/// The time of every call: early, so that small numbers would count if they were taken for state.
pub(crate) const NOW: u64 = 20;

pub(crate) fn quota(limit: u32) -> Quota {
    Quota::new(limit, Duration::from_micros(1000))
}

/// Runs a command in which KEY stands for the key.
pub(crate) fn run<T: FromRedisValue>(redis: &mut Connection, command: &[String], key: &str) -> T {
    let words = command.iter().map(|word| if word == "KEY" { key } else { word });
    let words: Vec<&str> = words.collect();
    cmd(words[0]).arg(&words[1..]).query(redis).unwrap()
}

pub(crate) fn ask<T: FromRedisValue>(redis: &mut Connection, command: &str, key: &str) -> T {
    run(redis, &words(command), key)
}

/// A limit under a prefix, between two neighbours.
pub(crate) struct Tiers {
    /// Since when there is something to store, by Redis's clock.
    since: u64,
    prefix: String,
    store: RedisStore,
    tiers: [Limit; 3],
}

impl Tiers {
    pub(crate) fn new(server: &RedisServer, prefix: &str, rule: Rule) -> Self {
        let store = server
            .store()
            .prefix(prefix)
            .clock(ManualClock::at(NOW))
            .build()
            .unwrap();
        let first = Limit::new("first", FixedWindow::new(quota(10)));
        let last = Limit::new("last", SlidingLog::new(quota(10)));
        let tiers = [first, Limit::new("victim", rule), last];
        Self {
            since: time(&mut server.client()),
            prefix: prefix.to_owned(),
            store,
            tiers,
        }
    }

    /// The key of the limit in the middle.
    pub(crate) fn victim(&self) -> String {
        format!("{}:{}:key", self.prefix, self.tiers[1])
    }

    pub(crate) fn charge(&self, tier: usize, cost: u32) -> Charge {
        Charge::new(self.tiers[tier].clone(), Key::new("key")).cost(cost)
    }

    pub(crate) async fn apply(&self, operation: Operation) -> Decision {
        self.store.apply(operation).await.unwrap()
    }

    /// What a group says in which the tiers cost that much.
    pub(crate) async fn acquire(&self, costs: [u32; 3]) -> Vec<Verdict> {
        let mut charges = Charges::new();
        for (tier, cost) in costs.into_iter().enumerate() {
            charges.push(self.charge(tier, cost)).unwrap();
        }
        let decision = self.apply(Operation::Acquire(charges)).await;
        decision.tiers().iter().map(Tier::verdict).collect()
    }

    /// Keys and values under the prefix, which all have to live for an hour.
    pub(crate) fn stored(&self, redis: &mut Connection) -> Vec<(String, Value)> {
        let mut keys: Vec<String> = ask(redis, "KEYS KEY", &format!("{}:*", self.prefix));
        keys.sort();
        let look = |key: String| {
            let expires_at: u64 = ask(redis, "PEXPIRETIME KEY", &key);
            let hour_of = |written: u64| written / 1000 + 3_600_000;
            let hours = hour_of(self.since)..=hour_of(time(redis));
            assert!(hours.contains(&expires_at), "{key}: {expires_at}, not {hours:?}");
            let value = match ask::<String>(redis, "TYPE KEY", &key).as_str() {
                "string" => ask(redis, "GET KEY", &key),
                "list" => ask(redis, "LRANGE KEY 0 -1", &key),
                other => panic!("{key} is a {other}"),
            };
            (key[self.prefix.len()..].to_owned(), value)
        };
        keys.into_iter().map(look).collect()
    }

    /// The keys under the prefix that have been warned of since the last look.
    pub(crate) fn warned_of(&self) -> Vec<String> {
        warnings::of(&format!("{}:", self.prefix))
    }
}

/// Calls `test` for all garbage under all algorithms, with tiers that hold it and the same tiers without. Their
/// neighbours have been charged before.
pub(crate) async fn each(name: &str, test: impl AsyncFn(&mut Connection, &Tiers, &Tiers, &[String])) {
    warnings::listen();
    let server = RedisServer::start();
    let redis = &mut server.client();
    for (rule, garbage) in cases() {
        let spoilt = Tiers::new(&server, &format!("{name}.spoilt"), rule);
        let clean = Tiers::new(&server, &format!("{name}.clean"), rule);
        for garbage in garbage {
            ask::<()>(redis, "FLUSHALL", "");
            assert_eq!(spoilt.acquire([2, 0, 1]).await, clean.acquire([2, 0, 1]).await);
            run::<Value>(redis, &garbage, &spoilt.victim());
            println!("{garbage:?} under {rule:?}");
            test(redis, &spoilt, &clean, &garbage).await;
        }
    }
}
