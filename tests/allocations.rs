//! A decision of the memory store does not allocate once the store has the key. Metrics are compiled in and decisions have
//! spans, but there is neither a recorder nor a subscriber.

use std::{
    convert::Infallible,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
};

use allocation_counter::measure;
use tollgate::{
    Algorithm, AnyAlgorithm, Charge, FixedWindow, Global, Key, LeakyBucket, Limit, MemoryStore, Operation, Quota,
    RateLimitLayer, Rejection, SlidingCounter, Store, TokenBucket,
};
use tower::{Layer, Service, service_fn};

const QUOTA: Quota = Quota::per_minute(100);

/// Every algorithm whose state has a constant size.
fn constant_size_algorithms() -> [AnyAlgorithm; 4] {
    [
        TokenBucket::new(QUOTA).to_any(),
        LeakyBucket::new(QUOTA).to_any(),
        FixedWindow::new(QUOTA).to_any(),
        SlidingCounter::new(QUOTA).to_any(),
    ]
}

#[test]
fn charging_a_known_key_does_not_allocate() {
    for algorithm in constant_size_algorithms() {
        let store = MemoryStore::new();
        let (limit, key) = (Limit::new("user", algorithm), Key::named("user", 12345));
        store.acquire(&limit, &key, 1);
        let acquired = measure(|| {
            black_box(store.acquire(&limit, &key, 1));
        });
        assert_eq!(acquired.count_total, 0, "{}", algorithm.name());

        let charge = Charge::new(limit, key);
        let applied = measure(|| drop(store.apply(Operation::Acquire(charge.into()))));
        assert_eq!(applied.count_total, 0, "{}", algorithm.name());
    }
}

#[test]
fn passing_the_layer_does_not_allocate() {
    let layer = RateLimitLayer::token_bucket("all", QUOTA, Global, MemoryStore::new())
        .respond_with(|why: Rejection| panic!("{why}"));
    let mut service = layer.layer(service_fn(async |request: u32| Ok::<_, Infallible>(request)));
    let mut serve = |request| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(
            Service::<u32>::poll_ready(&mut service, &mut context),
            Poll::Ready(Ok(()))
        ));
        assert!(
            matches!(pin!(service.call(request)).poll(&mut context), Poll::Ready(Ok(response)) if response == request)
        );
    };
    serve(1);
    assert_eq!(measure(|| serve(2)).count_total, 0);
}

/// Bodies that state their usage after a text of any length.
#[cfg(feature = "axum")]
mod metered_streams {
    use std::future;

    use axum::{
        body::{Body, Bytes},
        http::{Request, Response},
    };
    use futures_util::stream;
    use http_body::Body as _;
    use tollgate::{JsonUsage, Tier};

    use super::*;

    /// The content type, and what precedes and follows the text.
    const FORMATS: [[&str; 3]; 2] = [
        ["application/json", r#"{"text":""#, r#"","usage":{"total_tokens":42}}"#],
        [
            "text/event-stream",
            "data: {\"text\":\"",
            "\"}\n\ndata: {\"usage\":{\"total_tokens\":42}}\n\n",
        ],
    ];

    /// The most memory that is allocated at once while a response with a text of this many bytes is sent. The text itself allocates
    /// nothing.
    fn peak([content_type, start, end]: [&'static str; 3], bytes: usize) -> u64 {
        static TEXT: [u8; 10_000] = [b'x'; 10_000];
        let respond = move |_: Request<Body>| {
            let texts = (0..bytes / TEXT.len()).map(|_| &TEXT[..]);
            let pieces = [start.as_bytes()].into_iter().chain(texts).chain([end.as_bytes()]);
            let pieces = pieces.map(|piece| Ok::<_, Infallible>(Bytes::from_static(piece)));
            let response = Response::builder().header("content-type", content_type);
            future::ready(response.body(Body::from_stream(stream::iter(pieces))))
        };
        let (store, quota) = (MemoryStore::new(), Quota::per_day(1000));
        let tokens = Tier::fixed_window("tokens", quota, Global)
            .cost(|_: &Request<Body>| 500)
            .meter_body(JsonUsage::openai());
        let mut service = RateLimitLayer::new(tokens, store.clone()).layer(service_fn(respond));
        let mut context = Context::from_waker(Waker::noop());
        let sent = measure(|| {
            let response = pin!(service.call(Request::new(Body::empty()))).poll(&mut context);
            let Poll::Ready(Ok(response)) = response else {
                panic!("the response is ready");
            };
            let (mut body, mut length) = (pin!(response.into_body()), 0);
            while let Poll::Ready(Some(frame)) = body.as_mut().poll_frame(&mut context) {
                length += frame.unwrap().data_ref().unwrap().len();
            }
            assert_eq!(length, start.len() + bytes + end.len());
        });
        let limit = Limit::new("tokens", FixedWindow::new(quota));
        assert_eq!(store.acquire(&limit, &Key::GLOBAL, 0).remaining(), 1000 - 42);
        sent.bytes_max
    }

    #[test]
    fn a_metered_stream_is_not_buffered() {
        for format in FORMATS {
            let [short, long] = [10_000, 100_000_000].map(|bytes| peak(format, bytes));
            assert_eq!(long, short, "{}", format[0]);
        }
    }
}
