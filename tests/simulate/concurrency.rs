//! Concurrency limits: a request holds its slot for its duration.

use proptest::collection::vec;
use serde_json::Value;
use support::{property::holds, redis::RedisServer};

use super::{Case, limit};

const START: u64 = 1_700_000_000_000_000;
const DAY: u64 = 86_400_000_000;

/// This many requests at once.
fn at_once(slots: u32, more: &str) -> String {
    limit(
        "exports",
        "concurrency",
        &format!("limit = {slots}\nkey = \"global\"\n{more}"),
    )
}

/// A trace of requests: each with its time after the start, and its duration.
fn trace(requests: &[(u64, u64)]) -> String {
    let line = |(at, duration): &(u64, u64)| format!("{{\"at_us\":{},\"duration_us\":{duration}}}\n", START + at);
    requests.iter().map(line).collect()
}

/// Whether each request of a run on both stores is admitted.
fn admitted(rules: &str, trace: &str, redis: &RedisServer) -> Vec<bool> {
    let case = Case::trace(rules, trace);
    let memory = case.run(&[]).success();
    assert_eq!(memory, case.run(&["--store", &redis.url()]).success(), "{rules}{trace}");
    let lines = memory.lines();
    lines.map(|line| line.starts_with("{\"admitted\":true")).collect()
}

#[test]
fn slots_are_released_at_their_exact_time_before_a_request_at_that_time() {
    let redis = RedisServer::start();
    for (requests, expected) in [
        (
            &[(0, 10), (5, 10), (9, 10), (10, 10), (14, 1), (15, 1)][..],
            &[true, true, false, true, false, true][..],
        ),
        // At the same microsecond; without a duration, a slot is released at once.
        (
            &[(0, 1), (0, 1), (0, 1), (1, 0), (1, 0), (1, 0)],
            &[true, true, false, true, true, true],
        ),
        // Longer than the time to live of the rules, without a request in between.
        (
            &[
                (0, DAY - 1),
                (0, 3_600_000_000),
                (3_599_999_999, 1),
                (3_600_000_000, DAY - 1),
                (DAY - 2, 1),
                (DAY - 1, 1),
            ],
            &[true, true, false, true, false, true],
        ),
    ] {
        let rules = at_once(2, "time_to_live = \"1s\"");
        assert_eq!(admitted(&rules, &trace(requests), &redis), expected, "{requests:?}");
    }
}

/// A request does not undo what was released, and holds while the time goes back; for less than a day in all.
#[test]
fn the_time_may_go_back() {
    let redis = RedisServer::start();
    for (requests, expected) in [
        // The first is held at the earlier times too, until its time comes.
        (
            &[(100, 50), (20, 10), (149, 10), (150, 10)][..],
            &[true, false, false, true][..],
        ),
        // It has been released, and stays so when the time goes back.
        (&[(100, 50), (150, 0), (120, 10)], &[true, true, true]),
        // A day or more would remain: it is released. Less remains: it is held.
        (&[(DAY, 50), (50, 10)], &[true, true]),
        (&[(DAY, 50), (51, 10)], &[true, false]),
        // It is not held again, and another one is held from the earlier time on.
        (
            &[(DAY, 50), (50, 10), (59, 1), (60, 1), (DAY, 1)],
            &[true, true, false, true, true],
        ),
    ] {
        assert_eq!(
            admitted(&at_once(1, ""), &trace(requests), &redis),
            expected,
            "{requests:?}"
        );
    }
}

#[test]
fn limits_hold_and_count_together_or_not_at_all() {
    let redis = RedisServer::start();
    let twice = limit("twice", "fixed_window", "limit = 3\nwindow = \"1d\"\nkey = \"global\"");
    let requests = [(0, 100), (1, 1), (2, 1), (100, 10), (120, 10), (130, 10)];
    // The second and the third are denied by the slot and cost nothing; the last is denied by the window and holds nothing.
    assert_eq!(
        admitted(&(at_once(1, "") + &twice), &trace(&requests), &redis),
        [true, false, false, true, true, false]
    );
    // A shadow denies nothing, and a request that it would have denied holds none of its slots.
    let shadow = at_once(1, "shadow = true");
    let case = Case::trace(&shadow, trace(&[(0, 10), (5, 10), (10, 10), (15, 1)]));
    let memory = case.run(&[]).success();
    assert_eq!(memory, case.run(&["--store", &redis.url()]).success());
    let outcomes = memory.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let outcomes = outcomes.map(|line| (line["admitted"] == true, line["limits"][0]["outcome"] == "admitted"));
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [(true, true), (true, false), (true, true), (true, false)]
    );
}

/// A queue delays a request that has its slot already.
#[test]
fn a_request_holds_its_slot_while_it_is_delayed() {
    let redis = RedisServer::start();
    let queue = limit(
        "queue",
        "leaky_bucket",
        "limit = 1\nwindow = \"100us\"\ncapacity = 5\nkey = \"global\"",
    );
    // The second is served from 100 to 110, the third from 200 to 210, the fourth at 300.
    let requests = [(0, 10), (5, 10), (12, 10), (109, 0), (110, 0), (209, 0), (210, 0)];
    assert_eq!(
        admitted(&(at_once(2, "") + &queue), &trace(&requests), &redis),
        [true, true, true, false, true, false, true]
    );
}

