//! The operation `lease`: it charges like an acquire, but only after an acquire that was admitted.

use support::{
    algorithms::{assert_has_each_algorithm, name_in_rule},
    redis::{RedisServer, dump_all, stored},
};
use tollgate::redis::Connection;

use crate::script::{command, eval, eval_packed};

/// Each algorithm with 10 per second.
const ALGORITHMS: [&str; 7] = [
    "token_bucket 10 100000 1",
    "leaky_bucket 10 100000 1 0 -1",
    "leaky_bucket 10 100000 1 1 -1",
    "fixed_window 10 1000000 0",
    "fixed_window 10 1000000 1",
    "sliding_log 10 1000000",
    "sliding_counter 10 250000 4",
];
const NOW: i64 = 1_700_000_000_000_700;
const NOT_CHARGED: [i64; 6] = [1, 0, 0, 0, -1, -1];

/// Runs operations in one call, as text and packed, and returns the six integers of each.
fn call(redis: &mut Connection, algorithm: &str, operations: &[&str]) -> Vec<[i64; 6]> {
    let arguments = format!("{NOW} 1 {algorithm} {} {}", operations.len(), operations.join(" "));
    let reply = eval(redis, &["text"], &arguments).unwrap();
    assert_eq!(eval_packed(redis, &["packed"], &arguments), reply, "{arguments}");
    let (charges, _) = reply[1..].as_chunks();
    charges.to_vec()
}

#[test]
fn a_lease_is_charged_like_an_acquire_if_the_request_was_admitted() {
    assert_has_each_algorithm(ALGORITHMS.map(name_in_rule));
    let server = RedisServer::start();
    let redis = &mut server.client();
    for algorithm in ALGORITHMS {
        command::<()>(redis, &["FLUSHALL"]);
        let acquires = call(redis, algorithm, &["acquire 1 1 1 2 0", "acquire 1 1 1 3 0"]);
        let after_acquires = ["text", "packed"].map(|key| stored(redis, key));
        command::<()>(redis, &["FLUSHALL"]);
        let leased = call(redis, algorithm, &["acquire 1 1 1 2 0", "lease 1 1 1 3 0"]);
        assert_eq!(leased, acquires, "{algorithm}");
        assert_eq!(
            ["text", "packed"].map(|key| stored(redis, key)),
            after_acquires,
            "{algorithm}"
        );
    }
}

#[test]
fn a_denied_request_leases_nothing() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    for algorithm in ALGORITHMS {
        command::<()>(redis, &["FLUSHALL"]);
        call(redis, algorithm, &["acquire 1 1 1 1 0"]);
        let before = dump_all(redis);
        let denied = [
            "acquire 1 1 1 99 0",
            "lease 1 1 1 1 0",
            "peek 1 1 1 1 0",
            "lease 1 1 1 1 0",
        ];
        let charges = call(redis, algorithm, &denied);
        assert_eq!([charges[1], charges[3]], [NOT_CHARGED; 2], "{algorithm}");
        assert_eq!(dump_all(redis), before, "{algorithm}");
    }
}

/// Only the last acquire counts, and a lease that does not fit denies no request.
#[test]
fn the_refusal_of_a_lease_affects_nothing_else() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    for algorithm in ALGORITHMS
        .into_iter()
        .filter(|algorithm| !algorithm.ends_with("1 1 -1"))
    {
        command::<()>(redis, &["FLUSHALL"]);
        let operations = [
            "acquire 1 1 1 99 0",
            "acquire 1 1 1 2 0",
            "lease 1 1 1 9 0",
            "lease 1 1 1 3 0",
            "acquire 1 1 1 5 0",
            "lease 1 1 1 1 0",
        ];
        let charges = call(redis, algorithm, &operations);
        let outcomes: Vec<_> = charges.iter().map(|charge| charge[0]).collect();
        assert_eq!(outcomes, [2, 0, 1, 0, 0, 1], "{algorithm}");
    }
}
