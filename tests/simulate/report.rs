//! The exact text of the report.

use super::{Case, limit};

const RULES: [(&str, &str, &str); 4] = [
    ("all", "fixed_window", "limit = 8\nwindow = \"1m\"\nkey = \"global\""),
    (
        "client",
        "leaky_bucket",
        "limit = 1\nwindow = \"10s\"\ncapacity = 3\nkey = \"ip\"",
    ),
    (
        "watched",
        "sliding_log",
        "limit = 1\nwindow = \"1h\"\nkey = \"ip\"\npath = \"/api/{*rest}\"\nshadow = true",
    ),
    (
        "unused",
        "token_bucket",
        "limit = 1\nwindow = \"1h\"\nkey = \"ip\"\npath = \"/nowhere\"",
    ),
];

const REPORT: &str = "\
input: 18 lines, 2026-11-02 08:59:00 to 2026-11-02 09:01:10 UTC

requests                   17
admitted                   12    70.6 %
denied                      2    11.8 %
not limited                 2    11.8 %  exempt, or no limit matches
without a key               1     5.9 %  the request lacks a peer address
shadow denials              2    11.8 %  of the admitted: denied by a shadow limit only
delayed                     4    23.5 %  of the admitted: queued by a leaky bucket, for up to 20s
unreadable lines            1            the first: line 18 has no time in brackets

by limit                                            requests      admitted        denied     share
all                                                       14            13             1     7.1 %
client                                                    14            13             1     7.1 %
watched (shadow)                                           3             1             2    66.7 %
unused                                                     0             0             0
(Each limit by itself. A request is admitted if no limit denies it; a denied request costs nothing.)

all: by key                                         requests        denied     share
global                                                    14             1     7.1 %

client: by key                                      requests        denied     share
ip:203.0.113.7                                             5             1    20.0 %
ip:203.0.113.8                                             3             0     0.0 %
ip:203.0.113.1                                             2             0     0.0 %
ip:198.51.100.1                                            1             0     0.0 %
ip:198.51.100.2                                            1             0     0.0 %
ip:198.51.100.3                                            1             0     0.0 %
ip:198.51.100.4                                            1             0     0.0 %

watched (shadow): by key                            requests        denied     share
ip:203.0.113.8                                             3             2    66.7 %

worst minutes, UTC                                  requests        denied     share
2026-11-02 09:00                                          11             1     9.1 %
2026-11-02 08:59                                           5             1    20.0 %
";

#[test]
fn the_report_of_a_small_log() {
    let mut rules = RULES
        .map(|(name, algorithm, rest)| limit(name, algorithm, rest))
        .concat();
    rules += "[[exempt]]\npath = \"/healthz\"\n";
    let log = std::cell::RefCell::new(String::new());
    let log_requests = |host: &str, time: &str, path: &str, times: usize| {
        let line = format!("{host} - - [02/Nov/2026:{time} +0000] \"GET {path} HTTP/1.1\" 200 5\n");
        *log.borrow_mut() += &line.repeat(times);
    };
    // The fourth does not fit into its bucket.
    log_requests("203.0.113.7", "08:59:00", "/", 4);
    log_requests("203.0.113.9", "08:59:59", "/healthz", 1);
    log_requests("203.0.113.8", "09:00:00", "/api/x", 3);
    log_requests("203.0.113.7", "09:00:01", "/", 1);
    for host in ["198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"] {
        log_requests(host, "09:00:02", "/", 1);
    }
    // The limit of eight per minute is exhausted.
    log_requests("203.0.113.1", "09:00:03", "/", 1);
    log_requests("example.com", "09:00:04", "/", 1);
    log_requests("203.0.113.9", "09:00:05", "/healthz", 1);
    log_requests("203.0.113.1", "09:01:10", "/", 1);
    *log.borrow_mut() += "garbage - -\n";
    let run = Case::log(&rules, log.into_inner()).run(&[]);
    assert_eq!(run.output, REPORT);
    assert!(run.output.lines().all(|line| line.chars().count() <= 100));
    assert!(
        run.errors.starts_with("18 lines in ") && run.errors.lines().count() == 1,
        "{}",
        run.errors
    );
}

#[test]
fn the_report_lists_the_worst_ten() {
    let rules = limit("client", "fixed_window", "limit = 1\nwindow = \"1s\"\nkey = \"ip\"");
    let mut log = String::new();
    // A frequent client that is never denied is not listed.
    for second in 0..60 {
        log += &format!("203.0.113.99 - - [02/Nov/2026:10:00:{second:02} +0000] \"GET / HTTP/1.1\" 200 5\n");
    }
    for minute in 0..12 {
        for _ in 0..=minute {
            log += &format!("203.0.113.{minute} - - [02/Nov/2026:09:{minute:02}:00 +0000] \"GET / HTTP/1.1\" 200 5\n");
        }
    }
    let report = Case::log(&rules, log).run(&[]).success();
    let sections: Vec<&str> = report.split("\n\n").collect();
    let names = |section: &str, width: usize| -> Vec<String> {
        let rows = section.lines().skip(1);
        rows.map(|row| row[..width].trim().to_owned()).collect()
    };
    let worst = (2..12).rev();
    assert!(sections[3].starts_with("client: top 10 of 13 keys  "), "{report}");
    let keys: Vec<String> = worst.clone().map(|minute| format!("ip:203.0.113.{minute}")).collect();
    assert_eq!(names(sections[3], 46), keys);
    let minutes: Vec<String> = worst.map(|minute| format!("2026-11-02 09:{minute:02}")).collect();
    assert_eq!(names(sections[4], 46), minutes);
}

#[test]
fn no_denials_and_a_truncated_name() {
    let long = "a".repeat(64);
    let rules = limit(&long, "fixed_window", "limit = 9\nwindow = \"1h\"\nkey = \"ip\"");
    let line = "203.0.113.7 - - [02/Nov/2026:09:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n";
    let report = Case::log(&rules, line).run(&[]).success();
    assert!(report.ends_with("\n\nNo request was denied.\n"), "{report}");
    assert!(report.contains(&format!("{}…", &long[..45])), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 100), "{report}");
}
