//! The texts about a lane and its responses.

use http::Response;
use tollgate::{AnyAlgorithm, Decision, Micros};

use super::goodput::Goodput;
use crate::playground::session::Settings;

pub(super) fn title_and_description(algorithm: &AnyAlgorithm) -> (&'static str, &'static str) {
    match algorithm {
        AnyAlgorithm::TokenBucket(_) => (
            "Token bucket",
            "Every request takes a token. Tokens are refilled at a constant rate.",
        ),
        AnyAlgorithm::LeakyBucket(_) => (
            "Leaky bucket",
            "Requests queue in a bucket that leaks at a constant rate, so they leave evenly.",
        ),
        AnyAlgorithm::SlidingLog(_) => (
            "Sliding log",
            "The time of every admitted request is stored for one window.",
        ),
        AnyAlgorithm::SlidingCounter(_) => (
            "Sliding counter",
            "One count per sub-window. The oldest is weighted by its overlap with the window.",
        ),
        AnyAlgorithm::Concurrency(_) => (
            "Concurrency",
            "Every request holds a slot until it ends. Only slots are limited, not the rate.",
        ),
        _ => ("Fixed window", "One count, which is reset at the edge of every window."),
    }
}

/// The explanation of a lane with unchecked requests.
pub(super) fn unchecked(count: u32) -> String {
    format!("{count} passed unchecked because the store failed: no limit holds in that case.")
}

/// Why `max` requests passed within one window's length, and how a lease changes that.
pub(super) fn explanation(algorithm: &AnyAlgorithm, settings: &Settings, max: usize) -> String {
    let mut text = rule(algorithm, settings, max);
    if settings.lease > 0 {
        text.push(' ');
        text.push_str(&lease(algorithm, settings));
    }
    text
}

/// How a lease changes the rule.
fn lease(algorithm: &AnyAlgorithm, settings: &Settings) -> String {
    let Settings {
        window,
        capacity,
        lease,
        ..
    } = *settings;
    match algorithm {
        AnyAlgorithm::LeakyBucket(_) => "Not leased: each request in a queue has a departure of its own.".into(),
        AnyAlgorithm::Concurrency(_) => "Not leased: a slot that is held cannot be used later.".into(),
        AnyAlgorithm::TokenBucket(_) if algorithm.capacity() == capacity => {
            format!("Not leased: the bucket is too small for what is refilled in {lease} ms.")
        }
        AnyAlgorithm::TokenBucket(_) => {
            let shared = algorithm.capacity();
            format!("Leased for {lease} ms: its capacity is {shared} instead of {capacity}.")
        }
        AnyAlgorithm::SlidingLog(_) => {
            let shared = window_seconds(algorithm);
            format!("Leased for {lease} ms: its window is {shared} s instead of {window} s.")
        }
        _ => format!("Leased for {lease} ms: the rule is the same."),
    }
}

fn rule(algorithm: &AnyAlgorithm, settings: &Settings, max: usize) -> String {
    let Settings {
        limit,
        sub_windows,
        duration,
        ..
    } = *settings;
    let (capacity, window) = (algorithm.capacity(), window_seconds(algorithm));
    let exceeds_limit = max > limit as usize;
    match algorithm {
        AnyAlgorithm::TokenBucket(_) if exceeds_limit => format!(
            "{max} in {window} s: up to {capacity} tokens were saved, and more were refilled. The limit holds on \
             average, not in every window."
        ),
        AnyAlgorithm::TokenBucket(_) => {
            format!("A burst may take the {capacity} saved tokens; then {limit} are refilled in {window} s.")
        }
        AnyAlgorithm::LeakyBucket(_) => format!(
            "Requests leave evenly: {limit} in {window} s. The bucket holds {capacity}, including the one that is leaving; \
             if it is full, requests are denied."
        ),
        AnyAlgorithm::SlidingLog(_) => {
            format!("Exact: at most {limit} pass in any {window} s. The cost is one stored time per admitted request.")
        }
        AnyAlgorithm::SlidingCounter(_) if exceeds_limit => format!(
            "{max} in {window} s: it assumes that the oldest {} are evenly distributed. They arrived late, so their weight \
             decreased too early.",
            if sub_windows == 1 {
                "window's requests"
            } else {
                "sub-window's requests"
            }
        ),
        AnyAlgorithm::SlidingCounter(_) => format!(
            "Close to the log at the cost of {} counts: the weight of the oldest is an estimate.",
            sub_windows + 1
        ),
        AnyAlgorithm::Concurrency(_) => {
            let turns = settings.window_micros().div_ceil(settings.duration_micros());
            let (most, window) = (turns * Micros::from(limit), settings.window);
            format!("At most {limit} at once. Each takes {duration} ms, so up to {most} may pass in {window} s.")
        }
        _ if exceeds_limit => format!(
            "{max} in {window} s: the count was reset in between. Each window admitted at most {limit}, both together more."
        ),
        _ => {
            format!("Up to {limit} just before the edge, and as many just after it: windows are independent.")
        }
    }
}

