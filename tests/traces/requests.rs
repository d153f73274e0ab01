//! The span of a request to a layer.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tollgate::{AsError, FixedWindow, Global, LeakyBucket, Quota, RateLimitLayer, SlidingLog, TokenBucket};
use tower::{BoxError, Layer, Service, service_fn};
use tracing::Level;

use support::{memory::still, requests::name};

use crate::spans::{are_we_inside, listen, of};

const SECOND: Duration = Duration::from_secs(1);

/// A service that serves everybody, and never inside of a span.
async fn serve(_: &'static str) -> Result<(), BoxError> {
    assert!(!are_we_inside());
    Ok(())
}

/// As `serve`, and its call is outside too.
fn inner() -> impl Service<&'static str, Response = (), Error = BoxError, Future: Send> + Clone {
    service_fn(|request| {
        assert!(!are_we_inside());
        serve(request)
    })
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    let polled = future.poll(&mut Context::from_waker(Waker::noop()));
    assert!(!are_we_inside());
    polled
}

#[test]
fn a_request_that_passes_has_one_which_is_closed_when_it_is_served() {
    listen();
    let layer = RateLimitLayer::new("passing-all", TokenBucket::new(Quota::per_minute(9)), Global, still().0)
        .tier("passing-user", TokenBucket::new(Quota::per_minute(9)), name)
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
    // As `printf %s global | sha256sum | cut -c1-16` says, and of user:alice.
    let said = [
        ("by", "store"),
        ("keys", "8001c27439650c5c,dabd1db8d35ab131"),
        ("limits", "passing-all,passing-user"),
        ("outcome", "admitted"),
    ];
    assert_eq!(span.said(), said);
    assert!(!span.is_open());
    assert_eq!(span.entered, 1);
    assert!(matches!(poll(response), Poll::Ready(Ok(()))));
    assert_eq!(of("passing-all,passing-user").len(), 1);
}

#[test]
fn a_refusal_says_by_whom_and_until_when() {
    listen();
    let (store, clock) = still();
    let layer = RateLimitLayer::new("refusing-shadow", SlidingLog::new(Quota::per_day(1)), Global, store)
        .shadow()
        .tier("refusing-roomy", FixedWindow::new(Quota::per_minute(9)), name)
        .tier("refusing", FixedWindow::new(Quota::per_minute(1)), name)
        .cost(|request: &&str| if *request == "greedy" { 2 } else { 1 })
        .respond_with(AsError);
    let mut service = layer.layer(inner());
    assert!(matches!(poll(pin!(service.call("bob"))), Poll::Ready(Ok(()))));
    clock.advance(SECOND / 2);
    for request in ["bob", "greedy"] {
        assert!(matches!(poll(pin!(service.call(request))), Poll::Ready(Err(_))));
    }
    let spans = of("refusing-shadow,refusing-roomy,refusing");
    let said = spans.iter().map(|span| {
        let said = span.said().into_iter();
        said.filter(|(field, _)| !["keys", "limits"].contains(field))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            vec![("by", "store"), ("outcome", "admitted")],
            vec![
                ("by", "store"),
                ("outcome", "limited"),
                ("refused_by", "refusing"),
                ("retry_after", "59.5s"),
            ],
            vec![("by", "store"), ("outcome", "impossible"), ("refused_by", "refusing")],
        ]
    );
    assert!(spans.iter().all(|span| !span.is_open()));
}

#[test]
fn it_is_open_while_a_request_is_held() {
    listen();
    let (store, clock) = still();
    let queue = LeakyBucket::new(Quota::per_second(1)).capacity(3);
    let layer = RateLimitLayer::new("holding", queue, Global, store).respond_with(AsError);
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
    assert_eq!(span.said()[..2], [("by", "store"), ("delay", "1s")]);
    clock.advance(SECOND);
    assert!(matches!(poll(second), Poll::Ready(Ok(()))));
    assert_eq!(open(), [false, false]);
    // To ask, to wait, and to find that it is over.
    assert_eq!(of("holding").pop().unwrap().entered, 3);
}

#[test]
fn it_is_open_while_a_request_stands_in_line_and_closed_when_its_client_leaves() {
    listen();
    let (store, clock) = still();
    let layer = RateLimitLayer::fixed_window("standing", Quota::per_minute(1), Global, store)
        .wait(60 * SECOND)
        .respond_with(AsError);
    let mut service = layer.layer(inner());
    assert!(matches!(poll(pin!(service.call("first"))), Poll::Ready(Ok(()))));
    let (mut waits, mut leaves) = (pin!(service.call("waits")), Box::pin(service.call("leaves")));
    assert!(poll(waits.as_mut()).is_pending() && poll(leaves.as_mut()).is_pending());
    let open = || {
        of("standing")
            .iter()
            .map(super::spans::Span::is_open)
            .collect::<Vec<_>>()
    };
    assert_eq!(open(), [false, true, true]);
    drop(leaves);
    assert_eq!(open(), [false, true, false]);
    clock.advance(60 * SECOND);
    assert!(matches!(poll(waits), Poll::Ready(Ok(()))));
    assert_eq!(open(), [false; 3]);
    let outcomes = of("standing")
        .into_iter()
        .map(|span| span.said().contains(&("outcome", "admitted")));
    assert_eq!(outcomes.collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn there_is_none_where_nothing_is_to_be_decided() {
    listen();
    let layer = RateLimitLayer::new("nothing", TokenBucket::new(Quota::per_minute(9)), name, still().0)
        .deny(|request: &&str| *request == "mallory")
        .respond_with(AsError);
    let mut service = layer.layer(inner());
    for (request, passes) in [("nobody", false), ("admin", true), ("mallory", false)] {
        assert!(matches!(poll(pin!(service.call(request))), Poll::Ready(answer) if answer.is_ok() == passes));
    }
    assert!(of("nothing").is_empty());
}
