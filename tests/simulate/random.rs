//! Random rules and traces: both stores produce the same output, byte for byte.

use std::{cell::Cell, fmt::Write};

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;
use tollgate::{MAX_TIMESTAMP, Micros, RuleSet};

use super::{Case, limit};
use support::{algorithms::assert_has_each_algorithm, property::holds, redis::RedisServer};

const TRUST: &str = "[trust]\nproxies = [\"10.0.0.0/8\"]\nheaders = [\"x-plan\"]\n";
/// Every algorithm with its variants.
const ALGORITHMS: [(&str, &str); 8] = [
    ("token_bucket", ""),
    ("leaky_bucket", ""),
    ("leaky_bucket", "queue = false"),
    ("fixed_window", ""),
    ("fixed_window", "anchored = true"),
    ("sliding_log", ""),
    ("sliding_counter", ""),
    ("concurrency", ""),
];

/// Valid rules of one to five limits of any algorithm, and their windows. That of a concurrency limit is only for the steps of a trace.
fn any_rules() -> impl Strategy<Value = (String, Vec<Micros>)> {
    let rules = vec(any_limit(), 1..6).prop_map(|limits| {
        let mut text = TRUST.to_owned();
        for (index, (algorithm, rest, _)) in limits.iter().enumerate() {
            text += &limit(&format!("l{index}"), algorithm, rest);
        }
        (text, limits.into_iter().map(|(_, _, window)| window).collect())
    });
    rules.prop_filter("invalid rules", |(text, _)| RuleSet::parse(text).is_ok())
}

fn any_limit() -> impl Strategy<Value = (&'static str, String, Micros)> {
    let window = prop_oneof![
        1..50_u64,
        1..2_000_000_u64,
        select(vec![1_000_000, 60_000_000, 86_400_000_000])
    ];
    let key = select(vec![
        "\"global\"",
        "\"ip\"\ndefault = \"anonymous\"",
        "\"header:x-user-id\"",
        "\"header:x-user-id\"\ndefault = \"ip\"",
        "[\"ip\", \"method\", \"query:q\"]\ndefault = \"none\"",
    ]);
    let scope = select(vec!["", "", "", "path = \"/a/{*rest}\"", "methods = [\"POST\"]"]);
    let plans = select(vec!["", "", "plan = \"header:x-plan\"\nplans.pro = { limit = 9 }"]);
    let limit = prop_oneof![4 => 1..9_u32, 1 => 1..500_u32];
    let (sub_windows, capacity, max_wait) = (select(vec![1, 2, 6, 64]), 1..20_u32, 0..150_u64);
    let settings = (0..ALGORITHMS.len(), limit, window, sub_windows, capacity, max_wait);
    (
        settings,
        key,
        scope,
        plans,
        1..3_u32,
        prop::bool::weighted(0.2),
        any::<bool>(),
    )
        .prop_map(
            |(
                (algorithm, limit, window, sub_windows, capacity, max_wait),
                key,
                scope,
                plans,
                cost,
                is_shadow,
                is_set,
            )| {
                let (algorithm, variant) = ALGORITHMS[algorithm];
                let is_counter = algorithm == "sliding_counter";
                let window = if is_counter {
                    window.next_multiple_of(sub_windows)
                } else {
                    window
                };
                let mut rest = format!("limit = {limit}\nkey = {key}\n{scope}\n{plans}\n");
                if algorithm != "concurrency" {
                    writeln!(rest, "window = \"{window}us\"").unwrap();
                }
                write!(rest, "{variant}\ncost = {cost}\nshadow = {is_shadow}").unwrap();
                match algorithm {
                    "sliding_counter" => write!(rest, "\nsub_windows = {sub_windows}").unwrap(),
                    "leaky_bucket" if is_set && variant.is_empty() => {
                        write!(rest, "\nmax_wait = \"{}us\"", window * max_wait / 100).unwrap()
                    }
                    "leaky_bucket" | "token_bucket" if capacity >= cost => {
                        write!(rest, "\ncapacity = {capacity}").unwrap()
                    }
                    _ => {}
                }
                (algorithm, rest, window)
            },
        )
}

/// The time of the next request, relative to the window of one of the limits.
#[derive(Clone, Copy, Debug)]
enum Step {
    Forward { limit: usize, percent: u64 },
    Back { limit: usize, percent: u64 },
    To(Micros),
}

