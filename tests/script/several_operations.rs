//! Several operations in one call: the same replies and state as separate calls, with one read and one write per key.

use std::collections::HashMap;

use tollgate::redis::Connection;

use support::{
    algorithms::{assert_has_each_algorithm, name_in_rule},
    redis::{RedisServer, stored},
};

use crate::script::{command, eval};

/// Each algorithm with 10 per 1000 microseconds, and the same limit raised to 14.
const ALGORITHMS: [[&str; 2]; 8] = [
    ["token_bucket 10 100 1", "token_bucket 14 500 7"],
    ["leaky_bucket 10 100 1 1 -1", "leaky_bucket 14 500 7 1 -1"],
    ["leaky_bucket 10 100 1 1 450", "leaky_bucket 14 500 7 1 450"],
    ["leaky_bucket 10 100 1 0 -1", "leaky_bucket 14 500 7 0 -1"],
    ["fixed_window 10 1000 0", "fixed_window 14 1000 0"],
    ["fixed_window 10 1000 1", "fixed_window 14 1000 1"],
    ["sliding_log 10 1000", "sliding_log 14 1000"],
    ["sliding_counter 10 250 4", "sliding_counter 14 250 4"],
];
const NOW: i64 = 1_700_000_000_000_700;

/// The times of the charges before the call.
const EARLIER_CHARGES: [&[i64]; 6] = [
    &[],
    &[NOW - 300, NOW - 20],
    &[NOW - 1200, NOW - 500],
    &[NOW - 1000],
    &[NOW - 50_000, NOW - 49_990],
    &[NOW + 120],
];

/// A sequence of operations on two keys. `@5.1` is the receipt of key 1 in the reply to operation 5, counted from 0.
const OPERATIONS: [&str; 25] = [
    "acquire 1  1 1 2 0",
    "acquire 2  1 1 1 0  2 2 3 0",
    "acquire 1  1 1 99 0",
    "acquire 2  2 2 0 0  1 1 3 0",
    "settle 1  2 2 3 @1.2 1",
    "acquire 2  2 2 1 0  1 1 9 0",
    "acquire 2  2 2 1 0  1 1 9 1",
    "settle 1  1 1 3 @3.1 0",
    "settle 2  1 1 2 @0.1 1  2 2 1 @6.2 1",
    "reset 1  2 2",
    "acquire 2  2 2 2 0  1 1 1 0",
    "acquire 1  2 2 2 0",
    "settle 1  2 2 2 @11.2 1",
    "settle 1  2 2 2 @10.2 40",
    "acquire 1  2 2 1 0",
    "settle 1  1 1 1 @1.1 5",
    "acquire 2  1 1 0 0  2 2 0 0",
    "reset 2  1 1  2 2",
    "acquire 1  1 1 4 0",
    "settle 1  1 1 4 @18.1 3",
    "acquire 1  2 2 1 0",
    "settle 1  2 2 1 @20.2 0",
    "peek 2  1 1 1 0  2 2 3 0",
    "peek 2  2 2 1 0  1 1 9 0",
    "peek 2  2 2 1 0  1 1 99 1",
];

/// The same with every other operation on the raised limits, algorithms 3 and 4.
const RAISED: [&str; 9] = [
    "acquire 2  1 1 3 0  2 2 4 0",
    "acquire 2  1 3 3 0  2 4 3 0",
    "settle 2  1 1 3 @0.1 1  2 4 3 @1.2 1",
    "acquire 2  1 1 4 0  2 4 5 0",
    "acquire 1  1 3 5 0",
    "settle 1  1 3 5 @4.1 2",
    "settle 1  2 2 4 @0.2 9",
    "acquire 1  2 4 1 0",
    "acquire 2  1 1 0 0  2 2 0 0",
];

/// The receipts in a reply to one operation, by key, in the format of a settle.
fn receipts(operation: &str, algorithms: &[&str], reply: &[i64]) -> HashMap<String, String> {
    let arguments: Vec<&str> = operation.split_whitespace().collect();
    if arguments[0] != "acquire" {
        return HashMap::new();
    }
    let charges = arguments[2..].chunks(4).zip(reply[1..].chunks(6));
    let receipt = |(charge, reply): (&[&str], &[i64])| {
        let algorithm: Vec<&str> = algorithms[charge[1].parse::<usize>().unwrap() - 1].split(' ').collect();
        let unit = if algorithm[0].ends_with("bucket") {
            algorithm[2]
        } else {
            "0"
        };
        (charge[0].to_owned(), format!("{} {} {unit}", reply[4], reply[5]))
    };
    charges.map(receipt).collect()
}

