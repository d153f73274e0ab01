//! Log events of requests: one for each rejected request, none for the others.

use std::task::Poll;

use tollgate::{AsError, Key, KeyError, LeakyBucket, Quota, RateLimitLayer, Tier};
use tracing::Level;

use support::log;

use crate::service::{SECOND, arrived, call, once_a_minute, poll, queue, store_at_zero, wrap};

const DENIED: &str = "request denied";

/// Each request has its own key, and each test its own requests, because all tests share the log.
fn user(request: &&'static str) -> Key {
    Key::named("user", request)
}

/// Takes the events logged for this key, as `limit: outcome: message`. Events contain only the key's digest.
fn logged(key: &'static str) -> Vec<String> {
    let digest = Key::verbatim(key).digest();
    let lines = log::take(|line| line.field("key") == digest);
    let lines = lines.iter().map(|line| {
        assert_eq!(line.level, Level::DEBUG);
        ["limit", "outcome", "message"]
            .map(|field| line.field(field))
            .join(": ")
    });
    lines.collect()
}

#[test]
fn a_rejected_request_is_logged_once_and_a_served_one_is_not() {
    log::listen();
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("minute", once_a_minute(), user), store);
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    let mut served = call(&mut service, "alice");
    assert!(poll(served.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("alice"));
    assert!(matches!(poll(served.as_mut()), Poll::Ready(Ok("served"))));
    assert_eq!(logged("user:alice"), [""; 0]);
    for _ in 0..2 {
        let mut rejected = call(&mut service, "alice");
        assert!(matches!(poll(rejected.as_mut()), Poll::Ready(Err(_))));
        assert_eq!(logged("user:alice"), [format!("minute: limited: {DENIED}")]);
    }
}

#[test]
fn the_first_denying_tier_is_named_and_never_a_shadow() {
    log::listen();
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::sliding_log("watched", Quota::per_day(1), user).shadow(), store)
        .tier(Tier::fixed_window("roomy", Quota::per_minute(9), user))
        .tier(Tier::new("minute", once_a_minute(), user))
        .tier(Tier::fixed_window("hour", Quota::per_hour(1), user))
        .tier(
            Tier::new("tiny", LeakyBucket::new(Quota::per_minute(1)).policing(), user)
                .cost(|request: &&'static str| if *request == "heavy" { 2 } else { 0 }),
        );
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    assert!(poll(call(&mut service, "bob").as_mut()).is_pending());
    assert_eq!(logged("user:bob"), [""; 0]);
    assert!(poll(call(&mut service, "bob").as_mut()).is_ready());
    assert_eq!(logged("user:bob"), [format!("minute: limited: {DENIED}")]);
    assert!(poll(call(&mut service, "heavy").as_mut()).is_ready());
    assert_eq!(logged("user:heavy"), [format!("tiny: impossible: {DENIED}")]);
}

/// The request is decided when its future is polled, not in `call`.
#[test]
fn a_request_denied_by_a_full_queue_is_logged_and_a_delayed_one_is_not() {
    log::listen();
    let (store, clock) = store_at_zero();
    let layer = RateLimitLayer::new(
        Tier::new("queue", queue(), |_: &&'static str| Key::named("user", "held")),
        store,
    );
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    let mut held = ["first", "second", "third"].map(|request| call(&mut service, request));
    held.iter_mut()
        .for_each(|held| assert!(poll(held.as_mut()).is_pending()));
    assert_eq!(logged("user:held"), [""; 0]);
    assert!(poll(call(&mut service, "fourth").as_mut()).is_ready());
    assert_eq!(logged("user:held"), [format!("queue: limited: {DENIED}")]);
    clock.advance(2 * SECOND);
    held.iter_mut()
        .for_each(|held| assert!(poll(held.as_mut()).is_pending()));
    assert_eq!(
        ["first", "second", "third"].map(|_| arrived(&mut outside).is_some()),
        [true; 3]
    );
    assert_eq!(logged("user:held"), [""; 0]);
}

#[test]
fn a_waiting_request_is_logged_only_if_it_is_rejected_in_the_end() {
    log::listen();
    let (store, clock) = store_at_zero();
    let shared = |_: &&'static str| Key::named("user", "shared");
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(2), shared, store)
        .tier(Tier::sliding_log("user", Quota::per_hour(1), user))
        .wait(60 * SECOND);
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    for first in ["carol", "dave"] {
        assert!(poll(call(&mut service, first).as_mut()).is_pending());
        assert_eq!(arrived(&mut outside), Some(first));
    }
    // The minute is exhausted. The second request learns only at the head of the queue that its user's hour is exhausted too.
    let [mut served, mut rejected] = ["erin", "erin"].map(|request| call(&mut service, request));
    for waiting in [&mut served, &mut rejected] {
        assert!(poll(waiting.as_mut()).is_pending());
    }
    assert_eq!((logged("user:shared"), logged("user:erin")), (vec![], vec![]));
    clock.advance(60 * SECOND);
    assert!(poll(served.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("erin"));
    assert_eq!((logged("user:shared"), logged("user:erin")), (vec![], vec![]));
    assert!(matches!(poll(rejected.as_mut()), Poll::Ready(Err(_))));
    let line = format!("user: limited: {DENIED}");
    assert_eq!((logged("user:shared"), logged("user:erin")), (vec![], vec![line]));
}

#[test]
fn a_missing_key_and_a_blocked_request_are_logged_once() {
    log::listen();
    let (store, _) = store_at_zero();
    let key = |request: &&'static str| match *request {
        "anonymous" => Err(KeyError::missing("a name to be logged by")),
        name => Ok(Some(Key::named("user", name))),
    };
    let layer = RateLimitLayer::new(Tier::new("minute", once_a_minute(), key), store)
        .block(|request: &&'static str| *request == "mallory")
        .respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    for (request, error, message) in [
        (
            "anonymous",
            "the request lacks a name to be logged by",
            "request rejected: its key is missing or ambiguous",
        ),
        ("mallory", "", "request blocked"),
    ] {
        assert!(poll(call(&mut service, request).as_mut()).is_ready());
        let lines = log::take(|line| line.field("error") == error && line.field("message") == message);
        let levels: Vec<Level> = lines.iter().map(|line| line.level).collect();
        assert_eq!(levels, [Level::DEBUG], "{request}");
    }
}