#[test]
fn the_format_of_an_answer() {
    let rules = at_once(2, "retry_after = \"5s\"");
    let answer = |outcome: &str, admitted: bool, remaining: u32, retry_after: &str| {
        format!(
            r#"{{"admitted":{admitted},"delay_us":0,"limits":[{{"name":"exports","outcome":"{outcome}","remaining":{remaining},"retry_after_us":{retry_after},"reset_after_us":null}}]}}"#
        )
    };
    let case = Case::trace(&rules, trace(&[(0, 9), (0, 9), (0, 9), (9, 0)]));
    assert_eq!(
        case.run(&[]).lines(),
        [
            answer("admitted", true, 1, "null"),
            answer("admitted", true, 0, "null"),
            answer("limited", false, 0, "5000000"),
            answer("admitted", true, 1, "null"),
        ]
    );
}

#[test]
fn invalid_durations_are_reported() {
    for duration in ["-1", "0.5", "\"1s\"", "86400000000"] {
        let line = format!("{{\"at_us\":0,\"duration_us\":{duration}}}");
        let error = Case::trace(&at_once(1, ""), line).run(&[]).failure();
        let expected = format!("duration_us: {duration} is not a whole number of microseconds, less than a day");
        assert!(error.contains(&expected), "{error}");
    }
}

/// A log of requests at these seconds.
fn log(seconds: &[u64]) -> String {
    let line =
        |second: &u64| format!("203.0.113.7 - - [02/Nov/2026:09:00:{second:02} +0000] \"GET / HTTP/1.1\" 200 5\n");
    seconds.iter().map(line).collect()
}

#[test]
fn all_requests_of_a_log_take_the_same_time() {
    let redis = RedisServer::start();
    let case = Case::log(&at_once(2, ""), log(&[0, 0, 0, 1, 2, 2, 3]));
    for (duration, denied) in [("1s", 1), ("1001ms", 3), ("2s", 3), ("5m", 5)] {
        let options = ["--quiet", "--duration", duration];
        let run = case.run(&options);
        assert_eq!(run.errors, "", "{duration}");
        let report = run.success();
        let row = report.lines().find(|line| line.starts_with("denied")).unwrap();
        assert_eq!(
            row.split_whitespace().nth(1),
            Some(&*denied.to_string()),
            "{duration}: {report}"
        );
        assert_eq!(
            report,
            case.run(&[&options[..], &["--store", &redis.url()]].concat()).success()
        );
    }
}

#[test]
fn a_run_without_durations_warns_that_the_limit_never_denies() {
    let rules = at_once(1, "path = \"/a\"") + &at_once(1, "methods = [\"GET\"]").replace("exports", "uploads");
    let log_case = Case::log(&at_once(1, ""), log(&[0, 0, 0]));
    let trace_case = Case::trace(&rules, "{\"at_us\":0}\n{\"at_us\":0}\n");
    let run = log_case.run(&["--quiet"]);
    assert_eq!(
        run.errors,
        "warning: the limit \"exports\" never denies: every request ends at once. Set how long requests take with \
         --duration, as in --duration 250ms\n"
    );
    assert!(run.success().contains("\nNo request was denied.\n"));
    let run = trace_case.run(&["--quiet"]);
    assert_eq!(
        run.errors,
        "warning: the limits \"exports\", \"uploads\" never deny: every request ends at once. Set how long requests take \
         with the field duration_us\n"
    );
    // Not if some request takes time, nor if no request is subject to the limit.
    for trace in [trace(&[(0, 0), (0, 1)]), "{\"at_us\":0,\"method\":\"POST\"}".to_owned()] {
        assert_eq!(Case::trace(&rules, trace).run(&["--quiet"]).errors, "");
    }
}

/// Requests in random order against a model: what is held is a list of the times when it ends.
#[test]
fn random_traces_agree_with_a_model() {
    let redis = RedisServer::start();
    let request = (0..60_u64, 0..40_u64, 1..4_u32);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/simulate/regressions_concurrency.txt");
    holds(
        20,
        file,
        &(1..8_u32, vec(request, 100..300)),
        async |_, (slots, requests)| {
            let (mut now, mut held, mut lines, mut expected) = (200, Vec::new(), String::new(), Vec::new());
            for (step, duration, cost) in requests {
                // Back in one of six cases.
                now = if step < 10 { now - step } else { now + step - 10 };
                lines += &format!("{{\"at_us\":{now},\"duration_us\":{duration},\"cost\":{cost}}}\n");
                held.retain(|(end, _)| *end > now);
                let is_admitted = held.iter().map(|(_, cost)| *cost).sum::<u32>() + cost <= slots;
                if is_admitted && duration > 0 {
                    held.push((now + duration, cost));
                }
                expected.push(is_admitted);
            }
            assert_eq!(admitted(&at_once(slots, ""), &lines, &redis), expected);
        },
    );
}
