//! A limiter without middleware, on both stores and on a clock that stands still.

mod fallback;
mod giving_back;
mod waiting;

use support::{
    each_store::{TestStore, on_both_stores},
    held::{MICRO, SECOND, one},
    rules::each_algorithm,
};
use tollgate::{
    AsError, Decision, FixedWindow, Key, LeakyBucket, Limiter, MemoryStore, Outcome, Quota, RateLimitLayer, SlidingLog,
    TokenBucket,
};
use tower::{BoxError, Layer, ServiceExt, service_fn};

on_both_stores![
    it_charges_one_or_several_or_asks,
    what_a_call_may_cost,
    tiers_are_charged_all_or_none,
    a_shared_tier_counts_everybody_as_one,
    it_shares_a_limit_with_a_layer,
    a_queue_tells_how_long_to_hold_what_it_admits,
];

fn alice() -> Key {
    Key::named("user", "alice")
}

fn bob() -> Key {
    Key::named("user", "bob")
}

/// What the store has decided, which it can.
fn decided<E>(answer: Result<Decision, E>) -> Decision {
    answer.ok().expect("the store can decide")
}

/// Whether it passes, and what is left of each tier.
fn told<E>(answer: Result<Decision, E>) -> (bool, Vec<u64>) {
    let decision = decided(answer);
    (decision.admits(), remaining(&decision))
}

fn remaining(decision: &Decision) -> Vec<u64> {
    let tiers = decision.tiers().iter();
    tiers.map(|tier| tier.verdict().remaining()).collect()
}

async fn it_charges_one_or_several_or_asks<St: TestStore>() {
    for rule in each_algorithm(Quota::per_minute(10)) {
        let (store, _) = St::fresh();
        let limiter = Limiter::new("api", rule, store);
        assert_eq!(told(limiter.peek(&alice()).await), (true, vec![10]), "{rule:?}");
        assert_eq!(told(limiter.check(&alice()).await), (true, vec![9]), "{rule:?}");
        assert_eq!(told(limiter.check_n(&alice(), 4).await), (true, vec![5]), "{rule:?}");
        assert_eq!(told(limiter.check_n(&alice(), 6).await), (false, vec![5]), "{rule:?}");
        assert_eq!(told(limiter.peek(&alice()).await), (true, vec![5]), "{rule:?}");
        assert_eq!(told(limiter.check_n(&alice(), 5).await), (true, vec![0]), "{rule:?}");
        assert_eq!(told(limiter.check(&alice()).await), (false, vec![0]), "{rule:?}");
        assert_eq!(told(limiter.peek(&alice()).await), (true, vec![0]), "{rule:?}");
        assert_eq!(told(limiter.peek(&bob()).await), (true, vec![10]), "{rule:?}");
    }
}

async fn what_a_call_may_cost<St: TestStore>() {
    const MOST: u64 = u32::MAX as u64;
    for (limit, cost, outcome, left) in [
        (3, 0, Outcome::Admitted { delay: 0 }, 3),
        (3, 3, Outcome::Admitted { delay: 0 }, 0),
        (3, 4, Outcome::Impossible, 3),
        (3, MOST, Outcome::Impossible, 3),
        (3, u64::MAX, Outcome::Impossible, 3),
        (u32::MAX - 1, MOST, Outcome::Impossible, MOST - 1),
        (u32::MAX, MOST, Outcome::Admitted { delay: 0 }, 0),
        // What is more than any limit holds counts as just that.
        (u32::MAX, u64::MAX, Outcome::Admitted { delay: 0 }, 0),
    ] {
        let (store, _) = St::fresh();
        let limiter = Limiter::new("api", FixedWindow::new(Quota::per_day(limit)), store);
        let decision = decided(limiter.check_n(&alice(), cost).await);
        assert_eq!(
            (decision.outcome(), remaining(&decision)),
            (outcome, vec![left]),
            "{cost} of {limit}"
        );
        assert_eq!(
            told(limiter.peek(&alice()).await),
            (true, vec![left]),
            "{cost} of {limit}"
        );
    }
}