/// An operation with its receipts filled in.
fn resolve(operation: &str, receipts: &[HashMap<String, String>]) -> String {
    let fill_in = |argument: &str| match argument.strip_prefix('@').and_then(|place| place.split_once('.')) {
        Some((operation, key)) => receipts[operation.parse::<usize>().unwrap()][key].clone(),
        None => argument.to_owned(),
    };
    let arguments: Vec<String> = operation.split_whitespace().map(fill_in).collect();
    arguments.join(" ")
}

/// Empties Redis and makes charges at these times.
fn prepare(redis: &mut Connection, keys: &[&str], algorithms: &[&str], before: &[i64]) {
    command::<()>(redis, &["FLUSHALL"]);
    for now in before {
        let arguments = format!(
            "{now} 2 {} {} 1 acquire 2 1 1 2 0 2 2 1 0",
            algorithms[0], algorithms[1]
        );
        eval(redis, keys, &arguments).unwrap();
    }
}

#[test]
fn one_call_returns_the_replies_and_the_state_of_several() {
    assert_has_each_algorithm(ALGORITHMS.map(|[rule, _]| name_in_rule(rule)));
    let server = RedisServer::start();
    let redis = &mut server.client();
    let keys = ["first", "second"];
    let pairs = (0..ALGORITHMS.len()).map(|index| (ALGORITHMS[index], ALGORITHMS[(index + 1) % ALGORITHMS.len()]));
    for (([first, first_raised], [second, second_raised]), before, operations) in pairs.flat_map(|pair| {
        let operations = [&OPERATIONS[..], &RAISED[..]];
        let each = move |before| operations.map(|operations| (pair, before, operations));
        EARLIER_CHARGES.into_iter().flat_map(each)
    }) {
        let algorithms = [first, second, first_raised, second_raised];
        let head = format!("{NOW} 4 {}", algorithms.join(" "));

        prepare(redis, &keys, &algorithms, before);
        let (mut resolved, mut known, mut several) = (Vec::new(), Vec::new(), vec![NOW]);
        for operation in operations {
            resolved.push(resolve(operation, &known));
            let reply = eval(redis, &keys, &format!("{head} 1 {}", resolved.last().unwrap())).unwrap();
            several.extend(&reply[1..]);
            known.push(receipts(operation, &algorithms, &reply));
        }
        let left_by_several = keys.map(|key| stored(redis, key));

        prepare(redis, &keys, &algorithms, before);
        let arguments = format!("{head} {} {}", operations.len(), resolved.join(" "));
        let context = format!("{first}, {second}, charged at {before:?}: {}", resolved.join(" "));
        assert_eq!(eval(redis, &keys, &arguments).unwrap(), several, "{context}");
        assert_eq!(keys.map(|key| stored(redis, key)), left_by_several, "{context}");
    }
}

/// How often each command was executed.
fn counts(redis: &mut Connection) -> HashMap<String, u64> {
    let info: String = command(redis, &["INFO", "commandstats"]);
    let count = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name.to_owned(), rest.split_once(',')?.0.parse().unwrap()))
    };
    info.lines().filter_map(count).collect()
}

#[test]
fn a_state_is_read_once_and_written_once_per_call() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let many =
        "5 acquire 2 1 1 1 0 2 1 1 0  acquire 1 1 1 2 0  acquire 1 2 1 9 0  acquire 1 1 1 99 0  acquire 1 2 1 1 0";
    let denied = "3 acquire 1 1 1 99 0  acquire 2 1 1 1 0 2 1 99 0  acquire 1 1 1 0 0";
    let peeked = "2 peek 1 1 1 1 0  peek 2 1 1 2 0 2 1 99 0";
    let refunded = "2 acquire 1 1 1 2 0  settle 1 1 1 2 5000 200 100 0";
    for (algorithm, operations, expected) in [
        ("token_bucket 10 100 1", many, "exists 1 mget 1 set 2"),
        ("leaky_bucket 10 100 1 1 -1", many, "exists 1 mget 1 set 2"),
        ("fixed_window 10 1000 0", many, "exists 1 mget 1 set 2"),
        ("sliding_counter 10 1000 1", many, "exists 1 mget 1 set 2"),
        ("sliding_log 10 1000", many, "lindex 2 mget 1 pexpire 2 rpush 2"),
        ("token_bucket 10 100 1", denied, "exists 1 mget 1"),
        ("sliding_log 10 1000", denied, "lindex 2 mget 1"),
        ("token_bucket 10 100 1", peeked, "exists 1 mget 1"),
        ("sliding_log 10 1000", peeked, "lindex 2 mget 1"),
        ("token_bucket 10 100 1", refunded, "del 1 exists 1 mget 1"),
    ] {
        command::<()>(redis, &["FLUSHALL"]);
        command::<()>(redis, &["CONFIG", "RESETSTAT"]);
        eval(redis, &["first", "second"], &format!("5000 1 {algorithm} {operations}")).unwrap();
        let mut counts: Vec<_> = counts(redis).into_iter().collect();
        counts.retain(|(name, _)| name != "eval" && name != "config|resetstat");
        counts.sort();
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        assert_eq!(counts.join(" "), expected, "{algorithm}: {operations}");
    }
}

