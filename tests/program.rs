//! The Lua program on its own, called as lua/README.md documents.
#![cfg(feature = "redis")]

mod support;

use std::{collections::HashMap, fs};

use support::redis::RedisServer;
use tollgate::RedisStore;
use tollgate::redis::{Connection, RedisResult, Script, cmd};

const PARTS: [&str; 6] = [
    "prelude",
    "bucket",
    "fixed_window",
    "sliding_log",
    "sliding_counter",
    "driver",
];

fn program() -> String {
    let path = |part| format!("{}/lua/{part}.lua", env!("CARGO_MANIFEST_DIR"));
    PARTS.map(|part| fs::read_to_string(path(part)).unwrap()).concat()
}

/// Calls the program with arguments that are separated by blanks.
fn eval(redis: &mut Connection, keys: &[&str], arguments: &str) -> RedisResult<Vec<i64>> {
    let mut command = cmd("EVAL");
    command.arg(program()).arg(keys.len()).arg(keys);
    arguments
        .split_whitespace()
        .for_each(|argument| _ = command.arg(argument));
    command.query(redis)
}

fn command<T: tollgate::redis::FromRedisValue>(redis: &mut Connection, words: &[&str]) -> T {
    cmd(words[0]).arg(&words[1..]).query(redis).unwrap()
}

/// The state under a key, as Redis holds it.
fn state(redis: &mut Connection, key: &str) -> Vec<Vec<u8>> {
    match command::<String>(redis, &["TYPE", key]).as_str() {
        "none" => Vec::new(),
        "string" => vec![command(redis, &["GET", key])],
        "list" => command(redis, &["LRANGE", key, "0", "-1"]),
        other => panic!("{key} is a {other}"),
    }
}

#[test]
fn readme_token_bucket() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let key = "rate_limit:token_bucket:user:60000000:user:12345";

    let charge = "1700000000000000  1 token_bucket 20 600000 1  1 acquire 1 1 1 5 0";
    let reply = [1700000000000000, 0, 15, 0, 3000000, 1700000000000000, 3000000];
    assert_eq!(eval(redis, &[key], charge).unwrap(), reply);
    assert_eq!(state(redis, key), [b"3000000 600000 1700000000000000"]);

    let refund = "1700000001000000  1 token_bucket 20 600000 1  1 settle 1 1 1 5 1700000000000000 3000000 600000 0";
    let reply = [1700000001000000, 0, 20, 0, 0, -1, -1];
    assert_eq!(eval(redis, &[key], refund).unwrap(), reply);
    assert!(state(redis, key).is_empty());
}

#[test]
fn readme_three_tiers() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let keys = [
        "rate_limit:sliding_counter:global:60000000:1:global",
        "rate_limit:token_bucket:user:60000000:user:12345",
        "rate_limit:sliding_log:expensive:60000000:user:12345",
    ];
    let rest = "3 sliding_counter 10000 60000000 1 token_bucket 20 6000000 1 sliding_log 1 60000000
        1 acquire 3 1 1 1 0 2 2 1 0 3 3 1 0";

    let first = [
        vec![1700000000000000],
        vec![0, 9999, 0, 100000000, 1700000000000000, 28333333],
        vec![0, 19, 0, 6000000, 1700000000000000, 6000000],
        vec![0, 0, 0, 60000000, 1700000000000000, 0],
    ];
    let reply = eval(redis, &keys, &format!("1700000000000000 {rest}"));
    assert_eq!(reply.unwrap(), first.concat());

    let second = [
        vec![1700000001000000],
        vec![0, 9999, 0, 99000000, -1, -1],
        vec![0, 19, 0, 5000000, -1, -1],
        vec![1, 0, 59000000, 59000000, -1, -1],
    ];
    let reply = eval(redis, &keys, &format!("1700000001000000 {rest}"));
    assert_eq!(reply.unwrap(), second.concat());
}

#[tokio::test]
async fn the_store_runs_the_program_as_it_is_assembled_here() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let name = Script::new(&program()).get_hash().to_owned();
    assert_eq!(command::<[bool; 1]>(redis, &["SCRIPT", "EXISTS", &name]), [false]);
    RedisStore::connect(&server.url()).unwrap().check().await.unwrap();
    assert_eq!(command::<[bool; 1]>(redis, &["SCRIPT", "EXISTS", &name]), [true]);

    let words = [
        "EVALSHA",
        &name,
        "1",
        "key",
        "5",
        "1",
        "sliding_log",
        "3",
        "10",
        "1",
        "acquire",
        "1",
        "1",
        "1",
        "2",
        "0",
    ];
    assert_eq!(command::<Vec<i64>>(redis, &words), [5, 0, 1, 0, 10, 5, 0]);
}

