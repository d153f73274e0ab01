//! A `Limiter` without middleware, on both stores and a manual clock.

mod fallback;
mod overtaking;
mod refunds;
mod waiting;

use std::time::Duration;

use support::{
    algorithms::each_algorithm,
    each_store::{TestStore, on_both_stores},
    queued_server::{MICRO, SECOND, one_per_10s},
};
use tollgate::{
    AsError, CallKey, Decision, FixedWindow, Global, Key, LeakyBucket, Limiter, MemoryStore, Outcome, Quota,
    RateLimitLayer, Tier,
};
use tower::{BoxError, Layer, ServiceExt, service_fn};

on_both_stores![
    check_charges_and_peek_does_not,
    costs_from_zero_to_above_every_limit,
    tiers_are_charged_all_or_none,
    a_global_tier_counts_all_keys_together,
    a_limiter_and_a_layer_share_a_limit,
    a_leaky_bucket_returns_the_delay_of_an_admitted_call,
];

fn alice() -> Key {
    Key::named("user", "alice")
}

fn bob() -> Key {
    Key::named("user", "bob")
}

/// The decision, which the store must be able to make.
fn expect_decision<E>(result: Result<Decision, E>) -> Decision {
    result.ok().expect("the store can decide")
}

/// Whether the call is admitted, and what remains in each tier.
fn summary<E>(result: Result<Decision, E>) -> (bool, Vec<u64>) {
    let decision = expect_decision(result);
    (decision.admits(), remaining(&decision))
}

fn remaining(decision: &Decision) -> Vec<u64> {
    let tiers = decision.tiers().iter();
    tiers.map(|tier| tier.verdict().remaining()).collect()
}

async fn check_charges_and_peek_does_not<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(10)) {
        let (store, _) = St::fresh();
        let limiter = Limiter::new(Tier::new("api", algorithm, CallKey), store);
        assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![10]), "{algorithm:?}");
        assert_eq!(summary(limiter.check(&alice()).await), (true, vec![9]), "{algorithm:?}");
        assert_eq!(
            summary(limiter.check_n(&alice(), 4).await),
            (true, vec![5]),
            "{algorithm:?}"
        );
        assert_eq!(
            summary(limiter.check_n(&alice(), 6).await),
            (false, vec![5]),
            "{algorithm:?}"
        );
        assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![5]), "{algorithm:?}");
        assert_eq!(
            summary(limiter.check_n(&alice(), 5).await),
            (true, vec![0]),
            "{algorithm:?}"
        );
        assert_eq!(
            summary(limiter.check(&alice()).await),
            (false, vec![0]),
            "{algorithm:?}"
        );
        assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![0]), "{algorithm:?}");
        assert_eq!(summary(limiter.peek(&bob()).await), (true, vec![10]), "{algorithm:?}");
    }
}

async fn costs_from_zero_to_above_every_limit<St: TestStore>() {
    const MAX_COST: u64 = u32::MAX as u64;
    for (limit, cost, outcome, left) in [
        (3, 0, Outcome::Admitted { delay: Duration::ZERO }, 3),
        (3, 3, Outcome::Admitted { delay: Duration::ZERO }, 0),
        (3, 4, Outcome::Impossible, 3),
        (3, MAX_COST, Outcome::Impossible, 3),
        (3, u64::MAX, Outcome::Impossible, 3),
        (u32::MAX - 1, MAX_COST, Outcome::Impossible, MAX_COST - 1),
        (u32::MAX, MAX_COST, Outcome::Admitted { delay: Duration::ZERO }, 0),
        // A cost above the largest limit counts as the largest limit.
        (u32::MAX, u64::MAX, Outcome::Admitted { delay: Duration::ZERO }, 0),
    ] {
        let (store, _) = St::fresh();
        let limiter = Limiter::fixed_window("api", Quota::per_day(limit), store);
        let decision = expect_decision(limiter.check_n(&alice(), cost).await);
        assert_eq!(
            (decision.outcome(), remaining(&decision)),
            (outcome, vec![left]),
            "{cost} of {limit}"
        );
        assert_eq!(
            summary(limiter.peek(&alice()).await),
            (true, vec![left]),
            "{cost} of {limit}"
        );
    }
}

