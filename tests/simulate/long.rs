//! Long logs.

use std::fmt::Write;

use super::{Case, limit};
use support::redis::RedisServer;

/// A day's log with this many lines by a thousand clients, one of which sends half of the requests.
pub(super) fn log(lines: u64) -> String {
    let mut log = String::new();
    for line in 0..lines {
        let second = line * 86_400 / lines;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let client = if line % 2 == 0 { 0 } else { line / 2 * 7919 % 1000 };
        let (high, low) = (client / 250, client % 250);
        writeln!(
            log,
            "10.0.{high}.{low} - - [02/Nov/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET /page/{line} HTTP/1.1\" 200 \
             1234 \"https://example.com/\" \"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\""
        )
        .unwrap();
    }
    log
}

pub(super) fn rules() -> String {
    let client = "limit = 10\nwindow = \"1m\"\nkey = \"ip\"";
    let all = "limit = 1000\nwindow = \"1m\"\nkey = \"global\"";
    limit("client", "token_bucket", client) + &limit("all", "sliding_counter", all)
}

#[test]
fn every_line_of_a_long_log_is_counted() {
    let run = Case::log(&rules(), log(200_000)).run(&[]);
    assert!(run.errors.starts_with("200,000 lines in "), "{}", run.errors);
    let report = run.success();
    assert!(report.starts_with("input: 200,000 lines, 2026-11-02 00:00:00 to 2026-11-02 23:59:59 UTC\n"));
    let row = |name: &str| {
        let row = report.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("requests"), ["requests", "200,000"]);
    // The frequent client gets a full bucket and ten per minute, to the microsecond.
    assert_eq!(row("client ")[1..3], ["200,000", "114,309"]);
    assert_eq!(
        row("client: top"),
        [
            "client:", "top", "10", "of", "1,000", "keys", "requests", "denied", "share"
        ]
    );
}

/// Each line is a round trip to Redis, so this log is shorter.
#[test]
fn redis_and_memory_report_the_same() {
    let redis = RedisServer::start();
    let case = Case::log(&rules(), log(5_000));
    assert_eq!(case.run(&["--store", &redis.url()]).success(), case.run(&[]).success());
}