/// Each algorithm at 10 in 1000 microseconds, and the same limit raised to 14.
const RULES: [[&str; 2]; 8] = [
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

/// What is there before: nothing, or what charges at these times left.
const BEFORE: [&[i64]; 6] = [
    &[],
    &[NOW - 300, NOW - 20],
    &[NOW - 1200, NOW - 500],
    &[NOW - 1000],
    &[NOW - 50_000, NOW - 49_990],
    &[NOW + 120],
];

/// Operations on two keys, again and again. `@5.1` is what operation 5, counted from 0, replied of key 1: its receipt.
const OPERATIONS: [&str; 22] = [
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
];

/// The same where every other operation goes by the limits as they were raised, rules 3 and 4.
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

/// The receipts in a reply to one operation, by key, as a settle takes them.
fn receipts(operation: &str, rules: &[&str], reply: &[i64]) -> HashMap<String, String> {
    let words: Vec<&str> = operation.split_whitespace().collect();
    if words[0] != "acquire" {
        return HashMap::new();
    }
    let charges = words[2..].chunks(4).zip(reply[1..].chunks(6));
    let receipt = |(charge, reply): (&[&str], &[i64])| {
        let rule: Vec<&str> = rules[charge[1].parse::<usize>().unwrap() - 1].split(' ').collect();
        let unit = if rule[0].ends_with("bucket") { rule[2] } else { "0" };
        (charge[0].to_owned(), format!("{} {} {unit}", reply[4], reply[5]))
    };
    charges.map(receipt).collect()
}

/// An operation with its receipts filled in.
fn spell(operation: &str, receipts: &[HashMap<String, String>]) -> String {
    let fill_in = |word: &str| match word.strip_prefix('@').and_then(|place| place.split_once('.')) {
        Some((operation, key)) => receipts[operation.parse::<usize>().unwrap()][key].clone(),
        None => word.to_owned(),
    };
    let words: Vec<String> = operation.split_whitespace().map(fill_in).collect();
    words.join(" ")
}

/// Leaves behind what charges at these times do.
fn prepare(redis: &mut Connection, keys: &[&str], rules: &[&str], before: &[i64]) {
    command::<()>(redis, &["FLUSHALL"]);
    for now in before {
        let arguments = format!("{now} 2 {} {} 1 acquire 2 1 1 2 0 2 2 1 0", rules[0], rules[1]);
        eval(redis, keys, &arguments).unwrap();
    }
}

#[test]
fn one_call_answers_as_several_do_and_leaves_the_same_state() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let keys = ["first", "second"];
    let pairs = (0..RULES.len()).map(|index| (RULES[index], RULES[(index + 1) % RULES.len()]));
    for (([first, first_raised], [second, second_raised]), before, operations) in pairs.flat_map(|pair| {
        let operations = [&OPERATIONS[..], &RAISED[..]];
        let each = move |before| operations.map(|operations| (pair, before, operations));
        BEFORE.into_iter().flat_map(each)
    }) {
        let rules = [first, second, first_raised, second_raised];
        let head = format!("{NOW} 4 {}", rules.join(" "));

        prepare(redis, &keys, &rules, before);
        let (mut spelled, mut known, mut several) = (Vec::new(), Vec::new(), vec![NOW]);
        for operation in operations {
            spelled.push(spell(operation, &known));
            let reply = eval(redis, &keys, &format!("{head} 1 {}", spelled.last().unwrap())).unwrap();
            several.extend(&reply[1..]);
            known.push(receipts(operation, &rules, &reply));
        }
        let left_by_several = keys.map(|key| state(redis, key));

        prepare(redis, &keys, &rules, before);
        let arguments = format!("{head} {} {}", operations.len(), spelled.join(" "));
        let context = format!("{first}, {second}, charged at {before:?}: {}", spelled.join(" "));
        assert_eq!(eval(redis, &keys, &arguments).unwrap(), several, "{context}");
        assert_eq!(keys.map(|key| state(redis, key)), left_by_several, "{context}");
    }
}

