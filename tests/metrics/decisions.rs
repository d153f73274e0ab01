//! Decisions are counted once for each request, and once for each of its limits.

use tollgate::{AsError, FixedWindow, Global, Key, Limiter, Quota, RateLimitLayer, SlidingLog, TokenBucket};

use support::{
    memory::still,
    requests::{name, passed},
};

use crate::recorded::{Recorded, figures};

const REQUESTS: &str = "tollgate_requests_total";
const DECISIONS: &str = "tollgate_decisions_total";

#[tokio::test]
async fn a_layer_counts_each_request_and_each_of_its_limits() {
    let recorded = Recorded::start();
    let layer = RateLimitLayer::new("all", FixedWindow::new(Quota::per_minute(13)), Global, still().0)
        .tier("user", TokenBucket::new(Quota::per_minute(10)), name)
        .respond_with(AsError);
    // Alice has ten, and three are left for Bob.
    assert_eq!(passed(&layer, ["alice"; 12]).await, 10);
    assert_eq!(passed(&layer, ["bob"; 7]).await, 3);
    assert_eq!(
        recorded.counted(DECISIONS),
        figures([
            ("limit=all outcome=admitted", 13),
            ("limit=all outcome=limited", 4),
            ("limit=all outcome=spared", 2),
            ("limit=user outcome=admitted", 13),
            ("limit=user outcome=limited", 2),
            ("limit=user outcome=spared", 4),
        ])
    );
    assert_eq!(
        recorded.counted(REQUESTS),
        figures([("by=store outcome=admitted", 13), ("by=store outcome=limited", 6)])
    );
}

#[tokio::test]
async fn whom_nobody_decides_about_is_counted_too() {
    let recorded = Recorded::start();
    let layer = RateLimitLayer::new("user", TokenBucket::new(Quota::per_minute(1)), name, still().0)
        .cost(|user: &&str| if *user == "greedy" { 2 } else { 1 })
        .deny(|user: &&str| *user == "mallory")
        .respond_with(AsError);
    let requests = [
        "alice", "alice", "greedy", "nobody", "admin", "admin", "mallory", "mallory", "mallory",
    ];
    assert_eq!(passed(&layer, requests).await, 3);
    assert_eq!(
        recorded.counted(REQUESTS),
        figures([
            ("by=store outcome=admitted", 1),
            ("by=store outcome=limited", 1),
            ("by=store outcome=impossible", 1),
            ("by=nobody outcome=uncounted", 1),
            ("by=nobody outcome=exempt", 2),
            ("by=nobody outcome=denied", 3),
        ])
    );
}

/// What it admits was charged to it; what it alone would have refused is counted apart, since nobody was refused.
#[tokio::test]
async fn a_shadow_is_counted_apart_where_it_would_have_refused() {
    let recorded = Recorded::start();
    let layer = RateLimitLayer::new("all", FixedWindow::new(Quota::per_minute(4)), Global, still().0)
        .tier("new", SlidingLog::new(Quota::per_minute(3)), Global)
        .shadow()
        .respond_with(AsError);
    assert_eq!(passed(&layer, ["request"; 6]).await, 4);
    let shadow = recorded.counted("tollgate_shadow_refusals_total");
    assert_eq!(shadow, figures([("limit=new", 1)]));
    assert_eq!(
        recorded.counted(DECISIONS),
        figures([
            ("limit=all outcome=admitted", 4),
            ("limit=all outcome=limited", 2),
            ("limit=new outcome=admitted", 3),
            ("limit=new outcome=spared", 2),
        ])
    );
}

#[tokio::test]
async fn a_limiter_counts_its_calls_and_not_its_looks() {
    let recorded = Recorded::start();
    let limiter = Limiter::new("jobs", TokenBucket::new(Quota::per_minute(5)), still().0);
    for cost in [1, 1, 2, 2, 6] {
        let Ok(_) = limiter.check_n(&Key::GLOBAL, cost).await;
    }
    let Ok(_) = limiter.peek(&Key::GLOBAL).await;
    let Ok(mut last) = limiter.check(&Key::GLOBAL).await;
    let Ok(_) = limiter.refund(last.take_receipt().unwrap()).await;
    let Ok(_) = limiter.reset(&Key::GLOBAL).await;
    assert_eq!(
        recorded.counted(DECISIONS),
        figures([
            ("limit=jobs outcome=admitted", 4),
            ("limit=jobs outcome=impossible", 1),
            ("limit=jobs outcome=limited", 1),
        ])
    );
}

/// A handle that was asked for before there was a recorder would say nothing for ever.
#[tokio::test]
async fn a_recorder_may_come_later_than_the_limit() {
    let layer = RateLimitLayer::token_bucket("late", Quota::per_minute(9), Global, still().0).respond_with(AsError);
    assert_eq!(passed(&layer, ["before"; 3]).await, 3);
    let recorded = Recorded::start();
    assert_eq!(passed(&layer, ["after"; 2]).await, 2);
    let decisions = recorded.counted(DECISIONS);
    assert_eq!(decisions, figures([("limit=late outcome=admitted", 2)]));
}
