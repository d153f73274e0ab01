//! The two ways in which the script decides about acquires, leases and releases of concurrency limits: with packed arguments by
//! lua/fast_path.lua, with text by functions. Both return the same replies, and store the same values. Batches with other operations
//! never take the fast path.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use support::{property, redis::RedisServer};
use tollgate::redis::{Connection, cmd};

use crate::script::{command, eval, eval_packed, eval_packed_by, fast_path, script};

const START: i64 = 1_700_000_000_000_700;

/// What a key may contain: text, and numbers that are a state of one algorithm at most.
const GARBAGE: [&str; 26] = [
    "'hello'",
    "''",
    "cmsgpack.pack(-1, 2.5)",
    "cmsgpack.pack(-5, -3, 2)",
    "cmsgpack.pack(5)",
    "cmsgpack.pack(-3, 1, 1, 1, 1, 1)",
    "cmsgpack.pack(-100, 1 / 0, 3)",
    "cmsgpack.pack('a', true, {})",
    "cmsgpack.pack(-7, '0', 3)",
    "cmsgpack.pack(-2, { 1, 2, 3, 4 })",
    "cmsgpack.pack(-2, { 1, 2, 3, 4, 5.5 })",
    "cmsgpack.pack(-2, { 2, 1, 1, 1700000000000700, 1700000060000700 })",
    "cmsgpack.pack(-3, 1, 1, 1700000000000700, 1700000060000700)",
    "cmsgpack.pack(-3, 1, 1, 1700000000000700, 1700000060000700, 5)",
    "cmsgpack.pack(-3, 1, 1, 1700000000000700, 0.5)",
    "cmsgpack.pack(-2, -1, 1, 1700000000000700, 1700000060000700)",
    "cmsgpack.pack(-2, 1, -1, 1700000000000700, 1700000060000700)",
    "cmsgpack.pack(-2, 1, 1, -1, 1700000060000700)",
    "cmsgpack.pack(-2, 1, 1, 1700000000000700, 2^60)",
    "cmsgpack.pack(-2, 1.5, 1, 1700000000000700, 1700000060000700)",
    "cmsgpack.pack(-2, 1, 1, 1700000000000700.5, 1700000060000700)",
    "cmsgpack.pack(-2, 1, 1, '1700000000000700', 1700000060000700)",
    "cmsgpack.pack(-2, 1, 1, 1700000000000700, 1700000060000700, 9, 1, 1, 1700000000000700, 1700000000000701)",
    "cmsgpack.pack(-2, 1, 1, 1700000000000700, 1700000060000700, 9, 1, {}, 1700000000000700, 1700000000000701)",
    "cmsgpack.pack(-2, { 2, 1, 1, 1700000000000700, true })",
    "cmsgpack.pack(-2, { 2, 1, 1, 1700000000000700, 1700000060000700 }, 1)",
];