/// How a lane behaves under sustained overload, and what passes in each window.
pub(super) fn overload(algorithm: &AnyAlgorithm, settings: &Settings, goodput: &Goodput, now: Micros) -> String {
    let passed = goodput.passed(now).iter().map(ToString::to_string);
    let passed = passed.collect::<Vec<_>>().join(", ");
    let (offered, window) = (goodput.overload.offered, settings.window);
    format!(
        "{offered} arrive in {window} s, and per window pass: {passed}. {}",
        under_overload(algorithm, settings, offered)
    )
}

/// Which of the requests an overload passes.
fn under_overload(algorithm: &AnyAlgorithm, settings: &Settings, offered: Micros) -> String {
    let Settings { limit, duration, .. } = *settings;
    let window = settings.window_micros();
    match algorithm {
        AnyAlgorithm::TokenBucket(_) => {
            "First the saved tokens, then one request for each token that is refilled.".into()
        }
        AnyAlgorithm::LeakyBucket(_) => {
            let delay = Micros::from(algorithm.capacity() - 1) * window / Micros::from(limit);
            let delay = seconds(delay);
            format!(
                "The queue stays full, so a request that is admitted waits up to {delay}; the others are denied at once."
            )
        }
        AnyAlgorithm::SlidingLog(_) => {
            format!(
                "The first {limit}; then one request for each that expires from the log, so the same burst repeats."
            )
        }
        AnyAlgorithm::SlidingCounter(_) => {
            format!(
                "The first {limit}; from the next window on, one each time that the weight of the oldest has decreased enough."
            )
        }
        AnyAlgorithm::Concurrency(_) => {
            // The slots that the requests would hold at once.
            let slots = (offered * settings.duration_micros()).div_ceil(window);
            if slots > Micros::from(limit) {
                format!("{limit} at once; each slot that is released, after {duration} ms, admits one request.")
            } else {
                format!(
                    "Nothing is denied: requests of {duration} ms hold {slots} of {limit} slots. Longer ones exhaust them."
                )
            }
        }
        _ => format!(
            "The first {limit} of each window; the others are denied until its edge, which Retry-After counts down to."
        ),
    }
}

/// The summary of a request that is queued.
pub(super) fn queued(delay: Micros) -> String {
    format!("Queued: leaves in {}", seconds(delay))
}

/// The summary of a queued request when it leaves.
pub(super) fn released(delay: Micros) -> String {
    format!("Left after {}", seconds(delay))
}

/// The summary of a request that was answered at once.
pub(super) fn summary(algorithm: &AnyAlgorithm, decision: Option<&Decision>) -> String {
    match decision {
        Some(decision) if decision.is_unchecked() => "Passed unchecked: the store failed".into(),
        Some(decision) if decision.admits() => {
            let remaining = decision.tiers().first().map_or(0, |tier| tier.verdict().remaining());
            format!("Admitted: {remaining} left")
        }
        Some(_) if matches!(algorithm, AnyAlgorithm::Concurrency(_)) => "Denied: all slots are held".into(),
        Some(decision) => match decision.retry_after() {
            Some(delay) => format!("Denied: retry in {}", seconds(delay.as_micros() as Micros)),
            None => "Denied: it costs more than the limit, so a retry is useless".into(),
        },
        None => "Denied".into(),
    }
}

/// A response as sent over HTTP.
pub(super) fn response(response: &Response<String>) -> String {
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
    format!(
        "HTTP/1.1 {}\n{}\n{}",
        response.status(),
        headers.collect::<String>(),
        response.body()
    )
}

/// The window of a quota in seconds. A lease may add milliseconds.
fn window_seconds(algorithm: &AnyAlgorithm) -> f64 {
    window_micros(algorithm) as f64 / 1e6
}

/// The window of the algorithms with one.
pub(super) fn window_micros(algorithm: &AnyAlgorithm) -> Micros {
    algorithm
        .quota()
        .map_or(0, |quota| quota.window().as_micros() as Micros)
}

/// Rounded up to the millisecond. Response headers round up too, to the second.
pub(crate) fn seconds(micros: Micros) -> String {
    let millis = micros.div_ceil(1000);
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}
