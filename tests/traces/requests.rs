//! The span of a request to a layer.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tollgate::{AsError, Global, LeakyBucket, Quota, RateLimitLayer, Tier};
use tower::{BoxError, Layer, Service, service_fn};
use tracing::Level;

use support::{memory::store_at_zero, requests::UserKey};

use crate::spans::{is_inside_span, listen, of};

const SECOND: Duration = Duration::from_secs(1);

/// A service that accepts every request, and asserts that it runs outside of the span.
async fn serve(_: &'static str) -> Result<(), BoxError> {
    assert!(!is_inside_span());
    Ok(())
}

/// Like `serve`, and its `call` runs outside of the span too.
fn inner() -> impl Service<&'static str, Response = (), Error = BoxError, Future: Send> + Clone {
    service_fn(|request| {
        assert!(!is_inside_span());
        serve(request)
    })
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    let polled = future.poll(&mut Context::from_waker(Waker::noop()));
    assert!(!is_inside_span());
    polled
}

#[test]
fn an_admitted_request_has_one_span_which_is_closed_when_it_is_served() {
    listen();
    let layer = RateLimitLayer::token_bucket("passing-all", Quota::per_minute(9), Global, store_at_zero().0)
        .tier(Tier::token_bucket("passing-user", Quota::per_minute(9), UserKey))
        .respond_with(AsError);
    let mut service = layer.layer(inner());
    let response = pin!(service.call("alice"));
    let [span] = of("passing-all,passing-user")
        .try_into()
        .unwrap_or_else(|_| panic!("there is one"));
    assert_eq!(
        (span.name, span.target, span.level),
        ("decision", "tollgate::decision", Level::DEBUG)
    );
    // The output of `printf %s global | sha256sum | cut -c1-16`, and the same for user:alice.
    let recorded = [
        ("by", "store"),
        ("keys", "8001c27439650c5c,dabd1db8d35ab131"),
        ("limits", "passing-all,passing-user"),
        ("outcome", "admitted"),
    ];
    assert_eq!(span.recorded(), recorded);
    assert!(!span.is_open());
    assert_eq!(span.entered, 1);
    assert!(matches!(poll(response), Poll::Ready(Ok(()))));
    assert_eq!(of("passing-all,passing-user").len(), 1);
}

#[test]
fn a_denial_records_the_tier_and_the_wait() {
    listen();
    let (store, clock) = store_at_zero();
    let layer = RateLimitLayer::new(
        Tier::sliding_log("denying-shadow", Quota::per_day(1), Global).shadow(),
        store,
    )
    .tier(Tier::fixed_window("denying-ample", Quota::per_minute(9), UserKey))
    .tier(
        Tier::fixed_window("denying", Quota::per_minute(1), UserKey)
            .cost(|request: &&str| if *request == "greedy" { 2 } else { 1 }),
    )
    .respond_with(AsError);
    let mut service = layer.layer(inner());
    assert!(matches!(poll(pin!(service.call("bob"))), Poll::Ready(Ok(()))));
    clock.advance(SECOND / 2);
    for request in ["bob", "greedy"] {
        assert!(matches!(poll(pin!(service.call(request))), Poll::Ready(Err(_))));
    }
    let spans = of("denying-shadow,denying-ample,denying");
    let recorded = spans.iter().map(|span| {
        let recorded = span.recorded().into_iter();
        recorded
            .filter(|(field, _)| !["keys", "limits"].contains(field))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        recorded.collect::<Vec<_>>(),
        [
            vec![("by", "store"), ("outcome", "admitted")],
            vec![
                ("by", "store"),
                ("denied_by", "denying"),
                ("outcome", "limited"),
                ("retry_after", "59.5s"),
            ],
            vec![("by", "store"), ("denied_by", "denying"), ("outcome", "impossible")],
        ]
    );
    assert!(spans.iter().all(|span| !span.is_open()));
}

#[test]
fn a_span_is_open_while_a_request_is_delayed() {
    listen();
    let (store, clock) = store_at_zero();
    let queue = LeakyBucket::new(Quota::per_second(1)).capacity(3);
    let layer = RateLimitLayer::new(Tier::new("holding", queue, Global), store).respond_with(AsError);
    let mut service = layer.layer(inner());
    let (first, mut second) = (pin!(service.call("first")), pin!(service.call("second")));
    assert!(matches!(poll(first), Poll::Ready(Ok(()))));
    assert!(poll(second.as_mut()).is_pending());
    let open = || {
        of("holding")
            .iter()
            .map(super::spans::Span::is_open)
            .collect::<Vec<_>>()
    };
    assert_eq!(open(), [false, true]);
    let span = of("holding").pop().unwrap();
    assert_eq!(span.recorded()[..2], [("by", "store"), ("delay", "1s")]);
    clock.advance(SECOND);
    assert!(matches!(poll(second), Poll::Ready(Ok(()))));
    assert_eq!(open(), [false, false]);
    // Entered to decide, to wait, and to complete.
    assert_eq!(of("holding").pop().unwrap().entered, 3);
}

#[test]
fn a_span_is_open_while_a_request_waits_and_closed_when_it_is_dropped() {
    listen();
    let (store, clock) = store_at_zero();
    let layer = RateLimitLayer::fixed_window("queued", Quota::per_minute(1), Global, store)
        .wait(60 * SECOND)
        .respond_with(AsError);
    let mut service = layer.layer(inner());
    assert!(matches!(poll(pin!(service.call("first"))), Poll::Ready(Ok(()))));
    let (mut waits, mut dropped) = (pin!(service.call("waits")), Box::pin(service.call("dropped")));
    assert!(poll(waits.as_mut()).is_pending() && poll(dropped.as_mut()).is_pending());
    let open = || of("queued").iter().map(super::spans::Span::is_open).collect::<Vec<_>>();
    assert_eq!(open(), [false, true, true]);
    drop(dropped);
    assert_eq!(open(), [false, true, false]);
    clock.advance(60 * SECOND);
    assert!(matches!(poll(waits), Poll::Ready(Ok(()))));
    assert_eq!(open(), [false; 3]);
    let outcomes = of("queued")
        .into_iter()
        .map(|span| span.recorded().contains(&("outcome", "admitted")));
    assert_eq!(outcomes.collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn requests_without_a_decision_have_no_span() {
    listen();
    let layer = RateLimitLayer::token_bucket("nothing", Quota::per_minute(9), UserKey, store_at_zero().0)
        .block(|request: &&str| *request == "mallory")
        .respond_with(AsError);
    let mut service = layer.layer(inner());
    for (request, passes) in [("nobody", false), ("janus", false), ("admin", true), ("mallory", false)] {
        assert!(matches!(poll(pin!(service.call(request))), Poll::Ready(result) if result.is_ok() == passes));
    }
    assert!(of("nothing").is_empty());
}
