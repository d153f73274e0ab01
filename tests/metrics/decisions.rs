//! Decisions are counted once per request, and once per limit of the request.

use tollgate::{AsError, Global, Key, Limiter, Quota, RateLimitLayer, Tier};

use support::{
    memory::store_at_zero,
    requests::{UserKey, count_admitted},
};

use crate::recorder::{TestRecorder, samples};

const REQUESTS: &str = "tollgate_requests_total";
const DECISIONS: &str = "tollgate_decisions_total";

#[tokio::test]
async fn a_layer_counts_each_request_and_each_limit() {
    let recorded = TestRecorder::start();
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(13), Global, store_at_zero().0)
        .tier(Tier::token_bucket("user", Quota::per_minute(10), UserKey))
        .respond_with(AsError);
    // Alice is admitted ten times, and three are left for Bob.
    assert_eq!(count_admitted(&layer, ["alice"; 12]).await, 10);
    assert_eq!(count_admitted(&layer, ["bob"; 7]).await, 3);
    assert_eq!(
        recorded.counted(DECISIONS),
        samples([
            ("limit=all outcome=admitted", 13),
            ("limit=all outcome=limited", 4),
            ("limit=all outcome=not_charged", 2),
            ("limit=user outcome=admitted", 13),
            ("limit=user outcome=limited", 2),
            ("limit=user outcome=not_charged", 4),
        ])
    );
    assert_eq!(
        recorded.counted(REQUESTS),
        samples([("by=store outcome=admitted", 13), ("by=store outcome=limited", 6)])
    );
}

#[tokio::test]
async fn requests_without_a_decision_are_counted_too() {
    let recorded = TestRecorder::start();
    let layer = RateLimitLayer::new(
        Tier::token_bucket("user", Quota::per_minute(1), UserKey)
            .cost(|user: &&str| if *user == "greedy" { 2 } else { 1 }),
        store_at_zero().0,
    )
    .block(|user: &&str| *user == "mallory")
    .respond_with(AsError);
    let requests = [
        "alice", "alice", "greedy", "nobody", "janus", "janus", "admin", "admin", "mallory", "mallory", "mallory",
    ];
    assert_eq!(count_admitted(&layer, requests).await, 3);
    assert_eq!(
        recorded.counted(REQUESTS),
        samples([
            ("by=store outcome=admitted", 1),
            ("by=store outcome=limited", 1),
            ("by=store outcome=impossible", 1),
            ("by=none outcome=missing_key", 1),
            ("by=none outcome=ambiguous_key", 2),
            ("by=none outcome=exempt", 2),
            ("by=none outcome=blocked", 3),
        ])
    );
}

/// A shadow's admissions are charged. Its denials are counted separately, because no request is denied.
#[tokio::test]
async fn a_shadow_denial_is_counted_separately() {
    let recorded = TestRecorder::start();
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(4), Global, store_at_zero().0)
        .tier(Tier::sliding_log("new", Quota::per_minute(3), Global).shadow())
        .respond_with(AsError);
    assert_eq!(count_admitted(&layer, ["request"; 6]).await, 4);
    let shadow = recorded.counted("tollgate_shadow_denials_total");
    assert_eq!(shadow, samples([("limit=new", 1)]));
    assert_eq!(
        recorded.counted(DECISIONS),
        samples([
            ("limit=all outcome=admitted", 4),
            ("limit=all outcome=limited", 2),
            ("limit=new outcome=admitted", 3),
            ("limit=new outcome=not_charged", 2),
        ])
    );
}

#[tokio::test]
async fn a_limiter_counts_checks_and_not_peeks() {
    let recorded = TestRecorder::start();
    let limiter = Limiter::token_bucket("jobs", Quota::per_minute(5), store_at_zero().0);
    for cost in [1, 1, 2, 2, 6] {
        let Ok(_) = limiter.check_n(&Key::GLOBAL, cost).await;
    }
    let Ok(_) = limiter.peek(&Key::GLOBAL).await;
    let Ok(mut last) = limiter.check(&Key::GLOBAL).await;
    let Ok(_) = limiter.refund(last.take_receipt().unwrap()).await;
    let Ok(_) = limiter.reset(&Key::GLOBAL).await;
    assert_eq!(
        recorded.counted(DECISIONS),
        samples([
            ("limit=jobs outcome=admitted", 4),
            ("limit=jobs outcome=impossible", 1),
            ("limit=jobs outcome=limited", 1),
        ])
    );
}

/// A handle that was registered before the recorder was installed would never record anything.
#[tokio::test]
async fn a_recorder_can_be_installed_after_the_limit_is_built() {
    let layer =
        RateLimitLayer::token_bucket("late", Quota::per_minute(9), Global, store_at_zero().0).respond_with(AsError);
    assert_eq!(count_admitted(&layer, ["before"; 3]).await, 3);
    let recorded = TestRecorder::start();
    assert_eq!(count_admitted(&layer, ["after"; 2]).await, 2);
    let decisions = recorded.counted(DECISIONS);
    assert_eq!(decisions, samples([("limit=late outcome=admitted", 2)]));
}
