//! A limit with a lease is simulated by its stricter shared rule.

use support::redis::RedisServer;

use super::{Case, limit};

/// The number of admitted requests of a trace, and of the same trace on Redis.
fn admitted(redis: &RedisServer, algorithm: &str, terms: &str, seconds: &[u64]) -> usize {
    let rules = limit(
        "all",
        algorithm,
        &format!("limit = 10\nwindow = \"10s\"\nkey = \"global\"\n{terms}"),
    );
    let lines = seconds
        .iter()
        .map(|second| format!("{{\"at_us\":{}000000}}\n", 1_700_000_000 + second));
    let case = Case::trace(&rules, lines.collect::<String>());
    let results = case.run(&[]).success();
    assert_eq!(
        case.run(&["--store", &redis.url()]).success(),
        results,
        "{algorithm} {terms}"
    );
    let admitted = results.lines().filter(|line| line.starts_with("{\"admitted\":true"));
    admitted.count()
}

#[test]
fn a_leased_limit_is_simulated_by_its_shared_rule() {
    let redis = RedisServer::start();
    let burst = [0; 20];
    // The second burst is later than the window of ten seconds, and earlier than the window and the lease.
    let bursts = [[0; 20], [11; 20]].concat();
    let lease = "lease = \"2s\"";
    for (algorithm, terms, seconds, without, with) in [
        // Two tokens are refilled in the time of the lease.
        ("token_bucket", "", &burst[..], 10, 8),
        ("token_bucket", "capacity = 5", &burst, 5, 3),
        ("leaky_bucket", "queue = false", &burst, 10, 8),
        ("sliding_log", "", &bursts, 20, 10),
        ("fixed_window", "", &bursts, 20, 20),
        ("sliding_counter", "", &bursts, 11, 11),
    ] {
        assert_eq!(
            admitted(&redis, algorithm, terms, seconds),
            without,
            "{algorithm} {terms}"
        );
        let terms = format!("{terms}\n{lease}");
        assert_eq!(
            admitted(&redis, algorithm, &terms, seconds),
            with,
            "{algorithm} {terms}"
        );
    }
}
