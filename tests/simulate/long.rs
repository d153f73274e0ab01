//! A log that is long, at a speed.

use std::fmt::Write;

use super::{Case, limit};
use support::redis::RedisServer;

/// So many lines of a day, by a thousand clients, of which one comes as often as all the others.
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
fn every_line_of_a_long_log_counts() {
    let run = Case::log(&rules(), log(200_000)).run(&[]);
    assert!(run.errors.starts_with("200,000 lines in "), "{}", run.errors);
    let report = run.done();
    assert!(report.starts_with("happened: 200,000 lines, 2026-11-02 00:00:00 to 2026-11-02 23:59:59 UTC\n"));
    let row = |name: &str| {
        let row = report.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("requests"), ["requests", "200,000"]);
    // A full bucket and ten a minute, to the microsecond: that is what one client gets of a day.
    assert_eq!(row("client ")[1..3], ["200,000", "114,309"]);
    assert_eq!(
        row("client: top"),
        [
            "client:", "top", "10", "of", "1,000", "keys", "requests", "refused", "share"
        ]
    );
}

/// Redis is asked line by line, so this one is shorter.
#[test]
fn redis_reports_the_same() {
    let redis = RedisServer::start();
    let case = Case::log(&rules(), log(5_000));
    assert_eq!(case.run(&["--store", &redis.url()]).done(), case.run(&[]).done());
}