#[test]
fn a_charge_and_settle_in_one_call_replace_a_corrupt_log() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let arguments = "5000 1 sliding_log 10 1000 2 acquire 1 1 1 3 0 settle 1 1 1 3 5000 0 0 1";
    let reply = [5000, 0, 7, 0, 1000, 5000, 0, 0, 9, 0, 1000, -1, -1, 1];
    for value in [&["SET", "key", "value"], &["RPUSH", "key", "value"]] {
        command::<()>(redis, &["DEL", "key"]);
        command::<()>(redis, value);
        assert_eq!(eval(redis, &["key"], arguments).unwrap(), reply, "{value:?}");
        assert_eq!(stored(redis, "key").unwrap(), "5000", "{value:?}");
    }
}

#[test]
fn a_corrupt_entry_does_not_drop_charges_of_the_same_call() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    for (entries, operations, reply, left) in [
        // The second charge finds the entry, and starts with the first charge.
        (
            "14 garbage 16",
            "2 acquire 1 1 1 2 0  acquire 1 1 1 2 0",
            vec![0, (1 << 33) + 4, 0, 10, 20, 0, 0, 1, 0, 10, 20, 0, 1],
            "20 20 20 20",
        ),
        // The refund of the oldest entry makes the corrupt one the oldest: it counts until a decision depends on it.
        (
            "15 garbage 16",
            "2 acquire 1 1 1 1 0  settle 1 1 1 1 15 0 0 0",
            vec![0, 1, 0, 10, 20, 0, 0, 2, 0, 10, -1, -1],
            "garbage 16 20",
        ),
        // The charge has replaced the list, and a refund of it leaves the rest of the charge.
        (
            "garbage 16",
            "3 acquire 1 1 1 3 0  settle 1 1 1 3 20 0 0 1  acquire 1 1 1 1 0",
            vec![0, 2, 0, 10, 20, 0, 0, 4, 0, 10, -1, -1, 0, 3, 0, 10, 20, 0, 1],
            "20 20",
        ),
    ] {
        command::<()>(redis, &["DEL", "key"]);
        let push: Vec<&str> = ["RPUSH", "key"].into_iter().chain(entries.split(' ')).collect();
        command::<()>(redis, &push);
        let arguments = format!("20 1 sliding_log 5 10 {operations}");
        let context = format!("{entries}: {operations}");
        assert_eq!(
            eval(redis, &["key"], &arguments).unwrap(),
            [vec![20], reply].concat(),
            "{context}"
        );
        let entries: Vec<String> = command(redis, &["LRANGE", "key", "0", "-1"]);
        assert_eq!(entries.join(" "), left, "{context}");
    }
}

/// Expired entries stay in the list until the next charge, so that a denial writes nothing. Skipping them must be cheap.
#[test]
fn a_log_is_never_read_whole() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let log = "1 sliding_log 65536 60000000";
    eval(redis, &["log"], &format!("0 {log} 1 acquire 1 1 1 65535 0")).unwrap();
    eval(redis, &["log"], &format!("30000000 {log} 1 acquire 1 1 1 1 0")).unwrap();
    command::<()>(redis, &["CONFIG", "RESETSTAT"]);
    let peek = eval(redis, &["log"], &format!("61000000 {log} 1 acquire 1 1 1 0 0")).unwrap();
    assert_eq!(peek, [61_000_000, 0, 65_535, 0, 29_000_000, -1, -1]);
    // The newest entry, then a binary search of fifteen steps after the first sixteen entries.
    let counts = counts(redis);
    assert_eq!(["llen", "lrange", "lindex"].map(|name| counts[name]), [1, 1, 1 + 15]);
    assert_eq!(command::<u64>(redis, &["LLEN", "log"]), 65_536);
}