#[derive(Clone, Debug)]
struct Call {
    /// How much later it is than the one before.
    step: i64,
    /// A key, and what it contains before the call.
    garbage: Option<(usize, &'static str)>,
    /// Without the time.
    arguments: String,
    charges: usize,
}

#[derive(Clone, Debug)]
struct Trace {
    keys: usize,
    calls: Vec<Call>,
}

fn limits() -> impl Strategy<Value = String> {
    let limit = select(vec![1, 2, 3, 5, 10, 100]);
    let unit = select(vec![60, 1000, 7, 60_000_000]);
    (
        0..8,
        limit,
        unit,
        select(vec![1, 2, 6, 64]),
        select(vec![-1, 0, 5, 3000]),
    )
        .prop_map(|(kind, limit, unit, other, max_wait)| match kind {
            0 => format!("token_bucket {limit} {unit} {other}"),
            1 => format!("leaky_bucket {limit} {unit} {other} {} {max_wait}", limit % 2),
            2 => format!("fixed_window {limit} {unit} 0"),
            3 => format!("fixed_window {limit} {unit} 1"),
            4 | 5 => format!("sliding_counter {limit} {unit} {other}"),
            _ => format!(
                "concurrency {limit} {unit} 250 {} {} 0 -1",
                1 + other % 2,
                1 + limit % 2
            ),
        })
}

/// The limit with another quota, which is another version of it.
fn changed(limit: &str, quota: u32) -> String {
    let mut numbers: Vec<String> = limit.split(' ').map(str::to_owned).collect();
    numbers[1] = quota.to_string();
    numbers.join(" ")
}

/// One operation, mostly an acquire or a lease, that charges each key once at most: its arguments, and the number of its charges.
fn operation(kind: usize, keys: impl Iterator<Item = (usize, u32, bool)>) -> (String, usize) {
    let name = ["peek", "settle", "reset", "lease", "lease", "lease", "lease", "lease"]
        .get(kind)
        .unwrap_or(&"acquire");
    let (mut text, mut charged) = (String::new(), Vec::new());
    for (key, cost, shadow) in keys {
        if charged.contains(&key) {
            continue;
        }
        charged.push(key);
        text += &match *name {
            "settle" => format!(" {key} {key} {cost} {START} 1000 60 1"),
            "reset" => format!(" {key} {key}"),
            _ => format!(" {key} {key} {cost} {}", u32::from(shadow)),
        };
    }
    (format!(" {name} {}{text}", charged.len()), charged.len())
}

fn traces() -> impl Strategy<Value = Trace> {
    let cost = select(vec![0, 1, 1, 1, 2, 3, 11, 101]);
    let charges = vec((any::<Index>(), cost, prop::bool::weighted(0.25)), 1..4);
    let operations = vec((0..60_usize, charges), 1..6);
    let step = select(vec![0, 0, 1, 7, 500, 30_000, 1_000_000, 60_000_000, -1_000_000]);
    let garbage = prop::option::weighted(0.05, (any::<Index>(), select(GARBAGE.to_vec())));
    let quota = prop::option::weighted(0.1, select(vec![1, 2, 5, 100]));
    (vec(limits(), 1..6), vec((operations, step, garbage, quota), 1..20)).prop_map(|(limits, calls)| {
        // One key per limit, both with the same number.
        let keys = limits.len();
        let call = |(operations, step, garbage, quota): (Vec<_>, i64, Option<(Index, _)>, Option<u32>)| {
            let rule = |limit: &String| quota.map_or(limit.clone(), |quota| changed(limit, quota));
            let rules: Vec<_> = limits.iter().map(rule).collect();
            let mut arguments = format!("{keys} {} {}", rules.join(" "), operations.len());
            let mut charges = 0;
            for (kind, charged) in operations {
                let charged: Vec<(Index, u32, bool)> = charged;
                let charged = charged
                    .iter()
                    .map(|&(key, cost, shadow)| (1 + key.index(keys), cost, shadow));
                let (text, charged) = operation(kind, charged);
                arguments += &text;
                charges += charged;
            }
            let garbage = garbage.map(|(key, value)| (key.index(keys), value));
            Call {
                step,
                garbage,
                arguments,
                charges,
            }
        };
        let calls = calls.into_iter().map(call).collect();
        Trace { keys, calls }
    })
}

/// The reply with the indices of garbage, which follow the charges in no particular order, sorted.
fn sorted(mut reply: Vec<i64>, charges: usize) -> Vec<i64> {
    reply[1 + 6 * charges..].sort_unstable();
    reply
}

#[test]
fn the_fast_path_decides_like_the_functions() {
    let server = RedisServer::start();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/script/fast_path.txt");
    property::holds(300, file, &traces(), async |_, trace| {
        assert_same(&mut server.client(), &trace);
    });
}

fn assert_same(redis: &mut Connection, Trace { keys, calls }: &Trace) {
    command::<()>(redis, &["FLUSHALL"]);
    let names = |kind| (0..*keys).map(|key| format!("{kind}:{key}")).collect::<Vec<_>>();
    let names = ["text", "packed"].map(names);
    let [text, packed] = names
        .each_ref()
        .map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut now = START;
    for Call {
        step,
        garbage,
        arguments,
        charges,
    } in calls
    {
        now += step;
        if let Some((key, value)) = garbage {
            set_both(redis, [text[*key], packed[*key]], value);
        }
        let arguments = format!("{now} {arguments}");
        let expected = eval(redis, &text, &arguments).unwrap();
        let reply = eval_packed(redis, &packed, &arguments);
        assert_eq!(sorted(reply, *charges), sorted(expected, *charges), "{arguments}");
        for (text, packed) in text.iter().zip(&packed) {
            assert_eq!(raw(redis, packed), raw(redis, text), "{arguments}");
        }
    }
}

fn set_both(redis: &mut Connection, keys: [&str; 2], value: &str) {
    let set = format!("redis.call('SET', KEYS[1], {value}) redis.call('SET', KEYS[2], {value})");
    command::<()>(redis, &["EVAL", &set, "2", keys[0], keys[1]]);
}

#[test]
fn the_fast_path_finds_garbage_like_the_functions() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let rules = [
        "token_bucket 7 1000 2",
        "leaky_bucket 7 1000 2 1 -1",
        "fixed_window 7 1000 0",
        "sliding_counter 7 1000 6",
        "concurrency 7 1000000 250 1 1 0 -1",
        "concurrency 7 1000000 250 2 1 0 -1",
    ];
    for (rule, value) in rules.iter().flat_map(|rule| GARBAGE.map(|value| (rule, value))) {
        set_both(redis, ["text", "packed"], value);
        let arguments = format!("{START} 1 {rule} 1 acquire 1 1 1 1 0");
        let expected = eval(redis, &["text"], &arguments).unwrap();
        assert_eq!(eval_packed(redis, &["packed"], &arguments), expected, "{rule} {value}");
        assert_eq!(raw(redis, "packed"), raw(redis, "text"), "{rule} {value}");
    }
}

