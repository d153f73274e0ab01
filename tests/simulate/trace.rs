//! Traces: answers, and invalid requests.

use super::{Case, limit, two_per_minute};

/// A line of a trace: a time, and the other fields.
fn at(seconds: u64, rest: &str) -> String {
    format!("{{\"at_us\":{}000000{rest}}}\n", 1_700_000_000 + seconds)
}

#[test]
fn the_format_of_an_answer() {
    let bucket = "limit = 10\nwindow = \"1m\"\nkey = \"header:x-user-id\"";
    let trace = at(
        0,
        r#","method":"GET","path":"/api/x","headers":{"x-user-id":"u1"},"ip":"203.0.113.7","cost":1"#,
    );
    let answer = r#"{"admitted":true,"delay_us":0,"limits":[{"name":"user","outcome":"admitted","remaining":9,"retry_after_us":null,"reset_after_us":6000000}]}"#;
    let run = Case::trace(&limit("user", "token_bucket", bucket), trace).run(&[]);
    assert_eq!(run.output, format!("{answer}\n"));
    assert_eq!((run.code, run.errors.lines().count()), (Some(0), 1), "{}", run.errors);
    assert!(run.errors.starts_with("1 line in "), "{}", run.errors);
}

/// A shadow limit and a queue in file order, exempt requests, and requests that no limit matches.
#[test]
fn denied_delayed_shadowed_exempt_and_unmatched() {
    let watched = "limit = 1\nwindow = \"1m\"\nkey = \"ip\"\nshadow = true\nmethods = [\"GET\", \"POST\"]";
    let queue = "limit = 1\nwindow = \"10s\"\ncapacity = 2\nkey = \"ip\"\nmethods = [\"GET\"]";
    let rules = limit("watched", "fixed_window", watched)
        + &limit("queue", "leaky_bucket", queue)
        + "[[exempt]]\npath = \"/healthz\"\n";
    let request = |rest: &str| at(20, &format!(r#","ip":"203.0.113.7"{rest}"#));
    let trace = [
        request(""),
        request(""),
        request(""),
        request(r#","cost":0"#),
        request(r#","path":"/healthz?really=1""#),
        request(r#","method":"DELETE""#),
        request(r#","method":"POST""#),
        request(r#","cost":3"#),
    ];
    let watched = |outcome: &str, remaining: u64, retry: &str| {
        format!(
            r#"{{"name":"watched","outcome":"{outcome}","remaining":{remaining},"retry_after_us":{retry},"reset_after_us":20000000}}"#
        )
    };
    let queue = |outcome: &str, remaining: u64, retry: &str, reset: u64| {
        format!(
            r#"{{"name":"queue","outcome":"{outcome}","remaining":{remaining},"retry_after_us":{retry},"reset_after_us":{reset}}}"#
        )
    };
    let answer = |admitted: bool, delay: u64, limits: &[String]| {
        format!(
            r#"{{"admitted":{admitted},"delay_us":{delay},"limits":[{}]}}"#,
            limits.join(",")
        )
    };
    let limited = || watched("limited", 0, "20000000");
    let expected = [
        answer(
            true,
            0,
            &[watched("admitted", 0, "null"), queue("admitted", 1, "null", 10_000_000)],
        ),
        answer(true, 10_000_000, &[limited(), queue("admitted", 0, "null", 20_000_000)]),
        answer(false, 0, &[limited(), queue("limited", 0, "10000000", 20_000_000)]),
        answer(
            true,
            0,
            &[watched("admitted", 0, "null"), queue("admitted", 0, "null", 20_000_000)],
        ),
        answer(true, 0, &[]),
        answer(true, 0, &[]),
        answer(true, 0, &[limited()]),
        answer(
            false,
            0,
            &[
                watched("impossible", 0, "null"),
                queue("impossible", 0, "null", 20_000_000),
            ],
        ),
    ];
    assert_eq!(Case::trace(&rules, trace.concat()).run(&[]).lines(), expected);
}

#[test]
fn a_request_without_a_key_is_an_error() {
    let rules = two_per_minute()
        + &limit(
            "user",
            "sliding_log",
            "limit = 1\nwindow = \"1m\"\nkey = \"header:x-user-id\"",
        );
    let trace = [
        at(0, r#","ip":"203.0.113.7""#),
        at(0, r#","headers":{"x-user-id":"u1"}"#),
        at(0, r#","headers":{"x-user-id":"u1"},"ip":"203.0.113.7""#),
    ];
    let run = Case::trace(&rules, trace.concat()).run(&[]);
    let lines = run.lines();
    assert_eq!(
        lines[0],
        r#"{"admitted":false,"error":"the request lacks the `x-user-id` header"}"#
    );
    assert_eq!(
        lines[1],
        r#"{"admitted":false,"error":"the request lacks a peer address"}"#
    );
    // Neither was charged.
    assert!(
        lines[2].contains(r#""name":"client","outcome":"admitted","remaining":1"#),
        "{}",
        lines[2]
    );
}

#[test]
fn empty_lines_are_skipped_and_unknown_fields_ignored() {
    let trace = format!(
        "\r\n  \n{}{}{}",
        at(0, r#","agent":"x""#),
        at(0, r#","body":1,"ip":null"#),
        at(1, "")
    );
    let run = Case::trace(
        &limit("all", "fixed_window", "limit = 9\nwindow = \"1m\"\nkey = \"global\""),
        trace,
    )
    .run(&[]);
    let errors: Vec<_> = run.errors.lines().collect();
    assert_eq!(
        errors[0],
        "input:3: unknown field \"agent\"; unknown fields are ignored"
    );
    assert_eq!(
        (run.code, run.lines().len(), errors.len()),
        (Some(0), 3, 2),
        "{}",
        run.errors
    );
}

#[test]
fn an_invalid_request_ends_the_run_and_is_named() {
    let invalid = [
        ("{", "input:2: not a request: EOF while parsing an object at column 1"),
        ("[1]", "input:2: not a request: invalid type: sequence, expected a map"),
        ("{}", "input:2: at_us is missing"),
        (
            r#"{"at_us":-1}"#,
            "input:2: at_us: -1 is not a whole number of microseconds",
        ),
        (r#"{"at_us":1.5}"#, "input:2: at_us: 1.5 is not"),
        (r#"{"at_us":1700000000000000000}"#, "up to the year 2112"),
        (
            r#"{"at_us":1,"method":"A B"}"#,
            r#"input:2: method: "A B" is not a method, like GET"#,
        ),
        (
            r#"{"at_us":1,"path":"api"}"#,
            r#"input:2: path: "api" is not a path that begins with /"#,
        ),
        (r#"{"at_us":1,"path":"/a b"}"#, r#"input:2: path: "/a b" is not"#),
        (
            r#"{"at_us":1,"headers":["a"]}"#,
            "input:2: headers: [\"a\"] is not an object",
        ),
        (
            r#"{"at_us":1,"headers":{"a b":"c"}}"#,
            "input:2: headers.a b: not a valid header name",
        ),
        (
            r#"{"at_us":1,"headers":{"a":1}}"#,
            "input:2: headers.a: 1 is not a header value, as a string",
        ),
        (
            r#"{"at_us":1,"headers":{"a":"\n"}}"#,
            r#"input:2: headers.a: "\n" is not"#,
        ),
        (
            r#"{"at_us":1,"ip":"localhost"}"#,
            r#"input:2: ip: "localhost" is not an address, like"#,
        ),
        (
            r#"{"at_us":1,"cost":4294967296}"#,
            "input:2: cost: 4294967296 is not a whole number from 0 to 4294967295",
        ),
        (r#"{"at_us":1,"cost":-1}"#, "input:2: cost: -1 is not"),
    ];
    let good = at(0, r#","ip":"203.0.113.7","cost":4294967295"#);
    for (line, message) in invalid {
        let run = Case::trace(&two_per_minute(), format!("{good}{line}\n{good}")).run(&[]);
        // Requests before it are answered.
        assert_eq!(run.lines().len(), 1, "{line}");
        let errors = run.failure();
        assert!(
            errors.contains(message) && errors.lines().count() == 1,
            "{line}: {errors}"
        );
    }
}
