//! The Lua script without the store, called as lua/README.md documents.

mod concurrency;
mod fast_path;
mod leases;
mod several_operations;

use std::fs;

use support::{
    algorithms::assert_has_each_algorithm,
    doc_tables::code_spans,
    page::Page,
    project::root,
    redis::{RedisServer, stored},
};
use tollgate::redis::{Connection, RedisResult, Script, cmd};

const PARTS: [&str; 10] = [
    "prelude",
    "fast_path",
    "rules",
    "bucket",
    "fixed_window",
    "sliding_log",
    "sliding_counter",
    "concurrency",
    "operations",
    "driver",
];

fn script() -> String {
    parts(&PARTS)
}

/// The script without what decides about calls that the fast path leaves.
fn fast_path() -> String {
    parts(&PARTS[..2])
}

fn parts(parts: &[&str]) -> String {
    let path = |part| root().join(format!("lua/{part}.lua"));
    parts
        .iter()
        .map(|part| fs::read_to_string(path(part)).unwrap())
        .collect()
}

/// Evaluates the script with arguments separated by whitespace.
fn eval(redis: &mut Connection, keys: &[&str], arguments: &str) -> RedisResult<Vec<i64>> {
    let mut command = cmd("EVAL");
    command.arg(script()).arg(keys.len()).arg(keys);
    arguments
        .split_whitespace()
        .for_each(|argument| _ = command.arg(argument));
    command.query(redis)
}

/// Evaluates the script with packed arguments, and unpacks the reply.
fn eval_packed(redis: &mut Connection, keys: &[&str], arguments: &str) -> Vec<i64> {
    eval_packed_by(&script(), redis, keys, arguments)
}

fn eval_packed_by(script: &str, redis: &mut Connection, keys: &[&str], arguments: &str) -> Vec<i64> {
    const PACK: &str =
        "for i, text in ipairs(ARGV) do ARGV[i] = tonumber(text) or text end return cmsgpack.pack(unpack(ARGV))";
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let packed: Vec<u8> = cmd("EVAL").arg(PACK).arg(0).arg(arguments).query(redis).unwrap();
    let mut call = cmd("EVAL");
    call.arg(script).arg(keys.len()).arg(keys).arg(packed);
    let reply: Vec<u8> = call.query(redis).unwrap();
    cmd("EVAL")
        .arg("return cmsgpack.unpack(ARGV[1])")
        .arg(0)
        .arg(reply)
        .query(redis)
        .unwrap()
}

fn command<T: tollgate::redis::FromRedisValue>(redis: &mut Connection, arguments: &[&str]) -> T {
    cmd(arguments[0]).arg(&arguments[1..]).query(redis).unwrap()
}

#[test]
fn readme_token_bucket() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let key = "rate_limit:token_bucket:user:60000000:user:12345";

    let charge = "1700000000000000  1 token_bucket 20 600000 1  1 acquire 1 1 1 5 0";
    let reply = [1700000000000000, 0, 15, 0, 3000000, 1700000000000000, 3000000];
    assert_eq!(eval(redis, &[key], charge).unwrap(), reply);
    assert_eq!(stored(redis, key).unwrap(), "3000000 600000 1700000000000000");
    let bytes = b"\xd2\xff\xd2\x39\x3f\xce\x00\x09\x27\xc0\xcf\x00\x06\x0a\x24\x18\x1e\x40\x00";
    assert_eq!(command::<Vec<u8>>(redis, &["GET", key]), bytes);

    let refund = "1700000001000000  1 token_bucket 20 600000 1  1 settle 1 1 1 5 1700000000000000 3000000 600000 0";
    let reply = [1700000001000000, 0, 20, 0, 0, -1, -1];
    assert_eq!(eval(redis, &[key], refund).unwrap(), reply);
    assert_eq!(stored(redis, key), None);
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
        vec![0, (1 << 33) + 60000000, 0, 60000000, 1700000000000000, 0],
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
async fn the_store_runs_the_same_script() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let hash = Script::new(&script()).get_hash().to_owned();
    assert_eq!(command::<[bool; 1]>(redis, &["SCRIPT", "EXISTS", &hash]), [false]);
    server.store().build().unwrap().check().await.unwrap();
    assert_eq!(command::<[bool; 1]>(redis, &["SCRIPT", "EXISTS", &hash]), [true]);

    let evalsha = [
        "EVALSHA",
        &hash,
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
    assert_eq!(command::<Vec<i64>>(redis, &evalsha), [5, 0, 1, 0, 10, 5, 0]);
}

#[test]
fn the_tables_of_the_readme_have_every_algorithm() {
    let readme = Page::read("lua/README.md");
    for head in ["| algorithm | numbers |", "| algorithm | type | value | expires at |"] {
        let (_, table) = readme.text.split_once(head).unwrap();
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let names: Vec<String> = rows
            .flat_map(|row| code_spans(row.split('|').nth(1).unwrap()))
            .collect();
        assert_has_each_algorithm(names.iter().map(String::as_str));
    }
}

/// Asserts that the call fails with this error and writes no key.
fn assert_rejected(arguments: &str, expected: &str) {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let error = eval(redis, &["key"], arguments).unwrap_err().to_string();
    assert!(error.contains(expected), "{arguments}: {error}");
    assert_eq!(command::<u64>(redis, &["DBSIZE"]), 0, "{arguments}");
}

#[test]
fn an_unknown_name_is_an_error_and_writes_no_key() {
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
        assert_rejected(arguments, expected);
    }
}

/// A refund from a log is written immediately, and keeps the expiry time.
#[test]
fn an_unknown_name_after_a_refund_leaves_no_key_without_expiry() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    eval(redis, &["key"], "5 1 sliding_log 9 9 1 acquire 1 1 1 2 0").unwrap();
    let arguments = "6 1 sliding_log 9 9 3 acquire 1 1 1 2 0 settle 1 1 1 2 5 0 0 1 borrow 1 1 1 1";
    eval(redis, &["key"], arguments).unwrap_err();
    assert_eq!(stored(redis, "key").unwrap(), "5");
    assert!(command::<i64>(redis, &["PTTL", "key"]) > 0);
}
