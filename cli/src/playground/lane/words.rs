//! What is said of a lane and by it, in words.

use http::Response;
use tollgate::{Decision, Micros, Rule};

use crate::playground::scene::Settings;

/// A lane's title, and the idea of its algorithm.
pub(super) fn about(rule: &Rule) -> (&'static str, &'static str) {
    match rule {
        Rule::TokenBucket(_) => (
            "Token bucket",
            "Every request takes a token. They come back at a steady rate.",
        ),
        Rule::LeakyBucket(_) => (
            "Leaky bucket",
            "Requests queue in a bucket that leaks, so they leave evenly.",
        ),
        Rule::SlidingLog(_) => (
            "Sliding log",
            "The time of every admitted request is remembered for a window.",
        ),
        Rule::SlidingCounter(_) => (
            "Sliding counter",
            "Counts per sub-window. The oldest counts less as it goes out of sight.",
        ),
        _ => ("Fixed window", "One count, which starts anew at every edge."),
    }
}

/// What is said of requests that nobody could decide about.
pub(super) fn unchecked(count: u32) -> String {
    format!("{count} passed unchecked, because the store could not be asked: then no limit holds.")
}

/// How it comes that so many passed in a time as long as the window.
pub(super) fn why(rule: &Rule, settings: &Settings, most: usize) -> String {
    let Settings {
        limit,
        window,
        capacity,
        buckets,
        ..
    } = *settings;
    let too_many = most > limit as usize;
    match rule {
        Rule::TokenBucket(_) if too_many => format!(
            "{most} in {window} s: up to {capacity} tokens were saved up, and more came back meanwhile. The average holds, a \
             window need not."
        ),
        Rule::TokenBucket(_) => {
            format!("A burst may take the {capacity} tokens that are saved up; then {limit} come back in {window} s.")
        }
        Rule::LeakyBucket(_) => format!(
            "Whatever comes, it leaves evenly: {limit} in {window} s. The bucket holds {capacity}, the one that is leaving included; \
             who finds it full is refused."
        ),
        Rule::SlidingLog(_) => format!(
            "Exact: no {window} s ever let more than {limit} through, wherever they begin. The price is one entry per admitted request."
        ),
        Rule::SlidingCounter(_) if too_many => format!(
            "{most} in {window} s: it takes the oldest {} for spread out evenly. They came late, so some had been forgotten too soon.",
            if buckets == 1 {
                "window's requests"
            } else {
                "sub-window's requests"
            }
        ),
        Rule::SlidingCounter(_) => format!(
            "Close to the log at the price of {} counts: how many of the oldest still count is an estimate.",
            buckets + 1
        ),
        _ if too_many => format!(
            "{most} in {window} s: the count started anew in between. Each window kept to {limit}; the two together did not."
        ),
        _ => {
            format!("Up to {limit} at any time before the edge, and as many right after it: each window is on its own.")
        }
    }
}

/// What a request is told that is held back.
pub(super) fn queued(ahead: Micros) -> String {
    format!("Queued: leaves in {}", seconds(ahead))
}

/// What is said of a request that was held back, when it leaves.
pub(super) fn left(delay: Micros) -> String {
    format!("Left after {}", seconds(delay))
}

/// What a request was told that was answered at once.
pub(super) fn said(decision: Option<&Decision>) -> String {
    match decision {
        Some(decision) if decision.is_unchecked() => "Passed unchecked: the store did not answer".into(),
        Some(decision) if decision.admits() => {
            let left = decision.tiers().first().map_or(0, |tier| tier.verdict().remaining());
            format!("Admitted: {left} left")
        }
        Some(decision) => match decision.retry_after() {
            Some(wait) => format!("Refused: come back in {}", seconds(wait.as_micros() as Micros)),
            None => "Refused for good: it costs more than the limit".into(),
        },
        None => "Refused".into(),
    }
}

/// An answer as it goes over the wire.
pub(super) fn answer(answer: &Response<String>) -> String {
    let headers = answer.headers().iter();
    let headers = headers.map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
    format!(
        "HTTP/1.1 {}\n{}\n{}",
        answer.status(),
        headers.collect::<String>(),
        answer.body()
    )
}

/// Rounded up, as clients are told, but to the millisecond.
fn seconds(micros: Micros) -> String {
    let millis = micros.div_ceil(1000);
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}