/// How often each command has been run.
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
    let refused = "3 acquire 1 1 1 99 0  acquire 2 1 1 1 0 2 1 99 0  acquire 1 1 1 0 0";
    let taken_back = "2 acquire 1 1 1 2 0  settle 1 1 1 2 5000 200 100 0";
    for (rule, operations, expected) in [
        ("token_bucket 10 100 1", many, "get 2 set 2"),
        ("leaky_bucket 10 100 1 1 -1", many, "get 2 set 2"),
        ("fixed_window 10 1000 0", many, "get 2 set 2"),
        ("sliding_counter 10 1000 1", many, "get 2 set 2"),
        ("sliding_log 10 1000", many, "lindex 2 pexpire 2 rpush 2"),
        ("token_bucket 10 100 1", refused, "get 2"),
        ("sliding_log 10 1000", refused, "lindex 2"),
        ("token_bucket 10 100 1", taken_back, "del 1 get 1"),
    ] {
        command::<()>(redis, &["FLUSHALL"]);
        command::<()>(redis, &["CONFIG", "RESETSTAT"]);
        eval(redis, &["first", "second"], &format!("5000 1 {rule} {operations}")).unwrap();
        let mut counts: Vec<_> = counts(redis).into_iter().collect();
        counts.retain(|(name, _)| name != "eval" && name != "config|resetstat");
        counts.sort();
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        assert_eq!(counts.join(" "), expected, "{rule}: {operations}");
    }
}

#[test]
fn garbage_under_a_log_makes_way_for_a_charge_that_the_same_call_corrects() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let arguments = "5000 1 sliding_log 10 1000 2 acquire 1 1 1 3 0 settle 1 1 1 3 5000 0 0 1";
    let reply = [5000, 0, 7, 0, 1000, 5000, 0, 0, 9, 0, 1000, -1, -1, 1];
    for garbage in [&["SET", "key", "garbage"], &["RPUSH", "key", "garbage"]] {
        command::<()>(redis, &["DEL", "key"]);
        command::<()>(redis, garbage);
        assert_eq!(eval(redis, &["key"], arguments).unwrap(), reply, "{garbage:?}");
        assert_eq!(state(redis, "key"), [b"5000"], "{garbage:?}");
    }
}

/// Holds what such a call is told against what it should be, and makes sure that nothing came of it.
fn assert_refused(arguments: &str, expected: &str) {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let error = eval(redis, &["key"], arguments).unwrap_err().to_string();
    assert!(error.contains(expected), "{arguments}: {error}");
    assert_eq!(command::<u64>(redis, &["DBSIZE"]), 0, "{arguments}");
}

#[test]
fn an_unknown_name_is_an_error_that_says_it_and_nothing_is_left_behind() {
    for (arguments, expected) in [
        (
            "5 1 round_robin 1 1 1 acquire 1 1 1 1 0",
            "tollgate: no algorithm round_robin",
        ),
        (
            "5 2 sliding_log 9 9 Token_Bucket 1 1 1 0",
            "tollgate: no algorithm Token_Bucket",
        ),
        ("* 1 sliding_log 9 9 1 borrow 1 1 1 1", "tollgate: no operation borrow"),
        (
            "5 1 sliding_log 9 9 2 acquire 1 1 1 1 0 refund 1 1 1",
            "tollgate: no operation refund",
        ),
        (
            "5 1 fixed_window 9 9 0 2 acquire 1 1 1 1 0 refund 1 1 1",
            "tollgate: no operation refund",
        ),
        ("5 1 fixed_window 9 9 0 1", "tollgate: no operation nil"),
        ("5 1", "tollgate: no algorithm nil"),
    ] {
        assert_refused(arguments, expected);
    }
}

/// A refund from a log is written at once, and so is the charge before it, but never without an end.
#[test]
fn an_unknown_name_after_a_refund_leaves_no_key_without_an_end() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let arguments = "5 1 sliding_log 9 9 3 acquire 1 1 1 2 0 settle 1 1 1 2 5 0 0 1 borrow 1 1 1 1";
    eval(redis, &["key"], arguments).unwrap_err();
    assert!(command::<i64>(redis, &["PTTL", "key"]) > 0);
}
