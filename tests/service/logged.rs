//! What the log says of requests: a line for each that is not served, and none for the others.

use std::task::Poll;

use tollgate::{AsError, FixedWindow, Key, KeyError, LeakyBucket, Quota, RateLimitLayer, SlidingLog};
use tracing::Level;

use support::log;

use crate::service::{SECOND, arrived, call, once_a_minute, poll, queue, still, wrap};

const REFUSED: &str = "a request is refused";

/// Each request has a key of its own, and each test has requests of its own: the log is everybody's.
fn user(request: &&'static str) -> Key {
    Key::named("user", request)
}

/// What has been said of a key since it was last asked, as `limit: outcome: message`. Nobody is told the key itself.
fn said(key: &'static str) -> Vec<String> {
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
fn who_is_refused_is_told_of_once_and_who_is_served_is_not() {
    log::listen();
    let (store, _) = still();
    let layer = RateLimitLayer::new("minute", once_a_minute(), user, store);
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    let mut served = call(&mut service, "alice");
    assert!(poll(served.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("alice"));
    assert!(matches!(poll(served.as_mut()), Poll::Ready(Ok("served"))));
    assert_eq!(said("user:alice"), [""; 0]);
    for _ in 0..2 {
        let mut refused = call(&mut service, "alice");
        assert!(matches!(poll(refused.as_mut()), Poll::Ready(Err(_))));
        assert_eq!(said("user:alice"), [format!("minute: limited: {REFUSED}")]);
    }
}

#[test]
fn the_first_that_refuses_is_named_and_no_shadow() {
    log::listen();
    let (store, _) = still();
    let layer = RateLimitLayer::new("watched", SlidingLog::new(Quota::per_day(1)), user, store)
        .shadow()
        .tier("roomy", FixedWindow::new(Quota::per_minute(9)), user)
        .tier("minute", once_a_minute(), user)
        .tier("hour", FixedWindow::new(Quota::per_hour(1)), user)
        .tier("tiny", LeakyBucket::new(Quota::per_minute(1)).policing(), user)
        .cost(|request: &&'static str| if *request == "heavy" { 2 } else { 0 });
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    assert!(poll(call(&mut service, "bob").as_mut()).is_pending());
    assert_eq!(said("user:bob"), [""; 0]);
    assert!(poll(call(&mut service, "bob").as_mut()).is_ready());
    assert_eq!(said("user:bob"), [format!("minute: limited: {REFUSED}")]);
    assert!(poll(call(&mut service, "heavy").as_mut()).is_ready());
    assert_eq!(said("user:heavy"), [format!("tiny: impossible: {REFUSED}")]);
}

/// It is asked for when the future is polled, and not in the call.
#[test]
fn whom_a_queue_has_no_room_for_is_told_of_and_whom_it_holds_is_not() {
    log::listen();
    let (store, clock) = still();
    let layer = RateLimitLayer::new("queue", queue(), |_: &&'static str| Key::named("user", "held"), store);
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    let mut held = ["first", "second", "third"].map(|request| call(&mut service, request));
    held.iter_mut()
        .for_each(|held| assert!(poll(held.as_mut()).is_pending()));
    assert_eq!(said("user:held"), [""; 0]);
    assert!(poll(call(&mut service, "fourth").as_mut()).is_ready());
    assert_eq!(said("user:held"), [format!("queue: limited: {REFUSED}")]);
    clock.advance(2 * SECOND);
    held.iter_mut()
        .for_each(|held| assert!(poll(held.as_mut()).is_pending()));
    assert_eq!(
        ["first", "second", "third"].map(|_| arrived(&mut outside).is_some()),
        [true; 3]
    );
    assert_eq!(said("user:held"), [""; 0]);
}

#[test]
fn who_waits_is_told_of_only_if_it_is_refused_in_the_end() {
    log::listen();
    let (store, clock) = still();
    let everybody = |_: &&'static str| Key::named("user", "everybody");
    let layer = RateLimitLayer::new("all", FixedWindow::new(Quota::per_minute(2)), everybody, store)
        .tier("user", SlidingLog::new(Quota::per_hour(1)), user)
        .wait(60 * SECOND);
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    for first in ["carol", "dave"] {
        assert!(poll(call(&mut service, first).as_mut()).is_pending());
        assert_eq!(arrived(&mut outside), Some(first));
    }
    // The minute is spent; that its user has had an hour's worth, the second one learns when it is its turn.
    let [mut served, mut refused] = ["erin", "erin"].map(|request| call(&mut service, request));
    for waiting in [&mut served, &mut refused] {
        assert!(poll(waiting.as_mut()).is_pending());
    }
    assert_eq!((said("user:everybody"), said("user:erin")), (vec![], vec![]));
    clock.advance(60 * SECOND);
    assert!(poll(served.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("erin"));
    assert_eq!((said("user:everybody"), said("user:erin")), (vec![], vec![]));
    assert!(matches!(poll(refused.as_mut()), Poll::Ready(Err(_))));
    let line = format!("user: limited: {REFUSED}");
    assert_eq!((said("user:everybody"), said("user:erin")), (vec![], vec![line]));
}

#[test]
fn who_has_no_key_or_is_denied_is_told_of_once_too() {
    log::listen();
    let (store, _) = still();
    let key = |request: &&'static str| match *request {
        "anonymous" => Err(KeyError::missing("a name to be logged by")),
        name => Ok(Some(Key::named("user", name))),
    };
    let layer = RateLimitLayer::new("minute", once_a_minute(), key, store)
        .deny(|request: &&'static str| *request == "mallory")
        .respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    for (request, error, message) in [
        (
            "anonymous",
            "the request lacks a name to be logged by",
            "a request cannot be counted, and is refused",
        ),
        ("mallory", "", "a request is denied"),
    ] {
        assert!(poll(call(&mut service, request).as_mut()).is_ready());
        let lines = log::take(|line| line.field("error") == error && line.field("message") == message);
        let levels: Vec<Level> = lines.iter().map(|line| line.level).collect();
        assert_eq!(levels, [Level::DEBUG], "{request}");
    }
}