async fn tiers_are_charged_all_or_none<St: TestStore>() {
    let (store, clock) = St::fresh();
    let limiter = Limiter::new("minute", FixedWindow::new(Quota::per_minute(2)), store)
        .tier("day", SlidingLog::new(Quota::per_day(4)))
        .shared_tier("all", TokenBucket::new(Quota::per_day(100)));
    assert_eq!(told(limiter.check(&alice()).await), (true, vec![1, 3, 99]));
    assert_eq!(told(limiter.check(&alice()).await), (true, vec![0, 2, 98]));
    assert_eq!(told(limiter.check(&alice()).await), (false, vec![0, 2, 98]));
    clock.set(660_000_000);
    assert_eq!(told(limiter.check_n(&alice(), 2).await), (true, vec![0, 0, 96]));
    // The day has nothing left, and so the next minute keeps its two.
    clock.set(720_000_000);
    assert_eq!(told(limiter.check(&alice()).await), (false, vec![2, 0, 96]));
    assert_eq!(told(limiter.check_n(&alice(), 3).await), (false, vec![2, 0, 96]));
    assert_eq!(told(limiter.peek(&bob()).await), (true, vec![2, 4, 96]));
}

async fn a_shared_tier_counts_everybody_as_one<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::new("each", FixedWindow::new(Quota::per_minute(2)), store.clone())
        .shared_tier("all", FixedWindow::new(Quota::per_minute(3)));
    assert_eq!(told(limiter.check(&alice()).await), (true, vec![1, 2]));
    assert_eq!(told(limiter.check(&bob()).await), (true, vec![1, 1]));
    assert_eq!(told(limiter.check(&bob()).await), (true, vec![0, 0]));
    assert_eq!(told(limiter.check(&alice()).await), (false, vec![1, 0]));
    // By the name under which everybody is counted.
    let all = Limiter::new("all", FixedWindow::new(Quota::per_minute(3)), store);
    assert_eq!(told(all.peek(&Key::GLOBAL).await), (true, vec![0]));
    assert_eq!(told(all.peek(&alice()).await), (true, vec![3]));
}

async fn it_shares_a_limit_with_a_layer<St: TestStore>() {
    let (store, _) = St::fresh();
    let three = Quota::per_minute(3);
    let by_user = |user: &&'static str| Key::named("user", user);
    let layer = RateLimitLayer::fixed_window("api", three, by_user, store.clone()).respond_with(AsError);
    let service = layer.layer(service_fn(async |_: &'static str| Ok::<_, BoxError>(())));
    let limiter = Limiter::new("api", FixedWindow::new(three), store.clone());
    assert!(service.clone().oneshot("alice").await.is_ok());
    assert_eq!(told(limiter.peek(&alice()).await), (true, vec![2]));
    assert_eq!(told(limiter.check_n(&alice(), 2).await), (true, vec![0]));
    assert!(service.clone().oneshot("alice").await.is_err());
    assert!(service.clone().oneshot("bob").await.is_ok());
    // Of another window, it is another limit.
    let hourly = Limiter::new("api", FixedWindow::new(Quota::per_hour(3)), store);
    assert_eq!(told(hourly.peek(&alice()).await), (true, vec![3]));
}

async fn a_queue_tells_how_long_to_hold_what_it_admits<St: TestStore>() {
    let (store, clock) = St::fresh();
    let limiter = Limiter::new("queue", LeakyBucket::new(Quota::per_second(1)).capacity(3), store);
    for seconds in 0..3 {
        assert_eq!(decided(limiter.check(&alice()).await).delay(), seconds * SECOND);
    }
    assert!(!decided(limiter.check(&alice()).await).admits());
    assert_eq!(clock.waiting(), 0);
}

#[test]
fn names_that_will_not_do_are_errors_that_say_so() {
    let two = FixedWindow::new(Quota::per_minute(2));
    let limiter = || Limiter::new("api", two, MemoryStore::new()).tier("day", FixedWindow::new(Quota::per_day(9)));
    for (error, value) in [
        (Limiter::try_new("", two, MemoryStore::new()).unwrap_err(), r#""""#),
        (
            Limiter::try_new("An API", two, MemoryStore::new()).unwrap_err(),
            r#""An API""#,
        ),
        (limiter().try_tier("api", one()).unwrap_err(), r#""api""#),
        (limiter().try_tier("day", one()).unwrap_err(), r#""day""#),
        (limiter().try_tier("a b", one()).unwrap_err(), r#""a b""#),
        (limiter().try_shared_tier("api", one()).unwrap_err(), r#""api""#),
        (limiter().try_shared_tier("Day", one()).unwrap_err(), r#""Day""#),
    ] {
        assert_eq!((error.field(), error.value()), ("name", value));
    }
    let error = limiter().try_tier("api", one()).unwrap_err();
    let words = r#"name = "api": it must differ from the names of the other tiers"#;
    assert_eq!(error.to_string(), words);
}

#[test]
#[should_panic(expected = r#"name = "api": it must differ from the names of the other tiers"#)]
fn a_name_that_is_taken_panics_when_the_limiter_is_built() {
    let _ = Limiter::new("api", one(), MemoryStore::new()).shared_tier("api", one());
}