fn any_step() -> impl Strategy<Value = Step> {
    let forward = |percent| (0..5_usize, percent).prop_map(|(limit, percent)| Step::Forward { limit, percent });
    prop_oneof![
        4 => forward(0..1_u64),
        8 => forward(1..60_u64),
        2 => forward(60..250_u64),
        2 => (0..5_usize, 0..400_u64).prop_map(|(limit, percent)| Step::Back { limit, percent }),
        1 => select(vec![0, 1_700_000_000_000_000, MAX_TIMESTAMP]).prop_map(Step::To),
    ]
}

/// How long a request takes.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// In percent of a limit's window.
    Percent {
        limit: usize,
        percent: u64,
    },
    Exactly(Micros),
}

const DAY: Micros = 86_400_000_000;

type AnyRequest = (Step, [usize; 5], Option<u32>, Option<Taken>);

fn any_request() -> impl Strategy<Value = AnyRequest> {
    let cost = prop_oneof![
        6 => Just(None),
        1 => Just(Some(0)),
        2 => (1..12_u32).prop_map(Some),
        1 => Just(Some(u32::MAX)),
    ];
    let choices = [0..4_usize, 0..4, 0..3, 0..4, 0..3];
    let taken = prop_oneof![
        2 => Just(None),
        4 => (0..5_usize, 0..300_u64).prop_map(|(limit, percent)| Some(Taken::Percent { limit, percent })),
        1 => select(vec![0, 1, DAY - 1]).prop_map(|taken| Some(Taken::Exactly(taken))),
    ];
    (any_step(), choices, cost, taken)
}

fn trace(windows: &[Micros], requests: &[AnyRequest]) -> String {
    let mut now = 1_700_000_000_000_000;
    let mut lines = String::new();
    for (step, [user, ip, method, path, plan], cost, taken) in requests {
        let part = |limit: usize, percent| windows[limit % windows.len()] * percent / 100;
        now = match *step {
            Step::Forward { limit, percent } => now + part(limit, percent),
            Step::Back { limit, percent } => now.saturating_sub(part(limit, percent)),
            Step::To(at) => at,
        };
        now = now.min(MAX_TIMESTAMP);
        let duration = taken.map(|taken| match taken {
            Taken::Percent { limit, percent } => part(limit, percent).min(DAY - 1),
            Taken::Exactly(taken) => taken,
        });
        let plan = ["pro", "free", "none"][*plan];
        let headers = match user {
            0 => json!({ "x-plan": plan }),
            user => json!({ "x-plan": plan, "x-user-id": format!("u{user}") }),
        };
        let method = ["GET", "POST", "DELETE"][*method];
        let path = ["/", "/a/b?q=1", "/a/c?q=2", "/d"][*path];
        let ip = [None, Some("10.0.0.1"), Some("203.0.113.7"), Some("2001:db8::7")][*ip];
        let request = json!({
            "at_us": now, "method": method, "path": path, "headers": headers, "ip": ip, "cost": cost,
            "duration_us": duration,
        });
        lines += &format!("{request}\n");
    }
    lines
}

#[test]
fn both_stores_produce_the_same_output() {
    assert_has_each_algorithm(ALGORITHMS.map(|(name, _)| name));
    let redis = RedisServer::start();
    let seen = [const { Cell::new(0) }; 4];
    let outcomes = ["\"outcome\":\"admitted\"", "\"limited\"", "\"impossible\"", "\"error\""];
    let input = (any_rules(), vec(any_request(), 200..400));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/simulate/regressions.txt");
    holds(40, file, &input, async |_, ((rules, windows), requests)| {
        let files = Case::trace(&rules, trace(&windows, &requests));
        let memory = files.run(&[]).success();
        let shared = files.run(&["--store", &redis.url()]).success();
        assert_eq!(memory.lines().count(), requests.len());
        for (index, (memory, shared)) in memory.lines().zip(shared.lines()).enumerate() {
            assert_eq!(memory, shared, "request {index} of {rules}");
        }
        assert_eq!(memory, shared);
        for (seen, outcome) in seen.iter().zip(outcomes) {
            seen.set(seen.get() + memory.matches(outcome).count());
        }
    });
    for (seen, outcome) in seen.iter().zip(outcomes) {
        assert!(seen.get() > 100, "{outcome}: {}", seen.get());
    }
}
