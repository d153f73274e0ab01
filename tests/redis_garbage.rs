//! What is not ours under a key of ours: it counts as fresh, makes way for the next charge, and is warned of.
#![cfg(feature = "redis")]

mod support;

use std::{
    fmt,
    sync::{LazyLock, Mutex},
    time::Duration,
};

use support::redis::RedisServer;
use tollgate::redis::{Connection, FromRedisValue, Value, cmd};
use tollgate::{
    Algorithm, Charge, Charges, Decision, FixedWindow, Key, LeakyBucket, Limit, ManualClock, Operation, Quota,
    RedisStore, Rule, SlidingCounter, SlidingLog, Store, Tier, TokenBucket, Verdict,
};
use tracing::{Event, Level, Metadata, Subscriber, field, span};

/// The time of every call: early, so that small numbers would count if they were taken for state.
const NOW: u64 = 20;

/// Strings that are no state of any algorithm, of one to several letters, which alone would be numbers to MessagePack.
const STRINGS: &str = "|garbage|a|ab|abc|abcd|1|1 1|1 1 1|15 5|\x01\x01\x01|\x01\x01|été|Приве́т|日本";

/// Packs values, the first like that of a state, and leaves out the last bytes, as many as it is told.
const PACK: &str = "
    local values = {}
    for i = 2, #ARGV do
      values[i - 1] = loadstring('return ' .. ARGV[i])()
    end
    values[1] = type(values[1]) == 'number' and -1 - values[1] or values[1]
    local packed = cmsgpack.pack(unpack(values, 1, #ARGV - 1))
    redis.call('SET', KEYS[1], packed:sub(1, #packed - ARGV[1]))";

/// Values that are no state of any algorithm.
const VALUES: &str = "5|-1 5 5|-5 5 5|-5 5|5.5 5 5|5 5.5 5|5 5 5.5|5.5 5|5 5.5|0/0 5 5|5 0/0 5|5 5 0/0|0/0 5|5 0/0|\
    1/0 5 5|5 1/0 5|5 5 1/0|1/0 5|5 1/0|5 -5 5|5 5 -5|5 -5|'5' 5 5|5 '5' 5|5 5 '5'|'5' 5|5 '5'|{} 5 5|5 {} 5|5 5 {}|{} 5|\
    5 {}|true 5 5|5 true 5|5 nil 5|nil 5 5|5 true|nil 5|{5,5,5}|{5,5}|1 2 3 4 5 6 7 8 9";

/// Values that are no state of these algorithms, though perhaps of others.
const NO_BUCKET: &str =
    "5 5|5 5 5 5|0 100 5|100 0 5|9007199254740996 100 1|100 9007199254740996 1|100 100 9007199254740996";
const NO_WINDOW: &str = "5 5 5|0 0|0 9007199254740996|9007199254740996 1";
const NO_COUNTER: &str =
    "0 0|0 0 1|0 1 1 1 1 1 1 1|0 9007199254740996|0 1 9007199254740996|9007199254740996 1|0 1 0.5 0.5";

/// Values of another type than string, and for a log than list. KEY stands for the key.
const TYPES: &str = "RPUSH KEY 1|HSET KEY 1 1|SADD KEY 1|ZADD KEY 1 1|XADD KEY * 1 1";

/// What is no log at NOW. A log is not read whole: an entry is looked at when it is the newest, or may have lapsed.
const NO_LOG: &str = "SET KEY 15|RPUSH KEY garbage|RPUSH KEY 15 16 garbage|RPUSH KEY garbage 15 16|RPUSH KEY -1 15 16|\
    RPUSH KEY 15 16 99999999999999999999";

fn quota(limit: u32) -> Quota {
    Quota::new(limit, Duration::from_micros(1000))
}

/// Every algorithm, with the commands that put garbage under its keys.
fn cases() -> Vec<(Rule, Vec<Vec<String>>)> {
    let quota = quota(10);
    let strings = |rule: Rule, more: &str| {
        let strings = STRINGS.split('|').map(set);
        let packed = VALUES.split('|').chain(more.split('|')).map(|values| pack(values, 0));
        let cut_off = ["1000 1000 1000", "0 1000"].map(|values| pack(values, 1));
        let garbage = strings.chain(packed).chain(cut_off);
        (rule, garbage.chain(TYPES.split('|').map(words)).collect())
    };
    let log = TYPES.split('|').skip(1).chain(NO_LOG.split('|'));
    vec![
        strings(TokenBucket::new(quota).rule(), NO_BUCKET),
        strings(LeakyBucket::new(quota).rule(), NO_BUCKET),
        strings(LeakyBucket::new(quota).policing().rule(), NO_BUCKET),
        strings(FixedWindow::new(quota).rule(), NO_WINDOW),
        strings(FixedWindow::new(quota).anchored().rule(), NO_WINDOW),
        strings(SlidingCounter::new(quota).rule(), NO_COUNTER),
        strings(SlidingCounter::new(quota).buckets(5).rule(), NO_COUNTER),
        (SlidingLog::new(quota).rule(), log.map(words).collect()),
    ]
}

fn set(text: &str) -> Vec<String> {
    ["SET", "KEY", text].map(str::to_owned).to_vec()
}

/// The command that stores these values, packed, without so many bytes at their end.
fn pack(values: &str, cut_off: usize) -> Vec<String> {
    let mut command = ["EVAL", PACK, "1", "KEY", &cut_off.to_string()]
        .map(str::to_owned)
        .to_vec();
    command.extend(values.split(' ').map(str::to_owned));
    command
}

fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
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

/// The keys that warnings have named, in the whole process.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes warnings down from when it is first looked at.
static LOG: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(Log).unwrap());

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tollgate") && *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Keys);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Keys;

impl field::Visit for Keys {
    fn record_str(&mut self, field: &field::Field, value: &str) {
        if field.name() == "key" {
            WARNINGS.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &field::Field, _: &dyn fmt::Debug) {}
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
        let ours = |key: &mut String| key.starts_with(&format!("{}:", self.prefix));
        WARNINGS.lock().unwrap().extract_if(.., ours).collect()
    }
}

/// Calls `test` for all garbage under all algorithms, with tiers that hold it and the same tiers without. Their
/// neighbours have been charged before.
async fn each(name: &str, test: impl AsyncFn(&mut Connection, &Tiers, &Tiers, &[String])) {
    LazyLock::force(&LOG);
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
    LazyLock::force(&LOG);
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