async fn tiers_are_charged_all_or_none<St: TestStore>() {
    let (store, clock) = St::fresh();
    let limiter = Limiter::fixed_window("minute", Quota::per_minute(2), store)
        .tier(Tier::sliding_log("day", Quota::per_day(4), CallKey))
        .tier(Tier::token_bucket("all", Quota::per_day(100), Global));
    assert_eq!(summary(limiter.check(&alice()).await), (true, vec![1, 3, 99]));
    assert_eq!(summary(limiter.check(&alice()).await), (true, vec![0, 2, 98]));
    assert_eq!(summary(limiter.check(&alice()).await), (false, vec![0, 2, 98]));
    clock.set(660_000_000);
    assert_eq!(summary(limiter.check_n(&alice(), 2).await), (true, vec![0, 0, 96]));
    // The day is exhausted, so the next minute keeps its two.
    clock.set(720_000_000);
    assert_eq!(summary(limiter.check(&alice()).await), (false, vec![2, 0, 96]));
    assert_eq!(summary(limiter.check_n(&alice(), 3).await), (false, vec![2, 0, 96]));
    assert_eq!(summary(limiter.peek(&bob()).await), (true, vec![2, 4, 96]));
}

async fn a_global_tier_counts_all_keys_together<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::fixed_window("each", Quota::per_minute(2), store.clone()).tier(Tier::fixed_window(
        "all",
        Quota::per_minute(3),
        Global,
    ));
    assert_eq!(summary(limiter.check(&alice()).await), (true, vec![1, 2]));
    assert_eq!(summary(limiter.check(&bob()).await), (true, vec![1, 1]));
    assert_eq!(summary(limiter.check(&bob()).await), (true, vec![0, 0]));
    assert_eq!(summary(limiter.check(&alice()).await), (false, vec![1, 0]));
    // The shared tier counts under the global key.
    let all = Limiter::fixed_window("all", Quota::per_minute(3), store);
    assert_eq!(summary(all.peek(&Key::GLOBAL).await), (true, vec![0]));
    assert_eq!(summary(all.peek(&alice()).await), (true, vec![3]));
}

async fn a_limiter_and_a_layer_share_a_limit<St: TestStore>() {
    let (store, _) = St::fresh();
    let three = Quota::per_minute(3);
    let by_user = |user: &&'static str| Key::named("user", user);
    let layer = RateLimitLayer::fixed_window("api", three, by_user, store.clone()).respond_with(AsError);
    let service = layer.layer(service_fn(async |_: &'static str| Ok::<_, BoxError>(())));
    let limiter = Limiter::fixed_window("api", three, store.clone());
    assert!(service.clone().oneshot("alice").await.is_ok());
    assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![2]));
    assert_eq!(summary(limiter.check_n(&alice(), 2).await), (true, vec![0]));
    assert!(service.clone().oneshot("alice").await.is_err());
    assert!(service.clone().oneshot("bob").await.is_ok());
    // A limit with another window is another limit.
    let hourly = Limiter::fixed_window("api", Quota::per_hour(3), store);
    assert_eq!(summary(hourly.peek(&alice()).await), (true, vec![3]));
}

async fn a_leaky_bucket_returns_the_delay_of_an_admitted_call<St: TestStore>() {
    let (store, clock) = St::fresh();
    let limiter = Limiter::new(
        Tier::new("queue", LeakyBucket::new(Quota::per_second(1)).capacity(3), CallKey),
        store,
    );
    for seconds in 0..3 {
        assert_eq!(expect_decision(limiter.check(&alice()).await).delay(), seconds * SECOND);
    }
    assert!(!expect_decision(limiter.check(&alice()).await).admits());
    assert_eq!(clock.pending_sleeps(), 0);
}

#[test]
fn invalid_names_are_errors() {
    let two = FixedWindow::new(Quota::per_minute(2));
    let limiter = || {
        Limiter::new(Tier::new("api", two, CallKey), MemoryStore::new()).tier(Tier::fixed_window(
            "day",
            Quota::per_day(9),
            CallKey,
        ))
    };
    for (error, value) in [
        (Tier::try_new("", two, CallKey).unwrap_err(), r#""""#),
        (
            Limiter::try_token_bucket("An API", Quota::per_day(9), MemoryStore::new()).unwrap_err(),
            r#""An API""#,
        ),
        (
            limiter().try_tier(Tier::new("api", two, CallKey)).unwrap_err(),
            r#""api""#,
        ),
        (
            limiter().try_tier(Tier::new("day", two, Global)).unwrap_err(),
            r#""day""#,
        ),
    ] {
        assert_eq!((error.field(), error.value()), ("name", value));
    }
    let error = limiter().try_tier(Tier::new("api", two, CallKey)).unwrap_err();
    let message = r#"name = "api": it must differ from the names of the other tiers"#;
    assert_eq!(error.to_string(), message);
}

#[test]
#[should_panic(expected = r#"name = "api": it must differ from the names of the other tiers"#)]
fn a_duplicate_name_panics_when_the_limiter_is_built() {
    let _ = Limiter::new(Tier::new("api", one_per_10s(), CallKey), MemoryStore::new()).tier(Tier::new(
        "api",
        one_per_10s(),
        Global,
    ));
}
