//! The responses of every algorithm, number by number, and that requests are admitted at the promised time.

use std::time::Duration;

use axum::{Router, routing::get};
use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, Global, LeakyBucket, Micros, Quota, RateLimitLayer, SlidingCounter,
    SlidingLog, TokenBucket,
};

use crate::over_http::{
    fixture::{Server, TestStore, on_both_stores, yield_until},
    responses::serve,
};

on_both_stores![
    every_algorithm_reports_what_remains_and_admits_after_retry_after,
    the_five_constructors_are_the_five_algorithms,
];

/// A limit of 3 named `api`, and the responses to four requests, half a second apart.
struct Case {
    algorithm: AnyAlgorithm,
    window: u32,
    /// Remaining, `X-RateLimit-Reset`, and `t`.
    admitted: [(u32, u32, u32); 3],
    /// `Retry-After` in microseconds and as the header has it, and `X-RateLimit-Reset`.
    denied: (Micros, u32, u32),
}

fn case(algorithm: impl Algorithm, window: u32, admitted: [(u32, u32, u32); 3], denied: (Micros, u32, u32)) -> Case {
    Case {
        algorithm: algorithm.to_any(),
        window,
        admitted,
        denied,
    }
}

/// Computed by hand. The requests arrive at 615.25, 615.75, 616.25 and 616.75.
fn cases() -> [Case; 7] {
    // One unit drains every 60/7 = 8.571428.. seconds, so three take 25.714285.. seconds.
    let seven = Quota::per_minute(7);
    let drained = [(2, 624, 18), (1, 633, 9), (0, 641, 8)];
    let three = Quota::per_minute(3);
    [
        case(TokenBucket::new(seven).capacity(3), 26, drained, (7_071_429, 8, 624)),
        case(
            LeakyBucket::new(seven).capacity(3).policing(),
            26,
            drained,
            (7_071_429, 8, 624),
        ),
        // The minute from 600 to 660.
        case(
            FixedWindow::new(three),
            60,
            [(2, 660, 45), (1, 660, 45), (0, 660, 44)],
            (43_250_000, 44, 660),
        ),
        // The minute from 615.25 to 675.25.
        case(
            FixedWindow::new(three).anchored(),
            60,
            [(2, 676, 60), (1, 676, 60), (0, 676, 59)],
            (58_500_000, 59, 676),
        ),
        // Fresh a minute after the latest request, and one unit is available a minute after the first.
        case(
            SlidingLog::new(three),
            60,
            [(2, 676, 40), (1, 676, 20), (0, 677, 59)],
            (58_500_000, 59, 676),
        ),
        // Expires at 720, and the weighted count is below three from the first microsecond after 660.
        case(
            SlidingCounter::new(three),
            60,
            [(2, 720, 40), (1, 720, 20), (0, 720, 44)],
            (43_250_001, 44, 661),
        ),
        // Counted in the sub-window from 610 to 620, whose weight declines from 670 and is zero at 680.
        case(
            SlidingCounter::new(three).sub_windows(6),
            60,
            [(2, 680, 40), (1, 680, 20), (0, 680, 54)],
            (53_250_001, 54, 671),
        ),
    ]
}

fn denial_body(wait: &str, seconds: u32) -> String {
    format!(
        r#"{{"error":"rate_limit_exceeded","message":"Too many requests. Please retry after {wait}.","retry_after":{seconds}}}"#
    )
}

async fn every_algorithm_reports_what_remains_and_admits_after_retry_after<St: TestStore>() {
    for Case {
        algorithm,
        window,
        admitted,
        denied: (retry_after, seconds, reset),
    } in cases()
    {
        let (server, clock) = serve::<St>(algorithm).await;
        let limits = |left: u32, reset: u32, more_in: u32| {
            format!(r#"3 {left} {reset} | "api";q=3;w={window} | "api";r={left};t={more_in}"#)
        };
        let denied = |more_in: u32| (429, more_in.to_string(), limits(0, reset, more_in));

        for (left, reset, more_in) in admitted {
            let reply = server.get("/").await;
            assert_eq!(
                reply.all(),
                (200, "-".into(), limits(left, reset, more_in)),
                "{algorithm:?}"
            );
            assert_eq!(reply.body, "served");
            clock.advance(Duration::from_millis(500));
        }
        let reply = server.get("/").await;
        assert_eq!(reply.all(), denied(seconds), "{algorithm:?}");
        assert_eq!(
            reply.body,
            denial_body(&format!("{seconds} seconds"), seconds),
            "{algorithm:?}"
        );

        let promised = clock.now() + retry_after;
        clock.set(promised - 1);
        let reply = server.get("/").await;
        assert_eq!(reply.all(), denied(1), "{algorithm:?}");
        assert_eq!(reply.body, denial_body("1 second", 1), "{algorithm:?}");
        clock.set(promised);
        assert_eq!(server.get("/").await.status, 200, "{algorithm:?}");
    }
}

async fn the_five_constructors_are_the_five_algorithms<St: TestStore>() {
    let (store, clock) = St::fresh();
    let three = Quota::per_minute(3);
    let hello = || get(async || "hello");
    let store = || store.clone();
    let app = Router::new()
        .route(
            "/token",
            hello().layer(RateLimitLayer::token_bucket("n", three, Global, store())),
        )
        .route(
            "/leaky",
            hello().layer(RateLimitLayer::leaky_bucket("n", three, Global, store())),
        )
        .route(
            "/fixed",
            hello().layer(RateLimitLayer::fixed_window("n", three, Global, store())),
        )
        .route(
            "/log",
            hello().layer(RateLimitLayer::sliding_log("n", three, Global, store())),
        )
        .route(
            "/counter",
            hello().layer(RateLimitLayer::sliding_counter("n", three, Global, store())),
        );
    let server = Server::start(app).await;
    for (path, reset, more_in) in [
        ("/token", 636, 40),
        ("/leaky", 636, 40),
        ("/fixed", 660, 45),
        ("/log", 676, 40),
        ("/counter", 720, 40),
    ] {
        let limits = format!(r#"3 2 {reset} | "n";q=3;w=60 | "n";r=2;t={more_in}"#);
        assert_eq!(server.get(path).await.limits(), limits, "{path}");
    }
    assert_eq!(server.get("/token").await.remaining(), "1");
    let held = tokio::spawn(server.get("/leaky"));
    yield_until(async || clock.pending_sleeps() == 1).await;
    clock.advance(Duration::from_secs(20));
    assert_eq!(held.await.unwrap().remaining(), "1");
}
