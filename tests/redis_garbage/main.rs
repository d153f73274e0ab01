//! What is not ours under a key of ours: it counts as fresh, makes way for the next charge, and is warned of.
#![cfg(feature = "redis")]

mod planted;
#[path = "../support/mod.rs"]
mod support;
mod warnings;

use std::time::Duration;

use planted::{cases, words};
use support::redis::RedisServer;
use tollgate::redis::{Connection, FromRedisValue, Value, cmd};
use tollgate::{
    Algorithm, Charge, Charges, Decision, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, Rule,
    SlidingLog, Store, Tier, Verdict,
};

/// The time of every call: early, so that small numbers would count if they were taken for state.
const NOW: u64 = 20;

fn quota(limit: u32) -> Quota {
    Quota::new(limit, Duration::from_micros(1000))
}

/// Runs a command in which KEY stands for the key.
fn run<T: FromRedisValue>(redis: &mut Connection, command: &[String], key: &str) -> T {
    let words = command.iter().map(|word| if word == "KEY" { key } else { word });
    let words: Vec<&str> = words.collect();
    cmd(words[0]).arg(&words[1..]).query(redis).unwrap()
}

fn ask<T: FromRedisValue>(redis: &mut Connection, command: &str, key: &str) -> T {
    run(redis, &words(command), key)
}

/// A limit under a prefix, between two neighbours.
struct Tiers {
    prefix: String,
    store: RedisStore,
    tiers: [Limit; 3],
}

impl Tiers {
    fn new(server: &RedisServer, prefix: &str, rule: Rule) -> Self {
        let builder = RedisStore::builder().url(&server.url()).prefix(prefix);
        let builder = builder.deadline(Duration::from_secs(30)).clock(ManualClock::at(NOW));
        let store = builder.build().unwrap();
        let first = Limit::new("first", FixedWindow::new(quota(10)));
        let last = Limit::new("last", SlidingLog::new(quota(10)));
        let tiers = [first, Limit::new("victim", rule), last];
        let prefix = prefix.to_owned();
        Self { prefix, store, tiers }
    }

    /// The key of the limit in the middle.
    fn victim(&self) -> String {
        format!("{}:{}:key", self.prefix, self.tiers[1])
    }

    fn charge(&self, tier: usize, cost: u32) -> Charge {
        Charge::new(self.tiers[tier].clone(), Key::new("key")).cost(cost)
    }

    async fn apply(&self, operation: Operation) -> Decision {
        self.store.apply(operation).await.unwrap()
    }

    /// What a group says in which the tiers cost that much.
    async fn acquire(&self, costs: [u32; 3]) -> Vec<Verdict> {
        let mut charges = Charges::new();
        for (tier, cost) in costs.into_iter().enumerate() {
            charges.push(self.charge(tier, cost)).unwrap();
        }
        let decision = self.apply(Operation::Acquire(charges)).await;
        decision.tiers().iter().map(Tier::verdict).collect()
    }

    /// Keys and values under the prefix, which all have to live for an hour.
    fn stored(&self, redis: &mut Connection) -> Vec<(String, Value)> {
        let mut keys: Vec<String> = ask(redis, "KEYS KEY", &format!("{}:*", self.prefix));
        keys.sort();
        let look = |key: String| {
            let left: i64 = ask(redis, "PTTL KEY", &key);
            assert!((3_590_000..=3_600_000).contains(&left), "{key} lives for {left} ms");
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
    fn warned_of(&self) -> Vec<String> {
        warnings::of(&format!("{}:", self.prefix))
    }
}

/// Calls `test` for all garbage under all algorithms, with tiers that hold it and the same tiers without. Their
/// neighbours have been charged before.
async fn each(name: &str, test: impl AsyncFn(&mut Connection, &Tiers, &Tiers, &[String])) {
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

#[tokio::test]
async fn garbage_counts_as_fresh_and_makes_way_for_the_next_charge() {
    each("charge", async |redis, spoilt, clean, _| {
        assert_eq!(spoilt.acquire([1, 3, 1]).await, clean.acquire([1, 3, 1]).await);
        assert_eq!(spoilt.warned_of(), [spoilt.victim()]);
        assert_eq!(spoilt.stored(redis), clean.stored(redis));

        assert_eq!(spoilt.acquire([1, 3, 1]).await, clean.acquire([1, 3, 1]).await);
        assert_eq!(spoilt.warned_of(), [""; 0]);
        assert_eq!(spoilt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn garbage_stays_where_nothing_is_charged() {
    each("peek", async |redis, spoilt, clean, _| {
        let before: Vec<u8> = ask(redis, "DUMP KEY", &spoilt.victim());
        for costs in [[0, 0, 0], [0, 11, 0], [1, 10, 10], [9, 1, 1]] {
            assert_eq!(spoilt.acquire(costs).await, clean.acquire(costs).await, "{costs:?}");
            assert_eq!(spoilt.warned_of(), [spoilt.victim()], "{costs:?}");
            assert_eq!(ask::<Vec<u8>>(redis, "DUMP KEY", &spoilt.victim()), before, "{costs:?}");
            assert_eq!(ask::<i64>(redis, "PTTL KEY", &spoilt.victim()), -1, "{costs:?}");
        }
        ask::<()>(redis, "DEL KEY", &spoilt.victim());
        assert_eq!(spoilt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn garbage_is_not_refunded_and_a_reset_forgets_it() {
    each("refund", async |redis, spoilt, clean, garbage| {
        let charge = || spoilt.charge(1, 2).into();
        let receipt = spoilt.apply(Operation::Acquire(charge())).await.take_receipt();
        ask::<()>(redis, "DEL KEY", &spoilt.victim());
        run::<Value>(redis, garbage, &spoilt.victim());
        let before: Vec<u8> = ask(redis, "DUMP KEY", &spoilt.victim());

        spoilt.warned_of();
        let refund = spoilt.apply(Operation::Refund(receipt.unwrap())).await;
        assert_eq!(refund.tiers()[0].verdict().remaining(), 10);
        assert_eq!(spoilt.warned_of(), [spoilt.victim()]);
        assert_eq!(ask::<Vec<u8>>(redis, "DUMP KEY", &spoilt.victim()), before);

        let reset = spoilt.apply(Operation::Reset(charge())).await;
        assert_eq!(reset.tiers()[0].verdict().remaining(), 10);
        assert_eq!(spoilt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn garbage_in_the_middle_of_a_log_is_noticed_when_it_is_met() {
    warnings::listen();
    let server = RedisServer::start();
    let redis = &mut server.client();
    let rule = SlidingLog::new(Quota::new(4, Duration::from_micros(10))).rule();
    let spoilt = Tiers::new(&server, "middle.spoilt", rule);
    let clean = Tiers::new(&server, "middle.clean", rule);
    for (entries, cost) in [
        // All that lies before it has lapsed.
        ("1 2 garbage 15 16", 1),
        ("1 2 garbage 15 16", 4),
        // It would say how long to wait.
        ("14 15 garbage 16", 3),
        ("14 15 16 0x10 17", 3),
    ] {
        ask::<()>(redis, "FLUSHALL", "");
        ask::<()>(redis, &format!("RPUSH KEY {entries}"), &spoilt.victim());
        assert_eq!(
            spoilt.acquire([1, cost, 1]).await,
            clean.acquire([1, cost, 1]).await,
            "{entries}"
        );
        assert_eq!(spoilt.warned_of(), [spoilt.victim()], "{entries}");
        assert_eq!(spoilt.stored(redis), clean.stored(redis), "{entries}");
    }
}