/// An error in the fast path would leave all calls to the functions, with the same results.
#[test]
fn the_fast_path_decides_alone() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    // The third rule belongs to the key of the first.
    let rules = [
        "token_bucket 7 1000 2, token_bucket 7 60 1, token_bucket 9 1000 2",
        "leaky_bucket 7 1000 2 1 -1, leaky_bucket 7 1000 2 1 2000, leaky_bucket 7 1000 2 0 -1",
        "fixed_window 7 1000 0, fixed_window 7 1000 1, fixed_window 9 1000 0",
        "sliding_counter 7 1000 1, sliding_counter 7 1000 6, sliding_counter 9 1000 1",
        "concurrency 7 1000000 250 1 1 0 -1, concurrency 7 1000000 250 1 1 0 -1, concurrency 7 1000000 250 2 1 0 -1",
    ];
    for rules in rules {
        let release = match rules.starts_with("concurrency") {
            true => " settle 1 1 3 2 0 0 0 0",
            false => "",
        };
        let rules = rules.replace(',', "");
        let tier = |key: usize, rule: usize, cost: u32| format!("{key} {rule} {cost} 0");
        for (index, cost) in [1, 0, 2, 1, 7, 8, 1, 3].into_iter().enumerate() {
            let (first, second, third) = (tier(1, 1, cost), tier(2, 2, cost), tier(1, 3, 1));
            let operations = format!("acquire 2 {first} {second} lease 1 {third} acquire 1 {first}{release}");
            let count = 3 + usize::from(!release.is_empty());
            let now = START + 700 * index as i64;
            let arguments = format!("{now} 3 {rules} {count} {operations}");
            let expected = eval(redis, &["text:1", "text:2"], &arguments).unwrap();
            let reply = eval_packed_by(&fast_path(), redis, &["packed:1", "packed:2"], &arguments);
            assert_eq!(reply, expected, "{arguments}");
            for key in ["1", "2"] {
                let [packed, text] = ["packed", "text"].map(|kind| raw(redis, &format!("{kind}:{key}")));
                assert_eq!(packed, text, "{arguments}");
            }
        }
        command::<()>(redis, &["FLUSHALL"]);
    }
    // Of more than a hundred holders, the value has an array.
    for id in 1..=102 {
        let arguments = format!("{START} 1 concurrency 200 1000000 250 {id} 1 0 -1 1 acquire 1 1 1 1 0");
        let reply = eval_packed_by(&fast_path(), redis, &["packed"], &arguments);
        assert_eq!(reply[1..3], [0, 200 - id], "{arguments}");
    }
}

/// A new algorithm on the list of names, whose block is not written yet.
#[test]
fn an_algorithm_without_a_block_is_decided_by_the_functions() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let block = |name| format!("if name == '{name}' then\n            local ");
    for (name, numbers) in [
        ("fixed_window", "10 1000 0"),
        ("sliding_counter", "10 1000 1"),
        ("concurrency", "10 1000 250 1 1 0 -1"),
    ] {
        let script = script();
        assert_eq!(script.matches(&block(name)).count(), 1, "{name}");
        let without_block = script.replace(&block(name), &block("unwritten"));
        let arguments = format!("{START} 1 {name} {numbers} 1 acquire 1 1 1 2 0");
        let expected = eval(redis, &["text"], &arguments).unwrap();
        assert_eq!(
            eval_packed_by(&without_block, redis, &["packed"], &arguments),
            expected,
            "{name}"
        );
        assert_eq!(raw(redis, "packed"), raw(redis, "text"), "{name}");
        command::<()>(redis, &["FLUSHALL"]);
    }
}

fn raw(redis: &mut Connection, key: &str) -> Option<Vec<u8>> {
    cmd("GET").arg(key).query(redis).unwrap()
}
