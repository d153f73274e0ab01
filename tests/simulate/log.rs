//! Access logs: which lines are parsed, and how.

#[path = "../../cli/src/simulate/calendar.rs"]
mod calendar;

use support::project::tollgate;

use super::{Case, Run, limit, two_per_minute};

/// The row of a report that begins with `name`, with single spaces.
fn row(report: &str, name: &str) -> String {
    let row = report.lines().find(|line| line.starts_with(name));
    let row = row.unwrap_or_else(|| panic!("no {name} in {report}"));
    row.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line(host: &str, user: &str, time: &str, request: &str) -> String {
    format!("{host} - {user} [{time}] \"{request}\" 200 5\n")
}

fn plain(host: &str, seconds: u32) -> String {
    line(
        host,
        "-",
        &format!("02/Nov/2026:09:00:{seconds:02} +0000"),
        "GET / HTTP/1.1",
    )
}

#[test]
fn hosts_are_ipv4_ipv6_or_names() {
    let hosts = [
        "203.0.113.7",
        "2001:db8::7",
        "2001:db8::8",
        "::ffff:203.0.113.7",
        "example.com",
    ];
    let log: String = hosts.map(|host| plain(host, 0)).concat();
    let report = Case::log(&two_per_minute(), log).run(&[]).success();
    assert_eq!(row(&report, "ip:203.0.113.7"), "ip:203.0.113.7 2 0 0.0 %");
    assert_eq!(row(&report, "ip:["), "ip:[2001:db8::]/64 2 0 0.0 %");
    let lacking = "without a key 1 20.0 % the request lacks a peer address";
    assert_eq!(row(&report, "without a key"), lacking);
}

#[test]
fn times_in_any_zone() {
    // The first three are the same instant, in different years by local time.
    let times = [
        "01/Jan/2027:05:29:59 +0530",
        "31/Dec/2026:23:59:59 +0000",
        "31/Dec/2026:16:29:59 -0730",
        "31/Dec/2026:23:59:60 +0000",
        "29/Feb/2028:00:00:00 +0000",
    ];
    let log: String = times
        .map(|time| line("203.0.113.7", "-", time, "GET / HTTP/1.1"))
        .concat();
    let report = Case::log(&two_per_minute(), log).run(&[]).success();
    let span = "input: 5 lines, 2026-12-31 23:59:59 to 2028-02-29 00:00:00 UTC";
    assert_eq!(report.lines().next(), Some(span));
    assert_eq!(row(&report, "2026-12-31 23:59"), "2026-12-31 23:59 3 1 33.3 %");
}

/// Servers log a request when it ends, with the time at which it began.
#[test]
fn lines_out_of_order_are_counted() {
    let seconds = |seconds: u32| plain("203.0.113.7", seconds);
    let late = line("203.0.113.7", "-", "02/Nov/2026:09:01:00 +0000", "GET / HTTP/1.1");
    let log = [seconds(1), seconds(59), late.clone(), seconds(58), late].concat();
    let report = Case::log(&two_per_minute(), log).run(&[]).success();
    // A request that is too late for its window is counted in the next, which is full by then.
    assert_eq!(row(&report, "client"), "client 5 4 1 20.0 %");
    assert_eq!(row(&report, "2026-11-02 09:01"), "2026-11-02 09:01 2 1 50.0 %");
}

#[test]
fn the_user_is_a_header() {
    let user = "limit = 1\nwindow = \"1h\"\nkey = \"header:x-user-id\"";
    let rules = limit("user", "sliding_log", user);
    let time = "02/Nov/2026:09:00:00 +0000";
    let users = ["alice", "-", "bob", "alice", "John Doe", r"a\x22b", "\"\""];
    let log: String = users
        .map(|user| line("203.0.113.7", user, time, "GET / HTTP/1.1"))
        .concat();
    let case = Case::log(&rules, log);
    let report = case.run(&["--user-header", "X-User-Id"]).success();
    assert_eq!(row(&report, "x-user-id:alice"), "x-user-id:alice 2 1 50.0 %");
    assert_eq!(row(&report, "x-user-id:bob"), "x-user-id:bob 1 0 0.0 %");
    assert_eq!(row(&report, "user "), "user 5 4 1 20.0 %");
    let lacking = "without a key 2 28.6 % the request lacks the `x-user-id` header";
    assert_eq!(row(&report, "without a key"), lacking);
    let report = case.run(&[]).success();
    assert!(
        row(&report, "without a key").starts_with("without a key 7 100.0 %"),
        "{report}"
    );
}

/// The Combined format, with the escapes of Apache and nginx.
#[test]
fn referrer_and_user_agent_are_headers() {
    let by = |name: &str| {
        limit(
            name,
            "sliding_log",
            &format!("limit = 1\nwindow = \"1h\"\nkey = \"header:{name}\"\ndefault = \"none\""),
        )
    };
    let rules = by("referer") + &by("user-agent");
    let time = "203.0.113.7 - - [02/Nov/2026:09:00:00 +0000]";
    let tails = [
        r#" "https/a" "x@\"y""#,
        r#" "https/a" "x@\x22y" "0.003" more"#,
        r#" "-" "-""#,
        "",
        r#" "https/a" "unended"#,
    ];
    let log: String = tails
        .map(|tail| format!("{time} \"GET / HTTP/1.1\" 200 -{tail}\n"))
        .concat();
    let report = Case::log(&rules, log).run(&[]).success();
    assert_eq!(row(&report, "referer:https/a"), "referer:https/a 3 2 66.7 %");
    // Both spellings are one user agent, a digest in the key because it contains quotes.
    assert!(row(&report, "user-agent:#").ends_with(" 2 1 50.0 %"), "{report}");
    let missing = report.lines().filter(|line| line.starts_with("~none")).count();
    assert_eq!(missing, 2, "{report}");
}

#[test]
fn request_lines_of_any_form() {
    let rules = limit(
        "api",
        "sliding_log",
        "limit = 9\nwindow = \"1h\"\nkey = \"route\"\npath = \"/api/{*rest}\"",
    );
    let requests = [
        "GET /api/a?b=c HTTP/1.1",
        "GET /api/a",
        "PURGE http://example.com/api/a HTTP/2.0",
        "OPTIONS * HTTP/1.1",
        "GET /other HTTP/3",
    ];
    let log: String = requests
        .map(|request| line("203.0.113.7", "-", "02/Nov/2026:09:00:00 +0000", request))
        .concat();
    let report = Case::log(&rules, log).run(&[]).success();
    assert_eq!(row(&report, "api "), "api 3 3 0 0.0 %");
    assert_eq!(
        row(&report, "not limited"),
        "not limited 2 40.0 % exempt, or no limit matches"
    );
}

/// The report has the number of unreadable lines, and the first of them.
#[test]
fn unreadable_lines_are_reported() {
    let time = "02/Nov/2026:09:00:00 +0000";
    let with_request = |request: &str| line("203.0.113.7", "-", time, request).trim_end().to_owned();
    let at = |time: &str| line("203.0.113.7", "-", time, "GET / HTTP/1.1").trim_end().to_owned();
    let unreadable = [
        (String::new(), "no host"),
        ("GET / HTTP/1.1".into(), "no time in brackets"),
        ("203.0.113.7".into(), "no host"),
        ("203.0.113.7 - alice".into(), "no time in brackets"),
        ("203.0.113.7 - alice [yesterday] nothing".into(), "no request in quotes"),
        (
            at("32/Nov/2026:09:00:00 +0000"),
            "no time like 10/Oct/2000:13:55:36 -0700",
        ),
        (at("29/Feb/2027:09:00:00 +0000"), "no time like"),
        (at("02/Nov/2026:24:00:00 +0000"), "no time like"),
        (at("02/November/2026:09:00:00 +0000"), "no time like"),
        (at("02/Nov/2026:09:00:00"), "no time like"),
        (at("01/Jan/1970:00:00:00 +0001"), "no time like"),
        (
            format!("203.0.113.7 - - [{time}] \"GET / HTTP/1.1"),
            "no end of its request",
        ),
        (format!("203.0.113.7 - - [{time}] \"GET / HTTP/1.1\""), "no status"),
        (format!("203.0.113.7 - - [{time}] \"GET / HTTP/1.1\" OK 5"), "no status"),
        (format!("203.0.113.7 - - [{time}] \"GET / HTTP/1.1\" 200"), "no size"),
        (with_request("-"), "no request like GET / HTTP/1.1"),
        (with_request(r"\x16\x03\x01\x02"), "no request like"),
        (with_request("GET / a HTTP/1.1"), "no request like"),
        (with_request("GET / HTTP/1.1 more"), "no request like"),
        (with_request(r"G\xffT / HTTP/1.1"), "no method in its request"),
        (with_request("GET nowhere HTTP/1.1"), "no path in its request"),
        (with_request(r"GET /\x01 HTTP/1.1"), "no path in its request"),
    ];
    for (line, lacks) in &unreadable {
        let case = Case::log(
            &two_per_minute(),
            format!("{}{line}\n{line}\n", plain("203.0.113.7", 0)),
        );
        let report = case.run(&[]).success();
        let expected = format!("unreadable lines 2 the first: line 2 has {lacks}");
        assert!(row(&report, "unreadable").starts_with(&expected), "{line}: {report}");
    }
    let mut binary = plain("203.0.113.7", 0).into_bytes();
    binary.extend(b"\xff\xfe\x00 [ \" \n");
    assert!(
        row(
            &Case::log(&two_per_minute(), binary).run(&[]).success(),
            "unreadable lines"
        )
        .contains("line 2")
    );

    let all: String = unreadable.iter().map(|(line, _)| format!("{line}\n")).collect();
    let error = Case::log(&two_per_minute(), all).run(&[]).failure();
    assert!(
        error.contains("input: no line could be read: line 1 has no host"),
        "{error}"
    );
    let error = Case::log(&two_per_minute(), "").run(&[]).failure();
    assert!(error.contains("input: the log is empty"), "{error}");
}

/// Apache's vhost_combined, as in Debian's other_vhosts_access.log.
#[test]
fn virtual_hosts_before_the_address_are_reported() {
    let lacks = "no address in its first field, but in its second: remove the first with cut -d' ' -f2-";
    for (host, address) in [
        ("example.com:80", "203.0.113.7"),
        ("example.com", "2001:db8::7"),
        ("203.0.113.9:80", "203.0.113.7"),
    ] {
        let log = format!("{host} {}", plain(address, 0));
        let error = Case::log(&two_per_minute(), log).run(&[]).failure();
        assert!(error.contains(&format!("line 1 has {lacks}")), "{host}: {error}");
    }
    // An identity other than an address, as of RFC 1413.
    let log = plain("example.com", 0).replacen(" - ", " daemon ", 1);
    let report = Case::log(&two_per_minute(), log).run(&[]).success();
    assert_eq!(row(&report, "requests"), "requests 1");
}

#[test]
fn a_compressed_log_is_reported() {
    let case = Case::log(&two_per_minute(), b"\x1f\x8b\x08\x00compressed");
    let error = case.run(&[]).failure();
    assert!(
        error.contains("input: it is compressed: decompress it first, or pass - as the file, after zcat FILE |"),
        "{error}"
    );
}

#[test]
fn a_log_from_standard_input() {
    let case = Case::log(&two_per_minute(), plain("203.0.113.7", 0));
    let mut command = tollgate("simulate");
    let log = std::fs::File::open(case.folder.file("input")).unwrap();
    command
        .args(["--rules", &case.folder.file("rules.toml"), "--log", "-"])
        .stdin(log);
    let report = Run::of(command).success();
    assert!(report.starts_with("standard input: 1 line, "), "{report}");
}

#[test]
fn dates_and_day_numbers_convert_both_ways() {
    let (mut last, end) = ((1969, 12, 31), calendar::day_number(2401, 1, 1));
    for number in 0..end {
        let date = calendar::date_of_day(number);
        let (year, month, day) = last;
        let successors = [(year, month, day + 1), (year, month + 1, 1), (year + 1, 1, 1)];
        assert!(successors.contains(&date), "{date:?} after {last:?}");
        assert_eq!(calendar::day_number(date.0, date.1, date.2), number, "{date:?}");
        last = date;
    }
    assert_eq!((last, end), ((2400, 12, 31), 157_420));
}
